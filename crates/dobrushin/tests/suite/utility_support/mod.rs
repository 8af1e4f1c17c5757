//! A run on convex losses, for the tests of its utility.

pub mod problems;

use dobrushin::run::{Batch, Order, Release, Run, Training};
use dobrushin::{Positive, Probability};

pub fn positive(value: f64) -> Positive {
    Positive::new(value).expect("positive")
}

/// A run on convex losses; the tests change what they need.
pub fn training(records: u64, dimension: u64) -> Training {
    Run::pnsgd(records)
        .order(Order::Once)
        .batch_size(1)
        .epochs(1.0)
        .release(Release::RandomStop)
        .learning_rate(0.1)
        .lipschitz(1.0)
        .gradient_noise(1.0)
        .convex()
        .diameter(2.0)
        .dimension(dimension)
        .training()
        .expect("all is said")
}

/// Poisson sampling with this probability.
pub fn probability(p: f64) -> Batch {
    Batch::Probability(Probability::new(p).expect("a probability"))
}
