//! What training leaves on the disk: a model, its certificate, and the same for people.

use super::NOT_PRIVATE;
use crate::command::certificate::for_people;
use crate::file::Draft;
use crate::json_file;
use crate::problem::Problem;
use crate::run_file::{RunFile, model_of};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Model, Released};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};

/// By which model files are known.
const KIND: &str = "dobrushin-model";

/// The folder that the files are written to.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A folder without a model in it, or with one that may be replaced.
    pub fn new(path: &Path, force: bool) -> Result<Self, Problem> {
        let folder = Self { path: path.to_owned() };
        let taken =
            [folder.model(), folder.certificate(), folder.text()].into_iter().find(|file| file.exists());
        if let Some(file) = taken.filter(|_| !force) {
            return Err(Problem::new(format!(
                "{} is there already, and could not be made again",
                file.display()
            ))
            .help("give another folder, or --force to replace it"));
        }
        std::fs::create_dir_all(path).map_err(|error| {
            Problem::new(format!("cannot make the folder {}", path.display())).because(error)
        })?;
        Ok(folder)
    }

    /// The model.
    pub fn model(&self) -> PathBuf {
        self.path.join("model.json")
    }

    /// Its certificate.
    pub fn certificate(&self) -> PathBuf {
        self.path.join("certificate.json")
    }

    /// Its certificate, for people.
    pub fn text(&self) -> PathBuf {
        self.path.join("certificate.txt")
    }

    /// Writes all of them, or none: the model takes its name last, so that there is none without a certificate.
    pub fn write(&self, model: &[u8], certificate: &Value) -> Result<(), Problem> {
        let drafts = [
            (self.text(), for_people(certificate).into_bytes()),
            (self.certificate(), format!("{certificate:#}\n").into_bytes()),
            (self.model(), model.to_vec()),
        ];
        let cannot = |path: &Path| Problem::new(format!("cannot write {}", path.display()));
        let written = drafts.into_iter().map(|(path, bytes)| {
            let mut draft = Draft::new(&path).map_err(|error| cannot(&path).because(error))?;
            draft.write_all(&bytes).map_err(|error| cannot(&path).because(error))?;
            Ok((path, draft))
        });
        for (path, draft) in written.collect::<Result<Vec<_>, Problem>>()? {
            draft.finish().map_err(|error| cannot(&path).because(error))?;
        }
        Ok(())
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
