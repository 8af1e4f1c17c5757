//! The regularised incomplete beta function, the distribution function of a beta law.
//!
//! # Accuracy
//! Every result encloses the true value. The tests compare with arbitrary
//! precision, and assert that the relative width of both tails, down to 1e-300,
//! is below 3e-12 for parameters from 0.1 to 100 and below 3e-11 up to 10⁴.
//!
//! # Implementation
//! For x up to about the mean a/(a + b), the series of positive terms
//!
//! ```text
//! I_x(a, b) = x^a (1−x)^b Γ(a+b)/(Γ(a+1)Γ(b)) · [1 + x(a+b)/(a+1) + x²(a+b)(a+b+1)/((a+1)(a+2)) + …]
//! ```
//!
//! is used, with the rest bounded by a geometric series; above the mean, I_x(a, b) = 1 − I_{1−x}(b, a). Where millions
//! of terms are not enough, for example if a parameter is huge or nearly 0, blocks of terms are bounded by geometric
//! series. The factor in front is written with deviances, so that no large logarithms cancel.

use super::Enclosure;
use super::gamma::{deviance, stirling_error};
use super::normal::ln_sqrt_2pi;
use crate::{Positive, Probability};

/// A series that needs more terms, which only happens if a parameter is below 1e-3 or above 1e5, is summed in blocks.
const MOST_TERMS: u32 = 2_000_000;

/// After this many blocks the series stops, and the rest is bounded.
const MOST_BLOCKS: u32 = 10_000;

/// The amount by which x(a + b) may exceed its mean a while either tail can still be computed from the other.
const NEAR_MEAN: f64 = 3.0;

/// I_x(a, b) = P(Beta(a, b) ≤ x).
///
/// ```
/// use dobrushin::{Positive, Probability, numeric::beta};
///
/// // I_x(2, 1) = x².
/// let value = beta::regularised(Positive::new(2.0)?, Positive::new(1.0)?, Probability::new(0.3)?);
/// assert!((value.upper() - 0.09).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn regularised(a: Positive, b: Positive, x: Probability) -> Enclosure {
    tail(a, b, Enclosure::from(x), Enclosure::ONE - Enclosure::from(x))
}

/// 1 − I_x(a, b) = P(Beta(a, b) > x), with relative accuracy.
///
/// ```
/// use dobrushin::{Positive, Probability, numeric::beta};
///
/// // 1 − I_x(1, b) = (1 − x)^b, accurately where it is small.
/// let value = beta::complement(Positive::new(1.0)?, Positive::new(100.0)?, Probability::new(0.5)?);
/// assert!((value.upper() / 0.5_f64.powi(100) - 1.0).abs() < 1e-10);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn complement(a: Positive, b: Positive, x: Probability) -> Enclosure {
    tail(b, a, Enclosure::ONE - Enclosure::from(x), Enclosure::from(x))
}

/// I_x(a, b) from x and y = 1 − x.
fn tail(a: Positive, b: Positive, x: Enclosure, y: Enclosure) -> Enclosure {
    if x.lower() <= 0.0 {
        return Enclosure::ZERO.hull(if x.upper() <= 0.0 { Enclosure::ZERO } else { Enclosure::ONE });
    }
    if y.lower() <= 0.0 {
        return Enclosure::ONE.hull(if y.upper() <= 0.0 { Enclosure::ONE } else { Enclosure::ZERO });
    }
    let value = if is_direct(a.get(), b.get(), x.midpoint(), y.midpoint()) {
        series(a, b, x, y)
    } else {
        Enclosure::ONE - series(b, a, y, x)
    };
    value.positive_part().min(Enclosure::ONE)
}

/// Whether to sum the series in x, rather than the one in y for the other tail.
fn is_direct(a: f64, b: f64, x: f64, y: f64) -> bool {
    if x <= a / (a + b) {
        // The other tail is used if its series is much shorter, and if the complement to 1, which is at least about
        // min(b, 1)/100, does not lose its accuracy.
        !(y < b.min(1.0) / 16.0 && y * (a + b) < b + NEAR_MEAN)
    } else {
        x < y && x * (a + b) < a + NEAR_MEAN
    }
}

/// The series in x, including the factor in front.
fn series(a: Positive, b: Positive, x: Enclosure, y: Enclosure) -> Enclosure {
    let (first, second) = (Enclosure::from(a), Enclosure::from(b));
    let both = first + second;
    let ln_factor = both.map_monotone(|n| Positive::new(n).map_or(Enclosure::ENTIRE, stirling_error))
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, both * x)
        - deviance(b, both * y)
        - ln_sqrt_2pi()
        + (second / (both * first)).ln() / Enclosure::from(2.0);
    let sum = if is_long(a.get(), b.get(), x.lower()) {
        sum_of_blocks(first, second, x, y)
    } else {
        sum_of_terms(first, both, x)
    };
    ln_factor.exp() * sum
}

