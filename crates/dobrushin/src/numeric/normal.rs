//! The standard normal law: Q, Φ, their logarithms and inverses, erfc, scaled
//! erfc, and the Mills ratio, all as enclosures with relative accuracy in the
//! deepest tails.
//!
//! # Accuracy
//! Every function encloses the true value for every `f64` (the tests compare
//! with arbitrary precision, and assert these relative widths):
//!
//! | function | width | where |
//! |---|---|---|
//! | Q, Φ | 4e-15 | Q ≥ 1e-280; 6e-13 from there to the subnormal numbers |
//! | ln Q | 2e-14 | 1 − Q ≥ 1e-280; 6e-13 from there on |
//! | R | 2.5e-15 | x ≥ −1; 6e-13 below, where it grows as e^(x²/2) |
//! | erfc | 5e-16 | erfc ≥ 1e-306 |
//! | scaled erfc | 4e-15 | x ≥ −0.7; 6e-13 below, where it grows as e^(x²) |
//! | Φ⁻¹, Q⁻¹ | 3e-15 | absolutely where the value is in [−1, 1]: 5e-15 |
//!
//! # Implementation
//! Q(x) = φ(x)·R(x) with the Mills ratio R of positive terms only (see the source of `numeric/mills.rs`) and x² stored
//! in two parts, because rounding it would cost x² units in e^(−x²/2). Below x = −1, Q(x) = 1 − Q(−x).

use super::elementary;
use super::enclosure::LEAST_WITHOUT_UNDERFLOW;
use super::mills::{LEAST, MILLS_ERROR, mills};
use super::roots::{newton_hint, root_of_decreasing};
use super::rounding::two_product;
use super::{Enclosure, UNIT_ROUNDOFF};
use crate::Probability;
use crate::numeric::elementary::powi;

/// 1/√(2π), rounded to nearest.
pub(super) const INVERSE_SQRT_2PI: f64 = 0.398_942_280_401_432_677_94;
/// √(2/π), rounded to nearest.
const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_355_88;
/// 1/√π, rounded to nearest.
const INVERSE_SQRT_PI: f64 = 0.564_189_583_547_756_286_95;
/// ln √(2π), rounded to nearest.
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_741_78;
/// √(2π), rounded to nearest.
const SQRT_2PI: f64 = 2.506_628_274_631_000_502_42;

/// Beyond this x²/2, values near the underflow threshold are computed from their logarithm.
pub(super) const NEAR_UNDERFLOW: f64 = 640.0;

/// Squares of larger numbers overflow, or their error term does.
const LARGEST_TO_SQUARE: f64 = 1e150;

/// The upper tail Q(x) = ∫ₓ^∞ φ.
///
/// ```
/// use dobrushin::numeric::normal;
///
/// assert!(normal::tail(0.0).contains(0.5));
/// // The tail beyond five standard deviations is below φ(5)/5.
/// let density = (-12.5_f64).exp() / std::f64::consts::TAU.sqrt();
/// assert!(normal::tail(5.0).upper() < density / 5.0);
/// ```
pub fn tail(x: f64) -> Enclosure {
    if x.is_nan() {
        return Enclosure::ENTIRE;
    }
    if x < LEAST {
        return Enclosure::ONE - tail(-x);
    }
    let (half, low) = half_square_parts(x, 0.0);
    if half <= NEAR_UNDERFLOW {
        // Three units for the weight, one each for the constant and the two
        // products.
        let value = INVERSE_SQRT_2PI * mills(x) * weight(half, low);
        return Enclosure::around(value, MILLS_ERROR + 8.0 * UNIT_ROUNDOFF);
    }
    ln_tail(x).exp()
}

/// The distribution function Φ(x) = Q(−x).
///
/// ```
/// use dobrushin::numeric::normal;
///
/// assert_eq!(normal::cdf(1.0), normal::tail(-1.0));
/// assert!((normal::cdf(1.0) + normal::tail(1.0)).contains(1.0));
/// ```
pub fn cdf(x: f64) -> Enclosure {
    tail(-x)
}

/// ln Q(x), even where Q(x) underflows.
///
/// ```
/// use dobrushin::numeric::normal;
///
/// // Q(100) underflows; its logarithm is below −100²/2.
/// assert!(normal::tail(100.0).upper() < 1e-300 && normal::ln_tail(100.0).upper() < -5000.0);
/// ```
pub fn ln_tail(x: f64) -> Enclosure {
    if x.is_nan() {
        Enclosure::ENTIRE
    } else if x < LEAST {
        (-tail(-x)).ln_1p()
    } else if x == f64::INFINITY {
        -Enclosure::INFINITE
    } else {
        ln_weighted(mills(x), MILLS_ERROR, x, 0.0)
    }
}

