//! The analyses: each derives a privacy profile from a run by its own theorem.

use super::worst::{WorstCurve, WorstProfile};
use super::worst_place::WorstPlace;
use crate::analysis::{self, Bound, Effort, Family, HiddenStates, Theorem};
use crate::lower::{RecordRanges, Released};
use crate::profile::{BestProfile, PrivacyProfile, RenyiCurve};
use crate::run::{Assumption, Run};
use crate::{Enclosure, NotApplicable, Probability};
use rayon::prelude::*;
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
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: DEFAULT_TOLERANCE, only: Vec::new(), exception: Probability::ZERO }
    }
}

impl Options {
    pub(super) fn wants(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.contains(&id)
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
    let composed = run.composition();
    let released = run.released_except(options.exception);
    let wanted = analysis::ALL.iter().filter(|theorem| options.wants(theorem.id()));
    let analysed = wanted.map(|theorem| {
        let (bound, assumptions) = match *theorem {
            Theorem::EveryStep(theorem) => match &composed {
                Ok(composed) => {
                    let bound = theorem.apply(&composed.parts, effort);
                    let bound = bound.map(|bound| (bound.renyi(), bound));
                    (bound, composed.assumptions.clone())
                }
                Err(reason) => (Err(reason.clone()), Vec::new()),
            },
            Theorem::HiddenStates(theorem) => match &released {
                Ok(released) => {
                    let (bound, mut assumptions) = over_views(theorem, released, run, options.tolerance);
                    assumptions.extend(theorem.further_assumption());
                    (bound, assumptions)
                }
                Err(reason) => (Err(reason.clone()), Vec::new()),
            },
        };
        let (renyi, profile) = match bound {
            Ok((renyi, bound)) => (renyi, Ok(bound.into_profile())),
            Err(reason) => (None, Err(reason)),
        };
        Analysed {
            id: theorem.id(),
            family: theorem.family(),
            rigorous: theorem.is_rigorous(),
            profile,
            renyi,
            assumptions,
        }
    });
    analysed.collect()
}

/// A bound, and one on Rényi divergences if there is one.
type Found = (Option<Arc<dyn RenyiCurve>>, Bound);

/// The bound by all steps or by the last ones, whichever is less, and what must hold for it; and the bound by all steps on
/// Rényi divergences, if there is one.
fn over_views(
    theorem: &'static dyn HiddenStates,
    released: &Released,
    run: &Run,
    tolerance: f64,
) -> (Result<Found, NotApplicable>, Vec<Assumption>) {
    let bound = over_records(theorem, released, run, tolerance);
    let recent =
        released.recent.as_deref().map(|recent| (over_records(theorem, recent, run, tolerance), recent));
    let Some((Ok(recent_bound), recent)) = recent else {
        return (bound, released.assumptions.clone());
    };
    let renyi = bound.as_ref().ok().and_then(|(renyi, _)| renyi.clone());
    let members = bound.into_iter().chain([recent_bound]).map(|(_, bound)| bound.into_profile()).collect();
    let best = BestProfile::new(members).map(|best| (renyi, Bound::Profile(Arc::new(best))));
    (best.map_err(NotApplicable::from), recent.assumptions.clone())
}

/// The worst over the records. Several tasks may use a record at different places, so each task takes its worst place.
fn over_records(
    theorem: &'static dyn HiddenStates,
    released: &Released,
    run: &Run,
    tolerance: f64,
) -> Result<Found, NotApplicable> {
    let mut bounds = if released.has_ranges() {
        // Views that hold for all records are replaced by those for some of them.
        let worst =
            |records: &RecordRanges| Ok(Bound::Profile(Arc::new(WorstPlace::new(theorem, records.clone())?)));
        released.ranges.iter().map(worst).collect::<Result<Vec<_>, NotApplicable>>()?
    } else {
        released.views.par_iter().map(|view| theorem.apply(view)).collect::<Result<Vec<_>, _>>()?
    };
    // What holds except with some probability bounds no Rényi divergence.
    let exception = released.exception * Enclosure::from(run.tasks());
    let composed = |bound: Bound| {
        Ok::<_, NotApplicable>(bound.composed(run.tasks(), run.evaluations(), tolerance)?.except(exception))
    };
    if bounds.len() == 1 {
        let bound = composed(bounds.remove(0))?;
        return Ok((bound.renyi(), bound));
    }
    let curves: Option<Vec<_>> = bounds.iter().map(Bound::renyi).collect();
    let curve = curves.map(|curves| composed(Bound::Renyi(Arc::new(WorstCurve::new(curves))))).transpose()?;
    let profiles = bounds.into_iter().map(Bound::into_profile).collect();
    let worst = composed(Bound::Profile(Arc::new(WorstProfile::new(profiles))))?;
    Ok((curve.and_then(|curve| curve.renyi()), worst))
}
