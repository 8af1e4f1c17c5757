//! Compares with gradients that are computed one by one, in f64.

use super::Sum;
use crate::loss::{self, Logistic, Squared};
use crate::{Bounds, Model, Table, Target};
use dobrushin::Positive;
use dobrushin::numeric::Random;

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

fn normals(random: &mut Random, count: usize, scale: f64) -> Vec<f64> {
    (0..count).map(|_| scale * (0..12).map(|_| random.between(-0.5, 0.5)).sum::<f64>()).collect()
}

fn features(model: &Model) -> usize {
    match model {
        Model::Linear { features, .. }
        | Model::Softmax { features, .. }
        | Model::Network { features, .. } => *features,
    }
}

/// Records of two tasks; every eleventh is empty.
fn table(model: &Model, count: usize, random: &mut Random) -> Table {
    let target = match model {
        Model::Linear { loss, .. } => {
            let targets = [(-2.0, 2.0), (0.0, 9.0)].map(|(lower, upper)| Target::Range { lower, upper });
            let fits = |target: &Target| loss.as_score_loss().check(*target).is_ok();
            targets.into_iter().find(fits).unwrap_or(Target::Classes(2))
        }
        Model::Softmax { classes, .. } | Model::Network { classes, .. } => Target::Classes(*classes),
    };
    let dimension = features(model);
    let mut table = Table::new(Bounds { dimension, norm: positive(3.0), target }, 2);
    for record in 0..count {
        if record % 11 == 7 {
            table.push_empty();
            continue;
        }
        let scale = random.between(0.1, 2.0) / (dimension as f64).sqrt();
        let row: Vec<f32> = normals(random, dimension, scale).iter().map(|&x| x as f32).collect();
        let targets = [0, 1].map(|_| match target {
            Target::Range { lower, upper } => random.between(lower, upper) as f32,
            Target::Classes(classes) => random.between(0.0, classes as f64).floor() as f32,
        });
        table.push(&row, &targets);
    }
    table
}

/// One gradient, by the textbook chain rule.
fn gradient(model: &Model, parameters: &[f64], row: &[f64], target: f64) -> Vec<f64> {
    let dot = |w: &[f64], x: &[f64]| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    let softmax = |scores: &[f64]| {
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exponentials: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
        let total: f64 = exponentials.iter().sum();
        let entry = |(class, e)| e / total - if class as f64 == target { 1.0 } else { 0.0 };
        exponentials.iter().enumerate().map(entry).collect::<Vec<f64>>()
    };
    let outer =
        |c: &[f64], x: &[f64]| c.iter().flat_map(|c| x.iter().map(move |x| c * x)).collect::<Vec<f64>>();
    match model {
        Model::Linear { loss, .. } => {
            let derivative = loss.derivative(dot(parameters, row), target, dot(row, row).sqrt());
            outer(&[derivative], row)
        }
        Model::Softmax { features, .. } => {
            let scores: Vec<f64> = parameters.chunks(*features).map(|w| dot(w, row)).collect();
            outer(&softmax(&scores), row)
        }
        Model::Network { hidden, classes, features } => {
            let (mut entering, mut weights) = (vec![row.to_vec()], Vec::new());
            let (mut inputs, mut rest) = (*features, parameters);
            let mut out = Vec::new();
            for (index, &units) in hidden.iter().chain([classes]).enumerate() {
                let (w, others) = rest.split_at(units * inputs);
                let (offsets, others) = others.split_at(units);
                let a = entering.last().expect("a layer");
                out = w.chunks(inputs).zip(offsets).map(|(w, offset)| dot(w, a) + offset).collect();
                if index < hidden.len() {
                    entering.push(out.iter().map(|&z: &f64| if z < 0.0 { 0.0 } else { z }).collect());
                }
                weights.push(w);
                (inputs, rest) = (units, others);
            }
            let (mut delta, mut layers) = (softmax(&out), Vec::new());
            for (w, a) in weights.iter().zip(&entering).rev() {
                layers.push([outer(&delta, a), delta.clone()].concat());
                let back = |i: usize| delta.iter().zip(w.chunks(a.len())).map(|(d, w)| d * w[i]).sum::<f64>();
                delta = (0..a.len()).map(|i| if a[i] > 0.0 { back(i) } else { 0.0 }).collect();
            }
            layers.into_iter().rev().flatten().collect()
        }
    }
}

