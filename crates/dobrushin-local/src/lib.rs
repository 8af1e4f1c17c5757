//! Local privacy: what a promise about every single answer costs, and what shuffling the answers gives back.
//!
//! [`LocalPrivacy`] is the promise, and what it says about contraction. [`frequency`] and [`mean`] have the mechanisms
//! that keep it, each with its exact [`LocalProfile`] and drawing from a source of random [`bits`](dobrushin::numeric::bits); [`estimate`] turns their
//! reports into frequencies, means and quantiles; [`risk`] bounds from below the error that any estimator or test
//! must have; [`Shuffled`] is how private the answers are once nobody knows whose they are.

mod chi_squared;
pub mod estimate;
pub mod frequency;
pub mod mean;
mod profile;
mod promise;
pub mod risk;
mod shuffle;
mod threshold;

pub use profile::LocalProfile;
pub use promise::LocalPrivacy;
pub use risk::Coins;
pub use shuffle::Shuffled;
