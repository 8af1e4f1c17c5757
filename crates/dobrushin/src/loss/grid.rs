//! Losses on a grid, and the two ways to round a law to it.
//!
//! A privacy loss L under P, with X = e^(−L) = dQ/dP, has E_γ(P‖Q) = E_P(1 − γX)₊. So a measure in place of the law of
//! L is *pessimistic* if it gives at least as much, and *optimistic* if it gives at most as much, to every function of
//! X that is convex, decreasing and ≥ 0. Both properties carry over to composition, where the X multiply, and then to
//! the profile. A pessimistic rounding may add mass, raise losses, and spread mass over its surroundings while keeping
//! the mean of X. An optimistic rounding may remove mass, lower losses, and gather mass at its mean of X.
//!
//! A cell between the grid points a and b = a + h with the masses p, q is spread to
//!
//! ```text
//! up = (p − q·e^a)/(1 − e^(−h)) at b, and p − up at a    (connect the dots, Doroshenko et al. 2022);
//! ```
//!
//! gathering is in `gather.rs`. The error of either is O(h²), so a grid may be coarse.
//!
//! Masses are *tilted*: the number stored for the point j is e^(aj − κ) times the mass, with e^κ about its total. The
//! tilt moves the middle of the law to the losses that matter at the δ of interest, so that the rounding of a Fourier
//! transform, which is relative to the largest mass, is small relative to δ itself, however small δ is.

use super::gather::{Cell, Excess, gather};
use super::{LossLaw, Split};
use crate::Enclosure;
use crate::numeric::UNIT_ROUNDOFF;
use crate::numeric::elementary;
use crate::numeric::elementary::powi;
use rayon::prelude::*;

/// Grid points jh, and the tilt a·j; a/h is the λ of the tilt e^(λL).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    /// h.
    pub step: f64,
    /// a = λh.
    pub tilt: f64,
}

impl Grid {
    /// Every `factor`-th point; the factor is a power of two, so nothing is rounded.
    fn coarser(self, factor: usize) -> Self {
        Self { step: self.step * factor as f64, tilt: self.tilt * factor as f64 }
    }

    /// λ = a/h.
    pub fn lambda(self) -> Enclosure {
        Enclosure::from(self.tilt) / Enclosure::from(self.step)
    }
}

/// Tilted masses on consecutive grid points, of a pessimistic and an optimistic measure.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// The index of the first point.
    pub first: i64,
    /// The pessimistic masses.
    pub upper: Vec<f64>,
    /// The optimistic masses.
    pub lower: Vec<f64>,
}

impl Nodes {
    /// The index of the last point.
    pub fn last(&self) -> i64 {
        self.first + self.upper.len() as i64 - 1
    }

    /// The same measures on every `factor`-th point.
    pub fn coarsen(&self, grid: Grid, factor: usize) -> (Grid, Self) {
        let coarse = grid.coarser(factor);
        if factor == 1 {
            return (coarse, self.clone());
        }
        let shares = Shares::new(grid, factor);
        let width = factor as i64;
        let first = self.first.div_euclid(width);
        let last = self.last().div_euclid(width) + 1;
        let cells = (last - first) as usize;
        // Whole cells; the first and the last are padded.
        let before = (self.first - first * width) as usize;
        let filled = |masses: &[f64]| {
            let mut filled = vec![0.0; before];
            filled.extend_from_slice(masses);
            filled.resize(cells * factor, 0.0);
            filled
        };
        let mut upper = vec![0.0; cells + 1];
        for (cell, masses) in filled(&self.upper).chunks_exact(factor).enumerate() {
            let (down, up) = shares.spread(masses);
            upper[cell] += down;
            upper[cell + 1] += up;
        }
        let gathered =
            filled(&self.lower).chunks_exact(factor).map(|masses| shares.gathered(masses)).collect();
        // The rounding of adding two cells.
        upper.iter_mut().for_each(|mass| *mass *= 1.0 + 4.0 * UNIT_ROUNDOFF);
        let points: Vec<i64> = (0..=cells as i64).collect();
        let lower = gather(gathered, &points, coarse);
        (coarse, Self { first, upper, lower })
    }
}

/// The largest factor by which a grid is coarsened in one step.
pub(super) const LARGEST_FACTOR: usize = 16;

