//! What each theorem says about one run.

use super::worst::WorstProfile;
use super::worst_place::WorstPlace;
use crate::analysis::{Bound, Effort, HiddenStates, Theorem};
use crate::lower::{RecordRanges, Released};
use crate::profile::BestProfile;
use crate::run::{Assumption, Run};
use crate::{Enclosure, NotApplicable, Probability};
use rayon::prelude::*;
use std::sync::Arc;

/// The bound of a theorem, or why it says nothing.
pub(super) struct Said {
    pub theorem: Theorem,
    pub bound: Result<Bound, NotApplicable>,
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
    let Care { tolerance, exception, effort } = care;
    let composed = run.composition();
    let released = run.released_except(exception);
    let said = theorems.map(|theorem| {
        let (bound, assumptions) = match theorem {
            Theorem::EveryStep(theorem) => match &composed {
                Ok(composed) => (theorem.apply(&composed.parts, effort), composed.assumptions.clone()),
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
        Said { theorem, bound, assumptions }
    });
    said.collect()
}

/// The bound by all steps or by the last ones, whichever is less, and what must hold for it.
fn over_views(
    theorem: &'static dyn HiddenStates,
    released: &Released,
    run: &Run,
    tolerance: f64,
) -> (Result<Bound, NotApplicable>, Vec<Assumption>) {
    let bound = over_records(theorem, released, run, tolerance);
    let recent =
        released.recent.as_deref().map(|recent| (over_records(theorem, recent, run, tolerance), recent));
    let Some((Ok(recent_bound), recent)) = recent else {
        return (bound, released.assumptions.clone());
    };
    let members = bound.into_iter().chain([recent_bound]).map(Bound::into_profile).collect();
    let best = BestProfile::new(members).map(|best| Bound::Profile(Arc::new(best)));
    (best.map_err(NotApplicable::from), recent.assumptions.clone())
}

/// The worst over the records. Several tasks may use a record at different places, so each task takes its worst place.
fn over_records(
    theorem: &'static dyn HiddenStates,
    released: &Released,
    run: &Run,
    tolerance: f64,
) -> Result<Bound, NotApplicable> {
    let mut bounds = if released.has_ranges() {
        // Views that hold for all records are replaced by those for some of them.
        let worst =
            |records: &RecordRanges| Ok(Bound::Profile(Arc::new(WorstPlace::new(theorem, records.clone())?)));
        released.ranges.iter().map(worst).collect::<Result<Vec<_>, NotApplicable>>()?
    } else {
        released.views.par_iter().map(|view| theorem.apply(view)).collect::<Result<Vec<_>, _>>()?
    };
    let worst = if bounds.len() == 1 {
        bounds.remove(0)
    } else {
        let profiles = bounds.into_iter().map(Bound::into_profile).collect();
        Bound::Profile(Arc::new(WorstProfile::new(profiles)))
    };
    let exception = released.exception * Enclosure::from(run.tasks());
    Ok(worst.composed(run.tasks(), run.evaluations(), tolerance)?.except(exception))
}
