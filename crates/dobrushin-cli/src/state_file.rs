//! States of training on the disk: secret files that only their owner can read.

use crate::file::Draft;
use crate::problem::Problem;
use dobrushin::numeric::bits::RandomBits;
use dobrushin_document::state::{RowKey, State, WRITERS};
use dobrushin_train::{Generators, Seed};
use same_file::Handle;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

/// A random key for the hashes of rows. It comes from the operating system, even where training has a known seed.
pub fn fresh_key() -> Result<RowKey, Problem> {
    Ok(RowKey::new(fresh_bytes()?))
}

/// Random bytes of the operating system, as many as fill words.
pub fn fresh_bytes<const N: usize>() -> Result<[u8; N], Problem> {
    let mut words = vec![0; N.div_ceil(8)];
    Generators::new(Seed::OperatingSystem)?.stream(0).fill(&mut words);
    let bytes: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_le_bytes()).collect();
    Ok(std::array::from_fn(|place| bytes[place]))
}

/// Refuses a place at which no new state may be put: anything but a state of ours, which takes `--force`, stays.
pub fn refuse_existing(path: &Path, force: bool) -> Result<(), Problem> {
    let shown = path.display();
    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !found.is_file() {
        let what = if found.is_symlink() { "a link" } else { "not a regular file" };
        return Err(Problem::new(format!("{shown} is {what}, and a state is written to a file of its own"))
            .help("give the name of a file that does not exist yet"));
    }
    let mut first = Vec::new();
    File::open(path).and_then(|file| file.take(1 << 10).read_to_end(&mut first)).map_err(|error| {
        Problem::new(format!("{shown} already exists, and cannot be read")).because(error)
    })?;
    match State::is_one(&first) {
        false => Err(Problem::new(format!("{shown} already exists, and is not a state of training"))
            .help("give another name: nothing else is ever replaced by a state")),
        true if !force => Err(Problem::new(format!(
            "{shown} already exists: it is the state of another model"
        ))
        .help("give another name, or --force to replace it; the other model can then no longer forget")),
        true => Ok(()),
    }
}

/// The draft of a state.
pub fn draft(path: &Path, state: &State) -> Result<Draft, Problem> {
    let cannot_write = |error| Problem::cannot_write(path, error);
    let mut draft = Draft::secret(path).map_err(cannot_write)?;
    draft.write_all(&state.bytes()).map_err(cannot_write)?;
    Ok(draft)
}

/// Reads a state. Until the second value is dropped, nobody else goes on from it: otherwise one of two requests would be
/// lost.
pub fn open(path: &Path) -> Result<(State, File), Problem> {
    let shown = path.display();
    let cannot_read = |error| Problem::new(format!("cannot read {shown}")).because(error);
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Problem::new(format!(
            "{shown} is not a regular file, and links to states are not followed"
        ))
        .help("give the state itself: it is replaced by the new one"));
    }
    let mut file = File::open(path).map_err(|error| cannot_read(error).help(WRITERS))?;
    let in_use = || {
        Problem::new(format!("another dobrushin forget is going on from {shown}"))
            .help("wait until it has ended, and try again")
    };
    if matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
        return Err(in_use());
    }
    // Somebody may have replaced it between the two.
    let same = |file: &File| {
        Ok::<_, std::io::Error>(Handle::from_file(file.try_clone()?)? == Handle::from_path(path)?)
    };
    if !same(&file).map_err(cannot_read)? {
        return Err(in_use());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(cannot_read)?;
    let state = State::read(&bytes, &shown.to_string())?;
    Ok((state, file))
}

/// Whether others can read a state, in words.
#[cfg(unix)]
pub fn warning(path: &Path, file: &File) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let readable = file.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0);
    readable
        .then(|| format!("others can read {}, which is secret; the new state is yours alone", path.display()))
}

/// Whether others can read a state, in words.
#[cfg(not(unix))]
pub fn warning(_: &Path, _: &File) -> Option<String> {
    None
}
