//! `account --epsilon E --delta D`: yes or no; and run files from standard input.

use crate::support::{bounds, dobrushin, file, json, root};
use serde_json::Value;

const RUN: &str = "examples/noisy-gd.toml";

/// The first line, the JSON and the exit code.
fn asked(arguments: &[&str]) -> (String, Value, Option<i32>) {
    let output = |more: &[&str]| dobrushin(&[arguments, more].concat()).output().expect("it runs");
    let (text, report) = (output(&[]), output(&["--json"]));
    assert_eq!(text.status.code(), report.status.code());
    let first = String::from_utf8_lossy(&text.stdout).lines().next().unwrap_or_default().to_owned();
    (first, serde_json::from_slice(&report.stdout).unwrap_or_default(), text.status.code())
}

fn refused(arguments: &[&str], words: &[&str]) {
    let output = dobrushin(arguments).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
}

#[test]
fn both_targets_are_answered_with_yes_or_no_and_an_exit_code() {
    // ε is 2.558 at δ = 1e-5.
    let alone = json(&["account", RUN, "--delta", "1e-5"]);
    let (_, epsilon) = bounds(&alone["guarantee"]["epsilon"]);
    for (wanted, meets) in [("2.6", true), ("2.5", false), ("0", false), ("1e300", true)] {
        let (first, report, code) = asked(&["account", RUN, "--epsilon", wanted, "--delta", "1e-5"]);
        assert_eq!(report["meets"], meets, "{report}");
        assert_eq!(code, Some(i32::from(!meets)));
        assert!(first.starts_with(if meets { "Yes: " } else { "No: " }), "{first}");
        // Beside it stand the fields of the contract, as if ε alone were asked for.
        assert_eq!(report["target"], alone["target"]);
        assert_eq!(report["guarantee"], alone["guarantee"]);
        assert_eq!(report["at_epsilon"]["epsilon"].as_f64(), wanted.parse().ok());
        let (_, delta) = bounds(&report["at_epsilon"]["delta"]);
        assert_eq!(delta <= 1e-5, meets, "{delta}");
        assert_eq!(epsilon <= wanted.parse().expect("a number"), meets);
        if wanted != "1e300" {
            assert!(first.contains("δ = 1e-5") && first.contains(&format!("ε = {wanted}")), "{first}");
        }
    }
}

#[test]
fn both_targets_of_the_file_ask_the_same() {
    let text = std::fs::read_to_string(root().join(RUN)).expect("it is an example");
    let both = text.replace("[target]", "[target]\nepsilon = 2.6");
    assert_ne!(both, text);
    let path = file("both.toml", &both);
    let path = path.to_str().expect("UTF-8");
    let (first, report, code) = asked(&["account", path]);
    assert!(first.starts_with("Yes: ") && report["meets"] == true && code == Some(0), "{first}");
    // A flag, or a value that is set, replaces both.
    assert!(json(&["account", path, "--delta", "1e-5"]).get("meets").is_none());
    assert!(json(&["account", path, "--set", "target.epsilon=1"]).get("meets").is_none());
    // A search has both targets, and so has training.
    let found = json(&["calibrate", path, "--parameter", "noise-multiplier"]);
    assert!(bounds(&found["epsilon"]).1 <= 2.6, "{found}");
    // A certificate is about the ε at the given δ.
    let certificate = file("both.json", "");
    let certificate = certificate.to_str().expect("UTF-8");
    assert_eq!(asked(&["account", path, "--certificate", certificate]).2, Some(0));
    assert_eq!(dobrushin(&["verify", certificate]).output().expect("it runs").status.code(), Some(0));
}

#[test]
fn no_guarantee_at_all_is_a_no() {
    let steps = ["account", RUN, "--set", "steps=any", "--set", "release=all"];
    let (first, report, code) = asked(&[&steps[..], &["--epsilon", "1", "--delta", "1e-5"]].concat());
    assert!(first.starts_with("No: ") && code == Some(1), "{first}");
    assert!(report["meets"] == false && report["guarantee"].is_null(), "{report}");
    assert!(report["at_epsilon"].get("delta").is_none());
}

