//! The parameter of the hockey-stick divergence.

use crate::{Enclosure, Error, Positive};

/// The parameter γ = e^ε > 0 of the hockey-stick divergence, as γ and as ε = ln γ (negative for γ < 1), whichever a
/// formula needs.
///
/// ```
/// use dobrushin::Gamma;
///
/// let gamma = Gamma::from_epsilon(-1.0)?;
/// assert!(gamma.is_below_one());
/// assert!(gamma.reciprocal().epsilon().contains(1.0));
/// assert!(Gamma::new(0.0).is_err());
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    value: Enclosure,
    epsilon: Enclosure,
}

impl Gamma {
    /// γ = 1: total variation.
    pub const ONE: Self = Self { value: Enclosure::ONE, epsilon: Enclosure::ZERO };

    /// γ itself.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless `0 < γ < ∞`.
    pub fn new(gamma: f64) -> Result<Self, Error> {
        let value = Enclosure::from(Positive::named("gamma", gamma)?);
        Ok(Self { value, epsilon: value.ln() })
    }

    /// γ = e^ε, for any finite ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for NaN and ±∞.
    pub fn from_epsilon(epsilon: f64) -> Result<Self, Error> {
        if !epsilon.is_finite() {
            return Err(Error::OutOfRange { name: "epsilon", value: epsilon, accepted: "finite" });
        }
        let epsilon = Enclosure::from(epsilon);
        Ok(Self { value: epsilon.exp(), epsilon })
    }

    /// γ = 1 + x for an x ≥ 0 that is known only by an enclosure.
    pub(crate) fn one_plus(excess: Enclosure) -> Self {
        Self { value: Enclosure::ONE + excess, epsilon: excess.ln_1p() }
    }

    /// γ.
    pub fn value(self) -> Enclosure {
        self.value
    }

    /// ε = ln γ.
    pub fn epsilon(self) -> Enclosure {
        self.epsilon
    }

    /// 1/γ.
    pub fn reciprocal(self) -> Self {
        Self { value: Enclosure::ONE / self.value, epsilon: -self.epsilon }
    }

    /// Whether γ < 1 (decided on ε, which has a sign).
    pub fn is_below_one(self) -> bool {
        self.epsilon.upper() < 0.0
    }
}
