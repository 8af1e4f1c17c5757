//! The exponential and the logarithm, correctly rounded: each result is the `f64` nearest to the true value, so its two
//! neighbours enclose the true value, and every machine gets the same bits.
//!
//! The functions are written here, in integers, rather than taken from elsewhere: the standard library promises no
//! accuracy, and the libraries with proven accuracy need a C compiler.
//!
//! Where a value only steers a search, or its error is accounted for in some other way, these would be too slow, and the
//! rest of the project calls the crate `libm`: it is in pure Rust, so every machine gets the same bits from it, too. The
//! functions of the standard library, which differ from machine to machine, are forbidden (`clippy.toml`), so a
//! certificate that was written on one machine is recomputed to the last bit on another, and in a browser.
//!
//! # Accuracy
//! A *quick* phase computes the result in 128-bit integers with a relative error of at most 2⁻⁶² to 2⁻⁷⁵, which is
//! proved where it is computed. Integers keep the proofs short: a product or a shift errs by less than its last place,
//! and a sum is exact. If the values at both ends of the error round to the same `f64`, this is the result. Otherwise,
//! for one argument in thousands, an *accurate* phase repeats the computation in 256 bits, and if that decides nothing
//! either, in 512. Tables of the worst cases (Lefèvre and Muller, *Worst cases for correct rounding of the elementary
//! functions in double precision*, 2001) are not relied on: if 512 bits leave a result undecided, it is within 2⁻⁴⁰⁰ of
//! the middle between two `f64`s, and either of them is nearest for all practical purposes. The hardest known argument,
//! ln(1 + x) for x = 1.5·2⁻⁵⁰ + 3·2⁻¹⁰², is 2⁻¹⁵³ from a middle.
//!
//! # Implementation
//! A multiple of (ln 2)/128, or a factor from a table, brings the argument near 0 or 1, where eight terms of
//! Taylor's series are enough. The accurate phase uses no table but ln 2: it halves the argument of the exponential and
//! squares, and corrects a logarithm by the exponential of the quick one.

mod accurate;
mod erfc;
mod exponential;
mod ln_gamma;
mod logarithm;
mod power;
mod rounding;
mod table;
#[cfg(test)]
mod tests;
mod turn;
mod wide;

pub(crate) use erfc::erfc;
pub use exponential::{exp, exp_m1};
pub(crate) use ln_gamma::ln_gamma;
pub use logarithm::{ln, ln_1p};
pub use power::powi;
pub(crate) use turn::turn;

/// The parts of a normal number: the sign, and m and e with |x| = m·2^(e − 52), m in [2⁵², 2⁵³).
#[inline(always)]
fn parts(x: f64) -> (bool, u64, i64) {
    let bits = x.to_bits();
    (bits >= SIGN, bits & (ONE - 1) | ONE, (bits << 1 >> 53) as i64 - 1023)
}

/// The bit of the sign.
const SIGN: u64 = 1 << 63;

/// The leading bit of a significand of 53 bits.
const ONE: u64 = 1 << 52;

/// The upper half of a product, rounded down.
#[inline]
fn high(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> 64) as i64
}

/// Σ cᵢ xⁱ, with a short chain of dependent operations.
#[inline(always)]
fn polynomial(c: &[f64; 7], x: f64) -> f64 {
    let square = x * x;
    let pair = |i: usize| c[i] + c[i + 1] * x;
    (pair(0) + square * pair(2)) + square * square * (pair(4) + square * c[6])
}

/// The integer nearest to x, for |x| < 2⁵¹.
#[inline(always)]
fn nearest_integer(x: f64) -> i64 {
    (x + INTEGER).to_bits().wrapping_sub(INTEGER.to_bits()) as i64
}

/// A number whose last place is 1, so that its sum with a smaller number is rounded to an integer.
const INTEGER: f64 = (3u64 << 51) as f64;

/// 2^n, for n in [−1022, 1023].
#[inline(always)]
const fn power_of_two(n: i64) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}
