//! (ε, δ) from a whole Rényi curve: the best over all orders.
//!
//! Any order gives a bound, so the search for the best one need not be rigorous; only the evaluation at the final order
//! must be. With K(α) = (α−1)D_α, which is convex, the conversion of Canonne, Kamath and Steinke is
//!
//! ```text
//! ln δ(ε) ≤ K(α) − (α−1)ε + κ(α),   κ(α) = (α−1)·ln(α−1) − α·ln α,
//! ```
//!
//! convex in α as κ″ = 1/(α−1) − 1/α > 0; so {α : ε suffices for δ} is an interval, and the best ε at an order has a
//! single minimum too. The search uses the best conversion of each order ([`RenyiBound`]), which for small K is far
//! better: for a single step with q = 1e-4 and σ = 2.6 at δ = 1e-5 it gives ε = 4e-5, and the formula above gives 0.05.

use super::{RenyiBound, RenyiCurve};
use crate::profile::{self, Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon};

/// The range of α − 1 that is searched.
const ORDERS: (f64, f64) = (1e-14, 1e12);

/// The profile that a Rényi curve implies.
///
/// # Guarantee
/// The upper end of every δ and ε holds for every mechanism with the curve. The lower end is that of the best
/// conclusion from the Rényi divergence at the chosen order alone: another order, or several orders together, may give
/// less.
///
/// ```
/// use dobrushin::profile::{ComposedCurve, Direction, PrivacyProfile, RenyiProfile, SubsampledGaussian};
/// use dobrushin::{Delta, Positive, Probability};
/// let step = SubsampledGaussian::new(Probability::new(0.01)?, Positive::new(1.0)?)?;
/// let profile = RenyiProfile::new(ComposedCurve::repeated(1000, step));
/// let best = profile.epsilon_at_best_order(Direction::Forward, Delta::new(1e-5)?);
/// assert!((best.value.upper() - 2.1008).abs() < 1e-4 && (best.order - 7.78).abs() < 0.1);
/// assert_eq!(profile.epsilon(Delta::new(1e-5)?), best.value);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RenyiProfile<Curve> {
    curve: Curve,
}

/// A bound, and the order of the Rényi divergence that gave it (∞ for the largest loss).
///
/// ```
/// use dobrushin::profile::{ConcentratedCurve, Direction, RenyiProfile};
/// use dobrushin::{Delta, NonNegative};
///
/// let profile = RenyiProfile::new(ConcentratedCurve::new(NonNegative::new(0.5)?));
/// let best = profile.epsilon_at_best_order(Direction::Forward, Delta::new(1e-5)?);
/// // Not far from 1 + √(ln(1/δ)/ρ), the best order of the simplest conversion.
/// assert!((best.order / (1.0 + (1e5_f64.ln() / 0.5).sqrt()) - 1.0).abs() < 0.2);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtOrder {
    /// δ or ε.
    pub value: Enclosure,
    /// α.
    pub order: f64,
}

impl<Curve: RenyiCurve> RenyiProfile<Curve> {
    /// The profile that the curve implies.
    pub fn new(curve: Curve) -> Self {
        Self { curve }
    }

    /// The curve.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// The smallest ε for a δ in one direction.
    pub fn epsilon_at_best_order(&self, direction: Direction, delta: Delta) -> AtOrder {
        let loss = AtOrder { value: self.curve.largest_loss(direction), order: f64::INFINITY };
        if loss.value == Enclosure::ZERO || delta.get() == 0.0 {
            return loss;
        }
        if delta.get() == 1.0 {
            return AtOrder { value: Enclosure::ZERO, order: f64::INFINITY };
        }
        // ln ε, where ε may be 0.
        let needed = |bound: RenyiBound| libm::log(bound.epsilon_roughly(delta.get()).max(f64::MIN_POSITIVE));
        let guess = (-libm::log(delta.get()) / self.concentration(direction)).sqrt();
        let order = self.best_order(direction, guess, needed);
        let value = self.at_order(direction, order, |bound| bound.epsilon(delta));
        smaller(AtOrder { value, order }, loss)
    }

    /// The smallest δ at an ε in one direction.
    pub fn delta_at_best_order(&self, direction: Direction, epsilon: Epsilon) -> AtOrder {
        if epsilon.get() >= self.curve.largest_loss(direction).upper() {
            return AtOrder { value: Enclosure::ZERO, order: f64::INFINITY };
        }
        let needed = |bound: RenyiBound| bound.ln_delta_roughly(epsilon.get());
        let guess = (epsilon.get() / self.concentration(direction) - 1.0) / 2.0;
        let order = self.best_order(direction, guess, needed);
        let value = self.at_order(direction, order, |bound| bound.delta(epsilon));
        AtOrder { value: value.min(Enclosure::ONE), order }
    }

    /// The approximate order at which a conclusion is smallest, from a guess of α − 1.
    fn best_order(&self, direction: Direction, guess: f64, conclusion: impl Fn(RenyiBound) -> f64) -> f64 {
        let needed = |below: f64| {
            let divergence = Enclosure::from(self.roughly(direction, below) / below);
            RenyiBound::with_divergence_in(1.0 + below, divergence).map_or(f64::INFINITY, &conclusion)
        };
        1.0 + lowest(guess, needed)
    }

    /// The approximate ρ of the concentrated curve that agrees with this one at order 2.
    fn concentration(&self, direction: Direction) -> f64 {
        self.roughly(direction, 1.0) / 2.0
    }

