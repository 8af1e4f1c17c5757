//! What the papers have wrong about estimation and testing under local privacy: lower bounds that
//! an estimator beats. The printed formulas live here only.

use crate::errata_support::{assert_reads, golden_value, grid, largest, peak, simpson};
use dobrushin::kernel::{FiniteKernel, Kernel};
use dobrushin::{Gamma, Probability};
use std::f64::consts::LN_2;

/// φ = 1 − (1 − δ)e^(−ε), by which every f-divergence contracts.
fn phi(epsilon: f64, delta: f64) -> f64 {
    -f64::exp_m1(f64::ln_1p(-delta) - epsilon)
}

/// φ_n = 1 − e^(−nε)(1 − δ)^n.
fn phi_n(n: u32, epsilon: f64, delta: f64) -> f64 {
    -f64::exp_m1(f64::from(n) * (f64::ln_1p(-delta) - epsilon))
}

/// C(n, s)·p^s·(1 − p)^(n − s) for s = 0 … n.
fn binomial(n: u32, p: f64) -> Vec<f64> {
    let ln_p = |s: u32| {
        let choose: f64 = (1..=s).map(|i| (f64::from(n + 1 - i) / f64::from(i)).ln()).sum();
        choose + f64::from(s) * p.ln() + f64::from(n - s) * f64::ln_1p(-p)
    };
    (0..=n).map(|s| ln_p(s).exp()).collect()
}

/// The largest mean square error of the mean of the kept ones among n numbers, each kept with
/// probability `keep`, over all laws with E X² ≤ 1; 0 is the estimate when none is kept.
fn risk_after_erasure(n: u32, keep: f64) -> f64 {
    let kept = binomial(n, keep);
    let variance: f64 = (1..=n).map(|s| kept[s as usize] / f64::from(s)).sum();
    // E X² = v + m² ≤ 1: v·E[1/N] + m²·P(N = 0) is largest at one of the ends.
    variance.max(kept[0])
}

/// The bound of CED Corollary 2 = LDC Corollary 1 for C = 1 and moments of order k.
fn claimed_rate(n: f64, phi: f64, k: f64) -> f64 {
    f64::min(1.0, (phi * phi * n).powf(-(k - 1.0) / k))
}

#[test]
fn erasure_beats_the_claimed_minimax_rate() {
    let erasure = FiniteKernel::new(vec![vec![0.5, 0.0, 0.5], vec![0.0, 0.5, 0.5]]).unwrap();
    assert!(erasure.contraction(Gamma::ONE).contains(0.5));
    assert!((phi(0.0, 0.5) - 0.5).abs() < 1e-15);
    // The exact risk is below 4/(n + 1) + 2^(−n), and C is below the ratio for every n.
    let mut constant = f64::INFINITY;
    for n in [1, 10, 100, 1000] {
        let simple = 4.0 / f64::from(n + 1) + 0.5f64.powi(i32::try_from(n).unwrap());
        assert!(risk_after_erasure(n, 0.5) <= simple);
        let next = risk_after_erasure(n, 0.5) / claimed_rate(f64::from(n), 0.5, 2.0);
        assert!(next < constant);
        constant = next;
    }
    assert!(constant < 0.04);
    for (n, most, unit) in [(1e6_f64, 2e-3, 1e-4), (1e10, 2e-5, 1e-6)] {
        assert_reads(4.0 / (n + 1.0) / claimed_rate(n, 0.5, 2.0), most, unit);
    }
    // Bounded numbers, kept with a small probability δ: 2/(nδ) against 1/(δ²n).
    for delta in [0.1_f64, 0.01, 0.001] {
        let n = (20.0 / (delta * delta)).min(20_000.0) as u32;
        let claimed = 1.0 / (delta * delta * f64::from(n));
        assert!(risk_after_erasure(n, delta) < 2.2 * delta * claimed, "{delta}");
    }
}

/// The right side of the proof of CED Corollary 2, with w as printed.
fn bracketed(n: u32, k: f64, phi: f64) -> f64 {
    let power = 1.0 / f64::from(n).sqrt();
    let w = f64::min(1.0, (1.0 - (7.0f64 / 8.0).powf(power)) / phi);
    let kept = (1.0 - w * phi).powi(i32::try_from(n).unwrap());
    w.powf(2.0 * (k - 1.0) / k) * (1.0 - 2f64.sqrt() * (1.0 - kept).sqrt())
}

