//! Values that replace those of a run file.

use super::keys::{excluded_by, is_list, resolve};
use crate::error::DocumentError;
use dobrushin::run::Parameter;
use toml::{Table, Value};

/// A value for a key.
///
/// ```
/// use dobrushin_document::{RunFile, Setting};
///
/// let mut file = RunFile::built_in()?;
/// file.set(&Setting::parse("--set", "run.steps=7")?)?;
/// assert_eq!(file.run()?.as_training().and_then(|training| training.steps()), Some(7));
/// // A key needs a value.
/// assert!(Setting::parse("--set", "run.steps").is_err());
/// # Ok::<(), dobrushin_document::DocumentError>(())
/// ```
pub struct Setting {
    /// The key, such as `run.steps` or `mechanism.2.count`.
    key: String,
    value: Value,
}

const EXAMPLES: &str = "run.steps=1000, update.noise-multiplier=1.2, mechanism.1.count=5, step.2.count=10";

impl Setting {
    /// A value for a key that run files have.
    pub(super) fn new(key: &str, value: Value) -> Self {
        Self { key: key.to_owned(), value }
    }

    /// A value for a key as users write it, with or without its section.
    pub fn of(key: &str, value: Value) -> Result<Self, DocumentError> {
        Ok(Self { key: resolve(key)?, value })
    }

    /// Reads `key=value`; messages name the flag that gave it.
    pub fn parse(flag: &str, text: &str) -> Result<Self, DocumentError> {
        let (key, value) = parse_assignment(flag, text)?;
        Ok(Self { key, value: value_of(value) })
    }

    /// The key, as run files write it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Any valid value of a parameter, which will be replaced.
    pub(super) fn placeholder(parameter: Parameter) -> Self {
        let value = match parameter {
            parameter if parameter.is_whole() => Value::Integer(1),
            // This is small enough for every loss.
            Parameter::LearningRate => Value::Float(1e-12),
            _ => Value::Float(1.0),
        };
        Self::new(parameter.fact().name(), value)
    }

    /// Writes the value, and removes the keys that it excludes.
    pub(super) fn apply(&self, tables: &mut Table) -> Result<(), DocumentError> {
        let (key, value) = (&self.key, self.value.clone());
        let no_place =
            |why: String| Err(DocumentError::new(format!("{key} cannot be set: {why}")).help(EXAMPLES));
        let mut parts = key.split('.');
        let (section, rest): (&str, Vec<&str>) = (parts.next().unwrap_or_default(), parts.collect());
        match rest[..] {
            [number, name] if is_list(section) => {
                let list = tables.get_mut(section).and_then(Value::as_array_mut);
                let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                match list.zip(index).and_then(|(list, index)| list.get_mut(index)) {
                    Some(entry) => {
                        if let Some(table) = entry.as_table_mut() {
                            table.insert(name.to_owned(), value);
                        }
                        Ok(())
                    }
                    None => no_place(format!("there is no {section} {number} in the file")),
                }
            }
            [name] if is_list(section) => no_place(format!("say which one, as in {section}.1.{name}")),
            [name] => {
                let table = tables.entry(section).or_insert_with(|| Value::Table(Table::new()));
                let Some(table) = table.as_table_mut() else {
                    return no_place(format!("{section} is not a section"));
                };
                for other in excluded_by(key) {
                    table.remove(other.split_once('.').map_or(other, |(_, name)| name));
                }
                table.insert(name.to_owned(), value);
                Ok(())
            }
            _ => no_place("keys have a section and a name, as in run.steps".to_owned()),
        }
    }
}

/// A key as run files write it, and the text of its value.
pub fn parse_assignment<'a>(flag: &str, assignment: &'a str) -> Result<(String, &'a str), DocumentError> {
    let Some((key, value)) = assignment.split_once('=').filter(|(_, value)| !value.trim().is_empty()) else {
        return Err(DocumentError::new(format!("{flag} {assignment} has no value"))
            .help(format!("{flag} run.steps=1000, without spaces")));
    };
    Ok((resolve(key.trim())?, value.trim()))
}

/// A value as TOML; text that is not TOML is a word, so that `order=full` needs no quotes.
pub fn value_of(text: &str) -> Value {
    let document: Result<Table, _> = format!("value = {text}").parse();
    match document.ok().and_then(|mut table| table.remove("value").filter(|_| table.is_empty())) {
        Some(value) => value,
        None => Value::String(text.to_owned()),
    }
}
