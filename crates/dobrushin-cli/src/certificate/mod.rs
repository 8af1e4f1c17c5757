//! Certificates: a guarantee with all that is needed to recompute it.

mod check;
mod comparison;

pub use check::{Checked, Verdict, check};

use crate::command::account::{analyses_json, target};
use crate::command::explain;
use crate::output::{bounds, object, sentences};
use crate::problem::Problem;
use crate::run_file::{RunFile, SelfContained};
use dobrushin::account::{Options, Question, Report as Account};
use dobrushin::{Enclosure, statement};
use serde_json::{Value, json};

/// By which certificates are known.
const KIND: &str = "dobrushin-certificate";
/// The version of their format.
const SCHEMA: u64 = 1;

/// The certificate of an account; `None` if there is no guarantee.
pub fn of(file: &RunFile, account: &Account, options: &Options) -> Result<Option<Value>, Problem> {
    Ok(of_run(&file.self_contained()?, account, options))
}

/// The certificate of the account of a run; `None` if there is no guarantee, or one that says nothing.
fn of_run(run: &SelfContained, account: &Account, options: &Options) -> Option<Value> {
    let best = account.certifiable()?;
    let (epsilon, delta) = match account.question {
        Question::Epsilon(delta) => (best.answer.value, Enclosure::from(delta)),
        Question::Delta(epsilon) => (Enclosure::from(epsilon), best.answer.value),
    };
    let mut guarantee = object([
        ("epsilon", bounds(epsilon)),
        ("delta", bounds(delta)),
        ("analysis", json!(best.id)),
        ("assumptions", sentences(best.assumptions)),
    ]);
    if let Some(log_delta) = best.answer.log_delta {
        guarantee.insert("log_delta".to_owned(), bounds(log_delta));
    }
    Some(json!({
        "schema": SCHEMA,
        "kind": KIND,
        "program": { "name": "dobrushin", "version": env!("CARGO_PKG_VERSION") },
        "run": run.json(),
        "target": target(account.question),
        "tolerance": options.tolerance,
        "guarantee": guarantee,
        "theorem": statement::find(best.id).map(explain::as_json),
        "analyses": analyses_json(account),
        "explanation": account.explanation,
        "warnings": account.warnings,
    }))
}
