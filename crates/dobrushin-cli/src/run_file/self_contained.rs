//! A run with everything in it: it names no file, and nothing is opened to read it.

use super::section::Section;
use super::{EXAMPLE, chain, json, keys, mechanisms, plan, toml_of, training};
use crate::problem::Problem;
use dobrushin::run::Run;
use dobrushin_train::schema::Schema;
use dobrushin_train::{Model, Plan};
use serde_json::Value as Json;
use toml::{Table, Value};

/// The tables of a run in which the content of every file stands in the place of its name.
///
/// There are two ways to one: [`RunFile::self_contained`](super::RunFile::self_contained), which reads the files that a
/// user's run file names, and [`SelfContained::from_json`], for what comes from others. It has no folder that a name could
/// be relative to, and none of the functions that turn it into a run can open a file: a name in it is an error.
pub struct SelfContained {
    tables: Table,
}

impl SelfContained {
    /// Tables that were checked, and whose files were read.
    pub(super) fn new(tables: Table) -> Self {
        Self { tables }
    }

    /// What [`SelfContained::json`] wrote, read again.
    pub fn from_json(json: &Json) -> Result<Self, Problem> {
        let Some(Value::Table(tables)) = toml_of(json) else {
            return Err(Problem::new("the run is no table of sections").help(EXAMPLE));
        };
        keys::check(&tables)?;
        // Nothing else reads it: it must not say just anything.
        super::question(&tables)?;
        Ok(Self { tables })
    }

    /// The run.
    pub fn run(&self) -> Result<Run, Problem> {
        // Names the known ones if it is none of them.
        match Section::of(&self.tables, "run")?.word("algorithm", keys::ALGORITHMS)? {
            "composition" => mechanisms::read(&self.tables),
            "chain" => chain::read(&self.tables),
            _ if plan::is_plan(&self.tables) => Ok(plan::read(&self.tables)?.0.lowered()?),
            _ => {
                plan::refuse_without_model(&self.tables)?;
                training::read(&self.tables)
            }
        }
    }

    /// What can be trained, and the schema of its data.
    pub fn plan(&self) -> Result<(Plan, Schema), Problem> {
        plan::needs_model(&self.tables)?;
        let (description, schema) = plan::read(&self.tables)?;
        Ok((Plan::new(description)?, schema))
    }

    /// The schema that the model's data follow.
    pub fn schema(&self) -> Result<Schema, Problem> {
        plan::needs_model(&self.tables)?;
        plan::schema(&self.tables)
    }

    /// The tables.
    pub(super) fn into_tables(self) -> Table {
        self.tables
    }

    /// What it says, for programs.
    pub fn json(&self) -> Json {
        json(&Value::Table(self.tables.clone()))
    }
}

/// The model that a `[model]` with its schema describes.
pub fn model_of(model: &Json) -> Result<(Model, Schema), Problem> {
    let table = toml_of(model).unwrap_or(Value::Boolean(false));
    plan::model_alone(&Table::from_iter([("model".to_owned(), table)]))
}
