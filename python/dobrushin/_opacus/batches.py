# mypy: disable-error-code="import-untyped,import-not-found"
# mypy: allow-subclassing-any
"""The loader: batches that are drawn, and whether each step is made with one of them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sized
from typing import Any, cast

import torch
from opacus.data_loader import wrap_collate_with_empty
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, SequentialSampler

from dobrushin._opacus.checks import fresh_generator, refused

_ALL_OF_EACH = "make one step with all of each batch, also if it is empty, and repeat no record"


def batch_size_of(data_loader: DataLoader[Any]) -> int:
    """The batch size of a plain loader; its batches are drawn anew, and another way of sampling would be lost silently."""
    batch_size: int | None = data_loader.batch_size
    sampler = data_loader.sampler
    plain = type(sampler) is SequentialSampler or (
        type(sampler) is RandomSampler and not sampler.replacement and len(sampler) == len(sampler.data_source)
    )
    if isinstance(data_loader.dataset, IterableDataset) or batch_size is None or not plain:
        raise refused(
            "the loader samples in its own way, or has no batch size, and no other sampling can stand in for that",
            "give DataLoader(dataset, batch_size=…), in each process with all records and the batch size of all",
        )
    if not data_loader.in_order:
        raise refused("the loader has in_order=False, so nobody knows which batch a step is made with")
    return batch_size


def number_of_records(data_loader: DataLoader[Any]) -> int:
    """The number of records of the data set."""
    return len(cast(Sized, data_loader.dataset))


class Batches:
    """The batches of a run, empty ones included, and whether each step is made with one of them."""

    def __init__(self, *, steps: int, made: Callable[[], int], prefetched: bool) -> None:
        self._all_steps = steps
        self._made = made
        self._prefetched = prefetched
        self._complete = False
        self._loop: object = None
        #: The sizes of the batches that were drawn, and with which no step was made yet.
        self.unused: deque[int] = deque()

    @property
    def settings(self) -> dict[str, object]:
        """The numbers by which batches are drawn. They must not change in the middle of a run."""
        raise NotImplementedError

    def _rest_of_pass(self) -> Iterator[list[int]]:
        """The batches of a pass that come next, given the number of steps that were made."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[list[int]]:
        if self._complete and self.unused and not self._prefetched:
            raise refused("the last batch of the pass was drawn, but no step was made with it", _ALL_OF_EACH)
        self.unused.clear()
        self._complete = False
        self._loop = loop = object()
        for batch in itertools.islice(self._rest_of_pass(), self._all_steps - self._made()):
            if self._loop is not loop:
                raise refused("this loop over the batches was left, and another one was begun", _ALL_OF_EACH)
            self.unused.append(len(batch))
            yield batch
        self._complete = True

    def check_pause(self) -> None:
        """Refuses a checkpoint with which the run could not be continued."""

    def forget(self) -> None:
        """Leaves the batches that were drawn, because a checkpoint is loaded."""
        self.unused.clear()

    def take(self, used: int) -> None:
        """Refuses a step unless it is made with all of the batch that was drawn last.

        Workers draw batches ahead. Then it is the oldest batch with which no step was made yet.
        """
        drawn = self.unused.popleft() if self.unused else None
        if drawn is None or (self.unused and not self._prefetched):
            raise refused(
                "this step was not made with the batch that the loader of make_private drew last",
                "iterate over data_loader of PrivateTraining; " + _ALL_OF_EACH,
            )
        if drawn != used:
            raise refused(f"the loader drew {drawn} records, but this step was made with {used}", _ALL_OF_EACH)


class PoissonBatches(Batches, UniformWithReplacementSampler):
    """Poisson batches of the records that are one process's share.

    The probability of a record is a multiple of 2⁻⁵³ and never larger than batch size / records. The seed comes from
    the operating system, so no two processes draw alike, and no run draws like another.
    """

    def __init__(
        self, *, share: range, batch_size: int, records: int, steps: int, made: Callable[[], int], prefetched: bool
    ) -> None:
        UniformWithReplacementSampler.__init__(
            self,
            num_samples=len(share),
            sample_rate=(batch_size * 2**53 // records) / 2**53,
            generator=fresh_generator(torch.device("cpu")),
            steps=steps_in_a_pass(records, batch_size),
        )
        Batches.__init__(self, steps=steps, made=made, prefetched=prefetched)
        self._share = share

    @property
    def settings(self) -> dict[str, object]:
        return {"sample rate": self.sample_rate}

    def _rest_of_pass(self) -> Iterator[list[int]]:
        for _ in range(self.steps):
            uniform = torch.rand(self.num_samples, generator=self.generator, dtype=torch.float64)
            yield [self._share[place] for place in (uniform < self.sample_rate).nonzero().flatten().tolist()]


def steps_in_a_pass(records: int, batch_size: int) -> int:
    """The number of records over the batch size, rounded up."""
    return -(-records // batch_size)


def with_batches(data_loader: DataLoader[Any], batches: Batches) -> DataLoader[Any]:
    """The same loader with other batches; an empty batch looks like a batch of one record, without that record."""
    collate = wrap_collate_with_empty(collate_fn=data_loader.collate_fn)
    collate.first_batch = data_loader.collate_fn([data_loader.dataset[0]])
    return DataLoader(
        data_loader.dataset,
        batch_sampler=batches,
        collate_fn=collate,
        num_workers=data_loader.num_workers,
        pin_memory=data_loader.pin_memory,
        timeout=data_loader.timeout,
        worker_init_fn=data_loader.worker_init_fn,
        multiprocessing_context=data_loader.multiprocessing_context,
        prefetch_factor=data_loader.prefetch_factor,
        persistent_workers=data_loader.persistent_workers,
    )
