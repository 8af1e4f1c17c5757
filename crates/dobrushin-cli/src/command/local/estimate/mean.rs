//! A mean from private reports.

use super::EstimateArgs;
use crate::command::local::arguments::EstimateMethod;
use crate::local_data::Description;
use crate::output::Report;
use crate::problem::Problem;
use dobrushin::numeric::decimal as number;
use dobrushin_document::json::number as json_number;
use dobrushin_document::plain_text::shown_safely;
use dobrushin_document::text::{Text, table};
use dobrushin_local::estimate::MeanEstimator;
use dobrushin_local::mean::Target;
use serde_json::json;

/// The mean, its standard error, and two intervals.
pub fn report(
    estimator: &MeanEstimator,
    description: &Description,
    arguments: &EstimateArgs,
) -> Result<Report, Problem> {
    if arguments.method != EstimateMethod::Unbiased {
        return Err(Problem::new("--method is for frequencies, and these reports are numbers")
            .help("the mean of the reports is unbiased: leave out --method"));
    }
    if arguments.plot.is_some() {
        return Err(Problem::new("--plot is for frequencies, and these reports are numbers")
            .help("a mean is a single number: leave out --plot"));
    }
    let estimate = estimator.estimate(arguments.confidence, Target::Population)?;
    let (mean, confidence) = (estimate.mean, number::plain(arguments.confidence.get()));
    let mut text = Text::default();
    text.answer(format!(
        "Mean of {}: {} ± {} (standard error), from {} reports",
        shown_safely(&description.column),
        number::nearest(mean),
        number::nearest(estimate.standard_error),
        estimate.records
    ));
    let row =
        |name: &str, half: f64| [name.to_owned(), number::nearest(mean - half), number::nearest(mean + half)];
    let rows = [row("by the normal law", estimate.normal), row("for certain", estimate.certain)];
    text.answer(table([&format!("{confidence} confidence"), "from", "to"], rows));
    text.explanation(
        "The mean is that of the population from which the people are drawn. The interval by the normal law is right\n\
         for many reports; the other one covers with at least the confidence for any number of them.",
    );
    let interval = |half: f64| json!({ "from": json_number(mean - half), "to": json_number(mean + half) });
    let json = json!({
        "reports": estimate.records,
        "mean": json_number(mean),
        "standard_error": json_number(estimate.standard_error),
        "confidence": arguments.confidence.get(),
        "interval": interval(estimate.normal),
        "certain_interval": interval(estimate.certain),
    });
    Ok(Report::new(text, json))
}
