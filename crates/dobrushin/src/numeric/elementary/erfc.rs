//! The complementary error function.

use super::accurate::{exponential, rounded};
use super::power_of_two;
use super::table::INVERSE_SQRT_PI;
use super::wide::Wide;

/// erfc(x), rounded to nearest; it takes microseconds.
pub(crate) fn erfc(x: f64) -> f64 {
    let size = x.abs();
    let nearest = match x {
        _ if x.is_nan() => return x,
        _ if size < power_of_two(-60) => return 1.0,
        _ if x > 27.3 => return 0.0,
        _ if x < -6.0 => return 2.0,
        _ if size < 2.0 => {
            let erf = erf(size);
            rounded(Wide::ONE + if x < 0.0 { erf } else { -erf }, 0, Wide::units(ERROR))
        }
        _ => {
            let (value, octave, error) = tail(size);
            if x < 0.0 {
                let below = octave.unsigned_abs() as u32;
                rounded((Wide::ONE << 1) - (value >> below), 0, (error >> below) + Wide::units(1))
            } else {
                rounded(value, octave, error)
            }
        }
    };
    nearest.unwrap_or_else(|nearest| nearest)
}

/// The errors below, except for the distance of two convergents, in units: that of an exponential, 2³⁸, times at most
/// 24, and less than 2⁸ for everything else.
const ERROR: u64 = 1 << 44;

/// erf(x) = (2x/√π)·e^(−x²)·Σ (2x²)^k/(1·3·5⋯(2k + 1)) for x < 2, a series of positive terms whose rest after a hundred
/// terms is less than 2⁻³⁰⁰.
fn erf(x: f64) -> Wide<4> {
    let x_wide = Wide::from(x);
    let square = x_wide * x_wide;
    let step = |sum: Wide<4>, k: u64| Wide::ONE + ((square << 1) * sum).divided_by(2 * k + 1);
    let sum = (1..100).rev().fold(Wide::ONE, step);
    let (exponential, octave) = exponential(-square, -x * x);
    let scaled = (exponential * sum) >> octave.unsigned_abs() as u32;
    (x_wide << 1) * Wide::from_fraction(&INVERSE_SQRT_PI) * scaled
}

/// erfc(x) = value·2^octave with the error of the value, for 2 ≤ x < 28: e^(−x²)/√π·1/(x + (1/2)/(x + (2/2)/(x +
/// (3/2)/(x + …)))), by two neighbouring convergents, which enclose it because all terms and divisors are positive.
fn tail(x: f64) -> (Wide<4>, i64, Wide<4>) {
    let x_wide = Wide::from(x);
    // Numerator and denominator of the last two convergents, over a common power of two.
    let mut last = [Wide::ONE, x_wide];
    let mut before = [Wide::ZERO, Wide::ONE];
    for k in 1..24 + (900.0 / (x * x)) as i64 {
        let next = [0, 1].map(|i| x_wide * last[i] + (before[i].times(k) >> 1));
        let places = next[1].normalised().1 as u32;
        before = last.map(|part| part >> places);
        last = next.map(|part| part >> places);
    }
    let [value, other] = [last, before].map(|[numerator, denominator]| {
        let (denominator, octave) = denominator.normalised();
        (numerator * denominator.reciprocal()) << octave.unsigned_abs() as u32
    });
    let (exponential, octave) = exponential(-(x_wide * x_wide), -x * x);
    let factor = exponential * Wide::from_fraction(&INVERSE_SQRT_PI);
    (factor * value, octave, ((value - other).abs() << 1) + Wide::units(ERROR))
}
