//! The files that training leaves on the disk: a model, its certificate, and the certificate for people.

use crate::file::{self, Draft};
use crate::problem::Problem;
use crate::state_file;
use dobrushin_document::certificate::Certificate;
use dobrushin_document::report::TrainedFiles;
use dobrushin_document::sheet;
use dobrushin_document::state::State;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder that the files are written to. Nobody else trains into it while this value lives.
pub struct Folder {
    path: PathBuf,
    /// Whether files that already exist may be replaced.
    force: bool,
    _lock: Option<File>,
}

const MODEL: &str = "model.json";
const CERTIFICATE: &str = "certificate.json";
const TEXT: &str = "certificate.txt";

/// The files that training into a folder writes.
pub fn written(folder: &Path) -> Vec<PathBuf> {
    [MODEL, CERTIFICATE, TEXT].map(|name| folder.join(name)).to_vec()
}

/// Writes a model with its certificate, if there is a folder for them, a report, and a state: all of them or none.
pub fn write(
    folder: Option<&Folder>,
    model: &[u8],
    certificate: &Certificate,
    report: Option<(&Path, Vec<u8>)>,
    state: Option<(&Path, &State)>,
) -> Result<(), Problem> {
    let draft = state.map(|(path, state)| state_file::draft(path, state)).transpose()?;
    match (folder, draft, state) {
        (Some(folder), draft, _) => folder.write(model, certificate, report, draft),
        (None, Some(draft), Some((path, _))) => {
            draft.finish().map_err(|error| Problem::cannot_write(path, error))
        }
        (None, ..) => Ok(()),
    }
}

impl Folder {
    /// A folder that holds no model, or one that may be replaced.
    pub fn new(path: &Path, force: bool) -> Result<Self, Problem> {
        std::fs::create_dir_all(path).map_err(|error| {
            Problem::new(format!("cannot make the folder {}", path.display())).because(error)
        })?;
        let folder = Self { path: path.to_owned(), force, _lock: lock(path)? };
        folder.refuse_existing()?;
        Ok(folder)
    }

    fn refuse_existing(&self) -> Result<(), Problem> {
        match written(&self.path).into_iter().find(|file| file.symlink_metadata().is_ok()) {
            Some(file) if !self.force => {
                Err(Problem::new(format!("{} already exists, and could not be made again", file.display()))
                    .help("give another folder, or --force to replace it"))
            }
            _ => Ok(()),
        }
    }

    /// The names of the files.
    pub fn files(&self) -> TrainedFiles {
        let [model, certificate, certificate_text] =
            [MODEL, CERTIFICATE, TEXT].map(|name| self.path.join(name).display().to_string());
        TrainedFiles { model, certificate, certificate_text }
    }

    /// Writes all of them, and a report and a state if they are asked for, or none.
    ///
    /// With `--force`, the old model is removed first; then the text and the certificate are replaced, and the model
    /// takes its name last. So a model never lies beside a certificate that is not its own, whenever the computer
    /// fails; see [`file::finish_together`].
    pub fn write(
        &self,
        model: &[u8],
        certificate: &Certificate,
        report: Option<(&Path, Vec<u8>)>,
        state: Option<Draft>,
    ) -> Result<(), Problem> {
        // Training takes a while, and not every file system can lock a folder.
        self.refuse_existing()?;
        let draft = |path: PathBuf, bytes: &[u8]| {
            let cannot_write = |error| Problem::cannot_write(&path, error);
            let mut draft = Draft::new(&path).map_err(cannot_write)?;
            draft.write_all(bytes).map_err(cannot_write)?;
            Ok::<_, Problem>(draft)
        };
        let text = draft(self.path.join(TEXT), sheet::of_certificate(certificate).text().as_bytes())?;
        let certificate = draft(self.path.join(CERTIFICATE), certificate.file().as_bytes())?;
        let report = report.map(|(path, bytes)| draft(path.to_owned(), &bytes)).transpose()?;
        let model = draft(self.path.join(MODEL), model)?;
        file::finish_together([text, certificate].into_iter().chain(report).collect(), model, state)
            .map_err(|error| Problem::new(format!("cannot write to {}", self.path.display())).because(error))
    }
}

/// Keeps others from training into the folder until it is dropped, or the program ends in any way.
///
/// Some file systems cannot lock folders; then there is nothing to hold.
fn lock(folder: &Path) -> Result<Option<File>, Problem> {
    let Ok(file) = File::open(folder) else {
        return Ok(None);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            Err(Problem::new(format!("another dobrushin train is writing to {}", folder.display()))
                .help("wait until it has ended, or give another folder"))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
