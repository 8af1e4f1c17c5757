//! Sums of many enclosures.

use super::Enclosure;
use super::rounding::{add_up, two_sum};
use std::iter::Sum;

impl Sum for Enclosure {
    /// A sum of many terms whose width does not grow with their number.
    ///
    /// Each end is summed with Knuth's error-free addition; the rounding errors, which are 2⁵³ times smaller, are
    /// summed with directed rounding and added at the end. The result is a bound regardless of order and cancellation.
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        let (mut lower, mut upper) = (Accumulator::default(), Accumulator::default());
        for term in terms {
            lower.add(-term.lower());
            upper.add(term.upper());
        }
        match (lower.upper_bound(), upper.upper_bound()) {
            (Some(minus_lower), Some(upper)) => Self::between(0.0 - minus_lower, upper),
            _ => Self::ENTIRE,
        }
    }
}

/// An upper bound on a growing sum, see `Sum for Enclosure`.
#[derive(Default)]
struct Accumulator {
    sum: f64,
    errors: f64,
}

impl Accumulator {
    fn add(&mut self, term: f64) {
        let (sum, error) = two_sum(self.sum, term);
        if sum.is_finite() && error.is_finite() {
            self.errors = add_up(self.errors, error);
            self.sum = sum;
        } else {
            // After an overflow, or an infinite or NaN term, the sums are plain directed sums, into which NaN
            // propagates.
            self.sum = add_up(self.sum, term);
        }
    }

    fn upper_bound(&self) -> Option<f64> {
        let bound = add_up(self.sum, self.errors);
        (!bound.is_nan()).then_some(bound)
    }
}

/// ln Σe^x for any number of terms, including −∞.
pub(crate) fn ln_sum(terms: &[Enclosure]) -> Enclosure {
    let largest = terms.iter().fold(f64::NEG_INFINITY, |most, term| most.max(term.upper()));
    if !largest.is_finite() {
        return if largest == f64::NEG_INFINITY { Enclosure::from(largest) } else { Enclosure::ENTIRE };
    }
    let largest = Enclosure::from(largest);
    let sum: Enclosure = terms.iter().map(|&term| (term - largest).exp()).sum();
    largest + sum.ln()
}
