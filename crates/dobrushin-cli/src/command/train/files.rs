//! What training leaves on the disk: a model, its certificate, and the same for people.

use super::NOT_PRIVATE;
use crate::command::certificate::for_people;
use crate::file::{self, Draft};
use crate::json_file;
use crate::problem::Problem;
use crate::run_file::{RunFile, model_of};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Model, Released};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// By which model files are known.
const KIND: &str = "dobrushin-model";

/// The folder that the files are written to. Nobody else trains into it as long as this lives.
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

impl Folder {
    /// A folder without a model in it, or with one that may be replaced.
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

    /// The model.
    pub fn model(&self) -> PathBuf {
        self.path.join(MODEL)
    }

    /// Its certificate.
    pub fn certificate(&self) -> PathBuf {
        self.path.join(CERTIFICATE)
    }

    /// Its certificate, for people.
    pub fn text(&self) -> PathBuf {
        self.path.join(TEXT)
    }

    /// Writes all of them, or none.
    ///
    /// With `--force` the old model is removed first; then the text and the certificate are replaced, and the model takes its
    /// name last. So a model is never beside a certificate that is not its own, whenever the computer fails; see
    /// [`file::finish_together`].
    pub fn write(&self, model: &[u8], certificate: &Value) -> Result<(), Problem> {
        // Training takes a while, and not every file system can lock a folder.
        self.refuse_existing()?;
        let draft = |path: PathBuf, bytes: &[u8]| {
            let cannot_write = |error| Problem::cannot_write(&path, error);
            let mut draft = Draft::new(&path).map_err(cannot_write)?;
            draft.write_all(bytes).map_err(cannot_write)?;
            Ok::<_, Problem>(draft)
        };
        let text = draft(self.text(), for_people(certificate).as_bytes())?;
        let certificate = draft(self.certificate(), format!("{certificate:#}\n").as_bytes())?;
        let model = draft(self.model(), model)?;
        file::finish_together(vec![text, certificate], model)
            .map_err(|error| Problem::new(format!("cannot write to {}", self.path.display())).because(error))
    }
}

/// Keeps others from training into the folder until it is dropped, or the program ends in any way.
///
/// Some file systems cannot lock folders; there is nothing to hold then.
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

/// The bytes of a model file. It knows the run that its certificate must be of.
pub fn model_bytes(file: &RunFile, released: &Released, private: bool) -> Result<Vec<u8>, Problem> {
    let run = file.embedded()?.json();
    let mut model = json!({
        "schema": 1,
        "kind": KIND,
        "program": { "name": "dobrushin", "version": env!("CARGO_PKG_VERSION") },
        "model": run["model"],
        "run_sha256": digest(run.to_string().as_bytes()),
        "parameters": released.parameters,
    });
    if !private {
        model["warning"] = json!(NOT_PRIVATE);
    }
    Ok(format!("{model}\n").into_bytes())
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A model, read from its file.
pub struct Saved {
    /// What it is.
    pub model: Model,
    /// How its data are read.
    pub schema: Schema,
    /// One vector for each task.
    pub parameters: Vec<Vec<f64>>,
}

impl Saved {
    /// Reads what [`Folder::write`] wrote.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let name = path.display();
        let help = "dobrushin train writes models";
        let file = json_file::read(path, "model", help)?;
        let no_model = |why: &str| Problem::new(format!("{name} is no model: {why}")).help(help);
        if file["kind"] != KIND || file["schema"] != 1 {
            return Err(no_model(&format!("its kind is not {KIND:?} in version 1")));
        }
        let (model, schema) = model_of(&file["model"])?;
        let vector = |value: &Value| -> Option<Vec<f64>> {
            let numbers: Vec<f64> = value.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
            (numbers.len() == model.parameters()).then_some(numbers)
        };
        let parameters: Option<Vec<Vec<f64>>> =
            file["parameters"].as_array().and_then(|list| list.iter().map(vector).collect());
        let parameters = parameters
            .filter(|tasks| tasks.len() == schema.tasks())
            .ok_or_else(|| no_model("its parameters do not fit it"))?;
        Ok(Self { model, schema, parameters })
    }
}
