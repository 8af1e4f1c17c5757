//! Divergences of finite pairs against exact arithmetic.

use crate::laws::*;
use dobrushin::divergence::{
    Alpha, ChiSquared, Conjugate, DiscretePair, FiniteLaw, Hellinger, JensenShannon, KullbackLeibler, Pair,
    gamma_information,
};
use dobrushin::{Delta, Enclosure, Gamma, RenyiOrder};
use dobrushin_reference::Real;

fn pair_of(p: &FiniteLaw, q: &FiniteLaw) -> DiscretePair {
    DiscretePair::new(p.clone(), q.clone()).unwrap()
}

fn law(p: &[f64]) -> FiniteLaw {
    FiniteLaw::new("P", p.to_vec()).unwrap()
}

#[test]
fn hockey_stick_divergences_contain_the_exact_value() {
    let mut random = Random::new(1);
    for case in 0..20_000 {
        let (p, q) = random.pair();
        let (gamma, value) = some_gamma(&mut random, &p, &q);
        let truth = hockey_stick(&exact(&p), &exact(&q), &value);
        let pair = pair_of(&p, &q);
        let found = pair.hockey_stick(gamma);
        assert_inside(found, &truth, (case, &p, &q, gamma));
        assert!(found.width() < 1e-14 || gamma.epsilon().abs().upper() > 500.0, "{found} {p:?} {q:?}");
        // E_γ(P‖Q) = γ·E_{1/γ}(Q‖P).
        let reversed = hockey_stick(&exact(&q), &exact(&p), &value);
        assert_inside(pair.hockey_stick_reversed(gamma), &reversed, (case, &p, &q, gamma));
    }
}

#[test]
fn curves_contain_the_exact_value_everywhere() {
    let mut random = Random::new(2);
    for case in 0..6_000 {
        let (p, q) = random.pair();
        let (exact_p, exact_q) = (exact(&p), exact(&q));
        let curve = pair_of(&p, &q).curve();
        let knots: Vec<f64> = curve.knots().filter(|&k| k > 0.0 && k < f64::MAX).collect();
        for _ in 0..3 {
            let (mut gamma, mut value) = some_gamma(&mut random, &p, &q);
            if !knots.is_empty() && random.below(2) == 0 {
                // A knot, or within 60 units of it.
                let knot = knots[random.below(knots.len())];
                let near = knot * (1.0 + (random.below(121) as f64 - 60.0) * f64::EPSILON / 2.0);
                (gamma, value) = (Gamma::new(near).unwrap(), real(near));
            }
            let found = curve.at(gamma);
            assert_inside(found, &hockey_stick(&exact_p, &exact_q, &value), (case, &p, &q, gamma));
            let roundings = 16.0 * (p.len() as f64 + 30.0) * f64::EPSILON;
            assert!(found.width() < roundings || value > int(1 << 40), "{found} {p:?} {q:?} {gamma:?}");
        }
    }
}

#[test]
fn a_curve_is_right_beyond_a_knot_of_nearly_equal_masses() {
    // Beyond its bend at 1.1 the curve is p₁ ≈ 1e-8, which the rounding of the
    // much larger p₂ − γq₂ must not touch.
    let mut random = Random::new(3);
    for _ in 0..500 {
        let rare = 1e-8 * random.between(1.0, 2.0);
        let p = FiniteLaw::proportional_to("P", vec![rare, 0.3, 0.7]).unwrap();
        let q = FiniteLaw::proportional_to("Q", vec![rare * 1e-12, 0.3 / 1.1, 0.7]).unwrap();
        let (curve, truth) = (pair_of(&p, &q).curve(), (exact(&p), exact(&q)));
        let knot = curve.knots().find(|k| *k < 2.0).unwrap();
        let mut gamma = knot;
        for _ in 0..40 {
            gamma = gamma.next_up();
            let found = curve.at(Gamma::new(gamma).unwrap());
            assert_inside(found, &hockey_stick(&truth.0, &truth.1, &real(gamma)), (rare, gamma));
        }
    }
}

