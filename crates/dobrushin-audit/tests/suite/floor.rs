//! No guarantee is below its floor, and floors catch faults on the way from a run to its guarantee.

use dobrushin::account::{Options, Question, analyses};
use dobrushin::chain::{Chain, Count, Domain, Participation, Piece, Start, Step, StepNoise};
use dobrushin::numeric::Random;
use dobrushin::run::{
    CustomChain, LearningRate, Length, Noise, NoiseKind, Record, Run, Task, Tasks, Training, Turn,
};
use dobrushin::{Delta, Epsilon, Neighbours, NonNegative, Order, Positive, Probability, Release};
use dobrushin_audit::floor::floor;
use dobrushin_audit::simulator::{random_forgetting, random_run, run_file};
use dobrushin_reference::depth;
use rayon::prelude::*;

/// The smallest δ at each ε that any rigorous analysis proves.
fn proved(run: &Run) -> Vec<f64> {
    let exceptions: &[f64] = match run.as_training().map(|training| training.order) {
        Some(Order::Poisson | Order::Allocation) => &[0.0, 1e-3],
        _ => &[0.0],
    };
    let mut least = vec![1.0_f64; EPSILONS.len()];
    for &exception in exceptions {
        let exception = Probability::new(exception).expect("valid");
        for analysed in analyses(run, &Options { exception, ..Options::default() }) {
            let (Ok(profile), true) = (analysed.profile, analysed.rigorous) else { continue };
            for (least, epsilon) in least.iter_mut().zip(EPSILONS) {
                *least = least.min(profile.delta(Epsilon::new(epsilon).expect("valid")).upper());
            }
        }
    }
    least
}

const EPSILONS: [f64; 4] = [0.0, 0.3, 1.0, 4.0];

/// Every ε at which the floor is above what is proved, in words.
fn violations(run: &Run) -> (bool, Vec<String>) {
    let (mut known, mut found) = (false, Vec::new());
    for (epsilon, proved) in EPSILONS.into_iter().zip(proved(run)) {
        let question = Question::DeltaAt(Epsilon::new(epsilon).expect("valid"));
        let Some(floor) = floor(run, question) else { continue };
        let least = floor.answer.value.lower();
        known |= least > 0.0;
        if least > proved {
            found.push(format!("ε = {epsilon}: {least:e} > {proved:e}, {}", floor.instance));
        }
    }
    (known, found)
}

/// A run with up to a few thousand records and steps, over all keys.
fn larger(mut random: Random) -> Training {
    let run = random_run(&mut random);
    let times = [1, 1, 3, 10][random.below(4)];
    let lists = matches!(run.learning_rate, Some(LearningRate::List(_)))
        || matches!(run.noise, Noise::GradientList(_));
    let by_passes = run.order.is_by_passes();
    let length = match run.length {
        Length::Steps(steps) if !lists && run.order != Order::Once => Length::Steps(steps * times),
        length => length,
    };
    let batch = match run.batch {
        dobrushin::run::Batch::Size(size) if run.order == Order::Full => {
            dobrushin::run::Batch::Size(size * times)
        }
        batch => batch,
    };
    let records = if by_passes && lists { run.records } else { run.records * times };
    Training { records, batch, length, ..run }
}

/// Tries runs out in parallel: none has a floor above what is proved, and enough have a floor at all.
fn all_are_above(cases: u64, one: impl Fn(u64) -> Option<(Run, String)> + Sync) {
    let found: Vec<(u64, u64)> = (0..cases)
        .into_par_iter()
        .map(|index| {
            let Some((run, text)) = one(index) else { return (0, 0) };
            let (known, found) = violations(&run);
            assert!(found.is_empty(), "case {index}: {found:#?}\n{text}");
            (1, u64::from(known))
        })
        .collect();
    let (runs, floors) = found.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{runs} runs, {floors} with a floor above 0");
    assert!(runs * 2 > cases && floors * 4 > runs, "{runs} runs, {floors} floors");
}

#[test]
fn no_guarantee_is_below_its_floor() {
    all_are_above(depth(80, 8_600), |index| {
        let training = larger(Random::new(4_200_000 + index));
        // Composed hidden states of several tasks take minutes.
        if training.tasks > 1 && matches!(training.order, Order::Poisson | Order::WithoutReplacement) {
            return None;
        }
        let text = run_file(&training);
        Run::training(training).ok().map(|run| (run, text))
    });
}

