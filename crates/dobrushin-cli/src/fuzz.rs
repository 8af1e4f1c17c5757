//! The functions that the fuzz targets call: readers of files that others wrote, with any bytes. None of them may
//! panic.

use crate::probabilities;
use crate::table_file::CsvRows;
use dobrushin_document::RunFile;
use std::ffi::OsStr;

/// Reads a run file, up to the run that it describes.
pub fn run_file(text: &str) {
    if let Ok(file) = RunFile::parse(text, "fuzzed") {
        let _ = (file.question(), file.run());
        let _ = file.json().to_string();
    }
}

/// Reads a CSV file.
///
/// # Panics
/// If a line is read differently than it is read alone: see the guarantee of [`CsvRows`].
pub fn csv(bytes: &[u8]) {
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').flat_map(rows).collect();
    assert_eq!(rows(bytes), lines);
    assert_eq!(lines.len(), bytes.split_inclusive(|byte| *byte == b'\n').count());
    let _ = probabilities::parse(bytes);
}

/// The cells of each row; `None` if the row is torn.
fn rows(bytes: &[u8]) -> Vec<Option<Vec<Vec<u8>>>> {
    let mut rows = CsvRows::new(bytes);
    let mut all = Vec::new();
    while let Ok(Some(row)) = rows.next_row() {
        all.push(row.ok().map(|row| row.iter().map(<[u8]>::to_vec).collect()));
    }
    all
}

/// Does what a user asks for with these words after the name of the program, and drops the answer. It returns the error
/// message, if any, as a user would read it.
pub fn command(words: &[&OsStr]) -> Option<String> {
    let words = std::iter::once(OsStr::new("dobrushin")).chain(words.iter().copied());
    crate::complaint(words)
}
