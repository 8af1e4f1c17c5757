"""Answers: numbers where a number is wanted, tables, text, HTML and pictures."""

from __future__ import annotations

import decimal
import html
import importlib
import json
import math
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dobrushin import _core
from dobrushin.errors import InvalidInputError, NoGuaranteeError
from dobrushin.run import Run

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

__all__ = ["Analysis", "Calibration", "Certificate", "Curve", "Guarantee", "Interval", "Plan", "Report", "Total", "Verification"]


class Interval(NamedTuple):
    """Two numbers between which the true value lies. Only ``upper`` is a guarantee."""

    lower: float
    upper: float

    def __float__(self) -> float:
        """The upper end, which is the side of privacy."""
        return self.upper


class Guarantee(NamedTuple):
    """(ε, δ), the analysis that proves it, and what must hold."""

    epsilon: Interval
    delta: Interval
    analysis: str
    assumptions: list[str]


class Analysis(NamedTuple):
    """What one analysis says about a run."""

    id: str
    value: Interval | None
    """What was asked for, if the analysis applies."""
    reason: str | None
    """Why the analysis does not apply."""
    approximate: bool
    """Whether it is an approximation, and no bound."""

    @property
    def applies(self) -> bool:
        """Whether the analysis says something about this run."""
        return self.value is not None


def _number(value: Any) -> float:
    return {"Infinity": math.inf, "-Infinity": -math.inf}[value] if isinstance(value, str) else float(value)


def _rounded(value: float, digits: int, side: str) -> str:
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    exact = decimal.Decimal(repr(float(value)))
    unit = decimal.Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{float((exact / unit).to_integral_value(side) * unit):.{digits}g}"


def _up(value: float, digits: int = 4) -> str:
    """A number for people, rounded up: the side of privacy."""
    return _rounded(value, digits, decimal.ROUND_CEILING)


def _down(value: float, digits: int = 4) -> str:
    """A number for people, rounded down: what is at least so."""
    return _rounded(value, digits, decimal.ROUND_FLOOR)


def _interval(value: Any) -> Interval:
    if isinstance(value, Mapping):
        return Interval(_number(value["lower"]), _number(value["upper"]))
    return Interval(_number(value), _number(value))


