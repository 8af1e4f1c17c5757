# mypy: disable-error-code="import-untyped,import-not-found"
"""What the update needs: plain SGD, processes that agree, and fresh randomness."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence

import torch
from opacus.distributed import DifferentiallyPrivateDistributedDataParallel
from torch import Tensor, nn

from dobrushin.errors import InvalidInputError

_MEMORY = "momentum remembers earlier gradients, and analyses of hidden iterates need steps without a memory"

#: What SGD must not do, by the names of its parameters, and why not.
FORBIDDEN: Mapping[str, str] = {
    "momentum": _MEMORY,
    "nesterov": _MEMORY,
    "weight_decay": "give make_private weight_decay = learning rate × this number, and give SGD none",
    "maximize": "the loss would be maximised",
}


def plain_sgd(optimizer: torch.optim.Optimizer, *, scheduled: bool) -> torch.optim.SGD:
    """Refuses optimizers whose update is not w − η·gradient, with the same η for all parameters."""
    if type(optimizer) is not torch.optim.SGD:
        raise refused(
            f"the optimizer is {type(optimizer).__name__}, but only the update of torch.optim.SGD is accounted for",
            'use SGD, or let PrivacyEngine(accountant="hidden-state") of Opacus count composition',
        )
    for group in optimizer.param_groups:
        for key, advice in FORBIDDEN.items():
            if group[key]:
                raise refused(f"SGD has {key}={group[key]}, which is not the update that is accounted for", advice)
    if not scheduled and len({float(group["lr"]) for group in optimizer.param_groups}) > 1:
        raise refused("the parameter groups have different learning rates, but only one is accounted for")
    return optimizer


def trained_by(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """The parameters that the optimizer changes: frozen ones are left out.

    They have one precision and one device. In less than single precision, rounding would swallow the noise.
    """
    trained = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]
    kinds = {(parameter.dtype, parameter.device) for parameter in trained}
    if len(kinds) != 1 or kinds.pop()[0] not in (torch.float32, torch.float64):
        raise refused("the trained parameters must all have single, or all double precision, and be on one device")
    return trained


class World:
    """The processes that train together; one, unless the module says otherwise."""

    def __init__(self, module: nn.Module) -> None:
        self.rank, self.size = 0, 1
        if isinstance(module, DifferentiallyPrivateDistributedDataParallel):
            self.rank, self.size = torch.distributed.get_rank(), torch.distributed.get_world_size()
        elif torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1:
            raise refused(
                "this is one of several processes, and each would make a run of its own",
                "wrap the module in Opacus's DifferentiallyPrivateDistributedDataParallel; no other wrapper is supported",
            )

    def agree(self, value: object, what: str) -> None:
        """Refuses to go on if the processes have different values."""
        values = [value] * self.size
        if self.size > 1:
            torch.distributed.all_gather_object(values, value)
        if any(other != value for other in values):
            raise refused(f"the processes do not {what}")


def fresh_generator(device: torch.device) -> torch.Generator:
    """A generator with a seed from the operating system, so that no seed of the script repeats noise or batches."""
    return torch.Generator(device).manual_seed(secrets.randbits(63))


def digest(tensors: Sequence[Tensor]) -> str:
    """A fingerprint of numbers."""
    fingerprint = hashlib.sha256()
    for tensor in tensors:
        fingerprint.update(tensor.detach().cpu().numpy().tobytes())
    return fingerprint.hexdigest()


def refused(message: str, advice: str | None = None) -> InvalidInputError:
    """The error for whatever is not accounted for."""
    return InvalidInputError(message, help=advice)
