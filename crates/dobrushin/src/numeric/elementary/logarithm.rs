//! ln x and ln(1 + x).

use super::rounding::round;
use super::table::{CELLS, LN_2, PARTS, UPPER_HALF};
use super::{SIGN, accurate, nearest_integer, parts, polynomial, power_of_two};
use crate::numeric::rounding::two_sum;

/// ln x, correctly rounded; −∞ at 0, NaN below.
///
/// ```
/// use dobrushin::numeric::elementary::ln;
/// assert_eq!(ln(2.0), std::f64::consts::LN_2);
/// ```
#[inline]
pub fn ln(x: f64) -> f64 {
    let least = f64::MIN_POSITIVE.to_bits();
    if x.to_bits().wrapping_sub(least) >= f64::INFINITY.to_bits() - least {
        return extreme_ln(x);
    }
    let (_, m, e) = parts(x);
    quick(m, e, None).unwrap_or_else(|near| accurate::ln(x, near))
}

/// ln x where x is not normal, or where the logarithm is not finite.
#[cold]
fn extreme_ln(x: f64) -> f64 {
    match x {
        0.0 => f64::NEG_INFINITY,
        f64::INFINITY => x,
        _ if x.is_nan() => x,
        _ if x < 0.0 => f64::NAN,
        _ => {
            let (_, m, e) = parts(x * (1u64 << 54) as f64);
            quick(m, e - 54, None).unwrap_or_else(|near| accurate::ln(x, near))
        }
    }
}

/// Below this magnitude ln(1 + x) = x(1 − x/2 + …) rounds to x, being less than a quarter of a unit away.
const TINY: f64 = 1.0 / (1u64 << 54) as f64;

/// Below this magnitude ln(1 + x) is computed as a series.
const SMALL: f64 = 1.0 / 256.0;

/// ln(1 + x), correctly rounded, with relative accuracy near 0; −∞ at −1, NaN below.
///
/// ```
/// use dobrushin::numeric::elementary::ln_1p;
/// assert_eq!(ln_1p(1e-20), 1e-20);
/// ```
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    let magnitude = x.to_bits() & !SIGN;
    if magnitude.wrapping_sub(TINY.to_bits()) < SMALL.to_bits() - TINY.to_bits() {
        return quick_small(x).unwrap_or_else(|near| accurate::ln_1p(x, near));
    }
    let ordinary = x > -1.0 && x < f64::INFINITY && magnitude >= TINY.to_bits();
    if !ordinary {
        return if magnitude < TINY.to_bits() { x } else { extreme_ln(1.0 + x) };
    }
    let (sum, rest) = two_sum(1.0, x);
    let (_, m, e) = parts(sum);
    quick(m, e, Some(rest)).unwrap_or_else(|near| accurate::ln_1p(x, near))
}

/// [`round`] of ln y, for the y of [`Reduced::new`].
#[inline(always)]
fn quick(m: u64, e: i64, rest: Option<f64>) -> Result<f64, f64> {
    let reduced = Reduced::new(m, e, rest);
    let Reduced { z, approximate, .. } = reduced;
    if reduced.e == 0 && reduced.logarithm == 0 {
        if z == 0 {
            return Ok(0.0);
        }
        let shift = z.unsigned_abs().leading_zeros() - 2;
        let u = series(z << 3, approximate);
        return times_series(z < 0, z.unsigned_abs() << shift, -6 - i64::from(shift), u);
    }
    let sum = reduced.sum();
    round(sum < 0, sum.unsigned_abs(), 10, SUM_ERROR)
}

/// ln x for a normal x ≥ 2 in units of 2⁻¹¹⁶, within [`SUM_ERROR`] of them.
#[inline(always)]
pub(super) fn quick_units(x: f64) -> i128 {
    let (_, m, e) = parts(x);
    Reduced::new(m, e, None).sum()
}

/// The error of [`Reduced::sum`], in its units.
pub(super) const SUM_ERROR: u64 = 20 << 37;

/// A number y as 2^e·(1 + z)/f: ln y = e·ln 2 − ln f + ln(1 + z).
#[derive(Clone, Copy)]
struct Reduced {
    e: i64,
    /// −ln f in units of 2⁻¹¹⁶.
    logarithm: i128,
    /// z in units of 2⁻⁶⁸, and the remainder in units of 2⁻¹⁰⁰.
    z: i64,
    more: i64,
    /// All of z, |z| < 2⁻⁸.
    approximate: f64,
}

