"""Deleting records in Python is deleting them with the program, and what is refused changes nothing."""

from __future__ import annotations

import _thread
import importlib
import json
import math
import os
import pickle
import stat
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_train import columns, needed, program, write

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
    algorithm="dp-sgd", order="cyclic", batch_size=20, steps=60, learning_rate=0.3, noise_multiplier=4.0, weight_decay=0.1, ball=20.0,
    model={"kind": "logistic", "schema": SCHEMA},
)  # fmt: skip
GOAL: dict[str, Any] = {"epsilon": 0.05, "delta": 1e-3}
SEED: dict[str, Any] = {"seed": 7, "not_private": True}
ROWS = 200


def people(count: int = ROWS) -> dict[str, list[Any]]:
    """The table of the tests of training, where everybody has three rows and each row a number."""
    own = columns(count)
    return {"id": list(range(count)), "person": [f"p{place // 3}" for place in range(count)], **own}


def without(data: dict[str, list[Any]], gone: list[int]) -> dict[str, list[Any]]:
    return {name: [cell for place, cell in enumerate(cells) if place not in gone] for name, cells in data.items()}


def only(data: dict[str, list[Any]], rows: list[int]) -> dict[str, list[Any]]:
    return {name: [cells[place] for place in rows] for name, cells in data.items()}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, and a model of a known seed with its state."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795000000")
    db.train(people(), RUN, delta=1e-3, out="model", keep_state="state", **SEED)
    return tmp_path


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The mode and the content of each file."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}


def test_the_same_request_and_seed_give_the_same_bytes_as_the_program(desk: Path) -> None:
    data = people()
    write(Path("data.csv"), data)
    write(Path("rows.csv"), only(data, [21]))
    write(Path("more.csv"), only(data, [33, 40]))
    Path("run.toml").write_text(RUN.to_toml())
    program(
        "train", "data.csv", "--run", "run.toml", "--delta", "1e-3", "--seed", 7, "--not-private", "--out", "a", "--keep-state", "sa"
    )
    for file in ["model.json", "certificate.json", "certificate.txt"]:
        assert Path("model", file).read_bytes() == Path("a", file).read_bytes(), file
    asked = ["--data", "data.csv", "--epsilon", 0.05, "--delta", "1e-3", "--seed", 7, "--not-private", "--json", "--force"]
    requests: list[tuple[list[object], dict[str, Any]]] = [
        (["--remove", "rows.csv"], {"remove": [21]}),
        (["--remove", "more.csv"], {"remove": only(data, [33, 40])}),
        (["--remove-where", "person=p4", "--remove-where", "person=p5"], {"remove_where": {"person": ["p4", "p5"]}}),
        (["--remove-where", "id=100", "--group", "person"], {"remove_where": {"id": np.int64(100)}, "group": "person"}),
    ]
    for words, wanted in requests:
        dry = json.loads(program("forget", "--state", "sa", *asked[:-1], *words, "--dry-run"))
        before = everything(desk)
        assert db.forget("state", data, **GOAL, **SEED, **wanted, dry_run=True).to_dict() == dry
        assert everything(desk) == before
        report = json.loads(program("forget", "--state", "sa", *asked, *words, "--out", "b"))
        found = db.forget("state", data, **GOAL, **SEED, **wanted, out="mine", force=True)
        for file in ["model.json", "certificate.json", "certificate.txt"]:
            assert Path("mine", file).read_bytes() == Path("b", file).read_bytes(), (words, file)
        assert found.model == Path("b/model.json").read_bytes()
        files = {"model": "b/model.json", "certificate": "b/certificate.json", "state": "sa"}
        assert {**found.to_dict(), **files} == report
    # The states differ in nothing but the random key and the hashes under it.
    mine, theirs = (json.loads(Path(name).read_text().splitlines()[2]) for name in ["state", "sa"])
    for secret in ["key", "rows"]:
        assert mine.pop(secret) != theirs.pop(secret)
    assert mine == theirs and mine["deleted"] == [12, 13, 14, 15, 16, 17, 21, 33, 40, 99, 100, 101]


