//! The loss of discrete Gaussian noise.

use super::integer::Shift;
use crate::loss::{LossLaw, Split};
use crate::numeric::UNIT_ROUNDOFF;
use crate::numeric::elementary;
use crate::numeric::rounding::{two_product, two_sum};
use crate::{Enclosure, Error, Positive};
use std::num::NonZeroU32;

/// Noise on the integers with P(k) ∝ e^(−k²/(2σ²)), shifted by an integer s (Canonne, Kamath,
/// Steinke 2020).
///
/// The loss of x is s(2x − s)/(2σ²). The pair is symmetric, and it dominates those with
/// smaller shifts.
///
/// # Implementation
/// The tails Σ_{j ≥ k} e^(−j²/(2σ²)) are summed once, from the far end inwards, up to where terms fall below e^(−640);
/// the rest is bounded by a geometric series whose ratio is that of the first two omitted terms.
///
/// Each term is within four units: j²/(2σ²) = high + low, with 1/(2σ²) in two parts and the
/// product with j², which is exact, too; the exponential of −high is correctly rounded,
/// e^(−low) = 1 − low up to 1e-25, and there are two more roundings. The sums are within two
/// more: their rounding errors are summed as well, which errs by (terms·2⁻⁵³)² < 1e-18. The
/// sum of all weights is within eight, the quotient adds one.
///
/// ```
/// use dobrushin::loss::{DiscreteGaussianLoss, GaussianLoss, LossLaw};
/// use dobrushin::{Enclosure, Positive};
///
/// // With σ = 10 the integers are dense, and the law is nearly that of the normal one at distance 1/10.
/// let discrete = DiscreteGaussianLoss::new(Positive::new(10.0)?, 1.try_into()?)?;
/// let normal = GaussianLoss::new(Positive::new(0.1)?);
/// let advantage = |law: &dyn LossLaw| law.advantage(Enclosure::ZERO).upper();
/// assert!((advantage(&discrete) / advantage(&normal) - 1.0).abs() < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DiscreteGaussianLoss {
    /// P(x ≥ k) for k ≥ 0, without the part beyond the last, within 20 units.
    tails: Vec<f64>,
    /// An enclosure of P(x ≥ k) beyond the last.
    rest: Enclosure,
    shift: Shift,
}

/// Larger standard deviations need too many terms.
const LARGEST_SIGMA: f64 = 1e5;

/// Squares of smaller ones lose digits, and only the centre has positive weight.
const SMALLEST_SIGMA: f64 = 1e-100;

/// Terms e^(−x) with larger x are left to the bound.
const LARGEST_EXPONENT: f64 = 640.0;

const RELATIVE_ERROR: f64 = 20.0 * UNIT_ROUNDOFF;

impl DiscreteGaussianLoss {
    /// Parameter σ of the noise, shift s.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless σ is between 1e-100 and 1e5.
    pub fn new(sigma: Positive, shift: NonZeroU32) -> Result<Self, Error> {
        let sigma = sigma.get();
        if !(SMALLEST_SIGMA..=LARGEST_SIGMA).contains(&sigma) {
            return Err(Error::OutOfRange {
                name: "sigma of the discrete Gaussian",
                value: sigma,
                accepted: "between 1e-100 and 1e5; for more noise use the Gaussian",
            });
        }
        let precision = half_inverse_square(sigma);
        let last = (sigma * (2.0 * LARGEST_EXPONENT).sqrt()) as u64;
        let mut tails: Vec<f64> = Vec::with_capacity(last as usize + 1);
        let (mut sum, mut errors) = (0.0, 0.0);
        for j in (0..=last).rev() {
            let (total, error) = two_sum(sum, weight(j as f64, precision));
            (sum, errors) = (total, errors + error);
            tails.push(sum + errors);
        }
        tails.reverse();
        let rest = beyond(last as f64, sigma);
        let half = Enclosure::around(tails.get(1).copied().unwrap_or(0.0), 6.0 * UNIT_ROUNDOFF) + rest;
        let total = Enclosure::ONE + Enclosure::from(2.0) * half;
        for tail in &mut tails {
            *tail /= total.midpoint();
        }
        let step = Enclosure::from(f64::from(shift.get())) / Enclosure::from(sigma).square();
        Ok(Self { tails, rest: rest / total, shift: Shift { shift: shift.get(), step } })
    }

    /// P(x ≥ k) for k ≥ 1.
    fn tail(&self, k: i64) -> Enclosure {
        match usize::try_from(k).ok().and_then(|k| self.tails.get(k)) {
            Some(&tail) => Enclosure::around(tail, RELATIVE_ERROR) + self.rest,
            None => self.rest,
        }
    }
}

impl LossLaw for DiscreteGaussianLoss {
    fn split(&self, loss: Enclosure) -> Split {
        self.shift.split(loss, |m| self.shift.split_from(m, |k| self.tail(k)))
    }

    fn lattice(&self) -> Option<f64> {
        Some(self.shift.lattice())
    }
}

/// 1/(2σ²) in two parts, to about 2⁻¹⁰⁰ relative.
fn half_inverse_square(sigma: f64) -> (f64, f64) {
    let (square, low) = two_product(sigma, sigma);
    let high = 0.5 / square;
    let (product, error) = two_product(2.0 * square, high);
    let missing = ((1.0 - product) - error) - 2.0 * low * high;
    (high, missing * high)
}

/// e^(−j²·(high + low)), for an integer j below 2²⁶.
fn weight(j: f64, (high, low): (f64, f64)) -> f64 {
    let square = j * j;
    let (exponent, error) = two_product(square, high);
    elementary::exp(-exponent) * (1.0 - (error + square * low))
}

/// Σ_{j > last} e^(−j²/(2σ²)), between 0 and e^(−a)/(1 − e^(−b)) with a the exponent of the
/// first term and b the least difference to the next.
fn beyond(last: f64, sigma: f64) -> Enclosure {
    let twice_square = Enclosure::from(2.0) * Enclosure::from(sigma).square();
    let first = Enclosure::from(last + 1.0).square() / twice_square;
    let difference = Enclosure::from(2.0 * last + 3.0) / twice_square;
    let bound = (-first).exp() / -(-difference).exp_m1();
    Enclosure::between(0.0, bound.upper())
}
