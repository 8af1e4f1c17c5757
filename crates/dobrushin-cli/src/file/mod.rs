//! How files leave the program: completely or not at all.

mod place;
mod unfinished;

pub use place::{Place, STANDARD_OUTPUT, folder_of};
pub use unfinished::remove_when_interrupted;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempPath};

/// Makes `bytes` the content of the file at `path`.
///
/// At no time is there a partial file at `path`; see [`Draft`].
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |file| file.write_all(bytes))
}

/// As [`replace`], with what `content` writes.
pub fn replace_by(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut draft = Draft::new(path)?;
    content(&mut draft)?;
    draft.finish()
}

/// What will be the file at a path once it is finished.
///
/// It is written to a temporary file in the same folder, which then takes the name; if it never does, nothing is left of
/// it. A file that already exists keeps its mode and, where the system lets us, its owner and group. What cannot be
/// replaced, which is standard output (`-`), devices and pipes, is written to directly; a reader that stops reading is no
/// error.
pub struct Draft(To);

enum To {
    Stream(BufWriter<Listener>),
    File(Temporary),
}

struct Temporary {
    file: BufWriter<File>,
    /// Removes the file when dropped.
    name: TempPath,
    target: PathBuf,
}

impl Draft {
    /// An empty one.
    pub fn new(path: &Path) -> io::Result<Self> {
        let stream = |to: Box<dyn Write + Send>| Self(To::Stream(BufWriter::new(Listener(to))));
        Ok(match Place::of(path)? {
            Place::Standard => stream(Box::new(io::stdout())),
            Place::Special(path) => stream(Box::new(File::options().write(true).open(path)?)),
            Place::Replaced(target) => Self(To::File(Temporary::new(target)?)),
        })
    }

    /// Waits until everything is on the disk, and gives it its name.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            To::Stream(mut stream) => stream.flush(),
            To::File(temporary) => {
                let complete = temporary.complete()?;
                let _uninterrupted = unfinished::no_interruption();
                complete.take_name().map(|target| sync_folder_of(&target))
            }
        }
    }
}

/// Finishes files that vouch for each other, the last of which is the one that is used: there is never one of it beside
/// others that do not belong to it.
///
/// Everything is on the disk before anything gets its name. Then the old last file is removed, the others are replaced, and
/// the last gets its name; an interruption waits for all of it. A kill in between, which is a matter of microseconds, leaves no
/// last file, and nothing that the remaining ones could be mistaken to vouch for. The folder is not synced between these steps:
/// file systems with a journal keep their order, and put them on the disk together.
pub fn finish_together(others: Vec<Draft>, last: Draft) -> io::Result<()> {
    let complete = |draft: Draft| match draft.0 {
        To::File(temporary) => temporary.complete(),
        To::Stream(_) => Err(io::Error::other("it is not a regular file")),
    };
    let others = others.into_iter().map(complete).collect::<io::Result<Vec<Complete>>>()?;
    let last = complete(last)?;
    let _uninterrupted = unfinished::no_interruption();
    last.remove_old()?;
    let mut targets = others.into_iter().map(Complete::take_name).collect::<io::Result<Vec<PathBuf>>>()?;
    targets.push(last.take_name()?);
    targets.dedup_by_key(|target| folder_of(target).to_owned());
    targets.iter().for_each(|target| sync_folder_of(target));
    Ok(())
}

impl Temporary {
    fn new(target: PathBuf) -> io::Result<Self> {
        let mut builder = Builder::new();
        let old = fs::metadata(&target).ok();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // A new file has the usual mode. What replaces another may have to be kept from others.
            let mode = if old.is_some() { 0o600 } else { 0o666 };
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        let folder = folder_of(&target);
        // Said without the temporary name.
        fs::metadata(folder)?;
        let (file, name) = unfinished::temporary_file(&mut builder, folder)?.into_parts();
        if let Some(old) = old {
            take_after(&file, &old)?;
        }
        Ok(Self { file: BufWriter::new(file), name, target })
    }

    /// Waits until everything is on the disk.
    fn complete(self) -> io::Result<Complete> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(Complete { name: self.name, target: self.target })
    }
}

/// A complete file that has yet to get its name.
struct Complete {
    name: TempPath,
    target: PathBuf,
}

impl Complete {
    /// Gives it its name, which is returned; its folder has yet to be synced.
    fn take_name(self) -> io::Result<PathBuf> {
        // On failure the error has the temporary file, and removes it.
        self.name.persist(&self.target).map_err(|failed| failed.error)?;
        Ok(self.target)
    }

    fn remove_old(&self) -> io::Result<()> {
        match fs::remove_file(&self.target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Puts the names in the folder on the disk. There are folders and systems where that is impossible, and by now the file has
/// its name, so that it would be wrong to call it a failure.
fn sync_folder_of(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

/// Gives a file, to which only we have access, the owner, group and mode of the one that it will replace.
#[cfg(unix)]
fn take_after(file: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let same_group = new.gid() == old.gid() || fchown(file, None, Some(old.gid())).is_ok();
    if new.uid() != old.uid() {
        // Only an administrator can; to others a file of their own is all that they can give.
        let _ = fchown(file, Some(old.uid()), None);
    }
    let mode = old.mode() & 0o777;
    // Another group is not trusted more than everybody.
    let group = if same_group { 0o070 } else { (mode & 0o007) << 3 };
    file.set_permissions(fs::Permissions::from_mode(mode & (0o707 | group)))
}

#[cfg(not(unix))]
fn take_after(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            To::Stream(stream) => stream.write(bytes),
            To::File(temporary) => temporary.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            To::Stream(stream) => stream.flush(),
            To::File(temporary) => temporary.file.flush(),
        }
    }
}

/// Somebody who may have stopped listening, which is no error.
struct Listener(Box<dyn Write + Send>);

impl Write for Listener {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

#[cfg(test)]
mod tests;
