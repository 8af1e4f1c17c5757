//! How much of δ is set aside for batches of unusual size.

use super::analyses::{Analysed, Options, analyses};
use super::question::{Basis, Entry, Question};
use super::target::Target;
use crate::Probability;
use crate::analysis::{self, Analysis, ExactComposition, Family};
use crate::run::Run;
use rayon::prelude::*;

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

/// What can be asked further about an analysis that answered.
fn basis(run: &Run, analysed: Analysed) -> Basis {
    match analysed.profile {
        Err(_) => Basis::Nothing,
        Ok(_) if analysed.id == ExactComposition.id() => {
            run.composition().map_or(Basis::Nothing, |composed| Basis::Steps(composed.parts))
        }
        Ok(profile) => Basis::Profile(profile),
    }
}

/// The most rounds in which a share of the smallest δ so far is set aside.
const MOST_ROUNDS: usize = 16;
/// Another round follows while the probability that is set aside is more than this share of the smallest δ.
const NOTICEABLE: f64 = 1.0 / 64.0;

/// The answers of all analyses, and the probability that was set aside in them.
///
/// If δ is asked for, a first round sets aside next to nothing, and each later one a share of the smallest δ so far:
/// where the first says little (any number of steps has no composition), a share of its δ may be more than the whole δ
/// of the next. Each analysis gives the smallest of its answers.
pub(super) fn entries(run: &Run, question: Question, options: &Options) -> (Vec<Entry>, Probability) {
    let ask = |exception: Probability, only: Vec<&'static str>| {
        let options = Options { only, exception, ..options.clone() };
        // Each is applied, and then its profile is asked: some bounds are computed only then.
        options.progress.add_parts(2 * options.theorems().count() as u64);
        let answered = analyses(run, &options).into_par_iter().map(|analysed| {
            let outcome = analysed.profile.as_ref().map(|profile| question.ask(profile.as_ref()));
            let outcome = outcome.map_err(Clone::clone);
            options.progress.advance(1);
            Entry {
                id: analysed.id,
                family: analysed.family,
                rigorous: analysed.rigorous,
                outcome,
                assumptions: analysed.assumptions.clone(),
                basis: basis(run, analysed),
            }
        });
        answered.collect::<Vec<_>>()
    };
    if let Question::EpsilonAt(delta) = question {
        let exception = share_of(delta.get());
        return (ask(exception, options.only.clone()), exception);
    }
    let mut exception = Probability::new(TINY).unwrap_or(Probability::ZERO);
    let mut entries = ask(exception, options.only.clone());
    let hidden = analysis::ALL.iter().filter(|theorem| theorem.family() != Family::Composition);
    let hidden = hidden.map(|theorem| theorem.id()).filter(|id| options.wants(id)).collect::<Vec<_>>();
    let sets_aside = |exception: Probability| {
        let released = run.released_except(exception);
        released.is_ok_and(|released| released.exception.upper() > 0.0 || released.recent.is_some())
    };
    let upper = |entry: &Entry| entry.outcome.as_ref().map_or(f64::INFINITY, |answer| answer.value.upper());
    for round in 0..MOST_ROUNDS {
        let least = entries.iter().filter(|entry| entry.rigorous).map(upper).fold(1.0, f64::min);
        let share = share_of(least);
        let is_enough = round > 0 && exception.get() <= least * NOTICEABLE;
        if is_enough || hidden.is_empty() || share.get() <= TINY || !sets_aside(share) {
            break;
        }
        exception = share;
        for next in ask(exception, hidden.clone()) {
            if let Some(entry) = entries.iter_mut().find(|entry| entry.id == next.id)
                && upper(&next) < upper(entry)
            {
                *entry = next;
            }
        }
    }
    (entries, exception)
}
