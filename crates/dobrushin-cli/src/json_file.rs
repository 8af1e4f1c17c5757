//! JSON from others, read so that it says one thing only.
//!
//! Of a key that is given twice some programs take the first value and some the last, so that the file would say one thing
//! to whoever checks it and another to whoever uses it. Such a file is refused. `serde_json` takes the last value, and no
//! crate in use here refuses duplicates in a tree of any shape, so the tree is built here.

use crate::problem::Problem;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::path::Path;

/// The content of a file. What the file should be, and `help` on where such files come from, are for messages.
pub fn read(path: &Path, what: &str, help: &str) -> Result<Value, Problem> {
    let name = path.display();
    parse(&bytes(path, help)?).map_err(|error| {
        Problem::new(format!("{name} is no {what}: it is not valid JSON")).because(error).help(help)
    })
}

/// The bytes of a file.
pub fn bytes(path: &Path, help: &str) -> Result<Vec<u8>, Problem> {
    let cannot = |error| Problem::new(format!("cannot read {}", path.display())).because(error).help(help);
    std::fs::read(path).map_err(cannot)
}

/// What bytes say.
pub fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).map(|Unambiguous(value)| value)
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
