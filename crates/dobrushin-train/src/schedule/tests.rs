use super::*;
use crate::{Generators, Seed};
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::chi_square;
use dobrushin::run::{Length, Record, Run};
use dobrushin::{NonNegative, Positive, Probability};
use std::num::NonZeroU32;

/// A test fails if a right schedule would give such a result with less than this probability.
const SIGNIFICANCE: f64 = 1e-9;
/// The same as a number of standard errors.
const ERRORS: f64 = 6.2;

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

fn training(order: Order, records: u64, size: u64, steps: u64) -> Training {
    Run::pnsgd(records)
        .order(order)
        .batch_size(size)
        .steps(steps)
        .release(Release::Last)
        .learning_rate(0.1)
        .clip_norm(1.0)
        .noise_multiplier(1.0)
        .training()
        .expect("all is said")
}

fn schedule(training: &Training, seed: u64) -> Schedule {
    let bits = Generators::new(Seed::Known(seed)).expect("no randomness needed").stream(0);
    Schedule::new(training, training.records, bits)
}

/// The number of the step, whether it is public, and its records.
type Step = (u64, bool, Vec<u32>);

/// The steps whose results count: from the first that is not skipped to the one that is released.
fn all(training: &Training, seed: u64) -> Vec<Step> {
    let mut schedule = schedule(training, seed);
    let (mut steps, mut released, mut drawn) = (Vec::new(), false, 0);
    let mut draw = Draw::default();
    while schedule.draw(&mut draw) {
        drawn += 1;
        if draw.fate == Fate::Skipped {
            assert!(steps.is_empty(), "only first steps are skipped");
        } else if !released {
            steps.push((draw.time, draw.public, draw.records.clone()));
        }
        released |= draw.fate == Fate::Released;
    }
    assert!(!schedule.draw(&mut draw));
    // Whatever was drawn, the number of steps is the same.
    assert_eq!(drawn, training.steps().map_or(0, |steps| steps + training.public_steps));
    steps
}

fn records(training: &Training, seed: u64) -> Vec<Vec<u32>> {
    all(training, seed).into_iter().map(|(_, _, records)| records).collect()
}

/// Panics if counts are too unlikely for these probabilities (chi-square; every cell is expected 20 times or more).
fn assert_counts(counts: &[u64], probability: impl Fn(usize) -> f64) {
    let n = counts.iter().sum::<u64>() as f64;
    let expected: Vec<f64> = (0..counts.len()).map(|cell| n * probability(cell)).collect();
    assert!(expected.iter().all(|&expected| expected >= 20.0));
    assert!((expected.iter().sum::<f64>() / n - 1.0).abs() < 1e-12);
    let statistic = counts.iter().zip(&expected).map(|(&count, e)| (count as f64 - e).powi(2) / e).sum();
    let degrees = NonZeroU32::new(counts.len() as u32 - 1).expect("two cells or more");
    let p = chi_square::sf(degrees, NonNegative::new(statistic).expect("a sum of squares")).upper();
    assert!(p > SIGNIFICANCE, "{statistic} with {degrees} degrees of freedom: {p:e}");
}

fn uniform(counts: &[u64]) {
    assert_counts(counts, |_| 1.0 / counts.len() as f64);
}

/// Counts single values and pairs of consecutive ones, all below `kinds`.
fn counts_of(values: &[usize], kinds: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut single, mut pairs) = (vec![0; kinds], vec![0; kinds * kinds]);
    values.iter().for_each(|&value| single[value] += 1);
    // The pairs do not overlap, so they are independent.
    values.chunks_exact(2).for_each(|pair| pairs[pair[0] * kinds + pair[1]] += 1);
    (single, pairs)
}

/// The set of records as the digits of a number.
fn mask(records: &[u32]) -> usize {
    let mask = records.iter().fold(0, |mask, record| mask | 1 << record);
    assert_eq!(usize::count_ones(mask), records.len() as u32, "a record is drawn twice");
    mask
}

