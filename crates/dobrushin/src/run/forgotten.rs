//! Records that were deleted after training, and the clean steps that followed.

use super::training::{Divisor, Order, Record, Release, Training};
use super::{Fact, RunError};
use crate::mechanism::Neighbours;

/// One request: `records` records are deleted, then `steps` clean steps are made on what remains.
///
/// A deleted record leaves an empty slot, which contributes the gradient 0: samplers still draw among all slots, and the
/// divisor stays what it was. The claim is that the last iterate is as if the slots of all deleted records had been
/// empty from the first step on.
///
/// ```
/// use dobrushin::run::Forgotten;
/// use dobrushin::{Neighbours, Release, Run};
///
/// let run = Run::gradient_descent(1000).steps(100).clip_norm(1.0).noise_multiplier(10.0).release(Release::Last);
/// let run = run.neighbours(Neighbours::ZeroOut).forget(1, 20).forget(5, 30).build()?;
/// let requests = run.as_training().map(|training| training.forgetting.as_slice());
/// assert_eq!(requests, Some([Forgotten { records: 1, steps: 20 }, Forgotten { records: 5, steps: 30 }].as_slice()));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The number of records that are deleted.
    pub records: u64,
    /// The number of steps on the remaining records that follow.
    pub steps: u64,
}

impl Training {
    /// The number of clean steps, of all requests.
    ///
    /// ```
    /// use dobrushin::run::Training;
    /// use dobrushin::{Neighbours, Release, Run};
    ///
    /// let run = Run::gradient_descent(1000).steps(100).clip_norm(1.0).noise_multiplier(10.0).release(Release::Last);
    /// let run = run.neighbours(Neighbours::ZeroOut).forget(1, 20).forget(5, 30).build()?;
    /// assert_eq!(run.as_training().map(Training::clean_steps), Some(50));
    /// assert_eq!(run.as_training().map(Training::deleted_records), Some(6));
    /// # Ok::<(), dobrushin::RunError>(())
    /// ```
    pub fn clean_steps(&self) -> u64 {
        self.forgetting.iter().map(|request| request.steps).fold(0, u64::saturating_add)
    }

    /// The number of records that are deleted, by all requests.
    pub fn deleted_records(&self) -> u64 {
        self.forgetting.iter().map(|request| request.records).fold(0, u64::saturating_add)
    }

    /// Refuses requests whose claim is not covered.
    pub(super) fn check_forgetting(&self, most: u64) -> Result<(), RunError> {
        if self.forgetting.is_empty() {
            return Ok(());
        }
        let zero = "is 0, but it must be 1 or more";
        if self.forgetting.iter().any(|request| request.records == 0) {
            return Err(RunError::new(Fact::ForgetRecords, zero, "records = 1"));
        }
        if self.forgetting.iter().any(|request| request.steps == 0) {
            return Err(RunError::new(Fact::ForgetSteps, zero, "steps = 100"));
        }
        let deleted = self.deleted_records();
        if deleted >= self.records {
            let message =
                format!("is {deleted} in all, but at least one of the {} records must remain", self.records);
            return Err(
                RunError::new(Fact::ForgetRecords, message, "delete fewer records").against(Fact::Records)
            );
        }
        if self.clean_steps() > most {
            let message = format!("is {} in all, but it must be at most {most}", self.clean_steps());
            return Err(RunError::new(Fact::ForgetSteps, message, "a smaller number"));
        }
        let refuse = |fact: Fact, message: &str, help: &str| {
            Err(RunError::new(fact, message, help).against(Fact::ForgetSteps))
        };
        if self.neighbours != Neighbours::ZeroOut {
            return refuse(
                Fact::Neighbours,
                "must be \"zero-out\" with [forget]: a deleted record leaves an empty slot",
                "neighbours = \"zero-out\"",
            );
        }
        if self.order == Order::Allocation {
            return refuse(
                Fact::Order,
                "is \"allocation\", which [forget] does not cover: a request may come in the middle of a pass, whose places would \
                 have to be kept",
                "order = \"poisson\" or \"without-replacement\"",
            );
        }
        if self.divide_by != Divisor::BatchSize {
            return refuse(
                Fact::DivideBy,
                "must be \"batch-size\" with [forget]: the divisor must not depend on who was deleted",
                "divide-by = \"batch-size\"",
            );
        }
        if self.release != Release::Last {
            return refuse(
                Fact::Release,
                "must be \"last\" with [forget]: an iterate that was released before the request stays released",
                "release = \"last\"",
            );
        }
        if self.record != Record::Worst {
            return refuse(
                Fact::Record,
                "must be \"worst\" with [forget]: the claim is for whichever records are deleted",
                "record = \"worst\"",
            );
        }
        if self.public_steps > 0 {
            return refuse(
                Fact::PublicSteps,
                "cannot be given with [forget]: the steps after a request use the remaining records",
                "public-steps = 0",
            );
        }
        if self.tasks > 1 {
            return refuse(
                Fact::Tasks,
                "must be 1 with [forget]: each model forgets by itself",
                "tasks = 1; account for each model in turn",
            );
        }
        if self.centre.is_some() {
            return refuse(
                Fact::CentreNoise,
                "cannot be given with [forget]: a mean that was taken before the request would remember the record",
                "leave [centre] out",
            );
        }
        if self.evaluation.is_some() {
            return refuse(
                Fact::EvaluationNoise,
                "cannot be given with [forget]: an evaluation on the records is not part of the claim",
                "leave [evaluation] out",
            );
        }
        Ok(())
    }
}
