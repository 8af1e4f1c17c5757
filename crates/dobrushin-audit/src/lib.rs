//! The exact privacy of one-dimensional noisy iterations: the oracle against which bounds are
//! audited.
//!
//! A [`OneDimensionalChain`] is W₀ = start, W_t = Π(ψ_t(W_{t−1}) + noise_t) on an interval, with
//! piecewise affine maps and Gaussian or Laplace noise, for two neighbouring data sets whose maps
//! differ in the steps where the record takes part, which it does for certain, never, or with a
//! hidden probability. [`OneDimensionalChain::laws`] computes both laws of the last iterate, and
//! [`Laws::hockey_stick`] and [`Laws::renyi`] how far apart they are. What a theorem promises for
//! every algorithm of a kind, it promises for these chains: a bound below the *lower* end of an
//! enclosure from here is wrong.
//!
//! ```
//! use dobrushin::{Gamma, profile::Direction};
//! use dobrushin_audit::{Interval, Map, Noise, OneDimensionalChain, Step};
//!
//! // One step that differs, and one that does not, on [0, 1].
//! let noise = Noise::Gaussian(1.0);
//! let chain = OneDimensionalChain {
//!     interval: Interval::new(0.0, 1.0)?,
//!     start: 0.5,
//!     steps: vec![
//!         Step::always(noise, Map::affine(1.0, 1.0)?, Map::affine(1.0, -1.0)?),
//!         Step::never(noise, Map::identity()),
//!     ],
//! };
//! let exact = chain.laws()?.hockey_stick(Direction::Forward, Gamma::ONE);
//! assert!(exact.lower() > 0.254131 && exact.upper() < 0.254133 && exact.width() < 1e-12);
//! # Ok::<(), dobrushin_audit::Error>(())
//! ```
//!
//! # What is proved
//! The law before the projection is represented by a finite mixture of noise laws, exact after
//! the first step. Each later step
//!
//! - takes the atoms at the ends of the interval, and the probability of every piece on which the
//!   maps are constant, from distribution functions;
//! - replaces the density elsewhere by Gauss–Legendre nodes on panels on which all maps are
//!   affine. The integrand is entire; off the real line it grows no faster than
//!   exp(v²/2·(1/r² + c²/s²)) for previous noise r, next noise s and slope c; so the rule's error
//!   has a bound, in L¹ for all events at once, which is kept below 1e-18 per panel (see the
//!   sources of `legendre.rs` and `transition.rs`).
//!
//! Kernels do not increase L¹ distances, so the errors of the steps add. Roundings (of nodes,
//! weights, centres, exponentials and sums) are bounded in the same norm and included;
//! [`Laws::error`] is the total, 1e-14 or so for each step on an interval of a few noise
//! deviations, more if the interval is long or far from 0.
//!
//! The final densities are expanded in Taylor polynomials on cells of one noise scale, with a
//! bound for remainder and roundings. The integral of (p − γq)₊ is then that of polynomials'
//! positive parts, whose sign changes are isolated: the lower end comes from an actual event (up
//! to rounding), and the upper end exceeds it by a bound for what a better event could gain. All
//! errors are then moved outwards, times 1 + γ. For a few steps on a few noise deviations the
//! enclosure is 1e-13·(1 + γ) to 1e-12·(1 + γ) wide, *absolutely*: below that nothing is
//! resolved, and the lower end is 0.
//!
//! The enclosure of a Rényi divergence is about 1e-6 wide, as long as no likelihood ratio that
//! matters comes from probabilities near 1e-14; beyond, it widens, and its upper end may be
//! infinite.
//!
//! What is *not* proved: that the reference arithmetic behind the Legendre nodes, and the
//! correctly rounded exponential, are what they claim to be.
//!
//! # Floors
//! [`floor::floor`] looks for two neighbouring data sets that obey every fact of a run, and whose releases are as far apart
//! as possible. No analysis of these facts proves less.
//!
//! # Runs of anybody's program
//! [`evidence`] turns the scores that an attacker gave to released models into a lower bound on ε, and says whether they
//! contradict a claim. [`trained`] attacks models that are trained here.
//!
//! # Limits
//! Laplace noise on a map that is not piecewise constant is exact from the starting point only,
//! and refused later. An interval may be 20 000 noise scales long.

// Tests compare with the functions of the standard library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod attack;
mod chain;
mod empirical;
mod error;
pub mod floor;
pub mod instances;
mod interval;
mod journal;
mod laws;
mod legendre;
mod legendre_table;
mod map;
mod mixture;
mod positive_part;
mod renyi;
mod repeated;
pub mod simulator;
pub mod starts;
mod step;
mod taylor;
pub mod trained;
mod transition;

pub use chain::OneDimensionalChain;
pub use empirical::{
    Canaries, Contradiction, Evidence, GaussianEvidence, Guesses, Models, OneRun, Point, Purpose, Rates,
    Refutation, Risk, Rule, Scores, Tail, evidence, guesses_for, one_run, score_models,
};
pub use error::Error;
pub use interval::Interval;
pub use journal::{Journal, JournalError};
pub use laws::Laws;
pub use map::Map;
pub use step::{Noise, Step};
