//! What goes wrong in audits, tried: the numbers of the table in docs/audit.md.
//!
//! Every test makes audits in a wrong way and in the right one, of programs whose ε is known, and counts how often
//! each says something false, or misses what is there. The seeds are fixed; a number may differ from that of the page by
//! [`TOLERANCE`] of all audits, because the arithmetic of a machine may differ in the last digit.

use dobrushin::numeric::Random;
use dobrushin::profile::{ApproximateProfile, GaussianProfile};
use dobrushin::{Delta, Epsilon, NonNegative, PrivacyProfile};
use dobrushin_audit::{Evidence, Guesses, Models, Risk, Rule, Scores, Tail, evidence, score_models};

/// By how much a share may differ from what the page says.
const TOLERANCE: f64 = 0.02;

fn risk() -> Risk {
    Risk::new(0.05).expect("valid")
}

fn delta(delta: f64) -> Delta {
    Delta::new(delta).expect("valid")
}

fn pair(epsilon: f64, at: f64) -> ApproximateProfile {
    ApproximateProfile::new(Epsilon::new(epsilon).expect("valid"), delta(at))
}

fn gaussian(mu: f64) -> GaussianProfile {
    GaussianProfile::new(NonNegative::new(mu).expect("valid"))
}

fn found(scores: &Scores, at: f64) -> Evidence {
    evidence(scores, delta(at), risk()).expect("valid")
}

