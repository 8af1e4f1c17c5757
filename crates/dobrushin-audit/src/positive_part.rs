//! The integral of the positive part of a polynomial.

use crate::mixture::UNIT;
use crate::taylor::{Polynomial, TERMS, integral_to, size, value, zoomed};
use dobrushin::numeric::elementary::powi;

/// A piece is halved at most this often.
const DEEPEST: u32 = 50;

/// A rounding allowance for [`positive_part`], relative to Σ|p_k|: a zoom costs 4·TERMS units, a
/// sum of its terms or an integral 3·TERMS more, and the interval has length 2.
pub(crate) const ROUNDING: f64 = 16.0 * TERMS as f64 * UNIT;

/// Bounds on ∫₋₁¹ max(p, 0), each right to within [`ROUNDING`]·Σ|p_k|. Pieces whose integral is certainly below
/// `negligible` are not examined.
///
/// # Guarantee
/// On a piece where the constant term outweighs the rest, p has one sign. Where the linear term
/// of p′ outweighs the rest, p is monotone, |p′| ≥ m, and changes sign at most once: for *any*
/// t, integrating on the positive side of t gives a lower bound, short of the truth by at most
/// p(t)²/m. Other pieces are halved. A perturbation of p by ε changes the integral by at most
/// 2ε, so rounding errors of the zoomed polynomials add up to no more than stated.
pub(crate) fn positive_part(p: &Polynomial, negligible: f64) -> [f64; 2] {
    let mut search = Search { p, negligible, bounds: [0.0; 2] };
    search.look(0.0, 1.0, 0);
    search.bounds
}

struct Search<'a> {
    p: &'a Polynomial,
    negligible: f64,
    bounds: [f64; 2],
}

impl Search<'_> {
    /// Adds the bounds for [middle − half, middle + half].
    fn look(&mut self, middle: f64, half: f64, depth: u32) {
        let q = zoomed(self.p, middle, half);
        let total = size(&q);
        let rest = total - q[0].abs();
        let mut add = |lower: f64, upper: f64| {
            self.bounds[0] += half * lower;
            self.bounds[1] += half * upper;
        };
        if q[0] <= -rest {
            return;
        }
        if q[0] >= rest {
            let whole = integral_to(&q, 1.0);
            return add(whole, whole);
        }
        if 2.0 * half * total <= self.negligible || depth == DEEPEST {
            return add(integral_to(&q, 1.0).max(0.0), 2.0 * total);
        }
        let bends: f64 = q.iter().enumerate().skip(2).map(|(k, term)| k as f64 * term.abs()).sum();
        let slope = q[1].abs() - bends;
        if slope > 1e-3 * q[1].abs() {
            let root = root_of_monotone(&q);
            let (left, whole) = (integral_to(&q, root), integral_to(&q, 1.0));
            let found = if q[1] > 0.0 { whole - left } else { left };
            // There is no root inside: the end is the best cut, and the sign is right everywhere.
            let missed = if root.abs() == 1.0 { 0.0 } else { powi(value(&q, root), 2) / (0.999 * slope) };
            return add(found, found + missed);
        }
        self.look(middle - half / 2.0, half / 2.0, depth + 1);
        self.look(middle + half / 2.0, half / 2.0, depth + 1);
    }
}

/// Nearly the point where a monotone polynomial changes sign in [−1, 1]; otherwise, the end beyond which it would.
fn root_of_monotone(q: &Polynomial) -> f64 {
    let rising = q[1] > 0.0;
    let is_right = |t: f64| (value(q, t) > 0.0) == rising;
    if is_right(-1.0) {
        return -1.0;
    }
    if !is_right(1.0) {
        return 1.0;
    }
    let (mut left, mut right, mut t) = (-1.0, 1.0, 0.0);
    for _ in 0..60 {
        let at = value(q, t);
        if (at > 0.0) == rising {
            right = t;
        } else {
            left = t;
        }
        let slope: f64 =
            q.iter().enumerate().skip(1).rev().fold(0.0, |sum, (k, term)| sum * t + k as f64 * term);
        let next = t - at / slope;
        let next = if left < next && next < right { next } else { f64::midpoint(left, right) };
        if (next - t).abs() <= 1e-15 {
            return next;
        }
        t = next;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::numeric::Random;

    /// The integral by a very fine Riemann sum between the sign changes that a scan finds.
    fn by_brute_force(p: &Polynomial) -> f64 {
        let n = 200_000;
        let at = |i: usize| value(p, -1.0 + 2.0 * (i as f64 + 0.5) / n as f64).max(0.0);
        (0..n).map(at).sum::<f64>() * 2.0 / n as f64
    }

    fn polynomial(roots: &[f64], factor: f64) -> Polynomial {
        let mut p = [0.0; TERMS];
        p[0] = factor;
        for root in roots {
            for k in (0..TERMS).rev() {
                p[k] = if k > 0 { p[k - 1] } else { 0.0 } - root * p[k];
            }
        }
        p
    }

    #[test]
    fn the_positive_part_of_polynomials_with_any_roots_is_found() {
        let mut random = Random::new(5);
        for case in 0..60 {
            let mut roots: Vec<f64> = (0..random.below(6)).map(|_| random.between(-1.2, 1.2)).collect();
            if case % 3 == 0 && !roots.is_empty() {
                // These have a double root, a near-double one, and roots at the ends.
                roots.push(roots[0]);
                roots.push(roots[0] + 1e-7);
                roots.push(1.0);
            }
            let p = polynomial(&roots, random.between(-1.0, 1.0));
            let [lower, upper] = positive_part(&p, UNIT * size(&p));
            let slack = ROUNDING * size(&p);
            assert!(upper - lower <= slack, "{roots:?}: {lower} to {upper}");
            let truth = by_brute_force(&p);
            assert!((lower - truth).abs() < 1e-8 * size(&p), "{roots:?}: {lower} instead of {truth}");
        }
    }

    #[test]
    fn polynomials_that_are_zero_or_of_one_sign_are_exact() {
        assert_eq!(positive_part(&[0.0; TERMS], 0.0), [0.0, 0.0]);
        let mut square = [0.0; TERMS];
        (square[0], square[2]) = (1.0, 1.0);
        let [lower, upper] = positive_part(&square, 0.0);
        assert!((lower - 8.0 / 3.0).abs() < 1e-15 && lower == upper);
        square[0] = -1.5;
        assert_eq!(positive_part(&square, 0.0), [0.0, 0.0]);
    }
}
