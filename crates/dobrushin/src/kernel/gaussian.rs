//! Gaussian noise added to a point of a bounded set.

use super::Kernel;
use crate::numeric::theta;
use crate::{Enclosure, Error, Gamma, NonNegative, Positive};

/// K(x) = N(x, σ²I) for x in a set of the given diameter, in any dimension.
///
/// ```
/// use dobrushin::kernel::{GaussianKernel, Kernel};
/// use dobrushin::Gamma;
/// let kernel = GaussianKernel::new(1.0, 1.0)?;
/// let eta = kernel.contraction(Gamma::from_epsilon(1.0)?);
/// assert!(eta.lower() > 0.12693 && eta.upper() < 0.12694);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianKernel {
    ratio: Enclosure,
}

impl GaussianKernel {
    /// # Errors
    /// [`Error::OutOfRange`] unless `diameter ≥ 0` (∞: unconstrained inputs) and
    /// `0 < sigma < ∞`.
    pub fn new(diameter: f64, sigma: f64) -> Result<Self, Error> {
        let diameter = Enclosure::from(NonNegative::new(diameter)?);
        Ok(Self { ratio: diameter / Enclosure::from(Positive::named("sigma", sigma)?) })
    }

    /// Independent Gaussian kernels in parallel are one Gaussian kernel: the squares of the ratios diameter/σ add up.
    #[must_use]
    pub fn product(kernels: &[Self]) -> Self {
        let squares: Enclosure = kernels.iter().map(|k| k.ratio.square()).sum();
        Self { ratio: squares.sqrt() }
    }
}

impl Kernel for GaussianKernel {
    /// Exactly θ_|ε|(diameter/σ) (CED Proposition 1).
    fn contraction(&self, gamma: Gamma) -> Enclosure {
        theta::theta_range(gamma.epsilon().abs(), self.ratio)
    }
}
