"""Training on tables in memory is training on files, and tells as little."""

from __future__ import annotations

import _thread
import csv
import datetime
import decimal
import importlib
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobrushin as db

SCHEMA: dict[str, Any] = {
    "label": "bought",
    "columns": {
        "visits": {"kind": "number", "lower": 0, "upper": 20, "if-missing": 3},
        "age": {"kind": "number", "lower": 18, "upper": 90},
        "job": {"kind": "category", "categories": ["1", "2", "other"], "if_unknown": "other", "if_missing": "none"},
        "bought": {"kind": "category", "categories": ["no", "yes"]},
    },
}
RUN = db.Run(
    algorithm="gradient-descent", steps=20, learning_rate=0.5, clip_norm=0.5, noise_multiplier=20.0,
    model={"kind": "logistic", "schema": SCHEMA},
)  # fmt: skip
BATCHES = RUN.replace(algorithm="dp-sgd", order="poisson", batch_size=32)
GOAL: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5}
SEED: dict[str, Any] = {"seed": 7, "not_private": True}


def needed(name: str) -> Any:
    """A package that need not be installed, except where everything is tested."""
    return importlib.import_module(name) if os.environ.get("CI") == "true" else pytest.importorskip(name)


def columns(count: int = 200) -> dict[str, list[Any]]:
    """Numbers with and without a fraction, texts, and missing cells."""
    rng = np.random.default_rng(count)
    ages = rng.uniform(10, 95, count).tolist()
    visits: list[Any] = rng.integers(0, 25, count).tolist()
    visits[3] = visits[7] = None
    jobs = [["1", "2", "other", "baker", ""][place] for place in rng.integers(0, 5, count)]
    bought = ["yes" if age > 50 else "no" for age in ages]
    bought[5] = "perhaps"
    return {"visits": visits, "age": ages, "job": jobs, "bought": bought}


def write(path: Path, data: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data)
        writer.writerows(zip(*data.values(), strict=True))
    return path


