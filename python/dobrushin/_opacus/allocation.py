# mypy: disable-error-code="import-untyped,import-not-found"
# mypy: allow-subclassing-any
"""Random allocation: in each pass every record goes to one batch of its own random choice."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.utils.data import Sampler

from dobrushin._opacus.batches import Batches, steps_in_a_pass
from dobrushin._opacus.checks import refused

#: Random words are below this number.
_WORDS = 2**62


class AllocationSampler(Sampler[list[int]]):
    """A batch sampler in which each record draws one batch of each pass, uniformly and independently of all others.

    A pass has ⌈records / batch size⌉ batches. Their sizes vary, and some may be empty. Make a step with each of them,
    and divide each sum of gradients by the batch size, whatever number of records is in the batch. Then the run is the
    one that ``dobrushin.account`` knows as ``order="allocation"``. It is neither Poisson sampling nor shuffling, so
    accountants for these do not apply.

    :func:`~dobrushin.opacus.make_private` with ``order="allocation"`` checks all this. Use the sampler itself for a loop
    of your own: ``DataLoader(dataset, batch_sampler=AllocationSampler(range(len(dataset)), 256, records=60_000))``.

    Args:
        share: The places of the records in the data set; in one of several processes, of those that only this one uses.
        batch_size: About the mean size of a batch, over all processes; sums are divided by it.
        records: A public number that the records of all processes do not exceed.
        generator: Where the choices come from, for tests. If left out, from the operating system.

    >>> passes = AllocationSampler(range(10), 4, records=12)
    >>> batches = list(passes)
    >>> len(batches), sorted(sum(batches, []))
    (3, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    def __init__(
        self, share: Sequence[int], batch_size: int, *, records: int, generator: torch.Generator | None = None
    ) -> None:
        if not 1 <= batch_size <= records or len(share) > records:
            raise refused(
                f"records is {records}, batch_size is {batch_size} and there are {len(share)} records, "
                "but a batch has at least one record and neither may exceed records",
                "give a public number that is the same whether or not one person is there",
            )
        self._share = share
        #: The number of batches of a pass.
        self.batches = steps_in_a_pass(records, batch_size)
        #: Where the choices come from, if not from the operating system; Opacus's secure mode sets it.
        self.generator = generator
        self._is_begun = False

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Iterator[list[int]]:
        if self._is_begun:
            raise refused(
                "the last pass was left before its end, and in a new one its records might be used twice",
                "go through every batch of a pass",
            )
        self._is_begun = True
        yield from self._allocate()
        self._is_begun = False

    def _allocate(self) -> list[list[int]]:
        """The batches of a new pass."""
        places = self._places()
        sizes = torch.bincount(places, minlength=self.batches).tolist()
        records = iter(torch.argsort(places, stable=True).tolist())
        return [[self._share[record] for record in itertools.islice(records, size)] for size in sizes]

    def _places(self) -> Tensor:
        """A batch for each record. Words beyond the last multiple of the number of batches are drawn again, so that all
        batches are equally likely."""
        places = torch.empty(0, dtype=torch.int64)
        while (missing := len(self._share) - len(places)) > 0:
            words = self._words(missing)
            words = words[words < _WORDS - _WORDS % self.batches]
            places = torch.cat([places, words % self.batches])
        return places

    def _words(self, count: int) -> Tensor:
        """Independent numbers, uniform below 2⁶²."""
        if self.generator is not None:
            return torch.randint(_WORDS, (count,), generator=self.generator, dtype=torch.int64)
        return torch.frombuffer(bytearray(secrets.token_bytes(8 * count)), dtype=torch.int64) % _WORDS


class AllocatedBatches(Batches, AllocationSampler):
    """The allocated batches of a run. A pass that is left early is continued, because its records have their places."""

    def __init__(
        self, *, share: range, batch_size: int, records: int, steps: int, made: Callable[[], int], prefetched: bool
    ) -> None:
        AllocationSampler.__init__(self, share, batch_size, records=records)
        Batches.__init__(self, steps=steps, made=made, prefetched=prefetched)
        #: The pass whose batches were drawn, and the batches.
        self._pass: tuple[int, list[list[int]]] | None = None

    @property
    def settings(self) -> dict[str, object]:
        return {"number of batches": self.batches}

    def check_pause(self) -> None:
        if made := self._made() % self.batches:
            raise refused(
                f"{made} of {self.batches} steps of a pass are made, and a checkpoint does not hold the places of records",
                "take checkpoints between two passes",
            )

    def forget(self) -> None:
        super().forget()
        self._pass = None

    def _rest_of_pass(self) -> Iterator[list[int]]:
        number, place = divmod(self._made(), self.batches)
        if self._pass is None or self._pass[0] != number:
            if place != 0:
                raise refused(
                    f"{place} of {self.batches} steps of a pass are made, and the places of its records are not known any more",
                    "continue from a checkpoint that was taken between two passes",
                )
            self._pass = number, self._allocate()
        yield from self._pass[1][place:]
