"""Private models as estimators of scikit-learn.

>>> import numpy as np
>>> from dobrushin.sklearn import PrivateLogisticRegression
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, (2000, 2))
>>> y = (X[:, 0] > 0).astype(int)
>>> model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, classes=[0, 1], steps=100, learning_rate=4.0).fit(X, y)
>>> bool(model.score(X, y) > 0.8), model.epsilon_ <= 1.0
(True, True)

Nothing is read off the records except by the private training itself, so you declare what is public: ``feature_bounds``
(all features are in [-1, 1] unless you say otherwise), ``classes`` or ``target_bounds``, and the budget ``epsilon`` and
``delta``. Values outside their bounds are moved to them.

- **Every fit spends.** A certificate is about one model. ``cross_val_score`` with five folds fits five models, and a grid
  search many more; together they cost the sum of their budgets, or less by composition. With ``ledger``, each fit is
  charged to the people whose names ``fit(X, y, person=names)`` is given, or refused.
- **What a private cell holds never shows.** A feature that is NaN counts as the centre of its bounds, in ``predict``
  too. A record with an infinite value, a cell that is not a number, or a label that is not declared trains as an empty
  record: it keeps its place and contributes nothing. Other estimators raise an exception there, and so tell.
- **A seed protects nobody.** With ``random_state`` the model can be repeated; a :exc:`NotPrivateWarning` and the
  certificate say so, and ``epsilon_`` is infinite.
- **Somebody may ask to be deleted.** With ``keep_state``, ``fit`` keeps a secret file, and ``forget`` makes the model as if some
  of the records had never been used.
- Sample weights and sparse matrices are not supported.
"""

from __future__ import annotations

import functools
import json
import math
import os
import warnings
from typing import Any, NamedTuple, Self, TypeAlias, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from dobrushin import _core
from dobrushin._frame import rows_of
from dobrushin._people import names_of
from dobrushin.errors import InvalidInputError
from dobrushin.forgetting import Forgotten, forget
from dobrushin.questions import plan
from dobrushin.report import Certificate, _interval
from dobrushin.run import Run, as_path
from dobrushin.training import Trained, Training, train

__all__ = [
    "NotPrivateWarning",
    "PrivateClassifier",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "PrivateSVC",
]

Array: TypeAlias = np.ndarray[Any, Any]

OBSERVED = "observed"
"""The labels that occur in y are public, and are the classes."""


class NotPrivateWarning(UserWarning):
    """The model came from a known seed and protects nobody."""


class _Scale(NamedTuple):
    """How the features are scaled."""

    names: list[str]
    lower: Array
    upper: Array
    centre: Array
    has_intercept: bool


