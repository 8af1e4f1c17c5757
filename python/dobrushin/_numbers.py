"""The types of numbers and arrays that are accepted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, SupportsFloat, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dobrushin.errors import InvalidInputError

Number: TypeAlias = float | np.floating[Any] | np.integer[Any]
"""One number."""

Array: TypeAlias = NDArray[np.float64]
"""An array that is returned."""

Numbers: TypeAlias = Number | NDArray[Any] | Sequence[Any]
"""A number, an array of numbers, or a list of them."""

Law: TypeAlias = Sequence[SupportsFloat] | NDArray[Any]
"""The probabilities of finitely many outcomes."""

_Text = TypeVar("_Text", str, str | None)


def word(name: str, given: _Text) -> _Text:
    """The text that is given as the argument of this name."""
    if given is None or isinstance(given, str):
        return given
    raise InvalidInputError(f"{name} is a {type(given).__name__}, but it must be text", f'{name}="…"')


def is_number(value: object) -> bool:
    """Whether this is a finite number of Python, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
