"""Finite channels."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

import dobrushin as db

RESPONSE = [[0.75, 0.25], [0.25, 0.75]]
ASYMMETRIC = [[0.9, 0.1], [0.4, 0.6]]


def by_definition(matrix: np.ndarray[Any, Any], gamma: float) -> float:
    rows = permutations(matrix, 2)
    return max(float(np.maximum(p - gamma * q, 0).sum()) for p, q in rows)


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (6, 4), (10, 30)])
def test_contraction_is_the_largest_divergence_of_two_rows(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(shape[0]).dirichlet(np.ones(shape[1]), shape[0])
    channel = db.Channel(matrix)
    gammas = np.array([1.0, 1.3, 2.0, 5.0])
    truth = [by_definition(matrix, gamma) for gamma in gammas]
    assert channel.contraction(gamma=gammas) == pytest.approx(truth, abs=1e-12)
    assert channel.contraction(gamma=1 / gammas) == pytest.approx(truth, abs=1e-9)
    assert channel.delta(np.log(gammas)) == pytest.approx(truth, abs=1e-9)
    lower, upper = channel.contraction(gamma=gammas, bounds=True)
    assert (lower <= upper).all() and (upper - lower < 1e-10).all()


def test_randomised_response_is_known_exactly() -> None:
    channel = db.Channel(RESPONSE)
    assert channel.epsilon(0.0) == pytest.approx(math.log(3))
    assert channel.epsilon([0.0, 0.25, 1.0]) == pytest.approx([math.log(3), math.log(2), 0.0])
    assert float(channel.total_variation()) == 0.5
    assert float(channel.kl()) == pytest.approx(0.25)
    assert channel.total_variation().inputs in {(0, 1), (1, 0)}
    assert [gamma for gamma, _ in channel.bends()] == pytest.approx([3.0])
    assert "Channel with 2 inputs" in channel.text and channel.to_dict()["inputs"] == 2


def test_the_second_example_of_ced_is_left_as_it_says() -> None:
    left = db.Channel(ASYMMETRIC).passage([0.9, 0.1], [0.6, 0.4], f="chi2")
    assert left.before.upper == pytest.approx(0.375)
    assert left.after.upper == pytest.approx(0.3 / 2.8)
    assert left.bounds["eta_tv"].upper == pytest.approx(0.1875)
    assert left.bounds["corollary_1"].upper == pytest.approx(0.175226, abs=1e-6)
    assert all(left.after.lower <= bound.upper for bound in left.bounds.values())


def test_channels_are_composed_and_put_side_by_side_as_matrices() -> None:
    random = np.random.default_rng(3)
    first, second = random.dirichlet(np.ones(4), 3), random.dirichlet(np.ones(2), 4)
    assert (db.Channel(first) @ db.Channel(second)).matrix == pytest.approx(first @ second)
    assert (db.Channel(first) * db.Channel(second)).matrix == pytest.approx(np.kron(first, second))
    assert (db.Channel(RESPONSE) ** 2).matrix == pytest.approx(np.kron(RESPONSE, RESPONSE))
    with pytest.raises(db.InvalidInputError):
        _ = db.Channel(first) @ db.Channel(first)
    with pytest.raises(db.InvalidInputError, match="too large"):
        _ = db.Channel(RESPONSE) ** 20
    with pytest.raises(TypeError):
        _ = db.Channel(first) @ 3  # type: ignore[operator]


def test_erasure_multiplies_what_is_left() -> None:
    erased = db.Channel(RESPONSE).erased(0.5)
    assert (erased.inputs, erased.outputs) == (2, 3)
    assert float(erased.total_variation()) == pytest.approx(0.25)
    assert float(db.Channel.symmetric(5, 0.4).total_variation()) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "matrix",
    [None, 1.0, [], [[]], [[1.0]], [[0.5, 0.5]], [[0.5, 0.6], [0.5, 0.5]], [[1.5, -0.5], [0, 1]], "ab", [[math.nan, 1], [0, 1]]],
)
def test_what_is_no_channel_is_an_invalid_input(matrix: Any) -> None:
    with pytest.raises(db.InvalidInputError):
        db.Channel(matrix)


@settings(max_examples=50, deadline=None)
@given(
    st_numpy.arrays(np.float64, st_numpy.array_shapes(min_dims=2, max_dims=2, max_side=5)),
    st.floats(allow_nan=True, allow_infinity=True),
)
def test_any_matrix_is_answered_or_refused(matrix: np.ndarray[Any, Any], level: float) -> None:
    try:
        found = db.Channel(matrix, normalise=True).contraction(gamma=level)
    except db.InvalidInputError:
        return
    assert 0 <= found <= 1.0000001


def test_a_channel_is_a_frame_and_a_picture() -> None:
    pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    channel = db.Channel(ASYMMETRIC)
    assert channel.to_frame().shape == (2, 2)
    assert channel.plot().lines
    assert channel == db.Channel(np.array(ASYMMETRIC)) and hash(channel) == hash(db.Channel(ASYMMETRIC))
    assert "2 inputs" in repr(channel) and "<pre>" in channel._repr_html_()
