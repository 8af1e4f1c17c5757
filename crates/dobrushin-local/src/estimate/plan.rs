//! How many people have to report for a given accuracy.

use super::frequencies::variance;
use super::{Method, chernoff, error_probability, normal_quantile};
use crate::LocalPrivacy;
use crate::frequency::{self, Support};
use crate::mean::{self, Bounds, HalfSphere, MeanMechanism, PrivUnit, Target, VectorMechanism};
use dobrushin::{Enclosure, Error, Positive, Probability};
use std::num::NonZeroU32;

/// The accuracy required of an estimate.
///
/// ```
/// use dobrushin::{Epsilon, Positive};
/// use dobrushin_local::estimate::{Accuracy, mean_records};
/// use dobrushin_local::mean::{Bounds, OneBit, Target};
///
/// let mechanism = OneBit::new(Bounds::new(0.0, 1.0)?, Epsilon::new(1.0)?)?;
/// let records = |error| -> Result<f64, dobrushin::Error> {
///     let accuracy = Accuracy::StandardError(Positive::new(error)?);
///     Ok(mean_records(&mechanism, accuracy, Target::Population)? as f64)
/// };
/// // Half of the error takes four times as many reports.
/// assert!((records(0.005)? / records(0.01)? - 4.0).abs() < 1e-3);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// A standard error of at most this.
    StandardError(Positive),
    /// An interval of at most this to either side of the estimate.
    HalfWidth {
        /// Half its length.
        width: Positive,
        /// The confidence that it covers.
        confidence: Probability,
        /// What the coverage relies on.
        method: Method,
    },
}

/// The reports that a mechanism needs.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Positive};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::estimate::{Accuracy, mean_plans};
/// use dobrushin_local::mean::{Bounds, Target};
///
/// let privacy = LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? };
/// let accuracy = Accuracy::StandardError(Positive::new(0.01)?);
/// // (standard deviation/error)² reports suffice.
/// for plan in mean_plans(Bounds::new(0.0, 1.0)?, privacy, accuracy, Target::Population)? {
///     let known = (plan.standard_deviation / 0.01).powi(2);
///     assert!((plan.records as f64 / known - 1.0).abs() < 1e-3, "{}", plan.mechanism);
/// }
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The mechanism's name.
    pub mechanism: &'static str,
    /// The number of reports that suffices for any values.
    pub records: u64,
    /// The largest standard deviation of one report.
    pub standard_deviation: f64,
}

