//! Records that were deleted after training: how many clean steps make a model as if they had never been used.

use dobrushin::account::calibrate;
use dobrushin::chain::Participation;
use dobrushin::run::{Assumption, Divisor, Fact, Forgotten, Order, Parameter, Record, RunBuilder, Training};
use dobrushin::{Delta, Epsilon, Neighbours, Positive, Question, Release, Run, Target};
use std::time::{Duration, Instant};

fn epsilon(run: &Run, delta: f64) -> f64 {
    let question = Question::EpsilonAt(Delta::new(delta).expect("valid"));
    run.account(question).guarantee().expect("something is known").epsilon()
}

/// The least number of clean steps after the last request.
fn least(run: &Run, epsilon: f64, delta: f64) -> u64 {
    let (epsilon, delta) = (Epsilon::new(epsilon).expect("valid"), Delta::new(delta).expect("valid"));
    let target = Target::Privacy { epsilon, delta };
    calibrate(run, Parameter::ForgetSteps, target).expect("it can be met").value as u64
}

/// examples/logistic-regression.toml.
fn logistic(order: Order) -> RunBuilder {
    Run::dp_sgd(30_162)
        .order(order)
        .batch_size(512)
        .steps(11_800)
        .release(Release::Last)
        .neighbours(Neighbours::ZeroOut)
        .learning_rate(2.0)
        .clip_norm(1.0)
        .noise_multiplier(4.0)
        .weight_decay(0.02)
        .convex()
        .smoothness(0.25)
        .generalised_linear()
        .diameter(10.0)
        .dimension(105)
}

/// examples/noisy-gd.toml.
fn noisy() -> RunBuilder {
    Run::gradient_descent(1000)
        .steps(1000)
        .release(Release::Last)
        .neighbours(Neighbours::ZeroOut)
        .learning_rate(0.1)
        .lipschitz(2.0)
        .noise_multiplier(20.0)
        .convex()
        .smoothness(1.0)
        .strong_convexity(0.5)
}

#[test]
fn the_examples_forget_a_record_in_few_steps() {
    let logistic = logistic(Order::WithoutReplacement).forget(1, 1).build().expect("valid");
    assert!(least(&logistic, 0.1, 1e-6) <= 258);
    assert!(least(&logistic, 0.01, 1e-6) <= 363);
    let noisy = noisy().forget(1, 1).build().expect("valid");
    assert!(least(&noisy, 0.1, 1e-5) <= 58);
}

/// A clean step is as one on public data, unless empty slots lack the curvature of a strongly convex loss.
#[test]
fn one_deleted_record_is_one_before_a_public_tail() {
    for order in [Order::Poisson, Order::WithoutReplacement, Order::Cyclic, Order::Shuffled, Order::Once] {
        let run = logistic(order).batch_size(457);
        let run = if matches!(order, Order::Once | Order::Shuffled) { run.steps(66) } else { run };
        let forgotten = epsilon(&run.clone().forget(1, 40).build().expect("valid"), 1e-6);
        let public = epsilon(&run.public_steps(40).build().expect("valid"), 1e-6);
        // A public Poisson batch may have any size; that of a clean step is drawn.
        let same = if order == Order::Poisson { forgotten <= public } else { forgotten == public };
        assert!(same, "{order:?}: {forgotten} against {public}");
    }
}

#[test]
fn empty_slots_are_not_strongly_convex() {
    let slope = |deleted: u64| {
        let run = noisy().forget(deleted, 10).build().expect("valid");
        let released = run.released().expect("it hides");
        let chain = &released.views[0].branches()[0].chain;
        let last = chain.stretches().last().expect("clean steps").step.clone();
        assert_eq!(last.participation, Participation::Never);
        last.modulus.pieces()[0].slope()
    };
    // 1 − ηρ·(n − g)/n.
    assert!(slope(1).contains(1.0 - 0.05 * 0.999));
    assert!(slope(100).contains(1.0 - 0.05 * 0.9));
    let public = noisy().public_steps(58).build().expect("valid");
    assert!(epsilon(&noisy().forget(1, 58).build().expect("valid"), 1e-5) > epsilon(&public, 1e-5));
}

