//! The one form in which a schema is stored and hashed.

use super::Schema;
use super::column::{Choice, Feature, FeatureKind, Label, LabelKind};
use super::error::SchemaError;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toml::Value as Toml;

impl Schema {
    /// The schema with its keys in order and every default written out. Two schemas that mean the same are the same.
    pub fn canonical_json(&self) -> Value {
        let features = self.features.iter().map(|feature| (feature.name.clone(), feature_json(feature)));
        let labels = self.labels.iter().map(|label| (label.name.clone(), label_json(label)));
        let mut columns: Vec<(String, Value)> = features.chain(labels).collect();
        columns.sort_by(|a, b| a.0.cmp(&b.0));
        let mut fields = vec![
            ("columns", Value::Object(columns.into_iter().collect())),
            ("intercept", json!(self.intercept)),
            ("label", json!(self.label_columns())),
            ("missing", json!(self.missing)),
        ];
        fields.extend(self.norm.map(|norm| ("norm", json!(norm.get()))));
        object(fields)
    }

    /// What [`Schema::canonical_json`] wrote.
    ///
    /// # Errors
    /// [`SchemaError`] if it is no schema.
    pub fn from_json(json: &Value) -> Result<Self, SchemaError> {
        match toml_of(json) {
            Some(Toml::Table(table)) => Self::from_table(&table),
            _ => Err(SchemaError::new("the schema", "is no table of columns", "as it was written")),
        }
    }

    /// SHA-256 of the canonical JSON without white space, in hexadecimal digits.
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(self.canonical_json().to_string().as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn feature_json(feature: &Feature) -> Value {
    match &feature.kind {
        FeatureKind::Number { range, if_missing } => {
            let mut fields = Vec::new();
            fields.extend(if_missing.map(|value| ("if-missing", json!(value))));
            fields.extend([
                ("kind", json!("number")),
                ("lower", json!(range.lower)),
                ("upper", json!(range.upper)),
            ]);
            object(fields)
        }
        FeatureKind::Category { categories, if_missing, if_unknown } => {
            let word = |choice: Choice| match choice {
                Choice::None => json!("none"),
                Choice::Category(place) => json!(categories[place]),
            };
            let mut fields = vec![("categories", json!(categories))];
            fields.extend(if_missing.map(|choice| ("if-missing", word(choice))));
            fields.extend(if_unknown.map(|choice| ("if-unknown", word(choice))));
            fields.push(("kind", json!("category")));
            object(fields)
        }
    }
}

fn label_json(label: &Label) -> Value {
    match &label.kind {
        LabelKind::Category(classes) => {
            object(vec![("categories", json!(classes)), ("kind", json!("category"))])
        }
        LabelKind::Number(range) => object(vec![
            ("kind", json!("number")),
            ("lower", json!(range.lower)),
            ("upper", json!(range.upper)),
        ]),
        LabelKind::Count(upper) => {
            object(vec![("kind", json!("count")), ("upper", json!(f64::from(*upper)))])
        }
    }
}

/// The fields are given in alphabetical order, whatever order an object keeps.
fn object(fields: Vec<(&str, Value)>) -> Value {
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

fn toml_of(json: &Value) -> Option<Toml> {
    Some(match json {
        Value::Null => return None,
        Value::Bool(flag) => Toml::Boolean(*flag),
        Value::String(text) => Toml::String(text.clone()),
        Value::Number(number) => Toml::Float(number.as_f64()?),
        Value::Array(values) => Toml::Array(values.iter().map(toml_of).collect::<Option<_>>()?),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| Some((key.clone(), toml_of(value)?));
            Toml::Table(fields.iter().map(field).collect::<Option<_>>()?)
        }
    })
}
