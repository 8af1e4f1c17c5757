"""Ours: the run that `dobrushin plan` chooses without looking at the records, trained through the command line."""

import json
import subprocess
import tempfile

import numpy
import peers

SIMPLE = """
[run]
algorithm = "gradient-descent"
steps = 200
release = "last"
neighbours = "zero-out"

[update]
learning-rate = 0.4
clip-norm = 1.0
noise-multiplier = 1.0

[model]
kind = "{kind}"
schema = "{schema}"
"""


def plan(executable, split, epsilon, run):
    """Writes the planned run file. Only the schema, the number of records and the budget go into it."""
    command = [executable, "plan", "--schema", split.schema, "--records", split.records, "--label", split.label]
    run.unlink(missing_ok=True)
    answered(command + ["--epsilon", epsilon, "--delta", split.delta, "--write", run])


def noise(executable, split, run, epsilon, release):
    """The noise that the run needs if only the last iterate is released, or if all are."""
    command = [executable, "calibrate", run, "--set", f"release={release}", "--parameter", "noise-multiplier"]
    return json.loads(answered(command + ["--epsilon", epsilon, "--delta", split.delta, "--json"]))["value"]


def train(executable, split, run, noise, seed):
    """The test accuracy of one model. The seed makes it repeatable, and a model with a known seed is not private."""
    with tempfile.TemporaryDirectory() as folder:
        command = [executable, "train", split.train, "--run", run, "--set", f"noise-multiplier={noise!r}"]
        command += ["--delta", split.delta, "--test", split.test, "--seed", seed, "--not-private"]
        return json.loads(answered(command + ["--json", "--out", f"{folder}/model"]))["test"]["accuracy"]


def simple(split, run):
    """Writes a run file with the schema as it was declared."""
    run.write_text(SIMPLE.format(kind="logistic" if split.classes == 2 else "softmax", schema=split.schema.resolve()))


def check_features(executable, split, run):
    """The peers see the features that dobrushin sees: its model says the same of the test records on theirs."""
    with tempfile.TemporaryDirectory() as folder:
        command = [executable, "train", split.train, "--run", run, "--delta", split.delta, "--test", split.test]
        said = json.loads(answered(command + ["--json", "--out", f"{folder}/model"]))["test"]["accuracy"]
        with open(f"{folder}/model/model.json") as file:
            parameters = numpy.array(json.load(file)["parameters"][0], numpy.float32)
    weights = parameters.reshape(-1, split.x.shape[1]).T[None]
    found = peers.accuracy(split, weights)[0]
    if abs(said - found) > 1.5 / len(split.test_y):  # Rounding may decide one record.
        raise AssertionError(f"{run}: dobrushin's features give accuracy {said}, and the peers' {found}")


def answered(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr.strip()}")
    return done.stdout
