"""What ``dobrushin.accounting`` claims, and where ``dp_accounting`` is wrong or loose."""

import math
import os
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("CI") != "true":
    pytest.importorskip("dp_accounting")

import attr
import numpy as np
from dp_accounting import (
    ComposedDpEvent,
    DpEvent,
    GaussianDpEvent,
    LaplaceDpEvent,
    NeighboringRelation,
    NonPrivateDpEvent,
    NoOpDpEvent,
    PoissonSampledDpEvent,
    PrivacyAccountant,
    RandomizedResponseDpEvent,
    SampledWithoutReplacementDpEvent,
    SelfComposedDpEvent,
    SingleEpochTreeAggregationDpEvent,
    UnsupportedEventError,
    calibrate_dp_mechanism,
    dp_event,
    privacy_accountant_test,
)
from dp_accounting.pld import PLDAccountant, privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

import dobrushin as db
from dobrushin.accounting import HiddenStateAccountant, HiddenStateDpEvent

ADD = NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE = NeighboringRelation.REPLACE_ONE
SPECIAL = NeighboringRelation.REPLACE_SPECIAL

# How far ε may be above the smallest that holds, relative to ε.
TOLERANCE = 1e-4

REGRESSION = {
    "run": {
        "algorithm": "dp-sgd",
        "records": 30162,
        "steps": 11800,
        "batch-size": 512,
        "order": "without-replacement",
        "release": "last",
    },
    "update": {"learning-rate": 2.0, "clip-norm": 1.0, "noise-multiplier": 4.0, "weight-decay": 0.02},
    "loss": {"convex": True, "smoothness": 0.25, "generalised-linear": True},
    "domain": {"diameter": 10.0, "dimension": 105},
}


def epsilon(
    event: DpEvent,
    delta: float,
    relation: NeighboringRelation = ADD,
    count: int = 1,
    accountant: Callable[..., PrivacyAccountant] = HiddenStateAccountant,
) -> float:
    return float(accountant(neighboring_relation=relation).compose(event, count).get_epsilon(delta))


def one_gaussian(noise_multiplier: float) -> HiddenStateDpEvent:
    """A run with a single step, which hides nothing: it is the Gaussian mechanism."""
    return HiddenStateDpEvent(
        {
            "run": {"algorithm": "gradient-descent", "records": 100, "steps": 1, "release": "last"},
            "update": {"clip-norm": 1.0, "noise-multiplier": noise_multiplier},
        }
    )


def delta_of_gaussian(epsilon: float, noise_multiplier: float) -> float:
    half, shift = 0.5 / noise_multiplier, epsilon * noise_multiplier
    return float(norm.cdf(half - shift) - math.exp(epsilon) * norm.cdf(-half - shift))


def delta_of_responses(epsilon: float, epsilon_of_one: float, count: int) -> float:
    """k of binary responses agree with the first law, the others with the second."""
    truth = 1 / (1 + math.exp(-epsilon_of_one))
    right = np.arange(count + 1)
    gain = -np.expm1(np.minimum(epsilon - (2 * right - count) * epsilon_of_one, 0.0))
    return float(np.sum(binom.pmf(right, count, truth) * gain))


class TestTheSuiteOfTheirsHolds(privacy_accountant_test.PrivacyAccountantTest):  # type: ignore[misc]
    """The abstract suite of ``dp_accounting``, as it is."""

    def _make_test_accountants(self) -> list[PrivacyAccountant]:
        return [HiddenStateAccountant(), *(HiddenStateAccountant(relation) for relation in NeighboringRelation)]


