"""How near ε of random allocation is enclosed, and how fast, beside PLD_accounting (Feldman and Shenfeld).

    pip install . "PLD-accounting[performance]"
    python benches/python/allocation.py

In each pass every record is used in one of m steps, drawn uniformly, and every step is seen: Gaussian noise, δ = 1e-5,
add-or-remove-one. Both accountants answer with bounds from below and above, at the accuracy that they choose themselves.
They take turns, so that whatever else the machine does slows both; seconds are medians. The first call of each, which
compiles, is not counted. It is an error if the two intervals have no number in common.
"""

from __future__ import annotations

import statistics
import time

from PLD_accounting import gaussian_allocation_epsilon_range, has_numba

import dobrushin as db

REPEATS = 5
DELTA = 1e-5
#: The noise multiplier, the number of batches of a pass, and the number of passes.
SETTINGS = [(1.0, 100, 1), (1.0, 100, 10), (0.5, 100, 1), (2.0, 100, 10), (1.0, 1000, 1)]

Bounds = tuple[float, float]


def ours(noise: float, batches: int, passes: int) -> Bounds:
    run = db.Run(
        algorithm="dp-sgd",
        records=100 * batches,
        batch_size=100,
        epochs=passes,
        order="allocation",
        release="all",
        neighbours="add-or-remove-one",
        clip_norm=1.0,
        noise_multiplier=noise,
    )
    found = db.account(run, delta=DELTA, analyses="composition", floor=False).guarantee
    if found is None:
        raise SystemExit(f"there is no guarantee for {noise}, {batches}, {passes}")
    return found.epsilon.lower, found.epsilon.upper


def theirs(noise: float, batches: int, passes: int) -> Bounds:
    upper, lower = gaussian_allocation_epsilon_range(delta=DELTA, sigma=noise, num_steps=batches, num_epochs=passes)
    return lower, upper


def main() -> None:
    print(f"PLD_accounting {'with' if has_numba() else 'WITHOUT'} numba; δ = {DELTA}, {REPEATS} calls of each")
    print("noise  batches  passes  ours                  seconds  PLD_accounting        seconds")
    for function in (ours, theirs):
        function(1.0, 10, 1)
    for setting in SETTINGS:
        seconds: list[list[float]] = [[], []]
        bounds: list[Bounds] = []
        for _ in range(REPEATS):
            bounds = []
            for function, times in zip((ours, theirs), seconds, strict=True):
                start = time.perf_counter()
                bounds.append(function(*setting))
                times.append(time.perf_counter() - start)
        (our_lower, our_upper), (their_lower, their_upper) = bounds
        if max(our_lower, their_lower) > min(our_upper, their_upper):
            raise SystemExit(f"{setting}: ours is {bounds[0]} and theirs is {bounds[1]}, so one of them is wrong")
        inside = their_lower <= our_lower and our_upper <= their_upper
        noise, batches, passes = setting
        print(
            f"{noise:<5}  {batches:<7}  {passes:<6}  [{our_lower:.6f}, {our_upper:.6f}]  "
            f"{statistics.median(seconds[0]):<7.3f}  [{their_lower:.6f}, {their_upper:.6f}]  "
            f"{statistics.median(seconds[1]):<7.2f}  {'inside' if inside else 'NOT inside'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
