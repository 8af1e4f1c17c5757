//! e^x and e^x − 1.

use super::rounding::{round, round_gradually};
use super::table::{COARSE_AND_FINE, LN_2, PARTS, POWERS};
use super::{INTEGER, SIGN, accurate, high, nearest_integer, parts, polynomial, power_of_two};

/// Below this magnitude e^x rounds to 1, and e^x − 1 = x(1 + x/2 + …) to x: both are less than a quarter of a unit
/// away.
const TINY: f64 = 1.0 / (1u64 << 54) as f64;

/// Below this magnitude e^x is finite and normal.
const ORDINARY: f64 = 708.0;

/// The largest x with a finite e^x.
const LARGEST: f64 = 709.782712893384;

/// e^x, correctly rounded.
///
/// ```
/// use dobrushin::numeric::elementary::exp;
/// assert_eq!(exp(1.0), std::f64::consts::E);
/// ```
#[inline]
pub fn exp(x: f64) -> f64 {
    let magnitude = x.to_bits() & !SIGN;
    if magnitude.wrapping_sub(TINY.to_bits()) >= ORDINARY.to_bits() - TINY.to_bits() {
        return extreme_exp(x);
    }
    quick_exp(x).unwrap_or_else(|| accurate::exp(x))
}

/// e^x where it is not finite or not normal, or is 1.
#[cold]
fn extreme_exp(x: f64) -> f64 {
    match x {
        _ if x.is_nan() => x,
        _ if x.abs() < TINY => 1.0,
        _ if x > LARGEST => f64::INFINITY,
        _ if x < -746.0 => 0.0,
        _ => {
            let (significand, exponent) = quick(x);
            round_gradually(significand, exponent, QUICK_ERROR).unwrap_or_else(|_| accurate::exp(x))
        }
    }
}

/// e^x, if the quick phase decides it, for |x| in [2⁻⁵⁴, 708).
///
/// With k the integer nearest to 4096x/ln 2 and r = x − k(ln 2)/4096, |r| < 2⁻¹³·⁵, e^x = 2^(k/4096)·(1 + r + r²q), q =
/// 1/2! + r/3! + r²/4!. The power of two is t + u, where t is the product of two numbers of 26 digits, which is exact,
/// and u < 2⁻²⁴.
///
/// # Accuracy
/// In units of 2⁻⁶⁶: r is rounded once but for less than 2⁻⁷² (the product with the smaller part of (ln 2)/4096, and that
/// part itself), which t < 2 makes 1.04; the product of t and r, and the sum of that with u and the rest, err by 1 each.
/// The rest is below 2⁻²³ and errs by less than 2⁻⁷⁵; the terms left out are below 2⁻⁷³. Together less than 3.1. A sum of t, at least 1, with a number below 2⁻¹² is rounded to the nearest, and its
/// error is exact (Dekker). If adding or subtracting 3.2 units to or from that error does not change the sum, neither
/// does the unknown error.
#[inline(always)]
fn quick_exp(x: f64) -> Option<f64> {
    const FINE: f64 = 4096.0;
    const INVERSE: f64 = FINE * std::f64::consts::LOG2_E;
    /// (ln 2)/4096 in two parts; the first times k is exact.
    const PART: f64 = f64::from_bits((std::f64::consts::LN_2 / FINE).to_bits() >> 24 << 24);
    const REST: f64 = std::f64::consts::LN_2 / FINE - PART + BEYOND_LN_2 / FINE;
    const ERROR: f64 = 3.2 * power_of_two(-66);
    let shifted = x * INVERSE + INTEGER;
    let k = shifted.to_bits().wrapping_sub(INTEGER.to_bits());
    let multiple = shifted - INTEGER;
    let r = (x - multiple * PART) - multiple * REST;
    let [coarse, coarse_rest] = COARSE_AND_FINE[0][(k >> 6 & 63) as usize];
    let [fine, fine_rest] = COARSE_AND_FINE[1][(k & 63) as usize];
    let t = coarse * fine;
    let u = coarse_rest * fine + (coarse + coarse_rest) * fine_rest;
    let square = r * r;
    let rest = u + (u * r + (t + u) * square * ((0.5 + r * (1.0 / 6.0)) + square * (1.0 / 24.0)));
    let low = t * r + rest;
    let sum = t + low;
    let error = low - (sum - t);
    let decided = sum + (error + ERROR) == sum + (error - ERROR);
    // k ≥ −2²³ in two's complement: its upper bits are the exponent.
    decided.then(|| f64::from_bits(sum.to_bits().wrapping_add((k >> 12) << 52)))
}

