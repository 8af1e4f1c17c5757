//! The Mills ratio R(x) = Q(x)/φ(x) = ∫₀^∞ e^(−xt − t²/2) dt, and its drop
//! R(a) − R(a + r) without cancellation.
//!
//! # Implementation
//! R is completely monotone: around a centre X its Taylor coefficients in u = X − x are all positive, c_k = ∫₀^∞ t^k/k!
//! e^(−Xt − t²/2) dt. So, below the centre, every term of the series and of its divided difference is positive, nothing
//! cancels, and the rounding error of Horner's rule has a short bound. The coefficients are tabulated for the centres
//! −7/8, −6/8, …, 129/8. Beyond 16, with y = 1/x, R = f(y) = y − y³ + 3y⁵ − 15y⁷ + …, whose consecutive partial sums
//! enclose R (they do so under the integral), as do those of f′, hence of every divided difference of f.
//!
//! # Accuracy
//! The error bounds are stated with each function, proved in its comments, and compared with arbitrary precision by the
//! tests. No other crate's function is used: those we know are accurate where they were tested, which is not a bound.

use super::UNIT_ROUNDOFF;
use super::mills_table::{COEFFICIENTS, FIRST_CENTRE, ROWS, SPACING, TERMS};

/// R is tabulated from here; below this, callers reflect with R(−x) = 1/φ(x) − R(x).
pub(super) const LEAST: f64 = -1.0;

/// From here on, the asymptotic series is used.
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

/// The bound on the relative error of [`mills()`], in five units of roundoff.
///
/// The even and the odd terms are summed by Horner's rule in u², each step
/// s ← c + u²·s with the share w ≤ 1/32 of the product: a relative error ρ of s
/// becomes at most w(ρ + 4) + (1 − w) + 1 units, as u² is off by 3 and the product
/// by one more, so ρ ≤ (2 + 3w)/(1 − w) < 2.2. The odd part, with a share of at
/// most 1/4, has two more roundings and the sum one: less than 3.7 in all.
/// Truncation adds 0.1. Half a unit in the caller's x adds |x·R′/R| times half a
/// unit of x over x: less than 1 for x > 0 and, half a unit being less there, for
/// −1 < x < 0; at x = −1, where it adds 1.3, u is exact. The asymptotic series has
/// less: 1 for y, 1.6 for p, whose last rounding is half a unit as p < 1, 1 for
/// their product and 1 for x.
pub(super) const MILLS_ERROR: f64 = 5.0 * UNIT_ROUNDOFF;

/// R(x) for x ≥ −1, within [`MILLS_ERROR`], even if x is off by half a unit in the last place.
#[inline]
pub(super) fn mills(x: f64) -> f64 {
    if x >= ASYMPTOTIC {
        let y = 1.0 / x;
        return y * asymptotic(y * y, y * y).0;
    }
    let (centre, coefficients) = row_above(x);
    let u = centre - x;
    let square = u * u;
    let (mut even, mut odd) = (0.0, 0.0);
    for pair in coefficients[..VALUE_TERMS].chunks_exact(2).rev() {
        even = even * square + pair[0];
        odd = odd * square + pair[1];
    }
    even + u * odd
}

/// R(a) − R(a + r) for a ≥ −1, r > 0, even if a is off by half a unit in the last place.
#[inline]
pub(super) fn mills_drop(a: f64, r: f64) -> Approximate {
    let b = a + r;
    if a >= ASYMPTOTIC {
        // f(y) − f(z) = (y − z)·[p(y²) + z(y + z)·p[y², z²]] with f(y) = y·p(y²)
        // and y − z = r·y·z. The bracket is within 1 % of 1; it and the five
        // products and quotients around it are off by 8 units together, and an
        // error of half a unit in a by two more.
        let (y, z) = (1.0 / a, 1.0 / b);
        let (p, slope) = asymptotic(y * y, z * z);
        // r·y is computed first: an underflow here affects the result itself, not a factor that r would enlarge.
        let value = r * y * z * (p + z * (y + z) * slope);
        return Approximate { value, relative_error: 12.0 * UNIT_ROUNDOFF };
    }
    if r <= SPACING {
        // Both ends lie at most 1/4 below one centre: the divided difference of
        // the series, all terms positive. A value at β² is off by 2.2 units as
        // above; a difference, whose step has the share v ≤ 1/5 of the product,
        // by (1 + 2.2(1 − v) + 2v)/(1 − v) < 4; their sum, with a share of at most
        // 1/4 of the odd one, by 5.5, and times α + β by 8.5; with a share of at
        // most 1/2 of that in the whole, by 6.4. The product with r, truncation
        // (2⁻⁵⁵), the rounding of b and half a unit in a add at most 6.
        let (centre, coefficients) = row_above(b);
        let (alpha, beta) = (centre - a, centre - b);
        let (alpha_square, beta_square) = (alpha * alpha, beta * beta);
        let (mut even, mut odd) = (Divided::default(), Divided::default());
        for pair in coefficients.chunks_exact(2).rev() {
            even.step(alpha_square, beta_square, pair[0]);
            odd.step(alpha_square, beta_square, pair[1]);
        }
        let difference = odd.value + (alpha + beta) * (even.difference + alpha * odd.difference);
        return Approximate { value: r * difference, relative_error: 14.0 * UNIT_ROUNDOFF };
    }
    // Far enough apart to subtract: each value is within its own error, the
    // difference is rounded once, and an error of half a unit in a, which moves
    // both ends together, adds two units.
    let (above, below) = (mills(a), mills(b));
    let value = above - below;
    let relative_error = UNIT_ROUNDOFF * 4.0 + (MILLS_ERROR * 1.01) * (above + below) / value;
    Approximate { value, relative_error }
}

