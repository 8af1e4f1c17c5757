//! The tight contraction curve, folded along a chain in blocks of steps.

use super::contraction_published::products;
use super::lines::squared_shift;
use super::walk::{Leg, legs, ln_weight_of_a_stop};
use super::{Analysis, Bound, NonconvexPublished, unbounded};
use crate::chain::{Branch, Count, Mixture, StepNoise, Stop};
use crate::numeric::ln_sum;
use crate::{Enclosure, Epsilon, NotApplicable};

/// Hidden steps on a bounded domain, each of which contracts E_γ, and the smaller it is, the more.
///
/// # Guarantee
/// If E_γ ≤ e before some steps without the record, it is at most F_γ(e) = e·η_γ̃ after them, γ̃ = 1 + (γ−1)/e, where
/// η_γ = θ_ε(R) for k steps with Gaussian noise together (Balle, Barthe, Gaboardi, Geumlek 2019): from any two points
/// of the domain, at most D apart, the k steps shift all of the difference into their noise, at a price
/// of R² = Σ(a_t/s_t)² (`shift`; (c^k·D)²/Σ(s·c^j)² for a modulus cz, (D + ok)²/(s²k) for z + o). One step by itself also has
/// η_γ of its noise at distance ω(D), which is all there is for Laplace noise.
///
/// A record used once: e₀ = E_γ of the shift over the use and j₀ later steps, then blocks of k steps; the best j₀ and k are
/// taken. A record used again: h⁺ = min{F_γ(p + (1−p)h), (1−p)·F_γ(h) + p·η(ω′(D)/s)}: given the other records of the
/// batch, E_γ before the noise is at most p + (1−p)h, on the images under the updates with and without the record, the
/// distance of which is the radius of the first; or both kinds of batches by themselves, by joint convexity. A
/// random time or place: the average. F_γ(e) ≤ e·η_γ; where many steps are looked at together, the products of
/// `contraction-published` and `nonconvex-published` may still be smaller, and the least of all is taken.
pub struct Contraction;

impl Analysis for Contraction {
    fn id(&self) -> &'static str {
        "contraction"
    }

    fn apply(&self, released: &Mixture) -> Result<Bound, NotApplicable> {
        let folds = released.branches().iter().map(Fold::new).collect::<Result<Vec<Fold>, _>>()?;
        let published = [products(released), NonconvexPublished.apply(released)];
        let published: Vec<_> = published.into_iter().flatten().map(Bound::into_profile).collect();
        Ok(Bound::by_log_delta(move |epsilon| {
            let terms: Vec<Enclosure> = folds.iter().map(|fold| fold.ln_delta(epsilon)).collect();
            let others = published.iter().map(|profile| profile.log_delta(epsilon));
            others.fold(ln_sum(&terms), Enclosure::min)
        }))
    }
}

/// η of some steps: E_γ of the noise at a distance.
#[derive(Clone, Copy)]
struct Noisy {
    noise: StepNoise,
    distance: Enclosure,
}

impl Noisy {
    /// Gaussian noise of size 1, at a distance R.
    fn gaussian(radius: Enclosure) -> Self {
        Self { noise: StepNoise::Gaussian(Enclosure::ONE), distance: radius }
    }

    fn ln_eta(&self, epsilon: Epsilon) -> Enclosure {
        self.noise.ln_overlap(self.distance, epsilon)
    }

    /// ln F_γ(e), increasing in e.
    fn ln_tight(&self, epsilon: Epsilon, ln_e: Enclosure) -> Enclosure {
        ln_e.map_monotone(|ln_e| {
            if ln_e == f64::NEG_INFINITY {
                return Enclosure::from(ln_e);
            }
            let ln_e = Enclosure::from(ln_e);
            // ln γ̃ = ln(1 + (γ−1)/e), where (γ−1)/e may overflow.
            let excess = Enclosure::from(epsilon).exp_m1().ln() - ln_e;
            let tilted =
                if excess.lower() > 40.0 { excess + (-excess).exp().ln_1p() } else { excess.exp().ln_1p() };
            ln_e + tilted.positive_part().map_monotone(|tilted| {
                Epsilon::new(tilted).map_or(Enclosure::ZERO, |tilted| self.ln_eta(tilted))
            })
        })
    }
}

