//! Values of TOML as JSON, and back.

use serde_json::{Value as Json, json};
use toml::Value;

/// A value of TOML, for programs.
pub fn json_of(value: &Value) -> Json {
    match value {
        Value::String(text) => json!(text),
        Value::Integer(number) => json!(number),
        Value::Float(number) => crate::json::number(*number),
        Value::Boolean(flag) => json!(flag),
        Value::Datetime(time) => json!(time.to_string()),
        Value::Array(values) => values.iter().map(json_of).collect(),
        Value::Table(table) => {
            Json::Object(table.iter().map(|(key, value)| (key.clone(), json_of(value))).collect())
        }
    }
}

/// A value that a program gave; `None` if there is no such value in TOML.
pub fn toml_of(json: &Json) -> Option<Value> {
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
