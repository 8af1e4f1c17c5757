//! The profile of a composition, also where ε is nearly 0, and in many places at once.

use crate::loss::{Composition, LossDistribution};
use crate::numeric::theta;
use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon, NonNegative};
use std::sync::OnceLock;

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

/// A composition. Where δ is near its largest value, δ(0), an error that is small relatively in
/// ε would be out of reach; there the losses are added up for half of δ(0) instead, which is
/// as accurate in δ.
pub(super) struct Losses {
    composition: Composition,
    /// For each direction: the losses made for half of δ(0).
    bulk: [OnceLock<Bulk>; 2],
}

struct Bulk {
    losses: LossDistribution,
    /// Where the bulk ends: a quarter of δ(0), and its ε.
    delta: f64,
    epsilon: f64,
}

impl Losses {
    /// For a composition without a closed form.
    pub fn new(composition: Composition) -> Self {
        Self { composition, bulk: [OnceLock::new(), OnceLock::new()] }
    }

    /// None if there is nothing to add up.
    fn bulk(&self, direction: Direction) -> Option<&Bulk> {
        let bulk = &self.bulk[usize::from(direction == Direction::Reverse)];
        if let Some(bulk) = bulk.get() {
            return Some(bulk);
        }
        let largest = largest_delta(&self.composition, direction)?;
        let losses = self.composition.distribution(direction, Delta::new(largest / 2.0).ok()?);
        let end = Delta::new(largest / 4.0).ok()?;
        let epsilon = losses.epsilon(end).lower();
        Some(bulk.get_or_init(|| Bulk { losses, delta: end.get(), epsilon }))
    }
}

/// δ(0), roughly.
fn largest_delta(composition: &Composition, direction: Direction) -> Option<f64> {
    let rough = composition.clone().with_tolerance(0.03).distribution(direction, Delta::new(1e-3).ok()?);
    let largest = rough.delta(Epsilon::new(0.0).ok()?).upper();
    (largest > 0.0).then_some(largest)
}

/// δ(ε) of losses that were added up.
pub(super) fn delta_at(losses: &LossDistribution, epsilon: Epsilon) -> Enclosure {
    on_the_grid(epsilon, |epsilon| losses.delta(epsilon))
}

/// δ(ε); beyond every grid, what it is there, or less.
fn on_the_grid(epsilon: Epsilon, delta: impl Fn(Epsilon) -> Enclosure) -> Enclosure {
    const LAST: f64 = 1e9;
    if epsilon.get() <= LAST {
        return delta(epsilon);
    }
    Enclosure::ZERO.hull(Epsilon::new(LAST).map_or(Enclosure::UNIT, delta))
}

impl PrivacyProfile for Losses {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        match self.bulk(direction) {
            Some(bulk) if epsilon.get() < bulk.epsilon => delta_at(&bulk.losses, epsilon),
            _ => on_the_grid(epsilon, |epsilon| self.composition.delta_of(direction, epsilon)),
        }
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        // What is this small is far from δ(0), or so is its ε from 0.
        if delta.get() < 1e-4 {
            return self.composition.epsilon_of(direction, delta);
        }
        match self.bulk(direction) {
            Some(bulk) if delta.get() > bulk.delta => bulk.losses.epsilon(delta),
            _ => self.composition.epsilon_of(direction, delta),
        }
    }

    fn is_symmetric(&self) -> bool {
        self.composition.is_symmetric()
    }
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
            let delta = delta_at(losses, epsilon);
            best.intersect(delta).unwrap_or(delta)
        })
    }

    fn is_symmetric(&self) -> bool {
        self.reverse.is_none()
    }
}
