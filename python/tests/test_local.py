"""Local privacy: mechanisms, reports, estimates, plans and bounds."""

from __future__ import annotations

import math
import os
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dobrushin as db
from dobrushin import local

untyped: Any = local
"""The same, to be called as its types forbid."""

FREQUENCY = [
    local.k_rr(4, epsilon=1.0),
    local.oue(4, epsilon=1.0),
    local.sue(4, epsilon=1.0),
    local.aue(4, epsilon=1.0, truth=0.6),
    local.subset(4, epsilon=1.0),
    local.hadamard(4, epsilon=1.0),
    local.olh(4, epsilon=1.0),
    local.channel([[0.4, 0.3, 0.2, 0.1]] + [[0.1, 0.2, 0.3, 0.4]] * 2 + [[0.2, 0.2, 0.2, 0.4]], epsilon=2.0),
]
MEAN = [
    local.one_bit((0.0, 10.0), epsilon=1.0),
    local.laplace((0.0, 10.0), epsilon=1.0),
    local.gaussian((0.0, 10.0), epsilon=1.0, delta=1e-5),
    local.piecewise((0.0, 10.0), epsilon=1.0),
    local.hybrid((0.0, 10.0), epsilon=1.0),
]
VECTOR = [local.half_sphere(1.0, 5, epsilon=2.0), local.priv_unit(1.0, 5, epsilon=2.0)]


def names(mechanisms: list[local.Mechanism]) -> list[str]:
    return [mechanism.name for mechanism in mechanisms]


@pytest.mark.parametrize("mechanism", FREQUENCY + MEAN + VECTOR, ids=names(FREQUENCY + MEAN + VECTOR))
def test_every_mechanism_keeps_its_promise_as_it_is_realised(mechanism: local.Mechanism) -> None:
    epsilon, delta = mechanism._made[1], mechanism._made[2]
    assert mechanism.delta(epsilon) <= delta
    assert mechanism.epsilon(delta) <= epsilon
    lower, upper = mechanism.delta([0.0, 0.5], bounds=True)
    assert (lower <= upper).all() and (upper > 0).all()


def test_randomised_response_has_its_known_profile() -> None:
    mechanism = local.k_rr(2, epsilon=math.log(3))
    assert mechanism.delta(0.0) == pytest.approx(0.5)
    assert mechanism.profile(questions=10).questions is not None
    assert mechanism.profile().questions is None
    shuffled = mechanism.profile(shuffled=10_000).shuffled
    assert shuffled is not None and shuffled.upper < 0.3


@pytest.mark.parametrize("mechanism", FREQUENCY[:7], ids=names(FREQUENCY[:7]))
def test_frequencies_are_estimated_within_their_intervals(mechanism: local.Mechanism) -> None:
    answers = np.repeat([1, 2, 3, 4], [20_000, 10_000, 6_000, 4_000])
    reports = mechanism.privatize(answers, seed=5, not_private=True)
    assert len(reports) == 40_000 and not reports.private
    found = mechanism.estimate(reports, confidence=0.999, simultaneous=True)
    truth = np.array([0.5, 0.25, 0.15, 0.1])
    lower, upper = found.intervals.T
    assert ((lower <= truth) & (truth <= upper)).all()
    assert np.array_equal(found.values, mechanism.estimate(mechanism.count(reports), confidence=0.999).values)
    projected = mechanism.estimate(reports, method="projected").values
    assert projected.sum() == pytest.approx(1.0) and (projected >= 0).all()
    assert not found.to_dict()["private"]


def test_counts_and_reports_of_parts_add_up_to_those_of_the_whole() -> None:
    mechanism = local.oue(["a", "b", "c"], epsilon=2.0)
    first, second = mechanism.privatize(["a"] * 300), mechanism.privatize(["b"] * 200)
    both = first + second
    counts = mechanism.count(first) + mechanism.count(second)
    assert np.array_equal(mechanism.count(both).counters, counts.counters) and counts.reports == 500
    assert np.array_equal(both.estimate().values, mechanism.estimate(counts).values)
    with pytest.raises(db.InvalidInputError):
        _ = first + local.oue(["a", "b", "c"], epsilon=1.0).privatize(["a"])


@pytest.mark.parametrize("mechanism", MEAN, ids=names(MEAN))
def test_a_mean_is_estimated_within_its_interval(mechanism: local.Mechanism) -> None:
    answers = np.random.default_rng(1).uniform(2, 6, 20_000)
    found = mechanism.estimate(mechanism.privatize(answers, seed=3, not_private=True), confidence=0.999)
    lower, upper = found.intervals[0]
    assert lower <= 4.0 <= upper and lower < float(found) < upper