#[test]
fn curves_of_integer_laws_bend_exactly_at_the_likelihood_ratios() {
    let p = dyadic(&[4, 2, 1, 1, 0]);
    let q = dyadic(&[1, 1, 1, 4, 1]);
    let curve = pair_of(&p, &q).curve();
    assert_eq!(curve.knots().collect::<Vec<_>>(), [4.0, 2.0, 1.0, 0.25]);
    let corners: Vec<(f64, f64)> = curve.vertices().iter().map(|v| (v.q, v.p)).collect();
    assert_eq!(corners, [(0.0, 0.0), (0.125, 0.5), (0.25, 0.75), (0.375, 0.875), (0.875, 1.0)]);
}

#[test]
fn a_thousand_outcomes_are_exact_in_integers() {
    let mut random = Random::new(4);
    for _ in 0..30 {
        let (a, b) = (random.parts(1000, 1 << 20), random.parts(1000, 1 << 20));
        let pair = pair_of(&dyadic(&a), &dyadic(&b));
        let curve = pair.curve();
        for gamma in [1u64, 2, 3, 100].into_iter().chain((0..20).map(|_| 1 + random.bits() % 5000)) {
            // γ = gamma/16 from 1/16 on.
            let excess = |a: &u64, b: &u64| (16 * *a as i64 - (gamma * b) as i64).max(0);
            let sum: i64 = a.iter().zip(&b).map(|(a, b)| excess(a, b)).sum();
            let missing = (16 - gamma as i64).max(0) << 20;
            let truth = Real::from_i64(sum - missing, BITS) / int(1 << 24);
            let at = Gamma::new(gamma as f64 / 16.0).unwrap();
            assert_inside(pair.hockey_stick(at), &truth, gamma);
            assert_inside(curve.at(at), &truth, gamma);
            assert!(curve.at(at).width() < 1e-12);
        }
    }
}

#[test]
fn probabilities_at_the_edge_of_the_range_keep_their_ratio() {
    let cases: [(&[f64], &[f64], f64); 6] = [
        (&[1e-190, 1e-175, 1.0], &[1e-200, 1e-180, 1.0], 1e10),
        (&[1e-323, 0.75, 0.25], &[5e-324, 0.75, 0.25], 2.0),
        (&[3e-308, 0.5, 0.5], &[1e-308, 0.5, 0.5], 3.0),
        (&[1e-150, 1e-3, 0.999], &[1e-160, 1e-8, 0.99999999], 1e10),
        (&[1e-300, 2e-300, 1.0], &[2e-301, 1e-300, 1.0], 5.0),
        (&[1e-20, 1e-10, 1.0], &[1e-320, 1e-300, 1.0], 1e300),
    ];
    for (p, q, largest) in cases {
        let pair = pair_of(&law(p), &law(q));
        let epsilon = pair.curve().epsilon_at(Delta::new(0.0).unwrap());
        let (mut most, exact_p, exact_q) = (int(0), exact(pair.p()), exact(pair.q()));
        for (p, q) in exact_p.iter().zip(&exact_q) {
            most = larger(most, (p / q).with_bits(BITS).ln());
        }
        assert_inside(epsilon, &most, (p, q));
        if q[0] > 1e-307 {
            assert!(epsilon.width() < 1e-13 && (epsilon.upper() - largest.ln()).abs() < 1e-2, "{epsilon}");
        }
        assert_inside(pair.renyi(RenyiOrder::new(f64::INFINITY).unwrap()), &most, (p, q));
    }
}

#[test]
fn a_negative_zero_is_a_zero() {
    let (zero, minus) = (pair_of(&law(&[0.5, 0.5]), &law(&[0.0, 1.0])), law(&[-0.0, 1.0]));
    let negative = pair_of(&law(&[0.5, 0.5]), &minus);
    assert_eq!(zero, negative);
    assert!(minus.probabilities()[0].is_sign_positive());
    let gamma = Gamma::new(2.0).unwrap();
    assert!(negative.curve().at(gamma).contains(0.5));
    assert!(negative.hockey_stick(gamma).contains(0.5));
    let weighted = FiniteLaw::proportional_to("Q", vec![-0.0, 3.0]).unwrap();
    assert!(weighted.probabilities()[0].is_sign_positive());
}

