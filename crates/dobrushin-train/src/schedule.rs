//! Which records each step uses.
//!
//! The accountant reads the same [`Training`] and assumes exactly what happens here; see `lower/steps.rs` and
//! `lower/observed.rs` of the library.
//!
//! - *Once, cyclic*: batches of consecutive records, in the order of the table; cyclic starts over after each pass.
//! - *Shuffled*: the same, in a uniformly random order that is new in each pass.
//! - *Allocation*: at the start of each pass every record draws one of its batches, uniformly and independently. The number
//!   of batches follows from the number of records that the run gives.
//! - *Without replacement*: a uniformly random set of the batch size, new in each step.
//! - *Poisson*: each record independently, with a probability that is exactly t/2⁶⁴, what was asked for rounded down:
//!   less sampling is more private. Probability 1 draws every record.
//! - *Full*: all records.
//!
//! A random stop is after 1, 2, … or all steps, public ones included, each equally likely. A random skip leaves out the
//! first 0, 1, … or ⌊T/2⌋ of T private steps, each equally likely, so that the records of step k take part if and only
//! if fewer than k steps are skipped. The steps that remain keep their numbers: step k uses η_k and the noise of step k
//! whether or not others were skipped. With equal steps, which the analysis of hidden states requires, the numbers do
//! not matter; with unequal ones only composition applies, and it counts step k with the η and the noise of step k.

use crate::kept::all_steps;
use crate::{Bits, Kept};
use dobrushin::Enclosure;
use dobrushin::numeric::bits::Coin;
use dobrushin::numeric::bits::below;
use dobrushin::run::{Batch, Order, Release, Training};

/// The steps of one run, one after the other.
///
/// What it holds is secret: which records a step uses, and when a run stops, protects people.
pub(crate) struct Schedule {
    bits: Bits,
    order: Order,
    records: u64,
    /// The size of a batch; if that is random, its expectation, rounded up.
    size: u64,
    /// The coin for Poisson sampling; `None` if every record is drawn.
    coin: Option<Coin>,
    /// The number of steps that use private records, including skipped ones.
    private: u64,
    /// The next step.
    next: u64,
    /// The last step.
    last: u64,
    /// The number of first steps that are skipped.
    skipped: u64,
    /// The step after which the iterate is released.
    stop: u64,
    /// All records in a random order, if the run uses one.
    shuffled: Vec<u32>,
    /// The number of batches of a pass, if records are allocated to them.
    batches: u64,
    /// Where each batch of this pass begins in that order, and its end, if records are allocated.
    starts: Vec<usize>,
}

/// What one step uses.
#[derive(Default)]
pub(crate) struct Draw {
    /// The number of the step in the description, counted from 1.
    pub time: u64,
    /// Whether it uses public records.
    pub public: bool,
    /// Which records, all different, counted from 0. The count of public records goes on and on, modulo 2³²: take it
    /// modulo the length of the table.
    pub records: Vec<u32>,
    /// What happens to its result.
    pub fate: Fate,
}

/// What happens to the result of a step.
///
/// Steps are drawn even where they are not used, so that the duration of a run does not tell what was drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing: the step is skipped.
    Skipped,
    /// The next step starts from it.
    #[default]
    Used,
    /// The run releases it.
    Released,
}

impl Schedule {
    /// The schedule of a run that was checked, on this many records. Records beyond the first 2³² are never used, and a
    /// run without a number of steps has no schedule.
    ///
    /// The probability with which a record is drawn, and the size of a public batch, follow from the number of records
    /// that the run gives, which is public; the true number may be a secret.
    pub fn new(training: &Training, records: u64, mut bits: Bits) -> Self {
        let records = records.min(u64::from(u32::MAX));
        let said = training.records;
        let (size, coin) = match training.batch {
            Batch::Size(size) if size >= said => (size, None),
            Batch::Size(size) => {
                let rate = Enclosure::from(size) / Enclosure::from(said);
                (size, Some(Coin::at_most(rate.lower())))
            }
            Batch::Probability(rate) => {
                let size = (Enclosure::from(rate) * Enclosure::from(said)).lower().ceil() as u64;
                (size, (rate.get() < 1.0).then(|| Coin::at_most(rate.get())))
            }
        };
        let last = training.steps().map_or(0, |_| all_steps(training));
        let private = last.saturating_sub(training.public_steps);
        let (skipped, stop) = match training.release {
            Release::RandomStop => (0, 1 + below(last, &mut bits)),
            Release::RandomSkip => (below(private / 2 + 1, &mut bits), last),
            Release::Last | Release::All => (0, last),
        };
        let order = training.order;
        Self {
            bits,
            order,
            records,
            size: size.max(1),
            coin,
            private,
            next: 1,
            last,
            skipped,
            stop,
            shuffled: Vec::new(),
            batches: said.div_ceil(size.max(1)).max(1),
            starts: Vec::new(),
        }
    }

