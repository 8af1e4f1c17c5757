"""dobrushin.opacus in two processes: the run that is certified is the one that both make together."""

from __future__ import annotations

import math
import os
import re
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("CI") != "true":
    pytest.importorskip("opacus")

import torch
from opacus import PrivacyEngine
from opacus.distributed import DifferentiallyPrivateDistributedDataParallel as Distributed
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import dobrushin as db
from dobrushin.opacus import HiddenStateAccountant, PrivateTraining, make_private

PROCESSES = 2
RECORDS, BATCH, STEPS = 41, 6, 60
CLIP, NOISE, RATE, DECAY, RADIUS = 0.7, 1.3, 0.2, 0.05, 0.3


def data() -> TensorDataset:
    """One feature each, which tells the records apart."""
    return TensorDataset(
        torch.linspace(-1, 1, RECORDS).reshape(-1, 1).double(), torch.linspace(2, -2, RECORDS).double()
    )


def module(start: float = 0.25) -> nn.Module:
    linear = nn.Linear(1, 1, bias=False).double()
    nn.init.constant_(linear.weight, start)
    return linear


def private(model: nn.Module, **options: Any) -> PrivateTraining:
    usual: dict[str, Any] = {"records": RECORDS, "clip_norm": CLIP, "noise_multiplier": NOISE, "steps": STEPS}
    facts = {"convex": True, "smoothness": 1.0, "generalised_linear": True, "weight_decay": DECAY, "radius": RADIUS}
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    return make_private(model, optimizer, DataLoader(data(), batch_size=BATCH), **(usual | facts | options))


def refusal(model: nn.Module, **options: Any) -> str:
    try:
        private(model, **options)
    except db.InvalidInputError as error:
        return error.message
    return "nothing was refused"


def certified_run(rank: int) -> dict[str, Any]:
    """The run, and what this process saw of each of its steps."""
    torch.manual_seed(0)  # as scripts do, so that all processes start alike
    training = private(Distributed(module()), noise_generator=torch.Generator().manual_seed(rank))
    seen = []
    while training.steps_left:
        for rows, labels in training.data_loader:
            before = float(training.optimizer.params[0])
            training.step((training.module(rows).squeeze(1) - labels).square() / 2)
            seen.append((before, rows.flatten().tolist(), float(training.optimizer.params[0])))
    report = training.report(1e-5)
    return {
        "seen": seen,
        "share": list(training._batches._share),
        "history": training.accountant.history,
        "run": training.run.to_dict(),
        "epsilon": report.epsilon,
        "published": report.published,
        "certificate": training.certificate(1e-5).to_dict(),
    }


def allocated_run() -> dict[str, Any]:
    """Three passes, and the records that this process used in each of their steps."""
    training = private(Distributed(module()), order="allocation", steps=None, epochs=3)
    seen = []
    while training.steps_left:
        for rows, labels in training.data_loader:
            seen.append(rows.flatten().tolist())
            training.step((training.module(rows).squeeze(1) - labels).square() / 2)
    return {"seen": seen, "run": training.run.to_dict(), "certificate": training.certificate(1e-5).to_dict()}


def opacus_run() -> dict[str, Any]:
    """Opacus's own engine with our accountant."""
    engine = PrivacyEngine(accountant="hidden-state")
    model: Any = Distributed(module())
    model, optimizer, batches = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=RATE),
        data_loader=DataLoader(data(), batch_size=21),
        noise_multiplier=NOISE,
        max_grad_norm=CLIP,
    )
    for _ in range(4):
        for rows, labels in batches:
            optimizer.zero_grad()
            (model(rows).squeeze(1) - labels).square().mean().backward()
            optimizer.step()
    return {
        "history": engine.accountant.history,
        "end": float(optimizer.params[0]),
        "epsilon": engine.get_epsilon(1e-5),
    }


def different_ends(rank: int) -> str:
    training = private(Distributed(module()), steps=1)
    for rows, labels in training.data_loader:
        training.step((training.module(rows).squeeze(1) - labels).square())
    if rank == 1:
        with torch.no_grad():
            training.optimizer.params[0].add_(1)
        training._remember()
    try:
        training.certificate(1e-5)
    except db.InvalidInputError as error:
        return error.message
    return "nothing was refused"


def moved(rank: int) -> nn.Module:
    """A distributed module whose processes start apart."""
    model = Distributed(module())
    with torch.no_grad():
        model.module.weight.add_(rank)
    return model


def process(rank: int, port: int, folder: str) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    address = f"tcp://127.0.0.1:{port}"
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=PROCESSES)
    results = {
        "certified": certified_run(rank),
        "allocated": allocated_run(),
        "opacus": opacus_run(),
        "not distributed": refusal(module()),
        "other start": refusal(moved(rank)),
        "other noise": refusal(Distributed(module()), noise_multiplier=1.0 + rank),
        "other sampler": sampler_refusal(),
        "other end": different_ends(rank),
    }
    torch.save(results, Path(folder) / f"{rank}.pt")
    torch.distributed.destroy_process_group()


