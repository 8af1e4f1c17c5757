//! Composed losses, evaluated in many places.

use crate::loss::{Composition, LossDistribution};
use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon};

/// A composition whose losses were composed for several δ: a whole curve costs little more than one point.
///
/// Each of the laws bounds δ everywhere, so the best bound holds.
pub(super) struct Tabulated {
    forward: Vec<LossDistribution>,
    reverse: Option<Vec<LossDistribution>>,
}

impl Tabulated {
    /// Composes roughly first, and then for every δ from the largest down to 1e-13.
    pub fn new(composition: &Composition) -> Self {
        let of = |direction| {
            let rough = composition.clone().with_tolerance(0.03);
            let rough = Delta::new(1e-3).map(|delta| rough.distribution(direction, delta));
            let mut made: Vec<LossDistribution> = rough.into_iter().collect();
            let largest = made.iter().zip(Epsilon::new(0.0)).map(|(rough, zero)| rough.delta(zero).upper());
            let mut delta = largest.sum::<f64>() / 2.0;
            while let Some(next) = Delta::new(delta).ok().filter(|delta| delta.get() > 1e-14) {
                made.push(composition.distribution(direction, next));
                delta /= 30.0;
            }
            made
        };
        let reverse = (!composition.is_symmetric()).then(|| of(Direction::Reverse));
        Self { forward: of(Direction::Forward), reverse }
    }

    /// The best bound of all laws of a direction.
    fn best(
        &self,
        direction: Direction,
        anything: Enclosure,
        of: impl Fn(&LossDistribution) -> Enclosure,
    ) -> Enclosure {
        let made = match (direction, &self.reverse) {
            (Direction::Reverse, Some(reverse)) => reverse,
            _ => &self.forward,
        };
        made.iter().map(of).fold(anything, |best, one| best.intersect(one).unwrap_or_else(|| best.hull(one)))
    }
}

impl PrivacyProfile for Tabulated {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.best(direction, Enclosure::UNIT, |losses| losses.delta(epsilon))
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let anything = Enclosure::between(0.0, f64::INFINITY);
        self.best(direction, anything, |losses| losses.epsilon(delta))
    }

    fn is_symmetric(&self) -> bool {
        self.reverse.is_none()
    }
}
