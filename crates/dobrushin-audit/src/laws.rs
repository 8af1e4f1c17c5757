//! The laws of one iterate for two neighbours, and how far apart they are.

use crate::mixture::{Mixture, UNIT};
use crate::positive_part::{ROUNDING, positive_part};
use crate::taylor::{Cell, TERMS, cells, size};
use crate::{Error, Interval};
use dobrushin::profile::Direction;
use dobrushin::{Enclosure, Gamma};
use std::sync::OnceLock;

/// Beyond this γ, errors hide the divergence completely.
const LARGEST_GAMMA: f64 = 1e12;

/// The laws of an iterate for D (the first) and for D′ (the second).
///
/// ```
/// use dobrushin_audit::{Interval, Map, Noise, OneDimensionalChain, Step};
///
/// // The same map for both neighbours: the laws are alike, and symmetric around the start.
/// let steps = vec![Step::never(Noise::Gaussian(1.0), Map::identity())];
/// let laws = OneDimensionalChain { interval: Interval::new(-5.0, 5.0)?, start: 0.0, steps }.laws()?;
/// let [first, second] = laws.at_most(0.0);
/// assert!((first.upper() - 0.5).abs() < 1e-9 && first == second);
/// # Ok::<(), dobrushin_audit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Laws {
    pub(crate) interval: Interval,
    pub(crate) parts: Vec<Mixture>,
    table: OnceLock<Table>,
}

/// Both laws, ready to be compared.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The probabilities of the ends of the interval under D and D′.
    pub(crate) atoms: [[f64; 2]; 2],
    /// How far they are from those of the mixtures, at most, summed.
    pub(crate) atom_error: f64,
    pub(crate) cells: Vec<Cell>,
}

impl Laws {
    pub(crate) fn new(interval: Interval, parts: Vec<Mixture>) -> Self {
        Self { interval, parts, table: OnceLock::new() }
    }

    /// The laws of an iterate that is chosen from several by a hidden random choice, which is the same for both
    /// neighbours: a random stopping time or a random order.
    ///
    /// The weights are divided by their sum.
    ///
    /// # Errors
    /// If there are no laws, not as many weights as laws, a weight is negative, NaN or infinite,
    /// their sum is not within 1e-9 of 1, or the intervals differ.
    pub fn mixture(weights: &[f64], laws: &[Self]) -> Result<Self, Error> {
        let interval = laws.first().ok_or(Error::Empty("law"))?.interval;
        if weights.len() != laws.len() {
            return Err(Error::WeightCount { weights: weights.len(), laws: laws.len() });
        }
        if let Some(&value) = weights.iter().find(|weight| !(0.0..=2.0).contains(*weight)) {
            return Err(Error::OutOfRange { name: "weight", value, accepted: "between 0 and 1" });
        }
        let sum: f64 = weights.iter().sum();
        if (sum - 1.0).abs() > 1e-9 {
            return Err(Error::OutOfRange { name: "sum of the weights", value: sum, accepted: "1" });
        }
        if laws.iter().any(|other| other.interval != interval) {
            return Err(Error::DifferentIntervals);
        }
        // The division and the sum are rounded.
        let rounding = (weights.len() as f64 + 4.0) * UNIT;
        let parts = weights.iter().zip(laws).filter(|(weight, _)| **weight > 0.0);
        let parts = parts.flat_map(|(weight, laws)| laws.parts.iter().map(move |part| (weight / sum, part)));
        let weighted = |(weight, part): (f64, &Mixture)| {
            let mut part = part.clone().scaled(weight);
            part.error += rounding * part.mass;
            part
        };
        Ok(Self::new(interval, parts.map(weighted).collect()))
    }

    /// A bound on the L¹ distance between either law and the one that is compared: what the steps of the chain have
    /// lost by quadrature and rounding.
    pub fn error(&self) -> f64 {
        self.parts.iter().map(|part| part.error).sum::<f64>() * (1.0 + 1e-12)
    }

    /// The most steps that were made for a part.
    pub(crate) fn made(&self) -> u64 {
        self.parts.iter().map(|part| part.made).max().unwrap_or(0)
    }

