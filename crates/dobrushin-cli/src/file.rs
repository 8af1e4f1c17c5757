//! Replacing a file completely or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Makes `bytes` the content of the file at `path`.
///
/// They are written to a temporary file in the same folder which then takes the name, so that at
/// no time is there a partial file at `path`. On failure the temporary file is removed.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |file| file.write_all(bytes))
}

/// As [`replace`], with what `content` writes.
pub fn replace_by(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut draft = Draft::new(path)?;
    content(&mut draft)?;
    draft.finish()
}

/// What will be the file at `path` once it is finished; if it never is, the temporary file is removed.
pub struct Draft {
    file: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
}

/// Temporary files that an interruption must remove.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on Ctrl-C, and a request to terminate, remove all temporary files before the program ends.
///
/// A program that was started so that it ignores them, as by nohup, goes on ignoring them.
pub fn remove_drafts_when_interrupted() {
    let interrupted = || {
        for temporary in unfinished().iter() {
            let _ = fs::remove_file(temporary);
        }
        std::process::exit(INTERRUPTED);
    };
    // Without a handler the system ends the program, and only a hidden file may stay.
    let _ = ctrlc::try_set_handler(interrupted);
}

/// The exit code of a program that was interrupted, by custom.
const INTERRUPTED: i32 = 130;

impl Draft {
    /// A temporary file in the folder of `path`.
    pub fn new(path: &Path) -> io::Result<Self> {
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
        let mut temporary_name = std::ffi::OsString::from(".");
        temporary_name.push(name);
        temporary_name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary_name);
        unfinished().push(temporary.clone());
        let file = File::create(&temporary).inspect_err(|_| forget(&temporary))?;
        Ok(Self { file: BufWriter::new(file), temporary, path: path.to_owned() })
    }

    /// Waits until everything is on the disk, and gives it its name.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.temporary, &self.path)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // It has its name already, or an error is being reported.
        let _ = fs::remove_file(&self.temporary);
        forget(&self.temporary);
    }
}

fn unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn forget(temporary: &Path) {
    unfinished().retain(|path| path != temporary);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new empty folder.
    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("dobrushin-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        folder
    }

    #[test]
    fn the_old_content_is_replaced() {
        let folder = folder("replace");
        let path = folder.join("a.svg");
        fs::write(&path, "a much longer old text").expect("the folder is writable");
        replace(&path, b"new").expect("the folder is writable");
        assert_eq!(fs::read(&path).expect("the file exists"), b"new");
        fs::remove_dir_all(&folder).expect("the folder is ours");
    }

    #[test]
    fn a_failure_leaves_everything_as_it_was() {
        let folder = folder("failure");
        let occupied = folder.join("a.svg");
        fs::create_dir_all(occupied.join("inside")).expect("the folder is writable");
        assert!(replace(&occupied, b"new").is_err());
        assert!(occupied.join("inside").is_dir());
        let entries = fs::read_dir(&folder).expect("the folder exists").count();
        assert_eq!(entries, 1, "no temporary file is left behind");
        fs::remove_dir_all(&folder).expect("the folder is ours");
    }

    #[test]
    fn a_path_without_a_file_name_is_an_error() {
        assert!(replace(Path::new(".."), b"new").is_err());
    }
}
