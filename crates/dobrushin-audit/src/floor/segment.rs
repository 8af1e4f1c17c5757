//! Instances on a segment, by the exact oracle.
//!
//! A guarantee for a domain of diameter D holds for every closed convex set that is no wider. So an instance may choose a
//! segment: the projection is the clamp of one coordinate, and the run is a chain of the [oracle](OneDimensionalChain).
//! Without a domain it may do so too, as long as the probability that the clamp ever moves an iterate is counted against the
//! floor. The others' gradients are those of a [`Landscape`]; a small search finds a good one.

use super::Instance;
use super::densities::Densities;
use super::documented::Documented;
use super::except::{self, Except};
use super::landscape::Landscape;
use crate::{Interval, Laws, Noise, OneDimensionalChain, Step};
use dobrushin::account::Question;
use dobrushin::mechanism::Neighbours;
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::run::{Batch, Divisor, Length, NoiseKind, Order, Record, Release};
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use std::sync::Arc;

/// A segment is at most this many noises long.
const LONGEST: f64 = 240.0;
/// Iterates that forget hardly ever come farther than this many deviations; without a domain, practically never.
const DEVIATIONS: [f64; 2] = [5.0, 9.0];
/// At most this many uses of the record, where it is used at known times.
const MOST_USES: u64 = 24;
/// A search makes at most about this many products of matrices and vectors, times the square of the places.
const MOST_WORK: f64 = 2e8;
/// The places for each noise, roughly, and how many noises away places still count.
const PLACES: f64 = 5.0;
const SIGHT: f64 = 24.0;

/// The best instance on a segment.
pub(super) fn instances(of: &Documented<'_>, question: Question) -> Option<Instance> {
    let run = of.run;
    let fits = run.noise_kind == NoiseKind::Gaussian
        && of.has_equal_steps()
        && matches!(run.release, Release::Last | Release::All)
        && run.order != Order::Shuffled
        && !(run.order == Order::Poisson && run.divide_by == Divisor::Actual);
    // Full batches of convex losses without a domain: the linear instance attains the guarantee.
    let convex = run.loss.convex == Some(true) || run.loss.strong_convexity.is_some();
    let attained = run.order == Order::Full && convex && run.domain.diameter.is_none();
    if !fits || attained {
        return None;
    }
    // Where any number of steps is allowed, one is looked at that forgets, or is short enough to be made.
    let bounded = run.domain.diameter.is_some();
    if run.length == Length::Any && of.private != if bounded { 4096 } else { 64 } {
        return None;
    }
    let (half, deviation) = half_length(of)?;
    let mut best: Option<(f64, Instance)> = None;
    let mut work = 0.0;
    for landscape in tried(of, half, deviation) {
        let Some(segment) = Segment::new(of, half, landscape) else { continue };
        work += segment.work();
        if work > MOST_WORK {
            break;
        }
        let Some(profile) = segment.profile() else { continue };
        let value = question.ask(&profile).value.lower();
        if best.as_ref().is_none_or(|(most, _)| value > *most) {
            best = Some((value, profile.instance(segment.words())));
        }
    }
    best.map(|(_, instance)| instance)
}

/// Half the length of the segment: that of the domain, or as far as iterates come that forget; and how far noise carries them.
fn half_length(of: &Documented<'_>) -> Option<(f64, f64)> {
    let (noise, rate, norm) = (of.noise(1)?, of.learning_rate(1)?, of.norm()?);
    let flat = Landscape::flat(of);
    let keep = of.keep(1, flat.inner)?;
    let push = rate * norm * of.largest_share();
    let needed = if keep < 1.0 {
        let uses = match of.run.order {
            Order::Full => 1.0 / (1.0 - keep),
            // Uses are rare: a few of them happen close to each other.
            _ => (4.0 + of.rate_of_use() / (1.0 - keep) * 2.0).min(1.0 / (1.0 - keep)),
        };
        let deviations = DEVIATIONS[usize::from(of.run.domain.diameter.is_none())];
        deviations * noise / (1.0 - keep * keep).sqrt() + uses * push
    } else {
        f64::INFINITY
    };
    let half = of.run.domain.diameter.map_or(needed, |diameter| needed.min(diameter.get() / 2.0));
    let steps = (1.0 / (1.0 - keep * keep).max(0.0)).min(of.steps() as f64);
    let deviation = (noise * steps.sqrt()).min(half / 2.0);
    (half > 0.0 && 2.0 * half <= LONGEST * noise).then_some((half * (1.0 - 1e-12), deviation))
}

