//! Lower bounds on the excess: against exact total variations, the identities that they rest on, and algorithms that
//! would break them if they were too large.

use crate::utility_support::positive;
use crate::utility_support::problems::normal;
use dobrushin::numeric::Random;
use dobrushin::utility::prescribe::{Privacy, Problem};
use dobrushin::utility::{Learner, least_excess};
use dobrushin::{Delta, Epsilon};
use std::num::NonZeroU64;

fn whole(value: u64) -> NonZeroU64 {
    NonZeroU64::new(value).unwrap()
}

/// The bound as a share of L·R, and the theorem.
fn least(n: u64, d: u64, (epsilon, delta): (f64, f64), learner: Learner) -> (f64, &'static str) {
    let problem =
        Problem { records: whole(n), dimension: whole(d), lipschitz: positive(3.0), radius: positive(0.5) };
    let privacy = Privacy { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() };
    let found = least_excess(problem, privacy, learner);
    assert!(found.excess.lower() >= 0.0 && found.excess.relative_width() < 1e-6, "{found:?}");
    (found.excess.lower() / 1.5, found.id)
}

const CENTRAL: Learner = Learner::Central { public_records: 0, tasks: NonZeroU64::MIN };

/// The least private report on ±1: told with probability δ, otherwise truthful with probability e^ε/(1 + e^ε).
fn reports(p_up: f64, (epsilon, delta): (f64, f64)) -> [f64; 4] {
    let truthful = 1.0 / (1.0 + f64::exp(-epsilon));
    let up = p_up * truthful + (1.0 - p_up) * (1.0 - truthful);
    [delta * p_up, delta * (1.0 - p_up), (1.0 - delta) * up, (1.0 - delta) * (1.0 - up)]
}

/// The total variation of n independent reports for the means h and −h, by enumeration.
fn exact(n: u32, h: f64, level: (f64, f64)) -> f64 {
    let (p, q) = (reports((1.0 + h) / 2.0, level), reports((1.0 - h) / 2.0, level));
    let mut total = 0.0;
    for outcome in 0..4_usize.pow(n) {
        let (mut a, mut b, mut rest) = (1.0, 1.0, outcome);
        for _ in 0..n {
            (a, b, rest) = (a * p[rest % 4], b * q[rest % 4], rest / 4);
        }
        total += f64::abs(a - b) / 2.0;
    }
    total
}

#[test]
fn two_points_are_never_above_the_exact_test_of_the_least_private_reports() {
    for n in [1, 2, 4, 6] {
        for level in [(0.1, 1e-3), (1.0, 0.05), (3.0, 0.2), (20.0, 0.5)] {
            let best = (1..=200).map(f64::from).map(|i| i / 200.0 * (1.0 - exact(n, i / 200.0, level)));
            let best = best.fold(0.0, f64::max);
            let (bound, _) = least(u64::from(n), 1, level, Learner::Local);
            // The grid of h misses the best one by little.
            assert!(bound <= best * 1.001 + 1e-9, "{n} {level:?}: {bound} {best}");
            assert!(bound > 0.5 * best, "{n} {level:?}: {bound} {best}");
        }
    }
}

#[test]
fn without_privacy_the_constant_is_a_quarter_of_the_root() {
    for n in [100, 10_000, 1 << 40] {
        let (bound, id) = least(n, 1, (40.0, 1e-9), CENTRAL);
        assert_eq!(id, "lower-two-points");
        let scaled = bound * (n as f64).sqrt();
        assert!((0.265..0.275).contains(&scaled), "{n}: {scaled}");
    }
}

/// Data sets k records apart: the least private answer to how many of them are up, chosen exponentially, attains
/// tanh(kε/2) for δ = 0.
#[test]
fn central_privacy_of_one_dimension_costs_more_than_half_over_n_epsilon() {
    for (n, epsilon) in [(1000, 0.01), (100_000, 0.001), (1000, 0.1)] {
        let (bound, id) = least(n, 1, (epsilon, 1e-12), CENTRAL);
        let scaled = bound * n as f64 * epsilon;
        if id == "lower-two-points" && epsilon * epsilon * n as f64 <= 1.0 {
            assert!((0.5..0.56).contains(&scaled), "{n} {epsilon}: {scaled}");
        }
        let (empirical, _) = least(n, 1, (epsilon, 1e-12), Learner::Empirical);
        assert!((0.5..0.56).contains(&(empirical * n as f64 * epsilon)), "{empirical}");
    }
}

