//! Privacy profiles: ε ↦ δ(ε), in both directions, and the conversion of bounds on two laws to (ε, δ).
//!
//! A mechanism M has the profile δ(ε) = sup E_{e^ε}(M(D)‖M(D′)) over neighbours D, D′; M is
//! (ε, δ)-DP iff δ(ε) ≤ δ. For a relation that is not symmetric (a record is added, or
//! removed) the two directions differ, and composition needs both.

mod allowance;
mod approximate;
mod best;
mod concentrated_mixture;
mod gaussian;
mod group;
mod mixture;
mod nodes;
mod piecewise;
mod renyi;
pub mod risk;
mod running;
mod trade_off;

pub use allowance::Allowance;
pub use approximate::ApproximateProfile;
pub use best::BestProfile;
pub use concentrated_mixture::ConcentratedMixture;
pub use gaussian::GaussianProfile;
pub use group::GroupProfile;
pub use mixture::MixtureProfile;
pub use piecewise::{Knot, PiecewiseProfile};
pub use renyi::{
    AtOrder, ComposedCurve, ConcentratedCurve, MixtureCurve, PairCurve, RenyiBound, RenyiCurve, RenyiProfile,
    SubsampledGaussian, renyi_of_profile,
};
pub use running::{RUNNING_COST_BYTES, RunningCost};
pub use trade_off::TradeOff;

use crate::numeric::{Boundary, boundary};
use crate::{Delta, Enclosure, Epsilon};

/// Which of two laws P and Q comes first.
///
/// ```
/// use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
/// use dobrushin::profile::Direction;
/// use dobrushin::{Enclosure, Positive, Probability};
///
/// // With the record or without it: if it is drawn rarely, a loss of 1 happens only with it.
/// let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(1.0)? };
/// let pair = dominating_pair(&mechanism, Sampling::Poisson(Probability::new(0.01)?), Neighbours::AddOrRemoveOne)?;
/// let above = |direction| pair.law(direction).split(Enclosure::ONE).above.p;
/// assert!(above(Direction::Forward).lower() > 0.0);
/// assert_eq!(above(Direction::Reverse).upper(), 0.0);
/// assert_eq!(Direction::Forward.reversed(), Direction::Reverse);
/// # Ok::<(), dobrushin::Error>(())
/// ```
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
/// The upper end of every δ and ε is a guarantee; the lower end is a lower end for the value of this *bound*, not of
/// the best possible bound.
///
/// ```
/// use dobrushin::profile::Direction;
/// use dobrushin::{Delta, Enclosure, Epsilon, PrivacyProfile};
///
/// /// A record that is published with probability 1/1000, and not used otherwise: δ = 1/1000 at every ε.
/// struct Lottery;
///
/// impl PrivacyProfile for Lottery {
///     fn delta_of(&self, _: Direction, _: Epsilon) -> Enclosure {
///         Enclosure::from(1e-3)
///     }
///
///     fn is_symmetric(&self) -> bool {
///         true
///     }
/// }
///
/// // What follows from δ(ε) need not be written.
/// assert_eq!(Lottery.epsilon(Delta::new(1e-3)?).upper(), 0.0);
/// assert_eq!(Lottery.epsilon(Delta::new(1e-4)?).upper(), f64::INFINITY);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub trait PrivacyProfile: Send + Sync {
    /// δ(ε) of one direction; non-increasing in ε, convex in e^ε.
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure;

    /// ln δ(ε) of one direction, also where δ underflows.
    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.delta_of(direction, epsilon).ln()
    }

    /// Whether both directions have the same profile.
    fn is_symmetric(&self) -> bool;

    /// The smallest ε ≥ 0 with δ(ε) ≤ δ in one direction; ∞ if there is none. At the upper end, δ(ε) was checked to be
    /// at most δ.
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

    /// The smallest ε ≥ 0 at which δ(ε) ≤ δ in both directions.
    fn epsilon(&self, delta: Delta) -> Enclosure {
        larger(self.is_symmetric(), |direction| self.epsilon_of(direction, delta))
    }
}