/// The sum, and the sum of the norms of its terms.
fn naive(
    model: &Model,
    parameters: &[f64],
    table: &Table,
    task: usize,
    records: &[u32],
    clip: Option<f64>,
) -> (Vec<f64>, f64) {
    // The weights are rounded to f32, as in the sum.
    let parameters: Vec<f64> = parameters.iter().map(|&w| f64::from(w as f32)).collect();
    let (mut sum, mut size) = (vec![0.0; parameters.len()], 0.0);
    for &record in records {
        let target = f64::from(table.target(record as usize, task));
        if target.is_nan() {
            continue;
        }
        let row: Vec<f64> = table.features(record as usize).iter().map(|&x| f64::from(x)).collect();
        let gradient = gradient(model, &parameters, &row, target);
        let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let factor = clip.map_or(1.0, |clip| (clip / norm).min(1.0));
        if gradient.iter().all(|g| g.is_finite()) {
            sum.iter_mut().zip(&gradient).for_each(|(sum, g)| *sum += factor * g);
            size += factor * norm;
        }
    }
    (sum, size)
}

fn models() -> Vec<Model> {
    let losses = loss::tests::every(0.3, 0.7).into_iter();
    let mut models: Vec<Model> = losses.map(|loss| Model::Linear { loss, features: 21 }).collect();
    for features in [1, 2, 15, 16, 17, 63, 64, 100, 1100] {
        models.push(Model::Linear { loss: Logistic.into(), features });
    }
    for (classes, features) in [(1, 3), (2, 1), (3, 33), (4, 40), (5, 7), (6, 64), (10, 100), (13, 17)] {
        models.push(Model::Softmax { classes, features });
    }
    for (hidden, classes, features) in
        [(&[1][..], 2, 1), (&[5], 3, 4), (&[70], 10, 20), (&[7, 9], 4, 11), (&[30, 1, 8], 2, 17)]
    {
        models.push(Model::Network { hidden: hidden.to_vec(), classes, features });
    }
    models
}

/// Relative to the sum of the norms of the contributions. The additions lose at most 4·10⁻⁶, as [`Sum`] says, and the
/// norm of a clipped record is rounded up by at most 2·10⁻⁶; the rest is for the scores. All this is the worst case:
/// independent roundings lose a tenth of it.
const TOLERANCE: f64 = 1e-5;

#[track_caller]
fn assert_close(model: &Model, computed: &[f64], (exact, size): &(Vec<f64>, f64)) {
    assert_eq!(computed.len(), exact.len());
    let squares = computed.iter().zip(exact).map(|(&c, e)| (c - e).powi(2));
    let error = squares.sum::<f64>().sqrt();
    assert!(error <= TOLERANCE * size, "{model:?}: {error:e} of {size:e}");
}

#[test]
fn sums_are_those_of_gradients_that_are_written_down() {
    let mut random = Random::new(1);
    for model in models() {
        let table = table(&model, 200, &mut random);
        let parameters = normals(&mut random, model.parameters(), 0.7);
        let mut sum = Sum::new(&model);
        for count in [0, 1, 2, 7, 63, 64, 65, 128, 300, 1024, 1025] {
            if count > 300 && model.parameters() > 200 {
                continue;
            }
            // Records may repeat, and must where there are more of them than in the table.
            let records: Vec<u32> = (0..count).map(|_| random.between(0.0, 200.0) as u32).collect();
            for clip in [None, Some(1e-3), Some(0.5), Some(1e6)] {
                let task = count % 2;
                let computed = sum.of(&model, &parameters, &table, task, &records, clip);
                assert_close(&model, computed, &naive(&model, &parameters, &table, task, &records, clip));
            }
        }
    }
}

#[test]
fn one_record_contributes_no_more_than_the_clip() {
    let mut random = Random::new(2);
    for model in models() {
        let table = table(&model, 100, &mut random);
        let parameters = normals(&mut random, model.parameters(), 0.7);
        let mut sum = Sum::new(&model);
        for clip in [1e-6, 1e-3, 0.1, 0.7] {
            for record in 0..100 {
                let alone = sum.of(&model, &parameters, &table, 0, &[record], Some(clip));
                let norm = alone.iter().map(|&g| g.powi(2)).sum::<f64>().sqrt();
                // The added term is rounded once more, which does not belong to the contribution of the record alone.
                assert!(norm <= clip * (1.0 + 1.0 / (1 << 24) as f64), "{model:?}: {norm} above {clip}");
            }
        }
    }
}

#[test]
fn empty_records_contribute_nothing_not_even_to_offsets() {
    let mut random = Random::new(3);
    for model in models() {
        let table = table(&model, 30, &mut random);
        let parameters = normals(&mut random, model.parameters(), 0.7);
        let mut sum = Sum::new(&model);
        for clip in [None, Some(0.1)] {
            let computed = sum.of(&model, &parameters, &table, 0, &[7, 18, 29, 7], clip);
            assert!(computed.iter().all(|&g| g == 0.0), "{model:?}");
        }
    }
}

