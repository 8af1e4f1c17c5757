//! What was run: the parameters of an algorithm, checked once.
//!
//! A [`Run`] is a noisy iteration ([`Training`]), a list of mechanisms ([`Mechanisms`]) or a chain that is given step by
//! step ([`CustomChain`]). What it means for privacy is in [`crate::lower`].

mod assumption;
mod batches;
mod builder;
mod check;
mod fact;
mod mechanisms;
mod not_applicable;
mod parameter;
mod training;
mod update;

pub use assumption::{Assumption, Curvature, Ending};
pub use builder::RunBuilder;
pub use fact::Fact;
pub use mechanisms::{MechanismUse, Mechanisms};
pub use not_applicable::{NotApplicable, Obstacle};
pub(crate) use not_applicable::{in_the_way, missing};
pub use parameter::Parameter;
pub use training::{
    Algorithm, Batch, Contribution, Divisor, DomainFacts, Evaluation, IncompleteBatch, LearningRate, Length,
    LossFacts, Noise, NoiseKind, Order, Record, Release, Training,
};
pub use update::Update;

use crate::chain::Chain;

/// A run whose parameters fit together.
#[derive(Clone)]
pub struct Run {
    pub(crate) kind: Kind,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Training(Box<Training>),
    Mechanisms(Mechanisms),
    Chain(Box<CustomChain>),
}

/// One record's chain, and what is released of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomChain {
    /// The steps.
    pub chain: Chain,
    /// What is published.
    pub release: Release,
}

/// Why a run was refused: which fact is wrong, what is accepted, and what would mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fact} {message}")]
#[non_exhaustive]
pub struct RunError {
    /// The fact that is to blame.
    pub fact: Fact,
    /// The other fact that it contradicts, if there is one.
    pub against: Option<Fact>,
    /// What is wrong with it; the fact and this are a sentence.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl RunError {
    /// A fact that is wrong by itself.
    pub fn new(fact: Fact, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { fact, against: None, message: message.into(), help: help.into() }
    }

    /// It contradicts another fact.
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

    /// One record's chain, given step by step.
    pub fn chain(chain: CustomChain) -> Self {
        Self { kind: Kind::Chain(Box::new(chain)) }
    }

    /// The iteration, if it is one.
    pub fn as_training(&self) -> Option<&Training> {
        match &self.kind {
            Kind::Training(training) => Some(training),
            Kind::Mechanisms(_) | Kind::Chain(_) => None,
        }
    }

    /// How many such runs on the same records are released.
    pub fn tasks(&self) -> u64 {
        self.as_training().map_or(1, |training| training.tasks)
    }

    /// The run with one record in question, of those that are used in turn.
    ///
    /// # Errors
    /// [`RunError`] if there is no such record, or records have no fixed place.
    pub fn of_record(&self, record: u64) -> Result<Self, RunError> {
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
