//! Formulas as the papers print them, including wrong ones. They are drawn beside what holds, and nothing else may use
//! them.

use dobrushin::numeric::{GoldenSection, chi_square, theta};
use dobrushin::profile::RenyiBound;
use dobrushin::{Enclosure, Epsilon, NonNegative, RenyiOrder};
use std::num::NonZeroU32;

/// One pass of projected noisy SGD, batch 1.
#[derive(Clone, Copy, Debug)]
pub struct OnePass {
    pub records: u64,
    /// η.
    pub rate: f64,
    /// L.
    pub lipschitz: f64,
    /// β.
    pub smoothness: f64,
    /// ρ.
    pub strong_convexity: f64,
    /// σ.
    pub noise: f64,
    /// D.
    pub diameter: f64,
}

impl OnePass {
    /// PAC's M = √(1 − 2ηβρ/(β + ρ)).
    pub fn factor(&self) -> f64 {
        let (beta, rho) = (self.smoothness, self.strong_convexity);
        (1.0 - 2.0 * self.rate * beta * rho / (beta + rho)).sqrt()
    }

    /// ln δ of PAC Theorem 4: ln θ(2L/σ) + (n − i)·ln θ(MD/(ησ)).
    pub fn ln_contraction(&self, index: u64, epsilon: Epsilon) -> Enclosure {
        let later = Enclosure::from(self.records - index);
        let first = ln_theta(epsilon, 2.0 * self.lipschitz / self.noise);
        if index == self.records {
            return first;
        }
        first + later * ln_theta(epsilon, self.factor() * self.diameter / (self.rate * self.noise))
    }

    /// κ of PAC Proposition 1.
    pub fn kappa(&self, index: u64) -> f64 {
        let once = 2.0 * (self.lipschitz / self.noise).powi(2);
        let later = (self.records - index) as f64;
        if index == self.records { once } else { once * self.factor().powf(later + 1.0) / later }
    }

    /// ln δ of PAC Proposition 1, −(ε − κ)²/(4κ) for ε > κ; it says nothing below.
    pub fn ln_renyi(&self, index: u64, epsilon: Epsilon) -> f64 {
        let (kappa, epsilon) = (self.kappa(index), epsilon.get());
        if epsilon > kappa { -(epsilon - kappa).powi(2) / (4.0 * kappa) } else { 0.0 }
    }

    /// δ of CED equations 35 (known for convex losses) and 36 (also for smooth ones), (1/n)·θ(2L/σ)/(1 − θ(r)). It may
    /// exceed 1.
    pub fn stopped(&self, smooth: bool, epsilon: Epsilon) -> f64 {
        let wide = self.diameter + if smooth { 0.0 } else { 2.0 * self.rate * self.lipschitz };
        let left = theta::one_minus_theta(epsilon, distance(wide / (self.rate * self.noise)));
        let first = theta::theta(epsilon, distance(2.0 * self.lipschitz / self.noise));
        (first / (Enclosure::from(self.records) * left)).upper()
    }

    /// ρ of CED equation 38, with ln n as printed.
    pub fn rho(&self) -> f64 {
        let n = self.records as f64;
        4.0 * (self.lipschitz / self.noise).powi(2) * n.ln() / n
    }

    /// The largest order that CED Theorem 7 allows.
    pub fn largest_order(&self) -> f64 {
        0.5 * (1.0 + (1.0 + 2.0 * (self.noise / self.lipschitz).powi(2)).sqrt())
    }

    /// δ of CED equation 38: Mironov's conversion at its best order. Below ε = ρ no such order exists, but the equation
    /// still gives numbers below 1.
    pub fn stopped_by_mironov(&self, epsilon: Epsilon) -> f64 {
        let (rho, epsilon) = (self.rho(), epsilon.get());
        let order = (0.5 + epsilon / (2.0 * rho)).min(self.largest_order());
        (-(order - 1.0) * (epsilon - rho * order)).exp()
    }

    /// δ of CED equation 39: the smallest value over the orders of two conversions.
    pub fn stopped_by_asoodeh(&self, epsilon: Epsilon) -> f64 {
        let at = |order: f64| {
            let bound =
                RenyiOrder::new(order).and_then(|alpha| RenyiBound::new(alpha, distance(self.rho() * order)));
            bound.map_or(1.0, |bound| {
                let first = bound.delta_canonne_kamath_steinke(epsilon);
                first.min(bound.delta_asoodeh(epsilon)).upper()
            })
        };
        least_above_one(self.largest_order(), at)
    }
}

/// Regularised DP-SGD, with one of n records in each step.
#[derive(Clone, Copy, Debug)]
pub struct Regularised {
    /// ηC.
    pub push: f64,
    /// σ.
    pub noise: f64,
    /// b/n.
    pub rate: f64,
    /// λ.
    pub decay: f64,
    /// d.
    pub dimension: NonZeroU32,
}

impl Regularised {
    /// δ of NCV Theorem 3 at one κ, with the radius where the diameter belongs (E1), and b/(n − b) where b/n belongs
    /// (E2).
    pub fn delta_at(&self, kappa: f64, steps: u32, epsilon: Epsilon) -> f64 {
        let one = Enclosure::ONE;
        let inside = chi_square::ln_cdf(self.dimension, distance(kappa * kappa));
        let long_noise =
            (one + Enclosure::from(epsilon).exp()) * -(Enclosure::from(f64::from(steps)) * inside).exp_m1();
        let mut sum = Enclosure::ZERO;
        for step in 1..=steps {
            let grown = -(f64::from(step) * (-self.decay).ln_1p()).exp_m1() / self.decay;
            let radius = (self.push + kappa * self.noise) * grown;
            let overlap = theta::theta(epsilon, distance((radius / self.noise - kappa).max(0.0)));
            sum = overlap * (one + Enclosure::from(1.0 - self.rate) * sum);
        }
        (long_noise + Enclosure::from(self.rate / (1.0 - self.rate)) * sum).upper()
    }

    /// The smallest value over κ.
    pub fn delta(&self, steps: u32, epsilon: Epsilon) -> f64 {
        let root = f64::from(self.dimension.get()).sqrt();
        let at = |kappa: f64| self.delta_at(root + kappa, steps, epsilon);
        // The function may have several valleys.
        let rough = (1..=80).map(|i| 0.25 * f64::from(i));
        let best = rough.min_by(|&a, &b| at(a).total_cmp(&at(b))).unwrap_or(1.0);
        let refined = (-12..=12).map(|i| at(best + 0.02 * f64::from(i)));
        refined.fold(at(best), f64::min)
    }
}

fn ln_theta(epsilon: Epsilon, ratio: f64) -> Enclosure {
    theta::ln_theta(epsilon, distance(ratio))
}

/// A distance that is never negative.
fn distance(value: f64) -> NonNegative {
    NonNegative::new(value)
        .unwrap_or_else(|_| unreachable!("the parameters of figures are not negative: {value}"))
}

/// The smallest value over (1, most] of a function with one valley, on a logarithmic scale of x − 1.
fn least_above_one(most: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ends = ((most - 1.0).ln() - 12.0, (most - 1.0).ln());
    let at = |x: f64| f(1.0 + x.exp());
    at(GoldenSection::new(ends, at).narrowed(70).middle()).min(f(most))
}