/// One branch.
enum Fold {
    Once(Once),
    Again(Again),
}

impl Fold {
    fn new(branch: &Branch) -> Result<Self, NotApplicable> {
        let width = branch.chain.domain().width();
        if branch.chain.domain().diameter.is_none() {
            return Err(unbounded());
        }
        match branch.chain.only_use() {
            Some(_) => Ok(Self::Once(Once::new(branch, width)?)),
            None => Ok(Self::Again(Again::new(branch, width)?)),
        }
    }

    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        match self {
            Self::Once(once) => once.ln_delta(epsilon),
            Self::Again(again) => again.ln_delta(epsilon),
        }
    }
}

/// A record that is used once: what is known after the use and some later steps, and how to go on.
struct Once {
    ln_weight: Enclosure,
    /// Times (numbers of later steps), with the E_γ of the shift up to each, and the blocks that end there.
    times: Vec<Time>,
    /// Whether the times are averaged.
    stops: bool,
}

struct Time {
    /// E_γ at this time by itself: that of the use, or of the shift.
    direct: Noisy,
    /// Blocks that end here: the index of the time they begin at, η of the steps between, and how often it
    /// is repeated.
    blocks: Vec<(usize, Noisy, Count)>,
    /// How many times at which the chain may stop this one stands for.
    stops: Enclosure,
}

/// All times up to here are looked at, …
const SINGLE: u64 = 16;
/// … and later ones in strides of this share.
const STRIDE: u64 = 4;
/// So many times back, blocks are looked at that begin there.
const NEAR: usize = 6;

impl Once {
    fn new(branch: &Branch, width: Enclosure) -> Result<Self, NotApplicable> {
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
        let cleaned = Cleaned { clean, width };
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
                Ok(square) if !so_far.is_unused() => Noisy::gaussian(square.sqrt()),
                _ => Noisy { noise: used.step.noise, distance: used.step.displacement },
            };
            let next = places.get(index + 1).copied().unwrap_or(end + 1);
            let from = place.max(first_stop);
            let stops =
                if branch.stop == Stop::End { u64::from(place == end) } else { next.saturating_sub(from) };
            let blocks = cleaned.blocks(&places[..index], place, place == end);
            known.push(Time { direct, blocks, stops: Enclosure::from(stops) });
        }
        let ln_weight = ln_weight_of_a_stop(branch);
        Ok(Self { ln_weight, times: known, stops: branch.stop != Stop::End })
    }

    /// The best way to each time is found by upper ends; the way to the last is then enclosed.
    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let mut ways: Vec<Way> = Vec::with_capacity(self.times.len());
        for time in &self.times {
            let mut best = Way { ln_e: time.direct.ln_eta(epsilon).upper(), block: None };
            // What follows is post-processing.
            if let Some(before) = ways.last().filter(|before| before.ln_e < best.ln_e) {
                best = Way { ln_e: before.ln_e, block: Some(usize::MAX) };
            }
            for (index, (from, block, count)) in time.blocks.iter().enumerate() {
                let ln_e = repeated(block, epsilon, Enclosure::from(ways[*from].ln_e), *count).upper();
                if ln_e < best.ln_e {
                    best = Way { ln_e, block: Some(index) };
                }
            }
            ways.push(best);
        }
        if !self.stops {
            return self.ln_weight + self.enclosed(epsilon, &ways, ways.len() - 1);
        }
        let stops = self
            .times
            .iter()
            .zip(&ways)
            .map(|(time, way)| time.stops.ln() + Enclosure::between(f64::NEG_INFINITY, way.ln_e));
        self.ln_weight + ln_sum(&stops.collect::<Vec<_>>())
    }

    /// ln e at a time, along the way that was found.
    fn enclosed(&self, epsilon: Epsilon, ways: &[Way], at: usize) -> Enclosure {
        let time = &self.times[at];
        match ways[at].block {
            None => time.direct.ln_eta(epsilon),
            Some(usize::MAX) => self.enclosed(epsilon, ways, at - 1),
            Some(index) => {
                let (from, block, count) = &time.blocks[index];
                repeated(block, epsilon, self.enclosed(epsilon, ways, *from), *count)
            }
        }
    }
}

