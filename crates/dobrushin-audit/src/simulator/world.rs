//! The data: gradients that obey what a run claims.

use super::loader::Drawn;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{Batch, Contribution, Divisor, LearningRate, Noise, Training};

/// A gradient as a function of the iterate: slope·w + offset, with an offset for each side of 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gradient {
    /// The slope, on both sides.
    pub slope: f64,
    /// The offset for w < 0.
    pub left: f64,
    /// The offset for w ≥ 0.
    pub right: f64,
}

impl Gradient {
    fn constant(value: f64) -> Self {
        Self { slope: 0.0, left: value, right: value }
    }
}

/// Two neighbouring data sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct World {
    /// The gradient of every other record, including public ones.
    pub others: Gradient,
    /// The gradient of the record in D.
    pub record: Gradient,
    /// The gradient of what replaces it in D′; nothing uses it where the record is removed.
    pub replacement: Gradient,
    /// Where the iterates start, as a share of the domain from its middle, between −1 and 1.
    pub start: f64,
}

/// Data sets that obey everything that a run claims; empty if no such data of this kind exist.
pub(super) fn worlds(run: &Training) -> Vec<World> {
    let Some(contribution) = run.contribution else {
        return Vec::new();
    };
    let norm = contribution.norm().get();
    let strong = run.loss.strong_convexity.map_or(0.0, |rho| rho.get());
    let convex = run.loss.convex == Some(true) || strong > 0.0;
    let smoothness = run.loss.smoothness.map_or(f64::INFINITY, |beta| beta.get());
    let Some(diameter) = run.domain.diameter.map(|diameter| diameter.get()) else {
        // Constant gradients are not strongly convex, and linear ones not bounded.
        let values = if strong > 0.0 { vec![] } else { vec![0.0, norm, -norm] };
        return values
            .into_iter()
            .map(|value| pushed(run, Gradient::constant(value), 0.0, norm, 0.0))
            .collect();
    };
    let mut slopes = vec![strong];
    if smoothness.is_finite() {
        slopes.push(smoothness);
        if !convex {
            slopes.push(-smoothness);
        }
    }
    let mut worlds = Vec::new();
    for slope in slopes {
        // What a gradient of this slope leaves of its bound.
        let room = norm - slope.abs() * diameter / 2.0;
        if room < 0.0 {
            continue;
        }
        let mut others = vec![(0.0, 0.0), (room, room), (-room, -room)];
        // Jumps up are convex and jumps down are not; neither is smooth.
        if !smoothness.is_finite() {
            others.push((-room, room));
            if !convex {
                others.push((room, -room));
            }
        }
        for (left, right) in others {
            for start in [0.0, -1.0, 1.0] {
                worlds.push(pushed(run, Gradient { slope, left, right }, slope, room, start));
            }
        }
    }
    worlds
}

/// The record pushes as far as it may: in D one way, in D′ the other way or not at all.
fn pushed(run: &Training, others: Gradient, slope: f64, room: f64, start: f64) -> World {
    let push = |value: f64| Gradient { slope, left: value, right: value };
    let replacement = match run.neighbours {
        Neighbours::ReplaceOne => push(-room),
        // The gradient of the record becomes zero.
        Neighbours::ZeroOut | Neighbours::AddOrRemoveOne => Gradient::constant(0.0),
    };
    World { others, record: push(room), replacement, start }
}

/// What a step does to an iterate: w ↦ slope·w + offset on each side of 0, and the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Update {
    pub slope: f64,
    pub left: f64,
    pub right: f64,
    pub noise: f64,
}

/// The update of a step, counted from 1, with a batch of D (0) or of D′ (1).
pub(super) fn update(
    run: &Training,
    world: &World,
    time: u64,
    drawn: Drawn,
    neighbour: usize,
) -> Option<Update> {
    let rate = match run.learning_rate.as_ref()? {
        LearningRate::Constant(rate) => rate.get(),
        LearningRate::List(list) => list.get(time as usize - 1)?.get(),
        LearningRate::InverseSqrt(first) => first.get() / (time as f64).sqrt(),
    };
    let batch = match run.batch {
        Batch::Size(size) => size as f64,
        Batch::Probability(rate) => rate.get() * run.records as f64,
    };
    let norm = run.contribution.map(Contribution::norm)?.get();
    let noise = match &run.noise {
        Noise::Multiplier(multiplier) => rate * multiplier.get() * norm / batch,
        Noise::Gradient(sigma) => rate * sigma.get(),
        Noise::GradientList(list) => rate * list.get(time as usize - 1)?.get(),
        Noise::Iterate(noise) => noise.get(),
    };
    let divisor = match run.divide_by {
        Divisor::BatchSize => batch,
        Divisor::Actual => drawn.size().max(1) as f64,
    };
    let record = if neighbour == 0 { world.record } else { world.replacement };
    let (others, uses) = (drawn.others as f64, drawn.uses as f64);
    let sum = |of: fn(&Gradient) -> f64| others * of(&world.others) + uses * of(&record);
    let pace = rate / divisor;
    Some(Update {
        slope: 1.0 - run.weight_decay - pace * sum(|gradient| gradient.slope),
        left: -pace * sum(|gradient| gradient.left),
        right: -pace * sum(|gradient| gradient.right),
        noise,
    })
}

/// The batch of a public step: it is as large as the others, and has other records.
pub(super) fn public(run: &Training) -> [Drawn; 2] {
    let size = match run.batch {
        Batch::Size(size) => size,
        Batch::Probability(rate) => (rate.get() * run.records as f64).round() as u64,
    };
    [Drawn { others: size, uses: 0, empty: 0 }; 2]
}
