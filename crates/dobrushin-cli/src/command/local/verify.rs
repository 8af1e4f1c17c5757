//! `dobrushin local verify`: whether a mechanism is as private as it should be.

use super::arguments::VerifyArgs;
use crate::output::Report;
use crate::problem::Problem;
use dobrushin_document::text::Style;
use dobrushin_document::{json, text};

/// The exit code is 1 if it is not.
pub fn run(arguments: &VerifyArgs, style: Style) -> Result<Report, Problem> {
    let specification = arguments.mechanism.specification(arguments.epsilon, None)?;
    let promise = specification.promise(&specification.build()?);
    Ok(Report {
        answer_is_no: !promise.holds,
        ..Report::new(text::promise(&promise, style), json::of(&promise))
    })
}
