//! What runs are said to prove is true as often as it is said to be, and is most of what there is to prove.
//!
//! The number of false statements in many repetitions is binomial; a test allows as many as a program that keeps its
//! promise exceeds with probability [`FALSE_ALARM`].

use dobrushin::numeric::{Random, binomial};
use dobrushin::profile::{ApproximateProfile, GaussianProfile};
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative, PrivacyProfile};
use dobrushin_audit::{
    Canaries, Evidence, Models, Risk, Rule, Scores, Tail, evidence, one_run, score_models,
};
use dobrushin_reference::depth;

/// The probability with which a test of a promise that is kept fails.
const FALSE_ALARM: f64 = 1e-6;

fn delta(delta: f64) -> Delta {
    Delta::new(delta).expect("valid")
}

fn risk(risk: f64) -> Risk {
    Risk::new(risk).expect("valid")
}

fn gaussian(mu: f64) -> GaussianProfile {
    GaussianProfile::new(NonNegative::new(mu).expect("valid"))
}

/// The most failures that are believed to be chance.
fn most_failures(repetitions: u64, risk: f64) -> u64 {
    let is_chance =
        |count: &u64| binomial::at_least(repetitions, *count, Enclosure::from(risk)).upper() > FALSE_ALARM;
    (0..=repetitions).take_while(is_chance).last().unwrap_or(0)
}

