//! Records whose place in each pass is drawn at random: `shuffled` and `allocation`.
//!
//! Given the places of all records, the run is one with those places. The other records' places have the same law for
//! both neighbours, whatever the record's place is, so by joint convexity E_γ of the release is at most the average over
//! the record's places of a bound that holds for all places of the others. An observer of the last iterate sees none of
//! this, but a bound on such an average may give the places away.
//!
//! # Several passes
//! There are too many sequences of places to average over all of them. The place in the last pass is averaged over, and in
//! each earlier pass the record counts as used in the last step.
//!
//! *Moving a use to a later step.* Suppose that no update between two steps t < e drives iterates apart. Let Y follow one
//! neighbour's updates from the iterate before step t on, and X the other's, which differs in step t by at most d, with the
//! same noise. Before the update of step e they are at most d apart, so that X makes the update of Y plus a
//! vector V of norm at most d. Given the iterate Y, V is random and independent of the noise of step e on. So the two runs
//! are mixtures, with the same weights, of runs that make the same updates before step e, and of which one makes
//! ψ_e(w) + V(w) where the other makes ψ_e(w). The function V is arbitrary: in such a step two iterates that make the same
//! update may be driven apart by 2d more than ψ_e drives them, and two that make different ones by d. A few
//! places next to each other in the last pass are counted as the last of them in the same way.

use super::batch::Ordinary;
use super::steps::Steps;
use crate::chain::{Branch, Chain, Count, Mixture, Modulus, Participation, Piece, Step, Stop};
use crate::run::{Fact, IncompleteBatch, Length, Order, Release, Training, in_the_way};
use crate::{Enclosure, NotApplicable};
use std::sync::Arc;

/// More earlier passes than this become one entry of a chain.
const MOST_PASSES: u64 = 256;

/// The kinds of steps, by their index.
const USED: usize = 0;
/// A step after the last use, on private records or on public ones.
const CLEAN: usize = 1;
/// A step of an earlier pass that does not use the record, or does but counts as if it did not.
const WAITING: usize = 2;
/// A step to which a use was moved.
const LATE: usize = 3;

impl Training {
    /// The mixture over the record's places.
    pub(super) fn by_places(
        &self,
        steps: &Steps<'_>,
        ordinary: Option<&Ordinary>,
    ) -> Result<Mixture, NotApplicable> {
        if self.length == Length::Any {
            return Err(in_the_way!(
                "any number of passes, in each of which a record has a random place: give {}, or {} = \"poisson\"",
                Steps,
                Order
            ));
        }
        let padded = self.incomplete_batch == Some(IncompleteBatch::Pad);
        if steps.kinds.len() > 2 || !(self.has_full_batches() || padded) {
            return Err(NotApplicable::because_of(
                &[Fact::LearningRate, Fact::BatchSize, Fact::Records, Fact::IncompleteBatch],
                format!(
                    "random places need equal steps: one learning rate, and a {} that divides {}, or {} = \"drop\" or \
                     \"pad\"",
                    Fact::BatchSize,
                    Fact::Records,
                    Fact::IncompleteBatch
                ),
            ));
        }
        let used = self.step_at(1, Participation::Always, ordinary)?;
        // Only private batches are known to be drawn by the sampler.
        let clean = self.step_at(1, Participation::Never, ordinary.filter(|_| self.public_steps == 0))?;
        let (waiting, late) = (used.without_the_record(), moved_here(&used));
        let places = Places { training: self, kinds: vec![used, clean, waiting, late].into(), steps };
        if steps.private <= self.batches_in_a_pass() {
            places.of_one_pass()
        } else {
            places.of_the_last_pass()
        }
    }
}

/// The step to which a use in another step was moved.
fn moved_here(used: &Step) -> Step {
    let d = used.displacement.max(used.absence);
    let raised =
        |pieces: &[Piece], by: Enclosure| pieces.iter().map(|piece| piece.raised(by)).collect::<Vec<_>>();
    let mut crossed = raised(used.modulus.pieces(), d);
    crossed.extend(raised(used.crossed.pieces(), d));
    Step {
        modulus: Modulus::new(raised(used.modulus.pieces(), d + d)),
        absence: used.displacement,
        crossed: Modulus::new(crossed),
        growth: used.growth.map(|line| line.raised(d)),
        vanishes: false,
        ..used.clone()
    }
}

/// Whether no two iterates are driven apart.
fn keeps_together(step: &Step) -> bool {
    let pieces = step.modulus.pieces();
    pieces.iter().any(|piece| piece.slope().upper() <= 1.0 && piece.offset() == Enclosure::ZERO)
}

