//! A mechanism drawn at random from several; the choice is kept secret.

use super::{Direction, PrivacyProfile};
use crate::divergence::FiniteLaw;
use crate::numeric::ln_sum;
use crate::{Enclosure, Epsilon, Error};
use std::sync::Arc;

/// Σ w_j δ_j(ε): the profile of a hidden random choice among mechanisms.
///
/// # Guarantee
/// E_γ is jointly convex, so E_γ(Σ w_j P_j‖Σ w_j Q_j) ≤ Σ w_j E_γ(P_j‖Q_j), with equality if the output reveals the
/// choice.
///
/// ```
/// use dobrushin::profile::{GaussianProfile, MixtureProfile};
/// use dobrushin::{Epsilon, NonNegative, PrivacyProfile};
/// use std::sync::Arc;
///
/// // One time in four a mechanism runs, and otherwise nothing is told.
/// let (told, silent) = (GaussianProfile::new(NonNegative::new(1.0)?), GaussianProfile::new(NonNegative::new(0.0)?));
/// let mixture = MixtureProfile::new(vec![0.25, 0.75], vec![Arc::new(told), Arc::new(silent)])?;
/// let epsilon = Epsilon::new(1.0)?;
/// assert!((mixture.delta(epsilon) / told.delta(epsilon)).contains(0.25));
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub struct MixtureProfile {
    weights: Vec<Enclosure>,
    members: Vec<Arc<dyn PrivacyProfile>>,
}

impl MixtureProfile {
    /// The mixture of the members with the given weights, which are read as a [`FiniteLaw`].
    ///
    /// # Errors
    /// The errors of [`FiniteLaw::new`], and [`Error::LengthMismatch`] unless there are as many members as weights.
    pub fn new(weights: Vec<f64>, members: Vec<Arc<dyn PrivacyProfile>>) -> Result<Self, Error> {
        let law = FiniteLaw::new("the weights of the mixture", weights)?;
        if law.len() != members.len() {
            return Err(Error::LengthMismatch {
                what: "the mixture".to_owned(),
                found: members.len(),
                expected: law.len(),
                like: "its weights".to_owned(),
            });
        }
        Ok(Self { weights: law.enclosures().collect(), members })
    }

    /// The members of positive weight, with their weights.
    fn parts(&self) -> impl Iterator<Item = (Enclosure, &dyn PrivacyProfile)> {
        let parts = self.weights.iter().zip(&self.members).map(|(&weight, member)| (weight, member.as_ref()));
        parts.filter(|(weight, _)| *weight != Enclosure::ZERO)
    }
}

impl PrivacyProfile for MixtureProfile {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let terms = self.parts().map(|(weight, member)| weight * member.delta_of(direction, epsilon));
        terms.sum::<Enclosure>().min(Enclosure::ONE)
    }

    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let terms: Vec<Enclosure> =
            self.parts().map(|(w, member)| w.ln() + member.log_delta_of(direction, epsilon)).collect();
        ln_sum(&terms).min(Enclosure::ZERO)
    }

    fn is_symmetric(&self) -> bool {
        self.parts().all(|(_, member)| member.is_symmetric())
    }
}
