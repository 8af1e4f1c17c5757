//! `--csv`: what is written is what `--json` says, digit by digit.

use crate::support::{dobrushin, file, json};
use serde_json::Value;
use std::collections::BTreeMap;

/// The rows that a command writes, each as its cells by column.
#[track_caller]
fn rows(name: &str, words: &[&str]) -> Vec<BTreeMap<String, String>> {
    let path = file(name, "");
    dobrushin(words).arg("--csv").arg(&path).assert().success();
    let mut reader = csv::Reader::from_path(&path).expect("it was written");
    let rows = reader.deserialize().map(|row| row.expect("every row has as many cells as the header"));
    rows.collect()
}

/// Whether two cells are the ends of a bound in the JSON, exactly.
#[track_caller]
fn assert_ends(row: &BTreeMap<String, String>, [lower, upper]: [&str; 2], bounds: &Value) {
    if bounds.is_null() {
        assert_eq!((row[lower].as_str(), row[upper].as_str()), ("", ""), "{row:?}");
        return;
    }
    for (column, end) in [(lower, "lower"), (upper, "upper")] {
        let number: f64 = row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"));
        let said = match &bounds[end] {
            Value::String(infinity) => infinity.parse().expect("Infinity or -Infinity"),
            number => number.as_f64().expect("a number"),
        };
        assert_eq!(number.to_bits(), f64::to_bits(said), "{column} of {row:?} is not that of {bounds}");
    }
}

#[test]
fn every_analysis_of_an_account_has_a_row() {
    let words = ["account", "examples/noisy-gd.toml"];
    let (rows, answer) = (rows("account.csv", &words), json(&words));
    let analyses = answer["analyses"].as_array().expect("a list");
    assert_eq!(rows.len(), analyses.len());
    for (row, analysis) in rows.iter().zip(analyses) {
        assert_eq!(row["analysis"], analysis["id"].as_str().expect("a name"));
        assert_ends(row, ["epsilon_lower", "epsilon_upper"], &analysis["epsilon"]);
        assert_eq!(row["reason"], analysis["not_applicable"].as_str().unwrap_or(""));
        assert_eq!(row["kind"] == "guarantee", analysis["id"] == answer["guarantee"]["analysis"]);
        assert_eq!(row["delta"].parse::<f64>().ok(), answer["target"]["delta"].as_f64());
    }
    let approximate = rows.iter().find(|row| row["analysis"] == "composition-gdp").expect("it applies");
    assert_eq!(approximate["kind"], "approximate: no bound");
    let of_delta = ["account", "examples/noisy-gd.toml", "--analyses", "closed-form", "--epsilon", "3"];
    let answer = json(&of_delta);
    for (row, analysis) in
        self::rows("delta.csv", &of_delta).iter().zip(answer["analyses"].as_array().expect("a list"))
    {
        assert_ends(row, ["delta_lower", "delta_upper"], &analysis["delta"]);
        assert_ends(row, ["log_delta_lower", "log_delta_upper"], &analysis["log_delta"]);
    }
}

#[test]
fn every_point_of_a_curve_has_a_row() {
    let words = [
        "curve",
        "examples/projected-dp-sgd.toml",
        "--over",
        "steps=1,10,100",
        "--over",
        "neighbours=replace-one,zero-out",
        "--analyses",
        "closed-form",
    ];
    let (rows, answer) = (rows("curve.csv", &words), json(&words));
    assert_eq!(rows.len(), 6);
    for (index, row) in rows.iter().enumerate() {
        let (steps, neighbours) = (index / 2, index % 2);
        assert_eq!(row["run.steps"], answer["over"][0]["values"][steps].to_string());
        assert_eq!(row["run.neighbours"], answer["over"][1]["values"][neighbours].as_str().expect("a word"));
        assert_ends(row, ["epsilon_lower", "epsilon_upper"], &answer["guarantee"][steps][neighbours]);
        for analysis in answer["analyses"].as_array().expect("a list") {
            let id = analysis["id"].as_str().expect("a name");
            let ends = [format!("{id}_lower"), format!("{id}_upper")];
            assert_ends(row, [&ends[0], &ends[1]], &analysis["epsilon"][steps][neighbours]);
        }
    }
}

#[test]
fn a_curve_of_orders_and_a_calibration_have_rows() {
    let words = ["curve", "examples/pnsgd.toml", "--order", "2,8", "--over", "gradient-noise=2,4"];
    let (rows, answer) = (rows("renyi.csv", &words), json(&words));
    for (row, point) in rows.iter().zip(answer["renyi"].as_array().expect("a list")) {
        assert_eq!(row["order"].parse::<f64>().ok(), point["order"].as_f64());
        assert_ends(row, ["divergence_lower", "divergence_upper"], &point["value"]);
    }
    let words = ["calibrate", "examples/pnsgd.toml", "--parameter", "gradient-noise", "--epsilon", "1"];
    let (rows, answer) = (self::rows("calibrate.csv", &words), json(&words));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["value"].parse::<f64>().ok(), answer["value"].as_f64());
    assert_ends(&rows[0], ["epsilon_lower", "epsilon_upper"], &answer["epsilon"]);
}