/// The number of reports that every mechanism that can be calibrated to (ε, δ) needs for a mean; the best comes first.
///
/// # Errors
/// [`Error::OutOfRange`] for a confidence of 0 or 1, an ε to which no mechanism can be calibrated, or an accuracy that
/// needs more than 10¹⁸ reports.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Positive};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::estimate::{Accuracy, mean_plans};
/// use dobrushin_local::mean::{Bounds, Target};
///
/// let privacy = LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? };
/// let accuracy = Accuracy::StandardError(Positive::new(0.01)?);
/// let plans = mean_plans(Bounds::new(0.0, 1.0)?, privacy, accuracy, Target::Population)?;
/// // The best comes first. Gaussian noise needs a δ, and is not among them.
/// assert!(plans.is_sorted_by_key(|plan| plan.records));
/// assert!(plans.iter().all(|plan| plan.mechanism != "gaussian"));
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn mean_plans(
    bounds: Bounds,
    privacy: LocalPrivacy,
    accuracy: Accuracy,
    of: Target,
) -> Result<Vec<Plan>, Error> {
    let LocalPrivacy { epsilon, delta } = privacy;
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

/// The number of reports that every mechanism for vectors in a ball of this radius needs for their mean, where the error
/// is the Euclidean distance; the best comes first.
///
/// Each coordinate may also be reported for itself, with an equal share of ε and δ: these plans are named after the
/// mechanism for numbers, as in "laplace, each coordinate".
///
/// # Guarantee
/// The mean squared distance is B² for reports of norm B, and at most d times the largest variance of a number between
/// −r and r for coordinates.
///
/// # Errors
/// [`Error::OutOfRange`] for an ε to which no mechanism can be calibrated, a radius outside 1e-100 to 1e100, or an error
/// that needs more than 10¹⁸ reports.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Positive};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::estimate::vector_plans;
///
/// let privacy = LocalPrivacy { epsilon: Epsilon::new(4.0)?, delta: Delta::new(0.0)? };
/// let plans = vector_plans(10.try_into()?, Positive::new(1.0)?, privacy, Positive::new(0.01)?)?;
/// assert_eq!(plans.first().map(|plan| plan.mechanism), Some("priv-unit"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn vector_plans(
    dimension: NonZeroU32,
    radius: Positive,
    privacy: LocalPrivacy,
    error: Positive,
) -> Result<Vec<Plan>, Error> {
    let plan = |mechanism: &'static str, variance: Enclosure| {
        let records = records(Accuracy::StandardError(error), variance, |_| Enclosure::INFINITE)?;
        Ok(Plan { mechanism, records, standard_deviation: variance.sqrt().upper() })
    };
    let half = HalfSphere::new(dimension, radius, privacy.epsilon)?;
    let mut plans = vec![plan(VectorMechanism::id(&half), half.length().square())?];
    // It is not made in very many dimensions.
    if let Ok(cap) = PrivUnit::new(dimension, radius, privacy.epsilon) {
        plans.push(plan(cap.id(), cap.length().square())?);
    }
    let (bounds, part) = (Bounds::new(-radius.get(), radius.get())?, privacy.part(1, dimension)?);
    let names = mean::IDS.iter().zip(EACH_COORDINATE);
    for (id, name) in names.filter(|(id, _)| **id != "gaussian" || part.delta.get() > 0.0) {
        // Left out: a share of ε or δ for which there is no mechanism, or which takes more than 10¹⁸ reports.
        let one = mean::by_id(id, bounds, part.epsilon, part.delta)
            .map(|mechanism| mechanism.worst_variance(Target::Population));
        plans.extend(one.and_then(|one| plan(name, one * Enclosure::from(f64::from(dimension.get())))));
    }
    plans.sort_by_key(|plan| plan.records);
    Ok(plans)
}

/// What the plans are called that use a mechanism for numbers, in the order of [`mean::IDS`].
const EACH_COORDINATE: [&str; 5] = [
    "one-bit, each coordinate",
    "piecewise, each coordinate",
    "hybrid, each coordinate",
    "laplace, each coordinate",
    "gaussian, each coordinate",
];

/// The number of reports of a mechanism that suffices for a mean, for any values.
///
/// # Errors
/// [`Error::OutOfRange`] for a confidence of 0 or 1, and if more than 10¹⁸ reports are needed.
///
/// ```
/// use dobrushin::{Epsilon, Positive};
/// use dobrushin_local::estimate::{Accuracy, mean_records};
/// use dobrushin_local::mean::{Bounds, OneBit, Target};
///
/// // tanh(ε/2) = 1/2: reports are 1/2 ± 1, with a standard deviation of at most 1.
/// let mechanism = OneBit::new(Bounds::new(0.0, 1.0)?, Epsilon::new(3_f64.ln())?)?;
/// let accuracy = Accuracy::StandardError(Positive::new(0.01)?);
/// let records = mean_records(&mechanism, accuracy, Target::Population)?;
/// assert!((records as f64 / 10_000.0 - 1.0).abs() < 1e-3);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn mean_records(mechanism: &dyn MeanMechanism, accuracy: Accuracy, of: Target) -> Result<u64, Error> {
    records(accuracy, mechanism.worst_variance(of), |t| mechanism.log_moment(t, of))
}

