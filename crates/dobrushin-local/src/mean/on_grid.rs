//! A value on a grid, plus noise on the integers.

use super::noise::IntegerNoise;
use super::{Bounds, Grid, MeanMechanism, Target};
use crate::profile::LocalProfile;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Enclosure, Positive};
use std::sync::Arc;

/// The value, rounded at random to one of the points of a grid, plus noise in steps of the grid.
///
/// ```
/// use dobrushin::Epsilon;
/// use dobrushin_local::mean::{Bounds, Grid, Laplace};
///
/// // On 16 steps, ε = 2 needs a scale of 16/2 steps.
/// let grid = Grid::new(Bounds::new(0.0, 1.0)?, 4)?;
/// assert_eq!(Laplace::on(grid, Epsilon::new(2.0)?)?.noise().scale(), 8);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
pub struct OnGrid<Noise> {
    pub(super) grid: Grid,
    pub(super) noise: Noise,
    /// The profile of the two bounds, which dominate all other points.
    pub(super) profile: Arc<dyn PrivacyProfile>,
}

impl<Noise: IntegerNoise> OnGrid<Noise> {
    /// The noise, in steps of the grid.
    pub fn noise(&self) -> Noise {
        self.noise
    }
}

impl<Noise: IntegerNoise> MeanMechanism for OnGrid<Noise> {
    fn id(&self) -> &'static str {
        Noise::ID
    }

    fn bounds(&self) -> Bounds {
        self.grid.bounds()
    }

    fn privacy(&self) -> LocalProfile {
        LocalProfile::of_two_inputs(self.profile.clone())
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
