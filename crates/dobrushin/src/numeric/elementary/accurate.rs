//! The accurate phase, for the arguments that the quick phase leaves undecided: the same computation in 256 bits, and
//! in 512 where 256 do not decide either.

use super::parts;
use super::rounding::{round, round_gradually};
use super::table::LN_2;
use super::wide::Wide;
use crate::numeric::elementary::powi;

/// e^x for 2⁻⁵⁴ ≤ |x| < 746.
#[cold]
pub(super) fn exp(x: f64) -> f64 {
    decided(exp_in::<4>(x), || exp_in::<8>(x))
}

/// e^x − 1 for 2⁻⁵⁴ ≤ |x| < 746, where it is finite.
#[cold]
pub(super) fn exp_m1(x: f64) -> f64 {
    decided(exp_m1_in::<4>(x), || exp_m1_in::<8>(x))
}

/// ln x for a positive x ≠ 1 and an `f64` within a unit of it.
#[cold]
pub(super) fn ln(x: f64, near: f64) -> f64 {
    decided(ln_in::<4>(x, near), || ln_in::<8>(x, near))
}

/// ln(1 + x) for a finite x > −1, |x| ≥ 2⁻⁵⁴, and an `f64` within a unit of it.
#[cold]
pub(super) fn ln_1p(x: f64, near: f64) -> f64 {
    decided(ln_1p_in::<4>(x, near), || ln_1p_in::<8>(x, near))
}

/// The first result that is certainly the nearest.
fn decided(first: Result<f64, f64>, second: impl FnOnce() -> Result<f64, f64>) -> f64 {
    first.or_else(|_| second()).unwrap_or_else(|nearest| nearest)
}

/// The error of the four functions above, in units.
const ERROR: u64 = 1 << 40;

/// value·2^octave, if both ends of its error round to the same number.
pub(super) fn rounded<const N: usize>(value: Wide<N>, octave: i64, error: Wide<N>) -> Result<f64, f64> {
    let [low, high] = [value.abs() - error, value.abs() + error].map(|end| {
        let (significand, exponent) = end.leading();
        let nearest = match value.is_negative() {
            false => round_gradually(significand, exponent + octave, 0),
            true => round(true, significand, exponent + octave, 0),
        };
        nearest.unwrap_or_else(|nearest| nearest)
    });
    if low == high { Ok(low) } else { Err(low) }
}

fn exp_in<const N: usize>(x: f64) -> Result<f64, f64> {
    let (value, octave) = exponential::<N>(x.into(), x);
    rounded(value, octave, Wide::units(ERROR))
}

fn exp_m1_in<const N: usize>(x: f64) -> Result<f64, f64> {
    let (value, octave) = exponential::<N>(x.into(), x);
    let distance = octave.unsigned_abs() as u32;
    if octave >= 0 {
        rounded(value - (Wide::ONE >> distance), octave, Wide::units(ERROR))
    } else {
        rounded((value >> distance) - Wide::ONE, 0, Wide::units(ERROR))
    }
}

fn ln_in<const N: usize>(x: f64, near: f64) -> Result<f64, f64> {
    rounded(logarithm_of::<N>(x, near), 0, Wide::units(ERROR))
}

fn ln_1p_in<const N: usize>(x: f64, near: f64) -> Result<f64, f64> {
    let (negative, m, e) = parts(x);
    let octave = e.max(0);
    let sum = Wide::<N>::from_parts((negative, m, e - octave)) + (Wide::ONE >> octave as u32);
    let (sum, below) = sum.normalised();
    rounded(logarithm(sum, octave + below, near), 0, Wide::units(ERROR))
}

/// ln x for a positive x, given an `f64` near it.
pub(super) fn logarithm_of<const N: usize>(x: f64, near: f64) -> Wide<N> {
    let scale = if x < f64::MIN_POSITIVE { 54 } else { 0 };
    let (_, m, e) = parts(x * (1u64 << scale) as f64);
    logarithm(Wide::from_parts((false, m, 0)), e - scale, near)
}

/// ln(value·2^octave) for a value in [1, 2) and an `f64` y within 2⁻⁴³ of it: with 1 + t = value·2^octave·e^(−y),
/// |t| < 2⁻⁴², it is y + t − t²/2 + … + t¹²/12.
///
/// # Accuracy
/// The exponential is within 2³⁸ units, t and the sum within 2³⁹ and a few; the terms left out are less than a unit
/// even for N = 8.
pub(super) fn logarithm<const N: usize>(value: Wide<N>, octave: i64, near: f64) -> Wide<N> {
    let (exponential, other) = exponential((-near).into(), -near);
    let t = ((value * exponential) >> (-octave - other).max(0) as u32) - Wide::ONE;
    let series = (1..=12).rev().fold(Wide::ZERO, |sum, n| Wide::INVERSES[n] - t * sum);
    Wide::from(near) + t * series
}

/// e^x = value·2^octave, for an x whose nearest `f64` is `near`, |x| < 746, with a value in [1, 2 + 2⁻¹⁸).
///
/// With r = x − octave·ln 2 in [0, ln 2 + 2⁻¹⁹) and h = r/2^4N, the value is the 2^4N-th power of 1 + h + … + h¹⁶/16!.
///
/// # Accuracy
/// In units: octave·ln 2 errs by 1076, which the value doubles, and the terms left out are less than one. A step of
/// Horner's rule errs by two and multiplies what was there by less than 2⁻¹⁶, which makes less than three; a squaring
/// doubles that, relatively, and adds one at most: less than 4·2^4N after 4N of them, which the value doubles again.
/// Together less than 2³⁸ for N ≤ 8.
pub(super) fn exponential<const N: usize>(x: Wide<N>, near: f64) -> (Wide<N>, i64) {
    let halvings = 4 * N as u32;
    let octave = (near * std::f64::consts::LOG2_E - powi(2f64, -20)).floor() as i64;
    let h = (x - Wide::from_fraction(&LN_2).times(octave)) >> halvings;
    let root = (1..=16).rev().fold(Wide::ONE, |sum, n| Wide::ONE + h * sum * Wide::INVERSES[n]);
    let value = (0..halvings).fold(root, |power, _| power * power);
    (value, octave)
}
