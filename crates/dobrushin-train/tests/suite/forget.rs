//! Training that goes on after records were deleted: it is the run that it says it is, it reads no deleted record, and
//! whoever sees the release cannot tell it from a model that never saw them better than the certificate says.

use crate::support::{description, direction, plan, positive, pushing};
use dobrushin::account::Question;
use dobrushin::divergence::{Gamma, GaussianPair, Pair};
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{Batch, Forgotten, LearningRate, Length, Noise, Order};
use dobrushin::{Delta, Epsilon, Probability};
use dobrushin_audit::{Guesses, Risk};
use dobrushin_train::{Description, Generators, Kept, Plan, Projection, Released, Seed, Table, TrainError};
use rayon::prelude::*;

fn known(seed: u64) -> Generators {
    Generators::new(Seed::Known(seed)).expect("a known seed is enough")
}

/// A run of six records under zero-out.
fn zeroing(order: Order, steps: u64) -> Description {
    let mut description = description(3);
    let training = &mut description.training;
    (training.order, training.records, training.neighbours) = (order, 6, Neighbours::ZeroOut);
    training.batch = match order {
        Order::Full => Batch::Size(6),
        Order::Poisson => Batch::Probability(Probability::new(0.4).expect("a probability")),
        _ => Batch::Size(2),
    };
    training.length = Length::Steps(steps);
    description
}

/// The plan of the same run after these requests.
fn after(description: &Description, requests: &[(u64, u64)]) -> Plan {
    let mut description = description.clone();
    let request = |&(records, steps)| Forgotten { records, steps };
    description.training.forgetting = requests.iter().map(request).collect();
    plan(&description)
}

fn train(plan: &Plan, table: &Table, seed: u64) -> (Released, Kept) {
    plan.train_and_keep(&mut table.clone(), &known(seed), &mut || ()).expect("the records fit")
}

fn forget(plan: &Plan, kept: &Kept, table: &Table, deleted: &[u32], seed: u64) -> (Released, Kept) {
    plan.forget(kept, &mut table.clone(), deleted, &known(seed), &mut || ()).expect("the state fits")
}

const ORDERS: [Order; 5] =
    [Order::Full, Order::Cyclic, Order::Shuffled, Order::Poisson, Order::WithoutReplacement];

#[test]
fn training_that_stops_and_goes_on_is_training_that_never_stopped() {
    for order in ORDERS {
        // A pass has three steps: training stops within one, and a request ends within another.
        for (first, second, third) in [(4, 3, 1), (7, 4, 6), (3, 3, 3)] {
            let whole = plan(&zeroing(order, first + second + third));
            let part = zeroing(order, first);
            // One record is empty from the start, and another after the first request: it makes no difference when.
            let table = pushing(&part, "+- -+-");
            let one_go = train(&whole, &table, 7);
            let kept = train(&plan(&part), &table, 7).1;
            assert_eq!(kept.steps, first);
            let (_, kept) = forget(&after(&part, &[(1, second)]), &kept, &table, &[2], 7);
            let last = forget(&after(&part, &[(1, second), (1, third)]), &kept, &table, &[2], 7);
            assert!(last.0 == one_go.0 && last.1 == one_go.1, "{order:?}, {first} + {second} + {third}");
            // It is the seed that makes them equal.
            let other = forget(&after(&part, &[(1, second), (1, third)]), &kept, &table, &[2], 8);
            assert!(other.0 != one_go.0);
        }
    }
}

#[test]
fn falling_steps_and_unequal_noise_go_on_where_they_were() {
    let falling = |steps| {
        let mut description = zeroing(Order::Cyclic, steps);
        description.training.learning_rate = Some(LearningRate::InverseSqrt(positive(1.0)));
        description.training.noise = Noise::Gradient(positive(2.0));
        description.projection = Some(Projection::Ball { radius: 2.0 });
        description
    };
    let table = pushing(&falling(5), "+- -+-");
    let one_go = train(&plan(&falling(9)), &table, 3);
    let kept = train(&plan(&falling(5)), &table, 3).1;
    let continued = forget(&after(&falling(5), &[(1, 4)]), &kept, &table, &[2], 3);
    assert!(continued.0 == one_go.0 && continued.1 == one_go.1);
}

