//! A confidence interval for a probability, from a count out of n, with guaranteed coverage.

use super::frequencies::Interval;
use dobrushin::numeric::UNIT_ROUNDOFF;
use dobrushin::numeric::gamma::ln_gamma;
use dobrushin::numeric::rounding::{add_up, mul_up};
use dobrushin::{Enclosure, Positive};

/// c of n.
#[derive(Clone, Copy)]
pub(super) struct Proportion {
    pub count: u64,
    pub records: u64,
}

impl Proportion {
    /// The interval of Clopper and Pearson, at least from (c − 1)/n to (c + 1)/n.
    ///
    /// # Guarantee
    /// At each end (unless it is 0 or 1, or set by (c ± 1)/n), the tail starting at the count was checked to be at most
    /// half the error.
    ///
    /// # Accuracy
    /// The ends are further out than necessary by about 1e-5 of their distance from c/n.
    pub fn interval(self, error: Enclosure) -> Interval {
        let half = error.lower() / 2.0;
        let [c, n] = [self.count, self.records].map(|number| number as f64);
        let others = Self { count: self.records - self.count, records: self.records };
        // The upper end is 1 minus the lower end for the other count.
        let lower = self.lower(half).min(((c - 1.0) / n).next_down()).max(0.0);
        let upper = (1.0 - others.lower(half)).next_up().max(((c + 1.0) / n).next_up()).min(1.0);
        Interval { lower, upper }
    }

    /// Nearly the largest s for which P(Binomial(n, s) ≥ c) is checked to be at most `error`.
    fn lower(self, error: f64) -> f64 {
        let centre = self.count as f64 / self.records as f64;
        // √(−ln tail) is nearly linear in the distance from c/n, and about √(ln 2) at distance 0. The full distance, to
        // s = 0, is certainly outside.
        let wanted = (-error.ln()).sqrt();
        let deviation = (centre * (1.0 - centre) / self.records as f64).sqrt();
        let (mut inside, mut outside) = (0.0, centre);
        let (mut last, mut slope) = ((0.0, 2f64.ln().sqrt()), 0.5f64.sqrt() / deviation);
        for _ in 0..MOST_STEPS {
            if outside - inside <= SHARPNESS * outside {
                break;
            }
            // The search aims slightly beyond, so that both sides close in.
            let beyond = if last.1 < wanted { 1.0 + SHARPNESS / 3.0 } else { 1.0 - SHARPNESS / 3.0 };
            let aim = (last.0 + (wanted - last.1) / slope) * beyond;
            let distance = if inside < aim && aim < outside { aim } else { 0.5 * (inside + outside) };
            let tail = self.tail(centre - distance);
            if tail <= error {
                outside = distance
            } else {
                inside = distance
            }
            let next = (distance, (-tail.ln()).max(0.0).sqrt());
            let steepness = (next.1 - last.1) / (next.0 - last.0);
            slope = if steepness.is_finite() && steepness > 0.0 { steepness } else { slope };
            last = next;
        }
        (centre - outside).max(0.0)
    }

    /// An upper bound on P(Binomial(n, s) ≥ c) for s < c/n.
    ///
    /// P(c) is multiplied by 1 + r₀ + r₀r₁ + …, r_j = (n − c − j)/(c + 1 + j)·s/(1 − s), which decrease and are below
    /// 1, so the rest is below that of a geometric series. The sum is in plain `f64`: each of m terms has four
    /// roundings, which (1 + 2⁻⁵³)^(4m) bounds.
    fn tail(self, s: f64) -> f64 {
        if s <= 0.0 {
            return if self.count == 0 { 1.0 } else { 0.0 };
        }
        let odds = (Enclosure::from(s) / (Enclosure::ONE - Enclosure::from(s))).upper();
        let (mut sum, mut term) = (1.0, 1.0);
        let (mut above, mut below) = ((self.records - self.count) as f64, self.count as f64 + 1.0);
        let mut terms = 1.0;
        loop {
            let ratio = above / below * odds;
            if ratio >= 1.0 {
                return 1.0;
            }
            let rest = term * ratio / (1.0 - ratio);
            if rest <= NEGLIGIBLE * sum {
                sum += rest;
                break;
            }
            term *= ratio;
            sum += term;
            (above, below, terms) = (above - 1.0, below + 1.0, terms + 1.0);
        }
        let rounding = add_up(1.0, 5.0 * (terms + 8.0) * UNIT_ROUNDOFF);
        mul_up(self.ln_probability(s).exp().upper(), mul_up(sum, rounding)).min(1.0)
    }

    /// ln P(Binomial(n, s) = c), for 0 < s < 1.
    fn ln_probability(self, s: f64) -> Enclosure {
        let (s, others) = (Enclosure::from(s), self.records - self.count);
        let ln_factorial = |n: u64| Positive::new(n as f64 + 1.0).map_or(Enclosure::ENTIRE, ln_gamma);
        let ways = ln_factorial(self.records) - ln_factorial(self.count) - ln_factorial(others);
        ways + Enclosure::from(self.count) * s.ln() + Enclosure::from(others) * (-s).ln_1p()
    }
}

/// The accuracy of the ends, relative to their distance from c/n.
const SHARPNESS: f64 = 1e-5;
/// The most steps; bisection alone takes 17.
const MOST_STEPS: u32 = 60;
/// The part of a sum at which a bound on the rest suffices.
const NEGLIGIBLE: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::Probability;
    use dobrushin::numeric::beta;

    #[test]
    fn the_tail_is_that_of_the_beta_law() {
        for (count, records) in [(1, 1), (1, 10), (10, 10), (3, 50), (77, 200), (5_000, 20_000)] {
            for share in [1e-3, 0.3, 0.8, 0.97] {
                let s = share * count as f64 / records as f64;
                let parameters =
                    [count as f64, (records - count) as f64 + 1.0].map(|x| Positive::new(x).unwrap());
                let expected = beta::regularised(parameters[0], parameters[1], Probability::new(s).unwrap());
                let found = Proportion { count, records }.tail(s);
                assert!(found >= expected.lower(), "{count} of {records} at {s}: {found:e} for {expected}");
                let near = expected.upper() * (1.0 + 1e-9) + 1e-290;
                assert!(found <= near, "{count} of {records} at {s}: {found:e} for {expected}");
            }
        }
    }
}
