//! PAI Table 1: the excess of private convex optimisation in one pass, with all constants.

use super::curves::{caption, decades, logarithmic};
use crate::plot::{Line, Plot, Series};
use crate::problem::Problem;
use dobrushin::account::{Target, calibrate};
use dobrushin::utility::prescribe::{self, Privacy};
use dobrushin::utility::{Descent, GradientStep, Ground, Learner, Request, Scheme, least_excess, of};
use dobrushin::{Delta, Enclosure, Epsilon, Order, Parameter, Positive, Release, Run};
use rayon::prelude::*;
use std::num::NonZeroU64;

/// d.
const DIMENSION: u64 = 5;
/// ε and δ; Theorem 32 is for ε below 1.
const LEVEL: (f64, f64) = (0.9, 1e-6);
/// The records of several tasks, …
const RECORDS: u64 = 1000;
/// … and the most of these.
const TASKS: u64 = 100;

const SETTING: &str = "Convex losses with L = 1 on the unit ball in d = 5 dimensions, ε = 0.9, δ = 1e-6 for one replaced record, at most n \
                       gradients in one pass. The table of the paper hides constants and logarithms.";

fn count(value: u64) -> NonZeroU64 {
    NonZeroU64::new(value).unwrap_or(NonZeroU64::MIN)
}

fn privacy() -> Result<Privacy, Problem> {
    Ok(Privacy { epsilon: Epsilon::new(LEVEL.0)?, delta: Delta::new(LEVEL.1)? })
}

fn problem(records: u64) -> Result<prescribe::Problem, Problem> {
    let one = Positive::new(1.0)?;
    Ok(prescribe::Problem {
        records: count(records),
        dimension: count(DIMENSION),
        lipschitz: one,
        radius: one,
    })
}

fn request(records: u64, scheme: Scheme) -> Result<Request, Problem> {
    Ok(Request { problem: problem(records)?, privacy: privacy()?, scheme, smoothness: None })
}

fn prescribed(records: u64, scheme: Scheme) -> Result<dobrushin::utility::Prescribed, Problem> {
    request(records, scheme)?.prescribe().map_err(|error| Problem::new(error.to_string()))
}

/// The bound on the average of n iterates with this second moment of gradients, at the best rate.
fn averaged(records: u64, second_moment: Enclosure, extra: f64) -> Result<f64, Problem> {
    let ground = Ground { diameter: Positive::new(2.0)?, lipschitz: Positive::new(1.0)? };
    // D²/(2ηn) + η·(G²/2 + extra).
    let rate = 2.0 / ((second_moment.midpoint() + 2.0 * extra) * records as f64).sqrt();
    let step = GradientStep { rate: rate.into(), second_moment };
    Ok(Descent::equal(ground, records, step).average(1..=records).upper() + rate * extra)
}

/// The least noise of one step, for all of k tasks at once.
fn noise(tasks: u64) -> Result<f64, Problem> {
    Ok(prescribe::stop(problem(1)?, privacy()?)?.gradient_noise.get() * (tasks as f64).sqrt())
}

/// Every step is private by itself, and k tasks are composed.
fn noisy_sgd(records: u64, tasks: u64) -> Result<f64, Problem> {
    let variance = Enclosure::from(DIMENSION) * Enclosure::from(noise(tasks)?).square();
    averaged(records, Enclosure::ONE + variance, 0.0)
}

/// SGD without noise; the average of its iterates, which one record moves by at most 2ηL, gets noise of ησ, and that costs
/// at most L·ησ·√d.
fn output_perturbation(records: u64, tasks: u64) -> Result<f64, Problem> {
    averaged(records, Enclosure::ONE, noise(tasks)? * (DIMENSION as f64).sqrt())
}

/// One record a step, drawn anew; the noise is the least by composition of all steps.
fn sampled(records: u64) -> Result<f64, Problem> {
    let (epsilon, delta) = (Epsilon::new(LEVEL.0)?, Delta::new(LEVEL.1)?);
    let run = |noise: f64, rate: f64| {
        let run =
            Run::dp_sgd(records).order(Order::Poisson).batch_size(1).steps(records).release(Release::All);
        let run = run.lipschitz(1.0).noise_multiplier(noise).learning_rate(rate).convex();
        run.diameter(2.0).dimension(DIMENSION).build()
    };
    let found = calibrate(&run(1.0, 1.0)?, Parameter::NoiseMultiplier, Target::Privacy { epsilon, delta });
    let found = found.map_err(|error| Problem::new(error.to_string()))?;
    let utility = of(&run(found.value, 1.0)?).map_err(|error| Problem::new(error.to_string()))?;
    let best = utility.best_rate.map(|best| best.value);
    Ok(best.unwrap_or(Enclosure::from(2.0)).upper())
}

