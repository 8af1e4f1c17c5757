//! Gaussian and Laplace pairs against arbitrary precision and the golden file.

use crate::laws::*;
use dobrushin::divergence::{GaussianPair, LaplacePair, Pair};
use dobrushin::{Delta, Enclosure, Gamma, RenyiOrder};
use dobrushin_reference::golden;
use dobrushin_reference::{Real, theta};

fn wide(x: f64) -> Real {
    Real::from_f64(x, 1024)
}

/// Distances from far below to far beyond one noise scale.
const DISTANCES: [f64; 12] = [1e-100, 1e-12, 1e-8, 1e-3, 0.3, 1.0, 2.0, 9.0, 40.0, 300.0, 650.0, 900.0];

fn laplace(t: f64) -> LaplacePair {
    LaplacePair::new(t, 1.0).unwrap()
}

fn gaussian(r: f64) -> GaussianPair {
    GaussianPair::new(r, 1.0).unwrap()
}

#[test]
fn golden_laplace_values_are_inside() {
    let mut count = 0;
    for entry in golden().iter().filter(|e| e["id"].as_str().unwrap().starts_with("laplace_hs/")) {
        let number = |key: &str| entry["params"][key].as_str().unwrap().parse::<f64>().unwrap();
        let (epsilon, t) = (number("eps"), number("r"));
        // The golden arguments are decimals, so the truth is recomputed for the f64s.
        let exponent = (wide(epsilon) - wide(t)) / 2;
        let truth = positive_part(-exponent.exp_m1());
        let found = laplace(t).hockey_stick(Gamma::from_epsilon(epsilon).unwrap());
        assert_inside(found, &truth, (epsilon, t));
        let printed: f64 = entry["value"].as_str().unwrap().parse().unwrap();
        assert!((found.midpoint() - printed).abs() <= 1e-15 * printed + 1e-17, "{entry} {found}");
        count += 1;
    }
    assert!(count >= 70);
}

#[test]
fn golden_gaussian_values_are_inside() {
    let mut count = 0;
    for entry in golden().iter().filter(|e| e["id"].as_str().unwrap().starts_with("theta/")) {
        let number = |key: &str| entry["params"][key].as_str().unwrap().parse::<f64>().unwrap();
        let (epsilon, r) = (number("eps"), number("r"));
        let pair = gaussian(r);
        let (up, down) = (Gamma::from_epsilon(epsilon).unwrap(), Gamma::from_epsilon(-epsilon).unwrap());
        let truth = theta(epsilon, r);
        assert_inside(pair.hockey_stick(up), &truth, (epsilon, r));
        // For γ < 1 it is γ·E_{1/γ}, in both directions.
        let below = truth * (-Real::from_f64(epsilon, BITS)).exp();
        assert_inside(pair.hockey_stick(down), &below, (epsilon, r));
        assert_inside(pair.hockey_stick_reversed(down), &below, (epsilon, r));
        count += 1;
    }
    assert!(count >= 90);
}

#[test]
fn laplace_below_one_is_the_reversed_divergence() {
    let mut random = Random::new(21);
    for _ in 0..2_000 {
        let (t, epsilon) = (random.log_between(1e-3, 100.0), random.between(0.0, 20.0));
        let at = -(((wide(epsilon) - wide(t)) / 2).exp_m1());
        let truth = positive_part(at) * (-wide(epsilon)).exp();
        assert_inside(laplace(t).hockey_stick(Gamma::from_epsilon(-epsilon).unwrap()), &truth, (t, epsilon));
    }
}

#[test]
fn laplace_divergences_keep_their_digits_at_any_distance() {
    let mut random = Random::new(22);
    let distances = DISTANCES.into_iter().chain((0..1_000).map(|_| random.log_between(1e-140, 690.0)));
    for t in distances.collect::<Vec<_>>() {
        let (pair, x) = (laplace(t), wide(t));
        let kl = (-&x).exp_m1() + &x;
        let chi = (x.exp() * 2 + (&x * -2).exp()) / 3 - 1;
        let half = &x / 2;
        let hellinger = int(2) - (-&half).exp() * (half + 1) * 2;
        for (found, truth) in
            [(pair.kl(), kl), (pair.chi_squared(), chi), (pair.hellinger_squared(), hellinger)]
        {
            assert_inside(found, &truth, t);
            assert!(found.relative_width() < 1e-14 || t > 650.0, "{found} at {t}");
        }
    }
}

/// (α−1)·D_α of Laplace laws at distance t.
fn laplace_log_moment(alpha: f64, t: f64) -> Real {
    let (a, t) = (wide(alpha), wide(t));
    if alpha == 0.5 {
        return (&t / 2 + 1).ln() - t / 2;
    }
    let sum = &a * (&(&a - 1) * &t).exp() + (&a - 1) * (-(&a * &t)).exp();
    (sum / (a * 2 - 1)).ln()
}

