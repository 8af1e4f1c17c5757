//! Many canaries in one run (Steinke, Nasr, Jagielski 2023).

use super::attack::with_room;
use super::keep::starting_at_zero;
use super::uses::Uses;
use crate::Canaries;
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::bits::RandomBits;
use dobrushin_train::{Canary, Crafted, Generators, Plan, Seed, Table, TrainError};
use std::borrow::Cow;

/// Crafted gradients are this much longer than the clip.
const LENGTH: f64 = 10.0;

/// Canaries in one run, each of which a coin includes or not. Each pushes a coordinate of its own, and all other records have
/// constant losses, so that nothing else moves these coordinates.
///
/// A canary that is not included is absent, empty, or replaced by its opposite, as the run's neighbours are. Each coin
/// changes one record, so [`crate::one_run`] holds for each of these.
///
/// ```
/// use dobrushin::mechanism::Neighbours;
/// use dobrushin::{Positive, Release, Run};
/// use dobrushin_audit::trained::CanaryAttack;
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Description, Model, Plan, Table, Target};
///
/// let run = Run::gradient_descent(8).steps(1).release(Release::Last).neighbours(Neighbours::ZeroOut);
/// let run = run.learning_rate(1.0).clip_norm(1.0).noise_multiplier(0.01).build()?;
/// let bounds = Bounds { dimension: 8, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let plan = Plan::new(Description {
///     training: run.as_training().ok_or("it is an iteration")?.clone(),
///     model: Model::Linear { loss: Logistic.into(), features: 8 },
///     bounds,
///     projection: None,
///     loss_bound: Positive::new(1.0)?,
/// })?;
/// let mut table = Table::new(bounds, 1);
/// (0..8).for_each(|_| table.push_empty());
/// let run = CanaryAttack::new(&plan, &table, 8).train(&plan, None, 1)?;
/// // With little noise, the release tells which were there.
/// let threshold = 1.0 / 16.0;
/// assert!(run.included.iter().zip(&run.scores).all(|(&included, &score)| included == (score > threshold)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CanaryAttack<'a> {
    table: Cow<'a, Table>,
    /// The coordinate of each canary.
    places: Vec<usize>,
    /// The first of their records; the others precede it, and appended ones follow it.
    record: u32,
    neighbours: Neighbours,
    length: f64,
}

impl<'a> CanaryAttack<'a> {
    /// At most this many canaries: there are no more than parameters that start at 0, and than records.
    pub fn new(plan: &Plan, table: &'a Table, wanted: usize) -> Self {
        let training = plan.training();
        let mut places = starting_at_zero(plan.model());
        if training.centre.is_some() {
            // The intercept, the last feature, makes up for the mean in the end.
            let features = plan.bounds().dimension.max(1);
            places.retain(|place| (place + 1) % features != 0);
        }
        places.truncate(wanted.min(table.len()));
        let table = with_room(table, places.len(), training.neighbours);
        Self {
            places,
            record: Uses::new(training, &table).record,
            table,
            neighbours: training.neighbours,
            length: LENGTH * training.contribution.map_or(1.0, |contribution| contribution.norm().get()),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Tosses the coins, trains one model and scores every canary.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn train(&self, plan: &Plan, public: Option<&Table>, seed: u64) -> Result<Canaries, TrainError> {
        let generators =
            Generators::new(Seed::Known(seed)).map_err(|e| TrainError::Reading(e.to_string()))?;
        // Training numbers its streams from 0 upwards.
        let mut coins = generators.stream(u64::MAX);
        let included: Vec<bool> = self.places.iter().map(|_| coins.bits() >> 63 == 1).collect();
        let pushes: Vec<_> = self
            .places
            .iter()
            .zip(&included)
            .map(|(&place, &included)| {
                let sign = match (included, self.neighbours) {
                    (true, _) => -1.0,
                    (false, Neighbours::ReplaceOne) => 1.0,
                    (false, Neighbours::ZeroOut | Neighbours::AddOrRemoveOne) => 0.0,
                };
                let size = sign * self.length;
                move |_: u64, _: &[f64], gradient: &mut [f64]| gradient[place] = size
            })
            .collect();
        let mut table = Cow::Borrowed(&*self.table);
        let mut canaries = Vec::new();
        let count = table.len() as u64;
        let mut next = 0_u64;
        for (push, &included) in pushes.iter().zip(&included) {
            let record = match self.neighbours {
                Neighbours::AddOrRemoveOne if !included => continue,
                Neighbours::AddOrRemoveOne => {
                    table.to_mut().push_empty();
                    u64::from(self.record) + next
                }
                Neighbours::ReplaceOne | Neighbours::ZeroOut => {
                    (u64::from(self.record) + count - next % count.max(1)) % count.max(1)
                }
            };
            canaries.push(Canary { record: record as u32, gradient: push });
            next += 1;
        }
        let still = |_: u64, _: &[f64], _: &mut [f64]| ();
        let crafted = Crafted::new(canaries, Some(&still));
        let released = plan.train_with_crafted_gradients(&table, public, &generators, &crafted)?.parameters;
        let score = |&place: &usize| released.iter().map(|parameters| parameters[place]).sum();
        Ok(Canaries { scores: self.places.iter().map(score).collect(), included })
    }
}
