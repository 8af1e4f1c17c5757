//! Records that are drawn independently in each step, or all used in each step.

use super::steps::Steps;
use crate::chain::{Branch, Count, Mixture};
use crate::run::{Length, missing};
use crate::{Enclosure, NotApplicable};

impl Steps<'_> {
    /// Steps each of which may use the record.
    pub fn at_random(&self) -> Result<Mixture, NotApplicable> {
        let public = self.training.public_steps;
        let stop = self.stop()?;
        let chain = match (self.training.length, self.kinds.len()) {
            (Length::Any, _) if public > 0 => {
                return Err(missing!("public steps after any number of others: give {}", Steps));
            }
            (Length::Any, _) => self.of(vec![(0, Count::Any)])?,
            (_, 2) => self.of(vec![(0, Count::Times(self.private)), (1, Count::Times(public))])?,
            _ => self.chain(1..=self.private, self.private.saturating_add(public))?,
        };
        Ok(Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop }]))
    }
}