def program(*words: object) -> str:
    """What the program prints."""
    done = subprocess.run([sys.executable, "-m", "dobrushin", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795000000")
    return tmp_path


def frames(data: dict[str, list[Any]]) -> dict[str, Any]:
    """The same table in every form."""
    pandas, polars = needed("pandas"), needed("polars")
    return {
        "dict": data,
        "arrays": {name: np.array(cells, dtype=object) for name, cells in data.items()},
        "pandas": pandas.DataFrame(data),
        "pandas, nullable": pandas.DataFrame(data).convert_dtypes(),
        "polars": polars.DataFrame(data),
    }


def test_the_same_records_and_seed_give_the_same_bytes_as_the_program(in_a_folder: Path) -> None:
    data = columns()
    write(Path("data.csv"), data)
    Path("run.toml").write_text(BATCHES.to_toml())
    program("train", "data.csv", "--run", "run.toml", "--epsilon", 1, "--delta", "1e-5", "--seed", 7, "--not-private", "--out", "a")
    for name, frame in frames(data).items():
        trained = db.train(frame, BATCHES, **GOAL, **SEED, out=Path(name))
        for file in ["model.json", "certificate.json", "certificate.txt"]:
            assert Path(name, file).read_bytes() == Path("a", file).read_bytes(), (name, file)
        assert trained.model == Path("a/model.json").read_bytes()
    from_file = db.train("data.csv", BATCHES, **GOAL, **SEED)
    assert from_file.model == Path("a/model.json").read_bytes()
    report = json.loads(program(
        "train", "data.csv", "--run", "run.toml", "--epsilon", 1, "--delta", "1e-5", "--seed", 7, "--not-private", "--out", "b",
        "--json",
    ))  # fmt: skip
    assert from_file.report is not None
    assert {**from_file.report.to_dict(), "model": "b/model.json", "certificate": "b/certificate.json"} == report


def test_a_planned_run_is_that_of_the_program(in_a_folder: Path) -> None:
    data = columns()
    write(Path("data.csv"), data)
    Path("schema.toml").write_text(db._core.Schema.of_dict(SCHEMA).toml())
    program("train", "data.csv", "--epsilon", 1, "--delta", "1e-5", "--seed", 7, "--not-private", "--out", "a")
    model = Path("a/model.json").read_bytes()
    names = ["visits", "age", "job"]
    rows = np.array([data[name] for name in names], dtype=object).T
    trained = db.train((rows, np.array(data["bought"])), schema=SCHEMA, **GOAL, **SEED)
    assert trained.model == model
    assert trained.predict(rows[:3]).tolist() == trained.predict({name: data[name][:3] for name in names}).tolist()


def test_predictions_are_those_of_the_program(in_a_folder: Path) -> None:
    data = columns()
    write(Path("data.csv"), data)
    trained = db.train(data, RUN, delta=1e-5, out="model")
    rows = list(csv.DictReader(program("predict", "model/model.json", "data.csv").splitlines()))
    assert trained.predict(data).tolist() == [row["bought"] for row in rows]
    probabilities = trained.predict_proba(data)
    assert np.abs(probabilities[:, 1] - [float(row["bought=yes"]) for row in rows]).max() < 1e-6
    assert (trained.decision_function(data) > 0).tolist() == (probabilities[:, 1] > 0.5).tolist()


def test_a_model_is_saved_loaded_and_pickled(in_a_folder: Path) -> None:
    trained = db.train(columns(), RUN, delta=1e-5, out="a")
    trained.save("b")
    for file in ["model.json", "certificate.json", "certificate.txt"]:
        assert Path("b", file).read_bytes() == Path("a", file).read_bytes()
    for copy in [db.load_model("b"), db.Trained.load("b/model.json"), pickle.loads(pickle.dumps(trained))]:
        assert copy.model == trained.model
        assert copy.certificate is not None and db.verify(copy.certificate, model=copy.model)
        assert copy.parameters[0].tolist() == trained.parameters[0].tolist()
        assert copy.feature_names == ["age", "job=1", "job=2", "job=other", "visits", "intercept"]
    with pytest.raises(db.InvalidInputError, match="already exists"):
        trained.save("b")
    with pytest.raises(db.InvalidInputError, match="already exists"):
        db.train(columns(), RUN, delta=1e-5, out="b")
    other = db.train(columns(), RUN, delta=1e-5)
    other.save("b", force=True)
    assert db.load_model("b").model == other.model
    Path("b/certificate.json").write_text(trained.certificate.file if trained.certificate else "")
    with pytest.raises(db.InvalidInputError, match="not that of the model"):
        db.load_model("b")


def test_test_records_are_public_and_reported() -> None:
    data = columns()
    good = {name: [cell for place, cell in enumerate(cells) if place != 5] for name, cells in data.items()}
    trained = db.train(data, RUN, delta=1e-5, test=good)
    assert trained.report is not None and isinstance(trained.report.test, dict)
    assert trained.report.test["records"] == 199
    with pytest.raises(db.InvalidInputError, match='row 6 of the test records: column "bought"'):
        db.train(data, RUN, delta=1e-5, test=data)


def test_several_labels_have_a_model_each() -> None:
    schema = {**SCHEMA, "label": ["bought", "back"], "columns": {**SCHEMA["columns"], "back": SCHEMA["columns"]["bought"]}}
    data = {**columns(), "back": columns()["bought"][::-1]}
    run = RUN.replace(model={"kind": "logistic", "schema": schema})
    trained = db.train(data, run, delta=1e-5)
    assert list(trained.predict(data)) == ["bought", "back"] == trained.labels
    assert [len(one) for one in trained.parameters] == [6, 6]
    one = db.train(data, schema=schema, label="back", **GOAL)
    assert one.labels == ["back"]


# What leaves.

HOSTILE: list[Any] = [
    None, float("nan"), float("inf"), -1e308, 10**5000, "", "text", "NaN", "1e999", '"', "a,b\nc", "\ud800", True, b"5",
    decimal.Decimal("sNaN"), datetime.datetime(2026, 11, 18), object(), [1, 2], {"a": 1}, 1j, np.float32(3), np.datetime64("NaT"),
]  # fmt: skip


class Unprintable:
    """A cell that resists."""

    def __str__(self) -> str:
        raise RuntimeError("secret")

    __repr__ = __str__


def left(data: Any, run: db.Run | None = RUN, **more: Any) -> str:
    """Everything that leaves, except what the guarantee covers: the parameters and their hash."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            trained = db.train(data, run, delta=1e-5, **more)
        except db.DobrushinError as error:
            return repr((type(error), str(error), [str(one.message) for one in told]))
    model = {**trained.to_dict(), "parameters": [len(one) for one in trained.parameters]}
    assert trained.certificate is not None and trained.report is not None
    certificate = trained.certificate.to_dict()
    del certificate["training"]["model_sha256"]
    sizes = [len(trained.model) > 0, trained.labels, trained.classes, trained.feature_names]
    said = [trained.report.text, trained.report.to_dict(), repr(trained), repr(trained.report)]
    return repr((model, certificate, sizes, said, [str(one.message) for one in told]))


def neighbours() -> list[dict[str, list[Any]]]:
    data = columns(60)
    hostile = [{name: [cell, *cells[1:]] for name, cells in data.items()} for cell in [*HOSTILE, Unprintable()]]
    one = [{**data, name: [cell, *data[name][1:]]} for name in data for cell in [None, "text", float("inf"), Unprintable()]]
    return [data, *hostile, *one]


def test_neighbouring_tables_look_the_same() -> None:
    looks = {left(data) for data in neighbours()}
    assert len(looks) == 1 and "Error" not in looks.pop()


def test_neighbouring_frames_look_the_same_whatever_types_they_infer() -> None:
    pandas = needed("pandas")
    plain = [data for data in neighbours() if not isinstance(data["age"][0], Unprintable) and "\ud800" not in data["job"]]
    looks = {left(pandas.DataFrame(data)) for data in plain}
    assert len(looks) == 1 and "Error" not in looks.pop()
    data = columns(60)
    numbers = {name: data[name] for name in ["visits", "age"]}
    inferred = [pandas.DataFrame({**numbers, "job": "1", "bought": flags}) for flags in ["no", True, 1.5, None, pandas.NaT]]
    assert len({left(frame) for frame in inferred}) == 1


def test_a_secret_number_of_records_does_not_show() -> None:
    run = RUN.replace(records=80, neighbours="add-or-remove-one")
    tables = [columns(count) for count in (59, 60, 61, 80, 81)]
    tables.append({name: [] for name in SCHEMA["columns"]})
    looks = {left(data, run) for data in tables}
    assert len(looks) == 1 and "Error" not in looks.pop()
    with pytest.raises(db.InvalidInputError, match=r"run\.records is missing"):
        db.train(columns(), RUN.replace(neighbours="add-or-remove-one"), delta=1e-5)


def test_an_interrupted_training_releases_nothing(tmp_path: Path) -> None:
    long = RUN.replace(steps=50_000_000, noise_multiplier=50.0)
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            db.train(columns(), long, delta=1e-5, out=tmp_path / "model")
    finally:
        timer.cancel()
    assert list((tmp_path / "model").iterdir()) == []


def _in_a_child(queue: Any) -> None:
    queue.put(db.train(columns(), RUN, delta=1e-5, **SEED).model)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_trains(in_a_folder: Path) -> None:
    mine = db.train(columns(), RUN, delta=1e-5, **SEED).model
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == mine
    child.join()


def test_a_seed_is_not_private() -> None:
    trained = db.train(columns(), RUN, delta=1e-5, **SEED)
    assert trained.report is not None and not trained.report.private
    assert "NOT private" in str(trained.report) and "NOT private" in str(trained.certificate)
    assert trained.certificate is not None and not db.verify(trained.certificate, model=trained.model)
    assert db.train(columns(), RUN, delta=1e-5).model != db.train(columns(), RUN, delta=1e-5).model


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"data": None}, "there are no data"),
        ({"data": 5}, "the data is a int"),
        ({"data": "missing.csv"}, "missing.csv"),
        ({"run": None}, "neither a run nor a schema"),
        ({"run": None, "schema": SCHEMA, "epsilon": None}, "a plan needs schema, epsilon and delta"),
        ({"run": None, "schema": {**SCHEMA, "label": "sold"}}, "no such column is declared"),
        ({"run": None, "schema": 5}, "the schema is a int"),
        ({"run": None, "schema": "missing.toml"}, "missing.toml"),
        ({"schema": SCHEMA}, "schema, label and records are for a plan"),
        ({"order": "full"}, "order is for a plan, but run is given"),
        ({"seed": 7}, "seed and not_private are given together"),
        ({"not_private": True}, "seed and not_private are given together"),
        ({"seed": -1, "not_private": True}, "must be a whole number"),
        ({"data": {"age": [1.0]}}, "there is no column 'job'"),
        ({"data": {**columns(), "age": [1.0]}}, "different lengths"),
        ({"data": {**columns(), "age": 5}}, "a column is a int"),
        ({"data": {name: [] for name in SCHEMA["columns"]}}, "no records"),
        ({"data": np.ones((3, 3))}, "an array without labels"),
        ({"data": (np.ones((3, 3)), np.ones(3))}, "does not tell the order of its columns"),
        ({"data": (np.ones((3, 2)), np.ones(3)), "columns": ["age", "job", "visits"]}, "X has 2 columns, but 3 are declared"),
        ({"data": (np.ones(3), np.ones(3)), "columns": ["age"]}, "rows and columns"),
    ],
)
def test_what_is_wrong_is_said(words: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"data": columns(), "run": RUN, **GOAL, **words}
    with pytest.raises(db.InvalidInputError, match=message):
        db.train(given.pop("data"), given.pop("run"), **given)


def test_a_lazy_frame_is_to_be_collected_and_names_are_unique() -> None:
    pandas, polars = needed("pandas"), needed("polars")
    with pytest.raises(db.InvalidInputError, match="lazy"):
        db.train(polars.LazyFrame(columns()), RUN, delta=1e-5)
    frame = pandas.DataFrame(columns())
    with pytest.raises(db.InvalidInputError, match="'age'"):
        db.train(pandas.concat([frame, frame[["age"]]], axis=1), RUN, delta=1e-5)


def test_rows_that_cannot_be_predicted_stop_it_or_are_skipped() -> None:
    trained = db.train(columns(), RUN, delta=1e-5)
    data = {"visits": [1, 2], "age": [50.0, None], "job": ["1", "1"]}
    with pytest.raises(db.InvalidInputError, match='row 2 of the data: column "age"'):
        trained.predict(data)
    found = trained.predict(data, skip_bad=True)
    assert found[1] is None and found[0] in ("no", "yes")
    assert np.isnan(trained.predict_proba(data, skip_bad=True)[1]).all()