#[test]
fn no_guarantee_of_a_run_that_forgot_is_below_its_floor() {
    all_are_above(depth(60, 4_000), |index| {
        let mut random = Random::new(6_300_000 + index);
        // Nearly half of them delete more records than there are.
        let training = (0..8)
            .map(|_| random_forgetting(&mut random))
            .find(|training| Run::training(training.clone()).is_ok())?;
        let text = run_file(&training);
        Run::training(training).ok().map(|run| (run, text))
    });
}

/// In a random stop every release is about one record; a second number is seen in one unit; and no batch is filled up after
/// the last whole pass.
#[test]
fn runs_in_turn_whose_floors_were_once_too_high_are_above_them() {
    use dobrushin::IncompleteBatch::{Fill, Short};
    let cyclic = |run: dobrushin::run::RunBuilder, size| {
        run.order(Order::Cyclic).batch_size(size).epochs(1.0).neighbours(Neighbours::ReplaceOne)
    };
    let runs = [
        cyclic(Run::dp_sgd(5), 4)
            .release(Release::All)
            .public_steps(1)
            .centre_noise(7.008)
            .learning_rate(1.307)
            .lipschitz(0.5)
            .noise_multiplier(0.7194)
            .convex()
            .smoothness(0.09924)
            .strong_convexity(0.069468),
        cyclic(Run::pnsgd(5), 4)
            .neighbours(Neighbours::ZeroOut)
            .incomplete_batch(Fill)
            .learning_rate(0.3108)
            .clip_norm(1.0)
            .gradient_noise(1.497)
            .convex()
            .generalised_linear(),
        cyclic(Run::dp_sgd(3), 2)
            .incomplete_batch(Short)
            .release(Release::RandomStop)
            .centre_noise(5.799)
            .learning_rate(0.5245)
            .lipschitz(0.5)
            .noise_multiplier(0.9914)
            .weight_decay(0.1)
            .smoothness(0.1292),
        cyclic(Run::dp_sgd(6), 4)
            .incomplete_batch(Short)
            .release(Release::RandomStop)
            .learning_rate(0.5223)
            .lipschitz(2.0)
            .noise_multiplier(3.637)
            .weight_decay(0.1)
            .convex()
            .generalised_linear()
            .smoothness(0.1163)
            .strong_convexity(0.08141)
            .dimension(1),
    ];
    for (index, run) in runs.into_iter().enumerate() {
        let run = run.build().expect("valid");
        let (known, found) = violations(&run);
        assert!(known && found.is_empty(), "case {index}: {found:#?}");
    }
}

#[test]
fn no_guarantee_of_a_chain_is_below_its_floor() {
    all_are_above(depth(40, 2_000), |index| {
        let mut random = Random::new(5_200_000 + index);
        let noise = random.log_between(0.2, 2.0);
        let bounded = random.below(3) > 0;
        let mut steps = Vec::new();
        for _ in 0..1 + random.below(3) {
            let slope = [0.0, 0.4, 0.9, 1.0, 1.0, 1.2][random.below(6)];
            let mut pieces = vec![Piece::new(slope, [0.0, 0.0, 0.3][random.below(3)]).ok()?];
            if random.below(3) == 0 {
                pieces.push(Piece::new(0.0, noise * random.log_between(0.5, 4.0)).ok()?);
            }
            let step = Step::new(StepNoise::gaussian(noise * random.log_between(0.7, 1.4)).ok()?)
                .with_modulus(pieces);
            let participation = match random.below(3) {
                0 => Participation::Never,
                1 => Participation::Always,
                _ => Participation::Sometimes(Probability::new(random.log_between(0.01, 1.0)).ok()?),
            };
            let step =
                step.used_by(participation, NonNegative::new(noise * random.log_between(0.1, 2.0)).ok()?);
            steps.push((step, Count::Times(1 + random.below(6) as u64)));
        }
        let diameter =
            bounded.then(|| Positive::new(noise * random.log_between(0.5, 8.0))).transpose().ok()?;
        let chain = Chain::new(steps, Domain { diameter, dimension: None }).ok()?;
        let distance = NonNegative::new(noise * random.log_between(0.2, 3.0)).ok();
        let divergence = vec![(Epsilon::new(0.0).ok()?, Delta::new(random.log_between(0.01, 1.0)).ok()?)];
        let chain = match random.below(4) {
            0 => chain.starting(Start { distance, divergence: vec![] }).ok()?,
            1 => chain.starting(Start { distance, divergence }).ok()?,
            _ => chain,
        };
        let text = format!("{chain:?}");
        Some((Run::chain(CustomChain { chain, release: Release::Last }), text))
    });
}

