//! Privacy profiles and what is built from them: minima, mixtures, groups, tests and attacks.

use dobrushin::divergence::{DiscretePair, FiniteLaw, GaussianPair, Pair};
use dobrushin::numeric::Random;
use dobrushin::numeric::normal;
use dobrushin::profile::{
    ApproximateProfile, BestProfile, Direction, GaussianProfile, GroupProfile, Knot, MixtureProfile,
    PiecewiseProfile, PrivacyProfile, TradeOff, risk,
};
use dobrushin::{Delta, Enclosure, Epsilon, Error, Gamma, NonNegative, Probability, RenyiOrder};
use dobrushin_reference::{is_inside, ln_theta, theta};
use std::num::NonZeroU32;
use std::sync::Arc;

fn at(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

fn gaussian(mu: f64) -> GaussianProfile {
    GaussianProfile::new(NonNegative::new(mu).unwrap())
}

fn approximate(epsilon: f64, bound: f64) -> ApproximateProfile {
    ApproximateProfile::new(at(epsilon), delta(bound))
}

fn records(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

fn knot(epsilon: f64, bound: f64) -> Knot {
    Knot::new(at(epsilon), delta(bound))
}

/// The largest of several finite pairs: a profile with two different directions.
struct FinitePairs(Vec<DiscretePair>);

impl PrivacyProfile for FinitePairs {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let Ok(gamma) = Gamma::from_epsilon(epsilon.get().min(1e5)) else { unreachable!() };
        let of = |pair: &DiscretePair| match direction {
            Direction::Forward => pair.hockey_stick(gamma),
            Direction::Reverse => pair.hockey_stick_reversed(gamma),
        };
        self.0.iter().map(of).fold(Enclosure::ZERO, Enclosure::max)
    }

    fn is_symmetric(&self) -> bool {
        false
    }
}

fn random_law(random: &mut Random, outcomes: usize) -> FiniteLaw {
    let weights: Vec<f64> = (0..outcomes)
        .map(|_| if random.below(8) == 0 { 0.0 } else { random.log_between(1e-4, 1.0) })
        .chain([0.1])
        .collect();
    FiniteLaw::proportional_to("law", weights).unwrap()
}

fn random_pair(random: &mut Random) -> DiscretePair {
    let outcomes = 1 + random.below(5);
    DiscretePair::new(random_law(random, outcomes), random_law(random, outcomes)).unwrap()
}

/// The weight of the left end where a chord in γ passes over `epsilon`.
fn chord_weight(left: f64, epsilon: f64, right: f64) -> f64 {
    (epsilon - right).exp_m1() / (left - right).exp_m1()
}

const DELTAS: [f64; 10] = [0.0, 1e-320, 1e-300, 1e-30, 1e-12, 1e-5, 0.01, 0.3, 0.999, 1.0];

/// What every profile promises.
fn assert_is_a_profile(profile: &dyn PrivacyProfile, name: &str) {
    assert_is_a_profile_but_for(profile, name, 1e-12);
}

/// What every profile promises, convexity to within a relative error.
fn assert_is_a_profile_but_for(profile: &dyn PrivacyProfile, name: &str, bend: f64) {
    let mut levels = vec![0.0, 1e-300, 1e-12, 1e5, 1e300, f64::MAX];
    levels.extend((0..=160).map(|i| 10f64.powf(f64::from(i) / 20.0 - 4.0)));
    for direction in Direction::BOTH {
        levels.extend(
            DELTAS.map(|d| profile.epsilon_of(direction, delta(d)).upper()).iter().filter(|e| e.is_finite()),
        );
    }
    levels.sort_by(f64::total_cmp);
    for direction in Direction::BOTH {
        let value = |epsilon: f64| profile.delta_of(direction, at(epsilon));
        for window in levels.windows(3) {
            let [a, b, c] = [0, 1, 2].map(|i| value(window[i]));
            assert!(a.lower() >= 0.0 && a.upper() <= 1.0, "{name}: δ({:e}) = {a}", window[0]);
            assert!(b.lower() <= a.upper(), "{name}: δ rises from {a} to {b} at {:e}", window[1]);
            if window[0] < window[1] && window[1] < window[2] {
                let chord =
                    c.upper() + chord_weight(window[0], window[1], window[2]) * (a.upper() - c.upper());
                assert!(
                    b.lower() <= chord * (1.0 + bend) + 1e-323,
                    "{name}: not convex at {window:?}: {b} over {chord:e}"
                );
            }
            let logarithm = profile.log_delta_of(direction, at(window[0]));
            let back = logarithm.exp();
            assert!(
                back.lower() <= a.upper() && a.lower() <= back.upper(),
                "{name}: ln δ = {logarithm} and δ = {a} at {:e}",
                window[0]
            );
        }
        let last = profile.delta_of(direction, at(f64::INFINITY));
        assert!(last.lower() >= 0.0 && last.upper() <= 1.0, "{name}: δ(∞) = {last}");
        for target in DELTAS {
            let epsilon = profile.epsilon_of(direction, delta(target));
            assert!(epsilon.lower() >= 0.0, "{name}: ε({target:e}) = {epsilon}");
            if epsilon.upper() < f64::INFINITY {
                assert!(value(epsilon.upper()).upper() <= target, "{name}: δ(ε({target:e})) is above it");
            }
            if epsilon.lower() > 0.0 && epsilon.lower() < f64::INFINITY {
                let before = value(epsilon.lower() * (1.0 - 1e-9));
                assert!(before.upper() >= target, "{name}: ε({target:e}) = {epsilon} is not the smallest");
            }
        }
    }
    if profile.is_symmetric() {
        let epsilon = at(0.7);
        let both = Direction::BOTH.map(|direction| profile.delta_of(direction, epsilon));
        assert_eq!(both[0], both[1], "{name}");
    }
}

#[test]
fn every_profile_keeps_its_promises() {
    let mut random = Random::new(301);
    for mu in [0.0, 1e-8, 0.5, 1.0, 8.0, 60.0, 1e6, f64::INFINITY] {
        assert_is_a_profile(&gaussian(mu), &format!("{mu:e}-GDP"));
    }
    for (epsilon, bound) in [
        (0.0, 0.0),
        (0.0, 1.0),
        (0.0, 0.3),
        (1e-8, 0.0),
        (1.0, 0.0),
        (1.0, 1e-5),
        (3.0, 1.0),
        (800.0, 0.0),
        (800.0, 1e-3),
        (1e5, 0.0),
        (f64::INFINITY, 0.1),
    ] {
        assert_is_a_profile(&approximate(epsilon, bound), &format!("({epsilon:e}, {bound:e})"));
    }
    assert_is_a_profile(&PiecewiseProfile::symmetric(&[]), "nothing");
    let points =
        [knot(0.5, 0.2), knot(1e5, 1e-200), knot(3.0, 1e-3), knot(f64::INFINITY, 0.0), knot(9.0, 0.5)];
    assert_is_a_profile(&PiecewiseProfile::symmetric(&points), "points");
    assert_is_a_profile(&PiecewiseProfile::new(&points, &points[..2]), "points of two directions");
    for case in 0..20 {
        let pair = random_pair(&mut random);
        let profile = PiecewiseProfile::from_curves(&pair.curve(), &pair.reversed().curve());
        assert_is_a_profile(&profile, &format!("pair {case}"));
    }
    let members: Vec<Arc<dyn PrivacyProfile>> =
        vec![Arc::new(gaussian(1.0)), Arc::new(approximate(2.0, 1e-6)), Arc::new(approximate(0.2, 0.1))];
    assert_is_a_profile(&MixtureProfile::new(vec![0.1, 0.2, 0.7], members).unwrap(), "mixture");
    for mu in [1e-8, 0.3, 60.0] {
        assert_is_a_profile(
            &PiecewiseProfile::interpolating(&gaussian(mu), 1e-3),
            &format!("copy of {mu:e}-GDP"),
        );
        assert_is_a_profile(&GroupProfile::new(&gaussian(mu), records(4)), &format!("four times {mu:e}-GDP"));
    }
    let pairs = FinitePairs(vec![random_pair(&mut random)]);
    assert_is_a_profile(&GroupProfile::new(&pairs, records(3)), "group of a finite pair");
    assert_is_a_profile(&GroupProfile::new(&gaussian(0.0), records(1000)), "nothing to see");
}

#[test]
fn the_gaussian_profile_is_theta_and_composes_by_squares() {
    for (mu, epsilon) in [(0.5, 5.0), (1.0, 0.0), (3.0, 2.0), (60.0, 1700.0), (0.1, 10.0), (1e-8, 1e-8)] {
        let profile = gaussian(mu);
        assert!(is_inside(
            profile.delta(at(epsilon)).lower(),
            profile.delta(at(epsilon)).upper(),
            &theta(epsilon, mu)
        ));
        let logarithm = profile.log_delta(at(epsilon));
        assert!(is_inside(logarithm.lower(), logarithm.upper(), &ln_theta(epsilon, mu)));
    }
    let five = GaussianProfile::compose(&[gaussian(3.0), gaussian(4.0)]);
    assert!(five.mu().contains(5.0) && five.mu().relative_width() < 1e-15);
    assert_eq!(GaussianProfile::compose(&[]).mu(), Enclosure::ZERO);
    assert_eq!(GaussianProfile::compose(&[gaussian(1.0), gaussian(f64::INFINITY)]).mu(), Enclosure::INFINITE);
    for mu in [5e-324, 1e-200, 1e-8, 1e200, f64::MAX / 4.0] {
        let composed = GaussianProfile::compose(&[gaussian(mu); 4]).mu();
        assert!(composed.contains(2.0 * mu) && composed.width() <= 2e-15 * mu + 1e-322, "{mu:e}: {composed}");
    }
    assert!(gaussian(3.0).rho().contains(4.5));
    assert!(gaussian(3.0).renyi(RenyiOrder::new(7.0).unwrap()).contains(31.5));
    assert_eq!(gaussian(0.0).renyi(RenyiOrder::new(f64::INFINITY).unwrap()), Enclosure::ZERO);
    assert!(gaussian(0.25).for_group(8).mu().contains(2.0));
    assert_eq!(gaussian(f64::INFINITY).for_group(0).mu(), Enclosure::ZERO);
    assert_eq!(GaussianProfile::from(GaussianPair::new(1.0, 2.0).unwrap()), gaussian(0.5));
}

#[test]
fn approximate_privacy_has_the_profile_of_revealing_or_randomised_response() {
    for (epsilon_0, delta_0) in [(1.0_f64, 0.125), (0.1, 1e-6), (3.0, 0.0), (10.0, 0.5)] {
        // Outcomes: certainly P, certainly Q, response 1, response 2.
        let (high, low) = (epsilon_0.exp() / (epsilon_0.exp() + 1.0), 1.0 / (epsilon_0.exp() + 1.0));
        let p = vec![delta_0, 0.0, (1.0 - delta_0) * high, (1.0 - delta_0) * low];
        let q = vec![0.0, delta_0, (1.0 - delta_0) * low, (1.0 - delta_0) * high];
        let pair =
            DiscretePair::new(FiniteLaw::new("P", p).unwrap(), FiniteLaw::new("Q", q).unwrap()).unwrap();
        for i in 0..60 {
            let epsilon = f64::from(i) * epsilon_0 / 40.0;
            let exact = pair.hockey_stick(Gamma::from_epsilon(epsilon).unwrap());
            let found = approximate(epsilon_0, delta_0).delta(at(epsilon));
            assert!((found.upper() - exact.midpoint()).abs() < 1e-15, "{found} and {exact} at {epsilon}");
            assert!(found.width() < 1e-15);
        }
    }
}

#[test]
fn a_guarantee_at_one_epsilon_bounds_every_pair_at_every_other() {
    let mut random = Random::new(302);
    for case in 0..2_000 {
        let pair = random_pair(&mut random);
        let exact = FinitePairs(vec![pair]);
        let epsilon_0 = random.between(0.0, 4.0);
        let bound = exact.delta(at(epsilon_0)).upper();
        let profile = approximate(epsilon_0, bound);
        let single = PiecewiseProfile::symmetric(&[knot(epsilon_0, bound)]);
        for epsilon in [0.0, random.between(0.0, epsilon_0), random.between(0.0, 6.0)] {
            let (truth, found) = (exact.delta(at(epsilon)), profile.delta(at(epsilon)));
            assert!(truth.lower() <= found.upper(), "case {case}: {truth} above {found}");
            let same = single.delta(at(epsilon));
            assert!((same.upper() - found.upper()).abs() < 2e-15, "case {case}: {same} and {found}");
        }
    }
}

#[test]
fn points_of_both_directions_bound_both_directions_everywhere() {
    let mut random = Random::new(303);
    for case in 0..2_000 {
        let exact = FinitePairs(vec![random_pair(&mut random)]);
        let mut points = |direction| -> Vec<Knot> {
            let count = random.below(4);
            let some = (0..count).map(|_| if random.below(4) == 0 { 0.0 } else { random.between(0.0, 5.0) });
            some.map(|e| knot(e, exact.delta_of(direction, at(e)).upper().min(1.0))).collect()
        };
        let (forward, reverse) = (points(Direction::Forward), points(Direction::Reverse));
        let profile = PiecewiseProfile::new(&forward, &reverse);
        for direction in Direction::BOTH {
            for i in 0..30 {
                let epsilon = at(f64::from(i) / 5.0);
                let (truth, found) =
                    (exact.delta_of(direction, epsilon), profile.delta_of(direction, epsilon));
                assert!(truth.lower() <= found.upper(), "case {case}: {truth} above {found} at {epsilon:?}");
            }
        }
        for (direction, points) in [(Direction::Forward, forward), (Direction::Reverse, reverse)] {
            for point in points {
                let found = profile.delta_of(direction, at(point.epsilon()));
                assert!(
                    found.upper() <= point.delta() * (1.0 + 1e-15),
                    "case {case}: {found} above {point:?}"
                );
            }
        }
    }
}

#[test]
fn the_profile_of_a_finite_pair_is_its_curve() {
    let mut random = Random::new(304);
    for case in 0..500 {
        let pair = random_pair(&mut random);
        let profile = PiecewiseProfile::from_curves(&pair.curve(), &pair.reversed().curve());
        for i in 0..40 {
            let epsilon = f64::from(i) / 4.0;
            let exact = pair.hockey_stick(Gamma::from_epsilon(epsilon).unwrap());
            let found = profile.delta_of(Direction::Forward, at(epsilon));
            assert!(exact.lower() <= found.upper(), "case {case}: {exact} above {found}");
            assert!(found.upper() <= exact.upper() + 1e-13, "case {case}: {found} is far above {exact}");
        }
        let (exact, found) =
            (pair.smallest_epsilon(delta(0.0)), profile.epsilon_of(Direction::Forward, delta(0.0)));
        assert!(
            found.upper() >= exact.lower()
                && (exact.upper() == found.upper() || found.upper() - exact.upper() < 1e-12)
        );
    }
}

#[test]
fn knots_beyond_the_range_of_the_exponential_are_kept_apart() {
    let profile = PiecewiseProfile::symmetric(&[knot(1e5, 1e-3), knot(1e5 + 1.0, 1e-9)]);
    let weight = chord_weight(0.0, 0.5, 1.0);
    let middle = profile.delta(at(1e5 + 0.5));
    assert!((middle.upper() / (1e-9 + weight * (1e-3 - 1e-9)) - 1.0).abs() < 1e-9, "{middle}");
    assert!(profile.delta(at(9e4)).upper() > 0.999);
    assert!((profile.epsilon(delta(1e-3)).upper() - 1e5).abs() < 1e-9);
}

#[test]
fn an_interpolating_copy_is_never_below_and_hardly_above() {
    for (mu, worst) in [(1e-8, 2e-3), (0.1, 2e-3), (1.0, 2e-3), (5.0, 2e-3), (60.0, 2e-2)] {
        let copy = PiecewiseProfile::interpolating(&gaussian(mu), 1e-3);
        let mut random = Random::new(305);
        for _ in 0..2_000 {
            let epsilon = mu * (mu / 2.0 + random.between(-mu / 2.0, 9.0));
            let (truth, found) = (gaussian(mu).delta(at(epsilon)), copy.delta(at(epsilon)));
            assert!(found.upper() >= truth.lower(), "{mu} {epsilon}: {found} below {truth}");
            assert!(
                found.upper() <= truth.upper() * (1.0 + worst),
                "{mu} {epsilon}: {found} far above {truth}"
            );
        }
        println!("μ = {mu:e}: {} knots", copy.knots(Direction::Forward).len());
    }
}

#[test]
fn the_best_profile_is_below_every_member_and_above_the_truth() {
    let mut random = Random::new(306);
    for mu in [1e-3, 0.5, 2.0, 20.0] {
        let members: Vec<Arc<dyn PrivacyProfile>> = (0..4)
            .map(|_| {
                let points: Vec<Knot> = (0..3)
                    .map(|_| {
                        let epsilon = mu * (mu / 2.0 + random.between(-mu / 2.0, 8.0));
                        knot(epsilon, gaussian(mu).delta(at(epsilon)).upper())
                    })
                    .collect();
                Arc::new(PiecewiseProfile::symmetric(&points)) as Arc<dyn PrivacyProfile>
            })
            .collect();
        let best = BestProfile::new(members).unwrap();
        assert_is_a_profile(&best, &format!("best of interpolations, μ = {mu}"));
        for i in 0..200 {
            let epsilon = at(mu * (mu / 2.0 + 9.0) * f64::from(i) / 199.0);
            let found = best.delta(epsilon);
            assert!(found.upper() >= gaussian(mu).delta(epsilon).lower());
            assert!(best.members().iter().all(|m| found.upper() <= m.delta(epsilon).upper()));
            let (winner, least) =
                (best.best_at(epsilon), |i: usize| best.members()[i].delta(epsilon).upper());
            assert!((0..4).all(|i| least(winner) <= least(i)));
        }
    }
}

#[test]
fn the_best_profile_joins_its_members_by_their_common_tangents() {
    // Two guarantees: the hull is known.
    let both = PiecewiseProfile::symmetric(&[knot(0.1, 0.2), knot(3.0, 1e-4)]);
    let members: Vec<Arc<dyn PrivacyProfile>> =
        vec![Arc::new(approximate(0.1, 0.2)), Arc::new(approximate(3.0, 1e-4))];
    let best = BestProfile::new(members).unwrap();
    for i in 0..100 {
        let epsilon = at(f64::from(i) / 25.0);
        let ratio = best.delta(epsilon).upper() / both.delta(epsilon).upper();
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio} at {epsilon:?}");
    }
    assert_eq!((best.best_at(at(0.0)), best.best_at(at(3.0))), (0, 1));
    // A curve and a guarantee that undercuts it: the hull of a dense grid.
    let members: Vec<Arc<dyn PrivacyProfile>> =
        vec![Arc::new(gaussian(1.0)), Arc::new(approximate(1.5, 1e-7))];
    let best = BestProfile::new(members).unwrap();
    let grid: Vec<Knot> = (0..50_000)
        .map(|i| {
            let epsilon = at(f64::from(i) / 5_000.0);
            let least =
                gaussian(1.0).delta(epsilon).upper().min(approximate(1.5, 1e-7).delta(epsilon).upper());
            Knot::new(epsilon, delta(least))
        })
        .collect();
    let dense = PiecewiseProfile::symmetric(&grid);
    let mut gain = 0f64;
    for i in 0..400 {
        let epsilon = at(f64::from(i) / 100.0 + 0.003);
        let (found, expected) = (best.delta(epsilon).upper(), dense.delta(epsilon).upper());
        assert!(
            found <= expected * (1.0 + 1e-8) && expected <= found * (1.0 + 1e-6),
            "{found} and {expected}"
        );
        gain = gain.max(best.members().iter().map(|m| m.delta(epsilon).upper()).fold(1.0, f64::min) / found);
    }
    println!("chords gain a factor of up to {gain:.3}");
    assert!(gain > 1.05);
    assert_is_a_profile(&best, "curve and guarantee");
    assert!(matches!(BestProfile::new(vec![]), Err(Error::Empty { .. })));
}

