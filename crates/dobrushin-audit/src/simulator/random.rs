//! Random descriptions, over all keys.

use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::Random;
use dobrushin::run::{
    Algorithm, Batch, Centre, Contribution, Divisor, DomainFacts, Evaluation, Forgotten, IncompleteBatch,
    LearningRate, Length, LossFacts, Noise, NoiseKind, Order, Record, Release, Training,
};
use dobrushin::{NonNegative, Positive, Probability};

/// A small run. Its keys need not fit together: [`dobrushin::run::Run::training`] tells.
pub fn random_run(random: &mut Random) -> Training {
    let order = *pick(
        random,
        &[
            Order::Once,
            Order::Cyclic,
            Order::Cyclic,
            Order::Shuffled,
            Order::Shuffled,
            Order::Allocation,
            Order::Allocation,
            Order::Poisson,
            Order::Poisson,
            Order::WithoutReplacement,
            Order::Full,
        ],
    );
    // Records in turn give few cases, however many records there are.
    let records = 1 + random.below(if order.is_by_passes() { 7 } else { 5 }) as u64;
    // Sizes that leave some records over are drawn more often, if there are any.
    let left_over: Vec<u64> = (1..=records).filter(|size| !records.is_multiple_of(*size)).collect();
    let size = match random.below(2) {
        0 if !left_over.is_empty() => *pick(random, &left_over),
        _ => 1 + random.below(records as usize) as u64,
    };
    let batch = match order {
        Order::Full => Batch::Size(records),
        Order::Poisson if random.below(3) == 0 => Batch::Probability(probability(random)),
        _ => Batch::Size(size),
    };
    let length = match random.below(8) {
        0 => Length::Any,
        1 | 2 => Length::Epochs(positive(*pick(random, &[0.4, 0.5, 1.0, 1.0, 1.5, 2.0, 2.5]))),
        _ => Length::Steps(1 + random.below(4) as u64),
    };
    let steps = match length {
        Length::Steps(steps) => steps,
        _ => 1 + random.below(4) as u64,
    };
    let public_steps = if random.below(5) == 0 { 1 + random.below(2) as u64 } else { 0 };
    let listed = (steps + public_steps) as usize;
    let smoothness = (random.below(2) == 0).then(|| positive(random.log_between(0.05, 2.0)));
    let rate = random.log_between(0.1, 1.0) * smoothness.map_or(1.0, |beta| 2.0 / beta.get()).min(4.0);
    let strong = (random.below(6) == 0).then(|| smoothness.map_or(0.1, |beta| beta.get()) * 0.7);
    let norm = positive(*pick(random, &[0.5, 1.0, 1.0, 2.0]));
    Training {
        algorithm: match order {
            Order::Full => Algorithm::GradientDescent,
            Order::Once if random.below(3) == 0 => Algorithm::Online,
            _ => *pick(random, &[Algorithm::Pnsgd, Algorithm::DpSgd]),
        },
        records,
        length,
        batch,
        order,
        incomplete_batch: match order {
            Order::Once | Order::Cyclic | Order::Shuffled => *pick(
                random,
                &[
                    None,
                    None,
                    None,
                    None,
                    Some(IncompleteBatch::Drop),
                    Some(IncompleteBatch::Short),
                    Some(IncompleteBatch::Pad),
                    Some(IncompleteBatch::Fill),
                ],
            ),
            _ => None,
        },
        release: *pick(
            random,
            &[
                Release::Last,
                Release::Last,
                Release::Last,
                Release::RandomStop,
                Release::RandomSkip,
                Release::All,
                Release::All,
            ],
        ),
        neighbours: *pick(
            random,
            &[
                Neighbours::ReplaceOne,
                Neighbours::ReplaceOne,
                Neighbours::ZeroOut,
                Neighbours::AddOrRemoveOne,
            ],
        ),
        record: match order {
            Order::Once | Order::Cyclic if random.below(3) == 0 => {
                Record::Index(1 + random.below(records as usize) as u64)
            }
            _ => Record::Worst,
        },
        public_steps,
        forgetting: Vec::new(),
        tasks: if random.below(8) == 0 { 2 } else { 1 },
        centre: (random.below(8) == 0 && order != Order::Once)
            .then(|| Centre { noise_multiplier: positive(random.log_between(1.0, 10.0)) }),
        evaluation: (random.below(8) == 0)
            .then(|| Evaluation { noise_multiplier: positive(random.log_between(1.0, 10.0)) }),
        learning_rate: Some(match random.below(5) {
            0 => LearningRate::List((0..listed).map(|_| positive(rate * random.between(0.5, 1.0))).collect()),
            1 => LearningRate::InverseSqrt(positive(rate)),
            _ => LearningRate::Constant(positive(rate)),
        }),
        contribution: Some(match random.below(2) {
            0 => Contribution::Clipped(norm),
            _ => Contribution::Lipschitz(norm),
        }),
        noise_kind: if random.below(8) == 0 { NoiseKind::Laplace } else { NoiseKind::Gaussian },
        noise: match random.below(6) {
            0 => Noise::Gradient(positive(random.log_between(0.3, 3.0))),
            1 => Noise::Iterate(positive(rate * random.log_between(0.3, 3.0))),
            2 => Noise::GradientList((0..listed).map(|_| positive(random.log_between(0.5, 3.0))).collect()),
            _ => Noise::Multiplier(positive(random.log_between(0.7, 4.0))),
        },
        weight_decay: *pick(random, &[0.0, 0.0, 0.0, 0.1, 0.5, 1.0, 1.0]),
        divide_by: if random.below(3) == 0 { Divisor::Actual } else { Divisor::BatchSize },
        loss: LossFacts {
            convex: *pick(random, &[None, Some(true), Some(true), Some(false)]),
            smoothness,
            strong_convexity: strong.map(|rho| NonNegative::new(rho).expect("valid")),
            generalised_linear: *pick(random, &[None, Some(true)]),
        },
        domain: DomainFacts {
            diameter: (random.below(2) == 0).then(|| positive(random.log_between(0.2, 4.0))),
            dimension: *pick(random, &[None, Some(1)]),
        },
    }
}

