"""dobrushin.opacus: the accountant in Opacus's engine, and runs that are what their certificate says."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if os.environ.get("CI") != "true":
    pytest.importorskip("opacus")

import opacus
import torch
from opacus import PrivacyEngine
from opacus.accountants import PRVAccountant, RDPAccountant, create_accountant
from opacus.accountants.utils import get_noise_multiplier
from opacus.schedulers import ExponentialNoise
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import Tensor, nn
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

import dobrushin as db
from dobrushin.opacus import HiddenStateAccountant, PrivateTraining, make_private

FEATURES = 4
LOGISTIC = {"convex": True, "smoothness": 0.25, "generalised_linear": True}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Opacus warns of its own generator in every run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


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


# The accountant by itself.


def counted(*history: tuple[float, float, int]) -> HiddenStateAccountant:
    accountant = HiddenStateAccountant()
    accountant.history = list(history)
    return accountant


def test_opacus_knows_the_accountant_by_its_name() -> None:
    assert type(create_accountant("hidden-state")) is HiddenStateAccountant
    engine = PrivacyEngine(accountant="hidden-state")
    assert engine.accountant.mechanism() == "hidden-state"
    assert engine.get_epsilon(1e-5) == 0.0


def test_steps_that_are_alike_are_one_entry_and_each_counts() -> None:
    accountant = HiddenStateAccountant()
    for noise, rate in [(1.0, 0.1), (1.0, 0.1), (2.0, 0.1), (1.0, 0.1)]:
        accountant.step(noise_multiplier=noise, sample_rate=rate)
    assert accountant.history == [(1.0, 0.1, 2), (2.0, 0.1, 1), (1.0, 0.1, 1)]
    assert len(accountant) == 4


@pytest.mark.parametrize("noise", [0.7, 1.0, 3.0])
@pytest.mark.parametrize("rate", [0.001, 0.04, 1.0])
@pytest.mark.parametrize("steps", [1, 300])
def test_without_facts_it_is_the_composition_of_the_core(noise: float, rate: float, steps: int) -> None:
    run = db.Run(
        algorithm="dp-sgd",
        records=1000,
        sampling_probability=rate,
        order="poisson",
        steps=steps,
        release="all",
        neighbours="add-or-remove-one",
        clip_norm=1.0,
        noise_multiplier=noise,
    )
    expected = db.account(run, delta=1e-5).epsilon
    assert counted((noise, rate, steps)).get_epsilon(1e-5) == pytest.approx(expected, rel=1e-4)


def test_steps_that_differ_are_composed_and_cost_more_than_each_alone() -> None:
    parts = [(1.0, 0.01, 200), (2.0, 0.05, 100), (1.5, 1.0, 2)]
    together = counted(*parts).get_epsilon(1e-5)
    alone = [counted(part).get_epsilon(1e-5) for part in parts]
    assert max(alone) < together < sum(alone)
    assert counted(*reversed(parts)).get_epsilon(1e-5) == pytest.approx(together, rel=1e-4)


@pytest.mark.parametrize("entry", [(1.5, 0.04, 2250), (0.8, 0.01, 1000), (4.0, 0.2, 500)])
def test_epsilon_is_within_what_opacus_encloses_and_never_above_renyi(entry: tuple[float, float, int]) -> None:
    ours = counted(entry).get_epsilon(1e-5)
    prv, rdp = PRVAccountant(), RDPAccountant()
    prv.history = rdp.history = [entry]
    least, _, most = prv._get_dprv(eps_error=0.01, delta_error=1e-8).compute_epsilon(1e-5, 1e-8, 0.01)
    assert least <= ours <= min(most, rdp.get_epsilon(1e-5))


def test_no_step_costs_nothing_and_a_step_without_noise_everything() -> None:
    assert HiddenStateAccountant().get_epsilon(1e-5) == 0.0
    assert counted((1.0, 0.1, 5), (0.0, 0.1, 1)).get_epsilon(1e-5) == math.inf
    with refused("nothing to account for"):
        HiddenStateAccountant().report(1e-5)


@pytest.mark.parametrize(
    ("noise", "rate"), [(-1.0, 0.1), (math.nan, 0.1), (math.inf, 0.1), (1.0, 0.0), (1.0, 1.5), (1.0, math.nan)]
)
def test_numbers_that_no_step_has_are_refused(noise: float, rate: float) -> None:
    with refused("cannot have these"):
        HiddenStateAccountant().step(noise_multiplier=noise, sample_rate=rate)


@pytest.mark.parametrize("delta", [-1.0, 1.5, math.nan])
def test_a_delta_that_is_none_is_refused(delta: float) -> None:
    with pytest.raises(db.InvalidInputError):
        counted((1.0, 0.1, 5)).get_epsilon(delta)


def test_only_poisson_batches_are_accounted_for() -> None:
    assert counted((1.0, 0.1, 5)).get_epsilon(1e-5, poisson=True, eps_error=0.1) > 0
    with refused("only Poisson batches"):
        counted((1.0, 0.1, 5)).get_epsilon(1e-5, poisson=False)


def test_it_says_once_that_hiding_gains_nothing() -> None:
    accountant = counted((1.0, 0.1, 5))
    with pytest.warns(UserWarning, match="Hiding gains nothing"):
        accountant.get_epsilon(1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accountant.get_epsilon(1e-5)
    assert "composition" in accountant.explanation


def test_a_checkpoint_keeps_the_history_and_shares_nothing() -> None:
    accountant = counted((1.0, 0.1, 5), (2.0, 0.1, 1))
    state = accountant.state_dict()
    resumed = HiddenStateAccountant()
    resumed.load_state_dict(state)
    resumed.step(noise_multiplier=2.0, sample_rate=0.1)
    assert resumed.history == [(1.0, 0.1, 5), (2.0, 0.1, 2)]
    assert state["history"] == accountant.history == [(1.0, 0.1, 5), (2.0, 0.1, 1)]


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"history": []},
        {"mechanism": "hidden-state"},
        RDPAccountant().state_dict(),
        {"mechanism": "hidden-state", "history": [(1.0, 2.0, 3)]},
        {"mechanism": "hidden-state", "history": [(1.0, 0.5, 0)]},
        {"mechanism": "hidden-state", "history": [(1.0, 0.5, 1.5)]},
        {"mechanism": "hidden-state", "history": [(1.0, 0.5)]},
        {"mechanism": "hidden-state", "history": [("much", 0.5, 1)]},
        {"mechanism": "hidden-state", "history": [(1.0, 0.5, math.nan)]},
    ],
)
def test_a_state_of_something_else_is_refused_and_changes_nothing(state: dict[str, Any]) -> None:
    accountant = counted((1.0, 0.1, 5))
    with pytest.raises(db.InvalidInputError):
        accountant.load_state_dict(state)
    assert accountant.history == [(1.0, 0.1, 5)]


def test_opacus_finds_a_noise_multiplier_that_meets_the_target() -> None:
    noise = get_noise_multiplier(
        target_epsilon=2.0, target_delta=1e-5, sample_rate=0.01, steps=500, accountant="hidden-state"
    )
    assert 1.99 <= counted((noise, 0.01, 500)).get_epsilon(1e-5) <= 2.0


# The accountant in Opacus's own engine.


def engine_run(steps: int, *, original_loader: bool = False, data: DataLoader[Any] | None = None, **options: Any) -> Any:
    """Steps of an ordinary network with Opacus's make_private."""
    engine = PrivacyEngine(accountant="hidden-state")
    module: Any = nn.Sequential(nn.Linear(FEATURES, 8), nn.Tanh(), nn.Linear(8, 1))
    data = loader(shuffle=True) if data is None else data
    module, optimizer, batches = engine.make_private(
        module=module,
        optimizer=torch.optim.Adam(module.parameters()),
        data_loader=data,
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        **options,
    )
    while steps > 0:
        for rows, labels in data if original_loader else batches:
            optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(module(rows).squeeze(1), labels).backward()
            optimizer.step()
            steps -= 1
            if steps == 0:
                break
    return engine


