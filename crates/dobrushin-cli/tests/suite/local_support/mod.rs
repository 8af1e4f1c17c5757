//! Columns, reports, and folders to put them in.

use crate::support::{dobrushin, own_folder};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// A new empty folder, in that of the caller.
#[track_caller]
pub fn folder(name: &str) -> PathBuf {
    let folder = own_folder().join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("what an earlier test wrote can be removed");
    }
    std::fs::create_dir_all(&folder).expect("the folder of the tests is writable");
    folder
}

/// A CSV file with one column.
pub fn column(folder: &Path, name: &str, values: impl IntoIterator<Item = impl Display>) -> PathBuf {
    let lines: String = values.into_iter().map(|value| format!("{value}\n")).collect();
    let path = folder.join(name);
    std::fs::write(&path, format!("answer\n{lines}")).expect("the folder is writable");
    path
}

/// `dobrushin local privatize DATA --column answer --output REPORTS …`, from the folder.
pub fn privatize(folder: &Path, data: &str, reports: &str, more: &[&str]) -> assert_cmd::Command {
    let words = ["local", "privatize", data, "--column", "answer", "--output", reports];
    let mut command = dobrushin(&[&words[..], more].concat());
    command.current_dir(folder);
    command
}

/// What a command says that exits with this code: its output, and then its complaints.
pub fn said(mut command: assert_cmd::Command, code: i32) -> String {
    let assert = command.assert().code(code);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&assert.get_output().stdout) + &text(&assert.get_output().stderr)
}

/// `dobrushin local estimate …`, from the folder.
pub fn estimation(folder: &Path, words: &[&str]) -> assert_cmd::Command {
    let mut command = dobrushin(&[&["local", "estimate"], words].concat());
    command.current_dir(folder);
    command
}

/// What `dobrushin local estimate … --json` says.
pub fn estimate(folder: &Path, words: &[&str]) -> serde_json::Value {
    let output = estimation(folder, words).arg("--json").assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).expect("valid JSON")
}

/// The names of all files of a folder, hidden ones too.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