    /// The ends of the interval.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.interval.lower(), self.interval.upper())
    }

    /// The densities inside the interval, for D and for D′.
    pub(crate) fn densities(&self, x: f64) -> [f64; 2] {
        self.parts
            .iter()
            .map(|part| part.density(x))
            .fold([0.0; 2], |sum, part| [sum[0] + part[0], sum[1] + part[1]])
    }

    /// The probability that the projection has ever moved an iterate, with either data set, at most, if no step was left out
    /// and but for the [error](Laws::error) of each step; that of the last projection is counted here.
    pub(crate) fn clamped(&self) -> f64 {
        let before: f64 = self.parts.iter().map(|part| part.clamped).sum();
        let atoms = self.table().atoms;
        let last = (0..2).map(|law| atoms[0][law] + atoms[1][law]).fold(0.0, f64::max);
        (before + last) * (1.0 + 1e-9) + self.error()
    }

    /// The probabilities under D and under D′ that the iterate is at most `x`.
    pub fn at_most(&self, x: f64) -> [Enclosure; 2] {
        if x < self.interval.lower() || x >= self.interval.upper() {
            return [if x < self.interval.lower() { Enclosure::ZERO } else { Enclosure::ONE }; 2];
        }
        let mut sums = [0.0; 2];
        let mut error = self.error() + 2.0 * self.parts.len() as f64 * UNIT;
        for part in &self.parts {
            let below = part.below(x);
            (0..2).for_each(|i| sums[i] += below[i]);
            error += part.tail_error(below);
        }
        sums.map(|sum| enclosure(sum - error, sum + error))
    }

    /// E_γ of the law for D from the law for D′ if `direction` is forward, of the latter from the
    /// former if it is reverse. As everywhere, (1 − γ)₊ is subtracted for γ < 1.
    pub fn hockey_stick(&self, direction: Direction, gamma: Gamma) -> Enclosure {
        let table = self.table();
        let (p, q) = match direction {
            Direction::Forward => (0, 1),
            Direction::Reverse => (1, 0),
        };
        if gamma.value().upper() > LARGEST_GAMMA {
            // E_γ decreases in γ.
            let upper =
                Gamma::new(LARGEST_GAMMA).map_or(1.0, |gamma| self.hockey_stick(direction, gamma).upper());
            return enclosure(0.0, upper);
        }
        let (g, spread) = (gamma.value().midpoint(), gamma.value().width());
        let mut sums = [0.0; 2];
        let mut error = table.atom_error * (1.0 + g);
        for atom in table.atoms {
            let excess = (atom[p] - g * atom[q]).max(0.0);
            sums[0] += excess;
            sums[1] += excess;
        }
        for cell in &table.cells {
            let [of_p, of_q] = [&cell.densities[p], &cell.densities[q]];
            let mut difference = [0.0; TERMS];
            for (difference, (p, q)) in difference.iter_mut().zip(of_p.iter().zip(of_q)) {
                *difference = p - g * q;
            }
            let sizes = size(of_p) + g * size(of_q);
            let [lower, upper] = positive_part(&difference, UNIT * sizes);
            sums[0] += cell.tile.half * lower;
            sums[1] += cell.tile.half * upper;
            let rounding = (ROUNDING + 4.0 * UNIT) * sizes;
            error += cell.tile.half * (2.0 * cell.error * (1.0 + g) + rounding);
        }
        // γ is known to within its enclosure, and ∂E_γ/∂γ ≥ −1.
        error += self.error() * (1.0 + g) + spread;
        // The sums over cells, and this one, are rounded.
        error += (table.cells.len() as f64 + 16.0) * 2.0 * UNIT * (1.0 + g);
        let floor = (1.0 - g).max(0.0);
        enclosure(sums[0] - floor - error, sums[1] - floor + error)
    }

    /// The polynomials, computed once.
    pub(crate) fn table(&self) -> &Table {
        self.table.get_or_init(|| {
            let mut atoms = [[0.0; 2]; 2];
            let mut atom_error = 2.0 * self.parts.len() as f64 * UNIT;
            for part in &self.parts {
                let ends = [part.below(self.interval.lower()), part.above(self.interval.upper())];
                for (atom, mass) in atoms.iter_mut().zip(ends) {
                    (0..2).for_each(|i| atom[i] += mass[i]);
                    atom_error += part.tail_error(mass);
                }
            }
            Table { atoms, atom_error, cells: cells(self.interval, &self.parts) }
        })
    }
}

/// The part of [lower, upper] that lies in [0, 1].
fn enclosure(lower: f64, upper: f64) -> Enclosure {
    Enclosure::new(lower.clamp(0.0, 1.0), upper.clamp(0.0, 1.0)).unwrap_or(Enclosure::UNIT)
}
