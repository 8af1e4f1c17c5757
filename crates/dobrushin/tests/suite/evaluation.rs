//! A private evaluation of what is released is paid for.

use dobrushin::account::{Options, Question, Target, calibrate};
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::theta;
use dobrushin::run::{
    Algorithm, Batch, Centre, DomainFacts, Evaluation, Length, Order, Parameter, Release, Run, Training,
};
use dobrushin::{Delta, Enclosure, Epsilon, Positive};

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("positive")
}

/// Noisy gradient descent of a convex loss in a ball: the shift analysis is Gaussian, recursion is not.
fn training() -> Training {
    Run::gradient_descent(1000)
        .steps(50)
        .release(Release::Last)
        .learning_rate(0.5)
        .lipschitz(1.0)
        .noise_multiplier(10.0)
        .weight_decay(0.05)
        .convex()
        .smoothness(0.25)
        .diameter(1.0)
        .dimension(3)
        .training()
        .expect("all is said")
}

fn evaluated(training: Training, multiplier: f64) -> Training {
    Training { evaluation: Some(Evaluation { noise_multiplier: positive(multiplier) }), ..training }
}

fn delta_of(training: &Training, analysis: &'static str, epsilon: f64) -> Enclosure {
    let run = Run::training(training.clone()).expect("valid");
    let options = Options { only: vec![analysis], ..Options::default() };
    let report = run.account_by(Question::DeltaAt(Epsilon::new(epsilon).expect("valid")), &options);
    report.answer(analysis).expect("it applies").value
}

/// μ for which θ_ε(μ) is δ.
fn mu_of(delta: f64, epsilon: f64) -> f64 {
    let epsilon = Epsilon::new(epsilon).expect("valid");
    let (mut low, mut high) = (1e-6, 50.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        let value = theta::theta(epsilon, dobrushin::NonNegative::new(middle).expect("valid")).midpoint();
        if value < delta { low = middle } else { high = middle }
    }
    low
}

#[test]
fn gaussian_bounds_add_in_squares() {
    for (neighbours, apart) in [(Neighbours::ReplaceOne, 2.0), (Neighbours::ZeroOut, 1.0)] {
        for tasks in [1, 3] {
            let plain = Training { neighbours, tasks, ..training() };
            for analysis in ["shift", "composition"] {
                let before = mu_of(delta_of(&plain, analysis, 0.3).midpoint(), 0.3);
                let after = mu_of(delta_of(&evaluated(plain.clone(), 7.0), analysis, 0.3).midpoint(), 0.3);
                let added: f64 = apart / 7.0;
                let expected = (before * before + tasks as f64 * added * added).sqrt();
                assert!(
                    (after / expected - 1.0).abs() < 1e-6,
                    "{analysis}, {tasks}: {after} against {expected}"
                );
            }
        }
    }
}

#[test]
fn a_mean_before_training_is_paid_for_once_whatever_the_number_of_tasks() {
    for (neighbours, apart) in
        [(Neighbours::ReplaceOne, 2.0), (Neighbours::ZeroOut, 1.0), (Neighbours::AddOrRemoveOne, 1.0)]
    {
        for tasks in [1, 3] {
            let plain = Training { neighbours, tasks, ..training() };
            let centre = Some(Centre { noise_multiplier: positive(5.0) });
            let centred = evaluated(Training { centre, ..plain.clone() }, 7.0);
            for analysis in ["shift", "composition"] {
                let before = mu_of(delta_of(&plain, analysis, 0.3).midpoint(), 0.3);
                let after = mu_of(delta_of(&centred, analysis, 0.3).midpoint(), 0.3);
                let [mean, evaluation]: [f64; 2] = [apart / 5.0, apart / 7.0];
                let square = before * before + mean * mean + tasks as f64 * evaluation * evaluation;
                assert!((after / square.sqrt() - 1.0).abs() < 1e-6, "{analysis}, {tasks}: {after}");
            }
        }
    }
}

#[test]
fn bounds_that_are_not_gaussian_are_composed_too() {
    // The exact composition of a μ-Gaussian mechanism with any other lies above both, and below the Gaussian bound if the
    // other is below a Gaussian one.
    for (analysis, plain) in [
        ("contraction", training()),
        (
            "recursion",
            Training {
                order: Order::WithoutReplacement,
                batch: Batch::Size(10),
                algorithm: Algorithm::DpSgd,
                length: Length::Steps(300),
                ..training()
            },
        ),
        ("shift-renyi", training()),
    ] {
        for epsilon in [0.2, 1.0] {
            let before = delta_of(&plain, analysis, epsilon);
            let alone = theta::theta(
                Epsilon::new(epsilon).expect("valid"),
                dobrushin::NonNegative::new(2.0 / 7.0).expect("valid"),
            );
            let after = delta_of(&evaluated(plain.clone(), 7.0), analysis, epsilon);
            assert!(after.upper() >= before.lower() && after.upper() >= alone.lower(), "{analysis}");
            let much = delta_of(&evaluated(plain.clone(), 1e9), analysis, epsilon);
            assert!(
                much.upper() >= before.lower() * 0.999 && much.upper() <= before.upper() * 1.05 + 1e-9,
                "{analysis}: {much} against {before}"
            );
        }
    }
}

#[test]
fn noise_is_found_that_pays_for_the_evaluation() {
    // Without a domain, all analyses are quick.
    let plain = || Training { domain: DomainFacts::default(), ..training() };
    let run = Run::training(evaluated(plain(), 20.0)).expect("valid");
    let target = Target::Privacy {
        epsilon: Epsilon::new(1.0).expect("valid"),
        delta: Delta::new(1e-6).expect("valid"),
    };
    let found = calibrate(&run, Parameter::NoiseMultiplier, target).expect("reachable");
    let without = calibrate(&Run::training(plain()).expect("valid"), Parameter::NoiseMultiplier, target)
        .expect("reachable");
    assert!(found.achieved.upper() <= 1.0 && found.value > without.value);
    // Without noise of its own to speak of, an evaluation alone exceeds the target.
    let run = Run::training(evaluated(plain(), 0.5)).expect("valid");
    assert!(calibrate(&run, Parameter::NoiseMultiplier, target).is_err());
}

#[test]
fn noise_beyond_reason_is_refused() {
    for multiplier in [1e-3, 1e13] {
        let error = Run::training(evaluated(training(), multiplier)).err().expect("refused");
        assert_eq!(error.fact.name(), "evaluation.noise-multiplier");
    }
}
