"""Local privacy: a promise about every single answer.

A :class:`Mechanism` turns answers into private reports, of which everybody may know everything, and estimates
frequencies, means or mean vectors from them. What people may answer is declared, and never read off the data.

>>> import dobrushin as db
>>> mechanism = db.local.k_rr(["bus", "bike", "car"], epsilon=1.0)
>>> reports = mechanism.privatize(["bus", "car", "bus", "bike"])
>>> len(reports), reports.private
(4, True)
>>> mechanism.estimate(reports).to_dict()["reports"]
4
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dobrushin import _core
from dobrushin._numbers import Array, Number, Numbers, word
from dobrushin._people import names_of
from dobrushin.channel import Channel
from dobrushin.errors import InvalidInputError
from dobrushin.ledger import LedgerLike, place_of
from dobrushin.report import Interval, _axes, _Document, _interval, _needed, _number

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

__all__ = [
    "Bins",
    "Bounds",
    "Counts",
    "Estimate",
    "Mechanism",
    "Plans",
    "Profile",
    "Reports",
    "aue",
    "bounds",
    "channel",
    "gaussian",
    "hadamard",
    "half_sphere",
    "hybrid",
    "k_rr",
    "laplace",
    "olh",
    "one_bit",
    "oue",
    "piecewise",
    "plan",
    "priv_unit",
    "subset",
    "sue",
]


@dataclass(frozen=True)
class Bins:
    """Numbers between two bounds, as categories: this many bins of equal width."""

    lower: float
    upper: float
    count: int


Categories: TypeAlias = int | Sequence[str] | Bins
"""The number of categories, which are then the numbers from 1 on; their names; or bins of numbers."""


class Mechanism:
    """A mechanism by its name, which keeps the promise (``epsilon``, ``delta``) about every single answer.

    Answers are one of ``categories``, numbers between ``bounds``, or vectors of norm up to ``radius`` with this
    ``dimension``. The functions of this module, such as :func:`k_rr`, say which mechanism takes what.
    """

    __slots__ = ("_core", "_made")

    def __init__(
        self,
        name: str,
        *,
        epsilon: float,
        delta: float = 0.0,
        categories: Categories | None = None,
        bounds: tuple[float, float] | None = None,
        radius: float | None = None,
        dimension: int | None = None,
        truth: float | None = None,
        matrix: ArrayLike | None = None,
    ) -> None:
        declared = _declared(categories, bounds, radius, dimension)
        self._made: tuple[Any, ...] = (word("name", name), epsilon, delta, declared, truth, matrix)
        self._core = _core.LocalMechanism(*self._made)

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return str(self._made[0])

    @overload
    def delta(self, epsilon: Number) -> float: ...
    @overload
    def delta(self, epsilon: Numbers, *, bounds: bool = False) -> Any: ...
    def delta(self, epsilon: Numbers, *, bounds: bool = False) -> Any:
        """The smallest δ at which a report is (ε, δ)-private: the exact profile of the mechanism as it is realised.

        >>> k_rr(10, epsilon=1.0).delta([0.0, 1.0]).round(4)
        array([0.1466, 0.    ])
        """
        return self._core.delta(epsilon, bounds=bool(bounds))

    @overload
    def epsilon(self, delta: Number) -> float: ...
    @overload
    def epsilon(self, delta: Numbers, *, bounds: bool = False) -> Any: ...
    def epsilon(self, delta: Numbers, *, bounds: bool = False) -> Any:
        """The smallest ε at which a report is (ε, δ)-private; ∞ if there is none."""
        return self._core.epsilon(delta, bounds=bool(bounds))

    def profile(self, *, questions: int | None = None, shuffled: int | None = None, delta: float = 1e-6) -> Profile:
        """The profile, with what a person gives away who answers this many such ``questions``, and how private each of
        ``shuffled`` people is towards those who see the reports only after they are shuffled."""
        count = [None if n is None else _whole("questions and shuffled", n, most=2**32 - 1) for n in (questions, shuffled)]
        return Profile(*self._core.report(questions=count[0], shuffled=count[1], delta=delta))

    def privatize(
        self,
        answers: Iterable[Any],
        *,
        skip_bad: bool = False,
        seed: int | None = None,
        not_private: bool = False,
        ledger: LedgerLike | None = None,
        people: Iterable[Any] | None = None,
    ) -> Reports:
        """A private report for each answer, drawn with the randomness of the operating system.

        An answer that cannot be used, such as an undeclared category, is an error that says where it is, and never what
        it is. With ``skip_bad=True`` it reports a category drawn at random, the middle of the bounds or the zero vector,
        because a missing report would tell that its answer was bad. Numbers beyond the bounds are moved to them.

        With a ``ledger`` (a :class:`~dobrushin.Ledger`, or its place), ``people`` has the name of the person who gave each
        answer, and they are charged for their reports before these are drawn. If somebody would spend more than they may,
        :class:`~dobrushin.OverBudgetError` has their names, and nothing is drawn.

        A known ``seed`` is for tests only: whoever knows it can undo the reports, so ``not_private=True`` must say so.
        """
        if (seed is None) == bool(not_private):
            raise InvalidInputError(
                "seed and not_private=True go together: reports that are drawn with a known seed protect nobody",
                "leave out both",
            )
        known = None if seed is None else _whole("seed", seed, least=0)
        if (ledger is None) != (people is None):
            raise InvalidInputError(
                "ledger and people go together: where it is counted, and who gave each answer",
                'ledger="people.ledger", people=table["name"]; or leave out both',
            )
        if ledger is not None and seed is not None:
            raise InvalidInputError("ledger counts what private reports tell, and seed makes them public", "leave out seed")
        data, skipped, clipped = self._core.privatize(
            answers,
            skip_bad=bool(skip_bad),
            seed=known,
            ledger=None if ledger is None else place_of(ledger),
            people=None if people is None else names_of(people, "people"),
        )
        return Reports(self, data, private=seed is None, skipped=skipped, clipped=clipped)

    def count(self, reports: Reports | NDArray[np.uint64]) -> Counts:
        """How often each category, or bit, or index, or number, is reported: all that estimates are made from.

        Counts of different reports can be added. Reports on vectors are all different, so they are not counted.
        """
        data, private = _data(reports), not isinstance(reports, Reports) or reports.private
        if self._core.report_words() == 0:
            values, counters = np.unique(data, return_counts=True)
            return Counts(counters.astype(np.uint64), len(data), private, values)
        return Counts(self._core.count(data), len(data), private)

    def estimate(
        self,
        reports: Reports | Counts | NDArray[Any],
        *,
        confidence: float = 0.95,
        simultaneous: bool = False,
        method: str = "unbiased",
        quantiles: Sequence[float] = (0.25, 0.5, 0.75),
    ) -> Estimate:
        """Frequencies, a mean or a mean vector from reports, each with intervals that cover with this ``confidence``.

        ``simultaneous`` intervals cover all at once. The ``method`` for frequencies is ``"unbiased"``, ``"projected"``
        or ``"maximum-likelihood"``; ``quantiles`` are those of numbers in :class:`Bins`.
        """
        count, times = None, None
        if not isinstance(reports, Counts):
            data = _data(reports)
        elif reports.values is None:
            data, count = reports.counters, reports.reports
        else:
            data, times = reports.values, reports.counters.tolist()
        try:
            levels = list(quantiles)
        except TypeError as error:
            raise InvalidInputError("quantiles is not a list of levels", "quantiles=[0.25, 0.5, 0.75]") from error
        found = self._core.estimate(
            data,
            count,
            times,
            confidence=confidence,
            simultaneous=bool(simultaneous),
            method=word("method", method),
            quantiles=levels,
            private=not isinstance(reports, Reports | Counts) or reports.private,
        )
        return Estimate(*found)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw δ against ε on the axes of matplotlib."""
        axes = _axes(ax)
        last = self.epsilon(1e-6)
        levels = np.linspace(0.0, 1.1 * last if np.isfinite(last) else 2.0 * float(self._made[1]), 200)
        axes.plot(levels, self.delta(levels), label=self.name)
        axes.set_xlabel("ε")
        axes.set_ylabel("δ")
        axes.set_ylim(bottom=0.0)
        return axes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and repr(self._made) == repr(other._made)

    def __hash__(self) -> int:
        return hash(repr(self._made))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, self._made

    def __repr__(self) -> str:
        return f"<Mechanism: {self.name}, epsilon={self._made[1]:g}, delta={self._made[2]:g}>"