#[test]
fn records_in_turn_are_used_in_the_order_of_the_table() {
    assert_eq!(records(&training(Order::Once, 6, 2, 3), 0), [[0, 1], [2, 3], [4, 5]]);
    assert_eq!(records(&training(Order::Once, 6, 2, 2), 0), [[0, 1], [2, 3]]);
    assert_eq!(records(&training(Order::Once, 4, 2, 3), 0), [vec![0, 1], vec![2, 3], vec![]]);
    assert_eq!(records(&training(Order::Cyclic, 4, 2, 5), 0), [[0, 1], [2, 3], [0, 1], [2, 3], [0, 1]]);
    assert_eq!(records(&training(Order::Cyclic, 2, 2, 2), 0), [[0, 1], [0, 1]]);
    assert_eq!(records(&training(Order::Full, 3, 3, 2), 0), [[0, 1, 2], [0, 1, 2]]);
    let times: Vec<u64> = all(&training(Order::Cyclic, 4, 2, 5), 0).iter().map(|step| step.0).collect();
    assert_eq!(times, [1, 2, 3, 4, 5]);
}

#[test]
fn nothing_is_used_more_often_than_the_accountant_counts() {
    let orders = [
        Order::Once,
        Order::Cyclic,
        Order::Shuffled,
        Order::Allocation,
        Order::Poisson,
        Order::WithoutReplacement,
    ];
    let mut seed = 0;
    for order in orders.into_iter().chain([Order::Full]) {
        for (count, size) in [(12, 3), (12, 1), (12, 12), (7, 7), (130, 13), (10, 4)] {
            let size = if order == Order::Full { count } else { size };
            let pass = u64::div_ceil(count, size);
            for length in [
                Length::Steps(1),
                Length::Steps(pass),
                Length::Steps(3 * pass + 1),
                Length::Epochs(positive(1.0)),
                Length::Epochs(positive(3.0)),
                Length::Epochs(positive(2.5)),
            ] {
                let training = Training { length, public_steps: 2, ..training(order, count, size, 1) };
                let steps = training.steps().expect("a number");
                if order == Order::Once && steps > pass {
                    continue;
                }
                seed += 1;
                let all = all(&training, seed);
                assert_eq!(all.len() as u64, steps + 2);
                assert!(all.iter().zip(1..).all(|(step, time)| step.0 == time && step.1 == (time > steps)));
                let mut times = vec![0; count as usize];
                for (_, public, records) in &all {
                    let used = records.iter().filter(|_| !public);
                    used.for_each(|&record| times[record as usize] += 1);
                }
                let most = times.into_iter().max().expect("records");
                let limit = training.participations().expect("a number");
                assert!(most <= limit, "{training:?}: {most}");
                let always = matches!(order, Order::Once | Order::Full)
                    || matches!(order, Order::Cyclic | Order::Shuffled) && count % size == 0;
                assert!(!always || most == limit, "{training:?}: {most}");
            }
        }
    }
}

#[test]
fn each_record_that_is_followed_takes_part_as_often_as_the_accountant_counts() {
    for order in [Order::Once, Order::Cyclic] {
        for index in 1..=12 {
            for steps in 1..=4 {
                let steps = if order == Order::Once { steps } else { 3 * steps };
                let training = Training { record: Record::Index(index), ..training(order, 12, 3, steps) };
                let used = records(&training, 0).concat();
                let times = used.iter().filter(|&&record| u64::from(record) == index - 1).count() as u64;
                assert_eq!(Some(times), training.participations());
            }
        }
    }
}

#[test]
fn each_pass_has_a_new_order_all_equally_likely() {
    let passes = 100_000;
    let training = training(Order::Shuffled, 4, 1, 4 * passes);
    let used = records(&training, 1).concat();
    let place = |order: &[u32]| {
        assert_eq!(mask(order), 0b1111);
        // The number of the permutation, first in base 4 and then among the 24.
        order.iter().fold(0, |number, &record| 4 * number + record as usize)
    };
    let numbers: Vec<usize> = used.chunks_exact(4).map(place).collect();
    let mut known = numbers.clone();
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), 24);
    let values: Vec<usize> = numbers.iter().map(|n| known.partition_point(|k| k < n)).collect();
    let (single, pairs) = counts_of(&values, 24);
    uniform(&single);
    uniform(&pairs);
}

