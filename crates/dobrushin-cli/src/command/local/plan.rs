//! `dobrushin local plan`: which mechanism is best, and how many people it takes.

use super::arguments::PlanArgs;
use crate::output::Report;
use crate::problem::Problem;
use dobrushin_document::local::{PlanWishes, plans};
use dobrushin_document::{csv, json, text};
use dobrushin_local::LocalPrivacy;

/// Every mechanism that can keep the promise, best first.
pub fn run(arguments: &PlanArgs) -> Result<Report, Problem> {
    let answers = arguments.answers.declared(None)?.ok_or_else(|| {
        Problem::new("what people answer is not declared: categories, numbers or vectors?").help(
            "--categories K, --values A,B,… or --categories-file FILE for categories, --bounds LOW,HIGH for numbers, \
             --radius R and --dimension D for vectors",
        )
    })?;
    let promise = LocalPrivacy { epsilon: arguments.epsilon, delta: arguments.delta };
    let wishes = PlanWishes { promise, records: arguments.records, error: arguments.error };
    let report = plans(&answers, &wishes)?;
    Ok(Report::new(text::plans(&report), json::of(&report)).with_table(csv::plans(&report)))
}
