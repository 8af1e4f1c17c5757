"""Whatever is given, the answer is right or one of our exceptions; long work stops; forks and threads work."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import dobrushin as db

RUN = db.Run(
    algorithm="dp-sgd",
    records=10_000,
    batch_size=100,
    steps=50,
    order="poisson",
    neighbours="add-or-remove-one",
    clip_norm=1.0,
    noise_multiplier=1.0,
)
# Hidden states at ten thousand points: this takes many minutes.
SLOW = """
import dobrushin as db
run = db.Run(algorithm="dp-sgd", records=30_000, batch_size=512, order="without-replacement", clip_norm=1.0,
             learning_rate=0.5, noise_multiplier=8.0, convex=True, smoothness=0.25, generalised_linear=True, diameter=10.0,
             weight_decay=0.001, release="last")
"""
LONG_WORK = 'db.curve(run, "steps=1000..20000", points=10_000, delta=1e-5)'

scalars: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([5e-324, 1e308, -0.0, 2**63, -(2**63) - 1, 10**400, float("nan")]),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.complex_numbers(),
    st.just(np.float32("nan")),
    st.just(np.array([1.0, 2.0])),
    st.just(object()),
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3), max_leaves=6)
KEYS = [
    "algorithm", "records", "steps", "epochs", "batch-size", "sampling-probability", "order", "release", "neighbours",
    "record", "learning-rate", "clip-norm", "lipschitz", "noise", "noise-multiplier", "gradient-noise", "iterate-noise",
    "weight-decay", "divide-by", "convex", "smoothness", "strong-convexity", "generalised-linear", "diameter",
    "dimension", "delta", "epsilon", "public-steps", "tasks", "incomplete-batch", "mechanism", "step", "task", "model",
]  # fmt: skip
WORDS = ["dp-sgd", "pnsgd", "gradient-descent", "online", "chain", "composition", "poisson", "full", "shuffled", "cyclic",
         "once", "last", "all", "any", "worst", "replace-one", "zero-out", "gaussian", "laplace"]  # fmt: skip
likely = st.one_of(values, st.sampled_from(WORDS), st.integers(0, 50), st.floats(0.01, 10.0))
quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def answered_or_refused(call: Any) -> None:
    try:
        value = call()
    except db.DobrushinError as error:
        assert isinstance(error, ValueError | RuntimeError)
        assert not isinstance(error, db.InternalError), error
        assert str(error)
        return
    assert value == value, "no NaN leaves"


@quick
@given(st.dictionaries(st.text(max_size=8) | st.sampled_from(["run", "update", "loss", "domain", "target", "mechanism"]),
                       st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=6) | st.integers(), likely, max_size=6) | values,
                       max_size=5))
def test_any_dict_is_a_run_or_refused(sections: dict[str, Any]) -> None:
    answered_or_refused(lambda: float(db.account(sections, delta=1e-5, analyses="closed-form")))


@quick
@given(st.dictionaries(st.sampled_from([key.replace("-", "_") for key in KEYS]), likely, max_size=3))
@example({"steps": 2**62, "records": 2**62})
@example({"noise_multiplier": 5e-324})
@example({"noise_multiplier": 1e308})
@example({"model": {"kind": "logistic", "schema": "/dev/null"}})
def test_any_keywords_change_a_run_or_are_refused(keys: dict[str, Any]) -> None:
    answered_or_refused(lambda: float(db.account(RUN.replace(**keys), delta=1e-5, analyses=["closed-form", "composition"])))


@quick
@given(scalars, scalars, scalars)
def test_any_target_is_met_or_refused(epsilon: Any, delta: Any, tolerance: Any) -> None:
    answered_or_refused(lambda: float(db.account(RUN, epsilon=epsilon, delta=delta, tolerance=tolerance)))
    answered_or_refused(lambda: float(db.calibrate(RUN, "steps", epsilon=epsilon, delta=delta)))
    answered_or_refused(lambda: float(db.calibrate(RUN, advantage=epsilon, tpr=delta, fpr=tolerance)))


@settings(max_examples=60, deadline=None)
@given(values, values, scalars)
@example([None], [], None)
def test_any_argument_is_used_or_refused(one: Any, other: Any, third: Any) -> None:
    for call in [
        lambda: db.Run(one),
        lambda: db.account(one, delta=other),
        lambda: db.account(RUN, delta=1e-5, analyses=one, orders=other),
        lambda: db.calibrate(RUN, one, epsilon=1, delta=1e-5),
        lambda: db.curve(RUN, one, delta=1e-5, points=third),
        lambda: db.curve(RUN, {"steps": one}, delta=1e-5),
        lambda: db.plan(records=one, epsilon=other, delta=third, dimension=2),
        lambda: db.plan(records=100, epsilon=1, delta=1e-6, label=one, order=other, schema=third),
        lambda: db.verify(one, model=other),
        lambda: db.explain(one),
        lambda: db.Run.from_toml(one),
    ]:
        answered_or_refused(lambda call=call: call() is not None)


def test_what_is_nested_in_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["run"] = endless
    with pytest.raises(db.InvalidInputError, match="nested too deeply"):
        db.Run(endless)


def test_ctrl_c_stops_long_work_at_once() -> None:
    code = SLOW + """
print("begun", flush=True)
try:
    """ + LONG_WORK + """
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    before = time.monotonic()
    assert child.stdout.readline() == "stopped\n"
    assert time.monotonic() - before < 5
    child.wait(60)


def test_other_threads_go_on_during_long_work() -> None:
    code = SLOW + """
import threading, time
ticks = 0
def tick():
    global ticks
    while True:
        ticks += 1
        time.sleep(0.01)
threading.Thread(target=tick, daemon=True).start()
import signal
signal.alarm(2)
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    """ + LONG_WORK + """
except KeyboardInterrupt:
    pass
print(ticks, flush=True)
import os
os._exit(0)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert int(found.stdout) > 20


def test_threads_agree() -> None:
    expected = float(db.account(RUN, delta=1e-5))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: float(db.account(RUN, delta=1e-5)), range(16)))
    assert found == [expected] * 16
    assert threading.active_count() < 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forks_have_threads_of_their_own() -> None:
    expected = float(db.account(RUN, delta=1e-5))
    context = multiprocessing.get_context("fork")
    queue: Any = context.Queue()

    def child(depth: int) -> None:
        queue.put(float(db.account(RUN, delta=1e-5)))
        if depth:
            grandchild = context.Process(target=child, args=(depth - 1,))
            grandchild.start()
            grandchild.join(60)

    process = context.Process(target=child, args=(2,))
    process.start()
    assert [queue.get(timeout=60) for _ in range(3)] == [expected] * 3
    process.join(60)
    assert process.exitcode == 0
