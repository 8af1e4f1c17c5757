//! Attacks on models that are trained here: they come close to the guarantee where it is exact, they never beat it, and
//! they find trainers that were broken on purpose.

use dobrushin::account::{Options, Question, analyses_for_curves};
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::Random;
use dobrushin::profile::BestProfile;
use dobrushin::run::{Batch, Contribution, Divisor, Noise, Order, Run, Training};
use dobrushin::{Delta, Positive, Progress, Release};
use dobrushin_audit::trained::{Attack, CanaryAttack, Kind, State, World, collect, digest};
use dobrushin_audit::{Contradiction, Evidence, JournalError, Purpose, Risk, evidence, one_run};
use dobrushin_reference::depth;
use dobrushin_train::loss::Logistic;
use dobrushin_train::{Bounds, Description, Model, Plan, Table, Target, TrainError};

const FEATURES: usize = 8;

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

fn bounds() -> Bounds {
    Bounds { dimension: FEATURES, norm: positive(2.0), target: Target::Classes(2) }
}

fn description(training: Training) -> Description {
    Description {
        training,
        model: Model::Linear { loss: Logistic.into(), features: FEATURES },
        bounds: bounds(),
        projection: None,
        loss_bound: positive(1.0),
    }
}

fn plan(training: &Training) -> Plan {
    Plan::new(description(training.clone())).expect("it fits together")
}

/// Full batches of 40 records.
fn full(steps: u64, multiplier: f64, weight_decay: f64) -> Training {
    let run = Run::gradient_descent(40).steps(steps).release(Release::Last).learning_rate(0.5);
    let run = run.clip_norm(1.0).noise_multiplier(multiplier).weight_decay(weight_decay);
    run.training().expect("all is said")
}

/// Batches of half of 40 records on average, each record independently.
fn poisson(steps: u64, multiplier: f64, neighbours: Neighbours) -> Training {
    let run = Run::dp_sgd(40).order(Order::Poisson).sampling_probability(0.5).steps(steps);
    let run = run.release(Release::Last).learning_rate(0.5).clip_norm(1.0).noise_multiplier(multiplier);
    run.neighbours(neighbours).training().expect("all is said")
}

/// Two categories, a number and an intercept.
fn table(records: u64) -> Table {
    let mut random = Random::new(4);
    let mut table = Table::new(bounds(), 1);
    for _ in 0..records {
        let mut row = [0.0; FEATURES];
        row[random.below(3)] = 1.0;
        row[3 + random.below(3)] = 1.0;
        row[6] = random.between(-1.0, 1.0) as f32;
        row[7] = 1.0;
        table.push(&row, &[random.below(2) as f32]);
    }
    table
}

fn delta() -> Delta {
    Delta::new(1e-5).expect("a probability")
}

/// What a plan claims: the best of all rigorous profiles.
fn claim(plan: &Plan) -> BestProfile {
    let analysed = analyses_for_curves(plan.run(), &Options::default()).into_iter();
    let profiles = analysed.filter(|one| one.rigorous).filter_map(|one| one.profile.ok());
    BestProfile::new(profiles.collect()).expect("some analysis applies")
}

fn guaranteed(plan: &Plan) -> f64 {
    plan.run().account(Question::EpsilonAt(delta())).guarantee().expect("there is one").epsilon()
}

/// What this many models in each world prove, trained by any trainer.
fn attacked(
    attack: &Attack,
    plan: &Plan,
    runs: u64,
    risk: f64,
    trainer: impl Fn(World, u64) -> Result<Vec<f64>, TrainError> + Sync,
) -> Evidence {
    let score = |world, seed| Ok(attack.score(plan, &trainer(world, seed)?));
    let scores = collect(attack.kind().id(), runs, 1, None, &Progress::default(), score).expect("they train");
    evidence(&scores, delta(), Risk::new(risk).expect("a risk")).expect("there are enough runs")
}

