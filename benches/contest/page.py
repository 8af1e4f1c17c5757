"""The page of the contest, written from its results."""

import datetime
import importlib.metadata
import json

METHODS = {
    "dobrushin": "**dobrushin**, planned",
    "dobrushin, published": "the same run, every iterate counted as published",
    "opacus": "Opacus, tuned on the test records",
    "opacus, median": "Opacus, the median of the same configurations",
    "diffprivlib": "diffprivlib, tuned on the test records",
    "scikit-learn": "scikit-learn, not private",
}
TITLES = {"breast-cancer": "Breast cancer", "digits": "Digits", "adult": "Adult"}

PAGE = """# A contest: private classifiers at the same ε

Which program trains the more accurate private classifier? dobrushin's run is the one that `dobrushin plan` chooses from the schema, the
number of records and the budget. It sees no record, and nobody tuned it. The peers are tuned on the test records, separately for each data set
and each ε, and nothing is charged for that. So a peer's number is better than what you would get from it.

This page is written by one command. It installs the peers in `target/`, and continues where it stopped if you interrupt it:

```console
$ cargo xtask bench contest
```

The numbers are of {date}, with {versions}. They are the mean accuracy in percent on test records, and its standard error,
over {seeds} seeds.

{tables}
## What it shows

{verdicts}

## The rules

- **Data.** The census *Adult* (32,561 training and 16,281 test records, divided as published), and scikit-learn's *breast cancer* (569) and
  *digits* (1,797). The last two are divided anew for each seed, a fifth for testing, in the same way for everybody.
- **Preprocessing.** It is the same for everybody, and it uses public bounds only, which a schema declares. Numbers are moved into their bounds
  and scaled to [−1, 1], each category is a feature, and a constant feature is the intercept. Adult's schema is
  [examples/adult/schema.toml](../examples/adult/schema.toml). A pixel is between 0 and 16. A measurement of a cell nucleus is
  between 0 and the largest value in the data set's published description, rounded up to one significant digit. That description was written from the
  data, so in practice you would need a better source; here it is the same for everybody.
- **The guarantee.** δ is 10⁻⁵ for breast cancer and digits and 10⁻⁶ for Adult. Opacus and dobrushin protect the presence of a record:
  add-or-remove-one for Opacus, zero-out for dobrushin, which moves a sum of gradients just as far. diffprivlib promises more: δ = 0, for a
  record that is replaced.
- **Opacus.** DP-SGD of logistic or softmax regression, with noise from its PRV accountant, which is the tightest that it has. The errors that
  the accountant may make are set to 1 % of ε, because the default, 0.01, costs a tenth of ε = 0.1. The {configurations} configurations have batches of all records, a quarter or
  a sixteenth, 10 to 1,000 steps, four clipping norms and six learning rates. They are tuned by successive halving: 2 seeds for all, 6 for
  the best 16, all {seeds} for the best 4. Tuning uses a vectorised form of the same algorithm, which the bench first compares with Opacus. The winner is then
  run by Opacus itself, with other noise.
- **diffprivlib.** Its `LogisticRegression` with `data_norm` from the schema, and the best of eight strengths of the penalty.
- **scikit-learn.** Logistic regression with the best of the same eight strengths. It is the ceiling.
- **dobrushin.** `dobrushin plan` writes a run file and `dobrushin train` trains it, once for each seed. The seed makes the run repeatable, so
  these models are not private. The second row is the same run with the noise that it needs if every iterate counts as
  published: the difference is what hiding is worth.

## The winning configurations of Opacus

A batch is a share of the records. The noise is Opacus's noise multiplier.

{winners}"""


def percent(row):
    return f"{100 * row['mean']:.1f} ± {100 * row['error']:.1f}"


def write(path, folder, names, epsilons, seeds, configurations):
    """Writes the page and, beside the results, everything in it as one JSON document."""
    rows = {name: results(folder, name) for name in names}
    versions = {peer: importlib.metadata.version(peer) for peer in ("opacus", "torch", "diffprivlib", "scikit-learn")}
    date = datetime.datetime.now(datetime.timezone.utc).date()
    document = {"date": str(date), "seeds": seeds, "versions": versions, "results": rows}
    (folder / "contest.json").write_text(json.dumps(document, indent=1) + "\n")
    text = PAGE.format(
        date=f"{date.day} {date:%B %Y}",
        versions=", ".join(f"{peer} {version}" for peer, version in versions.items()),
        seeds=seeds,
        configurations=configurations,
        tables="\n".join(f"## {TITLES[name]}\n\n{table(rows[name], epsilons)}" for name in names),
        verdicts="\n".join(f"- {TITLES[name]}: {verdict(rows[name], epsilons)}" for name in names),
        winners="\n".join(f"{TITLES[name]}:\n\n{winners(rows[name], epsilons)}" for name in names),
    )
    path.write_text(text)


def results(folder, name):
    """The rows of a data set, by method and ε."""
    rows = {}
    for part in ("peers", "ours"):
        file = folder / f"{part}-{name}.json"
        if file.exists():
            rows.update(json.loads(file.read_text()))
    return rows


def table(rows, epsilons):
    lines = ["| | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons) + " |", "|---" * (1 + len(epsilons)) + "|"]
    for method, words in METHODS.items():
        cells = [cell(rows, method, epsilon) for epsilon in epsilons]
        if any(cells):
            lines.append(f"| {words} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def cell(rows, method, epsilon):
    if method == "opacus, median":
        row = rows.get(f"opacus {epsilon}")
        return f"{100 * row['median of the configurations']:.1f}" if row else ""
    row = rows.get(f"{method} {epsilon}")
    return percent(row) if row else ""


def verdict(rows, epsilons):
    """How far ours is from the better peer, and what hiding adds, in points and standard errors."""
    said = []
    for epsilon in epsilons:
        ours, published = rows.get(f"dobrushin {epsilon}"), rows.get(f"dobrushin, published {epsilon}")
        peers = [rows[f"{peer} {epsilon}"] for peer in ("opacus", "diffprivlib") if f"{peer} {epsilon}" in rows]
        if not (ours and published and peers):
            continue
        best = max(peers, key=lambda row: row["mean"])
        gain, hiding = (100 * (ours["mean"] - other["mean"]) for other in (best, published))
        error = 100 * (ours["error"] ** 2 + best["error"] ** 2) ** 0.5
        said.append(f"{gain:+.1f} ± {error:.1f} at ε = {epsilon:g} (hiding {hiding:+.1f})")
    return "points over the best peer: " + ", ".join(said) + "." if said else "not yet run."


def winners(rows, epsilons):
    lines = ["| ε | batch | steps | epochs | learning rate | clip | noise |", "|---" * 7 + "|"]
    for epsilon in epsilons:
        if row := rows.get(f"opacus {epsilon}"):
            keys = ("batch", "steps", "epochs", "rate", "clip", "noise")
            lines.append(f"| {epsilon:g} | " + " | ".join(f"{row['configuration'][key]:.4g}" for key in keys) + " |")
    return "\n".join(lines) + "\n"
