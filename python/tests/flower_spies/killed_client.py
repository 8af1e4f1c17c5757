"""The owner's app of the example, on a node that is killed where the test says so.

A file ``kill-NODE-PASS-MOMENT`` asks for it. The moment is ``before`` (the step is not yet taken), ``between`` (it was
taken, and nothing was sent) or ``after`` (the server has the answer; the server's spy does this one).
"""

import os
import signal
from pathlib import Path

from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from owners import client_app as example

FOLDER = Path(os.environ["FEDERATION"])
app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    """The example's step, with a death before or after it."""
    node = int(context.node_config["partition-id"])
    if "step" not in message.content:
        return example.train(message, context)
    number = int(message.content["step"]["number"])
    round_ = (number - 1) // int(context.run_config["owners"]) + 1
    die(node, f"kill-{node}-{round_}-before")
    reply = example.train(message, context)
    (FOLDER / f"answered-{number}").write_text(f"{node} {round_}")
    die(node, f"kill-{node}-{round_}-between")
    return reply


def die(node: int, order: str) -> None:
    """Kills the node, with whatever it would have sent, if that was asked for."""
    try:
        (FOLDER / order).unlink()
    except FileNotFoundError:
        return
    (FOLDER / f"done-{order}").touch()
    os.kill(int((FOLDER / f"node-{node}.pid").read_text()), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
