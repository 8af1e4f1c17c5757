"""dobrushin.opacus with order="allocation": every record draws one batch of each pass."""

from __future__ import annotations

import math
import os
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if os.environ.get("CI") != "true":
    pytest.importorskip("opacus")

import torch
from opacus.utils.batch_memory_manager import BatchMemoryManager
from opacus_runs import loader, losses, people, private, refused, train, weights
from scipy.stats import chi2
from torch.utils.data import DataLoader

import dobrushin as db
from dobrushin.opacus import AllocationSampler, HiddenStateAccountant, PrivateTraining

#: Opacus warns of its generator in every run, and PyTorch of Opacus's hooks.
pytestmark = pytest.mark.filterwarnings("ignore")


def allocated(**options: Any) -> PrivateTraining:
    return private(order="allocation", **options)


def places(batches: list[list[int]], records: int) -> list[int]:
    """The batch of each record."""
    found = {record: place for place, batch in enumerate(batches) for record in batch}
    return [found[record] for record in range(records)]


def surprise(counts: np.ndarray[Any, Any]) -> float:
    """How likely equally likely cells are to differ as much as these (Pearson's χ²)."""
    expected = counts.sum() / counts.size
    assert expected >= 20
    return float(chi2.sf(((counts - expected) ** 2).sum() / expected, counts.size - 1))


# The sampler.


@pytest.mark.parametrize(("records", "batch_size", "public"), [(10, 3, 10), (200, 20, 210), (3, 1, 50), (7, 7, 7)])
def test_every_record_is_in_one_batch_of_each_pass(records: int, batch_size: int, public: int) -> None:
    sampler = AllocationSampler(range(records), batch_size, records=public)
    for _ in range(20):
        batches = list(sampler)
        assert len(batches) == len(sampler) == math.ceil(public / batch_size)
        assert sorted(record for batch in batches for record in batch) == list(range(records))


@pytest.mark.parametrize("seed", [2, None])
def test_places_are_uniform_and_independent(seed: int | None) -> None:
    """Each of these tests refuses a right sampler with probability 10⁻⁹; the seed decides once, the system every time.

    Equal batches of a shuffle fail: two records are in the same batch too rarely.
    """
    records, batches, passes = 6, 3, 4000
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    sampler = AllocationSampler(range(records), 2, records=records, generator=generator)
    drawn = np.array([places(list(sampler), records) for _ in range(passes)])
    for record in range(records):
        assert surprise(np.bincount(drawn[:, record], minlength=batches)) > 1e-9
        later = drawn[:-1, record] * batches + drawn[1:, record]
        assert surprise(np.bincount(later, minlength=batches**2)) > 1e-9
        for other in range(record):
            pair = drawn[:, record] * batches + drawn[:, other]
            assert surprise(np.bincount(pair, minlength=batches**2)) > 1e-9
    together = drawn @ batches ** np.arange(records)
    # 4000 passes are few for 729 cells: only the first four records.
    assert surprise(np.bincount(together % batches**4, minlength=batches**4)) > 1e-9


