//! Privacy profiles: ε ↦ δ(ε), in both directions, and from what is known of two laws to
//! (ε, δ).
//!
//! A mechanism M has the profile δ(ε) = sup E_{e^ε}(M(D)‖M(D′)) over neighbours D, D′; M is
//! (ε, δ)-DP iff δ(ε) ≤ δ. For a relation that is not symmetric (a record is added, or
//! removed) the two directions differ, and composition needs both.

mod renyi;

pub use renyi::RenyiBound;

use crate::numeric::{Boundary, boundary, root_of_decreasing};
use crate::{Delta, Enclosure, Epsilon};

/// Which of two laws P and Q comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// E_γ(P‖Q): for a subsampled mechanism, P is the law with the record.
    Forward,
    /// E_γ(Q‖P).
    Reverse,
}

impl Direction {
    /// Forward, then reverse.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];

    /// The other one.
    pub fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }
}

/// A bound on E_{e^ε} of two neighbours' outputs, for every ε ≥ 0 and both directions.
///
/// # Guarantee
/// The upper end of every δ and ε is a guarantee; the lower end encloses the value of the
/// *bound*, not of the best bound there is.
pub trait PrivacyProfile: Send + Sync {
    /// δ(ε) of one direction; non-increasing in ε, convex in e^ε.
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure;

    /// ln δ(ε) of one direction, also where δ underflows.
    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.delta_of(direction, epsilon).ln()
    }

    /// Whether both directions have the same profile.
    fn is_symmetric(&self) -> bool;

    /// The smallest ε ≥ 0 with δ(ε) ≤ δ in one direction; ∞ if there is none. At the upper
    /// end δ(ε) was seen to be at most δ.
    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        smallest_epsilon(delta, |epsilon| self.delta_of(direction, epsilon))
    }

    /// δ(ε), the larger of the two directions.
    fn delta(&self, epsilon: Epsilon) -> Enclosure {
        larger(self.is_symmetric(), |direction| self.delta_of(direction, epsilon))
    }

    /// ln δ(ε), the larger of the two directions.
    fn log_delta(&self, epsilon: Epsilon) -> Enclosure {
        larger(self.is_symmetric(), |direction| self.log_delta_of(direction, epsilon))
    }

    /// The smallest ε ≥ 0 at which δ is met in both directions.
    fn epsilon(&self, delta: Delta) -> Enclosure {
        larger(self.is_symmetric(), |direction| self.epsilon_of(direction, delta))
    }
}

/// The larger of the values of the two directions, which are equal if `symmetric`.
fn larger(symmetric: bool, of: impl Fn(Direction) -> Enclosure) -> Enclosure {
    let forward = of(Direction::Forward);
    if symmetric { forward } else { forward.max(of(Direction::Reverse)) }
}

/// The smallest ε ≥ 0 with δ(ε) ≤ δ for a non-increasing profile; ∞ if it is not seen to be
/// met by any finite ε.
pub(crate) fn smallest_epsilon(delta: Delta, profile: impl Fn(Epsilon) -> Enclosure) -> Enclosure {
    let at = |epsilon: f64| Epsilon::new(epsilon).map_or(Enclosure::UNIT, &profile);
    if at(0.0).upper() <= delta.get() {
        return Enclosure::ZERO;
    }
    // The last finite ε tells whether the target is met at all, and by which end.
    let met = |end: f64| if end <= delta.get() { f64::MAX } else { f64::INFINITY };
    let last = at(f64::MAX);
    let (lower, upper) = (met(last.lower()), met(last.upper()));
    let mut end = 1.0;
    while end < f64::MAX && at(end).upper() > delta.get() {
        end = if end < 1e150 { end * 8.0 } else { f64::MAX };
    }
    if upper == f64::INFINITY {
        let start = if lower == f64::INFINITY {
            f64::INFINITY
        } else {
            boundary(Boundary { holds: 0.0, fails: f64::MAX }, 1.0, |x| at(x).lower() >= delta.get()).holds
        };
        return Enclosure::between(start, f64::INFINITY);
    }
    root_of_decreasing((0.0, end), end, delta.get(), at)
}
