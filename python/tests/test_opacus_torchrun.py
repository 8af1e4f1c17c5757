"""examples/opacus/train.py under ``torchrun --nproc-per-node 2``, as a user runs it, with gloo on this machine.

test_opacus_ddp.py says which run several processes make. Here it is the script that is watched: what it releases, which
records it looks at, how much noise is in its steps, and what there is if a process dies.
"""

from __future__ import annotations

import json
import math
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("CI") != "true":
    pytest.importorskip("opacus")

import numpy as np
import torch

import dobrushin as db

TESTS = Path(__file__).resolve().parent
SCRIPT = TESTS.parents[1] / "examples" / "opacus" / "train.py"
RECORDS, BATCH, EPOCHS = 500, 20, 10
STEPS = EPOCHS * RECORDS // BATCH
NOISE, DECAY, RATE = 2.0, 0.05, 1.0
ORDERS = ["poisson", "allocation"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
# A normal number is further from 0 than this with probability 10⁻⁹: how often a statistical test here fails by chance.
RARE = 6.11


def script(*command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(db.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    # One thread for each process, as torchrun itself proposes, and no other interface than loopback.
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def spied(folder: Path, moment: str, *words: str) -> subprocess.CompletedProcess[str]:
    return script(
        *TORCHRUN, str(TESTS / "opacus_spied.py"), str(SCRIPT), str(folder), moment, "--out", str(folder / "released"), *words
    )  # fmt: skip


class Trained:
    """A run in two processes, and what each of them did in each step."""

    def __init__(self, folder: Path, order: str) -> None:
        done = spied(folder, "never", "--order", order)
        assert done.returncode == 0, done.stderr
        self.printed = done.stdout
        self.certificate = json.loads((folder / "released" / "certificate.json").read_text())
        (self.model,) = torch.load(folder / "released" / "model.pt")
        self.folder = folder / "released"
        self.order = order
        self.processes: list[list[Any]] = [torch.load(folder / f"{rank}.pt") for rank in range(2)]

    def batches(self, rank: int) -> list[list[int]]:
        return [batch for batch, _, _ in self.processes[rank]]


@pytest.fixture(scope="module", params=ORDERS)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return Trained(tmp_path_factory.mktemp("torchrun"), request.param)


def test_the_certificate_verifies_and_the_model_is_the_one_that_both_made(trained: Trained) -> None:
    verified = script(sys.executable, "-m", "dobrushin", "verify", str(trained.folder / "certificate.json"))
    assert verified.returncode == 0, verified.stderr
    ends = [steps[-1][2] for steps in trained.processes]
    assert ends[0] == ends[1] == trained.model.flatten().tolist()
    assert sorted(path.name for path in trained.folder.iterdir()) == ["certificate.json", "model.pt"]


def test_the_account_is_that_of_the_same_script_in_one_process(
    trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["train.py", "--out", str(tmp_path / "alone"), "--order", trained.order])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert capsys.readouterr().out == trained.printed
    certificate = json.loads((tmp_path / "alone" / "certificate.json").read_text())
    assert certificate == trained.certificate
    run = certificate["run"]["run"]
    assert (run["records"], run["batch-size"], run["order"]) == (RECORDS, BATCH, trained.order)
    assert run["steps"] == STEPS == len(trained.processes[0]) == len(trained.processes[1])


def test_the_batches_of_both_processes_are_disjoint_shares_of_one_draw(trained: Trained) -> None:
    shares = [{place for batch in trained.batches(rank) for place in batch} for rank in range(2)]
    assert not shares[0] & shares[1]
    steps = [first + second for first, second in zip(trained.batches(0), trained.batches(1), strict=True)]
    assert all(len(set(step)) == len(step) for step in steps)
    if trained.order == "allocation":
        for first in range(0, STEPS, RECORDS // BATCH):
            used = [place for step in steps[first : first + RECORDS // BATCH] for place in step]
            assert sorted(used) == list(range(RECORDS))
        return
    # Each record is in each step with probability 1/25: uses by record, and sizes by step and process, say so.
    rate = BATCH / RECORDS
    uses = np.bincount([place for step in steps for place in step], minlength=RECORDS)
    spread = ((uses - STEPS * rate) ** 2).sum() / (STEPS * rate * (1 - rate))
    assert abs(spread - RECORDS) < RARE * math.sqrt(2 * RECORDS) + RARE**2
    assert abs(uses.sum() - STEPS * BATCH) < RARE * math.sqrt(STEPS * BATCH * (1 - rate))


def test_no_process_tells_the_draws_of_the_other(trained: Trained) -> None:
    sizes = [np.array([len(batch) for batch in trained.batches(rank)], dtype=float) for rank in range(2)]
    assert abs(np.corrcoef(sizes[0], sizes[1])[0, 1]) < RARE / math.sqrt(STEPS)


def test_the_steps_have_the_noise_of_the_certificate_once_and_fresh(trained: Trained) -> None:
    """What is left of each step when the gradients of both processes are taken away. Noise of each process, or of half
    the variance, or the same in two steps would be seen. Each of the four statements fails by chance at most twice in 10⁹ runs."""
    data = load_people()
    noises = []
    for one, other in zip(*trained.processes, strict=True):
        assert one[1] == other[1] and one[2] == other[2]
        before, after = np.array(one[1]), np.array(one[2])
        rows, labels = data[0][one[0] + other[0]], data[1][one[0] + other[0]]
        gradient = ((1 / (1 + np.exp(-rows @ before)) - labels)[:, np.newaxis] * rows).sum(axis=0)
        noises.append((BATCH / RATE) * ((1 - DECAY) * before - after) - gradient)
    noise = np.array(noises) / NOISE
    count = noise.size
    assert abs(noise.mean()) < RARE / math.sqrt(count)
    # A sum of squares of normal numbers (Laurent, Massart 2000) is this near to its mean.
    rare = math.log(2e9)
    assert -2 * math.sqrt(count * rare) < (noise**2).sum() - count < 2 * math.sqrt(count * rare) + 2 * rare
    # Given the noise of one step, its product with independent noise is normal.
    for one, other in ((noise[0::2], noise[1::2]), (noise[1:-1:2], noise[2::2])):
        assert abs((one * other).sum()) < RARE * np.linalg.norm(one)


def load_people() -> tuple[Any, Any]:
    rows = torch.nn.functional.normalize(torch.randn(RECORDS, 5, generator=torch.Generator().manual_seed(0)))
    return rows.double().numpy(), (rows[:, 0] > 0).double().numpy()


@pytest.mark.parametrize("moment", ["middle", "end"])
def test_if_a_process_dies_there_is_no_certificate_and_no_model(moment: str, tmp_path: Path) -> None:
    done = spied(tmp_path, moment)
    assert done.returncode != 0
    assert "SIGKILL" in done.stderr or "Signal 9" in done.stderr
    assert not (tmp_path / "released").exists()
    assert not list(tmp_path.rglob("certificate.json"))
