//! The recursion of whole profiles: the numbers it reaches, and what it is never above.

use dobrushin::analysis::{HiddenStates, NonconvexPublished, Recursion, RegularizedPublished};
use dobrushin::chain::{
    Branch, Chain, Count, Domain, Mixture, Modulus, Participation, Piece, Step, StepNoise, Stop,
};
use dobrushin::loss::{Composition, DominatingPair, GaussianLoss, Part, WithoutReplacementLoss};
use dobrushin::numeric::Random;
use dobrushin::profile::{GaussianProfile, PrivacyProfile};
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative, Positive, Probability};
use std::sync::Arc;

fn sometimes(rate: f64) -> Participation {
    Participation::Sometimes(Probability::new(rate).expect("valid"))
}

/// A step with noise 1.
fn step(slope: f64, offset: f64, participation: Participation, moved: f64) -> Step {
    let line = Piece::new(slope, offset).expect("valid");
    let step = Step::new(StepNoise::gaussian(1.0).expect("valid"))
        .with_modulus(vec![line])
        .used_by(participation, NonNegative::new(moved).expect("valid"));
    // Bounded gradients bound the distance of any two updates.
    if offset > 0.0 { Step { crossed: Modulus::new(vec![line]), ..step } } else { step }
}

fn within(diameter: f64) -> Domain {
    Domain { diameter: Some(Positive::new(diameter).expect("valid")), dimension: None }
}

fn released(steps: Vec<(Step, Count)>, domain: Domain) -> Mixture {
    Mixture::last(Chain::new(steps, domain).expect("valid"))
}

fn bound(released: &Mixture) -> Arc<dyn PrivacyProfile> {
    Recursion.apply(released).expect("applies").into_profile()
}

fn equal_steps(step: &Step, count: Count, diameter: f64) -> Arc<dyn PrivacyProfile> {
    bound(&released(vec![(step.clone(), count)], within(diameter)))
}

fn delta(profile: &dyn PrivacyProfile, epsilon: f64) -> f64 {
    profile.delta(Epsilon::new(epsilon).expect("valid")).upper()
}

fn log10_delta(profile: &dyn PrivacyProfile, epsilon: f64) -> f64 {
    profile.log_delta(Epsilon::new(epsilon).expect("valid")).upper() / std::f64::consts::LN_10
}

fn epsilon(profile: &dyn PrivacyProfile, delta: f64) -> f64 {
    profile.epsilon(Delta::new(delta).expect("valid")).upper()
}

/// D = 3, C = 2, η = 0.01, p = 0.001 (NCV Figure 1): the published bound is 6.7e-3 at both ε; the worst chain in one
/// dimension has 4.3e-5 at ε = 0.
#[test]
fn projected_sgd_for_any_number_of_steps_is_a_hundred_times_below_what_is_published() {
    let profile = equal_steps(&step(1.0, 0.04, sometimes(0.001), 0.04), Count::Any, 3.0);
    let variation = delta(profile.as_ref(), 0.0);
    assert!(variation > 4.3e-5 && variation <= 7.6e-5, "{variation}");
    assert!(log10_delta(profile.as_ref(), 1e-3) <= -12.0);
    assert!(log10_delta(profile.as_ref(), 0.01) <= -300.0);
}

/// (D, ηC, p), the total variation of the worst chain seen in one dimension, and what is reached.
#[test]
fn projected_sgd_of_other_sizes_is_between_the_oracle_and_what_was_reached() {
    for (width, push, rate, exact, reached) in [
        (2.0, 0.1, 0.01, 1.8e-3, 2.95e-3),
        (1.0, 0.5, 0.01, 1.06e-2, 1.21e-2),
        (4.0, 0.05, 0.05, 7e-3, 4.9e-2),
    ] {
        let profile = equal_steps(&step(1.0, 2.0 * push, sometimes(rate), 2.0 * push), Count::Any, width);
        let variation = delta(profile.as_ref(), 0.0);
        assert!(variation > exact && variation <= reached, "{width} {push} {rate}: {variation}");
    }
}

