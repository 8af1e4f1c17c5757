//! The Mills ratio R(x) = Q(x)/φ(x) = ∫₀^∞ e^(−xt − t²/2) dt, and its drop
//! R(a) − R(a + r) without cancellation.
//!
//! # Implementation
//! R is completely monotone: around a centre X its Taylor coefficients in
//! u = X − x are all positive, c_k = ∫₀^∞ t^k/k! e^(−Xt − t²/2) dt. So, below
//! the centre, every term of the series and of its divided difference is
//! positive, nothing cancels, and the rounding error of Horner's rule has a
//! bound that fits on a line. The coefficients stand in a table for the
//! centres −7/8, −6/8, …, 129/8. Beyond 16, with y = 1/x,
//! R = f(y) = y − y³ + 3y⁵ − 15y⁷ + …, whose partial sums enclose R in turn
//! (they do so under the integral), and so do those of f′, hence of every
//! divided difference of f.
//!
//! # Accuracy
//! Stated with each function, proved in its comments, and compared with
//! arbitrary precision by the tests. No other crate's function is used: those
//! we know are accurate where they were tried, which is no bound.

use super::UNIT_ROUNDOFF;
use super::mills_table::{COEFFICIENTS, FIRST_CENTRE, ROWS, SPACING, TERMS};

/// R is tabulated from here; below, callers reflect with R(−x) = 1/φ(x) − R(x).
pub(super) const LEAST: f64 = -1.0;

/// From here on the asymptotic series is used.
const ASYMPTOTIC: f64 = 16.0;

/// Terms of the series for one value of R: u ≤ 1/8, the first term left out is
/// below 2⁻⁵⁷ R.
const VALUE_TERMS: usize = 14;

/// An approximation with a bound on its relative error.
#[derive(Clone, Copy)]
pub(super) struct Approximate {
    pub value: f64,
    pub relative_error: f64,
}

/// The bound on the relative error of [`mills`].
///
/// Horner's step s ← c + u·s has, with w = u·s/(c + u·s) ≤ 1/4 the share of the
/// product, a relative error of at most ρ′ = w(ρ + 1) + (1 − w) + 1 units,
/// so ρ ≤ 2/(1 − w) ≤ 2.7; truncation, the rounding of u and that of the
/// caller's x to f64 add less than 1. The asymptotic series has fewer.
pub(super) const MILLS_ERROR: f64 = 4.0 * UNIT_ROUNDOFF;

/// R(x) for x ≥ −1, within [`MILLS_ERROR`], also if x is off by half a unit in
/// the last place.
pub(super) fn mills(x: f64) -> f64 {
    if x >= ASYMPTOTIC {
        let y = 1.0 / x;
        return y * asymptotic(y * y, y * y).0;
    }
    let (centre, coefficients) = row_above(x);
    let u = centre - x;
    coefficients[..VALUE_TERMS].iter().rev().fold(0.0, |sum, c| sum * u + c)
}

/// R(a) − R(a + r) for a ≥ −1, r > 0, also if a is off by half a unit in the
/// last place.
pub(super) fn mills_drop(a: f64, r: f64) -> Approximate {
    let b = a + r;
    if a >= ASYMPTOTIC {
        // f(y) − f(z) = (y − z)·[p(y²) + z(y + z)·p[y², z²]] with f(y) = y·p(y²)
        // and y − z = r·y·z. The bracket is within 1 % of 1; it and the five
        // products and quotients around it are off by 8 units together, and an
        // error of half a unit in a by two more.
        let (y, z) = (1.0 / a, 1.0 / b);
        let (p, slope) = asymptotic(y * y, z * z);
        let value = r * (y * z) * (p + z * (y + z) * slope);
        return Approximate { value, relative_error: 12.0 * UNIT_ROUNDOFF };
    }
    if r <= SPACING {
        // Both ends lie at most 1/4 below one centre: Horner's rule for the
        // divided difference, d ← d·α + s, s ← s·β + c, all terms positive.
        // s is off by at most 2/(1 − w) ≤ 3.2 units as above (w ≤ 3/8), and d,
        // whose product has the share v ≤ 5/8, by (1 + v)/(1 − v) + 3.2 < 8.
        // Truncation (2⁻⁵⁵), the roundings of α and β, the final product and
        // an error of half a unit in a add at most 5.
        let (centre, coefficients) = row_above(b);
        let (alpha, beta) = (centre - a, centre - b);
        let (mut sum, mut difference) = (0.0, 0.0);
        for c in coefficients.iter().rev() {
            difference = difference * alpha + sum;
            sum = sum * beta + c;
        }
        return Approximate { value: r * difference, relative_error: 14.0 * UNIT_ROUNDOFF };
    }
    // Far enough apart to subtract: each value is within its own error.
    let (above, below) = (mills(a), mills(b));
    let value = above - below;
    let relative_error = UNIT_ROUNDOFF * 2.0 + (MILLS_ERROR * 1.01) * (above + below) / value;
    Approximate { value, relative_error }
}

/// The smallest centre at or above `x ∈ [−1, 16.125]` and its coefficients.
fn row_above(x: f64) -> (f64, &'static [f64; TERMS]) {
    // Exact: the spacing is a power of two.
    let centre = ((x / SPACING).ceil() * SPACING).max(FIRST_CENTRE);
    // The row is within the table for every x of the domain; the bound spares
    // a panic, never a row.
    let row = ((centre - FIRST_CENTRE) / SPACING) as usize;
    (centre, &COEFFICIENTS[row.min(ROWS - 1)])
}

/// p(w) and the divided difference p[w, v] of p(w) = Σ (−1)^k (2k − 1)!! w^k,
/// for 0 ≤ v ≤ w ≤ 1/256.
///
/// The partial sums of p, and of (w ↦ f′), enclose the value in turn; the first
/// term left out is below (2·15 + 1)!!/256¹⁵ < 2⁻⁶².
fn asymptotic(w: f64, v: f64) -> (f64, f64) {
    const SIGNED_DOUBLE_FACTORIALS: [f64; 15] = {
        let mut c = [1.0; 15];
        let mut k = 1;
        while k < 15 {
            c[k] = -c[k - 1] * (2 * k - 1) as f64;
            k += 1;
        }
        c
    };
    let (mut sum, mut difference) = (0.0, 0.0);
    for c in SIGNED_DOUBLE_FACTORIALS.iter().rev() {
        difference = difference * v + sum;
        sum = sum * w + c;
    }
    (sum, difference)
}
