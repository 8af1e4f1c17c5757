//! How often a statement may be wrong.

use crate::Error;
use dobrushin::numeric::rounding::div_down;

/// The probability with which a statement about runs may be wrong, above 0 and below 1: 1 − confidence.
///
/// ```
/// use dobrushin_audit::Risk;
///
/// let risk = Risk::new(0.05)?;
/// // Five statements that are all true with 95 % confidence.
/// assert!((risk.shared_by(5).get() - 0.01).abs() < 1e-15);
/// assert!(Risk::new(0.0).is_err() && Risk::new(1.0).is_err() && Risk::new(f64::NAN).is_err());
/// # Ok::<(), dobrushin_audit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Risk(f64);

impl Risk {
    /// Checks that the risk is above 0 and below 1.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if it is not.
    pub fn new(risk: f64) -> Result<Self, Error> {
        if 0.0 < risk && risk < 1.0 {
            Ok(Self(risk))
        } else {
            Err(Error::OutOfRange { name: "the risk", value: risk, accepted: "above 0 and below 1" })
        }
    }

    /// The value.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The risk of each of several statements, so that one of them is wrong with at most this risk (Bonferroni).
    #[must_use]
    pub fn shared_by(self, statements: usize) -> Self {
        Self(div_down(self.0, statements.max(1) as f64))
    }
}
