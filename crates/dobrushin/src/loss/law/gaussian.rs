//! The loss of a Gaussian mechanism.

use super::threshold::{SAFELY, SMALLEST, Threshold};
use crate::loss::{LossLaw, Masses, Split};
use crate::numeric::{UNIT_ROUNDOFF, normal};
use crate::{Enclosure, Positive};

/// P = N(r, 1), Q = N(0, 1): L = rx − r²/2 is N(±r²/2, r²), + under P and − under Q.
///
/// With Q̄ the normal tail, P(L > ℓ) = Q̄(ℓ/r − r/2) and Q(L > ℓ) = Q̄(ℓ/r + r/2). The pair is
/// symmetric.
///
/// ```
/// use dobrushin::loss::{GaussianLoss, LossLaw};
/// use dobrushin::{Enclosure, Positive};
/// let law = GaussianLoss::new(Positive::new(1.0)?);
/// let above = law.split(Enclosure::from(0.5)).above;
/// assert!(above.p.contains(0.5) && above.q.lower() > 0.1586 && above.q.upper() < 0.1587);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianLoss {
    r: f64,
}

impl GaussianLoss {
    /// Means `r` standard deviations apart. E_γ increases with r, so a rounded-up r
    /// dominates.
    pub fn new(r: Positive) -> Self {
        Self { r: r.get() }
    }
}

impl LossLaw for GaussianLoss {
    fn split(&self, loss: Enclosure) -> Split {
        let Threshold { value, error } = loss.into();
        let (scaled, half) = (value / self.r, self.r / 2.0);
        // The quotient is off by a unit and the error of the threshold, the sum by a unit;
        // where a quotient is below the normal numbers it is off by less than the smallest.
        let inherited = error / self.r + UNIT_ROUNDOFF * scaled.abs() + f64::MIN_POSITIVE;
        let (p_below, p_above) = tails(scaled - half, inherited);
        let (q_below, q_above) = tails(scaled + half, inherited);
        Split { below: Masses { p: p_below, q: q_below }, above: Masses { p: p_above, q: q_above } }
    }

    fn gaussian_ratio(&self) -> Option<f64> {
        Some(self.r)
    }
}

/// Φ and Q̄ at every point within `inherited` and one rounding of `x`.
///
/// The logarithmic derivative of Q̄ at x ≥ 0 is below x + 1 in magnitude, so Q̄ within `error` of |x| is Q̄(|x|) up to
/// a factor of e^(±s), s = error·(|x| + error + 1).
#[inline]
fn tails(x: f64, inherited: f64) -> (Enclosure, Enclosure) {
    let error = (inherited + UNIT_ROUNDOFF * x.abs()) * SAFELY;
    let spread = error * (x.abs() + error + 1.0);
    if spread > 1e-8 || spread.is_nan() {
        let range = Enclosure::from(Threshold { value: x, error });
        return (range.map_monotone(normal::cdf), range.map_monotone(normal::tail));
    }
    let small = normal::tail(x.abs());
    // e^s ≤ 1 + s(1 + s), and the ends are rounded three times; below the normal numbers a product is off by less than
    // the smallest.
    let relative = spread * (1.0 + 1e-7) + 4.0 * UNIT_ROUNDOFF;
    let (lower, upper) = (small.lower() * (1.0 - relative), small.upper() * (1.0 + relative));
    let small = Enclosure::between((lower - SMALLEST).max(0.0), upper + SMALLEST);
    // 1 − Q̄ is between about 1/2 and 1, where a rounding takes at most half a unit.
    let (lower, upper) = (1.0 - small.upper() - UNIT_ROUNDOFF, 1.0 - small.lower() + UNIT_ROUNDOFF);
    let rest = Enclosure::between(lower, upper.min(1.0));
    if x < 0.0 { (small, rest) } else { (rest, small) }
}
