//! A record that is used once.

use super::super::lines::squared_shift;
use super::super::once::{Shifted, use_and_later};
use super::super::unbounded;
use super::super::walk::{Leg, legs, ln_weight_of_a_stop};
use super::noisy::{Level, Noisy};
use crate::chain::{Branch, Count, Piece, Start, StepNoise, Stop};
use crate::numeric::ln_sum;
use crate::{Enclosure, NotApplicable};

/// A record that is used once: the bounds after the use and some later steps, and how to continue.
pub(super) struct Once {
    ln_weight: Enclosure,
    /// Times (numbers of later steps), with the E_γ of the shift up to each, and the blocks that end there.
    times: Vec<Time>,
    /// Whether the times are averaged.
    stops: bool,
    /// How far apart the two runs start, if the start is the only use.
    start: Option<Start>,
}

struct Time {
    /// The bound on E_γ at this time alone: that of the use, or of the shift.
    direct: Noisy,
    /// Blocks that end here: the index of the time at which they begin, η of the steps between, and the number of
    /// repetitions.
    blocks: Vec<(usize, Noisy, Count)>,
    /// The number of possible stopping times that this one represents.
    stops: Enclosure,
}

/// All times up to here are considered, …
const SINGLE: u64 = 16;
/// … and later ones in strides of this share.
const STRIDE: u64 = 4;
/// Blocks are considered that begin up to this many times back.
const NEAR: usize = 6;
/// A stretch after which a chain may stop is one block, or this many.
const PARTS: u64 = 4;

impl Once {
    pub(super) fn new(branch: &Branch) -> Result<Self, NotApplicable> {
        if branch.chain.has_coarse_stretches() {
            return Self::by_stretch(branch);
        }
        let legs = legs(branch)?;
        let (used, clean) = legs.split_first().ok_or_else(unbounded)?;
        let end: u64 = clean.iter().map(|leg| times(leg.count)).fold(0, u64::saturating_add);
        let first_stop = match branch.stop {
            Stop::End => end,
            Stop::Uniform(_) => clean
                .iter()
                .take_while(|leg| !leg.stops)
                .map(|leg| times(leg.count))
                .fold(u64::from(!used.stops), u64::saturating_add)
                .min(end),
        };
        let places = places(end, clean);
        let cleaned = Cleaned { clean };
        let chain = branch.chain.clone();
        let before = chain
            .stretches()
            .take_while(|stretch| stretch.step.participation.is_never())
            .map(|stretch| times(stretch.count))
            .fold(0, u64::saturating_add);
        let mut known = Vec::with_capacity(places.len());
        for (index, &place) in places.iter().enumerate() {
            let so_far = chain.cut_at(before + 1 + place);
            let direct = match squared_shift(&so_far) {
                Ok(square) if !so_far.is_unused() => Noisy::Gaussian(square.sqrt()),
                _ => Noisy::new(used.step.noise, used.step.displacement),
            };
            let next = places.get(index + 1).copied().unwrap_or(end + 1);
            let from = place.max(first_stop);
            let stops =
                if branch.stop == Stop::End { u64::from(place == end) } else { next.saturating_sub(from) };
            let blocks = cleaned.blocks(&places[..index], place, place == end);
            known.push(Time { direct, blocks, stops: Enclosure::from(stops) });
        }
        let ln_weight = ln_weight_of_a_stop(branch);
        let start = branch.chain.start().cloned();
        Ok(Self { ln_weight, times: known, stops: branch.stop != Stop::End, start })
    }

