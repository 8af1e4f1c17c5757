//! `dobrushin calibrate` as the interface promises it.

use crate::support::{bounds, dobrushin, file, json};

#[test]
fn calibrate_json_has_the_fields_of_the_contract_and_account_agrees() {
    let arguments = ["calibrate", "examples/dp-sgd.toml", "--epsilon", "2", "--delta", "1e-5", "--parameter"];
    let answer = json(&[&arguments[..], &["noise-multiplier"]].concat());
    assert_eq!(answer["parameter"], "noise-multiplier");
    assert_eq!(
        (&answer["delta"], &answer["analysis"]),
        (&serde_json::json!(1e-5), &serde_json::json!("composition"))
    );
    let value = answer["value"].as_f64().expect("a number");
    assert!((1.0928..1.0930).contains(&value), "{value}");
    let (_, upper) = bounds(&answer["epsilon"]);
    assert!(upper <= 2.0 && upper > 1.9999);
    let at = |value: f64| {
        let set = format!("update.noise-multiplier={value}");
        bounds(&json(&["account", "examples/dp-sgd.toml", "--set", &set])["guarantee"]["epsilon"]).1
    };
    assert!(at(value) <= 2.0 && at(value * (1.0 - 1e-5)) > 2.0);
}

#[test]
fn the_searched_parameter_need_not_be_in_the_file_and_the_target_may_be() {
    let path = file(
        "open.toml",
        "[run]\nalgorithm = \"dp-sgd\"\nrecords = 1000\nsteps = 100\nbatch-size = 10\norder = \"poisson\"\n\
         neighbours = \"zero-out\"\n[target]\ndelta = 1e-6\n",
    );
    let path = path.to_str().expect("UTF-8");
    let answer = json(&["calibrate", path, "--epsilon", "1", "--parameter", "noise-multiplier"]);
    assert_eq!(answer["delta"], 1e-6);
    let answer =
        json(&["calibrate", path, "--epsilon", "1", "--parameter", "steps", "--set", "noise-multiplier=1.5"]);
    assert!(answer["value"].is_u64() && answer["value"].as_u64() > Some(1), "{answer}");
}

#[test]
fn attacks_are_targets_too() {
    let base = ["calibrate", "examples/dp-sgd.toml", "--parameter", "noise-multiplier"];
    let answer = json(&[&base[..], &["--advantage", "0.1"]].concat());
    let (lower, upper) = bounds(&answer["advantage"]);
    assert!(upper <= 0.1 && lower > 0.0999, "{answer}");
    let answer = json(&[&base[..], &["--tpr", "0.05", "--fpr", "0.01"]].concat());
    let (lower, upper) = bounds(&answer["tpr"]);
    assert!(upper <= 0.05 && lower > 0.0499 && answer["fpr"] == 0.01, "{answer}");
}

#[test]
fn the_answer_is_first() {
    let assert = dobrushin(&["calibrate", "examples/dp-sgd.toml", "--epsilon", "2", "--parameter", "steps"])
        .assert()
        .success();
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with("steps = 7432\n") && words.contains("next whole number fails"), "{text}");
}

