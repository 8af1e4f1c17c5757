//! Neighbouring files in, everything that leaves the program out: what differs is accounted for, or nothing does.
//!
//! The list of what leaves is the table of docs/security.md. `DOBRUSHIN_BINARY` names another build of the program to try.

use crate::ledger_support::Desk;
use crate::support::root;
use dobrushin_reference::is_deep;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of a test's own, in which the program runs.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("inventory-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the folder of the tests is writable");
        let folder = Self(path);
        folder.write("schema.toml", SCHEMA);
        folder
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), content).expect("the folder is ours");
    }

    fn run(&self, arguments: &[&str]) -> std::process::Output {
        let program = std::env::var_os("DOBRUSHIN_BINARY").unwrap_or(env!("CARGO_BIN_EXE_dobrushin").into());
        Command::new(program).current_dir(&self.0).args(arguments).output().expect("the program starts")
    }

    /// Runs a command that may write files of these names, and collects everything that leaves it.
    fn everything(&self, arguments: &[&str], data: &[u8]) -> Everything {
        let _ = std::fs::remove_dir_all(self.0.join("out"));
        self.write("data.csv", data);
        let before = self.names();
        let output = self.run(arguments);
        let files = self.names().into_iter().filter(|name| !before.contains(name));
        let read = |name: String| (std::fs::read(self.0.join(&name)).expect("it was written"), name);
        Everything {
            code: output.status.code(),
            said: String::from_utf8(output.stderr).expect("UTF-8"),
            printed: String::from_utf8(output.stdout).expect("UTF-8"),
            files: files
                .map(read)
                .map(|(bytes, name)| (name, String::from_utf8(bytes).expect("UTF-8")))
                .collect(),
        }
    }

    /// Files in the folder, and in its folder `out`, hidden ones too.
    fn names(&self) -> Vec<String> {
        let list = |folder: &str| -> Vec<String> {
            let entries = std::fs::read_dir(self.0.join(folder)).into_iter().flatten().flatten();
            let files = entries.filter(|entry| entry.path().is_file());
            files.map(|entry| format!("{folder}{}", entry.file_name().to_string_lossy())).collect()
        };
        let mut names = [list(""), list("out/")].concat();
        names.sort();
        names
    }
}

/// What leaves the program.
#[derive(Clone, Debug, PartialEq)]
struct Everything {
    code: Option<i32>,
    said: String,
    printed: String,
    files: BTreeMap<String, String>,
}

