//! Laplace noise on a grid.

use super::noise::DiscreteLaplace;
use super::profile::OfLoss;
use super::{Bounds, Grid, OnGrid, level};
use dobrushin::loss::DiscreteLaplaceLoss;
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Enclosure, Epsilon, Error, Positive};
use std::sync::Arc;

/// The value, rounded at random to one of M + 1 points, plus discrete Laplace noise of scale t steps.
///
/// The variance is h²·[f(1 − f) + 2q/(1 − q)²] with h = (b − a)/M and q = e^(−1/t), where f(1 − f) ≤ 1/4 comes from the
/// rounding.
///
/// # Guarantee
/// Two points are at most M apart, and the loss is at most M/t ≤ ε. The profile is attained at the two bounds, which
/// dominate all other points.
pub type Laplace = OnGrid<DiscreteLaplace>;

/// The scale is at least this many steps, so that rounding the values and the scale costs almost nothing.
const LEAST_SCALE: f64 = 65_536.0;

impl OnGrid<DiscreteLaplace> {
    /// Calibrated to ε, on the coarsest grid on which the noise has a scale of 65,536 steps or more.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, Error> {
        level::check(epsilon)?;
        let binary_digits = (epsilon.get() * LEAST_SCALE).log2().ceil().max(0.0) as u32;
        Self::on(Grid::new(bounds, binary_digits)?, epsilon)
    }

    /// The same on any grid: the smallest integer scale t ≥ M/ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000.
    pub fn on(grid: Grid, epsilon: Epsilon) -> Result<Self, Error> {
        let level = level::check(epsilon)?;
        let mut scale = (Enclosure::from(grid.steps()) / level).lower().ceil() as u64;
        loop {
            let noise = DiscreteLaplace::new(scale)?;
            let steps = Positive::named("the scale of the discrete Laplace law", scale as f64)?;
            let profile = OfLoss(DiscreteLaplaceLoss::new(steps, grid.shift()));
            if profile.delta(epsilon).upper() == 0.0 {
                return Ok(Self { grid, noise, profile: Arc::new(profile) });
            }
            scale += 1;
        }
    }
}
