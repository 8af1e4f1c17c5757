"""What travels: a greeting, which asks owners for their names, and a step, as a question and as its answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, RecordDict

from dobrushin._flower.journey import Journey, Vector
from dobrushin.errors import InvalidInputError


def greeting(journey: Journey, name: str = "") -> RecordDict:
    """Asks who the owner is; the answer is the same with a name."""
    return RecordDict({"greeting": ConfigRecord({"owner": name, **asdict(journey)})})


def is_greeting(message: Message) -> bool:
    """Whether somebody asks who the owner is."""
    return set(message.content) == {"greeting"}


def read_greeting(message: Message, journey: Journey) -> str:
    """The name in a greeting, if it is one about this journey."""
    if not is_greeting(message) or set(message.content.config_records) != {"greeting"}:
        raise InvalidInputError("the message is not a greeting")
    return _owner(dict(message.content.config_records["greeting"]), journey)


def content(model: Vector, number: int, owner: str, journey: Journey) -> RecordDict:
    """A question and its answer look the same: a model, the number of the step, whose it is, and what a step is."""
    step = ConfigRecord({"number": number, "owner": owner, **asdict(journey)})
    return RecordDict({"model": ArrayRecord([model]), "step": step})


def read(message: Message, journey: Journey) -> tuple[Vector, int, str]:
    """The model, the number of the step and the owner's name, if the message is one about this journey."""
    records = message.content
    if set(records.array_records) != {"model"} or set(records.config_records) != {"step"} or records.metric_records:
        raise InvalidInputError("the message has other records than a model and a step")
    step = dict(records.config_records["step"])
    number = step.pop("number", None)
    owner = _owner(step, journey)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= journey.steps:
        raise InvalidInputError(f"there is no step {number!r} in this journey")
    arrays = records.array_records["model"].to_numpy_ndarrays()
    if len(arrays) != 1 or arrays[0].shape != (journey.dimension,) or arrays[0].dtype != np.float64:
        raise InvalidInputError(f"the model is not one of {journey.dimension} parameters of double precision")
    model: Vector = arrays[0]
    if not np.linalg.norm(model) <= journey.radius:
        raise InvalidInputError(f"the model is not in the ball of norm {journey.radius}")
    return model, number, owner


def _owner(record: dict[str, Any], journey: Journey) -> str:
    owner = record.pop("owner", None)
    if record != asdict(journey) or not isinstance(owner, str):
        raise InvalidInputError("the message is about another journey")
    return owner
