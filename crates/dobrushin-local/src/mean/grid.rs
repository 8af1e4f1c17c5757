//! Equally spaced points between two bounds.

use super::{Bounds, Target};
use dobrushin::numeric::bits::{Coin, RandomBits};
use dobrushin::{Enclosure, Error};
use std::num::NonZeroU32;

/// The points a + i·(b − a)/2^k for i = 0 … 2^k.
///
/// ```
/// use dobrushin_local::mean::{Bounds, Grid};
///
/// let grid = Grid::new(Bounds::new(0.0, 1.0)?, 4)?;
/// assert_eq!((grid.steps(), grid.position(0.25)), (16, 4.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    bounds: Bounds,
    binary_digits: u32,
}

/// With more digits, none would remain for the fraction that is rounded at random.
const MOST_DIGITS: u32 = 30;

impl Grid {
    /// 2^k + 1 points.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if k is above 30.
    pub fn new(bounds: Bounds, binary_digits: u32) -> Result<Self, Error> {
        if binary_digits > MOST_DIGITS {
            let (name, value) = ("the number of binary digits of the grid", f64::from(binary_digits));
            return Err(Error::OutOfRange { name, value, accepted: "at most 30" });
        }
        Ok(Self { bounds, binary_digits })
    }

    /// a and b.
    pub fn bounds(self) -> Bounds {
        self.bounds
    }

    /// 2^k.
    pub fn steps(self) -> u64 {
        1 << self.binary_digits
    }

    /// A random neighbouring point whose expectation is the position of the value.
    ///
    /// # Guarantee
    /// The expectation is exactly [`Grid::position`], which is within 2⁻⁵¹·2^k of (v − a)/(b − a)·2^k: two roundings of
    /// differences and one of a quotient. Probabilities with fewer than 64 binary digits are realised exactly; further
    /// digits, which only positions below 2⁻¹¹ have, are cut off.
    pub fn place(self, value: f64, bits: &mut dyn RandomBits) -> u64 {
        let position = self.position(value);
        let floor = position.floor();
        let up = Coin::from_threshold(((position - floor) * TWO_TO_THE_64) as u64);
        floor as u64 + u64::from(up.toss(bits))
    }

    /// The position of a value between 0 and 2^k.
    pub fn position(self, value: f64) -> f64 {
        let share = (value - self.bounds.lower()) / (self.bounds.upper() - self.bounds.lower());
        // NaN is neither above nor below.
        if share > 0.0 { share.min(1.0) * self.steps() as f64 } else { 0.0 }
    }

    /// (b − a)/2^k.
    pub(super) fn step(self) -> Enclosure {
        self.bounds.width() / Enclosure::from(self.steps())
    }

    /// The variance f(1 − f) of the rounding at a value, in squares of a step.
    pub(super) fn rounding_variance(self, value: f64) -> Enclosure {
        let position = self.position(value);
        let fraction = Enclosure::from(position - position.floor());
        fraction * (Enclosure::ONE - fraction)
    }

    /// The largest variance of a rounded value: h²/4 for a single value, with h the step, and (b − a)²/4 for a law.
    pub(super) fn worst_variance(self, of: Target) -> Enclosure {
        self.spread(of).square() / Enclosure::from(4.0)
    }

    /// Hoeffding's bound t²s²/8 on ln E e^(±t(X − m)) for a rounded value X, which stays in a range of length s = h for
    /// a single value, and s = b − a for a law.
    pub(super) fn log_moment(self, t: Enclosure, of: Target) -> Enclosure {
        (t * self.spread(of)).square() / Enclosure::from(8.0)
    }

    fn spread(self, of: Target) -> Enclosure {
        match of {
            Target::Records => self.step(),
            Target::Population => self.bounds.width(),
        }
    }

    /// a + i·(b − a)/2^k for any integer i, rounded.
    pub(super) fn value(self, point: i128) -> f64 {
        let share = point as f64 / self.steps() as f64;
        self.bounds.lower() + (self.bounds.upper() - self.bounds.lower()) * share
    }

    /// The distance of the bounds in steps.
    pub(super) fn shift(self) -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add((1 << self.binary_digits) - 1)
    }

    /// (a + b)/2 + (b − a)·offset, rounded: the report of a mechanism that is symmetric about the middle.
    pub(super) fn around_middle(self, offset: f64) -> f64 {
        self.bounds.lower().midpoint(self.bounds.upper())
            + (self.bounds.upper() - self.bounds.lower()) * offset
    }
}

const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;
