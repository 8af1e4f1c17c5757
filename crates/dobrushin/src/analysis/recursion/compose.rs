//! How private are two hidden mechanisms together? The composition of two symmetric profiles.
//!
//! A convex profile with straight lines between its nodes is E_γ of a pair of laws P, Q whose losses are at the nodes
//! ε_j and, as it is symmetric, at −ε_j. With h₂ the profile of the other pair,
//!
//! ```text
//! (h₁ ⊗ h₂)(γ) = Σ_j P(L₁ = ℓ_j)·h₂(γ·e^(−ℓ_j)),     h₂(γ) = 1 − γ + γ·h₂(1/γ) for γ < 1.
//! ```
//!
//! All terms are positive: nothing cancels, and the sum is as accurate in the tail as at the start.

use super::table::Table;
use crate::numeric::UNIT_ROUNDOFF;
use crate::numeric::elementary;

/// Smaller bounds are not distinguished, and larger losses count as infinite.
pub(super) const LEAST_LN: f64 = -690.0;
/// The γ of larger losses may overflow.
const LARGEST_EPSILON: f64 = 650.0;
/// The amount that may have underflowed in a sum.
const LOST: f64 = 1e-304;
/// The share of a sum below which its remaining terms are not added up one by one.
const NEGLIGIBLE: f64 = 1e-12;
/// The smallest positive number.
const SMALLEST: f64 = f64::from_bits(1);

/// A loss ℓ.
struct Atom {
    /// e^(−ℓ).
    decay: f64,
    /// e^(−ℓ) − 1.
    shift: f64,
    /// Its mass under P, rounded up.
    mass: f64,
    /// The mass of it and of all larger losses, and of it and of all smaller ones, rounded up.
    from: f64,
    rest: f64,
}

/// A symmetric pair of laws with finitely many losses.
pub(super) struct Pair {
    /// The losses, the largest first.
    atoms: Vec<Atom>,
    /// The mass at an infinite loss, rounded up.
    infinite: f64,
    /// γ − 1 of the nodes of the profile on γ > 0, starting at −1, the profile there, and its rate of decrease.
    lines: Vec<(f64, f64, f64)>,
}

impl Pair {
    /// The pair of the lines between the nodes of a table.
    ///
    /// # Guarantee
    /// The masses are at least the exact ones, which are those of the lines, even where rounding makes these non-convex
    /// and a mass would be negative. This suffices: the sum is linear in h₁, with the masses of the hull of h₂ as its
    /// coefficients, so it is a bound if h₁ and h₂ are.
    pub fn of(table: &Table) -> Self {
        let small = table.epsilons().partition_point(|&epsilon| epsilon < LARGEST_EPSILON);
        let deep = table.lns().partition_point(|&ln| ln > LEAST_LN);
        let count = (deep + 1).min(small).max(1);
        // A node is moved to the right, and its value up.
        let mut nodes: Vec<(f64, f64)> = (0..count)
            .map(|j| {
                let x = elementary::exp_m1(table.epsilons()[j]);
                let x = if x == 0.0 { 0.0 } else { x.next_up() };
                (x, elementary::exp(table.lns()[j].max(LEAST_LN)).next_up().min(1.0))
            })
            .collect();
        nodes.dedup_by(|next, node| next.0 <= node.0);
        let count = nodes.len();
        let slope = |j: usize| (nodes[j].1 - nodes[j + 1].1).max(0.0) / (nodes[j + 1].0 - nodes[j].0);
        let slopes: Vec<f64> = (0..count - 1).map(slope).chain([0.0]).collect();
        let (above, below) = (1.0 + 8.0 * UNIT_ROUNDOFF, 1.0 - 8.0 * UNIT_ROUNDOFF);
        // The part of a slope that was lost below the normal numbers is added.
        let bend = |j: usize| (slopes[j - 1] * above - slopes[j] * below).max(0.0) + 4.0 * SMALLEST;
        let mass = |j: usize| (1.0 + nodes[j].0) * bend(j) * above;
        let positive = || (1..count).map(|j| (nodes[j].0, mass(j)));
        let mut atoms: Vec<Atom> = positive()
            .rev()
            .map(|(x, mass)| Atom {
                decay: 1.0 / (1.0 + x),
                shift: -x / (1.0 + x),
                mass,
                from: 0.0,
                rest: 0.0,
            })
            .collect();
        let centre = (1.0 - nodes[0].1 - 2.0 * slopes[0]).max(0.0) + 8.0 * UNIT_ROUNDOFF;
        atoms.push(Atom { decay: 1.0, shift: 0.0, mass: centre, from: 0.0, rest: 0.0 });
        atoms.extend(positive().map(|(x, p)| {
            let mass = p / (1.0 + x) * above;
            Atom { decay: 1.0 + x, shift: x, mass, from: 0.0, rest: 0.0 }
        }));
        let infinite = nodes[count - 1].1;
        let (mut from, mut rest) = (infinite, 0.0);
        for atom in &mut atoms {
            from = (from + atom.mass) * above;
            atom.from = from;
        }
        for atom in atoms.iter_mut().rev() {
            rest = (rest + atom.mass) * above;
            atom.rest = rest;
        }
        // For γ < 1 the nodes are 1/γ_j; at 0 the profile starts at 1.
        let mirrored = nodes.iter().skip(1).rev().map(|(x, delta)| {
            let decay = 1.0 / (1.0 + x);
            (-x * decay, ((x * decay) + delta * decay) * above)
        });
        let all: Vec<(f64, f64)> =
            [(-1.0, 1.0)].into_iter().chain(mirrored).chain(nodes.iter().copied()).collect();
        // Two of the first nodes may both be at 0; the line between them is never evaluated.
        let fall = |w: &[(f64, f64)]| (w[0].1 - w[1].1).max(0.0) / (w[1].0 - w[0].0);
        let normal = |fall: f64| if fall < f64::MIN_POSITIVE { 0.0 } else { fall };
        let falls = all.windows(2).map(|w| normal(fall(w))).chain([0.0]);
        let lines = all.iter().zip(falls).map(|((x, h), fall)| (*x, *h, fall)).collect();
        Self { atoms, infinite, lines }
    }

