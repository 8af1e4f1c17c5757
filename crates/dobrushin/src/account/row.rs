//! Answers for consecutive places of records.

use super::analyses::Analysed;
use super::question::{Answer, Question};
use crate::{Enclosure, Epsilon};

/// Consecutive records share an answer if the best and the worst of them differ by no more than this, relatively.
pub(super) const SHARED: f64 = 1e-3;
/// Below this value, answers are treated as equal.
pub(super) const NEGLIGIBLE: f64 = 1e-12;
/// The best answer, and the analysis that gives it.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub answer: Option<Answer>,
    pub analysis: &'static str,
}

impl Asked {
    pub const NOTHING: Self = Self { answer: None, analysis: "" };

    pub fn upper(&self) -> f64 {
        self.answer.map_or(f64::INFINITY, |answer| answer.value.upper())
    }

    /// Whether the answers are close enough to be merged.
    pub fn is_like(&self, other: &Self) -> bool {
        let (a, b) = (self.upper(), other.upper());
        a == b || (a - b).abs() <= SHARED * a.min(b) || a.max(b) < NEGLIGIBLE
    }
}

/// The answer for some places.
pub(super) struct Row {
    pub from: u64,
    pub to: u64,
    pub asked: Asked,
}

/// The best answer. An analysis is asked only if it may beat the best answer so far.
pub(super) fn best(analyses: Vec<Analysed>, question: Question) -> Asked {
    let mut best = Asked::NOTHING;
    for analysed in analyses.into_iter().filter(|analysed| analysed.rigorous) {
        let Ok(profile) = analysed.profile else {
            continue;
        };
        let beats = match (question, best.answer) {
            (Question::EpsilonAt(delta), Some(so_far)) => Epsilon::new(so_far.value.upper() * (1.0 - SHARED))
                .is_ok_and(|epsilon| profile.delta(epsilon).upper() <= delta.get()),
            _ => true,
        };
        if !beats {
            continue;
        }
        let answer = question.ask(profile.as_ref());
        if best.answer.is_none_or(|so_far| answer.value.upper() < so_far.value.upper()) {
            best = Asked { answer: Some(answer), analysis: analysed.id };
        }
    }
    best
}

/// The answer at the worse end of a range, which holds on all of it, extended down to the lower end of the better one.
pub(super) fn spanning(first: Asked, last: Asked) -> Asked {
    let (worst, best) = if first.upper() >= last.upper() { (first, last) } else { (last, first) };
    let join = |worst: Enclosure, best: Enclosure| {
        Enclosure::new(worst.lower().min(best.lower()), worst.upper()).unwrap_or(worst)
    };
    let answer = worst.answer.zip(best.answer).map(|(worst, best)| Answer {
        value: join(worst.value, best.value),
        log_delta: worst.log_delta.zip(best.log_delta).map(|(worst, best)| join(worst, best)),
    });
    Asked { answer: answer.or(worst.answer), ..worst }
}