#[test]
fn the_search_for_common_tangents_ends_where_members_are_equal_up_to_rounding() {
    let members: Vec<Arc<dyn PrivacyProfile>> =
        (0..4).map(|i| Arc::new(gaussian(1.0 + f64::from(i) * 1e-15)) as Arc<dyn PrivacyProfile>).collect();
    let start = std::time::Instant::now();
    let best = BestProfile::new(members).unwrap();
    assert!(start.elapsed().as_secs() < 20);
    let (found, one) = (best.delta(at(1.0)).upper(), gaussian(1.0).delta(at(1.0)).upper());
    assert!((found / one - 1.0).abs() < 1e-12);
}

#[test]
fn the_best_profile_of_two_directions_bounds_both() {
    let mut random = Random::new(307);
    for case in 0..40 {
        let pair = random_pair(&mut random);
        let exact = FinitePairs(vec![pair]);
        let mut member = || {
            let mut points = |direction| {
                [0; 2].map(|_| {
                    let epsilon = random.between(0.0, 4.0);
                    knot(epsilon, exact.delta_of(direction, at(epsilon)).upper())
                })
            };
            let (forward, reverse) = (points(Direction::Forward), points(Direction::Reverse));
            Arc::new(PiecewiseProfile::new(&forward, &reverse)) as Arc<dyn PrivacyProfile>
        };
        let best = BestProfile::new(vec![member(), member(), member()]).unwrap();
        // Members that bend anywhere may hide a common tangent.
        assert_is_a_profile_but_for(&best, &format!("case {case}"), 0.01);
        for (i, direction) in (0..50).flat_map(|i| Direction::BOTH.map(|d| (i, d))) {
            let epsilon = at(f64::from(i) / 10.0);
            assert!(best.delta_of(direction, epsilon).upper() >= exact.delta_of(direction, epsilon).lower());
        }
    }
}

