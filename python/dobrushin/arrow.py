"""Local privacy on columns of Apache Arrow, for programs that may read a row more than once.

A :class:`Privatizer` is a function from two Arrow columns, what identifies each row and what it answers, to a column of
private reports. DuckDB, Polars and Spark (:mod:`dobrushin.spark`) run it on batches, perhaps more than once on the same
row; the row has the same report each time.

>>> import dobrushin as db
>>> import pyarrow as pa
>>> from dobrushin.arrow import Privatizer, reports_of
>>> mechanism = db.local.k_rr(["bus", "bike", "car"], epsilon=1.0)
>>> privatizer = Privatizer(mechanism)
>>> people, answers = pa.array([17, 4, 9]), pa.array(["bus", "car", "bus"])
>>> reports = privatizer(people, answers)
>>> reports.type, len(reports)
(DataType(int64), 3)
>>> privatizer(people.slice(1), answers.slice(1)) == reports.slice(1)
True
>>> mechanism.estimate(reports_of(mechanism, reports)).to_dict()["reports"]
3
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dobrushin.errors import InvalidInputError
from dobrushin.local import Mechanism, Reports

__all__ = ["Privatizer", "report_type", "reports_of"]


class Privatizer:
    """Turns answers into private reports, each of which is a function of a secret, of the row's key and of its answer.

    The secret is 256 bits of the operating system's randomness, new in every privatizer, and a copy of a privatizer has
    the same: a program may pickle it, send it to other machines, and call it there as often as it likes. A row has one
    report, whatever is repeated, in whatever order and in whatever batches. With two privatizers, a row has two.

    # Guarantee
    If no two rows have the same key, and the secret is not known to those who see reports, then all that they ever see of
    a row is one draw of the mechanism. (More exactly, no feasible computation tells it from one: the draws are made from
    ChaCha20, keyed by the secret.) If a key returns with another answer, its report is a second draw, and costs a second
    ε; and if the two reports differ, then they tell that the answers do.

    ``skip_bad=True`` makes answers that cannot be used, such as undeclared categories and nulls, report a category drawn
    at random, the middle of the bounds or the zero vector. Otherwise they are an error, which names the row's key.
    """

    __slots__ = ("_secret", "mechanism", "skip_bad")

    def __init__(self, mechanism: Mechanism, *, skip_bad: bool = False) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InvalidInputError(f"mechanism is a {type(mechanism).__name__}", "db.local.k_rr(10, epsilon=1.0)")
        self.mechanism = mechanism
        self.skip_bad = bool(skip_bad)
        self._secret = secrets.token_bytes(32)

    def __call__(self, keys: Any, answers: Any) -> pa.Array:
        """A report for each row. Keys are whole numbers or texts, and none is null.

        A report is a number if the mechanism reports numbers. Otherwise it is an ``int64`` that has the bits of the
        report, or a ``binary`` if these are more than 64 bits.
        """
        keys, answers = _array("keys", keys), _array("answers", answers)
        if len(keys) != len(answers):
            raise InvalidInputError(f"there are {len(keys)} keys, but {len(answers)} answers", "give a key for each answer")
        made = self.mechanism._core.privatize_keyed(
            _keys(keys), *_answers(answers), secret=self._secret, skip_bad=self.skip_bad
        )
        return _column(made)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.mechanism, self.skip_bad, self._secret)

    def __repr__(self) -> str:
        return f"<Privatizer: {self.mechanism.name}>"


def _again(mechanism: Mechanism, skip_bad: bool, secret: bytes) -> Privatizer:
    privatizer = Privatizer.__new__(Privatizer)
    privatizer.mechanism, privatizer.skip_bad, privatizer._secret = mechanism, skip_bad, secret
    return privatizer


def report_type(mechanism: Mechanism) -> pa.DataType:
    """The type of a column of reports: ``double``, ``int64`` or ``binary``.

    >>> import dobrushin as db
    >>> report_type(db.local.hybrid((0.0, 60.0), epsilon=1.0)), report_type(db.local.olh(10, epsilon=1.0))
    (DataType(double), DataType(binary))
    """
    words = mechanism._core.report_words()
    return pa.float64() if words == 0 else pa.int64() if words == 1 else pa.binary()


def reports_of(mechanism: Mechanism, column: Any) -> Reports:
    """The reports in a column that a :class:`Privatizer` made, to be counted, added or estimated from."""
    column, wanted = _array("the column of reports", column), report_type(mechanism)
    if column.null_count:
        raise InvalidInputError("there is a null among the reports", "a row without a report was added to the column")
    binary = pa.types.is_large_binary(column.type) or pa.types.is_binary(column.type)
    if column.type != wanted and not (binary and wanted == pa.binary()):
        raise InvalidInputError(f"the column of reports has the type {column.type}", f"{mechanism.name} reports {wanted}")
    if wanted == pa.float64():
        return Reports(mechanism, column.to_numpy())
    if wanted == pa.int64():
        return Reports(mechanism, column.to_numpy().view(np.uint64).reshape(-1, 1))
    words, (ends, values) = mechanism._core.report_words(), _texts(column)
    if (np.diff(ends) != 8 * words).any():
        raise InvalidInputError(f"a report does not have the {8 * words} bytes of {mechanism.name}", "give what it reported")
    data = values[ends[0] : ends[-1]].view("<u8").astype(np.uint64, copy=False)
    return Reports(mechanism, data.reshape(-1, words))


def _array(name: str, given: Any) -> pa.Array:
    if isinstance(given, pa.ChunkedArray):
        given = given.combine_chunks()
    if isinstance(given, pa.ChunkedArray):
        given = given.chunk(0) if given.num_chunks else pa.array([], given.type)
    if not isinstance(given, pa.Array):
        raise InvalidInputError(f"{name}: a {type(given).__name__} is no Arrow column", "pyarrow.array([1, 2, 3])")
    return given


def _keys(keys: pa.Array) -> Any:
    """What identifies rows, as the core takes it: numbers, or the ends of texts in their bytes."""
    if keys.null_count:
        raise InvalidInputError("a row has no key", "every row needs one: nothing else says which row it is")
    if isinstance(keys, pa.DictionaryArray):
        keys = keys.dictionary_decode()
    kind = keys.type
    if pa.types.is_uint64(kind):
        return keys.to_numpy().view(np.int64)
    if pa.types.is_integer(kind):
        return keys.cast(pa.int64()).to_numpy()
    if _is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return _texts(keys)
    raise InvalidInputError(f"the keys have the type {kind}", "whole numbers and texts are accepted: cast them")


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _bytes(column: pa.Array) -> pa.Array:
    return column.cast(pa.large_binary())


def _texts(column: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    column = _bytes(column)
    _, ends, values = column.buffers()
    if len(column) == 0 or ends is None:
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    places = np.frombuffer(ends, np.int64)[column.offset : column.offset + len(column) + 1]
    return places, np.zeros(0, np.uint8) if values is None else np.frombuffer(values, np.uint8)


def _answers(answers: pa.Array) -> tuple[Any, NDArray[np.int32] | None]:
    """Answers as the core takes them: numbers, of which NaN is none; vectors; or distinct texts, and which of them each
    row has."""
    kind = answers.type
    if _is_text(kind):
        answers = answers.dictionary_encode()
    if isinstance(answers, pa.DictionaryArray):
        codes = answers.indices.cast(pa.int32()).fill_null(-1)
        distinct = answers.dictionary
        if not _is_text(distinct.type):
            return distinct.to_pylist(), codes.to_numpy()
        # What is no UTF-8 must not be shown by an error.
        texts = [None if text is None else text.decode(errors="surrogateescape") for text in _bytes(distinct).to_pylist()]
        return texts, codes.to_numpy()
    if pa.types.is_null(kind):
        return np.full(len(answers), np.nan), None
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return answers.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), None
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return answers.to_pylist(), None
    raise InvalidInputError(
        f"the answers have the type {kind}", "texts, numbers and lists of numbers are accepted: cast them"
    )


def _column(made: NDArray[Any]) -> pa.Array:
    if made.dtype == np.float64:
        return pa.array(made)
    rows, words = made.shape
    if words == 1:
        return pa.array(made.reshape(-1).view(np.int64))
    ends = np.arange(0, 8 * words * rows + 1, 8 * words, dtype=np.int64)
    values = np.ascontiguousarray(made, "<u8")
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(values)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), rows, buffers).cast(pa.binary())
