//! How well each record is protected: one answer for each record of a run that uses records in turn.

use super::analyses::{Analysed, Options, analyses};
use super::question::{Answer, Question};
use super::worst_place::{Range, epsilon_near, halves};
use crate::analysis::{self, HiddenStates, Theorem};
use crate::lower::RecordRanges;
use crate::profile::PrivacyProfile;
use crate::run::{Order, Release, Run, RunError, Training, missing};
use crate::{Enclosure, Epsilon, NotApplicable};
use rayon::prelude::*;
use std::sync::Arc;

/// The answer for several consecutive records, which are protected about equally.
///
/// ```
/// use dobrushin::account::protection_by_record;
/// use dobrushin::{Delta, Options, Question, Release, Run};
///
/// let run = Run::pnsgd(200).learning_rate(0.1).lipschitz(1.0).gradient_noise(2.0).release(Release::Last);
/// let run = run.convex().smoothness(1.0).build()?;
/// let options = Options { only: vec!["shift"], ..Options::default() };
/// let rows = protection_by_record(&run, Question::EpsilonAt(Delta::new(1e-5)?), &options)?;
/// // Every record is in one row, and the later it is used, the less is done to hide it.
/// assert_eq!((rows.first().map(|row| row.from), rows.last().map(|row| row.to)), (Some(1), Some(200)));
/// assert!(rows.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
/// let epsilon = |row: &dobrushin::account::Protection| row.answer.map(|answer| answer.value.upper());
/// assert!(rows.windows(2).all(|pair| epsilon(&pair[0]) < epsilon(&pair[1])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Protection {
    /// The first of these records, counted from 1.
    pub from: u64,
    /// The last of these records.
    pub to: u64,
    /// The guarantee for each of them; `None` if no analysis applies.
    pub answer: Option<Answer>,
    /// The analysis that gives it.
    pub analysis: &'static str,
}

/// Why there is no table of the protection of each record.
///
/// ```
/// use dobrushin::account::{RecordsError, protection_by_record};
/// use dobrushin::{Delta, Options, Order, Question, Run};
///
/// // Records that are drawn at random have no place by which they differ.
/// let run = Run::dp_sgd(1000).order(Order::Poisson).batch_size(10).steps(100).noise_multiplier(1.0).build()?;
/// let table = protection_by_record(&run, Question::EpsilonAt(Delta::new(1e-5)?), &Options::default());
/// assert!(matches!(table, Err(RecordsError::Run(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// Records have no fixed place.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Nothing can be said.
    #[error(transparent)]
    NotApplicable(#[from] NotApplicable),
}

/// Consecutive records share an answer if the best and the worst of them differ by no more than this, relatively.
const SHARED: f64 = 1e-3;
/// Below this value, answers are treated as equal.
const NEGLIGIBLE: f64 = 1e-12;
/// The most batches with different steps that are analysed one by one.
const MOST_DIFFERENT: u64 = 2000;

