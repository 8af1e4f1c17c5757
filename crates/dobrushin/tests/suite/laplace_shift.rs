//! Shifts into Laplace noise.

use dobrushin::account::{Options, protection_by_record};
use dobrushin::analysis::{Bound, Ceiling, HiddenStates, Shift, ShiftRenyi};
use dobrushin::chain::{
    Branch, Chain, Count, Domain, Mixture, Participation, Piece, Start, Step, StepNoise, Stop,
};
use dobrushin::divergence::{LaplacePair, Pair};
use dobrushin::numeric::Random;
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::run::{Obstacle, Release, Run};
use dobrushin::{Delta, Enclosure, Epsilon, Gamma, NonNegative, Positive, Question};
use std::sync::Arc;

fn step(slope: f64, offset: f64) -> Step {
    let line = Piece::new(slope, offset).expect("valid");
    Step::new(StepNoise::laplace(1.0).expect("valid")).with_modulus(vec![line])
}

fn used(step: &Step, displacement: f64) -> Step {
    step.clone().used_by(Participation::Always, NonNegative::new(displacement).expect("valid"))
}

fn chain(steps: Vec<(Step, Count)>, diameter: Option<f64>) -> Chain {
    let diameter = diameter.map(|diameter| Positive::new(diameter).expect("valid"));
    Chain::new(steps, Domain { diameter, dimension: Some(1) }).expect("valid")
}

fn profile(analysis: &dyn HiddenStates, chain: &Chain) -> Arc<dyn PrivacyProfile> {
    analysis.apply(&Mixture::last(chain.clone())).expect("it applies").into_profile()
}

fn epsilon(analysis: &dyn HiddenStates, chain: &Chain, delta: f64) -> f64 {
    profile(analysis, chain).epsilon(Delta::new(delta).expect("valid")).upper()
}

/// One use, and then steps that keep distances or shrink them.
fn once(slope: f64, displacement: f64, later: u64) -> Chain {
    let clean = step(slope, 0.0);
    chain(vec![(used(&clean, displacement), Count::Times(1)), (clean, Count::Times(later))], None)
}

/// One pass, convex, no domain; the update moves by one scale of the noise.
fn one_pass(records: u64) -> Run {
    let run = Run::pnsgd(records).learning_rate(0.1).lipschitz(1.0).gradient_noise(2.0).laplace();
    run.convex().smoothness(1.0).release(Release::Last).build().expect("all is said")
}

/// The convolution of the losses in ordinary arithmetic, with 800 points a loss, has ε = 0.0968972066; the last record has
/// 1 − 2e-5, by one step of noise.
#[test]
fn the_first_of_a_thousand_records_has_a_tenth_of_the_epsilon_of_the_last() {
    let question = Question::EpsilonAt(Delta::new(1e-5).expect("valid"));
    let account = |record| one_pass(1000).of_record(record).expect("it exists").account(question);
    let first = account(1);
    let shift = first.answer("shift").expect("it applies").value;
    assert!(shift.lower() <= 0.096_897_206_6 && shift.upper() >= 0.096_897_206_5, "{shift}");
    assert!(shift.width() < 2e-5, "{shift}");
    assert_eq!(first.guarantee().expect("one applies").id, "shift");
    let renyi = first.answer("shift-renyi").expect("it applies").value.upper();
    assert!(shift.upper() < renyi && renyi <= 0.108, "{renyi}");
    let last = account(1000).guarantee().expect("one applies").epsilon();
    assert!((last - 0.99998).abs() < 1e-6, "{last}");
}

#[test]
fn one_step_is_one_pair_of_laplace_laws() {
    let pair = LaplacePair::new(1.5, 1.0).expect("valid");
    let found = profile(&Shift, &once(1.0, 1.5, 0));
    for at in [0.0, 0.3, 1.0, 1.49, 1.6] {
        let exact = pair.hockey_stick(Gamma::from_epsilon(at).expect("valid"));
        let bound = found.delta(Epsilon::new(at).expect("valid"));
        assert!(
            bound.upper() >= exact.lower() && bound.upper() <= exact.upper() + 1e-4,
            "{at}: {bound}, {exact}"
        );
    }
}

/// At order 2, e^D = (2e^t + e^(−2t))/3 for each of k + 1 equal shifts, t = d/(k + 1).
#[test]
fn divergences_of_equal_shifts_are_the_closed_form() {
    for (displacement, later) in [(1.0, 0), (1.0, 999), (3.0, 4), (0.2, 99_999)] {
        let bound = ShiftRenyi.apply(&Mixture::last(once(1.0, displacement, later))).expect("it applies");
        let Bound::Renyi(curve) = bound else { panic!("it is a Rényi curve") };
        let steps = later as f64 + 1.0;
        let t: f64 = displacement / steps;
        let exact = steps * ((2.0 * t.exp_m1() + (-2.0 * t).exp_m1()) / 3.0).ln_1p();
        let found = curve.log_moment(Direction::Forward, 2.0).upper();
        assert!((found / exact - 1.0).abs() < 1e-6, "{displacement}, {later}: {found}, {exact}");
    }
}

/// Nothing that is shifted late is more than everything in the last step, which is `ceiling`.
#[test]
fn shifts_are_never_above_all_in_the_last_step() {
    let mut random = Random::new(3);
    for _ in 0..25 {
        let slope = [0.3, 0.9, 0.99, 1.0][random.below(4)];
        let clean = step(slope, [0.0, 0.01][random.below(2)]);
        let uses = vec![
            (used(&clean, random.log_between(0.05, 3.0)), Count::Times(1 + random.below(30) as u64)),
            (clean, Count::Times(random.below(30) as u64)),
        ];
        let diameter = (random.below(2) == 0).then(|| random.log_between(0.5, 20.0));
        let chain = chain(uses, diameter);
        for delta in [1e-6, 1e-2] {
            let (shift, ceiling) = (epsilon(&Shift, &chain, delta), epsilon(&Ceiling, &chain, delta));
            assert!(shift <= ceiling * (1.0 + 1e-3) + 1e-9, "{slope}, {diameter:?}: {shift}, {ceiling}");
        }
    }
}

