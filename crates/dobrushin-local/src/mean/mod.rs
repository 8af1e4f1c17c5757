//! Private reports of numbers, from which their mean can be estimated.
//!
//! | mechanism | reports | privacy |
//! |---|---|---|
//! | [`OneBit`] | two numbers | ε (Duchi, Jordan, Wainwright 2018) |
//! | [`Piecewise`] | a bounded number | ε (Wang et al. 2019) |
//! | [`Hybrid`] | one or the other | ε (Wang et al. 2019) |
//! | [`Laplace`] | any multiple of a grid's step | ε |
//! | [`Gaussian`] | any multiple of a grid's step | (ε, δ), δ > 0 |
//! | [`HalfSphere`] | a seed and a sign, for vectors in an ℓ₂ ball | ε (Duchi, Jordan, Wainwright 2018) |
//! | [`PrivUnit`] | a seed and a direction, for vectors in an ℓ₂ ball | ε (Bhowmick et al. 2018, by rank) |
//!
//! # What is protected
//! A number with floating-point noise may reveal the number through the set of values that can occur at all (Mironov
//! 2012). Here nothing that depends on the value is a rounded sample of a continuous law. The value is rounded at
//! random, without bias, to one of 2^k + 1 points of a [`Grid`]. A channel on integers, sampled exactly from random
//! bits, maps it to an integer, and the reported number is a function of this integer alone. The claimed privacy is
//! that of the realised channel on the points of the grid. Random rounding beforehand only mixes its rows, and E_γ is
//! jointly convex.
//!
//! What is *not* protected is the running time. Rejection samplers take a random time, which depends on the noise, and
//! nothing is constant-time. There is also no protection if the bits are not independent and uniform.

mod bounded;
mod bounds;
mod chance;
mod direction;
mod gaussian;
mod grid;
mod hybrid;
mod laplace;
mod level;
mod nearest;
mod noise;
mod on_grid;
mod one_bit;
mod piecewise;
mod priv_unit;
mod profile;
mod sphere;
mod vector;

pub use bounds::{Bounds, Clipped};
pub use gaussian::Gaussian;
pub use grid::Grid;
pub use hybrid::Hybrid;
pub use laplace::Laplace;
pub use noise::{DiscreteGaussian, DiscreteLaplace, IntegerNoise};
pub use on_grid::OnGrid;
pub use one_bit::OneBit;
pub use piecewise::Piecewise;
pub use priv_unit::PrivUnit;
pub use sphere::{HalfSphere, SphereReport};
pub use vector::{VectorMechanism, clip_to_ball};

use super::profile::LocalProfile;
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::{Delta, Enclosure, Epsilon, Error, Positive};
use std::num::NonZeroU32;

/// The mean that is estimated.
///
/// ```
/// use dobrushin::Epsilon;
/// use dobrushin_local::mean::{Bounds, Laplace, MeanMechanism, Target};
///
/// // People who are drawn at random are one more reason to be off.
/// let mechanism = Laplace::new(Bounds::new(0.0, 1.0)?, Epsilon::new(1.0)?)?;
/// let worst = |of| mechanism.worst_variance(of).upper();
/// assert!(worst(Target::Records) < worst(Target::Population));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The mean of the values of those who reported: only the mechanism is random.
    Records,
    /// The mean of the law from which their values are drawn independently.
    Population,
}

