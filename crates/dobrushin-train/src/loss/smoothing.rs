//! Losses with corners, averaged over Gaussian noise on the parameters.
//!
//! ⟨w + λZ, x⟩ has the law N(⟨w, x⟩, t²) with t = λ‖x‖, so averaging over Z is a convolution with that law. For (u +
//! tZ)₊ it gives uΦ(u/t) + tφ(u/t), with the derivative Φ(u/t) in u. An average of convex functions is convex. Without
//! features t = 0, and nothing is smoothed.

use super::{Key, saturated};
use dobrushin::numeric::normal;
use dobrushin::{Enclosure, Positive, Probability};

/// λ in run files.
pub const KEY: Key = Key { name: "smoothing", example: "smoothing = 0.1" };

/// Pr[u + tZ > 0] = Φ(u/t), and one half for u = t = 0.
pub fn chance_above(u: f64, t: f64) -> f64 {
    if u == 0.0 { 0.5 } else { normal::cdf(u / t).midpoint() }
}

/// E(u + tZ)₊ = u₊ + t·g(|u|/t) with g(b) = E(Z − b)₊ = φ(b)(1 − b·R(b)), where R is the Mills ratio. Nothing cancels
/// that was not already small.
pub fn mean_positive_part(u: f64, t: f64) -> f64 {
    let b = u.abs() / t;
    // Beyond this, φ is 0; so it is for t = 0.
    if b.is_nan() || b > 40.0 {
        return saturated(u.max(0.0));
    }
    let density = (-b * b / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let excess = density * (1.0 - b * normal::mills_ratio(b).midpoint());
    saturated(u.max(0.0) + t * excess.max(0.0))
}

/// sup r²ℓ″ over r ≤ R and the scores where r|ℓ′| < C, of a loss with ℓ′ = ±(p − τ) and p = Φ(v/(λr)), where v is the
/// score up to its sign and a constant.
///
/// # Guarantee
/// r²ℓ″ = (r/λ)·I(p), where I = φ∘Φ⁻¹ is concave and symmetric about its maximum 1/√(2π) at 1/2. So it is at most
/// R/(λ√(2π)), which is smaller than what holds for every Lipschitz loss (PAI Theorem 33: L/λ). Unclipped p are nearer
/// than C/r to τ, so I(p) ≤ I(h) with h = min(1/2, min(τ, 1 − τ) + C/r). As a function of C/r that is concave and not
/// negative at 0, so it grows at most in proportion, and r·I(h) is largest at r = R.
pub fn smoothness(
    smoothing: Positive,
    level: Enclosure,
    norm: Enclosure,
    clip: Option<Enclosure>,
) -> Enclosure {
    norm / Enclosure::from(smoothing) * isoperimetry(level, norm, clip)
}

/// I(h) = φ(Φ⁻¹(h)) = h/M(Q⁻¹(h)) with the Mills ratio M, for h = min(1/2, min(τ, 1 − τ) + C/R), of which the upper end
/// is taken: I increases up to 1/2.
fn isoperimetry(level: Enclosure, norm: Enclosure, clip: Option<Enclosure>) -> Enclosure {
    let half = Enclosure::from(0.5);
    let share = clip.map_or(half, |clip| level.min(Enclosure::ONE - level) + clip / norm).min(half).upper();
    Probability::new(share).map_or(Enclosure::INFINITE, |share| {
        Enclosure::from(share) / normal::tail_inverse(share).map_monotone(normal::mills_ratio)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin_reference::{Real, cdf};

    #[test]
    fn the_slope_of_a_clipped_smoothed_loss_is_the_density_at_its_quantile() {
        for (level, norm, clip) in [(0.0, 2.0, 0.1), (0.25, 1.0, 0.1), (0.9, 5.0, 1.5), (0.05, 3.0, 1.0)] {
            let computed = isoperimetry(level.into(), Enclosure::from(norm), Some(Enclosure::from(clip)));
            let share = (f64::min(level, 1.0 - level) + clip / norm).min(0.5);
            // Φ⁻¹ comes from bisection of an independent Φ.
            let (mut low, mut high) = (-9.0, 0.0);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                let below = cdf(&Real::from_f64(middle, 128)).to_f64() < share;
                if below { low = middle } else { high = middle }
            }
            let density = (-high * high / 2.0_f64).exp() / (2.0 * std::f64::consts::PI).sqrt();
            assert!((computed.upper() / density - 1.0).abs() < 1e-12, "{level}: {computed} {density}");
        }
    }
}
