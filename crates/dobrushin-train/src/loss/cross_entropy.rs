//! Cross-entropy, the loss −ln p_y of scores z, one for each class, with p = softmax(z).
//!
//! # Guarantee
//! If z = Wx with ‖x‖ ≤ R, the gradient is (p − e_y)⊗x. ‖p − e_y‖² ≤ 2(1 − p_y)², and no score exceeds that of class y
//! by more than ‖W_j − W_y‖·‖x‖ ≤ √2·B, so L = √2·R·σ(√2·B + ln(classes − 1)), at most √2·R. The Hessian is (diag(p) −
//! ppᵀ)⊗xxᵀ, and vᵀ(diag(p) − ppᵀ)v is the variance of v_J, J ~ p: at most (max v − min v)²/4 ≤ ‖v‖²/2. So β = R²/2,
//! also with clipping, which is a projection and so brings no two gradients further apart. But with three classes or
//! more, clipped gradients are not those of a convex function, because p − e_y changes its direction.
//!
//! Nothing is claimed about the scores of a network.

use super::logistic::sigmoid;
use super::{Prediction, Within, targets};
use crate::Target;
use dobrushin::Enclosure;

/// Whether there are two classes or more, and the targets have as many.
pub fn check(model: &str, classes: usize, target: Target) -> Result<(), String> {
    match target {
        Target::Classes(count) if count == classes && classes >= 2 => Ok(()),
        _ => Err(format!(
            "the {model} model has {classes} classes and the targets are {}: both must have the same number of classes, \
             2 or more",
            targets::described(target)
        )),
    }
}

/// L for scores Wx.
pub fn lipschitz(classes: usize, within: &Within) -> Enclosure {
    let root = Enclosure::from(2.0).sqrt();
    let others = Enclosure::from(classes as u64 - 1).ln();
    within.norm * root * sigmoid(root * within.score + others)
}

/// β for scores Wx.
pub fn smoothness(within: &Within) -> Enclosure {
    within.norm.square() / Enclosure::from(2.0)
}

/// ln Σ e^z − z_y.
pub fn value(scores: &[f64], target: f64) -> f64 {
    let most = scores[largest(scores)];
    most + scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln() - scores[target as usize]
}

/// The class with the largest score, and softmax(z).
pub fn prediction(scores: &[f64]) -> Prediction {
    let class = largest(scores);
    let weights: Vec<f64> = scores.iter().map(|score| (score - scores[class]).exp()).collect();
    let total: f64 = weights.iter().sum();
    let probabilities = weights.iter().map(|weight| weight / total).collect();
    Prediction::Class { class, probabilities }
}

fn largest(scores: &[f64]) -> usize {
    (0..scores.len()).fold(0, |best, class| if scores[class] > scores[best] { class } else { best })
}

/// Replaces scores z by p − e_y, where p = softmax(z); the result is NaN if a score is NaN or +∞.
///
/// The entry of the class is −Σ of the other entries, so nothing cancels where p is close to e_y.
pub fn derivatives(scores: &mut [f32], target: f32) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut total = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - largest).exp();
        total += *score;
    }
    let mut others = 0.0;
    for (class, probability) in scores.iter_mut().enumerate() {
        *probability /= total;
        if class as f32 != target {
            others += *probability;
        }
    }
    if let Some(own) = scores.get_mut(target as usize) {
        *own = -others;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Logistic, Loss};

    #[test]
    fn they_are_the_probabilities_less_one_for_the_class() {
        let scores = [0.5_f32, -1.0, 3.0, 0.0];
        let exponentials = scores.map(|score| f64::from(score).exp());
        let total: f64 = exponentials.iter().sum();
        for class in 0..4 {
            let mut computed = scores;
            derivatives(&mut computed, class as f32);
            for k in 0..4 {
                let exact = exponentials[k] / total - f64::from(u8::from(k == class));
                assert!((f64::from(computed[k]) - exact).abs() < 1e-6 * exact.abs());
            }
        }
    }

    #[test]
    fn a_class_that_is_almost_certain_keeps_its_digits() {
        let mut scores = [20.0_f32, 0.0];
        derivatives(&mut scores, 0.0);
        let exact = (-20.0_f64).exp() / (1.0 + (-20.0_f64).exp());
        assert!((f64::from(scores[0]) + exact).abs() < 1e-6 * exact);
        assert_eq!(scores[0], -scores[1]);
    }

    #[test]
    fn large_scores_do_not_overflow_and_no_numbers_are_not_hidden() {
        let mut scores = [3e38_f32, -3e38];
        derivatives(&mut scores, 1.0);
        assert_eq!(scores, [1.0, -1.0]);
        for bad in [f32::NAN, f32::INFINITY] {
            let mut scores = [0.0, bad];
            derivatives(&mut scores, 0.0);
            assert!(scores.iter().any(|score| score.is_nan()));
        }
    }

    #[test]
    fn cross_entropy_is_the_logarithm_of_one_over_the_probability_also_where_that_underflows() {
        let scores = [0.3, -1.0, 2.0];
        let Prediction::Class { probabilities, .. } = prediction(&scores) else {
            panic!("softmax predicts classes")
        };
        for (class, probability) in probabilities.iter().enumerate() {
            assert!((value(&scores, class as f64) + probability.ln()).abs() < 1e-14);
        }
        assert_eq!(value(&[0.0, 1e5, 0.0], 2.0), 1e5);
        // With two classes, it is the logistic loss of the difference.
        let logistic = Loss::from(Logistic).value(1.7, 1.0, 1.0);
        assert!((value(&[-0.2, 1.5], 1.0) - logistic).abs() < 1e-15);
    }
}