def test_the_test_of_independence_refuses_a_shuffle_in_equal_batches() -> None:
    generator = np.random.default_rng(1)
    drawn = np.array([generator.permutation(6) // 2 for _ in range(4000)])
    assert surprise(np.bincount(drawn[:, 0] * 3 + drawn[:, 1], minlength=9)) < 1e-9


def test_words_that_would_favour_a_batch_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """2⁶² is 1 modulo 3, so the last word would be a fourth chance of the first batch."""
    sampler = AllocationSampler(range(2), 1, records=3)
    words = iter([[2**62 - 1, 5], [4]])
    monkeypatch.setattr(sampler, "_words", lambda count: torch.tensor(next(words)))
    assert list(sampler) == [[], [1], [0]]


def test_choices_do_not_repeat_with_the_seed_of_the_script() -> None:
    drawn = []
    for _ in range(2):
        torch.manual_seed(0)
        drawn.append(list(AllocationSampler(range(200), 20, records=200)))
    assert drawn[0] != drawn[1]
    seeded = [
        list(AllocationSampler(range(200), 20, records=200, generator=torch.Generator().manual_seed(0)))
        for _ in range(2)
    ]
    assert seeded[0] == seeded[1]


def test_one_record_more_changes_neither_the_number_of_batches_nor_the_places_of_others() -> None:
    one, other = (
        list(AllocationSampler(range(count), 20, records=210, generator=torch.Generator().manual_seed(4)))
        for count in (199, 200)
    )
    assert len(one) == len(other) == 11
    assert one == [[record for record in batch if record != 199] for batch in other]


def test_a_pass_that_was_left_is_not_drawn_again() -> None:
    sampler = AllocationSampler(range(200), 20, records=200)
    next(iter(sampler))
    with refused("left before its end"):
        next(iter(sampler))


@pytest.mark.parametrize(("count", "batch_size", "records"), [(5, 0, 5), (5, 6, 5), (6, 2, 5)])
def test_a_sampler_needs_batches_and_a_number_that_is_not_exceeded(count: int, batch_size: int, records: int) -> None:
    with refused(f"records is {records}, batch_size is {batch_size} and there are {count} records"):
        AllocationSampler(range(count), batch_size, records=records)


def test_a_plain_loader_takes_the_sampler() -> None:
    data = people()
    batches = DataLoader(data, batch_sampler=AllocationSampler(range(len(data)), 20, records=200))
    rows = torch.cat([rows for rows, _ in batches])
    assert torch.equal(rows.sort(dim=0).values, data.tensors[0].sort(dim=0).values)


# Training.


def test_the_account_is_that_of_the_run_file_and_the_certificate_holds() -> None:
    training = allocated(steps=None, epochs=4, convex=False, smoothness=None, generalised_linear=False)
    train(training)
    plan = training.run.to_dict()["run"]
    assert plan["order"] == "allocation" and plan["steps"] == 40
    described = db.Run(
        algorithm="dp-sgd",
        records=200,
        batch_size=20,
        epochs=4,
        order="allocation",
        neighbours="add-or-remove-one",
        clip_norm=1.0,
        noise_multiplier=1.0,
        learning_rate=0.5,
    )
    assert training.report(1e-5).epsilon == training.accountant.get_epsilon(1e-5)
    assert training.report(1e-5).epsilon == db.account(described, delta=1e-5).epsilon
    assert db.verify(training.certificate(1e-5))


def test_the_account_during_the_run_is_of_the_steps_so_far_also_within_a_pass() -> None:
    training = allocated(steps=40)
    epsilons = []
    for steps in (5, 10, 10):
        train(training, steps=steps)
        epsilons.append(training.report(1e-5).epsilon)
        made = training.run.replace(steps=len(training.accountant))
        assert epsilons[-1] == db.account(made, delta=1e-5).epsilon
    assert epsilons[0] < epsilons[1] < epsilons[2]


def test_a_target_is_met() -> None:
    training = allocated(noise_multiplier=None, epsilon=1.0, delta=1e-5, epochs=2, steps=None)
    assert 0.99 <= db.account(training.run, delta=1e-5).epsilon <= 1.0
    assert training.optimizer.noise_multiplier == training.run.to_dict()["update"]["noise-multiplier"]


def test_every_record_is_used_once_in_each_pass_of_a_run() -> None:
    training = allocated(steps=None, epochs=3)
    whole = people().tensors[0].sort(dim=0).values
    for _ in range(3):
        seen = []
        for rows, labels in training.data_loader:
            seen.append(rows)
            training.step(losses(training, rows, labels))
        assert len(seen) == 10
        assert len({len(rows) for rows in seen}) > 1
        assert torch.equal(torch.cat(seen).sort(dim=0).values, whole)
    assert training.steps_left == 0


def test_an_empty_batch_gets_noise_and_nothing_else_and_counts() -> None:
    noise, same_noise = (torch.Generator().manual_seed(9) for _ in range(2))
    training = allocated(data=loader(people(3), batch_size=1), records=50, steps=50, noise_generator=noise)
    empty = 0
    for rows, labels in training.data_loader:
        before = weights(training)
        training.step(losses(training, rows, labels))
        drawn = torch.normal(0.0, 1.0, (1, 4), generator=same_noise).flatten()
        if len(rows) == 0:
            empty += 1
            assert torch.allclose(weights(training), before - 0.5 * drawn, atol=1e-6)
    assert empty >= 47
    assert len(training.accountant) == 50


def test_the_sum_is_divided_by_the_batch_size_whatever_was_drawn() -> None:
    training = allocated(noise_multiplier=1e-9, steps=10)
    sizes = set()
    for rows, labels in training.data_loader:
        before = weights(training)
        residuals = torch.sigmoid(rows @ before) - labels
        training.step(losses(training, rows, labels))
        assert torch.allclose(weights(training), before - 0.5 / 20 * (residuals @ rows), atol=1e-6)
        sizes.add(len(rows))
    assert len(sizes) > 1


def test_a_pass_that_is_left_goes_on_where_it_was_left() -> None:
    for workers in (0, 1):
        training = allocated(data=loader(num_workers=workers), steps=20)
        seen = []
        while training.steps_left > 10:
            for rows, labels in training.data_loader:
                seen.append(rows)
                training.step(losses(training, rows, labels))
                if len(seen) % 4 == 0:
                    break
        assert torch.equal(torch.cat(seen).sort(dim=0).values, people().tensors[0].sort(dim=0).values)
        train(training)
        assert training.certificate(1e-5)


def test_two_loops_at_once_are_refused() -> None:
    training = allocated()
    first, second = iter(training.data_loader), iter(training.data_loader)
    for batches in (first, second):
        rows, labels = next(batches)
        training.step(losses(training, rows, labels))
    with refused("another one was begun"):
        next(first)


def test_a_batch_in_parts_is_one_step() -> None:
    training = allocated(steps=20)
    with BatchMemoryManager(
        data_loader=training.data_loader, max_physical_batch_size=6, optimizer=training.optimizer
    ) as batches:
        while training.steps_left:
            for rows, labels in batches:
                training.step(losses(training, rows, labels))
    assert len(training.accountant) == 20
    assert training.certificate(1e-5)


def test_skipping_empty_batches_is_refused() -> None:
    training = allocated(data=loader(people(3), batch_size=1), records=50, steps=50)
    with refused("not made with the batch"):
        for rows, labels in training.data_loader:
            if len(rows) > 0:
                training.step(losses(training, rows, labels))


def test_the_number_of_batches_must_not_change() -> None:
    training = allocated()
    train(training, steps=3)
    training._batches.batches = 5
    with refused("number of batches changed"):
        train(training, steps=1)


def test_secure_mode_of_opacus_gives_noise_and_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = types.ModuleType("torchcsprng")
    secure = torch.Generator().manual_seed(11)
    stand_in.create_random_device_generator = lambda _: secure  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torchcsprng", stand_in)
    training = allocated(secure_mode=True, steps=10)
    assert training.optimizer.generator is secure and training._batches.generator is secure
    train(training)
    assert training.certificate(1e-5)


# Checkpoints.


def test_a_checkpoint_between_passes_continues_the_run(tmp_path: Path) -> None:
    first = allocated()
    train(first, steps=10)
    torch.save(first.state_dict(), tmp_path / "checkpoint.pt")
    second = allocated()
    second.load_state_dict(torch.load(tmp_path / "checkpoint.pt"))
    train(second)
    assert second.certificate(1e-5)


def test_a_checkpoint_within_a_pass_is_refused() -> None:
    training = allocated()
    train(training, steps=13)
    with refused("3 of 10 steps of a pass are made"):
        training.state_dict()
    # Also one that was put together in another way.
    fresh = allocated()
    fresh.accountant.load_state_dict(training.accountant.state_dict())
    with refused("3 of 10 steps of a pass are made"):
        train(fresh, steps=1)


def test_places_are_drawn_anew_after_a_checkpoint_was_loaded() -> None:
    training = allocated()
    start = training.state_dict()
    drawn = []
    for _ in range(2):
        next(iter(training.data_loader))
        drawn.append(training._batches._pass)
        training.load_state_dict(start)
    assert drawn[0] != drawn[1]


def test_a_history_alone_is_never_counted_as_poisson_batches() -> None:
    """It counts as steps with all records, which is more than the truth."""
    training = allocated(steps=20)
    train(training)
    assert training.accountant.history == [(1.0, 1.0, 20)]
    bare = HiddenStateAccountant()
    bare.load_state_dict(training.accountant.state_dict())
    assert bare.get_epsilon(1e-5) > training.report(1e-5).published  # type: ignore[operator]


def test_a_checkpoint_of_poisson_batches_is_refused() -> None:
    with refused("another run"):
        allocated().load_state_dict(private().state_dict())


# What is refused.


def test_other_orders_are_refused() -> None:
    with refused("order is 'shuffled'"):
        private(order="shuffled")


def test_a_run_that_divides_by_the_size_of_the_batch_is_refused_by_the_core() -> None:
    with refused("the size of a batch tells how many records chose it"):
        allocated().run.replace(divide_by="actual").check()


# Without Opacus: the questions about a run.


def test_account_calibrate_and_curve_know_allocation() -> None:
    run = db.Run(
        algorithm="dp-sgd",
        records=10_000,
        batch_size=100,
        epochs=1,
        order="allocation",
        release="all",
        neighbours="add-or-remove-one",
        clip_norm=1.0,
        noise_multiplier=1.0,
    )
    # From the law of the mean of 100 log-normal numbers on a grid of 2²⁴ points, by Fourier transforms in double precision.
    true = {1: 0.62094, 10: 1.70150}
    for passes, epsilon in true.items():
        found = db.account(run.replace(epochs=passes), delta=1e-5).guarantee
        assert found is not None and found.epsilon.lower < epsilon < found.epsilon.upper < epsilon + 5e-4
    enough = db.calibrate(run, "noise-multiplier", epsilon=0.62094, delta=1e-5).run
    assert 1.0 < enough.to_dict()["update"]["noise-multiplier"] < 1.001
    curve = db.curve(run, {"epochs": [1, 10]}, delta=1e-5)
    assert [row["guarantee"] for row in curve._rows()] == pytest.approx(list(true.values()), abs=5e-4)
