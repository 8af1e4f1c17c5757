//! How private is the last iterate of a noisy iterative algorithm?
//!
//! Most accountants treat every step as published, so their ε grows with every step. This crate also knows the theorems
//! about hidden steps. You describe a [`Run`]; the crate applies every theorem that fits, and returns the best
//! guarantee with its assumptions.
//!
//! ```
//! use dobrushin::{Delta, Order, Question, Release, Run};
//!
//! // A logistic regression on 30,162 people that publishes its last model only.
//! let run = Run::dp_sgd(30_162)
//!     .batch_size(512)
//!     .order(Order::WithoutReplacement)
//!     .steps(11_800)
//!     .release(Release::Last)
//!     .learning_rate(2.0)
//!     .clip_norm(1.0)
//!     .noise_multiplier(4.0)
//!     .weight_decay(0.02)
//!     .convex()
//!     .generalised_linear()
//!     .smoothness(0.25)
//!     .diameter(10.0)
//!     .build()?;
//! let account = run.account(Question::EpsilonAt(Delta::new(1e-6)?));
//! assert_eq!(account.guarantee()?.to_string(), "(ε, δ) = (0.5814, 1e-6), by shift-subsampled");
//!
//! // If every model were published, this is what would hold.
//! assert!(account.if_published().is_some_and(|published| published.value.upper() > 5.7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The modules, from the ground up
//! - [`numeric`]: outward-rounded [`Enclosure`]s, and enclosures of the special functions that privacy needs, valid in
//!   the deepest tails;
//! - [`divergence`]: the hockey-stick divergence E_γ, Rényi and f-divergences of Gaussian, Laplace and finite pairs;
//! - [`kernel`]: Markov kernels, their contraction coefficients η_γ, the tight curve F_γ, and how a kernel contracts
//!   any f-divergence;
//! - [`profile`]: privacy profiles, Rényi curves, and the best (ε, δ) that they imply;
//! - [`loss`] and [`mechanism`]: privacy losses of mechanisms, and their composition;
//! - [`chain`]: one record's view of a noisy iteration with hidden states;
//! - [`run`] and [`lower`]: checked runs, and what one record, or an observer of all steps, sees of them;
//! - [`analysis`]: the theorems about such chains and about compositions, one file each;
//! - [`account`]: what every analysis says about a run, and the noise that a target needs;
//! - [`utility`]: how good the released model is, in expectation;
//! - [`statement`]: every theorem that the crate relies on, as data.
//!
//! Every computed number is an [`Enclosure`]: the true value lies between `lower()` and `upper()`, and only the
//! `upper()` of a divergence is a privacy guarantee. The crate has no input or output, no clock, no randomness and no
//! global state.

// Tests compare with the functions of the standard library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

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
mod progress;
mod quantity;
pub mod run;
pub mod statement;
pub mod utility;

/// The example in this crate's README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use account::{Account, Answer, Guarantee, Options, Question, Target};
pub use analysis::Analysis;
pub use chain::Chain;
pub use divergence::Gamma;
pub use error::Error;
pub use mechanism::Neighbours;
pub use numeric::Enclosure;
pub use profile::PrivacyProfile;
pub use progress::{Progress, Stopped};
pub use quantity::{Delta, Epsilon, NonNegative, Positive, Probability, RenyiOrder};
pub use run::{
    Assumption, Fact, IncompleteBatch, LearningRate, NotApplicable, Order, Parameter, Record, Release, Run,
    RunBuilder, RunError,
};
