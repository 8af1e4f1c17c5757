//! Typed reading of one table of a schema.

use super::error::SchemaError;
use super::words::nearest;
use toml::{Table, Value};

/// A table, and how messages call it.
pub struct Section<'a> {
    /// "columns.age." or nothing.
    prefix: String,
    table: &'a Table,
}

impl<'a> Section<'a> {
    /// The whole schema.
    pub fn whole(table: &'a Table) -> Self {
        Self { prefix: String::new(), table }
    }

    /// The table of a column.
    pub fn column(name: &str, table: &'a Table) -> Self {
        Self { prefix: format!("columns.{name}."), table }
    }

    /// How messages call a key.
    pub fn dotted(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.table.get(key)
    }

    /// Refuses all other keys.
    pub fn allow(&self, keys: &[&'static str], of: &str) -> Result<(), SchemaError> {
        let Some(unknown) = self.table.keys().find(|key| !keys.contains(&key.as_str())) else {
            return Ok(());
        };
        let help = match nearest(unknown, keys.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("one of: {}", keys.join(", ")),
        };
        Err(SchemaError::new(self.dotted(unknown), format!("is no key of {of}"), help))
    }

    /// What to say about a value that is not accepted.
    pub fn refuse(&self, key: &str, accepted: &str, help: &str) -> SchemaError {
        match self.value(key) {
            None => SchemaError::new(self.dotted(key), "is missing", format!("add it, for example: {help}")),
            Some(value) => {
                let message = format!("is {}, but it must be {accepted}", shown(value));
                SchemaError::new(self.dotted(key), message, help)
            }
        }
    }

    /// A finite number.
    pub fn number(&self, key: &str, help: &str) -> Result<Option<f64>, SchemaError> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Integer(number)) => Ok(Some(*number as f64)),
            Some(Value::Float(number)) if number.is_finite() => Ok(Some(*number)),
            Some(_) => Err(self.refuse(key, "a finite number", help)),
        }
    }

    /// A finite number that must be given.
    pub fn needed_number(&self, key: &str, help: &str) -> Result<f64, SchemaError> {
        self.number(key, help)?.ok_or_else(|| self.refuse(key, "a finite number", help))
    }

    /// true or false.
    pub fn flag(&self, key: &str, help: &str) -> Result<Option<bool>, SchemaError> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Boolean(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.refuse(key, "true or false", help)),
        }
    }

    /// A text.
    pub fn text(&self, key: &str, accepted: &str, help: &str) -> Result<Option<&'a str>, SchemaError> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.refuse(key, accepted, help)),
        }
    }

    /// A list of texts, each of them once.
    pub fn texts(&self, key: &str, help: &str) -> Result<Option<Vec<String>>, SchemaError> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let list = value.as_array().map(|list| list.iter().map(|text| text.as_str().map(str::to_owned)));
        let texts: Option<Vec<String>> = list.and_then(Iterator::collect);
        let texts = texts.ok_or_else(|| self.refuse(key, "a list of texts", help))?;
        if let Some(twice) = twice(&texts) {
            return Err(SchemaError::new(self.dotted(key), format!("lists {twice:?} twice"), "list it once"));
        }
        if let Some(padded) = texts.iter().find(|text| text.trim_ascii() != text.as_str()) {
            let message = format!("lists {padded:?}, but cells are read without the white space around them");
            return Err(SchemaError::new(self.dotted(key), message, format!("{:?}", padded.trim_ascii())));
        }
        Ok(Some(texts))
    }
}

/// A text that is there twice.
fn twice(texts: &[String]) -> Option<&String> {
    let mut sorted: Vec<&String> = texts.iter().collect();
    sorted.sort();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// A value as it is written, short.
fn shown(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) if text.chars().count() > 40 => "a long text".to_owned(),
        other => other.to_string(),
    }
}