#[test]
fn in_many_dimensions_the_root_of_the_dimension_counts() {
    for d in [100_u64, 10_000] {
        let (n, epsilon) = (10 * d, 0.01);
        let (central, id) = least(n, d, (epsilon, 1e-12), CENTRAL);
        assert_eq!(id, "lower-tracing");
        let scaled = central * n as f64 * epsilon / (d as f64).sqrt();
        assert!((0.15..=0.2501).contains(&scaled), "{d}: {scaled}");
        let (local, id) = least(n * 10_000, d, (epsilon, 1e-15), Learner::Local);
        assert_eq!(id, "lower-tracing");
        let scaled = local * epsilon * (n as f64 * 1e4).sqrt() / (d as f64).sqrt();
        assert!((0.15..=0.2501).contains(&scaled), "{d}: {scaled}");
        let (empirical, id) = least(n, d, (epsilon, 1e-12), Learner::Empirical);
        assert_eq!(id, "lower-tracing");
        let scaled = empirical * n as f64 * epsilon / (d as f64).sqrt();
        assert!((0.12..=0.2501).contains(&scaled), "{d}: {scaled}");
    }
}

#[test]
fn more_of_anything_helpful_never_raises_the_bound() {
    let levels = [(0.1, 1e-6), (0.5, 1e-6), (0.5, 1e-3), (3.0, 1e-3)];
    for learner in [CENTRAL, Learner::Local, Learner::Empirical] {
        for (n, d) in [(10, 1), (1000, 30), (100_000, 1000)] {
            let bounds = levels.map(|level| least(n, d, level, learner).0);
            assert!(bounds.is_sorted_by(|a, b| a * (1.0 + 1e-6) >= *b), "{learner:?} {n} {d}: {bounds:?}");
            assert!(least(10 * n, d, levels[1], learner).0 <= bounds[1] * (1.0 + 1e-6));
            assert!(least(n, 4 * d, levels[1], learner).0 >= bounds[1] * (1.0 - 1e-6));
        }
    }
    let public = |public_records| {
        least(10_000, 1000, (0.05, 1e-8), Learner::Central { public_records, tasks: NonZeroU64::MIN }).0
    };
    assert!(public(0) > public(1000) && public(1000) > public(10_000) && public(10_000) > 0.0);
    let tasks = |tasks| {
        least(10_000, 100, (0.05, 1e-8), Learner::Central { public_records: 0, tasks: whole(tasks) }).0
    };
    assert!(tasks(100) > 5.0 * tasks(1));
}

/// Nothing is broken by extreme numbers.
#[test]
fn extreme_numbers_have_a_bound_between_nothing_and_everything() {
    for n in [1, 2, u64::MAX] {
        for d in [1, u64::MAX] {
            for level in [(0.0, 1e-300), (1e-300, 0.5), (5e-324, 0.0), (1.0, 1.0), (800.0, 1e-10), (0.0, 1.0)]
            {
                for learner in [
                    CENTRAL,
                    Learner::Local,
                    Learner::Empirical,
                    Learner::Central { public_records: u64::MAX, tasks: whole(u64::MAX) },
                ] {
                    let problem = Problem {
                        records: whole(n),
                        dimension: whole(d),
                        lipschitz: positive(1.0),
                        radius: positive(1.0),
                    };
                    let (epsilon, delta) = (Epsilon::new(level.0).unwrap(), Delta::new(level.1).unwrap());
                    let found = least_excess(problem, Privacy { epsilon, delta }, learner);
                    let lower = found.excess.lower();
                    assert!((0.0..=1.0).contains(&lower), "{n} {d} {level:?} {learner:?}: {found:?}");
                }
            }
        }
    }
}

/// p of the density ∝ (1 − p²)^k, k a whole number: the middle of 2k + 1 uniform numbers.
fn prior(k: u32, random: &mut Random) -> f64 {
    let mut numbers: Vec<f64> = (0..2 * k + 1).map(|_| random.between(-1.0, 1.0)).collect();
    numbers.sort_by(f64::total_cmp);
    numbers[k as usize]
}

