//! `forget`: what may be said about a model from which records were deleted.

use super::{GuaranteeReport, MeaningReport, MetricsReport, OneOrMany, TrainedFiles};
use crate::run_file::SelfContained;
use crate::trained::Accounted;
use dobrushin::run::Forgotten;
use dobrushin_train::schema::Schema;
use serde::Serialize;
use serde_json::Value as Json;

/// How many clean steps a request takes, and what they guarantee.
#[derive(Serialize)]
pub struct ForgettingReport {
    /// The clean steps of this request.
    pub steps: u64,
    /// The steps of training before the first request.
    pub training_steps: Option<u64>,
    /// The records that this request deletes.
    pub records: u64,
    /// The requests so far, this one included.
    pub requests: u64,
    /// The records that all of them delete.
    pub deleted: u64,
    /// Where the model and its certificate are; nowhere if nothing was done.
    #[serde(flatten)]
    pub files: Option<TrainedFiles>,
    /// Where the new state is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// How close the model is to one that never used the deleted records.
    pub guarantee: Option<GuaranteeReport>,
    /// What that means for the people whose records were deleted.
    pub meaning: Option<MeaningReport>,
    /// What the model by itself guarantees everyone else.
    pub everyone_else: Option<GuaranteeReport>,
    /// What could not be used, or says nothing, and why, in words.
    pub warnings: Vec<String>,
    /// Why the guarantee protects nobody, though it holds, in words.
    #[serde(skip)]
    pub concern: Option<String>,
    /// Whether nobody knows the randomness.
    pub private: bool,
    /// The seed, if it is known.
    #[serde(skip)]
    pub seed: Option<u64>,
    /// The run that was carried out.
    pub run: Json,
    /// Metrics on the test records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<OneOrMany<MetricsReport>>,
    /// The names of the labels.
    #[serde(skip)]
    pub labels: Vec<String>,
}

impl ForgettingReport {
    /// The report of a request, the last one of the run, before its steps are made.
    pub fn new(accounted: &Accounted<'_>, run: &SelfContained, schema: &Schema, seed: Option<u64>) -> Self {
        let (account, training) = (&accounted.account, accounted.plan.training());
        let request = training.forgetting.last().copied().unwrap_or(Forgotten { records: 0, steps: 0 });
        Self {
            steps: request.steps,
            training_steps: training.steps(),
            records: request.records,
            requests: training.forgetting.len() as u64,
            deleted: training.deleted_records(),
            files: None,
            state: None,
            guarantee: GuaranteeReport::of(account),
            // Who knows the randomness may learn everything.
            meaning: account.meaning().filter(|_| seed.is_none()).map(Into::into),
            everyone_else: None,
            warnings: account.warnings.clone(),
            concern: account.concern.clone(),
            private: seed.is_none(),
            seed,
            test: None,
            labels: schema.label_columns().into_iter().map(str::to_owned).collect(),
            run: run.json(),
        }
    }
}
