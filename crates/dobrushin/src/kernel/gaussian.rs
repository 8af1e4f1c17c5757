//! Gaussian noise added to a point of a bounded set.

use super::{Kernel, average_contraction};
use crate::numeric::theta;
use crate::{Enclosure, Epsilon, Error, Gamma, NonNegative, Positive};

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

    /// η_χ² = η_KL, and that of every operator-convex f.
    ///
    /// # Guarantee
    /// It is exactly ½∫(p − q)²/(p + q) for the laws p, q of the output at two inputs a diameter apart (a supremum, if
    /// the set has no such inputs): E_γ of the outputs at two inputs is θ_ε of their distance over σ, in both
    /// directions, which grows with the distance. So no two inputs have a larger E_γ at any γ, as
    /// [`average_contraction`] needs for equality.
    ///
    /// ```
    /// use dobrushin::kernel::GaussianKernel;
    ///
    /// // Noise that makes numbers in [0, 1] (1, 1e-5)-private: η_TV is 0.1067, and KL contracts much more.
    /// let eta = GaussianKernel::new(1.0, 3.731)?.chi_squared_contraction();
    /// assert!(eta.lower() > 0.01764 && eta.upper() < 0.01766);
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn chi_squared_contraction(&self) -> Enclosure {
        let eta = |epsilon: Epsilon| {
            Gamma::from_epsilon(epsilon.get()).map_or(Enclosure::UNIT, |gamma| self.contraction(gamma))
        };
        average_contraction(eta, &[]).min(self.total_variation())
    }
}

impl Kernel for GaussianKernel {
    /// Exactly θ_|ε|(diameter/σ) (CED Proposition 1).
    fn contraction(&self, gamma: Gamma) -> Enclosure {
        theta::theta_range(gamma.epsilon().abs(), self.ratio)
    }
}
