//! A plan as a run file, for people to read and programs to accept.

use super::training::{NEIGHBOURS, ORDERS};
use super::{RunFile, model_of};
use crate::error::DocumentError;
use crate::json::to_toml;
use crate::schema::canonical_json;
use dobrushin::run::{Batch, Contribution, LearningRate, Noise, Order, Training};
use dobrushin_train::schema::{Labels, Schema};
use dobrushin_train::{Description, Model};
use serde_json::json;
use std::fmt::Write;
use toml::{Table, Value};

/// The kind of model that suits the labels of a schema, or the one that is named.
pub fn kind_for<'a>(schema: &Schema, named: Option<&'a str>) -> &'a str {
    named.unwrap_or(match (schema.labels(), schema.classes(0).map_or(0, <[String]>::len)) {
        (Labels::Category, 2) => "logistic",
        (Labels::Category, _) => "softmax",
        (Labels::Number, _) => "linear",
        (Labels::Count, _) => "poisson",
    })
}

/// The model of a kind on the features of a schema.
///
/// # Errors
/// [`DocumentError`] if there is no such kind, or it needs keys of its own.
pub fn model_for(schema: &Schema, kind: &str) -> Result<Model, DocumentError> {
    Ok(model_of(&json!({ "kind": kind, "schema": canonical_json(schema) }))?.0)
}

impl RunFile {
    /// A run file that says what a plan with constant rates says, with its schema in it, and its text.
    ///
    /// # Errors
    /// [`DocumentError`] if the plan cannot be written as a run file.
    pub fn of_plan(
        plan: &Description,
        kind: &str,
        schema: &Schema,
        delta: f64,
        about: &str,
    ) -> Result<(Self, String), DocumentError> {
        let text = text(&plan.training, kind, schema, delta, about);
        Ok((Self::parse(&text, "the plan")?, text))
    }
}

fn text(training: &Training, kind: &str, schema: &Schema, delta: f64, about: &str) -> String {
    let mut text: String = about.lines().map(|line| format!("# {line}\n")).collect();
    let mut put = |line: std::fmt::Arguments| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    };
    let full = training.order == Order::Full;
    put(format_args!("\n[run]\nalgorithm = \"{}\"", if full { "gradient-descent" } else { "dp-sgd" }));
    put(format_args!("records = {}", training.records));
    if let Some(steps) = training.steps() {
        put(format_args!("steps = {steps}"));
    }
    if let (false, Batch::Size(size)) = (full, training.batch) {
        put(format_args!("batch-size = {size}"));
    }
    put(format_args!("order = \"{}\"", word(ORDERS, &training.order)));
    put(format_args!("release = \"last\"\nneighbours = \"{}\"", word(NEIGHBOURS, &training.neighbours)));
    put(format_args!("\n[update]"));
    if let Some(LearningRate::Constant(rate)) = &training.learning_rate {
        put(format_args!("learning-rate = {:?}", rate.get()));
    }
    if let Some(Contribution::Clipped(norm)) = training.contribution {
        put(format_args!("clip-norm = {:?}", norm.get()));
    }
    if let Noise::Multiplier(noise) = &training.noise {
        put(format_args!("noise-multiplier = {:?}", noise.get()));
    }
    if training.weight_decay > 0.0 {
        put(format_args!("weight-decay = {:?}", training.weight_decay));
    }
    if let Some(centre) = training.centre {
        let multiplier = centre.noise_multiplier.get();
        put(format_args!(
            "\n[centre] # a noisy mean is subtracted from the rows\nnoise-multiplier = {multiplier:?}"
        ));
    }
    put(format_args!("\n[target]\ndelta = {delta:?}\n"));
    let mut model = Table::from_iter([("kind".to_owned(), Value::String(kind.to_owned()))]);
    model.extend(to_toml(&canonical_json(schema)).map(|schema| ("schema".to_owned(), schema)));
    let model = Table::from_iter([("model".to_owned(), Value::Table(model))]);
    text + &toml::to_string(&model).unwrap_or_default()
}

/// The word of a value in run files.
pub(crate) fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, known)| known == value).map_or("", |(word, _)| word)
}