def test_two_requests_end_in_one_certificate(desk: Path) -> None:
    data = people()
    first = db.forget("state", data, remove=[21], **GOAL)
    assert (first.records, first.requests, first.deleted) == (1, 1, 1) and first.guarantee.epsilon.upper <= 0.05
    # The row may be gone or not; numbers are those of the data that are given.
    second = db.forget("state", without(data, [21]), remove=[49], **GOAL, out="second")
    assert (second.records, second.requests, second.deleted) == (1, 2, 2)
    assert second.certificate is not None and second.trained is not None
    said = second.certificate.to_dict()
    assert said["run"]["forget"] == {"records": [1, 1], "steps": [first.steps, second.steps]}
    assert json.loads(Path("state").read_text().splitlines()[2])["deleted"] == [21, 50]
    assert "as if the 2 records that were deleted had never been used" in " ".join(second.text.split())
    assert second.guarantee.epsilon.upper <= 0.05 == GOAL["epsilon"] and second.guarantee.delta.upper == 1e-3
    assert second.everyone_else is not None and second.everyone_else.epsilon.upper > 0.05
    assert db.load_model("second").model == second.model
    assert second.trained.predict(only(data, [1, 2])).tolist()
    copy = pickle.loads(pickle.dumps(second))
    assert copy.to_dict() == second.to_dict() and copy.model == second.model and copy.text == second.text
    with pytest.raises(db.InvalidInputError, match="already deleted"):
        db.forget("state", data, remove=[21, 50], **GOAL)


def test_a_model_without_a_seed_verifies(tmp_path: Path) -> None:
    state = tmp_path / "state"
    trained = db.train(people(), RUN, delta=1e-3, keep_state=state)
    assert trained.report is not None and trained.report.state == str(state)
    assert db.train(people(), RUN, delta=1e-3).report.state is None  # type: ignore[union-attr]
    assert trained.certificate is not None and trained.certificate.to_dict()["training"]["keeps_state"] is True
    found = db.forget(state, people(), remove=[3], **GOAL)
    assert found.private and found.certificate is not None
    assert db.verify(found.certificate, model=found.model)
    assert found.model != trained.model and found.state == str(state)
    with pytest.warns(UserWarning, match="others can read"):
        os.chmod(state, 0o644)
        db.forget(state, people(), remove=[5], **GOAL)
    assert stat.S_IMODE(state.stat().st_mode) == 0o600


def test_every_way_to_say_which_rows_gives_the_same_model(desk: Path) -> None:
    data = people()
    rows = [place == 21 for place in range(ROWS)]
    names = ["visits", "age", "job"]
    X = np.array([data[name] for name in names], dtype=object).T
    y = np.array(data["bought"], dtype=object)
    whole = Path("state").read_bytes()
    ways: dict[str, tuple[Any, dict[str, Any]]] = {
        "number": (data, {"remove": [21]}),
        "array of numbers": (data, {"remove": np.array([21], dtype=np.uint8)}),
        "range": (data, {"remove": range(21, 22)}),
        "list of numbers of NumPy": (data, {"remove": [np.int32(21)]}),
        "objects": (data, {"remove": np.array([21], dtype=object)}),
        "set": (data, {"remove": {21}}),
        "mask": (data, {"remove": np.array(rows)}),
        "list of flags": (data, {"remove": rows}),
        "rows": (data, {"remove": only(data, [21])}),
        "rows that are gone": (without(data, [21]), {"remove": only(data, [21])}),
        "where": (data, {"remove_where": {"id": 21}}),
        "where, a float": (data, {"remove_where": {"id": np.float32(21)}}),
        "where, in words": (data, {"remove_where": "id=21"}),
        "where, in several words": (data, {"remove_where": ["id=21", " id = 9999"]}),
        "where, in a column of the schema": (data, {"remove_where": {"age": data["age"][21]}}),
        "arrays": ((X, y), {"remove": (X[21:22], y[21:22]), "columns": names}),
        "arrays and a column that is not trained on": (
            (np.column_stack([X, data["id"]]), y), {"remove_where": {"id": 21}, "columns": [*names, "id"]}
        ),
    }  # fmt: skip
    pandas, polars = needed("pandas"), needed("polars")
    frame, other = pandas.DataFrame(data), polars.DataFrame(data)
    ways |= {
        "pandas": (frame, {"remove": frame[frame["id"] == 21]}),
        "a mask of pandas": (frame, {"remove": frame["id"] == 21}),
        "an index of pandas": (frame, {"remove": frame.index[frame["id"] == 21]}),
        "polars": (other, {"remove": other.filter(polars.col("id") == 21)}),
        "a mask of polars": (other, {"remove": other["id"] == 21}),
        "where, in polars": (other, {"remove_where": {"id": other["id"][21:22]}}),
    }
    write(Path("data.csv"), data)
    models = {}
    for name, (given, wanted) in ways.items():
        Path("state").write_bytes(whole)
        models[name] = db.forget("state", given, **GOAL, **SEED, **wanted).model
    assert len(set(models.values())) == 1, [name for name, model in models.items() if model != models["number"]]
    Path("state").write_bytes(whole)
    assert db.forget("state", data, remove=[22], **GOAL, **SEED).model not in models.values()