/// The probability that a batch holds any of a group is never below that of the sampler, and all of them count if it does.
#[test]
fn a_step_uses_a_group_as_often_as_its_sampler_draws_any_of_it() {
    let (n, b) = (30_u64, 5_u64);
    for group in [1_u64, 2, 4, 9, 26] {
        for order in [Order::Poisson, Order::WithoutReplacement] {
            let run = Run::dp_sgd(n).order(order).batch_size(b).steps(10).release(Release::Last);
            let run =
                run.neighbours(Neighbours::ZeroOut).learning_rate(0.3).clip_norm(2.0).noise_multiplier(1.0);
            let run = run.weight_decay(0.1).forget(group, 3).build().expect("valid");
            let released = run.released().expect("it hides");
            let chain = &released.views[0].branches()[0].chain;
            let used = chain.stretches().next().expect("steps").step.clone();
            let missed: f64 = (0..group)
                .map(|drawn| match order {
                    Order::Poisson => 1.0 - b as f64 / n as f64,
                    _ => (n - drawn).saturating_sub(b) as f64 / (n - drawn) as f64,
                })
                .product();
            let (found, exact) = (used.participation.probability().upper(), 1.0 - missed);
            assert!(found >= exact * (1.0 - 1e-12) && found <= 1.0, "{order:?}, {group}: {found} < {exact}");
            // No more than a few per cent above it, while few are deleted.
            assert!(group > 4 || found <= exact * 1.06, "{order:?}, {group}: {found} > {exact}");
            let most = if order == Order::Poisson { group } else { group.min(b) };
            let one = 0.3 * 2.0 / b as f64;
            assert!(
                used.displacement.contains(most as f64 * one),
                "{order:?}, {group}: {}",
                used.displacement
            );
        }
    }
}

/// Full batches without strong convexity: μ of the group is known in closed form, request by request.
#[test]
fn requests_one_after_another_are_one_chain() {
    let (n, rate, keep, noise) = (1000.0, 0.5, 0.95, 0.01);
    let run = Run::gradient_descent(1000)
        .steps(200)
        .release(Release::Last)
        .neighbours(Neighbours::ZeroOut)
        .learning_rate(rate)
        .clip_norm(1.0)
        .iterate_noise(noise)
        .weight_decay(0.05)
        .convex()
        .generalised_linear()
        .smoothness(1.0);
    let run = run.forget(3, 10).forget(2, 5).forget(1, 40).build().expect("valid");
    // The shift of the mean and the noise of the last iterate, if all members push the same way.
    let (mut shift, mut variance) = (0.0, 0.0);
    for (members, steps) in [(6.0, 200), (3.0, 10), (1.0, 5), (0.0, 40)] {
        for _ in 0..steps {
            shift = keep * shift + members * rate / n;
            variance = keep * keep * variance + noise * noise;
        }
    }
    let ratio: f64 = shift / f64::sqrt(variance);
    let known = dobrushin::numeric::theta::smallest_epsilon(
        dobrushin::NonNegative::new(ratio).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    );
    let found = epsilon(&run, 1e-6);
    assert!((found / known.upper() - 1.0).abs() < 1e-6, "{found} against {known}");
}

#[test]
fn a_group_is_never_better_hidden_than_one_of_it() {
    for order in [Order::Poisson, Order::WithoutReplacement, Order::Cyclic] {
        let of = |records| {
            let run = logistic(order).batch_size(457).forget(records, 200).build().expect("valid");
            epsilon(&run, 1e-6)
        };
        let found = [1, 2, 20].map(of);
        assert!(found.is_sorted() && found[0] < found[2], "{order:?}: {found:?}");
    }
}

