//! The audit with one run: many canaries, each of them there or not by the toss of a fair coin.

use super::{Risk, mixed};
use crate::Error;
use dobrushin::numeric::{Boundary, binomial, normal};
use dobrushin::profile::GaussianProfile;
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative, PrivacyProfile};

/// The scores of one run's canaries, and which of them were there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Canaries {
    /// The attacker's score of each canary: the larger, the more it believes that the canary was there.
    pub scores: Vec<f64>,
    /// Whether it was there: each by its own toss of a fair coin.
    pub included: Vec<bool>,
}

/// What one run proves. It is wrong with at most the risk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneRun {
    /// The canaries, m.
    pub canaries: u64,
    /// The guesses that were made, r.
    pub guesses: u64,
    /// The guesses that were right, v.
    pub right: u64,
    /// The risk.
    pub risk: Risk,
    /// A lower bound on ε at the δ in question.
    pub epsilon: f64,
    /// The ε that would have been proved if all guesses had been right.
    pub provable_at_most: f64,
}

/// Where a claimed profile is refuted by one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refutation {
    /// The ε at which the claim is false.
    pub epsilon: f64,
    /// The δ that the claim allows at this ε.
    pub claimed_delta: f64,
    /// The δ that the run proves at this ε: at least what is claimed.
    pub proved_delta: f64,
}

/// How many of the highest scores to guess about, and how many of the lowest, so that most would be proved if the
/// canaries were as easy to tell apart as a claim allows.
///
/// The claim is taken for that of two normal laws. This is a choice that depends on what is claimed and not on the run, so
/// [`one_run`] holds for it even if they are not normal.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_audit::{Risk, guesses_for};
///
/// let (delta, risk) = (Delta::new(1e-5)?, Risk::new(0.05)?);
/// // If canaries are easily told apart, most of them are guessed, but not all: the coins may include fewer than half. If they
/// // are not, the attacker guesses about those of which it is surest.
/// assert!((300..500).contains(&guesses_for(Epsilon::new(100.0)?, 1000, delta, risk)));
/// assert!(guesses_for(Epsilon::new(2.0)?, 1000, delta, risk) < 200);
/// assert_eq!(guesses_for(Epsilon::new(2.0)?, 1, delta, risk), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn guesses_for(epsilon: Epsilon, canaries: usize, delta: Delta, risk: Risk) -> usize {
    let within = |mu: f64| {
        NonNegative::new(mu)
            .is_ok_and(|mu| GaussianProfile::new(mu).epsilon(delta).midpoint() <= epsilon.get())
    };
    let mu = Boundary { holds: 0.0, fails: MOST_APART }.halved(40, within).holds;
    let proved = |each: usize| {
        // Half of the canaries are there, and this many of all have scores above a threshold.
        let share = each as f64 / canaries as f64;
        let tail = |x: f64| normal::tail(x).midpoint();
        let above = |threshold: f64| tail(threshold - mu).midpoint(tail(threshold)) >= share;
        let threshold = Boundary { holds: -MOST_APART, fails: 2.0 * MOST_APART }.halved(60, above).holds;
        let accuracy = (tail(threshold - mu) / (2.0 * share)).min(1.0);
        // The coins include fewer canaries than are guessed, or leave out fewer: E(each − K)₊ for K ~ N(m/2, m/4), twice.
        let deviation = (canaries as f64).sqrt() / 2.0;
        let away = (canaries as f64 / 2.0 - each as f64) / deviation;
        let density = libm::exp(-away * away / 2.0) / std::f64::consts::TAU.sqrt();
        let too_many = 2.0 * deviation * (density - away * tail(away)).max(0.0);
        let right = (2.0 * each as f64 * accuracy - too_many).max(0.0);
        let (canaries, guesses) = (canaries as u64, 2 * each as u64);
        let expected =
            OneRun { canaries, guesses, right: right as u64, risk, epsilon: 0.0, provable_at_most: 0.0 };
        expected.largest_refuted(delta)
    };
    // If all were guessed about, the coins would hardly ever allow that all guesses are right.
    let choices = std::iter::successors(Some(canaries * 2 / 5), |&each| Some(each * 4 / 5));
    let choices = choices.take_while(|&each| each > 0);
    let worth = choices.map(|each| (proved(each), each));
    // Of equals, the first and largest.
    worth.reduce(|best, next| if next.0 > best.0 { next } else { best }).map_or(0, |(_, each)| each)
}

/// Laws at a larger distance are told apart always.
const MOST_APART: f64 = 40.0;

