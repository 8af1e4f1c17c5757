//! What was run: the parameters of an algorithm, checked once.
//!
//! A [`Run`] is a noisy iteration ([`Training`]), several of them on the same records ([`Tasks`]), a list of mechanisms
//! ([`Mechanisms`]) or a chain given step by step ([`CustomChain`]). What it means for privacy is in [`crate::lower`].

mod assumption;
mod batches;
mod builder;
mod check;
mod fact;
mod forgotten;
mod mechanisms;
mod not_applicable;
mod parameter;
mod tasks;
mod training;
mod update;

pub use assumption::{Assumption, Curvature, Ending};
pub use builder::RunBuilder;
pub use fact::Fact;
pub use forgotten::Forgotten;
pub use mechanisms::{MechanismUse, Mechanisms};
pub use not_applicable::{NotApplicable, Obstacle};
pub(crate) use not_applicable::{in_the_way, missing};
pub use parameter::Parameter;
pub use tasks::{Task, Tasks, Turn};
pub use training::{
    Algorithm, Batch, Centre, Contribution, Divisor, DomainFacts, Evaluation, IncompleteBatch, LearningRate,
    Length, LossFacts, Noise, NoiseKind, Order, Record, Release, Training,
};
pub use update::Update;

use crate::chain::Chain;
use crate::mechanism::Neighbours;

/// A run whose parameters are consistent.
///
/// ```
/// use dobrushin::run::Parameter;
/// use dobrushin::{Delta, Neighbours, Question, Run};
///
/// let run = Run::gradient_descent(1000).steps(100).clip_norm(1.0).noise_multiplier(10.0);
/// let run = run.neighbours(Neighbours::ZeroOut).build()?;
/// let question = Question::EpsilonAt(Delta::new(1e-5)?);
/// // Four times as many steps need twice the noise.
/// let longer = run.with(Parameter::Steps, 400.0)?.with(Parameter::NoiseMultiplier, 20.0)?;
/// let (short, long) = (run.account(question).guarantee()?.epsilon(), longer.account(question).guarantee()?.epsilon());
/// assert!((short / long - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Run {
    pub(crate) kind: Kind,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Training(Box<Training>),
    Mechanisms(Mechanisms),
    Chain(Box<CustomChain>),
    Tasks(Box<Tasks>),
}

/// One record's chain, and its release.
///
/// ```
/// use dobrushin::chain::{Chain, Count, Domain, Participation, Step, StepNoise};
/// use dobrushin::run::CustomChain;
/// use dobrushin::{Delta, NonNegative, Question, Release, Run, numeric::theta};
///
/// // A single step that moves an iterate by at most 1, with noise 1.
/// let step = Step::new(StepNoise::gaussian(1.0)?).used_by(Participation::Always, NonNegative::new(1.0)?);
/// let chain = Chain::new(vec![(step, Count::Times(1))], Domain::default())?;
/// let run = Run::chain(CustomChain { chain, release: Release::Last });
/// let account = run.account(Question::EpsilonAt(Delta::new(1e-5)?));
/// let known = theta::smallest_epsilon(NonNegative::new(1.0)?, Delta::new(1e-5)?);
/// assert!((account.guarantee()?.epsilon() / known.upper() - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CustomChain {
    /// The steps.
    pub chain: Chain,
    /// What is published.
    pub release: Release,
}

/// Why a run was refused: which fact is wrong, what is accepted, and how to fix it.
///
/// ```
/// use dobrushin::{Fact, Run};
///
/// // Nothing is said of the noise.
/// let Err(error) = Run::pnsgd(10).build() else { panic!("it was built") };
/// assert_eq!((error.fact, error.against), (Fact::NoiseMultiplier, None));
/// assert!(error.help.starts_with("noise-multiplier = 1.0"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fact} {message}")]
#[non_exhaustive]
pub struct RunError {
    /// The fact that is wrong.
    pub fact: Fact,
    /// The other fact that it contradicts, if any.
    pub against: Option<Fact>,
    /// What is wrong with it; the fact followed by this text is a sentence.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl RunError {
    /// A fact that is wrong by itself.
    pub fn new(fact: Fact, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { fact, against: None, message: message.into(), help: help.into() }
    }

    /// The same error, with the other fact that it contradicts.
    pub fn against(self, other: Fact) -> Self {
        Self { against: Some(other), ..self }
    }
}

impl Run {
    /// A noisy iteration.
    ///
    /// # Errors
    /// [`RunError`] if two parameters contradict each other.
    pub fn training(training: Training) -> Result<Self, RunError> {
        training.check()?;
        Ok(Self { kind: Kind::Training(Box::new(training)) })
    }

    /// A list of mechanisms.
    ///
    /// # Errors
    /// [`RunError`] if the list is empty or a count is 0.
    pub fn mechanisms(mechanisms: Mechanisms) -> Result<Self, RunError> {
        mechanisms.check()?;
        Ok(Self { kind: Kind::Mechanisms(mechanisms) })
    }

