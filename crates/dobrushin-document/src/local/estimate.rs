//! What private reports tell: frequencies, a mean, or a mean vector.

use super::{Batch, Categories, Mechanism};
use crate::DocumentError;
use crate::json::Number;
use crate::report::{Estimate, FrequenciesReport, FrequencyReport, MeanReport, QuantileReport, VectorReport};
use dobrushin::{Error, Probability};
use dobrushin_local::estimate::{
    CdfEstimator, Family, Frequencies, Interval, Inversion, MeanEstimator, Method, Stop, VectorEstimator,
    maximum_likelihood,
};
use dobrushin_local::frequency::FrequencyOracle;
use dobrushin_local::mean::Target;

/// What is wanted.
#[derive(Clone, Debug)]
pub struct EstimateWishes {
    /// The probability that an interval covers the true value.
    pub confidence: Probability,
    /// Whether the intervals of all frequencies or coordinates cover at once.
    pub simultaneous: bool,
    /// How frequencies are estimated.
    pub method: EstimateMethod,
    /// The levels of quantiles, for numbers in bins.
    pub quantiles: Vec<Probability>,
}

/// How frequencies are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimateMethod {
    /// Right on average; may be negative.
    Unbiased,
    /// The nearest frequencies that are not negative and add up to 1.
    Projected,
    /// The frequencies that make the reports most likely.
    MaximumLikelihood,
}

/// What the reports on the answers in some columns say.
pub fn estimate(
    columns: &[String],
    mechanism: &Mechanism,
    tally: &Tally,
    wishes: &EstimateWishes,
) -> Result<Estimate, DocumentError> {
    if tally.reports() == 0 {
        let name = columns.join(", ");
        return Err(DocumentError::new(format!("nobody answered the question about {name}"))
            .help("there must be at least one report on each question"));
    }
    Ok(match (mechanism, tally) {
        (Mechanism::Frequency(oracle, categories), Tally::Counters(counters, reports, cdf)) => {
            let mut found = frequencies(oracle.as_ref(), categories, counters, *reports, wishes)?;
            found.quantiles = cdf.as_ref().map(|cdf| quantiles(cdf, wishes)).transpose()?;
            Estimate::Frequencies(found)
        }
        (_, Tally::Mean(estimator, _)) => Estimate::Mean(mean(estimator, wishes)?),
        (_, Tally::Vector(estimator)) => Estimate::Vector(vector(columns, estimator, wishes)?),
        _ => return Err(DocumentError::new("the reports are of another mechanism")),
    })
}

/// A frequency for each category, with what is known about it.
fn frequencies(
    oracle: &dyn FrequencyOracle,
    categories: &Categories,
    counters: &[u64],
    reports: u64,
    wishes: &EstimateWishes,
) -> Result<FrequenciesReport, DocumentError> {
    let family = if wishes.simultaneous { Family::Simultaneous } else { Family::Single };
    let counted = Counted::new(oracle, counters, reports);
    // These intervals cover the true frequencies, however those are estimated.
    let certain = counted.as_ref().ok();
    let certain = certain.map(|counted| counted.certain_intervals(wishes.confidence, family)).transpose()?;
    // The standard errors and normal intervals are those of unbiased estimates.
    let mut errors: Option<(Vec<f64>, Vec<Interval>)> = None;
    let mut notes = Vec::new();
    let (method, frequencies) = match wishes.method {
        EstimateMethod::Unbiased => {
            let counted = counted.map_err(|error| impossible(&error, "maximum-likelihood"))?;
            let normal = counted.normal_intervals(wishes.confidence, family)?;
            errors = Some((counted.standard_errors(), normal));
            ("unbiased", counted.unbiased())
        }
        EstimateMethod::Projected => {
            let counted = counted.map_err(|error| impossible(&error, "maximum-likelihood"))?;
            ("projected", counted.projected())
        }
        EstimateMethod::MaximumLikelihood => {
            let stop = Stop::default();
            let found = maximum_likelihood(oracle, counters, reports, stop)
                .map_err(|error| impossible(&error, "projected"))?;
            notes.extend((found.gap > stop.gap).then(|| {
                format!(
                    "It was stopped after {} steps: the mean log-likelihood may be {:.1e} below the largest.",
                    found.steps, found.gap
                )
            }));
            ("maximum-likelihood", found.frequencies)
        }
    };
    let row = |(index, frequency): (usize, f64)| FrequencyReport {
        category: categories.name(index as u32),
        frequency: Number(frequency),
        standard_error: errors.as_ref().map(|(errors, _)| Number(errors[index])),
        interval: errors.as_ref().map(|(_, normal)| normal[index].into()),
        certain_interval: certain.as_ref().map(|certain| certain[index].into()),
    };
    let frequencies: Vec<FrequencyReport> =
        frequencies.into_iter().take(categories.count() as usize).enumerate().map(row).collect();
    let simultaneous = wishes.simultaneous;
    Ok(FrequenciesReport { method, simultaneous, frequencies, quantiles: None, notes })
}