/// What one run with canaries proves: the attacker guesses that those with the `in_guesses` highest scores were there,
/// and those with the `out_guesses` lowest were not. Equal scores are ordered by a fixed shuffle.
///
/// # Guarantee
/// Let a run be (ε, δ)-DP for records that are added or removed, let each of m canaries be included by its own fair coin,
/// and let r guesses be made by the released scores alone. The probability of at least v right guesses is at most
///
/// ```text
/// β + 2mδ·α,   β = Pr[Bin(r, q) ≥ v],   α = max_{1 ≤ i ≤ m} Pr[v − i ≤ Bin(r, q) < v]/i,   q = e^ε/(e^ε + 1)
/// ```
///
/// (Steinke, Nasr, Jagielski 2023, Theorem 5.2 and Corollary 5.4). An ε for which this is at most the risk is refuted,
/// and with it every smaller one. The numbers of guesses must be fixed before anybody looks at the coins.
///
/// # Errors
/// A score that is NaN, lists of different lengths, or more guesses than canaries.
///
/// ```
/// use dobrushin::Delta;
/// use dobrushin_audit::{Canaries, Risk, one_run};
///
/// // 100 guesses about 1000 canaries, 75 of them right: the example of the paper's Appendix D, ε ≥ 0.673.
/// let scores = (0..1000).map(f64::from).collect();
/// let included = (0..1000).map(|place| place < 25 || (900..975).contains(&place)).collect();
/// let canaries = Canaries { scores, included };
/// let found = one_run(&canaries, 100, 0, Delta::new(1e-4)?, Risk::new(0.05)?)?;
/// assert_eq!((found.right, found.guesses), (75, 100));
/// assert!((found.epsilon - 0.673).abs() < 5e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn one_run(
    canaries: &Canaries,
    in_guesses: usize,
    out_guesses: usize,
    delta: Delta,
    risk: Risk,
) -> Result<OneRun, Error> {
    let Canaries { scores, included } = canaries;
    if let Some(place) = scores.iter().position(|score| score.is_nan()) {
        return Err(Error::NotANumber {
            what: "score",
            with_the_record: included.get(place) == Some(&true),
            run: place + 1,
        });
    }
    let guesses = in_guesses.saturating_add(out_guesses);
    if scores.len() != included.len() || guesses > scores.len() {
        return Err(Error::Canaries { scores: scores.len(), included: included.len(), guesses });
    }
    let mut order = mixed(scores.len());
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let were_there = |places: &[usize]| places.iter().filter(|&&place| included[place]).count();
    let right =
        were_there(&order[order.len() - in_guesses..]) + out_guesses - were_there(&order[..out_guesses]);
    let mut counted = OneRun {
        canaries: scores.len() as u64,
        guesses: guesses as u64,
        right: right as u64,
        risk,
        epsilon: 0.0,
        provable_at_most: 0.0,
    };
    counted.epsilon = counted.largest_refuted(delta);
    counted.provable_at_most = OneRun { right: counted.guesses, ..counted }.largest_refuted(delta);
    Ok(counted)
}

impl OneRun {
    /// Where a claimed profile is refuted, if it is.
    ///
    /// # Guarantee
    /// A run with this profile is refuted with probability at most the risk. For each ε it is refuted if enough guesses
    /// are right; so the ε that needs the fewest decides, and it depends on the claim alone. The same holds for the true
    /// profile in place of a claim: except with probability at most the risk, its δ is above `proved_delta`.
    ///
    /// ```
    /// use dobrushin::profile::ApproximateProfile;
    /// use dobrushin::{Delta, Epsilon};
    /// use dobrushin_audit::{Canaries, Risk, one_run};
    ///
    /// let canaries = Canaries { scores: (0..100).map(f64::from).collect(), included: (0..100).map(|i| i >= 50).collect() };
    /// let delta = Delta::new(1e-6)?;
    /// let found = one_run(&canaries, 50, 50, delta, Risk::new(0.05)?)?;
    /// assert!(found.refutes(&ApproximateProfile::new(Epsilon::new(3.0)?, delta)).is_some());
    /// assert!(found.refutes(&ApproximateProfile::new(Epsilon::new(4.0)?, delta)).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refutes(&self, claim: &dyn PrivacyProfile) -> Option<Refutation> {
        let refuted = |epsilon: f64, delta: f64| self.chance(epsilon, delta) <= self.risk.get();
        let places = (0..=LARGEST_TRIED * 16).map(|step| f64::from(step) / 16.0);
        // What is not refuted at δ = 0 is not refuted at a larger δ, nor at a larger ε.
        let mut possible = places.take_while(|&epsilon| refuted(epsilon, 0.0));
        possible.find_map(|epsilon| {
            let claimed_delta = Epsilon::new(epsilon).map_or(1.0, |epsilon| claim.delta(epsilon).upper());
            let largest = Boundary { holds: claimed_delta, fails: 1.0 };
            refuted(epsilon, claimed_delta).then(|| Refutation {
                epsilon,
                claimed_delta,
                proved_delta: largest.halved(40, |delta| refuted(epsilon, delta)).holds,
            })
        })
    }

    /// The largest ε that is refuted at this δ; 0 if none is.
    fn largest_refuted(&self, delta: Delta) -> f64 {
        let refuted = |epsilon: f64| self.chance(epsilon, delta.get()) <= self.risk.get();
        if !refuted(0.0) {
            return 0.0;
        }
        Boundary { holds: 0.0, fails: f64::from(LARGEST_TRIED) }.halved(40, refuted).holds
    }

    /// The largest probability of as many right guesses, for an (ε, δ)-DP run.
    fn chance(&self, epsilon: f64, delta: f64) -> f64 {
        let tails = Enclosure::from(epsilon).exp();
        let q = Enclosure::ONE / (Enclosure::ONE + Enclosure::ONE / tails);
        let other = Enclosure::ONE / (Enclosure::ONE + tails);
        let beta = binomial::at_least(self.guesses, self.right, q);
        if delta == 0.0 || beta.upper() > self.risk.get() {
            return beta.upper();
        }
        let (mut sum, mut alpha) = (Enclosure::ZERO, 0.0_f64);
        let mut mass = binomial::mass(self.guesses, self.right.saturating_sub(1), q, other);
        for i in 1..=self.right {
            sum = sum + mass;
            let share = (sum / Enclosure::from(i)).upper();
            alpha = alpha.max(share);
            // The masses rise to the mode and then fall, so their means rise and then fall, too.
            if share < alpha / 2.0 {
                break;
            }
            let (count, next) = (self.right - i, self.guesses - self.right + i + 1);
            mass = match mass.lower() > f64::MIN_POSITIVE {
                true => mass * other / q * Enclosure::from(count) / Enclosure::from(next),
                // Nothing can be said by a factor about what has underflowed.
                false => binomial::mass(self.guesses, count.saturating_sub(1), q, other),
            };
        }
        let correction = Enclosure::from(2.0) * Enclosure::from(self.canaries) * Enclosure::from(delta);
        (beta + correction * Enclosure::from(alpha)).upper()
    }
}

