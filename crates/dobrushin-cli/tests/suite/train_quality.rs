//! How good a trained model is on public records, as it is reported.

use crate::support::{dobrushin, own_folder};
use crate::train_support::{new_folder, trained};
use serde_json::Value;
use std::path::PathBuf;

const TEST: &str = "examples/loans/test.csv";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The labels of the test records, and the predictions for them: the class, and the probability of "yes".
fn predicted(folder: &std::path::Path) -> Vec<(bool, bool, f64)> {
    let model = folder.join("model.json").display().to_string();
    let output = dobrushin(&["predict", &model, TEST, "--id", "income", "--json"]).output().expect("it runs");
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let test = std::fs::read_to_string(crate::support::root().join(TEST)).expect("the example exists");
    let labels = test.lines().skip(1).map(|line| line.ends_with(",yes"));
    let predictions = lines.lines().map(|line| {
        let json: Value = serde_json::from_str(line).expect("JSON");
        (json["repaid"] == "yes", number(&json["repaid_probabilities"]["yes"]))
    });
    labels.zip(predictions).map(|(label, (class, probability))| (label, class, probability)).collect()
}

#[test]
fn what_is_reported_of_public_test_records_is_what_predict_says_of_them() {
    let (report, folder) = trained(&["--test", TEST]);
    let (test, records) = (&report["test"], predicted(&folder));
    assert!(records.len() >= 100);
    let count =
        |of: &dyn Fn(&(bool, bool, f64)) -> bool| records.iter().filter(|record| of(record)).count() as u64;
    let all = records.len() as f64;
    assert_eq!(test["records"], records.len());
    assert_eq!(number(&test["accuracy"]), count(&|(label, class, _)| label == class) as f64 / all);
    // The confusions, in the order of the classes.
    let names: Vec<&str> =
        test["classes"].as_array().expect("a list").iter().filter_map(|c| c["class"].as_str()).collect();
    let is = |name: &str| name == "yes";
    for (row, actual) in names.iter().enumerate() {
        for (column, predicted) in names.iter().enumerate() {
            let expected = count(&|(label, class, _)| (*label, *class) == (is(actual), is(predicted)));
            assert_eq!(test["confusion"][row][column], expected, "{actual} {predicted}");
        }
        let class = &test["classes"][row];
        assert_eq!(class["records"], count(&|(label, _, _)| *label == is(actual)));
        let right = count(&|(label, class, _)| *label == is(actual) && *class == is(actual)) as f64;
        assert_eq!(number(&class["recall"]), right / count(&|(label, _, _)| *label == is(actual)) as f64);
        assert_eq!(number(&class["precision"]), right / count(&|(_, class, _)| *class == is(actual)) as f64);
    }
    let sum: u64 = test["confusion"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|row| row.as_array().into_iter().flatten())
        .filter_map(Value::as_u64)
        .sum();
    assert_eq!(sum, records.len() as u64, "every record is counted once");
    // The baseline.
    let yes = count(&|(label, _, _)| *label);
    let most = yes.max(records.len() as u64 - yes) as f64 / all;
    assert_eq!(number(&test["baseline"]["accuracy"]), most);
    assert_eq!(test["baseline"]["class"] == "yes", yes as f64 / all == most);
    // All pairs.
    let (mut twice, mut pairs) = (0_u64, 0_u64);
    for (_, _, a) in records.iter().filter(|(label, _, _)| *label) {
        for (_, _, b) in records.iter().filter(|(label, _, _)| !*label) {
            twice += if a > b { 2 } else { u64::from(a == b) };
            pairs += 1;
        }
    }
    let area = twice as f64 / (2 * pairs) as f64;
    assert!((number(&test["auc"]) - area).abs() < 1e-12, "{} and {area}", test["auc"]);
    let loss =
        records.iter().map(|(label, _, p)| -(if *label { *p } else { 1.0 - p }).ln()).sum::<f64>() / all;
    assert!((number(&test["log_loss"]) - loss).abs() < 1e-9, "{} and {loss}", test["log_loss"]);
    assert_eq!(test["log_loss"], test["loss"]);
}