class _Private(BaseEstimator):  # type: ignore[misc]
    """A linear model with a certificate."""

    epsilon: float
    delta: float
    feature_bounds: Any
    feature_centre: Any
    data_norm: float | None
    fit_intercept: bool
    neighbours: str
    records: int | None
    keep_state: Any
    ledger: Any
    random_state: Any

    trained_: Trained
    certificate_: Certificate
    report_: Training | Forgotten
    state_: str | None
    epsilon_: float
    delta_: float
    n_features_in_: int
    coef_: Array
    intercept_: Any

    def _settings(self) -> dict[str, Any]:
        """What is not planned, because it is given: keys of run files."""
        names = ["steps", "batch_size", "learning_rate", "clip_norm", "weight_decay"]
        return {name: value for name in names if (value := getattr(self, name, None)) is not None}

    def _rows(self, X: Any, *, reset: bool) -> Array:
        """The rows, of which only the shape and the type of the array are checked."""
        least = 0 if self.neighbours == "add-or-remove-one" else 1
        rows: Array = cast(Any, validate_data)(
            self,
            rows_of(X) if isinstance(X, list) else X,
            reset=reset,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=least,
        )
        return rows

    def _columns(self) -> list[str]:
        """The names of the features."""
        width = len(str(self.n_features_in_))
        own = [f"x{place:0{width}}" for place in range(self.n_features_in_)]
        return list(getattr(self, "feature_names_in_", own))

    def _scale(self) -> tuple[Array, Array, Array]:
        """The lower ends, the upper ends and the centres of the features."""

        def each(name: str, given: Any) -> Array:
            try:
                return np.broadcast_to(np.asarray(given, dtype=float), (self.n_features_in_,))
            except (TypeError, ValueError) as error:
                message = f"{name} does not fit {self.n_features_in_} features"
                raise InvalidInputError(message, f"{name}: a number for all features, or one for each") from error

        try:
            lower, upper = self.feature_bounds
        except (TypeError, ValueError) as error:
            raise InvalidInputError("feature_bounds is not a pair", "feature_bounds=(lower, upper)") from error
        lower, upper = each("feature_bounds", lower), each("feature_bounds", upper)
        centre = lower / 2 + upper / 2 if self.feature_centre is None else each("feature_centre", self.feature_centre)
        return lower, upper, centre

    def _train(self, X: Any, y: Any, person: Any, label: dict[str, Any], kind: dict[str, Any], norm: float | None) -> Self:
        names, target = self._columns(), "target"
        while target in names:
            target += "_"
        lower, upper, centre = self._scale()
        ends = zip(lower, upper, centre, strict=True)
        columns = {
            name: {"kind": "number", "lower": a, "upper": b, "typical": c, "if-missing": c}
            for name, (a, b, c) in zip(names, ends, strict=True)
        }
        schema = {"label": target, "columns": {**columns, target: label}, "intercept": bool(self.fit_intercept)}
        norm = self.data_norm if self.data_norm is not None else norm
        schema |= {} if norm is None else {"norm": norm}
        state = self._new_state()
        run = self._run(schema, kind, len(X), norm)
        seed = self._seed(stacklevel=4)
        trained = train(
            (X, y),
            run,
            epsilon=self.epsilon,
            delta=self.delta,
            columns=names,
            keep_state=state,
            seed=seed,
            not_private=seed is not None,
            ledger=self.ledger,
            person=None if person is None else names_of(person, "person"),
        )
        certificate, report = trained.certificate, trained.report
        assert certificate is not None and report is not None
        guarantee = certificate.to_dict()["guarantee"]
        self.epsilon_ = _interval(guarantee["epsilon"]).upper if report.private else math.inf
        self.delta_ = _interval(guarantee["delta"]).upper
        self.state_ = state
        self._scaled = _Scale(names, lower, upper, centre, bool(self.fit_intercept))
        self._become(trained, certificate, report)
        return self

    def _new_state(self) -> str | None:
        """Where the state is to be kept, if it is; nothing may be there yet."""
        if getattr(self, "keep_state", None) is None:
            return None
        if not getattr(self, "weight_decay", None):
            raise InvalidInputError(
                "keep_state is given without weight_decay, and then no number of steps makes a model forget",
                "weight_decay=0.01, with steps and learning_rate; or leave keep_state out",
            )
        state = os.path.abspath(as_path("keep_state", self.keep_state))
        if os.path.lexists(state):
            raise InvalidInputError(
                f"keep_state is {os.fspath(self.keep_state)!r}, which already exists, and every fit keeps a state of its own",
                "give another path, or remove that file: the model that it belongs to can then no longer forget",
            )
        return state

    def _seed(self, stacklevel: int) -> int | None:
        """The seed, if randomness comes from one."""
        if self.random_state is None:
            return None
        warnings.warn("random_state is given, so the model is NOT private", NotPrivateWarning, stacklevel=stacklevel)
        given = self.random_state
        return given if isinstance(given, int) else int(check_random_state(given).randint(2**31 - 1))

    def _become(self, trained: Trained, certificate: Certificate, report: Training | Forgotten) -> None:
        """Take over a model."""
        coef, intercept = self._coefficients(trained)
        self.trained_, self.certificate_, self.report_ = trained, certificate, report
        self.coef_, self.intercept_ = coef, intercept

    def _coefficients(self, trained: Trained) -> tuple[Array, Any]:
        """What is multiplied by the features as they are given, and what is added."""
        names, lower, upper, centre, has_intercept = self._scaled
        # A feature of the model is (value - centre)/half, in the order of the names.
        parameters = trained.parameters[0].reshape(-1, len(trained.feature_names))
        half = upper / 2 - lower / 2
        weights = np.empty((len(parameters), len(names)))
        weights[:, np.argsort(np.array(names, dtype=object))] = parameters[:, : len(names)]
        coef = weights / half
        constants = parameters[:, len(names)] if has_intercept else np.zeros(len(parameters))
        return coef, constants - coef @ centre

    def _labels(self, rows: Array, y: Any) -> Any:
        """The labels, as a fitted model takes them."""
        raise NotImplementedError

    def forget(
        self,
        X: Any,
        y: Any,
        *,
        remove: Any,
        epsilon: float | None = None,
        delta: float | None = None,
        steps: int | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Delete records: make the fewest clean steps after which the model is as if they had never been used.

        ``fit`` must have kept a state, see ``keep_state``. ``X`` and ``y`` are the records of ``fit``, the same rows in
        the same order; rows that were deleted before may be there or not. ``remove`` are the numbers of rows of ``X``,
        counted from 0, a mask with ``True`` for each of them, or the rows themselves, ``(X, y)``, which may already be
        missing. ``epsilon`` and ``delta``, that of the estimator if left out, are what is to be met for all deleted records
        together; ``steps`` makes this many steps instead. ``dry_run=True`` makes and writes nothing.

        The answer says how many steps were made, and what they guarantee. The estimator has the new model: its
        ``certificate_`` is about the deleted records alone, and ``epsilon_`` and ``delta_`` are what the new model by itself
        guarantees all others; earlier models cost them as well. Whatever is refused changes nothing.
        """
        check_is_fitted(self)
        if self.state_ is None:
            raise InvalidInputError(
                "keep_state was not given when the model was fitted, so nothing can be deleted from it",
                'PrivateLogisticRegression(keep_state="model.state", weight_decay=0.01, …); or fit again without the records',
            )
        if remove is None:
            raise InvalidInputError("remove is None, but it must say which rows are deleted", "remove=[7, 21]")
        rows = self._rows(X, reset=False)
        labels = self._labels(rows, y)
        if isinstance(remove, tuple) and len(remove) == 2 and np.ndim(remove[0]) > 0:
            gone = self._rows(remove[0], reset=False)
            remove = (gone, self._labels(gone, remove[1]))
        elif hasattr(remove, "columns"):
            raise InvalidInputError("remove is a table without labels", "remove=(X, y), numbers of rows, or a mask")
        _, run = _core.state_of(self.state_)
        if _of_training(json.loads(run)) != _of_training(self.certificate_.to_dict()["run"]):
            raise InvalidInputError(
                f"the state {self.state_} is that of another model", "keep the file that keep_state named when this one was fitted"
            )
        seed = None if dry_run else self._seed(stacklevel=3)
        found = forget(
            self.state_,
            (rows, labels),
            remove=remove,
            epsilon=epsilon,
            delta=self.delta if delta is None else delta,
            steps=steps,
            columns=self._scaled.names,
            dry_run=dry_run,
            seed=seed,
            not_private=seed is not None,
        )
        if found.trained is not None and found.certificate is not None:
            others = found.everyone_else
            self.epsilon_ = others.epsilon.upper if others is not None and found.private else math.inf
            self.delta_ = (others or found.guarantee).delta.upper
            self._become(found.trained, found.certificate, found)
        return found

    def _run(self, schema: dict[str, Any], kind: dict[str, Any], count: int, norm: float | None) -> Run:
        """The run that is given, or else the best plan with what is given; the noise is found later."""
        given, records = self._settings(), self.records
        model = {**kind, "schema": schema}
        if "steps" in given and "learning_rate" in given:
            if kind["kind"] == "linear":
                given.setdefault("clip_norm", 1.0)
            batches = {"algorithm": "dp-sgd", "order": "poisson"} if "batch_size" in given else {}
            return Run({"model": model}, **{
                "algorithm": "gradient-descent", "neighbours": self.neighbours, "records": records, **batches, **given
            })  # fmt: skip
        if self.neighbours == "add-or-remove-one" and records is None:
            raise InvalidInputError(
                "the number of records is a secret with add-or-remove-one, so it cannot be counted",
                "records=…, a public bound on their number",
            )
        order = "poisson" if "batch_size" in given else None
        planned = _planned(
            json.dumps(schema),
            records or count,
            self.epsilon,
            self.delta,
            "logistic" if kind["kind"] == "smoothed-hinge" else kind["kind"],
            order,
            self.neighbours,
        )
        if kind["kind"] == "smoothed-hinge":
            # As long a path with the largest step at which this loss is stable.
            update = planned.to_dict()["update"]
            length = norm or 1.0
            rate = min(update["learning-rate"], 1.99 * kind["width"] / length**2)
            clip = min(length, update["clip-norm"] * update["learning-rate"] / rate)
            own = planned.to_dict()["model"]["schema"]
            planned = planned.replace(model={**kind, "schema": own}, learning_rate=rate, clip_norm=clip)
        return planned.replace(**given)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = self.random_state is None
        return tags


def _of_training(run: dict[str, Any]) -> dict[str, Any]:
    """What a run says about the training before all requests to delete records."""
    own = {name: section for name, section in run.items() if name != "forget"}
    return {**own, "run": {key: value for key, value in run["run"].items() if key != "neighbours"}}


@functools.lru_cache(maxsize=128)
def _planned(
    schema: str, records: int, epsilon: float, delta: float, model: str, order: str | None, neighbours: str
) -> Run:
    """The best plan. It depends on public values alone, and is the same whenever they are."""
    found = plan(
        schema=json.loads(schema),
        records=records,
        epsilon=epsilon,
        delta=delta,
        model=model,
        order=order,
        neighbours=neighbours,
    )
    return found.run


class _Classifier(ClassifierMixin, _Private):  # type: ignore[misc]
    """A linear model of classes."""

    classes: Any
    classes_: Array

    def _known(self, y: Array) -> list[Any]:
        """The classes that are declared."""
        if isinstance(self.classes, str) and self.classes == OBSERVED:
            check_classification_targets(y)
            return list(np.unique(y))
        if self.classes is None or isinstance(self.classes, str):
            raise InvalidInputError(
                "classes is not declared: which labels occur is private, so they are not read off y",
                'classes=["no", "yes"]; or classes="observed" if those that occur are public',
            )
        return list(self.classes)

    def _kind(self) -> dict[str, Any]:
        return {"kind": "logistic" if len(self.classes_) == 2 else "softmax"}

    def fit(self, X: Any, y: Any, person: Any = None) -> Self:
        """Train on private records. A label that is not one of the classes makes its record empty.

        With a ``ledger``, ``person`` has a name for each record, and everybody is charged before anything is trained.
        """
        rows = self._rows(X, reset=True)
        y = _targets(rows, y, as_given=isinstance(self.classes, str))
        known = self._known(y)
        if len(known) < 2 or len(set(known)) < len(known):
            raise InvalidInputError(f"classes has {len(set(known))} class, but 2 are needed", "classes=[0, 1]")
        self.classes_ = np.array(known)
        names = [str(label).strip() for label in known]
        if len(set(names)) < len(names) or "" in names:
            names = [str(place) for place in range(len(known))]
        named = dict(zip(known, names, strict=True))
        label = {"kind": "category", "categories": names}
        # As plans do: a record in the tail does not decide how little the others may say.
        self._train(rows, [_found(named, cell) for cell in y.tolist()], person, label, self._kind(), 1.0)
        self._names = named
        return self

    def _labels(self, rows: Array, y: Any) -> list[str | None]:
        y = _targets(rows, y, as_given=isinstance(self.classes, str))
        return [_found(self._names, cell) for cell in y.tolist()]

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        places = self._predicted(X)[0].astype(int)
        found: Array = self.classes_[places]
        return found

    def decision_function(self, X: Any) -> Array:
        """The score of the second class of two, or the score of each class."""
        _, scores, _ = self._predicted(X)
        return scores if len(self.classes_) == 2 else scores.reshape(-1, len(self.classes_))

    def _predicted(self, X: Any) -> list[Array]:
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        return self.trained_._predicted(rows, skip_bad=False)[0]


class _Probabilities(_Classifier):
    """A classifier with probabilities."""

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class for each row."""
        found = self._predicted(X)[2]
        return found.reshape(-1, len(self.classes_))

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of the probability of each class for each row."""
        with np.errstate(divide="ignore"):
            found: Array = np.log(self.predict_proba(X))
        return found


class PrivateClassifier(_Probabilities):
    """A linear classifier for which everything that is not public knowledge is planned.

    ``epsilon``, ``delta``: the budget. ``classes``: the labels, in their order, or ``"observed"`` if those that occur in
    y are public. ``feature_bounds``: a pair of the least and the largest values that are possible, each a number for all
    features or one for each. ``feature_centre``: ordinary values, known without the records; the middle of the bounds if
    left out. ``data_norm``: rows, scaled to [-1, 1] and with their intercept, are scaled down to this norm; 1 if left
    out. ``neighbours``: "zero-out", "replace-one", or "add-or-remove-one", for which the number of records is a secret
    and ``records`` is a public bound on it. ``ledger``: a :class:`dobrushin.Ledger`, or its place, in which ``fit`` charges
    everybody. ``random_state``: only ``None`` is private. It cannot
    ``forget``, because what is planned has no weight decay.

    A fitted model has ``certificate_``, ``report_``, ``epsilon_``, ``delta_``, ``state_``, ``trained_`` (a
    :class:`dobrushin.Trained`), ``classes_``, and ``coef_`` and ``intercept_`` in the units of the features: their scores
    have the signs and the order of the model's, which are those of rows that were scaled down.
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        classes: Any = None,
        feature_bounds: Any = (-1.0, 1.0),
        feature_centre: Any = None,
        data_norm: float | None = None,
        fit_intercept: bool = True,
        neighbours: str = "zero-out",
        records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.feature_bounds = feature_bounds
        self.feature_centre = feature_centre
        self.data_norm = data_norm
        self.fit_intercept = fit_intercept
        self.neighbours = neighbours
        self.records = records
        self.ledger = ledger
        self.random_state = random_state


class PrivateLogisticRegression(_Probabilities):
    """Logistic regression, of two classes or more, with a certificate.

    The parameters are those of :class:`PrivateClassifier`, and the schedule: ``steps``, ``learning_rate``,
    ``batch_size`` (Poisson batches of this mean size; all records if left out), ``clip_norm`` and ``weight_decay``. If
    ``steps`` and ``learning_rate`` are both given, nothing is planned; otherwise what is left out is. In both cases the
    noise is the least that meets the budget.

    ``keep_state`` is the path of a new secret file, from which ``forget`` goes on if somebody asks to be deleted. It needs
    ``weight_decay``, which makes steps forget. A learning rate of at most 2 over the smoothness of the loss, which is 8 for
    two classes, makes them forget much faster.
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        classes: Any = None,
        feature_bounds: Any = (-1.0, 1.0),
        feature_centre: Any = None,
        data_norm: float | None = None,
        fit_intercept: bool = True,
        steps: int | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        clip_norm: float | None = None,
        weight_decay: float | None = None,
        neighbours: str = "zero-out",
        records: int | None = None,
        keep_state: Any = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.feature_bounds = feature_bounds
        self.feature_centre = feature_centre
        self.data_norm = data_norm
        self.fit_intercept = fit_intercept
        self.steps = steps
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.clip_norm = clip_norm
        self.weight_decay = weight_decay
        self.neighbours = neighbours
        self.records = records
        self.keep_state = keep_state
        self.ledger = ledger
        self.random_state = random_state


class PrivateSVC(_Classifier):
    """A linear support vector classifier of two classes, with a certificate.

    Its loss is the hinge with a parabola of this ``width`` in its corner. The other parameters are those of
    :class:`PrivateLogisticRegression`. It has no probabilities.
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        classes: Any = None,
        width: float = 1.0,
        feature_bounds: Any = (-1.0, 1.0),
        feature_centre: Any = None,
        data_norm: float | None = None,
        fit_intercept: bool = True,
        steps: int | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        clip_norm: float | None = None,
        weight_decay: float | None = None,
        neighbours: str = "zero-out",
        records: int | None = None,
        keep_state: Any = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.width = width
        self.feature_bounds = feature_bounds
        self.feature_centre = feature_centre
        self.data_norm = data_norm
        self.fit_intercept = fit_intercept
        self.steps = steps
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.clip_norm = clip_norm
        self.weight_decay = weight_decay
        self.neighbours = neighbours
        self.records = records
        self.keep_state = keep_state
        self.ledger = ledger
        self.random_state = random_state

    def _known(self, y: Array) -> list[Any]:
        known = super()._known(y)
        if len(known) > 2:
            raise InvalidInputError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(known) if self.classes != OBSERVED else type_of_target(y)}.",
                "PrivateLogisticRegression has more classes",
            )
        return known

    def _kind(self) -> dict[str, Any]:
        return {"kind": "smoothed-hinge", "width": self.width}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class PrivateLinearRegression(RegressorMixin, _Private):  # type: ignore[misc]
    """Least squares with a certificate.

    ``target_bounds`` are the least and the largest target that are possible; targets outside are moved to them. The
    other parameters are those of :class:`PrivateLogisticRegression`. Unless ``data_norm`` says so, no row is scaled
    down, and ``coef_`` and ``intercept_`` predict what ``predict`` does, for features within their bounds.
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        target_bounds: tuple[float, float] | None = None,
        feature_bounds: Any = (-1.0, 1.0),
        feature_centre: Any = None,
        data_norm: float | None = None,
        fit_intercept: bool = True,
        steps: int | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        clip_norm: float | None = None,
        weight_decay: float | None = None,
        neighbours: str = "zero-out",
        records: int | None = None,
        keep_state: Any = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.target_bounds = target_bounds
        self.feature_bounds = feature_bounds
        self.feature_centre = feature_centre
        self.data_norm = data_norm
        self.fit_intercept = fit_intercept
        self.steps = steps
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.clip_norm = clip_norm
        self.weight_decay = weight_decay
        self.neighbours = neighbours
        self.records = records
        self.keep_state = keep_state
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any, person: Any = None) -> Self:
        """Train on private records. A target that is no finite number makes its record empty.

        With a ``ledger``, ``person`` has a name for each record, and everybody is charged before anything is trained.
        """
        try:
            lower, upper = (float(end) for end in self.target_bounds or ())
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                "target_bounds is not declared: the range of y is private, so it is not read off y",
                "target_bounds=(lower, upper)",
            ) from error
        rows = self._rows(X, reset=True)
        y = _targets(rows, y)
        self._range = lower, upper
        self._train(rows, y, person, {"kind": "number", "lower": lower, "upper": upper}, {"kind": "linear"}, None)
        return self

    def _coefficients(self, trained: Trained) -> tuple[Array, float]:
        (coef, intercept), (lower, upper) = super()._coefficients(trained), self._range
        # The model predicts targets that are scaled to [-1, 1].
        half = upper / 2 - lower / 2
        return coef[0] * half, float(intercept[0] * half + (upper / 2 + lower / 2))

    def _labels(self, rows: Array, y: Any) -> Array:
        return _targets(rows, y)

    def predict(self, X: Any) -> Array:
        """The target of each row."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        return self.trained_._predicted(rows, skip_bad=False)[0][0]


def _targets(rows: Array, y: Any, *, as_given: bool = False) -> Array:
    """The targets, of which only the shape is checked; a list becomes an array of objects unless it may be looked at."""
    if y is None:
        raise InvalidInputError("this estimator requires y to be passed, but the target y is None", "fit(X, y)")
    found: Array = column_or_1d(rows_of(y) if isinstance(y, list) and not as_given else y, warn=True)
    check_consistent_length(rows, found)
    return found


def _found(named: dict[Any, str], cell: Any) -> str | None:
    """The name of a label, if it is one of the classes."""
    try:
        return named.get(cell)
    except TypeError:
        # It cannot be looked up, so it is none of them.
        return None
