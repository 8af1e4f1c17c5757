//! What somebody may spend over many releases, whichever releases are chosen in the light of earlier ones.
//!
//! A composition theorem is about releases that were fixed in advance. Over years, people choose the next release after
//! they saw the last one, so a budget needs a *filter*: a rule that says after each release whether another one may follow,
//! such that what was released in the end is (ε, δ)-private however it was chosen. The exact composition of what happened to
//! be chosen is not such a rule: after a first outcome, an adversary would choose the second release that suits this outcome
//! best, and both choices would fit.

use super::RunningCost;
use super::running::{BELOW, ORDERS, REST_UNIT, UNIT, conversion};
use crate::{Delta, Enclosure, Epsilon};

/// The limits of [`RunningCost`] under which many releases are (ε, δ)-private, also if each was chosen after the earlier
/// ones were seen.
///
/// # Guarantee
/// If each release has the profile that is counted for it, whatever the earlier releases were, and if the sum of these costs
/// [fits](Allowance::fits) whenever there is a release, then all releases together are (ε, δ)-private. Who is asked, how and
/// when, whether there is another release, and all its settings may depend on all earlier releases. The (ε, δ) of the limits
/// may not: it is fixed before the first release.
///
/// *Proof.* Replace each release by a pair with its profile (P, Q), of which it is a post-processing, and cut P into μ and a
/// rest, as in [`RunningCost`]; let L be the product of dμ/dQ along the releases that were made, and γ = e^ε. What the rests
/// contribute is at most their sum on each path, ρδ. Let K_α be the sum of the log-moments on a path; then
/// E_Q[L^α e^(−K_α)] ≤ 1, since each factor has this conditional expectation. Divide the paths by the limit that holds at
/// their end. Where the largest losses sum up to at most ε, L ≤ γ, which contributes nothing. Where K_α ≤ A_α, first for some
/// α, (L − γ)₊ ≤ L^α γ^(1−α) (1/α)((α−1)/α)^(α−1), and the expectation is at most the same with e^(A_α) in place of L^α. The
/// limits A_α are such that this is w_α(1 − ρ)δ, and ∑w_α = 1. ∎ For a fixed α this is the filter of Feldman and Zrnic
/// (2021); which α will do is not known in advance, so δ is divided among them.
///
/// The limits are whole numbers, rounded down, so a sum fits or does not fit on every machine.
///
/// ```
/// use dobrushin::profile::{Allowance, GaussianProfile, PiecewiseProfile, RunningCost};
/// use dobrushin::{Delta, Epsilon, NonNegative};
///
/// let allowance = Allowance::new(Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let release = PiecewiseProfile::interpolating(&GaussianProfile::new(NonNegative::new(0.05)?), 1e-3);
/// let cost = RunningCost::of(&release);
/// // 22 of these releases are at distance 0.2345, where ε is 0.99: this many can be fixed in advance.
/// assert!(allowance.fits(&cost.times(15)));
/// assert!(!allowance.fits(&cost.times(22)));
/// assert!((0.0..1.0).contains(&allowance.share(&cost.times(15))));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Allowance {
    rest: u128,
    largest: u64,
    /// `None` where δ leaves nothing for this order.
    moments: [Option<u64>; ORDERS],
}

/// The share ρ of δ that is for what is cut off.
const REST: f64 = 0.125;
/// The share of the remainder that is for one order: the one that is best if all releases are Gaussian.
const MAIN: f64 = 0.75;

impl Allowance {
    /// What may be spent so that all of it is (ε, δ)-private.
    pub fn new(epsilon: Epsilon, delta: Delta) -> Self {
        let (epsilon, delta) = (Enclosure::from(epsilon.get()), Enclosure::from(delta.get()));
        let rest = delta * Enclosure::from(REST);
        let limit = |below: f64, weight: Enclosure| {
            let below = Enclosure::from(below);
            below * epsilon - conversion(below) + (weight * (delta - rest)).ln()
        };
        // The variance of a Gaussian that just fits, for each order.
        let gaussian = |below: f64| limit(below, Enclosure::ONE).lower() / (below * (below + 1.0));
        let main =
            (0..ORDERS).max_by(|&a, &b| gaussian(BELOW[a]).total_cmp(&gaussian(BELOW[b]))).unwrap_or(0);
        let others = (Enclosure::ONE - Enclosure::from(MAIN)) / Enclosure::from((ORDERS - 1) as f64);
        let weight = |order: usize| if order == main { Enclosure::from(MAIN) } else { others };
        Self {
            rest: (rest.lower() / REST_UNIT).floor() as u128,
            largest: units(epsilon.lower()),
            moments: std::array::from_fn(|order| {
                let limit = limit(BELOW[order], weight(order)).lower();
                (limit >= 0.0).then(|| units(limit))
            }),
        }
    }