/// The answer for every record, grouped by similar protection.
///
/// # Guarantee
/// The upper end of an answer holds for each of its records, since it is that of the least private of them. With equal
/// steps, a record is less private the later its last use, as everything that follows the last use is post-processing.
/// If the iterate at a random time is released, the order is reversed.
///
/// # Errors
/// [`RecordsError`] if records have no fixed place, or if steps differ and there are too many of them.
///
/// ```
/// use dobrushin::account::protection_by_record;
/// use dobrushin::{Delta, Options, Question, Release, Run};
///
/// let run = Run::pnsgd(200).learning_rate(0.1).lipschitz(1.0).gradient_noise(2.0).release(Release::Last);
/// let run = run.convex().smoothness(1.0).build()?;
/// let question = Question::EpsilonAt(Delta::new(1e-5)?);
/// let options = Options { only: vec!["shift"], ..Options::default() };
/// let rows = protection_by_record(&run, question, &options)?;
/// // The last row is what holds for everybody.
/// let worst = run.account_by(question, &options).answer("shift");
/// assert_eq!(rows.last().and_then(|row| row.answer), worst);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn protection_by_record(
    run: &Run,
    question: Question,
    options: &Options,
) -> Result<Vec<Protection>, RecordsError> {
    let first = run.of_record(1)?;
    let Some(training) = first.as_training() else {
        return Ok(Vec::new());
    };
    // Records that fill no batch, where they are left out, get a place of their own after all batches.
    let pass = training.batches_in_a_pass();
    let places = training.place_of(training.records).max(pass);
    let mut options = options.clone();
    if options.only.is_empty() {
        let suited = analysis::ALL.iter().filter(|theorem| theorem.suits_each_record());
        options.only = suited.map(|theorem| theorem.id()).collect();
    }
    let released = run.released();
    if let Some([records]) = released.as_ref().ok().filter(|r| r.has_ranges()).map(|r| &r.ranges[..])
        && pass > MOST_DIFFERENT
    {
        let rows = by_ranges(run, records, question, &options)?;
        return Ok(rows.into_iter().map(|row| protection(training, row)).collect());
    }
    let ask = |place: u64| -> Result<Asked, RecordsError> {
        let run = run.of_record(training.first_record_of(place))?;
        Ok(best(analyses(&run, &options), question))
    };
    let rows = if training.has_equal_steps() {
        let mut rows = Vec::new();
        for (from, to) in monotone_ranges(training, pass, places) {
            rows.extend(range(&ask, from, to)?);
        }
        rows
    } else if pass <= MOST_DIFFERENT {
        let each = |place: u64| Ok(Row { from: place, to: place, asked: ask(place)? });
        (1..=places).into_par_iter().map(each).collect::<Result<Vec<Row>, RecordsError>>()?
    } else {
        return Err(missing!(
            "the steps of {pass} batches differ, and at most {MOST_DIFFERENT} are asked one by one unless each is used \
             once: ask for single records with {}",
            Record
        )
        .into());
    };
    Ok(rows.into_iter().map(|row| protection(training, row)).collect())
}

/// The records of a row of places.
fn protection(training: &Training, row: Row) -> Protection {
    Protection {
        from: training.first_record_of(row.from),
        to: (training.first_record_of(row.to + 1) - 1).min(training.records),
        answer: row.asked.answer,
        analysis: row.asked.analysis,
    }
}

