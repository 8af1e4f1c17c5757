//! From a Rényi divergence to (ε, δ): the published conversions and the best one.

use crate::laws::Random;
use dobrushin::divergence::{DiscretePair, FiniteLaw, GaussianPair, Pair};
use dobrushin::profile::RenyiBound;
use dobrushin::{Delta, Enclosure, Epsilon, Gamma, NonNegative, RenyiOrder};
use dobrushin_reference::Real;
use dobrushin_reference::golden;

fn bound(order: f64, divergence: f64) -> RenyiBound {
    RenyiBound::new(RenyiOrder::new(order).unwrap(), NonNegative::new(divergence).unwrap()).unwrap()
}

fn at(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

/// Whether the golden value, whose parameters are decimals that need not be `f64`s,
/// is within the given relative distance of the enclosure.
fn agrees(found: Enclosure, truth: &str, tolerance: f64) -> bool {
    let truth = Real::parse(truth, 128).unwrap().to_f64();
    found.lower() <= truth * (1.0 + tolerance) && truth * (1.0 - tolerance) <= found.upper()
}

#[test]
fn golden_conversions_are_reproduced() {
    let mut seen = 0;
    for entry in golden() {
        let id = entry["id"].as_str().unwrap();
        let Some(kind) = id.strip_prefix("rdp_to_dp/").and_then(|rest| rest.split('/').next()) else {
            continue;
        };
        let parameter = |key: &str| entry["params"][key].as_str().unwrap().parse::<f64>().unwrap();
        let (bound, epsilon) = (bound(parameter("alpha"), parameter("zeta")), at(parameter("eps")));
        let found = match kind {
            "optimal" => bound.delta(epsilon),
            "kappa" => bound.delta_canonne_kamath_steinke(epsilon),
            "ratio" => bound.delta_asoodeh(epsilon),
            "mironov" => bound.delta_mironov(epsilon),
            _ => panic!("{id}"),
        };
        let truth = entry["value"].as_str().unwrap();
        // A conversion that says nothing is 1 here and larger there.
        if truth.parse::<f64>().unwrap() < 1.0 {
            assert!(agrees(found, truth, 1e-13), "{id}: {found} against {truth}");
            assert!(found.upper() - found.lower() < 1e-9 * found.upper() + 1e-300, "{id}: {found} is wide");
        }
        seen += 1;
    }
    assert!(seen > 190, "{seen} golden values");
}

#[test]
fn the_table_of_single_orders_is_reproduced() {
    let two_digits = |found: Enclosure, expected: f64| (found.upper() - expected).abs() < 0.01 * expected;
    for (order, divergence, delta, expected) in
        [(2.0, 0.1, 1e-5, [11.61, 10.23, 8.57, 7.87]), (5.0, 0.01, 0.01, [1.16, 0.54, 0.149, 0.075])]
    {
        let (bound, delta) = (bound(order, divergence), Delta::new(delta).unwrap());
        let found = [
            bound.epsilon_mironov(delta),
            bound.epsilon_canonne_kamath_steinke(delta),
            bound.epsilon_asoodeh(delta),
            bound.epsilon(delta),
        ];
        assert!(found.iter().zip(expected).all(|(&f, e)| two_digits(f, e)), "{found:?}");
    }
}

/// Orders from barely above 1 to thousands, divergences over many magnitudes.
fn some_bound(random: &mut Random) -> (f64, f64, RenyiBound) {
    let order = 1.0 + random.log_between(1e-3, 3e3);
    let divergence = random.log_between(1e-10, 30.0);
    (order, divergence, bound(order, divergence))
}

#[test]
fn the_best_conversion_is_never_above_the_others_and_is_attained() {
    let mut random = Random::new(91);
    let mut widest = 0f64;
    for _ in 0..3_000 {
        let (order, divergence, bound) = some_bound(&mut random);
        let epsilon = random.log_between(1e-6, 20.0);
        let best = bound.delta(at(epsilon));
        for other in [
            bound.delta_mironov(at(epsilon)),
            bound.delta_canonne_kamath_steinke(at(epsilon)),
            bound.delta_asoodeh(at(epsilon)),
        ] {
            assert!(
                best.lower() <= other.upper() && best.upper() <= other.upper(),
                "{order} {divergence} {epsilon}"
            );
        }
        if order * (epsilon + 1.0) < 600.0 {
            let width = best.upper() / best.lower() - 1.0;
            widest = widest.max(width);
        }
    }
    println!("δ*: within {widest:.1e} of a pair that attains it");
    assert!(widest < 1e-7, "{widest}");
}

#[test]
fn no_pair_of_laws_exceeds_the_best_conversion() {
    let mut random = Random::new(92);
    for case in 0..2_000 {
        let outcomes = 2 + random.below(3);
        let mut law = |name: &str| {
            let weights: Vec<f64> = (0..outcomes).map(|_| random.log_between(1e-6, 1.0)).collect();
            FiniteLaw::proportional_to(name, weights).unwrap()
        };
        let pair = DiscretePair::new(law("P"), law("Q")).unwrap();
        let order = 1.0 + random.log_between(0.01, 100.0);
        let divergence = pair.renyi(RenyiOrder::new(order).unwrap()).upper();
        let epsilon = random.between(0.0, 5.0);
        let delta = pair.hockey_stick(Gamma::from_epsilon(epsilon).unwrap());
        let best = bound(order, divergence).delta(at(epsilon));
        assert!(delta.lower() <= best.upper(), "case {case}: {delta} above {best}");
    }
}

#[test]
fn bernoulli_pairs_attain_the_best_conversion() {
    // p = 3/4, q = 1/4 at the γ for which they are the best pair of their divergence.
    let pair = DiscretePair::new(
        FiniteLaw::new("P", vec![0.75, 0.25]).unwrap(),
        FiniteLaw::new("Q", vec![0.25, 0.75]).unwrap(),
    )
    .unwrap();
    let order: f64 = 2.0;
    let (x, y) = (3.0, 1.0 / 3.0);
    // (α−1)(x^α − y^α) = γα(x^(α−1) − y^(α−1)) at α = 2: γ = (x + y)/2.
    let gamma: f64 = (x + y) / 2.0;
    let best = bound(order, pair.renyi(RenyiOrder::new(order).unwrap()).upper()).delta(at(gamma.ln()));
    let truth = 0.75 - gamma * 0.25;
    assert!((best.upper() - truth).abs() < 1e-12 && (best.lower() - truth).abs() < 1e-9, "{best} {truth}");
}

/// CED eq. (39) is valid but not the best (E13).
#[test]
fn the_published_branches_are_not_the_best() {
    let (bound, epsilon) = (bound(2.0, 0.5), at(1.0));
    let published = bound.delta_canonne_kamath_steinke(epsilon).min(bound.delta_asoodeh(epsilon));
    assert!((published.upper() - 0.15163).abs() < 1e-5, "{published}");
    assert!((bound.delta(epsilon).upper() - 0.08970).abs() < 1e-5);
}

#[test]
fn gaussian_orders_never_undercut_the_gaussian_profile() {
    for r in [0.01, 0.3, 1.0, 3.0] {
        let pair = GaussianPair::new(r, 1.0).unwrap();
        for epsilon in [0.0, 0.1, 1.0, 5.0] {
            let truth = pair.hockey_stick(Gamma::from_epsilon(epsilon).unwrap());
            for order in [1.01, 1.5, 2.0, 10.0, 300.0] {
                let divergence = pair.renyi(RenyiOrder::new(order).unwrap()).upper();
                let best = bound(order, divergence).delta(at(epsilon));
                assert!(truth.lower() <= best.upper(), "{r} {epsilon} {order}: {truth} above {best}");
            }
        }
    }
}

#[test]
fn the_smallest_epsilon_is_on_the_private_side() {
    let mut random = Random::new(93);
    for _ in 0..40 {
        let (order, divergence, bound) = some_bound(&mut random);
        let delta = random.log_between(1e-30, 0.5);
        let epsilon = bound.epsilon(Delta::new(delta).unwrap());
        assert!(bound.delta(at(epsilon.upper())).upper() <= delta, "{order} {divergence} {delta}: {epsilon}");
        let cks = bound.epsilon_canonne_kamath_steinke(Delta::new(delta).unwrap());
        assert!(epsilon.upper() <= cks.upper() * (1.0 + 1e-12), "{epsilon} above {cks}");
        if epsilon.lower() > 0.0 {
            assert!(bound.delta(at(epsilon.lower() * 0.999)).upper() > delta, "{epsilon}");
        }
    }
}

#[test]
fn the_edges_are_answered() {
    let nothing = bound(2.0, 0.0);
    assert_eq!(nothing.delta(at(0.0)), Enclosure::ZERO);
    assert_eq!(nothing.epsilon(Delta::new(0.0).unwrap()), Enclosure::ZERO);
    let everything = bound(2.0, f64::INFINITY);
    assert_eq!(everything.delta(at(3.0)), Enclosure::ONE);
    assert_eq!(everything.epsilon(Delta::new(0.1).unwrap()), Enclosure::INFINITE);
    assert_eq!(everything.epsilon(Delta::new(1.0).unwrap()), Enclosure::ZERO);
    let none = Delta::new(0.0).unwrap();
    assert_eq!(bound(2.0, 1.0).epsilon(none), Enclosure::INFINITE);
    assert_eq!(bound(2.0, 1.0).epsilon_asoodeh(none), Enclosure::INFINITE);
    assert_eq!(nothing.epsilon_asoodeh(none), Enclosure::ZERO);
    // Where e^((α−1)ρ) overflows: ρ − ln(αδ)/(α−1).
    let large = bound(101.0, 10.0).epsilon_asoodeh(Delta::new(1e-5).unwrap());
    assert!(large.contains(10.0 - (101.0f64 * 1e-5).ln() / 100.0) && large.width() < 1e-14, "{large}");
    for order in [1.0, 0.5, f64::INFINITY] {
        let refused = RenyiBound::new(RenyiOrder::new(order).unwrap(), NonNegative::new(1.0).unwrap());
        assert!(refused.unwrap_err().to_string().contains("above 1 and finite"));
    }
    for order in [1.0f64.next_up(), 1.0 + 1e-9, 1e9, f64::MAX] {
        for divergence in [5e-324, 1e-300, 1e-9, 1.0, 800.0, 1e300] {
            for epsilon in [0.0, 5e-324, 1e-9, 1.0, 700.0, 800.0, 1e300, f64::INFINITY] {
                let bound = bound(order, divergence);
                for found in [
                    bound.delta(at(epsilon)),
                    bound.delta_mironov(at(epsilon)),
                    bound.delta_canonne_kamath_steinke(at(epsilon)),
                    bound.delta_asoodeh(at(epsilon)),
                ] {
                    assert!(
                        (0.0..=1.0).contains(&found.upper()),
                        "{order:e} {divergence:e} {epsilon:e}: {found}"
                    );
                }
            }
        }
    }
}
