"""The composition accountant against dp_accounting, prv_accountant, Opacus and OpenDP, side by side in one run.

Everything is DP-SGD: `steps` times the Gaussian mechanism on a Poisson sample (q = 1: on all records),
add-or-remove-one neighbours. Then what each of the others has, and single answers of theirs. Every row is a process of its own, stopped after two minutes or at 12 GB. Seconds are the
median over calls that took 3 s together, imports not counted, and the ratio is to our default; the
memory is the whole process's peak.

usage: accountants.py ACCOUNTANT_TIMES_EXECUTABLE RENYI_SETTINGS_EXECUTABLE
       accountants.py PEER TASK GIVEN Q STEPS DELTA [ERROR]      one row of a peer, as JSON
       accountants.py facts                                      what the others have
       accountants.py answer NAME                                one single answer
"""

import importlib.metadata
import inspect
import json
import math
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import types
import warnings
from pathlib import Path

SECONDS = 3
LONGEST = 120
MOST_MEMORY = 12 << 30

# The task, the noise multiplier (or ε, if the noise is wanted), q, steps, δ and the exact value where
# it is known: δ is a contour integral of the loss's moment generating function, through the saddle point.
TASKS = [
    ("epsilon", 1, 0.01, 1_000, 1e-5, 1.8282366665),
    ("epsilon", 1, 0.01, 10_000, 1e-5, 6.18771238997),
    ("epsilon", 1, 0.01, 100_000, 1e-5, 25.57310698652),
    ("epsilon", 1, 0.01, 1_000_000, 1e-5, 139.030272570),
    ("epsilon", 1, 0.01, 100_000, 1e-10, 34.6170215669),
    ("epsilon", 1, 0.01, 100_000, 1e-14, 40.226821674),
    ("epsilon", 1, 0.01, 10_000, 1e-20, 13.8797727167),
    ("epsilon", 0.03, 0.01, 100, 1e-5, None),
    ("epsilon", 1, 1e-9, 1_000_000_000, 1e-5, None),
    ("noise", 2, 0.004, 20_000, 1e-6, 1.446682923367),
    # Closed forms.
    ("epsilon", 20, 1, 1_000, 1e-5, 7.51127590074478),
    ("noise", 2, 1, 1_000, 1e-6, 70.5338528390847),
]

PEERS = ["dp_accounting", "prv_accountant", "opacus", "opendp"]

# The error in ε that prv_accountant is asked for, relatively; the others are asked for their default.
PRV_RELATIVE_ERROR = 1e-3

# We are also asked for an upper end about as near as the one of dp_accounting's default.
OUR_FINE_TOLERANCE = 1e-5


def dp_sgd_event(sigma, q, steps):
    import dp_accounting as dp

    return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(q, dp.GaussianDpEvent(sigma)), steps)


def dp_accounting_peer(task, given, q, steps, delta, _):
    from dp_accounting import calibrate_dp_mechanism
    from dp_accounting.pld import PLDAccountant

    if task == "epsilon":
        return lambda: PLDAccountant().compose(dp_sgd_event(given, q, steps)).get_epsilon(delta)
    return lambda: calibrate_dp_mechanism(PLDAccountant, lambda sigma: dp_sgd_event(sigma, q, steps), given, delta)


def prv_accountant_peer(task, given, q, steps, delta, error):
    from prv_accountant.dpsgd import DPSGDAccountant, find_noise_multiplier

    def epsilon():
        accountant = DPSGDAccountant(given, q, steps, eps_error=error, delta_error=delta / 1000)
        lower, _, upper = accountant.compute_epsilon(delta, steps)
        return lower, upper

    return epsilon if task == "epsilon" else lambda: find_noise_multiplier(q, steps, given, delta)


def opacus_accountants():
    """Opacus's accountants without the rest of it, which needs PyTorch."""
    folder = next(path for path in (Path(p) / "opacus" for p in sys.path) if path.is_dir())
    package, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    package.__path__, optimizers.DPOptimizer = [str(folder)], object
    sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
    import opacus.accountants.utils

    return opacus.accountants


