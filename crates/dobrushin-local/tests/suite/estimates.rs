//! Reports have the law that their mechanism claims, estimates of frequencies are unbiased, and intervals cover.
//!
//! Randomness is seeded. Were the seeds drawn anew, each test here would fail with a probability below 1e-9: limits are
//! 7 standard deviations (2.6e-12 on both sides) or p-values of 1e-11, for fewer than 90 comparisons each.

use crate::frequency_support::{Seeded, delta, epsilon};
use dobrushin::numeric::Random;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::numeric::{beta, chi_square};
use dobrushin::{Enclosure, NonNegative, Positive, Probability};
use dobrushin_local::estimate::{Family, Frequencies, Interval, Stop, maximum_likelihood, variance};
use dobrushin_local::frequency::{Channel, FrequencyOracle, Hadamard, Hashing, IDS, Response, Unary, by_id};
use dobrushin_local::mean::Target;
use std::collections::HashMap;
use std::num::NonZeroU32;

const DEVIATIONS: f64 = 7.0;
const P_VALUE: f64 = 1e-11;

fn oracle(id: &str, categories: u32, level: f64) -> Box<dyn FrequencyOracle> {
    by_id(id, categories, epsilon(level), delta(0.0)).unwrap().unwrap()
}

/// The chance of so large a χ² for counts with these expectations.
fn p_value(counts: &[u64], expected: &[f64]) -> f64 {
    let terms = counts.iter().zip(expected).map(|(&count, e)| (count as f64 - e).powi(2) / e);
    let statistic = NonNegative::new(terms.sum()).unwrap();
    chi_square::sf(NonZeroU32::new(counts.len() as u32 - 1).unwrap(), statistic).upper()
}

/// P(report | category) from the definition of each mechanism, for few categories.
fn laws(id: &str, k: u32, level: f64, x: u32) -> HashMap<u64, f64> {
    let e = level.exp();
    let bits = |p: f64, q: f64| {
        let factor = |y: u64, bit: u32| {
            let one = if bit == x { p } else { q };
            if y >> bit & 1 == 1 { one } else { 1.0 - one }
        };
        (0..1u64 << k).map(|y| (y, (0..k).map(|bit| factor(y, bit)).product())).collect()
    };
    let weighted = |weights: Vec<(u64, f64)>| {
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        weights.into_iter().map(|(y, weight)| (y, weight / sum)).collect()
    };
    match id {
        "k-rr" => weighted((0..u64::from(k)).map(|y| (y, if y == u64::from(x) { e } else { 1.0 })).collect()),
        "oue" => bits(0.5, 1.0 / (e + 1.0)),
        "sue" => bits(e.sqrt() / (e.sqrt() + 1.0), 1.0 / (e.sqrt() + 1.0)),
        "subset" => {
            let size = (f64::from(k) / (e + 1.0)).round() as u32;
            let sets = (0..1u64 << k).filter(|set| set.count_ones() == size);
            weighted(sets.map(|set| (set, if set >> x & 1 == 1 { e } else { 1.0 })).collect())
        }
        "hadamard" => {
            let columns = u64::from(k + 1).next_power_of_two();
            let sign = |y: u64| (y & u64::from(x + 1)).count_ones().is_multiple_of(2);
            weighted((0..columns).map(|y| (y, if sign(y) { e } else { 1.0 })).collect())
        }
        _ => unreachable!("{id}"),
    }
}

#[test]
fn reports_have_the_law_of_their_mechanism() {
    const RECORDS: usize = 100_000;
    let mut bits = Seeded::new(11);
    for id in ["k-rr", "sue", "oue", "subset", "hadamard"] {
        for category in 0..5 {
            let mechanism = oracle(id, 5, 1.0);
            let mut reports = Vec::new();
            mechanism.privatise_all(&[category; RECORDS], &mut bits, &mut reports);
            let law = laws(id, 5, 1.0, category);
            let mut counts: HashMap<u64, u64> = law.keys().map(|&y| (y, 0)).collect();
            reports.iter().for_each(|y| *counts.get_mut(y).expect("a report that has no probability") += 1);
            let (counts, expected): (Vec<u64>, Vec<f64>) =
                law.iter().map(|(y, p)| (counts[y], p * RECORDS as f64)).unzip();
            let chance = p_value(&counts, &expected);
            assert!(chance > P_VALUE, "{id}, category {category}: {chance:e}");
            // The same counts do not fit the law of another category.
            let other = laws(id, 5, 1.0, (category + 1) % 5);
            let expected: Vec<f64> = law.keys().map(|y| other[y] * RECORDS as f64).collect();
            assert!(p_value(&counts, &expected) < P_VALUE, "{id} does not depend on the category");
        }
    }
}

