//! What an attacker who guessed well has proved: a lower bound on ε.

use dobrushin::numeric::{Boundary, beta};
use dobrushin::{Enclosure, Positive, Probability};

/// How often an attacker said "D", in independent runs on D and on its neighbour D′.
///
/// ```
/// use dobrushin_audit::Guesses;
///
/// // Right in 900 of 1000 runs, wrong in 100 of 1000: ln 9 at most, and certainly more than 1.
/// let guesses = Guesses { right: 900, runs: 1000, wrong: 100, other_runs: 1000 };
/// let epsilon = guesses.epsilon(0.0, 0.05);
/// assert!(1.0 < epsilon && epsilon < 9_f64.ln());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guesses {
    /// The number of runs on D in which it was right.
    pub right: u64,
    /// The runs on D.
    pub runs: u64,
    /// The number of runs on D′ in which it was wrong.
    pub wrong: u64,
    /// The runs on D′.
    pub other_runs: u64,
}

impl Guesses {
    /// A lower bound on ε that is wrong with probability at most `risk`, whatever was run.
    ///
    /// # Guarantee
    /// If D and D′ are (ε, δ)-close, the probabilities p of a right and q of a wrong guess satisfy p ≤ e^ε·q + δ. The
    /// interval of Clopper and Pearson gives p₋ ≤ p and q ≤ q₊, each with error probability `risk`/2, and so
    /// ε ≥ ln((p₋ − δ)/q₊). The rule by which the attacker guesses must not depend on the runs that are counted.
    pub fn epsilon(&self, delta: f64, risk: f64) -> f64 {
        let chance = least_chance(self.right, self.runs, risk / 2.0);
        let mistake =
            1.0 - least_chance(self.other_runs.saturating_sub(self.wrong), self.other_runs, risk / 2.0);
        // A bound of 0 always holds.
        ((chance - delta) / mistake).ln().max(0.0)
    }
}

/// The largest known p for which this many successes have probability at most `risk`: Pr\[Bin(n, p) ≥ k\] = I_p(k, n −
/// k + 1).
fn least_chance(successes: u64, runs: u64, risk: f64) -> f64 {
    let (Ok(a), Ok(b)) =
        (Positive::new(successes as f64), Positive::new(runs.saturating_sub(successes) as f64 + 1.0))
    else {
        return 0.0;
    };
    let tail = |p: f64| Probability::new(p).map_or(Enclosure::ONE, |p| beta::regularised(a, b, p));
    Boundary { holds: 0.0, fails: 1.0 }.halved(60, |p| tail(p).upper() <= risk).holds
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn randomised_response_is_never_said_to_be_less_private_than_it_is() {
        // The guess is right with probability 3/4, so ε = ln 3. Counts at their means prove almost all of it, and never
        // more.
        let mut before = 0.0;
        for runs in [1000_u64, 10_000, 1_000_000] {
            let guesses = Guesses { right: runs / 4 * 3, runs, wrong: runs / 4, other_runs: runs };
            let proved = guesses.epsilon(0.0, 1e-9);
            assert!(before < proved && proved < 3.0_f64.ln());
            assert!(guesses.epsilon(0.1, 1e-9) < proved);
            before = proved;
        }
        assert!(before > 3.0_f64.ln() - 0.02);
        // Without a mistake in this many runs, q₊ is still above 0.
        let perfect = Guesses { right: 1000, runs: 1000, wrong: 0, other_runs: 1000 };
        assert!((3.5..4.0).contains(&perfect.epsilon(0.0, 1e-9)));
        let useless = Guesses { right: 0, runs: 0, wrong: 0, other_runs: 0 };
        assert_eq!(useless.epsilon(0.0, 1e-9), 0.0);
    }
}
