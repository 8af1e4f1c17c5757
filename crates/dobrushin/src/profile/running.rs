//! What many releases cost together, in a few whole numbers that add up.
//!
//! Cut the law P of a release where its privacy loss exceeds ε₀: μ = min(P, e^ε₀·Q) has E_γ(μ‖Q) = E_γ(P‖Q) − E_{e^ε₀}(P‖Q) for
//! γ ≤ e^ε₀, and 0 beyond. With the part that is cut off counted by itself, releases compose, adaptively or not, as
//!
//! ```text
//! E_γ(⊗Pᵢ‖⊗Qᵢ) ≤ Σ E_{e^ε₀ᵢ}(Pᵢ‖Qᵢ) + E_γ(⊗μᵢ‖⊗Qᵢ),
//! E_{e^ε}(μ‖Q) ≤ e^(K(α) − (α−1)ε)·(1/α)((α−1)/α)^(α−1),   e^K(α) = ∫(dμ/dQ)^α dQ,
//! ```
//!
//! and K adds up (Canonne, Kamath, Steinke 2020, Proposition 12; its proof never uses that μ has mass 1). All of it adds up, so an
//! order in which releases are counted, or forgotten again, makes no difference: the sums are of whole numbers.

use super::piecewise::Knot;
use super::{Direction, PiecewiseProfile};
use crate::numeric::ln_sum;
use crate::{Delta, Enclosure};

/// α − 1 for each order: from 1/4 by factors of 7/4.
pub(super) const BELOW: [f64; ORDERS] = [
    0.25,
    0.4375,
    0.765625,
    1.33984375,
    2.3447265625,
    4.103271484375,
    7.18,
    12.57,
    22.0,
    38.5,
    67.4,
    118.0,
    206.0,
    361.0,
    632.0,
    1106.0,
];
pub(super) const ORDERS: usize = 16;
/// Log-moments and losses are counted in these units.
pub(super) const UNIT: f64 = 1.0 / (1_u64 << 40) as f64;
/// Probabilities are counted in these units, 2^-120.
pub(super) const REST_UNIT: f64 = 1.0 / (1_u128 << 120) as f64;
/// A log-moment e^(kw) of a cell is not computed beyond this kw.
const STEEP: f64 = 500.0;

/// The cost of releases to one person, as sums that are never too small.
///
/// # Guarantee
/// If each profile that was counted bounds a release, whatever the earlier releases were, then (ε, δ) with ε =
/// [`RunningCost::epsilon`] of δ holds for all of them together. Every number is rounded up to a whole number of units, so
/// whatever costs anything counts, however little it is; sums that are too large for a number are ∞.
///
/// The sums are exact, and so they do not depend on their order, and say for certain whether a ledger is in order.
///
/// ```
/// use dobrushin::numeric::theta;
/// use dobrushin::profile::{GaussianProfile, PiecewiseProfile, RunningCost};
/// use dobrushin::{Delta, NonNegative};
///
/// // A hundred Gaussian releases at distance 1/10 are one at distance 1.
/// let profile = PiecewiseProfile::interpolating(&GaussianProfile::new(NonNegative::new(0.1)?), 1e-3);
/// let cost = RunningCost::of(&profile).times(100);
/// let delta = Delta::new(1e-6)?;
/// let exact = theta::smallest_epsilon(NonNegative::new(1.0)?, delta).lower();
/// let found = cost.epsilon(delta);
/// assert!(found > exact && found < 1.15 * exact, "{found} {exact}");
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RunningCost {
    /// What was cut off.
    pub(super) rest: u128,
    /// The largest loss; `u64::MAX` is ∞.
    pub(super) largest: u64,
    /// K(α) of each order; `u64::MAX` is ∞.
    pub(super) moments: [u64; ORDERS],
}

/// The bytes of a cost.
pub const RUNNING_COST_BYTES: usize = 16 + 8 + 8 * ORDERS;

