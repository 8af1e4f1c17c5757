//! Laplace noise added to a point of an interval.

use super::Kernel;
use crate::divergence::{LaplacePair, Pair};
use crate::{Enclosure, Error, Gamma};

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
}

impl Kernel for LaplaceKernel {
    /// Exactly E_γ of the laws at the two ends: [1 − e^((|ε| − length/v)/2)]₊.
    fn contraction(&self, gamma: Gamma) -> Enclosure {
        self.ends.hockey_stick(if gamma.is_below_one() { gamma.reciprocal() } else { gamma })
    }
}
