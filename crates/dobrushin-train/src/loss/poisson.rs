//! The loss of Poisson regression.

use super::{Keys, Prediction, ScoreLoss, Within, targets};
use crate::Target;
use dobrushin::Enclosure;

/// e^z − yz, for counts y: up to a term that does not depend on z, minus the logarithm of the probability of y under a
/// Poisson law with mean e^z.
///
/// # Guarantee
/// ℓ′ = e^z − y and ℓ″ = e^z, so L = R·max(e^B − l, u − e^(−B)), and β = R²e^B. With clipping, scores have e^z < y +
/// C/r, so r²ℓ″ ≤ R²u + CR, which needs no B.
///
/// ```
/// use dobrushin_train::loss::{Loss, Poisson};
///
/// // It is least where the mean e^z is the count.
/// let loss = Loss::from(Poisson);
/// assert!(loss.derivative(3_f64.ln(), 3.0, 1.0).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisson;

impl ScoreLoss for Poisson {
    fn kind() -> &'static str {
        "poisson"
    }

    fn read<K: Keys>(_: &K) -> Result<Self, K::Error> {
        Ok(Self)
    }

    fn check(&self, target: Target) -> Result<(), String> {
        targets::need_numbers("poisson", target)?;
        match target {
            Target::Range { lower, .. } if lower < 0.0 => Err(format!(
                "the poisson loss needs targets of 0 or more, but they are {}: raise the lower end to 0, or choose squared",
                targets::described(target)
            )),
            _ => Ok(()),
        }
    }

    fn value(&self, score: f64, target: f64, _: f64) -> f64 {
        let mean = score.exp();
        if mean < f64::MAX { mean - target * score } else { mean }
    }

    fn derivative(&self, score: f64, target: f64, _: f64) -> f64 {
        score.exp() - target
    }

    fn lipschitz(&self, within: &Within) -> Enclosure {
        within.norm * (within.score.exp() - within.lower).max(within.upper - (-within.score).exp())
    }

    fn smoothness(&self, within: &Within, clip: Option<Enclosure>) -> Enclosure {
        let square = within.norm.square();
        let within_reach = square * within.score.exp();
        clip.map_or(within_reach, |clip| within_reach.min(square * within.upper + clip * within.norm))
    }

    /// The mean e^z.
    fn prediction(&self, score: f64) -> Prediction {
        Prediction::Value(score.exp().min(f64::MAX))
    }
}
