//! What a trained model predicts for a record.

use super::Model;
use crate::loss::{Prediction, cross_entropy};

impl Model {
    /// The score ⟨w, x⟩, or one score for each class. There must be as many parameters and features as the model has.
    pub fn scores(&self, parameters: &[f64], features: &[f32]) -> Vec<f64> {
        match self {
            Self::Linear { .. } => vec![dot(parameters, features)],
            Self::Softmax { .. } => {
                parameters.chunks_exact(features.len()).map(|row| dot(row, features)).collect()
            }
            Self::Network { hidden, classes, .. } => {
                let mut rest = parameters;
                let mut values: Vec<f64> = features.iter().map(|&feature| feature.into()).collect();
                for (layer, &units) in hidden.iter().chain([classes]).enumerate() {
                    let (weights, after) = rest.split_at(values.len() * units);
                    let (offsets, after) = after.split_at(units);
                    let sums = weights.chunks_exact(values.len()).zip(offsets);
                    let sums = sums.map(|(row, offset)| dot(row, &values) + offset);
                    values = if layer < hidden.len() {
                        sums.map(|sum| sum.max(0.0)).collect()
                    } else {
                        sums.collect()
                    };
                    rest = after;
                }
                values
            }
        }
    }

    /// What the scores mean.
    pub fn prediction(&self, scores: &[f64]) -> Prediction {
        match self {
            Self::Linear { loss, .. } => loss.as_score_loss().prediction(scores[0]),
            Self::Softmax { .. } | Self::Network { .. } => cross_entropy::prediction(scores),
        }
    }

    /// The loss of a record with these scores, its target and the norm of its features.
    pub(crate) fn loss(&self, scores: &[f64], target: f64, norm: f64) -> f64 {
        match self {
            Self::Linear { loss, .. } => loss.value(scores[0], target, norm),
            Self::Softmax { .. } | Self::Network { .. } => cross_entropy::value(scores, target),
        }
    }
}

/// ⟨w, x⟩ in eight sums, which a processor can compute together.
fn dot<Value: Copy + Into<f64>>(parameters: &[f64], features: &[Value]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (weights, values) = (parameters.chunks_exact(LANES), features.chunks_exact(LANES));
    let rest: f64 = weights.remainder().iter().zip(values.remainder()).map(|(w, &x)| w * x.into()).sum();
    for (weights, values) in weights.zip(values) {
        for lane in 0..LANES {
            sums[lane] += weights[lane] * values[lane].into();
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Logistic, Loss, Poisson, SmoothedHinge, Squared};
    use dobrushin::Positive;
    use dobrushin::numeric::Random;

    fn linear(loss: impl Into<Loss>) -> Model {
        Model::Linear { loss: loss.into(), features: 2 }
    }

    #[test]
    fn a_linear_score_is_the_product_of_parameters_and_features() {
        let mut random = Random::new(5);
        for features in [1, 2, 7, 8, 9, 16, 31] {
            let parameters: Vec<f64> = (0..features).map(|_| random.between(-1.0, 1.0)).collect();
            let values: Vec<f32> = (0..features).map(|_| random.between(-1.0, 1.0) as f32).collect();
            let exact: f64 = (0..features).map(|i| parameters[i] * f64::from(values[i])).sum();
            let scores = Model::Linear { loss: Squared.into(), features }.scores(&parameters, &values);
            assert_eq!(scores.len(), 1);
            assert!((scores[0] - exact).abs() < 1e-14, "{features}");
        }
    }

    #[test]
    fn the_rows_of_softmax_are_its_classes() {
        let model = Model::Softmax { classes: 3, features: 2 };
        assert_eq!(model.scores(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[10.0, 1.0]), [12.0, 34.0, 56.0]);
    }

    #[test]
    fn a_network_applies_its_layers_in_order_and_rectifies_all_but_the_last() {
        // The network has two features, three hidden units, two hidden units and two classes.
        let model = Model::Network { hidden: vec![3, 2], classes: 2, features: 2 };
        let parameters = [
            1.0, 2.0, -1.0, 0.0, 0.5, -3.0, // weights of the first layer
            0.0, 1.0, 10.0, // its offsets
            1.0, 1.0, 1.0, 2.0, 0.0, -1.0, // of the second
            -1.0, 5.0, // its offsets
            1.0, -1.0, -2.0, 0.25, // of the last
            0.5, -0.5, // its offsets
        ];
        assert_eq!(parameters.len(), model.parameters());
        // The hidden units get 3 + 8, −3 + 1 and 1.5 − 12 + 10, of which the last two are negative.
        let first: [f64; 3] = [11.0, 0.0, 0.0];
        let second: [f64; 2] = [first[0] - 1.0, 2.0 * first[0] + 5.0];
        let last = [second[0] - second[1] + 0.5, -2.0 * second[0] + 0.25 * second[1] - 0.5];
        assert_eq!(model.scores(&parameters, &[3.0, 4.0]), last);
        assert!(last[0] < 0.0 && last[1] < 0.0);
    }

    #[test]
    fn a_prediction_is_a_number_or_a_class_with_its_probability_where_there_is_one() {
        let width = Positive::new(1.0).expect("above 0");
        let hinge = |score| linear(SmoothedHinge { width }).prediction(&[score]);
        assert_eq!(linear(Squared).prediction(&[-1.5]), Prediction::Value(-1.5));
        assert_eq!(linear(Poisson).prediction(&[0.0]), Prediction::Value(1.0));
        assert_eq!(linear(Poisson).prediction(&[1e9]), Prediction::Value(f64::MAX));
        assert_eq!(hinge(0.1), Prediction::Class { class: 1, probabilities: Vec::new() });
        assert_eq!(hinge(-0.1), Prediction::Class { class: 0, probabilities: Vec::new() });
        let odds = |score: f64| linear(Logistic).prediction(&[score]);
        let even = Prediction::Class { class: 0, probabilities: vec![0.5, 0.5] };
        assert_eq!(odds(0.0), even);
        assert_eq!(odds(1e300), Prediction::Class { class: 1, probabilities: vec![0.0, 1.0] });
        let Prediction::Class { class: 1, probabilities } = odds(3.0_f64.ln()) else {
            panic!("the odds are three to one")
        };
        assert!((probabilities[1] - 0.75).abs() < 1e-15);
        let softmax = Model::Softmax { classes: 3, features: 2 };
        let scores = [1000.0, 1000.0 + 6.0_f64.ln(), -1e300];
        let Prediction::Class { class: 1, probabilities } = softmax.prediction(&scores) else {
            panic!("the second score is the largest")
        };
        assert!((probabilities[0] - 1.0 / 7.0).abs() < 1e-13 && probabilities[2] == 0.0);
    }
}
