//! Shuffled reports: no exact divergence of real randomisers exceeds the bound, which is never above the closed form.

use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::Random;
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Enclosure, Epsilon};
use dobrushin_local::Shuffled;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

fn shuffled(epsilon: f64, n: u32) -> Shuffled {
    Shuffled::new(Epsilon::new(epsilon).unwrap(), count(n)).unwrap()
}

fn delta(profile: &Shuffled, epsilon: f64) -> Enclosure {
    profile.delta(Epsilon::new(epsilon).unwrap())
}

/// The law of the histogram of the reports on the given data.
fn histogram(randomiser: &[Vec<f64>], data: &[usize]) -> BTreeMap<Vec<u32>, f64> {
    let mut law = BTreeMap::from([(vec![0; randomiser[0].len()], 1.0)]);
    for &x in data {
        let mut next = BTreeMap::new();
        for (counts, p) in &law {
            for (z, q) in randomiser[x].iter().enumerate() {
                let mut counts = counts.clone();
                counts[z] += 1;
                *next.entry(counts).or_insert(0.0) += p * q;
            }
        }
        law = next;
    }
    law
}

/// E_γ between the histograms of all neighbouring data sets of n records, the largest.
fn exact(randomiser: &[Vec<f64>], n: usize, gamma: f64) -> f64 {
    let inputs = randomiser.len();
    let mut largest = 0.0_f64;
    // The order of the others does not matter.
    let mut others = vec![vec![]];
    for _ in 1..n {
        let longer = |data: &Vec<usize>| {
            let least = data.last().copied().unwrap_or(0);
            (least..inputs).map(|x| [data.as_slice(), &[x]].concat()).collect::<Vec<_>>()
        };
        others = others.iter().flat_map(longer).collect();
    }
    for rest in others {
        let laws: Vec<_> =
            (0..inputs).map(|x| histogram(randomiser, &[rest.as_slice(), &[x]].concat())).collect();
        for (x, p) in laws.iter().enumerate() {
            for q in laws[..x].iter().chain(&laws[x + 1..]) {
                let excess = p.iter().map(|(counts, p)| (p - gamma * q.get(counts).unwrap_or(&0.0)).max(0.0));
                largest = largest.max(excess.sum());
            }
        }
    }
    largest
}

/// Randomised response on k values.
fn response(k: usize, epsilon: f64) -> Vec<Vec<f64>> {
    let sum = epsilon.exp() + k as f64 - 1.0;
    let entry = |x: usize, z: usize| if x == z { epsilon.exp() / sum } else { 1.0 / sum };
    (0..k).map(|x| (0..k).map(|z| entry(x, z)).collect()).collect()
}

#[test]
fn no_histogram_of_randomised_responses_exceeds_the_bound() {
    for k in [2, 3] {
        for epsilon in [0.2, 1.0, 2.5, 5.0] {
            let rows = response(k, epsilon);
            let kernel = FiniteKernel::new(rows.clone()).unwrap();
            for n in 1..=6 {
                let general = shuffled(epsilon, n);
                let own = Shuffled::through(&kernel, count(n)).unwrap();
                for part in [0.0, 0.1, 0.3, 0.6, 0.9] {
                    let level = part * epsilon;
                    let truth = exact(&rows, n as usize, level.exp());
                    let (bound, better) = (delta(&general, level), delta(&own, level));
                    assert!(truth <= better.upper() + 1e-14, "{k} {epsilon} {n} {level}: {truth} {better}");
                    assert!(better.upper() <= bound.upper() * (1.0 + 1e-9), "{k} {epsilon} {n} {level}");
                    // Alone, randomised response attains it.
                    if n == 1 && k == 2 {
                        assert!((truth - bound.upper()).abs() < 1e-14 && bound.width() < 1e-14);
                    }
                }
            }
        }
    }
}

