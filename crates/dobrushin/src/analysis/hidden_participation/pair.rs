//! E_γ between M + N(0, 1) and N(0, 1), in both directions, for a random M ≥ 0 that is independent of the normal law.
//!
//! The likelihood ratio at t is Γ(t) = E e^(M·t − M²/2), which increases with t, so thresholds are the best events:
//!
//! ```text
//! E_γ(M + N ‖ N) = E Q(t − M) − γ·Q(t)         with Γ(t) = γ,
//! E_γ(N ‖ M + N) = Φ(t) − γ·E Φ(t − M)         with Γ(t) = 1/γ.
//! ```
//!
//! # Guarantee
//! E_γ decreases with γ. A bound at γ is the exact value at a slightly smaller γ′ = Γ(t), or 1/Γ(t), for a t that only
//! has to be on the right side of the root. Both increase if M does in the stochastic order.

use super::law::Law;
use crate::numeric::{Boundary, UNIT_ROUNDOFF, elementary, normal};
use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon};

/// The pair of a law of M.
pub(super) struct Pair {
    /// The values of M and their probabilities.
    atoms: Vec<(f64, f64)>,
    /// The probability that M is infinite.
    beyond: f64,
    /// The relative error of a sum over the atoms.
    error: f64,
}

/// Thresholds beyond this are not looked at: e^(M·t − M²/2) ≤ e^(t²/2) is then finite.
const FARTHEST: f64 = 37.0;
/// More than everything that underflows.
const UNDERFLOW: f64 = 1e-285;
/// The root is searched for with this many bisections.
const BISECTIONS: u32 = 52;

/// Sums over the law of M at one threshold.
struct Sums {
    /// Γ(t).
    ratio: Enclosure,
    /// E Q(t − M) or E Φ(t − M).
    tail: Enclosure,
}

impl Pair {
    pub fn new(law: &Law, constant: f64) -> Self {
        let atoms = law.atoms(constant);
        // A term is a mass times a function of t and M, of relative error at most 2000 units for the arguments that
        // occur (the arguments of exponentials are below 1000, and x·φ(x)/Q(x) ≤ x² + 1).
        // Each mass is a sum of at most as many as the law has.
        let error = law.error + UNIT_ROUNDOFF * (4096.0 + 2.0 * (atoms.len() + law.values()) as f64);
        Self { atoms, beyond: law.beyond, error }
    }

    /// Γ(t), roughly.
    fn ratio(&self, t: f64) -> f64 {
        self.atoms.iter().map(|(m, mass)| mass * elementary::exp(m * (t - m / 2.0))).sum()
    }

    /// The enclosed sums, with Q or with Φ.
    fn sums(&self, t: f64, direction: Direction) -> Sums {
        let (mut ratio, mut tail) = (0.0, 0.0);
        for &(m, mass) in &self.atoms {
            ratio += mass * elementary::exp(m * (t - m / 2.0));
            tail += mass
                * match direction {
                    Direction::Forward => normal::tail(t - m),
                    Direction::Reverse => normal::cdf(t - m),
                }
                .midpoint();
        }
        Sums { ratio: self.enclosed(ratio), tail: self.enclosed(tail) }
    }

    fn enclosed(&self, sum: f64) -> Enclosure {
        let error = self.error * 1.01;
        Enclosure::between((sum * (1.0 - error) - UNDERFLOW).max(0.0), sum * (1.0 + error) + UNDERFLOW)
    }

    /// A threshold at which Γ is certainly not above γ, or for the reverse direction not below 1/γ, and nearly so.
    fn threshold(&self, direction: Direction, epsilon: f64) -> Option<f64> {
        let level = match direction {
            Direction::Forward => elementary::exp(epsilon),
            Direction::Reverse => elementary::exp(-epsilon),
        };
        let below = |t: f64| self.ratio(t) <= level;
        let ends = Boundary { holds: -FARTHEST, fails: FARTHEST };
        let root = if !below(ends.holds) {
            ends.holds
        } else if below(ends.fails) {
            ends.fails
        } else {
            ends.halved(BISECTIONS, below).holds
        };
        let bound = Enclosure::from(epsilon);
        let is_right = |t: f64| match direction {
            Direction::Forward => self.sums(t, direction).ratio.ln().upper() <= bound.lower(),
            Direction::Reverse => self.sums(t, direction).ratio.ln().lower() >= -bound.lower(),
        };
        let sign = if direction == Direction::Forward { -1.0 } else { 1.0 };
        let steps = [0.0, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 0.1];
        steps.into_iter().map(|step| root + sign * step * (1.0 + root.abs())).find(|t| is_right(*t))
    }

    /// E_γ at γ = Γ(t), or 1/Γ(t).
    fn at(&self, direction: Direction, t: f64) -> Enclosure {
        let Sums { ratio, tail } = self.sums(t, direction);
        match direction {
            Direction::Forward => {
                (tail - ratio * normal::tail(t)).positive_part() + Enclosure::from(self.beyond)
            }
            Direction::Reverse => (normal::cdf(t) - tail / ratio).positive_part(),
        }
    }
}

impl PrivacyProfile for Pair {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        match self.threshold(direction, epsilon.get()) {
            Some(t) => self.at(direction, t).min(Enclosure::ONE),
            // Every likelihood ratio is on one side of γ.
            None => Enclosure::between(0.0, if epsilon.get().is_finite() { 1.0 } else { self.beyond }),
        }
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    /// The ratio at the threshold with this δ; δ falls as the threshold moves away from the middle.
    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let zero = Epsilon::new(0.0).map_or(Enclosure::ONE, |zero| self.delta_of(direction, zero));
        if zero.upper() <= delta.get() {
            return Enclosure::ZERO;
        }
        let middle = Boundary { holds: -FARTHEST, fails: FARTHEST };
        let middle = middle.halved(BISECTIONS, |t| self.ratio(t) <= 1.0).holds;
        let enough = |t: f64| self.at(direction, t).upper() <= delta.get();
        let end = if direction == Direction::Forward { FARTHEST } else { -FARTHEST };
        if !enough(end) {
            let farthest = self.sums(end, direction).ratio.ln();
            return Enclosure::between(farthest.abs().lower(), f64::INFINITY);
        }
        let found = Boundary { holds: end, fails: middle }.halved(BISECTIONS, enough);
        let ratio = |t: f64| match direction {
            Direction::Forward => self.sums(t, direction).ratio.ln(),
            Direction::Reverse => -self.sums(t, direction).ratio.ln(),
        };
        // A threshold at which δ is certainly larger, or the middle.
        let back = if direction == Direction::Forward { -1.0 } else { 1.0 };
        let steps =
            [1e-11, 1e-9, 1e-7, 1e-5, 1e-3].map(|step| found.fails + back * step * (1.0 + found.fails.abs()));
        let below = steps.into_iter().find(|t| self.at(direction, *t).lower() > delta.get());
        let below = below.map_or(0.0, |t| ratio(t).lower().max(0.0));
        let above = ratio(found.holds).upper().max(0.0);
        Enclosure::between(below.min(above), above)
    }
}
