//! `dobrushin calibrate` as the interface promises it.

mod support;

use support::{bounds, dobrushin, file, json};

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
    assert!(text.starts_with("steps = 7432\n") && text.contains("next whole number fails"), "{text}");
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
    for (parameter, words) in
        [("noise", "noise-multiplier"), ("learning-rate", "does not change the privacy")]
    {
        let arguments = ["calibrate", "examples/dp-sgd.toml", "--epsilon", "1", "--parameter", parameter];
        let assert = dobrushin(&arguments).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains(words), "{parameter}: {message}");
    }
}
