//! What attacks on the accountant of hidden states found, each mended.

use dobrushin::account::{Options, Question};
use dobrushin::analysis::{HiddenStates, Shift, ShiftRenyi};
use dobrushin::chain::{Branch, Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise, Stop};
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::theta;
use dobrushin::run::{
    Algorithm, Batch, CustomChain, Divisor, DomainFacts, LearningRate, Length, LossFacts, Noise, Order,
    Record, Release, Run, Training,
};
use dobrushin::{Enclosure, Epsilon, NonNegative, Positive};

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("positive")
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("valid")
}

fn used(slope: f64, displacement: f64) -> Step {
    Step::new(StepNoise::gaussian(1.0).expect("valid"))
        .with_modulus(vec![Piece::new(slope, 0.0).expect("valid")])
        .used_by(Participation::Always, NonNegative::new(displacement).expect("valid"))
}

fn training() -> Training {
    Run::pnsgd(10)
        .order(Order::Once)
        .batch_size(1)
        .epochs(1.0)
        .release(Release::Last)
        .learning_rate(0.5)
        .lipschitz(1.0)
        .gradient_noise(1.0)
        .convex()
        .smoothness(1.0)
        .diameter(1.0)
        .training()
        .expect("all is said")
}

fn guarantee(training: Training, at: f64) -> f64 {
    let run = Run::training(training).expect("valid");
    let report = run.account(Question::DeltaAt(epsilon(at)));
    report.guarantee().expect("applicable").answer.value.upper()
}

/// "Any number" is also none, and one: what was shifted before is not forgotten.
#[test]
fn any_number_of_steps_after_others_may_be_none() {
    let chain =
        Chain::new(vec![(used(0.5, 3.0), Count::Times(1)), (used(0.5, 0.01), Count::Any)], Domain::default());
    let run = Run::chain(CustomChain { chain: chain.expect("valid"), release: Release::Last });
    let released = run.released().expect("valid");
    let at_once = theta::theta(epsilon(0.5), NonNegative::new(3.0).expect("valid"));
    for analysis in [&ShiftRenyi as &dyn HiddenStates, &Shift] {
        if let Ok(bound) = analysis.apply(&released.views[0]) {
            let delta = bound.into_profile().delta(epsilon(0.5));
            assert!(delta.upper() >= at_once.lower(), "{}: {delta}", analysis.id());
        }
    }
}

/// 0.2 passes of ten steps are two steps, not three.
#[test]
fn epochs_are_no_more_steps_than_they_are() {
    let exact = theta::theta(epsilon(0.5), NonNegative::new(2.0).expect("valid")).lower();
    let second = Training { length: Length::Epochs(positive(0.2)), record: Record::Index(2), ..training() };
    assert!(guarantee(second, 0.5) >= exact);
    let stopped =
        Training { length: Length::Epochs(positive(0.1)), release: Release::RandomStop, ..training() };
    assert!(guarantee(stopped, 0.5) >= exact);
    // A fraction of a step may be made or not: both are looked at.
    let of = |length| Training { length, ..training() };
    let views = |length| Run::training(of(length)).expect("valid").released().expect("it hides").views;
    let [shorter, longer] = [2, 3].map(|steps| views(Length::Steps(steps)));
    assert_eq!(views(Length::Epochs(positive(0.25))), [shorter, longer].concat());
    let least = [2, 3].map(|steps| guarantee(of(Length::Steps(steps)), 0.5)).into_iter().fold(0.0, f64::max);
    assert_eq!(guarantee(of(Length::Epochs(positive(0.25))), 0.5), least);
}

/// A person may be at the worst place of one task and at another place of the next.
#[test]
fn tasks_with_their_own_orders_are_worst_in_each() {
    let run = Training {
        records: 2,
        release: Release::RandomStop,
        tasks: 2,
        learning_rate: Some(LearningRate::Constant(positive(1.0))),
        noise: Noise::GradientList(vec![positive(2.0 / 1.627), positive(0.2)]),
        loss: LossFacts::default(),
        domain: DomainFacts { diameter: Some(positive(100.0)), dimension: None },
        ..training()
    };
    assert!(guarantee(run.clone(), 0.0) >= 0.7905);
    assert!(guarantee(run.clone(), 0.2) >= 0.7693);
    assert!(Run::training(Training { record: Record::Index(1), ..run }).is_err());
}

