//! `dobrushin local plan`: which mechanism is best, and how many people it takes.

use super::arguments::PlanArgs;
use crate::local_data::{Answers, Id, Mechanism, Specification};
use crate::output::{Report, Text, number as json_number, table};
use crate::problem::Problem;
use dobrushin::local::estimate::{Accuracy, frequency_records, mean_records};
use dobrushin::local::frequency::Support;
use dobrushin::local::mean::Target;
use dobrushin::numeric::decimal as number;
use dobrushin::{Enclosure, Positive, Probability};
use serde_json::{Value, json};

/// Every mechanism that can keep the promise, the best first.
pub fn run(arguments: &PlanArgs) -> Result<Report, Problem> {
    let answers = arguments.answers.declared()?.ok_or_else(|| {
        Problem::new("what people answer is not declared: categories or numbers?").help(
            "--categories K, --values A,B,… or --categories-file FILE for categories, --bounds LOW,HIGH for numbers",
        )
    })?;
    let mut plans = Vec::new();
    let mut refused = Vec::new();
    for id in Id::calibrated().filter(|id| id.is_for_numbers() == matches!(answers, Answers::Number(_))) {
        let (epsilon, delta, answers) = (arguments.epsilon, arguments.delta, answers.clone());
        let built = Specification { id, epsilon, delta, answers, truth: None, channel: None }.build();
        match built.and_then(|mechanism| Plan::of(id, &mechanism, arguments)) {
            Ok(plan) => plans.push(plan),
            Err(problem) => refused.push(problem),
        }
    }
    plans.sort_by(|a, b| a.any.total_cmp(&b.any));
    match (plans.first(), refused.into_iter().next()) {
        (Some(_), _) => Ok(report(&plans, &answers, arguments)),
        (None, Some(problem)) => Err(problem),
        (None, None) => Err(Problem::new("there is no mechanism for such answers")),
    }
}

/// What a mechanism promises of an estimate.
struct Plan {
    mechanism: String,
    /// How many people report.
    records: u64,
    /// The largest standard error, whatever people answer.
    any: f64,
    /// That of the frequency of a category that is very rare.
    rare: Option<f64>,
    /// The size of a report.
    words: usize,
}

impl Plan {
    fn of(id: Id, mechanism: &Mechanism, arguments: &PlanArgs) -> Result<Self, Problem> {
        let everybody = Probability::new(1.0)?;
        let words = mechanism.report_columns().len();
        let wanted = |error: Positive| Accuracy::StandardError(error);
        let (records, any, rare) = match mechanism {
            Mechanism::Frequency(oracle, _) => {
                let support = oracle.support().ok_or_else(|| Problem::new("the channel has no support"))?;
                let records = match arguments.error {
                    Some(error) => frequency_records(support, everybody, wanted(error))?,
                    None => arguments.records.unwrap_or(1),
                };
                (records, largest_variance(support), Some(variance(support, Enclosure::ZERO)))
            }
            Mechanism::Mean(mechanism) => {
                let records = match arguments.error {
                    Some(error) => mean_records(mechanism.as_ref(), wanted(error), Target::Population)?,
                    None => arguments.records.unwrap_or(1),
                };
                (records, mechanism.worst_variance(Target::Population), None)
            }
        };
        let standard_error =
            |variance: Enclosure| (variance / Enclosure::from(records as f64)).sqrt().upper();
        Ok(Self {
            mechanism: id.name(),
            records,
            any: standard_error(any),
            rare: rare.map(standard_error),
            words,
        })
    }

    fn json(&self) -> Value {
        let mut fields = json!({
            "mechanism": self.mechanism,
            "records": self.records,
            "standard_error": json_number(self.any),
            "report_words": self.words,
        });
        if let Some(rare) = self.rare {
            fields["standard_error_if_rare"] = json_number(rare);
        }
        fields
    }
}

/// s(1 − s)/(p − q)² with s = q + f·(p − q), for a category of frequency f.
fn variance(support: Support, frequency: Enclosure) -> Enclosure {
    let s = support.other + frequency * support.gap;
    s * (Enclosure::ONE - s) / support.gap.square()
}

/// The same for the worst frequency: s is as near to 1/2 as it can be.
fn largest_variance(support: Support) -> Enclosure {
    let half = Enclosure::from(0.5);
    let ends = variance(support, Enclosure::ZERO).max(variance(support, Enclosure::ONE));
    let crosses = support.other.lower() < 0.5 && support.truth.upper() > 0.5;
    if crosses { half.square() / support.gap.square() } else { ends }
}

fn report(plans: &[Plan], answers: &Answers, arguments: &PlanArgs) -> Report {
    let mut text = Text::default();
    let what = match answers {
        Answers::Category(categories) => format!("the frequencies of {} categories", categories.count()),
        Answers::Number(bounds) => {
            format!(
                "a mean of numbers from {} to {}",
                number::plain(bounds.lower()),
                number::plain(bounds.upper())
            )
        }
    };
    if let Some(best) = plans.first() {
        let error = number::briefly(Enclosure::from(best.any));
        text.answer(format!(
            "Best for {what} at epsilon = {}, delta = {}: {}\n{} reports: a standard error of at most {error}",
            number::plain(arguments.epsilon.get()),
            number::plain(arguments.delta.get()),
            best.mechanism,
            best.records,
        ));
    }
    let cell = |value: f64| number::briefly(Enclosure::from(value));
    let words = |plan: &Plan| (plan.words * 8).to_string();
    text.answer(match answers {
        Answers::Category(_) => table(
            ["mechanism", "records", "standard error", "of a rare category", "bytes of a report"],
            plans.iter().map(|plan| {
                let rare = plan.rare.map_or("–".to_owned(), cell);
                [plan.mechanism.clone(), plan.records.to_string(), cell(plan.any), rare, words(plan)]
            }),
        ),
        Answers::Number(_) => table(
            ["mechanism", "records", "standard error", "bytes of a report"],
            plans
                .iter()
                .map(|plan| [plan.mechanism.clone(), plan.records.to_string(), cell(plan.any), words(plan)]),
        ),
    });
    text.explanation(
        "\"standard error\" is the largest, whatever people answer; the people who report are thought of as drawn from\n\
         a larger population. All keep the same promise to everybody who reports.",
    );
    let json = json!({
        "best": plans.first().map(|plan| &plan.mechanism),
        "epsilon": arguments.epsilon.get(),
        "delta": arguments.delta.get(),
        "plans": plans.iter().map(Plan::json).collect::<Value>(),
    });
    Report::new(text, json)
}
