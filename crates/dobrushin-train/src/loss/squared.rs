//! The squared loss.

use super::{Keys, ScoreLoss, Within, targets};
use crate::Target;
use dobrushin::Enclosure;

/// (z − y)²/2.
///
/// # Guarantee
/// ℓ′ = z − y and ℓ″ = 1, so L = R(B + Y), and β = R².
///
/// ```
/// use dobrushin_train::loss::{Loss, Squared};
///
/// let loss = Loss::from(Squared);
/// assert_eq!((loss.value(3.0, 1.0, 1.0), loss.derivative(3.0, 1.0, 1.0)), (2.0, 2.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Squared;

impl ScoreLoss for Squared {
    fn kind() -> &'static str {
        "linear"
    }

    fn read<K: Keys>(_: &K) -> Result<Self, K::Error> {
        Ok(Self)
    }

    fn check(&self, target: Target) -> Result<(), String> {
        targets::need_numbers("squared", target)
    }

    fn value(&self, score: f64, target: f64, _: f64) -> f64 {
        (score - target).powi(2) / 2.0
    }

    fn derivative(&self, score: f64, target: f64, _: f64) -> f64 {
        score - target
    }

    fn lipschitz(&self, within: &Within) -> Enclosure {
        within.norm * within.gap()
    }

    fn smoothness(&self, within: &Within, _: Option<Enclosure>) -> Enclosure {
        within.norm.square()
    }
}