#[test]
fn a_mixture_is_the_average_and_bounds_the_mixed_laws() {
    let mut random = Random::new(308);
    for case in 0..300 {
        let (first, second) = (random_pair(&mut random), random_pair(&mut random));
        let (outcomes, weight) = (first.p().len().max(second.p().len()), random.between(0.0, 1.0));
        let mixed = |a: &FiniteLaw, b: &FiniteLaw| {
            let entry = |law: &FiniteLaw, i: usize| law.probabilities().get(i).copied().unwrap_or(0.0);
            let sum = (0..outcomes).map(|i| weight * entry(a, i) + (1.0 - weight) * entry(b, i)).collect();
            FiniteLaw::new("mixed", sum).unwrap()
        };
        let pair = DiscretePair::new(mixed(first.p(), second.p()), mixed(first.q(), second.q())).unwrap();
        let exact = FinitePairs(vec![pair]);
        let parts = [first, second].map(|pair| FinitePairs(vec![pair]));
        let epsilon = at(random.between(0.0, 3.0));
        let averages = Direction::BOTH.map(|d| {
            weight * parts[0].delta_of(d, epsilon).midpoint()
                + (1.0 - weight) * parts[1].delta_of(d, epsilon).midpoint()
        });
        let members = parts.map(|part| Arc::new(part) as Arc<dyn PrivacyProfile>).to_vec();
        let mixture = MixtureProfile::new(vec![weight, 1.0 - weight], members).unwrap();
        for (direction, average) in Direction::BOTH.into_iter().zip(averages) {
            let found = mixture.delta_of(direction, epsilon);
            assert!((found.midpoint() - average).abs() < 1e-14, "case {case}: {found} and {average}");
            assert!(exact.delta_of(direction, epsilon).lower() <= found.upper() + 1e-15, "case {case}");
        }
    }
    // Pure privacy stays pure: the last ε at which anything is left.
    let pure: Vec<Arc<dyn PrivacyProfile>> =
        vec![Arc::new(approximate(1.0, 0.0)), Arc::new(approximate(2.0, 0.0))];
    let mixture = MixtureProfile::new(vec![0.5, 0.5], pure).unwrap();
    assert_eq!(mixture.epsilon(delta(0.0)).upper(), 2.0);
    // Where δ underflows, its logarithm is that of the sum.
    let members: Vec<Arc<dyn PrivacyProfile>> = vec![Arc::new(gaussian(0.5)), Arc::new(gaussian(0.4))];
    let mixture = MixtureProfile::new(vec![0.25, 0.75], members.clone()).unwrap();
    let logarithm = mixture.log_delta(at(30.0));
    assert!(
        (logarithm.midpoint() - (gaussian(0.5).log_delta(at(30.0)).midpoint() + 0.25f64.ln())).abs() < 1e-9
    );
    assert!(mixture.is_symmetric());
    assert!(matches!(MixtureProfile::new(vec![0.5, 0.4], members.clone()), Err(Error::SumNotOne { .. })));
    assert!(matches!(MixtureProfile::new(vec![1.0], members), Err(Error::LengthMismatch { .. })));
    assert!(matches!(MixtureProfile::new(vec![], vec![]), Err(Error::Empty { .. })));
}

