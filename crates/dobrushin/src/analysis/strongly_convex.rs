//! Strongly convex losses, by Rényi divergences (PAC Proposition 1).

use super::walk::at_each_end;
use super::{Analysis, Bound};
use crate::chain::{Chain, Count, Mixture, StepNoise};
use crate::profile::ConcentratedMixture;
use crate::run::{Fact, in_the_way};
use crate::{Enclosure, NotApplicable};
use std::sync::Arc;

/// A record that is used once and then hidden by equal steps that contract distances.
///
/// # Guarantee
/// D_α ≤ ακ at every order, with κ = (d²/2s²)·M^(k+1)/k after k ≥ 1 later steps with ω(z) = Mz, and
/// κ = d²/2s² after none: 2L²M^(n−i+1)/((n−i)σ²) for index i of n in the notation of PAC Proposition 1. It
/// follows from the optimal allocation of `shift-renyi`, κ = (d²/2s²)·M^(2k)/Σ_{j≤k}M^(2j), because
/// Σ_{j<k}M^(2j) ≥ k·M^(k−1) for every M > 0.
pub struct StronglyConvexRenyi;

impl Analysis for StronglyConvexRenyi {
    fn id(&self) -> &'static str {
        "strongly-convex-renyi"
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let members = at_each_end(released, kappa)?;
        Ok(Bound::Renyi(Arc::new(ConcentratedMixture::new(members))))
    }
}

fn kappa(chain: &Chain) -> Result<Enclosure, NotApplicable> {
    let (used, after) = chain.only_use().ok_or_else(|| {
        in_the_way!(
            "the record is used in more than one step, or at random: it must be used once, {} = \"once\"",
            Order
        )
    })?;
    let StepNoise::Gaussian(noise) = used.noise else {
        return Err(in_the_way!("the noise must be Gaussian: {}", NoiseKind));
    };
    let now = (used.displacement / noise).square() / Enclosure::from(2.0);
    let (Some(stretch), None) = (after.first(), after.get(1)) else {
        return if after.is_empty() { Ok(now) } else { Err(same()) };
    };
    if stretch.step.noise != used.noise {
        return Err(same());
    }
    let slopes = stretch.step.modulus.pieces().iter().filter(|piece| piece.offset() == Enclosure::ZERO);
    let slope = slopes.map(|piece| piece.slope()).reduce(Enclosure::min).ok_or_else(|| {
        NotApplicable::missing(
            &[Fact::Convex, Fact::Smoothness, Fact::StrongConvexity, Fact::GeneralisedLinear],
            format!(
                "no step is known to keep iterates from moving apart: {:#}, {} or {} is missing, or gradients are clipped \
                 and the loss is not {}",
                Fact::Convex,
                Fact::Smoothness.key(),
                Fact::StrongConvexity.key(),
                Fact::GeneralisedLinear.key()
            ),
        )
    })?;
    match stretch.count {
        Count::Times(later) => Ok(now * stretch.count.power(slope) * slope / Enclosure::from(later)),
        // None at all, too.
        Count::Any => Ok(now),
    }
}

fn same() -> NotApplicable {
    NotApplicable::because_of(
        &[Fact::LearningRate, Fact::GradientNoise],
        "later steps differ in their learning rate or noise: it is for equal steps only",
    )
}
