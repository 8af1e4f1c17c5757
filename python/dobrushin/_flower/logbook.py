"""What left an owner's node, on the node's own disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from dobrushin import Report, Run, account
from dobrushin._flower.journey import Journey, Vector
from dobrushin.errors import InvalidInputError

#: What is written into the header of the file, so that no other database is taken for a logbook: "dobr", and a version.
_MARK, _VERSION = 0x646F6272, 1

_TABLES = """
CREATE TABLE owner (secret TEXT NOT NULL);
CREATE TABLE step (
    travelling TEXT NOT NULL, number INTEGER NOT NULL, journey TEXT NOT NULL, asked BLOB NOT NULL, answer BLOB,
    PRIMARY KEY (travelling, number)
);
"""


class Logbook:
    """The steps that an owner took, in a file of their own. Each is written down before it leaves the node.

    A node may be killed at any moment. If the step that it was asked for is in the logbook, it is not taken again, with
    other noise on the same rows: whoever asks again from the same model gets the same answer, bit by bit. If it is not in
    the logbook, nothing of it can have left. A step that was written down counts as seen, whether or not it arrived.

    The file is made if there is none, and tells who the owner is from then on. Never delete it, and never put an older
    copy in its place: steps that it does not know would be taken again. It holds a model that was not released, so keep it
    secret. Two nodes that share it are one owner.

    >>> import tempfile
    >>> book = Logbook(Path(tempfile.mkdtemp()) / "logbook")
    >>> journey = Journey(owners=2, dimension=3, learning_rate=0.5, gradient_noise=4.0, radius=2.0)
    >>> start, steps = np.zeros(3), iter([np.ones(3), np.full(3, 2.0)])
    >>> for _ in range(2):
    ...     print(book.once("journey 1", 2, journey, start, lambda: next(steps)))
    [1. 1. 1.]
    [1. 1. 1.]
    >>> print(f"{book.report(1e-5).epsilon:.3f}")
    1.730
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with contextlib.suppress(OSError):  # what exists is opened below, and what cannot be made is refused there
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL, 0o600))
        with self._writing() as rows:
            self._secret: str = rows.execute("SELECT secret FROM owner").fetchone()[0]

    def name(self, travelling: str) -> str:
        """The owner's name in a journey: 32 hexadecimal digits, which say nothing about them and link no two journeys."""
        return hashlib.sha256(f"{self._secret} {travelling}".encode()).hexdigest()[:32]

    @property
    def steps(self) -> int:
        """How many steps were written down, in all journeys."""
        return sum(self._multipliers().values())

    @property
    def run(self) -> Run:
        """What this owner has shown, in all journeys, to somebody who saw every model that they handed on.

        Every step in the logbook counts, and no step that was only planned: each is the owner's gradient with noise.

        Raises:
            InvalidInputError: No step was taken yet.
        """
        multipliers = self._multipliers()
        if not multipliers:
            raise InvalidInputError("no step was taken yet, so there is nothing to account for")
        return Run(
            algorithm="composition",
            neighbours="replace-one",
            mechanism=[
                {"kind": "gaussian", "noise-multiplier": multiplier, "count": count}
                for multiplier, count in sorted(multipliers.items())
            ],
        )

    def report(self, delta: float) -> Report:
        """The account of :attr:`run`, with a certificate."""
        return account(self.run, delta=delta)

    def once(self, travelling: str, number: int, journey: Journey, model: Vector, take: Callable[[], Vector]) -> Vector:
        """The owner's step ``number`` of a journey, from ``model``: what was written down, or else what ``take`` returns.

        ``travelling`` tells the journeys of an owner apart. What is returned is on the disk. Only the answer to the last
        step is kept.

        Raises:
            InvalidInputError: It is not this owner's turn, or the step was taken from another model.
        """
        asked = hashlib.sha256(model.tobytes()).digest()
        agreed = json.dumps(asdict(journey), sort_keys=True)
        with self._writing() as rows:
            taken = rows.execute(
                "SELECT number, journey, asked, answer FROM step WHERE travelling = ? ORDER BY number", (travelling,)
            ).fetchall()
            if any(row[1] != agreed for row in taken):
                raise InvalidInputError("the owner agreed to another journey, and took steps of it")
            if taken and (number, asked) == (taken[-1][0], taken[-1][2]):
                return np.frombuffer(taken[-1][3], dtype=np.float64).copy()
            numbers = [row[0] for row in taken]
            due = numbers[0] + journey.owners * len(numbers) if numbers else (number - 1) % journey.owners + 1
            if number != due:
                raise InvalidInputError(f"step {number} is not this owner's next step, after {numbers}")
            answer = take()
            rows.execute("UPDATE step SET answer = NULL WHERE travelling = ?", (travelling,))
            rows.execute(
                "INSERT INTO step VALUES (?, ?, ?, ?, ?)", (travelling, number, agreed, asked, answer.tobytes())
            )
        return answer

    def _multipliers(self) -> Counter[float]:
        """How many steps were taken with which noise, in units of the longest gradient; rounded down."""
        with self._writing() as rows:
            found = rows.execute("SELECT journey, count(*) FROM step GROUP BY journey").fetchall()
        counted: Counter[float] = Counter()
        for text, count in found:
            journey = Journey(**json.loads(text))
            counted[math.nextafter(journey.gradient_noise / journey.gradient_norm, 0.0)] += count
        return counted

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that nobody else is in. When it ends, everything is on the disk, or nothing if there was an error."""
        try:
            rows = sqlite3.connect(self.path, isolation_level=None, timeout=60.0)
        except sqlite3.Error as error:
            raise InvalidInputError(f"the logbook {self.path} cannot be opened: {error}", _FOLDER) from error
        try:
            # The file and its folder are synchronised before a commit returns.
            rows.execute("PRAGMA synchronous = EXTRA")
            rows.execute("BEGIN IMMEDIATE")
            self._check_tables(rows)
            yield rows
            rows.execute("COMMIT")
        except sqlite3.Error as error:
            raise InvalidInputError(f"the logbook {self.path} cannot be used: {error}", _FOLDER) from error
        finally:
            rows.close()  # what was not committed is undone

    def _check_tables(self, rows: sqlite3.Connection) -> None:
        """Makes the tables in an empty file, and refuses a file that is something else."""
        mark, version = (rows.execute(f"PRAGMA {key}").fetchone()[0] for key in ("application_id", "user_version"))
        if (mark, version) == (_MARK, _VERSION):
            return
        if (mark, version) != (0, 0) or rows.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise InvalidInputError(f"{self.path} is not a logbook that this version reads", "choose another file")
        for statement in _TABLES.split(";\n"):
            rows.execute(statement)
        rows.execute("INSERT INTO owner VALUES (?)", (secrets.token_hex(16),))
        rows.execute(f"PRAGMA application_id = {_MARK}")
        rows.execute(f"PRAGMA user_version = {_VERSION}")


_FOLDER = "a logbook is a file in a folder that its owner can write to"
