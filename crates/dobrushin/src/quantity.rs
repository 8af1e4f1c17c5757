//! Numbers that are checked once, at construction, and stay valid.

use crate::Error;

/// Declares a wrapper of `f64` whose constructor refuses values that fail the predicate. NaN fails too, as every
/// comparison with it is false.
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
    RenyiOrder, "order", "above 0", |x| x > 0.0
);

impl Delta {
    /// The δ of pure privacy.
    pub const ZERO: Self = Self(0.0);
}

impl Probability {
    /// The probability of what never happens.
    pub const ZERO: Self = Self(0.0);
}

impl Positive {
    /// [`Positive::new`], with the caller's name for the quantity in the error.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the value is not positive and finite.
    pub fn named(name: &'static str, value: f64) -> Result<Self, Error> {
        Self::new(value).map_err(|_| Error::OutOfRange { name, value, accepted: "positive and finite" })
    }
}
