//! Which combinations of mechanism, sampling and neighbours have a dominating pair, and that it
//! dominates what was asked for.

use dobrushin::divergence::{GaussianPair, LaplacePair, Pair};
use dobrushin::kernel::{FiniteKernel, Kernel};
use dobrushin::loss::{DominatingPair, Split};
use dobrushin::mechanism::{Distances, Mechanism, Neighbours, Sampling, SubsampledGaussian, dominating_pair};
use dobrushin::numeric::Random;
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::{Delta, Enclosure, Epsilon, Gamma, NonNegative, Positive, Probability};
use std::sync::Arc;

const NEIGHBOURS: [Neighbours; 3] = [Neighbours::ReplaceOne, Neighbours::AddOrRemoveOne, Neighbours::ZeroOut];

fn positive(x: f64) -> Positive {
    Positive::new(x).unwrap()
}

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn gaussian(noise_multiplier: f64) -> Mechanism {
    Mechanism::Gaussian { noise_multiplier: positive(noise_multiplier) }
}

fn poisson(p: f64) -> Sampling {
    Sampling::Poisson(Probability::new(p).unwrap())
}

fn without_replacement(p: f64) -> Sampling {
    Sampling::WithoutReplacement(Probability::new(p).unwrap())
}

fn channel() -> FiniteKernel {
    FiniteKernel::new(vec![vec![0.5, 0.3, 0.2, 0.0], vec![0.2, 0.5, 0.3, 0.0], vec![0.1, 0.3, 0.5, 0.1]])
        .unwrap()
}

/// A profile with two directions.
fn leaning() -> SubsampledGaussian {
    let distances = |without: f64, other: f64| Distances {
        without: NonNegative::new(without).unwrap(),
        other: NonNegative::new(other).unwrap(),
    };
    SubsampledGaussian::new(Probability::new(0.5).unwrap(), distances(2.0, 1.0), distances(1.0, 1.0)).unwrap()
}

fn all_mechanisms() -> Vec<Mechanism> {
    let delta = Delta::new(1e-3).unwrap();
    vec![
        gaussian(1.5),
        Mechanism::Laplace { noise_multiplier: positive(1.5) },
        Mechanism::DiscreteGaussian { sigma: positive(4.0), sensitivity: 3 },
        Mechanism::DiscreteLaplace { scale: positive(4.0), sensitivity: 3 },
        Mechanism::RandomisedResponse { epsilon: epsilon(1.0) },
        Mechanism::KaryRandomisedResponse { epsilon: epsilon(1.0), categories: 5 },
        Mechanism::Exponential { epsilon: epsilon(1.0) },
        Mechanism::Channel(channel()),
        Mechanism::Approximate { epsilon: epsilon(1.0), delta },
        Mechanism::Profile(Arc::new(leaning())),
    ]
}

fn is_local(mechanism: &Mechanism) -> bool {
    use Mechanism::{Channel, KaryRandomisedResponse, RandomisedResponse};
    matches!(mechanism, RandomisedResponse { .. } | KaryRandomisedResponse { .. } | Channel(_))
}

/// E_{e^ε} of one direction of a pair, for ε ≥ 0.
fn delta(pair: &DominatingPair, direction: Direction, e: f64) -> Enclosure {
    let Split { above, .. } = pair.law(direction).split(Enclosure::from(e));
    above.p - Enclosure::from(e).exp() * above.q
}

fn assert_overlap(found: Enclosure, expected: Enclosure, input: impl std::fmt::Debug) {
    assert!(found.intersect(expected).is_some(), "{found} and {expected} at {input:?}");
    assert!(found.width() < 1e-12, "{found} at {input:?}");
}

