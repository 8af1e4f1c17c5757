//! `dobrushin verify`: whether a certificate holds.

use crate::certificate::{Checked, Verdict, check};
use crate::cli::VerifyArgs;
use crate::command::account::{answer_json, pair, symbol, target};
use crate::command::train::{NOT_PRIVATE, digest};
use crate::json_file;
use crate::output::{Report, Text, bullets, number as json_number, object, sentences, table};
use crate::problem::Problem;
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;
use serde_json::{Value, json};
use std::path::Path;

/// Recomputes the certificate and compares.
pub fn run(arguments: &VerifyArgs) -> Result<Report, Problem> {
    report(&arguments.certificate, None)
}

/// A certificate, from its file.
pub fn read(path: &Path) -> Result<Value, Problem> {
    let help = "dobrushin train, and dobrushin account RUN.toml --certificate FILE.json, write certificates";
    json_file::read(path, "certificate", help)
}

/// Whether nobody knows the randomness of what was trained, as far as the certificate says.
fn is_private(certificate: &Value) -> bool {
    let training = &certificate["training"];
    !training.is_object() || (training["private"] == true && training["seed"].is_null())
}

/// Recomputes a certificate and compares, with its model too if that is given: the verdict on all of it first, then why.
pub fn report(path: &Path, model: Option<&Path>) -> Result<Report, Problem> {
    let certificate = read(path)?;
    let checked = check(&certificate)?;
    let other_model = model.map(|path| difference(&certificate, path)).transpose()?.flatten();
    let private = is_private(&certificate);
    let confirmed = checked.verdict() == Verdict::Holds && other_model.is_none() && private;

    let mut text = Text::default();
    text.answer(if confirmed {
        let which = model.map_or(String::new(), |path| format!(", and it is that of {}", path.display()));
        format!("The certificate holds{which}: {}", promise(&checked))
    } else {
        let not_of = model.zip(other_model);
        let not_of =
            not_of.map(|(path, why)| format!("it is NOT the certificate of {}: {why}", path.display()));
        let seed =
            format!("nobody is protected: the randomness of the model came from a known seed: {NOT_PRIVATE}");
        let reasons = complaint(&checked).into_iter().chain(not_of).chain((!private).then_some(seed));
        capitalised(&reasons.collect::<Vec<_>>().join("; "))
    });
    describe(&mut text, &checked);
    if certificate["training"].is_object() {
        text.explanation(bullets(
            "What no run implies, and no computation can confirm",
            untold(&certificate, model),
        ));
    }
    let mut json = as_json(&checked, private, confirmed);
    if model.is_some() {
        json["model_matches"] = json!(other_model.is_none());
    }
    Ok(Report { text, json, answer_is_no: !confirmed })
}

/// What is wrong with the certificate itself, if something is.
pub fn complaint(checked: &Checked) -> Option<String> {
    let first = checked.differences.first()?;
    let others = match checked.differences.len() - 1 {
        0 => String::new(),
        1 => ", and 1 field more is wrong".to_owned(),
        more => format!(", and {more} fields more are wrong"),
    };
    Some(match checked.verdict() {
        Verdict::NotConfirmed => format!(
            "the certificate is NOT CONFIRMED: its numbers hold, but {first}{}, and version {} of dobrushin, which wrote it, is \
             not this one",
            others.replace("wrong", "other"),
            checked.claim.version
        ),
        _ => format!("the certificate DOES NOT HOLD: {first}{others}"),
    })
}

/// What is claimed.
fn promise(checked: &Checked) -> String {
    let claim = &checked.claim;
    let mut value = number::upper(Enclosure::from(claim.upper));
    if let Some(log_delta) = claim.log_delta.filter(|ln| claim.upper < 1e-300 && ln.is_finite()) {
        value += &format!(" (ln δ ≤ {})", number::upper(Enclosure::from(log_delta)));
    }
    format!("(ε, δ) = {}, by {}", pair(claim.question, &value), claim.analysis)
}