/// The Mills ratio R(x) = Q(x)/φ(x).
///
/// ```
/// use dobrushin::numeric::normal;
///
/// // √(π/2) at 0, and about 1/x far out.
/// assert!((normal::mills_ratio(0.0).upper() - std::f64::consts::FRAC_PI_2.sqrt()).abs() < 1e-14);
/// assert!((normal::mills_ratio(1e4).upper() * 1e4 - 1.0).abs() < 1e-7);
/// ```
pub fn mills_ratio(x: f64) -> Enclosure {
    if x.is_nan() {
        Enclosure::ENTIRE
    } else if x < LEAST {
        nearest(SQRT_2PI) * half_square(x, 0.0).exp() - mills_ratio(-x)
    } else if x == f64::INFINITY {
        Enclosure::ZERO
    } else {
        Enclosure::around(mills(x), MILLS_ERROR)
    }
}

/// erfc(x) = 2Q(√2·x).
///
/// ```
/// use dobrushin::numeric::normal;
///
/// assert!(normal::erfc(0.0).contains(1.0));
/// // erfc(x) + erfc(−x) = 2.
/// assert!((normal::erfc(0.7) + normal::erfc(-0.7)).contains(2.0));
/// ```
pub fn erfc(x: f64) -> Enclosure {
    match x {
        0.0 => Enclosure::ONE,
        f64::INFINITY => Enclosure::ZERO,
        f64::NEG_INFINITY => Enclosure::from(2.0),
        _ if x.is_nan() => Enclosure::ENTIRE,
        _ => {
            let value = elementary::erfc(x);
            Enclosure::between(value.next_down().max(0.0), value.next_up().min(2.0))
        }
    }
}

/// The scaled complementary error function e^(x²)·erfc(x) = √(2/π)·R(√2·x).
///
/// ```
/// use dobrushin::numeric::normal;
///
/// // About 1/(x·√π) far out, where erfc itself underflows.
/// assert_eq!(normal::erfc(1e3).lower(), 0.0);
/// assert!((normal::erfcx(1e3).upper() * 1e3 * std::f64::consts::PI.sqrt() - 1.0).abs() < 1e-6);
/// ```
pub fn erfcx(x: f64) -> Enclosure {
    let scaled = x * std::f64::consts::SQRT_2;
    if x.is_nan() {
        Enclosure::ENTIRE
    } else if x == f64::INFINITY {
        Enclosure::ZERO
    } else if x > LARGEST_TO_SQUARE {
        // √2·x may overflow; the next term of the asymptotic series is
        // 1/(2x²) times the first.
        Enclosure::around(INVERSE_SQRT_PI / x, 4.0 * UNIT_ROUNDOFF)
    } else if scaled > LEAST {
        // √2·x is off by up to 1.5 units, which R, whose logarithmic derivative
        // is at most 1.3/max(1, x), turns into 2; the constant and the product
        // add one each.
        Enclosure::around(SQRT_2_OVER_PI * mills(scaled), MILLS_ERROR + 6.0 * UNIT_ROUNDOFF)
    } else {
        let square = half_square(x, 0.0) * Enclosure::from(2.0);
        Enclosure::from(2.0) * square.exp() - erfcx(-x)
    }
}

/// Φ⁻¹(p). At the lower end Φ was checked to be at most p, at the upper end at least p.
///
/// ```
/// use dobrushin::{Probability, numeric::normal};
/// let x = normal::cdf_inverse(Probability::new(0.975)?);
/// assert!(x.lower() > 1.959963984540053 && x.upper() < 1.959963984540056);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn cdf_inverse(p: Probability) -> Enclosure {
    -tail_inverse(p)
}

/// Q⁻¹(q): the x whose upper tail is q.
///
/// ```
/// use dobrushin::{Probability, numeric::normal};
///
/// let x = normal::tail_inverse(Probability::new(1e-10)?);
/// assert!(normal::tail(x.lower()).upper() >= 1e-10 && normal::tail(x.upper()).lower() <= 1e-10);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn tail_inverse(q: Probability) -> Enclosure {
    let q = q.get();
    if q == 0.0 {
        return Enclosure::INFINITE;
    }
    if q == 0.5 {
        return Enclosure::ZERO;
    }
    if q > 0.5 {
        // 1 − q is exact for q in [1/2, 1].
        return Probability::new(1.0 - q).map_or(Enclosure::ENTIRE, |p| -tail_inverse(p));
    }
    let ln_q = libm::log(q);
    // (ln Q)′ = −1/R.
    let step = |x: f64| (ln_tail(x).midpoint() - ln_q) * mills(x);
    let bracket = (0.0, 40.0);
    let hint = newton_hint(bracket, (-2.0 * ln_q).sqrt() - 0.5, step);
    root_of_decreasing(bracket, hint, q, tail)
}

