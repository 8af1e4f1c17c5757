//! Random allocation against exact laws that share no code with it.

use dobrushin::loss::DominatingPair;
use dobrushin::loss::{
    AllocatedLoss, Composition, Exchanged, FiniteLoss, GaussianLoss, LaplaceLoss, LossLaw, Part, PoissonLoss,
};
use dobrushin::profile::Direction;
use dobrushin::{
    Delta, Enclosure, Epsilon, Neighbours, Order, Positive, PrivacyProfile, Probability, Question, Release,
    Run,
};
use dobrushin_reference::depth;
use std::sync::Arc;

fn gaussian(ratio: f64) -> Arc<dyn LossLaw> {
    Arc::new(GaussianLoss::new(Positive::new(ratio).expect("positive")))
}

fn passes(steps: &[(Arc<dyn LossLaw>, u64)], batches: u64, count: u64) -> Composition {
    let pair = AllocatedLoss::new(steps, batches).expect("valid").pair();
    Composition::new(vec![Part { pair, count }])
}

fn delta(of: &Composition, direction: Direction, epsilon: f64) -> Enclosure {
    of.delta_of(direction, Epsilon::new(epsilon).expect("valid"))
}

/// Q(x) = 1 − Φ(x), by a continued fraction and a series: good to about 1e-14 relatively.
fn upper_tail(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - upper_tail(-x);
    }
    let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    if x < 3.0 {
        let (mut term, mut sum, mut k) = (x, x, 1.0);
        while term.abs() > 1e-18 {
            k += 2.0;
            term *= x * x / k;
            sum += term;
        }
        return 0.5 - density * sum;
    }
    let fraction = (1..200).rev().fold(x, |below, k| x + f64::from(k) / below);
    density / fraction
}

/// E(Y − k)₊ for Y = e^(rZ − r²/2).
fn call(r: f64, k: f64) -> f64 {
    if k <= 0.0 {
        return 1.0 - k;
    }
    upper_tail((k.ln() - 0.5 * r * r) / r) - k * upper_tail((k.ln() + 0.5 * r * r) / r)
}

/// E_γ of a pass of two steps out of m, in both directions, integrated over the first step.
fn two_steps([r1, r2]: [f64; 2], m: f64, gamma: f64) -> [f64; 2] {
    let (steps, from, to) = (6000, -14.0, 14.0);
    let width = (to - from) / f64::from(steps);
    let (mut forward, mut reverse) = (0.0, 0.0);
    for i in 0..=steps {
        let z: f64 = from + width * f64::from(i);
        let weight = width * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        // L = rest + Y₂/m.
        let rest = 1.0 - 2.0 / m + (r1 * z - 0.5 * r1 * r1).exp() / m;
        forward += weight * call(r2, (gamma - rest) * m) / m;
        // (1 − γL)₊ = γ·(k − Y)₊/m with k = (1/γ − rest)·m, and (k − Y)₊ = (Y − k)₊ + k − Y.
        let k = (1.0 / gamma - rest) * m;
        if k > 0.0 {
            reverse += weight * gamma * (call(r2, k) + k - 1.0) / m;
        }
    }
    [forward, reverse]
}

#[test]
fn two_steps_are_what_an_integral_says() {
    for (ratios, batches) in
        [([1.0, 1.0], 2), ([0.3, 0.3], 2), ([2.5, 2.5], 2), ([1.0, 0.4], 2), ([1.0, 1.0], 7)]
    {
        let steps = if ratios[0] == ratios[1] {
            vec![(gaussian(ratios[0]), 2)]
        } else {
            ratios.iter().map(|ratio| (gaussian(*ratio), 1)).collect()
        };
        let pass = passes(&steps, batches, 1);
        for epsilon in [0.0, 0.1, 0.5, 1.0, 2.0, 4.0] {
            let exact = two_steps(ratios, batches as f64, f64::exp(epsilon));
            for (direction, exact) in Direction::BOTH.into_iter().zip(exact) {
                let found = delta(&pass, direction, epsilon);
                let (low, high) = (exact * (1.0 - 1e-7) - 1e-13, exact * (1.0 + 1e-7) + 1e-13);
                assert!(
                    found.lower() <= high && low <= found.upper(),
                    "{ratios:?} {epsilon}: {found:?} {exact:e}"
                );
                if exact > 1e-12 {
                    assert!(found.width() < 1e-2 * exact, "{ratios:?} {epsilon}: {found:?} {exact:e}");
                }
            }
        }
    }
}

