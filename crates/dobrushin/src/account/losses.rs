//! Losses asked in many places at once.

use crate::loss::{Composition, LossDistribution};
use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon};

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
