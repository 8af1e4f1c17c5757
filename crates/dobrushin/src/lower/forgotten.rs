//! Records that were deleted after training: the chain of the clean steps that follow.
//!
//! # The two runs
//! A run on n slots makes T steps on all records. Then request 1 deletes g₁ records, whose slots stay empty from then on,
//! and K₁ clean steps follow, and so on until request m. It is compared with the same algorithm, run for T + ΣK_i steps,
//! in which the slots of all g = Σg_i deleted records were empty from the first step on. Both draw batches among all n
//! slots with the same law, and divide by the same number, so they can share batches and noise.
//!
//! - In the phase after request i, only the records of later requests tell the two apart. A step with k of them in its
//!   batch moves the iterate by at most k·ηC/b. After the last request the two runs make the same update.
//! - A batch of either run has up to g empty slots, in every phase. They add no curvature, so the modulus is that of
//!   batches which lack up to min(g, b) records (see [`Training::batch_shares`]).
//!
//! So this is one chain, whose steps use a group of records that shrinks from request to request, and does not take part
//! in the clean steps of the last one. Let L be the number of records that are still to be deleted:
//!
//! - *All records in each step*: the step uses the group, and moves by at most L·ηC/b.
//! - *Poisson*: each member takes part independently with probability q, so some member does with probability
//!   1 − (1−q)^L, and moves the update by at most L·ηC/b in all. The compared run makes the update without any of them.
//!   The chain also says who the members are: that usually few of them take part is worth something
//!   ([`HiddenParticipation`](crate::analysis::HiddenParticipation)).
//! - *Without replacement*: some member is in the batch with probability at most 1 − (1 − b/(n−L+1))^L. Given that k ≥ 1
//!   are, replace them by k uniform others: this is the law of a batch without members. So updates with and without the
//!   group are at most 2k·ηC/b apart, k ≤ min(L, b).
//! - *In turn*: members have places that are not known, so every step before the last request may hold up to min(L, b)
//!   of them; a step that holds none moves nothing. A single record that is deleted by a single request is used once a
//!   pass, and has the chain of that.
//!
//! # Any number of steps before the first request
//! Two runs that share batches and noise are never farther apart than the domain is wide, nor than d/(1−c) if updates are
//! c-Lipschitz and move by d. From such a start the last steps before the request are followed one by one.

use super::Released;
use super::batch::Ordinary;
use super::recent::RECENT;
use crate::chain::{Branch, Chain, Count, Domain, Members, Mixture, Participation, Start, Step, Stop};
use crate::run::{Batch, Length, NoiseKind, Order, Training, in_the_way, missing};
use crate::{Enclosure, NonNegative, NotApplicable, Probability};

/// The most different steps.
const MOST_DIFFERENT: u64 = 1_000_000;

/// The last phases are looked at one by one; earlier ones, of which less is left, are joined.
const SINGLE: usize = 8;

/// The phases, of which early ones are joined: two, then four, then eight, and so on back to the first. Of joined phases all
/// count as the first of them, in which most records are still to be deleted: a step that uses fewer of them is one that
/// moves less. So many requests cost a few stretches.
fn joined(phases: Vec<Phase>) -> Vec<Phase> {
    let mut all: Vec<Phase> = Vec::new();
    let (mut size, mut taken) = (1, 0);
    for phase in phases.into_iter().rev() {
        match all.last_mut() {
            Some(last) if taken < size => {
                *last = Phase { steps: last.steps.saturating_add(phase.steps), left: phase.left };
                taken += 1;
            }
            _ => {
                if all.len() >= SINGLE {
                    size *= 2;
                }
                all.push(phase);
                taken = 1;
            }
        }
    }
    all.reverse();
    all
}

/// A group of records, as an observer of every step sees it.
pub(super) struct Group {
    /// The steps that may use it.
    pub until: Training,
    /// The probability with which a step uses any of it.
    pub rate: Probability,
    /// The most contributions of one record that it makes to a step.
    pub together: Enclosure,
    /// By how much the number of steps that use one record is to be multiplied.
    pub times: u64,
}

