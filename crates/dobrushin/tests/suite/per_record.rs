//! Who is protected how much, and values of parameters that just meet a target.

use dobrushin::account::{
    Calibration, CalibrationError, Options, Protection, Question, Target, calibrate, protection_by_record,
};
use dobrushin::run::{
    Algorithm, Batch, Contribution, Divisor, DomainFacts, LearningRate, Length, LossFacts, Noise, Order,
    Parameter, Record, Release, Run, Training,
};
use dobrushin::{Delta, Epsilon, Positive};

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// One pass over 200 records, convex and smooth, on a domain of diameter 2.
fn base() -> Training {
    Run::pnsgd(200)
        .order(Order::Once)
        .batch_size(1)
        .epochs(1.0)
        .release(Release::Last)
        .learning_rate(0.25)
        .lipschitz(1.0)
        .gradient_noise(2.0)
        .convex()
        .smoothness(4.0)
        .strong_convexity(0.0)
        .diameter(2.0)
        .dimension(5)
        .training()
        .expect("all is said")
}

fn run(training: Training) -> Run {
    Run::training(training).unwrap()
}

const QUESTIONS: [fn() -> Question; 2] =
    [|| Question::EpsilonAt(Delta::new(1e-5).unwrap()), || Question::DeltaAt(Epsilon::new(0.5).unwrap())];

fn rows(training: &Training, question: Question) -> Vec<Protection> {
    protection_by_record(&run(training.clone()), question, &Options::default()).unwrap()
}

fn upper(row: &Protection) -> f64 {
    row.answer.unwrap().value.upper()
}

/// Every record is in one row; what the row says holds for it, by its own report, and hardly more.
fn covers_each_record_once(training: &Training) {
    for question in QUESTIONS {
        let rows = rows(training, question());
        let mut next = 1;
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(row.from, next, "{training:?}");
            assert!(row.to >= row.from);
            next = row.to + 1;
            if number % 8 != 0 {
                continue;
            }
            for index in [row.from, row.from + (row.to - row.from) / 2, row.to] {
                let report = run(Training { record: Record::Index(index), ..training.clone() }).account_by(
                    question(),
                    &Options {
                        only: vec!["composition", "shift", "ceiling", "contraction"],
                        ..Options::default()
                    },
                );
                let own = report.guarantee().unwrap().answer.value;
                let said = row.answer.unwrap().value;
                let room = 1e-12;
                assert!(said.upper() >= own.upper() * (1.0 - 1e-9) - room, "record {index}: {said} < {own}");
                assert!(said.upper() <= own.upper() * 1.002 + room, "record {index}: {said} > {own}");
                assert!(said.lower() <= own.upper() && own.lower() <= said.upper() + room);
            }
        }
        assert_eq!(next, training.records + 1);
    }
}

#[test]
fn each_record_has_one_row_that_says_what_its_own_report_says() {
    let list: Vec<Positive> = (0..40).map(|t| positive(0.05 + 0.4 * f64::from(t * 7 % 40) / 40.0)).collect();
    let cases = [
        base(),
        Training { length: Length::Steps(120), ..base() },
        Training { public_steps: 30, ..base() },
        Training { batch: Batch::Size(8), ..base() },
        // The last batch has 2 of 7.
        Training { records: 100, batch: Batch::Size(7), ..base() },
        Training { records: 100, batch: Batch::Size(7), divide_by: Divisor::Actual, ..base() },
        Training { records: 30, release: Release::RandomStop, ..base() },
        Training { release: Release::RandomSkip, ..base() },
        Training { order: Order::Cyclic, length: Length::Steps(530), ..base() },
        Training {
            order: Order::Cyclic,
            length: Length::Epochs(positive(3.0)),
            batch: Batch::Size(4),
            ..base()
        },
        Training {
            records: 12,
            order: Order::Cyclic,
            length: Length::Steps(30),
            release: Release::RandomStop,
            ..base()
        },
        Training {
            records: 40,
            learning_rate: Some(LearningRate::List(list)),
            noise: Noise::Iterate(positive(0.5)),
            ..base()
        },
        Training { records: 1, ..base() },
        Training { records: 2, ..base() },
    ];
    for training in &cases {
        covers_each_record_once(training);
    }
}

