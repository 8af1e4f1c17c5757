//! Reports on numbers and vectors, sampled with fixed seeds: without bias, spread as claimed, intervals that cover.
//!
//! A mean of n reports of variance v is compared within 7·√(v/n). By Bernstein's inequality a sound mechanism fails one
//! such comparison with probability below 2e^(−49/2·0.97) < 2e-10 for the n used here.

use dobrushin::numeric::Random;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::{Delta, Epsilon, Positive, Probability};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::estimate::{Accuracy, MeanEstimator, Method, VectorEstimator, mean_plans, mean_records};
use dobrushin_local::mean::{
    self, Bounds, DiscreteGaussian, DiscreteLaplace, Gaussian, Grid, HalfSphere, Hybrid, IntegerNoise,
    Laplace, MeanMechanism, OneBit, Piecewise, Target,
};
use std::collections::HashMap;
use std::num::NonZeroU32;

struct Bits(Random);

impl RandomBits for Bits {
    fn bits(&mut self) -> u64 {
        self.0.bits()
    }
}

fn seeded(seed: u64) -> Bits {
    Bits(Random::new(seed))
}

fn level(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

fn delta(delta: f64) -> Delta {
    Delta::new(delta).unwrap()
}

fn promise(epsilon: f64, delta_: f64) -> LocalPrivacy {
    LocalPrivacy { epsilon: level(epsilon), delta: delta(delta_) }
}

fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

fn mechanisms(bounds: Bounds, epsilon: f64) -> Vec<Box<dyn MeanMechanism>> {
    let by_id = |id: &&str| mean::by_id(id, bounds, level(epsilon), delta(1e-5)).unwrap();
    let mut all: Vec<_> = mean::IDS.iter().map(by_id).collect();
    // Coarse grids, on which rounding shows.
    let grid = Grid::new(bounds, 2).unwrap();
    all.push(Box::new(Piecewise::on(grid, level(epsilon)).unwrap()));
    all.push(Box::new(Hybrid::on(grid, level(epsilon)).unwrap()));
    all.push(Box::new(Laplace::on(grid, level(epsilon)).unwrap()));
    all.push(Box::new(Gaussian::on(grid, level(epsilon), delta(1e-5)).unwrap()));
    all
}

#[test]
fn reports_have_the_value_as_mean_and_the_variance_claimed() {
    let bounds = Bounds::new(-3.0, 5.0).unwrap();
    for epsilon in [1e-3, 0.5, 2.0, 20.0] {
        for mechanism in mechanisms(bounds, epsilon) {
            for value in [-3.0f64, -1.234, 0.3, 1.0, 4.9, 5.0] {
                let mut bits = seeded(0x5eed ^ value.to_bits());
                let n = 20_000;
                let (mut sum, mut squares, mut fourths) = (0.0, 0.0, 0.0);
                for _ in 0..n {
                    let report = mechanism.privatise(value, &mut bits);
                    assert!(mechanism.is_report(report), "{}: {report}", mechanism.id());
                    let off = report - value;
                    sum += off;
                    squares += off * off;
                    fourths += off.powi(4);
                }
                let (n, variance) = (f64::from(n), mechanism.variance(value));
                let name = format!("{} at ε = {epsilon}, {value}", mechanism.id());
                assert!(variance.relative_width() < 1e-6, "{name}: {variance}");
                let allowed = 7.0 * (variance.upper() / n).sqrt();
                assert!((sum / n).abs() <= allowed + 1e-12, "{name}: {} over {allowed}", sum / n);
                // The fourth moment is that of the sample, hence 9 rather than 7.
                let spread = 9.0 * (fourths / n / n).sqrt() + 1e-12;
                let seen = squares / n;
                // A report of probability below 25/n may be missing from the sample (e^(−25) < 2e-11).
                let farthest =
                    mechanism.range().map_or(0.0, |(least, most)| (most - value).max(value - least));
                let rare = 25.0 / n * farthest * farthest;
                assert!((seen - variance.midpoint()).abs() <= spread + rare, "{name}: {seen} {variance}");
                assert!(variance.upper() <= mechanism.worst_variance(Target::Records).upper(), "{name}");
                let population = mechanism.worst_variance(Target::Population).upper();
                assert!(variance.upper() + (value - 1.0).powi(2) <= population * (1.0 + 1e-12), "{name}");
            }
        }
    }
}

#[test]
fn the_largest_variance_is_nearly_attained() {
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    for epsilon in [0.1, 0.7, 1.5, 6.0] {
        for mechanism in mechanisms(bounds, epsilon).into_iter().take(5) {
            let seen = (0..=1000).map(|i| mechanism.variance(f64::from(i) / 1000.0).upper());
            let (seen, worst) = (seen.fold(0.0, f64::max), mechanism.worst_variance(Target::Records).upper());
            assert!(seen <= worst && worst <= seen * (1.0 + 1e-6), "{} {seen} {worst}", mechanism.id());
        }
    }
}

#[test]
fn variances_are_those_of_the_continuous_mechanisms() {
    // Wang et al. 2019, for values in [−1, 1].
    let bounds = Bounds::new(-1.0, 1.0).unwrap();
    for epsilon in [0.2f64, 1.0, 3.0, 7.0] {
        let (e, h) = (epsilon.exp(), (epsilon / 2.0).exp());
        for x in [0.0, 0.25, 0.9, 1.0] {
            let duchi = ((e + 1.0) / (e - 1.0)).powi(2) - x * x;
            let piecewise = x * x / (h - 1.0) + (h + 3.0) / (3.0 * (h - 1.0) * (h - 1.0));
            let share = if epsilon > 0.61 { 1.0 - 1.0 / h } else { 0.0 };
            let laplace = 2.0 * (2.0 / epsilon).powi(2);
            let expected = [duchi, piecewise, share * piecewise + (1.0 - share) * duchi, laplace];
            for (mechanism, expected) in mechanisms(bounds, epsilon).iter().zip(expected) {
                let variance = mechanism.variance(x).midpoint();
                assert!((variance / expected - 1.0).abs() < 2e-4, "{} {variance} {expected}", mechanism.id());
            }
        }
    }
}

#[test]
fn the_cells_of_a_coarse_piecewise_mechanism_are_as_likely_as_its_channel_says() {
    let bounds = Bounds::new(0.0, 8.0).unwrap();
    let mechanism = Piecewise::on(Grid::new(bounds, 3).unwrap(), level(1.0)).unwrap();
    // p on 5 cells, 1 − p on 8 others.
    let odds = 1f64.exp() * 5.0 / 8.0;
    let p = odds / (1.0 + odds);
    for point in 0..=8u32 {
        let (n, mut seen) = (100_000, HashMap::new());
        let mut bits = seeded(77 + u64::from(point));
        for _ in 0..n {
            *seen.entry(mechanism.privatise(f64::from(point), &mut bits).to_bits()).or_insert(0) += 1;
        }
        assert_eq!(seen.len() as u64, mechanism.cells());
        for cell in 0..mechanism.cells() {
            let inside = (u64::from(point)..u64::from(point) + 5).contains(&cell);
            let expected = if inside { p / 5.0 } else { (1.0 - p) / 8.0 };
            let share = f64::from(seen[&mechanism.report(cell).to_bits()]) / f64::from(n);
            assert!(
                (share - expected).abs() < 7.0 * (expected / f64::from(n)).sqrt(),
                "{point} {cell} {share}"
            );
        }
    }
}

#[test]
fn integer_noise_has_exactly_its_law() {
    let check = |name: &str, n: u32, sample: &mut dyn FnMut() -> i128, weight: &dyn Fn(f64) -> f64| {
        let total: f64 = (-4000..=4000).map(|k| weight(f64::from(k))).sum();
        let mut seen = HashMap::new();
        for _ in 0..n {
            *seen.entry(sample()).or_insert(0u32) += 1;
        }
        let n = f64::from(n);
        // The second moment adds up what many outcomes tell.
        let moment =
            |power: i32| (-4000..=4000).map(|k| f64::from(k).powi(power) * weight(f64::from(k))).sum::<f64>();
        let (second, fourth) = (moment(2) / total, moment(4) / total);
        let square = seen.iter().map(|(k, count)| (*k as f64).powi(2) * f64::from(*count)).sum::<f64>() / n;
        let allowed = 7.0 * ((fourth - second * second) / n).sqrt();
        assert!((square - second).abs() < allowed, "{name}: {square} {second} ± {allowed}");
        for k in -40..=40i32 {
            let expected = weight(f64::from(k)) / total;
            let share = f64::from(seen.get(&i128::from(k)).copied().unwrap_or(0)) / n;
            let allowed = 7.0 * (expected / n).sqrt() + 20.0 / n;
            assert!((share - expected).abs() < allowed, "{name}: {share} {expected} at {k}");
        }
    };
    for scale in [1u64, 2, 7, 30] {
        let (noise, mut bits) = (DiscreteLaplace::new(scale).unwrap(), seeded(scale));
        check("Laplace", 400_000, &mut || noise.sample(&mut bits), &|k| (-k.abs() / scale as f64).exp());
    }
    for sixteenths in [5u32, 16, 43, 160] {
        let (noise, mut bits) = (DiscreteGaussian::new(sixteenths).unwrap(), seeded(u64::from(sixteenths)));
        let sigma = noise.sigma();
        check("Gaussian", 400_000, &mut || noise.sample(&mut bits), &|k| {
            (-k * k / (2.0 * sigma * sigma)).exp()
        });
        let weight = |k: i32| (-f64::from(k * k) / (2.0 * sigma * sigma)).exp();
        let square: f64 = (-200..=200).map(|k| f64::from(k * k) * weight(k)).sum();
        let exact = square / (-200..=200).map(weight).sum::<f64>();
        let said = noise.variance();
        assert!(
            said.lower() <= exact * (1.0 + 1e-14) && exact * (1.0 - 1e-14) <= said.upper(),
            "{exact} {said}"
        );
    }
}

/// More than this many misses in 400 have probability below 1e-9 if each has probability 0.05 or less: the divergence
/// of 56/400 from 0.05, times 400, is above 21.
const MOST_MISSES: u32 = 55;

#[test]
fn intervals_cover_and_half_of_them_would_not() {
    let bounds = Bounds::new(0.0, 10.0).unwrap();
    for epsilon in [0.5f64, 4.0] {
        for mechanism in mechanisms(bounds, epsilon) {
            let mut misses = [0u32; 3];
            let mut bits = seeded(epsilon.to_bits());
            for _ in 0..400 {
                // Values from a law with mean 7.
                let mut estimator = MeanEstimator::new(mechanism.as_ref());
                for _ in 0..300 {
                    let value = [10.0, 10.0, 1.0][(bits.bits() % 3) as usize];
                    estimator.add(mechanism.privatise(value, &mut bits)).unwrap();
                }
                let estimate = estimator.estimate(probability(0.95), Target::Population).unwrap();
                let off = (estimate.mean - 7.0).abs();
                assert!(estimate.normal <= estimate.certain * 1.5);
                for (missed, half) in
                    misses.iter_mut().zip([estimate.normal, estimate.certain, estimate.normal / 2.0])
                {
                    *missed += u32::from(off > half);
                }
            }
            assert!(misses[0] <= MOST_MISSES && misses[1] <= MOST_MISSES, "{} {misses:?}", mechanism.id());
            assert!(misses[2] > MOST_MISSES, "{} {misses:?}", mechanism.id());
        }
    }
}

#[test]
fn intervals_for_those_who_reported_cover_their_mean() {
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    for mechanism in mechanisms(bounds, 3.0) {
        let (mut misses, mut bits) = (0, seeded(3));
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 7) / 6.0).collect();
        let mean = values.iter().sum::<f64>() / 200.0;
        for _ in 0..400 {
            let mut estimator = MeanEstimator::new(mechanism.as_ref());
            for &value in &values {
                estimator.add(mechanism.privatise(value, &mut bits)).unwrap();
            }
            let estimate = estimator.estimate(probability(0.95), Target::Records).unwrap();
            misses += u32::from((estimate.mean - mean).abs() > estimate.certain);
        }
        assert!(misses <= MOST_MISSES, "{} {misses}", mechanism.id());
    }
}

