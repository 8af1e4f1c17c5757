# mypy: disable-error-code="import-untyped,import-not-found"
# mypy: allow-subclassing-any
"""The accountant."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

import torch
from opacus.accountants import IAccountant
from opacus.optimizers import DPOptimizer
from torch import Tensor

from dobrushin import Report, Run, account
from dobrushin._opacus.checks import refused

_OTHER_LOADERS = (
    'for other loaders, describe the run to dobrushin.account with order="shuffled", "without-replacement" or "allocation"'
)


class HiddenStateAccountant(IAccountant):
    """An accountant for Opacus that never reports less than the truth.

    Opacus makes one for ``PrivacyEngine(accountant="hidden-state")``. It then knows nothing about the loss, and counts
    the composition of Gaussian mechanisms on Poisson samples, for neighbours of which one has a record more. The
    accountant of :func:`make_private` is given the run that is carried out, and credits that iterates are hidden.

    >>> accountant = HiddenStateAccountant()
    >>> for _ in range(100):
    ...     accountant.step(noise_multiplier=2.0, sample_rate=0.01)
    >>> len(accountant)
    100
    """

    def __init__(self, run: Run | None = None) -> None:
        super().__init__()
        #: Noise multiplier, sample rate and number of steps, as in Opacus's own accountants.
        self.history: list[tuple[float, float, int]] = []
        self._announced = run
        self._plan = None if run is None else run.to_dict()
        self._sizes = _BatchSizes()
        self._warned = False

    @classmethod
    def mechanism(cls) -> str:
        """The name by which Opacus knows this accountant."""
        return "hidden-state"

    def __len__(self) -> int:
        return sum(count for _, _, count in self.history)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Counts one step.

        Raises:
            InvalidInputError: The step is not one of the run that was announced, or its numbers make no sense.
        """
        made = _entry((noise_multiplier, sample_rate, 1))
        self._check_announced([*self.history, made])
        if self.history and self.history[-1][:2] == made[:2]:
            made = (*made[:2], self.history.pop()[2] + 1)
        self.history.append(made)

    @property
    def run(self) -> Run:
        """The run that was made so far; composition if nothing is known about it.

        Raises:
            InvalidInputError: No step was made yet, or a step had no noise.
        """
        made = len(self)
        if made == 0 or self._lacks_noise():
            raise refused("there is nothing to account for: no step was made yet, or a step had no noise")
        if self._announced is None or self._plan is None:
            mechanisms = [
                {"kind": "gaussian", "noise-multiplier": noise, "count": count}
                | ({"sampling": "poisson", "sampling-probability": rate} if rate < 1 else {})
                for noise, rate, count in self.history
            ]
            return Run(algorithm="composition", neighbours="add-or-remove-one", mechanism=mechanisms)
        rates = self._plan["update"]["learning-rate"]
        return self._announced.replace(steps=made, learning_rate=rates[:made] if isinstance(rates, list) else rates)

    def report(self, delta: float) -> Report:
        """The account of the steps so far, by every analysis."""
        return account(self.run, delta=delta)

    def get_epsilon(self, delta: float, *, poisson: bool = True, **_: Any) -> float:
        """The guaranteed ε at this δ, if the parameters are released now, and were not released before.

        Args:
            delta: The δ.
            poisson: Whether batches are Poisson samples, as for Opacus's "gdp". No others are accounted for.
            _: Options of other accountants, which Opacus passes on. They have no meaning here.
        """
        if not poisson:
            raise refused("only Poisson batches are accounted for here", _OTHER_LOADERS)
        if self._announced is None and not self._warned:
            self._warned = True
            warnings.warn(self.explanation, stacklevel=2)
        if not self.history:
            return 0.0
        return math.inf if self._lacks_noise() else self.report(delta).epsilon

    @property
    def explanation(self) -> str:
        """Whether this accountant can credit that iterates are hidden."""
        if self._announced is None:
            return (
                "Hiding gains nothing here: nothing is known about the loss, and nothing keeps the parameters together. "
                "So ε is that of composition, and every iterate may be published. If the loss is convex, or the "
                "parameters stay in a small ball, dobrushin.opacus.make_private may prove a smaller ε."
            )
        return (
            "Every step is the one that dobrushin.opacus.make_private announced, and only the last iterate is released."
        )

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[DPOptimizer], None]:
        """What Opacus calls in each step, after the noise and before the parameters change."""

        def hook(optimizer: DPOptimizer) -> None:
            if optimizer.accumulated_iterations != 1:
                raise refused(
                    "the gradients of several batches were added up for one step, and a record may be in more than one",
                    "make a step after each batch, or let Opacus's BatchMemoryManager split large batches",
                )
            if self._sizes.contradict_sampling(optimizer, sample_rate):
                raise refused(
                    "the batches do not vary in size as Poisson batches do, so this ε would not hold",
                    "use the loader that make_private of Opacus returns, with poisson_sampling=True; " + _OTHER_LOADERS,
                )
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=_rate_of_opacus(sample_rate))

        return hook

    def state_dict(self, destination: MutableMapping[str, Any] | None = None) -> MutableMapping[str, Any]:
        """The history, and the run that was announced, for a checkpoint."""
        state: MutableMapping[str, Any] = {} if destination is None else destination
        state.update(mechanism=self.mechanism(), history=list(self.history), run=self._plan)
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues where a checkpoint was written.

        An accountant to which no run was announced takes over any history, and counts composition.

        Raises:
            InvalidInputError: The state is broken, of another accountant, or of another run than was announced.
        """
        for key in ("mechanism", "history"):
            if not state_dict or key not in state_dict:
                raise refused(f"this is not the state of an accountant: it has no {key!r}")
        if state_dict["mechanism"] != self.mechanism():
            raise refused(f"this is the state of the accountant {state_dict['mechanism']!r}, not {self.mechanism()!r}")
        history = [_entry(entry) for entry in state_dict["history"]]
        if self._plan is not None and state_dict.get("run") != self._plan:
            raise refused("this is a checkpoint of another run")
        self._check_announced(history)
        self.history = history

    def _lacks_noise(self) -> bool:
        return any(noise == 0 for noise, _, _ in self.history)

    def _check_announced(self, history: Sequence[tuple[float, float, int]]) -> None:
        """Refuses a history that is not one of the run that was announced."""
        if self._plan is None:
            return
        run, noise = self._plan["run"], self._plan["update"]["noise-multiplier"]
        steps, rate = run["steps"], rate_of(self._plan)
        if any(entry[:2] != (noise, rate) for entry in history) or sum(entry[2] for entry in history) > steps:
            raise refused(f"the run that was announced has {steps} steps, noise multiplier {noise}, sample rate {rate}")


def rate_of(plan: Mapping[str, Any]) -> float:
    """The sample rate by which the steps of a run are counted.

    Allocated batches are not Poisson samples of any rate. An accountant that knows only the history counts them as steps
    with all records. That is never too little: whatever the places of a record, each of them is one of these steps, and
    divergences are jointly convex, so they do not grow if places are drawn at random.
    """
    run = plan["run"]
    return 1.0 if run["order"] == "allocation" else run["batch-size"] / run["records"]


def _entry(entry: Sequence[float]) -> tuple[float, float, int]:
    """An entry of a history: noise multiplier, sample rate, number of steps."""
    try:
        noise, rate, count = float(entry[0]), float(entry[1]), int(entry[2])
        is_valid = 0 <= noise < math.inf and 0 < rate <= 1 and count >= 1 and (noise, rate, count) == tuple(entry)
    except (TypeError, ValueError, OverflowError, LookupError):
        is_valid = False
    if not is_valid:
        raise refused(
            f"steps of DP-SGD cannot have these (noise multiplier, sample rate, number of steps): {entry}",
            "the noise multiplier is at least 0, the sample rate is a probability above 0, and there is a step",
        )
    return noise, rate, count


def _rate_of_opacus(rate: float) -> float:
    """The rate at which Opacus's loader draws: it compares with multiples of 2⁻²⁴, so it draws a little too often."""
    nearest = float(torch.tensor(rate, dtype=torch.float32))
    return min(math.ceil(nearest * 2**24) / 2**24, 1.0)


