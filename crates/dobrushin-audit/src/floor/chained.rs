//! Instances of a chain that is given step by step, by the exact oracle.
//!
//! In one coordinate, each update is w ↦ clamp(c·w ± o/2, ±r): its slope c, its jump o at 0 and its range 2r are those that the
//! modulus of the step allows. A use of the record moves it by half of the displacement upwards with D, and downwards
//! with D′; runs that start apart start at opposite sides of 0.

use super::Instance;
use super::segment::OnSegment;
use crate::{Interval, Map, Noise, OneDimensionalChain, Step};
use dobrushin::chain::{Count, Modulus, Participation, Step as ClaimedStep, StepNoise};
use dobrushin::run::{CustomChain, Release};

/// How often a step is made for which any number is allowed, on a domain and without one.
const ANY: [u64; 2] = [4096, 64];
/// Iterates are looked for within this many deviations.
const DEVIATIONS: f64 = 9.5;
/// A segment is at most this many noises long.
const LONGEST: f64 = 240.0;
/// At most this many steps are made without a domain.
const MOST_STEPS: u64 = 4096;

/// The instances of a chain.
pub(super) fn instances(custom: &CustomChain) -> Vec<Instance> {
    if custom.release != Release::Last {
        return Vec::new();
    }
    [true, false].into_iter().filter_map(|jumps| instance(custom, jumps)).collect()
}

/// What one step does.
struct Update {
    noise: f64,
    slope: f64,
    jump: f64,
    range: f64,
    push: f64,
    probability: f64,
    count: u64,
}

impl Update {
    fn new(claimed: &ClaimedStep, count: Count, bounded: bool, jumps: bool) -> Option<Self> {
        let StepNoise::Gaussian(noise) = claimed.noise else { return None };
        // These say more about the updates than a line with a jump obeys.
        let more = !claimed.crossed.pieces().is_empty() || claimed.growth.is_some() || claimed.vanishes;
        if more || claimed.diameter.is_some() {
            return None;
        }
        let (slope, jump, range) = shape(&claimed.modulus, jumps);
        let used = claimed.participation != Participation::Never;
        Some(Self {
            noise: noise.upper(),
            slope,
            jump,
            range,
            push: if used { claimed.displacement.min(claimed.absence).lower() / 2.0 } else { 0.0 },
            probability: claimed.participation.probability().midpoint(),
            count: match count {
                Count::Times(times) => times,
                Count::Any => ANY[usize::from(!bounded)],
            },
        })
    }

    fn map(&self, by: f64, half: f64) -> Option<Map> {
        let (slope, up) = (self.slope, self.jump / 2.0);
        let pieces = vec![(slope, by - up), (slope, by + up)];
        let map = if up > 0.0 { Map::new(vec![0.0], pieces) } else { Map::affine(slope, by) };
        if self.range >= 2.0 * (slope * half + up) {
            return map.ok();
        }
        // Where the range ends.
        let (most, end) = (self.range / 2.0, (self.range / 2.0 - up) / slope);
        if end.is_nan() || end <= 0.0 || !end.is_finite() {
            return Map::affine(0.0, by).ok();
        }
        match up > 0.0 {
            true => Map::new(
                vec![-end, 0.0, end],
                vec![(0.0, by - most), (slope, by - up), (slope, by + up), (0.0, by + most)],
            ),
            false => Map::new(vec![-end, end], vec![(0.0, by - most), (slope, by), (0.0, by + most)]),
        }
        .ok()
    }

    fn step(&self, half: f64) -> Option<Step> {
        Some(Step {
            noise: Noise::Gaussian(self.noise),
            common: self.map(0.0, half)?,
            first: self.map(self.push, half)?,
            second: self.map(-self.push, half)?,
            probability: self.probability,
        })
    }
}