#[test]
fn a_group_of_a_gaussian_mechanism_is_gaussian() {
    for (mu, count) in
        [(1.0, 1), (0.5, 2), (1.0, 2), (0.2, 10), (0.05, 100), (1e-8, 7), (3.0, 3), (0.005, 300)]
    {
        let start = std::time::Instant::now();
        let group = GroupProfile::new(&gaussian(mu), records(count));
        let total = mu * f64::from(count);
        let mut worst = 0f64;
        for i in 0..=200 {
            let epsilon = total * (total / 2.0 + 7.0) * f64::from(i) / 200.0;
            let (truth, found) = (theta(epsilon, total).to_f64(), group.delta(at(epsilon)).upper());
            assert!(found >= truth * (1.0 - 1e-13), "{count} × {mu}: {found} below {truth} at {epsilon}");
            worst = worst.max(found / truth - 1.0);
        }
        println!("{count} records, μ = {mu}: at most {worst:.1e} above; {:?}", start.elapsed());
        assert!(worst < 1e-3, "{count} × {mu}: {worst}");
    }
}

#[test]
fn a_group_under_pure_privacy_ends_at_k_epsilon_and_is_what_chains_of_coins_give() {
    for (epsilon, count) in [(1.0, 1), (0.5, 2), (1.0, 3), (0.1, 50), (300.0, 5)] {
        let group = GroupProfile::new(&approximate(epsilon, 0.0), records(count));
        let end = group.epsilon(delta(0.0));
        assert!((end.upper() / (epsilon * f64::from(count)) - 1.0).abs() < 1e-12, "{end}");
    }
    // Three laws, two by two e^ε apart, with the largest distance of the outer two: 1 − e^(−ε).
    let group = GroupProfile::new(&approximate(0.7, 0.0), records(2));
    for i in 0..20 {
        let epsilon = 1.4 * f64::from(i) / 20.0;
        let expected = chord_weight(0.0, epsilon, 1.4) * -(-0.7f64).exp_m1();
        assert!((group.delta(at(epsilon)).upper() / expected - 1.0).abs() < 1e-12, "at {epsilon}");
    }
}

