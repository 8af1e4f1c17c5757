"""Privacy for Flower: an accountant for federated averaging, and a model that travels from owner to owner.

:class:`Accountant` is a ``flwr.serverapp.PrivacyAccountant``. It counts what the clients of a federation have spent:

>>> from flwr.serverapp import GaussianPrivacyEvent, NeighboringRelation, PrivacyConfig, SamplingMethod
>>> config = PrivacyConfig(1e-6, 1000, NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.POISSON)
>>> accountant = Accountant(config)
>>> accountant.compose(GaussianPrivacyEvent(noise_multiplier=1.2, sample_size=10, population_size=1000), count=100)
>>> print(f"{accountant.get_epsilon(1e-6):.3f}")
0.559

:class:`Journey`, :func:`take_step` and :func:`travel` train without collecting anything: records stay with their
owners, and the model visits one owner after another (Feldman, Mironov, Talwar, Thakurta 2018, section 1).
``examples/flower`` is an app made of them.
"""

from __future__ import annotations

import json
import logging
import math
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MessageType, RecordDict
from flwr.serverapp import GaussianPrivacyEvent, Grid, NeighboringRelation, PrivacyConfig, PrivacySpent, SamplingMethod

from dobrushin import Report, Run, account
from dobrushin.errors import InvalidInputError, NoGuaranteeError

__all__ = ["Accountant", "Arrival", "Journey", "Stop", "certify", "take_step", "travel"]

Vector = npt.NDArray[np.float64]

_log = logging.getLogger(__name__)


