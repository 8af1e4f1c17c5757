//! The logistic loss.

use super::targets::sign;
use super::{Keys, Prediction, ScoreLoss, Within, cross_entropy, targets};
use crate::Target;
use dobrushin::Enclosure;

/// ln(1 + e^(−sz)), the cross-entropy of two classes with the scores 0 and z.
///
/// # Guarantee
/// With σ(x) = 1/(1 + e^(−x)), p = |ℓ′| = σ(−sz) and ℓ″ = p(1 − p) ≤ 1/4, so L = R·σ(B), and β = R²/4.
///
/// With clipping, β can be smaller: p < C/r has r²ℓ″ = r²p(1 − p). If C < R/2 this is at most C(R − C): for r ≤ 2C it is at
/// most r²/4 ≤ C² < C(R − C), and for larger r at most C(r − C).
///
/// ```
/// use dobrushin_train::loss::{Logistic, Loss};
///
/// // ln 2 at a score of 0, where either class is as likely.
/// let loss = Loss::from(Logistic);
/// assert!((loss.value(0.0, 1.0, 1.0) - 2_f64.ln()).abs() < 1e-15);
/// assert_eq!(loss.derivative(0.0, 1.0, 1.0), -0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logistic;

impl ScoreLoss for Logistic {
    fn kind() -> &'static str {
        "logistic"
    }

    fn read<K: Keys>(_: &K) -> Result<Self, K::Error> {
        Ok(Self)
    }

    fn check(&self, target: Target) -> Result<(), String> {
        targets::need_two_classes("logistic", target)
    }

    fn value(&self, score: f64, target: f64, _: f64) -> f64 {
        let margin = sign(target) * score;
        (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
    }

    fn derivative(&self, score: f64, target: f64, _: f64) -> f64 {
        let sign = sign(target);
        -sign / (1.0 + (sign * score).exp())
    }

    fn lipschitz(&self, within: &Within) -> Enclosure {
        within.norm * sigmoid(within.score)
    }

    fn smoothness(&self, within: &Within, clip: Option<Enclosure>) -> Enclosure {
        match clip {
            Some(clip) if clip.upper() < within.norm.lower() / 2.0 => clip * (within.norm - clip),
            _ => within.norm.square() / Enclosure::from(4.0),
        }
    }

    fn prediction(&self, score: f64) -> Prediction {
        cross_entropy::prediction(&[0.0, score])
    }
}

/// σ(x) = 1/(1 + e^(−x)).
pub fn sigmoid(x: Enclosure) -> Enclosure {
    Enclosure::ONE / (Enclosure::ONE + (-x).exp())
}