#[test]
fn a_shuffled_pass_is_cut_into_batches() {
    let steps = records(&training(Order::Shuffled, 60, 12, 10), 2);
    for pass in steps.chunks(5) {
        assert!(pass.iter().all(|batch| batch.len() == 12));
        assert_eq!(mask(&pass.concat()), (1 << 60) - 1);
    }
    assert_ne!(steps[0], steps[5]);
}

#[test]
fn allocated_places_are_uniform_and_independent_of_each_other_and_of_earlier_passes() {
    // Three records, four batches: 64 allocations.
    let passes = 100_000;
    let steps = records(&training(Order::Allocation, 8, 2, 4 * passes), 5);
    let place = |pass: &[Vec<u32>]| {
        // Every record once, in some batch.
        assert_eq!(pass.iter().map(Vec::len).sum::<usize>(), 8);
        assert_eq!(mask(&pass.concat()), 0xff);
        let of = |record: u32| pass.iter().position(|batch| batch.contains(&record)).expect("once");
        16 * of(0) + 4 * of(3) + of(7)
    };
    let values: Vec<usize> = steps.chunks_exact(4).map(place).collect();
    let (single, _) = counts_of(&values, 64);
    uniform(&single);
    // One record's places in this pass and in the next.
    let (single, pairs) = counts_of(&values.iter().map(|value| value % 4).collect::<Vec<_>>(), 4);
    uniform(&single);
    uniform(&pairs);
}

#[test]
fn the_number_of_batches_does_not_depend_on_who_is_there() {
    let said = training(Order::Allocation, 100, 10, 10);
    for there in [1, 99, 100, 101] {
        let bits = Generators::new(Seed::Known(6)).expect("no randomness needed").stream(0);
        let mut schedule = Schedule::new(&said, there, bits);
        let mut draw = Draw::default();
        let mut used = 0;
        while schedule.draw(&mut draw) {
            used += draw.records.len() as u64;
        }
        assert_eq!(used, there);
    }
}

#[test]
fn batches_without_replacement_are_uniform_and_independent() {
    let batches = records(&training(Order::WithoutReplacement, 6, 3, 200_000), 3);
    let subsets: Vec<usize> = (0..64).filter(|subset: &usize| subset.count_ones() == 3).collect();
    let place = |batch: &Vec<u32>| subsets.binary_search(&mask(batch)).expect("three records");
    let values: Vec<usize> = batches.iter().map(place).collect();
    let (single, pairs) = counts_of(&values, 20);
    uniform(&single);
    uniform(&pairs);
    assert_eq!(records(&training(Order::WithoutReplacement, 5, 5, 1), 0)[0].len(), 5);
}

#[test]
fn poisson_batches_of_few_records_have_the_law_of_independent_coins() {
    // There are 5 records with probability 2/5.
    let batches = records(&training(Order::Poisson, 5, 2, 400_000), 4);
    let values: Vec<usize> = batches.iter().map(|batch| mask(batch)).collect();
    let weight =
        |subset: usize| 0.4f64.powi(subset.count_ones() as i32) * 0.6f64.powi(5 - subset.count_ones() as i32);
    let (single, pairs) = counts_of(&values, 32);
    assert_counts(&single, weight);
    assert_counts(&pairs, |pair| weight(pair / 32) * weight(pair % 32));
}

