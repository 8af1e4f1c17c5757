"""The page of the contest, written from its results."""

import datetime

METHODS = {
    "dobrushin": "**dobrushin**, planned",
    "published": "the same run, every iterate counted as published",
    "opacus, planned features": "Opacus, tuned on the test records, with the planned features",
    "opacus": "Opacus, tuned on the test records, with the declared features",
    "opacus, median": "Opacus, the median of the same configurations",
    "diffprivlib": "diffprivlib, tuned on the test records",
    "scikit-learn": "scikit-learn, not private",
}
PRIVATE_PEERS = ("opacus", "opacus, planned features", "diffprivlib")
TITLES = {"breast-cancer": "Breast cancer", "digits": "Digits", "adult": "Adult"}

PAGE = """# A contest: private classifiers at the same ε

Which program trains the more accurate private classifier? Everybody gets the same records, the same features and the same (ε, δ).

- **dobrushin** trains the run that `dobrushin plan` chooses from the schema, the number of records and the budget. The plan sees no
  record. Two of its constants, where a typical number lies between its bounds and how much noise scores may gather, were chosen
  with breast cancer and digits at hand, test records included. They are the same for every data set and every ε.
- **Opacus** and **diffprivlib** are tuned on the test records, separately for each data set and each ε, and nothing is charged for that. So you
  would get less from them: tuning on private records costs privacy, and without tuning you do not know the best configuration.
- **scikit-learn** without privacy is the ceiling.

One command writes this page. It installs the peers in `target/`, and if you interrupt it, the next one continues where it stopped:

```console
$ cargo xtask bench contest
```

The numbers are of {date}, with {versions}. Accuracies are percentages of the test records, the mean over {seeds} seeds ± its standard error.

## The answer

This table has the percentage points by which dobrushin is ahead of the best private peer, ± the standard error of the difference. How many of them
come from hiding all iterates but the last is in brackets.

{verdicts}
{tables}
## The rules

- **Data.** The census *Adult* has 32,561 training and 16,281 test records, divided as published. scikit-learn's *breast cancer* has 569
  records and *digits* has 1,797. These two are divided anew for each seed, a fifth for testing, in the same way for everybody.
- **Features.** A schema declares bounds. Numbers are moved into them and scaled to [−1, 1], each category is a feature, a constant feature is
  the intercept, and longer rows are scaled down to the schema's norm. The plan may add typical numbers, which become 0, and a shorter norm. It
  does so without a look at the records, so everybody could. The bench can give the peers both features, the declared and the planned
  ones, and then the better result counts; a table without a row for the planned ones was made with the declared ones only. The bench
  checks that they are the features that dobrushin sees.
- **Bounds.** Adult has those of [its example](../examples/adult/schema.toml). A pixel of a digit is between 0 and 16. A measurement of a cell nucleus
  is between 0 and the largest value in the published description of the data set, rounded up to one significant digit. That description was
  written from the data, so for your own records you need a better source. Here it favours nobody.
- **The guarantee.** δ is 10⁻⁵ for breast cancer and digits, and 10⁻⁶ for Adult. Opacus protects a record that is added or removed, and dobrushin one
  whose gradient becomes zero, which moves a sum of gradients just as far. diffprivlib promises more: δ = 0, for a record that is replaced.
- **Opacus.** It trains logistic or softmax regression by DP-SGD. The noise is the least by its PRV accountant, the tightest that it has, whose error
  is set to 1 % of ε: the default, 0.01, would cost a tenth of ε = 0.1. The {configurations} configurations have batches of all records, a
  quarter or a sixteenth, 10 to 1,000 steps (at most 100 epochs for digits and Adult), four clipping norms and six learning rates. They are tuned by
  successive halving, in a vectorised form of the same algorithm, which the bench first compares with Opacus. Opacus itself then runs the best three
  with every seed, and the best mean counts. The median is that of all configurations with the declared features and the seeds of the first round.
- **diffprivlib.** Its `LogisticRegression` gets `data_norm` from the schema, and the best of eight strengths of the penalty.
- **scikit-learn.** Its logistic regression gets the best of the same eight strengths.
- **dobrushin.** `dobrushin plan` writes a run file for each data set and ε, and `dobrushin train` trains it once for each seed. A known seed makes the
  run repeatable, so these models are not private. The second row is the same run, with the noise that it needs if every
  iterate counts as published. The difference is what hiding is worth.

All numbers, with the run files that were planned, are in [benches/contest/results.json](../benches/contest/results.json).

## The winning configurations of Opacus

A batch is a share of the records. The noise is Opacus's noise multiplier. Planned features are scaled to the norm of the declared ones, so that
the same clipping norms suit both.

{winners}"""


