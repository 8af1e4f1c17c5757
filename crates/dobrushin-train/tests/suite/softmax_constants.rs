//! The constants of softmax hold, are nearly reached, and say rightly that clipping loses convexity.

use crate::vectors::{FEATURES, between, clipped, difference, length, product, vector};
use dobrushin::Positive;
use dobrushin::numeric::Random;
use dobrushin_train::{Bounds, Constants, Model, Target};

fn constants(classes: usize, norm: f64, reach: Option<f64>, clip: Option<f64>) -> Constants {
    let positive = |value| Positive::new(value).expect("above 0");
    let bounds = Bounds { dimension: FEATURES, norm: positive(norm), target: Target::Classes(classes) };
    Model::Softmax { classes, features: FEATURES }.constants(&bounds, reach, clip.map(positive))
}

/// (p − e_y)⊗x, clipped.
fn gradient(parameters: &[f64], features: &[f64], class: usize, clip: Option<f64>) -> Vec<f64> {
    let scores: Vec<f64> = parameters.chunks(features.len()).map(|row| product(row, features)).collect();
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
    let signal = scores
        .iter()
        .enumerate()
        .map(|(other, score)| (score - most).exp() / total - f64::from(u8::from(other == class)));
    clipped(signal.flat_map(|p| features.iter().map(move |x| p * x)).collect(), clip)
}

#[test]
fn no_gradient_of_softmax_exceeds_its_constants_clipped_or_not() {
    let mut random = Random::new(4);
    for (classes, norm) in [(2, 1.0), (3, 0.6), (3, 5.0), (10, 2.0)] {
        for (reach, clip) in [(None, None), (Some(1.5), None), (Some(1.5), Some(0.3)), (None, Some(1.0))] {
            let constants = constants(classes, norm, reach, clip);
            assert!(constants.convex && !constants.generalised_linear);
            let lipschitz = constants.lipschitz.expect("bounded");
            let smoothness = constants.smoothness.expect("smooth");
            for turn in 0..3000 {
                let features = vector(&mut random, norm);
                let most = reach.unwrap_or(20.0 / norm);
                let one = rows(&mut random, classes, &features, most);
                let far = rows(&mut random, classes, &features, most);
                let two = between(&one, &far, [1.0, 0.01][turn % 2]);
                let class = random.below(classes);
                assert!(length(&gradient(&one, &features, class, None)) <= lipschitz * (1.0 + 1e-12));
                let change = difference(
                    &gradient(&one, &features, class, clip),
                    &gradient(&two, &features, class, clip),
                );
                let apart = length(&difference(&one, &two));
                assert!(length(&change) <= smoothness * apart * (1.0 + 1e-9) + 1e-12);
            }
        }
    }
}

#[test]
fn the_constants_of_softmax_are_nearly_reached() {
    let (norm, reach) = (2.0, 1.5);
    let features = [norm, 0.0, 0.0];
    // Weights on the first feature only.
    let first = |weights: &[f64]| -> Vec<f64> { weights.iter().flat_map(|&w| [w, 0.0, 0.0]).collect() };
    let far = length(&gradient(&first(&[-9.0, 9.0, 0.0]), &features, 0, None));
    assert!(far >= 0.99 * constants(3, norm, None, None).lipschitz.expect("bounded"));
    let side = reach / 2.0_f64.sqrt();
    let end = length(&gradient(&first(&[-side, side]), &features, 0, None));
    let lipschitz = constants(2, norm, Some(reach), None).lipschitz.expect("bounded");
    assert!((end / lipschitz - 1.0).abs() < 1e-12, "{end} {lipschitz}");
    let pairs = [
        (first(&[0.01, -0.01]), first(&[-0.01, 0.01])),
        (first(&[9.01, 8.99, 0.0]), first(&[8.99, 9.01, 0.0])),
    ];
    for (one, two) in pairs {
        let change = difference(&gradient(&one, &features, 0, None), &gradient(&two, &features, 0, None));
        let ratio = length(&change) / length(&difference(&one, &two));
        let classes = one.len() / FEATURES;
        assert!(ratio >= 0.99 * constants(classes, norm, None, None).smoothness.expect("smooth"));
    }
}

#[test]
fn clipped_gradients_of_softmax_with_three_classes_are_not_those_of_a_convex_function() {
    // Those of a convex function increase along the way from one point to another.
    let (one, two) = ([0.0, 0.0, 1.0], [0.0, 4.0, 6.0]);
    let increase = |clip| {
        let at = |parameters: &[f64]| gradient(parameters, &[1.0], 0, clip);
        product(&difference(&at(&one), &at(&two)), &difference(&one, &two))
    };
    assert!(increase(None) > 0.5);
    assert!(increase(Some(1.0)) < -0.08);
    // A step then takes them further apart, however small its rate.
    let rate = 1e-3;
    let after = |clip| {
        let moved = |parameters: &[f64]| -> Vec<f64> {
            parameters.iter().zip(gradient(parameters, &[1.0], 0, clip)).map(|(w, g)| w - rate * g).collect()
        };
        length(&difference(&moved(&one), &moved(&two)))
    };
    let before = length(&difference(&one, &two));
    assert!(after(None) < before && after(Some(1.0)) > before + 1e-5);
}

/// One row for each class, within that length altogether; often along the features, where scores are large.
fn rows(random: &mut Random, classes: usize, features: &[f64], most: f64) -> Vec<f64> {
    let along = random.below(2) == 0;
    let mut values = Vec::new();
    for _ in 0..classes {
        let weight = random.between(-1.0, 1.0);
        let row = vector(random, 1.0);
        values.extend((0..FEATURES).map(|i| if along { weight * features[i] } else { row[i] }));
    }
    let share = if random.below(2) == 0 { 1.0 } else { random.between(0.0, 1.0) };
    let factor = share * most * (1.0 - 1e-15) / length(&values);
    values.iter().map(|value| value * factor).collect()
}