/// The smallest centre at or above `x ∈ [−1, 16.125]` and its coefficients.
#[inline]
fn row_above(x: f64) -> (f64, &'static [f64; TERMS]) {
    // Exact, as the spacing is a power of two; a conversion to an integer is faster than ceil, for which older
    // processors have no instruction.
    let steps = x / SPACING;
    let truncated = steps as i32;
    let above = truncated + i32::from(f64::from(truncated) < steps);
    let row = (above - (FIRST_CENTRE / SPACING) as i32).max(0) as usize;
    // The row is within the table for every x of the domain; the bound only avoids a panic.
    let row = row.min(ROWS - 1);
    (FIRST_CENTRE + SPACING * row as f64, &COEFFICIENTS[row])
}

/// p(w) and the divided difference p[w, v] of p(w) = Σ (−1)^k (2k − 1)!! w^k,
/// for 0 ≤ v ≤ w ≤ 1/256.
///
/// Consecutive partial sums of p, and of (w ↦ f′), enclose the value; the first omitted term is below (2·15 +
/// 1)!!/256¹⁵ < 2⁻⁶².
fn asymptotic(w: f64, v: f64) -> (f64, f64) {
    const SIGNED_DOUBLE_FACTORIALS: [f64; 16] = {
        let mut c = [1.0; 16];
        let mut k = 1;
        while k < 16 {
            c[k] = -c[k - 1] * (2 * k - 1) as f64;
            k += 1;
        }
        c
    };
    let (w_square, v_square) = (w * w, v * v);
    let (mut even, mut odd) = (Divided::default(), Divided::default());
    for pair in SIGNED_DOUBLE_FACTORIALS.chunks_exact(2).rev() {
        even.step(v_square, w_square, pair[0]);
        odd.step(v_square, w_square, pair[1]);
    }
    let sum = even.value + w * odd.value;
    let difference = odd.value + (v + w) * (even.difference + v * odd.difference);
    (sum, difference)
}

/// Horner's rule for a polynomial at β and its divided difference between α and β.
///
/// A series is split into its even and odd parts, E(u²) + u·O(u²), whose recurrences run in parallel; the divided
/// difference of the whole is O(β²) + (α + β)·(E[α², β²] + α·O[α², β²]).
#[derive(Clone, Copy, Default)]
struct Divided {
    value: f64,
    difference: f64,
}

