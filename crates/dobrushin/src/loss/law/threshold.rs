//! A threshold as a number and a bound on its error: evaluating a smooth function once and widening the result costs
//! half of two evaluations at the ends of an interval.

use crate::Enclosure;
use crate::numeric::UNIT_ROUNDOFF;

/// Every number within `error` of `value`, up to ∞.
#[derive(Clone, Copy)]
pub(super) struct Threshold {
    pub value: f64,
    pub error: f64,
}

/// The smallest positive number.
pub(super) const SMALLEST: f64 = f64::from_bits(1);

/// Enlarges a computed error bound by more than its own few roundings can have removed.
pub(super) const SAFELY: f64 = 1.0 + 1e-9;

impl From<Enclosure> for Threshold {
    fn from(range: Enclosure) -> Self {
        let value = range.midpoint();
        if range.lower() == range.upper() {
            return Self { value, error: 0.0 };
        }
        Self { value, error: (range.upper() - value).max(value - range.lower()) * SAFELY }
    }
}

impl From<Threshold> for Enclosure {
    fn from(threshold: Threshold) -> Self {
        let Threshold { value, error } = threshold;
        if error == 0.0 {
            return Self::from(value);
        }
        Self::new((value - error).next_down(), (value + error).next_up()).unwrap_or(Self::ENTIRE)
    }
}

/// Lower and upper bounds on a sum of a few products ≥ 0, each rounded to nearest.
///
/// Up to ten roundings cost ten units; products below the normal numbers lose less than the absolute slack.
pub(super) fn sum_of_products(lower: f64, upper: f64) -> Enclosure {
    const LOST: f64 = 8.0 * SMALLEST;
    Enclosure::between(
        (lower * (1.0 - 12.0 * UNIT_ROUNDOFF) - LOST).max(0.0),
        upper * (1.0 + 12.0 * UNIT_ROUNDOFF) + LOST,
    )
}
