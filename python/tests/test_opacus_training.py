"""dobrushin.opacus.make_private: a run is what its certificate says."""

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
from opacus.accountants.utils import get_noise_multiplier
from opacus.utils.batch_memory_manager import BatchMemoryManager
from opacus_runs import FEATURES, counted, loader, losses, model, people, private, refused, train, weights
from torch import nn
from torch.utils.data import Dataset, TensorDataset

import dobrushin as db
from dobrushin.opacus import HiddenStateAccountant, PrivateTraining, make_private

#: Opacus warns of its generator in every run, and PyTorch of Opacus's hooks.
pytestmark = pytest.mark.filterwarnings("ignore")

# What a run does, and what is certified.


def one_parameter_data(count: int = 50) -> TensorDataset:
    generator = torch.Generator().manual_seed(3)
    return TensorDataset(
        torch.rand(count, 1, generator=generator) * 2 - 1, torch.rand(count, generator=generator) * 4 - 2
    )


@pytest.mark.parametrize("start", [0.0, 1.25])
@pytest.mark.parametrize("radius", [None, 0.05])
def test_each_step_of_one_parameter_is_the_certified_one(start: float, radius: float | None) -> None:
    """Every step is recomputed from the batch that was drawn, in a different way, with the noise that was drawn."""
    module = nn.Linear(1, 1, bias=False).double()
    nn.init.constant_(module.weight, start)
    data = TensorDataset(*(tensor.double() for tensor in one_parameter_data().tensors))
    noise = torch.Generator().manual_seed(7)
    same_noise = torch.Generator().manual_seed(7)
    training = private(
        module=module,
        data=loader(data, batch_size=8),
        records=60,
        steps=200,
        rate=0.2,
        weight_decay=0.03,
        radius=radius,
        clip_norm=0.7,
        noise_multiplier=1.3,
        smoothness=1.0,
        noise_generator=noise,
    )
    run = training.run.to_dict()
    rate, decay = run["update"]["learning-rate"], run["update"]["weight-decay"]
    clip, multiplier = run["update"]["clip-norm"], run["update"]["noise-multiplier"]
    divisor = run["run"]["batch-size"]
    assert (rate, decay, clip, multiplier, divisor) == (0.2, 0.03, 0.7, 1.3, 8)
    w, projected, clipped, empty = start, 0, 0, 0
    while training.steps_left:
        for rows, labels in training.data_loader:
            training.step((training.module(rows).squeeze(1) - labels).square() / 2)
            total = 0.0
            for x, y in zip(rows.flatten().tolist(), labels.tolist(), strict=True):
                gradient = (w * x - y) * x
                clipped += abs(gradient) > clip
                total += max(-clip, min(clip, gradient))
            total += (
                multiplier * clip * float(torch.normal(0.0, 1.0, (1, 1), generator=same_noise, dtype=torch.float64))
            )
            moved = (1 - decay) * (w - start) - rate / divisor * total
            if radius is not None:
                projected += abs(moved) > radius
                moved = max(-radius, min(radius, moved))
            empty += len(rows) == 0
            w = start + moved
            # Opacus clips by C/(norm + 10⁻⁶), and the projection leaves 10⁻⁶ of the radius.
            assert float(module.weight) == pytest.approx(w, abs=1e-5)
            w = float(module.weight)
    assert clipped > 100
    assert radius is None or projected > 20
    assert len(training.accountant) == 200


def test_the_run_that_is_certified_says_what_was_asked_for() -> None:
    training = private(weight_decay=0.01, radius=2.0, epochs=3, steps=None)
    assert training.run.to_dict() == {
        "run": {
            "algorithm": "dp-sgd",
            "records": 200,
            "batch-size": 20,
            "steps": 30,
            "order": "poisson",
            "release": "last",
            "neighbours": "add-or-remove-one",
        },
        "update": {"learning-rate": 0.5, "clip-norm": 1.0, "noise-multiplier": 1.0, "weight-decay": 0.01},
        "loss": {"convex": True, "smoothness": 0.25, "generalised-linear": True},
        "domain": {"diameter": 4.0, "dimension": FEATURES},
    }


def test_hiding_pays_for_logistic_regression_with_decay_and_the_certificate_holds() -> None:
    training = private(steps=200, weight_decay=0.2)
    train(training)
    report = training.report(1e-5)
    assert report.published is not None
    assert report.epsilon < report.published / 2
    assert report.published == pytest.approx(counted((1.0, 0.1, 200)).get_epsilon(1e-5), rel=1e-4)
    assert report.epsilon == db.account(training.run, delta=1e-5).epsilon == training.accountant.get_epsilon(1e-5)
    assert db.verify(training.certificate(1e-5))


