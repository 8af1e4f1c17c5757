//! The steps after the last use of a record.

use super::super::walk::Leg;
use super::noisy::Noisy;
use super::once::{Cleaned, times};
use crate::chain::{Chain, Count};
use crate::run::missing;
use crate::{Enclosure, Epsilon, NotApplicable};

/// The steps that follow the last use of a record.
pub(in crate::analysis) struct Tail {
    steps: u64,
    /// Blocks of steps, each with the number of times it fits.
    blocks: Vec<(Noisy, Count)>,
}

impl Tail {
    /// The steps of a chain after the last use.
    pub(in crate::analysis) fn of(chain: &Chain) -> Result<Self, NotApplicable> {
        // Any number of steps includes none.
        let clean = chain.after_the_last_use().into_iter().filter(|stretch| stretch.count != Count::Any);
        let width = chain.domain().width();
        let clean: Vec<Leg<'_>> = clean.map(|stretch| Leg::new(stretch, false, width, width)).collect();
        let steps: u64 = clean.iter().map(|leg| times(leg.count)).fold(0, u64::saturating_add);
        let [leg] = &clean[..] else {
            return Err(missing!(
                "no equal steps follow the last use of the record: {} would be such",
                PublicSteps
            ));
        };
        let cleaned = Cleaned { clean: std::slice::from_ref(leg) };
        let mut blocks = Vec::new();
        let mut length = 1;
        while length < steps {
            blocks.extend(cleaned.block(0, length).map(|block| (block, Count::Times(steps / length))));
            length *= 2;
        }
        blocks.extend(cleaned.block(0, steps).map(|block| (block, Count::Times(1))));
        Ok(Self { steps, blocks })
    }

    /// The number of these steps.
    pub(in crate::analysis) fn steps(&self) -> u64 {
        self.steps
    }

    /// ln e after these steps, with the best blocks.
    pub(in crate::analysis) fn ln_after(&self, epsilon: Epsilon, ln_e: Enclosure) -> Enclosure {
        let after = self.blocks.iter().map(|(block, count)| block.repeated(epsilon, ln_e, *count));
        after.fold(ln_e, |a, b| if b.upper() < a.upper() { b } else { a })
    }
}
