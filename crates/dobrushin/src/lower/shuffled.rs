//! Records that take turns in a random order.

use super::steps::Steps;
use crate::chain::{Branch, Mixture, Stop};
use crate::run::{Fact, IncompleteBatch, Length, Release, in_the_way};
use crate::{Enclosure, NotApplicable};

impl Steps<'_> {
    /// One pass in random order.
    pub fn shuffled(&self) -> Result<Mixture, NotApplicable> {
        let pass = self.training.batches_in_a_pass();
        if self.training.length == Length::Any || self.private > pass {
            return Err(in_the_way!(
                "several passes, each in its own random order: hidden states are credited for one such pass, or for \
                 {} = \"cyclic\"",
                Order
            ));
        }
        let padded = self.training.incomplete_batch == Some(IncompleteBatch::Pad);
        if self.kinds.len() > 2 || !(self.training.has_full_batches() || padded) {
            return Err(NotApplicable::because_of(
                &[Fact::LearningRate, Fact::BatchSize, Fact::Records, Fact::IncompleteBatch],
                format!(
                    "a random order needs equal steps: one learning rate, and a {} that divides {}, or {} = \"drop\" or \
                     \"pad\"",
                    Fact::BatchSize,
                    Fact::Records,
                    Fact::IncompleteBatch
                ),
            ));
        }
        let total = self.private.saturating_add(self.training.public_steps);
        if self.training.release == Release::RandomStop {
            // The first place is the least private of them.
            let chain = self.chain(std::iter::once(1), total)?;
            return Ok(Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop: self.stop()? }]));
        }
        self.stop()?;
        // At the k-th last place, k − 1 private steps and the public ones follow: the chain is that of the first place,
        // stopped at that time. A batch contains the record with probability b/n. Only the last batch of a pass, if it
        // is padded, contains it less often; counting it with the same probability moves probability to the place that
        // is hidden least. In this order a whole pass has weight exactly 1.
        let drawn = Enclosure::from(self.private) * self.training.nominal_batch();
        let weight = (drawn / Enclosure::from(self.training.records)).min(Enclosure::ONE);
        let chain = self.chain(std::iter::once(1), total)?;
        Ok(Mixture::new(vec![Branch { weight, chain, stop: Stop::Uniform(self.private) }]))
    }
}
