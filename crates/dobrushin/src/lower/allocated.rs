//! What an observer of all steps sees of a run that allocates records to batches at random: one mechanism for each pass.

use super::multiplier::{Ratios, grouped};
use super::observed::{Composed, ComposedPart, sums_beside};
use crate::mechanism::{Mechanism, Sampling};
use crate::run::{NoiseKind, Training, missing};
use crate::{NotApplicable, Positive};

/// The most different noise levels of all passes together; each needs its own sums.
const MOST_LEVELS: usize = 32;
/// With less noise than this the steps' ratios overflow, and the place of the record is as good as told.
const LEAST_MULTIPLIER: f64 = 0.05;
/// The most batches of a pass.
const MOST_BATCHES: u64 = 1 << 24;

impl Training {
    /// The passes, each of them a mechanism in which a record takes part in one step at random.
    ///
    /// # Guarantee
    /// See [`AllocatedLoss`](crate::loss::AllocatedLoss). With less noise a step's ratio dP/dQ is a spread of what it was,
    /// so noise may be rounded down. Where a pass is not counted as a mechanism of its own, it counts as a step that is
    /// known to use the record, by joint convexity.
    pub(super) fn allocated(&self) -> Result<Composed, NotApplicable> {
        let Some(steps) = self.steps() else {
            return Err(missing!(
                "composition grows for ever, so it has no bound for every number of steps: give {}",
                Steps
            ));
        };
        let batches = self.batches_in_a_pass();
        let (whole, rest) = (steps / batches, steps % batches);
        let (passes, merged) = match self.ratios()? {
            Ratios::Equal(ratio) => {
                let pass = |steps: u64| vec![(ratio.lower(), steps)];
                (vec![(pass(batches), whole), (pass(rest), rest.min(1))], false)
            }
            Ratios::Each(ratios) => different_passes(ratios, batches),
        };
        let mut parts = Vec::new();
        for (levels, count) in passes.into_iter().filter(|(_, count)| *count > 0) {
            let count = count.saturating_mul(self.tasks);
            parts.push(self.pass(levels, batches, count)?);
        }
        parts.extend(sums_beside(self));
        Ok(Composed { parts, assumptions: self.assumptions(merged.then_some(MOST_LEVELS)) })
    }

    /// A pass with steps of these noise multipliers, so many times.
    fn pass(&self, levels: Vec<(f64, u64)>, batches: u64, count: u64) -> Result<ComposedPart, NotApplicable> {
        let step = |multiplier: f64| {
            let noise_multiplier = Positive::new(multiplier)?;
            Ok::<_, crate::Error>(match self.noise_kind {
                NoiseKind::Gaussian => Mechanism::Gaussian { noise_multiplier },
                NoiseKind::Laplace => Mechanism::Laplace { noise_multiplier },
            })
        };
        let least = levels.iter().map(|(multiplier, _)| *multiplier).fold(f64::INFINITY, f64::min);
        let mechanism = if batches == 1 || least < LEAST_MULTIPLIER || batches > MOST_BATCHES {
            step(least)?
        } else {
            let steps = levels.into_iter().map(|(multiplier, steps)| Ok((step(multiplier)?, steps)));
            Mechanism::Allocated { steps: steps.collect::<Result<_, crate::Error>>()?, batches }
        };
        Ok(ComposedPart { mechanism, sampling: Sampling::Every, neighbours: self.neighbours, count })
    }
}

/// The noise levels of a pass with the numbers of their steps, and the number of such passes.
type Passes = Vec<(Vec<(f64, u64)>, u64)>;

/// The noise levels of each pass, and whether different ones were counted as the smallest of them. A pass has several as
/// long as all passes together have few; of many passes each has only its smallest.
fn different_passes(ratios: Vec<f64>, batches: u64) -> (Passes, bool) {
    let batches = usize::try_from(batches).unwrap_or(usize::MAX);
    let passes = ratios.len().div_ceil(batches);
    if passes <= MOST_LEVELS {
        let each = ratios.chunks(batches).map(|pass| grouped(pass.to_vec(), (MOST_LEVELS / passes).max(1)));
        let (levels, merged): (Vec<_>, Vec<bool>) = each.unzip();
        return (levels.into_iter().map(|levels| (levels, 1)).collect(), merged.contains(&true));
    }
    let smallest = |pass: &[f64]| pass.iter().copied().fold(f64::INFINITY, f64::min);
    let whole = ratios.chunks_exact(batches);
    let rest = whole.remainder();
    let (levels, _) = grouped(whole.map(smallest).collect(), MOST_LEVELS);
    let mut all: Passes =
        levels.into_iter().map(|(level, count)| (vec![(level, batches as u64)], count)).collect();
    if !rest.is_empty() {
        all.push((vec![(smallest(rest), rest.len() as u64)], 1));
    }
    (all, true)
}
