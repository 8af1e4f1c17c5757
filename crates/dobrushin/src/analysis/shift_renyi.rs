//! Shifting the difference of two iterates into the noise, by Rényi divergences (PAI Theorem 22).

use super::lines::squared_shift;
use super::walk::at_each_end;
use super::{Analysis, Bound};
use crate::chain::Mixture;
use crate::profile::ConcentratedMixture;
use crate::{Enclosure, NotApplicable};
use std::sync::Arc;

/// Hidden steps that keep iterates together, with Gaussian noise.
///
/// # Guarantee
/// D_α ≤ (α/2)·Σ(a_t/s_t)² for every a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0 and z₀ = z_T = 0 (ω′_t = ω_t in
/// steps without the record): PAI Theorem 22 for any modulus. The best a_t are taken. Instances: PAI Theorems
/// 23 and 24 (used once, convex: 2αL²/((n−t+1)σ²)) and 35 (several passes).
///
/// If the released iterate is that of a random time, or the record is at a random place:
/// D_α ≤ ln[Σ_j w_j·e^((α−1)D_α,j)]/(α−1), for every noise, in place of PAI Theorem 26 (E8).
pub struct ShiftRenyi;

impl Analysis for ShiftRenyi {
    fn id(&self) -> &'static str {
        "shift-renyi"
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let members = at_each_end(released, |chain| Ok(squared_shift(chain)? / Enclosure::from(2.0)))?;
        Ok(Bound::Renyi(Arc::new(ConcentratedMixture::new(members))))
    }
}
