//! The parameters of a run that can be searched over.

use super::training::{Batch, Contribution, LearningRate, Length, Noise, Order, Release, Training};
use super::{Fact, Forgotten, Run, RunError};
use crate::{Positive, Probability};

/// A number in a run that affects how private it is.
///
/// ```
/// use dobrushin::run::{Fact, Parameter, Training};
/// use dobrushin::{Order, Run};
///
/// let run = Run::dp_sgd(1000).order(Order::Cyclic).batch_size(10).epochs(3.0).noise_multiplier(1.0).build()?;
/// let longer = run.with(Parameter::Steps, 500.0)?;
/// assert_eq!(longer.as_training().and_then(Training::steps), Some(500));
/// // Half a step is refused.
/// let refused = run.with(Parameter::Steps, 0.5).err();
/// assert_eq!(refused.map(|error| error.fact), Some(Fact::Steps));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// m: the noise on a sum of gradients, over the clip norm.
    NoiseMultiplier,
    /// σ: noise on the average gradient.
    GradientNoise,
    /// s: noise on the iterate.
    IterateNoise,
    /// The number of steps.
    Steps,
    /// The number of passes over the data.
    Epochs,
    /// The (expected) size of a batch.
    BatchSize,
    /// The probability of Poisson sampling.
    SamplingProbability,
    /// η.
    LearningRate,
    /// The norm to which gradients are clipped.
    ClipNorm,
    /// λ.
    WeightDecay,
    /// The diameter of the set of iterates.
    Diameter,
    /// The number of last steps that use public data.
    PublicSteps,
    /// The number of clean steps after the last request to delete records.
    ForgetSteps,
}

impl Parameter {
    /// All parameters.
    pub const ALL: [Self; 13] = [
        Self::NoiseMultiplier,
        Self::GradientNoise,
        Self::IterateNoise,
        Self::Steps,
        Self::Epochs,
        Self::BatchSize,
        Self::SamplingProbability,
        Self::LearningRate,
        Self::ClipNorm,
        Self::WeightDecay,
        Self::Diameter,
        Self::PublicSteps,
        Self::ForgetSteps,
    ];

    /// The fact of a run that it corresponds to.
    pub fn fact(self) -> Fact {
        match self {
            Self::NoiseMultiplier => Fact::NoiseMultiplier,
            Self::GradientNoise => Fact::GradientNoise,
            Self::IterateNoise => Fact::IterateNoise,
            Self::Steps => Fact::Steps,
            Self::Epochs => Fact::Epochs,
            Self::BatchSize => Fact::BatchSize,
            Self::SamplingProbability => Fact::SamplingProbability,
            Self::LearningRate => Fact::LearningRate,
            Self::ClipNorm => Fact::ClipNorm,
            Self::WeightDecay => Fact::WeightDecay,
            Self::Diameter => Fact::Diameter,
            Self::PublicSteps => Fact::PublicSteps,
            Self::ForgetSteps => Fact::ForgetSteps,
        }
    }

    /// What users call it: its key, with the section where the key alone is another parameter.
    pub fn key(self) -> &'static str {
        match self {
            Self::ForgetSteps => self.fact().name(),
            _ => self.fact().key(),
        }
    }

    /// Whether it is noise.
    pub fn is_noise(self) -> bool {
        matches!(self, Self::NoiseMultiplier | Self::GradientNoise | Self::IterateNoise)
    }

    /// Whether it is a whole number.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Steps | Self::BatchSize | Self::PublicSteps | Self::ForgetSteps)
    }
}

impl Run {
    /// The run with another value of a parameter, which replaces what it excludes (another way to give the noise, the
    /// length or the batch).
    ///
    /// # Errors
    /// [`RunError`] if the value is impossible.
    pub fn with(&self, parameter: Parameter, value: f64) -> Result<Self, RunError> {
        if self.as_tasks().is_some() {
            let help = "change the tasks one by one";
            return Err(RunError::new(parameter.fact(), "is no parameter of several tasks", help)
                .against(Fact::TaskList));
        }
        let Some(training) = self.as_training() else {
            return Err(RunError::new(
                parameter.fact(),
                "is no parameter of a list of mechanisms",
                "it needs algorithm = \"pnsgd\", \"dp-sgd\", \"gradient-descent\" or \"online\"",
            )
            .against(Fact::Algorithm));
        };
        Self::training(training.with(parameter, value)?)
    }
}

impl Training {
    fn with(&self, parameter: Parameter, value: f64) -> Result<Self, RunError> {
        let refuse = |accepted: &str| {
            RunError::new(parameter.fact(), format!("is {value}, but it must be {accepted}"), "another value")
        };
        let positive = || Positive::new(value).map_err(|_| refuse("positive and finite"));
        // Every whole f64 up to 2⁵³ fits into a u64.
        let whole = || match value {
            v if (1.0..=9e15).contains(&v) && v.fract() == 0.0 => Ok(v as u64),
            _ => Err(refuse("a whole number, 1 or more")),
        };
        let mut training = self.clone();
        match parameter {
            Parameter::NoiseMultiplier => training.noise = Noise::Multiplier(positive()?),
            Parameter::GradientNoise => training.noise = Noise::Gradient(positive()?),
            Parameter::IterateNoise => training.noise = Noise::Iterate(positive()?),
            Parameter::Steps => training.length = Length::Steps(whole()?),
            Parameter::Epochs => training.length = Length::Epochs(positive()?),
            Parameter::BatchSize => training.batch = Batch::Size(whole()?),
            Parameter::SamplingProbability => {
                let probability = Probability::new(value).map_err(|_| refuse("above 0 and at most 1"))?;
                training.batch = Batch::Probability(probability);
            }
            Parameter::LearningRate => {
                training.learning_rate = Some(match &self.learning_rate {
                    Some(LearningRate::InverseSqrt(_)) => LearningRate::InverseSqrt(positive()?),
                    _ => LearningRate::Constant(positive()?),
                });
            }
            Parameter::ClipNorm => training.contribution = Some(Contribution::Clipped(positive()?)),
            Parameter::WeightDecay => training.weight_decay = value,
            Parameter::Diameter => training.domain.diameter = Some(positive()?),
            Parameter::PublicSteps => training.public_steps = whole()?,
            Parameter::ForgetSteps => {
                let steps = whole()?;
                match training.forgetting.last_mut() {
                    Some(request) => request.steps = steps,
                    None => training.forgetting.push(Forgotten { records: 1, steps }),
                }
            }
        }
        Ok(training)
    }