#[test]
fn hashed_reports_support_pairs_of_categories_as_independent_hashes_do() {
    const RECORDS: usize = 200_000;
    let mechanism = Hashing::with_values(5, 3, epsilon(1.0), delta(0.0)).unwrap();
    let (p, c) = (1f64.exp() / (1f64.exp() + 2.0), 1.0 / 3.0);
    let q = c * p + (1.0 - c) * (1.0 - p) / 2.0;
    let mut bits = Seeded::new(12);
    let mut reports = Vec::new();
    mechanism.privatise_all(&[2; RECORDS], &mut bits, &mut reports);
    for other in [0, 1, 3, 4] {
        let mut counts = [0; 4];
        for report in reports.chunks(3) {
            assert!(mechanism.is_report(report));
            let mut supported = [0; 5];
            mechanism.count(report, &mut supported);
            let by_hash = |category| mechanism.hash(report[0], report[1], category) == report[2] as u32;
            assert!((0..5).all(|category| by_hash(category) == (supported[category as usize] == 1)));
            counts[(2 * supported[2] + supported[other]) as usize] += 1;
        }
        let both = p * c;
        let expected = [1.0 - p - q + both, q - both, p - both, both].map(|share| share * RECORDS as f64);
        let chance = p_value(&counts, &expected);
        assert!(chance > P_VALUE, "category {other}: {chance:e}");
    }
}

#[test]
fn rare_branches_of_randomised_response_have_its_law_too() {
    // Only the last 8 words for whether to tell the truth: at ε = 42 they are among the 30 that cannot be shared out to
    // 49 others, and at ε = 44.5 there are not even 49 words that do not tell the truth.
    struct Last(Seeded, bool);
    impl RandomBits for Last {
        fn bits(&mut self) -> u64 {
            let word = self.0.bits();
            if std::mem::take(&mut self.1) { u64::MAX - word % 8 } else { word }
        }
    }
    for level in [42.0, 44.5] {
        let response = Response::new(50, epsilon(level), delta(0.0)).unwrap();
        let (mut report, mut counters) = ([0], vec![0; 50]);
        let mut bits = Last(Seeded::new(13), true);
        for _ in 0..100_000 {
            bits.1 = true;
            response.privatise(7, &mut bits, &mut report);
            response.count(&report, &mut counters);
        }
        assert_eq!(counters.remove(7), 0);
        assert!(p_value(&counters, &[100_000.0 / 49.0; 49]) > P_VALUE, "{level}: {counters:?}");
    }
}

#[test]
fn one_by_one_and_all_at_once_are_the_same_reports() {
    for id in IDS {
        let mechanism = oracle(id, 130, 0.7);
        let mut random = Random::new(14);
        let categories: Vec<u32> = (0..3000).map(|_| random.below(130) as u32).collect();
        let (mut all, mut report) = (Vec::new(), vec![0; mechanism.report_words()]);
        mechanism.privatise_all(&categories, &mut Seeded::new(15), &mut all);
        let (mut counters, mut one_by_one) = (vec![0; mechanism.counters()], vec![0; mechanism.counters()]);
        let mut bits = Seeded::new(15);
        for (&category, expected) in categories.iter().zip(all.chunks(mechanism.report_words())) {
            mechanism.privatise(category, &mut bits, &mut report);
            assert_eq!(report, expected, "{id}");
            assert!(mechanism.is_report(&report), "{id}");
            mechanism.count(&report, &mut one_by_one);
        }
        mechanism.count_all(&all, &mut counters);
        assert_eq!(counters, one_by_one, "{id}");
        assert!(!mechanism.is_report(&vec![u64::MAX; mechanism.report_words()]), "{id}");
    }
}