# --- numbers that are known ---


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-5, 1e-12])
@pytest.mark.parametrize("noise", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("count", [1, 30])
def test_epsilon_is_never_below_the_exact_value(noise: float, count: int, delta: float) -> None:
    found = epsilon(GaussianDpEvent(noise), delta, count=count)
    together = noise / math.sqrt(count)
    assert delta_of_gaussian(found, together) <= delta * (1 + 1e-9)
    assert found == 0 or delta_of_gaussian(found * (1 - TOLERANCE), together) > delta


@pytest.mark.parametrize("relation, apart", [(ADD, 1), (SPECIAL, 1), (REPLACE, 2)])
def test_laplace_noise_costs_the_sum_of_its_epsilons_if_delta_is_zero(
    relation: NeighboringRelation, apart: int
) -> None:
    found = epsilon(LaplaceDpEvent(3.0), 0, relation, count=7)
    assert Fraction(7 * apart, 3) <= Fraction(found) <= Fraction(7 * apart, 3) * Fraction(1 + 1e-12)


@pytest.mark.parametrize("relation, apart", [(ADD, 1), (SPECIAL, 1), (REPLACE, 2)])
def test_discrete_laplace_noise_costs_at_least_the_product_of_its_parameters(
    relation: NeighboringRelation, apart: int
) -> None:
    found = epsilon(dp_event.DiscreteLaplaceDpEvent(0.1, 3), 0, relation, count=5)
    exact = 5 * apart * 3 * Fraction(0.1)
    assert exact <= Fraction(found) <= exact * Fraction(1 + 1e-12)


@pytest.mark.parametrize("count", [1, 2, 100])
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_responses_add_up(count: int, delta: float) -> None:
    found = epsilon(RandomizedResponseDpEvent(0.5, 2), delta, REPLACE, count)
    assert delta_of_responses(found, math.log(3), count) <= delta * (1 + 1e-9)
    assert delta_of_responses(found * (1 - TOLERANCE), math.log(3), count) > delta


def test_a_special_record_answers_at_random() -> None:
    noise, buckets = 0.4, 5
    truth = 1 - noise + noise / buckets
    for at in (0.0, 0.3, 0.8):
        forward = truth - math.exp(at) / buckets
        backward = (1 - 1 / buckets) * (1 - math.exp(at) * noise)
        found = HiddenStateAccountant(SPECIAL).compose(RandomizedResponseDpEvent(noise, buckets)).get_delta(at)
        assert max(forward, backward, 0) <= found <= (1 - noise) * (1 - 1 / buckets) * (1 + TOLERANCE)


@pytest.mark.parametrize("epsilon_", [0.0, 0.5, 3.0])
def test_a_sample_without_replacement_is_amplified_as_proved(epsilon_: float) -> None:
    event = SampledWithoutReplacementDpEvent(1000, 10, GaussianDpEvent(1.0))
    found = HiddenStateAccountant(REPLACE).compose(event).get_delta(epsilon_)
    inner = math.log1p(math.expm1(epsilon_) / 0.01)
    exact = 0.01 * delta_of_gaussian(inner, 0.5)
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-3)


def test_a_tree_is_as_many_gaussians_as_it_has_levels() -> None:
    for steps, levels in ((1, 1), (3, 2), (4, 3), (7, 3), (8, 4), ([3, 8, 5], 4)):
        tree = epsilon(SingleEpochTreeAggregationDpEvent(5.0, steps), 1e-6, SPECIAL)
        assert tree == epsilon(GaussianDpEvent(5.0), 1e-6, SPECIAL, levels)


def test_gaussians_on_one_sample_are_one_gaussian() -> None:
    together = PoissonSampledDpEvent(
        0.1, ComposedDpEvent([GaussianDpEvent(2), SelfComposedDpEvent(GaussianDpEvent(3), 5)])
    )
    single = PoissonSampledDpEvent(0.1, GaussianDpEvent((1 / 4 + 5 / 9) ** -0.5))
    found, known = epsilon(together, 1e-6, count=50), epsilon(single, 1e-6, count=50)
    assert found == pytest.approx(known, rel=TOLERANCE)


def test_a_sample_of_a_sample_is_a_smaller_sample() -> None:
    nested = PoissonSampledDpEvent(0.2, PoissonSampledDpEvent(0.5, GaussianDpEvent(1.0)))
    plain = PoissonSampledDpEvent(0.1, GaussianDpEvent(1.0))
    assert epsilon(nested, 1e-6, count=50) == pytest.approx(epsilon(plain, 1e-6, count=50), rel=TOLERANCE)


def test_a_sample_that_is_everybody_amplifies_nothing() -> None:
    known = epsilon(GaussianDpEvent(1.0), 1e-6)
    assert epsilon(PoissonSampledDpEvent(1, GaussianDpEvent(1.0)), 1e-6) == known
    everybody = SampledWithoutReplacementDpEvent(7, 7, GaussianDpEvent(1.0))
    assert epsilon(everybody, 1e-6, REPLACE) == epsilon(GaussianDpEvent(1.0), 1e-6, REPLACE)