#[test]
fn every_number_of_a_divergence_and_of_a_kernel_has_a_row() {
    let words = [
        "divergence",
        "discrete",
        "examples/pair.csv",
        "--epsilon",
        "0,0.5",
        "--gamma",
        "0.5",
        "--delta",
        "0.01",
    ];
    let (rows, answer) = (rows("divergence.csv", &words), json(&words));
    let of = |what: &str| rows.iter().filter(|row| row["what"] == what).collect::<Vec<_>>();
    for (index, point) in answer["points"].as_array().expect("a list").iter().enumerate() {
        for what in ["delta", "log_delta", "delta_reversed", "log_delta_reversed"] {
            assert_ends(of(what)[index], ["lower", "upper"], &point[what]);
        }
    }
    for what in ["tv", "kl", "chi2", "hellinger2"] {
        assert_ends(of(what)[0], ["lower", "upper"], &answer[what]);
    }
    assert_ends(of("renyi")[0], ["lower", "upper"], &answer["renyi"][0]["value"]);
    assert_ends(of("epsilon")[0], ["lower", "upper"], &answer["epsilon_at_delta"][0]["epsilon"]);

    let words = ["kernel", "examples/channel.csv", "--tight", "0.1,0.01", "--curve", "--epsilon", "0,1"];
    let (rows, answer) = (self::rows("kernel.csv", &words), json(&words));
    let of = |what: &str| rows.iter().filter(|row| row["what"] == what).collect::<Vec<_>>();
    for (index, eta) in answer["eta"].as_array().expect("a list").iter().enumerate() {
        assert_ends(of("eta")[index], ["lower", "upper"], &eta["value"]);
        assert_eq!(of("eta")[index]["input_1"], eta["pair"][0].to_string());
        assert_ends(of("tight")[2 * index], ["lower", "upper"], &eta["tight"][0]["after"]);
    }
    assert_eq!(of("bend").len(), answer["curve"].as_array().expect("a list").len());
    assert_ends(of("eta_chi2")[0], ["lower", "upper"], &answer["chi2"]);
}

#[test]
fn local_tables_have_the_same_form() {
    let words = ["local", "profile", "--mechanism", "k-rr", "--epsilon", "1", "--categories", "4"];
    let (rows, answer) = (rows("profile.csv", &words), json(&words));
    for (row, eta) in rows.iter().zip(answer["eta"].as_array().expect("a list")) {
        assert_ends(row, ["delta_lower", "delta_upper"], &eta["value"]);
    }
    let words = ["local", "bounds", "--epsilon", "1", "--records", "1000"];
    let (rows, answer) = (self::rows("bounds.csv", &words), json(&words));
    for (row, bound) in rows.iter().zip(answer["bounds"].as_array().expect("a list")) {
        assert_eq!(row["bound"], bound["id"].as_str().expect("a name"));
        assert_ends(row, ["lower", "upper"], &bound["value"]);
    }
}

#[test]
fn no_word_of_a_table_is_a_formula() {
    // A category that a spreadsheet would run.
    let answers = file("answers.csv", "answer\n=1+1\nno\nno\n");
    let reports = file("reports.csv", "");
    let words = [
        "local",
        "privatize",
        answers.to_str().expect("UTF-8"),
        "--column",
        "answer",
        "--mechanism",
        "k-rr",
        "--values",
        "=1+1,no",
        "--epsilon",
        "3",
        "--seed",
        "1",
        "--not-private",
        "--output",
        reports.to_str().expect("UTF-8"),
    ];
    dobrushin(&words).assert().success();
    let rows = rows("estimates.csv", &["local", "estimate", reports.to_str().expect("UTF-8")]);
    assert_eq!(rows[0]["name"], "'=1+1");
}

#[test]
fn a_table_that_cannot_be_written_is_refused() {
    let words =
        ["divergence", "gaussian", "--distance", "1", "--sigma", "1", "--csv", "no/such/folder/a.csv"];
    let assert = dobrushin(&words).assert().code(2).stdout("");
    let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(said.contains("cannot write no/such/folder/a.csv"), "{said}");
    // Commands without a table have no such flag.
    dobrushin(&["explain", "shift", "--csv", "a.csv"]).assert().code(2);
}
