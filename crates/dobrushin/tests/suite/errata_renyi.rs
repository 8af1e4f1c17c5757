//! What the papers have wrong about Rényi divergences of noisy iterations, each with a run whose
//! divergence is known. The printed formulas live here only.

use crate::errata_support::chain::{Gaussian, Mixture, hockey_stick, renyi};
use crate::errata_support::{assert_reads, golden_value, grid, harmonic, smallest, theta};
use dobrushin::divergence::{GaussianPair, Pair};
use dobrushin::profile::RenyiBound;
use dobrushin::{Epsilon, NonNegative, RenyiOrder};
use dobrushin_reference::Real;

/// PAI Theorem 1 and PAC eq. (3) have the distance where its square belongs.
#[test]
fn the_initial_distance_enters_squared() {
    for (alpha, distance, steps) in [(2.0, 3.0, 1.0), (2.0, 3.0, 7.0), (1.5, 0.2, 1.0), (5.0, 40.0, 3.0)] {
        // Identity maps: N(0, T) and N(z, T).
        let exact =
            GaussianPair::new(distance, f64::sqrt(steps)).unwrap().renyi(RenyiOrder::new(alpha).unwrap());
        let printed = alpha * distance / (2.0 * steps);
        let corrected = alpha * distance * distance / (2.0 * steps);
        assert_eq!(exact.lower() > printed, distance > 1.0, "{exact} {printed}");
        assert!((exact.midpoint() - corrected).abs() <= 1e-12 * corrected);
        if steps == 1.0 && distance == 3.0 {
            assert!(exact.contains(9.0) && printed == 3.0);
        }
    }
}

/// Random stopping as PAI Theorem 26 and CED Theorem 7 have it, with L = 1.
fn printed(n: u32, alpha: f64, sigma: f64) -> f64 {
    4.0 * alpha * f64::from(n).ln() / (f64::from(n) * sigma * sigma)
}

/// The same with 1 + 1/2 + … + 1/n for ln n.
fn with_harmonic(n: u32, alpha: f64, sigma: f64) -> f64 {
    4.0 * alpha * harmonic(n) / (f64::from(n) * sigma * sigma)
}

/// ln[(1/n)·Σ e^((α−1)·2α/(σ²j))]/(α − 1): the exact divergence of the mixture over stopping times
/// that are seen.
fn mixed(n: u32, alpha: f64, sigma: f64) -> f64 {
    let c = (alpha - 1.0) * 2.0 * alpha / (sigma * sigma);
    let mean = (1..=n).map(|j| (c / f64::from(j)).exp()).sum::<f64>() / f64::from(n);
    mean.ln() / (alpha - 1.0)
}

/// Stopped at a random time; the record moves the first step by `own`, all others by `drift`.
fn stopped(n: u32, own: f64, drift: f64, sigma: f64) -> Mixture {
    let part = |t: u32| Gaussian {
        weight: 1.0 / f64::from(n),
        centre: own + drift * f64::from(t - 1),
        sigma: sigma * f64::from(t).sqrt(),
    };
    Mixture::new((1..=n).map(part).collect())
}

/// The least σ that PAI Theorem 26 allows for an order.
fn least_sigma(alpha: f64) -> f64 {
    (2.0 * alpha * (alpha - 1.0)).sqrt()
}

#[test]
fn one_randomly_stopped_step_is_not_free() {
    let (alpha, sigma) = (2.0, 2.0);
    assert!(sigma >= least_sigma(alpha));
    let exact = GaussianPair::new(2.0, sigma).unwrap().renyi(RenyiOrder::new(alpha).unwrap());
    assert!(exact.contains(1.0) && printed(1, alpha, sigma) == 0.0);
    assert_eq!(golden_value("003_thm26/printed/n=1/alpha=2"), 0.0);
    assert!((mixed(1, alpha, sigma) - 1.0).abs() < 1e-14 && with_harmonic(1, alpha, sigma) == 2.0);
}

/// The density of ½N(m, v) + ½N(m′, 2v), times √(2πv).
fn two_stops(y: &Real, first: i64, second: i64, variance: &Real) -> Real {
    let real = |n: i64| Real::from_i64(n, y.bits());
    let bell = |centre: i64, variance: &Real| {
        let z = y - &real(centre);
        (-(&z * &z) / (&real(2) * variance)).exp()
    };
    bell(first, variance) / real(2) + bell(second, &(&real(2) * variance)) / (&real(2) * &real(2).sqrt())
}

