//! The (ε, δ) implied by a bound on one Rényi divergence.
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
//! Such a g is convex with minimum 0 at y and slope 1 at x, so it is a majorant iff g(x) ≥ x − γ. This is checked with
//! outward rounding; x and y need not be exact. The Bernoulli pair with likelihood ratios x and y gives the lower end.
//! From ρ = ε + ln(α/(α−1)) on, the best pair has p = 1 and δ* = 1 − e^(ε−ρ).

mod curve;
mod integrand;
mod mixture;
mod of_profile;
mod pair;
mod profile;
mod quadrature;
mod subsampled;

pub use curve::{ComposedCurve, ConcentratedCurve, PairCurve, RenyiCurve};
pub use mixture::MixtureCurve;
pub use of_profile::renyi_of_profile;
pub use profile::{AtOrder, RenyiProfile};
pub use subsampled::SubsampledGaussian;

use crate::numeric::elementary::powi;
use crate::{Delta, Enclosure, Epsilon, Error, NonNegative, RenyiOrder};
use pair::{BernoulliPair, BestPairs, CLOSE, NEAR};

/// D_α(P‖Q) ≤ ρ for one order α > 1.
///
/// The methods named after their authors are the usual conversions; [`RenyiBound::delta`] and [`RenyiBound::epsilon`]
/// are the best possible ones, and never larger.
///
/// ```
/// use dobrushin::profile::RenyiBound;
/// use dobrushin::{Delta, NonNegative, RenyiOrder};
/// let bound = RenyiBound::new(RenyiOrder::new(2.0)?, NonNegative::new(0.1)?)?;
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
    /// ρ.
    divergence: Enclosure,
}

impl RenyiBound {
    /// # Errors
    /// [`Error::OutOfRange`] unless `1 < order < ∞`.
    pub fn new(order: RenyiOrder, divergence: NonNegative) -> Result<Self, Error> {
        let value = order.get();
        if value > 1.0 && value < f64::INFINITY {
            return Ok(Self { order: value, divergence: divergence.into() });
        }
        Err(Error::OutOfRange { name: "order", value, accepted: "above 1 and finite" })
    }

    /// D_α ≤ ρ for a ρ ≥ 0 in an enclosure: the ends of every result are those for the ends of
    /// ρ, or further apart. `None` unless `1 < order < ∞`.
    pub(super) fn with_divergence_in(order: f64, divergence: Enclosure) -> Option<Self> {
        let valid = order > 1.0 && order < f64::INFINITY && divergence.lower() >= 0.0;
        valid.then_some(Self { order, divergence })
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
        let saturation = |level: Enclosure| (self.below() * -level).exp_m1();
        let shares = saturation(self.divergence) / saturation(epsilon.into());
        ((self.below() * self.lead(epsilon)).exp() * shares / self.alpha()).min(Enclosure::ONE)
    }

    /// ρ + ln(1/δ)/(α−1).
    pub fn epsilon_mironov(&self, delta: Delta) -> Enclosure {
        (self.divergence - Enclosure::from(delta).ln() / self.below()).positive_part()
    }

    /// ρ + ln(1 − 1/α) − (ln δ + ln α)/(α−1), or 0.
    pub fn epsilon_canonne_kamath_steinke(&self, delta: Delta) -> Enclosure {
        let shift = (self.ln_factor() - Enclosure::from(delta).ln()) / self.below();
        (self.divergence + shift).positive_part()
    }

    /// ln(1 + (e^((α−1)ρ) − 1)/(αδ))/(α−1).
    pub fn epsilon_asoodeh(&self, delta: Delta) -> Enclosure {
        if self.divergence == Enclosure::ZERO {
            return Enclosure::ZERO;
        }
        if delta.get() == 0.0 || self.divergence.lower() == f64::INFINITY {
            return if self.divergence.lower() > 0.0 {
                Enclosure::INFINITE
            } else {
                Enclosure::ZERO.hull(Enclosure::INFINITE)
            };
        }
        let (exponent, target) = (self.below() * self.divergence, self.alpha() * Enclosure::from(delta));
        let gained = exponent.exp_m1();
        if gained.upper() < f64::INFINITY {
            return (gained / target).ln_1p() / self.below();
        }
        // The same without the factor e^((α−1)ρ), which overflows.
        let rest = (-exponent).exp() - (-exponent).exp_m1() / target;
        self.divergence + rest.ln() / self.below()
    }

