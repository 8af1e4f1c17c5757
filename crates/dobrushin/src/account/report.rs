//! One question, answered by every analysis.

use super::analyses::analyses;
use crate::algorithm::{NotApplicable, Run};
use crate::profile::PrivacyProfile;
use crate::{Delta, Enclosure, Epsilon};

/// What is asked of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// The smallest ε for a δ.
    Epsilon(Delta),
    /// The smallest δ for an ε.
    Delta(Epsilon),
}

/// What a profile answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// ε or δ, whichever was asked for.
    pub value: Enclosure,
    /// ln δ, if δ was asked for: it does not underflow.
    pub log_delta: Option<Enclosure>,
}

impl Question {
    /// Asks a profile.
    pub fn ask(self, profile: &dyn PrivacyProfile) -> Answer {
        match self {
            Self::Epsilon(delta) => Answer { value: profile.epsilon(delta), log_delta: None },
            Self::Delta(epsilon) => {
                Answer { value: profile.delta(epsilon), log_delta: Some(profile.log_delta(epsilon)) }
            }
        }
    }
}

/// What one analysis answered.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The analysis.
    pub id: &'static str,
    /// Whether the upper end is a guarantee.
    pub rigorous: bool,
    /// The answer, or why there is none.
    pub outcome: Result<Answer, NotApplicable>,
}

/// What all analyses answered.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was asked.
    pub question: Question,
    /// One for each analysis, in a fixed order.
    pub entries: Vec<Entry>,
    /// What must hold for the answers, in words.
    pub assumptions: Vec<String>,
}

impl Report {
    /// Asks every analysis of a run, for enclosures of ε about `tolerance` wide, relatively.
    pub fn new(run: &Run, question: Question, tolerance: f64) -> Self {
        let entry = |analysis: super::Analysis| Entry {
            id: analysis.id,
            rigorous: analysis.rigorous,
            outcome: analysis.profile.map(|profile| question.ask(profile.as_ref())),
        };
        let assumptions = run.composition().map(|composed| composed.assumptions).unwrap_or_default();
        Self { question, entries: analyses(run, tolerance).into_iter().map(entry).collect(), assumptions }
    }

    /// The best rigorous answer with its analysis.
    ///
    /// # Guarantee
    /// Under the assumptions the run is (ε, δ)-private with the upper end of the answer.
    pub fn guarantee(&self) -> Option<(&'static str, Answer)> {
        let rigorous = self.entries.iter().filter(|entry| entry.rigorous);
        let answers = rigorous.filter_map(|entry| Some((entry.id, *entry.outcome.as_ref().ok()?)));
        answers.min_by(|(_, a), (_, b)| a.value.upper().total_cmp(&b.value.upper()))
    }
}