/// Consecutive steps during which the same records are still to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phase {
    steps: u64,
    /// The number of records that are still to be deleted.
    left: u64,
}

impl Training {
    /// The release of a run after which records were deleted.
    ///
    /// # Guarantee
    /// The last iterate of the run, and that of the run in which the slots of all deleted records were empty from the
    /// first step on, are at most as far apart as some view allows, in both directions, whichever records are deleted.
    pub(super) fn released_after_forgetting(&self, allowed: Probability) -> Result<Released, NotApplicable> {
        let single = self.deleted_records() == 1 && self.order.is_by_passes() && self.length != Length::Any;
        let shuffled_again = self.order == Order::Shuffled
            && self.steps().is_none_or(|steps| steps > self.batches_in_a_pass());
        // Every step after the last use is one without the record, as if on public data.
        let followed = Self { public_steps: self.clean_steps(), ..self.clone() };
        if single
            && !shuffled_again
            && let Ok((views, ranges)) = followed.views(&self.lengths()?, None)
        {
            return Ok(self.of_views(views, ranges, None));
        }
        let lengths = self.lengths()?;
        let before = lengths.iter().copied().map(|steps| steps.unwrap_or(RECENT)).max().unwrap_or(0);
        let any = self.length == Length::Any;
        let share = if any { Probability::new(allowed.get() / 2.0)? } else { allowed };
        let mut ordinary = self.ordinary_batches(share, before.saturating_add(self.clean_steps()));
        let mut views = Vec::new();
        for steps in lengths {
            let phases = self.phases(steps.unwrap_or(RECENT));
            let chain = self.chain_of_phases(&phases, ordinary.as_ref())?;
            let chain = match steps {
                Some(_) => chain,
                None => {
                    let (apart, exception) = self.apart_before_a_request(ordinary.as_ref(), share)?;
                    if let Some(ordinary) = &mut ordinary {
                        ordinary.exception = Enclosure::from((ordinary.exception + exception).upper());
                        ordinary.last = Some(before.saturating_add(self.clean_steps()));
                    }
                    chain.starting(Start { distance: Some(apart), ..Start::default() })?
                }
            };
            views.push(Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop: Stop::End }]));
        }
        Ok(self.of_views(views, Vec::new(), ordinary.as_ref()))
    }

    /// The phases of a run that makes this many steps before the first request.
    fn phases(&self, steps: u64) -> Vec<Phase> {
        let mut left = self.deleted_records();
        let mut phases = vec![Phase { steps, left }];
        for request in &self.forgetting {
            left -= request.records;
            phases.push(Phase { steps: request.steps, left });
        }
        joined(phases)
    }

    /// The chain of these phases, from a start that both runs share.
    fn chain_of_phases(&self, phases: &[Phase], ordinary: Option<&Ordinary>) -> Result<Chain, NotApplicable> {
        let domain = Domain { diameter: self.domain.diameter, dimension: self.domain.dimension };
        if self.has_equal_steps() {
            let stretch =
                |phase: &Phase| Ok((self.group_step(1, phase.left, ordinary)?, Count::Times(phase.steps)));
            let stretches = phases.iter().map(stretch).collect::<Result<_, NotApplicable>>()?;
            return Ok(Chain::new(stretches, domain)?);
        }
        if self.length == Length::Any {
            return Err(missing!(
                "any number of steps, each with its own learning rate or noise: give {}",
                Steps
            ));
        }
        let total = phases.iter().map(|phase| phase.steps).fold(0, u64::saturating_add);
        if total > MOST_DIFFERENT {
            return Err(NotApplicable::beyond(format!(
                "{total} different steps: at most {MOST_DIFFERENT} are looked at"
            )));
        }
        let mut stretches = Vec::with_capacity(total as usize);
        let mut time = 0;
        for phase in phases {
            for _ in 0..phase.steps {
                time += 1;
                stretches.push((self.group_step(time, phase.left, ordinary)?, Count::Times(1)));
            }
        }
        Ok(Chain::new(stretches, domain)?)
    }

    /// The step at a time before which this many records are still to be deleted.
    fn group_step(&self, time: u64, left: u64, ordinary: Option<&Ordinary>) -> Result<Step, NotApplicable> {
        if left == 0 {
            return self.step_at(time, Participation::Never, ordinary);
        }
        let participation = match self.order {
            Order::Poisson | Order::WithoutReplacement => Participation::Sometimes(self.group_rate(left)?),
            // Allocated records are not deleted: see `run/forgotten.rs`.
            Order::Full | Order::Once | Order::Cyclic | Order::Shuffled | Order::Allocation => {
                Participation::Always
            }
        };
        let step = self.step_at(time, participation, ordinary)?;
        let most = self.most_in_a_batch(left);
        let members = match self.order {
            Order::Poisson if left > 1 => Some(Members { number: left, rate: self.rate()? }),
            _ => None,
        };
        Ok(Step { displacement: step.displacement * most, absence: step.absence * most, members, ..step })
    }

    /// The largest number of uses of records of a group of this size in one batch.
    pub(super) fn most_in_a_batch(&self, members: u64) -> Enclosure {
        // A batch that is filled up from the next pass may hold each of them twice.
        let uses = if self.most_double_uses() > 0 { members.saturating_mul(2) } else { members };
        match self.order {
            Order::Poisson | Order::Allocation | Order::Full => Enclosure::from(uses),
            Order::WithoutReplacement | Order::Once | Order::Cyclic | Order::Shuffled => {
                Enclosure::from(uses).min(self.nominal_batch())
            }
        }
    }

    /// The probability with which a step that draws records uses one of a group of this size, rounded up.
    pub(super) fn group_rate(&self, members: u64) -> Result<Probability, NotApplicable> {
        if members == 1 {
            return Ok(self.rate()?);
        }
        let each = match self.order {
            // Of the slots that are not known to hold a member, n − j if j members were not drawn, b are drawn.
            Order::WithoutReplacement => self.nominal_batch() / Enclosure::from(self.records - (members - 1)),
            _ => Enclosure::from(self.rate()?),
        };
        let missed = (Enclosure::ONE - each).positive_part();
        let none = Count::Times(members).power(missed);
        Ok(Probability::new((Enclosure::ONE - none).upper().clamp(0.0, 1.0))?)
    }

    /// A distance that two iterates before the last steps of any number of them exceed with at most some probability.
    fn apart_before_a_request(
        &self,
        ordinary: Option<&Ordinary>,
        allowed: Probability,
    ) -> Result<(NonNegative, Enclosure), NotApplicable> {
        let any = self.group_step(1, self.deleted_records(), None)?;
        let widest = self.domain.diameter.map(|diameter| Enclosure::from(diameter).upper());
        let always = (any.displacement / (Enclosure::ONE - any.lipschitz()).positive_part()).upper();
        let known = widest.into_iter().chain([always]).fold(f64::INFINITY, f64::min);
        if known < f64::INFINITY {
            return Ok((NonNegative::new(known)?, Enclosure::ZERO));
        }
        let steps = RECENT.saturating_add(self.clean_steps());
        let usually = match ordinary {
            Some(ordinary) => {
                let usual = self.group_step(1, self.deleted_records(), Some(ordinary))?;
                self.usually_apart(&usual, &any, ordinary.exception / Enclosure::from(steps), allowed)?
            }
            None => None,
        };
        usually.map(|apart| (apart, Enclosure::from(allowed))).ok_or_else(|| {
            missing!(
                "any number of steps before a record is deleted may drive iterates any distance apart: give {} or {}",
                Steps,
                Diameter
            )
        })
    }

    /// The deleted records, as an observer of every step sees them; `None` if there are none.
    ///
    /// # Guarantee
    /// What the observer sees until the last request is the composition of the steps of `until` with one record, if that
    /// record takes part with probability `rate`, contributes `together` times as much, and each step counts `times`
    /// times. After the last request nothing depends on the deleted records.
    ///
    /// Records in turn: let member j of the group have k_{t,j} uses in step t. By the inequality of Cauchy and Schwarz
    /// Σ_t(Σ_j k_{t,j})² ≤ min(g, b)·Σ_jΣ_t k_{t,j}², and the composition of Gaussian noise depends on this sum only. For
    /// each member Σ_t k_{t,j}² is at most that of one record, and min(g, b)·g ≤ ⌈g/b⌉·min(g, b)².
    pub(super) fn group_observed(&self) -> Result<Option<Group>, NotApplicable> {
        if self.forgetting.is_empty() {
            return Ok(None);
        }
        let until = self.until_the_last_request();
        let members = self.deleted_records();
        if members == 1 {
            return Ok(Some(Group { until, rate: self.rate()?, together: Enclosure::ONE, times: 1 }));
        }
        if !self.order.is_by_passes() {
            let together = self.most_in_a_batch(members);
            return Ok(Some(Group { until, rate: self.group_rate(members)?, together, times: 1 }));
        }
        if self.noise_kind == NoiseKind::Laplace {
            return Err(in_the_way!(
                "several records in turn that are deleted ({}) are not analysed with Laplace noise",
                ForgetRecords
            ));
        }
        if !self.has_equal_ratios() {
            return Err(in_the_way!(
                "several records in turn that are deleted ({}) need noise that is the same multiple of the {} in every step",
                ForgetRecords,
                LearningRate
            ));
        }
        let size = match self.batch {
            Batch::Size(size) => size,
            Batch::Probability(_) => 1,
        };
        let together = Enclosure::from(members.min(size));
        Ok(Some(Group { until, rate: self.rate()?, together, times: members.div_ceil(size) }))
    }

    /// The training until the last request: every step until then may use a record that is deleted later.
    fn until_the_last_request(&self) -> Self {
        let mut until = Self { forgetting: Vec::new(), ..self.clone() };
        let ([between @ .., _], Some(steps)) = (&self.forgetting[..], self.steps()) else {
            return until;
        };
        if between.is_empty() {
            return until;
        }
        // Clean steps may begin a pass.
        let pass = if self.order.is_by_passes() { self.batches_in_a_pass() } else { 0 };
        let more = between.iter().map(|request| request.steps.saturating_add(pass));
        until.length = Length::Steps(more.fold(steps, u64::saturating_add));
        if self.order == Order::Once {
            until.order = Order::Cyclic;
        }
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_phases_have_all_steps_and_no_fewer_records() {
        for count in [1_u64, 2, 8, 9, 30, 101, 5000] {
            let phases: Vec<Phase> =
                (0..count).map(|index| Phase { steps: index + 1, left: count - 1 - index }).collect();
            let each = |phases: &[Phase]| -> Vec<u64> {
                phases.iter().flat_map(|phase| vec![phase.left; phase.steps as usize]).collect()
            };
            let (before, few) = (each(&phases[phases.len().saturating_sub(60)..]), joined(phases.clone()));
            let after = each(&few);
            assert_eq!(few.iter().map(|phase| phase.steps).sum::<u64>(), (1..=count).sum::<u64>());
            let last = &after[after.len() - before.len()..];
            assert!(last.iter().zip(&before).all(|(after, before)| after >= before), "{count}");
            // The last request's clean steps use none of them, and the last phases are as they were.
            let kept = SINGLE.min(phases.len());
            assert_eq!(few[few.len() - kept..], phases[phases.len() - kept..]);
            assert!(few.len() <= SINGLE + 14);
        }
    }
}