/// The larger of the values of the two directions, which are equal if `symmetric`.
fn larger(symmetric: bool, of: impl Fn(Direction) -> Enclosure) -> Enclosure {
    let forward = of(Direction::Forward);
    if symmetric { forward } else { forward.max(of(Direction::Reverse)) }
}

/// The smallest ε ≥ 0 with δ(ε) ≤ δ for a non-increasing profile; ∞ if no finite ε is found to meet it.
///
/// ```
/// use dobrushin::profile::smallest_epsilon;
/// use dobrushin::{Delta, Enclosure};
///
/// // δ(ε) = e^(−ε) falls to 1/2 at ε = ln 2.
/// let epsilon = smallest_epsilon(Delta::new(0.5)?, |epsilon| (-Enclosure::from(epsilon)).exp());
/// assert!((epsilon.upper() - 2_f64.ln()).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn smallest_epsilon(delta: Delta, profile: impl Fn(Epsilon) -> Enclosure) -> Enclosure {
    let target = delta.get();
    let at = |epsilon: f64| Epsilon::new(epsilon).map_or(Enclosure::UNIT, &profile);
    if at(0.0).upper() <= target {
        return Enclosure::ZERO;
    }
    // The last finite ε tells whether the target is met at all, and at which end of the enclosure.
    let last = at(f64::MAX);
    if last.lower() > target {
        return Enclosure::INFINITE;
    }
    if last.upper() > target {
        let ends = Boundary { holds: 0.0, fails: f64::MAX };
        return Enclosure::between(boundary(ends, 1.0, |x| at(x).lower() > target).holds, f64::INFINITY);
    }
    let (start, end) = bracket(target, |epsilon| at(epsilon).upper());
    let hint = crossing_hint((start, end), 1e-15, target, |epsilon| at(epsilon).upper());
    let met = boundary(Boundary { holds: end, fails: 0.0 }, hint, |x| at(x).upper() <= target).holds;
    // The comparison is strict: δ may stay at the target.
    let missed = boundary(Boundary { holds: 0.0, fails: end }, met, |x| at(x).lower() > target).holds;
    Enclosure::between(missed.min(met), met)
}

/// The approximate smallest ε ≥ 0 with δ(ε) ≤ δ for a non-increasing profile: a good hint, without a guarantee.
pub(crate) fn crossing(delta: Delta, profile: impl Fn(Epsilon) -> f64) -> Option<Epsilon> {
    let at = |epsilon: f64| Epsilon::new(epsilon).map_or(1.0, &profile);
    let (start, end) = bracket(delta.get(), at);
    let near = if at(0.0) <= delta.get() { 0.0 } else { crossing_hint((start, end), 1e-12, delta.get(), at) };
    Epsilon::new(near).ok()
}

/// A point where a decreasing function is above the target, or 0, and one where it no longer is, or the largest number.
fn bracket(target: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut start, mut end) = (0.0, 1.0);
    while end < f64::MAX && f(end) > target {
        (start, end) = (end, (8.0 * end * end).min(f64::MAX));
    }
    (start, end)
}

/// Approximately where a decreasing function falls to the target. The bracket is narrowed to a factor of 16; then ln f
/// is replaced by its chord (regula falsi, where an end that stays twice counts half), until either is within the
/// tolerance.
fn crossing_hint(
    (mut start, mut end): (f64, f64),
    tolerance: f64,
    target: f64,
    f: impl Fn(f64) -> f64,
) -> f64 {
    let height = |x: f64| libm::log(f(x)) - libm::log(target);
    let (mut above, mut below) = (height(start), height(end));
    let mut was_above = None;
    for _ in 0..60 {
        let secant = start + (end - start) * (above / (above - below));
        let probe = if start < end / 16.0 {
            start.max(end * 1e-6).sqrt() * end.sqrt()
        } else if start < secant && secant < end {
            secant
        } else {
            start.midpoint(end)
        };
        let value = height(probe);
        if value.abs() <= tolerance || end - start <= tolerance * end {
            return probe;
        }
        let weight = if was_above.replace(value > 0.0) == Some(value > 0.0) { 0.5 } else { 1.0 };
        if value > 0.0 {
            (start, above, below) = (probe, value, below * weight);
        } else {
            (end, above, below) = (probe, above * weight, value);
        }
    }
    end
}
