//! The mean of vectors, from private reports.

use super::error_probability;
use crate::mean::{HalfSphere, SphereReport, Target};
use dobrushin::{Enclosure, Error, Probability};

/// Adds up reports on vectors.
///
/// ```
/// use dobrushin::{Epsilon, Positive, Probability};
/// use dobrushin_local::estimate::VectorEstimator;
/// use dobrushin_local::mean::{HalfSphere, SphereReport};
///
/// let mechanism = HalfSphere::new(3.try_into()?, Positive::new(1.0)?, Epsilon::new(1.0)?)?;
/// let mut estimator = VectorEstimator::new(&mechanism);
/// let report = SphereReport { seed: 42, positive: true };
/// estimator.add(report);
/// assert_eq!(estimator.estimate(Probability::new(0.95)?)?.mean, mechanism.decode(report));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct VectorEstimator<'a> {
    mechanism: &'a HalfSphere,
    records: u64,
    sum: Vec<f64>,
}

/// A mean vector and its accuracy.
///
/// ```
/// use dobrushin::{Epsilon, Positive, Probability};
/// use dobrushin_local::estimate::VectorEstimator;
/// use dobrushin_local::mean::{HalfSphere, SphereReport};
///
/// let mechanism = HalfSphere::new(3.try_into()?, Positive::new(1.0)?, Epsilon::new(1.0)?)?;
/// let mut estimator = VectorEstimator::new(&mechanism);
/// for seed in 0..100 {
///     estimator.add(SphereReport { seed, positive: true });
/// }
/// // B/√n, and a ball that covers for certain is larger.
/// let estimate = estimator.estimate(Probability::new(0.95)?)?;
/// assert!((estimate.standard_error / mechanism.length().upper() - 0.1).abs() < 1e-9);
/// assert!(estimate.certain > estimate.standard_error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VectorEstimate {
    /// The number of reports.
    pub records: u64,
    /// The mean of the decoded reports. Its expectation is the mean of the vectors; it may be outside the ball.
    pub mean: Vec<f64>,
    /// A bound on the root of its mean squared distance from its expectation.
    pub standard_error: f64,
    /// The radius of a ball around it that covers with at least this confidence.
    pub certain: f64,
}

impl<'a> VectorEstimator<'a> {
    /// An estimator for reports of a mechanism.
    pub fn new(mechanism: &'a HalfSphere) -> Self {
        Self { mechanism, records: 0, sum: vec![0.0; mechanism.dimension().get() as usize] }
    }

    /// Counts a report.
    pub fn add(&mut self, report: SphereReport) {
        self.records += 1;
        let decoded = self.mechanism.decode(report);
        self.sum.iter_mut().zip(decoded).for_each(|(sum, x)| *sum += x);
    }

    /// Counts the reports of another estimator for the same mechanism.
    pub fn merge(&mut self, other: &Self) {
        self.records += other.records;
        self.sum.iter_mut().zip(&other.sum).for_each(|(sum, x)| *sum += x);
    }

    /// The estimate so far.
    ///
    /// # Guarantee
    /// Every decoded report has norm B. The expected distance of their mean from its expectation is at most B/√n, and
    /// changing one report moves it by at most 2B/n, so it is more than B/√n·(1 + √(2·ln(1/α))) with probability at
    /// most α (McDiarmid).
    ///
    /// # Errors
    /// [`Error::Empty`] without reports, [`Error::OutOfRange`] for a confidence of 0 or 1.
    pub fn estimate(&self, confidence: Probability) -> Result<VectorEstimate, Error> {
        let error = error_probability(confidence)?;
        if self.records == 0 {
            return Err(Error::Empty { what: "the mean vector".to_owned(), missing: "report" });
        }
        let n = self.records as f64;
        let root = (self.mechanism.worst_variance(Target::Population) / Enclosure::from(self.records)).sqrt();
        let tail = (Enclosure::from(-2.0) * error.ln()).sqrt();
        Ok(VectorEstimate {
            records: self.records,
            mean: self.sum.iter().map(|sum| sum / n).collect(),
            standard_error: root.upper(),
            certain: (root * (Enclosure::ONE + tail)).upper(),
        })
    }
}
