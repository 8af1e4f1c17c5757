//! `local bounds` for a problem of one's own: what private reports can tell at best.

use super::local::ContractionReport;
use crate::json::Bounds;
use dobrushin_local::risk::own::{Answer, Comparison, Findings, Setting, Side};
use serde::Serialize;

/// What reports can tell at best about a problem of one's own.
#[derive(Serialize)]
pub struct ProblemReport {
    problem: &'static str,
    /// The problem, in words.
    #[serde(skip)]
    pub(crate) title: String,
    pub(crate) records: u32,
    pub(crate) privacy: PrivacyReport,
    pub(crate) contraction: ContractionReport,
    pub(crate) effective_records: Bounds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) published_effective_records: Option<Bounds>,
    pub(crate) quantities: Vec<QuantityReport>,
    pub(crate) answers: Vec<AnswerReport>,
}

/// How the reports are private.
#[derive(Clone, Serialize)]
pub struct PrivacyReport {
    /// "promise", "mechanism" or "channel".
    pub kind: &'static str,
    /// ε of the promise that is given, or that the channel keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// δ of that promise.
    pub delta: f64,
    /// The mechanism.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    /// The reports, in words.
    #[serde(skip)]
    pub words: String,
}

#[derive(Serialize)]
pub(crate) struct QuantityReport {
    pub id: &'static str,
    pub what: String,
    pub value: Bounds,
}

#[derive(Serialize)]
pub(crate) struct AnswerReport {
    pub id: &'static str,
    pub what: String,
    /// "below" or "above": the end of every bound that is proved.
    pub bounded_from: &'static str,
    pub bounds: Vec<OwnBoundReport>,
    /// The exact value from the records in the clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_privacy: Option<Bounds>,
    /// The exact value through the given channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through_channel: Option<Bounds>,
}

#[derive(Serialize)]
pub(crate) struct OwnBoundReport {
    pub id: &'static str,
    pub value: Bounds,
    pub coefficient: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Bounds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_privacy: Option<Bounds>,
    /// Whether it also holds if channels are chosen after earlier reports have been seen.
    pub interactive: bool,
}

impl ProblemReport {
    /// What was found out in a setting.
    pub fn new(
        (problem, title): (&'static str, String),
        privacy: PrivacyReport,
        setting: &Setting,
        findings: Findings,
    ) -> Self {
        let (reports, records) = (setting.reports(), setting.records());
        let phi = setting.published().map(|published| Bounds(published.information()));
        let worth = setting.published().map(|published| Bounds(published.effective_records(records)));
        let quantities = findings.quantities.into_iter().map(|quantity| QuantityReport {
            id: quantity.id,
            what: quantity.what,
            value: Bounds(quantity.value),
        });
        Self {
            problem,
            title,
            records: records.get(),
            privacy,
            contraction: ContractionReport {
                tv: Bounds(reports.total_variation()),
                kl: Bounds(reports.information()),
                published: phi,
            },
            effective_records: Bounds(reports.effective_records(records)),
            published_effective_records: worth,
            quantities: quantities.collect(),
            answers: findings.answers.into_iter().map(AnswerReport::of).collect(),
        }
    }
}

impl AnswerReport {
    fn of(answer: Answer) -> Self {
        let bound = |one: &Comparison| OwnBoundReport {
            id: one.bound.id,
            value: Bounds(one.bound.value),
            coefficient: one.bound.coefficient.to_string(),
            published: one.published.map(Bounds),
            without_privacy: one.clear.map(Bounds),
            interactive: true,
        };
        Self {
            id: answer.id,
            bounds: answer.bounds.iter().map(bound).collect(),
            what: answer.what,
            bounded_from: match answer.side {
                Side::AtLeast => "below",
                Side::AtMost => "above",
            },
            without_privacy: answer.clear.map(Bounds),
            through_channel: answer.through.map(Bounds),
        }
    }

    pub fn is_from_below(&self) -> bool {
        self.bounded_from == "below"
    }
}
