//! Run files: what was run, as TOML.

mod chain;
mod keys;
mod mechanisms;
mod overrides;
mod plan;
mod section;
mod self_contained;
mod training;

pub use keys::{is_whole, nearest};
pub use overrides::{apply, parse_assignment, set, value_of};
pub use self_contained::{SelfContained, model_of};

use crate::guard::Guard;
use crate::problem::Problem;
use dobrushin::account::Question;
use dobrushin::run::Run;
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

    /// The run with the content of every file that the run file names.
    pub fn self_contained(&self) -> Result<SelfContained, Problem> {
        keys::check(&self.tables)?;
        let mut tables = self.tables.clone();
        mechanisms::embed(&mut tables, &self.folder)?;
        plan::embed(&mut tables, &self.folder)?;
        Ok(SelfContained::new(tables))
    }

    /// The same run file with the content of every file that it names.
    pub fn embedded(&self) -> Result<Self, Problem> {
        Ok(Self { tables: self.self_contained()?.into_tables(), folder: self.folder.clone() })
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
        self.self_contained()?.run()
    }

    /// What can be trained, and the schema of its data.
    pub fn plan(&self) -> Result<(Plan, Schema), Problem> {
        self.self_contained()?.plan()
    }

    /// The schema that the model's data follow.
    pub fn schema(&self) -> Result<Schema, Problem> {
        self.self_contained()?.schema()
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
        question(&self.tables)
    }

    /// What the file says, for programs.
    pub fn json(&self) -> Json {
        json(&Value::Table(self.tables.clone()))
    }
}

/// What [target] asks for.
fn question(tables: &Table) -> Result<Option<Question>, Problem> {
    let target = Section::of(tables, "target")?;
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
