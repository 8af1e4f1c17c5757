//! The batches that a step may draw, and what they mean for its update.
//!
//! # Poisson batches are ordinary, almost always
//! A Poisson batch may be empty, or contain every record. But the number N of *other* records that a step draws is
//! binomial, independent of whether the record takes part, and has the same law for both neighbours. Given these
//! numbers, both neighbours' runs are mixtures with the same weights, so for any set G of sequences of them
//!
//! ```text
//! E_γ(P‖Q) ≤ Pr(not G) + sup over G of E_γ(given the numbers),
//! ```
//!
//! by joint convexity: without a factor γ. [`Ordinary`] is the set of sequences all of whose numbers are between two
//! bounds, chosen so that Pr(not G) is at most a given probability. Chains are then lowered for these numbers only,
//! and the probability is a part of δ.

use crate::chain::Participation;
use crate::mechanism::Neighbours;
use crate::numeric::{binomial, partition_point};
use crate::run::{Batch, Divisor, Order, Training};
use crate::{Enclosure, Probability};

/// Bounds on the number of other records in each of some Poisson batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ordinary {
    /// The fewest other records.
    pub least: u64,
    /// The most other records.
    pub most: u64,
    /// The probability that some batch has fewer or more.
    pub exception: Enclosure,
    /// If these are not all batches, the number of the last steps whose batches they are.
    pub last: Option<u64>,
}

/// A sampler may draw records with a probability that is smaller by this share.
const DRAWN_LESS: f64 = 1.0 / (1_u64 << 40) as f64;

impl Training {
    /// Bounds that the batches of this many steps leave with at most this probability; `None` if none is needed or
    /// known. Only the ends that an update depends on are bounded: the fewest records if they are the divisor or if
    /// each adds curvature, and the most if the divisor is fixed.
    ///
    /// # Guarantee
    /// For both neighbours, and whether the record takes part or not, the numbers of other records in the batches of
    /// the steps are all between the bounds, except with probability `exception`. For add-or-remove-one the common
    /// records are at most n; they are at least n − 1 if one of the two data sets has exactly n, which is an
    /// assumption where the fewest are bounded.
    pub(super) fn ordinary_batches(&self, allowed: Probability, steps: u64) -> Option<Ordinary> {
        let varies = matches!(self.order, Order::Poisson | Order::Allocation);
        if !varies || allowed.get() <= 0.0 || steps == 0 {
            return None;
        }
        let (fewest_others, most_others) = match self.neighbours {
            Neighbours::AddOrRemoveOne => (self.records - 1, self.records),
            Neighbours::ReplaceOne | Neighbours::ZeroOut => {
                (self.records - self.in_question(), self.records - self.in_question())
            }
        };
        let ends = [self.depends_on_the_fewest(), self.divide_by == Divisor::BatchSize];
        let sides = ends.iter().filter(|end| **end).count() as f64;
        let steps = Enclosure::from(steps);
        let share = (Enclosure::from(allowed) / (steps * Enclosure::from(sides))).lower();
        let rate = self.sampling_rate();
        let drawn = Enclosure::between(rate.lower() * (1.0 - DRAWN_LESS), rate.upper());
        // P(N ≥ k) of the most others, and P(N < k) of the fewest: that at least n − k + 1 are not drawn.
        let above = |k: u64| binomial::at_least(most_others, k, Enclosure::from(drawn.upper()));
        let missed = Enclosure::ONE - Enclosure::from(drawn.lower());
        let below = |k: u64| match k {
            0 => Enclosure::ZERO,
            k => binomial::at_least(fewest_others, fewest_others - k + 1, missed),
        };
        let (mut least, mut most, mut exception) = (0, most_others, Enclosure::ZERO);
        if ends[1] {
            let end = usize::try_from(most_others).ok()?;
            most = partition_point(0..end, |k| above(k as u64 + 1).upper() > share) as u64;
            exception = exception + above(most + 1);
        }
        if ends[0] {
            let end = usize::try_from(fewest_others).ok()?;
            // The largest k with P(N < k) within the share.
            least = (partition_point(0..end, |k| below(k as u64 + 1).upper() <= share)) as u64;
            exception = exception + below(least);
        }
        let exception = (exception * steps).min(Enclosure::ONE);
        Some(Ordinary { least, most, exception: Enclosure::from(exception.upper()), last: None })
    }

    /// Whether an update is bounded better if its batch contains more records.
    pub(super) fn depends_on_the_fewest(&self) -> bool {
        self.divide_by == Divisor::Actual || self.usable_strong_convexity().upper() > 0.0
    }

    /// The probability with which a step draws a record.
    fn sampling_rate(&self) -> Enclosure {
        match self.batch {
            Batch::Probability(p) => p.into(),
            Batch::Size(_) if self.order == Order::Allocation => {
                Enclosure::ONE / Enclosure::from(self.batches_in_a_pass())
            }
            Batch::Size(size) => (Enclosure::from(size) / Enclosure::from(self.records)).min(Enclosure::ONE),
        }
    }

