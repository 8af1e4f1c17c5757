//! Composition that forgets, against independent numbers.

use dobrushin::analysis::{HiddenParticipation, HiddenStates};
use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::run::{Assumption, Divisor};
use dobrushin::{
    Delta, Enclosure, Epsilon, Neighbours, NonNegative, Options, Order, Positive, Probability, Question,
    Release, Run,
};
use std::sync::Arc;

/// Equal steps with unit noise: the record is drawn with probability q, and displaces by `apart` between neighbours and
/// by `missing` against a step without it.
fn step(q: f64, c: f64, [apart, missing]: [f64; 2], vanishes: bool) -> Step {
    let step = Step::new(StepNoise::gaussian(1.0).expect("valid"))
        .with_modulus(vec![Piece::new(c, 0.0).expect("valid")]);
    let participation = Participation::Sometimes(Probability::new(q).expect("valid"));
    let mut used = step.used_by(participation, NonNegative::new(apart).expect("valid"));
    used.absence = Enclosure::from(missing);
    used.vanishes = vanishes;
    used
}

fn profile(step: Step, count: Count, diameter: Option<f64>) -> Arc<dyn PrivacyProfile> {
    let diameter = diameter.map(|d| Positive::new(d).expect("valid"));
    let chain = Chain::new(vec![(step, count)], Domain { diameter, dimension: None }).expect("valid");
    HiddenParticipation.apply(&Mixture::last(chain)).expect("it applies").into_profile()
}

fn epsilon(profile: &dyn PrivacyProfile, delta: f64) -> f64 {
    profile.epsilon(Delta::new(delta).expect("valid")).upper()
}

#[test]
fn the_closed_form_has_the_values_of_an_independent_computation() {
    // Computed in double precision by a discretised law of M that keeps means, for long runs.
    for (q, r, c, delta, known) in [
        (0.01, 1.0, 0.9, 1e-5, 0.557),
        (0.01, 1.0, 0.99, 1e-5, 1.425),
        (0.01, 0.25, 0.999, 1e-5, 0.648),
        (512.0 / 30162.0, 0.25, 0.98, 1e-6, 0.271),
    ] {
        let profile = profile(step(q, c, [r, r], true), Count::Any, None);
        let found = epsilon(profile.as_ref(), delta);
        assert!(found > known * (1.0 - 2e-3) && found < known * 1.01, "{q} {r} {c}: {found} against {known}");
    }
}

#[test]
fn the_recursion_has_the_values_of_an_independent_computation() {
    let q = 512.0 / 30162.0;
    // Replace-one with Poisson sampling, and zero-out without replacement.
    for (distances, known) in [([0.5, 0.25], 0.500), ([0.25, 0.5], 0.384)] {
        let profile = profile(step(q, 0.98, distances, false), Count::Any, None);
        let found = epsilon(profile.as_ref(), 1e-6);
        assert!(
            found > known * (1.0 - 5e-3) && found < known * 1.01,
            "{distances:?}: {found} against {known}"
        );
    }
}

/// E_γ between M + N(0, 1) and N(0, 1) by trying thresholds, for values of M with their probabilities.
fn by_thresholds(law: &[(f64, f64)], gamma: f64) -> [f64; 2] {
    let tail = |x: f64| dobrushin::numeric::normal::tail(x).midpoint();
    let mut best = [0.0_f64; 2];
    for i in -6000..=6000 {
        let t = f64::from(i) * 2e-3;
        let up: f64 = law.iter().map(|(m, mass)| mass * tail(t - m)).sum();
        let down: f64 = law.iter().map(|(m, mass)| mass * tail(m - t)).sum();
        best = [best[0].max(up - gamma * tail(t)), best[1].max(tail(-t) - gamma * down)];
    }
    best
}

