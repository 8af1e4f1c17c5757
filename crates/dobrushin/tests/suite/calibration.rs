//! The value that is given out meets its target, and hardly anything less private does.

use dobrushin::account::{Calibration, CalibrationError, Question, Target, calibrate};
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::{normal, theta};
use dobrushin::run::{Order, Parameter, Release, Run};
use dobrushin::{Delta, Epsilon, Probability};

fn run(order: Order, neighbours: Neighbours, steps: u64) -> Run {
    Run::dp_sgd(10_000)
        .order(order)
        .batch_size(if order == Order::Full { 10_000 } else { 100 })
        .steps(steps)
        .neighbours(neighbours)
        .noise_multiplier(1.0)
        .build()
        .expect("valid")
}

fn privacy(epsilon: f64, delta: f64) -> Target {
    Target::Privacy {
        epsilon: Epsilon::new(epsilon).expect("valid"),
        delta: Delta::new(delta).expect("valid"),
    }
}

fn probability(value: f64) -> Probability {
    Probability::new(value).expect("valid")
}

/// ε of the run with a value of the parameter, as the report has it.
fn epsilon(run: &Run, parameter: Parameter, value: f64, delta: f64) -> f64 {
    let run = run.with(parameter, value).expect("valid");
    let report = run.account(Question::EpsilonAt(Delta::new(delta).expect("valid")));
    report.guarantee().expect("applicable").answer.value.upper()
}

fn meets(found: &Calibration, limit: f64) {
    assert!(found.achieved.upper() <= limit, "{found:?}");
    assert!(found.achieved.lower() > limit * (1.0 - 3e-4), "{found:?} leaves room");
    assert!(found.evaluations <= 12, "{found:?} took long");
}

#[test]
fn noise_of_full_batches_is_that_of_the_closed_form() {
    for (neighbours, distance) in [(Neighbours::ReplaceOne, 2.0), (Neighbours::ZeroOut, 1.0)] {
        for steps in [1, 100, 12_345] {
            let found = calibrate(
                &run(Order::Full, neighbours, steps),
                Parameter::NoiseMultiplier,
                privacy(1.0, 1e-6),
            )
            .expect("reachable");
            // √T·d/m = r with θ_1(r) = 1e-6.
            let r = theta::largest_r(Epsilon::new(1.0).expect("valid"), Delta::new(1e-6).expect("valid"));
            let truth = distance * (steps as f64).sqrt() / r.midpoint();
            assert!(found.value >= truth && found.value < truth * (1.0 + 1e-5), "{} {truth}", found.value);
            meets(&found, 1.0);
        }
    }
}

#[test]
fn steps_of_full_batches_are_those_of_the_closed_form() {
    let run =
        run(Order::Full, Neighbours::ReplaceOne, 1).with(Parameter::NoiseMultiplier, 150.0).expect("valid");
    let found = calibrate(&run, Parameter::Steps, privacy(1.0, 1e-6)).expect("reachable");
    let r = theta::largest_r(Epsilon::new(1.0).expect("valid"), Delta::new(1e-6).expect("valid")).midpoint();
    assert_eq!(found.value, (r * 150.0 / 2.0).powi(2).floor());
}

#[test]
fn what_is_found_meets_the_target_and_its_neighbour_does_not() {
    let poisson = run(Order::Poisson, Neighbours::AddOrRemoveOne, 1000);
    for (parameter, less_private) in
        [(Parameter::NoiseMultiplier, 1.0 - 1e-5), (Parameter::SamplingProbability, 1.0 + 1e-5)]
    {
        let found = calibrate(&poisson, parameter, privacy(1.0, 1e-5)).expect("reachable");
        meets(&found, 1.0);
        assert!(epsilon(&poisson, parameter, found.value, 1e-5) <= 1.0);
        assert!(epsilon(&poisson, parameter, found.value * less_private, 1e-5) > 1.0, "{found:?}");
    }
    for parameter in [Parameter::Steps, Parameter::BatchSize] {
        let found = calibrate(&poisson, parameter, privacy(1.0, 1e-5)).expect("reachable");
        assert!(
            found.value.fract() == 0.0 && found.achieved.upper() <= 1.0 && found.evaluations <= 12,
            "{found:?}"
        );
        assert!(epsilon(&poisson, parameter, found.value, 1e-5) <= 1.0);
        assert!(epsilon(&poisson, parameter, found.value + 1.0, 1e-5) > 1.0, "{found:?}");
    }
}

