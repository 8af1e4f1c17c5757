//! `dobrushin train`, `predict` and `certificate`, as users run them.

mod support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use support::{bounds, dobrushin, file, json, root};

const LOANS: &str = "examples/loans/loans.csv";
const RUN: &str = "examples/loans/logistic.toml";

/// A folder that does not exist yet.
fn new_folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("trained-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// The names of the files in a folder, also hidden ones.
fn files_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("it was written")).expect("valid JSON")
}

/// Trains on the loans with a known seed: what is printed, and the folder.
fn trained(more: &[&str]) -> (Value, PathBuf) {
    let folder = new_folder();
    let out = folder.display().to_string();
    let first = ["train", LOANS, "--run", RUN, "--out", &out, "--seed", "1", "--not-private"];
    (json(&[&first[..], more].concat()), folder)
}

/// Runs a command that must fail: its exit code and what it says.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let output = dobrushin(arguments).output().expect("it runs");
    assert!(!output.status.success(), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

#[test]
fn a_newcomer_gets_a_private_model_that_is_better_than_guessing() {
    let folder = new_folder();
    let out = folder.display().to_string();
    let test = "examples/loans/test.csv";
    let answer = json(&["train", LOANS, "--run", RUN, "--epsilon", "1", "--test", test, "--out", &out]);
    let (_, epsilon) = bounds(&answer["guarantee"]["epsilon"]);
    assert!(epsilon <= 1.0 && epsilon > 0.99, "the noise is the least that meets the target: {epsilon}");
    assert_eq!(answer["guarantee"]["delta"], 1e-5);
    assert_eq!(answer["private"], true);
    // 73.9 % of the test records are of one class. With a known seed it is always the same.
    let (known, _) = trained(&["--epsilon", "1", "--test", test]);
    assert!(known["test"]["accuracy"].as_f64().expect("a number") > 0.76, "{}", known["test"]);
    assert_eq!(answer["guarantee"]["epsilon"], known["guarantee"]["epsilon"]);
    assert_eq!(answer["model"], format!("{out}/model.json"));
    assert_eq!(files_in(&folder), ["certificate.json", "certificate.txt", "model.json"]);
    let certificate = read_json(&folder.join("certificate.json"));
    assert_eq!(certificate["guarantee"]["epsilon"], answer["guarantee"]["epsilon"]);
    assert_eq!(certificate["training"]["private"], true);
    let verified = json(&[
        "certificate",
        "verify",
        &format!("{out}/certificate.json"),
        "--model",
        &format!("{out}/model.json"),
    ]);
    assert_eq!((&verified["holds"], &verified["model_matches"]), (&Value::Bool(true), &Value::Bool(true)));
    let text = std::fs::read_to_string(folder.join("certificate.txt")).expect("it was written");
    assert!(text.starts_with("(ε, δ) = (") && text.contains("What it assumes"), "{text}");
    assert!(text.contains("Not covered") && text.contains("costs add up"), "{text}");
}

#[test]
fn what_is_accounted_for_is_what_is_trained() {
    let (answer, folder) = trained(&["--set", "steps=123", "--set", "noise-multiplier=30"]);
    let account = json(&["account", RUN, "--set", "steps=123", "--set", "noise-multiplier=30"]);
    // A number of passes that is no whole number of steps is rounded up for both.
    let (answer_in_passes, folder_in_passes) =
        trained(&["--set", "epochs=12.25", "--set", "noise-multiplier=30"]);
    assert_eq!(answer_in_passes["guarantee"]["epsilon"], answer["guarantee"]["epsilon"]);
    let path = folder_in_passes.join("certificate.json").display().to_string();
    let output = dobrushin(&["certificate", "verify", &path, "--json"]).output().expect("it runs");
    let verified: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    assert_eq!(verified["holds"], true);
    assert_eq!(answer["guarantee"]["epsilon"], account["guarantee"]["epsilon"]);
    assert_eq!(answer["guarantee"]["assumptions"], account["guarantee"]["assumptions"]);
    let certificate = read_json(&folder.join("certificate.json"));
    assert_eq!(certificate["run"]["run"]["steps"], 123);
    assert_eq!(certificate["run"]["update"]["noise-multiplier"], 30);
}

#[test]
fn every_assumption_of_a_guarantee_says_how_it_is_enforced() {
    for more in [
        &[][..],
        &["--set", "clip-norm=0.5", "--set", "domain.ball=2"],
        &["--set", "algorithm=dp-sgd", "--set", "order=poisson", "--set", "batch-size=100"],
        &["--set", "algorithm=dp-sgd", "--set", "order=without-replacement", "--set", "batch-size=100"],
        &[
            "--set",
            "algorithm=dp-sgd",
            "--set",
            "order=poisson",
            "--set",
            "batch-size=100",
            "--set",
            "divide-by=actual",
        ],
        &["--set", "algorithm=dp-sgd", "--set", "order=cyclic", "--set", "batch-size=70"],
        &[
            "--set",
            "algorithm=pnsgd",
            "--set",
            "order=once",
            "--set",
            "batch-size=10",
            "--set",
            "steps=300",
            "--set",
            "release=random-stop",
        ],
        &["--set", "evaluation.noise-multiplier=50"],
        &["--set", "public-steps=5", "--public", "examples/loans/test.csv"],
    ] {
        let (_, folder) = trained(&[&["--set", "steps=20"], more].concat());
        let certificate = read_json(&folder.join("certificate.json"));
        let assumptions = certificate["guarantee"]["assumptions"].as_array().expect("a list");
        let enforced = certificate["training"]["enforcement"].as_array().expect("a list");
        assert_eq!(assumptions.len(), enforced.len());
        for (assumption, entry) in assumptions.iter().zip(enforced) {
            assert_eq!(*assumption, entry["assumption"]);
            assert_ne!(entry["enforced"], "NOT enforced by the program", "{assumption}");
            let words = assumption.as_str().expect("words");
            let how = entry["enforced"].as_str().expect("words");
            assert_eq!(words.contains("is then evaluated"), how.contains("cut to its bound"), "{assumption}");
        }
    }
}

#[test]
fn an_iteration_that_must_start_at_zero_says_where_it_starts() {
    let loans = std::fs::read_to_string(root().join(LOANS)).expect("there");
    let few: Vec<&str> = loans.lines().take(41).collect();
    let data = file("few-loans.csv", few.join("\n")).display().to_string();
    let folder = new_folder();
    let out = folder.display().to_string();
    let more = [
        "algorithm=gradient-descent",
        "order=full",
        "records=40",
        "batch-size=40",
        "clip-norm=0.1",
        "noise-multiplier=100",
        "weight-decay=0.9",
        "model.kind=network",
        "model.hidden=1",
    ];
    let sets = more.iter().flat_map(|assignment| ["--set", assignment]).collect::<Vec<_>>();
    let answer = json(&[&["train", &data, "--run", RUN, "--out", &out], &sets[..]].concat());
    assert_eq!(answer["guarantee"]["analysis"], "recursion");
    let certificate = read_json(&folder.join("certificate.json"));
    let enforced = certificate["training"]["enforcement"].as_array().expect("a list");
    let entry = enforced.iter().find(|entry| entry["assumption"].to_string().contains("starts at 0"));
    let how = entry.expect("recursion assumes it")["enforced"].as_str().expect("words");
    assert!(how.contains("random weights, which depend on no record"), "{how}");
}

#[test]
fn a_known_seed_needs_consent_and_marks_everything() {
    let folder = new_folder();
    let out = folder.display().to_string();
    let (code, text) = refused(&["train", LOANS, "--run", RUN, "--out", &out, "--seed", "1"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("--not-private"), "{text}");
    let (answer, first) = trained(&["--set", "steps=20"]);
    assert_eq!(answer["private"], false);
    let (_, second) = trained(&["--set", "steps=20"]);
    let bytes = |folder: &Path, name: &str| std::fs::read(folder.join(name)).expect("it was written");
    assert_eq!(bytes(&first, "model.json"), bytes(&second, "model.json"), "the same seed, the same model");
    assert_eq!(read_json(&first.join("model.json"))["warning"], "reproducible, NOT private");
    let certificate = read_json(&first.join("certificate.json"));
    assert_eq!(certificate["training"]["randomness"], "reproducible, NOT private");
    assert_eq!(certificate["training"]["seed"], 1);
    let text = String::from_utf8(bytes(&first, "certificate.txt")).expect("UTF-8");
    assert!(text.contains("reproducible, NOT private"), "{text}");
    let output =
        dobrushin(&["certificate", "verify"]).arg(first.join("certificate.json")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "such a model is not private");
    assert!(String::from_utf8_lossy(&output.stdout).contains("NOT private"));
}

#[test]
fn the_operating_system_gives_another_model_each_time() {
    let model = || {
        let folder = new_folder();
        let out = folder.display().to_string();
        json(&["train", LOANS, "--run", RUN, "--out", &out, "--set", "steps=5"]);
        read_json(&folder.join("model.json"))["parameters"].clone()
    };
    assert_ne!(model(), model());
}

type Change = fn(&mut Value);

#[test]
fn a_changed_certificate_or_model_is_found_out() {
    let (_, folder) = trained(&["--set", "steps=20"]);
    let original = read_json(&folder.join("certificate.json"));
    let check = |certificate: &Value| {
        let path = folder.join("changed.json");
        std::fs::write(&path, certificate.to_string()).expect("writable");
        let output = dobrushin(&["certificate", "verify", "--json"]).arg(&path).output().expect("it runs");
        let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        answer.map(|answer| answer["holds"] == true)
    };
    assert_eq!(check(&original), Some(true));
    let changes: [(&str, Change); 8] = [
        ("a smaller ε", |c| c["guarantee"]["epsilon"]["upper"] = 0.01.into()),
        ("less noise", |c| c["run"]["update"]["noise-multiplier"] = 5.into()),
        ("another model", |c| c["run"]["model"]["kind"] = "smoothed-hinge".into()),
        ("more steps", |c| c["run"]["run"]["steps"] = 200.into()),
        ("larger batches, used more often", |c| c["run"]["run"]["batch-size"] = 3000.into()),
        ("other constants", |c| c["training"]["constants"]["gradient_norm"] = 0.1.into()),
        ("another schema hash", |c| c["training"]["schema_sha256"] = "00".into()),
        ("other bounds of a column", |c| c["run"]["model"]["schema"]["norm"] = 50.into()),
    ];
    for (what, change) in changes {
        let mut changed = original.clone();
        change(&mut changed);
        assert_ne!(changed, original, "{what} changes something");
        assert_ne!(check(&changed), Some(true), "{what}");
    }
    let model = folder.join("model.json");
    // More noise, with the smaller ε that it would give: nothing is wrong with it, but it is not of this model.
    let mut quieter = original.clone();
    quieter["run"]["update"]["noise-multiplier"] = 160.into();
    let account = json(&["account", RUN, "--set", "steps=20", "--set", "noise-multiplier=160"]);
    for key in ["epsilon", "analysis", "assumptions"] {
        quieter["guarantee"][key] = account["guarantee"][key].clone();
    }
    let assumptions = quieter["guarantee"]["assumptions"].as_array().expect("a list");
    assert_eq!(assumptions, original["guarantee"]["assumptions"].as_array().expect("a list"));
    assert_eq!(check(&quieter), Some(true));
    let output = dobrushin(&["certificate", "verify"])
        .args([&folder.join("changed.json"), Path::new("--model"), &model])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("trained by another run"));
    // The model has a known seed; whatever the certificate says of that, it is not taken for private.
    let seeds: [(Change, &str); 3] = [
        (|c| c["training"]["private"] = true.into(), "known seed: reproducible"),
        (|c| c["training"]["private"] = "true".into(), "known seed: reproducible"),
        (
            |c| {
                c["training"]["private"] = true.into();
                c["training"]["seed"] = Value::Null;
            },
            "from a known seed, which the certificate does not say",
        ),
    ];
    for (change, words) in seeds {
        let mut changed = original.clone();
        change(&mut changed);
        check(&changed);
        let output = dobrushin(&["certificate", "verify"])
            .args([&folder.join("changed.json"), Path::new("--model"), &model])
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains(words), "{words}");
    }
    // A certificate holds its schema, and what is no certificate is not shown as one.
    let odd: [Change; 3] = [
        |c| c["run"]["model"]["schema"] = "examples/loans/schema.toml".into(),
        |c| c["kind"] = "another".into(),
        |c| *c = Value::Array(Vec::new()),
    ];
    for change in odd {
        let mut changed = original.clone();
        change(&mut changed);
        assert_eq!(check(&changed), None);
        let path = folder.join("changed.json").display().to_string();
        assert_eq!(refused(&["certificate", "show", &path]).0, Some(2));
    }
    let mut other = read_json(&model);
    other["parameters"][0][0] = 0.5.into();
    std::fs::write(&model, other.to_string()).expect("writable");
    let certificate = folder.join("certificate.json");
    let output = dobrushin(&["certificate", "verify"])
        .arg(&certificate)
        .arg("--model")
        .arg(&model)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("NOT the certificate of"));
}

