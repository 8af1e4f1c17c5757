//! Bits for tests, and numbers over 2⁶⁴ without rounding.

use dobrushin::numeric::Random;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::{Delta, Epsilon};
use dobrushin_reference::Real;

/// Precise enough for products of a dozen thresholds.
pub const BITS: usize = 1024;

/// The generator of the tests as a source of bits.
pub struct Seeded(pub Random);

impl Seeded {
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }
}

impl RandomBits for Seeded {
    fn bits(&mut self) -> u64 {
        self.0.bits()
    }
}

pub fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

pub fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

pub fn real(x: f64) -> Real {
    Real::from_f64(x, BITS)
}

/// A whole number.
pub fn whole(n: u64) -> Real {
    real((n >> 32) as f64) * real(2f64.powi(32)) + real((n & 0xffff_ffff) as f64)
}

/// threshold/2⁶⁴.
pub fn share(threshold: u64) -> Real {
    whole(threshold) * real(2f64.powi(-64))
}

/// E_{e^ε}(P‖Q) of two laws.
pub fn hockey_stick(p: &[Real], q: &[Real], epsilon: f64) -> Real {
    let gamma = real(epsilon).exp();
    let excess = p.iter().zip(q).map(|(p, q)| p.clone() - gamma.clone() * q.clone());
    excess.filter(|term| !term.is_negative()).fold(real(0.0), |sum, term| sum + term)
}

/// η_{e^ε} of a channel, over the given pairs of rows in both orders.
pub fn contraction(rows: &[Vec<Real>], pairs: &[(usize, usize)], epsilon: f64) -> Real {
    let both = pairs.iter().flat_map(|&(x, y)| [(x, y), (y, x)]);
    let each = both.map(|(x, y)| hockey_stick(&rows[x], &rows[y], epsilon));
    each.fold(real(0.0), |most, eta| if eta > most { eta } else { most })
}

/// All pairs of so many rows.
pub fn all_pairs(rows: usize) -> Vec<(usize, usize)> {
    (0..rows).flat_map(|x| (x + 1..rows).map(move |y| (x, y))).collect()
}
