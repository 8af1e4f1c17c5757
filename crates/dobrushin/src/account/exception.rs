//! How much of δ is set aside for batches of unusual size.

use super::analyses::{Options, analyses};
use super::question::{Basis, Entry, Question};
use super::target::Target;
use crate::Probability;
use crate::analysis::{self, Analysis, Bound, Effort, EveryStep, ExactComposition, Family};
use crate::profile::PrivacyProfile;
use crate::run::Run;
use rayon::prelude::*;
use std::sync::Arc;

/// The share of δ. It moves ε by far less than the width of a printed digit, and what is ordinary depends on it only
/// through its logarithm.
const SHARE: f64 = 1.0 / 1024.0;
/// The probability where δ is not known in advance.
const TINY: f64 = 1e-100;

pub(super) fn share_of(delta: f64) -> Probability {
    Probability::new(delta * SHARE).unwrap_or(Probability::ZERO)
}

impl Target {
    /// The probability that is set aside when this is the target.
    pub(super) fn exception(self) -> Probability {
        match self {
            Self::Privacy { delta, .. } => share_of(delta.get()),
            Self::Advantage(rate) => share_of(rate.get()),
            Self::TruePositiveRate { at, .. } => share_of(at.get()),
        }
    }
}

/// The profile of all steps, on a coarser grid than that of the answer: a few more places cost next to nothing.
fn rough(run: &Run) -> Option<Arc<dyn PrivacyProfile>> {
    /// The relative width of enclosures of ε.
    const TOLERANCE: f64 = 1e-3;
    let steps = run.composition().ok()?.parts;
    ExactComposition.apply(&steps, Effort::Once(TOLERANCE)).ok().map(Bound::into_profile)
}

/// The answers of all analyses, and the probability that was set aside in them.
///
/// If δ is asked for, a first round sets aside next to nothing, and a second one a share of the smallest δ of the
/// first. Each analysis gives the smaller of its two answers.
pub(super) fn entries(run: &Run, question: Question, options: &Options) -> (Vec<Entry>, Probability) {
    let ask = |exception: Probability, only: Vec<&'static str>| {
        let options = Options { only, exception, ..options.clone() };
        // Each is applied, and then its profile is asked: some bounds are computed only then.
        options.progress.expect(2 * options.theorems().count() as u64);
        let answered = analyses(run, &options).into_par_iter().map(|analysed| {
            let outcome = analysed.profile.as_ref().map(|profile| question.ask(profile.as_ref()));
            let outcome = outcome.map_err(Clone::clone);
            options.progress.advance(1);
            Entry {
                id: analysed.id,
                family: analysed.family,
                rigorous: analysed.rigorous,
                outcome,
                assumptions: analysed.assumptions,
                basis: Basis(if analysed.id == ExactComposition.id() {
                    rough(run)
                } else {
                    analysed.profile.ok()
                }),
            }
        });
        answered.collect::<Vec<_>>()
    };
    if let Question::EpsilonAt(delta) = question {
        let exception = share_of(delta.get());
        return (ask(exception, options.only.clone()), exception);
    }
    let tiny = Probability::new(TINY).unwrap_or(Probability::ZERO);
    let mut entries = ask(tiny, options.only.clone());
    let sets_aside = run
        .released_except(tiny)
        .is_ok_and(|released| released.exception.upper() > 0.0 || released.recent.is_some());
    let answers =
        entries.iter().filter(|entry| entry.rigorous).filter_map(|entry| entry.outcome.as_ref().ok());
    let least = answers.map(|answer| answer.value.upper()).fold(1.0, f64::min);
    if !sets_aside || least * SHARE <= TINY {
        return (entries, tiny);
    }
    let hidden = analysis::ALL.iter().filter(|theorem| theorem.family() != Family::Composition);
    let hidden = hidden.map(|theorem| theorem.id()).filter(|id| options.wants(id)).collect::<Vec<_>>();
    if hidden.is_empty() {
        return (entries, tiny);
    }
    let upper = |entry: &Entry| entry.outcome.as_ref().map_or(f64::INFINITY, |answer| answer.value.upper());
    for second in ask(share_of(least), hidden) {
        if let Some(first) = entries.iter_mut().find(|first| first.id == second.id)
            && upper(&second) < upper(first)
        {
            *first = second;
        }
    }
    (entries, share_of(least))
}
