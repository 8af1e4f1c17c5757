//! Where the bytes of an output go: to standard output, into a device or pipe, or into a file's place.

use std::fs;
use std::io::{self, ErrorKind::NotADirectory, ErrorKind::NotFound};
use std::path::{Path, PathBuf};

/// The path that stands for standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// What a path leads to.
#[derive(Debug, PartialEq)]
pub enum Place {
    /// Standard output, which `-`, `/dev/stdout` and `/dev/fd/1` name.
    Standard,
    /// A device, a pipe, or an open file by its number (`/dev/fd/3`). It is written to directly, and stays what it is.
    Special(PathBuf),
    /// A file, or a path where nothing exists yet: a complete file takes this name. A link is followed, and stays.
    Replaced(PathBuf),
}

impl Place {
    /// Where the path leads now.
    pub fn of(path: &Path) -> io::Result<Self> {
        if [STANDARD_OUTPUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
            .iter()
            .any(|name| path == Path::new(name))
        {
            return Ok(Self::Standard);
        }
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => Ok(Self::Special(path.to_owned())),
            Ok(_) => follow(path),
            // Nothing exists there, or a link leads to nothing.
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => follow(path),
            // For example, the system refuses to follow a link for us because somebody else left it in a folder for
            // everybody.
            Err(error) => Err(error),
        }
    }
}

/// Linux follows this many links.
const MOST_LINKS: usize = 40;

fn follow(path: &Path) -> io::Result<Place> {
    let mut end = path.to_owned();
    for _ in 0..MOST_LINKS {
        if end.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
        }
        let Ok(next) = fs::read_link(&end) else {
            return Ok(Place::Replaced(end));
        };
        // The links of /proc name what a process has open; the name alone would lose its position and its end.
        if fs::canonicalize(folder_of(&end))?.starts_with("/proc") {
            return Ok(Place::Special(path.to_owned()));
        }
        end = folder_of(&end).join(next);
    }
    Err(io::Error::other("too many links"))
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
