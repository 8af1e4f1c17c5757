//! What is said about the utility of a run: the formulas, by hand, and every reason to say nothing.

use crate::utility_support::{positive, probability, training};
use dobrushin::NonNegative;
use dobrushin::mechanism::{Mechanism, Neighbours, Sampling};
use dobrushin::run::{
    Algorithm, Batch, Contribution, Divisor, LearningRate, Length, MechanismUse, Mechanisms, Noise,
    NoiseKind, Order, Release, Run, Training,
};
use dobrushin::statement;
use dobrushin::statement::UTILITY;
use dobrushin::utility::{self, Measure, Utility};

fn utility(training: Training) -> Utility {
    utility::of(&Run::training(training).unwrap()).unwrap()
}

fn value(training: Training, id: &str) -> f64 {
    let utility = utility(training);
    let entry = utility.entries.iter().find(|entry| entry.id == id).unwrap();
    entry.outcome.clone().unwrap_or_else(|reason| panic!("{id}: {reason}")).upper()
}

fn refusal(training: Training, id: &str) -> String {
    let utility = utility(training);
    let entry = utility.entries.into_iter().find(|entry| entry.id == id).unwrap();
    entry.outcome.unwrap_err().to_string()
}

fn assert_close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} instead of {expected}");
}

/// n = 100 records, d = 5, D = 2, L = 1, σ = 1, η = 0.1.
fn base() -> Training {
    training(100, 5)
}

#[test]
fn a_random_stop_averages_over_all_steps() {
    // G² = 1 + 5·1; D²/(2ηn) = 0.2.
    assert_close(value(base(), "utility-average"), 0.2 + 0.05 * (99.0 * 6.0 + 1.0) / 100.0);
    let more = Training { public_steps: 100, ..base() };
    assert_close(value(more, "utility-average"), 0.1 + 0.05 * (199.0 * 6.0 + 1.0) / 200.0);
    let multiplier = Training { noise: Noise::Multiplier(positive(3.0)), batch: Batch::Size(2), ..base() };
    // σ = 3·1/2, and 50 steps.
    let moment = 1.0 + 5.0 * 2.25;
    assert_close(value(multiplier, "utility-average"), 0.4 + 0.05 * (49.0 * moment + 1.0) / 50.0);
    let iterate = Training { noise: Noise::Iterate(positive(0.2)), ..base() };
    // σ = 0.2/0.1.
    assert_close(value(iterate, "utility-average"), 0.2 + 0.05 * (99.0 * 21.0 + 1.0) / 100.0);
}

#[test]
fn a_random_skip_averages_over_half_of_the_private_steps_and_one() {
    for (records, public, count) in
        [(100, 0, 51.0), (101, 0, 51.0), (1, 0, 1.0), (100, 30, 51.0), (3, 7, 2.0)]
    {
        let skip = Training { records, release: Release::RandomSkip, public_steps: public, ..base() };
        let expected = 20.0 / count + 0.05 * ((count - 1.0) * 6.0 + 1.0) / count;
        assert_close(value(skip, "utility-average"), expected);
    }
}

#[test]
fn the_last_iterate_pays_for_the_harmonic_sum_of_the_best_window() {
    let last = Training { release: Release::Last, ..base() };
    let of = |m: u32| {
        let harmonic: f64 = (1..m).map(|k| 1.0 / f64::from(k)).sum();
        20.0 / f64::from(m) + 0.05 * (6.0 * harmonic + 1.0)
    };
    let best = (1..=101).map(of).fold(f64::INFINITY, f64::min);
    assert_close(value(last.clone(), "utility-last"), best);
    // The best window is D²/(ηG)² = 66 long, shorter than the run.
    assert!(best < of(60) && best < of(72) && best < of(101));
    assert_close(value(Training { records: 10, ..last }, "utility-last"), of(11));
}

#[test]
fn falling_rates_have_the_sums_of_the_lemma() {
    let rates = [0.4, 0.4, 0.2, 0.1];
    let list = Training {
        records: 4,
        learning_rate: Some(LearningRate::List(rates.map(positive).to_vec())),
        noise: Noise::GradientList([1.0, 2.0, 1.0, 3.0].map(positive).to_vec()),
        ..base()
    };
    let cost = |t: usize| rates[t] * [6.0, 21.0, 6.0, 46.0][t];
    // x_1, …, x_4: the steps 2, 3, 4, and one more at the rate 0.1.
    let expected = (4.0 / 0.1 + cost(1) + cost(2) + cost(3) + 0.1) / 8.0;
    assert_close(value(list.clone(), "utility-average"), expected);
    let regret = Training { algorithm: Algorithm::Online, ..list.clone() };
    // x_0, …, x_3: the steps 1, 2, 3, and the fourth without noise.
    let expected = (4.0 / 0.1 + cost(0) + cost(1) + cost(2) + 0.1) / 8.0;
    assert_close(value(regret.clone(), "utility-regret"), expected);
    // Worse than any play.
    let vacuous = utility(regret);
    assert!(vacuous.best().unwrap().is_vacuous() && vacuous.best().unwrap().value.upper() == 2.0);
    // m = 2: the mean of the last two, and k = 1.
    let two = (4.0 / 0.1 + cost(3) + 0.1) / 4.0 + 0.5 * (cost(3) + 0.1) / 2.0;
    let last = Training { release: Release::Last, ..list };
    let found = value(last, "utility-last");
    assert!(found <= two && found > 0.5 * two, "{found} {two}");
}

