//! The run of a question, with settings.

use dobrushin_document::{DocumentError, RunFile, Setting};
use serde::Deserialize;
use serde_json::Value;

/// A run as it is written in a question: the text of a run file, or its sections as an object; and `key=value`s.
#[derive(Deserialize)]
pub struct Given {
    run: Value,
    #[serde(default)]
    set: Vec<String>,
}

impl Given {
    /// What it says.
    pub fn file(&self) -> Result<RunFile, DocumentError> {
        let mut file = match &self.run {
            Value::String(text) => RunFile::parse(text, "the run")?,
            sections => RunFile::of_json(sections, "the run")?,
        };
        for assignment in &self.set {
            file.set(&Setting::parse("--set", assignment)?)?;
        }
        Ok(file)
    }
}