fn series(
    label: &str,
    line: Line,
    places: &[u64],
    height: impl Fn(u64) -> Result<f64, Problem>,
) -> Result<Series, Problem> {
    let point = |&place: &u64| Ok(((place as f64).log10(), height(place)?.log10()));
    let points = places.iter().map(point).collect::<Result<Vec<_>, Problem>>()?;
    Ok(Series::new(label, points, line))
}

/// One task, over the number of records.
pub fn one_task() -> Result<Plot, Problem> {
    let all: Vec<u64> = decades(10_000_000).into_iter().filter(|n| *n >= 1000).collect();
    let some: Vec<u64> = vec![1000, 10_000, 100_000];
    let printed = |n| {
        let found = prescribed(n, Scheme::Local)?.published.and_then(|published| published.excess);
        Ok(found.map_or(f64::INFINITY, |excess| excess.upper()))
    };
    let least = |n, learner| Ok(least_excess(problem(n)?, privacy()?, learner).excess.lower());
    let central = Learner::Central { public_records: 0, tasks: NonZeroU64::MIN };
    Ok(Plot {
        title: "Private convex optimisation in one pass: one task (PAI Table 1)".to_owned(),
        x: logarithmic("records n"),
        y: logarithmic("expected excess risk"),
        series: vec![
            series("noisy SGD, this work: Theorem 29, published", Line::Dashed, &all, printed)?,
            series("noisy SGD, this work: here", Line::Solid, &all, |n| noisy_sgd(n, 1))?,
            series("noisy SGD and sampling (empirical risk)", Line::Solid, &some, sampled)?,
            series("output perturbation", Line::Solid, &all, |n| output_perturbation(n, 1))?,
            series("nobody locally private is below", Line::Solid, &all, |n| least(n, Learner::Local))?,
            series("nobody private is below", Line::Solid, &all, |n| least(n, central))?,
        ],
        caption: caption([
            SETTING,
            "In noisy SGD every step is (ε, δ)-private by itself, and no locally private algorithm is below the line for these; sampling and output \
             perturbation keep the steps secret, and protect nobody from those who see them. Output perturbation, like everything that \
             rests on hidden steps, needs losses of smoothness at most 2/η. With its own learning rate it is of the order \
             d^(1/4)/√(εn), below the √(d/(ε²n)) of the table. Of sampling only the empirical risk is bounded. A line above \
             1 says nothing.",
        ]),
    })
}

/// Several tasks, over their number.
pub fn several_tasks() -> Result<Plot, Problem> {
    let all: Vec<u64> = decades(TASKS);
    let scheme = |tasks| Scheme::Tasks { tasks: count(tasks) };
    let found = |&tasks: &u64| {
        let found = prescribed(RECORDS, scheme(tasks))?;
        let printed = found.published.and_then(|published| published.excess);
        let averaging = found.smoothing.map_or(0.0, |smoothing| smoothing.error.upper());
        Ok((tasks, found.excess.upper() - averaging, printed.map_or(f64::INFINITY, |excess| excess.upper())))
    };
    let found = [1, 10, TASKS].par_iter().map(found).collect::<Result<Vec<_>, Problem>>()?;
    let here = found.iter().map(|(tasks, here, _)| (*tasks, *here)).collect();
    let printed = found.iter().map(|(tasks, _, printed)| (*tasks, *printed)).collect();
    let drawn = |label: &str, line: Line, values: Vec<(u64, f64)>| {
        let points = values.into_iter().map(|(tasks, value)| ((tasks as f64).log10(), value.log10()));
        Series::new(label, points.collect(), line)
    };
    let least =
        |tasks| Ok(least_excess(problem(RECORDS)?, privacy()?, scheme(tasks).learner()).excess.lower());
    Ok(Plot {
        title: "Private convex optimisation in one pass: k tasks (PAI Table 1)".to_owned(),
        x: logarithmic("tasks k"),
        y: logarithmic("expected excess risk of each"),
        series: vec![
            drawn("this work: Theorem 32, published", Line::Dashed, printed),
            drawn("this work: here", Line::Solid, here),
            series("noisy SGD", Line::Solid, &all, |tasks| noisy_sgd(RECORDS, tasks))?,
            series("output perturbation", Line::Solid, &all, |tasks| output_perturbation(RECORDS, tasks))?,
            series("nobody private is below", Line::Solid, &all, least)?,
        ],
        caption: caption([
            SETTING,
            "n = 1000 records. The noise of this work is the least with which k models of random times are private together. From one task to \
             a hundred its excess doubles, while that of noisy SGD grows tenfold, with √k, and that of output perturbation threefold, \
             with the fourth root, since its learning rate is chosen for it. The published noise does not depend on k here, and is \
             many times too large. A line above 1 says nothing.",
        ]),
    })
}
