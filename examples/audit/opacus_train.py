"""Linear regression by Opacus, for `dobrushin audit --command`: many models, one line of parameters for each.

    python opacus_train.py DATA.csv OUT.csv RUNS SEED [--noise-multiplier 1.5]

DATA.csv has two features and a target in each row. Each model makes ten steps of DP-SGD on Poisson batches of half of the rows, and
opacus.toml is the run that it claims to be. The seed makes an audit repeatable: a model that you release must not have one.
"""

from __future__ import annotations

import argparse
import csv
import warnings

import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 5  # of two batches each


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("runs", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--noise-multiplier", type=float, default=1.5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)
    rows = torch.tensor([[float(cell) for cell in row] for row in list(csv.reader(open(given.data)))[1:]])
    data = TensorDataset(rows[:, :2], rows[:, 2:])
    with open(given.out, "w") as out:
        for _ in range(given.runs):
            out.write(",".join(f"{one:.9g}" for one in trained(data, given.noise_multiplier)) + "\n")


def trained(data: TensorDataset, noise_multiplier: float) -> list[float]:
    """The parameters of one model."""
    model = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    model, optimizer, loader = PrivacyEngine(accountant="rdp").make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=DataLoader(data, batch_size=len(data) // 2),
        noise_multiplier=noise_multiplier,
        max_grad_norm=1.0,
    )
    for _ in range(EPOCHS):
        for features, targets in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(features), targets).backward()
            optimizer.step()
    return [float(one) for parameter in model.parameters() for one in parameter.detach().flatten()]


if __name__ == "__main__":
    main()
