//! The hockey-stick divergence between two unit normal laws at distance `r`,
//!
//! `θ_ε(r) = Q(a) - e^ε Q(b)`, where `a = ε/r - r/2` and `b = a + r = ε/r + r/2`.
//!
//! Since `e^ε φ(b) = φ(a)`, with the Mills ratio
//!
//! `θ = φ(a) (R(a) - R(b))` and `1 - θ = φ(a) (R(-a) + R(b))`.
//!
//! The first is used where `a >= 0`, so that `θ <= 1/2`, and the second where `a < 0`. Either way
//! the arguments of `R` are not negative, and the only cancellations are those of `R(a) - R(b)`,
//! whose ratio to `R(a)` is about `r/max(b, 1)`, and of `1 - (1 - θ)`, since for `a < 0` the
//! smallest `θ` is about `r/√(2π)`. The working precision allows for them and for the size of
//! `a²`, whose exponential is taken.

use crate::PRECISION;
use crate::constants::{ln_sqrt_two_pi, sqrt_two_pi};
use crate::mills::mills_right;
use crate::real::{Real, WORD, round_up};

/// `θ_ε(r)` for finite `eps >= 0` and `r > 0`; zero where it is below the exponent range.
pub fn theta(eps: f64, r: f64) -> Real {
    theta_at(&Real::from_f64(eps, WORD), &Real::from_f64(r, WORD))
}

/// `ln θ_ε(r)` for finite `eps >= 0` and `r > 0`.
pub fn ln_theta(eps: f64, r: f64) -> Real {
    ln_theta_at(&Real::from_f64(eps, WORD), &Real::from_f64(r, WORD))
}

/// `1 - θ_ε(r)` for finite `eps >= 0` and `r > 0`; zero where it is below the exponent range.
pub fn one_minus_theta(eps: f64, r: f64) -> Real {
    one_minus_theta_at(&Real::from_f64(eps, WORD), &Real::from_f64(r, WORD))
}

/// Like [`theta()`], for arguments that need not be `f64`s. The answer has [`PRECISION`] bits.
pub fn theta_at(eps: &Real, r: &Real) -> Real {
    let place = Place::new(eps, r);
    let value = if place.is_left() {
        Real::one(WORD) - place.complement()
    } else {
        place.density() * place.mills_difference()
    };
    value.into_bits(PRECISION)
}

/// Like [`ln_theta`], for arguments that need not be `f64`s. The answer has [`PRECISION`] bits.
pub fn ln_theta_at(eps: &Real, r: &Real) -> Real {
    let place = Place::new(eps, r);
    let value = if place.is_left() {
        (-place.complement()).ln_1p()
    } else {
        let half_square = (&place.a * &place.a).scale(-1);
        place.mills_difference().ln() - ln_sqrt_two_pi(place.bits) - half_square
    };
    value.into_bits(PRECISION)
}

/// Like [`one_minus_theta`], for arguments that need not be `f64`s. The answer has [`PRECISION`] bits.
pub fn one_minus_theta_at(eps: &Real, r: &Real) -> Real {
    let place = Place::new(eps, r);
    let value = if place.is_left() {
        place.complement()
    } else {
        Real::one(WORD) - place.density() * place.mills_difference()
    };
    value.into_bits(PRECISION)
}

/// The two ends `a` and `b`, at the precision that the functions need.
struct Place {
    a: Real,
    b: Real,
    bits: usize,
}

impl Place {
    fn new(eps: &Real, r: &Real) -> Self {
        // Of a and b, the larger is b, and it is at most twice the larger of its summands.
        let size = (eps.exponent() - r.exponent() + 1).max(r.exponent() - 1).max(0) + 1;
        let cancellation = size - r.exponent() + 2;
        let square = 2 * size;
        let bits = round_up(PRECISION + cancellation.max(square) as usize);
        let ratio = eps.with_bits(bits) / r;
        let half = r.with_bits(bits).scale(-1);
        Self { a: &ratio - &half, b: &ratio + &half, bits }
    }

    /// Whether `a < 0`.
    fn is_left(&self) -> bool {
        self.a.is_negative()
    }

    /// `φ(a)`.
    fn density(&self) -> Real {
        (-(&self.a * &self.a).scale(-1)).exp() / sqrt_two_pi(self.bits)
    }

    /// `R(a) - R(b)`, for `a >= 0`.
    fn mills_difference(&self) -> Real {
        mills_right(&self.a) - mills_right(&self.b)
    }

    /// `1 - θ = φ(a) (R(-a) + R(b))`, for `a <= 0`.
    fn complement(&self) -> Real {
        self.density() * (mills_right(&-&self.a) + mills_right(&self.b))
    }
}
