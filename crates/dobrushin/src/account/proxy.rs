//! A rough μ of a composition, for first guesses only.

use crate::lower::Composed;
use crate::mechanism::{Mechanism, Sampling};

/// √ΣTμ² with the central-limit μ of each part, treating every noise as Gaussian.
pub(super) fn mu(composed: &Composed) -> f64 {
    let square = |part: &crate::lower::ComposedPart| {
        let ratio = match &part.mechanism {
            Mechanism::Gaussian { noise_multiplier } | Mechanism::Laplace { noise_multiplier } => {
                part.neighbours.contributions_apart() / noise_multiplier.get()
            }
            _ => 1.0,
        };
        let one = match part.sampling {
            Sampling::Every => ratio * ratio,
            Sampling::Poisson(rate) | Sampling::WithoutReplacement(rate) => {
                (rate.get() * rate.get() * libm::expm1((ratio * ratio).min(700.0))).min(ratio * ratio)
            }
        };
        part.count as f64 * one
    };
    composed.parts.iter().map(square).sum::<f64>().sqrt()
}

/// The multiplier of the noisiest kind of part, or 1 if there are no parts.
pub(super) fn multiplier(composed: &Composed) -> f64 {
    let multipliers = composed.parts.iter().filter_map(|part| match &part.mechanism {
        Mechanism::Gaussian { noise_multiplier } | Mechanism::Laplace { noise_multiplier } => {
            Some(noise_multiplier.get())
        }
        _ => None,
    });
    multipliers.reduce(f64::max).unwrap_or(1.0)
}