def test_a_sample_of_which_nothing_is_released_costs_nothing() -> None:
    assert epsilon(PoissonSampledDpEvent(0.1, NoOpDpEvent()), 0) == 0
    assert epsilon(PoissonSampledDpEvent(0.1, ComposedDpEvent([])), 0) == 0


def test_a_sample_that_is_nobody_costs_nothing() -> None:
    assert epsilon(PoissonSampledDpEvent(0, GaussianDpEvent(1.0)), 0) == 0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_laplace_noise_hides_a_change_of_two_coordinates_at_least_as_well(share: float) -> None:
    two = ComposedDpEvent([LaplaceDpEvent(1 / share), LaplaceDpEvent(1 / (1 - share))])
    for at in (0.0, 0.2, 0.6, 0.9):
        one = HiddenStateAccountant().compose(LaplaceDpEvent(1.0)).get_delta(at)
        assert HiddenStateAccountant().compose(two).get_delta(at) <= one * (1 + 1e-4)


def test_what_is_no_float_is_rounded_to_the_side_of_privacy() -> None:
    third = Fraction(1, 3)
    assert epsilon(LaplaceDpEvent(third), 0) >= 3
    assert epsilon(dp_event.DiscreteLaplaceDpEvent(third, 3), 0) >= 1
    accountant = HiddenStateAccountant().compose(PoissonSampledDpEvent(third, LaplaceDpEvent(1)))
    assert accountant.get_delta(0) >= (1 - math.exp(-0.5)) / 3


def test_a_probability_that_underflows_is_not_zero() -> None:
    event = PoissonSampledDpEvent(1e-200, PoissonSampledDpEvent(1e-200, GaussianDpEvent(1.0)))
    assert HiddenStateAccountant().compose(event).get_delta(0) > 0


@pytest.mark.parametrize(
    "event",
    [
        GaussianDpEvent(0),
        LaplaceDpEvent(0),
        PoissonSampledDpEvent(0.1, GaussianDpEvent(0)),
        PoissonSampledDpEvent(0.1, NonPrivateDpEvent()),
    ],
)
def test_what_has_no_noise_is_not_private(event: DpEvent) -> None:
    accountant = HiddenStateAccountant().compose(event)
    assert accountant.get_epsilon(0.5) == math.inf
    assert accountant.get_delta(100) == 1


# --- composition ---


def test_how_events_are_nested_does_not_matter() -> None:
    a, b = PoissonSampledDpEvent(0.02, GaussianDpEvent(1.0)), LaplaceDpEvent(20.0)
    nested = ComposedDpEvent([SelfComposedDpEvent(ComposedDpEvent([a, NoOpDpEvent(), SelfComposedDpEvent(b, 2)]), 50)])
    flat = HiddenStateAccountant().compose(b, 100)
    for _ in range(50):
        flat.compose(a)
    assert epsilon(nested, 1e-6) == pytest.approx(flat.get_epsilon(1e-6), rel=TOLERANCE)


def test_the_ledger_is_what_was_composed() -> None:
    accountant = HiddenStateAccountant().compose(GaussianDpEvent(1.0), 3).compose(one_gaussian(2.0))
    expected = ComposedDpEvent([SelfComposedDpEvent(GaussianDpEvent(1.0), 3), one_gaussian(2.0)])
    assert accountant.ledger == expected
    again = HiddenStateAccountant().compose(accountant.ledger)
    assert again.get_epsilon(1e-6) == accountant.get_epsilon(1e-6)


def test_what_is_refused_is_not_counted() -> None:
    accountant = HiddenStateAccountant().compose(GaussianDpEvent(1.0))
    before = accountant.get_epsilon(1e-6)
    with pytest.raises(UnsupportedEventError):
        accountant.compose(ComposedDpEvent([GaussianDpEvent(0.1), SelfComposedDpEvent(GaussianDpEvent(1.0), -1)]))
    assert (accountant.get_epsilon(1e-6), accountant.ledger) == (before, GaussianDpEvent(1.0))


def test_a_finer_tolerance_is_closer_to_the_same_truth() -> None:
    event = PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0))
    answers = [HiddenStateAccountant(ADD, to).compose(event, 1000).get_epsilon(1e-5) for to in (1e-2, 1e-4, 1e-6)]
    truth = 1.8282366665
    assert answers == sorted(answers, reverse=True)
    for to, found in zip((1e-2, 1e-4, 1e-6), answers, strict=True):
        assert truth <= found <= truth * (1 + to)


