//! One bit about a number.

use super::profile::{Outcome, Outcomes};
use super::{Bounds, Grid, MeanMechanism, Target, bounded, level};
use crate::profile::LocalProfile;
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::{Coin, RandomBits};
use dobrushin::{Enclosure, Epsilon, Error, Positive};
use std::sync::Arc;

/// The value is rounded at random to one of the bounds, without bias, and this bound is reported truthfully with
/// probability p (Duchi, Jordan, Wainwright 2018, in one dimension).
///
/// With κ = 2p − 1 the report is (a + b)/2 ± (b − a)/(2κ), and its variance at x is
/// (b − a)²/(4κ²) − (x − (a + b)/2)². With p = e^ε/(e^ε + 1), κ = tanh(ε/2).
///
/// # Guarantee
/// A report has probability p from one bound and 1 − p from the other, and p ≤ e^ε·(1 − p) was checked for the realised
/// p.
///
/// ```
/// use dobrushin::Epsilon;
/// use dobrushin_local::mean::{Bounds, MeanMechanism, OneBit};
///
/// // tanh(ε/2) = 1/2 for ε = ln 3: the report is 1/2 ± 1, and the truth is told 3 times in 4.
/// let mechanism = OneBit::new(Bounds::new(0.0, 1.0)?, Epsilon::new(3_f64.ln())?)?;
/// assert!((mechanism.truth().upper() - 0.75).abs() < 1e-12);
/// assert!(mechanism.range().is_some_and(|(low, high)| (low + 0.5).abs() < 1e-12 && (high - 1.5).abs() < 1e-12));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OneBit {
    grid: Grid,
    truth: Coin,
    /// 1/(2κ).
    offset: f64,
}

impl OneBit {
    /// Calibrated to ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, Error> {
        let truth = level::likeliest_coin(level::check(epsilon)?, Enclosure::ONE);
        let slope = truth.probability() - truth.complement();
        Ok(Self { grid: Grid::new(bounds, 0)?, truth, offset: 0.5 / slope.midpoint() })
    }

    /// p.
    pub fn truth(&self) -> Enclosure {
        self.truth.probability()
    }

    /// The outcome of a report, with its probabilities from either bound.
    pub(super) fn outcome(&self, weight: Enclosure) -> Outcome {
        Outcome { weight, p: self.truth(), q: self.truth.complement() }
    }

    /// The law of the two reports if the upper bound has this probability.
    pub(super) fn row(&self, share: f64) -> [f64; 2] {
        let (p, q) = (self.truth().midpoint(), self.truth.complement().midpoint());
        [p * (1.0 - share) + q * share, q * (1.0 - share) + p * share]
    }

    /// κ.
    fn slope(&self) -> Enclosure {
        self.truth() - self.truth.complement()
    }

    /// The variance if that of the rounding is s(1 − s), without cancellation: 1/(4κ²) − (s − 1/2)² = p(1 − p)/κ² + s(1
    /// − s).
    fn variance_where(&self, rounding: Enclosure) -> Enclosure {
        let told = self.truth() * self.truth.complement() / self.slope().square();
        self.grid.bounds().width().square() * (told + rounding)
    }
}

impl MeanMechanism for OneBit {
    fn id(&self) -> &'static str {
        "one-bit"
    }

    fn bounds(&self) -> Bounds {
        self.grid.bounds()
    }

    fn privacy(&self) -> LocalProfile {
        LocalProfile::new(Arc::new(Outcomes(vec![self.outcome(Enclosure::ONE)])))
    }

    fn channel(&self) -> Option<FiniteKernel> {
        FiniteKernel::new([0.0, 1.0].map(|share| self.row(share).to_vec()).to_vec()).ok()
    }

    fn privatise(&self, value: f64, bits: &mut dyn RandomBits) -> f64 {
        let bit = self.grid.place(value, bits) == 1;
        let told = if self.truth.toss(bits) { bit } else { !bit };
        self.grid.around_middle(if told { self.offset } else { -self.offset })
    }

    fn variance(&self, value: f64) -> Enclosure {
        self.variance_where(self.grid.rounding_variance(value))
    }

    /// The largest variance: in the middle, or for any law with that mean.
    fn worst_variance(&self, _: Target) -> Enclosure {
        self.variance_where(Enclosure::from(0.25))
    }

    fn range(&self) -> Option<(f64, f64)> {
        Some((self.grid.around_middle(-self.offset), self.grid.around_middle(self.offset)))
    }

    fn log_moment(&self, t: Positive, of: Target) -> Enclosure {
        bounded::log_moment(self, t.into(), of)
    }
}