#[test]
fn the_proof_of_the_claimed_rate_says_nothing_from_27_on() {
    assert_reads(bracketed(26, 1.5, 0.1), 0.00251, 1e-5);
    assert_reads(bracketed(27, 1.5, 0.1), -1.4e-4, 1e-5);
    assert_reads(bracketed(100, 1.5, 0.1), -0.0557, 1e-4);
    for n in 1..2000 {
        assert_eq!(bracketed(n, 1.5, 0.1) > 0.0, n < 27, "{n}");
    }
}

/// w^s·h²·[1 − φw(1 − √(1−h²))]^(2n), s = 2(k − 1)/k: what two points give.
fn two_points(n: u32, k: f64, phi: f64, w: f64, h: f64) -> f64 {
    let kept = 1.0 - phi * w * (1.0 - (1.0 - h * h).max(0.0).sqrt());
    w.powf(2.0 * (k - 1.0) / k) * h * h * kept.powi(2 * i32::try_from(n).unwrap())
}

fn best_two_points(n: u32, k: f64, phi: f64) -> f64 {
    let at = |w: f64| largest(0.0, 1.0, |h| two_points(n, k, phi, w, h));
    let inside = at(peak(f64::ln(1e-6), 0.0, |ln_w| at(ln_w.exp())).exp());
    inside.max(at(1.0))
}

/// (40) of CED: w^s·[1 − √2·√(1 − (1 − wφ)^n)].
fn printed_two_points(n: u32, k: f64, phi: f64) -> f64 {
    let at = |w: f64| {
        let kept = (1.0 - w * phi).powi(i32::try_from(n).unwrap());
        w.powf(2.0 * (k - 1.0) / k) * (1.0 - 2f64.sqrt() * (1.0 - kept).sqrt())
    };
    let start = grid(-14.0, 0.0, 280).max_by(|&x, &y| at(x.exp()).total_cmp(&at(y.exp()))).unwrap();
    largest(start - 0.1, (start + 0.1).min(0.0), |ln_w| at(ln_w.exp()))
}

#[test]
fn two_points_give_an_explicit_bound_for_every_n() {
    let phi = phi(1.0, 0.0);
    for (n, k, value, unit) in [
        (10, 1.5, 0.08503, 1e-5),
        (100, 1.5, 0.01850, 1e-5),
        (1000, 1.5, 0.003990, 1e-6),
        (10, 2.0, 0.05469, 1e-5),
        (100, 2.0, 0.0057836, 1e-7),
        (1000, 2.0, 0.000582, 1e-6),
        (10, 4.0, 0.05469, 1e-5),
        (100, 4.0, 0.0057836, 1e-7),
        (1000, 4.0, 0.000582, 1e-6),
    ] {
        assert_reads(best_two_points(n, k, 0.632), value, unit);
    }
    for (n, k, value, unit) in [
        (10, 1.5, 0.03956, 1e-5),
        (100, 1.5, 0.008573, 1e-6),
        (1000, 1.5, 0.001848, 1e-6),
        (10, 2.0, 0.01316, 1e-5),
        (100, 2.0, 0.001332, 1e-6),
        (1000, 2.0, 1.33e-4, 1e-6),
    ] {
        assert_reads(printed_two_points(n, k, 0.632), value, unit);
    }
    for n in [10, 100, 1000] {
        for k in [1.5, 2.0, 4.0] {
            let best = best_two_points(n, k, phi);
            let s = 2.0 * (k - 1.0) / k;
            let simple = 0.25 * f64::min(1.0, (2.0 * f64::from(n) * phi).powf(-s.min(1.0)));
            assert!(simple <= best && printed_two_points(n, k, phi) <= best);
            let w = f64::min(1.0, s / (phi * (2.0 * f64::from(n) + s)));
            assert!(two_points(n, k, phi, w, 1.0) <= best * (1.0 + 1e-9));
        }
    }
    for (n, k) in [(10, "1.5"), (10, "2"), (100, "1.5"), (1000, "4")] {
        let order: f64 = k.parse().unwrap();
        let s = 2.0 * (order - 1.0) / order;
        let w = f64::min(1.0, s / (phi * (2.0 * f64::from(n) + s)));
        let golden = golden_value(&format!("lecam/omega_form/n={n}/k={k}/phi=0.632"));
        assert!((two_points(n, order, phi, w, 1.0) / golden - 1.0).abs() < 1e-12);
    }
    for n in [10, 27, 100] {
        let golden = golden_value(&format!("lecam/rademacher_form/n={n}/phi=0.632"));
        assert!((largest(0.0, 1.0, |h| two_points(n, 2.0, phi, 1.0, h)) / golden - 1.0).abs() < 1e-9);
    }
    // Below the risk of an estimator that exists.
    for n in [1, 3, 10, 100, 1000] {
        assert!(best_two_points(n, 2.0, 0.5) <= risk_after_erasure(n, 0.5));
    }
    // For δ = 0 also (1/4)·min{1, [4/(n(e^ε − 1)²)]^((k−1)/k)}.
    for (n, epsilon) in [(10, 0.5), (100, 1.0), (1000, 1.0), (1000, 3.0)] {
        let pure = 0.25 * f64::min(1.0, (4.0 / (f64::from(n) * f64::exp_m1(epsilon).powi(2))).sqrt());
        assert!((pure / golden_value(&format!("lecam/pure/n={n}/k=2/eps={epsilon}")) - 1.0).abs() < 1e-12);
    }
}