    /// Whether this much may be spent.
    pub fn fits(&self, cost: &RunningCost) -> bool {
        let of_orders = || {
            self.moments
                .iter()
                .zip(&cost.moments)
                .any(|(limit, spent)| limit.is_some_and(|limit| *spent <= limit))
        };
        cost.rest <= self.rest && (cost.largest <= self.largest || of_orders())
    }

    /// The largest μ such that a release that is μ-GDP still fits; 0 if none does.
    pub fn gaussian_left(&self, cost: &RunningCost) -> f64 {
        // A Gaussian has K(α) = α(α−1)μ²/2; what is cut off far beyond all other losses is next to nothing.
        let of_order = |((limit, spent), below): ((&Option<u64>, &u64), &f64)| {
            let left = (*limit)?.checked_sub(*spent)?;
            Some((2.0 * left as f64 * UNIT / (below * (below + 1.0))).sqrt())
        };
        if cost.rest >= self.rest {
            return 0.0;
        }
        self.moments.iter().zip(&cost.moments).zip(&BELOW).filter_map(of_order).fold(0.0, f64::max)
    }

    /// The share of the allowance that is spent, from 0 to 1 if it [fits](Allowance::fits), and above 1 otherwise. It grows
    /// with each release, but two releases need not use up the sum of their shares.
    pub fn share(&self, cost: &RunningCost) -> f64 {
        let of = |spent: f64, limit: f64| if spent == 0.0 { 0.0 } else { spent / limit };
        let orders = self
            .moments
            .iter()
            .zip(&cost.moments)
            .filter_map(|(limit, spent)| Some(of(*spent as f64, (*limit)? as f64)));
        let least = orders.fold(of(cost.largest as f64, self.largest as f64), f64::min);
        let share = least.max(of(cost.rest as f64, self.rest as f64));
        // Rounding must not contradict the exact answer.
        if self.fits(cost) { share.min(1.0) } else { share.max(1.0_f64.next_up()) }
    }
}

