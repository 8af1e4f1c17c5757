//! How many steps a run has, and how often one record takes part in them.
//!
//! # Incomplete batches
//! If records take turns and batches of b do not divide all n evenly, the n mod b records at the end of a pass are
//! handled in some way ([`IncompleteBatch`]). If that way is not given, every possibility is covered:
//! - if they are left out, a pass has ⌊n/b⌋ steps; as a smaller batch, or one completed by empty records, ⌈n/b⌉;
//! - if the batch is completed from the next pass, T steps use the first T·b records of pass after pass. In a fixed
//!   order two uses of a record are n ≥ b places apart, so no batch contains it twice. With a new random order in each
//!   pass, the last batch of one pass and the first of the next may be the same batch and contain a record twice: then
//!   its contribution is twice as large. Of k uses, at most ⌊k/2⌋ pairs meet in this way.

use super::training::{Batch, Divisor, IncompleteBatch, Length, Order, Record, Training};
use crate::mechanism::Neighbours;
use crate::{Enclosure, Error, Probability};

/// A number of steps counts as whole if it is whole up to the rounding of the decimals from which it was computed.
const DECIMALS: f64 = 1.0 / (1_u64 << 50) as f64;

impl Training {
    /// The number of steps; `None` if it may be any number. A fraction of a step counts as a whole one, and so does an
    /// incomplete last batch of a pass.
    pub fn steps(&self) -> Option<u64> {
        self.whole_steps().or_else(|| Some((self.steps_in_epochs()?.upper().ceil() as u64).max(1)))
    }

    /// The number of steps if it is certain: given directly, or as epochs that are a whole number of steps up to the
    /// rounding of decimals.
    pub(crate) fn whole_steps(&self) -> Option<u64> {
        if let Length::Steps(steps) = self.length {
            return Some(steps);
        }
        let steps = self.steps_in_epochs()?.midpoint();
        let (whole, rounding) = (steps.round().max(1.0), DECIMALS * steps);
        // Beyond about 10¹⁴ steps, that rounding hides which number is meant.
        (rounding < 0.25 && (steps - whole).abs() <= rounding).then_some(whole as u64)
    }

    /// The possible numbers of steps: one; for a fraction of a step, the two neighbouring integers; and where an
    /// incomplete batch of a single pass may be left out, also those of the shorter pass. `None` if there are more, or
    /// if any number is possible.
    pub(crate) fn possible_steps(&self) -> Option<Vec<u64>> {
        let dropped = self.steps_if_dropped();
        if let (Some(steps), None) = (self.whole_steps(), dropped) {
            return Some(vec![steps]);
        }
        let fewest = dropped.or_else(|| self.steps_in_epochs())?.lower().floor().max(1.0) as u64;
        let most = self.steps()?;
        // A pass has at most one step less, and a fraction of a step has two neighbouring integers.
        (most - fewest <= 2).then(|| (fewest..=most).collect())
    }

    /// The length of part of a single pass if its incomplete batch is left out, where its handling is not known.
    fn steps_if_dropped(&self) -> Option<Enclosure> {
        match (self.length, self.batch) {
            (Length::Epochs(epochs), Batch::Size(size))
                if self.order == Order::Once && self.has_incomplete_batches() && !self.has_equal_passes() =>
            {
                Some(Enclosure::from(epochs) * Enclosure::from(self.records / size))
            }
            _ => None,
        }
    }

    /// The number of steps in a number of epochs.
    pub(crate) fn steps_in_epochs(&self) -> Option<Enclosure> {
        let Length::Epochs(epochs) = self.length else {
            return None;
        };
        let epochs = Enclosure::from(epochs);
        Some(match self.batch {
            Batch::Probability(p) => epochs / Enclosure::from(p),
            Batch::Size(_)
                if self.order == Order::Allocation
                    || self.order.is_by_passes() && !self.fills_from_the_next_pass() =>
            {
                epochs * Enclosure::from(self.batches_in_a_pass())
            }
            // This order of operations keeps whole numbers of steps whole.
            Batch::Size(size) => epochs * Enclosure::from(self.records) / Enclosure::from(size),
        })
    }

