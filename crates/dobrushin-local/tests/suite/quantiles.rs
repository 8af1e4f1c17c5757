//! Distributions and quantiles of a numeric column through bins, and how many reports frequencies need.

use dobrushin::numeric::Random;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::{Delta, Epsilon, Positive, Probability};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::estimate::{
    Accuracy, Bins, CdfEstimate, CdfEstimator, Method, frequency_plans, frequency_records,
};
use dobrushin_local::frequency::{self, FrequencyOracle};
use dobrushin_local::mean::{Bounds, Target};

struct Bits(Random);

impl RandomBits for Bits {
    fn bits(&mut self) -> u64 {
        self.0.bits()
    }
}

fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

fn promise(epsilon: f64) -> LocalPrivacy {
    LocalPrivacy { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(0.0).unwrap() }
}

fn oracle(id: &str, categories: u32, epsilon: f64) -> Box<dyn FrequencyOracle> {
    let privacy = promise(epsilon);
    frequency::by_id(id, categories, privacy.epsilon, privacy.delta).unwrap().unwrap()
}

/// The distribution that reports on the values tell.
fn told(
    bins: Bins,
    oracle: &dyn FrequencyOracle,
    values: &[f64],
    bits: &mut Bits,
    method: Method,
) -> CdfEstimate {
    let mut estimator = CdfEstimator::new(bins, oracle).unwrap();
    let mut report = vec![0; oracle.report_words()];
    for &value in values {
        oracle.privatise(bins.bin(value), bits, &mut report);
        estimator.add(&report);
    }
    estimator.estimate(probability(0.95), method).unwrap()
}

/// The share of values up to a number.
fn share(values: &[f64], at: f64) -> f64 {
    values.iter().filter(|value| **value <= at).count() as f64 / values.len() as f64
}

#[test]
fn a_value_is_in_the_bin_whose_edges_are_around_it() {
    let mut random = Random::new(1);
    for (lower, upper, count) in [(0.0, 1.0, 10), (-3.7, 11.3, 7), (1e6, 1e6 + 1.0, 1000), (0.0, 1e-90, 3)] {
        let bins = Bins::new(Bounds::new(lower, upper).unwrap(), count).unwrap();
        assert_eq!((bins.edge(0), bins.edge(count)), (lower, upper));
        let inside = (0..2000).map(|_| random.between(lower, upper));
        for value in inside.chain((0..=count).map(|j| bins.edge(j))) {
            let bin = bins.bin(value);
            assert!(value <= bins.edge(bin + 1) && (bin == 0 || value > bins.edge(bin)), "{value} in {bin}");
        }
        assert_eq!(bins.bin(f64::NEG_INFINITY), 0);
        assert_eq!(bins.bin(f64::NAN), 0);
        assert_eq!(bins.bin(f64::INFINITY), count - 1);
    }
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    for count in [0, 1, (1 << 20) + 1] {
        assert!(Bins::new(bounds, count).unwrap_err().to_string().contains("the number of bins"));
    }
}

/// More than this many misses in 200 have probability below 1e-9 if each has probability 0.05 or less: the divergence
/// of 36/200 from 0.05, times 200, is above 21.
const MOST_MISSES: u32 = 35;

