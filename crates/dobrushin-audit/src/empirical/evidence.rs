//! From the scores of runs to what they prove.

use super::{Guesses, Purpose, Rates, Risk, Rule, first_part, mixed, rule};
use crate::Error;
use dobrushin::profile::GaussianProfile;
use dobrushin::{Delta, NonNegative, PrivacyProfile};

/// An attacker's scores of independent runs with the record, and of others without it. Infinite scores are scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// One score for each run with the record.
    pub with: Vec<f64>,
    /// One score for each run without it.
    pub without: Vec<f64>,
}

/// One rule, counted on runs that had no part in its choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// What its threshold was chosen for.
    pub purpose: Purpose,
    /// The rule.
    pub rule: Rule,
    /// How often it was right and wrong.
    pub guesses: Guesses,
    /// What its rates are, at least and at most.
    pub rates: Rates,
}

/// What is proved if the worst trade-off curve is that of two normal laws of variance 1.
///
/// This is so where the bound is exact: for a single noisy step, and for full batches. Elsewhere it is an assumption.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianEvidence {
    /// A lower bound on the distance μ of their means.
    pub mu: f64,
    /// The ε of this μ at the δ in question.
    pub epsilon: f64,
    /// The ε that a perfect attacker would have proved with this many runs.
    pub provable_at_most: f64,
}

/// What an attack proves. Everything in it is true at once, except with probability `risk`.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The δ at which ε is bounded.
    pub delta: Delta,
    /// The risk that something in it is wrong.
    pub risk: Risk,
    /// The scores, with the record and without it, also those that chose the rules.
    pub runs: (usize, usize),
    /// The rules that were counted, one for each purpose.
    pub points: [Point; 3],
    /// The largest lower bound on ε at this δ.
    pub epsilon: f64,
    /// The ε that a perfect attacker would have proved with this many runs.
    pub provable_at_most: f64,
    /// What follows if the worst trade-off curve is Gaussian.
    pub gaussian: GaussianEvidence,
}

/// What scores prove about ε at this δ.
///
/// A quarter of the runs chooses a rule for each [`Purpose`]; the rest is counted. Which runs these are depends on
/// their number alone, and not on their order in time or by size.
///
/// # Guarantee
/// If the runs are independent, all `rates` in the evidence hold together except with probability `risk`, whatever the
/// program is: the rules depend on the first part alone, and the three share the risk. `epsilon`, `gaussian` and
/// [`Evidence::contradicts`] follow from these rates, so they take no further risk.
///
/// # Errors
/// A score that is NaN, or fewer than four runs of a kind.
///
/// ```
/// use dobrushin::Delta;
/// use dobrushin_audit::{Error, Risk, Scores, evidence};
///
/// // 400 runs of each kind that an attacker tells apart without a mistake.
/// let scores = Scores { with: vec![1.0; 400], without: vec![0.0; 400] };
/// let (delta, risk) = (Delta::new(1e-5)?, Risk::new(0.05)?);
/// let found = evidence(&scores, delta, risk)?;
/// assert_eq!(found.epsilon, found.provable_at_most);
/// assert!((4.0..4.2).contains(&found.epsilon));
///
/// let scores = Scores { with: vec![1.0, 2.0, f64::NAN, 3.0], without: vec![0.0; 4] };
/// let refused = evidence(&scores, delta, risk);
/// assert_eq!(refused, Err(Error::NotANumber { what: "score", with_the_record: true, run: 3 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evidence(scores: &Scores, delta: Delta, risk: Risk) -> Result<Evidence, Error> {
    let (with, without) = (Parts::of(&scores.with, true)?, Parts::of(&scores.without, false)?);
    let each = risk.shared_by(Purpose::ALL.len());
    let rules = rule::choose(&with.known, &without.known, delta, each);
    let points = rules.map(|(purpose, rule)| {
        let guesses = rule.guesses(&with.counted, &without.counted);
        Point { purpose, rule, guesses, rates: guesses.rates(each) }
    });
    let perfect = points[0].guesses.rates_of_a_perfect_attacker(each);
    let largest =
        |of: fn(&Rates, Delta) -> f64| points.iter().map(|p| of(&p.rates, delta)).fold(0.0, f64::max);
    let mu = largest(|rates, _| rates.mu());
    Ok(Evidence {
        delta,
        risk,
        runs: (scores.with.len(), scores.without.len()),
        points,
        epsilon: largest(Rates::epsilon),
        provable_at_most: perfect.epsilon(delta),
        gaussian: GaussianEvidence {
            mu,
            epsilon: gaussian_epsilon(mu, delta),
            provable_at_most: gaussian_epsilon(perfect.mu(), delta),
        },
    })
}

/// The ε of two normal laws at a distance, from below.
fn gaussian_epsilon(mu: f64, delta: Delta) -> f64 {
    NonNegative::new(mu).map_or(0.0, |mu| GaussianProfile::new(mu).epsilon(delta).lower())
}

/// The scores of one kind of runs: those that choose a rule, and those that are counted.
struct Parts {
    known: Vec<f64>,
    counted: Vec<f64>,
}

/// With fewer runs, nothing is left to choose a rule.
const FEWEST: usize = 4;

impl Parts {
    fn of(scores: &[f64], with_the_record: bool) -> Result<Self, Error> {
        if let Some(place) = scores.iter().position(|score| score.is_nan()) {
            return Err(Error::NotANumber { what: "score", with_the_record, run: place + 1 });
        }
        if scores.len() < FEWEST {
            return Err(Error::TooFewRuns { with_the_record, runs: scores.len(), fewest: FEWEST });
        }
        let mut known: Vec<f64> = mixed(scores.len()).into_iter().map(|place| scores[place]).collect();
        let counted = known.split_off(first_part(known.len()));
        Ok(Self { known, counted })
    }
}