def test_all_rows_of_a_person_are_deleted_together(desk: Path) -> None:
    data = people()
    whole = Path("state").read_bytes()
    write(Path("people.csv"), {"person": ["p7", "p9"]})
    models = set()
    for wanted in [
        {"remove": [21, 28]}, {"remove": {"person": ["p9", "p7"]}}, {"remove": "people.csv"}, {"remove_where": {"id": [22, 27]}},
    ]:  # fmt: skip
        Path("state").write_bytes(whole)
        found = db.forget("state", data, group="person", **wanted, **GOAL, **SEED)  # type: ignore[arg-type]
        assert found.records == 6
        models.add(found.model)
    Path("state").write_bytes(whole)
    models.add(db.forget("state", data, remove_where={"person": ["p7", "p9"]}, **GOAL, **SEED).model)
    assert len(models) == 1


def test_a_table_and_its_file_are_the_same_rows(desk: Path) -> None:
    write(Path("data.csv"), people())
    assert db.forget("state", "data.csv", remove=[4], **GOAL, dry_run=True).records == 1
    write(Path("rows.csv"), only(people(), [4]))
    assert db.forget("state", people(), remove=Path("rows.csv"), **GOAL, dry_run=True).records == 1


BAD_REMOVE: list[tuple[Any, str]] = [
    (None, "neither remove nor remove_where is given"),
    ([], "names no row"),
    (np.zeros(ROWS, dtype=bool), "names no row"),
    ([ROWS], f"remove has the row {ROWS}, but the data have {ROWS} rows, counted from 0"),
    ([10**30], "remove has 1000000000000000000000000000000, but rows are counted from 0"),
    ([2**63], f"remove has the row {2**63}, but the data have"),
    ([-1], "remove has -1, but rows are counted from 0"),
    ([4, 7, 4], "remove has the row 4 twice"),
    ([1.0], "remove has 1.0, but numbers of rows are whole"),
    ([math.nan], "remove has nan, but numbers of rows are whole"),
    (np.array([1.0, math.nan]), "numbers of rows are whole"),
    ([None], "remove has None, but numbers of rows are whole"),
    (["p4"], "remove has 'p4', but numbers of rows are whole"),
    ([True, 5], "remove has True, but numbers of rows are whole"),
    (True, "remove is True, but it must say which rows"),
    (math.inf, "remove is inf, but it must say which rows"),
    (5, r"remove is 5, but it must be a list of rows\nhelp: remove=\[5\]"),
    (np.int64(5), "must be a list of rows"),
    (object(), "remove is a object, but it must say which rows"),
    ([True, False], f"remove is a mask of 2 rows, but the data have {ROWS}"),
    (np.ones(ROWS, dtype=bool), "deletes all rows that remain"),
    (list(range(ROWS)), "deletes all rows that remain"),
    (np.ones((2, 2)), "remove is an array of 2 dimensions"),
    ({"age": [1.0]}, "there is no column 'job' in the rows to remove"),
    ("missing.csv", "missing.csv"),
    (only(people(), []), "names no row"),
    (only(people(), [4, 4]), "row 2 of the rows to remove is given more often"),
    ({**only(people(), [4]), "age": [1234.5]}, "row 1 of the rows to remove is no row of the training data"),
    ({**only(people(), [4]), "age": [math.nan]}, "row 1 of the rows to remove is no row of the training data"),
]  # fmt: skip


@pytest.mark.parametrize(("remove", "message"), BAD_REMOVE, ids=range(len(BAD_REMOVE)))
def test_rows_that_cannot_be_deleted_are_refused_and_nothing_changes(desk: Path, remove: Any, message: str) -> None:
    before = everything(desk)
    with pytest.raises(db.InvalidInputError, match=message) as refused:
        db.forget("state", people(), remove=remove, **GOAL)
    # What the system says about a file needs no advice.
    assert refused.value.help or message == "missing.csv"
    assert "--" not in str(refused.value)
    assert everything(desk) == before


