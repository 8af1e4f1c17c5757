//! Frequencies from any channel, by inverting it.

use dobrushin::numeric::Random;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::{Delta, Epsilon, Probability};
use dobrushin_local::estimate::{Family, Frequencies, Inversion};
use dobrushin_local::frequency::{Channel, FrequencyOracle, Response};
use dobrushin_local::mean::Target;

struct Seeded(Random);

impl RandomBits for Seeded {
    fn bits(&mut self) -> u64 {
        self.0.bits()
    }
}

fn channel(rows: &[&[f64]]) -> Channel {
    Channel::new(rows.iter().map(|row| row.to_vec()).collect()).unwrap()
}

fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

/// Channels with as many reports as categories, and with more.
fn channels() -> Vec<Channel> {
    vec![
        channel(&[&[0.75, 0.25], &[0.25, 0.75]]),
        channel(&[&[0.6, 0.3, 0.1], &[0.2, 0.2, 0.6]]),
        channel(&[&[0.5, 0.2, 0.2, 0.1], &[0.1, 0.5, 0.1, 0.3], &[0.25, 0.25, 0.4, 0.1]]),
        // A report that never occurs, and one that reveals its category.
        channel(&[&[0.9, 0.0, 0.1, 0.0], &[0.0, 0.0, 0.3, 0.7]]),
    ]
}

/// Counters that are exactly the law of the reports are inverted to exactly the frequencies.
#[test]
fn the_expectation_of_the_estimate_is_the_frequency() {
    for channel in channels() {
        let k = channel.categories() as usize;
        for frequencies in
            [vec![1.0 / k as f64; k], [vec![0.7], vec![0.3 / (k as f64 - 1.0); k - 1]].concat()]
        {
            let law = channel.likelihood().unwrap().law(&frequencies);
            let n = 1u64 << 50;
            let counters: Vec<u64> = law.iter().map(|p| (p * n as f64).round() as u64).collect();
            let found = Inversion::new(&channel, &counters, n).unwrap();
            for (estimate, truth) in found.unbiased().iter().zip(&frequencies) {
                assert!((estimate - truth).abs() < 1e-12, "{estimate} {truth}");
            }
            assert!((found.projected().iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }
}

/// Randomised response as a matrix has the estimates and standard errors of randomised response.
#[test]
fn a_matrix_of_randomised_response_is_estimated_as_randomised_response() {
    let response = Response::new(4, Epsilon::new(1.2).unwrap(), Delta::new(0.0).unwrap()).unwrap();
    let matrix = {
        let support = response.support().unwrap();
        let (p, q) = (support.truth.midpoint(), support.other.midpoint());
        let row = |x: usize| (0..4).map(|y| if x == y { p } else { q }).collect();
        Channel::new((0..4).map(row).collect()).unwrap()
    };
    let counters = [400, 300, 180, 120];
    let known = Frequencies::new(&response, &counters, 1000).unwrap();
    let found = Inversion::new(&matrix, &counters, 1000).unwrap();
    let same = |a: &[f64], b: &[f64], room: f64| {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < room), "{a:?} {b:?}");
    };
    same(found.unbiased(), &known.unbiased(), 1e-12);
    // A frequency that is estimated to be negative counts as 0 in one, and is projected in the other.
    same(&found.standard_errors(), &known.standard_errors(Target::Population), 2e-3);
    let confidence = probability(0.95);
    let exact = known.certain_intervals(confidence, Family::Single).unwrap();
    let certain = found.certain_intervals(confidence, Family::Single).unwrap();
    for (exact, certain) in exact.iter().zip(&certain) {
        // Both cover; Clopper and Pearson's is shorter, but not by much.
        let (short, long) = (exact.upper - exact.lower, certain.upper - certain.lower);
        assert!(long > 0.8 * short && long < 1.6 * short + 0.02, "{exact:?} {certain:?}");
    }
}

#[test]
fn intervals_cover_the_frequencies_of_the_population_as_often_as_they_say() {
    let confidence = probability(0.9);
    for (index, channel) in channels().into_iter().enumerate() {
        let k = channel.categories();
        let mut frequencies = vec![0.3 / f64::from(k - 1); k as usize];
        frequencies[0] = 0.7;
        let (runs, people) = (400, 200);
        let [mut normal, mut certain, mut short, mut simultaneous] = [0; 4];
        for run in 0..runs {
            let mut bits = Seeded(Random::new(run + 1000 * index as u64));
            let mut counters = vec![0; channel.counters()];
            let mut report = [0];
            for _ in 0..people {
                let draw = bits.bits() as f64 / 2f64.powi(64);
                let category =
                    if draw < 0.7 { 0 } else { 1 + ((draw - 0.7) / 0.3 * f64::from(k - 1)) as u32 };
                channel.privatise(category.min(k - 1), &mut bits, &mut report);
                channel.count(&report, &mut counters);
            }
            let found = Inversion::new(&channel, &counters, people).unwrap();
            let first = frequencies[0];
            let outside = |lower: f64, upper: f64, truth: f64| u32::from(!(lower..=upper).contains(&truth));
            let span = found.normal_intervals(confidence, Family::Single).unwrap()[0];
            normal += outside(span.lower, span.upper, first);
            let spans = found.certain_intervals(confidence, Family::Single).unwrap();
            certain += outside(spans[0].lower, spans[0].upper, first);
            let (middle, third) = (found.unbiased()[0], (spans[0].upper - spans[0].lower) / 6.0);
            short += outside(middle - third, middle + third, first);
            let all = found.certain_intervals(confidence, Family::Simultaneous).unwrap();
            let missed =
                all.iter().zip(&frequencies).any(|(span, f)| outside(span.lower, span.upper, *f) == 1);
            simultaneous += u32::from(missed);
        }
        // Of 400, 40 may miss; the standard deviation is 6.
        assert!((18..=64).contains(&normal), "channel {index}: {normal} misses by the normal law");
        assert!(certain <= 40 && simultaneous <= 40, "channel {index}: {certain}, {simultaneous}");
        assert!(short > 40, "channel {index}: a third of the interval misses {short} times only");
    }
}

#[test]
fn what_cannot_be_inverted_is_refused_with_what_is_possible() {
    let refused = |channel: &Channel, counters: &[u64], word: &str| {
        let message = Inversion::new(channel, counters, 10).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    let equal = channel(&[&[0.5, 0.5], &[0.5, 0.5]]);
    refused(&equal, &[5, 5], "maximum likelihood");
    let mixed = channel(&[&[0.8, 0.2, 0.0], &[0.2, 0.8, 0.0], &[0.5, 0.5, 0.0]]);
    refused(&mixed, &[5, 5, 0], "maximum likelihood");
    let nearly = channel(&[&[0.5, 0.5], &[0.5 + 1e-13, 0.5 - 1e-13]]);
    refused(&nearly, &[5, 5], "maximum likelihood");
    let narrow = channel(&[&[0.8, 0.2], &[0.2, 0.8], &[0.5, 0.5]]);
    refused(&narrow, &[5, 5], "maximum likelihood");
    refused(&equal, &[5], "the counters");
    assert!(Inversion::new(&equal, &[0, 0], 0).unwrap_err().to_string().contains("report"));
}
