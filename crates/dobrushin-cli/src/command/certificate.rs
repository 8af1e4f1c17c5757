//! `dobrushin certificate`: what a certificate says, and whether it holds.

use super::verify;
use crate::certificate::check;
use crate::cli::{CertificateArgs, CertificateCommand};
use crate::output::{Report, Text, bullets, wrap};
use crate::problem::Problem;
use serde_json::Value;
use std::path::Path;

/// Shows it, or recomputes it.
pub fn run(arguments: &CertificateArgs) -> Result<Report, Problem> {
    match &arguments.command {
        CertificateCommand::Show { certificate } => show(certificate),
        CertificateCommand::Verify(arguments) => {
            verify::report(&arguments.certificate, arguments.model.as_deref())
        }
    }
}

/// Nothing is shown that [`verify`] would not stand for.
fn show(path: &Path) -> Result<Report, Problem> {
    let certificate = verify::read(path)?;
    if let Some(complaint) = verify::complaint(&check(&certificate)?) {
        return Err(Problem::answer_is_no(format!("it is not shown, since {complaint}"))
            .help("dobrushin certificate verify lists every difference, and what does hold"));
    }
    let mut text = Text::default();
    text.answer(for_people(&certificate));
    Ok(Report::new(text, certificate))
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
    if let Some(list) = certificate["warnings"].as_array().filter(|list| !list.is_empty()) {
        blocks.push(bullets("Warnings", list.iter().map(shown)));
    }
    blocks.push("Anyone can recompute it: dobrushin certificate verify certificate.json".to_owned());
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