class Accountant:
    """What a federation with fixed clipping has spent: a ``flwr.serverapp.PrivacyAccountant``.

    The unit of privacy is a client with all its data, and the models of all rounds count as published. Flower adds
    noise of deviation ``noise_multiplier * clipping_norm / num_sampled_clients`` to the average. One client more or
    less moves the sum by ``clipping_norm``, and a client who is replaced by another moves it by twice as much.

    With ``SamplingMethod.NO_AMPLIFICATION``, which Flower's strategies ask for, a round has a fixed number of clients.
    Somebody else then takes the place of a client who is not there, and the sum moves by twice the norm. That is what
    is counted, unless you say ``neighbours="zero-out"``: a client who is not there is then asked all the same, and
    sends the model back unchanged.

    >>> config = PrivacyConfig(1e-6, 100, NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.NO_AMPLIFICATION)
    >>> event = GaussianPrivacyEvent(noise_multiplier=8.0, sample_size=10, population_size=100)
    >>> for neighbours in None, "zero-out":
    ...     accountant = Accountant(config, neighbours=neighbours)
    ...     accountant.compose(event)
    ...     print(f"{accountant.get_privacy_spent().epsilon:.3f}")
    1.061
    0.504
    """

    def __init__(self, config: PrivacyConfig, *, neighbours: Literal["zero-out"] | None = None) -> None:
        if neighbours not in (None, "zero-out"):
            raise InvalidInputError(f'neighbours is {neighbours!r}, but it can only be "zero-out" or None')
        if neighbours is not None and config.sampling_method is not SamplingMethod.NO_AMPLIFICATION:
            raise InvalidInputError(
                f'neighbours="zero-out" does not go with sampling_method={config.sampling_method.value!r}',
                "leave it out; the sampling method already says who takes the place of a client",
            )
        self._config = config
        self._neighbours: str = neighbours or _neighbours(config)
        self._released: Counter[GaussianPrivacyEvent] = Counter()

    @property
    def config(self) -> PrivacyConfig:
        """The configuration that was given."""
        return self._config

    @property
    def num_releases(self) -> int:
        """How many models have been released."""
        return self._released.total()

    @property
    def run(self) -> Run:
        """All releases as a run, which you can account, save and change like any other."""
        return self._run(self._released)

    def compose(self, event: GaussianPrivacyEvent, count: int = 1) -> None:
        """Count ``count`` releases more."""
        self._released = self._with(event, count)

    def get_epsilon(self, delta: float) -> float:
        """The ε of everything that was released, at ``delta``."""
        if not _is_number(delta) or not 0 < delta < 1:
            raise InvalidInputError(f"delta is {delta!r}, but it must be between 0 and 1")
        return self._epsilon(self._released, delta)

    def get_delta(self, epsilon: float) -> float:
        """The δ of everything that was released, at ``epsilon``."""
        if not _is_number(epsilon) or epsilon < 0:
            raise InvalidInputError(f"epsilon is {epsilon!r}, but it must be a number from 0 on")
        return float(account(self.run, epsilon=epsilon, floor=False)) if self._released else 0.0

    def get_privacy_spent(self, delta: float | None = None) -> PrivacySpent:
        """The same as ``get_epsilon``, in Flower's words; the δ is that of the configuration unless you give one."""
        delta = self._config.target_delta if delta is None else delta
        return PrivacySpent(self.get_epsilon(delta), delta, self.num_releases, "dobrushin")

    def would_exceed(self, event: GaussianPrivacyEvent, max_epsilon: float | None = None, count: int = 1) -> bool:
        """Whether ``count`` releases more would spend more than ``max_epsilon``; nothing is counted."""
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None or not _is_number(limit) or limit <= 0:
            raise InvalidInputError(
                f"max_epsilon is {limit!r}, but it must be a positive number", "give it here, or in PrivacyConfig"
            )
        return self._epsilon(self._with(event, count), self._config.target_delta) > limit

    def report(self, delta: float | None = None) -> Report:
        """The whole account, with a certificate."""
        return account(self.run, delta=self._config.target_delta if delta is None else delta)

    def state_dict(self) -> dict[str, object]:
        """Everything that was counted, as JSON holds it."""
        return {
            "schema_version": 1,
            "backend": "dobrushin",
            "config": self._state_of_config(),
            "compositions": [{"event": asdict(event), "count": count} for event, count in self._released.items()],
        }

    def load_state_dict(self, state: dict[str, object]) -> None:
        """Go on from the state of an accountant of the same configuration, which must include what was counted here."""
        if state.get("schema_version") != 1 or state.get("backend") != "dobrushin":
            raise InvalidInputError("this is not the state of a dobrushin.flower.Accountant")
        if state.get("config") != self._state_of_config():
            raise InvalidInputError("the configuration of the state does not match that of this accountant")
        restored = Accountant(self._config)
        try:
            for composition in _list(state.get("compositions")):
                restored.compose(GaussianPrivacyEvent(**composition["event"]), composition["count"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError("the state has a release that cannot be read") from error
        if not self._released <= restored._released:
            raise InvalidInputError("the state does not have all releases that were counted here")
        self._released = restored._released

    def _with(self, event: GaussianPrivacyEvent, count: int) -> Counter[GaussianPrivacyEvent]:
        if event.population_size != self._config.population_size:
            raise InvalidInputError(
                f"population_size of the release is {event.population_size}, "
                f"but that of the configuration is {self._config.population_size}"
            )
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InvalidInputError(f"count is {count!r}, but it must be a whole number from 1 on")
        return self._released + Counter({event: count})

    def _run(self, released: Mapping[GaussianPrivacyEvent, int]) -> Run:
        if not released:
            raise InvalidInputError("nothing has been released, so there is no run yet")
        return Run(
            algorithm="composition",
            neighbours=self._neighbours,
            mechanism=[
                {
                    "kind": "gaussian",
                    "noise-multiplier": event.noise_multiplier,
                    "count": count,
                    **self._sampling(event),
                }
                for event, count in released.items()
            ],
        )

    def _sampling(self, event: GaussianPrivacyEvent) -> dict[str, object]:
        if (
            self._config.sampling_method is SamplingMethod.NO_AMPLIFICATION
            or event.sample_size == event.population_size
        ):
            return {"sampling": "every"}
        # The quotient is rounded up: a larger sample protects less.
        share = math.nextafter(event.sample_size / event.population_size, 1.0)
        return {"sampling": self._config.sampling_method.value, "sampling-probability": share}

    def _epsilon(self, released: Mapping[GaussianPrivacyEvent, int], delta: float) -> float:
        return float(account(self._run(released), delta=delta, floor=False)) if released else 0.0

    def _state_of_config(self) -> dict[str, object]:
        return {**asdict(self._config), "neighbours": self._neighbours}


# A sample of a fixed size puts somebody else in the place of a client who is not there.
_NEIGHBOURS = {
    (SamplingMethod.POISSON, NeighboringRelation.ADD_OR_REMOVE_ONE): "add-or-remove-one",
    (SamplingMethod.WITHOUT_REPLACEMENT, NeighboringRelation.REPLACE_ONE): "replace-one",
    (SamplingMethod.NO_AMPLIFICATION, NeighboringRelation.ADD_OR_REMOVE_ONE): "replace-one",
}


def _neighbours(config: PrivacyConfig) -> str:
    try:
        return _NEIGHBOURS[config.sampling_method, config.neighboring_relation]
    except KeyError:
        raise InvalidInputError(
            f"there is no account for sampling_method={config.sampling_method.value!r} "
            f"with neighboring_relation={config.neighboring_relation.value!r}"
        ) from None


# Rows and models are kept this much shorter than they may be, so that rounding never makes them longer.
_ROOM = 1 - 1e-9


@dataclass(frozen=True, kw_only=True)
class Journey:
    """How a model travels: to each of ``owners`` in turn, ``passes`` times, with one step of logistic regression each.

    A step is w ← Π(w − η·(g + σZ)). η is ``learning_rate``, σ is ``gradient_noise``, Z is standard Gaussian noise that
    the owner draws, and Π projects to the ball of norm ``radius``. g is the gradient of the mean logistic loss over all
    rows of that owner, each scaled down to norm ``row_norm`` at most. So an owner counts as one record of the run, and
    everything that they hold is protected.

    >>> journey = Journey(owners=8, passes=3, dimension=3, learning_rate=0.5, gradient_noise=4.0, radius=2.0)
    >>> print(f"{journey.against_public(1e-5).epsilon:.3f} {journey.against_server(1e-5).epsilon:.3f}")
    1.959 3.208
    """

    owners: int
    dimension: int
    learning_rate: float
    gradient_noise: float
    radius: float
    row_norm: float = 1.0
    passes: int = 1

    def __post_init__(self) -> None:
        """Refuse what no journey can have."""
        for key in ("owners", "dimension", "passes"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InvalidInputError(f"{key} is {value!r}, but it must be a whole number from 1 on")
        for key in ("learning_rate", "gradient_noise", "radius", "row_norm"):
            value = getattr(self, key)
            if not _is_number(value) or not 1e-50 <= value <= 1e50:
                raise InvalidInputError(f"{key} is {value!r}, but it must be a number from 1e-50 to 1e50")
        if self.radius > 2**32 * self.noise:
            raise InvalidInputError(
                f"radius is {self.radius!r}, so large that noise of {self.noise!r} would be rounded away",
                "choose a smaller radius, or more noise",
            )

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Journey:
        """The journey that the configuration of a Flower app describes, with keys like ``learning-rate``.

        The configuration may have other keys too.
        """
        keys = {field.name: field.name.replace("_", "-") for field in fields(cls)}
        try:
            return cls(**{name: config[key] for name, key in keys.items() if key in config})
        except TypeError as error:
            raise InvalidInputError(f"the configuration does not describe a journey: {error}") from error

    @property
    def gradient_norm(self) -> float:
        """The largest norm that the gradient of an owner can have, if the model is in the ball."""
        return self.row_norm / (1 + math.exp(-self.radius * self.row_norm))

    @property
    def noise(self) -> float:
        """The deviation of the noise that a step adds to the model."""
        return self.learning_rate * self.gradient_noise

    @property
    def steps(self) -> int:
        """How many steps the owners take together."""
        return self.owners * self.passes

    @property
    def run(self) -> Run:
        """The run whose last iterate is released."""
        return Run(
            algorithm="pnsgd",
            records=self.owners,
            order="once" if self.passes == 1 else "cyclic",
            epochs=None if self.passes == 1 else self.passes,
            release="last",
            neighbours="replace-one",
            learning_rate=self.learning_rate,
            lipschitz=self.gradient_norm,
            gradient_noise=self.gradient_noise,
            convex=True,
            smoothness=self.row_norm**2 / 4,
            diameter=2 * self.radius,
            dimension=self.dimension,
        )

    def against_public(self, delta: float) -> Report:
        """What protects an owner against everybody who gets nothing but the released model.

        The report also says, under ``"observers"``, what owners learn of each other.
        """
        return account(self.run, delta=delta, observers=True)

    def against_server(self, delta: float) -> Report:
        """What protects an owner against the server, which passes all models on and so sees them."""
        return account(self.run.replace(release="all"), delta=delta)


@dataclass(frozen=True)
class Stop:
    """One step as the owner who took it reports it: its number, the owner, and the journey whose step it was."""

    number: int
    owner: int
    journey: Journey


@dataclass(frozen=True)
class Arrival:
    """What is released at the end of a journey: the last model, its account, and who took which step."""

    model: Vector
    report: Report
    journal: tuple[Stop, ...]

    def save(self, folder: str | Path) -> None:
        """Write ``model.npy``, ``certificate.json`` and ``journal.json`` to a folder that does not exist yet."""
        folder = Path(folder)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            raise InvalidInputError(f"{folder} already exists", "a folder holds one model; choose another") from None
        self.report.certificate().save(folder / "certificate.json")
        journal = [{"step": stop.number, "owner": stop.owner, **asdict(stop.journey)} for stop in self.journal]
        (folder / "journal.json").write_text(json.dumps(journal, indent=1) + "\n", encoding="utf-8")
        np.save(folder / "model.npy", self.model)


def take_step(
    message: Message, context: Context, journey: Journey, features: npt.ArrayLike, labels: npt.ArrayLike
) -> Message:
    """Take an owner's step on their own rows, and answer with the new model.

    Call it in the ``train`` function of a ``ClientApp``. ``journey`` is what the owner agreed to. A message that asks
    for anything else is refused before a row is looked at: other noise, a step out of turn, a step that was already
    taken.

    ``labels`` above 0 are one class, and all others are the other class. What the rows hold stops nothing and appears
    in no answer. A row that cannot be used counts as empty. So do all rows if they do not have ``journey.dimension``
    columns; only the owner's own log says so.
    """
    model, number = _read(message, journey)
    taken = _steps_taken(context)
    expected = taken[0] + journey.owners * len(taken) if taken else (number - 1) % journey.owners + 1
    if number != expected:
        raise InvalidInputError(f"step {number} is not this owner's next step, after {taken}")
    context.state[_STATE] = ConfigRecord({"taken": [*taken, number]})
    return Message(_content(_noisy_step(model, journey, features, labels), number, journey), reply_to=message)


def travel(grid: Grid, journey: Journey, *, delta: float, timeout: float = 3600.0) -> Arrival:
    """Take the model from owner to owner, and return the last one with its account.

    Call it in the main function of a ``ServerApp``. Owners are visited in the order of their node ids, which say
    nothing about their records. If an owner does not answer within ``timeout`` seconds, fails, or answers anything but
    the step that was asked for, then :class:`~dobrushin.NoGuaranteeError` is raised. There is no model then and no
    certificate, because whether an owner fails may depend on what they hold. No owner is asked for a step twice.
    """
    journey.against_public(delta).certificate()  # If there is none, nobody is asked.
    owners = _owners(grid, journey, timeout)
    model = np.zeros(journey.dimension)
    journal: list[Stop] = []
    for number in range(1, journey.steps + 1):
        owner = owners[(number - 1) % journey.owners]
        message = Message(
            _content(model, number, journey),
            dst_node_id=owner,
            message_type=MessageType.TRAIN,
            ttl=timeout,
            group_id=str(number),
        )
        model, stop = _answer(grid.send_and_receive([message], timeout=timeout), owner, number, journey)
        journal.append(stop)
    # The last model is rounded, towards 0 to stay in the ball, so that the last digits of the noise say nothing.
    unit = journey.noise * 2.0**-20
    return Arrival(np.trunc(model / unit) * unit, certify(journal, delta), tuple(journal))


def certify(journal: Sequence[Stop], delta: float) -> Report:
    """Account for what was done according to a journal; there is no guarantee if that is not one whole journey.

    >>> journey = Journey(owners=2, dimension=3, learning_rate=0.5, gradient_noise=4.0, radius=2.0)
    >>> print(f"{certify([Stop(1, 70, journey), Stop(2, 71, journey)], 1e-5).epsilon:.3f}")
    1.730
    >>> certify([Stop(1, 70, journey), Stop(2, 70, journey)], 1e-5)
    Traceback (most recent call last):
    ...
    dobrushin.errors.NoGuaranteeError: an owner took a step out of turn
    """
    if len({stop.journey for stop in journal}) != 1:
        raise NoGuaranteeError("the steps are not those of one journey")
    journey = journal[0].journey
    if [stop.number for stop in journal] != list(range(1, journey.steps + 1)):
        raise NoGuaranteeError(f"{len(journal)} of {journey.steps} steps were taken, or in another order")
    owners = [stop.owner for stop in journal]
    if len(set(owners)) != journey.owners or owners != owners[: journey.owners] * journey.passes:
        raise NoGuaranteeError("an owner took a step out of turn")
    return journey.against_public(delta)


_STATE = "dobrushin.flower"


def _content(model: Vector, number: int, journey: Journey) -> RecordDict:
    """A message and its answer look the same: a model, the number of the step, and what a step is."""
    return RecordDict({"model": ArrayRecord([model]), "step": ConfigRecord({"number": number, **asdict(journey)})})


def _read(message: Message, journey: Journey) -> tuple[Vector, int]:
    """The model and the number of the step, if the message is one about this journey."""
    records = message.content
    if set(records.array_records) != {"model"} or set(records.config_records) != {"step"} or records.metric_records:
        raise InvalidInputError("the message has other records than a model and a step")
    step = dict(records.config_records["step"])
    number = step.pop("number", None)
    if step != asdict(journey):
        raise InvalidInputError("the message is about another journey")
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= journey.steps:
        raise InvalidInputError(f"there is no step {number!r} in this journey")
    arrays = records.array_records["model"].to_numpy_ndarrays()
    if len(arrays) != 1 or arrays[0].shape != (journey.dimension,) or arrays[0].dtype != np.float64:
        raise InvalidInputError(f"the model is not one of {journey.dimension} parameters of double precision")
    model: Vector = arrays[0]
    if not np.linalg.norm(model) <= journey.radius:
        raise InvalidInputError(f"the model is not in the ball of norm {journey.radius}")
    return model, number


def _steps_taken(context: Context) -> list[int]:
    record = context.state.config_records.get(_STATE)
    return [] if record is None else [int(number) for number in _list(record["taken"])]


def _noisy_step(model: Vector, journey: Journey, features: npt.ArrayLike, labels: npt.ArrayLike) -> Vector:
    rows = _signed_rows(journey, features, labels)
    gradient = -(rows * (0.5 - 0.5 * np.tanh(rows @ model / 2))[:, np.newaxis]).mean(axis=0)
    # The noise goes to the gradient first: whatever the model is, all that follows is computed from their sum.
    noisy = gradient + journey.gradient_noise * _gaussian(journey.dimension)
    return _shorten(np.atleast_2d(model - journey.learning_rate * noisy), journey.radius).ravel()


def _signed_rows(journey: Journey, features: npt.ArrayLike, labels: npt.ArrayLike) -> Vector:
    """The rows times their labels of 1 or −1, no longer than was agreed on; a row that cannot be used is 0."""
    nothing = np.zeros((1, journey.dimension))
    try:
        rows, classes = np.asarray(features, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        _log.warning("your rows are not numbers, so all of them count as empty")
        return nothing
    if rows.ndim != 2 or rows.shape[1] != journey.dimension or classes.shape != rows.shape[:1]:
        _log.warning(
            "your rows do not have %d columns and a label each, so all of them count as empty", journey.dimension
        )
        return nothing
    if not len(rows):
        return nothing
    usable = np.isfinite(rows).all(axis=1) & np.isfinite(classes)
    rows = np.where(usable[:, np.newaxis], np.clip(rows, -1e100, 1e100), 0.0)
    signs = np.where(classes > 0, 1.0, -1.0)[:, np.newaxis]
    return _shorten(signs * rows, journey.row_norm)


def _shorten(rows: Vector, norm: float) -> Vector:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    shortened: Vector = rows * (norm * _ROOM / np.maximum(lengths, norm * _ROOM))
    return shortened


def _gaussian(dimension: int) -> Vector:
    """Standard Gaussian noise from the operating system's source.

    Each number is half the sum of four, because the last digits of a single draw would tell how it was drawn.
    """
    draw = random.SystemRandom().normalvariate
    return np.array([sum(draw() for _ in range(4)) / 2 for _ in range(dimension)])


def _owners(grid: Grid, journey: Journey, timeout: float) -> list[int]:
    deadline = time.monotonic() + timeout
    while len(owners := sorted(grid.get_node_ids())) < journey.owners and time.monotonic() < deadline:
        time.sleep(0.2)
    if len(owners) != journey.owners:
        raise NoGuaranteeError(f"{len(owners)} owners are connected, but the journey is one to {journey.owners}")
    return owners


def _answer(replies: Iterable[Message], owner: int, number: int, journey: Journey) -> tuple[Vector, Stop]:
    """The new model; why an owner failed is not repeated, because it may depend on what they hold."""
    answers = list(replies)
    if len(answers) != 1 or answers[0].has_error() or answers[0].metadata.src_node_id != owner:
        raise NoGuaranteeError(f"step {number} was not taken: its owner gave no answer, so there is nothing to release")
    try:
        model, taken = _read(answers[0], journey)
    except InvalidInputError as error:
        raise NoGuaranteeError(f"step {number} was not taken as agreed: {error}") from error
    if taken != number:
        raise NoGuaranteeError(f"step {number} was asked for, but its owner took step {taken}")
    return model, Stop(taken, owner, journey)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("this is not a list")
    return value