#[test]
fn no_histogram_of_random_randomisers_exceeds_the_bound() {
    let mut random = Random::new(11);
    for _ in 0..60 {
        let (inputs, outputs) = (2 + random.below(2), 2 + random.below(2));
        let row = |random: &mut Random| (0..outputs).map(|_| random.between(0.05, 1.0)).collect::<Vec<f64>>();
        let normalised = |row: Vec<f64>| {
            let sum: f64 = row.iter().sum();
            row.into_iter().map(|p| p / sum).collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = (0..inputs).map(|_| normalised(row(&mut random))).collect();
        let kernel = FiniteKernel::new(rows.clone()).unwrap();
        let epsilon = kernel.largest_log_ratio().upper();
        for n in [1, 2, 3, 5] {
            let own = Shuffled::through(&kernel, count(n)).unwrap();
            for part in [0.0, 0.2, 0.5, 0.8] {
                let truth = exact(&rows, n as usize, (part * epsilon).exp());
                let bound = delta(&own, part * epsilon);
                assert!(truth <= bound.upper() + 1e-14, "{n} {part}: {truth} {bound}");
                assert!(bound.upper() <= delta(&shuffled(epsilon, n), part * epsilon).upper() * (1.0 + 1e-9));
            }
        }
    }
}

/// E_γ of the pair with clones, from its definition.
fn by_definition(epsilon: f64, n: u32, level: f64) -> f64 {
    let (c, q) = ((-epsilon).exp(), epsilon.exp() / (epsilon.exp() + 1.0));
    let choose = |n: u32, k: u32| (1..=k).map(|i| f64::from(n + 1 - i) / f64::from(i)).product::<f64>();
    let binomial = |n: u32, k: u32, p: f64| {
        choose(n, k) * p.powi(k.cast_signed()) * (1.0 - p).powi((n - k).cast_signed())
    };
    let mut pair: BTreeMap<(u32, u32), [f64; 2]> = BTreeMap::new();
    for clones in 0..n {
        for a in 0..=clones {
            let p = binomial(n - 1, clones, c) * binomial(clones, a, 0.5);
            let [true_draw, other_draw] = [(a + 1, clones - a), (a, clones - a + 1)];
            let add = |law: usize, at: (u32, u32), p: f64, pair: &mut BTreeMap<_, [f64; 2]>| {
                pair.entry(at).or_insert([0.0; 2])[law] += p;
            };
            add(0, true_draw, p * q, &mut pair);
            add(0, other_draw, p * (1.0 - q), &mut pair);
            add(1, true_draw, p * (1.0 - q), &mut pair);
            add(1, other_draw, p * q, &mut pair);
        }
    }
    pair.values().map(|[p, q]| (p - level.exp() * q).max(0.0)).sum()
}

#[test]
fn the_value_is_that_of_the_definition() {
    for epsilon in [0.01, 0.5, 2.0, 4.0] {
        for n in [1, 2, 3, 10, 60, 200] {
            for part in [0.0, 0.05, 0.3, 0.7, 0.99] {
                let ours = delta(&shuffled(epsilon, n), part * epsilon);
                let truth = by_definition(epsilon, n, part * epsilon);
                let slack = 1e-13 + 1e-10 * truth;
                assert!(
                    (ours.lower() - slack..=ours.upper() + slack).contains(&truth),
                    "{epsilon} {n} {part}: {truth} {ours}"
                );
                assert!(ours.width() <= slack, "{epsilon} {n} {part}: {ours}");
            }
        }
    }
}

/// ln n!, by Stirling's series.
fn ln_factorial(n: usize) -> f64 {
    let n = n as f64;
    if n < 20.0 {
        return (1..=n as u32).map(|i| f64::from(i).ln()).sum();
    }
    (n + 0.5) * n.ln() - n + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3))
}

/// The same for many reports: the sum over all likely numbers of clones of what each leaves.
fn one_by_one(epsilon: f64, n: usize, level: f64) -> f64 {
    let (q, gamma) = (epsilon.exp() / (epsilon.exp() + 1.0), level.exp());
    let ln_binomial = |n: usize, k: usize, ln_p: f64, ln_other: f64| {
        ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k) + k as f64 * ln_p + (n - k) as f64 * ln_other
    };
    let half = 0.5f64.ln();
    let of_clones = |clones: usize| -> f64 {
        let weight = ln_binomial(n - 1, clones, -epsilon, (-(-epsilon).exp_m1()).ln()).exp();
        if weight < 1e-18 {
            return 0.0;
        }
        let mass = |a: usize| if a > clones { 0.0 } else { ln_binomial(clones, a, half, half).exp() };
        let last = (clones / 2 + 5 * (clones as f64).sqrt() as usize + 20).min(clones + 1);
        let mut before = mass((clones / 2).saturating_sub(1));
        let draws = (clones / 2..=last).map(|x| {
            let here = mass(x);
            let gap = q * before + (1.0 - q) * here - gamma * ((1.0 - q) * before + q * here);
            before = here;
            gap.max(0.0)
        });
        weight * draws.sum::<f64>()
    };
    (0..n).map(of_clones).sum()
}