#[test]
fn clean_steps_never_read_a_deleted_record() {
    for order in ORDERS {
        let description = zeroing(order, 4);
        let kept = train(&plan(&description), &pushing(&description, "+-+-+-"), 1).1;
        let deleting = after(&description, &[(2, 20)]);
        let train = |signs| forget(&deleting, &kept, &pushing(&description, signs), &[1, 4], 2).0;
        let clean = train("+-+-+-");
        // Whatever stands in the places of the deleted records, the release is the same, bit for bit …
        for poisoned in ["+++---", "+ +- -", "+-+---", "+++-+-"] {
            assert!(train(poisoned) == clean, "{order:?}: {poisoned}");
        }
        // … and it is not if another record changes.
        assert!(train("--+-+-") != clean, "{order:?}");
    }
}

#[test]
fn a_state_of_another_plan_is_refused() {
    let description = zeroing(Order::Shuffled, 4);
    let table = pushing(&description, "+-+-+-");
    let kept = train(&plan(&description), &table, 1).1;
    let deleting = after(&description, &[(2, 5)]);
    let refused = |plan: &Plan, kept: &Kept, deleted: &[u32]| {
        matches!(
            plan.forget(kept, &mut table.clone(), deleted, &known(1), &mut || ()),
            Err(TrainError::OtherState(_))
        )
    };
    assert!(!refused(&deleting, &kept, &[0, 5]) && !refused(&deleting, &kept, &[3]));
    for deleted in [&[0, 0][..], &[6], &[0, 1, 2]] {
        assert!(refused(&deleting, &kept, deleted), "{deleted:?}");
    }
    assert!(refused(&plan(&description), &kept, &[]));
    let changes: [fn(&mut Kept); 7] = [
        |kept| kept.steps = 3,
        |kept| kept.steps = u64::MAX,
        |kept| kept.iterate.truncate(2),
        |kept| kept.iterate[0] = f64::NAN,
        |kept| kept.least_noise = 0.0,
        |kept| kept.order = vec![0, 1, 2, 3, 4, 4],
        |kept| kept.order = vec![0, 1, 2],
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut changed = kept.clone();
        change(&mut changed);
        assert!(refused(&deleting, &changed, &[0]), "{number}");
    }
    // Nothing is trained from the start by a plan that deletes records, and no other number of records is accepted.
    let from_the_start = deleting.train(&mut table.clone(), None, &known(1), &mut || ());
    assert!(from_the_start.is_err_and(|error| error == TrainError::Deletes));
    let mut fewer = pushing(&description, "+-+-+");
    let fewer = deleting.forget(&kept, &mut fewer, &[0], &known(1), &mut || ());
    assert!(fewer.is_err_and(|error| matches!(error, TrainError::OtherRecords { .. })));
}

#[test]
fn records_that_are_used_once_are_not_used_again_to_forget_others() {
    let mut once = zeroing(Order::Once, 3);
    once.training.forgetting.push(Forgotten { records: 1, steps: 1 });
    assert!(Plan::new(once).is_err_and(|error| error.to_string().contains("once")));
}

/// Every record is in every step, all others are empty, and every step shrinks the iterate by 1 − λ.
fn linear(decay: f64, steps: u64) -> Description {
    let mut description = zeroing(Order::Full, steps);
    description.training.weight_decay = decay;
    description.training.noise = Noise::Multiplier(positive(4.0));
    description
}

/// How far apart the release with g records that push and the one without them are, over their deviation: exact, because
/// both are Gaussian.
fn exact_distance(plan: &Plan, records: f64, steps: u64, clean: u64) -> f64 {
    let training = plan.training();
    let update = training.update_at(1).expect("a step");
    let keep = 1.0 - training.weight_decay;
    let push = records * update.rate / update.divisor;
    let (mut mean, mut variance) = (0.0, 0.0);
    for step in 0..steps + clean {
        mean = keep * mean + if step < steps { push } else { 0.0 };
        variance = keep * keep * variance + update.noise * update.noise;
    }
    mean / f64::sqrt(variance)
}

