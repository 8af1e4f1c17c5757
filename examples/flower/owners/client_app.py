"""What an owner runs: one noisy step on their own rows, whenever it is their turn."""

import numpy as np
from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from dobrushin.flower import Journey, Logbook, Vector, take_step

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    """Take the owner's next step, once, whatever happens to their node."""
    owner = int(context.node_config["partition-id"])
    features, labels = own_rows(owner)
    return take_step(message, own_logbook(owner, context), Journey.from_config(context.run_config), features, labels)


def own_logbook(owner: int, context: Context) -> Logbook:
    """The file that remembers this owner's steps; --node-config "logbook='FILE'" of flower-supernode names it."""
    return Logbook(str(context.node_config.get("logbook", f"owner-{owner}.logbook")))


def own_rows(owner: int) -> tuple[Vector, Vector]:
    """Twenty rows that are made up for this example; yours come from a file or a database that only you can read."""
    made_up = np.random.default_rng(owner)
    features = made_up.normal(size=(20, 3))
    labels = features @ np.array([1.0, -1.0, 0.5]) + made_up.logistic(size=20) > 0
    return features, labels.astype(np.float64)
