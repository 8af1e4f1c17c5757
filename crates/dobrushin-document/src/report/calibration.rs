//! `calibrate`: the value of a parameter that just meets a target.

use crate::json::Bounds;
use dobrushin::account::{Calibration, Target, large_delta};
use dobrushin::numeric::decimal;
use dobrushin::run::{Noise, Parameter, Run, Training};
use serde::Serialize;
use serde_json::{Value as Json, json};

/// What was found, and for which target.
#[derive(Serialize)]
#[serde(into = "Fields")]
#[derive(Clone)]
pub struct CalibrationReport {
    /// What was found.
    pub found: Calibration,
    /// The target that it meets.
    pub target: Target,
    /// Which of the values that meet the target was found, in words.
    pub side: &'static str,
    /// What the value achieves, in words, where that is not privacy.
    pub achieves: Option<String>,
    /// Why the target protects nobody, in words.
    pub concern: Option<String>,
}

impl CalibrationReport {
    /// The result of a search of a run.
    pub fn new(run: &Run, found: Calibration, target: Target) -> Self {
        let concern = match target {
            Target::Privacy { delta, .. } => large_delta(run, delta.get()),
            Target::Advantage(_) | Target::TruePositiveRate { .. } => None,
        };
        let side = side(run, found.parameter);
        let achieves = (found.parameter == Parameter::ForgetSteps).then(|| forgotten(run, found.value));
        Self { found, target, side, achieves, concern }
    }
}

/// What clean steps achieve.
fn forgotten(run: &Run, steps: f64) -> String {
    let requests = run.as_training().map_or(&[][..], |training| &training.forgetting);
    let deleted = run.as_training().map_or(1, Training::deleted_records).max(1);
    let these = if deleted == 1 { "this record" } else { "these records" };
    let after = if requests.len() > 1 { " after the last request" } else { "" };
    let plural = if steps == 1.0 { "" } else { "s" };
    format!(
        "After {} clean step{plural}{after}, the last iterate is as if {these} had never been used, up to the target.",
        decimal::plain(steps)
    )
}

/// Which of the values that meet a target is found.
fn side(run: &Run, parameter: Parameter) -> &'static str {
    let noise_follows = |training: &Training| !matches!(training.noise, Noise::Iterate(_));
    match parameter {
        Parameter::NoiseMultiplier | Parameter::GradientNoise | Parameter::IterateNoise => "smallest noise",
        Parameter::Steps => "largest number of steps",
        Parameter::Epochs => "largest number of passes",
        Parameter::BatchSize => "largest batch size",
        Parameter::SamplingProbability => "largest sampling probability",
        // Noise that scales with the learning rate grows in proportion to the domain.
        Parameter::LearningRate if run.as_training().is_some_and(noise_follows) => "smallest learning rate",
        Parameter::LearningRate => "largest learning rate",
        Parameter::ClipNorm => "largest clip norm",
        Parameter::WeightDecay => "smallest weight decay",
        Parameter::Diameter => "largest diameter",
        Parameter::PublicSteps => "smallest number of public steps",
        Parameter::ForgetSteps => "smallest number of clean steps",
    }
}

/// The report, as it is written.
#[derive(Serialize)]
struct Fields {
    parameter: &'static str,
    value: Json,
    #[serde(flatten)]
    met: Met,
    analysis: &'static str,
    target: f64,
    at_the_end_of_the_range: bool,
    evaluations: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    achieves: Option<String>,
    warnings: Vec<String>,
}

/// The quantity that has a limit.
#[derive(Serialize)]
#[serde(untagged)]
enum Met {
    Privacy { epsilon: Bounds, delta: f64 },
    Advantage { advantage: Bounds },
    TruePositiveRate { tpr: Bounds, fpr: f64 },
}

impl From<CalibrationReport> for Fields {
    fn from(report: CalibrationReport) -> Self {
        let CalibrationReport { found, target, achieves, concern, .. } = report;
        let achieved = Bounds(found.achieved);
        Self {
            parameter: found.parameter.key(),
            value: if found.parameter.is_whole() { json!(found.value as u64) } else { json!(found.value) },
            met: match target {
                Target::Privacy { delta, .. } => Met::Privacy { epsilon: achieved, delta: delta.get() },
                Target::Advantage(_) => Met::Advantage { advantage: achieved },
                Target::TruePositiveRate { at, .. } => Met::TruePositiveRate { tpr: achieved, fpr: at.get() },
            },
            analysis: found.analysis,
            target: target.limit(),
            at_the_end_of_the_range: found.at_the_end,
            evaluations: found.evaluations,
            achieves,
            warnings: concern.into_iter().collect(),
        }
    }
}
