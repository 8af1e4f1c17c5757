//! Vectors, several questions under one promise, and results as CSV.

use crate::local_support::{estimate, estimation, folder, names, said};
use crate::support::{bounds, dobrushin};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("it was written")
}

/// `dobrushin local privatize answers.csv --output reports.csv …`, from the folder.
fn privatize(folder: &Path, words: &[&str]) -> assert_cmd::Command {
    let start = ["local", "privatize", "answers.csv", "--output", "reports.csv"];
    let mut command = dobrushin(&[&start[..], words].concat());
    command.current_dir(folder);
    command
}

/// Its summary.
fn summary(folder: &Path, words: &[&str]) -> Value {
    let output =
        privatize(folder, &[words, &["--json"]].concat()).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).expect("valid JSON")
}

const SEEDED: [&str; 3] = ["--seed", "7", "--not-private"];

/// 4000 people: how they travel, how long it takes, and where they live, in three numbers.
fn town(name: &str) -> PathBuf {
    let folder = folder(name);
    let mut text = "transport,minutes,x,y,z\n".to_owned();
    for person in 0..4000 {
        let transport = ["bus", "car", "bus", "on foot"][person % 4];
        let _ =
            writeln!(text, "{transport},{},{},-0.3,0", person % 61, if person % 2 == 0 { 0.8 } else { 0.4 });
    }
    std::fs::write(folder.join("answers.csv"), text).expect("writable");
    folder
}

const VECTOR: [&str; 4] = ["--columns", "x,y,z", "--radius", "1"];

#[test]
fn every_mechanism_for_vectors_gives_back_the_mean_within_its_error_bars() {
    let folder = town("vectors");
    for (name, most) in [("half-sphere", 0.08), ("priv-unit", 0.03)] {
        let words = [&VECTOR[..], &SEEDED, &["--mechanism", name, "--epsilon", "4"]].concat();
        let made = summary(&folder, &words);
        assert_eq!(
            (&made["reports"], &made["clipped"], bounds(&made["exact_delta"])),
            (&4000.into(), &0.into(), (0.0, 0.0))
        );
        let answer = estimate(&folder, &["reports.csv", "--confidence", "0.9999", "--simultaneous"]);
        assert_eq!((&answer["column"], &answer["mechanism"]), (&"x, y, z".into(), &name.into()));
        for (index, (column, truth)) in [("x", 0.6), ("y", -0.3), ("z", 0.0)].into_iter().enumerate() {
            let row = &answer["coordinates"][index];
            assert_eq!(row["column"], column);
            let error = number(&row["standard_error"]);
            assert!((number(&row["mean"]) - truth).abs() < 6.0 * error && error < most, "{name}: {row}");
            let certain = &row["certain_interval"];
            assert!(number(&certain["from"]) <= truth && truth <= number(&certain["to"]), "{name}: {row}");
        }
        assert!(number(&answer["certain_radius"]) > number(&answer["standard_error"]));
    }
}

#[test]
fn a_vector_outside_the_ball_is_clipped_and_a_bad_one_is_the_zero_vector_and_neither_is_refused() {
    let folder = folder("outside");
    let rows =
        ["x,y", "0.5,0.5", "3,4", "1e308,-1e308", "NaN,0", "0,inf", "0", "a,b", "0,\"open", "-0,1e-320"];
    std::fs::write(folder.join("answers.csv"), rows.join("\n")).expect("writable");
    for name in ["half-sphere", "priv-unit"] {
        let words = ["--columns", "x,y", "--radius", "1", "--mechanism", name, "--epsilon", "2"];
        let refusal = said(privatize(&folder, &words), 2);
        assert!(
            refusal.contains("line 5 of answers.csv: column \"x\": the cell is not accepted"),
            "{refusal}"
        );
        assert!(refusal.contains("report the zero vector") && !refusal.contains("NaN"), "{refusal}");
        assert_eq!(names(&folder), ["answers.csv"]);
        let made = summary(&folder, &[&words[..], &["--skip-bad"]].concat());
        let counts = ["reports", "clipped", "skipped"].map(|key| made[key].as_u64());
        assert_eq!(counts, [Some(9), Some(2), Some(5)]);
        // A report for every row, whatever it holds.
        assert_eq!(read(&folder, "reports.csv").lines().count(), 2 + 9);
        std::fs::remove_file(folder.join("reports.csv")).expect("it was written");
    }
}