/// A slope, a jump and a range that every piece c·z + o of the modulus allows.
fn shape(modulus: &Modulus, jumps: bool) -> (f64, f64, f64) {
    let (mut slope, mut jump, mut range) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for piece in modulus.pieces() {
        let (own, offset) = (piece.slope().lower(), piece.offset().lower());
        match own == 0.0 {
            true => range = range.min(offset),
            false => (slope, jump) = (slope.min(own), jump.min(offset)),
        }
    }
    // If nothing is claimed about small distances, a line will do.
    let slope = if slope.is_finite() { slope } else { 1.0 };
    let jump = if jumps && jump.is_finite() { jump } else { 0.0 };
    // Roundings must not make it steeper than claimed.
    (slope * if slope == 1.0 { 1.0 } else { 1.0 - 1e-13 }, jump, range * (1.0 - 1e-12))
}

fn instance(custom: &CustomChain, jumps: bool) -> Option<Instance> {
    let chain = &custom.chain;
    let diameter = chain.domain().diameter;
    let skipped = usize::from(chain.start().is_some());
    let updates = chain.stretches().skip(skipped);
    let updates = updates.map(|stretch| Update::new(stretch.step, stretch.count, diameter.is_some(), jumps));
    let mut updates = updates.collect::<Option<Vec<_>>>()?;
    if jumps && updates.iter().all(|update| update.jump == 0.0) {
        return None;
    }
    let start = apart(custom)?;
    let quietest = updates.iter().map(|update| update.noise).fold(f64::INFINITY, f64::min);
    let reach = reach(&updates, start.0);
    let half = diameter.map_or(reach, |diameter| reach.min(diameter.get() / 2.0)) * (1.0 - 1e-12);
    if !(half > 0.0 && 2.0 * half <= LONGEST * quietest) {
        return None;
    }
    let mut steps = Vec::new();
    if let (from, probability @ 0.0..) = start
        && skipped > 0
    {
        // The first update, from the two starts.
        let first = updates.first_mut().filter(|first| first.push == 0.0)?;
        let from = from.min(half);
        let at = |x: f64| Map::constant(first.map(0.0, half)?.at(x)).ok();
        let noise = Noise::Gaussian(first.noise);
        steps.push((Step { noise, common: at(0.0)?, first: at(from)?, second: at(-from)?, probability }, 1));
        first.count -= 1;
    }
    for update in &updates {
        steps.push((update.step(half)?, update.count));
    }
    let interval = Interval::new(-half, half).ok()?;
    let made: u64 = updates.iter().map(|update| update.count).fold(0, u64::saturating_add);
    let laws = match diameter {
        Some(_) => OneDimensionalChain::laws_of_runs(interval, 0.0, &steps).ok()?,
        None if made <= MOST_STEPS => OneDimensionalChain::laws_of_all_steps(interval, 0.0, &steps).ok()?,
        None => return None,
    };
    let profile = OnSegment::new(laws, diameter.is_none(), half / quietest);
    let words = match jumps {
        true => "updates push iterates on different sides of 0 apart, as far as the modulus allows",
        false => "updates are linear, as steep as the modulus allows",
    };
    Some(profile.instance(format!(
        "one coordinate: the record moves it by half of the displacement either way; {words}"
    )))
}

/// Half the distance of the starts, and the probability with which they differ; `None` if no such starts are known.
fn apart(custom: &CustomChain) -> Option<(f64, f64)> {
    let Some(start) = custom.chain.start() else {
        return Some((0.0, 0.0));
    };
    let far = start.distance.map_or(f64::INFINITY, |distance| distance.get() / 2.0);
    let half = custom.chain.domain().diameter.map_or(f64::INFINITY, |diameter| diameter.get() / 2.0);
    // Starts that differ with this probability are as far apart at every ε.
    let probability = start.divergence.iter().map(|(_, delta)| delta.get()).fold(1.0, f64::min);
    let from = far.min(half);
    from.is_finite().then_some((from, probability))
}

/// How far iterates come.
fn reach(updates: &[Update], start: f64) -> f64 {
    let (mut mean, mut variance, mut most) = (start, 0.0_f64, start);
    for update in updates {
        for _ in 0..update.count.min(MOST_STEPS) {
            mean = (update.slope * mean + update.jump / 2.0).min(update.range / 2.0) + update.push;
            variance = update.slope * update.slope * variance + update.noise * update.noise;
            most = most.max(mean + DEVIATIONS * variance.sqrt());
        }
    }
    most
}
