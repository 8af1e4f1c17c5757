"""How long an account of DP-SGD takes from Python, and how long dp_accounting takes for it.

    pip install . dp-accounting
    python benches/python/accounting.py

The accountants take turns, so that whatever else the machine does slows all of them. Every answer is printed beside its
time.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable

from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, PrivacyAccountant
from dp_accounting.pld import PLDAccountant

import dobrushin as db
from dobrushin.accounting import HiddenStateAccountant

REPEATS = 15
NOISE, PROBABILITY, DELTA = 1.0, 0.01, 1e-5


def composed(make: Callable[[], PrivacyAccountant], steps: int) -> float:
    """ε by an accountant, from nothing to the answer."""
    event = PoissonSampledDpEvent(PROBABILITY, GaussianDpEvent(NOISE))
    return float(make().compose(event, steps).get_epsilon(DELTA))


def accounted(steps: int, tolerance: float | None) -> float:
    """ε by :func:`dobrushin.account`, within this tolerance or its own."""
    run = db.Run(
        algorithm="dp-sgd",
        records=60_000,
        sampling_probability=PROBABILITY,
        steps=steps,
        order="poisson",
        neighbours="add-or-remove-one",
        clip_norm=1.0,
        noise_multiplier=NOISE,
    )
    return float(db.account(run, delta=DELTA, tolerance=tolerance))


def measure(functions: dict[str, Callable[[], float]]) -> dict[str, tuple[float, float]]:
    """The median seconds and the answer of each, in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    answers: dict[str, float] = {}
    for _ in range(REPEATS):
        for name, function in functions.items():
            start = time.perf_counter()
            answers[name] = function()
            seconds[name].append(time.perf_counter() - start)
    return {name: (statistics.median(seconds[name]), answers[name]) for name in functions}


def main() -> None:
    """Prints the table."""
    print(f"noise multiplier {NOISE}, sampling probability {PROBABILITY}, delta {DELTA}; medians of {REPEATS}")
    print(f"{'steps':>7}  {'accountant':<23}  {'epsilon':>9}  {'seconds':>8}  times as fast as PLDAccountant")
    for steps in (100, 1000, 10_000, 100_000):
        found = measure(
            {
                "PLDAccountant": functools.partial(composed, PLDAccountant, steps),
                "HiddenStateAccountant": functools.partial(composed, HiddenStateAccountant, steps),
                "account": functools.partial(accounted, steps, None),
                "account, tolerance=1e-4": functools.partial(accounted, steps, 1e-4),
            }
        )
        theirs, _ = found["PLDAccountant"]
        for name, (seconds, epsilon) in found.items():
            print(f"{steps:>7}  {name:<23}  {epsilon:9.5f}  {seconds:8.5f}  {theirs / seconds:.1f}")


if __name__ == "__main__":
    main()