#[test]
fn vectors_are_planned_profiled_and_verified() {
    let words = [
        "local",
        "plan",
        "--epsilon",
        "4",
        "--records",
        "1000",
        "--radius",
        "1",
        "--dimension",
        "10",
        "--json",
    ];
    let output = dobrushin(&words).assert().success().get_output().stdout.clone();
    let plan: Value = serde_json::from_slice(&output).expect("valid JSON");
    assert_eq!(plan["best"], "priv-unit");
    // PrivUnit has B² = 4.674 there, and one bit 16.08.
    let errors: Vec<f64> = (0..2).map(|index| number(&plan["plans"][index]["standard_error"])).collect();
    assert!((errors[0] / (4.674f64 / 1000.0).sqrt() - 1.0).abs() < 0.01, "{errors:?}");
    assert!((errors[1] / (16.079f64 / 1000.0).sqrt() - 1.0).abs() < 0.001, "{errors:?}");
    for name in ["half-sphere", "priv-unit"] {
        let ball = ["--mechanism", name, "--epsilon", "3", "--radius", "2", "--dimension", "5"];
        let verified = said(dobrushin(&[&["local", "verify"], &ball[..]].concat()), 0);
        assert!(verified.contains(&format!("{name} is (3, 0)-locally private.")), "{verified}");
        said(dobrushin(&[&["local", "profile"], &ball[..]].concat()), 0);
    }
    for (words, word) in [
        (&["--mechanism", "priv-unit"][..], "--radius is missing"),
        (&["--mechanism", "priv-unit", "--radius", "1"], "--dimension is missing"),
        (&["--mechanism", "priv-unit", "--bounds", "0,1"], "it takes --radius, for vectors"),
        (&["--mechanism", "k-rr", "--radius", "1", "--dimension", "2"], "for categories"),
        (&["--mechanism", "laplace", "--radius", "1", "--dimension", "2"], "it takes --bounds, for numbers"),
        (&["--mechanism", "priv-unit", "--radius", "0", "--dimension", "2"], "radius"),
        (&["--mechanism", "priv-unit", "--radius", "nan", "--dimension", "2"], "radius"),
        (&["--mechanism", "priv-unit", "--radius", "1e300", "--dimension", "2"], "between 1e-100 and 1e100"),
        (&["--radius", "1", "--dimension", "2"], "--mechanism NAME is missing"),
    ] {
        let refusal = said(dobrushin(&[&["local", "verify", "--epsilon", "1"], words].concat()), 2);
        assert!(refusal.contains(word), "{words:?}: {refusal}");
    }
}

const SURVEY: &str = r#"
epsilon = 6
[[question]]
column = "transport"
values = ["bus", "car", "on foot"]
mechanism = "k-rr"
share = 2
[[question]]
column = "minutes"
bounds = [0, 60]
mechanism = "hybrid"
[[question]]
columns = ["x", "y", "z"]
radius = 1
mechanism = "priv-unit"
share = 3
"#;

#[test]
fn a_survey_divides_one_promise_among_its_questions_and_each_is_estimated() {
    let folder = town("survey");
    for answer in ["all", "one"] {
        std::fs::write(folder.join("survey.toml"), format!("answer = \"{answer}\"\n{SURVEY}"))
            .expect("writable");
        let made = summary(&folder, &[&["--survey", "survey.toml"], &SEEDED[..]].concat());
        assert_eq!((&made["epsilon"], &made["answer"]), (&6.0.into(), &answer.into()));
        assert_eq!(bounds(&made["exact_delta"]), (0.0, 0.0));
        let used: Vec<f64> = (0..3).map(|index| number(&made["questions"][index]["epsilon"])).collect();
        assert_eq!(used, if answer == "all" { [2.0, 1.0, 3.0] } else { [6.0; 3] });
        let found = estimate(&folder, &["reports.csv", "--confidence", "0.9999", "--simultaneous"]);
        assert_eq!((&found["reports"], &found["answer"]), (&4000.into(), &answer.into()));
        let [transport, minutes, place] = [0, 1, 2].map(|index| &found["questions"][index]);
        let reports: u64 =
            [transport, minutes, place].iter().filter_map(|question| question["reports"].as_u64()).sum();
        assert_eq!(reports, if answer == "all" { 12_000 } else { 4000 });
        if answer == "one" {
            // Two, one and three sixths of 4000 people; six standard deviations.
            for (question, share) in [(transport, 2.0), (minutes, 1.0), (place, 3.0)] {
                let expected = 4000.0 * share / 6.0;
                assert!((number(&question["reports"]) - expected).abs() < 6.0 * expected.sqrt());
            }
        }
        let near = |row: &Value, key: &str, truth: f64| {
            let off = (number(&row[key]) - truth).abs();
            assert!(off < 6.0 * number(&row["standard_error"]), "{answer}: {row}");
            let certain = &row["certain_interval"];
            assert!(number(&certain["from"]) <= truth && truth <= number(&certain["to"]), "{answer}: {row}");
        };
        near(&transport["frequencies"][0], "frequency", 0.5);
        near(minutes, "mean", 30.0);
        near(&place["coordinates"][0], "mean", 0.6);
        let text = said(estimation(&folder, &["reports.csv"]), 0);
        assert!(text.contains("Question 3: x, y, z"), "{text}");
    }
}

