"""dobrushin.opacus: the accountant, by itself and in Opacus's engine."""

from __future__ import annotations

import importlib.util
import math
import os
import types
import unittest
import warnings
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
from opacus_runs import FEATURES, counted, loader, model, people, private, refused, sgd
from torch import nn
from torch.utils.data import DataLoader, WeightedRandomSampler

import dobrushin as db
from dobrushin.opacus import HiddenStateAccountant

#: Opacus warns of its generator in every run, and PyTorch of Opacus's hooks.
pytestmark = pytest.mark.filterwarnings("ignore")

# The accountant by itself.


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


def engine_run(
    steps: int, *, original_loader: bool = False, data: DataLoader[Any] | None = None, **options: Any
) -> Any:
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


def step_of(batch_size: int, *, expected: float) -> Any:
    """What an accountant sees of a step of Opacus."""
    parameter = nn.Parameter(torch.zeros(1))
    parameter.grad_sample = torch.zeros(batch_size, 1)  # type: ignore[attr-defined]
    return types.SimpleNamespace(
        accumulated_iterations=1,
        params=[parameter],
        expected_batch_size=expected,
        noise_multiplier=1.0,
        _is_last_step_skipped=False,
    )


def test_the_rate_that_is_counted_is_the_one_at_which_opacus_draws() -> None:
    """Its loader compares the rate with multiples of 2⁻²⁴."""
    for rate in (0.1, 0.5, 1e-3, 1 / 3, 1 / 60_000, 1e-7, 1.0):
        accountant = HiddenStateAccountant()
        accountant.get_optimizer_hook_fn(rate)(step_of(7, expected=7))
        drawn = torch.arange(2**24, dtype=torch.float32) * 2.0**-24 < rate
        assert accountant.history[0][1] == int(drawn.sum()) / 2**24


@pytest.mark.parametrize("expected", [5, 20, 200])
def test_honest_batches_never_look_dishonest(expected: int) -> None:
    random = np.random.default_rng(expected)
    for _ in range(100):
        hook = HiddenStateAccountant().get_optimizer_hook_fn(0.1)
        for size in random.binomial(10 * expected, 0.1, size=30).tolist():
            hook(step_of(size, expected=expected))


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
def test_the_accountant_tests_of_opacus_pass_with_ours(name: str, request: pytest.FixtureRequest) -> None:
    """Where they expect Opacus's number, ours must be no larger, and at most 9 % smaller: RDP is that loose here.

    Its two tests of "gdp" are left out: they expect a number that is smaller than the truth.
    """
    from hypothesis import settings

    before = settings.get_current_profile_name()
    request.addfinalizer(lambda: settings.load_profile(before))
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
