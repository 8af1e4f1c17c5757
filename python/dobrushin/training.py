"""Private training on tables in memory."""

from __future__ import annotations

import hashlib
import html
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dobrushin import _core
from dobrushin._frame import ACCEPTED, Given, columns_of
from dobrushin._people import person_of
from dobrushin.errors import InvalidInputError
from dobrushin.ledger import LedgerLike, place_of
from dobrushin.questions import _list, _word
from dobrushin.report import Certificate, _Document
from dobrushin.run import RunLike, as_path, as_run

__all__ = ["Trained", "Training", "load_model", "train"]

SchemaLike: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]
"""A dict that says what a schema says, or the path of a schema."""

Array: TypeAlias = np.ndarray[Any, Any]


def train(
    data: Any,
    run: RunLike | None = None,
    *,
    schema: SchemaLike | None = None,
    label: str | None = None,
    model: str | None = None,
    order: str | None = None,
    neighbours: str | None = None,
    records: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    columns: Sequence[str] | None = None,
    test: Any = None,
    public: Any = None,
    out: str | os.PathLike[str] | None = None,
    keep_state: str | os.PathLike[str] | None = None,
    force: bool = False,
    seed: int | None = None,
    not_private: bool = False,
    ledger: LedgerLike | None = None,
    person: Any = None,
    leave_out: bool = False,
) -> Trained:
    """Train a private model of a table, with a certificate of what it tells about each record.

    ``data`` are the private records: a pandas or polars data frame, a dict of columns, arrays ``(X, y)``, or the path of
    a CSV file. What their columns may hold is declared, and never read off the data: by a ``run`` with ``model``, or
    without a run by a ``schema`` (a path or a dict), for which the best run that ``epsilon`` and ``delta`` buy is
    planned. With a run, ``epsilon`` finds the least noise that meets it. The columns of ``X`` are in the order in which
    the schema declares them, unless ``columns`` names them.

    For a plan, ``label`` names the label if the schema has several, ``model``, ``order`` and ``neighbours`` fix what
    would be chosen, and ``records`` is their number. It is counted, unless it is a secret: with
    ``neighbours="add-or-remove-one"`` it must be a public bound.

    The guarantee covers all that comes out: a private row that cannot be used trains as an empty record in its place,
    without an exception and without a count. ``test`` and ``public`` records are public, and a bad row of theirs is an
    :class:`~dobrushin.InvalidInputError`. ``out`` is a folder to save to, see :meth:`Trained.save`. Ctrl-C releases
    nothing. With a ``seed`` the model can be repeated and protects nobody, which ``not_private=True`` must accept.

    ``keep_state`` is the path of a secret file, which only you can read: with it, :func:`~dobrushin.forget` deletes records
    from the model later.

    With a ``ledger`` (a :class:`~dobrushin.Ledger`, or its place), everybody is charged for what the model tells about them:
    it is reserved before it is trained, and committed when it is written and returned. ``person`` says whose each record is:
    the name of a column, which need not be in the schema, or a name for each record. If somebody would spend more than they
    may, :class:`~dobrushin.OverBudgetError` has their names and nothing is trained; ``leave_out=True`` trains without their
    records. If training fails or is stopped by Ctrl-C, nobody pays.

    >>> import dobrushin as db
    >>> number = {"kind": "number", "lower": 0, "upper": 1}
    >>> schema = {"label": "y", "columns": {"x": number, "y": {"kind": "category", "categories": ["no", "yes"]}}}
    >>> run = db.Run(algorithm="gradient-descent", steps=50, learning_rate=2.0,
    ...              model={"kind": "logistic", "schema": schema})
    >>> data = {"x": [0.1, 0.2, 0.8, 0.9] * 500, "y": ["no", "no", "yes", "yes"] * 500}
    >>> trained = db.train(data, run, epsilon=1.0, delta=1e-6)
    >>> trained.predict({"x": [0.0, 1.0]}).tolist()
    ['no', 'yes']
    >>> bool(db.verify(trained.certificate, model=trained.model))
    True
    """
    if data is None:
        raise InvalidInputError("there are no data", ACCEPTED)
    _check_seed(seed, not_private)
    names: list[str] | None = None
    if run is None:
        described = _schema(schema)
        declared = described if label is None else described.with_label(_text("label", label))
        names = [name for name in _order(schema) if name not in described.columns()[1]]
        file = None
    elif schema is None and label is None and records is None:
        file = as_run(run)._file
        declared = _core.Schema.of_run(file)
    else:
        message = "schema, label and records are for a plan, but a run is given"
        raise InvalidInputError(message, "the run has a model, with its schema")
    if columns is not None:
        names = [_text("columns", name) for name in _list("columns", columns)]
    features, labels = declared.columns()
    place, people = _charged(data, names, ledger, person, leave_out, seed, keep_state)

    def wanted(records: Any, what: str) -> Given | None:
        return None if records is None else columns_of(records, features, labels, names, what)

    found, certificate, report, text = _core.train(
        columns_of(data, features, labels, names),
        file,
        schema=declared if file is None else None,
        model=_word("model", model),
        order=_word("order", order),
        neighbours=_word("neighbours", neighbours),
        records=records,
        epsilon=epsilon,
        delta=delta,
        test=wanted(test, "the test records"),
        public=wanted(public, "the public records"),
        out=None if out is None else as_path("out", out),
        force=bool(force),
        seed=seed,
        keep_state=None if keep_state is None else as_path("keep_state", keep_state),
        ledger=place,
        person=people,
        leave_out=bool(leave_out),
    )
    return Trained(found, Certificate(certificate), Training(report, text), names)


