//! Points of the unit circle.

use super::rounding::round;

/// (cos 2πt, sin 2πt) for t = k/2^`octaves`, k < 2^`octaves`, `octaves` ≤ 60: each within 1/2 + 2⁻³⁰ units in the last
/// place.
///
/// # Accuracy
/// In units of 2⁻¹²⁸, with s = θ² and θ = 2πt ≤ π/4 after reflections, which are exact: θ is within 3, s within 6. A
/// step of Horner's rule errs by less than 4 for its product and coefficient, and by less than 6 for s, whose
/// coefficient is at most 1/2; as s < 0.62, and coefficients shrink by 6 and more, the sums err by less than 16, and
/// both results by less than 2⁵. A sine is at least θ/2, which is at least 2⁻⁶⁰: relatively 2⁻⁶³ at worst; the longest
/// transforms have 2⁻⁸⁹.
pub(crate) fn turn(k: u64, octaves: u32) -> (f64, f64) {
    let eighth = 1u64 << 61;
    // In units of 2⁻⁶⁴ turns.
    let t = k << (64 - octaves);
    // The octant is counted from the nearest multiple of a quarter.
    let quarters = t.wrapping_add(eighth) >> 62;
    let offset = t.wrapping_sub(quarters << 62) as i64;
    let (cosine, sine) = first_octant(offset.unsigned_abs());
    let sine = if offset < 0 { -sine } else { sine };
    match quarters {
        0 => (cosine, sine),
        1 => (0.0 - sine, cosine),
        2 => (-cosine, 0.0 - sine),
        _ => (sine, -cosine),
    }
}

/// The same for t units of 2⁻⁶⁴ turns, t ≤ 2⁶¹.
fn first_octant(t: u64) -> (f64, f64) {
    if t == 0 {
        return (1.0, 0.0);
    }
    /// π in units of 2⁻¹²⁶.
    const PI: u128 = 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1;
    let theta = (((PI >> 64) * u128::from(t)) << 3) + ((u128::from(PI as u64) * u128::from(t)) >> 61);
    let square = product(theta, theta);
    // The alternating series Σ (−1)ⁱ sⁱ/(2i + first)!, minus its first term and divided by −s.
    let series = |first: u32| {
        let step = |sum: u128, i: u32| coefficient(2 * i + first) - product(sum, square);
        (1..=15).rev().fold(0, step)
    };
    let one_less_cosine = product(square, series(0));
    let sine = theta - product(theta, product(square, series(1)));
    let nearest = |value: u128| round(false, value >> 1, -1, 1 << 6).unwrap_or_else(|nearest| nearest);
    (nearest(one_less_cosine.wrapping_neg()), nearest(sine))
}

/// 1/n! in units of 2⁻¹²⁸, rounded down.
fn coefficient(n: u32) -> u128 {
    const COEFFICIENTS: [u128; 32] = {
        let mut coefficients = [u128::MAX; 32];
        let mut n = 1;
        while n < coefficients.len() {
            coefficients[n] = coefficients[n - 1] / n as u128;
            n += 1;
        }
        coefficients
    };
    COEFFICIENTS[n as usize]
}

/// a·b in units of 2⁻¹²⁸, too small by at most 3 of them.
fn product(a: u128, b: u128) -> u128 {
    let (a_high, a_low) = (a >> 64, u128::from(a as u64));
    let (b_high, b_low) = (b >> 64, u128::from(b as u64));
    a_high * b_high + ((a_high * b_low) >> 64) + ((a_low * b_high) >> 64)
}