def test_an_ordinary_network_gets_the_epsilon_of_composition() -> None:
    engine = engine_run(40)
    assert [(noise, count) for noise, _, count in engine.accountant.history] == [(1.0, 40)]
    assert engine.get_epsilon(1e-5) == pytest.approx(counted((1.0, 0.1, 40)).get_epsilon(1e-5), rel=1e-4)
    assert engine.accountant.report(1e-5).guarantee.analysis == "composition"


def test_the_rate_that_is_counted_is_the_one_at_which_opacus_draws() -> None:
    """Its loader compares the rate with multiples of 2⁻²⁴."""
    for rate in (0.1, 0.5, 1e-3, 1 / 3, 1 / 60_000, 1e-7, 1.0):
        accountant = HiddenStateAccountant()
        parameter = nn.Parameter(torch.zeros(1))
        parameter.grad_sample = torch.zeros(7, 1)  # type: ignore[attr-defined]
        optimizer = types.SimpleNamespace(
            accumulated_iterations=1,
            params=[parameter],
            expected_batch_size=7,
            noise_multiplier=1.0,
            _is_last_step_skipped=False,
        )
        accountant.get_optimizer_hook_fn(rate)(optimizer)
        counted_rate = accountant.history[0][1]
        drawn = torch.arange(2**24, dtype=torch.float32) * 2.0**-24 < rate
        assert counted_rate == int(drawn.sum()) / 2**24


