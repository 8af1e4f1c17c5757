//! Stretches that are repeated together, as one entry of a chain.

use super::{Chain, ChainError, Count, Domain, Step, Stretch, indexed};
use std::sync::Arc;

/// Consecutive stretches, repeated several times.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Laps {
    /// The number of stretches of the chain that come before.
    pub before: usize,
    pub lap: Vec<(usize, Count)>,
    pub times: u64,
}

/// A part of a chain.
///
/// ```
/// use dobrushin::chain::{Chain, Count, Domain, Participation, Section, Step, StepNoise};
/// use dobrushin::NonNegative;
///
/// // A million passes of a use and nine steps without the record.
/// let used = Step::new(StepNoise::gaussian(1.0)?).used_by(Participation::Always, NonNegative::new(1.0)?);
/// let pass = vec![(used.clone(), Count::Times(1)), (used.without_the_record(), Count::Times(9))];
/// let chain = Chain::in_laps(Vec::new(), (pass, 1_000_000), Vec::new(), Domain::default())?;
/// assert_eq!(chain.steps(), Some(10_000_000));
/// assert!(chain.sections().any(|section| matches!(section, Section::Laps(..)) && section.stretches().len() == 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Section<'a> {
    /// Consecutive equal steps.
    Stretch(Stretch<'a>),
    /// Consecutive stretches, repeated this many times.
    Laps(Vec<Stretch<'a>>, u64),
}

impl<'a> Section<'a> {
    /// Its stretches, for a single lap.
    pub fn stretches(&self) -> &[Stretch<'a>] {
        match self {
            Self::Stretch(stretch) => std::slice::from_ref(stretch),
            Self::Laps(lap, _) => lap,
        }
    }

    /// Whether the record may take part.
    pub fn is_used(&self) -> bool {
        self.stretches().iter().any(|stretch| !stretch.step.participation.is_never())
    }
}

impl Chain {
    /// The chain of some steps, then others repeated this many times, and then some more: a million passes cost as much
    /// as one.
    ///
    /// # Errors
    /// The errors of [`Chain::new`].
    pub fn in_laps(
        before: Vec<(Step, Count)>,
        (lap, times): (Vec<(Step, Count)>, u64),
        after: Vec<(Step, Count)>,
        domain: Domain,
    ) -> Result<Self, ChainError> {
        let mut kinds = Vec::new();
        let [before, lap, after] = [before, lap, after].map(|steps| indexed(&mut kinds, steps));
        Self::of_kinds_in_laps(&kinds.into(), before, (lap, times), after, domain)
    }

    /// The same, with steps that are shared with other chains.
    ///
    /// # Errors
    /// The errors of [`Chain::new`].
    pub(crate) fn of_kinds_in_laps(
        kinds: &Arc<[Step]>,
        before: Vec<(usize, Count)>,
        (lap, times): (Vec<(usize, Count)>, u64),
        after: Vec<(usize, Count)>,
        domain: Domain,
    ) -> Result<Self, ChainError> {
        let numbered = before.iter().chain(&lap);
        if let Some(place) = numbered.clone().position(|(_, count)| *count == Count::Any) {
            return Err(ChainError::AnyBeforeTheEnd(place + 1));
        }
        let joined = |stretches| Ok(Self::of_kinds(Arc::clone(kinds), stretches, domain)?.stretches);
        let (before, lap, after): (Vec<_>, Vec<_>, Vec<_>) = (joined(before)?, joined(lap)?, joined(after)?);
        // Equal steps form one stretch.
        if let [(kind, Count::Times(steps))] = lap[..] {
            let all = [before, vec![(kind, Count::Times(steps.saturating_mul(times)))], after].concat();
            return Self::of_kinds(Arc::clone(kinds), all, domain);
        }
        let laps = Laps { before: before.len(), lap, times };
        let laps = Some(laps).filter(|laps| laps.times > 0 && !laps.lap.is_empty());
        let stretches = [before, after].concat();
        Self { kinds: Arc::clone(kinds), stretches, laps, coarse: false, start: None, domain }.within_limits()
    }

    /// The parts of the chain, in order.
    pub fn sections(&self) -> impl Iterator<Item = Section<'_>> + Clone {
        let before = self.laps.as_ref().map_or(0, |laps| laps.before);
        let (before, after) = self.stretches.split_at(before);
        let laps = self.laps.iter().map(|laps| Section::Laps(self.those(&laps.lap).collect(), laps.times));
        let [before, after] = [before, after].map(|stretches| self.those(stretches).map(Section::Stretch));
        before.chain(laps).chain(after)
    }

    /// The sections, starting with the first in which the record may take part.
    pub fn sections_since_the_record(&self) -> impl Iterator<Item = Section<'_>> + Clone {
        self.sections().skip_while(|section| !section.is_used())
    }

    /// Whether stretches are repeated together, so that there may be too many to visit one by one.
    pub fn has_laps(&self) -> bool {
        self.laps.is_some()
    }

    /// The steps; each appears once for each stretch that contains it.
    pub fn different_steps(&self) -> impl Iterator<Item = &Step> {
        let lap = self.laps.iter().flat_map(|laps| &laps.lap);
        self.stretches.iter().chain(lap).map(|&(kind, _)| &self.kinds[kind])
    }

    /// The stretches after the last use of the record.
    pub fn after_the_last_use(&self) -> Vec<Stretch<'_>> {
        let sections: Vec<Section<'_>> = self.sections().collect();
        let backwards = sections.iter().rev().flat_map(|section| section.stretches().iter().rev());
        let mut after: Vec<Stretch<'_>> =
            backwards.take_while(|stretch| stretch.step.participation.is_never()).copied().collect();
        after.reverse();
        after
    }

    /// The chain that stops after its first `steps` steps.
    #[must_use]
    pub fn cut_at(&self, steps: u64) -> Self {
        let (kinds, domain, coarse) = (Arc::clone(&self.kinds), self.domain, self.coarse);
        let start = self.start.clone();
        let Some(Laps { before, lap, times }) = &self.laps else {
            let stretches = first_steps(&self.stretches, steps);
            return Self { kinds, stretches, laps: None, coarse, start, domain };
        };
        let (before, after) = self.stretches.split_at(*before);
        let left = steps.saturating_sub(steps_of(before));
        let length = steps_of(lap);
        let whole = left.checked_div(length).unwrap_or(0).min(*times);
        let left = left - whole * length;
        let tail = first_steps(if whole < *times { lap } else { after }, left);
        let head = first_steps(before, steps);
        let laps = Laps { before: head.len(), lap: lap.clone(), times: whole };
        let laps = Some(laps).filter(|laps| laps.times > 0);
        Self { kinds, stretches: [head, tail].concat(), laps, coarse, start, domain }
    }
}

/// The number of steps, not counting steps of any number.
pub(super) fn steps_of(stretches: &[(usize, Count)]) -> u64 {
    stretches.iter().fold(0, |sum, (_, count)| match count {
        Count::Times(times) => sum.saturating_add(*times),
        Count::Any => sum,
    })
}

/// The first steps, this many.
fn first_steps(stretches: &[(usize, Count)], mut left: u64) -> Vec<(usize, Count)> {
    let mut first = Vec::new();
    for &(kind, count) in stretches {
        let taken = match count {
            Count::Times(times) => times.min(left),
            Count::Any => left,
        };
        if taken == 0 {
            break;
        }
        first.push((kind, Count::Times(taken)));
        left -= taken;
    }
    first
}
