//! Rényi divergences of the two laws.
//!
//! D_α(P‖Q) = ln(S)/(α − 1) with S = ∫ (dP/dQ)^α dQ ≥ 1. The interval is cut into pieces, the
//! ends being pieces of their own, and the pieces are halved until their two bounds are close.
//!
//! # Guarantee
//! For a piece of probabilities P and Q on which the likelihood ratio ℓ is in [l, u], x ↦ x^α
//! being convex,
//!
//! ```text
//! P^α·Q^(1−α)  ≤  ∫ ℓ^α dQ  ≤  Q·(l^α − κl) + κP,   κ = (u^α − l^α)/(u − l)
//! ```
//!
//! (Jensen's inequality; the chord), and the second is increasing in P and decreasing in Q, since
//! l^α ≤ κl. All four numbers are taken with their errors. Where the computed density of Q is
//! lost in its error, what remains is that the centres of Q's noise are within reach of the
//! interval: the upper end may then be far too large, but never too small.

use crate::laws::Laws;
use crate::mixture::{Mixture, UNIT};
use crate::step::Noise;
use crate::taylor::{Cell, Polynomial, TERMS, integral_to, size, zoomed};
use dobrushin::profile::Direction;
use dobrushin::{Enclosure, RenyiOrder};

/// The bounds on S come this close, unless errors or [`DEEPEST`] prevent it.
const TOLERANCE: f64 = 1e-6;

/// A cell is halved at most this often.
const DEEPEST: u32 = 10;

/// Roundings of a zoomed polynomial, its extremes and its integral, relative to Σ|p_k|.
const ROUNDING: f64 = 16.0 * TERMS as f64 * UNIT;

/// Lower and upper bounds on a number ≥ 0.
type Bounds = [f64; 2];

impl Laws {
    /// D_α of the law for D from the law for D′ if `direction` is forward, of the latter from the former if it is
    /// reverse, for a finite α > 1. For other orders, the answer is [0, ∞].
    pub fn renyi(&self, direction: Direction, order: RenyiOrder) -> Enclosure {
        let order = order.get();
        let nothing = Enclosure::new(0.0, f64::INFINITY).unwrap_or(Enclosure::ENTIRE);
        if order <= 1.0 || order.is_infinite() {
            return nothing;
        }
        let roles = match direction {
            Direction::Forward => [0, 1],
            Direction::Reverse => [1, 0],
        };
        let power = Power { order };
        let mut sums = [0.0; 2];
        let mut add = |bounds: Bounds| (0..2).for_each(|i| sums[i] += bounds[i]);
        let table = self.table();
        let mass_error = table.atom_error + self.error();
        for (atom, floor) in table.atoms.iter().zip(self.least_atoms()) {
            let [p, q] = roles.map(|i| [atom[i] - mass_error, atom[i] + mass_error]);
            let (p, q) = ([p[0].max(0.0), p[1]], [q[0].max(floor), q[1]]);
            add([power.jensen(p[0], q[1]), power.jensen(p[1], q[0])]);
        }
        let density_error = self.density_error();
        let length = self.interval.length();
        for cell in &table.cells {
            let error = cell.error + density_error;
            let floor = self.least_density(cell);
            let piece = Pieces { cell, roles, error, floor, power, length };
            add(piece.bounds(0.0, 1.0, 0));
        }
        // The sums are rounded, as are the powers.
        let slack = 1e-12 * order + (table.cells.len() + 4096) as f64 * UNIT;
        let [lower, upper] = [sums[0] * (1.0 - slack), sums[1] * (1.0 + slack)];
        let sum = Enclosure::new(lower.clamp(1.0, f64::MAX), upper.max(1.0)).unwrap_or(nothing);
        sum.ln() / (Enclosure::from(order) - Enclosure::ONE)
    }

    /// How far the density of either law is from that of its mixture, at most.
    fn density_error(&self) -> f64 {
        self.parts.iter().map(|part| part.error * part.peak()).sum::<f64>() * (1.0 + 1e-12)
    }