/// LDC Corollary 2: unbounded as φ_n → 0, though estimating 0 costs at most r².
#[test]
fn a_lower_bound_is_not_above_the_trivial_risk() {
    let claimed = |n: u32, d: f64, phi_n: f64| {
        let m = f64::from(n) * phi_n;
        f64::min(1.0 / m, d / (m * m))
    };
    let phi_1 = phi_n(1, 1e-3, 1e-9);
    assert!((claimed(1, 100.0, phi_1) - 1000.0).abs() < 1.0);
    assert!(claimed(1, 100.0, phi_n(1, 1e-6, 0.0)) > 9e5);
    for (n, epsilon) in [(1, 1e-3), (1, 1.0), (10, 0.1), (1000, 1.0)] {
        let (phi, phi_n) = (phi(epsilon, 0.0), phi_n(n, epsilon, 0.0));
        let corrected = 0.25 * f64::min(1.0, 1.0 / (2.0 * f64::from(n) * phi));
        assert!(corrected <= 1.0 && phi <= phi_n);
        // It is the better of the two wherever the printed one with its best possible constant holds.
        if f64::from(n) * phi_n >= 1.0 {
            assert!(corrected >= 0.125 * claimed(n, 1e9, phi_n));
        }
    }
    for (n, name, phi) in [(1, "0.1", 0.1), (10, "0.1", 0.1), (10, "0.632", phi(1.0, 0.0))] {
        let corrected = 0.25 * f64::min(1.0, 1.0 / (2.0 * f64::from(n) * phi));
        let golden = golden_value(&format!("ball/two_point/n={n}/phi={name}"));
        assert!((corrected / golden - 1.0).abs() < 1e-12);
    }
    // Below the risk of an estimator that exists: ±1 with erasure, in one dimension.
    for n in [1, 10, 1000] {
        assert!(0.25 * f64::min(1.0, 1.0 / f64::from(n)) <= risk_after_erasure(n, 0.5));
    }
}

/// LDC eq. (46) with prefactor r²w²/k, twice what its separation gives; true all the same.
#[test]
fn the_constant_of_the_fano_bound_is_half_the_printed_one() {
    let fano =
        |n: f64, k: f64, w: f64, phi_n: f64| w * w / k * (1.0 - 16.0 * (1.0 + n * w * phi_n) * LN_2 / k);
    for (n, k, w, phi_n, id) in [(100.0, 256.0, 0.05, 1.0, "n=100/k=256"), (5.0, 16.0, 0.06, 0.9, "n=5/k=16")]
    {
        let printed = fano(n, k, w, phi_n);
        assert!((printed / golden_value(&format!("fano/printed/{id}")) - 1.0).abs() < 1e-12);
        assert!((printed / 2.0 / golden_value(&format!("fano/corrected/{id}")) - 1.0).abs() < 1e-12);
    }
    // The bracket with w = k/(50nφ_n) at the least k that the proof allows.
    assert_reads(1.0 - 16.0 * (1.0 + 16.0 / 50.0) * LN_2 / 16.0, 0.085, 1e-3);
    // Two points are better than the printed one everywhere (φ ≤ φ_n).
    for n in [1.0, 10.0, 1e3, 1e6] {
        for k in [16.0, 64.0, 1024.0] {
            for phi_n in [1e-3, 0.1, 1.0] {
                let two_points = 0.25 * f64::min(1.0, 1.0 / (2.0 * n * phi_n));
                for w in grid(-12.0, 0.0, 120).map(f64::exp) {
                    assert!(fano(n, k, w, phi_n) <= two_points);
                }
            }
        }
    }
    // The entropy inequalities behind it: h_b((1−w)/2) ≥ (1 − w²)·ln 2 ≥ (1 − w)·ln 2.
    for w in grid(0.0, 0.999, 999) {
        let (a, b) = ((1.0 - w) / 2.0, (1.0 + w) / 2.0);
        let entropy = -a * a.ln() - b * b.ln();
        assert!(entropy >= (1.0 - w * w) * LN_2 - 1e-15 && (1.0 - w * w) >= (1.0 - w));
    }
}

