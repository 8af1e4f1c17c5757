//! The mean of vectors, from private reports.

use super::frequencies::Family;
use super::mean::MeanEstimate;
use super::{chernoff, error_probability, normal_quantile};
use crate::mean::VectorMechanism;
use dobrushin::{Enclosure, Error, Positive, Probability};

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
#[derive(Clone)]
pub struct VectorEstimator<'a> {
    mechanism: &'a dyn VectorMechanism,
    records: u64,
    sum: Vec<f64>,
    /// The sum of the squares of each coordinate.
    squares: Vec<f64>,
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
    pub fn new(mechanism: &'a dyn VectorMechanism) -> Self {
        let zeros = vec![0.0; mechanism.dimension().get() as usize];
        Self { mechanism, records: 0, sum: zeros.clone(), squares: zeros }
    }

    /// Counts a report.
    pub fn add(&mut self, report: impl Into<[u64; 2]>) {
        self.add_decoded(&self.mechanism.vector(report.into()));
    }

    /// Counts a report that was decoded before.
    pub fn add_decoded(&mut self, decoded: &[f64]) {
        self.records += 1;
        for ((sum, square), x) in self.sum.iter_mut().zip(&mut self.squares).zip(decoded) {
            *sum += x;
            *square += x * x;
        }
    }

    /// Counts the reports of another estimator for the same mechanism.
    pub fn merge(&mut self, other: &Self) {
        self.records += other.records;
        self.sum.iter_mut().zip(&other.sum).for_each(|(sum, x)| *sum += x);
        self.squares.iter_mut().zip(&other.squares).for_each(|(sum, x)| *sum += x);
    }

    /// The number of reports.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The estimate so far.
    ///
    /// # Guarantee
    /// Every decoded report has norm B. The expected distance of their mean from its expectation is at most B/√n, and
    /// changing one report moves it by at most 2B/n, so it is more than B/√n·(1 + √(2·ln(1/α))) with probability at
    /// most α (McDiarmid). Its expectation is within [`VectorMechanism::bias`] of the mean vector.
    ///
    /// # Errors
    /// [`Error::Empty`] without reports, [`Error::OutOfRange`] for a confidence of 0 or 1.
    pub fn estimate(&self, confidence: Probability) -> Result<VectorEstimate, Error> {
        let error = error_probability(confidence)?;
        let n = self.checked()?;
        let root = (self.mechanism.length().square() / Enclosure::from(self.records)).sqrt();
        let tail = (Enclosure::from(-2.0) * error.ln()).sqrt();
        Ok(VectorEstimate {
            records: self.records,
            mean: self.sum.iter().map(|sum| sum / n).collect(),
            standard_error: root.upper(),
            certain: (root * (Enclosure::ONE + tail) + self.mechanism.bias()).upper(),
        })
    }

    /// The estimate of every coordinate, for people who are drawn from a population: each interval alone has the
    /// confidence, or all at once have it.
    ///
    /// # Guarantee
    /// Decoded reports are independent, and a coordinate Y of one has |Y| ≤ B and E Y² ≤ v, with v the
    /// [`VectorMechanism::coordinate_moment`]. So ln E e^(±t(Y − m)) is at most t²B²/2 (Hoeffding) and
    /// (v/D²)(e^(tD) − 1 − tD) with D = B + r (Bennett), and the certain interval follows, with the
    /// [`VectorMechanism::bias`] added. The other interval is right for many reports.
    ///
    /// # Errors
    /// [`Error::Empty`] without reports, [`Error::OutOfRange`] for a confidence of 0 or 1.
    pub fn coordinates(&self, confidence: Probability, family: Family) -> Result<Vec<MeanEstimate>, Error> {
        let error = error_probability(confidence)?;
        let n = self.checked()?;
        let error = match family {
            Family::Single => error,
            Family::Simultaneous => error / Enclosure::from(self.sum.len() as u64),
        };
        let (length, moment) = (self.mechanism.length(), self.mechanism.coordinate_moment());
        let deviation = length + Enclosure::from(self.mechanism.radius());
        let log_moment = |t: Positive| {
            let t = Enclosure::from(t);
            let x = t * deviation;
            let by_variance = moment / deviation.square() * (x.exp_m1() - x).positive_part();
            ((t * length).square() / Enclosure::from(2.0)).min(by_variance)
        };
        let certain = chernoff::half_width(self.records, error, moment, log_moment);
        let certain = (Enclosure::from(certain) + self.mechanism.bias()).upper();
        let estimate = |(sum, squares): (&f64, &f64)| {
            let mean = sum / n;
            let variance = match self.records {
                1 => moment.upper(),
                _ => ((squares - sum * mean) / (n - 1.0)).max(0.0),
            };
            let standard_error = (variance / n).sqrt();
            let normal = normal_quantile(error) * standard_error;
            MeanEstimate { records: self.records, mean, standard_error, normal, certain }
        };
        Ok(self.sum.iter().zip(&self.squares).map(estimate).collect())
    }

    /// The number of reports, if there are any.
    fn checked(&self) -> Result<f64, Error> {
        match self.records {
            0 => Err(Error::Empty { what: "the mean vector".to_owned(), missing: "report" }),
            n => Ok(n as f64),
        }
    }
}
