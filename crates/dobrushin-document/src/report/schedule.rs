//! `train`: what was carried out.

use dobrushin::run::{Batch, Noise, Training};
use serde::Serialize;

/// The noise and the steps of a training run. All of it follows from the run, and from the number of records where that
/// is no secret.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScheduleReport {
    /// The noise multiplier, if the noise was given or found as one.
    pub noise_multiplier: Option<f64>,
    /// Whether it was found for a target.
    pub noise_was_found: bool,
    /// The number of steps, without those on public records.
    pub steps: Option<u64>,
    /// The number of records in a step; with Poisson sampling the expected number.
    pub batch_size: f64,
    /// How often a record is used; with random batches the expected number.
    pub passes: Option<f64>,
}

impl ScheduleReport {
    /// What the training run says, and whether its noise was found for a target.
    pub fn new(training: &Training, noise_was_found: bool) -> Self {
        let records = training.records as f64;
        let batch_size = match training.batch {
            Batch::Size(size) => size as f64,
            Batch::Probability(probability) => probability.get() * records,
        };
        let steps = training.steps();
        Self {
            noise_multiplier: match &training.noise {
                Noise::Multiplier(multiplier) => Some(multiplier.get()),
                _ => None,
            },
            noise_was_found,
            steps,
            batch_size,
            passes: steps.map(|steps| steps as f64 * batch_size / records),
        }
    }
}