/// No ε beyond this is tried: nobody makes e⁶⁴ guesses.
const LARGEST_TRIED: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(canaries: u64, guesses: u64, right: u64) -> OneRun {
        let risk = Risk::new(0.05).expect("valid");
        OneRun { canaries, guesses, right, risk, epsilon: 0.0, provable_at_most: 0.0 }
    }

    #[test]
    fn without_delta_the_chance_is_the_binomial_tail() {
        // Pr[Bin(3, 1/2) ≥ 2] = 1/2, and e^ε = 3 makes q = 3/4: Pr[Bin(3, 3/4) ≥ 3] = 27/64.
        assert!((counted(3, 3, 2).chance(0.0, 0.0) - 0.5).abs() < 1e-12);
        assert!((counted(3, 3, 3).chance(3_f64.ln(), 0.0) - 27.0 / 64.0).abs() < 1e-12);
    }

    #[test]
    fn the_correction_is_the_largest_mean_mass_below() {
        // All sums written out.
        let (m, r, v, delta) = (400, 60_u64, 48_u64, 1e-4);
        let audit = counted(m, r, v);
        let epsilon = 0.3_f64;
        let q = Enclosure::ONE / (Enclosure::ONE + (-Enclosure::from(epsilon)).exp());
        let other = Enclosure::ONE - q;
        let mass = |k: u64| binomial::mass(r, k, q, other).midpoint();
        let alpha = (1..=v).map(|i| (v - i..v).map(mass).sum::<f64>() / i as f64).fold(0.0, f64::max);
        let beta: f64 = (v..=r).map(mass).sum();
        assert!(beta < 0.05);
        let expected = beta + 2.0 * m as f64 * delta * alpha;
        assert!((audit.chance(epsilon, delta) - expected).abs() < 1e-12);
    }

    #[test]
    fn canaries_listed_by_inclusion_prove_nothing_if_all_scores_are_equal() {
        let canaries = Canaries { scores: vec![1.0; 1000], included: (0..1000).map(|i| i < 500).collect() };
        let (delta, risk) = (Delta::new(1e-6).expect("valid"), Risk::new(0.01).expect("valid"));
        assert_eq!(one_run(&canaries, 100, 100, delta, risk).expect("valid").epsilon, 0.0);
    }

    #[test]
    fn what_cannot_be_counted_is_refused() {
        let (delta, risk) = (Delta::new(1e-6).expect("valid"), Risk::new(0.01).expect("valid"));
        let refused = |scores: Vec<f64>, included: Vec<bool>, guesses| {
            one_run(&Canaries { scores, included }, guesses, 0, delta, risk).expect_err("refused")
        };
        assert!(matches!(refused(vec![f64::NAN], vec![true], 1), Error::NotANumber { run: 1, .. }));
        assert!(matches!(refused(vec![1.0], vec![], 1), Error::Canaries { .. }));
        assert!(matches!(refused(vec![1.0], vec![true], 2), Error::Canaries { guesses: 2, .. }));
        let nothing = one_run(&Canaries::default(), 0, 0, delta, risk).expect("nothing is no error");
        assert_eq!((nothing.epsilon, nothing.provable_at_most), (0.0, 0.0));
    }
}
