//! `dobrushin local bounds`: the smallest error that anybody can reach from private reports.

use super::arguments::BoundsArgs;
use super::own_bounds;
use crate::output::Report;
use crate::problem::Problem;
use dobrushin_document::local::{BoundsWishes, bounds};
use dobrushin_document::text::Style;
use dobrushin_document::{csv, json, text};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::risk::Ball;

/// Lower bounds for every task that is asked for.
pub fn run(arguments: &BoundsArgs, style: Style) -> Result<Report, Problem> {
    if let Some(problem) = &arguments.problem {
        return own_bounds::run(problem, style);
    }
    let (Some(epsilon), Some(records)) = (arguments.epsilon, arguments.records) else {
        return Err(Problem::new("--epsilon and --records are needed"));
    };
    let ball =
        arguments.radius.zip(arguments.dimension).map(|(radius, dimension)| Ball { radius, dimension });
    let wishes = BoundsWishes { moments: arguments.moments, ball, categories: arguments.categories };
    let report = bounds(LocalPrivacy { epsilon, delta: arguments.delta }, records, &wishes)?;
    Ok(Report::new(text::bounds(&report, style), json::of(&report)).with_table(csv::bounds(&report)))
}
