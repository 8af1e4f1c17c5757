//! How much noise a target needs, or how many steps it allows.

use super::analyses::{DEFAULT_TOLERANCE, Options, analyses};
use super::search::{Found, Scale, Search, Tried, Whom};
use super::{Target, proxy};
use crate::analysis::{self, Analysis, ExactComposition, Family, Theorem};
use crate::lower::Composed;
use crate::numeric::Boundary;
use crate::run::{Batch, Parameter, Run, RunError, Training};
use crate::{Enclosure, NotApplicable, Progress};
use rayon::prelude::*;

/// A value of a parameter with which a run meets a target.
///
/// ```
/// use dobrushin::account::calibrate;
/// use dobrushin::run::Parameter;
/// use dobrushin::{Delta, Epsilon, Run, Target};
///
/// let run = Run::gradient_descent(100).steps(1).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let target = Target::Privacy { epsilon: Epsilon::new(2.0)?, delta: Delta::new(1e-5)? };
/// let most = calibrate(&run, Parameter::Steps, target)?;
/// // One step more would be too many.
/// let epsilon = |steps| -> Result<f64, Box<dyn std::error::Error>> {
///     let run = run.with(Parameter::Steps, steps)?;
///     Ok(run.account(dobrushin::Question::EpsilonAt(Delta::new(1e-5)?)).guarantee()?.epsilon())
/// };
/// assert!(epsilon(most.value)? <= 2.0 && epsilon(most.value + 1.0)? > 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Calibration {
    /// The parameter that was searched.
    pub parameter: Parameter,
    /// The value.
    pub value: f64,
    /// The value of the limited quantity for the run with that parameter.
    pub achieved: Enclosure,
    /// Whether the value is an end of the range, so the target is met with room to spare.
    pub at_the_end: bool,
    /// The analysis that shows it.
    pub analysis: &'static str,
    /// How many values were tried.
    pub evaluations: usize,
    /// How many times an analysis was asked about a value.
    pub questions: usize,
}

/// Why no value of a parameter meets a target.
///
/// ```
/// use dobrushin::account::{CalibrationError, calibrate};
/// use dobrushin::run::Parameter;
/// use dobrushin::{Delta, Epsilon, Run, Target};
///
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// // No Gaussian noise is so large that nothing can be told.
/// let perfect = Target::Privacy { epsilon: Epsilon::new(0.0)?, delta: Delta::new(0.0)? };
/// let refused = calibrate(&run, Parameter::NoiseMultiplier, perfect);
/// assert!(matches!(refused, Err(CalibrationError::Unreachable { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The run does not allow the search.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is nothing to search with.
    #[error(transparent)]
    NotApplicable(#[from] NotApplicable),
    /// No value in range meets the target.
    #[error("the target cannot be reached: {} = {value} gives {}", parameter.key(), achieved.upper())]
    Unreachable {
        /// The parameter that was searched.
        parameter: Parameter,
        /// The most private value in range.
        value: f64,
        /// What it achieves.
        achieved: Enclosure,
    },
}

impl From<crate::Error> for CalibrationError {
    fn from(error: crate::Error) -> Self {
        Self::NotApplicable(error.into())
    }
}

/// The smallest noise of the search, …
const LEAST_MULTIPLIER: f64 = 1e-2;
/// … and the largest, as multiples of one record's contribution.
const MOST_MULTIPLIER: f64 = 1e6;
/// The largest number of steps of the search.
const MOST_STEPS: f64 = 1e12;
/// The largest number of passes of the search.
const MOST_EPOCHS: f64 = 1e9;
/// The smallest sampling probability and weight decay of the search.
const LEAST_PROBABILITY: f64 = 1e-9;
/// The smallest diameter of the search, …
const LEAST_DIAMETER: f64 = 1e-9;
/// … and the largest.
const MOST_DIAMETER: f64 = 1e9;

/// The smallest noise, the most steps, the largest batch or domain, and so on, with which the best analysis of a run
/// meets a target.
///
/// # Guarantee
/// The run with exactly this value was checked to meet the target. A value that is less private by 1e-5, relatively, or
/// the next whole number, was checked not to meet it (unless the search reached the end of the range).
///
/// # Errors
/// [`CalibrationError::Unreachable`] if no value in range meets the target.
///
/// ```
/// use dobrushin::account::calibrate;
/// use dobrushin::numeric::theta;
/// use dobrushin::run::Parameter;
/// use dobrushin::{Delta, Epsilon, Neighbours, Positive, Run, Target};
///
/// // Four steps on all records are a single one with half of the noise multiplier, whose noise is known.
/// let run = Run::gradient_descent(100).steps(4).clip_norm(1.0).noise_multiplier(1.0);
/// let run = run.neighbours(Neighbours::ZeroOut).build()?;
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-5)?);
/// let found = calibrate(&run, Parameter::NoiseMultiplier, Target::Privacy { epsilon, delta })?;
/// let known = 2.0 * theta::smallest_noise(Positive::new(1.0)?, epsilon, delta).upper();
/// assert!((found.value / known - 1.0).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn calibrate(run: &Run, parameter: Parameter, target: Target) -> Result<Calibration, CalibrationError> {
    calibrate_watched(run, parameter, target, &Progress::default())
}

