"""Runs examples/opacus/train.py as one of several processes, and writes down what it does, or kills it.

    torchrun --nproc-per-node 2 opacus_spied.py TRAIN.py FOLDER MOMENT [what train.py is told]

The moment is "never", "middle" or "end": then the second process dies, in the middle of the run or before the certificate.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset, TensorDataset

from dobrushin.opacus import PrivateTraining


class Spied(Dataset[Any]):
    """Records that remember when they are looked at."""

    def __init__(self, records: TensorDataset) -> None:
        self.records = records
        self.looked_at: list[int] = []

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, place: int) -> Any:
        self.looked_at.append(place)
        return self.records[place]


def main(script: str, folder: str, moment: str, *words: str) -> None:
    rank = int(os.environ["RANK"])
    spec = importlib.util.spec_from_file_location("train", script)
    assert spec is not None and spec.loader is not None
    train = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(train)
    people = Spied(train.people())
    train.people = lambda: people
    begin, step, certificate = train.private, PrivateTraining.step, PrivateTraining.certificate
    seen: list[tuple[list[int], list[float], list[float]]] = []

    def private(order: str) -> PrivateTraining:
        training: PrivateTraining = begin(order)
        people.looked_at.clear()
        return training

    def spied_step(training: PrivateTraining, losses: Tensor) -> None:
        dies_if(rank == 1 and moment == "middle" and len(training.accountant) == 30)
        (parameter,) = training.optimizer.params
        before = parameter.detach().flatten().tolist()
        step(training, losses)
        seen.append((people.looked_at.copy(), before, parameter.detach().flatten().tolist()))
        people.looked_at.clear()

    def spied_certificate(training: PrivateTraining, delta: float) -> Any:
        dies_if(rank == 1 and moment == "end")
        torch.save(seen, Path(folder) / f"{rank}.pt")
        return certificate(training, delta)

    train.private = private
    PrivateTraining.step = spied_step  # type: ignore[method-assign]
    PrivateTraining.certificate = spied_certificate  # type: ignore[method-assign]
    sys.argv = [script, *words]
    train.main()


def dies_if(condition: bool) -> None:
    if condition:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