class _BatchSizes:
    """Whether the sizes of the batches so far can be those of Poisson batches.

    Whatever came before, a Poisson batch is as large as the one before it with probability at most
    p = 1/√(2e·variance), a bound on every binomial probability (Herzog 1947). So if we multiply ½/p for each batch that
    is, and ½/(1 − p) for each that is not, the product ever exceeds 10⁹ with probability at most 10⁻⁹ (Ville). For
    batches of a fixed size it does within about twenty steps.
    """

    def __init__(self) -> None:
        self._previous: int | None = None
        self._evidence = 0.0

    def contradict_sampling(self, optimizer: DPOptimizer, sample_rate: float) -> bool:
        """Looks at the batch of the step that is being made."""
        gradients = getattr(optimizer.params[0], "grad_sample", None)
        if optimizer._is_last_step_skipped or not isinstance(gradients, Tensor):
            # The batch came in parts, or has no gradient for each record: its size is not known here.
            self._evidence = -math.inf
            return False
        variance = (optimizer.expected_batch_size or 0) * (1 - sample_rate)
        probability = 1 / math.sqrt(2 * math.e * variance) if variance > 0 else 1.0
        if self._previous is not None and probability < 0.25:
            same = len(gradients) == self._previous
            self._evidence += math.log(0.5 / (probability if same else 1 - probability))
        self._previous = len(gradients)
        return self._evidence > math.log(1e9)
