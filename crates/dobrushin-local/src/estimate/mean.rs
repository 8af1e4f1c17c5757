//! The mean of numbers, from private reports.

use super::{chernoff, error_probability, normal_quantile};
use crate::mean::{MeanMechanism, Target};
use dobrushin::numeric::rounding::{two_product, two_sum};
use dobrushin::{Error, Probability};

/// Adds up reports.
///
/// ```
/// use dobrushin_local::estimate::MeanEstimator;
/// use dobrushin_local::mean::{Bounds, MeanMechanism, OneBit, Target};
/// use dobrushin::{Epsilon, Probability};
/// let mechanism = OneBit::new(Bounds::new(0.0, 10.0)?, Epsilon::new(1.0)?)?;
/// let (low, high) = mechanism.range().unwrap();
/// let mut estimator = MeanEstimator::new(&mechanism);
/// for report in [high, low, high, high] {
///     estimator.add(report)?;
/// }
/// let estimate = estimator.estimate(Probability::new(0.95)?, Target::Population)?;
/// assert!((estimate.mean - (3.0 * high + low) / 4.0).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct MeanEstimator<'a> {
    mechanism: &'a dyn MeanMechanism,
    records: u64,
    /// The sum of the reports, and its rounding error.
    sum: (f64, f64),
    /// The sum of squared distances from the mean.
    squares: f64,
}

/// A mean and its accuracy.
///
/// ```
/// use dobrushin::{Epsilon, Probability};
/// use dobrushin_local::estimate::MeanEstimator;
/// use dobrushin_local::mean::{Bounds, MeanMechanism, OneBit, Target};
///
/// let mechanism = OneBit::new(Bounds::new(0.0, 10.0)?, Epsilon::new(1.0)?)?;
/// let (low, high) = mechanism.range().ok_or("one of two numbers is reported")?;
/// let mut estimator = MeanEstimator::new(&mechanism);
/// for _ in 0..100 {
///     estimator.add(low)?;
///     estimator.add(high)?;
/// }
/// // As many of either: the mean is in the middle. To be certain takes a longer interval.
/// let estimate = estimator.estimate(Probability::new(0.95)?, Target::Population)?;
/// assert!((estimate.mean - 5.0).abs() < 1e-9 && estimate.normal < estimate.certain);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    /// The number of reports.
    pub records: u64,
    /// The mean of the reports. Its expectation is the mean of the values; it may be outside the bounds.
    pub mean: f64,
    /// Its standard error, from the spread of the reports; with a single report, from the largest possible spread.
    pub standard_error: f64,
    /// Half the length of the interval around the mean by the normal law.
    pub normal: f64,
    /// Half the length of the interval with at least this confidence, for any values and any number of them.
    pub certain: f64,
}

impl<'a> MeanEstimator<'a> {
    /// An estimator for reports of a mechanism.
    pub fn new(mechanism: &'a dyn MeanMechanism) -> Self {
        Self { mechanism, records: 0, sum: (0.0, 0.0), squares: 0.0 }
    }

    /// Counts a report.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a number that the mechanism cannot report.
    pub fn add(&mut self, report: f64) -> Result<(), Error> {
        self.check(report)?;
        // Welford's update uses the distances from the mean before and after.
        let before = report - self.mean();
        self.records += 1;
        self.add_to_sum(report);
        let after = report - self.mean();
        self.squares += if self.records == 1 { 0.0 } else { before * after };
        Ok(())
    }

    /// Counts a report that was made this many times.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a number that the mechanism cannot report.
    pub fn add_times(&mut self, report: f64, times: u64) -> Result<(), Error> {
        self.check(report)?;
        let sum = two_product(report, times as f64);
        self.merge(&Self { mechanism: self.mechanism, records: times, sum, squares: 0.0 });
        Ok(())
    }

    /// Counts the reports of another estimator for the same mechanism.
    pub fn merge(&mut self, other: &Self) {
        let both = self.records + other.records;
        if other.records == 0 {
            return;
        }
        let distance = if self.records == 0 { 0.0 } else { other.mean() - self.mean() };
        let weight = self.records as f64 * (other.records as f64 / both as f64);
        self.squares += other.squares + distance * distance * weight;
        self.add_to_sum(other.sum.0);
        self.add_to_sum(other.sum.1);
        self.records = both;
    }

    /// The estimate so far.
    ///
    /// # Guarantee
    /// The certain interval covers the target with at least this confidence: reports are independent, the expectation
    /// of each is the value (or the mean of the law it is from), and their moments are bounded by
    /// [`MeanMechanism::log_moment`]. The other interval does so approximately, for many reports; for the mean of the
    /// records it is longer than necessary, as the spread of the reports contains that of the values.
    ///
    /// # Errors
    /// [`Error::Empty`] without reports, [`Error::OutOfRange`] for a confidence of 0 or 1.
    pub fn estimate(&self, confidence: Probability, of: Target) -> Result<MeanEstimate, Error> {
        let error = error_probability(confidence)?;
        if self.records == 0 {
            return Err(Error::Empty { what: "the mean".to_owned(), missing: "report" });
        }
        let worst = self.mechanism.worst_variance(of);
        let n = self.records as f64;
        let variance = if self.records == 1 { worst.upper() } else { self.squares / (n - 1.0) };
        let standard_error = (variance / n).sqrt();
        let certain = chernoff::half_width(self.records, error, worst, |t| self.mechanism.log_moment(t, of));
        Ok(MeanEstimate {
            records: self.records,
            mean: self.mean(),
            standard_error,
            normal: normal_quantile(error) * standard_error,
            certain,
        })
    }

    fn check(&self, report: f64) -> Result<(), Error> {
        if self.mechanism.is_report(report) {
            return Ok(());
        }
        let accepted =
            "a finite number that the mechanism can report: were its bounds or its epsilon others?";
        Err(Error::OutOfRange { name: "the report", value: report, accepted })
    }

    fn add_to_sum(&mut self, term: f64) {
        let (sum, lost) = two_sum(self.sum.0, term);
        self.sum = (sum, self.sum.1 + lost);
    }

    fn mean(&self) -> f64 {
        if self.records == 0 { 0.0 } else { (self.sum.0 + self.sum.1) / self.records as f64 }
    }
}
