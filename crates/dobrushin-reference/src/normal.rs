//! The standard normal law: `Q(x) = φ(x) R(x)` and what follows from it.

use crate::constants::{ln_sqrt_two_pi, sqrt_two, sqrt_two_pi};
use crate::mills::{mills, mills_right, square_bits};
use crate::real::{Real, WORD};

/// The upper tail `Q(x)` of the standard normal law.
pub fn tail(x: &Real) -> Real {
    if x.is_negative() {
        // Q(-x) <= 1/2: no cancellation.
        let upper = tail(&-x.with_bits(x.bits() + WORD));
        return (Real::one(WORD) - upper).into_bits(x.bits());
    }
    let work = x.bits() + WORD + square_bits(x);
    let x_work = x.with_bits(work);
    let density = (-(&x_work * &x_work).scale(-1)).exp() / sqrt_two_pi(work);
    (density * mills_right(&x_work)).into_bits(x.bits())
}

/// The distribution function `Φ(x) = Q(-x)` of the standard normal law.
pub fn cdf(x: &Real) -> Real {
    tail(&-x)
}

/// The logarithm of the upper tail, `ln Q(x)`.
///
/// To the right it is `-x²/2 - ln √(2π) + ln R(x)`; to the left `ln(1 - Q(-x))`, which may be as
/// close to zero as the exponent range allows.
pub fn ln_tail(x: &Real) -> Real {
    let work = x.bits() + WORD;
    let x_work = x.with_bits(work);
    let value = if x.is_negative() {
        (-tail(&-x_work)).ln_1p()
    } else {
        let half_square = (&x_work * &x_work).scale(-1);
        mills_right(&x_work).ln() - ln_sqrt_two_pi(work) - half_square
    };
    value.into_bits(x.bits())
}

/// The scaled complementary error function `e^(x²) erfc(x) = 2 R(x√2)/√(2π)`.
pub fn erfcx(x: &Real) -> Real {
    let work = x.bits() + WORD + square_bits(x);
    let ratio = mills(&(x * sqrt_two(work)));
    (ratio.scale(1) / sqrt_two_pi(work)).into_bits(x.bits())
}

/// The complementary error function `erfc(x) = 2 Q(x√2)`.
pub fn erfc(x: &Real) -> Real {
    let work = x.bits() + WORD + square_bits(x);
    let x_work = x.with_bits(work);
    let value = if x.is_negative() {
        Real::from_i64(2, WORD) - erfc(&-x_work)
    } else {
        let density = (-(&x_work * &x_work)).exp() / sqrt_two_pi(work);
        density.scale(1) * mills_right(&(x_work * sqrt_two(work)))
    };
    value.into_bits(x.bits())
}
