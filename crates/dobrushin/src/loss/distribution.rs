//! δ(ε) and ε(δ) of a sum of losses.

use super::convolve::Summed;
use crate::numeric::elementary::powi;
use crate::numeric::{Boundary, UNIT_ROUNDOFF, elementary};
use crate::{Delta, Enclosure, Epsilon};

/// The discretised law of the privacy loss of a composition, in one direction.
///
/// It is accurate near the δ (or ε) for which it was computed; elsewhere its bounds still hold, but are wider.
///
/// # Guarantee
/// The upper ends bound E_{e^ε}(P‖Q) of the composition: discretisation, truncation and
/// rounding are all counted. The lower ends are below it.
///
/// ```
/// use dobrushin::loss::{Composition, DominatingPair, FiniteLoss, Part};
/// use dobrushin::profile::Direction;
/// use dobrushin::{Delta, Epsilon};
/// use std::sync::Arc;
///
/// // Ten answers by randomised response with ε = 0.1: no loss is above 1.
/// let pair = DominatingPair::symmetric(Arc::new(FiniteLoss::randomised_response(Epsilon::new(0.1)?)));
/// let composition = Composition::new(vec![Part { pair, count: 10 }]);
/// let law = composition.distribution(Direction::Forward, Delta::new(1e-5)?);
/// let epsilon = law.epsilon(Delta::new(1e-5)?).upper();
/// assert!(epsilon < 1.0);
/// assert!((law.delta(Epsilon::new(epsilon)?).upper() / 1e-5 - 1.0).abs() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LossDistribution {
    summed: Summed,
    upper: Tails,
    lower: Tails,
}

/// Sums over the points above each point i, with m_j the tilted masses:
/// `tail` Σ_{j≥i} m_j e^(−(a+h)(j−i)) and `stick` Σ_{j≥i} m_j e^(−a(j−i))(1 − e^(−h(j−i))).
///
/// For ε = ih − t, E(1 − e^(ε−L))₊ is e^(κ − ai) times stick + (1 − e^(−t))·tail: all terms are positive, so nothing
/// cancels.
#[derive(Clone, Debug)]
struct Tails {
    tail: Vec<f64>,
    stick: Vec<f64>,
}

impl Tails {
    fn new(masses: &[f64], step: f64, tilt: f64) -> Self {
        let (fall, drop) = (elementary::exp(-tilt), elementary::exp(-step));
        let rest = -elementary::exp_m1(-step);
        let mut tails = Self { tail: vec![0.0; masses.len() + 1], stick: vec![0.0; masses.len() + 1] };
        for (i, mass) in masses.iter().enumerate().rev() {
            tails.tail[i] = mass + tails.tail[i + 1] * (fall * drop);
            tails.stick[i] = (tails.stick[i + 1] + rest * tails.tail[i + 1]) * fall;
        }
        tails
    }
}

impl LossDistribution {
    pub(super) fn new(summed: Summed) -> Self {
        let tails = |masses: &[f64]| Tails::new(masses, summed.grid.step, summed.grid.tilt);
        let (upper, lower) = (tails(&summed.nodes.upper), tails(&summed.nodes.lower));
        Self { summed, upper, lower }
    }

    /// The distribution of no loss.
    pub(super) fn nothing() -> Self {
        Self::new(Summed::nothing())
    }

    /// The distribution if nothing is known: δ ≤ 1.
    pub(super) fn unknown() -> Self {
        Self::new(Summed::unknown())
    }

    /// The number of points of the law.
    pub fn points(&self) -> usize {
        self.summed.nodes.upper.len()
    }

    /// δ(ε).
    pub fn delta(&self, epsilon: Epsilon) -> Enclosure {
        let upper = self.delta_upper(epsilon.get());
        Enclosure::between(self.delta_lower(epsilon.get()).min(upper), upper)
    }

    /// The smallest ε ≥ 0 with δ(ε) ≤ δ; ∞ where the mass at infinite losses exceeds δ.
    pub fn epsilon(&self, delta: Delta) -> Enclosure {
        let (_, upper) = self.crossing(0.0, |epsilon| self.delta_upper(epsilon) <= delta.get());
        // Far from the tilt the lower bound is poor, so it is evaluated near the upper end; wherever it exceeds δ, ε is
        // larger.
        let exceeds = |epsilon: f64| self.delta_lower(epsilon) > delta.get();
        let end = if upper.is_finite() { upper } else { self.last_loss() };
        let start = (1..50).rev().map(|i| end * (1.0 - powi(2f64, -i))).find(|epsilon| exceeds(*epsilon));
        let lower = match start {
            Some(start) => self.crossing(start, |epsilon| !exceeds(epsilon)).0,
            None => 0.0,
        };
        Enclosure::between(lower.min(upper), upper)
    }

