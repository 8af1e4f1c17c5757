"""Private models are estimators of scikit-learn, as far as privacy allows."""

from __future__ import annotations

import functools
import importlib
import json
import math
import os
import pickle
import stat
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobrushin as db


def needed(name: str) -> Any:
    """A package that need not be installed, except where everything is tested."""
    return importlib.import_module(name) if os.environ.get("CI") == "true" else pytest.importorskip(name)


needed("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from dobrushin import sklearn as private  # noqa: E402
from dobrushin.sklearn import (  # noqa: E402
    NotPrivateWarning,
    PrivateClassifier,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateSVC,
)

FAST: dict[str, Any] = {"steps": 50, "learning_rate": 1.0}

# The checks of scikit-learn that demand what privacy forbids, and why.
EXEMPT = {
    "check_dtype_object": "an exception about a cell that is not a number would reveal that somebody has one; the record is empty",
    "check_supervised_y_no_nan": "an exception about a target that is not finite would tell of it; the record is empty",
}
# Those that scikit-learn leaves out by itself, and why.
LEFT_OUT = {
    "check_pipeline_consistency": "two fits differ: without random_state the noise comes from the operating system",
    "check_array_api_input": "the estimators take NumPy arrays and data frames only",
}
# The estimator, the checks that it passes, and those that it must be exempt from.
CHECKED = [
    (PrivateLogisticRegression(classes="observed", **FAST), 49, {"check_dtype_object"}),
    (PrivateSVC(classes="observed", **FAST), 50, {"check_dtype_object"}),
    (PrivateClassifier(classes="observed"), 49, {"check_dtype_object"}),
    (
        PrivateLinearRegression(epsilon=10.0, target_bounds=(-3, 3), feature_bounds=(-3, 3), clip_norm=0.3, **FAST),
        45,
        {"check_dtype_object", "check_supervised_y_no_nan"},
    ),
]


def unplanned(schema: str, *rest: Any) -> db.Run:
    """A run for every shape of data, because planning takes seconds for each."""
    model = {"kind": rest[3], "schema": json.loads(schema)}
    return db.Run({"model": model}, algorithm="gradient-descent", neighbours="zero-out", **FAST)


@pytest.mark.parametrize(("estimator", "passed", "exempt"), CHECKED, ids=[type(one).__name__ for one, _, _ in CHECKED])
@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_scikit_learn_pass(
    estimator: Any, passed: int, exempt: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "_planned", unplanned)
    expected = {name: reason for name, reason in EXEMPT.items() if name in exempt}
    found = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = {one["check_name"]: repr(one["exception"]) for one in found if one["status"] == "failed"}
    assert failed == {}
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == exempt
    assert {one["check_name"] for one in found if one["status"] == "skipped"} <= set(LEFT_OUT)
    assert sum(one["status"] == "passed" for one in found) >= passed


def halves(count: int = 1000) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (count, 3))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


def test_a_planned_classifier_learns_and_its_certificate_holds() -> None:
    X, y = halves()
    model = PrivateClassifier(epsilon=1.0, delta=1e-6, classes=["no", "yes"]).fit(X, y)
    assert model.score(X, y) > 0.85
    assert model.epsilon_ <= 1.0 and model.delta_ == 1e-6
    assert db.verify(model.certificate_, model=model.trained_.model)
    assert ((X @ model.coef_.T + model.intercept_ > 0)[:, 0] == (model.predict(X) == "yes")).mean() > 0.999
    again = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, classes=["no", "yes"], weight_decay=0.01).fit(X, y)
    assert again.trained_.certificate is not None
    assert again.certificate_.to_dict()["run"]["update"]["weight-decay"] == 0.01
    assert again.epsilon_ <= 1.0
    support = PrivateSVC(epsilon=1.0, delta=1e-6, classes=["no", "yes"]).fit(X, y)
    assert support.score(X, y) > 0.85 and not hasattr(support, "predict_proba")


