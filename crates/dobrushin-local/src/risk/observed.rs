//! What independent records, or reports, tell exactly.

use super::counts::Counts;
use dobrushin::Enclosure;
use dobrushin::divergence::mutual_information_of;
use std::num::NonZeroU32;

/// The laws of the counts of n independent draws, under each of several laws of a draw.
pub(super) struct Observed {
    laws: Vec<Vec<Enclosure>>,
}

/// A table of probabilities with more entries is not made.
const MOST_ENTRIES: f64 = 1e6;
/// Estimates are not compared if that takes more multiplications.
const MOST_PRODUCTS: usize = 20_000_000;

impl Observed {
    /// n draws; `None` if there are too many different counts.
    pub fn of(laws: &[Vec<Enclosure>], records: NonZeroU32) -> Option<Self> {
        let outcomes = laws.first()?.len();
        if Counts::number(records.get(), outcomes) * laws.len() as f64 > MOST_ENTRIES {
            return None;
        }
        let counts = Counts::of(records.get(), outcomes).ok()?;
        Some(Self { laws: laws.iter().map(|law| counts.law(law.iter().copied())).collect() })
    }

    /// Σ min_a Σ_θ π(θ)·P_θ·ℓ(θ, a): the Bayes risk of the best estimator; `None` if there are too many.
    pub fn bayes_risk(&self, prior: &[Enclosure], losses: &[Vec<f64>]) -> Option<Enclosure> {
        let estimates = losses.first().map_or(0, Vec::len);
        if self.laws.iter().map(Vec::len).sum::<usize>().saturating_mul(estimates) > MOST_PRODUCTS {
            return None;
        }
        let given = |count: usize, estimate: usize| -> Enclosure {
            let terms = self.laws.iter().zip(prior).zip(losses);
            terms.map(|((law, &w), row)| w * law[count] * Enclosure::from(row[estimate])).sum()
        };
        let counts = self.laws.first().map_or(0, Vec::len);
        let best = |count| {
            (0..estimates)
                .map(|estimate| given(count, estimate))
                .reduce(Enclosure::min)
                .unwrap_or(Enclosure::ZERO)
        };
        Some((0..counts).map(best).sum())
    }

    /// ½Σ min(P, Q) of two mixtures of the laws, each with these weights: the error of the best test.
    pub fn test_error(&self, first: &[Enclosure], second: &[Enclosure]) -> Enclosure {
        let mixed = |weights: &[Enclosure], count: usize| -> Enclosure {
            self.laws.iter().zip(weights).map(|(law, &w)| w * law[count]).sum()
        };
        let counts = self.laws.first().map_or(0, Vec::len);
        let common: Enclosure = (0..counts).map(|c| mixed(first, c).min(mixed(second, c))).sum();
        common / Enclosure::from(2.0)
    }

    /// The smallest error of the second kind of tests of the first law against the second at level α.
    ///
    /// From below it is Σ min(q, λp) − λα for every λ ≥ 0; from above, a test that rejects where q/p is largest.
    pub fn missed(&self, level: Enclosure) -> Enclosure {
        let [p, q] = [0, 1].map(|law| self.laws[law].as_slice());
        let ratio = |c: usize| q[c].midpoint() / p[c].midpoint();
        let mut order: Vec<usize> =
            (0..p.len()).filter(|&c| p[c].upper() > 0.0 || q[c].upper() > 0.0).collect();
        order.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)));
        let (mut left, mut accepted, mut turn) = (level, Enclosure::ZERO, 0.0);
        for c in order {
            let fits = p[c].upper() <= left.lower();
            let share = match fits {
                true => Enclosure::ONE,
                false => (Enclosure::from(left.lower()) / Enclosure::from(p[c].upper())).positive_part(),
            };
            let share = Enclosure::from(share.lower().clamp(0.0, 1.0));
            if !fits && turn == 0.0 {
                turn = ratio(c);
            }
            left = (left - share * p[c]).positive_part();
            accepted = accepted + (Enclosure::ONE - share) * q[c];
        }
        let turn = Enclosure::from(if turn.is_finite() { turn } else { 0.0 });
        let dual: Enclosure = p.iter().zip(q).map(|(&p, &q)| q.min(turn * p)).sum();
        let lower = (dual - turn * level).lower().clamp(0.0, 1.0);
        Enclosure::between(lower, accepted.upper().clamp(lower, 1.0))
    }

    /// I(V; X^n) in nats.
    pub fn information(&self, prior: &[Enclosure]) -> Enclosure {
        let joint: Vec<Vec<Enclosure>> =
            self.laws.iter().zip(prior).map(|(law, &w)| law.iter().map(|&p| w * p).collect()).collect();
        mutual_information_of(&joint)
    }
}
