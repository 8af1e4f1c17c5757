"""Chains, step by step, and those of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dobrushin as db

STEPS = [
    db.Step(0.5, count=50, displacement=0.25, participation="always", modulus=[(0.9, 0.0), (0.0, 1.5)]),
    db.Step(0.5, count=10, modulus=[(0.9, 0.0), (0.0, 1.5)]),
]


def test_a_chain_says_what_its_run_file_says() -> None:
    file = db.Run(Path(__file__).parents[2] / "examples" / "chain.toml")
    chain = db.Chain(STEPS, diameter=2.0, dimension=10)
    assert chain.account(delta=1e-5).epsilon == db.account(file, delta=1e-5).epsilon


def test_steps_that_hide_make_a_chain_more_private() -> None:
    epsilons = [db.Chain([STEPS[0], db.Step(0.5, count=n, modulus=[(0.9, 0.0)])]).account(delta=1e-5).epsilon for n in (1, 10, 40)]
    assert epsilons == sorted(epsilons, reverse=True) and epsilons[0] > 1.1 * epsilons[-1]


def test_one_displacement_that_later_steps_hide_is_a_gaussian_mechanism() -> None:
    chain = db.Chain([db.Step(1.0, modulus=[(1.0, 0.0)], displacement=2.0), db.Step(1.0, count=3, modulus=[(1.0, 0.0)])])
    assert chain.account(epsilon=1.0).delta == pytest.approx(db.theta(1.0, 1.0), rel=1e-6)


def test_a_run_is_lowered_to_chains_that_are_at_most_as_private() -> None:
    run = db.Run(
        algorithm="pnsgd", records=100, learning_rate=0.1, lipschitz=1.0, gradient_noise=4.0,
        convex=True, smoothness=1.0, release="last",
    )  # fmt: skip
    views = run.chains()
    assert sum(len(view) for view in views) >= 1
    worst = 0.0
    for view in views:
        for branch in view:
            assert 0 < branch.weight <= 1 and branch.stops is None
            assert any(step.participation == "always" for step in branch.chain.steps)
            worst = max(worst, branch.chain.account(delta=1e-5).epsilon)
    assert worst >= db.account(run, delta=1e-5).epsilon * (1 - 1e-9)


def test_the_chains_of_poisson_batches_use_the_record_sometimes() -> None:
    run = db.Run(
        algorithm="dp-sgd", records=1000, batch_size=10, steps=20, order="poisson", clip_norm=1.0, noise_multiplier=1.0,
        learning_rate=0.1, neighbours="add-or-remove-one", release="last", diameter=1.0,
    )  # fmt: skip
    [[branch]] = run.chains()
    [step] = branch.chain.steps
    assert step.count == 20 and step.participation == pytest.approx(0.01) and branch.chain.diameter == 1.0


def test_a_composition_has_no_chains() -> None:
    with pytest.raises(db.NoGuaranteeError):
        db.Run(algorithm="composition", mechanism=[{"kind": "gaussian", "noise_multiplier": 1.0}]).chains()


@pytest.mark.parametrize(
    "steps",
    [[], [db.Step(0.0, displacement=1.0)], [db.Step(-1.0, displacement=1.0)], [db.Step(float("nan"), displacement=1.0)],
     [db.Step(1.0)], [db.Step(1.0, displacement=-1.0)], [db.Step(1.0, displacement=1.0, participation=2.0)],
     [db.Step(1.0, displacement=1.0, count=0)], [db.Step(1.0, displacement=1.0, modulus=[(-1.0, 0.0)])], [3]],
)  # fmt: skip
def test_what_is_no_chain_is_an_invalid_input(steps: Any) -> None:
    with pytest.raises(db.InvalidInputError):
        db.Chain(steps).account(delta=1e-5)