def test_ghost_clipping_of_opacus_is_counted_too() -> None:
    engine = PrivacyEngine(accountant="hidden-state")
    module: Any = model()
    module, optimizer, criterion, batches = engine.make_private(
        module=module,
        optimizer=sgd(module),
        criterion=nn.BCEWithLogitsLoss(),
        data_loader=loader(),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        grad_sample_mode="ghost",
    )
    for rows, labels in batches:
        optimizer.zero_grad()
        criterion(module(rows).squeeze(1), labels).backward()
        optimizer.step()
    assert len(engine.accountant) == 10


def test_a_loader_that_does_not_sample_is_refused() -> None:
    """Opacus's issue 80: batches of a fixed size, and an ε for Poisson samples."""
    with refused("do not vary in size"):
        engine_run(40, poisson_sampling=False)


def test_the_original_loader_in_place_of_the_sampling_one_is_refused() -> None:
    with refused("do not vary in size"):
        engine_run(40, original_loader=True)


def test_poisson_loaders_are_not_mistaken_for_others() -> None:
    for batch_size in (5, 20, 60):
        engine = engine_run(300, data=loader(batch_size=batch_size))
        assert len(engine.accountant) == 300


def test_no_binomial_probability_exceeds_the_bound_behind_that_check() -> None:
    for n in (2, 5, 17, 100, 1001):
        for p in (0.01, 0.1, 0.3, 0.5, 0.9):
            k = min(n, math.floor((n + 1) * p))
            logs = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
            largest = math.exp(logs + k * math.log(p) + (n - k) * math.log1p(-p))
            assert largest <= 1 / math.sqrt(2 * math.e * n * p * (1 - p))


