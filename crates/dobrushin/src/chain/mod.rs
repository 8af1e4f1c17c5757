//! Chains: one record's view of a noisy iteration W ← Π(ψ(W) + noise), which is all that an analysis of hidden states
//! needs to know.
//!
//! A [`Chain`] is a list of [`Step`]s, run-length encoded, on a [`Domain`]. A [`Mixture`] is its release: the last
//! iterate, the iterate at a random time, or a hidden random choice among chains. Every number is a supremum over all
//! data sets, never the value for the given data (E14 of docs/errata.md).

mod count;
mod laps;
mod mixture;
mod modulus;
mod start;
mod step;

pub use count::Count;
pub use laps::Section;
pub use mixture::{Branch, Mixture, Stop};
pub use modulus::{Modulus, Piece};
pub use start::Start;
pub use step::{Members, Participation, Step, StepNoise};

use crate::{Enclosure, Positive};
use laps::{Laps, steps_of};
use std::sync::Arc;

/// The closed convex set to which every iterate is projected.
///
/// ```
/// use dobrushin::chain::Domain;
/// use dobrushin::{Enclosure, Positive};
///
/// let bounded = Domain { diameter: Some(Positive::new(2.0)?), dimension: None };
/// assert_eq!(bounded.width(), Enclosure::from(2.0));
/// assert_eq!(Domain::default().width(), Enclosure::INFINITE);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Domain {
    /// Its diameter; `None` if it may be unbounded.
    pub diameter: Option<Positive>,
    /// Its dimension, if known.
    pub dimension: Option<u64>,
}

impl Domain {
    /// The diameter, ∞ if there is none.
    pub fn width(self) -> Enclosure {
        self.diameter.map_or(Enclosure::INFINITE, Enclosure::from)
    }
}

/// Consecutive equal steps.
///
/// ```
/// use dobrushin::chain::{Chain, Count, Domain, Participation, Step, StepNoise};
/// use dobrushin::NonNegative;
///
/// let used = Step::new(StepNoise::gaussian(1.0)?).used_by(Participation::Always, NonNegative::new(1.0)?);
/// let steps = vec![(used.clone(), Count::Times(1)), (used.without_the_record(), Count::Times(99))];
/// let chain = Chain::new(steps, Domain::default())?;
/// let counts: Vec<Count> = chain.stretches().map(|stretch| stretch.count).collect();
/// assert_eq!(counts, [Count::Times(1), Count::Times(99)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch<'a> {
    /// The step.
    pub step: &'a Step,
    /// The number of repetitions.
    pub count: Count,
}

/// The steps of a noisy iteration as one record sees them. Both neighbours have the same start, unless it is said how
/// [far apart](Chain::starting) they start.
///
/// ```
/// use dobrushin::analysis::{HiddenStates, Shift};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Epsilon, NonNegative, PrivacyProfile};
///
/// // The record moves an iterate by 2, and three later steps, which bring nothing apart, hide it.
/// let step = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
/// let used = step.clone().used_by(Participation::Always, NonNegative::new(2.0)?);
/// let chain = Chain::new(vec![(used, Count::Times(1)), (step, Count::Times(3))], Domain::default())?;
/// assert_eq!(chain.steps(), Some(4));
/// // It is as if there were √4 times as much noise.
/// let profile = Shift.apply(&Mixture::last(chain))?.into_profile();
/// let epsilon = Epsilon::new(1.0)?;
/// let known = theta(epsilon, NonNegative::new(1.0)?);
/// assert!((profile.delta(epsilon).upper() / known.upper() - 1.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The different steps, shared by the chains of one run.
    kinds: Arc<[Step]>,
    /// An index into `kinds`, and how often that step is repeated.
    stretches: Vec<(usize, Count)>,
    /// Stretches that are repeated together.
    laps: Option<Laps>,
    /// Whether stretches stand for steps that differ a little.
    coarse: bool,
    /// How far apart the two runs start, if the first step is their start.
    start: Option<Arc<Start>>,
    /// The set that contains the iterates.
    domain: Domain,
}