BAD_REQUESTS: list[tuple[dict[str, Any], str]] = [
    ({"remove_where": {"id": 1}}, "remove and remove_where are both given"),
    ({"remove": None, "remove_where": {}}, "remove_where is empty"),
    ({"remove": None, "remove_where": "id"}, "remove_where 'id' does not name a column and a value"),
    ({"remove": None, "remove_where": [5]}, "remove_where 5 does not name a column and a value"),
    ({"remove": None, "remove_where": 5}, "remove_where is a int"),
    ({"remove": None, "remove_where": {5: 1}}, "remove_where is a int"),
    ({"remove": None, "remove_where": {"id": None}}, "remove_where has no value for the column 'id'"),
    ({"remove": None, "remove_where": {"id": math.nan}}, "remove_where has no value for the column 'id'"),
    ({"remove": None, "remove_where": {"id": {"a": 1}}}, "remove_where has a dict for the column 'id'"),
    ({"remove": None, "remove_where": {"id": 10**6}}, "names no row"),
    ({"remove": None, "remove_where": {"nothing": 1}}, "there is no column 'nothing' in the data"),
    ({"group": "nothing"}, "there is no column 'nothing' in the data"),
    ({"group": 5}, "group is a int"),
    ({"remove": {"person": ["nobody"]}, "group": "person"}, "1 values of the group in the rows to remove are in no row"),
    ({"remove": (np.ones((1, 3)), ["no"]), "group": "person"}, "has no column for group"),
    ({"data": None}, "there are no data"),
    ({"data": only(people(), [0, 1]), "remove": [0]}, "2 rows, but 200 were trained on"),
    ({"data": only(people(), [1, 0, *range(2, ROWS)])}, "row 1 of the data is not the row that was trained on"),
    ({"data": {**people(), "age": [5.5, *people()["age"][1:]]}}, "row 1 of the data is not the row that was trained on"),
    ({"data": {**people(), "age": [math.nan, *people()["age"][1:]]}}, "row 1 of the data is not the row that was trained on"),
    ({"data": {name: [*cells, cells[0]] for name, cells in people().items()}}, "row 201 of the data"),
    ({"data": {"age": [1.0]}}, "there is no column 'job'"),
    ({"data": "missing.csv"}, "missing.csv"),
    ({"data": {name: [] for name in people()}}, "0 rows"),
    ({"state": "missing"}, "cannot read ./missing|cannot read missing"),
    ({"state": "model/model.json"}, "is not a state of training"),
    ({"state": 5}, "state is not the path of a file"),
    ({"delta": None}, "delta is not given"),
    ({"delta": 0}, "delta is 0, but no number of steps"),
    ({"delta": 1}, "δ is 1"),
    ({"delta": -1}, "delta"),
    ({"delta": math.nan}, "delta"),
    ({"delta": "small"}, "delta is a str"),
    ({"epsilon": None}, "there is neither epsilon nor steps"),
    ({"epsilon": 0}, "epsilon is 0, but it must be above 0"),
    ({"epsilon": math.nan}, "epsilon"),
    ({"epsilon": math.inf}, "epsilon"),
    ({"epsilon": -1}, "epsilon"),
    ({"steps": 0}, "steps"),
    ({"steps": -3}, "steps"),
    ({"steps": 1.5}, "steps"),
    ({"steps": math.nan}, "steps"),
    ({"steps": "many"}, "steps is a str"),
    ({"seed": 3}, "seed and not_private are given together"),
    ({"dry_run": True, "out": "new"}, "out is given, but dry_run=True writes nothing"),
    ({"dry_run": True, "force": True}, "force is given, but dry_run=True writes nothing"),
    ({"out": "model"}, "already exists"),
    ({"out": 5}, "out is not the path"),
    ({"test": people()}, 'row 6 of the test records: column "bought"'),
    ({"columns": [5]}, "columns is a int"),
]


@pytest.mark.parametrize(("words", "message"), BAD_REQUESTS, ids=range(len(BAD_REQUESTS)))
def test_requests_that_cannot_be_carried_out_are_refused_and_nothing_changes(
    desk: Path, words: dict[str, Any], message: str
) -> None:
    before = everything(desk)
    given: dict[str, Any] = {"state": "state", "data": people(), "remove": [4], **GOAL, **words}
    with pytest.raises(db.InvalidInputError, match=message) as refused:
        db.forget(given.pop("state"), given.pop("data"), **given)
    # What the system says about a file needs no advice.
    assert refused.value.help or message == "missing.csv"
    assert "--" not in str(refused.value)
    assert everything(desk) == before