/// A standard normal number (Box and Muller).
fn standard_normal(random: &mut Random) -> f64 {
    let (radius, angle) =
        (random.between(f64::MIN_POSITIVE, 1.0), random.between(0.0, std::f64::consts::TAU));
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

fn gaussian_scores(random: &mut Random, runs: usize, mu: f64) -> Scores {
    let mut scores = |mean: f64| (0..runs).map(|_| mean + standard_normal(random)).collect();
    Scores { with: scores(mu), without: scores(0.0) }
}

/// Randomised response with ratio e^ε.
fn responses(random: &mut Random, runs: usize, epsilon: f64) -> Scores {
    let truth = 1.0 / (1.0 + (-epsilon).exp());
    let mut answers = |own: f64| {
        (0..runs).map(|_| if random.between(0.0, 1.0) < truth { own } else { 1.0 - own }).collect()
    };
    Scores { with: answers(1.0), without: answers(0.0) }
}

/// The failures among repetitions in which `is_false` looks at fresh evidence.
fn failures(
    repetitions: u64,
    draw: impl Fn(&mut Random) -> Scores,
    is_false: impl Fn(&Evidence) -> bool,
) -> u64 {
    let found = (0..repetitions).filter(|&repetition| {
        let scores = draw(&mut Random::new(repetition.wrapping_mul(0x1234_5678_9abc_def1)));
        is_false(&evidence(&scores, delta(1e-5), risk(0.2)).expect("valid"))
    });
    found.count() as u64
}

#[test]
fn randomised_response_is_said_to_be_worse_than_it_is_at_most_as_often_as_the_risk() {
    let repetitions = depth(400, 4000) as u64;
    let allowed = most_failures(repetitions, 0.2);
    assert!(allowed < repetitions / 2);
    for (runs, epsilon) in [(8, 0.0), (60, 0.5), (300, 1.0), (300, 3.0)] {
        // δ = 1e-5 is so small that the exact ε is that of δ = 0, up to 1e-4.
        let truth = ApproximateProfile::new(Epsilon::new(epsilon).expect("valid"), delta(0.0));
        let wrong = failures(
            repetitions,
            |random| responses(random, runs, epsilon),
            |found| found.epsilon > epsilon || found.contradicts(&truth).is_some(),
        );
        assert!(wrong <= allowed, "ε = {epsilon}, {runs} runs: {wrong} of {repetitions}");
    }
}

#[test]
fn gaussian_scores_are_said_to_be_worse_than_they_are_at_most_as_often_as_the_risk() {
    let repetitions = depth(300, 3000) as u64;
    let allowed = most_failures(repetitions, 0.2);
    for (runs, mu) in [(40, 0.0), (200, 1.0), (200, 3.0)] {
        let truth = gaussian(mu);
        let epsilon = truth.epsilon(delta(1e-5)).upper();
        let wrong = failures(
            repetitions,
            |random| gaussian_scores(random, runs, mu),
            |found| found.gaussian.mu > mu || found.epsilon > epsilon || found.contradicts(&truth).is_some(),
        );
        assert!(wrong <= allowed, "μ = {mu}, {runs} runs: {wrong} of {repetitions}");
    }
}

#[test]
fn sorted_scores_do_not_make_more_false_statements() {
    let repetitions = depth(300, 3000) as u64;
    let allowed = most_failures(repetitions, 0.2);
    let sorted = |random: &mut Random| {
        let mut scores = gaussian_scores(random, 100, 0.5);
        scores.with.sort_by(f64::total_cmp);
        scores.without.sort_by(|a, b| b.total_cmp(a));
        scores
    };
    let wrong = failures(repetitions, sorted, |found| found.contradicts(&gaussian(0.5)).is_some());
    assert!(wrong <= allowed, "{wrong} of {repetitions}");
}

#[test]
fn thresholds_that_are_chosen_on_counted_runs_would_be_caught_here() {
    // What the module must not do: the threshold that looks best, counted on the runs that chose it.
    let repetitions = 100;
    let cheating = (0..repetitions).filter(|&seed| {
        let scores = gaussian_scores(&mut Random::new(seed), 400, 0.0);
        let mut rules = scores
            .with
            .iter()
            .step_by(5)
            .flat_map(|&threshold| [Tail::Above, Tail::Below].map(|tail| Rule { threshold, tail }));
        rules.any(|rule| {
            rule.guesses(&scores.with, &scores.without).rates(risk(0.2)).epsilon(delta(1e-5)) > 0.0
        })
    });
    let (wrong, allowed) = (cheating.count() as u64, most_failures(repetitions, 0.2));
    assert!(wrong > allowed, "{wrong} of {repetitions}, {allowed} allowed");
}

#[test]
fn gaussian_runs_prove_most_of_their_epsilon() {
    let scores = gaussian_scores(&mut Random::new(5), 20_000, 1.0);
    let found = evidence(&scores, delta(1e-5), risk(0.05)).expect("valid");
    let truth = gaussian(1.0).epsilon(delta(1e-5)).upper();
    println!("Gaussian {:.3}, counted {:.3}, of {truth:.3}", found.gaussian.epsilon, found.epsilon);
    assert!((0.9 * truth..=truth).contains(&found.gaussian.epsilon), "{:?} of {truth}", found.gaussian);
    assert!((1.5..truth).contains(&found.epsilon), "{}", found.epsilon);
    // The claims of half as much noise, and of a little less noise, are false; the true one is not.
    assert!(found.contradicts(&gaussian(0.5)).is_some());
    assert!(found.contradicts(&gaussian(0.9)).is_some());
    assert!(found.contradicts(&gaussian(1.0)).is_none());
    // At δ = 1e-5 the runs prove less than the claimed ε; it is the whole profile that they contradict.
    assert!(found.epsilon < gaussian(0.9).epsilon(delta(1e-5)).lower());
    let contradiction = found.contradicts(&gaussian(0.9)).expect("contradicted");
    assert!(contradiction.epsilon < 1.0 && contradiction.excess() > 0.0);
}

#[test]
fn randomised_response_proves_most_of_its_epsilon() {
    for epsilon in [0.5, 1.0, 3.0] {
        let scores = responses(&mut Random::new(9), 20_000, epsilon);
        let found = evidence(&scores, delta(1e-5), risk(0.05)).expect("valid");
        assert!((0.85 * epsilon..epsilon).contains(&found.epsilon), "{} of {epsilon}", found.epsilon);
    }
}

#[test]
fn no_attack_claims_more_than_the_runs_could_prove() {
    for runs in [4, 5, 17, 100, 1000] {
        for mu in [0.0, 1.0, 10.0, 1e9] {
            let found = evidence(&gaussian_scores(&mut Random::new(3), runs, mu), delta(1e-5), risk(0.05))
                .expect("valid");
            assert!(found.epsilon <= found.provable_at_most);
            assert!(found.gaussian.epsilon <= found.gaussian.provable_at_most);
            if mu == 1e9 && runs > 4 {
                assert_eq!(found.epsilon, found.provable_at_most, "{runs} runs");
            }
        }
    }
    let constant = Scores { with: vec![7.0; 50], without: vec![7.0; 30] };
    let found = evidence(&constant, delta(0.0), risk(0.05)).expect("valid");
    assert_eq!((found.epsilon, found.gaussian.mu, found.gaussian.epsilon), (0.0, 0.0, 0.0));
    assert!(found.contradicts(&gaussian(0.0)).is_none());
    let infinite = Scores { with: vec![f64::INFINITY; 50], without: vec![f64::NEG_INFINITY; 50] };
    let found = evidence(&infinite, delta(1e-5), risk(0.05)).expect("valid");
    assert_eq!(found.epsilon, found.provable_at_most);
}

/// Models of a Gaussian release in several parameters: the record moves the mean along a direction of length μ, and the
/// noise is correlated.
fn gaussian_models(random: &mut Random, runs: usize, parameters: usize, mu: f64) -> Models {
    let length = mu / (parameters as f64).sqrt();
    let mut models = |shift: f64| {
        let mut model = || (0..parameters).map(|_| shift + standard_normal(random)).collect();
        (0..runs).map(|_| model()).collect()
    };
    Models { with: models(length), without: models(0.0) }
}

#[test]
fn models_prove_about_as_much_as_the_best_scores_of_them() {
    for (parameters, runs, least) in [(5, 8000, 0.85), (40, 4000, 0.75)] {
        let models = gaussian_models(&mut Random::new(11), runs, parameters, 1.5);
        let found = evidence(&score_models(&models).expect("valid"), delta(1e-5), risk(0.05)).expect("valid");
        let share = found.gaussian.mu / 1.5;
        assert!((least..1.0).contains(&share), "{parameters} parameters: {share}");
    }
}

#[test]
fn the_covariance_is_used_where_the_noise_is_correlated() {
    // Both parameters share a large noise, and only their difference tells.
    let mut random = Random::new(2);
    let mut models = |shift: f64| -> Vec<Vec<f64>> {
        let mut model = || {
            let common = 30.0 * standard_normal(&mut random);
            vec![common + shift + standard_normal(&mut random), common + standard_normal(&mut random)]
        };
        (0..1500).map(|_| model()).collect()
    };
    let models = Models { with: models(3.0), without: models(0.0) };
    let found = evidence(&score_models(&models).expect("valid"), delta(1e-5), risk(0.05)).expect("valid");
    // The projection to the difference has distance 3/√2 = 2.12.
    assert!((1.8..2.13).contains(&found.gaussian.mu), "{}", found.gaussian.mu);
}

#[test]
fn models_without_a_difference_are_not_accused() {
    // More parameters than models: the direction that was learnt is all noise.
    let repetitions = depth(100, 1000) as u64;
    let wrong = (0..repetitions).filter(|&seed| {
        let models = gaussian_models(&mut Random::new(seed * 77), 40, 60, 0.0);
        let found = evidence(&score_models(&models).expect("valid"), delta(1e-5), risk(0.2)).expect("valid");
        found.contradicts(&gaussian(0.0)).is_some()
    });
    let wrong = wrong.count() as u64;
    assert!(wrong <= most_failures(repetitions, 0.2), "{wrong} of {repetitions}");
}

/// One run in which each canary's coin is told by randomised response.
fn told_canaries(random: &mut Random, count: usize, epsilon: f64) -> Canaries {
    let truth = 1.0 / (1.0 + (-epsilon).exp());
    let included: Vec<bool> = (0..count).map(|_| random.below(2) == 0).collect();
    let told = included.iter().map(|&coin| coin == (random.between(0.0, 1.0) < truth));
    Canaries { scores: told.map(|told| f64::from(u8::from(told))).collect(), included }
}

#[test]
fn one_run_of_randomised_response_is_judged_by_its_epsilon() {
    let repetitions = depth(300, 3000) as u64;
    for (canaries, epsilon) in [(200, 0.0), (500, 1.0), (500, 3.0)] {
        let wrong = (0..repetitions).filter(|&seed| {
            let canaries = told_canaries(&mut Random::new(seed * 31 + 7), canaries, epsilon);
            let guesses = canaries.scores.len() / 5;
            one_run(&canaries, guesses, guesses, delta(1e-6), risk(0.2)).expect("valid").epsilon > epsilon
        });
        let wrong = wrong.count() as u64;
        assert!(wrong <= most_failures(repetitions, 0.2), "ε = {epsilon}: {wrong} of {repetitions}");
    }
    // One run with many canaries proves most of it, and refutes a claim of half.
    let found =
        one_run(&told_canaries(&mut Random::new(1), 20_000, 2.0), 6000, 6000, delta(1e-8), risk(0.05));
    let found = found.expect("valid");
    assert!((1.85..2.0).contains(&found.epsilon), "{found:?}");
    assert!(found.provable_at_most > 7.0);
    let claim = |epsilon: f64| ApproximateProfile::new(Epsilon::new(epsilon).expect("valid"), delta(1e-8));
    assert!(found.refutes(&claim(1.0)).is_some() && found.refutes(&claim(2.0)).is_none());
}

#[test]
fn several_attacks_share_the_risk() {
    // Ten attacks on runs that differ in nothing: one of them accuses at most as often as all are allowed to.
    let repetitions = depth(100, 1000) as u64;
    let wrong = (0..repetitions).filter(|&seed| {
        let mut random = Random::new(seed * 1001);
        (0..10).any(|_| {
            let scores = gaussian_scores(&mut random, 30, 0.0);
            let found = evidence(&scores, delta(1e-5), risk(0.2).shared_by(10)).expect("valid");
            found.contradicts(&gaussian(0.0)).is_some()
        })
    });
    let wrong = wrong.count() as u64;
    assert!(wrong <= most_failures(repetitions, 0.2), "{wrong} of {repetitions}");
}
