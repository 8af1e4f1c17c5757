//! A run on convex losses, for the tests of its utility.

pub mod problems;

use dobrushin::mechanism::Neighbours;
use dobrushin::run::{
    Algorithm, Batch, Contribution, Divisor, DomainFacts, LearningRate, Length, LossFacts, Noise, NoiseKind,
    Order, Record, Release, Training,
};
use dobrushin::{Positive, Probability};

pub fn positive(value: f64) -> Positive {
    Positive::new(value).expect("positive")
}

/// A run on convex losses; the tests change what they need.
pub fn training(records: u64, dimension: u64) -> Training {
    Training {
        algorithm: Algorithm::Pnsgd,
        records,
        length: Length::Epochs(positive(1.0)),
        batch: Batch::Size(1),
        order: Order::Once,
        incomplete_batch: None,
        release: Release::RandomStop,
        neighbours: Neighbours::ReplaceOne,
        record: Record::Worst,
        public_steps: 0,
        tasks: 1,
        evaluation: None,
        learning_rate: Some(LearningRate::Constant(positive(0.1))),
        contribution: Some(Contribution::Lipschitz(positive(1.0))),
        noise_kind: NoiseKind::Gaussian,
        noise: Noise::Gradient(positive(1.0)),
        weight_decay: 0.0,
        divide_by: Divisor::BatchSize,
        loss: LossFacts { convex: Some(true), ..LossFacts::default() },
        domain: DomainFacts { diameter: Some(positive(2.0)), dimension: Some(dimension) },
    }
}

/// Poisson sampling with this probability.
pub fn probability(p: f64) -> Batch {
    Batch::Probability(Probability::new(p).expect("a probability"))
}