    /// The end of the finite losses.
    fn last_loss(&self) -> f64 {
        let last = (self.summed.nodes.last() + 1) as f64 * self.summed.grid.step;
        (last + self.summed.origin.upper() + 2.0 * self.summed.offset).max(0.0)
    }

    /// Neighbouring numbers (to 1e-13 relatively) where a monotone predicate changes from failing to holding; they are
    /// equal if it holds at the start, and ∞ if it holds nowhere: beyond the last point only mass at ∞ remains, which
    /// no ε removes.
    fn crossing(&self, start: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
        if holds(start) {
            return (start, start);
        }
        let end = self.last_loss().max(start);
        if !holds(end) {
            return (end, f64::INFINITY);
        }
        let found = Boundary { holds: end, fails: start }.halved_to(1e-13, holds);
        (found.fails, found.holds)
    }

    fn delta_upper(&self, epsilon: f64) -> f64 {
        let summed = &self.summed;
        // The pessimistic mass below the window is not known.
        let offset = Enclosure::from(summed.offset);
        let shifted = (Enclosure::from(epsilon) - summed.origin - offset).lower();
        if shifted < summed.nodes.first as f64 * summed.grid.step {
            return 1.0;
        }
        let finite = self.value(&self.upper, shifted, |lost| lost.upper());
        // Masses that overflow may give NaN.
        let finite = if finite.is_nan() { 1.0 } else { finite.max(0.0) };
        let unplaced = summed.error.upper * self.unplaced(shifted).upper() + self.underflow(shifted);
        // Beyond the last point there is nothing to round, however large ε is.
        let finite = if finite == 0.0 { 0.0 } else { finite * (1.0 + self.rounding(shifted)) };
        // NaN is replaced by 1.
        ((finite + unplaced + summed.infinite) * (1.0 + 1e-15)).min(1.0)
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        let summed = &self.summed;
        let shifted = (Enclosure::from(epsilon) - summed.origin + Enclosure::from(summed.offset))
            .upper()
            .max(summed.nodes.first as f64 * summed.grid.step);
        let finite = self.value(&self.lower, shifted, |lost| lost.lower());
        let unplaced = summed.error.lower * self.unplaced(shifted).upper() + self.underflow(shifted);
        // NaN is replaced by 0.
        let seen = (finite * (1.0 - self.rounding(shifted)) - unplaced * (1.0 + 1e-15)).max(0.0);
        ((seen + summed.infinite_lower) * (1.0 - 1e-15)).min(1.0)
    }

    /// e^(κ − ai)·(stick + (1 − e^(−t))·tail) at ε = ih − t.
    fn value(&self, tails: &Tails, epsilon: f64, end: impl Fn(Enclosure) -> f64) -> f64 {
        let Summed { grid, nodes, log_scale, .. } = &self.summed;
        let index = (epsilon / grid.step).ceil();
        let at = index - nodes.first as f64;
        if !(0.0..tails.tail.len() as f64).contains(&at) {
            return 0.0;
        }
        let at = at as usize;
        let point = Enclosure::from(index) * Enclosure::from(grid.step);
        let below = -(Enclosure::from(epsilon) - point).exp_m1();
        let scale = (*log_scale - Enclosure::from(grid.tilt) * Enclosure::from(index)).exp();
        // A rounded index may be one off; then, by convexity in e^ε, the line of the next cell
        // is still a lower bound, and an upper one up to the margin of `rounding`.
        end(scale) * (tails.stick[at] + end(below) * tails.tail[at])
    }

    /// The total that tilted masses and sums below the normal numbers may have lost or gained is less than 1e-290, each
    /// of which counts at most e^(κ − λε).
    fn underflow(&self, epsilon: f64) -> f64 {
        1e-290 * (self.summed.log_scale - self.summed.grid.lambda() * Enclosure::from(epsilon)).exp().upper()
    }

    /// The most that a tilted mass of 1 can contribute: sup e^(κ − λℓ)(1 − e^(ε−ℓ))₊ is below e^(κ − λε)/(λ + 1).
    fn unplaced(&self, epsilon: f64) -> Enclosure {
        let lambda = self.summed.grid.lambda();
        (self.summed.log_scale - lambda * Enclosure::from(epsilon)).exp() / (lambda + Enclosure::ONE)
    }

    /// Each term of `Tails` is rounded at most six times per point; and ε/h is off by a unit, which moves ε by |ε|u,
    /// and with it a point's share of 1 − e^(−h) at least.
    fn rounding(&self, epsilon: f64) -> f64 {
        let index = (epsilon / self.summed.grid.step).abs() + 1.0;
        (6.0 * self.points() as f64 + 8.0 * index + 32.0) * UNIT_ROUNDOFF
    }
}
