//! How files leave the program: completely or not at all.

mod place;
mod unfinished;

pub use place::{Place, STANDARD_OUTPUT, folder_of};
pub use unfinished::{
    Before, TemporaryFolder, do_when_interrupted, nothing_is_finished_since, nothing_more_to_do,
    remove_when_interrupted,
};

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempPath};

/// Makes `bytes` the content of the file at `path`.
///
/// A partial file never exists at `path`; see [`Draft`].
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |file| file.write_all(bytes))
}

/// Like [`replace`], with the content that `content` writes.
pub fn replace_by(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut draft = Draft::new(path)?;
    content(&mut draft)?;
    draft.finish()
}

/// Adds something to a file; an interruption waits for it, and then says that the file is there.
pub fn append(path: &Path, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut made = unfinished::no_interruption();
    write()?;
    if !made.finished.iter().any(|known| known == path) {
        made.finished.push(path.to_owned());
    }
    Ok(())
}

/// A file in the making, which gets its path once it is finished.
///
/// It is written to a temporary file in the same folder, which then takes the name; if it never does, nothing is left
/// of it. A file that already exists keeps its mode and, where the system lets us, its owner and group. Standard output
/// (`-`), devices and pipes cannot be replaced, so they are written to directly; it is not an error if a reader stops
/// reading.
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
    /// Whether nothing may be replaced.
    is_new: bool,
}

impl Draft {
    /// An empty draft.
    pub fn new(path: &Path) -> io::Result<Self> {
        let stream = |to: Box<dyn Write + Send>| {
            unfinished::no_interruption().is_streaming = true;
            Self(To::Stream(BufWriter::new(Listener(to))))
        };
        Ok(match Place::of(path)? {
            Place::Standard => stream(Box::new(io::stdout())),
            Place::Special(path) => stream(Box::new(File::options().write(true).open(path)?)),
            Place::Replaced(target) => Self(To::File(Temporary::new(target)?)),
        })
    }

    /// An empty draft that only its owner can ever read, whatever is replaced. Links are not followed, and nothing but a
    /// regular file is replaced; where nothing is, nothing is replaced.
    pub fn secret(path: &Path) -> io::Result<Self> {
        let is_new = match fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => false,
            Ok(found) if found.is_symlink() => {
                return Err(io::Error::other("it is a link, and a link is not followed here"));
            }
            Ok(_) => return Err(io::Error::other("it is not a regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return Err(error),
        };
        let mut builder = Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o600));
        }
        let (file, name) = unfinished::temporary_file(&mut builder, folder_of(path))?.into_parts();
        Ok(Self(To::File(Temporary { file: BufWriter::new(file), name, target: path.to_owned(), is_new })))
    }

    /// Waits until everything is on the disk, and gives the file its name.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            To::Stream(mut stream) => {
                stream.flush()?;
                unfinished::no_interruption().is_streaming = false;
            }
            To::File(temporary) => {
                let complete = temporary.complete()?;
                let mut made = unfinished::no_interruption();
                let target = complete.take_name()?;
                sync_folder_of(&target);
                made.finished.push(target);
            }
        }
        Ok(())
    }
}

/// Finishes files that vouch for each other, of which the last is the one that is used. The last file never lies beside
/// others that do not belong to it.
///
/// Everything is on the disk before anything gets its name. Then the old last file is removed, the others are replaced,
/// and the last gets its name; an interruption waits for all of this. A kill in between, within microseconds, leaves no
/// last file, so the remaining files cannot be mistaken to vouch for one. The folder is not synced between these steps:
/// file systems with a journal keep their order, and put them on the disk together.
///
/// A file that `replaces` another takes its place after all of this, at once: at every moment one of the two is there.
pub fn finish_together(others: Vec<Draft>, last: Draft, replaces: Option<Draft>) -> io::Result<()> {
    let complete = |draft: Draft| match draft.0 {
        To::File(temporary) => temporary.complete(),
        To::Stream(_) => Err(io::Error::other("it is not a regular file")),
    };
    let others = others.into_iter().map(complete).collect::<io::Result<Vec<Complete>>>()?;
    let last = complete(last)?;
    let replaces = replaces.map(complete).transpose()?;
    if let Some(new) = replaces.iter().find(|file| file.is_new && file.target.symlink_metadata().is_ok()) {
        let message = format!("{} already exists", new.target.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    let mut made = unfinished::no_interruption();
    last.remove_old()?;
    let mut targets = Vec::new();
    for file in others.into_iter().chain([last]).chain(replaces) {
        let target = file.take_name()?;
        made.finished.push(target.clone());
        targets.push(target);
    }
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
            // A new file has the usual mode. A file that replaces another may have to be kept from others.
            let mode = if old.is_some() { 0o600 } else { 0o666 };
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        let folder = folder_of(&target);
        // The message leaves out the temporary name.
        fs::metadata(folder)?;
        let (file, name) = unfinished::temporary_file(&mut builder, folder)?.into_parts();
        if let Some(old) = old {
            take_after(&file, &old)?;
        }
        Ok(Self { file: BufWriter::new(file), name, target, is_new: false })
    }

    /// Waits until everything is on the disk.
    fn complete(self) -> io::Result<Complete> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(Complete { name: self.name, target: self.target, is_new: self.is_new })
    }
}

/// A complete file that has yet to get its name.
struct Complete {
    name: TempPath,
    target: PathBuf,
    is_new: bool,
}

impl Complete {
    /// Gives the file its name and returns it; the folder still has to be synced.
    fn take_name(self) -> io::Result<PathBuf> {
        // On failure, the error holds the temporary file and removes it.
        let named = match self.is_new {
            true => self.name.persist_noclobber(&self.target),
            false => self.name.persist(&self.target),
        };
        named.map_err(|failed| failed.error)?;
        Ok(self.target)
    }

    fn remove_old(&self) -> io::Result<()> {
        match fs::remove_file(&self.target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Puts the names in the folder on the disk. Some folders and systems do not allow that. By now the file has its name,
/// so it would be wrong to call this a failure.
fn sync_folder_of(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

/// Gives a file that only we can access the owner, group and mode of the file that it will replace.
#[cfg(unix)]
fn take_after(file: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let same_group = new.gid() == old.gid() || fchown(file, None, Some(old.gid())).is_ok();
    if new.uid() != old.uid() {
        // Only an administrator can do this; everybody else's file stays their own.
        let _ = fchown(file, Some(old.uid()), None);
    }
    let mode = old.mode() & 0o777;
    // Another group is trusted no more than everybody.
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

/// A reader who may have stopped listening, which is not an error.
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
