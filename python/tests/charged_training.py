"""A training program of a team: it charges the people in its run to the team's ledger, trains, and commits.

    python charged_training.py LEDGER OUT [wait]

With ``wait`` it stops when everything is reserved, until it is killed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

import dobrushin as db
from dobrushin.opacus import PrivateTraining, make_private

PEOPLE, DELTA = 40, 1e-6


def training() -> PrivateTraining:
    rows = torch.nn.functional.normalize(torch.randn(PEOPLE, 3, generator=torch.Generator().manual_seed(0)))
    model = torch.nn.Linear(3, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    return make_private(
        model,
        torch.optim.SGD(model.parameters(), lr=0.5),
        DataLoader(TensorDataset(rows, (rows[:, 0] > 0).float()), batch_size=8),
        records=PEOPLE,
        clip_norm=1.0,
        noise_multiplier=3.0,
        steps=30,
        convex=True,
        smoothness=0.25,
        generalised_linear=True,
    )


def main(ledger: str, out: str, *words: str) -> None:
    run = training()
    names = [f"p{place}" for place in range(PEOPLE)]
    reservation = db.Ledger(ledger).reserve(names, run=run.run, what="a model")
    if "wait" in words:
        print("reserved", flush=True)
        time.sleep(600)
    loss = torch.nn.BCEWithLogitsLoss(reduction="none")
    while run.steps_left:
        for batch, labels in run.data_loader:
            run.step(loss(run.module(batch).squeeze(1), labels))
    certificate = run.certificate(DELTA)
    Path(out).mkdir()
    certificate.save(Path(out) / "certificate.json")
    torch.save(run.optimizer.params, Path(out) / "model.pt")
    reservation.commit()


if __name__ == "__main__":
    main(*sys.argv[1:])
