//! The numbers of a chain of equal steps with hidden participation, in units of its noise.
//!
//! Every number is rounded to the less private side: bounds on a chain increase with its distances and slopes, and
//! decrease with its noise.

use super::super::unrelated;
use crate::chain::{Chain, Count, Participation, Piece, Step, StepNoise, Stretch};
use crate::loss::{DominatingPair, FiniteLoss, GaussianLoss, WithoutReplacementLoss};
use crate::mechanism::{Distances, SubsampledGaussian};
use crate::numeric::rounding::{add_up, div_up, sqrt_down};
use crate::profile::{Direction, PrivacyProfile};
use crate::run::{Fact, in_the_way};
use crate::{Enclosure, Epsilon, Error, NonNegative, NotApplicable, Positive, Probability};
use std::sync::Arc;

/// ‖ψ(x) − ψ(y)‖ ≤ slope·‖x − y‖ + offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub slope: f64,
    pub offset: f64,
}

/// Equal steps W ← Π(ψ(W) + N(0, 1)) in which the record takes part with probability p.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    /// p.
    pub rate: Probability,
    /// The distance between the updates of two neighbours.
    pub displacement: f64,
    /// The distance between the updates with and without the record.
    pub absence: f64,
    /// The number of steps.
    pub steps: Count,
    /// The diameter of the domain; ∞ if it is unbounded.
    pub diameter: f64,
    /// Lines for the distance of iterates after the same update, along which a difference can be shifted.
    pub same: Vec<Line>,
    /// Lines for the distance after updates with different records, or the same.
    pub crossed: Vec<Line>,
}

/// A larger displacement, in noise standard deviations, hides nothing, and no grid can represent its losses.
const LARGEST_RATIO: f64 = 50.0;

impl Setting {
    /// The setting of a chain.
    ///
    /// Before the first use both neighbours have the same law, and steps after the last use are post-processing.
    ///
    /// # Errors
    /// [`NotApplicable`] unless the uses are equal steps with Gaussian noise and hidden participation.
    pub fn of(chain: &Chain) -> Result<Self, NotApplicable> {
        let mut stretches = chain.since_the_record();
        let (Some(Stretch { step, count }), true) =
            (stretches.next(), stretches.all(|stretch| stretch.step.participation.is_never()))
        else {
            return Err(NotApplicable::because_of(
                &[Fact::LearningRate, Fact::GradientNoise],
                "steps that use the record differ in their learning rate, noise or participation: it is for equal \
                 steps only",
            ));
        };
        let Participation::Sometimes(rate) = step.participation else {
            return Err(in_the_way!(
                "the record takes part in a known step: {} must be \"poisson\" or \"without-replacement\"",
                Order
            ));
        };
        let StepNoise::Gaussian(noise) = step.noise else {
            return Err(in_the_way!("the noise must be Gaussian: {}", NoiseKind));
        };
        let ratio = |distance: Enclosure| (distance / Enclosure::from(noise.lower())).upper();
        let line = |piece: &Piece| Line { slope: piece.slope().upper(), offset: ratio(piece.offset()) };
        let setting = Self {
            rate,
            displacement: ratio(step.displacement),
            absence: ratio(step.absence),
            steps: count,
            diameter: ratio(chain.domain().width()),
            same: step.modulus.pieces().iter().map(line).filter(can_be_shifted).collect(),
            crossed: crossed_lines(step).iter().map(line).collect(),
        };
        if setting.same.is_empty() {
            return Err(unrelated());
        }
        if setting.displacement.is_nan() || setting.displacement > LARGEST_RATIO {
            return Err(NotApplicable::because_of(
                &[Fact::NoiseMultiplier, Fact::GradientNoise, Fact::IterateNoise],
                format!(
                    "one record moves the iterate by dozens of noise standard deviations: {} is too small",
                    Fact::NoiseKind
                ),
            ));
        }
        if count == Count::Any && setting.furthest(Count::Any) == f64::INFINITY {
            return Err(NotApplicable::missing(
                &[Fact::Diameter, Fact::WeightDecay, Fact::StrongConvexity, Fact::Steps],
                format!(
                    "iterates of neighbours move apart without limit: give {:#}, weight decay or strong convexity, or {}",
                    Fact::Diameter,
                    Fact::Steps
                ),
            ));
        }
        Ok(setting)
    }

    /// The same steps, this many of them.
    pub fn with_steps(&self, steps: Count) -> Self {
        Self { steps, ..self.clone() }
    }

    /// The number of steps before the last k; 0 if there are fewer than k.
    pub fn before(&self, k: u64) -> Count {
        match self.steps {
            Count::Times(times) => Count::Times(times.saturating_sub(k)),
            Count::Any => Count::Any,
        }
    }

