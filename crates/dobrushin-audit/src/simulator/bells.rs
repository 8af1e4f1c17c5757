//! Constant gradients: the released number is a mixture of bells, whose means and widths are sums.

use super::loader::{Batches, Course};
use super::world::{Update, World, public, update};
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::elementary::powi;
use dobrushin::numeric::{Boundary, normal};
use dobrushin::run::{NoiseKind, Release, Training};

/// One law of the mixture: its probability, its mean for D and for D′, and its standard deviation or scale.
#[derive(Clone, Copy, Debug)]
struct Bell {
    probability: f64,
    means: [f64; 2],
    width: f64,
}

/// A mixture has at most this many bells.
const MOST: usize = 1 << 13;

/// Like [`super::divergences`], for one course.
pub(super) fn divergences(
    run: &Training,
    world: &World,
    course: &Course,
    epsilons: &[f64],
) -> Option<Vec<[f64; 2]>> {
    let mut best = vec![[0.0; 2]; epsilons.len()];
    for one in observations(run, world, course)? {
        let bells = match run.noise_kind {
            NoiseKind::Gaussian => evaluated(run, several(run.tasks, &merged(one))?),
            NoiseKind::Laplace => merged(one),
        };
        for (&epsilon, best) in epsilons.iter().zip(&mut best) {
            for direction in [0, 1] {
                let found = hockey_stick(run.noise_kind, &bells, direction, epsilon);
                best[direction] = f64::max(best[direction], found);
            }
        }
    }
    Some(best)
}

/// Numbers that can be computed from the release, each as a mixture.
fn observations(run: &Training, world: &World, course: &Course) -> Option<Vec<Vec<Bell>>> {
    let paths: Vec<Path> = course.iter().map(|batches| path(run, world, batches)).collect::<Option<_>>()?;
    let total = paths.first()?.steps.len();
    let keep = 1.0 - run.weight_decay;
    // The first step, the last step, and the probability of the two.
    let all_with = |spans: Vec<(usize, usize)>| -> Option<Vec<Bell>> {
        let chance = 1.0 / spans.len() as f64;
        let bells =
            paths.iter().flat_map(|path| spans.iter().map(move |&span| path.bell(run, keep, span, chance)));
        bells.collect()
    };
    Some(match run.release {
        Release::Last => vec![all_with(vec![(0, total)])?],
        Release::RandomStop => vec![all_with((1..=total).map(|stop| (0, stop)).collect())?],
        Release::RandomSkip => {
            let private = total - run.public_steps as usize;
            vec![all_with((0..=private / 2).map(|skipped| (skipped, total)).collect())?]
        }
        Release::All => {
            // What each step adds is w_t − (1 − λ)·w_{t−1}. It is used alone, or summed over all steps and divided by
            // the noise.
            let single = |step: usize| paths.iter().map(|path| path.added(step)).collect();
            let mut observations: Vec<Vec<Bell>> = (0..total).map(single).collect();
            if run.noise_kind == NoiseKind::Gaussian {
                observations.push(paths.iter().map(Path::all_added).collect());
            }
            observations
        }
    })
}

/// The updates of one sequence of batches, for D and for D′.
struct Path {
    probability: f64,
    steps: Vec<[Update; 2]>,
}

fn path(run: &Training, world: &World, batches: &Batches) -> Option<Path> {
    let public = vec![public(run); run.public_steps as usize];
    let step = |(time, drawn): (u64, &[super::loader::Drawn; 2])| {
        let of = |neighbour| update(run, world, time, drawn[neighbour], neighbour);
        Some([of(0)?, of(1)?])
    };
    let steps = (1..).zip(batches.steps.iter().chain(&public)).map(step).collect::<Option<_>>()?;
    Some(Path { probability: batches.probability, steps })
}

impl Path {
    /// The iterate after some steps; `None` if its law is not a bell.
    fn bell(&self, run: &Training, keep: f64, (from, to): (usize, usize), chance: f64) -> Option<Bell> {
        if run.noise_kind == NoiseKind::Laplace && to - from > 1 && keep > 0.0 {
            return None;
        }
        let (mut means, mut variance) = ([0.0; 2], 0.0);
        for step in &self.steps[from..to] {
            means = [0, 1].map(|of: usize| keep * means[of] + step[of].right);
            variance = keep * keep * variance + step[0].noise * step[0].noise;
        }
        Some(Bell { probability: self.probability * chance, means, width: variance.sqrt() })
    }

    fn added(&self, step: usize) -> Bell {
        let [first, second] = self.steps[step];
        Bell { probability: self.probability, means: [first.right, second.right], width: first.noise }
    }

    fn all_added(&self) -> Bell {
        let mean = |of: usize| self.steps.iter().map(|step| step[of].right / step[of].noise).sum();
        let width = (self.steps.len() as f64).sqrt();
        Bell { probability: self.probability, means: [mean(0), mean(1)], width }
    }
}

/// Joins equal bells into one.
fn merged(mut bells: Vec<Bell>) -> Vec<Bell> {
    let key = |bell: &Bell| [bell.means[0], bell.means[1], bell.width];
    bells.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    let mut merged: Vec<Bell> = Vec::new();
    for bell in bells {
        match merged.last_mut() {
            Some(last) if key(last) == key(&bell) => last.probability += bell.probability,
            _ => merged.push(bell),
        }
    }
    merged
}

