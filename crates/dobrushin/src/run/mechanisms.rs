//! A list of mechanisms on the same data.

use super::{Fact, RunError};
use crate::mechanism::{Mechanism, Neighbours, Sampling};

/// Mechanisms that are used one after the other on the same data, each of which may depend on
/// what the ones before published.
#[derive(Clone)]
pub struct Mechanisms {
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// The mechanisms.
    pub uses: Vec<MechanismUse>,
}

/// A mechanism and how it is used.
#[derive(Clone)]
pub struct MechanismUse {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// On which part of the data.
    pub sampling: Sampling,
    /// How often.
    pub count: u64,
}

impl Mechanisms {
    pub(super) fn check(&self) -> Result<(), RunError> {
        if self.uses.is_empty() {
            let help = "[[mechanism]] with kind = \"gaussian\" and noise-multiplier = 5.0";
            return Err(RunError::new(Fact::Mechanisms, "has no entry", help));
        }
        if self.uses.iter().any(|used| used.count == 0) {
            return Err(RunError::new(Fact::MechanismCount, "is 0, but it must be 1 or more", "count = 1"));
        }
        Ok(())
    }
}
