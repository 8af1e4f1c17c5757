//! The ε at which tables know their bounds, and bounds as plain numbers.
//!
//! Between two ε a bound is a chord in γ, and triangle inequalities are sums: with γ − 1 at every ε, and the bounds
//! themselves in place of their logarithms, each costs a few multiplications and no exponential.

use crate::numeric::{UNIT_ROUNDOFF, elementary};
use std::ops::Deref;

/// ε that increase from 0, with γ − 1 = e^ε − 1 of each, rounded up.
#[derive(Debug)]
pub(super) struct Nodes {
    epsilons: Vec<f64>,
    places: Vec<f64>,
    /// The reciprocals of the differences of neighbouring places.
    inverse_gaps: Vec<f64>,
}

impl FromIterator<f64> for Nodes {
    fn from_iter<I: IntoIterator<Item = f64>>(epsilons: I) -> Self {
        let epsilons: Vec<f64> = epsilons.into_iter().collect();
        let place = |&epsilon: &f64| if epsilon == 0.0 { 0.0 } else { elementary::exp_m1(epsilon).next_up() };
        let places: Vec<f64> = epsilons.iter().map(place).collect();
        let inverse_gaps = places.windows(2).map(|pair| 1.0 / (pair[1] - pair[0])).collect();
        Self { epsilons, places, inverse_gaps }
    }
}

impl Deref for Nodes {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.epsilons
    }
}

/// γ − 1 at an ε, rounded down.
pub(super) fn place_below(epsilon: f64) -> f64 {
    elementary::exp_m1(epsilon).next_down().max(0.0)
}

impl Nodes {
    /// γ − 1 of every node, rounded up. What bounds h, which falls, at a node bounds it there.
    pub fn places(&self) -> &[f64] {
        &self.places
    }

    /// A bound on h at γ − 1 = x from bounds at the nodes; the search for x starts at `cell` and leaves it there.
    ///
    /// The terms of a chord are positive, and each is off by at most seven units of itself.
    pub fn height_at(&self, heights: &[f64], x: f64, cell: &mut usize) -> f64 {
        let places = &self.places;
        let mut before = (*cell).min(places.len() - 1);
        while before > 0 && places[before] > x {
            before -= 1;
        }
        while before + 1 < places.len() && places[before + 1] <= x {
            before += 1;
        }
        *cell = before;
        match places.get(before + 1) {
            Some(&after) if after < f64::INFINITY => {
                let gap = self.inverse_gaps[before];
                let (left, right) = ((after - x) * gap, (x - places[before]) * gap);
                (left * heights[before] + right * heights[before + 1]) * ABOVE
            }
            _ => heights[before],
        }
    }

    /// The chord of the bounds at two nodes, at a node between them.
    pub fn chord(&self, heights: &[f64], (a, b): (usize, usize), between: usize) -> f64 {
        let (start, end) = (self.places[a], self.places[b]);
        // A node's place was rounded up once.
        let x = self.places[between].next_down().next_down().max(start);
        let sum = (end - x) * heights[a] + (x - start) * heights[b];
        if end < f64::INFINITY { sum / (end - start) * ABOVE } else { heights[a] }
    }
}

/// More than the rounding errors of a short sum of positive terms.
pub(super) const ABOVE: f64 = 1.0 + 16.0 * UNIT_ROUNDOFF;

/// Bounds are stored as multiples of 2⁻⁶⁰⁰, so that neither e^(−1000) nor a bound times a γ below e²⁷⁰ is out of range.
const ROOT_OF_SCALE: f64 = (1_u128 << 100) as f64 * (1_u128 << 100) as f64 * (1_u128 << 100) as f64;
/// The number that stands for 1.
pub(super) const SCALE: f64 = ROOT_OF_SCALE * ROOT_OF_SCALE;

/// A bound from its logarithm, rounded up.
pub(super) fn height(ln: f64) -> f64 {
    if ln == f64::NEG_INFINITY {
        return 0.0;
    }
    let root = elementary::exp(0.5 * ln).next_up() * ROOT_OF_SCALE;
    root * root * ABOVE + f64::MIN_POSITIVE
}

/// The logarithm of a bound, at most 0, rounded up.
pub(super) fn ln_of(height: f64) -> f64 {
    if height.is_nan() || height >= SCALE {
        return 0.0;
    }
    let value = height / SCALE;
    if value >= f64::MIN_POSITIVE {
        return elementary::ln(value).next_up().min(0.0);
    }
    // The division would lose digits.
    let ln = elementary::ln(height) - 600.0 * std::f64::consts::LN_2;
    super::super::logs::raised(ln, 600.0 + ln.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    #[test]
    fn a_bound_survives_being_a_plain_number() {
        let mut random = Random::new(5);
        for _ in 0..2000 {
            let ln = -random.log_between(1e-9, 1e3);
            let back = ln_of(height(ln));
            assert!(back >= ln && back <= ln + 1e-12 * (1.0 + ln.abs()), "{ln}: {back}");
        }
        assert_eq!((ln_of(height(0.0)), ln_of(height(f64::NEG_INFINITY))), (0.0, f64::NEG_INFINITY));
    }
}
