//! Blocks of steps, and what they make of a bound on E_γ.

use super::compose::Pair;
use super::fresh::{TOLERANCE, gaussian, one_step};
use super::logs::{ln_contracted, ln_excess_down, ln_sum, ln_theta, raised};
use super::motion::Motion;
use super::table::Table;
use super::triangle;
use crate::Enclosure;
use crate::chain::{Count, Participation, Step};

/// Where iterates are, as seen from a step.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// How far apart two of them are, at most, …
    pub width: Enclosure,
    /// … but for a probability with this logarithm.
    pub ln_tail: f64,
}

/// Contractions one after another: a radius, and how often.
type Path = Vec<(f64, u64)>;

/// ⌈rounds⌉ of steps from equal or different iterates.
pub(super) struct Block {
    pub rounds: u64,
    /// E_γ of neighbours that start alike.
    pub fresh: Table,
    /// Ways to bound the same update from different starts, and the tails that go with each.
    paths: Vec<(Path, f64)>,
}

impl Block {
    /// ln E_γ after the same updates from laws with E_γ ≤ h: the least of the ways.
    fn contracted(&self, h: &Table) -> Table {
        let after = |epsilon: f64, ln_h: f64| {
            let ln_excess = ln_excess_down(epsilon);
            let along = |(path, ln_tail): &(Path, f64)| {
                let ln = contract_along(path, ln_excess, ln_h);
                if *ln_tail == f64::NEG_INFINITY {
                    return ln;
                }
                // (1 + γ)·τ
                let tail = ln_tail + ln_sum(0.0, epsilon);
                ln_sum(ln, raised(tail, tail))
            };
            self.paths.iter().map(along).fold(ln_h.min(0.0), f64::min)
        };
        let lns = h.epsilons().iter().zip(h.lns()).map(|(&e, &ln)| after(e, ln)).collect();
        Table::new(h.epsilons().clone(), lns)
    }

    /// A bound after the block from one before it.
    ///
    /// # Guarantee
    /// With S the law after the second neighbour's updates from the first one's law (or the other way round),
    /// E_{γ₁}(P‖S) is that of neighbours that start alike, E_{γ₂}(S‖Q) that of equal updates from different
    /// starts, and the weak triangle inequality joins them.
    pub fn apply(&self, h: &Table) -> Vec<f64> {
        let contracted = self.contracted(h);
        h.epsilons().iter().map(|&epsilon| triangle::least(&self.fresh, &contracted, epsilon)).collect()
    }
}

fn contract_along(path: &Path, ln_excess: f64, ln_h: f64) -> f64 {
    path.iter().fold(ln_h, |mut ln, &(radius, times)| {
        for _ in 0..times {
            ln = ln_contracted(radius, ln_excess, ln);
        }
        ln
    })
}

/// A step in which the record may take part, and then steps without it.
pub(super) struct Round<'a> {
    pub used: &'a Step,
    pub noise: Enclosure,
    /// The steps without it, their noise and their number.
    pub clean: Option<(&'a Step, Enclosure, u64)>,
}

