"""An accountant for the events of ``dp_accounting``, which also counts hidden states.

:class:`HiddenStateAccountant` takes the place of ``PLDAccountant`` or ``RdpAccountant``. Its answers are proved upper
bounds, rounding included. :class:`HiddenStateDpEvent` is the event of a run of which only the last iterate is released.

>>> import dp_accounting
>>> from dobrushin.accounting import HiddenStateAccountant, HiddenStateDpEvent
>>> step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
>>> accountant = HiddenStateAccountant().compose(step, 1000)
>>> round(accountant.get_epsilon(1e-5), 3)
1.828

A run whose iterates stay secret is an event like any other:

>>> training = HiddenStateDpEvent({
...     "run": {"algorithm": "gradient-descent", "records": 1000, "steps": 100_000, "release": "last"},
...     "update": {"learning-rate": 0.1, "clip-norm": 1.0, "noise-multiplier": 20.0, "weight-decay": 0.05},
...     "loss": {"convex": True, "smoothness": 1.0, "generalised-linear": True},
... })
>>> round(HiddenStateAccountant().compose(training).get_epsilon(1e-5), 3)
1.183
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import operator
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import attr
from dp_accounting import NeighboringRelation, PrivacyAccountant, dp_event  # type: ignore[import, unused-ignore]

from dobrushin import Report, Run, account
from dobrushin.errors import InvalidInputError, NoGuaranteeError
from dobrushin.run import RunLike

__all__ = ["HiddenStateAccountant", "HiddenStateDpEvent"]

_NEIGHBOURS = {
    NeighboringRelation.ADD_OR_REMOVE_ONE: "add-or-remove-one",
    NeighboringRelation.REPLACE_ONE: "replace-one",
    NeighboringRelation.REPLACE_SPECIAL: "zero-out",
}

# Every whole number up to here is a float, so counts are never rounded.
_MOST = 2**53
_TOO_MANY = f"something is used more than {_MOST} times"

# Noise on a sum, which has no part of a record that is not in the sample.
_SUMS = ("gaussian", "laplace", "discrete-laplace")

# A few operations are off by less than this factor.
_ULPS = 1.0 + 2.0**-48


def _file(run: RunLike | bytes) -> bytes:
    """The run file, in UTF-8."""
    return (Run.from_toml(run.decode()) if isinstance(run, bytes) else Run(run)).to_toml().encode()


@attr.s(frozen=True, slots=True, auto_attribs=True)
class HiddenStateDpEvent(dp_event.DpEvent):  # type: ignore[misc]
    """Represents a run of which only what ``run.release`` says was released: the last iterate, say.

    The neighbouring relation is the accountant's, as for every event, and what the run says about its neighbours does
    not count. There are two exceptions. A list of mechanisms (``algorithm = "composition"``) is as private as it says
    for its own neighbours only. And a chain (``algorithm = "chain"``) does not say what its neighbours are, so you do.

    What must hold for it is listed by ``dobrushin.account(event.to_run())``. Above all, nobody may see anything else of
    the run.

    The event is immutable, and ``to_named_tuple`` and ``from_named_tuple`` convert it. It holds the run file as bytes,
    because ``to_named_tuple`` takes strings apart.

    >>> event = HiddenStateDpEvent({
    ...     "run": {"algorithm": "dp-sgd", "records": 60_000, "batch-size": 256, "steps": 100, "order": "poisson"},
    ...     "update": {"clip-norm": 1.0, "noise-multiplier": 1.0},
    ... })
    >>> event.to_run().to_dict()["run"]["steps"]
    100
    >>> event == dp_event.DpEvent.from_named_tuple(event.to_named_tuple())
    True

    Attributes:
        run: The run file. You may give a ``Run``, a dictionary or a path.
        neighboring_relation: The only relation for which the event is described, or ``None`` if it is any.
    """

    run: bytes = attr.ib(converter=_file)
    neighboring_relation: NeighboringRelation | None = None

    def to_run(self) -> Run:
        """The run.

        >>> run = Run(algorithm="gradient-descent", records=10, steps=1, clip_norm=1.0, noise_multiplier=1.0)
        >>> HiddenStateDpEvent(run).to_run().to_dict() == run.to_dict()
        True
        """
        return Run.from_toml(self.run.decode())


class HiddenStateAccountant(PrivacyAccountant):  # type: ignore[misc]
    """A privacy accountant whose answers are proved, and which counts hidden states.

    It takes Gaussian, Laplace and discrete Laplace noise, on all records, on Poisson samples and on samples without
    replacement; randomised response; tree aggregation; compositions of all of these; and :class:`HiddenStateDpEvent`.
    It refuses everything else, and whatever has no proof for the neighbouring relation. ``tolerance`` says how far ε may
    be above the smallest that holds, relative to ε; it costs time, not safety.

    >>> accountant = HiddenStateAccountant(NeighboringRelation.REPLACE_ONE)
    >>> _ = accountant.compose(dp_event.LaplaceDpEvent(4.0), 2)
    >>> accountant.get_epsilon(0), accountant.get_delta(1.0)
    (1.0, 0.0)
    >>> accountant.supports(dp_event.UnsupportedDpEvent())
    False
    """

    def __init__(
        self,
        neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
        tolerance: float = 1e-4,
    ) -> None:
        if neighboring_relation not in _NEIGHBOURS:
            raise InvalidInputError(
                f"neighboring_relation is {neighboring_relation!r}", "give a dp_accounting.NeighboringRelation"
            )
        super().__init__(neighboring_relation)
        self._tolerance = tolerance
        self._releases: Counter[_Release] = Counter()

    def _maybe_compose(self, event: dp_event.DpEvent, count: int, do_compose: bool) -> Any:
        releases: Counter[_Release] = Counter()
        try:
            for release, times in _releases(event, self.neighboring_relation):
                releases[release] += times * count
                _require(event, self._releases[release] + releases[release] <= _MOST, _TOO_MANY)
        except _Refused as refused:
            return self.CompositionErrorDetails(refused.event, refused.reason)
        if do_compose:
            self._releases += releases
        return None

    def get_epsilon(self, target_delta: float) -> float:
        """The smallest ε that is proved to hold with this δ, for everything that was composed.

        >>> accountant = HiddenStateAccountant().compose(dp_event.GaussianDpEvent(1.0))
        >>> round(accountant.get_epsilon(1e-5), 3), accountant.get_epsilon(0), accountant.get_epsilon(1)
        (4.377, inf, 0.0)
        """
        if not 0 <= target_delta <= 1:
            raise InvalidInputError(f"target_delta is {target_delta}, but it must be between 0 and 1")
        if _NOT_PRIVATE in self._releases:
            return math.inf
        if not self._releases:
            return 0.0
        return _answer(account(self._run(target_delta), delta=float(target_delta), tolerance=self._tolerance, floor=False))

    def get_delta(self, target_epsilon: float) -> float:
        """The smallest δ that is proved to hold with this ε, for everything that was composed.

        >>> accountant = HiddenStateAccountant().compose(dp_event.GaussianDpEvent(1.0))
        >>> round(accountant.get_delta(1.0), 4)
        0.1269
        """
        if not target_epsilon >= 0:
            raise InvalidInputError(f"target_epsilon is {target_epsilon}, but it must be 0 or more")
        if _NOT_PRIVATE in self._releases:
            return 1.0
        if not self._releases:
            return 0.0
        epsilon, guess = min(float(target_epsilon), sys.float_info.max), 1e-6
        while True:
            delta = _answer(account(self._run(guess), epsilon=epsilon, tolerance=self._tolerance, floor=False))
            if guess <= max(delta, sys.float_info.min) or not self._profiles():
                return delta
            # The profiles must end well below the answer.
            guess = delta / 10

    def _profiles(self) -> int:
        """How many hidden runs count by their profiles; a run by itself does not."""
        hidden = sum(times for release, times in self._releases.items() if isinstance(release, _Hidden))
        return 0 if hidden == self._releases.total() == 1 else hidden

    def _run(self, delta: float) -> Run:
        """What was composed, as a run whose answers are good down to this δ."""
        match list(self._releases.items()):
            case [(_Hidden() as hidden, 1)]:
                return hidden.run()
            case releases:
                floor = delta / (1000 * max(self._profiles(), 1))
                floor = floor if floor > 1e-300 else 0.0
                tables = [{**release.table(floor), "count": times} for release, times in releases]
                return _composition(tables, self.neighboring_relation)


class _Refused(Exception):
    """An event that is not accounted for, and why."""

    def __init__(self, event: dp_event.DpEvent, reason: str) -> None:
        super().__init__(reason)
        self.event, self.reason = event, reason


@dataclasses.dataclass(frozen=True, slots=True)
class _Mechanism:
    """A mechanism all of whose results are released."""

    text: str

    @staticmethod
    def of(kind: str, **parameters: Any) -> _Mechanism:
        """The mechanism of a ``[[mechanism]]`` table with these keys."""
        keys = {name.replace("_", "-"): value for name, value in parameters.items()}
        return _Mechanism(json.dumps({"kind": kind, **keys}, sort_keys=True))

    def table(self, _: float = 0.0) -> dict[str, Any]:
        """The ``[[mechanism]]`` table, without a count."""
        table: dict[str, Any] = json.loads(self.text)
        return table


@dataclasses.dataclass(frozen=True, slots=True)
class _Hidden:
    """A run for the accountant's neighbours."""

    text: str

    def run(self) -> Run:
        """The run."""
        return Run.from_toml(self.text)

    def table(self, floor: float) -> dict[str, Any]:
        """A ``[[mechanism]]`` table that is at most as private as the run, with a profile that ends at the floor."""
        return {"kind": "profile", "points": [list(point) for point in _profile(self.text, floor)]}


