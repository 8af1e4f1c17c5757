//! Training that goes on after records were deleted.
//!
//! Training makes T steps on all records. Then some records are deleted, and *clean* steps follow, which use only the
//! records that remain. A deleted record keeps its place: it is drawn as before, and contributes nothing. So the clean
//! steps are steps T + 1, T + 2, … of the same run, on a table in which the deleted records are empty.
//!
//! # Guarantee
//! Let D′ be the table in which all deleted records are empty from the start. The law of the clean steps, given the
//! iterate that they start from, is that of the same steps of the run on D′. So the release differs from that of the run on
//! D′ only by the iterate that was kept, and the account of the plan bounds what is left of that difference.

use crate::descent::{Gradients, Released};
use crate::{Generators, Plan, Records, Table, TrainError};
use dobrushin::run::Training;

/// Where training stopped, and all that it takes to go on from there. **It is secret**: it is not rounded as a release
/// is, and each further thing that is published of the same records costs privacy again.
///
/// It has no `Debug`, so that it is written to one file, on purpose, and nowhere else.
///
/// ```
/// use dobrushin::mechanism::Neighbours;
/// use dobrushin::{Order, Positive, Release, Run};
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Description, Generators, Model, Plan, Seed, Table, Target};
///
/// let run = Run::dp_sgd(4).order(Order::Cyclic).batch_size(2).steps(10).release(Release::Last);
/// let run = run.learning_rate(0.1).clip_norm(1.0).noise_multiplier(3.0).neighbours(Neighbours::ZeroOut);
/// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let plan = |run: Run| {
///     Plan::new(Description {
///         training: run.as_training().expect("it is an iteration").clone(),
///         model: Model::Linear { loss: Logistic.into(), features: 1 },
///         bounds,
///         projection: None,
///         loss_bound: Positive::new(1.0).expect("above 0"),
///     })
/// };
/// let mut table = Table::new(bounds, 1);
/// for class in [0.0, 1.0, 0.0, 1.0] {
///     table.push(&[2.0 * class - 1.0], &[class]);
/// }
/// // A known seed is for tests.
/// let generators = Generators::new(Seed::Known(1))?;
/// let (_, kept) = plan(run.clone().build()?)?.train_and_keep(&mut table, &generators, &mut || {})?;
/// assert_eq!(kept.steps, 10);
/// // The third record asks to be deleted: five steps follow without it.
/// let deleting = plan(run.forget(1, 5).build()?)?;
/// let (released, kept) = deleting.forget(&kept, &mut table, &[2], &generators, &mut || {})?;
/// assert!(kept.steps == 15 && released.parameters[0].len() == 1);
/// // It is gone from the table, too.
/// assert!(table.features(2) == [0.0] && table.target(2, 0).is_nan());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Kept {
    /// The last iterate, with all of its digits.
    pub iterate: Vec<f64>,
    /// The number of steps that were made.
    pub steps: u64,
    /// The least noise of these steps.
    pub least_noise: f64,
    /// How much randomness it took to draw the records of these steps, in units of 32 bits. With the same known seed,
    /// training goes on as if it had never stopped; with another, this has no meaning.
    pub drawn: u64,
    /// All records in the random order of the pass that is under way, if the run uses one.
    pub order: Vec<u32>,
}

impl Plan {
    /// Carries out the plan, and also returns what it takes to go on after records were deleted.
    ///
    /// # Errors
    /// [`TrainError`]; then nothing is released.
    pub fn train_and_keep(
        &self,
        records: &mut dyn Records,
        generators: &Generators,
        progress: &mut (dyn FnMut() + Send),
    ) -> Result<(Released, Kept), TrainError> {
        self.train_one(records, generators, progress, None)
    }

    /// Empties the deleted records and goes on with the steps of the plan's last request. `deleted` has the places of all
    /// records that were ever deleted, counted from 0; their rows in the table are never read. `progress` is called after
    /// every step.
    ///
    /// # Errors
    /// [`TrainError`]; then nothing is released.
    pub fn forget(
        &self,
        kept: &Kept,
        table: &mut Table,
        deleted: &[u32],
        generators: &Generators,
        progress: &mut (dyn FnMut() + Send),
    ) -> Result<(Released, Kept), TrainError> {
        self.check_kept(kept, deleted)?;
        if table.len() as u64 != self.training().records {
            let planned = format!("{} records", self.training().records);
            return Err(TrainError::OtherRecords { planned, found: table.len().to_string() });
        }
        deleted.iter().for_each(|&record| table.empty(record as usize));
        self.train_one(table, generators, progress, Some(kept))
    }

    /// The only task.
    fn train_one(
        &self,
        records: &mut dyn Records,
        generators: &Generators,
        progress: &mut (dyn FnMut() + Send),
        from: Option<&Kept>,
    ) -> Result<(Released, Kept), TrainError> {
        if self.training().tasks != 1 || self.training().centre.is_some() {
            return Err(TrainError::OtherState("only a run of one task, without a private mean, can go on"));
        }
        let gradients = &mut Gradients::Own(&mut |_, _, _| ());
        let (released, mut stopped) = self.train_by(records, None, generators, progress, gradients, from)?;
        match stopped.pop() {
            Some(kept) => Ok((released, kept)),
            None => Err(TrainError::OtherState("nothing was trained")),
        }
    }

    /// Refuses a plan that deletes records where training begins from the start.
    pub(crate) fn refuse_deletions(&self) -> Result<(), TrainError> {
        if self.training().forgetting.is_empty() { Ok(()) } else { Err(TrainError::Deletes) }
    }

    /// Refuses what is not where the steps of the last request begin, or not of this plan.
    fn check_kept(&self, kept: &Kept, deleted: &[u32]) -> Result<(), TrainError> {
        let training = self.training();
        let refuse = |why| Err(TrainError::OtherState(why));
        let Some(request) = training.forgetting.last() else {
            return refuse("the plan deletes no records");
        };
        if kept.iterate.len() != self.model.parameters() || !kept.iterate.iter().all(|w| w.is_finite()) {
            return refuse("the iterate is not one of its model");
        }
        if kept.steps.checked_add(request.steps) != Some(all_steps(training)) {
            return refuse("another number of steps was made");
        }
        if kept.least_noise.is_nan() || kept.least_noise <= 0.0 {
            return refuse("the noise of the steps before is not above 0");
        }
        let is_place = |&record: &u32| u64::from(record) < training.records;
        let counted = training.deleted_records();
        let mut places = deleted.to_vec();
        places.sort_unstable();
        places.dedup();
        if places.len() != deleted.len() || !places.iter().all(is_place) || places.len() as u64 > counted {
            return refuse("the deleted records are not those that it counts");
        }
        let mut order = kept.order.clone();
        order.sort_unstable();
        if !order.is_empty() && !order.iter().copied().map(u64::from).eq(0..training.records) {
            return refuse("the order of the records is not one of all of them");
        }
        Ok(())
    }
}

/// The number of all steps, those on public records and the clean ones included.
pub(crate) fn all_steps(training: &Training) -> u64 {
    let further = training.public_steps.saturating_add(training.clean_steps());
    training.steps().unwrap_or(0).saturating_add(further)
}