/// The numbers, what is not as recomputed, and what must hold.
fn describe(text: &mut Text, checked: &Checked) {
    let (claim, account) = (&checked.claim, &checked.account);
    let guarantee = account.guarantee();
    let recomputed = guarantee.map(|guarantee| guarantee.answer);
    let end = |value: Option<f64>| value.map_or("no guarantee".to_owned(), number::plain);
    let symbol = symbol(claim.question);
    let ends = [
        ["claimed".to_owned(), number::plain(claim.upper)],
        ["recomputed".to_owned(), end(recomputed.map(|answer| answer.value.upper()))],
    ];
    text.answer(match claim.log_delta {
        None => table(["", &format!("{symbol} at most")], ends),
        Some(claimed) => {
            let logs = [Some(claimed), recomputed.and_then(|answer| answer.log_delta).map(Enclosure::upper)];
            let rows = ends.into_iter().zip(logs).map(|([name, value], log)| [name, value, end(log)]);
            table(["", &format!("{symbol} at most"), "ln δ at most"], rows)
        }
    });
    if !checked.differences.is_empty() {
        let shown = checked.differences.iter().map(ToString::to_string).take(SHOWN);
        let left = checked.differences.len().saturating_sub(SHOWN);
        let more = (left > 0).then(|| format!("and {left} more (--json lists them)"));
        text.answer(bullets("What is not as recomputed", shown.chain(more)));
    }
    if checked.verdict() == Verdict::NotConfirmed {
        let version = &checked.claim.version;
        text.answer(format!(
            "Do not rely on the words of the certificate, but on those below; dobrushin {version} can confirm its own."
        ));
    }
    let entry = account.entries.iter().find(|entry| entry.id == claim.analysis);
    if let Some(Err(reason)) = entry.map(|entry| &entry.outcome) {
        text.answer(format!("{} does not apply: {reason}", claim.analysis));
    }
    if let Some(guarantee) = guarantee {
        text.answer(bullets(
            "It is worth as much as these assumptions, which no computation can check",
            guarantee.assumptions,
        ));
    }
}

/// How many differences people are shown.
const SHOWN: usize = 12;

/// What has to be believed of a trained model.
fn untold(certificate: &Value, model: Option<&Path>) -> Vec<&'static str> {
    let mut list = vec!["that this run was made, and with the randomness that it says"];
    if model.is_none() {
        list.push("which model it is of: --model model.json compares the SHA-256");
    }
    if !certificate["training"]["evaluation"].is_null() {
        list.push("the accuracies and losses of the private evaluation");
    }
    list
}

fn as_json(checked: &Checked, private: bool, confirmed: bool) -> Value {
    let (claim, guarantee) = (&checked.claim, checked.account.guarantee());
    let recomputed = guarantee.map(|guarantee| Value::Object(answer_json(claim.question, guarantee.answer)));
    let differences = checked
        .differences
        .iter()
        .map(|difference| json!({ "field": difference.field, "what": difference.to_string() }));
    let same_assumptions = guarantee.is_some()
        && !checked.differences.iter().any(|difference| difference.is_in("guarantee.assumptions"));
    let verdict = match checked.verdict() {
        Verdict::Holds => "holds",
        Verdict::NotConfirmed => "not-confirmed",
        Verdict::DoesNotHold => "does-not-hold",
    };
    Value::Object(object([
        ("schema", json!(1)),
        ("confirmed", json!(confirmed)),
        ("holds", json!(checked.verdict() == Verdict::Holds)),
        ("verdict", json!(verdict)),
        ("differences", differences.collect()),
        ("target", target(claim.question)),
        ("analysis", json!(claim.analysis)),
        ("claimed", json_number(claim.upper)),
        ("claimed_log_delta", json!(claim.log_delta.map(json_number))),
        ("recomputed", json!(recomputed)),
        ("assumptions", sentences(guarantee.map_or(&[][..], |guarantee| guarantee.assumptions))),
        ("same_assumptions", json!(same_assumptions)),
        ("version", json!(claim.version)),
        ("private", json!(private)),
    ]))
}

/// Why the file is not the one that the certificate was written with, if it is not.
///
/// Each knows the other, so that neither can be changed alone: the certificate has the hash of the model, and the model that
/// of the run.
fn difference(certificate: &Value, path: &Path) -> Result<Option<&'static str>, Problem> {
    let Some(known) = certificate["training"]["model_sha256"].as_str() else {
        return Err(Problem::new("the certificate is of a run, not of a model")
            .help("leave --model out; dobrushin train writes certificates of models"));
    };
    let bytes = json_file::bytes(path, "dobrushin train writes models")?;
    if digest(&bytes) != known {
        return Ok(Some("the file has another SHA-256"));
    }
    let Ok(model) = json_file::parse(&bytes) else {
        return Ok(Some("the file is no model"));
    };
    if is_private(certificate) && !model["warning"].is_null() {
        return Ok(Some("the model was trained from a known seed, which the certificate does not say"));
    }
    let same_run = model["run_sha256"] == digest(certificate["run"].to_string().as_bytes());
    Ok((!same_run).then_some("the model was trained by another run than that of the certificate"))
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
