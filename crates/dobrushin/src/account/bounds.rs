//! What each theorem says about one run.

use super::worst::WorstProfile;
use crate::NotApplicable;
use crate::analysis::{Bound, Effort, HiddenStates, Theorem};
use crate::lower::Released;
use crate::run::{Assumption, Run};
use rayon::prelude::*;
use std::sync::Arc;

/// The bound of a theorem, or why it says nothing.
pub(super) struct Said {
    pub theorem: Theorem,
    pub bound: Result<Bound, NotApplicable>,
    /// What must hold for the run.
    pub assumptions: Vec<Assumption>,
}

/// The bounds of these theorems on a run.
pub(super) fn bounds(
    run: &Run,
    theorems: impl Iterator<Item = Theorem>,
    tolerance: f64,
    effort: Effort,
) -> Vec<Said> {
    let composed = run.composition();
    let released = run.released();
    let said = theorems.map(|theorem| {
        let (bound, assumptions) = match theorem {
            Theorem::EveryStep(theorem) => match &composed {
                Ok(composed) => (theorem.apply(&composed.parts, effort), composed.assumptions.clone()),
                Err(reason) => (Err(reason.clone()), Vec::new()),
            },
            Theorem::HiddenStates(theorem) => match &released {
                Ok(released) => {
                    let further = theorem.further_assumption();
                    let assumptions = released.assumptions.iter().cloned().chain(further).collect();
                    (over_records(theorem, released, run, tolerance), assumptions)
                }
                Err(reason) => (Err(reason.clone()), Vec::new()),
            },
        };
        Said { theorem, bound, assumptions }
    });
    said.collect()
}

/// The worst over the records. Several tasks may use a record at different places, so each task takes its worst place.
fn over_records(
    theorem: &dyn HiddenStates,
    released: &Released,
    run: &Run,
    tolerance: f64,
) -> Result<Bound, NotApplicable> {
    let mut bounds =
        released.views.par_iter().map(|view| theorem.apply(view)).collect::<Result<Vec<_>, _>>()?;
    let worst = if bounds.len() == 1 {
        bounds.remove(0)
    } else {
        let profiles = bounds.into_iter().map(Bound::into_profile).collect();
        Bound::Profile(Arc::new(WorstProfile::new(profiles)))
    };
    worst.composed(run.tasks(), run.evaluations(), tolerance)
}
