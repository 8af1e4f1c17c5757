//! Blocks of steps, and their effect on a bound on E_γ.

use super::super::logs::{ln_contracted, ln_excess_down, ln_sum, ln_theta, raised};
use super::compose::Pair;
use super::fresh::{TOLERANCE, gaussian, one_step};
use super::motion::Motion;
use super::table::Table;
use super::triangle;
use crate::Enclosure;
use crate::chain::{Count, Participation, Step};

/// The region of the iterates, as seen from a step.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The largest distance of two of them, …
    pub width: Enclosure,
    /// … except with a probability that has this logarithm.
    pub ln_tail: f64,
}

/// Successive contractions: a radius, and the number of repetitions.
type Path = Vec<(f64, u64)>;

/// ⌈rounds⌉ of steps from equal or different iterates.
pub(super) struct Block {
    pub rounds: u64,
    /// E_γ of neighbours with the same start.
    pub fresh: Table,
    /// Ways to bound the same update from different starts, with the tail of each.
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
        Table::plain(h.epsilons().clone(), lns)
    }

    /// A bound after the block from one before it.
    ///
    /// # Guarantee
    /// With S the law after the second neighbour's updates from the first one's law (or the other way round),
    /// E_{γ₁}(P‖S) is that of neighbours with the same start, E_{γ₂}(S‖Q) is that of equal updates from different
    /// starts, and the weak triangle inequality combines them.
    pub fn apply(&self, h: &Table) -> Vec<f64> {
        let contracted = self.contracted(h);
        let mut hint = triangle::Hint::default();
        let mut after = |&epsilon: &f64| triangle::least(&self.fresh, &contracted, epsilon, &mut hint);
        h.epsilons().iter().map(&mut after).collect()
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

/// A step in which the record may take part, followed by steps without it.
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

    /// The number of its steps.
    pub fn steps(&self) -> u64 {
        self.clean.map_or(1, |(_, _, count)| count.saturating_add(1))
    }

    /// The number of steps, if they are all alike except for the record.
    fn alike(&self) -> Option<u64> {
        match self.clean {
            None => Some(1),
            Some((step, noise, _)) if step.modulus == self.used.modulus && noise == self.noise => {
                Some(self.steps())
            }
            Some(_) => None,
        }
    }

    /// The ways in which this many rounds of equal updates contract.
    fn paths(&self, rounds: u64, place: Place) -> Vec<Path> {
        if let Some(steps) = self.alike() {
            return vec![vec![(self.same().radius(steps.saturating_mul(rounds), place.width), 1)]];
        }
        let Some((step, noise, count)) = self.clean else { return Vec::new() };
        let rest = Motion::new(step.modulus.pieces().to_vec(), noise);
        let first = (self.same().radius(1, place.width), 1);
        let ways =
            splits(count).map(|(length, times)| vec![first, (rest.radius(length, place.width), times)]);
        if rounds == 1 { ways.collect() } else { Vec::new() }
    }

    /// The profile of one round whose start is known for both neighbours.
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

    /// Blocks of 1, 2, 4, … rounds, up to `count` of them, as long as longer ones contract more; if there are few
    /// rounds, also a block of all of them.
    pub fn blocks(&self, count: Count, places: &[Place]) -> Vec<Block> {
        let most = match count {
            Count::Times(times) => times,
            Count::Any => u64::MAX,
        };
        let bounded = places.iter().find(|place| place.ln_tail == f64::NEG_INFINITY);
        let mut growth = Growth::new(self, bounded.copied().unwrap_or(NOWHERE));
        let mut blocks: Vec<Block> = Vec::new();
        let mut rounds = 1;
        while rounds <= most.min(MOST_ROUNDS) {
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
            let next = places.iter().flat_map(|place| self.paths(2 * rounds, *place)).flatten();
            let gain = next.fold(f64::INFINITY, |least, (radius, _)| least.min(radius));
            let fresh = growth.double_to(rounds);
            let known = fresh.lns().first().copied().unwrap_or(0.0) > ALL_KNOWN;
            if !paths.is_empty() || rounds == 1 {
                blocks.push(Block { rounds, fresh, paths });
            }
            if least < LEAST_RADIUS || gain > 0.99 * least || known {
                break;
            }
            rounds *= 2;
        }
        if (2..=MOST_TOGETHER).contains(&most) {
            // All rounds, without contraction.
            blocks.push(Block { rounds: most, fresh: growth.all(most), paths: Vec::new() });
        }
        blocks
    }
}

/// The privacy cost of rounds with a known start, for more and more rounds.
struct Growth {
    /// The ratio of Gaussian noise by which one round differs, if nothing else differs.
    ratio: Option<Enclosure>,
    /// The profiles for 1, 2, 4, … rounds.
    doubled: Vec<Table>,
}

impl Growth {
    fn new(round: &Round<'_>, place: Place) -> Self {
        let ratio = match (round.used.participation, round.clean) {
            (Participation::Always, None) => Some(round.used.displacement / round.noise),
            _ => None,
        };
        Self { ratio, doubled: vec![round.fresh(place)] }
    }

    /// The profile for a power of two.
    fn double_to(&mut self, rounds: u64) -> Table {
        let level = rounds.ilog2() as usize;
        while self.doubled.len() <= level {
            let last = &self.doubled[self.doubled.len() - 1];
            let next = match self.ratio {
                Some(ratio) => {
                    gaussian((ratio * Enclosure::from(1_u64 << self.doubled.len()).sqrt()).upper())
                }
                None => {
                    let pair = Pair::of(last);
                    pair.composed(&pair, TOLERANCE)
                }
            };
            self.doubled.push(next);
        }
        self.doubled[level].clone()
    }

    /// The profile for any number of rounds.
    fn all(&mut self, rounds: u64) -> Table {
        if let Some(ratio) = self.ratio {
            return gaussian((ratio * Enclosure::from(rounds).sqrt()).upper());
        }
        let bits = (0..64).filter(|bit| rounds >> bit & 1 == 1);
        let parts: Vec<Table> = bits.map(|bit| self.double_to(1 << bit)).collect();
        let join = |a: Table, b: Table| Pair::of(&a).composed(&Pair::of(&b), TOLERANCE);
        parts.into_iter().reduce(join).unwrap_or_else(|| self.doubled[0].clone())
    }
}

/// Noise on points further apart than this hardly contracts.
const LARGEST_RADIUS: f64 = 8.0;
/// Noise on points closer than this leaves hardly anything.
const LEAST_RADIUS: f64 = 0.1;
/// With a total variation beyond e to this power, nothing is hidden.
const ALL_KNOWN: f64 = -0.02;
/// The most rounds for which a block of all of them is also used.
const MOST_TOGETHER: u64 = 4096;
/// The longest blocks.
const MOST_ROUNDS: u64 = 1 << 22;
/// The region if nothing is known.
const NOWHERE: Place = Place { width: Enclosure::INFINITE, ln_tail: f64::NEG_INFINITY };

/// Ways to divide this many steps into equal blocks, leaving some out: length and number.
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
