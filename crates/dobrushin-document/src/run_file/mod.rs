//! Run files: what was run, as TOML.

mod chain;
mod keys;
mod mechanisms;
mod plan;
mod self_contained;
mod setting;
mod starter;
mod sweep;
mod task;
mod training;
mod written;

pub use self_contained::{SelfContained, model_of};
pub use setting::Setting;
pub use starter::Starter;
pub use sweep::Sweep;
pub use training::{NEIGHBOURS, ORDERS};
pub(crate) use written::word;
pub use written::{kind_for, model_for};

use crate::error::DocumentError;
use crate::json::of_toml;
use dobrushin::account::Question;
use dobrushin::run::{Parameter, Run};
use dobrushin::{Delta, Epsilon};
use dobrushin_train::schema::Schema;
use keys::section;
use serde_json::Value as Json;
use toml::{Table, Value};

/// The files that a run file names, wherever they come from. The key that names one is for messages.
///
/// ```
/// use dobrushin_document::{DocumentError, Files, RunFile};
/// use dobrushin_train::schema::Schema;
///
/// /// Nothing can be read from anywhere.
/// struct NoFiles;
///
/// impl Files for NoFiles {
///     type Error = DocumentError;
///
///     fn schema(&self, key: &str, name: &str) -> Result<Schema, DocumentError> {
///         Err(DocumentError::new(format!("{key}: there is no file {name}")))
///     }
///
///     fn channel(&self, key: &str, name: &str) -> Result<Vec<Vec<f64>>, DocumentError> {
///         Err(DocumentError::new(format!("{key}: there is no file {name}")))
///     }
/// }
///
/// // The built-in example names no file.
/// let file = RunFile::built_in()?;
/// assert_eq!(file.names().count(), 0);
/// assert!(file.self_contained(&NoFiles).is_ok());
/// # Ok::<(), DocumentError>(())
/// ```
pub trait Files {
    /// The error if a file cannot be had.
    type Error: From<DocumentError>;

    /// The schema of this name.
    ///
    /// # Errors
    /// If it does not exist.
    fn schema(&self, key: &str, name: &str) -> Result<Schema, Self::Error>;

    /// The rows of the channel of this name.
    ///
    /// # Errors
    /// If it does not exist.
    fn channel(&self, key: &str, name: &str) -> Result<Vec<Vec<f64>>, Self::Error>;
}

/// What a run file says, with settings applied.
///
/// ```
/// use dobrushin_document::{DocumentError, RunFile, Setting};
///
/// let text = "
///     [run]
///     algorithm = 'gradient-descent'
///     records = 1000
///     steps = 100
///     [update]
///     clip-norm = 1.0
///     noise-multiplier = 10.0
/// ";
/// let mut file = RunFile::parse(text, "run.toml")?;
/// let steps = |file: &RunFile| Ok::<_, DocumentError>(file.run()?.as_training().and_then(|training| training.steps()));
/// assert_eq!(steps(&file)?, Some(100));
/// file.set(&Setting::parse("--set", "steps=400")?)?;
/// assert_eq!(steps(&file)?, Some(400));
/// # Ok::<(), DocumentError>(())
/// ```
#[derive(Clone)]
pub struct RunFile {
    tables: Table,
}

/// The run that is shown when no file is given.
const BUILT_IN: &str = include_str!("built_in.toml");

const EXAMPLE: &str = "examples/dp-sgd.toml is a complete run file";

impl RunFile {
    /// The built-in example.
    pub fn built_in() -> Result<Self, DocumentError> {
        Self::parse(BUILT_IN, "the built-in example")
    }

