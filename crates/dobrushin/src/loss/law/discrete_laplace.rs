//! The loss of two-sided geometric noise.

use super::integer::Shift;
use crate::loss::{LossLaw, Split};
use crate::{Enclosure, Positive};
use std::num::NonZeroU32;

/// Noise on the integers with P(k) ∝ e^(−|k|/t), shifted by an integer s.
///
/// P(x ≥ k) = e^(−k/t)/(1 + e^(−1/t)) for k ≥ 0. Between the centres the loss of x is
/// (2x − s)/t, beyond them it is ±s/t. The pair is symmetric, and it dominates those with
/// smaller shifts.
///
/// ```
/// use dobrushin::loss::{DiscreteLaplaceLoss, LossLaw};
/// use dobrushin::{Enclosure, Positive};
///
/// // Scale 2 and shift 1: 1/2-private, and P(L > 0) = P(x ≥ 0) = 1/(1 + e^(−1/2)).
/// let law = DiscreteLaplaceLoss::new(Positive::new(2.0)?, 1.try_into()?);
/// assert_eq!(law.split(Enclosure::from(0.501)).above.p.upper(), 0.0);
/// let above = law.split(Enclosure::ZERO).above.p;
/// assert!((above.upper() - 1.0 / (1.0 + (-0.5_f64).exp())).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DiscreteLaplaceLoss {
    scale: Enclosure,
    /// 1 + e^(−1/t).
    mass: Enclosure,
    shift: Shift,
}

impl DiscreteLaplaceLoss {
    /// Scale t, shift s.
    pub fn new(scale: Positive, shift: NonZeroU32) -> Self {
        let scale = Enclosure::from(scale);
        let mass = Enclosure::ONE + (-(Enclosure::ONE / scale)).exp();
        let step = Enclosure::from(2.0) / scale;
        Self { scale, mass, shift: Shift { shift: shift.get(), step } }
    }

    /// P(x ≥ k) for k ≥ 1.
    fn tail(&self, k: i64) -> Enclosure {
        (-(Enclosure::from(k as f64) / self.scale)).exp() / self.mass
    }
}

impl LossLaw for DiscreteLaplaceLoss {
    fn split(&self, loss: Enclosure) -> Split {
        self.shift.split(loss, |m| {
            if m <= 0 {
                Split::ALL_ABOVE
            } else if m > i64::from(self.shift.shift) {
                Split::ALL_BELOW
            } else {
                self.shift.split_from(m, |k| self.tail(k))
            }
        })
    }

    fn lattice(&self) -> Option<f64> {
        Some(self.shift.lattice())
    }
}
