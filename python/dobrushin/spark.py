"""Local privacy on Apache Spark: private reports, counts and estimates, made by the executors on batches of Arrow.

Spark may read a row more than once: when an executor is lost, when a task fails or is slow, and in every action on a data
frame that is not stored. Each of these would draw again, and two reports on one answer tell more than was promised. Here a
report is a function of a secret of the driver, of the row's key and of its answer, so a row has one report, whatever
Spark repeats (:class:`dobrushin.arrow.Privatizer` says what is guaranteed).

    mechanism = db.local.k_rr(["bus", "bike", "car"], epsilon=1.0)
    reports = privatize(people, "transport", mechanism, key="person")
    reports.write.parquet("reports")
    print(estimate(reports, "transport", mechanism))

Every machine needs PySpark, pyarrow and dobrushin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DoubleType, LongType, StructField, StructType

from dobrushin.arrow import Privatizer, report_type, reports_of
from dobrushin.errors import InvalidInputError
from dobrushin.local import Counts, Estimate, Mechanism, Reports

__all__ = ["count", "estimate", "privatize"]


def privatize(
    df: DataFrame, column: str, mechanism: Mechanism, *, key: str, unique: bool = False, skip_bad: bool = False
) -> DataFrame:
    """A private report on the answer of every row: a data frame with the key and, instead of the answers, reports.

    The ``key`` says which row is which, so no two rows may have the same, and a row must have the same key and the same
    answer whenever Spark computes it. The keys are counted first, by a job of its own, unless ``unique=True`` says that you
    know that none occurs twice. Keys and answers that Spark itself calls nondeterministic, such as
    ``monotonically_increasing_id()``, are refused: store the table with them, and read it again.

    The secret is drawn by the operating system in every call, so the data frames of two calls hold two reports on each
    row. It is in the data frame that this returns, and in what Spark sends to the executors, and nowhere else: it is
    forgotten with them.

    Keys are not private, and other columns are left out. ``skip_bad`` is that of :class:`dobrushin.arrow.Privatizer`.
    """
    if key == column:
        raise InvalidInputError(f"the key and the answers are both in the column {key!r}", "name the column of each")
    # Spark does not hand every name on to mapInArrow.
    rows = df.select(_named(df, key).alias("key"), _named(df, column).alias("answer"))
    if not _is_deterministic(rows):
        raise InvalidInputError(
            f"Spark computes {key!r} or {column!r} again whenever it reads a row, so that a row could have two reports",
            "write the table with this column, read it again, and privatize what was read",
        )
    if not unique and not rows.groupBy("key").count().where("count > 1").isEmpty():
        raise InvalidInputError(
            f"a key occurs twice in the column {key!r}: somebody who sees the reports of both rows could compare their answers",
            "name a column that is different in every row",
        )
    privatizer = Privatizer(mechanism, skip_bad=skip_bad)

    def reports(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys, answers = batch.columns
            yield pa.RecordBatch.from_arrays([keys, privatizer(keys, answers)], [key, column])

    kind = {pa.float64(): DoubleType(), pa.int64(): LongType(), pa.binary(): BinaryType()}[report_type(mechanism)]
    return rows.mapInArrow(reports, StructType([StructField(key, rows.schema["key"].dataType), StructField(column, kind)]))


def count(df: DataFrame, column: str, mechanism: Mechanism) -> Counts:
    """How often each category, or bit, or index, or number is reported in a column of reports.

    The executors count, and the driver adds: counts are whole numbers, so the sum is exact.
    """
    reports = df.select(_named(df, column).alias("value"))
    if report_type(mechanism) == pa.float64():
        found = reports.groupBy("value").count().toArrow()
        numbers = reports_of(mechanism, found["value"]).data
        times = found["count"].to_numpy().astype(np.uint64)
        order = np.argsort(numbers)
        return Counts(times[order], int(times.sum()), True, numbers[order])
    none = np.zeros((0, mechanism._core.report_words()), np.uint64)
    total = mechanism.count(none)

    def counts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counted = mechanism.count(none)
        for batch in batches:
            counted += mechanism.count(reports_of(mechanism, batch.column(0)))
        counters = pa.array([counted.counters.astype(np.int64)], pa.list_(pa.int64()))
        yield pa.RecordBatch.from_arrays([counters, pa.array([counted.reports])], ["counters", "reports"])

    for row in reports.mapInArrow(counts, "counters array<bigint>, reports bigint").collect():
        total += Counts(np.array(row.counters, np.uint64), row.reports)
    return total


def estimate(df: DataFrame, column: str, mechanism: Mechanism, **wishes: Any) -> Estimate:
    """What a column of reports tells, with the wishes of :meth:`dobrushin.local.Mechanism.estimate`.

    Frequencies and means are estimated from :func:`count`. Reports on vectors are collected on the driver.
    """
    if mechanism._made[3]["radius"] is None:
        return mechanism.estimate(count(df, column, mechanism), **wishes)
    reports: Reports = reports_of(mechanism, df.select(_named(df, column)).toArrow().column(0))
    return mechanism.estimate(reports, **wishes)


def _named(df: DataFrame, name: str) -> Any:
    if not isinstance(name, str) or df.columns.count(name) != 1:
        raise InvalidInputError(f"there is no single column {name!r}", f"one of: {', '.join(map(repr, df.columns))}")
    return F.col("`" + name.replace("`", "``") + "`")


def _is_deterministic(df: DataFrame) -> bool:
    """Whether Spark computes the same rows whenever it computes them, as far as it knows.

    A client of Spark Connect does not see the plan.
    """
    java = getattr(df, "_jdf", None)
    if java is None:
        return True
    # A plan that was optimised by itself computes what is cached, too, as Spark does when the cache is lost.
    optimizer = java.sparkSession().sessionState().optimizer()
    return bool(optimizer.execute(java.queryExecution().analyzed()).deterministic())
