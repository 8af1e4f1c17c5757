//! The composition of mechanisms against closed forms, exact enumeration and naive convolution.

use dobrushin::divergence::{DiscretePair, FiniteLaw};
use dobrushin::kernel::FiniteKernel;
use dobrushin::loss::{
    Composition, DominatingPair, Exchanged, FiniteLoss, GaussianLoss, LaplaceLoss, LossLaw, Part,
    PoissonLoss, Split,
};
use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
use dobrushin::numeric::Random;
use dobrushin::numeric::theta;
use dobrushin::profile::{
    ComposedCurve, Direction, GaussianProfile, PrivacyProfile, RenyiProfile, SubsampledGaussian,
};
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative, Positive, Probability};
use dobrushin_reference::depth;
use std::sync::Arc;

fn positive(x: f64) -> Positive {
    Positive::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

/// A law without what is known of it: it must be composed on a grid.
struct Opaque<Law>(Law);

impl<Law: LossLaw> LossLaw for Opaque<Law> {
    fn split(&self, loss: Enclosure) -> Split {
        self.0.split(loss)
    }
}

fn symmetric(law: impl LossLaw + 'static, count: u64) -> Part {
    Part { pair: DominatingPair::symmetric(Arc::new(law)), count }
}

fn gaussian(ratio: f64, count: u64) -> Part {
    symmetric(Opaque(GaussianLoss::new(positive(ratio))), count)
}

/// Gaussian noise and Poisson sampling, a record added or removed.
fn sampled(noise: f64, rate: f64, count: u64) -> Part {
    let law = || {
        let gaussian = GaussianLoss::new(positive(1.0 / noise));
        PoissonLoss::new(gaussian, Probability::new(rate).unwrap()).unwrap()
    };
    Part { pair: DominatingPair::new(Arc::new(law()), Arc::new(Exchanged(law()))), count }
}

/// A number of which no end is missing or out of range.
fn assert_sane(value: Enclosure, most: f64, context: &str) {
    let ordered = 0.0 <= value.lower() && value.lower() <= value.upper() && value.upper() <= most;
    assert!(ordered, "{context}: {value}");
}

#[test]
fn the_reference_setting_of_training_is_enclosed_tightly() {
    // σ = 1, q = 0.01. δ is a contour integral of the loss's moment generating function through
    // the saddle point, computed with two quadratures in double precision that agree to all
    // these digits; a fine grid of another accountant gives the first four of the first four.
    let known = [
        (1_000, 1e-5, 1.828_236_67),
        (10_000, 1e-5, 6.187_712_39),
        (100_000, 1e-5, 25.573_106_99),
        (1_000_000, 1e-5, 139.030_272_6),
        (100_000, 1e-10, 34.617_021_6),
        (100_000, 1e-14, 40.226_821_7),
        (10_000, 1e-20, 13.879_772_7),
    ];
    for (steps, at, value) in known {
        for tolerance in [1e-4, 1e-5] {
            let composition = Composition::new(vec![sampled(1.0, 0.01, steps)]).with_tolerance(tolerance);
            let computed = composition.epsilon(delta(at));
            assert!(computed.contains(value), "{steps}, {at:e}: {value} in {computed}");
            assert!(computed.relative_width() <= 1.5 * tolerance, "{steps}, {at:e}: {computed}");
        }
    }
}

#[test]
fn every_use_of_every_mechanism_counts() {
    let kernel = FiniteKernel::new(vec![vec![0.5, 0.3, 0.2], vec![0.2, 0.5, 0.3]]).unwrap();
    let mechanisms = [
        Mechanism::Gaussian { noise_multiplier: positive(5.0) },
        Mechanism::Laplace { noise_multiplier: positive(5.0) },
        Mechanism::DiscreteGaussian { sigma: positive(5.0), sensitivity: 1 },
        Mechanism::DiscreteLaplace { scale: positive(5.0), sensitivity: 1 },
        Mechanism::RandomisedResponse { epsilon: epsilon(0.5) },
        Mechanism::KaryRandomisedResponse { epsilon: epsilon(0.5), categories: 5 },
        Mechanism::Exponential { epsilon: epsilon(0.5) },
        Mechanism::Channel(kernel),
        Mechanism::Approximate { epsilon: epsilon(0.5), delta: delta(1e-9) },
        Mechanism::Profile(Arc::new(GaussianProfile::new(NonNegative::new(0.3).unwrap()))),
    ];
    for (kind, mechanism) in mechanisms.iter().enumerate() {
        for sampling in [Sampling::Every, Sampling::WithoutReplacement(Probability::new(0.1).unwrap())] {
            let pair = dominating_pair(mechanism, sampling, Neighbours::ReplaceOne).unwrap();
            let after =
                |count: u64| Composition::new(vec![Part { pair: pair.clone(), count }]).epsilon(delta(1e-5));
            let [one, ten, hundred] = [1, 10, 100].map(after);
            let context = format!("{kind}, {sampling:?}: {one}, {ten}, {hundred}");
            assert!(one.upper() < ten.lower() && ten.upper() < hundred.lower(), "{context}");
            // ε grows at most in proportion to the uses, and by half at least from ten to a hundred.
            assert!(hundred.lower() <= 100.0 * one.upper() + 1.0, "{context}");
            assert!(hundred.upper() >= 1.5 * ten.upper(), "{context}");
        }
    }
}

#[test]
fn a_gaussian_part_is_counted_also_where_its_square_is_no_number() {
    let beside = |ratio: f64, count: u64| {
        let gaussian = symmetric(GaussianLoss::new(positive(ratio)), count);
        Composition::new(vec![symmetric(LaplaceLoss::new(positive(0.1)), 3), gaussian])
    };
    for (ratio, count) in [(1e200, 1), (1e154, 1_000)] {
        let revealed = beside(ratio, count);
        assert_eq!(revealed.epsilon(delta(1e-5)).upper(), f64::INFINITY, "{ratio:e}");
        assert_eq!(revealed.delta(epsilon(1.0)).upper(), 1.0, "{ratio:e}");
    }
    // Two Gaussians hidden so well change nothing that can be seen.
    let alone = Composition::new(vec![symmetric(LaplaceLoss::new(positive(0.1)), 3)]).epsilon(delta(1e-5));
    for ratio in [1e-170, 1e-300] {
        let hidden = beside(ratio, 1).epsilon(delta(1e-5));
        assert!(hidden.intersect(alone).is_some() && hidden.relative_width() < 1e-2, "{ratio:e}: {hidden}");
    }
}

#[test]
fn opaque_gaussians_compose_as_the_closed_form_says() {
    let settings = [
        (1e-3, 1),
        (1e-3, 1_000_000),
        (0.02, 1000),
        (0.1, 41),
        (0.1, 12_345),
        (0.3, 7),
        (1.0, 1),
        (1.0, 100),
        (5.0, 3),
    ];
    for (ratio, count) in settings {
        let composition = Composition::new(vec![gaussian(ratio, count)]);
        let mu = ratio * (count as f64).sqrt();
        let mu = Enclosure::new(mu.next_down(), mu.next_up()).unwrap();
        for target in [0.3, 1e-2, 1e-5, 1e-12, 1e-60] {
            let ends = [mu.lower(), mu.upper()]
                .map(|mu| theta::smallest_epsilon(NonNegative::new(mu).unwrap(), delta(target)));
            let truth = ends[0].hull(ends[1]);
            let computed = composition.epsilon(delta(target));
            let context = format!("r = {ratio}, T = {count}, δ = {target:e}: {computed}, truly {truth}");
            assert!(computed.intersect(truth).is_some(), "{context}");
            // Relative to ε, or where ε is nearly 0 to the deviation of the loss.
            assert!(computed.width() <= 1e-3 * truth.upper().max(0.1 * mu.upper()), "{context}");
            if truth.upper() > 0.0 {
                let truth = theta::theta_range(epsilon(truth.upper()).into(), mu);
                let computed = composition.delta(epsilon(ends[0].hull(ends[1]).upper()));
                assert!(computed.intersect(truth).is_some(), "{context}; δ {computed}, truly {truth}");
            }
        }
    }
}

#[test]
fn different_gaussians_compose_as_the_closed_form_says() {
    // Counts that leave a remainder when a few losses are added at a time, and that do not.
    let mut random = Random::new(11);
    for round in 0..40 {
        let parts = 2 + random.below(3);
        let settings: Vec<(f64, u64)> = (0..parts)
            .map(|_| (random.log_between(0.01, 1.0), random.log_between(1.0, 2000.0) as u64))
            .collect();
        let squares = settings.iter().map(|(r, t)| Enclosure::from(*r).square() * Enclosure::from(*t as f64));
        let mu = squares.sum::<Enclosure>().sqrt();
        let target = 10f64.powi(-(1 + random.below(12) as i32));
        let truth =
            mu.map_monotone(|mu| theta::smallest_epsilon(NonNegative::new(mu).unwrap(), delta(target)));
        let composition = Composition::new(settings.iter().map(|(r, t)| gaussian(*r, *t)).collect());
        let computed = composition.epsilon(delta(target));
        let context = format!("{round}: {settings:?}, δ = {target:e}: {computed}, truly {truth}");
        assert!(computed.intersect(truth).is_some(), "{context}");
        assert!(computed.relative_width() <= 1e-3, "{context}");
    }
}

/// Probabilities in units of 2⁻⁴⁰ that sum to 1 exactly.
fn dyadic(units: &[u64]) -> Vec<f64> {
    assert_eq!(units.iter().sum::<u64>(), 1 << 40);
    units.iter().map(|&n| n as f64 / (1u64 << 40) as f64).collect()
}

/// The probabilities of the same outcomes under P and under Q.
type TwoLaws = (Vec<f64>, Vec<f64>);

/// Two laws on a few outcomes, of one of many kinds.
fn finite_pair(random: &mut Random) -> TwoLaws {
    let outcomes = 2 + random.below(4);
    let kind = random.below(4);
    let law = |random: &mut Random, sparse: bool| -> Vec<u64> {
        let mut units: Vec<u64> = (1..outcomes)
            .map(|_| match random.below(if sparse { 4 } else { 3 }) {
                0 => 1 + random.below(1 << 30) as u64,
                1 => (random.log_between(1.0, (1u64 << 37) as f64)) as u64,
                2 => 1 << (random.below(37)),
                _ => 0,
            })
            .collect();
        units.push((1 << 40) - units.iter().sum::<u64>());
        let place = random.below(outcomes);
        units.swap(place, outcomes - 1);
        units
    };
    let p = law(random, kind == 0);
    let q = if kind == 1 {
        // Nearly the same law: losses of about 2⁻¹⁰ to 2⁻³⁰.
        let mut q = p.clone();
        let (from, to) = (random.below(outcomes), random.below(outcomes));
        let moved = q[from] >> (10 + random.below(20));
        q[from] -= moved;
        q[to] += moved;
        q
    } else {
        law(random, kind == 0)
    };
    (dyadic(&p), dyadic(&q))
}

/// E_γ of a product of laws by enumeration, and a bound on the error of that.
///
/// A product of at most six probabilities and γ errs by 7 units, their difference by one more,
/// and a sum of n terms by n units of the sum of their sizes.
fn enumerated(factors: &[TwoLaws], gamma: f64) -> (f64, f64) {
    let mut outcomes = vec![(1.0, 1.0)];
    for (p, q) in factors {
        outcomes = outcomes
            .iter()
            .flat_map(|(x, y)| p.iter().zip(q).map(move |(p, q)| (x * p, y * q)))
            .filter(|(x, _)| *x > 0.0)
            .collect();
    }
    let value: f64 = outcomes.iter().map(|(p, q)| (p - gamma * q).max(0.0)).sum();
    let sizes: f64 =
        outcomes.iter().filter(|(p, q)| *p >= 0.999 * gamma * q).map(|(p, q)| p + gamma * q).sum();
    (value, 10.0 * f64::EPSILON * sizes + outcomes.len() as f64 * f64::EPSILON * value)
}

fn finite_part((p, q): &TwoLaws, count: u64) -> Part {
    let law = |name, masses: &Vec<f64>| FiniteLaw::new(name, masses.clone()).unwrap();
    let pair = DiscretePair::new(law("P", p), law("Q", q)).unwrap();
    let reverse = FiniteLoss::from_pair(&pair.reversed());
    Part { pair: DominatingPair::new(Arc::new(FiniteLoss::from_pair(&pair)), Arc::new(reverse)), count }
}

#[test]
fn products_of_finite_laws_are_enclosed_in_both_directions() {
    let mut random = Random::new(7);
    for round in 0..25 {
        let parts: Vec<(TwoLaws, u64)> = (0..1 + random.below(3))
            .map(|_| (finite_pair(&mut random), 1 + random.below(2) as u64))
            .collect();
        let composition =
            Composition::new(parts.iter().map(|(pair, count)| finite_part(pair, *count)).collect());
        for direction in Direction::BOTH {
            let factors: Vec<_> = parts
                .iter()
                .flat_map(|((p, q), count)| {
                    let pair = match direction {
                        Direction::Forward => (p.clone(), q.clone()),
                        Direction::Reverse => (q.clone(), p.clone()),
                    };
                    vec![pair; *count as usize]
                })
                .collect();
            for _ in 0..3 {
                let at = if random.below(2) == 0 {
                    random.log_between(1e-3, 30.0)
                } else {
                    random.between(0.0, 3.0)
                };
                let (truth, error) = enumerated(&factors, at.exp());
                let computed = composition.delta_of(direction, epsilon(at));
                let context =
                    format!("{round}, {direction:?}: {parts:?} at ε = {at}: {computed}, truly {truth:e}");
                // γ = e^ε is rounded too.
                let error = error + 4.0 * f64::EPSILON * (1.0 + at);
                assert!(computed.lower() <= truth + error && computed.upper() >= truth - error, "{context}");
                assert_sane(computed, 1.0, &context);
            }
            for target in [random.log_between(1e-14, 1.0), random.log_between(1e-3, 0.5)] {
                let computed = composition.epsilon_of(direction, delta(target));
                let context = format!("{round}, {direction:?}: {parts:?} at δ = {target:e}: {computed}");
                assert_sane(computed, f64::INFINITY, &context);
                if computed.upper() < 700.0 {
                    let (met, error) = enumerated(&factors, computed.upper().exp());
                    assert!(met <= target + error + 1e-15, "{context}, δ is {met:e}");
                }
                let (missed, error) = enumerated(&factors, computed.lower().min(700.0).exp());
                assert!(
                    computed.lower() == 0.0 || missed >= target - error - 1e-15,
                    "{context}, δ is {missed:e}"
                );
            }
        }
    }
}

#[test]
fn one_finite_pair_is_enclosed_tightly() {
    // δ(ε) = 0.6 − 0.5e^ε and 0.05 = δ(ln 1.1).
    let pair = (vec![0.6, 0.4], vec![0.5, 0.5]);
    let composition = Composition::new(vec![finite_part(&pair, 1)]);
    let computed = composition.epsilon_of(Direction::Forward, delta(0.05));
    assert!(computed.contains(1.1f64.ln()) && computed.relative_width() <= 1e-3, "{computed}");
    let computed = composition.delta_of(Direction::Forward, epsilon(0.0));
    assert!((computed.lower() - 0.1).abs() <= 1e-4 && (computed.upper() - 0.1).abs() <= 1e-4, "{computed}");
}

#[test]
fn a_rare_large_loss_is_not_lost_to_underflow() {
    // Loss 1 with probability w, else nearly 0: δ(ε) = w(1 − e^(ε−1)).
    for w in [1e-6, 1e-20, 1e-30, 1e-40, 1e-50] {
        let rare = w * (-1f64).exp();
        let pair = (vec![1.0 - w, w], vec![1.0 - rare, rare]);
        let composition = Composition::new(vec![finite_part(&pair, 1)]);
        for part in [0.9f64, 0.1, 1e-2, 1e-3, 1e-6] {
            let computed = composition.epsilon_of(Direction::Forward, delta(w * part));
            let truth = (1.0 + (-part).ln_1p()).max(0.0);
            assert!(computed.lower() <= truth + 1e-9, "w = {w:e}, δ = {part:e}w: {computed}, truly {truth}");
            assert!(computed.upper() >= truth - 1e-9, "w = {w:e}, δ = {part:e}w: {computed}, truly {truth}");
            let distribution = composition.distribution(Direction::Forward, delta(w * part));
            for i in 1..400 {
                let at = 1.0 - 1e-4 * f64::from(i);
                let (truth, computed) = (-w * (at - 1.0).exp_m1(), distribution.delta(epsilon(at)));
                assert!(computed.upper() >= truth * (1.0 - 1e-9), "w = {w:e}: {computed}, truly {truth:e}");
                assert!(computed.lower() <= truth * (1.0 + 1e-9), "w = {w:e}: {computed}, truly {truth:e}");
            }
        }
    }
}

/// δ(ε) of T randomised responses: the loss is (2K − T)ε₀ with K binomial. Relative error below
/// 1e-8: logarithms below 1e7 are summed with an error of 1e-10 at most.
fn responses(single: f64, count: u64, at: f64) -> f64 {
    let (p, q) = (1.0 / (1.0 + (-single).exp()), 1.0 / (1.0 + single.exp()));
    let (mut log_binomial, mut lost, mut sum) = (0.0f64, 0.0f64, 0.0);
    for k in 0..=count {
        let loss = (2.0 * k as f64 - count as f64) * single;
        if loss > at {
            let log_mass = (log_binomial + lost) + k as f64 * p.ln() + (count - k) as f64 * q.ln();
            sum += log_mass.exp() * -(at - loss).exp_m1();
        }
        let term = ((count - k) as f64 / (k + 1) as f64).ln();
        let next = log_binomial + term;
        lost += if log_binomial.abs() > term.abs() {
            (log_binomial - next) + term
        } else {
            (term - next) + log_binomial
        };
        log_binomial = next;
    }
    sum
}

#[test]
fn randomised_responses_compose_as_the_binomial_law_says() {
    for single in [1e-3, 0.1, 1.0, 5.0] {
        for count in [1, 2, 7, 100, 4_097, 100_000] {
            let law = FiniteLoss::randomised_response(epsilon(single));
            let composition = Composition::new(vec![symmetric(law, count)]);
            for target in [0.1, 1e-5, 1e-12] {
                let computed = composition.epsilon(delta(target));
                let context = format!("ε₀ = {single}, T = {count}, δ = {target:e}: {computed}");
                assert_sane(computed, single * count as f64 * (1.0 + 1e-12), &context);
                let met = responses(single, count, computed.upper());
                assert!(met <= target * (1.0 + 1e-8), "{context}: δ at the upper end is {met:e}");
                let missed = responses(single, count, computed.lower());
                let missed = computed.lower() == 0.0 || missed >= target * (1.0 - 1e-8);
                assert!(missed, "{context}: the lower end meets δ");
                let deviation = single * (count as f64).sqrt();
                assert!(computed.width() <= 1e-3 * computed.upper().max(0.1 * deviation), "{context}");
            }
        }
    }
}

/// δ(ε) of one Laplace mechanism, for every sign of ε.
fn laplace_delta(ratio: f64, at: f64) -> f64 {
    if at >= ratio {
        0.0
    } else if at >= -ratio {
        -((at - ratio) / 2.0).exp_m1()
    } else {
        -at.exp_m1()
    }
}

/// The mean of f(L) for one Laplace mechanism: atoms 1/2 at r and e^(−r)/2 at −r, density
/// e^((ℓ−r)/2)/4 between, integrated from kink to kink.
fn laplace_mean(ratio: f64, kinks: &[f64], f: &dyn Fn(f64) -> f64) -> f64 {
    let mut ends: Vec<f64> =
        kinks.iter().copied().filter(|x| x.abs() < ratio).chain([-ratio, ratio]).collect();
    ends.sort_by(f64::total_cmp);
    // Gauss's rule with five points on eight panels: exact to rounding for these exponentials.
    const NODES: [(f64, f64); 3] = [
        (0.0, 0.568_888_888_888_888_9),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
        (0.906_179_845_938_664, 0.236_926_885_056_189_1),
    ];
    let density = |loss: f64| 0.25 * ((loss - ratio) / 2.0).exp() * f(loss);
    let panel = |middle: f64, half: f64| {
        let pair = |(x, w): &(f64, f64)| match *x {
            0.0 => w * density(middle),
            x => w * (density(middle - half * x) + density(middle + half * x)),
        };
        half * NODES.iter().map(pair).sum::<f64>()
    };
    let smooth = |a: f64, b: f64| {
        let half = (b - a) / 16.0;
        (0..8).map(|i| panel(a + half * f64::from(2 * i + 1), half)).sum::<f64>()
    };
    let between: f64 = ends.windows(2).map(|pair| smooth(pair[0], pair[1])).sum();
    0.5 * f(ratio) + 0.5 * (-ratio).exp() * f(-ratio) + between
}

#[test]
fn a_few_laplace_mechanisms_compose_as_integration_says() {
    for ratio in [0.1, 0.5, 1.0, 3.0] {
        let two =
            |at: f64| laplace_mean(ratio, &[at - ratio, at + ratio], &|loss| laplace_delta(ratio, at - loss));
        let three = |at: f64| {
            let kinks = [at - 2.0 * ratio, at, at - ratio, at + ratio, at + 2.0 * ratio];
            laplace_mean(ratio, &kinks, &|loss| two(at - loss))
        };
        for share in [0.01, 0.3, 0.7, 1.1, 1.6, 1.9, 2.5, 2.9] {
            let at = share * ratio;
            for (count, truth) in [(2, two(at)), (3, three(at))] {
                let part = symmetric(LaplaceLoss::new(positive(ratio)), count);
                let computed = Composition::new(vec![part]).delta(epsilon(at));
                let context = format!("r = {ratio}, T = {count}, ε = {at}: {computed}, truly {truth:e}");
                assert!(computed.lower() <= truth + 1e-10 && computed.upper() >= truth - 1e-10, "{context}");
                assert!(computed.width() <= 1e-3 * truth + 1e-6 * ratio, "{context}");
            }
        }
    }
}

/// δ(ε) of T Laplace mechanisms with every loss moved to the nearest point above, or below.
fn rounded_laplace(ratio: f64, count: usize, at: f64, upwards: bool) -> f64 {
    let cells = 800usize;
    let step = 2.0 * ratio / cells as f64;
    let cumulative = |i: usize| 0.5 * ((i as f64 * step - 2.0 * ratio) / 2.0).exp();
    let mut one = vec![0.0; cells + 1];
    one[0] += cumulative(0);
    one[cells] += 0.5;
    for i in 0..cells {
        one[if upwards { i + 1 } else { i }] += cumulative(i + 1) - cumulative(i);
    }
    let mut law = vec![1.0];
    for _ in 0..count {
        let mut next = vec![0.0; law.len() + cells];
        for (i, x) in law.iter().enumerate().filter(|(_, x)| **x > 1e-30) {
            for (sum, y) in next[i..].iter_mut().zip(&one) {
                *sum += x * y;
            }
        }
        law = next;
    }
    let loss = |i: usize| i as f64 * step - count as f64 * ratio;
    law.iter().enumerate().map(|(i, mass)| mass * -(at - loss(i)).min(0.0).exp_m1()).sum()
}

#[test]
fn many_laplace_mechanisms_lie_between_two_naive_roundings() {
    for (ratio, at) in [(0.1, 0.3), (0.1, 1.0), (0.5, 4.0), (1.0, 12.0)] {
        let part = symmetric(LaplaceLoss::new(positive(ratio)), 20);
        let computed = Composition::new(vec![part]).delta(epsilon(at));
        let [lower, upper] = [false, true].map(|upwards| rounded_laplace(ratio, 20, at, upwards));
        let context = format!("r = {ratio}, ε = {at}: {computed} against [{lower:e}, {upper:e}]");
        assert!(
            computed.lower() <= upper * (1.0 + 1e-9) && computed.upper() >= lower * (1.0 - 1e-9),
            "{context}"
        );
        assert!(computed.relative_width() <= 1e-2, "{context}");
    }
}

#[test]
fn order_and_grouping_do_not_matter() {
    let same = |a: Vec<Part>, b: Vec<Part>| {
        for target in [1e-3, 1e-8] {
            let [a, b] = [&a, &b].map(|parts| Composition::new(parts.clone()).epsilon(delta(target)));
            assert!(a.intersect(b).is_some(), "{a} and {b}");
        }
    };
    let (a, b) = (sampled(1.0, 0.02, 300), symmetric(LaplaceLoss::new(positive(0.1)), 47));
    same(vec![a.clone(), b.clone()], vec![b.clone(), a.clone()]);
    same(vec![sampled(1.0, 0.02, 300)], vec![sampled(1.0, 0.02, 259), sampled(1.0, 0.02, 41)]);
    same(vec![gaussian(0.1, 100)], vec![gaussian(0.1, 53), gaussian(0.1, 47)]);
    same(vec![a.clone()], vec![a, Part { count: 0, ..b }]);
}

#[test]
fn nothing_composed_is_perfectly_private() {
    for parts in [vec![], vec![sampled(1.0, 0.1, 0)]] {
        let composition = Composition::new(parts);
        assert_eq!(composition.epsilon(delta(1e-5)), Enclosure::ZERO);
        assert_eq!(composition.delta(epsilon(0.0)), Enclosure::ZERO);
        let distribution = composition.distribution(Direction::Forward, delta(1e-5));
        assert!(distribution.epsilon(delta(1e-5)).contains(0.0));
    }
    for count in [1, 1000] {
        let composition = Composition::new(vec![symmetric(FiniteLoss::identical(), count)]);
        assert_sane(composition.epsilon(delta(1e-5)), 1e-3, "identical laws");
        assert_sane(composition.delta(epsilon(0.1)), 1e-3, "identical laws");
        assert!(composition.epsilon(delta(0.0)).contains(0.0));
    }
}

#[test]
fn more_steps_a_higher_rate_and_less_noise_are_never_more_private() {
    let at = |noise, rate, steps| Composition::new(vec![sampled(noise, rate, steps)]).epsilon(delta(1e-6));
    let chains = [
        [at(1.0, 0.01, 100), at(1.0, 0.01, 150), at(1.0, 0.01, 1000)],
        [at(1.0, 0.001, 500), at(1.0, 0.004, 500), at(1.0, 0.05, 500)],
        [at(4.0, 0.02, 200), at(2.0, 0.02, 200), at(0.7, 0.02, 200)],
    ];
    for [a, b, c] in chains {
        assert!(a.lower() <= b.upper() && b.lower() <= c.upper() && a.upper() < c.lower(), "{a} {b} {c}");
    }
}

#[test]
fn the_smallest_deltas_are_no_worse_than_renyi_says() {
    for steps in [1_000, 10_000] {
        let composition = Composition::new(vec![sampled(1.0, 0.01, steps)]);
        let curve = SubsampledGaussian::new(Probability::new(0.01).unwrap(), positive(1.0)).unwrap();
        let renyi = RenyiProfile::new(ComposedCurve::repeated(steps, curve));
        let mut before = 0.0;
        for target in [1e-5, 1e-14, 1e-20, 1e-30] {
            let (computed, bound) = (composition.epsilon(delta(target)), renyi.epsilon(delta(target)));
            let context = format!("T = {steps}, δ = {target:e}: {computed} against {bound}");
            assert_sane(computed, bound.upper(), &context);
            assert!(computed.lower() > before && computed.relative_width() <= 1e-3, "{context}");
            before = computed.lower();
        }
    }
}

/// Fails unless every question is answered with an interval.
fn ask_everything(noise: f64, rate: f64, steps: u64) {
    let composition = Composition::new(vec![sampled(noise, rate, steps)]);
    for target in [0.0, 1e-300, 1e-100, 1e-12, 1e-5, 0.5, 1.0] {
        let context = format!("σ = {noise}, q = {rate}, T = {steps}, δ = {target:e}");
        assert_sane(composition.epsilon(delta(target)), f64::INFINITY, &context);
    }
    for at in [0.0, 1e-300, 1e-12, 1e-3, 1.0, 100.0, 1e6, 1e100, f64::MAX, f64::INFINITY] {
        let context = format!("σ = {noise}, q = {rate}, T = {steps}, ε = {at:e}");
        assert_sane(composition.delta(epsilon(at)), 1.0, &context);
    }
}

#[test]
fn very_many_steps_are_answered_with_bounds() {
    ask_everything(1.0, 0.01, 1_000_000);
    ask_everything(1.0, 0.01, 1_000_000_000);
    ask_everything(1.0, 0.01, u64::MAX);
}

#[test]
fn very_rare_and_certain_sampling_are_answered_with_bounds() {
    ask_everything(1.0, 1.0, 1000);
    for &steps in depth(&[1_000_000][..], &[1, 1_000, 1_000_000]) {
        ask_everything(1.0, 1e-9, steps);
    }
}

#[test]
fn very_little_and_very_much_noise_are_answered_with_bounds() {
    ask_everything(0.03, 0.01, 10);
    ask_everything(0.03, 1e-6, 1);
    ask_everything(1e4, 0.01, 1_000);
    ask_everything(1e4, 1e-9, 1_000);
}

#[test]
fn a_distribution_is_asked_for_any_epsilon_and_any_delta() {
    for parts in
        [vec![gaussian(1.0, 3)], vec![sampled(1.0, 0.01, 1)], vec![sampled(0.5, 0.1, 100), gaussian(0.1, 3)]]
    {
        let composition = Composition::new(parts);
        for made_for in [0.0, 1e-300, 1e-20, 1e-5, 0.5, 1.0] {
            let distribution = composition.distribution(Direction::Forward, delta(made_for));
            for at in [0.0, 1e-300, 0.1, 1e3, 1e20, f64::MAX, f64::INFINITY] {
                assert_sane(distribution.delta(epsilon(at)), 1.0, &format!("{made_for:e}, {at:e}"));
            }
            for target in [0.0, 1e-300, 1e-30, 0.1, 1.0] {
                assert_sane(
                    distribution.epsilon(delta(target)),
                    f64::INFINITY,
                    &format!("{made_for:e}, {target:e}"),
                );
            }
        }
    }
}

#[test]
fn delta_falls_is_convex_and_the_upper_end_of_epsilon_meets_delta() {
    let composition = Composition::new(vec![sampled(0.8, 0.02, 400)]);
    for direction in Direction::BOTH {
        let at = |x: f64| composition.delta_of(direction, epsilon(x));
        let values: Vec<(f64, Enclosure)> =
            (2..16).map(|i| 0.25 * f64::from(i)).map(|x| (x, at(x))).collect();
        for pair in values.windows(2) {
            assert!(pair[1].1.lower() <= pair[0].1.upper(), "{direction:?}: {pair:?}");
        }
        for three in values.windows(3) {
            let [(a, left), (b, middle), (c, right)] = three else { unreachable!() };
            let share = (c.exp() - b.exp()) / (c.exp() - a.exp());
            let chord = share * left.upper() + (1.0 - share) * right.upper();
            assert!(middle.lower() <= chord * (1.0 + 1e-12), "{direction:?}: {three:?}");
        }
        for target in [0.1, 1e-4, 1e-9, 1e-25] {
            let found = composition.epsilon_of(direction, delta(target));
            let met = at(found.upper());
            assert!(met.lower() <= target, "{direction:?}, δ = {target:e}: {met}");
            assert!(
                found.lower() == 0.0 || at(found.lower()).upper() >= target,
                "{direction:?}, δ = {target:e}"
            );
        }
    }
}

#[test]
fn mass_at_infinite_losses_composes() {
    // (ε₀, δ₀)-DP composed: at ε = Tε₀ only 1 − (1 − δ₀)^T is left.
    for (single, told, count) in [(0.1, 1e-6f64, 1), (0.1, 1e-6, 100), (1.0, 1e-3, 1000), (0.5, 1e-30, 3)] {
        let law = FiniteLoss::approximate(epsilon(single), delta(told));
        let composition = Composition::new(vec![symmetric(law, count)]);
        let left = -(count as f64 * (-told).ln_1p()).exp_m1();
        for beyond in [1.0 + 1e-12, 1.0 + 1e-9, 1.01, 2.0] {
            let computed = composition.delta(epsilon(single * count as f64 * beyond));
            let context =
                format!("ε₀ = {single}, δ₀ = {told:e}, T = {count}, {beyond}: {computed}, truly {left:e}");
            assert!(
                computed.lower() <= left * (1.0 + 1e-9) && computed.upper() >= left * (1.0 - 1e-9),
                "{context}"
            );
        }
        assert_eq!(composition.epsilon(delta(left * 0.999)).upper(), f64::INFINITY);
    }
}

#[test]
fn each_direction_of_a_pair_counts_for_itself() {
    let law = |ratio: f64| Arc::new(GaussianLoss::new(positive(ratio)));
    let part = Part { pair: DominatingPair::new(law(0.5), law(2.0)), count: 1 };
    let computed = Composition::new(vec![part]).epsilon_of(Direction::Reverse, delta(1e-5));
    let truth = theta::smallest_epsilon(NonNegative::new(2.0).unwrap(), delta(1e-5));
    assert!(computed.intersect(truth).is_some(), "{computed}, truly {truth}");
}