_Release = _Mechanism | _Hidden

_NOT_PRIVATE = _Mechanism.of("approximate", epsilon=0.0, delta=1.0)


def _composition(tables: list[dict[str, Any]], relation: NeighboringRelation) -> Run:
    return Run(algorithm="composition", neighbours=_NEIGHBOURS[relation], mechanism=tables)


@functools.lru_cache(maxsize=256)
def _profile(text: str, floor: float) -> list[tuple[float, float]]:
    """Guarantees (ε, δ) of a run, from ε = 0 to where δ is at the floor.

    They all hold, and δ is convex in e^ε. So the profile that follows from them is at most 2 % above the run's own
    where each δ is at most 1.5 times the next, as it is from 1 to 1e-45.
    """
    run = Run.from_toml(text)
    start, end = account(run, epsilon=0.0, floor=False), account(run, delta=floor, floor=False)
    best = [report.guarantee.analysis for report in (start, end) if report.guarantee is not None]
    ratio = _answer(start) / floor if floor > 0 else 1.0
    steps = min(math.ceil(math.log(max(ratio, 1.0), 1.5)), 256)
    deltas = (floor * ratio ** (step / steps) for step in range(1, steps))
    points = [(_answer(account(run, delta=delta, analyses=best, floor=False)), delta) for delta in deltas]
    points += [(0.0, _answer(start)), (_answer(end), floor)]
    return [point for point in points if math.isfinite(point[0])]