/// CED eq. (21), Lemmas 4 and 5, LDC Lemma 3 allow any "semi-metric" as a loss.
#[test]
fn two_point_bounds_need_a_metric_or_a_squared_norm() {
    // Two hypotheses ∓1, nothing learnt: the Bayes risk is min_a ½(|a − 1|^p + |a + 1|^p).
    let risk = |p: f64| {
        grid(-2.0, 2.0, 4000).map(move |a| 0.5 * ((a - 1.0).abs().powf(p) + (a + 1.0).abs().powf(p)))
    };
    let bayes = |p: f64| risk(p).fold(f64::INFINITY, f64::min);
    let tau = |p: f64| 2f64.powf(p) / 2.0;
    let error = 0.5;
    assert_eq!(tau(4.0) * error, 4.0);
    assert!((bayes(4.0) - 1.0).abs() < 1e-12 && bayes(4.0) < tau(4.0) * error);
    for p in [1.0, 1.5, 2.0, 3.0, 4.0] {
        assert!(2f64.powf(1.0 - p) * tau(p) * error <= bayes(p));
    }
    // A metric, and a squared norm, which attains it.
    assert!(tau(1.0) * error <= bayes(1.0));
    assert!((bayes(2.0) - tau(2.0) * error).abs() < 1e-12);
}

/// LDC eq. (10) lacks a square, and with it the comparison starts at ln(1 + 1/√2), not at 0.4.
#[test]
fn the_bound_on_information_is_compared_with_the_wrong_one() {
    let theirs = |epsilon: f64| 2.0 * f64::exp_m1(epsilon).powi(2);
    assert_reads(phi_n(2, 0.4, 0.0), 0.5507, 1e-4);
    assert_reads(theirs(0.4), 0.4838, 1e-4);
    assert!(phi_n(2, 0.4, 0.0) > theirs(0.4));
    let threshold = f64::ln(1.0 + 0.5f64.sqrt());
    assert_reads(threshold, 0.5348, 1e-4);
    let better_for_all = |epsilon: f64| (1..200).all(|n| phi_n(n, epsilon, 0.0) <= theirs(epsilon));
    assert!(better_for_all(threshold + 1e-6) && !better_for_all(threshold - 1e-6));
    // KL ≤ (e^ε − 1)²·TV² already, half of CED eq. (18): randomised response.
    for epsilon in [0.1, 0.5, 1.0, 2.0] {
        let flip = 1.0 / (1.0 + f64::exp(epsilon));
        for (p, q) in grid(0.0, 1.0, 20).flat_map(|p| grid(0.0, 1.0, 20).map(move |q| (p, q))) {
            let out = |p: f64| p * (1.0 - flip) + (1.0 - p) * flip;
            let (a, b) = (out(p), out(q));
            let divergence = a * (a / b).ln() + (1.0 - a) * ((1.0 - a) / (1.0 - b)).ln();
            assert!(divergence <= f64::exp_m1(epsilon).powi(2) * (p - q) * (p - q) + 1e-15);
        }
    }
}

/// A uniform Θ and n coins that show heads with probability Θ: the law of their number at each
/// point of a grid of Θ.
struct Coins(Vec<Vec<f64>>);

impl Coins {
    const STEPS: u32 = 4000;

