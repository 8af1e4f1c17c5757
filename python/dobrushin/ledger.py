"""What each person has spent over all releases, and what is left of their budgets.

>>> import dobrushin as db, pathlib, tempfile
>>> ledger = db.Ledger.create(pathlib.Path(tempfile.mkdtemp(), "people.ledger"), epsilon=1.0, delta=1e-6)
>>> with ledger.reserve(["ada", "ben", "cem"], epsilon=0.6, what="a survey") as reservation:
...     pass  # the survey is carried out
>>> try:
...     ledger.reserve(["ada", "dan"], epsilon=0.6, what="another survey")
... except db.OverBudgetError as error:
...     print(error.people)
['ada']

A release is reserved before it is made, and then counts as spent whatever happens. It is committed when it was made, and
aborted only if nothing of it was released.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dobrushin import _core
from dobrushin._numbers import Array, word
from dobrushin._people import names_of
from dobrushin.errors import InvalidInputError
from dobrushin.questions import _content
from dobrushin.report import Certificate, _axes, _Document, _needed, _number
from dobrushin.run import RunLike, as_path, as_run

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

__all__ = ["Budget", "Checked", "Ledger", "LedgerReport", "People", "Person", "Release", "Reservation", "Terms"]


class Budget(NamedTuple):
    """What a person may spend: all releases together are to be (ε, δ)-private for them."""

    epsilon: float
    delta: float
    planned: bool
    """Whether all releases are fixed before the first of them is seen."""


class Release(NamedTuple):
    """A release, as the ledger keeps it."""

    number: int
    status: str
    """``"reserved"``, ``"leaving"`` while its files get their names, ``"committed"`` or ``"aborted"``, which costs nothing."""
    what: str
    made: str | None
    """The day on which it was reserved."""
    people: int
    """How many people are in it."""
    records: int
    """How many records they have in it."""
    notes: list[str]


class Terms(_Document):
    """What a ledger is about, or a budget that was changed."""

    __slots__ = ()

    @property
    def neighbours(self) -> str:
        """Which data sets are neighbours."""
        return str(self._data["neighbours"])

    @property
    def budget(self) -> Budget:
        """The budget: of everybody who has none of their own, or of those who were given it."""
        return _budget(self._data["budget"])

    @property
    def people(self) -> int | None:
        """How many people were given the budget; ``None`` if it is everybody's."""
        return self._data.get("people")

    def __repr__(self) -> str:
        return f"<Terms: epsilon={self.budget.epsilon:g}, delta={self.budget.delta:g}, {self.neighbours}>"


class LedgerReport(_Document):
    """A whole ledger."""

    __slots__ = ()

    @property
    def people(self) -> int:
        """How many people are in it."""
        return int(self._data["people"])

    @property
    def releases(self) -> list[Release]:
        """The releases, from the first to the last."""
        return [_release(one) for one in self._data["releases"]]

    @property
    def most(self) -> tuple[str, float] | None:
        """Whoever has spent the largest share of their budget, and that share; ``None`` if nobody is in it."""
        found = self._data["shares"]["most"]
        return None if found is None else (str(found["person"]), _number(found["share"]))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how many people have spent more than which share of their budgets, on the axes of matplotlib."""
        axes = _axes(ax)
        shares = self._data["shares"]
        above = [self.people - shares["nothing"]]
        for count in shares["tenths"]:
            above.append(above[-1] - count)
        axes.plot([10 * tenth for tenth in range(11)], above, linewidth=2.5)
        axes.set_xlabel("share of the budget, in per cent")
        axes.set_ylabel("people who have spent more")
        axes.set_ylim(bottom=0)
        return axes

    def __repr__(self) -> str:
        return f"<LedgerReport: {self.people} people, {len(self._data['releases'])} releases>"


class Person(_Document):
    """What a person has spent, and on what."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """How they are named."""
        return str(self._data["person"])

    @property
    def budget(self) -> Budget:
        """What they may spend."""
        return _budget(self._data["budget"])

    @property
    def own_budget(self) -> bool:
        """Whether this budget is their own, and not everybody's."""
        return bool(self._data["own_budget"])

    @property
    def share(self) -> float:
        """The share of the budget that is spent; above 1 if the budget was lowered since."""
        return _number(self._data["share"])

    @property
    def left(self) -> float:
        """The ε of a further Gaussian release that would still fit, at the δ of the budget."""
        return _number(self._data["left"])

    @property
    def epsilon(self) -> float:
        """At most the ε of all their releases together at the δ of the budget, if they were fixed before the first was seen."""
        return _number(self._data["epsilon"])

    @property
    def releases(self) -> list[tuple[Release, float]]:
        """The releases they are in, each with at most the ε that it costs them at the δ of the budget."""
        return [(_release(one), _number(one["epsilon"])) for one in self._data["releases"]]

    def __repr__(self) -> str:
        return f"<Person: {self.name!r}, {len(self._data['releases'])} releases, share={self.share:.3g}>"