/// D_1.15 of two steps with the least noise allowed, for moves ±1 first and −1 then, by the
/// trapezoidal rule with a step of 2^(−fineness).
fn two_stops_divergence(fineness: i32) -> Real {
    let real = |n: i64| Real::from_i64(n, 160);
    let (variance, alpha) = (real(345) / real(1000), real(115) / real(100));
    let h = real(2).powi(-fineness);
    let mut sum = real(0);
    for i in -(16 << fineness)..=(16 << fineness) {
        let y = &real(i) * &h;
        let (ln_p, ln_q) = (two_stops(&y, 1, 0, &variance).ln(), two_stops(&y, -1, -2, &variance).ln());
        sum = sum + (&alpha * &ln_p + (&real(1) - &alpha) * &ln_q).exp();
    }
    let pi = Real::parse("3.14159265358979323846264338327950288419716939937511", 160).unwrap();
    let integral = sum * h / (real(2) * pi * variance).sqrt();
    integral.ln() / (alpha - real(1))
}

#[test]
fn two_randomly_stopped_steps_cost_more_than_a_logarithm() {
    let alpha = 1.15;
    let sigma = least_sigma(alpha);
    assert_reads(sigma, 0.58737, 1e-5);
    let exact = two_stops_divergence(4);
    let finer = two_stops_divergence(5);
    let error = (&exact - &finer).abs().to_f64();
    assert!(error < 1e-30, "{error:e}");
    let exact = exact.to_f64();
    assert_reads(exact, 4.71652, 1e-5);
    let again =
        renyi(&stopped(2, 1.0, -1.0, sigma), &stopped(2, -1.0, -1.0, sigma), alpha, (-16.0, 16.0), 4000);
    assert!((exact - again).abs() < 1e-11);
    assert_reads(printed(2, alpha, sigma), 4.62098, 1e-5);
    assert!(exact > printed(2, alpha, sigma));
    assert!(exact < mixed(2, alpha, sigma) && mixed(2, alpha, sigma) < with_harmonic(2, alpha, sigma));
}

#[test]
fn from_three_steps_on_the_logarithm_is_enough() {
    // With c = 2α(α − 1)/σ² ≤ 1 both sides are functions of n and c, convex and linear in c.
    let ratio = |n: u32| mixed(n, 2.0, 2.0) / printed(n, 2.0, 2.0);
    for (n, expected) in [(2, 1.127), (3, 0.891), (4, 0.817), (5, 0.781)] {
        assert_reads(ratio(n), expected, 1e-3);
    }
    for n in (3..200).chain([1000, 10_000, 100_000]) {
        assert!(ratio(n) < 0.9, "{n}");
        for alpha in [1.01, 1.5, 4.0] {
            for sigma in [1.0, 1.7, 10.0].map(|times| times * least_sigma(alpha)) {
                assert!(mixed(n, alpha, sigma) <= printed(n, alpha, sigma), "{n} {alpha} {sigma}");
            }
        }
    }
    for (n, alpha) in [(3, 1.5), (10, 1.5), (10, 2.0), (1000, 2.0)] {
        for (word, found) in [("printed", printed(n, alpha, 2.0)), ("mixture", mixed(n, alpha, 2.0))] {
            let value = golden_value(&format!("003_thm26/{word}/n={n}/alpha={alpha}"));
            assert!((found / value - 1.0).abs() < 1e-12, "{word} {n} {alpha}");
        }
    }
}

/// ln[(1/n)Σ e^…]/(α − 1) holds without any condition on σ.
#[test]
fn the_mixture_over_stopping_times_bounds_every_noise() {
    for (n, alpha) in [(1, 1.15), (2, 1.15), (2, 3.0), (5, 1.5), (5, 4.0)] {
        for sigma in [0.5, 1.0, 4.0] {
            for drift in [-1.0, 0.0, 1.0] {
                let (p, q) = (stopped(n, 1.0, drift, sigma), stopped(n, -1.0, drift, sigma));
                let reach = 12.0 * sigma * f64::from(n).sqrt() * alpha + 2.0 * f64::from(n);
                let exact = renyi(&p, &q, alpha, (-reach, reach), 8000);
                let bound = mixed(n, alpha, sigma);
                assert!(
                    !exact.is_finite() || exact <= bound * (1.0 + 1e-9),
                    "{n} {alpha} {sigma}: {exact} {bound}"
                );
            }
        }
    }
}

