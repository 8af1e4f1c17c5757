//! What a trained model says of a record.

use super::{Loss, Model};

/// What a model predicts.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// A number; for counts their mean.
    Value(f64),
    /// A class.
    Class {
        /// Which one, counted from 0; the first of those that are equally good.
        class: usize,
        /// The probability of each class; empty for the hinges, which have none.
        probabilities: Vec<f64>,
    },
}

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
        let Self::Linear { loss, .. } = self else {
            return Prediction::Class { class: largest(scores), probabilities: probabilities(scores) };
        };
        let score = scores[0];
        match loss {
            Loss::Squared | Loss::Huber { .. } | Loss::Quantile { .. } => Prediction::Value(score),
            Loss::Poisson => Prediction::Value(score.exp().min(f64::MAX)),
            Loss::Logistic => Prediction::Class {
                class: largest(&[0.0, score]),
                probabilities: probabilities(&[0.0, score]),
            },
            Loss::SmoothedHinge { .. } | Loss::Hinge { .. } => {
                Prediction::Class { class: largest(&[0.0, score]), probabilities: Vec::new() }
            }
        }
    }

    /// The loss of a record with these scores, its target and the norm of its features.
    pub(crate) fn loss(&self, scores: &[f64], target: f64, norm: f64) -> f64 {
        match self {
            Self::Linear { loss, .. } => loss.value(scores[0], target, norm),
            Self::Softmax { .. } | Self::Network { .. } => ln_sum_exp(scores) - scores[target as usize],
        }
    }
}

/// ⟨w, x⟩, in eight sums, which a processor can do together.
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

fn largest(scores: &[f64]) -> usize {
    (0..scores.len()).fold(0, |best, class| if scores[class] > scores[best] { class } else { best })
}

/// softmax(z).
fn probabilities(scores: &[f64]) -> Vec<f64> {
    let most = scores[largest(scores)];
    let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// ln Σ e^z.
fn ln_sum_exp(scores: &[f64]) -> f64 {
    let most = scores[largest(scores)];
    most + scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln()
}