/// e^x − 1, correctly rounded, with relative accuracy near 0.
///
/// ```
/// use dobrushin::numeric::elementary::exp_m1;
/// assert_eq!(exp_m1(1e-20), 1e-20);
/// ```
#[inline]
pub fn exp_m1(x: f64) -> f64 {
    let magnitude = x.to_bits() & !SIGN;
    if magnitude.wrapping_sub(TINY.to_bits()) >= ORDINARY.to_bits() - TINY.to_bits() {
        return extreme_exp_m1(x);
    }
    let quick = if magnitude < SMALL.to_bits() { quick_small_exp_m1(x) } else { quick_exp_m1(x) };
    quick.unwrap_or_else(|_| accurate::exp_m1(x))
}

/// e^x − 1 where it is not finite, or is −1 or x.
#[cold]
fn extreme_exp_m1(x: f64) -> f64 {
    match x {
        _ if x.is_nan() || x.abs() < TINY => x,
        _ if x > LARGEST => f64::INFINITY,
        _ if x < 0.0 => -1.0,
        _ => quick_exp_m1(x).unwrap_or_else(|_| accurate::exp_m1(x)),
    }
}

/// The error of [`quick`], in its units.
const QUICK_ERROR: u64 = 26 << 55;

/// e^x in units of 2^(e − 126), and e, for |x| in [2⁻⁵⁴, 746): within 26·2⁵⁵ units, and between 2¹²⁵ and 2¹²⁷.
///
/// With k the integer nearest to 128x/ln 2, r = x − k(ln 2)/128, |r| < 0.00271 < 2⁻⁸·⁵, and t = 2^(k/128),
/// e^x = t + tr + tr²q, q = 1/2! + r/3! + … + r⁴/6!. The last product is one of `f64`s, the others of integers.
///
/// # Accuracy
/// In units of 2⁻⁷¹. The integer r errs by two: x is cut off by one, unless it is above 2⁻¹⁹ and exact, and k(ln 2)/128
/// by one; t < 2 makes that 4, and the bits of t below 2⁻⁶² that are left out 2⁻⁶²·2⁻⁸·⁵, less than 1.5. As an `f64`, r
/// is rounded once but for less than 2⁻⁷⁶, to within 2⁻⁶², which r²q < 2⁻¹⁸ turns into 1.5; six more roundings of
/// factors and terms of tr²q, each at most 2⁻⁵³ of it or of a half, make 6, and the smaller ones less than 0.1; the
/// terms left out are below 0.6. That is 8.2, which t makes 16.4; the nearest integer is within 4. Together less than
/// 26.
#[inline(always)]
fn quick(x: f64) -> (u128, i64) {
    const INVERSE: f64 = PARTS as f64 * std::f64::consts::LOG2_E;
    /// (ln 2)/128 in two parts; the first times k is exact.
    const PART: f64 = f64::from_bits((std::f64::consts::LN_2 / PARTS as f64).to_bits() >> 20 << 20);
    const REST: f64 = std::f64::consts::LN_2 / PARTS as f64 - PART + BEYOND_LN_2 / PARTS as f64;
    /// r²q is in units of 2⁻⁶⁸.
    const UNIT: f64 = power_of_two(68 - 62);
    let shifted = x * INVERSE + INTEGER;
    let k = shifted.to_bits().wrapping_sub(INTEGER.to_bits()) as i64;
    let multiple = shifted - INTEGER;
    let power = POWERS[(k & (PARTS as i64 - 1)) as usize];
    let leading = (power >> 64) as i64;
    let r = (x - multiple * PART) - multiple * REST;
    let square = r * r;
    let series = square * (0.5 + r * (1.0 / 6.0))
        + square * square * (1.0 / 24.0 + r * (1.0 / 120.0) + square * (1.0 / 720.0));
    let rest = nearest_integer(series * (leading as f64 * UNIT));
    let (negative, m, e) = parts(x);
    // In units of 2⁻⁷¹ modulo 2⁶⁴, which is enough for r.
    let magnitude = ((u128::from(m) << ((e + 54) & 63)) >> 35) as i64;
    let x = if negative { magnitude.wrapping_neg() } else { magnitude };
    // (ln 2)/128 in these units is ln 2 in units of 2⁻⁶⁴. Its second word, read as a signed one, is smaller by 2⁶⁴, so
    // the first is larger by 1.
    let multiple = k.wrapping_mul(LN_2[7].wrapping_add(1) as i64).wrapping_add(high(k, LN_2[6] as i64));
    let product = i128::from(leading) * i128::from(x.wrapping_sub(multiple));
    let sum = power.wrapping_add_signed(product >> 7).wrapping_add_signed(i128::from(rest) << (126 - 68));
    (sum, k >> PARTS.ilog2())
}

