"""What can be asked about a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dobrushin import _core
from dobrushin.errors import InvalidInputError
from dobrushin.report import Calibration, Certificate, Curve, Plan, Report, Total, Verification
from dobrushin.run import Run, RunLike, as_path, as_run

__all__ = ["account", "calibrate", "curve", "explain", "plan", "total", "verify"]


def account(
    run: RunLike,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    tolerance: float | None = None,
    analyses: str | Iterable[str] = (),
    floor: bool = True,
    advice: bool = False,
    utility: bool = False,
    per_record: bool = False,
    observers: bool = False,
    orders: Iterable[float] = (),
) -> Report:
    """How private the released result of a run is, by every analysis; the best one is the guarantee.

    Give ``delta`` to find ε, ``epsilon`` to find δ, or both to find out whether the run meets them. Without either, the
    run's own ``target`` is asked. ``tolerance`` says how wide the enclosure of ε may be, relative to ε; ``analyses``
    names the only ones to use. ``floor=False`` leaves out how much of the guarantee is real: what no analysis of the same
    facts can go below. ``advice``, ``utility``, ``per_record``, ``observers`` and Rényi ``orders`` are added to
    :meth:`Report.to_dict`.

    >>> import dobrushin as db
    >>> run = db.Run(algorithm="dp-sgd", records=60_000, batch_size=256, epochs=20, order="poisson",
    ...              neighbours="add-or-remove-one", clip_norm=1.0, noise_multiplier=1.0)
    >>> report = db.account(run, delta=1e-5)
    >>> print(f"{report.epsilon:.3f}")
    1.569
    """
    found = _core.account(
        as_run(run)._file,
        epsilon=epsilon,
        delta=delta,
        tolerance=tolerance,
        analyses=_words("analyses", analyses),
        floor=bool(floor),
        advice=bool(advice),
        utility=bool(utility),
        per_record=bool(per_record),
        observers=bool(observers),
        orders=_list("orders", orders),
    )
    return Report(found)


def calibrate(
    run: RunLike,
    parameter: str = "noise-multiplier",
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    advantage: float | None = None,
    tpr: float | None = None,
    fpr: float | None = None,
) -> Calibration:
    """The smallest noise, or the most steps, or …, that still meets a target.

    The target is ``epsilon`` with ``delta``, or a membership ``advantage``, or a true-positive rate ``tpr`` at a
    false-positive rate ``fpr``. The answer is on the private side, and it is checked before it is returned. The run need
    not give the parameter.

    >>> import dobrushin as db
    >>> run = db.Run(algorithm="dp-sgd", records=60_000, batch_size=256, epochs=20, order="poisson",
    ...              neighbours="add-or-remove-one", clip_norm=1.0)
    >>> found = db.calibrate(run, epsilon=1.0, delta=1e-5)
    >>> print(f"{float(found):.2f}")
    1.31
    """
    if not isinstance(parameter, str):
        raise InvalidInputError(f"parameter is a {type(parameter).__name__}", 'parameter="noise-multiplier"')
    data, text, file = _core.calibrate(
        as_run(run)._file, parameter, epsilon=epsilon, delta=delta, advantage=advantage, tpr=tpr, fpr=fpr
    )
    return Calibration(data, text, Run._of(file))


def curve(
    run: RunLike,
    over: str | Mapping[str, Iterable[Any]] | Iterable[str],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    points: int = 25,
    log: bool = False,
    analyses: str | Iterable[str] = (),
    utility: bool = False,
) -> Curve:
    """ε or δ over one or two parameters that are varied.

    ``over`` is ``{"steps": [1, 10, 100]}``, or ``"steps=1..1e5"`` with this many ``points``, at equal ratios if ``log``.

    >>> import dobrushin as db
    >>> run = db.Run(algorithm="gradient-descent", records=1000, clip_norm=1.0, noise_multiplier=50.0,
    ...              neighbours="add-or-remove-one")
    >>> found = db.curve(run, {"steps": [1, 100]}, delta=1e-5)
    >>> [round(row["guarantee"], 2) for row in found._rows()]
    [0.06, 0.73]
    """
    if isinstance(over, str):
        wanted: list[str | tuple[str, list[Any]]] = [over]
    elif isinstance(over, Mapping):
        wanted = [(str(key), _list(f"over: {key}", values)) for key, values in over.items()]
    else:
        wanted = list(_words("over", over))
    if isinstance(points, bool) or not isinstance(points, int) or not 0 <= points < 2**32:
        raise InvalidInputError(f"points is {points!r}, but it must be a whole number", "points=25")
    data, text = _core.curve(
        as_run(run)._file,
        wanted,
        epsilon=epsilon,
        delta=delta,
        points=points,
        log=bool(log),
        analyses=_words("analyses", analyses),
        utility=bool(utility),
    )
    return Curve(data, text)


def plan(
    *,
    records: float,
    epsilon: float,
    delta: float,
    schema: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    dimension: int | None = None,
    classes: int | None = None,
    label: str | None = None,
    model: str | None = None,
    order: str | None = None,
    neighbours: str | None = None,
) -> Plan:
    """The best runs that a budget buys, the best first, without a look at any record.

    Give a ``schema`` (a path or a dict), or the number of features as ``dimension`` with the number of ``classes``.
    """
    data, text, file = _core.plan(
        records=records,
        epsilon=epsilon,
        delta=delta,
        schema=None if schema is None or isinstance(schema, Mapping) else as_path("schema", schema),
        schema_text=_core.Schema.of_dict(schema).toml() if isinstance(schema, Mapping) else None,
        dimension=dimension,
        classes=classes,
        label=_word("label", label),
        model=_word("model", model),
        order=_word("order", order),
        neighbours=_word("neighbours", neighbours),
    )
    return Plan(data, text, Run._of(file))


def verify(
    certificate: Certificate | Mapping[str, Any] | str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | bytes | None = None,
) -> Verification:
    """Whether every claim of a certificate is true: it is recomputed and compared, field by field.

    ``certificate`` is the path of its file, its data, or a :class:`Certificate`; ``model`` is the path of the model's
    file, or its bytes, if the certificate must belong to it.

    >>> import dobrushin as db
    >>> run = db.Run(algorithm="gradient-descent", records=1000, steps=100, clip_norm=1.0, noise_multiplier=50.0)
    >>> certificate = db.account(run, delta=1e-5).certificate()
    >>> bool(db.verify(certificate))
    True
    >>> forged = certificate.to_dict()
    >>> forged["guarantee"]["epsilon"]["upper"] /= 2
    >>> bool(db.verify(forged))
    False
    """
    name, content = _content(certificate, "the certificate")
    if model is None or isinstance(model, bytes):
        model_name, model_bytes = (None if model is None else "the model"), model
    else:
        model_name, model_bytes = str(model), _bytes(model, "model")
    data, text = _core.verify(content, name=name, model=model_bytes, model_name=model_name)
    return Verification(data, text)


def total(
    certificates: Iterable[Certificate | Mapping[str, Any] | str | os.PathLike[str]], *, delta: float | None = None
) -> Total:
    """What several releases about the same people cost together; every certificate is recomputed first.

    Without ``delta``, ε is found for the sum of their δ.

    >>> import dobrushin as db
    >>> run = db.Run(algorithm="gradient-descent", records=1000, steps=100, clip_norm=1.0, noise_multiplier=50.0)
    >>> one, other = (db.account(run.replace(steps=steps), delta=1e-5).certificate() for steps in (100, 200))
    >>> both = db.total([one, other])
    >>> 1.4 < float(both) / db.account(run, delta=1e-5).epsilon < 2.0
    True
    """
    given = [_content(one, f"certificate {place}") for place, one in enumerate(_list("certificates", certificates), 1)]
    data, text = _core.total(given, delta=delta)
    return Total(data, text)


def explain(topic: str | None = None) -> str:
    """A theorem or an idea in plain words; without a topic, the list of all.

    >>> import dobrushin as db
    >>> "shift-subsampled" in db.explain()
    True
    """
    return _core.explain(_word("topic", topic))


def _content(certificate: Certificate | Mapping[str, Any] | str | os.PathLike[str], name: str) -> tuple[str, bytes]:
    """What to call a certificate, and the bytes of its file."""
    if isinstance(certificate, Certificate):
        return name, certificate.file.encode()
    if isinstance(certificate, Mapping):
        try:
            return name, json.dumps(dict(certificate), allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInputError(f"{name} is not JSON: {error}", "give what json.load gave") from error
    return str(certificate), _bytes(certificate, "certificate")


def _word(name: str, given: str | None) -> str | None:
    if given is None or isinstance(given, str):
        return given
    raise InvalidInputError(f"{name} is a {type(given).__name__}, but it must be text", f'{name}="…"')


def _list(name: str, given: Iterable[Any]) -> list[Any]:
    try:
        return list(given)
    except TypeError as error:
        raise InvalidInputError(f"{name} is a {type(given).__name__}, but it must be a list", "[…]") from error


def _words(name: str, given: str | Iterable[str]) -> list[str]:
    words = given.split(",") if isinstance(given, str) else _list(name, given)
    for word in words:
        if not isinstance(word, str):
            raise InvalidInputError(f"{name} has a {type(word).__name__}, but all must be text", f'{name}=["…"]')
    return words


def _bytes(path: str | os.PathLike[str], what: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the {what} cannot be read: {error}", f"give the path of a {what}") from error
