//! `local`: what is known about mechanisms of local privacy, and estimated from their reports.

use super::ChargedReport;
use crate::json::{Bounds, Number};
use dobrushin::kernel::FiniteKernel;
use dobrushin::{Delta, Epsilon, Gamma};
use dobrushin_local::estimate::{Interval, MeanEstimate, QuantileEstimate, VectorEstimate};
use dobrushin_local::risk::{RiskBound, Summary};
use dobrushin_local::{LocalPrivacy, LocalProfile};
use serde::{Serialize, Serializer};

/// How private a mechanism is, at every ε.
#[derive(Serialize)]
pub struct ProfileReport {
    /// What the profile belongs to, in words.
    #[serde(skip)]
    pub title: String,
    pub(crate) mechanism: String,
    pub(crate) eta: Vec<Eta>,
    pub(crate) tv: Bounds,
    pub(crate) chi2: Bounds,
    kl: Bounds,
    pub(crate) epsilon_at_delta: Vec<EpsilonAt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<usize>,
    /// Several answers of one person, if the user asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Together>,
    /// Many people's reports, shuffled, if the user asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffled: Option<Together>,
}

#[derive(Serialize)]
pub(crate) struct Eta {
    pub epsilon: f64,
    pub value: Bounds,
    /// The two answers that are easiest to tell apart, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pair: Option<(usize, usize)>,
}

#[derive(Serialize)]
pub(crate) struct EpsilonAt {
    pub delta: f64,
    pub epsilon: Bounds,
}

/// What many reports together give away.
#[derive(Serialize)]
pub struct Together {
    /// The number of reports.
    pub count: u32,
    /// The δ for which ε is found.
    pub delta: f64,
    /// ε.
    pub epsilon: Bounds,
}

impl ProfileReport {
    /// The profile of a mechanism as it is realised, at levels and at the δ of its promise; from the mechanism as a
    /// matrix, if that is small enough.
    pub fn new(
        (mechanism, title): (String, String),
        profile: &LocalProfile,
        channel: Option<&FiniteKernel>,
        levels: &[Epsilon],
        delta: Delta,
    ) -> Result<Self, dobrushin::Error> {
        let pair = |epsilon: Epsilon| {
            let (x, y) = channel?.contraction_with_pair(Gamma::from_epsilon(epsilon.get()).ok()?).pair;
            Some((x + 1, y + 1))
        };
        let eta = |&epsilon: &Epsilon| Eta {
            epsilon: epsilon.get(),
            value: Bounds(profile.delta(epsilon)),
            pair: pair(epsilon),
        };
        let deltas = [Delta::new(0.0)?].into_iter().chain((delta.get() > 0.0).then_some(delta));
        let epsilon_at =
            |delta: Delta| EpsilonAt { delta: delta.get(), epsilon: Bounds(profile.epsilon(delta)) };
        let chi2 = Bounds(match channel {
            Some(channel) => channel.chi_squared_contraction().value,
            None => profile.chi_squared_contraction(),
        });
        Ok(Self {
            title,
            mechanism,
            eta: levels.iter().map(eta).collect(),
            tv: Bounds(profile.delta(Epsilon::new(0.0)?)),
            chi2,
            kl: chi2,
            epsilon_at_delta: deltas.map(epsilon_at).collect(),
            inputs: channel.map(FiniteKernel::inputs),
            outputs: channel.map(FiniteKernel::outputs),
            questions: None,
            shuffled: None,
        })
    }
}

/// Whether a mechanism keeps a promise of (ε, δ).
#[derive(Clone, Serialize)]
pub struct PromiseReport {
    /// The mechanism.
    pub mechanism: String,
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    /// Whether δ is certainly no larger than promised.
    pub holds: bool,
    /// The exact δ of the mechanism as it is realised, at ε.
    pub exact_delta: Bounds,
    /// The smallest ε that the mechanism has with this δ.
    pub exact_epsilon: Bounds,
}

impl PromiseReport {
    /// Compares the profile of a mechanism as it is realised with what is promised.
    pub fn new(mechanism: String, promised: LocalPrivacy, profile: &LocalProfile) -> Self {
        let exact_delta = profile.delta(promised.epsilon);
        Self {
            mechanism,
            epsilon: promised.epsilon.get(),
            delta: promised.delta.get(),
            holds: exact_delta.upper() <= promised.delta.get(),
            exact_delta: Bounds(exact_delta),
            exact_epsilon: Bounds(profile.epsilon(promised.delta)),
        }
    }
}