    /// What either law gives at least to the ends of the interval, whatever the centres within reach are.
    fn least_atoms(&self) -> [f64; 2] {
        let (lower, upper) = (self.interval.lower(), self.interval.upper());
        let mut least = [0.0; 2];
        for part in &self.parts {
            least[0] += part.mass * part.tail(part.reach[1] - lower);
            least[1] += part.mass * part.tail(upper - part.reach[0]);
        }
        least.map(|least| least * (1.0 - 1e-9))
    }

    /// What the density of either law is at least in the cell, whatever the centres within reach are.
    fn least_density(&self, cell: &Cell) -> f64 {
        let least = |part: &Mixture| {
            let farthest =
                (cell.tile.centre - part.reach[0]).max(part.reach[1] - cell.tile.centre) + cell.tile.half;
            let z = farthest / part.noise.scale();
            let exponent = if matches!(part.noise, Noise::Gaussian(_)) { 0.5 * z * z } else { z };
            part.mass * part.peak() * libm::exp(-exponent)
        };
        self.parts.iter().map(least).sum::<f64>() * (1.0 - 1e-9)
    }
}

/// A cell and what is known about its densities.
struct Pieces<'a> {
    cell: &'a Cell,
    /// Which law is P, and which Q.
    roles: [usize; 2],
    error: f64,
    floor: f64,
    power: Power,
    length: f64,
}

impl Pieces<'_> {
    /// Bounds on the part of S on [middle − half, middle + half].
    fn bounds(&self, middle: f64, half: f64, depth: u32) -> Bounds {
        let width = 2.0 * half * self.cell.tile.half;
        let [p, q] = self.roles.map(|i| self.law(&self.cell.densities[i], middle, half, width));
        let ratios = [p.density[0] / q.density[1], p.density[1] / q.density[0]];
        let bounds =
            [self.power.jensen(p.mass[0], q.mass[1]), self.power.chord(ratios, p.mass[1], q.mass[0])];
        let gap = bounds[1] - bounds[0];
        let is_lost = q.density[1] < 8.0 * self.error;
        if gap <= TOLERANCE * bounds[0].max(width / self.length) || depth == DEEPEST || is_lost {
            return bounds;
        }
        let halves = [-0.5, 0.5].map(|side| self.bounds(middle + side * half, half / 2.0, depth + 1));
        [halves[0][0] + halves[1][0], halves[0][1] + halves[1][1]]
    }

    /// The density and the probability of a law on this part.
    fn law(&self, density: &Polynomial, middle: f64, half: f64, width: f64) -> Known {
        let zoomed = zoomed(density, middle, half);
        let error = self.error + ROUNDING * size(density);
        let spread = size(&zoomed) - zoomed[0].abs() + error;
        let mean = integral_to(&zoomed, 1.0) / 2.0;
        Known {
            density: [(zoomed[0] - spread).max(self.floor), zoomed[0] + spread],
            mass: [width * (mean - error).max(self.floor), width * (mean + error)],
        }
    }
}

struct Known {
    density: Bounds,
    mass: Bounds,
}

/// x ↦ x^α.
#[derive(Clone, Copy)]
struct Power {
    order: f64,
}

impl Power {
    /// p^α·q^(1−α).
    fn jensen(self, p: f64, q: f64) -> f64 {
        if p <= 0.0 { 0.0 } else { libm::exp(self.order * libm::log(p) + (1.0 - self.order) * libm::log(q)) }
    }

    /// The chord over the given ratios, at probabilities `p` and `q`.
    fn chord(self, ratios: Bounds, p: f64, q: f64) -> f64 {
        let [l, u] = ratios;
        let [at_l, at_u] = ratios.map(|x| libm::pow(x, self.order));
        // Roundings of κ change κ(p − lq) by a few units of u^α·q.
        let slope = (at_u - at_l) / (u - l);
        let excess = (p - l * q).max(0.0) + 4.0 * UNIT * (p + l * q);
        let bound = q * at_l + slope * excess;
        if bound.is_nan() { f64::INFINITY } else { bound }
    }
}
