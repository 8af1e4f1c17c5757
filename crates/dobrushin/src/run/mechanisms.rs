//! A list of mechanisms on the same data.

use super::{Fact, RunError};
use crate::mechanism::{Mechanism, Neighbours, Sampling};

/// Mechanisms that are used one after another on the same data; each may depend on the outputs of the previous ones.
///
/// ```
/// use dobrushin::mechanism::{Mechanism, Sampling};
/// use dobrushin::run::{MechanismUse, Mechanisms};
/// use dobrushin::{Delta, Neighbours, NonNegative, Positive, Question, Run, numeric::theta};
///
/// // Four sums with noise multiplier 2 are as private as one with noise multiplier 1.
/// let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(2.0)? };
/// let sums = MechanismUse { mechanism, sampling: Sampling::Every, count: 4 };
/// let run = Run::mechanisms(Mechanisms { neighbours: Neighbours::AddOrRemoveOne, uses: vec![sums] })?;
/// let account = run.account(Question::EpsilonAt(Delta::new(1e-5)?));
/// let known = theta::smallest_epsilon(NonNegative::new(1.0)?, Delta::new(1e-5)?);
/// assert!((account.guarantee()?.epsilon() / known.upper() - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Mechanisms {
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// The mechanisms.
    pub uses: Vec<MechanismUse>,
}

/// A mechanism and the way it is used.
///
/// ```
/// use dobrushin::mechanism::{Mechanism, Sampling};
/// use dobrushin::run::{MechanismUse, Mechanisms};
/// use dobrushin::{Epsilon, Fact, Neighbours, Run};
///
/// let mechanism = Mechanism::RandomisedResponse { epsilon: Epsilon::new(1.0)? };
/// let never = MechanismUse { mechanism, sampling: Sampling::Every, count: 0 };
/// let refused = Run::mechanisms(Mechanisms { neighbours: Neighbours::ReplaceOne, uses: vec![never] });
/// assert_eq!(refused.err().map(|error| error.fact), Some(Fact::MechanismCount));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
pub struct MechanismUse {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The part of the data on which it is used.
    pub sampling: Sampling,
    /// The number of times it is used.
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
