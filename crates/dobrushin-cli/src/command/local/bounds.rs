//! `dobrushin local bounds`: the smallest error that anybody can reach from private reports.

use super::arguments::BoundsArgs;
use super::own_bounds;
use crate::output::Report;
use crate::problem::Problem;
use dobrushin::numeric::decimal as number;
use dobrushin_document::report::BoundsReport;
use dobrushin_document::text::Style;
use dobrushin_document::{csv, json, text};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::risk::{Ball, Frequencies, FrequencyLoss, MomentClass, Reports, Task};

/// Lower bounds for every task that is asked for.
pub fn run(arguments: &BoundsArgs, style: Style) -> Result<Report, Problem> {
    if let Some(problem) = &arguments.problem {
        return own_bounds::run(problem, style);
    }
    let (Some(epsilon), Some(records)) = (arguments.epsilon, arguments.records) else {
        return Err(Problem::new("--epsilon and --records are needed"));
    };
    let reports = Reports::promised(LocalPrivacy { epsilon, delta: arguments.delta });
    let mut answers =
        tasks(arguments)?.into_iter().map(|(what, task)| (what, task.bounds(&reports, records)));
    let Some(first) = answers.next() else { return Err(Problem::new("there is no task")) };
    let report = BoundsReport::new(records.get(), first, answers.collect());
    Ok(Report::new(text::bounds(&report, style), json::of(&report)).with_table(csv::bounds(&report)))
}

/// The tasks that are asked for; a mean if there are none.
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
