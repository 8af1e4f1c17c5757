//! What a loader may do: every sequence of batches, with its probability.

use super::{forgetting, lengths};
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::elementary::powi;
use dobrushin::run::{Batch, IncompleteBatch, Length, Order, Record, Training};

/// The records of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drawn {
    /// The number of other records.
    pub others: u64,
    /// How often the record in question is used: 0, 1 or 2 times.
    pub uses: u64,
    /// Empty records, which count only in the size of the batch.
    pub empty: u64,
}

impl Drawn {
    pub fn size(self) -> u64 {
        self.others + self.uses + self.empty
    }
}

/// One sequence of batches, for D and for D′.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    pub probability: f64,
    pub steps: Vec<[Drawn; 2]>,
}

/// What the loader may do at random; the probabilities sum to 1. It is the same for both neighbours.
pub(super) type Course = Vec<Batches>;

/// A course has at most this many sequences.
pub(super) const MOST: usize = 1 << 14;

/// Everything that a description leaves open: it covers each of these runs. `None` if there are too many.
pub(super) fn courses(run: &Training) -> Option<Vec<Course>> {
    if !run.forgetting.is_empty() {
        return forgetting::courses(run);
    }
    match run.order {
        Order::Once | Order::Cyclic | Order::Shuffled => in_turn(run),
        Order::Allocation => allocated(run),
        Order::Poisson | Order::WithoutReplacement | Order::Full => at_random(run),
    }
}

fn in_turn(run: &Training) -> Option<Vec<Course>> {
    let Batch::Size(size) = run.batch else {
        return None;
    };
    let mut courses = Vec::new();
    for ending in endings(run, size) {
        let pass = steps_in_a_pass(run, size, ending);
        for steps in lengths(run, pass) {
            // A single pass ends where its batches end.
            let steps = if run.order == Order::Once { steps.min(pass as u64) } else { steps };
            let loader = Turns { records: run.records, size, steps, ending, end: end(run) };
            let passes = loader.passes();
            match run.order {
                Order::Shuffled => {
                    let choices =
                        usize::try_from(run.records.checked_pow(u32::try_from(passes).ok()?)?).ok()?;
                    if choices > MOST {
                        return None;
                    }
                    let probability = 1.0 / choices as f64;
                    let places = |mut choice: u64| -> Vec<u64> {
                        let digit = |_| (choice % run.records, choice /= run.records).0;
                        (0..passes).map(digit).collect()
                    };
                    let course = (0..choices as u64)
                        .map(|choice| Batches { probability, steps: loader.batches(&places(choice)) });
                    courses.push(course.collect());
                }
                _ => {
                    // This is done for every record in question.
                    let places = match run.record {
                        Record::Worst => (0..run.records).collect(),
                        Record::Index(index) => vec![index - 1],
                    };
                    courses.extend(places.into_iter().map(|place| {
                        let steps = loader.batches(&vec![place; passes as usize]);
                        vec![Batches { probability: 1.0, steps }]
                    }));
                }
            }
        }
    }
    Some(courses)
}

/// What may happen to an incomplete batch.
pub(super) fn endings(run: &Training, size: u64) -> Vec<IncompleteBatch> {
    use IncompleteBatch::{Drop, Fill, Pad, Short};
    match run.incomplete_batch {
        Some(ending) => vec![ending],
        None if run.records.is_multiple_of(size) => vec![Short],
        None if run.order == Order::Once => vec![Drop, Short, Pad],
        None => vec![Drop, Short, Pad, Fill],
    }
}

pub(super) fn steps_in_a_pass(run: &Training, size: u64, ending: IncompleteBatch) -> f64 {
    match ending {
        IncompleteBatch::Drop => (run.records / size) as f64,
        IncompleteBatch::Short | IncompleteBatch::Pad => run.records.div_ceil(size) as f64,
        IncompleteBatch::Fill => run.records as f64 / size as f64,
    }
}

