"""One ledger in PostgreSQL, which several processes share: budgets hold, whoever comes first, and whoever is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dobrushin as db
from postgres import Cluster, cluster

PEOPLE, DELTA = 40, 1e-6
RUN = """
[run]
algorithm = "dp-sgd"
records = 40
batch-size = 8
steps = 30
order = "poisson"

[update]
learning-rate = 0.5
noise-multiplier = 3.0

[model]
kind = "logistic"
schema = "schema.toml"

[target]
delta = 1e-6
"""
SCHEMA = """
label = "yes"

[columns.x]
kind = "number"
lower = -1
upper = 1

[columns.yes]
kind = "category"
categories = ["no", "yes"]
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f"p{place},{(place % 20) / 10 - 1},{'yes' if place % 3 else 'no'}" for place in range(PEOPLE)]
    (tmp_path / "people.csv").write_text("\n".join(["person,x,yes", *lines]) + "\n")
    (tmp_path / "run.toml").write_text(RUN)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


def dobrushin(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "dobrushin", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def said(folder: Path, *words: str) -> Any:
    """The answer as data."""
    asked = dobrushin(folder, *words, "--json")
    out, error = asked.communicate(timeout=120)
    assert asked.returncode == 0, error
    return json.loads(out)


def train(folder: Path, ledger: str, out: str) -> subprocess.Popen[str]:
    return dobrushin(
        folder, "train", "people.csv", "--run", "run.toml", "--ledger", ledger, "--person", "person", "--out", out
    )  # fmt: skip


def test_a_budget_that_admits_one_of_two_programs_refuses_the_other(server: Cluster, folder: Path) -> None:
    """Both begin at the same time. Each has the same cost, and the budget is that cost with a little room."""
    cost = db.account(folder / "run.toml", delta=DELTA).epsilon
    ledger = server.new_database()
    said(folder, "ledger", "init", ledger, "--epsilon", str(1.5 * cost), "--delta", "1e-6")
    both = [train(folder, ledger, f"model-{number}") for number in range(2)]
    errors = [program.communicate(timeout=240)[1] for program in both]
    assert sorted(program.returncode != 0 for program in both) == [False, True], errors
    winner = next(number for number, program in enumerate(both) if program.returncode == 0)
    assert "budget" in errors[1 - winner]
    assert not list((folder / f"model-{1 - winner}").glob("*"))
    (release,) = said(folder, "ledger", "show", ledger)["releases"]
    assert (release["status"], release["people"]) == ("committed", PEOPLE)
    agree(folder, ledger, folder / f"model-{winner}" / "certificate.json")


def agree(folder: Path, ledger: str, certificate: Path) -> None:
    """Everybody was charged what the certificate says; a ledger rounds up, and its sum is composed again."""
    assert said(folder, "certificate", "verify", str(certificate))
    claimed = db.account(json.loads(certificate.read_text())["run"], delta=DELTA).epsilon
    for person in ("p0", f"p{PEOPLE - 1}"):
        charged = said(folder, "ledger", "show", ledger, "--person", person)
        (spent,) = [release["epsilon"] for release in charged["releases"] if release["status"] == "committed"]
        assert claimed <= spent <= charged["epsilon"] <= claimed * 1.001


@pytest.mark.parametrize("by_socket", [False, True])
def test_two_processes_together_spend_what_one_may(server: Cluster, tmp_path: Path, by_socket: bool) -> None:
    """They reserve small releases at the same time until both are refused. A file, used by one, says how many there are."""
    script = (
        "import json, sys\nimport dobrushin as db\nledger, made = db.Ledger(sys.argv[1]), []\n"
        "try:\n"
        "    while True:\n"
        "        made.append(ledger.reserve(['ann', 'bob'], epsilon=0.1, delta=1e-9).release)\n"
        "except db.OverBudgetError as error:\n"
        "    print(json.dumps([made, str(error)]))\n"
    )

    def spend(ledger: str, processes: int) -> list[Any]:
        said(tmp_path, "ledger", "init", ledger, "--epsilon", "2", "--delta", "1e-6")
        running = [
            subprocess.Popen([sys.executable, "-c", script, ledger], stdout=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        return [json.loads(process.communicate(timeout=120)[0]) for process in running]

    ((alone, _),) = spend(str(tmp_path / "alone.ledger"), 1)
    shared = server.new_database(by_socket)
    both = spend(shared, 2)
    made = [number for numbers, _ in both for number in numbers]
    assert len(alone) > 10 and sorted(made) == alone
    assert all("budget" in error for _, error in both)
    shown = said(tmp_path, "ledger", "show", shared)
    assert [release["status"] for release in shown["releases"]] == ["reserved"] * len(alone)
    assert said(tmp_path, "ledger", "check", shared)["faults"] == []


def test_a_program_that_is_killed_after_it_reserved_has_spent_and_certificates_agree_with_the_ledger(
    server: Cluster, tmp_path: Path
) -> None:
    """The first of two programs with Opacus is killed. While nobody knows whether its model was released, the second one is
    refused; when somebody says that it was not, the second one trains."""
    if os.environ.get("CI") != "true":
        pytest.importorskip("opacus")
    import charged_training

    ledger = server.new_database()
    cost = db.account(charged_training.training().run, delta=DELTA).epsilon
    budget = ["--epsilon", str(1.5 * cost), "--delta", str(DELTA), "--neighbours", "add-or-remove-one"]
    said(tmp_path, "ledger", "init", ledger, *budget)
    path = os.pathsep.join([str(Path(db.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    killed = subprocess.Popen(
        [sys.executable, charged_training.__file__, ledger, str(tmp_path / "killed"), "wait"],
        env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert killed.stdout is not None and killed.stdout.readline() == "reserved\n"
    killed.kill()
    killed.communicate()
    (release,) = said(tmp_path, "ledger", "show", ledger)["releases"]
    assert release["status"] == "reserved"

    with pytest.raises(db.DobrushinError, match="budget"):
        charged_training.main(ledger, str(tmp_path / "refused"))
    assert not (tmp_path / "refused").exists() and not (tmp_path / "killed").exists()

    said(tmp_path, "ledger", "abort", ledger, str(release["release"]), "--nothing-was-released")
    charged_training.main(ledger, str(tmp_path / "admitted"))
    statuses = [release["status"] for release in said(tmp_path, "ledger", "show", ledger)["releases"]]
    assert statuses == ["aborted", "committed"]
    agree(tmp_path, ledger, tmp_path / "admitted" / "certificate.json")
