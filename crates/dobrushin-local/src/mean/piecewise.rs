//! The piecewise mechanism on a grid.

use super::profile::{Outcome, Outcomes};
use super::{Bounds, Grid, MOST_ENTRIES, MeanMechanism, Target, bounded, level};
use crate::profile::LocalProfile;
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::{Coin, RandomBits, below};
use dobrushin::{Enclosure, Epsilon, Error, Positive};
use std::sync::Arc;

/// A report near the value with probability p, and anywhere else with probability 1 − p (Wang et al. 2019).
///
/// Of M + w cells, the w cells i, …, i + w − 1 are near the point i = 0 … M of the grid. With probability p one of
/// these is reported, otherwise one of the M others, uniformly either way. The expectation of the cell is linear in
/// i with slope κ = p − (1 − p)w/M, so the report is (a + b)/2 + (j − (M + w − 1)/2)·(b − a)/(κM) for the cell j.
/// With w = Me^(−ε/2), p = e^(ε/2)/(e^(ε/2) + 1) and M → ∞ it is the mechanism on the line.
///
/// With h = (b − a)/M, c the distance of the value from the middle in steps, f(1 − f) the variance of its rounding and
///
/// ```text
/// A = p(w² − 1)/12 + (1 − p)[(M + w)((M + w)² − 1) − w(w² − 1)]/(12M)
/// ```
///
/// the second moment about the middle is h²[A/κ² + (c² + f(1 − f))/κ], and the variance is this minus h²c².
///
/// # Guarantee
/// A cell has probability p/w from points near it, and (1 − p)/M from others; p/w ≤ e^ε·(1 − p)/M was checked for the
/// realised p. Since w ≤ M, two points may have no near cell in common, and the profile is (p − e^ε·(1 − p)w/M)₊.
#[derive(Clone, Copy, Debug)]
pub struct Piecewise {
    grid: Grid,
    /// w.
    near: u64,
    /// p.
    nearness: Coin,
    /// 1/(2κM).
    unit: f64,
}

