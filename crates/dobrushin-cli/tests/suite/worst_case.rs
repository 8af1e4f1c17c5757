//! `dobrushin audit RUN.toml`: the worst case that is known, beside the guarantee.

use crate::support::{bounds, dobrushin, file, json, own_folder};
use serde_json::Value;

fn said(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = dobrushin(arguments).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_json_has_the_fields_of_the_contract_and_the_levels_are_in_order() {
    let report = json(&["audit", "examples/dp-sgd.toml"]);
    let (floor, _) = bounds(&report["floor"]["epsilon"]);
    let (_, guarantee) = bounds(&report["guarantee"]["epsilon"]);
    let (_, composition) = bounds(&report["composition"]["epsilon"]);
    assert!(0.0 < floor && floor <= guarantee && guarantee <= composition);
    assert_eq!(
        (&report["violation"], report["attacks"].as_array().map(Vec::len)),
        (&Value::Bool(false), Some(0))
    );
    assert!(report["floor"]["instance"].as_str().is_some_and(|words| words.contains("record")));
    let event = &report["event"];
    assert!(event["likelier"].as_f64() > event["less_likely"].as_f64());
    assert!(event["intervals"].as_array().is_some_and(|intervals| !intervals.is_empty()));
    // The shortest run has one step, and the longest all of them.
    let points = report["gap"]["points"].as_array().expect("a list");
    let steps = &report["run"]["run"]["steps"];
    assert_eq!(points.first().and_then(|point| point["value"].as_u64()), Some(1));
    assert_eq!(
        points.last().and_then(|point| point["value"].as_u64()),
        steps.as_u64().or(points.last().and_then(|p| p["value"].as_u64()))
    );
    for point in points {
        assert!(point["floor"].as_f64() <= point["guarantee"].as_f64(), "{point}");
    }
    // The account says the same.
    assert_eq!(json(&["account", "examples/dp-sgd.toml"])["floor"], report["floor"]);
}

#[test]
fn the_event_tells_as_much_as_the_floor_says() {
    let report = json(&["audit", "examples/noisy-gd.toml"]);
    let (epsilon, _) = bounds(&report["floor"]["epsilon"]);
    let event = &report["event"];
    let [p, q] = ["likelier", "less_likely"].map(|key| event[key].as_f64().expect("a number"));
    assert!((p - epsilon.exp() * q - 1e-5).abs() < 2e-7, "{p} {q}");
}

#[test]
fn delta_can_be_asked_for_and_records_in_turn_have_later_steps() {
    let report = json(&["audit", "examples/papers/starts-bounded.toml"]);
    let (floor, _) = bounds(&report["floor"]["delta"]);
    let (_, guarantee) = bounds(&report["guarantee"]["delta"]);
    assert!(0.6 * guarantee < floor && floor < guarantee);
    let report = json(&["audit", "examples/public-tail.toml", "--epsilon", "0.1"]);
    assert!(report["floor"]["delta"].is_object());
    assert_eq!(report["gap"]["over"], "later_steps");
    assert_eq!(report["gap"]["points"][0]["value"], 0);
}

#[test]
fn the_two_laws_are_drawn() {
    let path = own_folder().join("laws.svg");
    let path = path.to_str().expect("UTF-8");
    assert_eq!(said(&["audit", "examples/noisy-gd.toml", "--plot", path]).0, Some(0));
    let drawn = std::fs::read_to_string(path).expect("it was written");
    for words in
        ["with the record", "without it", "the event that tells most", "The worst case that is known"]
    {
        assert!(drawn.contains(words), "{words}");
    }
    // What is published step by step is not one number.
    let (code, _, refused) = said(&["audit", "examples/federated.toml", "--plot", path]);
    assert_eq!(code, Some(2));
    assert!(refused.contains("not one number") && refused.contains("account --plot"), "{refused}");
}

#[test]
fn a_run_without_a_floor_or_a_guarantee_is_told_so() {
    let (code, text, _) = said(&["audit", "examples/laplace-pnsgd.toml"]);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("ε is at most") && text.contains("No worst case is known"), "{text}");
    let report = json(&["audit", "examples/laplace-pnsgd.toml"]);
    assert!(report["floor"].is_null() && report["gap"].is_null());
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let run = "[run]\nalgorithm = \"gradient-descent\"\nrecords = 100\nsteps = 1\n[update]\nlearning-rate = 1.0\n\
               clip-norm = 1.0\nnoise-multiplier = 1.0\n";
    let path = file("nothing-asked.toml", run);
    let path = path.to_str().expect("UTF-8");
    for (arguments, words) in [
        (vec!["audit", path], "target.delta"),
        (vec!["audit"], "RUN.toml"),
        (vec!["audit", "no-such-file.toml"], "no-such-file.toml"),
        (vec!["audit", path, "--epsilon", "1", "--delta", "1e-5"], "one question"),
        (vec!["audit", path, "--delta", "2"], "delta"),
        (vec!["audit", path, "--delta", "1e-5", "--runs", "10"], "--command"),
        (vec!["audit", path, "--delta", "1e-5", "--set", "steps=-1"], "steps"),
    ] {
        let (code, output, refused) = said(&arguments);
        assert_eq!((code, output.as_str()), (Some(2), ""), "{arguments:?}: {refused}");
        assert!(refused.contains(words), "{arguments:?}: {refused}");
    }
}
