//! `--utility`: how good a run is, beside how private.

use crate::support::{bounds, dobrushin, file, json};
use serde_json::{Value, json};

/// examples/stop-pnsgd.toml with a dimension and a rate at which its bound says something.
const STOP: [&str; 8] = [
    "examples/stop-pnsgd.toml",
    "--set",
    "dimension=5",
    "--set",
    "learning-rate=0.002",
    "--analyses",
    "shift",
    "--utility",
];

fn with(command: &'static str, more: &[&'static str]) -> Vec<&'static str> {
    [&[command][..], &STOP, more].concat()
}

#[test]
fn account_says_what_noise_costs() {
    let answer = json(&with("account", &[]));
    let utility = &answer["utility"];
    assert_eq!(utility["measure"], "excess-population-risk");
    assert_eq!(utility["id"], "utility-average");
    // D²/(2ηn) + (η/2)·((n−1)·G² + L²)/n with G² = 1 + 5·16.
    let expected = 4.0 / 40.0 + 0.001 * (9999.0 * 81.0 + 1.0) / 10_000.0;
    let (lower, upper) = bounds(&utility["value"]);
    assert!(lower <= expected * (1.0 + 1e-14) && upper >= expected * (1.0 - 1e-14));
    assert!(upper - lower < 1e-12);
    let assumptions = utility["assumptions"].as_array().expect("a list");
    assert!(assumptions.iter().any(|words| words.as_str().expect("words").contains("independent draws")));
    let all = utility["all"].as_array().expect("a list");
    let ids: Vec<&Value> = all.iter().map(|entry| &entry["id"]).collect();
    assert_eq!(ids, ["utility-average", "utility-last", "utility-domain"]);
    assert!(all[1]["not_applicable"].as_str().expect("words").contains("run.release"));
    let best = &utility["best_rate"];
    assert!(bounds(&best["value"]).1 <= upper && best["learning_rate"].as_f64().expect("a number") > 0.002);
}

#[test]
fn utility_changes_neither_the_guarantee_nor_the_exit_code() {
    let quickly = ["--analyses", "closed-form"];
    for run in [
        &["examples/mechanisms.toml"][..],
        &[&["examples/chain.toml"][..], &quickly].concat(),
        &[&["examples/stop-pnsgd.toml"][..], &quickly].concat(),
        &[&["examples/online.toml", "--set", "dimension=3"][..], &quickly].concat(),
    ] {
        let plain = json(&[&["account"], run].concat());
        let mut more = json(&[&["account", "--utility"], run].concat());
        let utility = more.as_object_mut().expect("an object").remove("utility").expect("it was asked for");
        let applies = run.contains(&"dimension=3");
        assert_eq!(utility["value"].is_object(), applies, "{utility}");
        assert_eq!(utility["not_applicable"].is_string(), !applies, "{utility}");
        assert_eq!(plain, more);
    }
    let nothing = file(
        "nothing.toml",
        "[run]\nalgorithm = \"pnsgd\"\nrecords = 10\norder = \"once\"\n[update]\nlearning-rate = 0.1\niterate-noise = 1.0\n\
         [target]\ndelta = 1e-5\n",
    );
    let path = nothing.to_str().expect("UTF-8");
    dobrushin(&["account", path]).assert().code(1);
    dobrushin(&["account", path, "--utility"]).assert().code(1);
}

#[test]
fn people_read_the_bound_its_assumptions_and_the_best_rate() {
    let read = |arguments: &[&str]| {
        let output = dobrushin(arguments).assert().success().get_output().stdout.clone();
        String::from_utf8(output).expect("UTF-8")
    };
    let text = read(&with("account", &[]));
    for words in [
        "Expected excess population risk ≤ 0.18",
        "by utility-average",
        "Assumptions of this bound",
        "--set learning-rate=",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.find("(ε, δ) =") < text.find("Expected excess"));
    let quiet = read(&with("account", &["--quiet"]));
    assert!(quiet.contains("Expected excess population risk ≤") && !quiet.contains("Assumptions"));
    let vacuous = read(&with("account", &["--set", "gradient-noise=1000"]));
    assert!(vacuous.contains("by utility-domain") && vacuous.contains("nothing is said about the run"));
    let refused = read(&["account", "examples/stop-pnsgd.toml", "--analyses", "shift", "--utility"]);
    assert!(refused.contains("No bound on the utility") && refused.contains("[domain] dimension"));
    let online =
        ["account", "examples/online.toml", "--set", "dimension=1", "--analyses", "shift", "--utility"];
    let online = read(&[&online[..], &["--set", "gradient-noise=0.5"]].concat());
    assert!(
        online.contains("Expected average regret ≤") && online.contains("Expected excess population risk ≤")
    );
}

