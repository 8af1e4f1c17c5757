//! How far one use of the record moves the iterate.

use super::documented::Documented;
use super::uses::{Atom, ROUNDING};
use dobrushin::Enclosure;
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::binomial;
use dobrushin::run::{Batch, Divisor, Order};

/// The gradients of the other records, where the iterate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// They are zero.
    Still,
    /// They are opposite to that of the record, and as long. Then a batch that is drawn without the record has their
    /// gradient in its place, and the iterate drifts.
    Opposed,
}

/// The difference that a use of the record makes.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    /// Whether the record moves the iterate one way with D, and the opposite way with D′; otherwise D′ does not move it.
    pub opposite: bool,
    /// By how many lengths of one gradient, divided by the divisor: the possible amounts, given that the record is used.
    pub amounts: Vec<Atom>,
    /// The probability with which some step is not as described.
    pub exception: f64,
}

/// Divisors that are drawn are put into this many groups.
const GROUPS: u64 = 12;

impl Documented<'_> {
    /// The effect of a use; `None` if it cannot be described so.
    pub fn effect(&self, others: Others) -> Option<Effect> {
        let run = self.run;
        let opposed = others == Others::Opposed;
        let replaced = run.neighbours == Neighbours::ReplaceOne;
        let removed = run.neighbours == Neighbours::AddOrRemoveOne;
        let one = |opposite: bool, gradients: f64| {
            let amounts = vec![Atom::new(gradients / self.divisor(), 1.0)];
            Some(Effect { opposite, amounts, exception: 0.0 })
        };
        match (run.order, run.divide_by) {
            (Order::Poisson, Divisor::Actual) => self.divided_by_the_number_drawn(opposed, replaced),
            // The number of others is random: if they moved the iterate, that would be noise.
            (Order::Poisson | Order::Allocation, Divisor::BatchSize) if opposed => None,
            (Order::Poisson | Order::Allocation, Divisor::BatchSize) => one(replaced, 1.0),
            (Order::Allocation, Divisor::Actual) => None,
            (Order::WithoutReplacement | Order::Shuffled, _) => match (replaced, removed, opposed) {
                (true, _, true) | (_, true, true) => one(false, 2.0),
                (true, _, false) => one(true, 1.0),
                (false, _, false) => one(false, 1.0),
                (false, false, true) => None,
            },
            // All but one gradient are opposed to that of the record: without it, their average is the same.
            (Order::Full, Divisor::Actual) if removed => one(false, if opposed { 2.0 } else { 1.0 }),
            // The record is used at known times, so that it does not matter which of two gradients counts as zero.
            (Order::Once | Order::Cyclic | Order::Full, _) if !opposed => {
                one(false, if replaced { 2.0 } else { 1.0 })
            }
            (Order::Once | Order::Cyclic | Order::Full, _) => None,
        }
    }

    /// What the sum of a batch is divided by, where that is certain. A smaller last batch of a pass is not looked at.
    fn divisor(&self) -> f64 {
        match (self.run.order, self.run.divide_by, self.run.batch) {
            (Order::Full, _, _) => self.run.records as f64,
            (_, Divisor::Actual, Batch::Size(size)) => size as f64,
            _ => self.batch(),
        }
    }

    /// The record joins k others, and 1/(k + 1) of its gradient counts, or of the difference to theirs; k is binomial.
    fn divided_by_the_number_drawn(&self, opposed: bool, replaced: bool) -> Option<Effect> {
        let (rate, others) = (self.rate_of_use(), self.run.records - 1);
        let mean = rate * others as f64;
        let spread = 8.0 * mean.sqrt() + 12.0;
        let (from, to) =
            ((mean - spread).max(0.0).floor() as u64, ((mean + spread).ceil() as u64).min(others));
        let (p, q) = (Enclosure::from(rate), Enclosure::ONE - Enclosure::from(rate));
        // An empty batch stays where it is, though the others would have moved it.
        let exception = match opposed {
            true => q.powi(others as i64).upper() * self.private as f64 * (1.0 + ROUNDING),
            false => 0.0,
        };
        let gradients = if opposed { 2.0 } else { 1.0 };
        let width = (to - from + 1).div_ceil(GROUPS);
        let mut amounts = Vec::new();
        let mut k = from;
        while k <= to {
            let end = (k + width - 1).min(to);
            let probability: f64 = (k..=end).map(|k| binomial::mass(others, k, p, q).lower()).sum();
            let amount = |k: u64| gradients / (k + 1) as f64;
            amounts.push(Atom { least: amount(end), most: amount(k), probability });
            k = end + 1;
        }
        let seen: f64 = amounts.iter().map(|atom| atom.probability).sum();
        // Batches that are larger still: the record counts for nothing, or as in the smallest.
        amounts.push(Atom {
            least: 0.0,
            most: gradients / (from.max(1)) as f64,
            probability: (1.0 - seen).max(0.0),
        });
        Some(Effect { opposite: replaced && !opposed, amounts, exception })
    }
}