def _remade(*made: Any) -> Mechanism:
    mechanism = Mechanism.__new__(Mechanism)
    mechanism._made = made
    mechanism._core = _core.LocalMechanism(*made)
    return mechanism


class Reports:
    """Private reports, and the mechanism that made them. Reports of the same mechanism can be added."""

    __slots__ = ("clipped", "data", "mechanism", "private", "skipped")

    def __init__(
        self, mechanism: Mechanism, data: NDArray[Any], *, private: bool = True, skipped: int = 0, clipped: int = 0
    ) -> None:
        self.mechanism = mechanism
        self.data = data
        """The reports: words of 64 bits in rows, or numbers."""
        self.private = private
        """Whether nobody knows the randomness."""
        self.skipped = skipped
        """How many answers could not be used. This depends on the answers, so it is not for others."""
        self.clipped = clipped
        """How many answers were moved to their bounds. This depends on the answers, so it is not for others."""

    def estimate(self, **wishes: Any) -> Estimate:
        """See :meth:`Mechanism.estimate`."""
        return self.mechanism.estimate(self, **wishes)

    def __add__(self, other: Reports) -> Reports:
        if not isinstance(other, Reports):
            return NotImplemented
        if self.mechanism != other.mechanism:
            raise InvalidInputError("the reports are of different mechanisms", "estimate from each alone")
        return Reports(
            self.mechanism,
            np.concatenate([self.data, other.data]),
            private=self.private and other.private,
            skipped=self.skipped + other.skipped,
            clipped=self.clipped + other.clipped,
        )

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<Reports: {len(self)} of {self.mechanism.name}{'' if self.private else ', NOT PRIVATE'}>"


