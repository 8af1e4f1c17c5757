"""Deleting records from a model whose state was kept."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dobrushin import _core
from dobrushin._frame import ACCEPTED, columns_of
from dobrushin.errors import InvalidInputError
from dobrushin.questions import _list, _word
from dobrushin.report import Certificate, Guarantee, _Document, _interval, _up
from dobrushin.run import as_path
from dobrushin.training import Trained, _check_seed, _text

__all__ = ["Forgotten", "forget"]

Array = np.ndarray[Any, Any]

WANTED = "remove=[7, 21] are rows by their numbers; a mask, a table of the rows, and the path of a file are accepted as well"


class Forgotten(_Document):
    """What came of :func:`forget`: how many clean steps it takes, what they guarantee, and the new model.

    ``trained`` is the new model with its certificate; ``None`` after a dry run. ``text`` is what the program prints.
    """

    __slots__ = ("trained",)

    trained: Trained | None

    def __init__(self, data: str, text: str, trained: Trained | None = None) -> None:
        super().__init__(data, text)
        self.trained = trained

    @property
    def model(self) -> bytes | None:
        """The bytes of the new model's file; ``None`` after a dry run."""
        return None if self.trained is None else self.trained.model

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the new model, which is about all deleted records together; ``None`` after a dry run."""
        return None if self.trained is None else self.trained.certificate

    @property
    def steps(self) -> int:
        """The clean steps of this request."""
        return int(self._data["steps"])

    @property
    def records(self) -> int:
        """How many records this request deletes."""
        return int(self._data["records"])

    @property
    def requests(self) -> int:
        """How many requests there were, this one included."""
        return int(self._data["requests"])

    @property
    def deleted(self) -> int:
        """How many records all requests deleted."""
        return int(self._data["deleted"])

    @property
    def guarantee(self) -> Guarantee:
        """How close the model is to one that never used the deleted records. It says nothing about the others."""
        return _guarantee(self._data["guarantee"])

    @property
    def everyone_else(self) -> Guarantee | None:
        """What the new model by itself guarantees those whose records remain; ``None`` if nothing is known."""
        found = self._data["everyone_else"]
        return None if found is None else _guarantee(found)

    @property
    def private(self) -> bool:
        """Whether nobody knows the randomness, that of training included."""
        return bool(self._data["private"])

    @property
    def state(self) -> str | None:
        """The path of the state, which was replaced; ``None`` after a dry run."""
        return self._data.get("state")

    @property
    def test(self) -> dict[str, Any] | list[dict[str, Any]] | None:
        """The metrics on the test records, if there were any."""
        return self.to_dict().get("test")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._data, self.text, self.trained)

    def __repr__(self) -> str:
        made = "needed" if self.trained is None else "made"
        found = self.guarantee
        return (
            f"<Forgotten: {self.steps} clean steps {made}; "
            f"epsilon={_up(found.epsilon.upper)}, delta={_up(found.delta.upper)} for {self.deleted} deleted>"
        )


def forget(
    state: str | os.PathLike[str],
    data: Any,
    *,
    remove: Any = None,
    remove_where: Any = None,
    group: str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    steps: int | None = None,
    columns: Sequence[str] | None = None,
    test: Any = None,
    dry_run: bool = False,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    seed: int | None = None,
    not_private: bool = False,
) -> Forgotten:
    """Delete records from a model: make the fewest clean steps after which it is as if they had never been used.

    ``state`` is the path that :func:`~dobrushin.train` was given as ``keep_state``. ``data`` are the records of training,
    the same rows in the same order, as :func:`~dobrushin.train` takes them. Rows that earlier requests deleted may be
    there or not. What is deleted is said by one of

    - ``remove``: the numbers of rows of ``data``, counted from 0; a mask with ``True`` for each of them; the rows
      themselves, as a table or arrays ``(X, y)``; or the path of a file with them. Rows that are given themselves may
      already be missing from ``data``.
    - ``remove_where``: a dict of columns, each with a value or a list of values. A row is deleted if it has any of them.
      The columns need not be in the schema. ``"COLUMN=VALUE"``, or a list of such texts, is accepted as well.

    With ``group``, all rows with the same value in this column, such as all rows of a person, are deleted with them; a
    table of ``remove`` then needs only this column.

    ``epsilon`` and ``delta`` are what is to be met, for all deleted records together. ``steps`` makes this many steps
    instead of the fewest. With ``dry_run`` nothing is made or written: the answer says how many steps it would take.
    Otherwise the new state replaces the old one, together with the model and its certificate if ``out`` names a folder
    for them. A request that is refused, or interrupted by Ctrl-C, leaves everything as it was.

    ``columns``, ``test``, ``force``, ``seed`` and ``not_private`` are those of :func:`~dobrushin.train`.

    >>> import dobrushin as db, pathlib, tempfile
    >>> number = {"kind": "number", "lower": 0, "upper": 1}
    >>> schema = {"label": "y", "columns": {"x": number, "y": {"kind": "category", "categories": ["no", "yes"]}}}
    >>> run = db.Run(algorithm="gradient-descent", steps=50, learning_rate=2.0, weight_decay=0.1, ball=10.0,
    ...              model={"kind": "logistic", "schema": schema})
    >>> data = {"x": [0.1, 0.2, 0.8, 0.9] * 500, "y": ["no", "no", "yes", "yes"] * 500}
    >>> state = pathlib.Path(tempfile.mkdtemp(), "state")
    >>> trained = db.train(data, run, epsilon=1.0, delta=1e-6, keep_state=state)
    >>> found = db.forget(state, data, remove=[3], epsilon=0.1, delta=1e-6)
    >>> found.guarantee.epsilon.upper <= 0.1 and bool(db.verify(found.certificate, model=found.model))
    True
    """
    if data is None:
        raise InvalidInputError("there are no data", ACCEPTED)
    _check_seed(seed, not_private)
    if delta is None:
        raise InvalidInputError("delta is not given", "delta=1e-6, well below 1 over the number of records")
    if (remove is None) == (remove_where is None):
        what = "neither remove nor remove_where is given" if remove is None else "remove and remove_where are both given"
        raise InvalidInputError(what, WANTED + '; remove_where={"customer": 4711} finds them by a column')
    if dry_run:
        for name, given in [("out", out), ("test", test), ("force", force or None)]:
            if given is not None:
                raise InvalidInputError(f"{name} is given, but dry_run=True writes nothing", f"leave {name} or dry_run out")
    place = as_path("state", state)
    schema, _ = _core.state_of(place)
    features, labels = schema.columns()
    names = None if columns is None else [_text("columns", name) for name in _list("columns", columns)]
    group = _word("group", group)
    conditions = None if remove_where is None else _conditions(remove_where)
    wanted = [name for name, _ in conditions or []] + ([] if group is None else [group])
    more = [name for name in dict.fromkeys(wanted) if name not in {*features, *labels}]
    like, numbers, mask = _rows(remove, features, labels, names, group)
    made, report, text, warning = _core.forget(
        place,
        columns_of(data, features, labels, names, more=more),
        like=like,
        numbers=numbers,
        mask=mask,
        conditions=conditions,
        group=group,
        more=more,
        epsilon=epsilon,
        delta=delta,
        steps=steps,
        dry_run=bool(dry_run),
        test=None if test is None else columns_of(test, features, labels, names, "the test records"),
        out=None if out is None else as_path("out", out),
        force=bool(force),
        seed=seed,
    )
    if warning is not None:
        warnings.warn(warning, UserWarning, stacklevel=2)
    trained = None if made is None else Trained(made[0], Certificate(made[1]), None, names)
    return Forgotten(report, text, trained)


def _rows(
    remove: Any, features: list[str], labels: list[str], names: list[str] | None, group: str | None
) -> tuple[Any, list[int] | None, int | None]:
    """The rows to remove: themselves, or their numbers and, for a mask, its length."""
    if remove is None:
        return None, None, None
    is_table = isinstance(remove, str | os.PathLike | Mapping) or hasattr(remove, "columns")
    is_pair = isinstance(remove, tuple) and len(remove) == 2 and not all(np.ndim(part) == 0 for part in remove)
    if is_table and group is not None:
        return columns_of(remove, [group], [], None, "the rows to remove"), None, None
    if is_pair and group is not None:
        raise InvalidInputError(
            "remove is given as (X, y), which has no column for group", "remove=a table with that column, or numbers of rows"
        )
    if is_table or is_pair:
        return columns_of(remove, features, labels, names, "the rows to remove"), None, None
    return None, *_numbers(remove)


def _numbers(remove: Any) -> tuple[list[int], int | None]:
    """The numbers of rows, and for a mask its length."""
    if isinstance(remove, bool | np.bool_ | float | complex | bytes):
        raise InvalidInputError(f"remove is {remove!r}, but it must say which rows", WANTED)
    if isinstance(remove, int | np.integer):
        raise InvalidInputError(f"remove is {remove!r}, but it must be a list of rows", f"remove=[{remove}]")
    if not isinstance(remove, np.ndarray):
        if not hasattr(remove, "__iter__"):
            raise InvalidInputError(f"remove is a {type(remove).__name__}, but it must say which rows", WANTED)
        given = remove.to_numpy() if hasattr(remove, "to_numpy") else list(remove)
        if isinstance(given, list):
            remove = np.empty(len(given), dtype=object)
            for place, one in enumerate(given):
                remove[place] = one
        else:
            remove = given
    if remove.ndim != 1:
        raise InvalidInputError(
            f"remove is an array of {remove.ndim} dimensions, but numbers of rows and masks have one",
            "rows themselves are given with their labels: remove=(X, y)",
        )
    if remove.dtype == bool or (len(remove) and all(isinstance(one, bool | np.bool_) for one in remove)):
        return [int(row) for row in np.flatnonzero(remove)], len(remove)
    rows = []
    for one in remove.tolist():
        whole = isinstance(one, int) and not isinstance(one, bool)
        if isinstance(one, np.integer):
            one, whole = int(one), True
        if not whole:
            raise InvalidInputError(f"remove has {one!r}, but numbers of rows are whole, or all are True or False", WANTED)
        if not 0 <= one < 2**64:
            raise InvalidInputError(f"remove has {one}, but rows are counted from 0", WANTED)
        rows.append(one)
    return rows, None


def _conditions(given: Any) -> list[tuple[str, Any]]:
    """Columns with a value each."""
    example = 'remove_where={"customer": 4711}'
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Mapping):
        found: list[tuple[str, Any]] = []
        for word in _list("remove_where", given):
            name, equals, value = word.partition("=") if isinstance(word, str) else ("", "", "")
            if not equals or not name.strip():
                raise InvalidInputError(f"remove_where {word!r} does not name a column and a value", example)
            found.append((name.strip(), value.strip()))
    else:
        found = [
            (_text("remove_where", name), value)
            for name, values in given.items()
            for value in (values if _is_several(values) else [values])
        ]
    if not found:
        raise InvalidInputError("remove_where is empty", example)
    cleaned = []
    for name, value in found:
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, float) and math.isnan(value):
            raise InvalidInputError(f"remove_where has no value for the column {name!r}", example)
        if not isinstance(value, str | int | float):
            raise InvalidInputError(f"remove_where has a {type(value).__name__} for the column {name!r}", example)
        cleaned.append((name, value))
    return cleaned


def _is_several(values: Any) -> bool:
    return isinstance(values, list | tuple | set | frozenset | np.ndarray) or hasattr(values, "to_numpy")


def _guarantee(data: Mapping[str, Any]) -> Guarantee:
    return Guarantee(_interval(data["epsilon"]), _interval(data["delta"]), data["analysis"], list(data["assumptions"]))


def _again(data: dict[str, Any], text: str, trained: Trained | None) -> Forgotten:
    found = Forgotten("{}", text, trained)
    found._json = data
    return found