#[test]
fn a_group_bound_holds_for_every_chain_of_laws() {
    let mut random = Random::new(309);
    for case in 0..150 {
        let (outcomes, count) = (1 + random.below(4), 2 + random.below(3));
        let laws: Vec<FiniteLaw> = (0..=count).map(|_| random_law(&mut random, outcomes)).collect();
        let pair = |i: usize, j: usize| DiscretePair::new(laws[i].clone(), laws[j].clone()).unwrap();
        let single = FinitePairs((0..count).map(|i| pair(i, i + 1)).collect());
        let whole = FinitePairs(vec![pair(0, count)]);
        let group = GroupProfile::new(&single, records(count as u32));
        for (i, direction) in (0..60).flat_map(|i| Direction::BOTH.map(|d| (i, d))) {
            let epsilon = at(f64::from(i) / 8.0);
            let (truth, found) = (whole.delta_of(direction, epsilon), group.delta_of(direction, epsilon));
            assert!(truth.lower() <= found.upper(), "case {case}: {truth} above {found} at {epsilon:?}");
        }
    }
}

#[test]
fn the_trade_off_of_a_gaussian_profile_is_the_neyman_pearson_test() {
    for mu in [1e-8, 0.1, 1.0, 3.0, 6.0] {
        let profile = gaussian(mu);
        let trade_off = TradeOff::new(&profile);
        for alpha in [1e-300, 1e-20, 1e-6, 0.001, 0.05, 0.3, 0.5, 0.9, 0.999] {
            let threshold = normal::tail_inverse(probability(alpha)).midpoint() - mu;
            let (error, power) = (normal::cdf(threshold).midpoint(), normal::tail(threshold).midpoint());
            let (found, found_power) =
                (trade_off.type_two_error(probability(alpha)), trade_off.power(probability(alpha)));
            let close = |found: Enclosure, truth: f64| {
                found.lower() <= truth * (1.0 + 1e-12) && found.upper() >= truth * (1.0 - 1e-12)
            };
            assert!(close(found, error), "{mu} {alpha:e}: {found} and {error:e}");
            assert!(close(found_power, power), "{mu} {alpha:e}: {found_power} and {power:e}");
            assert!(found_power.relative_width() < 1e-8, "{mu} {alpha:e}: {found_power}");
            assert!(found.relative_width() < 1e-6, "{mu} {alpha:e}: {found}");
            let inverse = trade_off.type_one_error(probability(found.upper()));
            assert!(inverse.lower() <= alpha * (1.0 + 1e-12), "{mu} {alpha:e}: inverse {inverse}");
        }
    }
}

