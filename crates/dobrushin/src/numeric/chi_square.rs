//! The chi-square law: the probability that a Gaussian vector is long.
//!
//! # Accuracy
//! Every result encloses the true value. The tests compare with arbitrary
//! precision, and assert that the relative width of both tails, down to 1e-300,
//! is below 2e-12 for up to 10⁴ degrees of freedom. It grows with the square
//! root of the degrees of freedom, and with the logarithm of the value.
//!
//! # Implementation
//! With a = d/2 and y = x/2 both tails are sums of positive terms,
//!
//! ```text
//! P(a, y) = y^a e^(−y)/Γ(a+1) · [1 + y/(a+1) + y²/((a+1)(a+2)) + …]        for y ≤ a
//! Q(a, y) = y^(a−1) e^(−y)/Γ(a) · [1 + (a−1)/y + (a−1)(a−2)/y² + …]        for y > a
//! ```
//!
//! whose ratios decrease and are below 1, so the rest after any term is below that of a geometric series. The second
//! sum ends at Q(1, y) = e^(−y), or, if d is odd, with Q(1/2, y) = erfc(√y), which is R(√x)/√x times the term before it
//! (R is the Mills ratio). The other tail is 1 minus this one.

use super::gamma::ln_gamma_term;
use super::{Enclosure, normal};
use crate::{NonNegative, Positive};
use std::num::NonZeroU32;

/// P(χ²_d ≤ x).
///
/// ```
/// use dobrushin::{NonNegative, numeric::chi_square};
///
/// // With two degrees of freedom it is 1 − e^(−x/2).
/// let below = chi_square::cdf(2.try_into()?, NonNegative::new(2.0)?);
/// assert!((below.upper() + (-1_f64).exp_m1()).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cdf(degrees: NonZeroU32, x: NonNegative) -> Enclosure {
    match tails(degrees, x) {
        Tails::Certain { cdf } => cdf,
        Tails::Lower(ln) => ln.exp().min(Enclosure::ONE),
        Tails::Upper(ln) => (Enclosure::ONE - ln.exp()).positive_part(),
    }
}

/// P(χ²_d > x).
///
/// ```
/// use dobrushin::{NonNegative, numeric::{chi_square, normal}};
///
/// // With one degree of freedom it is 2·Q(√x).
/// let above = chi_square::sf(1.try_into()?, NonNegative::new(4.0)?);
/// assert!((above.upper() / (2.0 * normal::tail(2.0).upper()) - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sf(degrees: NonZeroU32, x: NonNegative) -> Enclosure {
    match tails(degrees, x) {
        Tails::Certain { cdf } => Enclosure::ONE - cdf,
        Tails::Lower(ln) => (Enclosure::ONE - ln.exp()).positive_part(),
        Tails::Upper(ln) => ln.exp().min(Enclosure::ONE),
    }
}

/// ln P(χ²_d ≤ x), even where the probability underflows.
///
/// ```
/// use dobrushin::{NonNegative, numeric::chi_square};
///
/// // For small x and d degrees of freedom about (d/2)·ln x: here 500·ln(1e-6), which underflows.
/// let (degrees, x) = (1000.try_into()?, NonNegative::new(1e-6)?);
/// assert!(chi_square::cdf(degrees, x).upper() < 1e-300);
/// assert!(chi_square::ln_cdf(degrees, x).upper() < 500.0 * 1e-6_f64.ln());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ln_cdf(degrees: NonZeroU32, x: NonNegative) -> Enclosure {
    match tails(degrees, x) {
        Tails::Certain { cdf } => cdf.ln(),
        Tails::Lower(ln) => ln.min(Enclosure::ZERO),
        Tails::Upper(ln) => (-ln.exp()).ln_1p(),
    }
}

/// ln P(χ²_d > x), even where the probability underflows.
///
/// ```
/// use dobrushin::{NonNegative, numeric::chi_square};
///
/// // With two degrees of freedom it is −x/2, also where e^(−x/2) underflows.
/// let tail = chi_square::ln_sf(2.try_into()?, NonNegative::new(1e4)?);
/// assert!((tail.upper() + 5000.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ln_sf(degrees: NonZeroU32, x: NonNegative) -> Enclosure {
    match tails(degrees, x) {
        Tails::Certain { cdf } => (Enclosure::ONE - cdf).ln(),
        Tails::Lower(ln) => (-ln.exp()).ln_1p(),
        Tails::Upper(ln) => ln.min(Enclosure::ZERO),
    }
}

/// The logarithm of the tail that is computed; the other follows from it.
enum Tails {
    Certain { cdf: Enclosure },
    Lower(Enclosure),
    Upper(Enclosure),
}

fn tails(degrees: NonZeroU32, x: NonNegative) -> Tails {
    if x.get() == 0.0 || x.get() == f64::INFINITY {
        return Tails::Certain { cdf: if x.get() == 0.0 { Enclosure::ZERO } else { Enclosure::ONE } };
    }
    let halves = (Positive::new(f64::from(degrees.get()) / 2.0), Positive::new(x.get() / 2.0));
    let (Ok(a), Ok(mean), true) = (halves.0, halves.1, x.get() >= 2.0 * f64::MIN_POSITIVE) else {
        // Halving a number this small may round it; P(χ²_d ≤ x) ≤ √x.
        return Tails::Certain { cdf: Enclosure::between(0.0, x.get().sqrt().next_up()) };
    };
    let y = Enclosure::from(mean);
    let count = Enclosure::from(a);
    let ln_term = ln_gamma_term(a, y);
    if mean <= a {
        let sum = geometric_sum(|n| y / (count + Enclosure::from(n as f64)), u64::MAX);
        Tails::Lower(ln_term + sum.ln())
    } else {
        // Terms n = 0, 1, … are y^(a−1−n) e^(−y)/Γ(a−n); they end with a − n = 1,
        // or with 3/2 and then erfc(√y) = Q(1/2, y).
        let root = Enclosure::from(x).sqrt();
        let regular = u64::from(degrees.get() / 2);
        if regular == 0 {
            // a = 1/2: no sum, erfc(√y) = 2Q(√(2y)).
            return Tails::Upper(root.map_monotone(normal::ln_tail) + Enclosure::from(2.0).ln());
        }
        let ratio = |n: u64| match n < regular {
            true => (count - Enclosure::from(n as f64)) / y,
            false => root.map_monotone(normal::mills_ratio) / root,
        };
        let sum = geometric_sum(ratio, regular + u64::from(degrees.get() % 2));
        Tails::Upper(ln_term + (count / y).ln() + sum.ln())
    }
}

/// 1 + q₁ + q₁q₂ + … with at most `terms` terms, for decreasing ratios q_n = `ratio(n)` < 1, all of which are ≥ 0 where
/// they are evaluated.
fn geometric_sum(ratio: impl Fn(u64) -> Enclosure, terms: u64) -> Enclosure {
    let mut total = Enclosure::ONE;
    let mut term = Enclosure::ONE;
    let mut n = 1;
    while n < terms {
        let q = ratio(n);
        term = term * q;
        total = total + term;
        // The rest is at most term·(q + q² + …).
        let rest = term * q / (Enclosure::ONE - q);
        if rest.upper() <= total.lower() * f64::EPSILON / 8.0 {
            return total + Enclosure::ZERO.hull(rest);
        }
        n += 1;
    }
    total
}
