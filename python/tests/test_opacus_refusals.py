"""dobrushin.opacus.make_private refuses what is not accounted for, and nothing changes then."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

if os.environ.get("CI") != "true":
    pytest.importorskip("opacus")

import torch
from opacus.schedulers import ExponentialNoise
from opacus_runs import FEATURES, loader, losses, model, people, private, refused, sgd, train, weights
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, WeightedRandomSampler

import dobrushin as db
from dobrushin.opacus import PrivateTraining, make_private

#: Opacus warns of its generator in every run, and PyTorch of Opacus's hooks.
pytestmark = pytest.mark.filterwarnings("ignore")

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
            module,
            Other(module.parameters(), lr=0.1),
            loader(),
            records=200,
            clip_norm=1.0,
            noise_multiplier=1.0,
            steps=3,
        )


def test_learning_rates_that_differ_between_groups_are_refused() -> None:
    module = nn.Sequential(nn.Linear(FEATURES, 2), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(
        [{"params": module[0].parameters()}, {"params": module[1].parameters(), "lr": 0.1}], lr=0.5
    )
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
