//! No answer is below what a run as documented gives away: random runs over all keys, simulated literally.

use dobrushin::account::{Options, analyses};
use dobrushin::numeric::Random;
use dobrushin::run::{
    Batch, Divisor, IncompleteBatch, LearningRate, Length, LossFacts, Noise, NoiseKind, Order, Record,
    Release, Run, Training,
};
use dobrushin::{Epsilon, Positive, Probability};
use dobrushin_audit::simulator::{divergences, random_forgetting, random_run, run_file};
use dobrushin_reference::depth;
use std::collections::BTreeMap;
use std::sync::Mutex;

const EPSILONS: [f64; 10] = [0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 12.0];

/// Every answer that is below the truth, in words; and how many answers there were.
fn violations(run: &Run, exact: &[f64]) -> (usize, Vec<String>) {
    let (mut answers, mut found) = (0, Vec::new());
    let exceptions: &[f64] = match run.as_training().map(|training| training.order) {
        // Batches are so small here that ordinary ones are far from certain.
        Some(Order::Poisson) => &[0.0, 1e-3, 0.05, 0.3],
        Some(Order::Allocation) => &[0.0, 0.05],
        _ => &[0.0],
    };
    let options = |&exception: &f64| Options {
        exception: Probability::new(exception).expect("valid"),
        ..Options::default()
    };
    for analysed in exceptions.iter().flat_map(|exception| analyses(run, &options(exception))) {
        let Ok(profile) = analysed.profile else {
            continue;
        };
        if !analysed.rigorous {
            continue;
        }
        answers += 1;
        for (&epsilon, &exact) in EPSILONS.iter().zip(exact) {
            let bound = profile.delta(Epsilon::new(epsilon).expect("valid")).upper();
            if bound < exact {
                found.push(format!("{}: δ({epsilon}) is {bound:e}, exact {exact:e}", analysed.id));
            }
        }
    }
    (answers, found)
}

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

#[test]
fn records_in_ranges_are_as_private_as_they_are_said_to_be() {
    let online = Run::online(520)
        .learning_rates(LearningRate::InverseSqrt(positive(0.5)))
        .lipschitz(1.0)
        .gradient_noise(2.0)
        .convex()
        .smoothness(1.0)
        .release(Release::RandomStop);
    let training = online.training().expect("all is said");
    let records =
        &Run::training(training.clone()).expect("valid").released().expect("it hides").ranges[0].clone();
    let epsilons = [0.0, 0.05, 0.2, 0.5];
    for index in [1_u64, 3, 40, 260, 519] {
        let run = Training { record: Record::Index(index), ..training.clone() };
        let exact = divergences(&run, &epsilons).expect("it is small");
        let views = [(index, index), (index - index / 10, index + index / 20)];
        for (from, to) in views {
            let view = records.view(from, to).expect("valid");
            for analysis in dobrushin::analysis::about_hidden_states() {
                let Ok(bound) = analysis.apply(&view) else { continue };
                let profile = bound.into_profile();
                for (&epsilon, &exact) in epsilons.iter().zip(&exact) {
                    let bound = profile.delta(Epsilon::new(epsilon).expect("valid")).upper();
                    assert!(
                        bound >= exact,
                        "{} at {index}, ε = {epsilon}: {bound:e} < {exact:e}",
                        analysis.id()
                    );
                }
            }
        }
        // The instance is not far from the worst.
        assert!(exact[0] > 1e-5, "{index}: {exact:?}");
    }
}

/// PNSGD with four records in batches of three, in a new random order for each pass.
fn bridging() -> Training {
    Run::pnsgd(4)
        .order(Order::Shuffled)
        .batch_size(3)
        .steps(2)
        .release(Release::Last)
        .learning_rate(1.0)
        .lipschitz(1.0)
        .noise_multiplier(2.0)
        .weight_decay(1.0)
        .training()
        .expect("all is said")
}

