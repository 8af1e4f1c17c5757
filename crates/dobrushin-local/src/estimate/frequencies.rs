//! Frequencies of categories, from the numbers of reports that support each.

use super::proportion::Proportion;
use super::simplex::nearest_on_simplex;
use super::{error_probability, normal_quantile};
use crate::frequency::{FrequencyOracle, Support};
use crate::mean::Target;
use dobrushin::{Enclosure, Error, Probability};

/// The number of reports that support each category, and the resulting estimates.
///
/// ```
/// use dobrushin_local::estimate::{Family, Frequencies};
/// use dobrushin_local::frequency::Response;
/// use dobrushin_local::mean::Target;
/// use dobrushin::{Delta, Epsilon, Probability};
/// let oracle = Response::new(3, Epsilon::new(1.0)?, Delta::new(0.0)?)?;
/// let frequencies = Frequencies::new(&oracle, &[500, 300, 200], 1000)?;
/// let confidence = Probability::new(0.95)?;
/// let shares = frequencies.certain_intervals(confidence, Family::Simultaneous)?;
/// assert!(frequencies.unbiased()[2] < 0.0 && shares[2].lower == 0.0);
/// assert!((frequencies.projected().iter().sum::<f64>() - 1.0).abs() < 1e-15);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frequencies {
    support: Support,
    counts: Vec<u64>,
    records: u64,
}

/// The scope of a confidence.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Probability};
/// use dobrushin_local::estimate::{Family, Frequencies};
/// use dobrushin_local::frequency::Response;
///
/// let oracle = Response::new(3, Epsilon::new(1.0)?, Delta::new(0.0)?)?;
/// let frequencies = Frequencies::new(&oracle, &[500, 300, 200], 1000)?;
/// let width = |family| -> Result<f64, dobrushin::Error> {
///     let interval = frequencies.certain_intervals(Probability::new(0.95)?, family)?[0];
///     Ok(interval.upper - interval.lower)
/// };
/// // To be right about all at once, every interval must be longer.
/// assert!(width(Family::Single)? < width(Family::Simultaneous)?);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Each interval alone.
    Single,
    /// All intervals at once (Bonferroni).
    Simultaneous,
}

/// A range of frequencies.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Probability};
/// use dobrushin_local::estimate::{Family, Frequencies, Interval};
/// use dobrushin_local::frequency::Response;
///
/// let oracle = Response::new(2, Epsilon::new(1.0)?, Delta::new(0.0)?)?;
/// let frequencies = Frequencies::new(&oracle, &[500, 500], 1000)?;
/// // As many reports support either: one half is in the interval.
/// let intervals = frequencies.certain_intervals(Probability::new(0.95)?, Family::Single)?;
/// let Interval { lower, upper } = intervals[0];
/// assert!(0.0 < lower && lower < 0.5 && 0.5 < upper && upper < 1.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The smallest.
    pub lower: f64,
    /// The largest.
    pub upper: f64,
}

impl Frequencies {
    /// From the counters of a mechanism, after this many reports.
    ///
    /// # Errors
    /// [`Error::Empty`] without reports, [`Error::LengthMismatch`] if the number of counters is not that of the
    /// mechanism, [`Error::OutOfRange`] if a category has more support than there are reports, or if there are more
    /// than 2⁵³, and [`Error::Unsupported`] for a channel whose reports support no categories.
    pub fn new(oracle: &dyn FrequencyOracle, counters: &[u64], records: u64) -> Result<Self, Error> {
        let support = oracle.support().ok_or_else(|| Error::Unsupported {
            combination: format!("an unbiased estimate from reports of \"{}\"", oracle.id()),
            reason: "its reports support no categories",
            nearest: "maximum likelihood",
        })?;
        check(oracle, counters, records)?;
        let counts = oracle.supported(counters);
        match counts.iter().find(|count| **count > records) {
            Some(&most) => Err(Error::OutOfRange {
                name: "the support of a category",
                value: most as f64,
                accepted: "at most the number of reports",
            }),
            None => Ok(Self { support, counts, records }),
        }
    }

    /// The number of reports.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// f̂ = (c/n − q)/(p − q) of each category, whose expectation is its frequency. It may be below 0 or above 1.
    pub fn unbiased(&self) -> Vec<f64> {
        self.counts.iter().map(|&count| self.estimate(count)).collect()
    }

    /// The standard errors of [`Frequencies::unbiased`], with the estimate, clipped to [0, 1], as the frequency.
    pub fn standard_errors(&self, of: Target) -> Vec<f64> {
        let error = |&count: &u64| {
            let frequency = Enclosure::from(self.estimate(count).clamp(0.0, 1.0));
            variance(self.support, frequency, self.records, of).sqrt().midpoint()
        };
        self.counts.iter().map(error).collect()
    }

