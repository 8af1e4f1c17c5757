//! A finite channel and a symmetrised profile, as profiles.

use crate::kernel::{ContractionCurve, FiniteKernel, Kernel};
use crate::loss::FiniteLoss;
use crate::profile::{Direction, PrivacyProfile};
use crate::{Enclosure, Epsilon, Gamma};

/// The largest E_γ between the rows of a channel, in either order.
struct ChannelProfile(ContractionCurve);

impl PrivacyProfile for ChannelProfile {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        Gamma::from_epsilon(epsilon.get().min(f64::MAX))
            .map_or(Enclosure::UNIT, |gamma| self.0.contraction(gamma))
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// A symmetric pair that dominates every two rows of a channel in either order: the curve is linear between the points
/// at which it bends.
pub(super) fn channel_loss(kernel: &FiniteKernel) -> FiniteLoss {
    let curve = kernel.curve();
    let knots: Vec<f64> = curve.bends().map(|(gamma, _)| libm::log(gamma)).collect();
    FiniteLoss::dominating_with_knots(&ChannelProfile(curve), &knots)
}

/// The larger of the two directions of a profile, for a symmetric relation.
pub(super) struct Symmetrised<'a>(pub &'a dyn PrivacyProfile);

impl PrivacyProfile for Symmetrised<'_> {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        self.0.delta(epsilon)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
