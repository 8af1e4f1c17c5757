//! `[[task]]`: runs that differ, on the same records.

use crate::support::{bounds, dobrushin, file, json};
use serde_json::Value;
use std::path::Path;

const TASKS: &str = "examples/there-and-back.toml";

fn epsilon(answer: &Value) -> f64 {
    bounds(&answer["guarantee"]["epsilon"]).1
}

/// A run file with tasks.
fn with(name: &str, tasks: &str) -> std::path::PathBuf {
    let run = "
        [run]
        algorithm = 'pnsgd'
        records = 50
        release = 'last'
        [update]
        learning-rate = 0.1
        lipschitz = 1.0
        noise-multiplier = 4.0
        [loss]
        convex = true
        smoothness = 1.0
        [target]
        delta = 1e-6
    ";
    file(name, format!("{run}\n{tasks}"))
}

fn account(path: &Path, arguments: &[&str]) -> Value {
    json(&[&["account", path.to_str().expect("UTF-8")], arguments].concat())
}

fn refused(path: &Path, command: &str) -> String {
    let assert = dobrushin(&[command, path.to_str().expect("UTF-8")]).assert().code(2).stdout("");
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

#[test]
fn each_task_is_the_run_with_its_own_keys() {
    // Each alone equals the run whose keys are set.
    for (task, sets) in [
        ("", vec![]),
        ("noise-multiplier = 2.0\nlearning-rate = 0.3", vec!["noise-multiplier=2", "learning-rate=0.3"]),
        ("gradient-noise = 7.0", vec!["gradient-noise=7"]),
        ("order = 'cyclic'\nepochs = 3", vec!["order=cyclic", "epochs=3"]),
        ("order = 'poisson'\nbatch-size = 5\nsteps = 20", vec!["order=poisson", "batch-size=5", "steps=20"]),
        (
            "convex = false\nweight-decay = 0.1\nrelease = 'random-stop'",
            vec!["convex=false", "weight-decay=0.1", "release=random-stop"],
        ),
    ] {
        let one = with("one.toml", &format!("[[task]]\n{task}"));
        let plain = with("plain.toml", "");
        let sets: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
        let (found, known) = (account(&one, &[]), account(&plain, &sets));
        assert_eq!(found["guarantee"]["epsilon"], known["guarantee"]["epsilon"], "{task}");
        assert_eq!(found["guarantee"]["analysis"], known["guarantee"]["analysis"], "{task}");
    }
}

#[test]
fn nobody_is_last_in_every_task() {
    let answer = json(&["account", TASKS, "--per-record", "--analyses", "shift,composition"]);
    let rows = answer["records"].as_array().expect("a list");
    assert_eq!(rows.last().and_then(|row| row["to"].as_u64()), Some(100_000));
    let worst = rows.iter().map(|row| bounds(&row["epsilon"]).1).fold(0.0, f64::max);
    assert!((worst / epsilon(&answer) - 1.0).abs() < 2e-3, "{worst}");
    let words = answer["explanation"].to_string();
    assert!(words.contains("worst record of each task would have ε = 4.63"), "{words}");
    assert!(epsilon(&answer) < 0.5 * 4.63);
    let own = json(&["account", TASKS, "--set", "record=25001", "--analyses", "shift"]);
    assert!(epsilon(&own) <= worst * 1.002);
    assert!(own["guarantee"]["assumptions"].to_string().contains("for record 25001 of the records"));
}

#[test]
fn a_certificate_of_several_tasks_is_verified() {
    let certificate = file("tasks.json", "");
    let path = certificate.to_str().expect("UTF-8");
    dobrushin(&["account", TASKS, "--analyses", "shift,composition", "--certificate", path])
        .assert()
        .success();
    dobrushin(&["verify", path]).assert().success();
    let text = std::fs::read_to_string(&certificate).expect("it was written");
    let mut forged: Value = serde_json::from_str(&text).expect("JSON");
    forged["run"]["task"][3]["noise-multiplier"] = serde_json::json!(4.0);
    std::fs::write(&certificate, forged.to_string()).expect("it is ours");
    dobrushin(&["verify", path]).assert().code(1);
}

#[test]
fn tasks_can_be_set_and_varied() {
    let base = ["account", TASKS, "--analyses", "shift"];
    let noisy =
        json(&[&base[..], &["--set", "task.4.noise-multiplier=50", "--set", "task.1.count=3"]].concat());
    assert!(epsilon(&noisy) > epsilon(&json(&base)));
    let curve = ["curve", TASKS, "--over", "task.2.count=1,2,4", "--analyses", "shift"];
    dobrushin(&curve).assert().success();
}

#[test]
fn wrong_tasks_are_refused_by_name() {
    for (tasks, words) in [
        ("[[task]]\nrecords = 3", "records"),
        ("[[task]]\nreversd = true", "reversed"),
        ("[[task]]\nreversed = 1", "task 1.reversed"),
        ("[[task]]\n[[task]]\nfirst = 51", "task.first"),
        ("[[task]]\nfirst = 0", "task 1.first"),
        ("[[task]]\ncount = 0", "task 1.count"),
        (
            "[[task]]\nnoise-multiplier = 1.0\niterate-noise = 1.0",
            "task 1.noise-multiplier and task 1.iterate-noise",
        ),
        ("[[task]]\n[[task]]\nlearning-rate = -1", "task 2"),
        ("[[task]]\norder = 'poisson'\nsteps = 5\nreversed = true", "task.first"),
        ("[task]\ncount = 1", "[[task]]"),
        ("[[task]]\n[model]\nkind = 'logistic'\nschema = 'x.toml'", "x.toml"),
        ("[[task]]\n[[mechanism]]\nkind = 'gaussian'", "[[mechanism]]"),
        ("task = 3", "task"),
    ] {
        let message = refused(&with("wrong.toml", tasks), "account");
        assert!(message.contains(words), "{tasks}: {message}");
    }
    let path = with("given.toml", "[[task]]");
    let set = ["account", path.to_str().expect("UTF-8"), "--set", "tasks=3"];
    let assert = dobrushin(&set).assert().code(2).stdout("");
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("run.tasks is 3"));
    let calibrate =
        ["calibrate", path.to_str().expect("UTF-8"), "--parameter", "noise-multiplier", "--epsilon", "1"];
    let assert = dobrushin(&calibrate).assert().code(2).stdout("");
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("no one parameter"));
}

#[test]
fn everything_else_is_asked_of_tasks_too() {
    let path = with("rest.toml", "[[task]]\n[[task]]\nreversed = true");
    let path = path.to_str().expect("UTF-8");
    let plot = file("tasks.svg", "");
    let records = file("tasks.csv", "");
    dobrushin(&[
        "account",
        path,
        "--advice",
        "--utility",
        "--analyses",
        "shift,composition",
        "--per-record-csv",
    ])
    .arg(&records)
    .arg("--plot")
    .arg(&plot)
    .assert()
    .success();
    assert_eq!(std::fs::read_to_string(&records).expect("it was written").lines().count(), 51);
}
