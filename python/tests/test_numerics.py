"""Divergences on numbers and arrays."""

from __future__ import annotations

import json
import math
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from scipy.special import log_ndtr
from scipy.stats import norm

import dobrushin as db

untyped: Any = db
"""The same, to be called as its types forbid."""

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())


def textbook(epsilon: float, r: float) -> float:
    """θ, where the textbook formula does not cancel."""
    return float(norm.cdf(r / 2 - epsilon / r) - math.exp(epsilon) * norm.cdf(-r / 2 - epsilon / r))


def test_theta_is_the_textbook_formula_where_that_is_accurate() -> None:
    for epsilon, r in [(0.0, 1.0), (1.0, 1.0), (0.5, 2.0), (3.0, 3.0), (0.1, 0.5)]:
        lower, upper = db.theta(epsilon, r, bounds=True)
        assert lower <= textbook(epsilon, r) * (1 + 1e-12)
        assert upper == pytest.approx(textbook(epsilon, r), rel=1e-11)
        assert db.theta(epsilon, r) == upper


def test_theta_is_right_where_the_textbook_formula_cancels() -> None:
    # From docs: θ(5, 0.5) = 4.4e-24, for which the textbook formula gives 0 or less.
    assert db.theta(5.0, 0.5) == pytest.approx(4.4e-24, rel=0.02)
    a, b = 7.0 / 0.9 - 0.45, 7.0 / 0.9 + 0.45
    from_logs = math.exp(log_ndtr(-a)) - math.exp(7.0 + log_ndtr(-b))
    assert db.theta(7.0, 0.9) == pytest.approx(from_logs, rel=1e-9)


def test_golden_values_of_theta_are_enclosed() -> None:
    entries = [entry for entry in GOLDEN if entry["id"].startswith("theta/")]
    assert len(entries) > 20
    for entry in entries:
        value = float(entry["value"])
        lower, upper = db.theta(float(entry["params"]["eps"]), float(entry["params"]["r"]), bounds=True)
        # The parameters are decimal numbers, which are rounded to floats; a tail magnifies that.
        slack = 1e-11 * value + 1e-300
        assert lower - slack <= value <= upper + slack and upper - lower <= slack, entry["id"]


