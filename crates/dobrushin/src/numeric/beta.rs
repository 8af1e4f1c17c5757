//! The regularised incomplete beta function, the law of a proportion.
//!
//! # Accuracy
//! Every result encloses the true value; the relative width of both tails is
//! below 1e-11 for parameters from 0.1 to 10⁴ (compared with arbitrary
//! precision by the tests), and grows with the square root of the larger.
//!
//! # Implementation
//! For x at most the mean a/(a + b) the series of positive terms
//!
//! ```text
//! I_x(a, b) = x^a (1−x)^b Γ(a+b)/(Γ(a+1)Γ(b)) · [1 + x(a+b)/(a+1) + x²(a+b)(a+b+1)/((a+1)(a+2)) + …]
//! ```
//!
//! with the rest bounded by a geometric series; above the mean I_x(a, b) =
//! 1 − I_{1−x}(b, a). The factor in front is written with deviances, so that no
//! large logarithms cancel.

use super::Enclosure;
use super::gamma::{deviance, stirling_error};
use super::normal::ln_sqrt_2pi;
use crate::{Positive, Probability};

/// After so many terms the series stops, with the honest rest: only needed
/// for x within 1e-5 of 1 and a parameter far below 1.
const MOST_TERMS: u32 = 2_000_000;

/// I_x(a, b) = P(Beta(a, b) ≤ x).
pub fn regularised(a: Positive, b: Positive, x: Probability) -> Enclosure {
    tail(a, b, Enclosure::from(x), Enclosure::ONE - Enclosure::from(x))
}

/// 1 − I_x(a, b) = P(Beta(a, b) > x), with relative accuracy.
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
    let mean = a.get() / (a.get() + b.get());
    if x.midpoint() <= mean {
        below_mean(a, b, x, y).min(Enclosure::ONE)
    } else {
        (Enclosure::ONE - below_mean(b, a, y, x)).positive_part()
    }
}

fn below_mean(a: Positive, b: Positive, x: Enclosure, y: Enclosure) -> Enclosure {
    let (first, second) = (Enclosure::from(a), Enclosure::from(b));
    let both = first + second;
    let ln_factor = both.map_monotone(|n| Positive::new(n).map_or(Enclosure::ENTIRE, stirling_error))
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, both * x)
        - deviance(b, both * y)
        - ln_sqrt_2pi()
        + (second / (both * first)).ln() / Enclosure::from(2.0);
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
        rest = (term * largest / (Enclosure::ONE - largest)).positive_part();
        if rest.upper() <= total.lower() * f64::EPSILON / 8.0 {
            break;
        }
    }
    ln_factor.exp() * (total + Enclosure::ZERO.hull(rest))
}
