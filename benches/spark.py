"""What private reports on Spark cost: `mapInArrow` with them against `mapInArrow` that hands on what it gets.

`spark.range` makes the rows, with a key and an answer; both programs read the same two columns and write two columns to
nowhere. Runs alternate, and the ratio of every pair is taken, so that a machine that is busy with other work disturbs
both alike. The time of the processors is that of the JVM and of its Python workers, which other work disturbs less.

usage: spark.py [ROWS] [PAIRS] [TABLE …]
"""

import os
import statistics
import sys
import time

import dobrushin as db
from dobrushin.spark import privatize
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROWS = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
TICK = os.sysconf("SC_CLK_TCK")


def processor_seconds():
    """Of all processes that descend from this one, and of those of their children that have ended."""
    parents, ticks = {}, {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[process], ticks[process] = fields[1], sum(map(int, fields[11:15]))
    mine = {str(os.getpid())}
    while True:
        more = {process for process, parent in parents.items() if parent in mine} - mine
        if not more:
            return sum(ticks[process] for process in mine if process in ticks) / TICK
        mine |= more


def identity(batches):
    yield from batches


def timed(frame):
    processors, start = processor_seconds(), time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start, processor_seconds() - processors


def main():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.range(ROWS)
    category = (F.col("id") % 16 + 1).cast("int")
    words = F.array(*[F.lit(f"category {number}") for number in range(16)])
    tables = {
        "k-rr over 16 numbers": (rows.select("id", category.alias("x")), db.local.k_rr(16, epsilon=1.0)),
        "k-rr over 16 texts": (
            rows.select("id", F.element_at(words, category).alias("x")),
            db.local.k_rr([f"category {number}" for number in range(16)], epsilon=1.0),
        ),
        "k-rr, keys that are texts": (
            rows.select(F.col("id").cast("string").alias("id"), category.alias("x")), db.local.k_rr(16, epsilon=1.0)
        ),
        "oue over 16 numbers": (rows.select("id", category.alias("x")), db.local.oue(16, epsilon=1.0)),
        "one-bit numbers": (rows.select("id", (F.col("id") % 61).cast("double").alias("x")), db.local.one_bit((0.0, 60.0), epsilon=1.0)),
        "hybrid numbers": (rows.select("id", (F.col("id") % 61).cast("double").alias("x")), db.local.hybrid((0.0, 60.0), epsilon=1.0)),
        "laplace numbers": (rows.select("id", (F.col("id") % 61).cast("double").alias("x")), db.local.laplace((0.0, 60.0), epsilon=1.0)),
    }
    wanted = sys.argv[3:] or list(tables)
    print(f"{ROWS} rows, local[2], {PAIRS} pairs; seconds are medians")
    for name, (table, mechanism) in tables.items():
        if name not in wanted:
            continue
        reports = privatize(table, "x", mechanism, key="id", unique=True)
        handed_on = table.mapInArrow(identity, table.schema)
        timed(handed_on.limit(1000)), timed(reports.limit(1000))
        pairs = [(timed(handed_on), timed(reports)) for _ in range(PAIRS)]
        for what, place in (("wall", 0), ("processors", 1)):
            without, with_reports = (statistics.median(pair[side][place] for pair in pairs) for side in (0, 1))
            ratio = statistics.median(pair[1][place] / pair[0][place] for pair in pairs)
            print(f"{name:28} {what:10}  identity {without:8.2f}  reports {with_reports:8.2f}  ratio {ratio:.3f}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