#[test]
fn moments_are_bounded_by_what_is_said_of_them() {
    // ln E e^(t(Y − x)) of the sample, which for small t is close to the truth.
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    for mechanism in mechanisms(bounds, 1.0) {
        let deviation = mechanism.worst_variance(Target::Records).sqrt().upper();
        for value in [0.0, 0.4, 1.0] {
            let mut bits = seeded(9);
            let reports: Vec<f64> =
                (0..50_000).map(|_| mechanism.privatise(value, &mut bits) - value).collect();
            for t in [-0.5 / deviation, 0.1 / deviation, 0.6 / deviation] {
                let moment = reports.iter().map(|off| (t * off).exp()).sum::<f64>() / reports.len() as f64;
                for of in [Target::Records, Target::Population] {
                    let said = mechanism.log_moment(Positive::new(t.abs()).unwrap(), of).upper();
                    assert!(moment.ln() <= said + 0.03, "{} {} {said}", mechanism.id(), moment.ln());
                    assert!(said < 40.0, "{} {said}", mechanism.id());
                }
            }
        }
    }
}

#[test]
fn adding_a_report_many_times_at_once_is_adding_it_many_times() {
    let mechanism = Laplace::new(Bounds::new(-1.0, 2.0).unwrap(), level(1.0)).unwrap();
    let (mut one_by_one, mut at_once) = (MeanEstimator::new(&mechanism), MeanEstimator::new(&mechanism));
    for (report, times) in [(-7.25, 3), (0.1, 1), (0.3, 0), (1e3, 200)] {
        at_once.add_times(report, times).unwrap();
        (0..times).for_each(|_| one_by_one.add(report).unwrap());
    }
    assert!(at_once.add_times(f64::NAN, 1).is_err());
    let [all, found] =
        [one_by_one, at_once].map(|e| e.estimate(probability(0.9), Target::Population).unwrap());
    assert_eq!((found.records, found.certain), (204, all.certain));
    assert!((found.mean / all.mean - 1.0).abs() < 1e-14);
    assert!((found.standard_error / all.standard_error - 1.0).abs() < 1e-12);
}