def test_the_account_during_the_run_is_of_the_steps_so_far() -> None:
    training = private(steps=40)
    epsilons = []
    for _ in range(3):
        train(training, steps=10)
        epsilons.append(training.report(1e-5).epsilon)
    assert epsilons[0] < epsilons[1] < epsilons[2]
    assert epsilons[1] == db.account(training.run.replace(steps=20), delta=1e-5).epsilon
    with refused("10 of 40 steps are left"):
        training.certificate(1e-5)


def test_a_target_is_met_with_less_noise_than_composition_needs() -> None:
    training = private(noise_multiplier=None, epsilon=1.0, delta=1e-5, steps=200, weight_decay=0.2)
    assert 0.99 <= db.account(training.run, delta=1e-5).epsilon <= 1.0
    assert training.optimizer.noise_multiplier == training.run.to_dict()["update"]["noise-multiplier"]
    needed = get_noise_multiplier(
        target_epsilon=1.0, target_delta=1e-5, sample_rate=0.1, steps=200, accountant="hidden-state"
    )
    assert training.optimizer.noise_multiplier < needed / 1.5


def test_a_network_gains_nothing_and_gets_composition() -> None:
    module = nn.Sequential(nn.Linear(FEATURES, 8), nn.Tanh(), nn.Linear(8, 1))
    training = private(module=module, convex=False, smoothness=None, generalised_linear=False)
    train(training)
    report = training.report(1e-5)
    assert report.guarantee is not None and report.guarantee.analysis == "composition"
    assert report.epsilon == pytest.approx(counted((1.0, 0.1, 30)).get_epsilon(1e-5), rel=1e-4)


def test_batches_are_poisson_batches() -> None:
    """Each record is drawn with the rate, independently: the counts and the sizes vary as they should."""
    training = private(steps=4000, records=250)
    batches = [batch for _ in range(200) for batch in _drawn(training)]
    sizes = np.array([len(batch) for batch in batches])
    assert training._batches.sample_rate == pytest.approx(20 / 250, rel=1e-15)
    n, p, count = 200, 20 / 250, len(sizes)
    assert abs(sizes.mean() - n * p) < 6 * math.sqrt(n * p * (1 - p) / count)
    assert abs(sizes.var() / (n * p * (1 - p)) - 1) < 6 * math.sqrt(2 / count)
    uses = np.bincount(np.concatenate(batches), minlength=n)
    assert np.abs(uses - count * p).max() < 6 * math.sqrt(count * p * (1 - p))
    assert all(len(set(batch)) == len(batch) for batch in batches)


def _drawn(training: PrivateTraining) -> list[list[int]]:
    training._batches.unused.clear()
    return list(training._batches)


def test_the_rate_is_never_above_the_one_that_is_accounted_for() -> None:
    for records in (3, 7, 93, 1000, 60_000):
        for batch_size in (1, 2, 3):
            training = private(data=loader(people(3), batch_size=batch_size), records=records)
            rate = training._batches.sample_rate
            assert rate * 2**53 == int(rate * 2**53)
            assert int(rate * 2**53) * records <= batch_size * 2**53


def test_one_record_more_changes_neither_rate_nor_divisor_nor_length() -> None:
    """Opacus's issue 819: its divisor and its rate depend on the number of records, which neighbours differ in."""
    one, other = (private(data=loader(people(count)), records=210) for count in (199, 200))
    for training in (one, other):
        assert training.optimizer.expected_batch_size == 20
        assert len(training.data_loader) == 11
    assert one.run == other.run
    assert one._batches.sample_rate == other._batches.sample_rate


def test_an_empty_batch_gets_noise_and_counts() -> None:
    training = private(data=loader(people(3), batch_size=1), records=3000, steps=50)
    seen = 0
    for rows, labels in training.data_loader:
        before = weights(training)
        training.step(losses(training, rows, labels))
        if len(rows) == 0:
            seen += 1
            assert rows.shape == (0, FEATURES)
            assert (weights(training) != before).all()
    assert seen > 40
    assert len(training.accountant) == 50


def test_empty_batches_of_any_shape_look_like_the_others() -> None:
    class Named(Dataset[dict[str, Any]]):
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> dict[str, Any]:
            return {"row": torch.zeros(FEATURES), "label": 1.0}

    training = private(data=loader(Named(), batch_size=1), records=10_000, steps=2)
    batch = next(iter(training.data_loader))
    assert batch["row"].shape == (0, FEATURES) and batch["label"].shape == (0,)