/// The unbiased estimates of a mechanism: from what its reports support, or by inverting it.
enum Counted {
    Supported(Frequencies),
    Inverted(Inversion),
}

impl Counted {
    fn new(oracle: &dyn FrequencyOracle, counters: &[u64], reports: u64) -> Result<Self, Error> {
        match oracle.support() {
            Some(_) => Frequencies::new(oracle, counters, reports).map(Self::Supported),
            None => Inversion::new(oracle, counters, reports).map(Self::Inverted),
        }
    }

    fn unbiased(&self) -> Vec<f64> {
        match self {
            Self::Supported(counted) => counted.unbiased(),
            Self::Inverted(counted) => counted.unbiased().to_vec(),
        }
    }

    fn projected(&self) -> Vec<f64> {
        match self {
            Self::Supported(counted) => counted.projected(),
            Self::Inverted(counted) => counted.projected(),
        }
    }

    fn standard_errors(&self) -> Vec<f64> {
        match self {
            Self::Supported(counted) => counted.standard_errors(Target::Population),
            Self::Inverted(counted) => counted.standard_errors(),
        }
    }

    fn normal_intervals(&self, confidence: Probability, family: Family) -> Result<Vec<Interval>, Error> {
        match self {
            Self::Supported(counted) => counted.normal_intervals(confidence, family, Target::Population),
            Self::Inverted(counted) => counted.normal_intervals(confidence, family),
        }
    }

    fn certain_intervals(&self, confidence: Probability, family: Family) -> Result<Vec<Interval>, Error> {
        match self {
            Self::Supported(counted) => counted.certain_intervals(confidence, family),
            Self::Inverted(counted) => counted.certain_intervals(confidence, family),
        }
    }
}

/// Says that the mechanism does not have this estimate.
fn impossible(error: &Error, instead: &str) -> DocumentError {
    DocumentError::new(error.to_string()).help(format!("--method {instead} is possible"))
}

/// Quantiles of numbers that were reported in bins.
fn quantiles(
    estimator: &CdfEstimator,
    wishes: &EstimateWishes,
) -> Result<Vec<QuantileReport>, DocumentError> {
    let cdf = estimator.estimate(wishes.confidence, Method::Certain)?;
    let quantile = |level: &Probability| QuantileReport::new(level.get(), &cdf.quantile(*level));
    Ok(wishes.quantiles.iter().map(quantile).collect())
}

/// The mean, its standard error, and two intervals.
fn mean(estimator: &MeanEstimator, wishes: &EstimateWishes) -> Result<MeanReport, DocumentError> {
    only_unbiased(wishes)?;
    Ok(MeanReport::from(&estimator.estimate(wishes.confidence, Target::Population)?))
}

/// The mean of the vectors, and of each coordinate.
fn vector(
    columns: &[String],
    estimator: &VectorEstimator,
    wishes: &EstimateWishes,
) -> Result<VectorReport, DocumentError> {
    only_unbiased(wishes)?;
    let family = if wishes.simultaneous { Family::Simultaneous } else { Family::Single };
    let coordinates = estimator.coordinates(wishes.confidence, family)?;
    let whole = estimator.estimate(wishes.confidence)?;
    Ok(VectorReport::new(columns, &coordinates, wishes.simultaneous, &whole))
}

/// Refuses what is for frequencies.
fn only_unbiased(wishes: &EstimateWishes) -> Result<(), DocumentError> {
    match wishes.method {
        EstimateMethod::Unbiased => Ok(()),
        _ => Err(DocumentError::new("--method is for frequencies, and these reports are numbers")
            .help("the mean of the reports is unbiased: leave out --method")),
    }
}

