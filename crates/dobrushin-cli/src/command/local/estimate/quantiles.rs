//! Quantiles of numbers that were reported in bins.

use super::EstimateArgs;
use crate::output::Report;
use crate::problem::Problem;
use dobrushin::numeric::decimal as number;
use dobrushin_document::json::number as json_number;
use dobrushin_document::text::table;
use dobrushin_local::estimate::{CdfEstimator, Method};
use serde_json::{Value, json};

/// Adds the quantiles to a report.
pub fn tell(report: &mut Report, estimator: &CdfEstimator, arguments: &EstimateArgs) -> Result<(), Problem> {
    let cdf = estimator.estimate(arguments.confidence, Method::Certain)?;
    let quantiles: Vec<_> = arguments.quantiles.iter().map(|&level| (level, cdf.quantile(level))).collect();
    let rows = quantiles.iter().map(|(level, quantile)| {
        let values = [quantile.value, quantile.lower, quantile.upper].map(number::nearest);
        let [value, lower, upper] = values;
        [number::plain(level.get()), value, lower, upper]
    });
    report.text.answer(table(["quantile", "value", "from", "to"], rows));
    report.text.explanation(
        "The intervals of all quantiles hold at once with at least the confidence, for any number of reports; numbers\n\
         outside the bounds count as the bounds.",
    );
    let json = quantiles.iter().map(|(level, quantile)| {
        let interval = json!({ "from": json_number(quantile.lower), "to": json_number(quantile.upper) });
        json!({ "level": level.get(), "value": json_number(quantile.value), "certain_interval": interval })
    });
    report.json["quantiles"] = json.collect::<Value>();
    Ok(())
}
