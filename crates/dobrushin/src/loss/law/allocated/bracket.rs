//! The law of a sum of independent variables, enclosed in the convex order.
//!
//! A measure is *spread* if it gives at least as much, and *gathered* if it gives at most as much, to every convex
//! function ≥ 0 as the law that it stands for. Moving mass to the two ends of a cell around it so that the mean stays the
//! same spreads it, and moving the mass of a cell to its mean gathers it. More mass is spread, less is gathered. Given one
//! summand, a convex function of a sum is a convex function of the other, so the sum of spread measures is spread,
//! and that of gathered ones is gathered: both may be rounded to a grid after each addition.
//!
//! Everything is a sum of products of numbers ≥ 0, so that every mass is known to a relative error, however small it is:
//! no tilt is needed, and the tails are as good as the middle. Grids are as fine as the law is steep: cells have equal
//! widths on the scale of ln(F/(1 − F)), F the distribution function, and wider ones far out in the tails. This
//! suits a sum of a million summands as well as a single one with a heavy tail.

use crate::numeric::UNIT_ROUNDOFF;

/// Atoms at increasing points.
#[derive(Clone, Debug)]
pub(super) struct Atoms {
    pub points: Vec<f64>,
    pub masses: Vec<f64>,
}

/// Two measures that enclose the law of a sum.
#[derive(Clone, Debug)]
pub(super) struct Bracket {
    /// At least the law, for convex functions.
    pub spread: Atoms,
    /// At most the law, for convex functions, once every atom is moved by at most its error.
    pub gathered: Atoms,
    /// The errors of the gathered atoms' points.
    pub errors: Vec<f64>,
}

/// Gathered masses below this are left out.
const LEAST_MASS: f64 = 1e-100;

impl Bracket {
    /// The sum of two independent variables; `fineness` is the width of cells in the middle.
    pub fn plus(&self, other: &Self, fineness: f64) -> Self {
        let same = std::ptr::eq(self, other);
        let grid = Grid::of_a_sum(&self.spread, &other.spread, fineness);
        let (spread, (gathered, errors)) = rayon::join(
            || spread_sum(&self.spread, &other.spread, &grid, same),
            || gathered_sum(self, other, &grid, same),
        );
        Self { spread, gathered, errors }
    }

    /// The sum of `count` ≥ 1 such variables, by repeated squaring.
    pub fn times(self, count: u64, fineness: f64) -> Self {
        let (mut power, mut result, mut left) = (self, None::<Self>, count);
        loop {
            if left % 2 == 1 {
                result = Some(match result {
                    Some(sum) => sum.plus(&power, fineness),
                    None => power.clone(),
                });
            }
            left /= 2;
            if left == 0 {
                return result.unwrap_or(power);
            }
            power = power.plus(&power, fineness);
        }
    }
}

/// Increasing points; 0 is one of them unless it is outside.
pub(super) struct Grid {
    points: Vec<f64>,
}

/// The positions ±t of grid points on the scale of ln(F/(1 − F)): in the middle they are `fineness` apart, and beyond
/// [`Grid::MIDDLE`] proportionally to t.
pub(super) fn logits(fineness: f64, most: f64) -> Vec<f64> {
    let mut right = vec![0.0];
    let mut t = 0.0;
    while t < most {
        t += fineness * (t / Grid::MIDDLE).max(1.0);
        right.push(t);
    }
    right.iter().rev().map(|t| -t).chain(right[1..].iter().copied()).collect()
}

impl Grid {
    const MIDDLE: f64 = 8.0;
    /// The least width of a cell over its distance from 0.
    const NARROWEST: f64 = 1e-7;
    /// The number of groups of atoms by which the law of a sum is sketched, to choose its grid.
    const SKETCHED: usize = 128;
    /// The distance of the logits between which the grid is interpolated, in the middle: sketched sums lie in clumps, which
    /// must not show.
    const SMOOTHED: f64 = 0.75;

