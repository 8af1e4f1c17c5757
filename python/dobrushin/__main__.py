"""The program ``dobrushin``: ``python -m dobrushin account run.toml``."""

from __future__ import annotations

import sys

from dobrushin import _core


def main() -> int:
    """Do what the arguments ask for; the result is the exit code."""
    sys.stdout.flush()
    return _core.program(["dobrushin", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
