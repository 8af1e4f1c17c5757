//! Replacing a file completely or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Makes `bytes` the content of the file at `path`.
///
/// They are written to a temporary file in the same folder which then takes the name, so that at
/// no time is there a partial file at `path`. On failure the temporary file is removed.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |file| file.write_all(bytes))
}

/// As [`replace`], with what `content` writes.
pub fn replace_by(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut temporary_name = std::ffi::OsString::from(".");
    temporary_name.push(name);
    temporary_name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary_name);
    let written = store(&temporary, content).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report; the file may not even exist.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Writes a file and waits until it is on the disk.
fn store(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    content(&mut file)?;
    file.into_inner().map_err(|error| error.into_error())?.sync_all()
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
