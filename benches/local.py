"""Frequency oracles against multi-freq-ldpy, pure-ldp and NumPy by hand, side by side in one run.

A million people, 100 categories, ε = 1: everybody's answer is privatised, and the frequencies are estimated. We
draw from ChaCha20 seeded by the operating system, the others from generators that can be predicted. Million people a
second, the best of three runs; libraries that take one answer at a time get fewer people.

usage: local.py LOCAL_TIMES_EXECUTABLE
"""

import subprocess
import sys
import time

import numpy

PEOPLE, CATEGORIES, EPSILON = 1_000_000, 100, 1.0
FEW = 100_000


def answers(people):
    generator = numpy.random.default_rng(1)
    return generator.zipf(1.5, 4 * people).astype(numpy.int64)[: 4 * people] % CATEGORIES


def rate(people, work):
    best = float("inf")
    for _ in range(3):
        data = answers(people)[:people]
        start = time.perf_counter()
        estimate = work(data)
        best = min(best, time.perf_counter() - start)
    truth = numpy.bincount(data, minlength=CATEGORIES) / people
    assert numpy.abs(numpy.asarray(estimate) - truth).max() < 0.2, "the estimate is far off"
    return people / best / 1e6


def numpy_response(data):
    generator = numpy.random.default_rng()
    p = numpy.exp(EPSILON) / (numpy.exp(EPSILON) + CATEGORIES - 1)
    q = (1 - p) / (CATEGORIES - 1)
    other = generator.integers(0, CATEGORIES - 1, len(data))
    other += other >= data
    reports = numpy.where(generator.random(len(data)) < p, data, other)
    return (numpy.bincount(reports, minlength=CATEGORIES) / len(data) - q) / (p - q)


def numpy_unary(data):
    generator = numpy.random.default_rng()
    p, q = 0.5, 1 / (numpy.exp(EPSILON) + 1)
    counts = numpy.zeros(CATEGORIES)
    for chunk in numpy.array_split(data, max(1, len(data) // 20_000)):
        bits = generator.random((len(chunk), CATEGORIES), dtype=numpy.float32) < q
        bits[numpy.arange(len(chunk)), chunk] = generator.random(len(chunk)) < p
        counts += bits.sum(axis=0)
    return (counts / len(data) - q) / (p - q)


def multi_freq_response(data):
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client

    return GRR_Aggregator_MI([GRR_Client(value, CATEGORIES, EPSILON) for value in data], CATEGORIES, EPSILON)


def multi_freq_unary(data):
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    return UE_Aggregator_MI([UE_Client(value, CATEGORIES, EPSILON, True) for value in data], EPSILON, True)


def pure_response(data):
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer

    client, server = DEClient(EPSILON, CATEGORIES), DEServer(EPSILON, CATEGORIES)
    for value in data:
        server.aggregate(client.privatise(value + 1))
    return numpy.array(server.estimate_all(range(1, CATEGORIES + 1))) / len(data)


def pure_unary(data):
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    client = UEClient(EPSILON, CATEGORIES, use_oue=True)
    server = UEServer(EPSILON, CATEGORIES, use_oue=True)
    for value in data:
        server.aggregate(client.privatise(value + 1))
    return numpy.array(server.estimate_all(range(1, CATEGORIES + 1))) / len(data)


OTHERS = {
    "k-rr": [
        ("NumPy by hand", PEOPLE, numpy_response),
        ("multi-freq-ldpy", PEOPLE, multi_freq_response),
        ("pure-ldp", FEW, pure_response),
    ],
    "oue": [
        ("NumPy by hand", PEOPLE, numpy_unary),
        ("multi-freq-ldpy", FEW, multi_freq_unary),
        ("pure-ldp", FEW, pure_unary),
    ],
}


def main():
    printed = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout
    print(printed)
    ours = {}
    for line in printed.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0] in OTHERS:
            ours[words[0]] = float(words[1])
    print(f"{'mechanism':10} {'by':18} {'million people/s':>18} {'we are':>10}")
    for mechanism, others in OTHERS.items():
        print(f"{mechanism:10} {'dobrushin':18} {ours[mechanism]:18.2f}")
        for name, people, work in others:
            work(answers(100)[:100])
            found = rate(people, work)
            print(f"{mechanism:10} {name:18} {found:18.3f} {ours[mechanism] / found:9.1f}×")


if __name__ == "__main__":
    main()