impl Round<'_> {
    fn same(&self) -> Motion {
        Motion::new(self.used.modulus.pieces().to_vec(), self.noise)
    }

    /// If all steps are alike but for the record, how many they are.
    fn alike(&self) -> Option<u64> {
        match self.clean {
            None => Some(1),
            Some((step, noise, count)) if step.modulus == self.used.modulus && noise == self.noise => Some(count + 1),
            Some(_) => None,
        }
    }

    /// The ways in which so many rounds of equal updates contract.
    fn paths(&self, rounds: u64, place: Place) -> Vec<Path> {
        if let Some(steps) = self.alike() {
            return vec![vec![(self.same().radius(steps.saturating_mul(rounds), place.width), 1)]];
        }
        let Some((step, noise, count)) = self.clean else { return Vec::new() };
        let rest = Motion::new(step.modulus.pieces().to_vec(), noise);
        let first = (self.same().radius(1, place.width), 1);
        let ways = splits(count).map(|(length, times)| vec![first, (rest.radius(length, place.width), times)]);
        if rounds == 1 { ways.collect() } else { Vec::new() }
    }

    /// The profile of one round whose start both neighbours know.
    fn fresh(&self, place: Place) -> Table {
        let once = one_step(self.used, self.noise);
        let Some((step, noise, count)) = self.clean else { return once };
        let rest = Motion::new(step.modulus.pieces().to_vec(), noise);
        let mut table = contracted(&once, &rest, count, place);
        if let (Participation::Always, Some(steps)) = (self.used.participation, self.alike()) {
            let mu = rest.radius_after(self.used.displacement, steps - 1);
            let shifted: Vec<f64> = table.epsilons().iter().map(|&e| ln_theta(e, mu)).collect();
            table = table.least(&shifted);
        }
        table
    }

    /// Blocks of 1, 2, 4, … rounds, up to `count` of them, for which something is known in one of the places.
    pub fn blocks(&self, count: Count, places: &[Place]) -> Vec<Block> {
        let most = match count {
            Count::Times(times) => times,
            Count::Any => u64::MAX,
        };
        let gaussian_ratio = match (self.used.participation, self.clean) {
            (Participation::Always, None) => Some(self.used.displacement / self.noise),
            _ => None,
        };
        let bounded = places.iter().find(|place| place.ln_tail == f64::NEG_INFINITY);
        let mut fresh = self.fresh(bounded.copied().unwrap_or(NOWHERE));
        let mut blocks: Vec<Block> = Vec::new();
        let mut rounds = 1;
        loop {
            let mut paths = Vec::new();
            let mut least = f64::INFINITY;
            for place in places {
                for path in self.paths(rounds, *place) {
                    let radius = path.iter().fold(f64::INFINITY, |least, (radius, _)| least.min(*radius));
                    if radius < LARGEST_RADIUS {
                        paths.push((path, place.ln_tail));
                    }
                    least = least.min(radius);
                }
            }
            if !paths.is_empty() || rounds == 1 {
                blocks.push(Block { rounds, fresh: fresh.clone(), paths });
            }
            let next = rounds * 2;
            let gain = places
                .iter()
                .flat_map(|place| self.paths(next, *place))
                .flatten()
                .fold(f64::INFINITY, |least, (radius, _)| least.min(radius));
            let variation = fresh.lns().first().copied().unwrap_or(0.0);
            if rounds >= most || rounds >= MOST_ROUNDS || least < LEAST_RADIUS || gain > 0.99 * least || variation > -0.05 {
                return blocks;
            }
            fresh = match gaussian_ratio {
                Some(ratio) => gaussian((ratio * Enclosure::from(next).sqrt()).upper()),
                None => {
                    let pair = Pair::of(&fresh);
                    pair.composed(&pair, TOLERANCE)
                }
            };
            rounds = next;
        }
    }
}

/// Noise on points further apart than this hardly contracts.
const LARGEST_RADIUS: f64 = 8.0;
/// Noise on points closer than this leaves hardly anything.
const LEAST_RADIUS: f64 = 0.1;
/// The longest blocks.
const MOST_ROUNDS: u64 = 1 << 22;
/// Where nothing is known.
const NOWHERE: Place = Place { width: Enclosure::INFINITE, ln_tail: f64::NEG_INFINITY };

/// Ways to divide so many steps into equal blocks, leaving some of them out: length and number.
fn splits(count: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..7).map(move |halvings| (count >> halvings, 1 << halvings)).take_while(|(length, _)| *length > 0)
}

/// The bound after `count` steps without the record.
pub(super) fn contracted(h: &Table, rest: &Motion, count: u64, place: Place) -> Table {
    let ways: Vec<(f64, u64)> =
        splits(count).map(|(length, times)| (rest.radius(length, place.width), times)).collect();
    let after = |(&epsilon, &ln_h): (&f64, &f64)| {
        let ln_excess = ln_excess_down(epsilon);
        let along = |way: &(f64, u64)| contract_along(&vec![*way], ln_excess, ln_h);
        ways.iter().map(along).fold(ln_h, f64::min)
    };
    let lns = h.epsilons().iter().zip(h.lns()).map(after).collect();
    Table::new(h.epsilons().clone(), lns)
}
