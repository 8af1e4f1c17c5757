//! `dobrushin local verify`: whether a mechanism is as private as it should be.

use super::arguments::VerifyArgs;
use super::promise::Promise;
use crate::output::{Report, bounds};
use crate::problem::Problem;
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;
use dobrushin_document::text::{Text, table};
use serde_json::json;

/// Exit code 1 if it is not.
pub fn run(arguments: &VerifyArgs) -> Result<Report, Problem> {
    let specification = arguments.mechanism.specification(arguments.epsilon)?;
    let mechanism = specification.build()?;
    let promise = Promise::of(&specification, &mechanism);
    let (epsilon, delta) = (specification.epsilon.get(), specification.delta.get());
    let row = |what: String, value: Enclosure| [what, number::lower(value), number::upper(value)];
    let rows = [
        row(format!("delta at epsilon = {}", number::plain(epsilon)), promise.delta),
        row(format!("epsilon at delta = {}", number::plain(delta)), promise.epsilon),
    ];
    let mut text = Text::default();
    text.answer(promise.sentence(&specification));
    text.answer(table(["of the mechanism as it is realised", "at least", "at most"], rows));
    text.explanation(
        "delta is the contraction coefficient η of E_γ with γ = e^epsilon: the largest that E_γ between the reports on\n\
         two answers can be. See: dobrushin explain contraction-coefficient",
    );
    let json = json!({
        "mechanism": specification.id.name(),
        "epsilon": epsilon,
        "delta": delta,
        "holds": promise.holds,
        "exact_delta": bounds(promise.delta),
        "exact_epsilon": bounds(promise.epsilon),
    });
    Ok(Report { answer_is_no: !promise.holds, ..Report::new(text, json) })
}
