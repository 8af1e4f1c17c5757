//! Records that take turns in a fixed order, once or repeatedly.
//!
//! # The worst record
//! Bounds on a chain hold for every start that both neighbours share and for every displacement up to d. Suppose that
//! all steps are equal. What follows the last use of a record is post-processing, so the least private of the records
//! that are used in turn is the one used in the last step. If the iterate at a random time is released, earlier records
//! are exposed at all times of later ones and more, so the first is the least private. If the noise is the same
//! multiple of the contribution in every step, and each record is used once, nothing follows the last record's use, and
//! this record alone bounds all others. Otherwise every record is considered.

use super::steps::Steps;
use crate::chain::{Branch, Chain, Count, MOST_STRETCHES, Mixture};
use crate::run::{Fact, Length, Order, Record, Release, in_the_way, missing};
use crate::{Enclosure, NotApplicable};

/// The most records that are considered one by one.
const MOST_VIEWS: u64 = 500;
/// More passes of equal steps than this become one entry of a chain.
const MOST_PASSES: u64 = 2048;

impl Steps<'_> {
    /// The steps of the first pass whose records may be the least private.
    pub fn places(&self) -> Result<Vec<u64>, NotApplicable> {
        let training = self.training;
        if let Record::Index(index) = training.record {
            return Ok(vec![training.place_of(index)]);
        }
        let pass = training.batches_in_a_pass();
        let used = pass.min(self.private);
        let one_step_each = training.order == Order::Once
            && training.has_equal_ratios()
            && training.release == Release::Last
            && training.public_steps == 0;
        if training.has_equal_steps() || one_step_each {
            return Ok(vec![match training.release {
                Release::RandomStop => 1,
                _ => (self.private - 1) % pass + 1,
            }]);
        }
        let stretches = self.private.saturating_add(training.public_steps).saturating_mul(used);
        if used > MOST_VIEWS || stretches > MOST_STRETCHES as u64 {
            return Err(missing!(
                "steps differ, so that any of {used} batches may be the least private, and only {MOST_VIEWS} are looked at \
                 one by one: ask for one record ({}), or give every step the same learning rate and noise ({})",
                Record,
                LearningRate
            ));
        }
        Ok((1..=used).collect())
    }

    /// The record that is used in one given step of each pass.
    pub fn in_turn(&self, place: u64) -> Result<Mixture, NotApplicable> {
        let training = self.training;
        let equal = training.has_equal_passes();
        if training.order == Order::Cyclic && (!equal || training.length == Length::Any) {
            let words = format!(
                "passes in a fixed order need a number of steps, and a {} that divides {} or {} = \"drop\", \"short\" \
                 or \"pad\"",
                Fact::BatchSize,
                Fact::Records,
                Fact::IncompleteBatch
            );
            return Err(match training.length {
                Length::Any => NotApplicable::missing(&[Fact::Steps], words),
                _ => {
                    NotApplicable::because_of(&[Fact::BatchSize, Fact::Records, Fact::IncompleteBatch], words)
                }
            });
        }
        if training.release != Release::Last && !equal {
            return Err(in_the_way!(
                "an incomplete last batch, used or not, changes the random times: {} must divide {}, or {} must say what \
                 becomes of it",
                BatchSize,
                Records,
                IncompleteBatch
            ));
        }
        // A record of a later step, or of a batch that is left out.
        if place > self.private || (equal && place > training.batches_in_a_pass()) {
            return Ok(Mixture::new(Vec::new()));
        }
        // An incomplete last batch may be left out, so no analysis relies on its step.
        let counted = if equal { self.private } else { self.private.min(training.batches_in_a_pass() - 1) };
        let total = counted.max(place).saturating_add(training.public_steps);
        let pass = usize::try_from(training.batches_in_a_pass()).unwrap_or(usize::MAX);
        let uses = (self.private - place) / training.batches_in_a_pass() + 1;
        let chain = match training.order {
            Order::Once => self.chain(std::iter::once(place), total)?,
            _ if self.kinds.len() == 2 && uses > MOST_PASSES => self.in_laps(place, uses, total)?,
            _ => self.chain((place..=self.private).step_by(pass), total)?,
        };
        let weight = match training.release {
            Release::RandomSkip => self.weight_of_skipping(place)?,
            _ => Enclosure::ONE,
        };
        Ok(Mixture::new(vec![Branch { weight, chain, stop: self.stop()? }]))
    }

    /// The chain that uses the record at one place in each pass of equal steps, this many times.
    fn in_laps(&self, place: u64, uses: u64, total: u64) -> Result<Chain, NotApplicable> {
        let pass = self.training.batches_in_a_pass();
        let last = place + (uses - 1) * pass;
        let [used, clean] = [true, false].map(|used| self.kind(1, used));
        let lap = vec![(used, Count::Times(1)), (clean, Count::Times(pass - 1))];
        let before = vec![(clean, Count::Times(place - 1))];
        let after = vec![(used, Count::Times(1)), (clean, Count::Times(total - last))];
        Ok(Chain::of_kinds_in_laps(&self.kinds, before, (lap, uses - 1), after, self.domain)?)
    }

    /// The probability that fewer than `place` of the first steps are skipped, when up to half of them may be.
    fn weight_of_skipping(&self, place: u64) -> Result<Enclosure, NotApplicable> {
        if self.kinds.len() > 2 {
            return Err(NotApplicable::because_of(
                &[Fact::LearningRate],
                "skipping the first steps needs equal steps: one learning rate",
            ));
        }
        let choices = self.private / 2 + 1;
        Ok(Enclosure::from(place.min(choices)) / Enclosure::from(choices))
    }
}
