"""examples/flower on a real SuperLink with real SuperNodes, which are killed and started again in the middle.

Node 0 is killed before it takes its first step, node 1 between taking its second step and sending it, and node 1 again
when the server has its last step. A spy in the server writes down every answer that ever arrives.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("CI") != "true":
    pytest.importorskip("flwr")

import numpy as np

import dobrushin as db
from dobrushin.flower import Journey, Logbook
from flower_federation import Federation

TESTS = Path(__file__).resolve().parent
EXAMPLE = TESTS.parents[1] / "examples" / "flower"
NODES, PASSES = 2, 3
KILLS = ["kill-0-1-before", "kill-1-2-between", "kill-1-3-after"]
CONFIG = {"owners": NODES, "passes": PASSES, "timeout": 400.0, "patience": 15.0}


class Travelled:
    """What a journey through a federation left behind."""

    def __init__(self, folder: Path, federation: Federation, printed: str) -> None:
        self.folder, self.printed = folder, printed
        self.restarts, self.commands = federation.restarts, federation.commands
        self.released = folder / "released"
        lines = (folder / "releases.jsonl").read_text().splitlines() if (folder / "releases.jsonl").exists() else []
        self.spied: list[dict[str, Any]] = [json.loads(line) for line in lines]
        self.books = [Logbook(folder / f"node-{number}.logbook") for number in range(NODES)]


@pytest.fixture(scope="module")
def travelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Travelled]:
    folder = tmp_path_factory.mktemp("federation")
    app = folder / "app"
    shutil.copytree(EXAMPLE, app, ignore=shutil.ignore_patterns("__pycache__"))
    for spy in ("spying_server.py", "killed_client.py"):
        shutil.copy(TESTS / "flower_spies" / spy, app / "owners")
    settings = (app / "pyproject.toml").read_text()
    (app / "pyproject.toml").write_text(
        settings.replace("owners.server_app", "owners.spying_server").replace("owners.client_app", "owners.killed_client")
    )
    for kill in KILLS:
        (folder / kill).touch()
    with Federation(folder, NODES) as federation:
        printed = federation.run(app, {**CONFIG, "output": str(folder / "released")}, within=450)
        logs = "".join(federation.log(name) for name in ("superlink", "node-0", "node-1"))
        assert (folder / "released" / "model.npy").exists(), printed + logs
        yield Travelled(folder, federation, printed)


def test_the_nodes_were_killed_and_came_back(travelled: Travelled) -> None:
    assert sorted(path.name for path in travelled.folder.glob("done-*")) == [f"done-{kill}" for kill in KILLS]
    assert sorted(travelled.restarts) == [0, 1, 1]
    # A node that comes back is another node of Flower, and the same owner.
    nodes: dict[str, set[str]] = {}
    for release in travelled.spied:
        nodes.setdefault(release["owner"], set()).add(release["node"])
    assert len(nodes) == NODES and max(map(len, nodes.values())) > 1


def test_every_step_was_released_as_one_draw_however_often_it_was_asked_for(travelled: Travelled) -> None:
    draws: dict[int, set[str]] = {}
    for release in travelled.spied:
        draws.setdefault(release["number"], set()).add(release["model"])
    assert {number: len(models) for number, models in draws.items()} == dict.fromkeys(range(1, NODES * PASSES + 1), 1)
    # The server asked again for both steps of the last pass; they were answered by their owners only.
    for number in (NODES * PASSES - 1, NODES * PASSES):
        assert f"step {number} was asked for again, and answered by 1" in travelled.printed
        assert sum(release["number"] == number for release in travelled.spied) >= 2


def test_the_certificate_is_that_of_the_releases_that_the_spy_saw(travelled: Travelled) -> None:
    certificate = db.Certificate.load(travelled.released / "certificate.json")
    assert db.verify(certificate)
    run = certificate.to_dict()["run"]
    seen = {(release["number"], release["owner"]) for release in travelled.spied}
    by_owner = Counter(owner for _, owner in seen)
    assert run["run"]["records"] == len(by_owner) and set(by_owner.values()) == {run["run"]["epochs"]}
    for release in travelled.spied:
        assert release["gradient_noise"] == run["update"]["gradient-noise"]
        assert release["learning_rate"] == run["update"]["learning-rate"]
    journal = json.loads((travelled.released / "journal.json").read_text())
    assert {(stop["step"], stop["owner"]) for stop in journal} == seen


def test_each_owners_logbook_counts_what_the_spy_saw_of_them(travelled: Travelled) -> None:
    seen = Counter(owner for _, owner in {(release["number"], release["owner"]) for release in travelled.spied})
    assert sorted(seen.values()) == sorted(book.steps for book in travelled.books) == [PASSES] * NODES
    keys = ("dimension", "learning_rate", "gradient_noise", "radius", "row_norm", "owners", "passes")
    journey = Journey(**{key: travelled.spied[0][key] for key in keys})
    for book in travelled.books:
        report = book.report(1e-5)
        assert report.epsilon == pytest.approx(journey.against_server(1e-5).epsilon, rel=1e-3)
        assert db.verify(report.certificate())


def test_the_released_model_is_the_last_one_that_the_spy_saw_rounded(travelled: Travelled) -> None:
    model = np.load(travelled.released / "model.npy")
    (last, *_) = [release for release in travelled.spied if release["number"] == NODES * PASSES]
    unit = last["learning_rate"] * last["gradient_noise"] * 2**-20
    assert (np.abs(model - last["values"]) <= unit).all()
    assert np.array_equal(model / unit, np.round(model / unit))


def test_the_commands_were_those_of_the_readme(travelled: Travelled) -> None:
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    shown = [shlex.split(line) for line in re.findall(r"^\$ (.*)$", readme.split("## On several machines")[1], re.MULTILINE)]
    assert [words[0] for words in shown] == ["flower-superlink", "flower-supernode", "flower-supernode", "flwr"]

    def options(words: list[str]) -> tuple[str, ...]:
        return (words[0], *(word for word in words if word.startswith("--")))

    assert {options(words) for words in shown} == {options(words) for words in travelled.commands}
