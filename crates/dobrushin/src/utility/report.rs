//! What the theorems say about a run.

use super::setting::{Measure, Setting};
use super::sums;
use crate::run::{Algorithm, LearningRate, Noise, Release, Run, Training, in_the_way};
use crate::{Enclosure, NotApplicable, Positive};
use std::ops::RangeInclusive;

/// The names of the theorems, by which [`crate::statement::find`] finds them, in the order of reports.
const AVERAGE: &str = "utility-average";
const LAST: &str = "utility-last";
const PASSES: &str = "utility-passes";
const DOMAIN: &str = "utility-domain";
const REGRET: &str = "utility-regret";

/// How good a run is in expectation, according to every theorem.
///
/// ```
/// use dobrushin::Run;
/// use dobrushin::utility::{self, Measure};
///
/// let run = Run::pnsgd(10_000).learning_rate(0.01).lipschitz(1.0).gradient_noise(1.0).convex();
/// let run = run.smoothness(1.0).diameter(2.0).dimension(5).build()?;
/// let utility = utility::of(&run)?;
/// // Every record is used once: a bound for new records.
/// let best = utility.best_of(Measure::PopulationRisk).ok_or("it is a convex problem")?;
/// assert!(utility.entries.iter().any(|entry| entry.id == best.id));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Utility {
    /// One answer for each theorem, in a fixed order.
    pub entries: Vec<Entry>,
    /// The excess of a model that was chosen without looking at the data: see `Ground::best_blind_point`.
    pub blind: Enclosure,
    /// The constant learning rate that minimises the best bound.
    pub best_rate: Option<BestRate>,
}

/// What one theorem says.
///
/// ```
/// use dobrushin::{Run, statement, utility};
///
/// let run = Run::pnsgd(100).learning_rate(0.1).lipschitz(1.0).gradient_noise(1.0).convex();
/// let run = run.smoothness(1.0).diameter(2.0).dimension(5).build()?;
/// // Each theorem can be looked up.
/// assert!(utility::of(&run)?.entries.iter().all(|entry| statement::find(entry.id).is_some()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Entry {
    /// The theorem.
    pub id: &'static str,
    /// What it bounds.
    pub measure: Measure,
    /// The bound, or why there is none.
    pub outcome: Result<Enclosure, NotApplicable>,
    /// What must hold for it, in words.
    pub assumptions: Vec<String>,
}

/// A bound that holds.
///
/// ```
/// use dobrushin::{Run, utility};
///
/// // With ten records and so much noise nothing is better than any point of the domain: L·D = 2.
/// let run = Run::pnsgd(10).learning_rate(0.1).lipschitz(1.0).gradient_noise(100.0).convex();
/// let run = run.smoothness(1.0).diameter(2.0).dimension(5).build()?;
/// let utility = utility::of(&run)?;
/// let best = utility.best().ok_or("it is a convex problem")?;
/// assert!(best.is_vacuous() && best.value.contains(2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Best<'a> {
    /// The theorem.
    pub id: &'static str,
    /// What it bounds.
    pub measure: Measure,
    /// The bound.
    pub value: Enclosure,
    /// What must hold, in words.
    pub assumptions: &'a [String],
    /// The excess of a model that was chosen without looking at the data.
    pub blind: Enclosure,
}

/// A learning rate, and the bound it would give. The privacy of the run with it is a separate question.
///
/// ```
/// use dobrushin::{Run, utility};
///
/// let run = Run::pnsgd(10_000).learning_rate(0.5).lipschitz(1.0).gradient_noise(1.0).convex();
/// let run = run.smoothness(1.0).diameter(2.0).dimension(5).build()?;
/// let utility = utility::of(&run)?;
/// let (now, better) = (utility.best().ok_or("a bound")?.value, utility.best_rate.ok_or("a rate")?);
/// assert!(better.value.upper() < now.upper() && better.rate.get() < 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestRate {
    /// η.
    pub rate: Positive,
    /// The theorem.
    pub id: &'static str,
    /// Its bound.
    pub value: Enclosure,
}