#[test]
fn no_weight_makes_a_sum_that_is_no_number() {
    let mut random = Random::new(4);
    for model in models() {
        let table = table(&model, 100, &mut random);
        let mut sum = Sum::new(&model);
        let records: Vec<u32> = (0..100).collect();
        for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, -1e38, 1e30] {
            for clip in [None, Some(0.5)] {
                for place in [0, model.parameters() / 2, model.parameters() - 1] {
                    let mut parameters = normals(&mut random, model.parameters(), 0.7);
                    parameters[place] = bad;
                    let computed = sum.of(&model, &parameters, &table, 0, &records, clip);
                    assert!(computed.iter().all(|g| g.is_finite()), "{model:?} with {bad} at {place}");
                    // It is in everybody's scores, even where a rectified unit could hide it.
                    let nothing = computed.iter().all(|&g| g == 0.0);
                    assert!(nothing || !bad.is_nan(), "{model:?} with {bad} at {place}");
                }
                let parameters = vec![bad; model.parameters()];
                let computed = sum.of(&model, &parameters, &table, 0, &records, clip);
                assert!(computed.iter().all(|g| g.is_finite()), "{model:?} with {bad} everywhere");
            }
        }
        // Nothing of it remains for the next sum.
        let parameters = normals(&mut random, model.parameters(), 0.7);
        let computed = sum.of(&model, &parameters, &table, 0, &records, Some(0.5));
        assert_close(&model, computed, &naive(&model, &parameters, &table, 0, &records, Some(0.5)));
    }
}

#[test]
fn a_record_that_is_no_number_leaves_those_of_the_others_alone() {
    // An infinite weight makes the scores infinite for records that have the feature, and NaN for the others.
    let model = Model::Network { hidden: vec![4], classes: 3, features: 2 };
    let bounds = Bounds { dimension: 2, norm: positive(1.0), target: Target::Classes(3) };
    let mut table = Table::new(bounds, 1);
    for record in 0..40 {
        table.push(&[if record % 2 == 0 { 0.5 } else { 1e-30 }, 0.1], &[(record % 3) as f32]);
    }
    let mut parameters = normals(&mut Random::new(5), model.parameters(), 0.7);
    parameters[0] = 1e30;
    let (all, odd): (Vec<u32>, Vec<u32>) = ((0..40).collect(), (0..40).filter(|r| r % 2 == 1).collect());
    let mut sum = Sum::new(&model);
    let alone = naive(&model, &parameters, &table, 0, &odd, None);
    assert!(alone.1 > 1.0);
    assert_close(&model, sum.of(&model, &parameters, &table, 0, &all, None), &alone);
}

#[test]
fn rows_whose_squares_overflow_or_vanish_are_clipped_as_any_other() {
    for scale in [1e-30_f32, 1e-21, 1e-5, 1e15, 1e25] {
        let model = Model::Linear { loss: Squared.into(), features: 40 };
        let target = Target::Range { lower: -1e30, upper: 1e30 };
        let bounds = Bounds { dimension: 40, norm: positive(1e30), target };
        let mut table = Table::new(bounds, 1);
        table.push(&[scale; 40], &[1e30]);
        let parameters = vec![0.0; 40];
        let computed = Sum::new(&model).of(&model, &parameters, &table, 0, &[0], Some(0.01)).to_vec();
        assert_close(&model, &computed, &naive(&model, &parameters, &table, 0, &[0], Some(0.01)));
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let mut random = Random::new(6);
    for (model, count) in [
        (Model::Linear { loss: Logistic.into(), features: 1000 }, 1500),
        (Model::Softmax { classes: 10, features: 100 }, 1500),
        (Model::Network { hidden: vec![150, 70], classes: 10, features: 100 }, 1500),
        (Model::Network { hidden: vec![150], classes: 10, features: 100 }, 531),
    ] {
        let table = table(&model, 300, &mut random);
        let parameters = normals(&mut random, model.parameters(), 0.3);
        let records: Vec<u32> = (0..count).map(|_| random.between(0.0, 300.0) as u32).collect();
        let sums = [1, 2, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| Sum::new(&model).of(&model, &parameters, &table, 0, &records, Some(0.3)).to_vec())
        });
        let bits = sums.map(|sum| sum.iter().map(|g| g.to_bits()).collect::<Vec<u64>>());
        assert!(bits[0] == bits[1] && bits[0] == bits[2], "{model:?}");
        assert!(bits[0].iter().any(|&bits| bits != 0));
    }
}
