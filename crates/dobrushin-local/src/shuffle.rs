//! Privacy amplification by shuffling: locally private reports whose authors nobody knows.
//!
//! Let x₁ be replaced by x₁′, let the pair R(x₁), R(x₁′) be ε₀-indistinguishable, and let R(x) ≥ (c/2)·(R(x₁) + R(x₁′))
//! for every x, as holds for c = e^(−ε₀). Then R(x₁) = q·Q₀ + (1−q)·Q₁ and R(x₁′) = (1−q)·Q₀ + q·Q₁ with laws Q₀, Q₁
//! and q = e^ε₀/(e^ε₀ + 1), and with probability c any other report is a clone, drawn from Q₀ or Q₁ with equal
//! probability. Which of the others are not clones, and what they report, does not depend on x₁. So everything that the
//! shuffled reports reveal about x₁ is in the numbers of draws from Q₀ and Q₁ (Feldman, McMillan, Talwar, Hiding among
//! the clones, 2021):
//!
//! ```text
//! (A + Δ, C − A + 1 − Δ) against (A + 1 − Δ, C − A + Δ),   C ~ Bin(n − 1, c), A ~ Bin(C, ½), Δ ~ Bernoulli(q).
//! ```

use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::{Boundary, UNIT_ROUNDOFF, binomial};
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::{Delta, Enclosure, Epsilon, Error};
use std::num::NonZeroU32;

/// n shuffled reports: the privacy of one of the n records, which is replaced by another.
///
/// # Guarantee
/// The upper end of every δ bounds E_{e^ε} between the laws of the multiset of reports. All records go through the
/// *same* randomiser with its own randomness, and the adversary sees only the multiset. The 2023 bound of the same
/// authors, with more clones, is not offered for general randomisers: its proof has a gap, which they have since
/// pointed out.
///
/// ```
/// use dobrushin_local::Shuffled;
/// use dobrushin::profile::PrivacyProfile;
/// use dobrushin::{Delta, Epsilon};
/// use std::num::NonZeroU32;
///
/// // A million reports, each private with ε₀ = 2.
/// let shuffled = Shuffled::new(Epsilon::new(2.0)?, NonZeroU32::new(1_000_000).unwrap())?;
/// assert!(shuffled.epsilon(Delta::new(1e-6)?).upper() < 0.02);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shuffled {
    /// ε₀.
    level: Epsilon,
    others: u64,
    /// c, and 1 − c.
    clone: Enclosure,
    own: Enclosure,
}

impl Shuffled {
    /// Reports of any randomiser that is ε₀-locally private, with δ = 0: c = e^(−ε₀).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε₀ is infinite.
    pub fn new(epsilon: Epsilon, reports: NonZeroU32) -> Result<Self, Error> {
        if !epsilon.get().is_finite() {
            return Err(Error::OutOfRange { name: "epsilon", value: epsilon.get(), accepted: "finite" });
        }
        let level = -Enclosure::from(epsilon);
        Ok(Self {
            level: epsilon,
            others: u64::from(reports.get()) - 1,
            clone: level.exp(),
            own: -level.exp_m1(),
        })
    }

    /// Reports of this randomiser, where c is the smallest 2R(z|x)/(R(z|y) + R(z|w)): 2/(e^ε₀ + 1) for randomised
    /// response on any number of values, instead of e^(−ε₀).
    ///
    /// # Guarantee
    /// More clones reveal less: those that a larger c adds can be added afterwards, since C is known. So the least c
    /// and the largest ε₀ over all pairs of inputs are valid for all of them.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if some report is possible for one input only, so that ε₀ is infinite.
    pub fn through(randomiser: &FiniteKernel, reports: NonZeroU32) -> Result<Self, Error> {
        let general = Self::new(Epsilon::new(randomiser.largest_log_ratio().upper())?, reports)?;
        let clone = Enclosure::from(randomiser.common_share().lower().max(general.clone.lower()));
        Ok(Self { clone, own: (Enclosure::ONE - clone).positive_part(), ..general })
    }

    /// E_γ given this many clones; fewer clones never give less.
    ///
    /// The likelihood ratio of the number of draws from Q₀ grows, and crosses γ at the fraction t = (γ − a)/((1 −
    /// a)(1 + γ)) of all c + 1, a = e^(−ε₀). With m the first integer above it and A ~ Bin(c, ½) the value is (q −
    /// γ(1−q))·P(A = m − 1) − (γ − 1)·P(A ≥ m); any other m gives less.
    fn given(&self, clones: u64, epsilon: Epsilon) -> Enclosure {
        let a = (-Enclosure::from(self.level)).exp();
        let (gamma, excess) = (Enclosure::from(epsilon).exp(), Enclosure::from(epsilon).exp_m1());
        let share =
            (Enclosure::ONE - (Enclosure::from(epsilon) - Enclosure::from(self.level)).exp()).positive_part();
        let gain = share / (Enclosure::ONE + a);
        let turn = (gamma - a) / (-(-Enclosure::from(self.level)).exp_m1() * (Enclosure::ONE + gamma));
        let turn = turn * Enclosure::from(clones + 1);
        if turn.lower() > (clones + 1) as f64 {
            return Enclosure::ZERO;
        }
        let (from, to) = (turn.lower() as u64, (turn.upper() as u64).saturating_add(1).min(clones + 1));
        if to > from + MOST_CANDIDATES {
            return Enclosure::UNIT;
        }
        let half = Enclosure::from(0.5);
        let at = |m: u64| {
            let factor = gain - excess * later(clones, m);
            (binomial::mass(clones, m - 1, half, half) * factor.positive_part()).min(Enclosure::ONE)
        };
        (from.max(1)..=to).map(at).fold(Enclosure::ZERO, Enclosure::max)
    }

