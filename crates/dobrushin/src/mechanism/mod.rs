//! From a mechanism, the way its batch is drawn and the neighbouring relation to the pair of
//! laws that dominates it.
//!
//! ```
//! use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
//! use dobrushin::{Positive, Probability};
//! // One step of DP-SGD.
//! let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(1.0)? };
//! let sampling = Sampling::Poisson(Probability::new(0.01)?);
//! let pair = dominating_pair(&mechanism, sampling, Neighbours::AddOrRemoveOne)?;
//! assert!(!pair.is_symmetric());
//! // A batch of fixed size would tell how many records there are.
//! let sampling = Sampling::WithoutReplacement(Probability::new(0.01)?);
//! assert!(dominating_pair(&mechanism, sampling, Neighbours::AddOrRemoveOne).is_err());
//! # Ok::<(), dobrushin::Error>(())
//! ```

mod channel;
mod sampled;
mod subsampled;

pub use sampled::dominating_pair;
pub use subsampled::{Distances, SubsampledGaussian};

use crate::kernel::FiniteKernel;
use crate::profile::PrivacyProfile;
use crate::{Delta, Epsilon, Positive, Probability};
use std::fmt;
use std::sync::Arc;

/// Which data sets are neighbours.
///
/// ```
/// use dobrushin::{Delta, Neighbours, Question, Run};
///
/// let run = Run::gradient_descent(100).steps(10).clip_norm(1.0).noise_multiplier(5.0);
/// let epsilon = |neighbours| -> Result<f64, Box<dyn std::error::Error>> {
///     let run = run.clone().neighbours(neighbours).build()?;
///     Ok(run.account(Question::EpsilonAt(Delta::new(1e-5)?)).guarantee()?.epsilon())
/// };
/// // A record that is replaced moves a sum twice as far as one that is zeroed out.
/// assert!(epsilon(Neighbours::ReplaceOne)? > 2.0 * epsilon(Neighbours::ZeroOut)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Neighbours {
    /// One record is replaced; the number of records is public.
    ReplaceOne,
    /// One record is added or removed.
    AddOrRemoveOne,
    /// One record is replaced by an empty one, which contributes nothing; the number of records is public.
    ZeroOut,
}

impl Neighbours {
    /// The distance by which neighbours move a sum, in units of one record's contribution.
    pub(crate) fn contributions_apart(self) -> f64 {
        match self {
            Self::ReplaceOne => 2.0,
            Self::AddOrRemoveOne | Self::ZeroOut => 1.0,
        }
    }
}

/// Which records take part.
///
/// ```
/// use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
/// use dobrushin::profile::Direction;
/// use dobrushin::{Enclosure, Positive, Probability};
///
/// let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(1.0)? };
/// let advantage = |sampling| {
///     let pair = dominating_pair(&mechanism, sampling, Neighbours::AddOrRemoveOne)?;
///     Ok::<_, dobrushin::Error>(pair.law(Direction::Forward).advantage(Enclosure::ZERO))
/// };
/// // Who is drawn one time in ten can be told from who is missing a tenth as well.
/// let tenth = advantage(Sampling::Poisson(Probability::new(0.1)?))? / advantage(Sampling::Every)?;
/// assert!((tenth.upper() - 0.1).abs() < 1e-9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// All of them.
    Every,
    /// Each with the given probability, independently of the others.
    Poisson(Probability),
    /// A batch of fixed size, all such batches being equally likely; the probability is its size over the number of
    /// records.
    WithoutReplacement(Probability),
}

