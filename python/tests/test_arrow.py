"""Private reports of Arrow columns: one row has one report, whatever repeats it."""

from __future__ import annotations

import pickle
import secrets
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import stats

import dobrushin as db
from dobrushin import local
from dobrushin.arrow import Privatizer, report_type, reports_of

NAMES = ["bus", "bike", "car", "on foot"]
FREQUENCY = [
    local.k_rr(NAMES, epsilon=1.0),
    local.oue(NAMES, epsilon=1.0),
    local.subset(NAMES, epsilon=1.0),
    local.hadamard(NAMES, epsilon=1.0),
    local.olh(NAMES, epsilon=1.0),
    local.channel([[0.4, 0.3, 0.2, 0.1]] + [[0.1, 0.2, 0.3, 0.4]] * 2 + [[0.2, 0.2, 0.2, 0.4]], epsilon=2.0, categories=NAMES),
]
MEAN = [
    local.one_bit((0.0, 10.0), epsilon=1.0),
    local.laplace((0.0, 10.0), epsilon=1.0),
    local.gaussian((0.0, 10.0), epsilon=1.0, delta=1e-5),
    local.piecewise((0.0, 10.0), epsilon=1.0),
    local.hybrid((0.0, 10.0), epsilon=1.0),
]
VECTOR = [local.half_sphere(1.0, 3, epsilon=2.0), local.priv_unit(1.0, 3, epsilon=2.0)]
ALL = FREQUENCY + MEAN + VECTOR
NEVER = 1e-7
"""A test of a law fails by chance with at most this probability."""

untyped: Any = Privatizer
"""The same, to be called as its types forbid."""


def ids(mechanisms: list[local.Mechanism]) -> list[str]:
    return [mechanism.name for mechanism in mechanisms]


def answers_for(mechanism: local.Mechanism, count: int) -> pa.Array:
    generator = np.random.default_rng(1)
    if mechanism in FREQUENCY:
        return pa.array([NAMES[place] for place in generator.choice(4, count, p=[0.5, 0.25, 0.15, 0.1])])
    if mechanism in MEAN:
        return pa.array(generator.uniform(0.0, 10.0, count))
    return pa.array((generator.uniform(-1.0, 1.0, (count, 3)) / 2).tolist())


@pytest.mark.parametrize("mechanism", ALL, ids=ids(ALL))
def test_a_row_has_one_report_in_whatever_order_and_batches_it_is_read(mechanism: local.Mechanism) -> None:
    # More rows than are privatised together.
    count = 40_000 if mechanism in FREQUENCY else 2_000
    keys, answers = pa.array(np.arange(count) * 7 - 5), answers_for(mechanism, count)
    privatizer = Privatizer(mechanism)
    reports = privatizer(keys, answers)
    assert reports.type == report_type(mechanism) and len(reports) == count and reports.null_count == 0
    order = pa.array(np.random.default_rng(2).permutation(count))
    assert privatizer(keys.take(order), answers.take(order)) == reports.take(order)
    chunked = privatizer(pa.chunked_array([keys[:17], keys[17:]]), pa.chunked_array([answers[:900], answers[900:]]))
    assert chunked == reports
    for start, stop in [(0, 0), (1, 2), (13, 999)]:
        assert privatizer(keys[start:stop], answers[start:stop]) == reports[start:stop]
    elsewhere = pickle.loads(pickle.dumps(privatizer))
    assert elsewhere(keys, answers) == reports
    assert Privatizer(mechanism)(keys, answers) != reports


@pytest.mark.parametrize("mechanism", FREQUENCY, ids=ids(FREQUENCY))
def test_reports_on_categories_have_the_law_of_those_that_are_drawn_at_once(mechanism: local.Mechanism) -> None:
    count = 100_000
    answers = answers_for(mechanism, count)
    keyed = mechanism.count(reports_of(mechanism, Privatizer(mechanism)(pa.array(np.arange(count)), answers)))
    drawn = mechanism.count(mechanism.privatize(answers.to_pylist()))
    for one, other in zip(keyed.counters, drawn.counters, strict=True):
        # Each counter adds up independent tosses. A mean of tosses is normal enough at this number.
        assert stats.chi2_contingency([[one, count - one], [other, count - other]]).pvalue > NEVER
    if mechanism.name in ("k-rr", "channel"):
        assert stats.chi2_contingency([keyed.counters, drawn.counters]).pvalue > NEVER


