//! `account --per-record`: who is protected how much.

use crate::support::{bounds, dobrushin, file, json};
use serde_json::Value;

/// The analyses that take no time for thousands of records.
const QUICK: &str = "composition,contraction-published,shift-renyi";

/// The lines of the CSV file that a run writes.
fn csv(name: &str, arguments: &[&str]) -> Vec<(u64, f64, String)> {
    let path = file(name, "");
    dobrushin(&[&["account"], arguments].concat()).arg("--per-record-csv").arg(&path).assert().success();
    let text = std::fs::read_to_string(&path).expect("it was written");
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [record, lower, upper, analysis] = cells[..] else { panic!("{line}") };
        let ends: [f64; 2] = [lower, upper].map(|end| end.parse().expect("a number"));
        assert!(ends[0] <= ends[1], "{line}");
        (record.parse().expect("a number"), upper.parse().expect("a number"), analysis.to_owned())
    };
    text.lines().skip(1).map(line).collect()
}

#[test]
fn every_record_has_a_line_that_its_own_account_confirms() {
    let base = ["examples/pnsgd.toml", "--set", "records=300", "--analyses", QUICK];
    let lines = csv("records.csv", &base);
    assert_eq!(lines.len(), 300);
    assert!(lines.iter().enumerate().all(|(index, line)| line.0 == index as u64 + 1));
    for record in [1, 2, 17, 150, 289, 298, 299, 300] {
        let set = format!("record={record}");
        let answer = json(&[&["account"], &base[..], &["--set", &set]].concat());
        let upper = bounds(&answer["guarantee"]["epsilon"]).1;
        let (_, shared, _) = lines[record - 1];
        assert!(upper <= shared && shared <= upper * 1.0011 + 1e-12, "{record}: {upper} and {shared}");
    }
    assert!(lines.is_sorted_by(|a, b| a.1 <= b.1), "later records are less private");
    assert!(lines[0].1 < lines[299].1 / 5.0);
}

#[test]
fn the_json_has_every_record_once() {
    let answer =
        json(&["account", "examples/pnsgd.toml", "--per-record", "--epsilon", "1", "--analyses", QUICK]);
    let rows = answer["records"].as_array().expect("a list");
    let ends = |row: &Value| (row["from"].as_u64().expect("a number"), row["to"].as_u64().expect("a number"));
    let mut next = 1;
    for row in rows {
        let (from, to) = ends(row);
        assert!(from == next && to >= from, "{row}");
        next = to + 1;
        bounds(&row["delta"]);
        bounds(&row["log_delta"]);
        assert!(row["analysis"].is_string());
    }
    assert_eq!(next, 10_001);
    let last = rows.last().expect("there are records");
    assert_eq!(last["delta"], answer["guarantee"]["delta"]);
    assert!(json(&["account", "examples/pnsgd.toml"])["records"].is_null());
}

#[test]
fn the_summary_is_short_and_has_the_first_and_the_last_record() {
    let assert = dobrushin(&["account", "examples/pnsgd.toml", "--per-record", "--analyses", QUICK])
        .assert()
        .success();
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("record ")).skip(1).collect();
    let rows = &rows[..rows.iter().position(|line| line.is_empty()).expect("the table ends")];
    assert!((3..=12).contains(&rows.len()), "{text}");
    assert!(rows[0].starts_with("1–") && rows[rows.len() - 1].starts_with("10000 "), "{text}");
    assert!(text.contains("Half of the records have ε ≤ 0, nine in ten ε ≤"), "{text}");
}

#[test]
fn passes_in_a_fixed_order_have_records_too() {
    let sets = ["--set", "order=cyclic", "--set", "records=20", "--set", "steps=50", "--analyses", QUICK];
    let base = [&["examples/pnsgd.toml"][..], &sets].concat();
    let lines = csv("cyclic.csv", &base);
    assert_eq!(lines.len(), 20);
    for record in [1, 10, 11, 20] {
        let set = format!("record={record}");
        let answer = json(&[&["account"], &base[..], &["--set", &set]].concat());
        let upper = bounds(&answer["guarantee"]["epsilon"]).1;
        let (_, shared, _) = lines[record - 1];
        assert!(upper <= shared && shared <= upper * 1.0011, "{record}: {upper} and {shared}");
    }
}

#[test]
fn protection_is_drawn() {
    for name in ["records.svg", "records.png", "records.html"] {
        let path = file(name, "");
        let arguments = ["account", "examples/pnsgd.toml", "--analyses", QUICK, "--per-record-plot"];
        dobrushin(&arguments).arg(&path).assert().success();
        let bytes = std::fs::read(&path).expect("it was written");
        assert!(bytes.len() > 2000 && !String::from_utf8_lossy(&bytes).contains("NaN"));
    }
}

#[test]
fn records_without_a_place_are_refused() {
    for run in
        ["examples/dp-sgd.toml", "examples/chain.toml", "examples/mechanisms.toml", "examples/noisy-gd.toml"]
    {
        let assert = dobrushin(&["account", run, "--per-record"]).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains("no fixed place") && message.contains("\"cyclic\""), "{message}");
    }
    let long = ["account", "examples/online.toml", "--set", "records=5000", "--per-record"];
    let assert = dobrushin(&long).assert().code(2).stdout("");
    let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(message.contains("run.record"), "{message}");
    let folder =
        ["account", "examples/pnsgd.toml", "--analyses", QUICK, "--per-record-csv", "no/such/folder/a.csv"];
    dobrushin(&folder).assert().code(2).stdout("");
}

#[test]
fn a_delta_that_underflows_is_in_the_csv_file_by_its_logarithm() {
    let path = file("deltas.csv", "");
    let base = ["account", "examples/pnsgd.toml", "--set", "gradient-noise=500", "--epsilon", "3"];
    dobrushin(&base).arg("--per-record-csv").arg(&path).assert().success();
    let text = std::fs::read_to_string(&path).expect("it was written");
    assert_eq!(
        text.lines().next(),
        Some("record,delta_lower,delta_upper,analysis,log_delta_lower,log_delta_upper")
    );
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells.len(), cells[2]), (6, "5e-324"), "{line}");
        assert!(cells[5].parse().is_ok_and(|ln: f64| ln < -2e5), "{line}");
    }
}