/// The computation on the records that take part.
///
/// Where records are summed and noise is added, parameters are relative to the largest contribution of *one* record,
/// and a mean is a sum divided by a number that does not depend on the data. Records that are added, removed or zeroed
/// out change the sum by this contribution, and a replaced record changes it by twice as much.
///
/// ```
/// use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
/// use dobrushin::profile::Direction;
/// use dobrushin::{Enclosure, Epsilon};
///
/// // Randomised response that tells the truth 3 times in 4: its advantage is 3/4 − 1/4.
/// let response = Mechanism::RandomisedResponse { epsilon: Epsilon::new(3_f64.ln())? };
/// let pair = dominating_pair(&response, Sampling::Every, Neighbours::ReplaceOne)?;
/// let advantage = pair.law(Direction::Forward).advantage(Enclosure::ZERO);
/// assert!((advantage.upper() - 0.5).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Mechanism {
    /// A sum of vectors with normal noise in every coordinate.
    Gaussian {
        /// Standard deviation over the largest ℓ₂-norm of one record's vector.
        noise_multiplier: Positive,
    },
    /// A sum of numbers with Laplace noise.
    Laplace {
        /// Scale over the largest absolute value of one record's number.
        noise_multiplier: Positive,
    },
    /// A sum of integers with discrete Gaussian noise.
    DiscreteGaussian {
        /// σ of P(k) ∝ e^(−k²/(2σ²)).
        sigma: Positive,
        /// The largest absolute value of one record's integer.
        sensitivity: u32,
    },
    /// A sum of integers with two-sided geometric noise.
    DiscreteLaplace {
        /// t of P(k) ∝ e^(−|k|/t).
        scale: Positive,
        /// The largest absolute value of one record's integer.
        sensitivity: u32,
    },
    /// A bit, reported truthfully with probability e^ε/(1 + e^ε).
    RandomisedResponse {
        /// ε.
        epsilon: Epsilon,
    },
    /// One of k ≥ 2 answers; the true one has e^ε times the probability of each other.
    KaryRandomisedResponse {
        /// ε.
        epsilon: Epsilon,
        /// k.
        categories: u32,
    },
    /// A choice whose privacy loss on neighbours lies in a range of length ε: the exponential
    /// mechanism with weights e^(εu/(2∆)), for a utility u that neighbours change by at most ∆.
    Exponential {
        /// ε.
        epsilon: Epsilon,
    },
    /// A local randomiser with finitely many inputs; neighbours may have any two of them.
    Channel(FiniteKernel),
    /// A pass of several steps, each with its mechanism: every record takes part in one of them, drawn uniformly and
    /// independently of all other records.
    Allocated {
        /// The steps that are made: equal ones with their number.
        steps: Vec<(Mechanism, u64)>,
        /// The number of steps among which a record's is drawn. If fewer are made, a record may take part in none.
        batches: u64,
    },
    /// Any mechanism that is (ε, δ)-DP for the neighbours in question.
    Approximate {
        /// ε.
        epsilon: Epsilon,
        /// δ.
        delta: Delta,
    },
    /// Any mechanism with the given profile for the neighbours in question, the law with the
    /// record coming first in the forward direction.
    Profile(Arc<dyn PrivacyProfile>),
}

impl fmt::Display for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReplaceOne => "replace-one neighbours",
            Self::AddOrRemoveOne => "add-or-remove-one neighbours",
            Self::ZeroOut => "zero-out neighbours",
        })
    }
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Every => "every record",
            Self::Poisson(_) => "Poisson sampling",
            Self::WithoutReplacement(_) => "sampling without replacement",
        })
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gaussian { .. } => "the Gaussian mechanism",
            Self::Laplace { .. } => "the Laplace mechanism",
            Self::DiscreteGaussian { .. } => "the discrete Gaussian mechanism",
            Self::DiscreteLaplace { .. } => "the discrete Laplace mechanism",
            Self::RandomisedResponse { .. } => "randomised response",
            Self::KaryRandomisedResponse { .. } => "k-ary randomised response",
            Self::Exponential { .. } => "the exponential mechanism",
            Self::Channel(_) => "a channel",
            Self::Allocated { .. } => "a pass with random allocation",
            Self::Approximate { .. } => "an (ε, δ)-DP mechanism",
            Self::Profile(_) => "a mechanism with a given profile",
        })
    }
}