#[test]
fn the_band_covers_at_all_edges_at_once_and_quantiles_are_where_it_says() {
    let bins = Bins::new(Bounds::new(0.0, 1.0).unwrap(), 12).unwrap();
    for id in frequency::IDS {
        let oracle = oracle(id, 12, 1.5);
        for method in [Method::Normal, Method::Certain] {
            let mut bits = Bits(Random::new(7));
            let (mut misses, mut narrow_misses, mut quantile_misses) = (0, 0, 0);
            for _ in 0..200 {
                let values: Vec<f64> = (0..400).map(|_| bits.0.between(0.0, 1.0).powi(2)).collect();
                let estimate = told(bins, oracle.as_ref(), &values, &mut bits, method);
                let truth: Vec<f64> = (1..12).map(|j| share(&values, bins.edge(j))).collect();
                let missed = |scale: f64| {
                    let off = estimate.band().zip(&truth).zip(estimate.unbiased());
                    off.into_iter().any(|(((lower, upper), truth), &middle)| {
                        let below = (middle - lower).max(0.0) * scale;
                        let above = (upper - middle).max(0.0) * scale;
                        (*truth < middle - below && lower > 0.0) || (*truth > middle + above && upper < 1.0)
                    })
                };
                misses += u32::from(missed(1.0));
                narrow_misses += u32::from(missed(0.3));
                let mut sorted = values.clone();
                sorted.sort_by(f64::total_cmp);
                quantile_misses += u32::from([0.1, 0.5, 0.9].into_iter().any(|level| {
                    // The smallest number up to which a share of `level` are.
                    let exact = sorted[(level * 400.0_f64).ceil() as usize - 1];
                    let said = estimate.quantile(probability(level));
                    assert!((0.0..=1.0).contains(&said.value));
                    exact < said.lower || exact > said.upper
                }));
            }
            assert!(
                misses <= MOST_MISSES && quantile_misses <= MOST_MISSES,
                "{id} {misses} {quantile_misses}"
            );
            if method == Method::Normal {
                assert!(narrow_misses > MOST_MISSES, "{id} {narrow_misses}");
            }
        }
    }
}