#[test]
fn people_read_the_noise_the_steps_and_the_confusions() {
    let out = new_folder().display().to_string();
    let words = format!(
        "train examples/loans/loans.csv --run examples/loans/logistic.toml --epsilon 1 --test {TEST} --seed 1 --not-private --out {out}"
    );
    let words: Vec<&str> = words.split(' ').collect();
    let output = dobrushin(&words).output().expect("it runs");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    for part in [
        "The noise multiplier is",
        "the least that meets the target",
        "400 steps on 300 records",
        "40 passes",
        "AUC",
        "log loss",
        "precision",
        "recall",
        "the most frequent class",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    // How long it took is for whoever sits at the terminal.
    assert!(!printed.contains("Training took") && output.stderr.is_empty(), "{printed}");
}

#[test]
fn what_was_carried_out_is_told_as_data() {
    let (report, _) = trained(&["--set", "steps=20"]);
    let schedule = &report["schedule"];
    assert_eq!((schedule["steps"].as_u64(), number(&schedule["batch_size"])), (Some(20), 300.0));
    assert_eq!((number(&schedule["passes"]), number(&schedule["noise_multiplier"])), (2.0, 16.0));
    assert_eq!(schedule["noise_was_found"], false);
    let (report, _) = trained(&["--set", "steps=20", "--epsilon", "1"]);
    assert_eq!(report["schedule"]["noise_was_found"], true);
    assert_eq!(report["schedule"]["noise_multiplier"], report["run"]["update"]["noise-multiplier"]);
}

#[test]
fn of_a_share_of_the_private_records_no_more_is_told_than_before() {
    let (report, _) = trained(&["--set", "steps=5", "--test-share", "0.2", "--set", "records=2400"]);
    let fields: Vec<&String> = report["test"].as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["accuracy", "loss", "records", "root_mean_square"]);
    let (report, _) = trained(&["--set", "steps=5", "--data-is-public"]);
    assert!(report["training_records"]["auc"].is_number(), "the records are said to be public");
}

/// Made-up numbers: y = 2a, a between −1 and 1.
#[test]
fn numbers_are_compared_with_their_mean() {
    let folder = own_folder();
    let write = |name: &str, text: &str| -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the folder is ours");
        path
    };
    let rows: String =
        (0..400).map(|row| f64::from(row % 41 - 20) / 20.0).map(|a| format!("{a},{}\n", 2.0 * a)).collect();
    let data = write("numbers.csv", &format!("a,y\n{rows}"));
    write(
        "numbers-schema.toml",
        "label = \"y\"\n[columns.a]\nkind = \"number\"\nlower = -1\nupper = 1\n[columns.y]\nkind = \"number\"\nlower = -4\nupper = 4\n",
    );
    let run = write(
        "numbers.toml",
        "[run]\nalgorithm = \"gradient-descent\"\nsteps = 100\norder = \"full\"\nneighbours = \"replace-one\"\n[update]\n\
         learning-rate = 0.5\nclip-norm = 1.0\nnoise-multiplier = 0.5\n[model]\nkind = \"linear\"\nschema = \"numbers-schema.toml\"\n\
         [target]\ndelta = 1e-5\n",
    );
    let out = new_folder();
    let words = [
        "train",
        &data.display().to_string(),
        "--run",
        &run.display().to_string(),
        "--out",
        &out.display().to_string(),
        "--test",
        &data.display().to_string(),
        "--seed",
        "1",
        "--not-private",
    ];
    let report = crate::support::json(&words);
    let test = &report["test"];
    let (error, baseline) =
        (number(&test["root_mean_square"]), number(&test["baseline"]["root_mean_square"]));
    let explained = number(&test["r_squared"]);
    assert!((explained - (1.0 - (error / baseline).powi(2))).abs() < 1e-12, "{test}");
    assert!(explained > 0.9 && baseline > 0.2, "the model has learnt the line: {test}");
    assert!(test.get("auc").is_none(), "{test}");
}