@pytest.mark.parametrize("mechanism", MEAN, ids=ids(MEAN))
def test_reports_on_numbers_have_the_law_of_those_that_are_drawn_at_once(mechanism: local.Mechanism) -> None:
    answers = answers_for(mechanism, 20_000)
    keyed = Privatizer(mechanism)(pa.array(np.arange(20_000)), answers).to_numpy()
    drawn = mechanism.privatize(answers.to_numpy()).data
    # With ties, this test fails by chance even less often.
    assert stats.ks_2samp(keyed, drawn).pvalue > NEVER


@pytest.mark.parametrize("mechanism", VECTOR, ids=ids(VECTOR))
def test_reports_on_vectors_estimate_their_mean(mechanism: local.Mechanism) -> None:
    rows = pa.array([[0.5, 0.0, -0.5]] * 20_000)
    found = reports_of(mechanism, Privatizer(mechanism)(pa.array(np.arange(20_000)), rows)).estimate()
    assert (np.abs(found.values - [0.5, 0.0, -0.5]) < 6 * found.standard_errors).all()


def two(mechanism: local.Mechanism, one: list[Any], other: list[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """What a privatizer reports on two answers of each key."""
    privatizer, keys = Privatizer(mechanism), pa.array(np.arange(len(one)))
    first, second = (reports_of(mechanism, privatizer(keys, pa.array(answers))).data for answers in (one, other))
    return first, second


def test_the_reports_of_neighbouring_keys_and_of_another_answer_are_independent() -> None:
    mechanism, count = local.k_rr(NAMES, epsilon=1.0), 50_000
    first, second = (found[:, 0] for found in two(mechanism, ["bus"] * count, ["car"] * count))
    for one, other in [(first[::2], first[1::2]), (first, second)]:
        table = np.zeros((4, 4))
        np.add.at(table, (one, other), 1)
        assert stats.chi2_contingency(table).pvalue > NEVER


def test_two_reports_of_one_key_do_not_tell_the_difference_of_its_answers() -> None:
    # With the same noise, they would.
    one, other = two(local.laplace((0.0, 10.0), epsilon=1.0), [2.0] * 1000, [7.0] * 1000)
    assert np.std(other - one) > 10
    zero, minus_zero = two(local.laplace((-1.0, 1.0), epsilon=1.0), [0.0] * 50, [-0.0] * 50)
    assert np.array_equal(zero, minus_zero)


def test_keys_are_whole_numbers_or_texts_of_any_type() -> None:
    privatizer, answers = Privatizer(FREQUENCY[0]), pa.array(NAMES * 50)
    numbers = privatizer(pa.array(range(200)), answers)
    for kind in (pa.int16(), pa.uint8(), pa.uint64()):
        assert privatizer(pa.array(range(200)).cast(kind), answers) == numbers
    words = pa.array([f"Zoë {n}" for n in range(200)])
    texts = privatizer(words, answers)
    assert texts != numbers
    for kind in (pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int32(), pa.string())):
        assert privatizer(words.cast(kind), answers) == texts
    # Where one text ends and the next begins is part of them, and so are empty ones.
    split = privatizer(pa.array(["", "ab", "a", "b"] * 50), pa.array(["bus"] * 200)).to_pylist()
    assert split[:4] == split[4:8] and len(set(zip(*[iter(split)] * 4, strict=True))) == 1
    apart = [privatizer(pa.array([key]), pa.array(["bus"])).to_pylist() for key in [f"{n}" for n in range(200)]]
    assert 1 < len({str(report) for report in apart})


@pytest.mark.parametrize("keys", [[1, None], [1.0, 2.0], [True, False], [[1], [2]], [None, None]])
def test_what_cannot_be_a_key_is_refused(keys: list[Any]) -> None:
    with pytest.raises(db.InvalidInputError, match="key"):
        Privatizer(FREQUENCY[0], skip_bad=True)(pa.array(keys), pa.array(["bus", "car"]))


@pytest.mark.parametrize(
    ("mechanism", "answers"),
    [
        (FREQUENCY[0], pa.array(["bus", "tram"])),
        (FREQUENCY[0], pa.array(["bus", None])),
        (FREQUENCY[0], pa.array(["bus", "tram"]).dictionary_encode()),
        (FREQUENCY[0], pa.array([b"bus", b"tram\xff"]).view(pa.string())),
        (local.k_rr(4, epsilon=1.0), pa.array([1, 777_777])),
        (local.k_rr(4, epsilon=1.0), pa.array([1, None])),
        (local.k_rr(4, epsilon=1.0), pa.array([1, 2**62 + 1])),
        (local.k_rr(4, epsilon=1.0), pa.array([1.0, 2.5])),
        (MEAN[0], pa.array([1.0, float("nan")])),
        (MEAN[0], pa.array([1.0, -float("inf")])),
        (MEAN[0], pa.array([1.0, None])),
        (VECTOR[0], pa.array([[0.1, 0.2, 0.3], [777_777.0]])),
        (VECTOR[0], pa.array([[0.1, 0.2, 0.3], None])),
    ],
)
def test_an_answer_that_cannot_be_used_is_named_by_its_key_and_never_shown(mechanism: local.Mechanism, answers: pa.Array) -> None:
    for keys in (pa.array([4, 23]), pa.array(["anna", "23"])):
        with pytest.raises(db.InvalidInputError, match='key "23" cannot be used') as failed:
            Privatizer(mechanism)(keys, answers)
        assert not any(shown in str(failed.value) for shown in ["tram", "777", "2.5", "4611", "nan", "inf", "None"])
        assert failed.value.__context__ is None
        assert len(Privatizer(mechanism, skip_bad=True)(keys, answers)) == 2


def test_an_answer_that_cannot_be_used_reports_a_category_at_random() -> None:
    mechanism, count = local.k_rr(NAMES, epsilon=4.0), 40_000
    bad = Privatizer(mechanism, skip_bad=True)(pa.array(np.arange(count)), pa.nulls(count))
    assert stats.chisquare(mechanism.count(reports_of(mechanism, bad)).counters).pvalue > NEVER


def test_types_that_are_no_answers_are_refused() -> None:
    privatizer = Privatizer(FREQUENCY[0])
    for column in (pa.array([True, False]), pa.array([b"bus", b"car"]), pa.array([0, 1], pa.timestamp("s"))):
        with pytest.raises(db.InvalidInputError, match=f"the answers have the type {column.type}".replace("[", r"\[")):
            privatizer(pa.array([1, 2]), column)
    with pytest.raises(db.InvalidInputError, match="there are 2 keys, but 1 answers"):
        privatizer(pa.array([1, 2]), pa.array(["bus"]))
    for given in ([1, 2], None, "bus", np.arange(2)):
        with pytest.raises(db.InvalidInputError, match="no Arrow column"):
            privatizer(given, pa.array(["bus", "car"]))
    with pytest.raises(db.InvalidInputError, match="mechanism is a str"):
        untyped("k-rr")


def test_a_mechanism_that_does_not_keep_its_promise_reports_nothing() -> None:
    liar = local.channel([[0.9, 0.1], [0.1, 0.9]], epsilon=1.0)
    for _ in range(2):
        with pytest.raises(db.NoGuaranteeError):
            Privatizer(liar)(pa.array([1]), pa.array([1]))


def test_only_reports_of_the_mechanism_are_taken_for_reports() -> None:
    for mechanism, column in [
        (FREQUENCY[0], pa.array([0.5])),
        (FREQUENCY[0], pa.array([1, None])),
        (MEAN[0], pa.array([1])),
        (FREQUENCY[4], pa.array([b"12345678"])),
    ]:
        with pytest.raises(db.InvalidInputError):
            reports_of(mechanism, column)
    assert len(reports_of(FREQUENCY[4], pa.array([], pa.binary()))) == 0
    with pytest.raises(db.InvalidInputError, match="is not a report of k-rr"):
        reports_of(FREQUENCY[0], pa.array([4])).estimate()


def test_counts_of_numbers_add_up_to_the_estimate_from_the_reports() -> None:
    for mechanism in MEAN:
        answers = answers_for(mechanism, 3000).to_numpy()
        parts = [mechanism.privatize(answers[start::3]) for start in range(3)]
        counts = mechanism.count(parts[0]) + mechanism.count(parts[1]) + mechanism.count(parts[2])
        assert counts.reports == int(counts.counters.sum()) == 3000
        found, known = mechanism.estimate(counts), mechanism.estimate(parts[0] + parts[1] + parts[2])
        assert found.values == pytest.approx(known.values, rel=1e-12, abs=1e-12)
        assert found.standard_errors == pytest.approx(known.standard_errors, rel=1e-9)
        assert found.intervals == pytest.approx(known.intervals, rel=1e-9)
    with pytest.raises(db.InvalidInputError, match="only counts of the same mechanism"):
        mechanism.count(parts[0]) + FREQUENCY[0].count(FREQUENCY[0].privatize(["bus"]))


def test_counts_of_numbers_in_bins_estimate_the_frequencies_and_no_quantiles() -> None:
    mechanism = local.k_rr(local.Bins(0.0, 60.0, 6), epsilon=2.0)
    reports = mechanism.privatize(np.linspace(0.0, 60.0, 1000))
    found = mechanism.estimate(mechanism.count(reports))
    assert np.array_equal(found.values, reports.estimate().values) and found.quantiles == {}


def test_the_secret_is_new_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[bytes] = []
    draw = secrets.token_bytes
    monkeypatch.setattr(secrets, "token_bytes", lambda count: drawn.append(draw(count)) or drawn[-1])
    privatizers = [Privatizer(FREQUENCY[0]), Privatizer(FREQUENCY[0])]
    assert [len(secret) for secret in drawn] == [32, 32] and drawn[0] != drawn[1]
    assert [repr(privatizer) for privatizer in privatizers] == ["<Privatizer: k-rr>"] * 2


def test_duckdb_reports_the_same_in_every_query() -> None:
    duckdb = pytest.importorskip("duckdb")
    mechanism = local.k_rr(NAMES, epsilon=1.0)
    table = pa.table({"person": np.arange(5000), "answer": [NAMES[n % 4] for n in range(5000)]})
    with duckdb.connect() as connection:
        connection.register("people", table)
        connection.create_function("report", Privatizer(mechanism).__call__, ["BIGINT", "VARCHAR"], "BIGINT", type="arrow")
        query = "select person, report(person, answer) as report from people order by person"
        first, second = (connection.sql(f"{query} {order}").to_arrow_table() for order in ("", "desc"))
    assert first["report"].combine_chunks() == second["report"].combine_chunks()[::-1]
    found = mechanism.estimate(reports_of(mechanism, first["report"]))
    assert (np.abs(found.values - 0.25) < 6 * found.standard_errors).all()


def test_polars_reports_the_same_in_every_query() -> None:
    mechanism = local.k_rr(NAMES, epsilon=1.0)
    privatizer = Privatizer(mechanism)
    people = pl.DataFrame({"person": range(5000), "answer": [NAMES[n % 4] for n in range(5000)]})

    def report(columns: Any) -> pl.Series:
        return pl.Series(privatizer(*(column.to_arrow() for column in columns)))

    def reported(frame: pl.DataFrame) -> pl.Series:
        column = pl.map_batches(["person", "answer"], report, return_dtype=pl.Int64, is_elementwise=True)
        return frame.lazy().with_columns(report=column).sort("person").collect()["report"]

    assert reported(people).equals(reported(people.reverse()))
