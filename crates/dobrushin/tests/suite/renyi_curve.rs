//! Rényi curves and the (ε, δ) they imply, against arbitrary precision and exact profiles.

use crate::laws::Random;
use dobrushin::divergence::{DiscretePair, FiniteLaw, GaussianPair, LaplacePair, Pair};
use dobrushin::numeric::theta;
use dobrushin::profile::{
    AtOrder, ComposedCurve, ConcentratedCurve, Direction, PairCurve, PrivacyProfile, RenyiBound, RenyiCurve,
    RenyiProfile, SubsampledGaussian, renyi_of_profile,
};
use dobrushin::{Delta, Enclosure, Epsilon, Gamma, NonNegative, Positive, Probability, RenyiOrder};
use dobrushin_reference::{Real, is_inside};

/// For logarithms of numbers within 1e-30 of 1.
const BITS: usize = 320;

fn number(x: f64) -> Real {
    Real::from_f64(x, BITS)
}

fn sampled(rate: f64, ratio: f64) -> SubsampledGaussian {
    SubsampledGaussian::with_ratio(Probability::new(rate).unwrap(), Enclosure::from(ratio)).unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

fn run(rate: f64, sigma: f64, steps: u64) -> RenyiProfile<ComposedCurve> {
    let step = SubsampledGaussian::new(Probability::new(rate).unwrap(), Positive::new(sigma).unwrap());
    RenyiProfile::new(ComposedCurve::repeated(steps, step.unwrap()))
}

/// ln Σ C(α, k)·(1−q)^(α−k)·q^k·e^(k(k−1)r²/2).
fn binomial_log_moment(q: f64, r: f64, alpha: i32) -> Real {
    let (q, half) = (number(q), number(r) * number(r) / number(2.0));
    let kept = number(1.0) - &q;
    let mut sum = number(0.0);
    let mut coefficient = kept.powi(alpha);
    for k in 0..=alpha {
        sum = sum + &coefficient * (number(f64::from(k)) * number(f64::from(k) - 1.0) * &half).exp();
        let ratio = number(f64::from(alpha - k)) / number(f64::from(k + 1));
        coefficient = coefficient * ratio * &q / &kept;
    }
    sum.ln()
}

/// ln ∫ φ(x)·(1 − q + q·e^(rx − r²/2))^p dx as a sum with many nodes, shifted by a third of the
/// step, in arbitrary precision.
fn integrated_log_moment(q: f64, r: f64, p: f64, step: f64) -> Real {
    let (q, r, p, h) = (number(q), number(r), number(p), number(step));
    let kept = number(1.0) - &q;
    let reach = (&p * &r).to_f64();
    let (first, last) = (((reach.min(0.0) - 22.0) / step) as i32, ((reach.max(0.0) + 22.0) / step) as i32);
    let two = number(2.0);
    let mut sum = number(0.0);
    for node in first..=last {
        let x = (number(f64::from(node)) + number(1.0) / number(3.0)) * &h;
        let ratio = &kept + &q * (&r * &x - &r * &r / &two).exp();
        sum = sum + (&p * ratio.ln() - &x * &x / &two).exp();
    }
    // √(2π) is the same sum with p = 0.
    let mut whole = number(0.0);
    for node in (-22.0 / step) as i32..=(22.0 / step) as i32 {
        let x = (number(f64::from(node)) + number(1.0) / number(3.0)) * &h;
        whole = whole + (-(&x * &x) / &two).exp();
    }
    (sum / whole).ln()
}

fn assert_encloses(found: Enclosure, truth: &Real, width: f64, input: &str) {
    assert!(
        is_inside(found.lower(), found.upper(), truth),
        "{input}: {:e} is not in {found}",
        truth.to_f64()
    );
    assert!(found.relative_width() <= width, "{input}: {found} is {:e} wide", found.relative_width());
}

#[test]
fn integer_orders_are_the_binomial_sum() {
    let mut random = Random::new(101);
    for case in 0..150 {
        let alpha = 2 + random.below(if case % 10 == 0 { 300 } else { 40 }) as i32;
        let (q, r) = (random.log_between(1e-9, 0.999), random.log_between(1e-3, 8.0));
        let found = sampled(q, r).log_moment(Direction::Forward, f64::from(alpha));
        assert_encloses(found, &binomial_log_moment(q, r, alpha), 1e-11, &format!("{q:e} {r} {alpha}"));
    }
}

#[test]
fn extreme_moments_neither_overflow_nor_lose_their_digits() {
    for (q, r, alpha) in [
        (1e-9, 30.0, 1000),
        (1e-9, 30.0, 2),
        (0.5, 33.0, 20),
        (1e-12, 1e-3, 2),
        (1e-9, 1e-6, 3),
        (0.3, 1e-6, 1000),
        (0.999_999, 5.0, 50),
        (0.01, 90.0, 7),
        (1e-5, 0.05, 600),
    ] {
        let found = sampled(q, r).log_moment(Direction::Forward, f64::from(alpha));
        let truth = binomial_log_moment(q, r, alpha);
        assert_encloses(found, &truth, 1e-11, &format!("{q:e} {r:e} {alpha}"));
    }
    // Where the quadrature gives up the bounds are wider.
    for (q, r, alpha) in [(0.01, 150.0, 3), (0.7, 1000.0, 9)] {
        let found = sampled(q, r).log_moment(Direction::Forward, f64::from(alpha));
        assert_encloses(found, &binomial_log_moment(q, r, alpha), 1e-6, &format!("{q:e} {r:e} {alpha}"));
        let reverse = sampled(q, r).log_moment(Direction::Reverse, f64::from(alpha));
        assert!(reverse.contains((1.0 - f64::from(alpha)) * (-q).ln_1p()) && reverse.relative_width() < 1e-6);
    }
}

#[test]
fn every_real_order_is_enclosed_in_both_directions() {
    let mut random = Random::new(102);
    for case in 0..36 {
        let below = random.log_between(1e-4, 30.0);
        let alpha = 1.0 + below;
        let below = alpha - 1.0;
        let q =
            if case % 6 == 0 { 1.0 - random.log_between(1e-7, 0.5) } else { random.log_between(1e-7, 0.9) };
        let r = random.log_between(0.02, 3.0);
        let curve = sampled(q, r);
        for (direction, power) in [(Direction::Forward, alpha), (Direction::Reverse, -below)] {
            let truth = integrated_log_moment(q, r, power, 0.125 / r.max(1.0));
            let found = curve.log_moment(direction, alpha);
            assert_encloses(found, &truth, 1e-11, &format!("{direction:?} {q:e} {r} {alpha}"));
            let roughly = curve.log_moment_roughly(direction, alpha);
            assert!(
                (roughly / truth.to_f64() - 1.0).abs() < 1e-6,
                "{direction:?} {q:e} {r} {alpha} {roughly}"
            );
        }
    }
}

#[test]
fn with_the_record_first_the_divergence_is_never_smaller() {
    let mut random = Random::new(103);
    for _ in 0..500 {
        let (q, r) = (random.log_between(1e-8, 1.0), random.log_between(1e-3, 20.0));
        let order = 1.0 + random.log_between(1e-3, 1e4);
        let [forward, reverse] = Direction::BOTH.map(|direction| sampled(q, r).log_moment(direction, order));
        assert!(forward.upper() >= reverse.lower(), "{q:e} {r} {order}: {forward} {reverse}");
        assert!(forward.lower() >= 0.0 && reverse.lower() >= 0.0);
    }
}

#[test]
fn moments_are_convex_in_the_order_and_increase_with_rate_and_ratio() {
    let mut random = Random::new(104);
    for _ in 0..300 {
        let (q, r) = (random.log_between(1e-6, 0.9), random.log_between(1e-2, 10.0));
        let order = 1.0 + random.log_between(1e-2, 300.0);
        let gap = (order - 1.0) * random.between(0.01, 0.9);
        for direction in Direction::BOTH {
            let at = |order: f64| sampled(q, r).log_moment(direction, order);
            let (low, middle, high) = (at(order - gap), at(order), at(order + gap));
            assert!(2.0 * middle.lower() <= (low.upper() + high.upper()) * (1.0 + 1e-12), "{q} {r} {order}");
            let larger =
                |q: f64, r: f64| sampled(q, r).log_moment(direction, order).upper() >= middle.lower();
            assert!(larger(q * 1.05, r) && larger(q, r * 1.05), "{direction:?} {q} {r} {order}");
        }
    }
}

#[test]
fn no_profile_undercuts_the_exact_one_of_a_single_step() {
    let mut random = Random::new(105);
    for _ in 0..300 {
        let (q, r) = (random.log_between(1e-5, 0.9), random.log_between(0.05, 4.0));
        let profile = RenyiProfile::new(sampled(q, r));
        let epsilon = random.log_between(1e-4, 5.0);
        let gamma = epsilon.exp();
        // δ(ε) = q·θ(ln(1 + (γ−1)/q)) forward, and (1 − γ(1−q))₊·θ(ln(γq/(1 − γ(1−q)))) reverse.
        let level = |e: f64| theta::theta(Epsilon::new(e).unwrap(), NonNegative::new(r).unwrap()).lower();
        let forward = q * level(((gamma - 1.0) / q).ln_1p());
        let left = 1.0 - gamma * (1.0 - q);
        let reverse = if left > 0.0 { left * level((gamma * q / left).ln().max(0.0)) } else { 0.0 };
        for (direction, truth) in [(Direction::Forward, forward), (Direction::Reverse, reverse)] {
            let bound = profile.delta_of(direction, Epsilon::new(epsilon).unwrap());
            assert!(
                truth <= bound.upper() * (1.0 + 1e-9),
                "{direction:?} {q} {r} {epsilon}: {truth} {bound}"
            );
            if truth > 1e-300 {
                let enough = profile.epsilon_of(direction, delta(truth)).upper();
                assert!(enough >= epsilon * (1.0 - 1e-9), "{direction:?} {q} {r} {epsilon}: {enough}");
            }
        }
    }
}

#[test]
fn gaussian_curves_are_close_to_and_never_below_the_gaussian_profile() {
    for r in [1e-6, 0.03, 0.5, 1.0, 4.0, 30.0] {
        let profile = RenyiProfile::new(ConcentratedCurve::gaussian(Enclosure::from(r)));
        let same = RenyiProfile::new(sampled(1.0, r));
        for target in [1e-300, 1e-20, 1e-14, 1e-5, 0.1] {
            let truth = theta::smallest_epsilon(NonNegative::new(r).unwrap(), delta(target));
            let found = profile.epsilon(delta(target));
            assert!(found.upper() >= truth.lower(), "{r} {target:e}: {found} below {truth}");
            assert!(
                found.upper() <= truth.upper() * 1.4 + 0.4 * r,
                "{r} {target:e}: {found} far from {truth}"
            );
            let other = same.epsilon(delta(target)).upper();
            assert!((found.upper() - other).abs() <= 1e-12 * other, "{r} {target:e}: {found} {other}");
        }
    }
}

#[test]
fn the_search_finds_the_best_order() {
    let mut random = Random::new(106);
    for _ in 0..40 {
        let (q, sigma) = (random.log_between(1e-4, 0.5), random.log_between(0.5, 10.0));
        let steps = random.log_between(1.0, 1e6) as u64;
        let profile = run(q, sigma, steps);
        let AtOrder { value, order } = profile.epsilon_at_best_order(Direction::Forward, delta(1e-5));
        let at = |order: f64| {
            let moment = profile.curve().log_moment(Direction::Forward, order).upper();
            let divergence = NonNegative::new(moment / (order - 1.0)).unwrap();
            let bound = RenyiBound::new(RenyiOrder::new(order).unwrap(), divergence).unwrap();
            bound.epsilon(delta(1e-5)).upper()
        };
        assert!((at(order) - value.upper()).abs() <= 1e-9 * value.upper(), "{q} {sigma} {steps}");
        for i in -300..=300 {
            let other = 1.0 + (order - 1.0) * 1.02f64.powi(i);
            if other < 1e9 {
                let least = at(other) * (1.0 + 1e-5);
                assert!(
                    value.upper() <= least,
                    "{q} {sigma} {steps}: {value} at {order}, {least} at {other}"
                );
            }
        }
    }
}

#[test]
fn epsilon_increases_with_steps_rate_and_ratio_and_falls_with_delta() {
    let mut random = Random::new(107);
    for _ in 0..150 {
        let (q, sigma) = (random.log_between(1e-4, 0.5), random.log_between(0.3, 10.0));
        let steps = random.log_between(1.0, 1e6) as u64;
        let target = random.log_between(1e-12, 1e-2);
        let found = run(q, sigma, steps).epsilon(delta(target)).upper();
        assert!(found.is_finite() && found >= 0.0);
        for more in [
            run(q, sigma, steps + 1 + steps / 50).epsilon(delta(target)),
            run(q * 1.01, sigma, steps).epsilon(delta(target)),
            run(q, sigma / 1.01, steps).epsilon(delta(target)),
            run(q, sigma, steps).epsilon(delta(target / 1.01)),
        ] {
            assert!(found <= more.upper() * (1.0 + 1e-7), "{q} {sigma} {steps} {target:e}: {found} {more}");
        }
    }
}

#[test]
fn delta_and_epsilon_are_inverse_to_each_other() {
    let mut random = Random::new(108);
    for _ in 0..100 {
        let profile = run(
            random.log_between(1e-4, 0.5),
            random.log_between(0.5, 10.0),
            random.log_between(1.0, 1e5) as u64,
        );
        let target = random.log_between(1e-30, 1e-2);
        let epsilon = profile.epsilon(delta(target));
        if epsilon.upper() > 0.0 {
            let back = profile.delta(Epsilon::new(epsilon.upper()).unwrap());
            assert!(back.upper() <= target * (1.0 + 1e-4), "{target:e}: {epsilon} {back}");
            let logarithm = profile.log_delta(Epsilon::new(epsilon.upper()).unwrap());
            assert!(logarithm.contains(back.upper().ln()) || (logarithm.upper() - target.ln()).abs() < 1e-3);
        }
    }
}

#[test]
fn the_edges_are_answered() {
    let never_wrong = |found: Enclosure, input: &str| {
        assert!(found.lower() >= 0.0 && !found.upper().is_nan(), "{input}: {found}");
    };
    for q in [0.0, 1e-300, 1e-9, 0.5, 1.0 - 1e-16, 1.0] {
        for sigma in [0.03, 1.0, 1e6, 1e200] {
            for steps in [0, 1, 1_000_000_000, u64::MAX] {
                let profile = run(q, sigma, steps);
                for target in [0.0, 5e-324, 1e-300, 1e-20, 1e-14, 0.1, 1.0] {
                    let found = profile.epsilon(delta(target));
                    never_wrong(found, &format!("{q} {sigma} {steps} {target:e}"));
                    if q == 0.0 || steps == 0 || target == 1.0 {
                        assert_eq!(found, Enclosure::ZERO, "{q} {sigma} {steps} {target:e}");
                    } else if target == 0.0 {
                        assert_eq!(found, Enclosure::INFINITE, "{q} {sigma} {steps}");
                    } else {
                        assert!(found.upper() < f64::INFINITY, "{q} {sigma} {steps} {target:e}: {found}");
                    }
                    let reverse = profile.epsilon_of(Direction::Reverse, delta(target));
                    never_wrong(reverse, &format!("reverse {q} {sigma} {steps} {target:e}"));
                }
                for epsilon in [0.0, 1e-300, 1.0, 800.0, 1e300, f64::INFINITY] {
                    let found = profile.delta(Epsilon::new(epsilon).unwrap());
                    never_wrong(found, &format!("{q} {sigma} {steps} at {epsilon}"));
                    assert!(found.upper() <= 1.0);
                }
            }
        }
    }
    for order in [1.0, 0.5, f64::NAN, f64::INFINITY] {
        assert_eq!(sampled(0.1, 1.0).log_moment(Direction::Forward, order), Enclosure::ENTIRE);
    }
}

#[test]
fn laplace_and_finite_pairs_compose() {
    let laplace = LaplacePair::new(1.0, 2.0).unwrap();
    let five = RenyiProfile::new(ComposedCurve::repeated(5, PairCurve::symmetric(laplace)));
    // Pure privacy adds up, and is what is left at δ = 0.
    assert_eq!(five.epsilon(delta(0.0)), Enclosure::from(2.5));
    let some = five.epsilon_at_best_order(Direction::Forward, delta(1e-3));
    assert!(some.value.upper() < 2.47 && some.order > 1.0 && some.order < 1e3, "{some:?}");
    let one = RenyiProfile::new(PairCurve::symmetric(laplace));
    for epsilon in [0.0, 0.1, 0.4] {
        let truth = laplace.hockey_stick(Gamma::from_epsilon(epsilon).unwrap());
        assert!(one.delta(Epsilon::new(epsilon).unwrap()).upper() >= truth.lower());
    }
    // Two tosses of a coin: the product law is also a finite pair.
    let (p, q) = ([0.75, 0.25], [0.4375, 0.5625]);
    let law = |masses: &[f64]| FiniteLaw::new("law", masses.to_vec()).unwrap();
    let pair = DiscretePair::new(law(&p), law(&q)).unwrap();
    let product = |m: [f64; 2]| law(&[m[0] * m[0], m[0] * m[1], m[1] * m[0], m[1] * m[1]]);
    let both = DiscretePair::new(product(p), product(q)).unwrap();
    let curve = |pair: &DiscretePair| PairCurve::new(pair.clone(), pair.reversed());
    for direction in Direction::BOTH {
        for order in [1.5, 2.0, 17.0] {
            let sum = ComposedCurve::repeated(2, curve(&pair)).log_moment(direction, order);
            let whole = curve(&both).log_moment(direction, order);
            assert!(sum.intersect(whole).is_some() && sum.relative_width() < 1e-12, "{sum} {whole}");
        }
    }
    let mixed = ComposedCurve::repeated(3, sampled(0.1, 1.0)).then(2, curve(&pair));
    let parts = [
        sampled(0.1, 1.0).log_moment(Direction::Reverse, 3.0),
        curve(&pair).log_moment(Direction::Reverse, 3.0),
    ];
    let sum = Enclosure::from(3.0) * parts[0] + Enclosure::from(2.0) * parts[1];
    assert!(mixed.log_moment(Direction::Reverse, 3.0).intersect(sum).is_some());
    assert!(!mixed.forward_is_larger() && !mixed.is_symmetric());
}

/// The profile of a pair of laws.
struct OfPair<P>(P);

impl<P: Pair + Send + Sync> PrivacyProfile for OfPair<P> {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.log_delta_of(direction, epsilon).exp()
    }
    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        match (Gamma::from_epsilon(epsilon.get()), direction) {
            (Ok(gamma), Direction::Forward) => self.0.ln_hockey_stick(gamma),
            (Ok(gamma), Direction::Reverse) => self.0.hockey_stick_reversed(gamma).ln(),
            _ => -Enclosure::INFINITE,
        }
    }
    fn is_symmetric(&self) -> bool {
        false
    }
}