    /// The possible ways to handle an incomplete batch: the given one, or all of them; none if no batch is incomplete.
    fn endings(&self) -> Vec<IncompleteBatch> {
        use IncompleteBatch::{Drop, Fill, Pad, Short};
        if !self.has_incomplete_batches() {
            return Vec::new();
        }
        match (self.incomplete_batch, self.order) {
            (Some(said), _) => vec![said],
            (None, Order::Once) => vec![Drop, Short, Pad],
            (None, _) => vec![Drop, Short, Pad, Fill],
        }
    }

    /// Whether records take turns in batches whose size does not divide their number.
    pub(crate) fn has_incomplete_batches(&self) -> bool {
        self.order.is_by_passes()
            && matches!(self.batch, Batch::Size(size) if !self.records.is_multiple_of(size))
    }

    /// Whether passes are known to begin within batches.
    fn fills_from_the_next_pass(&self) -> bool {
        self.has_incomplete_batches() && self.incomplete_batch == Some(IncompleteBatch::Fill)
    }

    /// Whether every pass is known to have the same number of steps, and a record of a fixed order the same place in
    /// each.
    pub(crate) fn has_equal_passes(&self) -> bool {
        use IncompleteBatch::{Drop, Pad, Short};
        !self.has_incomplete_batches() || matches!(self.incomplete_batch, Some(Drop | Short | Pad))
    }

    /// Whether every batch is known to contain the same number of records, none of them empty.
    pub(crate) fn has_full_batches(&self) -> bool {
        !self.has_incomplete_batches() || self.incomplete_batch == Some(IncompleteBatch::Drop)
    }