/// People with these categories, privatised and counted.
fn survey(mechanism: &dyn FrequencyOracle, people: &[u32], bits: &mut Seeded) -> Frequencies {
    let (mut reports, mut counters) = (Vec::new(), vec![0; mechanism.counters()]);
    mechanism.privatise_all(people, bits, &mut reports);
    mechanism.count_all(&reports, &mut counters);
    Frequencies::new(mechanism, &counters, people.len() as u64).unwrap()
}

/// So many people, the categories being less and less frequent, and their frequencies.
fn people(count: u32, categories: u32) -> (Vec<u32>, Vec<f64>) {
    let people: Vec<u32> = (0..count).map(|i| i / categories % (1 + i % categories)).collect();
    let mut frequencies = vec![0.0; categories as usize];
    people.iter().for_each(|&category| frequencies[category as usize] += 1.0 / f64::from(count));
    (people, frequencies)
}

fn mechanisms(categories: u32, level: f64) -> Vec<Box<dyn FrequencyOracle>> {
    let mut all: Vec<Box<dyn FrequencyOracle>> = IDS.iter().map(|id| oracle(id, categories, level)).collect();
    let own = Probability::new(0.8).unwrap();
    all.push(Box::new(Unary::asymmetric(categories, epsilon(level), delta(0.01), own).unwrap()));
    all.push(Box::new(Response::new(categories, epsilon(level), delta(0.05)).unwrap()));
    all
}

#[test]
fn estimates_are_unbiased() {
    let (people, frequencies) = people(300_000, 10);
    let mut bits = Seeded::new(16);
    for mechanism in mechanisms(10, 1.0) {
        let support = mechanism.support().unwrap();
        let estimates = survey(mechanism.as_ref(), &people, &mut bits).unbiased();
        for (estimate, &truth) in estimates.iter().zip(&frequencies) {
            let spread = variance(support, truth.into(), 300_000, Target::Records).sqrt().upper();
            let off = (estimate - truth) / spread;
            assert!(off.abs() <= DEVIATIONS, "{}: {off} standard deviations", mechanism.id());
            // A tenth of q more would show.
            let biased = estimate - support.other.midpoint() / (10.0 * support.gap.midpoint());
            assert!((biased - truth).abs() > DEVIATIONS * spread, "{}", mechanism.id());
        }
    }
}

#[test]
fn the_variance_is_exact() {
    const RUNS: u32 = 4000;
    let (people, frequencies) = people(60, 3);
    let mut bits = Seeded::new(17);
    for mechanism in mechanisms(3, 0.8) {
        let support = mechanism.support().unwrap();
        let mut squares = [0.0; 3];
        for _ in 0..RUNS {
            let estimates = survey(mechanism.as_ref(), &people, &mut bits).unbiased();
            for (square, (estimate, truth)) in squares.iter_mut().zip(estimates.iter().zip(&frequencies)) {
                *square += (estimate - truth).powi(2) / f64::from(RUNS);
            }
        }
        for (square, &truth) in squares.iter().zip(&frequencies) {
            let ratio = square / variance(support, truth.into(), 60, Target::Records).midpoint();
            // The square of a nearly normal number has twice its squared mean for variance.
            let off = (ratio - 1.0) / (2.0 / f64::from(RUNS)).sqrt();
            assert!(off.abs() <= DEVIATIONS, "{}: {off}", mechanism.id());
        }
        // People drawn anew add f(1 − f)/n, and then the support is binomial.
        for truth in [0.0, 0.3, 1.0].map(Enclosure::from) {
            let supported = support.other + truth * support.gap;
            let binomial =
                supported * (Enclosure::ONE - supported) / support.gap.square() / Enclosure::from(60u64);
            let found = variance(support, truth, 60, Target::Population);
            assert!((found.midpoint() / binomial.midpoint() - 1.0).abs() < 1e-12);
        }
    }
}

/// Whether so many misses in so many runs have at least the chance, if each has at most the probability `error`.
fn is_plausible(misses: u32, runs: u32, error: f64) -> bool {
    if misses == 0 {
        return true;
    }
    let parameter = |number: u32| Positive::new(f64::from(number)).unwrap();
    let tail =
        beta::regularised(parameter(misses), parameter(runs - misses + 1), Probability::new(error).unwrap());
    tail.upper() > P_VALUE
}

