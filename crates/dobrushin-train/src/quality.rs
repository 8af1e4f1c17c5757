//! How good a model is beside somebody who answers without looking at a record.

use crate::{Model, Prediction, Table, Target};
use rayon::prelude::*;

/// What can be said about predictions on records that may be looked at.
///
/// It is as private as the records and the model, because no noise protects it.
#[derive(Clone, Debug, PartialEq)]
pub enum Quality {
    /// The targets are classes.
    Classes(ClassQuality),
    /// The targets are numbers.
    Numbers(NumberQuality),
}

/// How well classes are predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassQuality {
    /// For each class, how many of its records are predicted to be of which class.
    pub confusion: Vec<Vec<u64>>,
    /// The area under the receiver operating characteristic: the probability that a record of the second class has a
    /// larger score than one of the first, where equal scores count half. `None` unless there are two classes, and
    /// records of both.
    pub auc: Option<f64>,
    /// Whether the model predicts probabilities, so that its mean loss is the log loss.
    pub has_probabilities: bool,
}

/// How well numbers are predicted, in the units of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberQuality {
    /// The root mean squared error of the mean of the records, as an answer for all of them.
    pub baseline: f64,
    /// The share of the variance that the predictions explain, 1 − Σ(y − ŷ)²/Σ(y − ȳ)². `None` if all targets are equal.
    pub r_squared: Option<f64>,
}

impl ClassQuality {
    /// The most frequent class of the records, the first of them if there are several, and its share.
    pub fn baseline(&self) -> (usize, f64) {
        let counts: Vec<u64> = self.confusion.iter().map(|row| row.iter().sum()).collect();
        let most =
            (0..counts.len()).fold(0, |best, class| if counts[class] > counts[best] { class } else { best });
        (most, counts[most] as f64 / counts.iter().sum::<u64>() as f64)
    }

    /// The share of the records predicted to be of a class that are of it; `None` if there are none.
    pub fn precision(&self, class: usize) -> Option<f64> {
        share(self.confusion[class][class], self.confusion.iter().map(|row| row[class]).sum())
    }