#[test]
fn epochs_are_whole_in_turn_and_follow_the_steps_otherwise() {
    let cyclic =
        run(Order::Cyclic, Neighbours::ReplaceOne, 1).with(Parameter::NoiseMultiplier, 10.0).expect("valid");
    let found = calibrate(&cyclic, Parameter::Epochs, privacy(2.0, 1e-5)).expect("reachable");
    assert!(found.value.fract() == 0.0 && found.achieved.upper() <= 2.0, "{found:?}");
    assert!(epsilon(&cyclic, Parameter::Epochs, found.value + 1.0, 1e-5) > 2.0);

    let poisson = run(Order::Poisson, Neighbours::AddOrRemoveOne, 1);
    let steps = calibrate(&poisson, Parameter::Steps, privacy(1.0, 1e-5)).expect("reachable");
    let epochs = calibrate(&poisson, Parameter::Epochs, privacy(1.0, 1e-5)).expect("reachable");
    // 100 steps are a pass.
    assert!((epochs.value - steps.value / 100.0).abs() < 1e-9, "{steps:?} {epochs:?}");
}

#[test]
fn attacks_are_limited_as_the_normal_quantiles_say() {
    // m such that μ = 2/m (one step of all records, replace-one).
    let once = run(Order::Full, Neighbours::ReplaceOne, 1);
    let quantile = |p: f64| normal::cdf_inverse(probability(p)).midpoint();
    let found =
        calibrate(&once, Parameter::NoiseMultiplier, Target::Advantage(probability(0.1))).expect("reachable");
    // TV of N(μ, 1) and N(0, 1) is 2Φ(μ/2) − 1.
    let truth = 2.0 / (2.0 * quantile(0.55));
    assert!(found.value >= truth && found.value < truth * (1.0 + 3e-4), "{} {truth}", found.value);
    let target = Target::TruePositiveRate { rate: probability(0.05), at: probability(0.01) };
    let found = calibrate(&once, Parameter::NoiseMultiplier, target).expect("reachable");
    let truth = 2.0 / (quantile(0.05) - quantile(0.01));
    assert!(found.value >= truth && found.value < truth * (1.0 + 3e-4), "{} {truth}", found.value);
}

#[test]
fn what_cannot_be_reached_is_said() {
    let poisson = run(Order::Poisson, Neighbours::AddOrRemoveOne, 1000);
    for (parameter, target) in [
        (Parameter::Steps, privacy(1e-6, 1e-12)),
        // Gaussian noise has no pure privacy.
        (Parameter::NoiseMultiplier, privacy(1.0, 0.0)),
    ] {
        let error = calibrate(&poisson, parameter, target).expect_err("out of reach");
        assert!(matches!(error, CalibrationError::Unreachable { .. }), "{error}");
    }
}

#[test]
fn a_target_that_is_met_anyway_is_met_at_the_end_of_the_range() {
    let poisson = run(Order::Poisson, Neighbours::AddOrRemoveOne, 1).with(Parameter::NoiseMultiplier, 100.0);
    let found =
        calibrate(&poisson.expect("valid"), Parameter::BatchSize, privacy(5.0, 1e-2)).expect("reachable");
    assert!(found.at_the_end && found.value == 10_000.0, "{found:?}");
}

#[test]
fn what_need_not_be_monotone_is_refused() {
    let poisson = run(Order::Poisson, Neighbours::AddOrRemoveOne, 10);
    let gradient = poisson.with(Parameter::GradientNoise, 1.0).expect("valid");
    for (run, parameter) in [
        (&poisson, Parameter::LearningRate),
        (&gradient, Parameter::BatchSize),
        (&run(Order::Once, Neighbours::ReplaceOne, 1), Parameter::Steps),
    ] {
        let error = calibrate(run, parameter, privacy(1.0, 1e-5)).expect_err("refused");
        assert!(matches!(&error, CalibrationError::Run(error) if error.fact == parameter.fact()), "{error}");
    }
}

#[test]
fn few_analyses_are_asked_until_the_noise_of_hidden_iterates_is_found() {
    let run = Run::dp_sgd(30_162)
        .batch_size(512)
        .order(Order::WithoutReplacement)
        .steps(11_800)
        .release(Release::Last)
        .learning_rate(2.0)
        .clip_norm(1.0)
        .noise_multiplier(4.0)
        .weight_decay(0.02)
        .convex()
        .generalised_linear()
        .smoothness(0.25)
        .diameter(10.0)
        .build()
        .expect("valid");
    let found = calibrate(&run, Parameter::NoiseMultiplier, privacy(1.0, 1e-6)).expect("reachable");
    meets(&found, 1.0);
    assert_eq!(found.analysis, "shift-subsampled");
    // Everyone is asked far from the answer, near it, and about the value next to it; one analysis in between.
    let everyone = dobrushin::account::analysis_ids().count();
    assert!(found.questions <= 3 * everyone + found.evaluations, "{found:?}");
    let less_private = found.value * (1.0 - 1e-5);
    assert!(epsilon(&run, Parameter::NoiseMultiplier, less_private, 1e-6) > 1.0, "{found:?}");
}
