//! Noisy iterations w ← w − η·(average gradient of a batch) + noise, and what is known about them.
//!
//! The types here are exhaustive on purpose: code that trains or simulates a run must handle every order and every
//! release, and the compiler reports code that does not.

use super::Forgotten;
use crate::mechanism::Neighbours;
use crate::{NonNegative, Positive, Probability};

/// The parameters of a noisy iteration. An unknown parameter is `None`; nothing is assumed.
///
/// ```
/// use dobrushin::run::{Order, Run, Training};
///
/// let run = Run::dp_sgd(1000).order(Order::Cyclic).batch_size(10).epochs(3.0).noise_multiplier(1.0).build()?;
/// let Some(training) = run.as_training() else { panic!("it is an iteration") };
/// // Three passes of 100 batches, in each of which a record takes part once.
/// assert_eq!((training.steps(), training.participations()), (Some(300), Some(3)));
/// // Any parameter can be changed; the result is checked again.
/// let shuffled = Run::training(Training { order: Order::Shuffled, ..training.clone() })?;
/// assert_eq!(shuffled.as_training().and_then(Training::steps), Some(300));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// The algorithm, as the papers call it.
    pub algorithm: Algorithm,
    /// The number of records.
    pub records: u64,
    /// The length of the run.
    pub length: Length,
    /// The number of records that a step uses.
    pub batch: Batch,
    /// The records that a step uses.
    pub order: Order,
    /// How records at the end of a pass that fill no batch are handled; `None` if that is not known.
    pub incomplete_batch: Option<IncompleteBatch>,
    /// What is published.
    pub release: Release,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// The record for which the guarantee holds.
    pub record: Record,
    /// The number of further steps, after all others, that use only public data.
    pub public_steps: u64,
    /// The records that were deleted after these steps, and the clean steps that followed, request by request.
    pub forgetting: Vec<Forgotten>,
    /// The number of such runs on the same records, each with its own randomness and order, that are released.
    pub tasks: u64,
    /// Whether a noisy mean of the records is taken before the first step, for the steps to use, and with how much noise.
    pub centre: Option<Centre>,
    /// Whether the released model is then evaluated on the same records, and with how much noise.
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
    /// What is known about the loss.
    pub loss: LossFacts,
    /// What is known about the set of iterates.
    pub domain: DomainFacts,
}

/// A sum over the same records with Gaussian noise, taken once before the first step. All steps may use it, for example to
/// subtract the mean from every record, as long as one record's gradient keeps its bound whatever the sum is.
///
/// ```
/// use dobrushin::run::Centre;
/// use dobrushin::{Positive, Run};
///
/// let run = Run::gradient_descent(100).steps(10).noise_multiplier(5.0).centre_noise(20.0).build()?;
/// let centre = run.as_training().and_then(|training| training.centre);
/// assert_eq!(centre, Some(Centre { noise_multiplier: Positive::new(20.0)? }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Centre {
    /// The noise over the largest norm of one record's contribution to the sum.
    pub noise_multiplier: Positive,
}

/// An evaluation of the released model of each task on the same records: a sum over the records with Gaussian noise.
///
/// ```
/// use dobrushin::run::Evaluation;
/// use dobrushin::{Positive, Run};
///
/// let run = Run::gradient_descent(100).steps(10).noise_multiplier(5.0).evaluation_noise(20.0).build()?;
/// let evaluation = run.as_training().and_then(|training| training.evaluation);
/// assert_eq!(evaluation, Some(Evaluation { noise_multiplier: Positive::new(20.0)? }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// The noise over the largest norm of one record's contribution to the sum.
    pub noise_multiplier: Positive,
}

/// The algorithms that are noisy iterations.
///
/// ```
/// use dobrushin::run::{Algorithm, Batch, Order};
///
/// // Unless more is said, gradient descent uses all records, and PNSGD one of them in each step.
/// assert_eq!(Algorithm::GradientDescent.usual_order(), Some(Order::Full));
/// assert_eq!(Algorithm::Pnsgd.usual_batch(Order::Once, 1000), Some(Batch::Size(1)));
/// // DP-SGD has no usual order: it must be said.
/// assert_eq!(Algorithm::DpSgd.usual_order(), None);
/// ```
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

/// The length of a run.
///
/// ```
/// use dobrushin::run::{Length, Training};
/// use dobrushin::{Order, Run};
///
/// let run = Run::dp_sgd(1000).order(Order::Poisson).batch_size(10).noise_multiplier(1.0);
/// // Two passes over 1000 records in batches of 10.
/// let passes = run.clone().epochs(2.0).build()?;
/// assert_eq!(passes.as_training().and_then(Training::steps), Some(200));
/// let unlimited = run.any_number_of_steps().build()?;
/// assert_eq!(unlimited.as_training().map(|training| training.length), Some(Length::Any));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// A number of steps.
    Steps(u64),
    /// A number of passes over the records.
    Epochs(Positive),
    /// The guarantee must hold for every number of steps.
    Any,
}

