//! What is still told by an instance that is as described except with a small probability.

use dobrushin::numeric::Boundary;
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::{Delta, Enclosure, Epsilon};
use std::sync::Arc;

/// A profile of two laws that differ from the released ones with at most this probability, each.
///
/// # Guarantee
/// If P and Q are released, and P̃ and Q̃ are within variation e of them, then E_γ(P‖Q) ≥ E_γ(P̃‖Q̃) − (1 + γ)·e.
pub(super) struct Except {
    of: Arc<dyn PrivacyProfile>,
    exception: f64,
}

impl Except {
    pub fn new(of: Arc<dyn PrivacyProfile>, exception: f64) -> Self {
        Self { of, exception }
    }

    /// What is left of a δ.
    pub fn lost(all: Enclosure, epsilon: Epsilon, exception: f64) -> Enclosure {
        if exception == 0.0 {
            return all;
        }
        let lost = (Enclosure::ONE + Enclosure::from(epsilon).exp()) * Enclosure::from(exception);
        let ends = ((all - lost).lower(), (all + lost).upper());
        Enclosure::between(ends.0.clamp(0.0, 1.0), ends.1.clamp(0.0, 1.0))
    }
}

impl PrivacyProfile for Except {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let all = self.of.delta_of(direction, epsilon);
        Self::lost(all, epsilon, self.exception)
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        match self.exception == 0.0 {
            true => self.of.epsilon_of(direction, delta),
            false => epsilon(delta, |epsilon| self.delta_of(direction, epsilon)),
        }
    }

    fn is_symmetric(&self) -> bool {
        self.of.is_symmetric()
    }
}

/// Floors beyond this ε are not looked for.
const LARGEST: f64 = 256.0;

/// Encloses the ε at which a δ(ε) falls to a given one, where the error of δ grows with e^ε, so that its upper end rises again.
pub(super) fn epsilon(delta: Delta, of: impl Fn(Epsilon) -> Enclosure) -> Enclosure {
    let at = |epsilon: f64| Epsilon::new(epsilon).map_or(Enclosure::UNIT, &of);
    let is_above = |epsilon: f64| at(epsilon).lower() > delta.get();
    let lower = match is_above(0.0) {
        true => Boundary { holds: 0.0, fails: LARGEST }.halved(60, is_above).holds,
        false => 0.0,
    };
    let mut steps = (0..48).map(|doubled| lower + 1e-12 * libm::exp2(f64::from(doubled)));
    let upper = steps.find(|epsilon| at(*epsilon).upper() <= delta.get());
    Enclosure::between(lower, upper.unwrap_or(f64::INFINITY))
}
