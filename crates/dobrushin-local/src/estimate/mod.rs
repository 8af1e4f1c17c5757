//! Estimates from private reports, with their accuracy.

mod chernoff;
mod frequencies;
mod inversion;
mod likelihood;
mod mean;
mod plan;
mod proportion;
mod quantiles;
mod simplex;
mod vector;

pub use frequencies::{Family, Frequencies, Interval, variance};
pub use inversion::Inversion;
pub use likelihood::{MaximumLikelihood, Stop, maximum_likelihood};
pub use mean::{MeanEstimate, MeanEstimator};
pub use plan::{Accuracy, Plan, frequency_plans, frequency_records, mean_plans, mean_records, vector_plans};
pub use quantiles::{Bins, CdfEstimate, CdfEstimator, QuantileEstimate};
pub use simplex::nearest_on_simplex;
pub use vector::{VectorEstimate, VectorEstimator};

use dobrushin::numeric::normal;
use dobrushin::{Enclosure, Error, Probability};

/// What the coverage of an interval relies on.
///
/// ```
/// use dobrushin::{Epsilon, Positive, Probability};
/// use dobrushin_local::estimate::{Accuracy, Method, mean_records};
/// use dobrushin_local::mean::{Bounds, OneBit, Target};
///
/// let mechanism = OneBit::new(Bounds::new(0.0, 1.0)?, Epsilon::new(1.0)?)?;
/// let records = |method| -> Result<u64, dobrushin::Error> {
///     let (width, confidence) = (Positive::new(0.01)?, Probability::new(0.95)?);
///     mean_records(&mechanism, Accuracy::HalfWidth { width, confidence, method }, Target::Population)
/// };
/// // To be certain takes more reports.
/// assert!(records(Method::Normal)? < records(Method::Certain)?);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// On the normal law that means of many reports approach.
    Normal,
    /// On an inequality that holds for every number of reports.
    Certain,
}

/// 1 − confidence, if the confidence is above 0 and below 1.
fn error_probability(confidence: Probability) -> Result<Enclosure, Error> {
    if !(confidence.get() > 0.0 && confidence.get() < 1.0) {
        let accepted = "above 0 and below 1, such as 0.95";
        return Err(Error::OutOfRange { name: "the confidence", value: confidence.get(), accepted });
    }
    Ok(Enclosure::ONE - Enclosure::from(confidence))
}

/// z with P(|N(0, 1)| > z) at most the given probability.
fn normal_quantile(error: Enclosure) -> f64 {
    Probability::new(error.lower() / 2.0).map_or(f64::INFINITY, |tail| normal::tail_inverse(tail).upper())
}