    /// Whether a larger parameter is assumed to be more private; a search relies on this only to find the boundary, and
    /// measures on both sides of it.
    pub(crate) fn is_protected_by(&self, parameter: Parameter) -> bool {
        match parameter {
            Parameter::WeightDecay | Parameter::PublicSteps | Parameter::ForgetSteps => true,
            // Noise that scales with the learning rate grows in proportion to the domain.
            Parameter::LearningRate => !matches!(self.noise, Noise::Iterate(_)),
            parameter => parameter.is_noise(),
        }
    }

    /// Whether a list has a value for each step.
    fn has_listed_steps(&self) -> bool {
        matches!(self.learning_rate, Some(LearningRate::List(_)))
            || matches!(self.noise, Noise::GradientList(_))
    }

    /// Why a larger value of the parameter may not be less private (or, for noise, more private).
    pub(crate) fn not_monotone(&self, parameter: Parameter) -> Option<RunError> {
        let refuse = |message: &str, help: &str| Some(RunError::new(parameter.fact(), message, help));
        match parameter {
            Parameter::NoiseMultiplier | Parameter::GradientNoise | Parameter::IterateNoise => None,
            Parameter::Steps | Parameter::Epochs if self.order == Order::Once => {
                refuse("does not change the privacy of order = \"once\"", "choose the noise instead")
            }
            Parameter::Steps | Parameter::Epochs => match self.learning_rate {
                Some(LearningRate::List(_)) => refuse(
                    &format!("cannot be searched while {} lists one value for each step", Fact::LearningRate),
                    "learning-rate as one number, or { inverse-sqrt = 0.1 }",
                ),
                _ => None,
            },
            Parameter::BatchSize | Parameter::SamplingProbability => match (self.order, &self.noise) {
                (Order::Poisson | Order::WithoutReplacement, Noise::Multiplier(_)) => None,
                (Order::Poisson | Order::WithoutReplacement, _) => refuse(
                    "moves the noise multiplier as well, so more need not be less private",
                    &format!("give {} instead of another noise", Fact::NoiseMultiplier),
                ),
                _ => refuse(
                    "can be searched for order = \"poisson\" or \"without-replacement\" only",
                    "choose the noise or the steps instead",
                ),
            },
            Parameter::LearningRate => match (&self.noise, &self.learning_rate) {
                (Noise::Iterate(_), Some(LearningRate::List(_))) => refuse(
                    "is a list, which cannot be searched",
                    "learning-rate as one number, or { inverse-sqrt = 0.1 }",
                ),
                (Noise::Iterate(_), _) => None,
                _ if self.domain.diameter.is_some() => None,
                _ => refuse(
                    "does not change the privacy: noise-multiplier and gradient-noise scale with it",
                    &format!(
                        "choose the noise instead, or give {} or {}",
                        Fact::IterateNoise,
                        Fact::Diameter
                    ),
                ),
            },
            Parameter::ClipNorm => match (self.contribution, &self.noise) {
                (Some(Contribution::Lipschitz(_)), _) => {
                    let lipschitz = Fact::Lipschitz;
                    refuse(
                        &format!("cannot be searched: {lipschitz} is given"),
                        &format!("leave {lipschitz} out"),
                    )
                }
                (_, Noise::Multiplier(_)) if self.domain.diameter.is_none() => refuse(
                    "does not change the privacy: noise-multiplier scales with it",
                    &format!(
                        "choose the noise instead, or give {} or {}",
                        Fact::GradientNoise,
                        Fact::IterateNoise
                    ),
                ),
                (_, Noise::Multiplier(_)) => refuse(
                    "moves the noise as well, so more need not be less private",
                    &format!(
                        "give {} or {} instead of a multiplier",
                        Fact::GradientNoise,
                        Fact::IterateNoise
                    ),
                ),
                _ => None,
            },
            Parameter::WeightDecay | Parameter::Diameter | Parameter::PublicSteps
                if self.release == Release::All =>
            {
                refuse("protects nothing while every iterate is released", "release = \"last\"")
            }
            Parameter::ForgetSteps if self.has_listed_steps() => refuse(
                &format!(
                    "cannot be searched while {} or {} lists one value for each step",
                    Fact::LearningRate,
                    Fact::GradientNoise
                ),
                "one number, or { inverse-sqrt = 0.1 } for the learning rate",
            ),
            Parameter::WeightDecay
            | Parameter::Diameter
            | Parameter::PublicSteps
            | Parameter::ForgetSteps => None,
        }
    }
}
