"""Tables in memory as columns: what a CSV file of the same values would hold.

What a private cell holds must not show, so nothing here raises an exception, or warns, because of it. Only the names, the
number and the lengths of columns can be wrong.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from dobrushin.errors import InvalidInputError
from dobrushin.run import as_path

__all__: list[str] = []

Given: TypeAlias = str | list[Any]
"""The path of a file, or columns."""

ACCEPTED = "give a pandas or polars data frame, a dict of columns, arrays (X, y), or the path of a CSV file"
SCHEMA = "the schema names the columns that are needed"


def columns_of(
    data: Any,
    features: Sequence[str],
    labels: Sequence[str],
    names: Sequence[str] | None,
    what: str = "the data",
    more: Sequence[str] = (),
) -> Given:
    """The columns that are wanted, those of the features first, then the labels, and then ``more``.

    ``names`` are those of the columns of an array.
    """
    if isinstance(data, str | os.PathLike):
        return as_path(what, data)
    if more:
        every = columns_of(data, [*features, *more], labels, names, what)
        first, last = len(features), len(features) + len(more)
        return [*every[:first], *every[last:], *every[first:last]]
    if isinstance(data, tuple) and len(data) == 2 and labels:
        rows, targets = data
        columns = _features_of(rows, features, names, what)
        if len(labels) == 1 and len(getattr(targets, "shape", (0,))) == 1:
            return [*columns, _column(targets)]
        found = wide(targets, what)
        if found.shape[1] != len(labels):
            raise InvalidInputError(f"y has {found.shape[1]} columns, but the schema has {len(labels)} labels", "y[:, 0]")
        return [*columns, *(_column(found[:, place]) for place in range(len(labels)))]
    if isinstance(data, np.ndarray) and labels:
        raise InvalidInputError(f"{what} is an array without labels", "give a tuple (X, y)")
    if isinstance(data, np.ndarray):
        return _features_of(data, features, names, what)
    return _named(data, [*features, *labels], what)


def _features_of(rows: Any, features: Sequence[str], names: Sequence[str] | None, what: str) -> list[Any]:
    """The columns of X, which is an array or has names."""
    if not isinstance(rows, np.ndarray | list | tuple):
        return _named(rows, features, what)
    found = wide(rows, what)
    if names is None:
        raise InvalidInputError(
            "X is an array, and a run does not tell the order of its columns", 'columns=["age", …], the names of its columns'
        )
    if len(names) != found.shape[1]:
        raise InvalidInputError(
            f"X has {found.shape[1]} columns, but {len(names)} are declared", "declare each column, in their order"
        )
    places = {name: place for place, name in enumerate(names)}
    return [_column(found[:, _known(places, name, what, SCHEMA)]) for name in features]


def _named(data: Any, wanted: Sequence[str], what: str) -> list[Any]:
    """The columns of a frame or a dict, as arrays and lists."""
    return [_column(column) for column in picked(data, wanted, what)]


def picked(data: Any, wanted: Sequence[str], what: str, wish: str = SCHEMA) -> list[Any]:
    """The columns of a frame or a dict; ``wish`` is what helps if one is missing."""
    if hasattr(data, "collect"):
        raise InvalidInputError(f"{what} is a lazy frame", "call its method collect() first")
    names = data.keys() if isinstance(data, Mapping) else getattr(data, "columns", None)
    if names is None or not hasattr(data, "__getitem__"):
        raise InvalidInputError(f"{what} is a {type(data).__name__}", ACCEPTED)
    places: dict[str, Any] = {}
    for name in names:
        if places.setdefault(str(name), name) is not name:
            raise InvalidInputError(f"two columns of {what} have the name {str(name)!r}", "give each a name of its own")
    return [data[_known(places, name, what, wish)] for name in wanted]


def _known(places: Mapping[str, Any], name: str, what: str, wish: str) -> Any:
    try:
        return places[name]
    except KeyError:
        message = f"there is no column {name!r} in {what}"
        raise InvalidInputError(message, wish) from None


def wide(rows: Any, what: str) -> np.ndarray[Any, Any]:
    """An array of rows and columns."""
    found = rows_of(rows) if isinstance(rows, list | tuple) else np.asarray(rows)
    if found.ndim != 2:
        raise InvalidInputError(f"X of {what} does not have rows and columns", "X.reshape(-1, 1) is one column")
    return found


def rows_of(rows: Sequence[Any]) -> np.ndarray[Any, Any]:
    """A list of rows as an array of objects: NumPy would look at the cells for a type and a shape that fit all of them.

    If the rows have no lengths, or different ones, the array has one dimension.
    """
    widths = {len(row) if hasattr(row, "__len__") and not isinstance(row, str | bytes) else -1 for row in rows}
    if len(widths) != 1 or -1 in widths:
        return np.fromiter(rows, dtype=object, count=len(rows))
    found = np.empty((len(rows), *widths), dtype=object)
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            found[place, column] = cell
    return found


def _column(given: Any) -> Any:
    """An array of 64-bit numbers, or a list of cells."""
    dtype = getattr(given, "dtype", None)
    if dtype is None:
        if isinstance(given, list | tuple):
            return list(given)
        raise InvalidInputError(f"a column is a {type(given).__name__}", "give a list, an array, or a column of a frame")
    if not isinstance(dtype, np.dtype):
        is_numeric = getattr(dtype, "is_numeric", None)
        if not callable(is_numeric) or not is_numeric() or getattr(dtype, "is_decimal", lambda: False)():
            return given.to_list() if hasattr(given, "to_list") else list(given)
        # A column of polars; what is null becomes NaN.
        given = given.to_numpy()
        dtype = given.dtype
    if dtype.kind == "f":
        # A number that is too large becomes infinite, without a word.
        with np.errstate(all="ignore"):
            return _flat(given).astype(np.float64)
    if dtype.kind in "iu" and dtype != np.uint64:
        return _flat(given).astype(np.int64)
    return given.tolist()


def _flat(given: Any) -> np.ndarray[Any, Any]:
    found = np.asarray(given)
    if found.ndim != 1:
        raise InvalidInputError(f"a column has {found.ndim} dimensions", "give one number for each record")
    return found
