//! The protection of records that are used once each, in steps that differ: one answer for each range of them.

use super::analyses::{Options, analyses};
use super::question::{Answer, Question};
use super::rows::{Asked, NEGLIGIBLE, Row, best, spanning};
use super::worst_place::{Range, epsilon_near, halves};
use crate::analysis::{HiddenStates, Theorem};
use crate::lower::RecordRanges;
use crate::profile::PrivacyProfile;
use crate::run::Run;
use crate::{Enclosure, Epsilon, Progress};
use rayon::prelude::*;
use std::sync::Arc;

/// The best answer of the rigorous analyses of a run.
pub(super) fn best_of(run: &Run, options: &Options, question: Question) -> Asked {
    let analysed = analyses(run, options).into_iter().filter(|analysed| analysed.rigorous);
    let profiles = analysed.filter_map(|analysed| Some((analysed.id, analysed.profile.ok()?)));
    best(profiles, question)
}

/// Consecutive records that are used once each, in different steps, share an answer if the worst of them is known to
/// differ by no more than this from the first and the last, relatively.
const SHARED_BY_A_RANGE: f64 = 1e-2;
/// How near an answer is to the best bound that is known, relatively.
const NEAR: f64 = 1e-3;
/// A range of less than this share of its places is not halved, however much its records differ.
const NARROWEST: u64 = 512;
/// At first, the last place of a range is at most this many times the first.
const WIDEST: f64 = 1.25;

/// The answers for ranges of places with different steps: what holds for a range holds for each of its places.
pub(super) fn by_ranges(
    run: &Run,
    records: &RecordRanges,
    question: Question,
    options: &Options,
    progress: &Progress,
) -> Vec<Row> {
    let wanted: Vec<Theorem> = options.theorems().filter(|theorem| theorem.is_rigorous()).collect();
    let composed = Options {
        only: wanted
            .iter()
            .filter(|theorem| matches!(theorem, Theorem::EveryStep(_)))
            .map(|theorem| theorem.id())
            .collect(),
        ..options.clone()
    };
    // What everybody sees is the same for every record.
    let all = if composed.only.is_empty() { Asked::NOTHING } else { best_of(run, &composed, question) };
    let hidden: Vec<&'static dyn HiddenStates> = wanted
        .into_iter()
        .filter_map(|theorem| match theorem {
            Theorem::HiddenStates(theorem) => Some(theorem),
            Theorem::EveryStep(_) => None,
        })
        .collect();
    let ranges = Ranges { run, records, question, hidden, all, tolerance: options.tolerance, progress };
    let mut first = Vec::new();
    let mut from = 1;
    while from <= records.places() {
        let to = ((from as f64 * WIDEST) as u64).clamp(from, records.places());
        first.push((from, to));
        from = to + 1;
    }
    // The answers are similar, so that one of them is a guess of the others.
    let guess = first.get(first.len() / 2).map_or(f64::NAN, |&range| ranges.ask(range, all.upper()).upper());
    let found: Vec<Row> = first.into_par_iter().flat_map_iter(|range| ranges.rows(range, guess)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for row in found {
        match rows.last_mut() {
            Some(last) if last.asked.is_like(&row.asked) => {
                *last = Row { from: last.from, to: row.to, asked: spanning(last.asked, row.asked) };
            }
            _ => rows.push(row),
        }
    }
    rows
}

/// The places of a run with different steps, and what is asked of them.
struct Ranges<'a> {
    run: &'a Run,
    records: &'a RecordRanges,
    question: Question,
    hidden: Vec<&'static dyn HiddenStates>,
    /// What holds for every record.
    all: Asked,
    tolerance: f64,
    progress: &'a Progress,
}

impl Ranges<'_> {
    /// A range in rows, each with an answer near to that of its ends.
    fn rows(&self, range: Range, guess: f64) -> Vec<Row> {
        let asked = self.ask(range, guess);
        let (from, to) = range;
        let is_narrow = to - from <= from / NARROWEST;
        let is_settled = asked.upper() < NEGLIGIBLE || asked.upper() == f64::INFINITY;
        if is_narrow || is_settled || [from, to].iter().all(|&end| self.is_near(end, &asked)) {
            self.progress.advance(to - from + 1);
            return vec![Row { from, to, asked }];
        }
        let guess = asked.upper();
        let halves = halves(range);
        let (first, last) = rayon::join(|| self.rows(halves[0], guess), || self.rows(halves[1], guess));
        first.into_iter().chain(last).collect()
    }

    fn profiles(&self, (from, to): Range) -> Vec<(&'static str, Arc<dyn PrivacyProfile>)> {
        let Ok(view) = self.records.view(from, to) else {
            return Vec::new();
        };
        let of = |theorem: &&'static dyn HiddenStates| {
            let bound = theorem.apply(&view).ok()?;
            let bound = bound.composed(self.run.tasks(), self.run.sums_beside(), self.tolerance).ok()?;
            Some((theorem.id(), bound.into_profile()))
        };
        self.hidden.iter().filter_map(of).collect()
    }

    /// Whether a place has nearly this answer itself.
    fn is_near(&self, place: u64, asked: &Asked) -> bool {
        if self.all.upper() <= asked.upper() * (1.0 + SHARED_BY_A_RANGE)
            && asked.analysis == self.all.analysis
        {
            return true;
        }
        let better = asked.upper() / (1.0 + SHARED_BY_A_RANGE);
        let profiles = self.profiles((place, place));
        match self.question {
            Question::EpsilonAt(delta) => Epsilon::new(better).is_ok_and(|better| {
                profiles.iter().all(|(_, profile)| profile.delta(better).upper() > delta.get())
            }),
            Question::DeltaAt(epsilon) => {
                profiles.iter().all(|(_, profile)| profile.delta(epsilon).upper() > better)
            }
        }
    }

    /// The answer for a range.
    fn ask(&self, range: Range, guess: f64) -> Asked {
        let profiles = self.profiles(range);
        if profiles.is_empty() {
            return self.all;
        }
        let least = |epsilon: Epsilon| {
            let found = profiles.iter().map(|(id, profile)| (*id, profile.log_delta(epsilon)));
            found
                .reduce(|a, b| if b.1.upper() < a.1.upper() { b } else { a })
                .unwrap_or(("", Enclosure::ZERO))
        };
        let (analysis, answer) = match self.question {
            Question::EpsilonAt(delta) => {
                let value = epsilon_near(guess, NEAR, delta, |epsilon| least(epsilon).1);
                let analysis = Epsilon::new(value.upper()).map_or("", |epsilon| least(epsilon).0);
                (analysis, Answer { value, log_delta: None })
            }
            Question::DeltaAt(epsilon) => {
                let (analysis, ln_delta) = least(epsilon);
                let value = ln_delta.exp().min(Enclosure::ONE);
                (analysis, Answer { value, log_delta: Some(ln_delta.min(Enclosure::ZERO)) })
            }
        };
        if self.all.upper() <= answer.value.upper() {
            self.all
        } else {
            Asked { answer: Some(answer), analysis }
        }
    }
}
