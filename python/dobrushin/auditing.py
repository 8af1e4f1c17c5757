"""What attacks prove about a program, and whether it contradicts what is claimed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dobrushin import _core
from dobrushin.errors import InvalidInputError
from dobrushin.report import Interval, _axes, _Document, _down, _interval, _needed, _number, _up
from dobrushin.run import RunLike, as_run

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

__all__ = ["Attack", "Audit", "WorstCase", "audit", "audit_scores", "worst_case"]

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

    ``float(audit)`` is the largest ε that is proved, and ``audit.violation`` tells whether the claim is false. If the claim is
    that of a run, then attack ≤ floor ≤ guarantee ≤ composition.

    >>> import dobrushin as db
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> run = db.Run(algorithm="gradient-descent", records=100, steps=1, clip_norm=1.0, noise_multiplier=1.0,
    ...              neighbours="add-or-remove-one")
    >>> found = db.audit_scores(rng.normal(1, 1, 4000), rng.normal(0, 1, 4000), run=run, delta=1e-5)
    >>> found.violation, 1.5 < float(found) <= found.floor.lower <= found.claimed.upper <= found.composition.upper
    (False, True)
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
        """The claimed ε; its ``upper`` end is the claim."""
        return _interval(self._data["guarantee"]["epsilon"])

    @property
    def delta(self) -> float:
        """The δ at which every ε is compared."""
        return _number(self._data["guarantee"]["delta"])

    @property
    def floor(self) -> Interval | None:
        """What no analysis of the claimed run can go below, its ``lower`` end; ``None`` if the claim is no run."""
        return self._optional("floor")

    @property
    def composition(self) -> Interval | None:
        """The ε if every iterate of the claimed run were released; ``None`` if the claim is no run."""
        return self._optional("composition")

    def _optional(self, name: str) -> Interval | None:
        found = self._data.get(name)
        return None if found is None else _interval(found["epsilon"])

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
        if self.floor is not None:
            levels.append(("floor", "at least", self.floor.lower))
        levels.append(("guarantee", "at most", self.claimed.upper))
        if self.composition is not None:
            levels.append(("composition", "at most", self.composition.upper))
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
        axes.set_xlabel(f"ε at δ = {self.delta:g}")
        return axes

    def __repr__(self) -> str:
        verdict = "contradicted" if self.violation else "not contradicted"
        return f"<Audit: epsilon>={_down(self.epsilon)}, claimed<={_up(self.claimed.upper)}, {verdict}>"


class WorstCase(_Document):
    """The worst case of a run that is known, beside its guarantee.

    >>> import dobrushin as db
    >>> run = db.Run(algorithm="gradient-descent", records=100, steps=50, release="last", learning_rate=0.5, clip_norm=1.0,
    ...              noise_multiplier=8.0, weight_decay=0.1, convex=True, generalised_linear=True, smoothness=1.0)
    >>> found = db.worst_case(run, delta=1e-5)
    >>> found.text.splitlines()[0].endswith("the guarantee is exact."), found.share > 0.9999
    (True, True)
    """

    __slots__ = ()

    def _value(self, of: str) -> Interval | None:
        data = self._data[of]
        value = None if data is None else data.get("epsilon" if "delta" in self._data["target"] else "delta")
        return _interval(value) if isinstance(value, dict) else None

    @property
    def floor(self) -> Interval | None:
        """What no analysis of the same facts can go below, at its lower end; ``None`` if no worst case is known."""
        return self._value("floor")

    @property
    def guarantee(self) -> Interval | None:
        """What is guaranteed, at its upper end; ``None`` if nothing is."""
        return self._value("guarantee")

    @property
    def composition(self) -> Interval | None:
        """What would be guaranteed if every iterate were released."""
        return self._value("composition")

    @property
    def instance(self) -> str | None:
        """The worst case that is known, in words."""
        floor = self._data["floor"]
        return None if floor is None else str(floor["instance"])

    @property
    def share(self) -> float:
        """The share of the guarantee that is known to be real."""
        floor, guarantee = self.floor, self.guarantee
        if floor is None or guarantee is None:
            return 0.0
        return floor.lower / guarantee.upper if guarantee.upper > 0 else 1.0

    @property
    def violation(self) -> bool:
        """Whether the floor is above the guarantee, which is an error in one of the two: please report it."""
        return bool(self._data["violation"])

    def to_frame(self) -> pandas.DataFrame:
        """Floor and guarantee of shorter runs, or of records that more steps follow, as a pandas data frame."""
        gap = self._data["gap"] or {"over": "steps", "points": []}
        rows = [
            {
                gap["over"]: point["value"],
                "floor": _number(point["floor"]),
                "guarantee": _number(point["guarantee"]),
                "analysis": point["analysis"],
            }
            for point in gap["points"]
        ]
        columns = [gap["over"], "floor", "guarantee", "analysis"]
        frame: pandas.DataFrame = _needed("pandas").DataFrame(rows, columns=columns).set_index(gap["over"])
        return frame

    def __repr__(self) -> str:
        return f"<WorstCase: {100 * self.share:.3g} % of the guarantee is known to be real>"


def worst_case(run: RunLike, *, epsilon: float | None = None, delta: float | None = None) -> WorstCase:
    """How much of the guarantee of a run is real, and where the rest is lost.

    Give ``delta`` to ask about ε, or ``epsilon`` to ask about δ; without either, the run's own ``target`` is asked.

    >>> import dobrushin as db
    >>> run = db.Run(algorithm="dp-sgd", records=50_000, batch_size=500, steps=1000, order="poisson", release="last",
    ...              neighbours="add-or-remove-one", clip_norm=1.0, noise_multiplier=1.0)
    >>> found = db.worst_case(run, delta=1e-5)
    >>> print(f"{found.floor.lower:.5f}")
    1.27776
    """
    return WorstCase(*_core.worst_case(as_run(run)._file, epsilon=epsilon, delta=delta))


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
    The claim is a ``run``, whose whole profile is held against the scores, or ``epsilon`` with ``delta``. Everything that the
    answer says is true with probability ``confidence``, if the runs are independent.

    >>> import dobrushin as db
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> found = db.audit_scores(rng.normal(1, 1, 4000), rng.normal(0, 1, 4000), epsilon=0.5, delta=1e-5)
    >>> found.violation, 0.5 < float(found) < 4.38
    (True, True)
    """
    rows = _rows("with_scores", with_scores), _rows("without_scores", without_scores)
    return Audit(*_claim(run, epsilon, delta, confidence).audit(*rows))


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

    It returns a score, or the parameters of the model that it releases, as a number or an array. It must draw new
    randomness in every call: if it draws from a fixed seed, the runs are not independent, and nothing is proved. The
    claim is a ``run``, or ``epsilon`` with ``delta``. It is looked at before ``train`` is called.

    >>> import dobrushin as db
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> def total(ages):
    ...     return np.clip(ages, 0, 1).sum() + rng.normal(0, 1)
    >>> found = db.audit(total, [0.2, 0.9, 1.0], [0.2, 0.9], runs=2000, epsilon=4.38, delta=1e-5)
    >>> found.violation, float(found) > 1
    (False, True)
    """
    if not callable(train):
        raise InvalidInputError(f"train is a {type(train).__name__}, but it must be a function", "train=lambda data: …")
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
        raise InvalidInputError(f"runs is {runs!r}, but it must be a whole number above 0", "runs=1000")
    claim = _claim(run, epsilon, delta, confidence)
    released = _Released("with"), _Released("without")
    for _ in range(runs):
        for kind, data in zip(released, (with_data, without_data), strict=True):
            kind.take(train(data), released[0].width)
    return Audit(*claim.audit(*(kind.rows() for kind in released)))


class _Released:
    """What ``train`` returned, with the record or without it."""

    #: A program that draws new random numbers does not return the same numbers this often.
    SAME = 8

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.models: list[NDArray[np.float64]] = []
        self.same = True

    @property
    def width(self) -> int | None:
        """The numbers of the first model."""
        return len(self.models[0]) if self.models else None

    def take(self, given: Any, width: int | None) -> None:
        """Check one more model, which must be as wide as those before."""
        what = f"what train returned in call {len(self.models) + 1} {self.kind} the record"
        model = _numbers(what, given, "return a number, or an array of numbers").ravel()
        if len(model) == 0:
            raise InvalidInputError(f"{what} has no numbers", "return a score, or the parameters of the released model")
        if width is not None and len(model) != width:
            message = f"{what} has {len(model)} numbers, but the first call returned {width}"
            raise InvalidInputError(message, "return the same parameters of every model, in the same order")
        if np.isnan(model).any() or (len(model) > 1 and np.isinf(model).any()):
            place = int(np.flatnonzero(~np.isfinite(model))[0])
            message = f"{what} is {model[place]}" if len(model) == 1 else f"{what} is {model[place]} at index {place}"
            help_ = "put 1e300 in the place of parameters that diverged" if len(model) > 1 else "score runs that diverged as inf"
            raise InvalidInputError(message, f"{help_}, and do not leave these runs out")
        # Of a mechanism with few possible answers, single numbers may well be equal.
        self.same = self.same and len(set(model.tolist())) > 1 and (not self.models or np.array_equal(model, self.models[0]))
        self.models.append(model)
        if self.same and len(self.models) == self.SAME:
            message = f"train returned the same numbers in all {self.SAME} calls {self.kind} the record, so the runs are not independent"
            raise InvalidInputError(message, "it seems to draw from a fixed seed: seed it differently in every call, or not at all")

    def rows(self) -> NDArray[np.float64]:
        return np.vstack(self.models)


def _claim(run: RunLike | None, epsilon: float | None, delta: float | None, confidence: float) -> _core.Claim:
    file = None if run is None else as_run(run)._file
    return _core.claim(file, epsilon=epsilon, delta=delta, confidence=confidence)


def _numbers(name: str, given: Any, accepted: str) -> NDArray[np.float64]:
    """Numbers that are given as numbers: no text, no dates, nothing with an imaginary part."""
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "buifO":
            raise TypeError(f"its type is {array.dtype}")
        if array.dtype.kind == "O" and any(isinstance(one, str | bytes | complex) for one in array.flat):
            raise TypeError("it holds text or complex numbers")
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise InvalidInputError(f"{name} cannot be read as numbers: {error}", accepted) from error


def _rows(name: str, given: Any) -> NDArray[np.float64]:
    """One row for each run."""
    array = _numbers(name, given, "give one number, or one row of numbers, for each run")
    if array.ndim == 0:
        raise InvalidInputError(f"{name} is one number, but every run has one", "give an array")
    return np.ascontiguousarray(array.reshape(len(array), -1) if array.size else array.reshape(0, 1))