#[test]
fn a_batch_that_is_filled_up_from_the_next_pass_may_hold_a_record_twice() {
    let run = bridging();
    let exact = divergences(&run, &EPSILONS).expect("it is small");
    // P(the record is last in the first pass and among the first two of the second) = 1/4·1/2.
    let at_eight = divergences(&run, &[8.0]).expect("it is small")[0];
    assert!((1.16e-6..1.18e-6).contains(&at_eight), "{at_eight:e}");
    let found = violations(&Run::training(run.clone()).expect("valid"), &exact).1;
    assert!(found.is_empty(), "{found:?}");
    // Two uses of d, as where no batch can hold a record twice, are not enough.
    let dropped = Training { incomplete_batch: Some(IncompleteBatch::Drop), ..run };
    let found = violations(&Run::training(dropped).expect("valid"), &exact).1;
    assert!(!found.is_empty());
}

/// Three of four records are in the first batch, whatever becomes of the fourth.
#[test]
fn a_run_that_ends_before_the_padded_batch_draws_its_records_from_fewer() {
    let run = Training {
        length: Length::Steps(1),
        incomplete_batch: Some(IncompleteBatch::Pad),
        noise: Noise::Multiplier(positive(1.0)),
        weight_decay: 0.0,
        ..bridging()
    };
    let exact = divergences(&run, &EPSILONS).expect("it is small");
    // ¾·θ₀(2).
    assert!((exact[0] - 0.512_02).abs() < 1e-5, "{}", exact[0]);
    let found = violations(&Run::training(run).expect("valid"), &exact).1;
    assert!(found.is_empty(), "{found:?}");
}

/// The same run with learning rates, and noise on iterates, of this many times the size.
fn faster(run: Training, times: f64) -> Training {
    let scaled = |rate: &Positive| positive(rate.get() * times);
    let learning_rate = run.learning_rate.as_ref().map(|rates| match rates {
        LearningRate::Constant(rate) => LearningRate::Constant(scaled(rate)),
        LearningRate::InverseSqrt(rate) => LearningRate::InverseSqrt(scaled(rate)),
        LearningRate::List(rates) => LearningRate::List(rates.iter().map(scaled).collect()),
    });
    Training { learning_rate, ..run }
}

/// Steps of a convex loss that are longer than 2/β drive iterates apart, and are counted so.
#[test]
fn convexity_is_not_credited_for_what_longer_steps_lose() {
    let (mut runs, mut answers) = (0, 0);
    for index in 0..depth(2_000, 20_000_u64) {
        let mut random = Random::new(810_000 + index);
        let training = faster(random_run(&mut random), random.between(1.5, 8.0));
        let beta = training.loss.smoothness.map(|beta| beta.get());
        let convex = training.loss.convex == Some(true) && training.domain.diameter.is_some();
        let fastest = training.update_at(1).map_or(0.0, |update| update.rate);
        if !convex || beta.is_none_or(|beta| beta * fastest <= 2.0) || runs >= depth(24, 1_000) {
            continue;
        }
        let Ok(run) = Run::training(training.clone()) else { continue };
        let Some(exact) = divergences(&training, &EPSILONS) else { continue };
        let (count, found) = violations(&run, &exact);
        assert!(found.is_empty(), "case {index}: {found:#?}\n{}", run_file(&training));
        (runs, answers) = (runs + 1, answers + count);
    }
    assert!(runs > 20 && answers > 60, "{runs} runs, {answers} answers");
}