#[test]
fn with_many_reports_the_distribution_is_found_by_every_mechanism() {
    let bins = Bins::new(Bounds::new(-2.0, 2.0).unwrap(), 20).unwrap();
    for id in frequency::IDS {
        let oracle = oracle(id, 20, 3.0);
        let mut bits = Bits(Random::new(5));
        let values: Vec<f64> =
            (0..40_000).map(|_| (0..4).map(|_| bits.0.between(-0.7, 0.7)).sum::<f64>()).collect();
        let estimate = told(bins, oracle.as_ref(), &values, &mut bits, Method::Certain);
        for (j, (monotone, (lower, upper))) in (1..).zip(estimate.monotone().iter().zip(estimate.band())) {
            let truth = share(&values, bins.edge(j));
            assert!((monotone - truth).abs() < 0.08, "{id} at edge {j}: {monotone} {truth}");
            assert!(lower <= truth && truth <= upper, "{id} at edge {j}: {lower} {truth} {upper}");
            assert!(upper - lower < 0.5, "{id} at edge {j}: {lower} {upper}");
        }
        let histogram = estimate.histogram();
        assert!(histogram.len() == 20 && histogram.iter().all(|share| *share >= 0.0));
        assert!((histogram.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let median = estimate.quantile(probability(0.5));
        assert!(median.lower <= 0.0 && 0.0 <= median.upper && median.value.abs() < 0.2, "{id} {median:?}");
    }
}

#[test]
fn the_monotone_estimate_is_the_nearest_that_increases() {
    // max over starts of min over ends of the means between (Barlow et al. 1972).
    let bins = Bins::new(Bounds::new(0.0, 1.0).unwrap(), 15).unwrap();
    let oracle = oracle("k-rr", 15, 0.5);
    let mut bits = Bits(Random::new(11));
    for _ in 0..30 {
        let values: Vec<f64> = (0..60).map(|_| bits.0.between(0.0, 1.0)).collect();
        let estimate = told(bins, oracle.as_ref(), &values, &mut bits, Method::Normal);
        let raw = estimate.unbiased();
        let mean = |i: usize, l: usize| raw[i..=l].iter().sum::<f64>() / (l - i + 1) as f64;
        for j in 0..raw.len() {
            let least = |i: usize| (j..raw.len()).map(|l| mean(i, l)).fold(f64::INFINITY, f64::min);
            let expected = (0..=j).map(least).fold(f64::NEG_INFINITY, f64::max).clamp(0.0, 1.0);
            assert!((estimate.monotone()[j] - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn distributions_in_two_parts_are_distributions_of_all() {
    let bins = Bins::new(Bounds::new(0.0, 1.0).unwrap(), 5).unwrap();
    let oracle = oracle("oue", 5, 1.0);
    let mut bits = Bits(Random::new(3));
    let mut parts = [0; 3].map(|_| CdfEstimator::new(bins, oracle.as_ref()).unwrap());
    let mut report = vec![0; oracle.report_words()];
    for i in 0..100 {
        oracle.privatise(i % 5, &mut bits, &mut report);
        parts[0].add(&report);
        parts[if i < 30 { 1 } else { 2 }].add(&report);
    }
    let [all, mut first, second] = parts;
    first.merge(&second);
    let estimate = |e: &CdfEstimator| e.estimate(probability(0.9), Method::Certain).unwrap();
    assert_eq!(estimate(&first), estimate(&all));
    let empty = CdfEstimator::new(bins, oracle.as_ref()).unwrap();
    assert!(empty.estimate(probability(0.9), Method::Normal).is_err());
    assert!(first.estimate(probability(1.0), Method::Normal).is_err());
    let other = Bins::new(Bounds::new(0.0, 1.0).unwrap(), 6).unwrap();
    assert!(CdfEstimator::new(other, oracle.as_ref()).is_err());
}

#[test]
fn plans_for_frequencies_follow_the_known_variances_and_name_the_best() {
    let wanted = Accuracy::StandardError(Positive::new(0.01).unwrap());
    for epsilon in [0.5f64, 1.0, 3.0] {
        let e = epsilon.exp();
        for k in [2u32, 10, 100] {
            let plans =
                frequency_plans(k, promise(epsilon), probability(0.0), wanted, Target::Records).unwrap();
            let known = [
                ("k-rr", (e + f64::from(k) - 2.0) / (e - 1.0).powi(2)),
                ("oue", 4.0 * e / (e - 1.0).powi(2)),
                ("sue", (epsilon / 2.0).exp() / ((epsilon / 2.0).exp() - 1.0).powi(2)),
            ];
            for (id, variance) in known {
                let plan = plans.iter().find(|plan| plan.mechanism == id).unwrap();
                assert!((plan.records as f64 - variance * 1e4).abs() < 1.0 + 1e-9 * variance, "{k} {plan:?}");
            }
            assert!(plans.is_sorted_by_key(|plan| plan.records));
            let best = plans[0].mechanism;
            // With many categories and little privacy loss, telling one category is not best.
            assert!(best != "sue" && !(k == 100 && epsilon <= 1.0 && best == "k-rr"), "{k} {plans:?}");
        }
    }
}

#[test]
fn a_planned_number_of_reports_has_the_wanted_error() {
    let (width, confidence) = (Positive::new(0.1).unwrap(), probability(0.95));
    for (id, k, f) in [("k-rr", 4u32, 0.3), ("oue", 4, 0.3), ("k-rr", 2, 0.5)] {
        let oracle = oracle(id, k, 2.0);
        let support = oracle.support().unwrap();
        for of in [Target::Records, Target::Population] {
            let records = |accuracy| frequency_records(support, probability(f), accuracy, of).unwrap();
            let n = records(Accuracy::HalfWidth { width, confidence, method: Method::Certain });
            let nearly = records(Accuracy::HalfWidth { width, confidence, method: Method::Normal });
            let error = records(Accuracy::StandardError(Positive::new(0.1 / 1.96).unwrap()));
            assert!(nearly < n && n < 4 * nearly, "{id}: {nearly} {n}");
            assert!(nearly.abs_diff(error) <= 1 + nearly / 1000);
            let mut bits = Bits(Random::new(2));
            let mut misses = 0;
            for _ in 0..200 {
                let mut counters = vec![0; oracle.counters()];
                let mut report = vec![0; oracle.report_words()];
                let owners = (f * n as f64).round() as u64;
                for person in 0..n {
                    oracle.privatise(u32::from(person >= owners), &mut bits, &mut report);
                    oracle.count(&report, &mut counters);
                }
                let share = oracle.supported(&counters)[0] as f64 / n as f64;
                let estimate = (share - support.other.midpoint()) / support.gap.midpoint();
                misses += u32::from((estimate - owners as f64 / n as f64).abs() > 0.1);
            }
            assert!(misses <= MOST_MISSES, "{id} {misses}");
        }
    }
}