#[test]
fn any_number_of_steps_is_what_many_steps_tend_to() {
    for (slope, displacement) in [(0.5, 1.0), (0.99, 0.05), (0.999, 0.01)] {
        let clean = step(slope, 0.0);
        let of = |count| chain(vec![(used(&clean, displacement), count)], None);
        let any = epsilon(&Shift, &of(Count::Any), 1e-5);
        for count in [1, 2, 5, 100, 100_000] {
            let some = epsilon(&Shift, &of(Count::Times(count)), 1e-5);
            assert!(some <= any * 1.02, "{slope}, {count}: {some}, {any}");
            assert!(count < 100_000 || some >= any * 0.98, "{slope}: {some}, {any}");
        }
    }
}

#[test]
fn a_domain_forgets_and_nothing_else_bounds_what_grows() {
    let clean = step(1.0, 0.0);
    let of = |count, diameter| chain(vec![(used(&clean, 0.01), count)], diameter);
    // From 2 apart, 200 steps of 0.01 each and twice that: Σr = 2 + 200·0.01 in the best of starts, or less.
    let bounded = epsilon(&Shift, &of(Count::Any, Some(2.0)), 1e-5);
    assert!(bounded < 2.0, "{bounded}");
    let many = epsilon(&Shift, &of(Count::Times(1_000_000), Some(2.0)), 1e-5);
    assert!((many / bounded - 1.0).abs() < 0.01, "{many}, {bounded}");
    let refused = Shift.apply(&Mixture::last(of(Count::Any, None)));
    assert!(matches!(refused.err().map(|reason| reason.obstacle()), Some(Obstacle::Missing(_))));
}

/// Nothing can be shifted into the start itself: a distance of 2 goes into the noise of four steps, 1/2 into each.
#[test]
fn runs_that_start_apart_are_charged_for_it() {
    let four = || chain(vec![(step(1.0, 0.0), Count::Times(4))], None);
    let distance = Some(NonNegative::new(2.0).expect("valid"));
    let apart = four().starting(Start { distance, ..Start::default() }).expect("valid");
    let pure = epsilon(&Shift, &apart, 0.0);
    assert!((2.0..2.0 + 1e-9).contains(&pure), "{pure}");
    let used =
        chain(vec![(used(&step(1.0, 0.0), 2.0), Count::Times(1)), (step(1.0, 0.0), Count::Times(3))], None);
    let (apart, used) = (epsilon(&Shift, &apart, 1e-3), epsilon(&Shift, &used, 1e-3));
    assert!((apart / used - 1.0).abs() < 1e-3, "{apart}, {used}");
    let divergence = vec![(Epsilon::new(0.1).expect("valid"), Delta::new(0.1).expect("valid"))];
    let unknown = four().starting(Start { divergence, ..Start::default() }).expect("valid");
    assert!(Shift.apply(&Mixture::last(unknown)).is_err());
}

#[test]
fn extreme_displacements_give_no_less_than_they_should() {
    assert_eq!(epsilon(&Shift, &once(1.0, 0.0, 5), 1e-5), 0.0);
    let huge = epsilon(&Shift, &once(1.0, 1e9, 5), 1e-5);
    assert!((huge / 1e9 - 1.0).abs() < 1e-3, "{huge}");
    assert!(epsilon(&Shift, &once(1.0, 1e-300, 5), 0.0) >= 1e-300);
    let infinite = Shift.apply(&Mixture::last(once(1.0, f64::INFINITY, 5)));
    assert!(infinite.is_err());
    let none = Shift.apply(&Mixture::last(once(f64::MAX, 1.0, 5)));
    assert!(none.is_err() || epsilon(&Shift, &once(f64::MAX, 1.0, 5), 1e-5) >= 0.999);
}

#[test]
fn a_random_time_is_left_to_divergences() {
    let branch =
        Branch { weight: Enclosure::ONE, chain: once(1.0, 1.0, 99_999), stop: Stop::Uniform(100_000) };
    let released = Mixture::new(vec![branch]);
    let reason = Shift.apply(&released).err().expect("it is refused").to_string();
    assert!(reason.contains("shift-renyi"), "{reason}");
    let found = ShiftRenyi.apply(&released).expect("it applies").into_profile();
    let at = |epsilon| found.delta(Epsilon::new(epsilon).expect("valid")).upper();
    // Shown at once with probability 1e-5, and after k steps as above.
    assert!(at(0.5) < 1e-3 && at(0.5) > 1e-6, "{}", at(0.5));
    assert!(at(1.1) == 0.0, "the largest loss is 1");
}

/// By default: losses would be composed for each of thousands.
#[test]
fn each_record_is_asked_by_divergences() {
    let question = Question::EpsilonAt(Delta::new(1e-5).expect("valid"));
    let rows = protection_by_record(&one_pass(300), question, &Options::default()).expect("in turn");
    let upper = |row: &dobrushin::account::Protection| row.answer.map_or(f64::INFINITY, |a| a.value.upper());
    assert!(rows.windows(2).all(|pair| upper(&pair[0]) <= upper(&pair[1])));
    assert_eq!(rows[0].analysis, "shift-renyi");
    assert!(upper(&rows[0]) < 0.21 && upper(&rows[rows.len() - 1]) > 0.9999);
}