impl Best<'_> {
    /// Whether the bound is vacuous: it holds for every point of the domain, or is not below that for a point which
    /// was chosen without looking at the data.
    pub fn is_vacuous(&self) -> bool {
        self.is_of_any_point() || self.value.upper() >= self.blind.lower()
    }

    /// Whether the bound holds for every point of the domain.
    pub fn is_of_any_point(&self) -> bool {
        self.id == DOMAIN
    }
}

impl Utility {
    /// The smallest bound on a measure.
    ///
    /// # Guarantee
    /// Under the assumptions, the upper end bounds the measure.
    pub fn best_of(&self, measure: Measure) -> Option<Best<'_>> {
        let bounds = self.entries.iter().filter(|entry| entry.measure == measure).filter_map(|entry| {
            let value = *entry.outcome.as_ref().ok()?;
            Some(Best { id: entry.id, measure, value, assumptions: &entry.assumptions, blind: self.blind })
        });
        bounds.min_by(|a, b| a.value.upper().total_cmp(&b.value.upper()))
    }

    /// The smallest bound on the goal of the run: regret if it plays online, and otherwise the risk of the released
    /// model.
    pub fn best(&self) -> Option<Best<'_>> {
        self.measures().into_iter().find_map(|measure| self.best_of(measure))
    }

    /// The measures that are bounded, the most important first.
    pub fn measures(&self) -> Vec<Measure> {
        let all = [Measure::AverageRegret, Measure::PopulationRisk, Measure::EmpiricalRisk];
        all.into_iter().filter(|&measure| self.best_of(measure).is_some()).collect()
    }
}

/// How good the model that a run releases, or plays, is in expectation.
///
/// # Errors
/// [`NotApplicable`] with the assumption that fails, and the key that would supply it.
///
/// ```
/// use dobrushin::{Run, utility};
///
/// let run = Run::pnsgd(100).learning_rate(0.1).lipschitz(1.0).gradient_noise(1.0);
/// // Nothing can be said of a loss that need not be convex.
/// assert!(utility::of(&run.clone().build()?).is_err());
/// let run = run.convex().smoothness(1.0).diameter(2.0).dimension(5).build()?;
/// assert!(utility::of(&run)?.best().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of(run: &Run) -> Result<Utility, NotApplicable> {
    let Some(training) = run.as_training() else {
        return Err(in_the_way!(
            "only noisy iterations have a risk: {} = \"pnsgd\", \"dp-sgd\", \"gradient-descent\" or \"online\"",
            Algorithm
        ));
    };
    let mut utility = at(training)?;
    utility.best_rate = best_rate(training, &utility);
    Ok(utility)
}

fn at(training: &Training) -> Result<Utility, NotApplicable> {
    let setting = Setting::of(training)?;
    let entry = |id, measure, outcome, note: Option<&str>| {
        let mut assumptions = setting.assumptions(measure);
        assumptions.extend(note.map(str::to_owned));
        Entry { id, measure, outcome, assumptions }
    };
    let descent = || setting.descent.as_ref().map_err(NotApplicable::clone);
    let (domain, blind) =
        (setting.ground.any_point(), setting.ground.best_blind_point(training.domain.dimension));
    if setting.passes.is_some() {
        let last = descent().map(|descent| descent.last());
        let entries = vec![
            entry(PASSES, setting.measure, last, None),
            entry(DOMAIN, setting.measure, Ok(domain), None),
        ];
        return Ok(Utility { entries, blind, best_rate: None });
    }
    let times = random_times(training, setting.private);
    let average = times.and_then(|times| Ok(descent()?.average(times)));
    let last = match training.release {
        Release::Last | Release::All => descent().map(|descent| descent.last()),
        Release::RandomStop | Release::RandomSkip => Err(in_the_way!(
            "what is released is the iterate of a random time, which utility-average is about: {} = \"last\"",
            Release
        )),
    };
    let mut entries = vec![
        entry(AVERAGE, setting.measure, average, average_words(training)),
        entry(LAST, setting.measure, last, None),
        entry(DOMAIN, setting.measure, Ok(domain), None),
    ];
    if training.algorithm == Algorithm::Online {
        let regret = descent().map(|descent| descent.average(0..=descent.count() - 1));
        entries.push(entry(REGRET, Measure::AverageRegret, regret, None));
        entries.push(entry(DOMAIN, Measure::AverageRegret, Ok(domain), None));
    }
    Ok(Utility { entries, blind, best_rate: None })
}

