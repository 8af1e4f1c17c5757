//! How an attacker decides by a score, and how it chooses the threshold.

use super::{Guesses, Risk};
use dobrushin::numeric::normal;
use dobrushin::{Delta, Probability};

/// Which scores speak for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tail {
    /// Scores of at least the threshold.
    Above,
    /// Scores below the threshold.
    Below,
}

/// "The record was there" if a score is on one side of a threshold.
///
/// ```
/// use dobrushin_audit::{Rule, Tail};
///
/// let rule = Rule { threshold: 0.5, tail: Tail::Below };
/// assert!(rule.says_with(0.4) && !rule.says_with(0.5));
/// let counted = rule.guesses(&[0.1, 0.2, 0.9], &[0.3, 0.6]);
/// assert_eq!((counted.right, counted.wrong), (2, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The threshold, which may be infinite.
    pub threshold: f64,
    /// The side.
    pub tail: Tail,
}

impl Rule {
    /// What it says about a score.
    pub fn says_with(&self, score: f64) -> bool {
        (score >= self.threshold) == (self.tail == Tail::Above)
    }

    /// How often it is right about the scores with the record, and wrong about those without it.
    pub fn guesses(&self, with: &[f64], without: &[f64]) -> Guesses {
        let count = |scores: &[f64]| scores.iter().filter(|&&score| self.says_with(score)).count() as u64;
        Guesses {
            right: count(with),
            runs: with.len() as u64,
            wrong: count(without),
            other_runs: without.len() as u64,
        }
    }
}

/// What a threshold is good for. An attack counts one rule for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Few false alarms: the largest ln((p − δ)/q).
    FewFalseAlarms,
    /// Few misses: the largest ln((1 − q − δ)/(1 − p)).
    FewMisses,
    /// As few of both: the largest p − q.
    Balanced,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::FewFalseAlarms, Self::FewMisses, Self::Balanced];

    /// What rates are worth for this purpose; only comparisons of it mean anything.
    fn worth(self, delta: f64, p: f64, q: f64) -> f64 {
        match self {
            Self::FewFalseAlarms => (p - delta) / q,
            Self::FewMisses => (1.0 - q - delta) / (1.0 - p),
            Self::Balanced => p - q,
        }
    }
}

/// The rule that would have proved most on the scores that are known, roughly; for each purpose.
pub(super) fn choose(with: &[f64], without: &[f64], delta: Delta, risk: Risk) -> [(Purpose, Rule); 3] {
    let candidates = candidates(with, without);
    let z =
        Probability::new(risk.shared_by(2).get()).map_or(2.0, |risk| normal::tail_inverse(risk).midpoint());
    Purpose::ALL.map(|purpose| {
        let worth = |candidate: &Candidate| {
            let (p, q) = match purpose {
                // Near the ends, where nothing can be gained, rates are known best. So they are taken as they are.
                Purpose::Balanced => (candidate.p, candidate.q),
                Purpose::FewFalseAlarms | Purpose::FewMisses => {
                    (least(candidate.p, with.len(), z), 1.0 - least(1.0 - candidate.q, without.len(), z))
                }
            };
            purpose.worth(delta.get(), p, q)
        };
        let best = candidates.iter().map(|candidate| (worth(candidate), candidate.rule));
        let best = best.reduce(|best, next| if next.0 > best.0 { next } else { best });
        // Scores that are all equal tell nothing: any rule will do.
        (purpose, best.map_or(Rule { threshold: 0.0, tail: Tail::Above }, |(_, rule)| rule))
    })
}

/// A rule, and its rates on the scores that are known.
struct Candidate {
    rule: Rule,
    p: f64,
    q: f64,
}

/// At most this many thresholds near each end are tried, and this many between them.
const AT_THE_ENDS: usize = 32;
const BETWEEN: usize = 128;

