//! A folder with people, their records, and a ledger.

use crate::train_support::{files_in, new_folder};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A new folder that holds the ledger `l`, in which everybody may spend (2, 1e-5); one pass without a number of records
/// (`once.toml`); and people with records to train on (`data.csv`, `schema.toml`, `run.toml`).
pub struct Desk {
    pub folder: PathBuf,
}

/// One pass, ten records a step: what it costs depends on the place.
const ONCE: &str = "[run]\nalgorithm = \"dp-sgd\"\nsteps = 6\nbatch-size = 10\norder = \"cyclic\"\n[update]\n\
                    learning-rate = 0.3\nnoise-multiplier = 9.0\n[model]\nkind = \"logistic\"\nschema = \"schema.toml\"\n\
                    [target]\ndelta = 1e-5\n";
const SCHEMA: &str = "label = \"y\"\n[columns.a]\nkind = \"number\"\nlower = -10\nupper = 10\n[columns.y]\nkind = \"category\"\n\
                      categories = [\"no\", \"yes\"]\n";
const RUN: &str = "[run]\nalgorithm = \"dp-sgd\"\nsteps = 60\nbatch-size = 10\norder = \"cyclic\"\n[update]\n\
                   learning-rate = 0.3\nnoise-multiplier = 30.0\n[model]\nkind = \"logistic\"\nschema = \"schema.toml\"\n\
                   [target]\ndelta = 1e-5\n";
/// The rows of `data.csv`, one for each person, from p1 upwards.
pub const ROWS: usize = 50;
/// Trains on all of them.
pub const TRAIN: &str = "train data.csv --run run.toml --out model --ledger l --person who";

impl Desk {
    pub fn new() -> Self {
        let desk = Self { folder: new_folder() };
        fs::create_dir_all(&desk.folder).expect("the folder of the tests is writable");
        desk.write("once.toml", ONCE);
        desk.write("schema.toml", SCHEMA);
        desk.write("run.toml", RUN);
        desk.write("data.csv", table(1..=ROWS));
        desk.does("ledger init l --epsilon 2 --delta 1e-5");
        desk
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.folder.join(name), content).expect("the folder is ours");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A list of people, one for each record.
    pub fn people(&self, name: &str, people: &[&str]) {
        self.write(name, format!("who\n{}\n", people.join("\n")));
    }

    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dobrushin"));
        command.current_dir(&self.folder).args(words.split(' '));
        command
    }

    pub fn run(&self, words: &str) -> Output {
        self.command(words).output().expect("the program starts")
    }

    /// What it prints for people.
    pub fn says(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// What it prints with `--json`.
    pub fn does(&self, words: &str) -> Value {
        serde_json::from_str(&self.says(&format!("{words} --json"))).expect("JSON")
    }

    /// What it says instead of doing it. No file is changed by that, and no spend.
    pub fn refuses(&self, words: &str, code: i32) -> String {
        let before = self.everything();
        let output = self.run(words);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(code), "{words}: {said}");
        assert!(output.stdout.is_empty() && !said.contains("panicked"), "{words}: {said}");
        assert!(self.everything() == before, "{words} changed something");
        said
    }

    /// The content of all files but the ledger, and what that says of everybody.
    pub fn everything(&self) -> Vec<(String, Vec<u8>)> {
        let names = files_in(&self.folder).into_iter().filter(|name| !name.starts_with('l'));
        let read = |name: String| (name.clone(), fs::read(self.folder.join(name)).unwrap_or_default());
        let ledger = ("l".to_owned(), self.says("ledger show l --json --csv everybody.csv").into_bytes());
        let people = ("people".to_owned(), self.read("everybody.csv").into_bytes());
        let is_other = |name: &String| name != "everybody.csv" && self.folder.join(name).is_file();
        names.filter(is_other).map(read).chain([ledger, people]).collect()
    }

    /// The share of their budget that somebody has spent.
    pub fn share(&self, person: &str) -> f64 {
        number(&self.does(&format!("ledger show l --person {person}"))["share"])
    }

    /// ε of each release that somebody is in.
    pub fn costs(&self, person: &str) -> Vec<f64> {
        let shown = self.does(&format!("ledger show l --person {person}"));
        shown["releases"].as_array().expect("a list").iter().map(|spend| number(&spend["epsilon"])).collect()
    }

    /// The status of each release, in order.
    pub fn statuses(&self) -> Vec<String> {
        let shown = self.does("ledger show l");
        let releases = shown["releases"].as_array().expect("a list");
        releases.iter().map(|release| release["status"].as_str().expect("a word").to_owned()).collect()
    }
}

/// Records of these people.
pub fn table(people: impl IntoIterator<Item = usize>) -> String {
    let row = |i: usize| format!("p{i},{},{}\n", i as f64 / 5.0 - 5.0, ["no", "yes"][i / 3 % 2]);
    format!("who,a,y\n{}", people.into_iter().map(row).collect::<String>())
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}