impl Everything {
    /// Without what the guarantee accounts for.
    fn unaccounted(mut self) -> Self {
        let accounted = [
            "/parameters",
            "/training/model_sha256",
            "/training/evaluation/0/accuracy",
            "/training/evaluation/0/loss",
        ];
        for content in self.files.values_mut() {
            *content = match serde_json::from_str::<Value>(content) {
                Ok(mut json) => {
                    accounted.iter().for_each(|field| strike(&mut json, field));
                    json.to_string()
                }
                Err(_) => content.lines().filter(|line| !line.contains("SHA-256 of the model")).collect(),
            };
        }
        if let Ok(mut json) = serde_json::from_str::<Value>(&self.printed) {
            // Of public test records, or with noise: numbers, the same ones for all data.
            for field in ["auc", "log_loss", "r_squared", "confusion", "classes"] {
                strike(&mut json, &format!("/test/{field}"));
            }
            for field in ["accuracy", "loss", "root_mean_square"] {
                strike(&mut json, &format!("/test/{field}"));
                strike(&mut json, &format!("/private_evaluation/0/{field}"));
            }
            self.printed = json.to_string();
        }
        self
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.files[name]).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// Replaces what a field holds, if there is one, by a word.
fn strike(json: &mut Value, field: &str) {
    if let Some(value) = json.pointer_mut(field).filter(|value| !value.is_null()) {
        *value = "accounted".into();
    }
}

const SCHEMA: &str = r#"
label = "y"
[columns.a]
kind = "number"
lower = -10
upper = 10
[columns.c]
kind = "category"
categories = ["red", "green"]
[columns.y]
kind = "category"
categories = ["no", "yes"]
"#;

const HEADER: &str = "a,c,y\n";

fn rows(count: usize) -> Vec<Vec<u8>> {
    let row =
        |i: usize| format!("{},{},{}", i as f64 - 5.5, ["red", "green"][i % 2], ["no", "yes"][i / 2 % 2]);
    (0..count).map(|i| row(i).into_bytes()).collect()
}

fn table(rows: &[Vec<u8>]) -> Vec<u8> {
    let lines = rows.iter().flat_map(|row| [row.as_slice(), b"\n"].concat());
    HEADER.bytes().chain(lines).collect()
}

/// A run of a few steps.
fn run_file(order: &str, neighbours: &str, records: &str, more: &str) -> String {
    let batch = if order == "full" { "" } else { "batch-size = 4\n" };
    let algorithm = if order == "full" { "gradient-descent" } else { "dp-sgd" };
    format!(
        "[run]\nalgorithm = \"{algorithm}\"\n{records}\nsteps = 3\n{batch}order = \"{order}\"\n\
         neighbours = \"{neighbours}\"\n[update]\nlearning-rate = 0.3\nclip-norm = 1.0\nnoise-multiplier = 2.0\n\
         [model]\nkind = \"logistic\"\nschema = \"schema.toml\"\n[target]\ndelta = 1e-3\n{more}"
    )
}

const TRAIN: [&str; 8] = ["train", "data.csv", "--run", "run.toml", "--out", "out", "--seed", "1"];

/// What a record can be made to hold, by whoever it belongs to.
fn contents() -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = [
        "9.5,green,yes",
        "1e300,red,no",
        "-1e300,red,no",
        "nan,red,no",
        "inf,red,no",
        "S3CRET,red,no",
        "5,S3CRET,no",
        "5,red,S3CRET",
        "5,red",
        "5,red,no,S3CRET",
        ",,",
        "",
        "\"",
        "\"5,red,no",
        "5,\"red,no",
        "5,red,no\"",
        "\"5\",\"red\",\"no\"",
        "\"5\"\"\",red,no",
        "5,red,no\r",
        "\u{feff}5,red,no",
        "\0",
        "#5,red,no",
        "a,c,y",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    contents.push(b"5,\xff\xfe,no".to_vec());
    contents.push(vec![b'5'; 100_000]);
    contents
}

/// The options of training that read or print something of their own.
const OPTIONS: [&[&str]; 6] = [
    &["--json"],
    &[],
    &["--json", "--skip-bad"],
    &["--json", "--test-share", "0.25"],
    &["--json", "--test", "test.csv"],
    &["--json", "--epsilon", "2", "--quiet"],
];

#[test]
fn what_a_record_holds_changes_nothing_but_what_is_accounted_for() {
    let folder = Folder::new("replaced");
    let original = rows(12);
    folder.write("test.csv", table(&original[..5]));
    let (mut ways, mut cases, mut found) = (0, 0, Vec::new());
    for (order, options) in [
        ("cyclic", OPTIONS[0]),
        ("cyclic", OPTIONS[1]),
        ("shuffled", OPTIONS[2]),
        ("full", OPTIONS[3]),
        ("poisson", OPTIONS[4]),
        ("without-replacement", OPTIONS[5]),
        ("once", &["--json", "--stream", "--set", "steps=2"]),
        ("full", &["--json", "--stream", "--set", "records=12"]),
        ("full", &["--json", "--set", "evaluation.noise-multiplier=3"]),
    ] {
        for neighbours in ["replace-one", "zero-out"] {
            folder.write("run.toml", run_file(order, neighbours, "", ""));
            let arguments = [&TRAIN[..], &["--not-private"], options].concat();
            let usual = folder.everything(&arguments, &table(&original));
            assert_eq!(usual.code, Some(0), "{order} {options:?}: {}", usual.said);
            // How many test records can be used depends on a share of the rows: it is for whoever holds them.
            let rest = |mut everything: Everything| {
                if let (true, Ok(mut json)) =
                    (options.contains(&"--test-share"), serde_json::from_str::<Value>(&everything.printed))
                {
                    strike(&mut json, "/test/records");
                    everything.printed = json.to_string();
                }
                everything.unaccounted()
            };
            let usual = rest(usual);
            // A sample, another for each way to train, unless there is time for all.
            let deep = is_deep();
            ways += 1;
            let sampled = |(index, _): &(usize, Vec<u8>)| deep || (index + ways) % 3 == 0;
            for (index, content) in contents().into_iter().enumerate().filter(sampled) {
                let places = if deep { vec![0, 5, 11] } else { vec![[0, 5, 11][index % 3]] };
                for place in places {
                    let mut neighbour = original.clone();
                    neighbour[place] = content.clone();
                    let other = rest(folder.everything(&arguments, &table(&neighbour)));
                    cases += 1;
                    if other != usual {
                        let shown = String::from_utf8_lossy(&content[..content.len().min(30)]).into_owned();
                        found.push(format!(
                            "{order} {neighbours} {options:?} {shown:?} at {place}: {other:?}"
                        ));
                    }
                }
            }
        }
    }
    println!("{cases} neighbouring files, {} differences", found.len());
    assert!(found.is_empty(), "{} of {cases}, first {}", found.len(), found[0]);
}

#[test]
fn whether_a_record_is_there_changes_nothing_but_what_is_accounted_for() {
    let folder = Folder::new("added");
    folder.write("test.csv", table(&rows(5)));
    let (mut cases, mut found) = (0, Vec::new());
    for order in ["full", "poisson"] {
        for options in
            [&["--json"][..], &[], &["--json", "--test", "test.csv"], &["--json", "--test-share", "0.5"]]
        {
            for (records, counts) in [(12, [11, 12]), (12, [12, 13]), (12, [0, 1]), (200, [200, 201])] {
                let said = format!("records = {records}");
                folder.write("run.toml", run_file(order, "add-or-remove-one", &said, ""));
                let arguments = [&TRAIN[..], &["--not-private"], options].concat();
                let of = |count| folder.everything(&arguments, &table(&rows(count))).unaccounted();
                let [one, other] = counts.map(of);
                cases += 1;
                if one != other {
                    found.push(format!("{order} {options:?} {records} {counts:?}: {one:?}\nand {other:?}"));
                }
            }
        }
    }
    println!("{cases} neighbouring files, {} differences", found.len());
    assert!(found.is_empty(), "{} of {cases}, first {}", found.len(), found[0]);
}

#[test]
fn what_a_record_holds_changes_nothing_of_how_training_is_planned() {
    let folder = Folder::new("planned");
    let planned = ["train", "data.csv", "--epsilon", "2", "--delta", "1e-3", "--out", "out", "--json"];
    let known = ["--seed", "1", "--not-private"];
    let of = |more: &[&str], rows: &[Vec<u8>]| {
        folder.everything(&[&planned[..], &known, more].concat(), &table(rows)).unaccounted()
    };
    let secret = ["--neighbours", "add-or-remove-one", "--records", "12"];
    for more in [&[][..], &secret] {
        let usual = of(more, &rows(12));
        assert_eq!(usual.code, Some(0), "{more:?}: {}", usual.said);
        for (place, content) in [(0, "S3CRET,red,no"), (5, "9.5,green,yes"), (11, "\"")] {
            let mut neighbour = rows(12);
            neighbour[place] = content.as_bytes().to_vec();
            assert_eq!(of(more, &neighbour), usual, "{more:?} {content:?}");
        }
    }
    // Where the number of records is a secret, it does not show.
    assert_eq!(of(&secret, &rows(13)), of(&secret, &rows(11)));
}

/// With the same randomness, a single step on all records of two neighbours differs by what one record moves.
#[test]
fn one_record_moves_a_step_no_further_than_is_accounted_for() {
    let folder = Folder::new("moved");
    let (mut cases, mut found) = (0, Vec::new());
    for (neighbours, apart) in [("replace-one", 2.0), ("zero-out", 1.0), ("add-or-remove-one", 1.0)] {
        for share in ["", "0.5"] {
            for count in [12_usize, 101, 200] {
                let said = if neighbours == "add-or-remove-one" {
                    format!("records = {count}")
                } else {
                    String::new()
                };
                folder.write("run.toml", run_file("full", neighbours, &said, ""));
                let test: &[&str] = if share.is_empty() { &[] } else { &["--test-share", share] };
                let arguments = [&TRAIN[..], &["--not-private", "--set", "steps=1"], test].concat();
                for place in [0, count / 2, count - 1] {
                    let one = rows(count);
                    let mut other = one.clone();
                    match neighbours {
                        "replace-one" => other[place] = b"10,green,yes".to_vec(),
                        "zero-out" => other[place] = b"nothing".to_vec(),
                        _ => other.insert(place, b"10,green,yes".to_vec()),
                    }
                    let [first, second] =
                        [one, other].map(|rows| folder.everything(&arguments, &table(&rows)));
                    cases += 1;
                    if first.code != Some(0) || second.code != Some(0) {
                        // Refused, for both of them alike.
                        if first.unaccounted() != second.unaccounted() {
                            found.push(format!("{neighbours} {share} {count}: only one of them is refused"));
                        }
                        continue;
                    }
                    let model = |trained: &Everything| -> Vec<f64> {
                        let parameters = trained.json("out/model.json")["parameters"][0].clone();
                        serde_json::from_value(parameters).expect("numbers")
                    };
                    let certificate = first.json("out/certificate.json");
                    let number = |pointer: &str| certificate.pointer(pointer).and_then(Value::as_f64);
                    let records = number("/training/records").expect("a number");
                    let step = apart * 0.3 / records;
                    let (a, b) = (model(&first), model(&second));
                    let moved = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    // What is released is rounded to 2⁻²⁰ of its noise.
                    let rounding = 4.0 * 0.3 * 2.0 / records / f64::from(1 << 20);
                    if moved > step + rounding {
                        found.push(format!("{neighbours} {share} {count} at {place}: {moved} > {step}"));
                    }
                }
            }
        }
    }
    println!("{cases} pairs, {} moved too far", found.len());
    assert!(found.is_empty(), "{} of {cases}:\n{}", found.len(), found.join("\n"));
}

/// The rows of the table in docs/security.md, for one command: what leaves, and why it is covered.
fn inventory(command: &str) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(root().join("docs/security.md")).expect("the page");
    let row = |line: &str| -> Option<(String, String)> {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        (cells.next()? == format!("{command}`")).then_some(())?;
        Some((cells.next()?.to_owned(), cells.next()?.trim_end_matches(" |").to_owned()))
    };
    page.lines().filter_map(row).collect()
}