class Counts(NamedTuple):
    """How often each counter was counted, by this many reports; if they are numbers, how often each of the values."""

    counters: NDArray[np.uint64]
    reports: int
    private: bool = True
    values: NDArray[np.float64] | None = None

    def __add__(self, other: object) -> Counts:
        if isinstance(other, Counts):
            reports, private = self.reports + other.reports, self.private and other.private
            if self.values is not None and other.values is not None:
                both = np.concatenate([self.counters, other.counters])
                values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
                counters = np.zeros(len(values), np.uint64)
                np.add.at(counters, places, both)
                return Counts(counters, reports, private, values)
            if self.values is other.values and self.counters.shape == other.counters.shape:
                return Counts(self.counters + other.counters, reports, private)
        raise InvalidInputError("only counts of the same mechanism can be added", "estimate from each alone")


class Profile(_Document):
    """How private a mechanism is."""

    __slots__ = ()

    @property
    def questions(self) -> Interval | None:
        """The ε of a person who answers several such questions, if that was asked for."""
        return self._together("questions")

    @property
    def shuffled(self) -> Interval | None:
        """The ε of each person if the reports are shuffled, if that was asked for."""
        return self._together("shuffled")

    def _together(self, key: str) -> Interval | None:
        return _interval(self._data[key]["epsilon"]) if key in self._data else None


