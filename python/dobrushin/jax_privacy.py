"""Accountants for ``jax_privacy``, with proved answers and hidden states.

:class:`HiddenStateAccountantConfig` takes the place of ``PldAccountantConfig`` or ``RdpAccountantConfig``. The answer
is about the same, but it is proved:

>>> from jax_privacy import accounting
>>> from dobrushin.jax_privacy import HiddenStateAccountantConfig, HiddenStateTrainingAccountant
>>> params = accounting.DpParams(noise_multipliers=4.0, num_samples=30_162, batch_size=512, delta=1e-6)
>>> accountant = accounting.DpsgdTrainingAccountant(dp_accountant_config=HiddenStateAccountantConfig())
>>> round(accountant.compute_epsilon(11_800, params), 3)
2.108

:class:`HiddenStateTrainingAccountant` takes the place of ``DpsgdTrainingAccountant`` if only the last model is
released. You tell it what you know about the training:

>>> accountant = HiddenStateTrainingAccountant(
...     learning_rate=2.0, clip_norm=1.0, weight_decay=0.02, convex=True, smoothness=0.25, generalised_linear=True
... )
>>> round(accountant.compute_epsilon(11_800, params), 3)
0.24
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from dp_accounting import NeighboringRelation  # type: ignore[import, unused-ignore]
from jax_privacy import accounting  # type: ignore[import, unused-ignore]

from dobrushin import Run, account
from dobrushin.accounting import HiddenStateAccountant
from dobrushin.errors import InvalidInputError

__all__ = ["HiddenStateAccountantConfig", "HiddenStateTrainingAccountant"]


@dataclasses.dataclass(kw_only=True, slots=True)
class HiddenStateAccountantConfig(accounting.DpAccountantConfig):  # type: ignore[misc]
    """The configuration of a :class:`~dobrushin.accounting.HiddenStateAccountant`.

    >>> HiddenStateAccountantConfig().create_accountant().neighboring_relation.name
    'ADD_OR_REMOVE_ONE'
    """

    neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE
    tolerance: float = 1e-4

    def create_accountant(self) -> HiddenStateAccountant:
        """A new accountant."""
        return HiddenStateAccountant(self.neighboring_relation, self.tolerance)


class HiddenStateTrainingAccountant(accounting.DpTrainingAccountant):  # type: ignore[misc]
    """The ε of DP-SGD of which only the last model is released.

    The keywords are what ``DpParams`` does not say: keys of a run file, such as ``learning_rate``, ``clip_norm``,
    ``weight_decay``, ``convex``, ``smoothness`` and ``diameter``. Nothing is claimed about what you leave out.

    The optimiser must be plain SGD, without momentum or Adam. The account of :meth:`run` lists everything that must hold.

    The answer is for add-or-remove-one neighbours with ``SamplingMethod.POISSON``, and for replace-one neighbours with
    ``FIXED_BATCH_SIZE``, as ``jax_privacy`` says. The noise must be on the sum of the clipped gradients. The sum must
    be divided by ``batch_size``, also if another number of records was drawn.
    """

    def __init__(self, *, clip_norm: float, **facts: Any) -> None:
        super().__init__(HiddenStateAccountantConfig())
        self._facts = {"release": "last", "clip_norm": clip_norm, **facts}

    def can_calibrate_steps(self) -> bool:
        """It can."""
        return True

    def can_calibrate_batch_size(self) -> bool:
        """It can."""
        return True

    def can_calibrate_noise_multipliers(self) -> bool:
        """It can."""
        return True

    def run(self, num_updates: int, dp_params: accounting.DpParams) -> Run:
        """The run that is accounted for.

        >>> params = accounting.DpParams(noise_multipliers=1.0, num_samples=1000, batch_size=10, delta=1e-6)
        >>> HiddenStateTrainingAccountant(clip_norm=1.0).run(5, params).to_dict()["run"]["order"]
        'poisson'
        """
        self._validate_dp_params(dp_params)
        poisson = dp_params.sampling_method is accounting.SamplingMethod.POISSON
        return Run(
            algorithm="dp-sgd",
            records=dp_params.num_samples,
            batch_size=dp_params.batch_size,
            steps=int(num_updates),
            order="poisson" if poisson else "without-replacement",
            neighbours="add-or-remove-one" if poisson else "replace-one",
            noise_multiplier=float(dp_params.noise_multipliers),
            **self._facts,
        )

    def _compute_epsilon(self, num_updates: int, dp_params: accounting.DpParams) -> float:
        return float(account(self.run(num_updates, dp_params), delta=dp_params.delta))

    def _validate_dp_params(self, dp_params: accounting.DpParams) -> None:
        super()._validate_dp_params(dp_params)
        unsupported = {
            "noise_multipliers": isinstance(dp_params.noise_multipliers, Sequence),
            "batch_size_scale_schedule": bool(dp_params.batch_size_scale_schedule),
            "examples_per_user": dp_params.examples_per_user not in (None, 1),
            "cycle_length": dp_params.cycle_length not in (None, 1),
            "truncated_batch_size": dp_params.truncated_batch_size is not None,
        }
        for name in (name for name, refused in unsupported.items() if refused):
            raise InvalidInputError(
                f"{name} is {getattr(dp_params, name)}, which HiddenStateTrainingAccountant does not support"
            )
