//! `dobrushin explain`: the theorem behind a number, or an idea in plain words.

use crate::output::Report;
use crate::problem::Problem;
use clap::Args;
use dobrushin_document::text;

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The theorem or idea to explain (epsilon, delta, membership, neighbours, hidden, floor, audit, …); without it, all are listed
    pub id: Option<String>,
}

/// One statement, or the list of all.
pub fn run(arguments: &ExplainArgs) -> Result<Report, Problem> {
    let (text, json) = text::explained(arguments.id.as_deref())?;
    Ok(Report::new(text, json))
}
