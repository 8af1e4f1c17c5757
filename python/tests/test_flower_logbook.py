"""An owner's logbook: one draw of noise for each step, whenever the node is killed."""

from __future__ import annotations

import hashlib
import math
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dobrushin as db

if os.environ.get("CI") != "true":
    pytest.importorskip("flwr")

import numpy as np

from dobrushin._flower import step
from dobrushin.flower import Journey, Logbook

JOURNEY = Journey(owners=3, passes=200, dimension=4, learning_rate=0.5, gradient_noise=4.0, radius=2.0)
START = np.zeros(4)
ROWS, LABELS = np.eye(4), [1, 0, 1, 0]


def noisy() -> Any:
    return step._noisy_step(START, JOURNEY, ROWS, LABELS)


def never() -> Any:
    raise AssertionError("the step was taken again")


def digest(model: Any) -> str:
    return hashlib.sha256(model.tobytes()).hexdigest()


def test_a_step_is_drawn_once_also_for_another_process(tmp_path: Path) -> None:
    first = Logbook(tmp_path / "book").once("a", 2, JOURNEY, START, noisy)
    again = Logbook(tmp_path / "book").once("a", 2, JOURNEY, START, never)
    assert digest(first) == digest(again)


def test_whenever_a_node_is_killed_no_step_that_could_have_left_is_drawn_again(tmp_path: Path) -> None:
    """A node takes its steps until it is killed, at a moment that nobody chose, and then another goes on. Whatever one of
    them could have sent is what the next one answers."""
    when, left, alone = random.Random(5), 0, 0.0
    for attempt in range(60):
        book = Logbook(tmp_path / "book")
        before = book.steps
        sent = tmp_path / f"sent-{attempt}"
        sent.touch()
        began = time.monotonic()
        node = os.fork()
        if node == 0:
            with sent.open("w") as out:
                for place in range(before, before + 4):
                    model = book.once("a", 1 + JOURNEY.owners * place, JOURNEY, START, noisy)
                    print(place, digest(model), file=out, flush=True)
            os._exit(0)
        if attempt == 0:  # the first one is left alone, to learn how long it takes
            os.waitpid(node, 0)
            alone = time.monotonic() - began
            continue
        time.sleep(when.uniform(0.0, 1.2 * alone))
        os.kill(node, signal.SIGKILL)
        os.waitpid(node, 0)
        answers = [line.split() for line in sent.read_text().splitlines(keepends=True) if line.endswith("\n")]
        # What was sent is in the logbook, and one step more at most, which was not sent.
        assert book.steps - before - len(answers) in (0, 1)
        if answers and book.steps - before == len(answers):
            left += 1
            place, model = answers[-1]
            assert digest(book.once("a", 1 + JOURNEY.owners * int(place), JOURNEY, START, never)) == model
    assert left >= 5, "hardly a node was killed just after it sent an answer"


def test_two_nodes_with_one_logbook_draw_once(tmp_path: Path) -> None:
    """Both ask at the same time, and the second waits for the first."""
    script = (
        "import sys, numpy as np, hashlib; from dobrushin.flower import *; from dobrushin._flower import step\n"
        "journey = Journey(owners=3, passes=200, dimension=4, learning_rate=0.5, gradient_noise=4.0, radius=2.0)\n"
        "book = Logbook(sys.argv[1])\n"
        "for number in range(1, 61, 3):\n"
        "    try:\n"
        "        model = book.once('a', number, journey, np.zeros(4), lambda: step._noisy_step(np.zeros(4), journey, np.eye(4), [1]))\n"
        "        print(number, hashlib.sha256(model.tobytes()).hexdigest())\n"
        "    except ValueError:\n"
        "        pass  # the other node was faster, and has gone on\n"
    )
    nodes = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "book")], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [dict(line.split() for line in node.communicate(timeout=120)[0].splitlines()) for node in nodes]
    assert [node.returncode for node in nodes] == [0, 0]
    both = answers[0].keys() & answers[1].keys()
    assert all(answers[0][number] == answers[1][number] for number in both)
    assert len(answers[0].keys() | answers[1].keys()) == 20 == Logbook(tmp_path / "book").steps


