//! Losses of one score.

use dobrushin::{Positive, Probability};

/// ℓ(z, y) of a score z = ⟨w, x⟩. Where y is a class it is 0 or 1, and s = 2y − 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// (z − y)²/2.
    Squared,
    /// (z − y)²/2 up to |z − y| = width, and a straight line beyond.
    Huber {
        /// Where it becomes straight.
        width: Positive,
    },
    /// ln(1 + e^(−sz)).
    Logistic,
    /// max(0, 1 − sz), the corner replaced by a parabola from 1 − width to 1.
    SmoothedHinge {
        /// The width of the parabola.
        width: Positive,
    },
    /// max(0, 1 − sz), averaged over Gaussian noise on the parameters (PAI Theorem 33).
    Hinge {
        /// λ: the standard deviation of the noise in each parameter.
        smoothing: Positive,
    },
    /// The pinball loss, whose minimum is a quantile of y, averaged over Gaussian noise on the parameters.
    Quantile {
        /// Which quantile.
        level: Probability,
        /// λ: the standard deviation of the noise in each parameter.
        smoothing: Positive,
    },
    /// e^z − yz, for counts y.
    Poisson,
}
