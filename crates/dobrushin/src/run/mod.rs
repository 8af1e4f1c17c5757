//! What was run: the parameters of an algorithm, checked once.
//!
//! A [`Run`] is a noisy iteration ([`Training`]), a list of mechanisms ([`Mechanisms`]) or a chain that is given step by
//! step ([`CustomChain`]). What it means for privacy is in [`crate::lower`].

mod batches;
mod builder;
mod check;
mod mechanisms;
mod parameter;
mod training;
mod update;

pub use builder::RunBuilder;
pub use mechanisms::{MechanismUse, Mechanisms};
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

/// Why a run was refused: which key is wrong, what is accepted, and what would mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} {message}")]
pub struct RunError {
    /// The key of the run file that is to blame, such as `run.batch-size`.
    pub key: &'static str,
    /// What is wrong with it; the key and this are a sentence.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl RunError {
    pub(crate) fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { key, message: message.into(), help: help.into() }
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
                "run.record",
                "is asked for, but only noisy iterations have records",
                "algorithm = \"pnsgd\", \"dp-sgd\" or \"online\"",
            ));
        };
        Self::training(Training { record: Record::Index(record), ..training.clone() })
    }
}
