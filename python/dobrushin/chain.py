"""Chains: one record's view of a noisy iteration, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from dobrushin.errors import InvalidInputError
from dobrushin.questions import account
from dobrushin.report import Report, _number
from dobrushin.run import Run

__all__ = ["Branch", "Chain", "Step"]


@dataclass(frozen=True)
class Step:
    """Equal consecutive steps W ← Π(ψ(W) + noise) of an iteration, as one record sees them.

    Every number must hold for all data sets and both neighbours.
    """

    iterate_noise: float
    """The standard deviation of Gaussian noise, or the scale of Laplace noise."""
    count: int | Literal["any"] = 1
    """How many there are; ``"any"``, in the last entry, asks for a guarantee for every number."""
    modulus: Sequence[tuple[float, float]] = ()
    """Lines (c, o): points z apart are at most c·z + o apart after the same update. None: nothing is known."""
    displacement: float = 0.0
    """How far the update moves, at most, if the record is replaced or left out."""
    participation: float | Literal["always", "never"] | None = None
    """The probability that a step uses the record; if it is left out, always if there is a displacement."""
    noise: Literal["gaussian", "laplace"] = "gaussian"
    """Laplace noise is for one dimension."""
    diameter: float | None = None
    """The diameter of the set to which these steps project, if that is smaller than the domain."""

    def _section(self) -> dict[str, Any]:
        used = self.participation not in (0, "never") and (self.displacement != 0 or self.participation is not None)
        return {
            "count": self.count,
            "noise": self.noise,
            "iterate-noise": self.iterate_noise,
            "modulus": [list(line) for line in self.modulus] or None,
            "displacement": self.displacement if used else None,
            "participation": self.participation,
            "diameter": self.diameter,
        }


class Chain:
    """The steps of a noisy iteration as one record sees them, and what is known about where the iterates are.

    ``release`` is ``"last"``, ``"random-stop"`` or ``"all"``; ``diameter`` and ``dimension`` are those of the domain, and
    ``start_distance`` and ``start_divergence`` say how far apart the two runs start.

    >>> import dobrushin as db
    >>> used = db.Step(1.0, modulus=[(1.0, 0.0)], displacement=2.0)
    >>> later = db.Step(1.0, count=3, modulus=[(1.0, 0.0)])
    >>> report = db.Chain([used, later]).account(epsilon=1.0)
    >>> print(f"{report.delta:.5f}")        # as if there were √4 times as much noise
    0.12694
    """

    __slots__ = ("diameter", "dimension", "release", "start_distance", "start_divergence", "steps")

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        release: Literal["last", "random-stop", "all"] = "last",
        diameter: float | None = None,
        dimension: int | None = None,
        start_distance: float | None = None,
        start_divergence: float | Sequence[tuple[float, float]] | None = None,
    ) -> None:
        self.steps: tuple[Step, ...] = tuple(steps)
        """The steps."""
        if not all(isinstance(step, Step) for step in self.steps):
            raise InvalidInputError("steps has an entry that is no dobrushin.Step", "steps=[db.Step(1.0, displacement=2.0)]")
        self.release: str = release
        self.diameter = diameter
        self.dimension = dimension
        self.start_distance = start_distance
        self.start_divergence = start_divergence

    def to_run(self) -> Run:
        """The run with ``algorithm = "chain"`` that says the same."""
        start = self.start_divergence
        sections: Mapping[str, Any] = {
            "run": {
                "algorithm": "chain",
                "release": self.release,
                "start-distance": self.start_distance,
                "start-divergence": start if start is None or isinstance(start, int | float) else [list(p) for p in start],
            },
            "domain": {"diameter": self.diameter, "dimension": self.dimension},
            "step": [step._section() for step in self.steps],
        }
        return Run(sections)

    def account(self, *, epsilon: float | None = None, delta: float | None = None, **wishes: Any) -> Report:
        """How private the release is; see :func:`dobrushin.account`."""
        return account(self.to_run(), epsilon=epsilon, delta=delta, **wishes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chain) and self.to_run() == other.to_run()

    def __hash__(self) -> int:
        return hash(self.to_run())

    def __repr__(self) -> str:
        return f"<Chain: {len(self.steps)} kinds of steps>"


class Branch(NamedTuple):
    """One of the chains among which a run chooses at random, in secret."""

    weight: float
    """Its probability. If all weights add up to less than 1, the record may not be used at all."""
    chain: Chain
    stops: int | None
    """If the chain stops at random, the number of its last steps after which it may stop, all equally likely."""


def branches(views: str) -> list[list[Branch]]:
    """The chains of each view, from their data."""
    return [[_branch(data) for data in view] for view in json.loads(views)]


def _branch(data: dict[str, Any]) -> Branch:
    start = data["start_divergence"]
    chain = Chain(
        [_step(step) for step in data["steps"]],
        release="last" if data["stops"] is None else "random-stop",
        diameter=data["diameter"],
        dimension=data["dimension"],
        start_distance=data["start_distance"],
        start_divergence=None if start is None else [(_number(e), _number(d)) for e, d in start],
    )
    return Branch(_number(data["weight"]), chain, data["stops"])


def _step(data: dict[str, Any]) -> Step:
    words: dict[float, Literal["always", "never"]] = {0.0: "never", 1.0: "always"}
    return Step(
        iterate_noise=_number(data["iterate_noise"]),
        count=data["count"],
        modulus=tuple((_number(c), _number(o)) for c, o in data["modulus"]),
        displacement=_number(data["displacement"]) if data["participation"] else 0.0,
        participation=words.get(data["participation"], data["participation"]),
        noise=data["noise"],
        diameter=data["diameter"],
    )