impl Piecewise {
    /// Calibrated to ε, on a grid of 2³⁰ steps.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, Error> {
        Self::on(Grid::new(bounds, 30)?, epsilon)
    }

    /// The same on any grid.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000.
    pub fn on(grid: Grid, epsilon: Epsilon) -> Result<Self, Error> {
        let level = level::check(epsilon)?;
        let share = (level / Enclosure::from(-2.0)).exp().midpoint();
        let near = ((share * grid.steps() as f64).round() as u64).clamp(1, grid.steps());
        let ratio = Enclosure::from(near) / Enclosure::from(grid.steps());
        let nearness = level::likeliest_coin(level, ratio);
        let slope = nearness.probability() - nearness.complement() * ratio;
        let unit = 0.5 / (slope.midpoint() * grid.steps() as f64);
        Ok(Self { grid, near, nearness, unit })
    }

    /// The outcome of a report, for two points that are far from each other.
    pub(super) fn outcome(&self, weight: Enclosure) -> Outcome {
        let ratio = Enclosure::from(self.near) / self.steps();
        Outcome { weight, p: self.nearness.probability(), q: self.nearness.complement() * ratio }
    }

    /// The cell that is reported.
    pub(super) fn cell(&self, value: f64, bits: &mut dyn RandomBits) -> u64 {
        let point = self.grid.place(value, bits);
        if self.nearness.toss(bits) {
            return point + below(self.near, bits);
        }
        let other = below(self.grid.steps(), bits);
        if other < point { other } else { other + self.near }
    }

    /// The points to which values are rounded.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The number of cells.
    pub fn cells(&self) -> u64 {
        self.grid.steps() + self.near
    }

    /// The report that a cell represents.
    pub fn report(&self, cell: u64) -> f64 {
        // Twice the distance from the middle cell, which is an integer.
        let twice = 2 * cell as i64 - (self.cells() as i64 - 1);
        self.grid.around_middle(twice as f64 * self.unit)
    }

    /// The law of the cells at each point of the grid; `None` if there are too many entries.
    pub(super) fn rows(&self) -> Option<impl Iterator<Item = Vec<f64>>> {
        let (points, cells, near) = (self.grid.steps() + 1, self.cells(), self.near);
        let inside = self.nearness.probability().midpoint() / near as f64;
        let outside = self.nearness.complement().midpoint() / self.grid.steps() as f64;
        let row = move |point: u64| {
            let law =
                (0..cells).map(|cell| if (point..point + near).contains(&cell) { inside } else { outside });
            law.collect()
        };
        (points.saturating_mul(cells) <= MOST_ENTRIES).then(|| (0..points).map(row))
    }

    /// M.
    fn steps(&self) -> Enclosure {
        self.grid.steps().into()
    }

    /// κ.
    fn slope(&self) -> Enclosure {
        let outcome = self.outcome(Enclosure::ONE);
        outcome.p - outcome.q
    }

    /// A.
    fn spread(&self) -> Enclosure {
        let cubic = |n: u64| Enclosure::from(n) * (Enclosure::from(n).square() - Enclosure::ONE);
        let (near, all) = (cubic(self.near), cubic(self.cells()));
        let inside = self.nearness.probability() * near / Enclosure::from(self.near);
        let outside = self.nearness.complement() * (all - near) / self.steps();
        (inside + outside) / Enclosure::from(12.0)
    }

    /// h²c²(1/κ − 1), where 1 − κ = (1 − p)(1 + w/M).
    fn surplus(&self, square: Enclosure) -> Enclosure {
        let away = self.nearness.complement() * (Enclosure::ONE + Enclosure::from(self.near) / self.steps());
        self.grid.step().square() * square * away / self.slope()
    }

    /// The largest contribution of rounding to the variance, at most h²/(4κ).
    pub(super) fn rounding(&self) -> Enclosure {
        Enclosure::ZERO.hull(self.grid.step().square() / (Enclosure::from(4.0) * self.slope()))
    }

    /// The second moment about the middle, given the mean of c² + f(1 − f).
    fn second_moment(&self, square: Enclosure) -> Enclosure {
        let slope = self.slope();
        self.grid.step().square() * (self.spread() / slope + square) / slope
    }
}

impl MeanMechanism for Piecewise {
    fn id(&self) -> &'static str {
        "piecewise"
    }

    fn bounds(&self) -> Bounds {
        self.grid.bounds()
    }

    fn privacy(&self) -> LocalProfile {
        LocalProfile::new(Arc::new(Outcomes(vec![self.outcome(Enclosure::ONE)])))
    }

    fn channel(&self) -> Option<FiniteKernel> {
        FiniteKernel::new(self.rows()?.collect()).ok()
    }

    fn privatise(&self, value: f64, bits: &mut dyn RandomBits) -> f64 {
        self.report(self.cell(value, bits))
    }

    fn variance(&self, value: f64) -> Enclosure {
        let half = self.steps() / Enclosure::from(2.0);
        let square = (Enclosure::from(self.grid.position(value)) - half).square();
        self.second_moment(self.grid.rounding_variance(value)) + self.surplus(square)
    }

    /// About the middle c² is largest at the bounds, and c² + f(1 − f) ≤ M²/4 everywhere, since the rounded point is
    /// also between the bounds. The variance on one value is h²[A/κ² + c²(1/κ − 1) + f(1 − f)/κ] with f(1 − f) ≤ 1/4.
    fn worst_variance(&self, of: Target) -> Enclosure {
        let quarter = Enclosure::from(0.25);
        let square = self.steps().square() * quarter;
        match of {
            Target::Population => self.second_moment(square),
            Target::Records => self.second_moment(Enclosure::ZERO) + self.surplus(square) + self.rounding(),
        }
    }

    fn range(&self) -> Option<(f64, f64)> {
        Some((self.report(0), self.report(self.cells() - 1)))
    }

    fn log_moment(&self, t: Positive, of: Target) -> Enclosure {
        bounded::log_moment(self, t.into(), of)
    }
}
