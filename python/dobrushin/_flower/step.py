"""An owner's side: one noisy step on their own rows, once."""

from __future__ import annotations

import logging
import random

import numpy as np
import numpy.typing as npt
from flwr.app import Message

from dobrushin._flower.journey import Journey, Vector
from dobrushin._flower.logbook import Logbook
from dobrushin._flower.messages import content, greeting, is_greeting, read, read_greeting
from dobrushin.errors import InvalidInputError

_log = logging.getLogger(__name__)

# Rows and models are kept this much shorter than they may be, so that rounding never makes them longer.
_ROOM = 1 - 1e-9


def take_step(
    message: Message, logbook: Logbook, journey: Journey, features: npt.ArrayLike, labels: npt.ArrayLike
) -> Message:
    """Take an owner's step on their own rows, and answer with the new model.

    Call it in the ``train`` function of a ``ClientApp``. ``journey`` is what the owner agreed to. A message that asks
    for anything else is refused before a row is looked at: other noise, a step out of turn, a step that was already
    taken from another model. Every step is in the ``logbook`` before it leaves, and none is taken twice; whoever asks for
    the last one again, from the same model, gets the same answer. A server that asks who the owner is gets their name.

    ``labels`` above 0 are one class, and all others are the other class. What the rows hold stops nothing and appears
    in no answer. A row that cannot be used counts as empty. So do all rows if they do not have ``journey.dimension``
    columns; only the owner's own log says so.
    """
    travelling = f"run {message.metadata.run_id} of Flower"
    name = logbook.name(travelling)
    if is_greeting(message):
        read_greeting(message, journey)
        return Message(greeting(journey, name), reply_to=message)
    model, number, owner = read(message, journey)
    if owner != name:
        raise InvalidInputError(f"step {number} is that of another owner")
    answer = logbook.once(travelling, number, journey, model, lambda: _noisy_step(model, journey, features, labels))
    return Message(content(answer, number, name, journey), reply_to=message)


def _noisy_step(model: Vector, journey: Journey, features: npt.ArrayLike, labels: npt.ArrayLike) -> Vector:
    rows = _signed_rows(journey, features, labels)
    gradient = -(rows * (0.5 - 0.5 * np.tanh(rows @ model / 2))[:, np.newaxis]).mean(axis=0)
    # The noise goes to the gradient first: whatever the model is, all that follows is computed from their sum.
    noisy = gradient + journey.gradient_noise * _gaussian(journey.dimension)
    return _shorten(np.atleast_2d(model - journey.learning_rate * noisy), journey.radius).ravel()


def _signed_rows(journey: Journey, features: npt.ArrayLike, labels: npt.ArrayLike) -> Vector:
    """The rows times their labels of 1 or −1, no longer than was agreed on; a row that cannot be used is 0."""
    nothing = np.zeros((1, journey.dimension))
    try:
        rows, classes = np.asarray(features, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        _log.warning("your rows are not numbers, so all of them count as empty")
        return nothing
    if rows.ndim != 2 or rows.shape[1] != journey.dimension or classes.shape != rows.shape[:1]:
        _log.warning(
            "your rows do not have %d columns and a label each, so all of them count as empty", journey.dimension
        )
        return nothing
    if not len(rows):
        return nothing
    usable = np.isfinite(rows).all(axis=1) & np.isfinite(classes)
    rows = np.where(usable[:, np.newaxis], np.clip(rows, -1e100, 1e100), 0.0)
    signs = np.where(classes > 0, 1.0, -1.0)[:, np.newaxis]
    return _shorten(signs * rows, journey.row_norm)


def _shorten(rows: Vector, norm: float) -> Vector:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    shortened: Vector = rows * (norm * _ROOM / np.maximum(lengths, norm * _ROOM))
    return shortened


def _gaussian(dimension: int) -> Vector:
    """Standard Gaussian noise from the operating system's source.

    Each number is half the sum of four, because the last digits of a single draw would tell how it was drawn.
    """
    draw = random.SystemRandom().normalvariate
    return np.array([sum(draw() for _ in range(4)) / 2 for _ in range(dimension)])