/// E_γ of a pass, from all outcomes of a step with finitely many losses ℓ of Q-mass q, by enumeration.
fn enumerated(losses: &[(f64, f64)], made: u32, batches: u32, gamma: f64) -> [f64; 2] {
    let (mut forward, mut reverse) = (0.0, 0.0);
    for outcome in 0..losses.len().pow(made) {
        let (mut left, mut mass, mut ratio) = (outcome, 1.0, f64::from(batches - made));
        for _ in 0..made {
            let (loss, q) = losses[left % losses.len()];
            left /= losses.len();
            mass *= q;
            ratio += loss.exp();
        }
        ratio /= f64::from(batches);
        forward += mass * (ratio - gamma).max(0.0);
        reverse += mass * (1.0 - gamma * ratio).max(0.0);
    }
    [forward, reverse]
}

#[test]
fn a_few_randomised_responses_are_what_enumeration_says() {
    for (epsilon, made, batches) in
        [(1.0, 1, 1), (1.0, 2, 2), (0.4, 3, 3), (2.0, 5, 5), (1.0, 6, 9), (0.1, 8, 8)]
    {
        let law = FiniteLoss::randomised_response(Epsilon::new(epsilon).expect("valid"));
        let step: Arc<dyn LossLaw> = Arc::new(law);
        let pass = passes(&[(step, u64::from(made))], u64::from(batches), 1);
        let truth = 1.0 / (1.0 + f64::exp(-epsilon));
        let losses = [(epsilon, 1.0 - truth), (-epsilon, truth)];
        for at in [0.0, 0.05, 0.2, 0.5, 0.9] {
            let exact = enumerated(&losses, made, batches, f64::exp(at));
            for (direction, exact) in Direction::BOTH.into_iter().zip(exact) {
                let found = delta(&pass, direction, at);
                assert!(
                    found.lower() <= exact + 1e-12 && exact <= found.upper() + 1e-12,
                    "{epsilon} {made}: {found:?} {exact:e}"
                );
                assert!(found.width() < 0.1 * exact + 2e-3, "{epsilon} {made} {at}: {found:?} {exact:e}");
            }
        }
    }
}

#[test]
fn a_pass_of_one_step_is_the_step() {
    let laplace: Arc<dyn LossLaw> = Arc::new(LaplaceLoss::new(Positive::new(0.7).expect("positive")));
    // An atom at the end of the losses lies between grid points.
    for (law, width) in [(gaussian(0.8), 1e-3), (gaussian(4.0), 1e-3), (laplace, 0.4)] {
        let pass = passes(&[(Arc::clone(&law), 1)], 1, 1);
        let step = Composition::new(vec![Part { pair: DominatingPair::symmetric(law), count: 1 }]);
        for epsilon in [0.0, 0.3, 0.6, 2.0] {
            for direction in Direction::BOTH {
                let (found, exact) = (delta(&pass, direction, epsilon), delta(&step, direction, epsilon));
                assert!(found.intersect(exact).is_some(), "{epsilon}: {found:?} {exact:?}");
                assert!(found.width() < width * exact.upper() + 1e-6, "{epsilon}: {found:?} {exact:?}");
            }
        }
    }
}

#[test]
fn the_reference_numbers_hold_on_both_sides() {
    for (count, at_most) in [(1, 0.6211), (10, 1.7021)] {
        let epsilon = passes(&[(gaussian(1.0), 100)], 100, count).epsilon(Delta::new(1e-5).expect("valid"));
        assert!(
            epsilon.upper() <= at_most && epsilon.width() < 1e-3 * epsilon.upper(),
            "{count}: {epsilon:?}"
        );
    }
}

