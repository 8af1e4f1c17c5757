//! Noisy iterations w ← w − η·(average gradient of a batch) + noise, and what is known of them.
//!
//! The types here are exhaustive on purpose: whoever trains or simulates a run must know every order and every release,
//! and the compiler tells who does not.

use crate::mechanism::Neighbours;
use crate::{NonNegative, Positive, Probability};

/// The parameters of a noisy iteration. What is not known is `None`; nothing is assumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Which algorithm, as the papers call it.
    pub algorithm: Algorithm,
    /// How many records there are.
    pub records: u64,
    /// For how long it runs.
    pub length: Length,
    /// How many records a step uses.
    pub batch: Batch,
    /// Which records a step uses.
    pub order: Order,
    /// What becomes of records at the end of a pass that fill no batch; `None` if that is not known.
    pub incomplete_batch: Option<IncompleteBatch>,
    /// What is published.
    pub release: Release,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// For which record the guarantee is.
    pub record: Record,
    /// How many further steps, after all others, use public data only.
    pub public_steps: u64,
    /// How many such runs on the same records, each with its own randomness and order, are released.
    pub tasks: u64,
    /// Whether what is released is then evaluated on the same records, and with how much noise.
    pub evaluation: Option<Evaluation>,
    /// η.
    pub learning_rate: Option<LearningRate>,
    /// The largest norm of one record's gradient.
    pub contribution: Option<Contribution>,
    /// The law of the noise.
    pub noise_kind: NoiseKind,
    /// The size of the noise.
    pub noise: Noise,
    /// λ: every step multiplies the iterate by 1 − λ.
    pub weight_decay: f64,
    /// What the sum of the gradients is divided by.
    pub divide_by: Divisor,
    /// What is known of the loss.
    pub loss: LossFacts,
    /// What is known of the set of iterates.
    pub domain: DomainFacts,
}

/// An evaluation of what is released of each task on the same records: a sum over the records with Gaussian noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// The noise over the largest norm of what one record contributes to the sum.
    pub noise_multiplier: Positive,
}

/// The algorithms that are noisy iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Projected noisy stochastic gradient descent.
    Pnsgd,
    /// DP-SGD: clipped gradients of random batches.
    DpSgd,
    /// Noisy gradient descent on all records.
    GradientDescent,
    /// Online gradient descent: each record once, as it arrives.
    Online,
}

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// A number of steps.
    Steps(u64),
    /// A number of passes over the records.
    Epochs(Positive),
    /// The guarantee must hold for every number of steps.
    Any,
}

/// How large a batch is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Batch {
    /// Its size; for Poisson sampling the expected size.
    Size(u64),
    /// The probability with which each record is in it (Poisson sampling).
    Probability(Probability),
}

/// Which records the steps use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each record at most once, in a fixed order.
    Once,
    /// In a fixed order, again and again.
    Cyclic,
    /// Each pass in a new random order.
    Shuffled,
    /// Each record independently with the same probability, anew in each step.
    Poisson,
    /// A uniformly random batch of the given size, anew in each step.
    WithoutReplacement,
    /// All records in each step.
    Full,
}

/// What becomes of the records at the end of a pass that are too few for a batch, where records take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncompleteBatch {
    /// They are left out of that pass.
    Drop,
    /// They are a smaller batch.
    Short,
    /// Empty records, which contribute nothing, make the batch complete; they count as records of it.
    Pad,
    /// The first records of the next pass make the batch complete. After the last pass there is none, and the last
    /// batch may be smaller.
    Fill,
}

/// What is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The last iterate only.
    Last,
    /// The iterate at a random time only.
    RandomStop,
    /// The last iterate, some of the first steps having been skipped at random.
    RandomSkip,
    /// Every iterate.
    All,
}

/// For which record the guarantee is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// For every record.
    Worst,
    /// For one record, counted from 1 in the fixed order.
    Index(u64),
}

/// η_t.
#[derive(Clone, Debug, PartialEq)]
pub enum LearningRate {
    /// The same in every step.
    Constant(Positive),
    /// One for each step.
    List(Vec<Positive>),
    /// c/√t in step t = 1, 2, ….
    InverseSqrt(Positive),
}

/// Why one record's gradient has a bounded norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contribution {
    /// It is clipped to this norm.
    Clipped(Positive),
    /// The loss has this Lipschitz constant.
    Lipschitz(Positive),
}

impl Contribution {
    /// The largest norm.
    pub fn norm(self) -> Positive {
        match self {
            Self::Clipped(norm) | Self::Lipschitz(norm) => norm,
        }
    }
}

/// The law of the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
    /// Gaussian in every coordinate; its size is the standard deviation.
    Gaussian,
    /// Laplace, in one dimension; its size is the scale.
    Laplace,
}

/// The size of the noise, in one of three conventions.
#[derive(Clone, Debug, PartialEq)]
pub enum Noise {
    /// m: the iterate's noise is η·m·C/b.
    Multiplier(Positive),
    /// σ: the iterate's noise is η·σ.
    Gradient(Positive),
    /// σ_t, one for each step: the iterate's noise is η_t·σ_t.
    GradientList(Vec<Positive>),
    /// s: the iterate's noise is s.
    Iterate(Positive),
}

/// What the sum of the gradients is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divisor {
    /// The (expected) batch size, whatever was drawn.
    BatchSize,
    /// The number of records that were drawn.
    Actual,
}

/// What is known of each record's loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossFacts {
    /// Whether it is convex.
    pub convex: Option<bool>,
    /// The Lipschitz constant β of its gradient.
    pub smoothness: Option<Positive>,
    /// ρ such that it is ρ-strongly convex.
    pub strong_convexity: Option<NonNegative>,
    /// Whether it is ℓ(⟨w, x⟩, y).
    pub generalised_linear: Option<bool>,
}

/// What is known of the set of iterates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DomainFacts {
    /// Its diameter, if iterates are projected to a bounded set.
    pub diameter: Option<Positive>,
    /// Its dimension.
    pub dimension: Option<u64>,
}

impl Order {
    /// Whether records take turns: each at most once in a pass.
    pub fn is_by_passes(self) -> bool {
        matches!(self, Self::Once | Self::Cyclic | Self::Shuffled)
    }
}

/// What is usual, where it is not said.
impl Algorithm {
    /// The order of records; DP-SGD has no usual one.
    pub fn usual_order(self) -> Option<Order> {
        match self {
            Self::GradientDescent => Some(Order::Full),
            Self::Online | Self::Pnsgd => Some(Order::Once),
            Self::DpSgd => None,
        }
    }

    /// The batch for an order of this many records.
    pub fn usual_batch(self, order: Order, records: u64) -> Option<Batch> {
        match (self, order) {
            (_, Order::Full) => Some(Batch::Size(records)),
            (Self::Pnsgd | Self::Online, _) => Some(Batch::Size(1)),
            _ => None,
        }
    }
}

impl Order {
    /// The length, where it is not said: one pass, for records that are used once.
    pub fn usual_length(self) -> Option<Length> {
        (self == Self::Once).then(|| Positive::new(1.0).ok().map(Length::Epochs)).flatten()
    }
}