@pytest.mark.parametrize("size", [0, 1, 5, 4096, 10_000, 100_000])
def test_an_array_has_the_values_of_its_elements(size: int) -> None:
    random = np.random.default_rng(size)
    epsilon, r = random.uniform(0, 10, size), 10 ** random.uniform(-3, 1, size)
    lower, upper = db.theta(epsilon, r, bounds=True)
    assert upper.shape == (size,) and (lower <= upper).all()
    assert np.array_equal(db.theta(epsilon, r), upper)
    for place in range(0, size, max(1, size // 50)):
        assert db.theta(float(epsilon[place]), float(r[place]), bounds=True) == (lower[place], upper[place])


def test_shapes_are_broadcast_as_numpy_does() -> None:
    epsilon, r = np.linspace(0, 3, 7)[:, None], np.linspace(0.1, 2, 11)
    table = db.theta(epsilon, r)
    assert table.shape == (7, 11)
    assert table[3, 4] == db.theta(float(epsilon[3, 0]), float(r[4]))
    assert db.theta(np.ones((3, 1, 2)), np.ones((4, 1))).shape == (3, 4, 2)
    with pytest.raises(db.InvalidInputError, match="do not fit together"):
        db.theta(np.ones(3), np.ones(4))


def test_strided_reversed_transposed_and_read_only_arrays_are_read_where_they_are() -> None:
    base = np.random.default_rng(0).uniform(0.1, 3.0, (40, 60))
    base.flags.writeable = False
    for view in [base[::2, ::3], base[::-1], base.T, base[:, ::-1], base[5], base[:, 7], np.asfortranarray(base)]:
        assert np.array_equal(db.theta(1.0, view), db.theta(1.0, view.copy()))


def test_unaligned_and_foreign_numbers_are_converted() -> None:
    packed = np.zeros(50, dtype=np.dtype([("a", "i1"), ("b", "f8")], align=False))
    packed["b"] = np.linspace(0.1, 2, 50)
    expected = db.theta(1.0, np.ascontiguousarray(packed["b"]))
    assert np.array_equal(db.theta(1.0, packed["b"]), expected)
    assert np.array_equal(db.theta(1.0, packed["b"].astype(">f8")), expected)
    assert np.array_equal(db.theta(1.0, np.array([1, 2], dtype=np.int8)), db.theta(1.0, [1.0, 2.0]))
    assert db.theta(1, 1) == db.theta(1.0, 1.0) == db.theta(np.float32(1), np.array(1.0)) == db.theta(np.int64(1), 1)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "1.0",
        b"1",
        True,
        1j,
        object(),
        {},
        [[1.0], [1.0, 2.0]],
        np.array(["a"]),
        np.array([1j]),
        np.array([None]),
        np.array([True]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.ma.masked_array([1.0, 2.0], mask=[True, False]),
        2**60,
        np.array([2**60]),
        np.array([1.0, 2.0], dtype=np.longdouble),
        float("nan"),
        -1.0,
        -math.inf,
        np.array([1.0, np.nan]),
        np.array([[0.5, -1.0]]),
    ],
)
def test_what_is_no_distance_is_an_invalid_input(wrong: Any) -> None:
    with pytest.raises(db.InvalidInputError):
        db.theta(1.0, wrong)


def test_an_array_without_room_is_an_invalid_input() -> None:
    with pytest.raises(db.InvalidInputError, match="no room"):
        db.theta(np.broadcast_to(1.0, (10**9, 10**9)), 1.0)


def test_the_first_bad_element_is_named() -> None:
    r = np.ones(50_000)
    r[40_000] = r[20_000] = -1.0
    with pytest.raises(db.InvalidInputError, match="20000"):
        db.theta(1.0, r)


floats = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=300, deadline=None)
@given(floats, floats)
def test_theta_is_a_probability_or_an_invalid_input(epsilon: float, r: float) -> None:
    try:
        lower, upper = db.theta(epsilon, r, bounds=True)
    except db.InvalidInputError:
        assert not (epsilon >= 0 and r >= 0)
    else:
        assert 0 <= lower <= upper <= 1.0000001


@settings(max_examples=150, deadline=None)
@given(floats, floats, floats, st.sampled_from(["gaussian", "laplace"]))
def test_no_function_returns_nan_or_panics(distance: float, size: float, level: float, family: str) -> None:
    calls: list[Any] = [
        lambda: getattr(db.hockey_stick, family)(distance, size, epsilon=level, bounds=True),
        lambda: getattr(db.hockey_stick, family)(distance, size, gamma=level, bounds=True),
        lambda: getattr(db.smallest_epsilon, family)(distance, size, delta=level, bounds=True),
        lambda: getattr(db.renyi, family)(distance, size, order=level, bounds=True),
        lambda: getattr(db.divergence, family)(distance, size, f="chi2", bounds=True),
        lambda: getattr(db.contraction, family)(distance, size, epsilon=level, bounds=True),
    ]
    for call in calls:
        try:
            lower, upper = call()
        except db.InvalidInputError:
            continue
        assert lower <= upper, (distance, size, level, family)


@settings(max_examples=60, deadline=None)
@given(st_numpy.arrays(st_numpy.scalar_dtypes(), st_numpy.array_shapes(max_dims=3, max_side=4)))
def test_any_array_is_answered_or_refused(array: np.ndarray[Any, Any]) -> None:
    try:
        found = db.theta(1.0, array)
    except db.InvalidInputError:
        return
    assert np.shape(found) == array.shape or array.ndim == 0
    assert not np.isnan(found).any()


