//! The one form in which a schema is stored and hashed.

use super::parse::from_table;
use crate::error::DocumentError;
use crate::json::to_toml;
use crate::json::{self, digest};
use dobrushin_train::schema::{Choice, FeatureKind, LabelKind, Schema};
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use toml::Value;

/// What a schema says, with every default written out.
#[derive(Serialize)]
struct Canonical<'a> {
    columns: BTreeMap<&'a str, Column<'a>>,
    intercept: bool,
    label: Vec<&'a str>,
    missing: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    norm: Option<f64>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "kebab-case")]
enum Column<'a> {
    Number {
        lower: f64,
        upper: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        typical: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        if_missing: Option<f64>,
    },
    Category {
        categories: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        if_missing: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        if_unknown: Option<&'a str>,
    },
    Count {
        upper: f64,
    },
}

/// A schema with its keys in order and every default written out. Two schemas that mean the same have the same form.
pub fn canonical_json(schema: &Schema) -> Json {
    let declared = schema.declaration();
    let features = declared.features.iter().map(|feature| (feature.name.as_str(), of_feature(&feature.kind)));
    let labels = declared.labels.iter().map(|label| (label.name.as_str(), of_label(&label.kind)));
    json::of(&Canonical {
        columns: features.chain(labels).collect(),
        intercept: declared.intercept,
        label: schema.label_columns(),
        missing: &declared.missing,
        norm: declared.norm.map(|norm| norm.get()),
    })
}

/// Reads what [`canonical_json`] wrote.
///
/// # Errors
/// [`DocumentError`] if it is not a schema.
pub fn from_json(json: &Json) -> Result<Schema, DocumentError> {
    match to_toml(json) {
        Some(Value::Table(table)) => from_table(&table),
        _ => Err(DocumentError::new("the schema is not a table of columns").help("keep it as written")),
    }
}

/// SHA-256 of the canonical JSON without white space, in hexadecimal digits.
pub fn hash(schema: &Schema) -> String {
    digest(canonical_json(schema).to_string().as_bytes())
}

fn of_feature(kind: &FeatureKind) -> Column<'_> {
    match kind {
        FeatureKind::Number { range, if_missing } => Column::Number {
            lower: range.lower(),
            upper: range.upper(),
            typical: range.typical(),
            if_missing: *if_missing,
        },
        FeatureKind::Category { categories, if_missing, if_unknown } => {
            let word = |choice: Choice| match choice {
                Choice::None => "none",
                Choice::Category(place) => &categories[place],
            };
            let [if_missing, if_unknown] = [if_missing, if_unknown].map(|choice| choice.map(word));
            Column::Category { categories, if_missing, if_unknown }
        }
    }
}

fn of_label(kind: &LabelKind) -> Column<'_> {
    match kind {
        LabelKind::Category(categories) => {
            Column::Category { categories, if_missing: None, if_unknown: None }
        }
        LabelKind::Number(range) => {
            Column::Number { lower: range.lower(), upper: range.upper(), typical: None, if_missing: None }
        }
        LabelKind::Count(upper) => Column::Count { upper: f64::from(*upper) },
    }
}