#[test]
fn proposition_2_is_a_special_case() {
    let (n, sigma, d): (u64, f64, f64) = (500, 0.7, 5.0);
    let run = Training {
        algorithm: Algorithm::Online,
        learning_rate: Some(LearningRate::InverseSqrt(positive(2.0))),
        noise: Noise::Gradient(positive(sigma)),
        ..training(n, 5)
    };
    let rates = |end: u64| (1..=end).map(|t| 2.0 / (t as f64).sqrt()).sum::<f64>();
    let published = 3.0 / (n as f64).sqrt() + d * sigma * sigma * rates(n) / (2.0 * n as f64);
    let found = value(run.clone(), "utility-regret");
    assert!(found < published && found > 0.95 * published, "{found} {published}");
    let end = 2.0 / (n as f64).sqrt();
    let exact = (4.0 / end + rates(n - 1) * (1.0 + d * sigma * sigma) + end) / (2.0 * n as f64);
    assert!((found / exact - 1.0).abs() < 1e-10);
    // W_{T+1}, which is released, has its own bound (E21), with the steps from the second on.
    let shifted = (4.0 / end + (rates(n) - 2.0) * (1.0 + d * sigma * sigma) + end) / (2.0 * n as f64);
    assert!((value(run, "utility-average") / shifted - 1.0).abs() < 1e-10);
}

#[test]
fn the_empirical_risk_is_meant_where_batches_are_drawn_anew() {
    let steps = Length::Steps(1000);
    let with = |order, batch| Training { order, batch, length: steps, ..base() };
    for (training, factor) in [
        (with(Order::Poisson, Batch::Size(4)), 1.0 + 0.96 / 4.0),
        (with(Order::Poisson, probability(0.5)), 1.0 + 0.5 / 50.0),
        (with(Order::WithoutReplacement, Batch::Size(4)), 1.0),
        (with(Order::Full, Batch::Size(100)), 1.0),
    ] {
        let best = utility(training.clone());
        assert_eq!(best.best().unwrap().measure, Measure::EmpiricalRisk);
        let expected = 0.02 + 0.05 * (999.0 * (factor + 5.0) + 1.0) / 1000.0;
        assert_close(value(training, "utility-average"), expected);
    }
    for order in [Order::Once, Order::Cyclic, Order::Shuffled] {
        let best = utility(Training { order, ..base() });
        assert_eq!(best.best().unwrap().measure, Measure::PopulationRisk);
        assert!(best.best().unwrap().assumptions[0].contains("independent draws"));
    }
}

#[test]
fn laplace_noise_has_one_dimension() {
    let mut laplace = Training { noise_kind: NoiseKind::Laplace, ..training(100, 1) };
    assert_close(value(laplace.clone(), "utility-average"), 0.2 + 0.05 * (99.0 * 3.0 + 1.0) / 100.0);
    laplace.domain.dimension = None;
    assert_close(value(laplace, "utility-average"), 0.2 + 0.05 * (99.0 * 3.0 + 1.0) / 100.0);
}

#[test]
fn what_cannot_be_bounded_is_refused_with_the_key_that_would_help() {
    let changed = |change: &dyn Fn(&mut Training)| {
        let mut training = base();
        change(&mut training);
        utility::of(&Run::training(training).unwrap()).unwrap_err().to_string()
    };
    let several =
        |order: Order| move |run: &mut Training| (run.order, run.length) = (order, Length::Steps(101));
    let cases: [(String, &str); 14] = [
        (changed(&|run| run.loss.convex = None), "loss.convex = true"),
        (changed(&|run| run.loss.convex = Some(false)), "loss.convex is false"),
        (
            changed(&|run| run.contribution = Some(Contribution::Clipped(positive(1.0)))),
            "loss.generalised-linear",
        ),
        (changed(&|run| run.contribution = None), "update.lipschitz"),
        (changed(&|run| run.domain.diameter = None), "[domain] diameter"),
        (changed(&|run| run.domain.dimension = None), "[domain] dimension"),
        (changed(&|run| run.weight_decay = 0.01), "update.weight-decay"),
        (changed(&several(Order::Cyclic)), "run.order"),
        (changed(&several(Order::Shuffled)), "run.order"),
        (changed(&|run| (run.order, run.length) = (Order::Poisson, Length::Any)), "run.steps"),
        (changed(&|run| (run.order, run.divide_by) = (Order::Poisson, Divisor::Actual)), "update.divide-by"),
        (changed(&|run| (run.order, run.public_steps) = (Order::Poisson, 3)), "run.public-steps"),
        (changed(&|run| run.batch = Batch::Size(30)), "run.batch-size"),
        (changed(&|run| run.length = Length::Epochs(positive(0.777))), "run.steps"),
    ];
    for (reason, key) in &cases {
        assert!(reason.contains(key), "{reason}: {key}");
    }
    let uses = vec![MechanismUse {
        mechanism: Mechanism::Gaussian { noise_multiplier: positive(1.0) },
        sampling: Sampling::Every,
        count: 1,
    }];
    let mechanisms = Mechanisms { neighbours: Neighbours::ReplaceOne, uses };
    let reason = utility::of(&Run::mechanisms(mechanisms).unwrap()).unwrap_err().to_string();
    assert!(reason.contains("run.algorithm"), "{reason}");
}