def opacus_peer(task, given, q, steps, delta, _):
    accountants = opacus_accountants()

    def epsilon():
        accountant = accountants.PRVAccountant()
        accountant.history = [(given, q, steps)]
        return accountant.get_epsilon(delta)

    def noise():
        return accountants.utils.get_noise_multiplier(
            target_epsilon=given, target_delta=delta, sample_rate=q, steps=steps, accountant="prv"
        )

    return epsilon if task == "epsilon" else noise


def opendp_peer(task, given, q, steps, delta, _):
    import opendp.prelude as dp

    if q != 1:
        sys.exit("no Poisson sampling")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)

    def composed(sigma):
        steps_together = dp.c.make_composition([dp.m.make_gaussian(*space, scale=sigma)] * steps)
        return dp.c.make_zCDP_to_approxDP(steps_together)

    if task == "epsilon":
        return lambda: composed(given).map(1.0).epsilon(delta)
    fixed = lambda sigma: dp.c.make_fix_delta(composed(sigma), delta)
    return lambda: dp.binary_search_param(fixed, d_in=1.0, d_out=(given, delta))


def dp_accounting_renyi(settings):
    from dp_accounting.rdp import RdpAccountant

    def epsilon(sigma, q, steps, delta):
        return RdpAccountant().compose(dp_sgd_event(sigma, q, steps)).get_epsilon(delta)

    return lambda: [epsilon(*setting) for setting in settings]


def opacus_renyi(settings):
    accountants = opacus_accountants()

    def epsilon(sigma, q, steps, delta):
        accountant = accountants.RDPAccountant()
        accountant.history = [(sigma, q, steps)]
        return accountant.get_epsilon(delta)

    return lambda: [epsilon(*setting) for setting in settings]


def read_settings(path):
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return [(float(sigma), float(q), int(steps), float(delta)) for sigma, q, steps, delta in lines]


def write_settings(path):
    """1,000 settings, log-uniform."""
    generator = random.Random(1)

    def between(low, high):
        return math.exp(generator.uniform(math.log(low), math.log(high)))

    settings = [(between(0.5, 10), between(1e-4, 0.5), round(between(1, 1e6)), 1e-5) for _ in range(1000)]
    Path(path).write_text("".join(f"{sigma!r} {q!r} {steps} {delta}\n" for sigma, q, steps, delta in settings))


def peak_megabytes(process="self"):
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def one_row(peer, task, *numbers):
    """Times one peer on one task in this process."""
    warnings.simplefilter("ignore")
    if task == "renyi":
        call = {"dp_accounting": dp_accounting_renyi, "opacus": opacus_renyi}[peer](read_settings(numbers[0]))
    else:
        given, q, steps, delta, *error = map(float, numbers)
        peers = [dp_accounting_peer, prv_accountant_peer, opacus_peer, opendp_peer]
        call = peers[PEERS.index(peer)](task, given, q, int(steps), delta, error[0] if error else None)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    seconds = []
    while sum(seconds) < SECONDS:
        start = time.perf_counter()
        try:
            value = call()
        except MemoryError:
            print(json.dumps({"failure": "more than 12 GB", "peak_mb": peak_megabytes()}))
            return
        seconds.append(time.perf_counter() - start)
    row = {"first": seconds[0], "seconds": statistics.median(seconds), "peak_mb": peak_megabytes()}
    if task == "renyi":
        row["values"] = [float(epsilon) for epsilon in value]
    else:
        # A single value is meant as an upper bound.
        lower, upper = value if isinstance(value, tuple) else (None, value)
        row |= {"lower": lower if lower is None else float(lower), "upper": float(upper)}
    print(json.dumps(row))