/// The best answer. An analysis is asked only if it may beat the best answer so far.
fn best(analyses: Vec<Analysed>, question: Question) -> Asked {
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

/// Consecutive records that are used once each, in different steps, share an answer if the worst of them is known to
/// differ by no more than this from the first and the last, relatively.
const SHARED_BY_A_RANGE: f64 = 1e-2;
/// At first, the last place of a range is at most this many times the first.
const WIDEST: f64 = 1.25;

/// The answers for ranges of places with different steps: what holds for a range holds for each of its places.
fn by_ranges(
    run: &Run,
    records: &RecordRanges,
    question: Question,
    options: &Options,
) -> Result<Vec<Row>, RecordsError> {
    let everybody = |theorem: &&Theorem| options.only.contains(&theorem.id()) && theorem.is_rigorous();
    let wanted: Vec<&Theorem> = analysis::ALL.iter().filter(everybody).collect();
    let composed = Options {
        only: wanted
            .iter()
            .filter(|theorem| matches!(theorem, Theorem::EveryStep(_)))
            .map(|theorem| theorem.id())
            .collect(),
        ..options.clone()
    };
    // What everybody sees is the same for every record.
    let all =
        if composed.only.is_empty() { Asked::NOTHING } else { best(analyses(run, &composed), question) };
    let hidden: Vec<&'static dyn HiddenStates> = wanted
        .into_iter()
        .filter_map(|theorem| match *theorem {
            Theorem::HiddenStates(theorem) => Some(theorem),
            Theorem::EveryStep(_) => None,
        })
        .collect();
    let ranges = Ranges { run, records, question, hidden, all, tolerance: options.tolerance };
    let mut first = Vec::new();
    let mut from = 1;
    while from <= records.places() {
        let to = ((from as f64 * WIDEST) as u64).clamp(from, records.places());
        first.push((from, to));
        from = to + 1;
    }
    let mut rows: Vec<Row> = Vec::new();
    for row in first.into_par_iter().flat_map_iter(|range| ranges.rows(range, None)).collect::<Vec<_>>() {
        match rows.last_mut() {
            Some(last) if last.asked.is_like(&row.asked) => {
                *last = Row { from: last.from, to: row.to, asked: spanning(last.asked, row.asked) };
            }
            _ => rows.push(row),
        }
    }
    Ok(rows)
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
}

impl Ranges<'_> {
    /// A range in rows, each with an answer near to that of its ends.
    fn rows(&self, range: Range, guess: Option<f64>) -> Vec<Row> {
        let asked = self.ask(range, guess);
        let (from, to) = range;
        if from == to || asked.upper() < NEGLIGIBLE || [from, to].iter().all(|&end| self.is_near(end, &asked))
        {
            return vec![Row { from, to, asked }];
        }
        let guess = asked.answer.map(|answer| answer.value.upper());
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
            let bound = bound.composed(self.run.tasks(), self.run.evaluations(), self.tolerance).ok()?;
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
    fn ask(&self, range: Range, guess: Option<f64>) -> Asked {
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
                let guess = guess.unwrap_or_else(|| self.all.upper());
                let value = epsilon_near(guess, delta, |epsilon| least(epsilon).1);
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

#[derive(Clone, Copy)]
struct Asked {
    answer: Option<Answer>,
    analysis: &'static str,
}

impl Asked {
    const NOTHING: Self = Self { answer: None, analysis: "" };

    fn upper(&self) -> f64 {
        self.answer.map_or(f64::INFINITY, |answer| answer.value.upper())
    }

    /// Whether the answers are close enough to be merged.
    fn is_like(&self, other: &Self) -> bool {
        let (a, b) = (self.upper(), other.upper());
        a == b || (a - b).abs() <= SHARED * a.min(b) || a.max(b) < NEGLIGIBLE
    }
}

struct Row {
    from: u64,
    to: u64,
    asked: Asked,
}

/// The places of records, split into ranges on which protection is monotone.
fn monotone_ranges(training: &Training, pass: u64, places: u64) -> Vec<(u64, u64)> {
    // If the steps end within a pass, earlier batches are used once more than later ones. An incomplete last batch is a
    // range of its own.
    let mut cuts = vec![pass - 1, pass, places];
    for steps in training.possible_steps().unwrap_or_else(|| vec![u64::MAX]) {
        cuts.push(if training.order == Order::Once { steps.min(pass) } else { steps % pass });
        if training.release == Release::RandomSkip {
            cuts.push((steps / 2).min(pass));
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    let mut from = 1;
    let mut ranges = Vec::new();
    for to in cuts {
        if to >= from {
            ranges.push((from, to));
            from = to + 1;
        }
    }
    ranges
}

type End = (u64, Asked);

/// The question that is asked at a place.
type Ask<'a> = &'a (dyn Fn(u64) -> Result<Asked, RecordsError> + Sync);

/// Splits a range on which protection is monotone into ranges of similar answers.
fn range(ask: Ask<'_>, from: u64, to: u64) -> Result<Vec<Row>, RecordsError> {
    let first = ask(from)?;
    if from == to {
        return Ok(vec![Row { from, to, asked: first }]);
    }
    let last = ask(to)?;
    let mut rows = if first.upper() <= last.upper() {
        subdivided(ask, (from - 1, first), (to, last))?
    } else {
        subdivided(ask, (to + 1, last), (from, first))?
    };
    rows.sort_by_key(|row| row.from);
    Ok(rows)
}

/// The places after the best one, up to the worst, in ranges of similar answers. The answer given for the best place
/// may also hold for the next place.
fn subdivided(ask: Ask<'_>, best: End, worst: End) -> Result<Vec<Row>, RecordsError> {
    let (from, to) = if best.0 < worst.0 { (best.0 + 1, worst.0) } else { (worst.0, best.0 - 1) };
    if from == to || best.1.is_like(&worst.1) {
        let asked = if from == to { worst.1 } else { spanning(best.1, worst.1) };
        return Ok(vec![Row { from, to, asked }]);
    }
    let middle = from.midpoint(to) + u64::from(worst.0 < best.0);
    let middle = (middle, ask(middle)?);
    let (better, worse) = rayon::join(|| subdivided(ask, best, middle), || subdivided(ask, middle, worst));
    let mut rows = better?;
    rows.extend(worse?);
    Ok(rows)
}

/// The answer at the worse end of a range, which holds on all of it, extended down to the lower end of the better one.
fn spanning(first: Asked, last: Asked) -> Asked {
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
                let rows = range(&ask, from, to).expect("all are answered");
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