    /// The smallest ε ≥ 0 with δ*(ε) ≤ δ.
    ///
    /// # Guarantee
    /// δ* is at most δ at the upper end, and at least δ at the lower one unless that is 0. From
    /// δ = 1/α on the best pair has p = 1, and ε = ρ + ln(1 − δ).
    pub fn epsilon(&self, delta: Delta) -> Enclosure {
        if self.divergence == Enclosure::ZERO || delta.get() == 1.0 {
            return Enclosure::ZERO;
        }
        if delta.get() == 0.0 || self.divergence.lower() == f64::INFINITY {
            return self.epsilon_asoodeh(delta);
        }
        let target = Enclosure::from(delta);
        let one_sided = (self.divergence + (-target).ln_1p()).positive_part();
        if (self.alpha() * target).lower() >= 1.0 {
            return one_sided;
        }
        let known = self.epsilon_canonne_kamath_steinke(delta).min(self.epsilon_asoodeh(delta)).upper();
        // This leaves room for the rounding of δ there.
        let (mut lower, mut upper) = (one_sided.lower(), known * (1.0 + powi(2f64, -46)));
        let mut guess = 0.0;
        // A majorant for a slightly smaller γ and δ leaves room for rounding: dδ*/dγ = −q.
        for room in [42, 39, 36, 30, 24] {
            let spare = |pair: &BernoulliPair| (powi(2f64, -room) * pair.x / (pair.x - pair.gamma)).min(0.01);
            let best =
                self.pairs().at(guess, CLOSE, |pair| pair.ln_delta + spare(pair) - libm::log(delta.get()));
            guess = best.place;
            let met = |zero: Epsilon| self.delta(zero).upper() <= delta.get();
            if best.gamma <= 1.0 && Epsilon::new(0.0).is_ok_and(met) {
                return Enclosure::ZERO;
            }
            if let Some((x, q)) = self.feasible_pair(&best) {
                lower = lower.max((x - target / q).ln().lower());
            }
            match self.majorant(&best) {
                Some(found) if found.bound <= delta.get() => {
                    upper = upper.min(Enclosure::from(found.least_gamma).ln().upper().max(0.0));
                    break;
                }
                _ => {}
            }
        }
        Enclosure::between(lower.min(upper), upper)
    }

    /// The approximate upper end of [`RenyiBound::epsilon`], for searches.
    pub(super) fn epsilon_roughly(&self, delta: f64) -> f64 {
        let (rho, below) = (self.divergence.upper(), self.order - 1.0);
        if self.order * delta >= 1.0 {
            return (rho + libm::log1p(-delta)).max(0.0);
        }
        let known = rho - (below * libm::log1p(1.0 / below) + libm::log1p(below) + libm::log(delta)) / below;
        if known > 600.0 {
            return known;
        }
        let best =
            libm::log(self.pairs().at(0.0, NEAR, |pair| pair.ln_delta - libm::log(delta)).gamma).max(0.0);
        if best.is_nan() { known } else { best.min(known) }
    }

