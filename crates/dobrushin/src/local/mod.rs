//! Local privacy: what a promise about every single answer costs.
//!
//! [`LocalPrivacy`] is the promise, and what it says about contraction; [`Coins`] is an example in which the least
//! error that any estimator can have is bounded from below in several ways.

mod coins;
mod promise;

pub use coins::Coins;
pub use promise::LocalPrivacy;