def row_of(command):
    """What a process says of itself, or why it did not."""
    command = [str(part) for part in command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            output, errors = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            peak = peak_megabytes(process.pid)
            process.kill()
            return {"failure": f"more than {LONGEST} s", "peak_mb": peak}
    if process.returncode == 0:
        return json.loads(output.splitlines()[-1])
    last = (errors.strip().splitlines() or [f"exit status {process.returncode}"])[-1]
    return {"failure": last[:40]}


def describe(task, given, q, steps, delta):
    wanted = f"ε of σ = {given:g}" if task == "epsilon" else f"σ for ε = {given:g}"
    return f"{wanted}, q = {q:g}, T = {steps:.0e}, δ = {delta:g}".replace("e+0", "e").replace("e-0", "e-")


def number(value):
    return "" if value is None else f"{value:.9g}"


def print_row(who, row, ours, exact=None):
    if "failure" in row:
        print(f"  {who:28}{row['failure']:>42}{'':34}{row.get('peak_mb', math.nan):9.0f}".replace("nan", "   "))
        return
    times_ours = row["seconds"] / ours["seconds"] if "seconds" in ours else math.nan
    # An upper bound below the truth promises too much.
    verdict = "" if exact is None or row["upper"] >= exact * (1 - 1e-9) else "TOO SMALL"
    print(
        f"  {who:28}{number(row['lower']):>14}{number(row['upper']):>14} {verdict:9}"
        f"{row['first']:14.3g}{row['seconds']:12.3g}{times_ours:12.1f}{row['peak_mb'] or math.nan:9.0f}"
    )


def compare_compositions(accountant_times):
    print(f"  {'':28}{'lower':>14}{'upper':>14} {'':9}{'first call s':>14}{'median s':>12}{'ratio':>12}{'peak MB':>9}")
    for task, given, q, steps, delta, exact in TASKS:
        setting = [given, q, steps, delta]
        truth = "" if exact is None else f": {exact:.12g}"
        print(describe(task, *setting) + truth, flush=True)
        ours = row_of([accountant_times, task, *setting])
        print_row("ours", ours, ours, exact)
        if task == "epsilon":
            fine = row_of([accountant_times, task, *setting, OUR_FINE_TOLERANCE])
            print_row(f"ours, tolerance {OUR_FINE_TOLERANCE:g}", fine, ours, exact)
        for peer in PEERS:
            error = PRV_RELATIVE_ERROR * (exact or ours.get("upper", 1.0))
            print_row(peer, row_of([sys.executable, __file__, peer, task, *setting, error]), ours, exact)
            sys.stdout.flush()


def ratio(theirs, mine):
    return theirs / mine if mine > 0 else 1.0 if theirs <= 0 else math.inf


def compare_renyi(renyi_settings):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "settings"
        write_settings(file)
        count = len(read_settings(file))
        lines = subprocess.run([renyi_settings, file], check=True, capture_output=True, text=True).stdout.splitlines()
        # "1000 settings in 0.1234 s, …"
        seconds = float(lines[count].split()[3])
        ours = [float(line.split()[0]) for line in lines[:count]]
        print(f"\n{count} settings of a Rényi accountant, together: ours {seconds:.4f} s")
        for peer in ["dp_accounting", "opacus"]:
            row = row_of([sys.executable, __file__, peer, "renyi", file])
            if "failure" in row:
                print(f"  {peer:28}{row['failure']}")
                continue
            ratios = sorted(ratio(theirs, mine) for mine, theirs in zip(ours, row["values"]))
            smaller = sum(each < 1 - 1e-9 for each in ratios)
            print(
                f"  {peer:28}{row['seconds']:.3f} s, {row['seconds'] / seconds:.1f} times ours; their ε over ours: "
                f"{ratios[0]:.9f} to {ratios[-1]:.6g}, median {ratios[count // 2]:.9f}, below ours {smaller} times"
            )


def events_of(accountant):
    """The events that an accountant of dp_accounting knows, as its source names them."""
    source = inspect.getsource(inspect.getmodule(accountant))
    return sorted(set(re.findall(r"dp_event\.(\w+)DpEvent", source)))


def print_facts():
    """What the others have, by their own account."""
    import dp_accounting
    import opendp.prelude as opendp
    import prv_accountant
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    def show(title, items):
        print(f"  {title}: {', '.join(items)}")

    for package in ["dp-accounting", "prv-accountant", "opacus", "opendp"]:
        print(package, importlib.metadata.version(package))
        if package == "dp-accounting":
            show("events of the PLD accountant", events_of(PLDAccountant))
            show("events of the Rényi accountant", events_of(RdpAccountant))
            show("neighbours", [relation.name for relation in dp_accounting.NeighboringRelation])
        if package == "prv-accountant":
            show("mechanisms", [name for name in dir(prv_accountant) if name.endswith("Mechanism")])
        if package == "opacus":
            show("accountants", [name for name in opacus_accountants().__all__ if name.endswith("Accountant")])
        if package == "opendp":
            for title, module in [("measurements", opendp.m), ("combinators", opendp.c), ("transformations", opendp.t)]:
                show(title, [name[5:] for name in dir(module) if name.startswith("make_")])


def delta_of_a_million_steps():
    from dp_accounting.pld import PLDAccountant

    return PLDAccountant().compose(dp_sgd_event(1.0, 0.01, 1_000_000)).get_delta(0.0)


def randomised_responses():
    """Each tells the truth with probability 3/4."""
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    def epsilon(times):
        accountant = PLDAccountant(neighboring_relation=dp.NeighboringRelation.REPLACE_ONE)
        response = dp.RandomizedResponseDpEvent(noise_parameter=0.5, num_buckets=2)
        return accountant.compose(dp.SelfComposedDpEvent(response, times)).get_epsilon(1e-5)

    return [epsilon(times) for times in [1, 2, 100, 1_000_000]]


def calibrated_noise():
    from dp_accounting import calibrate_dp_mechanism
    from dp_accounting.pld import PLDAccountant

    return calibrate_dp_mechanism(PLDAccountant, lambda sigma: dp_sgd_event(sigma, 0.01, 100_000), 35.0, 1e-10)


def epsilon_of_replaced_records():
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(neighboring_relation=dp.NeighboringRelation.REPLACE_ONE)
    return accountant.compose(dp_sgd_event(1.0, 256 / 60_000, 10_000)).get_epsilon(1e-5)


def opacus_epsilon_of_one_step():
    return opacus_renyi([(10.0, 1e-4, 1, 0.1)])()[0]


# What is asked, what is true, and the answer.
ANSWERS = {
    "dp_accounting PLD: δ at ε = 0 of σ = 1, q = 0.01, T = 1e6": ("at most 1", delta_of_a_million_steps),
    "dp_accounting PLD: ε of 1, 2, 100, 1e6 randomised responses": ("grows with the uses", randomised_responses),
    "dp_accounting: σ for ε = 35, δ = 1e-10, q = 0.01, T = 1e5": ("larger, as ε is above 35.002", calibrated_noise),
    "dp_accounting PLD, REPLACE_ONE: ε of σ = 1, q = 256/60000, T = 1e4, δ = 1e-5": (
        "not known; at most 5.8644, ours",
        epsilon_of_replaced_records,
    ),
    "Opacus RDP: ε of σ = 10, q = 1e-4, T = 1, δ = 0.1": ("0", opacus_epsilon_of_one_step),
}


def print_answers():
    print("\nSingle answers")
    for asked, (truth, _) in ANSWERS.items():
        row = row_of([sys.executable, __file__, "answer", asked])
        print(f"  {asked}: {row.get('answer', row.get('failure'))} (true: {truth})", flush=True)


def main():
    if sys.argv[1] in PEERS:
        one_row(*sys.argv[1:])
    elif sys.argv[1] == "facts":
        print_facts()
    elif sys.argv[1] == "answer":
        warnings.simplefilter("ignore")
        print(json.dumps({"answer": ANSWERS[sys.argv[2]][1]()}))
    else:
        compare_compositions(sys.argv[1])
        compare_renyi(sys.argv[2])
        print_answers()
        print()
        print_facts()


if __name__ == "__main__":
    main()
