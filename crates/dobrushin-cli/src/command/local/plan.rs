//! `dobrushin local plan`: which mechanism is best, and how many people it takes.

use super::arguments::PlanArgs;
use crate::local_data::Answers;
use crate::output::Report;
use crate::problem::Problem;
use dobrushin::numeric::decimal as number;
use dobrushin::{Enclosure, Positive, Probability};
use dobrushin_document::csv;
use dobrushin_document::json::{self, Number};
use dobrushin_document::report::{PlanReport, PlansReport};
use dobrushin_document::text;
use dobrushin_local::LocalPrivacy;
use dobrushin_local::estimate::{Accuracy, Plan, frequency_plans, mean_plans, vector_plans};
use dobrushin_local::mean::Target;
use dobrushin_local::risk::Ball;

/// Every mechanism that can keep the promise, best first.
pub fn run(arguments: &PlanArgs) -> Result<Report, Problem> {
    let answers = arguments.answers.declared(None)?.ok_or_else(|| {
        Problem::new("what people answer is not declared: categories, numbers or vectors?").help(
            "--categories K, --values A,B,… or --categories-file FILE for categories, --bounds LOW,HIGH for numbers, \
             --radius R and --dimension D for vectors",
        )
    })?;
    let (what, plans) = match &answers {
        Answers::Category(categories) => {
            let count = categories.count();
            (format!("the frequencies of {count} categories"), frequencies(count, arguments)?)
        }
        Answers::Number(bounds) => {
            let [low, high] = [bounds.lower(), bounds.upper()].map(number::plain);
            let plans = mean_plans(*bounds, privacy(arguments), accuracy(arguments)?, Target::Population)?;
            let plans = plans.into_iter().map(|plan| row(plan, None, arguments)).collect();
            (format!("a mean of numbers from {low} to {high}"), plans)
        }
        Answers::Vector(Ball { radius, dimension }) => {
            // If the number of records is given, the errors follow from it, whatever is wanted.
            let wanted = arguments.error.unwrap_or(*radius);
            let plans = vector_plans(*dimension, *radius, privacy(arguments), wanted)?;
            let plans = plans.into_iter().map(|plan| row(plan, None, arguments)).collect();
            let radius = number::plain(radius.get());
            (format!("a mean of vectors of norm up to {radius} in {dimension} dimensions"), plans)
        }
    };
    let report = PlansReport::new(privacy(arguments), what, plans);
    Ok(Report::new(text::plans(&report), json::of(&report)).with_table(csv::plans(&report)))
}

/// A mechanism's row, from what it needs and the standard deviation of a report about the worst category.
fn row(plan: Plan, worst: Option<f64>, arguments: &PlanArgs) -> PlanReport {
    let records = arguments.records.unwrap_or(plan.records);
    let root = Enclosure::from(records as f64).sqrt();
    let error = |deviation: f64| Number((Enclosure::from(deviation) / root).upper());
    PlanReport {
        mechanism: plan.mechanism,
        records,
        standard_error: error(plan.standard_deviation),
        of_one_category: worst.map(error),
    }
}

fn privacy(arguments: &PlanArgs) -> LocalPrivacy {
    LocalPrivacy { epsilon: arguments.epsilon, delta: arguments.delta }
}

/// What is wanted; if the number of records is given, anything, because the errors follow from it.
fn accuracy(arguments: &PlanArgs) -> Result<Accuracy, Problem> {
    let coarse = Positive::new(1e6)?;
    Ok(Accuracy::StandardError(arguments.error.unwrap_or(coarse)))
}

/// The variance of the estimate of a frequency is concave in the frequency, and the frequencies add up to 1. So its
/// mean over the categories is largest if all frequencies are equal.
fn frequencies(categories: u32, arguments: &PlanArgs) -> Result<Vec<PlanReport>, Problem> {
    let (privacy, accuracy) = (privacy(arguments), accuracy(arguments)?);
    let plans = |frequency: f64| -> Result<Vec<Plan>, Problem> {
        let frequency = Probability::new(frequency)?;
        Ok(frequency_plans(categories, privacy, frequency, accuracy, Target::Population)?)
    };
    let worst = plans(1.0)?;
    let one = |plan: Plan| {
        let same = worst.iter().find(|worst| worst.mechanism == plan.mechanism);
        row(plan, same.map(|plan| plan.standard_deviation), arguments)
    };
    Ok(plans(1.0 / f64::from(categories))?.into_iter().map(one).collect())
}
