//! Consecutive equal rounds.

use super::super::logs::{ln_contracted, ln_excess_down, ln_sum, ln_theta, raised};
use super::block::{Block, Place, Round};
use super::fresh::gaussian;
use super::table::Table;
use super::triangle;
use crate::chain::Count;
use crate::{Enclosure, NotApplicable};

/// A single step on a bounded domain.
struct Single {
    ln_rate: f64,
    ln_rest: f64,
    /// ω(D)/s.
    same: f64,
    /// ω′(D)/s.
    crossed: f64,
    /// The same for any two of the updates with one record, another, and none.
    any: f64,
    /// θ(d/s).
    moved: Table,
}

impl Single {
    /// A bound after the step from one before it.
    ///
    /// # Guarantee
    /// With h a bound before the step: before the noise E_γ ≤ p + (1−p)·h, by joint convexity, on points at most `any`
    /// apart, which gives F_γ(p + (1−p)·h). Or, by joint convexity after the noise, (1−p)·F_γ(h) for batches without
    /// the record, plus p times a bound for batches with it: θ_ε(ω′(D)/s), or the triangle inequality with the same
    /// update of the other law.
    fn apply(&self, h: &Table) -> Vec<f64> {
        let excesses: Vec<f64> = h.epsilons().iter().map(|&epsilon| ln_excess_down(epsilon)).collect();
        let kept = excesses.iter().zip(h.lns()).map(|(&x, &ln)| ln_contracted(self.same, x, ln)).collect();
        let kept = Table::plain(h.epsilons().clone(), kept);
        let mut hint = triangle::Hint::default();
        let mut after = |i: usize| {
            let (epsilon, ln_h) = (h.epsilons()[i], h.lns()[i]);
            let weighted = |ln_weight: f64, ln: f64| raised(ln_weight + ln, ln_weight + ln);
            let before = ln_sum(self.ln_rate, weighted(self.ln_rest, ln_h)).min(0.0);
            let joint = ln_contracted(self.any, excesses[i], before);
            let used =
                ln_theta(epsilon, self.crossed).min(triangle::least(&self.moved, &kept, epsilon, &mut hint));
            let apart = ln_sum(weighted(self.ln_rest, kept.lns()[i]), weighted(self.ln_rate, used));
            joint.min(apart)
        };
        (0..h.len()).map(&mut after).collect()
    }
}

/// Rounds in each of which the record may be used once.
pub(super) struct Part {
    count: Count,
    steps_per_round: u64,
    single: Option<Single>,
    blocks: Vec<Block>,
    /// Ratios r with E_γ ≤ θ_ε(r) after every number of rounds.
    ceilings: Vec<f64>,
}

/// This many rounds are treated one by one, …
const FEW: u64 = 16;
/// … and this many if there is no other way.
const MANY: u64 = 64;
/// The most sweeps.
const SWEEPS: usize = 400;
/// A block that changed nothing this many times is left out for a while.
const PATIENCE: usize = 2;

impl Part {
    /// This many rounds of iterates in one of the regions; the first, if it is certain, is used for single steps too.
    pub fn new(round: &Round<'_>, count: Count, places: &[Place]) -> Self {
        let width = places.iter().find(|p| p.ln_tail == f64::NEG_INFINITY).map(|place| place.width);
        let ratio = |distance: Enclosure| (distance / round.noise).upper();
        let rate = round.used.participation.probability();
        let single = width.filter(|_| round.clean.is_none()).map(|width| Single {
            ln_rate: rate.ln().upper(),
            ln_rest: (Enclosure::ONE - rate).ln().upper(),
            same: ratio(round.used.modulus.at(width)),
            crossed: ratio(round.used.crossed_at(width)),
            any: ratio(round.used.any_at(width)),
            moved: gaussian(ratio(round.used.displacement)),
        });
        let last = match (width, &round.clean) {
            (Some(width), None) => Some(round.used.crossed_at(width) / round.noise),
            (Some(width), Some((step, noise, _))) => Some(step.modulus.at(width) / *noise),
            _ => None,
        };
        let ceilings = last.map(Enclosure::upper).into_iter().collect();
        Self { count, steps_per_round: round.steps(), single, blocks: round.blocks(count, places), ceilings }
    }

    /// A further bound for every number of rounds from equal laws: E_γ ≤ θ_ε(r).
    pub fn cap(&mut self, ratio: f64) {
        self.ceilings.push(ratio);
    }

    /// The number of steps.
    pub fn steps(&self) -> Count {
        match self.count {
            Count::Times(rounds) => Count::Times(rounds.saturating_mul(self.steps_per_round)),
            Count::Any => Count::Any,
        }
    }

    /// Whether the rounds are treated one by one.
    pub fn is_short(&self) -> bool {
        matches!(self.count, Count::Times(times) if times <= FEW)
    }

    /// The range of ε on which anything happens.
    pub fn range(&self) -> (f64, f64) {
        let most = self.ceilings.iter().copied().fold(f64::INFINITY, f64::min);
        let last = |block: &Block| block.fresh.epsilons().last().copied().unwrap_or(0.0);
        let of_fresh = self.blocks.last().map_or(1.0, last);
        let end = if most.is_finite() { most * (most / 2.0 + 46.0) } else { 4.0 * of_fresh };
        let start = self.blocks.first().and_then(|block| block.fresh.epsilons().get(1)).copied();
        (start.unwrap_or(1e-9).min(end / 4.0), end.max(1e-300))
    }