/// What was done to a column of answers. The counts depend on the answers, so they are as private as the answers.
#[derive(Serialize)]
pub struct PrivatizedReport {
    /// The number of reports that were written.
    pub reports: u64,
    /// Rows that could not be used.
    pub skipped: u64,
    /// What these rows report, in words.
    #[serde(skip)]
    pub instead: &'static str,
    /// Numbers that were moved to their bounds.
    pub clipped: u64,
    /// What is promised to everybody who answered.
    #[serde(flatten, serialize_with = "without_epsilon")]
    pub promise: PromiseReport,
    /// Which of several questions everybody answers: "all" or "one".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<&'static str>,
    /// What each of several questions uses of the promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<QuestionReport>>,
    /// Whether nobody knows the randomness.
    pub private: bool,
    /// The seed, if it is known.
    #[serde(skip)]
    pub seed: Option<u64>,
    /// Where the reports are.
    pub output: String,
    /// Who was charged for them in a ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charged: Option<ChargedReport>,
}

/// What a question uses of the promise that several share.
#[derive(Serialize)]
pub struct QuestionReport {
    pub(crate) column: String,
    #[serde(flatten, serialize_with = "without_epsilon")]
    pub(crate) promise: PromiseReport,
}

impl QuestionReport {
    /// The question about a column, or about several that are a vector, and what its mechanism keeps.
    pub fn new(column: String, promise: &PromiseReport) -> Self {
        Self { column, promise: promise.clone() }
    }
}

/// If a promise is kept, the exact δ says everything.
fn without_epsilon<S: Serializer>(promise: &PromiseReport, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Kept<'a> {
        mechanism: &'a str,
        epsilon: f64,
        delta: f64,
        exact_delta: Bounds,
    }
    let PromiseReport { mechanism, epsilon, delta, exact_delta, .. } = promise;
    Kept { mechanism, epsilon: *epsilon, delta: *delta, exact_delta: *exact_delta }.serialize(serializer)
}

/// What is estimated from reports, and where they come from.
#[derive(Serialize)]
pub struct EstimateReport {
    /// The number of reports.
    pub reports: u64,
    /// The probability that an interval covers the true value.
    pub confidence: f64,
    /// What is estimated.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The mechanism that made the reports.
    pub mechanism: String,
    /// The ε of its promise.
    pub epsilon: f64,
    /// The δ of its promise.
    pub delta: f64,
    /// The column that was privatised.
    pub column: String,
    /// Rows that were not reports.
    pub skipped: u64,
    /// Whether nobody knows the randomness.
    pub private: bool,
}

/// What is estimated from the reports on several questions.
#[derive(Serialize)]
pub struct SurveyReport {
    /// The number of people who reported.
    pub reports: u64,
    /// The ε of the promise to each of them.
    pub epsilon: f64,
    /// The δ of the promise.
    pub delta: f64,
    /// Which of the questions everybody answered: "all" or "one".
    pub answer: &'static str,
    /// The estimate of each question.
    pub questions: Vec<EstimateReport>,
    /// Rows that were not reports.
    pub skipped: u64,
    /// Whether nobody knows the randomness.
    pub private: bool,
}

/// Frequencies of categories, a mean of numbers, or a mean of vectors.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Estimate {
    /// The frequencies of categories.
    Frequencies(FrequenciesReport),
    /// The mean of numbers.
    Mean(MeanReport),
    /// The mean of vectors.
    Vector(VectorReport),
}