impl Reduced {
    /// For y = m·2^(e − 52) + rest, m in [2⁵², 2⁵³), e in [−1074, 1023], the rest at most 2^(e − 53); there is none in
    /// [1 − 2⁻⁹, 1 + 2⁻⁸) and for e < −54.
    ///
    /// Let c = 1 + j/128 be nearest to the significand s = y/2^e, and f the number near 1/c from the table: then z =
    /// f·s − 1 is less than 2⁻⁸. Significands in the upper half of an octave are assigned to the next one, so that near
    /// y = 1 only ln(1 + z), z = y − 1, remains.
    #[inline(always)]
    fn new(m: u64, e: i64, rest: Option<f64>) -> Self {
        let j = ((m >> (52 - 1 - PARTS.ilog2())) & (2 * PARTS as u64 - 1)).div_ceil(2) as usize;
        let (factor, logarithm) = CELLS[j];
        // f·s modulo 2⁶⁴ units, which equals z.
        let z = m.wrapping_mul(factor) as i64;
        let more = rest.map(|rest| rest * (factor as i64 as f64 * power_of_two(84 - e)));
        let approximate = match more {
            Some(more) => (z as f64 + more * power_of_two(-32)) * power_of_two(-68),
            None => z as f64 * power_of_two(-68),
        };
        let e = e + i64::from(j >= UPPER_HALF);
        Self { e, logarithm, z, more: more.map_or(0, nearest_integer), approximate }
    }

    /// ln y in units of 2⁻¹¹⁶.
    ///
    /// # Accuracy
    /// In units of 2⁻⁷⁹: the cut of z to 2⁻⁷¹ makes 1 in z²/2. The terms from z³/3 on are at most 2⁻²⁵·⁵: as `f64`s
    /// they err by 8.2 for the two roundings of z, and 5.8 for four more of theirs; the nearest integer is within 4;
    /// the terms left out are below 0.1. The rest of y errs by 2⁻¹⁰⁰, the table and e·ln 2 by 2⁻¹⁰⁴. Together less than
    /// 20.
    #[inline(always)]
    fn sum(self) -> i128 {
        /// ln 2 in units of 2⁻¹¹⁶.
        const UNITS_OF_LN_2: i128 = ((LN_2[7] as i128) << 52) | ((LN_2[6] as i128) >> 12);
        let Self { e, logarithm, z, more, approximate } = self;
        let short = i128::from((z << 3) + (more >> 29));
        let cube = approximate * approximate * (approximate * power_of_two(76));
        let terms = nearest_integer(cube * polynomial(&SERIES, approximate));
        let linear = (i128::from(z) << 48) + (i128::from(more) << 16) - ((short * short) >> 27);
        (i128::from(e) * UNITS_OF_LN_2 + logarithm + linear) + (i128::from(terms) << 40)
    }
}

/// [`round`] of ln(1 + x), for |x| in [2⁻⁵⁴, 2⁻⁸).
#[inline(always)]
fn quick_small(x: f64) -> Result<f64, f64> {
    let (negative, m, e) = parts(x);
    // In units of 2⁻⁷¹: the leading bit would be at place 62 for e = −9.
    let magnitude = ((m << 10) >> (-9 - e)) as i64;
    let z = if negative { -magnitude } else { magnitude };
    times_series(negative, m << 9, e + 1, series(z, x))
}

/// (−1)^i/(i + 3).
const SERIES: [f64; 7] = [1.0 / 3.0, -1.0 / 4.0, 1.0 / 5.0, -1.0 / 6.0, 1.0 / 7.0, -1.0 / 8.0, 1.0 / 9.0];

/// The u of ln(1 + z) = z(1 + u), |z| < 2⁻⁸, in units of 2⁻⁷¹, for z in these units, cut off, and as an `f64`:
/// u = −z/2 + z²/3 − … + z⁸/9, the terms from the second on from `f64`s.
///
/// # Accuracy
/// In its units: the cut of z makes 0.51, that of z/2 makes 1. The other terms are at most 2⁻¹⁷·⁶: as `f64`s they err
/// by 2.6 for the rounding of z, 1.4 for that of z², 1.2 for that of their quotient, 1.4 for the product; the nearest
/// integer is within 4, being one of 2⁻⁶⁸; the terms left out are below z⁹/9 < 0.1. Together less than 12.3.
#[inline(always)]
fn series(z: i64, approximate: f64) -> i64 {
    let square = approximate * (approximate * power_of_two(68));
    (nearest_integer(square * polynomial(&SERIES, approximate)) << 3) - (z >> 1)
}

/// [`round`] of z(1 + u), |z| = `size` units of 2^(`exponent` − 62), the size in [2⁶¹, 2⁶²), and u as in [`series`].
///
/// # Accuracy
/// 1 + u is within 12.3 units of 2⁻⁷¹, so that the product is within 12.3·2⁵⁵ units of 2^(`exponent` − 126), and one
/// for the cut.
#[inline(always)]
fn times_series(negative: bool, size: u64, exponent: i64, u: i64) -> Result<f64, f64> {
    let size = i128::from(size);
    let significand = (size << 64) + ((size * i128::from(u)) >> 7);
    round(negative, significand as u128, exponent, 13 << 55)
}