/// The sum over several runs, each with its own noise and order.
fn several(tasks: u64, one: &[Bell]) -> Option<Vec<Bell>> {
    let mut sum = one.to_vec();
    for _ in 1..tasks {
        if sum.len() * one.len() > MOST {
            return None;
        }
        let added = |a: &Bell| {
            let a = *a;
            one.iter().map(move |b| Bell {
                probability: a.probability * b.probability,
                means: [a.means[0] + b.means[0], a.means[1] + b.means[1]],
                width: libm::hypot(a.width, b.width),
            })
        };
        sum = merged(sum.iter().flat_map(added).collect());
    }
    Some(sum)
}

/// The mixture together with the mean that is taken before and the evaluations of all tasks, whose noise is 1: the best
/// linear combination if all bells are alike. The mean is of a feature that no gradient depends on.
fn evaluated(run: &Training, bells: Vec<Bell>) -> Vec<Bell> {
    let before = run.centre.map(|centre| (centre.noise_multiplier.get(), 1));
    let after = run.evaluation.map(|evaluation| (evaluation.noise_multiplier.get(), run.tasks));
    let Some(first) = bells.first().filter(|_| before.is_some() || after.is_some()) else {
        return bells;
    };
    if bells.iter().any(|bell| bell.width != first.width) {
        return bells;
    }
    let apart = if run.neighbours == Neighbours::ReplaceOne { 2.0 } else { 1.0 };
    let sums = before.into_iter().chain(after);
    let shift =
        sums.map(|(multiplier, count)| powi(apart / multiplier, 2) * count as f64).sum::<f64>().sqrt();
    let moved: f64 = bells.iter().map(|bell| bell.probability * (bell.means[0] - bell.means[1])).sum();
    let weight = moved / first.width;
    let with = |bell: &Bell| Bell {
        probability: bell.probability,
        means: [weight * bell.means[0] / bell.width + shift * shift, weight * bell.means[1] / bell.width],
        width: libm::hypot(weight, shift),
    };
    bells.iter().map(with).collect()
}

/// The number of points for each width of the narrowest bell.
const FINENESS: f64 = 16.0;
/// Events are looked for this many widths beyond all means.
const REACH: f64 = 13.0;

/// A lower bound on E_{e^ε} of D against D′ (direction 0) or the other way round: the probability of an event under
/// one, minus e^ε times that under the other, minus its rounding. The event is where the density ratio is above e^ε, as
/// far as a grid shows where that is.
fn hockey_stick(kind: NoiseKind, bells: &[Bell], direction: usize, epsilon: f64) -> f64 {
    let (p, q) = (direction, 1 - direction);
    let gamma = libm::exp(epsilon);
    let ends = |least: f64, bell: &Bell| least.min(bell.means[0].min(bell.means[1]) - REACH * bell.width);
    let from = bells.iter().fold(f64::INFINITY, ends);
    let ends = |most: f64, bell: &Bell| most.max(bell.means[0].max(bell.means[1]) + REACH * bell.width);
    let to = bells.iter().fold(f64::NEG_INFINITY, ends);
    let narrowest = bells.iter().map(|bell| bell.width).fold(f64::INFINITY, f64::min);
    let cells = ((to - from) / narrowest * FINENESS).clamp(64.0, 20_000.0) as usize;
    let point = |index: usize| from + (to - from) * index as f64 / cells as f64;
    let inside = |x: f64| {
        let density = |of: usize| -> f64 { bells.iter().map(|bell| bell.density(kind, of, x)).sum() };
        density(p) > gamma * density(q)
    };
    // Where the event begins or ends, between a point inside it and one outside.
    let boundary = |before: f64, after: f64| {
        let begins = inside(after);
        Boundary { holds: after, fails: before }.halved(40, |x| inside(x) == begins).holds
    };
    // The event as intervals; beyond the first and the last point it goes on forever.
    let (mut gain, mut rounding) = (0.0, 0.0);
    let mut close = |from: f64, to: f64| {
        let probability =
            |of: usize| -> f64 { bells.iter().map(|bell| bell.between(kind, of, from, to)).sum() };
        let (first, second) = (probability(p), gamma * probability(q));
        gain += first - second;
        rounding += 1e-11 * (first + second) + 1e-300;
    };
    let mut begun = inside(from).then_some(f64::NEG_INFINITY);
    for index in 1..=cells {
        match (begun, inside(point(index))) {
            (None, true) => begun = Some(boundary(point(index - 1), point(index))),
            (Some(start), false) => {
                close(start, boundary(point(index - 1), point(index)));
                begun = None;
            }
            _ => (),
        }
    }
    if let Some(start) = begun {
        close(start, f64::INFINITY);
    }
    (gain - rounding).max(0.0)
}

impl Bell {
    /// Its share of the density, up to a factor that all bells have.
    fn density(&self, kind: NoiseKind, of: usize, x: f64) -> f64 {
        let z = (x - self.means[of]) / self.width;
        let height = self.probability / self.width;
        match kind {
            NoiseKind::Gaussian => height * libm::exp(-z * z / 2.0),
            NoiseKind::Laplace => height * libm::exp(-z.abs()),
        }
    }

    /// Its share of the probability of an interval, from the tail that loses no digits.
    fn between(&self, kind: NoiseKind, of: usize, from: f64, to: f64) -> f64 {
        let [a, b] = [from, to].map(|x| (x - self.means[of]) / self.width);
        let beyond = |z: f64| match kind {
            _ if z == f64::INFINITY => 0.0,
            NoiseKind::Gaussian => normal::tail(z).midpoint(),
            NoiseKind::Laplace if z >= 0.0 => libm::exp(-z) / 2.0,
            NoiseKind::Laplace => 1.0 - libm::exp(z) / 2.0,
        };
        self.probability * if b <= 0.0 { beyond(-b) - beyond(-a) } else { beyond(a) - beyond(b) }
    }
}