/// A search tries about this many values; how many it needs is known only at its end.
const USUAL_EVALUATIONS: u64 = 12;

/// Like [`calibrate`]; `progress` counts the values that are tried.
///
/// # Errors
/// [`CalibrationError::Unreachable`] if no value in range meets the target.
pub fn calibrate_watched(
    run: &Run,
    parameter: Parameter,
    target: Target,
    progress: &Progress,
) -> Result<Calibration, CalibrationError> {
    if let Some(problem) = run.as_training().and_then(|training| training.not_monotone(parameter)) {
        return Err(problem.into());
    }
    let by_passes = run.as_training().is_some_and(|training| training.order.is_by_passes());
    if parameter == Parameter::Epochs && !by_passes {
        return epochs_from_steps(run, target, progress);
    }
    let whole = parameter.is_whole() || parameter == Parameter::Epochs;
    let protects = run.as_training().is_some_and(|training| training.is_protected_by(parameter));
    let scale = Scale { noise: protects, whole };
    let mut bench = Bench { run, parameter, target, leader: None, shown: Vec::new(), questions: 0, progress };
    progress.add_parts(USUAL_EVALUATIONS);
    let ends = bench.ends(scale)?;
    let guess = bench.guess(scale, ends);
    let search = Search {
        scale,
        ends,
        measure: |place: f64, tolerance: f64, whom: Whom| bench.measure(scale.value(place), tolerance, whom),
        limit: target.limit(),
        share: |measured: f64| target.share(measured),
        fine: DEFAULT_TOLERANCE,
    };
    match search.run(guess)? {
        // The search only ever returns a place that was measured and met the limit.
        Found::Boundary(Tried { place, measured }) => Ok(bench.found(scale.value(place), measured, false)),
        Found::Everywhere(Tried { place, measured }) => Ok(bench.found(scale.value(place), measured, true)),
        Found::Nowhere(Tried { place, measured }) => {
            Err(CalibrationError::Unreachable { parameter, value: scale.value(place), achieved: measured })
        }
    }
}

/// The largest number of steps, converted to passes and rounded down.
fn epochs_from_steps(
    run: &Run,
    target: Target,
    progress: &Progress,
) -> Result<Calibration, CalibrationError> {
    let found = calibrate_watched(run, Parameter::Steps, target, progress)?;
    let in_one = run.as_training().map_or(1.0, |training| match training.batch {
        Batch::Size(size) => training.records as f64 / size as f64,
        Batch::Probability(p) => 1.0 / p.get(),
    });
    let mut value = found.value / in_one;
    let steps = |epochs: f64| {
        let run = run.with(Parameter::Epochs, epochs)?;
        Ok::<_, RunError>(run.as_training().and_then(Training::steps).unwrap_or(u64::MAX))
    };
    while steps(value)? as f64 > found.value {
        value = value.next_down();
    }
    // No more steps than were checked to meet the target.
    Ok(Calibration { parameter: Parameter::Epochs, value, ..found })
}

/// Whether an analysis is asked at all: the most precise composition, and whatever bounds hidden states.
fn is_asked(theorem: &&Theorem) -> bool {
    theorem.is_rigorous()
        && (theorem.family() != Family::Composition || theorem.id() == ExactComposition.id())
}

fn nobody() -> CalibrationError {
    NotApplicable::beyond("no analysis applies").into()
}

/// The places where values are tried.
struct Bench<'a> {
    run: &'a Run,
    parameter: Parameter,
    target: Target,
    /// The analysis that was best when everyone was asked last.
    leader: Option<&'static str>,
    /// The values that were tried, each with the analysis that said most about it.
    shown: Vec<(f64, &'static str)>,
    questions: usize,
    progress: &'a Progress,
}