class Estimate(_Document):
    """What private reports tell."""

    __slots__ = ()

    def _rows(self) -> list[dict[str, Any]]:
        rows = self._data.get("frequencies") or self._data.get("coordinates") or [self._data]
        return [row for row in rows if isinstance(row, dict)]

    def _value(self, row: dict[str, Any]) -> float:
        return _number(row["frequency"] if "frequency" in row else row["mean"])

    @property
    def values(self) -> Array:
        """The estimates: frequencies in the order of the categories, the mean, or the coordinates of the mean."""
        return np.array([self._value(row) for row in self._rows()])

    @property
    def intervals(self) -> Array:
        """A row with both ends of the interval of each estimate, which covers without any approximation."""
        spans = [row.get("certain_interval") for row in self._rows()]
        ends = [(np.nan, np.nan) if span is None else (_number(span["from"]), _number(span["to"])) for span in spans]
        return np.array(ends)

    @property
    def standard_errors(self) -> Array:
        """The standard error of each estimate; NaN where there is none."""
        return np.array([_number(row.get("standard_error", np.nan)) for row in self._rows()])

    @property
    def quantiles(self) -> dict[float, float]:
        """The quantiles of numbers in bins, by their levels."""
        return {row["level"]: _number(row["value"]) for row in self._data.get("quantiles") or []}

    def __float__(self) -> float:
        """The estimate, if there is one."""
        values = self.values
        if len(values) != 1:
            raise InvalidInputError(f"there are {len(values)} estimates, not one", "use values")
        return float(values[0])

    def to_frame(self) -> pandas.DataFrame:
        """A row for each estimate, as a pandas data frame."""
        names = [row.get("category", row.get("column", "mean")) for row in self._rows()]
        lower, upper = self.intervals.T
        columns = {"estimate": self.values, "standard_error": self.standard_errors, "lower": lower, "upper": upper}
        frame: pandas.DataFrame = _needed("pandas").DataFrame(columns, index=names)
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the estimates with their intervals on the axes of matplotlib."""
        axes = _axes(ax)
        names = [str(row.get("category", row.get("column", "mean"))) for row in self._rows()]
        values, (lower, upper) = self.values, self.intervals.T
        axes.errorbar(names, values, yerr=[np.maximum(values - lower, 0), np.maximum(upper - values, 0)], fmt="o", capsize=4)
        axes.set_ylabel("frequency" if "frequencies" in self._data else "mean")
        return axes

    def __repr__(self) -> str:
        return f"<Estimate: {len(self._rows())} values from {self._data['reports']} reports>"


class Plans(_Document):
    """Every mechanism that can keep a promise, the best first."""

    __slots__ = ()

    @property
    def best(self) -> str:
        """The name of the best mechanism."""
        return str(self._data["best"])

    def to_frame(self) -> pandas.DataFrame:
        """A row for each mechanism, as a pandas data frame."""
        frame: pandas.DataFrame = _needed("pandas").DataFrame(self._data["plans"])
        return frame.set_index("mechanism")


class Bounds(_Document):
    """The smallest error that any mechanism with a promise, and any estimator, can have."""

    __slots__ = ()

    @property
    def effective_records(self) -> float:
        """The reports tell no more than this many answers in the clear."""
        return _interval(self._data["effective_records"]).upper

    def to_frame(self) -> pandas.DataFrame:
        """A row for each bound, as a pandas data frame: every estimator's worst error is at least ``at_least``."""
        rows = [
            {"id": row["id"], "at_least": _interval(row["value"]).lower, "coefficient": row["coefficient"]}
            for row in self._data["bounds"]
        ]
        frame: pandas.DataFrame = _needed("pandas").DataFrame(rows)
        return frame.set_index("id")


