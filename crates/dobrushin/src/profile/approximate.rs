//! The consequences of (ε₀, δ₀)-privacy at every other ε.

use super::{Direction, PrivacyProfile};
use crate::numeric::root_of_decreasing;
use crate::{Delta, Enclosure, Epsilon};

/// Everything that one (ε₀, δ₀) guarantee, in both directions, implies:
///
/// ```text
/// δ(ε) = δ₀ + (1 − δ₀)·(e^ε₀ − e^ε)₊/(e^ε₀ + 1).
/// ```
///
/// # Guarantee
/// Every (ε₀, δ₀)-DP mechanism has at most this profile, and one mechanism attains it: reveal the input with
/// probability δ₀, and otherwise apply randomised response with ratio e^ε₀. Indeed E_γ is convex in γ > 0. It is at
/// most δ₀ at γ₀ and, by E_{1/γ}(P‖Q) = E_γ(Q‖P)/γ, without the subtraction of 1 − γ, at most 1 − (1 − δ₀)/γ₀ at 1/γ₀;
/// the profile is the chord between these points (Kairouz, Oh, Viswanath 2015, proved differently).
///
/// ```
/// use dobrushin::profile::{ApproximateProfile, PrivacyProfile};
/// use dobrushin::{Delta, Epsilon};
/// // Pure ε-DP bounds total variation by (e^ε − 1)/(e^ε + 1).
/// let profile = ApproximateProfile::new(Epsilon::new(1.0)?, Delta::new(0.0)?);
/// assert!((profile.delta(Epsilon::new(0.0)?).upper() - 0.5_f64.tanh()).abs() < 1e-15);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ApproximateProfile {
    epsilon: Epsilon,
    delta: Delta,
}

impl ApproximateProfile {
    /// The profile of (ε₀, δ₀)-DP; of pure ε₀-DP for δ₀ = 0.
    pub fn new(epsilon: Epsilon, delta: Delta) -> Self {
        Self { epsilon, delta }
    }
}

impl PrivacyProfile for ApproximateProfile {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        let delta = Enclosure::from(self.delta);
        if epsilon >= self.epsilon {
            return delta;
        }
        // (1 − e^(ε−ε₀))/(1 + e^(−ε₀)), which does not overflow.
        let missing = Enclosure::from(epsilon) - Enclosure::from(self.epsilon);
        let distance = -missing.exp_m1() / (Enclosure::ONE + (-Enclosure::from(self.epsilon)).exp());
        (delta + (Enclosure::ONE - delta) * distance).min(Enclosure::ONE)
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let at =
            |epsilon: f64| Epsilon::new(epsilon).map_or(Enclosure::UNIT, |e| self.delta_of(direction, e));
        if at(0.0).upper() <= delta.get() {
            return Enclosure::ZERO;
        }
        if delta < self.delta {
            return Enclosure::INFINITE;
        }
        let end = self.epsilon.get();
        let share = (delta.get() - self.delta.get()) / (1.0 - self.delta.get());
        let hint = end + libm::log1p(-share * (1.0 + libm::exp(-end)));
        root_of_decreasing((0.0, end), hint, delta.get(), at)
    }
}
