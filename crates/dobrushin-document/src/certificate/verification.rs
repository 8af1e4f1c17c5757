//! Whether a certificate holds and belongs to a model, as data.

use super::check::{Checked, Verdict, check};
use crate::error::DocumentError;
use crate::json::{self, Number, digest};
use crate::report::{Answered, Given, in_words};
use serde::Serialize;
use serde_json::Value as Json;

/// The result of recomputing a certificate.
#[derive(Serialize)]
pub struct Verification {
    schema: u32,
    /// Whether you can rely on everything: the certificate holds, it belongs to the model, and nobody knows the
    /// randomness.
    pub confirmed: bool,
    holds: bool,
    /// The verdict on the certificate itself.
    pub verdict: Verdict,
    /// Where it differs from what is recomputed.
    pub differences: Vec<DifferenceReport>,
    /// What was given.
    pub target: Given,
    /// The analysis on which the claim rests.
    pub analysis: &'static str,
    /// The upper end that is claimed.
    pub claimed: Number,
    /// The same for ln δ.
    pub claimed_log_delta: Option<Number>,
    /// What is recomputed, if that is a guarantee.
    pub recomputed: Option<Answered>,
    /// What must hold for it, in words.
    pub assumptions: Vec<String>,
    same_assumptions: bool,
    /// The version that wrote the certificate.
    pub version: String,
    /// Whether the claim is about deleted records only, and says nothing about those that remain.
    pub only_deleted: bool,
    /// Whether nobody knows the randomness of the training, according to the certificate.
    pub private: bool,
    /// Whether the certificate belongs to the model that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_matches: Option<bool>,
    /// Why it does not.
    #[serde(skip)]
    pub other_model: Option<&'static str>,
    /// Why the analysis on which the claim rests does not apply.
    #[serde(skip)]
    pub not_applicable: Option<String>,
    /// What has to be believed about a trained model, in words.
    #[serde(skip)]
    pub to_be_believed: Vec<&'static str>,
}

/// A field that differs from what is recomputed.
#[derive(Serialize)]
pub struct DifferenceReport {
    field: String,
    /// How it differs, in words.
    pub what: String,
}

/// Recomputes a certificate and compares, also with the bytes of its model if they are given.
///
/// # Errors
/// [`DocumentError`] if it cannot be read as a certificate at all, or is not the certificate of a model.
pub fn verify(certificate: &Json, model: Option<&[u8]>) -> Result<Verification, DocumentError> {
    let checked = check(certificate)?;
    let other_model = model.map(|bytes| difference(certificate, bytes)).transpose()?.flatten();
    let private = is_private(certificate);
    let verdict = checked.verdict();
    let Checked { claim, account, differences, .. } = checked;
    let guarantee = account.guarantee().ok();
    let entry = account.entries.iter().find(|entry| entry.id == claim.analysis);
    Ok(Verification {
        schema: 1,
        confirmed: verdict == Verdict::Holds && other_model.is_none() && private,
        holds: verdict == Verdict::Holds,
        verdict,
        same_assumptions: guarantee.is_some()
            && !differences.iter().any(|difference| difference.is_in("guarantee.assumptions")),
        differences: (differences.into_iter())
            .map(|difference| DifferenceReport { what: difference.to_string(), field: difference.field })
            .collect(),
        target: claim.question.into(),
        analysis: claim.analysis,
        claimed: Number(claim.upper),
        claimed_log_delta: claim.log_delta.map(Number),
        recomputed: guarantee.map(|guarantee| Answered::new(claim.question, guarantee.answer)),
        assumptions: guarantee.map_or(Vec::new(), |guarantee| in_words(guarantee.assumptions)),
        only_deleted: claim
            .run()
            .run()?
            .as_training()
            .is_some_and(|training| !training.forgetting.is_empty()),
        version: claim.version,
        private,
        model_matches: model.map(|_| other_model.is_none()),
        other_model,
        not_applicable: entry.and_then(|entry| entry.outcome.as_ref().err()).map(ToString::to_string),
        to_be_believed: to_be_believed(certificate, model.is_some()),
    })
}

/// Whether nobody knows the randomness of the training, according to the certificate.
pub(super) fn is_private(certificate: &Json) -> bool {
    let training = &certificate["training"];
    !training.is_object() || (training["private"] == true && training["seed"].is_null())
}

/// What no run implies, and no computation can confirm.
fn to_be_believed(certificate: &Json, model_is_given: bool) -> Vec<&'static str> {
    let training = &certificate["training"];
    if !training.is_object() {
        return Vec::new();
    }
    let mut list = vec!["that this run was made, and with the randomness that it says"];
    if !training["made"].is_null() {
        list.push("when it was made");
    }
    if !model_is_given {
        list.push("which model it is of: --model model.json compares the SHA-256");
    }
    if !training["evaluation"].is_null() {
        list.push("the accuracies and losses of the private evaluation");
    }
    list
}

/// Why the file is not the one that the certificate was written with; `None` if it is.
///
/// Each identifies the other, so that neither can be changed alone: the certificate has the hash of the model, and the
/// model has the hash of the run.
fn difference(certificate: &Json, model: &[u8]) -> Result<Option<&'static str>, DocumentError> {
    let Some(known) = certificate["training"]["model_sha256"].as_str() else {
        return Err(DocumentError::new("the certificate is of a run, not of a model")
            .help("leave --model out; dobrushin train writes certificates of models"));
    };
    if digest(model) != known {
        return Ok(Some("the file has another SHA-256"));
    }
    let Ok(model) = json::parse(model) else {
        return Ok(Some("the file is no model"));
    };
    if is_private(certificate) && !model["warning"].is_null() {
        return Ok(Some("the model was trained from a known seed, which the certificate does not say"));
    }
    let same_run = model["run_sha256"] == digest(certificate["run"].to_string().as_bytes());
    Ok((!same_run).then_some("the model was trained by another run than that of the certificate"))
}