    /// Reads a text; `name` stands in errors.
    pub fn parse(text: &str, name: &str) -> Result<Self, DocumentError> {
        // Some editors start UTF-8 files with a byte-order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let tables: Table = text.parse().map_err(|error: toml::de::Error| {
            DocumentError::new(format!("{name} is not TOML")).because(error).help(EXAMPLE)
        })?;
        if tables.is_empty() {
            return Err(DocumentError::new(format!("{name} is empty: there is no [run]")).help(EXAMPLE));
        }
        Ok(Self { tables })
    }

    /// Every key with its section and an example of its use.
    pub fn keys() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        keys::all()
    }

    /// Reads an object of sections, as reports and certificates hold it; `name` stands in errors.
    pub fn of_json(sections: &Json, name: &str) -> Result<Self, DocumentError> {
        match crate::json::to_toml(sections) {
            Some(toml::Value::Table(tables)) if !tables.is_empty() => Ok(Self { tables }),
            _ => Err(DocumentError::new(format!("{name} is no object of sections")).help(EXAMPLE)),
        }
    }

    /// What a program says instead of a file. It is checked when it becomes a run.
    pub fn of_tables(tables: Table) -> Self {
        Self { tables }
    }

    /// Like [`RunFile::parse`], for the bytes of a file, which must be UTF-8.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self, DocumentError> {
        Self::parse(text_of(bytes, name)?, name)
    }

    /// Replaces a value of the file.
    pub fn set(&mut self, setting: &Setting) -> Result<(), DocumentError> {
        setting.apply(&mut self.tables)
    }

    /// Replaces whole sections of the file, also lists of tables.
    pub fn set_sections(&mut self, sections: Table) {
        self.tables.extend(sections);
    }

    /// Whether run files have a section of this name.
    pub fn is_section(name: &str) -> bool {
        keys::LISTED.contains(&name)
    }

    /// The files that the run file names, and what they are.
    pub fn names(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let schema = plan::named(&self.tables).map(|name| ("the schema", name));
        schema.into_iter().chain(mechanisms::named(&self.tables).map(|(_, name)| ("a channel", name)))
    }

    /// The run with the content of every file that the run file names.
    pub fn self_contained<F: Files>(&self, files: &F) -> Result<SelfContained, F::Error> {
        keys::check(&self.tables)?;
        let mut tables = self.tables.clone();
        mechanisms::embed(&mut tables, files)?;
        plan::embed(&mut tables, files)?;
        Ok(SelfContained::new(tables)?)
    }

    /// The run with everything in it, if it names no file.
    pub fn alone(&self) -> Result<SelfContained, DocumentError> {
        SelfContained::new(self.tables.clone())
    }

    /// The run, if it names no file.
    pub fn run(&self) -> Result<Run, DocumentError> {
        self.alone()?.run()
    }

    /// The same run without what says how it is trained, and as one of 2⁵⁰ records if their number is to be counted: to
    /// check the rest where the schema cannot be read yet.
    pub fn without_model(&self) -> Result<Self, DocumentError> {
        let mut tables = self.tables.clone();
        keys::check(&tables)?;
        tables.retain(|section, _| !["model", "domain", "evaluation"].contains(&section));
        let mut file = Self { tables };
        if !keys::is_given(&file.tables, "run.records") {
            file.set(&Setting::new("run.records", Value::Integer(1 << 50)))?;
        }
        Ok(file)
    }

    /// The same file with a value of a parameter that can be searched for, even if the file does not give one.
    pub fn searchable(mut self, parameter: Parameter) -> Result<Self, DocumentError> {
        let algorithm = section(&self.tables, "run")?.value("algorithm").and_then(Value::as_str);
        if let Some(what) = match algorithm {
            Some("composition") => Some("a list of mechanisms"),
            Some("chain") => Some("a chain given step by step"),
            _ => None,
        } {
            return Err(DocumentError::new(format!("{what} has no parameter to search")).help(
                "calibrate needs algorithm = \"pnsgd\", \"dp-sgd\", \"gradient-descent\" or \"online\"",
            ));
        }
        if task::is_tasks(&self.tables) {
            return Err(DocumentError::new("several tasks have no one parameter to search")
                .help("leave every [[task]] out, or change one by hand: dobrushin curve --over task.1.noise-multiplier=1,2,4"));
        }
        // Bounded gradients are not clipped; the library says what to do.
        let is_bounded = parameter == Parameter::ClipNorm && keys::is_given(&self.tables, "update.lipschitz");
        if !keys::is_given(&self.tables, parameter.fact().name()) && !is_bounded {
            self.set(&Setting::placeholder(parameter))?;
        }
        let derived = [Parameter::ClipNorm, Parameter::Diameter, Parameter::BatchSize];
        if keys::is_given(&self.tables, "model.kind") && derived.contains(&parameter) {
            let key = parameter.fact().name();
            return Err(DocumentError::new(format!(
                "{key} cannot be searched with [model]: other numbers are derived from it"
            ))
            .help("search the noise, or dobrushin curve --over it"));
        }
        Ok(self)
    }

    /// The same file with the value of a parameter that was searched for. Of clean steps after several requests, it is the
    /// number of the last.
    ///
    /// ```
    /// use dobrushin::run::Parameter;
    /// use dobrushin_document::{RunFile, Setting};
    ///
    /// let mut file = RunFile::built_in()?;
    /// file.set(&Setting::parse("--set", "forget.steps=[100, 1]")?)?;
    /// let found = file.with_found(Parameter::ForgetSteps, 58.0)?;
    /// assert_eq!(found.json()["forget"]["steps"], serde_json::json!([100, 58]));
    /// # Ok::<(), dobrushin_document::DocumentError>(())
    /// ```
    ///
    /// # Errors
    /// [`DocumentError`] if the file has no place for it.
    pub fn with_found(mut self, parameter: Parameter, value: f64) -> Result<Self, DocumentError> {
        let mut value = if parameter.is_whole() { Value::Integer(value as i64) } else { Value::Float(value) };
        let key = parameter.fact().name();
        let (table, name) = key.split_once('.').unwrap_or((key, ""));
        let given = self.tables.get(table).and_then(|table| table.get(name));
        if let (Parameter::ForgetSteps, Some(Value::Array(list))) = (parameter, given) {
            let earlier = list.iter().take(list.len().saturating_sub(1)).cloned();
            value = Value::Array(earlier.chain([value]).collect());
        }
        self.set(&Setting::new(key, value))?;
        Ok(self)
    }

    /// The question, if the file asks one: of both that of ε, at the given δ.
    pub fn question(&self) -> Result<Option<Question>, DocumentError> {
        question_of(&self.tables)
    }

    /// The ε and the δ of `[target]`.
    pub fn target(&self) -> Result<(Option<Epsilon>, Option<Delta>), DocumentError> {
        target_of(&self.tables)
    }

    /// What the file says, for programs.
    pub fn json(&self) -> Json {
        of_toml(&Value::Table(self.tables.clone()))
    }

    /// What the file says, as TOML.
    ///
    /// ```
    /// use dobrushin_document::RunFile;
    ///
    /// let file = RunFile::built_in()?;
    /// assert_eq!(RunFile::parse(&file.toml(), "again")?.json(), file.json());
    /// # Ok::<(), dobrushin_document::DocumentError>(())
    /// ```
    pub fn toml(&self) -> String {
        self.tables.to_string()
    }
}

/// The text of a file.
pub fn text_of<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, DocumentError> {
    std::str::from_utf8(bytes).map_err(|error| {
        DocumentError::new(format!("{name} is not UTF-8 text")).because(error).help("save it as UTF-8")
    })
}

/// The ε and the δ of `[target]`.
fn target_of(tables: &Table) -> Result<(Option<Epsilon>, Option<Delta>), DocumentError> {
    let target = section(tables, "target")?;
    let refused = |key: &'static str| {
        move |error: dobrushin::Error| {
            DocumentError::new(format!("target.{key}: {error}")).help(keys::example("target", key))
        }
    };
    let epsilon = target.number("epsilon")?.map(Epsilon::new).transpose().map_err(refused("epsilon"))?;
    let delta = target.number("delta")?.map(Delta::new).transpose().map_err(refused("delta"))?;
    Ok((epsilon, delta))
}

/// The question that `[target]` asks: of both that of ε.
fn question_of(tables: &Table) -> Result<Option<Question>, DocumentError> {
    let (epsilon, delta) = target_of(tables)?;
    Ok(delta.map(Question::EpsilonAt).or(epsilon.map(Question::DeltaAt)))
}