#[test]
fn a_profile_gives_back_its_divergences() {
    for r in [0.01, 0.3, 1.0, 3.0] {
        let profile = OfPair(GaussianPair::new(r, 1.0).unwrap());
        for order in [1.1, 2.0, 7.5, 60.0] {
            let found = renyi_of_profile(&profile, Direction::Forward, order);
            let truth = order * r * r / 2.0;
            assert!(found.contains(truth) && found.relative_width() < 1e-3, "{r} {order}: {found} {truth}");
        }
    }
    let laplace = LaplacePair::new(1.5, 1.0).unwrap();
    for order in [1.5, 4.0, 100.0] {
        let truth = laplace.renyi(RenyiOrder::new(order).unwrap());
        let found = renyi_of_profile(&OfPair(laplace), Direction::Reverse, order);
        assert!(
            found.intersect(truth).is_some() && found.relative_width() < 1e-2,
            "{order}: {found} {truth}"
        );
    }
    let law = |masses: &[f64]| FiniteLaw::new("law", masses.to_vec()).unwrap();
    let pair = DiscretePair::new(law(&[0.75, 0.125, 0.125]), law(&[0.25, 0.625, 0.125])).unwrap();
    for (direction, pair_of) in [(Direction::Forward, pair.clone()), (Direction::Reverse, pair.reversed())] {
        for order in [1.5, 4.0] {
            let truth = pair_of.renyi(RenyiOrder::new(order).unwrap());
            let found = renyi_of_profile(&OfPair(pair.clone()), direction, order);
            assert!(
                found.intersect(truth).is_some() && found.relative_width() < 1e-2,
                "{order}: {found} {truth}"
            );
        }
    }
    // An outcome that only P can produce.
    let escaping = DiscretePair::new(law(&[0.5, 0.5]), law(&[1.0, 0.0])).unwrap();
    let found = renyi_of_profile(&OfPair(escaping), Direction::Forward, 2.0);
    assert_eq!(found.upper(), f64::INFINITY);
}
