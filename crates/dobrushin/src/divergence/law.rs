//! A probability law on finitely many outcomes.

use crate::numeric::elementary::powi;
use crate::{Enclosure, Error};

/// The largest distance of a sum of probabilities from 1 that is treated as rounding.
pub const SUM_TOLERANCE: f64 = 1e-9;

/// A probability law on finitely many outcomes.
///
/// Decimals such as 0.1, 0.2, 0.7 do not sum to 1 in binary, so the given
/// numbers, whose sum must be within [`SUM_TOLERANCE`] of 1, are divided by it and
/// rounded; the law *is* the resulting numbers divided by their own exact sum,
/// which differs from 1 by at most a few units of roundoff.
///
/// ```
/// use dobrushin::divergence::FiniteLaw;
///
/// let law = FiniteLaw::proportional_to("P", vec![3.0, 1.0])?;
/// assert_eq!(law.probabilities(), [0.75, 0.25]);
/// // A sum that is not 1 is refused, by name.
/// let refused = FiniteLaw::new("P", vec![0.75, 0.75]).err().map(|error| error.to_string());
/// assert!(refused.is_some_and(|message| message.starts_with("P sums to 1.5")));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FiniteLaw {
    probabilities: Vec<f64>,
    /// A bound on |1 − 1/sum|: 0 if the numbers sum to exactly 1. Equal numbers
    /// are equal laws.
    relative_error: f64,
}

impl FiniteLaw {
    /// A law with the given probabilities; errors use `name`.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NotAProbability`] with the place (counted from
    /// 1), or [`Error::SumNotOne`].
    pub fn new(name: &str, probabilities: Vec<f64>) -> Result<Self, Error> {
        if probabilities.is_empty() {
            return Err(Error::Empty { what: name.to_owned(), missing: "probability" });
        }
        for (place, &value) in probabilities.iter().enumerate() {
            if !(0.0..=1.0 + SUM_TOLERANCE).contains(&value) {
                let place = format!("entry {} of {name}", place + 1);
                return Err(Error::NotAProbability { place, value });
            }
        }
        let sum: Enclosure = probabilities.iter().map(|&p| Enclosure::from(p)).sum();
        let excess = sum.midpoint() - 1.0;
        if excess.abs() > SUM_TOLERANCE {
            let (what, sum) = (name.to_owned(), sum.midpoint());
            return Err(Error::SumNotOne { what, sum, excess, tolerance: SUM_TOLERANCE });
        }
        Ok(Self::normalised(probabilities, sum))
    }

    /// The law proportional to the given weights, whatever their sum.
    ///
    /// # Errors
    /// [`Error::Empty`] if there are none or all are 0, [`Error::OutOfRange`] for a weight that is negative or not
    /// finite, or that is so small compared with the others that its probability would round to 0, which would change
    /// the support.
    pub fn proportional_to(name: &str, weights: Vec<f64>) -> Result<Self, Error> {
        if let Some(&value) = weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
            return Err(Error::OutOfRange { name: "weight", value, accepted: "finite and 0 or more" });
        }
        let largest = weights.iter().fold(0.0_f64, |most, &w| most.max(w));
        if largest == 0.0 {
            return Err(Error::Empty { what: name.to_owned(), missing: "positive weight" });
        }
        // Scaling by a power of two keeps the sum of huge weights finite, exactly.
        let may_overflow = largest > f64::MAX / (2.0 * weights.len() as f64);
        let scale = if may_overflow { powi(2f64, -600) } else { 1.0 };
        let given = weights;
        let weights: Vec<f64> = given.iter().map(|w| w * scale).collect();
        let sum = weights.iter().map(|&w| Enclosure::from(w)).sum();
        let law = Self::normalised(weights, sum);
        match given.iter().zip(&law.probabilities).find(|(w, p)| **w > 0.0 && **p == 0.0) {
            Some((&value, _)) => Err(Error::OutOfRange {
                name: "weight",
                value,
                accepted: "0 or at least 1e-323 of the sum of all weights",
            }),
            None => Ok(law),
        }
    }

    /// Divides by the sum, unless that is 1.
    fn normalised(mut weights: Vec<f64>, sum: Enclosure) -> Self {
        let divisor = if sum == Enclosure::ONE { 1.0 } else { sum.midpoint() };
        for weight in &mut weights {
            // Adding 0 turns −0, which would divide as a negative number, into 0.
            *weight = *weight / divisor + 0.0;
        }
        let sum: Enclosure = weights.iter().map(|&p| Enclosure::from(p)).sum();
        // With a sum within 1 ± e, 1/sum is within 1 ± e/(1 − e).
        let away = (sum.upper() - 1.0).max(1.0 - sum.lower());
        Self { probabilities: weights, relative_error: away * (1.0 + 1e-12) }
    }

    /// The stored probabilities: those of the law, rounded.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// The number of outcomes.
    pub fn len(&self) -> usize {
        self.probabilities.len()
    }

    /// Always false: a law has outcomes.
    pub fn is_empty(&self) -> bool {
        self.probabilities.is_empty()
    }

    /// The probabilities of the law.
    pub fn enclosures(&self) -> impl Iterator<Item = Enclosure> + '_ {
        self.probabilities.iter().map(|&p| enclose(p, self.relative_error))
    }

    /// A bound on the relative error of every stored probability.
    pub(crate) fn relative_error(&self) -> f64 {
        self.relative_error
    }
}

/// The probability whose stored value is `p`.
pub(crate) fn enclose(p: f64, relative_error: f64) -> Enclosure {
    if relative_error == 0.0 || p == 0.0 { Enclosure::from(p) } else { Enclosure::around(p, relative_error) }
}
