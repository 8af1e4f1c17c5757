//! What no analysis of the same facts can go below.

use super::Answered;
use dobrushin::account::Question;
use dobrushin_audit::floor::Floor;
use serde::{Deserialize, Serialize};

/// The floor of a run: its lower end holds for the worst data that the facts allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorReport {
    /// What an instance releases.
    #[serde(flatten)]
    pub answer: Answered,
    /// The instance, in words.
    pub instance: String,
}

impl FloorReport {
    /// The report of a floor for a question.
    pub fn new(question: Question, floor: &Floor) -> Self {
        Self { answer: Answered::new(question, floor.answer), instance: floor.instance.clone() }
    }
}
