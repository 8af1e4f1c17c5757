//! What mechanisms for vectors have in common.

use super::Clipped;
use super::direction::norm;
use crate::profile::LocalProfile;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::{Enclosure, Error, Positive};
use std::num::NonZeroU32;

/// A private report on one vector in a ball around 0: a seed, which is drawn independently of the vector and represents
/// some directions, and a choice among these. Decoded, it is a vector of a fixed norm B whose expectation is the
/// reported vector.
///
/// ```
/// use dobrushin::{Epsilon, Positive};
/// use dobrushin_local::mean::{VECTOR_IDS, VectorMechanism, vector_by_id};
///
/// let (ten, radius, epsilon) = (10.try_into()?, Positive::new(1.0)?, Epsilon::new(4.0)?);
/// let length = |id| vector_by_id(id, ten, radius, epsilon).map(|mechanism| mechanism.length().upper());
/// // B² is the largest mean squared distance of a decoded report from the vector: a cap is better than a half.
/// assert!(length("priv-unit")? < 0.6 * length("half-sphere")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait VectorMechanism: Send + Sync {
    /// Its name.
    fn id(&self) -> &'static str;

    /// d.
    fn dimension(&self) -> NonZeroU32;

    /// r.
    fn radius(&self) -> Positive;

    /// The exact profile of the realised mechanism.
    fn privacy(&self) -> LocalProfile;

    /// A seed and a choice; a vector longer than r counts as r times its direction. The caller should clip, and count,
    /// with [`clip_to_ball`].
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for another dimension, and [`Error::OutOfRange`] for a coordinate that is not finite
    /// or above 1e150 in magnitude.
    fn report(&self, vector: &[f64], bits: &mut dyn RandomBits) -> Result<[u64; 2], Error>;

    /// Whether two words can be a report.
    fn is_report(&self, report: [u64; 2]) -> bool;

    /// The vector that a report represents, of norm B.
    fn vector(&self, report: [u64; 2]) -> Vec<f64>;

    /// B. Its square is the largest sum of the variances of the coordinates: on the zero vector, or on any law with
    /// mean 0.
    fn length(&self) -> Enclosure;

    /// The largest mean square of one coordinate of a decoded report, on any vector.
    fn coordinate_moment(&self) -> Enclosure;

    /// A bound on the distance of the expectation of a decoded report from the vector: reports are decoded with the
    /// midpoint of the enclosure of B.
    fn bias(&self) -> Enclosure {
        let length = self.length();
        Enclosure::from(self.radius()) * Enclosure::from(length.width()) / Enclosure::from(length.lower())
    }
}

/// Moves a vector of any finite numbers into the ball of this radius, along its direction, and says whether it had to.
///
/// # Errors
/// [`Error::OutOfRange`] for NaN and ±∞.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin_local::mean::clip_to_ball;
///
/// let radius = Positive::new(1.0)?;
/// let clipped = clip_to_ball(vec![3e200, -4e200], radius)?;
/// assert!(clipped.clipped && (clipped.value[0] - 0.6).abs() < 1e-15 && (clipped.value[1] + 0.8).abs() < 1e-15);
/// assert!(!clip_to_ball(vec![0.6, 0.8], radius)?.clipped);
/// assert!(clip_to_ball(vec![f64::NAN, 0.0], radius).is_err());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn clip_to_ball(mut vector: Vec<f64>, radius: Positive) -> Result<Clipped<Vec<f64>>, Error> {
    if let Some(&value) = vector.iter().find(|x| !x.is_finite()) {
        let name = "a coordinate of the vector";
        return Err(Error::OutOfRange { name, value, accepted: "a finite number" });
    }
    let largest = vector.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if largest == 0.0 {
        return Ok(Clipped { value: vector, clipped: false });
    }
    // Squares of quotients up to 1 do not overflow.
    let unit = |vector: &[f64]| norm(&vector.iter().map(|x| x / largest).collect::<Vec<_>>());
    let length = unit(&vector);
    // An exact comparison is not needed: this only says what is counted as clipped.
    let clipped = largest * length > radius.get() * (1.0 + 4.0 * f64::EPSILON);
    if clipped {
        vector.iter_mut().for_each(|x| *x = *x / largest / length * radius.get());
    }
    Ok(Clipped { value: vector, clipped })
}