def test_a_weighted_sampler_is_replaced_by_opacus_and_counted_as_it_then_samples() -> None:
    """Opacus's issue 813: the rate is that of the sampler's length; what is counted is at least what is drawn."""
    data = people(2000)
    sampler = WeightedRandomSampler(torch.ones(2000).tolist(), num_samples=80)
    engine = PrivacyEngine(accountant="hidden-state")
    module = model()
    _, optimizer, batches = engine.make_private(
        module=module,
        optimizer=sgd(module),
        data_loader=loader(data, sampler=sampler),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    drawn = [len(rows) for rows, _ in batches]
    assert min(drawn) > 300 and 1 / len(batches) == 0.25
    with refused("samples in its own way"):
        private(data=loader(data, sampler=sampler), records=2000)


def test_gradients_of_several_batches_in_one_step_are_refused() -> None:
    engine = PrivacyEngine(accountant="hidden-state")
    module: Any = model()
    module, optimizer, batches = engine.make_private(
        module=module,
        optimizer=sgd(module),
        data_loader=loader(),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        poisson_sampling=False,
    )
    for _, (rows, _) in zip(range(2), batches, strict=False):
        module(rows).mean().backward()
    with refused("several batches"):
        optimizer.step()
    assert len(engine.accountant) == 0


def test_noise_that_changes_is_counted_step_by_step() -> None:
    engine = PrivacyEngine(accountant="hidden-state")
    module: Any = model()
    module, optimizer, batches = engine.make_private(
        module=module, optimizer=sgd(module), data_loader=loader(), noise_multiplier=4.0, max_grad_norm=1.0
    )
    scheduler = ExponentialNoise(optimizer, gamma=0.9)
    for rows, _ in batches:
        optimizer.zero_grad()
        module(rows).mean().backward()
        optimizer.step()
        scheduler.step()
    assert [noise for noise, _, _ in engine.accountant.history[:3]] == pytest.approx([4.0, 3.6, 3.24])
    assert engine.get_epsilon(1e-5) > counted((4.0, 0.1, 10)).get_epsilon(1e-5)


def test_opacus_checkpoints_continue_with_the_same_history(tmp_path: Path) -> None:
    engine, module = engine_run(12), model()
    engine.save_checkpoint(path=tmp_path / "checkpoint.pt", module=module)
    resumed = PrivacyEngine(accountant="hidden-state")
    resumed.load_checkpoint(path=tmp_path / "checkpoint.pt", module=model())
    assert resumed.accountant.history == engine.accountant.history
    with pytest.raises(ValueError, match="cannot be loaded"):
        PrivacyEngine(accountant="rdp").load_checkpoint(path=tmp_path / "checkpoint.pt", module=model())


def test_make_private_with_epsilon_of_opacus_meets_its_target() -> None:
    engine = PrivacyEngine(accountant="hidden-state")
    module = model()
    _, optimizer, _ = engine.make_private_with_epsilon(
        module=module,
        optimizer=sgd(module),
        data_loader=loader(),
        target_epsilon=3.0,
        target_delta=1e-5,
        epochs=5,
        max_grad_norm=1.0,
    )
    assert 2.98 <= counted((optimizer.noise_multiplier, 0.1, 50)).get_epsilon(1e-5) <= 3.0


# What a run does, and what is certified.


def one_parameter_data(count: int = 50) -> TensorDataset:
    generator = torch.Generator().manual_seed(3)
    return TensorDataset(torch.rand(count, 1, generator=generator) * 2 - 1, torch.rand(count, generator=generator) * 4 - 2)


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
            total += multiplier * clip * float(torch.normal(0.0, 1.0, (1, 1), generator=same_noise, dtype=torch.float64))
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
    ends = []
    for _ in range(2):
        torch.manual_seed(0)
        training = private(steps=3)
        batches = _drawn(training)
        training._batches.unused.clear()
        train(training)
        ends.append((batches, weights(training)))
    assert ends[0][0] != ends[1][0]
    assert not torch.equal(ends[0][1], ends[1][1])


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


# What is refused before the first step.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"momentum": 0.9}, "momentum=0.9"),
        ({"momentum": 0.9, "nesterov": True}, "momentum=0.9"),
        ({"weight_decay": 0.01}, r"weight_decay=0.01[\s\S]*learning rate × this number"),
        ({"maximize": True}, "maximize=True"),
    ],
)
def test_sgd_with_more_than_a_learning_rate_is_refused(options: dict[str, Any], words: str) -> None:
    module = model()
    with refused(words):
        make_private(
            module, sgd(module, **options), loader(), records=200, clip_norm=1.0, noise_multiplier=1.0, steps=3
        )


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad])
def test_optimizers_with_a_memory_are_refused(kind: Callable[..., torch.optim.Optimizer]) -> None:
    module = model()
    with refused("only the update of torch.optim.SGD"):
        make_private(
            module, kind(module.parameters()), loader(), records=200, clip_norm=1.0, noise_multiplier=1.0, steps=3
        )


def test_a_subclass_of_sgd_is_refused() -> None:
    class Other(torch.optim.SGD):
        pass

    module = model()
    with refused("the optimizer is Other"):
        make_private(
            module, Other(module.parameters(), lr=0.1), loader(), records=200, clip_norm=1.0, noise_multiplier=1.0, steps=3
        )


def test_learning_rates_that_differ_between_groups_are_refused() -> None:
    module = nn.Sequential(nn.Linear(FEATURES, 2), nn.Linear(2, 1))
    optimizer = torch.optim.SGD([{"params": module[0].parameters()}, {"params": module[1].parameters(), "lr": 0.1}], lr=0.5)
    with refused("different learning rates"):
        make_private(module, optimizer, loader(), records=200, clip_norm=1.0, noise_multiplier=1.0, steps=3)


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(people())