/// After how many records the passes end, if batches are filled up from the next pass.
pub(super) fn end(run: &Training) -> u64 {
    match run.length {
        Length::Epochs(epochs) if epochs.get().fract() == 0.0 => epochs.get() as u64 * run.records,
        // After a fraction of a pass, the last batch may also be complete.
        Length::Epochs(_) | Length::Steps(_) | Length::Any => u64::MAX,
    }
}

/// A loader that goes through the records pass after pass.
pub(super) struct Turns {
    pub records: u64,
    pub size: u64,
    pub steps: u64,
    pub ending: IncompleteBatch,
    pub end: u64,
}

impl Turns {
    /// The number of passes; the last may be incomplete.
    pub fn passes(&self) -> u64 {
        match self.ending {
            IncompleteBatch::Fill => (self.steps * self.size).div_ceil(self.records),
            IncompleteBatch::Drop => self.steps.div_ceil(self.records / self.size),
            IncompleteBatch::Short | IncompleteBatch::Pad => {
                self.steps.div_ceil(self.records.div_ceil(self.size))
            }
        }
    }

    /// The batches, if the record has these places in the passes.
    fn batches(&self, places: &[u64]) -> Vec<[Drawn; 2]> {
        (0..self.steps).map(|step| [self.batch(step, places); 2]).collect()
    }

    pub fn batch(&self, step: u64, places: &[u64]) -> Drawn {
        let (n, b) = (self.records, self.size);
        let (from, to, empty, offset) = match self.ending {
            IncompleteBatch::Fill => (step * b, ((step + 1) * b).min(self.end), 0, n),
            ending => {
                let whole = n / b;
                let pass = if ending == IncompleteBatch::Drop { whole } else { n.div_ceil(b) };
                let (turn, place) = (step / pass, step % pass);
                let (from, to) = (place * b, ((place + 1) * b).min(n));
                let missing = b - (to - from);
                let empty = if ending == IncompleteBatch::Pad { missing } else { 0 };
                (turn * n + from, turn * n + to, empty, n)
            }
        };
        let at = |(pass, place): (u64, &u64)| pass * offset + place;
        let uses = (0..).zip(places).map(at).filter(|at| (from..to).contains(at)).count() as u64;
        Drawn { others: to.saturating_sub(from) - uses, uses, empty }
    }
}

/// Batches that are drawn in each step, independently of all others.
fn at_random(run: &Training) -> Option<Vec<Course>> {
    let mut courses = Vec::new();
    for records in possible_records(run) {
        let step = one_step(run, records)?;
        for steps in lengths(run, per_pass(run)) {
            let choices = u32::try_from(steps).ok().and_then(|steps| step.len().checked_pow(steps));
            if choices.is_none_or(|choices| choices > MOST) {
                return None;
            }
            let mut course = vec![Batches { probability: 1.0, steps: Vec::new() }];
            for _ in 0..steps {
                let longer = |batches: &Batches| -> Vec<Batches> {
                    let append = |&(probability, drawn): &(f64, [Drawn; 2])| {
                        let mut steps = batches.steps.clone();
                        steps.push(drawn);
                        Batches { probability: batches.probability * probability, steps }
                    };
                    step.iter().map(append).collect()
                };
                course = course.iter().flat_map(longer).collect();
            }
            courses.push(course);
        }
    }
    Some(courses)
}

/// Every record goes to a random batch of each pass, independently of all others.
fn allocated(run: &Training) -> Option<Vec<Course>> {
    let Batch::Size(size) = run.batch else {
        return None;
    };
    // The number of batches follows from the documented number of records.
    let batches = run.records.div_ceil(size);
    let mut courses = Vec::new();
    for records in possible_records(run) {
        for steps in lengths(run, batches as f64) {
            let mut course = vec![Batches { probability: 1.0, steps: Vec::new() }];
            let mut left = steps;
            while left > 0 {
                let made = left.min(batches);
                let pass = one_pass(run, records - 1, batches, made);
                if course.len().checked_mul(pass.len())? > MOST {
                    return None;
                }
                let longer = |before: &Batches| -> Vec<Batches> {
                    let append = |after: &Batches| Batches {
                        probability: before.probability * after.probability,
                        steps: [&before.steps[..], &after.steps[..]].concat(),
                    };
                    pass.iter().map(append).collect()
                };
                course = course.iter().flat_map(longer).collect();
                left -= made;
            }
            courses.push(course);
        }
    }
    Some(courses)
}

