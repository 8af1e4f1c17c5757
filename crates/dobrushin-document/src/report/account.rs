//! `account`: how private a run is.

use super::answer::{Answered, Finding, Given, GuaranteeReport};
use super::{FloorReport, MeaningReport, ObserversReport, Records, RenyiReport, UtilityReport};
use crate::json::Number;
use crate::run_file::RunFile;
use dobrushin::Epsilon;
use dobrushin::account::{Account, Advice};
use serde::Serialize;
use serde_json::Value as Json;

/// What every analysis says about a run, with the best as the guarantee.
#[derive(Serialize)]
pub struct AccountReport {
    schema: u32,
    run: Json,
    /// What was given.
    pub target: Given,
    /// The best of what the analyses say.
    pub guarantee: Option<GuaranteeReport>,
    /// What the guarantee means for one person; `None` if it is vacuous, or there is none.
    pub meaning: Option<MeaningReport>,
    /// One entry for each analysis, in a fixed order.
    pub analyses: Vec<Finding>,
    /// Where the answer comes from, in words.
    pub explanation: Vec<String>,
    /// What could not be used, or says nothing, and why, in words; the concern comes first.
    pub warnings: Vec<String>,
    /// Why the guarantee protects nobody, though it holds, in words.
    #[serde(skip)]
    pub concern: Option<String>,
    /// What else was asked for.
    #[serde(flatten)]
    pub extras: Extras,
}

/// What can be asked for besides the guarantee.
#[derive(Clone, Default, Serialize)]
pub struct Extras {
    /// Whether both ε and δ are met, if both were asked.
    #[serde(flatten)]
    pub wanted: Option<WantedReport>,
    /// What no analysis of the same facts can go below, if it was asked for and an instance is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorReport>,
    /// What would help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Vec<AdviceReport>>,
    /// How good the run is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utility: Option<UtilityReport>,
    /// How well each record is protected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
    /// What each observer learns, if the records are at their owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observers: Option<ObserversReport>,
    /// Rényi divergences, one for each order that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renyi: Option<Vec<RenyiReport>>,
    /// Whether the run is the built-in example.
    #[serde(rename = "example", skip_serializing_if = "std::ops::Not::not")]
    pub is_example: bool,
}

/// Whether a run is (ε, δ)-private, for a given ε and the δ of the account.
#[derive(Clone, Serialize)]
pub struct WantedReport {
    /// Whether some analysis proves it.
    pub meets: bool,
    /// The δ at the given ε.
    pub at_epsilon: AtEpsilon,
}

/// The δ at an ε; there is none if no analysis applies.
#[derive(Clone, Serialize)]
pub struct AtEpsilon {
    /// The ε.
    pub epsilon: Number,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answered,
    /// The analysis that says so.
    pub analysis: Option<&'static str>,
}

impl WantedReport {
    /// The answer by an account of the ε at δ and another of the δ at ε: either can prove it.
    pub fn new(epsilon: Epsilon, of_epsilon: &Account, of_delta: &Account) -> Self {
        let (best, best_delta) = (of_epsilon.guarantee().ok(), of_delta.guarantee().ok());
        let by_epsilon = best.is_some_and(|best| best.epsilon() <= epsilon.get());
        let by_delta = best.zip(best_delta).is_some_and(|(given, found)| found.delta() <= given.delta());
        Self {
            meets: by_epsilon || by_delta,
            at_epsilon: AtEpsilon {
                epsilon: Number(epsilon.get()),
                answer: best_delta
                    .map_or(Answered::default(), |best| Answered::new(of_delta.question, best.answer)),
                analysis: best_delta.map(|best| best.id),
            },
        }
    }
}

/// A change, and what it would give.
#[derive(Clone, Serialize)]
pub struct AdviceReport {
    /// The change, in words.
    pub change: String,
    /// The analysis that says so.
    pub analysis: &'static str,
    /// The answer with the change.
    #[serde(flatten)]
    pub answer: Answered,
}

impl AccountReport {
    /// The report of an account of the run that a file describes.
    pub fn new(file: &RunFile, account: &Account, extras: Extras) -> Self {
        Self {
            schema: 1,
            run: file.json(),
            target: account.question.into(),
            guarantee: GuaranteeReport::of(account),
            meaning: account.meaning().map(Into::into),
            analyses: Finding::all(account),
            explanation: account.explanation.clone(),
            warnings: account.warnings.clone(),
            concern: account.concern.clone(),
            extras,
        }
    }
}

impl AdviceReport {
    /// Which changes would help, according to an account.
    pub fn all(account: &Account, advice: Vec<Advice>) -> Vec<Self> {
        let one = |Advice { change, answer, analysis, .. }| Self {
            change,
            analysis,
            answer: Answered::new(account.question, answer),
        };
        advice.into_iter().map(one).collect()
    }
}
