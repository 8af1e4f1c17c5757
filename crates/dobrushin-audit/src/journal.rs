//! A file of lines that only grows, so that an interruption loses nothing.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first word of the first line.
const TITLE: &str = "dobrushin-audit-state";

/// What an audit has done so far, one result on each line of a file. The first line names what is audited.
///
/// Results tell about records, so only the owner of the file can read it. While it is open, it is locked: two audits
/// would do the same work twice. If the last line is not complete, because the program was interrupted while it wrote, it
/// is dropped.
///
/// ```
/// use dobrushin_audit::Journal;
///
/// let path = std::env::temp_dir().join(format!("dobrushin-journal-example-{}", std::process::id()));
/// # let _ = std::fs::remove_file(&path);
/// let (journal, lines) = Journal::open(&path, "what is audited")?;
/// assert!(lines.is_empty());
/// journal.append("a result")?;
/// assert!(Journal::open(&path, "what is audited").is_err_and(|error| error.to_string().contains("in use")));
/// drop(journal);
/// assert_eq!(Journal::open(&path, "what is audited")?.1, ["a result"]);
/// assert!(Journal::open(&path, "something else").is_err());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

/// Why a journal cannot be used.
///
/// ```
/// use dobrushin_audit::{Journal, JournalError};
///
/// let missing = Journal::open("no-such-folder/state".as_ref(), "an audit").expect_err("there is no such folder");
/// assert!(matches!(missing, JournalError::Io { .. }) && missing.to_string().contains("no-such-folder"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("cannot use the state {path}: {what}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        what: String,
    },
    /// Another audit has it open.
    #[error("the state {path} is in use by another audit")]
    InUse {
        /// The file.
        path: String,
    },
    /// It is somebody's file. It is left as it is.
    #[error("{path} is not the state of an audit")]
    Foreign {
        /// The file.
        path: String,
    },
    /// It is the state of another audit. It is left as it is.
    #[error("{path} is the state of another audit")]
    Other {
        /// The file.
        path: String,
    },
    /// A line is not a result.
    #[error("line {line} of the state {path} is damaged")]
    Damaged {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
    },
}

impl Journal {
    /// Opens the journal of an audit, or creates it, and reads its lines. The name of the audit is a line without breaks.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read, written or locked, or if it is not the journal of this audit. Then it is
    /// left as it is.
    pub fn open(path: &Path, of: &str) -> Result<(Self, Vec<String>), JournalError> {
        let shown = || path.display().to_string();
        let io = |error: std::io::Error| JournalError::Io { path: shown(), what: error.to_string() };
        let mut file = private(path).map_err(io)?;
        if file.try_lock().is_err() {
            return Err(JournalError::InUse { path: shown() });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let title = format!("{TITLE} {of}\n");
        let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
        let foreign = || JournalError::Foreign { path: shown() };
        let mut lines = Vec::new();
        if complete == 0 {
            // Nothing, or the beginning of our first line: nothing else is overwritten.
            if !title.as_bytes().starts_with(&bytes) {
                return Err(foreign());
            }
            file.rewind().map_err(io)?;
            file.write_all(title.as_bytes()).map_err(io)?;
        } else {
            let text = std::str::from_utf8(&bytes[..complete]).map_err(|_| foreign())?;
            let Some(rest) = text.strip_prefix(&title) else {
                let is_ours = text.strip_prefix(TITLE).is_some_and(|rest| rest.starts_with(' '));
                return Err(if is_ours { JournalError::Other { path: shown() } } else { foreign() });
            };
            lines.extend(rest.lines().map(str::to_owned));
            file.set_len(complete as u64).map_err(io)?;
            file.seek(SeekFrom::End(0)).map_err(io)?;
        }
        Ok((Self { path: path.to_owned(), file: Mutex::new(file) }, lines))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a line, which has no line break in it. What is written survives the end of the program.
    ///
    /// # Errors
    /// [`JournalError::Io`] if it cannot be written.
    pub fn append(&self, line: &str) -> Result<(), JournalError> {
        self.file().write_all(format!("{line}\n").as_bytes()).map_err(|error| self.failed(&error))
    }

    /// Waits until everything is on the disk, so that it survives the end of the machine.
    ///
    /// # Errors
    /// [`JournalError::Io`] if it cannot be written.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.file().sync_data().map_err(|error| self.failed(&error))
    }

    /// The error for the result of this number, counted from 0, which cannot be read.
    pub fn damaged(&self, result: usize) -> JournalError {
        JournalError::Damaged { path: self.path.display().to_string(), line: result + 2 }
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: &std::io::Error) -> JournalError {
        JournalError::Io { path: self.path.display().to_string(), what: error.to_string() }
    }
}

/// A file that only its owner can read.
fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
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
    use std::fs;

    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("dobrushin-journal-{name}-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        path
    }

    #[test]
    fn torn_lines_are_dropped_and_a_torn_title_is_written_again() {
        let path = place("torn");
        fs::write(&path, "dobrushin-audit-st").expect("the folder is writable");
        Journal::open(&path, "a").expect("it is ours").0.append("one").expect("it is writable");
        let whole = fs::read(&path).expect("it exists");
        assert_eq!(whole, b"dobrushin-audit-state a\none\n");
        fs::write(&path, [whole.as_slice(), b"tw"].concat()).expect("it is writable");
        let (journal, lines) = Journal::open(&path, "a").expect("it is ours");
        assert_eq!(lines, ["one"]);
        journal.append("three").expect("it is writable");
        drop(journal);
        assert_eq!(Journal::open(&path, "a").expect("it is ours").1, ["one", "three"]);
        fs::remove_file(path).expect("it exists");
    }

    #[test]
    fn files_of_others_are_refused_and_stay() {
        let path = place("foreign");
        let refused = |text: &str| {
            fs::write(&path, text).expect("the folder is writable");
            let error = Journal::open(&path, "a").expect_err("refused");
            assert_eq!(fs::read_to_string(&path).expect("it exists"), text);
            error
        };
        for text in ["x,y\n1,2\n", "my notes", "\n", "dobrushin-audit-statement\n"] {
            assert!(matches!(refused(text), JournalError::Foreign { .. }), "{text}");
        }
        for text in ["dobrushin-audit-state b\n", "dobrushin-audit-state ab\n"] {
            assert!(matches!(refused(text), JournalError::Other { .. }), "{text}");
        }
        fs::remove_file(path).expect("it exists");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let path = place("mode");
        drop(Journal::open(&path, "a").expect("it is new"));
        assert_eq!(fs::metadata(&path).expect("it exists").permissions().mode() & 0o777, 0o600);
        fs::remove_file(path).expect("it exists");
    }
}