struct Places<'a> {
    training: &'a Training,
    kinds: Arc<[Step]>,
    steps: &'a Steps<'a>,
}

impl Places<'_> {
    fn chain(&self, stretches: Vec<(usize, u64)>) -> Result<Chain, NotApplicable> {
        let stretches = stretches.into_iter().map(|(kind, times)| (kind, Count::Times(times))).collect();
        Ok(Chain::of_kinds(Arc::clone(&self.kinds), stretches, self.steps.domain)?)
    }

    /// The probability that one of this many steps of a pass uses the record.
    fn chance(&self, steps: u64) -> Enclosure {
        let batches = match self.training.order {
            Order::Allocation => Enclosure::from(self.training.batches_in_a_pass()),
            _ => Enclosure::from(self.training.records) / self.training.nominal_batch(),
        };
        (Enclosure::from(steps) / batches).min(Enclosure::ONE)
    }

    /// One pass, or a part of one.
    fn of_one_pass(&self) -> Result<Mixture, NotApplicable> {
        let (private, public) = (self.steps.private, self.training.public_steps);
        let chain = self.chain(vec![(USED, 1), (CLEAN, private.saturating_sub(1).saturating_add(public))])?;
        if self.training.release == Release::RandomStop {
            // The first place is the least private of them.
            return Ok(Mixture::new(vec![Branch {
                weight: Enclosure::ONE,
                chain,
                stop: self.steps.stop()?,
            }]));
        }
        self.steps.stop()?;
        // At the k-th last place, k − 1 private steps and the public ones follow: the chain is that of the first place,
        // stopped at that time. Only the last batch of a pass, if it is padded, contains a record less often; counting
        // it with the same probability moves probability to the place that is hidden least.
        let weight = self.chance(private);
        Ok(Mixture::new(vec![Branch { weight, chain, stop: Stop::Uniform(private) }]))
    }

    /// Several passes, the last of which may end early.
    fn of_the_last_pass(&self) -> Result<Mixture, NotApplicable> {
        let training = self.training;
        if training.release != Release::Last {
            return Err(in_the_way!(
                "several passes, in each of which a record has a random place, are analysed for {} = \"last\" only",
                Release
            ));
        }
        if !keeps_together(&self.kinds[WAITING]) {
            return Err(NotApplicable::because_of(
                &[Fact::LearningRate, Fact::Smoothness],
                "several passes, in each of which a record has a random place, need updates that drive no two iterates \
                 apart: a convex and smooth loss, and a small enough learning rate",
            ));
        }
        let batches = training.batches_in_a_pass();
        let last = (self.steps.private - 1) % batches + 1;
        let earlier = (self.steps.private - last) / batches;
        let exact = !training.has_incomplete_batches();
        let mut branches = Vec::new();
        let mut add = |weight: Enclosure, in_the_last: Vec<(usize, u64)>| -> Result<(), NotApplicable> {
            let chain = self.after(earlier, in_the_last)?;
            branches.push(Branch { weight, chain, stop: Stop::End });
            Ok(())
        };
        // Groups of places, by the number of private steps that follow.
        let mut following = 0;
        while following < last {
            let places = (following / 4 + 1).min(last - following);
            let kind = if places == 1 && exact { USED } else { LATE };
            let before = last - following - 1;
            add(self.chance(places), vec![(WAITING, before), (kind, 1), (CLEAN, following)])?;
            following += places;
        }
        let unused = (Enclosure::ONE - self.chance(last)).positive_part();
        if unused.upper() > 0.0 && last < batches {
            add(unused, vec![(CLEAN, last)])?;
        }
        Ok(Mixture::new(branches))
    }

    /// Earlier passes that count as using the record in their last steps, then these steps, then the public ones.
    fn after(&self, earlier: u64, steps: Vec<(usize, u64)>) -> Result<Chain, NotApplicable> {
        let lap = [(WAITING, self.training.batches_in_a_pass() - 1), (LATE, 1)];
        let end = steps.into_iter().chain([(CLEAN, self.training.public_steps)]);
        if earlier <= MOST_PASSES {
            let passes = std::iter::repeat_n(lap, earlier as usize).flatten();
            return self.chain(passes.chain(end).filter(|(_, times)| *times > 0).collect());
        }
        let counted = |stretches: &mut dyn Iterator<Item = (usize, u64)>| {
            stretches
                .filter(|(_, times)| *times > 0)
                .map(|(kind, times)| (kind, Count::Times(times)))
                .collect()
        };
        let (lap, end) = (counted(&mut lap.into_iter()), counted(&mut end.into_iter()));
        Ok(Chain::of_kinds_in_laps(&self.kinds, Vec::new(), (lap, earlier), end, self.steps.domain)?)
    }
}
