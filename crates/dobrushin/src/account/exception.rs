//! How much of δ is set aside for batches of unusual size.

use super::analyses::{Analysed, Options, analyses};
use super::question::{Basis, Entry, Question};
use super::target::Target;
use crate::Probability;
use crate::analysis::{self, Analysis, ExactComposition, Family};
use crate::run::Run;

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

/// The answers of all analyses, and the probability that was set aside in them.
///
/// If δ is asked for, a first round sets aside next to nothing, and a second one a share of the smallest δ of the
/// first. Each analysis gives the smaller of its two answers.
pub(super) fn entries(run: &Run, question: Question, options: &Options) -> (Vec<Entry>, Probability) {
    let ask = |exception: Probability, only: Vec<&'static str>| {
        let options = Options { only, exception, ..options.clone() };
        let answered = analyses(run, &options).into_iter().map(|analysed| Entry {
            id: analysed.id,
            family: analysed.family,
            rigorous: analysed.rigorous,
            outcome: analysed
                .profile
                .as_ref()
                .map(|profile| question.ask(profile.as_ref()))
                .map_err(Clone::clone),
            assumptions: analysed.assumptions.clone(),
            basis: basis(run, analysed),
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
