"""The data sets of the contest: their schemas, their splits, and one encoding for everybody.

A schema declares what each column may hold, from the public description of the data set and never from the table. It implies
the features: numbers are moved into their bounds and scaled to [−1, 1], less the scaled typical number if there is one; each category is a
feature, a feature that is always 1 is the intercept, and longer rows are scaled down to the schema's norm. A plan may add typical numbers and
a norm to the schema. The peers get the features of both schemas.
"""

import copy
import csv
import hashlib
import io
import json
import math
import os
import pathlib
import tomllib
import urllib.request

import numpy
import sklearn.datasets

ROOT = pathlib.Path(__file__).resolve().parents[2]
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"
TEST_SHARE = 0.2

# The ten measurements of a cell nucleus, each as mean, standard error and worst of a sample. The description of the data set (part
# of scikit-learn) has a range for each; the bounds are 0 and the next number with one significant digit.
NUCLEI = {
    "radius": (30, 3, 40),
    "texture": (40, 5, 50),
    "perimeter": (200, 30, 300),
    "area": (3000, 600, 5000),
    "smoothness": (0.2, 0.04, 0.3),
    "compactness": (0.4, 0.2, 2),
    "concavity": (0.5, 0.4, 2),
    "concave_points": (0.3, 0.06, 0.3),
    "symmetry": (0.4, 0.08, 0.7),
    "fractal_dimension": (0.1, 0.03, 0.3),
}


def number(name, lower, upper):
    return f'\n[columns.{name}]\nkind = "number"\nlower = {lower}\nupper = {upper}\n'


def classes(name, words):
    return f'\n[columns.{name}]\nkind = "category"\ncategories = [{", ".join(f"{word!r}" for word in words)}]\n'.replace("'", '"')


def breast_cancer():
    """569 tumours, 30 measurements: benign or malignant (Wolberg, Mangasarian, Street, Street 1993)."""
    names = [f"{which}_{measure}" for which in ("mean", "error", "worst") for measure in NUCLEI]
    bounds = [NUCLEI[measure][which] for which in range(3) for measure in NUCLEI]
    schema = 'label = "diagnosis"\n' + "".join(number(*column) for column in zip(names, [0] * 30, bounds))
    table = sklearn.datasets.load_breast_cancer()
    labels = numpy.array(["malignant", "benign"])[table.target]
    return schema + classes("diagnosis", ["malignant", "benign"]), names + ["diagnosis"], table.data, labels


def digits():
    """1,797 written digits of 8 by 8 pixels, each a whole number from 0 to 16 (Alpaydin, Kaynak 1998)."""
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    schema = 'label = "digit"\n' + "".join(number(name, 0, 16) for name in names)
    table = sklearn.datasets.load_digits()
    words = [str(digit) for digit in range(10)]
    return schema + classes("digit", words), names + ["digit"], table.data, numpy.array(words)[table.target]


SMALL = {"breast-cancer": breast_cancer, "digits": digits}
# δ is the same for everybody, and far below one over the number of records.
DELTAS = {"breast-cancer": 1e-5, "digits": 1e-5, "adult": 1e-6}
LABELS = {"breast-cancer": "diagnosis", "digits": "digit", "adult": "income"}


