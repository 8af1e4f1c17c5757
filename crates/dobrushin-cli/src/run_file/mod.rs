//! Run files: what was run, as TOML.

mod chain;
mod keys;
mod mechanisms;
mod overrides;
mod plan;
mod section;
mod training;

pub use keys::{is_whole, nearest};
pub use overrides::{apply, parse_assignment, set, value_of};
pub use plan::model_of;

use crate::guard::Guard;
use crate::problem::Problem;
use dobrushin::account::Question;
use dobrushin::algorithm::Run;
use dobrushin::{Delta, Epsilon};
use dobrushin_train::Plan;
use dobrushin_train::schema::Schema;
use section::Section;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The tables of a run file, overrides applied.
#[derive(Clone)]
pub struct RunFile {
    /// What the file says.
    pub tables: Table,
    /// The folder that paths in the file are relative to.
    folder: PathBuf,
}

/// The run that is shown when no file is given.
const BUILT_IN: &str = include_str!("../../../../examples/dp-sgd.toml");

impl RunFile {
    /// The built-in example.
    pub fn built_in() -> Result<Self, Problem> {
        Self::parse(BUILT_IN, "the built-in example")
    }

    /// What a text says; `name` stands in errors.
    pub fn parse(text: &str, name: &str) -> Result<Self, Problem> {
        Ok(Self { tables: parse(text, name)?, folder: PathBuf::new() })
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|error| Problem::new(format!("cannot read {name}")).because(error).help(EXAMPLE))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            Problem::new(format!("{name} is not UTF-8 text")).because(error).help("save it as UTF-8")
        })?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Self { tables: parse(text, &name)?, folder })
    }

    /// What [`RunFile::json`] wrote, read again.
    pub fn from_json(json: &Json) -> Result<Self, Problem> {
        let Some(Value::Table(tables)) = toml_of(json) else {
            return Err(Problem::new("the run is no table of sections").help(EXAMPLE));
        };
        let schema = tables.get("model").and_then(|model| model.get("schema"));
        if schema.is_some_and(Value::is_str) {
            return Err(Problem::new(
                "model.schema of the run is the name of a file, but it must be the schema itself",
            )
            .help("what dobrushin writes for programs holds it, so that it means the same everywhere"));
        }
        Ok(Self { tables, folder: PathBuf::new() })
    }

    /// The same with the content of every file that it names.
    pub fn embedded(&self) -> Result<Self, Problem> {
        let mut file = self.clone();
        mechanisms::embed(&mut file.tables, &self.folder)?;
        plan::embed(&mut file.tables, &self.folder)?;
        Ok(file)
    }

    /// Refuses to go on if an output would replace a file that this one names.
    pub fn spared_by(&self, guard: &Guard) -> Result<(), Problem> {
        if let Some(name) = self.word("model.schema") {
            guard.spares("the schema", &self.folder.join(name))?;
        }
        let mechanisms = self.tables.get("mechanism").and_then(Value::as_array);
        let channels =
            mechanisms.into_iter().flatten().filter_map(|mechanism| mechanism.get("channel")?.as_str());
        channels.into_iter().try_for_each(|name| guard.spares("a channel", &self.folder.join(name)))
    }

    /// The run.
    pub fn run(&self) -> Result<Run, Problem> {
        keys::check(&self.tables)?;
        // Names the known ones if it is none of them.
        Section::of(&self.tables, "run")?.word("algorithm", keys::ALGORITHMS)?;
        match self.algorithm() {
            "composition" => mechanisms::read(&self.tables, &self.folder),
            "chain" => chain::read(&self.tables),
            _ if plan::is_plan(&self.tables) => Ok(plan::read(&self.tables, &self.folder)?.0.lowered()?),
            _ => {
                plan::refuse_without_model(&self.tables)?;
                training::read(&self.tables)
            }
        }
    }

    /// What can be trained, and the schema of its data.
    pub fn plan(&self) -> Result<(Plan, Schema), Problem> {
        keys::check(&self.tables)?;
        plan::needs_model(&self.tables)?;
        let (description, schema) = plan::read(&self.tables, &self.folder)?;
        Ok((Plan::new(description)?, schema))
    }

    /// The schema that the model's data follow.
    pub fn schema(&self) -> Result<Schema, Problem> {
        keys::check(&self.tables)?;
        plan::needs_model(&self.tables)?;
        plan::schema(&self.tables, &self.folder)
    }

    /// A whole number that a key says.
    pub fn whole(&self, dotted: &str) -> Option<u64> {
        section::whole(self.value(dotted)?)
    }

    /// A word that a key says.
    pub fn word(&self, dotted: &str) -> Option<&str> {
        self.value(dotted)?.as_str()
    }

    fn value(&self, dotted: &str) -> Option<&Value> {
        let (section, name) = dotted.split_once('.')?;
        self.tables.get(section)?.as_table()?.get(name)
    }

    /// What run.algorithm says.
    pub fn algorithm(&self) -> &str {
        self.word("run.algorithm").unwrap_or_default()
    }

    /// Whether a key is given.
    pub fn says(&self, dotted: &str) -> bool {
        self.value(dotted).is_some()
    }

    /// What is asked for, if the file says so.
    pub fn question(&self) -> Result<Option<Question>, Problem> {
        let target = Section::of(&self.tables, "target")?;
        let pair = (target.number("epsilon")?, target.number("delta")?);
        let refused = |key: &str, error: dobrushin::Error| {
            Problem::new(format!("target.{key}: {error}")).help(keys::example("target", key))
        };
        match pair {
            (None, None) => Ok(None),
            (Some(epsilon), None) => {
                Epsilon::new(epsilon).map(|e| Some(Question::Delta(e))).map_err(|e| refused("epsilon", e))
            }
            (None, Some(delta)) => {
                Delta::new(delta).map(|d| Some(Question::Epsilon(d))).map_err(|e| refused("delta", e))
            }
            (Some(_), Some(_)) => Err(keys::both("target", "epsilon", "delta")),
        }
    }

    /// What the file says, for programs.
    pub fn json(&self) -> Json {
        json(&Value::Table(self.tables.clone()))
    }
}

