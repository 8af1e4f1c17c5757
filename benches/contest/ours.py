"""Ours: the run that `dobrushin plan` chooses without looking at the records, trained through the command line."""

import json
import subprocess
import tempfile


def plan(executable, split, epsilon):
    """The text of the planned run file. Only the schema, the number of records and the budget go into it."""
    with tempfile.TemporaryDirectory() as folder:
        written = f"{folder}/run.toml"
        command = [executable, "plan", "--schema", split.schema, "--records", split.records, "--label", split.label]
        command += ["--epsilon", epsilon, "--delta", split.delta, "--write", written]
        answered(command)
        with open(written) as file:
            return file.read()


def without_hiding(executable, split, run, epsilon):
    """The noise that the same run needs if every iterate counts as published."""
    command = [executable, "calibrate", run, "--set", "release=all", "--parameter", "noise-multiplier"]
    return json.loads(answered(command + ["--epsilon", epsilon, "--delta", split.delta, "--json"]))["value"]


def train(executable, split, run, seed, extra):
    """The test accuracy of one model. The seed makes it repeatable, and a model with a known seed is not private."""
    with tempfile.TemporaryDirectory() as folder:
        command = [executable, "train", split.train, "--run", run, "--delta", split.delta, "--test", split.test]
        command += ["--seed", seed, "--not-private", "--json", "--out", f"{folder}/model"]
        return json.loads(answered(command + extra))["test"]["accuracy"]


def answered(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr.strip()}")
    return done.stdout
