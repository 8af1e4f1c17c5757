"""How a model travels from owner to owner, what that is worth, and what is released at the end."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dobrushin import Report, Run, account
from dobrushin._numbers import is_number
from dobrushin.errors import InvalidInputError, NoGuaranteeError

Vector = npt.NDArray[np.float64]


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
            if not is_number(value) or not 1e-50 <= value <= 1e50:
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
    """One step as the owner who took it reports it: its number, the name of the owner's logbook, and the journey."""

    number: int
    owner: str
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


def certify(journal: Sequence[Stop], delta: float) -> Report:
    """Account for what was done according to a journal; there is no guarantee if that is not one whole journey.

    >>> journey = Journey(owners=2, dimension=3, learning_rate=0.5, gradient_noise=4.0, radius=2.0)
    >>> print(f"{certify([Stop(1, '7a', journey), Stop(2, '1c', journey)], 1e-5).epsilon:.3f}")
    1.730
    >>> certify([Stop(1, "7a", journey), Stop(2, "7a", journey)], 1e-5)
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
