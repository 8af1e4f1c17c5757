//! The optimistic rounding: the mass inside cells is gathered at the grid points.
//!
//! # Guarantee
//! Let U(k) = ∫(k − X)₊ be the potential of a measure on X = e^(−L), and V that of the same measure with every cell
//! spread to its ends: V ≥ U, equal at the grid points x_j = e^(−jh). Lowering V at each x_j by a c_j ≥ 0 gives the
//! potential of a measure on the grid points that is optimistic for the original one, if (i) between grid points c,
//! interpolated linearly in X, is at least V − U, and (ii) it stays convex, that is, all masses stay ≥ 0.
//!
//! Lowering by c_j = C·d_j, with d_j = x_j − x_{j+1}, gives the point j the mass C(1 + ρ), ρ = d_j/d_{j−1}, taken from
//! its neighbours: C from j + 1 and C·ρ from j − 1 (from nowhere, if there is no j − 1: X may grow). A cell whose share
//! s goes up when it is spread needs (1−s)c_j + s·c_{j+1} ≥ V − U there: either both of its ends sink, or only the one
//! nearer to the mass, or the one with more mass. Where a mass becomes negative the potential is replaced by its lower
//! convex hull, and by 0 where it becomes negative itself. The top cell, above which there is no mass to take, is
//! rounded down instead, which is always optimistic.

use super::grid::Grid;
use crate::numeric::UNIT_ROUNDOFF;
use crate::numeric::elementary;

/// V − U inside a cell, in units of x_j − x_{j+1}, and the lowering that compensates for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Excess {
    /// Lowering both ends by this suffices.
    both: f64,
    /// Lowering only the lower end (the larger X) by this suffices.
    down: f64,
    /// Lowering only the upper end by this suffices.
    up: f64,
}

impl Excess {
    /// Includes the excess at a point whose shares `up` and `down` go to the ends.
    pub fn include(&mut self, excess: f64, up: f64, down: f64) {
        self.both = self.both.max(excess);
        self.down = self.down.max(excess / down);
        self.up = self.up.max(excess / up);
    }

    /// Multiplies everything by a factor.
    pub fn times(self, factor: f64) -> Self {
        Self { both: self.both * factor, down: self.down * factor, up: self.up * factor }
    }
}

/// A cell, in the tilt of its lower end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    /// The mass spread to the lower end.
    down: f64,
    /// The mass spread to the upper end.
    up: f64,
    excess: Excess,
    sinking: Sinking,
}

/// Which ends of a cell sink.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Sinking {
    #[default]
    Both,
    Lower,
    Upper,
}

impl Cell {
    /// A cell spread as given, with its excess.
    pub fn new(down: f64, up: f64, excess: Excess) -> Self {
        let mass = down + up;
        let sinking = if up < 0.25 * mass {
            Sinking::Lower
        } else if up > 0.75 * mass {
            Sinking::Upper
        } else {
            Sinking::Both
        };
        Self { down, up, excess, sinking }
    }

    /// A cell whose mass has been gathered at its mean of X, and whose share `up` goes up.
    pub fn at_its_mean(mass: f64, up: f64) -> Self {
        if up <= 0.0 || up >= mass {
            return Self { down: mass - up, up, ..Self::default() };
        }
        let down = (mass - up).next_down();
        let excess = Excess { both: up * down / mass, down: up, up: down };
        Self::new(down, up, excess.times(1.0 + 8.0 * UNIT_ROUNDOFF))
    }

    /// The same in another tilt.
    pub fn times(self, factor: f64) -> Self {
        let less = factor * (1.0 - 3.0 * UNIT_ROUNDOFF);
        let excess = self.excess.times(factor * (1.0 + 3.0 * UNIT_ROUNDOFF));
        Self { down: self.down * less, up: self.up * less, excess, ..self }
    }

    /// How much the lower end must sink.
    fn sink_below(&self) -> f64 {
        match self.sinking {
            Sinking::Both => self.excess.both,
            Sinking::Lower => self.excess.down,
            Sinking::Upper => 0.0,
        }
    }

    /// How much the upper end must sink.
    fn sink_above(&self) -> f64 {
        match self.sinking {
            Sinking::Both => self.excess.both,
            Sinking::Lower => 0.0,
            Sinking::Upper => self.excess.up,
        }
    }

    fn round_down(&mut self) {
        let mass = (self.down + self.up) * (1.0 - 2.0 * UNIT_ROUNDOFF);
        *self = Self { down: mass, ..Self::default() };
    }
}

