//! How private is the last iterate of a noisy iterative algorithm?
//!
//! This crate is the mathematics behind that question, with no input or
//! output, no clock, no randomness and no global state. From the ground up:
//!
//! - [`numeric`]: outward-rounded [`Enclosure`]s, and the special functions
//!   privacy needs as enclosures, right in the deepest tails;
//! - [`divergence`]: the hockey-stick divergence E_γ, Rényi and
//!   f-divergences of Gaussian, Laplace and finite pairs;
//! - [`kernel`]: Markov kernels, their contraction coefficients η_γ, the
//!   tight curve F_γ, and what a kernel does to any f-divergence;
//! - [`profile`]: privacy profiles, Rényi curves, and the best (ε, δ) they imply;
//! - [`loss`] and [`mechanism`]: privacy losses of mechanisms, added up;
//! - [`chain`]: one record's view of a noisy iteration with hidden states;
//! - [`run`] and [`lower`]: runs, checked, and what they are to one record, or to an observer of all their steps;
//! - [`analysis`]: the theorems about such chains, one file each;
//! - [`account`]: what every analysis says about a run, and the noise that a target needs;
//! - [`utility`]: how good what a run releases is, in expectation;
//! - [`statement`]: every theorem the crate relies on, as data.
//!
//! Every computed number is an [`Enclosure`]: the true value lies between
//! `lower()` and `upper()`, and only `upper()` of a divergence is ever a
//! privacy guarantee.
//!
//! ```
//! use dobrushin::divergence::{GaussianPair, Pair};
//! use dobrushin::Gamma;
//!
//! // Two outcomes 0.5 noise standard deviations apart, seen at ε = 5.
//! let pair = GaussianPair::new(0.5, 1.0)?;
//! let delta = pair.hockey_stick(Gamma::from_epsilon(5.0)?);
//! assert!(delta.lower() > 4.4e-24 && delta.upper() < 4.5e-24);
//! # Ok::<(), dobrushin::Error>(())
//! ```

pub mod account;
pub mod analysis;
pub mod chain;
pub mod divergence;
mod error;
pub mod kernel;
pub mod loss;
pub mod lower;
pub mod mechanism;
pub mod numeric;
pub mod profile;
mod quantity;
pub mod run;
pub mod statement;
pub mod utility;

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub use divergence::Gamma;
pub use error::Error;
pub use numeric::Enclosure;
pub use quantity::{Delta, Epsilon, NonNegative, Positive, Probability, RenyiOrder};
pub use run::NotApplicable;
