//! The loss of a Laplace mechanism.

use super::split_at_ends;
use crate::loss::{LossLaw, Masses, Split};
use crate::{Enclosure, Positive};

/// Two Laplace laws of scale 1, centred t apart.
///
/// L = 2x − t for x between the centres 0 of Q and t of P, and ±t beyond, where half of P
/// (of Q) lies; so for −t ≤ ℓ < t
///
/// ```text
/// P(L ≤ ℓ) = e^((ℓ−t)/2)/2,   Q(L > ℓ) = e^(−(ℓ+t)/2)/2.
/// ```
///
/// The pair is symmetric.
///
/// ```
/// use dobrushin::loss::{LaplaceLoss, LossLaw};
/// use dobrushin::{Enclosure, Positive};
///
/// // P(L > 0) = 1 − e^(−t/2)/2 and Q(L > 0) = e^(−t/2)/2, here for t = 2 ln 2.
/// let above = LaplaceLoss::new(Positive::new(4_f64.ln())?).split(Enclosure::ZERO).above;
/// assert!((above.p.upper() - 0.75).abs() < 1e-12 && (above.q.upper() - 0.25).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplaceLoss {
    ratio: f64,
}

impl LaplaceLoss {
    /// Centres `ratio` scales apart. E_γ increases with the ratio, so a rounded-up ratio
    /// dominates.
    pub fn new(ratio: Positive) -> Self {
        Self { ratio: ratio.get() }
    }

    fn split_at(&self, loss: f64) -> Split {
        if loss >= self.ratio {
            return Split::ALL_BELOW;
        }
        if loss < -self.ratio {
            return Split::ALL_ABOVE;
        }
        let (loss, ratio, half) = (Enclosure::from(loss), Enclosure::from(self.ratio), Enclosure::from(0.5));
        let p_below = half * (half * (loss - ratio)).exp();
        let q_above = half * (-(half * (loss + ratio))).exp();
        Split {
            below: Masses { p: p_below, q: Enclosure::ONE - q_above },
            above: Masses { p: Enclosure::ONE - p_below, q: q_above },
        }
    }
}

impl LossLaw for LaplaceLoss {
    fn split(&self, loss: Enclosure) -> Split {
        split_at_ends(loss, |loss| self.split_at(loss))
    }

    fn lattice(&self) -> Option<f64> {
        Some(self.ratio)
    }
}