#[test]
fn where_the_guarantee_is_exact_nine_tenths_of_it_are_found() {
    let runs = depth(20_000, 100_000);
    for training in [full(1, 1.0, 0.0), full(20, 4.0, 0.1)] {
        let (plan, table) = (plan(&training), table(40));
        for kind in [Kind::EveryStep, Kind::Landscape] {
            let attack = Attack::new(kind, &plan, &table, None);
            let found = attacked(&attack, &plan, runs, 0.05, |world, seed| attack.train(&plan, world, seed));
            let (proved, guaranteed) = (found.gaussian.epsilon, guaranteed(&plan));
            println!("{}: {proved} of {guaranteed}, {} without the assumption", kind.id(), found.epsilon);
            assert!(
                0.9 * guaranteed < proved && proved < guaranteed,
                "{}: {proved} of {guaranteed}",
                kind.id()
            );
            assert!(found.contradicts(&claim(&plan)).is_none());
        }
    }
}

#[test]
fn without_any_assumption_nine_tenths_are_proved_where_runs_can_count_them() {
    // At δ = 1e-5, ε is about events of probability 1e-5 and less, which occur in none of these runs. At δ = 0.05 they occur.
    let delta = Delta::new(0.05).expect("a probability");
    let runs = depth(100_000, 300_000);
    for training in [full(1, 2.0, 0.0), full(10, 6.0, 0.1)] {
        let (plan, table) = (plan(&training), table(40));
        let attack = Attack::new(Kind::EveryStep, &plan, &table, None);
        let score = |world, seed| Ok(attack.score(&plan, &attack.train(&plan, world, seed)?));
        let scores = collect("exact", runs, 1, None, &Progress::default(), score).expect("they train");
        let found =
            evidence(&scores, delta, Risk::new(0.05).expect("a risk")).expect("there are enough runs");
        let account = plan.run().account(Question::EpsilonAt(delta));
        let guaranteed = account.guarantee().expect("there is one").epsilon();
        println!("{} and {} if Gaussian, of {guaranteed}", found.epsilon, found.gaussian.epsilon);
        assert!(
            0.9 * guaranteed < found.epsilon && found.epsilon < guaranteed,
            "{} of {guaranteed}",
            found.epsilon
        );
    }
}

/// A trainer that is broken on purpose, and the attack that finds it.
struct Fault<'a> {
    name: &'static str,
    training: Training,
    kind: Kind,
    #[allow(clippy::type_complexity)]
    trainer: Box<dyn Fn(&Attack, World, u64) -> Result<Vec<f64>, TrainError> + Sync + 'a>,
}

/// Where the claim of a run is contradicted at 99 % confidence, by a broken trainer and by the right one.
fn contradictions(fault: &Fault) -> [Option<Contradiction>; 2] {
    let plan = plan(&fault.training);
    let table = table(fault.training.records);
    let attack = Attack::new(fault.kind, &plan, &table, None);
    let claim = claim(&plan);
    let runs = depth(10_000, 30_000);
    let broken = attacked(&attack, &plan, runs, 0.01, |world, seed| (fault.trainer)(&attack, world, seed));
    let right = attacked(&attack, &plan, runs, 0.01, |world, seed| attack.train(&plan, world, seed));
    [broken, right].map(|found| found.contradicts(&claim))
}

