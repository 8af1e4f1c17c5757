//! One question, answered by every analysis.

use super::analyses::Options;
use super::large_delta::large_delta;
use super::meaning::Meaning;
use super::{exception, explanation};
use crate::analysis::{Bound, Effort, EveryStep, ExactComposition, Family};
use crate::lower::ComposedPart;
use crate::numeric::decimal::{briefly, plain};
use crate::profile::PrivacyProfile;
use crate::run::{Assumption, Run, Training};
use crate::{Delta, Enclosure, Epsilon, Neighbours, NotApplicable, Probability};
use std::fmt;
use std::sync::Arc;

/// A question about a run.
///
/// ```
/// use dobrushin::account::Question;
/// use dobrushin::profile::GaussianProfile;
/// use dobrushin::{Delta, Epsilon, NonNegative};
///
/// let profile = GaussianProfile::new(NonNegative::new(1.0)?);
/// let epsilon = Question::EpsilonAt(Delta::new(1e-5)?).ask(&profile).value.upper();
/// let delta = Question::DeltaAt(Epsilon::new(epsilon)?).ask(&profile).value.upper();
/// assert!(4.37 < epsilon && epsilon < 4.38 && delta <= 1e-5);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// The smallest ε for this δ.
    EpsilonAt(Delta),
    /// The smallest δ for this ε.
    DeltaAt(Epsilon),
}

/// The answer of a profile.
///
/// ```
/// use dobrushin::profile::GaussianProfile;
/// use dobrushin::{Epsilon, NonNegative, Question};
///
/// // At ε = 100 the δ of 1-GDP underflows, and its logarithm does not: it is below −a²/2 with a = 99.5.
/// let answer = Question::DeltaAt(Epsilon::new(100.0)?).ask(&GaussianProfile::new(NonNegative::new(1.0)?));
/// assert!(answer.value.upper() < 1e-300);
/// assert!(answer.log_delta.is_some_and(|ln_delta| ln_delta.upper() < -99.5_f64.powi(2) / 2.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// ε or δ, whichever was asked for.
    pub value: Enclosure,
    /// ln δ, if δ was asked for; unlike δ, it does not underflow.
    pub log_delta: Option<Enclosure>,
}

impl Question {
    /// Asks a profile.
    pub fn ask(self, profile: &dyn PrivacyProfile) -> Answer {
        match self {
            Self::EpsilonAt(delta) => Answer { value: profile.epsilon(delta), log_delta: None },
            Self::DeltaAt(epsilon) => {
                Answer { value: profile.delta(epsilon), log_delta: Some(profile.log_delta(epsilon)) }
            }
        }
    }
}

/// The answer of one analysis.
///
/// ```
/// use dobrushin::analysis::Family;
/// use dobrushin::{Delta, Question, Run};
///
/// // Every iterate is published, so that only the compositions have an answer; the others say what is in the way.
/// let run = Run::gradient_descent(100).steps(10).learning_rate(0.1).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let account = run.account(Question::EpsilonAt(Delta::new(1e-5)?));
/// for entry in &account.entries {
///     assert_eq!(entry.outcome.is_ok(), entry.family == Family::Composition, "{}", entry.id);
/// }
/// // The central limit theorem is an approximation, and never the guarantee.
/// assert!(account.entries.iter().all(|entry| entry.rigorous == (entry.id != "composition-gdp")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The analysis.
    pub id: &'static str,
    /// The idea behind it.
    pub family: Family,
    /// Whether the upper end is a guarantee.
    pub rigorous: bool,
    /// The answer, or why there is none.
    pub outcome: Result<Answer, NotApplicable>,
    /// What must hold for it.
    pub assumptions: Vec<Assumption>,
    /// What can be asked further.
    pub(super) basis: Basis,
}

/// What can be asked further about a run.
#[derive(Clone)]
pub(super) enum Basis {
    /// Nothing: there is no answer.
    Nothing,
    /// The profile of the answer.
    Profile(Arc<dyn PrivacyProfile>),
    /// The steps that were composed for it.
    Steps(Vec<ComposedPart>),
}

impl Basis {
    /// A profile that a few more places cost next to nothing; losses are composed on a coarser grid than for the answer.
    fn profile(&self) -> Option<Arc<dyn PrivacyProfile>> {
        /// The relative width of enclosures of ε.
        const TOLERANCE: f64 = 1e-3;
        match self {
            Self::Nothing => None,
            Self::Profile(profile) => Some(Arc::clone(profile)),
            Self::Steps(steps) => {
                ExactComposition.apply(steps, Effort::Once(TOLERANCE)).ok().map(Bound::into_profile)
            }
        }
    }
}