def plan(
    *,
    epsilon: float,
    delta: float = 0.0,
    categories: Categories | None = None,
    bounds: tuple[float, float] | None = None,
    radius: float | None = None,
    dimension: int | None = None,
    records: int | None = None,
    error: float | None = None,
) -> Plans:
    """Which mechanism is best for ``records`` people, or how many people the standard ``error`` needs.

    >>> plan(epsilon=1.0, categories=4, records=10_000).best
    'k-rr'
    """
    declared = _declared(categories, bounds, radius, dimension)
    people = None if records is None else _whole("records", records)
    return Plans(*_core.local_plan(epsilon, delta, declared, people, error))


def bounds(
    *,
    epsilon: float,
    records: int,
    delta: float = 0.0,
    moments: float | None = None,
    radius: float | None = None,
    dimension: int | None = None,
    categories: int | None = None,
) -> Bounds:
    """Lower bounds on the minimax error of every mechanism and every estimator.

    They are about the mean of numbers with E|X|^k ≤ 1 for k = ``moments`` (2 if nothing else is asked for), the mean of
    vectors in a ball, and the frequencies of categories.

    >>> round(bounds(epsilon=1.0, records=1000).effective_records, 2)
    213.55
    """
    found = _core.local_bounds(
        epsilon,
        delta,
        _whole("records", records, most=2**32 - 1),
        moments=moments,
        radius=radius,
        dimension=None if dimension is None else _whole("dimension", dimension, most=2**32 - 1),
        categories=None if categories is None else _whole("categories", categories, most=2**32 - 1),
    )
    return Bounds(*found)


def k_rr(categories: Categories, *, epsilon: float, delta: float = 0.0) -> Mechanism:
    """k-ary randomised response: the true category, or another at random."""
    return Mechanism("k-rr", epsilon=epsilon, delta=delta, categories=categories)


def oue(categories: Categories, *, epsilon: float, delta: float = 0.0) -> Mechanism:
    """Optimised unary encoding: a bit for each category, with the least variance."""
    return Mechanism("oue", epsilon=epsilon, delta=delta, categories=categories)


def sue(categories: Categories, *, epsilon: float, delta: float = 0.0) -> Mechanism:
    """Symmetric unary encoding: a bit for each category, ones and zeros treated alike."""
    return Mechanism("sue", epsilon=epsilon, delta=delta, categories=categories)


def aue(categories: Categories, *, epsilon: float, truth: float, delta: float = 0.0) -> Mechanism:
    """Asymmetric unary encoding: a bit for each category, the true one kept with probability ``truth``."""
    return Mechanism("aue", epsilon=epsilon, delta=delta, categories=categories, truth=truth)


def subset(categories: Categories, *, epsilon: float, delta: float = 0.0) -> Mechanism:
    """Subset selection: a random set of categories."""
    return Mechanism("subset", epsilon=epsilon, delta=delta, categories=categories)


def hadamard(categories: Categories, *, epsilon: float, delta: float = 0.0) -> Mechanism:
    """Hadamard response: an index of a Hadamard matrix."""
    return Mechanism("hadamard", epsilon=epsilon, delta=delta, categories=categories)


def olh(categories: Categories, *, epsilon: float, delta: float = 0.0) -> Mechanism:
    """Optimised local hashing: a random hash of the category."""
    return Mechanism("olh", epsilon=epsilon, delta=delta, categories=categories)


def channel(matrix: ArrayLike, *, epsilon: float, delta: float = 0.0, categories: Categories | None = None) -> Mechanism:
    """A mechanism of your own: a matrix with a row of report probabilities for each category.

    It privatises only if it keeps the promise.
    """
    rows = Channel(matrix).inputs
    return Mechanism("channel", epsilon=epsilon, delta=delta, categories=categories or rows, matrix=matrix)


def one_bit(bounds: tuple[float, float], *, epsilon: float) -> Mechanism:
    """Numbers: one of two numbers (Duchi, Jordan and Wainwright)."""
    return Mechanism("one-bit", epsilon=epsilon, bounds=bounds)