def test_epsilon_and_delta_agree() -> None:
    accountant = HiddenStateAccountant().compose(PoissonSampledDpEvent(0.01, GaussianDpEvent(0.8)), 500)
    for delta in (1e-2, 1e-6, 1e-30):
        assert accountant.get_delta(accountant.get_epsilon(delta)) == pytest.approx(delta, rel=1e-2)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    noise=st.floats(0.5, 8),
    probability=st.floats(1e-3, 1),
    count=st.integers(1, 200),
    delta=st.sampled_from([1e-1, 1e-3, 1e-5, 1e-8]),
)
def test_epsilon_is_between_their_optimistic_and_their_pessimistic_one(
    noise: float, probability: float, count: int, delta: float
) -> None:
    found = epsilon(PoissonSampledDpEvent(probability, GaussianDpEvent(noise)), delta, count=count)
    low, high = (
        privacy_loss_distribution.from_gaussian_mechanism(
            noise, pessimistic_estimate=pessimistic, value_discretization_interval=1e-3, sampling_prob=probability
        )
        .self_compose(count)
        .get_epsilon_for_delta(delta)
        for pessimistic in (False, True)
    )
    assert low * (1 - 1e-9) - 1e-9 <= found <= high * (1 + TOLERANCE) + 1e-9


SUMS = st.one_of(
    st.builds(GaussianDpEvent, st.floats(1, 10)),
    st.builds(LaplaceDpEvent, st.floats(2, 20)),
    st.builds(PoissonSampledDpEvent, st.floats(0.01, 0.5), st.builds(GaussianDpEvent, st.floats(0.7, 5))),
    st.builds(PoissonSampledDpEvent, st.floats(0.01, 0.5), st.builds(LaplaceDpEvent, st.floats(1, 10))),
)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    events=st.lists(st.tuples(SUMS, st.integers(1, 20)), min_size=1, max_size=4),
    relation=st.sampled_from([ADD, SPECIAL]),
)
def test_mixtures_of_events_are_as_private_as_they_say(
    events: list[tuple[DpEvent, int]], relation: NeighboringRelation
) -> None:
    event = ComposedDpEvent([SelfComposedDpEvent(part, count) for part, count in events])
    found = epsilon(event, 1e-6, relation)
    theirs = PLDAccountant(relation, value_discretization_interval=1e-3).compose(event).get_epsilon(1e-6)
    # They round each loss up, by half a grid step on average, so this much is theirs.
    slack = 1e-3 * sum(count for _, count in events)
    assert theirs - slack <= found <= theirs * (1 + TOLERANCE)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(event=SUMS, count=st.integers(1, 50), delta=st.sampled_from([1e-3, 1e-6]))
def test_a_stronger_relation_is_never_cheaper(event: DpEvent, count: int, delta: float) -> None:
    def answer(relation: NeighboringRelation) -> float:
        accountant = HiddenStateAccountant(relation)
        return accountant.compose(event, count).get_epsilon(delta) if accountant.supports(event) else math.inf

    assert answer(REPLACE) >= answer(SPECIAL) * (1 - TOLERANCE)
    assert answer(REPLACE) >= answer(ADD) * (1 - TOLERANCE)


def test_their_calibration_takes_our_accountant() -> None:
    noise = calibrate_dp_mechanism(
        HiddenStateAccountant,
        lambda noise: SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(noise)), 1000),
        target_epsilon=1.0,
        target_delta=1e-5,
    )
    assert epsilon(PoissonSampledDpEvent(0.01, GaussianDpEvent(noise)), 1e-5, count=1000) <= 1.0


# --- hidden states ---


def test_a_run_by_itself_is_what_account_says() -> None:
    run = db.Run(REGRESSION)
    accountant = HiddenStateAccountant(REPLACE).compose(HiddenStateDpEvent(run))
    report = db.account(run, delta=1e-6, tolerance=TOLERANCE)
    assert accountant.get_epsilon(1e-6) == report.epsilon < 0.6
    assert report.published is not None and report.published > 5
    assert accountant.get_delta(report.epsilon) == pytest.approx(1e-6, rel=1e-2)


