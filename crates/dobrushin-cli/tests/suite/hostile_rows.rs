//! What a row, a name or a line that somebody else wrote can do: nothing to other rows, to a terminal, to memory, or to
//! a spreadsheet; and no message repeats it.

use crate::local_support::{estimation, folder, privatize, said};
use crate::support::{dobrushin, root};
use crate::train_support::{LOANS, RUN, new_folder, read_json};
use serde_json::{Value, json};
use std::path::Path;

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), content).expect("the folder is writable");
}

/// What a command says from a folder: its exit code, its output and its complaints.
fn run(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output = dobrushin(words).current_dir(folder).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const SCHEMA: &str = "label = \"y\"\ncolumns.x = { kind = \"number\", lower = 0, upper = 9 }\n\
                      columns.y = { kind = \"category\", categories = [\"no\", \"yes\"] }\n";
const K_RR: [&str; 6] = ["--mechanism", "k-rr", "--epsilon", "1", "--values", "no,yes"];

/// A model of the schema, as `train` writes them, with these classes.
fn model(folder: &Path, classes: [&str; 2]) {
    let file = json!({
        "schema": 1,
        "kind": "dobrushin-model",
        "model": {
            "kind": "logistic",
            "schema": {
                "label": "y",
                "columns": {
                    "x": { "kind": "number", "lower": 0.0, "upper": 9.0 },
                    "y": { "kind": "category", "categories": classes },
                },
            },
        },
        "parameters": [[1.0, 0.0]],
    });
    write(folder, "model.json", file.to_string());
}

#[test]
fn a_stray_quote_in_one_record_changes_neither_their_number_nor_epsilon() {
    let loans = std::fs::read_to_string(root().join(LOANS)).expect("there");
    let folder = folder("stray-quote");
    write(&folder, "as-it-is.csv", &loans);
    let lines: Vec<&str> = loans.lines().collect();
    for (name, line) in [("quote.csv", format!("\"{}", lines[12])), ("blank.csv", String::new())] {
        let mut lines = lines.clone();
        lines[12] = &line;
        write(&folder, name, lines.join("\n") + "\n");
    }
    // Without the number of records, which is then counted.
    let run_file = std::fs::read_to_string(root().join(RUN)).expect("there");
    let uncounted: Vec<&str> = run_file.lines().filter(|line| !line.starts_with("records")).collect();
    write(&folder, "run.toml", uncounted.join("\n"));
    let schema = root().join(RUN).with_file_name("schema.toml");
    std::fs::copy(schema, folder.join("schema.toml")).expect("the folder is writable");
    let certified = |data: &str, more: &[&str]| {
        let out = new_folder();
        let words = ["train", data, "--run", "run.toml", "--out", &out.display().to_string(), "--skip-bad"];
        let steps = ["--set", "steps=10"];
        dobrushin(&[&words[..], &steps, more].concat()).current_dir(&folder).assert().success();
        let certificate = read_json(&out.join("certificate.json"));
        (certificate["run"]["run"]["records"].clone(), certificate["guarantee"].clone())
    };
    for more in [&[][..], &["--stream"]] {
        let expected = certified("as-it-is.csv", more);
        assert_eq!(expected.0, 3000);
        assert_eq!(certified("quote.csv", more), expected);
        assert_eq!(certified("blank.csv", more), expected);
    }
}

#[test]
fn a_quote_that_is_never_closed_is_an_error_in_every_command() {
    let folder = folder("open-quote");
    write(&folder, "schema.toml", SCHEMA);
    model(&folder, ["no", "yes"]);
    let run_file = std::fs::read_to_string(root().join(RUN)).expect("there");
    write(&folder, "run.toml", run_file);
    write(&folder, "rows.csv", "x,y\n1,no\n2,\"yes S3CRET\n3,no\n4,yes\n");
    write(&folder, "header.csv", "x,\"y S3CRET\n1,no\n");
    write(&folder, "pair.csv", "0.5,0.5\n0.25,\"0.75 S3CRET\n");
    write(&folder, "good.csv", "x,y\n1,no\n2,yes\n");
    said_by_privatize(&folder);
    let column = ["--column", "y", "--output", "new.csv"];
    let train = ["train", "--run", "run.toml", "--out", "new", "--set", "model.schema=schema.toml"];
    for (words, line) in [
        (vec!["local", "privatize", "rows.csv"], 3),
        (vec!["local", "privatize", "header.csv"], 1),
        (vec!["local", "estimate", "reports.csv"], 4),
        (vec!["train", "rows.csv", "--data-is-public"], 3),
        (vec!["schema", "check", "schema.toml", "rows.csv", "--rows"], 3),
        (vec!["train", "header.csv"], 1),
        (vec!["train", "good.csv", "--test", "rows.csv"], 3),
        (vec!["predict", "model.json", "rows.csv"], 3),
        (vec!["schema", "init", "rows.csv", "--label", "y", "--values-are-public"], 3),
        (vec!["schema", "init", "header.csv", "--label", "y"], 1),
        (vec!["schema", "check", "schema.toml", "header.csv"], 1),
        (vec!["kernel", "pair.csv"], 2),
        (vec!["divergence", "discrete", "pair.csv"], 2),
        (vec!["local", "profile", "--channel", "pair.csv"], 2),
    ] {
        let more: &[&str] = match words[..2] {
            ["local", "privatize"] => &[&column[..], &K_RR].concat(),
            ["train", _] => &train[1..],
            _ => &[],
        };
        let (code, _, refusal) = run(&folder, &[&words[..], more].concat());
        assert_eq!(code, Some(2), "{words:?}: {refusal}");
        assert!(refusal.contains(&format!("line {line}")), "{words:?}: {refusal}");
        assert!(
            refusal.contains("begins with a quote that is not closed on its line"),
            "{words:?}: {refusal}"
        );
        assert!(!refusal.contains("S3CRET"), "{words:?}: {refusal}");
    }
    assert!(!folder.join("new.csv").exists() && !folder.join("new/model.json").exists());
}

/// Reports of which one begins with a quote.
fn said_by_privatize(folder: &Path) {
    let words = [&["local", "privatize", "good.csv", "--column", "y", "--output", "reports.csv"], &K_RR[..]];
    assert_eq!(run(folder, &words.concat()).0, Some(0));
    let reports = std::fs::read_to_string(folder.join("reports.csv")).expect("it was written");
    let mut lines: Vec<&str> = reports.lines().collect();
    lines[3] = "\"1 S3CRET";
    write(folder, "reports.csv", lines.join("\n") + "\n");
}

#[test]
fn every_row_has_a_report_whatever_it_holds() {
    let folder = folder("every-row");
    let rows: String = (0..600).map(|row| if row == 5 { "\"no\n" } else { "yes\n" }).collect();
    write(&folder, "data.csv", format!("answer\n{rows}"));
    let summary =
        said(privatize(&folder, "data.csv", "reports.csv", &[&K_RR[..], &["--skip-bad"]].concat()), 0);
    assert!(summary.starts_with("600 reports") && summary.contains("1 rows could not be used"), "{summary}");
    let reports = std::fs::read_to_string(folder.join("reports.csv")).expect("it was written");
    assert_eq!(reports.lines().count(), 602);
    // The first line of a file without a header decides nothing about the others.
    write(&folder, "bare.csv", "\nx,yes\n\"\ny,no\n");
    let words = [
        "local",
        "privatize",
        "bare.csv",
        "--column",
        "2",
        "--no-header",
        "--skip-bad",
        "--output",
        "bare-reports.csv",
    ];
    let (code, summary, refusal) = run(&folder, &[&words[..], &K_RR].concat());
    assert!(code == Some(0) && summary.starts_with("4 reports"), "{summary}{refusal}");
}

#[test]
fn no_message_is_long_or_shows_an_answer() {
    let folder = folder("long");
    write(&folder, "schema.toml", SCHEMA);
    model(&folder, ["no", "yes"]);
    let run_file = std::fs::read_to_string(root().join(RUN)).expect("there");
    write(&folder, "run.toml", run_file);
    let long = "S3CRET".repeat(200_000);
    write(&folder, "rows.csv", format!("x,y\n1,{long}\n"));
    write(&folder, "lines.csv", format!("x,y\n1,yes\n2,\"{}\n", "S3CRET\n".repeat(200_000)));
    write(&folder, "no-header.csv", format!("S3CRET,{long}\nS3CRET,{long}\n"));
    write(&folder, "long.csv", format!("{long}\n"));
    write(&folder, "long.toml", format!("{long} = 1 1\n"));
    write(&folder, "long.json", format!("{{\"{long}\""));
    let name = "n".repeat(250);
    let column = ["--column", "y", "--output", "new.csv"];
    for words in [
        vec!["local", "privatize", "rows.csv"],
        vec!["local", "privatize", "lines.csv"],
        vec!["local", "privatize", "no-header.csv"],
        vec!["local", "privatize", &name],
        vec!["local", "estimate", "rows.csv"],
        vec!["train", "rows.csv", "--run", "run.toml", "--out", "new", "--set", "model.schema=schema.toml"],
        vec![
            "train",
            "no-header.csv",
            "--run",
            "run.toml",
            "--out",
            "new",
            "--set",
            "model.schema=schema.toml",
        ],
        vec!["predict", "model.json", "no-header.csv"],
        vec!["predict", "long.json", "rows.csv"],
        vec!["schema", "check", "long.toml"],
        vec!["kernel", "long.csv"],
        vec!["account", "long.toml"],
        vec!["verify", "long.json"],
    ] {
        let is_private = words[1] == "privatize" || words[0] == "train" || words[0] == "predict";
        let more: &[&str] = if words[1] == "privatize" { &[&column[..], &K_RR].concat() } else { &[] };
        let (code, out, refusal) = run(&folder, &[&words[..], more].concat());
        assert_eq!((code, out.as_str()), (Some(2), ""), "{words:?}");
        assert!(refusal.len() < 10_000, "{words:?}: {} bytes", refusal.len());
        assert!(!is_private || !refusal.contains("S3CRET"), "{words:?}: {refusal}");
    }
}

#[test]
fn names_from_files_command_no_terminal() {
    let folder = folder("escapes");
    let evil = "\u{1b}[2Jb\u{202e}us\u{9b}1m\r\nThe reports are private";
    write(&folder, "data.csv", format!("{}\nno\n", evil.replace("\r\n", "")));
    let words = ["local", "privatize", "data.csv", "--column", "1", "--output", "reports.csv"];
    assert_eq!(run(&folder, &[&words[..], &K_RR].concat()).0, Some(0));
    let reports = std::fs::read_to_string(folder.join("reports.csv")).expect("it was written");
    let evil_json = Value::from(evil).to_string();
    write(
        &folder,
        "evil.csv",
        reports.replace("\"no\"", &evil_json).replace("\"column\":\"1\"", &format!("\"column\":{evil_json}")),
    );
    write(
        &folder,
        "evil.toml",
        SCHEMA.replace("\"y\"", &evil_json).replace("columns.y", &format!("columns.{evil_json}")),
    );
    model(&folder, [evil, "yes"]);
    write(&folder, "rows.csv", "x,y\n1,no\n");
    let laplace =
        ["local", "privatize", "rows.csv", "--column", "x", "--mechanism", "laplace", "--epsilon", "1"];
    assert_eq!(
        run(&folder, &[&laplace[..], &["--bounds", "0,9", "--output", "mean.csv"]].concat()).0,
        Some(0)
    );
    let reports = std::fs::read_to_string(folder.join("mean.csv")).expect("it was written");
    write(&folder, "evil-mean.csv", reports.replace("\"column\":\"x\"", &format!("\"column\":{evil_json}")));
    for words in [
        &["local", "estimate", "evil.csv"][..],
        &["local", "estimate", "evil.csv", "--json"],
        &["local", "estimate", "evil-mean.csv"],
        &["local", "estimate", "evil.csv", "reports.csv"],
        &["schema", "check", "evil.toml"],
        &["schema", "init", "data.csv", "--label", &evil.replace("\r\n", "")],
        &["predict", "model.json", "rows.csv", "--json"],
        &["account", evil],
    ] {
        let (_, out, refusal) = run(&folder, words);
        let is_safe = |c: char| !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c)) || c == '\n';
        let said = out + &refusal;
        assert!(said.contains("\\u001b[2J"), "{words:?}: {said}");
        assert!(said.chars().all(is_safe), "{words:?}: {said:?}");
        assert!(words[0] == "account" || !said.contains("\nThe reports are private"), "{words:?}: {said}");
    }
    // The same JSON as without escapes.
    let answer = estimation(&folder, &["evil.csv", "--json"]).output().expect("it runs").stdout;
    let answer: Value = serde_json::from_slice(&answer).expect("valid JSON");
    assert_eq!((&answer["frequencies"][0]["category"], &answer["column"]), (&evil.into(), &evil.into()));
}