    fn new(n: u32) -> Self {
        let certain = |s: u32| (0..=n).map(|i| f64::from(u8::from(i == s))).collect();
        let inside = (1..Self::STEPS).map(|i| binomial(n, f64::from(i) / f64::from(Self::STEPS)));
        Self(std::iter::once(certain(0)).chain(inside).chain([certain(n)]).collect())
    }

    fn outcomes(&self) -> f64 {
        self.0[0].len() as f64
    }

    /// ∫ Σ f(P(s|t)) dt.
    fn integrate(&self, f: impl Fn(f64) -> f64) -> f64 {
        let steps = f64::from(Self::STEPS);
        simpson(0.0, 1.0, Self::STEPS, |t| self.0[(t * steps).round() as usize].iter().map(|&p| f(p)).sum())
    }

    fn information(&self) -> f64 {
        self.integrate(|p| if p > 0.0 { p * (self.outcomes() * p).ln() } else { 0.0 })
    }

    /// I_γ, with (1 − γ)₊ subtracted.
    fn hockey_stick(&self, gamma: f64) -> f64 {
        self.integrate(|p| (p - gamma / self.outcomes()).max(0.0)) - (1.0 - gamma).max(0.0)
    }
}

/// CED Theorem 4 is said to be tighter than its eq. (26).
#[test]
fn the_bayes_bound_by_hockey_stick_information_is_not_always_the_tighter() {
    let coins = Coins::new(20);
    let golden = golden_value("000_ex5/I/n=20");
    assert!((coins.information() / golden - 1.0).abs() < 1e-6);
    let by_information = |contraction: f64| {
        largest(1e-6, 0.25, |z| z * (1.0 - (contraction * golden + LN_2) / (1.0 / (2.0 * z)).ln()))
    };
    let by_gamma = |contraction: f64, gamma: f64| {
        let rest = 1.0 - contraction * coins.hockey_stick(gamma) - (1.0 - gamma).max(0.0);
        rest.max(0.0).powi(2) / (8.0 * gamma)
    };
    for (epsilon, theorem, other, tighter) in [(2.0, 0.01595, 0.01087, true), (2.5, 0.01005, 0.01087, false)]
    {
        let contraction = phi_n(20, epsilon, 1e-4);
        let (mine, old) = (by_gamma(contraction, f64::exp(epsilon)), by_information(contraction));
        assert_reads(mine, theorem, 1e-5);
        assert_reads(old, other, 1e-5);
        assert_eq!(mine > old, tighter);
        // γ is free: the best one beats both.
        let rough =
            grid(0.5, 4.0, 35).max_by(|&x, &y| by_gamma(contraction, x).total_cmp(&by_gamma(contraction, y)));
        let best = by_gamma(contraction, rough.unwrap());
        assert!(best > mine && best > old);
        let free = golden_value("000_fig1/thm4_free_gamma/n=20/eps=2");
        assert!(best <= free * (1.0 + 1e-6) && best > 0.98 * free, "{best}");
    }
}

/// CED Remark 2: 0.03 and 0.08 are printed for 0.0457 and 0.0741.
#[test]
fn the_bounds_for_one_coin() {
    let information = LN_2 - 0.5;
    assert!((golden_value("000_rem2/I") - information).abs() < 1e-15);
    assert!((Coins::new(1).information() - information).abs() < 1e-6);
    let first = largest(1e-6, 0.25, |z| z * (1.0 - (information + LN_2) / (1.0 / (2.0 * z)).ln()));
    assert!((first / 0.0456594318433182 - 1.0).abs() < 1e-12 && first > 0.03);
    assert_reads(
        largest(1e-6, 0.25, |z| z * (1.0 - (information + 1.0) / (1.0 / (2.0 * z)).ln())),
        0.028,
        1e-3,
    );
    // I_γ = (2 − γ)²/4 for 1 ≤ γ ≤ 2, γ²/4 below; sup_z z(1 − I_γ − 2γz − (1 − γ)₊).
    let second = |gamma: f64| {
        let i = if gamma <= 1.0 { gamma * gamma / 4.0 } else { (2.0 - gamma).powi(2) / 4.0 };
        assert!((Coins::new(1).hockey_stick(gamma) - i).abs() < 1e-6);
        (1.0 - i - (1.0 - gamma).max(0.0)).powi(2) / (8.0 * gamma)
    };
    let best = grid(0.4, 1.9, 45).map(second).fold(0.0, f64::max);
    assert!((best - 2.0 / 27.0).abs() < 1e-12 && best < 0.08);
    assert_eq!(second(4.0 / 3.0), best);
    // The Bayes risk of the posterior median: densities 2t and 2(1 − t).
    let risk = 2.0 * simpson(0.0, 1.0, 200_000, |t| t * (t - 0.5f64.sqrt()).abs());
    assert!((risk - (2.0 - 2f64.sqrt()) / 3.0).abs() < 1e-9 && best < risk);
    assert_reads(risk, 0.195262, 1e-6);
}