#[test]
fn a_few_steps_have_the_divergence_of_the_enumerated_uses() {
    let (q, r, c) = (0.2_f64, 0.8_f64, 0.7_f64);
    let worth = |k: i32| r / (0..=k).map(|j| c.powi(-2 * j)).sum::<f64>().sqrt();
    for steps in 1..=4 {
        let mut law = vec![(0.0, 1.0)];
        for k in 0..steps {
            let used = law.iter().map(|(m, mass)| (m + worth(k), mass * q)).collect::<Vec<_>>();
            law = law.iter().map(|(m, mass)| (*m, mass * (1.0 - q))).chain(used).collect();
        }
        let profile = profile(step(q, c, [r, r], true), Count::Times(steps as u64), None);
        for epsilon in [0.0_f64, 0.1, 0.2, 0.5, 1.0, 2.0] {
            let exact = by_thresholds(&law, epsilon.exp());
            for (direction, exact) in Direction::BOTH.into_iter().zip(exact) {
                let bound = profile.delta_of(direction, Epsilon::new(epsilon).expect("valid")).upper();
                assert!(
                    bound >= exact * (1.0 - 1e-9) && bound <= exact * 1.01 + 1e-5,
                    "{steps} steps, ε = {epsilon}, {direction:?}: {bound} against {exact}"
                );
            }
        }
    }
}

#[test]
fn without_contraction_it_is_above_what_the_linear_instance_gives_away() {
    // All losses linear: the last iterate is a binomial number of pushes and all the noise, ε = 1.27776 at δ = 1e-5.
    let profile = profile(step(0.01, 1.0, [1.0, 1.0], true), Count::Times(1000), None);
    let found = epsilon(profile.as_ref(), 1e-5);
    assert!(found > 1.27776, "{found}");
}

#[test]
fn a_domain_replaces_what_came_before_any_number_of_steps() {
    let of =
        |count, diameter| epsilon(profile(step(0.01, 0.9, [1.0, 1.0], true), count, diameter).as_ref(), 1e-5);
    let (forgets, bounded) = (of(Count::Any, None), of(Count::Any, Some(5.0)));
    assert!((bounded / forgets - 1.0).abs() < 1e-3, "{bounded} against {forgets}");
    // Iterates that nothing brings together: the domain alone bounds what is left of the past.
    let convex = epsilon(profile(step(0.01, 1.0, [1.0, 1.0], true), Count::Any, Some(20.0)).as_ref(), 1e-5);
    assert!(convex.is_finite() && convex > forgets, "{convex}");
    let chain = Chain::new(vec![(step(0.01, 1.0, [1.0, 1.0], true), Count::Any)], Domain::default());
    assert!(HiddenParticipation.apply(&Mixture::last(chain.expect("valid"))).is_err());
}

/// Logistic regression on 30,162 records in Poisson batches of 512, which forgets 2 % in each step.
fn logistic(neighbours: Neighbours, divisor: Divisor, domain: bool) -> Run {
    let run = Run::dp_sgd(30_162)
        .batch_size(512)
        .order(Order::Poisson)
        .release(Release::Last)
        .any_number_of_steps();
    let run = run.learning_rate(2.0).clip_norm(1.0).weight_decay(0.02).neighbours(neighbours);
    let run = run.convex().generalised_linear().smoothness(0.25).divide_by(divisor);
    let run = match divisor {
        Divisor::BatchSize => run.noise_multiplier(4.0),
        Divisor::Actual => run.iterate_noise(8.0 / 512.0),
    };
    let run = if domain { run.diameter(10.0) } else { run };
    run.build().expect("valid")
}

