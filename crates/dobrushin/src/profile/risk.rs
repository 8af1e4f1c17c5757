//! What a profile says about attacks that guess whether one person's record was used.
//!
//! The attacker knows everything except whether the record is in, sees the output, which is drawn from P if the record
//! is in and from Q if not, and claims "in" on a set A of outputs. P(A) is the true-positive rate and Q(A) the
//! false-positive rate; E_{e^ε}(P‖Q) is the forward direction of the profile.

use super::trade_off::TradeOff;
use super::{Direction, PrivacyProfile};
use crate::{Enclosure, Epsilon, Probability};

/// The membership advantage: the largest P(A) − Q(A), which is total variation.
///
/// # Guarantee
/// No attack's true-positive rate exceeds its false-positive rate by more than the upper end.
///
/// ```
/// use dobrushin::profile::{ApproximateProfile, risk};
/// use dobrushin::{Delta, Epsilon};
///
/// // ε-privacy leaves (e^ε − 1)/(e^ε + 1) at most, which is 1/2 for ε = ln 3.
/// let profile = ApproximateProfile::new(Epsilon::new(3_f64.ln())?, Delta::new(0.0)?);
/// assert!((risk::advantage(&profile).upper() - 0.5).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn advantage(profile: &dyn PrivacyProfile) -> Enclosure {
    // E_1 is the same in both directions, so either bound holds.
    let of = |direction| at(profile, direction, Enclosure::ZERO);
    if profile.is_symmetric() {
        of(Direction::Forward)
    } else {
        of(Direction::Forward).min(of(Direction::Reverse))
    }
}

/// The largest true-positive rate at a given false-positive rate, 1 − f(rate).
///
/// # Guarantee
/// No attack with at most this false-positive rate has a true-positive rate above the upper end.
///
/// ```
/// use dobrushin::profile::{ApproximateProfile, risk};
/// use dobrushin::{Delta, Epsilon, Probability};
///
/// // ε-privacy: no event is more than e^ε times as likely, so that 1 in 100 becomes 3 in 100 for ε = ln 3.
/// let profile = ApproximateProfile::new(Epsilon::new(3_f64.ln())?, Delta::new(0.0)?);
/// let rate = risk::true_positive_rate(&profile, Probability::new(0.01)?);
/// assert!((rate.upper() - 0.03).abs() < 1e-9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn true_positive_rate(profile: &dyn PrivacyProfile, false_positive_rate: Probability) -> Enclosure {
    TradeOff::new(profile).power(false_positive_rate)
}

/// The largest probability that a claim of "in" is right, if the record has the given prior probability of being in and
/// the attack has the given false-positive rate: π·TPR/(π·TPR + (1 − π)·FPR).
///
/// # Guarantee
/// For an attack with at least this false-positive rate, the fraction of right claims is at most the upper end: the
/// largest true-positive rate is concave in the false-positive rate, so their ratio falls.
///
/// ```
/// use dobrushin::profile::{ApproximateProfile, risk};
/// use dobrushin::{Delta, Epsilon, Probability};
///
/// // Odds of 1 : 1 become 3 : 1 at most, if the mechanism is ln 3-private.
/// let profile = ApproximateProfile::new(Epsilon::new(3_f64.ln())?, Delta::new(0.0)?);
/// let precision = risk::precision(&profile, Probability::new(0.5)?, Probability::new(0.01)?);
/// assert!((precision.upper() - 0.75).abs() < 1e-9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn precision(
    profile: &dyn PrivacyProfile,
    prior: Probability,
    false_positive_rate: Probability,
) -> Enclosure {
    let prior = Enclosure::from(prior);
    let right = prior * true_positive_rate(profile, false_positive_rate);
    let wrong = (Enclosure::ONE - prior) * Enclosure::from(false_positive_rate);
    if right == Enclosure::ZERO {
        return Enclosure::ZERO;
    }
    // Increasing in the fraction of right claims.
    let share = |right: f64| {
        let right = Enclosure::from(right);
        if right == Enclosure::ZERO { right } else { right / (right + wrong) }
    };
    right.map_monotone(share).min(Enclosure::ONE)
}

/// The largest probability of guessing right, if the record is in with probability π: it is max(π, 1 − π) without the
/// output, and with the output
///
/// ```text
/// (1 − π) + π·E_γ(P‖Q)  with γ = (1 − π)/π ≥ 1,   π + (1 − π)·E_γ(Q‖P)  with γ = π/(1 − π) ≥ 1.
/// ```
///
/// # Guarantee
/// No attacker whose prior is right guesses right with a higher probability than the upper end.
///
/// ```
/// use dobrushin::profile::{ApproximateProfile, risk};
/// use dobrushin::{Delta, Epsilon, Probability};
///
/// // A fair coin, seen through randomised response that tells the truth 3 times in 4.
/// let profile = ApproximateProfile::new(Epsilon::new(3_f64.ln())?, Delta::new(0.0)?);
/// assert!((risk::bayes_success(&profile, Probability::new(0.5)?).upper() - 0.75).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn bayes_success(profile: &dyn PrivacyProfile, prior: Probability) -> Enclosure {
    let is_in = Enclosure::from(prior);
    let is_out = Enclosure::ONE - is_in;
    let (likely, unlikely, direction) = if prior.get() <= 0.5 {
        (is_out, is_in, Direction::Forward)
    } else {
        (is_in, is_out, Direction::Reverse)
    };
    if unlikely == Enclosure::ZERO {
        return Enclosure::ONE;
    }
    let epsilon = (likely / unlikely).ln().positive_part();
    (likely + unlikely * at(profile, direction, epsilon)).min(Enclosure::ONE)
}

/// δ over a range of ε, by monotonicity.
fn at(profile: &dyn PrivacyProfile, direction: Direction, epsilon: Enclosure) -> Enclosure {
    epsilon.map_monotone(|e| Epsilon::new(e).map_or(Enclosure::UNIT, |e| profile.delta_of(direction, e)))
}
