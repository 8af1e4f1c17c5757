//! Answers at consecutive places, grouped into rows of similar answers.

use super::question::{Answer, Question};
use crate::profile::PrivacyProfile;
use crate::{Enclosure, Epsilon, Progress};
use std::sync::Arc;

/// Consecutive records share an answer if the best and the worst of them differ by no more than this, relatively.
const SHARED: f64 = 1e-3;
/// Below this value, answers are treated as equal.
pub(super) const NEGLIGIBLE: f64 = 1e-12;
/// The best answer. An analysis is asked only if it may beat the best answer so far.
pub(super) fn best(
    profiles: impl Iterator<Item = (&'static str, Arc<dyn PrivacyProfile>)>,
    question: Question,
) -> Asked {
    let mut best = Asked::NOTHING;
    for (analysis, profile) in profiles {
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
            best = Asked { answer: Some(answer), analysis };
        }
    }
    best
}

/// The best answer at a place, and the analysis that gives it.
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

/// Consecutive places with one answer, which holds for each of them.
pub(super) struct Row {
    pub from: u64,
    pub to: u64,
    pub asked: Asked,
}

type End = (u64, Asked);

/// The question that is asked at a place.
type Ask<'a, E> = &'a (dyn Fn(u64) -> Result<Asked, E> + Sync);

/// Splits a range on which protection is monotone into ranges of similar answers.
pub(super) fn range<E: Send>(
    ask: Ask<'_, E>,
    from: u64,
    to: u64,
    progress: &Progress,
) -> Result<Vec<Row>, E> {
    let first = ask(from)?;
    if from == to {
        progress.advance(1);
        return Ok(vec![Row { from, to, asked: first }]);
    }
    let last = ask(to)?;
    let mut rows = if first.upper() <= last.upper() {
        subdivided(ask, (from - 1, first), (to, last), progress)?
    } else {
        subdivided(ask, (to + 1, last), (from, first), progress)?
    };
    rows.sort_by_key(|row| row.from);
    Ok(rows)
}

/// The places after the best one, up to the worst, in ranges of similar answers. The answer given for the best place
/// may also hold for the next place.
fn subdivided<E: Send>(ask: Ask<'_, E>, best: End, worst: End, progress: &Progress) -> Result<Vec<Row>, E> {
    let (from, to) = if best.0 < worst.0 { (best.0 + 1, worst.0) } else { (worst.0, best.0 - 1) };
    if from == to || best.1.is_like(&worst.1) {
        let asked = if from == to { worst.1 } else { spanning(best.1, worst.1) };
        progress.advance(to - from + 1);
        return Ok(vec![Row { from, to, asked }]);
    }
    let middle = from.midpoint(to) + u64::from(worst.0 < best.0);
    let middle = (middle, ask(middle)?);
    let (better, worse) =
        rayon::join(|| subdivided(ask, best, middle, progress), || subdivided(ask, middle, worst, progress));
    let mut rows = better?;
    rows.extend(worse?);
    Ok(rows)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn each_place_is_in_one_row_that_holds_for_it_and_few_are_asked() {
        let curves: [fn(f64) -> f64; 4] =
            [|x| 1.0 + x, |x| 10_000.0 / (x + 1.0), |x| (x / 3000.0).exp(), |_| 2.0];
        for curve in curves {
            for (from, to) in [(1, 10_000), (5, 5), (5, 6), (100, 4321)] {
                let asked = AtomicU64::new(0);
                let ask = |place: u64| {
                    asked.fetch_add(1, Ordering::Relaxed);
                    assert!((from..=to).contains(&place), "{place}");
                    let value = Enclosure::from(curve(place as f64));
                    Ok(Asked { answer: Some(Answer { value, log_delta: None }), analysis: "shift" })
                };
                let progress = Progress::default();
                progress.add_parts(to - from + 1);
                let rows = range::<()>(&ask, from, to, &progress).expect("all are answered");
                assert_eq!(progress.share(), Some(1.0), "every place is counted once");
                let mut next = from;
                for row in &rows {
                    assert_eq!(row.from, next);
                    next = row.to + 1;
                    for place in row.from..=row.to {
                        let (found, truth) = (row.asked.upper(), curve(place as f64));
                        assert!(found >= truth && found <= truth * (1.0 + 1.001 * SHARED), "{place}");
                    }
                }
                assert_eq!(next, to + 1);
                let most = rows.len() as u64 + 16;
                assert!(
                    asked.load(Ordering::Relaxed) <= most,
                    "{} for {most}",
                    asked.load(Ordering::Relaxed)
                );
            }
        }
    }
}
