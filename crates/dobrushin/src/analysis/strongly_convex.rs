//! Strongly convex losses, by Rényi divergences (PAC Proposition 1).

use super::walk::at_each_end;
use super::{Analysis, Bound, Cost, Family, HiddenStates, Notes, Statement, pac};
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
///
/// ```
/// use dobrushin::analysis::{Bound, HiddenStates, StronglyConvexRenyi};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::profile::{Direction, RenyiCurve};
/// use dobrushin::NonNegative;
///
/// // d = 2, s = 1, M = 1/2 and k = 1: κ = (d²/2s²)·M²/1 = 1/2, and D_2 ≤ 2κ = 1.
/// let later = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(0.5, 0.0)?]);
/// let used = later.clone().used_by(Participation::Always, NonNegative::new(2.0)?);
/// let chain = Chain::new(vec![(used, Count::Times(1)), (later, Count::Times(1))], Domain::default())?;
/// let bound = StronglyConvexRenyi.apply(&Mixture::last(chain))?;
/// let Bound::Renyi(curve) = bound else { panic!("it is a Rényi curve") };
/// assert!(curve.log_moment(Direction::Forward, 2.0).contains(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StronglyConvexRenyi;

impl Analysis for StronglyConvexRenyi {
    fn statement(&self) -> &'static Statement {
        &STATEMENT
    }

    fn family(&self) -> Family {
        Family::Contraction
    }

    fn cost(&self) -> Cost {
        Cost::ClosedForm
    }
}

impl HiddenStates for StronglyConvexRenyi {
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
        // Any number includes none.
        Count::Any => Ok(now),
    }
}

fn same() -> NotApplicable {
    NotApplicable::because_of(
        &[Fact::LearningRate, Fact::GradientNoise],
        "later steps differ in their learning rate or noise: it is for equal steps only",
    )
}

static STATEMENT: Statement = Statement {
    id: "strongly-convex-renyi",
    title: "A record used once with contracting updates, by Rényi divergences",
    statement: "D_α ≤ α·κ with κ = (d²/2s²)·M^(k+1)/k after k ≥ 1 later steps whose updates are M-Lipschitz, κ = d²/2s² \
                after none. Never below `shift-renyi`, from which it follows.",
    assumptions: &["as `shift-renyi`", "equal steps", "M = max(|1−ηρ|, |1−ηβ|)"],
    source: pac!("Proposition 1"),
    errata: &[
        "the step-size hypothesis is missing (E6); M = √(1 − 2ηβρ/(β+ρ)) is larger than needed where it holds",
        "at ρ = 0 it is 2L²/((n−i)σ²), not Theorem 23 of Feldman et al., which has n−i+1 (E20)",
    ],
    notes: Some(Notes {
        applies_to: "a record used once; equal contracting steps with Gaussian noise",
        formula: "\
D_α ≤ α·(d²/2s²)·M^(k+1)/k

D_α      the Rényi divergence of order α of the published iterate for two neighbours
d        how far the update moves when the record is replaced; s the noise of every step
M        the Lipschitz constant of the later updates, k ≥ 1 their number",
        proof: &[
            "`shift-renyi` with ω(z) = Mz: the best a_j are proportional to M^(k−j), j = 0 … k counted from the use, and cost \
             D_α ≤ α·(d²/2s²)·M^(2k)/(1 + M² + … + M^(2k)).",
            "1 + M² + … + M^(2k−2) ≥ k·M^(k−1), the arithmetic and the geometric mean, for every M > 0. Leaving out the last \
             term of the denominator, M^(2k)/(k·M^(k−1)) = M^(k+1)/k.",
            "With no later step it is the divergence d²/2s² of the use itself. A random time or place: the mixture \
             formula of `shift-renyi`.",
        ],
        wins: &[
            "Never: `shift-renyi` has the sum itself, and `shift` no loss to Rényi divergences. In the example \
             0.337 against 0.326 and 0.296, with `contraction` 0.194.",
            "After one later step of a loss that is only convex it says no more than after none: M²/1 = 1.",
            "Nothing for steps that differ, records that are used again, or updates that are not known to be Lipschitz.",
        ],
        example: "account examples/public-tail.toml --set strong-convexity=0.2 \
                  --analyses strongly-convex-renyi,shift-renyi,shift,composition",
    }),
};