#[test]
fn exactly_the_supported_combinations_have_a_pair_and_the_others_name_the_nearest() {
    for mechanism in all_mechanisms() {
        let gaussian = matches!(mechanism, Mechanism::Gaussian { .. });
        for sampling in [Sampling::Every, poisson(0.1), without_replacement(0.1)] {
            for neighbours in NEIGHBOURS {
                let supported = match (sampling, neighbours) {
                    (_, Neighbours::AddOrRemoveOne | Neighbours::ZeroOut) if is_local(&mechanism) => false,
                    (Sampling::Every, _) => true,
                    (Sampling::Poisson(_), Neighbours::ReplaceOne) => gaussian,
                    (Sampling::Poisson(_), _) => true,
                    (Sampling::WithoutReplacement(_), Neighbours::ReplaceOne) => true,
                    (Sampling::WithoutReplacement(_), Neighbours::AddOrRemoveOne) => false,
                    (Sampling::WithoutReplacement(_), Neighbours::ZeroOut) => gaussian,
                };
                match dominating_pair(&mechanism, sampling, neighbours) {
                    Ok(pair) => {
                        assert!(supported, "{mechanism}, {sampling}, {neighbours}");
                        for direction in Direction::BOTH {
                            let found = delta(&pair, direction, 0.03);
                            assert!(found.upper() > 0.0 && found.upper() < 1.0, "{found}");
                        }
                    }
                    Err(error) => {
                        assert!(!supported, "{mechanism}, {sampling}, {neighbours}: {error}");
                        let message = error.to_string();
                        assert!(message.starts_with(&mechanism.to_string()), "{message}");
                        let nearest = message.split("the nearest supported is").nth(1).unwrap();
                        assert!(nearest.contains("-one neighbours"), "{message}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_replaced_is_twice_as_far_as_what_is_added() {
    for (neighbours, changes) in NEIGHBOURS.into_iter().zip([2, 1, 1]) {
        let distance = f64::from(changes) / 1.5;
        let pair = |mechanism: &Mechanism| dominating_pair(mechanism, Sampling::Every, neighbours).unwrap();
        let [normal, laplace, discrete, geometric] = [0, 1, 2, 3].map(|i| pair(&all_mechanisms()[i]));
        for direction in Direction::BOTH {
            assert!((normal.law(direction).gaussian_ratio().unwrap() / distance - 1.0).abs() < 1e-15);
            for e in [0.0, 0.2, 1.0] {
                let gamma = Gamma::from_epsilon(e).unwrap();
                let expected = GaussianPair::new(distance, 1.0).unwrap().hockey_stick(gamma);
                assert!((delta(&normal, direction, e).midpoint() - expected.midpoint()).abs() < 1e-14);
                let expected = LaplacePair::new(distance, 1.0).unwrap().hockey_stick(gamma);
                assert!((delta(&laplace, direction, e).midpoint() - expected.midpoint()).abs() < 1e-14);
                // E_γ = Σ (P(x) − γQ(x))₊ of unnormalised weights.
                let summed = |weight: &dyn Fn(f64) -> f64| {
                    let range = -400..=400;
                    let total: f64 = range.clone().map(|x| weight(f64::from(x))).sum();
                    let shift = f64::from(3 * changes);
                    let terms = range
                        .map(|x| (weight(f64::from(x) - shift) - e.exp() * weight(f64::from(x))).max(0.0));
                    terms.sum::<f64>() / total
                };
                let expected = summed(&|x| (-x * x / 32.0).exp());
                assert!((delta(&discrete, direction, e + 1e-12).midpoint() - expected).abs() < 1e-10);
                let expected = summed(&|x| (-x.abs() / 4.0).exp());
                assert!((delta(&geometric, direction, e + 1e-12).midpoint() - expected).abs() < 1e-10);
            }
        }
    }
}

#[test]
fn smaller_shifts_of_discrete_noise_are_dominated() {
    let pair =
        |mechanism: Mechanism| dominating_pair(&mechanism, Sampling::Every, Neighbours::ZeroOut).unwrap();
    for sensitivity in 1..12 {
        for e in [0.0, 0.11, 0.7, 2.3] {
            let gaussian = |s| pair(Mechanism::DiscreteGaussian { sigma: positive(2.3), sensitivity: s });
            let laplace = |s| pair(Mechanism::DiscreteLaplace { scale: positive(2.3), sensitivity: s });
            for (less, more) in [
                (gaussian(sensitivity), gaussian(sensitivity + 1)),
                (laplace(sensitivity), laplace(sensitivity + 1)),
            ] {
                let (less, more) = (delta(&less, Direction::Forward, e), delta(&more, Direction::Forward, e));
                assert!(less.lower() <= more.upper() + 1e-12, "{less} {more}");
            }
        }
    }
}

/// E_γ of two mixtures of unit normal laws, roughly: a sum over a fine grid.
fn mixture_divergence(p: &[(f64, f64)], q: &[(f64, f64)], gamma: f64) -> f64 {
    let density = |parts: &[(f64, f64)], x: f64| {
        parts.iter().map(|(w, m)| w * (-(x - m).powi(2) / 2.0).exp()).sum::<f64>() / 2.506628274631
    };
    let step = 1e-3;
    let points = (-14_000..14_000).map(|i| f64::from(i) * step);
    points.map(|x| (density(p, x) - gamma * density(q, x)).max(0.0) * step).sum()
}

#[test]
fn poisson_sampling_with_a_replaced_record_is_dominated_and_the_bound_is_near() {
    let mut nearest: f64 = 0.0;
    for (noise, p) in [(1.0, 0.1), (0.5, 0.3), (2.0, 0.7)] {
        let pair = dominating_pair(&gaussian(noise), poisson(p), Neighbours::ReplaceOne).unwrap();
        assert!(pair.is_symmetric());
        let c = 1.0 / noise;
        // Opposite contributions, equal ones, and in between.
        for (u, v) in [(c, -c), (c, 0.0), (0.0, c), (c, 0.4 * c)] {
            for e in [0.0, 0.05, 0.3, 1.0, 2.0] {
                let truth =
                    mixture_divergence(&[(1.0 - p, 0.0), (p, u)], &[(1.0 - p, 0.0), (p, v)], f64::exp(e));
                let found = delta(&pair, Direction::Forward, e);
                assert!(found.upper() >= truth - 1e-8, "{found} < {truth} at {noise}, {p}, {e}");
                nearest = nearest.max(truth / found.upper());
                // Nor is it worse than what holds for any subsampled replacement.
                let gamma = Gamma::new(1.0 + e.exp_m1() / p).unwrap();
                let general = p * GaussianPair::new(2.0 * c, 1.0).unwrap().hockey_stick(gamma).upper();
                assert!(found.lower() <= general * (1.0 + 1e-5) + 1e-12, "{found} > {general}");
            }
        }
    }
    assert!(nearest > 0.99, "{nearest}");
}

#[test]
fn sampling_without_replacement_with_a_zeroed_record_is_dominated_in_both_directions() {
    let mut random = Random::new(1);
    for (noise, batch, records) in [(1.0, 1, 3), (0.7, 2, 4), (2.0, 1, 2)] {
        let p = f64::from(batch) / f64::from(records);
        let pair = dominating_pair(&gaussian(noise), without_replacement(p), Neighbours::ZeroOut).unwrap();
        assert!(!pair.is_symmetric());
        for _ in 0..6 {
            // The first record is the one in question.
            let value = |random: &mut Random| [1.0, -1.0, random.between(-1.0, 1.0)][random.below(3)] / noise;
            let data: Vec<f64> = (0..records).map(|_| value(&mut random)).collect();
            let zeroed: Vec<f64> = [0.0].into_iter().chain(data[1..].iter().copied()).collect();
            let sums = |data: &[f64]| {
                let batches = (0u32..1 << records).filter(|set| set.count_ones() == batch);
                let sums: Vec<f64> = batches
                    .map(|set| (0..records).filter(|i| set >> i & 1 == 1).map(|i| data[i as usize]).sum())
                    .collect();
                let share = 1.0 / sums.len() as f64;
                sums.into_iter().map(|sum| (share, sum)).collect::<Vec<_>>()
            };
            let (p, q) = (sums(&data), sums(&zeroed));
            for e in [0.0, 0.3, 1.0] {
                let forward = mixture_divergence(&p, &q, f64::exp(e));
                let reverse = mixture_divergence(&q, &p, f64::exp(e));
                for (direction, truth) in Direction::BOTH.into_iter().zip([forward, reverse]) {
                    let found = delta(&pair, direction, e);
                    assert!(
                        found.upper() >= truth - 1e-8,
                        "{found} < {truth} at {data:?}, {e}, {direction:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn poisson_sampling_dominates_the_mixture_and_its_reverse() {
    let (noise, p) = (0.8, 0.2);
    for neighbours in [Neighbours::AddOrRemoveOne, Neighbours::ZeroOut] {
        let pair = dominating_pair(&gaussian(noise), poisson(p), neighbours).unwrap();
        let (with, without) = ([(1.0 - p, 0.0), (p, 1.0 / noise)], [(1.0, 0.0)]);
        for e in [0.0, 0.1, 0.5, 2.0] {
            let forward = mixture_divergence(&with, &without, f64::exp(e));
            let reverse = mixture_divergence(&without, &with, f64::exp(e));
            assert!((delta(&pair, Direction::Forward, e).midpoint() - forward).abs() < 1e-8);
            assert!((delta(&pair, Direction::Reverse, e).midpoint() - reverse).abs() < 1e-8);
        }
    }
}

#[test]
fn a_channel_has_the_largest_divergence_between_its_rows() {
    let kernel = channel();
    let pair = dominating_pair(&Mechanism::Channel(kernel.clone()), Sampling::Every, Neighbours::ReplaceOne)
        .unwrap();
    let mut random = Random::new(2);
    for _ in 0..500 {
        let e = random.between(0.0, 3.0);
        let expected = kernel.contraction(Gamma::from_epsilon(e).unwrap());
        let found = delta(&pair, Direction::Forward, e);
        assert!(
            found.upper() >= expected.lower() && found.lower() <= expected.upper() + 1e-13,
            "{found} {expected}"
        );
    }
}

#[test]
fn responses_and_their_generalisations_have_the_known_profiles() {
    let pair = |m: Mechanism| dominating_pair(&m, Sampling::Every, Neighbours::ReplaceOne).unwrap();
    for (e0, d0) in [(1.0, 0.0), (0.3, 1e-6), (2.0, 0.2)] {
        let response = pair(Mechanism::RandomisedResponse { epsilon: epsilon(e0) });
        let kary = pair(Mechanism::KaryRandomisedResponse { epsilon: epsilon(e0), categories: 7 });
        let approximate =
            pair(Mechanism::Approximate { epsilon: epsilon(e0), delta: Delta::new(d0).unwrap() });
        for e in [0.0, 0.1 * e0, 0.9 * e0, 1.5 * e0] {
            let gap = (e0.exp() - e.exp()).max(0.0);
            let two = gap / (1.0 + e0.exp());
            assert!((delta(&response, Direction::Forward, e).midpoint() - two).abs() < 1e-14);
            assert!((delta(&kary, Direction::Forward, e).midpoint() - gap / (6.0 + e0.exp())).abs() < 1e-14);
            let expected = d0 + (1.0 - d0) * two;
            assert!((delta(&approximate, Direction::Forward, e).midpoint() - expected).abs() < 1e-14);
        }
        // Met exactly at ε: δ, to its last digits.
        let at = delta(&approximate, Direction::Forward, e0 * 1.0001);
        assert!(at.contains(d0) && at.width() <= 1e-15 * d0);
    }
    let two = Mechanism::KaryRandomisedResponse { epsilon: epsilon(1.0), categories: 1 };
    let error = dominating_pair(&two, Sampling::Every, Neighbours::ReplaceOne).err().unwrap();
    assert!(error.to_string().contains("2 or more"), "{error}");
}

#[test]
fn a_given_profile_is_dominated_in_both_directions_and_under_sampling() {
    let mechanism = Mechanism::Profile(Arc::new(leaning()));
    let every = dominating_pair(&mechanism, Sampling::Every, Neighbours::AddOrRemoveOne).unwrap();
    let sampled = dominating_pair(&mechanism, poisson(0.1), Neighbours::AddOrRemoveOne).unwrap();
    let replaced = dominating_pair(&mechanism, without_replacement(0.1), Neighbours::ReplaceOne).unwrap();
    assert!(replaced.is_symmetric() && !every.is_symmetric());
    for e in [0.0, 0.1, 0.5, 2.0] {
        for direction in Direction::BOTH {
            let (found, least) = (delta(&every, direction, e), leaning().delta_of(direction, epsilon(e)));
            assert!(found.upper() >= least.lower(), "{found} < {least} at {e}");
            assert!(found.lower() <= least.upper() * (1.0 + 1e-5), "{found} > {least} at {e}");
        }
        let inner = 1.0 + e.exp_m1() / 0.1;
        let expected = 0.1 * delta(&every, Direction::Forward, inner.ln()).midpoint();
        let found = delta(&sampled, Direction::Forward, e).midpoint();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        let larger = leaning().delta(epsilon(inner.ln())).midpoint();
        let found = delta(&replaced, Direction::Reverse, e).midpoint();
        assert!((found / (0.1 * larger) - 1.0).abs() < 1e-5, "{found} {larger}");
    }
}

#[test]
fn a_probability_of_one_is_every_record_and_of_zero_is_none() {
    for mechanism in all_mechanisms() {
        for neighbours in NEIGHBOURS {
            let Ok(every) = dominating_pair(&mechanism, Sampling::Every, neighbours) else { continue };
            for sampling in [poisson(1.0), without_replacement(1.0)] {
                let sampled = dominating_pair(&mechanism, sampling, neighbours).unwrap();
                for e in [0.0, 0.31] {
                    let found = delta(&sampled, Direction::Forward, e);
                    assert_eq!(found, delta(&every, Direction::Forward, e));
                }
            }
        }
        if let Ok(none) = dominating_pair(&mechanism, poisson(0.0), Neighbours::AddOrRemoveOne) {
            for direction in Direction::BOTH {
                assert_eq!(delta(&none, direction, 0.0), Enclosure::ZERO);
            }
        }
    }
}

#[test]
fn extreme_parameters_give_pairs_or_errors_that_say_why() {
    let pair = |m: Mechanism| dominating_pair(&m, Sampling::Every, Neighbours::ReplaceOne);
    assert!(pair(gaussian(1e-309)).is_err_and(|e| e.to_string().contains("noise multiplier")));
    assert!(delta(&pair(gaussian(1e12)).unwrap(), Direction::Forward, 0.0).upper() < 1e-11);
    assert!(delta(&pair(gaussian(1e-3)).unwrap(), Direction::Forward, 1.0).lower() > 0.999999);
    let discrete =
        |sigma, sensitivity| pair(Mechanism::DiscreteGaussian { sigma: positive(sigma), sensitivity });
    assert!(discrete(1e6, 1).is_err_and(|e| e.to_string().contains("use the Gaussian")));
    assert!(discrete(1.0, u32::MAX).is_err_and(|e| e.to_string().contains("sensitivity")));
    assert_overlap(delta(&discrete(1.0, 0).unwrap(), Direction::Forward, 0.0), Enclosure::ZERO, ());
    for e in [0.0, f64::INFINITY] {
        let found =
            delta(&pair(Mechanism::Exponential { epsilon: epsilon(e) }).unwrap(), Direction::Forward, 1.0);
        assert_eq!(found.upper(), if e == 0.0 { 0.0 } else { 1.0 });
    }
}