#[test]
fn a_model_is_not_overwritten_by_accident() {
    let (_, folder) = trained(&["--set", "steps=5"]);
    let before = std::fs::read(folder.join("model.json")).expect("it was written");
    let out = folder.display().to_string();
    let (code, text) = refused(&["train", LOANS, "--run", RUN, "--out", &out]);
    assert_eq!(code, Some(2));
    assert!(text.contains("--force"), "{text}");
    assert_eq!(std::fs::read(folder.join("model.json")).expect("still there"), before);
    dobrushin(&["train", LOANS, "--run", RUN, "--out", &out, "--force", "--set", "steps=5"])
        .assert()
        .success();
    assert_ne!(std::fs::read(folder.join("model.json")).expect("replaced"), before);
}

#[test]
fn only_the_released_model_leaves_the_program() {
    let folder = new_folder();
    let out = folder.display().to_string();
    let arguments = ["train", LOANS, "--run", RUN, "--out", &out, "--set", "steps=50"];
    let output = dobrushin(&arguments).output().expect("it runs");
    assert!(output.status.success());
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8(printed).expect("UTF-8");
    assert_eq!(files_in(&folder), ["certificate.json", "certificate.txt", "model.json"]);
    let model = read_json(&folder.join("model.json"));
    let certificate = std::fs::read_to_string(folder.join("certificate.json")).expect("written");
    for parameter in model["parameters"][0].as_array().expect("a list") {
        let digits = parameter.to_string();
        let digits = &digits[..digits.len().min(8)];
        assert!(!printed.contains(digits), "{digits} is printed");
        assert!(!certificate.contains(digits), "{digits} is in the certificate");
    }
    // Nothing is said of the private records: neither losses, nor how many values were cut.
    for word in ["loss", "accuracy", "outside", "scaled"] {
        assert!(!printed.contains(word), "{word}: {printed}");
    }
    let said = json(&["train", LOANS, "--run", RUN, "--out", &out, "--force", "--data-is-public"]);
    assert!(
        said["enforced"]["clipped"].as_u64().is_some() && said["training_records"]["loss"].as_f64().is_some()
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    use std::process::{Command, Stdio};
    let folder = new_folder();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("dobrushin"))
        .current_dir(root())
        .args(["train", LOANS, "--run", RUN, "--set", "steps=2000000", "--out"])
        .arg(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    // The folder is made first; then there is a long time to go.
    while !folder.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(files_in(&folder).is_empty(), "{:?}", files_in(&folder));
}

#[test]
fn streaming_trains_the_same_model() {
    for more in [
        &[
            "--set",
            "algorithm=dp-sgd",
            "--set",
            "order=cyclic",
            "--set",
            "batch-size=70",
            "--set",
            "steps=100",
        ][..],
        &["--set", "algorithm=pnsgd", "--set", "order=once", "--set", "batch-size=64", "--set", "steps=47"],
        &[
            "--set",
            "algorithm=gradient-descent",
            "--set",
            "order=full",
            "--set",
            "batch-size=3000",
            "--set",
            "steps=3",
            "--set",
            "evaluation.noise-multiplier=50",
        ],
    ] {
        let (_, memory) = trained(more);
        let (_, streamed) = trained(&[more, &["--stream"]].concat());
        let parameters = |folder: &Path| read_json(&folder.join("model.json"))["parameters"].clone();
        assert_eq!(parameters(&memory), parameters(&streamed), "{more:?}");
    }
    let folder = new_folder().display().to_string();
    let run = ["--set", "algorithm=dp-sgd", "--set", "order=poisson", "--set", "batch-size=70"];
    let (_, text) =
        refused(&[&["train", LOANS, "--run", RUN, "--out", &folder, "--stream"], &run[..]].concat());
    assert!(text.contains("--stream") && text.contains("at random"), "{text}");
}

#[test]
fn a_paid_evaluation_is_in_the_guarantee_and_near_the_truth() {
    let (plain, _) = trained(&["--set", "steps=200"]);
    let (paid, folder) =
        trained(&["--set", "steps=200", "--set", "evaluation.noise-multiplier=30", "--data-is-public"]);
    let epsilon = |answer: &Value| bounds(&answer["guarantee"]["epsilon"]).1;
    assert!(epsilon(&paid) > epsilon(&plain));
    let certificate = read_json(&folder.join("certificate.json"));
    assert_eq!(certificate["training"]["evaluation"], paid["private_evaluation"]);
    let evaluation = &paid["private_evaluation"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let noise = number(&evaluation["accuracy_deviation"]);
    assert!((noise - 30.0 * 0.5_f64.sqrt() / 3000.0).abs() < 1e-12);
    let error = number(&evaluation["accuracy"]) - number(&paid["training_records"]["accuracy"]);
    assert!(error.abs() < 6.0 * noise && error != 0.0, "{error} with noise {noise}");
}

#[test]
fn every_kind_of_model_trains_and_predicts() {
    let schema = std::fs::read_to_string(root().join("examples/loans/schema.toml")).expect("there");
    let of_label = |name: &str, label: &str, number: bool| {
        let mut text = schema.replace("label = \"repaid\"", &format!("label = \"{label}\""));
        if number {
            text = text.replace("lower = 0\nupper = 12", "upper = 12").replace(
                "[columns.late_payments]             # in the last year\nkind = \"number\"",
                "[columns.late_payments]\nkind = \"count\"",
            );
        }
        file(&format!("schema-{name}.toml"), text).display().to_string()
    };
    let (amount, late) = (of_label("amount", "amount", false), of_label("late", "late_payments", true));
    let (job, repaid) = (of_label("job", "job", false), of_label("repaid", "repaid", false));
    let both = file(
        "schema-both.toml",
        schema.replace("label = \"repaid\"", "label = [\"repaid\", \"owner\"]").replace(
            "[columns.home]",
            "[columns.owner]\nkind = \"category\"\ncategories = [\"no\", \"yes\"]\n\n[columns.home]",
        ),
    );
    // A column to be the second label.
    let loans = std::fs::read_to_string(root().join(LOANS)).expect("there");
    let widened: String = loans
        .lines()
        .enumerate()
        .map(|(number, line)| match number {
            0 => format!("{line},owner\n"),
            _ => format!("{line},{}\n", if line.contains(",owns,") { "yes" } else { "no" }),
        })
        .collect();
    let widened = file("loans-owner.csv", widened);
    for (kind, schema, more) in [
        ("linear", &amount, &["--set", "domain.ball=2"][..]),
        ("linear", &amount, &["--set", "clip-norm=1"]),
        ("huber", &amount, &["--set", "model.width=0.5"]),
        ("quantile", &amount, &["--set", "model.smoothing=0.5"]),
        ("poisson", &late, &["--set", "domain.ball=0.5", "--set", "learning-rate=0.05"]),
        ("poisson", &late, &["--set", "clip-norm=1", "--set", "learning-rate=0.02"]),
        ("logistic", &repaid, &[]),
        ("smoothed-hinge", &repaid, &["--set", "model.width=20"]),
        ("hinge", &repaid, &["--set", "model.smoothing=2"]),
        ("softmax", &job, &["--set", "learning-rate=0.2"]),
        ("network", &job, &["--set", "clip-norm=1", "--set", "model.hidden=8"]),
        (
            "network",
            &job,
            &["--set", "clip-norm=1", "--set", "model.hidden=[8, 4]", "--set", "domain.ball=3"],
        ),
        ("logistic", &both.display().to_string(), &[]),
    ] {
        let folder = new_folder();
        let out = folder.display().to_string();
        let data = if schema.contains("both") { widened.display().to_string() } else { LOANS.to_owned() };
        let base =
            ["train", &data, "--run", RUN, "--out", &out, "--set", "steps=30", "--set", "learning-rate=0.1"];
        let model = [
            "--set".to_owned(),
            format!("model.kind={kind}"),
            "--set".to_owned(),
            format!("model.schema={schema}"),
        ];
        let model: Vec<&str> = model.iter().map(String::as_str).collect();
        let answer = json(&[&base[..], &model, more].concat());
        assert!(bounds(&answer["guarantee"]["epsilon"]).1.is_finite(), "{kind}");
        let tasks = if schema.contains("both") { 2 } else { 1 };
        let parameters = read_json(&folder.join("model.json"));
        assert_eq!(parameters["parameters"].as_array().map(Vec::len), Some(tasks), "{kind}");
        json(&[
            "certificate",
            "verify",
            &format!("{out}/certificate.json"),
            "--model",
            &format!("{out}/model.json"),
        ]);
        let output = dobrushin(&["predict", &format!("{out}/model.json"), "examples/loans/test.csv"])
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(lines.lines().count(), 1001, "{kind}: a header and a line for each record");
    }
}

#[test]
fn predictions_agree_with_the_test_metrics() {
    let (answer, folder) = trained(&["--test", "examples/loans/test.csv"]);
    let model = folder.join("model.json").display().to_string();
    let output = dobrushin(&["predict", &model, "examples/loans/test.csv"]).output().expect("it runs");
    let predicted = String::from_utf8(output.stdout).expect("UTF-8");
    let truth = std::fs::read_to_string(root().join("examples/loans/test.csv")).expect("there");
    let right = predicted
        .lines()
        .zip(truth.lines())
        .skip(1)
        .filter(|(guess, line)| guess.split(',').next() == line.rsplit(',').next())
        .count();
    assert_eq!(answer["test"]["accuracy"].as_f64(), Some(right as f64 / 1000.0));
}

#[test]
fn part_of_the_records_can_be_kept_for_testing() {
    let (answer, folder) = trained(&[
        "--test-share",
        "0.2",
        "--set",
        "steps=50",
        "--set",
        "records=2400",
        "--set",
        "batch-size=240",
    ]);
    assert_eq!(answer["test"]["records"], 600);
    let certificate = read_json(&folder.join("certificate.json"));
    assert_eq!(certificate["run"]["run"]["records"], 2400);
}

#[test]
fn convexity_limits_the_learning_rate_only_where_it_is_used() {
    let rate = ["--set", "steps=20", "--set", "learning-rate=30"];
    let clipped = ["--set", "model.kind=softmax", "--set", "clip-norm=1"];
    let (answer, folder) = trained(&[&rate[..], &clipped].concat());
    // Nearly that of two uses with noise 16: nothing is hidden by steps that drive iterates apart.
    let composition =
        json(&["account", RUN, "--set", "steps=20", "--set", "release=all", "--set", "clip-norm=1"]);
    let (hidden, all) = (&answer["guarantee"]["epsilon"], &composition["guarantee"]["epsilon"]);
    assert!((bounds(hidden).1 / bounds(all).1 - 1.0).abs() < 1e-3, "{hidden} {all}");
    let path = folder.join("certificate.json").display().to_string();
    let output = dobrushin(&["certificate", "verify", &path, "--json"]).output().expect("it runs");
    let verified: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    assert_eq!(verified["holds"], true);
    let out = new_folder().display().to_string();
    let base = ["train", LOANS, "--run", RUN, "--out", &out];
    for unclipped in [&["--set", "model.kind=softmax"][..], &["--set", "clip-norm=1"]] {
        let (_, text) = refused(&[&base[..], &rate, unclipped].concat());
        assert!(text.contains("2/loss.smoothness"), "{text}");
    }
}

#[test]
fn bad_runs_are_refused_with_the_key_and_a_way_out() {
    let folder = new_folder();
    let out = folder.display().to_string();
    let base = ["train", LOANS, "--run", RUN, "--out", &out];
    for (more, words) in [
        (&["--set", "loss.convex=true"][..], &["[loss]"][..]),
        (&["--set", "lipschitz=1"], &["update.lipschitz", "derived"]),
        (&["--set", "domain.diameter=1"], &["domain.diameter", "ball"]),
        (&["--set", "release=all"], &["run.release", "last"]),
        (&["--set", "steps=any"], &["run.steps"]),
        (&["--set", "record=3"], &["run.record"]),
        (&["--set", "model.kind=logistics"], &["model.kind", "logistic"]),
        (&["--set", "model.width=1"], &["model.width", "logistic"]),
        (&["--set", "model.kind=linear"], &["model.kind"]),
        (&["--set", "model.kind=network", "--set", "model.hidden=4"], &["update.clip-norm"]),
        (&["--set", "learning-rate=1000"], &["update.learning-rate", "2/"]),
        (&["--set", "domain.ball=-1"], &["domain.ball"]),
        (&["--set", "domain.interval=[0, 1]"], &["domain.interval", "box"]),
        (&["--set", "domain.ball=1", "--set", "domain.box=[0, 1]"], &["domain.ball", "domain.box"]),
        (&["--set", "records=2999"], &["run.records", "3000"]),
        (
            &["--set", "records=2999", "--set", "neighbours=add-or-remove-one", "--set", "order=poisson"],
            &["run.records is 2999", "more records", "public upper bound"],
        ),
        (&["--set", "neighbours=add-or-remove-one", "--set", "divide-by=actual"], &["run.neighbours"]),
        (&["--set", "public-steps=3"], &["--public"]),
        (&["--set", "noise=laplace"], &["update.noise", "one dimension"]),
        (&["--set", "model.schema=nowhere.toml"], &["nowhere.toml"]),
        (&["--set", "evaluation.noise-multiplier=0"], &["evaluation.noise-multiplier"]),
        (&["--set", "evaluation.loss-bound=3"], &["evaluation.noise-multiplier", "missing"]),
        (&["--set", "batch-size=3001"], &["run.batch-size", "3000 records"]),
        (&["--set", "learning-rate=[0.1, 0.2]"], &["update.learning-rate", "one value for each step"]),
        (&["--set", "clip-norm=1e-40"], &["update.clip-norm", "1e-20"]),
        (&["--stream", "--data-is-public"], &["--stream", "--data-is-public"]),
        (&["--test-share", "0"], &["--test-share"]),
        (&["--epsilon", "1e-9", "--delta", "1e-12"], &["cannot be reached"]),
    ] {
        let (code, text) = refused(&[&base[..], more].concat());
        assert!(matches!(code, Some(1 | 2)), "{more:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{more:?} says {word}: {text}");
        }
        assert!(files_in(&folder).is_empty(), "{more:?} leaves nothing");
    }
    let without = ["train", LOANS, "--run", "examples/dp-sgd.toml", "--out", &out];
    assert!(refused(&without).1.contains("there is no [model]"));
}

#[test]
fn bad_records_are_refused_by_their_line_and_never_shown() {
    let loans = std::fs::read_to_string(root().join(LOANS)).expect("there");
    let header = loans.lines().next().expect("a header");
    let row = loans.lines().nth(1).expect("a row");
    let folder = new_folder();
    let out = folder.display().to_string();
    let train = |content: &[u8], more: &[&str]| {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("bad-{}.csv", NEXT.fetch_add(1, Ordering::Relaxed));
        let data = file(&name, content).display().to_string();
        let _ = std::fs::remove_dir_all(&folder);
        let base = ["train", &data, "--run", RUN, "--out", &out, "--set", "steps=5"];
        let known = ["--set", "records=2", "--set", "batch-size=1"];
        let output = dobrushin(&[&base[..], &known, more].concat()).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let with = |cells: &str| format!("{header}\n{row}\n{cells}\n").into_bytes();
    for (content, words) in [
        (with("20,employed,rents,54700,24900,48,0,"), &["line 3", "repaid"][..]),
        (with("20,employed,rents,54700,24900,48,0,SECRET"), &["line 3", "repaid"]),
        (with("SECRET,employed,rents,54700,24900,48,0,yes"), &["line 3", "age"]),
        (with("NaN,employed,rents,54700,24900,48,0,yes"), &["line 3", "age"]),
        (with("inf,employed,rents,54700,24900,48,0,yes"), &["line 3", "age"]),
        (with("20,SECRET,rents,54700,24900,48,0,yes"), &["line 3", "job"]),
        (with("20,employed"), &["line 3"]),
        (with("20,employ\u{fffd},rents,54700,24900,48,0,yes"), &["line 3", "job"]),
        (
            [header.as_bytes(), b"\n", row.as_bytes(), b"\n20,\xff\xfe,rents,1,1,12,0,yes\n"].concat(),
            &["line 3"],
        ),
        (format!("{header}\n").into_bytes(), &["no records"]),
        (Vec::new(), &["no rows"]),
        (b"age,job\n1,employed\n".to_vec(), &["no column"]),
    ] {
        let (code, text) = train(&content, &[]);
        assert_eq!(code, Some(2), "{text}");
        for word in words {
            assert!(text.contains(word), "says {word}: {text}");
        }
        assert!(!text.contains("SECRET"), "{text}");
        assert!(files_in(&folder).is_empty());
    }
    // Rows that cannot be used become empty records: the number of records stays.
    let (code, text) = train(&with("SECRET,employed,rents,54700,24900,48,0,yes"), &["--skip-bad"]);
    assert_eq!(code, Some(0), "{text}");
    // One class, a constant column, values outside the bounds: all fine, and nothing is said of them.
    let (code, text) = train(&with(row), &[]);
    assert_eq!((code, text.as_str()), (Some(0), ""));
    let (code, text) = train(&with("20,employed,rents,99999999,24900,48,0,yes"), &[]);
    assert_eq!((code, text.as_str()), (Some(0), ""));
}

#[test]
fn one_record_and_more_parameters_than_records_are_no_problem() {
    let loans = std::fs::read_to_string(root().join(LOANS)).expect("there");
    let one: String = loans.lines().take(2).map(|line| format!("{line}\n")).collect();
    let data = file("one-record.csv", one).display().to_string();
    let out = new_folder().display().to_string();
    let answer = json(&[
        "train",
        &data,
        "--run",
        RUN,
        "--out",
        &out,
        "--set",
        "records=1",
        "--set",
        "batch-size=1",
        "--set",
        "steps=5",
    ]);
    assert!(bounds(&answer["guarantee"]["epsilon"]).1 > 0.0);
}

#[test]
fn online_learning_reports_its_regret_on_public_records_only() {
    let run = [
        "--set",
        "algorithm=online",
        "--set",
        "order=once",
        "--set",
        "batch-size=1",
        "--set",
        "steps=3000",
        "--set",
        "learning-rate=0.1",
        "--set",
        "domain.ball=3",
        "--set",
        "noise-multiplier=2",
    ];
    let (private, _) = trained(&run);
    assert!(private["regret"].is_null());
    let (public, _) = trained(&[&run[..], &["--data-is-public"]].concat());
    let regret = &public["regret"];
    assert_eq!(regret["rounds"], 3000);
    let number = |key: &str| regret[key].as_f64().expect("a number");
    assert!(number("loss") > number("best") && number("best") > 0.0);
    assert!((number("regret") - (number("loss") - number("best"))).abs() < 1e-9);
}