def test_a_regression_predicts_in_the_units_of_its_columns() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform([0, 100], [1, 300], (4000, 2))
    y = 10 + 4 * X[:, 0] + 0.02 * X[:, 1]
    model = PrivateLinearRegression(
        epsilon=5.0, delta=1e-6, target_bounds=(5, 25), feature_bounds=([0, 100], [1, 300]), steps=200, learning_rate=1.0,
        clip_norm=0.5,
    ).fit(X, y)  # fmt: skip
    assert model.score(X, y) > 0.9
    assert np.abs(X @ model.coef_ + model.intercept_ - model.predict(X)).max() < 1e-4


def test_many_features_keep_their_places() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (3000, 12))
    y = (X[:, 10] > 0).astype(int)
    model = PrivateLogisticRegression(epsilon=5.0, classes=[0, 1], **FAST).fit(X, y)
    assert np.abs(model.coef_[0]).argmax() == 10
    pandas, polars = needed("pandas"), needed("polars")
    names = [f"f{place}" for place in range(12)]
    for frame in [pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)]:
        named = clone(model).fit(frame, y)
        assert np.abs(named.coef_[0]).argmax() == 10
        assert named.feature_names_in_.tolist() == names
        assert named.score(frame, y) > 0.8


def test_more_than_two_classes_and_batches() -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (3000, 2))
    y = np.where(X[:, 0] > 0.3, "a", np.where(X[:, 1] > 0, "b", "c"))
    model = PrivateLogisticRegression(epsilon=5.0, classes=["a", "b", "c"], batch_size=300, **FAST).fit(X, y)
    assert model.score(X, y) > 0.7
    assert model.coef_.shape == (3, 2) and model.decision_function(X).shape == (3000, 3)
    assert np.abs(model.predict_proba(X).sum(axis=1) - 1).max() < 1e-12


def test_it_works_with_the_rest_of_scikit_learn() -> None:
    X, y = halves()
    model = PrivateLogisticRegression(classes=["no", "yes"], epsilon=4.0, **FAST)
    pipeline = make_pipeline(FunctionTransformer(np.tanh), model)
    # Each of the five fits spends ε = 4.
    scores = cross_val_score(pipeline, X, y, cv=5)
    assert scores.mean() > 0.8
    fitted = clone(model).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    assert (copy.predict(X) == fitted.predict(X)).all() and copy.certificate_.file == fitted.certificate_.file
    assert fitted.get_params()["epsilon"] == 4.0


def test_every_fit_is_charged_to_the_people_in_it(tmp_path: Path) -> None:
    ledger = db.Ledger.create(tmp_path / "people.ledger", epsilon=1.45, delta=1e-5, neighbours="zero-out")
    X, y = np.linspace(-1, 1, 300).reshape(-1, 2), np.arange(150) % 2
    names = np.arange(150)
    model = PrivateLogisticRegression(epsilon=1.0, delta=1e-7, classes=[0, 1], ledger=ledger, **FAST)
    cross_val_score(model, X, y, cv=3, params={"person": names})
    counts = {len(ledger.person(name).releases) for name in names}
    assert [release.records for release in ledger.show().releases] == [100] * 3 and counts == {2}
    with pytest.raises(db.OverBudgetError) as caught:
        clone(model).fit(X, y, person=names)
    assert "0" in caught.value.people and len(ledger.show().releases) == 3
    regression = PrivateLinearRegression(epsilon=1.0, delta=1e-7, target_bounds=(0, 1), ledger=str(ledger.place), **FAST)
    regression.fit(X, y, [f"new {name}" for name in names])
    assert ledger.show().releases[-1].status == "committed" and ledger.show().people == 300
    for own, person, message in [
        (model, None, "not whose each record is"),
        (model, "x0", "must have a name for each record"),
        (model, names[1:], "person has 149 names, but there are 150 records"),
        (clone(model).set_params(ledger=None), names, "person is given without a ledger"),
    ]:
        with pytest.raises(db.InvalidInputError, match=message):
            own.fit(X, y, person=person)
    with pytest.warns(NotPrivateWarning), pytest.raises(db.InvalidInputError, match="a known seed"):
        clone(model).set_params(random_state=1).fit(X, y, person=names)
    assert len(ledger.show().releases) == 4