def percent(row):
    """To one digit, or to two if the error is too small for one."""
    digits = 1 if row["error"] >= 0.0005 else 2
    return f"{100 * row['mean']:.{digits}f} ± {100 * row['error']:.{digits}f}"


def text(document):
    """The page that says what the document holds."""
    results, date = document["results"], datetime.date.fromisoformat(document["date"])
    names = [name for name in TITLES if name in results]
    return PAGE.format(
        date=f"{date.day} {date:%B %Y}",
        versions=", ".join(f"{peer} {version}" for peer, version in document["versions"].items()),
        seeds=document["seeds"],
        configurations=document["configurations"],
        verdicts=verdicts(results, names),
        tables="\n".join(f"## {TITLES[name]}\n\n{accuracies(results[name])}" for name in names),
        winners="\n".join(f"{TITLES[name]}:\n\n{winners(results[name])}" for name in names),
    )


def epsilons(rows):
    return sorted({epsilon for method in rows.values() for epsilon in method}, key=float)


def markdown(header, lines):
    lines = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def accuracies(rows):
    header = ["", *(f"ε = {epsilon}" for epsilon in epsilons(rows))]
    lines = [[words, *(cell(rows, method, epsilon) for epsilon in epsilons(rows))] for method, words in METHODS.items()]
    return markdown(header, [line for line in lines if any(line[1:])])


def cell(rows, method, epsilon):
    if method == "opacus, median":
        row = rows.get("opacus", {}).get(epsilon)
        return f"{100 * row['median']:.1f}" if row else ""
    row = rows.get(method, {}).get(epsilon)
    return percent(row) if row else ""


def verdicts(results, names):
    """Points by which ours is ahead of the better private peer, and how many of them come from hiding."""
    columns = epsilons(results[names[0]])
    lines = [[TITLES[name], *(lead(results[name], epsilon) for epsilon in columns)] for name in names]
    lines = [line for line in lines if any(line[1:])]
    return markdown(["", *(f"ε = {epsilon}" for epsilon in columns)], lines) if lines else "dobrushin has not run yet.\n"


def lead(rows, epsilon):
    ours, published = (rows.get(method, {}).get(epsilon) for method in ("dobrushin", "published"))
    peers = [rows[peer][epsilon] for peer in PRIVATE_PEERS if epsilon in rows.get(peer, {})]
    if not (ours and published and peers):
        return ""
    best = max(peers, key=lambda row: row["mean"])
    ahead, hiding = (100 * (ours["mean"] - other["mean"]) for other in (best, published))
    error = 100 * (ours["error"] ** 2 + best["error"] ** 2) ** 0.5
    digits = 1 if error >= 0.05 else 2
    return f"{signed(ahead, digits)} ± {error:.{digits}f} ({signed(hiding, digits)})"


def signed(points, digits):
    rounded = round(points, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else f"{0:.{digits}f}"


def winners(rows):
    keys = ("batch", "steps", "epochs", "rate", "clip", "noise")
    lines = [
        [epsilon, features, *(f"{row['configuration'][key]:.4g}" for key in keys)]
        for method, features in (("opacus", "declared"), ("opacus, planned features", "planned"))
        for epsilon, row in rows.get(method, {}).items()
    ]
    return markdown(["ε", "features", "batch", "steps", "epochs", "learning rate", "clip", "noise"], lines)
