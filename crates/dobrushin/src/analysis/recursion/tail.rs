//! The region of iterates that weight decay pulls back to 0.

use super::block::Place;
use crate::chain::{Piece, Step};
use crate::numeric::{Boundary, chi_square};
use crate::run::missing;
use crate::{Enclosure, NonNegative, NotApplicable};
use std::num::NonZeroU32;

/// Logarithms of the probabilities of being outside.
const LN_TAILS: [f64; 4] = [-37.0, -100.0, -300.0, -740.0];

/// Balls around 0 that contain the iterate at every time, except with small probabilities.
///
/// # Guarantee
/// Let ‖ψ(w)‖ ≤ c‖w‖ + o with c < 1, and W₀ = 0. ‖ψ + noise‖ is stochastically increasing in ‖ψ‖, so ‖W_t‖ is
/// stochastically at most ‖V_t‖ for V ← cV + o·V/‖V‖ + noise, V₀ = 0. V_t is the sum of a vector no longer than o/(1−c)
/// and a Gaussian one with variance at most s²/(1−c²) in each of d coordinates. So P(‖W_t‖ > ρ) ≤ τ = P(χ_d > (ρ −
/// o/(1−c))·√(1−c²)/s).
pub(super) fn places(
    step: &Step,
    noise: Enclosure,
    dimension: Option<u64>,
) -> Result<Vec<Place>, NotApplicable> {
    let growth = step.growth.filter(|growth| growth.slope().upper() < 1.0).ok_or_else(|| {
        missing!(
            "neither is the domain bounded nor are iterates pulled back: {:#} and {} are missing",
            Diameter,
            WeightDecay
        )
    })?;
    let dimension =
        dimension.and_then(|d| u32::try_from(d).ok()).and_then(NonZeroU32::new).ok_or_else(|| {
            missing!("the length of the noise depends on the dimension: {:#} is missing", Dimension)
        })?;
    Ok(LN_TAILS.iter().filter_map(|&ln_tail| place(growth, noise, dimension, ln_tail)).collect())
}

fn place(growth: Piece, noise: Enclosure, dimension: NonZeroU32, ln_tail: f64) -> Option<Place> {
    let ln_sf =
        |square: f64| NonNegative::new(square).map_or(0.0, |x| chi_square::ln_sf(dimension, x).upper());
    let mut high = f64::from(dimension.get());
    while ln_sf(high) > ln_tail {
        high *= 2.0;
    }
    let ends = Boundary { holds: high / 2.0, fails: high };
    let high = ends.halved(20, |square| ln_sf(square) > ln_tail).fails;
    let one = Enclosure::ONE;
    let drift = growth.offset() / (one - growth.slope());
    let spread = noise / (one - growth.slope().square()).sqrt();
    let width = Enclosure::from(2.0) * (drift + Enclosure::from(high).sqrt() * spread);
    (width.upper() < f64::INFINITY).then(|| Place { width, ln_tail: ln_sf(high) })
}