def sampler_refusal() -> str:
    model = Distributed(module())
    loader = DataLoader(data(), batch_size=BATCH, sampler=DistributedSampler(data()))
    try:
        make_private(
            model,
            torch.optim.SGD(model.parameters(), lr=1.0),
            loader,
            records=41,
            clip_norm=1.0,
            noise_multiplier=1.0,
            steps=1,
        )
    except db.InvalidInputError as error:
        return error.message
    return "nothing was refused"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("processes")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(process, args=(port, str(folder)), nprocs=PROCESSES)  # type: ignore[no-untyped-call]
    yield [torch.load(folder / f"{rank}.pt") for rank in range(PROCESSES)]


def test_all_processes_make_all_steps_and_end_with_the_same_parameters(results: list[dict[str, Any]]) -> None:
    runs = [result["certified"] for result in results]
    assert all(len(run["seen"]) == STEPS for run in runs)
    for first, second in zip(runs[0]["seen"], runs[1]["seen"], strict=True):
        assert (first[0], first[2]) == (second[0], second[2])


def test_the_shares_are_all_records_and_none_twice(results: list[dict[str, Any]]) -> None:
    shares = [result["certified"]["share"] for result in results]
    assert sorted(shares[0] + shares[1]) == list(range(RECORDS))


def test_each_step_is_the_certified_one_with_noise_once(results: list[dict[str, Any]]) -> None:
    """Every step is recomputed from the batches of both processes, and the noise of the first."""
    noise = torch.Generator().manual_seed(0)
    labels = dict(zip(data().tensors[0].flatten().tolist(), data().tensors[1].tolist(), strict=True))
    for one, other in zip(results[0]["certified"]["seen"], results[1]["certified"]["seen"], strict=True):
        w = one[0]
        gradients = [(w * x - labels[x]) * x for x in one[1] + other[1]]
        total = sum(max(-CLIP, min(CLIP, gradient)) for gradient in gradients)
        total += NOISE * CLIP * float(torch.normal(0.0, 1.0, (1, 1), generator=noise, dtype=torch.float64))
        offset = (1 - DECAY) * (w - 0.25) - RATE / BATCH * total
        assert one[2] == pytest.approx(0.25 + max(-RADIUS, min(RADIUS, offset)), abs=1e-5)


def test_no_two_processes_draw_alike_and_empty_batches_are_kept(results: list[dict[str, Any]]) -> None:
    sizes = [[len(batch) for _, batch, _ in result["certified"]["seen"]] for result in results]
    assert sizes[0] != sizes[1]
    assert 0 in sizes[0] + sizes[1]
    rate = BATCH / RECORDS
    expected = STEPS * BATCH
    assert abs(sum(map(sum, sizes)) - expected) < 6 * math.sqrt(expected * (1 - rate))


def test_the_account_is_that_of_one_process(results: list[dict[str, Any]]) -> None:
    for result in results:
        run = result["certified"]
        assert run["history"] == [(NOISE, BATCH / RECORDS, STEPS)]
        assert run["run"]["run"]["batch-size"] == BATCH
        report = db.account(run["run"], delta=1e-5)
        assert (run["epsilon"], run["published"]) == (report.epsilon, report.published)
        assert db.verify(run["certificate"])


def test_with_allocation_both_processes_together_use_every_record_once_in_each_pass(
    results: list[dict[str, Any]],
) -> None:
    runs = [result["allocated"] for result in results]
    steps = math.ceil(RECORDS / BATCH)
    assert [len(run["seen"]) for run in runs] == [3 * steps] * PROCESSES
    for first in range(0, 3 * steps, steps):
        used = [x for run in runs for batch in run["seen"][first : first + steps] for x in batch]
        assert sorted(used) == data().tensors[0].flatten().tolist()
    # Each process draws for its own records, and not as the other does.
    assert [len(batch) for batch in runs[0]["seen"]] != [len(batch) for batch in runs[1]["seen"]]
    assert runs[0]["run"] == runs[1]["run"] and runs[0]["run"]["run"]["order"] == "allocation"
    assert all(db.verify(run["certificate"]) for run in runs)


@pytest.mark.filterwarnings("ignore:Hiding gains nothing")
def test_opacus_itself_counts_the_same_in_every_process(results: list[dict[str, Any]]) -> None:
    runs = [result["opacus"] for result in results]
    assert runs[0] == runs[1]
    assert runs[0]["history"] == [(NOISE, 0.5, 8)]
    accountant = HiddenStateAccountant()
    accountant.history = runs[0]["history"]
    assert accountant.get_epsilon(1e-5) == runs[0]["epsilon"]


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("not distributed", "each would make a run of its own"),
        ("other start", "start the same run with the same parameters"),
        ("other noise", "start the same run with the same parameters"),
        ("other sampler", "samples in its own way"),
        ("other end", "end with the same parameters"),
    ],
)
def test_what_processes_must_not_do_is_refused_in_each(results: list[dict[str, Any]], what: str, words: str) -> None:
    for result in results:
        assert words in result[what]


def test_the_script_of_the_documentation_prints_what_it_says_in_two_processes(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "python" / "opacus.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(# train\.py\n.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert found is not None
    script = tmp_path / "train.py"
    script.write_text(found[1], encoding="utf-8")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(PROCESSES)]
    path = os.pathsep.join([str(Path(db.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*torchrun, str(script)], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == found[2]