#[test]
fn poisson_sampling_draws_each_record_alike_and_no_pair_more_often() {
    for (count, batch, p) in [
        (130, Batch::Size(13), 0.1),
        (100, Batch::Probability(Probability::new(0.3).expect("a probability")), 0.3),
        (64, Batch::Size(1), 1.0 / 64.0),
        (65, Batch::Size(64), 64.0 / 65.0),
    ] {
        let steps = 20_000;
        let training = Training { batch, ..training(Order::Poisson, count, 1, steps) };
        let count = count as usize;
        let (mut single, mut pairs) = (vec![0.0; count], vec![0.0; count * count]);
        let (mut sizes, mut squares) = (0.0, 0.0);
        for batch in records(&training, 5) {
            assert!(
                batch.is_sorted_by(|a, b| a < b) && batch.iter().all(|&record| (record as usize) < count)
            );
            for (i, &one) in batch.iter().enumerate() {
                single[one as usize] += 1.0;
                batch[..i].iter().for_each(|&two| pairs[one as usize * count + two as usize] += 1.0);
            }
            sizes += batch.len() as f64;
            squares += (batch.len() as f64 - count as f64 * p).powi(2);
        }
        let steps = steps as f64;
        let z = |sum: f64, p: f64, n: f64| (sum - n * p) / (n * p * (1.0 - p)).sqrt();
        for record in 0..count {
            assert!(z(single[record], p, steps).abs() < ERRORS);
            for other in 0..record {
                // Small counts have heavier tails than the normal law, so this is Bernstein's bound for the error 1e-9.
                let (mean, limit) = (steps * p * p, -(SIGNIFICANCE / 2.0).ln());
                let most = limit / 3.0 + (limit * limit / 9.0 + 2.0 * limit * mean).sqrt();
                let count = pairs[record * count + other];
                assert!((count - mean).abs() < most, "{count} pairs instead of {mean}");
            }
        }
        let n = count as f64;
        assert!(z(sizes, p, steps * n).abs() < ERRORS);
        // The fourth central moment of a binomial law is v·(3v + 1 − 6p(1 − p)) for variance v.
        let variance = n * p * (1.0 - p);
        let spread = (variance * (2.0 * variance + 1.0 - 6.0 * p * (1.0 - p)) / steps).sqrt();
        assert!((squares / steps - variance).abs() < ERRORS * spread);
    }
}

#[test]
fn poisson_sampling_is_never_more_likely_than_asked_for() {
    for (size, records) in [(1, 3), (512, 60_000), (1, u64::from(u32::MAX)), (2, 3), (12, 13)] {
        let coin = schedule(&training(Order::Poisson, records, size, 1), 0).coin.expect("below 1");
        // In whole numbers, t·n ≤ b·2⁶⁴, and the two are close.
        let (realised, asked) = (u128::from(coin.threshold()) * u128::from(records), u128::from(size) << 64);
        assert!(realised <= asked && (asked - realised) as f64 <= 1e-15 * asked as f64);
    }
    let rate = Probability::new(0.1).expect("a probability");
    let given = Training { batch: Batch::Probability(rate), ..training(Order::Poisson, 10, 1, 1) };
    assert_eq!(schedule(&given, 0).coin, Some(Coin::at_most(0.1)));
}

#[test]
fn probability_one_draws_every_record() {
    let one = Probability::new(1.0).expect("a probability");
    for batch in [Batch::Size(67), Batch::Probability(one)] {
        let training = Training { batch, ..training(Order::Poisson, 67, 1, 50) };
        let everything: Vec<u32> = (0..67).collect();
        // The probability is not 1 − 2⁻⁶⁴, which no test would tell from 1.
        assert_eq!(schedule(&training, 6).coin, None);
        assert!(records(&training, 6).iter().all(|records| *records == everything));
    }
}

#[test]
fn a_random_stop_is_after_any_step_alike() {
    let training =
        Training { release: Release::RandomStop, public_steps: 3, ..training(Order::Cyclic, 4, 2, 9) };
    let complete = all(&Training { release: Release::Last, ..training.clone() }, 0);
    let mut counts = [0; 12];
    for seed in 0..20_000 {
        let steps = all(&training, seed);
        assert_eq!(steps, complete[..steps.len()]);
        counts[steps.len() - 1] += 1;
    }
    uniform(&counts);
}

#[test]
fn a_random_skip_leaves_out_up_to_half_of_the_first_steps_alike() {
    for (steps, choices) in [(9, 5), (10, 6), (1, 1)] {
        let training =
            Training { release: Release::RandomSkip, public_steps: 2, ..training(Order::Once, 20, 2, steps) };
        let complete = all(&Training { release: Release::Last, ..training.clone() }, 0);
        let mut counts = vec![0; choices];
        let mut first_of_step = vec![0; steps as usize];
        for seed in 0..20_000 {
            let rest = all(&training, seed);
            let skipped = complete.len() - rest.len();
            // The others keep their numbers and records, and all public ones are there.
            assert_eq!(rest, complete[skipped..]);
            counts[skipped] += 1;
            rest.iter().filter(|step| !step.1).for_each(|step| first_of_step[step.2[0] as usize / 2] += 1);
        }
        if choices > 1 {
            uniform(&counts);
        }
        // The accountant's weight of the records of step k: min(k, c)/c for c choices.
        for (place, &count) in (1..).zip(&first_of_step) {
            let p = f64::min(place as f64 / choices as f64, 1.0);
            let deviation = (20_000.0 * p * (1.0 - p)).sqrt();
            assert!((f64::from(count) - 20_000.0 * p).abs() <= ERRORS * deviation, "step {place}");
        }
    }
}

