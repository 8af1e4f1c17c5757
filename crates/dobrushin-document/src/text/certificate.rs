//! Certificates as people read them.

use super::{Block, bullets, wrap};
use crate::certificate::Certificate;
use crate::json;
use serde::Serialize;
use serde_json::Value as Json;

/// A certificate for people: guarantee, assumptions, and how each is enforced.
pub fn certificate(certificate: &Certificate) -> String {
    let Certificate { guarantee, training, run, .. } = certificate;
    let mut blocks: Vec<Block> = vec![
        format!(
            "(ε, δ) = ({}, {}), by {}",
            shown(&json::Number(guarantee.epsilon.0.upper())),
            shown(&json::Number(guarantee.delta.0.upper())),
            guarantee.analysis
        )
        .into(),
    ];
    if let Some(training) = training.as_ref().filter(|training| !training.private) {
        let seed = shown(&training.seed);
        blocks.push(format!("The randomness came from seed {seed}: {}.", training.randomness).into());
    }
    let algorithm = shown(&run["run"]["algorithm"]);
    let mut facts = vec![
        match &run["run"]["order"] {
            Json::Null => format!("algorithm {algorithm}"),
            order => format!("algorithm {algorithm}, order {}", shown(order)),
        },
        format!("made by dobrushin {}", certificate.program.version),
    ];
    if let Some(training) = training {
        let kind = shown(&run["model"]["kind"]);
        let parameters = shown(&training.constants.parameters);
        facts.insert(0, format!("model {kind}, {parameters} parameters"));
        facts.insert(1, format!("{} records", training.records));
        facts.push(format!("SHA-256 of the model {}", training.model_sha256));
        facts.push(format!("SHA-256 of the schema {}", training.schema_sha256));
    }
    blocks.push(bullets("What was run", &facts));
    blocks.push(match training {
        Some(training) => {
            let how = training.enforcement.iter();
            let how = how.map(|entry| format!("{}. How: {}", entry.assumption, entry.enforced));
            bullets("What it assumes", how)
        }
        None => bullets("What it assumes", &guarantee.assumptions),
    });
    blocks.extend(training.as_ref().map(|training| bullets("Not covered", &training.not_covered)));
    if !certificate.explanation.is_empty() {
        blocks.push(certificate.explanation.iter().map(|line| wrap(line, "")).collect());
    }
    if !certificate.warnings.is_empty() {
        blocks.push(bullets("Warnings", &certificate.warnings));
    }
    blocks.push("Anyone can recompute it: dobrushin certificate verify certificate.json".into());
    blocks.iter().map(Block::to_string).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// A value as the certificate writes it, without quotes.
fn shown(value: &impl Serialize) -> String {
    match json::of(value) {
        Json::String(text) => text,
        Json::Null => "unknown".to_owned(),
        other => other.to_string(),
    }
}
