//! How good a model is on records that may be looked at.

use crate::{Model, Prediction, Table, Target};
use rayon::prelude::*;

/// How good a model is, on average over records.
///
/// It is as private as the records, because no noise protects it.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Model, Table, Target, evaluate};
///
/// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let mut table = Table::new(bounds, 1);
/// table.push(&[1.0], &[1.0]);
/// table.push(&[-1.0], &[1.0]);
/// // The score of the first is 1, of the second −1: one of the two classes is predicted.
/// let model = Model::Linear { loss: Logistic.into(), features: 1 };
/// let metrics = evaluate(&model, &[1.0], &table, 0);
/// assert_eq!((metrics.records, metrics.accuracy), (2, Some(0.5)));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// The number of records that were evaluated; empty ones were not.
    pub records: u64,
    /// The mean loss; NaN without records.
    pub loss: f64,
    /// The share of records whose class is predicted; `None` for numbers, and without records.
    pub accuracy: Option<f64>,
    /// The root mean squared difference between prediction and target; `None` for classes, and without records.
    pub root_mean_square: Option<f64>,
}

/// A block is one task of the pool. Sums are added block by block, so they never depend on the number of processors.
const BLOCK: usize = 512;

/// The metrics of a model that fits the bounds of the table (see [`Model::check`]), for the targets of one task.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin_train::loss::Squared;
/// use dobrushin_train::{Bounds, Model, Table, Target, evaluate};
///
/// let target = Target::Range { lower: -1.0, upper: 1.0 };
/// let mut table = Table::new(Bounds { dimension: 1, norm: Positive::new(1.0)?, target }, 1);
/// table.push(&[1.0], &[0.5]);
/// // The prediction is 0, half a unit off; the loss is (1/2)²/2.
/// let metrics = evaluate(&Model::Linear { loss: Squared.into(), features: 1 }, &[0.0], &table, 0);
/// assert_eq!((metrics.loss, metrics.root_mean_square), (0.125, Some(0.5)));
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn evaluate(model: &Model, parameters: &[f64], table: &Table, task: usize) -> Metrics {
    let blocks = table.len().div_ceil(BLOCK);
    let sums: Vec<Sums> = (0..blocks)
        .into_par_iter()
        .map(|block| {
            let records = block * BLOCK..((block + 1) * BLOCK).min(table.len());
            records.fold(Sums::default(), |sums, record| sums.with(model, parameters, table, record, task))
        })
        .collect();
    let total = sums.into_iter().fold(Sums::default(), Sums::plus);
    let mean = |sum: f64| sum / total.records as f64;
    let classes = matches!(table.bounds().target, Target::Classes(_));
    let some = total.records > 0;
    Metrics {
        records: total.records,
        loss: mean(total.loss),
        accuracy: (some && classes).then(|| mean(total.right as f64)),
        root_mean_square: (some && !classes).then(|| mean(total.squares).sqrt()),
    }
}

/// What a model makes of one record.
pub(crate) struct Judged {
    pub loss: f64,
    /// Whether its class is predicted.
    pub right: bool,
    /// The squared difference of prediction and target, for numbers.
    square: f64,
}

/// What a model makes of a record; `None` if the record is empty.
pub(crate) fn judged(
    model: &Model,
    parameters: &[f64],
    table: &Table,
    record: usize,
    task: usize,
) -> Option<Judged> {
    let (features, target) = (table.features(record), f64::from(table.target(record, task)));
    if target.is_nan() {
        return None;
    }
    let scores = model.scores(parameters, features);
    let norm = features.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    let loss = model.loss(&scores, target, norm);
    Some(match model.prediction(&scores) {
        Prediction::Value(value) => Judged { loss, right: false, square: (value - target).powi(2) },
        Prediction::Class { class, .. } => Judged { loss, right: class as f64 == target, square: 0.0 },
    })
}

/// Sums over records.
#[derive(Clone, Copy, Default)]
struct Sums {
    records: u64,
    loss: f64,
    /// The number of records whose class was predicted.
    right: u64,
    /// The sum of the squared differences of numbers.
    squares: f64,
}

impl Sums {
    fn with(mut self, model: &Model, parameters: &[f64], table: &Table, record: usize, task: usize) -> Self {
        let Some(judged) = judged(model, parameters, table, record, task) else {
            return self;
        };
        self.records += 1;
        self.loss += judged.loss;
        self.right += u64::from(judged.right);
        self.squares += judged.square;
        self
    }