/// Whether the table has a field of a file or report.
fn is_listed(inventory: &[(String, String)], place: &str, field: &str) -> bool {
    inventory.iter().any(|(what, _)| {
        let Some(fields) = what.strip_prefix(place).and_then(|rest| rest.strip_prefix(": ")) else {
            return false;
        };
        fields.split(", ").any(|listed| listed == field)
    })
}

fn fields(json: &Value) -> Vec<String> {
    json.as_object().expect("an object").keys().cloned().collect()
}

#[test]
fn everything_that_training_writes_is_in_the_list() {
    let folder = Folder::new("listed");
    folder.write("test.csv", table(&rows(5)));
    folder
        .write("run.toml", run_file("cyclic", "replace-one", "", "[evaluation]\nnoise-multiplier = 50.0\n"));
    let list = inventory("train");
    for options in [&["--json"][..], &["--json", "--test", "test.csv"], &["--json", "--data-is-public"]] {
        let arguments = [&TRAIN[..], &["--not-private"], options].concat();
        let everything = folder.everything(&arguments, &table(&rows(12)));
        let printed: Value = serde_json::from_str(&everything.printed).expect("JSON");
        let written: Vec<&str> = everything.files.keys().map(String::as_str).collect();
        assert_eq!(written, ["out/certificate.json", "out/certificate.txt", "out/model.json"]);
        for (place, json) in [
            ("`model.json`", everything.json("out/model.json")),
            ("`certificate.json`", everything.json("out/certificate.json")),
            ("report", printed),
        ] {
            let missing: Vec<String> =
                fields(&json).into_iter().filter(|field| !is_listed(&list, place, field)).collect();
            assert!(missing.is_empty(), "{place}: docs/security.md says nothing of {missing:?}");
        }
    }
    let privatize = inventory("local privatize");
    folder.write("data.csv", table(&rows(12)));
    let said = ["local", "privatize", "data.csv", "--column", "c", "--mechanism", "k-rr", "--epsilon", "1"];
    let output =
        folder.run(&[&said[..], &["--values", "red,green", "--json", "--output", "reports.csv"]].concat());
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let missing: Vec<String> =
        fields(&summary).into_iter().filter(|field| !is_listed(&privatize, "summary", field)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    folder.write("survey.toml", SURVEY);
    let said =
        ["local", "privatize", "data.csv", "--survey", "survey.toml", "--json", "--output", "reports.csv"];
    let summary: Value = serde_json::from_slice(&folder.run(&said).stdout).expect("JSON");
    let missing: Vec<String> =
        fields(&summary).into_iter().filter(|field| !is_listed(&privatize, "summary", field)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn whatever_a_command_says_of_a_ledger_is_in_the_list() {
    let desk = Desk::new();
    let missing = |command: &str, place: &str, report: &Value| -> Vec<String> {
        let list = inventory(command);
        fields(report).into_iter().filter(|field| !is_listed(&list, place, field)).collect()
    };
    let trained = desk.does(crate::ledger_support::TRAIN);
    assert!(trained["charged"].is_object());
    assert_eq!(missing("train", "report", &trained), [""; 0]);
    let privatize =
        "local privatize data.csv --column y --mechanism k-rr --values no,yes --epsilon 0.1 --output r.csv";
    let reports = desk.does(&format!("{privatize} --ledger l --person who"));
    assert!(reports["charged"].is_object());
    assert_eq!(missing("local privatize", "summary", &reports), [""; 0]);
    for words in ["ledger show l", "ledger show l --person p1", "ledger check l", "ledger note l 1 noted"] {
        assert_eq!(missing("ledger", "report", &desk.does(words)), [""; 0], "{words}");
    }
    let reserve = "ledger reserve l --epsilon 0.1 --people data.csv --person who";
    assert_eq!(missing("ledger", "report", &desk.does(reserve)), [""; 0]);
}

/// Questions about the columns of the table.
const SURVEY: &str = r#"
epsilon = 6
[[question]]
column = "c"
values = ["red", "green"]
mechanism = "k-rr"
[[question]]
column = "a"
bounds = [-10, 10]
mechanism = "laplace"
[[question]]
columns = ["a", "1"]
radius = 5
mechanism = "priv-unit"
"#;

/// A report, and a prediction, depend on the row that they are for and on no other.
#[test]
fn what_is_written_of_a_row_depends_on_that_row_alone() {
    let folder = Folder::new("rows");
    folder.write("run.toml", run_file("cyclic", "replace-one", "", ""));
    let original = rows(12);
    folder.everything(&[&TRAIN[..], &["--not-private"]].concat(), &table(&original));
    std::fs::rename(folder.0.join("out/model.json"), folder.0.join("model.json")).expect("it was trained");
    let privatize = [
        "local",
        "privatize",
        "data.csv",
        "--column",
        "c",
        "--mechanism",
        "k-rr",
        "--epsilon",
        "1",
        "--values",
        "red,green",
        "--seed",
        "1",
        "--not-private",
        "--skip-bad",
    ];
    folder.write("survey.toml", SURVEY);
    folder.write("one.toml", format!("answer = \"one\"\n{SURVEY}"));
    let survey = |file| {
        ["local", "privatize", "data.csv", "--survey", file, "--seed", "1", "--not-private", "--skip-bad"]
    };
    let (all, one) = (survey("survey.toml"), survey("one.toml"));
    let predict = ["predict", "model.json", "data.csv", "--skip-bad"];
    // With the same randomness a prediction is the same; a report on a row that cannot be used draws more of it.
    for (arguments, is_fixed) in [(&privatize[..], false), (&all, false), (&one, false), (&predict, true)] {
        let usual = folder.everything(arguments, &table(&original));
        assert_eq!(usual.code, Some(0), "{}", usual.said);
        for content in contents() {
            let mut neighbour = original.clone();
            neighbour[5] = content.clone();
            let other = folder.everything(arguments, &table(&neighbour));
            let lines = |printed: &str| printed.lines().map(str::to_owned).collect::<Vec<_>>();
            let (before, after) = (lines(&usual.printed), lines(&other.printed));
            assert_eq!((usual.code, before.len()), (other.code, after.len()), "{content:?}");
            // The header, or a line of description and the header, come first.
            let first = before.len() - original.len();
            let changed: Vec<usize> = (0..before.len()).filter(|&line| before[line] != after[line]).collect();
            let others = changed.iter().any(|&line| line < first || (is_fixed && line != first + 5));
            assert!(!others, "{arguments:?} {content:?}: {changed:?}");
        }
    }
    // Only the names of the columns are read.
    for arguments in
        [&["schema", "init", "data.csv", "--label", "y"][..], &["schema", "check", "schema.toml", "data.csv"]]
    {
        let usual = folder.everything(arguments, &table(&original));
        for content in contents() {
            let mut neighbour = original.clone();
            neighbour[5] = content;
            assert_eq!(folder.everything(arguments, &table(&neighbour)), usual);
        }
    }
}