    /// The approximate K at order 1 + `below`.
    fn roughly(&self, direction: Direction, below: f64) -> f64 {
        self.curve.log_moment_roughly(direction, 1.0 + below)
    }

    /// The conclusion from D_α at one order.
    fn at_order(
        &self,
        direction: Direction,
        order: f64,
        conclusion: impl Fn(RenyiBound) -> Enclosure,
    ) -> Enclosure {
        let moment = self.curve.log_moment(direction, order).positive_part();
        let divergence = moment / (Enclosure::from(order) - Enclosure::ONE);
        RenyiBound::with_divergence_in(order, divergence)
            .map_or(Enclosure::ZERO.hull(Enclosure::INFINITE), conclusion)
    }
}

/// The bound with the smaller upper end.
fn smaller(a: AtOrder, b: AtOrder) -> AtOrder {
    if b.value.upper() < a.value.upper() {
        return AtOrder { value: a.value.min(b.value), order: b.order };
    }
    a
}

/// Approximately where a function of α − 1 with a single minimum is smallest, by Brent's method in ln(α − 1), in a
/// bracket around a guess.
fn lowest(guess: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (least, most) = (libm::log(ORDERS.0), libm::log(ORDERS.1));
    let at = |u: f64| {
        let value = f(libm::exp(u));
        (u, if value.is_nan() { f64::INFINITY } else { value })
    };
    // The three lowest points so far, the lowest first, all between `left` and `right`.
    let start = if guess > 0.0 { libm::log(guess).clamp(least, most) } else { 0.0 };
    let (mut first, mut second) = (at(start), at((start - 0.3).max(least)));
    let mut stride = 0.3;
    if second.1 < first.1 {
        (first, second) = (second, first);
        stride = -0.6;
    }
    let mut third = loop {
        let next = at((first.0 + stride).clamp(least, most));
        if next.1 >= first.1 {
            break next;
        }
        (first, second) = (next, first);
        stride *= 2.0;
    };
    let (mut left, mut right) = (second.0.min(third.0), second.0.max(third.0));
    if third.1 < second.1 {
        (second, third) = (third, second);
    }
    let mut last_moves = (f64::INFINITY, f64::INFINITY);
    for _ in 0..50 {
        // The vertex of the parabola through the three points, and the gain that it predicts.
        let (to_second, to_third) = (second.0 - first.0, third.0 - first.0);
        let (up_second, up_third) = ((second.1 - first.1) / to_second, (third.1 - first.1) / to_third);
        let curvature = (up_second - up_third) / (to_second - to_third);
        let vertex = first.0 + (to_second - up_second / curvature) / 2.0;
        let step = vertex - first.0;
        if curvature * step * step < 1e-10 && curvature > 0.0 || right - left < 1e-6 {
            break;
        }
        let trusted = vertex > left && vertex < right && step.abs() < 0.5 * last_moves.0;
        let wider = if first.0 - left > right - first.0 { left } else { right };
        let next = at(if trusted { vertex } else { first.0 + 0.382 * (wider - first.0) });
        last_moves = (last_moves.1, (next.0 - first.0).abs());
        let (inner, outer) = if next.1 <= first.1 { (next, first) } else { (first, next) };
        if outer.0 < inner.0 {
            left = outer.0;
        } else {
            right = outer.0;
        }
        (first, second, third) = if next.1 <= first.1 {
            (next, first, second)
        } else if next.1 <= second.1 {
            (first, next, second)
        } else if next.1 <= third.1 {
            (first, second, next)
        } else {
            (first, second, third)
        };
    }
    libm::exp(first.0)
}

impl<Curve: RenyiCurve> PrivacyProfile for RenyiProfile<Curve> {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.delta_at_best_order(direction, epsilon).value
    }

    /// Uses the conversion of Canonne, Kamath and Steinke where δ underflows.
    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let AtOrder { value, order } = self.delta_at_best_order(direction, epsilon);
        if value.upper() == 0.0 || value.lower() > 1e-290 {
            return value.ln();
        }
        let (alpha, moment) = (Enclosure::from(order), self.curve.log_moment(direction, order));
        let below = alpha - Enclosure::ONE;
        let kappa = below * (-(Enclosure::ONE / alpha)).ln_1p() - alpha.ln();
        let known = moment - below * Enclosure::from(epsilon) + kappa;
        let upper = known.upper().min(value.ln().upper());
        Enclosure::between(value.ln().lower().min(upper), upper)
    }

    fn is_symmetric(&self) -> bool {
        self.curve.is_symmetric()
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        self.epsilon_at_best_order(direction, delta).value
    }

    fn delta(&self, epsilon: Epsilon) -> Enclosure {
        self.larger(|direction| self.delta_of(direction, epsilon))
    }

    fn log_delta(&self, epsilon: Epsilon) -> Enclosure {
        self.larger(|direction| self.log_delta_of(direction, epsilon))
    }

    fn epsilon(&self, delta: Delta) -> Enclosure {
        self.larger(|direction| self.epsilon_of(direction, delta))
    }
}

impl<Curve: RenyiCurve> RenyiProfile<Curve> {
    /// The larger of the values of the two directions: a larger divergence is a larger bound.
    fn larger(&self, of: impl Fn(Direction) -> Enclosure) -> Enclosure {
        profile::larger(self.curve.forward_is_larger(), of)
    }
}