/// Why a list of steps is not a chain.
///
/// ```
/// use dobrushin::chain::{Chain, ChainError, Count, Domain, Step, StepNoise};
///
/// let plane = Domain { diameter: None, dimension: Some(2) };
/// let steps = vec![(Step::new(StepNoise::laplace(1.0)?), Count::Times(10))];
/// assert_eq!(Chain::new(steps, plane), Err(ChainError::LaplaceDimension(2)));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChainError {
    /// Laplace noise is analysed in one dimension only.
    #[error("Laplace noise is for one dimension, but the domain has {0}")]
    LaplaceDimension(u64),
    /// A number that is negative, or not positive and finite.
    #[error("step {step}: the {what} is {value}, but it must be {accepted}")]
    Impossible {
        /// The index of the step among the different ones, counted from 1.
        step: usize,
        /// The name of the quantity.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The values that are accepted.
        accepted: &'static str,
    },
    /// "Any number of steps" is not the last entry.
    #[error("step {0}: any number of steps can be the last entry only")]
    AnyBeforeTheEnd(usize),
    /// The starts of the two runs are given twice.
    #[error("it is already said how far apart the two runs start")]
    StartsTwice,
    /// More steps than can be counted.
    #[error("there are more than {0} steps: \"any\" number of the last ones asks for every number of them")]
    TooMany(u64),
    /// More stretches than are allowed.
    #[error("the steps change {found} times: at most {most} are looked at")]
    TooLong {
        /// The number of stretches.
        found: usize,
        /// The largest number allowed.
        most: usize,
    },
}

/// The most counted steps of a chain.
const MOST_STEPS: u64 = 1 << 62;
/// The most stretches of a chain.
pub const MOST_STRETCHES: usize = 4_000_000;

impl Chain {
    /// The chain of these steps, in order, each with its number of repetitions.
    ///
    /// # Errors
    /// [`ChainError`] if the noise is not positive and finite, a distance is negative or NaN,
    /// Laplace noise is in more than one dimension, or "any" number is not the last.
    pub fn new(steps: Vec<(Step, Count)>, domain: Domain) -> Result<Self, ChainError> {
        let mut kinds = Vec::new();
        let stretches = indexed(&mut kinds, steps);
        Self::of_kinds(kinds.into(), stretches, domain)
    }

    /// A chain of steps that are shared with other chains.
    ///
    /// # Errors
    /// The errors of [`Chain::new`].
    pub(crate) fn of_kinds(
        kinds: Arc<[Step]>,
        stretches: Vec<(usize, Count)>,
        domain: Domain,
    ) -> Result<Self, ChainError> {
        if stretches.len() > MOST_STRETCHES {
            return Err(ChainError::TooLong { found: stretches.len(), most: MOST_STRETCHES });
        }
        for (index, step) in kinds.iter().enumerate() {
            check(index + 1, step, domain)?;
        }
        let mut joined: Vec<(usize, Count)> = Vec::with_capacity(stretches.len());
        let end = stretches.len();
        for (place, (kind, count)) in stretches.into_iter().enumerate() {
            if count == Count::Any && place + 1 < end {
                return Err(ChainError::AnyBeforeTheEnd(place + 1));
            }
            match (joined.last_mut(), count) {
                (_, Count::Times(0)) => (),
                (Some((last, Count::Times(before))), Count::Times(times)) if *last == kind => {
                    *before = before.saturating_add(times);
                }
                _ => joined.push((kind, count)),
            }
        }
        Self { kinds, stretches: joined, laps: None, coarse: false, start: None, domain }.within_limits()
    }

    fn within_limits(self) -> Result<Self, ChainError> {
        if self.numbered() > MOST_STEPS { Err(ChainError::TooMany(MOST_STEPS)) } else { Ok(self) }
    }

    /// The number of counted steps.
    fn numbered(&self) -> u64 {
        let laps = self.laps.as_ref().map_or(0, |laps| steps_of(&laps.lap).saturating_mul(laps.times));
        steps_of(&self.stretches).saturating_add(laps)
    }