    /// The largest distance between the iterates of neighbours with the same noise and batches after this many steps,
    /// or fewer.
    pub fn furthest(&self, steps: Count) -> f64 {
        let Some(later) = one_less(steps) else {
            return 0.0;
        };
        let after = |line: &Line| {
            let (slope, offset) = (Enclosure::from(line.slope), Enclosure::from(line.offset));
            // After the first step they are within the displacement, and within the line at 0.
            let first = offset.min(Enclosure::from(self.displacement));
            let kept = if first == Enclosure::ZERO { first } else { later.power(slope) * first };
            let added = if line.offset == 0.0 { offset } else { offset * later.geometric_sum(slope) };
            (kept + added).upper()
        };
        self.crossed.iter().map(after).fold(self.diameter, f64::min)
    }

    /// The shift into the noise of k steps if iterates start at most `distance` apart, as a single distance of normal
    /// laws.
    ///
    /// (c^k·z + o·Σ_{j<k}c^j)/√(Σ_{j<k}c^(2j)): the remaining distance is 0 after k steps and never negative before,
    /// since the points of the allocation lie on a concave curve (c ≤ 1) or a level one (o = 0).
    pub fn shift(line: Line, k: u64, distance: f64) -> f64 {
        let (slope, steps) = (Enclosure::from(line.slope), Count::Times(k));
        let distance = Enclosure::from(distance);
        let shift = if line.slope > 1.0 {
            // Divided by c^k: z/√(Σ_{i=1..k} c^(−2i)).
            let shrinking = Enclosure::ONE / slope.square();
            distance / (shrinking * steps.geometric_sum(shrinking)).sqrt()
        } else {
            let left = steps.power(slope) * distance;
            let added = Enclosure::from(line.offset) * steps.geometric_sum(slope);
            (left + added) / steps.geometric_sum(slope.square()).sqrt()
        };
        if shift.upper().is_nan() { f64::INFINITY } else { shift.upper().max(0.0) }
    }

    /// The profile of one step whose noise has the variance `share`.
    pub fn one_step(&self, share: f64) -> Result<OneStep, Error> {
        let deviation = sqrt_down(share);
        let ratio = |distance: f64| NonNegative::new(div_up(distance, deviation));
        let distances = Distances { without: ratio(self.absence)?, other: ratio(self.displacement)? };
        let sampled = SubsampledGaussian::new(self.rate, distances, distances)?;
        Ok(OneStep { rate: self.rate, distances, sampled })
    }
}

/// A profile of the subsampled pair: two laws (1−p)μ₀ + pμ₁ and (1−p)μ₀ + pμ₁′.
///
/// # Guarantee
/// By advanced joint convexity ([`SubsampledGaussian`]), and by joint convexity E_γ ≤ p·E_γ(μ₁‖μ₁′), which is smaller
/// only where μ₀ is farther away from the other two than they are from each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneStep {
    rate: Probability,
    distances: Distances,
    sampled: SubsampledGaussian,
}

impl OneStep {
    /// A pair of laws that dominates the step.
    pub fn pair(&self) -> Result<DominatingPair, Error> {
        if self.distances.without == self.distances.other {
            let law = GaussianLoss::new(Positive::new(self.distances.other.get())?);
            return Ok(DominatingPair::symmetric(Arc::new(WithoutReplacementLoss::new(law, self.rate)?)));
        }
        Ok(DominatingPair::symmetric(Arc::new(FiniteLoss::dominating(self))))
    }

    /// The largest distance between the laws.
    pub fn ratio(&self) -> f64 {
        self.distances.other.get()
    }
}

impl PrivacyProfile for OneStep {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let sampled = self.sampled.delta_of(direction, epsilon);
        if self.distances.without <= self.distances.other {
            return sampled;
        }
        let shown = crate::numeric::theta::theta(epsilon, self.distances.other);
        sampled.min(Enclosure::from(self.rate) * shown)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// Whether a difference can be shifted along a line in closed form, see [`Setting::shift`].
fn can_be_shifted(line: &Line) -> bool {
    line.slope.is_finite() && line.offset.is_finite() && (line.slope <= 1.0 || line.offset == 0.0)
}

/// The lines above the distance after updates with different records that also bound the distance after the same
/// update.
fn crossed_lines(step: &Step) -> Vec<Piece> {
    let below = |piece: &Piece, other: &Piece| {
        piece.slope().upper() <= other.slope().upper() && piece.offset().upper() <= other.offset().upper()
    };
    let same = step.modulus.pieces();
    let is_above = |line: &Piece| same.iter().any(|piece| below(piece, line));
    step.crossed_pieces().filter(is_above).collect()
}

/// One step less; `None` if there is none.
fn one_less(steps: Count) -> Option<Count> {
    match steps {
        Count::Times(times) => times.checked_sub(1).map(Count::Times),
        Count::Any => Some(Count::Any),
    }
}

/// The sum of c·z and the added distance, rounded up.
pub(super) fn moved(slope: f64, distance: f64, added: f64) -> f64 {
    add_up(crate::numeric::rounding::mul_up(slope, distance), added)
}
