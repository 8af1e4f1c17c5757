//! What the papers have wrong about how much noise a given (ε, δ) needs. The printed formulas live
//! here only.

use crate::errata_support::chain::{Law, hockey_stick};
use crate::errata_support::{assert_reads, golden_value, grid, smallest, theta};
use dobrushin::numeric::theta::smallest_noise;
use dobrushin::profile::RenyiBound;
use dobrushin::{Delta, Epsilon, NonNegative, Positive, RenyiOrder};

/// σ = 2L·√(2·ln(1.25/δ))/ε, with L = 1.
fn classical_sigma(epsilon: f64, delta: f64) -> f64 {
    2.0 * (2.0 * (1.25 / delta).ln()).sqrt() / epsilon
}

/// The δ that this noise has.
fn classical_delta(epsilon: f64, delta: f64) -> f64 {
    theta(epsilon, 2.0 / classical_sigma(epsilon, delta)).midpoint()
}

/// PAI Lemma 27 and Theorem 29 use the classical formula for every ε.
#[test]
fn the_classical_formula_fails_for_large_epsilon() {
    assert_reads(classical_delta(10.0, 1e-5), 2.265e-5, 1e-8);
    assert_reads(classical_delta(10.0, 0.1), 0.4056, 1e-4);
    for (delta, id) in [(1e-5, "1e-5"), (0.1, "0.1")] {
        let golden = golden_value(&format!("003_lemma27/true_delta/eps=10/delta={id}"));
        assert!((classical_delta(10.0, delta) / golden - 1.0).abs() < 1e-12);
    }
    for (delta, first, id) in [
        (0.1, 5.7426, Some("0.1")),
        (1e-2, 6.7718, None),
        (1e-5, 8.4198, Some("1e-5")),
        (1e-8, 9.3743, Some("1e-8")),
        (1e-12, 10.2481, Some("1e-12")),
    ] {
        let fails = |epsilon: f64| classical_delta(epsilon, delta) > delta;
        assert!(!fails(first - 1e-4) && fails(first + 1e-4));
        assert!(grid(0.01, first - 1e-3, 500).all(|epsilon| !fails(epsilon)));
        if let Some(id) = id {
            let exact = golden_value(&format!("003_lemma27/eps_threshold/delta={id}"));
            assert!(!fails(exact * (1.0 - 1e-9)) && fails(exact * (1.0 + 1e-9)));
        }
    }
}

#[test]
fn the_classical_formula_holds_up_to_one() {
    let (mut worst, mut earliest) = (0.0_f64, (f64::INFINITY, 0.0));
    for exponent in grid(0.0, 1.0, 400) {
        // From 1e-15 to 0.999, dense near 1.
        let delta = 1.0 - (1.0 - 1e-15_f64) * (1e-3_f64 / (1.0 - 1e-15)).powf(exponent);
        for delta in [delta, 1e-15_f64.powf(exponent) * 0.999] {
            for epsilon in grid(0.02, 1.0, 49) {
                worst = worst.max(classical_delta(epsilon, delta) / delta);
            }
            let fails = |epsilon: f64| classical_delta(epsilon, delta) > delta;
            if let Some(epsilon) = grid(3.5, 4.0, 500).find(|&epsilon| fails(epsilon)) {
                earliest = if epsilon < earliest.0 { (epsilon, delta) } else { earliest };
            }
        }
    }
    assert!(worst <= 0.32 && worst > 0.25, "{worst}");
    assert_reads(earliest.0, 3.787, 2e-3);
    assert!((earliest.1 - 0.895).abs() < 0.02, "{earliest:?}");
}

#[test]
fn calibration_by_theta_is_right_for_every_epsilon() {
    for (epsilon, delta) in [(10.0, 1e-5), (10.0, 0.1), (20.0, 1e-12), (0.1, 1e-5), (1.0, 1e-5)] {
        let sigma = smallest_noise(
            Positive::new(2.0).unwrap(),
            Epsilon::new(epsilon).unwrap(),
            Delta::new(delta).unwrap(),
        );
        assert!(theta(epsilon, 2.0 / sigma.upper()).upper() <= delta);
        assert!(theta(epsilon, 2.0 / (sigma.lower() * (1.0 - 1e-9))).lower() > delta);
        assert_eq!(sigma.lower() > classical_sigma(epsilon, delta), classical_delta(epsilon, delta) > delta);
    }
}