#[test]
fn more_stops_than_steps_are_no_stops() {
    let chain = Chain::new(vec![(used(1.0, 3.0), Count::Times(3))], Domain::default()).expect("valid");
    let delta = |stop: Stop| {
        let branch = Branch { weight: Enclosure::ONE, chain: chain.clone(), stop };
        let bound = ShiftRenyi.apply(&Mixture::new(vec![branch])).expect("applicable");
        bound.into_profile().delta(epsilon(0.5)).upper()
    };
    assert_eq!(delta(Stop::Uniform(300)), delta(Stop::Uniform(3)));
    assert_eq!(delta(Stop::Uniform(0)), delta(Stop::Uniform(3)));
}

#[test]
fn huge_numbers_are_refused_and_not_cut_off() {
    let poisson = Training {
        order: Order::Poisson,
        batch: Batch::Probability(dobrushin::Probability::new(1e-15).expect("valid")),
        ..training()
    };
    let refused = [
        Training { length: Length::Epochs(positive(1e9)), ..poisson.clone() },
        Training { length: Length::Steps(u64::MAX), ..poisson },
        Training { public_steps: u64::MAX, ..training() },
        Training { tasks: u64::MAX, ..training() },
    ];
    for training in refused {
        assert!(Run::training(training).is_err());
    }
}

#[test]
fn a_batch_of_all_records_has_no_neighbour_with_one_less() {
    let run = Training {
        order: Order::WithoutReplacement,
        batch: Batch::Size(10),
        neighbours: Neighbours::AddOrRemoveOne,
        ..training()
    };
    assert!(Run::training(run).is_err());
}

/// Slopes whose product underflows cost no more than those of fewer steps.
#[test]
fn a_long_run_is_no_worse_than_any_number_of_steps() {
    let run = |length| Training {
        algorithm: Algorithm::DpSgd,
        order: Order::Poisson,
        divide_by: Divisor::Actual,
        weight_decay: 0.9,
        length,
        domain: DomainFacts::default(),
        ..training()
    };
    let by = |length| {
        let run = Run::training(run(length)).expect("valid");
        let options = Options { only: vec!["shift-renyi"], ..Options::default() };
        let report = run.account_by(Question::DeltaAt(epsilon(2.0)), &options);
        report.guarantee().expect("applicable").answer.value.upper()
    };
    assert!(by(Length::Steps(1000)) <= by(Length::Any) * (1.0 + 1e-6));
}

/// Steps before the only use are not mistaken for it, whatever follows.
#[test]
fn steps_before_the_use_are_no_use() {
    let clean = Step::new(StepNoise::gaussian(1.0).expect("valid"))
        .with_modulus(vec![Piece::new(1.0, 0.0).expect("valid")]);
    let steps = |tail| {
        vec![(clean.clone(), Count::Times(3)), (used(1.0, 1.0), Count::Times(1)), (clean.clone(), tail)]
    };
    let domain = Domain { diameter: Some(positive(2.0)), dimension: Some(1) };
    // Projected to an interval of length 2, from its middle, the use alone has a total variation of 0.29343.
    for analysis in dobrushin::analysis::about_hidden_states() {
        let view = Mixture::last(Chain::new(steps(Count::Any), domain).expect("valid"));
        if let Ok(bound) = analysis.apply(&view) {
            let delta = bound.into_profile().delta(epsilon(0.0)).upper();
            assert!(delta >= 0.2934, "{}: {delta}", analysis.id());
        }
    }
    let huge = vec![
        (clean.clone(), Count::Times(u64::MAX / 2)),
        (used(1.0, 1.0), Count::Times(1)),
        (clean.clone(), Count::Times(u64::MAX / 2)),
    ];
    assert!(Chain::new(huge, domain).is_err());
}

/// Any number of noisier steps may be none of them: the noise of the last step before them is all there is.
#[test]
fn any_number_of_noisier_steps_hides_nothing_for_certain() {
    let mut noisier = used(0.5, 0.01);
    noisier.noise = StepNoise::gaussian(100.0).expect("valid");
    for diameter in [None, Some(positive(50.0))] {
        let steps = vec![(used(0.5, 3.0), Count::Times(1)), (noisier.clone(), Count::Any)];
        let domain = Domain { diameter, dimension: Some(1) };
        let view = Mixture::last(Chain::new(steps, domain).expect("valid"));
        let at_once = theta::theta(epsilon(0.5), NonNegative::new(3.0).expect("valid")).lower();
        for analysis in dobrushin::analysis::about_hidden_states() {
            if let Ok(bound) = analysis.apply(&view) {
                let delta = bound.into_profile().delta(epsilon(0.5)).upper();
                assert!(delta >= at_once, "{}: {delta} < {at_once}", analysis.id());
            }
        }
    }
}