class Split:
    """One division of a data set into training and test records, as files and encoded."""

    def __init__(self, folder, name, seed):
        self.name, self.delta, self.label, self.features = name, DELTAS[name], LABELS[name], ""
        self.folder = folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.schema = self.folder / "schema.toml"
        # Adult comes divided; the others are divided anew for each seed, in the same way for everybody.
        suffix = "" if name == "adult" else f"-{seed}"
        self.train, self.test = (self.folder / f"{part}{suffix}.csv" for part in ("train", "test"))
        if not (self.schema.exists() and self.train.exists() and self.test.exists()):
            (write_adult if name == "adult" else write_small)(self, seed)
        schema = tomllib.loads(self.schema.read_text())
        self.x, self.y = encoded(schema, self.train)
        self.test_x, self.test_y = encoded(schema, self.test)
        self.norm = row_norm(schema)
        self.classes = len(schema["columns"][self.label]["categories"])

    @property
    def records(self):
        return len(self.x)

    def planned(self, run):
        """The same records with the features of a planned run, scaled to the norm of the declared ones, so that the same clips suit both."""
        schema = tomllib.loads(run.read_text())["model"]["schema"]
        if isinstance(schema, str):
            schema = tomllib.loads((run.parent / schema).read_text())
        split, scale = copy.copy(self), numpy.float32(self.norm / row_norm(schema))
        split.x, split.test_x = (scale * encoded(schema, path)[0] for path in (self.train, self.test))
        split.features = " planned " + hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()[:12]
        return split


def write_small(split, seed):
    schema, names, rows, labels = SMALL[split.name]()
    order = numpy.random.default_rng(seed).permutation(len(rows))
    tested = round(TEST_SHARE * len(rows))
    split.schema.write_text(schema)
    for path, records in ((split.test, order[:tested]), (split.train, order[tested:])):
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows([*(float(value) for value in rows[record]), labels[record]] for record in records)


def write_adult(split, _seed):
    """The census comes from the folder ADULT (train.csv and test.csv with a header), or from the UCI repository."""
    split.schema.write_text((ROOT / "examples/adult/schema.toml").read_text())
    names = "age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain capital_loss"
    header = ",".join(names.split() + ["hours_per_week", "native_country", "income"])
    for path, published in ((split.train, "adult.data"), (split.test, "adult.test")):
        if folder := os.environ.get("ADULT"):
            path.write_bytes((pathlib.Path(folder) / path.name).read_bytes())
            continue
        text = urllib.request.urlopen(UCI + published, timeout=60).read().decode()
        lines = [line.replace(", ", ",").rstrip(".") for line in text.splitlines() if line.count(",") == 14]
        path.write_text("\n".join([header, *lines]) + "\n")


def encoded(schema, path):
    """The features and the numbers of the classes: what dobrushin makes of the same schema and file."""
    columns, label = schema["columns"], label_of(schema)
    missing = set(schema.get("missing", ["", "?", "NA", "NaN", "null"]))
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    features = []
    for name in sorted(set(columns) - {label}):
        cells, column = [row[name].strip() for row in rows], columns[name]
        if column["kind"] == "number":
            lower, upper = column["lower"], column["upper"]
            values = numpy.clip([float(cell) for cell in cells], lower, upper)
            features.append((2 * values - lower - upper) / (upper - lower) - shift(column))
        else:
            cells = [column["if-missing"] if cell in missing else cell for cell in cells]
            features += [numpy.array([cell == word for cell in cells], float) for word in column["categories"]]
    features.append(numpy.ones(len(rows)))
    x = numpy.stack(features, axis=1)
    x *= numpy.minimum(1, row_norm(schema) / numpy.linalg.norm(x, axis=1, keepdims=True))
    numbers = {word: index for index, word in enumerate(columns[label]["categories"])}
    return x.astype(numpy.float32), numpy.array([numbers[row[label].strip()] for row in rows])


def label_of(schema):
    return schema["label"] if isinstance(schema["label"], str) else schema["label"][0]


def shift(column):
    """Where the typical number is, on the scale from −1 to 1."""
    lower, upper = column["lower"], column["upper"]
    return (2 * column["typical"] - lower - upper) / (upper - lower) if "typical" in column else 0.0


def row_norm(schema):
    """The largest norm of a row: that of the schema, or the largest that can occur. The intercept is 1, and so is a category."""
    columns = [column for name, column in schema["columns"].items() if name != label_of(schema)]
    squares = [(1 + abs(shift(column))) ** 2 if column["kind"] == "number" else 1 for column in columns]
    return schema.get("norm", math.sqrt(1 + sum(squares)))
