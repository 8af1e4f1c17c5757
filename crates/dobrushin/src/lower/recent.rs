//! Any number of steps with Poisson batches, by the last of them.
//!
//! Batches of ordinary size cannot be counted on in every one of any number of steps, but in the last K. Before them
//! iterates are anywhere in the domain. Without a domain, two runs that share batches and noise are z apart, with
//! z ← c(N)·z + d for the numbers N of other records, which are independent: E z ≤ d/(1 − E c(N)) if the expected
//! Lipschitz constant is below 1, and z exceeds any bound with at most that probability, divided by the bound (Markov).

use super::Released;
use super::batch::Ordinary;
use super::steps::Steps;
use crate::chain::{Branch, Count, Mixture, Start, Step, Stop};
use crate::run::{Length, Order, Release, Training};
use crate::{Enclosure, NonNegative, NotApplicable, Probability};

/// K: the steps in which batches are of ordinary size.
pub(super) const RECENT: u64 = 1 << 20;

impl Training {
    /// The release of any number of steps by the last of them, if batches are Poisson samples, an exception is allowed,
    /// and something bounds how far apart iterates are before.
    pub(super) fn recent(&self, allowed: Probability) -> Result<Option<Released>, NotApplicable> {
        let is_any = self.length == Length::Any && self.order == Order::Poisson && self.public_steps == 0;
        if !is_any || self.release != Release::Last || !self.has_equal_steps() {
            return Ok(None);
        }
        let half = Probability::new(allowed.get() / 2.0)?;
        let Some(mut ordinary) = self.ordinary_batches(half, RECENT) else {
            return Ok(None);
        };
        let steps = Steps::new(self, None, Some(&ordinary))?;
        let Some(start) = self.apart_before(&steps, &ordinary, half)? else {
            return Ok(None);
        };
        if self.domain.diameter.is_none() {
            ordinary.exception = Enclosure::from((ordinary.exception + Enclosure::from(half)).upper());
        }
        ordinary.last = Some(RECENT);
        let distance = Some(start);
        let chain =
            steps.of(vec![(0, Count::Times(RECENT))])?.starting(Start { distance, ..Start::default() })?;
        Ok(Some(Released {
            views: vec![Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop: Stop::End }])],
            ranges: Vec::new(),
            assumptions: self.hidden_assumptions(Some(&ordinary)),
            notes: self.unused_facts(Some(&ordinary)),
            exception: ordinary.exception,
            recent: None,
        }))
    }

    /// The distance that iterates before the last steps exceed with at most this probability.
    fn apart_before(
        &self,
        steps: &Steps<'_>,
        ordinary: &Ordinary,
        allowed: Probability,
    ) -> Result<Option<NonNegative>, NotApplicable> {
        if let Some(diameter) = self.domain.diameter {
            return Ok(Some(NonNegative::new(diameter.get())?));
        }
        let usual = &steps.kinds[0];
        let any = self.step_at(1, usual.participation, None)?;
        self.usually_apart(usual, &any, ordinary.exception / Enclosure::from(RECENT), allowed)
    }

    /// The distance that iterates after any number of steps exceed with at most this probability, if a step is not the
    /// usual one with probability `unusual`, independently, and then may have any batch.
    pub(super) fn usually_apart(
        &self,
        usual: &Step,
        any: &Step,
        unusual: Enclosure,
        allowed: Probability,
    ) -> Result<Option<NonNegative>, NotApplicable> {
        let expected = usual.lipschitz() + unusual * any.lipschitz();
        let forgotten = Enclosure::ONE - expected;
        if forgotten.lower() <= 0.0 {
            return Ok(None);
        }
        let distance =
            (any.displacement.max(usual.displacement) / forgotten / Enclosure::from(allowed)).upper();
        Ok(Some(NonNegative::new(distance)?).filter(|distance| distance.get().is_finite()))
    }
}