/// How the points inside a coarse cell are shared between its ends.
struct Shares {
    /// The share, before the tilt, that goes up, (1 − e^(−ih))/(1 − e^(−rh)), and the rest.
    parts: Vec<Part>,
    /// The tilt e^(ar) from the lower end to the upper.
    rise: f64,
    /// A bound on the relative error of a sum over a cell, for each of its terms and additions.
    margin: f64,
}

/// One point's share.
struct Part {
    up: f64,
    down: f64,
    /// The tilt e^(−ai) from the point down to the lower end.
    untilt: f64,
}

impl Shares {
    fn new(grid: Grid, factor: usize) -> Self {
        let rest = |points: usize| -elementary::exp_m1(-(grid.step * points as f64));
        let parts = (0..factor).map(|i| Part {
            up: rest(i) / rest(factor),
            down: elementary::exp(-(grid.step * i as f64)) * rest(factor - i) / rest(factor),
            untilt: elementary::exp(-(grid.tilt * i as f64)),
        });
        // An exponent is rounded by a unit of its size; everything else by a unit or two.
        let exponents = (grid.tilt.abs() + grid.step) * factor as f64;
        let margin = (2.0 * factor as f64 + 24.0 + 4.0 * exponents) * UNIT_ROUNDOFF;
        Self { parts: parts.collect(), rise: elementary::exp(grid.tilt * factor as f64), margin }
    }

    /// The masses that go to the lower and to the upper end, each in its own tilt, rounded up.
    fn spread(&self, masses: &[f64]) -> (f64, f64) {
        let (mut down, mut up) = (0.0, 0.0);
        for (mass, part) in masses.iter().zip(&self.parts) {
            let untilted = mass * part.untilt;
            up += untilted * part.up;
            down += untilted * part.down;
        }
        (down * (1.0 + self.margin), up * self.rise * (1.0 + self.margin))
    }

    /// The cell for gathering: with s_i the share of point i that goes up, spreading causes at the point i the excess
    /// (1−s_i)Σ_{k≤i} m_k s_k + s_i Σ_{k>i} m_k (1−s_k).
    fn gathered(&self, masses: &[f64]) -> Cell {
        let mut terms = [(0.0, 0.0); LARGEST_FACTOR];
        for ((term, mass), part) in terms.iter_mut().zip(masses).zip(&self.parts) {
            let untilted = mass * part.untilt;
            *term = (untilted * part.up, untilted * part.down);
        }
        // Σ_{k>i} m_k (1−s_k), added up from the top so that nothing cancels.
        let mut sinking = [0.0; LARGEST_FACTOR];
        let mut down = 0.0;
        for i in (0..masses.len()).rev() {
            sinking[i] = down;
            down += terms[i].1;
        }
        let (mut up, mut excess) = (0.0, Excess::default());
        for (i, part) in self.parts.iter().enumerate() {
            up += terms[i].0;
            if i > 0 {
                excess.include(part.down * up + part.up * sinking[i], part.up, part.down);
            }
        }
        let less = 1.0 - self.margin;
        Cell::new(down * less, up * less, excess.times(1.0 + 2.0 * self.margin))
    }
}

/// A law's masses on the cells of a grid, converted to nodes.
pub(super) struct Discretised {
    /// The tilted masses.
    pub nodes: Nodes,
    /// An upper bound on P's mass at losses above the last point, which counts as ∞.
    pub infinite: f64,
    /// An upper bound on the whole pessimistic mass before the tilt, including ∞.
    pub total: f64,
}

/// The position of the cells of a law on a grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// The first and the last point.
    pub range: (i64, i64),
    /// The position of the point 0: the points are at origin + jh.
    pub origin: f64,
    /// The thresholds, and the pessimistic points, lie higher by this much, so that atoms on points lie clearly below
    /// them; the optimistic points lie lower by the same amount. 0 for laws without atoms.
    pub offset: f64,
    /// κ.
    pub log_scale: f64,
}

