//! What an attacker who guessed well has proved: bounds on its rates, and by them on ε.

use super::Risk;
use dobrushin::numeric::elementary::powi;
use dobrushin::numeric::rounding::add_up;
use dobrushin::numeric::{Boundary, binomial, normal};
use dobrushin::{Delta, Enclosure, Probability};

/// How often an attacker said "with the record", in independent runs with it and without it.
///
/// ```
/// use dobrushin::Delta;
/// use dobrushin_audit::{Guesses, Risk};
///
/// // Right in 900 of 1000 runs, wrong in 100 of 1000: ln 9 at most, and certainly more than 1.
/// let guesses = Guesses { right: 900, runs: 1000, wrong: 100, other_runs: 1000 };
/// let epsilon = guesses.rates(Risk::new(0.05)?).epsilon(Delta::new(0.0)?);
/// assert!(1.0 < epsilon && epsilon < 9_f64.ln());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guesses {
    /// The number of runs with the record in which it was right.
    pub right: u64,
    /// The runs with the record.
    pub runs: u64,
    /// The number of runs without the record in which it was wrong.
    pub wrong: u64,
    /// The runs without the record.
    pub other_runs: u64,
}

impl Guesses {
    /// Bounds on the rates, both of which hold except with probability `risk`, whatever was run.
    ///
    /// # Guarantee
    /// Pr\[true rate < `least_true_positives` or false rate > `most_false_positives`\] ≤ `risk`: each is an end of an
    /// interval of Clopper and Pearson (1934) with half of the risk. The rule by which the attacker guesses must not
    /// depend on the runs that are counted.
    pub fn rates(&self, risk: Risk) -> Rates {
        let half = risk.shared_by(2).get();
        let spared = self.other_runs.saturating_sub(self.wrong);
        Rates {
            least_true_positives: least_chance(self.right, self.runs, half),
            most_false_positives: add_up(1.0, -least_chance(spared, self.other_runs, half)),
        }
    }

    /// The rates of somebody who was never wrong in this many runs: nobody proves more with them.
    ///
    /// ```
    /// use dobrushin::Delta;
    /// use dobrushin_audit::{Guesses, Risk};
    ///
    /// let guesses = Guesses { right: 60, runs: 100, wrong: 40, other_runs: 100 };
    /// let perfect = guesses.rates_of_a_perfect_attacker(Risk::new(0.05)?).epsilon(Delta::new(0.0)?);
    /// assert!((3.2..3.4).contains(&perfect));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rates_of_a_perfect_attacker(&self, risk: Risk) -> Rates {
        Self { right: self.runs, wrong: 0, ..*self }.rates(risk)
    }
}

/// A bound on how often an attacker is right with the record, and one on how often it is wrong without it.
///
/// ```
/// use dobrushin::Delta;
/// use dobrushin_audit::Rates;
///
/// let rates = Rates { least_true_positives: 0.5, most_false_positives: 0.1 };
/// assert!((rates.epsilon(Delta::new(0.0)?) - 5_f64.ln()).abs() < 1e-12);
/// // Φ⁻¹(0.5) − Φ⁻¹(0.1).
/// assert!((rates.mu() - 1.2815515655446004).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// A lower bound on the true-positive rate.
    pub least_true_positives: f64,
    /// An upper bound on the false-positive rate.
    pub most_false_positives: f64,
}

impl Rates {
    /// The (p, q) of both directions, with p ≤ e^ε·q + δ for every (ε, δ) that the program has: what is said with the
    /// record, and what is not said without it.
    pub(super) fn both_directions(&self) -> [(Enclosure, Enclosure); 2] {
        let (p, q) = (Enclosure::from(self.least_true_positives), Enclosure::from(self.most_false_positives));
        [(p, q), (Enclosure::ONE - q, Enclosure::ONE - p)]
    }