/// Somebody who answers one question says nothing about the others: of each line, the cells of one question are filled.
#[test]
fn who_answers_one_question_reports_on_no_other() {
    let folder = town("one");
    let words = ["--columns", "minutes,x", "--bounds", "0,60", "--mechanism", "laplace", "--epsilon", "1"];
    privatize(&folder, &[&words[..], &["--answer", "one"]].concat()).assert().success();
    let reports = read(&folder, "reports.csv");
    let mut lines = reports.lines().skip(1);
    assert_eq!(lines.next(), Some("question_1_report,question_2_report"));
    let answered: Vec<usize> = lines
        .map(|line| {
            let filled: Vec<bool> = line.split(',').map(|cell| !cell.is_empty()).collect();
            assert!(filled == [true, false] || filled == [false, true], "{line}");
            usize::from(filled[1])
        })
        .collect();
    assert_eq!(answered.len(), 4000);
    // One half each; six standard deviations of 32.
    assert!(answered.iter().sum::<usize>().abs_diff(2000) < 190);
    // A line that answers both, or none, is no report.
    std::fs::write(folder.join("reports.csv"), reports.replace("\n,", "\n1,")).expect("writable");
    let refusal = said(estimation(&folder, &["reports.csv"]), 2);
    assert!(refusal.contains("it answers 2 questions, but everybody answers one"), "{refusal}");
}

#[test]
fn columns_that_are_no_vector_are_a_question_each_with_an_equal_share() {
    let folder = town("each");
    let words = ["--columns", "minutes,x,y", "--bounds", "-1,60", "--mechanism", "laplace", "--epsilon", "1"];
    let made = summary(&folder, &words);
    let used: Vec<f64> = (0..3).map(|index| number(&made["questions"][index]["epsilon"])).collect();
    assert!(used.iter().all(|epsilon| *epsilon <= 1.0 / 3.0 && *epsilon > 0.333_333_333), "{used:?}");
    assert_eq!(bounds(&made["exact_delta"]), (0.0, 0.0));
    // A channel of your own keeps its own promise, which is more than a third of 2.
    std::fs::write(folder.join("channel.csv"), "0.75,0.25\n0.25,0.75\n").expect("writable");
    let words = ["--columns", "minutes,x,y", "--channel", "channel.csv", "--epsilon", "2", "--skip-bad"];
    let refusal = said(privatize(&folder, &words), 1);
    assert!(refusal.contains("locally private"), "{refusal}");
    // With 3·ln 3 there is enough for all.
    let words = ["--columns", "minutes,x,y", "--channel", "channel.csv", "--epsilon", "3.3", "--skip-bad"];
    privatize(&folder, &words).assert().success();
}