/// The best way to a time.
struct Way {
    /// An upper end.
    ln_e: f64,
    /// The last block of it; none: the shift; the last of all: as at the time before.
    block: Option<usize>,
}

/// F_γ, repeated; after some times by the ratio of the last, which only falls.
fn repeated(block: &Noisy, epsilon: Epsilon, mut ln_e: Enclosure, count: Count) -> Enclosure {
    const ONE_BY_ONE: u64 = 24;
    let Count::Times(times) = count else {
        return ln_e;
    };
    for done in 0..times {
        let next = block.ln_tight(epsilon, ln_e);
        let ratio = (next - ln_e).min(Enclosure::ZERO);
        // Where nothing is forgotten, or all, there is no need to go on.
        let idle = ratio.upper() > -1e-9;
        if done + 1 == ONE_BY_ONE || idle || next.upper() < -1e6 {
            return next + Count::Times(times - done - 1).times(Enclosure::from(ratio.upper()));
        }
        ln_e = next.min(ln_e);
    }
    ln_e
}

fn times(count: Count) -> u64 {
    match count {
        Count::Times(times) => times,
        Count::Any => 0,
    }
}

/// The numbers of later steps that are looked at.
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
struct Cleaned<'a> {
    clean: &'a [Leg<'a>],
    width: Enclosure,
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
            // To the last place in shorter blocks, of two to some power steps, again and again.
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

    /// The leg that has all of some steps.
    fn leg_of(&self, start: u64, steps: u64) -> Option<&Leg<'_>> {
        let mut before = 0;
        self.clean.iter().find(|leg| {
            let first = before;
            before += times(leg.count);
            first <= start && start + steps <= before
        })
    }

    /// η of some steps together.
    fn block(&self, start: u64, steps: u64) -> Option<Noisy> {
        let leg = self.leg_of(start, steps)?;
        let one = Noisy { noise: leg.step.noise, distance: leg.step.modulus.at(self.width) };
        let StepNoise::Gaussian(noise) = leg.step.noise else {
            return (steps == 1).then_some(one);
        };
        // Iterates at most D apart shift it all into the noise of the steps, at a price that is a multiple
        // of the slope: see `allocation`.
        let count = Count::Times(steps);
        let radius = |piece: &crate::chain::Piece| {
            let (slope, offset) = (piece.slope(), piece.offset());
            let concave = slope.upper() <= 1.0 || offset == Enclosure::ZERO || steps == 1;
            concave.then(|| {
                let apart = count.power(slope) * self.width + offset * count.geometric_sum(slope);
                apart / (noise * count.geometric_sum(slope.square()).sqrt())
            })
        };
        let radii = leg.step.modulus.pieces().iter().filter_map(radius);
        radii.reduce(|a, b| if a.upper() < b.upper() { a } else { b }).map(Noisy::gaussian)
    }
}

/// The steps that follow the last use of a record.
pub(super) struct Tail {
    steps: u64,
    /// Blocks of steps, each with how often it fits.
    blocks: Vec<(Noisy, Count)>,
}

impl Tail {
    /// Those of a chain.
    pub(super) fn of(branch: &Branch) -> Result<Self, NotApplicable> {
        let legs = legs(branch)?;
        let last_use = legs.iter().rposition(|leg| !leg.step.participation.is_never());
        let clean = &legs[last_use.map_or(0, |last| last + 1)..];
        let steps: u64 = clean.iter().map(|leg| times(leg.count)).fold(0, u64::saturating_add);
        let [leg] = clean else {
            return Err(NotApplicable::new(
                "no equal steps follow the last use of the record: run.public-steps would be such",
            ));
        };
        let cleaned = Cleaned { clean: std::slice::from_ref(leg), width: branch.chain.domain().width() };
        let mut blocks = Vec::new();
        let mut length = 1;
        while length < steps {
            blocks.extend(cleaned.block(0, length).map(|block| (block, Count::Times(steps / length))));
            length *= 2;
        }
        blocks.extend(cleaned.block(0, steps).map(|block| (block, Count::Times(1))));
        Ok(Self { steps, blocks })
    }