#[test]
fn five_trainers_broken_on_purpose_are_caught_and_the_right_ones_are_not() {
    let changed = |training: &Training, change: fn(&mut Training)| {
        let mut training = training.clone();
        change(&mut training);
        plan(&training)
    };
    let by_plan = |name, training: Training, kind, change: fn(&mut Training)| {
        let other = changed(&training, change);
        let trainer =
            Box::new(move |attack: &Attack, world, seed| attack.train(&other, world, seed)) as Box<_>;
        Fault { name, training, kind, trainer }
    };
    let twice = full(20, 8.0, 0.1);
    let twice_plan = plan(&twice);
    let faults = [
        by_plan("noise × 0.9", full(20, 4.0, 0.1), Kind::EveryStep, |training| {
            training.noise = Noise::Multiplier(positive(0.9 * 4.0));
        }),
        by_plan(
            "shuffled instead of Poisson",
            poisson(2, 0.2, Neighbours::ZeroOut),
            Kind::EveryStep,
            |training| {
                training.order = Order::Shuffled;
                training.batch = Batch::Size(20);
            },
        ),
        by_plan("clip not applied", full(20, 8.0, 0.1), Kind::EveryStep, |training| {
            // The clip is too large to do anything, and the noise is the same.
            training.contribution = Some(Contribution::Clipped(positive(1000.0)));
            training.noise = Noise::Multiplier(positive(8.0 / 1000.0));
        }),
        Fault {
            name: "divided by the number drawn",
            training: poisson(1, 1.0, Neighbours::AddOrRemoveOne),
            kind: Kind::Opposition,
            trainer: Box::new(|attack: &Attack, world, seed| {
                // The number of records shows in the divisor, so training has to be told that it does.
                let table = attack.table(world);
                let mut training = poisson(1, 1.0, Neighbours::ZeroOut);
                (training.records, training.divide_by) = (table.len() as u64, Divisor::Actual);
                training.noise = Noise::Iterate(positive(0.5 / 20.0));
                attack.train_on(&plan(&training), table, &[attack.record()], world, seed)
            }),
        },
        Fault {
            name: "a record used twice",
            training: twice,
            kind: Kind::EveryStep,
            trainer: Box::new(|attack: &Attack, world, seed| {
                let again = attack.record() - 1;
                attack.train_on(&twice_plan, attack.table(world), &[attack.record(), again], world, seed)
            }),
        },
    ];
    for fault in &faults {
        let [broken, right] = contradictions(fault);
        assert!(broken.is_some(), "{} is not noticed", fault.name);
        assert!(right.is_none(), "the right trainer is said to be broken: {} {right:?}", fault.name);
    }
}

/// A network of which nothing is known, in full batches of 400 records.
fn network(steps: u64, multiplier: f64) -> (Plan, Table) {
    let run = Run::gradient_descent(400).steps(steps).release(Release::Last).learning_rate(0.5);
    let training = run.clip_norm(1.0).noise_multiplier(multiplier).training().expect("all is said");
    let model = Model::Network { hidden: vec![10], classes: 2, features: FEATURES };
    let plan = Plan::new(Description { model, ..description(training) }).expect("it fits together");
    (plan, table(400))
}

#[test]
fn a_crafted_landscape_shows_that_hiding_hides_nothing_if_nothing_is_claimed() {
    // Eight steps that are all published would be √8 times as telling as one.
    let (plan, table) = network(8, 4.0);
    let found = [Kind::Landscape, Kind::LastPass].map(|kind| {
        let attack = Attack::new(kind, &plan, &table, None);
        let runs = depth(if kind == Kind::Landscape { 20_000 } else { 500 }, 20_000);
        attacked(&attack, &plan, runs, 0.05, |world, seed| attack.train(&plan, world, seed))
    });
    let composition = 2.0 / 4.0 * 8_f64.sqrt();
    println!("μ is {} and {} of {composition}", found[0].gaussian.mu, found[1].gaussian.mu);
    assert!(found[0].gaussian.mu > 0.9 * composition && found[0].gaussian.mu < composition);
    assert!(found[1].gaussian.mu < 0.5 * composition);
    assert!(found.iter().all(|found| found.contradicts(&claim(&plan)).is_none()));
}

