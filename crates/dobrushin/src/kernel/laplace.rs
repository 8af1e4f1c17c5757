//! Laplace noise added to a point of an interval.

use super::{Kernel, average_contraction};
use crate::divergence::{LaplacePair, Pair};
use crate::{Enclosure, Epsilon, Error, Gamma};

/// K(x) = Laplace(x, v) for x in an interval of the given length.
///
/// ```
/// use dobrushin::Gamma;
/// use dobrushin::kernel::{Kernel, LaplaceKernel};
///
/// // An interval of length 1 and noise of scale 2: nothing is left from ε = 1/2 on, and 1 − e^(−1/4) at ε = 0.
/// let kernel = LaplaceKernel::new(1.0, 2.0)?;
/// assert_eq!(kernel.contraction(Gamma::from_epsilon(0.5)?).upper(), 0.0);
/// assert!((kernel.total_variation().upper() + (-0.25_f64).exp_m1()).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplaceKernel {
    ends: LaplacePair,
}

impl LaplaceKernel {
    /// # Errors
    /// [`Error::OutOfRange`] unless `length ≥ 0` and `0 < scale < ∞`.
    pub fn new(length: f64, scale: f64) -> Result<Self, Error> {
        Ok(Self { ends: LaplacePair::new(length, scale)? })
    }

    /// η_χ² = η_KL, and that of every operator-convex f.
    ///
    /// # Guarantee
    /// It is exactly ½∫(p − q)²/(p + q) for the laws p, q of the output at the two ends: E_γ of the outputs at two
    /// inputs is the same in both directions and grows with their distance. So no two inputs have a larger E_γ at any
    /// γ, as [`average_contraction`] needs for equality.
    ///
    /// ```
    /// use dobrushin::kernel::LaplaceKernel;
    ///
    /// // Below the tanh²(ε/2) of randomised response, the most that 1-privacy allows.
    /// let eta = LaplaceKernel::new(1.0, 1.0)?.chi_squared_contraction();
    /// assert!(eta.upper() < 0.5_f64.tanh().powi(2) && eta.relative_width() < 1e-6);
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn chi_squared_contraction(&self) -> Enclosure {
        let eta = |epsilon: Epsilon| {
            Gamma::from_epsilon(epsilon.get()).map_or(Enclosure::UNIT, |gamma| self.contraction(gamma))
        };
        average_contraction(eta, &[self.ends.ratio().upper()]).min(self.total_variation())
    }
}

impl Kernel for LaplaceKernel {
    /// Exactly E_γ of the laws at the two ends: [1 − e^((|ε| − length/v)/2)]₊.
    fn contraction(&self, gamma: Gamma) -> Enclosure {
        self.ends.hockey_stick(if gamma.is_below_one() { gamma.reciprocal() } else { gamma })
    }

    fn last_epsilon(&self) -> Option<f64> {
        self.ends.last_epsilon()
    }
}