/// Φ⁻¹(u), approximately, from a number near it, for hints: Newton's method for ln Φ, whose slope is 1/R.
pub(crate) fn quantile_near(u: f64, near: f64) -> f64 {
    let u = u.clamp(1e-290, 0.999_999);
    let mut x = -near.clamp(-36.0, 5.0);
    for _ in 0..MOST_NEWTON {
        let density = INVERSE_SQRT_2PI * elementary::exp(-0.5 * x * x);
        let (tail, ratio) = if x < LEAST {
            let tail = 1.0 - density * mills(-x);
            (tail, tail / density)
        } else {
            (density * mills(x), mills(x))
        };
        // ln(Q/u) = 2 artanh s, nearly 2s if they are close.
        let s = (tail - u) / (tail + u);
        let ln = if s.abs() < 0.05 { s * (2.0 + s * s * (2.0 / 3.0)) } else { elementary::ln(tail / u) };
        let step = (ln * ratio).clamp(-1.0, 1.0);
        x = (x + step).clamp(-5.0, 36.0);
        if step.abs() < CLOSE {
            break;
        }
    }
    -x
}

/// The steps of Newton's method …
const MOST_NEWTON: usize = 6;
/// … unless one is shorter than this: the error is then of the order of its square.
const CLOSE: f64 = 1e-4;

/// x²/2 in two parts, for x + low; the low part is at most 3·2⁻⁵³ times the high
/// one if |low| is at most one unit of x.
pub(super) fn half_square_parts(x: f64, low: f64) -> (f64, f64) {
    let (square, error) = two_product(x, x);
    (square / 2.0, error / 2.0 + x * low)
}

/// (x + low)²/2.
pub(super) fn half_square(x: f64, low: f64) -> Enclosure {
    if x.abs() > LARGEST_TO_SQUARE {
        // A unit on either side is far more than low.
        return Enclosure::between(x.next_down(), x.next_up()).square() / Enclosure::from(2.0);
    }
    let (half, rest) = half_square_parts(x, low);
    // The low part has three roundings of its own.
    let slack = 4.0 * UNIT_ROUNDOFF * (rest.abs() + x.abs() * low.abs()) + half_square_slack(half, x);
    Enclosure::from(half) + Enclosure::between(rest - slack, rest + slack)
}

/// ln[φ(x + low)·value·(1 ± relative_error)], for a `value` > 0.
pub(super) fn ln_weighted(value: f64, relative_error: f64, x: f64, low: f64) -> Enclosure {
    if x.abs() > LARGEST_TO_SQUARE || value < LEAST_WITHOUT_UNDERFLOW {
        return Enclosure::around(value, relative_error).ln() - ln_sqrt_2pi() - half_square(x, low);
    }
    let (half, rest) = half_square_parts(x, low);
    let logarithm = elementary::ln(value);
    let small = (logarithm - LN_SQRT_2PI) - rest;
    // ln(1 ± e) is within e(1 + e) of 0; the logarithm, the constant and the two
    // differences are each rounded once, and the sums below before the last; the
    // rest is as in half_square.
    let error = relative_error * 1.001
        + UNIT_ROUNDOFF * (4.0 * logarithm.abs() + 4.0 + 8.0 * (rest.abs() + (x * low).abs()))
        + half_square_slack(half, x);
    Enclosure::between(((small - error) - half).next_down(), ((small + error) - half).next_up())
}

/// The error of x²/2 from an error of x + low of 2⁻¹⁰⁰|x| or 1e-18, its square, low² and an underflow of the error
/// term.
fn half_square_slack(half: f64, x: f64) -> f64 {
    powi(2f64, -98) * half + 1e-18 * x.abs() + 1e-36
}

/// e^(−half − low) within three units for `half ≤ 640` and its `low` part: the exponential is correctly rounded,
/// e^(−low) = 1 − low up to low² < 2⁻⁸⁰, and the difference and the product are rounded once each.
pub(super) fn weight(half: f64, low: f64) -> f64 {
    elementary::exp(-half) * (1.0 - low)
}

/// ln √(2π).
pub(super) fn ln_sqrt_2pi() -> Enclosure {
    nearest(LN_SQRT_2PI)
}

/// A constant whose nearest `f64` is `rounded`.
pub(super) fn nearest(rounded: f64) -> Enclosure {
    Enclosure::between(rounded.next_down(), rounded.next_up())
}