    /// A lower bound on ε at a δ; 0, which always holds, if nothing is proved.
    ///
    /// # Guarantee
    /// If the laws P with the record and Q without it are (ε, δ)-close in both directions, P(A) ≤ e^ε·Q(A) + δ and
    /// Q(Aᶜ) ≤ e^ε·P(Aᶜ) + δ for the event A in which the attacker says "with the record". So ε ≥ ln((p − δ)/q) for
    /// p ≤ P(A) and q ≥ Q(A), and ε ≥ ln((1 − q − δ)/(1 − p)). Both need the same two bounds.
    pub fn epsilon(&self, delta: Delta) -> f64 {
        let proved = self.both_directions().map(|(p, q)| {
            let gap = p - Enclosure::from(delta);
            if gap.lower() > 0.0 { (gap / q).ln().lower() } else { 0.0 }
        });
        proved.into_iter().fold(0.0, f64::max)
    }

    /// A lower bound on μ, if the worst trade-off curve is that of N(0, 1) and N(μ, 1); 0 if nothing is proved.
    ///
    /// # Guarantee
    /// If every test between the two laws is at most as good as the best test between N(0, 1) and N(μ, 1) (the run is
    /// μ-GDP, Dong, Roth, Su 2022), then Φ⁻¹(P(A)) − Φ⁻¹(Q(A)) ≤ μ for every event A.
    pub fn mu(&self) -> f64 {
        let quantile = |p: f64| Probability::new(p).map_or(Enclosure::ENTIRE, normal::cdf_inverse);
        let gap = quantile(self.least_true_positives).lower() - quantile(self.most_false_positives).upper();
        // −∞ from rates that say nothing, and NaN of ∞ − ∞, prove nothing.
        if gap > 0.0 { gap.next_down() } else { 0.0 }
    }
}

/// A p, next to the largest one, for which this many successes have probability at most `risk`.
fn least_chance(successes: u64, runs: u64, risk: f64) -> f64 {
    if successes == 0 || runs < successes {
        return 0.0;
    }
    let is_rare = |p: f64| at_least(successes, runs, p).1.upper() <= risk;
    // Newton's method for ln(tail) in ln p, whose derivative is k·mass/tail, from where the mean is; halving where it
    // leaves what is possible.
    let mut near = successes as f64 / (runs as f64 + 1.0);
    let mut ends = (0.0, 1.0);
    for _ in 0..60 {
        let (mass, tail) = at_least(successes, runs, near);
        let (mass, tail) = (mass.midpoint(), tail.midpoint());
        *if tail > risk { &mut ends.1 } else { &mut ends.0 } = near;
        let step = libm::log(tail / risk) * tail / (successes as f64 * mass);
        if step.abs() < 1e-13 {
            break;
        }
        let next = libm::exp(libm::log(near) - step);
        near = if ends.0 < next && next < ends.1 { next } else { ends.0.midpoint(ends.1) };
    }
    // The first of these that was checked.
    let mut places = (7..=13).rev().map(|digits| near * (1.0 - powi(0.1_f64, digits)));
    let checked = places.find(|&p| is_rare(p));
    checked.unwrap_or_else(|| Boundary { holds: 0.0, fails: 1.0 }.halved(60, is_rare).holds)
}