#[test]
fn no_guarantee_of_several_tasks_is_below_its_floor() {
    all_are_above(depth(15, 1_000), |index| {
        let mut random = Random::new(6_200_000 + index);
        let records = 3 + random.below(60) as u64;
        let tasks = (0..1 + random.below(3)).map(|_| {
            let run = Run::pnsgd(records).learning_rate(random.log_between(0.01, 0.5)).lipschitz(1.0);
            let run = run
                .gradient_noise(random.log_between(0.5, 8.0))
                .release(Release::Last)
                .convex()
                .smoothness(1.0);
            let run = if random.below(3) == 0 { run.diameter(random.log_between(0.3, 5.0)) } else { run };
            let turn = match random.below(2) {
                0 => Turn::forward(),
                _ => Turn::backward(records),
            };
            Some(Task { training: run.training().ok()?, turn, count: 1 + random.below(3) as u64 })
        });
        let tasks = tasks.collect::<Option<Vec<_>>>()?;
        let record = match random.below(2) {
            0 => Record::Worst,
            _ => Record::Index(1 + random.below(records as usize) as u64),
        };
        let tasks = Tasks { tasks, record };
        let text = format!("{tasks:?}");
        Some((Run::of_tasks(tasks).ok()?, text))
    });
}

/// A run whose floor is close to its guarantee.
fn tight(order: Order, neighbours: Neighbours, release: Release) -> Training {
    let run = match order {
        Order::Full => Run::gradient_descent(100).steps(20),
        Order::Once => Run::pnsgd(20),
        _ => Run::dp_sgd(200).batch_size(20).steps(20),
    };
    let run = run.order(order).neighbours(neighbours).release(release).learning_rate(0.5).clip_norm(1.0);
    let run = run.convex().generalised_linear().smoothness(1.0);
    run.noise_multiplier(4.0).weight_decay(0.2).training().expect("all is said")
}

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

/// Faults that were, or could be, made on the way from a run to its guarantee: the guarantee of another run is given
/// out for this one, and the floor of this one is above it.
#[test]
fn each_of_a_dozen_faults_is_caught_by_the_floor() {
    use Neighbours::{AddOrRemoveOne, ReplaceOne, ZeroOut};
    let full = || tight(Order::Full, ReplaceOne, Release::Last);
    let random = |neighbours| tight(Order::Poisson, neighbours, Release::All);
    let drawn = || tight(Order::WithoutReplacement, ReplaceOne, Release::All);
    let turn = || tight(Order::Cyclic, ReplaceOne, Release::All);
    let faults: Vec<(&str, Training, Training)> = vec![
        ("replaced records count as removed ones", full(), Training { neighbours: ZeroOut, ..full() }),
        ("decay counts twice", full(), Training { weight_decay: 0.36, ..full() }),
        ("decay is credited where there is none", Training { weight_decay: 0.0, ..full() }, full()),
        (
            "noise is multiplied by √2",
            full(),
            Training { noise: Noise::Multiplier(positive(5.66)), ..full() },
        ),
        (
            "half of the steps are forgotten",
            Training { weight_decay: 0.01, ..full() },
            Training { weight_decay: 0.01, length: Length::Steps(10), ..full() },
        ),
        (
            "the clip norm counts half",
            Training { noise: Noise::Gradient(positive(0.04)), ..full() },
            Training { noise: Noise::Gradient(positive(0.08)), ..full() },
        ),
        ("public steps are counted before the private ones", full(), Training { public_steps: 3, ..full() }),
        (
            "sampling is half as likely",
            random(AddOrRemoveOne),
            Training { records: 400, ..random(AddOrRemoveOne) },
        ),
        (
            "the published steps count as hidden",
            Training { weight_decay: 0.9, ..tight(Order::Full, ReplaceOne, Release::All) },
            Training { weight_decay: 0.9, ..full() },
        ),
        (
            "without replacement is taken for Poisson",
            drawn(),
            Training { order: Order::Poisson, neighbours: ZeroOut, ..drawn() },
        ),
        (
            "a record in turn is used once, not once a pass",
            turn(),
            Training { length: Length::Steps(10), ..turn() },
        ),
        (
            "an evaluation is forgotten",
            Training {
                evaluation: Some(dobrushin::run::Evaluation { noise_multiplier: positive(1.5) }),
                ..full()
            },
            full(),
        ),
        ("several tasks count as one", Training { tasks: 4, ..full() }, full()),
    ];
    let delta = Delta::new(1e-5).expect("valid");
    let question = Question::EpsilonAt(delta);
    for (fault, run, taken_for) in faults {
        let [run, taken_for] = [run, taken_for].map(|training| Run::training(training).expect("valid"));
        let floor = floor(&run, question).expect("there is an instance").answer.value.lower();
        let right = run.account(question).guarantee().expect("a guarantee").epsilon();
        let wrong = taken_for.account(question).guarantee().expect("a guarantee").epsilon();
        assert!(floor <= right, "{fault}: {floor} > {right}");
        assert!(floor > wrong, "{fault}: the floor {floor} does not show that {wrong} is wrong ({right})");
    }
}

