//! From a training run to the chains of its records.
//!
//! # The worst record
//! Bounds on a chain hold for every start that both neighbours share and for every displacement up to d. So
//! with equal steps: what follows the last use is post-processing, and the least private of the records
//! that are used in turn is the one of the last step; of iterates that are released at random, earlier
//! records have all times of later ones and more, and the first is the least private. If the noise is
//! the same multiple of the contribution in every step, and each record is used once, nothing follows the
//! last record's use, and that alone bounds all others. Otherwise every record is looked at.

use super::training::{Batch, IncompleteBatch, Length, Order, Record, Release, Training};
use crate::chain::{Branch, Chain, Count, Domain, MOST_STRETCHES, Mixture, Participation, Step, Stop};
use crate::{Enclosure, NotApplicable};
use std::sync::Arc;

/// What is released of a run, for each record that may be the least private.
pub struct Released {
    /// One for each of them; the run is as private as the least private.
    pub views: Vec<Mixture>,
    /// What must hold, in words.
    pub assumptions: Vec<String>,
    /// What was said of the run but could not be used, in words.
    pub notes: Vec<String>,
}

/// The most records that are looked at one by one.
const MOST_VIEWS: u64 = 500;
/// More passes of equal steps are one entry of a chain.
const MOST_PASSES: u64 = 2048;
/// The most different steps.
const MOST_DIFFERENT: u64 = 1_000_000;

impl Training {
    /// What is released, for the record or records in question.
    pub(super) fn released(&self) -> Result<Released, NotApplicable> {
        if self.release == Release::All {
            return Err(NotApplicable::new(
                "every iterate is released, so nothing is hidden: run.release is \"all\"",
            ));
        }
        let mut views = Vec::new();
        for steps in self.lengths()? {
            let steps = Steps::new(self, steps)?;
            match self.order {
                Order::Poisson | Order::WithoutReplacement | Order::Full => views.push(steps.at_random()?),
                Order::Shuffled => views.push(steps.shuffled()?),
                Order::Once | Order::Cyclic => {
                    for place in self.places(&steps)? {
                        views.push(steps.in_turn(place)?);
                    }
                }
            }
        }
        Ok(Released { views, assumptions: self.hidden_assumptions(), notes: self.unused_facts() })
    }

    /// The numbers of steps that may have been made; `None` stands for any number.
    fn lengths(&self) -> Result<Vec<Option<u64>>, NotApplicable> {
        if self.length == Length::Any {
            return Ok(vec![None]);
        }
        let possible = self.possible_steps().ok_or_else(|| {
            NotApplicable::new(
                "run.epochs is so long that its number of steps is not certain, and one step more or less changes what \
                 is hidden: give run.steps",
            )
        })?;
        Ok(possible.into_iter().map(Some).collect())
    }

    /// The steps of the first pass whose records may be the least private.
    fn places(&self, steps: &Steps<'_>) -> Result<Vec<u64>, NotApplicable> {
        if let Record::Index(index) = self.record {
            return Ok(vec![self.place_of(index)]);
        }
        let pass = self.batches_in_a_pass();
        let used = pass.min(steps.private);
        let one_step_each = self.order == Order::Once
            && self.has_equal_ratios()
            && self.release == Release::Last
            && self.public_steps == 0;
        if self.has_equal_steps() || one_step_each {
            return Ok(vec![match self.release {
                Release::RandomStop => 1,
                _ => (steps.private - 1) % pass + 1,
            }]);
        }
        let stretches = steps.private.saturating_add(self.public_steps).saturating_mul(used);
        if used > MOST_VIEWS || stretches > MOST_STRETCHES as u64 {
            return Err(NotApplicable::new(format!(
                "steps differ, so that any of {used} batches may be the least private, and so many are not looked at: \
                 ask for one record (run.record), or let the noise follow the learning rate \
                 (update.gradient-noise)"
            )));
        }
        Ok((1..=used).collect())
    }

    /// The step of a pass that uses a record.
    pub(crate) fn place_of(&self, record: u64) -> u64 {
        match self.batch {
            Batch::Size(size) => record.div_ceil(size.max(1)),
            Batch::Probability(_) => 1,
        }
    }
}

