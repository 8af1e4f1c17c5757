//! How many steps a run has, and how often one record takes part in them.

use super::training::{Batch, Divisor, Length, Order, Record, Training};
use crate::mechanism::Neighbours;
use crate::{Enclosure, Error, Probability};

impl Training {
    /// The number of steps; `None` if it may be any. A fraction of a step counts as a whole one, and so does
    /// an incomplete last batch of a pass.
    pub fn steps(&self) -> Option<u64> {
        self.whole_steps().or_else(|| Some((self.steps_in_epochs()?.upper().ceil() as u64).max(1)))
    }

    /// The number of steps if that is certain: given as such, or as epochs that are a whole number of steps up to
    /// the rounding of decimals.
    pub(crate) fn whole_steps(&self) -> Option<u64> {
        if let Length::Steps(steps) = self.length {
            return Some(steps);
        }
        let steps = self.steps_in_epochs()?;
        let whole = steps.midpoint().round().max(1.0);
        ((steps.midpoint() - whole).abs() <= 1e-9 * whole).then_some(whole as u64)
    }

    /// What a number of epochs amounts to.
    pub(super) fn steps_in_epochs(&self) -> Option<Enclosure> {
        let Length::Epochs(epochs) = self.length else {
            return None;
        };
        let epochs = Enclosure::from(epochs);
        Some(match self.batch {
            Batch::Probability(p) => epochs / Enclosure::from(p),
            Batch::Size(_) if self.order.is_by_passes() => epochs * Enclosure::from(self.batches_in_a_pass()),
            // In this order whole numbers of steps come out whole.
            Batch::Size(size) => epochs * Enclosure::from(self.records) / Enclosure::from(size),
        })
    }

    /// The number of batches, an incomplete last one included, that hold all records.
    pub(crate) fn batches_in_a_pass(&self) -> u64 {
        match self.batch {
            Batch::Size(size) => self.records.div_ceil(size.max(1)),
            Batch::Probability(_) => 1,
        }
    }

    /// The first record of a batch of a pass, both counted from 1.
    pub(crate) fn first_record_of(&self, place: u64) -> u64 {
        match self.batch {
            Batch::Size(size) => (place - 1).saturating_mul(size).saturating_add(1),
            Batch::Probability(_) => 1,
        }
    }

    /// The most often that one record can take part; `None` if there is no limit.
    ///
    /// With records in turn and a number of steps, an incomplete last batch may be used, left
    /// out, or filled up from the next pass: a pass then has at least ⌊n/b⌋ steps, and T steps
    /// touch at most ⌈T/⌊n/b⌋⌉ passes. A number of epochs says it directly.
    pub fn participations(&self) -> Option<u64> {
        if let Some(times) = self.participations_of_the_record() {
            return Some(times);
        }
        match (self.order, self.length) {
            (_, Length::Any) => None,
            (Order::Once, _) => Some(1),
            (Order::Cyclic | Order::Shuffled, Length::Epochs(epochs)) => Some(epochs.get().ceil() as u64),
            (Order::Cyclic | Order::Shuffled, Length::Steps(steps)) => match self.batch {
                Batch::Size(size) => Some(steps.div_ceil((self.records / size).max(1))),
                Batch::Probability(_) => Some(steps),
            },
            (Order::Poisson | Order::WithoutReplacement | Order::Full, _) => self.steps(),
        }
    }

    /// How often a record with a known place takes part, if batches are equal.
    fn participations_of_the_record(&self) -> Option<u64> {
        let (Record::Index(index), Some(steps), true) = (self.record, self.steps(), self.has_equal_batches())
        else {
            return None;
        };
        let later = steps.checked_sub(self.place_of(index));
        let times = later.map_or(0, |later| later / self.batches_in_a_pass() + 1);
        match self.order {
            Order::Once => Some(times.min(1)),
            Order::Cyclic => Some(times),
            _ => None,
        }
    }

    /// The probability with which a step uses a given record, rounded up: more sampling is
    /// less private.
    pub(super) fn rate(&self) -> Result<Probability, Error> {
        match self.batch {
            Batch::Probability(p) => Ok(p),
            Batch::Size(size) => {
                let rate = Enclosure::from(size) / Enclosure::from(self.records);
                Probability::new(rate.upper().min(1.0))
            }
        }
    }

    /// The batch size, or its expectation.
    pub(crate) fn nominal_batch(&self) -> Enclosure {
        match self.batch {
            Batch::Size(size) => Enclosure::from(size),
            Batch::Probability(p) => Enclosure::from(p) * Enclosure::from(self.records),
        }
    }

    /// The smallest b such that one record's share of the average gradient is at most C/b.
    ///
    /// It is the divisor if that is fixed. If it is the number of records drawn:
    /// - Poisson: the batch may be the record alone, so b = 1. Joining k ≥ 1 others, whose
    ///   average is w, it moves the average by (g − w)/(k + 1), at most C as well.
    /// - In turn: the last batch of a pass may be smaller than the others.
    /// - All n records, one of which is added or removed: by (g − w)/n, at most 2C/n.
    pub(super) fn smallest_divisor(&self) -> Enclosure {
        let nominal = self.nominal_batch();
        if self.divide_by == Divisor::BatchSize {
            return nominal;
        }
        match (self.order, self.batch) {
            (Order::Poisson, _) => Enclosure::ONE,
            (Order::Full, _) if self.neighbours == Neighbours::AddOrRemoveOne => {
                nominal / Enclosure::from(2.0)
            }
            (order, Batch::Size(size)) if order.is_by_passes() && !self.records.is_multiple_of(size) => {
                Enclosure::from(self.records % size)
            }
            _ => nominal,
        }
    }
}
