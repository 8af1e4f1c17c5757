"""Attacks from Python say what the program says, and whatever is given, the answer is right or one of our exceptions."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobrushin as db

#: One Gaussian step: with noise multiplier 1, exactly the two normal laws of the scores.
STEP = db.Run(
    algorithm="gradient-descent", records=100, steps=1, clip_norm=1.0, noise_multiplier=1.0, neighbours="add-or-remove-one"
)
HIDDEN = db.Run(
    algorithm="gradient-descent", records=1000, steps=1000, learning_rate=0.1, clip_norm=1.0, noise_multiplier=20.0,
    release="last", weight_decay=0.05, convex=True, smoothness=1.0, generalised_linear=True,
)  # fmt: skip
#: ε at δ = 1e-5 of two normal laws at distance 1.
TRUTH = 4.3772


def scores(runs: int = 2000, mu: float = 1.0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(runs)
    return rng.normal(mu, 1, runs), rng.normal(0, 1, runs)


def cli(*words: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run([sys.executable, "-m", "dobrushin", *words, "--json"], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


# Floors.


def test_a_report_has_the_floor_of_the_program(tmp_path: Path) -> None:
    report = db.account(HIDDEN, delta=1e-5)
    assert report.floor is not None and report.published is not None
    assert 0.9 * report.epsilon < report.floor.lower <= report.epsilon < report.published
    assert report.floor_instance is not None and "linear" in report.floor_instance
    path = tmp_path / "run.toml"
    path.write_text(HIDDEN.to_toml())
    _, said = cli("account", str(path), "--delta", "1e-5")
    assert report.floor == (said["floor"]["epsilon"]["lower"], said["floor"]["epsilon"]["upper"])
    assert report.floor_instance == said["floor"]["instance"]
    assert "that is the floor" in report.text.replace("\n", " ") and "floor" in report._repr_html_()
    kept = pickle.loads(pickle.dumps(report))
    assert (kept.floor, kept.floor_instance) == (report.floor, report.floor_instance)


def test_the_floor_of_a_delta_is_a_delta() -> None:
    report = db.account(STEP, epsilon=1.0)
    assert report.floor is not None
    assert report.floor.lower <= report.delta < 1.001 * report.floor.lower


def test_a_report_without_a_floor() -> None:
    report = db.account(HIDDEN, delta=1e-5, floor=False)
    assert report.floor is None and report.floor_instance is None
    assert "floor" not in report.text and "floor" not in report.to_frame().index
    assert report.plot().get_legend() is None


def test_the_floor_is_in_the_frame_and_a_band_in_the_picture() -> None:
    report = db.account(HIDDEN, delta=1e-5)
    frame = report.to_frame()
    assert report.floor is not None
    assert frame.loc["floor", "lower"] == report.floor.lower
    assert np.isnan(float(frame["upper"]["floor"]))
    legend = report.plot().get_legend()
    assert legend is not None
    assert [words.get_text() for words in legend.get_texts()] == ["floor to guarantee", "gained by hiding"]


# Attacks.


@pytest.mark.parametrize("multiplier", [1.0, 1.3])
def test_scores_prove_what_the_program_says_that_they_prove(tmp_path: Path, multiplier: float) -> None:
    run = STEP.replace(noise_multiplier=multiplier)
    both = scores()
    names = []
    for name, values in zip(("with", "without"), both, strict=True):
        path = tmp_path / f"{name}.csv"
        path.write_text("".join(f"{value!r}\n" for value in values.tolist()))
        names.append(str(path))
    (tmp_path / "run.toml").write_text(run.to_toml())
    code, said = cli("audit", str(tmp_path / "run.toml"), "--scores", *names, "--delta", "1e-5")
    found = db.audit_scores(*both, run=run, delta=1e-5)
    assert found.to_dict() == said
    assert found.violation == (code == 1) == (multiplier > 1)
    assert bool(found.suspects) == found.violation
    assert found.floor is not None and found.composition is not None
    assert float(found) < TRUTH and found.floor.lower <= found.claimed.upper <= found.composition.upper
    assert found.delta == 1e-5 and found.text.startswith("The claim" if found.violation else "The attack proves")


def test_a_pair_is_a_claim_without_a_floor() -> None:
    found = db.audit_scores(*scores(), epsilon=0.5, delta=1e-5, confidence=0.99)
    (attack,) = found.attacks
    assert found.violation and (found.floor, found.composition) == (None, None)
    assert (attack.id, attack.runs, attack.confidence) == ("scores", 4000, 0.99)
    assert 0.5 < attack.epsilon < attack.gaussian_epsilon < TRUTH and attack.epsilon < attack.provable_at_most
    assert repr(found) == f"<Audit: epsilon>={np.floor(1000 * float(found)) / 1000:g}, claimed<=0.5, contradicted>"


def test_an_audit_is_pickled_and_drawn() -> None:
    found = db.audit_scores(*scores(), run=STEP, delta=1e-5)
    kept = pickle.loads(pickle.dumps(found))
    assert (kept.to_dict(), kept.text, repr(kept)) == (found.to_dict(), found.text, repr(found))
    frame = found.to_frame()
    assert list(frame.index) == ["attack: scores", "attack: scores, if Gaussian", "floor", "guarantee", "composition"]
    assert list(frame["side"]) == ["at least", "at least", "at least", "at most", "at most"]
    assert len(found.plot().patches) == len(frame)


def test_a_program_that_keeps_its_promise_is_not_contradicted_and_one_with_half_the_noise_is() -> None:
    def trainer(noise: float) -> Callable[[list[float]], Any]:
        rng = np.random.default_rng(5)
        return lambda records: [np.clip(records, 0, 1).sum() + rng.normal(0, noise), rng.normal()]

    data = ([0.3, 0.8, 1.0], [0.3, 0.8])
    honest = db.audit(trainer(1.0), *data, runs=1000, run=STEP, delta=1e-5, confidence=0.99)
    assert not honest.violation and honest.attacks[0].id == "direction" and honest.attacks[0].runs == 2000
    careless = db.audit(trainer(0.5), *data, runs=1000, run=STEP, delta=1e-5, confidence=0.99)
    assert careless.violation


def test_both_data_sets_are_trained_on_in_turn() -> None:
    calls: list[str] = []
    rng = np.random.default_rng(1)

    def train(data: str) -> float:
        calls.append(data)
        return rng.normal()

    db.audit(train, "with", "without", runs=5, epsilon=1.0, delta=1e-5)
    assert calls == ["with", "without"] * 5


def test_one_number_may_be_infinite_and_scores_may_be_equal() -> None:
    found = db.audit(lambda diverges: np.inf if diverges else 0.0, True, False, runs=100, epsilon=1.0, delta=1e-5)
    assert found.violation and "seed" in found.warnings[0]


# What cannot be audited.

CLAIM: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5}
GOOD = list(range(20))


@pytest.mark.parametrize(
    ("arguments", "keywords", "words"),
    [
        ((GOOD, [1.0, 2.0, float("nan"), 4.0]), CLAIM, ["score 3 without the record", "inf"]),
        ((GOOD, [None] * 9), CLAIM, ["score 1 without the record"]),
        (([[1.0, np.inf]] * 9, [[1.0, 2.0]] * 9), CLAIM, ["a parameter of model 1 with the record", "1e300"]),
        (([], GOOD), CLAIM, ["0 runs with the record", "at least 4"]),
        ((GOOD, [1.0, 2.0, 3.0]), CLAIM, ["3 runs without the record", "at least 4"]),
        ((["1", "2", "3", "4"], GOOD), CLAIM, ["with_scores", "numbers"]),
        (([1j, 2, 3, 4], GOOD), CLAIM, ["with_scores", "complex"]),
        ((GOOD, np.array(["2020-01-01"] * 9, dtype="datetime64[D]")), CLAIM, ["without_scores", "datetime64"]),
        ((GOOD, [[1.0], [1.0, 2.0]]), CLAIM, ["without_scores", "one row"]),
        ((5.0, GOOD), CLAIM, ["with_scores is one number"]),
        (([[1.0, 2.0]] * 9, [[1.0]] * 9), CLAIM, ["model 1 without the record", "1 parameter"]),
        ((GOOD, GOOD), {}, ["a run, or ε and δ"]),
        ((GOOD, GOOD), {"epsilon": 1.0}, ["a run, or ε and δ"]),
        ((GOOD, GOOD), {"delta": 1e-5}, ["a run, or ε and δ"]),
        ((GOOD, GOOD), {"run": STEP, **CLAIM}, ["a run, or ε and δ"]),
        ((GOOD, GOOD), {"run": STEP}, ["target.delta"]),
        ((GOOD, GOOD), {"run": 5, "delta": 1e-5}, ["run"]),
        ((GOOD, GOOD), {"epsilon": -1.0, "delta": 1e-5}, ["epsilon is -1"]),
        ((GOOD, GOOD), {"epsilon": 1.0, "delta": 1.0}, ["δ is 1"]),
        ((GOOD, GOOD), {"epsilon": float("nan"), "delta": 1e-5}, ["epsilon"]),
        ((GOOD, GOOD), {"epsilon": "1", "delta": 1e-5}, ["epsilon"]),
        ((GOOD, GOOD), {**CLAIM, "confidence": 1.0}, ["confidence is 1", "below 1"]),
        ((GOOD, GOOD), {**CLAIM, "confidence": 0.0}, ["confidence is 0", "above 0"]),
        ((GOOD, GOOD), {**CLAIM, "confidence": float("nan")}, ["confidence"]),
        ((GOOD, GOOD), {**CLAIM, "confidence": "high"}, ["confidence"]),
    ],
)
def test_bad_scores_and_claims_are_named(arguments: Any, keywords: Any, words: list[str]) -> None:
    with pytest.raises(db.InvalidInputError) as refused:
        db.audit_scores(*arguments, **keywords)
    assert all(word in str(refused.value) for word in words), str(refused.value)


def counted(answers: Callable[[int], Any]) -> Callable[[str], Any]:
    """A program whose answer depends on how often it was called."""
    calls = iter(range(10_000))
    return lambda _: answers(next(calls))


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (lambda call: float("nan") if call == 3 else call, ["call 2 without the record is nan", "inf"]),
        (lambda call: [call, np.inf, 1], ["call 1 with the record is inf at index 1", "1e300"]),
        (lambda call: [call] * (3 if call == 4 else 2), ["call 3 with the record has 3 numbers", "returned 2"]),
        (lambda call: [call, 2] if call % 2 else call, ["call 1 without the record has 2 numbers", "returned 1"]),
        (lambda call: [], ["call 1 with the record has no numbers"]),
        (lambda call: None, ["call 1 with the record"]),
        (lambda call: "0.5", ["call 1 with the record", "numbers"]),
        (lambda call: {"weights": 1}, ["call 1 with the record", "numbers"]),
        (lambda call: 1j, ["complex"]),
        (lambda call: [0.25, 0.5], ["same numbers in all 8 calls with the record", "seed"]),
        (lambda call: [0.25 + call % 2, 0.5], ["same numbers in all 8 calls with the record", "seed"]),
    ],
)
def test_what_a_program_must_not_return_is_named_with_its_call(answers: Any, words: list[str]) -> None:
    with pytest.raises(db.InvalidInputError) as refused:
        db.audit(counted(answers), "with", "without", runs=100, **CLAIM)
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_answers_that_are_equal_now_and_then_are_no_fixed_seed() -> None:
    rng = np.random.default_rng(3)
    found = db.audit(lambda _: [0, rng.integers(2)], "with", "without", runs=100, **CLAIM)
    assert not found.violation


@pytest.mark.parametrize("runs", [0, -1, 1.5, "10", True, None])
def test_runs_are_counted_in_whole_numbers(runs: Any) -> None:
    with pytest.raises(db.InvalidInputError, match="runs is"):
        db.audit(lambda data: 0.0, 1, 2, runs=runs, **CLAIM)
    with pytest.raises(db.InvalidInputError, match="train is a int"):
        db.audit(5, 1, 2, **CLAIM)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "claim",
    [{}, {"run": STEP, **CLAIM}, {**CLAIM, "confidence": 2.0}, {"run": STEP.replace(noise_multiplier=-1.0), "delta": 1e-5}],
)
def test_a_claim_is_looked_at_before_anything_is_trained(claim: Any) -> None:
    def train(data: Any) -> float:
        raise AssertionError("it was called")

    with pytest.raises(db.InvalidInputError):
        db.audit(train, 1, 2, **claim)


def test_what_a_program_raises_is_raised() -> None:
    def train(data: Any) -> float:
        raise KeyError("no such column")

    with pytest.raises(KeyError, match="no such column"):
        db.audit(train, 1, 2, **CLAIM)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_ctrl_c_stops_an_audit() -> None:
    code = """
import signal, time, numpy as np, dobrushin as db
# Programs that are started in the background ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
def train(data):
    time.sleep(0.01)
    return np.random.normal()
print("ready", flush=True)
try:
    db.audit(train, 1, 2, runs=100_000, epsilon=1.0, delta=1e-5)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        assert process.stdout.read() == "stopped\n"
        assert process.wait() == 0 and time.monotonic() - start < 20