#[test]
fn the_trade_off_of_approximate_privacy_is_piecewise_linear() {
    let mut random = Random::new(310);
    for case in 0..400 {
        let epsilon: f64 = random.log_between(1e-3, 20.0);
        let bound = if case % 2 == 0 { 0.0 } else { random.log_between(1e-9, 0.9) };
        let alpha = random.log_between(1e-12, 1.0);
        let expected =
            (1.0 - bound - epsilon.exp() * alpha).max((-epsilon).exp() * (1.0 - bound - alpha)).max(0.0);
        let profile = approximate(epsilon, bound);
        let found = TradeOff::new(&profile).type_two_error(probability(alpha));
        assert!(
            found.lower() <= expected + 1e-15 && expected <= found.upper() + 1e-15,
            "case {case}: {found} {expected}"
        );
        assert!(found.width() < 1e-9, "case {case}: {found}");
    }
}

#[test]
fn the_trade_off_of_a_finite_pair_passes_through_its_best_tests() {
    let mut random = Random::new(311);
    for case in 0..150 {
        let pair = random_pair(&mut random);
        let profile = PiecewiseProfile::from_curves(&pair.curve(), &pair.reversed().curve());
        let trade_off = TradeOff::new(&profile);
        for vertex in pair.curve().vertices() {
            let alpha = vertex.q.min(1.0);
            let found = trade_off.power(probability(alpha));
            assert!(
                found.upper() >= vertex.p - 1e-13,
                "case {case}: {found} below a test of power {}",
                vertex.p
            );
            assert!(found.upper() <= vertex.p + 1e-9, "case {case}: {found} above the best {}", vertex.p);
            let found = trade_off.type_one_error(probability((1.0 - vertex.p).clamp(0.0, 1.0)));
            assert!(found.lower() <= vertex.q + 1e-12, "case {case}: {found} above {}", vertex.q);
        }
    }
}

