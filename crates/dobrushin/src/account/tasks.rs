//! Several tasks on the same records: the guarantee of a record is the composition of its guarantees in each task.
//!
//! Records that are worst in one task are often safe in another, so the worst record of all tasks together is far
//! better off than somebody who is the worst one in each (PAI §5.4). What a theorem says about a *range* of records is
//! bounded by a corner: for each task, the record of the range that is least private in it. Protection is monotone
//! between cuts, so that this record is at one end of the range. The worst record is found by splitting the range with
//! the worst corner, until that corner is one record.

use super::bounds::{Care, Said, bounds};
use super::monotone::last_records;
use crate::analysis::{Bound, ExactComposition, Theorem};
use crate::profile::{Direction, PrivacyProfile};
use crate::run::{Assumption, Record, Release, Run, Task, Tasks};
use crate::{Delta, Enclosure, Epsilon, NotApplicable};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Consecutive records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Span {
    pub from: u64,
    pub to: u64,
}

/// A record for each task; `None` stands for the worst of the task, whichever it is.
pub(super) type Corner = Vec<Option<u64>>;

/// The most records that are looked at one by one where steps differ.
const MOST_DIFFERENT: u64 = 500;

/// What every theorem says about one task.
type OfTask = Arc<Vec<Said>>;

/// What several theorems say about several tasks, each record's part of which is computed once.
pub(super) struct Together {
    tasks: Tasks,
    theorems: Vec<Theorem>,
    care: Care,
    known: Mutex<HashMap<(usize, Option<u64>), OfTask>>,
}

impl Together {
    pub fn new(tasks: &Tasks, theorems: impl Iterator<Item = Theorem>, care: Care) -> Self {
        Self { tasks: tasks.clone(), theorems: theorems.collect(), care, known: Mutex::default() }
    }

    pub fn theorems(&self) -> &[Theorem] {
        &self.theorems
    }

    /// What every theorem says about one task, for one record or the worst; the last is composition.
    fn of_task(&self, number: usize, record: Option<u64>) -> OfTask {
        let key = (number, record);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(said) = known().get(&key) {
            return Arc::clone(said);
        }
        let training = self.tasks.tasks[number].of_record(record.map_or(Record::Worst, Record::Index));
        let asked = || self.theorems.iter().copied().chain([Theorem::EveryStep(&ExactComposition)]);
        let said = match Run::training(training) {
            Ok(run) => bounds(&run, asked(), self.care),
            // It was checked before, with another record.
            Err(error) => {
                let bound = |theorem| Said {
                    theorem,
                    bound: Err(NotApplicable::beyond(error.to_string())),
                    renyi: None,
                    assumptions: Vec::new(),
                };
                asked().map(bound).collect()
            }
        };
        let said = Arc::new(said);
        known().insert(key, Arc::clone(&said));
        said
    }

    /// What a theorem says about each task for a record that is at a corner: everything that is said about the task, and
    /// the index of what counts. A task to which the theorem does not apply counts as published.
    ///
    /// # Errors
    /// [`NotApplicable`] if the theorem applies to no task.
    fn parts(&self, theorem: usize, corner: &Corner) -> Result<Vec<(OfTask, usize)>, NotApplicable> {
        let mut parts = Vec::with_capacity(corner.len());
        let mut refused = None;
        for (number, record) in corner.iter().enumerate() {
            let all = self.of_task(number, *record);
            let counts = match &all[theorem].bound {
                Ok(_) => theorem,
                Err(reason) => {
                    refused.get_or_insert_with(|| reason.clone());
                    self.theorems.len()
                }
            };
            parts.push((all, counts));
        }
        match refused.filter(|_| parts.iter().all(|(_, counts)| *counts != theorem)) {
            Some(reason) => Err(reason),
            None => Ok(parts),
        }
    }

    /// What must hold for the bound of a theorem at a corner.
    fn assumptions(&self, theorem: usize, corner: &Corner) -> Result<Vec<Assumption>, NotApplicable> {
        let parts = self.parts(theorem, corner)?;
        let each = parts.iter().map(|(all, counts)| all[*counts].assumptions.clone());
        Ok(self.tasks.assumptions(&each.collect::<Vec<_>>()))
    }

