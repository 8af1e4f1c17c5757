//! Directed rounding on a machine that only rounds to nearest.
//!
//! An operation is performed once in `f64`, and the sign of its rounding error, which is computed exactly by an
//! error-free transformation, tells on which side the true result lies. The bound is then moved by one unit in the last
//! place or not at all, so `1 + 1` stays `2`. Where the error itself may underflow, the bound is always moved.
//!
//! Every function here takes numbers for which the operation is defined: no
//! NaN, no ∞ − ∞, 0·∞, 0/0 or ∞/∞.

/// Below this magnitude the rounding error of a product, a quotient or a root
/// may not be a normal number, so its sign cannot be trusted.
const ERROR_MAY_UNDERFLOW: f64 = f64::MIN_POSITIVE * (1u64 << 63) as f64;

/// A lower bound on `a + b` (never −0), off by less than one unit in the last place.
///
/// ```
/// use dobrushin::numeric::rounding::{add_down, add_up};
///
/// // 0.1 + 0.2 is no `f64`: it lies between two neighbours. 1 + 1 is one.
/// assert_eq!(add_down(0.1, 0.2).next_up(), add_up(0.1, 0.2));
/// assert_eq!(add_down(1.0, 1.0), 2.0);
/// ```
pub fn add_down(a: f64, b: f64) -> f64 {
    0.0 - add_up(-a, -b)
}

/// An upper bound on `a + b`, off by less than one unit in the last place.
///
/// ```
/// use dobrushin::numeric::rounding::add_up;
///
/// // What is far too small to show still counts.
/// assert_eq!(add_up(1.0, 1e-300), 1_f64.next_up());
/// assert_eq!(add_up(1.0, 1.0), 2.0);
/// ```
pub fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum.is_infinite() {
        let exact = a.is_infinite() || b.is_infinite();
        return if exact || sum > 0.0 { sum } else { f64::MIN };
    }
    // A NaN error (overflow inside the transformation) also moves the bound.
    let (_, error) = two_sum(a, b);
    if error <= 0.0 { sum } else { sum.next_up() }
}

/// `(s, e)` with `s = fl(a + b)` and `s + e = a + b` exactly (Knuth).
///
/// ```
/// use dobrushin::numeric::rounding::two_sum;
///
/// assert_eq!(two_sum(1.0, 1e-300), (1.0, 1e-300));
/// ```
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_seen = sum - a;
    let a_seen = sum - b_seen;
    (sum, (a - a_seen) + (b - b_seen))
}

/// `(p, e)` with `p = fl(a · b)` and `p + e = a · b` exactly, if the product is
/// finite and at least 2⁻⁹⁵⁹ in magnitude, or 0.
///
/// Dekker's product of halves is used: not every platform has a fused multiply-add, and where the processor's baseline
/// has none, a call costs more.
///
/// ```
/// use dobrushin::numeric::rounding::two_product;
///
/// // (1 + u)² = 1 + 2u + u² for u = 2⁻⁵²: the square does not fit, and is the error.
/// let u = f64::EPSILON;
/// assert_eq!(two_product(1.0 + u, 1.0 + u), (1.0 + 2.0 * u, u * u));
/// ```
#[inline]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    if a.abs() > LARGEST_TO_SPLIT || b.abs() > LARGEST_TO_SPLIT || product.abs() > LARGEST_TO_SPLIT {
        // The larger factor, shrunk by a power of two, is still large.
        let (large, small) = if a.abs() > b.abs() { (a, b) } else { (b, a) };
        let shrunk = large * SHRINKAGE;
        return (product, product_error(shrunk, small, product * SHRINKAGE) / SHRINKAGE);
    }
    (product, product_error(a, b, product))
}

/// Beyond this the products of halves may overflow.
const LARGEST_TO_SPLIT: f64 = 1e290;

/// A power of two.
const SHRINKAGE: f64 = 1.0 / ((1u128 << 100) as f64 * (1u128 << 100) as f64);

/// a·b − product, for the rounded product.
#[inline]
fn product_error(a: f64, b: f64, product: f64) -> f64 {
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
}

/// A number as the sum of two numbers with half as many digits (Veltkamp).
#[inline]
fn halves(x: f64) -> (f64, f64) {
    let shifted = 134_217_729.0 * x;
    let high = shifted - (shifted - x);
    (high, x - high)
}

/// A lower bound on `a · b`.
///
/// ```
/// use dobrushin::numeric::rounding::{mul_down, mul_up};
///
/// assert_eq!(mul_down(0.1, 0.1).next_up(), mul_up(0.1, 0.1));
/// assert_eq!(mul_down(1.5, 2.0), 3.0);
/// ```
pub fn mul_down(a: f64, b: f64) -> f64 {
    0.0 - mul_up(-a, b)
}

/// An upper bound on `a · b`.
///
/// ```
/// use dobrushin::numeric::rounding::mul_up;
///
/// // An underflow is no 0.
/// assert!(mul_up(1e-300, 1e-300) > 0.0);
/// assert_eq!(mul_up(1.5, 2.0), 3.0);
/// ```
pub fn mul_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    let (product, error) = two_product(a, b);
    if product.is_infinite() {
        let exact = a.is_infinite() || b.is_infinite();
        return if exact || product > 0.0 { product } else { f64::MIN };
    }
    if product.abs() < ERROR_MAY_UNDERFLOW {
        // A negative product that rounds to −0 is below 0.
        return if product == 0.0 && (a < 0.0) != (b < 0.0) { 0.0 } else { product.next_up() };
    }
    if error <= 0.0 { product } else { product.next_up() }
}

