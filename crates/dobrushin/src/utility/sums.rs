//! Sums of powers of whole numbers, for any number of terms.

use crate::Enclosure;

/// The number of terms that are added one by one.
const ADDED: u64 = 1 << 15;

/// H_n = Σ_{t=1}^{n} 1/t.
pub(super) fn harmonic(n: u64) -> Enclosure {
    let integral = |from: Enclosure, to: Enclosure| (to / from).ln();
    convex_sum(n, |t| Enclosure::ONE / t, integral)
}

/// Σ_{t=1}^{n} 1/√t.
pub(super) fn inverse_roots(n: u64) -> Enclosure {
    let integral = |from: Enclosure, to: Enclosure| Enclosure::from(2.0) * (to.sqrt() - from.sqrt());
    convex_sum(n, |t| Enclosure::ONE / t.sqrt(), integral)
}

/// Σ_{t=1}^{n} g(t) for a convex g, given its integral.
///
/// Beyond k terms, g(t) is at most its mean over [t − ½, t + ½], and the mean of g(t) and g(t + 1) is at least
/// that over [t, t + 1]: ∫_k^n g − (g(k) − g(n))/2 ≤ Σ_{t=k+1}^{n} g(t) ≤ ∫_{k+½}^{n+½} g.
fn convex_sum(
    n: u64,
    g: impl Fn(Enclosure) -> Enclosure,
    integral: impl Fn(Enclosure, Enclosure) -> Enclosure,
) -> Enclosure {
    let added: Enclosure = (1..=n.min(ADDED)).map(|t| g(t.into())).sum();
    if n <= ADDED {
        return added;
    }
    let (k, n, half) = (Enclosure::from(ADDED), Enclosure::from(n), Enclosure::from(0.5));
    let least = integral(k, n) - half * (g(k) - g(n));
    let most = integral(k + half, n + half);
    added + Enclosure::between(least.lower(), most.upper())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sums_contain_the_sum_of_their_terms_and_are_narrow() {
        for n in [1, 2, 10, ADDED, ADDED + 1, 3 * ADDED, 2_000_000] {
            let plain = |g: &dyn Fn(f64) -> f64| (1..=n).rev().map(|t| g(t as f64)).sum::<f64>();
            for (sum, truth) in
                [(harmonic(n), plain(&|t| 1.0 / t)), (inverse_roots(n), plain(&|t| 1.0 / t.sqrt()))]
            {
                let slack = 1e-10 * truth;
                assert!(sum.lower() - slack <= truth && truth <= sum.upper() + slack, "{n}: {sum} {truth}");
                assert!(sum.relative_width() < 1e-9, "{n}: {sum}");
            }
        }
        assert_eq!(harmonic(0), Enclosure::ZERO);
    }

    #[test]
    fn the_harmonic_number_of_a_huge_count_is_its_logarithm_and_eulers_constant() {
        let n = 1_u64 << 60;
        let expected = 60.0 * std::f64::consts::LN_2 + 0.577_215_664_901_532_9;
        assert!((harmonic(n).midpoint() - expected).abs() < 1e-8 && harmonic(n).width() < 1e-8);
    }
}