def test_noise_and_batches_do_not_repeat_with_the_seed_of_the_script() -> None:
    batches, ends = [], []
    for _ in range(2):
        torch.manual_seed(0)
        batches.append(_drawn(private()))
        # A batch is all records here, so that runs differ in their noise alone.
        training = private(data=loader(batch_size=200), steps=3)
        train(training)
        ends.append(weights(training))
    assert batches[0] != batches[1]
    assert not torch.equal(ends[0], ends[1])


def test_the_ball_is_kept_also_by_rounded_numbers() -> None:
    for start, radius in [(0.0, 1e-3), (1.0, 1e-3), (1000.0, 1e-3), (1.0, 1e-9)]:
        module = model()
        nn.init.constant_(module.weight, start)
        training = private(module=module, radius=radius, steps=20)
        train(training)
        assert float((module.weight.detach().double() - start).norm()) <= radius


def test_all_trained_parameters_are_in_one_ball_and_frozen_ones_stay() -> None:
    module = nn.Sequential(nn.Linear(FEATURES, 3), nn.Linear(3, 2), nn.Linear(2, 1))
    for parameter in module[0].parameters():
        parameter.requires_grad_(False)
    start = [parameter.detach().clone() for parameter in module.parameters()]
    optimizer = torch.optim.SGD([{"params": module[:2].parameters()}, {"params": module[2].parameters()}], lr=0.5)
    training = make_private(
        module, optimizer, loader(), records=200, clip_norm=1.0, noise_multiplier=2.0, steps=20, radius=0.01
    )
    train(training)
    now = list(module.parameters())
    assert all(torch.equal(a, b) for a, b in zip(now[:2], start[:2], strict=True))
    offsets = torch.cat([(a.detach() - b).flatten().double() for a, b in zip(now[2:], start[2:], strict=True)])
    assert 0.0099 < float(offsets.norm()) <= 0.01
    assert training.run.to_dict()["domain"]["dimension"] == len(offsets) == 11


def test_a_schedule_is_carried_out_and_certified() -> None:
    rates = [0.5 / (1 + step) for step in range(12)]
    training = private(steps=12, learning_rates=rates, weight_decay=0.05)
    seen = []
    for rows, labels in training.data_loader:
        training.step(losses(training, rows, labels))
        seen.append(training.optimizer.param_groups[0]["lr"])
    train(training)
    assert seen == rates[: len(seen)]
    assert training.run.to_dict()["update"]["learning-rate"] == rates
    assert training.report(1e-5).epsilon == db.account(training.run, delta=1e-5).epsilon
    with refused("3 learning rates, but 4 steps"):
        private(steps=4, learning_rates=[0.1, 0.1, 0.1])


def test_a_gradient_that_is_not_finite_counts_as_none() -> None:
    """Opacus would make every parameter NaN, and so tell that such a record is there."""
    rows, labels = people().tensors
    rows = rows.clone()
    rows[:100, 0] = math.inf
    rows[100:150, 1] = math.nan
    training = private(data=loader(TensorDataset(rows, labels)))
    train(training)
    assert weights(training).isfinite().all()


# The ordinary loop of Opacus, and what else is allowed.


def test_an_ordinary_loop_of_opacus_makes_the_same_run() -> None:
    ends = []
    for by_hand in (False, True):
        training = private(noise_generator=torch.Generator().manual_seed(5), steps=10, data=loader(batch_size=200))
        for _ in range(10):
            for rows, labels in training.data_loader:
                values = losses(training, rows, labels)
                if by_hand:
                    training.optimizer.zero_grad()
                    values.mean().backward()
                    training.optimizer.step()
                else:
                    training.step(values)
        ends.append(weights(training))
    # The batches are all records, because the rate is 1.
    assert torch.allclose(ends[0], ends[1], atol=1e-6)


def test_a_batch_in_parts_is_one_step() -> None:
    training = private(steps=20)
    parts = 0
    with BatchMemoryManager(
        data_loader=training.data_loader, max_physical_batch_size=6, optimizer=training.optimizer
    ) as batches:
        while training.steps_left:
            for rows, labels in batches:
                assert len(rows) <= 6
                training.step(losses(training, rows, labels))
                parts += 1
    assert parts > 40
    assert len(training.accountant) == 20
    assert training.certificate(1e-5)


def test_workers_draw_ahead_and_the_batches_are_still_those_of_the_steps() -> None:
    training = private(data=loader(num_workers=1), steps=15)
    train(training)
    assert training.certificate(1e-5)


