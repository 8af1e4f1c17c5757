//! The hinge loss, smoothed by noise.

use super::targets::sign;
use super::{Key, Keys, Prediction, ScoreLoss, Within, smoothing, targets};
use crate::Target;
use dobrushin::numeric::normal;
use dobrushin::{Enclosure, Positive};

/// max(0, 1 − sz), averaged over Gaussian noise on the parameters (PAI Theorem 33).
///
/// # Guarantee
/// It is E(1 − sz + λrZ)₊ with a standard Gaussian Z (see `smoothing`). |ℓ′| = Φ((1 − sz)/(λr)), so L = R·Φ((1 +
/// B)/(λR)): r·Φ((1 + r·reach)/(λr)) grows with r, because its derivative is at least Φ(a) − aφ(a) > 0 at a = (1 +
/// r·reach)/(λr). The slope of the clipped gradient is bounded like that of the [quantile loss](super::Quantile) with τ
/// = 0; without clipping it is β = R/(λ√(2π)).
///
/// ```
/// use dobrushin_train::loss::{Hinge, Loss};
///
/// // Far from the margin, smoothing does not show: the loss of a score of −3 is 1 + 3.
/// let loss = Loss::from(Hinge { smoothing: dobrushin::Positive::new(0.01)? });
/// assert!((loss.value(-3.0, 1.0, 1.0) - 4.0).abs() < 1e-9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    /// λ: the standard deviation of the noise in each parameter.
    pub smoothing: Positive,
}

impl ScoreLoss for Hinge {
    fn kind() -> &'static str {
        "hinge"
    }

    fn keys() -> &'static [Key] {
        &[smoothing::KEY]
    }

    fn read<K: Keys>(keys: &K) -> Result<Self, K::Error> {
        Ok(Self { smoothing: keys.positive(smoothing::KEY.name)? })
    }

    fn check(&self, target: Target) -> Result<(), String> {
        targets::need_two_classes("hinge", target)
    }

    fn value(&self, score: f64, target: f64, norm: f64) -> f64 {
        smoothing::mean_positive_part(1.0 - sign(target) * score, self.smoothing.get() * norm)
    }

    fn derivative(&self, score: f64, target: f64, norm: f64) -> f64 {
        let sign = sign(target);
        -sign * smoothing::chance_above(1.0 - sign * score, self.smoothing.get() * norm)
    }

    fn lipschitz(&self, within: &Within) -> Enclosure {
        let deviation = Enclosure::from(self.smoothing) * within.norm;
        within.norm * ((Enclosure::ONE + within.score) / deviation).map_monotone(normal::cdf)
    }

    fn smoothness(&self, within: &Within, clip: Option<Enclosure>) -> Enclosure {
        smoothing::smoothness(self.smoothing, Enclosure::ZERO, within.norm, clip)
    }

    fn prediction(&self, score: f64) -> Prediction {
        Prediction::side(score)
    }
}