/// The times at which the iterate may be released, all equally likely.
fn random_times(training: &Training, private: u64) -> Result<RangeInclusive<u64>, NotApplicable> {
    let total = private.saturating_add(training.public_steps);
    match training.release {
        Release::RandomStop | Release::All => Ok(1..=total),
        // With equal steps on new data, the law of the iterate depends only on their number.
        Release::RandomSkip if training.has_equal_steps() => Ok(total - private / 2..=total),
        Release::RandomSkip => Err(in_the_way!(
            "skipping the first steps needs equal steps: one {}, and the same noise",
            LearningRate
        )),
        Release::Last => Err(in_the_way!(
            "only the last iterate is released, not that of a random time: {} = \"random-stop\"",
            Release
        )),
    }
}

fn average_words(training: &Training) -> Option<&'static str> {
    (training.release == Release::All).then_some(
        "the bound is for the average of the iterates after each step, and for a random one of them",
    )
}

/// The constant rate that minimises the bound on the goal of the run, if the noise of gradients does not depend on it
/// and the rate is better than none.
fn best_rate(training: &Training, now: &Utility) -> Option<BestRate> {
    let measure = now.measures().first().copied();
    let rate = optimal_rate(training, measure)?;
    let best = at(&with_rate(training, rate)).ok()?;
    let best = best.best_of(measure.or_else(|| Some(Setting::of(training).ok()?.measure))?)?;
    (!best.is_of_any_point()).then_some(BestRate { rate, id: best.id, value: best.value })
}

fn with_rate(training: &Training, rate: Positive) -> Training {
    Training { learning_rate: Some(LearningRate::Constant(rate)), ..training.clone() }
}

/// The constant rate that minimises the bound on a measure, if the noise of gradients does not depend on it.
///
/// With m iterates averaged, (D²/η + η·B)/(2m) with B = (m−1)·G² + L² is least at η = D/√B. The bound on the last
/// iterate is least over η, for a given m, at D/√(m·(G²·H_{m−1} + L²)), where it falls with m from m = 2 on. A pass is a
/// step of as many times the rate as it has steps.
pub(super) fn optimal_rate(training: &Training, measure: Option<Measure>) -> Option<Positive> {
    if !matches!(training.noise, Noise::Multiplier(_) | Noise::Gradient(_)) {
        return None;
    }
    // G² does not depend on the rate.
    let setting = Setting::of(&with_rate(training, Positive::new(1.0).ok()?)).ok()?;
    let total = setting.passes.unwrap_or_else(|| setting.private.saturating_add(training.public_steps));
    let times = random_times(training, setting.private).ok().filter(|_| setting.passes.is_none());
    let (count, harmonic) = match (measure.unwrap_or(setting.measure), times) {
        (Measure::AverageRegret, _) => (total, None),
        (_, Some(times)) => (times.end() - times.start() + 1, None),
        (_, None) => (total.saturating_add(1), Some(sums::harmonic(total).midpoint())),
    };
    let moment = setting.descent.ok()?.second_moment()?;
    let square = setting.ground.lipschitz().square().midpoint();
    let size = match harmonic {
        Some(harmonic) => count as f64 * (moment * harmonic + square),
        None => (count - 1) as f64 * moment + square,
    };
    let steps = setting.passes.map_or(1.0, |_| training.batches_in_a_pass() as f64);
    let rate = (setting.ground.diameter.get() / size.sqrt() / steps).min(training.largest_rate());
    Positive::new(rate).ok()
}