def test_the_loader_ends_with_the_run() -> None:
    training = private(steps=13)
    lengths = []
    for _ in range(4):
        lengths.append(0)
        for rows, labels in training.data_loader:
            training.step(losses(training, rows, labels))
            lengths[-1] += 1
    assert lengths == [10, 3, 0, 0]


def test_a_pass_may_be_left_early() -> None:
    training = private(steps=20)
    next(iter(training.data_loader))
    train(training, steps=3)
    train(training)
    assert training.certificate(1e-5)


def test_drop_last_and_shuffle_mean_nothing_because_batches_are_drawn() -> None:
    for options in ({"drop_last": True}, {"shuffle": True}, {"shuffle": True, "drop_last": True}):
        training = private(data=loader(people(199), **options), records=199)
        assert len(training.data_loader) == 10
        assert training._batches.num_samples == 199


def test_secure_mode_of_opacus_gives_noise_and_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = types.ModuleType("torchcsprng")
    secure = torch.Generator().manual_seed(11)
    stand_in.create_random_device_generator = lambda _: secure  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torchcsprng", stand_in)
    training = private(secure_mode=True, steps=10)
    assert training.optimizer.generator is secure and training.optimizer.secure_mode
    assert training._batches.generator is secure
    train(training)
    assert training.certificate(1e-5)


# Checkpoints.


def test_a_checkpoint_continues_the_run_exactly(tmp_path: Path) -> None:
    module = model()
    nn.init.constant_(module.weight, 0.5)
    first = private(module=module, weight_decay=0.3, radius=0.2)
    train(first, steps=12)
    torch.save(first.state_dict(), tmp_path / "checkpoint.pt")
    second = private(weight_decay=0.3, radius=0.2)
    second.load_state_dict(torch.load(tmp_path / "checkpoint.pt"))
    assert torch.equal(weights(second), weights(first))
    assert second.accountant.history == [(1.0, 0.1, 12)]
    train(second)
    assert second.steps_left == 0
    # The ball is still around the start of the first process.
    assert float((weights(second) - 0.5).norm()) <= 0.2
    assert second.certificate(1e-5)


def test_a_checkpoint_is_not_changed_by_what_comes_later() -> None:
    training = private()
    train(training, steps=5)
    state = training.state_dict()
    saved = state["module"]["_module.weight"].clone()
    train(training, steps=5)
    assert torch.equal(state["module"]["_module.weight"], saved)
    assert state["accountant"]["history"] == [(1.0, 0.1, 5)]
    training.load_state_dict(state)
    assert len(training.accountant) == 5 and torch.equal(weights(training), saved.flatten())
    train(training)
    assert training.certificate(1e-5)


def test_nothing_is_left_of_a_batch_in_parts_that_was_begun_before_a_checkpoint_was_loaded() -> None:
    training = private(noise_multiplier=1e-9, clip_norm=1.0)
    start = training.state_dict()
    with BatchMemoryManager(
        data_loader=training.data_loader, max_physical_batch_size=3, optimizer=training.optimizer
    ) as batches:
        rows, labels = next(iter(batches))
        training.step(losses(training, rows, labels))
    assert len(training.accountant) == 0
    training.load_state_dict(start)
    rows, labels = next(iter(training.data_loader))
    expected = -0.5 / 20 * torch.sum((0.5 - labels).unsqueeze(1) * rows, dim=0)
    training.step(losses(training, rows, labels))
    assert torch.allclose(weights(training), expected, atol=1e-5)


@pytest.mark.parametrize("other", [{"noise_multiplier": 2.0}, {"steps": 31}, {"weight_decay": 0.1}, {"records": 201}])
def test_a_checkpoint_of_another_run_is_refused(other: dict[str, Any]) -> None:
    training = private(**other)
    train(training, steps=3)
    fresh = private()
    before = weights(fresh)
    with refused("another run"):
        fresh.load_state_dict(training.state_dict())
    assert torch.equal(weights(fresh), before) and len(fresh.accountant) == 0


def test_the_history_of_an_uncertified_run_is_not_certified_later() -> None:
    with refused("another run"):
        private().accountant.load_state_dict(counted((1.0, 0.1, 5)).state_dict())


def test_the_history_of_a_certified_run_alone_is_counted_as_composition() -> None:
    training = private(steps=50, weight_decay=0.2)
    train(training)
    bare = HiddenStateAccountant()
    bare.load_state_dict(training.accountant.state_dict())
    assert bare.get_epsilon(1e-5) == pytest.approx(training.report(1e-5).published, rel=1e-4)
