//! Profiles of compositions: two Gaussian laws, and losses asked in many places at once.

use crate::loss::{Composition, LossDistribution};
use crate::numeric::theta;
use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon, NonNegative};

/// Two Gaussian laws, μ apart: what Gaussian mechanisms without sampling compose to.
pub(super) struct TwoGaussians {
    /// An enclosure of μ.
    pub mu: Enclosure,
}

impl PrivacyProfile for TwoGaussians {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        theta::theta_range(epsilon.into(), self.mu)
    }

    fn log_delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        theta::ln_theta_range(epsilon.into(), self.mu)
    }

    fn epsilon_of(&self, _: Direction, delta: Delta) -> Enclosure {
        self.mu.map_monotone(|mu| {
            let mu = NonNegative::new(mu.max(0.0));
            mu.map_or(Enclosure::INFINITE, |mu| theta::smallest_epsilon(mu, delta))
        })
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// δ(0), roughly.
fn largest_delta(composition: &Composition, direction: Direction) -> Option<f64> {
    let rough = composition.clone().with_tolerance(0.03).distribution(direction, Delta::new(1e-3).ok()?);
    let largest = rough.delta(Epsilon::new(0.0).ok()?).upper();
    (largest > 0.0).then_some(largest)
}

/// A composition whose losses were added up for several δ: a whole curve costs little more.
///
/// Each of the laws bounds δ everywhere, so the best of them does.
pub(super) struct Tabulated {
    forward: Vec<LossDistribution>,
    reverse: Option<Vec<LossDistribution>>,
}

impl Tabulated {
    /// Made for every δ from the largest down to 1e-13.
    pub fn new(composition: &Composition) -> Self {
        let of = |direction| {
            let mut made = Vec::new();
            let mut delta = largest_delta(composition, direction).unwrap_or(0.0) / 2.0;
            while let Some(next) = Delta::new(delta).ok().filter(|delta| delta.get() > 1e-14) {
                made.push(composition.distribution(direction, next));
                delta /= 30.0;
            }
            made
        };
        let reverse = (!composition.is_symmetric()).then(|| of(Direction::Reverse));
        Self { forward: of(Direction::Forward), reverse }
    }
}

impl PrivacyProfile for Tabulated {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let made = match (direction, &self.reverse) {
            (Direction::Reverse, Some(reverse)) => reverse,
            _ => &self.forward,
        };
        made.iter().fold(Enclosure::UNIT, |best, losses| {
            let delta = losses.delta(epsilon);
            best.intersect(delta).unwrap_or(delta)
        })
    }

    fn is_symmetric(&self) -> bool {
        self.reverse.is_none()
    }
}