fn certified(plan: &Plan, question: Question) -> f64 {
    let account = plan.run().account(question);
    account.guarantee().expect("some analysis applies").answer.value.upper()
}

#[test]
fn the_certificate_is_above_the_exact_law_and_close_to_it() {
    for (decay, records, steps, clean) in [
        (0.1, 1, 30, 1),
        (0.1, 1, 30, 10),
        (0.1, 2, 30, 25),
        (0.0, 1, 10, 5),
        (0.0, 3, 10, 40),
        (0.3, 1, 5, 3),
    ] {
        let plan = after(&linear(decay, steps), &[(records, clean)]);
        let distance = exact_distance(&plan, records as f64, steps, clean);
        for epsilon in [0.0, 0.05, 0.3, 1.0] {
            let asked = Epsilon::new(epsilon).expect("0 or more");
            let pair = GaussianPair::new(distance, 1.0).expect("a distance");
            let exact = pair.hockey_stick(Gamma::from_epsilon(epsilon).expect("finite")).upper();
            let certified = certified(&plan, Question::DeltaAt(asked));
            assert!(
                exact <= certified * (1.0 + 1e-9),
                "λ = {decay}, {records} records, {steps} + {clean}: δ({epsilon}) is {exact}, certified {certified}"
            );
            // Full batches attain it, up to the room that a step leaves for rounding.
            assert!(certified <= exact * 1.02 + 1e-6, "δ({epsilon}) is {exact}, certified {certified}");
        }
    }
}

/// The projections of many releases onto the direction in which the record pushes; a model for each seed.
fn scores(train: impl Fn(u64) -> Vec<f64> + Sync, runs: u64) -> Vec<f64> {
    let along = direction(3);
    let score = |seed| train(seed).iter().zip(&along).map(|(w, d)| w * d).sum();
    (0..runs).into_par_iter().map(score).collect()
}

#[test]
fn whether_a_deleted_record_was_there_is_told_as_badly_as_certified_and_well_without_clean_steps() {
    let (steps, clean, runs) = (40, 50, 20_000);
    let description = linear(0.05, steps);
    let (with, without) = (pushing(&description, "+     "), pushing(&description, "      "));
    let (training, deleting) = (plan(&description), after(&description, &[(1, clean)]));
    // Once with the record, which is then deleted; once without it from the start. Seeds are all different.
    let last = |table: &Table, seed: u64| {
        let kept = train(&training, table, seed).1;
        forget(&deleting, &kept, &without, &[0], seed + (1 << 40)).0.parameters.concat()
    };
    let early = |table: &Table, seed: u64| train(&training, table, seed).0.parameters.concat();
    let proved = |release: &(dyn Fn(&Table, u64) -> Vec<f64> + Sync), clean: u64, delta: Delta| {
        let with = scores(|seed| release(&with, seed), runs);
        let without = scores(|seed| release(&without, seed + (1 << 32)), runs);
        // The best threshold for a Gaussian: the likelihood ratio there is about e.
        let distance = exact_distance(&deleting, 1.0, steps, clean);
        let deviation = {
            let mean = without.iter().sum::<f64>() / runs as f64;
            (without.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / runs as f64).sqrt()
        };
        let threshold = deviation * (distance / 2.0 + 0.5);
        let count = |scores: &[f64]| scores.iter().filter(|&&score| score > threshold).count() as u64;
        let guesses = Guesses { right: count(&with), runs, wrong: count(&without), other_runs: runs };
        guesses.rates(Risk::new(1e-9).expect("valid")).epsilon(delta)
    };
    for delta in [1e-5, 0.02] {
        let delta = Delta::new(delta).expect("a probability");
        let certified = certified(&deleting, Question::EpsilonAt(delta));
        let (forgotten, remembered) = (proved(&last, clean, delta), proved(&early, 0, delta));
        println!("certified {certified}, proved {forgotten}, without clean steps {remembered}");
        assert!(forgotten <= certified, "ε ≥ {forgotten}, but {certified} is certified");
        assert!(remembered > 1.5 * certified, "ε ≥ {remembered} only, and {certified} is certified");
    }
}
