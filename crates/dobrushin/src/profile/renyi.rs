//! What a bound on one Rényi divergence says about (ε, δ).
//!
//! With D_α(P‖Q) ≤ ρ for one order α > 1, L = dP/dQ and γ = e^ε, δ = E_Q(L − γ)₊ is
//! largest for a pair of Bernoulli laws (data processing to the set {L > γ}):
//!
//! ```text
//! δ*(ε) = max { p − γq : D_α(Bern(p)‖Bern(q)) ≤ ρ }.
//! ```
//!
//! # Implementation
//! Any majorant g(t) = At^α + Bt + C ≥ (t − γ)₊ gives δ* ≤ A·e^((α−1)ρ) + B + C. The best
//! one touches 0 at some y in [0, 1] and t − γ at some x > γ:
//!
//! ```text
//! A = a·x^(1−α),  B = −αaW,  C = (α−1)aWy   with  W = (y/x)^(α−1),  a = 1/(α(1 − W)).
//! ```
//!
//! Such a g is convex with minimum 0 at y and slope 1 at x, so it is a majorant iff
//! g(x) ≥ x − γ. That is checked with outward rounding; x and y need not be exact. The
//! Bernoulli pair with likelihood ratios x and y gives the lower end. From
//! ρ = ε + ln(α/(α−1)) on, the best pair has p = 1 and δ* = 1 − e^(ε−ρ).

use crate::numeric::{Boundary, boundary, newton_hint, root_of_decreasing};
use crate::{Delta, Enclosure, Epsilon, Error, NonNegative, Order};

/// D_α(P‖Q) ≤ ρ for one order α > 1.
///
/// The methods named after their authors are the conversions in use;
/// [`RenyiBound::delta`] and [`RenyiBound::epsilon`] are the best that can be
/// concluded, and never larger.
///
/// ```
/// use dobrushin::profile::RenyiBound;
/// use dobrushin::{Delta, NonNegative, Order};
/// let bound = RenyiBound::new(Order::new(2.0)?, NonNegative::new(0.1)?)?;
/// let delta = Delta::new(1e-5)?;
/// assert!((bound.epsilon_mironov(delta).upper() - 11.61).abs() < 0.01);
/// assert!((bound.epsilon_canonne_kamath_steinke(delta).upper() - 10.23).abs() < 0.01);
/// assert!((bound.epsilon_asoodeh(delta).upper() - 8.57).abs() < 0.01);
/// assert!((bound.epsilon(delta).upper() - 7.87).abs() < 0.01);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenyiBound {
    order: f64,
    divergence: f64,
}

impl RenyiBound {
    /// # Errors
    /// [`Error::OutOfRange`] unless `1 < order < ∞`.
    pub fn new(order: Order, divergence: NonNegative) -> Result<Self, Error> {
        let value = order.get();
        if value > 1.0 && value < f64::INFINITY {
            return Ok(Self { order: value, divergence: divergence.get() });
        }
        Err(Error::OutOfRange { name: "order", value, accepted: "above 1 and finite" })
    }

    /// e^((α−1)(ρ−ε)) (Mironov 2017).
    pub fn delta_mironov(&self, epsilon: Epsilon) -> Enclosure {
        (self.below() * self.lead(epsilon)).exp().min(Enclosure::ONE)
    }

    /// e^((α−1)(ρ−ε))·(1 − 1/α)^α/(α − 1) (Canonne, Kamath, Steinke 2020, and the first
    /// branch of Asoodeh et al. 2021, CED eq. 39).
    pub fn delta_canonne_kamath_steinke(&self, epsilon: Epsilon) -> Enclosure {
        (self.below() * self.lead(epsilon) + self.ln_factor()).exp().min(Enclosure::ONE)
    }

    /// (e^((α−1)ρ) − 1)/(α(e^((α−1)ε) − 1)) (the second branch of Asoodeh et al., CED
    /// eq. 39), the better of the two for small ρ.
    pub fn delta_asoodeh(&self, epsilon: Epsilon) -> Enclosure {
        if epsilon.get() == 0.0 {
            return Enclosure::ONE;
        }
        // e^((α−1)(ρ−ε))·(1 − e^(−(α−1)ρ))/(1 − e^(−(α−1)ε)), which does not overflow.
        let saturation = |level: f64| (self.below() * Enclosure::from(-level)).exp_m1();
        let shares = saturation(self.divergence) / saturation(epsilon.get());
        ((self.below() * self.lead(epsilon)).exp() * shares / self.alpha()).min(Enclosure::ONE)
    }

    /// ρ + ln(1/δ)/(α−1).
    pub fn epsilon_mironov(&self, delta: Delta) -> Enclosure {
        (Enclosure::from(self.divergence) - Enclosure::from(delta).ln() / self.below()).positive_part()
    }

