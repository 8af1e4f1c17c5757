"""A script that trains by Opacus, audited from end to end: examples/audit/opacus_train.py and the run that it claims to be."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("CI") != "true":
    pytest.importorskip("opacus")

FOLDER = Path(__file__).parents[2] / "examples" / "audit"


def audited(script: str, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code of an audit with 99 % confidence, and what it says."""
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(FOLDER / script))} {{data}} {{out}} {{runs}} {{seed}}"
    arguments = [
        sys.executable, "-m", "dobrushin", "audit", str(FOLDER / "opacus.toml"),
        "--command", " ".join([command, *words]),
        "--data", str(FOLDER / "regression-with.csv"), "--neighbour", str(FOLDER / "regression-without.csv"),
        "--runs", "500", "--jobs", "1", "--confidence", "0.99", "--json",
    ]  # fmt: skip
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_the_script_that_is_as_it_says_is_not_contradicted() -> None:
    code, said = audited("opacus_train.py")
    (attack,) = said["attacks"]
    assert (code, said["violation"], attack["id"], attack["runs"]) == (0, False, "direction", 1000)
    # The attack sees the record, and is below the floor.
    assert 0.2 < attack["epsilon"]["lower"] < said["floor"]["epsilon"]["lower"] <= said["guarantee"]["epsilon"]["upper"]


def test_half_the_noise_is_found_out() -> None:
    code, said = audited("opacus_train.py", "--noise-multiplier", "0.75")
    found = said["attacks"][0]["contradiction"]
    assert (code, said["violation"]) == (1, True)
    assert found["proved_delta"] > 1.2 * found["claimed_delta"]
    assert "noise" in said["suspects"][0]