def _answer(report: Report) -> float:
    """The ε or δ that is proved, if any is."""
    try:
        return float(report)
    except NoGuaranteeError:
        return math.inf if report.asked == "epsilon" else 1.0


_Uses = Iterator[tuple[_Release, int]]


def _releases(event: dp_event.DpEvent, relation: NeighboringRelation) -> _Uses:
    """What an event releases, and how often."""
    match event:
        case dp_event.NoOpDpEvent():
            pass
        case dp_event.NonPrivateDpEvent():
            yield _NOT_PRIVATE, 1
        case dp_event.ComposedDpEvent():
            for part in event.events:
                yield from _releases(part, relation)
        case dp_event.SelfComposedDpEvent():
            count = _whole(event, "count")
            for release, times in _releases(event.event, relation):
                _require(event, times * count <= _MOST, _TOO_MANY)
                yield release, times * count
        case dp_event.PoissonSampledDpEvent():
            probability = _number(event, "sampling_probability", up=True)
            _require(event, probability <= 1, f"sampling_probability is {probability}, but it must be at most 1")
            yield from _sampled(event, "poisson", probability, relation)
        case dp_event.SampledWithoutReplacementDpEvent():
            fixed = relation is not NeighboringRelation.ADD_OR_REMOVE_ONE
            _require(
                event,
                fixed,
                "a sample of fixed size needs REPLACE_ONE or REPLACE_SPECIAL, which make the number of records public",
            )
            size, records = _whole(event, "sample_size"), _whole(event, "source_dataset_size")
            _require(event, size <= records, f"sample_size is {size}, but there are only {records} records")
            yield from _sampled(event, "without-replacement", min(size / records * _ULPS, 1.0), relation)
        case dp_event.GaussianDpEvent():
            yield _noisy(event, "gaussian", relation), 1
        case dp_event.LaplaceDpEvent():
            yield _noisy(event, "laplace", relation), 1
        case dp_event.DiscreteLaplaceDpEvent():
            noise, sensitivity = _number(event, "noise_parameter", up=True), _whole(event, "sensitivity")
            _require(event, noise > 0, "noise_parameter is 0, which is no distribution")
            yield (
                _checked(event, relation, kind="discrete-laplace", scale=1 / noise / _ULPS, sensitivity=sensitivity),
                1,
            )
        case dp_event.RandomizedResponseDpEvent():
            yield from _response(event, relation)
        case dp_event.SingleEpochTreeAggregationDpEvent():
            special = relation is NeighboringRelation.REPLACE_SPECIAL
            _require(event, special, "tree aggregation needs REPLACE_SPECIAL")
            # A record is in one leaf, and in one node on each level above it.
            counts = event.step_counts if isinstance(event.step_counts, Sequence) else [event.step_counts]
            levels = max((_whole(event, "step_counts", count).bit_length() for count in counts), default=0)
            _require(event, levels > 0, "step_counts is empty")
            yield _noisy(event, "gaussian", relation), levels
        case HiddenStateDpEvent():
            yield from _hidden(event, relation)
        case _:
            raise _Refused(event, f"{type(event).__name__} is not supported")


