"""The accountant of federated averaging."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from flwr.serverapp import GaussianPrivacyEvent, NeighboringRelation, PrivacyConfig, PrivacySpent, SamplingMethod

from dobrushin import Report, Run, account
from dobrushin._numbers import is_number
from dobrushin.errors import InvalidInputError


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
        if not is_number(delta) or not 0 < delta < 1:
            raise InvalidInputError(f"delta is {delta!r}, but it must be between 0 and 1")
        return self._epsilon(self._released, delta)

    def get_delta(self, epsilon: float) -> float:
        """The δ of everything that was released, at ``epsilon``."""
        if not is_number(epsilon) or epsilon < 0:
            raise InvalidInputError(f"epsilon is {epsilon!r}, but it must be a number from 0 on")
        return float(account(self.run, epsilon=epsilon, floor=False)) if self._released else 0.0

    def get_privacy_spent(self, delta: float | None = None) -> PrivacySpent:
        """The same as ``get_epsilon``, in Flower's words; the δ is that of the configuration unless you give one."""
        delta = self._config.target_delta if delta is None else delta
        return PrivacySpent(self.get_epsilon(delta), delta, self.num_releases, "dobrushin")

    def would_exceed(self, event: GaussianPrivacyEvent, max_epsilon: float | None = None, count: int = 1) -> bool:
        """Whether ``count`` releases more would spend more than ``max_epsilon``; nothing is counted."""
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None or not is_number(limit) or limit <= 0:
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


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("this is not a list")
    return value
