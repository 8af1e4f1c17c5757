"""The ledger in Python is that of the program: nobody is ever over budget, whoever asks, and however they are spelled."""

from __future__ import annotations

import _thread
import contextlib
import decimal
import importlib
import json
import multiprocessing
import os
import pickle
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_train import columns, frames, needed, program, write

import dobrushin as db
from dobrushin.ledger import Budget, Person, Release

RUN = db.Run(algorithm="gradient-descent", steps=100, clip_norm=1.0, noise_multiplier=400.0)
HALF: dict[str, Any] = {"epsilon": 0.6, "what": "a survey"}


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> db.Ledger:
    """A ledger in which everybody may spend ε = 1, so that no two halves of 0.6 fit."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795000000")
    return db.Ledger.create("people.ledger", epsilon=1.0, delta=1e-6)


def statuses(ledger: db.Ledger) -> list[str]:
    return [release.status for release in ledger.show().releases]


def test_a_release_is_reserved_then_committed_or_aborted(ledger: db.Ledger) -> None:
    ledger.set_budget(2.0, 1e-6, people=["ada"])
    first = ledger.reserve(["ada", "ben", "ada"], **HALF)
    assert (first.release, first.status, first.people, first.records, first.left_out) == (1, "reserved", 2, 3, [])
    assert first.kept.tolist() == [True, True, True] and first.kept.dtype == bool and first.epsilon == pytest.approx(0.6, rel=1e-4)
    # Her two records are a group.
    assert ledger.person("ada").epsilon == pytest.approx(1.2, rel=1e-4)
    assert ledger.person("ben").epsilon == pytest.approx(0.6, rel=1e-4)
    assert "Release 1 is reserved: a survey" in first.text and str(first) == first.text
    with pytest.raises(db.OverBudgetError) as caught:
        ledger.reserve(["ben"], **HALF)
    assert (caught.value.people, caught.value.count) == (["ben"], 1)
    # What is aborted costs nobody anything, and what is committed stays.
    assert first.abort(nothing_was_released=True, note="the survey was called off").status == "aborted" == first.status
    assert ledger.person("ben").share == 0.0 and ledger.person("ben").releases == []
    second = ledger.reserve(["ben"], **HALF)
    assert second.commit("it went well") == ledger.show().releases[1]
    assert second.note("and is over") == Release(2, "committed", "a survey", "2026-11-18", 1, 1, ["it went well", "and is over"])
    for change in [second.commit, lambda: second.abort(nothing_was_released=True), first.commit]:
        with pytest.raises(db.InvalidInputError, match="so it cannot be"):
            change()
    assert statuses(ledger) == ["aborted", "committed"]
    with pytest.raises(db.OverBudgetError):
        ledger.reserve(["ben"], **HALF)
    assert ledger.check() and ledger.check().faults == []


def test_the_block_commits_and_an_exception_leaves_it_reserved(ledger: db.Ledger) -> None:
    with ledger.reserve(["ada"], **HALF) as reservation:
        assert statuses(ledger) == ["reserved"]
    assert statuses(ledger) == ["committed"] and reservation.status == "committed"
    for error in [ValueError("no model"), KeyboardInterrupt(), SystemExit(1)]:
        with pytest.raises(type(error)) as caught, ledger.reserve(["ben"], epsilon=0.01) as reservation:
            raise error
        assert statuses(ledger)[-1] == "reserved" == reservation.status
        (note,) = caught.value.__notes__
        assert f"release {reservation.release} stays reserved" in note and "people.ledger" in note
    # Only somebody who says that nothing was released ends it.
    with pytest.raises(ZeroDivisionError), ledger.reserve(["cem"], **HALF) as reservation:
        reservation.abort(nothing_was_released=True)
        raise ZeroDivisionError
    assert statuses(ledger)[-1] == "aborted"
    with ledger.reserve(["cem"], **HALF) as reservation:
        reservation.commit()
    assert statuses(ledger)[-1] == "committed"
    # What another program ended is not committed again without a word.
    with pytest.raises(db.InvalidInputError, match="aborted"), ledger.reserve(["dan"], **HALF) as reservation:
        db.Ledger("people.ledger").abort(reservation.release or 0, nothing_was_released=True)
    assert statuses(ledger)[-1] == "aborted"


@pytest.mark.parametrize("sure", [False, None, 1, "yes", np.True_])
def test_nothing_is_aborted_unless_somebody_is_sure(ledger: db.Ledger, sure: Any) -> None:
    reservation = ledger.reserve(["ada"], **HALF)
    with pytest.raises(db.InvalidInputError, match="nothing_was_released"):
        reservation.abort(nothing_was_released=sure)
    with pytest.raises(TypeError):
        reservation.abort()  # type: ignore[call-arg]
    assert statuses(ledger) == ["reserved"] and reservation.status == "reserved"


def test_a_dry_run_changes_nothing(ledger: db.Ledger) -> None:
    before = Path("people.ledger").read_bytes()
    would = ledger.reserve(range(100), run=RUN, dry_run=True)
    assert would.release is None and would.status == "tried" and would.people == 100 and 0 < would.epsilon < 1
    assert Path("people.ledger").read_bytes() == before and ledger.show().people == 0
    with pytest.raises(db.InvalidInputError, match="dry run"), would:
        pass
    for change in [would.commit, lambda: would.abort(nothing_was_released=True), lambda: would.note("")]:
        with pytest.raises(db.InvalidInputError, match="dry run"):
            change()
    assert would.epsilon == ledger.reserve(range(100), run=RUN).epsilon


def test_who_cannot_afford_it_is_left_out_by_a_mask(ledger: db.Ledger) -> None:
    ledger.reserve([7, "ben"], **HALF)
    names = np.array([7, 8, 9, 7])
    for people in [names, [" 7", "8 ", 9, "7"]]:
        found = ledger.reserve(people, **HALF, leave_out=True, dry_run=True)
        assert found.left_out == ["7"] and found.kept.tolist() == [False, True, True, False]
        assert (found.people, found.records) == (2, 2)
    with pytest.raises(db.OverBudgetError) as caught:
        ledger.reserve(names, **HALF)
    assert caught.value.people == ["7"] and caught.value.count == 1
    found = ledger.reserve(names, epsilon=0.05, leave_out=True)
    assert found.left_out == [] and found.kept.all()
    with pytest.raises(db.OverBudgetError, match="nobody is left") as caught:
        ledger.reserve(["ben", 7], **HALF, leave_out=True)
    assert caught.value.people == ["7", "ben"] and caught.value.count == 2
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is db.OverBudgetError and copy.people == ["7", "ben"] and str(copy) == str(caught.value)
    assert isinstance(copy, db.DobrushinError) and isinstance(copy, RuntimeError)


def test_people_can_have_budgets_of_their_own(ledger: db.Ledger) -> None:
    told = ledger.set_budget(3.0, 1e-6, people=["ada", "ada", 4711])
    assert told.people == 2 and told.budget == Budget(3.0, 1e-6, False)
    for _ in range(2):
        ledger.reserve(["ada"], **HALF)
    assert ledger.person("ada").own_budget and 0 < ledger.person("ada").share < 1 and ledger.person("4711").share == 0
    assert ledger.terms().budget == Budget(1.0, 1e-6, False) and ledger.terms().neighbours == "replace-one"
    ledger.reserve(["ben"], **HALF)
    # Releases are planned before the first of them.
    with pytest.raises(db.InvalidInputError, match="there are releases already"):
        ledger.set_budget(0.5, 1e-6, planned=True)
    assert ledger.set_budget(0.5, 1e-6).people is None
    assert ledger.terms().budget == Budget(0.5, 1e-6, False) == ledger.person("ben").budget
    assert ledger.person("ben").share > 1 and not ledger.person("ben").own_budget
    assert ledger.person("ada").budget.epsilon == 3.0
    with pytest.raises(db.OverBudgetError):
        ledger.reserve(["ben"], epsilon=1e-9)
    # No people are nobody, and not everybody.
    assert ledger.set_budget(100.0, 1e-6, people=[]).people == 0 and ledger.terms().budget.epsilon == 0.5


def test_what_is_shown_is_what_the_program_shows(ledger: db.Ledger) -> None:
    ledger.reserve(["ada", "ben"], **HALF).commit()
    ledger.reserve(["ben"], epsilon=0.1, delta=1e-9)
    path = os.path.abspath("people.ledger")
    for found, words in [
        (ledger.show(), ["show", path]),
        (ledger.person("ben"), ["show", path, "--person", "ben"]),
        (ledger.check(), ["check", path]),
    ]:  # fmt: skip
        assert found.text == program("ledger", *words)
        assert found.to_dict() == json.loads(program("ledger", *words, "--json"))
        assert found._repr_html_().startswith("<pre>")
    assert ledger._repr_html_() == ledger.show()._repr_html_() and "2 people in 2 releases" in ledger._repr_html_()
    ben = ledger.person("ben")
    assert isinstance(ben, Person) and ben.name == "ben" and [release.number for release, _ in ben.releases] == [1, 2]
    assert [epsilon for _, epsilon in ben.releases] == pytest.approx([0.6, 0.1], rel=1e-4) and ben.epsilon <= 0.7 + 1e-9
    assert ledger.show().most == ("ben", ben.share) and 0 < ben.left < 0.4
    program("ledger", "show", path, "--csv", "people.csv", "--quiet")
    rows = [line.split(",") for line in Path("people.csv").read_text().splitlines()]
    everybody = ledger.people()
    assert rows[0][1:] == ["share_spent", "epsilon_upper", "budget_epsilon", "budget_delta"]
    assert [row[0] for row in rows[1:]] == everybody.names and sorted(everybody.names) == ["ada", "ben"]
    assert np.array([row[1:] for row in rows[1:]], dtype=float).tolist() == np.transpose(everybody[1:]).tolist()
    needed("pandas")
    frame = everybody.to_frame()
    assert frame.loc["ben", "share_spent"] == ben.share and list(frame.columns) == rows[0][1:] and frame.index.name == "person"
    # What the program reserves and commits is seen here, and the other way round.
    program("ledger", "commit", path, 2)
    assert statuses(ledger) == ["committed", "committed"]


def test_what_is_reserved_costs_what_the_program_says(ledger: db.Ledger) -> None:
    write(Path("people.csv"), {"person": list(range(100))})
    Path("run.toml").write_text(RUN.to_toml())
    path = os.path.abspath("people.ledger")
    report = db.account(RUN.replace(records=100), delta=1e-6)
    report.certificate().save("certificate.json")
    common = ["ledger", "reserve", path, "--people", "people.csv", "--person", "person", "--dry-run"]
    for words, wanted in [
        (["--run", "run.toml"], {"run": "run.toml"}),
        (["--run", "run.toml"], {"run": RUN.to_dict()}),
        (["--certificate", "certificate.json"], {"certificate": "certificate.json"}),
        (["--certificate", "certificate.json"], {"certificate": report.certificate()}),
        (["--certificate", "certificate.json"], {"certificate": report.certificate().to_dict()}),
        (["--epsilon", 0.3, "--delta", 1e-9, "--what", "x"], {"epsilon": 0.3, "delta": 1e-9, "what": "x"}),
    ]:
        found = ledger.reserve(range(100), **wanted, dry_run=True)  # type: ignore[arg-type]
        assert found.to_dict() == json.loads(program(*common, *words, "--json")), wanted
        assert found.text == program(*common, *words)
    forged = report.certificate().to_dict()
    forged["guarantee"]["epsilon"]["upper"] /= 2
    with pytest.raises(db.NoGuaranteeError, match="the certificate is not counted, because it does not hold"):
        ledger.reserve(range(100), certificate=forged)
    with pytest.raises(db.InvalidInputError, match=r"run.records is 100, but there are 99 records"):
        ledger.reserve(range(99), certificate=report.certificate())


SPELLED: dict[str, Any] = {
    "whole numbers": [1, 2, 1],
    "texts": ["1", "2", "1"],
    "with spaces": [" 1", "2\n", "1 "],
    "a tuple": (1, "2", 1),
    "a generator": (place for place in (1, 2, 1)),
    "a range": range(1, 4),
    "NumPy": np.array([1, 2, 1]),
    "NumPy, short": np.array([1, 2, 1], dtype=np.int8),
    "NumPy, unsigned": np.array([1, 2, 1], dtype=np.uint64),
    "NumPy, texts": np.array(["1", "2", "1"]),
    "NumPy, objects": np.array([1, "2", np.int32(1)], dtype=object),
    "every other": np.array([1, 0, 2, 0, 1])[::2],
}


@pytest.mark.parametrize("how", SPELLED)
def test_a_number_and_its_digits_are_the_same_person(ledger: db.Ledger, how: str) -> None:
    ledger.reserve(SPELLED[how], epsilon=0.1)
    expected = ["1", "2", "3"] if how == "a range" else ["1", "2"]
    assert sorted(ledger.people().names) == expected
    assert ledger.person(1).share == ledger.person("1").share == ledger.person(np.uint8(1)).share == ledger.person(" 1 ").share
    with pytest.raises(db.InvalidInputError, match="nobody in the ledger is called"):
        ledger.person("01")


def test_columns_of_frames_are_names(ledger: db.Ledger) -> None:
    pandas, polars, arrow = needed("pandas"), needed("polars"), needed("pyarrow")
    huge = 2**63 + 1
    given = {
        "pandas": pandas.Series([1, 2, 1], index=[7, 7, 7]),
        "pandas, texts": pandas.Series(["1", "2", "1"]),
        "pandas, nullable": pandas.Series([1, 2, 1], dtype="Int64"),
        "pandas, nullable texts": pandas.Series(["1", "2", "1"], dtype="string"),
        "pandas, categories": pandas.Series(["1", "2", "1"], dtype="category"),
        "pandas, arrow": pandas.Series([1, 2, 1], dtype=pandas.ArrowDtype(arrow.int32())),
        "a pandas index": pandas.Index([1, 2, 1]),
        "polars": polars.Series([1, 2, 1]),
        "polars, texts": polars.Series(["1", "2", "1"]),
        "polars, categories": polars.Series(["1", "2", "1"], dtype=polars.Categorical),
        "arrow": arrow.array([1, 2, 1]),
        "arrow, chunked": arrow.chunked_array([[1], [2, 1]]),
        "arrow, dictionary": arrow.array(["1", "2", "1"]).dictionary_encode(),
    }
    for name, people in given.items():
        found = ledger.reserve(people, epsilon=0.01)
        assert (found.people, found.records) == (2, 3), name
    assert sorted(ledger.people().names) == ["1", "2"]
    for people in [pandas.Series([huge], dtype="uint64"), polars.Series([huge]), arrow.array([huge], arrow.uint64()), [huge]]:
        ledger.reserve(people, epsilon=0.01)
    assert sorted(ledger.people().names) == ["1", "2", str(huge)] and len(ledger.person(huge).releases) == 4
    missing = {
        "None": [1, None],
        "NaN": ["1", float("nan")],
        "NaN of NumPy": ["1", np.float32("nan")],
        "empty": ["1", "  "],
        "masked": np.ma.array([1, 2], mask=[False, True]),
        "pandas": pandas.Series([1, None], dtype="Int64"),
        "pandas, texts": pandas.Series(["1", None]),
        "pandas, no time": ["1", pandas.NaT],
        "polars": polars.Series([1, None]),
        "polars, texts": polars.Series(["1", None]),
        "arrow": arrow.array([1, None]),
    }
    for name, people in missing.items():
        with pytest.raises(db.InvalidInputError, match=r"people\[1\].* is missing"):
            ledger.reserve(people, epsilon=0.01)
            pytest.fail(name)
    floats = {
        "a float": [1, 2.0],
        "NumPy": np.array([1.0, 2.0]),
        "NumPy, short": [1, np.float16(2)],
        "pandas": pandas.Series([1, None]),
        "polars": polars.Series([1.0, 2.0]),
        "arrow": arrow.array([1.0]),
        "a decimal": [decimal.Decimal(1)],
        "infinite": [float("inf")],
    }
    for name, people in floats.items():
        with pytest.raises(db.InvalidInputError, match=r"people\[[01]\] is a \w+, but a name is text or a whole number") as caught:
            ledger.reserve(people, epsilon=0.01)
            pytest.fail(name)
        assert "floats are rounded" in (caught.value.help or "")
    for people in [pandas.DataFrame({"p": [1]}), polars.DataFrame({"p": [1]}), polars.LazyFrame({"p": [1]}), arrow.table({"p": [1]})]:
        with pytest.raises(db.InvalidInputError, match="people is a table"):
            ledger.reserve(people, epsilon=0.01)
    for people in [pandas.Series(pandas.to_datetime(["2026-01-01"])), np.array(["2026-01-01"], dtype="M8[ns]")]:
        with pytest.raises(db.InvalidInputError, match="text or a whole number"):
            ledger.reserve(people, epsilon=0.01)


BAD_PEOPLE: dict[str, tuple[Any, str]] = {
    "nobody": ([], "there are no people"),
    "a text": ("ada", "must have a name for each record"),
    "bytes": (b"ada", "must have a name for each record"),
    "a number": (7, "must have a name for each record"),
    "None": (None, "must have a name for each record"),
    "a set": ({"ada"}, "which has no order"),
    "a dict": ({"name": ["ada"]}, "is a table"),
    "rows": (np.array([[1, 2]]), "2 dimensions"),
    "no dimension": (np.array(1), "0 dimensions"),
    "a flag": ([True], "is a bool, but"),
    "a flag of NumPy": ([np.True_], r"is a bool_?, but"),
    "flags": (np.array([True]), r"is a bool_?, but"),
    "bytes inside": ([b"ada"], "is a bytes, but"),
    "a list inside": ([["ada"]], "is a list, but"),
    "an object": ([object()], "is a object, but"),
    "no text": (["\ud800"], "is not valid text"),
    "a long name": (["x" * 1025], "longer than 1024 bytes"),
    "a long number": ([10**5000], "but a name is text or a whole number"),
}


@pytest.mark.parametrize("what", BAD_PEOPLE)
def test_what_is_no_name_is_refused_and_nothing_is_reserved(ledger: db.Ledger, what: str) -> None:
    people, message = BAD_PEOPLE[what]
    with pytest.raises(db.InvalidInputError, match=message) as caught:
        ledger.reserve(people, epsilon=0.1)
    assert caught.value.help
    assert ledger.show().releases == []


BAD: dict[str, tuple[Any, str]] = {
    "nothing": (lambda it: it.reserve(["ada"]), "not clear what will be released"),
    "two things": (lambda it: it.reserve(["ada"], run=RUN, epsilon=0.1), "not clear what will be released"),
    "only δ": (lambda it: it.reserve(["ada"], delta=1e-9), "not clear what will be released"),
    "ε is NaN": (lambda it: it.reserve(["ada"], epsilon=float("nan")), "epsilon"),
    "ε is infinite": (lambda it: it.reserve(["ada"], epsilon=float("inf")), "epsilon"),
    "ε is negative": (lambda it: it.reserve(["ada"], epsilon=-0.1), "epsilon"),
    "ε is a text": (lambda it: it.reserve(["ada"], epsilon="0.1"), "epsilon is a str"),
    "ε is a flag": (lambda it: it.reserve(["ada"], epsilon=True), "epsilon is a bool"),
    "δ is 2": (lambda it: it.reserve(["ada"], epsilon=0.1, delta=2), "delta"),
    "a run that is none": (lambda it: it.reserve(["ada"], run={"run": {"algorithm": "magic"}}), "run.algorithm"),
    "a run of another kind": (lambda it: it.reserve(["ada"], run=7), "the run is a int"),
    "no certificate": (lambda it: it.reserve(["ada"], certificate={}), "certificate"),
    "a certificate that is not there": (lambda it: it.reserve(["ada"], certificate="no.json"), "cannot be read"),
    "what": (lambda it: it.reserve(["ada"], epsilon=0.1, what=7), "what is a int"),
    "leave_out": (lambda it: it.reserve(["ada"], epsilon=0.1, leave_out="no"), "leave_out is 'no'"),
    "dry_run": (lambda it: it.reserve(["ada"], epsilon=0.1, dry_run=0), "dry_run is 0"),
    "release 0": (lambda it: it.commit(0), "must be the number of a release"),
    "release True": (lambda it: it.commit(True), "must be the number of a release"),
    "release 1.0": (lambda it: it.commit(1.0), "must be the number of a release"),
    "no release": (lambda it: it.commit(9), "the ledger has no release 9"),
    "a huge release": (lambda it: it.note(2**63 - 1, "x"), "the ledger has no release"),
    "a note": (lambda it: it.note(1, None), "text is a NoneType"),
    "note": (lambda it: it.commit(1, note=7), "note is a int"),
    "nobody": (lambda it: it.person("eve"), "nobody in the ledger is called"),
    "no name": (lambda it: it.person(""), "nobody in the ledger is called"),
    "NaN": (lambda it: it.person(float("nan")), "name is missing"),
    "a float": (lambda it: it.person(1.0), "name is a float"),
    "names": (lambda it: it.person(["ada"]), "name is a list"),
    "budget ε": (lambda it: it.set_budget(-1, 1e-6), "epsilon"),
    "budget ε is infinite": (lambda it: it.set_budget(float("inf"), 1e-6), "epsilon"),
    "budget δ": (lambda it: it.set_budget(1.0, float("nan")), "delta"),
    "budget None": (lambda it: it.set_budget(None, 1e-6), "epsilon is missing"),
    "budget planned": (lambda it: it.set_budget(1.0, 1e-6, planned="yes"), "planned is 'yes'"),
    "budget people": (lambda it: it.set_budget(1.0, 1e-6, people="ada"), "must have a name for each record"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_named_and_changes_nothing(ledger: db.Ledger, what: str) -> None:
    call, message = BAD[what]
    before = ledger.show().to_dict()
    with pytest.raises(db.InvalidInputError, match=message):
        call(ledger)
    assert ledger.show().to_dict() == before


def test_places_that_are_no_ledgers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("no ledger")
    with contextlib.closing(sqlite3.connect("other")) as other:
        other.execute("CREATE TABLE people (name)")
        other.commit()
    Path("link").symlink_to("people.ledger")
    ledger = db.Ledger.create(Path("people.ledger"), epsilon=1.0, delta=0.0, neighbours="zero-out", planned=True, people=10**9)
    assert ledger.terms().neighbours == "zero-out" and ledger.terms().budget.planned
    assert os.stat("people.ledger").st_mode & 0o077 == 0
    for place, message in [
        ("missing", "cannot open"), ("text", "is not a ledger"), ("other", "is not a ledger"), (".", "not a regular file"),
        ("link", "not a regular file"), (7, "the ledger is not the path"), (b"people.ledger", "the ledger is not the path"),
        ("a\0b", "the ledger is not the path"), (None, "the ledger is not the path"), ("", "not a regular file"),
    ]:  # fmt: skip
        with pytest.raises(db.InvalidInputError, match=message):
            db.Ledger(place)  # type: ignore[arg-type]
    budget: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
    for place, wanted, message in [
        ("people.ledger", {}, "cannot make"),
        ("no/folder", {}, "cannot make"),
        ("new", {"neighbours": "friends"}, "neighbours"),
        ("new", {"neighbours": None}, "neighbours"),
        ("new", {"people": 0}, "people is 0"),
        ("new", {"people": 1.5}, "people is 1.5"),
        ("new", {"epsilon": float("nan")}, "epsilon"),
        ("new", {"delta": -1}, "delta"),
        ("new", {"planned": 1}, "planned is 1"),
    ]:  # fmt: skip
        with pytest.raises(db.InvalidInputError, match=message):
            db.Ledger.create(place, **{**budget, **wanted})
    assert sorted(path.name for path in Path().iterdir() if path.name.startswith("new")) == []
    # The path is a whole one: another folder is not another ledger.
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert ledger.show().people == 0 and repr(ledger) == f"<Ledger: {tmp_path / 'people.ledger'}>"
    assert db.Ledger(tmp_path / "people.ledger") == ledger == db.Ledger(ledger.place) and len({ledger, db.Ledger(ledger)}) == 1  # type: ignore[arg-type]


def test_a_database_that_cannot_be_reached_is_named_without_its_password() -> None:
    for place in ["postgresql://ada:secret@127.0.0.1:9/privacy", "postgres://ada:secret@[::1", "postgresql://ada:secret@/x?y=z"]:
        for call in [lambda place=place: db.Ledger(place), lambda place=place: db.Ledger.create(place, epsilon=1.0, delta=1e-6)]:
            with pytest.raises(db.InvalidInputError, match="database") as caught:
                call()
            assert "secret" not in str(caught.value) + repr(caught.value)


def test_a_damaged_ledger_is_refused(ledger: db.Ledger) -> None:
    ledger.reserve(range(100), **HALF)
    with contextlib.closing(sqlite3.connect("people.ledger")) as file:
        ((number, row),) = file.execute("SELECT b, data FROM bucket WHERE length(data) > 60 LIMIT 1").fetchall()
        file.execute("UPDATE bucket SET data = ? WHERE b = ?", (row[:-1] + bytes([row[-1] ^ 1]), number))
        file.commit()
    for call in [ledger.people, ledger.show, lambda: ledger.reserve(range(100), epsilon=0.1)]:
        with pytest.raises(db.InvalidInputError, match="the ledger is damaged"):
            call()
    checked = ledger.check()
    assert not checked and checked.faults and "DAMAGED" in repr(checked) + checked.text


def test_objects_can_be_pickled_and_shown(ledger: db.Ledger) -> None:
    reservation = ledger.reserve(["ada", "ben"], **HALF)
    copy = pickle.loads(pickle.dumps(reservation))
    assert copy.to_dict() == reservation.to_dict() and copy.text == reservation.text and copy.kept.tolist() == [True, True]
    assert pickle.loads(pickle.dumps(ledger)) == ledger and pickle.loads(pickle.dumps(ledger)).show().people == 2
    with copy:
        pass
    assert statuses(ledger) == ["committed"] and repr(copy) == "<Reservation: release 1 is committed, 2 people, 0 left out>"
    # The first object does not know that, and is told.
    with pytest.raises(db.InvalidInputError, match="is committed"):
        reservation.commit()
    assert repr(ledger.show()) == "<LedgerReport: 2 people, 1 releases>" and "'ada'" in repr(ledger.person("ada"))
    assert repr(ledger.terms()) == "<Terms: epsilon=1, delta=1e-06, replace-one>"
    axes = needed("matplotlib.pyplot").subplots()[1]
    assert ledger.plot(axes) is axes
    (line,) = axes.lines
    # Both have spent six tenths and more, and nobody all.
    assert line.get_ydata()[0] == 2 and line.get_ydata()[-1] == 0 and max(line.get_xdata()) == 100


def spend(arguments: tuple[str, int, int]) -> int:
    """How many of these releases were made; each is about all people, and some are aborted."""
    place, first, count = arguments
    ledger, made = db.Ledger(place), 0
    for number in range(first, first + count):
        with contextlib.suppress(db.OverBudgetError):
            reservation = ledger.reserve(range(20), epsilon=0.1, what=f"release {number}")
            if number % 5 == 0:
                reservation.abort(nothing_was_released=True)
            else:
                reservation.commit()
                made += 1
    return made


def at_once(ledger: db.Ledger, place: str) -> None:
    """Threads and processes make as many releases as they can, and never too many."""
    # How many fit one after another.
    alone = db.Ledger.create("alone.ledger", epsilon=1.0, delta=1e-6)
    most = spend((alone.place, 1, 20))
    assert 5 <= most <= 15
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        others = pool.map_async(spend, [(place, 100 * number, 10) for number in (1, 2)])
        with ThreadPoolExecutor(3) as threads:
            mine = list(threads.map(spend, [(place, 100 * number, 10) for number in (3, 4, 5)]))
        made = sum(mine) + sum(others.get(timeout=300))
    releases = ledger.show().releases
    committed = [release for release in releases if release.status == "committed"]
    assert made == len(committed) <= most and "reserved" not in statuses(ledger)
    assert [release.number for release in releases] == list(range(1, len(releases) + 1))
    # What was reserved and then aborted may have kept others from spending what is left.
    for _ in range(most - made):
        ledger.reserve(range(20), epsilon=0.1).commit()
    with pytest.raises(db.OverBudgetError):
        ledger.reserve(range(20), epsilon=0.1)
    assert ledger.check() and float(ledger.people().share_spent.max()) <= 1


def test_threads_and_processes_at_once_never_spend_too_much(ledger: db.Ledger) -> None:
    at_once(ledger, ledger.place)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of databases on a PostgreSQL server of our own, which ends with the tests."""
    found = shutil.which("pg_ctl") or next(iter(sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")))), None)
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if found is None or is_root and "postgres" not in {user.pw_name for user in importlib.import_module("pwd").getpwall()}:
        pytest.skip("PostgreSQL is not installed")
    # It does not run as root.
    user: dict[str, Any] = {"user": "postgres"} if is_root else {}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        if is_root:
            shutil.chown(folder, "postgres")
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories=''"

        def control(*words: object) -> None:
            command = [str(found), "-D", str(data), *map(str, words)]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, **user)

        control("init", "-s", "-o", "-U ada -A trust")
        control("start", "-s", "-w", "-l", Path(folder, "log"), "-o", options)
        try:
            yield f"postgresql://ada:secret@127.0.0.1:{port}"
        finally:
            control("stop", "-s", "-w", "-m", "immediate")


def test_a_database_is_a_ledger_as_well(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = f"{server}/postgres"
    with pytest.raises(db.InvalidInputError, match="the database has no ledger"):
        db.Ledger(place)
    with pytest.raises(db.InvalidInputError, match="does not exist") as caught:
        db.Ledger(f"{server}/nobody")
    assert "secret" not in str(caught.value)
    ledger = db.Ledger.create(place, epsilon=1.0, delta=1e-6)
    assert "secret" not in repr(ledger) + ledger.place + ledger.show().text and ledger.place.startswith("postgresql://127.0.0.1:")
    assert pickle.loads(pickle.dumps(ledger)) == ledger == db.Ledger(place)
    with pytest.raises(db.InvalidInputError, match="already"):
        db.Ledger.create(place, epsilon=1.0, delta=1e-6)
    reports = db.local.k_rr(2, epsilon=0.6).privatize([1, 2], ledger=place, people=["ada", "ben"])
    with ledger.reserve(["ada", "cem"], **HALF, leave_out=True) as reservation:
        assert reservation.left_out == ["ada"] and len(reports) == 2
    assert statuses(ledger) == ["committed", "committed"] and "secret" not in reservation.text
    assert ledger.set_budget(1.0, 1e-6, planned=True, people=["dan"]).people == 1 and ledger.person("cem").share > 0.5


def test_threads_and_processes_share_a_database(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    at_once(db.Ledger.create(f"{server}/template1", epsilon=1.0, delta=1e-6), f"{server}/template1")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_uses_the_same_ledger(ledger: db.Ledger) -> None:
    with ledger.reserve(["ada"], epsilon=0.1) as reservation:
        context = multiprocessing.get_context("fork")
        with context.Pool(1) as pool:
            assert pool.apply_async(spend, ((ledger.place, 1, 1),)).get(timeout=120) == 1
            assert pool.apply_async(ledger.person, ("0",)).get(timeout=120).share > 0
    assert reservation.status == "committed" and statuses(ledger) == ["committed", "committed"]


def test_whoever_interrupts_a_reservation_has_none(ledger: db.Ledger) -> None:
    # Another process is writing, so that the reservation waits.
    code = "import sqlite3, sys; file = sqlite3.connect('people.ledger', isolation_level=None); "
    code += "file.execute('BEGIN IMMEDIATE'); print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"ready\n"
        threading.Timer(2.0, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            ledger.reserve(["ada"], **HALF)
        other.communicate(b"")
    # Now the lock is gone, and whoever waited for it goes on, and sees that nobody wants it.
    for _ in range(600):
        if statuses(ledger) == ["aborted"]:
            break
        time.sleep(0.1)
    assert statuses(ledger) == ["aborted"] and ledger.check()
    ledger.reserve(["ada"], **HALF)


# Training

SCHEMA: dict[str, Any] = {
    "label": "bought",
    "columns": {
        "visits": {"kind": "number", "lower": 0, "upper": 20, "if-missing": 3},
        "age": {"kind": "number", "lower": 18, "upper": 90},
        "job": {"kind": "category", "categories": ["1", "2", "other"], "if_unknown": "other", "if_missing": "none"},
        "bought": {"kind": "category", "categories": ["no", "yes"]},
    },
}
MODEL = db.Run(
    algorithm="gradient-descent", steps=20, learning_rate=0.5, clip_norm=0.5, weight_decay=0.1, ball=20.0,
    model={"kind": "logistic", "schema": SCHEMA},
)  # fmt: skip
GOAL: dict[str, Any] = {"epsilon": 0.6, "delta": 1e-7}


def people(count: int = 200) -> dict[str, list[Any]]:
    """The table of the tests of training, where everybody has two rows."""
    return {"customer": [place // 2 for place in range(count)], **columns(count)}


def test_a_model_is_charged_as_the_program_charges_it(ledger: db.Ledger) -> None:
    data = people()
    write(Path("data.csv"), data)
    Path("run.toml").write_text(MODEL.to_toml())
    program("ledger", "init", "theirs.ledger", "--epsilon", 4, "--delta", "1e-6")
    program(
        "train", "data.csv", "--run", "run.toml", "--epsilon", 0.6, "--delta", "1e-7", "--out", "theirs", "--ledger", "theirs.ledger",
        "--person", "customer",
    )  # fmt: skip
    theirs = db.Ledger("theirs.ledger")
    (made,) = theirs.show().releases
    assert (made.status, made.people, made.records, made.what) == ("committed", 100, 200, "model in theirs")
    names = np.array(data["customer"])
    rows = np.array([data[name] for name in ["visits", "age", "job"]], dtype=object).T
    given: dict[str, tuple[Any, dict[str, Any]]] = {
        name: (frame, {"person": "customer"}) for name, frame in frames(data).items() if name != "arrays"
    }
    given |= {
        "a file": ("data.csv", {"person": "customer"}),
        "names": (data, {"person": names.tolist()}),
        "arrays": ((rows, np.array(data["bought"], dtype=object)), {"person": names, "columns": ["visits", "age", "job"]}),
        "arrays with the column": (
            (np.column_stack([rows, names]), np.array(data["bought"], dtype=object)),
            {"person": "customer", "columns": ["visits", "age", "job", "customer"]},
        ),
    }
    for name, (table, wanted) in given.items():
        mine = db.Ledger.create(f"{name}.ledger", epsilon=4.0, delta=1e-6)
        trained = db.train(table, MODEL, **GOAL, **wanted, ledger=mine)
        assert bool(db.verify(trained.certificate, model=trained.model)), name  # type: ignore[arg-type]
        (release,) = mine.show().releases
        assert release._replace(what=made.what) == made and release.what == "model of bought", name
        assert mine.person(7).share == theirs.person(7).share > 0.1, name
    # The place is enough, and a plan is charged as well.
    db.train(data, schema=SCHEMA, **GOAL, person="customer", ledger="theirs.ledger", out="mine")
    assert statuses(theirs) == ["committed", "committed"] and theirs.show().releases[1].what == "model in mine"


def test_a_model_that_somebody_cannot_afford_is_not_trained_or_is_trained_without_them(ledger: db.Ledger) -> None:
    data = people()
    write(Path("data.csv"), data)
    ledger.set_budget(4.0, 1e-6)
    ledger.reserve([3, 50], epsilon=3.9).commit()
    for table in [data, "data.csv"]:
        with pytest.raises(db.OverBudgetError) as caught:
            db.train(table, MODEL, **GOAL, ledger=ledger, person="customer", out="model")
        assert sorted(caught.value.people) == ["3", "50"] and not list(Path().glob("model/*"))
    assert statuses(ledger) == ["committed"]
    gone = [place for place, name in enumerate(data["customer"]) if name in (3, 50)]
    without = {name: [cell for place, cell in enumerate(cells) if place not in gone] for name, cells in data.items()}
    for table in [data, "data.csv"]:
        trained = db.train(table, MODEL, **GOAL, ledger=ledger, person="customer", leave_out=True)
        assert trained.certificate is not None and trained.certificate.to_dict()["run"]["run"]["records"] == 196
        assert len(ledger.person(3).releases) == 1
        ledger.set_budget(20.0, 1e-6)
        ledger.set_budget(4.0, 1e-6, people=[3, 50])
    assert [release.records for release in ledger.show().releases[1:]] == [196, 196]
    # A model that hardly has noise shows which records it was trained on.
    loud = MODEL.replace(noise_multiplier=0.01, steps=200)
    rows = list(range(200))
    left = [row for row in rows if row not in gone]
    found = [
        db.train(table, loud, delta=1e-7, ledger=books, person=names, leave_out=True).parameters[0]
        for table, names, books in [(data, rows, ledger_without(*gone)), (without, left, ledger_without()), (data, rows, ledger_without())]
    ]
    assert np.allclose(found[0], found[1], atol=1e-3) and not np.allclose(found[0], found[2], atol=1e-3)


def ledger_without(*names: int) -> db.Ledger:
    """A ledger in which everybody can afford everything, except for these."""
    place = f"{time.monotonic_ns()}.ledger"
    made = db.Ledger.create(place, epsilon=1e12, delta=0.5)
    made.set_budget(1e-3, 1e-9, people=list(names))
    return made


def test_whatever_stops_training_costs_nobody_anything(ledger: db.Ledger) -> None:
    data = people()
    ledger.set_budget(1e6, 1e-6)
    charged: dict[str, Any] = {**GOAL, "ledger": ledger, "person": "customer"}
    Path("model").mkdir()
    Path("model/model.json").write_text("mine")
    for wanted, message in [
        ({"out": "model"}, "already exists"),
        ({"keep_state": "model/model.json"}, "already exists"),
        ({"keep_state": "people.ledger", "force": True}, "people.ledger"),
        ({"out": "people.ledger/model"}, "people.ledger/model"),
        ({"test": {name: [] for name in data}}, "no records"),
        ({"public": {name: [] for name in data}}, "no records"),
    ]:
        with pytest.raises(db.InvalidInputError, match=message):
            db.train(data, MODEL, **charged, **wanted)  # type: ignore[arg-type]
        assert "reserved" not in statuses(ledger) and "committed" not in statuses(ledger), wanted
    assert Path("model/model.json").read_text() == "mine"
    slow = MODEL.replace(steps=50_000_000, noise_multiplier=1e6)

    def interrupt() -> None:
        while "reserved" not in statuses(ledger):
            time.sleep(0.05)
        _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        db.train(data, slow, delta=1e-7, ledger=ledger, person="customer")
    for _ in range(600):
        if "reserved" not in statuses(ledger):
            break
        time.sleep(0.1)
    assert statuses(ledger)[-1] == "aborted" and "committed" not in statuses(ledger)
    assert float(ledger.people().share_spent.max()) == 0


def test_what_cannot_be_charged_is_refused(ledger: db.Ledger) -> None:
    data = people()
    write(Path("data.csv"), data)
    place: dict[str, Any] = {"ledger": ledger}
    for table, wanted, message in [
        (data, {"person": "customer"}, "person is given without a ledger"),
        (data, {"leave_out": True}, "leave_out is given without a ledger"),
        (data, place, "not whose each record is"),
        (data, {**place, "person": "nobody"}, "there is no column 'nobody'"),
        ("data.csv", {**place, "person": "nobody"}, "nobody"),
        ("data.csv", {**place, "person": data["customer"]}, "the data are a file"),
        (data, {**place, "person": data["customer"][1:]}, "person has 199 names, but there are 200 records"),
        (data, {**place, "person": [*data["customer"][1:], None]}, r"person\[199\] is missing"),
        (data, {**place, "person": "age"}, r"person\[0\] is a float"),
        (data, {**place, "person": 7}, "person is 7"),
        (data, {**place, "person": "customer", "seed": 1, "not_private": True}, "ledger counts what private training tells"),
        (data, {**place, "person": "customer", "leave_out": True, "keep_state": "state"}, "leave_out and keep_state"),
        ((np.zeros((2, 3)), np.array(["no", "yes"])), {**place, "person": "customer", "columns": ["visits", "age", "job"]}, "no column of X"),
        (data, {"ledger": "no.ledger", "person": "customer"}, "cannot open"),
        (data, {"ledger": 7, "person": "customer"}, "the ledger is not the path"),
    ]:
        with pytest.raises(db.InvalidInputError, match=message):
            db.train(table, MODEL, **GOAL, **wanted)  # type: ignore[arg-type]
    write(Path("gaps.csv"), {**data, "customer": [*data["customer"][:5], None, *data["customer"][6:]]})
    with pytest.raises(db.InvalidInputError, match=r"line 7 of gaps.csv: the name of the person of record 6 is missing"):
        db.train("gaps.csv", MODEL, **GOAL, **place, person="customer")
    assert statuses(ledger) == []


def test_a_secret_number_of_records_is_charged_by_its_bound(ledger: db.Ledger) -> None:
    secret = MODEL.replace(neighbours="add-or-remove-one", records=300)
    ledger.set_budget(20.0, 1e-6)
    hidden = db.Ledger.create("hidden.ledger", epsilon=4.0, delta=1e-6, neighbours="add-or-remove-one")
    shares = []
    for count in (200, 100, 2):
        table = {name: cells[:count] for name, cells in people().items()}
        for books in (hidden, ledger):
            certificate = db.train(table, secret, **GOAL, ledger=books, person="customer").certificate
            assert certificate is not None and certificate.to_dict()["run"]["run"]["records"] == 300
        shares.append(hidden.person(0).share)
    assert [release.records for release in hidden.show().releases] == [200, 100, 2]
    # Each costs the same, whatever the number of records is; replacing a record costs more than taking it away.
    assert shares[1] == pytest.approx(2 * shares[0]) and shares[2] == pytest.approx(3 * shares[0])
    assert ledger.person(0).releases[0][1] > 1.5 * hidden.person(0).releases[0][1]
    with pytest.raises(db.InvalidInputError, match="neighbours"):
        db.train(people(), MODEL, **GOAL, ledger=hidden, person="customer")
    assert statuses(hidden) == ["committed"] * 3


# Local privacy


def test_private_answers_are_charged_to_those_who_gave_them(ledger: db.Ledger) -> None:
    answers = {"person": ["ada", "ben", 7], "way": ["bus", "car", "bus"]}
    write(Path("answers.csv"), answers)
    program("ledger", "init", "theirs.ledger", "--epsilon", 1, "--delta", "1e-6")
    program(
        "local", "privatize", "answers.csv", "--column", "way", "--mechanism", "k-rr", "--values", "bus,bike,car", "--epsilon", 0.6,
        "--ledger", "theirs.ledger", "--person", "person", "--output", "reports.csv",
    )  # fmt: skip
    mechanism = db.local.k_rr(["bus", "bike", "car"], epsilon=0.6)
    reports = mechanism.privatize(answers["way"], ledger=ledger, people=answers["person"])
    assert len(reports) == 3 and reports.private
    (release,) = ledger.show().releases
    assert (release.status, release.people, release.what) == ("committed", 3, "private answers by k-rr")
    assert ledger.person(7).share == db.Ledger("theirs.ledger").person("7").share > 0.5
    with pytest.raises(db.OverBudgetError) as caught:
        mechanism.privatize(["bus"], ledger="people.ledger", people=[7])
    assert caught.value.people == ["7"]
    numbers = db.local.laplace((0.0, 1.0), epsilon=0.1).privatize(np.linspace(0, 1, 3), ledger=ledger, people=["cem", "cem", "dan"])
    assert len(numbers) == 3 and ledger.person("cem").share > ledger.person("dan").share > 0
    for call, message in [
        (lambda: mechanism.privatize(["bus"], ledger=ledger), "ledger and people go together"),
        (lambda: mechanism.privatize(["bus"], people=["eve"]), "ledger and people go together"),
        (lambda: mechanism.privatize(["bus"], ledger=ledger, people=["eve", "fay"]), "people has 2 names, but there are 1 answers"),
        (lambda: mechanism.privatize(["tram"], ledger=ledger, people=["eve"]), "answer 0"),
        (lambda: mechanism.privatize(["bus"], ledger=ledger, people=[None]), r"people\[0\] is missing"),
        (lambda: mechanism.privatize(["bus"], ledger=ledger, people=["eve"], seed=1, not_private=True), "seed makes them public"),
    ]:
        with pytest.raises(db.InvalidInputError, match=message):
            call()
    assert statuses(ledger) == ["committed", "committed"]
    hidden = db.Ledger.create("hidden.ledger", epsilon=1.0, delta=1e-6, neighbours="add-or-remove-one")
    with pytest.raises(db.InvalidInputError, match="reports of single answers show who answered"):
        mechanism.privatize(["bus"], ledger=hidden, people=["eve"])