/// The two roundings of a law to a grid.
pub(super) fn discretise(law: &dyn LossLaw, grid: Grid, placement: Placement) -> Discretised {
    let (first, last) = placement.range;
    let ends = Ends { law, grid, placement };
    let points = ends.refined();
    let length = (last - first + 1) as usize;
    let mut upper = Pessimistic { masses: vec![0.0; length], ends: &ends, total: 0.0 };
    let mut cells = Vec::with_capacity(points.len());
    // 1/(1 − e^(−width)) for every width.
    let widths: Vec<Enclosure> = (0..=Ends::WIDEST)
        .map(|width| {
            let width = Enclosure::from(width.max(1) as f64) * Enclosure::from(grid.step);
            Enclosure::ONE / -(-width).exp_m1()
        })
        .collect();
    let below = points.first().map_or(1.0, |point| point.split.below.p.upper());
    upper.add(0, below);
    for pair in points.windows(2) {
        let [start, end] = pair else { continue };
        let Some(Held { p, share, .. }) = ends.held(start, end, &widths, 0.0) else { continue };
        let up = share.upper();
        let (low, high) = ((start.index - first) as usize, (end.index - first) as usize);
        // Far above, e^a overflows: all mass goes up.
        let up = if up.is_nan() { p.upper() } else { up.clamp(0.0, p.upper()) };
        upper.add(high, up);
        if up < p.upper() {
            upper.add(low, (p.upper() - up).next_up());
        }
    }
    let indices: Vec<i64> = points.iter().map(|point| point.index).collect();
    let beneath = law.beneath();
    let lower_ends = beneath.as_ref().map(|law| Ends { law: law.as_ref(), grid, placement });
    let lower_points = lower_ends.as_ref().map(|ends| ends.splits(&indices));
    for pair in lower_points.as_ref().unwrap_or(&points).windows(2) {
        let [start, end] = pair else { continue };
        let Some(Held { p, share, gained }) = ends.held(start, end, &widths, 2.0 * placement.offset) else {
            cells.push(Cell::default());
            continue;
        };
        let mass = p.lower().max(0.0);
        // p − q is that of the true p: the measure takes mass/p ≤ 1 times it.
        let up = match gained {
            Some(_) if mass > 0.0 => (share * (Enclosure::from(mass) / p)).lower(),
            _ => share.lower(),
        };
        let up = if up.is_nan() { 0.0 } else { up.clamp(0.0, mass) };
        cells.push(Cell::at_its_mean(mass, up).times(ends.tilt(start.index).lower()));
    }
    let infinite = points.last().map_or(1.0, |point| point.split.above.p.upper());
    // There are at most three roundings of each mass, and of each sum of at most two.
    let margin = 1.0 + 16.0 * UNIT_ROUNDOFF;
    upper.masses.iter_mut().for_each(|mass| *mass *= margin);
    let total = (upper.total + infinite) * (1.0 + 2.0 * (points.len() as f64 + 8.0) * UNIT_ROUNDOFF);
    let mut lower = vec![0.0; length];
    for (index, mass) in indices.iter().zip(gather(cells, &indices, grid)) {
        lower[(index - first) as usize] = mass;
    }
    let nodes = Nodes { first, upper: upper.masses, lower };
    Discretised { nodes, infinite, total }
}

/// (p − q·e^a)·factor for a cell that begins at a, with factor = 1/(1 − e^(−width)); computed from p − q, if that is
/// known.
fn share_up(
    (p, q): (Enclosure, Enclosure),
    gained: Option<Enclosure>,
    start: Enclosure,
    factor: Enclosure,
) -> Enclosure {
    let rise = match gained {
        Some(gained) => gained - q * start.exp_m1(),
        None => p - q * start.exp(),
    };
    rise * factor
}

/// What a cell contains.
struct Held {
    p: Enclosure,
    /// The part of p that goes up if it is spread.
    share: Enclosure,
    /// p − q, if it is known more accurately.
    gained: Option<Enclosure>,
}

/// A law at a grid point.
struct Point {
    index: i64,
    split: Split,
    /// Where the loss is tiny: P(L > ℓ) − Q(L > ℓ).
    advantage: Option<Enclosure>,
}

/// Tilted masses that are added up, and their sum before the tilt.
struct Pessimistic<'a> {
    masses: Vec<f64>,
    ends: &'a Ends<'a>,
    total: f64,
}

impl Pessimistic<'_> {
    fn add(&mut self, node: usize, mass: f64) {
        if mass == 0.0 {
            return;
        }
        self.total += mass;
        self.masses[node] += mass * self.ends.tilt(self.ends.placement.range.0 + node as i64).upper();
    }
}