/// Whole units, rounded down.
fn units(value: f64) -> u64 {
    // Division by a power of two is exact; a limit of u64::MAX would let an infinite sum pass.
    ((value / UNIT).floor() as u64).min(u64::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NonNegative;
    use crate::profile::{ApproximateProfile, GaussianProfile, PiecewiseProfile, PrivacyProfile};

    fn allowance(epsilon: f64, delta: f64) -> Allowance {
        Allowance::new(Epsilon::new(epsilon).expect("ε"), Delta::new(delta).expect("δ"))
    }

    fn gaussian(mu: f64) -> RunningCost {
        RunningCost::of(&PiecewiseProfile::interpolating(
            &GaussianProfile::new(NonNegative::new(mu).expect("μ")),
            1e-3,
        ))
    }

    fn approximate(epsilon: f64, delta: f64) -> RunningCost {
        let profile =
            ApproximateProfile::new(Epsilon::new(epsilon).expect("ε"), Delta::new(delta).expect("δ"));
        RunningCost::of(&PiecewiseProfile::interpolating(&profile, 1e-3))
    }

    #[test]
    fn what_fits_is_private_and_most_of_what_is_private_fits() {
        for (epsilon, delta) in [(0.1, 1e-5), (1.0, 1e-6), (3.0, 1e-5), (8.0, 1e-9)] {
            let allowance = allowance(epsilon, delta);
            let each = 0.01 * epsilon;
            let cost = gaussian(each);
            let most =
                (1..100_000).take_while(|&count| allowance.fits(&cost.times(count))).last().unwrap_or(0);
            let at = |count: f64| GaussianProfile::new(NonNegative::new(each * count.sqrt()).expect("μ"));
            let spent = at(most as f64).epsilon(Delta::new(delta).expect("δ"));
            assert!(
                spent.upper() <= epsilon && spent.lower() > 0.8 * epsilon,
                "{epsilon} {delta}: {most} {spent:?}"
            );
        }
    }

    /// A filter must hold for every way to choose; here a second release is chosen after the first of two outcomes is seen,
    /// among all that just fit, and the exact divergence of the whole is compared with δ.
    #[test]
    fn a_release_that_is_chosen_by_an_earlier_outcome_stays_within_delta() {
        let (epsilon, delta) = (1.0, 1e-3);
        let gamma = f64::exp(epsilon);
        let allowance = allowance(epsilon, delta);
        for first in [0.2_f64, 0.7] {
            let answer = approximate(first, 0.0);
            // The most that fits of each kind afterwards.
            let largest = |cost: &dyn Fn(f64) -> RunningCost, most: f64| {
                let (mut fits, mut too_much) = (0.0, most);
                for _ in 0..12 {
                    let middle = 0.5 * (fits + too_much);
                    if allowance.fits(&answer.and(cost(middle))) { fits = middle } else { too_much = middle }
                }
                fits
            };
            let pure = largest(&|epsilon| approximate(epsilon, 0.0), 3.0);
            let bell = largest(&gaussian, 3.0);
            let rare = largest(&|delta| approximate(0.0, delta), 0.5);
            let profiles: [Box<dyn Fn(f64) -> f64>; 3] = [
                Box::new(move |gamma: f64| response(pure, gamma)),
                Box::new(move |gamma: f64| normal(bell, gamma)),
                Box::new(move |gamma: f64| (1.0 - gamma).max(0.0) * (1.0 - rare) + rare),
            ];
            // P(yes) = e^ε₁/(1 + e^ε₁), and the other way round under Q; for each outcome the worst is chosen.
            let odds = f64::exp(first);
            let worst = |gamma: f64| profiles.iter().map(|profile| profile(gamma)).fold(0.0, f64::max);
            let yes = odds / (1.0 + odds) * worst(gamma / odds);
            let no = 1.0 / (1.0 + odds) * worst(gamma * odds);
            assert!(yes + no <= delta, "{first}: {} > {delta}", yes + no);
            assert!(yes + no > 0.02 * delta, "{first}: {} says nothing", yes + no);
        }
    }

    /// E_γ of a randomised response, also for γ < 1.
    fn response(epsilon: f64, gamma: f64) -> f64 {
        let yes = epsilon.exp() / (1.0 + epsilon.exp());
        (yes - gamma * (1.0 - yes)).max(0.0) + ((1.0 - yes) - gamma * yes).max(0.0)
    }

    fn normal(mu: f64, gamma: f64) -> f64 {
        let profile = GaussianProfile::new(NonNegative::new(mu).expect("μ"));
        let delta = |epsilon: f64| profile.delta(Epsilon::new(epsilon).expect("ε")).lower();
        if gamma >= 1.0 { delta(gamma.ln()) } else { 1.0 - gamma + gamma * delta(-gamma.ln()) }
    }

    #[test]
    fn nothing_infinite_fits_and_the_smallest_spend_counts() {
        let none = allowance(0.0, 0.0);
        assert!(none.fits(&RunningCost::default()) && none.share(&RunningCost::default()) == 0.0);
        assert!(!none.fits(&approximate(1e-320, 0.0)) && none.share(&approximate(1e-320, 0.0)) > 1.0);
        assert!(!none.fits(&approximate(0.0, 1e-320)));
        let much = Allowance::new(Epsilon::new(f64::MAX).expect("ε"), Delta::new(0.5).expect("δ"));
        assert!(!much.fits(&gaussian(5.0).times(u64::MAX)));
        assert!(much.fits(&gaussian(5.0)));
    }

    #[test]
    fn basic_composition_is_one_of_the_limits() {
        let allowance = allowance(1.0, 1e-5);
        assert!(allowance.fits(&approximate(0.2, 1e-7).times(4)));
        assert!(allowance.fits(&approximate(0.1, 0.0).times(9)));
        assert!(!allowance.fits(&approximate(0.3, 1e-5)));
    }
}
