//! What each theorem says about one run.

use super::worst::{WorstCurve, WorstProfile};
use super::worst_place::WorstPlace;
use crate::analysis::{Bound, Effort, HiddenStates, Theorem};
use crate::lower::{RecordRanges, Released};
use crate::profile::{BestProfile, PrivacyProfile, RenyiCurve};
use crate::run::{Assumption, Run};
use crate::{Delta, Enclosure, NotApplicable, Probability};
use rayon::prelude::*;
use std::sync::Arc;

/// The bound of a theorem, or why it says nothing.
pub(super) struct Said {
    pub theorem: Theorem,
    pub bound: Result<Bound, NotApplicable>,
    /// Its bound on Rényi divergences, if there is one.
    pub renyi: Option<Arc<dyn RenyiCurve>>,
    /// What must hold for the run.
    pub assumptions: Vec<Assumption>,
}

/// How theorems are asked.
#[derive(Clone, Copy)]
pub(super) struct Care {
    /// The relative width of enclosures of ε that are computed on grids.
    pub tolerance: f64,
    /// The probability of exceptions that is set aside in every δ of a hidden-state analysis.
    pub exception: Probability,
    /// How many questions will be asked.
    pub effort: Effort,
}

/// The bounds of these theorems on a run.
pub(super) fn bounds(run: &Run, theorems: impl Iterator<Item = Theorem>, care: Care) -> Vec<Said> {
    let theorems: Vec<Theorem> = theorems.collect();
    let Care { tolerance, exception, effort } = care;
    let composed = run.composition();
    let released = run.released_except(exception);
    let said = theorems.into_par_iter().map(|theorem| {
        let (bound, assumptions) = match theorem {
            Theorem::EveryStep(theorem) => match &composed {
                Ok(composed) => {
                    let bound = theorem.apply(&composed.parts, effort);
                    (bound.map(|bound| (bound.renyi(), bound)), composed.assumptions.clone())
                }
                Err(reason) => (Err(reason.clone()), Vec::new()),
            },
            Theorem::HiddenStates(theorem) => match &released {
                Ok(released) => {
                    let (bound, mut assumptions) = over_views(theorem, released, run, tolerance);
                    assumptions.extend(theorem.further_assumption());
                    (bound, assumptions)
                }
                Err(reason) => (Err(reason.clone()), Vec::new()),
            },
        };
        let (renyi, bound) = match bound {
            Ok((renyi, bound)) => (renyi, Ok(bound)),
            Err(reason) => (None, Err(reason)),
        };
        Said { theorem, bound, renyi, assumptions }
    });
    said.collect()
}

/// A bound, and what it says about Rényi divergences.
type WithCurve = (Option<Arc<dyn RenyiCurve>>, Bound);

/// The bound by all steps or by the last ones, whichever is less, and what must hold for it; and the bound by all steps
/// on Rényi divergences, if there is one.
fn over_views(
    theorem: &'static dyn HiddenStates,
    released: &Released,
    run: &Run,
    tolerance: f64,
) -> (Result<WithCurve, NotApplicable>, Vec<Assumption>) {
    let bound = over_records(theorem, released, run, tolerance);
    let recent =
        released.recent.as_deref().map(|recent| (over_records(theorem, recent, run, tolerance), recent));
    let Some((Ok(recent_bound), recent)) = recent else {
        return (bound, released.assumptions.clone());
    };
    let Ok((renyi, plain)) = bound else {
        let (_, bound) = recent_bound;
        return (Ok((None, bound)), recent.assumptions.clone());
    };
    let (plain, last) = (plain.into_profile(), recent_bound.1.into_profile());
    // Usually one is better everywhere, and asking both takes long.
    let better = |delta: f64| {
        let at = |profile: &dyn PrivacyProfile| {
            Delta::new(delta).map_or(f64::INFINITY, |delta| profile.epsilon(delta).upper())
        };
        at(last.as_ref()) < at(plain.as_ref())
    };
    let members = match PROBES.map(better) {
        [false, false] => return (Ok((renyi, Bound::Profile(plain))), released.assumptions.clone()),
        [true, true] => return (Ok((renyi, Bound::Profile(last))), recent.assumptions.clone()),
        _ => vec![plain, last],
    };
    let best = BestProfile::new(members).map(|best| (renyi, Bound::Profile(Arc::new(best))));
    (best.map_err(NotApplicable::from), recent.assumptions.clone())
}

/// The δ at which two bounds on one run are compared: bounds that are computed as far as they are asked for are not
/// computed further than most questions need.
const PROBES: [f64; 2] = [1e-2, 1e-6];

/// The worst over the records. Several tasks may use a record at different places, so each task takes its worst place.
fn over_records(
    theorem: &'static dyn HiddenStates,
    released: &Released,
    run: &Run,
    tolerance: f64,
) -> Result<WithCurve, NotApplicable> {
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
        Ok::<_, NotApplicable>(bound.composed(run.tasks(), run.sums_beside(), tolerance)?.except(exception))
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
