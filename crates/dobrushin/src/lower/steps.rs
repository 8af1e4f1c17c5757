//! The different steps of a run, from which all its chains are built.

use super::batch::Ordinary;
use crate::NotApplicable;
use crate::chain::{Chain, Count, Domain, MOST_STRETCHES, Participation, Step, Stop};
use crate::run::{Length, Order, Release, Training, in_the_way, missing};
use std::sync::Arc;

/// The most different steps.
const MOST_DIFFERENT: u64 = 1_000_000;

/// The different steps of a run, and their number.
pub(super) struct Steps<'a> {
    pub training: &'a Training,
    /// The steps with the record and without it; one pair for each time, if steps differ.
    pub kinds: Arc<[Step]>,
    /// The number of steps that use private records; the largest `u64` for any number.
    pub private: u64,
    pub domain: Domain,
}

impl<'a> Steps<'a> {
    /// The steps of a run with this many steps on private records, or any number, whose batches are ordinary.
    pub fn new(
        training: &'a Training,
        private: Option<u64>,
        ordinary: Option<&Ordinary>,
    ) -> Result<Self, NotApplicable> {
        let equal = training.has_equal_steps();
        let participation = match training.order {
            Order::Poisson | Order::WithoutReplacement => Participation::Sometimes(training.rate()?),
            _ => Participation::Always,
        };
        let different = match private {
            _ if equal => 1,
            None => {
                return Err(missing!(
                    "any number of steps, each with its own learning rate or noise: give {}",
                    Steps
                ));
            }
            Some(steps) => steps.saturating_add(training.public_steps),
        };
        if different > MOST_DIFFERENT {
            return Err(NotApplicable::beyond(format!(
                "{different} different steps: at most {MOST_DIFFERENT} are looked at"
            )));
        }
        let mut kinds = Vec::with_capacity(2 * different as usize);
        for time in 1..=different {
            kinds.push(training.step_at(time, participation, ordinary)?);
            // Only private batches are known to be drawn by the sampler.
            kinds.push(training.step_at(time, Participation::Never, None)?);
        }
        let domain = Domain { diameter: training.domain.diameter, dimension: training.domain.dimension };
        Ok(Self { training, kinds: kinds.into(), private: private.unwrap_or(u64::MAX), domain })
    }

    /// The index of the step at a time, with the record or without it.
    pub fn kind(&self, time: u64, used: bool) -> usize {
        let at = if self.kinds.len() == 2 { 0 } else { 2 * (time as usize - 1) };
        at + usize::from(!used)
    }

    /// The chain of this many steps that uses the record at the given times.
    pub fn chain(&self, uses: impl Iterator<Item = u64>, total: u64) -> Result<Chain, NotApplicable> {
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
                return Err(NotApplicable::beyond(format!(
                    "the record is used more than {} times in turn: composition counts them",
                    MOST_STRETCHES / 2
                )));
            }
        }
        skip_to(&mut next, total + 1, &mut stretches);
        self.of(stretches)
    }

    /// The chain of these stretches.
    pub fn of(&self, stretches: Vec<(usize, Count)>) -> Result<Chain, NotApplicable> {
        Ok(Chain::of_kinds(Arc::clone(&self.kinds), stretches, self.domain)?)
    }

    /// The time at which the iterate is released.
    pub fn stop(&self) -> Result<Stop, NotApplicable> {
        match self.training.release {
            Release::RandomStop => {
                if self.training.length == Length::Any {
                    return Err(missing!("a random stop needs a number of steps: give {}", Steps));
                }
                Ok(Stop::Uniform(self.private.saturating_add(self.training.public_steps)))
            }
            Release::RandomSkip if !matches!(self.training.order, Order::Once | Order::Cyclic) => {
                Err(in_the_way!(
                    "skipping the first steps is analysed for {} = \"once\" or \"cyclic\" only",
                    Order
                ))
            }
            _ => Ok(Stop::End),
        }
    }
}