/// A private report on one number between two bounds, whose expectation is the number.
///
/// ```
/// use dobrushin::Epsilon;
/// use dobrushin_local::mean::{Bounds, Laplace, MeanMechanism, Piecewise};
/// let (bounds, epsilon) = (Bounds::new(0.0, 120.0)?, Epsilon::new(4.0)?);
/// let (piecewise, laplace) = (Piecewise::new(bounds, epsilon)?, Laplace::new(bounds, epsilon)?);
/// // Both are private as realised, at exactly this ε …
/// assert_eq!(piecewise.privacy().delta(epsilon).upper(), 0.0);
/// assert_eq!(laplace.privacy().delta(epsilon).upper(), 0.0);
/// // … and one of them is more accurate, whatever the value.
/// assert!(piecewise.variance(120.0).upper() < laplace.variance(120.0).lower());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub trait MeanMechanism: Send + Sync {
    /// Its name.
    fn id(&self) -> &'static str;

    /// The bounds of the values.
    fn bounds(&self) -> Bounds;

    /// The exact profile of the realised mechanism.
    fn privacy(&self) -> LocalProfile;

    /// The mechanism on the points of its grid as a matrix, reports in increasing order (those of [`Hybrid`]: of the
    /// piecewise mechanism first), rounded to `f64`; `None` if there are too many reports.
    fn channel(&self) -> Option<FiniteKernel> {
        None
    }

    /// A report. A value outside the bounds counts as the nearer one, and NaN as the lower one: the caller should clip,
    /// and count, with [`Bounds::clip`].
    ///
    /// Its expectation is the value, up to 2⁻⁵⁰ of the distance of the bounds.
    fn privatise(&self, value: f64, bits: &mut dyn RandomBits) -> f64;

    /// The variance of the report on one value.
    fn variance(&self, value: f64) -> Enclosure;

    /// The largest variance of a report: on any one value, or on a value drawn from any law.
    fn worst_variance(&self, of: Target) -> Enclosure;

    /// The range of reports, if they are bounded.
    fn range(&self) -> Option<(f64, f64)>;

    /// Whether a number can be a report: it is finite, and in the range if there is one.
    fn is_report(&self, report: f64) -> bool {
        let inside = |(least, most): (f64, f64)| (least..=most).contains(&report);
        report.is_finite() && self.range().is_none_or(inside)
    }

    /// A bound on ln E e^(±t(Y − m)) for a report Y, for both signs and every value or law of values, where m is the
    /// value or the mean of the law.
    fn log_moment(&self, t: Positive, of: Target) -> Enclosure;
}

/// Channels with more entries than this are not written out.
const MOST_ENTRIES: u64 = 1 << 22;

/// The names of the mechanisms for one number.
pub const IDS: [&str; 5] = ["one-bit", "piecewise", "hybrid", "laplace", "gaussian"];

/// The mechanism with the given name, calibrated to (ε, δ); only "gaussian" uses δ.
///
/// # Errors
/// [`Error::Unsupported`] for another name, and the errors of the mechanism's constructor.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::mean::{Bounds, IDS, MeanMechanism, by_id};
///
/// let (bounds, epsilon, delta) = (Bounds::new(0.0, 1.0)?, Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// for id in IDS {
///     assert_eq!(by_id(id, bounds, epsilon, delta)?.id(), id);
/// }
/// assert!(by_id("no-such-mechanism", bounds, epsilon, delta).is_err());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn by_id(
    id: &str,
    bounds: Bounds,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Box<dyn MeanMechanism>, Error> {
    Ok(match id {
        "one-bit" => Box::new(OneBit::new(bounds, epsilon)?),
        "piecewise" => Box::new(Piecewise::new(bounds, epsilon)?),
        "hybrid" => Box::new(Hybrid::new(bounds, epsilon)?),
        "laplace" => Box::new(Laplace::new(bounds, epsilon)?),
        "gaussian" => Box::new(Gaussian::new(bounds, epsilon, delta)?),
        _ => {
            return Err(Error::Unsupported {
                combination: format!("the mechanism {id:?} for a mean"),
                reason: "there is none with this name",
                nearest: "one-bit, piecewise, hybrid, laplace or gaussian",
            });
        }
    })
}

/// The names of the mechanisms for vectors.
pub const VECTOR_IDS: [&str; 2] = ["half-sphere", "priv-unit"];

/// The mechanism with the given name for vectors of this dimension and norm at most r, calibrated to ε.
///
/// # Errors
/// [`Error::Unsupported`] for another name, and the errors of the mechanism's constructor.
///
/// ```
/// use dobrushin::{Epsilon, Positive};
/// use dobrushin_local::mean::{VECTOR_IDS, vector_by_id};
///
/// for id in VECTOR_IDS {
///     let mechanism = vector_by_id(id, 3.try_into()?, Positive::new(2.0)?, Epsilon::new(1.0)?)?;
///     assert_eq!((mechanism.id(), mechanism.dimension().get()), (id, 3));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn vector_by_id(
    id: &str,
    dimension: NonZeroU32,
    radius: Positive,
    epsilon: Epsilon,
) -> Result<Box<dyn VectorMechanism>, Error> {
    Ok(match id {
        "half-sphere" => Box::new(HalfSphere::new(dimension, radius, epsilon)?),
        "priv-unit" => Box::new(PrivUnit::new(dimension, radius, epsilon)?),
        _ => {
            return Err(Error::Unsupported {
                combination: format!("the mechanism {id:?} for vectors"),
                reason: "there is none with this name",
                nearest: "half-sphere or priv-unit",
            });
        }
    })
}
