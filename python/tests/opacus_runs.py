"""Runs with Opacus that the tests of dobrushin.opacus share."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

import dobrushin as db
from dobrushin.opacus import HiddenStateAccountant, PrivateTraining, make_private

FEATURES = 4
LOGISTIC = {"convex": True, "smoothness": 0.25, "generalised_linear": True}


def people(count: int = 200) -> TensorDataset:
    """Rows of norm 1, and what is to be predicted."""
    generator = torch.Generator().manual_seed(1)
    rows = nn.functional.normalize(torch.randn(count, FEATURES, generator=generator))
    return TensorDataset(rows, (rows[:, 0] > 0).float())


def loader(dataset: Dataset[Any] | None = None, **options: Any) -> DataLoader[Any]:
    return DataLoader(people() if dataset is None else dataset, **({"batch_size": 20} | options))


def model() -> nn.Linear:
    """Logistic regression that starts at 0."""
    linear = nn.Linear(FEATURES, 1, bias=False)
    nn.init.zeros_(linear.weight)
    return linear


def sgd(module: nn.Module, **options: Any) -> torch.optim.SGD:
    return torch.optim.SGD(module.parameters(), **({"lr": 0.5} | options))


def private(
    *, module: nn.Module | None = None, data: DataLoader[Any] | None = None, rate: float = 0.5, **options: Any
) -> PrivateTraining:
    """A private run, with whatever differs from the usual one."""
    module = module or model()
    usual = {"records": 200, "clip_norm": 1.0, "noise_multiplier": 1.0, "steps": 30} | LOGISTIC
    return make_private(module, sgd(module, lr=rate), loader() if data is None else data, **(usual | options))


def losses(training: PrivateTraining, rows: Tensor, labels: Tensor) -> Tensor:
    scores = training.module(rows).squeeze(1)
    return nn.functional.binary_cross_entropy_with_logits(scores, labels, reduction="none")


def train(training: PrivateTraining, steps: int = 10**9) -> None:
    """Makes this many steps, or all that are left."""
    while training.steps_left and steps > 0:
        for rows, labels in training.data_loader:
            training.step(losses(training, rows, labels))
            steps -= 1
            if steps == 0:
                return


def weights(training: PrivateTraining) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in training.optimizer.params])


def refused(words: str) -> Any:
    """An error of ours that has these words."""
    return pytest.raises(db.InvalidInputError, match=words)


def counted(*history: tuple[float, float, int]) -> HiddenStateAccountant:
    accountant = HiddenStateAccountant()
    accountant.history = list(history)
    return accountant
