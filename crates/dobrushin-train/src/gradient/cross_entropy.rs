//! The derivatives of the cross-entropy of a softmax.

/// Replaces scores z by p − e_y, where p = softmax(z); they are no numbers if a score is NaN or +∞.
///
/// The entry of the class is −Σ of the others', so that nothing cancels where p is close to e_y.
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
}
