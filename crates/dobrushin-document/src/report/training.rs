//! `train`: what may be said about a model after training has ended.

use super::{ChargedReport, GuaranteeReport, MeaningReport, QualityReport, ScheduleReport};
use crate::run_file::SelfContained;
use dobrushin::Enclosure;
use dobrushin::account::Account;
use dobrushin_train::schema::Schema;
use dobrushin_train::{Metrics, PrivateMetrics, Quality, Regret};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The guarantee, and how good the model is.
#[derive(Serialize)]
pub struct TrainingReport {
    /// Where the model and its certificate are, if they were written.
    #[serde(flatten)]
    pub files: Option<TrainedFiles>,
    /// Where the state is, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Who was charged for it in a ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charged: Option<ChargedReport>,
    /// The guarantee.
    pub guarantee: Option<GuaranteeReport>,
    /// What the guarantee means for one person.
    pub meaning: Option<MeaningReport>,
    /// What could not be used, or says nothing, and why, in words.
    pub warnings: Vec<String>,
    /// Why the guarantee protects nobody, though it holds, in words.
    #[serde(skip)]
    pub concern: Option<String>,
    /// What composition would say if every iterate were published, if it is not the guarantee.
    #[serde(skip)]
    pub if_published: Option<Enclosure>,
    /// Whether nobody knows the randomness.
    pub private: bool,
    /// The seed, if it is known.
    #[serde(skip)]
    pub seed: Option<u64>,
    /// The run that was carried out.
    pub run: Json,
    /// Its noise and its steps.
    pub schedule: ScheduleReport,
    /// Metrics on the test records, one for each task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<OneOrMany<MetricsReport>>,
    /// Whether the test records are a part of the private ones.
    #[serde(skip)]
    pub test_is_a_share: bool,
    /// Metrics on the private records, with noise, one for each task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub private_evaluation: Vec<EvaluationReport>,
    /// The names of the labels, one for each task.
    #[serde(skip)]
    pub labels: Vec<String>,
    /// What may be said if the records are not secret.
    #[serde(flatten)]
    pub public: Option<PublicReport>,
}

/// Where a model and its certificate were written.
#[derive(Serialize)]
pub struct TrainedFiles {
    /// The model.
    pub model: String,
    /// Its certificate.
    pub certificate: String,
    /// Its certificate for people.
    #[serde(skip)]
    pub certificate_text: String,
}

/// What may be said about records that are not secret.
#[derive(Default, Serialize)]
pub struct PublicReport {
    /// How the records fit the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforced: Option<EnforcedReport>,
    /// How good the model is on the records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_records: Option<OneOrMany<MetricsReport>>,
    /// The regret of online learning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regret: Option<RegretReport>,
}

/// What the schema did to records.
#[derive(Serialize)]
pub struct EnforcedReport {
    /// Values that were moved to their bounds.
    pub clipped: u64,
    /// Rows that were scaled down.
    pub scaled: u64,
    /// Rows that could not be used.
    pub skipped: u64,
}

/// How good a model is on records.
#[derive(Serialize)]
pub struct MetricsReport {
    /// The number of records that were looked at.
    pub records: u64,
    /// The share of records whose class is predicted.
    pub accuracy: Option<f64>,
    /// The mean loss.
    pub loss: f64,
    /// The root mean squared error of scaled numbers.
    pub root_mean_square: Option<f64>,
    /// The size of an error of 1 in the units of the column.
    #[serde(skip)]
    pub unit: f64,
    /// What else may be said, if the records are public.
    #[serde(flatten)]
    pub quality: Option<QualityReport>,
}

/// How good a model is on private records, with noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// The share of records whose class is predicted.
    pub accuracy: Option<f64>,
    /// The standard deviation of its noise.
    pub accuracy_deviation: Option<f64>,
    /// The mean loss.
    pub loss: f64,
    /// The standard deviation of its noise.
    pub loss_deviation: f64,
}

/// The regret of online learning.
#[derive(Serialize)]
pub struct RegretReport {
    /// The number of records that arrived.
    pub rounds: u64,
    /// The sum of their losses.
    pub loss: f64,
    /// The sum of losses of the best fixed parameters that were found.
    pub best: f64,
    /// The difference.
    pub regret: f64,
}

/// One object, or a list of one for each task.
#[derive(Serialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// The object of the only task.
    One(T),
    /// The objects of several tasks.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// One object for each task.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(only) => std::slice::from_ref(only),
            Self::Many(several) => several,
        }
    }
}

impl<T> FromIterator<T> for OneOrMany<T> {
    fn from_iter<I: IntoIterator<Item = T>>(tasks: I) -> Self {
        let mut tasks: Vec<T> = tasks.into_iter().collect();
        match tasks.len() {
            1 => Self::One(tasks.remove(0)),
            _ => Self::Many(tasks),
        }
    }
}

impl TrainingReport {
    /// The report with what the account says, and nothing yet about how good the model is.
    pub fn new(
        account: &Account,
        run: &SelfContained,
        schema: &Schema,
        schedule: ScheduleReport,
        seed: Option<u64>,
    ) -> Self {
        let published = account.answer("composition").map(|answer| answer.value);
        let is_best = account.guarantee().is_ok_and(|best| best.id == "composition");
        Self {
            files: None,
            state: None,
            charged: None,
            guarantee: GuaranteeReport::of(account),
            // Who knows the randomness may learn everything.
            meaning: account.meaning().filter(|_| seed.is_none()).map(Into::into),
            warnings: account.warnings.clone(),
            concern: account.concern.clone(),
            if_published: published.filter(|_| !is_best),
            private: seed.is_none(),
            seed,
            run: run.json(),
            schedule,
            test: None,
            test_is_a_share: false,
            private_evaluation: Vec::new(),
            labels: schema.label_columns().into_iter().map(str::to_owned).collect(),
            public: None,
        }
    }
}

impl MetricsReport {
    /// The metrics of a task.
    pub fn new(metrics: &Metrics, schema: &Schema, task: usize) -> Self {
        Self {
            quality: None,
            records: metrics.records,
            accuracy: metrics.accuracy,
            loss: metrics.loss,
            root_mean_square: metrics.root_mean_square,
            unit: schema.label_value(task, 1.0) - schema.label_value(task, 0.0),
        }
    }

    /// The same, with what may be said of public records.
    #[must_use]
    pub fn with_quality(self, quality: Option<&Quality>, schema: &Schema, task: usize) -> Self {
        let quality = quality.map(|quality| QualityReport::new(quality, schema, task, self.loss));
        Self { quality, ..self }
    }
}

impl From<&PrivateMetrics> for EvaluationReport {
    fn from(metrics: &PrivateMetrics) -> Self {
        let &PrivateMetrics { accuracy, accuracy_deviation, loss, loss_deviation } = metrics;
        Self { accuracy, accuracy_deviation, loss, loss_deviation }
    }
}

impl From<&Regret> for RegretReport {
    fn from(regret: &Regret) -> Self {
        Self { rounds: regret.rounds, loss: regret.loss, best: regret.best, regret: regret.total() }
    }
}