    /// Intervals f̂ ± z·(standard error), whose coverage approaches the confidence for many reports.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a confidence of 0 or 1.
    pub fn normal_intervals(
        &self,
        confidence: Probability,
        family: Family,
        of: Target,
    ) -> Result<Vec<Interval>, Error> {
        let z = normal_quantile(self.error_of_each(confidence, family)?);
        let both = self.unbiased().into_iter().zip(self.standard_errors(of));
        Ok(both.map(|(f, error)| Interval { lower: f - z * error, upper: f + z * error }).collect())
    }

    /// Intervals with at least this confidence, for any frequencies and any number of reports.
    ///
    /// # Guarantee
    /// For people drawn from a population, c is binomial with mean n·s, s = q + f·(p − q), and the interval is that of
    /// Clopper and Pearson for s. For the people who reported, c is a sum of independent indicators with this mean, and
    /// outside n·s ± 1 its tails are at most those of the binomial law (Hoeffding 1956, Theorem 4): the interval is
    /// never shorter than (c ± 1)/n, so it holds for them too.
    ///
    /// # Errors
    /// The errors of [`Frequencies::normal_intervals`].
    pub fn certain_intervals(&self, confidence: Probability, family: Family) -> Result<Vec<Interval>, Error> {
        let error = self.error_of_each(confidence, family)?;
        // Categories with equal counts have equal intervals.
        let mut counts = self.counts.clone();
        counts.sort_unstable();
        counts.dedup();
        let intervals: Vec<Interval> =
            counts.iter().map(|&count| self.certain_interval(count, error)).collect();
        let found = |count: &u64| intervals[counts.partition_point(|other| other < count)];
        Ok(self.counts.iter().map(found).collect())
    }

    /// The frequencies ≥ 0 with sum 1 that are closest to the unbiased ones.
    ///
    /// They are never further from the true ones, in Euclidean distance, but they are *not* unbiased: rare categories
    /// are overestimated on average. The standard errors and intervals above do not apply to them.
    pub fn projected(&self) -> Vec<f64> {
        nearest_on_simplex(&self.unbiased())
    }

    fn estimate(&self, count: u64) -> f64 {
        let share = Enclosure::from(count) / Enclosure::from(self.records);
        ((share - self.support.other) / self.support.gap).midpoint()
    }

    fn certain_interval(&self, count: u64, error: Enclosure) -> Interval {
        let Interval { lower, upper } = Proportion { count, records: self.records }.interval(error);
        let frequency = |share: f64| (Enclosure::from(share) - self.support.other) / self.support.gap;
        Interval {
            lower: frequency(lower).lower().clamp(0.0, 1.0),
            upper: frequency(upper).upper().clamp(0.0, 1.0),
        }
    }

    fn error_of_each(&self, confidence: Probability, family: Family) -> Result<Enclosure, Error> {
        let error = error_probability(confidence)?;
        Ok(match family {
            Family::Single => error,
            Family::Simultaneous => error / Enclosure::from(self.counts.len() as u64),
        })
    }
}

/// The variance of (c/n − q)/(p − q) for a category of frequency f, exactly
///
/// ```text
/// [f·p(1 − p) + (1 − f)·q(1 − q)]/(n(p − q)²)        among those who reported,
/// ```
///
/// and f(1 − f)/n more in the population from which they are drawn.
pub fn variance(support: Support, frequency: Enclosure, records: u64, of: Target) -> Enclosure {
    let coin = |p: Enclosure| p * (Enclosure::ONE - p);
    let rest = Enclosure::ONE - frequency;
    let reports = frequency * coin(support.truth) + rest * coin(support.other);
    let sampling = match of {
        Target::Records => Enclosure::ZERO,
        Target::Population => frequency * rest,
    };
    (reports / support.gap.square() + sampling) / Enclosure::from(records)
}

/// Checks that there are reports, and that the counters fit the mechanism.
pub(super) fn check(oracle: &dyn FrequencyOracle, counters: &[u64], records: u64) -> Result<(), Error> {
    if records == 0 {
        return Err(Error::Empty { what: "the sample".to_owned(), missing: "report" });
    }
    if records > 1 << 53 {
        let (name, value) = ("the number of reports", records as f64);
        return Err(Error::OutOfRange { name, value, accepted: "at most 2^53" });
    }
    if counters.len() != oracle.counters() {
        return Err(Error::LengthMismatch {
            what: "the counters".to_owned(),
            found: counters.len(),
            expected: oracle.counters(),
            like: format!("the mechanism \"{}\"", oracle.id()),
        });
    }
    Ok(())
}