/// The landscapes that fit the order. If a batch has a random number of others, they must stay still.
fn tried(of: &Documented<'_>, half: f64, deviation: f64) -> Vec<Landscape> {
    let mut all = Landscape::tried(of, half, deviation);
    if of.run.order == Order::Poisson {
        all.retain(Landscape::is_still);
    }
    all
}

impl Documented<'_> {
    /// One record's share of a step.
    fn largest_share(&self) -> f64 {
        match (self.run.order, self.run.batch) {
            (Order::Full, _) => 1.0 / self.run.records as f64,
            (_, Batch::Size(size)) => 1.0 / size as f64,
            (_, Batch::Probability(_)) => 1.0 / self.batch(),
        }
    }
}

/// The chain of one landscape.
struct Segment<'a> {
    of: &'a Documented<'a>,
    interval: Interval,
    landscape: Landscape,
    steps: Vec<(Step, u64)>,
}

impl<'a> Segment<'a> {
    fn new(of: &'a Documented<'a>, half: f64, landscape: Landscape) -> Option<Self> {
        let interval = Interval::new(-half, half).ok()?;
        let steps = steps(of, half, landscape)?;
        Some(Self { of, interval, landscape, steps })
    }

    /// Roughly how many operations it takes.
    fn work(&self) -> f64 {
        // With a domain, only steps are made that are not forgotten.
        let most = if self.of.run.domain.diameter.is_some() { 2000.0 } else { f64::INFINITY };
        let one = |(step, count): &(Step, u64)| {
            let length = self.interval.length() / step.noise_scale();
            let (places, in_sight) = (PLACES * length + 20.0, PLACES * length.min(SIGHT) + 20.0);
            40.0 * places * places + (*count as f64).min(most) * places * in_sight
        };
        self.steps.iter().map(one).sum()
    }

    fn profile(&self) -> Option<OnSegment> {
        let laws = match self.of.run.domain.diameter {
            Some(_) => OneDimensionalChain::laws_of_runs(self.interval, 0.0, &self.steps).ok()?,
            None => OneDimensionalChain::laws_of_all_steps(self.interval, 0.0, &self.steps).ok()?,
        };
        let (half, noise) = (self.interval.upper(), self.of.noise(1)?);
        Some(OnSegment::new(laws, self.of.run.domain.diameter.is_none(), half / noise))
    }

    fn words(&self) -> String {
        let length = dobrushin::numeric::decimal::nearest(self.interval.length(), 4);
        let place = match self.of.run.domain.diameter {
            Some(_) => format!("on a segment of length {length}"),
            None => "in one coordinate".to_owned(),
        };
        format!(
            "{place}: the record pushes the same way whenever it is used; the others {}{}",
            self.landscape.words(),
            self.of.here_after()
        )
    }
}