#[test]
fn values_that_are_no_targets_are_refused() {
    for (epsilon, delta) in [
        ("NaN", "1e-5"),
        ("inf", "1e-5"),
        ("-1", "1e-5"),
        ("1", "NaN"),
        ("1", "-1"),
        ("1", "2"),
        ("1", "1"),
        ("x", "1e-5"),
    ] {
        refused(&["account", RUN, "--epsilon", epsilon, "--delta", delta], &[]);
    }
    refused(&["account", RUN, "--epsilon", "1", "--delta", "1"], &["it must be below 1"]);
    refused(
        &["curve", RUN, "--over", "steps=1,10", "--epsilon", "1", "--delta", "1e-5"],
        &["both given", "account"],
    );
    let text = std::fs::read_to_string(root().join(RUN)).expect("it is an example");
    for bad in ["epsilon = nan", "epsilon = -1", "epsilon = \"one\"", "epsilon = inf"] {
        let path = file("bad-target.toml", text.replace("[target]", &format!("[target]\n{bad}")));
        refused(&["account", path.to_str().expect("UTF-8")], &["target.epsilon"]);
    }
}

fn piped(arguments: &[&str], text: &str) -> (String, String, Option<i32>) {
    let output = dobrushin(arguments).write_stdin(text).output().expect("it runs");
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (words(&output.stdout), words(&output.stderr), output.status.code())
}

#[test]
fn a_run_from_standard_input_is_answered_like_a_file() {
    let text = std::fs::read_to_string(root().join(RUN)).expect("it is an example");
    for words in [
        &["account", RUN, "--json"][..],
        &["account", RUN, "--set", "steps=10"],
        &["calibrate", RUN, "--parameter", "noise-multiplier", "--epsilon", "1"],
        &["curve", RUN, "--over", "steps=1,10", "--json"],
    ] {
        let output = dobrushin(words).output().expect("it runs");
        let from_input: Vec<&str> = words.iter().map(|&word| if word == RUN { "-" } else { word }).collect();
        let (printed, said, code) = piped(&from_input, &text);
        assert_eq!(code, Some(0), "{words:?}: {said}");
        assert_eq!(printed, String::from_utf8_lossy(&output.stdout), "{words:?}");
    }
}

#[test]
fn a_certificate_from_standard_input_is_verified() {
    let path = file("piped.json", "");
    let path = path.to_str().expect("UTF-8");
    assert_eq!(
        dobrushin(&["account", RUN, "--certificate", path]).output().expect("it runs").status.code(),
        Some(0)
    );
    let text = std::fs::read_to_string(path).expect("it is written");
    assert_eq!(piped(&["verify", "-"], &text).2, Some(0));
    assert_eq!(piped(&["certificate", "verify", "-"], &text).2, Some(0));
    let forged = text.replace("\"steps\": 1000", "\"steps\": 999");
    assert_ne!(forged, text);
    assert_eq!(piped(&["verify", "-"], &forged).2, Some(1));
}

#[test]
fn names_in_a_run_from_standard_input_are_relative_to_the_current_folder() {
    let text =
        std::fs::read_to_string(root().join("examples/loans/logistic.toml")).expect("it is an example");
    let named = text.replace("schema.toml", "examples/loans/schema.toml");
    let (_, said, code) = piped(&["account", "-"], &named);
    assert_eq!(code, Some(0), "{said}");
    let (_, said, code) = piped(&["account", "-"], &text);
    assert!(code == Some(2) && said.contains("cannot read schema.toml"), "{said}");
    // A name in a file is never standard input.
    let (_, said, code) = piped(&["account", "-"], &text.replace("\"schema.toml\"", "\"-\""));
    assert!(code == Some(2) && said.contains("cannot read ./-"), "{said}");
}

#[test]
fn bad_text_from_standard_input_is_refused_by_that_name() {
    for (text, words) in [
        ("", "standard input is empty"),
        ("[run", "standard input is not TOML"),
        ("[run]\nrecord = 1\n", "run.algorithm"),
    ] {
        let (_, said, code) = piped(&["account", "-"], text);
        assert!(code == Some(2) && said.contains(words), "{said}");
    }
    let output = dobrushin(&["account", "-"]).write_stdin(&b"\xff\xfe"[..]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard input is not UTF-8"));
}

#[test]
fn two_inputs_cannot_both_be_standard_input() {
    let (_, said, code) = piped(&["certificate", "verify", "-", "--model", "-"], "{}");
    assert!(code == Some(2) && said.contains("cannot both come from standard input"), "{said}");
    let (_, said, code) = piped(&["train", "-", "--run", "-", "--out", "never"], "");
    assert!(code == Some(2) && said.contains("the data and the run cannot both"), "{said}");
}