    /// ρ + ln(1 − 1/α) − (ln δ + ln α)/(α−1), or 0.
    pub fn epsilon_canonne_kamath_steinke(&self, delta: Delta) -> Enclosure {
        let shift = (self.ln_factor() - Enclosure::from(delta).ln()) / self.below();
        (Enclosure::from(self.divergence) + shift).positive_part()
    }

    /// ln(1 + (e^((α−1)ρ) − 1)/(αδ))/(α−1).
    pub fn epsilon_asoodeh(&self, delta: Delta) -> Enclosure {
        if self.divergence == 0.0 {
            return Enclosure::ZERO;
        }
        if delta.get() == 0.0 || self.divergence == f64::INFINITY {
            return Enclosure::INFINITE;
        }
        let (exponent, target) =
            (self.below() * Enclosure::from(self.divergence), self.alpha() * Enclosure::from(delta));
        let gained = exponent.exp_m1();
        if gained.upper() < f64::INFINITY {
            return (gained / target).ln_1p() / self.below();
        }
        // The same without the factor e^((α−1)ρ), which overflows.
        let rest = (-exponent).exp() - (-exponent).exp_m1() / target;
        Enclosure::from(self.divergence) + rest.ln() / self.below()
    }

    /// The smallest ε ≥ 0 with δ*(ε) ≤ δ. At the upper end δ* was seen to be at most δ.
    pub fn epsilon(&self, delta: Delta) -> Enclosure {
        let at = |epsilon: f64| Epsilon::new(epsilon).map_or(Enclosure::UNIT, |e| self.delta(e));
        if at(0.0).upper() <= delta.get() {
            return Enclosure::ZERO;
        }
        if delta.get() == 0.0 || self.divergence == f64::INFINITY {
            return Enclosure::INFINITE;
        }
        let mut end = self.epsilon_canonne_kamath_steinke(delta).upper().max(f64::MIN_POSITIVE);
        while at(end).upper() > delta.get() {
            end *= 2.0;
        }
        root_of_decreasing((0.0, end), end, delta.get(), at)
    }

    /// δ*(ε), the best that D_α ≤ ρ implies.
    ///
    /// # Guarantee
    /// E_{e^ε}(P‖Q) is at most the upper end for every P, Q with D_α(P‖Q) ≤ ρ, and at
    /// least the lower end for one such pair. The ends agree to 1e-7 relative unless
    /// e^(α(ε + 1)) overflows, where the lower end may be 0.
    pub fn delta(&self, epsilon: Epsilon) -> Enclosure {
        if self.divergence == 0.0 || epsilon.get() == f64::INFINITY {
            return Enclosure::ZERO;
        }
        if self.divergence == f64::INFINITY {
            return Enclosure::ONE;
        }
        // The pair with p = 1 and q = e^(−ρ).
        let one_sided = (-(-self.lead(epsilon)).exp_m1()).positive_part();
        let threshold = -(-(Enclosure::ONE / self.alpha())).ln_1p();
        if self.lead(epsilon).lower() >= threshold.upper() {
            return one_sided;
        }
        let mut upper = self.delta_canonne_kamath_steinke(epsilon).min(self.delta_asoodeh(epsilon)).upper();
        let mut lower = one_sided.lower();
        // A majorant for a slightly smaller γ leaves room for rounding.
        for room in [46, 43, 40, 30] {
            let (x, ln_y) = self.touching_points(epsilon.get().exp() * (1.0 - 2f64.powi(-room)));
            lower = lower.max(self.bernoulli(epsilon, x, ln_y));
            if let Some(bound) = self.majorant(epsilon, x, ln_y) {
                upper = upper.min(bound);
                break;
            }
        }
        Enclosure::between(lower.min(upper), upper)
    }

    fn alpha(&self) -> Enclosure {
        Enclosure::from(self.order)
    }

    /// α − 1.
    fn below(&self) -> Enclosure {
        self.alpha() - Enclosure::ONE
    }

    /// ρ − ε.
    fn lead(&self, epsilon: Epsilon) -> Enclosure {
        Enclosure::from(self.divergence) - Enclosure::from(epsilon)
    }

    /// ln[(1 − 1/α)^α/(α − 1)] = (α−1)·ln(1 − 1/α) − ln α.
    fn ln_factor(&self) -> Enclosure {
        self.below() * (-(Enclosure::ONE / self.alpha())).ln_1p() - self.alpha().ln()
    }

