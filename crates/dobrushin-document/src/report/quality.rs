//! `train`: how good a model is on public records, beside an answer that looks at no record.

use dobrushin_train::schema::Schema;
use dobrushin_train::{ClassQuality, NumberQuality, Quality};
use serde::Serialize;

/// What else may be said about predictions, if the records are public.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum QualityReport {
    /// The targets are classes.
    Classes(ClassesReport),
    /// The targets are numbers.
    Numbers(NumbersReport),
}

/// How well classes are predicted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassesReport {
    /// What the most frequent class, as an answer for all records, achieves.
    pub baseline: ClassBaseline,
    /// The area under the receiver operating characteristic, for two classes.
    pub auc: Option<f64>,
    /// The mean of −ln of the probability of the class, if the model predicts probabilities.
    pub log_loss: Option<f64>,
    /// For each class, how many of its records are predicted to be of which class, in the same order.
    pub confusion: Vec<Vec<u64>>,
    /// One entry for each class.
    pub classes: Vec<ClassReport>,
}

/// An answer that is the same for all records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassBaseline {
    /// The most frequent class of the records.
    pub class: String,
    /// Its share.
    pub accuracy: f64,
}

/// How well one class is predicted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassReport {
    /// Its name.
    pub class: String,
    /// How many records are of it.
    pub records: u64,
    /// The share of the records predicted to be of it that are.
    pub precision: Option<f64>,
    /// The share of its records that are predicted to be of it.
    pub recall: Option<f64>,
}

/// How well numbers are predicted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumbersReport {
    /// What the mean, as an answer for all records, achieves.
    pub baseline: NumberBaseline,
    /// The share of the variance that the predictions explain.
    pub r_squared: Option<f64>,
}

/// An answer that is the same for all records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberBaseline {
    /// The root mean squared error of scaled numbers.
    pub root_mean_square: f64,
}

impl QualityReport {
    /// The quality of a task whose mean loss is this.
    pub fn new(quality: &Quality, schema: &Schema, task: usize, loss: f64) -> Self {
        match quality {
            Quality::Classes(found) => Self::Classes(ClassesReport::new(found, schema, task, loss)),
            Quality::Numbers(NumberQuality { baseline, r_squared }) => Self::Numbers(NumbersReport {
                baseline: NumberBaseline { root_mean_square: *baseline },
                r_squared: *r_squared,
            }),
        }
    }
}

impl ClassesReport {
    fn new(found: &ClassQuality, schema: &Schema, task: usize, loss: f64) -> Self {
        let names = schema.classes(task).unwrap_or_default();
        let name = |class: usize| names.get(class).cloned().unwrap_or_else(|| class.to_string());
        let (most, accuracy) = found.baseline();
        let classes = found.confusion.iter().enumerate().map(|(class, row)| ClassReport {
            class: name(class),
            records: row.iter().sum(),
            precision: found.precision(class),
            recall: found.recall(class),
        });
        Self {
            baseline: ClassBaseline { class: name(most), accuracy },
            auc: found.auc,
            log_loss: found.has_probabilities.then_some(loss),
            confusion: found.confusion.clone(),
            classes: classes.collect(),
        }
    }
}