    /// Several noisy iterations on the same records, which may differ.
    ///
    /// # Errors
    /// [`RunError`] if there is none, if one of them is not consistent, or if they are not about the same records.
    pub fn of_tasks(tasks: Tasks) -> Result<Self, RunError> {
        tasks.check()?;
        Ok(Self { kind: Kind::Tasks(Box::new(tasks)) })
    }

    /// One record's chain, given step by step.
    pub fn chain(chain: CustomChain) -> Self {
        Self { kind: Kind::Chain(Box::new(chain)) }
    }

    /// The noisy iteration, if the run is one.
    pub fn as_training(&self) -> Option<&Training> {
        match &self.kind {
            Kind::Training(training) => Some(training),
            Kind::Mechanisms(_) | Kind::Chain(_) | Kind::Tasks(_) => None,
        }
    }

    /// The tasks that differ, if the run is a list of them.
    pub fn as_tasks(&self) -> Option<&Tasks> {
        match &self.kind {
            Kind::Tasks(tasks) => Some(tasks),
            Kind::Training(_) | Kind::Mechanisms(_) | Kind::Chain(_) => None,
        }
    }

    /// The mechanisms, if the run is a list of them.
    pub fn as_mechanisms(&self) -> Option<&Mechanisms> {
        match &self.kind {
            Kind::Mechanisms(mechanisms) => Some(mechanisms),
            Kind::Training(_) | Kind::Chain(_) | Kind::Tasks(_) => None,
        }
    }

    /// The chain, if the run is one that is given step by step.
    pub fn as_chain(&self) -> Option<&CustomChain> {
        match &self.kind {
            Kind::Chain(chain) => Some(chain),
            Kind::Training(_) | Kind::Mechanisms(_) | Kind::Tasks(_) => None,
        }
    }

    /// The number of records, if it is known.
    pub fn records(&self) -> Option<u64> {
        match &self.kind {
            Kind::Training(training) => Some(training.records),
            Kind::Tasks(tasks) => Some(tasks.records()),
            Kind::Mechanisms(_) | Kind::Chain(_) => None,
        }
    }

    /// Which data sets are neighbours; a chain that is given step by step does not say.
    pub fn neighbours(&self) -> Option<Neighbours> {
        match &self.kind {
            Kind::Training(training) => Some(training.neighbours),
            Kind::Mechanisms(mechanisms) => Some(mechanisms.neighbours),
            // All tasks have the same relation.
            Kind::Tasks(tasks) => tasks.tasks.first().map(|task| task.training.neighbours),
            Kind::Chain(_) => None,
        }
    }

    /// The number of such runs on the same records that are released.
    pub fn tasks(&self) -> u64 {
        self.as_training().map_or(1, |training| training.tasks)
    }

    /// The same run, asked about whichever of its records is protected least.
    ///
    /// # Errors
    /// [`RunError`] if that cannot be asked.
    pub fn of_every_record(&self) -> Result<Self, RunError> {
        match &self.kind {
            Kind::Training(training) => {
                Self::training(Training { record: Record::Worst, ..(**training).clone() })
            }
            Kind::Tasks(tasks) => Self::of_tasks(Tasks { record: Record::Worst, ..(**tasks).clone() }),
            Kind::Mechanisms(_) | Kind::Chain(_) => Ok(self.clone()),
        }
    }

    /// The record that the run is asked about, if it is about one only.
    pub(crate) fn one_record(&self) -> Option<u64> {
        let record = match &self.kind {
            Kind::Training(training) => training.record,
            Kind::Tasks(tasks) => tasks.record,
            Kind::Mechanisms(_) | Kind::Chain(_) => Record::Worst,
        };
        match record {
            Record::Index(record) => Some(record),
            Record::Worst => None,
        }
    }

    /// Whether records were deleted from the model, so that what is known is about these records only.
    pub(crate) fn is_about_deleted_records(&self) -> bool {
        self.as_training().is_some_and(|training| !training.forgetting.is_empty())
    }

    /// The same run, asked about one record of those that are used in turn.
    ///
    /// # Errors
    /// [`RunError`] if there is no such record, or records have no fixed place.
    pub fn of_record(&self, record: u64) -> Result<Self, RunError> {
        if let Some(tasks) = self.as_tasks() {
            return Self::of_tasks(Tasks { record: Record::Index(record), ..tasks.clone() });
        }
        let Some(training) = self.as_training() else {
            return Err(RunError::new(
                Fact::Record,
                "is asked for, but only noisy iterations have records",
                "algorithm = \"pnsgd\", \"dp-sgd\" or \"online\"",
            )
            .against(Fact::Algorithm));
        };
        Self::training(Training { record: Record::Index(record), ..training.clone() })
    }
}
