//! What an interruption finds: temporary files, of which only a kill leaves any behind, and finished ones.

use crate::stderr::Complaint;
use crate::watch;

use dobrushin_document::plain_text::shown_safely;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, NamedTempFile, TempDir};

/// What this program has made so far.
#[derive(Default)]
pub struct Made {
    /// Every temporary file. Their names are drawn at random and nobody else takes them, so those of finished files need
    /// not be forgotten.
    temporary: Vec<PathBuf>,
    /// Every temporary folder, likewise.
    folders: Vec<PathBuf>,
    /// Complete files, under their names.
    pub finished: Vec<PathBuf>,
    /// Whether something is being written to standard output, a device or a pipe, which cannot be taken back.
    pub is_streaming: bool,
    /// What an interruption does last, given whether nothing was written since it was asked for; it says what it did.
    last_wish: Option<(Before, Wish)>,
}

/// What an interruption does, given whether nothing was written in the meantime: in words, what it did.
type Wish = Box<dyn FnOnce(bool) -> String + Send>;

static MADE: Mutex<Made> = Mutex::new(Made {
    temporary: Vec::new(),
    folders: Vec::new(),
    finished: Vec::new(),
    is_streaming: false,
    last_wish: None,
});

/// While this is held, an interruption waits: files that belong together get their names together.
pub fn no_interruption() -> MutexGuard<'static, Made> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The files that were finished before something began.
#[derive(Clone, Copy, Debug)]
pub struct Before(usize);

impl Before {
    /// Those that are finished now.
    pub fn now() -> Self {
        Self(no_interruption().finished.len())
    }
}

/// From now on, an interruption also does this, until [`nothing_more_to_do`].
pub fn do_when_interrupted(wish: impl FnOnce(bool) -> String + Send + 'static) -> Before {
    let before = Before::now();
    let mut made = no_interruption();
    made.last_wish = Some((before, Box::new(wish)));
    before
}

/// An interruption does no more than usual from now on.
pub fn nothing_more_to_do() {
    no_interruption().last_wish = None;
}

/// Whether no file was finished since.
pub fn nothing_is_finished_since(before: Before) -> bool {
    no_interruption().wrote_nothing_since(before)
}

/// A new file in the folder. Its name is drawn at random and did not exist, and no link is followed.
pub fn temporary_file(builder: &mut Builder, folder: &Path) -> io::Result<NamedTempFile> {
    // An interruption finds either no file or one that is known.
    let mut made = no_interruption();
    let file = builder.prefix(".dobrushin-").suffix(".tmp").tempfile_in(folder)?;
    made.temporary.push(file.path().to_owned());
    Ok(file)
}

/// A folder that only its owner can look into. It is removed when it is dropped, and when the program is interrupted.
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// A new folder, where the system keeps temporary files.
    pub fn new() -> io::Result<Self> {
        let mut made = no_interruption();
        let mut builder = Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o700));
        }
        let folder = builder.prefix("dobrushin-").tempdir()?;
        made.folders.push(folder.path().to_owned());
        Ok(Self(folder))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Removes all temporary files, says what is left, and ends the program with the customary exit code of 128 plus the
/// number of the signal.
fn interrupted(signal: i32) -> ! {
    // This is held to the end, so that no more files are made or named.
    let mut made = no_interruption();
    for temporary in &made.temporary {
        let _ = fs::remove_file(temporary);
    }
    for folder in &made.folders {
        let _ = fs::remove_dir_all(folder);
    }
    watch::stop_drawing();
    let exit_code = u8::try_from(128 + signal).unwrap_or(u8::MAX);
    let help = made.last_wish.take().map(|(before, wish)| wish(made.wrote_nothing_since(before)));
    Complaint { message: &made.left(), causes: &[], help: help.as_deref(), exit_code }.say();
    std::process::exit(exit_code.into())
}

impl Made {
    fn wrote_nothing_since(&self, Before(finished): Before) -> bool {
        self.finished.len() == finished && !self.is_streaming
    }

    /// What is left after an interruption, in words.
    fn left(&self) -> String {
        let names: Vec<String> =
            self.finished.iter().map(|path| shown_safely(&path.display().to_string())).collect();
        let files = match names.len() {
            0 => "no file was written".to_owned(),
            1..=MOST_NAMED => format!("complete files: {}; nothing else was written", names.join(", ")),
            more => {
                let (last, more) = (&names[more - 1], more - 1);
                format!("{last} and {more} files before it are complete; nothing else was written")
            }
        };
        let printed = if self.is_streaming { ", and what was printed is not complete" } else { "" };
        format!("interrupted: {files}{printed}")
    }
}

/// At most this many finished files are named.
const MOST_NAMED: usize = 6;

/// From now on Ctrl-C (SIGINT), SIGTERM and SIGHUP remove all temporary files before the program ends, and a file
/// beyond the limit of `ulimit -f` is an error like a full disk (SIGXFSZ would end the program at once).
///
/// If the program was started with one of these signals ignored, as by nohup or in the background of a script, it goes
/// on ignoring that one.
#[cfg(target_os = "linux")]
pub fn remove_when_interrupted() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    let ignored = ignored();
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Without a handler, the system ends the program, and only a hidden file may remain.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) {
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                interrupted(signal);
            }
        });
    }
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
}

/// The signals that this process ignores, one bit each. The standard library does not tell, and asking the system
/// itself is not safe code, but /proc tells.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// From now on Ctrl-C, and a request to terminate, remove all temporary files before the program ends.
///
/// If the program was started with one of them ignored, it goes on ignoring both and handles neither, because this
/// system does not say which one is ignored.
#[cfg(not(target_os = "linux"))]
pub fn remove_when_interrupted() {
    const SIGINT: i32 = 2;
    let _ = ctrlc::try_set_handler(|| interrupted(SIGINT));
}
