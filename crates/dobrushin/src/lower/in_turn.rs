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
/// More passes than this, if they may be skipped, are skipped together.
const MOST_SKIPPED_PASSES: u64 = 16;

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
        if training.release == Release::RandomSkip && training.order == Order::Cyclic {
            return self.in_turn_after_skipping(place, total);
        }
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

    /// The record that is used in one given step of each pass, if up to half of the steps are skipped.
    ///
    /// If k steps are skipped, the uses up to step k do not take place; before the next one both neighbours have the
    /// same law. For each next use there is a branch. Of many uses, some consecutive ones are treated as the first of
    /// them: a use that does not take place is one that moves nothing.
    fn in_turn_after_skipping(&self, place: u64, total: u64) -> Result<Mixture, NotApplicable> {
        let choices = self.choices_of_skipping()?;
        let pass = self.training.batches_in_a_pass();
        let uses = (self.private - place) / pass + 1;
        // The number of choices after which none of the uses before this one, counted from 0, takes place.
        let without_those_before = |next: u64| match next.checked_sub(1) {
            Some(last) => choices.saturating_sub(place.saturating_add(last.saturating_mul(pass))),
            None => choices,
        };
        let possible = uses.min(choices.saturating_sub(place).div_ceil(pass) + 1);
        let group = possible.div_ceil(MOST_SKIPPED_PASSES);
        let mut branches = Vec::new();
        for next in (0..possible).step_by(usize::try_from(group).unwrap_or(usize::MAX)) {
            let times = without_those_before(next) - without_those_before((next + group).min(uses));
            let first = place + next * pass;
            let left = uses - next;
            let chain = if self.kinds.len() == 2 && left > MOST_PASSES {
                self.in_laps(first, left, total)?
            } else {
                self.chain(
                    (first..=self.private).step_by(usize::try_from(pass).unwrap_or(usize::MAX)),
                    total,
                )?
            };
            let weight = Enclosure::from(times) / Enclosure::from(choices);
            branches.push(Branch { weight, chain, stop: self.stop()? });
        }
        Ok(Mixture::new(branches))
    }

    /// The probability that fewer than `place` of the first steps are skipped, when up to half of them may be.
    fn weight_of_skipping(&self, place: u64) -> Result<Enclosure, NotApplicable> {
        let choices = self.choices_of_skipping()?;
        Ok(Enclosure::from(place.min(choices)) / Enclosure::from(choices))
    }

    /// The number of possible numbers of skipped steps, all equally likely.
    fn choices_of_skipping(&self) -> Result<u64, NotApplicable> {
        if self.kinds.len() > 2 {
            return Err(NotApplicable::because_of(
                &[Fact::LearningRate],
                "skipping the first steps needs equal steps: one learning rate",
            ));
        }
        Ok(self.private / 2 + 1)
    }
}