#[test]
fn intervals_cover() {
    const RUNS: u32 = 600;
    let confidence = Probability::new(0.9).unwrap();
    let halved = |i: &Interval| {
        let (middle, quarter) = (0.5 * (i.lower + i.upper), 0.25 * (i.upper - i.lower));
        Interval { lower: middle - quarter, upper: middle + quarter }
    };
    let covers = |i: &Interval, truth: f64| i.lower <= truth && truth <= i.upper;
    let mut bits = Seeded::new(18);
    for id in ["k-rr", "oue", "hadamard"] {
        let mechanism = oracle(id, 4, 1.0);
        let (people, frequencies) = people(400, 4);
        let (mut single, mut normal, mut all, mut too_short) = ([0; 4], [0; 4], 0, [0; 4]);
        for _ in 0..RUNS {
            let survey = survey(mechanism.as_ref(), &people, &mut bits);
            let certain = survey.certain_intervals(confidence, Family::Single).unwrap();
            let near = survey.normal_intervals(confidence, Family::Single, Target::Records).unwrap();
            let wide = survey.certain_intervals(confidence, Family::Simultaneous).unwrap();
            all += u32::from(!wide.iter().zip(&frequencies).all(|(i, &truth)| covers(i, truth)));
            for (category, &truth) in frequencies.iter().enumerate() {
                single[category] += u32::from(!covers(&certain[category], truth));
                normal[category] += u32::from(!covers(&near[category], truth));
                too_short[category] += u32::from(!covers(&halved(&near[category]), truth));
            }
        }
        assert!(is_plausible(all, RUNS, 0.1), "{id}: {all} misses of all");
        assert!(single.iter().all(|&misses| is_plausible(misses, RUNS, 0.1)), "{id}: {single:?}");
        assert!(normal.iter().all(|&misses| is_plausible(misses, RUNS, 0.11)), "{id}: {normal:?}");
        assert!(too_short.iter().any(|&misses| !is_plausible(misses, RUNS, 0.11)), "{id}: {too_short:?}");
    }
}

#[test]
fn certain_intervals_are_those_of_clopper_and_pearson() {
    // P(at least c of n) by its sum.
    let tail = |n: u64, c: u64, s: f64| {
        let choose = |i: u64| (0..i).fold(1.0, |product, j| product * (n - j) as f64 / (j + 1) as f64);
        (c..=n).map(|i| choose(i) * s.powi(i as i32) * (1.0 - s).powi((n - i) as i32)).sum::<f64>()
    };
    // Nearly the truth: the support is almost the frequency itself.
    let response = Response::new(2, epsilon(40.0), delta(0.0)).unwrap();
    for (n, c) in [(10, 0), (10, 1), (10, 5), (30, 29), (30, 30), (200, 77)] {
        let survey = Frequencies::new(&response, &[c, n - c], n).unwrap();
        let interval = survey.certain_intervals(Probability::new(0.95).unwrap(), Family::Single).unwrap()[0];
        let at_least = tail(n, c, interval.lower);
        let at_most = tail(n, n - c, 1.0 - interval.upper);
        assert!(c == 0 && interval.lower == 0.0 || at_least <= 0.025 + 1e-12, "{n}, {c}: {at_least}");
        assert!(c == n && interval.upper == 1.0 || at_most <= 0.025 + 1e-12, "{n}, {c}: {at_most}");
        let sharp = c > 2 && c + 2 < n;
        assert!(!sharp || at_least > 0.0249 && at_most > 0.0249, "{n}, {c}: {at_least}, {at_most}");
    }
}

