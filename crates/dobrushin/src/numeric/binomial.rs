//! The binomial law.

use super::gamma::{deviance, stirling_error};
use super::normal::ln_sqrt_2pi;
use super::{Enclosure, beta};
use crate::{Positive, Probability};

/// P(B = k) of B ~ Bin(n, p), from p and 1 − p, for k ≤ n.
///
/// It is written with deviances, like the terms of [`beta`], so that no large logarithms cancel.
///
/// ```
/// use dobrushin::{Enclosure, numeric::binomial};
///
/// // Two heads in four tosses of a fair coin: 6/16.
/// let half = Enclosure::from(0.5);
/// assert!((binomial::mass(4, 2, half, half).upper() - 0.375).abs() < 1e-12);
/// ```
pub fn mass(n: u64, k: u64, p: Enclosure, other: Enclosure) -> Enclosure {
    let [count, successes, failures] = [n, k, n - k].map(|count| Positive::new(count as f64));
    let (Ok(count), Ok(successes), Ok(failures)) = (count, successes, failures) else {
        // The extreme cases: p^n or (1 − p)^n, and 1 for n = 0.
        let certain = if k == 0 { other } else { p };
        return if n == 0 { Enclosure::ONE } else { certain.powf(Enclosure::from(n)) };
    };
    if p.lower() <= 0.0 || other.lower() <= 0.0 {
        return Enclosure::UNIT;
    }
    let [all, hits, misses] = [count, successes, failures].map(Enclosure::from);
    let ln = stirling_error(count)
        - stirling_error(successes)
        - stirling_error(failures)
        - deviance(successes, all * p)
        - deviance(failures, all * other)
        - ln_sqrt_2pi()
        + (all / (hits * misses)).ln() / Enclosure::from(2.0);
    ln.exp().min(Enclosure::ONE)
}

/// P(B ≥ k) of B ~ Bin(n, p).
///
/// ```
/// use dobrushin::{Enclosure, numeric::binomial};
///
/// // At least one head in three tosses of a fair coin: 7/8.
/// assert!((binomial::at_least(3, 1, Enclosure::from(0.5)).upper() - 0.875).abs() < 1e-12);
/// ```
pub fn at_least(n: u64, k: u64, p: Enclosure) -> Enclosure {
    if k == 0 {
        return Enclosure::ONE;
    }
    if k > n {
        return Enclosure::ZERO;
    }
    let (Ok(first), Ok(second)) = (Positive::new(k as f64), Positive::new((n - k + 1) as f64)) else {
        return Enclosure::UNIT;
    };
    let at = |p: f64| Probability::new(p).map_or(Enclosure::UNIT, |p| beta::regularised(first, second, p));
    p.max(Enclosure::ZERO).min(Enclosure::ONE).map_monotone(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_masses_sum_to_the_tails() {
        let (p, other) = (Enclosure::from(0.3), Enclosure::ONE - Enclosure::from(0.3));
        for n in [1_u64, 2, 7, 60] {
            for k in 0..=n {
                let tail: Enclosure = (k..=n).map(|k| mass(n, k, p, other)).sum();
                let known = at_least(n, k, p);
                assert!(tail.intersect(known).is_some(), "{n} {k}: {tail} {known}");
                assert!(tail.relative_width() < 1e-11 && known.relative_width() < 1e-11);
            }
        }
        // 10!/(3!7!)·0.3³·0.7⁷ = 120·0.027·0.0823543.
        assert!((mass(10, 3, p, other).midpoint() - 0.266827932).abs() < 1e-12);
        assert_eq!(mass(0, 0, p, other), Enclosure::ONE);
        assert!(mass(5, 5, p, other).contains(0.00243));
    }
}
