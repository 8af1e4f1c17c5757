//! `dobrushin local plan`: which mechanism is best, and how many people it takes.

use super::arguments::PlanArgs;
use crate::local_data::Answers;
use crate::output::Report;
use crate::problem::Problem;
use dobrushin::numeric::decimal as number;
use dobrushin::{Enclosure, Positive, Probability};
use dobrushin_document::json::number as json_number;
use dobrushin_document::text::{Text, aligned};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::estimate::{Accuracy, Plan, frequency_plans, mean_plans};
use dobrushin_local::mean::Target;
use serde_json::{Value, json};

/// Every mechanism that can keep the promise, the best first.
pub fn run(arguments: &PlanArgs) -> Result<Report, Problem> {
    let answers = arguments.answers.declared()?.ok_or_else(|| {
        Problem::new("what people answer is not declared: categories or numbers?").help(
            "--categories K, --values A,B,… or --categories-file FILE for categories, --bounds LOW,HIGH for numbers",
        )
    })?;
    let mut rows: Vec<Row> = match &answers {
        Answers::Category(categories) => frequencies(categories.count(), arguments)?,
        Answers::Number(bounds) => {
            let plans = mean_plans(*bounds, privacy(arguments), accuracy(arguments)?, Target::Population)?;
            plans.into_iter().map(|plan| Row::new(plan, None, arguments)).collect()
        }
    };
    rows.sort_by(|a, b| a.records.cmp(&b.records).then(a.error.total_cmp(&b.error)));
    let what = match &answers {
        Answers::Category(categories) => format!("the frequencies of {} categories", categories.count()),
        Answers::Number(bounds) => {
            let [low, high] = [bounds.lower(), bounds.upper()].map(number::plain);
            format!("a mean of numbers from {low} to {high}")
        }
    };
    Ok(report(&rows, &what, arguments))
}

/// What a mechanism needs, and what comes of it.
struct Row {
    mechanism: &'static str,
    records: u64,
    /// The largest standard error, whatever people answer: of the mean, or of the frequencies as the root of the mean
    /// square over all categories.
    error: f64,
    /// That of a single category.
    single: Option<f64>,
}

impl Row {
    /// From what a mechanism needs, and the standard deviation of a report about the worst category.
    fn new(plan: Plan, worst: Option<f64>, arguments: &PlanArgs) -> Self {
        let records = arguments.records.unwrap_or(plan.records);
        let root = Enclosure::from(records as f64).sqrt();
        let error = |deviation: f64| (Enclosure::from(deviation) / root).upper();
        let (error, single) = (error(plan.standard_deviation), worst.map(error));
        Self { mechanism: plan.mechanism, records, error, single }
    }

    fn json(&self) -> Value {
        let mut fields = json!({
            "mechanism": self.mechanism,
            "records": self.records,
            "standard_error": json_number(self.error),
        });
        if let Some(single) = self.single {
            fields["standard_error_of_one_category"] = json_number(single);
        }
        fields
    }
}

fn privacy(arguments: &PlanArgs) -> LocalPrivacy {
    LocalPrivacy { epsilon: arguments.epsilon, delta: arguments.delta }
}

/// What is wanted; with a number of records, anything, as the errors follow from that.
fn accuracy(arguments: &PlanArgs) -> Result<Accuracy, Problem> {
    let coarse = Positive::new(1e6)?;
    Ok(Accuracy::StandardError(arguments.error.unwrap_or(coarse)))
}

/// The variance of the estimate of a frequency is concave in the frequency, and all frequencies add up to 1: its mean
/// over the categories is largest if all are equal.
fn frequencies(categories: u32, arguments: &PlanArgs) -> Result<Vec<Row>, Problem> {
    let (privacy, accuracy) = (privacy(arguments), accuracy(arguments)?);
    let plans = |frequency: f64| -> Result<Vec<Plan>, Problem> {
        let frequency = Probability::new(frequency)?;
        Ok(frequency_plans(categories, privacy, frequency, accuracy, Target::Population)?)
    };
    let worst = plans(1.0)?;
    let row = |plan: Plan| {
        let same = worst.iter().find(|worst| worst.mechanism == plan.mechanism);
        Row::new(plan, same.map(|plan| plan.standard_deviation), arguments)
    };
    Ok(plans(1.0 / f64::from(categories))?.into_iter().map(row).collect())
}

fn report(rows: &[Row], what: &str, arguments: &PlanArgs) -> Report {
    let mut text = Text::default();
    let cell = |value: f64| number::briefly(Enclosure::from(value));
    let [epsilon, delta] = [arguments.epsilon.get(), arguments.delta.get()];
    if let Some(best) = rows.first() {
        text.answer(format!(
            "Best for {what} at epsilon = {}, delta = {}: {}\n{} reports have a standard error of at most {}",
            number::plain(epsilon),
            number::plain(delta),
            best.mechanism,
            best.records,
            cell(best.error),
        ));
    }
    let header = ["mechanism", "records", "standard error"].map(str::to_owned).to_vec();
    let single = rows.iter().any(|row| row.single.is_some()).then(|| "of one category".to_owned());
    let lines = rows.iter().map(|row| {
        let cells = [row.mechanism.to_owned(), row.records.to_string(), cell(row.error)];
        cells.into_iter().chain(row.single.map(cell)).collect()
    });
    text.answer(aligned(header.into_iter().chain(single).collect(), lines));
    let of_frequencies = match rows.iter().any(|row| row.single.is_some()) {
        true => {
            " That of frequencies is the root of the mean square over all\n\
             categories; \"of one category\" is the largest that a single one can have."
        }
        false => "",
    };
    text.explanation(format!(
        "All keep the same promise to everybody who reports. A standard error is the largest, whatever people answer,\n\
         if they are drawn from a larger population.{of_frequencies}",
    ));
    let json = json!({
        "best": rows.first().map(|row| row.mechanism),
        "epsilon": epsilon,
        "delta": delta,
        "plans": rows.iter().map(Row::json).collect::<Value>(),
    });
    Report::new(text, json)
}