#[test]
fn a_weight_never_vanishes_silently() {
    let message = FiniteLaw::proportional_to("Q", vec![1e-200, 1e200]).unwrap_err().to_string();
    assert!(message.contains("weight is 1e-200") && message.contains("at least"), "{message}");
    assert!(FiniteLaw::proportional_to("Q", vec![0.0, 1e200]).is_ok());
    let huge = FiniteLaw::proportional_to("Q", vec![f64::MAX, f64::MAX / 4.0]).unwrap();
    assert!(huge.probabilities().iter().zip([0.8, 0.2]).all(|(p, q)| (p - q).abs() < 1e-15));
}

#[test]
fn f_divergences_contain_the_exact_sums() {
    let mut random = Random::new(5);
    let half = Alpha::new(0.5).unwrap();
    for case in 0..4_000 {
        let (p, q) = random.pair();
        let pair = pair_of(&p, &q);
        let (a, b) = (short(&exact(&p)), short(&exact(&q)));
        let at = (case, &p, &q);
        let singular = escapes(&a, &b);
        let kl = common(&a, &b, |p, q| p * (p / q).ln());
        let chi = a.iter().zip(&b).filter(|(_, q)| !q.is_zero());
        let chi = chi.fold(int(0), |sum, (p, q)| sum + (p - q).powi(2) / q);
        for (found, truth) in [(pair.kl(), &kl), (pair.chi_squared(), &chi)] {
            if singular {
                assert!(found.upper() == f64::INFINITY, "{found} at {at:?}");
            } else {
                assert_inside(found, truth, at);
            }
        }
        let hellinger = a.iter().zip(&b).fold(int(0), |sum, (p, q)| sum + (p.sqrt() - q.sqrt()).powi(2));
        assert_inside(pair.hellinger_squared(), &hellinger, at);
        assert!(pair.hellinger_squared().width() < 1e-14);
        assert_inside(pair.f_divergence(&Hellinger), &hellinger, at);
        // (√t − 1)² and 4(1 − √t) have the same divergence up to the factor 2.
        assert_inside(pair.f_divergence(&half), &(&hellinger * 2), at);
        let shannon = |p: &Real, q: &Real| if p.is_zero() { int(0) } else { p * (p * 2 / (p + q)).ln() };
        let js = a.iter().zip(&b).fold(int(0), |sum, (p, q)| sum + shannon(p, q) + shannon(q, p)) / 2;
        assert_inside(pair.f_divergence(&JensenShannon), &js, at);
        assert_inside(pair.reversed().f_divergence(&JensenShannon), &js, at);
        // D_f(P‖Q) = D_f̃(Q‖P).
        if !singular && !escapes(&b, &a) {
            let reversed = pair.reversed();
            assert_inside(reversed.f_divergence(&Conjugate(&KullbackLeibler)), &kl, at);
            assert_inside(reversed.f_divergence(&Conjugate(&ChiSquared)), &chi, at);
            assert_inside(pair.f_divergence(&Alpha::new(2.0).unwrap()), &(&chi / 2), at);
        }
    }
}

#[test]
fn total_variation_is_half_the_sum_of_differences() {
    let mut random = Random::new(6);
    for _ in 0..2_000 {
        let (p, q) = random.pair();
        let (a, b) = (exact(&p), exact(&q));
        let truth = a.iter().zip(&b).fold(real(0.0), |sum, (p, q)| sum + (p - q).abs()) / 2;
        assert_inside(pair_of(&p, &q).total_variation(), &truth, (&p, &q));
    }
}

#[test]
fn renyi_divergences_contain_the_exact_value() {
    let mut random = Random::new(7);
    let orders = [0.01, 0.25, 0.5, 0.999, 1.0 - 1e-12, 1.0 + 1e-15, 1.0 + 1e-9, 1.25, 2.0, 7.5, 300.0];
    for case in 0..3_000 {
        let (p, q) = random.pair();
        let pair = pair_of(&p, &q);
        let (a, b) = (short(&exact(&p)), short(&exact(&q)));
        let alpha = orders[random.below(orders.len())];
        let found = pair.renyi(RenyiOrder::new(alpha).unwrap());
        let order = Real::from_f64(alpha, BITS);
        let disjoint = a.iter().zip(&b).all(|(p, q)| p.is_zero() || q.is_zero());
        if disjoint || (alpha > 1.0 && escapes(&a, &b)) {
            assert_eq!(found.upper(), f64::INFINITY, "{p:?} {q:?}");
            continue;
        }
        let below = order - 1;
        let sum = common(&a, &b, |p, q| p * (&below * (p / q).ln()).exp());
        let truth = sum.ln() / &below;
        assert_inside(found, &positive_part(truth), (case, alpha, &p, &q));
    }
}