@pytest.mark.parametrize("mechanism", VECTOR, ids=names(VECTOR))
def test_a_mean_vector_is_estimated_within_its_intervals(mechanism: local.Mechanism) -> None:
    mean = np.array([0.5, 0.0, -0.5, 0.1, 0.0])
    reports = mechanism.privatize(np.tile(mean, (20_000, 1)), seed=3, not_private=True)
    found = mechanism.estimate(reports, confidence=0.999, simultaneous=True)
    lower, upper = found.intervals.T
    assert ((lower <= mean) & (mean <= upper)).all()


def test_numbers_in_bins_have_quantiles() -> None:
    mechanism = local.k_rr(local.Bins(0.0, 60.0, 6), epsilon=3.0)
    answers = np.random.default_rng(1).uniform(0, 60, 30_000)
    reports = mechanism.privatize([*answers[:-1], 1e9], seed=1, not_private=True)
    assert reports.clipped == 1
    assert mechanism.estimate(reports).quantiles[0.5] == pytest.approx(30.0, abs=2.0)


def test_reports_are_drawn_anew_each_time_and_a_seed_must_be_owned_up_to() -> None:
    mechanism = local.k_rr(1000, epsilon=0.5)
    first, second = (mechanism.privatize([1] * 100) for _ in range(2))
    assert first.private and not np.array_equal(first.data, second.data)
    known = [mechanism.privatize([1] * 100, seed=7, not_private=True).data for _ in range(2)]
    assert np.array_equal(known[0], known[1])
    for wishes in [{"seed": 7}, {"not_private": True}, {"seed": -1, "not_private": True}, {"seed": 1.5, "not_private": True}]:
        with pytest.raises(db.InvalidInputError):
            mechanism.privatize([1], **wishes)  # type: ignore[arg-type]


def test_a_forked_child_draws_other_reports_than_its_parent() -> None:
    mechanism = local.k_rr(1000, epsilon=0.5)
    mechanism.privatize([1] * 100_000)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, mechanism.privatize([1] * 50).data.tobytes())
        os._exit(0)
    ours = mechanism.privatize([1] * 50).data
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert os.read(reading, 10_000) != ours.tobytes()


@pytest.mark.parametrize("secret", ["secret", 17, None, math.nan, 0, 1.5, True, b"a", [1], 2**70, -(2**70)])
def test_a_bad_answer_is_named_by_its_place_only_and_reported_if_it_is_skipped(secret: Any) -> None:
    mechanism = local.k_rr(["yes", "no"], epsilon=1.0)
    with pytest.raises(db.InvalidInputError) as refused:
        mechanism.privatize(["yes", "no", secret])
    message = str(refused.value)
    assert "answer 2" in message
    assert refused.value.__cause__ is None and refused.value.__context__ is None
    # All bad answers have the same message: nothing in it depends on what the answer is.
    with pytest.raises(db.InvalidInputError) as other:
        mechanism.privatize(["yes", "no", "another"])
    assert message == str(other.value)
    reports = mechanism.privatize(["yes", "no", secret], skip_bad=True)
    assert len(reports) == 3 and reports.skipped == 1


def test_bad_numbers_and_vectors_are_reported_too() -> None:
    mean = local.laplace((0.0, 1.0), epsilon=1.0)
    for bad in [math.nan, math.inf, "0.5", None, True, [0.5]]:
        with pytest.raises(db.InvalidInputError, match="answer 1 "):
            mean.privatize([0.5, bad])
        assert len(mean.privatize([0.5, bad], skip_bad=True)) == 2
    assert mean.privatize([0.5, 7.0, -3.0]).clipped == 2
    vector = local.priv_unit(1.0, 2, epsilon=1.0)
    for row in [[math.nan, 0.0], [0.1], [0.1, 0.2, 0.3], None, "ab", ["a", "b"]]:
        with pytest.raises(db.InvalidInputError, match="answer 1 "):
            vector.privatize([[0.1, 0.2], row])
        assert len(vector.privatize([[0.1, 0.2], row], skip_bad=True)) == 2
    assert vector.privatize(np.array([[3.0, 4.0]])).clipped == 1


answer = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=2))


@settings(max_examples=100, deadline=None)
@given(st.lists(answer, max_size=20), st.sampled_from([*FREQUENCY, *MEAN, *VECTOR][:-2]))
def test_there_is_a_report_for_every_answer_whatever_it_is(answers: list[Any], mechanism: local.Mechanism) -> None:
    assert len(mechanism.privatize(answers, skip_bad=True)) == len(answers)


