//! The analyses: each derives a privacy profile from a run by its own theorem.

use super::bounds::{Care, bounds};
use super::tasks::bounds_of_tasks;
use crate::analysis::{self, Bound, Effort, Family, Theorem};
use crate::profile::{PrivacyProfile, RenyiCurve};
use crate::run::{Assumption, NoiseKind, Run};
use crate::{NotApplicable, Probability, Progress};
use std::sync::Arc;

/// What one theorem says about a run.
///
/// ```
/// use dobrushin::account::{Options, analyses};
/// use dobrushin::{Epsilon, PrivacyProfile, Run};
///
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let options = Options { only: vec!["composition"], ..Options::default() };
/// for analysed in analyses(&run, &options) {
///     // A profile answers for every ε; δ decreases as ε grows.
///     let profile = analysed.profile?;
///     assert!(profile.delta(Epsilon::new(2.0)?).upper() < profile.delta(Epsilon::new(1.0)?).lower());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[non_exhaustive]
pub struct Analysed {
    /// Its name, by which [`crate::statement::find`] finds the theorem.
    pub id: &'static str,
    /// The idea behind it.
    pub family: Family,
    /// Whether its profile is a bound; an approximation is never a guarantee.
    pub rigorous: bool,
    /// The profile, or why there is none.
    pub profile: Result<Arc<dyn PrivacyProfile>, NotApplicable>,
    /// A bound on Rényi divergences, if the theorem has one.
    pub renyi: Option<Arc<dyn RenyiCurve>>,
    /// What must hold for the run.
    pub assumptions: Vec<Assumption>,
}

/// The relative width of the enclosures of ε, by default.
pub const DEFAULT_TOLERANCE: f64 = 3e-5;

/// Which analyses are applied, and how precisely they compute.
///
/// ```
/// use dobrushin::{Delta, Options, Question, Run};
///
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let question = Question::EpsilonAt(Delta::new(1e-5)?);
/// let options = Options { only: vec!["composition", "composition-renyi"], ..Options::default() };
/// let account = run.account_by(question, &options);
/// assert_eq!(account.entries.len(), 2);
/// // Adding up the losses themselves is never worse than adding up Rényi divergences.
/// let epsilon = |id| account.answer(id).map(|answer| answer.value.upper());
/// assert!(epsilon("composition") < epsilon("composition-renyi"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The largest relative width of enclosures of ε that are computed on grids.
    pub tolerance: f64,
    /// The names of the analyses; if empty, all of them.
    pub only: Vec<&'static str>,
    /// The probability of exceptions that is set aside in every δ of a hidden-state analysis (see
    /// [`Run::released_except`]). An account chooses it by its question.
    pub exception: Probability,
    /// Counts what is done of an account: its analyses, changes that are tried out, or records. Nothing depends on it.
    pub progress: Progress,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: DEFAULT_TOLERANCE,
            only: Vec::new(),
            exception: Probability::ZERO,
            progress: Progress::default(),
        }
    }
}

impl Options {
    pub(super) fn wants(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.contains(&id)
    }

    /// The same, for a part of the work that is counted as one.
    pub(super) fn unwatched(&self) -> Self {
        Self { progress: Progress::default(), ..self.clone() }
    }

    /// The theorems that are asked, in the order of reports.
    pub(super) fn theorems(&self) -> impl Iterator<Item = Theorem> {
        analysis::ALL.iter().filter(|theorem| self.wants(theorem.id())).copied()
    }

    /// The same, but if all analyses are asked, only those that suit each of thousands of records.
    pub(super) fn for_each_record(&self, noise: NoiseKind) -> Self {
        // The records are counted, and not what is asked of each.
        let mut options = self.unwatched();
        if options.only.is_empty() {
            let suited = analysis::ALL.iter().filter(|theorem| theorem.suits_each_record_with(noise));
            options.only = suited.map(|theorem| theorem.id()).collect();
        }
        options
    }
}

/// The names of all analyses, in the order of reports.
///
/// ```
/// use dobrushin::{account, statement};
///
/// // Each of them is explained by the statement of the same name.
/// assert!(account::analysis_ids().all(|id| statement::find(id).is_some()));
/// assert_eq!(account::analysis_ids().next(), Some("composition"));
/// ```
pub fn analysis_ids() -> impl Iterator<Item = &'static str> {
    analysis::ALL.iter().map(|theorem| theorem.id())
}

/// Every analysis of a run.
///
/// ```
/// use dobrushin::Run;
/// use dobrushin::account::{Options, analyses, analysis_ids};
///
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let analysed = analyses(&run, &Options::default());
/// assert!(analysed.iter().map(|analysed| analysed.id).eq(analysis_ids()));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
pub fn analyses(run: &Run, options: &Options) -> Vec<Analysed> {
    all(run, options, Effort::Once(options.tolerance))
}

/// Every analysis of a run, for callers that ask hundreds of questions: enclosures of ε have a relative width of about
/// 1e-3.
///
/// ```
/// use dobrushin::account::{Options, analyses_for_curves};
/// use dobrushin::{Epsilon, PrivacyProfile, Run};
///
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let options = Options { only: vec!["composition"], ..Options::default() };
/// for analysed in analyses_for_curves(&run, &options) {
///     let profile = analysed.profile?;
///     let curve = (0..100).map(|i| Ok(profile.delta(Epsilon::new(f64::from(i) / 20.0)?).upper()));
///     assert!(curve.collect::<Result<Vec<f64>, dobrushin::Error>>()?.is_sorted_by(|a, b| a > b));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn analyses_for_curves(run: &Run, options: &Options) -> Vec<Analysed> {
    all(run, options, Effort::ManyPlaces)
}

fn all(run: &Run, options: &Options, effort: Effort) -> Vec<Analysed> {
    let care = Care { tolerance: options.tolerance, exception: options.exception, effort };
    // The next theorem is taken when the one before it has been applied.
    let theorems = options.theorems().inspect(|_| options.progress.advance(1));
    let said = match run.as_tasks() {
        Some(tasks) => bounds_of_tasks(run, tasks, theorems, care),
        None => bounds(run, theorems, care),
    };
    let analysed = said.into_iter().map(|said| Analysed {
        id: said.theorem.id(),
        family: said.theorem.family(),
        rigorous: said.theorem.is_rigorous(),
        profile: said.bound.map(Bound::into_profile),
        renyi: said.renyi,
        assumptions: said.assumptions,
    });
    analysed.collect()
}