/// PAI Corollary 34 has a logarithm where smoothing costs its square root.
#[test]
fn the_cost_of_smoothing_is_under_reported_for_tiny_delta() {
    // Both without LRε√d/√n.
    let printed = |delta: f64| 4.0 * 2f64.sqrt() / (2.0 * (1.25 / delta).ln());
    let needed = |delta: f64| 1.0 / (2.0 * (1.0 / delta).ln().sqrt());
    assert!(printed(1e-13) > needed(1e-13) && printed(1e-14) < needed(1e-14));
}

/// Locally private channels contract total variation by 1 − 2(1 − δ)/(1 + e^ε), not just by φ.
#[test]
fn both_directions_of_privacy_contract_more_than_one() {
    let symmetric = |epsilon: f64, delta: f64| 1.0 - 2.0 * (1.0 - delta) / (1.0 + epsilon.exp());
    assert!((symmetric(1.0, 0.01) / golden_value("ldp/phi_sym/eps=1/delta=0.01") - 1.0).abs() < 1e-12);
    let mut random = crate::laws::Random::new(21);
    for _ in 0..200 {
        let outcomes = 2 + random.below(5);
        let rows = (0..2 + random.below(4)).map(|_| random.law(outcomes).probabilities().to_vec()).collect();
        let kernel = FiniteKernel::proportional_to(rows).unwrap();
        let epsilon = random.between(0.0, 3.0);
        let delta = kernel.contraction(Gamma::from_epsilon(epsilon).unwrap()).upper().min(1.0);
        let total = kernel.total_variation();
        assert!(total.lower() <= symmetric(epsilon, delta) + 1e-12);
        assert!(symmetric(epsilon, delta) <= phi(epsilon, delta) + 1e-15);
    }
    // Randomised response attains it.
    let truth = Probability::new(1f64.exp() / (1.0 + 1f64.exp())).unwrap().get();
    let response = FiniteKernel::new(vec![vec![truth, 1.0 - truth], vec![1.0 - truth, truth]]).unwrap();
    assert!((response.total_variation().midpoint() - symmetric(1.0, 0.0)).abs() < 1e-14);
}

/// CED Corollary 4 with a channel that may change with n: a bound for every n in place of Stein's
/// lemma for one channel.
#[test]
fn the_error_of_private_tests_is_bounded_for_every_n() {
    let (p, q, epsilon, level) = (0.3_f64, 0.6_f64, 1.0, 0.1);
    let flip = 1.0 / (1.0 + f64::exp(epsilon));
    let out = |p: f64| p * (1.0 - flip) + (1.0 - p) * flip;
    // The most powerful test rejects large counts, randomised to meet the level.
    let missed = |n: u32| {
        let (null, other) = (binomial(n, out(p)), binomial(n, out(q)));
        let (mut left, mut power) = (level, 0.0);
        for (under_null, under_other) in null.iter().zip(&other).rev() {
            let share = (left / under_null).clamp(0.0, 1.0);
            power += share * under_other;
            left -= share * under_null;
        }
        1.0 - power
    };
    for n in [1, 2, 5, 20, 60] {
        for s in [1.1, 2.0, 4.0] {
            let divergence = (p.powf(s) * q.powf(1.0 - s) + (1.0 - p).powf(s) * (1.0 - q).powf(1.0 - s)).ln();
            let contracted = f64::ln_1p(phi(epsilon, 0.0) * divergence.exp_m1());
            let bound = -f64::from(n) / (s - 1.0) * contracted - s / (s - 1.0) * (1.0 / (1.0 - level)).ln();
            assert!(missed(n).ln() >= bound, "{n} {s}: {} {bound}", missed(n).ln());
        }
    }
}
