# mypy: disable-error-code="import-untyped,import-not-found"
"""Training that is what its certificate says."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from opacus import PrivacyEngine
from opacus.optimizers import DPOptimizer
from torch import Tensor, nn
from torch.utils.data import DataLoader

from dobrushin import Certificate, Report, Run, calibrate
from dobrushin._opacus.accountant import HiddenStateAccountant, rate_of
from dobrushin._opacus.allocation import AllocatedBatches
from dobrushin._opacus.batches import PoissonBatches, batch_size_of, number_of_records, steps_in_a_pass, with_batches
from dobrushin._opacus.checks import FORBIDDEN, World, digest, fresh_generator, plain_sgd, refused, trained_by


class PrivateTraining:
    """A training run whose steps are those of its certificate; :func:`make_private` makes it.

    You train with :attr:`module`, :attr:`optimizer` and :attr:`data_loader` as with those of Opacus. A step that would
    not be the certified one raises :class:`~dobrushin.InvalidInputError` and leaves the parameters as they are.
    """

    #: The module, with per-record gradients.
    module: Any
    #: The optimizer, which clips, adds noise, decays and projects.
    optimizer: DPOptimizer
    #: The batches that are drawn; a pass ends early when no step is left.
    data_loader: DataLoader[Any]
    #: The accountant, for example for ``accountant.get_epsilon(delta)``.
    accountant: HiddenStateAccountant
    #: The whole run, as it will be when no step is left.
    run: Run

    def __init__(
        self,
        module: nn.Module,
        optimizer: torch.optim.SGD,
        data_loader: DataLoader[Any],
        run: Run,
        *,
        secure_mode: bool,
        noise_generator: torch.Generator | None,
    ) -> None:
        self.run = run
        self.accountant = HiddenStateAccountant(run)
        plan = run.to_dict()
        batch_size, records = plan["run"]["batch-size"], plan["run"]["records"]
        rates, diameter = plan["update"]["learning-rate"], plan["domain"].get("diameter")
        self._steps: int = plan["run"]["steps"]
        self._sample_rate = rate_of(plan)
        self._rates: list[float] | None = rates if isinstance(rates, list) else None
        self._decay: float = plan["update"].get("weight-decay", 0.0)
        self._radius: float = math.inf if diameter is None else diameter / 2
        self._world = World(module)
        drawn = AllocatedBatches if plan["run"]["order"] == "allocation" else PoissonBatches
        self._batches = drawn(
            share=range(self._world.rank, number_of_records(data_loader), self._world.size),
            batch_size=batch_size,
            records=records,
            steps=self._steps,
            made=lambda: len(self.accountant),
            prefetched=data_loader.num_workers > 0,
        )
        device = trained_by(optimizer)[0].device
        engine = PrivacyEngine(accountant=self.accountant.mechanism(), secure_mode=secure_mode)
        self.module, self.optimizer, _ = engine.make_private(
            module=module,
            optimizer=optimizer,
            # Opacus looks at a loader, but no batch is drawn from this one.
            data_loader=DataLoader(data_loader.dataset, batch_size=batch_size, shuffle=True),
            noise_multiplier=plan["update"]["noise-multiplier"],
            max_grad_norm=plan["update"]["clip-norm"],
            poisson_sampling=False,
            noise_generator=noise_generator or (None if secure_mode else fresh_generator(device)),
        )
        if secure_mode:
            self._batches.generator = engine.secure_rng
        self.data_loader = with_batches(data_loader, self._batches)
        self.module.forbid_grad_accumulation()
        # Opacus would divide by a number that tells how many records there are.
        self.optimizer.expected_batch_size = batch_size / self._world.size
        self._start = [parameter.detach().clone() for parameter in self.optimizer.params]
        self._world.agree((plan, digest(self._start)), "start the same run with the same parameters")
        self._settings = self._current_settings()
        self._remember()

        self._used = 0
        self._allowed = False
        self._clip_as_opacus_does = self.optimizer.clip_and_accumulate
        self.optimizer.clip_and_accumulate = self._clip
        self.optimizer.attach_step_hook(self._allow)
        optimizer.register_step_pre_hook(self._before_update)
        optimizer.register_step_post_hook(self._after_update)

    @property
    def steps_left(self) -> int:
        """How many steps of the run are still to be made."""
        return self._steps - len(self.accountant)

    def step(self, losses: Tensor) -> None:
        """Makes one step with the losses of the batch, one for each record.

        This is ``zero_grad``, ``backward`` and ``step`` of Opacus, which wants the mean of the losses. If you call these
        yourself, take that mean. Opacus multiplies the gradients of a sum, or of a weighted mean, by a number that
        depends on the other records, and then no guarantee holds.
        """
        if losses.dim() != 1:
            raise refused("there must be one loss for each record", 'call the loss with reduction="none"')
        self.optimizer.zero_grad()
        torch.autograd.backward(losses.sum() / max(len(losses), 1))
        self.optimizer.step()

    def report(self, delta: float) -> Report:
        """The account of the steps so far: the guarantee if the parameters are released now and never before.

        The number of steps must not have been chosen by looking at the private records.
        """
        return self.accountant.report(delta)

    def certificate(self, delta: float) -> Certificate:
        """The certificate of the whole run, for the parameters as they are now.

        Raises:
            InvalidInputError: Steps are left, or the parameters are not those of the last step.
        """
        if self.steps_left > 0:
            raise refused(f"{self.steps_left} of {self._steps} steps are left, and the certificate is of all of them")
        self._check_parameters()
        self._world.agree(digest(self.optimizer.params), "end with the same parameters")
        return self.report(delta).certificate()

    def state_dict(self) -> dict[str, Any]:
        """Everything that is needed to continue. It holds a hidden iterate, so keep it secret.

        Raises:
            InvalidInputError: Batches are allocated, and a pass was begun. Its places are not saved.
        """
        self._batches.check_pause()
        return {
            "module": copy.deepcopy(self.module.state_dict()),
            "start": [start.clone() for start in self._start],
            "accountant": self.accountant.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues where :meth:`state_dict` was taken. Whatever was computed since then must never be released.

        Raises:
            InvalidInputError: The checkpoint is of another run.
        """
        self.accountant.load_state_dict(state["accountant"])
        self.module.load_state_dict(state["module"])
        self._start = [saved.to(start).clone() for saved, start in zip(state["start"], self._start, strict=True)]
        # Nothing is left of a batch that was begun, in parts or not.
        self.optimizer._step_skip_queue.clear()
        self.optimizer._is_last_step_skipped = False
        self.optimizer.zero_grad()
        self._batches.forget()
        self._used = 0
        self._remember()

    def _clip(self) -> None:
        """Opacus's clipping. A gradient that is not finite counts as 0, because no factor makes it short."""
        if self.optimizer.accumulated_iterations != 1:
            raise refused(
                "there was more than one backward pass since the last step",
                "add the losses up before a single backward(), and make a step after each batch",
            )
        gradients = [parameter.grad_sample for parameter in self.optimizer.params]
        finite = [g.isfinite().reshape(len(g), math.prod(g.shape[1:])).all(dim=1) for g in gradients]
        broken = ~torch.stack(finite).all(dim=0)
        for gradient in gradients:
            gradient[broken] = 0
        self._used += len(broken)
        self._clip_as_opacus_does()

    def _allow(self, _: DPOptimizer) -> None:
        """Refuses a step that is not the certified one. Otherwise the step counts from here on."""
        if self.steps_left <= 0:
            raise refused(f"all {self._steps} steps of the run are made", "call make_private with more steps")
        for name, value in self._current_settings().items():
            if value != self._settings[name]:
                raise refused(
                    f"the {name} changed in the middle of the run, from {self._settings[name]} to {value}",
                    "leave the optimizer as it is; for a schedule, give make_private learning_rates",
                )
        self._check_parameters()
        self._batches.take(self._used)
        self._used = 0
        if self._rates is not None:
            for group in self.optimizer.param_groups:
                group["lr"] = self._rates[len(self.accountant)]
        self.accountant.step(noise_multiplier=self.optimizer.noise_multiplier, sample_rate=self._sample_rate)
        self._allowed = True

    def _before_update(self, *_: object) -> None:
        """The decay, before SGD subtracts the noisy gradient."""
        if not self._allowed:
            raise refused("this step has no clipping and no noise", "call step() of the optimizer of PrivateTraining")
        self._allowed = False
        with torch.no_grad():
            for parameter, start in zip(self.optimizer.params, self._start, strict=True):
                parameter.lerp_(start, self._decay)

    def _after_update(self, *_: object) -> None:
        """The projection. Rounding may leave the ball again; then a little more is taken off, in the end everything."""
        room = 2.0**-20
        while (distance := self._distance()) > self._radius:
            factor = self._radius / distance * (1 - room)
            with torch.no_grad():
                for parameter, start in zip(self.optimizer.params, self._start, strict=True):
                    parameter.copy_(start + factor * (parameter.double() - start))
            room *= 2
        if not math.isfinite(distance):
            raise refused("the parameters are no longer finite", "choose a smaller learning rate, or a radius")
        self._remember()

    def _distance(self) -> float:
        """How far the parameters are from the start."""
        pairs = zip(self.optimizer.params, self._start, strict=True)
        return math.sqrt(sum(float((parameter.detach().double() - start).square().sum()) for parameter, start in pairs))

    def _remember(self) -> None:
        self._last = [parameter.detach().clone() for parameter in self.optimizer.params]
        self._fixed = self._versions()

    def _versions(self) -> list[tuple[int, int]]:
        """Which tensors the frozen parameters and the buffers are, and how often each was changed."""
        trained = {id(parameter) for parameter in self.optimizer.params}
        tensors = [*self.module.parameters(), *self.module.buffers()]
        return [(id(tensor), tensor._version) for tensor in tensors if id(tensor) not in trained]

    def _check_parameters(self) -> None:
        pairs = zip(self.optimizer.params, self._last, strict=True)
        if self._versions() != self._fixed or not all(torch.equal(now, last) for now, last in pairs):
            raise refused(
                "something other than the steps of this run changed the parameters or buffers of the module",
                "change nothing between steps; to continue from a checkpoint, use load_state_dict of PrivateTraining",
            )

    def _current_settings(self) -> dict[str, object]:
        """Everything that the update depends on and that the parameters and the batch do not say."""
        optimizer = self.optimizer
        settings: dict[str, object] = {
            "noise multiplier": optimizer.noise_multiplier,
            "clip norm": optimizer.max_grad_norm,
            "divisor": (optimizer.loss_reduction, optimizer.expected_batch_size),
            **self._batches.settings,
            "list of trained parameters": [id(parameter) for parameter in optimizer.params],
        }
        for key in FORBIDDEN:
            settings[key] = [group[key] for group in optimizer.param_groups]
        if self._rates is None:
            settings["learning rate"] = [float(group["lr"]) for group in optimizer.param_groups]
        return settings