class People(NamedTuple):
    """Everybody in a ledger: a place in each list for each person."""

    names: list[str]
    share_spent: Array
    """The shares of their budgets that are spent."""
    epsilon_upper: Array
    """An ε that holds at the δ of the budget if the releases were fixed in advance; :meth:`Ledger.person` finds a closer one."""
    budget_epsilon: Array
    budget_delta: Array

    def to_frame(self) -> pandas.DataFrame:
        """A row for each person, as a pandas data frame."""
        columns = {name: column for name, column in self._asdict().items() if name != "names"}
        index = _needed("pandas").Index(self.names, name="person", dtype=object)
        frame: pandas.DataFrame = _needed("pandas").DataFrame(columns, index=index)
        return frame


class Checked(_Document):
    """What was found when everything in a ledger was read and added up again; ``bool(checked)`` says whether it is whole."""

    __slots__ = ()

    @property
    def faults(self) -> list[str]:
        """What is wrong."""
        return list(self._data["faults"])

    def __bool__(self) -> bool:
        return not self.faults

    def __repr__(self) -> str:
        return f"<Checked: {'the ledger is whole' if self else 'the ledger is DAMAGED'}>"


class Reservation(_Document):
    """A release that is reserved. As a context manager, it is committed at the end.

    If the block ends in an exception, the release stays reserved, and so it counts as spent: nobody knows what was released
    before. If you know that nothing at all was, call :meth:`abort`.
    """

    __slots__ = ("_ledger", "_status", "kept", "left_out")

    left_out: list[str]
    kept: NDArray[np.bool_]

    def __init__(
        self, data: str, text: str, ledger: Ledger, left_out: list[str], kept: NDArray[np.bool_], status: str | None = None
    ) -> None:
        super().__init__(data, text)
        self._ledger = ledger
        self._status = status or ("reserved" if self.release is not None else "tried")
        self.left_out = left_out
        """The names of those who must be left out of the release, because their budgets would be exceeded."""
        self.kept = kept
        """For each record, whether it is charged and may be used: ``table[reservation.kept]`` is what may be released."""

    @property
    def release(self) -> int | None:
        """The number of the release; ``None`` after a dry run."""
        return self._data["release"]

    @property
    def status(self) -> str:
        """``"reserved"``, ``"committed"`` or ``"aborted"``, as far as this object knows; ``"tried"`` after a dry run."""
        return self._status

    @property
    def people(self) -> int:
        """How many people are in it."""
        return int(self._data["people"])

    @property
    def records(self) -> int:
        """How many records they have in it."""
        return int(self._data["records"])

    @property
    def epsilon(self) -> float:
        """At most the ε that it costs anybody by one record, at the δ of the ledger."""
        return max((_number(cost["epsilon"]) for cost in self._data["costs"]), default=0.0)

    def commit(self, note: str | None = None) -> Release:
        """The release was made: its cost stays for good."""
        found = self._ledger.commit(self._number(), note)
        self._status = found.status
        return found

    def abort(self, *, nothing_was_released: bool, note: str | None = None) -> Release:
        """The release will never be made, and nobody pays for it. That is right only if nothing of it was released."""
        found = self._ledger.abort(self._number(), nothing_was_released=nothing_was_released, note=note)
        self._status = found.status
        return found

    def note(self, text: str) -> Release:
        """Add a note, for whoever reads the ledger."""
        return self._ledger.note(self._number(), text)

    def _number(self) -> int:
        if self.release is None:
            raise InvalidInputError("nothing was reserved: it was a dry run", "leave dry_run out to reserve the release")
        return self.release

    def __enter__(self) -> Self:
        self._number()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._status != "reserved":
            return
        if error is None:
            self.commit()
        else:
            error.add_note(
                f"release {self.release} stays reserved in {self._ledger.place}, and counts as spent; if nothing of it was "
                "released, reservation.abort(nothing_was_released=True) ends it"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._data, self.text, self._ledger, self.left_out, self.kept, self._status)

    def __repr__(self) -> str:
        number = "a dry run" if self.release is None else f"release {self.release} is {self._status}"
        return f"<Reservation: {number}, {self.people} people, {len(self.left_out)} left out>"