    /// The stretches of equal steps, in order, with those of every lap: see [`Chain::sections`].
    pub fn stretches(&self) -> impl Iterator<Item = Stretch<'_>> + Clone {
        let (before, lap, times) =
            self.laps.as_ref().map_or((0, &[][..], 0), |laps| (laps.before, &laps.lap[..], laps.times));
        let (before, after) = self.stretches.split_at(before);
        let laps = usize::try_from(times).unwrap_or(usize::MAX).saturating_mul(lap.len());
        self.those(before).chain(self.those(lap).cycle().take(laps)).chain(self.those(after))
    }

    fn those<'a>(&'a self, stretches: &'a [(usize, Count)]) -> impl Iterator<Item = Stretch<'a>> + Clone {
        stretches.iter().map(|&(kind, count)| Stretch { step: &self.kinds[kind], count })
    }

    /// The stretches, starting with the first in which the record may take part: before it, both neighbours have the
    /// same law.
    pub fn since_the_record(&self) -> impl Iterator<Item = Stretch<'_>> + Clone {
        self.stretches().skip_while(|stretch| stretch.step.participation.is_never())
    }

    /// The set that contains the iterates.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The number of steps; `None` for any number. Starts that are apart count as one.
    pub fn steps(&self) -> Option<u64> {
        let endless = self.stretches.iter().any(|(_, count)| *count == Count::Any);
        (!endless).then(|| self.numbered())
    }

    /// The same chain, of which an analysis need not distinguish the steps of a stretch: if it stops at a random time and
    /// the record is used once, the first stop of a stretch may represent all of them, since the steps in between are
    /// post-processing.
    ///
    /// ```
    /// use dobrushin::analysis::{HiddenStates, Shift};
    /// use dobrushin::chain::{Branch, Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise, Stop};
    /// use dobrushin::{Enclosure, Epsilon, NonNegative, PrivacyProfile};
    ///
    /// let later = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
    /// let used = later.clone().used_by(Participation::Always, NonNegative::new(1.0)?);
    /// let steps = vec![(used, Count::Times(1)), (later, Count::Times(9))];
    /// let chain = Chain::new(steps, Domain::default())?;
    /// let delta = |chain| -> Result<f64, Box<dyn std::error::Error>> {
    ///     let stopped = Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop: Stop::Uniform(10) }]);
    ///     Ok(Shift.apply(&stopped)?.into_profile().delta(Epsilon::new(0.1)?).upper())
    /// };
    /// // It costs privacy, and saves time.
    /// assert!(delta(chain.clone().in_coarse_stretches())? > delta(chain)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_coarse_stretches(self) -> Self {
        Self { coarse: true, ..self }
    }

    /// Whether an analysis need not distinguish the steps of a stretch.
    pub fn has_coarse_stretches(&self) -> bool {
        self.coarse
    }

    /// If the record takes part in exactly one step, that step and the stretches after it.
    pub fn only_use(&self) -> Option<(&Step, Vec<Stretch<'_>>)> {
        if self.has_laps() {
            return None;
        }
        let mut rest = self.since_the_record();
        let first = rest.next()?;
        let once = first.count == Count::Times(1) && first.step.participation == Participation::Always;
        let after: Vec<Stretch<'_>> = rest.collect();
        (once && after.iter().all(|stretch| stretch.step.participation.is_never()))
            .then_some((first.step, after))
    }

    /// Whether the record takes part in no step at all.
    pub fn is_unused(&self) -> bool {
        self.different_steps().all(|step| step.participation.is_never())
    }
}

/// The steps as indices into a list of the different ones, which grows.
fn indexed(kinds: &mut Vec<Step>, steps: Vec<(Step, Count)>) -> Vec<(usize, Count)> {
    let mut stretches = Vec::with_capacity(steps.len());
    for (step, count) in steps {
        // Steps that recur are near the end of the list, or few.
        let known = kinds.iter().rev().take(8).position(|kind| *kind == step);
        let index = known.map_or(kinds.len(), |back| kinds.len() - 1 - back);
        if known.is_none() {
            kinds.push(step);
        }
        stretches.push((index, count));
    }
    stretches
}

fn check(index: usize, step: &Step, domain: Domain) -> Result<(), ChainError> {
    let refuse = |what, value, accepted| Err(ChainError::Impossible { step: index, what, value, accepted });
    let size = step.noise.size();
    if !(size.lower() > 0.0 && size.upper() < f64::INFINITY) {
        return refuse("noise", size.midpoint(), "positive and finite");
    }
    for (what, value) in [("displacement", step.displacement), ("absence", step.absence)] {
        if value.lower() < 0.0 {
            return refuse(what, value.midpoint(), "0 or more");
        }
    }
    if let (Some(set), Some(all)) = (step.diameter, domain.diameter)
        && set.get() > all.get()
    {
        return refuse("diameter", set.get(), "at most that of the domain");
    }
    if step.diameter.is_some() && domain.diameter.is_none() {
        return refuse("diameter", f64::INFINITY, "given for the whole domain, too");
    }
    match (step.noise, domain.dimension) {
        (StepNoise::Laplace(_), Some(dimension)) if dimension > 1 => {
            Err(ChainError::LaplaceDimension(dimension))
        }
        _ => Ok(()),
    }
}
