//! What a guarantee means for one person.
//!
//! An attacker knows everything except one thing about one person, such as whether their record is in, and sees the
//! result. The result has the law P in one case and Q in the other.

use crate::numeric::{normal, theta};
use crate::profile::PrivacyProfile;
use crate::{Delta, Enclosure, Epsilon, Neighbours, Probability};

/// The false-positive rates of [`Meaning::true_positive_rates`].
const RATES: [f64; 2] = [0.01, 0.001];

/// What an attacker can learn about one person at most.
///
/// # Guarantee
/// Every upper end holds for every attacker and every pair of neighbours, in both directions.
///
/// ```
/// use dobrushin::account::Meaning;
/// use dobrushin::profile::ApproximateProfile;
/// use dobrushin::{Delta, Epsilon};
///
/// // Randomised response that tells the truth three times in four.
/// let (epsilon, delta) = (Epsilon::new(3_f64.ln())?, Delta::new(0.0)?);
/// let meaning = Meaning::of(&ApproximateProfile::new(epsilon, delta), epsilon, delta);
/// assert!((meaning.posterior_from_half.upper() - 0.75).abs() < 1e-12);
/// assert!((meaning.advantage.upper() - 0.5).abs() < 1e-12);
/// // One false positive in a hundred leaves three true positives in a hundred.
/// assert!((meaning.true_positive_rates[0].1.upper() - 0.03).abs() < 1e-12);
/// // A quieter one, with the advantage tanh(0.1).
/// let epsilon = Epsilon::new(0.2)?;
/// let quieter = Meaning::of(&ApproximateProfile::new(epsilon, delta), epsilon, delta);
/// assert_eq!(quieter.one_more_in(), Some(10));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Meaning {
    /// How certain an attacker can become who found both cases equally likely: 1/(1 + e^(−ε)).
    ///
    /// It holds except with probability δ: on two neighbours, an (ε, δ)-private mechanism is a function of one that
    /// reveals everything with probability δ, and is ε-private otherwise (Kairouz, Oh, Viswanath 2015; see
    /// [`ApproximateProfile`](crate::profile::ApproximateProfile)). An ε-private mechanism multiplies the odds by e^ε at
    /// most.
    pub posterior_from_half: Enclosure,
    /// δ, with which the certainty may be larger. The other numbers hold with it included.
    pub delta: f64,
    /// The largest true-positive rate of an attack, for each of a few false-positive rates.
    pub true_positive_rates: Vec<(Probability, Enclosure)>,
    /// The largest difference of an attack's true- and false-positive rates: total variation.
    pub advantage: Enclosure,
    /// Which data sets are neighbours, if the run says so.
    pub neighbours: Option<Neighbours>,
    /// The number of records that were deleted, if the attacker wants to know whether they were ever used; otherwise 0.
    pub deleted: u64,
}

impl Meaning {
    /// What a profile means, of which (ε, δ) is a point.
    ///
    /// # Implementation
    /// Each point (ε, δ) of the profile implies, for every attack with the false-positive rate α,
    ///
    /// ```text
    /// TPR ≤ α·e^ε + δ   and   TPR ≤ 1 − e^(−ε)(1 − δ − α),
    /// ```
    ///
    /// the second from the other direction, since the larger δ of both counts here. The best point is where the privacy loss is
    /// ε at the attack's threshold. It is guessed from the Gaussian pair that has the given point, so the profile is
    /// asked at three places only. Every place gives a bound.
    pub fn of(profile: &dyn PrivacyProfile, epsilon: Epsilon, delta: Delta) -> Self {
        let asked = |at: Epsilon| Point { epsilon: at.into(), delta: profile.delta(at) };
        let places = RATES.iter().filter_map(|rate| touching(epsilon, delta, *rate));
        let further = std::iter::once(0.0).chain(places).filter_map(|place| Epsilon::new(place).ok());
        Self::by_points(epsilon, delta, further.map(asked))
    }

    /// What (ε, δ) alone means.
    pub fn of_point(epsilon: Epsilon, delta: Delta) -> Self {
        Self::by_points(epsilon, delta, std::iter::empty())
    }

    fn by_points(epsilon: Epsilon, delta: Delta, further: impl Iterator<Item = Point>) -> Self {
        let given = Point { epsilon: epsilon.into(), delta: delta.into() };
        let points: Vec<Point> = [given, given.at_zero()].into_iter().chain(further).collect();
        let rate = |rate: f64| {
            let rate = Probability::new(rate).ok()?;
            let most = points.iter().map(|point| point.power(rate.into()));
            Some((rate, most.fold(Enclosure::ONE, Enclosure::min)))
        };
        // A point at ε bounds total variation by that of its chord to the other direction.
        let advantages = points.iter().map(|point| point.at_zero().delta);
        Self {
            posterior_from_half: Enclosure::ONE / (Enclosure::ONE + (-given.epsilon).exp()),
            delta: delta.get(),
            true_positive_rates: RATES.into_iter().filter_map(rate).collect(),
            advantage: advantages.fold(Enclosure::ONE, Enclosure::min),
            neighbours: None,
            deleted: 0,
        }
    }

    /// The largest N such that at most one more in N people is recognised than by a guess that does not look at the
    /// result: 1 over the advantage, rounded down, and 2⁵³ at most. It is `None` if that is below 2.
    pub fn one_more_in(&self) -> Option<u64> {
        const MOST: f64 = 9_007_199_254_740_992.0;
        let people = match self.advantage.upper() {
            0.0 => MOST,
            upper => (Enclosure::ONE / Enclosure::from(upper)).lower().floor().min(MOST),
        };
        (people >= 2.0).then_some(people as u64)
    }
}