    /// The times of a chain with coarse stretches: the first step and the last of each of them.
    fn by_stretch(branch: &Branch) -> Result<Self, NotApplicable> {
        let (used, later) = use_and_later(branch)?;
        let at_the_use = Noisy::new(used.step.noise, used.step.displacement);
        let mut shifted = Shifted::over_the_use(used.step).ok();
        let direct = |shifted: Option<Shifted>| {
            shifted.map_or(at_the_use, |shifted| Noisy::Gaussian(shifted.price().sqrt()))
        };
        let stops = |stops: bool, count: u64| Enclosure::from(if stops { count } else { 0 });
        let mut known =
            vec![Time { direct: direct(shifted), blocks: Vec::new(), stops: stops(used.stops, 1) }];
        for leg in &later {
            let steps = times(leg.count);
            let before = known.len() - 1;
            let block = |steps: u64, count: u64| {
                block_of(leg, steps).map(|block| (before, block, Count::Times(count)))
            };
            let first = shifted.map(|shifted| shifted.then(leg.step, Count::Times(1)));
            shifted = shifted.map(|shifted| shifted.then(leg.step, leg.count));
            // The first stop represents all of the stretch but the last.
            known.push(Time {
                direct: direct(first),
                blocks: block(1, 1).into_iter().collect(),
                stops: stops(leg.stops, (steps - 1).max(1)),
            });
            if steps > 1 {
                let shorter = match leg.step.noise {
                    StepNoise::Gaussian(_) if steps < 2 * PARTS => None,
                    StepNoise::Gaussian(_) => block(steps / PARTS, PARTS),
                    StepNoise::Laplace(_) => block(1, steps),
                };
                known.push(Time {
                    direct: direct(shifted),
                    blocks: block(steps, 1).into_iter().chain(shorter).collect(),
                    stops: stops(leg.stops, 1),
                });
            }
        }
        Ok(Self {
            ln_weight: ln_weight_of_a_stop(branch),
            times: known,
            stops: branch.stop != Stop::End,
            start: branch.chain.start().cloned(),
        })
    }

    /// ln of the bound on E_γ at a time alone.
    fn direct(&self, level: Level, at: usize) -> Enclosure {
        let direct = self.times[at].direct.ln_eta(level.epsilon);
        match &self.start {
            // What follows is post-processing.
            Some(start) => direct.min(start.ln_divergence(level.epsilon)),
            None => direct,
        }
    }

    /// The best path to each time, by upper ends.
    pub(super) fn ways(&self, level: Level) -> Vec<Way> {
        self.best(level).0
    }

    /// ln δ along the best paths.
    pub(super) fn ln_least(&self, level: Level) -> Enclosure {
        let (ways, ln_e) = self.best(level);
        if self.stops { self.averaged(ln_e) } else { self.ln_delta(level, &ways) }
    }

    /// The best path to each time, and ln of the bound on E_γ to which it leads.
    fn best(&self, level: Level) -> (Vec<Way>, Vec<f64>) {
        let mut ways: Vec<Way> = Vec::with_capacity(self.times.len());
        let mut ln_e: Vec<f64> = Vec::with_capacity(self.times.len());
        for (at, time) in self.times.iter().enumerate() {
            let mut best = (self.direct(level, at).upper(), Way::Direct);
            // What follows is post-processing.
            if at > 0 && ln_e[at - 1] < best.0 {
                best = (ln_e[at - 1], Way::AsBefore);
            }
            for (index, (from, block, count)) in time.blocks.iter().enumerate() {
                let after = block.repeated_at_most(level, ln_e[*from], *count);
                if after < best.0 {
                    best = (after, Way::Block(index));
                }
            }
            ln_e.push(best.0);
            ways.push(best.1);
        }
        (ways, ln_e)
    }

    /// ln δ along any paths.
    pub(super) fn ln_delta(&self, level: Level, ways: &[Way]) -> Enclosure {
        if !self.stops {
            return self.ln_weight + self.enclosed(level, ways, ways.len() - 1);
        }
        let mut ln_e: Vec<f64> = Vec::with_capacity(ways.len());
        for (at, (time, way)) in self.times.iter().zip(ways).enumerate() {
            ln_e.push(match way {
                Way::Direct => self.direct(level, at).upper(),
                Way::AsBefore => ln_e[at - 1],
                Way::Block(index) => {
                    let (from, block, count) = &time.blocks[*index];
                    block.repeated_at_most(level, ln_e[*from], *count)
                }
            });
        }
        self.averaged(ln_e)
    }

    /// ln of the average over the stops, from ln of a bound on E_γ at each time.
    fn averaged(&self, ln_e: Vec<f64>) -> Enclosure {
        let stops = self.times.iter().zip(ln_e);
        let stops = stops.map(|(time, ln_e)| time.stops.ln() + Enclosure::between(f64::NEG_INFINITY, ln_e));
        self.ln_weight + ln_sum(&stops.collect::<Vec<_>>())
    }