#[test]
fn one_theorem_that_does_not_apply_leaves_the_others() {
    let growing = LearningRate::List(vec![positive(0.1), positive(0.2)]);
    let run = Training { records: 2, learning_rate: Some(growing), ..base() };
    assert!(refusal(run.clone(), "utility-average").contains("update.learning-rate"));
    assert_close(value(run.clone(), "utility-domain"), 2.0);
    assert_eq!(utility(run).best().unwrap().id, "utility-domain");
    let unknown = Training { learning_rate: None, ..base() };
    assert!(refusal(unknown, "utility-average").contains("update.learning-rate"));
    assert!(refusal(base(), "utility-last").contains("run.release"));
    assert!(
        refusal(Training { release: Release::Last, ..base() }, "utility-average").contains("run.release")
    );
    let falling = Some(LearningRate::InverseSqrt(positive(0.1)));
    let skip = Training { release: Release::RandomSkip, learning_rate: falling, ..base() };
    assert!(refusal(skip, "utility-average").contains("equal steps"));
    let all = utility(Training { release: Release::All, ..base() });
    assert!(all.entries[..3].iter().all(|entry| entry.outcome.is_ok()));
}

#[test]
fn clipped_generalised_linear_losses_are_said_to_be_replaced() {
    let mut clipped = Training { contribution: Some(Contribution::Clipped(positive(1.0))), ..base() };
    clipped.loss.generalised_linear = Some(true);
    let found = utility(clipped);
    let best = found.best().unwrap();
    assert!(best.assumptions.iter().any(|words| words.contains("clipped")), "{:?}", best.assumptions);
    assert_close(best.value.upper(), value(base(), "utility-average"));
    let mut strong = base();
    strong.loss.convex = None;
    strong.loss.strong_convexity = Some(NonNegative::new(0.1).unwrap());
    assert_close(value(strong, "utility-average"), value(base(), "utility-average"));
}

#[test]
fn the_best_rate_is_better_than_its_neighbours_and_than_the_rate_of_the_run() {
    let online = Training { algorithm: Algorithm::Online, ..base() };
    let last = Training { release: Release::Last, ..training(10_000, 5) };
    let skip = Training { release: Release::RandomSkip, ..base() };
    let falling = Training { learning_rate: Some(LearningRate::InverseSqrt(positive(0.1))), ..base() };
    for run in [base(), online, last, skip, falling] {
        let found = utility(run.clone());
        let best = found.best_rate.unwrap();
        let at = |times: f64| {
            let rate = LearningRate::Constant(positive(best.rate.get() * times));
            let again = utility(Training { learning_rate: Some(rate), ..run.clone() });
            again.best().unwrap().value.upper()
        };
        assert_eq!(at(1.0), best.value.upper());
        for times in [0.1, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0, 10.0] {
            assert!(at(times) > best.value.upper(), "{times} {:?}", run.release);
        }
        assert!(best.value.upper() <= found.best().unwrap().value.upper());
    }
    // Up to what keeps iterates of a smooth loss together, or nothing where every rate is worse than none.
    let mut smooth = base();
    smooth.learning_rate = Some(LearningRate::Constant(positive(0.01)));
    smooth.loss.smoothness = Some(positive(40.0));
    assert_eq!(utility(smooth).best_rate.unwrap().rate.get(), 0.05);
    let noisy = Training { noise: Noise::Gradient(positive(1e3)), ..base() };
    assert!(utility(noisy).best_rate.is_none());
    assert!(utility(Training { noise: Noise::Iterate(positive(0.1)), ..base() }).best_rate.is_none());
}

#[test]
fn every_theorem_that_is_named_can_be_explained() {
    let online = utility(Training { algorithm: Algorithm::Online, ..base() });
    assert_eq!(online.entries.len(), 5);
    assert_eq!(online.best().unwrap().measure, Measure::AverageRegret);
    assert_eq!(online.measures(), [Measure::AverageRegret, Measure::PopulationRisk]);
    for entry in &online.entries {
        assert!(statement::find(entry.id).is_some(), "{}", entry.id);
    }
    for (place, one) in UTILITY.iter().enumerate() {
        assert_eq!(statement::find(one.id), Some(one));
        assert!(!one.statement.is_empty() && !one.assumptions.is_empty() && !one.source.is_empty());
        assert!(UTILITY[..place].iter().all(|other| other.id != one.id));
    }
}