impl RunningCost {
    /// The cost of one release, in the worse direction for each number.
    pub fn of(profile: &PiecewiseProfile) -> Self {
        Direction::BOTH.into_iter().map(|direction| Self::of_direction(profile, direction)).fold(
            Self::default(),
            |a, b| Self {
                rest: a.rest.max(b.rest),
                largest: a.largest.max(b.largest),
                moments: std::array::from_fn(|order| a.moments[order].max(b.moments[order])),
            },
        )
    }

    fn of_direction(profile: &PiecewiseProfile, direction: Direction) -> Self {
        let (there, back) = (profile.knots(direction), profile.knots(direction.reversed()));
        let last = there.last().map_or((0.0, 1.0), |knot| (knot.epsilon(), knot.delta()));
        let largest = if last.1 > 0.0 { u64::MAX } else { units(last.0) };
        Self {
            rest: rest_units(last.1),
            largest,
            moments: BELOW.map(|below| units(log_moment(there, back, below).upper())),
        }
    }

    /// The cost of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            rest: self.rest.saturating_add(other.rest),
            largest: self.largest.saturating_add(other.largest),
            moments: std::array::from_fn(|order| self.moments[order].saturating_add(other.moments[order])),
        }
    }

    /// The cost of this many.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self {
            rest: self.rest.saturating_mul(u128::from(count)),
            largest: self.largest.saturating_mul(count),
            moments: self.moments.map(|moment| moment.saturating_mul(count)),
        }
    }

    /// What is left if one of the releases that were counted never happened. `None` if a sum is ∞, or less than what is
    /// taken from it: then only counting the others again can tell.
    #[must_use]
    pub fn without(self, other: Self) -> Option<Self> {
        let is_infinite =
            self.rest == u128::MAX || self.largest == u64::MAX || self.moments.contains(&u64::MAX);
        let mut moments = [0; ORDERS];
        for (left, (all, taken)) in moments.iter_mut().zip(self.moments.into_iter().zip(other.moments)) {
            *left = all.checked_sub(taken)?;
        }
        let left = Self {
            rest: self.rest.checked_sub(other.rest)?,
            largest: self.largest.checked_sub(other.largest)?,
            moments,
        };
        (!is_infinite).then_some(left)
    }

    /// Whether nothing was spent.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// An ε that holds with this δ; ∞ if none is known.
    pub fn epsilon(&self, delta: Delta) -> f64 {
        if delta.get() == 1.0 {
            return 0.0;
        }
        let largest = if self.largest == u64::MAX { f64::INFINITY } else { in_units(self.largest) };
        let left = Enclosure::from(delta.get()) - Enclosure::from(rest(self.rest));
        if left.lower() <= 0.0 {
            return largest;
        }
        let price = -Enclosure::from(left.lower()).ln();
        let at_order = |(&below, &moment): (&f64, &u64)| {
            if moment == u64::MAX {
                return f64::INFINITY;
            }
            let below = Enclosure::from(below);
            ((Enclosure::from(in_units(moment)) + conversion(below) + price) / below).upper()
        };
        BELOW.iter().zip(&self.moments).map(at_order).fold(largest, f64::min).max(0.0)
    }

    /// The numbers, as they are stored.
    pub fn to_bytes(&self) -> [u8; RUNNING_COST_BYTES] {
        let mut bytes = [0; RUNNING_COST_BYTES];
        bytes[..16].copy_from_slice(&self.rest.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.largest.to_le_bytes());
        for (place, moment) in bytes[24..].chunks_exact_mut(8).zip(self.moments) {
            place.copy_from_slice(&moment.to_le_bytes());
        }
        bytes
    }

    /// The numbers that were stored.
    pub fn from_bytes(bytes: &[u8; RUNNING_COST_BYTES]) -> Self {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Self {
            rest: u128::from_le_bytes(std::array::from_fn(|i| bytes[i])),
            largest: word(16),
            moments: std::array::from_fn(|order| word(24 + 8 * order)),
        }
    }
}

/// ln of (1/α)((α−1)/α)^(α−1).
pub(super) fn conversion(below: Enclosure) -> Enclosure {
    let order = below + Enclosure::ONE;
    below * below.ln() - order * order.ln()
}

