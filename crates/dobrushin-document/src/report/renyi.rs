//! The Rényi divergences of a run: `account --order`, and `curve --order` over orders or over a parameter.

use super::answer::in_words;
use crate::json::{Bounds, Number};
use crate::run_file::Sweep;
use dobrushin::account::{RenyiAccount, RenyiEntry};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

/// What the analyses say about one order.
#[derive(Clone, Serialize)]
pub struct RenyiReport {
    /// α.
    pub order: Number,
    /// The smallest bound on D_α; none if no analysis has a finite one.
    pub value: Option<Bounds>,
    /// The analysis that gives it.
    pub analysis: Option<&'static str>,
    /// What must hold for it, in words.
    pub assumptions: Vec<String>,
    /// What each analysis says that bounds Rényi divergences.
    pub analyses: Vec<RenyiFinding>,
}

/// What one analysis says about D_α.
#[derive(Clone, Serialize)]
pub struct RenyiFinding {
    /// The analysis.
    pub id: &'static str,
    /// Its bound.
    pub value: Bounds,
    /// Whether it is not a bound.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
}

impl RenyiReport {
    /// The report of what the analyses say.
    pub fn new(account: &RenyiAccount) -> Self {
        // A bound of ∞ says nothing.
        let best = account.guarantee().filter(|best| best.value.upper() < f64::INFINITY);
        let finding = |entry: &RenyiEntry| RenyiFinding {
            id: entry.id,
            value: Bounds(entry.value),
            approximate: !entry.rigorous,
        };
        Self {
            order: Number(account.order.get()),
            value: best.map(|best| Bounds(best.value)),
            analysis: best.map(|best| best.id),
            assumptions: best.map_or(Vec::new(), |best| in_words(&best.assumptions)),
            analyses: account.entries.iter().map(finding).collect(),
        }
    }

    /// What an analysis says.
    pub fn of(&self, id: &str) -> Option<Bounds> {
        self.analyses.iter().find(|finding| finding.id == id).map(|finding| finding.value)
    }

    /// The analyses that say something in one of the reports, in a fixed order, and whether they are bounds.
    pub fn ids<'a>(reports: impl Iterator<Item = &'a Self>) -> Vec<(&'static str, bool)> {
        let mut ids: Vec<(&'static str, bool)> = Vec::new();
        for finding in reports.flat_map(|report| &report.analyses) {
            if ids.iter().all(|(id, _)| *id != finding.id) {
                ids.push((finding.id, !finding.approximate));
            }
        }
        ids
    }
}

/// Rényi divergences over orders, and over a parameter of the run if one is varied.
pub struct RenyiCurve {
    /// What is varied besides the order.
    pub over: Option<Sweep>,
    /// For each value of the parameter, or once, a report for each order.
    pub rows: Vec<Vec<RenyiReport>>,
}

#[derive(Serialize)]
struct Fields<'a> {
    over: Vec<Over<'a>>,
    renyi: Vec<Point<'a>>,
}

#[derive(Serialize)]
struct Over<'a> {
    key: &'a str,
    values: Vec<Json>,
}

#[derive(Serialize)]
struct Point<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Json>,
    #[serde(flatten)]
    report: &'a RenyiReport,
}

impl Serialize for RenyiCurve {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = self.over.as_ref().map(Sweep::json);
        let point = |row: usize| {
            let at = values.as_ref().map(|values| values[row].clone());
            self.rows[row].iter().map(move |report| Point { at: at.clone(), report })
        };
        let fields = Fields {
            over: (self.over.iter()).map(|sweep| Over { key: &sweep.key, values: sweep.json() }).collect(),
            renyi: (0..self.rows.len()).flat_map(point).collect(),
        };
        fields.serialize(serializer)
    }
}