@pytest.mark.parametrize("relation", list(NeighboringRelation))
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-10])
def test_runs_compose_with_each_other_and_with_mechanisms(relation: NeighboringRelation, delta: float) -> None:
    # These are three Gaussian mechanisms, whatever they are called: 1/2² + 2/3² + 1/6² = 1/2.
    event = ComposedDpEvent([one_gaussian(2.0), SelfComposedDpEvent(one_gaussian(3.0), 2), GaussianDpEvent(6.0)])
    exact = epsilon(GaussianDpEvent(2**0.5), delta, relation)
    assert exact * (1 - 1e-6) <= epsilon(event, delta, relation) <= exact * 1.01
    found = HiddenStateAccountant(relation).compose(event).get_delta(exact)
    assert delta * (1 - 1e-6) <= found <= delta * 1.1


def test_many_runs_compose_better_than_their_epsilons_add_up() -> None:
    # Each step forgets 5 % of the past, so a thousand of them are as private as a hundred.
    run = db.Run(
        algorithm="gradient-descent",
        records=1000,
        steps=1000,
        release="last",
        learning_rate=0.1,
        clip_norm=1.0,
        noise_multiplier=50.0,
        weight_decay=0.05,
        convex=True,
        smoothness=1.0,
        generalised_linear=True,
    )
    event, count, delta = HiddenStateDpEvent(run), 10, 1e-6
    together = epsilon(event, delta, REPLACE, count)
    assert epsilon(event, delta, REPLACE) < together < count * epsilon(event, delta / count, REPLACE) / 2


def test_a_run_is_for_the_neighbours_of_the_accountant() -> None:
    for said in ("replace-one", "add-or-remove-one", "zero-out"):
        event = HiddenStateDpEvent(one_gaussian(2.0).to_run().replace(neighbours=said))
        for relation in NeighboringRelation:
            assert epsilon(event, 1e-6, relation) == pytest.approx(
                epsilon(GaussianDpEvent(2.0), 1e-6, relation), rel=1e-9
            )


def test_a_list_of_mechanisms_is_for_its_own_neighbours_only() -> None:
    run: dict[str, Any] = {
        "run": {"algorithm": "composition", "neighbours": "zero-out"},
        "mechanism": [{"kind": "approximate", "epsilon": 0.5, "delta": 1e-7, "count": 3}],
    }
    event = HiddenStateDpEvent(run)
    assert 1.49 < epsilon(event, 1e-6, SPECIAL) <= 1.5
    assert not HiddenStateAccountant(REPLACE).supports(event)
    assert not HiddenStateAccountant(ADD).supports(event)
    run["mechanism"][0]["count"] = -1
    assert not HiddenStateAccountant(SPECIAL).supports(HiddenStateDpEvent(run))


def test_a_chain_is_for_the_neighbours_that_are_given() -> None:
    chain = {
        "run": {"algorithm": "chain", "release": "last"},
        "step": [
            {"count": 5, "iterate-noise": 1.0, "displacement": 0.1, "participation": "always", "modulus": [[0.9, 0.0]]}
        ],
    }
    assert not HiddenStateAccountant(ADD).supports(HiddenStateDpEvent(chain))
    event = HiddenStateDpEvent(chain, ADD)
    assert epsilon(event, 1e-6, ADD) == db.account(db.Run(chain), delta=1e-6).epsilon
    assert not HiddenStateAccountant(REPLACE).supports(event)


def test_a_guarantee_for_one_record_is_no_guarantee() -> None:
    run: dict[str, Any] = {
        "run": {"algorithm": "pnsgd", "records": 100, "order": "once", "record": 1, "release": "last"},
        "update": {"learning-rate": 0.1, "lipschitz": 1.0, "gradient-noise": 1.0},
    }
    assert not HiddenStateAccountant(REPLACE).supports(HiddenStateDpEvent(run))
    del run["run"]["record"]
    assert HiddenStateAccountant(REPLACE).supports(HiddenStateDpEvent(run))


def test_a_run_that_has_no_meaning_for_the_neighbours_is_refused() -> None:
    in_turn = db.Run(REGRESSION, order="cyclic")
    with pytest.raises(UnsupportedEventError, match="a removed record moves all later ones into other batches"):
        HiddenStateAccountant(ADD).compose(HiddenStateDpEvent(in_turn))