/// The size of a batch.
///
/// ```
/// use dobrushin::run::Batch;
/// use dobrushin::{Order, Probability, Run};
///
/// let run = Run::dp_sgd(1000).order(Order::Poisson).steps(100).noise_multiplier(1.0);
/// let run = run.sampling_probability(0.01).build()?;
/// let batch = run.as_training().map(|training| training.batch);
/// assert_eq!(batch, Some(Batch::Probability(Probability::new(0.01)?)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Batch {
    /// The number of its records; for Poisson sampling the expected number.
    Size(u64),
    /// The probability with which each record is in it (Poisson sampling).
    Probability(Probability),
}

/// Which records the steps use.
///
/// ```
/// use dobrushin::run::Training;
/// use dobrushin::{Order, Run};
///
/// let uses = |order| {
///     let run = Run::dp_sgd(1000).order(order).batch_size(10).steps(300).noise_multiplier(1.0).build()?;
///     Ok::<_, dobrushin::RunError>(run.as_training().and_then(Training::participations))
/// };
/// // In turn a record is used once in a pass of 100 steps; at random it may be drawn in every step.
/// assert_eq!((uses(Order::Cyclic)?, uses(Order::Poisson)?), (Some(3), Some(300)));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each record at most once, in a fixed order.
    Once,
    /// In a fixed order, repeatedly.
    Cyclic,
    /// Each pass in a new random order.
    Shuffled,
    /// In each pass every record goes to one of the batches, drawn uniformly and independently of all other records.
    Allocation,
    /// Each record independently with the same probability, drawn independently in each step.
    Poisson,
    /// A uniformly random batch of the given size, drawn independently in each step.
    WithoutReplacement,
    /// All records in each step.
    Full,
}

/// How the records at the end of a pass that are too few for a batch are handled, where records take turns.
///
/// ```
/// use dobrushin::run::Training;
/// use dobrushin::{IncompleteBatch, Order, Run};
///
/// // 25 records in batches of 10: five are left over in each of the two passes.
/// let steps = |ending| {
///     let run = Run::dp_sgd(25).order(Order::Cyclic).batch_size(10).epochs(2.0).incomplete_batch(ending);
///     Ok::<_, dobrushin::RunError>(run.noise_multiplier(1.0).build()?.as_training().and_then(Training::steps))
/// };
/// assert_eq!((steps(IncompleteBatch::Drop)?, steps(IncompleteBatch::Short)?), (Some(4), Some(6)));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncompleteBatch {
    /// They are left out of that pass.
    Drop,
    /// They form a smaller batch.
    Short,
    /// Empty records, which contribute nothing, complete the batch; they count as records of it.
    Pad,
    /// The first records of the next pass complete the batch. After the last pass there are none, and the last batch
    /// may be smaller.
    Fill,
}

/// What is published.
///
/// ```
/// use dobrushin::{Delta, Question, Release, Run};
///
/// let run = Run::gradient_descent(100).steps(1000).learning_rate(0.1).clip_norm(1.0).noise_multiplier(20.0);
/// let epsilon = |release| -> Result<f64, Box<dyn std::error::Error>> {
///     let run = run.clone().convex().generalised_linear().smoothness(1.0).weight_decay(0.1);
///     let run = run.release(release).build()?;
///     Ok(run.account(Question::EpsilonAt(Delta::new(1e-5)?)).guarantee()?.epsilon())
/// };
/// // What stays secret hides the records.
/// assert!(epsilon(Release::Last)? < 0.2 * epsilon(Release::All)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The last iterate only.
    Last,
    /// The iterate at a random time only.
    RandomStop,
    /// The last iterate, after a random number of the first steps was skipped.
    RandomSkip,
    /// Every iterate.
    All,
}

/// The record for which the guarantee holds.
///
/// ```
/// use dobrushin::{Record, Run};
///
/// let run = Run::pnsgd(10).iterate_noise(1.0);
/// let fifth = run.clone().record(Record::Index(5)).build()?;
/// assert_eq!(fifth.as_training(), run.clone().build()?.of_record(5)?.as_training());
/// // There are only ten.
/// assert!(run.record(Record::Index(11)).build().is_err());
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// For every record.
    Worst,
    /// For one record, counted from 1 in the fixed order.
    Index(u64),
}