/// The first steps of a pass of this many batches, for every way to put the others and the record into them.
fn one_pass(run: &Training, others: u64, batches: u64, made: u64) -> Course {
    let removed = run.neighbours == Neighbours::AddOrRemoveOne;
    let mut sizes = vec![(1.0, Vec::new(), others)];
    for step in 0..made {
        // Given the batches before, each record that is left goes to this one with this probability.
        let rate = 1.0 / (batches - step) as f64;
        let longer = |(probability, before, left): &(f64, Vec<u64>, u64)| -> Vec<(f64, Vec<u64>, u64)> {
            let choose = |here: u64| {
                (probability * binomial(*left, here, rate), [&before[..], &[here]].concat(), left - here)
            };
            (0..=*left).map(choose).filter(|(probability, ..)| *probability > 0.0).collect()
        };
        sizes = sizes.iter().flat_map(longer).collect();
    }
    let mut course = Vec::new();
    for (probability, sizes, _) in &sizes {
        for place in 0..batches {
            let step = |(step, others): (u64, &u64)| {
                let drawn = Drawn { others: *others, uses: u64::from(step == place), empty: 0 };
                [drawn, if removed { Drawn { uses: 0, ..drawn } } else { drawn }]
            };
            let steps = (0..).zip(sizes).map(step).collect();
            course.push(Batches { probability: probability / batches as f64, steps });
        }
    }
    course
}

/// The documented number of records may be that of either neighbour; this is the number of the larger one.
fn possible_records(run: &Training) -> Vec<u64> {
    match run.neighbours {
        Neighbours::AddOrRemoveOne => vec![run.records, run.records + 1],
        Neighbours::ReplaceOne | Neighbours::ZeroOut => vec![run.records],
    }
}

/// The number of steps in a pass, where batches are drawn.
pub(super) fn per_pass(run: &Training) -> f64 {
    match run.batch {
        Batch::Size(size) => run.records as f64 / size as f64,
        Batch::Probability(rate) => 1.0 / rate.get(),
    }
}

/// What one step may draw from D, which has this many records, and from D′.
fn one_step(run: &Training, records: u64) -> Option<Vec<(f64, [Drawn; 2])>> {
    let removed = run.neighbours == Neighbours::AddOrRemoveOne;
    // The record is also in D′, unless it is removed.
    let with = |others: u64, without: u64| {
        let first = Drawn { others, uses: 1, empty: 0 };
        [first, if removed { Drawn { others: without, uses: 0, empty: 0 } } else { first }]
    };
    let without = |others: u64| [Drawn { others, uses: 0, empty: 0 }; 2];
    Some(match (run.order, run.batch) {
        (Order::Full, _) => vec![(1.0, with(records - 1, records - 1))],
        (Order::WithoutReplacement, Batch::Size(size)) => {
            let rate = size as f64 / records as f64;
            let mut drawn = vec![(rate, with(size - 1, size))];
            drawn.extend((size < records).then(|| (1.0 - rate, without(size))));
            drawn
        }
        (Order::Poisson, batch) => {
            let rate = match batch {
                Batch::Size(size) => size as f64 / run.records as f64,
                Batch::Probability(rate) => rate.get(),
            };
            let mut drawn = Vec::new();
            for others in 0..records {
                let chance = binomial(records - 1, others, rate);
                drawn.push((chance * rate, with(others, others)));
                drawn.push((chance * (1.0 - rate), without(others)));
            }
            drawn.retain(|(chance, _)| *chance > 0.0);
            drawn
        }
        _ => return None,
    })
}

pub(super) fn binomial(count: u64, successes: u64, rate: f64) -> f64 {
    let choose = (0..successes).fold(1.0, |product, i| product * (count - i) as f64 / (i + 1) as f64);
    choose * powi(rate, successes as i32) * powi(1.0 - rate, (count - successes) as i32)
}
