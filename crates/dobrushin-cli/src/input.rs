//! Files that are given on the command line, where "-" is standard input.

use crate::problem::Problem;
use std::io::{self, Read};
use std::path::Path;

/// The name of standard input on the command line.
pub const STANDARD_INPUT: &str = "-";

/// Whether a path on the command line stands for standard input.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// The bytes of a file, or of standard input.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    let read = if is_standard(path) { standard() } else { std::fs::read(path) };
    read.map_err(|error| Problem::new(format!("cannot read {}", shown(path))).because(error))
}

fn standard() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A path for messages.
pub fn shown(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}