#[test]
fn full_batches_with_weight_decay_attain_their_guarantee() {
    let delta = Delta::new(1e-5).expect("valid");
    for neighbours in [Neighbours::ReplaceOne, Neighbours::ZeroOut, Neighbours::AddOrRemoveOne] {
        for decay in [0.01, 0.2, 0.4] {
            let training = Training { weight_decay: decay, ..tight(Order::Full, neighbours, Release::Last) };
            let run = Run::training(training).expect("valid");
            let question = Question::EpsilonAt(delta);
            let guarantee = run.account(question).guarantee().expect("a guarantee").epsilon();
            let floor = floor(&run, question).expect("an instance").answer.value.lower();
            assert!((floor / guarantee - 1.0).abs() < 1e-5, "{neighbours:?}, {decay}: {floor}, {guarantee}");
        }
    }
}

#[test]
fn laplace_noise_and_missing_facts_have_no_floor_and_no_panic() {
    let question = Question::EpsilonAt(Delta::new(1e-5).expect("valid"));
    let run = Run::pnsgd(10).iterate_noise(1.0).build().expect("valid");
    assert!(floor(&run, question).is_none());
    let laplace = Training {
        noise_kind: NoiseKind::Laplace,
        ..tight(Order::Once, Neighbours::ReplaceOne, Release::Last)
    };
    assert!(floor(&Run::training(laplace).expect("valid"), question).is_none());
}

/// Full batches with weight decay: all that is left of a deleted record after its clean steps is in the floor, and no run that
/// forgot has a floor above its guarantee.
#[test]
fn what_is_left_of_a_deleted_record_is_attained() {
    let run = Run::gradient_descent(1000).steps(300).learning_rate(0.5).clip_norm(1.0).noise_multiplier(20.0);
    let run = run.weight_decay(0.05).convex().generalised_linear().smoothness(1.0).release(Release::Last);
    let run = run.neighbours(Neighbours::ZeroOut);
    let question = Question::EpsilonAt(Delta::new(1e-5).expect("valid"));
    let of = |run: &Run| {
        let guarantee = run.account(question).guarantee().expect("it has one").epsilon();
        (floor(run, question).expect("there is an instance").answer.value.lower(), guarantee)
    };
    for run in [run.clone().forget(1, 20), run.clone().forget(1, 7).forget(1, 30)] {
        let run = run.build().expect("valid");
        let (floor, guarantee) = of(&run);
        let several = run.as_training().is_some_and(|training| training.forgetting.len() > 1);
        assert!(floor <= guarantee && (several || floor > 0.999 * guarantee), "{floor}, {guarantee}");
        assert!(floor > 0.5 * guarantee, "{floor}, {guarantee}");
    }
    // Constant losses are not strongly convex.
    let run = run.strong_convexity(0.1).lipschitz(1.0).forget(1, 20).build().expect("valid");
    assert!(floor(&run, question).is_none());
}
