//! Training on the loans of the examples.

use crate::support::{dobrushin, json};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The records of the examples.
pub const LOANS: &str = "examples/loans/loans.csv";
/// Their run.
pub const RUN: &str = "examples/loans/logistic.toml";

/// A folder that does not exist yet.
pub fn new_folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("trained-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// The names of the files in a folder, also hidden ones.
pub fn files_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A file of JSON.
pub fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("it was written")).expect("valid JSON")
}

/// Trains on the loans with a known seed: what is printed, and the folder.
pub fn trained(more: &[&str]) -> (Value, PathBuf) {
    let folder = new_folder();
    let out = folder.display().to_string();
    let first = ["train", LOANS, "--run", RUN, "--out", &out, "--seed", "1", "--not-private"];
    (json(&[&first[..], more].concat()), folder)
}

/// Runs a command that must fail: its exit code and what it says.
pub fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let output = dobrushin(arguments).output().expect("it runs");
    assert!(!output.status.success(), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}