#[test]
fn blocks_of_clones_enclose_the_value() {
    let (epsilon, n, level) = (0.5, 500_000, 0.004);
    let ours = delta(&shuffled(epsilon, n), level);
    let truth = one_by_one(epsilon, n as usize, level);
    assert!(ours.lower() * (1.0 - 1e-6) <= truth && truth <= ours.upper() * (1.0 + 1e-6), "{truth} {ours}");
    // Several numbers of clones share a block, and little is lost by that.
    assert!((2e-5..1e-3).contains(&ours.relative_width()), "{ours}");
}

/// Feldman, McMillan, Talwar (2021), Theorem 3.1, where it applies.
fn closed_form(epsilon: f64, n: f64, delta: f64) -> Option<f64> {
    let spread = 8.0 * (epsilon.exp() * (4.0 / delta).ln() / n).sqrt() + 8.0 * epsilon.exp() / n;
    let applies = epsilon <= (n / (16.0 * (2.0 / delta).ln())).ln();
    applies.then(|| (1.0 + (epsilon / 2.0).tanh() * spread).ln())
}

#[test]
fn the_number_is_never_above_the_closed_form() {
    let mut applied = 0;
    for n in [1_000, 100_000, 10_000_000] {
        for epsilon in [0.1, 1.0, 3.0, 6.0] {
            for target in [1e-4, 1e-9] {
                let Some(closed) = closed_form(epsilon, f64::from(n), target) else { continue };
                let profile = shuffled(epsilon, n);
                // δ at the closed form is what it promises, at most.
                assert!(delta(&profile, closed.min(epsilon)).upper() <= target, "{n} {epsilon} {target}");
                applied += 1;
            }
        }
    }
    assert!(applied > 10);
}

#[test]
fn more_reports_and_less_local_privacy_order_the_profiles() {
    for part in [0.01, 0.1, 0.5] {
        let mut before = f64::INFINITY;
        for n in [1, 2, 5, 30, 1_000, 50_000, 2_000_000] {
            let now = delta(&shuffled(2.0, n), part * 2.0);
            assert!(now.lower() <= before, "{n}");
            before = now.upper();
        }
    }
    let by_level = |epsilon: f64| delta(&shuffled(epsilon, 5_000), 0.05);
    assert!(by_level(0.5).lower() < by_level(1.0).upper() && by_level(1.0).lower() < by_level(3.0).upper());
}

#[test]
fn the_smallest_epsilon_meets_delta_and_a_smaller_one_does_not() {
    for (epsilon, n, target) in [(1.0, 50, 1e-2), (2.0, 10_000, 1e-6), (4.0, 200_000, 1e-8)] {
        let profile = shuffled(epsilon, n);
        let found = profile.epsilon(Delta::new(target).unwrap());
        assert!(found.upper() < epsilon && found.relative_width() < 1e-2, "{found}");
        assert!(delta(&profile, found.upper()).upper() <= target);
        assert!(delta(&profile, found.lower()).lower() > target);
    }
    assert_eq!(shuffled(1.0, 100).epsilon(Delta::new(0.9).unwrap()).upper(), 0.0);
    assert_eq!(delta(&shuffled(0.0, 100), 0.0).upper(), 0.0);
    assert_eq!(delta(&shuffled(1.0, 100), 1.0).upper(), 0.0);
}

#[test]
fn a_hundred_million_reports_are_computed() {
    let profile = shuffled(3.0, 100_000_000);
    let value = delta(&profile, 0.003);
    assert!(value.lower() > 0.0 && value.relative_width() < 1e-2, "{value}");
}

#[test]
fn what_cannot_be_shuffled_is_refused() {
    let revealing = FiniteKernel::new(vec![vec![1.0, 0.0], vec![0.5, 0.5]]).unwrap();
    let refused = Shuffled::through(&revealing, count(5)).unwrap_err();
    assert_eq!(refused.to_string(), "epsilon is inf, but it must be finite");
}