    /// ln of the composition with another pair at an ε, rounded up.
    pub fn ln_composed(&self, other: &Self, epsilon: f64) -> f64 {
        // A smaller γ has the larger value.
        let x = elementary::exp_m1(epsilon.min(LARGEST_EPSILON)) * (1.0 - 4.0 * UNIT_ROUNDOFF);
        let gamma = 1.0 + x;
        let mut line = 0;
        // The composition is not below h₁. The largest losses whose mass is far below that count as infinite.
        let at = self.lines.partition_point(|(place, ..)| *place <= x);
        let least = NEGLIGIBLE * self.lines.get(at).map_or(0.0, |(_, height, _)| *height);
        let skipped = self.atoms.partition_point(|atom| atom.from <= least);
        let mut sum = skipped.checked_sub(1).map_or(self.infinite, |last| self.atoms[last].from);
        for &Atom { decay, shift, mass, rest, .. } in &self.atoms[skipped..] {
            let moved = shift * gamma;
            // γ·e^(−ℓ) − 1, rounded down in two ways: accurate for small losses, and for large ones.
            let near = (x + moved) - 8.0 * UNIT_ROUNDOFF * (x + moved.abs());
            let far = gamma * decay * (1.0 - 8.0 * UNIT_ROUNDOFF) - (1.0 + 8.0 * UNIT_ROUNDOFF);
            let place = near.max(far).max(-1.0);
            while line + 1 < other.lines.len() && other.lines[line + 1].0 <= place {
                line += 1;
            }
            let (start, height, fall) = other.lines[line];
            let value = (height * (1.0 + 8.0 * UNIT_ROUNDOFF) - fall * (place - start).max(0.0)).max(0.0);
            // h₂ falls, so all smaller losses add at most this.
            if value * rest < NEGLIGIBLE * sum {
                sum += value * rest;
                break;
            }
            sum += mass * value;
        }
        // There are as many roundings as terms, all of positive numbers.
        let error = 2.0 * UNIT_ROUNDOFF * (self.atoms.len() + 8) as f64;
        elementary::ln(sum * (1.0 + error) + LOST).next_up().min(0.0)
    }

    /// The profile of the two together.
    pub fn composed(&self, other: &Self, tolerance: f64) -> Table {
        let floor = elementary::ln(self.infinite + other.infinite) + 2.0;
        Table::of(tolerance, floor, |epsilon| self.ln_composed(other, epsilon))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::logs::ln_theta;
    use super::super::fresh::gaussian;
    use super::*;

    /// μ₁-GDP and μ₂-GDP together are √(μ₁² + μ₂²)-GDP.
    #[test]
    fn gaussian_profiles_compose_to_a_gaussian_profile() {
        for (first, second) in [(0.01_f64, 0.01), (0.3, 0.1), (2.0, 1.0), (0.5, 8.0)] {
            let both = first.hypot(second);
            let table = Pair::of(&gaussian(first)).composed(&Pair::of(&gaussian(second)), 4e-3);
            for i in 0..60 {
                let epsilon = both * (0.5 * both + 0.6 * f64::from(i));
                let (truth, bound) = (ln_theta(epsilon, both), table.at(epsilon));
                if truth > -600.0 {
                    assert!(bound >= truth - 1e-12, "{first} {second} {epsilon}: {bound} {truth}");
                    assert!(
                        bound <= truth + 4e-3 + 5e-2 * truth.abs(),
                        "{first} {second} {epsilon}: {bound} {truth}"
                    );
                }
            }
        }
    }

    #[test]
    fn nothing_composes_to_what_it_is_joined_to() {
        let table = gaussian(0.5);
        let nothing = Table::nothing(std::sync::Arc::new([0.0].into_iter().collect()));
        let joined = Pair::of(&nothing).composed(&Pair::of(&table), 4e-3);
        for epsilon in [0.0, 0.1, 1.0, 5.0] {
            let (truth, bound) = (table.at(epsilon), joined.at(epsilon));
            assert!(
                bound >= truth && bound < truth + 0.02 * (1.0 + truth.abs()),
                "{epsilon}: {bound} {truth}"
            );
        }
    }
}
