//! What the attacks on training share: a run whose records push with full force, and many of its runs.

use dobrushin::Positive;
use dobrushin::run::{Order, Release, Run};
use dobrushin_train::loss::Squared;
use dobrushin_train::{Bounds, Description, Generators, Model, Plan, Seed, Table, Target};
use rayon::prelude::*;
use std::ops::Range;

pub fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

/// Two records in turn, one in each of two steps; squared loss with targets so far away that every gradient is clipped:
/// each record pushes with full force, wherever the iterate is.
pub fn description(dimension: usize) -> Description {
    Description {
        training: Run::pnsgd(2)
            .order(Order::Cyclic)
            .batch_size(1)
            .steps(2)
            .release(Release::Last)
            .learning_rate(1.0)
            .clip_norm(1.0)
            .noise_multiplier(2.0)
            .training()
            .expect("all is said"),
        model: Model::Linear { loss: Squared.into(), features: dimension },
        bounds: Bounds {
            dimension,
            norm: positive(1.0),
            target: Target::Range { lower: -1000.0, upper: 1000.0 },
        },
        projection: None,
        loss_bound: positive(1.0),
    }
}

pub fn plan(description: &Description) -> Plan {
    Plan::new(description.clone()).expect("the description fits together")
}

/// A direction of norm 1.
pub fn direction(dimension: usize) -> Vec<f64> {
    let size = 1.0 / (dimension as f64).sqrt();
    (0..dimension).map(|i| if i % 2 == 0 { size } else { -size }).collect()
}

/// A record for each sign: its features have the largest norm, in one direction, and its target is at the upper end of
/// the range (or class 1) for +, at the lower end (or class 0) for −; without a sign it is empty.
pub fn pushing(description: &Description, signs: &str) -> Table {
    let bounds = description.bounds;
    let tasks = description.training.tasks as usize;
    let features: Vec<f32> =
        direction(bounds.dimension).iter().map(|value| (value * bounds.norm.get()) as f32).collect();
    let (low, high) = match bounds.target {
        Target::Range { lower, upper } => (lower as f32, upper as f32),
        Target::Classes(_) => (0.0, 1.0),
    };
    let mut table = Table::new(bounds, tasks);
    for sign in signs.chars() {
        match sign {
            '+' => drop(table.push(&features, &vec![high; tasks])),
            '-' => drop(table.push(&features, &vec![low; tasks])),
            _ => table.push_empty(),
        }
    }
    table
}

/// All that is released, one run for each seed: the parameters of every task, then its evaluations.
pub fn released(plan: &Plan, table: &Table, public: Option<&Table>, seeds: Range<u64>) -> Vec<Vec<f64>> {
    let run = |table: &mut Table, seed| {
        let generators = Generators::new(Seed::Known(seed)).expect("a known seed is enough");
        let released = plan.train(table, public, &generators, &mut || ()).expect("the records fit");
        let mut numbers = released.parameters.concat();
        for evaluation in released.evaluations {
            numbers.extend(evaluation.accuracy);
            numbers.push(evaluation.loss);
        }
        numbers
    };
    seeds.into_par_iter().map_init(|| table.clone(), run).collect()
}