def test_a_step_that_failed_was_not_taken(tmp_path: Path) -> None:
    book = Logbook(tmp_path / "book")
    with pytest.raises(ZeroDivisionError):
        book.once("a", 1, JOURNEY, START, lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    assert book.steps == 0
    book.once("a", 1, JOURNEY, START, noisy)
    assert book.steps == 1


def test_every_journey_is_remembered_and_each_has_its_own_turn(tmp_path: Path) -> None:
    book = Logbook(tmp_path / "book")
    for travelling, number in (("a", 1), ("b", 3), ("a", 4), ("c", 2)):
        book.once(travelling, number, JOURNEY, START, noisy)
    assert Logbook(tmp_path / "book").steps == 4
    for travelling, number in (("a", 1), ("a", 4 + 6), ("b", 1), ("c", 3)):
        with pytest.raises(db.InvalidInputError):
            book.once(travelling, number, JOURNEY, START, never)
    with pytest.raises(db.InvalidInputError, match="another journey"):
        book.once("c", 5, replace(JOURNEY, gradient_noise=1.0), START, never)
    assert len({book.name(travelling) for travelling in "abc"}) == 3
    assert book.name("a") == Logbook(tmp_path / "book").name("a") != Logbook(tmp_path / "other").name("a")


def test_the_certificate_counts_the_steps_in_the_logbook_each_with_its_noise(tmp_path: Path) -> None:
    book = Logbook(tmp_path / "book")
    with pytest.raises(db.InvalidInputError, match="no step"):
        _ = book.run
    louder = replace(JOURNEY, gradient_noise=8.0)
    for number in range(1, 5 * 3 + 1, 3):
        book.once("a", number, JOURNEY, START, noisy)
    for number in range(1, 2 * 3 + 1, 3):
        book.once("b", number, louder, START, noisy)
    counted = {entry["noise-multiplier"]: entry["count"] for entry in book.run.to_dict()["mechanism"]}
    assert sorted(counted.values()) == [2, 5]
    # The owner's gradient moves by at most twice its norm, as if a Gaussian of one multiplier were released once.
    ratios = [4.0 / JOURNEY.gradient_norm] * 5 + [8.0 / JOURNEY.gradient_norm] * 2
    once = 1 / math.sqrt(sum(ratio**-2 for ratio in ratios))
    single = db.Run(
        algorithm="composition", neighbours="replace-one", mechanism=[{"kind": "gaussian", "noise-multiplier": once}]
    )
    report = book.report(1e-5)
    assert report.epsilon == pytest.approx(db.account(single, delta=1e-5).epsilon, rel=1e-3)
    assert db.verify(report.certificate())


def test_a_logbook_knows_one_model_at_most_and_only_until_the_next_step(tmp_path: Path) -> None:
    book = Logbook(tmp_path / "book")
    for number in (1, 4, 7):
        book.once("a", number, JOURNEY, START, noisy)
    with sqlite3.connect(tmp_path / "book") as rows:
        kept = rows.execute("SELECT number FROM step WHERE answer IS NOT NULL").fetchall()
    assert kept == [(7,)]


def broken(path: Path, make: Callable[[Path], object]) -> None:
    make(path)
    with pytest.raises(db.InvalidInputError, match="logbook"):
        Logbook(path).once("a", 1, JOURNEY, START, noisy)


def test_what_is_not_a_logbook_is_refused_and_no_step_is_taken(tmp_path: Path) -> None:
    def other_database(path: Path) -> None:
        with sqlite3.connect(path) as rows:
            rows.execute("CREATE TABLE step (number INTEGER)")

    def later_version(path: Path) -> None:
        Logbook(path)
        with sqlite3.connect(path) as rows:
            rows.execute("PRAGMA user_version = 2")

    def cut(path: Path) -> None:
        Logbook(path).once("a", 1, JOURNEY, START, noisy)
        path.write_bytes(path.read_bytes()[:5000])

    broken(tmp_path / "text", lambda path: path.write_text("my diary, " * 1000))
    broken(tmp_path / "database", other_database)
    broken(tmp_path / "later", later_version)
    broken(tmp_path / "cut", cut)
    broken(tmp_path / "folder", lambda path: path.mkdir())
    broken(tmp_path / "nowhere" / "book", lambda _: None)


def test_nobody_else_may_read_a_logbook(tmp_path: Path) -> None:
    Logbook(tmp_path / "book")
    assert stat.S_IMODE((tmp_path / "book").stat().st_mode) == 0o600
