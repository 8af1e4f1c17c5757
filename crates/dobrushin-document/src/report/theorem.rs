//! The theorem behind a number.

use dobrushin::analysis;
use dobrushin::statement::Statement;
use serde::{Deserialize, Serialize};

/// A statement with its assumptions and its source; only analyses have the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the library's statement and its notes")]
pub struct Theorem {
    pub id: String,
    pub title: String,
    pub statement: String,
    pub assumptions: Vec<String>,
    pub source: String,
    pub errata: Vec<String>,
    pub is_analysis: bool,
    pub applies_to: Option<String>,
    pub formula: Option<String>,
    pub proof: Option<Vec<String>>,
    pub wins: Option<Vec<String>>,
    pub example: Option<String>,
}

impl From<&Statement> for Theorem {
    fn from(statement: &Statement) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let notes = statement.notes.as_ref();
        Self {
            id: statement.id.to_owned(),
            title: statement.title.to_owned(),
            statement: statement.statement.to_owned(),
            assumptions: owned(statement.assumptions),
            source: statement.source.to_owned(),
            errata: owned(statement.errata),
            is_analysis: analysis::ALL.iter().any(|theorem| theorem.id() == statement.id),
            applies_to: notes.map(|notes| notes.applies_to.to_owned()),
            formula: notes.map(|notes| notes.formula.to_owned()),
            proof: notes.map(|notes| owned(notes.proof)),
            wins: notes.map(|notes| owned(notes.wins)),
            example: notes.map(|notes| notes.example.to_owned()),
        }
    }
}