    /// The share of the records of a class that are predicted to be of it; `None` if there are none.
    pub fn recall(&self, class: usize) -> Option<f64> {
        share(self.confusion[class][class], self.confusion[class].iter().sum())
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The quality of a model that fits the bounds of the table (see [`Model::check`]), for the targets of one task; empty
/// records do not count. `None` if there are no others.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Model, Quality, Table, Target, quality};
///
/// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let mut table = Table::new(bounds, 1);
/// for (feature, class) in [(-1.0, 0.0), (-0.5, 1.0), (0.5, 0.0), (1.0, 1.0)] {
///     table.push(&[feature], &[class]);
/// }
/// let model = Model::Linear { loss: Logistic.into(), features: 1 };
/// let Some(Quality::Classes(found)) = quality(&model, &[1.0], &table, 0) else { panic!("classes") };
/// // Of the four pairs of a record of each class, three are in the right order.
/// assert_eq!((found.auc, found.confusion), (Some(0.75), vec![vec![1, 1], vec![1, 1]]));
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn quality(model: &Model, parameters: &[f64], table: &Table, task: usize) -> Option<Quality> {
    let records = (0..table.len()).into_par_iter().filter_map(|record| {
        let target = f64::from(table.target(record, task));
        (!target.is_nan()).then(|| (target, model.scores(parameters, table.features(record))))
    });
    let records: Vec<(f64, Vec<f64>)> = records.collect();
    let (_, first) = records.first()?;
    Some(match table.bounds().target {
        Target::Classes(count) => {
            let mut confusion = vec![vec![0; count]; count];
            for (target, scores) in &records {
                if let Prediction::Class { class, .. } = model.prediction(scores) {
                    confusion[*target as usize][class] += 1;
                }
            }
            let ordered = records.iter().map(|(target, scores)| (contrast(scores), *target == 1.0));
            let has_probabilities = matches!(model.prediction(first), Prediction::Class { probabilities, .. } if !probabilities.is_empty());
            let auc = (count == 2).then(|| area_under_curve(ordered.collect())).flatten();
            Quality::Classes(ClassQuality { confusion, auc, has_probabilities })
        }
        Target::Range { .. } => {
            let count = records.len() as f64;
            let mean = records.iter().map(|(target, _)| target).sum::<f64>() / count;
            let around: f64 = records.iter().map(|(target, _)| (target - mean).powi(2)).sum();
            let error = |(target, scores): &(f64, Vec<f64>)| match model.prediction(scores) {
                Prediction::Value(value) => target - value,
                Prediction::Class { class, .. } => target - class as f64,
            };
            let left: f64 = records.iter().map(|record| error(record).powi(2)).sum();
            let equal = records.iter().all(|(target, _)| *target == records[0].0);
            let r_squared = (!equal).then(|| 1.0 - left / around);
            Quality::Numbers(NumberQuality { baseline: (around / count).sqrt(), r_squared })
        }
    })
}

/// What orders records by how much they look like the second of two classes.
fn contrast(scores: &[f64]) -> f64 {
    match scores {
        [score] => *score,
        [first, second, ..] => second - first,
        [] => f64::NAN,
    }
}

/// The probability that a record of the class has a larger score than another one, where equal scores count half; each
/// record comes with its score and whether it is of the class. `None` if all are of one kind.
///
/// The pairs are counted in whole numbers, so the result is rounded only once.
fn area_under_curve(mut scored: Vec<(f64, bool)>) -> Option<f64> {
    scored.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (mut others_below, mut twice_in_order, mut members) = (0_u128, 0_u128, 0_u128);
    for equal in scored.chunk_by(|(a, _), (b, _)| a == b) {
        let inside = equal.iter().filter(|(_, is_member)| *is_member).count() as u128;
        let others = equal.len() as u128 - inside;
        twice_in_order += inside * (2 * others_below + others);
        others_below += others;
        members += inside;
    }
    let pairs = members * others_below;
    (pairs > 0).then(|| twice_in_order as f64 / (2 * pairs) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bounds;
    use crate::loss::{Hinge, Logistic, Squared};
    use dobrushin::Positive;
    use dobrushin::numeric::Random;

    #[test]
    fn the_area_under_the_curve_is_the_share_of_pairs_in_order() {
        for (scored, area) in [
            (vec![(0.1, false), (0.4, false), (0.35, true), (0.8, true)], Some(0.75)),
            (vec![(1.0, true), (0.0, false)], Some(1.0)),
            (vec![(0.0, true), (1.0, false)], Some(0.0)),
            (vec![(0.5, true), (0.5, false), (0.5, true)], Some(0.5)),
            (vec![(0.0, true), (-0.0, false)], Some(0.5)),
            (vec![(2.0, true), (1.0, true), (1.0, false), (0.0, false)], Some(0.875)),
            (vec![(f64::INFINITY, true), (f64::NEG_INFINITY, false)], Some(1.0)),
            (vec![(1.0, true)], None),
            (vec![], None),
        ] {
            assert_eq!(area_under_curve(scored.clone()), area, "{scored:?}");
        }
        // Many ties, against the count of all pairs.
        let mut random = Random::new(1);
        for _ in 0..50 {
            let scored: Vec<(f64, bool)> =
                (0..40).map(|_| (random.below(6) as f64, random.below(2) == 1)).collect();
            let (mut twice, mut pairs) = (0, 0);
            for (a, _) in scored.iter().filter(|(_, member)| *member) {
                for (b, _) in scored.iter().filter(|(_, member)| !*member) {
                    twice += if a > b { 2 } else { i32::from(a == b) };
                    pairs += 1;
                }
            }
            let expected = (pairs > 0).then(|| f64::from(twice) / f64::from(2 * pairs));
            assert_eq!(area_under_curve(scored), expected);
        }
    }

    fn table(target: Target, records: &[(f32, f32)]) -> Table {
        let mut table =
            Table::new(Bounds { dimension: 1, norm: Positive::new(2.0).expect("above 0"), target }, 1);
        records.iter().for_each(|(feature, target)| _ = table.push(&[*feature], &[*target]));
        table.push_empty();
        table
    }

    #[test]
    fn confusions_count_every_record_once() {
        let records =
            [(1.0, 1.0), (0.5, 1.0), (-1.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (-0.5, 0.0), (-0.25, 0.0)];
        let table = table(Target::Classes(2), &records);
        for (model, has_probabilities) in [
            (Model::Linear { loss: Logistic.into(), features: 1 }, true),
            (
                Model::Linear {
                    loss: Hinge { smoothing: Positive::new(0.5).expect("above 0") }.into(),
                    features: 1,
                },
                false,
            ),
        ] {
            let Some(Quality::Classes(found)) = quality(&model, &[1.0], &table, 0) else { panic!("classes") };
            assert_eq!(found.confusion, [[3, 1], [1, 2]]);
            assert_eq!(found.confusion.iter().flatten().sum::<u64>(), 7);
            assert_eq!(found.baseline(), (0, 4.0 / 7.0));
            assert_eq!((found.precision(0), found.recall(0)), (Some(0.75), Some(0.75)));
            assert_eq!((found.precision(1), found.recall(1)), (Some(2.0 / 3.0), Some(2.0 / 3.0)));
            // The pairs: 1 beats three of four and ties with one; 0.5 beats three; −1 ties with one.
            assert_eq!(found.auc, Some((3.5 + 3.0 + 0.5) / 12.0));
            assert_eq!(found.has_probabilities, has_probabilities);
        }
        // Two scores are compared like one.
        let softmax = Model::Softmax { classes: 2, features: 1 };
        let Some(Quality::Classes(found)) = quality(&softmax, &[-0.5, 0.5], &table, 0) else {
            panic!("classes")
        };
        assert_eq!((found.confusion, found.auc), (vec![vec![3, 1], vec![1, 2]], Some(7.0 / 12.0)));
    }

    #[test]
    fn of_several_classes_there_is_no_curve_and_a_class_may_never_be_predicted() {
        let table = table(Target::Classes(3), &[(1.0, 0.0), (1.0, 2.0), (1.0, 2.0)]);
        let model = Model::Softmax { classes: 3, features: 1 };
        let Some(Quality::Classes(found)) = quality(&model, &[1.0, 0.0, 0.0], &table, 0) else {
            panic!("classes")
        };
        assert_eq!(found.confusion, [[1, 0, 0], [0, 0, 0], [2, 0, 0]]);
        assert_eq!((found.auc, found.baseline()), (None, (2, 2.0 / 3.0)));
        assert_eq!((found.precision(0), found.precision(1), found.recall(1)), (Some(1.0 / 3.0), None, None));
    }

    #[test]
    fn numbers_are_compared_with_their_mean() {
        let range = Target::Range { lower: -2.0, upper: 2.0 };
        let model = Model::Linear { loss: Squared.into(), features: 1 };
        let of = |weight: f64, records: &[(f32, f32)]| quality(&model, &[weight], &table(range, records), 0);
        let records = [(-1.0, -1.0), (0.0, 0.0), (1.0, 1.0)];
        let baseline = (2.0_f64 / 3.0).sqrt();
        assert_eq!(
            of(1.0, &records),
            Some(Quality::Numbers(NumberQuality { baseline, r_squared: Some(1.0) }))
        );
        assert_eq!(
            of(0.0, &records),
            Some(Quality::Numbers(NumberQuality { baseline, r_squared: Some(0.0) }))
        );
        assert_eq!(
            of(-1.0, &records),
            Some(Quality::Numbers(NumberQuality { baseline, r_squared: Some(-3.0) }))
        );
        let equal = [(1.0, 0.1), (0.5, 0.1), (0.25, 0.1)];
        let Some(Quality::Numbers(found)) = of(1.0, &equal) else { panic!("numbers") };
        assert_eq!(found.r_squared, None);
        assert_eq!(of(1.0, &[]), None);
    }
}