/// The learning rate η_t of step t.
///
/// ```
/// use dobrushin::run::Training;
/// use dobrushin::{LearningRate, Positive, Run};
///
/// let run = Run::online(100).lipschitz(1.0).gradient_noise(2.0).build()?;
/// let Some(training) = run.as_training() else { panic!("it is an iteration") };
/// let falling = Some(LearningRate::InverseSqrt(Positive::new(0.5)?));
/// let falling = Training { learning_rate: falling, ..training.clone() };
/// // 0.5/√t.
/// assert_eq!(falling.update_at(1).map(|update| update.rate), Some(0.5));
/// assert_eq!(falling.update_at(4).map(|update| update.rate), Some(0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum LearningRate {
    /// The same in every step.
    Constant(Positive),
    /// One for each step.
    List(Vec<Positive>),
    /// c/√t in step t = 1, 2, ….
    InverseSqrt(Positive),
}

/// Why the norm of one record's gradient is bounded.
///
/// ```
/// use dobrushin::run::Contribution;
/// use dobrushin::{Positive, Run};
///
/// let run = Run::pnsgd(100).clip_norm(1.5).noise_multiplier(1.0).build()?;
/// let contribution = run.as_training().and_then(|training| training.contribution);
/// assert_eq!(contribution, Some(Contribution::Clipped(Positive::new(1.5)?)));
/// assert_eq!(contribution.map(Contribution::norm), Some(Positive::new(1.5)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use dobrushin::Run;
/// use dobrushin::run::NoiseKind;
///
/// let run = Run::pnsgd(100).dimension(1).iterate_noise(0.5);
/// let kind = |run: &Run| run.as_training().map(|training| training.noise_kind);
/// assert_eq!(kind(&run.clone().build()?), Some(NoiseKind::Gaussian));
/// assert_eq!(kind(&run.laplace().build()?), Some(NoiseKind::Laplace));
/// # Ok::<(), dobrushin::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
    /// Gaussian in every coordinate; its size is the standard deviation.
    Gaussian,
    /// Laplace, in one dimension; its size is the scale.
    Laplace,
}

/// The size of the noise, in one of three conventions.
///
/// ```
/// use dobrushin::{Order, Run};
///
/// let run = Run::dp_sgd(1000).order(Order::Cyclic).batch_size(10).epochs(1.0).learning_rate(0.5).clip_norm(4.0);
/// let noise = |run: &Run| run.as_training().and_then(|training| training.update_at(1)).map(|update| update.noise);
/// // η = 0.5, C = 4, b = 10: a multiplier of 2 is m·C/b = 0.8 for the gradient, and η·0.8 = 0.4 for the iterate.
/// let of_iterate = noise(&run.clone().iterate_noise(0.4).build()?);
/// assert_eq!(of_iterate, Some(0.4));
/// for same in [run.clone().noise_multiplier(2.0), run.gradient_noise(0.8)] {
///     assert!(noise(&same.build()?).is_some_and(|noise| (noise - 0.4).abs() < 1e-15));
/// }
/// # Ok::<(), dobrushin::RunError>(())
/// ```
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
///
/// ```
/// use dobrushin::run::{Assumption, Divisor};
/// use dobrushin::{Order, Run};
///
/// let run = Run::dp_sgd(1000).order(Order::Poisson).batch_size(10).steps(100).clip_norm(1.0).noise_multiplier(1.0);
/// let fixed = run.clone().build()?.composition()?;
/// assert!(fixed.assumptions.contains(&Assumption::DividedBy(10.0)));
/// let drawn = run.divide_by(Divisor::Actual).build()?.composition()?;
/// assert!(drawn.assumptions.contains(&Assumption::DividedByTheNumberDrawn));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divisor {
    /// The (expected) batch size, regardless of the number drawn.
    BatchSize,
    /// The number of records that were drawn.
    Actual,
}

/// What is known about each record's loss.
///
/// ```
/// use dobrushin::run::LossFacts;
/// use dobrushin::{Positive, Run};
///
/// // What is not said is not assumed.
/// let run = Run::pnsgd(100).iterate_noise(1.0).convex().smoothness(0.25).build()?;
/// let known = LossFacts { convex: Some(true), smoothness: Some(Positive::new(0.25)?), ..LossFacts::default() };
/// assert_eq!(run.as_training().map(|training| training.loss), Some(known));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

/// What is known about the set of iterates.
///
/// ```
/// use dobrushin::run::DomainFacts;
/// use dobrushin::{Positive, Run};
///
/// let run = Run::pnsgd(100).iterate_noise(1.0).diameter(2.0).build()?;
/// let known = DomainFacts { diameter: Some(Positive::new(2.0)?), dimension: None };
/// assert_eq!(run.as_training().map(|training| training.domain), Some(known));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

/// The usual values, for what is not given.
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
    /// The length, if it is not given: one pass, for records that are used once.
    pub fn usual_length(self) -> Option<Length> {
        (self == Self::Once).then(|| Positive::new(1.0).ok().map(Length::Epochs)).flatten()
    }
}