#[test]
fn later_records_are_less_protected_and_at_random_times_more() {
    for question in QUESTIONS {
        for training in [
            base(),
            Training { public_steps: 50, ..base() },
            Training { release: Release::RandomSkip, ..base() },
        ] {
            let rows = rows(&training, question());
            assert!(rows.len() > 2 || training.public_steps > 0);
            assert!(rows.windows(2).all(|pair| upper(&pair[0]) <= upper(&pair[1])), "{training:?}");
        }
        let rows = rows(&Training { release: Release::RandomStop, ..base() }, question());
        assert!(rows.windows(2).all(|pair| upper(&pair[0]) >= upper(&pair[1])));
    }
    // Steps that end within a pass: the earlier batches are used once more.
    let training = Training { order: Order::Cyclic, length: Length::Steps(530), ..base() };
    let rows = rows(&training, QUESTIONS[0]());
    let (more, fewer): (Vec<&Protection>, Vec<&Protection>) = rows.iter().partition(|row| row.to <= 130);
    assert!(more.windows(2).all(|pair| upper(pair[0]) <= upper(pair[1])));
    assert!(fewer.windows(2).all(|pair| upper(pair[0]) <= upper(pair[1])));
    assert!(upper(fewer.last().unwrap()) < upper(more.last().unwrap()));
}

#[test]
fn records_beyond_the_last_step_have_perfect_protection() {
    let training = Training { length: Length::Steps(120), ..base() };
    let rows = rows(&training, QUESTIONS[1]());
    let unused: Vec<&Protection> = rows.iter().filter(|row| row.from > 120).collect();
    assert!(!unused.is_empty() && unused.iter().all(|row| upper(row) == 0.0));
    assert!(rows.iter().filter(|row| row.to <= 120).all(|row| upper(row) > 0.0));
}

#[test]
fn records_without_a_fixed_place_have_no_rows() {
    for order in [Order::Shuffled, Order::Poisson, Order::WithoutReplacement] {
        let run = run(Training { order, batch: Batch::Size(4), ..base() });
        assert!(protection_by_record(&run, QUESTIONS[0](), &Options::default()).is_err(), "{order:?}");
    }
}

/// What the target limits, for one value of the parameter.
fn achieved(training: &Training, parameter: Parameter, value: f64, target: Target) -> f64 {
    let Target::Privacy { delta, .. } = target else { panic!("a privacy target") };
    let run = run(training.clone()).with(parameter, value).unwrap();
    run.account(Question::EpsilonAt(delta)).guarantee().unwrap().answer.value.upper()
}

fn target(epsilon: f64) -> Target {
    Target::Privacy { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(1e-5).unwrap() }
}

/// The value found meets the target, and the next one on the less private side does not.
fn is_the_boundary(
    training: &Training,
    parameter: Parameter,
    epsilon: f64,
    more_is_private: bool,
) -> Calibration {
    let target = target(epsilon);
    let found = calibrate(&run(training.clone()), parameter, target)
        .unwrap_or_else(|error| panic!("{}: {error}", parameter.fact()));
    let at = |value: f64| achieved(training, parameter, value, target);
    assert!(!found.at_the_end, "{}: {found:?}", parameter.fact());
    assert!(
        found.achieved.upper() <= epsilon && at(found.value) <= epsilon,
        "{}: {found:?}",
        parameter.fact()
    );
    let away = if more_is_private { -1.0 } else { 1.0 };
    let next = if parameter.is_whole() { found.value + away } else { found.value * (1.0 + away * 3e-5) };
    let beyond = if parameter.is_whole() && next < 1.0 { f64::INFINITY } else { at(next) };
    assert!(beyond > epsilon, "{}: {next} gives {beyond}, and {found:?}", parameter.fact());
    found
}

/// A record in the middle of the pass, so that hidden steps matter.
fn middle() -> Training {
    Training { record: Record::Index(150), ..base() }
}

#[test]
fn the_diameter_found_is_the_largest_that_meets_the_target() {
    // 50 steps follow: by contraction the diameter decides.
    let training = Training { noise: Noise::Iterate(positive(0.25)), ..middle() };
    let loose = achieved(&training, Parameter::Diameter, 1e6, target(1.0));
    let found = is_the_boundary(&training, Parameter::Diameter, 0.5 * loose, false);
    assert_eq!(found.analysis, "contraction");
}