/// PAI Theorem 32 inherits ln n: with n = 1 its noise does not depend on the number of runs.
#[test]
fn many_runs_on_one_record_need_more_noise() {
    let (epsilon, delta) = (0.5_f64, 1e-5_f64);
    let log = (1.0 / delta).ln();
    let sigma = |n: u32, k: f64, count: f64| {
        let q = f64::max(2.0 * k * count / f64::from(n), 2.0 * log);
        4.0 * (q * log).sqrt() / epsilon
    };
    for (k, truth, unit) in [(100.0_f64, 2.95e-5, 1e-7), (1e4, 0.4447, 1e-4)] {
        let published = sigma(1, k, 0.0);
        assert_reads(published, 130.25, 1e-2);
        let exact = theta(epsilon, 2.0 * k.sqrt() / published);
        assert_reads(exact.midpoint(), truth, unit);
        assert!(exact.lower() > delta);
        let corrected = theta(epsilon, 2.0 * k.sqrt() / sigma(1, k, harmonic(1)));
        assert!(corrected.upper() <= delta);
    }
    // n ≥ 2: k mixtures and Mironov's conversion still give ε, at the order α = 4·ln(1/δ)/ε.
    for n in [2, 3, 10, 1000] {
        for (epsilon, delta) in [(0.99, 0.49), (0.5, 1e-5), (0.01, 1e-12), (0.99, 1e-3)] {
            for k in [1.0, 100.0, 1e6] {
                let log = f64::ln(1.0 / delta);
                let q = f64::max(2.0 * k * f64::from(n).ln() / f64::from(n), 2.0 * log);
                let (sigma, alpha) = (4.0 * (q * log).sqrt() / epsilon, 4.0 * log / epsilon);
                let total = k * mixed(n, alpha, sigma) + log / (alpha - 1.0);
                assert!(total <= epsilon, "{n} {epsilon} {delta} {k}: {total}");
            }
        }
    }
}

/// CED eq. (38) evaluates e^(−(α−1)(ε−ρα)) at an order below 1 when ε < ρ.
#[test]
fn an_order_below_one_converts_nothing() {
    let (n, sigma, epsilon) = (10, 0.2, 1.0);
    let rho = printed(n, 1.0, sigma);
    assert_reads(rho, 23.03, 1e-2);
    let most = 0.5 * (1.0 + (1.0 + 2.0 * sigma * sigma).sqrt());
    let order = f64::min(most, 0.5 + epsilon / (2.0 * rho));
    let published = (-(order - 1.0) * (epsilon - rho * order)).exp();
    assert!(order < 1.0);
    assert_reads(published, 0.00516, 1e-5);
    let exact = hockey_stick(
        &stopped(n, 1.0, 0.0, sigma),
        &stopped(n, -1.0, 0.0, sigma),
        f64::exp(epsilon),
        (-15.0, 15.0),
    );
    assert_reads(exact, 0.9304, 1e-4);
    assert!(exact > 100.0 * published);
    assert!(
        RenyiOrder::new(order)
            .is_ok_and(|order| RenyiBound::new(order, NonNegative::new(rho).unwrap()).is_err())
    );
    // With orders above 1 only, the same curve implies nothing at ε < ρ.
    let allowed = smallest(1.0, most, |alpha| f64::exp(-(alpha - 1.0) * (epsilon - rho * alpha)));
    assert!(allowed > 0.999);
    // And for ε > ρ it is right: the best order is above 1.
    let rho = with_harmonic(100, 1.0, 3.0);
    for epsilon in grid(0.1, 3.0, 29) {
        let at = |alpha: f64| f64::exp(-(alpha - 1.0) * (epsilon - rho * alpha));
        let bound =
            RenyiBound::new(RenyiOrder::new(2.0).unwrap(), NonNegative::new(2.0 * rho).unwrap()).unwrap();
        let epsilon = Epsilon::new(epsilon).unwrap();
        assert!((bound.delta_mironov(epsilon).midpoint() - at(2.0).min(1.0)).abs() < 1e-12);
        assert!(bound.delta(epsilon).upper() <= bound.delta_mironov(epsilon).upper());
    }
}

/// PAC Figure 2 says that its Proposition 1 with ρ = 0 is PAI Theorem 23: it is off by one step.
#[test]
fn the_strongly_convex_bound_counts_one_step_too_few() {
    let (n, sigma) = (40, 2.0);
    let proposition = |i: i32, m: f64| 2.0 * m.powi(n - i + 1) / (f64::from(n - i) * sigma * sigma);
    let theorem = |i: i32| 2.0 / (f64::from(n - i + 1) * sigma * sigma);
    let allocation = |i: i32, m: f64| {
        let sum: f64 = (0..=n - i).map(|j| m.powi(2 * j)).sum();
        2.0 * m.powi(2 * (n - i)) / (sigma * sigma * sum)
    };
    for i in [1, 39] {
        let golden = golden_value(&format!("001_fig2/prop1_kappa/i={i}"));
        assert!((proposition(i, 1.0) / golden - 1.0).abs() < 1e-12);
    }
    assert!((proposition(39, 1.0) / theorem(39) - 2.0).abs() < 1e-12);
    for i in 1..n {
        assert!((allocation(i, 1.0) / theorem(i) - 1.0).abs() < 1e-12);
        for m in [0.5, 0.9, 0.99, 1.0] {
            assert!(allocation(i, m) <= proposition(i, m));
        }
    }
}