def test_the_inverse_meets_delta_and_just_so() -> None:
    for family, delta in [("gaussian", 1e-5), ("laplace", 0.1), ("gaussian", 1e-12)]:
        epsilon = getattr(db.smallest_epsilon, family)(1.0, 1.0, delta=delta)
        stick = getattr(db.hockey_stick, family)
        assert stick(1.0, 1.0, epsilon=epsilon) <= delta * (1 + 1e-12)
        assert stick(1.0, 1.0, epsilon=epsilon * 0.999) > delta


def test_closed_forms() -> None:
    assert db.divergence.gaussian(3.0, 2.0, f="kl") == pytest.approx(1.125)
    assert db.divergence.gaussian(1.0, 1.0, f="chi2") == pytest.approx(math.e - 1)
    assert db.divergence.gaussian(1.0, 1.0, f="hellinger2") == pytest.approx(2 - 2 * math.exp(-1 / 8))
    assert db.divergence.laplace(1.0, 1.0, f="tv") == pytest.approx(1 - math.exp(-0.5))
    assert db.renyi.gaussian(1.0, 1.0, order=[1.0, 2.0]) == pytest.approx([0.5, 1.0])
    assert db.contraction.gaussian(1.0, 1.0, epsilon=1.0) == db.theta(1.0, 1.0)
    assert db.contraction.laplace(1.0, 1.0, f="tv") == pytest.approx(1 - math.exp(-0.5))


def test_discrete_laws_are_those_of_numpy() -> None:
    random = np.random.default_rng(5)
    p, q = random.dirichlet(np.ones(20), 2)
    gammas = np.array([0.5, 1.0, 1.7])
    truth = [np.maximum(p - g * q, 0).sum() - max(1 - g, 0) for g in gammas]
    assert db.hockey_stick.discrete(p, q, gamma=gammas) == pytest.approx(truth)
    assert db.divergence.discrete(p, q, f="kl") == pytest.approx((p * np.log(p / q)).sum())
    assert db.divergence.discrete(p, q, f="tv") == pytest.approx(np.abs(p - q).sum() / 2)
    assert db.renyi.discrete(p, q, order=3.0) == pytest.approx(np.log((p**3 / q**2).sum()) / 2)
    epsilon = db.smallest_epsilon.discrete(p, q, delta=0.1)
    assert db.hockey_stick.discrete(p, q, epsilon=epsilon) == pytest.approx(0.1)


@pytest.mark.parametrize("p", [[], [0.5], [0.5, 0.6], [-0.5, 1.5], [float("nan"), 1.0], "ab", None, [[1.0, 0.0]], 1.0])
def test_what_is_no_law_is_an_invalid_input(p: Any) -> None:
    with pytest.raises(db.InvalidInputError):
        db.hockey_stick.discrete(p, [0.5, 0.5], epsilon=1.0)


def test_a_level_is_given_once_and_divergences_have_names() -> None:
    calls: list[Any] = [
        lambda: untyped.hockey_stick.gaussian(1.0, 1.0),
        lambda: untyped.hockey_stick.gaussian(1.0, 1.0, epsilon=1.0, gamma=2.0),
        lambda: untyped.contraction.gaussian(1.0, 1.0, epsilon=1.0, f="kl"),
        lambda: untyped.contraction.gaussian(1.0, 1.0, f="alpha:3"),
        lambda: untyped.divergence.gaussian(1.0, 1.0, f="nothing"),
        lambda: untyped.divergence.gaussian(1.0, 1.0, f=3),
    ]
    for call in calls:
        with pytest.raises(db.InvalidInputError):
            call()


def test_threads_and_a_forked_child_compute_as_well() -> None:
    r = np.random.default_rng(2).uniform(0.1, 3, 50_000)
    expected = db.theta(1.0, r)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(db.theta(1.0, r))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(one, expected) for one in found)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(db.theta(1.0, r), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
