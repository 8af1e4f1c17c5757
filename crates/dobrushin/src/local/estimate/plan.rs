//! How many people have to report for a wanted accuracy.

use super::{Method, chernoff, error_probability, normal_quantile};
use crate::local::frequency::Support;
use crate::local::mean::{self, Bounds, MeanMechanism, Target};
use crate::{Delta, Enclosure, Epsilon, Error, Positive, Probability};

/// What is wanted of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// A standard error of at most this.
    StandardError(Positive),
    /// An interval of at most this to either side of the estimate.
    HalfWidth {
        /// Half its length.
        width: Positive,
        /// How likely it covers.
        confidence: Probability,
        /// How that is known.
        method: Method,
    },
}

/// What a mechanism needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The mechanism's name.
    pub mechanism: &'static str,
    /// How many reports suffice, whatever the values are.
    pub records: u64,
    /// The largest standard deviation of one report.
    pub standard_deviation: f64,
}

/// How many reports every mechanism that can be calibrated to (ε, δ) needs for a mean; the best comes first.
///
/// # Errors
/// [`Error::OutOfRange`] for a confidence of 0 or 1, an ε that no mechanism can be calibrated to, or an accuracy that
/// takes more than 10¹⁸ reports.
pub fn mean_plans(
    bounds: Bounds,
    epsilon: Epsilon,
    delta: Delta,
    accuracy: Accuracy,
    of: Target,
) -> Result<Vec<Plan>, Error> {
    let possible = mean::IDS.iter().filter(|id| **id != "gaussian" || delta.get() > 0.0);
    let mut plans = possible
        .map(|id| {
            let mechanism = mean::by_id(id, bounds, epsilon, delta)?;
            let standard_deviation = mechanism.worst_variance(of).sqrt().upper();
            let records = mean_records(mechanism.as_ref(), accuracy, of)?;
            Ok(Plan { mechanism: mechanism.id(), records, standard_deviation })
        })
        .collect::<Result<Vec<_>, Error>>()?;
    plans.sort_by_key(|plan| plan.records);
    Ok(plans)
}

/// How many reports of a mechanism suffice for a mean, whatever the values are.
///
/// # Errors
/// [`Error::OutOfRange`] for a confidence of 0 or 1, and if it takes more than 10¹⁸ reports.
pub fn mean_records(mechanism: &dyn MeanMechanism, accuracy: Accuracy, of: Target) -> Result<u64, Error> {
    records(accuracy, mechanism.worst_variance(of), |t| mechanism.log_moment(t, of))
}

/// How many reports suffice for the unbiased estimate of the frequency of a category, if that is at most `frequency`.
///
/// A report supports the category with probability s = q + f·(p − q), for the frequency f in the law that people are
/// drawn from, and the estimate has the variance s(1 − s)/(p − q)² per report. Of those who report, it is less.
///
/// # Errors
/// [`Error::OutOfRange`] for a confidence of 0 or 1, and if it takes more than 10¹⁸ reports.
pub fn frequency_records(support: Support, frequency: Probability, accuracy: Accuracy) -> Result<u64, Error> {
    let most = support.other + Enclosure::from(frequency) * support.gap;
    let half = Enclosure::from(0.5);
    // s(1 − s) is largest at 1/2, which may be between.
    let variance_at = |s: Enclosure| s * (Enclosure::ONE - s);
    let crosses = support.other.lower() < 0.5 && most.upper() > 0.5;
    let ends = variance_at(support.other).max(variance_at(most));
    let largest = if crosses { half.square() } else { ends };
    let (variance, range) = (largest / support.gap.square(), Enclosure::ONE / support.gap);
    records(accuracy, variance, |t| {
        // Hoeffding and Bennett, as the estimate is within the range 1/(p − q).
        let x = Enclosure::from(t) * range;
        let by_variance = largest * (x.exp_m1() - x).positive_part();
        (x.square() / Enclosure::from(8.0)).min(by_variance)
    })
}

fn records(
    accuracy: Accuracy,
    variance: Enclosure,
    log_moment: impl Fn(Positive) -> Enclosure,
) -> Result<u64, Error> {
    let by_variance = |width: Enclosure| (variance / width.square()).upper().ceil();
    let records = match accuracy {
        Accuracy::StandardError(wanted) => by_variance(wanted.into()),
        Accuracy::HalfWidth { width, confidence, method } => {
            let error = error_probability(confidence)?;
            match method {
                Method::Normal => {
                    by_variance(Enclosure::from(width) / Enclosure::from(normal_quantile(error)))
                }
                Method::Certain => chernoff::records(width, error, variance, log_moment),
            }
        }
    };
    if !(records <= MOST_RECORDS) {
        let accepted = "at most 1e18; ask for less accuracy, or allow a larger epsilon";
        return Err(Error::OutOfRange { name: "the number of records needed", value: records, accepted });
    }
    Ok((records as u64).max(1))
}

const MOST_RECORDS: f64 = 1e18;
