//! The bounds between which values lie.

use dobrushin::{Enclosure, Error};

/// Two numbers a < b, of at most 10¹⁰⁰ in magnitude and at least 10⁻¹⁰⁰ apart.
///
/// ```
/// use dobrushin_local::mean::Bounds;
///
/// let bounds = Bounds::new(0.0, 120.0)?;
/// assert_eq!((bounds.lower(), bounds.upper()), (0.0, 120.0));
/// assert!(Bounds::new(1.0, 0.0).is_err());
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    lower: f64,
    upper: f64,
}

/// A value between the bounds, and whether it had to be moved there.
///
/// ```
/// use dobrushin_local::mean::{Bounds, Clipped};
///
/// let bounds = Bounds::new(0.0, 120.0)?;
/// let Clipped { value, clipped } = bounds.clip(200.0)?;
/// assert_eq!((value, clipped), (120.0, true));
/// // A NaN cannot be moved between the bounds.
/// assert!(bounds.clip(f64::NAN).is_err());
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clipped<Value = f64> {
    /// The value.
    pub value: Value,
    /// Whether it was outside.
    pub clipped: bool,
}

/// Squares of larger numbers, and reports that are far outside the bounds, would overflow.
const LARGEST: f64 = 1e100;
/// Squares of smaller distances would lose digits.
const NARROWEST: f64 = 1e-100;

impl Bounds {
    /// The values from a to b.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for bounds that are NaN, infinite, above 1e100 in magnitude, equal or in the wrong order.
    pub fn new(lower: f64, upper: f64) -> Result<Self, Error> {
        let accepted = "finite and at most 1e100 in magnitude";
        for (name, value) in [("the lower bound", lower), ("the upper bound", upper)] {
            if value.is_nan() || value.abs() > LARGEST {
                return Err(Error::OutOfRange { name, value, accepted });
            }
        }
        if upper - lower < NARROWEST {
            return Err(Error::OutOfRange {
                name: "the upper bound",
                value: upper,
                accepted: "above the lower bound, by at least 1e-100",
            });
        }
        // Adding 0 turns −0 into 0.
        Ok(Self { lower: lower + 0.0, upper: upper + 0.0 })
    }

    /// a.
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// b.
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// The nearest value between the bounds.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for NaN and ±∞.
    pub fn clip(self, value: f64) -> Result<Clipped, Error> {
        if !value.is_finite() {
            return Err(Error::OutOfRange { name: "the value", value, accepted: "a finite number" });
        }
        let inside = value.clamp(self.lower, self.upper);
        Ok(Clipped { value: inside, clipped: inside != value })
    }

    /// b − a.
    pub(crate) fn width(self) -> Enclosure {
        Enclosure::from(self.upper) - Enclosure::from(self.lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_are_no_bounds_are_refused_by_name() {
        for (lower, upper, word) in [
            (1.0, 1.0, "above the lower bound"),
            (2.0, 1.0, "above the lower bound"),
            (f64::NAN, 1.0, "the lower bound is NaN"),
            (0.0, f64::NAN, "the upper bound is NaN"),
            (f64::NEG_INFINITY, 0.0, "the lower bound is -inf"),
            (0.0, f64::INFINITY, "the upper bound is inf"),
            (0.0, 1e300, "at most 1e100"),
            (0.0, 1e-300, "at least 1e-100"),
        ] {
            let message = Bounds::new(lower, upper).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn clipping_tells_that_it_clipped_and_refuses_what_is_no_number() {
        let bounds = Bounds::new(-1.0, 3.0).unwrap();
        assert_eq!(bounds.clip(3.0).unwrap(), Clipped { value: 3.0, clipped: false });
        assert_eq!(bounds.clip(1e300).unwrap(), Clipped { value: 3.0, clipped: true });
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(bounds.clip(value).unwrap_err().to_string().contains("finite number"));
        }
    }
}