/// Thresholds between different scores, with the side on which there are more scores with the record.
fn candidates(with: &[f64], without: &[f64]) -> Vec<Candidate> {
    let sorted = |scores: &[f64]| {
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let (with, without) = (sorted(with), sorted(without));
    let all = sorted(&[with.as_slice(), without.as_slice()].concat());
    let places: Vec<usize> = (1..all.len()).filter(|&place| all[place - 1] < all[place]).collect();
    let step = (places.len() / BETWEEN).max(1);
    let is_tried = |index: usize| {
        index < AT_THE_ENDS || index + AT_THE_ENDS >= places.len() || index.is_multiple_of(step)
    };
    let tried = places.iter().enumerate().filter(|&(index, _)| is_tried(index));
    let share_above = |scores: &[f64], threshold: f64| {
        1.0 - scores.partition_point(|&score| score < threshold) as f64 / scores.len() as f64
    };
    let candidates = tried.map(|(_, &place)| {
        let threshold = between(all[place - 1], all[place]);
        let (p, q) = (share_above(&with, threshold), share_above(&without, threshold));
        if p >= q {
            Candidate { rule: Rule { threshold, tail: Tail::Above }, p, q }
        } else {
            Candidate { rule: Rule { threshold, tail: Tail::Below }, p: 1.0 - p, q: 1.0 - q }
        }
    });
    candidates.collect()
}

/// A number above the first and not above the second, in the middle if there is a middle.
fn between(below: f64, above: f64) -> f64 {
    let middle = below.midpoint(above);
    if below < middle && middle <= above { middle } else { above }
}

/// Roughly the smallest rate with which a share would be seen in this many runs (Wilson's interval): for choices only.
fn least(share: f64, runs: usize, z: f64) -> f64 {
    let (n, square) = (runs as f64, z * z);
    let spread = z * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    ((share + square / (2.0 * n) - spread) / (1.0 + square / n)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(with: &[f64], without: &[f64]) -> [Rule; 3] {
        let (delta, risk) = (Delta::new(1e-5).expect("valid"), Risk::new(0.05).expect("valid"));
        choose(with, without, delta, risk).map(|(_, rule)| rule)
    }

    #[test]
    fn two_separate_groups_are_told_apart_on_the_side_where_they_are() {
        let (low, high): (Vec<f64>, Vec<f64>) = (0..50).map(|i| (f64::from(i), 100.0 + f64::from(i))).unzip();
        for rule in chosen(&high, &low) {
            assert_eq!(rule, Rule { threshold: 74.5, tail: Tail::Above });
        }
        for rule in chosen(&low, &high) {
            assert_eq!(rule, Rule { threshold: 74.5, tail: Tail::Below });
        }
    }

    #[test]
    fn infinite_equal_and_neighbouring_scores_have_thresholds() {
        let infinities = ([f64::INFINITY; 9], [f64::NEG_INFINITY; 9]);
        let next = ([1.0_f64.next_up(); 9], [1.0; 9]);
        for (with, without) in [infinities, next] {
            for rule in chosen(&with, &without) {
                assert_eq!(
                    rule.guesses(&with, &without),
                    Guesses { right: 9, runs: 9, wrong: 0, other_runs: 9 }
                );
            }
        }
        for rule in chosen(&[3.0; 9], &[3.0; 9]) {
            let guesses = rule.guesses(&[3.0; 9], &[3.0; 9]);
            assert_eq!(guesses.right, guesses.wrong);
        }
    }

    #[test]
    fn a_purpose_has_the_threshold_that_serves_it() {
        // A tenth of the scores with the record is far out, and so is a tenth of those without it, on the other side.
        let middle = |i: i32| f64::from(i % 90);
        let with: Vec<f64> = (0..1000).map(|i| if i % 10 == 0 { 500.0 } else { middle(i) }).collect();
        let without: Vec<f64> = (0..1000).map(|i| if i % 10 == 0 { -500.0 } else { middle(i) }).collect();
        let [few_false_alarms, few_misses, _] = chosen(&with, &without);
        assert!((90.0..=500.0).contains(&few_false_alarms.threshold));
        assert!((-500.0..0.0).contains(&few_misses.threshold));
    }
}