/// Masses on the points between the cells (one more than there are cells), given by their indices in the grid.
pub(super) fn gather(mut cells: Vec<Cell>, points: &[i64], grid: Grid) -> Vec<f64> {
    choose_ends(&mut cells);
    // Above the last point there is no mass to take.
    if let Some(last) = cells.last_mut() {
        last.round_down();
    }
    Hull::new(sunk(&cells, points, grid), points, grid).masses()
}

/// The numbers that depend only on a cell's width; each is within 4 units of the exact value, plus units of the size of
/// its exponent.
#[derive(Clone, Copy)]
struct Width {
    /// e^a for the whole width: the factor that the tilt gives a mass from the lower to the upper end.
    rise: f64,
    fall: f64,
    /// d in units of the X of the lower end, 1 − e^(−h), and of the upper end, e^h − 1.
    from_below: f64,
    from_above: f64,
}

impl Width {
    fn new(points: usize, grid: Grid) -> Self {
        let (tilt, step) = (grid.tilt * points as f64, grid.step * points as f64);
        Self {
            rise: elementary::exp(tilt),
            fall: elementary::exp(-tilt),
            from_below: -elementary::exp_m1(-step),
            from_above: elementary::exp_m1(step),
        }
    }
}

/// Lower bounds on the masses after every end has sunk as far as its cells need.
fn sunk(cells: &[Cell], points: &[i64], grid: Grid) -> Vec<f64> {
    let width = |cell: usize| (points[cell + 1] - points[cell]) as usize;
    let widest = (0..cells.len()).map(width).max().unwrap_or(0);
    let table: Vec<Width> = (0..=widest).map(|width| Width::new(width, grid)).collect();
    let width = |cell: usize| &table[width(cell)];
    let last = cells.len();
    let exponents = (table.len() as f64) * (grid.tilt.abs() + grid.step);
    let margin = (32.0 + 8.0 * exponents) * UNIT_ROUNDOFF;
    // d_j/d_{j−1}.
    let ratio = |point: usize| width(point).from_below / width(point - 1).from_above;
    let mut sinks: Vec<f64> = cells.iter().map(Cell::sink_below).chain([0.0]).collect();
    let mut spread: Vec<f64> = cells.iter().map(|cell| cell.down).chain([0.0]).collect();
    for (i, cell) in cells.iter().enumerate() {
        spread[i + 1] += cell.up * width(i).rise;
        let above = cell.sink_above();
        // The last cell is always rounded down, so the last point never sinks.
        if above > 0.0 && i + 1 < last {
            let above = above * width(i).rise / ratio(i + 1) * (1.0 + margin);
            sinks[i + 1] = sinks[i + 1].max(above);
        }
    }
    let mass = |point: usize| {
        let has_below = point > 0 && point < last;
        // The first point's gain is not taken from below it.
        let gained = sinks[point] * if has_below { 1.0 + ratio(point) } else { 1.0 };
        let above = match point + 1 < last {
            true => sinks[point + 1] * ratio(point + 1) * width(point).fall,
            false => 0.0,
        };
        let below = if point > 0 { sinks[point - 1] * width(point - 1).rise } else { 0.0 };
        let (have, lost) = (spread[point] + gained, above + below);
        have - lost - margin * (have + lost)
    };
    (0..=last).map(mass).collect()
}

/// Where masses change fast, the end on the side of the larger ones sinks, since there is more to take.
fn choose_ends(cells: &mut [Cell]) {
    let weights: Vec<f64> = cells.iter().map(|cell| cell.down + cell.up).collect();
    for (i, cell) in cells.iter_mut().enumerate() {
        let (below, above) = (if i == 0 { 0.0 } else { weights[i - 1] }, weights.get(i + 1).unwrap_or(&0.0));
        match (below < 0.5 * weights[i], *above < 0.5 * weights[i]) {
            (true, false) => cell.sinking = Sinking::Upper,
            (false, true) => cell.sinking = Sinking::Lower,
            _ => {}
        }
    }
}

/// The lower convex hull of a potential V, given by masses some of which are negative, and of the potential 0.
struct Hull<'a> {
    masses: Vec<f64>,
    points: &'a [i64],
    grid: Grid,
    /// The neighbours of each point that are still on the hull; out of range if there are none.
    before: Vec<usize>,
    after: Vec<usize>,
    /// Points whose mass was found to be negative.
    doubtful: Vec<usize>,
}

impl<'a> Hull<'a> {
    fn new(masses: Vec<f64>, points: &'a [i64], grid: Grid) -> Self {
        let doubtful: Vec<usize> = (0..masses.len()).filter(|point| masses[*point] < 0.0).collect();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if !doubtful.is_empty() {
            before = (0..masses.len()).map(|point| point.wrapping_sub(1)).collect();
            after = (1..=masses.len()).collect();
        }
        Self { masses, points, grid, before, after, doubtful }
    }