#[test]
fn the_weight_decay_found_is_the_smallest_that_meets_the_target() {
    // Full batches, contraction by 1 − λ.
    let training = Training {
        algorithm: Algorithm::GradientDescent,
        order: Order::Full,
        batch: Batch::Size(200),
        length: Length::Steps(100_000),
        noise: Noise::Iterate(positive(0.025)),
        loss: LossFacts { smoothness: Some(positive(0.001)), ..base().loss },
        domain: DomainFacts::default(),
        ..base()
    };
    let found = is_the_boundary(&training, Parameter::WeightDecay, 1.0, true);
    assert!(found.value > 1e-4 && found.value < 0.5, "{found:?}");
    assert_eq!(found.analysis, "shift");
}

#[test]
fn the_public_steps_found_are_the_fewest_that_meet_the_target() {
    let training =
        Training { noise: Noise::Gradient(positive(1.0)), domain: DomainFacts::default(), ..base() };
    let found = is_the_boundary(&training, Parameter::PublicSteps, 1.0, true);
    // μ = 2L/(σ√(m+1)), through Rényi.
    assert!(found.value > 30.0 && found.value < 200.0, "{found:?}");
}

#[test]
fn the_clip_norm_found_is_the_largest_that_meets_the_target() {
    for noise in [Noise::Gradient(positive(2.0)), Noise::Iterate(positive(0.5))] {
        let loss = LossFacts { generalised_linear: Some(true), ..base().loss };
        // On a bounded domain 50 steps forget any push.
        let training = Training {
            contribution: Some(Contribution::Clipped(positive(1.0))),
            noise,
            loss,
            domain: DomainFacts::default(),
            ..middle()
        };
        is_the_boundary(&training, Parameter::ClipNorm, 1.0, false);
    }
}

#[test]
fn the_learning_rate_found_meets_the_target_on_its_private_side() {
    // The noise of the iterate is given: longer steps move it further.
    let loss = LossFacts::default();
    let training =
        Training { noise: Noise::Iterate(positive(0.5)), loss, domain: DomainFacts::default(), ..middle() };
    is_the_boundary(&training, Parameter::LearningRate, 1.0, false);
    // The noise grows with the steps, the domain does not: longer steps forget more.
    let training = Training { loss: LossFacts::default(), noise: Noise::Gradient(positive(8.0)), ..middle() };
    is_the_boundary(&training, Parameter::LearningRate, 1e-3, true);
}

#[test]
fn a_smooth_convex_loss_does_not_keep_the_learning_rate_from_being_found() {
    // Above 2/β = 0.1 longer steps may hide less, and the search ends there.
    let loss = LossFacts { smoothness: Some(positive(20.0)), ..base().loss };
    let learning_rate = Some(LearningRate::Constant(positive(0.05)));
    let training = Training { loss, learning_rate, noise: Noise::Iterate(positive(0.05)), ..middle() };
    let outcome = calibrate(&run(training.clone()), Parameter::LearningRate, target(1.0));
    match outcome {
        Ok(found) => assert!(found.value <= 0.1 && found.achieved.upper() <= 1.0, "{found:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn parameters_that_decide_nothing_are_refused() {
    let refused = |training: Training, parameter| match calibrate(&run(training), parameter, target(1.0)) {
        Err(CalibrationError::Run(error)) => assert!(!error.help.is_empty()),
        other => panic!("{}: {other:?}", parameter.fact()),
    };
    let all = Training { release: Release::All, ..base() };
    for parameter in [Parameter::Diameter, Parameter::WeightDecay, Parameter::PublicSteps] {
        refused(all.clone(), parameter);
    }
    refused(base(), Parameter::ClipNorm);
    refused(base(), Parameter::Steps);
    let unbounded = Training { domain: DomainFacts::default(), ..base() };
    refused(unbounded, Parameter::LearningRate);
    let multiplier = Training {
        contribution: Some(Contribution::Clipped(positive(1.0))),
        noise: Noise::Multiplier(positive(2.0)),
        ..base()
    };
    refused(multiplier, Parameter::ClipNorm);
}