const EXAMPLE: &str = "examples/dp-sgd.toml is a complete run file";

fn parse(text: &str, name: &str) -> Result<Table, Problem> {
    // Some editors begin UTF-8 files with a byte-order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tables: Table = text.parse().map_err(|error: toml::de::Error| {
        Problem::new(format!("{name} is not TOML")).because(error).help(EXAMPLE)
    })?;
    if tables.is_empty() {
        return Err(Problem::new(format!("{name} is empty: there is no [run]")).help(EXAMPLE));
    }
    Ok(tables)
}

/// A value, for programs.
pub fn json(value: &Value) -> Json {
    match value {
        Value::String(text) => json!(text),
        Value::Integer(number) => json!(number),
        Value::Float(number) => crate::output::number(*number),
        Value::Boolean(flag) => json!(flag),
        Value::Datetime(time) => json!(time.to_string()),
        Value::Array(values) => values.iter().map(json).collect(),
        Value::Table(table) => {
            Json::Object(table.iter().map(|(key, value)| (key.clone(), json(value))).collect())
        }
    }
}

/// A value that a program gave; `None` if there is no such value in TOML.
fn toml_of(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(flag) => Value::Boolean(*flag),
        Json::String(text) => Value::String(text.clone()),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Integer(number),
            None => Value::Float(number.as_f64()?),
        },
        Json::Array(values) => Value::Array(values.iter().map(toml_of).collect::<Option<_>>()?),
        Json::Object(fields) => {
            let field = |(key, value): (&String, &Json)| Some((key.clone(), toml_of(value)?));
            Value::Table(fields.iter().map(field).collect::<Option<_>>()?)
        }
    })
}
