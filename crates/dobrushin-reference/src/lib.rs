//! Arbitrary-precision reference values.
//!
//! The library encloses special functions in intervals of `f64`s; this crate says what the true
//! values are, to far more digits than an `f64` holds, so that tests can check the enclosures and
//! the tables of constants can be generated.
//!
//! * [`Real`] is a floating-point number that carries its precision in bits.
//! * [`mills()`], [`tail`], [`cdf`], [`ln_tail`], [`erfc`], [`erfcx`] are the normal distribution,
//!   and [`mills_taylor`] gives the Taylor coefficients of the Mills ratio.
//! * [`theta()`], [`ln_theta`], [`one_minus_theta`] are the hockey-stick divergence between two
//!   unit normal laws at a distance `r`.
//! * [`ln_gamma`], [`chi_square_cdf`], [`chi_square_sf`], [`regularised_beta`] and
//!   [`regularised_beta_complement`] are the gamma and beta families.
//! * [`golden()`] reads the values that were computed elsewhere, and [`depth()`] says how many cases the tests try.
//!
//! # Accuracy
//!
//! A function of a [`Real`] takes its argument as exact and answers with the argument's precision.
//! A function of `f64`s answers with [`PRECISION`] bits. In both cases the relative error is less
//! than `2^-(bits - 16)`, where `bits` is the precision of the answer, as long as the answer is
//! within the exponent range, about `2^±2^31`. A smaller answer is zero, a larger one infinite.
//! No error bound is proved: the tests compare independent algorithms, different precisions and
//! published digits.

mod beta;
mod chi_square;
mod constants;
mod depth;
mod elementary;
mod gamma;
mod golden;
mod memo;
mod mills;
mod normal;
mod operators;
mod real;
mod taylor;
mod theta;

pub use beta::{regularised_beta, regularised_beta_complement};
pub use chi_square::{chi_square_cdf, chi_square_sf};
pub use depth::{depth, is_deep};
pub use gamma::ln_gamma;
pub use golden::golden;
pub use mills::mills;
pub use normal::{cdf, erfc, erfcx, ln_tail, tail};
pub use real::{Real, is_inside};
pub use taylor::mills_taylor;
pub use theta::{ln_theta, ln_theta_at, one_minus_theta, one_minus_theta_at, theta, theta_at};

/// The precision, in bits, of the answers of the functions of `f64`s.
pub const PRECISION: usize = 128;
