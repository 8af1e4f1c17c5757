//! A branch of a mixture, stretch by stretch, with the times at which it may stop.

use crate::chain::{Branch, Chain, Count, Mixture, Section, Step, Stop, Stretch};
use crate::run::missing;
use crate::{Enclosure, NotApplicable};

/// Equal steps, starting with the first use of the record.
pub(super) struct Leg<'a> {
    /// The step.
    pub step: &'a Step,
    /// The number of repetitions.
    pub count: Count,
    /// Whether the chain may stop after each of them.
    pub stops: bool,
    /// The diameters of the sets that contain the iterates before and after each of them.
    pub before: Enclosure,
    pub after: Enclosure,
}

impl<'a> Leg<'a> {
    /// The leg of a stretch that follows iterates in a set of diameter `before`, on a domain of this width.
    pub fn new(
        Stretch { step, count }: Stretch<'a>,
        stops: bool,
        before: Enclosure,
        width: Enclosure,
    ) -> Self {
        let after = step.width_after(width);
        let before = if count == Count::Times(1) { before } else { before.max(after) };
        Self { step, count, stops, before, after }
    }
}

/// Legs that are repeated together.
pub(super) struct Group<'a> {
    /// The legs, in order.
    pub legs: Vec<Leg<'a>>,
    /// The number of repetitions.
    pub times: u64,
}

/// The legs of a branch; legs that are repeated together form one group. The last legs are not repeated.
pub(super) fn groups(branch: &Branch) -> Result<Vec<Group<'_>>, NotApplicable> {
    if !branch.chain.has_laps() {
        return Ok(vec![Group { legs: legs(branch)?, times: 1 }]);
    }
    if branch.stop != Stop::End {
        return Err(NotApplicable::beyond("there are too many different times at which the run may stop"));
    }
    let width = branch.chain.domain().width();
    let mut groups = Vec::new();
    for section in branch.chain.sections_since_the_record() {
        let (stretches, times) = match section {
            Section::Stretch(stretch) => (vec![stretch], 1),
            Section::Laps(lap, times) => (lap, times),
        };
        // Laps begin wherever the one before ended: in the domain.
        let legs = || stretches.iter().map(|&stretch| Leg::new(stretch, false, width, width)).collect();
        groups.push(Group { legs: legs(), times });
    }
    // The last lap equals the others.
    if let Some(last) = groups.last_mut().filter(|last| last.times > 1) {
        last.times -= 1;
        let legs = last.legs.iter().map(|leg| Leg { ..*leg }).collect();
        groups.push(Group { legs, times: 1 });
    }
    Ok(groups)
}

/// The legs of a branch; either every step of a leg is a possible stop, or none is. An endless leg in which the record
/// takes no part is left out: it may have no steps at all.
///
/// # Errors
/// [`NotApplicable`] if there are too many of them to visit.
pub(super) fn legs(branch: &Branch) -> Result<Vec<Leg<'_>>, NotApplicable> {
    if branch.chain.has_laps() {
        return Err(NotApplicable::beyond(
            "the record is used in turn in thousands of passes, and this goes through them one by one: shift and \
             composition count them",
        ));
    }
    let mut skipped = match branch.stop {
        Stop::End => None,
        Stop::Uniform(times) => {
            let steps = branch
                .chain
                .steps()
                .ok_or_else(|| missing!("a random stop needs a number of steps: give {}", Steps))?;
            Some(steps - times.min(steps))
        }
    };
    let mut legs = Vec::new();
    let mut used = false;
    let width = branch.chain.domain().width();
    let mut before = width;
    for stretch in branch.chain.stretches() {
        used |= !stretch.step.participation.is_never();
        let mut push = |count: u64, stops: bool| {
            if used && count > 0 {
                legs.push(Leg::new(Stretch { count: Count::Times(count), ..stretch }, stops, before, width));
            }
            if count > 0 {
                before = stretch.step.width_after(width);
            }
        };
        match (stretch.count, &mut skipped) {
            (Count::Times(times), Some(skipped)) => {
                let before = times.min(*skipped);
                *skipped -= before;
                push(before, false);
                push(times - before, true);
            }
            (Count::Times(times), None) => push(times, false),
            (Count::Any, _) if stretch.step.participation.is_never() => (),
            (Count::Any, _) => legs.push(Leg::new(stretch, false, before, width)),
        }
    }
    Ok(legs)
}

/// The bounds on every chain of a mixture that stops at its end, with its weight.
pub(super) fn at_each_end<T>(
    released: &Mixture,
    known: impl Fn(&Chain) -> Result<T, NotApplicable>,
) -> Result<Vec<(Enclosure, T)>, NotApplicable> {
    let mut members = Vec::new();
    for branch in released.branches() {
        let ends = branch.ends().ok_or_else(|| {
            NotApplicable::beyond("there are too many different times at which the run may stop")
        })?;
        for (weight, chain) in ends {
            members.push((weight, known(&chain)?));
        }
    }
    Ok(members)
}

/// ln of the weight of each stop.
pub(super) fn ln_weight_of_a_stop(branch: &Branch) -> Enclosure {
    match branch.stop {
        Stop::End => branch.weight.ln(),
        Stop::Uniform(times) => branch.weight.ln() - Enclosure::from(times).ln(),
    }
}
