"""Finite channels: how much they make their inputs alike, and how private they are."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from dobrushin import _core
from dobrushin._numbers import Array, Law, Number, Numbers, word
from dobrushin.errors import InvalidInputError
from dobrushin.report import Interval, _axes, _interval, _needed

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

__all__ = ["Attained", "Channel", "Passage"]


class Attained(NamedTuple):
    """A coefficient of a channel, and where it is attained."""

    value: Interval
    inputs: tuple[int, int]
    """Two inputs, counted from 0."""
    weight: float | None
    """The weight of the first input, where a mixture of both attains the coefficient."""

    def __float__(self) -> float:
        """The upper end."""
        return self.value.upper


class Passage(NamedTuple):
    """What a channel leaves of a divergence of two laws of its input."""

    before: Interval
    after: Interval
    """The divergence of the two laws of the output, exactly."""
    bounds: dict[str, Interval]
    """What theorems say about it that do not look at the outputs: ``tight``, ``corollary_1``, ``eta_f``, ``eta_tv``."""


class Channel:
    """A channel with finitely many inputs and outputs: row x has the probabilities of the outputs at input x.

    Every number is certified: it is the upper end of an enclosure, or both ends with ``bounds=True``. Inputs and outputs
    are counted from 0.

    >>> import dobrushin as db
    >>> response = db.Channel([[0.75, 0.25], [0.25, 0.75]])
    >>> float(response.total_variation())
    0.5
    >>> print(f"{response.epsilon(0.0):.6f}")
    1.098612
    >>> twice = response @ response
    >>> print(f"{float(twice.total_variation()):.6f}")
    0.250000
    """

    __slots__ = ("_core",)

    def __init__(self, matrix: ArrayLike, *, normalise: bool = False) -> None:
        self._core = _core.FiniteChannel(matrix, bool(normalise))

    @classmethod
    def _of(cls, core: _core.FiniteChannel) -> Channel:
        channel = cls.__new__(cls)
        channel._core = core
        return channel

    @classmethod
    def symmetric(cls, inputs: int, error: float) -> Channel:
        """The channel that reports another input, each with the same probability, with probability ``error``.

        >>> Channel.symmetric(2, 0.25).matrix
        array([[0.75, 0.25],
               [0.25, 0.75]])
        """
        count, error = _count("inputs", inputs), _probability("error", error)
        matrix = np.full((count, count), error / (count - 1))
        np.fill_diagonal(matrix, 1.0 - error)
        return cls(matrix)

    @classmethod
    def erasure(cls, inputs: int, probability: float) -> Channel:
        """The channel that reports its input, or with this probability nothing, which is the last output.

        >>> float(Channel.erasure(3, 0.25).total_variation())
        0.75
        """
        count, erased = _count("inputs", inputs), _probability("probability", probability)
        return cls(np.hstack([np.eye(count) * (1.0 - erased), np.full((count, 1), erased)]))

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return self._core.inputs

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return self._core.outputs

    @property
    def matrix(self) -> Array:
        """The probabilities, a row for each input."""
        return self._core.matrix()

    @overload
    def contraction(self, *, epsilon: Number | None = None, gamma: Number | None = None) -> float: ...
    @overload
    def contraction(
        self, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False
    ) -> Any: ...
    def contraction(
        self, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False
    ) -> Any:
        """η_γ, the part of any E_γ that the channel leaves at most. With γ = e^ε it is δ(ε) of local privacy.

        >>> Channel([[0.75, 0.25], [0.25, 0.75]]).contraction(gamma=[1.0, 2.0, 3.0]).round(9)
        array([0.5 , 0.25, 0.  ])
        """
        return self._core.contraction(epsilon=epsilon, gamma=gamma, bounds=bool(bounds))

    @overload
    def delta(self, epsilon: Number) -> float: ...
    @overload
    def delta(self, epsilon: Numbers, *, bounds: bool = False) -> Any: ...
    def delta(self, epsilon: Numbers, *, bounds: bool = False) -> Any:
        """The smallest δ at which the channel is (ε, δ)-locally private: its η_γ at γ = e^ε."""
        return self._core.contraction(epsilon=epsilon, bounds=bool(bounds))

    @overload
    def epsilon(self, delta: Number) -> float: ...
    @overload
    def epsilon(self, delta: Numbers, *, bounds: bool = False) -> Any: ...
    def epsilon(self, delta: Numbers, *, bounds: bool = False) -> Any:
        """The smallest ε at which the channel is (ε, δ)-locally private; ∞ if there is none."""
        return self._core.epsilon(delta, bounds=bool(bounds))

    def total_variation(self) -> Attained:
        """Dobrushin's coefficient η_TV = η_1, which bounds the contraction of every f-divergence."""
        value, inputs = self._core.total_variation()
        return Attained(value, inputs, None)

    def kl(self) -> Attained:
        """The contraction of Kullback–Leibler divergence, of χ² and of squared Hellinger distance, which is the same.

        >>> round(float(Channel([[0.9, 0.1], [0.4, 0.6]]).kl()), 4)
        0.2861
        """
        return Attained(*self._core.chi_squared())

    def bends(self) -> list[tuple[float, tuple[int, int]]]:
        """The γ ≥ 1 at which γ ↦ η_γ bends, which is linear in between, with the inputs that attain it just below."""
        return self._core.bends()

    def passage(self, mu: Law, nu: Law, *, f: str = "kl") -> Passage:
        """What is left of D_f(mu‖nu) if laws mu and nu of the input are sent through the channel.

        >>> left = Channel([[0.9, 0.1], [0.4, 0.6]]).passage([0.9, 0.1], [0.6, 0.4], f="chi2")
        >>> round(left.before.upper, 4), round(left.after.upper, 4), round(left.bounds["tight"].upper, 4)
        (0.375, 0.1071, 0.1313)
        """
        data = json.loads(self._core.passage(mu, nu, word("f", f)))
        bounds = {name: _interval(value) for name, value in data["bounds"].items() if value is not None}
        return Passage(_interval(data["before"]), _interval(data["after"]), bounds)

    def __matmul__(self, other: Channel) -> Channel:
        """The channel that applies this one and then another."""
        if not isinstance(other, Channel):
            return NotImplemented
        return self._of(self._core.then(other._core))

    def __mul__(self, other: Channel) -> Channel:
        """Both channels side by side, for independent inputs: pairs in lexicographic order."""
        if not isinstance(other, Channel):
            return NotImplemented
        return self._of(self._core.beside(other._core))

    def __pow__(self, times: int) -> Channel:
        """This many copies side by side.

        >>> (Channel([[0.9, 0.1], [0.4, 0.6]]) ** 3).inputs
        8
        """
        product = self
        for _ in range(_count("the power", times, least=1) - 1):
            product = product * self
        return product

    def erased(self, probability: float) -> Channel:
        """The channel whose output is lost with this probability, which is one more output."""
        return self @ Channel.erasure(self.outputs, probability)

    @property
    def text(self) -> str:
        """All coefficients, as ``dobrushin kernel`` prints them."""
        return self._core.report()[1]

    def to_dict(self) -> dict[str, Any]:
        """All coefficients as plain data, as ``dobrushin kernel --json`` prints them; inputs are counted from 1."""
        data: dict[str, Any] = json.loads(self._core.report()[0])
        return data

    def to_frame(self) -> pandas.DataFrame:
        """The channel as a pandas data frame: a row for each input, a column for each output."""
        frame: pandas.DataFrame = _needed("pandas").DataFrame(self.matrix)
        return frame.rename_axis(index="input", columns="output")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw δ against ε on the axes of matplotlib."""
        axes = _axes(ax)
        ends = [np.log(gamma) for gamma, _ in self.bends() if np.isfinite(gamma)]
        last = max([1.0, *ends])
        levels = np.unique([*np.linspace(0.0, 1.1 * last, 200), *ends])
        axes.plot(levels, self.delta(levels))
        axes.set_xlabel("ε")
        axes.set_ylabel("δ = η")
        axes.set_ylim(bottom=0.0)
        return axes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Channel) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash(self.matrix.tobytes())

    def __repr__(self) -> str:
        return f"<Channel: {self.inputs} inputs, {self.outputs} outputs>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def _count(name: str, given: int, least: int = 2) -> int:
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and least <= given <= 1 << 24:
        return int(given)
    raise InvalidInputError(f"{name} is {given!r}, but it must be a whole number", f"from {least} to {1 << 24}")


def _probability(name: str, given: float) -> float:
    if isinstance(given, int | float | np.floating) and 0.0 <= given <= 1.0:
        return float(given)
    raise InvalidInputError(f"{name} is {given!r}, but it must be a probability", f"{name}=0.25")
