//! Numbers that have been checked once and are valid ever after.

use crate::{Enclosure, Error};

/// Declares a wrapper of `f64` whose constructor refuses what the predicate
/// refuses (NaN included, as every comparison with it is false).
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $label:literal, $accepted:literal, |$x:ident| $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            #[doc = concat!("Checks that the value is ", $accepted, ".")]
            ///
            /// # Errors
            /// [`Error::OutOfRange`] if it is not.
            pub fn new($x: f64) -> Result<Self, Error> {
                if $valid {
                    // Adding 0 turns −0 into 0 and changes nothing else.
                    Ok(Self($x + 0.0))
                } else {
                    Err(Error::OutOfRange { name: $label, value: $x, accepted: $accepted })
                }
            }

            /// The value.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl From<$name> for Enclosure {
            fn from(quantity: $name) -> Self {
                Self::from(quantity.0)
            }
        }
    };
}

quantity!(
    /// A privacy-loss level ε ∈ [0, ∞].
    Epsilon, "epsilon", "0 or more", |x| x >= 0.0
);
quantity!(
    /// The δ of an (ε, δ) guarantee.
    Delta, "delta", "between 0 and 1", |x| (0.0..=1.0).contains(&x)
);
quantity!(
    /// A probability.
    Probability, "probability", "between 0 and 1", |x| (0.0..=1.0).contains(&x)
);
quantity!(
    /// A finite number above 0: a noise level, a scale, a radius.
    Positive, "value", "positive and finite", |x| x > 0.0 && x.is_finite()
);
quantity!(
    /// A distance in [0, ∞].
    NonNegative, "distance", "0 or more", |x| x >= 0.0
);
quantity!(
    /// The order α ∈ (0, ∞] of a Rényi divergence; 1 is Kullback–Leibler.
    Order, "order", "above 0", |x| x > 0.0
);

impl Positive {
    /// [`Positive::new`] with the caller's name for the quantity in the error.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the value is not positive and finite.
    pub fn named(name: &'static str, value: f64) -> Result<Self, Error> {
        Self::new(value).map_err(|_| Error::OutOfRange { name, value, accepted: "positive and finite" })
    }
}

/// The parameter γ = e^ε > 0 of the hockey-stick divergence, as γ and as
/// ε = ln γ (negative for γ < 1), whichever the formula at hand needs.
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

    /// γ = 1 + x for an x ≥ 0 that is only known to lie in an enclosure.
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