    /// How many there are.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// ln e after them, the best of all blocks.
    pub(super) fn ln_after(&self, epsilon: Epsilon, ln_e: Enclosure) -> Enclosure {
        let after = self.blocks.iter().map(|(block, count)| repeated(block, epsilon, ln_e, *count));
        after.fold(ln_e, |a, b| if b.upper() < a.upper() { b } else { a })
    }
}

/// A record that is used again and again.
struct Again {
    ln_weight: Enclosure,
    legs: Vec<AgainLeg>,
    stops: bool,
}

struct AgainLeg {
    /// At distance ω(D), ω′(D), and that of any two of the updates with the record, another, or neither.
    same: Noisy,
    crossed: Noisy,
    any: Noisy,
    probability: Enclosure,
    count: Count,
    stops: bool,
}

/// Beyond so many equal steps the bound for any number of them is used.
const MOST_STEPS: u64 = 256;
/// How often that is improved.
const SWEEPS: u32 = 64;

impl Again {
    fn new(branch: &Branch, width: Enclosure) -> Result<Self, NotApplicable> {
        let leg = |leg: Leg<'_>| AgainLeg {
            same: Noisy { noise: leg.step.noise, distance: leg.step.modulus.at(width) },
            crossed: Noisy { noise: leg.step.noise, distance: leg.step.crossed_at(width) },
            any: Noisy { noise: leg.step.noise, distance: leg.step.any_at(width) },
            probability: leg.step.participation.probability(),
            count: leg.count,
            stops: leg.stops,
        };
        let legs: Vec<AgainLeg> = legs(branch)?.into_iter().map(leg).collect();
        if legs.len() > MOST_LEGS {
            return Err(NotApplicable::new(format!(
                "the steps change {} times: at most {MOST_LEGS} are looked at",
                legs.len()
            )));
        }
        Ok(Self { ln_weight: ln_weight_of_a_stop(branch), legs, stops: branch.stop != Stop::End })
    }

    fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let mut ln_h = Enclosure::from(f64::NEG_INFINITY);
        let mut stopped = Vec::new();
        for leg in &self.legs {
            let eta = leg.crossed.ln_eta(epsilon);
            let steps = match leg.count {
                Count::Times(times) if times <= MOST_STEPS => times,
                _ => 0,
            };
            for _ in 0..steps {
                ln_h = leg.after(epsilon, ln_h, eta);
                if leg.stops {
                    stopped.push(ln_h);
                }
            }
            if steps == 0 {
                // A bound that holds now and after every number of steps; pushed down as far as it goes.
                let mut always = leg.settled(epsilon, ln_h, eta);
                if leg.probability == Enclosure::ZERO {
                    always = ln_h;
                }
                if leg.stops {
                    stopped.push(always + leg.count.number().ln());
                }
                ln_h = always;
            }
        }
        self.ln_weight + if self.stops { ln_sum(&stopped) } else { ln_h }
    }
}

/// The most stretches of a chain in which the record is used again.
const MOST_LEGS: usize = 4096;

impl AgainLeg {
    /// ln h⁺.
    fn after(&self, epsilon: Epsilon, ln_h: Enclosure, ln_eta_crossed: Enclosure) -> Enclosure {
        let ln_rest = (Enclosure::ONE - self.probability).ln();
        let apart =
            ln_sum(&[ln_rest + self.same.ln_tight(epsilon, ln_h), self.probability.ln() + ln_eta_crossed]);
        let mixed = ln_sum(&[self.probability.ln(), ln_rest + ln_h]).min(Enclosure::ZERO);
        let together = self.any.ln_tight(epsilon, mixed);
        let least = if together.upper() < apart.upper() { together } else { apart };
        least.min(Enclosure::ZERO)
    }

    /// A bound that any number of steps keeps, from a bound at the start.
    fn settled(&self, epsilon: Epsilon, ln_start: Enclosure, ln_eta_crossed: Enclosure) -> Enclosure {
        let mut ln_h = Enclosure::ZERO;
        for _ in 0..SWEEPS {
            let next = self.after(epsilon, ln_h, ln_eta_crossed).max(ln_start);
            if next.upper() > ln_h.upper() - 1e-9 * ln_h.upper().abs() {
                return if next.upper() < ln_h.upper() { next } else { ln_h };
            }
            ln_h = next;
        }
        ln_h
    }
}
