//! The chi-square law with an integer number of degrees of freedom.
//!
//! With `d` degrees, below the mean the distribution function is the positive series
//!
//! `P(x) = (x/2)^(d/2) e^(-x/2)/Γ(d/2 + 1) · (1 + x/(d+2) + x²/((d+2)(d+4)) + ⋯)`,
//!
//! and above the mean the tail is the positive finite sum
//!
//! `1 - P(x) = (x/2)^(d/2-1) e^(-x/2)/Γ(d/2) · (1 + (d-2)/x + (d-2)(d-4)/x² + ⋯)`,
//!
//! to which `2 Q(√x)` is added when `d` is odd and the sum has run down to degree one. Each is
//! accurate in its own tail, and the other tail is then its complement to one, both being
//! moderate.

use crate::PRECISION;
use crate::gamma::ln_gamma_at;
use crate::normal::tail;
use crate::real::{Real, WORD};

/// The working precision. The logarithm of the density is a sum of numbers below `2^30` for
/// arguments below `2^25`.
const WORK: usize = PRECISION + WORD;

/// Terms below `2^-NEGLIGIBLE` of the first, and the terms after them, do not matter.
const NEGLIGIBLE: f64 = (PRECISION + 16) as f64;

/// The probability that a chi-square variable with `degrees` degrees of freedom is at most `x`.
///
/// # Panics
///
/// When `degrees` is zero or above `2^53`, or `x` is negative or not finite.
pub fn chi_square_cdf(degrees: u64, x: f64) -> Real {
    match smaller_tail(degrees, x) {
        Tail::Lower(value) => value.into_bits(PRECISION),
        Tail::Upper(value) => (Real::one(WORD) - value).into_bits(PRECISION),
    }
}

/// The probability that a chi-square variable with `degrees` degrees of freedom is more than `x`.
///
/// # Panics
///
/// When `degrees` is zero or above `2^53`, or `x` is negative or not finite.
pub fn chi_square_sf(degrees: u64, x: f64) -> Real {
    match smaller_tail(degrees, x) {
        Tail::Lower(value) => (Real::one(WORD) - value).into_bits(PRECISION),
        Tail::Upper(value) => value.into_bits(PRECISION),
    }
}

/// One of the two tails.
enum Tail {
    Lower(Real),
    Upper(Real),
}

/// The tail that does not contain the mean.
fn smaller_tail(degrees: u64, x: f64) -> Tail {
    assert!(0 < degrees && degrees <= 1 << 53, "the degrees of freedom must be positive, and exact as f64");
    assert!(x >= 0.0 && x.is_finite(), "x must be non-negative");
    let degrees = degrees as i64;
    if x == 0.0 {
        Tail::Lower(Real::zero(WORK))
    } else if x <= degrees as f64 {
        Tail::Lower(lower(degrees, x))
    } else {
        Tail::Upper(upper(degrees, x))
    }
}

/// `(x/2)^s e^(-x/2)/Γ(s+1)` with `s = twice/2`.
fn density(twice: i64, x: f64) -> Real {
    let s = Real::from_i64(twice, WORK).scale(-1);
    let half = Real::from_f64(x, WORK).scale(-1);
    let log = &s * half.ln() - half - ln_gamma_at(&(s + 1));
    log.exp()
}

/// The series for the distribution function, for `0 < x <= d`.
///
/// It is summed from its last term as a fraction: `1 + x/(d+2n) · N/D = (D' + xN)/D'` with
/// `D' = (d+2n) D`, which leaves a single division.
fn lower(degrees: i64, x: f64) -> Real {
    let count = count_terms(|n| x / (degrees + 2 * n) as f64);
    let x_real = Real::from_f64(x, WORD);
    let mut numerator = Real::one(WORK);
    let mut denominator = Real::one(WORK);
    for n in (1..=count).rev() {
        denominator = denominator * (degrees + 2 * n);
        numerator = &denominator + numerator * &x_real;
    }
    density(degrees, x) * numerator / denominator
}

/// The finite sum for the tail, for `x > d`.
fn upper(degrees: i64, x: f64) -> Real {
    // The terms are the products of the first factors (d-2)/x, (d-4)/x, …, all positive. With odd
    // degrees the last factor would be 1/x; it leads to the remainder instead.
    let factors = (degrees - 1) / 2;
    let needed = count_terms(|n| (degrees - 2 * n) as f64 / x);
    let remainder = if degrees % 2 == 1 && needed > factors {
        tail(&Real::from_f64(x, WORK).sqrt()).scale(1)
    } else {
        Real::zero(WORK)
    };
    if degrees == 1 {
        return remainder;
    }
    let one = Real::one(WORK);
    let inverse = &one / Real::from_f64(x, WORD);
    // With odd degrees the last term is that of degree three, whose factor is 3/x.
    let last = if degrees % 2 == 1 { factors - 1 } else { factors };
    let mut sum = one.clone();
    for n in (1..=needed.min(last)).rev() {
        sum = &one + &inverse * (degrees - 2 * n) * sum;
    }
    density(degrees - 2, x) * sum + remainder
}

/// How many of the successive ratios, which decrease and are below one, must be multiplied until the product no longer
/// matters beside one.
fn count_terms(ratio: impl Fn(i64) -> f64) -> i64 {
    let mut log2 = 0.0;
    let mut count = 0;
    loop {
        count += 1;
        let step = ratio(count).max(0.0);
        log2 += step.log2();
        // The rest is at most a geometric series.
        if log2 - (1.0 - step).log2() < -NEGLIGIBLE {
            return count;
        }
    }
}