#[test]
fn a_hundred_requests_are_answered_in_seconds() {
    let begun = Instant::now();
    for order in [Order::WithoutReplacement, Order::Poisson, Order::Full] {
        let run = if order == Order::Full { noisy() } else { logistic(order) };
        let run = (0..100).fold(run, |run, _| run.forget(1, 100)).build().expect("valid");
        let found = epsilon(&run, 1e-6);
        assert!(found < 1.0, "{order:?}: {found}");
        assert!(least(&run, 0.1, 1e-6) > 1);
    }
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
}

#[test]
fn any_number_of_steps_may_come_before_a_request() {
    for order in [Order::Poisson, Order::WithoutReplacement, Order::Cyclic, Order::Shuffled] {
        let run = logistic(order).batch_size(457).forget(1, 300);
        let any = epsilon(&run.clone().any_number_of_steps().build().expect("valid"), 1e-6);
        let some = epsilon(&run.steps(50_000).build().expect("valid"), 1e-6);
        assert!(some <= any * (1.0 + 1e-3) && any < 0.1, "{order:?}: {some}, any: {any}");
    }
    // Neither a domain nor updates that forget.
    let run = Run::gradient_descent(100).any_number_of_steps().release(Release::Last).learning_rate(0.1);
    let run =
        run.neighbours(Neighbours::ZeroOut).clip_norm(1.0).noise_multiplier(5.0).convex().smoothness(1.0);
    let run = run.generalised_linear().forget(1, 100).build().expect("valid");
    let missing = run.released().err().expect("nothing bounds it").to_string();
    assert!(missing.contains("run.steps") && missing.contains("domain.diameter"), "{missing}");
}

#[test]
fn what_the_claim_does_not_cover_is_refused() {
    let run = || noisy().forget(1, 10).training().expect("all is said");
    let fact = |training: Training| Run::training(training).err().map(|error| error.fact);
    assert_eq!(fact(run()), None);
    let positive = |value| Positive::new(value).expect("positive");
    let centre = Some(dobrushin::run::Centre { noise_multiplier: positive(10.0) });
    let evaluation = Some(dobrushin::run::Evaluation { noise_multiplier: positive(10.0) });
    let forget = |records, steps| vec![Forgotten { records, steps }];
    for (refused, training) in [
        (Fact::Neighbours, Training { neighbours: Neighbours::ReplaceOne, ..run() }),
        (Fact::Neighbours, Training { neighbours: Neighbours::AddOrRemoveOne, ..run() }),
        (Fact::DivideBy, Training { divide_by: Divisor::Actual, ..run() }),
        (Fact::Release, Training { release: Release::All, ..run() }),
        (Fact::Release, Training { release: Release::RandomStop, ..run() }),
        (Fact::PublicSteps, Training { public_steps: 1, ..run() }),
        (Fact::Tasks, Training { tasks: 2, ..run() }),
        (Fact::CentreNoise, Training { centre, ..run() }),
        (Fact::EvaluationNoise, Training { evaluation, ..run() }),
        (Fact::ForgetRecords, Training { forgetting: forget(0, 1), ..run() }),
        (Fact::ForgetRecords, Training { forgetting: forget(1000, 1), ..run() }),
        (Fact::ForgetSteps, Training { forgetting: forget(1, 0), ..run() }),
        (Fact::ForgetSteps, Training { forgetting: forget(1, u64::MAX), ..run() }),
    ] {
        assert_eq!(fact(training), Some(refused));
    }
    let cyclic = logistic(Order::Cyclic).forget(1, 10).record(Record::Index(3));
    assert_eq!(cyclic.build().err().map(|error| error.fact), Some(Fact::Record));
}

#[test]
fn the_conditions_are_assumptions_of_every_answer() {
    let run = noisy().forget(1, 10).build().expect("valid");
    let composed = run.composition().expect("it composes").assumptions;
    let hidden = run.released().expect("it hides").assumptions;
    for all in [composed, hidden] {
        assert!(all.contains(&Assumption::AsIfNeverUsed(1)));
        assert!(all.contains(&Assumption::ContinuesTheIterate));
        assert!(all.contains(&Assumption::RequestsWithoutReleases));
        assert!(all.contains(&Assumption::EarlierReleasesStay));
        assert!(!all.iter().any(|one| matches!(one, Assumption::NeighboursDiffer(_))));
    }
}