class _Document:
    """An answer as data and as text."""

    __slots__ = ("_json", "_text")

    def __init__(self, data: str, text: str) -> None:
        self._json: dict[str, Any] = json.loads(data)
        self._text = text

    @property
    def _data(self) -> dict[str, Any]:
        return self._json

    @property
    def text(self) -> str:
        """The answer as the program prints it."""
        return self._text

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data, as ``--json`` prints it."""
        copy: dict[str, Any] = json.loads(json.dumps(self._data))
        return copy

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


class _Kept:
    """What an account said, in a form that can be pickled."""

    __slots__ = ("_said",)

    def __init__(self, *said: Any) -> None:
        self._said = said

    def asked(self) -> str:
        asked: str = self._said[0]
        return asked

    def guarantee(self) -> tuple[tuple[float, float], tuple[float, float], str, list[str]] | None:
        found: tuple[tuple[float, float], tuple[float, float], str, list[str]] | None = self._said[1]
        return found

    def report(self) -> tuple[str, str]:
        report: tuple[str, str] = self._said[2]
        return report

    def certificate(self) -> str | None:
        certificate: str | None = self._said[3]
        return certificate

    def __reduce__(self) -> tuple[type[_Kept], tuple[Any, ...]]:
        return _Kept, self._said


class Report(_Document):
    """How private a run is, by every analysis; the best one is the guarantee.

    ``float(report)`` is what was asked for: the ε of the guarantee if δ was given, and the δ if ε was.

    >>> import dobrushin as db
    >>> report = db.account(db.Run(algorithm="gradient-descent", records=1000, steps=100, clip_norm=1.0,
    ...                            noise_multiplier=50.0, neighbours="add-or-remove-one"), delta=1e-5)
    >>> print(f"{float(report):.4f}", report.guarantee.analysis)
    0.7255 composition
    """

    __slots__ = ("_answer",)

    def __init__(self, answer: _core.Answer | _Kept) -> None:
        self._answer = answer

    def _read(self) -> None:
        # What the guarantee means for a person takes as long as the account, so it waits until it is wanted.
        if not hasattr(self, "_json"):
            data, text = self._answer.report()
            super().__init__(data, text)

    @property
    def _data(self) -> dict[str, Any]:
        self._read()
        return self._json

    @property
    def text(self) -> str:
        """The answer as the program prints it."""
        self._read()
        return self._text

    @property
    def asked(self) -> str:
        """What was asked for: ``"epsilon"`` or ``"delta"``."""
        return self._answer.asked()

    @property
    def guarantee(self) -> Guarantee | None:
        """The best of what the analyses prove; ``None`` if none applies."""
        found = self._answer.guarantee()
        if found is None:
            return None
        epsilon, delta, analysis, assumptions = found
        return Guarantee(Interval(*epsilon), Interval(*delta), analysis, assumptions)

    def _guaranteed(self) -> tuple[float, float]:
        found = self._answer.guarantee()
        if found is None:
            reasons = "; ".join(f"{one.id}: {one.reason}" for one in self.analyses if one.reason)
            raise NoGuaranteeError("no analysis applies, so there is no guarantee", reasons)
        return found[0][1], found[1][1]

    @property
    def epsilon(self) -> float:
        """The guaranteed ε; :class:`~dobrushin.NoGuaranteeError` if there is none."""
        return self._guaranteed()[0]

    @property
    def delta(self) -> float:
        """The guaranteed δ; :class:`~dobrushin.NoGuaranteeError` if there is none."""
        return self._guaranteed()[1]

    def __float__(self) -> float:
        return self.epsilon if self.asked == "epsilon" else self.delta

    @property
    def meets(self) -> bool | None:
        """Whether both ε and δ are met; ``None`` unless both were given."""
        met: bool | None = self._data.get("meets")
        return met

    @property
    def analyses(self) -> list[Analysis]:
        """What each analysis says, in a fixed order."""
        found = self._data["analyses"]
        return [
            Analysis(
                one["id"],
                _interval(one[self.asked]) if self.asked in one else None,
                one.get("not_applicable"),
                one.get("approximate", False),
            )
            for one in found
        ]

    @property
    def published(self) -> float | None:
        """What the answer would be if every iterate were published, which is what other accountants count."""
        values = [one.value for one in self.analyses if one.id == "composition" and one.value]
        return values[0].upper if values else None

    @property
    def floor(self) -> Interval | None:
        """How much of the guarantee is real: no analysis of the same facts can prove less than its ``lower`` end.

        It is an ε or a δ, whichever was asked for; ``None`` if no floor is known, or with ``floor=False``.

        >>> import dobrushin as db
        >>> run = db.Run(algorithm="gradient-descent", records=1000, steps=100, clip_norm=1.0, noise_multiplier=50.0,
        ...              neighbours="add-or-remove-one")
        >>> report = db.account(run, delta=1e-5)
        >>> 0.999 < report.floor.lower / report.epsilon <= 1
        True
        """
        found = self._data.get("floor")
        return None if found is None else _interval(found[self.asked])

    @property
    def floor_instance(self) -> str | None:
        """The data behind the floor, in words: they obey every fact of the run, and attain it."""
        found = self._data.get("floor")
        return None if found is None else str(found["instance"])

    @property
    def explanation(self) -> list[str]:
        """Where the answer comes from, in sentences."""
        return list(self._data["explanation"])

    @property
    def warnings(self) -> list[str]:
        """What could not be used, or says nothing, and why, in sentences."""
        return list(self._data["warnings"])

    @property
    def meaning(self) -> dict[str, Any] | None:
        """What the guarantee means for one person; ``None`` if it means nothing."""
        found: dict[str, Any] | None = self._data["meaning"]
        return found

    @property
    def run(self) -> Run:
        """The run that was accounted for."""
        return Run(self._data["run"])

    def certificate(self) -> Certificate:
        """The certificate, which anybody can recompute; :class:`~dobrushin.NoGuaranteeError` if nothing is certified."""
        certificate = self._answer.certificate()
        if certificate is None:
            reasons = self.warnings or ["there is no guarantee, or one that protects nobody"]
            raise NoGuaranteeError("there is no certificate", "; ".join(reasons))
        return Certificate(certificate)

    def to_frame(self) -> pandas.DataFrame:
        """One row for each analysis, and one for the floor, which has only a lower end, as a pandas data frame."""
        rows: list[dict[str, Any]] = [
            {
                "analysis": one.id,
                "lower": one.value.lower if one.value else math.nan,
                "upper": one.value.upper if one.value else math.nan,
                "approximate": one.approximate,
                "reason": one.reason,
            }
            for one in self.analyses
        ]
        if self.floor is not None:
            rows.append(
                {"analysis": "floor", "lower": self.floor.lower, "upper": math.nan, "approximate": False, "reason": None}
            )
        frame: pandas.DataFrame = _needed("pandas").DataFrame(rows).set_index("analysis")
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what each analysis says, the guarantee in colour, on the axes of matplotlib.

        One band reaches from the floor to the guarantee, where the truth lies; another one from there to composition, which
        is what hiding iterates gains.
        """
        axes = _axes(ax)
        applying = [(one, one.value) for one in self.analyses if one.value and 0 < one.value.upper < math.inf]
        applying.sort(key=lambda pair: pair[1].upper)
        best = self.guarantee.analysis if self.guarantee else None
        names = [one.id + (" (no bound)" if one.approximate else "") for one, _ in applying]
        colours = ["C0" if one.id == best else "0.75" for one, _ in applying]
        axes.barh(names, [value.upper for _, value in applying], color=colours)
        axes.invert_yaxis()
        axes.set_xscale("log")
        self._bands(axes)
        given = self._data["target"]
        symbol, other = ("ε", f"δ = {given.get('delta'):g}") if self.asked == "epsilon" else ("δ", f"ε = {given.get('epsilon'):g}")
        axes.set_xlabel(f"{symbol} at {other} (less is more private)")
        return axes

    def _bands(self, axes: Axes) -> None:
        if self.floor is None or self.guarantee is None or self.floor.lower <= 0:
            return
        best = float(self)
        axes.axvspan(self.floor.lower, best, color="C0", alpha=0.2, label="floor to guarantee")
        if self.published is not None and best < self.published < math.inf:
            axes.axvspan(best, self.published, color="0.5", alpha=0.1, label="gained by hiding")
        axes.legend()

    def __reduce__(self) -> tuple[type[Report], tuple[_Kept]]:
        it = self._answer
        return Report, (_Kept(it.asked(), it.guarantee(), (json.dumps(self._data), self.text), it.certificate()),)

    def __repr__(self) -> str:
        found = self._answer.guarantee()
        if found is None:
            return "<Report: no guarantee>"
        (_, epsilon), (_, delta), analysis, _ = found
        return f"<Report: epsilon={_up(epsilon)}, delta={_up(delta)} by {analysis}>"

    def _repr_html_(self) -> str:
        found = self.guarantee
        title = (
            f"(ε, δ) = ({_up(found.epsilon.upper)}, {_up(found.delta.upper)}) <small>by {html.escape(found.analysis)}</small>"
            if found
            else "no guarantee"
        )
        real = []
        if self.floor is not None and self.floor.lower > 0:
            symbol = "ε" if self.asked == "epsilon" else "δ"
            real.append(f"No analysis of the same facts can prove less than {symbol} = {_down(self.floor.lower)}: that is the floor.")
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in [*self.explanation, *real, *self.warnings])
        rows = "".join(
            f"<tr><td>{html.escape(one.id)}</td><td>{_up(one.value.upper) if one.value else ''}</td>"
            f"<td style='text-align:left'>{html.escape(one.reason or '')}</td></tr>"
            for one in self.analyses
        )
        must = "".join(f"<li>{html.escape(one)}</li>" for one in (found.assumptions if found else []))
        return (
            f"<div><h4>{title}</h4>{lines}"
            f"<details><summary>every analysis</summary><table><tr><th>analysis</th><th>{self.asked}</th>"
            f"<th>why not</th></tr>{rows}</table></details>"
            f"<details><summary>what must hold</summary><ul>{must}</ul></details></div>"
        )