impl fmt::Debug for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Profile(_) => "a profile",
            Self::Steps(_) => "steps",
        })
    }
}

/// The answers of all analyses, and the best of them.
///
/// ```
/// use dobrushin::run::{Fact, Obstacle};
/// use dobrushin::{Delta, Order, Question, Release, Run};
///
/// let run = Run::dp_sgd(60_000).batch_size(256).order(Order::Poisson).steps(1000).learning_rate(0.1);
/// let run = run.clip_norm(1.0).noise_multiplier(1.0).release(Release::Last).build()?;
/// let account = run.account(Question::EpsilonAt(Delta::new(1e-5)?));
/// assert_eq!(account.guarantee()?.to_string(), "(ε, δ) = (2.808, 1e-5), by composition");
///
/// // Every analysis that says nothing names the facts that it misses.
/// let contraction = account.entries.iter().find(|entry| entry.id == "contraction").ok_or("it was asked")?;
/// let obstacle = contraction.outcome.as_ref().err().map(|refused| refused.obstacle());
/// assert_eq!(obstacle, Some(Obstacle::Missing(&[Fact::Diameter])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Account {
    /// What was asked.
    pub question: Question,
    /// One answer for each analysis, in a fixed order.
    pub entries: Vec<Entry>,
    /// The probability of exceptions that was set aside in every δ (see [`Run::released_except`]).
    pub exception: Probability,
    /// Where the answer comes from, in words.
    pub explanation: Vec<String>,
    /// What could not be used, or gives nothing, and why, in words; the main concern comes first.
    pub warnings: Vec<String>,
    /// Why the guarantee, although it holds, protects nobody, in words.
    pub concern: Option<String>,
    neighbours: Option<Neighbours>,
    /// The number of records that were deleted.
    deleted: u64,
}

/// An answer that is a guarantee, with its assumptions.
///
/// ```
/// use dobrushin::{Delta, Epsilon, NonNegative, Neighbours, Question, Run, numeric::theta};
///
/// // Four steps on all records with noise multiplier 2 are as private as one with noise multiplier 1.
/// let run = Run::gradient_descent(100).steps(4).clip_norm(1.0).noise_multiplier(2.0);
/// let run = run.neighbours(Neighbours::ZeroOut).build()?;
/// let account = run.account(Question::DeltaAt(Epsilon::new(1.0)?));
/// let guarantee = account.guarantee()?;
/// let once = theta::theta(Epsilon::new(1.0)?, NonNegative::new(1.0)?);
/// assert!((guarantee.delta() / once.upper() - 1.0).abs() < 1e-12 && guarantee.epsilon() == 1.0);
/// assert!(!guarantee.assumptions.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Guarantee<'a> {
    /// The analysis that gave it.
    pub id: &'static str,
    /// The idea behind it.
    pub family: Family,
    /// What was asked.
    pub question: Question,
    /// The answer.
    pub answer: Answer,
    /// What must hold.
    pub assumptions: &'a [Assumption],
}

impl Run {
    /// What every analysis says about the run.
    pub fn account(&self, question: Question) -> Account {
        self.account_by(question, &Options::default())
    }

    /// What the chosen analyses say about the run, or all of them with another tolerance.
    pub fn account_by(&self, question: Question, options: &Options) -> Account {
        Account::new(self, question, options)
    }
}

impl Account {
    fn new(run: &Run, question: Question, options: &Options) -> Self {
        let (entries, exception) = exception::entries(run, question, options);
        let mut report = Self {
            question,
            entries,
            exception,
            explanation: Vec::new(),
            warnings: Vec::new(),
            concern: None,
            neighbours: run.neighbours(),
            deleted: run.as_training().map_or(0, Training::deleted_records),
        };
        (report.explanation, report.warnings) = explanation::of(run, &report);
        report.concern = report.delta().and_then(|delta| large_delta(run, delta));
        report.warnings.splice(0..0, report.concern.clone());
        report
    }

    /// The answer of one analysis.
    pub fn answer(&self, id: &str) -> Option<Answer> {
        let entry = self.entries.iter().find(|entry| entry.id == id)?;
        entry.outcome.as_ref().ok().copied()
    }

