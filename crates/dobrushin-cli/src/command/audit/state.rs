//! What is kept of finished calls, so that an interruption loses none of them.

use crate::file;
use crate::problem::Problem;
use dobrushin_audit::{Journal, JournalError};
use dobrushin_document::ask::state_problem;
use dobrushin_document::json::digest;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// A finished call: which data set it was about, and the models that it trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Its number, which no other call has.
    pub call: u64,
    /// Whether the data set was the one with the record.
    pub with: bool,
    /// The rows, with numbers in words, because JSON has no infinity.
    pub models: Vec<Vec<String>>,
}

impl Finished {
    /// The finished call of these models.
    pub fn new(call: u64, with: bool, models: &[Vec<f64>]) -> Self {
        let words = |row: &Vec<f64>| row.iter().map(f64::to_string).collect();
        Self { call, with, models: models.iter().map(words).collect() }
    }

    /// The models, as numbers; `None` if something else is written there.
    pub fn rows(&self) -> Option<Vec<Vec<f64>>> {
        let numbers = |row: &Vec<String>| row.iter().map(|word| word.parse().ok()).collect();
        self.models.iter().map(numbers).collect()
    }
}

/// A file of finished calls, one on each line after a line that says what was called.
pub struct State(Journal);

/// What is called, in a few characters: the command, and both data sets.
pub fn identity(command: &str, data: &[u8], neighbour: &[u8]) -> String {
    digest([command, &digest(data), &digest(neighbour)].join("\n").as_bytes())
}

impl State {
    /// Opens a file, or makes it, and reads the calls that it has. A line that was not written to its end is dropped.
    pub fn open(path: &Path, of: &str) -> Result<(Self, Vec<Finished>), Problem> {
        let problem = |error: JournalError| Problem::from(state_problem(&error));
        let (journal, lines) = Journal::open(path, &format!("of a command {of}")).map_err(problem)?;
        let calls = lines.iter().enumerate().map(|(number, line)| {
            let call = serde_json::from_str::<Finished>(line).ok().filter(|call| call.rows().is_some());
            call.ok_or_else(|| problem(journal.damaged(number)))
        });
        let calls = calls.collect::<Result<_, _>>()?;
        Ok((Self(journal), calls))
    }

    /// Keeps a call: its line is written at once, and is on the disk when this returns.
    pub fn keep(&mut self, call: &Finished) -> Result<(), Problem> {
        let path = self.0.path();
        let written = serde_json::to_string(call).map_err(io::Error::other).and_then(|line| {
            let write = || self.0.append(&line).and_then(|()| self.0.sync()).map_err(io::Error::other);
            file::append(path, write)
        });
        written.map_err(|error| Problem::cannot_write(path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    fn finished_calls_are_found_again_and_torn_ones_are_dropped() {
        let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
        let path = folder.path().join("state");
        let models = vec![vec![1.5, f64::INFINITY], vec![0.1, -2e-300]];
        let call = Finished::new(3, true, &models);
        {
            let (mut state, finished) = State::open(&path, "a").expect("new");
            assert!(finished.is_empty());
            state.keep(&call).expect("the folder is writable");
            assert!(State::open(&path, "a").is_err(), "two audits would make the same calls");
        }
        let mut file = fs::OpenOptions::new().append(true).open(&path).expect("it exists");
        file.write_all(b"{\"call\":4,\"wi").expect("it is writable");
        drop(file);
        let (state, finished) = State::open(&path, "a").expect("it is ours");
        assert_eq!(finished, std::slice::from_ref(&call));
        assert_eq!(finished[0].rows(), Some(models));
        drop(state);
        let (_, finished) = State::open(&path, "a").expect("it is ours");
        assert_eq!(finished.len(), 1);
    }

    #[test]
    fn the_state_of_another_command_and_damaged_lines_are_refused() {
        let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
        let path = folder.path().join("state");
        drop(State::open(&path, "a").expect("new"));
        assert!(State::open(&path, "b").is_err());
        let title = fs::read_to_string(&path).expect("it exists");
        for line in ["not a call", "{\"call\":1,\"with\":true,\"models\":[[\"x\"]]}"] {
            fs::write(&path, format!("{title}{line}\n")).expect("the folder is writable");
            assert!(State::open(&path, "a").is_err(), "{line}");
        }
    }
}