    fn of_a_sum(a: &Atoms, b: &Atoms, fineness: f64) -> Self {
        let (rough_a, rough_b) = (a.sketched(), b.sketched());
        let mut sums: Vec<(f64, f64)> = rough_a
            .iter()
            .flat_map(|(x, w)| rough_b.iter().map(move |(y, v)| (x + y, w * v)))
            .filter(|(_, mass)| *mass > 0.0)
            .collect();
        sums.sort_by(|one, other| one.0.total_cmp(&other.0));
        let first = a.points[0] + b.points[0];
        let last = (a.points[a.points.len() - 1] + b.points[b.points.len() - 1]).next_up();
        Self::new(quantiles(&sums), fineness, (first, last))
    }

    /// The grid whose points have the given logits, interpolated between (logit, point) pairs, with these ends.
    pub fn new(quantiles: Vec<(f64, f64)>, fineness: f64, (first, last): (f64, f64)) -> Self {
        let most = quantiles.iter().map(|(t, _)| t.abs()).fold(0.0, f64::max);
        let mut points = vec![first];
        let mut at = 0;
        for t in logits(fineness, most) {
            while at + 2 < quantiles.len() && quantiles[at + 1].0 < t {
                at += 1;
            }
            if let [(t0, x0), (t1, x1), ..] = quantiles[at.min(quantiles.len().saturating_sub(2))..] {
                let share = ((t - t0) / (t1 - t0)).clamp(0.0, 1.0);
                points.push(x0 + (x1 - x0) * share);
            }
        }
        points.extend([0.0, last]);
        points.sort_by(f64::total_cmp);
        points.retain(|point| (first..=last).contains(point));
        // The shares of a cell that is too narrow for its size are not known.
        let mut apart: Vec<f64> = Vec::with_capacity(points.len());
        for point in points {
            let near = |other: &f64| point - other <= Self::NARROWEST * point.abs();
            match apart.last_mut() {
                Some(other) if point == last && near(other) && *other > first => *other = point,
                Some(other) if near(other) && point != last => (),
                _ => apart.push(point),
            }
        }
        Self { points: apart }
    }

    pub fn into_points(self) -> Vec<f64> {
        self.points
    }

    /// The cell of a point: the last one that begins at or below it.
    fn cell(&self, point: f64) -> usize {
        let after = self.points.partition_point(|end| *end <= point);
        after.clamp(1, self.points.len() - 1) - 1
    }
}

/// Some (logit, point) pairs of sorted atoms, increasing in both.
fn quantiles(sorted: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut above = vec![0.0; sorted.len() + 1];
    for (i, (_, mass)) in sorted.iter().enumerate().rev() {
        above[i] = above[i + 1] + mass;
    }
    let mut below = 0.0;
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for (i, (point, mass)) in sorted.iter().enumerate() {
        let logit = libm::log((below + 0.5 * mass) / (above[i + 1] + 0.5 * mass));
        below += mass;
        let apart = Grid::SMOOTHED * (logit.abs() / Grid::MIDDLE).max(1.0);
        let next = pairs.last().is_none_or(|last| logit >= last.0 + apart && *point > last.1);
        if logit.is_finite() && (next || i + 1 == sorted.len()) {
            pairs.push((logit, *point));
        }
    }
    pairs
}

impl Atoms {
    /// A few groups of atoms, at their means.
    fn sketched(&self) -> Vec<(f64, f64)> {
        let size = self.points.len().div_ceil(Grid::SKETCHED);
        let groups = self.points.chunks(size).zip(self.masses.chunks(size));
        let groups = groups.map(|(points, masses)| {
            let mass: f64 = masses.iter().sum();
            let moment: f64 = points.iter().zip(masses).map(|(point, mass)| (point - points[0]) * mass).sum();
            (points[0] + if mass > 0.0 { moment / mass } else { 0.0 }, mass)
        });
        groups.collect()
    }
}

/// Adds up what the sums of two variables leave in each cell of a grid. `add` includes in a cell's part the sum with one
/// atom of b; `leave` is called with the atom of a, its weight, the cell and the part. If the variables have the same law,
/// sums of two different atoms are looked at once, and count twice.
fn sums<Part: Default>(
    (a, b): (&Atoms, &Atoms),
    grid: &Grid,
    same: bool,
    add: impl Fn(&mut Part, usize, f64, [f64; 2]),
    mut leave: impl FnMut(usize, f64, usize, Part),
) {
    let ends = &grid.points;
    for (i, (x, weight)) in a.points.iter().zip(&a.masses).enumerate() {
        if *weight == 0.0 {
            continue;
        }
        let from = if same { i } else { 0 };
        let mut cell = grid.cell(x + b.points[from]);
        let mut part = Part::default();
        let mut weight = *weight;
        for (j, y) in b.points.iter().enumerate().skip(from) {
            let sum = x + y;
            let twice = same && j == i + 1;
            if twice || (sum >= ends[cell + 1] && cell + 2 < ends.len()) {
                leave(i, weight, cell, std::mem::take(&mut part));
                while sum >= ends[cell + 1] && cell + 2 < ends.len() {
                    cell += 1;
                }
            }
            if twice {
                weight *= 2.0;
            }
            add(&mut part, j, sum, [ends[cell], ends[cell + 1]]);
        }
        leave(i, weight, cell, part);
    }
}

