//! Times frequencies from private reports: so many people a second, privatised, counted and estimated, with ChaCha20.

use dobrushin::numeric::bits::RandomBits;
use dobrushin::{Delta, Epsilon, Probability};
use dobrushin_local::estimate::{Family, Frequencies};
use dobrushin_local::frequency::{FrequencyOracle, IDS, by_id};
use rand::rngs::ChaCha20Rng;
use rand::{Rng, RngExt, SeedableRng};
use std::time::Instant;

const PEOPLE: usize = 1_000_000;
const CATEGORIES: u32 = 100;
/// Reports that are held at a time by each thread.
const BATCH: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words = 64 * PEOPLE;
    let seconds = best_of_five(|| {
        let (mut bits, mut buffer) = (Bits::new(0), [0; 512]);
        (0..words / 512).for_each(|_| bits.fill(&mut buffer));
        buffer[0]
    });
    let generator = words as f64 / seconds / 1e6;
    println!("ChaCha20: {generator:.0} million words a second on one thread");
    println!(
        "{PEOPLE} people, {CATEGORIES} categories, ε = 1; million people a second on two threads and on one:"
    );
    let people: Vec<u32> = (0..PEOPLE as u32).map(|i| i.wrapping_mul(2_654_435_769) % CATEGORIES).collect();
    for id in IDS {
        let Some(oracle) = by_id(id, CATEGORIES, Epsilon::new(1.0)?, Delta::new(0.0)?) else { continue };
        let oracle = oracle?;
        let drawn = words_per_person(oracle.as_ref());
        let [one, two] = [1, 2].map(|threads| {
            PEOPLE as f64 / best_of_five(|| estimate(oracle.as_ref(), &people, threads)) / 1e6
        });
        let share = one * drawn / generator;
        println!("{id} {two:.1} {one:.1}, {drawn:.2} words each, {share:.2} of the generator's speed on one");
    }
    let Some(oracle) = by_id("k-rr", CATEGORIES, Epsilon::new(1.0)?, Delta::new(0.0)?) else { return Ok(()) };
    let oracle = oracle?;
    let counters = count(oracle.as_ref(), &people, 1);
    let frequencies = Frequencies::new(oracle.as_ref(), &counters, PEOPLE as u64)?;
    let confidence = Probability::new(0.95)?;
    let seconds = best_of_five(|| frequencies.certain_intervals(confidence, Family::Simultaneous));
    println!("certain intervals of {CATEGORIES} categories: {seconds:.3} s");
    Ok(())
}

/// Privatises and counts in batches, each thread its share of the people.
fn count(oracle: &dyn FrequencyOracle, people: &[u32], threads: usize) -> Vec<u64> {
    let share = |(thread, people): (usize, &[u32])| {
        let mut bits = Bits::new(thread as u64 + 1);
        let (mut reports, mut counters) = (Vec::new(), vec![0; oracle.counters()]);
        for batch in people.chunks(BATCH) {
            reports.clear();
            oracle.privatise_all(batch, &mut bits, &mut reports);
            oracle.count_all(&reports, &mut counters);
        }
        counters
    };
    let mut shares = people.chunks(people.len().div_ceil(threads)).enumerate();
    let Some(first) = shares.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> = shares.map(|each| scope.spawn(move || share(each))).collect();
        let mut counters = share(first);
        for other in others {
            for (counter, more) in counters.iter_mut().zip(other.join().unwrap_or_default()) {
                *counter += more;
            }
        }
        counters
    })
}

fn estimate(oracle: &dyn FrequencyOracle, people: &[u32], threads: usize) -> Option<Vec<f64>> {
    let counters = count(oracle, people, threads);
    Some(Frequencies::new(oracle, &counters, people.len() as u64).ok()?.unbiased())
}

/// How many words a report takes on average.
fn words_per_person(oracle: &dyn FrequencyOracle) -> f64 {
    struct Counted(Bits, u64);
    impl RandomBits for Counted {
        fn bits(&mut self) -> u64 {
            self.1 += 1;
            self.0.bits()
        }
    }
    let (mut bits, mut report) = (Counted(Bits::new(0), 0), vec![0; oracle.report_words()]);
    (0..10_000).for_each(|i| oracle.privatise(i % CATEGORIES, &mut bits, &mut report));
    bits.1 as f64 / 1e4
}

struct Bits(ChaCha20Rng);

impl Bits {
    fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }
}

impl RandomBits for Bits {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn fill(&mut self, words: &mut [u64]) {
        self.0.fill(words);
    }
}

fn best_of_five<T>(run: impl Fn() -> T) -> f64 {
    let timed = || {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| timed()).fold(f64::INFINITY, f64::min)
}