/// K(α) = ln[1 + α(α−1)·∫₀^∞ (e^((α−1)ε)(δ_PQ(ε) − δ_PQ(∞)) + e^(−αε)δ_QP(ε)) dε], rounded up: for γ < 1, E_γ of what was cut is
/// at most E_γ of the whole law.
fn log_moment(there: &[Knot], back: &[Knot], below: f64) -> Enclosure {
    let order = Enclosure::from(below) + Enclosure::ONE;
    let cut = there.last().map_or(0.0, |knot| knot.delta());
    let growing =
        cells(there, below, |delta| (Enclosure::from(delta) - Enclosure::from(cut)).positive_part());
    let falling = cells(back, -order.lower(), Enclosure::from);
    let last = back.last().map_or(Enclosure::ZERO, |knot| {
        Enclosure::from(knot.delta()).ln() - order * Enclosure::from(knot.epsilon()) - order.ln()
    });
    let terms: Vec<Enclosure> = growing.chain(falling).chain([last]).collect();
    let integral = ln_sum(&terms) + order.ln() + Enclosure::from(below).ln();
    // ln(1 + e^x), without overflow, and without losing what is tiny.
    if integral.upper() > 30.0 { integral + (-integral).exp().ln_1p() } else { integral.exp().ln_1p() }
}

/// ln of ∫e^(kε)h(ε) dε over each cell between knots, from above; h is linear in e^ε between them.
fn cells(knots: &[Knot], rate: f64, height: impl Fn(f64) -> Enclosure) -> impl Iterator<Item = Enclosure> {
    let k = Enclosure::from(rate);
    let one = Enclosure::ONE;
    knots.windows(2).map(move |pair| {
        let (start, end) = (Enclosure::from(pair[0].epsilon()), Enclosure::from(pair[1].epsilon()));
        let (left, right) = (height(pair[0].delta()), height(pair[1].delta()));
        let width = end - start;
        if (k * width).upper() > STEEP {
            return left.ln() + k * end - k.ln();
        }
        // ∫₀^w e^(ku) du, and the same with the share (e^u − 1)/(e^w − 1) of the right knot. Where that cancels, the height of
        // the left knot is a bound, too.
        let whole = (k * width).exp_m1() / k;
        let of_right = (((k + one) * width).exp_m1() / (k + one) - whole) / width.exp_m1();
        let of_right = of_right.positive_part();
        let chord = left * (whole - of_right).positive_part() + right * of_right;
        let sum = chord.min(left * whole);
        sum.ln() + k * start
    })
}

/// Whole units, rounded up; anything above 0 is at least one, and NaN is ∞.
fn units(value: f64) -> u64 {
    if value <= 0.0 {
        return 0;
    }
    if value.is_nan() {
        return u64::MAX;
    }
    // Division by a power of two is exact, unless the result is subnormal.
    let found = (value / UNIT).ceil().max(1.0);
    if found < u64::MAX as f64 { found as u64 } else { u64::MAX }
}

/// Units as a number, not below them.
fn in_units(count: u64) -> f64 {
    let rounded = count as f64;
    (if (rounded as u128) < u128::from(count) { rounded.next_up() } else { rounded }) * UNIT
}

fn rest_units(value: f64) -> u128 {
    // Every δ is between 0 and 1.
    if value <= 0.0 { 0 } else { (value / REST_UNIT).ceil().max(1.0) as u128 }
}

