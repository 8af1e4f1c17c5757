//! Shifting the difference of two iterates into the noise, without loss (shifted interpolation).

use super::lines::squared_shift_on_domain;
use super::walk::at_each_end;
use super::{Analysis, Bound};
use crate::NotApplicable;
use crate::chain::Mixture;

/// Hidden steps with Gaussian noise and any modulus.
///
/// # Guarantee
/// The released iterate is μ-GDP: E_{e^ε} ≤ θ_ε(μ) for every ε ≥ 0 in both directions, μ² = Σ(a_t/s_t)², for every
/// a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0 and z_T = 0, where either z₀ = 0 and t runs from the first use of the
/// record on, or z_τ = D at any time τ, D being the diameter of the domain, and t runs from there (Bok, Su,
/// Altschuler 2024 for affine moduli; Altschuler, Talwar 2022 for the start).
///
/// Let X and X′ be the two runs, and Y_τ = X_τ. Set Y_t = ψ′_t(Y_{t−1}) + V_t + Z_t with the noise Z_t of X and
/// V_t = λ_t·(ψ_t(X_{t−1}) − ψ′_t(Y_{t−1})), λ_t = a_t/ω′_t(z_{t−1}). Then ‖X_t − Y_t‖ ≤ z_t, so that Y_T = X_T, and given the
/// past V_t + Z_t is a mixture of Gaussians at most a_t away from Z_t: the trade-off of Y_T and X′_T is at least that
/// of the composition of a_t/s_t-GDP. (From z_τ = D: Y_τ = X′_τ, which is at most D from X_τ.) Projections
/// to closed convex sets do not drive points apart.
///
/// If the released iterate is that of a random time, or the record is at a random place, Σw_j·θ_ε(μ_j).
pub struct Shift;

impl Analysis for Shift {
    fn id(&self) -> &'static str {
        "shift"
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let members = at_each_end(released, |chain| Ok(squared_shift_on_domain(chain)?.sqrt()))?;
        Ok(Bound::gaussians(members))
    }
}
