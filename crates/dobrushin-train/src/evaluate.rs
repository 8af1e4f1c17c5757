//! How good a model is on records that may be looked at.

use crate::{Model, Prediction, Table, Target};
use rayon::prelude::*;

/// How good a model is, on average over records.
///
/// It is as private as the records: nothing here is protected by noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// How many records were looked at; empty ones were not.
    pub records: u64,
    /// The mean loss; NaN without records.
    pub loss: f64,
    /// The share of records whose class is predicted; none for numbers, and without records.
    pub accuracy: Option<f64>,
    /// The root of the mean squared difference of prediction and target; none for classes, and without records.
    pub root_mean_square: Option<f64>,
}

/// A block is one task of the pool; sums are added block by block, so that they never depend on the number of processors.
const BLOCK: usize = 512;

/// The metrics of a model that fits the bounds of the table (see [`Model::check`]), for the targets of one task.
pub fn evaluate(model: &Model, parameters: &[f64], table: &Table, task: usize) -> Metrics {
    let blocks = table.len().div_ceil(BLOCK);
    let sums: Vec<Sums> = (0..blocks)
        .into_par_iter()
        .map(|block| {
            let records = block * BLOCK..((block + 1) * BLOCK).min(table.len());
            records.fold(Sums::default(), |sums, record| sums.with(model, parameters, table, record, task))
        })
        .collect();
    let total = sums.into_iter().fold(Sums::default(), Sums::plus);
    let mean = |sum: f64| sum / total.records as f64;
    let classes = matches!(table.bounds().target, Target::Classes(_));
    let some = total.records > 0;
    Metrics {
        records: total.records,
        loss: mean(total.loss),
        accuracy: (some && classes).then(|| mean(total.right as f64)),
        root_mean_square: (some && !classes).then(|| mean(total.squares).sqrt()),
    }
}

/// What a model makes of one record.
pub(crate) struct Judged {
    pub loss: f64,
    /// Whether its class is predicted.
    pub right: bool,
    /// The squared difference of prediction and target, for numbers.
    square: f64,
}

/// What a model makes of a record; nothing if that is empty.
pub(crate) fn judged(
    model: &Model,
    parameters: &[f64],
    table: &Table,
    record: usize,
    task: usize,
) -> Option<Judged> {
    let (features, target) = (table.features(record), f64::from(table.target(record, task)));
    if target.is_nan() {
        return None;
    }
    let scores = model.scores(parameters, features);
    let norm = features.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    let loss = model.loss(&scores, target, norm);
    Some(match model.prediction(&scores) {
        Prediction::Value(value) => Judged { loss, right: false, square: (value - target).powi(2) },
        Prediction::Class { class, .. } => Judged { loss, right: class as f64 == target, square: 0.0 },
    })
}

/// Sums over records.
#[derive(Clone, Copy, Default)]
struct Sums {
    records: u64,
    loss: f64,
    /// How many classes were predicted.
    right: u64,
    /// Of the differences of numbers, squared.
    squares: f64,
}

impl Sums {
    fn with(mut self, model: &Model, parameters: &[f64], table: &Table, record: usize, task: usize) -> Self {
        let Some(judged) = judged(model, parameters, table, record, task) else {
            return self;
        };
        self.records += 1;
        self.loss += judged.loss;
        self.right += u64::from(judged.right);
        self.squares += judged.square;
        self
    }

    fn plus(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            loss: self.loss + other.loss,
            right: self.right + other.right,
            squares: self.squares + other.squares,
        }
    }
}