def test_what_are_no_answers_or_reports_is_an_invalid_input() -> None:
    mechanism = local.k_rr(3, epsilon=1.0)
    for wrong in [None, 1, "abc", 1.0, object()]:
        with pytest.raises(db.InvalidInputError):
            mechanism.privatize(wrong)  # type: ignore[arg-type]
    reports: list[Any] = [None, [1], np.array([1.0]), np.array([[7]], dtype=np.uint64), np.zeros((2, 2), dtype=np.uint64)]
    for data in reports:
        with pytest.raises(db.InvalidInputError):
            mechanism.estimate(data)
    with pytest.raises(db.InvalidInputError):
        mechanism.estimate(np.zeros((0, 1), dtype=np.uint64))
    with pytest.raises(db.InvalidInputError):
        mechanism.estimate(local.Counts(np.array([9, 0, 0], dtype=np.uint64), 3))
    for wishes in [{"confidence": 2.0}, {"confidence": None}, {"method": "guess"}, {"quantiles": 3}, {"quantiles": [2.0]}]:
        with pytest.raises(db.InvalidInputError):
            mechanism.estimate(mechanism.privatize([1, 2, 3]), **wishes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [
        lambda: untyped.k_rr(1, epsilon=1.0),
        lambda: untyped.k_rr(-3, epsilon=1.0),
        lambda: untyped.k_rr("ab", epsilon=1.0),
        lambda: untyped.k_rr(["a", "a"], epsilon=1.0),
        lambda: untyped.k_rr([1, 2], epsilon=1.0),
        lambda: untyped.k_rr(3, epsilon=-1.0),
        lambda: untyped.k_rr(3, epsilon=math.nan),
        lambda: untyped.k_rr(3, epsilon=None),
        lambda: untyped.k_rr(3, epsilon=math.inf),
        lambda: untyped.k_rr(3, epsilon=1.0, delta=2.0),
        lambda: untyped.laplace((1.0, 0.0), epsilon=1.0),
        lambda: untyped.laplace((0.0, math.inf), epsilon=1.0),
        lambda: untyped.laplace((0.0,), epsilon=1.0),
        lambda: untyped.laplace(3, epsilon=1.0),
        lambda: untyped.gaussian((0.0, 1.0), epsilon=1.0, delta=0.0),
        lambda: untyped.priv_unit(-1.0, 3, epsilon=1.0),
        lambda: untyped.priv_unit(1.0, 0, epsilon=1.0),
        lambda: untyped.channel([[0.5, 0.6], [0.5, 0.5]], epsilon=1.0),
        lambda: untyped.channel(None, epsilon=1.0),
        lambda: untyped.Mechanism("nothing", epsilon=1.0, categories=3),
        lambda: untyped.Mechanism("laplace", epsilon=1.0, categories=3),
        lambda: untyped.Mechanism("k-rr", epsilon=1.0),
        lambda: untyped.aue(3, epsilon=1.0, truth=2.0),
        lambda: untyped.plan(epsilon=1.0, categories=3),
        lambda: untyped.plan(epsilon=1.0, records=10),
        lambda: untyped.bounds(epsilon=1.0, records=0),
        lambda: untyped.bounds(epsilon=1.0, records=10, radius=1.0),
    ],
)
def test_what_is_no_mechanism_plan_or_bound_is_an_invalid_input(make: Any) -> None:
    with pytest.raises(db.InvalidInputError):
        make()


def test_a_channel_that_breaks_its_promise_privatises_nothing() -> None:
    with pytest.raises(db.NoGuaranteeError):
        local.channel([[0.9, 0.1], [0.1, 0.9]], epsilon=1.0).privatize([1, 2])


def test_plans_and_bounds_agree_that_no_mechanism_is_too_good() -> None:
    plans = local.plan(epsilon=1.0, categories=10, records=10_000)
    assert plans.best == plans.to_frame().index[0]
    needed = local.plan(epsilon=1.0, bounds=(0.0, 1.0), error=0.01)
    assert needed.to_frame()["records"].iloc[0] > 10_000
    limits = local.bounds(epsilon=1.0, records=10_000, categories=10)
    floor = limits.to_frame()["at_least"].max()
    assert 0 < floor <= 10 * plans.to_frame()["standard_error"].iloc[0] ** 2
    assert limits.effective_records == pytest.approx(10_000 * math.tanh(0.5) ** 2)


def test_a_mechanism_is_pickled_compared_and_drawn() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    mechanism = local.subset(["a", "b", "c"], epsilon=1.0)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert mechanism.plot().lines
    found = mechanism.estimate(mechanism.privatize(["a", "b"] * 100))
    assert found.plot().containers
    assert list(found.to_frame().index) == ["a", "b", "c"]
