//! Losses, one file each: its formula, its constants with their proofs, and what its score predicts.
//!
//! A new loss is a file with a `ScoreLoss`, declared here as a module and named in the list below. Cross-entropy, the
//! loss of as many scores as there are classes, is separate: softmax models and networks share it.
//!
//! # Constants
//! A loss ℓ(z, y) is that of a score z = ⟨w, x⟩ and a target y. Where y is a class, it is 0 or 1, and s = 2y − 1. Let r
//! = ‖x‖ ≤ R, let parameters have norm at most `reach`, so that scores are at most B = R·reach, and let targets be
//! between l and u, Y = max(|l|, |u|).
//!
//! The gradient is ℓ′(⟨w, x⟩, y)·x, the Hessian ℓ″·xxᵀ. So the Lipschitz constant is L = sup r|ℓ′|, and the smoothness
//! β = sup r²ℓ″. Every ℓ is convex in z, so |ℓ′| is largest at an end of the scores. Clipping to norm C replaces ℓ′ by
//! its nearest value in ±C/r, which again increases with the score: the clipped gradient is that of a convex function,
//! and its slope is ℓ″ where |ℓ′| < C/r, and 0 elsewhere.
//!
//! No ℓ is strongly convex in w: it does not change along parameters that are orthogonal to x.

pub(crate) mod cross_entropy;
mod hinge;
mod huber;
mod logistic;
mod poisson;
mod quantile;
mod smoothed_hinge;
mod smoothing;
mod squared;
mod targets;

use crate::Target;
use dobrushin::{Enclosure, Positive, Probability};

/// Makes everything that has to know every loss, from a list of losses.
macro_rules! losses {
    ($($module:ident::$name:ident,)*) => {
        $(pub use $module::$name;)*

        /// A loss ℓ(z, y) of a score z = ⟨w, x⟩.
        ///
        /// ```
        /// use dobrushin_train::loss::{Huber, Loss};
        ///
        /// let loss = Loss::from(Huber { width: dobrushin::Positive::new(2.0)? });
        /// assert_eq!(loss.value(1.0, 4.0, 1.0), 4.0);
        /// assert_eq!(loss.derivative(1.0, 4.0, 1.0), -2.0);
        /// # Ok::<(), dobrushin::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Loss {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)*
        }

        $(impl From<$name> for Loss {
            fn from(loss: $name) -> Self {
                Self::$name(loss)
            }
        })*

        impl Loss {
            /// All kinds of losses.
            pub fn kinds() -> Vec<Kind> {
                vec![$(Kind { name: $name::kind(), keys: $name::keys() },)*]
            }

            /// The loss of a kind, with the numbers that the keys give; `None` if no loss has this name.
            ///
            /// # Errors
            /// What is wrong with a number.
            pub fn read<K: Keys>(kind: &str, keys: &K) -> Result<Option<Self>, K::Error> {
                $(if kind == $name::kind() {
                    return $name::read(keys).map(|loss| Some(loss.into()));
                })*
                Ok(None)
            }

            pub(crate) fn as_score_loss(&self) -> &dyn ScoreLoss {
                match self {
                    $(Self::$name(loss) => loss,)*
                }
            }
        }
    };
}
losses! {
    squared::Squared,
    huber::Huber,
    logistic::Logistic,
    smoothed_hinge::SmoothedHinge,
    hinge::Hinge,
    quantile::Quantile,
    poisson::Poisson,
}

/// A loss ℓ(z, y) of a record's score and target.
///
/// # Laws
/// For every target that [`ScoreLoss::check`] accepts, ℓ is convex in z. [`ScoreLoss::lipschitz`] and
/// [`ScoreLoss::smoothness`] are never too small: what a certificate says rests on them.
pub(crate) trait ScoreLoss {
    /// Its `model.kind` in run files.
    fn kind() -> &'static str
    where
        Self: Sized;

    /// The keys of `[model]` that it takes.
    fn keys() -> &'static [Key]
    where
        Self: Sized,
    {
        &[]
    }

    /// The loss that the keys describe.
    fn read<K: Keys>(keys: &K) -> Result<Self, K::Error>
    where
        Self: Sized;

    /// Refuses targets, and numbers of its own, for which it is not a loss: it says what does not fit, and what would.
    fn check(&self, target: Target) -> Result<(), String>;

    /// ℓ(z, y) of a record whose features have the given norm, which only Gaussian smoothing uses.
    fn value(&self, score: f64, target: f64, norm: f64) -> f64;

    /// ∂ℓ(z, y)/∂z, increasing in z; where ℓ has a corner, the middle of its slopes.
    fn derivative(&self, score: f64, target: f64, norm: f64) -> f64;

    /// L = sup r|ℓ′|.
    fn lipschitz(&self, within: &Within) -> Enclosure;

