"""Claims about ``dobrushin.flower``, tested with the real Flower.

Flower's own tests of its accountants are run too if ``FLOWER_TESTS`` names a folder that holds
``rdp_accountant_test.py`` and ``dp_fixed_clipping_test.py`` from Flower's repository; they are not in its wheel.
"""

from __future__ import annotations

import doctest
import functools
import importlib.util
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import call

import numpy as np
import pytest

import dobrushin as db

if os.environ.get("CI") != "true":
    pytest.importorskip("flwr")

from flwr.app import ArrayRecord, ConfigRecord, Context, Error, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import (
    GaussianPrivacyEvent,
    Grid,
    NeighboringRelation,
    PrivacyAccountant,
    PrivacyConfig,
    PrivacySpent,
    SamplingMethod,
)
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
from flwr.supercore.differential_privacy import compute_stdv
from flwr.supercore.run import Run as FlowerRun
from flwr.supercore.task_identity import TaskIdentity

import dobrushin._flower.accountant
import dobrushin._flower.journey
import dobrushin._flower.logbook
from dobrushin import flower
from dobrushin._flower import messages
from dobrushin._flower import step as steps
from dobrushin.flower import Accountant, Journey, Logbook, Stop, certify, take_step, travel
from flower_federation import answers, environment, free_port

ROOT = Path(__file__).resolve().parents[2]
DELTA = 1e-6

# ----------------------------------------------------------------------------------------------------------- accountant


def config_of(sampling: SamplingMethod, population: int = 100, max_epsilon: float | None = None) -> PrivacyConfig:
    replaced = sampling is SamplingMethod.WITHOUT_REPLACEMENT
    relation = NeighboringRelation.REPLACE_ONE if replaced else NeighboringRelation.ADD_OR_REMOVE_ONE
    return PrivacyConfig(DELTA, population, relation, sampling, max_epsilon)


FIXED = SamplingMethod.NO_AMPLIFICATION
EVENT = GaussianPrivacyEvent(noise_multiplier=4.0, sample_size=10, population_size=100)


def law_of_a_round(updates: list[float], sampling: SamplingMethod, size: int) -> list[tuple[float, float]]:
    """The averages that a round can have, with their probabilities, by listing every sample; clipping_norm is 1."""
    clients = range(len(updates))
    if sampling is SamplingMethod.POISSON:
        share = size / 3  # of the three clients, one of whom may be missing
        samples = [sample for count in range(len(updates) + 1) for sample in itertools.combinations(clients, count)]
        chances = [share ** len(sample) * (1 - share) ** (len(updates) - len(sample)) for sample in samples]
    else:
        samples = list(itertools.combinations(clients, size))
        chances = [1 / len(samples)] * len(samples)
    return [
        (sum(updates[client] for client in sample) / size, chance)
        for sample, chance in zip(samples, chances, strict=True)
    ]


def exact_delta(
    one: list[tuple[float, float]], other: list[tuple[float, float]], deviation: float, epsilon: float
) -> float:
    """The δ between two mixtures of Gaussians, in the worse direction, by quadrature."""
    points, step = np.linspace(-6 - 10 * deviation, 6 + 10 * deviation, 40001, retstep=True)

    def density(law: list[tuple[float, float]]) -> Any:
        parts = [chance * np.exp(-0.5 * ((points - centre) / deviation) ** 2) for centre, chance in law]
        return sum(parts) / (deviation * math.sqrt(2 * math.pi))

    p, q = density(one), density(other)
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0).sum() * step) for a, b in ((p, q), (q, p)))


def worst_delta_of_a_round(
    sampling: SamplingMethod, noise: float, size: int, epsilon: float, zeroed: bool = False
) -> float:
    """The largest δ over neighbouring populations of three clients with updates of −1, 0 and 1, as Flower averages."""
    deviation = compute_stdv(noise, 1.0, size)
    worst = 0.0
    for others in itertools.product((-1.0, 0.0, 1.0), repeat=2):
        with_client = law_of_a_round([1.0, *others], sampling, size)
        if zeroed:
            without = law_of_a_round([0.0, *others], sampling, size)
        elif sampling is SamplingMethod.WITHOUT_REPLACEMENT:
            without = law_of_a_round([-1.0, *others], sampling, size)
        else:
            without = law_of_a_round([*others], sampling, size)
        worst = max(worst, exact_delta(with_client, without, deviation, epsilon))
    return worst


MODELS = [
    (SamplingMethod.POISSON, None),
    (SamplingMethod.WITHOUT_REPLACEMENT, None),
    (SamplingMethod.NO_AMPLIFICATION, None),
    (SamplingMethod.NO_AMPLIFICATION, "zero-out"),
]


@pytest.mark.parametrize(("sampling", "neighbours"), MODELS)
@pytest.mark.parametrize(("noise", "size"), [(0.7, 1), (1.0, 2), (3.0, 2)])
def test_the_account_is_never_below_the_exact_law_of_a_round(
    sampling: Any, neighbours: Any, noise: float, size: int
) -> None:
    accountant = Accountant(config_of(sampling, population=3), neighbours=neighbours)
    accountant.compose(GaussianPrivacyEvent(noise, size, 3))
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        exact = worst_delta_of_a_round(sampling, noise, size, epsilon, zeroed=neighbours is not None)
        assert accountant.get_delta(epsilon) >= exact - 1e-9


@pytest.mark.parametrize("sampling", [SamplingMethod.WITHOUT_REPLACEMENT, SamplingMethod.NO_AMPLIFICATION])
def test_flowers_own_account_of_samples_of_a_fixed_size_is_below_the_exact_law(sampling: SamplingMethod) -> None:
    """The page about Flower says so; if this fails, Flower was repaired and the page is wrong."""
    pytest.importorskip("dp_accounting")
    from flwr.serverapp import RdpAccountant

    theirs = RdpAccountant(config_of(sampling, population=3))
    theirs.compose(GaussianPrivacyEvent(1.0, 2, 3))
    epsilon = theirs.get_epsilon(1e-3)
    assert worst_delta_of_a_round(sampling, 1.0, 2, epsilon) > 0.05


def test_equal_rounds_are_those_of_the_run_files_federation() -> None:
    accountant = Accountant(config_of(SamplingMethod.POISSON, population=1000))
    accountant.compose(GaussianPrivacyEvent(1.2, 10, 1000), count=100)
    run = db.Run(
        algorithm="dp-sgd", records=1000, batch_size=10, steps=100, order="poisson", release="all",
        neighbours="add-or-remove-one", learning_rate=1.0, clip_norm=0.5, noise_multiplier=1.2,
    )  # fmt: skip
    assert accountant.get_epsilon(DELTA) == pytest.approx(db.account(run, delta=DELTA).epsilon, rel=1e-4)


