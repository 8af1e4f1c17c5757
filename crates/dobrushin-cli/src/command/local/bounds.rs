//! `dobrushin local bounds`: the least error that anybody can reach from private reports.

use super::arguments::BoundsArgs;
use crate::output::{Report, bounds};
use crate::problem::Problem;
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;
use dobrushin_document::text::{Text, table};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::risk::{
    Ball, Frequencies, FrequencyLoss, MomentClass, Reports, RiskBound, Summary, Task,
};
use serde_json::{Value, json};

/// Lower bounds for every task that is asked for.
pub fn run(arguments: &BoundsArgs) -> Result<Report, Problem> {
    let privacy = LocalPrivacy { epsilon: arguments.epsilon, delta: arguments.delta };
    let reports = Reports::promised(privacy);
    let mut answers = Vec::new();
    for (what, task) in tasks(arguments)? {
        answers.push((what, task.bounds(&reports, arguments.records)));
    }
    // They are the same for every task.
    let Some((_, first)) = answers.first() else { return Err(Problem::new("there is no task")) };
    let mut text = Text::default();
    for (what, summary) in &answers {
        text.answer(format!("{what}\n\n{}", table_of(&summary.bounds)));
    }
    let row = |name: &str, value: Enclosure| [name.to_owned(), number::upper(value)];
    let published = first.published.map(|phi| row("every f-divergence, as published (φ)", phi));
    let rows =
        [row("total variation (η_TV)", first.total_variation), row("χ², KL (η_KL)", first.information)];
    text.answer(table(["contraction of one report", "at most"], rows.into_iter().chain(published)));
    let (records, worth) = (arguments.records, number::briefly(first.effective_records));
    text.answer(format!("{records} reports tell at most as much as {worth} answers in the clear."));
    text.explanation(
        "No mechanism that keeps the promise, and no estimator, has a smaller error for all laws of the answers, also if\n\
         later mechanisms depend on earlier reports. Errors are rounded down, contractions up. See: dobrushin explain, with the id.",
    );
    Ok(Report::new(text, json_of(first, answers.iter().flat_map(|(_, summary)| &summary.bounds))))
}

/// What is asked for; a mean if nothing is.
fn tasks(arguments: &BoundsArgs) -> Result<Vec<(String, Task)>, Problem> {
    let mut tasks = Vec::new();
    let ball = arguments.radius.zip(arguments.dimension);
    let nothing_else = ball.is_none() && arguments.categories.is_none();
    if let Some(moments) = arguments.moments.or(nothing_else.then_some(2.0)) {
        let what = format!("The mean of a law with E|X|^{} ≤ 1: mean square error", number::plain(moments));
        tasks.push((what, Task::Mean(MomentClass::new(moments)?)));
    }
    if let Some((radius, dimension)) = ball {
        let what = format!(
            "The mean of a law on a ball of radius {} in {dimension} dimensions: mean square error",
            number::plain(radius.get())
        );
        tasks.push((what, Task::BallMean(Ball { radius, dimension })));
    }
    if let Some(categories) = arguments.categories {
        let what = format!("The frequencies of {categories} categories: mean of the sum of squared errors");
        tasks.push((what, Task::Frequencies(Frequencies::new(categories, FrequencyLoss::Squared)?)));
    }
    Ok(tasks)
}

fn table_of(bounds: &[RiskBound]) -> String {
    let row =
        |bound: &RiskBound| [bound.id.to_owned(), number::lower(bound.value), bound.coefficient.to_string()];
    table(["by", "error at least", "coefficient"], bounds.iter().map(row))
}

fn json_of<'a>(summary: &Summary, risks: impl Iterator<Item = &'a RiskBound>) -> Value {
    let risks = risks.map(|bound| {
        json!({ "id": bound.id, "value": bounds(bound.value), "coefficient": bound.coefficient.to_string() })
    });
    let mut contraction = json!({ "tv": bounds(summary.total_variation), "kl": bounds(summary.information) });
    if let Some(published) = summary.published {
        contraction["published"] = bounds(published);
    }
    json!({
        "contraction": contraction,
        "effective_records": bounds(summary.effective_records),
        "bounds": risks.collect::<Value>(),
    })
}