/// Whether the rest after [`MOST_TERMS`] terms is more than a hundredth of their sum: the last of them, times ρ/(1 −
/// ρ), is then still too large a part of what is at most 1 and their number times the largest. The ratio ρ of a term to
/// the previous one is monotone, so the product of those from n to 2n is at least the nth power of the smaller of the
/// first and the last.
fn is_long(a: f64, b: f64, x: f64) -> bool {
    if a + b >= f64::MAX {
        return true;
    }
    let ln_ratio = |n: f64| libm::log(x * ((a + b + n) / (a + 1.0 + n)));
    let mut ln_term = ln_ratio(0.0);
    let mut n = 1.0;
    while n < f64::from(MOST_TERMS) {
        ln_term += n * ln_ratio(n).min(ln_ratio(2.0 * n));
        n *= 2.0;
    }
    let ln_later = libm::log(n) + ln_ratio(0.0) + n * ln_ratio(0.0).max(0.0);
    let largest = libm::exp(ln_ratio(n)).max(x);
    let ln_rest = ln_term.min(0.0) + libm::log(largest / (1.0 - largest).max(f64::MIN_POSITIVE));
    ln_rest > libm::log1p(libm::exp(ln_later)) - libm::log(100f64)
}

/// The series without its factor, term by term.
fn sum_of_terms(first: Enclosure, both: Enclosure, x: Enclosure) -> Enclosure {
    let mut total = Enclosure::ONE;
    let mut term = Enclosure::ONE;
    let mut rest = Enclosure::ENTIRE.positive_part();
    for n in 0..MOST_TERMS {
        let n = Enclosure::from(f64::from(n));
        let ratio = x * (both + n) / (first + Enclosure::ONE + n);
        term = term * ratio;
        total = total + term;
        // Later ratios lie between this one and x.
        let largest = ratio.max(x);
        if largest.upper() < 1.0 {
            rest = term * largest / (Enclosure::ONE - largest);
        }
        if rest.upper() <= total.lower() * f64::EPSILON / 8.0 {
            break;
        }
    }
    total + Enclosure::ZERO.hull(rest)
}

/// The same by blocks of terms whose ratios ρ are so nearly equal that their product is known within a factor of about
/// 1 + 2⁻¹². Since ρ may be close to 1, its gap is stored: 1 − ρₙ = y − x(b − 1)/(a + 1 + n), which rises (b > 1) or
/// falls with n, towards y.
fn sum_of_blocks(first: Enclosure, second: Enclosure, x: Enclosure, y: Enclosure) -> Enclosure {
    let excess = second - Enclosure::ONE;
    let gap = |n: Enclosure| (y - x * excess / (first + Enclosure::ONE + n)).min(Enclosure::ONE);
    let share = 64.0 * excess.abs().upper().sqrt().max(1.0);
    let (mut n, mut total, mut term) = (Enclosure::ZERO, Enclosure::ONE, Enclosure::ONE);
    let mut rest = Enclosure::ENTIRE.positive_part();
    for _ in 0..MOST_BLOCKS {
        let count = ((first + n).lower() / share).floor().max(1.0);
        let next = n + Enclosure::from(count);
        let after = gap(next);
        let gaps = gap(n).hull(after);
        total = total + term * gaps.map_monotone(|gap| geometric(gap, count));
        term = term * gaps.map_monotone(|gap| power(gap, count));
        let least = after.min(y);
        if least.lower() > 0.0 {
            rest = term * (Enclosure::ONE - least) / least;
        }
        let hopeless = !(total.upper() < f64::MAX && next.upper() < f64::MAX);
        if hopeless || rest.upper() <= total.lower() * f64::EPSILON / 8.0 {
            break;
        }
        n = next;
    }
    total + Enclosure::ZERO.hull(rest)
}

/// ρᵏ, given 1 − ρ.
fn power(gap: f64, count: f64) -> Enclosure {
    (Enclosure::from(count) * (-Enclosure::from(gap)).ln_1p()).exp()
}

/// ρ + ρ² + … + ρᵏ, given 1 − ρ; it falls where 1 − ρ rises.
fn geometric(gap: f64, count: f64) -> Enclosure {
    let (point, many) = (Enclosure::from(gap), Enclosure::from(count));
    let ratio = Enclosure::ONE - point;
    if gap > 0.0 {
        -(many * (-point).ln_1p()).exp_m1() * ratio / point
    } else {
        many * ratio.hull(power(gap, count))
    }
}
