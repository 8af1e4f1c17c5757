//! ln Γ(x).

use super::accurate::{logarithm, logarithm_of, rounded};
use super::logarithm::{SUM_ERROR, ln, quick_units};
use super::rounding::round;
use super::table::{LN_GAMMA_OF_HALVES, LN_SQRT_2PI};
use super::wide::Wide;
use super::{nearest_integer, parts, polynomial, power_of_two};

/// From here on, Stirling's series is summed in `f64`s.
const LARGE: f64 = 16.0;

/// ln Γ(x), rounded to nearest, for a finite x > 0. Between multiples of 1/2 below 16 it takes microseconds.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    if x >= LARGE {
        return quick(x).unwrap_or_else(|_| accurate(x));
    }
    let halves = (2.0 * x) as usize;
    if halves as f64 == 2.0 * x { LN_GAMMA_OF_HALVES[halves] } else { accurate(x) }
}

/// Results are rounded when scaled down by this many octaves, where they cannot overflow.
const SCALE: i64 = 16;

/// c_k = B_2k/(2k(2k − 1)), of the series Σ c_k/x^(2k − 1), whose consecutive partial sums enclose its value for every
/// x > 0.
const STIRLING: [(i64, u64); 15] = [
    (1, 12),
    (-1, 360),
    (1, 1260),
    (-1, 1680),
    (1, 1188),
    (-691, 360_360),
    (1, 156),
    (-3617, 122_400),
    (43_867, 244_188),
    (-174_611, 125_400),
    (77_683, 5796),
    (-236_364_091, 1_506_960),
    (657_931, 300),
    (-3_392_780_147, 93_960),
    (1_723_168_255_201, 2_492_028),
];

/// [`round`] of ln Γ(x) for x ≥ 16, by Stirling's formula: with x = s·2^e, s in [1, 2), and L = ln x,
/// ln Γ(x)/2^e = s(L − 1) − (L/2 − ln √(2π) − series)/2^e.
///
/// # Accuracy
/// In units of 2^(e − 116): L errs by [`SUM_ERROR`], which s makes 40·2³⁷ and the second term less than 2³⁷. The series
/// is below 2⁻⁷·⁵; seven of its terms leave out less than 2⁻⁶⁴, four roundings make 2⁻⁵⁸·⁵, and the nearest integer is
/// within 2⁻⁵⁹: together less than 2⁻⁵⁷.
fn quick(x: f64) -> Result<f64, f64> {
    const SERIES: [f64; 7] = {
        let mut series = [0.0; 7];
        let mut k = 0;
        while k < series.len() {
            series[k] = STIRLING[k].0 as f64 / STIRLING[k].1 as f64;
            k += 1;
        }
        series
    };
    /// In units of 2⁻¹¹⁶.
    const CONSTANT: i128 = ((LN_SQRT_2PI[7] as i128) << 52) | ((LN_SQRT_2PI[6] as i128) >> 12);
    let (_, m, e) = parts(x);
    let logarithm = quick_units(x);
    let less_one = (logarithm - (1 << 116)) as u128;
    let (high, low) = (less_one >> 64, u128::from(less_one as u64));
    let main = ((u128::from(m) * high) << 12) + ((u128::from(m) * low) >> 52);
    let inverse = 1.0 / x;
    let series = nearest_integer(inverse * polynomial(&SERIES, inverse * inverse) * power_of_two(58));
    let second = (logarithm >> 1) - CONSTANT - (i128::from(series) << 58);
    let value = main.wrapping_sub_signed(second.checked_shr(e as u32).unwrap_or(0));
    let error = 2 * SUM_ERROR + (1 << 38) + (1u64 << 59).checked_shr(e as u32).unwrap_or(0);
    round(false, value, e + 10 - SCALE, error).map(|scaled| power_of_two(SCALE) * scaled)
}

/// ln Γ(x), rounded: by Stirling's formula as in [`quick`] for z = x + 128 if x < 128, and
/// ln Γ(x) = ln Γ(z) − ln x − ln[(x + 1)⋯(x + 127)].
///
/// # Accuracy
/// In units of 2⁻²⁴⁴, of ln Γ(x)/2^e: logarithms err by 2³⁹ each, those of products by 2⁸ more, which s doubles; the
/// first term left out is below 2²⁴/128³¹ = 2⁻¹⁹³, over 2⁷ less than 2⁴⁵ units. Together less than 2⁴⁶: 2⁻¹⁹⁸. Next to
/// the zeros at 1 and 2, ln Γ(x)/2^e is above 2⁻⁶¹.
#[cold]
fn accurate(x: f64) -> f64 {
    const SHIFT: f64 = 128.0;
    let (s, e, before) = if x < SHIFT {
        shifted(x)
    } else {
        (Wide::from_parts((false, parts(x).1, 0)), parts(x).2, Wide::ZERO)
    };
    let logarithm = logarithm_near(s, e);
    let inverse = shift_right(s.reciprocal(), e);
    let square = (inverse << 4) * (inverse << 4);
    let sum = STIRLING.iter().enumerate().rev().fold(Wide::ZERO, |sum, (k, &(numerator, denominator))| {
        // c_k/256^k, for powers of (16/z)².
        let place = Wide::<4>::FRACTION - 8 * k as u32;
        let size = (Wide::units(numerator.unsigned_abs()) << place).divided_by(denominator);
        sum * square + if numerator < 0 { -size } else { size }
    });
    let second = (logarithm >> 1) - Wide::from_fraction(&LN_SQRT_2PI) - inverse * sum + before;
    let value = s * (logarithm - Wide::ONE) - shift_right(second, e);
    power_of_two(SCALE) * rounded(value, e - SCALE, Wide::units(1 << 46)).unwrap_or_else(|nearest| nearest)
}

/// For x < 128: x + 128 = s·2^e, and the logarithm of x(x + 1)⋯(x + 127).
fn shifted(x: f64) -> (Wide<4>, i64, Wide<4>) {
    let x_wide = if x < f64::MIN_POSITIVE { Wide::ZERO } else { Wide::from(x) };
    let plus = |i: i64| x_wide + Wide::ONE.times(i);
    let (product, octaves) = (1..128).fold((Wide::ONE, 0), |(product, octaves), i| {
        let (product, octave) = (product * plus(i)).normalised();
        (product, octaves + octave)
    });
    let (s, e) = plus(128).normalised();
    (s, e, logarithm_of(x, ln(x)) + logarithm_near(product, octaves))
}

/// ln(value·2^octave) for a value in [1, 2).
fn logarithm_near(value: Wide<4>, octave: i64) -> Wide<4> {
    let leading = (value.leading().0 >> 74) as f64 * power_of_two(-52);
    logarithm(value, octave, ln(leading) + octave as f64 * std::f64::consts::LN_2)
}

/// value/2^e for e ≥ 0.
fn shift_right(value: Wide<4>, e: i64) -> Wide<4> {
    value >> e.min(255) as u32
}