#[test]
fn trade_off_functions_are_convex_and_decreasing_with_the_right_ends() {
    let pair = random_pair(&mut Random::new(5));
    let finite = FinitePairs(vec![pair.clone()]);
    let profiles: [(&dyn PrivacyProfile, f64); 5] = [
        (&gaussian(1.5), 1.0),
        (&gaussian(0.0), 1.0),
        (&approximate(1.0, 0.1), 0.9),
        (&finite, 1.0 - finite.delta_of(Direction::Forward, at(f64::INFINITY)).midpoint()),
        (&gaussian(f64::INFINITY), 0.0),
    ];
    for (place, (profile, start)) in profiles.into_iter().enumerate() {
        let f = |alpha: f64| TradeOff::new(profile).type_two_error(probability(alpha));
        // For an infinite μ nothing is known at α = 0, where ε is infinite too.
        assert!(
            f(0.0).contains(start) || (f(0.0).midpoint() - start).abs() < 1e-12,
            "{place}: f(0) = {}",
            f(0.0)
        );
        assert!(f(1.0).upper() <= 0.0 && f(1.0).lower() >= 0.0, "{place}: f(1) = {}", f(1.0));
        for i in 1..100 {
            let alpha = f64::from(i) / 100.0;
            let [before, here, after] = [alpha - 0.01, alpha, alpha + 0.01].map(|a| f(a.clamp(0.0, 1.0)));
            assert!(here.upper() <= 1.0 - alpha + 1e-15 && here.lower() >= 0.0);
            assert!(after.lower() <= here.upper(), "{place}: rises at {alpha}");
            assert!(
                here.lower() <= (before.upper() + after.upper()) / 2.0 + 1e-12,
                "{place}: not convex at {alpha}"
            );
        }
    }
}