impl Divided {
    #[inline]
    fn step(&mut self, alpha: f64, beta: f64, coefficient: f64) {
        self.difference = self.difference * alpha + self.value;
        self.value = self.value * beta + coefficient;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin_reference::{Real, mills as true_mills, mills_taylor};

    const BITS: usize = 256;

    fn centres() -> impl Iterator<Item = (f64, &'static [f64; TERMS])> {
        COEFFICIENTS.iter().enumerate().map(|(row, c)| (FIRST_CENTRE + row as f64 * SPACING, c))
    }

    #[test]
    fn every_coefficient_of_the_table_is_the_nearest_float() {
        for (centre, coefficients) in centres() {
            let truth = mills_taylor(centre, TERMS);
            let rounded: Vec<f64> = truth.iter().map(Real::to_f64).collect();
            assert_eq!(rounded, coefficients, "around {centre}");
        }
    }

    /// The largest share of the product in a step of Horner's rule for every second coefficient, and the result of the
    /// rule.
    fn horner(coefficients: &[f64], from: usize, square: f64) -> (f64, f64) {
        let terms = coefficients[from..].iter().step_by(2).rev();
        terms.fold((0.0, 0.0), |(share, sum): (f64, f64), c| {
            let product = sum * square;
            (share.max(product / (product + c)), product + c)
        })
    }

    #[test]
    fn the_terms_of_a_value_have_the_shares_that_the_bound_assumes() {
        for (centre, coefficients) in centres() {
            let used = &coefficients[..VALUE_TERMS];
            let ((even_share, even), (odd_share, odd)) =
                (horner(used, 0, SPACING * SPACING), horner(used, 1, SPACING * SPACING));
            assert!(even_share.max(odd_share) <= 1.0 / 32.0, "around {centre}");
            assert!(SPACING * odd <= 0.25 * (even + SPACING * odd), "around {centre}");
        }
    }

    #[test]
    fn the_terms_of_a_difference_have_the_shares_that_the_bound_assumes() {
        for (centre, coefficients) in centres() {
            for (i, j) in (0..=16).flat_map(|i| (0..=i.min(8)).map(move |j| (i, j))) {
                let (alpha, beta) = (f64::from(i) / 64.0, f64::from(j) / 64.0);
                let place = format!("around {centre}, {alpha}, {beta}");
                let mut parts = [Divided::default(); 2];
                for (index, &c) in coefficients.iter().enumerate().rev() {
                    let part = &mut parts[index % 2];
                    let product = part.difference * (alpha * alpha);
                    assert!(product <= 0.2 * (product + part.value), "{place}");
                    part.step(alpha * alpha, beta * beta, c);
                }
                let [even, odd] = parts;
                let inner = even.difference + alpha * odd.difference;
                assert!(alpha * odd.difference <= 0.25 * inner, "{place}");
                assert!((alpha + beta) * inner <= 0.5 * (odd.value + (alpha + beta) * inner), "{place}");
            }
        }
    }

    #[test]
    fn what_the_series_leave_out_is_as_small_as_the_bounds_assume() {
        for (centre, coefficients) in centres().step_by(8) {
            let all: Vec<f64> = mills_taylor(centre, 40).iter().map(Real::to_f64).collect();
            let rest = |from: usize, term: &dyn Fn(usize) -> f64| (from..40).map(term).sum::<f64>();
            let of_value = rest(VALUE_TERMS, &|k| all[k] * SPACING.powi(k as i32));
            assert!(of_value < 2f64.powi(-57) * coefficients[0], "around {centre}");
            let of_drop = rest(TERMS, &|k| k as f64 * all[k] * (2.0 * SPACING).powi(k as i32 - 1));
            assert!(of_drop < 2f64.powi(-55) * coefficients[1], "around {centre}");
        }
        let double_factorial = (1..=15).map(|k| f64::from(2 * k + 1)).product::<f64>();
        assert!(double_factorial / 256f64.powi(15) < 2f64.powi(-62));
    }

    /// `x` and the numbers half a unit in the last place from it.
    fn half_units_around(x: f64) -> [Real; 3] {
        let here = Real::from_f64(x, BITS);
        [
            (&here + Real::from_f64(x.next_down(), BITS)) / 2,
            (&here + Real::from_f64(x.next_up(), BITS)) / 2,
            here,
        ]
    }

    /// |value − truth|/truth in units of 2⁻⁵³.
    fn units(value: f64, truth: &Real) -> f64 {
        ((Real::from_f64(value, BITS) - truth).abs() / truth).to_f64() / UNIT_ROUNDOFF
    }

    /// `count` numbers that fill `[from, to]` evenly without being round.
    fn spread(count: u32, from: f64, to: f64) -> impl Iterator<Item = f64> {
        (1..=count).map(move |n| from + (to - from) * (f64::from(n) * 0.618_033_988_749_894_8).fract())
    }

    #[test]
    fn mills_is_within_its_error_also_half_a_unit_away() {
        let mut worst = 0f64;
        for x in spread(20_000, LEAST, 17.0).chain(spread(2_000, 16.0, 1e3)) {
            for truth in half_units_around(x) {
                worst = worst.max(units(mills(x), &true_mills(&truth)));
            }
        }
        println!("mills: within {worst:.2} units");
        assert!(worst * UNIT_ROUNDOFF <= MILLS_ERROR, "{worst} units");
    }

    #[test]
    fn mills_drop_is_within_its_error_also_half_a_unit_away() {
        let mut worst = 0f64;
        for (a, r) in spread(6_000, LEAST, 18.0).zip(spread(6_000, -18.0, 2.0).map(f64::exp)) {
            let drop = mills_drop(a, r);
            for near in half_units_around(a) {
                let truth = true_mills(&near) - true_mills(&(&near + Real::from_f64(r, BITS)));
                worst = worst.max(units(drop.value, &truth) * UNIT_ROUNDOFF / drop.relative_error);
            }
        }
        println!("mills_drop: within {worst:.2} of its bound");
        assert!(worst <= 1.0, "{worst}");
    }
}