/// The different steps of a run, and how many there are.
struct Steps<'a> {
    training: &'a Training,
    /// With the record and without it; for each time, if steps differ.
    kinds: Arc<[Step]>,
    /// How many steps use private records; at most so many, for any number.
    private: u64,
    domain: Domain,
}

impl<'a> Steps<'a> {
    /// Those of a run of this many steps on private records, or of any number.
    fn new(training: &'a Training, private: Option<u64>) -> Result<Self, NotApplicable> {
        let equal = training.has_equal_steps();
        let participation = match training.order {
            Order::Poisson | Order::WithoutReplacement => Participation::Sometimes(training.rate()?),
            _ => Participation::Always,
        };
        let different = match private {
            _ if equal => 1,
            None => {
                return Err(NotApplicable::new(
                    "any number of steps, each with its own learning rate or noise: give run.steps",
                ));
            }
            Some(steps) => steps.saturating_add(training.public_steps),
        };
        if different > MOST_DIFFERENT {
            return Err(NotApplicable::new(format!(
                "{different} different steps: at most {MOST_DIFFERENT} are looked at"
            )));
        }
        let mut kinds = Vec::with_capacity(2 * different as usize);
        for time in 1..=different {
            kinds.push(training.step_at(time, participation)?);
            kinds.push(training.step_at(time, Participation::Never)?);
        }
        let domain = Domain { diameter: training.domain.diameter, dimension: training.domain.dimension };
        Ok(Self { training, kinds: kinds.into(), private: private.unwrap_or(u64::MAX), domain })
    }

    fn kind(&self, time: u64, used: bool) -> usize {
        let at = if self.kinds.len() == 2 { 0 } else { 2 * (time as usize - 1) };
        at + usize::from(!used)
    }

    /// The chain that uses the record at the given times, of so many.
    fn chain(&self, uses: impl Iterator<Item = u64>, total: u64) -> Result<Chain, NotApplicable> {
        let mut stretches = Vec::new();
        let mut next = 1;
        let skip_to = |next: &mut u64, time: u64, stretches: &mut Vec<(usize, Count)>| {
            if self.kinds.len() == 2 {
                stretches.push((self.kind(*next, false), Count::Times(time - *next)));
            } else {
                stretches.extend((*next..time).map(|t| (self.kind(t, false), Count::Times(1))));
            }
            *next = time;
        };
        for time in uses {
            skip_to(&mut next, time, &mut stretches);
            stretches.push((self.kind(time, true), Count::Times(1)));
            next = time + 1;
            if stretches.len() > MOST_STRETCHES {
                return Err(NotApplicable::new(format!(
                    "the record is used more than {} times in turn: composition counts them",
                    MOST_STRETCHES / 2
                )));
            }
        }
        skip_to(&mut next, total + 1, &mut stretches);
        self.of(stretches)
    }

    fn of(&self, stretches: Vec<(usize, Count)>) -> Result<Chain, NotApplicable> {
        Chain::of_kinds(Arc::clone(&self.kinds), stretches, self.domain)
            .map_err(|error| NotApplicable::new(error.to_string()))
    }

