//! What a run becomes for an observer of all its iterates.

use dobrushin::account::Question;
use dobrushin::mechanism::{Mechanism, Neighbours, Sampling};
use dobrushin::numeric::theta;
use dobrushin::run::{
    Algorithm, Assumption, Batch, Divisor, DomainFacts, Fact, LearningRate, Length, Noise, NoiseKind,
    Obstacle, Order, Record, Release, Run, Training,
};
use dobrushin::{Delta, NonNegative, Positive, Probability};

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("positive")
}

/// 1000 records in batches of 10, 300 steps, clip norm 4, noise multiplier 2.
fn training(order: Order, neighbours: Neighbours) -> Training {
    Run::dp_sgd(1000)
        .order(order)
        .batch_size(if order == Order::Full { 1000 } else { 10 })
        .steps(300)
        .release(Release::Last)
        .neighbours(neighbours)
        .learning_rate(0.5)
        .clip_norm(4.0)
        .noise_multiplier(2.0)
        .training()
        .expect("all is said")
}

/// Multiplier, sampling, neighbours and count of each part.
fn parts(training: Training) -> Vec<(f64, Sampling, Neighbours, u64)> {
    let composed = Run::training(training).expect("valid").composition().expect("applicable");
    let part = |part: &dobrushin::lower::ComposedPart| {
        let (Mechanism::Gaussian { noise_multiplier } | Mechanism::Laplace { noise_multiplier }) =
            &part.mechanism
        else {
            panic!("noise was asked for");
        };
        (noise_multiplier.get(), part.sampling, part.neighbours, part.count)
    };
    composed.parts.iter().map(part).collect()
}

fn rate(sampling: Sampling) -> f64 {
    match sampling {
        Sampling::Every => 1.0,
        Sampling::Poisson(p) | Sampling::WithoutReplacement(p) => p.get(),
    }
}

#[test]
fn the_three_noises_agree_where_they_say_the_same() {
    // s = η·m·C/b = 0.5·2·4/10 = 0.4 and η·σ = 0.4 with σ = 0.8.
    for noise in
        [Noise::Multiplier(positive(2.0)), Noise::Gradient(positive(0.8)), Noise::Iterate(positive(0.4))]
    {
        let run = Training { noise: noise.clone(), ..training(Order::Poisson, Neighbours::ReplaceOne) };
        let [(multiplier, sampling, _, count)] = parts(run)[..] else { panic!("one part") };
        assert!(multiplier <= 2.0 && multiplier > 2.0 - 1e-14, "{noise:?}: {multiplier}");
        assert!(
            matches!(sampling, Sampling::Poisson(_)) && (rate(sampling) - 0.01).abs() < 1e-16 && count == 300
        );
    }
}

#[test]
fn full_batches_are_the_gaussian_mechanism_of_the_closed_form() {
    // m = 10, T = 100, replace-one: 100 times 2/10 apart is μ = 2.
    let mut run = training(Order::Full, Neighbours::ReplaceOne);
    (run.length, run.noise) = (Length::Steps(100), Noise::Multiplier(positive(10.0)));
    let delta = Delta::new(1e-5).expect("valid");
    let report = Run::training(run).expect("valid").account(Question::EpsilonAt(delta));
    let best = report.guarantee().expect("applicable");
    let (id, answer) = (best.id, best.answer);
    let truth = theta::smallest_epsilon(NonNegative::new(2.0).expect("valid"), delta);
    assert_eq!(id, "composition");
    assert!(answer.value.lower() <= truth.upper() && truth.lower() <= answer.value.upper());
    assert!(answer.value.upper() < truth.upper() * (1.0 + 1e-12), "{} {truth}", answer.value);
    for entry in report.entries.iter().filter(|entry| entry.id.starts_with("composition")) {
        let value = entry.outcome.as_ref().expect("applicable").value;
        assert!(value.upper() >= truth.lower(), "{}: {value}", entry.id);
    }
}

#[test]
fn records_in_turn_count_the_passes_and_nothing_is_amplified() {
    for (order, length, count) in [
        (Order::Once, Length::Steps(100), 1),
        (Order::Once, Length::Epochs(positive(1.0)), 1),
        (Order::Cyclic, Length::Steps(300), 3),
        (Order::Cyclic, Length::Steps(301), 4),
        (Order::Shuffled, Length::Steps(299), 3),
        (Order::Shuffled, Length::Epochs(positive(2.5)), 3),
    ] {
        for neighbours in [Neighbours::ReplaceOne, Neighbours::ZeroOut] {
            let run = Training { length, ..training(order, neighbours) };
            assert_eq!(parts(run), [(2.0, Sampling::Every, neighbours, count)], "{order:?} {length:?}");
        }
    }
}

