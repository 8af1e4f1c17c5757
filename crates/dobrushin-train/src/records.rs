//! Where records come from.

use crate::{Bounds, Plan, Table};
use std::borrow::Cow;

/// Records that are brought into memory when a step needs them.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin_train::{Bounds, Records, Table, Target};
///
/// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let mut table = Table::new(bounds, 1);
/// table.push(&[0.5], &[1.0]);
/// table.push(&[-0.5], &[0.0]);
/// // A table has all of its records in memory.
/// let records: &mut dyn Records = &mut table;
/// assert!(records.count() == 2 && records.any_order());
/// let (table, places) = records.bring(&[1])?;
/// assert_eq!(table.features(places[0] as usize), [-0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Records: Send {
    /// The bounds that all records obey.
    fn bounds(&self) -> &Bounds;
    /// The number of targets of a record.
    fn tasks(&self) -> usize;
    /// The number of records.
    fn count(&self) -> u64;
    /// Whether they can be had in any order; otherwise they come one after the other, and from the first again at any
    /// time.
    fn any_order(&self) -> bool;
    /// A table, and where in it the wanted records are.
    ///
    /// # Errors
    /// What went wrong while reading, in words.
    fn bring<'a>(&'a mut self, wanted: &'a [u32]) -> Result<(&'a Table, Cow<'a, [u32]>), String>;
}

impl Records for Table {
    fn bounds(&self) -> &Bounds {
        Table::bounds(self)
    }

    fn tasks(&self) -> usize {
        Table::tasks(self)
    }

    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn any_order(&self) -> bool {
        true
    }

    fn bring<'a>(&'a mut self, wanted: &'a [u32]) -> Result<(&'a Table, Cow<'a, [u32]>), String> {
        Ok((self, Cow::Borrowed(wanted)))
    }
}

/// Several threads can share a table.
impl Records for &Table {
    fn bounds(&self) -> &Bounds {
        Table::bounds(self)
    }

    fn tasks(&self) -> usize {
        Table::tasks(self)
    }

    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn any_order(&self) -> bool {
        true
    }

    fn bring<'a>(&'a mut self, wanted: &'a [u32]) -> Result<(&'a Table, Cow<'a, [u32]>), String> {
        Ok((*self, Cow::Borrowed(wanted)))
    }
}

/// Why nothing is released.
///
/// ```
/// use dobrushin::{Order, Positive, Release, Run};
/// use dobrushin_train::loss::Logistic;
/// use dobrushin_train::{Bounds, Description, Generators, Model, Plan, Seed, Table, Target, TrainError};
///
/// let run = Run::dp_sgd(4).order(Order::Cyclic).batch_size(2).steps(10).release(Release::Last);
/// let run = run.learning_rate(0.1).clip_norm(1.0).noise_multiplier(3.0).build()?;
/// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
/// let plan = Plan::new(Description {
///     training: run.as_training().ok_or("it is an iteration")?.clone(),
///     model: Model::Linear { loss: Logistic.into(), features: 1 },
///     bounds,
///     projection: None,
///     loss_bound: Positive::new(1.0)?,
/// })?;
/// // The plan is for four records.
/// let generators = Generators::new(Seed::Known(1))?;
/// let refused = plan.train(&mut Table::new(bounds, 1), None, &generators, &mut || {});
/// assert!(matches!(refused, Err(TrainError::OtherRecords { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    /// The records are not those that the plan is for.
    #[error("the plan is for {planned}, but there are {found}")]
    OtherRecords {
        /// What the plan says.
        planned: String,
        /// What the records have.
        found: String,
    },
    /// Public steps need public records.
    #[error("the plan has public steps, but there are no public records")]
    NoPublicRecords,
    /// Records come only in the order of their file, and the plan needs another order.
    #[error("the records can be read in their order only, but the plan draws them at random")]
    AnyOrder,
    /// The rows can be centred only if all of them are at hand.
    #[error("[centre] subtracts a mean from all records before training, but they are not kept in memory")]
    NotInMemory,
    /// Reading failed.
    #[error("{0}")]
    Reading(String),
    /// The plan deletes records, so that it goes on from where training stopped.
    #[error("the plan deletes records, so that it does not begin from the start")]
    Deletes,
    /// What was kept does not belong to the plan.
    #[error("the plan cannot go on from what was kept: {0}")]
    OtherState(&'static str),
    /// The release would have infinite parameters.
    #[error("the parameters grew beyond all numbers")]
    Diverged,
}

impl Plan {
    /// The wanted records, in a table that obeys the bounds of the plan.
    pub(crate) fn bring<'a>(
        &self,
        records: &'a mut dyn Records,
        wanted: &'a [u32],
    ) -> Result<(&'a Table, Cow<'a, [u32]>), TrainError> {
        let (table, places) = records.bring(wanted).map_err(TrainError::Reading)?;
        let fits = table.bounds() == &self.bounds && table.tasks() as u64 == self.training().tasks;
        if !fits || places.len() != wanted.len() {
            let planned = format!("{} records within its bounds in a step", wanted.len());
            return Err(TrainError::OtherRecords { planned, found: "others".to_owned() });
        }
        Ok((table, places))
    }
}