def make_private(
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    data_loader: DataLoader[Any],
    *,
    records: int,
    clip_norm: float,
    noise_multiplier: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    steps: int | None = None,
    epochs: int | None = None,
    order: Literal["poisson", "allocation"] = "poisson",
    convex: bool = False,
    smoothness: float | None = None,
    generalised_linear: bool = False,
    weight_decay: float = 0.0,
    radius: float | None = None,
    learning_rates: Sequence[float] | None = None,
    secure_mode: bool = False,
    noise_generator: torch.Generator | None = None,
) -> PrivateTraining:
    """Prepares a training run, with Opacus's clipping and noise, that is exactly the run of its account.

    Args:
        module: The module in training mode; in several processes, in Opacus's
            ``DifferentiallyPrivateDistributedDataParallel``. It must start where no private record had a say.
        optimizer: ``torch.optim.SGD`` with a learning rate and nothing else.
        data_loader: The records and the batch size, over all processes. Its order is replaced by ``order``.
        records: A public number that the records do not exceed. Batches are drawn according to this number, so the run
            is the same with and without one of them.
        clip_norm: The largest norm of one record's gradient; longer ones are clipped.
        noise_multiplier: The standard deviation of the noise over ``clip_norm``.
        epsilon: Instead of a noise multiplier: the ε that the whole run may have at ``delta``.
        delta: The δ for ``epsilon``.
        steps: The number of steps.
        epochs: Instead of steps: the number of passes, each of ⌈records / batch size⌉ steps.
        order: "poisson": each step draws each record with probability batch size / records. "allocation": in each pass
            each record draws one of the ⌈records / batch size⌉ batches (:class:`AllocationSampler`).
        convex: Every record's loss is convex, whatever the record.
        smoothness: The largest Lipschitz constant of the gradient of one record's loss, whatever the record.
        generalised_linear: Every record's loss is a function of ⟨w, x⟩; without this, clipping destroys convexity.
        weight_decay: The share λ of the way back to the start that each step goes, apart from the gradient.
        radius: After each step, all trained parameters together are at most this far from the start.
        learning_rates: Instead of the optimizer's learning rate: one for each step.
        secure_mode: Opacus's secure mode, which needs torchcsprng.
        noise_generator: Where the noise comes from, for tests. If left out, the operating system gives a new seed.

    Raises:
        InvalidInputError: Something would not be the run that is accounted for. The message says what to change.
        NoGuaranteeError: No noise multiplier meets ``epsilon``.
    """
    sgd = plain_sgd(optimizer, scheduled=learning_rates is not None)
    trained = trained_by(sgd)
    batch_size = batch_size_of(data_loader)
    if order not in ("poisson", "allocation"):
        raise refused(
            f'order is {order!r}, but make_private draws its batches, with order "poisson" or "allocation"',
            "for other loaders, describe the run to dobrushin.account",
        )
    if records < max(batch_size, number_of_records(data_loader)):
        raise refused(
            f"records is {records}, but there are more, or a batch is larger",
            "give a public number that is the same whether or not one person is there",
        )
    if not clip_norm >= 1e-6:
        # Below, the clipped gradients of a generalised linear loss would be steeper than those of the loss.
        raise refused(f"clip_norm is {clip_norm}, but Opacus adds 1e-6 to every norm, so it must not be smaller")
    if (steps is None) == (epochs is None):
        raise refused("give either steps or epochs")
    if (noise_multiplier is None) == (epsilon is None) or (epsilon is None) != (delta is None):
        raise refused("give either noise_multiplier, or epsilon and delta")
    if steps is None:
        steps = (epochs or 0) * steps_in_a_pass(records, batch_size)
    rates = [float(group["lr"]) for group in sgd.param_groups] if learning_rates is None else list(learning_rates)
    if learning_rates is not None and len(rates) != steps:
        raise refused(f"there are {len(rates)} learning rates, but {steps} steps")
    run = Run(
        algorithm="dp-sgd",
        records=records,
        batch_size=batch_size,
        steps=steps,
        order=order,
        release="last",
        neighbours="add-or-remove-one",
        learning_rate=rates[0] if learning_rates is None else rates,
        clip_norm=clip_norm,
        noise_multiplier=1.0 if noise_multiplier is None else noise_multiplier,
        weight_decay=weight_decay,
        convex=convex or None,
        smoothness=smoothness,
        generalised_linear=generalised_linear or None,
        diameter=None if radius is None else 2 * radius,
        dimension=sum(parameter.numel() for parameter in trained),
    )
    if epsilon is not None and delta is not None:
        run = calibrate(run, "noise-multiplier", epsilon=epsilon, delta=delta).run
    # This says what is wrong with the numbers before training, not after it.
    run.check()
    return PrivateTraining(module, sgd, data_loader, run, secure_mode=secure_mode, noise_generator=noise_generator)
