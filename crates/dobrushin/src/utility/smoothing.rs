//! A loss that is not smooth, made smooth by averaging over Gaussian noise.

use crate::numeric::gamma::ln_gamma;
use crate::{Enclosure, Positive};
use std::num::NonZeroU64;

/// The result of averaging a convex L-Lipschitz loss over N(0, λ²I).
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin::utility::smoothing;
///
/// // A 3-Lipschitz loss, averaged over N(0, 1/4): the gradient has the Lipschitz constant 3/(1/2).
/// let smoothing = smoothing(Positive::new(3.0)?, 10.try_into()?, Positive::new(0.5)?);
/// assert!(smoothing.smoothness.contains(6.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// λ.
    pub deviation: Positive,
    /// L/λ: the Lipschitz constant of its gradient.
    pub smoothness: Enclosure,
    /// L·λ·E‖Z‖, Z ~ N(0, I): the largest amount by which it exceeds the loss; it is nowhere smaller.
    pub error: Enclosure,
}

/// The loss f̂(w) = E f(w + λZ) in place of a convex L-Lipschitz f on a convex set.
///
/// # Guarantee
/// f̂ is convex, L-Lipschitz and L/λ-smooth, and f ≤ f̂ ≤ f + L·λ·E‖Z‖ on the set (Feldman, Mironov, Talwar,
/// Thakurta 2018, Theorem 33, with f extended to all points as min_v f(v) + L·‖w − v‖). The first inequality is
/// Jensen's, so a point whose f̂ exceeds the least f̂ by e has an f that exceeds the least f by at most
/// e + L·λ·E‖Z‖. E‖Z‖ = √2·Γ((d+1)/2)/Γ(d/2) ≤ √d, which the paper uses.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin::utility::smoothing;
///
/// // In one dimension E‖Z‖ is √(2/π), and the loss |w| becomes at most that much larger.
/// let absolute = smoothing(Positive::new(1.0)?, 1.try_into()?, Positive::new(1.0)?);
/// assert!((absolute.error.upper() - std::f64::consts::FRAC_2_PI.sqrt()).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn smoothing(lipschitz: Positive, dimension: NonZeroU64, deviation: Positive) -> Smoothing {
    let (norm, lambda) = (Enclosure::from(lipschitz), Enclosure::from(deviation));
    Smoothing { deviation, smoothness: norm / lambda, error: norm * lambda * mean_norm(dimension) }
}

/// Up to here the gamma functions of E‖Z‖ do not cancel.
const MODERATE: u64 = 100_000;

/// E‖Z‖ of a standard normal vector.
///
/// In many dimensions E‖Z‖ lies between d/√(d+1) and √d: E‖Z‖ in d dimensions times that in d + 1 is d, each is at most
/// the root of its dimension (Jensen), so E‖Z‖ is at least d/√(d+1).
fn mean_norm(dimension: NonZeroU64) -> Enclosure {
    let d = Enclosure::from(dimension.get());
    let most = d.sqrt();
    let least = d / (d + Enclosure::ONE).sqrt();
    let outer = Enclosure::between(least.lower(), most.upper());
    let half = |twice: u64| Positive::new(twice as f64 / 2.0).ok().map(ln_gamma);
    match (half(dimension.get().saturating_add(1)), half(dimension.get())) {
        (Some(above), Some(below)) if dimension.get() <= MODERATE => {
            let exact = Enclosure::from(2.0).sqrt() * (above - below).exp();
            exact.intersect(outer).unwrap_or(outer)
        }
        _ => outer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(dimension: u64) -> Enclosure {
        mean_norm(NonZeroU64::new(dimension).expect("above 0"))
    }

    #[test]
    fn the_mean_norm_of_a_normal_vector_is_right_in_few_dimensions() {
        let pi = std::f64::consts::PI;
        for (dimension, exact) in [
            (1, (2.0 / pi).sqrt()),
            (2, (pi / 2.0).sqrt()),
            (3, (8.0 / pi).sqrt()),
            (4, 1.5 * (pi / 2.0).sqrt()),
        ] {
            assert!((of(dimension).midpoint() / exact - 1.0).abs() < 1e-14, "{dimension}");
            assert!(of(dimension).relative_width() < 1e-13);
        }
    }

    #[test]
    fn the_mean_norms_of_neighbouring_dimensions_multiply_to_the_dimension() {
        for dimension in [1, 2, 7, 784, 65_537, MODERATE, 10_000_000, 1 << 60] {
            let product = of(dimension) * of(dimension + 1);
            let d = dimension as f64;
            assert!(
                product.lower() <= d * (1.0 + 1e-14) && product.upper() >= d * (1.0 - 1e-14),
                "{dimension}"
            );
            let width = if dimension < MODERATE { 1e-9 } else { 2.0 / d + 1e-12 };
            assert!(product.relative_width() < width, "{dimension}: {product}");
        }
    }
}