@pytest.mark.parametrize(
    "make",
    [
        lambda: loader(sampler=WeightedRandomSampler([1.0] * 200, 200)),
        lambda: loader(sampler=RandomSampler(people(), replacement=True)),
        lambda: loader(sampler=RandomSampler(people(), num_samples=50)),
        lambda: DataLoader(people(), batch_size=None),
        lambda: DataLoader(people(), batch_sampler=[[0, 1], [2, 3]]),
        lambda: DataLoader(Stream(), batch_size=20),
        lambda: private().data_loader,
    ],
)
def test_loaders_that_sample_in_their_own_way_are_refused(make: Callable[[], DataLoader[Any]]) -> None:
    with refused("samples in its own way"):
        private(data=make())


def test_a_loader_out_of_order_is_refused() -> None:
    with refused("in_order"):
        private(data=loader(num_workers=1, in_order=False))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"records": 199}, "records is 199"),
        ({"records": 10, "data": loader(people(5))}, "records is 10"),
        ({"epochs": 3}, "either steps or epochs"),
        ({"steps": None}, "either steps or epochs"),
        ({"noise_multiplier": None}, "either noise_multiplier"),
        ({"epsilon": 1.0, "delta": 1e-5}, "either noise_multiplier"),
        ({"noise_multiplier": None, "epsilon": 1.0}, "either noise_multiplier"),
        ({"steps": 0}, "steps"),
        ({"noise_multiplier": 0.0}, "noise-multiplier"),
        ({"clip_norm": -1.0}, "clip_norm"),
        ({"clip_norm": 1e-7}, "clip_norm"),
        ({"clip_norm": math.inf}, "clip-norm"),
        ({"smoothness": math.nan}, "smoothness"),
        ({"weight_decay": -0.1}, "weight-decay"),
        ({"weight_decay": 2.0}, "weight-decay"),
        ({"radius": 0.0}, "diameter"),
        ({"rate": 0.0}, "learning-rate"),
    ],
)
def test_numbers_that_make_no_run_are_refused_before_training(options: dict[str, Any], words: str) -> None:
    with refused(words):
        private(**options)


def test_low_precision_and_nothing_to_train_are_refused() -> None:
    with refused("single, or all double precision"):
        private(module=model().bfloat16())
    frozen = model()
    frozen.weight.requires_grad_(False)
    with refused("single, or all double precision"):
        private(module=frozen)


def test_a_module_that_mixes_records_is_refused_by_opacus() -> None:
    with pytest.raises(Exception, match="BatchNorm"):
        private(module=nn.Sequential(nn.Linear(FEATURES, 2), nn.BatchNorm1d(2), nn.Linear(2, 1)))


# What is refused in a step. The parameters stay as they are, and nothing is counted.


def attempt(training: PrivateTraining, words: str, error: type[Exception] = db.InvalidInputError) -> None:
    """One step with the next batch, which must be refused."""
    rows, labels = next(iter(training.data_loader))
    before, made = weights(training), len(training.accountant)
    with pytest.raises(error, match=words):
        training.step(losses(training, rows, labels))
    assert torch.equal(weights(training), before)
    assert len(training.accountant) == made


def change_rate(training: PrivateTraining) -> None:
    torch.optim.lr_scheduler.StepLR(training.optimizer, 1, gamma=0.5).step()


def change_noise(training: PrivateTraining) -> None:
    ExponentialNoise(training.optimizer, gamma=0.5).step()


def change_clipping(training: PrivateTraining) -> None:
    training.optimizer.max_grad_norm = 2.0


def change_divisor(training: PrivateTraining) -> None:
    training.optimizer.expected_batch_size = 1


def change_reduction(training: PrivateTraining) -> None:
    training.optimizer.loss_reduction = "sum"


def change_momentum(training: PrivateTraining) -> None:
    training.optimizer.param_groups[0]["momentum"] = 0.9


def change_decay(training: PrivateTraining) -> None:
    training.optimizer.param_groups[0]["weight_decay"] = 0.1


def change_groups(training: PrivateTraining) -> None:
    training.optimizer.param_groups.append(training.optimizer.param_groups[0] | {"params": []})


def change_sampling(training: PrivateTraining) -> None:
    training._batches.sample_rate = 0.5


@pytest.mark.parametrize(
    "change",
    [
        change_rate,
        change_noise,
        change_clipping,
        change_divisor,
        change_reduction,
        change_momentum,
        change_decay,
        change_groups,
        change_sampling,
    ],
)
def test_a_change_in_the_middle_of_the_run_is_refused(change: Callable[[PrivateTraining], None]) -> None:
    training = private()
    train(training, steps=2)
    change(training)
    attempt(training, "changed in the middle of the run")


