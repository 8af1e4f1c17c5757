//! Questions and answers, as all reports write them.

use crate::json::{Bounds, Number};
use dobrushin::account::{Account, Answer, Entry, Guarantee, Question};
use dobrushin::numeric::decimal;
use dobrushin::{Delta, Enclosure, Epsilon};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What was given: `{"delta": …}` if ε was asked for, or `{"epsilon": …}` if δ was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Given {
    /// ε was asked for at this δ.
    Delta(Number),
    /// δ was asked for at this ε.
    Epsilon(Number),
}

impl From<Question> for Given {
    fn from(question: Question) -> Self {
        match question {
            Question::EpsilonAt(delta) => Self::Delta(Number(delta.get())),
            Question::DeltaAt(epsilon) => Self::Epsilon(Number(epsilon.get())),
        }
    }
}

impl Given {
    /// The question that was written; `None` unless it is exactly one of the two.
    pub fn question_of(target: &Json) -> Option<Question> {
        match (target["delta"].as_f64(), target["epsilon"].as_f64()) {
            (Some(delta), None) => Delta::new(delta).ok().map(Question::EpsilonAt),
            (None, Some(epsilon)) => Epsilon::new(epsilon).ok().map(Question::DeltaAt),
            _ => None,
        }
    }

    /// The name of what was asked for.
    pub fn asked(self) -> &'static str {
        match self {
            Self::Delta(_) => "epsilon",
            Self::Epsilon(_) => "delta",
        }
    }

    /// Whether ε is asked for.
    pub fn asks_for_epsilon(self) -> bool {
        matches!(self, Self::Delta(_))
    }

    /// The symbol of what was asked for.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Delta(_) => "ε",
            Self::Epsilon(_) => "δ",
        }
    }

    /// What was given, in words: `δ = 1e-5`.
    pub fn in_words(self) -> String {
        match self {
            Self::Delta(Number(delta)) => format!("δ = {}", decimal::plain(delta)),
            Self::Epsilon(Number(epsilon)) => format!("ε = {}", decimal::plain(epsilon)),
        }
    }

    /// (ε, δ), with an answer in its place.
    pub fn pair(self, value: &str) -> String {
        match self {
            Self::Delta(Number(delta)) => format!("({value}, {})", decimal::plain(delta)),
            Self::Epsilon(Number(epsilon)) => format!("({}, {value})", decimal::plain(epsilon)),
        }
    }
}

/// The fields of an answer; all are missing where there is no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// ε, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<Bounds>,
    /// δ, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Bounds>,
    /// ln δ, which is known even where δ underflows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_delta: Option<Bounds>,
}

impl Answered {
    /// An answer to a question.
    pub fn new(question: Question, answer: Answer) -> Self {
        let (value, log_delta) = (Some(Bounds(answer.value)), answer.log_delta.map(Bounds));
        match question {
            Question::EpsilonAt(_) => Self { epsilon: value, delta: None, log_delta },
            Question::DeltaAt(_) => Self { epsilon: None, delta: value, log_delta },
        }
    }

    /// What was asked for, if there is an answer.
    pub fn value(self) -> Option<Enclosure> {
        self.epsilon.or(self.delta).map(|bounds| bounds.0)
    }

    /// The answer, if there is one.
    pub fn answer(self) -> Option<Answer> {
        Some(Answer { value: self.value()?, log_delta: self.log_delta.map(|bounds| bounds.0) })
    }
}

/// What one analysis says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The analysis.
    pub id: String,
    /// Its answer, if it applies.
    #[serde(flatten)]
    pub answer: Answered,
    /// Why it does not apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
    /// Whether it is not a bound.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
}

impl Finding {
    /// What every analysis says.
    pub fn all(account: &Account) -> Vec<Self> {
        account.entries.iter().map(|entry| Self::new(account.question, entry)).collect()
    }

    fn new(question: Question, entry: &Entry) -> Self {
        let (answer, not_applicable) = match &entry.outcome {
            Ok(answer) => (Answered::new(question, *answer), None),
            Err(reason) => (Answered::default(), Some(reason.to_string())),
        };
        Self { id: entry.id.to_owned(), answer, not_applicable, approximate: !entry.rigorous }
    }
}

/// The guarantee of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GuaranteeReport {
    /// The answer.
    #[serde(flatten)]
    pub answer: Answered,
    /// What was given.
    #[serde(flatten)]
    pub given: Given,
    /// The analysis by which it holds.
    pub analysis: String,
    /// What must hold, in words.
    pub assumptions: Vec<String>,
}

impl GuaranteeReport {
    /// The best of what the analyses say, if it is a guarantee.
    pub fn of(account: &Account) -> Option<Self> {
        let Guarantee { id, answer, assumptions, .. } = account.guarantee().ok()?;
        Some(Self {
            answer: Answered::new(account.question, answer),
            given: account.question.into(),
            analysis: id.to_owned(),
            assumptions: in_words(assumptions),
        })
    }
}

/// Assumptions, as they are written.
pub fn in_words(assumptions: &[impl ToString]) -> Vec<String> {
    assumptions.iter().map(ToString::to_string).collect()
}