    /// The smallest and the largest |B|/b that can occur, for either neighbour, counting only records that are not
    /// empty.
    ///
    /// Under zero-out the record's gradient is zero in one of the neighbours, and adds no curvature there: if it takes
    /// part, that neighbour's batch has one record less. (Where only the distance between the two neighbours' iterates
    /// matters, it would suffice that one of their updates contracts. Analyses that apply the same update, of either
    /// neighbour, to both iterates need this.)
    pub(super) fn batch_shares(&self, participation: Participation, ordinary: Option<&Ordinary>) -> Shares {
        let one = Enclosure::ONE;
        let divisor = self.nominal_batch();
        let records = Enclosure::from(self.records);
        let empty = self.most_empty(participation);
        let zeroed = empty != Enclosure::ZERO;
        let mut shares = match (self.order, self.divide_by) {
            (Order::Poisson, Divisor::Actual) => {
                let least = ordinary.map_or(0, |ordinary| ordinary.least);
                return match least {
                    // A batch may be empty, or contain the record alone.
                    0 => Shares { least: Enclosure::ZERO, most: one },
                    others if zeroed => {
                        Shares { least: Enclosure::from(others) / Enclosure::from(others + 1), most: one }
                    }
                    _ => Shares { least: one, most: one },
                };
            }
            (Order::Poisson | Order::Allocation, Divisor::BatchSize) => {
                if let Some(&Ordinary { least, most, .. }) = ordinary {
                    // The record may join them, or those that are deleted. They are not needed for the fewest.
                    let most = Enclosure::from(most) + Enclosure::from(self.in_question());
                    let least = Enclosure::from(least);
                    return Shares { least: least / divisor, most: most / divisor };
                }
                // A batch may be empty, or contain every record.
                let extra = if self.neighbours == Neighbours::AddOrRemoveOne { one } else { Enclosure::ZERO };
                Shares { least: Enclosure::ZERO, most: (records + extra) / divisor }
            }
            (Order::Full, Divisor::BatchSize) if self.neighbours == Neighbours::AddOrRemoveOne => {
                Shares { least: (records - one) / divisor, most: (records + one) / divisor }
            }
            (order, divide_by) if order.is_by_passes() => {
                let fewest = self.fewest_in_a_batch(false);
                let least = match divide_by {
                    Divisor::BatchSize => fewest / divisor,
                    // The bounds are the same unless empty records count; then their batch has the full divisor.
                    Divisor::Actual if fewest == self.fewest_in_a_batch(true) => one,
                    Divisor::Actual => fewest / divisor,
                };
                Shares { least, most: one }
            }
            _ => Shares { least: one, most: one },
        };
        if zeroed {
            shares.least = (shares.least - empty / self.smallest_divisor()).positive_part();
        }
        shares
    }

    /// The number of records by which neighbours differ: one, or all that are deleted.
    fn in_question(&self) -> u64 {
        self.deleted_records().max(1)
    }

    /// The most empty slots of a batch, for either neighbour. The slots of deleted records are empty in one of the runs
    /// that are compared from the start, whether they take part in the other or not.
    fn most_empty(&self, participation: Participation) -> Enclosure {
        match (self.neighbours, self.deleted_records()) {
            (Neighbours::ZeroOut, 0) if !participation.is_never() => Enclosure::ONE,
            (_, 0) => Enclosure::ZERO,
            (_, deleted) => self.most_in_a_batch(deleted),
        }
    }

    /// How far the record can move an update.
    pub(super) fn moved(&self, ordinary: Option<&Ordinary>) -> Moved {
        let (apart, missing) = (self.contributions_apart(), self.contributions_missing());
        match ordinary {
            // The record joins N ≥ 1 others, whose average is w: it moves the average by (g − w)/(N + 1), another
            // record in its place by (g − g′)/(N + 1), and an empty one by g/(N + 1).
            Some(&Ordinary { least, .. }) if self.divide_by == Divisor::Actual && least > 0 => {
                let apart = if self.neighbours == Neighbours::AddOrRemoveOne { 2.0 } else { apart };
                Moved { apart, missing: 2.0, divisor: Enclosure::from(least) + Enclosure::ONE }
            }
            _ => Moved { apart, missing, divisor: self.smallest_divisor() },
        }
    }

    /// Whether one of two neighbours makes the update without the record, whether the record takes part or not.
    pub(super) fn record_vanishes(&self) -> bool {
        match (self.neighbours, self.order, self.divide_by) {
            (Neighbours::AddOrRemoveOne, Order::Poisson, _) => true,
            // An empty record still counts in the number drawn.
            (Neighbours::ZeroOut, Order::Poisson, Divisor::BatchSize) => true,
            (Neighbours::ZeroOut | Neighbours::AddOrRemoveOne, Order::Allocation, Divisor::BatchSize) => true,
            _ => false,
        }
    }
}

/// The distance between updates: some contributions of one record, divided.
pub(super) struct Moved {
    /// The contributions by which neighbours differ if the record takes part.
    pub apart: f64,
    /// The contributions by which an update with the record differs from one without it.
    pub missing: f64,
    /// The divisor.
    pub divisor: Enclosure,
}

/// The smallest and the largest number of records in a batch, relative to the divisor.
pub(super) struct Shares {
    pub least: Enclosure,
    pub most: Enclosure,
}

impl Shares {
    pub fn lower_end(&self) -> Enclosure {
        Enclosure::from(self.least.lower())
    }

    pub fn upper_end(&self) -> Enclosure {
        Enclosure::from(self.most.upper())
    }
}
