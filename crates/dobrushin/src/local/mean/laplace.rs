//! Laplace noise on a grid.

use super::noise::DiscreteLaplace;
use super::profile::OfLoss;
use super::{Bounds, Grid, MeanMechanism, Target, level};
use crate::local::bits::RandomBits;
use crate::local::profile::LocalProfile;
use crate::loss::DiscreteLaplaceLoss;
use crate::profile::PrivacyProfile;
use crate::{Enclosure, Epsilon, Error, Positive};
use std::sync::Arc;

/// The value, rounded at random to one of M + 1 points, plus discrete Laplace noise of scale t steps.
///
/// The variance is h²·[f(1 − f) + 2q/(1 − q)²] with h = (b − a)/M, f(1 − f) ≤ 1/4 that of the rounding and
/// q = e^(−1/t).
///
/// # Guarantee
/// Two points are at most M apart, and the loss is at most M/t ≤ ε. The profile is that of the two bounds, which
/// dominate all other points.
#[derive(Clone)]
pub struct Laplace {
    grid: Grid,
    noise: DiscreteLaplace,
    profile: Arc<OfLoss<DiscreteLaplaceLoss>>,
}

/// The scale is at least this many steps, so that neither rounding values nor rounding the scale costs anything.
const LEAST_SCALE: f64 = 65_536.0;

impl Laplace {
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

    /// The noise, in steps of the grid.
    pub fn noise(&self) -> DiscreteLaplace {
        self.noise
    }
}

impl MeanMechanism for Laplace {
    fn id(&self) -> &'static str {
        "laplace"
    }

    fn bounds(&self) -> Bounds {
        self.grid.bounds()
    }

    fn privacy(&self) -> LocalProfile {
        LocalProfile::new(self.profile.clone())
    }

    fn privatise(&self, value: f64, bits: &mut dyn RandomBits) -> f64 {
        let point = self.grid.place(value, bits);
        self.grid.value(i128::from(point) + self.noise.sample(bits))
    }

    fn variance(&self, value: f64) -> Enclosure {
        self.grid.step().square() * (self.noise.variance() + self.grid.rounding_variance(value))
    }

    fn worst_variance(&self, of: Target) -> Enclosure {
        self.grid.step().square() * self.noise.variance() + self.grid.worst_variance(of)
    }

    fn range(&self) -> Option<(f64, f64)> {
        None
    }

    /// The rounded value and the noise are independent.
    fn log_moment(&self, t: Positive, of: Target) -> Enclosure {
        let t = Enclosure::from(t);
        self.noise.log_moment(t * self.grid.step()) + self.grid.log_moment(t, of)
    }
}