#[test]
fn a_landscape_that_forgets_noise_tells_more_than_the_record_alone() {
    // One use, in the last of four steps. The others' losses are smooth with β = 1, so a step keeps 1 − 0.5·9/10 of the noise
    // before it, and all of it if the others' losses are constant.
    let run = Run::dp_sgd(40).order(Order::Cyclic).batch_size(10).steps(4).release(Release::Last);
    let run = run.learning_rate(0.5).clip_norm(1.0).noise_multiplier(1.0);
    let (plan, table) = (plan(&run.training().expect("all is said")), table(40));
    let distance = |kept: f64| 2.0 / (0..4).map(|step| kept.powi(2 * step)).sum::<f64>().sqrt();
    for (kind, exact) in [(Kind::EveryStep, distance(1.0)), (Kind::Landscape, distance(0.55))] {
        let attack = Attack::new(kind, &plan, &table, None);
        let train = |world, seed| attack.train(&plan, world, seed);
        let found = attacked(&attack, &plan, depth(20_000, 100_000), 0.05, train);
        let mu = found.gaussian.mu;
        println!("{}: μ is {mu} of {exact}", kind.id());
        assert!(0.93 * exact < mu && mu < exact, "{}: {mu} of {exact}", kind.id());
        assert!(found.contradicts(&claim(&plan)).is_none());
    }
}

#[test]
fn no_attack_contradicts_a_right_trainer() {
    let in_turn = |order, release, neighbours| {
        let run = Run::dp_sgd(40).order(order).batch_size(10).steps(6).release(release);
        let run = run.learning_rate(0.5).clip_norm(1.0).noise_multiplier(1.0).neighbours(neighbours);
        run.training().expect("all is said")
    };
    let cases = [
        poisson(3, 0.7, Neighbours::AddOrRemoveOne),
        poisson(3, 0.7, Neighbours::ReplaceOne),
        in_turn(Order::Cyclic, Release::Last, Neighbours::ReplaceOne),
        in_turn(Order::Cyclic, Release::RandomStop, Neighbours::ZeroOut),
        in_turn(Order::Shuffled, Release::Last, Neighbours::ZeroOut),
        in_turn(Order::WithoutReplacement, Release::Last, Neighbours::ReplaceOne),
    ];
    for training in cases {
        let (plan, table) = (plan(&training), table(40));
        let claim = claim(&plan);
        for kind in Kind::ALL {
            let attack = Attack::new(kind, &plan, &table, None);
            let runs = depth(1_000, 50_000);
            // All of these together are wrong with probability 1e-4 or so.
            let found = attacked(&attack, &plan, runs, 3e-6, |world, seed| attack.train(&plan, world, seed));
            let contradiction = found.contradicts(&claim);
            assert!(contradiction.is_none(), "{training:?} {}: {contradiction:?}", kind.id());
        }
    }
}

#[test]
fn no_test_of_a_random_stop_is_better_than_its_likelihood_ratio() {
    let run = Run::pnsgd(40).order(Order::Cyclic).batch_size(1).steps(40).release(Release::RandomStop);
    let run = run.learning_rate(0.5).clip_norm(1.0).noise_multiplier(0.7).neighbours(Neighbours::ZeroOut);
    let (plan, table) = (plan(&run.training().expect("all is said")), table(40));
    let attack = Attack::new(Kind::Landscape, &plan, &table, None);
    let runs = depth(20_000, 100_000);
    let found = attacked(&attack, &plan, runs, 0.05, |world, seed| attack.train(&plan, world, seed));
    let balanced = found.points.iter().find(|point| point.purpose == Purpose::Balanced);
    let counted = balanced.expect("there is one").guesses;
    let advantage =
        counted.right as f64 / counted.runs as f64 - counted.wrong as f64 / counted.other_runs as f64;
    // After k steps, the release is N(m, k·s²) or N(0, k·s²), with m = 0.5 and s = 0.35. No test tells these mixtures apart
    // by more than their distance of variation.
    let density = |x: f64| -> f64 {
        let at = |k: u32| {
            let variance = f64::from(k) * 0.35 * 0.35;
            (-x * x / (2.0 * variance)).exp() / (std::f64::consts::TAU * variance).sqrt()
        };
        (1..=40).map(at).sum::<f64>() / 40.0
    };
    let places = (-12_000..12_000).map(|place| (f64::from(place) + 0.5) / 1000.0);
    let distance: f64 = places.map(|x| (density(x - 0.5) - density(x)).abs() / 2000.0).sum();
    // Four deviations of what is counted.
    let error = 4.0 * (0.5 / counted.runs as f64).sqrt();
    println!("{advantage} of {distance}");
    assert!((advantage - distance).abs() < error, "{advantage} of {distance}");
    assert!(distance > 4.0 * error, "a test without any advantage would pass");
}

