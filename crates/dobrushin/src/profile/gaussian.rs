//! Profiles of Gaussian mechanisms.

use super::{Direction, PrivacyProfile};
use crate::divergence::GaussianPair;
use crate::numeric::elementary::powi;
use crate::numeric::theta;
use crate::{Delta, Enclosure, Epsilon, NonNegative, RenyiOrder};

/// μ-GDP (Dong, Roth, Su 2022): neighbours are at least as hard to tell apart as N(0, 1) and N(μ, 1).
///
/// δ(ε) = θ_ε(μ), the same in both directions. Exact for a Gaussian mechanism with μ =
/// sensitivity/σ, and exactly closed under composition and groups.
///
/// ```
/// use dobrushin::profile::{GaussianProfile, PrivacyProfile};
/// use dobrushin::{Delta, NonNegative};
/// let once = GaussianProfile::new(NonNegative::new(0.1)?);
/// let hundred_times = GaussianProfile::compose(&[once; 100]);
/// assert!((hundred_times.epsilon(Delta::new(1e-5)?).upper() - 4.3772).abs() < 1e-4);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianProfile {
    mu: Enclosure,
}

impl GaussianProfile {
    /// The profile of μ-GDP.
    pub fn new(mu: NonNegative) -> Self {
        Self { mu: mu.into() }
    }

    /// The profile of μ-GDP for a μ ≥ 0 that is only known to lie in an enclosure.
    pub fn enclosed(mu: Enclosure) -> Self {
        Self { mu: mu.positive_part() }
    }

    /// μ.
    pub fn mu(self) -> Enclosure {
        self.mu
    }

    /// The profile of all of these together, adaptively or not: μ = √Σμ².
    pub fn compose(parts: &[Self]) -> Self {
        let largest = parts.iter().fold(0.0_f64, |most, part| most.max(part.mu.upper()));
        if largest == 0.0 || largest == f64::INFINITY {
            return parts
                .iter()
                .fold(Self { mu: Enclosure::ZERO }, |most, part| Self { mu: most.mu.max(part.mu) });
        }
        // Scaling by a power of two keeps the squares in range, exactly.
        let scale = powi(2f64, -(libm::log2(largest) as i32).clamp(-1000, 1000));
        let squares = parts.iter().map(|part| (part.mu * Enclosure::from(scale)).square());
        Self { mu: squares.sum::<Enclosure>().sqrt() / Enclosure::from(scale) }
    }

    /// The profile for groups of records, exactly: kμ.
    #[must_use]
    pub fn for_group(self, records: u32) -> Self {
        if records == 0 {
            return Self { mu: Enclosure::ZERO };
        }
        Self { mu: self.mu * Enclosure::from(f64::from(records)) }
    }

    /// The ρ of zero-concentrated privacy: μ²/2.
    pub fn rho(self) -> Enclosure {
        self.mu.square() / Enclosure::from(2.0)
    }

    /// The Rényi divergence αμ²/2 of order α.
    pub fn renyi(self, order: RenyiOrder) -> Enclosure {
        if self.mu == Enclosure::ZERO { Enclosure::ZERO } else { Enclosure::from(order) * self.rho() }
    }
}

impl From<GaussianPair> for GaussianProfile {
    fn from(pair: GaussianPair) -> Self {
        Self { mu: pair.ratio() }
    }
}

impl PrivacyProfile for GaussianProfile {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        theta::theta_range(epsilon.into(), self.mu)
    }

    fn log_delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        theta::ln_theta_range(epsilon.into(), self.mu)
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    /// Increasing in μ.
    fn epsilon_of(&self, _: Direction, delta: Delta) -> Enclosure {
        self.mu.map_monotone(|mu| {
            NonNegative::new(mu).map_or(Enclosure::ENTIRE, |mu| theta::smallest_epsilon(mu, delta))
        })
    }
}