#[test]
fn convex_subsampled_sgd_for_any_number_of_steps_reaches_small_epsilons() {
    for (rate, moved, width, reached) in
        [(0.01, 0.1667, 3.333, 0.024), (0.01, 0.1, 100.0, 0.528), (0.02, 0.5, 30.0, 2.085)]
    {
        let profile = equal_steps(&step(1.0, 0.0, sometimes(rate), moved), Count::Any, width);
        let found = epsilon(profile.as_ref(), 1e-5);
        assert!(found > 0.0 && found <= reached, "{rate} {moved} {width}: {found}");
    }
}

/// (D, d), total variation of a chain in one dimension or 0, and ε(1e-5).
#[test]
fn full_batches_for_any_number_of_steps_reach_small_epsilons() {
    for (width, moved, exact, reached) in [
        (3.333, 0.05, 0.056, 0.88),
        (3.333, 0.5, 0.509, 9.57),
        (10.0, 0.05, 0.139, 2.85),
        (100.0, 0.01, 0.0, 5.81),
        (30.0, 0.5, 0.0, 60.1),
    ] {
        let profile = equal_steps(&step(1.0, 0.0, Participation::Always, moved), Count::Any, width);
        let found = epsilon(profile.as_ref(), 1e-5);
        assert!(found <= reached, "{width} {moved}: {found}");
        assert!(delta(profile.as_ref(), 0.0) > exact, "{width} {moved}");
    }
}

/// ηC/s = 0.02, p = 0.001 (NCV Figure 2): λ, dimension, and log₁₀ δ at 0.001 and 0.01.
#[test]
fn weight_decay_without_projection_converges_in_every_dimension() {
    for (decay, dimension, at_thousandth, at_hundredth) in
        [(0.65, 1, -14.8, -290.0), (0.65, 1000, -14.8, -290.0), (0.01, 1000, -3.6, -13.4)]
    {
        let growth = Some(Piece::new(1.0 - decay, 0.02).expect("valid"));
        let decaying = Step { growth, ..step(1.0 - decay, 0.04, sometimes(0.001), 0.04) };
        let domain = Domain { diameter: None, dimension: Some(dimension) };
        let profile = bound(&released(vec![(decaying.clone(), Count::Any)], domain));
        assert!(log10_delta(profile.as_ref(), 1e-3) <= at_thousandth, "{decay} {dimension}");
        assert!(log10_delta(profile.as_ref(), 1e-2) <= at_hundredth, "{decay} {dimension}");
        let finite = released(vec![(decaying, Count::Times(1000))], domain);
        let published = RegularizedPublished.apply(&finite).expect("applies").into_profile();
        for epsilon in [0.01, 0.1, 1.0] {
            assert!(
                delta(profile.as_ref(), epsilon) <= delta(published.as_ref(), epsilon),
                "{decay} {dimension}"
            );
        }
    }
}

fn random_step(random: &mut Random) -> (Step, f64) {
    let participation =
        [Participation::Always, sometimes(0.5), sometimes(0.05), sometimes(0.002)][random.below(4)];
    let moved = random.log_between(0.01, 1.0);
    let (slope, offset) = [(1.0, 0.0), (0.9, 0.0), (1.0, moved), (1.2, 0.0), (0.7, moved)][random.below(5)];
    (step(slope, offset, participation, moved), random.log_between(0.3, 8.0))
}

#[test]
fn it_is_never_above_the_published_recursion() {
    let mut random = Random::new(77);
    for index in 0..25 {
        let (step, width) = random_step(&mut random);
        let count = [Count::Times(1), Count::Times(3), Count::Times(300), Count::Any][random.below(4)];
        let mixture = released(vec![(step, count)], within(width));
        let published = NonconvexPublished.apply(&mixture).expect("applies").into_profile();
        let profile = bound(&mixture);
        for epsilon in [0.0, 1e-4, 0.003, 0.05, 0.4, 1.0, 3.0, 20.0] {
            let (ours, theirs) = (delta(profile.as_ref(), epsilon), delta(published.as_ref(), epsilon));
            assert!(ours <= theirs, "chain {index} at {epsilon}: {ours} against {theirs}");
        }
    }
}