#[test]
fn surveys_that_cannot_be_asked_are_refused_before_a_row_is_read() {
    let folder = town("refused");
    std::fs::write(
        folder.join("answers.csv"),
        "transport,minutes,x,y,z\nsecret,secret,secret,secret,secret\n",
    )
    .expect("writable");
    for (survey, words, word) in [
        ("epsilon = 1", &[][..], "question is missing"),
        (&SURVEY.replace("k-rr", "k_rr"), &[], "question 1.mechanism is \"k_rr\", which is none"),
        (&SURVEY.replace("k-rr", "channel"), &[], "which is none"),
        (&SURVEY.replace("\"minutes\"", "\"hours\""), &[], "--column hours: there is no such column"),
        (&SURVEY.replace("hybrid", "k-rr"), &[], "--mechanism k-rr does not take such answers"),
        (&SURVEY.replace("epsilon = 6", "epsilon = 1e-6"), &[], "cannot be made: epsilon is"),
        (&SURVEY.replace("share = 2", "share = 4294967295"), &[], "the share of a question"),
        (SURVEY, &["--epsilon", "1"], "cannot be used with"),
        (SURVEY, &["--column", "x"], "cannot be used with"),
        (SURVEY, &["--mechanism", "k-rr"], "cannot be used with"),
    ] {
        std::fs::write(folder.join("survey.toml"), survey).expect("writable");
        let refusal = said(privatize(&folder, &[&["--survey", "survey.toml"], words].concat()), 2);
        assert!(refusal.contains(word) && !refusal.contains("secret"), "{word}: {refusal}");
        assert_eq!(names(&folder), ["answers.csv", "survey.toml"]);
    }
    // The survey is an input: it is never replaced.
    std::fs::write(folder.join("survey.toml"), SURVEY).expect("writable");
    let words = ["local", "privatize", "answers.csv", "--survey", "survey.toml", "--output", "survey.toml"];
    let mut command = dobrushin(&words);
    command.current_dir(&folder);
    let refusal = said(command, 2);
    assert!(refusal.contains("is the file with the survey"), "{refusal}");
    for (words, word) in [
        (&["--columns", "x,x", "--radius", "1", "--mechanism", "priv-unit", "--epsilon", "1"][..], "twice"),
        (
            &[
                "--columns",
                "x,y",
                "--radius",
                "1",
                "--dimension",
                "3",
                "--mechanism",
                "priv-unit",
                "--epsilon",
                "1",
            ],
            "--dimension is not",
        ),
        (&["--mechanism", "k-rr", "--epsilon", "1", "--categories", "3"], "--column"),
        (
            &[
                "--column",
                "x",
                "--answer",
                "one",
                "--mechanism",
                "k-rr",
                "--epsilon",
                "1",
                "--categories",
                "3",
            ],
            "--answer is for several questions",
        ),
    ] {
        let refusal = said(privatize(&folder, words), 2);
        assert!(refusal.contains(word) && !refusal.contains("secret"), "{word}: {refusal}");
    }
}

#[test]
fn bad_cells_of_a_survey_are_counted_once_for_each_row_and_the_first_line_is_named() {
    let folder = folder("bad-cells");
    std::fs::write(folder.join("survey.toml"), SURVEY).expect("writable");
    let rows = [
        "transport,minutes,x,y,z",
        "bus,1,0,0,0",
        "bus,bad,0,0,0",
        "boat,bad,0,bad,0",
        "car,99,9,9,9",
        "torn",
    ];
    std::fs::write(folder.join("answers.csv"), rows.join("\n")).expect("writable");
    let refusal = said(privatize(&folder, &["--survey", "survey.toml"]), 2);
    assert!(refusal.contains("line 3 of answers.csv: column \"minutes\""), "{refusal}");
    let made = summary(&folder, &["--survey", "survey.toml", "--skip-bad"]);
    let counts = ["reports", "clipped", "skipped"].map(|key| made[key].as_u64());
    assert_eq!(counts, [Some(5), Some(2), Some(3)]);
    assert_eq!(read(&folder, "reports.csv").lines().count(), 2 + 5);
}