@pytest.mark.parametrize("how", ["data", "no_grad", "load_state_dict", "moving average"])
def test_parameters_that_something_else_changed_are_refused(how: str) -> None:
    training = private()
    train(training, steps=2)
    module = training.module._module
    if how == "data":
        module.weight.data.clamp_(-1e-3, 1e-3)
    elif how == "no_grad":
        with torch.no_grad():
            module.weight.mul_(0.5)
    elif how == "load_state_dict":
        module.load_state_dict(model().state_dict())
    else:
        average = torch.optim.swa_utils.AveragedModel(module)
        module.weight.data.copy_(average.module.weight.data + 1)
    attempt(training, "changed the parameters")


def test_parameters_that_changed_after_the_last_step_get_no_certificate() -> None:
    training = private(steps=3)
    train(training)
    training.module._module.weight.data.add_(1)
    with refused("changed the parameters"):
        training.certificate(1e-5)


def test_a_buffer_that_a_batch_changes_is_refused() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = model()
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, rows: Tensor) -> Any:
            self.seen += len(rows)
            return self.linear(rows)

    attempt(private(module=Counting()), "parameters or buffers")


def test_frozen_parameters_that_change_or_thaw_are_refused() -> None:
    module = nn.Sequential(nn.Linear(FEATURES, 2), nn.Linear(2, 1))
    module[0].bias.requires_grad_(False)
    training = private(module=module)
    with torch.no_grad():
        module[0].bias.add_(1)
    attempt(training, "parameters or buffers")
    module = nn.Sequential(nn.Linear(FEATURES, 2), nn.Linear(2, 1))
    training = private(module=module)
    module[0].bias.requires_grad_(False)
    rows, labels = next(iter(training.data_loader))
    with refused("list of trained parameters changed"):
        training.step(losses(training, rows, labels))


def test_a_batch_of_another_loader_is_refused() -> None:
    training = private()
    rows, labels = next(iter(loader()))
    with refused("not made with the batch that the loader"):
        training.step(losses(training, rows, labels))


def test_a_batch_that_is_used_twice_is_refused() -> None:
    training = private()
    rows, labels = next(iter(training.data_loader))
    training.step(losses(training, rows, labels))
    with refused("not made with the batch that the loader"):
        training.step(losses(training, rows, labels))
    assert len(training.accountant) == 1


def test_a_batch_that_is_skipped_is_refused() -> None:
    training = private()
    batches = iter(training.data_loader)
    next(batches)
    rows, labels = next(batches)
    with refused("not made with the batch that the loader"):
        training.step(losses(training, rows, labels))


def test_skipping_the_empty_batches_is_refused() -> None:
    training = private(data=loader(people(30), batch_size=1), records=60, steps=60)
    with refused("not made with the batch|no step was made with it"):
        for rows, labels in training.data_loader:
            if len(rows) > 0:
                training.step(losses(training, rows, labels))


def test_skipping_the_last_batch_of_a_pass_is_refused() -> None:
    training = private()
    for number, (rows, labels) in enumerate(training.data_loader):
        if number < 9:
            training.step(losses(training, rows, labels))
    with refused("no step was made with it"):
        next(iter(training.data_loader))


@pytest.mark.parametrize("change", [lambda rows: rows[1:], lambda rows: torch.cat([rows, rows])])
def test_records_that_are_left_out_or_repeated_are_refused(change: Callable[[Tensor], Tensor]) -> None:
    training = private(data=loader(batch_size=100))
    rows, labels = next(iter(training.data_loader))
    with refused("the loader drew"):
        training.step(losses(training, change(rows), change(labels)))


def test_losses_that_are_not_one_for_each_record_are_refused() -> None:
    training = private()
    rows, labels = next(iter(training.data_loader))
    with refused("one loss for each record"):
        training.step(losses(training, rows, labels).mean())


def test_several_backward_passes_are_refused() -> None:
    training = private()
    rows, labels = next(iter(training.data_loader))
    training.optimizer.zero_grad()
    losses(training, rows, labels).mean().backward()
    with pytest.raises(ValueError, match="grad accumulation"):  # by Opacus
        losses(training, rows, labels).mean().backward()
    with refused("more than one backward pass"):
        training.optimizer.step()


