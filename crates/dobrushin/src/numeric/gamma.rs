//! The logarithm of the gamma function, and x^a e^(−x)/Γ(a + 1) without the
//! cancellation of its factors.

use super::Enclosure;
use super::elementary;
use super::normal::{ln_sqrt_2pi, nearest};
use crate::Positive;

/// ln Γ(x) for x > 0, correctly rounded before it is enclosed: it is relatively accurate even near the zeros at 1 and
/// 2.
///
/// ```
/// use dobrushin::{Positive, numeric::gamma::ln_gamma};
///
/// // Γ(5) = 4! and Γ(1/2) = √π.
/// assert!((ln_gamma(Positive::new(5.0)?).upper() - 24_f64.ln()).abs() < 1e-14);
/// assert!((ln_gamma(Positive::new(0.5)?).upper() - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn ln_gamma(x: Positive) -> Enclosure {
    match x.get() {
        1.0 | 2.0 => Enclosure::ZERO,
        x => nearest(elementary::ln_gamma(x)),
    }
}

/// From here on, Stirling's series is used.
const STIRLING: f64 = 16.0;

/// ln[ Γ(a + 1) / (√(2πa)·(a/e)^a) ], the error of Stirling's formula.
///
/// For a ≥ 16 it is computed by Stirling's series, 1/(12a) − 1/(360a³) + …, whose consecutive partial sums enclose the
/// value for every a > 0; the first two omitted orders differ by less than 2⁻⁵³.
pub(super) fn stirling_error(a: Positive) -> Enclosure {
    let value = Enclosure::from(a);
    if a.get() < STIRLING {
        // Γ(a + 1) = a·Γ(a).
        return ln_gamma(a) - (value - Enclosure::from(0.5)) * value.ln() + value - ln_sqrt_2pi();
    }
    // Numerators and denominators of B_{2k}/(2k(2k − 1)).
    const TERMS: [(f64, f64); 7] = [
        (1.0, 12.0),
        (-1.0, 360.0),
        (1.0, 1260.0),
        (-1.0, 1680.0),
        (1.0, 1188.0),
        (-691.0, 360_360.0),
        (1.0, 156.0),
    ];
    let inverse = Enclosure::ONE / value;
    let partial = |count: usize| {
        let terms = TERMS[..count].iter().enumerate().map(|(k, &(numerator, denominator))| {
            let order = 2 * k as i64 + 1;
            Enclosure::from(numerator) / Enclosure::from(denominator) * inverse.powi(order)
        });
        terms.sum::<Enclosure>()
    };
    partial(TERMS.len()).hull(partial(TERMS.len() - 1))
}

/// The deviance y − a − a·ln(y/a) ≥ 0 of a Poisson mean y from a count a.
///
/// Near y = a it is a·(λ − ln(1 + λ)) with λ = (y − a)/a, decreasing for λ < 0 and increasing for λ > 0, so the
/// rounding of λ costs only |λ| times itself. For y far below a, where 1 + λ would lose the digits of y, the definition
/// is used: nothing cancels there.
pub(super) fn deviance(a: Positive, y: Enclosure) -> Enclosure {
    let count = Enclosure::from(a);
    let ratio = y / count;
    if ratio.upper() < 0.5 {
        let ln = if ratio.lower() < f64::MIN_POSITIVE { y.ln() - count.ln() } else { ratio.ln() };
        return count * (ratio - Enclosure::ONE - ln);
    }
    let excess = (y - count) / count;
    let at = |lambda: f64| {
        let lambda = Enclosure::from(lambda);
        (lambda - lambda.ln_1p()).positive_part()
    };
    let per_count = if excess.contains(0.0) {
        Enclosure::ZERO.hull(at(excess.lower())).hull(at(excess.upper()))
    } else {
        excess.map_monotone(at)
    };
    count * per_count
}

/// ln[ y^a e^(−y)/Γ(a + 1) ] for y > 0.
pub(super) fn ln_gamma_term(a: Positive, y: Enclosure) -> Enclosure {
    let half_ln_a = Enclosure::from(a).ln() / Enclosure::from(2.0);
    -(deviance(a, y) + stirling_error(a) + ln_sqrt_2pi() + half_ln_a)
}
