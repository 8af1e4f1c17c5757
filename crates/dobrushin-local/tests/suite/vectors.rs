//! Mechanisms for vectors: what a report may be, how likely it is, and what it says about the vector on average.

use dobrushin::kernel::{FiniteKernel, Kernel};
use dobrushin::numeric::Random;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::{Delta, Epsilon, Gamma, Positive, Probability};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::estimate::{Family, VectorEstimator, vector_plans};
use dobrushin_local::mean::{HalfSphere, PrivUnit, VECTOR_IDS, VectorMechanism, clip_to_ball, vector_by_id};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

fn level(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

fn positive(x: f64) -> Positive {
    Positive::new(x).unwrap()
}

fn cap(dimension: u32, epsilon: f64, axes: u32, nearest: u32) -> PrivUnit {
    PrivUnit::on(count(dimension), positive(1.0), level(epsilon), count(axes), count(nearest)).unwrap()
}

struct Seeded(Random);

impl RandomBits for Seeded {
    fn bits(&mut self) -> u64 {
        self.0.bits()
    }
}

fn seeded(seed: u64) -> Seeded {
    Seeded(Random::new(seed))
}

/// Words in a given order.
struct Given(Vec<u64>, usize);

impl RandomBits for Given {
    fn bits(&mut self) -> u64 {
        self.1 += 1;
        self.0[self.1 - 1]
    }
}

/// Vectors of all kinds: on the sphere, inside, zero, tiny, huge, equal in some coordinates.
fn vectors() -> Vec<Vec<f64>> {
    vec![
        vec![1.0, 0.0, 0.0],
        vec![-1.0, 0.0, 0.0],
        vec![0.6, -0.8, 0.0],
        vec![0.1, 0.1, 0.1],
        vec![0.0, 0.0, 0.0],
        vec![1e-300, -1e-300, 0.0],
        vec![1e140, 1e140, -1e140],
        vec![-0.3, 0.9, 0.2],
    ]
}

/// The first word for which `below(count)` is `index`.
fn word_for(index: u64, count: u64) -> u64 {
    let first = (u128::from(index) << 64).div_ceil(u128::from(count)) as u64;
    // In the middle of its range, where nothing is redrawn.
    first + u64::MAX / count / 2
}

/// Every report has the probability that the profile is computed from: all words are tried that lead to different
/// reports, with one seed.
#[test]
fn given_the_seed_every_choice_has_one_of_two_probabilities_and_none_is_told_by_more_than_epsilon() {
    for (axes, nearest, epsilon) in [(1, 1, 1.0), (3, 1, 0.7), (4, 3, 2.0), (6, 6, 0.1), (8, 2, 5.0)] {
        let mechanism = cap(3, epsilon, axes, nearest);
        let choices = 2 * u64::from(axes);
        let p = mechanism.nearness().midpoint();
        for seed in [0, 42, u64::MAX] {
            let mut rows = Vec::new();
            for vector in vectors() {
                for keeps in [0, u64::MAX] {
                    let mut law = vec![0.0; choices as usize];
                    for (toss, among, share) in
                        [(0, u64::from(nearest), p), (u64::MAX, choices - u64::from(nearest), 1.0 - p)]
                    {
                        for index in 0..among {
                            let words = vec![keeps, seed, toss, word_for(index, among)];
                            let [told, choice] = mechanism.report(&vector, &mut Given(words, 0)).unwrap();
                            assert!(told == seed && mechanism.is_report([told, choice]));
                            assert_eq!(law[choice as usize], 0.0, "each choice is made once");
                            law[choice as usize] = share / among as f64;
                        }
                    }
                    assert!(law.iter().all(|&probability| probability > 0.0));
                    rows.push(law);
                }
            }
            let channel = FiniteKernel::proportional_to(rows).unwrap();
            for part in [0.0, 0.3, 0.9, 1.0] {
                let seen = channel.contraction(Gamma::from_epsilon(part * epsilon).unwrap()).midpoint();
                let said = mechanism.privacy().delta(level(part * epsilon));
                assert!((seen - said.midpoint()).abs() < 1e-14, "{axes} {nearest} {epsilon}: {seen} {said}");
            }
        }
        assert_eq!(mechanism.privacy().delta(level(epsilon)).upper(), 0.0);
        let used = mechanism.privacy().epsilon(Delta::new(0.0).unwrap());
        assert!(used.upper() <= epsilon && used.lower() > epsilon * (1.0 - 1e-6), "{used}");
    }
}

#[test]
fn every_level_is_kept_exactly_by_every_mechanism() {
    for epsilon in [1e-6, 0.3, 4.0, 12.0, 1000.0] {
        for (id, dimension) in VECTOR_IDS.into_iter().flat_map(|id| [1, 2, 50].map(|d| (id, d))) {
            let mechanism = vector_by_id(id, count(dimension), positive(2.0), level(epsilon)).unwrap();
            let kept = mechanism.privacy().delta(level(epsilon)).upper();
            assert_eq!(kept, 0.0, "{id} in {dimension} dimensions at {epsilon}");
            let length = mechanism.length();
            assert!(
                length.lower() > 0.0 && length.relative_width() < 1e-4,
                "{id} {dimension} {epsilon}: {length}"
            );
            assert!(mechanism.coordinate_moment().upper() <= length.square().upper());
        }
    }
}

/// The nearest are those with the largest cosines, as an independent computation finds them.
#[test]
fn the_cap_is_what_is_nearest() {
    let mechanism = cap(3, 2.0, 16, 5);
    let vector = [0.2, -0.5, 0.7];
    for seed in 0..50 {
        let ranked = mechanism.ranked(&vector, seed);
        assert_eq!(ranked.iter().collect::<BTreeSet<_>>().len(), 32);
        let cosine = |choice: u64| -> f64 {
            mechanism.vector([seed, choice]).iter().zip(vector).map(|(z, x)| z * x).sum()
        };
        let least = ranked[..5].iter().map(|&choice| cosine(choice)).fold(f64::INFINITY, f64::min);
        assert!(least > 0.0 && ranked[5..].iter().all(|&choice| cosine(choice) <= least));
    }
}

/// E of the sum of the m largest of h values |⟨z, e⟩|^power, by Simpson's rule over the angle, with binomial sums.
fn sum_by_quadrature(dimension: u32, h: u32, m: u32, power: i32) -> f64 {
    let n = 20_000;
    let step = std::f64::consts::FRAC_PI_2 / f64::from(n);
    // The cosine is sin(t), with the density cos(t)^(d − 2).
    let density = |t: f64| t.cos().max(0.0).powi(dimension as i32 - 2);
    let weight = |i: u32| {
        if i == 0 || i == n {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    let simpson = |f: &dyn Fn(usize) -> f64| -> f64 {
        (0..=n).map(|i| weight(i) * f(i as usize)).sum::<f64>() * step / 3.0
    };
    let at = |i: usize| i as f64 * step;
    let total = simpson(&|i| density(at(i)));
    // The distribution function, by the trapezoidal rule on the same points.
    let mut below = vec![0.0; n as usize + 1];
    for i in 1..=n as usize {
        let middle = density(at(i) - step / 2.0);
        below[i] = below[i - 1] + (density(at(i - 1)) + 4.0 * middle + density(at(i))) * step / 6.0 / total;
    }
    let few = |u: f64| -> f64 {
        let others = h - 1;
        let mut term = u.powi(others as i32);
        let mut sum = 0.0;
        for k in 0..m {
            sum += term;
            term *= f64::from(others - k.min(others)) / f64::from(k + 1) * (1.0 - u) / u;
        }
        sum
    };
    let value = |i: usize| {
        let u = below[i].clamp(1e-12, 1.0);
        at(i).sin().powi(power) * density(at(i)) * few(u)
    };
    f64::from(h) * simpson(&value) / total
}

#[test]
fn the_scale_is_that_of_order_statistics_computed_in_another_way() {
    let odds =
        |axes: u32, nearest: u32, p: f64| p / f64::from(nearest) - (1.0 - p) / f64::from(2 * axes - nearest);
    for (dimension, axes, nearest, epsilon) in [
        (2, 2, 1, 1.0),
        (2, 30, 9, 2.0),
        (5, 8, 3, 3.0),
        (10, 64, 44, 1.0),
        (40, 20, 1, 6.0),
        (3, 12, 12, 1.0),
    ] {
        let mechanism = cap(dimension, epsilon, axes, nearest);
        let p = mechanism.nearness().midpoint();
        let sum = sum_by_quadrature(dimension, axes, nearest, 1);
        let expected = 1.0 / (sum * odds(axes, nearest, p));
        let length = mechanism.length();
        assert!(
            (length.midpoint() / expected - 1.0).abs() < 1e-4,
            "{dimension} {axes} {nearest}: {length} {expected}"
        );
        assert!(length.relative_width() < 4e-4, "{length}");
        let squares = sum_by_quadrature(dimension, axes, nearest, 2);
        let (h, m, d) = (f64::from(axes), f64::from(nearest), f64::from(dimension));
        let along = p * squares / m + (1.0 - p) * (2.0 * h / d - squares) / (2.0 * h - m);
        let moment = expected * expected * along.max((1.0 - along) / (d - 1.0));
        assert!(
            (mechanism.coordinate_moment().midpoint() / moment - 1.0).abs() < 1e-4,
            "{dimension} {axes} {nearest}"
        );
    }
    // In three dimensions cosines are uniform, and the jth largest of h has mean 1 − j/(h + 1).
    for (axes, nearest) in [(1, 1), (2, 1), (64, 20), (1024, 7), (1024, 1023)] {
        let mechanism = cap(3, 2.0, axes, nearest);
        let (h, m, p) = (f64::from(axes), f64::from(nearest), mechanism.nearness().midpoint());
        let sum = m - m * (m + 1.0) / (2.0 * (h + 1.0));
        let length = mechanism.length();
        let expected = 1.0 / (sum * odds(axes, nearest, p));
        // The enclosure contains the true value, and a value that is off by a little more is outside.
        let room = 1e-12 * expected;
        assert!(
            length.lower() <= expected + room && expected - room <= length.upper(),
            "{axes} {nearest}: {length}"
        );
    }
}

/// The least B² of PrivUnit itself, with r = 1, from its formulas, by numerical optimisation elsewhere.
#[test]
fn the_error_is_nearly_that_of_priv_unit_on_the_sphere() {
    for (dimension, epsilon, ideal) in [
        (2, 1.0, 10.522),
        (3, 4.0, 1.724),
        (10, 1.0, 60.733),
        (10, 4.0, 4.674),
        (10, 8.0, 1.842),
        (100, 2.0, 161.364),
        (100, 6.0, 21.716),
        (1000, 8.0, 133.347),
    ] {
        let mechanism = PrivUnit::new(count(dimension), positive(1.0), level(epsilon)).unwrap();
        let ratio = mechanism.length().square().upper() / ideal;
        assert!((0.999..1.02).contains(&ratio), "{dimension} {epsilon}: {ratio}");
    }
    // With one axis it is the half sphere.
    let half = HalfSphere::new(count(7), positive(3.0), level(1.5)).unwrap();
    let one = PrivUnit::on(count(7), positive(3.0), level(1.5), count(1), count(1)).unwrap();
    assert!((one.length().midpoint() / half.length().midpoint() - 1.0).abs() < 1e-13);
}

#[test]
fn reports_have_the_vector_as_mean_and_their_coordinates_have_the_moments_claimed() {
    for (epsilon, vector) in [
        (1.0, vec![0.3, -1.2]),
        (4.0, vec![0.1, 0.0, -0.4, 1.0, 0.2]),
        (6.0, vec![0.0; 3]),
        (2.0, vec![1.5, 0.0]),
    ] {
        let dimension = count(vector.len() as u32);
        let mechanism = PrivUnit::new(dimension, positive(1.5), level(epsilon)).unwrap();
        let (n, mut bits) = (12_000, seeded(u64::from(dimension.get())));
        let mut squares = vec![0.0; vector.len()];
        let mut estimator = VectorEstimator::new(&mechanism);
        for _ in 0..n {
            let report = mechanism.report(&vector, &mut bits).unwrap();
            let decoded = mechanism.vector(report);
            decoded.iter().zip(&mut squares).for_each(|(x, sum)| *sum += x * x / f64::from(n));
            estimator.add(report);
        }
        let sum: f64 = squares.iter().sum();
        assert!((sum / mechanism.length().square().midpoint() - 1.0).abs() < 1e-9, "every report has norm B");
        let most = mechanism.coordinate_moment().upper();
        assert!(squares.iter().all(|&square| square < 1.1 * most), "{squares:?} {most}");
        let found =
            estimator.coordinates(Probability::new(1.0 - 1e-10).unwrap(), Family::Simultaneous).unwrap();
        for (coordinate, truth) in found.iter().zip(&vector) {
            let off = (coordinate.mean - truth).abs();
            assert!(off < 6.0 * coordinate.standard_error, "{coordinate:?} {truth}");
            assert!(off < coordinate.certain && coordinate.normal < coordinate.certain);
        }
        let whole = estimator.estimate(Probability::new(0.999_999).unwrap()).unwrap();
        let off = whole.mean.iter().zip(&vector).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(off < whole.certain && whole.certain < 7.0 * whole.standard_error);
    }
}

/// The moment claimed for a coordinate is that of a vector along it.
#[test]
fn the_moment_of_a_coordinate_is_attained() {
    let mechanism = cap(8, 6.0, 32, 2);
    let (n, mut bits, mut square) = (20_000, seeded(5), 0.0);
    let mut vector = vec![0.0; 8];
    vector[3] = 1.0;
    for _ in 0..n {
        let report = mechanism.report(&vector, &mut bits).unwrap();
        square += mechanism.vector(report)[3].powi(2) / f64::from(n);
    }
    let claimed = mechanism.coordinate_moment().midpoint();
    assert!((square / claimed - 1.0).abs() < 0.03, "{square} {claimed}");
    assert!(
        claimed > 2.0 * mechanism.length().square().midpoint() / 8.0,
        "more than a uniform direction has"
    );
}

#[test]
fn intervals_of_coordinates_cover_as_often_as_they_say() {
    let mechanism = cap(2, 3.0, 8, 2);
    let (people, runs) = ([[0.9, 0.0], [0.0, -0.5], [0.3, 0.3]], 300);
    let truth = [0.4, -0.2 / 3.0];
    let confidence = Probability::new(0.9).unwrap();
    let mut misses = [0; 3];
    for run in 0..runs {
        let (mut bits, mut estimator) = (seeded(1000 + run), VectorEstimator::new(&mechanism));
        // People are drawn from a population of three.
        for _ in 0..300 {
            let person = people[(bits.bits() % 3) as usize];
            estimator.add(mechanism.report(&person, &mut bits).unwrap());
        }
        let found = estimator.coordinates(confidence, Family::Single).unwrap();
        for (coordinate, truth) in found.iter().zip(truth) {
            let off = (coordinate.mean - truth).abs();
            misses[0] += u32::from(off > coordinate.normal);
            misses[1] += u32::from(off > coordinate.certain);
            misses[2] += u32::from(off > coordinate.certain / 3.0);
        }
    }
    // Of 600, a tenth may miss by the normal law, and at most a tenth for certain.
    assert!((30..=95).contains(&misses[0]), "{misses:?}");
    assert!(misses[1] <= 60 && misses[2] > 60, "{misses:?}");
}

#[test]
fn a_seed_and_a_choice_stand_for_the_same_direction_for_ever() {
    let mechanism = cap(3, 1.0, 4, 2);
    let length = mechanism.length().midpoint();
    let unit = |choice: u64| -> Vec<i64> {
        mechanism.vector([42, choice]).iter().map(|x| (x / length * 1e12).round() as i64).collect()
    };
    let turned: Vec<i64> = unit(6).iter().map(|x| -x).collect();
    assert_eq!(unit(7), turned);
    assert_eq!(unit(0), FIRST, "{:?}", unit(0));
}

const FIRST: [i64; 3] = [-644_031_734_417, 100_070_829_305, -758_425_312_200];

#[test]
fn what_is_no_vector_and_what_cannot_be_made_is_refused() {
    let mechanism = cap(2, 1.0, 4, 2);
    let refused = |vector: &[f64], word: &str| {
        let message = mechanism.report(vector, &mut seeded(1)).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    refused(&[1.0], "1 entries, but 2");
    refused(&[f64::NAN, 0.0], "a coordinate of the vector is NaN");
    refused(&[1e200, 0.0], "1e150");
    let make = |d: u32, r: f64, e: f64, h: u32, m: u32| {
        PrivUnit::on(count(d), positive(r), level(e), count(h), count(m)).unwrap_err().to_string()
    };
    assert!(make(2, 1.0, 1.0, 4, 5).contains("nearest directions is 5"));
    assert!(make(1, 1.0, 1.0, 2, 1).contains("1 in one dimension"));
    assert!(make(2, 1e200, 1.0, 1, 1).contains("the radius"));
    assert!(make(2, 1.0, 0.0, 1, 1).contains("epsilon is 0"));
    assert!(
        PrivUnit::new(count(1 << 17), positive(1.0), level(1.0))
            .unwrap_err()
            .to_string()
            .contains("up to 65536")
    );
    assert!(vector_by_id("no-such", count(2), positive(1.0), level(1.0)).is_err());
}

#[test]
fn a_vector_outside_the_ball_is_moved_to_its_surface_along_its_direction() {
    for (vector, clipped) in [
        (vec![0.3, 0.4], false),
        (vec![3.0, 4.0], true),
        (vec![f64::MAX, -f64::MAX], true),
        (vec![1e-300, 2e-300], false),
        (vec![0.0, -0.0], false),
    ] {
        let found = clip_to_ball(vector.clone(), positive(1.0)).unwrap();
        assert_eq!(found.clipped, clipped, "{vector:?}");
        let norm = found.value.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(norm < 1.0 + 1e-12 && (!clipped || norm > 1.0 - 1e-12), "{found:?}");
        // The direction is kept.
        let turned = found.value[0] * (vector[1] / 1e10) - found.value[1] * (vector[0] / 1e10);
        assert!(turned.abs() <= 1e-15 * vector[0].abs(), "{found:?}");
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(clip_to_ball(vec![0.0, bad], positive(1.0)).is_err());
    }
}

#[test]
fn parts_of_a_promise_add_up_to_no_more_than_it() {
    // Exactly, in units of 2⁻¹⁰⁰.
    let fixed = |x: f64| (x * 2f64.powi(100)) as u128;
    for epsilon in [0.1, 1.0, std::f64::consts::PI, 7.3, 63.999_999] {
        let promise = LocalPrivacy { epsilon: level(epsilon), delta: Delta::new(0.1).unwrap() };
        for shares in [vec![1, 1, 1], vec![2, 1], vec![1; 7], vec![3, 5, 11, 900], vec![1; 1000], vec![5]] {
            let total = count(shares.iter().sum());
            let parts: Vec<LocalPrivacy> =
                shares.iter().map(|&share| promise.part(share, total).unwrap()).collect();
            let sum: u128 = parts.iter().map(|part| fixed(part.epsilon.get())).sum();
            let delta: u128 = parts.iter().map(|part| fixed(part.delta.get())).sum();
            assert!(sum <= fixed(epsilon) && delta <= fixed(0.1));
            assert!(sum as f64 > fixed(epsilon) as f64 * (1.0 - 1e-15));
        }
    }
}

#[test]
fn the_plan_for_vectors_is_best_first_and_says_what_coordinates_cost() {
    let plans = |dimension: u32, epsilon: f64, delta: f64| {
        let privacy = LocalPrivacy { epsilon: level(epsilon), delta: Delta::new(delta).unwrap() };
        vector_plans(count(dimension), positive(2.0), privacy, positive(0.1)).unwrap()
    };
    for (dimension, epsilon) in [(2, 0.5), (10, 4.0), (100, 2.0)] {
        let found = plans(dimension, epsilon, 0.0);
        assert!(found.is_sorted_by_key(|plan| plan.records));
        assert_eq!((found[0].mechanism, found.len()), ("priv-unit", 6), "{found:?}");
        for plan in &found {
            let needed = (plan.standard_deviation / 0.1).powi(2);
            assert!((plan.records as f64 / needed - 1.0).abs() < 1e-3 + 1.0 / needed);
        }
    }
    // d Laplace reports of scale 2r·d/ε: 2·d·(2rd/ε)², and the spread of the values.
    let laplace =
        plans(3, 3.0, 0.0).into_iter().find(|plan| plan.mechanism == "laplace, each coordinate").unwrap();
    let expected = 3.0 * (2.0 * 16.0 + 4.0);
    assert!((laplace.standard_deviation.powi(2) / expected - 1.0).abs() < 1e-2, "{laplace:?}");
    // In one dimension with a large ε, a number is better reported as one.
    assert_ne!(plans(1, 8.0, 0.0)[0].mechanism, "priv-unit");
    assert!(plans(2, 1.0, 1e-6).iter().any(|plan| plan.mechanism == "gaussian, each coordinate"));
    // In very many dimensions there is still the half sphere.
    assert!(plans(1 << 17, 1.0, 0.0).iter().all(|plan| plan.mechanism != "priv-unit"));
}
