//! `dobrushin audit --train`: models of two neighbouring tables, attacked.

use crate::support::{bounds, dobrushin, file, own_folder, root};
use crate::train_support::{LOANS, RUN};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Two steps with full batches: the attack sees what is claimed, and a model takes no time.
const SHORT: [&str; 11] = [
    "audit",
    "--train",
    LOANS,
    "--run",
    RUN,
    "--set",
    "order=full",
    "--set",
    "batch-size=3000",
    "--set",
    "steps=2",
];

/// The exit code, the JSON, and what is said on standard error.
fn asked(base: &[&str], more: &[&str]) -> (Option<i32>, Value, String) {
    let output = dobrushin(&[base, more].concat()).arg("--json").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default(), said)
}

fn refused(arguments: &[&str], words: &[&str]) {
    let output = dobrushin(arguments).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty());
    assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

/// A path at which no file is.
fn new_path(name: &str) -> PathBuf {
    let path = own_folder().join(name);
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn the_json_has_the_fields_of_the_contract() {
    let (code, report, said) = asked(&SHORT, &["--runs", "400", "--set", "noise-multiplier=2"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(report["violation"], Value::Bool(false));
    let ids = ["crafted-gradient", "crafted-last-pass", "crafted-landscape", "extreme-record", "one-run"];
    let attacks = report["attacks"].as_array().expect("a list");
    assert_eq!(attacks.iter().map(|attack| attack["id"].as_str()).collect::<Vec<_>>(), ids.map(Some));
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} is a number"));
    let guarantee = bounds(&report["guarantee"]["epsilon"]).1;
    for attack in attacks {
        let (proved, most) = (number(&attack["epsilon"]["lower"]), number(&attack["provable_at_most"]));
        assert!((0.0..=most).contains(&proved) && proved < guarantee, "{attack}");
        assert_eq!(attack["confidence"].as_f64(), Some(0.95));
        let runs = if attack["id"] == "one-run" { 1 } else { 800 };
        assert_eq!(attack["runs"].as_u64(), Some(runs));
    }
    // Two full steps with noise 2 and opposite records are √2 apart, and ε is 6.6; this many runs prove a part of it.
    assert!((6.0..7.0).contains(&guarantee), "{guarantee}");
    assert!(number(&attacks[0]["epsilon"]["lower"]) > 0.5, "{}", attacks[0]);
    assert!(number(&attacks[0]["gaussian"]["epsilon"]["lower"]) > 0.5 * guarantee, "{}", attacks[0]);
    assert!(attacks[4]["canaries"].as_u64() > Some(5) && attacks[4]["gaussian"].is_null());
    assert!(bounds(&report["floor"]["epsilon"]).0 <= guarantee);
    assert!(bounds(&report["composition"]["epsilon"]).1 >= guarantee);
    let warning = report["warnings"][0].as_str().expect("there is one");
    assert!(warning.contains("not private"), "{warning}");
    let public = asked(&SHORT, &["--runs", "4", "--attacks", "crafted-gradient", "--data-is-public"]);
    assert_eq!(public.1["warnings"].as_array().map(Vec::len), Some(0));
}

#[test]
fn the_report_depends_on_the_seed_and_not_on_threads_or_interruptions() {
    let more = ["--runs", "60", "--attacks", "crafted-gradient,extreme-record,one-run"];
    let (_, expected, said) = asked(&SHORT, &more);
    assert!(expected["attacks"].is_array(), "{said}");
    let output =
        dobrushin(&[&SHORT[..], &more].concat()).arg("--json").env("RAYON_NUM_THREADS", "1").output();
    let single: Value = serde_json::from_slice(&output.expect("it runs").stdout).expect("valid JSON");
    assert_eq!(single, expected);
    assert_ne!(asked(&SHORT, &[&more[..], &["--seed", "2"]].concat()).1["attacks"], expected["attacks"]);

    // First a part of the runs; then the file loses its end, as if the program had been killed while it wrote.
    let path = new_path("resumed.state");
    let state = ["--state", &text(&path)];
    let part = ["--runs", "20", "--attacks", "crafted-gradient,one-run"];
    assert_eq!(asked(&SHORT, &[&part[..], &state].concat()).0, Some(0));
    let bytes = std::fs::read(&path).expect("it was written");
    std::fs::write(&path, &bytes[..bytes.len() - 7]).expect("the folder is ours");
    let (code, resumed, said) = asked(&SHORT, &[&more[..], &state].concat());
    assert_eq!((code, &resumed), (Some(0), &expected), "{said}");
    let lines = || std::fs::read_to_string(&path).expect("it is text").lines().count();
    assert_eq!(lines(), 1 + 2 * 2 * 60);
    // Nothing is left to do, and nothing is written.
    assert_eq!(asked(&SHORT, &[&more[..], &state].concat()).1, expected);
    assert_eq!(lines(), 1 + 2 * 2 * 60);
    // What is known is used: another score in the file makes another report.
    let mut words: Vec<String> =
        std::fs::read_to_string(&path).expect("it is text").lines().map(str::to_owned).collect();
    words[1..].iter_mut().filter(|line| line.contains("crafted-gradient with ")).for_each(|line| {
        let place = line.rfind(' ').expect("words") + 1;
        line.replace_range(place.., "1e9");
    });
    std::fs::write(&path, words.join("\n") + "\n").expect("the folder is ours");
    assert_ne!(asked(&SHORT, &[&more[..], &state].concat()).1["attacks"], expected["attacks"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "scores tell about records");
    }
    // It is the state of these records, this run and this seed.
    for other in [&["--seed", "2"][..], &["--set", "noise-multiplier=3"]] {
        let words = ["is the state of another audit", "--state"];
        refused(&[&SHORT[..], &more, &state, other].concat(), &words);
    }
}

#[test]
fn a_claim_below_the_truth_is_contradicted_and_the_exit_code_is_1() {
    let few = ["--runs", "300", "--set", "noise-multiplier=0.5", "--attacks", "crafted-gradient"];
    let claim = ["--epsilon", "1", "--delta", "1e-5"];
    let (code, report, said) = asked(&SHORT, &[&few[..], &claim].concat());
    assert_eq!((code, &report["violation"]), (Some(1), &Value::Bool(true)), "{said}");
    assert_eq!(bounds(&report["guarantee"]["epsilon"]), (1.0, 1.0));
    assert!(report["guarantee"]["analysis"].is_null());
    let found = &report["attacks"][0]["contradiction"];
    assert!(found["proved_delta"].as_f64() > found["claimed_delta"].as_f64());
    // The floor of the run is above the claim, too.
    assert!(bounds(&report["floor"]["epsilon"]).0 > 1.0);
    let output = dobrushin(&[&SHORT[..], &few, &claim].concat()).output().expect("it runs");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(said.starts_with("The claim ε ≤ 1 at δ = 1e-5 is false, with 95% confidence."), "{said}");
    for word in ["What to suspect", "another run", "neighbours", "not private"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    // What the run itself guarantees is true.
    assert_eq!(asked(&SHORT, &few).0, Some(0));
    // A file that names a target has its noise found, as for training; an ε that is given is only claimed.
    let target =
        ["--set", "target.epsilon=2", "--delta", "1e-5", "--runs", "4", "--attacks", "crafted-gradient"];
    let found = asked(&SHORT, &target).1;
    assert!((1.9..=2.0).contains(&bounds(&found["guarantee"]["epsilon"]).1), "{found}");
}

#[test]
fn canaries_in_one_run_contradict_a_claim_that_is_far_too_small() {
    let more =
        ["--attacks", "one-run", "--set", "noise-multiplier=0.001", "--epsilon", "0.01", "--delta", "1e-5"];
    let (code, report, said) = asked(&SHORT, &more);
    assert_eq!(code, Some(1), "{said}");
    let attack = &report["attacks"][0];
    assert_eq!(attack["runs"].as_u64(), Some(1));
    // Almost no noise: every guess is right.
    assert!(attack["guesses"].as_u64() >= Some(8) && attack["right"] == attack["guesses"], "{attack}");
    let found = &attack["contradiction"];
    assert!(found["proved_delta"].as_f64() > found["claimed_delta"].as_f64(), "{found}");
}

#[test]
fn neighbours_that_are_added_stay_within_the_bound_on_their_number() {
    let more =
        ["--runs", "40", "--set", "order=poisson", "--set", "neighbours=add-or-remove-one", "--attacks"];
    // The file has as many records as the bound says, and with a larger bound some places are empty.
    for records in ["3000", "3100"] {
        let set = ["crafted-gradient,crafted-opposition,one-run", "--set", &format!("records={records}")];
        let (code, report, said) = asked(&SHORT, &[&more[..], &set].concat());
        assert_eq!((code, report["attacks"].as_array().map(Vec::len)), (Some(0), Some(3)), "{said}");
    }
}

#[test]
fn the_trade_off_is_drawn_with_floor_composition_and_every_attack() {
    let path = new_path("trained.svg");
    let run = [
        "audit",
        "--train",
        LOANS,
        "--run",
        RUN,
        "--set",
        "steps=20",
        "--runs",
        "12",
        "--plot",
        &text(&path),
    ];
    let output = dobrushin(&run).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let drawn = std::fs::read_to_string(&path).expect("it was drawn");
    for word in ["guarantee", "composition", "floor", "guessing", "crafted-landscape", "extreme-record"] {
        assert!(drawn.contains(word), "{word}");
    }
}

#[test]
fn bad_input_is_refused_with_the_key_and_a_way_out() {
    for (more, words) in [
        (&["--runs", "0"][..], &["--runs", "0"][..]),
        (&["--runs", "3"], &["--runs is 3", "at least 4"]),
        (&["--runs", "many"], &["--runs"]),
        (&["--attacks", "guessing"], &["there is no attack \"guessing\"", "crafted-gradient", "one-run"]),
        (&["--attacks", ""], &["--attacks"]),
        (&["--set", "steps=any"], &["run.steps", "training must end"]),
        (&["--set", "release=all"], &["run.release", "last"]),
        (&["--set", "model.schema=nowhere.toml"], &["nowhere.toml"]),
        (&["--set", "records=2999"], &["run.records", "3000"]),
        (&["--set", "public-steps=3"], &["--public"]),
        (&["--set", "learning-rate=1e300"], &["update.learning-rate"]),
        (&["--confidence", "1"], &["below 1"]),
        (&["--epsilon", "1"], &["--delta"]),
        (&["--seed", "-1"], &["--seed"]),
        (&["--state", "no-such-folder/state"], &["no-such-folder/state"]),
        (&["--scores", LOANS, LOANS], &["cannot be used with"]),
        (&["--jobs", "2"], &["--command"]),
        (&["--plot", "trade-off.gif"], &[".svg"]),
        (&["examples/noisy-gd.toml"], &["cannot be used with"]),
    ] {
        refused(
            &[&SHORT[..], &["--runs", "8"][..usize::from(more[0] != "--runs") * 2], more].concat(),
            words,
        );
    }
    let notes = text(&file("notes.txt", "my notes\n"));
    refused(&[&SHORT[..], &["--runs", "8", "--state", &notes]].concat(), &["is not the state of an audit"]);
    assert_eq!(std::fs::read_to_string(&notes).expect("it is there"), "my notes\n");
    let of = |run: &str, words: &[&str]| refused(&["audit", "--train", LOANS, "--run", run], words);
    of("examples/dp-sgd.toml", &["there is no [model]"]);
    of("examples/chain.toml", &["[model]"]);
    of("nowhere.toml", &["nowhere.toml"]);
    refused(&["audit", "--train", LOANS], &["RUN.toml"]);
    refused(
        &["audit", "--train", LOANS, "--epsilon", "1", "--delta", "1e-5"],
        &["--run RUN.toml", "[model]"],
    );
    refused(&["audit", "--train", "nowhere.csv", "--run", RUN], &["nowhere.csv"]);
    // No output replaces an input.
    let copy = text(&file("copy.csv", std::fs::read(root().join(LOANS)).expect("it is there")));
    refused(&["audit", "--train", &copy, "--run", RUN, "--state", &copy], &["the data"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interruption_loses_no_score() {
    let path = new_path("interrupted.state");
    let words =
        ["audit", "--train", LOANS, "--run", RUN, "--attacks", "crafted-gradient", "--state", &text(&path)];
    let more = ["--runs", "60", "--json"];
    let expected = dobrushin(&[&words[..7], &more].concat()).output().expect("it runs").stdout;
    // Far more runs than there is time for.
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_dobrushin"))
        .current_dir(root())
        .args(words)
        .args(["--runs", "1e6"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let finished = || std::fs::read_to_string(&path).unwrap_or_default().lines().count();
    let start = std::time::Instant::now();
    while finished() < 20 && start.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("there is a kill").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(finished() >= 20);
    let resumed = dobrushin(&[&words[..], &more].concat()).output().expect("it runs").stdout;
    assert_eq!(resumed, expected);
}
