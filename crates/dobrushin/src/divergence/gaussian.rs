//! Two Gaussian laws with the same covariance σ²·I, in any dimension.

use super::Pair;
use crate::numeric::{normal, theta};
use crate::{Delta, Enclosure, Error, Gamma, NonNegative, Positive, RenyiOrder};

/// N(m₁, σ²I) and N(m₂, σ²I); only r = ‖m₁ − m₂‖/σ matters.
///
/// ```
/// use dobrushin::divergence::{GaussianPair, Pair};
/// let pair = GaussianPair::new(1.2, 1.0)?;
/// assert!(pair.kl().contains(0.72));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianPair {
    ratio: Enclosure,
}

impl GaussianPair {
    /// Means `distance` apart, standard deviation `sigma` in every direction.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless `distance ≥ 0` and `0 < sigma < ∞`.
    pub fn new(distance: f64, sigma: f64) -> Result<Self, Error> {
        let distance = Enclosure::from(NonNegative::new(distance)?);
        Ok(Self { ratio: distance / Enclosure::from(Positive::named("sigma", sigma)?) })
    }

    /// r = ‖m₁ − m₂‖/σ.
    pub fn ratio(self) -> Enclosure {
        self.ratio
    }
}

impl Pair for GaussianPair {
    /// E_{e^ε} = θ_ε(r); for ε < 0 it is e^ε·θ_{−ε}(r).
    fn hockey_stick(&self, gamma: Gamma) -> Enclosure {
        let at = theta::theta_range(gamma.epsilon().abs(), self.ratio);
        if gamma.is_below_one() { (gamma.value() * at).min(Enclosure::ONE) } else { at }
    }

    fn ln_hockey_stick(&self, gamma: Gamma) -> Enclosure {
        let at = theta::ln_theta_range(gamma.epsilon().abs(), self.ratio);
        if gamma.is_below_one() { gamma.epsilon() + at } else { at }
    }

    /// The pair is symmetric.
    fn hockey_stick_reversed(&self, gamma: Gamma) -> Enclosure {
        self.hockey_stick(gamma)
    }

    /// Increasing in r.
    fn smallest_epsilon(&self, delta: Delta) -> Enclosure {
        self.ratio.map_monotone(|r| {
            NonNegative::new(r).map_or(Enclosure::ENTIRE, |r| theta::smallest_epsilon(r, delta))
        })
    }

    /// αr²/2.
    fn renyi(&self, order: RenyiOrder) -> Enclosure {
        if self.ratio == Enclosure::ZERO {
            return Enclosure::ZERO;
        }
        (Enclosure::from(order) * self.kl()).positive_part()
    }

    /// r²/2.
    fn kl(&self) -> Enclosure {
        self.ratio.square() / Enclosure::from(2.0)
    }

    /// e^(r²) − 1.
    fn chi_squared(&self) -> Enclosure {
        self.ratio.square().exp_m1()
    }

    /// 2 − 2e^(−r²/8).
    fn hellinger_squared(&self) -> Enclosure {
        Enclosure::from(-2.0) * (-self.ratio.square() / Enclosure::from(8.0)).exp_m1()
    }

    fn last_epsilon(&self) -> Option<f64> {
        (self.ratio == Enclosure::ZERO).then_some(0.0)
    }

    /// Under Q, ln L is N(−r²/2, r²); E[L^k; L > e^ε] = e^(k(k−1)r²/2)·Q(ε/r + r/2 − kr).
    fn tail_moment(&self, epsilon: f64, power: f64) -> f64 {
        let (r, k) = (self.ratio, Enclosure::from(power));
        let half = Enclosure::from(0.5);
        let ln_scale = k * (k - Enclosure::ONE) * self.kl();
        let from = Enclosure::from(epsilon) / r + r * (half - k);
        (ln_scale + from.map_monotone(normal::ln_tail)).exp().upper()
    }
}
