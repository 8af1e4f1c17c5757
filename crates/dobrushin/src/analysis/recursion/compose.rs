//! How private are two hidden things together? The composition of two symmetric profiles.
//!
//! A convex profile with straight lines between its nodes is E_γ of a pair of laws P, Q whose losses are at the
//! nodes ε_j and, as it is symmetric, at −ε_j. With h₂ the profile of the other,
//!
//! ```text
//! (h₁ ⊗ h₂)(γ) = Σ_j P(L₁ = ℓ_j)·h₂(γ·e^(−ℓ_j)),     h₂(γ) = 1 − γ + γ·h₂(1/γ) for γ < 1.
//! ```
//!
//! All terms are positive: nothing cancels, and the sum is as accurate in the tail as at its start.

use super::table::Table;
use crate::numeric::UNIT_ROUNDOFF;

/// Smaller bounds are not told apart, and further losses count as infinite.
pub(super) const LEAST_LN: f64 = -690.0;
/// What may have underflowed in a sum.
const LOST: f64 = 1e-304;
/// The rounding of a sum of up to 10⁴ positive terms, relatively.
const SUM_ERROR: f64 = 2e-12;

/// A symmetric pair of laws with finitely many losses.
pub(super) struct Pair {
    /// e^(−ℓ) − 1 and, rounded up, the mass under P of each loss ℓ, from the largest on.
    atoms: Vec<(f64, f64)>,
    /// The mass at an infinite loss, rounded up.
    infinite: f64,
    /// γ − 1 of the nodes of the profile on γ > 0, from −1 on, the profile there, and how steeply it falls.
    lines: Vec<(f64, f64, f64)>,
}

impl Pair {
    /// The pair of the lines between the nodes of a table.
    ///
    /// # Guarantee
    /// The masses are at least the exact ones, which are those of the lines, also where these are not convex by a
    /// rounding and a mass would be negative. That suffices: the sum is linear in h₁, with the masses of the hull
    /// of h₂ as its coefficients, so it is a bound if h₁ and h₂ are.
    pub fn of(table: &Table) -> Self {
        let inside = table.epsilons().iter().zip(table.lns()).take_while(|(e, ln)| **ln > LEAST_LN && **e < 650.0);
        let count = (inside.count() + 1).min(table.len());
        // A node is moved to the right, and its value up.
        let nodes: Vec<(f64, f64)> = (0..count)
            .map(|j| {
                let x = core_math::expm1(table.epsilons()[j]);
                let x = if x == 0.0 { 0.0 } else { x.next_up() };
                (x, core_math::exp(table.lns()[j].max(LEAST_LN)).next_up().min(1.0))
            })
            .collect();
        let slope = |j: usize| (nodes[j].1 - nodes[j + 1].1).max(0.0) / (nodes[j + 1].0 - nodes[j].0);
        let slopes: Vec<f64> = (0..count - 1).map(slope).chain([0.0]).collect();
        let (above, below) = (1.0 + 8.0 * UNIT_ROUNDOFF, 1.0 - 8.0 * UNIT_ROUNDOFF);
        let mass = |j: usize| (1.0 + nodes[j].0) * (slopes[j - 1] * above - slopes[j] * below).max(0.0) * above;
        let positive = || (1..count).map(|j| (nodes[j].0, mass(j)));
        let mut atoms: Vec<(f64, f64)> = positive().rev().map(|(x, p)| (-x / (1.0 + x), p)).collect();
        let centre = (1.0 - nodes[0].1 - 2.0 * slopes[0]).max(0.0) + 8.0 * UNIT_ROUNDOFF;
        atoms.push((0.0, centre));
        atoms.extend(positive().map(|(x, p)| (x, p / (1.0 + x) * above)));
        // For γ < 1 the nodes are 1/γ_j; from 0 on the profile starts at 1.
        let mirrored = nodes.iter().skip(1).rev().map(|(x, delta)| {
            let decay = 1.0 / (1.0 + x);
            (-x * decay, ((x * decay) + delta * decay) * above)
        });
        let all: Vec<(f64, f64)> = [(-1.0, 1.0)].into_iter().chain(mirrored).chain(nodes.iter().copied()).collect();
        let falls = all.windows(2).map(|w| (w[0].1 - w[1].1).max(0.0) / (w[1].0 - w[0].0)).chain([0.0]);
        let lines = all.iter().zip(falls).map(|((x, h), fall)| (*x, *h, fall)).collect();
        Self { atoms, infinite: nodes[count - 1].1, lines }
    }

    /// ln of the composition with another pair at an ε, rounded up.
    pub fn ln_composed(&self, other: &Self, epsilon: f64) -> f64 {
        // A smaller γ has the larger value.
        let x = core_math::expm1(epsilon.min(650.0)) * (1.0 - 4.0 * UNIT_ROUNDOFF);
        let gamma = 1.0 + x;
        let mut line = 0;
        let mut sum = self.infinite;
        for &(y, mass) in &self.atoms {
            let shift = y * gamma;
            // γ·e^(−ℓ) − 1, rounded down.
            let place = ((x + shift) - 8.0 * UNIT_ROUNDOFF * (x + shift.abs())).max(-1.0);
            while line + 1 < other.lines.len() && other.lines[line + 1].0 <= place {
                line += 1;
            }
            let (start, height, fall) = other.lines[line];
            sum += mass * (height * (1.0 + 8.0 * UNIT_ROUNDOFF) - fall * (place - start).max(0.0)).max(0.0);
        }
        core_math::log(sum * (1.0 + SUM_ERROR) + LOST).next_up().min(0.0)
    }

    /// The profile of both together.
    pub fn composed(&self, other: &Self, tolerance: f64) -> Table {
        Table::of(tolerance, LEAST_LN + 5.0, |epsilon| self.ln_composed(other, epsilon))
    }
}
