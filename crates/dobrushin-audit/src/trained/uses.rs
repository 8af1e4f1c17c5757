//! When a record is used, as far as an attacker knows.

use dobrushin::mechanism::Neighbours;
use dobrushin::run::{Batch, Order, Release, Training};
use dobrushin_train::Table;

/// The record that is attacked, and when it takes part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Uses {
    /// Which record, counted from 0.
    pub record: u32,
    /// The number of private steps.
    pub steps: u64,
    /// The number of steps in which each record is used once, on average.
    pub pass: u64,
    order: Order,
    /// The step of a pass that uses the record, for records in turn.
    place: u64,
    /// The probability with which a step uses a record.
    rate: f64,
}

impl Uses {
    /// The record about which a release tells most. Where records take turns, it is one that the last step uses. If the
    /// run stops at random, it is the first, because every later iterate knows it. If records may be present or absent,
    /// it comes after all others.
    pub fn new(training: &Training, table: &Table) -> Self {
        let steps = training.steps().unwrap_or(0);
        let (size, rate) = batch(training);
        let pass = training.records.div_ceil(size).max(1);
        let place = match training.release {
            Release::RandomStop => 0,
            Release::Last | Release::RandomSkip | Release::All => steps.saturating_sub(1) % pass,
        };
        let record = match (training.neighbours, training.order) {
            (Neighbours::AddOrRemoveOne, _) => table.len() as u64,
            (_, Order::Once | Order::Cyclic) => place * size,
            _ => training.records.saturating_sub(1),
        };
        let pass = if training.order == Order::Full { 1 } else { pass };
        // A plan has at most 2³² − 1 records.
        Self { record: record as u32, steps, pass, order: training.order, place, rate: rate.min(1.0) }
    }

    /// Whether records are used more than once, on average.
    pub fn has_passes(training: &Training) -> bool {
        let steps = training.steps().unwrap_or(0);
        match training.order {
            Order::Full => steps > 1,
            Order::Once => false,
            _ => steps > training.records.div_ceil(batch(training).0),
        }
    }

    /// The probability with which a step, counted from 1, uses the record.
    pub fn probability(&self, time: u64) -> f64 {
        let turn = time >= 1 && time <= self.steps && (time - 1) % self.pass == self.place;
        match self.order {
            _ if time > self.steps => 0.0,
            Order::Full => 1.0,
            Order::Poisson | Order::WithoutReplacement => self.rate,
            Order::Shuffled | Order::Allocation => 1.0 / self.pass as f64,
            Order::Cyclic => f64::from(turn),
            Order::Once => f64::from(turn && time <= self.pass),
        }
    }

    /// Whether a step is in the last pass: one use of the record is left, on average.
    pub fn is_late(&self, time: u64) -> bool {
        time + self.pass > self.steps
    }

    /// Whether the attacker knows which steps use the record.
    pub fn are_known(&self) -> bool {
        match self.order {
            Order::Full | Order::Cyclic | Order::Once => true,
            Order::Poisson | Order::WithoutReplacement => self.rate >= 1.0,
            Order::Shuffled | Order::Allocation => self.pass == 1,
        }
    }

    /// The number of other records that a step uses, on average.
    pub fn others(&self, table: &Table) -> f64 {
        let share = match self.order {
            Order::Full => 1.0,
            Order::Poisson | Order::WithoutReplacement => self.rate,
            Order::Shuffled | Order::Allocation | Order::Cyclic | Order::Once => 1.0 / self.pass as f64,
        };
        (share * table.len() as f64 - 1.0).max(0.0)
    }
}

/// The size of a batch, and its share of the records.
fn batch(training: &Training) -> (u64, f64) {
    match training.batch {
        Batch::Size(size) => (size.max(1), size as f64 / training.records.max(1) as f64),
        Batch::Probability(rate) => {
            ((rate.get() * training.records as f64).ceil().max(1.0) as u64, rate.get())
        }
    }
}
