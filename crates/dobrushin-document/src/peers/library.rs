//! The libraries, and the names of their parameters.

/// A library for private training.
///
/// ```
/// use dobrushin_document::peers::Library;
///
/// assert_eq!(Library::named("opacus"), Some(Library::Opacus));
/// assert!(Library::Opacus.names().any(|name| name == "max_grad_norm"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Opacus, for PyTorch.
    Opacus,
    /// TensorFlow Privacy.
    TensorflowPrivacy,
    /// JAX-privacy, and dp_accounting, on which it rests.
    JaxPrivacy,
}

/// What a parameter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The noise on the sum of gradients, over the norm.
    Noise,
    /// The norm to which gradients are clipped.
    Norm,
    /// How gradients are clipped.
    Clipping,
    /// Whether clipped gradients are divided by the norm.
    UnitNorm,
    /// The number of records.
    Records,
    /// The (expected) size of a batch.
    Batch,
    /// The probability with which a record is in a batch.
    Rate,
    /// The number of passes.
    Epochs,
    /// The number of steps.
    Steps,
    /// δ.
    Delta,
    /// ε, from which the library finds the noise.
    Epsilon,
    /// Whether batches are Poisson samples.
    Poisson,
    /// How batches are drawn, in words.
    Sampling,
    /// Whether the loader leaves out an incomplete batch.
    DropLast,
    /// Which data sets are neighbours.
    Neighbours,
    /// η.
    LearningRate,
    /// The weight decay of the optimiser.
    WeightDecay,
    /// The memory of the optimiser.
    Momentum,
    /// Whether gradients are summed or averaged.
    Reduction,
    /// The number of groups of which a batch consists, whose averages are clipped.
    Microbatches,
    /// Whether there are such groups.
    UsesMicrobatches,
    /// Which accountant the library uses.
    Accountant,
    /// Something that has one value in runs that can be described: 1, or nothing.
    OnlyOne,
    /// Something that no account depends on.
    Irrelevant,
}

use Meaning::*;

const OPACUS: &[(&str, Meaning)] = &[
    ("noise_multiplier", Noise),
    ("max_grad_norm", Norm),
    ("clipping", Clipping),
    ("dataset_size", Records),
    ("sample_size", Records),
    ("batch_size", Batch),
    ("sample_rate", Rate),
    ("epochs", Epochs),
    ("steps", Steps),
    ("num_steps", Steps),
    ("delta", Delta),
    ("target_delta", Delta),
    ("target_epsilon", Epsilon),
    ("poisson_sampling", Poisson),
    ("poisson", Poisson),
    ("drop_last", DropLast),
    ("lr", LearningRate),
    ("learning_rate", LearningRate),
    ("weight_decay", WeightDecay),
    ("momentum", Momentum),
    ("loss_reduction", Reduction),
    ("accountant", Accountant),
    ("alphas", Irrelevant),
    ("batch_first", Irrelevant),
    ("grad_sample_mode", Irrelevant),
    ("max_physical_batch_size", Irrelevant),
    ("noise_generator", Irrelevant),
    ("secure_mode", Irrelevant),
];

const TENSORFLOW: &[(&str, Meaning)] = &[
    ("noise_multiplier", Noise),
    ("l2_norm_clip", Norm),
    ("N", Records),
    ("n", Records),
    ("number_of_examples", Records),
    ("batch_size", Batch),
    ("epochs", Epochs),
    ("num_epochs", Epochs),
    ("steps", Steps),
    ("delta", Delta),
    ("learning_rate", LearningRate),
    ("momentum", Momentum),
    ("num_microbatches", Microbatches),
    ("used_microbatching", UsesMicrobatches),
    ("max_examples_per_user", OnlyOne),
    ("accountant_type", Accountant),
];

const JAX: &[(&str, Meaning)] = &[
    ("noise_multiplier", Noise),
    ("noise_multipliers", Noise),
    ("clipping_norm", Norm),
    ("l2_clip_norm", Norm),
    ("rescale_to_unit_norm", UnitNorm),
    ("num_samples", Records),
    ("train_size", Records),
    ("batch_size", Batch),
    ("sampling_probability", Rate),
    ("num_updates", Steps),
    ("train_steps", Steps),
    ("num_steps", Steps),
    ("steps", Steps),
    ("count", Steps),
    ("epochs", Epochs),
    ("delta", Delta),
    ("target_delta", Delta),
    ("epsilon", Epsilon),
    ("target_epsilon", Epsilon),
    ("sampling_method", Sampling),
    ("poisson_sampling_in_fit", Poisson),
    ("neighboring_relation", Neighbours),
    ("learning_rate", LearningRate),
    ("momentum", Momentum),
    ("examples_per_user", OnlyOne),
    ("cycle_length", OnlyOne),
    ("gradient_accumulation_steps", OnlyOne),
    ("truncated_batch_size", OnlyOne),
    ("microbatch_size", Irrelevant),
    ("seed", Irrelevant),
];

impl Library {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Opacus, Self::TensorflowPrivacy, Self::JaxPrivacy];

    /// The name that users type.
    pub fn word(self) -> &'static str {
        match self {
            Self::Opacus => "opacus",
            Self::TensorflowPrivacy => "tensorflow-privacy",
            Self::JaxPrivacy => "jax-privacy",
        }
    }

    /// The library that users type so.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|library| library.word() == word)
    }

    /// The name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opacus => "Opacus",
            Self::TensorflowPrivacy => "TensorFlow Privacy",
            Self::JaxPrivacy => "JAX-privacy",
        }
    }

    /// The names of its parameters.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.parameters().iter().map(|(name, _)| *name)
    }

    /// The parameters that must be known: each is one of these names.
    pub fn needed(self) -> [&'static [&'static str]; 3] {
        match self {
            Self::Opacus => [&["noise_multiplier"], &["batch_size", "sample_rate"], &["epochs", "steps"]],
            Self::TensorflowPrivacy => [&["noise_multiplier"], &["batch_size"], &["epochs", "steps"]],
            Self::JaxPrivacy => {
                [&["noise_multiplier"], &["batch_size", "sampling_probability"], &["num_updates", "epochs"]]
            }
        }
    }

    pub(super) fn meaning(self, name: &str) -> Option<Meaning> {
        self.parameters().iter().find(|(known, _)| *known == name).map(|(_, meaning)| *meaning)
    }

    fn parameters(self) -> &'static [(&'static str, Meaning)] {
        match self {
            Self::Opacus => OPACUS,
            Self::TensorflowPrivacy => TENSORFLOW,
            Self::JaxPrivacy => JAX,
        }
    }
}