#[test]
fn an_interrupted_audit_continues_and_a_state_of_something_else_is_refused() {
    let (plan, table) = (plan(&full(3, 1.0, 0.0)), table(40));
    let attack = Attack::new(Kind::EveryStep, &plan, &table, None);
    let train = |world, seed| Ok(attack.score(&plan, &attack.train(&plan, world, seed)?));
    let all = |state: Option<&State>, runs| {
        collect(attack.kind().id(), runs, 7, state, &Progress::default(), train).expect("they train")
    };
    let expected = all(None, 50);
    let path = std::env::temp_dir().join(format!("dobrushin-audit-state-{}", std::process::id()));
    let digest = digest(&plan, &table, None, 7);
    all(Some(&State::open(&path, &digest).expect("it is new")), 20);
    // An interruption may leave a part of a line.
    let mut bytes = std::fs::read(&path).expect("it is there");
    bytes.extend(b"crafted-gradient with 9");
    std::fs::write(&path, &bytes).expect("it can be written");
    let state = State::open(&path, &digest).expect("it fits");
    assert!(matches!(State::open(&path, &digest), Err(JournalError::InUse { .. })));
    assert_eq!(state.count(), 40);
    // What is known is not computed again.
    let known = |_, _| Err(TrainError::Diverged);
    let again = collect(attack.kind().id(), 20, 7, Some(&state), &Progress::default(), known);
    assert_eq!(again.expect("all is known").with, expected.with[..20]);
    assert_eq!(all(Some(&state), 50), expected);
    let lines = std::fs::read_to_string(&path).expect("it is text").lines().count();
    assert_eq!(lines, 101);
    drop(state);
    let other = State::open(&path, &digest.replace(|_: char| true, "0")).expect_err("another digest");
    assert!(matches!(other, JournalError::Other { .. }), "{other}");
    std::fs::write(&path, b"age,income\n17,0\n").expect("it can be written");
    assert!(matches!(State::open(&path, &digest), Err(JournalError::Foreign { .. })));
    assert_eq!(std::fs::read(&path).expect("it is there"), b"age,income\n17,0\n");
    std::fs::remove_file(&path).expect("it was there");
}

#[test]
fn one_run_with_many_canaries_proves_some_of_the_guarantee_and_no_more() {
    const CANARIES: usize = 400;
    let bounds = Bounds { dimension: CANARIES, norm: positive(1.0), target: Target::Classes(2) };
    for neighbours in [Neighbours::ZeroOut, Neighbours::AddOrRemoveOne, Neighbours::ReplaceOne] {
        let run = Run::gradient_descent(500).steps(3).release(Release::Last).learning_rate(0.5);
        let run = run.clip_norm(1.0).noise_multiplier(1.0).neighbours(neighbours);
        let plan = Plan::new(Description {
            model: Model::Linear { loss: Logistic.into(), features: CANARIES },
            bounds,
            ..description(run.training().expect("all is said"))
        });
        let plan = plan.expect("it fits together");
        let mut table = Table::new(bounds, 1);
        (0..500).for_each(|_| table.push_empty());
        let attack = CanaryAttack::new(&plan, &table, CANARIES);
        assert_eq!(attack.count(), CANARIES);
        let canaries = attack.train(&plan, None, 3).expect("it trains");
        let found = one_run(&canaries, CANARIES / 8, CANARIES / 8, delta(), Risk::new(0.05).expect("a risk"));
        let found = found.expect("enough canaries");
        println!(
            "{neighbours:?}: {} of {}, at most {}",
            found.epsilon,
            guaranteed(&plan),
            found.provable_at_most
        );
        assert!(found.epsilon > 1.0 && found.epsilon < guaranteed(&plan));
        assert!(found.refutes(&claim(&plan)).is_none());
    }
}