def test_a_run_whose_files_may_change_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "channel.csv").write_text("0.75,0.25\n0.25,0.75\n")
    monkeypatch.chdir(tmp_path)
    run: dict[str, Any] = {
        "run": {"algorithm": "composition", "neighbours": "replace-one"},
        "mechanism": [{"kind": "channel", "channel": "channel.csv"}],
    }
    with pytest.raises(UnsupportedEventError, match="names a file"):
        HiddenStateAccountant(REPLACE).compose(HiddenStateDpEvent(run))
    run["mechanism"][0]["channel"] = [[0.75, 0.25], [0.25, 0.75]]
    assert epsilon(HiddenStateDpEvent(run), 1e-9, REPLACE) == pytest.approx(math.log(3), rel=TOLERANCE)


def test_an_event_is_immutable_and_can_be_stored() -> None:
    event = HiddenStateDpEvent(REGRESSION)
    with pytest.raises(attr.exceptions.FrozenInstanceError):
        event.run = b""  # type: ignore[misc]
    tree = SelfComposedDpEvent(ComposedDpEvent([event, GaussianDpEvent(1.0)]), 3)
    assert dp_event.DpEvent.from_named_tuple(tree.to_named_tuple()) == tree
    assert pickle.loads(pickle.dumps(event)) == event
    assert len({event, HiddenStateDpEvent(event.to_run()), HiddenStateDpEvent(event.run)}) == 1


def test_a_run_that_is_wrong_is_refused() -> None:
    for run in ({}, {"run": {"algorithm": "dp-sgd", "records": -1}}, {"run": {"algorithm": "dp-sgd", "recrods": 1}}):
        assert not HiddenStateAccountant().supports(HiddenStateDpEvent(run))


# --- what is refused ---


@attr.s(frozen=True)
class Unknown(DpEvent):  # type: ignore[misc]
    pass


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1.0, -math.inf, "much", None])
@pytest.mark.parametrize(
    "make",
    [
        GaussianDpEvent,
        LaplaceDpEvent,
        lambda wrong: dp_event.DiscreteLaplaceDpEvent(wrong, 1),
        lambda wrong: RandomizedResponseDpEvent(wrong, 2),
        lambda wrong: SingleEpochTreeAggregationDpEvent(wrong, 3),
        lambda wrong: PoissonSampledDpEvent(wrong, GaussianDpEvent(1.0)),
        lambda wrong: ComposedDpEvent([SelfComposedDpEvent(GaussianDpEvent(1.0), wrong)]),
        lambda wrong: SampledWithoutReplacementDpEvent(100, wrong, GaussianDpEvent(1.0)),
        lambda wrong: SampledWithoutReplacementDpEvent(wrong, 1, GaussianDpEvent(1.0)),
        lambda wrong: dp_event.DiscreteLaplaceDpEvent(1.0, wrong),
        lambda wrong: RandomizedResponseDpEvent(0.5, wrong),
        lambda wrong: SingleEpochTreeAggregationDpEvent(1.0, wrong),
    ],
)
def test_what_is_no_number_is_refused(make: Callable[[Any], DpEvent], wrong: Any) -> None:
    for relation in NeighboringRelation:
        assert not HiddenStateAccountant(relation).supports(make(wrong))


