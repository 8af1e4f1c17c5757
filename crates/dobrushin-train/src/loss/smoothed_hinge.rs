//! The hinge loss with a parabola in its corner.

use super::targets::sign;
use super::{Key, Keys, Prediction, ScoreLoss, Within, targets};
use crate::Target;
use dobrushin::{Enclosure, Positive};

/// max(0, 1 − sz), with a parabola from 1 − width to 1 instead of the corner.
///
/// # Guarantee
/// |ℓ′| is (1 − sz)/width clipped to [0, 1], and ℓ″ ≤ 1/width, so L = R·min(1, (1 + B)/width), and β = R²/width.
///
/// ```
/// use dobrushin_train::loss::{Loss, SmoothedHinge};
///
/// // No loss beyond the margin of 1, and a slope of −1 far below it.
/// let loss = Loss::from(SmoothedHinge { width: dobrushin::Positive::new(0.5)? });
/// assert_eq!((loss.value(2.0, 1.0, 1.0), loss.derivative(-3.0, 1.0, 1.0)), (0.0, -1.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothedHinge {
    /// The width of the parabola.
    pub width: Positive,
}

impl ScoreLoss for SmoothedHinge {
    fn kind() -> &'static str {
        "smoothed-hinge"
    }

    fn keys() -> &'static [Key] {
        &[Key { name: "width", example: "width = 1.0" }]
    }

    fn read<K: Keys>(keys: &K) -> Result<Self, K::Error> {
        Ok(Self { width: keys.positive("width")? })
    }

    fn check(&self, target: Target) -> Result<(), String> {
        targets::need_two_classes("smoothed-hinge", target)
    }

    fn value(&self, score: f64, target: f64, _: f64) -> f64 {
        let (below, width) = (1.0 - sign(target) * score, self.width.get());
        let share = (below / width).clamp(0.0, 1.0);
        share * (below - share * width / 2.0)
    }

    fn derivative(&self, score: f64, target: f64, _: f64) -> f64 {
        let sign = sign(target);
        -sign * ((1.0 - sign * score) / self.width.get()).clamp(0.0, 1.0)
    }

    fn lipschitz(&self, within: &Within) -> Enclosure {
        within.norm * ((Enclosure::ONE + within.score) / Enclosure::from(self.width)).min(Enclosure::ONE)
    }

    fn smoothness(&self, within: &Within, _: Option<Enclosure>) -> Enclosure {
        within.norm.square() / Enclosure::from(self.width)
    }

    fn prediction(&self, score: f64) -> Prediction {
        Prediction::side(score)
    }
}
