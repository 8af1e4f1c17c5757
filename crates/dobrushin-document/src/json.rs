//! JSON: reading other people's files so that they say only one thing, and writing ours.
//!
//! If a key is given twice, some programs take the first value and some the last, so the file would say one thing to
//! whoever checks it and another to whoever uses it. Such a file is refused. `serde_json` takes the last value, and no
//! crate in use here refuses duplicates in a tree of any shape, so the tree is built here.

use crate::error::DocumentError;
use dobrushin::Enclosure;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toml::Value as Toml;

/// What a file says. Its name, what it should be, and `help` on where such files come from, are for messages.
pub fn read(bytes: &[u8], name: &str, what: &str, help: &str) -> Result<Value, DocumentError> {
    parse(bytes).map_err(|error| {
        DocumentError::new(format!("{name} is not a {what}: it is not valid JSON")).because(error).help(help)
    })
}

/// What bytes say.
pub fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).map(|Unambiguous(value)| value)
}

/// A document as JSON, its keys in alphabetical order.
pub fn of(document: &impl Serialize) -> Value {
    // Only keys that are not texts, and serialisers that fail by themselves, cannot be written.
    serde_json::to_value(document).unwrap_or(Value::Null)
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number, or "Infinity" or "-Infinity", for which JSON has no number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl Number {
    /// What was written.
    pub fn read(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some("Infinity") => Some(Self(f64::INFINITY)),
            Some("-Infinity") => Some(Self(f64::NEG_INFINITY)),
            _ => value.as_f64().map(Self),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        number(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::read(&value).ok_or_else(|| D::Error::custom("it is neither a number nor \"Infinity\""))
    }
}

/// See [`Number`].
pub fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(if value > 0.0 { "Infinity" } else { "-Infinity" }) }
}

/// An enclosure as `{"lower": …, "upper": …}`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds(pub Enclosure);

#[derive(serde::Serialize, serde::Deserialize)]
struct Ends {
    lower: Number,
    upper: Number,
}

impl Serialize for Bounds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Ends { lower: Number(self.0.lower()), upper: Number(self.0.upper()) }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Bounds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Ends { lower, upper } = Ends::deserialize(deserializer)?;
        Enclosure::new(lower.0, upper.0)
            .map(Self)
            .ok_or_else(|| D::Error::custom("its ends are not in order"))
    }
}

/// A TOML value as JSON, for programs.
pub(crate) fn of_toml(value: &Toml) -> Value {
    match value {
        Toml::String(text) => json!(text),
        Toml::Integer(number) => json!(number),
        Toml::Float(value) => number(*value),
        Toml::Boolean(flag) => json!(flag),
        Toml::Datetime(time) => json!(time.to_string()),
        Toml::Array(values) => values.iter().map(of_toml).collect(),
        Toml::Table(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.clone(), of_toml(value))).collect())
        }
    }
}

/// A value that a program gave; `None` if TOML has no such value.
pub(crate) fn to_toml(json: &Value) -> Option<Toml> {
    Some(match json {
        Value::Null => return None,
        Value::Bool(flag) => Toml::Boolean(*flag),
        Value::String(text) => Toml::String(text.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Toml::Integer(number),
            None => Toml::Float(number.as_f64()?),
        },
        Value::Array(values) => Toml::Array(values.iter().map(to_toml).collect::<Option<_>>()?),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| Some((key.clone(), to_toml(value)?));
            Toml::Table(fields.iter().map(field).collect::<Option<_>>()?)
        }
    })
}

/// A value in which no key of an object is given twice.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything).map(Self)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Value;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unambiguous(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some((key, Unambiguous(value))) = object.next_entry::<String, _>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} is given twice")));
            }
            fields.insert(key, value);
        }
        Ok(Value::Object(fields))
    }
}