#[test]
fn no_label_of_a_prediction_is_a_formula() {
    let folder = folder("formulas");
    model(&folder, ["=cmd|' /C calc'!A0", "-1"]);
    write(&folder, "rows.csv", "x\n0\n9\n");
    let (code, predicted, _) = run(&folder, &["predict", "model.json", "rows.csv"]);
    assert_eq!(code, Some(0));
    let cells: Vec<&str> = predicted.lines().filter_map(|line| line.split(',').next()).collect();
    assert_eq!(cells, ["y", "'=cmd|' /C calc'!A0", "-1"]);
    let (_, exact, _) = run(&folder, &["predict", "model.json", "rows.csv", "--json"]);
    let first: Value = exact.lines().next().and_then(|line| serde_json::from_str(line).ok()).expect("JSON");
    assert_eq!(first["y"], "=cmd|' /C calc'!A0");
}

/// The most memory that a process has had, in megabytes.
#[cfg(target_os = "linux")]
fn megabytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().trim_end_matches(" kB").trim().parse::<u64>().ok().map(|peak| peak / 1024)
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_without_end_takes_no_more_memory_than_a_long_one() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let folder = folder("endless");
    let start = |more: &[&str]| {
        Command::new(assert_cmd::cargo::cargo_bin("dobrushin"))
            .args(["local", "privatize", "-", "--column", "answer", "--output", "reports.csv"])
            .args(K_RR)
            .args(more)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    };
    // Skipped, it is read on, and nothing of it is kept.
    let mut program = start(&["--skip-bad"]);
    let mut answers = program.stdin.take().expect("it is piped");
    let megabyte = vec![b'x'; 1 << 20];
    answers.write_all(b"answer\nyes\n").expect("the program reads");
    for _ in 0..200 {
        answers.write_all(&megabyte).expect("the program reads");
    }
    let peak = megabytes(program.id()).expect("it waits for more");
    drop(answers);
    assert!(program.wait().expect("it ends").success());
    assert!(peak < 60, "{peak} MB");
    // Otherwise it stops, though the line never ends.
    let mut program = start(&[]);
    let mut answers = program.stdin.take().expect("it is piped");
    answers.write_all(b"answer\nyes\n").expect("the program reads");
    while answers.write_all(&megabyte).is_ok() {}
    let output = program.wait_with_output().expect("it ends");
    let refusal = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{refusal}");
    assert!(refusal.contains("line 3 of standard input: it is longer than 4194304 bytes"), "{refusal}");
}

#[test]
#[cfg(target_os = "linux")]
fn bad_rows_take_no_memory_each() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let folder = folder("many-bad");
    let names: String = (0..6).map(|index| format!("{index}{}\n", "n".repeat(2000))).collect();
    write(&folder, "names.txt", names);
    let mut program = Command::new(assert_cmd::cargo::cargo_bin("dobrushin"))
        .args(["local", "privatize", "-", "--column", "answer", "--output", "reports.csv", "--skip-bad"])
        .args(["--mechanism", "k-rr", "--epsilon", "1", "--categories-file", "names.txt"])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut answers = program.stdin.take().expect("it is piped");
    answers.write_all(b"answer\n").expect("the program reads");
    answers.write_all("bad\n".repeat(200_000).as_bytes()).expect("the program reads");
    drop(answers);
    let mut peak = 0;
    let status = loop {
        peak = megabytes(program.id()).unwrap_or(0).max(peak);
        if let Some(status) = program.try_wait().expect("it is ours") {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    assert!(status.success());
    assert!(peak < 60, "{peak} MB");
}