    /// The number of batches in a pass; an incomplete last one counts, unless it is known to be left out.
    pub(crate) fn batches_in_a_pass(&self) -> u64 {
        match self.batch {
            Batch::Size(size) if self.incomplete_batch == Some(IncompleteBatch::Drop) => {
                (self.records / size.max(1)).max(1)
            }
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

    /// The step of a pass that uses a record.
    pub(crate) fn place_of(&self, record: u64) -> u64 {
        match self.batch {
            Batch::Size(size) => record.div_ceil(size.max(1)),
            Batch::Probability(_) => 1,
        }
    }

    /// The largest number of times that one record can take part; `None` if there is no limit.
    pub fn participations(&self) -> Option<u64> {
        if let Some(times) = self.participations_of_the_record() {
            return Some(times);
        }
        match (self.order, self.length) {
            (_, Length::Any) => None,
            (Order::Once, _) => Some(1),
            (Order::Cyclic | Order::Shuffled, Length::Epochs(epochs)) => {
                let passes = epochs.get().ceil() as u64;
                // After a fraction of a pass, its last batch may be made complete too.
                let fraction = epochs.get().fract() > 0.0;
                let filled = fraction && self.endings().contains(&IncompleteBatch::Fill);
                Some(if filled { passes.max(self.passes_filled(epochs.into())) } else { passes })
            }
            (Order::Allocation, _) => self.steps().map(|steps| steps.div_ceil(self.batches_in_a_pass())),
            (Order::Cyclic | Order::Shuffled, Length::Steps(steps)) => match self.batch {
                Batch::Size(size) => Some(self.passes_touched(steps, size)),
                Batch::Probability(_) => Some(steps),
            },
            (Order::Poisson | Order::WithoutReplacement | Order::Full, _) => self.steps(),
        }
    }

    /// The largest number of passes over which the steps of a number of epochs can spread, if all their batches are
    /// complete.
    fn passes_filled(&self, epochs: Enclosure) -> u64 {
        let Batch::Size(size) = self.batch else {
            return u64::MAX;
        };
        let steps = (epochs * Enclosure::from(self.records) / Enclosure::from(size)).upper().ceil();
        (Enclosure::from(steps) * Enclosure::from(size) / Enclosure::from(self.records)).upper().ceil() as u64
    }

    /// The largest number of passes over which T steps can spread.
    fn passes_touched(&self, steps: u64, size: u64) -> u64 {
        let of = |ending| match ending {
            IncompleteBatch::Drop => steps.div_ceil((self.records / size).max(1)),
            IncompleteBatch::Short | IncompleteBatch::Pad => steps.div_ceil(self.records.div_ceil(size)),
            IncompleteBatch::Fill => {
                let places = u128::from(steps) * u128::from(size);
                u64::try_from(places.div_ceil(u128::from(self.records))).unwrap_or(u64::MAX)
            }
        };
        self.endings().into_iter().map(of).max().unwrap_or_else(|| of(IncompleteBatch::Drop))
    }

    /// The largest number of steps that can contain one record twice.
    pub(crate) fn most_double_uses(&self) -> u64 {
        if self.order == Order::Shuffled && self.endings().contains(&IncompleteBatch::Fill) {
            self.participations().unwrap_or(u64::MAX) / 2
        } else {
            0
        }
    }

    /// The number of times that a record with a known place takes part, if passes are equal.
    fn participations_of_the_record(&self) -> Option<u64> {
        let (Record::Index(index), Some(steps), true) = (self.record, self.steps(), self.has_equal_passes())
        else {
            return None;
        };
        let place = self.place_of(index);
        let times = match steps.checked_sub(place) {
            Some(later) if place <= self.batches_in_a_pass() => later / self.batches_in_a_pass() + 1,
            _ => 0,
        };
        match self.order {
            Order::Once => Some(times.min(1)),
            Order::Cyclic => Some(times),
            _ => None,
        }
    }

    /// The probability with which a step uses a given record, rounded up: more sampling is
    /// less private.
    pub(crate) fn rate(&self) -> Result<Probability, Error> {
        match self.batch {
            Batch::Probability(p) => Ok(p),
            Batch::Size(_) if self.order == Order::Allocation => {
                Probability::new((Enclosure::ONE / Enclosure::from(self.batches_in_a_pass())).upper())
            }
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

    /// The fewest records that a batch of records in turn can contain, counting empty ones or not.
    pub(crate) fn fewest_in_a_batch(&self, count_empty: bool) -> Enclosure {
        let Batch::Size(size) = self.batch else {
            return Enclosure::ONE;
        };
        let of = |ending| match (ending, self.length) {
            (IncompleteBatch::Drop, _) | (IncompleteBatch::Fill, Length::Steps(_) | Length::Any) => size,
            (IncompleteBatch::Pad, _) if count_empty => size,
            (IncompleteBatch::Short | IncompleteBatch::Pad, _) => self.records % size,
            (IncompleteBatch::Fill, Length::Epochs(epochs)) if epochs.get().fract() == 0.0 => {
                // Up to MOST_EPOCHS passes of up to MOST_COUNT records.
                match (epochs.get() as u128 * u128::from(self.records)) % u128::from(size) {
                    0 => size,
                    rest => rest as u64,
                }
            }
            (IncompleteBatch::Fill, Length::Epochs(_)) => 1,
        };
        Enclosure::from(self.endings().into_iter().map(of).min().unwrap_or(size))
    }

    /// The smallest b such that one record's share of the average gradient is at most C/b.
    ///
    /// It is the divisor if that is fixed. If it is the number of records drawn:
    /// - Poisson: the batch may be the record alone, so b = 1. If the record joins k ≥ 1 others, whose average is w, it
    ///   moves the average by (g − w)/(k + 1), which is also at most C.
    /// - In turn: the last batch of a pass may be smaller than the others.
    /// - All n records, one of which is added or removed: the average moves by (g − w)/n, at most 2C/n.
    pub(crate) fn smallest_divisor(&self) -> Enclosure {
        let nominal = self.nominal_batch();
        if self.divide_by == Divisor::BatchSize {
            return nominal;
        }
        match self.order {
            Order::Poisson => Enclosure::ONE,
            Order::Full if self.neighbours == Neighbours::AddOrRemoveOne => nominal / Enclosure::from(2.0),
            // Refused: see `check.rs`.
            Order::Allocation => Enclosure::ONE,
            Order::Full | Order::WithoutReplacement => nominal,
            Order::Once | Order::Cyclic | Order::Shuffled => self.fewest_in_a_batch(true),
        }
    }
}
