//! A list of mechanisms on the same data.

use super::composition::{Composed, ComposedPart};
use super::{RunError, words};
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
            return Err(RunError::new("mechanism", "has no entry", help));
        }
        if self.uses.iter().any(|used| used.count == 0) {
            return Err(RunError::new("mechanism.count", "is 0, but it must be 1 or more", "count = 1"));
        }
        Ok(())
    }

    pub(super) fn composition(&self) -> Composed {
        let part = |used: &MechanismUse| ComposedPart {
            mechanism: used.mechanism.clone(),
            sampling: used.sampling,
            neighbours: self.neighbours,
            count: used.count,
        };
        let assumptions = vec![
            words::neighbours(self.neighbours),
            "every mechanism draws its noise and its sample anew, independently and in secret".to_owned(),
            "which mechanism comes next may depend on what was published, but the list and its parameters may not"
                .to_owned(),
            "every output may be published".to_owned(),
            "noise that is called continuous is not rounded".to_owned(),
        ];
        Composed { parts: self.uses.iter().map(part).collect(), assumptions }
    }
}
