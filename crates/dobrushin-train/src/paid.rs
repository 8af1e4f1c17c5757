//! How good a model is on the private records, for a price.

use crate::evaluate::judged;
use crate::random::Streams;
use crate::{Plan, Records, Target, TrainError, digits, noise};
use dobrushin::run::Evaluation;

/// How good a model is on the records it was trained on, with noise; the guarantee of the run covers it.
///
/// ```
/// use dobrushin::{Order, Positive, Release, Run};
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Description, Generators, Model, Plan, Seed, Table, Target};
///
/// let run = Run::dp_sgd(4).order(Order::Cyclic).batch_size(2).steps(10).release(Release::Last);
/// let run = run.learning_rate(0.1).clip_norm(1.0).noise_multiplier(3.0).evaluation_noise(2.0).build()?;
/// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let plan = Plan::new(Description {
///     training: run.as_training().ok_or("it is an iteration")?.clone(),
///     model: Model::Linear { loss: Logistic.into(), features: 1 },
///     bounds,
///     projection: None,
///     loss_bound: Positive::new(1.0)?,
/// })?;
/// let mut table = Table::new(bounds, 1);
/// for class in [0.0, 1.0, 0.0, 1.0] {
///     table.push(&[2.0 * class - 1.0], &[class]);
/// }
/// let released = plan.train(&mut table, None, &Generators::new(Seed::Known(1))?, &mut || {})?;
/// // How much noise there is follows from the plan alone.
/// let metrics = released.evaluations.first().ok_or("the plan has an evaluation")?;
/// assert_eq!(plan.evaluation_deviations(), Some((metrics.accuracy_deviation, metrics.loss_deviation)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrivateMetrics {
    /// The share of records whose class is predicted; `None` for numbers.
    pub accuracy: Option<f64>,
    /// The standard deviation of its noise.
    pub accuracy_deviation: Option<f64>,
    /// The mean loss, with each record's loss clipped to [0, B].
    pub loss: f64,
    /// The standard deviation of its noise.
    pub loss_deviation: f64,
}

/// The number of records that are evaluated together.
const BLOCK: u32 = 4096;

impl Plan {
    /// The evaluation of one task's released parameters, if the plan has one.
    ///
    /// A record adds (right − ½, min(loss, B)/B − ½) to a sum, a vector of norm at most √½ or, for numbers, only the
    /// second coordinate, of norm ½; an empty record adds nothing. The noise in each coordinate is the multiplier times
    /// that norm, as [`dobrushin::run::Evaluation`] says.
    pub(crate) fn evaluated(
        &self,
        parameters: &[f64],
        task: usize,
        records: &mut dyn Records,
        streams: &mut Streams<'_>,
    ) -> Result<Option<PrivateMetrics>, TrainError> {
        let Some(evaluation) = self.training().evaluation else {
            return Ok(None);
        };
        let (classes, bound) = (matches!(self.bounds.target, Target::Classes(_)), self.loss_bound.get());
        let count = records.count() as u32;
        let (mut right, mut loss) = (0.0, 0.0);
        for from in (0..count).step_by(BLOCK as usize) {
            let wanted: Vec<u32> = (from..from.saturating_add(BLOCK).min(count)).collect();
            let (table, places) = self.bring(records, &wanted)?;
            for &place in places.iter() {
                if let Some(judged) = judged(&self.model, parameters, table, place as usize, task) {
                    right += f64::from(u8::from(judged.right)) - 0.5;
                    // NaN counts as the worst value.
                    let cut = if judged.loss.is_nan() { bound } else { judged.loss.clamp(0.0, bound) };
                    loss += cut / bound - 0.5;
                }
            }
        }
        let deviation = evaluation.noise_multiplier.get() * largest_part(classes);
        let mut noises = [0.0; 2];
        noise::gaussian(&mut streams.fresh(), &mut noises);
        let share =
            |sum: f64, noise: f64| digits::round(sum + deviation * noise, deviation) / f64::from(count) + 0.5;
        let (accuracy_deviation, loss_deviation) = self.deviations(evaluation, count);
        Ok(Some(PrivateMetrics {
            accuracy: classes.then(|| share(right, noises[0])),
            accuracy_deviation,
            loss: bound * share(loss, noises[1]),
            loss_deviation,
        }))
    }

    /// If the plan has an evaluation, the standard deviations of the noise in the accuracy (only for labels that are
    /// classes) and in the loss. They follow from the plan alone.
    pub fn evaluation_deviations(&self) -> Option<(Option<f64>, f64)> {
        let training = self.training();
        // The trainer also counts records in 32 bits.
        Some(self.deviations(training.evaluation?, u32::try_from(training.records).unwrap_or(u32::MAX)))
    }

    fn deviations(&self, evaluation: Evaluation, count: u32) -> (Option<f64>, f64) {
        let classes = matches!(self.bounds.target, Target::Classes(_));
        let spread = evaluation.noise_multiplier.get() * largest_part(classes) / f64::from(count);
        (classes.then_some(spread), self.loss_bound.get() * spread)
    }
}

/// The largest norm of what one record adds to the sums.
fn largest_part(classes: bool) -> f64 {
    if classes { 0.5_f64.sqrt() } else { 0.5 }
}