#[test]
fn a_skip_into_the_middle_of_a_shuffled_pass_uses_no_record_twice_in_it() {
    let training = Training { release: Release::RandomSkip, ..training(Order::Shuffled, 30, 5, 12) };
    for seed in 0..100 {
        let mut passes = [Vec::new(), Vec::new()];
        for (time, _, records) in all(&training, seed) {
            assert_eq!(records.len(), 5);
            passes[(time as usize - 1) / 6].extend(records);
        }
        assert_eq!(mask(&passes[1]), (1 << 30) - 1);
        mask(&passes[0]);
    }
}

#[test]
fn public_steps_come_last_and_count_on() {
    let turn = Training { public_steps: 3, ..training(Order::Cyclic, 4, 2, 2) };
    let expected: Vec<Step> = vec![
        (1, false, vec![0, 1]),
        (2, false, vec![2, 3]),
        (3, true, vec![0, 1]),
        (4, true, vec![2, 3]),
        (5, true, vec![4, 5]),
    ];
    assert_eq!(all(&turn, 0), expected);
    for (rate, size) in [(0.25, 3), (0.07, 1), (0.2, 2), (0.3, 3)] {
        let rate = Probability::new(rate).expect("a probability");
        let poisson = Training {
            batch: Batch::Probability(rate),
            public_steps: 2,
            ..training(Order::Poisson, 10, 1, 1)
        };
        let public: Vec<u32> =
            all(&poisson, 0).into_iter().filter(|step| step.1).flat_map(|step| step.2).collect();
        assert_eq!(public, (0..2 * size).collect::<Vec<_>>(), "{rate:?}");
    }
}

#[test]
fn any_number_of_steps_is_none() {
    for release in [Release::Last, Release::RandomStop, Release::RandomSkip] {
        let any =
            Training { length: Length::Any, public_steps: 3, release, ..training(Order::Cyclic, 4, 2, 1) };
        assert!(all(&any, 0).is_empty());
    }
}

#[test]
fn the_draws_of_a_seed_never_change() {
    let poisson: [&[u32]; 2] = [&[25, 34, 49, 75, 76], &[6, 34, 39, 94]];
    assert_eq!(records(&training(Order::Poisson, 100, 5, 2), 0), poisson);
    let sets = [[56, 16, 12, 78, 0], [21, 2, 53, 49, 8]];
    assert_eq!(records(&training(Order::WithoutReplacement, 100, 5, 2), 0), sets);
    let passes = [[3, 1, 2], [5, 0, 4], [1, 3, 0], [2, 5, 4]];
    assert_eq!(records(&training(Order::Shuffled, 6, 3, 4), 0), passes);
}

/// The probability follows from the number that the run gives, whatever the true number is.
#[test]
fn records_beyond_the_number_that_is_said_are_drawn_like_all_others() {
    let bits = |seed| Generators::new(Seed::Known(seed)).expect("no randomness needed").stream(0);
    let mut draw = Draw::default();
    let full = Training { neighbours: Neighbours::AddOrRemoveOne, ..training(Order::Full, 10, 10, 1) };
    assert!(Schedule::new(&full, 12, bits(0)).draw(&mut draw));
    assert_eq!(draw.records, (0..12).collect::<Vec<u32>>());
    let steps = 40_000;
    let poisson =
        Training { neighbours: Neighbours::AddOrRemoveOne, ..training(Order::Poisson, 10, 5, steps) };
    let (mut schedule, mut times) = (Schedule::new(&poisson, 12, bits(1)), [0.0_f64; 12]);
    while schedule.draw(&mut draw) {
        draw.records.iter().for_each(|&record| times[record as usize] += 1.0);
    }
    let deviation = (steps as f64 / 4.0).sqrt();
    assert!(times.iter().all(|times| (times - steps as f64 / 2.0).abs() < ERRORS * deviation), "{times:?}");
}