def test_a_seed_is_not_private() -> None:
    X, y = halves(200)
    model = PrivateLogisticRegression(classes=["no", "yes"], random_state=3, **FAST)
    with pytest.warns(NotPrivateWarning):
        one = clone(model).fit(X, y)
    with pytest.warns(NotPrivateWarning):
        two = clone(model).fit(X, y)
    assert one.trained_.model == two.trained_.model
    assert one.epsilon_ == math.inf and "NOT private" in one.report_.text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = clone(model).set_params(random_state=None)
        assert own.fit(X, y).trained_.model != own.fit(X, y).trained_.model


def left(X: Any, y: Any, **more: Any) -> str:
    """Everything that leaves, except what the guarantee covers: the parameters and their hash."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model = PrivateLogisticRegression(**{"classes": ["no", "yes"], **FAST, **more}).fit(X, y)
        except Exception as error:
            return repr((type(error), str(error), [str(one.message) for one in told]))
    file, certificate = model.trained_.to_dict(), model.certificate_.to_dict()
    del file["parameters"], certificate["training"]["model_sha256"]
    state = {name: value for name, value in vars(model).items() if name.endswith("_") and name not in CHECKED_ABOVE}
    shapes = [model.coef_.shape, model.intercept_.shape]
    said = [model.report_.text, model.report_.to_dict(), model.epsilon_, model.delta_]
    return repr((file, certificate, state, shapes, said, [str(one.message) for one in told]))


CHECKED_ABOVE = {"coef_", "intercept_", "trained_", "certificate_", "report_"}


def test_neighbouring_tables_look_the_same() -> None:
    X, y = halves(40)
    tables: list[tuple[Any, Any]] = [(X, y)]
    for number in [math.nan, math.inf, -1e300]:
        tables.append((np.vstack([[number] * 3, X[1:]]), y))
    odd_cells: list[Any] = ["text", None, {"a": 1}, [1], True, 10**400, b"x"]
    for cell in odd_cells:
        odd = X.astype(object)
        odd[0, 0] = cell
        tables.append((odd, y))
        tables.append((odd.tolist(), y.tolist()))
    for label in ["maybe", None, math.nan, 5, ("no",)]:
        labels = y.astype(object)
        labels[0] = label
        tables.append((X, labels))
    looks = {left(*table) for table in tables}
    assert len(looks) == 1 and "Error" not in looks.pop()


def test_neighbouring_frames_look_the_same_whatever_types_they_infer() -> None:
    pandas = needed("pandas")
    X, y = halves(40)
    y = np.where(y == "yes", 1, 0)
    frames = [(pandas.DataFrame(X, columns=["a", "b", "c"]), pandas.Series(y, dtype="Int64"))]
    for cell in ["text", None, pandas.NA, pandas.NaT, {"a": 1}, True, 5]:
        odd, labels = X.astype(object), y.astype(object)
        odd[0, 0] = labels[0] = cell
        frame = pandas.DataFrame({name: odd[:, place].tolist() for place, name in enumerate("abc")})
        frames += [(frame, pandas.Series(labels.tolist())), (frame.convert_dtypes(), pandas.Series(labels).convert_dtypes())]
    looks = {left(*frame, classes=[0, 1]) for frame in frames}
    assert len(looks) == 1 and "Error" not in looks.pop()


def test_a_secret_number_of_records_does_not_show() -> None:
    secret = {"neighbours": "add-or-remove-one", "records": 50}
    looks = {left(*halves(count), **secret) for count in (0, 1, 39, 40, 50, 51)}
    assert len(looks) == 1 and "Error" not in looks.pop()
    assert "records" in left(*halves(40), neighbours="add-or-remove-one")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PrivateLogisticRegression(), "classes is not declared"),
        (PrivateLogisticRegression(classes=["no"]), "1 class"),
        (PrivateSVC(classes=[0, 1, 2]), "Only binary classification"),
        (PrivateLinearRegression(), "target_bounds is not declared"),
        (PrivateLogisticRegression(classes=["no", "yes"], feature_bounds=5), "feature_bounds is not a pair"),
        (PrivateLogisticRegression(classes=["no", "yes"], feature_bounds=([0, 0], 1)), "does not fit 3 features"),
        (PrivateLogisticRegression(classes=["no", "yes"], feature_bounds=(1, 0)), "must be below upper"),
        (PrivateLogisticRegression(classes=["no", "yes"], epsilon=-1.0, **FAST), "epsilon"),
        (PrivateClassifier(classes=["no", "yes"], neighbours="add-or-remove-one"), "public bound"),
    ],
)
def test_what_is_wrong_is_said(model: Any, message: str) -> None:
    with pytest.raises(db.InvalidInputError, match=message):
        model.fit(*halves(20))


def test_sparse_matrices_and_weights_are_refused() -> None:
    sparse = needed("scipy.sparse")
    X, y = halves(20)
    model: Any = PrivateLogisticRegression(classes=["no", "yes"], **FAST)
    with pytest.raises(TypeError, match="[Ss]parse"):
        model.fit(sparse.csr_array(X), y)
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(X, y, sample_weight=np.ones(20))


# Somebody asks to be deleted.

FORGETTING: dict[str, Any] = {"steps": 20, "learning_rate": 2.0, "weight_decay": 0.05, "epsilon": 1.0, "delta": 1e-4}


@functools.cache
def fitted() -> tuple[bytes, bytes]:
    """A fitted estimator that can forget, pickled, and its state."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state")
        model = PrivateLogisticRegression(classes=["no", "yes"], **FORGETTING, keep_state=state).fit(*halves(400))
        assert stat.S_IMODE(state.stat().st_mode) == 0o600 and model.state_ == str(state)
        return pickle.dumps(model), state.read_bytes()


