"""What attacks prove about a program, and whether it contradicts what is claimed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dobrushin import _core
from dobrushin.errors import InvalidInputError
from dobrushin.report import Interval, _axes, _Document, _interval, _needed, _number
from dobrushin.run import RunLike, as_run

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

__all__ = ["Attack", "Audit", "audit", "audit_scores"]

Data = TypeVar("Data")


class Attack(NamedTuple):
    """What one attack proves."""

    id: str
    epsilon: float
    """A lower bound on ε, whatever the program is."""
    gaussian_epsilon: float
    """A lower bound on ε if the worst trade-off curve is that of two normal laws."""
    provable_at_most: float
    """The ε that an attacker who is never wrong would have proved with as many runs."""
    runs: int
    """All runs, with and without the record."""
    confidence: float
    """The probability with which everything that is said is true."""


class Audit(_Document):
    """What attacks prove, beside the claim that they were held against.

    ``float(audit)`` is the largest ε that is proved, and ``audit.violation`` tells whether the claim is false.
    """

    __slots__ = ()

    @property
    def attacks(self) -> list[Attack]:
        """What each attack proves."""
        return [
            Attack(
                one["id"],
                _number(one["epsilon"]["lower"]),
                _number(one["gaussian"]["epsilon"]["lower"]),
                _number(one["provable_at_most"]),
                one["runs"],
                one["confidence"],
            )
            for one in self._data["attacks"]
        ]

    @property
    def epsilon(self) -> float:
        """The largest ε that is proved, from below."""
        return max((attack.epsilon for attack in self.attacks), default=0.0)

    def __float__(self) -> float:
        return self.epsilon

    @property
    def claimed(self) -> Interval:
        """The claimed ε."""
        return _interval(self._data["guarantee"]["epsilon"])

    @property
    def violation(self) -> bool:
        """Whether some attack contradicts the claim, with the confidence that was asked for."""
        return bool(self._data["violation"])

    @property
    def suspects(self) -> list[str]:
        """What to suspect if the claim is contradicted; the likeliest comes first."""
        return list(self._data.get("suspects", []))

    @property
    def warnings(self) -> list[str]:
        """Why what is said may rest on less than it seems."""
        return list(self._data["warnings"])

    def _levels(self) -> list[tuple[str, str, float]]:
        levels = [
            level
            for attack in self.attacks
            for level in (
                (f"attack: {attack.id}", "at least", attack.epsilon),
                (f"attack: {attack.id}, if Gaussian", "at least", attack.gaussian_epsilon),
            )
        ]
        levels.append(("guarantee", "at most", self.claimed.upper))
        composed = self._data["composition"]
        if composed is not None:
            levels.append(("composition", "at most", _interval(composed["epsilon"]).upper))
        return levels

    def to_frame(self) -> pandas.DataFrame:
        """One row for each bound on ε, the lower ones first, as a pandas data frame."""
        rows = [{"level": name, "side": side, "epsilon": value} for name, side, value in self._levels()]
        frame: pandas.DataFrame = _needed("pandas").DataFrame(rows).set_index("level")
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what is proved from below beside what is claimed, on the axes of matplotlib."""
        axes = _axes(ax)
        levels = self._levels()
        colours = ["C3" if side == "at least" else "C0" for _, side, _ in levels]
        axes.barh([f"{name} ({side})" for name, side, _ in levels], [value for _, _, value in levels], color=colours)
        axes.invert_yaxis()
        axes.set_xlabel(f"ε at δ = {self._data['guarantee']['delta']:g}")
        return axes

    def __repr__(self) -> str:
        verdict = "contradicted" if self.violation else "not contradicted"
        return f"<Audit: epsilon>={self.epsilon:.4g}, claimed<={self.claimed.upper:.4g}, {verdict}>"


def audit_scores(
    with_scores: ArrayLike,
    without_scores: ArrayLike,
    *,
    run: RunLike | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    confidence: float = 0.95,
) -> Audit:
    """What the scores of independent runs prove, with the record and without it.

    A score is whatever number your attack gives to what a run released; larger or smaller numbers speak for the record. An
    array with two axes has a whole model in each row: some of the models teach a direction, by which the others are scored.
    The claim is a ``run``, whose whole profile is held against the scores, or ``epsilon`` with ``delta``.

    >>> import dobrushin as db
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> found = db.audit_scores(rng.normal(1, 1, 4000), rng.normal(0, 1, 4000), epsilon=0.5, delta=1e-5)
    >>> found.violation, 0.5 < float(found) < 4.38
    (True, True)
    """
    return _held_against(_rows("with_scores", with_scores), _rows("without_scores", without_scores), run, epsilon, delta, confidence)


def audit(
    train: Callable[[Data], ArrayLike],
    with_data: Data,
    without_data: Data,
    *,
    runs: int = 1000,
    run: RunLike | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    confidence: float = 0.95,
) -> Audit:
    """Attack a program: ``train`` is called this many times on each of two neighbouring data sets, in turn.

    It returns a score, or the parameters of the model that it releases, as a number or an array. It must draw its
    randomness anew in every call. The claim is a ``run``, or ``epsilon`` with ``delta``.

    >>> import dobrushin as db
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> def mean(ages):
    ...     return np.clip(ages, 0, 1).sum() + rng.normal(0, 1)
    >>> found = db.audit(mean, [0.2, 0.9, 1.0], [0.2, 0.9], runs=2000, epsilon=4.38, delta=1e-5)
    >>> found.violation, float(found) > 1
    (False, True)
    """
    if not callable(train):
        raise InvalidInputError(f"train is a {type(train).__name__}, but it must be a function", "train=lambda data: …")
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
        raise InvalidInputError(f"runs is {runs!r}, but it must be a whole number above 0", "runs=1000")
    released: tuple[list[Any], list[Any]] = ([], [])
    for _ in range(runs):
        for kind, data in zip(released, (with_data, without_data), strict=True):
            kind.append(_flat("what train returned", train(data)))
    rows = [_rows("what train returned", kind) for kind in released]
    return _held_against(rows[0], rows[1], run, epsilon, delta, confidence)


def _held_against(
    with_rows: NDArray[np.float64],
    without_rows: NDArray[np.float64],
    run: RunLike | None,
    epsilon: float | None,
    delta: float | None,
    confidence: float,
) -> Audit:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise InvalidInputError(f"confidence is a {type(confidence).__name__}, but it must be a number", "confidence=0.95")
    file = None if run is None else as_run(run)._file
    return Audit(*_core.audit(with_rows, without_rows, run=file, epsilon=epsilon, delta=delta, confidence=confidence))


def _flat(name: str, given: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(given, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} is not a number or an array of numbers: {error}", "return a float, or an array") from error


def _rows(name: str, given: Any) -> NDArray[np.float64]:
    """One row for each run."""
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} is not an array of numbers: {error}", "one number, or one row, for each run") from error
    if array.ndim == 0:
        raise InvalidInputError(f"{name} is one number, but every run has one", "give an array")
    return np.ascontiguousarray(array.reshape(len(array), -1) if array.size else array.reshape(0, 1))