fn rest(count: u128) -> f64 {
    ((count as f64).next_up() * REST_UNIT) * f64::from(u8::from(count > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{ApproximateProfile, GaussianProfile, PrivacyProfile, renyi_of_profile};
    use crate::{Epsilon, NonNegative};

    fn gaussian(mu: f64) -> PiecewiseProfile {
        PiecewiseProfile::interpolating(&GaussianProfile::new(NonNegative::new(mu).expect("μ")), 1e-4)
    }

    fn approximate(epsilon: f64, delta: f64) -> PiecewiseProfile {
        let (epsilon, delta) = (Epsilon::new(epsilon).expect("ε"), Delta::new(delta).expect("δ"));
        PiecewiseProfile::interpolating(&ApproximateProfile::new(epsilon, delta), 1e-4)
    }

    fn epsilon(cost: RunningCost, delta: f64) -> f64 {
        cost.epsilon(Delta::new(delta).expect("δ"))
    }

    #[test]
    fn moments_of_gaussians_are_those_of_the_formula() {
        for mu in [0.01, 0.3, 2.0] {
            let cost = RunningCost::of(&gaussian(mu));
            // Larger orders look at what the profile cuts off, which is counted by itself.
            for (order, below) in BELOW.iter().enumerate().filter(|(_, below)| (*below + 1.0) * mu < 10.0) {
                let exact = (below + 1.0) * below * mu * mu / 2.0;
                let found = in_units(cost.moments[order]);
                assert!(found >= exact * (1.0 - 1e-9), "{mu} {below}: {found} < {exact}");
                assert!(found <= exact * 1.002 + 4.0 * UNIT, "{mu} {below}: {found} > {exact}");
            }
        }
    }

    #[test]
    fn moments_are_not_below_those_of_another_quadrature() {
        for profile in [approximate(0.7, 0.0), gaussian(1.3)] {
            let cost = RunningCost::of(&profile);
            for (order, below) in BELOW.iter().enumerate().take(8) {
                let known = renyi_of_profile(&profile, Direction::Forward, 1.0 + below).lower() * below;
                assert!(in_units(cost.moments[order]) >= known * (1.0 - 1e-9), "{below}");
            }
        }
    }

    #[test]
    fn pure_privacy_adds_up_and_needs_no_delta() {
        let cost = RunningCost::of(&approximate(0.25, 0.0)).times(4);
        let found = epsilon(cost, 0.0);
        assert!((1.0..1.0 + 1e-9).contains(&found), "{found}");
        assert!(epsilon(RunningCost::of(&gaussian(0.1)), 0.0).is_infinite());
    }

    #[test]
    fn what_is_never_private_is_counted_as_a_probability() {
        let cost = RunningCost::of(&approximate(0.1, 1e-6)).times(5);
        assert!(epsilon(cost, 5e-6).is_infinite() && epsilon(cost, 5.1e-6).is_finite());
        assert!(epsilon(cost, 1e-5) <= 1.0 && epsilon(cost, 1e-5) >= 0.1);
    }

    #[test]
    fn the_smallest_spend_counts() {
        let knots = |delta: f64| {
            let delta = Delta::new(delta).expect("δ");
            PiecewiseProfile::symmetric(&[Knot::new(Epsilon::new(0.0).expect("ε"), delta)])
        };
        let tiny = RunningCost::of(&knots(1e-320));
        assert!(!tiny.is_nothing() && tiny.rest >= 1);
        assert!(RunningCost::of(&knots(0.0)).is_nothing());
        let pure = RunningCost::of(&approximate(1e-320, 0.0));
        assert!(pure.largest >= 1, "{pure:?}");
        assert!(pure.times(3).largest >= 3);
    }

    #[test]
    fn nothing_that_is_known_to_hold_is_undercut() {
        // A composition of Gaussians is a Gaussian, so its exact ε is known.
        for (mu, count) in [(0.01, 10_000), (0.1, 100), (0.5, 16), (1.0, 1), (0.02, 400)] {
            let cost = RunningCost::of(&gaussian(mu)).times(count);
            let all = GaussianProfile::new(NonNegative::new(mu * (count as f64).sqrt()).expect("μ"));
            for delta in [1e-12, 1e-6, 1e-3, 0.1] {
                let delta = Delta::new(delta).expect("δ");
                let (found, exact) = (cost.epsilon(delta), all.epsilon(delta).lower());
                assert!(found >= exact, "{mu} {count} {delta:?}: {found} < {exact}");
            }
        }
    }

    #[test]
    fn sums_that_overflow_are_infinite_and_bytes_come_back() {
        let cost = RunningCost::of(&gaussian(5.0)).times(u64::MAX);
        assert!(epsilon(cost, 1e-6).is_infinite());
        let some = RunningCost::of(&gaussian(0.7)).and(RunningCost::of(&approximate(0.1, 1e-9)));
        assert_eq!(RunningCost::from_bytes(&some.to_bytes()), some);
    }
}