class Calibration(_Document):
    """The value of a parameter that just meets a target; ``float(calibration)`` is that value.

    >>> import dobrushin as db
    >>> run = db.Run(algorithm="gradient-descent", records=1000, steps=100, clip_norm=1.0,
    ...              neighbours="add-or-remove-one")
    >>> found = db.calibrate(run, "noise-multiplier", epsilon=1.0, delta=1e-5)
    >>> db.account(found.run, delta=1e-5).epsilon <= 1.0
    True
    """

    __slots__ = ("run",)

    def __init__(self, data: str, text: str, run: Run) -> None:
        super().__init__(data, text)
        self.run: Run = run
        """The run with this value."""

    @property
    def parameter(self) -> str:
        """The parameter that was searched for."""
        return str(self._data["parameter"])

    @property
    def value(self) -> float:
        """The value that just meets the target."""
        return _number(self._data["value"])

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"<Calibration: {self.parameter} = {self.value:.6g}>"


class Curve(_Document):
    """The answers over one or two varied parameters."""

    __slots__ = ()

    @property
    def asked(self) -> str:
        """What was asked for: ``"epsilon"`` or ``"delta"``."""
        return "epsilon" if "delta" in self._data["target"] else "delta"

    def _rows(self) -> Iterator[dict[str, Any]]:
        (first, *rest) = self._data["over"]
        lists = {"guarantee": self._data["guarantee"]}
        lists.update({one["id"]: one.get(self.asked) for one in self._data["analyses"]})
        for i, outer in enumerate(first["values"]):
            for j, inner in enumerate(rest[0]["values"] if rest else [None]):
                row: dict[str, Any] = {first["key"]: outer}
                if rest:
                    row[rest[0]["key"]] = inner
                for name, values in lists.items():
                    one = None if values is None else values[i][j] if rest else values[i]
                    row[name] = math.nan if one is None else _interval(one).upper
                yield row

    def to_frame(self) -> pandas.DataFrame:
        """One row for each point, one column for the guarantee and each analysis, as a pandas data frame."""
        frame: pandas.DataFrame = _needed("pandas").DataFrame(list(self._rows()))
        return frame

    def plot(self, ax: Axes | None = None, *, log: bool = True) -> Axes:
        """Draw the guarantee over the first parameter, a line for each value of the second, on the axes of matplotlib."""
        axes = _axes(ax)
        keys = [one["key"] for one in self._data["over"]]
        rows = list(self._rows())
        if len(keys) == 1:
            for name in [name for name in rows[0] if name != keys[0]]:
                width = 2.5 if name == "guarantee" else 1.0
                axes.plot([row[keys[0]] for row in rows], [row[name] for row in rows], label=name, linewidth=width)
        else:
            for value in dict.fromkeys(row[keys[1]] for row in rows):
                line = [row for row in rows if row[keys[1]] == value]
                axes.plot([row[keys[0]] for row in line], [row["guarantee"] for row in line], label=f"{keys[1]} = {value}")
        if log:
            axes.set_yscale("log")
            if all(isinstance(row[keys[0]], int | float) and row[keys[0]] > 0 for row in rows):
                axes.set_xscale("log")
        axes.set_xlabel(keys[0])
        axes.set_ylabel("ε" if self.asked == "epsilon" else "δ")
        axes.legend()
        return axes


