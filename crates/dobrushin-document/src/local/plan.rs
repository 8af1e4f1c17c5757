//! Which mechanism is best, and how many people it takes.

use super::Answers;
use crate::DocumentError;
use crate::json::Number;
use crate::report::{PlanReport, PlansReport};
use dobrushin::numeric::decimal as number;
use dobrushin::{Enclosure, Positive, Probability};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::estimate::{Accuracy, Plan, frequency_plans, mean_plans, vector_plans};
use dobrushin_local::mean::Target;
use dobrushin_local::risk::Ball;

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct PlanWishes {
    /// The promise to everybody who answers.
    pub promise: LocalPrivacy,
    /// The number of people who report; the answer is the error to expect.
    pub records: Option<u64>,
    /// The standard error that is wanted; the answer is the number of people.
    pub error: Option<Positive>,
}

/// Every mechanism that can keep the promise, best first.
pub fn plans(answers: &Answers, wishes: &PlanWishes) -> Result<PlansReport, DocumentError> {
    let (what, plans) = match answers {
        Answers::Category(categories) => {
            let count = categories.count();
            (format!("the frequencies of {count} categories"), frequencies(count, wishes)?)
        }
        Answers::Number(bounds) => {
            let [low, high] = [bounds.lower(), bounds.upper()].map(number::plain);
            let plans = mean_plans(*bounds, wishes.promise, accuracy(wishes)?, Target::Population)?;
            let plans = plans.into_iter().map(|plan| row(plan, None, wishes)).collect();
            (format!("a mean of numbers from {low} to {high}"), plans)
        }
        Answers::Vector(Ball { radius, dimension }) => {
            // If the number of records is given, the errors follow from it, whatever is wanted.
            let wanted = wishes.error.unwrap_or(*radius);
            let plans = vector_plans(*dimension, *radius, wishes.promise, wanted)?;
            let plans = plans.into_iter().map(|plan| row(plan, None, wishes)).collect();
            let radius = number::plain(radius.get());
            (format!("a mean of vectors of norm up to {radius} in {dimension} dimensions"), plans)
        }
    };
    Ok(PlansReport::new(wishes.promise, what, plans))
}

/// A mechanism's row, from what it needs and the standard deviation of a report about the worst category.
fn row(plan: Plan, worst: Option<f64>, wishes: &PlanWishes) -> PlanReport {
    let records = wishes.records.unwrap_or(plan.records);
    let root = Enclosure::from(records as f64).sqrt();
    let error = |deviation: f64| Number((Enclosure::from(deviation) / root).upper());
    PlanReport {
        mechanism: plan.mechanism,
        records,
        standard_error: error(plan.standard_deviation),
        of_one_category: worst.map(error),
    }
}

/// What is wanted; if the number of records is given, anything, because the errors follow from it.
fn accuracy(wishes: &PlanWishes) -> Result<Accuracy, DocumentError> {
    let coarse = Positive::new(1e6)?;
    Ok(Accuracy::StandardError(wishes.error.unwrap_or(coarse)))
}

/// The variance of the estimate of a frequency is concave in the frequency, and the frequencies add up to 1. So its
/// mean over the categories is largest if all frequencies are equal.
fn frequencies(categories: u32, wishes: &PlanWishes) -> Result<Vec<PlanReport>, DocumentError> {
    let (privacy, accuracy) = (wishes.promise, accuracy(wishes)?);
    let plans = |frequency: f64| -> Result<Vec<Plan>, DocumentError> {
        let frequency = Probability::new(frequency)?;
        Ok(frequency_plans(categories, privacy, frequency, accuracy, Target::Population)?)
    };
    let worst = plans(1.0)?;
    let one = |plan: Plan| {
        let same = worst.iter().find(|worst| worst.mechanism == plan.mechanism);
        row(plan, same.map(|plan| plan.standard_deviation), wishes)
    };
    Ok(plans(1.0 / f64::from(categories))?.into_iter().map(one).collect())
}