/// A bound δ on E_{e^ε} in both directions.
#[derive(Clone, Copy)]
struct Point {
    epsilon: Enclosure,
    delta: Enclosure,
}

impl Point {
    /// What it says at ε = 0: δ + (1 − δ)·(e^ε − 1)/(e^ε + 1).
    fn at_zero(self) -> Self {
        let decay = (-self.epsilon).exp();
        let distance = -(-self.epsilon).exp_m1() / (Enclosure::ONE + decay);
        let delta = self.delta + (Enclosure::ONE - self.delta).positive_part() * distance;
        Self { epsilon: Enclosure::ZERO, delta: delta.min(Enclosure::ONE) }
    }

    /// The largest true-positive rate at a false-positive rate.
    fn power(self, rate: Enclosure) -> Enclosure {
        // e^ε overflows later in halves.
        let root = (self.epsilon / Enclosure::from(2.0)).exp();
        let most = self.delta + root * rate * root;
        let missed = (-self.epsilon).exp() * (Enclosure::ONE - self.delta - rate).positive_part();
        most.min(Enclosure::ONE - missed).max(rate)
    }
}

/// The absolute privacy loss at the threshold of the attack with this false-positive rate, for the Gaussian pair that is
/// (ε, δ)-private and no more: μz − μ²/2 at z = Φ⁻¹(1 − rate).
fn touching(epsilon: Epsilon, delta: Delta, rate: f64) -> Option<f64> {
    if delta.get() == 0.0 {
        return None;
    }
    let mu = theta::largest_r(epsilon, delta).midpoint();
    let threshold = normal::tail_inverse(Probability::new(rate).ok()?).midpoint();
    Some((mu * threshold - mu * mu / 2.0).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NonNegative;
    use crate::profile::{ApproximateProfile, GaussianProfile, risk};

    fn point(epsilon: f64, delta: f64) -> (Epsilon, Delta) {
        (Epsilon::new(epsilon).expect("ε"), Delta::new(delta).expect("δ"))
    }

    #[test]
    fn a_gaussian_pair_has_its_exact_advantage_and_rates() {
        for mu in [0.01, 0.3, 1.0, 2.5, 6.0] {
            let profile = GaussianProfile::new(NonNegative::new(mu).expect("μ"));
            let delta = Delta::new(1e-6).expect("δ");
            let epsilon = Epsilon::new(profile.epsilon(delta).upper()).expect("ε");
            let meaning = Meaning::of(&profile, epsilon, delta);
            // 2Φ(μ/2) − 1.
            let advantage = 2.0 * normal::cdf(mu / 2.0).midpoint() - 1.0;
            assert!((meaning.advantage.upper() - advantage).abs() < 1e-12, "{mu}");
            for (rate, power) in meaning.true_positive_rates {
                // 1 − Φ(z − μ).
                let exact = normal::tail(normal::tail_inverse(rate).midpoint() - mu).midpoint();
                assert!(power.upper() >= exact * (1.0 - 1e-12), "{mu}: {power:?} {exact}");
                assert!(power.upper() <= exact * (1.0 + 1e-9), "{mu}: {power:?} {exact}");
            }
        }
    }

    #[test]
    fn no_number_is_below_what_the_whole_profile_says() {
        let pure = |epsilon: f64| ApproximateProfile::new(point(epsilon, 0.0).0, point(0.0, 1e-4).1);
        for epsilon in [0.0, 1e-9, 0.1, 1.0, 4.0, 30.0, 800.0] {
            for delta in [1e-4, 1e-3, 0.2] {
                let profile = pure(epsilon);
                let (at, delta) = (Epsilon::new(epsilon).expect("ε"), Delta::new(delta).expect("δ"));
                let meaning = Meaning::of(&profile, at, delta);
                assert!(meaning.advantage.upper() >= risk::advantage(&profile).lower());
                for (rate, power) in meaning.true_positive_rates {
                    assert!(power.upper() >= risk::true_positive_rate(&profile, rate).lower());
                    assert!(power.upper() <= 1.0 && power.upper() >= rate.get());
                }
            }
        }
    }

    #[test]
    fn more_privacy_never_means_more_risk() {
        let mut before = Meaning::of_point(Epsilon::new(0.0).expect("ε"), Delta::new(1e-6).expect("δ"));
        assert!((before.posterior_from_half.upper() - 0.5).abs() < 1e-15);
        for k in 1..=400 {
            let (epsilon, delta) = point(f64::from(k) / 10.0, 1e-6);
            let next = Meaning::of_point(epsilon, delta);
            let numbers = |meaning: &Meaning| {
                let rates = meaning.true_positive_rates.iter().map(|(_, power)| power.upper());
                rates
                    .chain([meaning.posterior_from_half.upper(), meaning.advantage.upper()])
                    .collect::<Vec<_>>()
            };
            for (a, b) in numbers(&before).into_iter().zip(numbers(&next)) {
                assert!(a <= b, "{k}: {a} {b}");
            }
            before = next;
        }
        assert_eq!(before.one_more_in(), None);
    }

    #[test]
    fn one_more_in_never_says_too_many() {
        for epsilon in [1e-12, 1e-3, 0.02, 0.5] {
            let (epsilon, delta) = point(epsilon, 0.0);
            let meaning = Meaning::of_point(epsilon, delta);
            let people = meaning.one_more_in().expect("an advantage below one half") as f64;
            assert!(1.0 / people >= meaning.advantage.lower());
        }
        let (nothing, delta) = point(0.0, 0.0);
        assert_eq!(Meaning::of_point(nothing, delta).one_more_in(), Some(1 << 53));
    }
}