/// A bound on the relative error of a sum over atoms of sums over atoms, all ≥ 0.
fn margin(a: &Atoms, b: &Atoms) -> f64 {
    2.0 * (2 * a.points.len() + b.points.len() + 32) as f64 * UNIT_ROUNDOFF
}

/// The spread sum on the points of a grid.
///
/// A sum is rounded by a unit, so the share of a mass that goes to an end of its cell is off by at most a few units of its
/// size over the width of the cell: both shares are rounded up by that.
fn spread_sum(a: &Atoms, b: &Atoms, grid: &Grid, same: bool) -> Atoms {
    let ends = &grid.points;
    let cells: Vec<(f64, f64)> = ends
        .windows(2)
        .map(|pair| {
            let width = pair[1] - pair[0];
            let size = pair[0].abs().max(pair[1].abs());
            (1.0 / width, 4.0 * UNIT_ROUNDOFF * (size / width + 4.0))
        })
        .collect();
    let mut masses = vec![0.0; ends.len()];
    // A mass, and Σ of masses times their distances from the lower and from the upper end.
    let add = |part: &mut (f64, f64, f64), j: usize, sum: f64, [start, end]: [f64; 2]| {
        let mass = b.masses[j];
        part.0 += mass;
        part.1 += mass * (sum - start);
        part.2 += mass * (end - sum);
    };
    sums((a, b), grid, same, add, |_, weight, cell, (mass, above, below)| {
        let (over_width, error) = cells[cell];
        let error = error * mass;
        masses[cell] += weight * (below.max(0.0) * over_width + error);
        masses[cell + 1] += weight * (above.max(0.0) * over_width + error);
    });
    let more = 1.0 + margin(a, b);
    masses.iter_mut().for_each(|mass| *mass *= more);
    Atoms { points: ends.clone(), masses }
}

/// The gathered sum, and the errors of its points.
fn gathered_sum(one: &Bracket, other: &Bracket, grid: &Grid, same: bool) -> (Atoms, Vec<f64>) {
    let (a, b) = (&one.gathered, &other.gathered);
    // A mass, Σ of masses times their distances from the lower end, and Σ of masses times their errors.
    let mut cells = vec![(0.0, 0.0, 0.0); grid.points.len() - 1];
    let add = |part: &mut (f64, f64, f64), j: usize, sum: f64, [start, _]: [f64; 2]| {
        let mass = b.masses[j];
        part.0 += mass;
        part.1 += mass * (sum - start);
        part.2 += mass * other.errors[j];
    };
    sums((a, b), grid, same, add, |i, weight, cell, (mass, above, error)| {
        let total = &mut cells[cell];
        total.0 += weight * mass;
        total.1 += weight * above;
        total.2 += weight * (error + mass * one.errors[i]);
    });
    let margin = margin(a, b);
    let mut atoms = Atoms { points: Vec::new(), masses: Vec::new() };
    let mut errors = Vec::new();
    for (ends, (mass, above, error)) in grid.points.windows(2).zip(cells) {
        if mass <= LEAST_MASS {
            continue;
        }
        let within = above / mass;
        // The sums, the distances and the mean are rounded by a unit each.
        let size = ends[0].abs().max(ends[1].abs());
        let rounding = 2.0 * margin * within.abs() + 8.0 * UNIT_ROUNDOFF * size;
        atoms.points.push(ends[0] + within);
        atoms.masses.push(mass * (1.0 - margin));
        errors.push((error / mass) * (1.0 + 2.0 * margin) + rounding);
    }
    (atoms, errors)
}