class Plan(_Document):
    """The runs that a budget buys, the best first."""

    __slots__ = ("run",)

    def __init__(self, data: str, text: str, run: Run) -> None:
        super().__init__(data, text)
        self.run: Run = run
        """The best plan, which :func:`dobrushin.train` carries out."""


class Verification(_Document):
    """Whether a certificate holds; ``bool(verification)`` is the verdict."""

    __slots__ = ()

    @property
    def confirmed(self) -> bool:
        """Whether everything can be relied upon."""
        return bool(self._data["confirmed"])

    @property
    def differences(self) -> list[str]:
        """Where the certificate differs from what is recomputed."""
        return [one["what"] for one in self._data["differences"]]

    def __bool__(self) -> bool:
        return self.confirmed

    def __repr__(self) -> str:
        return f"<Verification: {'it holds' if self else 'it does not hold'}>"


class Total(_Document):
    """What several releases about the same people cost together; ``float(total)`` is their ε."""

    __slots__ = ()

    @property
    def epsilon(self) -> Interval:
        """The ε of all releases together."""
        return _interval(self._data["epsilon"])

    @property
    def delta(self) -> float:
        """The δ for which it was found."""
        return _number(self._data["delta"])

    def __float__(self) -> float:
        return self.epsilon.upper

    def __repr__(self) -> str:
        return f"<Total: epsilon={_up(float(self))}, delta={_up(self.delta)}>"


class Certificate:
    """A guarantee with all that is needed to recompute it."""

    __slots__ = ("_file",)

    def __init__(self, file: str) -> None:
        self._file = file

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Certificate:
        """Read a certificate. Only :func:`dobrushin.verify` tells whether it holds."""
        try:
            return cls(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInputError(f"{path} cannot be read: {error}", "give the path of a certificate") from error

    @property
    def file(self) -> str:
        """The text of its file."""
        return self._file

    @property
    def text(self) -> str:
        """The certificate for people."""
        return _core.certificate_text(self._file)

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain data."""
        data: dict[str, Any] = json.loads(self._file)
        return data

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate's file, which ``dobrushin verify`` checks."""
        target = Path(path)
        try:
            with target.open("x", encoding="utf-8") as file:
                file.write(self._file)
        except OSError as error:
            raise InvalidInputError(f"{target} cannot be written: {error}", "give the path of a new file") from error

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        found = self.to_dict()["guarantee"]
        epsilon, delta = _interval(found["epsilon"]).upper, _interval(found["delta"]).upper
        return f"<Certificate: epsilon={_up(epsilon)}, delta={_up(delta)}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def _needed(module: str) -> Any:
    """A module of a package that need not be installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise InvalidInputError(f"this needs {package}, which is not installed", f"pip install {package}") from error


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    axes: Axes = _needed("matplotlib.pyplot").subplots()[1]
    return axes
