//! The pinball loss, smoothed by noise.

use super::{Key, Keys, ScoreLoss, Within, smoothing, targets};
use crate::Target;
use dobrushin::{Enclosure, Positive, Probability};

/// The pinball loss τ(y − z)₊ + (1 − τ)(z − y)₊, whose minimum is a quantile of y, averaged over Gaussian noise on the
/// parameters.
///
/// # Guarantee
/// Both parts are smoothed as `smoothing` says. ℓ′ = Φ((z − y)/(λr)) − τ, so L = R·max(τ, 1 − τ), which does not use B.
/// `smoothing::smoothness` bounds the slope of the clipped gradient; without clipping it is β = R/(λ√(2π)).
///
/// ```
/// use dobrushin_train::loss::{Loss, Quantile};
///
/// // For the 90 % quantile, a prediction that is too low costs nine times as much as one that is too high.
/// let (level, smoothing) = (dobrushin::Probability::new(0.9)?, dobrushin::Positive::new(0.01)?);
/// let loss = Loss::from(Quantile { level, smoothing });
/// assert!((loss.value(-1.0, 0.0, 1.0) / loss.value(1.0, 0.0, 1.0) - 9.0).abs() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// τ: which quantile.
    pub level: Probability,
    /// λ: the standard deviation of the noise in each parameter.
    pub smoothing: Positive,
}

impl ScoreLoss for Quantile {
    fn kind() -> &'static str {
        "quantile"
    }

    fn keys() -> &'static [Key] {
        &[Key { name: "level", example: "level = 0.5" }, smoothing::KEY]
    }

    fn read<K: Keys>(keys: &K) -> Result<Self, K::Error> {
        let median = || Probability::new(0.5).expect("between 0 and 1");
        Ok(Self {
            level: keys.probability("level")?.unwrap_or_else(median),
            smoothing: keys.positive(smoothing::KEY.name)?,
        })
    }

    fn check(&self, target: Target) -> Result<(), String> {
        targets::need_numbers("quantile", target)?;
        let level = self.level.get();
        if level == 0.0 || level == 1.0 {
            return Err(format!("the level of the quantile loss is {level}: it must be above 0 and below 1"));
        }
        Ok(())
    }

    fn value(&self, score: f64, target: f64, norm: f64) -> f64 {
        let (gap, deviation) = (score - target, self.smoothing.get() * norm);
        let level = self.level.get();
        level * smoothing::mean_positive_part(-gap, deviation)
            + (1.0 - level) * smoothing::mean_positive_part(gap, deviation)
    }

    fn derivative(&self, score: f64, target: f64, norm: f64) -> f64 {
        smoothing::chance_above(score - target, self.smoothing.get() * norm) - self.level.get()
    }

    fn lipschitz(&self, within: &Within) -> Enclosure {
        let level = Enclosure::from(self.level);
        within.norm * level.max(Enclosure::ONE - level)
    }

    fn smoothness(&self, within: &Within, clip: Option<Enclosure>) -> Enclosure {
        smoothing::smoothness(self.smoothing, self.level.into(), within.norm, clip)
    }
}