#[test]
fn adding_in_two_parts_is_adding_all_and_foreign_reports_are_refused() {
    let mechanism = OneBit::new(Bounds::new(-1.0, 1.0).unwrap(), level(1.0)).unwrap();
    let mut bits = seeded(4);
    let (mut all, mut first, mut second) =
        (MeanEstimator::new(&mechanism), MeanEstimator::new(&mechanism), MeanEstimator::new(&mechanism));
    for i in 0..1000 {
        let report = mechanism.privatise(0.5, &mut bits);
        all.add(report).unwrap();
        if i < 300 { first.add(report).unwrap() } else { second.add(report).unwrap() }
    }
    first.merge(&second);
    first.merge(&MeanEstimator::new(&mechanism));
    let [merged, all] = [first, all].map(|e| e.estimate(probability(0.9), Target::Records).unwrap());
    assert!((merged.mean - all.mean).abs() < 1e-14 && merged.records == 1000);
    assert!((merged.standard_error / all.standard_error - 1.0).abs() < 1e-12);
    for report in [f64::NAN, f64::INFINITY, 3.0, -1e9] {
        assert!(second.add(report).unwrap_err().to_string().contains("the report is"), "{report}");
    }
    let empty = MeanEstimator::new(&mechanism);
    assert!(empty.estimate(probability(0.9), Target::Records).is_err());
    assert!(second.estimate(probability(1.0), Target::Records).is_err());
}