/// PAI Theorem 30 and Corollary 34 read (ε/√m, δ) off a Rényi curve, m = n − t + 1.
#[test]
fn the_guarantee_per_record_does_not_follow_from_its_renyi_curve() {
    // D_α ≤ αρ with ρ = ε′²/(4·ln(1.25/δ)); Mironov's conversion at the best order.
    let mironov = |epsilon: f64, delta: f64| {
        let log = (1.25 / delta).ln();
        let x = epsilon / (4.0 * log);
        let closed = (delta / 1.25).powf((1.0 - x) * (1.0 - x));
        let rho = epsilon * epsilon / (4.0 * log);
        let order = 0.5 + epsilon / (2.0 * rho);
        let bound =
            RenyiBound::new(RenyiOrder::new(order).unwrap(), NonNegative::new(order * rho).unwrap()).unwrap();
        let found = bound.delta_mironov(Epsilon::new(epsilon).unwrap()).midpoint();
        assert!((found / closed - 1.0).abs() < 1e-9);
        for other in [0.9, 1.1].map(|times| 1.0 + times * (order - 1.0)) {
            assert!(f64::exp(-(other - 1.0) * (epsilon - other * rho)) >= found);
        }
        found
    };
    assert_reads(mironov(1.0, 1e-5), 1.312e-5, 1e-8);
    assert!(mironov(0.447, 1e-5) < 1e-5 && mironov(0.449, 1e-5) > 1e-5);
    // The sharper conversion does imply it up to ε′ = 1.
    let mut worst = 0.0_f64;
    for delta in [0.5, 0.1, 1e-2, 1e-5, 1e-8, 1e-12] {
        for epsilon in grid(0.05, 1.0, 19) {
            let rho = epsilon * epsilon / (4.0 * f64::ln(1.25 / delta));
            let sharper = |order: f64| {
                let bound =
                    RenyiBound::new(RenyiOrder::new(order).unwrap(), NonNegative::new(order * rho).unwrap());
                bound.unwrap().delta_canonne_kamath_steinke(Epsilon::new(epsilon).unwrap()).midpoint().ln()
            };
            let best = smallest(0.0, 9.0, |log| sharper(1.0 + log.exp() / 10.0)).exp();
            worst = worst.max(best / delta);
        }
    }
    assert!(worst < 0.54, "{worst}");
}

#[test]
fn the_guarantee_per_record_is_that_of_a_gaussian() {
    // Linear losses: the last iterate is Gaussian with noise σ√m, m = n − t + 1.
    for (epsilon, m, delta) in [(1.0, 1.0, 1e-5), (3.0, 16.0, 1e-5), (0.5, 4.0, 0.1), (20.0, 4.0, 1e-5)] {
        let sigma = classical_sigma(epsilon, delta);
        let per_record = epsilon / f64::sqrt(m);
        let exact = theta(per_record, 2.0 / (sigma * f64::sqrt(m)));
        assert_eq!(exact.upper() <= delta, per_record <= 1.0, "{epsilon} {m}");
        assert!((exact.midpoint() / classical_delta(per_record, delta) - 1.0).abs() < 1e-9);
    }
}

/// Skip-PNSGD with m public records last, on the needle [−1, 1] × {0} in R^400, with L = R = 1 and
/// the prescribed step size: δ(ε) for the last private record. Before it, Huber losses pull to the
/// middle; after it, the losses are zero.
fn skipping_on_a_needle(m: u32, sigma: f64, epsilon: f64) -> f64 {
    let (n, dimension) = (2 * m + 2, 400.0);
    let eta = 8f64.sqrt() / (f64::from(n) * (1.0 + dimension * sigma * sigma)).sqrt();
    let noise = eta * sigma;
    let pull = |w: f64| w - eta * (w / eta).clamp(-1.0, 1.0);
    // A start skipped up to n/2 = m + 1 records: 0 to m + 1 steps before the last private one.
    let mut laws = vec![Law::at(0.0)];
    for before in 0..=m as usize {
        let next = laws[before].step(&[(1.0, &pull)], noise).onto(&[-0.5, -eta, eta, 0.5], noise);
        laws.push(next);
    }
    let start = Law::average(&laws);
    // The m + 1 steps from the record on only add noise. Projection moves nothing unless the sum
    // comes within 7 deviations of the ends.
    let spread = noise * f64::from(m + 1).sqrt();
    assert!(0.5 + eta + 3.0 * spread < 1.0 && 1.0 - eta > 7.0 * spread);
    let (up, down) = (|w: f64| w + eta, |w: f64| w - eta);
    let (p, q) = (start.step(&[(1.0, &up)], spread), start.step(&[(1.0, &down)], spread));
    hockey_stick(&p, &q, epsilon.exp(), (-1.0, 1.0))
}

/// PAI Corollary 31 lacks a factor √2 in σ.
#[test]
fn public_records_at_the_end_need_twice_the_variance() {
    let log = 1.25e5_f64.ln();
    for (m, epsilon, truth, unit, corrected, last) in
        [(50, 1.0, 2.713e-5, 1e-8, 1.92e-8, 1e-10), (20, 3.0, 1.400e-4, 1e-7, 8.2e-8, 1e-9)]
    {
        let published = 2.0 * (log / f64::from(m)).sqrt() / epsilon;
        let exact = skipping_on_a_needle(m, published, epsilon);
        assert_reads(exact, truth, unit);
        assert!(exact > 1e-5);
        let doubled = skipping_on_a_needle(m, published * 2f64.sqrt(), epsilon);
        assert_reads(doubled, corrected, last);
        // What holds: θ_ε(2L/(σ√(m + 1))) ≤ δ.
        for sigma in [published, published * 2f64.sqrt()] {
            let bound = theta(epsilon, 2.0 / (sigma * f64::from(m + 1).sqrt()));
            assert!(skipping_on_a_needle(m, sigma, epsilon) < bound.lower());
        }
        assert!(theta(epsilon, 2.0 / (published * (2.0 * f64::from(m + 1)).sqrt())).upper() < 1e-5);
    }
    // Read as √(ln(1.25/δ))/m, it is worse still.
    assert_reads(theta(1.0, 2.0 / (2.0 * log.sqrt() / 100.0 * 101f64.sqrt())).midpoint(), 0.77, 1e-2);
}