#[test]
fn risks_bound_every_attack_and_are_attained() {
    let mut random = Random::new(312);
    for case in 0..100 {
        let pair = random_pair(&mut random);
        let profile = PiecewiseProfile::from_curves(&pair.curve(), &pair.reversed().curve());
        let (p, q) = (pair.p().probabilities(), pair.q().probabilities());
        let prior = random.between(0.0, 1.0);
        let (mut advantage, mut success) = (0f64, 0f64);
        for set in 0..1usize << p.len() {
            let mass = |law: &[f64]| -> f64 {
                (0..law.len()).filter(|i| set >> i & 1 == 1).map(|i| law[i]).sum::<f64>().clamp(0.0, 1.0)
            };
            let (hit, false_alarm) = (mass(p), mass(q));
            advantage = advantage.max(hit - false_alarm);
            success = success.max(prior * hit + (1.0 - prior) * (1.0 - false_alarm));
            if set % 5 == 0 {
                let rate = risk::true_positive_rate(&profile, probability(false_alarm));
                assert!(rate.upper() >= hit - 1e-13, "case {case}: {rate} below {hit}");
                let right = prior * hit / (prior * hit + (1.0 - prior) * false_alarm);
                let precision = risk::precision(&profile, probability(prior), probability(false_alarm));
                assert!(
                    right.is_nan() || precision.upper() >= right - 1e-13,
                    "case {case}: {precision} below {right}"
                );
                assert!(precision.lower() >= 0.0 && precision.upper() <= 1.0);
            }
        }
        let found = risk::advantage(&profile);
        assert!((found.upper() - advantage).abs() < 1e-12, "case {case}: {found} and {advantage}");
        let found = risk::bayes_success(&profile, probability(prior));
        assert!((found.upper() - success).abs() < 1e-12, "case {case}: {found} and {success}");
    }
    let profile = gaussian(1.0);
    let half = normal::cdf(0.5).midpoint();
    assert!((risk::advantage(&profile).upper() - (2.0 * half - 1.0)).abs() < 1e-14);
    assert!((risk::bayes_success(&profile, probability(0.5)).upper() - half).abs() < 1e-14);
    for prior in [0.0, 1.0] {
        assert_eq!(risk::bayes_success(&profile, probability(prior)), Enclosure::ONE);
    }
    // ε-DP: the odds of a right claim grow at most by e^ε.
    let pure = approximate(1.0, 0.0);
    let precision = risk::precision(&pure, probability(0.1), probability(1e-9));
    let odds = 0.1 * 1f64.exp();
    assert!((precision.upper() - odds / (odds + 0.9)).abs() < 1e-9, "{precision}");
}
