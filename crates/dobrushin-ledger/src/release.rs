//! What was released, as the ledger keeps it.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// How far a release is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It may have happened, and counts as if it had.
    Reserved,
    /// It is happening, and counts. It can no longer be aborted by somebody who believes that it never happened.
    Leaving,
    /// It has happened.
    Committed,
    /// It has not happened, and costs nobody anything.
    Aborted,
}

impl Status {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Leaving => "leaving",
            Self::Committed => "committed",
            Self::Aborted => "aborted",
        }
    }
}

/// A release, as the ledger keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// Its number.
    pub id: u64,
    /// How far it is.
    pub status: Status,
    /// What it is, in a few words.
    pub what: String,
    /// The day on which it was reserved, as the clock said; nothing depends on it.
    pub made: Option<String>,
    /// How many people are in it.
    pub people: u64,
    /// How many records they have in it.
    pub records: u64,
    /// How many costs there are.
    pub(crate) classes: u32,
    /// What was said when it was committed or aborted, and deletions since.
    pub notes: Vec<String>,
    /// All that its costs were computed from.
    pub description: Json,
}