/// Where nothing is hidden, all that is left is composition, which another module computes in another way.
#[test]
fn on_a_vast_domain_it_is_composition() {
    for (rate, moved, steps) in [(0.02, 0.5, 100), (0.2, 1.0, 7), (0.001, 2.0, 1000)] {
        let profile = equal_steps(&step(1.0, 0.0, sometimes(rate), moved), Count::Times(steps), 1e9);
        let once = GaussianLoss::new(Positive::new(moved).expect("valid"));
        let law = WithoutReplacementLoss::new(once, Probability::new(rate).expect("valid")).expect("valid");
        let pair = DominatingPair::symmetric(Arc::new(law));
        let composed = Composition::new(vec![Part { pair, count: steps }]);
        for delta in [1e-2, 1e-5, 1e-10] {
            let truth = composed.epsilon(Delta::new(delta).expect("valid"));
            let found = epsilon(profile.as_ref(), delta);
            assert!(found >= truth.lower(), "{rate} {moved} {steps} {delta}: {found} against {truth}");
            assert!(
                found <= truth.upper() * 1.005 + 1e-9,
                "{rate} {moved} {steps} {delta}: {found} against {truth}"
            );
        }
    }
    // The noise of full batches adds up exactly.
    let profile = equal_steps(&step(1.0, 0.0, Participation::Always, 0.1), Count::Times(25), 1e9);
    let exact = GaussianProfile::new(NonNegative::new(0.5).expect("valid"));
    for delta in [1e-2, 1e-5, 1e-10] {
        let (found, truth) = (epsilon(profile.as_ref(), delta), epsilon(&exact, delta));
        assert!(found >= truth * (1.0 - 1e-12) && found <= truth * 1.002, "{found} against {truth}");
    }
}

/// Distances that shrink to nothing before each noise leave the last use of the record only.
#[test]
fn updates_that_forget_leave_one_step() {
    let profile = equal_steps(&step(0.0, 0.0, sometimes(0.1), 0.5), Count::Times(40), 3.0);
    let once = equal_steps(&step(0.0, 0.0, sometimes(0.1), 0.5), Count::Times(1), 3.0);
    for epsilon in [0.0, 0.01, 0.1, 0.5, 1.0] {
        let (many, one) = (delta(profile.as_ref(), epsilon), delta(once.as_ref(), epsilon));
        assert!(many >= one * 0.99 && many <= one * 1.01, "{epsilon}: {many} against {one}");
    }
}

#[test]
fn the_profile_falls_in_epsilon_is_convex_in_gamma_and_grows_with_the_steps() {
    let mut random = Random::new(5);
    for _ in 0..4 {
        let (step, width) = random_step(&mut random);
        let of = |count| equal_steps(&step, count, width);
        let profiles = [of(Count::Times(2)), of(Count::Times(12)), of(Count::Times(400)), of(Count::Any)];
        for profile in &profiles {
            let height = |gamma: f64| delta(profile.as_ref(), gamma.ln());
            for i in 0..40 {
                let gamma = 1.0 + 1e-4 * 1.4f64.powi(i);
                let gap = 0.3 * (gamma - 1.0);
                let (before, here, after) = (height(gamma - gap), height(gamma), height(gamma + gap));
                assert!(before >= here && here >= after, "{gamma}");
                assert!(
                    here <= 0.5 * (before + after) * (1.0 + 1e-2) + 1e-300,
                    "{gamma}: {before} {here} {after}"
                );
            }
        }
        for pair in profiles.windows(2) {
            for epsilon in [0.0, 0.01, 0.1, 0.5, 2.0] {
                let (fewer, more) =
                    (log10_delta(pair[0].as_ref(), epsilon), log10_delta(pair[1].as_ref(), epsilon));
                assert!(
                    fewer <= more.max(-200.0) + 1e-2 * (1.0 + more.abs()),
                    "{epsilon}: 1e{fewer} above 1e{more}"
                );
            }
        }
    }
}