#[test]
fn an_incomplete_batch_may_be_left_out() {
    // 1000 records in batches of 300: three full batches a pass if the rest is left out, so seven steps may touch
    // three passes.
    let run = Training {
        batch: Batch::Size(300),
        length: Length::Steps(7),
        ..training(Order::Cyclic, Neighbours::ReplaceOne)
    };
    assert_eq!(parts(run.clone())[0].3, 3);
    // Divided by its own size, the last batch of 100 has less noise.
    let run = Training { divide_by: Divisor::Actual, ..run };
    let multiplier = parts(run)[0].0;
    assert!(multiplier <= 2.0 / 3.0 && multiplier > 0.6666, "{multiplier}");
}

#[test]
fn the_realised_divisor_costs_the_batch_size() {
    let actual = |neighbours| Training { divide_by: Divisor::Actual, ..training(Order::Poisson, neighbours) };
    // One record may be alone: noise 0.4 over a contribution of ηC = 2.
    let [(multiplier, sampling, neighbours, _)] = parts(actual(Neighbours::ReplaceOne))[..] else { panic!() };
    assert!((multiplier - 0.2).abs() < 1e-15 && multiplier <= 0.2);
    assert!(matches!(sampling, Sampling::WithoutReplacement(_)) && neighbours == Neighbours::ReplaceOne);
    let [(multiplier, sampling, neighbours, _)] = parts(actual(Neighbours::AddOrRemoveOne))[..] else {
        panic!()
    };
    assert!((multiplier - 0.2).abs() < 1e-15 && matches!(sampling, Sampling::Poisson(_)));
    assert_eq!(neighbours, Neighbours::AddOrRemoveOne);
    // The empty record still counts as drawn: all three means differ, by 1/m at most, and 2/(2m) says so.
    let [(multiplier, sampling, neighbours, _)] = parts(actual(Neighbours::ZeroOut))[..] else { panic!() };
    assert!((multiplier - 0.4).abs() < 1e-15 && matches!(sampling, Sampling::WithoutReplacement(_)));
    assert_eq!(neighbours, Neighbours::ReplaceOne);
}

#[test]
fn batches_of_fixed_size_have_another_record_in_place() {
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddOrRemoveOne] {
        let [(_, sampling, seen, _)] = parts(training(Order::WithoutReplacement, neighbours))[..] else {
            panic!()
        };
        assert!(matches!(sampling, Sampling::WithoutReplacement(_)));
        assert_eq!(seen, Neighbours::ReplaceOne);
    }
}

#[test]
fn changing_rates_are_kept_apart_and_many_are_merged_to_the_safe_side() {
    let list = [1.0, 0.5, 0.5, 0.25].map(positive).to_vec();
    let run = Training {
        noise: Noise::Iterate(positive(0.4)),
        learning_rate: Some(LearningRate::List(list)),
        length: Length::Steps(4),
        ..training(Order::Poisson, Neighbours::ReplaceOne)
    };
    // 0.4·10/(η·4).
    let found: Vec<(f64, u64)> = parts(run).iter().map(|part| (part.0, part.3)).collect();
    assert_eq!(found, [(1.0, 1), (2.0, 2), (4.0, 1)]);

    let run = Training {
        noise: Noise::Iterate(positive(0.4)),
        learning_rate: Some(LearningRate::InverseSqrt(positive(1.0))),
        length: Length::Steps(10_000),
        ..training(Order::Poisson, Neighbours::ReplaceOne)
    };
    let composed = Run::training(run.clone()).expect("valid").composition().expect("applicable");
    assert!(composed.assumptions.contains(&Assumption::SmallestNoiseOfMoreThan(64)));
    let found = parts(run);
    assert!(found.len() <= 64 && found.iter().map(|part| part.3).sum::<u64>() == 10_000);
    // m_t = √t, each step at most its own and not much less.
    let mut step = 0.0_f64;
    for (multiplier, _, _, count) in found {
        for _ in 0..count {
            step += 1.0;
            assert!(multiplier <= step.sqrt() && multiplier > 0.9 * step.sqrt(), "{step}: {multiplier}");
        }
    }
}

#[test]
fn records_in_turn_meet_the_least_noise_of_each_pass() {
    let rates: Vec<Positive> = (0..200).map(|step| positive(if step == 150 { 2.0 } else { 0.5 })).collect();
    let run = Training {
        noise: Noise::Iterate(positive(0.4)),
        learning_rate: Some(LearningRate::List(rates)),
        length: Length::Steps(200),
        ..training(Order::Cyclic, Neighbours::ReplaceOne)
    };
    let found: Vec<(f64, u64)> = parts(run).iter().map(|part| (part.0, part.3)).collect();
    assert_eq!(found, [(0.5, 1), (2.0, 1)]);
}

#[test]
fn any_number_of_steps_has_no_composition() {
    let run = Training { length: Length::Any, ..training(Order::Poisson, Neighbours::ReplaceOne) };
    let report =
        Run::training(run).expect("valid").account(Question::EpsilonAt(Delta::new(1e-5).expect("valid")));
    assert!(report.guarantee().is_err());
    for entry in report.entries.iter().filter(|entry| entry.id.starts_with("composition")) {
        let reason = entry.outcome.as_ref().expect_err("not applicable").to_string();
        assert!(reason.contains("grows for ever") && reason.contains("run.steps"), "{reason}");
    }
}

