//! Vectors in a ball, reported by their side of a random hyperplane.

use super::direction::{check, check_radius, direction, dot, keeps_direction, mean_cosine};
use super::profile::{Outcome, Outcomes};
use super::vector::VectorMechanism;
use super::{Target, level};
use crate::profile::LocalProfile;
use dobrushin::numeric::bits::{Coin, RandomBits};
use dobrushin::{Enclosure, Epsilon, Error, Positive};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A seed and one bit about a vector of norm up to r: the law is that of the ℓ₂ mechanism of Duchi, Jordan and
/// Wainwright (2018).
///
/// The vector v is rounded at random to ±r·v/‖v‖, without bias. A seed, drawn independently of the vector, represents a
/// direction z, uniform on the sphere. The report consists of the seed and the vector's side of the hyperplane ⟨z, ·⟩ =
/// 0, which is truthful with probability p. Its decoded form is ±B·z with
///
/// ```text
/// B = r/(c·(2p − 1)),   c = E|⟨z, e⟩| = Γ(d/2)/(√π·Γ((d + 1)/2)),
/// ```
///
/// since E[z·sign⟨z, e⟩] = c·e for a unit vector e. The sum of the variances of its coordinates is B² − ‖v‖².
///
/// # Guarantee
/// For every vector, every seed has the same probability, and given the seed the bit has probability p or 1 − p: the
/// profile is (p − e^ε(1 − p))₊, and exactly 0 at the requested ε, however the direction and the side are computed. It
/// is attained by v and −v. Only the unbiasedness of the estimate relies on the generator of directions, which is
/// SplitMix64 and the polar method in `f64` with correctly rounded functions.
#[derive(Clone, Copy, Debug)]
pub struct HalfSphere {
    dimension: NonZeroU32,
    radius: Positive,
    truth: Coin,
    /// B.
    length: Enclosure,
}

/// The report of one person.
///
/// ```
/// use dobrushin::{Epsilon, Positive};
/// use dobrushin_local::mean::{HalfSphere, SphereReport};
///
/// let mechanism = HalfSphere::new(3.try_into()?, Positive::new(1.0)?, Epsilon::new(1.0)?)?;
/// // The other side of the hyperplane is the opposite vector.
/// let there = mechanism.decode(SphereReport { seed: 42, positive: true });
/// let back = mechanism.decode(SphereReport { seed: 42, positive: false });
/// assert!(there.iter().zip(&back).all(|(a, b)| *a == -b));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SphereReport {
    /// The seed of a direction.
    pub seed: u64,
    /// The side of the hyperplane.
    pub positive: bool,
}

impl HalfSphere {
    /// A mechanism for vectors of the given dimension and norm at most r, calibrated to ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000, r between 1e-100 and 1e100.
    pub fn new(dimension: NonZeroU32, radius: Positive, epsilon: Epsilon) -> Result<Self, Error> {
        check_radius(radius)?;
        let truth = level::likeliest_coin(level::check(epsilon)?, Enclosure::ONE);
        let slope = truth.probability() - truth.complement();
        let length = Enclosure::from(radius) / (mean_cosine(dimension)? * slope);
        Ok(Self { dimension, radius, truth, length })
    }

    /// d.
    pub fn dimension(&self) -> NonZeroU32 {
        self.dimension
    }

    /// The exact profile of the realised mechanism.
    pub fn privacy(&self) -> LocalProfile {
        let (p, q) = (self.truth.probability(), self.truth.complement());
        LocalProfile::new(Arc::new(Outcomes(vec![Outcome { weight: Enclosure::ONE, p, q }])))
    }

    /// A report on a vector; a vector longer than r counts as r times its direction.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for another dimension, and [`Error::OutOfRange`] for a coordinate that is not finite
    /// or so large that the norm overflows.
    pub fn privatise(&self, vector: &[f64], bits: &mut dyn RandomBits) -> Result<SphereReport, Error> {
        check(vector, self.dimension)?;
        let same = keeps_direction(vector, self.radius, bits);
        let seed = bits.bits();
        let side = dot(&direction(seed, vector.len()), vector) >= 0.0;
        Ok(SphereReport { seed, positive: (side == same) == self.truth.toss(bits) })
    }

    /// The vector ±B·z that a report represents: its expectation is the reported vector.
    pub fn decode(&self, report: SphereReport) -> Vec<f64> {
        let length = self.length.midpoint();
        let signed = if report.positive { length } else { -length };
        let mut vector = direction(report.seed, self.dimension.get() as usize);
        vector.iter_mut().for_each(|x| *x *= signed);
        vector
    }

    /// B, the norm of every decoded report.
    pub fn length(&self) -> Enclosure {
        self.length
    }

    /// The sum of the variances of the coordinates of a report on a vector of this norm: B² − ‖v‖².
    pub fn variance(&self, norm: f64) -> Enclosure {
        self.length.square() - Enclosure::from(norm.clamp(0.0, self.radius.get())).square()
    }

    /// The largest such sum: that of the zero vector, or of any law with mean 0.
    pub fn worst_variance(&self, _: Target) -> Enclosure {
        self.length.square()
    }
}

impl From<SphereReport> for [u64; 2] {
    fn from(report: SphereReport) -> Self {
        [report.seed, u64::from(!report.positive)]
    }
}

impl VectorMechanism for HalfSphere {
    fn id(&self) -> &'static str {
        "half-sphere"
    }

    fn dimension(&self) -> NonZeroU32 {
        self.dimension
    }

    fn radius(&self) -> Positive {
        self.radius
    }

    fn privacy(&self) -> LocalProfile {
        self.privacy()
    }

    fn report(&self, vector: &[f64], bits: &mut dyn RandomBits) -> Result<[u64; 2], Error> {
        self.privatise(vector, bits).map(Into::into)
    }

    fn is_report(&self, [_, side]: [u64; 2]) -> bool {
        side < 2
    }

    fn vector(&self, [seed, side]: [u64; 2]) -> Vec<f64> {
        self.decode(SphereReport { seed, positive: side == 0 })
    }

    fn length(&self) -> Enclosure {
        self.length
    }

    /// z is uniform, whichever side is told.
    fn coordinate_moment(&self) -> Enclosure {
        self.length.square() / Enclosure::from(f64::from(self.dimension.get()))
    }
}