/// Where a law is evaluated: at grid points, with few where there is little mass.
struct Ends<'a> {
    law: &'a dyn LossLaw,
    grid: Grid,
    placement: Placement,
}

impl Ends<'_> {
    /// The widest cells, in grid points.
    const WIDEST: usize = 64;

    /// A cell of w grid points and tilted mass m causes the error of one grid point with mass m·w²; a cell beyond this
    /// is halved.
    const COST: f64 = 1e-4;

    /// On grids finer than this p − q·e^a loses too many digits.
    const TINY: f64 = 1e-6;

    /// e^(aj − κ): the product and the difference are rounded once each, by a unit of their
    /// sizes, and the exponential by a unit.
    fn tilt(&self, index: i64) -> Enclosure {
        let (product, scale) = (self.grid.tilt * index as f64, self.placement.log_scale);
        let error = UNIT_ROUNDOFF * (2.0 * product.abs() + scale.abs() + 4.0);
        if error > 1e-9 || error.is_nan() {
            let product = Enclosure::from(self.grid.tilt) * Enclosure::from(index as f64);
            return (product - Enclosure::from(scale)).exp();
        }
        Enclosure::around(elementary::exp(product - scale), error * (1.0 + 1e-6))
    }

    fn threshold(&self, index: i64) -> Enclosure {
        Enclosure::from(index as f64) * Enclosure::from(self.grid.step)
            + (Enclosure::from(self.placement.origin) + Enclosure::from(self.placement.offset))
    }

    /// What the cell between two points contains, if anything, with `widths` 1/(1 − e^(−width)) for each width; the cell
    /// begins `lower` below its threshold.
    fn held(&self, start: &Point, end: &Point, widths: &[Enclosure], lower: f64) -> Option<Held> {
        let (p, q) = masses_between(&start.split, &end.split);
        if p.upper() <= 0.0 {
            return None;
        }
        let gained = start.advantage.zip(end.advantage).map(|(start, end)| start - end);
        let threshold = self.threshold(start.index) - Enclosure::from(lower);
        let share = share_up((p, q), gained, threshold, widths[(end.index - start.index) as usize]);
        Some(Held { p, share, gained })
    }

    fn splits(&self, indices: &[i64]) -> Vec<Point> {
        let at = |index: &i64| {
            let threshold = self.threshold(*index);
            let tiny = self.grid.step < Self::TINY;
            let advantage = tiny.then(|| self.law.advantage(threshold));
            Point { index: *index, split: self.law.split(threshold), advantage }
        };
        indices.par_iter().with_min_len(512).map(at).collect()
    }

    fn refined(&self) -> Vec<Point> {
        let (first, last) = self.placement.range;
        let mut coarse: Vec<i64> = (first..last).step_by(Self::WIDEST).collect();
        coarse.push(last);
        let mut points = self.splits(&coarse);
        loop {
            let halves: Vec<i64> =
                points.windows(2).filter_map(|pair| self.halved(&pair[0], &pair[1])).collect();
            if halves.is_empty() {
                return points;
            }
            points.extend(self.splits(&halves));
            // Two sorted runs, which are quick to merge.
            points.sort_by_key(|point| point.index);
        }
    }

    /// The middle of a cell, if it should be halved.
    fn halved(&self, start: &Point, end: &Point) -> Option<i64> {
        let width = end.index - start.index;
        let (p, _) = masses_between(&start.split, &end.split);
        let mass = p.upper() * libm::exp(self.grid.tilt * end.index as f64 - self.placement.log_scale);
        (width > 1 && mass * powi(width as f64, 2) > Self::COST).then_some(start.index + width / 2)
    }
}

/// The masses between two thresholds, from the side where they are small.
pub(super) fn masses_between(start: &Split, end: &Split) -> (Enclosure, Enclosure) {
    let between =
        |start_above: Enclosure, end_above: Enclosure, start_below: Enclosure, end_below: Enclosure| {
            let mass =
                if start_above.upper() < 0.5 { start_above - end_above } else { end_below - start_below };
            mass.positive_part()
        };
    (
        between(start.above.p, end.above.p, start.below.p, end.below.p),
        between(start.above.q, end.above.q, start.below.q, end.below.q),
    )
}