    /// The bound of a theorem for a record that is at a corner.
    ///
    /// # Errors
    /// [`NotApplicable`] if the theorem applies to no task, or if nothing applies to one of them.
    pub fn bound(&self, theorem: usize, corner: &Corner) -> Result<Bound, NotApplicable> {
        let parts = self.parts(theorem, corner)?;
        let parts = parts.iter().zip(&self.tasks.tasks);
        let parts = parts.map(|((all, counts), task)| Ok((all[*counts].bound.clone()?, task.count)));
        let mut parts = parts.collect::<Result<Vec<_>, NotApplicable>>()?;
        match parts[..] {
            [(_, 1)] => Ok(parts.remove(0).0),
            _ => Bound::together(parts, self.care.tolerance),
        }
    }

    /// Whether the bounds of a theorem on the tasks compose without adding up losses.
    pub fn is_quick(&self, theorem: usize, corner: &Corner) -> bool {
        let quick =
            |(all, counts): &(OfTask, usize)| all[*counts].bound.as_ref().is_ok_and(Bound::composes_quickly);
        self.parts(theorem, corner).is_ok_and(|parts| parts.iter().all(quick))
    }

    /// All records, cut where the protection of a task is not monotone.
    pub fn spans(&self) -> Vec<Span> {
        let records = self.tasks.records();
        let mut ends = vec![records];
        for task in self.tasks.tasks.iter().filter(|task| task.is_in_turn()) {
            if !task.training.has_equal_steps() {
                if records <= MOST_DIFFERENT {
                    ends.extend(1..=records);
                }
                continue;
            }
            for cut in last_records(&task.training) {
                // A range of places that ends at the cut ends at its record, or begins with it if the pass goes backward.
                let record = task.turn.record(cut, records);
                ends.push(if task.turn.reversed { record - 1 } else { record });
            }
            let first = task.turn.first;
            ends.push(if task.turn.reversed { first } else { first - 1 });
        }
        ends.retain(|end| *end > 0);
        ends.sort_unstable();
        ends.dedup();
        let starts = std::iter::once(1).chain(ends.iter().map(|end| end + 1));
        starts.zip(&ends).map(|(from, &to)| Span { from, to }).collect()
    }

    /// The record of a range that is least private in each task, or the most private one.
    pub fn corner(&self, span: Span, worst: bool) -> Corner {
        let records = self.tasks.records();
        let of = |task: &Task| {
            if !task.is_in_turn() {
                return None;
            }
            if !task.training.has_equal_steps() {
                // Either each record is a range of its own, or all count as the worst one.
                return (records <= MOST_DIFFERENT).then_some(span.from);
            }
            let [a, b] = [span.from, span.to].map(|record| (task.turn.place(record, records), record));
            let (earlier, later) = if a <= b { (a, b) } else { (b, a) };
            let exposed_later = task.training.release != Release::RandomStop;
            Some(if exposed_later == worst { later.1 } else { earlier.1 })
        };
        self.tasks.tasks.iter().map(of).collect()
    }

    /// Whether the worst corner of a range is one of its records, so that no other is worse.
    fn is_settled(&self, span: Span) -> bool {
        let corner = self.corner(span, true);
        let mut records = corner.iter().flatten();
        let first = records.next();
        records.all(|record| Some(record) == first)
    }
}

impl Span {
    /// The two ends and the two halves between them: the worst records are often at an end.
    fn parts(self) -> impl Iterator<Item = Self> {
        let Self { from, to } = self;
        let middle = from.midpoint(to);
        let parts = [(from, from), (from + 1, middle), (middle + 1, to - 1), (to, to)];
        let parts = parts.into_iter().filter(|(from, to)| from <= to);
        parts.map(|(from, to)| Self { from, to })
    }
}

/// The bounds of these theorems on several tasks.
pub(super) fn bounds_of_tasks(
    run: &Run,
    tasks: &Tasks,
    theorems: impl Iterator<Item = Theorem>,
    care: Care,
) -> Vec<Said> {
    let all: Vec<Theorem> = theorems.collect();
    let hidden = |theorem: &Theorem| matches!(theorem, Theorem::HiddenStates(_));
    let together = Arc::new(Together::new(tasks, all.iter().copied().filter(hidden), care));
    let mut of_hidden = (0..together.theorems.len()).map(|theorem| over_records(&together, theorem));
    let said = all.into_iter().map(|theorem| match theorem {
        Theorem::EveryStep(_) => bounds(run, std::iter::once(theorem), care).remove(0),
        Theorem::HiddenStates(_) => {
            let found =
                of_hidden.next().unwrap_or_else(|| Err(NotApplicable::beyond("no analysis was asked")));
            let (bound, assumptions) =
                found.map_or_else(|reason| (Err(reason), Vec::new()), |(bound, all)| (Ok(bound), all));
            let renyi = bound.as_ref().ok().and_then(Bound::renyi);
            Said { theorem, bound, renyi, assumptions }
        }
    });
    said.collect()
}