#[test]
fn values_that_are_none_are_reported_as_a_bound() {
    let bounds = Bounds::new(-1.0, 1.0).unwrap();
    for mechanism in mechanisms(bounds, 2.0) {
        for (given, counted) in [(f64::NAN, -1.0), (f64::INFINITY, 1.0), (-1e300, -1.0), (7.0, 1.0)] {
            let (a, b) =
                (mechanism.privatise(given, &mut seeded(1)), mechanism.privatise(counted, &mut seeded(1)));
            assert_eq!(a, b, "{}", mechanism.id());
        }
    }
}

#[test]
fn plans_name_the_best_mechanism_and_suffice() {
    let bounds = Bounds::new(0.0, 100.0).unwrap();
    let (width, confidence) = (Positive::new(1.0).unwrap(), probability(0.95));
    for (epsilon, best) in [(0.5, "one-bit"), (3.0, "piecewise"), (8.0, "piecewise")] {
        for accuracy in [
            Accuracy::StandardError(width),
            Accuracy::HalfWidth { width, confidence, method: Method::Normal },
            Accuracy::HalfWidth { width, confidence, method: Method::Certain },
        ] {
            let plans = mean_plans(bounds, promise(epsilon, 1e-6), accuracy, Target::Records).unwrap();
            assert_eq!(plans.len(), 5);
            assert!(plans.is_sorted_by_key(|plan| plan.records));
            assert!([best, "hybrid"].contains(&plans[0].mechanism), "{epsilon} {accuracy:?} {plans:?}");
        }
    }
    // A plan for a certain interval is as long as the interval says, and one report less is not enough.
    for mechanism in mechanisms(bounds, 1.0) {
        let accuracy =
            Accuracy::HalfWidth { width: Positive::new(4.0).unwrap(), confidence, method: Method::Certain };
        let n = mean_records(mechanism.as_ref(), accuracy, Target::Population).unwrap();
        let after = |n: u64| {
            let mut estimator = MeanEstimator::new(mechanism.as_ref());
            let report = mechanism.privatise(50.0, &mut seeded(1));
            (0..n).for_each(|_| estimator.add(report).unwrap());
            estimator.estimate(confidence, Target::Population).unwrap().certain
        };
        assert!(after(n) <= 4.0 * (1.0 + 1e-6), "{} {n} {}", mechanism.id(), after(n));
        assert!(after(n - n / 500 - 1) > 4.0, "{} {n}", mechanism.id());
    }
    // Without δ there is no Gaussian.
    let accuracy = Accuracy::StandardError(width);
    let plans = mean_plans(bounds, promise(1.0, 0.0), accuracy, Target::Population).unwrap();
    assert!(plans.iter().all(|plan| plan.mechanism != "gaussian"));
    let tiny = Accuracy::StandardError(Positive::new(1e-12).unwrap());
    let message = mean_plans(bounds, promise(1.0, 0.0), tiny, Target::Population).unwrap_err().to_string();
    assert!(message.contains("less accuracy"), "{message}");
}

