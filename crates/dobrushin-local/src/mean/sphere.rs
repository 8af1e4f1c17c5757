//! Vectors in a ball, reported by their side of a random hyperplane.

use super::profile::{Outcome, Outcomes};
use super::{Target, level};
use crate::profile::LocalProfile;
use dobrushin::numeric::bits::{Coin, RandomBits};
use dobrushin::numeric::elementary;
use dobrushin::numeric::gamma::ln_gamma;
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
        if !(1e-100..=1e100).contains(&radius.get()) {
            let (name, value) = ("the radius", radius.get());
            return Err(Error::OutOfRange { name, value, accepted: "between 1e-100 and 1e100" });
        }
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
        let dimension = self.dimension.get() as usize;
        if vector.len() != dimension {
            return Err(Error::LengthMismatch {
                what: "the vector".to_owned(),
                found: vector.len(),
                expected: dimension,
                like: "the mechanism's dimension".to_owned(),
            });
        }
        if let Some(&value) = vector.iter().find(|x| x.is_nan() || x.abs() > LARGEST) {
            let name = "a coordinate of the vector";
            return Err(Error::OutOfRange { name, value, accepted: "finite and at most 1e150 in magnitude" });
        }
        let share = (norm(vector) / self.radius.get()).min(1.0);
        let same = Coin::at_most(0.5 + 0.5 * share).toss(bits);
        let seed = bits.bits();
        let side = dot(&direction(seed, dimension), vector) >= 0.0;
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

/// Squares of larger coordinates overflow.
const LARGEST: f64 = 1e150;

/// E|⟨z, e⟩| for z uniform on the sphere: Γ(d/2)/(√π·Γ((d + 1)/2)).
fn mean_cosine(dimension: NonZeroU32) -> Result<Enclosure, Error> {
    let half = f64::from(dimension.get()) / 2.0;
    let [first, second, pi] = [half, half + 0.5, 0.5].map(|x| Positive::new(x).map(ln_gamma));
    // Γ(1/2) = √π.
    Ok((first? - second? - pi?).exp().min(Enclosure::ONE))
}

/// The direction of a seed: normal coordinates by the polar method, divided by their norm. Only correctly rounded
/// functions are used, so that sender and receiver compute the same result.
fn direction(seed: u64, dimension: usize) -> Vec<f64> {
    // Seeds that differ by a multiple of the increment must not share numbers.
    let mut state = mix(seed);
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        // Odd multiples of 2⁻⁵³ between −1 and 1.
        let word = mix(state) >> 11;
        (2 * word as i64 + 1 - (1 << 53)) as f64 / (1u64 << 53) as f64
    };
    let mut vector = Vec::with_capacity(dimension + 1);
    while vector.len() < dimension {
        let (x, y) = (uniform(), uniform());
        let square = x * x + y * y;
        if square < 1.0 {
            let factor = (-2.0 * elementary::ln(square) / square).sqrt();
            vector.extend([x * factor, y * factor]);
        }
    }
    vector.truncate(dimension);
    let length = norm(&vector);
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

/// The mixing function of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