    /// β = sup r²ℓ″ over the scores where r|ℓ′| is below `clip`.
    fn smoothness(&self, within: &Within, clip: Option<Enclosure>) -> Enclosure;

    /// What a score predicts: itself, unless the loss says otherwise.
    fn prediction(&self, score: f64) -> Prediction {
        Prediction::Value(score)
    }
}

/// Bounds on records, their targets and their scores.
pub(crate) struct Within {
    /// R, the largest norm of features.
    pub norm: Enclosure,
    /// B, the largest absolute value of a score; it may be ∞.
    pub score: Enclosure,
    /// l, the smallest target.
    pub lower: Enclosure,
    /// u, the largest target.
    pub upper: Enclosure,
}

impl Within {
    /// The largest score is B = R·reach where parameters have norm at most `reach`, and ∞ where they are not bounded.
    pub fn new(norm: Positive, reach: Option<f64>, target: Target) -> Self {
        let norm = Enclosure::from(norm);
        let score = match reach {
            Some(reach) if reach >= 0.0 => norm * Enclosure::from(reach),
            _ => Enclosure::INFINITE,
        };
        let (lower, upper) = match target {
            Target::Range { lower, upper } => (lower.into(), upper.into()),
            // A loss of one score has two classes.
            Target::Classes(_) => (Enclosure::ZERO, Enclosure::ONE),
        };
        Self { norm, score, lower, upper }
    }

    /// B + Y, the largest |z − y|.
    pub fn gap(&self) -> Enclosure {
        self.score + (-self.lower).max(self.upper)
    }
}

/// What a model predicts.
///
/// ```
/// use dobrushin_train::loss::{Logistic, Squared};
/// use dobrushin_train::{Model, Prediction};
///
/// // A score of 0 is either class with probability 1/2, or the number 0.
/// let classes = Model::Linear { loss: Logistic.into(), features: 1 }.prediction(&[0.0]);
/// assert!(matches!(classes, Prediction::Class { probabilities, .. } if probabilities == [0.5, 0.5]));
/// let number = Model::Linear { loss: Squared.into(), features: 1 }.prediction(&[0.0]);
/// assert_eq!(number, Prediction::Value(0.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// A number; for counts, their mean.
    Value(f64),
    /// A class.
    Class {
        /// Which one, counted from 0; if several are equally good, the first.
        class: usize,
        /// The probability of each class; empty where the loss gives none, like the hinges.
        probabilities: Vec<f64>,
    },
}

impl Prediction {
    /// The class on whose side of 0 the score is, without probabilities.
    fn side(score: f64) -> Self {
        Self::Class { class: usize::from(score > 0.0), probabilities: Vec::new() }
    }
}

/// A key of `[model]` in run files.
///
/// ```
/// use dobrushin_train::Loss;
///
/// // The Huber loss takes its width.
/// let kinds = Loss::kinds();
/// let huber = kinds.iter().find(|kind| kind.name == "huber").ok_or("it is one of them")?;
/// assert!(huber.keys.iter().all(|key| key.example.contains(key.name)) && !huber.keys.is_empty());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// An example of its use.
    pub example: &'static str,
}

/// A kind of loss, as run files describe it.
///
/// ```
/// use dobrushin_train::Model;
///
/// // The names that `model.kind` of a run file may have.
/// assert!(Model::kinds().iter().any(|kind| kind.name == "logistic" && kind.keys.is_empty()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// Its `model.kind` in run files.
    pub name: &'static str,
    /// The keys that it also takes.
    pub keys: &'static [Key],
}

/// Where a loss finds its numbers.
pub trait Keys {
    /// What is wrong with a number.
    type Error;

    /// A number above 0.
    ///
    /// # Errors
    /// If it is missing, or not above 0.
    fn positive(&self, key: &'static str) -> Result<Positive, Self::Error>;

    /// A number between 0 and 1, if it is given.
    ///
    /// # Errors
    /// If it is not between 0 and 1.
    fn probability(&self, key: &'static str) -> Result<Option<Probability>, Self::Error>;
}

impl Loss {
    /// ℓ(z, y) of a record whose features have the given norm, which only Gaussian smoothing uses.
    ///
    /// It is finite for a finite score and target: a value that is too large becomes the largest `f64`.
    pub fn value(&self, score: f64, target: f64, norm: f64) -> f64 {
        saturated(self.as_score_loss().value(score, target, norm))
    }

    /// ∂ℓ(z, y)/∂z, increasing in z; where ℓ has a corner, the middle of its slopes.
    ///
    /// It is finite for a finite score and target: a value that is too large becomes the largest `f64`.
    pub fn derivative(&self, score: f64, target: f64, norm: f64) -> f64 {
        saturated(self.as_score_loss().derivative(score, target, norm))
    }
}

fn saturated(value: f64) -> f64 {
    value.clamp(-f64::MAX, f64::MAX)
}

#[cfg(test)]
pub(crate) mod tests;
