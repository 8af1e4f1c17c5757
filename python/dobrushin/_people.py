"""Whose each record is.

Names are for the one who keeps the ledger. So what is wrong with a name is said, unlike what is wrong with a private cell.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dobrushin._frame import picked, wide
from dobrushin.errors import InvalidInputError

__all__: list[str] = []


def names_of(given: Any, what: str) -> Any:
    """A name for each record: an array of whole numbers, or a list of what may be names."""
    example = f'{what}=table["customer"], a name for each record'
    if isinstance(given, Mapping) or hasattr(given, "collect") or hasattr(given, "columns"):
        raise InvalidInputError(f"{what} is a table, but it must be one column of names", example)
    if isinstance(given, str | bytes | bytearray) or not hasattr(given, "__iter__"):
        raise InvalidInputError(f"{what} is {given!r}, but it must have a name for each record", example)
    if isinstance(given, set | frozenset):
        raise InvalidInputError(f"{what} is a set, which has no order", f"{what}=sorted(…)")
    if getattr(given, "ndim", 1) != 1:
        raise InvalidInputError(f"{what} is an array of {given.ndim} dimensions, but a column has one", example)
    dtype = getattr(given, "dtype", None)
    is_masked = isinstance(given, np.ma.MaskedArray)
    if isinstance(dtype, np.dtype) and dtype.kind in "iu" and dtype != np.uint64 and not is_masked:
        return np.asarray(given).astype(np.int64)
    # pyarrow calls it to_pylist; pandas and polars call it to_list.
    for to_list in ("to_pylist", "to_list"):
        if hasattr(given, to_list):
            return getattr(given, to_list)()
    return list(given)


def person_of(data: Any, person: Any, columns: Sequence[str] | None) -> Any:
    """The name of a column of a file, or a name for each record of a table: those of a column of this name, or these."""
    wish = 'person="customer", a column of the data, or person=names, a name for each record'
    if isinstance(data, str | os.PathLike):
        if isinstance(person, str):
            return person
        raise InvalidInputError("person has names, but the data are a file, which itself says whose each record is", wish)
    if not isinstance(person, str):
        return names_of(person, "person")
    rows = data[0] if isinstance(data, tuple) and len(data) == 2 else data
    if not isinstance(rows, np.ndarray | list | tuple):
        return names_of(picked(rows, [person], "the data", wish)[0], "person")
    found, known = wide(rows, "the data"), list(columns or [])
    if person not in known or len(known) != found.shape[1]:
        raise InvalidInputError(f"person is {person!r}, but no column of X is known by this name", wish)
    return names_of(found[:, known.index(person)], "person")
