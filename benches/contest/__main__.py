"""A contest: how accurate are private linear classifiers at the same ε, on the same records?

dobrushin's planned run, which sees no record, against diffprivlib and Opacus, which this program tunes on the test records, and
scikit-learn without privacy. Every result is kept in the folder, so an interrupted contest continues where it stopped. What is known is
written to results.json beside this file, and from there to the page.

usage: contest DOBRUSHIN_EXECUTABLE FOLDER PAGE.md [--only peers|ours] [--data NAME]
"""

import argparse
import datetime
import importlib.metadata
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
# Successive halving: so many of the best configurations are tried with so many seeds, then the finalists with all. The models of Adult,
# which has one split and many records, hardly differ between seeds. More epochs than these take hours and change nothing.
ROUNDS, ROUNDS_OF_ADULT, FINALISTS = ((None, 2), (20, 8)), ((None, 1), (12, 3)), 3
EPOCHS = {"breast-cancer": 1000, "digits": 100, "adult": 100}


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

    def split(self, name, seed, run=None):
        """The records of a seed, with the features that were declared, or those of a planned run."""
        key = (name, 0 if name == "adult" else seed)
        if key not in self.splits:
            self.splits[key] = data.Split(self.folder, *key)
        if run is None:
            return self.splits[key]
        if key + (run,) not in self.splits:
            self.splits[key + (run,)] = self.splits[key].planned(run)
        return self.splits[key + (run,)]

    def say(self, *words):
        print(f"{time.monotonic() - self.start:7.0f} s ", *words, file=sys.stderr, flush=True)

    def peers(self, name, epsilon, run):
        """Each peer with either features. The better one counts; the difference is shown for Opacus."""
        better = lambda rows: max(rows, key=lambda row: row["mean"])
        for method, fit, budget in (("scikit-learn", peers.scikit_learn, None), ("diffprivlib", peers.diffprivlib, epsilon)):
            yield method, better([self.penalised(method, fit, name, budget, features) for features in (None, run)])
        yield "opacus", self.opacus(name, epsilon, None)
        yield "opacus, planned features", self.opacus(name, epsilon, run)

    def penalised(self, method, fit, name, epsilon, run):
        """A peer whose only parameter is the strength of its penalty: the best two on some seeds, then the better one on all."""
        method += self.split(name, 0, run).features

        def accuracy(strength, seed):
            compute = lambda: fit(self.split(name, seed, run), epsilon, strength, seed)
            return self.results.once(name, epsilon, method, strength, seed, compute=compute)

        def best(strengths, seeds):
            mean = lambda strength: numpy.mean([accuracy(strength, seed) for seed in seeds])
            return sorted(strengths, key=mean, reverse=True)

        # Without noise, and with one split, all seeds are the same.
        seeds = SEEDS[:1] if epsilon is None and name == "adult" else SEEDS
        strength = best(best(peers.STRENGTHS, seeds[:4])[:2], seeds)[0]
        return summary([accuracy(strength, seed) for seed in seeds], {"C": strength})

    def opacus(self, name, epsilon, run):
        """The best configuration of Opacus: tuned in its vectorised form, and the finalists run by Opacus itself."""
        left, medians = [c for c in peers.CONFIGURATIONS if c[0] * c[1] <= EPOCHS[name]], []
        for keep, seeds in ROUNDS_OF_ADULT if name == "adult" else ROUNDS:
            left = left[:keep]
            found = [self.tuned(name, epsilon, left, seed, run) for seed in SEEDS[:seeds]]
            means = {configuration: numpy.mean([accuracies[configuration] for accuracies in found]) for configuration in left}
            left = sorted(left, key=means.get, reverse=True)
            medians.append(float(numpy.median(list(means.values()))))
        finalists = [self.run_by_opacus(name, epsilon, configuration, run) for configuration in left[:FINALISTS]]
        return {**max(finalists, key=lambda row: row["mean"]), "median": medians[0]}

    def run_by_opacus(self, name, epsilon, configuration, run):
        share, steps, clip, path = configuration
        noise = self.noise(name, epsilon, share, steps)

        def accuracy(seed):
            split = self.split(name, seed, run)
            compute = lambda: float(peers.opacus(split, configuration, noise, seed))
            return self.results.once(name, epsilon, "opacus" + split.features, configuration, seed, compute=compute)

        rate = path / (clip * steps)
        return summary(
            [accuracy(seed) for seed in SEEDS],
            {"batch": share, "epochs": share * steps, "steps": steps, "rate": rate, "clip": clip, "noise": noise},
        )

    def tuned(self, name, epsilon, configurations, seed, run):
        """The accuracy of each configuration in the vectorised form."""
        split, known, missing = self.split(name, seed, run), {}, {}
        method = "tuning" + split.features
        for configuration in configurations:
            known[configuration] = self.results.get(name, epsilon, method, configuration, seed)
            if known[configuration] is None:
                missing.setdefault(configuration[:2], []).append(configuration)
        for (share, steps), group in missing.items():
            noise = self.noise(name, epsilon, share, steps)
            # Other noise than that of the runs that count.
            for configuration, value in zip(group, peers.vectorised(split, group, noise, 1000 + seed)):
                self.results.put(name, epsilon, method, configuration, seed, value=float(value))
                known[configuration] = float(value)
        return known

    def noise(self, name, epsilon, share, steps):
        delta = data.DELTAS[name]
        compute = lambda: peers.noise_multiplier(epsilon, delta, share, steps)
        return self.results.once("noise", epsilon, delta, share, steps, compute=compute)

    def ours(self, name, epsilon, run):
        """The planned run, with and without credit for hidden iterates."""
        text = run.read_text()
        for method, release in (("dobrushin", "last"), ("published", "all")):
            noise = ours.noise(self.executable, self.split(name, 0), run, epsilon, release)

            def accuracy(seed):
                compute = lambda: ours.train(self.executable, self.split(name, seed), run, noise, seed)
                # Other noise is another run, and so is a plan of another version.
                return self.results.once(name, epsilon, "dobrushin", noise, text, seed, compute=compute)

            stored = text.replace(f"{self.folder.resolve()}/", "")
            yield method, summary([accuracy(seed) for seed in SEEDS], {"noise": noise, "run": stored})

    def planned(self, name, epsilon):
        """The run that dobrushin plans; its features, like those that were declared, are the ones that the peers get."""
        split, run = self.split(name, 0), self.folder / name / f"run-{epsilon:g}.toml"
        ours.plan(self.executable, split, epsilon, run)
        simple = self.folder / name / "simple.toml"
        ours.simple(split, simple)
        for features, checked in ((None, simple), (run, run)):
            ours.check_features(self.executable, self.split(name, 0, features), checked)
        return run


