//! The analyses: from a run to a privacy profile, each by its own theorem.

use super::composition::{self, Effort, Outcome};
use super::worst::WorstProfile;
use crate::NotApplicable;
use crate::analysis::{self, Analysis, Bound};
use crate::lower::{Composed, Released};
use crate::profile::PrivacyProfile;
use crate::run::{Assumption, Run};
use rayon::prelude::*;
use std::sync::Arc;

/// What one theorem says about a run.
pub struct Analysed {
    /// Its name, by which [`crate::statement::find`] knows the theorem.
    pub id: &'static str,
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

/// Those that count every iterate as published.
const COMPOSITIONS: [&str; 3] = ["composition", "composition-renyi", "composition-gdp"];

/// The names of all analyses, in the order of reports.
pub fn analysis_ids() -> impl Iterator<Item = &'static str> {
    COMPOSITIONS.into_iter().chain(analysis::ALL.iter().map(|analysis| analysis.id()))
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
    let compositions = COMPOSITIONS.into_iter().filter(|id| options.wants(id)).map(|id| Analysed {
        id,
        rigorous: id != "composition-gdp",
        profile: composed
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|composed| composition(id, composed, effort)),
        assumptions: composed.as_ref().map(|composed| composed.assumptions.clone()).unwrap_or_default(),
    });
    let hidden =
        analysis::ALL.iter().filter(|analysis| options.wants(analysis.id())).map(|analysis| Analysed {
            id: analysis.id(),
            rigorous: true,
            profile: match &released {
                Ok(released) => over_records(*analysis, released, run, options.tolerance),
                Err(reason) => Err(reason.clone()),
            },
            assumptions: released.as_ref().map_or_else(
                |_| Vec::new(),
                |released| {
                    let further = analysis.further_assumption();
                    released.assumptions.iter().cloned().chain(further).collect()
                },
            ),
        });
    compositions.chain(hidden).collect()
}

fn composition(id: &str, composed: &Composed, effort: Effort) -> Outcome {
    match id {
        "composition" => composition::exact(composed, effort),
        "composition-renyi" => composition::renyi(composed),
        _ => composition::central_limit(composed),
    }
}

/// The worst over the records. Several tasks may use a record at different places, so the worst place is taken in
/// each.
fn over_records(analysis: &dyn Analysis, released: &Released, run: &Run, tolerance: f64) -> Outcome {
    let mut bounds =
        released.views.par_iter().map(|view| analysis.apply(view)).collect::<Result<Vec<_>, _>>()?;
    let worst = if bounds.len() == 1 {
        bounds.remove(0)
    } else {
        let profiles = bounds.into_iter().map(Bound::into_profile).collect();
        Bound::Profile(Arc::new(WorstProfile::new(profiles)))
    };
    Ok(worst.composed(run.tasks(), run.evaluations(), tolerance)?.into_profile())
}