/// The number of reports that every named mechanism needs for the frequency of a category among k, if it is at most
/// `frequency`; the best comes first.
///
/// # Errors
/// [`Error::OutOfRange`] for a confidence of 0 or 1, an ε, δ or k to which no mechanism can be calibrated, or an
/// accuracy that needs more than 10¹⁸ reports.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Positive, Probability};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::estimate::{Accuracy, frequency_plans};
/// use dobrushin_local::mean::Target;
///
/// let privacy = LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? };
/// let accuracy = Accuracy::StandardError(Positive::new(0.01)?);
/// let plans = frequency_plans(1000, privacy, Probability::new(0.01)?, accuracy, Target::Population)?;
/// // Among many categories randomised response is the worst.
/// assert!(plans.is_sorted_by_key(|plan| plan.records));
/// assert_eq!(plans.last().map(|plan| plan.mechanism), Some("k-rr"));
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn frequency_plans(
    categories: u32,
    privacy: LocalPrivacy,
    frequency: Probability,
    accuracy: Accuracy,
    of: Target,
) -> Result<Vec<Plan>, Error> {
    let mut plans = Vec::with_capacity(frequency::IDS.len());
    for id in frequency::IDS {
        let Some(oracle) = frequency::by_id(id, categories, privacy.epsilon, privacy.delta).transpose()?
        else {
            continue;
        };
        if let Some(support) = oracle.support() {
            let standard_deviation = worst_variance(support, frequency, of).sqrt().upper();
            let records = frequency_records(support, frequency, accuracy, of)?;
            plans.push(Plan { mechanism: oracle.id(), records, standard_deviation });
        }
    }
    plans.sort_by_key(|plan| plan.records);
    Ok(plans)
}

/// The number of reports that suffices for the unbiased estimate of the frequency of a category, if it is at most
/// `frequency`.
///
/// # Errors
/// [`Error::OutOfRange`] for a confidence of 0 or 1, and if more than 10¹⁸ reports are needed.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Positive, Probability};
/// use dobrushin_local::estimate::{Accuracy, frequency_records};
/// use dobrushin_local::frequency::{FrequencyOracle, Response};
/// use dobrushin_local::mean::Target;
///
/// // The truth 3 times in 4: p(1 − p)/(p − q)² is (3/16)·4 = 3/4 for each of those who reported.
/// let support = Response::new(2, Epsilon::new(3_f64.ln())?, Delta::new(0.0)?)?.support().ok_or("it has one")?;
/// let accuracy = Accuracy::StandardError(Positive::new(0.01)?);
/// let records = frequency_records(support, Probability::new(1.0)?, accuracy, Target::Records)?;
/// assert!((records as f64 / 7500.0 - 1.0).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn frequency_records(
    support: Support,
    frequency: Probability,
    accuracy: Accuracy,
    of: Target,
) -> Result<u64, Error> {
    let variance = worst_variance(support, frequency, of);
    records(accuracy, variance, |t| {
        // Hoeffding and Bennett apply, since the report of one person adds 1/(p − q) or nothing.
        let x = Enclosure::from(t) / support.gap;
        let by_variance = variance * support.gap.square() * (x.exp_m1() - x).positive_part();
        (x.square() / Enclosure::from(8.0)).min(by_variance)
    })
}

/// The largest variance of one report's estimate for frequencies up to the given one.
///
/// Among those who reported, it is linear in the frequency. In the population, it is s(1 − s)/(p − q)² with s = q +
/// f·(p − q), which is largest at one of the ends, unless s = 1/2 is between them.
fn worst_variance(support: Support, frequency: Probability, of: Target) -> Enclosure {
    let ends = [Enclosure::ZERO, frequency.into()].map(|f| variance(support, f, 1, of));
    let most = support.other + Enclosure::from(frequency) * support.gap;
    let between = support.other.lower() < 0.5 && most.upper() > 0.5;
    match of {
        Target::Population if between => Enclosure::from(0.25) / support.gap.square(),
        _ => ends[0].max(ends[1]),
    }
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
    if records.is_nan() || records > MOST_RECORDS {
        let accepted = "at most 1e18; ask for less accuracy, or allow a larger epsilon";
        return Err(Error::OutOfRange { name: "the number of records needed", value: records, accepted });
    }
    Ok((records as u64).max(1))
}

const MOST_RECORDS: f64 = 1e18;