def summary(accuracies, configuration):
    """The mean and its standard error."""
    error = numpy.std(accuracies, ddof=1) / numpy.sqrt(len(accuracies)) if len(accuracies) > 1 else 0
    return {"mean": float(numpy.mean(accuracies)), "error": float(error), "configuration": configuration}


def main():
    parser = argparse.ArgumentParser(prog="contest")
    parser.add_argument("executable")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--only", choices=["peers", "ours"])
    parser.add_argument("--data", choices=list(data.DELTAS))
    arguments = parser.parse_args()
    contest = Contest(arguments.executable, arguments.folder)
    peers.check_equal(contest.split("breast-cancer", 0))
    written = pathlib.Path(__file__).with_name("results.json")
    document = json.loads(written.read_text()) if written.exists() else {"results": {}}
    versions = {peer: importlib.metadata.version(peer) for peer in ("opacus", "torch", "diffprivlib", "scikit-learn")}
    document["versions"] = {"dobrushin": ours.answered([contest.executable, "--version"]).split()[-1], **versions}
    document["date"] = str(datetime.datetime.now(datetime.timezone.utc).date())
    document["seeds"], document["configurations"] = len(SEEDS), len(peers.CONFIGURATIONS)
    for name in [arguments.data] if arguments.data else data.DELTAS:
        rows = {}
        for epsilon in EPSILONS:
            run = contest.planned(name, epsilon)
            for part in (contest.ours, contest.peers):
                if arguments.only in (None, part.__name__):
                    for method, row in part(name, epsilon, run):
                        rows.setdefault(method, {})[f"{epsilon:g}"] = row
                        contest.say(f"{name:14} ε = {epsilon:<4g} {method:24} {page.percent(row)}")
        document["results"].setdefault(name, {}).update(rows)
        written.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        arguments.page.write_text(page.text(document))


if __name__ == "__main__":
    main()