#[test]
fn what_composition_needs_is_named_when_it_is_missing() {
    let base = training(Order::Poisson, Neighbours::ReplaceOne);
    let without_norm = Training { contribution: None, noise: Noise::Gradient(positive(1.0)), ..base.clone() };
    let without_rate = Training { learning_rate: None, noise: Noise::Iterate(positive(1.0)), ..base };
    for (run, key) in [(without_norm, "update.clip-norm"), (without_rate, "update.learning-rate")] {
        let reason = Run::training(run).expect("valid").composition().err().expect("something is missing");
        assert!(reason.to_string().contains(key), "{reason}");
    }
}

#[test]
fn contradictions_are_refused_with_the_key() {
    let base = training(Order::Poisson, Neighbours::ReplaceOne);
    let cases = [
        (Training { records: 0, ..base.clone() }, "run.records"),
        (Training { batch: Batch::Size(2000), ..base.clone() }, "run.batch-size"),
        (Training { length: Length::Steps(0), ..base.clone() }, "run.steps"),
        (
            Training {
                batch: Batch::Probability(Probability::new(0.1).expect("valid")),
                ..training(Order::Cyclic, Neighbours::ReplaceOne)
            },
            "run.sampling-probability",
        ),
        (training(Order::Cyclic, Neighbours::AddOrRemoveOne), "run.neighbours"),
        (
            Training { length: Length::Steps(101), ..training(Order::Once, Neighbours::ReplaceOne) },
            "run.steps",
        ),
        (Training { record: Record::Index(1), ..base.clone() }, "run.record"),
        (
            Training { record: Record::Index(1001), ..training(Order::Cyclic, Neighbours::ZeroOut) },
            "run.record",
        ),
        (Training { algorithm: Algorithm::GradientDescent, ..base.clone() }, "run.order"),
        (Training { weight_decay: f64::NAN, ..base.clone() }, "update.weight-decay"),
        (
            Training {
                noise_kind: NoiseKind::Laplace,
                domain: DomainFacts { diameter: None, dimension: Some(2) },
                ..base.clone()
            },
            "update.noise",
        ),
        (
            Training { learning_rate: Some(LearningRate::List(vec![positive(0.1)])), ..base },
            "update.learning-rate",
        ),
    ];
    for (run, key) in cases {
        let error = Run::training(run).err().unwrap_or_else(|| panic!("{key} was accepted"));
        assert_eq!(error.fact.name(), key, "{error}");
        assert!(!error.help.is_empty());
    }
}

#[test]
fn what_keeps_an_analysis_from_applying_is_data() {
    let base = training(Order::Poisson, Neighbours::ReplaceOne);
    let unbounded = Training { contribution: None, ..base.clone() };
    let hides = |training: &Training| Run::training(training.clone()).expect("valid").released().map(drop);
    let adds_up =
        |training: &Training| Run::training(training.clone()).expect("valid").composition().map(drop);
    let noise = Noise::Gradient(positive(1.0));
    for (refused, obstacle) in [
        (hides(&Training { release: Release::All, ..base.clone() }), Obstacle::InTheWay(&[Fact::Release])),
        (hides(&Training { learning_rate: None, ..base.clone() }), Obstacle::Missing(&[Fact::LearningRate])),
        (hides(&unbounded), Obstacle::Missing(&[Fact::ClipNorm, Fact::Lipschitz])),
        (
            adds_up(&Training { noise, ..unbounded.clone() }),
            Obstacle::Missing(&[Fact::ClipNorm, Fact::Lipschitz]),
        ),
        (adds_up(&Training { length: Length::Any, ..base.clone() }), Obstacle::Missing(&[Fact::Steps])),
    ] {
        let refused = refused.expect_err("something is in the way");
        assert_eq!(refused.obstacle(), obstacle, "{refused}");
        let (Obstacle::Missing(facts) | Obstacle::InTheWay(facts)) = obstacle else {
            panic!("{refused} is due to a fact");
        };
        assert!(facts.iter().all(|fact| refused.to_string().contains(fact.name())), "{refused}");
    }
}

#[test]
fn two_facts_that_contradict_each_other_are_both_named() {
    let base = training(Order::Full, Neighbours::ReplaceOne);
    for (training, pair) in [
        (Training { batch: Batch::Size(1001), ..base.clone() }, (Fact::BatchSize, Some(Fact::Records))),
        (Training { batch: Batch::Size(10), ..base.clone() }, (Fact::BatchSize, Some(Fact::Order))),
        (Training { tasks: 0, ..base }, (Fact::Tasks, None)),
    ] {
        let refused = Run::training(training).err().expect("they do not fit together");
        assert_eq!((refused.fact, refused.against), pair, "{refused}");
    }
}