REFUSED = [
    (GaussianDpEvent(1e-310), ADD, "at least 1e-300"),
    (PoissonSampledDpEvent(1.5, GaussianDpEvent(1.0)), ADD, "at most 1"),
    (RandomizedResponseDpEvent(1.5, 2), REPLACE, "at most 1"),
    (RandomizedResponseDpEvent(0.5, 2), ADD, "who answers is public"),
    (SampledWithoutReplacementDpEvent(10, 10, GaussianDpEvent(1.0)), ADD, "fixed size"),
    (SampledWithoutReplacementDpEvent(10, 11, GaussianDpEvent(1.0)), REPLACE, "only 10 records"),
    (SampledWithoutReplacementDpEvent(10, 1, LaplaceDpEvent(1.0)), SPECIAL, "replace"),
    (PoissonSampledDpEvent(0.1, LaplaceDpEvent(1.0)), REPLACE, "Poisson"),
    (PoissonSampledDpEvent(0.1, RandomizedResponseDpEvent(0.5, 2)), SPECIAL, "only sums with noise"),
    (PoissonSampledDpEvent(0.1, one_gaussian(1.0)), ADD, "only sums with noise"),
    (PoissonSampledDpEvent(0.1, SelfComposedDpEvent(LaplaceDpEvent(1.0), 2)), ADD, "only Gaussian noise"),
    (PoissonSampledDpEvent(0.1, Unknown()), ADD, "Unknown is not supported"),
    (PoissonSampledDpEvent(0, Unknown()), ADD, "Unknown is not supported"),
    (SingleEpochTreeAggregationDpEvent(1.0, 3), ADD, "needs REPLACE_SPECIAL"),
    (SingleEpochTreeAggregationDpEvent(1.0, []), SPECIAL, "empty"),
    (SelfComposedDpEvent(SelfComposedDpEvent(GaussianDpEvent(1.0), 2**30), 2**30), ADD, "more than"),
    (
        PoissonSampledDpEvent(0.1, SelfComposedDpEvent(SelfComposedDpEvent(GaussianDpEvent(1.0), 2**30), 2**30)),
        ADD,
        "more than",
    ),
    (SelfComposedDpEvent(GaussianDpEvent(1.0), 2.0), ADD, "whole number"),
    (dp_event.SampledWithReplacementDpEvent(10, 1, GaussianDpEvent(1.0)), REPLACE, "not supported"),
    (dp_event.RepeatAndSelectDpEvent(GaussianDpEvent(1.0), 2, 1), ADD, "not supported"),
    (dp_event.MixtureOfGaussiansDpEvent(1.0, [1.0, 2.0], [0.5, 0.5]), ADD, "not supported"),
    (dp_event.TruncatedSubsampledGaussianDpEvent(100, 0.1, 10, 1.0), ADD, "not supported"),
    (dp_event.ZCDpEvent(0.1), ADD, "not supported"),
]


@pytest.mark.parametrize("event, relation, reason", REFUSED)
def test_what_has_no_proof_is_refused(event: DpEvent, relation: NeighboringRelation, reason: str) -> None:
    with pytest.raises(UnsupportedEventError, match=reason):
        HiddenStateAccountant(relation).compose(event)


@pytest.mark.parametrize("wrong", [0.0, 1.0, -1e-4, math.nan])
def test_an_impossible_tolerance_is_refused(wrong: float) -> None:
    with pytest.raises(db.InvalidInputError):
        HiddenStateAccountant(ADD, wrong).compose(GaussianDpEvent(1.0)).get_epsilon(1e-5)


def test_a_relation_that_is_none_is_refused() -> None:
    for wrong in ("REPLACE_ONE", 2, None):
        with pytest.raises(db.InvalidInputError):
            HiddenStateAccountant(wrong)


def test_uses_are_counted_over_all_calls() -> None:
    accountant = HiddenStateAccountant().compose(LaplaceDpEvent(1.0), 2**53)
    assert accountant.get_epsilon(0) >= 2**53
    with pytest.raises(UnsupportedEventError, match="more than"):
        accountant.compose(LaplaceDpEvent(1.0))


@pytest.mark.parametrize("wrong", [math.nan, -1e-9, 1.1, math.inf])
def test_an_impossible_delta_is_refused(wrong: Any) -> None:
    for accountant in (HiddenStateAccountant(), HiddenStateAccountant().compose(GaussianDpEvent(1.0))):
        with pytest.raises(db.InvalidInputError):
            accountant.get_epsilon(wrong)


@pytest.mark.parametrize("wrong", [math.nan, -1e-9, -math.inf])
def test_an_impossible_epsilon_is_refused(wrong: Any) -> None:
    for accountant in (HiddenStateAccountant(), HiddenStateAccountant().compose(GaussianDpEvent(1.0))):
        with pytest.raises(db.InvalidInputError):
            accountant.get_delta(wrong)


# --- where dp_accounting 0.6.0 is wrong ---


def lower_end(mechanisms: list[dict[str, Any]], delta: float, relation: str = "add-or-remove-one") -> float:
    """No ε below this holds for the mechanisms."""
    run = db.Run(algorithm="composition", neighbours=relation, mechanism=mechanisms)
    guarantee = db.account(run, delta=delta, analyses=["composition"]).guarantee
    assert guarantee is not None
    return guarantee.epsilon.lower


def test_their_responses_do_not_add_up() -> None:
    event = SelfComposedDpEvent(RandomizedResponseDpEvent(0.5, 2), 100)
    theirs = epsilon(event, 1e-9, REPLACE, accountant=PLDAccountant)
    assert theirs == pytest.approx(1.0987, rel=1e-4)
    assert delta_of_responses(theirs, math.log(3), 100) > 0.999
    assert epsilon(event, 1e-9, REPLACE) == pytest.approx(102.71, rel=1e-4)


