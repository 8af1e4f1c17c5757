//! A run with everything in it: it names no file, and reading it opens none.

use super::keys::{self, section};
use super::{EXAMPLE, RunFile, Setting, chain, mechanisms, plan, question_of, target_of, task, training};
use crate::error::DocumentError;
use crate::json::{of_toml, to_toml};
use dobrushin::account::Question;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{Fact, Forgotten, Parameter, Run};
use dobrushin::{Delta, Epsilon};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Model, Plan};
use serde_json::Value as Json;
use toml::{Table, Value};

/// The tables of a run in which the content of every file replaces its name.
///
/// There are two ways to make one: [`RunFile::self_contained`](super::RunFile::self_contained), with the files that a
/// user's run file names, and [`SelfContained::from_json`], for what comes from others. None of the functions that turn
/// it into a run can open a file: a name in it is an error.
///
/// It keeps the tables that the user wrote, because a certificate holds them word for word and a model has their hash:
/// 1e4 steps are not 10000 there. [`SelfContained::run`] and [`SelfContained::plan`] read what they mean.
#[derive(Clone)]
pub struct SelfContained {
    tables: Table,
}

impl SelfContained {
    /// Tables whose files were read.
    pub(super) fn new(tables: Table) -> Result<Self, DocumentError> {
        keys::check(&tables)?;
        Ok(Self { tables })
    }

    /// The run file that says the same.
    pub fn file(&self) -> RunFile {
        RunFile::of_tables(self.tables.clone())
    }

    /// Reads what [`SelfContained::json`] wrote.
    pub fn from_json(json: &Json) -> Result<Self, DocumentError> {
        let Some(Value::Table(tables)) = to_toml(json) else {
            return Err(DocumentError::new("the run is not a table of sections").help(EXAMPLE));
        };
        let run = Self::new(tables)?;
        // Nothing else reads the question, so it is checked here.
        run.question()?;
        Ok(run)
    }

    /// The run.
    pub fn run(&self) -> Result<Run, DocumentError> {
        if task::is_tasks(&self.tables) && !plan::is_plan(&self.tables) {
            plan::refuse_without_model(&self.tables)?;
            return task::read(&self.tables);
        }
        // This names the known algorithms if the run has none of them.
        match section(&self.tables, "run")?.word("algorithm", keys::ALGORITHMS)? {
            "composition" => mechanisms::read(&self.tables),
            "chain" => chain::read(&self.tables),
            _ if plan::is_plan(&self.tables) => Ok(plan::read(&self.tables)?.0.lowered()?),
            _ => {
                plan::refuse_without_model(&self.tables)?;
                training::read(&self.tables)
            }
        }
    }

    /// The plan that can be trained, and the schema of its data.
    pub fn plan(&self) -> Result<(Plan, Schema), DocumentError> {
        plan::needs_model(&self.tables)?;
        let (description, schema) = plan::read(&self.tables)?;
        Ok((Plan::new(description)?, schema))
    }

    /// The schema that the model's data follow.
    pub fn schema(&self) -> Result<Schema, DocumentError> {
        plan::needs_model(&self.tables)?;
        plan::schema_of(&self.tables)
    }

    /// The question that `[target]` asks.
    pub fn question(&self) -> Result<Option<Question>, DocumentError> {
        question_of(&self.tables)
    }

    /// The ε and the δ of `[target]`.
    pub fn target(&self) -> Result<(Option<Epsilon>, Option<Delta>), DocumentError> {
        target_of(&self.tables)
    }

    /// The number of records, if it is given.
    pub fn records(&self) -> Result<Option<u64>, DocumentError> {
        section(&self.tables, "run")?.whole("records")
    }

    /// The neighbour relation, if it is given.
    pub fn neighbours(&self) -> Result<Option<Neighbours>, DocumentError> {
        section(&self.tables, "run")?.choice("neighbours", training::NEIGHBOURS)
    }

    /// The same run with this many records.
    pub fn with_records(self, records: u64) -> Result<Self, DocumentError> {
        self.with("run.records", Value::Integer(i64::try_from(records).unwrap_or(i64::MAX)))
    }

    /// The same run with a noise multiplier, instead of whatever noise it has.
    pub fn with_noise_multiplier(self, multiplier: f64) -> Result<Self, DocumentError> {
        self.with(Parameter::NoiseMultiplier.fact().name(), Value::Float(multiplier))
    }

    /// The same run after these requests to delete records. What the records may learn of each other is then no longer the
    /// question: the claim is that of zero-out.
    pub fn forgetting(self, requests: &[Forgotten]) -> Result<Self, DocumentError> {
        let list = |number: fn(&Forgotten) -> u64| {
            let whole = |request| Value::Integer(i64::try_from(number(request)).unwrap_or(i64::MAX));
            Value::Array(requests.iter().map(whole).collect())
        };
        let (records, steps) = (list(|request| request.records), list(|request| request.steps));
        let run = self.with(Fact::Neighbours.name(), Value::String("zero-out".to_owned()))?;
        run.with(Fact::ForgetRecords.name(), records)?.with(Fact::ForgetSteps.name(), steps)
    }

    /// The same run with this many steps, instead of whatever length it has.
    pub fn with_steps(self, steps: u64) -> Result<Self, DocumentError> {
        self.with(Fact::Steps.name(), Value::Integer(i64::try_from(steps).unwrap_or(i64::MAX)))
    }

    fn with(mut self, key: &str, value: Value) -> Result<Self, DocumentError> {
        Setting::new(key, value).apply(&mut self.tables)?;
        Ok(self)
    }

    /// What the run says, for programs.
    pub fn json(&self) -> Json {
        of_toml(&Value::Table(self.tables.clone()))
    }
}

/// The model that a `[model]` with its schema describes.
pub fn model_of(model: &Json) -> Result<(Model, Schema), DocumentError> {
    let table = to_toml(model).unwrap_or(Value::Boolean(false));
    plan::model_alone(&Table::from_iter([("model".to_owned(), table)]))
}

/// What to say about the name of a file where nothing may be opened.
pub fn names_a_file(dotted: &str, needed: &str) -> DocumentError {
    DocumentError::new(format!("{dotted} is the name of a file, but here it must be {needed}")).help(
        "nothing is opened that a certificate or a model names; what dobrushin writes for programs holds all of it, so that \
         it means the same everywhere",
    )
}
