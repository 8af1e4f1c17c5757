//! The laws of the privacy losses of the usual mechanisms, and the effect of subsampling on them.

mod allocated;
mod discrete_gaussian;
mod discrete_laplace;
mod dominating;
mod exponential;
mod finite;
mod gaussian;
mod integer;
mod laplace;
mod poisson;
mod threshold;
mod without_replacement;

pub use allocated::AllocatedLoss;
pub use discrete_gaussian::DiscreteGaussianLoss;
pub use discrete_laplace::DiscreteLaplaceLoss;
pub use exponential::ExponentialLoss;
pub use finite::FiniteLoss;
pub use gaussian::GaussianLoss;
pub use laplace::LaplaceLoss;
pub use poisson::PoissonLoss;
pub(crate) use poisson::amplified;
pub use without_replacement::WithoutReplacementLoss;

use super::{LossLaw, Masses, Split};
use crate::Enclosure;
use std::sync::Arc;

impl Masses {
    /// The event that never happens.
    const NONE: Self = Self { p: Enclosure::ZERO, q: Enclosure::ZERO };
    /// The event that always happens.
    const ALL: Self = Self { p: Enclosure::ONE, q: Enclosure::ONE };

    /// The masses of the complementary event.
    fn complement(self) -> Self {
        let rest = |mass: Enclosure| (Enclosure::ONE - mass).positive_part();
        Self { p: rest(self.p), q: rest(self.q) }
    }

    /// The hull of two events' masses.
    fn hull(self, other: Self) -> Self {
        Self { p: self.p.hull(other.p), q: self.q.hull(other.q) }
    }
}

impl Split {
    /// A threshold below every loss.
    const ALL_ABOVE: Self = Self { below: Masses::NONE, above: Masses::ALL };
    /// A threshold above every loss.
    const ALL_BELOW: Self = Self { below: Masses::ALL, above: Masses::NONE };

    /// The same threshold with the roles of P and Q exchanged.
    fn exchanged(self) -> Self {
        let exchange = |masses: Masses| Masses { p: masses.q, q: masses.p };
        Self { below: exchange(self.above), above: exchange(self.below) }
    }

    /// The hull of two thresholds: either, or any between them.
    pub(super) fn hull(self, other: Self) -> Self {
        Self { below: self.below.hull(other.below), above: self.above.hull(other.above) }
    }
}

impl<Law: LossLaw + ?Sized> LossLaw for Arc<Law> {
    fn split(&self, loss: Enclosure) -> Split {
        self.as_ref().split(loss)
    }

    fn advantage(&self, loss: Enclosure) -> Enclosure {
        self.as_ref().advantage(loss)
    }

    fn lattice(&self) -> Option<f64> {
        self.as_ref().lattice()
    }

    fn gaussian_ratio(&self) -> Option<f64> {
        self.as_ref().gaussian_ratio()
    }

    fn beneath(&self) -> Option<Arc<dyn LossLaw>> {
        self.as_ref().beneath()
    }
}

/// The split of a law whose masses are known at points, valid on a whole range.
fn split_at_ends(loss: Enclosure, at: impl Fn(f64) -> Split) -> Split {
    let lower = at(loss.lower());
    if loss.lower() == loss.upper() { lower } else { lower.hull(at(loss.upper())) }
}