    /// Goes on after the last of the steps that were made before.
    pub fn go_on_from(&mut self, kept: &Kept) {
        self.next = kept.steps.saturating_add(1);
        self.bits.go_on_after(kept.drawn);
        self.shuffled.clone_from(&kept.order);
    }

    /// How many steps were drawn, how much randomness that took, and the random order of the records, if there is one.
    pub fn stopped(self) -> (u64, u64, Vec<u32>) {
        (self.next - 1, self.bits.drawn(), self.shuffled)
    }

    /// Whether records are needed only in their order: from the first on, and after the last from the first again.
    pub fn is_in_order(training: &Training) -> bool {
        matches!(training.order, Order::Once | Order::Cyclic | Order::Full)
    }

    /// Draws the next step in place of an earlier one; returns whether there is one.
    pub fn draw(&mut self, step: &mut Draw) -> bool {
        if self.next > self.last {
            return false;
        }
        let time = self.next;
        self.next += 1;
        step.time = time;
        step.public = time > self.private;
        step.fate = match time {
            _ if time <= self.skipped => Fate::Skipped,
            _ if time == self.stop => Fate::Released,
            _ => Fate::Used,
        };
        step.records.clear();
        if step.public {
            let first = (time - self.private - 1).wrapping_mul(self.size);
            step.records.extend((0..self.size).map(|i| first.wrapping_add(i) as u32));
        } else {
            self.draw_private(time, &mut step.records);
        }
        true
    }

    fn draw_private(&mut self, time: u64, records: &mut Vec<u32>) {
        let pass = self.records.div_ceil(self.size);
        let place = (time - 1) % pass.max(1);
        match self.order {
            // There is never a second pass.
            Order::Once => records.extend(self.batch(time - 1)),
            Order::Cyclic => records.extend(self.batch(place)),
            Order::Shuffled => {
                if place == 0 || self.shuffled.is_empty() {
                    self.shuffle(self.records);
                }
                let batch = self.batch(place);
                records.extend_from_slice(&self.shuffled[batch.start as usize..batch.end as usize]);
            }
            Order::Allocation => {
                let place = ((time - 1) % self.batches) as usize;
                if place == 0 {
                    self.allocate();
                }
                if let [start, end, ..] = self.starts[place..] {
                    records.extend_from_slice(&self.shuffled[start..end]);
                }
            }
            Order::WithoutReplacement => {
                let size = self.size.min(self.records);
                self.shuffle(size);
                records.extend_from_slice(&self.shuffled[..size as usize]);
            }
            Order::Poisson => match self.coin {
                Some(coin) => self.toss(coin, records),
                None => records.extend(0..self.records as u32),
            },
            Order::Full => records.extend(0..self.records as u32),
        }
    }

    /// The places of a batch of a pass.
    fn batch(&self, place: u64) -> std::ops::Range<u32> {
        let first = place.saturating_mul(self.size).min(self.records);
        let end = first.saturating_add(self.size).min(self.records);
        first as u32..end as u32
    }

    /// Makes the first entries of the order, this many, a uniformly random sequence of different records, whatever the
    /// order was before (Fisher and Yates).
    fn shuffle(&mut self, count: u64) {
        if self.shuffled.is_empty() {
            self.shuffled.extend((0..self.records).map(|record| record as u32));
        }
        for i in 0..count {
            let other = i + below(self.records - i, &mut self.bits);
            self.shuffled.swap(i as usize, other as usize);
        }
    }

    /// Draws a batch of the coming pass for every record, and sorts the records by it (a counting sort).
    fn allocate(&mut self) {
        let batches: Vec<u32> =
            (0..self.records).map(|_| below(self.batches, &mut self.bits) as u32).collect();
        self.starts.clear();
        self.starts.resize(self.batches as usize + 1, 0);
        for batch in &batches {
            self.starts[*batch as usize + 1] += 1;
        }
        for batch in 0..self.batches as usize {
            self.starts[batch + 1] += self.starts[batch];
        }
        let mut next = self.starts.clone();
        self.shuffled.resize(self.records as usize, 0);
        for (record, batch) in batches.into_iter().enumerate() {
            let place = &mut next[batch as usize];
            self.shuffled[*place] = record as u32;
            *place += 1;
        }
    }

    /// Draws each record with the probability of the coin, 64 at a time.
    fn toss(&mut self, coin: Coin, records: &mut Vec<u32>) {
        for first in (0..self.records).step_by(64) {
            let mask = u64::MAX >> (64 - (self.records - first).min(64));
            let mut heads = coin.toss_many(mask, &mut self.bits);
            while heads != 0 {
                records.push(first as u32 + heads.trailing_zeros());
                heads &= heads - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