#[test]
fn renyi_divergences_rise_with_the_order_and_meet_the_others() {
    let pair = pair_of(&law(&[0.6, 0.3, 0.1]), &law(&[0.2, 0.3, 0.5]));
    let orders =
        [1e-9, 0.1, 0.5, 0.9, 1.0 - 1e-9, 1.0, 1.0 + 1e-13, 1.1, 2.0, 10.0, 1e6, 1e300, f64::INFINITY];
    let values: Vec<Enclosure> = orders.iter().map(|&a| pair.renyi(RenyiOrder::new(a).unwrap())).collect();
    assert!(values.windows(2).all(|w| w[0].lower() <= w[1].upper()));
    assert!(values[..11].iter().all(|v| v.width() < 1e-14), "{values:?}");
    let one = Enclosure::ONE;
    let two = Enclosure::from(2.0);
    // D_2 = ln(1 + χ²), D_½ = −2·ln(1 − H²/2), D_1 = KL, D_∞ = ln 3.
    let from_chi = (one + pair.chi_squared()).ln();
    assert!(values[8].intersect(from_chi).unwrap().width() < 1e-14);
    let from_hellinger = -(two * (one - pair.hellinger_squared() / two).ln());
    assert!(values[2].intersect(from_hellinger).unwrap().width() < 1e-14);
    assert_eq!(values[5], pair.kl());
    assert!((values[6].midpoint() - pair.kl().midpoint()).abs() < 1e-12);
    assert!((values[12].upper() - 3f64.ln()).abs() < 1e-15);
}

#[test]
fn equal_laws_are_at_distance_zero_in_every_way() {
    let mut random = Random::new(8);
    for _ in 0..300 {
        let outcomes = 1 + random.below(8);
        let p = random.law(outcomes);
        let pair = pair_of(&p, &p);
        let gamma = Gamma::new(random.log_between(0.1, 10.0)).unwrap();
        let order = RenyiOrder::new(random.log_between(0.1, 10.0)).unwrap();
        let all = [
            pair.hockey_stick(gamma),
            pair.kl(),
            pair.chi_squared(),
            pair.hellinger_squared(),
            pair.renyi(order),
            pair.f_divergence(&JensenShannon),
        ];
        assert!(all.iter().all(|d| *d == Enclosure::ZERO), "{all:?} for {p:?}");
    }
}

#[test]
fn information_of_a_joint_law_contains_the_exact_value() {
    let mut random = Random::new(9);
    for _ in 0..2_000 {
        let (rows, columns) = (1 + random.below(4), 1 + random.below(4));
        let joint = random.law(rows * columns);
        let (gamma, value) = some_gamma(&mut random, &joint, &joint);
        let matrix: Vec<Vec<f64>> = joint.probabilities().chunks(columns).map(<[f64]>::to_vec).collect();
        let found = gamma_information(&matrix, gamma).unwrap();
        let cells = exact(&FiniteLaw::new("J", matrix.concat()).unwrap());
        let sum = |cells: Vec<&Real>| cells.into_iter().fold(real(0.0), |sum, c| sum + c);
        let a: Vec<Real> = cells.chunks(columns).map(|row| sum(row.iter().collect())).collect();
        let b: Vec<Real> =
            (0..columns).map(|c| sum(cells.iter().skip(c).step_by(columns).collect())).collect();
        let product: Vec<Real> = a.iter().flat_map(|a| b.iter().map(move |b| a * b)).collect();
        let truth = hockey_stick(&cells, &product, &value);
        if value < int(1 << 30) {
            assert!(found.width() < 1e-14, "{found}");
        }
        assert_inside(found, &truth, (&matrix, gamma));
    }
}