#[test]
fn a_target_out_of_reach_is_exit_code_one() {
    let assert = dobrushin(&[
        "calibrate",
        "examples/dp-sgd.toml",
        "--epsilon",
        "1e-6",
        "--delta",
        "1e-12",
        "--parameter",
        "steps",
    ])
    .assert()
    .code(1)
    .stdout("");
    let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    for words in ["cannot be reached by steps", "even 1 gives", "help:"] {
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn targets_that_make_no_sense_are_refused() {
    let base = ["calibrate", "examples/dp-sgd.toml", "--parameter", "noise-multiplier"];
    for (more, words) in [
        (&["--delta", "1e-5"][..], "there is no target"),
        (&["--epsilon", "0"], "--advantage"),
        (&["--tpr", "0.01", "--fpr", "0.05"], "tpr > fpr"),
        (&["--tpr", "0.01"], "--fpr"),
        (&["--advantage", "0.1", "--epsilon", "1"], "--epsilon"),
        (&["--advantage", "1.5"], "between 0 and 1"),
    ] {
        let assert = dobrushin(&[&base[..], more].concat()).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains(words), "{more:?}: {message}");
    }
    for (run, parameter, words) in [
        ("examples/dp-sgd.toml", "noise", "noise-multiplier"),
        ("examples/noisy-gd.toml", "learning-rate", "does not change the privacy"),
        ("examples/pnsgd.toml", "clip-norm", "update.lipschitz is given"),
        ("examples/chain.toml", "steps", "a chain given step by step has no parameter"),
        ("examples/mechanisms.toml", "steps", "a list of mechanisms has no parameter"),
    ] {
        let arguments = ["calibrate", run, "--epsilon", "1", "--parameter", parameter];
        let assert = dobrushin(&arguments).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains(words), "{parameter}: {message}");
    }
}

/// The value that is found meets the target, one that is a little less private does not, and the side is named.
fn found_and_checked(name: &str, parameter: &str, epsilon: &str, side: &str, worse: impl Fn(f64) -> f64) {
    let path = format!("examples/{name}.toml");
    let arguments = ["calibrate", &path, "--parameter", parameter, "--epsilon", epsilon, "--delta", "1e-5"];
    let text = dobrushin(&arguments).assert().success().get_output().stdout.clone();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains(side), "{parameter}: {text}");
    let value = text.lines().next().and_then(|line| line.strip_prefix(&format!("{parameter} = ")));
    let value: f64 = value.and_then(|value| value.parse().ok()).expect("the answer is first");
    let limit: f64 = epsilon.parse().expect("a number");
    let at = |value: f64| {
        let set = format!("{parameter}={value}");
        let answer = json(&["account", &path, "--delta", "1e-5", "--set", &set]);
        (bounds(&answer["guarantee"]["epsilon"]).1, answer["guarantee"]["analysis"].clone())
    };
    let (upper, analysis) = at(value);
    assert!(upper <= limit, "{parameter} = {value} gives {upper}");
    assert!(text.contains(&format!("by {}", analysis.as_str().expect("a name"))), "{analysis}: {text}");
    assert!(at(worse(value)).0 > limit, "{parameter} = {value} is not the {side}");
}

const SMALLER: fn(f64) -> f64 = |value| value * (1.0 - 2e-5);
const LARGER: fn(f64) -> f64 = |value| value * (1.0 + 2e-5);

#[test]
fn noise_weight_decay_and_clip_norm_are_found_by_hidden_states() {
    found_and_checked("noisy-gd", "noise-multiplier", "2", "smallest noise", SMALLER);
    found_and_checked("regularised-dp-sgd", "clip-norm", "0.5", "largest clip norm", LARGER);
    found_and_checked("regularised-dp-sgd", "weight-decay", "0.1", "smallest weight decay", SMALLER);
}

#[test]
fn the_largest_diameter_is_found() {
    found_and_checked("public-tail", "diameter", "0.3", "largest diameter", LARGER);
}

#[test]
fn the_fewest_public_steps_are_found() {
    let fewer = |steps| steps - 1.0;
    found_and_checked("public-tail", "public-steps", "0.5", "smallest number of public steps", fewer);
}

#[test]
fn a_parameter_that_the_file_does_not_say_is_searched() {
    let text = std::fs::read_to_string(crate::support::root().join("examples/public-tail.toml"))
        .expect("an example");
    let path = file("no-diameter.toml", text.replace("diameter = 2.0", ""));
    let path = path.to_str().expect("UTF-8");
    let answer = json(&["calibrate", path, "--parameter", "diameter", "--epsilon", "0.3"]);
    assert!(answer["value"].as_f64() > Some(2.0) && bounds(&answer["epsilon"]).1 <= 0.3, "{answer}");
}
