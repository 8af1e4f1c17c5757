"""A contest: how accurate are private linear classifiers at the same ε, on the same records?

dobrushin's planned run, which nobody tuned, against diffprivlib and Opacus, which this program tunes on the test records, and
scikit-learn without privacy. Every result is kept in the folder, so an interrupted contest continues where it stopped.

usage: contest DOBRUSHIN_EXECUTABLE FOLDER [PAGE.md] [--only peers|ours] [--data NAME]
"""

import argparse
import json
import pathlib
import sys
import time

import data
import numpy
import ours
import page
import peers

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
SEEDS = range(20)
# Successive halving: this many configurations are left for the seeds below the second number.
ROUNDS = ((None, 2), (16, 6), (4, len(SEEDS)))


class Results:
    """What is known already: one line of JSON for each result, so that nothing is lost if the program is interrupted."""

    def __init__(self, path):
        self.path, self.known = path, {}
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                key, value = json.loads(line)
            except ValueError:  # The line that was being written.
                continue
            self.known[json.dumps(key)] = value

    def get(self, *key):
        return self.known.get(json.dumps(key))

    def put(self, *key, value):
        self.known[json.dumps(key)] = value
        with open(self.path, "a") as file:
            file.write(json.dumps([key, value]) + "\n")

    def once(self, *key, compute):
        if self.get(*key) is None:
            self.put(*key, value=compute())
        return self.get(*key)


class Contest:
    def __init__(self, executable, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.executable, self.folder = executable, folder
        self.results, self.splits, self.start = Results(folder / "results.jsonl"), {}, time.monotonic()

    def split(self, name, seed):
        key = (name, 0 if name == "adult" else seed)
        if key not in self.splits:
            self.splits[key] = data.Split(self.folder, *key)
        return self.splits[key]

    def say(self, *words):
        print(f"{time.monotonic() - self.start:7.0f} s ", *words, file=sys.stderr, flush=True)

    def peers(self, name):
        """The tuned peers on one data set, for each ε."""
        rows = {}
        for epsilon in EPSILONS:
            found = {
                "scikit-learn": self.penalised("scikit-learn", peers.scikit_learn, name, None),
                "diffprivlib": self.penalised("diffprivlib", peers.diffprivlib, name, epsilon),
                "opacus": self.opacus(name, epsilon),
            }
            for method, row in found.items():
                rows[f"{method} {epsilon}"] = row
                self.say(f"{name:14} ε = {epsilon:<4} {method:13}", page.percent(row), row["configuration"])
        return rows

    def penalised(self, method, fit, name, epsilon):
        """A peer whose only parameter is the strength of its penalty: the best strength for the test records of all seeds."""

        def accuracies(strength):
            key = [name, epsilon, method, strength]
            once = self.results.once
            return [once(*key, seed, compute=lambda: fit(self.split(name, seed), epsilon, strength, seed)) for seed in SEEDS]

        best = max(peers.STRENGTHS, key=lambda strength: numpy.mean(accuracies(strength)))
        return summary(accuracies(best), {"C": best})

    def opacus(self, name, epsilon):
        """The best configuration of Opacus: tuned in its vectorised form, then run by Opacus itself."""
        left, delta = peers.CONFIGURATIONS, data.DELTAS[name]
        for keep, seeds in ROUNDS:
            if keep is not None:
                left = sorted(left, key=lambda c: -numpy.mean(tried[c]))[:keep]
            tried = {configuration: [] for configuration in left}
            for seed in SEEDS[:seeds]:
                for configuration, accuracy in self.tuned(name, epsilon, left, seed).items():
                    tried[configuration].append(accuracy)
            if keep is None:
                middle = float(numpy.median([numpy.mean(accuracies) for accuracies in tried.values()]))
        best = max(left, key=lambda configuration: numpy.mean(tried[configuration]))
        share, steps, clip, path = best
        noise = self.noise(epsilon, delta, share, steps)
        run = lambda seed: float(peers.opacus(self.split(name, seed), best, noise, seed))
        accuracies = [self.results.once(name, epsilon, "opacus", best, seed, compute=lambda: run(seed)) for seed in SEEDS]
        rate = path / (clip * steps)
        described = {"batch": share, "epochs": share * steps, "steps": steps, "rate": rate, "clip": clip, "noise": noise}
        return {**summary(accuracies, described), "median of the configurations": middle}

    def tuned(self, name, epsilon, configurations, seed):
        """The accuracy of each configuration in the vectorised form."""
        delta, known, missing = data.DELTAS[name], {}, {}
        for configuration in configurations:
            value = self.results.get(name, epsilon, "tuning", configuration, seed)
            if value is None:
                missing.setdefault(configuration[:2], []).append(configuration)
            else:
                known[configuration] = value
        for (share, steps), group in missing.items():
            noise = self.noise(epsilon, delta, share, steps)
            # Other noise than that of the runs that count.
            for configuration, value in zip(group, peers.vectorised(self.split(name, seed), group, noise, 1000 + seed)):
                self.results.put(name, epsilon, "tuning", configuration, seed, value=float(value))
                known[configuration] = float(value)
        return known

    def noise(self, epsilon, delta, share, steps):
        compute = lambda: peers.noise_multiplier(epsilon, delta, share, steps)
        return self.results.once("noise", epsilon, delta, share, steps, compute=compute)

    def ours(self, name):
        """The planned run on one data set, for each ε, with and without credit for hidden iterates."""
        rows = {}
        for epsilon in EPSILONS:
            text = ours.plan(self.executable, self.split(name, 0), epsilon)
            run = self.folder / name / f"run-{epsilon}.toml"
            run.write_text(text)
            split = self.split(name, 0)
            published = ours.without_hiding(self.executable, split, run, epsilon)
            # A published noise replaces the ε for which the noise of hidden iterates is found.
            for method, extra in (
                ("dobrushin", ["--epsilon", epsilon]),
                ("dobrushin, published", ["--set", f"noise-multiplier={published!r}"]),
            ):
                train = lambda seed: ours.train(self.executable, self.split(name, seed), run, seed, extra)
                key = [name, epsilon, method, text]
                accuracies = [self.results.once(*key, seed, compute=lambda: train(seed)) for seed in SEEDS]
                rows[f"{method} {epsilon}"] = row = summary(accuracies, {"run": text})
                self.say(f"{name:14} ε = {epsilon:<4} {method:13}", page.percent(row))
        return rows


def summary(accuracies, configuration):
    error = numpy.std(accuracies, ddof=1) / numpy.sqrt(len(accuracies))
    return {"mean": float(numpy.mean(accuracies)), "error": float(error), "configuration": configuration}


def main():
    parser = argparse.ArgumentParser(prog="contest")
    parser.add_argument("executable")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path, nargs="?")
    parser.add_argument("--only", choices=["peers", "ours"])
    parser.add_argument("--data", choices=list(data.DELTAS))
    arguments = parser.parse_args()
    contest = Contest(arguments.executable, arguments.folder)
    peers.check_equal(contest.split("breast-cancer", 0))
    for name in [arguments.data] if arguments.data else data.DELTAS:
        for part in ("peers", "ours"):
            if arguments.only in (None, part):
                rows = getattr(contest, part)(name)
                (contest.folder / f"{part}-{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
    if arguments.page is not None:
        page.write(arguments.page, contest.folder, list(data.DELTAS), EPSILONS, len(SEEDS), len(peers.CONFIGURATIONS))


if __name__ == "__main__":
    main()
