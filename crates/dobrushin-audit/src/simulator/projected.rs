//! Iterates that are projected onto an interval: the laws of the oracle.

use super::loader::Course;
use super::world::{Update, World, public, update};
use crate::{Error, Interval, Laws, Map, Noise, OneDimensionalChain, Step};
use dobrushin::Gamma;
use dobrushin::profile::Direction;
use dobrushin::run::{NoiseKind, Release, Training};

/// Laws are computed for at most this many chains of one course.
const MOST: usize = 300;

/// Like [`super::divergences`], for one course.
pub(super) fn divergences(
    run: &Training,
    world: &World,
    course: &Course,
    epsilons: &[f64],
) -> Option<Vec<[f64; 2]>> {
    if course.len() > MOST {
        return None;
    }
    let half = run.domain.diameter?.get() / 2.0;
    let interval = Interval::new(-half, half).ok()?;
    let (mut weights, mut laws) = (Vec::new(), Vec::new());
    for batches in course {
        let public = vec![public(run); run.public_steps as usize];
        let steps: Vec<Step> = (1..)
            .zip(batches.steps.iter().chain(&public))
            .map(|(time, drawn)| {
                let of = |neighbour| update(run, world, time, drawn[neighbour], neighbour);
                step(run, of(0)?, of(1)?).ok()
            })
            .collect::<Option<_>>()?;
        let chain = |steps: &[Step]| OneDimensionalChain {
            interval,
            start: world.start * half,
            steps: steps.to_vec(),
        };
        let found = match run.release {
            // Of all iterates, the last is used.
            Release::Last | Release::All => vec![chain(&steps).laws().ok()?],
            Release::RandomStop => chain(&steps).laws_at_all_times().ok()?,
            Release::RandomSkip => (0..=batches.steps.len() / 2)
                .map(|skipped| chain(&steps[skipped..]).laws().ok())
                .collect::<Option<_>>()?,
        };
        weights.extend(vec![batches.probability / found.len() as f64; found.len()]);
        laws.extend(found);
    }
    let law = Laws::mixture(&weights, &laws).ok()?;
    let at = |&epsilon: &f64| {
        let gamma = Gamma::from_epsilon(epsilon).ok()?;
        Some(Direction::BOTH.map(|direction| law.hockey_stick(direction, gamma).lower()))
    };
    epsilons.iter().map(at).collect()
}

fn step(run: &Training, first: Update, second: Update) -> Result<Step, Error> {
    let noise = match run.noise_kind {
        NoiseKind::Gaussian => Noise::Gaussian(first.noise),
        NoiseKind::Laplace => Noise::Laplace(first.noise),
    };
    let map = |update: Update| match update.left == update.right {
        true => Map::affine(update.slope, update.right),
        false => Map::new(vec![0.0], vec![(update.slope, update.left), (update.slope, update.right)]),
    };
    Ok(Step::always(noise, map(first)?, map(second)?))
}