def _noisy(event: dp_event.DpEvent, kind: str, relation: NeighboringRelation) -> _Mechanism:
    """A sum with noise."""
    noise = _number(event, "noise_multiplier")
    return _checked(event, relation, kind=kind, noise_multiplier=noise) if noise > 0 else _NOT_PRIVATE


def _response(event: dp_event.RandomizedResponseDpEvent, relation: NeighboringRelation) -> _Uses:
    """Randomised response; the special record answers at random."""
    local = relation is not NeighboringRelation.ADD_OR_REMOVE_ONE
    _require(event, local, "randomised response needs REPLACE_ONE or REPLACE_SPECIAL: who answers is public")
    noise, buckets = _number(event, "noise_parameter"), _whole(event, "num_buckets")
    _require(event, noise <= 1, f"noise_parameter is {noise}, but it must be at most 1")
    if buckets == 1 or noise == 1:
        return
    if noise == 0:
        yield _NOT_PRIVATE, 1
        return
    truth = 1 - noise
    if relation is NeighboringRelation.REPLACE_ONE:
        epsilon, delta = math.log1p(buckets * truth / noise), truth
    else:
        epsilon, delta = max(math.log1p((buckets - 1) * truth), -math.log(noise)), truth * (1 - 1 / buckets)
    points = [[0.0, min(delta * _ULPS, 1.0)], [epsilon * _ULPS, 0.0]]
    yield _checked(event, relation, kind="profile", points=points), 1