class Ledger:
    """What each person has spent over all releases: a file, or a PostgreSQL database that a team shares.

    ``place`` is the path of a ledger, or a URL such as ``"postgresql://ada@db.example.org/privacy"``; :meth:`create` makes one.
    A ledger is opened for each question, so any number of threads and processes can use it at the same time, and an object
    can be pickled. A pickle holds the place, with the password of a URL that has one.

    ``people`` of a release are a name for each record, in the order of the records: a list, or a column of NumPy, pandas,
    polars or pyarrow. A name is text or a whole number: ``1``, ``"1"`` and ``" 1 "`` are the same person, ``"01"`` is somebody
    else. What is missing (``None``, NaN) and what is rounded (a float) is refused. Several records of a person count as a
    group.

    >>> import dobrushin as db, pathlib, tempfile
    >>> ledger = db.Ledger.create(pathlib.Path(tempfile.mkdtemp(), "people.ledger"), epsilon=2.0, delta=1e-6)
    >>> run = db.Run(algorithm="gradient-descent", steps=100, clip_norm=1.0, noise_multiplier=100.0)
    >>> with ledger.reserve(range(1000), run=run, what="the first model") as reservation:
    ...     pass  # the model is trained, and published
    >>> reservation.status, ledger.show().people, bool(ledger.check())
    ('committed', 1000, True)
    >>> 0.2 < ledger.person("7").share < 0.8
    True
    """

    __slots__ = ("_place", "_shown")

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self._place = place_of(place)
        self._shown = str(self.terms().to_dict()["ledger"])

    @classmethod
    def create(
        cls,
        place: str | os.PathLike[str],
        *,
        epsilon: float,
        delta: float,
        neighbours: str = "replace-one",
        planned: bool = False,
        people: int = 100_000,
    ) -> Self:
        """Make a ledger in which nobody has spent anything, and everybody may spend ``epsilon`` and ``delta``.

        ``neighbours`` are ``"replace-one"``, ``"zero-out"`` or ``"add-or-remove-one"``. Releases for others are counted for
        replace-one, if that is what the ledger is for, and refused otherwise. With ``planned`` you promise that all releases are
        fixed before the first of them is seen: which there are, their settings, and who is in them. Then their profiles are
        composed exactly; otherwise each release may be chosen in the light of earlier ones. ``people`` is about how many
        there will be; any number works.
        """
        if isinstance(people, bool) or not isinstance(people, int | np.integer) or not 0 < people < 2**63:
            raise InvalidInputError(f"people is {people!r}, but it must be a whole number above 0", "people=100_000")
        if not isinstance(neighbours, str):
            raise InvalidInputError(f"neighbours is {neighbours!r}, but it must be text", 'neighbours="replace-one"')
        found = place_of(place)
        _core.ledger_init(
            found,
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            planned=_flag("planned", planned),
            people=int(people),
        )
        return cls(found)

    @property
    def place(self) -> str:
        """Where the ledger is, without a password."""
        return self._shown

    def terms(self) -> Terms:
        """Which data sets are neighbours, and the budget of everybody who has none of their own."""
        return Terms(*_core.ledger_terms(self._place))

    def set_budget(self, epsilon: float, delta: float, *, planned: bool = False, people: Iterable[Any] | None = None) -> Terms:
        """Change everybody's budget, or with ``people`` give those of these names one of their own.

        What was spent stays spent. A budget is a promise that is made in advance: whoever raises it after a look at releases
        makes a new promise.
        """
        names = None if people is None else names_of(people, "people")
        flag = _flag("planned", planned)
        return Terms(*_core.ledger_budget(self._place, epsilon=epsilon, delta=delta, planned=flag, people=names))

    def reserve(
        self,
        people: Iterable[Any],
        *,
        run: RunLike | None = None,
        certificate: Certificate | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        what: str | None = None,
        leave_out: bool = False,
        dry_run: bool = False,
    ) -> Reservation:
        """Charge everybody in a release what it costs them, before it is made.

        What will be released is said by one of ``run``; ``certificate`` (a :class:`~dobrushin.Certificate`, its data or its
        path), which is recomputed first; and ``epsilon`` with ``delta``, what another program promises to each record.
        ``what`` says in a few words what it is, for whoever reads the ledger.

        If somebody would spend more than they may, :class:`~dobrushin.OverBudgetError` has their names, and nothing is
        reserved. With ``leave_out``, the release is reserved without them: :attr:`Reservation.kept` says which records you
        may use, and you must leave out all others. ``dry_run`` reserves nothing, and says what it would cost.

        Ctrl-C aborts it, unless that comes too late: then it stays reserved, as :meth:`show` says.
        """
        named = None if certificate is None else _content(certificate, "the certificate")
        found = _core.ledger_reserve(
            self._place,
            names_of(people, "people"),
            run=None if run is None else as_run(run)._file,
            certificate=named,
            epsilon=epsilon,
            delta=delta,
            what=word("what", what),
            leave_out=_flag("leave_out", leave_out),
            dry_run=_flag("dry_run", dry_run),
        )
        data, text, left_out, kept = found
        return Reservation(data, text, self, left_out, kept)

    def commit(self, release: int, note: str | None = None) -> Release:
        """A reserved release was made: its cost stays for good."""
        return self._changed(release, "commit", note)

    def abort(self, release: int, *, nothing_was_released: bool, note: str | None = None) -> Release:
        """A reserved release will never be made, and nobody pays for it. That is right only if nothing of it was released."""
        if nothing_was_released is not True:
            raise InvalidInputError(
                "nothing_was_released is not True, and what may have been released stays reserved",
                "nothing_was_released=True, if you are sure: no model, no number, no message",
            )
        return self._changed(release, "abort", note)

    def note(self, release: int, text: str) -> Release:
        """Add a note to a release, for whoever reads the ledger."""
        if not isinstance(text, str):
            raise InvalidInputError(f"text is a {type(text).__name__}, but it must be text", 'text="…"')
        return self._changed(release, "note", text)

    def _changed(self, release: int, change: str, note: str | None) -> Release:
        if isinstance(release, bool) or not isinstance(release, int | np.integer) or not 0 < release < 2**63:
            raise InvalidInputError(
                f"release is {release!r}, but it must be the number of a release", "ledger.show().releases lists them"
            )
        data, text = _core.ledger_change(self._place, int(release), change, word("note", note))
        return _release(_Document(data, text).to_dict())

    def show(self) -> LedgerReport:
        """The releases, and how many people have spent how much."""
        return LedgerReport(*_core.ledger_show(self._place))

    def person(self, name: str | int) -> Person:
        """What a person has spent, on what, and what is left."""
        return Person(*_core.ledger_person(self._place, name))

    def people(self) -> People:
        """Everybody, with what they have spent."""
        names, columns = _core.ledger_people(self._place)
        return People(names, *columns)

    def check(self) -> Checked:
        """Read everything, and add up every sum again."""
        return Checked(*_core.ledger_check(self._place))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how many people have spent more than which share of their budgets, on the axes of matplotlib."""
        return self.show().plot(ax)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and self._place == other._place

    def __hash__(self) -> int:
        return hash(self._place)

    def __reduce__(self) -> tuple[type[Ledger], tuple[str]]:
        return type(self), (self._place,)

    def __repr__(self) -> str:
        return f"<Ledger: {self.place}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.show().text)}</pre>"


LedgerLike: TypeAlias = Ledger | str | os.PathLike[str]
"""A ledger, or its place."""


def place_of(given: LedgerLike) -> str:
    """The URL of a database, or the whole path of a file, which stays the same when the current folder changes."""
    if isinstance(given, Ledger):
        return given._place
    if isinstance(given, str) and given.startswith(("postgres://", "postgresql://")):
        return given
    return os.path.abspath(as_path("the ledger", given))


def _flag(name: str, given: bool) -> bool:
    if isinstance(given, bool | np.bool_):
        return bool(given)
    raise InvalidInputError(f"{name} is {given!r}, but it must be True or False", f"{name}=True")


def _budget(data: Mapping[str, Any]) -> Budget:
    return Budget(_number(data["epsilon"]), _number(data["delta"]), bool(data["planned"]))


def _release(data: Mapping[str, Any]) -> Release:
    keys = ["release", "status", "what", "made", "people", "records", "notes"]
    return Release(*(data[key] for key in keys))


def _again(
    data: dict[str, Any], text: str, ledger: Ledger, left_out: list[str], kept: NDArray[np.bool_], status: str
) -> Reservation:
    return Reservation(json.dumps(data), text, ledger, left_out, kept, status)