    /// δ*(ε), the best δ that D_α ≤ ρ implies.
    ///
    /// # Guarantee
    /// E_{e^ε}(P‖Q) is at most the upper end for every P, Q with D_α(P‖Q) ≤ ρ, and at
    /// least the lower end for one such pair. The ends agree to 1e-7 relative unless
    /// e^(α(ε + 1)) overflows, where the lower end may be 0.
    pub fn delta(&self, epsilon: Epsilon) -> Enclosure {
        if self.divergence == Enclosure::ZERO || epsilon.get() == f64::INFINITY {
            return Enclosure::ZERO;
        }
        if self.divergence.lower() == f64::INFINITY {
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
        let gamma = Enclosure::from(epsilon).exp();
        let mut guess = 0.0;
        // A majorant for a slightly smaller γ leaves room for rounding.
        for room in [46, 43, 40, 30] {
            let goal = gamma.midpoint() * (1.0 - powi(2f64, -room));
            let best = self.pairs().at(guess, CLOSE, |pair| libm::log(goal / pair.gamma));
            guess = best.place;
            if let Some((x, q)) = self.feasible_pair(&best) {
                lower = lower.max((q * (x - gamma)).lower());
            }
            match self.majorant(&best) {
                Some(found) if found.least_gamma <= gamma.lower() => {
                    upper = upper.min(found.bound);
                    break;
                }
                _ => {}
            }
        }
        Enclosure::between(lower.min(upper), upper)
    }

    /// The approximate ln δ*, for searches. Where the usual conversions give nothing, it is something larger, so that a
    /// search can descend.
    pub(super) fn ln_delta_roughly(&self, epsilon: f64) -> f64 {
        let (rho, below) = (self.divergence.upper(), self.order - 1.0);
        let known = below * (rho - epsilon) - below * libm::log1p(1.0 / below) - libm::log1p(below);
        if rho - epsilon >= libm::log1p(1.0 / below) {
            return libm::log(-libm::expm1(epsilon - rho)) + known.max(0.0);
        }
        if epsilon > 600.0 {
            return known;
        }
        let best = self.pairs().at(0.0, NEAR, |pair| epsilon - libm::log(pair.gamma)).ln_delta;
        if best.is_nan() { known } else { best.min(known) }
    }

    /// The pairs that attain δ*, approximately.
    fn pairs(&self) -> BestPairs {
        BestPairs::new(self.order, self.divergence.upper())
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
        self.divergence - Enclosure::from(epsilon)
    }

    /// ln[(1 − 1/α)^α/(α − 1)] = (α−1)·ln(1 − 1/α) − ln α.
    fn ln_factor(&self) -> Enclosure {
        self.below() * (-(Enclosure::ONE / self.alpha())).ln_1p() - self.alpha().ln()
    }

    /// The majorant that touches at x and y of a pair.
    fn majorant(&self, pair: &BernoulliPair) -> Option<Majorant> {
        let (alpha, c, rho) = (self.alpha(), self.below(), self.divergence);
        let (x, ln_y) = (Enclosure::new(pair.x, pair.x)?, Enclosure::new(pair.ln_y, pair.ln_y)?);
        let (y, z) = (ln_y.exp(), -ln_y.exp_m1());
        let ln_x = x.ln();
        let ln_w = c * (ln_y - ln_x);
        let (w, rest) = (ln_w.exp(), -ln_w.exp_m1());
        let a = Enclosure::ONE / (alpha * rest);
        // g(x) = a(x − αWx + (α−1)Wy) is x − γ for γ = (α−1)/α·[x + W(x−y)/(1−W)].
        let apart = (x - Enclosure::ONE) + z;
        let least_gamma = (c / alpha * (x + w * apart / rest)).upper();
        if !(least_gamma > 0.0 && a.lower() > 0.0 && apart.lower() > 0.0) {
            return None;
        }
        let large = a * ((c * (rho - ln_x)).exp() - w * (alpha - c * y));
        // For small ρ: A·[(e^((α−1)ρ) − 1) + (1 − αy^(α−1) + (α−1)y^α)].
        let curvature = -(c * ln_y).exp_m1() - c * (c * ln_y).exp() * z;
        let small = a * (-(c * ln_x)).exp() * ((c * rho).exp_m1() + curvature.positive_part());
        Some(Majorant { bound: large.upper().min(small.upper()).max(0.0), least_gamma })
    }

    /// x and q of a Bernoulli pair near the given one that certainly has D_α ≤ ρ.
    fn feasible_pair(&self, pair: &BernoulliPair) -> Option<(Enclosure, Enclosure)> {
        let (c, budget) = (self.below(), (self.below() * self.divergence).exp_m1());
        let ln_y = Enclosure::from(pair.ln_y);
        let z = -ln_y.exp_m1();
        let above_y = ln_y.exp() * (c * ln_y).exp_m1() + c * z;
        let shrunk = |shrinkage: i32| {
            let x = Enclosure::from(pair.gamma + (pair.x - pair.gamma) * (1.0 - powi(2f64, -shrinkage)));
            let q = z / (x - Enclosure::ONE + z);
            let above_x = x * (c * x.ln()).exp_m1() - c * (x - Enclosure::ONE);
            let moment = q * above_x + (Enclosure::ONE - q) * above_y;
            let certain = q.lower() > 0.0 && q.upper() <= 1.0 && moment.upper() <= budget.lower();
            certain.then_some((x, q))
        };
        (1..=25).rev().find_map(|half| shrunk(2 * half))
    }
}

/// A function g(t) ≥ (t − γ)₊ for every γ from `least_gamma` on, whose mean is at most `bound`.
struct Majorant {
    bound: f64,
    least_gamma: f64,
}