def test_a_step_without_zero_grad_is_refused() -> None:
    training = private()
    batches = iter(training.data_loader)
    with pytest.raises(ValueError):
        for rows, labels in batches:
            losses(training, rows, labels).mean().backward()
            training.optimizer.step()
    assert len(training.accountant) == 1


def test_a_step_around_opacus_is_refused() -> None:
    training = private()
    before = weights(training)
    for parameter in training.optimizer.params:
        parameter.grad = torch.ones_like(parameter)
    with refused("no clipping and no noise"):
        training.optimizer.original_optimizer.step()
    assert torch.equal(weights(training), before)


def test_steps_beyond_the_certified_number_are_refused() -> None:
    training = private(steps=3)
    train(training)
    before = weights(training)
    rows, labels = people().tensors
    with refused("all 3 steps of the run are made"):
        training.step(losses(training, rows, labels))
    assert torch.equal(weights(training), before)
    with refused("3 steps"):
        training.accountant.step(noise_multiplier=1.0, sample_rate=0.1)


@pytest.mark.parametrize(("noise", "rate"), [(2.0, 0.1), (1.0, 0.2)])
def test_a_step_with_other_numbers_than_announced_is_not_counted(noise: float, rate: float) -> None:
    training = private()
    with refused("the run that was announced"):
        training.accountant.step(noise_multiplier=noise, sample_rate=rate)


def test_an_optimizer_that_diverges_is_stopped() -> None:
    training = private(rate=1e38, clip_norm=1e6, steps=5)
    with refused("no longer finite"):
        train(training)


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


# Opacus's own tests.


def opacus_accountant_tests() -> Any:
    """A fresh copy of the module that Opacus installs, with our accountant in place of its own."""
    pytest.importorskip("hypothesis")
    path = Path(opacus.__file__).parent / "tests" / "accountants_test.py"
    if not path.exists():
        pytest.skip("this Opacus comes without its tests")
    spec = importlib.util.spec_from_file_location("opacus_accountants_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results_of(case: type[unittest.TestCase], names: list[str]) -> unittest.TestResult:
    result = unittest.TestResult()
    unittest.TestSuite(map(case, names)).run(result)
    return result


def test_the_registry_tests_of_opacus_pass_beside_our_accountant() -> None:
    module = opacus_accountant_tests()
    names = unittest.TestLoader().getTestCaseNames(module.AccountantRegistryTest)
    result = results_of(module.AccountantRegistryTest, list(names))
    assert (result.testsRun, result.failures, result.errors) == (4, [], [])
    assert type(create_accountant("hidden-state")) is HiddenStateAccountant


@pytest.mark.parametrize(
    "name",
    [
        "test_rdp_accountant",
        "test_prv_accountant",
        "test_get_noise_multiplier_rdp_epochs",
        "test_get_noise_multiplier_rdp_steps",
        "test_get_noise_multiplier_prv_epochs",
        "test_get_noise_multiplier_prv_steps",
        "test_get_noise_multiplier_overshoot",
        "test_accountant_state_dict",
        "test_accountant_load_state_dict",
    ],
)
def test_the_accountant_tests_of_opacus_pass_with_ours(name: str) -> None:
    """Where they expect Opacus's number, ours must be no larger, and at most 9 % smaller: RDP is that loose here.

    Its two tests of "gdp" are left out: they expect a number that is smaller than the truth.
    """
    from hypothesis import settings

    settings.register_profile("few", max_examples=2, derandomize=True)
    settings.load_profile("few")
    module = opacus_accountant_tests()

    def noise_multiplier(**options: Any) -> float:
        return get_noise_multiplier(**(options | {"accountant": "hidden-state"}))

    class Ours(module.AccountingTest):  # type: ignore[name-defined, misc]
        def assertAlmostEqual(self, ours: float, theirs: float, places: int = 7) -> None:  # noqa: N802
            assert 0.91 * theirs <= ours <= theirs * (1 + 1e-3)

    module.RDPAccountant = module.PRVAccountant = HiddenStateAccountant
    module.create_accountant = lambda mechanism: HiddenStateAccountant()
    module.get_noise_multiplier = noise_multiplier
    result = results_of(Ours, [name])
    assert (result.testsRun, result.failures, result.errors) == (1, [], [])