/// A lower bound on `a / b`, for `b ≠ 0`.
///
/// ```
/// use dobrushin::numeric::rounding::{div_down, div_up};
///
/// assert_eq!(div_down(1.0, 3.0).next_up(), div_up(1.0, 3.0));
/// assert_eq!(div_down(1.0, 4.0), 0.25);
/// ```
pub fn div_down(a: f64, b: f64) -> f64 {
    0.0 - div_up(-a, b)
}

/// An upper bound on `a / b`, for `b ≠ 0`.
///
/// ```
/// use dobrushin::numeric::rounding::{div_up, mul_up};
///
/// // Three thirds that were rounded up are at least 1.
/// assert!(mul_up(3.0, div_up(1.0, 3.0)) >= 1.0);
/// assert_eq!(div_up(1.0, 4.0), 0.25);
/// ```
pub fn div_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b.is_infinite() {
        return 0.0;
    }
    let quotient = a / b;
    if quotient.is_infinite() {
        return if a.is_infinite() || quotient > 0.0 { quotient } else { f64::MIN };
    }
    if a.abs() < ERROR_MAY_UNDERFLOW || quotient.abs() < ERROR_MAY_UNDERFLOW {
        return if quotient == 0.0 && (a < 0.0) != (b < 0.0) { 0.0 } else { quotient.next_up() };
    }
    // a − quotient·b has the sign of (a/b − quotient)·b.
    let remainder = remainder(a, quotient, b);
    let true_is_above = if b > 0.0 { remainder > 0.0 } else { remainder < 0.0 };
    if true_is_above { quotient.next_up() } else { quotient }
}

/// x − a·b with the right sign, for a·b within a few units of x: the first
/// difference is exact.
fn remainder(x: f64, a: f64, b: f64) -> f64 {
    // The product of rounded factors may overflow where x does not; scaling by a power of two keeps the sign.
    let scale = if x.abs() > LARGEST_TO_SPLIT { SHRINKAGE } else { 1.0 };
    let (x, a) = (x * scale, a * scale);
    let (product, error) = two_product(a, b);
    (x - product) - error
}

/// A lower bound on `√x`, for `x ≥ 0`.
///
/// ```
/// use dobrushin::numeric::rounding::{sqrt_down, sqrt_up};
///
/// assert_eq!(sqrt_down(2.0).next_up(), sqrt_up(2.0));
/// assert_eq!(sqrt_down(9.0), 3.0);
/// ```
pub fn sqrt_down(x: f64) -> f64 {
    let root = x.sqrt();
    if x == 0.0 || x.is_infinite() {
        root
    } else if x < ERROR_MAY_UNDERFLOW || remainder(x, root, root) < 0.0 {
        root.next_down()
    } else {
        root
    }
}

/// An upper bound on `√x`, for `x ≥ 0`.
///
/// ```
/// use dobrushin::numeric::rounding::{mul_up, sqrt_up};
///
/// assert!(mul_up(sqrt_up(2.0), sqrt_up(2.0)) >= 2.0);
/// assert_eq!(sqrt_up(9.0), 3.0);
/// ```
pub fn sqrt_up(x: f64) -> f64 {
    let root = x.sqrt();
    if x == 0.0 || x.is_infinite() {
        root
    } else if x < ERROR_MAY_UNDERFLOW || remainder(x, root, root) > 0.0 {
        root.next_up()
    } else {
        root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin_reference::{Real, is_inside};

    /// Numbers of every size and sign, round and otherwise.
    fn numbers() -> Vec<f64> {
        let sizes = [
            0.0,
            5e-324,
            1e-310,
            f64::MIN_POSITIVE,
            1e-290,
            1e-154,
            1e-16,
            0.1,
            1.0,
            3.0,
            7e15,
            1e154,
            1e300,
        ];
        let mut all: Vec<f64> = sizes.iter().flat_map(|&x| [x, x.next_up(), x * 1.7, x * 5.1]).collect();
        all.extend([f64::MAX, f64::MAX.next_down()]);
        all.iter().flat_map(|&x| [x, -x]).collect()
    }

    #[test]
    fn the_directed_operations_bound_the_exact_result_for_every_sign() {
        for (a, b) in numbers().into_iter().flat_map(|a| numbers().into_iter().map(move |b| (a, b))) {
            let (x, y) = (Real::from_f64(a, 2240), Real::from_f64(b, 2240));
            assert!(is_inside(add_down(a, b), add_up(a, b), &(&x + &y)), "{a:e} + {b:e}");
            assert!(is_inside(mul_down(a, b), mul_up(a, b), &(&x * &y)), "{a:e} · {b:e}");
            if b != 0.0 {
                assert!(is_inside(div_down(a, b), div_up(a, b), &(&x / &y)), "{a:e} / {b:e}");
            }
            let (sum, error) = two_sum(a, b);
            assert!(!sum.is_finite() || Real::from_f64(sum, 2240) + Real::from_f64(error, 2240) == x + y);
        }
        for x in numbers().into_iter().filter(|&x| x >= 0.0) {
            assert!(is_inside(sqrt_down(x), sqrt_up(x), &Real::from_f64(x, 256).sqrt()), "√{x:e}");
        }
    }

    #[test]
    fn the_error_of_a_product_is_exact_where_it_does_not_underflow() {
        for (a, b) in numbers().into_iter().flat_map(|a| numbers().into_iter().map(move |b| (a, b))) {
            let (product, error) = two_product(a, b);
            if product.is_finite() && product.abs() >= ERROR_MAY_UNDERFLOW {
                let parts = Real::from_f64(product, 256) + Real::from_f64(error, 256);
                assert!(parts == Real::from_f64(a, 256) * Real::from_f64(b, 256), "{a:e} · {b:e}");
            }
        }
    }
}
