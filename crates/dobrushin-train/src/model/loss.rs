//! Losses of one score.

use dobrushin::numeric::normal;
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

impl Loss {
    /// ℓ(z, y) of a record whose features have the given norm, which only Gaussian smoothing asks for.
    ///
    /// It is finite for a finite score and target: what is too large is the largest `f64`.
    ///
    /// # Smoothing
    /// ⟨w + λZ, x⟩ has the law N(⟨w, x⟩, t²) with t = λ‖x‖, so that averaging over Z is a convolution with that law.
    /// For (u + tZ)₊ it gives uΦ(u/t) + tφ(u/t); the hinge has u = 1 − sz, and the pinball loss is
    /// τ(y − z)₊ + (1 − τ)(z − y)₊. Without features t = 0, and nothing is smoothed.
    pub fn value(&self, score: f64, target: f64, norm: f64) -> f64 {
        let value = match *self {
            Self::Squared => (score - target).powi(2) / 2.0,
            Self::Huber { width } => {
                let (gap, width) = ((score - target).abs(), width.get());
                if gap <= width { gap * gap / 2.0 } else { width * (gap - width / 2.0) }
            }
            Self::Logistic => {
                let margin = sign(target) * score;
                (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
            }
            Self::SmoothedHinge { width } => {
                let (below, width) = (1.0 - sign(target) * score, width.get());
                let share = (below / width).clamp(0.0, 1.0);
                share * (below - share * width / 2.0)
            }
            Self::Hinge { smoothing } => {
                mean_positive_part(1.0 - sign(target) * score, smoothing.get() * norm)
            }
            Self::Quantile { level, smoothing } => {
                let (gap, deviation) = (score - target, smoothing.get() * norm);
                let level = level.get();
                level * mean_positive_part(-gap, deviation)
                    + (1.0 - level) * mean_positive_part(gap, deviation)
            }
            Self::Poisson => {
                let mean = score.exp();
                if mean < f64::MAX { mean - target * score } else { mean }
            }
        };
        saturated(value)
    }

    /// ∂ℓ(z, y)/∂z, increasing in z; where ℓ has a corner, the middle of its slopes.
    ///
    /// It is finite for a finite score and target: what is too large is the largest `f64`.
    pub fn derivative(&self, score: f64, target: f64, norm: f64) -> f64 {
        let derivative = match *self {
            Self::Squared => score - target,
            Self::Huber { width } => (score - target).clamp(-width.get(), width.get()),
            Self::Logistic => {
                let sign = sign(target);
                -sign / (1.0 + (sign * score).exp())
            }
            Self::SmoothedHinge { width } => {
                let sign = sign(target);
                -sign * ((1.0 - sign * score) / width.get()).clamp(0.0, 1.0)
            }
            Self::Hinge { smoothing } => {
                let sign = sign(target);
                -sign * chance_above(1.0 - sign * score, smoothing.get() * norm)
            }
            Self::Quantile { level, smoothing } => {
                chance_above(score - target, smoothing.get() * norm) - level.get()
            }
            Self::Poisson => score.exp().min(f64::MAX) - target,
        };
        saturated(derivative)
    }
}

/// s = 2y − 1.
fn sign(target: f64) -> f64 {
    2.0 * target - 1.0
}

fn saturated(value: f64) -> f64 {
    value.clamp(-f64::MAX, f64::MAX)
}

/// Pr[u + tZ > 0] = Φ(u/t), and one half for u = t = 0.
fn chance_above(u: f64, t: f64) -> f64 {
    if u == 0.0 { 0.5 } else { normal::cdf(u / t).midpoint() }
}

/// E(u + tZ)₊ = u₊ + t·g(|u|/t) with g(b) = E(Z − b)₊ = φ(b)(1 − b·R(b)), where R is the Mills ratio: nothing cancels
/// that was not small already.
fn mean_positive_part(u: f64, t: f64) -> f64 {
    let b = u.abs() / t;
    // Beyond, φ is 0; and so it is for t = 0.
    if b.is_nan() || b > 40.0 {
        return saturated(u.max(0.0));
    }
    let density = (-b * b / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let excess = density * (1.0 - b * normal::mills_ratio(b).midpoint());
    saturated(u.max(0.0) + t * excess.max(0.0))
}
