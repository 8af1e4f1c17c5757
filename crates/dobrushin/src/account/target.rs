//! The requirement that a run has to meet.

use crate::loss::{Composition, LossDistribution};
use crate::numeric::{normal, theta};
use crate::profile::{Direction, PrivacyProfile, risk};
use crate::{Delta, Enclosure, Epsilon, Error, NonNegative, Probability};

/// The requirement that a run has to meet when one of its parameters is searched for.
///
/// ```
/// use dobrushin::run::Parameter;
/// use dobrushin::{Probability, Run, Target, account::calibrate};
///
/// // No attack is to have more than one true positive in ten where it has one false positive in a hundred.
/// let target = Target::TruePositiveRate { rate: Probability::new(0.1)?, at: Probability::new(0.01)? };
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(1.0).build()?;
/// let found = calibrate(&run, Parameter::NoiseMultiplier, target)?;
/// assert!(found.achieved.upper() <= target.limit() && target.limit() == 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// (ε, δ)-privacy.
    Privacy {
        /// ε.
        epsilon: Epsilon,
        /// δ.
        delta: Delta,
    },
    /// No attack's true-positive rate exceeds its false-positive rate by more than this.
    Advantage(Probability),
    /// No attack with this false-positive rate has a higher true-positive rate.
    TruePositiveRate {
        /// The true-positive rate.
        rate: Probability,
        /// The false-positive rate.
        at: Probability,
    },
}

impl Target {
    /// The number that limits the quantity.
    pub fn limit(self) -> f64 {
        match self {
            Self::Privacy { epsilon, .. } => epsilon.get(),
            Self::Advantage(rate) | Self::TruePositiveRate { rate, .. } => rate.get(),
        }
    }

    /// The quantity that is limited.
    pub(super) fn measure(self, profile: &dyn PrivacyProfile) -> Enclosure {
        match self {
            Self::Privacy { delta, .. } => profile.epsilon(delta),
            Self::Advantage(_) => risk::advantage(profile),
            Self::TruePositiveRate { at, .. } => risk::true_positive_rate(profile, at),
        }
    }

    /// The limited quantity, for losses that are composed once.
    pub(super) fn measure_composition(self, composition: &Composition) -> Result<Enclosure, Error> {
        Ok(match self {
            Self::Privacy { delta, .. } => composition.epsilon(delta),
            // Losses composed for half of δ, where ε is not 0, are accurate at ε = 0 too.
            Self::Advantage(rate) => {
                risk::advantage(&NearOnePoint::new(composition, Delta::new(rate.get() / 2.0)?))
            }
            Self::TruePositiveRate { at, .. } => {
                let near = self.touching_delta(at)?;
                risk::true_positive_rate(&NearOnePoint::new(composition, near), at)
            }
        })
    }

    /// A positive number roughly proportional to the distance of neighbours, 1 at the limit: a secant finds where it is
    /// 1 in few steps.
    pub(super) fn share(self, measured: f64) -> f64 {
        match self {
            Self::Privacy { epsilon, .. } => measured / epsilon.get(),
            Self::Advantage(rate) => measured / rate.get(),
            Self::TruePositiveRate { rate, at } => (measured - at.get()) / (rate.get() - at.get()),
        }
    }

    /// The approximate μ of the Gaussian pair that just meets the target.
    pub(super) fn mu(self) -> f64 {
        let quantile = |p: Probability| normal::cdf_inverse(p).midpoint();
        match self {
            Self::Privacy { epsilon, delta } => theta::largest_r(epsilon, delta).midpoint(),
            Self::Advantage(rate) => 2.0 * Probability::new(0.5 + rate.get() / 2.0).map_or(0.0, quantile),
            Self::TruePositiveRate { rate, at } => quantile(rate) - quantile(at),
        }
    }

    /// The approximate δ(ε) at which the line δ + e^ε·FPR touches the target's Gaussian trade-off: the test claims "in"
    /// above z = Φ⁻¹(1 − FPR), where the loss is μz − μ²/2.
    fn touching_delta(self, at: Probability) -> Result<Delta, Error> {
        let mu = self.mu();
        let loss = mu * normal::tail_inverse(at).midpoint() - mu * mu / 2.0;
        let delta = match (Epsilon::new(loss.abs()), NonNegative::new(mu)) {
            (Ok(epsilon), Ok(mu)) => theta::theta(epsilon, mu).midpoint(),
            _ => 0.5,
        };
        Delta::new(delta.clamp(1e-12, 0.9))
    }
}

/// A composition whose losses were composed once, for one δ. At another δ its bounds are wider.
struct NearOnePoint {
    forward: LossDistribution,
    reverse: Option<LossDistribution>,
}

impl NearOnePoint {
    fn new(composition: &Composition, delta: Delta) -> Self {
        let forward = composition.distribution(Direction::Forward, delta);
        let reverse =
            (!composition.is_symmetric()).then(|| composition.distribution(Direction::Reverse, delta));
        Self { forward, reverse }
    }
}

impl PrivacyProfile for NearOnePoint {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        match (direction, &self.reverse) {
            (Direction::Reverse, Some(reverse)) => reverse.delta(epsilon),
            _ => self.forward.delta(epsilon),
        }
    }

    fn is_symmetric(&self) -> bool {
        self.reverse.is_none()
    }
}
