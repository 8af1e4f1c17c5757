//! Local privacy: what a promise about every single answer costs, and what shuffling the answers gives back.
//!
//! [`LocalPrivacy`] is the promise, and what it says about contraction; [`risk`] bounds from below the error that any
//! estimator or test must then have; [`Shuffled`] is how private the answers are once nobody knows whose they are.

mod promise;
pub mod risk;
mod shuffle;

pub use promise::LocalPrivacy;
pub use risk::Coins;
pub use shuffle::Shuffled;
