//! `dobrushin train`, `predict` and `certificate`, as users run them.

use crate::file_support::{Running, is_ignored, program, wait_until};
use crate::support::{bounds, dobrushin, file, json, root};
use crate::train_support::{LOANS, RUN, files_in, new_folder, read_json, refused, trained};
use serde_json::Value;
use std::path::Path;

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
fn a_run_file_need_not_say_the_noise_that_is_to_be_found() {
    let text = std::fs::read_to_string(root().join(RUN)).expect("there");
    let schema = root().join("examples/loans/schema.toml").display().to_string();
    let without: String = text
        .lines()
        .filter(|line| !line.starts_with("noise-multiplier"))
        .fold(String::new(), |text, line| {
            text + &line.replace("\"schema.toml\"", &format!("{schema:?}")) + "\n"
        });
    let run = file("without-noise.toml", without).display().to_string();
    let out = new_folder().display().to_string();
    let answer = json(&["train", LOANS, "--run", &run, "--epsilon", "1", "--out", &out]);
    let (_, epsilon) = bounds(&answer["guarantee"]["epsilon"]);
    assert!(epsilon <= 1.0 && epsilon > 0.99, "{epsilon}");
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
fn the_operating_system_gives_another_model_each_time() {
    let model = || {
        let folder = new_folder();
        let out = folder.display().to_string();
        json(&["train", LOANS, "--run", RUN, "--out", &out, "--set", "steps=5"]);
        read_json(&folder.join("model.json"))["parameters"].clone()
    };
    assert_ne!(model(), model());
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
    // The folder may be called anything.
    let said = printed.replace(&out, "");
    for word in ["loss", "accuracy", "outside", "scaled"] {
        assert!(!said.contains(word), "{word}: {said}");
    }
    let said = json(&["train", LOANS, "--run", RUN, "--out", &out, "--force", "--data-is-public"]);
    assert!(
        said["enforced"]["clipped"].as_u64().is_some() && said["training_records"]["loss"].as_f64().is_some()
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    // Where one is ignored, as in the background of a script, it stays ignored; SIGTERM never is by custom.
    for (name, number) in
        [("TERM", 15), ("INT", 2), ("HUP", 1)].into_iter().filter(|(_, number)| !is_ignored(*number))
    {
        let folder = new_folder();
        let words = format!("train {LOANS} --run {RUN} --set steps=2000000 --out");
        let mut training = Running::start(program(&root(), &words).arg(&folder));
        // The folder is made first; then there is a long time to go.
        wait_until("the folder is made", || folder.exists());
        std::thread::sleep(std::time::Duration::from_millis(300));
        training.signal(name);
        assert_eq!(training.ended().code(), Some(128 + number as i32), "SIG{name}");
        assert!(files_in(&folder).is_empty(), "{:?}", files_in(&folder));
    }
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
fn convexity_that_clipping_loses_is_not_used() {
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
}

#[test]
fn a_learning_rate_that_loses_what_convexity_gives_is_trained_and_certified_by_what_is_left() {
    let rate = ["--set", "steps=20", "--set", "learning-rate=30"];
    for unclipped in [&["--set", "model.kind=softmax"][..], &["--set", "clip-norm=1"]] {
        let (answer, folder) = trained(&[&rate[..], unclipped].concat());
        let all = json(&[&["account", RUN, "--set", "release=all"], &rate[..], unclipped].concat());
        let (hidden, all) = (&answer["guarantee"]["epsilon"], &all["guarantee"]["epsilon"]);
        assert!((bounds(hidden).1 / bounds(all).1 - 1.0).abs() < 1e-3, "{hidden} {all}");
        assert!(answer["warnings"].to_string().contains("2/loss.smoothness"), "{answer}");
        let path = folder.join("certificate.json").display().to_string();
        // A known seed is confirmed for nobody, but the certificate holds.
        let output = dobrushin(&["certificate", "verify", &path, "--json"]).output().expect("it runs");
        let verified: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
        assert_eq!(verified["holds"], true);
        let shown = std::fs::read_to_string(folder.join("certificate.txt")).expect("it is written");
        assert!(shown.contains("2/loss.smoothness"), "{shown}");
    }
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