    fn ceiling(&self, epsilon: f64) -> f64 {
        self.ceilings.iter().map(|&ratio| ln_theta(epsilon, ratio)).fold(0.0, f64::min)
    }

    /// The bound after the rounds from one before them; `warm` is the result at other ε.
    ///
    /// # Errors
    /// [`NotApplicable`] if there are too many rounds to treat one by one.
    pub fn advance(
        &self,
        h: &Table,
        warm: &mut Option<Table>,
        tolerance: f64,
    ) -> Result<Table, NotApplicable> {
        let fresh = h.lns().first() == Some(&f64::NEG_INFINITY);
        match self.count {
            Count::Times(times) if self.is_short() || (!fresh && times <= MANY) => {
                Ok(self.one_by_one(h, times, fresh))
            }
            _ if !fresh => Err(NotApplicable::beyond(
                "uses of the record differ and are too many: it is for equal steps, or periods of equal length",
            )),
            count => {
                let uniform = self.settled(h, warm.as_ref(), tolerance);
                *warm = Some(uniform.clone());
                Ok(match count {
                    Count::Times(times) => self.in_blocks(&self.blocks, &uniform, times),
                    Count::Any => uniform,
                })
            }
        }
    }

    /// Proceeds round by round, and in blocks.
    fn one_by_one(&self, h: &Table, times: u64, fresh: bool) -> Table {
        let mut after = h.clone();
        for _ in 0..times {
            after = self.next(&after, &self.blocks[..1], fresh);
        }
        if fresh && times > 1 { self.in_blocks(&self.blocks[1..], &after, times) } else { after }
    }

    /// The bound after the rounds of a block, combined with what holds at all times.
    fn next(&self, h: &Table, blocks: &[Block], fresh: bool) -> Table {
        let mut after = Table::plain(h.epsilons().clone(), vec![0.0; h.len()]);
        if let (Some(single), [Block { rounds: 1, .. }]) = (&self.single, blocks) {
            after = after.least(&single.apply(h));
        }
        for block in blocks {
            after = after.least(&block.apply(h));
        }
        if fresh { after.least(&self.caps(h)).hull() } else { after.hull() }
    }

    fn caps(&self, h: &Table) -> Vec<f64> {
        h.epsilons().iter().map(|&epsilon| self.ceiling(epsilon)).collect()
    }

    /// A bound for every number of rounds.
    ///
    /// # Guarantee
    /// If H bounds E_γ after every number of rounds from equal laws, so does the image of H under a block. After k
    /// rounds or more, it is a bound by the block. After fewer, E_γ is at most that of neighbours with the same start
    /// that take k rounds, the first of which do nothing.
    fn settled(&self, h: &Table, warm: Option<&Table>, tolerance: f64) -> Table {
        let mut bound = Table::new(h.epsilons().clone(), self.caps(h));
        if let Some(warm) = warm {
            bound = bound.least(warm.moved_to(h.epsilons().clone()).lns());
        }
        // Blocks that had no effect recently are left out until all others have settled.
        let mut idle = vec![0_usize; self.blocks.len()];
        let mut last = f64::INFINITY;
        for _ in 0..SWEEPS {
            let before = bound.clone();
            if let Some(single) = &self.single {
                bound = bound.least(&single.apply(&bound));
            }
            let everyone = idle.iter().all(|&times| times < PATIENCE);
            for (block, idle) in self.blocks.iter().zip(&mut idle).filter(|(_, idle)| **idle < PATIENCE) {
                let after = bound.least(&block.apply(&bound));
                *idle = if change(&bound, &after) < 0.1 * tolerance { *idle + 1 } else { 0 };
                bound = after;
            }
            bound = bound.hull();
            // Changes shrink by a constant factor: their geometric sum remains.
            let now = change(&before, &bound);
            let factor = if last.is_finite() { (now / last).min(0.99) } else { 0.99 };
            last = now;
            if now * factor < tolerance * (1.0 - factor) {
                if everyone {
                    break;
                }
                idle.fill(0);
                last = f64::INFINITY;
            }
        }
        bound
    }

    /// A bound for at most this many rounds: in blocks, starting from equal laws, with what holds at all times.
    ///
    /// # Guarantee
    /// The first rounds may do nothing, so their number may be rounded up.
    fn in_blocks(&self, blocks: &[Block], uniform: &Table, times: u64) -> Table {
        let mut best = uniform.clone();
        for block in blocks {
            let number = times.div_ceil(block.rounds);
            if number > MANY {
                continue;
            }
            let mut h = Table::nothing(uniform.epsilons().clone());
            for _ in 0..number {
                h = self.next(&h, std::slice::from_ref(block), true);
                if h.lns().iter().zip(best.lns()).all(|(new, known)| new >= known) {
                    break;
                }
                h = h.least(best.lns());
            }
            best = best.least(h.lns()).hull();
        }
        best
    }
}

/// The largest relative change of ln δ.
fn change(before: &Table, after: &Table) -> f64 {
    let pairs = before.lns().iter().zip(after.lns()).filter(|(before, _)| **before > DEEP);
    pairs.map(|(before, after)| (before - after) / before.abs().max(1.0)).fold(0.0, f64::max)
}

/// Changes of ln δ below this do not matter.
const DEEP: f64 = -700.0;