impl Bench<'_> {
    /// The limited quantity, for one value of the parameter.
    fn measure(&mut self, value: f64, tolerance: f64, whom: Whom) -> Result<Enclosure, CalibrationError> {
        let everyone: Vec<&'static str> = analysis::ALL.iter().filter(is_asked).map(|t| t.id()).collect();
        let leader = self.leader.filter(|_| whom == Whom::Leader);
        self.questions += leader.map_or(everyone.len(), |_| 1);
        let of_leader = leader.and_then(|leader| self.best(value, tolerance, &[leader]).ok());
        let (measured, best) = match of_leader.filter(|(measured, _)| measured.upper() < f64::INFINITY) {
            Some(answer) => answer,
            // The leader may have nothing to say about another value.
            None => self.best(value, tolerance, &everyone)?,
        };
        self.leader = Some(best);
        self.shown.retain(|(known, _)| *known != value);
        self.shown.push((value, best));
        self.progress.advance(1);
        Ok(measured)
    }

    /// The best answer of these analyses, with its name.
    fn best(
        &self,
        value: f64,
        tolerance: f64,
        asked: &[&'static str],
    ) -> Result<(Enclosure, &'static str), CalibrationError> {
        let run = self.run.with(self.parameter, value)?;
        let composes = |id: &str| id == ExactComposition.id();
        let by_composition = || {
            let wanted = asked.iter().any(|id| composes(id));
            wanted.then(|| run.composition().and_then(|composed| self.by_composition(&composed, tolerance)))
        };
        let by_hiding = || {
            let only: Vec<&'static str> = asked.iter().copied().filter(|id| !composes(id)).collect();
            // An empty list would be all of them.
            if only.is_empty() {
                return Vec::new();
            }
            let options =
                Options { tolerance, only, exception: self.target.exception(), ..Options::default() };
            let answers = analyses(&run, &options).into_par_iter().filter_map(|analysed| {
                Some((self.target.measure(analysed.profile.ok()?.as_ref()), analysed.id))
            });
            answers.collect::<Vec<_>>()
        };
        let (composition, hidden) = rayon::join(by_composition, by_hiding);
        let first =
            composition.clone().and_then(Result::ok).map(|measured| (measured, ExactComposition.id()));
        let best = first.into_iter().chain(hidden).min_by(|(a, _), (b, _)| a.upper().total_cmp(&b.upper()));
        match (best, composition) {
            (Some(best), _) => Ok(best),
            (None, Some(Err(reason))) => Err(reason.into()),
            (None, _) => Err(nobody()),
        }
    }

    fn by_composition(&self, composed: &Composed, tolerance: f64) -> Result<Enclosure, NotApplicable> {
        match analysis::gaussian(&composed.parts) {
            Some(profile) => Ok(self.target.measure(&profile?)),
            None => {
                let losses = analysis::losses(&composed.parts)?.with_tolerance(tolerance);
                Ok(self.target.measure_composition(&losses)?)
            }
        }
    }

    /// The range of the search.
    fn ends(&self, scale: Scale) -> Result<(f64, f64), CalibrationError> {
        let records = self.run.as_training().map_or(1, |training| training.records);
        let (least, most) = match self.parameter {
            Parameter::Steps => (1.0, MOST_STEPS),
            Parameter::Epochs => (1.0, MOST_EPOCHS),
            Parameter::BatchSize => (1.0, records as f64),
            Parameter::SamplingProbability => (LEAST_PROBABILITY, 1.0),
            Parameter::NoiseMultiplier | Parameter::GradientNoise | Parameter::IterateNoise => {
                // The multiplier is proportional to the noise.
                let of_one = self.multiplier_of_one()?;
                (LEAST_MULTIPLIER / of_one, MOST_MULTIPLIER / of_one)
            }
            Parameter::LearningRate | Parameter::ClipNorm => {
                let of_one = self.multiplier_of_one()?;
                let limit = self.largest_rate();
                ((of_one / MOST_MULTIPLIER).min(limit), (of_one / LEAST_MULTIPLIER).min(limit))
            }
            Parameter::Diameter => (LEAST_DIAMETER, MOST_DIAMETER),
            Parameter::WeightDecay => (LEAST_PROBABILITY, 1.0),
            Parameter::PublicSteps | Parameter::ForgetSteps => (1.0, MOST_STEPS),
        };
        let (a, b) = (scale.place(least), scale.place(most));
        Ok((a.min(b), a.max(b)))
    }

    /// The noise multiplier when the parameter is 1, as far as it is known.
    fn multiplier_of_one(&self) -> Result<f64, CalibrationError> {
        // It is inversely proportional to the learning rate and the clip norm.
        let value = self.largest_rate().min(1.0);
        let composed = self.run.with(self.parameter, value)?.composition();
        Ok(composed.map_or(1.0, |composed| proxy::multiplier(&composed)) * value)
    }

    /// The largest learning rate that a convex loss allows; there is no limit for other parameters.
    fn largest_rate(&self) -> f64 {
        match (self.parameter, self.run.as_training()) {
            (Parameter::LearningRate, Some(training)) => training.largest_rate(),
            _ => f64::INFINITY,
        }
    }

    /// The place where the rough μ of the composition equals that of the target.
    fn guess(&self, scale: Scale, (start, end): (f64, f64)) -> f64 {
        let wanted = self.target.mu();
        let enough = |place: f64| {
            let run = self.run.with(self.parameter, scale.value(place));
            let composed = run.ok().and_then(|run| run.composition().ok());
            composed.is_some_and(|composed| proxy::mu(&composed) <= wanted)
        };
        Boundary { holds: end, fails: start }.halved(30, enough).holds
    }

    fn found(&self, value: f64, achieved: Enclosure, at_the_end: bool) -> Calibration {
        let shown = self.shown.iter().find(|(tried, _)| *tried == value);
        let analysis = shown.map_or(ExactComposition.id(), |(_, analysis)| analysis);
        let (parameter, evaluations, questions) = (self.parameter, self.shown.len(), self.questions);
        Calibration { parameter, value, achieved, at_the_end, analysis, evaluations, questions }
    }
}