def forgetting(folder: Path) -> tuple[Any, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A fitted estimator that can forget, with its state in this folder, and its records."""
    pickled, kept = fitted()
    model, state = pickle.loads(pickled), folder / "state"
    state.write_bytes(kept)
    state.chmod(0o600)
    model.keep_state, model.state_ = state, str(state)
    return model, *halves(400)


def held(model: Any) -> dict[str, Any]:
    """What a fitted estimator has, in a form that can be compared."""
    own = {name: value for name, value in vars(model).items() if name.endswith("_") and name not in {"trained_", "report_"}}
    texts = {"certificate_": model.certificate_.file, "trained_": model.trained_.model, "report_": model.report_.text}
    return {name: np.asarray(value).tolist() for name, value in {**own, **texts}.items()}


def test_an_estimator_forgets_and_becomes_the_new_model(tmp_path: Path) -> None:
    model, X, y = forgetting(tmp_path)
    state, before = tmp_path / "state", held(model)
    kept = state.read_bytes()
    would = model.forget(X, y, remove=[3, 7], epsilon=0.2, dry_run=True)
    assert would.trained is None and held(model) == before and state.read_bytes() == kept
    found = model.forget(X, y, remove=[3, 7], epsilon=0.2)
    assert found.steps == would.steps and found.records == 2 and found.guarantee.epsilon.upper <= 0.2
    assert found.guarantee.delta.upper == 1e-4
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    # One step fewer is not enough.
    (tmp_path / "fresh").mkdir()
    with pytest.raises(db.NoGuaranteeError):
        forgetting(tmp_path / "fresh")[0].forget(X, y, remove=[3, 7], epsilon=0.2, steps=found.steps - 1)
    after = held(model)
    changed = {name for name in after if after[name] != before[name]}
    assert {"coef_", "intercept_", "trained_", "certificate_", "report_", "epsilon_"} <= changed
    assert changed <= {"coef_", "intercept_", "trained_", "certificate_", "report_", "epsilon_", "delta_"}
    assert model.report_ is found and model.trained_ is found.trained and model.certificate_ is found.certificate
    assert db.verify(model.certificate_, model=model.trained_.model)
    assert model.epsilon_ == found.everyone_else.epsilon.upper and model.delta_ == 1e-4
    signs = (X @ model.coef_.T + model.intercept_ > 0)[:, 0]
    assert (signs == (model.predict(X) == "yes")).mean() > 0.99
    # The rows may be gone, and may be given themselves; the second certificate is about all of them.
    rest = np.delete(np.arange(400), [3, 7])
    second = pickle.loads(pickle.dumps(model)).forget(X[rest], y[rest], remove=(X[[50]], y[[50]]), steps=found.steps)
    assert (second.requests, second.deleted) == (2, 3)
    assert json.loads(state.read_text().splitlines()[2])["deleted"] == [3, 7, 50]


def test_numbers_masks_and_rows_give_the_same_model_as_forget_itself(tmp_path: Path) -> None:
    model, X, y = forgetting(tmp_path)
    model.set_params(random_state=5)
    kept = (tmp_path / "state").read_bytes()
    mask = np.zeros(400, dtype=bool)
    mask[[3, 7]] = True
    found = set()
    (tmp_path / "state").chmod(0o600)
    for remove in [[3, 7], [7, 3], np.array([3, 7]), mask, mask.tolist(), (X[[3, 7]], y[[3, 7]]), (X[mask].tolist(), y[mask].tolist())]:
        (tmp_path / "state").write_bytes(kept)
        with pytest.warns(NotPrivateWarning):
            found.add(model.forget(X, y, remove=remove, steps=5).model)
        assert math.isinf(model.epsilon_)
    (tmp_path / "state").write_bytes(kept)
    names = ["x0", "x1", "x2"]
    same = db.forget(tmp_path / "state", (X, y), remove=[3, 7], steps=5, delta=1e-4, columns=names, seed=5, not_private=True)
    assert found == {same.model}


def test_every_estimator_with_a_schedule_can_forget(tmp_path: Path) -> None:
    X, y = halves(400)
    models: list[Any] = [
        PrivateSVC(classes=["no", "yes"], **FORGETTING, keep_state=tmp_path / "b"),
        PrivateLogisticRegression(classes=["no", "yes", "maybe"], **FORGETTING, keep_state=tmp_path / "c"),
        PrivateLogisticRegression(classes=["no", "yes"], batch_size=40, **FORGETTING, keep_state=tmp_path / "d"),
    ]
    for model in models:
        found = model.fit(X, y).forget(X, y, remove=[3], steps=10)
        assert found.steps == 10 and found.guarantee.epsilon.upper < 1.0, model
        assert db.verify(model.certificate_, model=model.trained_.model)
    pandas = needed("pandas")
    frame, target = pandas.DataFrame(X, columns=["b", "c", "a"]), 3 * X[:, 0]
    line = PrivateLinearRegression(target_bounds=(-5, 5), **FORGETTING, keep_state=tmp_path / "e").fit(frame, target)
    with pytest.raises(db.InvalidInputError, match="a table without labels"):
        line.forget(frame, target, remove=frame[:2], epsilon=0.5)
    line.forget(frame, target, remove=(frame[5:6], target[5:6]), steps=10)
    assert np.abs(X @ line.coef_ + line.intercept_ - line.predict(frame)).max() < 1e-4
    assert isinstance(line.intercept_, float)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"remove": None}, "remove is None"),
        ({"remove": []}, "names no row"),
        ({"remove": [400]}, "remove has the row 400, but the data have 400 rows"),
        ({"remove": [-1]}, "remove has -1"),
        ({"remove": [5, 5]}, "remove has the row 5 twice"),
        ({"remove": [math.nan]}, "remove has nan"),
        ({"remove": np.zeros(3, dtype=bool)}, "remove is a mask of 3 rows"),
        ({"remove": np.zeros((2, 3))}, "2 dimensions"),
        ({"remove": (np.full((1, 3), math.nan), ["no"])}, "row 1 of the rows to remove is no row of the training data"),
        ({"remove": (np.ones((1, 2)), ["no"])}, "features"),
        ({"remove": (np.ones((2, 3)), ["no"])}, "inconsistent numbers of samples"),
        ({"remove": [10**30]}, "remove has 1000000000000000000000000000000"),
        ({"X": np.ones((400, 2))}, "features"),
        ({"X": np.ones((400, 3))}, "row 1 of the data is not the row that was trained on"),
        ({"X": halves(400)[0][:399], "y": halves(400)[1][:399]}, "399 rows, but 400 were trained on"),
        ({"y": ["no"] * 400}, "of the data is not the row that was trained on"),
        ({"y": None}, "y"),
        ({"y": ["no"]}, "inconsistent numbers of samples"),
        ({"epsilon": None}, "neither epsilon nor steps"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 0.0}, "delta is 0"),
        ({"delta": math.nan}, "delta"),
        ({"steps": 0}, "steps"),
        ({"steps": 1, "epsilon": 1e-3}, "these clean steps give"),
    ],
)
def test_a_request_that_is_refused_changes_neither_the_estimator_nor_its_state(
    tmp_path: Path, more: dict[str, Any], message: str
) -> None:
    model, X, y = forgetting(tmp_path)
    before, kept = held(model), (tmp_path / "state").read_bytes()
    given: dict[str, Any] = {"X": X, "y": y, "remove": [3], "epsilon": 0.2, **more}
    with pytest.raises((ValueError, db.NoGuaranteeError), match=message):
        model.forget(given.pop("X"), given.pop("y"), **given)
    assert held(model) == before and (tmp_path / "state").read_bytes() == kept
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state"]


def test_what_was_not_kept_cannot_be_forgotten_and_nothing_is_replaced(tmp_path: Path) -> None:
    X, y = halves(40)
    model = PrivateLogisticRegression(classes=["no", "yes"], **FAST)
    with pytest.raises(NotFittedError):
        model.forget(X, y, remove=[3], epsilon=0.2)
    with pytest.raises(db.InvalidInputError, match="keep_state was not given when the model was fitted"):
        model.fit(X, y).forget(X, y, remove=[3], epsilon=0.2)
    for more in [{}, {"weight_decay": 0.0}]:
        with pytest.raises(db.InvalidInputError, match="keep_state is given without weight_decay"):
            PrivateLogisticRegression(classes=["no", "yes"], **FAST, keep_state=tmp_path / "n", **more).fit(X, y)
    planned = PrivateClassifier(classes=["no", "yes"])
    assert "keep_state" not in planned.get_params()
    model, X, y = forgetting(tmp_path)
    kept, before = (tmp_path / "state").read_bytes(), held(model)
    with pytest.raises(db.InvalidInputError, match=r"keep_state is '.*state', which already exists"):
        model.fit(X, y)
    with pytest.raises(db.InvalidInputError, match="already exists"):
        folds = clone(model).set_params(keep_state=tmp_path / "folds")
        cross_val_score(folds, X, y, cv=2, error_score="raise")
    with pytest.raises(db.InvalidInputError, match="keep_state is not the path"):
        clone(model).set_params(keep_state=5).fit(X, y)
    with pytest.raises(db.InvalidInputError, match="empty slot"):
        clone(model).set_params(keep_state=tmp_path / "n", neighbours="add-or-remove-one", records=500).fit(X, y)
    assert held(model) == before and (tmp_path / "state").read_bytes() == kept
    # The state of another model is not taken for this one's.
    other = clone(model).set_params(keep_state=tmp_path / "other", feature_bounds=(-2, 2)).fit(X, y)
    (tmp_path / "other").write_bytes(kept)
    with pytest.raises(db.InvalidInputError, match="is that of another model"):
        other.forget(X, y, remove=[3], epsilon=0.2)
    (tmp_path / "state").unlink()
    with pytest.raises(db.InvalidInputError, match="cannot read"):
        model.forget(X, y, remove=[3], epsilon=0.2)
    # What is set after the fit does not change what was fitted.
    (tmp_path / "state").write_bytes(kept)
    (tmp_path / "state").chmod(0o600)
    model.set_params(feature_bounds=(-9, 9), fit_intercept=False, keep_state=None)
    model.forget(X, y, remove=[3], steps=10)
    assert ((X @ model.coef_.T + model.intercept_ > 0)[:, 0] == (model.predict(X) == "yes")).mean() > 0.99