@pytest.mark.parametrize(
    "event, theirs, truth",
    [
        (GaussianDpEvent(1.0), 4.7285, 9.9972),
        (SampledWithoutReplacementDpEvent(100, 100, GaussianDpEvent(1.0)), 4.7285, 9.9972),
        (LaplaceDpEvent(1.0), 1.0028, 1.9999),
    ],
)
def test_their_renyi_accountant_forgets_that_a_replaced_record_counts_twice(
    event: DpEvent, theirs: float, truth: float
) -> None:
    assert epsilon(event, 1e-5, REPLACE, accountant=RdpAccountant) == pytest.approx(theirs, rel=1e-3)
    assert epsilon(event, 1e-5, REPLACE) == pytest.approx(truth, rel=1e-4)


def test_their_renyi_accountant_drops_events_after_a_whole_noise_multiplier() -> None:
    def event(first: float) -> DpEvent:
        return PoissonSampledDpEvent(0.1, ComposedDpEvent([GaussianDpEvent(first), GaussianDpEvent(0.1)]))

    assert epsilon(event(2), 1e-5, accountant=RdpAccountant) == pytest.approx(0.526, rel=1e-3)
    assert epsilon(event(2.0), 1e-5, accountant=RdpAccountant) == pytest.approx(88.80, rel=1e-3)
    assert epsilon(event(2), 1e-5) == epsilon(event(2.0), 1e-5) == pytest.approx(84.21, rel=1e-3)


def test_their_renyi_accountant_gives_privacy_back() -> None:
    spent = RdpAccountant().compose(GaussianDpEvent(0.1))
    assert spent.get_epsilon(1e-5) > 90
    spent.compose(ComposedDpEvent([SelfComposedDpEvent(GaussianDpEvent(0.1), -1)]))
    assert spent.get_epsilon(1e-5) == 0


def test_their_renyi_accountant_takes_nan_for_perfect_privacy() -> None:
    assert epsilon(GaussianDpEvent(math.nan), 1e-5, accountant=RdpAccountant) == 0
    assert epsilon(GaussianDpEvent(0.01), math.nan, accountant=RdpAccountant) == 0


@pytest.mark.parametrize("delta, theirs", [(1e-10, 34.598), (1e-14, 37.588)])
def test_their_pessimistic_epsilon_is_too_small_where_delta_is_small(delta: float, theirs: float) -> None:
    sampled = {"kind": "gaussian", "noise-multiplier": 1.0, "sampling": "poisson", "sampling-probability": 0.01}
    found = epsilon(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0)), delta, count=100_000, accountant=PLDAccountant)
    assert found == pytest.approx(theirs, rel=1e-4)
    assert found < lower_end([{**sampled, "count": 100_000}], delta)


def test_their_delta_is_above_one() -> None:
    event = PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0))
    assert PLDAccountant().compose(event, 1_000_000).get_delta(0) > 1.01
    assert HiddenStateAccountant().compose(event, 1_000_000).get_delta(0) <= 1


def test_their_named_tuples_take_strings_apart() -> None:
    @attr.s(frozen=True, auto_attribs=True)
    class Named(DpEvent):  # type: ignore[misc]
        name: str

    assert Named("ab").to_named_tuple().name == "['a', 'b']"


# --- where it is loose ---


def test_their_accountants_know_no_pure_privacy_of_a_composition() -> None:
    event = LaplaceDpEvent(10.0)
    assert epsilon(event, 0, count=10) == pytest.approx(1.0, rel=1e-12)
    for accountant in (PLDAccountant, RdpAccountant):
        assert epsilon(event, 0, count=10, accountant=accountant) == math.inf


def test_epsilon_is_never_above_that_of_their_renyi_accountant() -> None:
    for noise in (0.7, 1.0, 4.0):
        for probability in (0.001, 0.03, 1.0):
            for count in (1, 100, 10_000):
                event = PoissonSampledDpEvent(probability, GaussianDpEvent(noise))
                theirs = epsilon(event, 1e-6, count=count, accountant=RdpAccountant)
                assert epsilon(event, 1e-6, count=count) <= theirs
