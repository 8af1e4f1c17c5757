//! Huber's loss.

use super::{Key, Keys, ScoreLoss, Within, targets};
use crate::Target;
use dobrushin::{Enclosure, Positive};

/// (z − y)²/2 up to |z − y| = width, and a straight line beyond.
///
/// # Guarantee
/// ℓ′ is z − y clipped to ±width, and ℓ″ ≤ 1, so L = R·min(width, B + Y), and β = R².
///
/// ```
/// use dobrushin_train::loss::{Huber, Loss};
///
/// // A parabola up to the width, and a line from there on.
/// let loss = Loss::from(Huber { width: dobrushin::Positive::new(1.0)? });
/// assert_eq!((loss.derivative(0.5, 0.0, 1.0), loss.derivative(5.0, 0.0, 1.0)), (0.5, 1.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Huber {
    /// The |z − y| at which it becomes straight.
    pub width: Positive,
}

impl ScoreLoss for Huber {
    fn kind() -> &'static str {
        "huber"
    }

    fn keys() -> &'static [Key] {
        &[Key { name: "width", example: "width = 1.0" }]
    }

    fn read<K: Keys>(keys: &K) -> Result<Self, K::Error> {
        Ok(Self { width: keys.positive("width")? })
    }

    fn check(&self, target: Target) -> Result<(), String> {
        targets::need_numbers("huber", target)
    }

    fn value(&self, score: f64, target: f64, _: f64) -> f64 {
        let (gap, width) = ((score - target).abs(), self.width.get());
        if gap <= width { gap * gap / 2.0 } else { width * (gap - width / 2.0) }
    }

    fn derivative(&self, score: f64, target: f64, _: f64) -> f64 {
        (score - target).clamp(-self.width.get(), self.width.get())
    }

    fn lipschitz(&self, within: &Within) -> Enclosure {
        within.norm * within.gap().min(self.width.into())
    }

    fn smoothness(&self, within: &Within, _: Option<Enclosure>) -> Enclosure {
        within.norm.square()
    }
}