/// The best private means we know, on the problems of the proof: with the Gaussian mechanism, central or local, the mean
/// excess is above the bound, and not by orders of magnitude.
#[test]
fn the_gaussian_mechanism_does_not_beat_the_bound() {
    let mut random = Random::new(11);
    let level = (1.0, 1e-6);
    // σ/sensitivity of the Gaussian mechanism at (1, 1e-6).
    let noise = 4.2248;
    for (n, d, local) in [(40_u32, 300_usize, false), (200, 300, false), (2000, 100, true), (10, 20, true)] {
        let learner = if local { Learner::Local } else { CENTRAL };
        let (bound, _) = least(u64::from(n), d as u64, level, learner);
        let root = (d as f64).sqrt();
        for k in [0, 3, 20] {
            let (mut sum, runs) = (0.0, 40);
            for _ in 0..runs {
                let p: Vec<f64> = (0..d).map(|_| prior(k, &mut random)).collect();
                // A sum of records X/√d changes by at most 2 if one is replaced.
                let scale = 2.0 * noise * if local { f64::from(n).sqrt() } else { 1.0 };
                let sums: Vec<f64> = p
                    .iter()
                    .map(|p| {
                        let ups = (0..n).filter(|_| random.between(-1.0, 1.0) < *p).count() as f64;
                        (2.0 * ups - f64::from(n)) / root + scale * normal(&mut random)
                    })
                    .collect();
                let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
                let along: f64 = sums.iter().zip(&p).map(|(s, p)| s * p).sum();
                sum += (norm(&p) - along / norm(&sums)) / root;
            }
            let mean = sum / f64::from(runs);
            let of_this = traced(k, n, d, level, local);
            println!("n = {n}, d = {d}, local {local}, k = {k}: {mean} above {of_this}, of at most {bound}");
            assert!(mean >= of_this, "{mean} < {of_this}");
            assert!(of_this <= bound * (1.0 + 1e-9), "a better k was missed: {of_this} > {bound}");
        }
    }
}

/// What the proof says for this k, worked out by hand.
fn traced(k: u32, n: u32, d: usize, (epsilon, delta): (f64, f64), local: bool) -> f64 {
    let (k, n, d) = (f64::from(k), f64::from(n), d as f64);
    let tails = (1.0 + (-epsilon).exp()) * delta;
    let leak = if local {
        let s = epsilon.sinh();
        n.sqrt() * ((s + (s * s + 8.0 * tails * d).sqrt()) / 2.0).min(d.sqrt())
    } else {
        (n * (epsilon.sinh() + tails * d.sqrt())).min((n * d).sqrt())
    };
    let kurtosis = 3.0 * (2.0 * k + 3.0) / (2.0 * k + 5.0);
    (d / ((2.0 * k + 3.0) * (kurtosis + d - 1.0))).sqrt() - leak / (2.0 * (k + 1.0) * d.sqrt())
}

/// E[w·Σ(X_i − p)] = 2(k+1)·E[w·p] for every function w of n signs: by enumeration and quadrature.
#[test]
fn the_identity_of_tracing_holds_for_every_function() {
    let mut random = Random::new(5);
    for (n, k) in [(1_u32, 0_i32), (3, 1), (4, 2), (5, 7)] {
        let w: Vec<f64> = (0..1 << n).map(|_| random.between(-1.0, 1.0)).collect();
        let (mut left, mut right, mut mass, steps) = (0.0, 0.0, 0.0, 20_000);
        for i in 0..steps {
            let p = -1.0 + 2.0 * (f64::from(i) + 0.5) / f64::from(steps);
            let density = (1.0 - p * p).powi(k);
            mass += density;
            for (outcome, w) in w.iter().enumerate() {
                let ups = outcome.count_ones() as i32;
                let downs = n as i32 - ups;
                let probability = ((1.0 + p) / 2.0).powi(ups) * ((1.0 - p) / 2.0).powi(downs);
                left += density * probability * w * (f64::from(ups - downs) - f64::from(n) * p);
                right += density * probability * w * p;
            }
        }
        assert!((left - 2.0 * f64::from(k + 1) * right).abs() < 1e-6 * mass, "{n} {k}: {left} {right}");
        // The moments of the prior.
        let moment = |power: i32| {
            let at = |i: i32| -1.0 + 2.0 * (f64::from(i) + 0.5) / f64::from(steps);
            (0..steps).map(|i| at(i).powi(power) * (1.0 - at(i).powi(2)).powi(k)).sum::<f64>() / mass
        };
        let twice = f64::from(2 * k);
        assert!((moment(2) - 1.0 / (twice + 3.0)).abs() < 1e-6);
        assert!((moment(4) - 3.0 / ((twice + 3.0) * (twice + 5.0))).abs() < 1e-6);
    }
}
