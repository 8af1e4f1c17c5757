//! Models: what was trained, with the schema of its data.

use crate::certificate::{NOT_PRIVATE, Program};
use crate::error::DocumentError;
use crate::json::{self, digest};
use crate::run_file::{SelfContained, model_of};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Model, Released};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Identifies model files.
const KIND: &str = "dobrushin-model";
/// The version of the format of models.
const SCHEMA: u64 = 1;

/// Where models come from.
pub const WRITERS: &str = "dobrushin train writes models";

/// The file of a model. It has the hash of the run that its certificate must be for.
#[derive(Serialize)]
pub struct ModelFile<'a> {
    schema: u64,
    kind: &'static str,
    program: Program,
    model: Json,
    run_sha256: String,
    parameters: &'a [Vec<f64>],
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

impl<'a> ModelFile<'a> {
    /// The file of what training by a run released.
    pub fn new(run: &SelfContained, released: &'a Released, private: bool) -> Self {
        let run = run.json();
        Self {
            schema: SCHEMA,
            kind: KIND,
            program: Program::this(),
            run_sha256: digest(run.to_string().as_bytes()),
            model: run["model"].clone(),
            parameters: &released.parameters,
            warning: (!private).then_some(NOT_PRIVATE),
        }
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        format!("{}\n", json::of(self)).into_bytes()
    }
}

/// A model, read from its file.
pub struct SavedModel {
    /// The model itself.
    pub model: Model,
    /// How its data are read.
    pub schema: Schema,
    /// One vector for each task.
    pub parameters: Vec<Vec<f64>>,
}

impl SavedModel {
    /// Reads what [`ModelFile::bytes`] gave; `name` stands in errors.
    ///
    /// # Errors
    /// [`DocumentError`] if it is not a model, or is one of a newer program.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self, DocumentError> {
        let file = json::read(bytes, name, "model", WRITERS)?;
        let no_model = |why: &str| DocumentError::new(format!("{name} is not a model: {why}")).help(WRITERS);
        if file["kind"] == KIND && file["schema"].as_u64().is_some_and(|version| version > SCHEMA) {
            let message = format!("{name} is a model in version {} of its format", file["schema"]);
            return Err(DocumentError::new(format!("{message}, but this program reads version {SCHEMA}"))
                .help("the program that wrote it can read it, and so can newer ones"));
        }
        if file["kind"] != KIND || file["schema"] != SCHEMA {
            return Err(no_model(&format!("its kind is not {KIND:?} in version {SCHEMA}")));
        }
        let (model, schema) = model_of(&file["model"])?;
        let parameters = Vec::<Vec<f64>>::deserialize(&file["parameters"]).ok();
        let fits = |task: &Vec<f64>| task.len() == model.parameters();
        let parameters = parameters
            .filter(|tasks| tasks.len() == schema.tasks() && tasks.iter().all(fits))
            .ok_or_else(|| no_model("its parameters do not fit it"))?;
        Ok(Self { model, schema, parameters })
    }
}