    /// x and ln y of the best majorant, roughly: x solves g(x) = x − γ for each y, and
    /// the moment of the Bernoulli pair, which decreases in y, is e^((α−1)ρ). y may be
    /// as close to 0 as to 1, hence the logarithm.
    fn touching_points(&self, gamma: f64) -> (f64, f64) {
        let within = |ln_y: f64| !self.moment_exceeds(self.touching_above(gamma, ln_y), ln_y);
        let ends = Boundary { holds: -f64::MIN_POSITIVE, fails: -1e300 };
        let ln_y = boundary(ends, -1.0, within).holds;
        (self.touching_above(gamma, ln_y), ln_y)
    }

    /// The x with (α−1)(x − Wy) = γα(1 − W), between γ and γα/(α−1).
    fn touching_above(&self, gamma: f64, ln_y: f64) -> f64 {
        let (alpha, c, y) = (self.order, self.order - 1.0, ln_y.exp());
        let step = |x: f64| {
            // 1 − W, and x − y, without cancellation.
            let rest = -(c * (ln_y - x.ln())).exp_m1();
            let value = c * ((x - 1.0) - ln_y.exp_m1()) + rest * (c * y - gamma * alpha);
            -value / (c * (1.0 + (1.0 - rest) / x * (c * y - gamma * alpha)))
        };
        newton_hint((gamma, gamma * alpha / c), gamma * alpha / c, step)
    }

    /// Whether q·x^α + (1−q)·y^α > e^((α−1)ρ), with q = (1−y)/(x−y), roughly.
    fn moment_exceeds(&self, x: f64, ln_y: f64) -> bool {
        let z = -ln_y.exp_m1();
        let q = z / ((x - 1.0) + z);
        let above_x = (self.order * x.ln()).exp_m1() - self.order * (x - 1.0);
        let above_y = (self.order * ln_y).exp_m1() + self.order * z;
        let moment = q * above_x + (1.0 - q) * above_y;
        // Where the left side overflows, only its first term matters.
        let exponent = (self.order - 1.0) * self.divergence;
        if moment < 1e300 { moment > exponent.exp_m1() } else { q.ln() + self.order * x.ln() > exponent }
    }

    /// A·e^((α−1)ρ) + B + C, if g is certainly a majorant.
    fn majorant(&self, epsilon: Epsilon, x: f64, ln_y: f64) -> Option<f64> {
        let (alpha, c, rho) = (self.alpha(), self.below(), Enclosure::from(self.divergence));
        let (x, ln_y) = (Enclosure::new(x, x)?, Enclosure::new(ln_y, ln_y)?);
        let (y, z) = (ln_y.exp(), -ln_y.exp_m1());
        let ln_w = c * (ln_y - x.ln());
        let (w, rest) = (ln_w.exp(), -ln_w.exp_m1());
        let a = Enclosure::ONE / (alpha * rest);
        // g(x) − x + γ with g(x) = a(x − αWx + (α−1)Wy) = [x − (α−1)W(x−y)/(1−W)]/α.
        let apart = (x - Enclosure::ONE) + z;
        let excess = Enclosure::from(epsilon).exp() - c / alpha * (x + w * apart / rest);
        if !(excess.lower() >= 0.0 && a.lower() > 0.0 && apart.lower() > 0.0) {
            return None;
        }
        let large = a * ((c * (rho - x.ln())).exp() - w * (alpha - c * y));
        // For small ρ: A·[(e^((α−1)ρ) − 1) + (1 − αy^(α−1) + (α−1)y^α)].
        let curvature = -(c * ln_y).exp_m1() - c * (c * ln_y).exp() * z;
        let small = a * (-(c * x.ln())).exp() * ((c * rho).exp_m1() + curvature.positive_part());
        Some(large.upper().min(small.upper()).max(0.0))
    }

    /// q(x − γ) of a Bernoulli pair near the given one with D_α ≤ ρ for certain: the
    /// moment increases in x.
    fn bernoulli(&self, epsilon: Epsilon, x: f64, ln_y: f64) -> f64 {
        let (alpha, budget) = (self.alpha(), (self.below() * Enclosure::from(self.divergence)).exp_m1());
        let gamma = Enclosure::from(epsilon).exp();
        let ln_y = Enclosure::from(ln_y);
        let z = -ln_y.exp_m1();
        let above_y = (alpha * ln_y).exp_m1() + alpha * z;
        for shrinkage in (2..=50).rev() {
            let above = gamma.midpoint() + (x - gamma.midpoint()) * (1.0 - 2f64.powi(-shrinkage));
            let x = Enclosure::from(above);
            let q = z / (x - Enclosure::ONE + z);
            let above_x = (alpha * x.ln()).exp_m1() - alpha * (x - Enclosure::ONE);
            let moment = q * above_x + (Enclosure::ONE - q) * above_y;
            if q.lower() >= 0.0 && q.upper() <= 1.0 && moment.upper() <= budget.lower() {
                return (q * (x - gamma)).lower().max(0.0);
            }
        }
        0.0
    }
}