/// The bound of a theorem for somebody who is the worst record of each task.
pub(super) fn of_the_maxima(tasks: &Tasks, theorem: Theorem, care: Care) -> Option<Arc<dyn PrivacyProfile>> {
    let together = Together::new(tasks, std::iter::once(theorem), care);
    let worst = vec![None; tasks.tasks.len()];
    Some(together.bound(0, &worst).ok()?.into_profile())
}

/// The largest δ of any record at every ε.
struct OverRecords {
    together: Arc<Together>,
    theorem: usize,
    spans: Vec<Span>,
    symmetric: bool,
    known: Mutex<HashMap<Corner, Arc<dyn PrivacyProfile>>>,
}

/// What a theorem says about the worst record of all tasks, or the record that is asked about.
///
/// # Guarantee
/// The bound holds for every record: that of a record's range is at least its own, because in each task a chain with
/// fewer steps after the last use, or more of them before a random stop, is less private; see [`Bound::together`]. In a
/// task whose steps differ, and whose records are many, every record counts as the worst one.
fn over_records(together: &Arc<Together>, theorem: usize) -> Result<(Bound, Vec<Assumption>), NotApplicable> {
    let tasks = &together.tasks;
    if let Record::Index(record) = tasks.record {
        let corner = tasks.tasks.iter().map(|task| task.is_in_turn().then_some(record)).collect();
        return Ok((together.bound(theorem, &corner)?, together.assumptions(theorem, &corner)?));
    }
    let (spans, together) = (together.spans(), Arc::clone(together));
    let assumptions = together.assumptions(theorem, &together.corner(spans[0], true))?;
    let mut over = OverRecords { together, theorem, spans, symmetric: true, known: Mutex::default() };
    for span in over.spans.clone() {
        over.symmetric &= over.profile(span)?.is_symmetric();
    }
    Ok((Bound::Profile(Arc::new(over)), assumptions))
}

/// A range with the value at its worst corner; the largest value comes first, and the smallest of equal ranges.
struct Open {
    value: Enclosure,
    span: Span,
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        let length = |open: &Self| open.span.to - open.span.from;
        let by_value = self.value.upper().total_cmp(&other.value.upper());
        by_value.then(length(other).cmp(&length(self))).then(other.span.from.cmp(&self.span.from))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl OverRecords {
    /// The profile at the worst corner of a range.
    fn profile(&self, span: Span) -> Result<Arc<dyn PrivacyProfile>, NotApplicable> {
        let corner = self.together.corner(span, true);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(profile) = known().get(&corner) {
            return Ok(Arc::clone(profile));
        }
        let profile = self.together.bound(self.theorem, &corner)?.into_profile();
        known().insert(corner, Arc::clone(&profile));
        Ok(profile)
    }

    /// The largest value over all records.
    fn largest(&self, of: impl Fn(&dyn PrivacyProfile) -> Enclosure, vacuous: Enclosure) -> Enclosure {
        let open = |span: Span| Open {
            value: self.profile(span).map_or(vacuous, |profile| of(profile.as_ref())),
            span,
        };
        let mut heap: BinaryHeap<Open> = self.spans.iter().map(|span| open(*span)).collect();
        while let Some(Open { value, span }) = heap.pop() {
            if self.together.is_settled(span) {
                return value;
            }
            heap.extend(span.parts().map(open));
        }
        vacuous
    }
}

impl PrivacyProfile for OverRecords {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.largest(|profile| profile.delta_of(direction, epsilon), Enclosure::ONE)
    }

    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.largest(|profile| profile.log_delta_of(direction, epsilon), Enclosure::ZERO)
    }

    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        self.largest(|profile| profile.epsilon_of(direction, delta), Enclosure::INFINITE)
    }
}