    /// Steps that all may use the record.
    fn at_random(&self) -> Result<Mixture, NotApplicable> {
        let public = self.training.public_steps;
        let stop = self.stop()?;
        let chain = match (self.training.length, self.kinds.len()) {
            (Length::Any, _) if public > 0 => {
                return Err(NotApplicable::new("public steps after any number of others: give run.steps"));
            }
            (Length::Any, _) => self.of(vec![(0, Count::Any)])?,
            (_, 2) => self.of(vec![(0, Count::Times(self.private)), (1, Count::Times(public))])?,
            _ => self.chain(1..=self.private, self.private.saturating_add(public))?,
        };
        Ok(Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop }]))
    }

    /// One pass in random order.
    fn shuffled(&self) -> Result<Mixture, NotApplicable> {
        let pass = self.training.batches_in_a_pass();
        if self.training.length == Length::Any || self.private > pass {
            return Err(NotApplicable::new(
                "several passes, each in its own random order: hidden states are credited for one such pass, or for \
                 run.order = \"cyclic\"",
            ));
        }
        let padded = self.training.incomplete_batch == Some(IncompleteBatch::Pad);
        if self.kinds.len() > 2 || !(self.training.has_full_batches() || padded) {
            return Err(NotApplicable::new(
                "a random order needs equal steps: one learning rate, and a run.batch-size that divides run.records, or \
                 run.incomplete-batch = \"drop\" or \"pad\"",
            ));
        }
        let total = self.private.saturating_add(self.training.public_steps);
        if self.training.release == Release::RandomStop {
            // The first place is the least private of them.
            let chain = self.chain(std::iter::once(1), total)?;
            return Ok(Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop: self.stop()? }]));
        }
        self.stop()?;
        // At the k-th last place k − 1 steps and the public ones follow: as if the first place stopped then.
        // A batch has the record with probability b/n. Only the last of a pass, where it is padded, has it less often; that
        // it counts as much moves probability to the place that is hidden least.
        // In this order a whole pass has weight 1 exactly.
        let drawn = Enclosure::from(self.private) * self.training.nominal_batch();
        let weight = (drawn / Enclosure::from(self.training.records)).min(Enclosure::ONE);
        let chain = self.chain(std::iter::once(1), total)?;
        Ok(Mixture::new(vec![Branch { weight, chain, stop: Stop::Uniform(self.private) }]))
    }

    /// The record of one step of each pass.
    fn in_turn(&self, place: u64) -> Result<Mixture, NotApplicable> {
        let training = self.training;
        let equal = training.has_equal_passes();
        if training.order == Order::Cyclic && (!equal || training.length == Length::Any) {
            return Err(NotApplicable::new(
                "passes in a fixed order need a number of steps, and a run.batch-size that divides run.records or \
                 run.incomplete-batch = \"drop\", \"short\" or \"pad\"",
            ));
        }
        if training.release != Release::Last && !equal {
            return Err(NotApplicable::new(
                "an incomplete last batch, used or not, changes the random times: run.batch-size must divide run.records, \
                 or run.incomplete-batch must say what becomes of it",
            ));
        }
        // A record of a later step, or of a batch that is left out.
        if place > self.private || (equal && place > training.batches_in_a_pass()) {
            return Ok(Mixture::new(Vec::new()));
        }
        // An incomplete last batch may be left out: its step is not counted on.
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

    /// The chain that uses the record at one place of each pass of equal steps, this often.
    fn in_laps(&self, place: u64, uses: u64, total: u64) -> Result<Chain, NotApplicable> {
        let pass = self.training.batches_in_a_pass();
        let last = place + (uses - 1) * pass;
        let [used, clean] = [true, false].map(|used| self.kind(1, used));
        let lap = vec![(used, Count::Times(1)), (clean, Count::Times(pass - 1))];
        let before = vec![(clean, Count::Times(place - 1))];
        let after = vec![(used, Count::Times(1)), (clean, Count::Times(total - last))];
        Chain::of_kinds_in_laps(&self.kinds, before, (lap, uses - 1), after, self.domain)
            .map_err(|error| NotApplicable::new(error.to_string()))
    }

    /// The probability that fewer than `place` of the first steps are skipped, up to half of them.
    fn weight_of_skipping(&self, place: u64) -> Result<Enclosure, NotApplicable> {
        if self.kinds.len() > 2 {
            return Err(NotApplicable::new("skipping the first steps needs equal steps: one learning rate"));
        }
        let choices = self.private / 2 + 1;
        Ok(Enclosure::from(place.min(choices)) / Enclosure::from(choices))
    }

    fn stop(&self) -> Result<Stop, NotApplicable> {
        match self.training.release {
            Release::RandomStop => {
                if self.training.length == Length::Any {
                    return Err(NotApplicable::new("a random stop needs a number of steps: give run.steps"));
                }
                Ok(Stop::Uniform(self.private.saturating_add(self.training.public_steps)))
            }
            Release::RandomSkip if self.training.order != Order::Once => {
                Err(NotApplicable::new("skipping the first steps is analysed for run.order = \"once\" only"))
            }
            _ => Ok(Stop::End),
        }
    }
}
