"""The server's app of the example, with a spy that writes down every answer that ever arrives, and asks again."""

import hashlib
import json
import math
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flwr.app import Context, Message
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid, ServerApp
from owners import server_app as example

FOLDER = Path(os.environ["FEDERATION"])
app = ServerApp()


class Spy:
    """The grid of Flower; late answers, which nobody waits for any more, are written down too."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.open: set[str] = set()
        self.asked: dict[int, Message] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.grid, name)

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float, enough: float = math.inf
    ) -> list[Message]:
        """Like Flower's, which looks for answers every three seconds. Nodes that were killed long count as there, so that
        it may be enough that so many answered."""
        messages = list(messages)
        for message in messages:
            if "step" in message.content:
                self.asked[int(message.content["step"]["number"])] = message
        wanted = set(self.grid.push_messages(messages))
        self.open |= wanted
        found: list[Message] = []
        deadline = time.monotonic() + timeout
        while len(found) < len(wanted) and sum(map(is_of_a_node, found)) < enough and time.monotonic() < deadline:
            for reply in self.grid.pull_messages(self.open):
                self.open.discard(reply.metadata.reply_to_message_id)
                self.write_down(reply)
                if reply.metadata.reply_to_message_id in wanted:
                    found.append(reply)
            time.sleep(0.3)
        return found

    def write_down(self, reply: Message) -> None:
        """What the answer is, and then the node's death, if that was asked for."""
        if reply.has_error() or "step" not in reply.content:
            return
        step, (model,) = dict(reply.content["step"]), reply.content["model"].to_numpy_ndarrays()
        digest = hashlib.sha256(model.tobytes()).hexdigest()
        release = {**step, "node": str(reply.metadata.src_node_id), "model": digest, "values": model.tolist()}
        with (FOLDER / "releases.jsonl").open("a") as file:
            file.write(json.dumps(release) + "\n")
        node, round_ = (FOLDER / f"answered-{step['number']}").read_text().split()
        order = FOLDER / f"kill-{node}-{round_}-after"
        if order.exists():
            order.rename(FOLDER / f"done-{order.name}")
            os.kill(int((FOLDER / f"node-{node}.pid").read_text()), signal.SIGKILL)

    def ask_again(self, number: int, owners: int) -> int:
        """Asks every node once more for a step, and counts who takes it."""
        question = self.asked[number]
        messages = [
            Message(question.content, dst_node_id=node, message_type="train", ttl=60.0, group_id="again")
            for node in self.grid.get_node_ids()
        ]
        replies = self.send_and_receive(messages, timeout=120.0, enough=owners)
        return sum(not reply.has_error() for reply in replies)


def is_of_a_node(reply: Message) -> bool:
    """Whether a node answered or refused; Flower itself says that others are gone."""
    return not reply.has_error() or reply.error.code == ErrorCode.CLIENT_APP_RAISED_EXCEPTION


@app.main()
def main(grid: Grid, context: Context) -> None:
    """The example's journey; then every step of the last pass is asked for again."""
    spy = Spy(grid)
    example.main(spy, context)  # type: ignore[arg-type]
    last, owners = max(spy.asked), int(context.run_config["owners"])
    for number in range(last - owners + 1, last + 1):
        print(f"step {number} was asked for again, and answered by {spy.ask_again(number, owners)}")
