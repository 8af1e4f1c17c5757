//! Local privacy: the cost of a promise about every single answer, and the gain from shuffling the answers.
//!
//! [`LocalPrivacy`] is the promise, with its consequences for contraction. [`frequency`] and [`mean`] contain the
//! mechanisms that keep it; each has an exact [`LocalProfile`] and draws from a source of random
//! [`bits`](dobrushin::numeric::bits); [`estimate`] turns their reports into frequencies, means and quantiles; [`risk`]
//! gives lower bounds on the error of every estimator or test; [`Survey`] divides a promise among several questions;
//! [`Shuffled`] is the privacy of the answers once nobody knows whose they are.

mod chi_squared;
pub mod estimate;
pub mod frequency;
pub mod mean;
mod profile;
mod promise;
pub mod risk;
mod shuffle;
mod survey;
mod threshold;

pub use profile::LocalProfile;
pub use promise::LocalPrivacy;
pub use risk::Coins;
pub use shuffle::Shuffled;
pub use survey::{Asked, Survey};
