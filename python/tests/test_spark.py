"""Private reports on Spark: whatever fails and is done again, a row has one report."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import dobrushin as db
from dobrushin import local
from dobrushin.arrow import reports_of

if os.environ.get("CI") != "true":
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("there is no java", allow_module_level=True)

from pyspark import TaskContext
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dobrushin.spark import count, estimate, privatize

NAMES = ["bus", "bike", "car", "on foot"]
MECHANISM = local.k_rr(NAMES, epsilon=1.0)
NEVER = 1e-7
"""A test of a law fails by chance with at most this probability."""

Spark = Iterator[SparkSession]
Batches = Iterator[pa.RecordBatch]


def session(master: str) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    found = importlib.util.find_spec("pyspark")
    assert found is not None and found.origin is not None
    # Executors of their own are started from there.
    os.environ["SPARK_HOME"] = str(Path(found.origin).parent)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        # So that a partition has several batches.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "300",
    }
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="module")
def spark() -> Spark:
    # Two workers; a task may fail three times.
    started = session("local[2,4]")
    yield started
    started.stop()


def people(spark: SparkSession, count: int, partitions: int = 4) -> DataFrame:
    """A table of persons and how they come to work: half of them by bus, and so on."""
    ids = spark.range(0, count, 1, partitions)
    names = F.array(*[F.lit(NAMES[place]) for place in [0, 0, 0, 0, 1, 1, 2, 3]])
    return ids.select(F.col("id").alias("person"), F.element_at(names, (F.col("id") % 8 + 1).cast("int")).alias("answer"))


def released(frame: DataFrame) -> dict[Any, Any]:
    return {row[0]: row[1] for row in frame.collect()}


def test_reports_have_the_law_of_those_on_one_machine(spark: SparkSession) -> None:
    table = people(spark, 60_000)
    answers = [row.answer for row in table.select("answer").collect()]
    numbers = table.select("person", (F.col("person") % 61).cast("double").alias("answer"))
    for mechanism in [MECHANISM, local.oue(NAMES, epsilon=1.0)]:
        found = count(privatize(table, "answer", mechanism, key="person"), "answer", mechanism)
        known = mechanism.count(mechanism.privatize(answers))
        assert found.reports == known.reports == 60_000
        for one, other in zip(found.counters, known.counters, strict=True):
            assert stats.chi2_contingency([[one, 60_000 - one], [other, 60_000 - other]]).pvalue > NEVER
    mechanism = local.hybrid((0.0, 60.0), epsilon=2.0)
    reports = np.array(list(released(privatize(numbers, "answer", mechanism, key="person", unique=True)).values()))
    known = mechanism.privatize(np.arange(60_000) % 61)
    assert stats.ks_2samp(reports, known.data).pvalue > NEVER


@pytest.mark.parametrize(
    "mechanism",
    [
        MECHANISM,
        local.oue(NAMES + [str(n) for n in range(100)], epsilon=1.0),
        local.olh(NAMES, epsilon=1.0),
    ],
    ids=["k-rr", "oue-104", "olh"],
)
def test_estimates_from_the_executors_counts_are_those_from_the_reports(
    spark: SparkSession, mechanism: local.Mechanism
) -> None:
    reports = privatize(people(spark, 5_000), "answer", mechanism, key="person", unique=True)
    counts, one_machine = count(reports, "answer", mechanism), reports_of(mechanism, reports.toArrow()["answer"])
    assert np.array_equal(counts.counters, mechanism.count(one_machine).counters) and counts.reports == 5_000
    found = estimate(reports, "answer", mechanism, confidence=0.9, simultaneous=True)
    known = mechanism.estimate(one_machine, confidence=0.9, simultaneous=True)
    assert np.array_equal(found.values, known.values) and np.array_equal(found.intervals, known.intervals)
    # Counts of parts add up to those of the whole.
    halves = [count(reports.where(f"person % 2 = {half}"), "answer", mechanism) for half in (0, 1)]
    assert np.array_equal((halves[0] + halves[1]).counters, counts.counters)
    assert count(reports.limit(0), "answer", mechanism).reports == 0


def test_means_of_numbers_and_vectors_are_estimated(spark: SparkSession) -> None:
    numbers = spark.range(0, 5_000, 1, 3).select("id", (F.col("id") % 50).cast("int").alias("x"))
    for mechanism in [local.one_bit((0.0, 60.0), epsilon=2.0), local.laplace((0.0, 60.0), epsilon=2.0)]:
        reports = privatize(numbers, "x", mechanism, key="id", unique=True)
        known = reports_of(mechanism, reports.toArrow()["x"]).estimate()
        found = estimate(reports, "x", mechanism)
        assert found.values == pytest.approx(known.values, rel=1e-12)
        assert found.intervals == pytest.approx(known.intervals, rel=1e-9)
        assert abs(float(found) - 24.5) < 6 * found.standard_errors[0]
    vectors = numbers.select("id", F.array(F.lit(0.5), F.lit(0.0), F.lit(-0.5)).alias("x"))
    directions = local.half_sphere(1.0, 3, epsilon=4.0)
    found = estimate(privatize(vectors, "x", directions, key="id"), "x", directions)
    assert (np.abs(found.values - [0.5, 0.0, -0.5]) < 6 * found.standard_errors).all()
    with pytest.raises(db.InvalidInputError, match="only reports on categories can be counted"):
        count(privatize(vectors, "x", directions, key="id"), "x", directions)


def test_a_row_has_one_report_however_often_and_in_whatever_order_it_is_read(spark: SparkSession) -> None:
    table = people(spark, 3_000)
    for rows in (table, table.withColumn("person", F.concat(F.lit("Zoë "), "person"))):
        reports = privatize(rows, "answer", MECHANISM, key="person")
        known = released(reports)
        assert len(known) == 3_000 and released(reports) == known
        # Spark reads the rows once more for each of these.
        assert released(reports.repartition(7)) == known and released(reports.orderBy("answer")) == known
        again = released(privatize(rows, "answer", MECHANISM, key="person"))
        assert again.keys() == known.keys() and again != known


def draw_anew(batches: Batches) -> Batches:
    """What everybody would write, and what breaks the promise."""
    for batch in batches:
        drawn = MECHANISM.privatize(batch.column(1).to_pylist()).data[:, 0].astype(np.int64)
        yield pa.RecordBatch.from_arrays([batch.column(0), pa.array(drawn)], ["person", "answer"])


def all_that_was_seen(reports: DataFrame, folder: Path, fails: Callable[[int], None]) -> dict[int, list[int]]:
    """What an observer sees who reads all that any attempt lets out, by keys. Some attempts fail in their middle."""

    def observed(batches: Batches) -> Batches:
        task = TaskContext.get()
        assert task is not None
        for number, batch in enumerate(batches):
            name = f"{task.partitionId()}-{task.attemptNumber()}-{number}.arrow"
            with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
                writer.write_batch(batch)
            yield batch
            if number == 1:
                fails(task.attemptNumber())

    folder.mkdir()
    known = released(reports.mapInArrow(observed, reports.schema))
    seen: dict[int, list[int]] = defaultdict(list)
    for file in folder.iterdir():
        try:
            rows = pa.ipc.open_file(file).read_all().to_pylist()
        except pa.ArrowInvalid:  # It was being written when its process was killed.
            continue
        for row in rows:
            seen[row["person"]].append(row["answer"])
    assert all(known[person] in reports for person, reports in seen.items())
    attempts = {int(file.name.split("-")[1]) for file in folder.iterdir()}
    assert len(attempts) > 1, "something failed, and was done again"
    assert any(len(reports) > 1 for reports in seen.values()), "a row was read twice"
    return seen


def distinct(seen: dict[int, list[int]]) -> int:
    """The largest number of reports on one row."""
    return max(len(set(reports)) for reports in seen.values())


def raises_once(attempt: int) -> None:
    if attempt == 0:
        raise RuntimeError("a task fails")


def dies_once(attempt: int) -> None:
    if attempt == 0:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("fails", [raises_once, dies_once])
def test_a_failed_task_does_not_change_what_is_seen_of_a_row(
    spark: SparkSession, tmp_path: Path, fails: Callable[[int], None]
) -> None:
    table = people(spark, 4_000)
    reports = privatize(table, "answer", MECHANISM, key="person")
    assert distinct(all_that_was_seen(reports, tmp_path / "keyed", by_value(fails))) == 1
    # The test sees the difference.
    naive = table.mapInArrow(by_value(draw_anew), "person bigint, answer bigint")
    assert distinct(all_that_was_seen(naive, tmp_path / "anew", by_value(fails))) > 1


def by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, for processes that cannot import this file."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return function


def test_bad_rows_are_named_by_their_keys_and_never_shown(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    table = people(spark, 100).withColumn("answer", F.expr("if(person = 37, 'rickshaw', answer)"))
    nulls = people(spark, 100).withColumn("answer", F.expr("if(person = 37, null, answer)"))
    for rows in (table, nulls):
        with pytest.raises(PythonException, match='the answer of the row with the key "37" cannot be used') as failed:
            privatize(rows, "answer", MECHANISM, key="person").collect()
        assert "rickshaw" not in str(failed.value)
        assert len(released(privatize(rows, "answer", MECHANISM, key="person", skip_bad=True))) == 100
    said = capfd.readouterr()
    assert "rickshaw" not in said.out + said.err


def test_the_secret_is_in_no_plan_and_in_no_message(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    drawn: list[bytes] = []
    draw = secrets.token_bytes
    monkeypatch.setattr(secrets, "token_bytes", lambda count: drawn.append(draw(count)) or drawn[-1])
    spark.sparkContext.setLogLevel("INFO")
    reports = privatize(people(spark, 500), "answer", MECHANISM, key="person")
    bad = privatize(people(spark, 500).withColumn("answer", F.lit("rickshaw")), "answer", MECHANISM, key="person")
    for mode in ("extended", "codegen", "cost", "formatted"):
        reports.explain(mode=mode)
    reports.collect()
    with pytest.raises(PythonException) as failed:
        bad.collect()
    spark.sparkContext.setLogLevel("WARN")
    said = capfd.readouterr()
    text = said.out + said.err + str(failed.value) + repr(reports) + str(reports.schema.json())
    assert "MapInArrow" in text and len(drawn) == 2
    for secret in drawn:
        signed = [str(byte - 256 * (byte > 127)) for byte in secret]
        lists = [gap.join(numbers) for gap in (", ", ",") for numbers in (signed, map(str, secret))]
        shown = [secret.hex(), secret.hex().upper(), repr(secret)[2:-1], secret.decode("latin-1"), *lists]
        assert not any(form in text for form in shown)


def test_what_could_give_a_row_two_reports_is_refused(spark: SparkSession) -> None:
    table = people(spark, 100)
    numbered = table.withColumn("row", F.monotonically_increasing_id())
    for rows in (numbered, numbered.cache(), table.withColumn("row", F.expr("uuid()"))):
        with pytest.raises(db.InvalidInputError, match="could have two reports"):
            privatize(rows, "answer", MECHANISM, key="row")
    # Another column may be what it wants.
    assert len(released(privatize(numbered, "answer", MECHANISM, key="person"))) == 100
    doubled = table.union(table.where("person = 3"))
    with pytest.raises(db.InvalidInputError, match="a key occurs twice in the column 'person'"):
        privatize(doubled, "answer", MECHANISM, key="person")
    with pytest.raises(PythonException, match="a row has no key"):
        nobody = F.expr("if(person = 3, null, person)")
        privatize(table.withColumn("person", nobody), "answer", MECHANISM, key="person").collect()


def test_columns_are_named_and_others_are_left_out(spark: SparkSession) -> None:
    table = people(spark, 100).withColumnRenamed("person", "a `b`.c").withColumn("more", F.lit("private"))
    reports = privatize(table, "answer", MECHANISM, key="a `b`.c")
    assert reports.columns == ["a `b`.c", "answer"] and estimate(reports, "answer", MECHANISM).values.shape == (4,)
    for column, key in [("answer", "none"), ("none", "more"), ("answer", "answer")]:
        with pytest.raises(db.InvalidInputError, match="column"):
            privatize(table, column, MECHANISM, key=key)
    with pytest.raises(db.InvalidInputError, match="no single column"):
        count(reports, "none", MECHANISM)
    with pytest.raises(PythonException, match="there is a null among the reports"):
        count(reports.select(F.lit(None).cast("bigint").alias("answer")), "answer", MECHANISM)
    with pytest.raises(PythonException, match="is not a report of k-rr"):
        count(reports.select(F.lit(4).cast("bigint").alias("answer")), "answer", MECHANISM)


@pytest.fixture
def cluster(spark: SparkSession) -> Spark:
    """Two executors, each a process of its own. It comes last, because there is one Spark in a process."""
    spark.stop()
    started = session("local-cluster[2,1,1024]")
    yield started
    started.stop()


def test_an_executor_that_is_killed_does_not_change_what_is_seen_of_a_row(cluster: SparkSession, tmp_path: Path) -> None:
    mark = tmp_path / "killed"

    def kills_its_executor(attempt: int) -> None:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return
        # A worker is the child of a daemon, whose parent is the executor.
        daemon = os.getppid()
        fields = Path(f"/proc/{daemon}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        os.kill(int(fields[1]), signal.SIGKILL)
        signal.pause()

    reports = privatize(people(cluster, 4_000), "answer", MECHANISM, key="person")
    seen = all_that_was_seen(reports, tmp_path / "seen", by_value(kills_its_executor))
    assert mark.exists() and len(seen) == 4_000 and distinct(seen) == 1