#[test]
fn reports_on_vectors_have_the_vector_as_mean_and_cover_it() {
    for (dimension, epsilon, vector) in [
        (1, 1.0, vec![-0.7]),
        (2, 2.0, vec![0.3, -1.2]),
        (5, 1.0, vec![0.1, 0.0, -0.4, 1.0, 0.2]),
        (3, 20.0, vec![0.0, 0.0, 0.0]),
    ] {
        let radius = Positive::new(1.5).unwrap();
        let mechanism = HalfSphere::new(NonZeroU32::new(dimension).unwrap(), radius, level(epsilon)).unwrap();
        assert_eq!(mechanism.privacy().delta(level(epsilon)).upper(), 0.0);
        assert!(mechanism.privacy().epsilon(delta(0.0)).lower() > epsilon - 1e-7);
        let (n, mut bits) = (60_000, seeded(u64::from(dimension)));
        let mut estimator = VectorEstimator::new(&mechanism);
        let mut coordinate_squares = vec![0.0; dimension as usize];
        for _ in 0..n {
            let report = mechanism.privatise(&vector, &mut bits).unwrap();
            let decoded = mechanism.decode(report);
            let norm = decoded.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!((norm / mechanism.length().midpoint() - 1.0).abs() < 1e-12);
            decoded.iter().zip(&mut coordinate_squares).for_each(|(x, sum)| *sum += x * x);
            estimator.add(report);
        }
        let estimate = estimator.estimate(probability(1.0 - 1e-10)).unwrap();
        let off: Vec<f64> = estimate.mean.iter().zip(&vector).map(|(a, b)| a - b).collect();
        for (off, squares) in off.iter().zip(coordinate_squares) {
            assert!(off.abs() < 7.0 * squares.sqrt() / f64::from(n), "{off} in {dimension} dimensions");
        }
        let distance = off.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(distance < estimate.certain && estimate.certain < 8.0 * estimate.standard_error);
    }
}

#[test]
fn the_scale_of_vectors_is_known_in_low_dimensions() {
    // c = 1, 2/π, 1/2 in one, two and three dimensions.
    for (dimension, cosine) in [(1, 1.0), (2, 2.0 / std::f64::consts::PI), (3, 0.5)] {
        let one = Positive::new(1.0).unwrap();
        let mechanism = HalfSphere::new(NonZeroU32::new(dimension).unwrap(), one, level(1.0)).unwrap();
        let expected = 1.0 / (cosine * 0.5f64.tanh());
        assert!((mechanism.length().midpoint() / expected - 1.0).abs() < 1e-13);
        let variance = mechanism.variance(0.5).midpoint();
        assert!((variance / (expected * expected - 0.25) - 1.0).abs() < 1e-13);
    }
}

#[test]
fn vectors_that_are_none_are_refused() {
    let two = NonZeroU32::new(2).unwrap();
    let mechanism = HalfSphere::new(two, Positive::new(1.0).unwrap(), level(1.0)).unwrap();
    let refused = |vector: &[f64], word: &str| {
        let message = mechanism.privatise(vector, &mut seeded(1)).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    refused(&[1.0], "1 entries, but 2");
    refused(&[f64::NAN, 0.0], "a coordinate of the vector is NaN");
    refused(&[0.0, f64::INFINITY], "inf");
    refused(&[1e200, 0.0], "1e150");
    assert!(HalfSphere::new(two, Positive::new(1e200).unwrap(), level(1.0)).is_err());
    assert!(HalfSphere::new(two, Positive::new(1.0).unwrap(), level(0.0)).is_err());
}

#[test]
fn a_seed_stands_for_the_same_direction_for_ever() {
    let three = NonZeroU32::new(3).unwrap();
    let mechanism = HalfSphere::new(three, Positive::new(1.0).unwrap(), level(1.0)).unwrap();
    let report = dobrushin_local::mean::SphereReport { seed: 42, positive: true };
    let decoded = mechanism.decode(report);
    let unit: Vec<i64> =
        decoded.iter().map(|x| (x / mechanism.length().midpoint() * 1e12).round() as i64).collect();
    assert_eq!(unit, [252_682_865_187, -892_851_167_978, -372_784_336_421]);
}