/// The total of some reports, which does not depend on the batches in which they are read.
pub enum Tally<'a> {
    /// How often each counter was counted, the number of reports, and their distribution if they are numbers in bins.
    Counters(Vec<u64>, u64, Option<Box<CdfEstimator<'a>>>),
    /// The sum and spread of the reports, and their number.
    Mean(MeanEstimator<'a>, u64),
    /// The sum of the decoded reports.
    Vector(VectorEstimator<'a>),
}

/// What a batch adds. Many cores count at the same time, but numbers are added one after another, because rounding
/// depends on the order.
pub enum Part<'a> {
    /// Counted reports.
    Counted(Tally<'a>),
    /// Reported numbers.
    Numbers(Vec<f64>),
    /// Reported numbers, and how often each of them was reported.
    Repeated(Vec<(f64, u64)>),
    /// Decoded reports, one after another.
    Vectors(Vec<f64>, usize),
}

impl<'a> Part<'a> {
    /// What a batch of reports of a mechanism adds.
    pub fn of(mechanism: &'a Mechanism, batch: Batch) -> Self {
        let mut tally = Tally::new(mechanism);
        match (&mut tally, mechanism, batch) {
            (_, _, Batch::Numbers(numbers)) => return Self::Numbers(numbers),
            (_, Mechanism::Vector(mechanism), Batch::Words(words, _)) => {
                let decoded = words.as_chunks().0.iter().flat_map(|report| mechanism.vector(*report));
                return Self::Vectors(decoded.collect(), mechanism.dimension().get() as usize);
            }
            (
                Tally::Counters(counters, reports, cdf),
                Mechanism::Frequency(oracle, _),
                Batch::Words(words, width),
            ) => {
                oracle.count_all(&words, counters);
                if let Some(cdf) = cdf {
                    words.chunks_exact(width).for_each(|report| cdf.add(report));
                }
                *reports += (words.len() / width) as u64;
            }
            // The words were read for this mechanism.
            _ => {}
        }
        Self::Counted(tally)
    }
}

impl<'a> Tally<'a> {
    /// No reports yet.
    pub fn new(mechanism: &'a Mechanism) -> Self {
        match mechanism {
            Mechanism::Frequency(oracle, categories) => {
                let bins = categories.bins();
                let cdf = bins.and_then(|bins| CdfEstimator::new(bins, oracle.as_ref()).ok().map(Box::new));
                Self::Counters(vec![0; oracle.counters()], 0, cdf)
            }
            Mechanism::Mean(mechanism) => Self::Mean(MeanEstimator::new(mechanism.as_ref()), 0),
            Mechanism::Vector(mechanism) => Self::Vector(VectorEstimator::new(mechanism.as_ref())),
        }
    }

    /// Adds what a batch adds.
    pub fn add(&mut self, part: &Part<'a>) {
        match (self, part) {
            (Self::Counters(counters, reports, cdf), Part::Counted(Tally::Counters(others, more, other))) => {
                if let (Some(cdf), Some(other)) = (cdf, other) {
                    cdf.merge(other);
                }
                counters.iter_mut().zip(others).for_each(|(counter, other)| *counter += other);
                *reports += more;
            }
            (Self::Mean(estimator, reports), Part::Numbers(numbers)) => {
                // The reports were checked to be of this mechanism.
                numbers.iter().for_each(|&report| estimator.add(report).unwrap_or(()));
                *reports += numbers.len() as u64;
            }
            (Self::Mean(estimator, reports), Part::Repeated(numbers)) => {
                for &(report, times) in numbers {
                    estimator.add_times(report, times).unwrap_or(());
                    *reports += times;
                }
            }
            (Self::Vector(estimator), Part::Vectors(vectors, dimension)) => {
                vectors.chunks_exact(*dimension).for_each(|vector| estimator.add_decoded(vector));
            }
            // All parts are of the same mechanism.
            _ => {}
        }
    }

    /// The number of reports.
    pub fn reports(&self) -> u64 {
        match self {
            Self::Counters(_, reports, _) | Self::Mean(_, reports) => *reports,
            Self::Vector(estimator) => estimator.records(),
        }
    }
}