#[test]
fn laplace_renyi_divergences_contain_the_closed_form() {
    let mut random = Random::new(23);
    let orders = [
        1e-6,
        0.25,
        0.5,
        0.5f64.next_up(),
        0.5f64.next_down(),
        0.5001,
        0.999,
        1.0f64.next_up(),
        1.0f64.next_down(),
        1.0 + 1e-9,
        1.5,
        2.0,
        33.0,
        1e4,
    ];
    for case in 0..3_000 {
        let t = DISTANCES.get(case).copied().unwrap_or_else(|| random.log_between(1e-60, 900.0));
        let alpha = if random.below(3) == 0 {
            random.log_between(1e-3, 1e3)
        } else {
            orders[random.below(orders.len())]
        };
        let found = laplace(t).renyi(RenyiOrder::new(alpha).unwrap());
        let truth = laplace_log_moment(alpha, t) / (wide(alpha) - 1);
        assert_inside(found, &truth, (alpha, t));
        let tight = (alpha - 0.5).abs() > 0.1 || alpha == 0.5 || t > 0.1;
        assert!(found.relative_width() < 1e-12 || !tight, "{found} at {alpha}, {t}");
    }
}

#[test]
fn renyi_limits_are_those_of_the_pair() {
    for t in [1e-3, 1.0, 30.0] {
        for pair in [&laplace(t) as &dyn Pair, &gaussian(t)] {
            let at = |alpha: f64| pair.renyi(RenyiOrder::new(alpha).unwrap());
            assert_eq!(at(1.0), pair.kl());
            assert!((at(1.0 + 1e-10).midpoint() / pair.kl().midpoint() - 1.0).abs() < 1e-8 * (1.0 + t));
            let chi = pair.chi_squared().ln_1p();
            assert!(at(2.0).intersect(chi).unwrap().relative_width() < 1e-13, "{} {chi}", at(2.0));
            let two = Enclosure::from(2.0);
            let hellinger = -(two * (-(pair.hellinger_squared() / two)).ln_1p());
            assert!(at(0.5).lower() <= hellinger.upper() && hellinger.lower() <= at(0.5).upper());
            let orders = [0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 50.0];
            assert!(orders.windows(2).all(|w| at(w[0]).upper() < at(w[1]).lower() + 1e-15 * t));
        }
        assert_eq!(laplace(t).renyi(RenyiOrder::new(f64::INFINITY).unwrap()).upper(), t);
        assert_eq!(gaussian(t).renyi(RenyiOrder::new(f64::INFINITY).unwrap()), Enclosure::INFINITE);
    }
}

#[test]
fn gaussian_divergences_keep_their_digits_at_any_distance() {
    let mut random = Random::new(24);
    for _ in 0..1_000 {
        let (r, alpha) = (random.log_between(1e-120, 26.0), random.log_between(1e-3, 1e3));
        let (pair, square) = (gaussian(r), wide(r).powi(2));
        let values = [
            (pair.kl(), &square / 2),
            (pair.chi_squared(), square.exp_m1()),
            (pair.hellinger_squared(), (-(&square / 8)).exp_m1() * -2),
            (pair.renyi(RenyiOrder::new(alpha).unwrap()), &square / 2 * wide(alpha)),
        ];
        for (found, truth) in values {
            assert_inside(found, &truth, (r, alpha));
            assert!(found.relative_width() < 1e-12, "{found} at {r}");
        }
    }
}

#[test]
fn limits_at_no_distance_and_at_infinity() {
    for pair in [&laplace(0.0) as &dyn Pair, &gaussian(0.0)] {
        let order = RenyiOrder::new(3.0).unwrap();
        let all = [pair.total_variation(), pair.kl(), pair.chi_squared(), pair.hellinger_squared()];
        assert!(all.iter().all(|d| *d == Enclosure::ZERO) && pair.renyi(order) == Enclosure::ZERO);
    }
    for pair in [&laplace(f64::INFINITY) as &dyn Pair, &gaussian(f64::INFINITY)] {
        assert_eq!(pair.total_variation(), Enclosure::ONE);
        assert!(pair.hellinger_squared().contains(2.0));
        for d in [pair.kl(), pair.chi_squared(), pair.renyi(RenyiOrder::new(0.5).unwrap())] {
            assert_eq!(d, Enclosure::INFINITE);
        }
    }
}

#[test]
fn smallest_epsilon_is_on_the_private_side() {
    let mut random = Random::new(25);
    for _ in 0..500 {
        let (t, delta) = (random.log_between(1e-3, 20.0), random.log_between(1e-12, 1.0));
        for pair in [&laplace(t) as &dyn Pair, &gaussian(t)] {
            let epsilon = pair.smallest_epsilon(Delta::new(delta).unwrap());
            let at = |e: f64| pair.hockey_stick(Gamma::from_epsilon(e).unwrap());
            assert!(at(epsilon.upper()).lower() <= delta && epsilon.width() < 1e-9, "{epsilon} {t} {delta}");
            assert!(epsilon.lower() == 0.0 || at(epsilon.lower()).upper() >= delta);
            let truth = positive_part(wide(t) + (int(1) - wide(delta)).ln() * 2);
            assert_inside(laplace(t).smallest_epsilon(Delta::new(delta).unwrap()), &truth, (t, delta));
        }
    }
}