def test_rounds_that_differ_compose_in_any_order() -> None:
    other = GaussianPrivacyEvent(noise_multiplier=6.0, sample_size=20, population_size=100)
    one, two = Accountant(config_of(FIXED)), Accountant(config_of(FIXED))
    for event in (EVENT, other, EVENT):
        one.compose(event)
    two.compose(other)
    two.compose(EVENT, count=2)
    assert one.num_releases == two.num_releases == 3
    assert one.get_epsilon(DELTA) == pytest.approx(two.get_epsilon(DELTA), rel=1e-4)
    # Gaussian noise of different sizes is like Gaussian noise of one size, for this shift of 2 over the noise:
    single = Accountant(config_of(FIXED))
    single.compose(replace(EVENT, noise_multiplier=1 / math.sqrt(2 / 16 + 1 / 36)))
    assert one.get_epsilon(DELTA) == pytest.approx(single.get_epsilon(DELTA), rel=1e-3)


def test_nothing_released_costs_nothing() -> None:
    accountant = Accountant(config_of(FIXED))
    assert accountant.get_privacy_spent() == PrivacySpent(0.0, DELTA, 0, "dobrushin")
    assert accountant.get_delta(0.0) == 0.0
    with pytest.raises(db.InvalidInputError, match="nothing has been released"):
        _ = accountant.run


def test_delta_and_epsilon_belong_together() -> None:
    accountant = Accountant(config_of(FIXED))
    accountant.compose(EVENT, count=5)
    assert accountant.get_delta(accountant.get_epsilon(DELTA)) == pytest.approx(DELTA, rel=1e-2)


def test_the_account_has_a_certificate_that_verifies() -> None:
    accountant = Accountant(config_of(FIXED))
    accountant.compose(EVENT, count=5)
    report = accountant.report()
    assert report.epsilon == accountant.get_privacy_spent().epsilon
    assert db.verify(report.certificate())


def test_asking_counts_nothing_and_a_budget_is_kept() -> None:
    accountant = Accountant(config_of(FIXED, max_epsilon=5.0))
    while not accountant.would_exceed(EVENT):
        accountant.compose(EVENT)
    assert accountant.num_releases > 0
    assert accountant.get_privacy_spent().epsilon <= 5.0
    assert not accountant.would_exceed(EVENT, max_epsilon=50.0)
    assert accountant.would_exceed(EVENT, max_epsilon=50.0, count=1000)


def test_a_state_survives_json_and_only_its_own_accountant_takes_it() -> None:
    accountant = Accountant(config_of(FIXED))
    accountant.compose(EVENT, count=2)
    state = json.loads(json.dumps(accountant.state_dict()))
    restored = Accountant(config_of(FIXED))
    restored.load_state_dict(state)
    assert restored.get_privacy_spent() == accountant.get_privacy_spent()
    for other in (
        Accountant(config_of(FIXED), neighbours="zero-out"),
        Accountant(config_of(FIXED, population=99)),
        Accountant(config_of(SamplingMethod.POISSON)),
        Accountant(config_of(FIXED, max_epsilon=1.0)),
    ):
        with pytest.raises(db.InvalidInputError, match="does not match"):
            other.load_state_dict(state)


def test_a_state_that_would_lower_the_account_is_refused() -> None:
    accountant = Accountant(config_of(FIXED))
    accountant.compose(EVENT)
    earlier = accountant.state_dict()
    accountant.compose(EVENT)
    with pytest.raises(db.InvalidInputError, match="all releases"):
        accountant.load_state_dict(earlier)
    assert accountant.num_releases == 2


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"backend": "rdp"},
        {"compositions": None},
        {"compositions": [{"event": {"noise_multiplier": 1.0}, "count": 1}]},
        {"compositions": [{"event": {"noise_multiplier": 1.0, "sample_size": 1, "population_size": 99}, "count": 1}]},
        {"compositions": [{"event": {"noise_multiplier": 1.0, "sample_size": 1, "population_size": 100}, "count": -1}]},
        {"compositions": [{"event": {"noise_multiplier": "1", "sample_size": 1, "population_size": 100}, "count": 1}]},
        {"compositions": ["x"]},
    ],
)
def test_a_state_that_was_tampered_with_is_refused(change: dict[str, object]) -> None:
    accountant = Accountant(config_of(FIXED))
    with pytest.raises(db.InvalidInputError):
        accountant.load_state_dict({**accountant.state_dict(), **change})
    assert accountant.num_releases == 0


def test_what_does_not_fit_is_refused() -> None:
    accountant = Accountant(config_of(FIXED))
    refused: list[Callable[[], object]] = [
        lambda: accountant.compose(replace(EVENT, population_size=101)),
        lambda: accountant.compose(EVENT, count=0),
        lambda: accountant.compose(EVENT, count=True),
        lambda: accountant.get_epsilon(0.0),
        lambda: accountant.get_epsilon(math.nan),
        lambda: accountant.get_delta(-1.0),
        lambda: accountant.get_delta(True),
        lambda: accountant.would_exceed(EVENT),
        lambda: accountant.would_exceed(EVENT, max_epsilon=math.inf),
        lambda: Accountant(config_of(SamplingMethod.POISSON), neighbours="zero-out"),
        lambda: Accountant(config_of(FIXED), neighbours="replace-one"),  # type: ignore[arg-type]
    ]
    for call_it in refused:
        with pytest.raises(db.InvalidInputError):
            call_it()
    assert accountant.num_releases == 0


def test_a_relation_that_flower_may_allow_some_day_is_refused() -> None:
    config = config_of(SamplingMethod.POISSON)
    object.__setattr__(config, "neighboring_relation", NeighboringRelation.REPLACE_ONE)
    with pytest.raises(db.InvalidInputError, match="there is no account"):
        Accountant(config)


# ----------------------------------------------------------------------------------------- Flower's strategy, and tests


