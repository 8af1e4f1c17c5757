//! A δ of 1 is no guarantee, and one of 1/n or more allows that a record is published: no command is silent about it.

use crate::support::{dobrushin, file, json};
use crate::train_support::{LOANS, RUN, files_in, new_folder, refused, trained};
use serde_json::Value;

const GD: &str = "examples/noisy-gd.toml";

#[test]
fn a_delta_of_1_is_certified_by_nothing_and_met_by_nothing() {
    let folder = new_folder();
    let out = folder.display().to_string();
    let certificate = file("delta-of-1.json", "");
    std::fs::remove_file(&certificate).expect("it was just made");
    let path = certificate.display().to_string();
    for arguments in [
        &["train", LOANS, "--run", RUN, "--out", &out, "--epsilon", "1", "--delta", "1"][..],
        &["train", LOANS, "--run", RUN, "--out", &out, "--delta", "1"],
        &["train", LOANS, "--run", RUN, "--out", &out, "--set", "target.delta=1"],
        &["calibrate", GD, "--parameter", "noise-multiplier", "--epsilon", "1", "--delta", "1"],
    ] {
        let (code, text) = refused(arguments);
        assert!(code == Some(2) && text.contains("δ is 1, but it must be below 1"), "{arguments:?}: {text}");
    }
    // At an ε so small that δ is 1, and without noise, there is nothing to certify either.
    let unprotected = ["--set", "noise-multiplier=1e-3", "--epsilon", "0.1"];
    let infinite = ["--set", "noise-multiplier=1e-200"];
    for (more, words) in
        [(&["--delta", "1"][..], "δ = 1"), (&unprotected, "δ = 1"), (&infinite, "ε is infinite")]
    {
        let (code, text) = refused(&[&["account", GD, "--certificate", &path], more].concat());
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("there is no certificate") && text.contains(words), "{more:?}: {text}");
        assert!(!certificate.exists());
    }
    let asked = ["train", LOANS, "--run", RUN, "--out", &out, "--set", "target.epsilon=0.1"];
    let (code, text) = refused(&[&asked[..], &["--set", "noise-multiplier=1e-3"]].concat());
    assert!(code == Some(1) && text.contains("nothing is trained"), "{text}");
    assert_eq!(files_in(&folder), [""; 0]);
    // A question is answered, with a word on what the answer is worth.
    let output = dobrushin(&["account", GD, "--delta", "1", "--quiet"]).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("Warning: δ = 1 is no guarantee"), "{text}");
}

/// Whether the warnings have the words about 1/n.
fn warned(answer: &Value) -> bool {
    let list = answer["warnings"].as_array().expect("a list of warnings");
    list.iter()
        .any(|warning| warning.as_str().is_some_and(|words| words.contains("publishing one of them in full")))
}

#[test]
fn every_command_warns_of_a_delta_of_1_over_n_or_more() {
    // There are 1,000 records.
    for (delta, expected) in [("1e-3", true), ("0.5", true), ("9.99e-4", false)] {
        let at = ["--delta", delta];
        let certificate = file(&format!("large-{delta}.json"), "").display().to_string();
        let account = json(&[&["account", GD, "--certificate", &certificate], &at[..]].concat());
        assert_eq!(warned(&account), expected, "account {delta}");
        let written = std::fs::read(&certificate).expect("it was written");
        let written: Value = serde_json::from_slice(&written).expect("JSON");
        assert_eq!(warned(&written), expected, "certificate {delta}");
        dobrushin(&["verify", &certificate]).assert().success();
        let calibrate = ["calibrate", GD, "--parameter", "noise-multiplier", "--epsilon", "1"];
        assert_eq!(warned(&json(&[&calibrate[..], &at].concat())), expected, "calibrate {delta}");
        let curve = ["curve", GD, "--over", "steps=1,2", "--analyses", "composition"];
        assert_eq!(warned(&json(&[&curve[..], &at].concat())), expected, "curve {delta}");
        for command in [&["account", GD][..], &calibrate, &curve] {
            let output = dobrushin(command).args(at).arg("--quiet").output().expect("it runs");
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            assert_eq!(text.contains("Warning: "), expected, "{command:?}: {text}");
        }
    }
    // 3,000 records.
    let (answer, folder) = trained(&["--set", "steps=20", "--delta", "0.001"]);
    assert!(warned(&answer));
    let text = std::fs::read_to_string(folder.join("certificate.txt")).expect("it was written");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("δ = 0.001 is not below 1/n for the n = 3000 records"), "{text}");
}

#[test]
fn a_delta_that_is_the_answer_is_held_to_the_same() {
    assert!(warned(&json(&["account", GD, "--epsilon", "0.5"])));
    assert!(!warned(&json(&["account", GD, "--epsilon", "5"])));
    // Where the number of records is a secret, its declared bound counts.
    let secret = ["account", "examples/dp-sgd.toml", "--analyses", "composition-renyi"];
    assert!(warned(&json(&[&secret[..], &["--delta", "1e-4"]].concat())));
    assert!(!warned(&json(&[&secret[..], &["--delta", "1e-4", "--set", "records=1000"]].concat())));
}
