//! Local privacy: what a promise about every single answer costs.
//!
//! [`LocalPrivacy`] is the promise, and what it says about contraction. [`frequency`] and [`mean`] have the mechanisms
//! that keep it, each with its exact [`LocalProfile`] and drawing from a source of [`bits`]; [`estimate`] turns their
//! reports into frequencies, means and quantiles. [`Coins`] is an example in which the least error that any estimator
//! can have is bounded from below in several ways.

pub mod bits;
mod coins;
pub mod estimate;
pub mod frequency;
pub mod mean;
mod profile;
mod promise;
mod threshold;

pub use bits::{Coin, RandomBits};
pub use coins::Coins;
pub use profile::LocalProfile;
pub use promise::LocalPrivacy;
