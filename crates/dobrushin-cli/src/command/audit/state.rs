//! What is kept of finished calls, so that an interruption loses none of them.

use crate::file;
use crate::problem::Problem;
use dobrushin_document::json::digest;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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
pub struct State {
    file: File,
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Header {
    dobrushin_audit: u32,
    of: String,
}

/// What is called, in a few characters: the command, and both data sets.
pub fn identity(command: &str, data: &[u8], neighbour: &[u8]) -> String {
    digest([command, &digest(data), &digest(neighbour)].join("\n").as_bytes())
}

impl State {
    /// Opens a file, or makes it, and reads the calls that it has. A line that was not written to its end is dropped.
    pub fn open(path: &Path, of: &str) -> Result<(Self, Vec<Finished>), Problem> {
        let cannot = |error| Problem::new(format!("cannot use --state {}", path.display())).because(error);
        let mut file = private(path).map_err(cannot)?;
        if file.try_lock().is_err() {
            return Err(Problem::new(format!("--state {} is in use by another audit", path.display()))
                .help("wait for it, or give another file"));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(cannot)?;
        let complete = text.rfind('\n').map_or(0, |end| end + 1);
        let mut state = Self { file, path: path.to_owned() };
        let mut lines = text[..complete].lines();
        let Some(first) = lines.next() else {
            // What is not even one line of ours is somebody else's.
            if !text.is_empty() && !text.starts_with("{\"dobrushin_audit\"") {
                return Err(state.foreign());
            }
            state.restart_at(0).map_err(cannot)?;
            state.append(&Header { dobrushin_audit: 1, of: of.to_owned() })?;
            return Ok((state, Vec::new()));
        };
        let header = serde_json::from_str::<Header>(first).ok().filter(|header| header.dobrushin_audit == 1);
        let Some(header) = header else {
            return Err(state.foreign());
        };
        if header.of != of {
            return Err(Problem::new(format!(
                "--state {} is that of another command, or of other data",
                path.display()
            ))
            .help("give another file, or the same --command, --data and --neighbour as before"));
        }
        let mut finished = Vec::new();
        for (place, line) in lines.enumerate() {
            let call = serde_json::from_str::<Finished>(line).ok().filter(|call| call.rows().is_some());
            finished.push(call.ok_or_else(|| {
                Problem::new(format!("line {} of --state {} is damaged", place + 2, path.display()))
                    .help("remove the line, and the calls of that line are made again")
            })?);
        }
        state.restart_at(complete as u64).map_err(cannot)?;
        Ok((state, finished))
    }

    /// Keeps a call: its line is written at once, and is on the disk when this returns.
    pub fn keep(&mut self, call: &Finished) -> Result<(), Problem> {
        self.append(call)
    }

    fn append(&mut self, line: &impl Serialize) -> Result<(), Problem> {
        let written = serde_json::to_string(line).map_err(std::io::Error::other).and_then(|line| {
            file::append(&self.path, || {
                self.file.write_all(format!("{line}\n").as_bytes())?;
                self.file.sync_data()
            })
        });
        written.map_err(|error| Problem::cannot_write(&self.path, error))
    }

    /// Drops what comes after this many bytes, and goes on there.
    fn restart_at(&mut self, length: u64) -> std::io::Result<()> {
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(drop)
    }

    fn foreign(&self) -> Problem {
        Problem::new(format!("{} is not a file that audit --state has written", self.path.display()))
            .help("give the name of a file that does not exist yet")
    }
}

/// A file that only its owner reads: scores of models tell about records.
fn private(path: &Path) -> std::io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn files_of_others_are_refused_and_stay() {
        let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
        for text in ["x,y\n1,2\n", "my notes", "{}\n", "{\"dobrushin_audit\":2,\"of\":\"a\"}\n"] {
            let path = folder.path().join("notes");
            fs::write(&path, text).expect("the folder is writable");
            assert!(State::open(&path, "a").is_err(), "{text}");
            assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
        }
        let path = folder.path().join("other");
        drop(State::open(&path, "a").expect("new"));
        assert!(State::open(&path, "b").is_err());
        let bad = "{\"dobrushin_audit\":1,\"of\":\"a\"}\n{\"call\":1,\"with\":true,\"models\":[[\"x\"]]}\n";
        fs::write(&path, bad).expect("the folder is writable");
        assert!(State::open(&path, "a").is_err());
    }
}
