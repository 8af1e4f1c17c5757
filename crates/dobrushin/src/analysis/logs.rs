//! Sums and contractions of numbers known by their logarithms, rounded up.
//!
//! # Guarantee
//! Each function returns at least the exact value for exactly these arguments (`_down`: at most). A formula
//! has at most eight roundings, each of a number x by at most |x| or 1 units of 2⁻⁵³ (the functions of `elementary`
//! are correctly rounded, and the derivatives of ln(1 + x) and of e^x for x ≤ 0 are at most 1), where |x| is at
//! most |a| + |b| + 1 for the arguments a and b; [`raised`] adds 32 units of that.

use crate::numeric::elementary;
use crate::numeric::{UNIT_ROUNDOFF, theta};
use crate::{Epsilon, NonNegative};

const MARGIN: f64 = 32.0 * UNIT_ROUNDOFF;

/// A logarithm computed from numbers of this size, rounded up.
pub(super) fn raised(ln: f64, size: f64) -> f64 {
    if ln == f64::NEG_INFINITY { ln } else { ln + MARGIN * (1.0 + size.abs()) }
}

/// ln(e^a + e^b).
pub(super) fn ln_sum(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY {
        return large;
    }
    // The rounding of small − large changes e^(small − large) by less than a unit: x·e^(−x) < 1.
    raised(large + elementary::ln_1p(elementary::exp(small - large)), large)
}

/// ln(e^ε − 1), rounded down.
pub(super) fn ln_excess_down(epsilon: f64) -> f64 {
    if epsilon == 0.0 {
        return f64::NEG_INFINITY;
    }
    let ln = if epsilon < 1.0 {
        elementary::ln(elementary::exp_m1(epsilon))
    } else {
        epsilon + elementary::ln_1p(-elementary::exp(-epsilon))
    };
    -raised(-ln, ln.abs().max(epsilon))
}

/// ln(1 + e^t), rounded down, for a t computed from numbers of this size.
fn ln_one_plus_exp_down(t: f64, size: f64) -> f64 {
    if t == f64::NEG_INFINITY {
        return 0.0;
    }
    let t = -raised(-t, size);
    let sum = if t > 0.0 {
        t + elementary::ln_1p(elementary::exp(-t))
    } else {
        elementary::ln_1p(elementary::exp(t))
    };
    // The last operations are relatively accurate.
    sum * (1.0 - MARGIN)
}

/// ln θ_ε(r), decreasing in ε and increasing in r.
pub(super) fn ln_theta(epsilon: f64, ratio: f64) -> f64 {
    match (Epsilon::new(epsilon), NonNegative::new(ratio)) {
        (Ok(epsilon), Ok(ratio)) => theta::ln_theta(epsilon, ratio).upper().min(0.0),
        _ => 0.0,
    }
}

/// ln F_γ(h) = ln h + ln θ_ε̃(r) with e^ε̃ = 1 + (γ − 1)/h, from ln h and ln(γ − 1) rounded down: the largest possible
/// E_γ after Gaussian noise on points at most r of its standard deviations apart, if it was h before.
pub(super) fn ln_contracted(ratio: f64, ln_excess: f64, ln_h: f64) -> f64 {
    if ln_h == f64::NEG_INFINITY {
        return ln_h;
    }
    let level = ln_one_plus_exp_down(ln_excess - ln_h, ln_excess.max(-1e300).abs() + ln_h.abs());
    let value = ln_h + ln_theta(level, ratio);
    raised(value, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use dobrushin_reference::{Real, ln_theta_at};

    const BITS: usize = 256;

    fn real(x: f64) -> Real {
        Real::from_f64(x, BITS)
    }

    /// Whether a bound is above the exact value, and by at most this much of its size.
    fn is_just_above(bound: f64, truth: &Real, size: f64) -> bool {
        let excess = (real(bound) - truth).to_f64();
        excess >= 0.0 && excess <= 1e-13 * (1.0 + size)
    }

    #[test]
    fn sums_of_logarithms_are_just_above_the_truth() {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let (a, b) = (-random.log_between(1e-9, 1e3), -random.log_between(1e-9, 1e3));
            let truth = (real(a).exp() + real(b).exp()).ln();
            assert!(is_just_above(ln_sum(a, b), &truth, a.abs().min(b.abs())), "{a}, {b}");
        }
    }

    #[test]
    fn contracted_bounds_are_just_above_the_truth() {
        let mut random = Random::new(2);
        for _ in 0..300 {
            let (epsilon, ratio) = (random.log_between(1e-7, 20.0), random.log_between(0.1, 9.0));
            let ln_h = -random.log_between(1e-6, 300.0);
            let bound = ln_contracted(ratio, ln_excess_down(epsilon), ln_h);
            let level = (real(epsilon).exp_m1() / real(ln_h).exp()).ln_1p();
            let truth = real(ln_h) + ln_theta_at(&level, &real(ratio));
            // A relative error of the level is amplified by (ε̃/r)².
            let size = ln_h.abs() + truth.to_f64().abs() * 10.0;
            assert!(
                is_just_above(bound, &truth, 20.0 * size),
                "{epsilon}, {ratio}, {ln_h}: {bound} {truth:?}"
            );
        }
        assert_eq!(ln_contracted(1.0, 0.0, f64::NEG_INFINITY), f64::NEG_INFINITY);
    }
}