/// A small run after which records were deleted, by up to three requests. Its keys need not fit together.
pub fn random_forgetting(random: &mut Random) -> Training {
    let training = random_run(random);
    let steps = match training.length {
        Length::Steps(steps) => Length::Steps(steps.min(2)),
        other => other,
    };
    let requests = *pick(random, &[1, 1, 1, 2, 2, 3]);
    let request = |random: &mut Random| Forgotten {
        records: *pick(random, &[1, 1, 1, 2]),
        steps: 1 + random.below(2) as u64,
    };
    let forgetting: Vec<Forgotten> = (0..requests).map(|_| request(random)).collect();
    let listed = match steps {
        Length::Steps(steps) => steps as usize,
        _ => 1,
    } + forgetting.iter().map(|request| request.steps as usize).sum::<usize>();
    let rate = training.learning_rate.as_ref().map(|rate| match rate {
        LearningRate::List(list) => {
            LearningRate::List((0..listed).map(|time| list[time % list.len()]).collect())
        }
        rate => rate.clone(),
    });
    let noise = match &training.noise {
        Noise::GradientList(list) => {
            Noise::GradientList((0..listed).map(|time| list[time % list.len()]).collect())
        }
        noise => noise.clone(),
    };
    Training {
        length: steps,
        release: Release::Last,
        neighbours: Neighbours::ZeroOut,
        record: Record::Worst,
        public_steps: 0,
        forgetting,
        tasks: 1,
        centre: None,
        evaluation: None,
        learning_rate: rate,
        noise,
        divide_by: Divisor::BatchSize,
        ..training
    }
}

fn pick<'a, T>(random: &mut Random, from: &'a [T]) -> &'a T {
    &from[random.below(from.len())]
}

/// A number with few digits, as people write it.
fn positive(value: f64) -> Positive {
    let short: f64 = format!("{value:.3e}").parse().expect("a number");
    Positive::new(short).expect("above 0")
}

fn probability(random: &mut Random) -> Probability {
    Probability::new(*pick(random, &[0.1, 0.25, 0.5, 0.8, 1.0])).expect("a probability")
}