@pytest.fixture(autouse=True)
def in_a_run_of_flower(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message can only be made by a task of a run."""
    for key in ("_run_id", "_task_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, key, 1)


class Nodes(Grid):
    """A grid in memory: a node is a client app with a context. `tamper` may change, drop or double its answers."""

    def __init__(
        self, app: ClientApp, count: int, tamper: Callable[[Message], list[Message]] = lambda reply: [reply]
    ) -> None:
        self.app = app
        self.tamper = tamper
        self.contexts = {
            number * 1_000_003: Context(1, number, {"partition-id": number}, RecordDict(), {})
            for number in range(1, count + 1)
        }
        self.asked: list[int] = []
        self.logbooks: list[Logbook] = []

    def set_run(self, run: FlowerRun) -> None:
        raise NotImplementedError

    @property
    def run(self) -> FlowerRun:
        raise NotImplementedError

    def create_message(self, *_: Any, **__: Any) -> Message:
        raise NotImplementedError

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise NotImplementedError

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise NotImplementedError

    def get_node_ids(self) -> Iterable[int]:
        return list(reversed(self.contexts))

    @property
    def asked_for_steps(self) -> list[int]:
        """The nodes that were asked for a step, without the greetings."""
        return self.asked[len(self.contexts) :]

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        return [answer for message in messages for answer in self.tamper(self.ask(message))]

    def ask(self, message: Message) -> Message:
        self.asked.append(message.metadata.dst_node_id)
        try:
            return self.app(message, self.contexts[message.metadata.dst_node_id])
        except Exception as error:  # as Flower does
            return Message(Error(code=2, reason=repr(error)), reply_to=message)


def averaging(clients: int, update: float) -> Nodes:
    app = ClientApp()

    @app.train()
    def train(message: Message, _: Context) -> Message:
        arrays = message.content.array_records["arrays"].to_numpy_ndarrays()
        answer = RecordDict({"arrays": ArrayRecord([arrays[0] + update])})
        answer["metrics"] = MetricRecord({"num-examples": 1})
        return Message(answer, reply_to=message)

    return Nodes(app, clients)


def test_flowers_strategy_works_with_our_accountant_and_stops_at_its_budget() -> None:
    accountant: PrivacyAccountant = Accountant(config_of(FIXED, population=4, max_epsilon=5.0))
    strategy = DifferentialPrivacyServerSideFixedClipping(
        FedAvg(fraction_train=0.5, fraction_evaluate=0.0, min_train_nodes=2, min_available_nodes=4),
        noise_multiplier=4.0, clipping_norm=1.0, num_sampled_clients=2, accountant=accountant,
    )  # fmt: skip
    with pytest.raises(PrivacyBudgetExhausted):
        strategy.start(averaging(4, update=1.0), ArrayRecord([np.zeros(3)]), num_rounds=100)
    spent = strategy.privacy_spent()
    assert spent is not None
    assert spent.num_releases == accountant.num_releases > 0
    assert spent.epsilon <= 5.0 < 5.0 * (accountant.num_releases + 1) / accountant.num_releases


def one_round_of_flower(update: float) -> Any:
    strategy = DifferentialPrivacyServerSideFixedClipping(
        FedAvg(fraction_evaluate=0.0, min_train_nodes=2, min_available_nodes=2), 1.0, 1.0, 2
    )
    result = strategy.start(averaging(2, update), ArrayRecord([np.zeros(3)]), num_rounds=1)
    return result.arrays.to_numpy_ndarrays()[0]


def test_flower_stops_at_an_update_of_zero_and_does_not_clip_what_is_not_a_number() -> None:
    """The page about Flower says so; if this fails, Flower was repaired and the page is wrong."""
    with pytest.raises(ZeroDivisionError):
        one_round_of_flower(0.0)
    assert np.isnan(one_round_of_flower(math.nan)).all()


class Killed:
    """A node that is killed in the third round, and is back in the next; and the models that clients were sent."""

    def __init__(self) -> None:
        self.nodes = averaging(3, update=1.0)
        self.nodes.tamper = self.tamper
        self.sent: list[bytes] = []
        self.answers = 0
        ask = self.nodes.ask

        def spied(message: Message) -> Message:
            self.sent.append(message.content.array_records["arrays"].to_numpy_ndarrays()[0].tobytes())
            return ask(message)

        self.nodes.ask = spied  # type: ignore[method-assign]

    def tamper(self, reply: Message) -> list[Message]:
        self.answers += 1
        return [] if self.answers == 8 else [reply]

    def train(self, accountant: Accountant | None) -> list[bytes]:
        """Trains for five rounds, and returns the models that were released, each once."""
        strategy = DifferentialPrivacyServerSideFixedClipping(
            FedAvg(fraction_evaluate=0.0, min_train_nodes=3, min_available_nodes=3), 4.0, 1.0, 3, accountant=accountant
        )
        result = strategy.start(self.nodes, ArrayRecord([np.zeros(3)]), num_rounds=5)
        models = [*self.sent, result.arrays.to_numpy_ndarrays()[0].tobytes()]
        return [model for model in dict.fromkeys(models) if model != np.zeros(3).tobytes()]


def test_a_round_in_which_a_client_is_killed_releases_no_model_and_the_certificate_counts_the_others() -> None:
    accountant, killed = Accountant(config_of(FIXED, population=3)), Killed()
    released = killed.train(accountant)
    assert killed.answers == 15  # five rounds, in each of which all were asked
    assert len(released) == accountant.num_releases == 4
    certificate = accountant.report().certificate()
    (mechanism,) = certificate.to_dict()["run"]["mechanism"]
    assert (mechanism["count"], mechanism["noise-multiplier"]) == (len(released), 4.0)
    assert db.verify(certificate)


def test_without_an_accountant_flower_releases_that_round_too() -> None:
    """The page about Flower says so; if this fails, Flower was repaired and the page is wrong."""
    assert len(Killed().train(None)) == 5


def flowers_tests(name: str, package: str) -> ModuleType:
    folder = os.environ.get("FLOWER_TESTS")
    if folder is None:
        pytest.skip("FLOWER_TESTS does not name a folder with Flower's own tests")
    spec = importlib.util.spec_from_file_location(f"{package}.{name}", Path(folder) / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def flowers_accountant_tests(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Flower's tests of its RdpAccountant, about ours. Only two things stay with theirs: its name, and Rényi orders."""
    module = flowers_tests("rdp_accountant_test", "flwr.supercore.privacy_accounting")
    theirs = module.RdpAccountant

    class Ours(Accountant):
        def get_privacy_spent(self, delta: float | None = None) -> PrivacySpent:
            return replace(super().get_privacy_spent(delta), accounting_method="rdp")

    monkeypatch.setattr(
        module, "RdpAccountant", lambda config, orders=None: Ours(config) if orders is None else theirs(config, orders)
    )
    return module


@pytest.mark.parametrize(
    "name",
    [
        "test_budget_projection_does_not_mutate_composition",
        "test_state_dict_round_trip_and_config_validation",
        "test_rejects_unsafe_accounting_inputs",
    ],
)
def test_flowers_accountant_tests_hold(flowers_accountant_tests: ModuleType, name: str) -> None:
    getattr(flowers_accountant_tests, name)()


def test_flowers_reference_values_are_above_ours_where_they_are_right(flowers_accountant_tests: ModuleType) -> None:
    """Flower's values are Rényi bounds: for zero-out neighbours if nothing is amplified, and too small if sampled."""
    (mark,) = flowers_accountant_tests.test_supported_models_match_reference_values.pytestmark
    for config, event, count, epsilon, delta in mark.args[1]:
        accountant = Accountant(config, neighbours="zero-out" if config.sampling_method is FIXED else None)
        accountant.compose(event, count)
        if config.sampling_method is SamplingMethod.WITHOUT_REPLACEMENT:
            assert accountant.get_epsilon(DELTA) > 2 * epsilon
        else:
            assert 0.5 * epsilon < accountant.get_epsilon(DELTA) <= epsilon
            assert accountant.get_delta(3.0) <= delta


class Seen:
    """A method that remembers its calls, as far as Flower's tests ask a mock for them."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.call_args: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.call_args = call(*args, **kwargs)
        return self.method(*args, **kwargs)

    @property
    def return_value(self) -> Any:
        return self.method()

    def assert_not_called(self) -> None:
        assert self.call_args is None


@pytest.mark.parametrize(
    "name",
    [
        "test_successful_release_is_accounted_once",
        "test_failed_round_does_not_consume_privacy",
        "test_budget_is_checked_before_training",
    ],
)
def test_flowers_strategy_tests_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = flowers_tests("dp_fixed_clipping_test", "flwr.serverapp.strategy")
    mocked = module._accountant

    def ours(**kwargs: Any) -> Any:
        accountant: Any = Accountant(mocked(**kwargs).config)
        accountant.compose, accountant.get_privacy_spent = Seen(accountant.compose), Seen(accountant.get_privacy_spent)
        return accountant

    monkeypatch.setattr(module, "_accountant", ours)
    test = getattr(module, name)
    marks = getattr(test, "pytestmark", [])
    for arguments in marks[0].args[1] if marks else [None]:
        test(*([] if arguments is None else [arguments]))


# ---------------------------------------------------------------------------------------------------------- the journey

JOURNEY = Journey(owners=4, dimension=3, learning_rate=0.5, gradient_noise=4.0, radius=2.0)
SEVERAL = replace(JOURNEY, passes=3)


def rows(owner: int) -> tuple[Any, Any]:
    made_up = np.random.default_rng(owner)
    return made_up.normal(size=(5, 3)), made_up.integers(0, 2, size=5)


def owners(
    journey: Journey,
    tamper: Callable[[Message], list[Message]] = lambda reply: [reply],
    data: Callable[[int], tuple[Any, Any]] = rows,
) -> Nodes:
    app = ClientApp()
    logbooks = Path(tempfile.mkdtemp())

    @app.train()
    def train(message: Message, context: Context) -> Message:
        owner = int(context.node_config["partition-id"])
        return take_step(message, Logbook(logbooks / str(owner)), journey, *data(owner))

    def steps_only(reply: Message) -> list[Message]:
        return [reply] if reply.metadata.group_id == "greeting" else tamper(reply)

    nodes = Nodes(app, journey.owners, steps_only)
    nodes.logbooks = [Logbook(logbooks / str(owner + 1)) for owner in range(journey.owners)]
    return nodes


TRAVELLING = "run 1 of Flower"


def question(
    number: int, journey: Journey = JOURNEY, model: Any = None, book: Logbook | None = None, **others: Any
) -> Message:
    """What the server sends for a step."""
    start = np.zeros(journey.dimension) if model is None else model
    content = messages.content(start, number, (book or a_logbook()).name(TRAVELLING), journey)
    for key, record in others.items():
        content[key] = record
    return Message(content, dst_node_id=1_000_003, message_type="train")


@functools.cache
def a_logbook() -> Logbook:
    """A logbook in which nothing is written."""
    return a_new_logbook()


def a_new_logbook() -> Logbook:
    return Logbook(Path(tempfile.mkdtemp()) / "logbook")


def altered(reply: Message, **changes: Any) -> Message:
    """The answer with another model, or another value in its step."""
    if "model" in changes:
        reply.content["model"] = ArrayRecord([changes.pop("model")])
    for key, value in changes.items():
        reply.content.config_records["step"][key] = value
    return reply


@pytest.mark.parametrize("journey", [JOURNEY, SEVERAL])
def test_a_journey_arrives_with_a_certificate_that_verifies(journey: Journey, tmp_path: Path) -> None:
    nodes = owners(journey)
    arrival = travel(nodes, journey, delta=1e-5)
    assert sorted(nodes.asked_for_steps[: journey.owners]) == sorted(nodes.contexts)
    assert nodes.asked_for_steps == nodes.asked_for_steps[: journey.owners] * journey.passes
    assert np.linalg.norm(arrival.model) <= journey.radius
    arrival.save(tmp_path / "released")
    assert sorted(path.name for path in (tmp_path / "released").iterdir()) == [
        "certificate.json",
        "journal.json",
        "model.npy",
    ]
    assert db.verify(tmp_path / "released" / "certificate.json")
    assert np.array_equal(np.load(tmp_path / "released" / "model.npy"), arrival.model)
    with pytest.raises(db.InvalidInputError, match="already exists"):
        arrival.save(tmp_path / "released")


def test_what_is_released_is_in_the_ball_and_rounded_to_a_millionth_of_its_noise() -> None:
    tight = replace(JOURNEY, radius=0.1)  # Nearly every model is at the end of this ball.
    for _ in range(10):
        model = travel(owners(tight), tight, delta=1e-5).model
        units = model / (tight.learning_rate * tight.gradient_noise) * 2**20
        assert 0.09 < np.linalg.norm(model) <= tight.radius
        assert np.array_equal(units, np.round(units))


@pytest.mark.parametrize("journey", [JOURNEY, SEVERAL])
def test_the_steps_of_the_journal_are_those_of_the_certified_run(journey: Journey, tmp_path: Path) -> None:
    travel(owners(journey), journey, delta=1e-5).save(tmp_path / "released")
    the_steps_are_those_of_the_run(tmp_path / "released")


def the_steps_are_those_of_the_run(released: Path) -> None:
    """The literal check, of the files alone: each step of the journal is that of the certified run."""
    steps = json.loads((released / "journal.json").read_text())
    run = json.loads((released / "certificate.json").read_text())["run"]
    records, order = run["run"]["records"], run["run"]["order"]
    first_pass = [step["owner"] for step in steps[:records]]
    assert len(set(first_pass)) == records
    assert order == ("once" if len(steps) == records else "cyclic")
    assert len(steps) == records * (run["run"]["epochs"] if order == "cyclic" else 1)
    assert run["run"]["release"] == "last" and run["run"]["neighbours"] == "replace-one"
    for index, step in enumerate(steps):
        assert step["step"] == index + 1
        assert step["owner"] == first_pass[index % records]
        assert step["learning_rate"] == run["update"]["learning-rate"]
        assert step["gradient_noise"] == run["update"]["gradient-noise"]
        steepest = 1 / (
            1 + math.exp(-step["radius"] * step["row_norm"])
        )  # the slope of the loss at the end of the ball
        assert step["row_norm"] * steepest == pytest.approx(run["update"]["lipschitz"], rel=1e-14)
        assert step["row_norm"] ** 2 / 4 == run["loss"]["smoothness"] and run["loss"]["convex"] is True
        assert 2 * step["radius"] == run["domain"]["diameter"]
        assert step["dimension"] == run["domain"]["dimension"]


def test_the_report_says_what_owners_the_public_and_the_server_learn() -> None:
    report = travel(owners(SEVERAL), SEVERAL, delta=1e-5).report
    seen = report.to_dict()["observers"]
    server = SEVERAL.against_server(1e-5).epsilon
    assert seen["owners"] == 4
    assert seen["local"]["epsilon"]["upper"] == pytest.approx(server, rel=1e-3)
    assert report.epsilon < 0.9 * server
    assert max(pair["epsilon"]["upper"] for pair in seen["pairs"]) <= server * (1 + 1e-3)


def test_only_one_pass_of_an_owner_hides_nothing_from_the_server() -> None:
    multiplier = JOURNEY.gradient_noise / JOURNEY.gradient_norm
    alone = db.Run(
        algorithm="composition",
        neighbours="replace-one",
        mechanism=[{"kind": "gaussian", "noise-multiplier": multiplier}],
    )
    assert JOURNEY.against_server(1e-5).epsilon == pytest.approx(db.account(alone, delta=1e-5).epsilon, rel=1e-3)


def errors(message: str) -> Callable[[Message], list[Message]]:
    return lambda reply: [Message(Error(code=2, reason=message), reply_to=reply)] if second(reply) else [reply]


def with_a_loss(reply: Message) -> Message:
    reply.content["loss"] = MetricRecord({"loss": 0.1})
    return reply


def emptied(reply: Message) -> Message:
    reply.content = RecordDict()
    return reply


def second(reply: Message) -> bool:
    return reply.metadata.group_id == "2"


TAMPERED: dict[str, Callable[[Message], list[Message]]] = {
    "drops out": lambda reply: [] if second(reply) else [reply],
    "fails": errors("row 17 is bad"),
    "answers twice": lambda reply: [reply, reply],
    "adds less noise": lambda reply: [altered(reply, gradient_noise=2.0)],
    "takes a longer step": lambda reply: [altered(reply, learning_rate=0.6)],
    "projects to another ball": lambda reply: [altered(reply, radius=3.0)],
    "takes another step": lambda reply: [altered(reply, number=3)] if second(reply) else [reply],
    "leaves the ball": lambda reply: [altered(reply, model=np.full(3, 2.0))],
    "sends NaN": lambda reply: [altered(reply, model=np.array([0.0, math.nan, 0.0]))],
    "sends single precision": lambda reply: [altered(reply, model=np.zeros(3, dtype=np.float32))],
    "sends another shape": lambda reply: [altered(reply, model=np.zeros(4))],
    "sends a loss too": lambda reply: [with_a_loss(reply)],
    "sends nothing": lambda reply: [emptied(reply)],
}


@pytest.mark.parametrize("case", TAMPERED)
def test_there_is_no_model_and_no_certificate_if_an_owner(case: str) -> None:
    nodes = owners(JOURNEY, TAMPERED[case])
    with pytest.raises(db.NoGuaranteeError) as refusal:
        travel(nodes, JOURNEY, delta=1e-5, timeout=0.5)
    assert "row 17" not in str(refusal.value)
    # Whoever is silent is asked again; otherwise the journey ends at once.
    assert len(set(nodes.asked_for_steps)) <= 2
    assert len(nodes.asked_for_steps) <= 2 or case == "drops out"


def test_an_answer_in_the_name_of_another_owner_is_refused() -> None:
    def as_another(reply: Message) -> list[Message]:
        other = 1_000_003 if reply.metadata.src_node_id != 1_000_003 else 2_000_006
        asked = Message(RecordDict(), dst_node_id=other, message_type="train")
        return [Message(reply.content, reply_to=asked)]

    with pytest.raises(db.NoGuaranteeError):
        travel(owners(JOURNEY, as_another), JOURNEY, delta=1e-5)


@pytest.mark.parametrize("count", [3, 5])
def test_nobody_is_asked_if_not_all_owners_are_there_or_others_too(count: int) -> None:
    nodes = owners(JOURNEY)
    nodes.contexts = owners(replace(JOURNEY, owners=count)).contexts
    with pytest.raises(db.NoGuaranteeError, match=f"{count} owners"):
        travel(nodes, JOURNEY, delta=1e-5, timeout=0.1)
    assert nodes.asked == []


def test_nobody_is_asked_if_there_is_no_guarantee() -> None:
    nodes = owners(JOURNEY)
    with pytest.raises(db.NoGuaranteeError):
        travel(nodes, JOURNEY, delta=0.0)
    assert nodes.asked == []


def test_a_second_journey_in_the_same_run_is_the_same_journey_or_is_refused() -> None:
    nodes = owners(JOURNEY)
    first, second = (travel(nodes, JOURNEY, delta=1e-5) for _ in range(2))
    assert np.array_equal(first.model, second.model)  # Every owner answered from their logbook.
    nodes = owners(SEVERAL)
    travel(nodes, SEVERAL, delta=1e-5)
    with pytest.raises(db.NoGuaranteeError):
        travel(nodes, SEVERAL, delta=1e-5)


def moved(nodes: Nodes, node: int) -> None:
    """The node comes back, with its logbook, as another node of Flower."""
    nodes.contexts[node + 7] = nodes.contexts.pop(node)


def the_model_of(reply: Message) -> bytes:
    return bytes(reply.content.array_records["model"].to_numpy_ndarrays()[0].tobytes())


@pytest.mark.parametrize("code", [None, 3, 4, 5, 8])
@pytest.mark.parametrize("comes_back_as_another", [False, True])
def test_an_owner_whose_node_was_killed_answers_as_before_and_the_journey_goes_on(
    code: int | None, comes_back_as_another: bool
) -> None:
    """The server gets nothing, or an error of Flower, in place of the answers to two steps; then it asks again."""
    nodes = owners(SEVERAL)
    answers: dict[str, list[bytes]] = {}

    def killed(reply: Message) -> list[Message]:
        step = reply.metadata.group_id
        if step == "greeting":
            return [reply]
        answers.setdefault(step, []).append(the_model_of(reply))
        if step not in ("2", "7") or len(answers[step]) > 1:
            return [reply]
        if comes_back_as_another:
            moved(nodes, reply.metadata.src_node_id)
        return [] if code is None else [Message(Error(code=code, reason="gone"), reply_to=reply)]

    nodes.tamper = killed
    arrival = travel(nodes, SEVERAL, delta=1e-5, timeout=20.0)
    assert {step: len(models) for step, models in answers.items() if len(models) > 1} == {"2": 2, "7": 2}
    assert all(len(set(models)) == 1 for models in answers.values())
    assert arrival.report.epsilon == SEVERAL.against_public(1e-5).epsilon
    assert [stop.number for stop in arrival.journal] == list(range(1, SEVERAL.steps + 1))


def test_logbooks_count_the_steps_of_failed_journeys_too_and_none_that_was_only_planned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One owner falls silent in the second pass. Whatever the server was sent is in the logbooks; then there is another
    journey, which arrives."""
    seen: set[tuple[int, int, bytes]] = set()
    run = 1

    def spied(reply: Message) -> list[Message]:
        if reply.metadata.group_id == "greeting":
            return [reply]
        seen.add((run, int(reply.metadata.group_id), the_model_of(reply)))
        return [] if (run, reply.metadata.group_id) == (1, "7") else [reply]

    nodes = owners(SEVERAL)
    nodes.tamper = spied
    with pytest.raises(db.NoGuaranteeError, match="step 7"):
        travel(nodes, SEVERAL, delta=1e-5, timeout=0.5)
    assert sorted(book.steps for book in nodes.logbooks) == [1, 2, 2, 2]
    run = 2
    monkeypatch.setattr(TaskIdentity, "_run_id", 2)
    travel(nodes, SEVERAL, delta=1e-5)
    assert sum(book.steps for book in nodes.logbooks) == len(seen) == 7 + 12
    for book in nodes.logbooks:
        (mechanism,) = book.run.to_dict()["mechanism"]
        assert mechanism["count"] == book.steps in (4, 5)
        assert db.verify(book.report(1e-5).certificate())


def test_somebody_who_comes_while_an_owner_is_silent_takes_no_step() -> None:
    nodes = owners(JOURNEY)
    stranger = 9_000_027
    silent: list[Message] = []

    def tamper(reply: Message) -> list[Message]:
        if second(reply) and not silent:
            silent.append(reply)
            nodes.contexts[stranger] = Context(1, 9, {"partition-id": 9}, RecordDict(), {})
            return []
        return [reply]

    nodes.tamper = tamper
    travel(nodes, JOURNEY, delta=1e-5, timeout=20.0)
    assert nodes.asked.count(stranger) == 1  # It was greeted, and no more.


def test_two_nodes_with_one_logbook_are_one_owner_and_nobody_takes_a_step(tmp_path: Path) -> None:
    app = ClientApp()

    @app.train()
    def train(message: Message, _: Context) -> Message:
        return take_step(message, Logbook(tmp_path / "logbook"), JOURNEY, *rows(1))

    with pytest.raises(db.NoGuaranteeError, match="one logbook"):
        travel(Nodes(app, JOURNEY.owners), JOURNEY, delta=1e-5)
    assert Logbook(tmp_path / "logbook").steps == 0


def test_nobody_takes_a_step_if_an_owner_did_not_agree_to_the_journey() -> None:
    nodes = owners(replace(JOURNEY, gradient_noise=5.0))
    with pytest.raises(db.NoGuaranteeError, match="did not agree"):
        travel(nodes, JOURNEY, delta=1e-5)
    assert nodes.asked_for_steps == []


def journal(journey: Journey, order: list[int]) -> list[Stop]:
    return [Stop(index + 1, str(owner), journey) for index, owner in enumerate(order)]


def test_a_journal_that_is_not_one_whole_journey_is_not_certified() -> None:
    good = journal(SEVERAL, [7, 5, 9, 2] * 3)
    assert certify(good, 1e-5).epsilon == SEVERAL.against_public(1e-5).epsilon
    quieter = replace(SEVERAL, gradient_noise=3.0)
    refused = {
        "nothing": [],
        "stopped early": good[:-1],
        "stopped after a pass": good[:4],
        "a step more": [*good, Stop(13, "7", SEVERAL)],
        "another order in the last pass": journal(SEVERAL, [7, 5, 9, 2] * 2 + [5, 7, 9, 2]),
        "an owner left out": journal(SEVERAL, [7, 5, 9, 7] * 3),
        "an owner more": journal(SEVERAL, [7, 5, 9, 2] * 2 + [7, 5, 9, 3]),
        "an owner asked twice": journal(JOURNEY, [7, 7, 9, 2]),
        "steps that changed places": [good[1], good[0], *good[2:]],
        "a step that counts twice": [*good[:-1], Stop(11, "2", SEVERAL)],
        "less noise in one step": [*good[:-1], Stop(12, "2", quieter)],
    }
    for steps in refused.values():
        with pytest.raises(db.NoGuaranteeError):
            certify(steps, 1e-5)


# ------------------------------------------------------------------------------------------------------ an owner's step


def ask(journey: Journey, message: Message, book: Logbook, data: tuple[Any, Any]) -> Message:
    return take_step(message, book, journey, *data)


REFUSED: dict[str, Callable[[], Message]] = {
    "with less noise": lambda: question(1, replace(JOURNEY, gradient_noise=1.0)),
    "with longer rows": lambda: question(1, replace(JOURNEY, row_norm=9.0)),
    "more often": lambda: question(1, replace(JOURNEY, passes=9)),
    "for a step that does not exist": lambda: question(5),
    "for step 0": lambda: question(0),
    "from a model outside of the ball": lambda: question(1, model=np.array([2.0, 1.0, 0.0])),
    "from a model that is not a number": lambda: question(1, model=np.full(3, math.nan)),
    "from a model in single precision": lambda: question(1, model=np.zeros(3, dtype=np.float32)),
    "for something else too": lambda: question(1, extra=ConfigRecord({"send": "rows"})),
    "for the step of somebody else": lambda: question(1, book=a_new_logbook()),
    "who they are, about another journey": lambda: Message(
        messages.greeting(replace(JOURNEY, gradient_noise=1.0)), dst_node_id=1_000_003, message_type="train"
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_owner_is_not_asked(case: str) -> None:
    with pytest.raises(db.InvalidInputError):
        ask(JOURNEY, REFUSED[case](), a_logbook(), rows(1))
    assert a_logbook().steps == 0


def test_an_owner_takes_each_of_their_steps_once_and_in_turn() -> None:
    book = a_new_logbook()

    def refused(number: int, model: Any = None) -> None:
        with pytest.raises(db.InvalidInputError):
            ask(SEVERAL, question(number, SEVERAL, model, book), book, rows(1))

    refused(6)  # the second pass before the first
    ask(SEVERAL, question(2, SEVERAL, book=book), book, rows(1))
    refused(2, np.ones(3))  # the same step, from another model
    for number in (1, 3, 10):
        refused(number)
    ask(SEVERAL, question(6, SEVERAL, book=book), book, rows(1))
    refused(2)
    ask(SEVERAL, question(10, SEVERAL, book=book), book, rows(1))
    refused(6)
    assert book.steps == 3


ODD_ROWS: dict[str, tuple[Any, Any]] = {
    "NaN": (np.full((2, 3), math.nan), [0, 1]),
    "infinity": ([[math.inf, 0, 0], [-math.inf, 1, 1]], [0, 1]),
    "huge numbers": (np.full((2, 3), 1e308), [0, 1]),
    "tiny numbers": (np.full((2, 3), 1e-320), [0, 1]),
    "no rows": (np.zeros((0, 3)), []),
    "no numbers": ([["a", "b", "c"]], [0]),
    "other columns": (np.zeros((2, 5)), [0, 1]),
    "rows of different lengths": ([[1.0], [1.0, 2.0]], [0, 1]),
    "too few labels": (np.zeros((2, 3)), [0]),
    "labels that are NaN": (np.ones((2, 3)), [math.nan, math.nan]),
    "None": (None, None),
    "integers without end": ([[10**400, 0, 0]], [1]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", ODD_ROWS)
def test_rows_stop_nothing_and_are_never_longer_than_agreed_if_they_hold(case: str) -> None:
    book = a_new_logbook()
    reply = ask(JOURNEY, question(1, book=book), book, ODD_ROWS[case])
    assert set(reply.content) == {"model", "step"}
    assert dict(reply.content.config_records["step"]) == dict(
        question(1, book=book).content.config_records["step"]
    )
    (model,) = reply.content.array_records["model"].to_numpy_ndarrays()
    assert np.linalg.norm(model) <= JOURNEY.radius
    used = steps._signed_rows(JOURNEY, *ODD_ROWS[case])
    assert np.linalg.norm(used, axis=1).max() <= JOURNEY.row_norm
    assert used.any() == (case in ("huge numbers", "tiny numbers"))


@pytest.fixture
def without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_gaussian", np.zeros)


def neighbouring_rows(seed: int) -> Iterator[tuple[Any, Any]]:
    made_up = np.random.default_rng(seed)
    for scale in (1e-3, 1.0, 1e3):
        yield scale * made_up.normal(size=(7, 3)), made_up.integers(0, 2, size=7)
    yield 100 * np.ones((1, 3)), [1]
    yield 100 * np.ones((1, 3)), [0]


@pytest.mark.usefixtures("without_noise")
def test_an_owner_moves_the_model_no_further_than_the_run_says() -> None:
    free = replace(JOURNEY, radius=100.0)
    made_up = np.random.default_rng(3)
    for model in (np.zeros(3), *made_up.normal(size=(20, 3)), *10 * made_up.normal(size=(20, 3))):
        moved = [steps._noisy_step(model, free, *data) for data in neighbouring_rows(5)]
        apart = max(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(moved, 2))
        assert apart <= 2 * free.learning_rate * free.gradient_norm


@pytest.mark.usefixtures("without_noise")
def test_a_gradient_is_as_long_as_the_run_says_at_the_end_of_the_ball_and_no_longer() -> None:
    row = 100 * np.ones((1, 3))
    model = np.full(3, -JOURNEY.radius / math.sqrt(3)) * (1 - 1e-12)
    moved = steps._noisy_step(model, replace(JOURNEY, learning_rate=1e-3, gradient_noise=1e3), row, [1]) - model
    assert JOURNEY.gradient_norm * (1 - 1e-6) <= np.linalg.norm(moved) / 1e-3 <= JOURNEY.gradient_norm


@pytest.mark.usefixtures("without_noise")
def test_a_step_on_the_same_rows_brings_models_no_further_apart() -> None:
    made_up = np.random.default_rng(4)
    for rate in (0.1, 0.5, 8.0):  # 2/β is 8
        journey = replace(JOURNEY, learning_rate=rate)
        for data in neighbouring_rows(6):
            for one, two in made_up.normal(size=(50, 2, 3)):
                apart = np.linalg.norm(
                    steps._noisy_step(one, journey, *data) - steps._noisy_step(two, journey, *data)
                )
                assert apart <= np.linalg.norm(one - two) * (1 + 1e-12)


@pytest.mark.usefixtures("without_noise")
def test_a_step_is_one_of_logistic_regression() -> None:
    features, labels = rows(1)
    features = features / 10
    model, tiny = np.array([0.3, -0.2, 0.1]), 1e-6

    def loss(w: Any) -> float:
        return float(np.mean(np.log1p(np.exp(-np.where(labels > 0, 1, -1) * (features @ w)))))

    gradient = np.array([(loss(model + tiny * unit) - loss(model - tiny * unit)) / (2 * tiny) for unit in np.eye(3)])
    assert steps._noisy_step(model, JOURNEY, features, labels) == pytest.approx(model - 0.5 * gradient, abs=1e-9)


def test_the_noise_is_standard_gaussian_and_no_seed_repeats_it() -> None:
    drawn = []
    for _ in range(2):
        np.random.seed(1)
        random.seed(1)
        drawn.append(steps._gaussian(20_000))
    assert not np.array_equal(drawn[0], drawn[1])
    both = np.concatenate(drawn)
    # Six standard errors of the mean, the variance, and the share beyond one and two deviations.
    assert abs(both.mean()) < 6 / math.sqrt(40_000)
    assert abs(both.var() - 1) < 6 * math.sqrt(2 / 40_000)
    for bound, share in ((1.0, 0.3173105), (2.0, 0.0455003)):
        assert abs((np.abs(both) > bound).mean() - share) < 6 * math.sqrt(share * (1 - share) / 40_000)
    assert abs((drawn[0] * drawn[1]).mean()) < 6 / math.sqrt(20_000)


def test_the_deviation_of_a_step_is_that_of_the_run() -> None:
    journey = Journey(owners=1, dimension=20_000, learning_rate=0.5, gradient_noise=3.0, radius=1e6)
    model = steps._noisy_step(np.zeros(20_000), journey, np.zeros((1, 20_000)), [1])
    assert model.std() == pytest.approx(1.5, rel=6 / math.sqrt(40_000))


class Line:
    """A journey in one dimension, literally: the law of the model on a grid, and what the ball cuts off at its ends."""

    def __init__(self, journey: Journey, cells: int = 400) -> None:
        self.journey = journey
        self.points = np.linspace(-journey.radius, journey.radius, cells)
        self.edges = np.concatenate([[-np.inf], (self.points[1:] + self.points[:-1]) / 2, [np.inf]])
        self.kernels = {row: self.kernel(row) for row in (-1.0, 0.0, 1.0)}

    def kernel(self, row: float) -> Any:
        gradient = -row / (1 + np.exp(row * self.points))
        means = self.points - self.journey.learning_rate * gradient
        deviation = self.journey.learning_rate * self.journey.gradient_noise
        below = np.vectorize(math.erf)((self.edges[np.newaxis] - means[:, np.newaxis]) / (deviation * math.sqrt(2)))
        return np.diff(below, axis=1) / 2

    def law(self, rows: Iterable[float]) -> Any:
        """The law of the last model, if the owners have these rows; the first model is 0."""
        middle = len(self.points) // 2
        law = np.zeros(len(self.points))
        law[middle - 1 : middle + 1] = 0.5
        for row in [*rows] * self.journey.passes:
            law = law @ self.kernels[row]
        return law

    def delta(self, owner: int, epsilon: float) -> float:
        """The largest δ between two rows of an owner, whatever the rows of the others."""
        worst = 0.0
        for others in itertools.product((-1.0, 0.0, 1.0), repeat=self.journey.owners - 1):
            one, two = (self.law([*others[: owner - 1], row, *others[owner - 1 :]]) for row in (-1.0, 1.0))
            worst = max(
                worst, *(float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in ((one, two), (two, one)))
            )
        return worst


LINE = Journey(owners=2, dimension=1, learning_rate=0.5, gradient_noise=2.0, radius=1.5)


@pytest.mark.parametrize(
    "journey", [LINE, replace(LINE, passes=3), replace(LINE, owners=4, learning_rate=8.0, radius=30.0)]
)
def test_the_account_of_an_owner_is_never_below_the_exact_law_of_the_journey(journey: Journey) -> None:
    line = Line(journey)
    for owner in (1, journey.owners):
        for epsilon in (0.0, 0.3, 1.0):
            accounted = db.account(journey.run.replace(record=owner), epsilon=epsilon).delta
            assert accounted >= line.delta(owner, epsilon) * (1 - 1e-3)


def test_the_steps_that_owners_take_have_that_law() -> None:
    line, journeys = Line(LINE), 4000
    law = line.law([1.0, -1.0])
    models = np.zeros(journeys)
    for index in range(journeys):
        model = np.zeros(1)
        for features in ([[7.0]], [[-7.0]]):
            model = steps._noisy_step(model, LINE, features, [1])
        models[index] = model[0]
    for bound in (-1.4, -0.5, 0.0, 0.5, 1.4):
        share = float(law[line.points <= bound].sum())
        assert abs((models <= bound).mean() - share) < 6 * math.sqrt(share * (1 - share) / journeys) + 5e-3


def test_a_journey_that_cannot_be_is_refused() -> None:
    for change in (
        {"owners": 0}, {"owners": True}, {"owners": 2.0}, {"passes": 0}, {"dimension": -1}, {"learning_rate": 0.0},
        {"gradient_noise": math.nan}, {"gradient_noise": True}, {"radius": math.inf}, {"row_norm": "1"},
        {"radius": 1e12}, {"learning_rate": 1e60},
    ):  # fmt: skip
        with pytest.raises(db.InvalidInputError, match=next(iter(change))):
            replace(JOURNEY, **change)


def test_a_journey_is_read_from_the_configuration_of_an_app() -> None:
    config = {
        "owners": 4,
        "dimension": 3,
        "learning-rate": 0.5,
        "gradient-noise": 4.0,
        "radius": 2.0,
        "output": "elsewhere",
    }
    assert Journey.from_config(config) == JOURNEY
    with pytest.raises(db.InvalidInputError, match="gradient_noise"):
        Journey.from_config({key: value for key, value in config.items() if key != "gradient-noise"})


# ---------------------------------------------------------------------------------------------------------- the example


def test_the_example_runs_in_flower_and_its_certificate_verifies(tmp_path: Path) -> None:
    """The commands of examples/flower/README.md, with a SuperLink of our own, so that it can be stopped."""
    if os.environ.get("CI") != "true":
        pytest.importorskip("ray")
    http, control, released = str(free_port()), str(free_port()), tmp_path / "released"
    local = {
        **environment(tmp_path),
        "FLWR_LOCAL_SUPERLINK_HTTP_API_PORT": http,
        "FLWR_LOCAL_CONTROL_API_PORT": control,
    }
    superlink = subprocess.Popen(
        [
            "flower-superlink", "--insecure", "--simulation", "--isolation", "subprocess",
            "--control-api-address", f"127.0.0.1:{control}", "--host", "127.0.0.1", "--port", http,
        ],
        env=local, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        answers(f"http://127.0.0.1:{http}/health", within=30)
        run = subprocess.run(
            [
                "flwr", "run", str(ROOT / "examples" / "flower"), "local", "--stream",
                "--run-config", f'output="{released}"', "--federation-config", "num-supernodes=10",
            ],
            env=local, capture_output=True, text=True, timeout=80,
        )  # fmt: skip
    finally:
        superlink.terminate()
        superlink.wait(timeout=20)
    assert (released / "model.npy").exists(), run.stdout + run.stderr
    assert np.load(released / "model.npy").shape == (3,)
    assert len(json.loads((released / "journal.json").read_text())) == 30
    assert db.verify(released / "certificate.json")
    the_steps_are_those_of_the_run(released)
    assert sorted(Logbook(path).steps for path in tmp_path.glob("owner-*.logbook")) == [3] * 10
    readme = (ROOT / "examples" / "flower" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"```text\n(.*?)```", readme, flags=re.DOTALL)[0] in run.stdout


def test_the_examples_in_the_docstrings_are_true() -> None:
    for module in (
        flower,
        dobrushin._flower.accountant,
        dobrushin._flower.journey,
        dobrushin._flower.logbook,
    ):
        assert doctest.testmod(module).failed == 0
        assert doctest.testmod(module).attempted > 0
