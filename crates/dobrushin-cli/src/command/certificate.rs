//! `dobrushin certificate`: what a certificate says, and whether it holds.

use super::train::digest;
use super::verify;
use crate::certificate::Claim;
use crate::cli::{CertificateArgs, CertificateCommand, CertifiedArgs};
use crate::output::{Report, Text, bullets, wrap};
use crate::problem::Problem;
use serde_json::{Value, json};
use std::path::Path;

/// Shows it, or computes it anew.
pub fn run(arguments: &CertificateArgs) -> Result<Report, Problem> {
    match &arguments.command {
        CertificateCommand::Show { certificate } => {
            let certificate = verify::read(certificate)?;
            // Nothing else is shown as if it were one.
            Claim::read(&certificate)?;
            let mut text = Text::default();
            text.answer(for_people(&certificate));
            Ok(Report::new(text, certificate))
        }
        CertificateCommand::Verify(arguments) => verified(arguments),
    }
}

fn verified(arguments: &CertifiedArgs) -> Result<Report, Problem> {
    let certificate = verify::read(&arguments.certificate)?;
    let mut report = verify::report(&certificate)?;
    if let Some(path) = &arguments.model {
        let difference = difference(&certificate, path)?;
        report.text.answer(match difference {
            None => format!("It is the certificate of {}.", path.display()),
            Some(why) => format!("It is NOT the certificate of {}: {why}.", path.display()),
        });
        report.json["model_matches"] = json!(difference.is_none());
        report.answer_is_no |= difference.is_some();
    }
    Ok(report)
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
    let bytes = std::fs::read(path)
        .map_err(|error| Problem::new(format!("cannot read {}", path.display())).because(error))?;
    if digest(&bytes) != known {
        return Ok(Some("the file has another SHA-256"));
    }
    let model: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if verify::is_private(certificate) && !model["warning"].is_null() {
        return Ok(Some("the model was trained from a known seed, which the certificate does not say"));
    }
    let same_run = model["run_sha256"] == digest(certificate["run"].to_string().as_bytes());
    Ok((!same_run).then_some("the model was trained by another run than that of the certificate"))
}

/// A certificate as people read it.
pub fn for_people(certificate: &Value) -> String {
    let guarantee = &certificate["guarantee"];
    let upper = |key: &str| shown(&guarantee[key]["upper"]);
    let training = &certificate["training"];
    let mut blocks = vec![format!(
        "(ε, δ) = ({}, {}), by {}",
        upper("epsilon"),
        upper("delta"),
        shown(&guarantee["analysis"])
    )];
    if training["private"] == false {
        let seed = shown(&training["seed"]);
        blocks.push(format!("The randomness came from seed {seed}: {}.", shown(&training["randomness"])));
    }
    let run = &certificate["run"]["run"];
    let mut facts = vec![
        match &run["order"] {
            Value::Null => format!("algorithm {}", shown(&run["algorithm"])),
            order => format!("algorithm {}, order {}", shown(&run["algorithm"]), shown(order)),
        },
        format!("made by dobrushin {}", shown(&certificate["program"]["version"])),
    ];
    if training.is_object() {
        let constants = &training["constants"];
        facts.insert(
            0,
            format!(
                "model {}, {} parameters",
                shown(&certificate["run"]["model"]["kind"]),
                shown(&constants["parameters"])
            ),
        );
        facts.insert(1, format!("{} records", shown(&training["records"])));
        facts.push(format!("SHA-256 of the model {}", shown(&training["model_sha256"])));
        facts.push(format!("SHA-256 of the schema {}", shown(&training["schema_sha256"])));
    }
    blocks.push(bullets("What was run", &facts));
    let assumptions: Vec<String> = match training["enforcement"].as_array() {
        Some(list) => list
            .iter()
            .map(|entry| format!("{}. How: {}", shown(&entry["assumption"]), shown(&entry["enforced"])))
            .collect(),
        None => guarantee["assumptions"].as_array().into_iter().flatten().map(shown).collect(),
    };
    blocks.push(bullets("What it assumes", &assumptions));
    if let Some(list) = training["not_covered"].as_array() {
        blocks.push(bullets("Not covered", list.iter().map(shown)));
    }
    let explanation: Vec<String> = certificate["explanation"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|line| wrap(&shown(line), ""))
        .collect();
    if !explanation.is_empty() {
        blocks.push(explanation.join("\n"));
    }
    blocks.push("Anyone can compute it anew: dobrushin certificate verify certificate.json".to_owned());
    blocks.join("\n\n") + "\n"
}

/// A value without quotes.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "unknown".to_owned(),
        other => other.to_string(),
    }
}