def _sampled(event: dp_event.DpEvent, sampling: str, probability: float, relation: NeighboringRelation) -> _Uses:
    """What the part of an event releases if it is applied to a sample."""
    parts = list(_releases(event.event, relation))
    if probability == 1 or not parts or any(release == _NOT_PRIVATE for release, _ in parts):
        yield from parts
        return
    tables = [(release.table(), times) for release, times in parts if isinstance(release, _Mechanism)]
    sums = len(tables) == len(parts) and all(table["kind"] in _SUMS for table, _ in tables)
    _require(event, sums, "only sums with noise can be sampled")
    match tables:
        case [({"sampling": "poisson", "sampling-probability": inner} as table, 1)] if sampling == "poisson":
            probability = max(probability * inner * _ULPS, sys.float_info.min)
        case [(table, 1)] if "sampling" not in table:
            pass
        case _:
            together = all(
                table.keys() == {"kind", "noise-multiplier"} and table["kind"] == "gaussian" for table, _ in tables
            )
            _require(event, together, "of what is applied to one sample together, only Gaussian noise is supported")
            # Gaussians on the same sample are one Gaussian.
            precision = math.hypot(*(math.sqrt(times) / table["noise-multiplier"] for table, times in tables))
            table = {"kind": "gaussian", "noise-multiplier": 1 / precision / _ULPS}
    if probability > 0:
        yield _checked(event, relation, **{**table, "sampling": sampling, "sampling-probability": probability}), 1


def _hidden(event: HiddenStateDpEvent, relation: NeighboringRelation) -> _Uses:
    """A run for these neighbours."""
    described, neighbours = event.neighboring_relation, _NEIGHBOURS[relation]
    _require(event, described in (None, relation), f"it is described for {described} only")
    with _refusing(event):
        run = event.to_run()
    sections = run.to_dict()
    named = [
        sections.get("model", {}).get("schema"),
        *(table.get("channel") for table in sections.get("mechanism", [])),
    ]
    _require(event, not any(isinstance(file, str) for file in named), "its run names a file, which may change")
    of_run = sections.get("run", {})
    algorithm = of_run.get("algorithm")
    with _refusing(event):
        if algorithm not in ("chain", "composition"):
            run = run.replace(neighbours=neighbours)
        run.check()
    everybody = of_run.get("record", "worst") == "worst"
    _require(
        event, everybody, 'run.record says whom the guarantee is for, but it must be for everybody: record = "worst"'
    )
    if algorithm == "composition":
        same = of_run.get("neighbours", "replace-one") == neighbours
        _require(event, same, f"its mechanisms are not described for {neighbours} neighbours")
        for table in sections["mechanism"]:
            count = int(table.pop("count", 1))
            yield _Mechanism.of(**table), count
        return
    said = algorithm != "chain" or described is not None
    _require(event, said, "a chain does not say which data sets are neighbours: give neighboring_relation")
    yield _Hidden(run.to_toml()), 1


def _checked(event: dp_event.DpEvent, relation: NeighboringRelation, **table: Any) -> _Mechanism:
    """The mechanism of a table, if it can be accounted for."""
    mechanism = _Mechanism.of(**table)
    with _refusing(event):
        _composition([mechanism.table()], relation).check()
    return mechanism


@contextlib.contextmanager
def _refusing(event: dp_event.DpEvent) -> Iterator[None]:
    """Refuses an event that makes a run which cannot be accounted for."""
    try:
        yield
    except InvalidInputError as error:
        raise _Refused(event, error.message) from error


def _require(event: dp_event.DpEvent, condition: bool, reason: str) -> None:
    if not condition:
        raise _Refused(event, reason)


def _number(event: dp_event.DpEvent, name: str, *, up: bool = False) -> float:
    """A field that is a number, 0 or more; rounded down, or up, if it is no float."""
    value = getattr(event, name)
    try:
        number = float(value)
        if up and number < value:
            number = math.nextafter(number, math.inf)
        elif not up and number > value:
            number = math.nextafter(number, 0.0)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    _require(event, 0 <= number < math.inf, f"{name} is {value}, but it must be a finite number, 0 or more")
    return number


def _whole(event: dp_event.DpEvent, name: str, value: Any = None) -> int:
    """A field, or one of several values in it, that is a whole number, 1 or more."""
    value = getattr(event, name) if value is None else value
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    _require(event, 1 <= number <= _MOST, f"{name} is {value}, but it must be a whole number from 1 to {_MOST}")
    return number