/// The steps of the run, in which the record pushes upwards with D, and downwards, or not at all, with D′.
fn steps(of: &Documented<'_>, half: f64, others: Landscape) -> Option<Vec<(Step, u64)>> {
    let run = of.run;
    let (noise, rate, norm) = (Noise::Gaussian(of.noise(1)?), of.learning_rate(1)?, of.norm()?);
    let keep = 1.0 - run.weight_decay;
    let share = of.largest_share();
    let strong = run.loss.strong_convexity.map_or(0.0, |rho| rho.get());
    // The record's own loss may have to be strongly convex, which leaves less room for its push.
    let (own, push) = if of.is_clipped() { (0.0, norm) } else { (strong, norm - strong * half) };
    if push <= 0.0 {
        return None;
    }
    let push = push * (1.0 - 1e-12);
    let common = others.map(keep, rate, 0.0, norm).ok()?;
    // The others' part of a batch with the record, and what the record adds: −η·(own·w ∓ push)/b.
    let with = |sign: f64| {
        let keep = if sign == 0.0 { keep } else { keep - rate * share * own };
        others.map(keep, rate * (1.0 - share), sign * rate * share * push, norm).ok()
    };
    let first = with(1.0)?;
    let second = match (run.neighbours, run.order) {
        (Neighbours::ReplaceOne, _) => with(-1.0)?,
        (Neighbours::AddOrRemoveOne, Order::WithoutReplacement) => common.clone(),
        (Neighbours::AddOrRemoveOne, Order::Full) if run.divide_by == Divisor::Actual => common.clone(),
        (Neighbours::AddOrRemoveOne | Neighbours::ZeroOut, _) => with(0.0)?,
    };
    let never = Step::never(noise, common.clone());
    let used = |probability: f64| Step {
        noise,
        common: common.clone(),
        first: first.clone(),
        second: second.clone(),
        probability,
    };
    let mut all = match run.order {
        Order::Full => vec![(used(1.0), of.private)],
        Order::Poisson | Order::WithoutReplacement => vec![(used(of.rate_of_use().min(1.0)), of.private)],
        Order::Once | Order::Cyclic => {
            // Every other place is as good or worse, or the linear instances look at it.
            let place = match run.record {
                Record::Index(index) => index - 1,
                Record::Worst => *of.places().first()?,
            };
            if of.passes() > MOST_USES {
                return None;
            }
            let mut all = Vec::new();
            let mut made = 0;
            for time in (0..of.passes()).filter_map(|pass| of.step_of(pass, place)) {
                all.push((never.clone(), time - 1 - made));
                all.push((used(1.0), 1));
                made = time;
            }
            all.push((never.clone(), of.private - made));
            all
        }
        Order::Shuffled | Order::Allocation => return None,
    };
    all.push((never, run.public_steps));
    all.retain(|(_, count)| *count > 0);
    Some(all)
}

/// What the laws of the last iterate tell, which are off by an exception.
#[derive(Debug)]
pub(super) struct OnSegment {
    laws: Laws,
    exception: f64,
}

impl OnSegment {
    /// The laws of a chain, half of whose segment is this many noises long. If there is no projection, the probability that
    /// it would have moved an iterate is an exception.
    pub fn new(laws: Laws, unclamped: bool, half: f64) -> Self {
        let made = laws.made() as f64;
        // Each of the probabilities that are added up there has its error.
        let clamped = if unclamped { laws.clamped() + made * laws.error() } else { 0.0 };
        // Slopes, pushes and noises are rounded in every step, and a rounding r of a centre, in noises, changes the law
        // by less than r.
        let rounding = made * 1e-15 * (4.0 + half);
        Self { laws, exception: (clamped + rounding) * (1.0 + 1e-9) }
    }
}

impl OnSegment {
    /// The instance with these laws.
    pub fn instance(self, words: String) -> Instance {
        let laws = Arc::new(self);
        Instance { profile: laws.clone(), words, densities: Some(laws) }
    }
}

impl Densities for OnSegment {
    fn range(&self) -> (f64, f64) {
        self.laws.ends()
    }

    fn at(&self, x: f64) -> [f64; 2] {
        self.laws.densities(x)
    }

    fn atoms(&self) -> Vec<(f64, [f64; 2])> {
        let (from, to) = self.laws.ends();
        let [below, above] = self.laws.table().atoms;
        vec![(from, below), (to, above)]
    }
}

impl PrivacyProfile for OnSegment {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let Ok(gamma) = Gamma::from_epsilon(epsilon.get()) else {
            return Enclosure::ZERO;
        };
        let exact = self.laws.hockey_stick(direction, gamma);
        Except::lost(exact, epsilon, self.exception)
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        except::epsilon(delta, |epsilon| self.delta_of(direction, epsilon))
    }

    fn is_symmetric(&self) -> bool {
        false
    }
}