/// The cells of a CSV file without quotes in it.
fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn results_are_written_as_csv_with_the_numbers_of_the_json() {
    let folder = town("csv");
    std::fs::write(folder.join("survey.toml"), SURVEY).expect("writable");
    privatize(&folder, &[&["--survey", "survey.toml"], &SEEDED[..]].concat()).assert().success();
    let found = estimate(&folder, &["reports.csv", "--csv", "estimates.csv"]);
    let text = read(&folder, "estimates.csv");
    let header = "column,what,name,estimate,standard_error,from,to,certain_from,certain_to,reports,mechanism,epsilon,delta";
    assert_eq!(text.lines().next(), Some(header));
    let table = cells(&text);
    // Three categories, a mean and three coordinates.
    assert_eq!(table.len(), 1 + 3 + 1 + 3);
    let is = |cell: &str, value: &Value| assert_eq!(cell.parse::<f64>().ok(), value.as_f64());
    let walkers = &found["questions"][0]["frequencies"][2];
    assert_eq!(table[3][..3], ["transport", "frequency", "on foot"]);
    is(table[3][3], &walkers["frequency"]);
    is(table[3][7], &walkers["certain_interval"]["from"]);
    assert_eq!(table[4][..2], ["minutes", "mean"]);
    is(table[4][4], &found["questions"][1]["standard_error"]);
    assert_eq!(table[7][..2], ["z", "coordinate"]);
    is(table[7][8], &found["questions"][2]["coordinates"][2]["certain_interval"]["to"]);
    assert_eq!(table[7][9..], ["4000", "priv-unit", "3", "0"]);
    let run = |words: &[&str]| {
        let mut command = dobrushin(words);
        command.current_dir(&folder).assert().success();
    };
    run(&["local", "plan", "--epsilon", "1", "--records", "100", "--categories", "4", "--csv", "plan.csv"]);
    let text = read(&folder, "plan.csv");
    assert!(
        text.starts_with("mechanism,records,standard_error,standard_error_of_one_category,epsilon,delta\n")
    );
    assert_eq!(text.lines().count(), 7);
    run(&[
        "local",
        "profile",
        "--mechanism",
        "k-rr",
        "--categories",
        "4",
        "--epsilon",
        "1",
        "--csv",
        "profile.csv",
    ]);
    let text = read(&folder, "profile.csv");
    assert_eq!(cells(&text)[0], ["mechanism", "epsilon", "delta_lower", "delta_upper"]);
    assert_eq!(cells(&text).len(), 6);
    // No output takes the place of another, or of an input.
    for other in ["reports.csv", "answer.json"] {
        let words = ["local", "estimate", "reports.csv", "--csv", other, "--output", "answer.json"];
        let mut command = dobrushin(&words);
        command.current_dir(&folder);
        said(command, 2);
    }
}

/// A name that a spreadsheet would take for a formula is a text in the CSV file.
#[test]
fn a_category_is_no_formula() {
    let folder = folder("formula");
    std::fs::write(folder.join("answers.csv"), "a\n=1+1\nb\n=1+1\n").expect("writable");
    let words = ["--column", "a", "--values", "=1+1,b", "--mechanism", "k-rr", "--epsilon", "1"];
    privatize(&folder, &words).assert().success();
    estimate(&folder, &["reports.csv", "--csv", "estimates.csv"]);
    assert!(read(&folder, "estimates.csv").contains("a,frequency,'=1+1,"));
}

#[test]
fn files_of_other_surveys_are_not_counted_together_and_damaged_ones_are_refused() {
    let folder = town("damaged");
    std::fs::write(folder.join("survey.toml"), SURVEY).expect("writable");
    privatize(&folder, &["--survey", "survey.toml"]).assert().success();
    let good = read(&folder, "reports.csv");
    std::fs::rename(folder.join("reports.csv"), folder.join("first.csv")).expect("it was written");
    privatize(&folder, &["--survey", "survey.toml"]).assert().success();
    assert_eq!(estimate(&folder, &["reports.csv", "first.csv"])["reports"], 8000);
    std::fs::write(folder.join("survey.toml"), SURVEY.replace("epsilon = 6", "epsilon = 3"))
        .expect("writable");
    privatize(&folder, &["--survey", "survey.toml"]).assert().success();
    let refusal = said(estimation(&folder, &["reports.csv", "first.csv"]), 2);
    assert!(refusal.contains("different surveys"), "{refusal}");
    for (from, to, word) in [
        ("\"radius\":1.0", "\"radius\":2.0", "is not the priv-unit of this program"),
        ("\"radius\":1.0", "\"radius\":-1", "no valid \"radius\""),
        ("\"answer\":\"all\"", "\"answer\":\"some\"", "no valid \"answer\""),
        ("[\"x\",\"y\",\"z\"]", "[]", "no valid \"columns\""),
        ("question_1_report", "question_9_report", "are not those of its mechanism"),
    ] {
        assert!(good.contains(from), "{from}: {}", good.lines().next().unwrap_or_default());
        std::fs::write(folder.join("bad.csv"), good.replacen(from, to, 1)).expect("writable");
        let refusal = said(estimation(&folder, &["bad.csv"]), 2);
        assert!(refusal.contains(word), "{word}: {refusal}");
    }
}