/// Once in each period: below the shift, which grows for ever, and the same for 20 periods as for 400.
#[test]
fn uses_in_turn_do_not_add_up_on_a_bounded_domain() {
    let used = step(1.0, 0.0, Participation::Always, 0.5);
    let clean = used.without_the_record();
    let periods = |number: usize| {
        let period = [(used.clone(), Count::Times(1)), (clean.clone(), Count::Times(9))];
        let steps = std::iter::repeat_n(period, number).flatten().collect();
        bound(&released(steps, within(3.0)))
    };
    let (some, many) = (periods(20), periods(400));
    let shift =
        |periods: f64| GaussianProfile::new(NonNegative::new(0.5 * (periods / 10.0).sqrt()).expect("valid"));
    assert!(epsilon(many.as_ref(), 1e-5) < 0.65);
    assert!((epsilon(some.as_ref(), 1e-5) / epsilon(many.as_ref(), 1e-5) - 1.0).abs() < 0.02);
    assert!(epsilon(many.as_ref(), 1e-5) < 0.2 * epsilon(&shift(400.0), 1e-5));
    // One period is the shift, or less.
    let once = bound(&released(vec![(used.clone(), Count::Times(1)), (clean, Count::Times(9))], within(3.0)));
    assert!(epsilon(once.as_ref(), 1e-5) <= epsilon(&shift(1.0), 1e-5) * (1.0 + 1e-3));
}

/// After one use, m later steps: PAC Figure 2 with d = D = s, by blocks of the tight curve.
#[test]
fn steps_after_the_only_use_contract_by_the_tight_curve() {
    let used = step(1.0, 0.0, Participation::Always, 1.0);
    let later = |count| {
        let steps = vec![(used.clone(), Count::Times(1)), (used.without_the_record(), Count::Times(count))];
        bound(&released(steps, within(1.0)))
    };
    for (count, epsilon, reached) in [(1, 0.1, 0.108), (1, 0.5, 1.95e-2), (1, 2.0, 2.9e-10)] {
        let found = delta(later(count).as_ref(), epsilon);
        assert!(found <= reached, "{count} {epsilon}: {found}");
    }
    assert!(log10_delta(later(20).as_ref(), 0.5) < -300.0);
}

#[test]
fn a_random_stop_is_the_average_over_the_ends() {
    let step = step(1.0, 0.0, sometimes(0.2), 0.5);
    let chain = |steps| Chain::new(vec![(step.clone(), Count::Times(steps))], within(2.0)).expect("valid");
    let stopped = |steps| {
        Mixture::new(vec![Branch { weight: Enclosure::ONE, chain: chain(steps), stop: Stop::Uniform(steps) }])
    };
    let average = |epsilon: f64| {
        (1..=4).map(|t| 0.25 * delta(bound(&Mixture::last(chain(t))).as_ref(), epsilon)).sum::<f64>()
    };
    let profile = bound(&stopped(4));
    for epsilon in [0.0, 0.1, 1.0] {
        let found = delta(profile.as_ref(), epsilon);
        assert!(found <= average(epsilon) * (1.0 + 1e-9) && found >= 0.9 * average(epsilon), "{epsilon}");
    }
    // Many ends: at most as all steps.
    let (many, all) = (bound(&stopped(500)), bound(&Mixture::last(chain(500))));
    assert!(delta(many.as_ref(), 0.1) <= delta(all.as_ref(), 0.1) * (1.0 + 1e-9));
}

#[test]
fn what_it_cannot_bound_it_says() {
    let reason = |steps, domain| match Recursion.apply(&released(steps, domain)) {
        Ok(_) => String::new(),
        Err(reason) => reason.to_string(),
    };
    let used = step(1.0, 0.0, sometimes(0.1), 0.5);
    let nowhere = Domain::default();
    assert!(reason(vec![(used.clone(), Count::Times(5))], nowhere).contains("[domain] diameter"));
    let laplace = Step { noise: StepNoise::laplace(1.0).expect("valid"), ..used.clone() };
    assert!(reason(vec![(laplace, Count::Times(5))], within(1.0)).contains("Gaussian"));
    let decaying = Step { growth: Some(Piece::new(0.5, 0.1).expect("valid")), ..used.clone() };
    assert!(reason(vec![(decaying.clone(), Count::Times(5))], nowhere).contains("dimension"));
    // Where iterates are when the first use comes is not known.
    let before = (used.without_the_record(), Count::Times(3));
    let domain = Domain { diameter: None, dimension: Some(1) };
    assert!(reason(vec![before, (decaying, Count::Times(5))], domain).contains("[domain] diameter"));
    let other = step(1.0, 0.0, sometimes(0.2), 0.5);
    let long = vec![(other, Count::Times(3)), (used, Count::Times(5000))];
    assert!(reason(long, within(1.0)).contains("too many"));
}