#[test]
fn poisson_runs_of_any_length_are_private_whatever_the_neighbours_the_divisor_and_the_domain() {
    let options = Options { only: vec!["hidden-participation"], ..Options::default() };
    let epsilon = |neighbours, divisor, domain| {
        let account = logistic(neighbours, divisor, domain)
            .account_by(Question::EpsilonAt(Delta::new(1e-6).expect("valid")), &options);
        account.guarantee().expect("it applies").epsilon()
    };
    use Neighbours::{AddOrRemoveOne, ReplaceOne, ZeroOut};
    for domain in [true, false] {
        assert!(epsilon(ReplaceOne, Divisor::BatchSize, domain) < 0.505);
        assert!(epsilon(ZeroOut, Divisor::BatchSize, domain) < 0.273);
        assert!(epsilon(AddOrRemoveOne, Divisor::BatchSize, domain) < 0.273);
        // A record of a batch of at least 340 or so moves the average more, and its absence twice as much.
        for neighbours in [ReplaceOne, ZeroOut, AddOrRemoveOne] {
            let realised = epsilon(neighbours, Divisor::Actual, domain);
            assert!(realised < 1.5 && realised > 0.27, "{neighbours:?}: {realised}");
        }
    }
}

#[test]
fn delta_is_as_small_if_it_is_asked_for_as_if_it_is_given() {
    // No composition bounds any number of steps, and updates on all records expand, so the first guess of what to set
    // aside says nothing.
    let run = |domain: bool| {
        let run = Run::dp_sgd(200).batch_size(20).order(Order::Poisson).release(Release::Last);
        let run = run.any_number_of_steps().learning_rate(1.0).clip_norm(1.0).noise_multiplier(2.0);
        let run = run.weight_decay(0.1).convex().generalised_linear().smoothness(0.5);
        let run = run.neighbours(Neighbours::ZeroOut);
        if domain { run.diameter(1.0) } else { run }.build().expect("valid")
    };
    let options = Options { only: vec!["hidden-participation"], ..Options::default() };
    for (domain, delta) in [(true, 1e-9), (false, 1e-4)] {
        let given = Question::EpsilonAt(Delta::new(delta).expect("valid"));
        let epsilon = run(domain).account_by(given, &options).guarantee().expect("it applies").epsilon();
        let asked = Question::DeltaAt(Epsilon::new(epsilon).expect("valid"));
        let account = run(domain).account_by(asked, &options);
        let found = account.guarantee().expect("it applies").delta();
        assert!(found < 1.05 * delta, "{delta} becomes {found}");
        // What is set aside is a small part of it.
        assert!(account.exception.get() < found / 32.0, "{delta}: {:?}", account.exception);
    }
}

#[test]
fn ordinary_batches_leave_their_bounds_with_at_most_the_probability_that_is_set_aside() {
    // Exact binomial probabilities by their recursion.
    let (n, q, steps) = (199_u64, 0.1_f64, 50.0);
    let mut mass = (1.0 - q).powi(n as i32);
    let mut masses = vec![mass];
    for k in 0..n {
        mass *= (n - k) as f64 / (k + 1) as f64 * q / (1.0 - q);
        masses.push(mass);
    }
    for divisor in [Divisor::BatchSize, Divisor::Actual] {
        for allowed in [0.3, 1e-3, 1e-6, 1e-12] {
            let run = Run::dp_sgd(200).batch_size(20).order(Order::Poisson).steps(50).release(Release::Last);
            let run = run.learning_rate(0.1).lipschitz(1.0).iterate_noise(1.0).divide_by(divisor);
            let run = run.convex().smoothness(1.0).strong_convexity(0.5).build().expect("valid");
            let released = run.released_except(Probability::new(allowed).expect("valid")).expect("it hides");
            let found = released.assumptions.iter().find_map(|assumption| match assumption {
                Assumption::OrdinaryBatches { least, most, exception, .. } => {
                    Some((*least, *most, *exception))
                }
                _ => None,
            });
            let (least, most, exception) = found.expect("batches are bounded");
            let outside = |k: usize| k < least as usize || k > most as usize;
            let truth: f64 = (0..masses.len()).filter(|k| outside(*k)).map(|k| masses[k]).sum();
            assert!(truth * steps <= exception * (1.0 + 1e-9) && exception <= allowed, "{allowed}: {truth}");
            // Unless an empty batch is too likely, the bounds are not wider than they have to be.
            let bounded = least > 0 || most < 199;
            assert!(!bounded || truth * steps > allowed * 1e-3, "{allowed}: {truth} is far less");
        }
    }
}
