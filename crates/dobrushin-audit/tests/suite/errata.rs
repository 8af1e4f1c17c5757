//! The numbers of counterexamples and examples that are known from elsewhere.

use dobrushin::profile::Direction;
use dobrushin::{Enclosure, Gamma};
use dobrushin_audit::{Interval, Map, Noise, OneDimensionalChain, Step};

fn affine(slope: f64, intercept: f64) -> Map {
    Map::affine(slope, intercept).unwrap()
}

fn chain(lower: f64, upper: f64, start: f64, steps: Vec<Step>) -> OneDimensionalChain {
    OneDimensionalChain { interval: Interval::new(lower, upper).unwrap(), start, steps }
}

/// E_{e^ε}, the larger of the two directions, and narrower than 1e-10.
fn delta(chain: &OneDimensionalChain, epsilon: f64) -> Enclosure {
    let laws = chain.laws().unwrap();
    let gamma = Gamma::from_epsilon(epsilon).unwrap();
    let [forward, reverse] = Direction::BOTH.map(|direction| laws.hockey_stick(direction, gamma));
    assert!(forward.width() < 1e-9 && reverse.width() < 1e-9, "{forward} {reverse}");
    forward.max(reverse)
}

/// To half a unit of the last digit given.
fn assert_rounds_to(seen: Enclosure, printed: f64, unit: f64) {
    assert!((seen.midpoint() - printed).abs() <= 0.5001 * unit, "{seen} instead of {printed}");
}

/// W ← (1 − λ)W ± ηC, one of n = 2 records at a time, ηC = σ = 1: the common record pushes down,
/// the other up or down.
fn regularised(steps: usize, lambda: f64) -> OneDimensionalChain {
    let (up, down) = (affine(1.0 - lambda, 1.0), affine(1.0 - lambda, -1.0));
    let common = down.clone();
    let step = Step { noise: Noise::Gaussian(1.0), common, first: up, second: down, probability: 0.5 };
    chain(-200.0, 200.0, 0.0, vec![step; steps])
}

#[test]
fn e1_a_radius_is_not_a_diameter() {
    assert_rounds_to(delta(&regularised(1, 0.65), 1.0), 0.210496, 1e-6);
    assert_rounds_to(delta(&regularised(1, 0.65), 2.0), 0.117191, 1e-6);
    assert_rounds_to(delta(&regularised(100, 0.99), 2.0), 0.119241, 1e-6);
}

#[test]
fn e3_the_diameter_of_a_ball_is_not_its_squared_radius() {
    let noise = Noise::Gaussian(0.1);
    let constant = |x| Map::constant(x).unwrap();
    let mut steps = vec![Step::always(noise, constant(0.1), constant(-0.1))];
    assert_rounds_to(delta(&chain(-0.1, 0.1, 0.0, steps.clone()), 0.0), 0.682689, 1e-6);
    steps.extend(vec![Step::never(noise, Map::identity()); 4]);
    assert_rounds_to(delta(&chain(-0.1, 0.1, 0.0, steps), 0.0), 0.098812, 1e-6);
}

#[test]
fn e6_a_steep_loss_undoes_contraction() {
    let noise = Noise::Gaussian(1.0);
    let huber = Map::steep_huber(0.05, 1000.0, 1.0, 1.0).unwrap();
    let steps = vec![Step::always(noise, affine(1.0, 1.0), affine(1.0, -1.0)), Step::never(noise, huber)];
    let chain = chain(0.0, 0.1, 0.05, steps);
    assert_rounds_to(delta(&chain, 0.0), 0.449138, 1e-6);
    assert_rounds_to(delta(&chain, 0.5), 0.278152, 1e-6);
}

#[test]
fn e7_the_last_record_has_no_amplification() {
    let step = Step::always(Noise::Laplace(1.0), affine(1.0, 1.0), affine(1.0, -1.0));
    assert_rounds_to(delta(&chain(0.0, 0.5, 0.25, vec![step]), 0.5), 0.527633, 1e-6);
}

#[test]
fn e14_a_collapsing_step_is_not_every_step() {
    let noise = Noise::Gaussian(1.0);
    let first = Step::always(noise, affine(1.0, 1.0), affine(1.0, -1.0));
    let second = Step::never(noise, Map::identity());
    assert_rounds_to(delta(&chain(0.0, 1.0, 0.5, vec![first.clone(), second]), 0.0), 0.254132, 1e-6);
    let collapse = Step::never(noise, Map::constant(0.3).unwrap());
    assert!(delta(&chain(0.0, 1.0, 0.5, vec![first, collapse]), 0.0).upper() < 1e-13);
}

#[test]
fn e15_dividing_by_the_expected_batch_size_pushes_further() {
    // ηC/p = 100 in one direction or the other, with probability 0.01; σ = 5 and D = 0.1.
    let (first, second) = (affine(1.0, 100.0), affine(1.0, -100.0));
    let common = Map::identity();
    let step = Step { noise: Noise::Gaussian(5.0), common, first, second, probability: 0.01 };
    assert_rounds_to(delta(&chain(0.0, 0.1, 0.05, vec![step]), 0.0), 0.01, 1e-4);
}

#[test]
fn without_replacement_is_worse_than_the_symmetric_poisson_pair() {
    // D = 3, σ = 1, d = 1, p = 0.2, ten steps: the record pushes by ±d/2, and without replacement
    // the one in its place pushes by d/2 too, away from 0. At 0 itself it does not push.
    let sampled = |common| Step {
        noise: Noise::Gaussian(1.0),
        common,
        first: affine(1.0, 0.5),
        second: affine(1.0, -0.5),
        probability: 0.2,
    };
    let mut steps = vec![sampled(Map::identity())];
    steps.extend(vec![sampled(Map::sign_push(0.5, 0.0).unwrap()); 9]);
    assert_rounds_to(delta(&chain(-1.5, 1.5, 0.0, steps), 0.0), 0.268, 1e-3);
}

#[test]
fn four_hundred_steps_of_the_first_figure_of_non_convex_privacy() {
    let push = |size| Map::sign_push(size, 0.0).unwrap();
    let exact = [Map::identity(), push(0.02), push(-0.02)].map(|common| {
        let (first, second) = (affine(1.0, 0.02), affine(1.0, -0.02));
        let step = Step { noise: Noise::Gaussian(1.0), common, first, second, probability: 1e-3 };
        delta(&chain(-1.5, 1.5, 0.0, vec![step; 400]), 0.0)
    });
    let worst = exact.into_iter().fold(Enclosure::ZERO, Enclosure::max);
    assert_rounds_to(worst, 4.3e-5, 1e-6);
}