    /// The answer if everything that the run computes were published, by the first composition that answers.
    pub fn if_published(&self) -> Option<Answer> {
        let compositions = self.entries.iter().filter(|entry| entry.family == Family::Composition);
        compositions.filter(|entry| entry.rigorous).find_map(|entry| entry.outcome.as_ref().ok().copied())
    }

    /// The δ of the guarantee: the given one, or the upper end of the answer.
    fn delta(&self) -> Option<f64> {
        match self.question {
            Question::EpsilonAt(delta) => Some(delta.get()),
            Question::DeltaAt(_) => self.guarantee().ok().map(|best| best.answer.value.upper()),
        }
    }

    /// The guarantee, unless it is vacuous: everything is (∞, δ)-private, and everything is (ε, 1)-private.
    pub fn certifiable(&self) -> Option<Guarantee<'_>> {
        let says_something = |best: &Guarantee<'_>| match self.question {
            Question::EpsilonAt(delta) => delta.get() < 1.0 && best.answer.value.upper() < f64::INFINITY,
            Question::DeltaAt(_) => best.answer.value.upper() < 1.0,
        };
        self.guarantee().ok().filter(says_something)
    }

    /// What the guarantee means for one person; `None` if there is none, or one that is vacuous.
    ///
    /// It asks the profile behind the guarantee at a few more places.
    pub fn meaning(&self) -> Option<Meaning> {
        let best = self.certifiable()?;
        let (epsilon, delta) = (Epsilon::new(best.epsilon()).ok()?, Delta::new(best.delta()).ok()?);
        let entry = self.entries.iter().find(|entry| entry.id == best.id);
        let meaning = match entry.and_then(|entry| entry.basis.profile()) {
            Some(profile) => Meaning::of(profile.as_ref(), epsilon, delta),
            None => Meaning::of_point(epsilon, delta),
        };
        Some(Meaning { neighbours: self.neighbours, deleted: self.deleted, ..meaning })
    }

    /// The best rigorous answer with its analysis.
    ///
    /// # Guarantee
    /// Under the assumptions, the run is (ε, δ)-private, where the computed one of the two is the upper end of the
    /// answer.
    ///
    /// # Errors
    /// [`NotApplicable`] if no analysis applies; it says what the first of them lacks.
    pub fn guarantee(&self) -> Result<Guarantee<'_>, NotApplicable> {
        let rigorous = self.entries.iter().filter(|entry| entry.rigorous);
        let answers = rigorous.clone().filter_map(|entry| {
            let answer = *entry.outcome.as_ref().ok()?;
            let Entry { id, family, ref assumptions, .. } = *entry;
            Some(Guarantee { id, family, question: self.question, answer, assumptions })
        });
        // Where several δ underflow, their logarithms still differ.
        let height =
            |g: &Guarantee<'_>| (g.answer.value.upper(), g.answer.log_delta.map_or(0.0, Enclosure::upper));
        let best = answers.min_by(|a, b| {
            let ((a, ln_a), (b, ln_b)) = (height(a), height(b));
            a.total_cmp(&b).then(ln_a.total_cmp(&ln_b))
        });
        best.ok_or_else(|| {
            let mut reasons = rigorous.filter_map(|entry| entry.outcome.as_ref().err());
            reasons.next().cloned().unwrap_or_else(|| NotApplicable::beyond("no analysis was asked"))
        })
    }
}

impl Guarantee<'_> {
    /// ε, rounded up, whether it was computed or given.
    pub fn epsilon(&self) -> f64 {
        match self.question {
            Question::EpsilonAt(_) => self.answer.value.upper(),
            Question::DeltaAt(epsilon) => epsilon.get(),
        }
    }

    /// δ, rounded up, whether it was computed or given.
    pub fn delta(&self) -> f64 {
        match self.question {
            Question::EpsilonAt(delta) => delta.get(),
            Question::DeltaAt(_) => self.answer.value.upper(),
        }
    }
}

/// Writes four significant digits, rounded up.
impl fmt::Display for Guarantee<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = briefly(self.answer.value);
        match self.question {
            Question::EpsilonAt(delta) => write!(f, "(ε, δ) = ({value}, {})", plain(delta.get()))?,
            Question::DeltaAt(epsilon) => write!(f, "(ε, δ) = ({}, {value})", plain(epsilon.get()))?,
        }
        write!(f, ", by {}", self.id)
    }
}
