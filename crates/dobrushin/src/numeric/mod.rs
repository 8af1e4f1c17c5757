//! Rigorous numerics: outward rounding, special functions as enclosures, certified roots.

pub mod beta;
pub mod binomial;
pub mod bits;
pub mod chi_square;
pub mod decimal;
pub mod elementary;
mod enclosure;
pub(crate) mod fft;
pub mod gamma;
mod golden;
mod mills;
mod mills_table;
pub mod normal;
mod random;
mod roots;
pub mod rounding;
mod sum;
pub mod theta;

pub use enclosure::Enclosure;
pub use golden::GoldenSection;
pub use random::Random;
pub(crate) use roots::root_of_decreasing;
pub use roots::{Boundary, boundary, partition_point};
pub(crate) use sum::ln_sum;

use crate::{Delta, Epsilon, NonNegative, Positive, Probability, RenyiOrder};

/// The unit roundoff 2⁻⁵³: one rounding to nearest has at most this relative error.
pub const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// A checked number is the enclosure of itself.
macro_rules! enclosed {
    ($($quantity:ty),*) => {
        $(impl From<$quantity> for Enclosure {
            fn from(quantity: $quantity) -> Self {
                Self::from(quantity.get())
            }
        })*
    };
}

enclosed!(Epsilon, Delta, Probability, Positive, NonNegative, RenyiOrder);