    fn masses(mut self) -> Vec<f64> {
        while let Some(point) = self.doubtful.pop() {
            if self.masses[point] >= 0.0 {
                continue;
            }
            if self.after[point] < self.masses.len() {
                self.remove(point);
            } else {
                self.cut(point);
            }
        }
        self.masses
    }

    fn distance(&self, from: usize, to: usize) -> f64 {
        (self.points[to] - self.points[from]) as f64
    }

    /// A bound on the relative error of a product of a few factors that depend on the distance.
    fn margin(&self, low: usize, high: usize) -> f64 {
        let exponents = self.distance(low, high) * (self.grid.tilt.abs() + self.grid.step);
        (32.0 + 8.0 * exponents) * UNIT_ROUNDOFF
    }

    /// Takes a mass from a point.
    fn take(&mut self, from: usize, taken: f64) {
        let mass = self.masses[from];
        self.masses[from] = (mass - taken) - 2.0 * UNIT_ROUNDOFF * (mass.abs() + taken);
        if self.masses[from] < 0.0 {
            self.doubtful.push(from);
        }
    }

    /// Removes a point with a negative mass, which its neighbours absorb so that the mass and the mean of X stay the
    /// same. The first point's mass goes to the next one, which lets X grow.
    fn remove(&mut self, point: usize) {
        let (low, high) = (self.before[point], self.after[point]);
        let has_low = low < self.masses.len();
        let missing = -self.masses[point] * (1.0 + self.margin(if has_low { low } else { point }, high));
        // x_point is share·x_low + (1 − share)·x_high.
        let above = -elementary::exp_m1(-self.distance(point, high) * self.grid.step);
        let share = match has_low {
            true => above / (elementary::exp_m1(self.distance(low, point) * self.grid.step) + above),
            false => 0.0,
        };
        self.masses[point] = 0.0;
        self.before[high] = low;
        let tilt = |to: usize| elementary::exp(self.distance(point, to) * self.grid.tilt);
        let (to_high, to_low) = (tilt(high), if has_low { tilt(low) } else { 0.0 });
        self.take(high, missing * (1.0 - share) * to_high);
        if has_low {
            self.after[low] = high;
            self.take(low, missing * share * to_low);
        }
    }

    /// Where the mass of the last point is negative, so is V: max(V, 0) is convex and at most
    /// V wherever V must be. Its end lies between two points of the hull; V is lowered to 0 at
    /// the one with V > 0, which becomes the last.
    fn cut(&mut self, last: usize) {
        // The mass above and at `point`, and V there in units of X, in the tilt of the point, with bounds on their
        // rounding errors.
        let (mut point, mut above, mut value) = (last, self.masses[last], 0.0);
        let (mut above_error, mut value_error) = (0.0, 0.0);
        loop {
            self.masses[point] = 0.0;
            let low = self.before[point];
            if low >= self.masses.len() {
                // V ≤ 0 everywhere: nothing remains.
                return;
            }
            let distance = self.distance(low, point);
            let fall = elementary::exp(-distance * self.grid.tilt);
            let drop = elementary::exp(-distance * self.grid.step);
            let rest = -elementary::exp_m1(-distance * self.grid.step);
            let size = (value * drop).abs() + (above * rest).abs();
            let margin = self.margin(low, point);
            value_error = fall * (value_error * drop + above_error * rest + margin * size);
            value = fall * (value * drop + above * rest);
            (above, above_error) = (fall * above, fall * above_error + margin * (fall * above).abs());
            (value_error, above_error) = (value_error * (1.0 + 1e-9), above_error * (1.0 + 1e-9));
            point = low;
            if value > value_error {
                break;
            }
            above += self.masses[point];
            above_error += 2.0 * UNIT_ROUNDOFF * (above.abs() + self.masses[point].abs());
        }
        self.after[point] = self.masses.len();
        let below = self.before[point];
        let mut mass = self.masses[point] + above - above_error;
        if below < self.masses.len() {
            let distance = self.distance(below, point);
            let gap = elementary::exp_m1(distance * self.grid.step);
            let taken = (value + value_error) / gap;
            let margin = self.margin(below, point);
            mass += (value - value_error) / gap * (1.0 - margin);
            let tilt = elementary::exp(-distance * self.grid.tilt);
            self.take(below, taken * tilt * (1.0 + margin));
        }
        let size = self.masses[point].abs() + above.abs() + mass.abs();
        self.masses[point] = mass - 4.0 * UNIT_ROUNDOFF * size;
        if self.masses[point] < 0.0 {
            self.doubtful.push(point);
        }
    }
}
