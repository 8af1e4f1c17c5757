//! Which part of a sum of losses is worth keeping.

use super::convolve::Copies;
use super::grid::{Grid, Nodes};
use crate::numeric::GoldenSection;
use crate::numeric::elementary::powi;

/// The mass that may be left outside a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// The tilted mass, on each side.
    pub tilted: f64,
    /// ln of the mass above, without the tilt; this mass counts as ∞.
    pub log_infinite: f64,
}

/// The points of the sum that are kept, and bounds on the tilted mass of the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub first: i64,
    pub last: i64,
    /// The pessimistic mass above the last point.
    pub above: f64,
    /// The mass of the points below the first, after being raised to it.
    pub moved_up: f64,
    /// The mass outside.
    pub outside: f64,
}

impl Window {
    /// Chernoff's bound with a few exponents, each of which is valid.
    pub fn around(factors: &[Copies], grid: Grid, log_scale: f64, allowance: Allowance) -> Self {
        let total =
            |of: fn(&Nodes) -> i64| factors.iter().map(|f| f.count as i64 * of(&f.summed.nodes)).sum();
        let (start, end): (i64, i64) = (total(|n| n.first), total(Nodes::last));
        let variances = factors.iter().map(|f| f.count as f64 * variance(&f.summed.nodes.upper));
        let deviation = variances.sum::<f64>().sqrt().max(1e-3);
        let log_allowance = libm::log(allowance.tilted);
        let blocks: Vec<(Blocks, f64)> =
            factors.iter().map(|f| (Blocks::new(&f.summed.nodes), f.count as f64)).collect();
        // ln of the moment of the sum.
        let log_moment =
            |s: f64| blocks.iter().map(|(blocks, count)| count * blocks.log_moment(s)).sum::<f64>();
        // Heavy tails need small exponents, and light ones that of a normal law; above 2 per point, nothing is gained.
        let normal = 2.0 * (-2.0 * log_allowance).sqrt() / deviation;
        let exponents = (-log_allowance / (end - start).max(1) as f64, normal.min(2.0));
        let top = smallest(exponents, |s| {
            // Raising it to ∞ costs the mass above without the tilt, which is e^(κ − a·top) times the tilted mass.
            let moment = log_moment(s);
            ((moment - log_allowance) / s)
                .max((moment + log_scale - allowance.log_infinite) / (s + grid.tilt))
        });
        let bottom = -smallest(exponents, |s| {
            // Mass that is moved up to the first point gains e^(a·distance).
            let s = s.max(grid.tilt);
            (log_moment(-s) - log_allowance) / s
        });
        let last = if top < end as f64 { top.ceil() as i64 } else { end };
        let first = if bottom > start as f64 { (bottom.floor() as i64).min(end - 1) } else { start };
        let last = last.max(first + 1);
        let bound = |cut: bool| if cut { allowance.tilted * CHERNOFF_ROOM } else { 0.0 };
        let (above, below) = (bound(last < end), bound(first > start));
        Self { first, last, above, moved_up: below, outside: above + below }
    }
}

/// Room for the rounding of the logarithms in Chernoff's bound.
pub(super) const CHERNOFF_ROOM: f64 = 1.0 + 1e-6;

/// The smallest value seen of a function with one minimum, on a logarithmic scale.
fn smallest((start, end): (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    let ends = (libm::log(start.min(end)), libm::log(end.max(start)));
    GoldenSection::new(ends, |x| f(libm::exp(x))).narrowed(12).lowest().1
}

/// Masses summed over blocks of points, for bounds on moments.
struct Blocks {
    first: i64,
    masses: Vec<f64>,
    heaviest: usize,
}

impl Blocks {
    const SIZE: usize = 16;

    fn new(nodes: &Nodes) -> Self {
        let sums = |masses: &[f64]| -> Vec<f64> {
            masses.chunks(Self::SIZE).map(|block| block.iter().sum()).collect()
        };
        // For each block the larger measure is used: the mass outside the window is bounded for both.
        let masses: Vec<f64> = sums(&nodes.upper)
            .iter()
            .zip(sums(&nodes.lower))
            .map(|(upper, lower)| upper.max(lower))
            .collect();
        let heaviest = (0..masses.len()).max_by(|a, b| masses[*a].total_cmp(&masses[*b])).unwrap_or(0);
        Self { first: nodes.first, masses, heaviest }
    }

    /// An upper bound on ln Σ_j m_j e^(sj): each block counts as its last point if s > 0, and as its first if s < 0.
    /// Horner's rule runs from both ends to the heaviest block, whose power is the reference.
    fn log_moment(&self, s: f64) -> f64 {
        let size = Self::SIZE as f64;
        let (before, after) = self.masses.split_at(self.heaviest);
        let towards = |power: f64, sum: f64, mass: &f64| sum * power + mass;
        let (fall, rise) = (libm::exp(-s * size), libm::exp(s * size));
        let below = before.iter().fold(0.0, |sum, mass| towards(fall, sum, mass)) * fall;
        let sum = below + after.iter().rev().fold(0.0, |sum, mass| towards(rise, sum, mass));
        let reference = self.heaviest as f64 * size + if s > 0.0 { size - 1.0 } else { 0.0 };
        libm::log(sum) + s * (self.first as f64 + reference)
    }
}

/// The approximate moments of the masses as a law on their indices.
fn variance(masses: &[f64]) -> f64 {
    let total: f64 = masses.iter().sum();
    let mean = masses.iter().enumerate().map(|(i, m)| i as f64 * m).sum::<f64>() / total;
    masses.iter().enumerate().map(|(i, m)| powi(i as f64 - mean, 2) * m).sum::<f64>() / total
}