def laplace(bounds: tuple[float, float], *, epsilon: float) -> Mechanism:
    """Numbers with discrete Laplace noise."""
    return Mechanism("laplace", epsilon=epsilon, bounds=bounds)


def gaussian(bounds: tuple[float, float], *, epsilon: float, delta: float) -> Mechanism:
    """Numbers with discrete Gaussian noise."""
    return Mechanism("gaussian", epsilon=epsilon, delta=delta, bounds=bounds)


def piecewise(bounds: tuple[float, float], *, epsilon: float) -> Mechanism:
    """Numbers: near the value more often than not."""
    return Mechanism("piecewise", epsilon=epsilon, bounds=bounds)


def hybrid(bounds: tuple[float, float], *, epsilon: float) -> Mechanism:
    """Numbers: piecewise or one of two, by a coin."""
    return Mechanism("hybrid", epsilon=epsilon, bounds=bounds)


def half_sphere(radius: float, dimension: int, *, epsilon: float) -> Mechanism:
    """Vectors of norm up to ``radius``: a random direction, and on which side of it the vector is."""
    return Mechanism("half-sphere", epsilon=epsilon, radius=radius, dimension=dimension)


def priv_unit(radius: float, dimension: int, *, epsilon: float) -> Mechanism:
    """Vectors of norm up to ``radius``: a random direction that is near the vector more often than not."""
    return Mechanism("priv-unit", epsilon=epsilon, radius=radius, dimension=dimension)


def _declared(
    categories: Categories | None, bounds: tuple[float, float] | None, radius: float | None, dimension: int | None
) -> dict[str, Any]:
    declared: dict[str, Any] = dict.fromkeys(["categories", "values", "bounds", "bins", "radius", "dimension"])
    if sum(given is not None for given in (categories, bounds, radius)) != 1:
        raise InvalidInputError("exactly one of categories, bounds and radius is needed", "categories=10")
    if isinstance(categories, Bins):
        declared["bounds"] = _ends((categories.lower, categories.upper))
        declared["bins"] = _whole("the number of bins", categories.count, most=2**32 - 1)
    elif isinstance(categories, int | np.integer):
        declared["categories"] = _whole("categories", categories, most=2**32 - 1)
    elif categories is not None:
        names = [categories] if isinstance(categories, str) else _list("categories", categories)
        if not all(isinstance(name, str) for name in names):
            raise InvalidInputError("a category is not text", 'categories=["yes", "no"]')
        declared["values"] = names
    elif bounds is not None:
        declared["bounds"] = _ends(bounds)
    else:
        declared["radius"] = _float("radius", radius)
        declared["dimension"] = _whole("dimension", 0 if dimension is None else dimension, most=2**32 - 1)
    return declared


def _list(name: str, given: Iterable[Any]) -> list[Any]:
    try:
        return list(given)
    except TypeError as error:
        raise InvalidInputError(f"{name} is a {type(given).__name__}, but it must be a list", f"{name}=[…]") from error


def _ends(given: Iterable[float]) -> tuple[float, float]:
    ends = [_float("a bound", end) for end in _list("bounds", given)]
    if len(ends) != 2:
        raise InvalidInputError("bounds must be two numbers", "bounds=(0.0, 1.0)")
    return ends[0], ends[1]


def _float(name: str, given: Any) -> float:
    if isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool):
        return float(given)
    raise InvalidInputError(f"{name} is a {type(given).__name__}, but it must be a number", "1.0")


def _whole(name: str, given: Any, *, least: int = 1, most: int = 2**64 - 1) -> int:
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and least <= given <= most:
        return int(given)
    raise InvalidInputError(f"{name} is {given!r}, but it must be a whole number", f"from {least} to {most}")


def _data(reports: Reports | NDArray[Any]) -> NDArray[Any]:
    if isinstance(reports, Reports):
        return reports.data
    if isinstance(reports, np.ndarray):
        return reports
    raise InvalidInputError(f"reports is a {type(reports).__name__}", "give what privatize returned")
