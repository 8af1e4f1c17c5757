//! Several runs on the same records, which may differ.

use super::{Fact, Order, Record, RunError, Training};

/// Several runs on the same records, all of which are released, and the record that is asked about.
///
/// Each run has its own noise and its own secrets; a later one may depend on what earlier ones released.
///
/// ```
/// use dobrushin::run::{Task, Tasks, Turn};
/// use dobrushin::{Delta, Question, Record, Release, Run};
///
/// let run = Run::pnsgd(1000).learning_rate(0.1).lipschitz(1.0).gradient_noise(4.0).release(Release::Last);
/// let training = run.convex().smoothness(1.0).training()?;
/// let there = Task { training, turn: Turn::forward(), count: 1 };
/// let back = Task { turn: Turn::backward(1000), ..there.clone() };
/// let epsilon = |tasks: [&Task; 2]| -> Result<f64, Box<dyn std::error::Error>> {
///     let run = Run::of_tasks(Tasks { tasks: tasks.map(Task::clone).to_vec(), record: Record::Worst })?;
///     Ok(run.account(Question::EpsilonAt(Delta::new(1e-5)?)).guarantee()?.epsilon())
/// };
/// // Nobody is the last one in both directions, so two runs cost hardly more than one.
/// assert!(epsilon([&there, &back])? < 0.75 * epsilon([&there, &there])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tasks {
    /// The runs.
    pub tasks: Vec<Task>,
    /// The record for which the guarantee holds, by its number among the records, which all tasks share.
    pub record: Record,
}

/// A run on the records, in an order of its own.
///
/// ```
/// use dobrushin::run::{Task, Tasks, Turn};
/// use dobrushin::{Fact, Record, Run};
///
/// let training = Run::gradient_descent(10).steps(5).noise_multiplier(2.0).training()?;
/// // A run that uses all records in each step has no place to begin at.
/// let task = Task { training, turn: Turn::backward(10), count: 1 };
/// let refused = Run::of_tasks(Tasks { tasks: vec![task], record: Record::Worst });
/// assert_eq!(refused.err().map(|error| error.fact), Some(Fact::TaskFirst));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The run.
    pub training: Training,
    /// Where a pass begins among the records, and its direction.
    pub turn: Turn,
    /// The number of such runs, all in this order.
    pub count: u64,
}

/// The order in which a pass takes the records.
///
/// ```
/// use dobrushin::run::Turn;
///
/// // Of ten records, a pass that begins with the eighth: 8, 9, 10, 1, 2, …; or backward: 8, 7, 6, ….
/// let places = |turn: Turn| [8, 9, 10, 1, 7].map(|record| turn.place(record, 10));
/// assert_eq!(places(Turn { first: 8, reversed: false }), [1, 2, 3, 4, 10]);
/// assert_eq!(places(Turn { first: 8, reversed: true }), [1, 10, 9, 8, 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The record with which a pass begins, counted from 1.
    pub first: u64,
    /// Whether the pass goes on to the record before it.
    pub reversed: bool,
}

impl Turn {
    /// 1, 2, 3, ….
    pub fn forward() -> Self {
        Self { first: 1, reversed: false }
    }

    /// n, n − 1, n − 2, ….
    pub fn backward(records: u64) -> Self {
        Self { first: records, reversed: true }
    }

    /// The place of a record in the pass, both counted from 1.
    pub fn place(self, record: u64, records: u64) -> u64 {
        let (from, to) = if self.reversed { (record, self.first) } else { (self.first, record) };
        if to >= from { to - from + 1 } else { records - (from - to) + 1 }
    }

    /// The record at a place of the pass.
    pub fn record(self, place: u64, records: u64) -> u64 {
        let (ahead, first) = (place - 1, self.first);
        match self.reversed {
            false if ahead <= records - first => first + ahead,
            false => ahead - (records - first),
            true if ahead < first => first - ahead,
            true => records - (ahead - first),
        }
    }
}

impl Task {
    /// Whether records have a fixed place in the run.
    pub(crate) fn is_in_turn(&self) -> bool {
        matches!(self.training.order, Order::Once | Order::Cyclic)
    }

    /// The run, asked about a record by its number among the records if records have a fixed place.
    pub(crate) fn of_record(&self, record: Record) -> Training {
        let record = match record {
            Record::Index(index) if self.is_in_turn() => {
                Record::Index(self.turn.place(index, self.training.records))
            }
            _ => Record::Worst,
        };
        Training { record, ..self.training.clone() }
    }
}

impl Tasks {
    /// The number of records.
    pub fn records(&self) -> u64 {
        self.tasks.first().map_or(0, |task| task.training.records)
    }

    pub(super) fn check(&self) -> Result<(), RunError> {
        let Some(first) = self.tasks.first() else {
            return Err(RunError::new(
                Fact::TaskList,
                "has no entry",
                "[[task]] with what is special about it",
            ));
        };
        let records = self.records();
        for task in &self.tasks {
            task.training.check()?;
            task.check()?;
            if task.training.records != records {
                let message = format!("is {} in one task and {records} in another", task.training.records);
                return Err(RunError::new(Fact::Records, message, "all tasks are about the same records"));
            }
            if task.training.neighbours != first.training.neighbours {
                let help = "one neighbour relation for all tasks";
                return Err(RunError::new(Fact::Neighbours, "is not the same in all tasks", help));
            }
        }
        match self.record {
            Record::Index(index) if index == 0 || index > records => Err(RunError::new(
                Fact::Record,
                format!("is {index}, but it must be between 1 and the number of records, {records}"),
                "record = \"worst\", or an index",
            )
            .against(Fact::Records)),
            _ => Ok(()),
        }
    }
}

impl Task {
    fn check(&self) -> Result<(), RunError> {
        let training = &self.training;
        if self.count == 0 {
            return Err(RunError::new(Fact::TaskCount, "is 0, but it must be 1 or more", "count = 1"));
        }
        if training.tasks != 1 {
            let message = format!("is {}, but tasks that differ are listed one by one", training.tasks);
            let help = "leave it out; count = 10 in a [[task]] makes ten of it";
            return Err(RunError::new(Fact::Tasks, message, help).against(Fact::TaskList));
        }
        if !training.forgetting.is_empty() {
            let message = "cannot be given with several tasks: each model forgets by itself";
            let help = "leave [forget] out, or account for each task in turn";
            return Err(RunError::new(Fact::ForgetSteps, message, help).against(Fact::TaskList));
        }
        if training.record != Record::Worst {
            let help = "give the record of all tasks, not of one";
            return Err(RunError::new(Fact::Record, "is an index of a single task", help));
        }
        let Turn { first, reversed } = self.turn;
        if !(1..=training.records).contains(&first) {
            let message = format!("is {first}, but it must be between 1 and {}", training.records);
            return Err(RunError::new(Fact::TaskFirst, message, "first = 1").against(Fact::Records));
        }
        if (first != 1 || reversed) && !self.is_in_turn() {
            return Err(RunError::new(
                Fact::TaskFirst,
                "and task.reversed are for order = \"once\" or \"cyclic\", where a pass begins somewhere",
                "leave them out, or choose one of these orders",
            )
            .against(Fact::Order));
        }
        Ok(())
    }
}
