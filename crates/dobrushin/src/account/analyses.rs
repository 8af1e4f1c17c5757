//! The analyses: from a run to a privacy profile, each by its own theorem.

use super::worst::WorstProfile;
use crate::NotApplicable;
use crate::analysis::{self, Bound, Effort, Family, HiddenStates, Theorem};
use crate::lower::Released;
use crate::profile::PrivacyProfile;
use crate::run::{Assumption, Run};
use rayon::prelude::*;
use std::sync::Arc;

/// What one theorem says about a run.
#[non_exhaustive]
pub struct Analysed {
    /// Its name, by which [`crate::statement::find`] knows the theorem.
    pub id: &'static str,
    /// The idea that it rests on.
    pub family: Family,
    /// Whether its profile is a bound; an approximation is never a guarantee.
    pub rigorous: bool,
    /// The profile, or why there is none.
    pub profile: Result<Arc<dyn PrivacyProfile>, NotApplicable>,
    /// What must hold of the run.
    pub assumptions: Vec<Assumption>,
}

/// How wide the enclosures of ε are, relatively, if nothing else is asked for.
pub const DEFAULT_TOLERANCE: f64 = 3e-5;

/// The analyses to apply, and how exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How wide the enclosures of ε may be, relatively, where they are computed on grids.
    pub tolerance: f64,
    /// The names of the analyses; none: all.
    pub only: Vec<&'static str>,
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: DEFAULT_TOLERANCE, only: Vec::new() }
    }
}

impl Options {
    pub(super) fn wants(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.contains(&id)
    }
}

/// The names of all analyses, in the order of reports.
pub fn analysis_ids() -> impl Iterator<Item = &'static str> {
    analysis::ALL.iter().map(|theorem| theorem.id())
}

/// Every analysis of a run.
pub fn analyses(run: &Run, options: &Options) -> Vec<Analysed> {
    all(run, options, Effort::Once(options.tolerance))
}

/// Every analysis of a run, to be asked at hundreds of places: enclosures of ε are about 1e-3
/// wide, relatively.
pub fn analyses_for_curves(run: &Run, options: &Options) -> Vec<Analysed> {
    all(run, options, Effort::ManyPlaces)
}

fn all(run: &Run, options: &Options, effort: Effort) -> Vec<Analysed> {
    let composed = run.composition();
    let released = run.released();
    let wanted = analysis::ALL.iter().filter(|theorem| options.wants(theorem.id()));
    let analysed = wanted.map(|theorem| {
        let (bound, assumptions) = match *theorem {
            Theorem::EveryStep(theorem) => match &composed {
                Ok(composed) => (theorem.apply(&composed.parts, effort), composed.assumptions.clone()),
                Err(reason) => (Err(reason.clone()), Vec::new()),
            },
            Theorem::HiddenStates(theorem) => match &released {
                Ok(released) => {
                    let further = theorem.further_assumption();
                    let assumptions = released.assumptions.iter().cloned().chain(further).collect();
                    (over_records(theorem, released, run, options.tolerance), assumptions)
                }
                Err(reason) => (Err(reason.clone()), Vec::new()),
            },
        };
        Analysed {
            id: theorem.id(),
            family: theorem.family(),
            rigorous: theorem.is_rigorous(),
            profile: bound.map(Bound::into_profile),
            assumptions,
        }
    });
    analysed.collect()
}

/// The worst over the records. Several tasks may use a record at different places, so the worst place is taken in
/// each.
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
