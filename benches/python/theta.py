"""θ on a million points against SciPy's textbook formula, in one process, and one θ from Python.

usage: python benches/python/theta.py
"""

from __future__ import annotations

import os
import statistics
import time
import timeit
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

import dobrushin as db

POINTS = 1_000_000
ROUNDS = 15


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    random = np.random.default_rng(1)
    sets = {
        "everyday: ε ≤ 10, r in [0.01, 5]": (random.uniform(0, 10, POINTS), 10 ** random.uniform(-2, 0.7, POINTS)),
        "small steps: ε ≤ 0.1, r in [1e-4, 0.1]": (random.uniform(0, 0.1, POINTS), 10 ** random.uniform(-4, -1, POINTS)),
    }
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of {ROUNDS} interleaved rounds")
    print(f"{'nanoseconds a point':42}{'θ':>8}{'norm.cdf':>10}{'ratio':>7}{'ndtr':>8}{'ratio':>7}")
    for name, (epsilon, r) in sets.items():
        gamma = np.exp(epsilon)
        ways: list[Callable[[], object]] = [
            lambda: db.theta(epsilon, r),
            lambda: norm.cdf(r / 2 - np.log(gamma) / r) - gamma * norm.cdf(-r / 2 - np.log(gamma) / r),
            lambda: ndtr(r / 2 - np.log(gamma) / r) - gamma * ndtr(-r / 2 - np.log(gamma) / r),
        ]
        times = [[seconds(way) for way in ways] for _ in range(ROUNDS)]
        ours, usual, special = (statistics.median(column) * 1e9 / POINTS for column in zip(*times, strict=True))
        print(f"{name:42}{ours:8.1f}{usual:10.1f}{usual / ours:7.2f}{special:8.1f}{special / ours:7.2f}")
    calls = 200_000
    one = min(timeit.repeat(lambda: db.theta(1.0, 1.0), number=calls, repeat=5)) / calls
    nothing = min(timeit.repeat(lambda: float(1.0), number=calls, repeat=5)) / calls
    print(f"one θ from Python: {(one - nothing) * 1e9:.0f} ns")


if __name__ == "__main__":
    main()