fn normal(random: &mut Random) -> f64 {
    let (radius, angle) =
        (random.between(f64::MIN_POSITIVE, 1.0), random.between(0.0, std::f64::consts::TAU));
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

/// Laplace noise of scale 1: a sum that a record changes by 1 then has ε = 1, and every threshold in the tail attains it.
fn laplace(random: &mut Random) -> f64 {
    let size = -random.between(f64::MIN_POSITIVE, 1.0).ln();
    if random.below(2) == 0 { size } else { -size }
}

/// Scores of runs with the record, which adds `shift`, and without it.
fn scores(random: &mut Random, runs: usize, shift: f64, noise: fn(&mut Random) -> f64) -> Scores {
    let with = (0..runs).map(|_| shift + noise(random)).collect();
    Scores { with, without: (0..runs).map(|_| noise(random)).collect() }
}

/// The share of audits of which something is said. All draw from one generator, one after another: seeds of their own
/// could overlap.
fn share(audits: u64, is_said: impl Fn(&mut Random) -> bool) -> f64 {
    let mut random = Random::new(2026);
    (0..audits).filter(|_| is_said(&mut random)).count() as f64 / audits as f64
}

/// Checks a share of the page.
fn is_about(name: &str, share: f64, expected: f64) {
    println!("{name}: {share}");
    assert!((share - expected).abs() <= TOLERANCE, "{name}: {share}, and not {expected}");
}

/// Whether some threshold proves more than ε = 1 if it is counted on the runs by which it was chosen.
fn some_threshold_proves_more_than_1(scores: &Scores) -> bool {
    let sorted = |scores: &[f64]| {
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let (with, without) = (sorted(&scores.with), sorted(&scores.without));
    without.iter().enumerate().any(|(place, &threshold)| {
        let guesses = Guesses {
            right: (with.len() - with.partition_point(|&score| score < threshold)) as u64,
            runs: with.len() as u64,
            wrong: (without.len() - place) as u64,
            other_runs: without.len() as u64,
        };
        let (p, q) =
            (guesses.right as f64 / guesses.runs as f64, guesses.wrong as f64 / guesses.other_runs as f64);
        // Bounds on rates prove less than the rates themselves.
        let may_prove = p > std::f64::consts::E * q || 1.0 - q > std::f64::consts::E * (1.0 - p);
        may_prove && guesses.rates(risk()).epsilon(delta(0.0)) > 1.0
    })
}

#[test]
fn thresholds_that_are_chosen_on_the_runs_that_are_counted_prove_what_is_false() {
    // Two intervals have slack, which hides the error where both kinds of runs are equally many. It shows where one of
    // the rates is known well.
    for (name, runs, audits, expected) in
        [("300 and 300 runs", (300, 300), 400, 0.0425), ("20000 and 100 runs", (20_000, 100), 200, 0.09)]
    {
        let draw = |random: &mut Random| Scores {
            with: (0..runs.0).map(|_| 1.0 + laplace(random)).collect(),
            without: (0..runs.1).map(|_| laplace(random)).collect(),
        };
        let wrong = share(audits, |random| some_threshold_proves_more_than_1(&draw(random)));
        let right = share(100, |random| found(&draw(random), 0.0).epsilon > 1.0);
        is_about(&format!("{name}, thresholds chosen on the counted runs"), wrong, expected);
        is_about(&format!("{name}, thresholds chosen on other runs"), right, 0.0);
    }
}

#[test]
fn a_direction_that_is_learnt_on_the_runs_that_are_counted_accuses_a_program_that_releases_only_noise() {
    const PARAMETERS: usize = 200;
    let draw = |random: &mut Random| {
        let mut models = || (0..200).map(|_| (0..PARAMETERS).map(|_| normal(random)).collect()).collect();
        Models { with: models(), without: models() }
    };
    let on_the_same_runs = |models: &Models| {
        let sum = |models: &[Vec<f64>], place: usize| models.iter().map(|model| model[place]).sum::<f64>();
        let direction: Vec<f64> =
            (0..PARAMETERS).map(|place| sum(&models.with, place) - sum(&models.without, place)).collect();
        let project = |models: &[Vec<f64>]| {
            let score = |model: &Vec<f64>| model.iter().zip(&direction).map(|(a, b)| a * b).sum();
            models.iter().map(score).collect()
        };
        Scores { with: project(&models.with), without: project(&models.without) }
    };
    let claim = pair(0.5, 1e-5);
    let is_accused = |scores: &Scores| found(scores, 1e-5).contradicts(&claim).is_some();
    let wrong = share(100, |random| is_accused(&on_the_same_runs(&draw(random))));
    let right = share(100, |random| is_accused(&score_models(&draw(random)).expect("valid")));
    is_about("a direction learnt on the counted runs", wrong, 1.0);
    is_about("a direction learnt on other runs", right, 0.0);
}

#[test]
fn few_runs_prove_little_about_a_program_that_publishes_the_record() {
    for (runs, most) in [(100, 2.72), (1000, 5.05), (10_000, 7.36), (100_000, 9.66)] {
        let found = found(&Scores { with: vec![1.0; runs], without: vec![0.0; runs] }, 1e-5);
        assert!((found.epsilon - most).abs() < 0.01, "{runs} runs: {}", found.epsilon);
        assert_eq!(found.contradicts(&pair(8.0, 1e-5)).is_some(), most > 8.0);
    }
}

#[test]
fn the_best_of_many_attacks_accuses_a_program_that_releases_only_noise() {
    // Each attack has one rule, which was chosen before its runs were made.
    let accused = |random: &mut Random, each: Risk| {
        (0..100).any(|_| {
            let scores = scores(random, 300, 0.0, normal);
            let guesses = Rule { threshold: 0.0, tail: Tail::Above }.guesses(&scores.with, &scores.without);
            guesses.rates(each).epsilon(delta(1e-5)) > 0.0
        })
    };
    is_about("100 attacks at 5 % each", share(200, |random| accused(random, risk())), 0.21);
    is_about("100 attacks that share 5 %", share(100, |random| accused(random, risk().shared_by(100))), 0.0);
    // Evidence shares its risk among three rules, and is wrong less often than it may be.
    let by_evidence = share(100, |random| {
        (0..100)
            .any(|_| found(&scores(random, 100, 0.0, normal), 1e-5).contradicts(&pair(0.0, 1e-5)).is_some())
    });
    is_about("100 pieces of evidence at 5 % each", by_evidence, 0.02);
}

#[test]
fn runs_that_share_seeds_prove_what_is_false() {
    let accused = |random: &mut Random, seeds: usize| {
        let drawn = scores(random, seeds, 1.0, laplace);
        let repeated = |scores: &[f64]| scores.iter().cycle().take(1000).copied().collect();
        let scores = Scores { with: repeated(&drawn.with), without: repeated(&drawn.without) };
        found(&scores, 0.0).epsilon > 1.0
    };
    is_about("1000 runs of 20 seeds", share(300, |random| accused(random, 20)), 0.98);
    is_about("1000 runs of 200 seeds", share(300, |random| accused(random, 200)), 0.24);
    is_about("1000 runs of 1000 seeds", share(300, |random| accused(random, 1000)), 0.0);
}

/// One of three results with these chances; the third is a run that diverged, whose score is infinite.
fn results(random: &mut Random, runs: usize, chances: [f64; 2]) -> Vec<f64> {
    let mut result = || match random.between(0.0, 1.0) {
        u if u < chances[0] => 1.0,
        u if u < chances[0] + chances[1] => 0.0,
        _ => f64::INFINITY,
    };
    (0..runs).map(|_| result()).collect()
}

fn without_diverged(scores: &Scores) -> Scores {
    let finite = |scores: &[f64]| scores.iter().copied().filter(|score| score.is_finite()).collect();
    Scores { with: finite(&scores.with), without: finite(&scores.without) }
}

#[test]
fn leaving_out_runs_that_diverged_hides_a_leak_and_makes_one_up() {
    // The record makes a fifth of the runs diverge, and has no other effect.
    let leak = |random: &mut Random| Scores {
        with: results(random, 1000, [0.4, 0.4]),
        without: results(random, 1000, [0.5, 0.5]),
    };
    let claim = pair(1.0, 1e-5);
    let hidden =
        share(300, |random| found(&without_diverged(&leak(random)), 1e-5).contradicts(&claim).is_some());
    let seen = share(300, |random| found(&leak(random), 1e-5).contradicts(&claim).is_some());
    is_about("a leak by divergence, diverged runs left out", hidden, 0.0);
    is_about("a leak by divergence, diverged runs scored", seen, 1.0);
    // ε = 1 exactly: the ratios are e, 1/e and e.
    let e = std::f64::consts::E;
    let second = (1.0 - 1.0 / e) / (e - 1.0 / e);
    let first = 1.0 - second - 0.4;
    let honest = |random: &mut Random| Scores {
        with: results(random, 4000, [first, second]),
        without: results(random, 4000, [first / e, second * e]),
    };
    let accused = share(300, |random| found(&without_diverged(&honest(random)), 0.0).epsilon > 1.0);
    let cleared = share(300, |random| found(&honest(random), 0.0).epsilon > 1.0);
    is_about("ε = 1, diverged runs left out", accused, 1.0);
    is_about("ε = 1, diverged runs scored", cleared, 0.0);
}

#[test]
fn neighbours_of_another_relation_contradict_a_claim_that_is_true() {
    // A sum of numbers between −1 and 1 with noise 1 is claimed for a record that is left out.
    let accused = |random: &mut Random, distance: f64| {
        found(&scores(random, 1000, distance, normal), 1e-5).contradicts(&gaussian(1.0)).is_some()
    };
    is_about("a record that is replaced", share(300, |random| accused(random, 2.0)), 1.0);
    is_about("a record that is left out", share(300, |random| accused(random, 1.0)), 0.0);
}

#[test]
fn one_epsilon_at_a_tiny_delta_hides_what_the_profile_shows() {
    // The noise is 2/3 of what was said: ε = 7.06 instead of 4.38 at δ = 1e-5.
    let (claim, truth) = (gaussian(1.0), gaussian(1.5));
    let epsilon = |profile: &GaussianProfile| profile.epsilon(delta(1e-5)).upper();
    assert!((4.37..4.38).contains(&epsilon(&claim)), "{}", epsilon(&claim));
    assert!((7.05..7.06).contains(&epsilon(&truth)), "{}", epsilon(&truth));
    let against = |random: &mut Random, claim: &dyn PrivacyProfile| {
        found(&scores(random, 1000, 1.5, normal), 1e-5).contradicts(claim).is_some()
    };
    let one = pair(epsilon(&claim), 1e-5);
    is_about("held against one ε", share(300, |random| against(random, &one)), 0.0);
    is_about("held against the profile", share(300, |random| against(random, &claim)), 1.0);
    let mut random = Random::new(1);
    let proved: f64 = (0..100).map(|_| found(&scores(&mut random, 1000, 1.5, normal), 1e-5).epsilon).sum();
    assert!((proved / 100.0 - 2.05).abs() < 0.05, "ε proved on average: {}", proved / 100.0);
    // Not even a program that publishes the record is found out by ε = 8, but it is by the profile.
    let published = found(&Scores { with: vec![1.0; 1000], without: vec![0.0; 1000] }, 1e-5);
    assert!(published.contradicts(&pair(8.0, 1e-5)).is_none());
    let claim = gaussian(1.66);
    assert!((7.96..7.97).contains(&epsilon(&claim)), "{}", epsilon(&claim));
    assert!(published.contradicts(&claim).is_some());
}
