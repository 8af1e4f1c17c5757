//! One step of a noisy iteration, as one record sees it.

use super::{Modulus, Piece};
use crate::numeric::theta;
use crate::{Enclosure, Epsilon, Error, NonNegative, Positive, Probability};

/// W ← Π(ψ(W) + noise), where ψ depends on the record only if the record takes part.
///
/// ```
/// use dobrushin::chain::{Participation, Piece, Step, StepNoise};
/// use dobrushin::{Enclosure, NonNegative};
///
/// // The update halves distances, and the record moves what comes out by at most 1.
/// let step = Step::new(StepNoise::gaussian(1.0)?).with_modulus(vec![Piece::new(0.5, 0.0)?]);
/// let used = step.used_by(Participation::Always, NonNegative::new(1.0)?);
/// // Iterates 4 apart are at most 3 apart afterwards, and 2 if the record takes no part.
/// let distance = Enclosure::from(4.0);
/// assert_eq!(used.crossed_at(distance), Enclosure::from(3.0));
/// assert_eq!(used.modulus.at(distance), Enclosure::from(2.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The noise that is added to the iterate.
    pub noise: StepNoise,
    /// How far apart two iterates can be after the same update.
    pub modulus: Modulus,
    /// d: the largest distance between the updates of two neighbours, if the record takes part.
    pub displacement: Enclosure,
    /// The largest distance between the updates with and without the record, for either neighbour.
    pub absence: Enclosure,
    /// Further bounds on the distance of two iterates after any two (possibly equal) of the updates with one record,
    /// with another, and without either. The bound ω(z) + d for the first two need not be listed.
    pub crossed: Modulus,
    /// A line above ‖ψ(w)‖ as a function of ‖w‖, if one is known.
    pub growth: Option<Piece>,
    /// Whether one of any two neighbours makes the update without the record even when the record takes part, so that
    /// only the other's depends on who takes part.
    pub vanishes: bool,
    /// If the record stands for a group: its members, where that says more than the participation of any of them.
    pub members: Option<Members>,
    /// Whether the record takes part.
    pub participation: Participation,
    /// The diameter of the set to which this step projects, if that is smaller than the domain.
    pub diameter: Option<Positive>,
}

/// A group of records in the place of one, each of which takes part by itself.
///
/// ```
/// use dobrushin::chain::{Members, Participation, Step, StepNoise};
/// use dobrushin::{NonNegative, Probability};
///
/// // Two records, each drawn with probability 1/2: some of them is drawn with probability 3/4, and both move by 1 each.
/// let any = Participation::Sometimes(Probability::new(0.75)?);
/// let step = Step::new(StepNoise::gaussian(1.0)?).used_by(any, NonNegative::new(2.0)?);
/// let step = Step { members: Some(Members { number: 2, rate: Probability::new(0.5)? }), ..step };
/// assert_eq!(step.members.map(|members| members.number), Some(2));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Members {
    /// How many there are. Each moves the update by at most an equal share of the step's displacement.
    pub number: u64,
    /// The probability with which each takes part, independently of the others and in secret.
    pub rate: Probability,
}

/// The noise of a step.
///
/// ```
/// use dobrushin::chain::StepNoise;
/// use dobrushin::{Enclosure, Epsilon};
///
/// // Laplace noise of scale 2 hides a distance of 1 from ε = 1/2 on.
/// let noise = StepNoise::laplace(2.0)?;
/// let at = |epsilon| Ok::<_, dobrushin::Error>(noise.ln_overlap(Enclosure::ONE, Epsilon::new(epsilon)?).exp());
/// assert_eq!(at(0.5)?.upper(), 0.0);
/// assert!(at(0.4)?.lower() > 0.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepNoise {
    /// Gaussian in every coordinate, with this standard deviation.
    Gaussian(Enclosure),
    /// Laplace in one dimension, with this scale.
    Laplace(Enclosure),
}

/// Whether a record takes part in a step.
///
/// ```
/// use dobrushin::chain::Participation;
/// use dobrushin::{Enclosure, Probability};
///
/// assert_eq!(Participation::Always.probability(), Enclosure::ONE);
/// assert_eq!(Participation::Sometimes(Probability::new(0.25)?).probability(), Enclosure::from(0.25));
/// assert!(Participation::Never.is_never());
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Participation {
    /// No.
    Never,
    /// Yes.
    Always,
    /// With this probability, independently of all else, and in secret.
    Sometimes(Probability),
}

impl Participation {
    /// Its probability.
    pub fn probability(self) -> Enclosure {
        match self {
            Self::Never => Enclosure::ZERO,
            Self::Always => Enclosure::ONE,
            Self::Sometimes(probability) => probability.into(),
        }
    }

