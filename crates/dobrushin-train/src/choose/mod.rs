//! The best plan that a privacy budget buys, chosen without a look at any record.
//!
//! Theory says which plans are worth a trial, and trials on made-up records of the same shape say which is best.
//!
//! # Theory
//! Let T steps on all n records have learning rate η, clip norm C and noise multiplier m, and let rows have norm R. If
//! every step were published, (ε, δ) would allow m = √T/μ for one number μ(ε, δ). The noise that the last iterate has
//! gathered is then η·m·C·√T/n = p/(n·μ) in each direction that the loss does not pull back, where p = η·C·T is the
//! longest *path* that the iterate can go. It depends on the path alone: more and shorter steps cost nothing but time.
//! So a plan is a path, a clip norm, and as many steps as η ≤ 2/β asks for. A score ⟨w, x⟩ has noise κ = p·R/(n·μ), and
//! candidates are a grid of κ and C/R. Where n·μ is large, the path is limited by time instead.
//!
//! Batches cannot do better than all records at the same path, because the law of large numbers and the accountant
//! agree on what they save. They are tried where all records would take too long, and so that you can see what another
//! order costs. Weight decay is tried because it lets hidden iterates forget.

mod candidate;
mod population;
mod race;

use crate::schema::{Labels, Schema};
use crate::{Description, Model};
use candidate::{Candidate, Problem};
use dobrushin::account::CalibrationError;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{Order, Release};
use dobrushin::{Delta, Epsilon, Positive};
use race::{Race, Runner};

/// What a plan is wanted for. All of it is public.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// What the columns of the records may hold.
    pub schema: Schema,
    /// What is trained, on the features of that schema.
    pub model: Model,
    /// The number of records, or a public bound on it.
    pub records: u64,
    /// The ε to meet.
    pub epsilon: Epsilon,
    /// The δ to meet.
    pub delta: Delta,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// The order of records, if it is not to be chosen.
    pub order: Option<Order>,
}

/// A plan, how good it is on made-up records, and what it would be without hiding.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The plan, with the least noise that meets the target.
    pub description: Description,
    /// How much worse than the law of the made-up records it is, on average over them.
    pub excess: Excess,
    /// The noise multiplier if every iterate were published.
    pub published_noise: f64,
    /// The excess with that noise.
    pub published_excess: Excess,
}

/// A mean over trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excess {
    /// The mean: of the share of records in the wrong class, or for numbers of the loss, less that of the law itself.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

/// Plans, the best first.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Plans with the order that is wanted, or with any.
    pub plans: Vec<Choice>,
    /// If an order is wanted: the best plan of each other order, the best first.
    pub others: Vec<Choice>,
    /// The number of models that were trained on made-up records.
    pub trials: u64,
}

/// Where a typical number lies between its bounds, if nothing is declared: most quantities are above 0 and have a long
/// tail, for which their bounds must leave room.
const TYPICAL: f64 = 0.3;

/// A schema as plans use it. Where nothing else is declared, numbers are centred at 3/10 of their range, and for classes
/// all rows have the same norm, so that one record in the tail does not decide how little the others may say.
pub fn prepared(schema: &Schema) -> Schema {
    let one = Positive::new(1.0).ok();
    let norm = match schema.labels() {
        Labels::Category => schema.declaration().norm.or(one),
        // A prediction of numbers needs rows as long as they are.
        Labels::Number | Labels::Count => schema.declaration().norm,
    };
    schema.rescaled(norm, TYPICAL)
}

/// The plans that are listed.
const LISTED: usize = 5;

/// The best plans for a problem, the best first. The same request has the same answer: the trials are made up from
/// fixed seeds. `progress` is told how many trials of how many are done.
///
/// # Guarantee
/// Every plan meets the target: its noise is what [`dobrushin::account::calibrate`] finds for the run that the
/// accountant sees. How good it is on other records than those made up is not promised.
///
/// # Errors
/// [`CalibrationError`] if no noise in range meets the target, or the problem is no run.
pub fn choose(wanted: &Wanted, progress: &(dyn Fn(u64, u64) + Sync)) -> Result<Chosen, CalibrationError> {
    let problem = Problem::new(wanted)?;
    let grid = problem.grid();
    let race = Race::new(wanted, &grid, progress);
    let few = race.best(problem.runners(grid), 1, LISTED);
    let decayed: Vec<Candidate> =
        few.iter().take(1).flat_map(|runner| problem.decayed(&runner.candidate)).collect();
    let full = race.best([few.clone(), problem.calibrated(&decayed)?].concat(), race::ROUNDS, LISTED);
    let others: Vec<Candidate> =
        problem.orders().flat_map(|order| problem.in_order(&full[0].candidate, order)).collect();
    let others = race.best(problem.calibrated(&others)?, race::ROUNDS, usize::MAX);
    let mut all = race.best([full, others].concat(), race::ROUNDS, usize::MAX);
    // All records, unless batches are clearly better: then nothing depends on how batches are drawn.
    if let Some(place) = all.iter().position(|runner| runner.candidate.order == Order::Full)
        && !all[0].is_clearly_better_than(&all[place])
    {
        let full = all.remove(place);
        all.insert(0, full);
    }
    let is_wanted = |runner: &Runner| wanted.order.is_none_or(|order| order == runner.candidate.order);
    let mut rest: Vec<Runner> = all.extract_if(.., |runner| !is_wanted(runner)).collect();
    keep_the_best_of_each_order(&mut rest);
    if wanted.order.is_none() {
        let listed = all.split_off(all.len().min(LISTED));
        let missing = listed
            .into_iter()
            .filter(|runner| all.iter().all(|kept| kept.candidate.order != runner.candidate.order));
        let mut missing: Vec<Runner> = missing.collect();
        keep_the_best_of_each_order(&mut missing);
        all.extend(missing);
    }
    let described = |runners: Vec<Runner>| {
        runners.iter().map(|runner| choice(&problem, &race, runner)).collect::<Result<Vec<_>, _>>()
    };
    let (plans, others) = (described(all)?, described(rest)?);
    Ok(Chosen { plans, others, trials: race.trials() })
}

fn keep_the_best_of_each_order(ranked: &mut Vec<Runner>) {
    let mut seen = Vec::new();
    ranked.retain(|runner| {
        let is_first = !seen.contains(&runner.candidate.order);
        seen.push(runner.candidate.order);
        is_first
    });
}

/// A plan with exactly the noise that it needs.
fn choice(problem: &Problem, race: &Race, runner: &Runner) -> Result<Choice, CalibrationError> {
    let candidate = &runner.candidate;
    let noise = problem.noise(candidate, Release::Last)?;
    let published_noise = problem.noise(candidate, Release::All)?.max(noise);
    let excess = race.excess(runner);
    // Noise that differs only by how finely it was searched for is the same.
    let published_excess = match published_noise > noise * 1.001 {
        true => {
            let published = race.best(vec![Runner::new(candidate.clone(), published_noise)], race::ROUNDS, 1);
            race.excess(&published[0])
        }
        false => excess,
    };
    let description = problem.description(candidate, Release::Last, noise)?;
    Ok(Choice { description, excess, published_noise, published_excess })
}