/// A frequency for each category.
#[derive(Serialize)]
pub struct FrequenciesReport {
    /// How the frequencies are estimated.
    pub method: &'static str,
    /// Whether the intervals cover all frequencies at once.
    pub simultaneous: bool,
    /// One entry for each category.
    pub frequencies: Vec<FrequencyReport>,
    /// Quantiles, for numbers in bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantiles: Option<Vec<QuantileReport>>,
    /// Further remarks, in words.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// A frequency, with what is known about it.
#[derive(Serialize)]
pub struct FrequencyReport {
    /// The category.
    pub category: String,
    /// Its frequency.
    pub frequency: Number,
    /// The standard error, for unbiased estimates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<Number>,
    /// The interval by the normal law, for unbiased estimates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// An interval that covers the true frequency, however it is estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certain_interval: Option<Span>,
}

/// A quantile of numbers that were reported in bins.
#[derive(Serialize)]
pub struct QuantileReport {
    pub(crate) level: f64,
    pub(crate) value: Number,
    pub(crate) certain_interval: Span,
}

impl QuantileReport {
    /// The quantile at a level.
    pub fn new(level: f64, quantile: &QuantileEstimate) -> Self {
        let &QuantileEstimate { value, lower, upper } = quantile;
        Self { level, value: Number(value), certain_interval: Span::between(lower, upper) }
    }
}

/// A mean, with two intervals.
#[derive(Serialize)]
pub struct MeanReport {
    pub(crate) mean: Number,
    pub(crate) standard_error: Number,
    pub(crate) interval: Span,
    pub(crate) certain_interval: Span,
}

impl From<&MeanEstimate> for MeanReport {
    fn from(estimate: &MeanEstimate) -> Self {
        let around = |half: f64| Span::between(estimate.mean - half, estimate.mean + half);
        Self {
            mean: Number(estimate.mean),
            standard_error: Number(estimate.standard_error),
            interval: around(estimate.normal),
            certain_interval: around(estimate.certain),
        }
    }
}

/// A mean vector, with the intervals of its coordinates and a ball.
#[derive(Serialize)]
pub struct VectorReport {
    pub(crate) simultaneous: bool,
    pub(crate) coordinates: Vec<CoordinateReport>,
    pub(crate) standard_error: Number,
    pub(crate) certain_radius: Number,
}

#[derive(Serialize)]
pub(crate) struct CoordinateReport {
    pub column: String,
    #[serde(flatten)]
    pub mean: MeanReport,
}

impl VectorReport {
    /// The mean of vectors whose coordinates are in these columns.
    pub fn new(
        columns: &[String],
        coordinates: &[MeanEstimate],
        simultaneous: bool,
        whole: &VectorEstimate,
    ) -> Self {
        let coordinate = |(column, estimate): (&String, &MeanEstimate)| CoordinateReport {
            column: column.clone(),
            mean: estimate.into(),
        };
        Self {
            simultaneous,
            coordinates: columns.iter().zip(coordinates).map(coordinate).collect(),
            standard_error: Number(whole.standard_error),
            certain_radius: Number(whole.certain),
        }
    }
}

/// An interval.
#[derive(Clone, Copy, Serialize)]
pub struct Span {
    /// The lower end.
    pub from: Number,
    /// The upper end.
    pub to: Number,
}

impl Span {
    fn between(from: f64, to: f64) -> Self {
        Self { from: Number(from), to: Number(to) }
    }
}

impl From<Interval> for Span {
    fn from(interval: Interval) -> Self {
        Self::between(interval.lower, interval.upper)
    }
}

/// Mechanisms that keep a promise, best first.
#[derive(Serialize)]
pub struct PlansReport {
    best: Option<&'static str>,
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    pub(crate) plans: Vec<PlanReport>,
    /// What is estimated, in words.
    #[serde(skip)]
    pub(crate) what: String,
}

/// What a mechanism needs, and what it gives.
#[derive(Serialize)]
pub struct PlanReport {
    /// The mechanism.
    pub mechanism: &'static str,
    /// The number of people who report.
    pub records: u64,
    /// The largest standard error, whatever people answer: of the mean, or of the frequencies as the root mean square
    /// over all categories.
    pub standard_error: Number,
    /// The standard error of a single category.
    #[serde(rename = "standard_error_of_one_category", skip_serializing_if = "Option::is_none")]
    pub of_one_category: Option<Number>,
}

impl PlansReport {
    /// The report for a promise and what is estimated, in words.
    pub fn new(promised: LocalPrivacy, what: String, mut plans: Vec<PlanReport>) -> Self {
        plans.sort_by(|a, b| {
            a.records.cmp(&b.records).then(a.standard_error.0.total_cmp(&b.standard_error.0))
        });
        let best = plans.first().map(|plan| plan.mechanism);
        Self { best, epsilon: promised.epsilon.get(), delta: promised.delta.get(), plans, what }
    }
}

/// The smallest error that any mechanism with a given promise, and any estimator, can have.
#[derive(Serialize)]
pub struct BoundsReport {
    pub(crate) contraction: ContractionReport,
    pub(crate) effective_records: Bounds,
    #[serde(rename = "bounds", serialize_with = "of_all_tasks")]
    pub(crate) tasks: Vec<(String, Vec<RiskReport>)>,
    #[serde(skip)]
    pub(crate) records: u32,
}

#[derive(Serialize)]
pub(crate) struct ContractionReport {
    pub tv: Bounds,
    pub kl: Bounds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Bounds>,
}

#[derive(Serialize)]
pub(crate) struct RiskReport {
    pub id: &'static str,
    pub value: Bounds,
    pub coefficient: String,
}

fn of_all_tasks<S: Serializer>(
    tasks: &[(String, Vec<RiskReport>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tasks.iter().flat_map(|(_, bounds)| bounds))
}

impl BoundsReport {
    /// The bounds for this many reports, for a first task and others, each described in words.
    pub fn new(records: u32, first: (String, Summary), others: Vec<(String, Summary)>) -> Self {
        // The contraction is the same for every task.
        let &Summary { total_variation, information, published, effective_records, .. } = &first.1;
        let risk = |bound: &RiskBound| RiskReport {
            id: bound.id,
            value: Bounds(bound.value),
            coefficient: bound.coefficient.to_string(),
        };
        let tasks = std::iter::once(first).chain(others);
        let tasks = tasks.map(|(what, summary)| (what, summary.bounds.iter().map(risk).collect()));
        Self {
            contraction: ContractionReport {
                tv: Bounds(total_variation),
                kl: Bounds(information),
                published: published.map(Bounds),
            },
            effective_records: Bounds(effective_records),
            tasks: tasks.collect(),
            records,
        }
    }
}
