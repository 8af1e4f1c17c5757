"""Logistic regression in several processes, with a model and a certificate at the end, or neither.

    torchrun --nproc-per-node 2 examples/opacus/train.py --out released
    dobrushin verify released/certificate.json

Every process holds all records and draws from its own share of them. The processes together make the run of one.
"""

import argparse
import os
import shutil
from pathlib import Path

import torch
from opacus.distributed import DifferentiallyPrivateDistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from dobrushin.opacus import PrivateTraining, make_private

RECORDS, FEATURES, DELTA = 500, 5, 1e-5


def main() -> None:
    """Train, and let the first process write what is released."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True, help="a folder that does not exist yet")
    parser.add_argument("--order", choices=["poisson", "allocation"], default="poisson")
    arguments = parser.parse_args()
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}.items():
        os.environ.setdefault(name, value)  # torchrun sets these; without it, there is one process
    torch.distributed.init_process_group("gloo")

    training = private(arguments.order)
    train(training)
    release(training, arguments.out)
    torch.distributed.destroy_process_group()


def people() -> TensorDataset:
    """Records that are made up for this example; every process must hold the same ones, in the same order."""
    rows = torch.nn.functional.normalize(torch.randn(RECORDS, FEATURES, generator=torch.Generator().manual_seed(0)))
    return TensorDataset(rows, (rows[:, 0] > 0).float())


def private(order: str) -> PrivateTraining:
    """Ten passes of 25 steps, from 0. Noise and batches are drawn from the operating system's randomness."""
    model = torch.nn.Linear(FEATURES, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    model = DifferentiallyPrivateDistributedDataParallel(model)
    return make_private(
        model,
        torch.optim.SGD(model.parameters(), lr=1.0),
        DataLoader(people(), batch_size=20),
        records=RECORDS,
        clip_norm=1.0,
        noise_multiplier=2.0,
        epochs=10,
        order=order,
        convex=True,
        smoothness=0.25,
        generalised_linear=True,
        weight_decay=0.05,
    )


def train(training: PrivateTraining) -> None:
    """Make all steps."""
    loss = torch.nn.BCEWithLogitsLoss(reduction="none")
    while training.steps_left:
        for rows, labels in training.data_loader:
            training.step(loss(training.module(rows).squeeze(1), labels))


def release(training: PrivateTraining, out: Path) -> None:
    """Write the model and its certificate. Both are there, or neither.

    All processes ask for the certificate, since it compares their models: if one of them died, there is none.
    """
    certificate = training.certificate(DELTA)
    if torch.distributed.get_rank() != 0:
        return
    unfinished = out.with_name(f"{out.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    certificate.save(unfinished / "certificate.json")
    torch.save([parameter.detach() for parameter in training.optimizer.params], unfinished / "model.pt")
    unfinished.rename(out)
    print(str(training.report(DELTA)).splitlines()[0])


if __name__ == "__main__":
    main()
