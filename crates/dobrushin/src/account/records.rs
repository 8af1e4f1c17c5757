//! How well each record is protected: one answer for each record of a run that uses records in turn.

use super::analyses::Options;
use super::bounds::Care;
use super::by_ranges::{best_of, by_ranges};
use super::monotone::{all_places, monotone_ranges};
use super::question::{Answer, Question};
use super::rows::{Asked, Row, best, range, spanning};
use super::tasks::{Span, Together};
use crate::NotApplicable;
use crate::analysis::Effort;
use crate::run::{NoiseKind, Run, RunError, Tasks, Training, missing};
use rayon::prelude::*;

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

/// The tolerance of answers for each record of several tasks.
const ROUGHLY: f64 = 1e-3;
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
    if let Some(tasks) = run.as_tasks() {
        return Ok(by_record_of_tasks(tasks, question, options));
    }
    let first = run.of_record(1)?;
    let Some(training) = first.as_training() else {
        return Ok(Vec::new());
    };
    let (pass, places) = (training.batches_in_a_pass(), all_places(training));
    let (progress, options) = (&options.progress, options.for_each_record(training.noise_kind));
    progress.add_parts(places);
    let released = run.released();
    if let Some([records]) = released.as_ref().ok().filter(|r| r.has_ranges()).map(|r| &r.ranges[..])
        && pass > MOST_DIFFERENT
    {
        let rows = by_ranges(run, records, question, &options, progress);
        return Ok(rows.into_iter().map(|row| protection(training, row)).collect());
    }
    let ask = |place: u64| -> Result<Asked, RecordsError> {
        let run = run.of_record(training.first_record_of(place))?;
        Ok(best_of(&run, &options, question))
    };
    let rows = if training.has_equal_steps() {
        let mut rows = Vec::new();
        for (from, to) in monotone_ranges(training) {
            rows.extend(range(&ask, from, to, progress)?);
        }
        rows
    } else if pass <= MOST_DIFFERENT {
        let each = |place: u64| {
            let asked = ask(place)?;
            progress.advance(1);
            Ok(Row { from: place, to: place, asked })
        };
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

/// The answer for every record of several tasks: that of the composition of what holds for it in each. Unless analyses are
/// named, those are asked whose bounds compose in no time, or all if there is none.
fn by_record_of_tasks(tasks: &Tasks, question: Question, options: &Options) -> Vec<Protection> {
    let tolerance = options.tolerance.max(ROUGHLY);
    let care = Care { tolerance, exception: options.exception, effort: Effort::Once(tolerance) };
    let is_laplace = tasks.tasks.iter().any(|task| task.training.noise_kind == NoiseKind::Laplace);
    let suited = options.for_each_record(if is_laplace { NoiseKind::Laplace } else { NoiseKind::Gaussian });
    let rigorous = suited.theorems().filter(|theorem| theorem.is_rigorous());
    let together = Together::new(tasks, rigorous, care);
    let ask = |span: Span, worst: bool| {
        let corner = together.corner(span, worst);
        let all = 0..together.theorems().len();
        let quick: Vec<usize> = all.clone().filter(|theorem| together.is_quick(*theorem, &corner)).collect();
        let asked = if options.only.is_empty() && !quick.is_empty() { quick } else { all.collect() };
        let profiles = asked.into_iter().filter_map(|index| {
            let bound = together.bound(index, &corner).ok()?;
            Some((together.theorems()[index].id(), bound.into_profile()))
        });
        best(profiles, question)
    };
    let rows = together.spans().into_par_iter().flat_map_iter(|span| rows_of(&ask, span));
    let rows: Vec<Row> = rows.collect();
    let protection =
        |Row { from, to, asked }| Protection { from, to, answer: asked.answer, analysis: asked.analysis };
    rows.into_iter().map(protection).collect()
}

/// A range of records in rows of similar answers, between those of its best and its worst corner.
fn rows_of(ask: &(dyn Fn(Span, bool) -> Asked + Sync), span: Span) -> Vec<Row> {
    let Span { from, to } = span;
    let worst = ask(span, true);
    if from == to {
        return vec![Row { from, to, asked: worst }];
    }
    let best = ask(span, false);
    if best.is_like(&worst) {
        return vec![Row { from, to, asked: spanning(best, worst) }];
    }
    let middle = from.midpoint(to);
    let halves = (Span { from, to: middle }, Span { from: middle + 1, to });
    let (mut rows, others) = rayon::join(|| rows_of(ask, halves.0), || rows_of(ask, halves.1));
    rows.extend(others);
    rows
}