    /// The numbers of clones at which the value is computed: all that are likely, or evenly spaced ones among them.
    fn places(&self) -> Vec<u64> {
        let mean = self.others as f64 * self.clone.midpoint();
        let deviation = (mean * self.own.midpoint()).sqrt();
        let first = (mean - DEVIATIONS * deviation - MORE).max(0.0) as u64;
        let last = ((mean + DEVIATIONS * deviation + MORE) as u64).min(self.others);
        let step = ((mean / RESOLUTION) as usize).max(1);
        let mut places: Vec<u64> = (first..=last).step_by(step).collect();
        places.push(last + 1);
        places.dedup();
        places
    }

    /// P(from ≤ C < to), for few values.
    fn probability(&self, from: u64, to: u64) -> Enclosure {
        let first = binomial::mass(self.others, from, self.clone, self.own);
        let odds = self.clone.midpoint() / self.own.midpoint();
        let (mut term, mut sum) = (1.0, 1.0);
        for c in from..to - 1 {
            term *= (self.others - c) as f64 / (c + 1) as f64 * odds;
            sum += term;
        }
        // Three roundings for each term, five units for the odds, and a rounding for each sum.
        let steps = (to - from) as f64;
        first * Enclosure::around(sum, 12.0 * steps * UNIT_ROUNDOFF)
    }
}

/// Beyond this many standard deviations, and a few more, the number of clones is not resolved.
const DEVIATIONS: f64 = 12.0;
const MORE: f64 = 40.0;
/// Numbers of clones that differ by less than one part in this many share a block: E_γ falls by about ln(1/δ) such
/// parts within it.
const RESOLUTION: f64 = 1e5;
/// An enclosure of ε that leaves more choices than this gives nothing.
const MOST_CANDIDATES: u64 = 4;
/// The number of times the interval that contains ε is halved.
const HALVINGS: u32 = 28;

impl PrivacyProfile for Shuffled {
    /// Both directions are equal: exchange Q₀ and Q₁.
    ///
    /// Σ_c P(C = c)·E_γ(c) over blocks of c, with E_γ at the start of each, where it is largest, for the upper end, and
    /// at the next block for the lower. Before the first block E_γ is at most its value without clones, and after the
    /// last at most its value at the end of that block.
    fn delta_of(&self, _direction: Direction, epsilon: Epsilon) -> Enclosure {
        if epsilon >= self.level {
            return Enclosure::ZERO;
        }
        let places = self.places();
        let values: Vec<Enclosure> =
            places.iter().map(|&c| self.given(c.min(self.others), epsilon)).collect();
        let blocks = places.windows(2).zip(values.windows(2)).map(|(ends, values)| {
            let value =
                if ends[1] == ends[0] + 1 { values[0] } else { values[1].min(values[0]).hull(values[0]) };
            self.probability(ends[0], ends[1]) * value
        });
        let inside: Enclosure = blocks.sum();
        let (first, end) = (places[0], places[places.len() - 1]);
        let before = binomial::at_least(self.others, self.others - first + 1, self.own);
        let after = binomial::at_least(self.others, end, self.clone);
        let unlikely = before * self.given(0, epsilon) + after * values[values.len() - 1];
        (inside + Enclosure::ZERO.hull(unlikely)).positive_part().min(self.given(0, epsilon))
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    /// Bisection to about eight digits of ε₀, not to the last place: one δ is a sum of millions of terms.
    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let at = |epsilon: f64| {
            Epsilon::new(epsilon).map_or(Enclosure::UNIT, |epsilon| self.delta_of(direction, epsilon))
        };
        if at(0.0).upper() <= delta.get() {
            return Enclosure::ZERO;
        }
        let mut lower = 0.0;
        let met = Boundary { holds: self.level.get(), fails: 0.0 }.halved(HALVINGS, |epsilon| {
            let value = at(epsilon);
            if value.lower() > delta.get() {
                lower = epsilon;
            }
            value.upper() <= delta.get()
        });
        Enclosure::between(lower, met.holds)
    }
}

/// P(A ≥ m)/P(A = m − 1) of A ~ Bin(c, ½), for m at least about c/2.
fn later(clones: u64, m: u64) -> Enclosure {
    let ratio = |k: u64| (clones + 1 - k) as f64 / k as f64;
    let (mut term, mut sum, mut k) = (1.0_f64, 0.0_f64, m);
    // The rest after k − 1: ratios fall.
    let mut rest = 0.0;
    while k <= clones {
        let next = ratio(k);
        if next < 1.0 {
            rest = term * next / (1.0 - next);
            if rest <= 1e-17 * sum {
                break;
            }
        }
        term *= next;
        sum += term;
        rest = 0.0;
        k += 1;
    }
    // Two roundings for each term, and one for each sum; 1 − next is off by a unit of 1.
    let error = 4.0 * (k - m + 1) as f64 * UNIT_ROUNDOFF;
    Enclosure::around(sum, error) + Enclosure::between(0.0, 2.0 * rest)
}
