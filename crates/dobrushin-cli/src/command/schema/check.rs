//! `dobrushin schema check`: what a schema makes of a row.

use super::CheckArgs;
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::read_schema;
use crate::table_file::names;
use crate::train_data::load;
use dobrushin::Enclosure;
use dobrushin::numeric::decimal;
use dobrushin_document::plain_text::shown_safely;
use dobrushin_document::schema;
use dobrushin_document::text::{Text, wrap};
use dobrushin_train::schema::{Labels, Schema};
use serde_json::json;

/// Prints the features, the norm, the labels and the hash.
pub fn run(arguments: &CheckArgs, quiet: bool) -> Result<Report, Problem> {
    let schema = read_schema(&arguments.schema)?;
    if let Some(data) = &arguments.data {
        names(arguments.cells.source(data), &schema.columns_wanted())?;
    }
    let asked = arguments.data.as_ref().filter(|_| arguments.rows);
    let rows = asked.map(|data| load(arguments.cells.source(data), &schema, false, !quiet)).transpose()?;
    let (bounds, features) = (schema.bounds(), schema.feature_names());
    let norm = decimal::upper(Enclosure::from(bounds.norm), 10);
    let why = match schema.declares_norm() {
        true => "declared: longer rows are scaled down to it",
        false => "the largest that a row can have",
    };
    let mut text = Text::default();
    let kind = kind(&schema);
    text.answer(format!(
        "label      {} ({kind})\nfeatures   {} from {} columns\nnorm       {norm} ({why})\nhash       {}",
        shown_safely(&labels(&schema)),
        bounds.dimension,
        schema.feature_columns().len(),
        schema::hash(&schema),
    ));
    text.explanation(wrap(&shown_safely(&features.join(", ")), "features:  "));
    if let Some(data) = &arguments.data {
        text.answer(format!("{} has all columns", data.display()));
    }
    if let Some(rows) = &rows {
        text.answer(format!(
            "{} rows, and all of them can be used; {} values are outside their bounds and will be moved to them, {} rows will be \
             scaled down. These counts are not private: they are for you, not to be published.",
            rows.table.len(),
            rows.clipped,
            rows.scaled
        ));
    }
    let mut json = json!({
        "labels": schema.label_columns(),
        "label_kind": kind,
        "classes": schema.classes(0),
        "features": features,
        "dimension": bounds.dimension,
        "norm": bounds.norm.get(),
        "norm_is_declared": schema.declares_norm(),
        "hash": schema::hash(&schema),
        "schema": schema::canonical_json(&schema),
    });
    if let Some(rows) = &rows {
        json["rows"] = json!({ "count": rows.table.len(), "clipped": rows.clipped, "scaled": rows.scaled });
    }
    Ok(Report::new(text, json))
}

/// The labels with their classes.
fn labels(schema: &Schema) -> String {
    let label = |(task, name): (usize, &str)| match schema.classes(task) {
        Some(classes) => {
            let classes: Vec<String> = classes.iter().map(|class| format!("{class:?}")).collect();
            format!("{name}: {}", classes.join(", "))
        }
        None => {
            let [lower, upper] = [-1.0, 1.0].map(|end| decimal::nearest(schema.label_value(task, end), 10));
            match schema.labels() {
                Labels::Number => format!("{name}: {lower} to {upper}"),
                _ => name.to_owned(),
            }
        }
    };
    schema.label_columns().into_iter().enumerate().map(label).collect::<Vec<_>>().join("; ")
}

fn kind(schema: &Schema) -> &'static str {
    match schema.labels() {
        Labels::Category => "category",
        Labels::Number => "number",
        Labels::Count => "count",
    }
}