/// Several passes with random places, in updates that drive no two iterates apart: uses are moved to later steps.
#[test]
fn random_places_in_several_passes_are_as_private_as_they_are_said_to_be() {
    let (mut hidden, mut found) = (BTreeMap::new(), Vec::new());
    for index in 0..depth(60, 2_000) {
        let mut random = Random::new(8_700_000 + index);
        let base = random_run(&mut random);
        let smoothness = random.log_between(0.05, 2.0);
        let order = [Order::Shuffled, Order::Allocation][random.below(2)];
        let records = 2 + random.below(2) as u64;
        let rate = (2.0 / smoothness * random.log_between(0.05, 1.0)).min(4.0);
        let training = Training {
            order,
            records,
            batch: Batch::Size(1),
            length: Length::Steps(records + 1 + random.below(3) as u64),
            incomplete_batch: None,
            release: Release::Last,
            record: Record::Worst,
            public_steps: random.below(3).saturating_sub(1) as u64,
            tasks: 1,
            learning_rate: Some(LearningRate::Constant(positive(rate))),
            noise: Noise::Multiplier(positive(random.log_between(0.3, 3.0))),
            noise_kind: NoiseKind::Gaussian,
            divide_by: Divisor::BatchSize,
            loss: LossFacts {
                convex: Some(true),
                smoothness: Some(positive(smoothness)),
                strong_convexity: None,
                generalised_linear: Some(true),
            },
            ..base
        };
        let Ok(run) = Run::training(training.clone()) else { continue };
        let Some(exact) = divergences(&training, &EPSILONS) else { continue };
        let (_, violated) = violations(&run, &exact);
        if !violated.is_empty() {
            found.push(format!("case {index}: {violated:#?}\n{}", run_file(&training)));
        }
        let is_hidden = run.released_except(Probability::new(0.05).expect("valid")).is_ok();
        *hidden.entry(format!("{order:?}")).or_insert(0) += u64::from(is_hidden);
    }
    println!("{hidden:?}");
    assert!(found.is_empty(), "{} runs:\n{}", found.len(), found[..found.len().min(3)].join("\n"));
    assert!(hidden.len() == 2 && hidden.values().all(|runs| *runs > 5), "{hidden:?}");
}

#[test]
fn no_answer_is_below_what_a_run_as_documented_gives_away() {
    no_answer_is_below_the_truth(700_000, depth(200, 6_000), 7, random_run);
}

/// Groups and several requests, in both directions, in every order of records.
#[test]
fn no_answer_is_below_what_a_run_that_forgot_gives_away() {
    no_answer_is_below_the_truth(910_000, depth(120, 6_000), 6, random_forgetting);
}

/// Random runs of this many orders.
fn no_answer_is_below_the_truth(
    seed: u64,
    cases: u64,
    orders: usize,
    random_run: fn(&mut Random) -> Training,
) {
    let seen = Mutex::new((0, 0, 0, BTreeMap::new(), Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..4_u64 {
            let seen = &seen;
            scope.spawn(move || {
                for index in (worker..cases).step_by(4) {
                    let training = random_run(&mut Random::new(seed + index));
                    let Ok(run) = Run::training(training.clone()) else {
                        continue;
                    };
                    let exact = divergences(&training, &EPSILONS);
                    let (answers, found) = exact.as_deref().map_or((0, vec![]), |e| violations(&run, e));
                    let mut seen = seen.lock().expect("no other thread failed");
                    seen.0 += 1;
                    seen.1 += usize::from(exact.is_some());
                    seen.2 += answers;
                    *seen.3.entry(format!("{:?}", training.order)).or_insert(0) += answers;
                    if !found.is_empty() {
                        seen.4.push(format!("case {index}: {found:#?}\n{}", run_file(&training)));
                    }
                }
            });
        }
    });
    let (runs, simulated, answers, by_order, found) = seen.into_inner().expect("no thread failed");
    println!("{runs} runs, {simulated} simulated, {answers} answers {by_order:?}, {} violated", found.len());
    assert!(found.is_empty(), "{} of {runs} runs:\n{}", found.len(), found[..found.len().min(5)].join("\n"));
    assert!(
        simulated * 4 > runs
            && by_order.len() == orders
            && by_order.values().all(|&answers| answers > depth(10, 20))
    );
}