#[test]
fn a_curve_has_the_excess_in_the_order_of_the_guarantee() {
    let answer = json(&with("curve", &["--over", "gradient-noise=1,2,4"]));
    let excess: Vec<f64> = (0..3).map(|i| bounds(&answer["utility"][i]).1).collect();
    let delta: Vec<f64> = (0..3).map(|i| bounds(&answer["guarantee"][i]).1).collect();
    assert!(excess.is_sorted() && delta.is_sorted_by(|a, b| a >= b), "{excess:?} {delta:?}");
    let one = json(&with("account", &["--set", "gradient-noise=2"]));
    assert_eq!(bounds(&one["utility"]["value"]), bounds(&answer["utility"][1]));
    assert_eq!(answer["utility"][1]["measure"], "excess-population-risk");
    let two =
        json(&with("curve", &["--over", "gradient-noise=1,2", "--over", "release=random-stop,last,all"]));
    assert_eq!(two["utility"].as_array().expect("rows").len(), 2);
    assert_eq!(two["utility"][1].as_array().expect("a row").len(), 3);
    assert_eq!(two["utility"][1][0], answer["utility"][1]);
    let some = json(&with("curve", &["--over", "weight-decay=0,0.1"]));
    assert!(some["utility"][0].is_object() && some["utility"][1] == Value::Null);
    let without =
        json(&["curve", "examples/stop-pnsgd.toml", "--over", "gradient-noise=1", "--analyses", "shift"]);
    assert_eq!(without.get("utility"), None);
}

#[test]
fn the_table_of_a_curve_has_a_column_for_the_excess_and_says_why_it_is_missing() {
    let output = dobrushin(&with("curve", &["--over", "weight-decay=0,0.1"]))
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let text = String::from_utf8(output).expect("UTF-8");
    for words in
        ["excess at most", "The excess is the expected excess population risk", "update.weight-decay", "–"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn privacy_is_drawn_against_excess() {
    for (name, over) in [
        ("excess.svg", &["--over", "gradient-noise=1..9"][..]),
        ("excesses.svg", &["--over", "gradient-noise=1..9", "--over", "records=1000,10000"]),
    ] {
        let path = file(name, "");
        dobrushin(&with("curve", over)).args(["--points", "4", "--plot"]).arg(&path).assert().success();
        let svg = std::fs::read_to_string(&path).expect("it was written");
        assert!(svg.contains("expected excess population risk at most") && svg.contains(">δ at most "));
        assert!(!svg.contains("no finite points"));
        assert_eq!(svg.contains("run.records = 1000"), name == "excesses.svg");
    }
}

#[test]
fn the_theorems_about_utility_can_be_read() {
    let listed = json(&["explain"]);
    let ids: Vec<&str> =
        listed["statements"].as_array().expect("a list").iter().filter_map(|s| s["id"].as_str()).collect();
    for id in ["utility-average", "utility-last", "utility-domain", "utility-regret", "prescription-public"] {
        assert!(ids.contains(&id), "{id}");
        let one = json(&["explain", id]);
        assert_eq!(one["is_analysis"], json!(false));
    }
    assert!(json(&["explain", "prescription-public"])["errata"][0].as_str().expect("words").contains("E12"));
    let list = dobrushin(&["explain"]).assert().success().get_output().stdout.clone();
    assert!(String::from_utf8(list).expect("UTF-8").contains("\nUtility\n"));
}