#[test]
fn a_bound_on_deleted_records_is_not_added_to_others() {
    let question = Question::EpsilonAt(Delta::new(1e-6).expect("valid"));
    let run = noisy().forget(1, 10).build().expect("valid");
    let account = run.account(question);
    let total = dobrushin::account::Total::of([(&run, &account)], Delta::new(1e-6).expect("valid"));
    assert!(matches!(total, Err(dobrushin::account::TotalError::OnlyDeleted)));
}

/// Langevin unlearning (Chien, Wang, Chen, Li, NeurIPS 2024, arXiv 2401.10371): logistic regression on the digits 3 and 8 of
/// MNIST, n = 11,982, full batches, gradients of norm at most M = 1, λ = 1e-6, m = λn, L = 1/4 + m, η = 1/L, noise
/// √(2η)·σ in every step, δ = 1/n.
///
/// Their numbers of clean steps are published with their code, github.com/Graph-COM/Langevin_unlearning at 5f8e712:
/// result/LMC/MNIST/paint_utility_s/1/K_list.npy (σ = 0.03, ε = 1, for these numbers of deleted records) and
/// result/LMC/MNIST/sequential2/k_list_nr5.npy (σ = 0.03, ε = 1, five records in each request).
///
/// There a deleted record is replaced by another, so it moves the iterate by 2ηM/n. Here its slot stays empty; to compare the
/// same displacement, the clip norm is 2M. The penalty is weight decay ηm. Ours holds after any number of training steps, as
/// theirs does.
fn langevin() -> RunBuilder {
    let (records, sigma) = (11_982_u32, 0.03);
    let strong = 1e-6 * f64::from(records);
    let rate = 1.0 / (0.25 + strong);
    Run::gradient_descent(records.into())
        .any_number_of_steps()
        .release(Release::Last)
        .neighbours(Neighbours::ZeroOut)
        .learning_rate(rate)
        .clip_norm(2.0)
        .iterate_noise(f64::sqrt(2.0 * rate) * sigma)
        .weight_decay(rate * strong)
        .convex()
        .generalised_linear()
        .smoothness(0.25)
}

/// (deleted records, their clean steps, ours).
const LANGEVIN: [(u64, u64, u64); 6] =
    [(1, 1, 1), (10, 581, 11), (50, 1231, 45), (100, 1491, 60), (500, 2081, 94), (1000, 2331, 109)];
/// Their clean steps after each of twenty requests of five records.
const LANGEVIN_IN_SEQUENCE: [u64; 20] = [
    263, 531, 586, 630, 674, 721, 773, 829, 888, 948, 1009, 1071, 1132, 1195, 1256, 1319, 1380, 1442, 1504,
    1566,
];

#[test]
fn fewer_steps_than_langevin_unlearning() {
    let delta = 1.0 / 11_982.0;
    for (deleted, theirs, ours) in LANGEVIN {
        let run = langevin().forget(deleted, 1).build().expect("valid");
        let found = least(&run, 1.0, delta);
        assert!(found <= theirs && found == ours, "{deleted}: {found}, theirs {theirs}");
    }
    let mut run = langevin();
    let mut sum = 0;
    for theirs in LANGEVIN_IN_SEQUENCE {
        let found = least(&run.clone().forget(5, 1).build().expect("valid"), 1.0, delta);
        assert!(found <= theirs, "{found} against {theirs}");
        run = run.forget(5, found);
        sum += found;
    }
    println!("{sum} clean steps in all, theirs {}", LANGEVIN_IN_SEQUENCE.iter().sum::<u64>());
    assert!(sum * 10 < LANGEVIN_IN_SEQUENCE.iter().sum::<u64>(), "{sum}");
}