def test_an_answer_that_is_no_changes_nothing(desk: Path) -> None:
    before = everything(desk)
    with pytest.raises(db.NoGuaranteeError, match="these clean steps give ε") as refused:
        db.forget("state", people(), remove=[4], steps=1, **GOAL)
    assert "leave steps out" in str(refused.value)
    assert everything(desk) == before
    more = db.forget("state", people(), remove=[4], steps=60, delta=1e-3, dry_run=True)
    assert more.steps == 60 and more.trained is None and more.model is None and more.certificate is None and more.state is None
    assert everything(desk) == before


def test_a_state_replaces_nothing_but_a_state_and_only_if_it_is_told_to(desk: Path) -> None:
    Path("notes.txt").write_text("mine")
    Path("link").symlink_to("state")
    write(Path("data.csv"), people())
    before = everything(desk)
    for place, more, message in [
        ("state", {}, r"it is the state of another model\nhelp: give another name, or force=True to replace it"),
        ("notes.txt", {"force": True}, "is not a state of training"),
        ("link", {"force": True}, "is a link"),
        (".", {}, "."),
        ("no/such/folder", {}, "no/such/folder"),
        ("new/model.json", {"out": "new"}, "the same file"),
        ("data.csv", {"data": "data.csv", "force": True}, "is the file with the data"),
        (5, {}, "keep_state is not the path"),
        ("fresh", {"public": people()}, "keep_state is given, but no record could be deleted"),
        ("fresh", {"run": RUN.replace(neighbours="add-or-remove-one", order="poisson", records=300)}, "empty slot"),
        ("fresh", {"run": RUN.replace(order="once", steps=5)}, "no record could be deleted from a model of this run later"),
    ]:  # fmt: skip
        given: dict[str, Any] = {"data": people(), "run": RUN, "delta": 1e-3, "keep_state": place, **more}  # type: ignore[dict-item]
        with pytest.raises(db.InvalidInputError, match=message) as refused:
            db.train(given.pop("data"), given.pop("run"), **given)
        assert "--" not in str(refused.value)
        assert everything(desk) == before, place
    db.train(people(), RUN, delta=1e-3, keep_state="state", force=True)
    assert stat.S_IMODE(Path("state").stat().st_mode) == 0o600
    assert everything(desk)[str(desk / "state")] != before[str(desk / "state")]


def test_a_damaged_state_is_refused(desk: Path) -> None:
    whole = Path("state").read_bytes()
    for bytes_, message in [(whole[: len(whole) // 2], "damaged"), (b"", "is not a state"), (b"\xff\xfe", "is not a state")]:
        Path("state").write_bytes(bytes_)
        with pytest.raises(db.InvalidInputError, match=message):
            db.forget("state", people(), remove=[4], **GOAL)
        assert Path("state").read_bytes() == bytes_


def test_an_interruption_leaves_everything_as_it_was(desk: Path) -> None:
    before = everything(desk)
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            db.forget("state", people(), remove=[4], steps=50_000_000, delta=1e-3, out="new")
    finally:
        timer.cancel()
    # The work ends by itself, and lets the state go.
    for _ in range(100):
        try:
            found = db.forget("state", people(), remove=[4], dry_run=True, **GOAL)
            break
        except db.InvalidInputError as error:
            assert "another dobrushin forget is going on" in str(error)
            time.sleep(0.1)
    assert found.records == 1 and everything(desk) == before and list(Path("new").iterdir()) == []


def test_two_requests_at_once_are_refused(desk: Path) -> None:
    refused: list[str] = []

    def other() -> None:
        time.sleep(1.0)
        try:
            db.forget("state", people(), remove=[5], **GOAL)
        except db.InvalidInputError as error:
            refused.append(str(error))
        _thread.interrupt_main()

    before = everything(desk)
    thread = threading.Thread(target=other)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        db.forget("state", people(), remove=[4], steps=50_000_000, delta=1e-3)
    thread.join()
    assert "another dobrushin forget is going on from" in refused[0] and everything(desk) == before


def test_a_seed_anywhere_protects_nobody(desk: Path) -> None:
    found = db.forget("state", people(), remove=[4], **GOAL)
    assert not found.private and found.certificate is not None and "NOT private" in found.text
    assert not db.verify(found.certificate, model=found.model)


def test_the_new_model_is_tested_on_public_records(desk: Path) -> None:
    found = db.forget("state", people(), remove=[4], **GOAL, test=without(people(), [5]))
    assert isinstance(found.test, dict) and found.test["records"] == ROWS - 1
    assert importlib.import_module("dobrushin").Forgotten is type(found)
    assert "clean steps made" in repr(found)
