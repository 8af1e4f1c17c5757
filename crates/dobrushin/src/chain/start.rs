//! Runs that do not start together.

use super::{Chain, ChainError, Count, Participation, Piece, Step, StepNoise};
use crate::{Delta, Enclosure, Epsilon, NonNegative};
use std::sync::Arc;

/// How far apart the starts of the two runs are: at most a distance, or as two laws, or both.
///
/// ```
/// use dobrushin::analysis::{HiddenStates, Shift};
/// use dobrushin::chain::{Chain, Count, Domain, Mixture, Piece, Start, Step, StepNoise};
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Epsilon, NonNegative, PrivacyProfile};
///
/// // Starts 2 apart, and four steps that bring nothing apart: as if there were √4 times as much noise.
/// let step = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(1.0, 0.0)?]);
/// let chain = Chain::new(vec![(step, Count::Times(4))], Domain::default())?;
/// let start = Start { distance: Some(NonNegative::new(2.0)?), ..Start::default() };
/// let profile = Shift.apply(&Mixture::last(chain.starting(start)?))?.into_profile();
/// let (epsilon, known) = (Epsilon::new(1.0)?, theta(Epsilon::new(1.0)?, NonNegative::new(1.0)?));
/// assert!((profile.delta(epsilon).upper() / known.upper() - 1.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// Some coupling of the two starts never has them farther apart (W∞).
    pub distance: Option<NonNegative>,
    /// Pairs (ε, δ) with E_{e^ε} ≤ δ for the laws of the two starts, in both directions.
    pub divergence: Vec<(Epsilon, Delta)>,
}

impl Start {
    /// Whether nothing is known about the starts.
    fn is_unknown(&self) -> bool {
        self.distance.is_none() && self.divergence.is_empty()
    }

    /// ln of a bound on E_{e^ε}: it falls in ε.
    pub fn ln_divergence(&self, epsilon: Epsilon) -> Enclosure {
        let known = self.divergence.iter().filter(|(at, _)| at.get() <= epsilon.get());
        let least = known.map(|(_, delta)| delta.get()).fold(1.0, f64::min);
        Enclosure::from(least).ln()
    }
}

impl Chain {
    /// The chain whose two runs start apart, in its domain. If nothing is said about the start, both have the same.
    ///
    /// The start becomes the first step: one that uses the record, moves iterates apart by the distance (by any, if it is
    /// not known), and adds no noise. Whoever does not know about starts reads it as a use that nothing hides.
    ///
    /// # Errors
    /// [`ChainError`] if the chain starts apart already, or becomes too long.
    pub fn starting(self, start: Start) -> Result<Self, ChainError> {
        if self.start.is_some() {
            return Err(ChainError::StartsTwice);
        }
        let together = start.distance.is_some_and(|distance| distance.get() == 0.0);
        if start.is_unknown() || together {
            return Ok(self);
        }
        let noise = match self.different_steps().next().map(|step| step.noise) {
            Some(StepNoise::Laplace(_)) => StepNoise::Laplace(Enclosure::ZERO),
            _ => StepNoise::Gaussian(Enclosure::ZERO),
        };
        let apart = start.distance.map_or(Enclosure::INFINITE, Enclosure::from);
        let same = Piece::enclosed(Enclosure::ONE, Enclosure::ZERO);
        let first = Step {
            displacement: apart,
            absence: apart,
            participation: Participation::Always,
            ..Step::new(noise).with_modulus(vec![same])
        };
        let kind = self.kinds.len();
        let kinds: Vec<Step> = self.kinds.iter().cloned().chain([first]).collect();
        let stretches = [vec![(kind, Count::Times(1))], self.stretches].concat();
        let laps = self.laps.map(|laps| super::Laps { before: laps.before + 1, ..laps });
        Self { kinds: kinds.into(), stretches, laps, start: Some(Arc::new(start)), ..self }.within_limits()
    }

    /// How far apart the two runs start; `None` if they start together. Otherwise the first step is the start.
    pub fn start(&self) -> Option<&Start> {
        self.start.as_deref()
    }
}
