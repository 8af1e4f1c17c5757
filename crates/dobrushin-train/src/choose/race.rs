//! Trials of plans on made-up records.
//!
//! All plans are tried on the same populations with the same noise, so that chance favours none of them. Many have a
//! first round, and only the best go on.

use super::candidate::Candidate;
use super::population::{COUNT, Population};
use super::{Excess, Wanted};
use crate::{Generators, Plan, Seed};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// A plan with its noise, and what it missed in each trial so far.
#[derive(Clone, Debug)]
pub struct Runner {
    pub candidate: Candidate,
    noise: f64,
    missed: Vec<f64>,
}

impl Runner {
    pub fn new(candidate: Candidate, noise: f64) -> Self {
        Self { candidate, noise, missed: Vec::new() }
    }

    fn mean(&self) -> f64 {
        mean(&self.missed)
    }

    /// Whether it misses less on the same populations, by more than two standard errors of the difference.
    pub fn is_clearly_better_than(&self, other: &Self) -> bool {
        let saved: Vec<f64> = self.missed.iter().zip(&other.missed).map(|(own, other)| other - own).collect();
        mean(&saved) > 2.0 * standard_error(&saved)
    }
}

/// A round has a population of each law.
pub const ROUNDS: usize = 3;
/// Records of a step, over all steps of a trial.
const WORK: u64 = 100_000;
/// Products of a parameter and a feature in a trial.
const PRODUCTS: u64 = 25_000_000;
/// The fewest and the most made-up records, where there are as many.
const RECORDS: (u64, u64) = (200, 2000);

/// Populations, and whom to tell.
pub struct Race<'a> {
    wanted: &'a Wanted,
    rounds: Vec<Vec<Population>>,
    done: AtomicU64,
    expected: u64,
    progress: &'a (dyn Fn(u64, u64) + Sync),
}

impl<'a> Race<'a> {
    /// Populations for the candidates that are tried first.
    pub fn new(wanted: &'a Wanted, first: &[Candidate], progress: &'a (dyn Fn(u64, u64) + Sync)) -> Self {
        let steps = first.iter().map(|candidate| candidate.steps).max().unwrap_or(1).max(1);
        let parameters = wanted.model.parameters().max(1) as u64;
        let scores = parameters / (wanted.schema.bounds().dimension.max(1) as u64);
        let affordable = (WORK / steps).min(PRODUCTS * scores / (steps * parameters));
        // Fewer records than a few for each feature would be fitted by heart.
        let least = RECORDS.0.max(8 * wanted.schema.bounds().dimension as u64).min(RECORDS.1);
        let records = affordable.clamp(least, RECORDS.1).min(wanted.records) as usize;
        let round = |seed: u64| {
            (0..COUNT).into_par_iter().map(|law| Population::new(wanted, law, records, seed)).collect()
        };
        let rounds = (1..=ROUNDS as u64).map(round).collect();
        // The first round of all, two rounds of the best five, all rounds of two with decay, and of other orders.
        let expected = (COUNT * (first.len() + 2 * 5 + ROUNDS * (2 + 3 + 3))) as u64;
        Self { wanted, rounds, done: AtomicU64::new(0), expected, progress }
    }

    /// Runs these many rounds, as far as they were not run yet, and keeps the best, the best first.
    pub fn best(&self, mut runners: Vec<Runner>, rounds: usize, keep: usize) -> Vec<Runner> {
        let trials = |(place, runner): (usize, &Runner)| {
            let from = runner.missed.len() / COUNT;
            (from..rounds)
                .flat_map(|round| (0..COUNT).map(move |law| (round, law)))
                .map(move |trial| (place, trial))
                .collect::<Vec<_>>()
        };
        let trials: Vec<(usize, (usize, usize))> = runners.iter().enumerate().flat_map(trials).collect();
        let missed: Vec<f64> =
            trials.par_iter().map(|&(place, (round, law))| self.trial(&runners[place], round, law)).collect();
        for (&(place, _), missed) in trials.iter().zip(missed) {
            runners[place].missed.push(missed);
        }
        // The sort is stable, so that ties are decided in the same way every time.
        runners.sort_by(|a, b| a.mean().total_cmp(&b.mean()));
        runners.truncate(keep);
        runners
    }

    /// What a plan misses on one population.
    fn trial(&self, runner: &Runner, round: usize, law: usize) -> f64 {
        let population = &self.rounds[round][law];
        let (bounds, count) = (*population.records.bounds(), population.records.len() as u64);
        let description = runner.candidate.scaled_down(self.wanted, bounds, count, runner.noise);
        let plan = description.and_then(Plan::new);
        // Known randomness: these records are nobody's.
        let generators = Generators::new(Seed::Known((round * COUNT + law) as u64));
        let missed = plan.ok().zip(generators.ok()).and_then(|(plan, generators)| {
            let mut records = population.records.clone();
            while (records.len() as u64) < plan.training().records {
                records.push_empty();
            }
            let released = plan.train(&mut records, None, &generators, &mut || {}).ok()?;
            Some(population.excess(plan.model(), &released.parameters[0]))
        });
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(done, self.expected.max(done));
        // A plan that cannot be tried is no plan to choose.
        missed.filter(|missed| !missed.is_nan()).unwrap_or(f64::INFINITY)
    }

    /// The mean of what a runner missed. Populations differ more than trials do, so this is no error of the ranking,
    /// in which all runners have the same populations.
    pub fn excess(&self, runner: &Runner) -> Excess {
        Excess { mean: runner.mean(), error: standard_error(&runner.missed) }
    }

    /// How many models were trained.
    pub fn trials(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard error of a mean.
fn standard_error(values: &[f64]) -> f64 {
    let (count, mean) = (values.len().max(1) as f64, mean(values));
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (squares / (count - 1.0).max(1.0) / count).sqrt()
}
