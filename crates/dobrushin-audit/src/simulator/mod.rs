//! The literal simulator: the exact privacy of a run *as it is documented*, from its keys alone.
//!
//! The accountant lowers a run to chains, and theorems bound chains. Nothing here knows about either. A [`Training`] is
//! read as the documentation explains its keys. Everything that a loader of that description may do is enumerated
//! (orders, batches, divisors, incomplete batches, random stops), for two neighbouring data sets of a few records in
//! one dimension, and the distance between the laws of the release is computed. So an answer of the accountant that is
//! below the answer from here is wrong, wherever the error is on the way from the keys to the answer.
//!
//! # Guarantee
//! [`divergences`] are lower bounds, up to roundings that are subtracted, on E_{e^ε} of what the run releases, for two
//! neighbouring data sets that obey everything that the run claims about its loss and its domain.
//!
//! # The data
//! All other records share one loss, so of a batch only the number of its records and the uses of the record in
//! question matter. The gradients of a data set (`world.rs`) are affine on each side of 0, and never longer than the
//! run says, so clipping changes nothing.
//! - *Without a domain* gradients are constant. What is released is then a mixture of Gaussian (or Laplace) laws with known
//!   means, one for each thing that the loader may do (`bells.rs`).
//! - *With a domain* it is an interval, and the laws are those of the oracle ([`crate::OneDimensionalChain`]).
//!
//! Where more than one number is released (every iterate, several tasks, an evaluation), the simulator looks at one
//! number that is computed from the release. That still gives a lower bound.

mod bells;
mod forgetting;
mod loader;
mod projected;
mod random;
mod toml;
mod world;

pub use random::{random_forgetting, random_run};
pub use toml::run_file;

use dobrushin::run::{Length, Training};
use world::worlds;

/// A lower bound on E_{e^ε} of the release, for each ε: the largest over both directions, over everything that the
/// description leaves open, and over the data sets of this kind that obey it. `None` if the run is too large for that,
/// or no such data sets exist.
pub fn divergences(run: &Training, epsilons: &[f64]) -> Option<Vec<f64>> {
    let courses = loader::courses(run)?;
    let mut worst: Option<Vec<f64>> = None;
    for world in worlds(run) {
        for course in &courses {
            let found = match run.domain.diameter {
                None => bells::divergences(run, &world, course, epsilons),
                Some(_) => projected::divergences(run, &world, course, epsilons),
            };
            let Some(found) = found else {
                continue;
            };
            let worst = worst.get_or_insert_with(|| vec![0.0; epsilons.len()]);
            for (worst, [forward, backward]) in worst.iter_mut().zip(found) {
                *worst = worst.max(forward).max(backward);
            }
        }
    }
    worst
}

/// The number of steps to simulate where a guarantee is claimed for any number.
const ANY: u64 = 3;

/// The lengths that a pass, or a run, may have.
fn lengths(run: &Training, steps_in_a_pass: f64) -> Vec<u64> {
    match run.length {
        Length::Steps(steps) => vec![steps],
        Length::Any => (1..=ANY).collect(),
        Length::Epochs(epochs) => {
            // A fraction of a step is left out, or rounded up to a whole one.
            let steps = epochs.get() * steps_in_a_pass;
            let nearest = steps.round();
            if (steps - nearest).abs() < 1e-9 {
                return vec![nearest as u64];
            }
            [steps.floor(), steps.ceil()].into_iter().filter(|&steps| steps > 0.0).map(|s| s as u64).collect()
        }
    }
}
