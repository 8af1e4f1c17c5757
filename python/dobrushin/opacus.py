# mypy: disable-error-code="import-untyped,import-not-found"
"""Opacus with hidden iterates: an accountant, and training that is what its certificate says.

``import dobrushin.opacus`` registers an accountant, so that ``opacus.PrivacyEngine(accountant="hidden-state")`` works.
By itself an accountant sees noise multipliers and sample rates only. That is not enough to credit that iterates stay
secret, so it counts composition, with rigorous rounding.

:func:`make_private` knows more. It is told what the loss is like, and it makes the update that the account is about:

    w ← w₀ + Π((1 − λ)·(w − w₀) − (η/b)·(Σ clipped gradients + noise))

Here w₀ is the start, λ the weight decay, Π the projection to a ball, η the learning rate and b the batch size. The noise
has standard deviation m·C in each coordinate, where m is the noise multiplier and C the clip norm. Clipping and noise
are Opacus's own. Whatever would make another update is refused before the parameters change.
"""

from __future__ import annotations

from opacus.accountants import register_accountant

from dobrushin._opacus.accountant import HiddenStateAccountant
from dobrushin._opacus.allocation import AllocationSampler
from dobrushin._opacus.training import PrivateTraining, make_private

__all__ = ["AllocationSampler", "HiddenStateAccountant", "PrivateTraining", "make_private"]

register_accountant(HiddenStateAccountant.mechanism(), HiddenStateAccountant, force=True)
