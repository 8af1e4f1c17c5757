"""Runs, accounts, calibrations, curves, plans and certificates from Python say what the program says."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobrushin as db

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DP_SGD: dict[str, Any] = {
    "algorithm": "dp-sgd",
    "records": 60_000,
    "batch_size": 256,
    "steps": 1000,
    "order": "poisson",
    "neighbours": "add-or-remove-one",
    "clip_norm": 1.0,
    "noise_multiplier": 1.0,
}


def program(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dobrushin", *words], input=given, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["dp-sgd", "logistic-regression", "noisy-gd", "chain", "mechanisms", "pnsgd", "multi-task"])
def test_an_account_says_what_the_program_says(name: str) -> None:
    path = EXAMPLES / f"{name}.toml"
    printed = program("account", str(path), "--json", "--delta", "1e-6")
    assert db.account(path, delta=1e-6).to_dict() == json.loads(printed.stdout)


def test_a_run_is_the_same_from_a_file_a_dict_and_keywords() -> None:
    of_keywords = db.Run(**DP_SGD)
    of_dict = db.Run(of_keywords.to_dict())
    of_text = db.Run.from_toml(of_keywords.to_toml())
    of_snakes = db.Run({"run": {k: v for k, v in DP_SGD.items() if "noise" not in k and "clip" not in k},
                        "update": {"clip_norm": 1.0, "noise_multiplier": 1.0}})
    assert of_keywords == of_dict == of_text == of_snakes
    assert len({of_keywords, of_dict, of_text, of_snakes}) == 1
    assert pickle.loads(pickle.dumps(of_keywords)) == of_keywords == copy.deepcopy(of_keywords)


def test_a_run_that_names_files_means_the_same_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = db.Run(EXAMPLES / "loans" / "logistic.toml", records=1000)
    epsilon = db.account(run, delta=1e-5).epsilon
    monkeypatch.chdir(tmp_path)
    assert db.account(run, delta=1e-5).epsilon == epsilon
    assert db.account(pickle.loads(pickle.dumps(run)), delta=1e-5).epsilon == epsilon
    assert db.account(run.self_contained().to_dict(), delta=1e-5).epsilon == epsilon
    with pytest.raises(db.InvalidInputError, match="schema"):
        db.account(run.to_dict(), delta=1e-5)


def test_numbers_of_numpy_are_numbers() -> None:
    given = DP_SGD | {"records": np.int64(60_000), "steps": np.uint8(100), "noise_multiplier": np.float32(1.0)}
    assert float(db.account(db.Run(**given), delta=np.float64(1e-5))) == float(
        db.account(db.Run(**DP_SGD | {"steps": 100}), delta=1e-5)
    )


def test_none_is_not_given_and_keys_replace_those_that_they_exclude() -> None:
    run = db.Run(**DP_SGD, weight_decay=None)
    assert run == db.Run(**DP_SGD)
    assert "noise-multiplier" not in run.replace(iterate_noise=0.1).to_dict()["update"]
    assert run.replace(run__steps=7) == run.replace(steps=7)


def test_an_account_is_a_number_where_one_is_wanted() -> None:
    report = db.account(db.Run(**DP_SGD), delta=1e-5)
    assert report.guarantee is not None
    assert float(report) == report.epsilon == report.guarantee.epsilon.upper > report.guarantee.epsilon.lower > 0
    assert math.sqrt(report) == math.sqrt(report.epsilon)
    back = db.account(db.Run(**DP_SGD), epsilon=report.epsilon)
    assert float(back) == back.delta <= 1e-5 * (1 + 1e-3)
    assert report.published == report.epsilon
    assert db.account(db.Run(**DP_SGD), epsilon=10, delta=1e-5).meets is True
    assert db.account(db.Run(**DP_SGD), epsilon=0.01, delta=1e-5).meets is False
    assert report.meets is None


def test_reports_can_be_sent_to_another_process() -> None:
    report = db.account(db.Run(**DP_SGD), delta=1e-5)
    again = pickle.loads(pickle.dumps(report))
    assert (again.epsilon, again.to_dict(), again.text) == (report.epsilon, report.to_dict(), report.text)
    assert again.certificate().file == report.certificate().file


def test_hidden_states_are_better_than_published_ones() -> None:
    report = db.account(EXAMPLES / "logistic-regression.toml")
    assert report.published is not None
    assert report.epsilon < report.published / 5
    assert report.explanation and report.meaning


def test_extras_are_there_if_they_are_asked_for() -> None:
    report = db.account(EXAMPLES / "noisy-gd.toml", delta=1e-5, advice=True, utility=True, orders=[2, np.inf])
    assert {"advice", "utility", "renyi"} <= report.to_dict().keys()
    # Whoever reads it again, or in another thread, reads the same.
    assert report._answer.report() == report._answer.report()
    only = db.account(EXAMPLES / "noisy-gd.toml", delta=1e-5, analyses="composition,shift")
    assert [one.id for one in only.analyses] == ["composition", "shift"]


def test_a_calibration_is_on_the_private_side() -> None:
    found = db.calibrate(db.Run(**DP_SGD), epsilon=0.5, delta=1e-6)
    assert db.account(found.run, delta=1e-6).epsilon <= 0.5
    assert db.account(found.run.replace(noise_multiplier=float(found) * 0.99), delta=1e-6).epsilon > 0.5
    steps = db.calibrate(db.Run(**DP_SGD), "steps", epsilon=1.0, delta=1e-5)
    assert isinstance(steps.run.to_dict()["run"]["steps"], int)
    assert float(db.calibrate(db.Run(**DP_SGD), advantage=0.05)) > float(db.calibrate(db.Run(**DP_SGD), advantage=0.2))


def test_what_cannot_be_reached_is_no_guarantee() -> None:
    with pytest.raises(db.NoGuaranteeError, match="cannot be reached"):
        db.calibrate(db.Run(**DP_SGD), "steps", epsilon=1e-9, delta=1e-12)
    report = db.account(db.Run(**DP_SGD), delta=0.0)
    assert report.epsilon == math.inf
    with pytest.raises(db.NoGuaranteeError):
        report.certificate()


def test_curves_have_a_row_for_each_point() -> None:
    one = db.curve(db.Run(**DP_SGD), "steps=1..100", points=3, delta=1e-5).to_frame()
    assert list(one["run.steps"]) == [1, 51, 100]
    two = db.curve(db.Run(**DP_SGD), {"steps": [1, 10], "noise_multiplier": [1.0, 2.0, 4.0]}, delta=1e-5).to_frame()
    assert len(two) == 6
    for _, row in two.iterrows():
        run = db.Run(**DP_SGD).replace(steps=int(row["run.steps"]), noise_multiplier=row["update.noise-multiplier"])
        assert db.account(run, delta=1e-5).epsilon == row["guarantee"]
    target = db.curve(db.Run(**DP_SGD), {"delta": [1e-3, 1e-6]}).to_frame()
    assert target["guarantee"][0] < target["guarantee"][1]


def test_pictures_are_drawn(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    run = EXAMPLES / "noisy-gd.toml"
    db.account(run, delta=1e-5).plot().figure.savefig(tmp_path / "account.png")
    db.curve(run, {"steps": [1, 10, 100]}, delta=1e-5).plot().figure.savefig(tmp_path / "curve.png")
    db.curve(run, {"steps": [1, 10], "noise_multiplier": [1.0, 2.0]}, delta=1e-5).plot(log=False)
    assert (tmp_path / "account.png").stat().st_size > 5000


def test_notebooks_show_reports_and_nothing_in_them_is_markup() -> None:
    report = db.account(EXAMPLES / "noisy-gd.toml", delta=1e-5)
    assert "<table>" in report._repr_html_()
    hostile = db.Run(db.Run(**DP_SGD).to_dict())
    with pytest.raises(db.InvalidInputError):
        db.account(hostile.replace(order="<script>"), delta=1e-5)
    assert "<script" not in report._repr_html_()


def test_a_plan_can_be_accounted_for() -> None:
    plan = db.plan(records=500, dimension=2, epsilon=1.0, delta=1e-6, order="full")
    report = db.account(plan.run, delta=1e-6)
    assert report.epsilon <= 1.0
    assert plan.to_dict()["plans"]


def test_certificates_are_checked_field_by_field(tmp_path: Path) -> None:
    certificate = db.account(EXAMPLES / "noisy-gd.toml", delta=1e-5).certificate()
    path = tmp_path / "certificate.json"
    certificate.save(path)
    with pytest.raises(db.InvalidInputError, match="cannot be written"):
        certificate.save(path)
    assert program("verify", str(path)).returncode == 0
    assert db.verify(path) and db.verify(certificate) and db.verify(certificate.to_dict())
    assert db.Certificate.load(path).to_dict() == certificate.to_dict()
    assert "ε" in certificate.text
    for forge in [
        lambda it: it["guarantee"]["epsilon"].update(upper=0.1),
        lambda it: it["run"]["run"].update(records=10),
        lambda it: it["guarantee"]["assumptions"].pop(),
        lambda it: it.update(more=1),
    ]:
        forged = certificate.to_dict()
        forge(forged)
        assert not db.verify(forged)
    for nonsense in [{}, {"kind": "x"}]:
        with pytest.raises(db.InvalidInputError):
            db.verify(nonsense)


def test_a_total_is_what_the_program_adds_up(tmp_path: Path) -> None:
    paths = []
    for steps in (50, 100):
        paths.append(tmp_path / f"{steps}.json")
        db.account(db.Run(EXAMPLES / "noisy-gd.toml", steps=steps), delta=1e-5).certificate().save(paths[-1])
    added = db.total(paths)
    printed = program("certificate", "add", *map(str, paths), "--json")
    assert added.to_dict() == json.loads(printed.stdout)
    single = [db.account(db.Run(EXAMPLES / "noisy-gd.toml", steps=steps), delta=1e-5).epsilon for steps in (50, 100)]
    assert max(single) < float(added) == added.epsilon.upper < sum(single)
    forged = db.Certificate.load(paths[0]).to_dict()
    forged["guarantee"]["epsilon"]["upper"] = 0.1
    with pytest.raises(db.NoGuaranteeError, match="nothing is added up"):
        db.total([forged, paths[1]])
    with pytest.raises(db.InvalidInputError):
        db.total([])


def test_the_module_is_the_program() -> None:
    assert program("--version").stdout.split()[1] == db.__version__
    assert program("account", "-", "--delta", "1e-5", given=db.Run(**DP_SGD).to_toml()).returncode == 0
    assert program("account", "nothing.toml").returncode == 2
    assert program("explain", "shift").stdout == db.explain("shift")
    with pytest.raises(db.InvalidInputError, match="nothing is called"):
        db.explain("shiftt")


def test_messages_speak_of_arguments_and_not_of_flags() -> None:
    with pytest.raises(db.InvalidInputError) as caught:
        db.calibrate(db.Run(**DP_SGD), epsilon=1.0)
    assert "--" not in str(caught.value)
    assert "epsilon=2, delta=1e-5" in str(caught.value)
    assert caught.value.help and caught.value.message
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.message, again.help) == (caught.value.message, caught.value.help)


def test_what_people_read_is_rounded_up() -> None:
    report = db.account(db.Run(**DP_SGD), delta=1e-5)
    shown = float(repr(report).split("epsilon=")[1].split(",")[0])
    assert report.epsilon <= shown < report.epsilon * 1.001
    assert repr(report).split("delta=")[1].startswith("1e-05 ")
