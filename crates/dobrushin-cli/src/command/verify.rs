//! `dobrushin verify`: whether the claim of a certificate holds.

use crate::certificate::Claim;
use crate::cli::VerifyArgs;
use crate::command::account::{answer_json, pair, symbol, target};
use crate::command::train::{NOT_PRIVATE, contradiction};
use crate::output::{Report, Text, bullets, number as json_number, object, table};
use crate::problem::Problem;
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;
use serde_json::{Value, json};
use std::path::Path;

/// Computes the guarantee anew and compares.
pub fn run(arguments: &VerifyArgs) -> Result<Report, Problem> {
    report(&read(&arguments.certificate)?)
}

/// A certificate, from its file.
pub fn read(path: &Path) -> Result<Value, Problem> {
    let name = path.display();
    let help = "dobrushin train, and dobrushin account RUN.toml --certificate FILE.json, write certificates";
    let bytes = std::fs::read(path)
        .map_err(|error| Problem::new(format!("cannot read {name}")).because(error).help(help))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Problem::new(format!("{name} is no certificate: it is not JSON")).because(error).help(help)
    })
}

/// Whether nobody knows the randomness of what was trained, as far as the certificate says.
pub fn is_private(certificate: &Value) -> bool {
    let training = &certificate["training"];
    !training.is_object() || (training["private"] == true && training["seed"].is_null())
}

/// Computes the guarantee anew and compares.
pub fn report(certificate: &Value) -> Result<Report, Problem> {
    let claim = Claim::read(certificate)?;
    let account = claim.computed_anew()?;
    let guarantee = account.guarantee();
    let upper = guarantee.map_or(f64::INFINITY, |guarantee| guarantee.answer.value.upper());
    let is_trained = certificate["training"].is_object();
    let contradiction = if is_trained { contradiction(certificate)? } else { None };
    let holds = guarantee.is_some() && claim.is_supported_by(upper) && contradiction.is_none();
    let private = is_private(certificate);
    let assumptions = guarantee.map_or(&[][..], |guarantee| guarantee.assumptions);
    let same_words = assumptions == claim.assumptions;

    let mut text = Text::default();
    let verdict = if holds { "The certificate holds" } else { "The certificate DOES NOT HOLD" };
    let claimed = number::upper(Enclosure::from(claim.upper));
    text.answer(format!("{verdict}: (ε, δ) = {}, by {}", pair(claim.question, &claimed), claim.analysis));
    if let Some(key) = contradiction {
        text.answer(format!("training.{key} of the certificate does not follow from its run."));
    }
    if !private {
        text.answer(format!("The randomness of the model came from a known seed: {NOT_PRIVATE}."));
    }
    let anew = match guarantee {
        Some(_) => number::plain(upper),
        None => "no guarantee".to_owned(),
    };
    let symbol = symbol(claim.question);
    text.answer(table(
        ["", &format!("{symbol} at most")],
        [["claimed".to_owned(), number::plain(claim.upper)], ["computed anew".to_owned(), anew]],
    ));
    if let Some(reason) = account.entries.iter().find_map(|entry| entry.outcome.as_ref().err()) {
        text.answer(format!("{} does not apply: {reason}", claim.analysis));
    }
    if !assumptions.is_empty() {
        text.answer(bullets(
            "It is worth as much as these assumptions, which no computation can check",
            assumptions,
        ));
    }
    if !same_words && guarantee.is_some() {
        text.answer(format!(
            "Note: the certificate, by version {}, lists other assumptions than these.",
            claim.version
        ));
    }
    let recomputed = guarantee.map(|guarantee| Value::Object(answer_json(claim.question, guarantee.answer)));
    let json = object([
        ("schema", json!(1)),
        ("holds", json!(holds)),
        ("target", target(claim.question)),
        ("analysis", json!(claim.analysis)),
        ("claimed", json_number(claim.upper)),
        ("recomputed", json!(recomputed)),
        ("assumptions", json!(assumptions)),
        ("same_assumptions", json!(same_words)),
        ("version", json!(claim.version)),
        ("private", json!(private)),
    ]);
    Ok(Report { text, json: Value::Object(json), answer_is_no: !(holds && private) })
}
