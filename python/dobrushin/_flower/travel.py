"""The server's side: the model is passed on, and only the last one is released."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable

import numpy as np
from flwr.app import Message, MessageType, RecordDict
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid

from dobrushin._flower.journey import Arrival, Journey, Stop, Vector, certify
from dobrushin._flower.messages import content, greeting, read, read_greeting
from dobrushin.errors import InvalidInputError, NoGuaranteeError

# Errors that say nothing but that a node is not there, or was killed. It may come back.
_GONE = {
    ErrorCode.MESSAGE_UNAVAILABLE,
    ErrorCode.REPLY_MESSAGE_UNAVAILABLE,
    ErrorCode.NODE_UNAVAILABLE,
    ErrorCode.CLIENT_APP_CRASHED,
}


def travel(
    grid: Grid, journey: Journey, *, delta: float, timeout: float = 3600.0, patience: float = 60.0
) -> Arrival:
    """Take the model from owner to owner, and return the last one with its account.

    Call it in the main function of a ``ServerApp``. Owners are visited in the order of their names, which are random.

    A node that does not answer within ``patience`` seconds may have been killed. It is asked again, also if it comes back
    as another node of Flower: its logbook knows its name, and whether it took the step. If an owner does not answer
    within ``timeout`` seconds, fails, or answers anything but the step that was asked for, then
    :class:`~dobrushin.NoGuaranteeError` is raised. There is no model then and no certificate, because whether an owner
    fails may depend on what they hold.
    """
    journey.against_public(delta).certificate()  # If there is none, nobody is asked.
    owners = _Owners(grid, journey, timeout, patience)
    owners.meet()
    model = np.zeros(journey.dimension)
    journal: list[Stop] = []
    for number in range(1, journey.steps + 1):
        name = owners.names[(number - 1) % journey.owners]
        model, stop = _answer(owners.ask(name, number, model), name, number, journey)
        journal.append(stop)
    # The last model is rounded, towards 0 to stay in the ball, so that the last digits of the noise say nothing.
    unit = journey.noise * 2.0**-20
    return Arrival(np.trunc(model / unit) * unit, certify(journal, delta), tuple(journal))


class _Owners:
    """The owners of a journey, and the nodes at which they are. A node that comes back may have another number."""

    def __init__(self, grid: Grid, journey: Journey, timeout: float, patience: float) -> None:
        self.grid = grid
        self.journey = journey
        self.timeout = timeout
        self.patience = patience
        self.nodes: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """The owners, in the order in which they are visited."""
        return sorted(self.nodes)

    def meet(self) -> None:
        """Waits until all owners are there, and no node more, and asks each for the name in its logbook."""
        deadline = time.monotonic() + self.timeout
        while True:
            ids = sorted(self.grid.get_node_ids())
            met = self._greet(ids) if len(ids) == self.journey.owners else {}
            if len(met) == self.journey.owners:
                break
            if time.monotonic() >= deadline:
                raise NoGuaranteeError(
                    f"{len(ids)} owners are connected, but the journey is one to {self.journey.owners}"
                    if len(ids) != self.journey.owners
                    else f"{len(met)} of {len(ids)} owners answered"
                )
            time.sleep(0.2)
        self.nodes = {name: node for node, name in met.items()}
        if len(self.nodes) != len(met):
            raise NoGuaranteeError("two nodes are the same owner: they have one logbook")

    def ask(self, name: str, number: int, model: Vector) -> list[Message]:
        """Asks for a step until there is an answer; the logbook sees to it that the step is taken once."""
        deadline = time.monotonic() + self.timeout
        while True:
            node = self.nodes[name]
            if node in self.grid.get_node_ids():
                question = content(model, number, name, self.journey)
                replies = self._send({node: question}, str(number))
                if replies and not all(_is_gone(reply) for reply in replies):
                    return [reply for reply in replies if reply.metadata.src_node_id == node]
            if time.monotonic() >= deadline:
                raise NoGuaranteeError(
                    f"step {number} was not taken: its owner gave no answer, so there is nothing to release"
                )
            for newcomer in set(self.grid.get_node_ids()) - set(self.nodes.values()):
                # Somebody else who came later is not asked for steps.
                with contextlib.suppress(NoGuaranteeError):
                    self.nodes.update({back: newcomer for back in self._greet([newcomer]).values() if back in self.nodes})
            time.sleep(0.2)

    def _greet(self, ids: list[int]) -> dict[int, str]:
        """The names of the nodes that are there.

        Raises:
            NoGuaranteeError: A node did not agree to the journey, or failed.
        """
        met = {}
        for reply in self._send({node: greeting(self.journey) for node in ids}, "greeting"):
            if _is_gone(reply):
                continue
            if reply.has_error():
                raise NoGuaranteeError("an owner did not agree to the journey, or failed, so nobody took a step")
            try:
                met[reply.metadata.src_node_id] = read_greeting(reply, self.journey)
            except InvalidInputError as error:
                raise NoGuaranteeError(f"an owner did not agree to the journey: {error}") from error
        return met

    def _send(self, contents: dict[int, RecordDict], group: str) -> list[Message]:
        messages = [
            Message(content, dst_node_id=node, message_type=MessageType.TRAIN, ttl=self.timeout, group_id=group)
            for node, content in contents.items()
        ]
        return list(self.grid.send_and_receive(messages, timeout=min(self.patience, self.timeout)))


def _answer(replies: Iterable[Message], owner: str, number: int, journey: Journey) -> tuple[Vector, Stop]:
    """The new model; why an owner failed is not repeated, because it may depend on what they hold."""
    answers = list(replies)
    if len(answers) != 1 or answers[0].has_error():
        raise NoGuaranteeError(f"step {number} was not taken: its owner failed, so there is nothing to release")
    try:
        model, taken, by = read(answers[0], journey)
    except InvalidInputError as error:
        raise NoGuaranteeError(f"step {number} was not taken as agreed: {error}") from error
    if (taken, by) != (number, owner):
        raise NoGuaranteeError(f"step {number} was asked for, but step {taken} was taken, or by another owner")
    return model, Stop(taken, by, journey)


def _is_gone(reply: Message) -> bool:
    return reply.has_error() and reply.error.code in _GONE
