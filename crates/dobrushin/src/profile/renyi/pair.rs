//! The Bernoulli pairs that attain the largest δ under a bound on one Rényi divergence.
//!
//! Nothing here is rigorous: these are hints that `renyi.rs` certifies.

use std::cell::Cell;

/// The accuracy of a logarithm for a certificate …
pub(super) const CLOSE: f64 = 4e-15;
/// … and for a search.
pub(super) const NEAR: f64 = 1e-9;

/// Two Bernoulli laws with likelihood ratios x > 1 and y < 1 whose D_α is approximately ρ, and the γ at which p − γq is
/// the largest δ.
#[derive(Clone, Copy)]
pub(super) struct BernoulliPair {
    /// ln(−ln y).
    pub(super) place: f64,
    pub(super) x: f64,
    pub(super) ln_y: f64,
    pub(super) gamma: f64,
    pub(super) ln_delta: f64,
}

/// The pairs with D_α = ρ.
pub(super) struct BestPairs {
    order: f64,
    /// ln(e^((α−1)ρ) − 1).
    ln_excess: f64,
}

impl BestPairs {
    pub(super) fn new(order: f64, divergence: f64) -> Self {
        let exponent = (order - 1.0) * divergence;
        Self { order, ln_excess: exponent + libm::log(-libm::expm1(-exponent)) }
    }

    /// The best Bernoulli pair for the γ at which an increasing function of `place` vanishes, approximately: the place
    /// is ln(−ln y), since y may be very close to 0 or to 1.
    ///
    /// The best pairs for all γ lie on the curve D_α = ρ in the plane of (q, p), which is concave; y = (1−p)/(1−q)
    /// increases along it, as does γ, the slope of its tangent, while δ* decreases. The moment increases in x, so each
    /// y has its x, and γ is where g touches.
    pub(super) fn at(&self, guess: f64, error: f64, f: impl Fn(&BernoulliPair) -> f64) -> BernoulliPair {
        let ln_ln_x = Cell::new(0.0);
        let at = |place: f64| {
            let ln_y = -libm::exp(place);
            ln_ln_x.set(self.ln_ln_x(ln_y, error, ln_ln_x.get()));
            self.pair(place, libm::exp(ln_ln_x.get()))
        };
        at(root_of_increasing((-700.0, 60.0), guess, error, |place| f(&at(place))))
    }

    /// The pair with the given ln y = −e^place and ln x, and the γ for which it is best.
    fn pair(&self, place: f64, ln_x: f64) -> BernoulliPair {
        let (alpha, c, ln_y) = (self.order, self.order - 1.0, -libm::exp(place));
        let z = -libm::expm1(ln_y);
        let apart = libm::expm1(ln_x) + z;
        let ln_w = c * (ln_y - ln_x);
        let odds = c * libm::exp(ln_w) / -libm::expm1(ln_w);
        // (α−1)(x − Wy) = γα(1 − W), and δ = q(x − γ) with q = z/(x − y).
        let x = libm::exp(ln_x);
        let gamma = (c * x + odds * apart) / alpha;
        let ln_delta = libm::log(z * (x / apart - odds) / alpha);
        BernoulliPair { place, x, ln_y, gamma, ln_delta }
    }

    /// The approximate ln ln x for the x with ln(q·x^α + (1−q)·y^α − 1) = ln_excess, by Newton's method.
    fn ln_ln_x(&self, ln_y: f64, error: f64, guess: f64) -> f64 {
        let (alpha, c) = (self.order, self.order - 1.0);
        let z = -libm::expm1(ln_y);
        // t^α − 1 − α(t − 1) = t[t^(α−1) − 1 − (α−1)(1 − 1/t)] at y, and below at x.
        let above_y = libm::exp(ln_y) * libm::expm1(c * ln_y) + c * z;
        let step = |v: f64| {
            let ln_x = libm::exp(v);
            // x/(x − y); q is z/x times that.
            let drop = libm::expm1(-ln_x);
            let share = 1.0 / (z * (1.0 + drop) - drop);
            let (ln_moment, slope) = if c * ln_x < 690.0 {
                let gained = libm::expm1(c * ln_x);
                let q = z * share * (1.0 + drop);
                let above_x = z * share * (gained + c * drop);
                let moment = above_x + (1.0 - q) * above_y;
                (libm::log(moment), share * (z * alpha * gained - above_x + q * above_y) / moment)
            } else {
                // Only the first term matters.
                (libm::log(z * share) + c * ln_x, alpha - share)
            };
            ((self.ln_excess - ln_moment) / (slope * ln_x)).clamp(-2.0, 2.0)
        };
        let mut v = guess;
        for _ in 0..60 {
            let change = step(v);
            if change.is_nan() {
                break;
            }
            // ln x is at most 650: x must not overflow.
            v = (v + change).clamp(-80.0, libm::log(650f64));
            // A step squares the error.
            if change.abs() <= 0.03 * error.sqrt() {
                break;
            }
        }
        v
    }
}

/// The approximate root of an increasing function with a slope of order 1: a bracket around a guess, and then false
/// position (the Illinois variant) with an occasional bisection.
fn root_of_increasing((least, most): (f64, f64), guess: f64, error: f64, f: impl Fn(f64) -> f64) -> f64 {
    let start = if guess.is_nan() { 0.0 } else { guess.clamp(least, most) };
    let mut stale = (start, f(start));
    let mut fresh = stale;
    let mut stride = stale.1.abs();
    while fresh.1.signum() == stale.1.signum() {
        if fresh.1.abs() <= error || fresh.1.is_nan() {
            return fresh.0;
        }
        stale = fresh;
        let next = (stale.0 - stride.copysign(stale.1)).clamp(least, most);
        if next == stale.0 {
            return next;
        }
        fresh = (next, f(next));
        stride *= 2.0;
    }
    for round in 1..100 {
        let cut = fresh.0 - fresh.1 * (fresh.0 - stale.0) / (fresh.1 - stale.1);
        let inside = cut > fresh.0.min(stale.0) && cut < fresh.0.max(stale.0);
        let next = if inside && round % 6 != 0 { cut } else { f64::midpoint(fresh.0, stale.0) };
        let value = f(next);
        if value.abs() <= error || value.is_nan() || next == fresh.0 || next == stale.0 {
            return next;
        }
        if value.signum() == fresh.1.signum() {
            stale.1 /= 2.0;
        } else {
            stale = fresh;
        }
        fresh = (next, value);
    }
    fresh.0
}
