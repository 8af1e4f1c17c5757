"""One θ enclosure against SciPy's vectorised textbook formula, side by side in one run.

usage: theta_against_scipy.py THETA_SPEED_EXECUTABLE
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.special import ndtr

POINTS = 200_000
ROUNDS = 5
TAIL = np.array([(1.0, 1.0), (7.0, 0.9), (5.0, 0.5), (1e-7, 1e-8), (3e-12, 1e-12), (3e-16, 1e-16), (20.0, 0.5), (40.0, 1.0)])


def textbook(points):
    """Q(ε/r − r/2) − e^ε Q(ε/r + r/2)."""
    epsilon, r = points[:, 0], points[:, 1]
    return ndtr(r / 2 - epsilon / r) - np.exp(epsilon) * ndtr(-epsilon / r - r / 2)


def scipy_nanoseconds(points):
    best = np.inf
    for _ in range(30):
        start = time.perf_counter()
        textbook(points)
        best = min(best, time.perf_counter() - start)
    return best / len(points) * 1e9


def ours(executable, files):
    lines = subprocess.run([executable, *map(str, files)], check=True, capture_output=True, text=True).stdout.splitlines()
    times = {name: float(value) for name, value in (line.split() for line in lines if not line.startswith("value"))}
    values = [tuple(map(float, line.split()[1:])) for line in lines if line.startswith("value")]
    return times, values


def main():
    executable = sys.argv[1]
    random = np.random.default_rng(1)
    sets = {
        "everyday: ε ≤ 10, r in [0.01, 5]": np.column_stack([random.uniform(0, 10, POINTS), 10 ** random.uniform(-2, 0.7, POINTS)]),
        "small steps: ε ≤ 0.1, r in [1e-4, 0.1]": np.column_stack([random.uniform(0, 0.1, POINTS), 10 ** random.uniform(-4, -1, POINTS)]),
        "whole box: ε ≤ 700, r in [1e-8, 60]": np.column_stack([random.uniform(0, 700, POINTS), 10 ** random.uniform(-8, 1.778, POINTS)]),
    }
    with tempfile.TemporaryDirectory() as folder:
        tail_file = Path(folder) / "tail"
        TAIL.astype("<f8").tofile(tail_file)
        print(f"{'nanoseconds a point':42}{'SciPy':>8}{'θ':>8}{'ratio':>7}{'ln θ':>8}{'ratio':>7}")
        for name, points in sets.items():
            file = Path(folder) / "points"
            points.astype("<f8").tofile(file)
            theirs, theta, ln_theta = np.inf, np.inf, np.inf
            for _ in range(ROUNDS):
                theirs = min(theirs, scipy_nanoseconds(points))
                times, values = ours(executable, [file, tail_file])
                theta, ln_theta = min(theta, times["theta"]), min(ln_theta, times["ln_theta"])
            print(f"{name:42}{theirs:8.1f}{theta:8.1f}{theta / theirs:7.2f}{ln_theta:8.1f}{ln_theta / theirs:7.2f}")
    print(f"\n{'θ at':24}{'SciPy':>15}{'certified lower':>26}{'certified upper':>26}{'ln θ at most':>20}")
    for (epsilon, r), naive, (lower, upper, logarithm) in zip(TAIL, textbook(TAIL), values):
        print(f"{f'ε = {epsilon:g}, r = {r:g}':24}{naive:15.6e}{lower:26.16e}{upper:26.16e}{logarithm:20.10f}")


if __name__ == "__main__":
    main()