    fn plus(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            loss: self.loss + other.loss,
            right: self.right + other.right,
            squares: self.squares + other.squares,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bounds;
    use crate::loss::{Hinge, Logistic, Loss, Poisson, Squared};
    use dobrushin::Positive;
    use dobrushin::numeric::Random;

    fn table(target: Target, records: usize) -> Table {
        let bounds = Bounds { dimension: 3, norm: Positive::new(2.0).expect("above 0"), target };
        let mut table = Table::new(bounds, 2);
        let mut random = Random::new(6);
        for record in 0..records {
            if record % 7 == 3 {
                table.push_empty();
                continue;
            }
            let row: [f32; 3] = std::array::from_fn(|_| random.between(-1.0, 1.0) as f32);
            let targets: [f32; 2] = std::array::from_fn(|_| match target {
                Target::Classes(count) => random.below(count) as f32,
                Target::Range { lower, upper } => random.between(lower, upper) as f32,
            });
            table.push(&row, &targets);
        }
        table
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12 * a.abs().max(1.0)
    }

    #[test]
    fn numbers_have_a_mean_loss_and_a_root_mean_square_over_records_that_are_not_empty() {
        let table = table(Target::Range { lower: 0.0, upper: 4.0 }, 3000);
        let parameters = [0.3, -0.7, 1.1];
        let kept: Vec<usize> = (0..3000).filter(|record| record % 7 != 3).collect();
        for task in 0..2 {
            let pairs: Vec<(f64, f64)> = kept
                .iter()
                .map(|&record| {
                    let x = table.features(record);
                    let score: f64 = (0..3).map(|i| parameters[i] * f64::from(x[i])).sum();
                    (score, f64::from(table.target(record, task)))
                })
                .collect();
            let mean = |of: &dyn Fn(f64, f64) -> f64| {
                pairs.iter().map(|&(z, y)| of(z, y)).sum::<f64>() / kept.len() as f64
            };
            let squared =
                evaluate(&Model::Linear { loss: Squared.into(), features: 3 }, &parameters, &table, task);
            assert_eq!((squared.records, squared.accuracy), (kept.len() as u64, None));
            assert!(close(squared.loss, mean(&|z, y| (z - y).powi(2) / 2.0)));
            assert!(close(squared.root_mean_square.expect("numbers"), (2.0 * squared.loss).sqrt()));
            let counts =
                evaluate(&Model::Linear { loss: Poisson.into(), features: 3 }, &parameters, &table, task);
            assert!(close(counts.loss, mean(&|z, y| z.exp() - y * z)));
            let root = mean(&|z, y| (z.exp() - y).powi(2)).sqrt();
            assert!(close(counts.root_mean_square.expect("numbers"), root));
        }
    }

    #[test]
    fn classes_have_an_accuracy() {
        let table = table(Target::Classes(3), 2000);
        let model = Model::Softmax { classes: 3, features: 3 };
        // All scores are 0, so class 0 is predicted for every record.
        let metrics = evaluate(&model, &[0.0; 9], &table, 1);
        let first = (0..2000).filter(|&record| table.target(record, 1) == 0.0).count();
        assert_eq!(metrics.accuracy, Some(first as f64 / metrics.records as f64));
        assert!(close(metrics.loss, 3.0_f64.ln()));
        assert_eq!(metrics.root_mean_square, None);
    }

    #[test]
    fn the_norm_of_the_features_reaches_smoothed_losses() {
        let table = table(Target::Classes(2), 50);
        let smoothing = Positive::new(0.5).expect("above 0");
        let loss = Loss::from(Hinge { smoothing });
        let metrics = evaluate(&Model::Linear { loss, features: 3 }, &[0.0; 3], &table, 0);
        let kept = (0..50).filter(|record| record % 7 != 3);
        let sum: f64 = kept
            .map(|record| {
                let square: f64 = table.features(record).iter().map(|&x| f64::from(x).powi(2)).sum();
                loss.value(0.0, 1.0, square.sqrt())
            })
            .sum();
        assert!(close(metrics.loss, sum / metrics.records as f64) && metrics.loss > 1.0);
    }

    #[test]
    fn metrics_do_not_depend_on_the_number_of_threads() {
        let table = table(Target::Range { lower: 0.0, upper: 4.0 }, 5000);
        let model = Model::Linear { loss: Poisson.into(), features: 3 };
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| evaluate(&model, &[0.3, -0.7, 1.1], &table, 0))
        };
        assert_eq!(with(1), with(4));
    }

    #[test]
    fn nothing_is_said_of_no_records() {
        let mut empty = table(Target::Classes(2), 0);
        empty.push_empty();
        let metrics = evaluate(&Model::Linear { loss: Logistic.into(), features: 3 }, &[0.0; 3], &empty, 0);
        assert_eq!((metrics.records, metrics.accuracy, metrics.root_mean_square), (0, None, None));
        assert!(metrics.loss.is_nan());
    }
}
