//! From a column to private reports and back to estimates.

use crate::local_support::{column, estimate, estimation, folder, names, privatize, said};
use crate::support::{bounds, dobrushin};
use serde_json::Value;

const NAMES: [&str; 4] = ["bus", "car", "on foot", "bicycle, or \"bike\""];
const SHARES: [usize; 4] = [50, 30, 15, 5];
const PEOPLE: usize = 100_000;

/// Answers in the shares above, and a file that declares them.
fn transport(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    let of = |person: usize| {
        let place = person * 37 % 100;
        let mut sums = SHARES.iter().scan(0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        sums.position(|sum| place < sum).expect("the shares add up to 100")
    };
    let quoted = |index: usize| format!("\"{}\"", NAMES[index].replace('"', "\"\""));
    column(&folder, "answers.csv", (0..PEOPLE).map(|person| quoted(of(person))));
    std::fs::write(folder.join("names.txt"), NAMES.join("\n")).expect("the folder is writable");
    folder
}

/// Options that make the reports the same in every run.
const SEEDED: [&str; 5] = ["--categories-file", "names.txt", "--seed", "11", "--not-private"];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn every_mechanism_for_categories_gives_back_the_shares_within_its_error_bars() {
    let folder = transport("categories");
    for name in ["k-rr", "oue", "sue", "subset", "hadamard", "olh"] {
        let words = [&SEEDED[..], &["--mechanism", name, "--epsilon", "1.5"]].concat();
        privatize(&folder, "answers.csv", "reports.csv", &words).assert().success();
        let answer = estimate(&folder, &["reports.csv", "--confidence", "0.9999", "--simultaneous"]);
        assert_eq!(answer["reports"], PEOPLE);
        for (index, share) in SHARES.iter().enumerate() {
            let row = &answer["frequencies"][index];
            let truth = *share as f64 / 100.0;
            assert_eq!(row["category"], NAMES[index]);
            // Six standard errors: the seed is fixed, so that this never fails by chance.
            let error = number(&row["standard_error"]);
            assert!((number(&row["frequency"]) - truth).abs() < 6.0 * error && error < 0.02, "{name}: {row}");
            let certain = &row["certain_interval"];
            assert!(number(&certain["from"]) <= truth && truth <= number(&certain["to"]), "{name}: {row}");
        }
    }
}

#[test]
fn every_mechanism_for_numbers_gives_back_the_mean() {
    let folder = folder("numbers");
    column(&folder, "answers.csv", (0..PEOPLE).map(|person| (person % 101) as f64 - 20.0));
    // Reports 30 ± 50/tanh(1), or values of variance (101² − 1)/12 with noise of variance 2·(100/2)².
    let deviations = [("one-bit", 50.0 / 1f64.tanh()), ("laplace", (850f64 + 5000.0).sqrt())];
    for name in ["one-bit", "piecewise", "hybrid", "laplace", "gaussian"] {
        let mechanism = ["--mechanism", name, "--epsilon", "2", "--delta", "1e-6"];
        let words = [&mechanism[..], &["--bounds", "-20,80", "--seed", "5", "--not-private"]].concat();
        privatize(&folder, "answers.csv", "reports.csv", &words).assert().success();
        let answer = estimate(&folder, &["reports.csv"]);
        // The mean of −20 … 80, nearly.
        let error = number(&answer["standard_error"]);
        assert!(
            (number(&answer["mean"]) - 30.0).abs() < 6.0 * error + 0.05 && error < 2.0,
            "{name}: {answer}"
        );
        if let Some((_, deviation)) = deviations.iter().find(|(of, _)| *of == name) {
            let expected = deviation / (PEOPLE as f64).sqrt();
            assert!((error / expected - 1.0).abs() < 0.02, "{name}: {error} and {expected}");
        }
        let [inner, outer] = ["interval", "certain_interval"].map(|key| &answer[key]);
        assert!(number(&outer["from"]) <= number(&inner["from"]), "{name}: {answer}");
        // However few digits are printed, the interval that is read covers the one that was computed.
        let text = said(estimation(&folder, &["reports.csv", "--digits", "2"]), 0);
        let row = text.lines().find(|line| line.starts_with("for certain")).expect("it is printed");
        let mut ends = row.split_whitespace().rev().map(|end| end.parse::<f64>().expect("a number"));
        let (to, from) = (ends.next().expect("an end"), ends.next().expect("an end"));
        assert!(from <= number(&outer["from"]) && number(&outer["to"]) <= to, "{row}: {outer}");
    }
}

#[test]
fn a_channel_of_your_own_is_estimated_by_maximum_likelihood() {
    let folder = folder("channel");
    std::fs::write(folder.join("channel.csv"), "0.6,0.3,0.1\n0.2,0.2,0.6\n").expect("writable");
    column(&folder, "answers.csv", (0..PEOPLE).map(|person| if person % 4 == 0 { "yes" } else { "no" }));
    let channel = ["--channel", "channel.csv", "--values", "yes,no", "--seed", "3", "--not-private"];
    // Its largest ratio is 6.
    let weaker = [&channel[..], &["--epsilon", "1.7"]].concat();
    let refusal = said(privatize(&folder, "answers.csv", "reports.csv", &weaker), 1);
    assert!(refusal.contains("channel is NOT (1.7, 0)-locally private"), "{refusal}");
    assert!(refusal.contains("with delta = 0 it is private at epsilon = 1.79"), "{refusal}");
    assert_eq!(names(&folder), ["answers.csv", "channel.csv"]);
    privatize(&folder, "answers.csv", "reports.csv", &[&channel[..], &["--epsilon", "1.8"]].concat())
        .assert()
        .success();
    let answer = estimate(&folder, &["reports.csv", "--method", "maximum-likelihood"]);
    assert!((number(&answer["frequencies"][0]["frequency"]) - 0.25).abs() < 0.02, "{answer}");
    // It has an inverse, so there are error bars. The variance of the inverse is known for two categories.
    let answer = estimate(&folder, &["reports.csv", "--confidence", "0.9999"]);
    let row = &answer["frequencies"][0];
    let error = number(&row["standard_error"]);
    assert!((number(&row["frequency"]) - 0.25).abs() < 5.0 * error && error < 0.006, "{row}");
    let certain = &row["certain_interval"];
    assert!(number(&certain["from"]) <= 0.25 && 0.25 <= number(&certain["to"]), "{row}");
    assert!(number(&certain["to"]) - number(&certain["from"]) < 12.0 * error, "{row}");
    let text = said(estimation(&folder, &["reports.csv"]), 0);
    assert!(text.contains("The frequencies are right on average"), "{text}");
}

#[test]
fn a_channel_without_an_inverse_has_only_most_likely_frequencies() {
    let folder = folder("singular");
    std::fs::write(folder.join("channel.csv"), "0.6,0.4\n0.4,0.6\n0.5,0.5\n").expect("writable");
    column(&folder, "answers.csv", (0..300).map(|person| person % 3 + 1));
    let words = ["--channel", "channel.csv", "--epsilon", "1", "--seed", "3", "--not-private"];
    privatize(&folder, "answers.csv", "reports.csv", &words).assert().success();
    let refusal = said(estimation(&folder, &["reports.csv"]), 2);
    assert!(refusal.contains("help: --method maximum-likelihood is possible"), "{refusal}");
    let answer = estimate(&folder, &["reports.csv", "--method", "maximum-likelihood"]);
    assert!(answer["frequencies"][0].get("certain_interval").is_none(), "{answer}");
}

#[test]
fn projected_and_most_likely_frequencies_are_frequencies() {
    let folder = transport("methods");
    let mechanism = ["--mechanism", "k-rr", "--epsilon", "0.1"];
    privatize(&folder, "answers.csv", "reports.csv", &[&SEEDED[..], &mechanism].concat()).assert().success();
    for method in ["projected", "maximum-likelihood"] {
        let answer = estimate(&folder, &["reports.csv", "--method", method]);
        let rows = answer["frequencies"].as_array().expect("a list");
        let frequencies: Vec<f64> = rows.iter().map(|row| number(&row["frequency"])).collect();
        assert!(frequencies.iter().all(|&frequency| frequency >= 0.0), "{method}: {frequencies:?}");
        assert!((frequencies.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // A standard error is one of unbiased estimates.
        assert!(
            rows.iter()
                .all(|row| row.get("standard_error").is_none() && row.get("certain_interval").is_some())
        );
    }
}

#[test]
fn reports_are_new_in_every_run_unless_a_seed_is_given_and_then_the_file_says_so() {
    let folder = transport("seeds");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it was written");
    let private = ["--categories-file", "names.txt", "--mechanism", "k-rr", "--epsilon", "1"];
    for name in ["one.csv", "two.csv"] {
        assert!(
            said(privatize(&folder, "answers.csv", name, &private), 0).contains("(1, 0)-locally private")
        );
    }
    assert_ne!(read("one.csv"), read("two.csv"));
    assert!(!read("one.csv").contains("NOT private"));
    let seeded = [&SEEDED[..], &["--mechanism", "k-rr", "--epsilon", "1"]].concat();
    for name in ["three.csv", "four.csv"] {
        assert!(
            said(privatize(&folder, "answers.csv", name, &seeded), 0).contains("reproducible, NOT private")
        );
    }
    assert_eq!(read("three.csv"), read("four.csv"));
    assert!(read("three.csv").lines().next().is_some_and(|line| line.contains("reproducible, NOT private")));
    assert!(said(estimation(&folder, &["three.csv"]), 0).contains("reproducible, NOT private"));
    // Neither flag does anything alone.
    for lone in [&["--seed", "1"][..], &["--not-private"]] {
        privatize(&folder, "answers.csv", "five.csv", &[&private[..], lone].concat()).assert().code(2);
    }
    assert!(!names(&folder).contains(&"five.csv".to_owned()));
}

#[test]
fn reports_do_not_depend_on_how_many_cores_there_are() {
    let folder = transport("cores");
    let words = [&SEEDED[..], &["--mechanism", "oue", "--epsilon", "1"]].concat();
    let run = |cores: &str| {
        privatize(&folder, "answers.csv", "reports.csv", &words)
            .env("RAYON_NUM_THREADS", cores)
            .assert()
            .success();
        std::fs::read(folder.join("reports.csv")).expect("it was written")
    };
    assert_eq!(run("1"), run("3"));
}

#[test]
fn files_of_one_mechanism_are_counted_together_and_others_are_refused() {
    let folder = transport("several");
    let base = ["--categories-file", "names.txt", "--mechanism", "k-rr", "--epsilon"];
    for (name, more) in [("one.csv", &["1"][..]), ("two.csv", &["1"]), ("other.csv", &["2"])] {
        privatize(&folder, "answers.csv", name, &[&base[..], more].concat()).assert().success();
    }
    assert_eq!(estimate(&folder, &["one.csv", "two.csv"])["reports"], 2 * PEOPLE);
    let refusal = said(estimation(&folder, &["one.csv", "other.csv"]), 2);
    let why = "one.csv and other.csv cannot be counted together: epsilon 1.0 and epsilon 2.0";
    assert!(refusal.contains(why), "{refusal}");
}

#[test]
fn data_and_reports_go_through_pipes() {
    let words = ["local", "privatize", "-", "--column", "2", "--no-header", "--values", "a,b"];
    let reports =
        dobrushin(&[&words[..], &["--mechanism", "k-rr", "--epsilon", "1", "--output", "-"]].concat())
            .write_stdin("x,a\ny,b\nz,\" a\"\n")
            .assert()
            .success();
    let output = reports.get_output();
    let summary = String::from_utf8_lossy(&output.stderr);
    assert!(summary.contains("3 reports, each (1, 0)-locally private by k-rr"), "{summary}");
    let reports = output.stdout.clone();
    let estimated = dobrushin(&["local", "estimate", "-", "--json"]).write_stdin(reports).assert().success();
    let answer: Value = serde_json::from_slice(&estimated.get_output().stdout).expect("valid JSON");
    assert_eq!((&answer["reports"], &answer["column"]), (&3.into(), &"2".into()));
}

#[test]
fn numbers_outside_the_bounds_are_moved_to_them_and_counted() {
    let folder = folder("clipped");
    column(&folder, "answers.csv", ["5", "-3", "12", "1e300", " 7 "]);
    let words = ["--mechanism", "laplace", "--epsilon", "1", "--bounds", "0,10", "--json"];
    let output = privatize(&folder, "answers.csv", "reports.csv", &words).assert().success();
    let answer: Value = serde_json::from_slice(&output.get_output().stdout).expect("valid JSON");
    assert_eq!((&answer["reports"], &answer["clipped"]), (&5.into(), &3.into()));
    assert_eq!(bounds(&answer["exact_delta"]), (0.0, 0.0));
}

#[test]
fn numbers_in_bins_give_a_histogram_and_quantiles() {
    let folder = folder("bins");
    // 0 … 99, and a hundredth of them outside.
    column(
        &folder,
        "answers.csv",
        (0..PEOPLE).map(|person| if person % 100 == 0 { 1000 } else { person % 100 }),
    );
    let numbers = ["--bounds", "0,100", "--bins", "20", "--mechanism", "subset", "--epsilon", "3"];
    let words = [&numbers[..], &["--seed", "4", "--not-private", "--json"]].concat();
    let output = privatize(&folder, "answers.csv", "reports.csv", &words).assert().success();
    let summary: Value = serde_json::from_slice(&output.get_output().stdout).expect("valid JSON");
    assert_eq!(summary["clipped"], PEOPLE / 100);
    let answer = estimate(&folder, &["reports.csv", "--quantiles", "0.1,0.5"]);
    assert_eq!(answer["frequencies"][3]["category"], "15 to 20");
    let frequency = number(&answer["frequencies"][3]["frequency"]);
    assert!(
        (frequency - 0.05).abs() < 6.0 * number(&answer["frequencies"][3]["standard_error"]),
        "{frequency}"
    );
    for (index, truth) in [(0, 10.5), (1, 50.5)] {
        let quantile = &answer["quantiles"][index];
        assert!((number(&quantile["value"]) - truth).abs() < 2.0, "{quantile}");
        let certain = &quantile["certain_interval"];
        assert!(number(&certain["from"]) <= truth && truth <= number(&certain["to"]), "{quantile}");
    }
}

#[test]
fn the_estimates_are_drawn_with_their_intervals() {
    let folder = transport("drawn");
    privatize(
        &folder,
        "answers.csv",
        "reports.csv",
        &[&SEEDED[..], &["--mechanism", "oue", "--epsilon", "1"]].concat(),
    )
    .assert()
    .success();
    estimate(&folder, &["reports.csv", "--plot", "picture.svg"]);
    let picture = std::fs::read_to_string(folder.join("picture.svg")).expect("it was drawn");
    assert!(picture.contains("100000 private reports") && picture.contains("on foot"));
}