def load_model(path: str | os.PathLike[str]) -> Trained:
    """Read a model that :func:`train`, :meth:`Trained.save` or ``dobrushin train`` wrote: its folder, or its file.

    The certificate that lies beside it is read with it, and must be its own.
    """
    found = Path(path)
    found = found / "model.json" if found.is_dir() else found
    try:
        model = found.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"the model cannot be read: {error}", "give the folder of a model") from error
    beside = found.with_name("certificate.json")
    certificate = Certificate.load(beside) if beside.exists() else None
    return Trained(model, certificate, None, None)


class Training(_Document):
    """What may be said after training has ended: the guarantee, and how good the model is on public test records."""

    __slots__ = ()

    @property
    def private(self) -> bool:
        """Whether nobody knows the randomness."""
        return bool(self._data["private"])

    @property
    def state(self) -> str | None:
        """The path of the state that was kept, if one was."""
        return self._data.get("state")

    @property
    def test(self) -> dict[str, Any] | list[dict[str, Any]] | None:
        """The metrics on the test records, for each label, if there were any."""
        return self.to_dict().get("test")

    def __repr__(self) -> str:
        return f"<Training: {self.text.splitlines()[0]}>"


class Trained:
    """A model, its certificate, and what was reported when it was trained.

    ``model`` are the bytes of its file, which :func:`dobrushin.verify` compares with the ``certificate``. ``report`` is
    ``None`` for a model that was loaded, and so is ``certificate`` if there was none beside it.
    """

    __slots__ = ("_columns", "_core", "_model", "certificate", "report")

    certificate: Certificate | None
    report: Training | None

    def __init__(
        self,
        model: bytes,
        certificate: Certificate | None,
        report: Training | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        self._core = _core.Model.read(model, "the model")
        self._model = model
        self._columns = None if columns is None else list(columns)
        self.certificate = certificate
        self.report = report
        if certificate is not None:
            training = certificate.to_dict().get("training") or {}
            if training.get("model_sha256") != hashlib.sha256(model).hexdigest():
                raise InvalidInputError("the certificate is not that of the model", "keep both as they were written")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trained:
        """Read a model, see :func:`load_model`."""
        return load_model(path)

    @property
    def model(self) -> bytes:
        """The bytes of the model's file."""
        return self._model

    @property
    def labels(self) -> list[str]:
        """The columns that are predicted."""
        return self._core.columns()[1]

    @property
    def classes(self) -> list[str] | None:
        """The classes of the label, if it has classes; those of the first, if there are several."""
        return self._core.classes()[0]

    @property
    def feature_names(self) -> list[str]:
        """The names of the features: a column, a column with one of its categories, and the intercept."""
        return self._core.feature_names()

    @property
    def parameters(self) -> list[Array]:
        """The parameters for each label, on features that are scaled as the schema says.

        A model of one score has one parameter for each feature; a softmax model has those of the first class, then
        those of the second, and so on.
        """
        return self._core.parameters()

    def to_dict(self) -> dict[str, Any]:
        """The model as plain data, as its file holds it."""
        data: dict[str, Any] = json.loads(self._model)
        return data

    def predict(self, data: Any, *, skip_bad: bool = False) -> Any:
        """What the model predicts for each row: the name of a class, or a number; a dict of them for several labels.

        ``data`` has the columns of the features, as :func:`train` takes them; an array has them in the same order. A row
        that cannot be used is an :class:`~dobrushin.InvalidInputError`, or ``None`` or NaN with ``skip_bad``.
        """

        def named(values: Array, classes: list[str] | None) -> Array:
            if classes is None:
                return values
            known = np.array([*classes, None], dtype=object)
            # NaN stands for the last, which is None.
            found: Array = known[np.where(np.isnan(values), len(classes), values).astype(int)]
            return found

        found = self._predicted(data, skip_bad)
        return self._of_labels([named(task[0], classes) for task, classes in zip(found, self._core.classes(), strict=True)])

    def predict_proba(self, data: Any, *, skip_bad: bool = False) -> Any:
        """The probability of each class for each row; a dict of them for several labels."""
        found = self._predicted(data, skip_bad)
        tables = [task[2].reshape(len(task[0]), -1) for task in found if len(task[2])]
        if len(tables) < len(found) and len(found[0][0]):
            raise InvalidInputError("the model has no probabilities", "predict gives classes or numbers")
        return self._of_labels(tables or [np.empty((0, len(self.classes or [])))])

    def decision_function(self, data: Any, *, skip_bad: bool = False) -> Any:
        """The scores of each row: one, or one for each class."""
        found = self._predicted(data, skip_bad)
        tables = [task[1].reshape(len(task[0]), -1) if len(task[0]) else task[1] for task in found]
        return self._of_labels([table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table for table in tables])

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write ``model.json``, ``certificate.json`` and ``certificate.txt``, as ``dobrushin train`` does.

        The model takes its name last, and nothing that already exists is replaced without ``force``.
        """
        if self.certificate is None:
            raise InvalidInputError("the model has no certificate", "only a model with its certificate is saved")
        _core.save_model(as_path("folder", folder), self._model, self.certificate.file, bool(force))

    def _predicted(self, data: Any, skip_bad: bool) -> list[list[Array]]:
        given = columns_of(data, self._core.columns()[0], [], self._columns)
        return self._core.predict(given, bool(skip_bad))

    def _of_labels(self, found: list[Any]) -> Any:
        return found[0] if len(self.labels) == 1 else dict(zip(self.labels, found, strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return Trained, (self._model, self.certificate, self.report, self._columns)

    def __repr__(self) -> str:
        certificate = "no certificate" if self.certificate is None else repr(self.certificate).strip("<>")
        return f"<Trained: {self.to_dict()['model']['kind']} model of {', '.join(self.labels)}; {certificate}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self) if self.report is None else self.report.text)}</pre>"


def _schema(schema: SchemaLike | None) -> _core.Schema:
    """What a schema declares."""
    match schema:
        case None:
            raise InvalidInputError(
                "there is neither a run nor a schema", 'schema="schema.toml" declares what the columns may hold'
            )
        case Mapping():
            return _core.Schema.of_dict(schema)
        case str() | os.PathLike():
            return _core.Schema.read(as_path("schema", schema))
    raise InvalidInputError(f"the schema is a {type(schema).__name__}", "give a dict, or the path of a schema")


def _order(schema: SchemaLike | None) -> list[str]:
    """The names of the columns in the order in which a schema, which could be read, declares them."""
    if isinstance(schema, str | os.PathLike):
        schema = tomllib.loads(Path(as_path("schema", schema)).read_text(encoding="utf-8-sig"))
    return list((schema or {})["columns"])


def _charged(
    data: Any, columns: list[str] | None, ledger: LedgerLike | None, person: Any, leave_out: Any, seed: Any, keep_state: Any
) -> tuple[str | None, Any]:
    """The ledger, if somebody is charged, and whose each record is."""
    if ledger is None:
        for name, given in [("person", person is not None), ("leave_out", bool(leave_out))]:
            if given:
                raise InvalidInputError(f"{name} is given without a ledger", 'ledger="people.ledger", in which people are charged')
        return None, None
    if person is None:
        raise InvalidInputError(
            "ledger is given, but not whose each record is", 'person="customer", a column of the data, or a name for each record'
        )
    if seed is not None:
        raise InvalidInputError(
            "ledger counts what private training tells, and a model from a known seed tells more", "leave out seed and not_private"
        )
    if leave_out and keep_state is not None:
        raise InvalidInputError(
            "leave_out and keep_state are both given, but a state is about all records of the data",
            "leave out the records of these people yourself: OverBudgetError has their names",
        )
    return place_of(ledger), person_of(data, person, columns)


def _check_seed(seed: Any, not_private: Any) -> None:
    if (seed is not None) != bool(not_private):
        raise InvalidInputError(
            "seed and not_private are given together: a model from a known seed protects nobody",
            "seed=7, not_private=True to repeat a run, or leave both out",
        )
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64):
        raise InvalidInputError(f"seed is {seed!r}, but it must be a whole number from 0 to 2^64 - 1", "seed=7")


def _text(name: str, given: Any) -> str:
    found = _word(name, given)
    if found is None:
        raise InvalidInputError(f"{name} has None in it", f'{name}="…"')
    return found
