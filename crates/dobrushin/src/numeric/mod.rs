//! Numbers that can be trusted: outward rounding, special functions as
//! enclosures, certified roots.

pub mod beta;
pub(crate) mod binomial;
pub mod chi_square;
pub mod decimal;
pub mod elementary;
mod enclosure;
pub(crate) mod fft;
pub mod gamma;
mod mills;
mod mills_table;
pub mod normal;
mod roots;
pub mod rounding;
mod sum;
pub mod theta;

pub use enclosure::Enclosure;
pub(crate) use roots::root_of_decreasing;
pub use roots::{Boundary, boundary};
pub(crate) use sum::ln_sum;

/// The unit roundoff 2⁻⁵³: one rounding to nearest errs by at most this,
/// relatively.
pub(crate) const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;
