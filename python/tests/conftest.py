"""Hypothesis tries the same cases in every run, and other ones with ``DOBRUSHIN_DEEP=1``."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, print_blob=True)
if os.environ.get("DOBRUSHIN_DEEP") != "1":
    settings.load_profile("repeatable")