/// ln 2 minus the `f64` nearest to it.
const BEYOND_LN_2: f64 = 2.319_046_813_846_299_6e-17;

/// [`round`] of e^x − 1, for x in [2⁻⁵, 710) and (−708, −2⁻⁵].
///
/// # Accuracy
/// The error of e^x, or of 1 − e^x where e^x − 1 is negative and e^x is shifted, plus one unit for each shift.
#[inline(always)]
fn quick_exp_m1(x: f64) -> Result<f64, f64> {
    const ONE: u128 = 1 << 126;
    let (significand, exponent) = quick(x);
    if exponent >= 0 {
        // Beyond this, the 1 is less than a unit.
        let one = ONE.checked_shr(exponent as u32).unwrap_or(0);
        round(false, significand - one, exponent, QUICK_ERROR + 1)
    } else {
        let magnitude = ONE - significand.checked_shr(exponent.unsigned_abs() as u32).unwrap_or(0);
        round(true, magnitude, 0, QUICK_ERROR + 1)
    }
}

/// Below this magnitude e^x − 1 is computed as a series.
const SMALL: f64 = 1.0 / 32.0;

/// [`round`] of e^x − 1 = x(1 + u), u = x/2! + x²/3! + … + x⁹/10!, for |x| in [2⁻⁵⁴, 2⁻⁵); the terms from the third on
/// come from `f64`s.
///
/// # Accuracy
/// In units of 2⁻⁶⁸: x is cut off by one, of which u has 0.51; x/2 is cut off by one, x²/6 by one and 2⁻⁵; the other
/// terms are less than 2⁻¹⁹, within 0.01 as `f64`s, and 0.5 from the nearest integer; the terms left out are below
/// 0.01. Together less than 3.1, so that x(1 + u), with x below 2¹²⁶ units, is within 3.1·2⁵⁸ and the cut of the
/// product.
#[inline(always)]
fn quick_small_exp_m1(x: f64) -> Result<f64, f64> {
    const SIXTH: i64 = ((1i128 << 64) / 6) as i64;
    /// 1/(i + 4)!.
    const SERIES: [f64; 7] = [
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
    ];
    let (negative, m, e) = parts(x);
    // The leading bit would be at place 62 for e = −6.
    let magnitude = ((m << 10) >> (-6 - e)) as i64;
    let z = if negative { -magnitude } else { magnitude };
    let rest = nearest_integer(x * x * (x * power_of_two(68)) * polynomial(&SERIES, x));
    // z² is in units of 2⁻⁷².
    let u = (z >> 1) + (high(high(z, z), SIXTH) >> 4) + rest;
    let m = (m << 9) as i64;
    let significand = (i128::from(m) << 64) + ((i128::from(m) * i128::from(u)) >> 4);
    round(negative, significand as u128, e + 1, 7 << 57)
}