#[test]
fn long_passes_small_deltas_and_little_noise_are_enclosed() {
    let cases = [
        (1.0, 1_000_000, 1, 1e-5, 2e-3),
        (1.0, 1_000_000, 10, 1e-8, 2e-3),
        (1.0, 100, 10, 1e-50, 2e-3),
        (0.01, 10_000, 1, 1e-8, 2e-3),
        (0.1, 100, 100, 1e-12, 2e-3),
        (3.0, 100, 10, 1e-5, 2e-3),
        (6.0, 100, 1, 1e-5, 0.05),
    ];
    for (ratio, batches, count, at, width) in cases.into_iter().take(depth(5, 7) + 2) {
        let epsilon =
            passes(&[(gaussian(ratio), batches)], batches, count).epsilon(Delta::new(at).expect("valid"));
        assert!(
            epsilon.lower() > 0.0 && epsilon.relative_width() < width,
            "{ratio} {batches} {count} {at}: {epsilon:?}"
        );
    }
}

/// At the same rate, allocation is more private than Poisson sampling for the noise and the δ that people use, and a place
/// that is told less private than either.
#[test]
fn allocation_is_between_nothing_and_poisson_sampling() {
    for (ratio, batches, count) in
        [(1.0, 100, 1), (1.0, 100, 10), (0.5, 20, 5), (1.2, 50, 3), (0.2, 1000, 20)]
    {
        let at = Delta::new(1e-5).expect("valid");
        let allocated = passes(&[(gaussian(ratio), batches)], batches, count).epsilon(at);
        let law = || {
            let rate = Probability::new(1.0 / batches as f64).expect("valid");
            PoissonLoss::new(GaussianLoss::new(Positive::new(ratio).expect("positive")), rate).expect("valid")
        };
        let pair = DominatingPair::new(Arc::new(law()), Arc::new(Exchanged(law())));
        let poisson = Composition::new(vec![Part { pair, count: count * batches }]).epsilon(at);
        assert!(allocated.upper() < poisson.lower(), "{ratio} {batches} {count}: {allocated:?} {poisson:?}");
    }
}

fn account(run: dobrushin::run::RunBuilder) -> f64 {
    let run = run.build().expect("valid");
    run.account(Question::EpsilonAt(Delta::new(1e-5).expect("valid"))).guarantee().expect("known").epsilon()
}

#[test]
fn runs_are_lowered_to_their_passes() {
    let run = |steps| {
        let run = Run::dp_sgd(1000).order(Order::Allocation).batch_size(10).steps(steps).clip_norm(1.0);
        run.neighbours(Neighbours::AddOrRemoveOne)
            .learning_rate(0.1)
            .noise_multiplier(1.0)
            .release(Release::All)
    };
    let of = |parts: &[(u64, u64)]| {
        let part = |&(made, count): &(u64, u64)| Part {
            pair: AllocatedLoss::new(&[(gaussian(1.0), made)], 100).expect("valid").pair(),
            count,
        };
        Composition::new(parts.iter().map(part).collect()).epsilon(Delta::new(1e-5).expect("valid"))
    };
    // A pass, three passes, and a pass that ends early.
    for (steps, parts) in [(100, vec![(100, 1)]), (300, vec![(100, 3)]), (130, vec![(100, 1), (30, 1)])] {
        let (found, known) = (account(run(steps)), of(&parts));
        assert!(
            known.contains(found) || (found / known.upper() - 1.0).abs() < 1e-3,
            "{steps}: {found} {known:?}"
        );
    }
    // More noise in one pass than in the other, and within a pass.
    let sigma = |step: u64| Positive::new(if step <= 150 { 0.2 } else { 0.1 }).expect("positive");
    let noisier = account(run(200).gradient_noises((1..=200).map(sigma).collect()));
    let (least, most) = (account(run(200).gradient_noise(0.2)), account(run(200).gradient_noise(0.1)));
    assert!(least < noisier && noisier < most, "{least} {noisier} {most}");
}

#[test]
fn a_replaced_record_is_at_least_an_emptied_one_and_at_most_one_in_a_known_place() {
    let run = |order, neighbours| {
        let run =
            Run::dp_sgd(1000).order(order).batch_size(10).epochs(2.0).clip_norm(1.0).neighbours(neighbours);
        account(run.learning_rate(0.1).noise_multiplier(1.0).release(Release::All))
    };
    let emptied = run(Order::Allocation, Neighbours::ZeroOut);
    let replaced = run(Order::Allocation, Neighbours::ReplaceOne);
    let told = run(Order::Shuffled, Neighbours::ReplaceOne);
    assert!(emptied < replaced && replaced < 0.5 * told, "{emptied} {replaced} {told}");
}
