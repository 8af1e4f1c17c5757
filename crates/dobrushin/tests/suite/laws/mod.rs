//! What the tests of laws and kernels share: seeded random and adversarial
//! laws, and their divergences in exact arithmetic.

use dobrushin::divergence::FiniteLaw;
use dobrushin::{Enclosure, Gamma};
use dobrushin_reference::{Real, is_inside};
use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

/// Sums of `f64`s between 2⁻¹⁰⁷⁴ and 1 and of products of two are exact.
pub const EXACT: usize = 2432;
/// For quotients, roots and logarithms.
pub const BITS: usize = 256;

/// A generator of laws and kernels.
pub struct Random(dobrushin::numeric::Random);

impl Deref for Random {
    type Target = dobrushin::numeric::Random;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Random {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Random {
    /// The generator whose laws `seed` determines.
    pub fn new(seed: u64) -> Self {
        Self(dobrushin::numeric::Random::new(seed))
    }

    /// Non-negative integers with the given sum, some of them 0.
    pub fn parts(&mut self, count: usize, sum: u64) -> Vec<u64> {
        let sparse = self.below(3) == 0;
        let weights: Vec<u64> = (0..count)
            .map(|_| {
                let zero = sparse && self.below(2) == 0;
                if zero { 0 } else { self.bits() >> (32 + self.below(30)) }
            })
            .collect();
        let total: u128 = weights.iter().map(|&w| u128::from(w)).sum();
        let mut parts: Vec<u64> =
            weights.iter().map(|&w| (u128::from(w) * u128::from(sum) / total.max(1)) as u64).collect();
        let place = self.below(count);
        parts[place] += sum - parts.iter().sum::<u64>();
        parts
    }

    /// A law of one of many kinds: multiples of 2⁻²⁰, decimals, probabilities
    /// over hundreds of orders of magnitude, subnormal numbers, a single outcome.
    pub fn law(&mut self, outcomes: usize) -> FiniteLaw {
        match self.below(5) {
            0 | 1 => dyadic(&self.parts(outcomes, 1 << 20)),
            2 => {
                let weights = (0..outcomes).map(|_| (1 + self.below(999)) as f64 / 1000.0).collect();
                FiniteLaw::proportional_to("P", weights).unwrap()
            }
            3 => {
                let mut p: Vec<f64> = (0..outcomes).map(|_| self.tiny()).collect();
                let place = self.below(outcomes);
                p[place] = 1.0;
                FiniteLaw::new("P", p).unwrap()
            }
            _ => {
                let place = self.below(outcomes);
                dyadic(&(0..outcomes).map(|i| u64::from(i == place)).collect::<Vec<_>>())
            }
        }
    }

    /// A probability from 0 and the smallest subnormal number up to 1e-11.
    pub fn tiny(&mut self) -> f64 {
        match self.below(5) {
            0 => 0.0,
            1 => f64::from_bits(self.bits() % 8),
            2 => 1e-300 * self.between(0.5, 2.0),
            _ => self.log_between(1e-320, 1e-11),
        }
    }

    /// Two laws on the same outcomes, sometimes the same, nearly the same, or the
    /// same in another order.
    pub fn pair(&mut self) -> (FiniteLaw, FiniteLaw) {
        let outcomes = 1 + self.below(10);
        let p = self.law(outcomes);
        let q = match self.below(6) {
            0 => p.clone(),
            1 => {
                let nudge = |x: &f64| if *x > 0.1 && *x < 0.9 { x.next_up() } else { *x };
                FiniteLaw::new("Q", p.probabilities().iter().map(nudge).collect()).unwrap()
            }
            2 => FiniteLaw::new("Q", p.probabilities().iter().rev().copied().collect()).unwrap(),
            _ => self.law(outcomes),
        };
        (p, q)
    }
}

/// The law with the given integer weights, whose sum is a power of two.
pub fn dyadic(parts: &[u64]) -> FiniteLaw {
    let sum: u64 = parts.iter().sum();
    assert!(sum.is_power_of_two());
    FiniteLaw::new("P", parts.iter().map(|&p| p as f64 / sum as f64).collect()).unwrap()
}

pub fn real(x: f64) -> Real {
    Real::from_f64(x, EXACT)
}

pub fn int(n: i64) -> Real {
    Real::from_i64(n, BITS)
}

/// The probabilities of the law: the stored numbers over their exact sum.
pub fn exact(law: &FiniteLaw) -> Vec<Real> {
    normalise(law.probabilities().iter().map(|&p| real(p)).collect())
}

pub fn normalise(weights: Vec<Real>) -> Vec<Real> {
    let sum = weights.iter().fold(real(0.0), |sum, p| sum + p);
    if sum == int(1) { weights } else { weights.iter().map(|p| p / &sum).collect() }
}

pub fn short(law: &[Real]) -> Vec<Real> {
    law.iter().map(|p| p.with_bits(BITS)).collect()
}

pub fn positive_part(x: Real) -> Real {
    if x.is_negative() { int(0) } else { x }
}

pub fn larger(a: Real, b: Real) -> Real {
    if a < b { b } else { a }
}

/// E_γ of two laws, with (1 − γ)₊ subtracted.
pub fn hockey_stick(p: &[Real], q: &[Real], gamma: &Real) -> Real {
    let terms = p.iter().zip(q).map(|(p, q)| positive_part(p - gamma * q));
    terms.fold(real(0.0), |sum, term| sum + term) - positive_part(real(1.0) - gamma)
}

/// Σ q·f(p/q) over the outcomes that both laws can produce.
pub fn common(p: &[Real], q: &[Real], f: impl Fn(&Real, &Real) -> Real) -> Real {
    let both = p.iter().zip(q).filter(|(p, q)| !p.is_zero() && !q.is_zero());
    both.fold(int(0), |sum, (p, q)| sum + f(p, q))
}

/// Whether P can produce what Q cannot.
pub fn escapes(p: &[Real], q: &[Real]) -> bool {
    p.iter().zip(q).any(|(p, q)| !p.is_zero() && q.is_zero())
}

/// A γ and its exact value: ordinary ones, likelihood ratios and their
/// neighbours, those next to 1, and those that overflow.
pub fn some_gamma(random: &mut Random, p: &FiniteLaw, q: &FiniteLaw) -> (Gamma, Real) {
    let by_value = |g: f64| (Gamma::new(g).unwrap(), real(g));
    let by_epsilon = |e: f64| (Gamma::from_epsilon(e).unwrap(), Real::from_f64(e, BITS).exp());
    match random.below(8) {
        0 => by_value([1.0, 1.0f64.next_up(), 1.0f64.next_down(), 2.0, 0.5][random.below(5)]),
        1 => by_epsilon([700.0, 710.0, -700.0, -710.0, 5e-324, -1e-300, 1e-17][random.below(7)]),
        2 => by_value([f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e300, 1e-300][random.below(5)]),
        3 | 4 => {
            let place = random.below(p.len());
            let ratio = p.probabilities()[place] / q.probabilities()[place];
            let ratio = if ratio > 0.0 && ratio < f64::MAX { ratio } else { 3.0 };
            by_value([ratio, ratio.next_up(), ratio.next_down().max(5e-324)][random.below(3)])
        }
        5 => by_epsilon(random.between(-3.0, 3.0)),
        _ => by_value(random.log_between(1e-3, 1e3)),
    }
}

/// Fails unless `truth` lies in the enclosure, up to the last of its bits where
/// it is a sum in at least [`BITS`] bits.
pub fn assert_inside(enclosure: Enclosure, truth: &Real, input: impl Debug) {
    let doubt = if truth.bits() < BITS { int(0) } else { int(2).powi(56 - truth.bits() as i32) };
    let inside = is_inside(f64::NEG_INFINITY, enclosure.upper(), &(truth - &doubt))
        && is_inside(enclosure.lower(), f64::INFINITY, &(truth + &doubt));
    assert!(inside, "{:e} is not in {enclosure} at {input:?}", truth.to_f64());
}