#[test]
fn maximum_likelihood_climbs_to_the_known_maximum() {
    // With randomised response the maximum is known: f = (c/λ − q)₊/(p − q), λ such that it sums to 1.
    let response = Response::new(6, epsilon(1.2), delta(0.0)).unwrap();
    let counters = [900u64, 400, 310, 200, 140, 50];
    let (q, gap) = response.support().map(|s| (s.other.midpoint(), s.gap.midpoint())).unwrap();
    let at = |lambda: f64| counters.map(|count| ((count as f64 / lambda - q) / gap).max(0.0));
    let (mut low, mut high) = (1.0, 1e5);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if at(middle).iter().sum::<f64>() > 1.0 { low = middle } else { high = middle }
    }
    let fine = Stop { gap: 1e-13, steps: 1_000_000 };
    let found = maximum_likelihood(&response, &counters, 2000, fine).unwrap();
    for (f, expected) in found.frequencies.iter().zip(at(low)) {
        assert!((f - expected).abs() < 1e-6, "{f} for {expected}");
    }
    // Each step raises the likelihood, and the gap is a bound on what is missing.
    let mut before = f64::NEG_INFINITY;
    for steps in 0..40 {
        let so_far = maximum_likelihood(&response, &counters, 2000, Stop { gap: 0.0, steps }).unwrap();
        assert!(so_far.log_likelihood >= before && so_far.steps == steps);
        assert!(so_far.log_likelihood + so_far.gap >= found.log_likelihood - 1e-15);
        assert!((so_far.frequencies.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        before = so_far.log_likelihood;
    }
}

#[test]
fn maximum_likelihood_is_the_same_for_a_mechanism_and_its_matrix() {
    let hadamard = Hadamard::new(5, epsilon(1.0), delta(0.0)).unwrap();
    let e = 1f64.exp() / (1f64.exp() + 1.0) / 4.0;
    let row = |x: u32| {
        (0..8u32)
            .map(|y| if (y & (x + 1)).count_ones().is_multiple_of(2) { e } else { 0.25 - e })
            .collect::<Vec<f64>>()
    };
    let channel = Channel::new((0..5).map(row).collect()).unwrap();
    let (people, frequencies) = people(20_000, 5);
    let mut reports = Vec::new();
    hadamard.privatise_all(&people, &mut Seeded::new(19), &mut reports);
    let mut counters = vec![0; 8];
    channel.count_all(&reports, &mut counters);
    let fine = Stop { gap: 1e-12, steps: 100_000 };
    let fast = maximum_likelihood(&hadamard, &counters, 20_000, fine).unwrap();
    let dense = maximum_likelihood(&channel, &counters, 20_000, fine).unwrap();
    for ((fast, dense), truth) in fast.frequencies.iter().zip(&dense.frequencies).zip(&frequencies) {
        assert!((fast - dense).abs() < 1e-7, "{fast}, {dense}");
        assert!((fast - truth).abs() < 0.12, "{fast} for {truth}");
    }
    // Reports of the channel itself have its law.
    let mut reports = Vec::new();
    channel.privatise_all(&[3; 100_000], &mut Seeded::new(20), &mut reports);
    let mut counters = vec![0; 8];
    channel.count_all(&reports, &mut counters);
    let expected: Vec<f64> = row(3).iter().map(|p| 100_000.0 * p).collect();
    assert!(p_value(&counters, &expected) > P_VALUE, "{counters:?}");
}

#[test]
fn counters_that_do_not_fit_are_refused() {
    let response = Response::new(3, epsilon(1.0), delta(0.0)).unwrap();
    let unary = Unary::optimised(3, epsilon(1.0), delta(0.0)).unwrap();
    let channel = Channel::new(vec![vec![0.5, 0.5, 0.0], vec![0.4, 0.6, 0.0]]).unwrap();
    let of = |oracle: &dyn FrequencyOracle, counters: &[u64], records| {
        Frequencies::new(oracle, counters, records).unwrap_err().to_string()
    };
    assert!(of(&response, &[0, 0, 0], 0).contains("at least one report"));
    assert!(of(&response, &[1, 2], 3).contains("2 entries, but 3 were expected"));
    assert!(of(&response, &[1, 2, 3], 1 << 60).contains("at most 2^53"));
    assert!(of(&response, &[9, 0, 0], 3).contains("at most the number of reports"));
    assert!(of(&channel, &[1, 1, 0], 2).contains("maximum likelihood"));
    let likely = |oracle: &dyn FrequencyOracle, counters: &[u64], records| {
        maximum_likelihood(oracle, counters, records, Stop::default()).unwrap_err().to_string()
    };
    assert!(likely(&unary, &[1, 1, 1], 3).contains("unbiased"));
    assert!(likely(&response, &[1, 1, 1], 4).contains("the sum of the counters"));
    assert!(likely(&channel, &[1, 1, 1], 3).contains("some category can give"));
    let survey = Frequencies::new(&response, &[1, 1, 1], 3).unwrap();
    let one = Probability::new(1.0).unwrap();
    assert!(survey.certain_intervals(one, Family::Single).unwrap_err().to_string().contains("confidence"));
}
