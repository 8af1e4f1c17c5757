//! Guessing among several values of a parameter is no easier than between two of them.

use super::hypercube::{two_laws_errors, two_laws_risks};
use super::indistinguishable::Indistinguishable;
use super::{Loss, Reports, RiskBound};
use dobrushin::divergence::{DiscretePair, FiniteLaw};
use dobrushin::{Enclosure, Gamma, NonNegative};
use std::num::NonZeroU32;

/// A bound on the Bayes risk from n reports, by the mean over pairs of values of the parameter; `None` for more than 100
/// values, or if only one is possible.
///
/// # Guarantee
/// Whoever knows θ names another value θ′ at random, with probability π(θ′)/(1 − π(θ)), and tells the estimator the two,
/// not which one is true: that cannot increase its risk. With p and q the laws of all reports, a = π(θ)π(θ′)/(1 − π(θ))
/// and b the same with θ and θ′ exchanged, its risk is Σ over pairs of ∫min_e [a·p·ℓ(θ, e) + b·q·ℓ(θ′, e)], and this is at
/// least min_e [ℓ(θ, e) + ℓ(θ′, e)]·∫min(a·p, b·q). For b ≥ a the integral is a·(1 − E_γ(p‖q)), γ = b/a, and at least
/// 2a·½(1 − TV). Both are bounded as for two laws, also for sequentially interactive reports.
pub(super) fn risk_of_pairs(
    prior: &FiniteLaw,
    laws: &[FiniteLaw],
    losses: &[Vec<f64>],
    reports: &Reports,
    records: NonZeroU32,
) -> Option<RiskBound> {
    let possible: Vec<usize> = (0..laws.len()).filter(|&v| prior.probabilities()[v] > 0.0).collect();
    if !(2..=MOST_VALUES).contains(&possible.len()) {
        return None;
    }
    let weights: Vec<Enclosure> = prior.enclosures().collect();
    let mut sum = (Enclosure::ZERO, None);
    for (place, &v) in possible.iter().enumerate() {
        for &w in &possible[place + 1..] {
            let pair = DiscretePair::new(laws[v].clone(), laws[w].clone()).ok()?;
            let share =
                |one: usize| weights[v] * weights[w] / (Enclosure::ONE - weights[one]).positive_part();
            let (a, b) = (share(v), share(w));
            let error = two_laws_errors(&pair, reports, records).into_iter().next()?;
            let common = Enclosure::from(2.0) * a.min(b) * error.value;
            let uneven = (a.midpoint() / b.midpoint()).max(b.midpoint() / a.midpoint());
            let composed = Gamma::new(uneven).ok().and_then(|gamma| {
                let most = Indistinguishable::between(&pair, reports).hockey_stick(gamma, records)?;
                // min(a·p, γa·q) is at most min(a·p, b·q) for the γ that is at most b/a.
                let scale = (a.max(b) / gamma.value()).min(a.min(b));
                Some(scale * (Enclosure::ONE - most).positive_part())
            });
            let least = losses[v].iter().zip(&losses[w]);
            let least = least.map(|(&one, &other)| Enclosure::from(one) + Enclosure::from(other));
            let best = composed.filter(|composed| composed.lower() > common.lower()).unwrap_or(common);
            sum.0 = sum.0 + least.reduce(Enclosure::min)? * best;
            sum.1.get_or_insert(error.coefficient);
        }
    }
    sum.1.map(|coefficient| RiskBound { id: "bayes-pairs", value: sum.0, coefficient })
}

/// The best bound on the largest risk between any two of the laws, whose parameters are at least this far apart: the
/// largest risk over all laws is no smaller.
pub(super) fn largest_risk_of_a_pair(
    laws: &[FiniteLaw],
    (separation, loss): (NonNegative, Loss),
    reports: &Reports,
    records: NonZeroU32,
) -> Option<RiskBound> {
    if laws.len() > MOST_VALUES {
        return None;
    }
    let pairs =
        laws.iter().enumerate().flat_map(|(v, one)| laws[v + 1..].iter().map(move |other| (one, other)));
    let risks = pairs.filter_map(|(one, other)| {
        let pair = DiscretePair::new(one.clone(), other.clone()).ok()?;
        two_laws_risks(&pair, reports, records, separation, loss).into_iter().next()
    });
    let best = risks.max_by(|a, b| a.value.lower().total_cmp(&b.value.lower()));
    best.map(|bound| RiskBound { id: "family-pair", ..bound })
}

/// With more values of the parameter, pairs are not enumerated.
const MOST_VALUES: usize = 100;