    /// ln e at a time.
    fn enclosed(&self, level: Level, ways: &[Way], at: usize) -> Enclosure {
        let time = &self.times[at];
        match ways[at] {
            Way::Direct => self.direct(level, at),
            Way::AsBefore => self.enclosed(level, ways, at - 1),
            Way::Block(index) => {
                let (from, block, count) = &time.blocks[index];
                block.repeated(level.epsilon, self.enclosed(level, ways, *from), *count)
            }
        }
    }
}

/// How a time is reached.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// By the shift up to this time.
    Direct,
    /// From the previous time: what follows is post-processing.
    AsBefore,
    /// By one of the blocks that end at this time.
    Block(usize),
}

/// The number of steps; 0 for any number.
pub(super) fn times(count: Count) -> u64 {
    match count {
        Count::Times(times) => times,
        Count::Any => 0,
    }
}

/// The numbers of later steps that are considered.
fn places(end: u64, clean: &[Leg<'_>]) -> Vec<u64> {
    let mut places = vec![0];
    let mut next = 1;
    while next <= end {
        places.push(next);
        next = if next < SINGLE { next + 1 } else { next + next / STRIDE };
    }
    let mut sum = 0;
    for leg in clean.iter().take(64) {
        sum += times(leg.count);
        places.push(sum);
    }
    places.push(end);
    places.sort_unstable();
    places.dedup();
    places
}

/// The steps after the use.
pub(super) struct Cleaned<'a> {
    pub clean: &'a [Leg<'a>],
}

impl Cleaned<'_> {
    /// The blocks that end at a place and begin at one of the places before it.
    fn blocks(&self, places: &[u64], end: u64, last: bool) -> Vec<(usize, Noisy, Count)> {
        let mut blocks = Vec::new();
        for (index, &start) in places.iter().enumerate() {
            let back = places.len() - index;
            let steps = end - start;
            if end <= SINGLE || back <= NEAR || index == 0 {
                blocks.extend(self.block(start, steps).map(|block| (index, block, Count::Times(1))));
            }
            // To the last place in shorter blocks, whose lengths are powers of two, repeated.
            let equal = self.leg_of(start, steps).is_some();
            if last && equal && steps > 1 && (start == 0 || start.is_power_of_two() || back <= NEAR) {
                let mut length = 1;
                while length < steps {
                    let block = self.block(end - length, length);
                    blocks.extend(block.map(|block| (index, block, Count::Times(steps / length))));
                    length *= 2;
                }
            }
        }
        blocks
    }

    /// The leg that contains all of some steps.
    fn leg_of(&self, start: u64, steps: u64) -> Option<&Leg<'_>> {
        let mut before = 0;
        self.clean.iter().find(|leg| {
            let first = before;
            before += times(leg.count);
            first <= start && start + steps <= before
        })
    }

    /// η of several steps together.
    pub(super) fn block(&self, start: u64, steps: u64) -> Option<Noisy> {
        block_of(self.leg_of(start, steps)?, steps)
    }
}

/// η of several steps of a leg together.
fn block_of(leg: &Leg<'_>, steps: u64) -> Option<Noisy> {
    let width = leg.before;
    let StepNoise::Gaussian(noise) = leg.step.noise else {
        return (steps == 1).then(|| Noisy::new(leg.step.noise, leg.step.modulus.at(width)));
    };
    // Iterates at most D apart shift their whole difference into the noise of the steps, at a price that is a
    // multiple of the slope: see `allocation`.
    let count = Count::Times(steps);
    let radius = |piece: &Piece| {
        let (slope, offset) = (piece.slope(), piece.offset());
        let concave = slope.upper() <= 1.0 || offset == Enclosure::ZERO || steps == 1;
        concave.then(|| {
            let apart = count.power(slope) * width + offset * count.geometric_sum(slope);
            apart / (noise * count.geometric_sum(slope.square()).sqrt())
        })
    };
    let radii = leg.step.modulus.pieces().iter().filter_map(radius);
    radii.reduce(|a, b| if a.upper() < b.upper() { a } else { b }).map(Noisy::Gaussian)
}