    /// Whether participation is excluded.
    pub fn is_never(self) -> bool {
        self.probability() == Enclosure::ZERO
    }
}

impl StepNoise {
    /// Its standard deviation, or scale.
    pub fn size(self) -> Enclosure {
        match self {
            Self::Gaussian(size) | Self::Laplace(size) => size,
        }
    }

    /// Gaussian noise.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless positive and finite.
    pub fn gaussian(size: f64) -> Result<Self, Error> {
        Ok(Self::Gaussian(Positive::named("noise", size)?.into()))
    }

    /// Laplace noise.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless positive and finite.
    pub fn laplace(size: f64) -> Result<Self, Error> {
        Ok(Self::Laplace(Positive::named("noise", size)?.into()))
    }

    /// ln E_{e^ε} of the noise around two points at most this far apart; by the two-point formula this is also ln
    /// η_{e^ε} of adding the noise to points of a set with that diameter (CED Theorem 2, Proposition 1; PAC Theorem 2).
    pub fn ln_overlap(self, distance: Enclosure, epsilon: Epsilon) -> Enclosure {
        if self.size() == Enclosure::ZERO {
            // Without noise, different points are told apart with certainty.
            return Enclosure::from(if distance == Enclosure::ZERO { f64::NEG_INFINITY } else { 0.0 });
        }
        match self {
            Self::Gaussian(size) => theta::ln_theta_range(epsilon.into(), distance / size),
            Self::Laplace(size) => {
                // ln(1 − e^((ε − t)/2)) for ε < t, and −∞ otherwise.
                let gap = (distance / size - Enclosure::from(epsilon)) / Enclosure::from(2.0);
                gap.positive_part().map_monotone(|gap| (-(-Enclosure::from(gap)).exp_m1()).ln())
            }
        }
    }
}

impl Step {
    /// A step in which the record takes no part, and of which only the noise is known.
    pub fn new(noise: StepNoise) -> Self {
        Self {
            noise,
            modulus: Modulus::default(),
            displacement: Enclosure::ZERO,
            absence: Enclosure::ZERO,
            crossed: Modulus::default(),
            growth: None,
            vanishes: false,
            members: None,
            participation: Participation::Never,
            diameter: None,
        }
    }

    /// The step that projects to a set of this diameter, in a domain that may be larger.
    #[must_use]
    pub fn projected_to(self, diameter: Positive) -> Self {
        Self { diameter: Some(diameter), ..self }
    }

    /// The diameter of the set that contains the iterates after the step, on a domain of this width.
    pub fn width_after(&self, width: Enclosure) -> Enclosure {
        self.diameter.map_or(width, |diameter| width.min(diameter.into()))
    }

    /// The step with this modulus.
    #[must_use]
    pub fn with_modulus(mut self, pieces: Vec<Piece>) -> Self {
        self.modulus = Modulus::new(pieces);
        self
    }

    /// The step in which the record takes part: updates with one record, with another, and without either are at most
    /// `displacement` apart.
    #[must_use]
    pub fn used_by(mut self, participation: Participation, displacement: NonNegative) -> Self {
        self.participation = participation;
        self.displacement = displacement.into();
        self.absence = displacement.into();
        self
    }

    /// The same step without the record.
    #[must_use]
    pub fn without_the_record(&self) -> Self {
        Self { participation: Participation::Never, ..self.clone() }
    }

    /// The Lipschitz constant of its updates; ∞ if none is known.
    pub fn lipschitz(&self) -> Enclosure {
        let linear = self.modulus.pieces().iter().filter(|piece| piece.offset() == Enclosure::ZERO);
        linear.map(|piece| piece.slope()).fold(Enclosure::INFINITE, Enclosure::min)
    }

    /// The lines above ω′, the distance after updates with different records.
    pub fn crossed_pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        let moved = self.modulus.pieces().iter().map(|piece| piece.raised(self.displacement));
        moved.chain(self.crossed.pieces().iter().copied())
    }

    /// The lines above the distance of two iterates after the step: those of ω′, or of ω if the record takes no part.
    pub fn lines(&self) -> impl Iterator<Item = Piece> + '_ {
        let never = self.participation.is_never();
        let same = self.modulus.pieces().iter().copied().filter(move |_| never);
        same.chain(self.crossed_pieces().filter(move |_| !never))
    }

    /// The distance after any two of the updates with one record, with another, and without either.
    pub fn any_at(&self, distance: Enclosure) -> Enclosure {
        let moved = self.modulus.at(distance) + self.displacement.max(self.absence);
        moved.min(self.crossed.at(distance))
    }

    /// ω′ at a distance.
    pub fn crossed_at(&self, distance: Enclosure) -> Enclosure {
        self.crossed_pieces().fold(Enclosure::INFINITE, |least, piece| least.min(piece.at(distance)))
    }
}
