//! Gaussian noise on a grid.

use super::noise::DiscreteGaussian;
use super::profile::OfLoss;
use super::{Bounds, Grid, OnGrid, level};
use dobrushin::loss::DiscreteGaussianLoss;
use dobrushin::numeric::theta;
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Epsilon, Error, Positive};
use std::sync::Arc;

/// The value, rounded at random to one of M + 1 points, plus discrete Gaussian noise of σ steps.
///
/// The variance is h²·[f(1 − f) + σ²] with h = (b − a)/M, where f(1 − f) ≤ 1/4 comes from the rounding, up to the
/// difference between σ² and the variance of the discrete Gaussian.
///
/// # Guarantee
/// δ(ε) of the realised channel was checked to be at most δ. It is attained at the two bounds, which dominate all other
/// points. σ is first taken from the smallest noise with θ_ε((b − a)/noise) ≤ δ, the calibration that is exact for
/// continuous noise, and increased by one, three, seven, … sixteenths of a step until it suffices.
pub type Gaussian = OnGrid<DiscreteGaussian>;

/// σ is at least this many steps, so that rounding costs almost nothing.
const LEAST_SIGMA: f64 = 1024.0;

/// The finest grid.
const MOST_DIGITS: f64 = 20.0;

impl OnGrid<DiscreteGaussian> {
    /// Calibrated to (ε, δ), on the coarsest grid on which σ is at least 1024 steps.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000 and δ above 0 and below 1, and if the noise would have
    /// to be above 10⁵ times the distance of the bounds, or below 10⁻³ of it.
    pub fn new(bounds: Bounds, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        let noise = relative_noise(epsilon, delta)?;
        let binary_digits = (LEAST_SIGMA / noise).log2().ceil().clamp(0.0, MOST_DIGITS);
        Self::on(Grid::new(bounds, binary_digits as u32)?, epsilon, delta)
    }

    /// The same on any grid.
    ///
    /// # Errors
    /// The errors of [`Gaussian::new`], and also if σ would have to be above 10⁵ steps.
    pub fn on(grid: Grid, epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        let steps = grid.steps() as f64 * relative_noise(epsilon, delta)?;
        let mut sixteenths = (16.0 * steps).ceil().max(1.0).min(f64::from(u32::MAX)) as u32;
        let mut step = 1;
        loop {
            let noise = DiscreteGaussian::new(sixteenths)?;
            let sigma = Positive::named("sigma of the discrete Gaussian", noise.sigma())?;
            let profile = OfLoss(DiscreteGaussianLoss::new(sigma, grid.shift())?);
            if profile.delta(epsilon).upper() <= delta.get() {
                return Ok(Self { grid, noise, profile: Arc::new(profile) });
            }
            // One or two iterations are enough, unless δ is below the resolution of the profile: then no σ suffices.
            sixteenths = sixteenths.saturating_add(step);
            step *= 2;
        }
    }
}

/// The smallest standard deviation of continuous noise, over the distance of the bounds.
fn relative_noise(epsilon: Epsilon, delta: Delta) -> Result<f64, Error> {
    level::check(epsilon)?;
    if !(delta.get() > 0.0 && delta.get() < 1.0) {
        return Err(Error::OutOfRange {
            name: "delta",
            value: delta.get(),
            accepted: "above 0 and below 1 for Gaussian noise; without δ use the Laplace, piecewise or hybrid mechanism",
        });
    }
    let noise = theta::smallest_noise(Positive::new(1.0)?, epsilon, delta).upper();
    if !(1e-3..=1e5).contains(&noise) {
        return Err(Error::OutOfRange {
            name: "the standard deviation of the noise, over the distance of the bounds,",
            value: noise,
            accepted: "between 1e-3 and 1e5; change epsilon or delta",
        });
    }
    Ok(noise)
}
