//! What was run: the parameters of an algorithm, checked once, and what they mean for privacy.
//!
//! A [`Run`] is either a noisy iteration ([`Training`]) or a list of mechanisms
//! ([`Mechanisms`]). [`Run::composition`] lowers it to the mechanisms that an observer of every
//! intermediate result would see, each with how often it is used.

mod batches;
mod check;
mod composition;
mod custom;
mod hidden;
mod mechanisms;
mod multiplier;
mod parameter;
mod training;
mod update;
mod words;

pub use composition::{Composed, ComposedPart};
pub use custom::CustomChain;
pub use hidden::Released;
pub use mechanisms::{MechanismUse, Mechanisms};
pub use parameter::Parameter;
pub use training::{
    Algorithm, Batch, Contribution, Divisor, DomainFacts, Evaluation, IncompleteBatch, LearningRate, Length,
    LossFacts, Noise, NoiseKind, Order, Record, Release, Training,
};

pub use update::Update;

use crate::{Enclosure, NotApplicable};

/// A run whose parameters fit together.
#[derive(Clone)]
pub struct Run {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Training(Box<Training>),
    Mechanisms(Mechanisms),
    Chain(Box<CustomChain>),
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

    /// μ of the evaluations of what is released, which are together μ-Gaussian private; 0 if there are none.
    ///
    /// Given the model, an evaluation is a sum to which each record adds a vector of norm c at most, with noise m·c:
    /// neighbours move it by 2c if a record is replaced, by c if one is added, removed or emptied.
    pub(crate) fn evaluations(&self) -> Enclosure {
        let Some((training, evaluation)) = self.as_training().and_then(|t| Some((t, t.evaluation?))) else {
            return Enclosure::ZERO;
        };
        let apart = Enclosure::from(training.neighbours.contributions_apart());
        apart / Enclosure::from(evaluation.noise_multiplier) * Enclosure::from(training.tasks).sqrt()
    }

    /// What is released, as chains of each record that may be the least private.
    ///
    /// # Guarantee
    /// What is released of one task, on any two neighbouring data sets, is at most as far apart as some
    /// view allows.
    ///
    /// # Errors
    /// [`NotApplicable`] if nothing is hidden, or a parameter that chains need is missing.
    pub fn released(&self) -> Result<Released, NotApplicable> {
        match &self.kind {
            Kind::Training(training) => training.released(),
            Kind::Chain(chain) => chain.released(),
            Kind::Mechanisms(_) => Err(NotApplicable::new(
                "a list of mechanisms has no hidden states: every result counts as released",
            )),
        }
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

    /// What an observer of every intermediate result sees.
    ///
    /// # Guarantee
    /// On any two neighbouring data sets, everything the run computes is a post-processing of
    /// the adaptive composition of the parts, each on neighbours as the part names them.
    /// Whatever is released of it is therefore as private as the composition.
    ///
    /// # Errors
    /// [`NotApplicable`] if there is no finite composition, or a parameter it needs is missing.
    pub fn composition(&self) -> Result<Composed, NotApplicable> {
        match &self.kind {
            Kind::Training(training) => composition::of_training(training),
            Kind::Mechanisms(mechanisms) => Ok(mechanisms.composition()),
            Kind::Chain(chain) => chain.composition(),
        }
    }
}
