//! Commands that are given files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A file of this process that holds the bytes.
pub fn with(bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("dobrushin-fuzz-{}.json", std::process::id()));
    std::fs::write(&path, bytes).expect("the temporary folder is writable");
    path
}

/// Runs a command on files.
pub fn command(words: &[&str], files: &[&Path]) {
    let words = words.iter().map(OsStr::new).chain(files.iter().map(|path| path.as_os_str()));
    dobrushin_cli::fuzz::command(&words.collect::<Vec<_>>());
}