/// Pr\[B = k\] and Pr\[B ≥ k\] of B ~ Bin(n, p), for 0 < k ≤ n. The terms of the tail are the mass times products of
/// falling ratios, so the rest is at most a geometric series.
fn at_least(successes: u64, runs: u64, p: f64) -> (Enclosure, Enclosure) {
    let p = Enclosure::from(p);
    let other = Enclosure::ONE - p;
    let mass = binomial::mass(runs, successes, p, other);
    let odds = p / other;
    let (mut term, mut sum) = (Enclosure::ONE, Enclosure::ONE);
    for count in successes..runs {
        let ratio = odds * Enclosure::from(runs - count) / Enclosure::from(count + 1);
        term = term * ratio;
        sum = sum + term;
        let rest = term * ratio / (Enclosure::ONE - ratio);
        if ratio.upper() < 1.0 && rest.upper() <= sum.lower() * f64::EPSILON {
            sum = sum + Enclosure::ZERO.hull(rest);
            break;
        }
    }
    (mass, (mass * sum).min(Enclosure::ONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn risk() -> Risk {
        Risk::new(1e-9).expect("valid")
    }

    fn delta(delta: f64) -> Delta {
        Delta::new(delta).expect("valid")
    }

    #[test]
    fn the_least_chance_is_where_the_binomial_tail_is_the_risk() {
        // Pr[Bin(n, p) ≥ n] = pⁿ and Pr[Bin(n, p) ≥ 1] = 1 − (1 − p)ⁿ.
        assert!((least_chance(20, 20, 1e-9) - 1e-9_f64.powf(1.0 / 20.0)).abs() < 1e-12);
        assert!((least_chance(1, 20, 0.3) - (1.0 - 0.7_f64.powf(1.0 / 20.0))).abs() < 1e-12);
        assert_eq!(least_chance(0, 20, 0.3), 0.0);
        // Pr[Bin(5, p) ≥ 3] summed up.
        let p = least_chance(3, 5, 0.01);
        let tail = 10.0 * p.powi(3) * (1.0 - p).powi(2) + 5.0 * p.powi(4) * (1.0 - p) + p.powi(5);
        assert!((tail - 0.01).abs() < 1e-12);
    }

    #[test]
    fn the_least_chance_is_checked_and_close_wherever_it_is() {
        for runs in [1_u64, 2, 10, 1000, 1_000_000] {
            let counts = [1, 2, runs / 3, runs / 2, runs - 1, runs].into_iter();
            for successes in counts.filter(|count| (1..=runs).contains(count)) {
                for risk in [1e-30, 1e-9, 0.01, 0.4, 0.99] {
                    let p = least_chance(successes, runs, risk);
                    let tail = |p: f64| at_least(successes, runs, p).1;
                    assert!((0.0..1.0).contains(&p) && tail(p).upper() <= risk, "{successes} of {runs}: {p}");
                    let is_close = p == 0.0 || tail((p * (1.0 + 2e-9)).min(1.0)).upper() > risk;
                    assert!(is_close, "{successes} of {runs} at {risk}: {p}");
                }
            }
        }
    }

    #[test]
    fn the_tail_is_that_of_the_binomial_law() {
        for (successes, runs) in [(1, 1), (1, 7), (4, 7), (7, 7), (30, 1000), (700, 1000), (998, 1000)] {
            for p in [1e-12, 0.01, 0.3, 0.7, 0.99] {
                let (known, found) =
                    (binomial::at_least(runs, successes, Enclosure::from(p)), at_least(successes, runs, p).1);
                assert!(known.intersect(found).is_some(), "{successes} of {runs} at {p}: {known} {found}");
                assert!(found.upper() <= 1e-290 + known.upper() * (1.0 + 1e-6), "{found}");
            }
        }
    }

    #[test]
    fn randomised_response_is_never_said_to_be_less_private_than_it_is() {
        // The guess is right with probability 3/4, so ε = ln 3. Counts at their means prove almost all of it, and never
        // more.
        let mut before = 0.0;
        for runs in [1000_u64, 10_000, 1_000_000] {
            let guesses = Guesses { right: runs / 4 * 3, runs, wrong: runs / 4, other_runs: runs };
            let rates = guesses.rates(risk());
            let proved = rates.epsilon(delta(0.0));
            assert!(before < proved && proved < 3.0_f64.ln());
            assert!(rates.epsilon(delta(0.1)) < proved);
            before = proved;
        }
        assert!(before > 3.0_f64.ln() - 0.02);
        // Without a mistake in this many runs, the bound on the false positives is still above 0.
        let perfect = Guesses { right: 1000, runs: 1000, wrong: 0, other_runs: 1000 };
        assert!((3.5..4.0).contains(&perfect.rates(risk()).epsilon(delta(0.0))));
        assert_eq!(perfect.rates(risk()), perfect.rates_of_a_perfect_attacker(risk()));
        let useless = Guesses { right: 0, runs: 0, wrong: 0, other_runs: 0 };
        assert_eq!(useless.rates(risk()).epsilon(delta(0.0)), 0.0);
        assert_eq!(useless.rates(risk()).mu(), 0.0);
    }

    #[test]
    fn few_misses_prove_as_much_as_few_false_alarms() {
        // With the record always "yes", without it "yes" in half of the runs: only the other direction proves much.
        let one_way = Guesses { right: 1000, runs: 1000, wrong: 500, other_runs: 1000 };
        let other_way = Guesses { right: 500, runs: 1000, wrong: 0, other_runs: 1000 };
        let [first, second] = [one_way, other_way].map(|guesses| guesses.rates(risk()).epsilon(delta(0.0)));
        assert!((first - second).abs() < 1e-9 && first > 2.5);
    }
}
