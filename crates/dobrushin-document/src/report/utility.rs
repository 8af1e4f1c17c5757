//! How good a run is.

use super::answer::in_words;
use crate::json::Bounds;
use dobrushin::NotApplicable;
use dobrushin::utility::{BestRate, Entry, Utility};
use serde::Serialize;

/// The bounds on excess risk or regret, or why there are none.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum UtilityReport {
    /// No theorem covers such a run.
    None {
        /// The reason.
        not_applicable: String,
    },
    /// What the theorems say.
    Bounded {
        /// The best bound.
        #[serde(flatten)]
        best: Option<BestReport>,
        /// What every theorem says.
        all: Vec<BoundReport>,
        /// The constant learning rate that would be best.
        #[serde(skip_serializing_if = "Option::is_none")]
        best_rate: Option<RateReport>,
        /// The best bound of each measure, in the order in which people read them.
        #[serde(skip)]
        by_measure: Vec<BestReport>,
    },
}

/// A bound that holds.
#[derive(Clone, Debug, Serialize)]
pub struct BestReport {
    /// What is bounded.
    pub measure: &'static str,
    /// The bound.
    pub value: Bounds,
    /// The theorem.
    pub id: &'static str,
    /// What must hold, in words.
    pub assumptions: Vec<String>,
    /// Whether it says nothing about the run: every point of the domain satisfies it, or one that was chosen without
    /// looking at the data.
    pub vacuous: bool,
    /// The excess of a model that was chosen without looking at the data.
    pub without_data: Bounds,
    /// What is bounded, in words.
    #[serde(skip)]
    pub measure_in_words: &'static str,
    /// Whether every point of the domain satisfies it.
    #[serde(skip)]
    pub is_of_any_point: bool,
}

/// What one theorem says.
#[derive(Clone, Debug, Serialize)]
pub struct BoundReport {
    id: &'static str,
    measure: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Bounds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_applicable: Option<String>,
}

/// A learning rate, and the bound that it would give.
#[derive(Clone, Debug, Serialize)]
pub struct RateReport {
    /// η.
    pub learning_rate: f64,
    /// The theorem.
    pub id: &'static str,
    /// Its bound.
    pub value: Bounds,
}

impl From<&Result<Utility, NotApplicable>> for UtilityReport {
    fn from(utility: &Result<Utility, NotApplicable>) -> Self {
        let utility = match utility {
            Ok(utility) => utility,
            Err(reason) => return Self::None { not_applicable: reason.to_string() },
        };
        let best = utility.measures().into_iter().filter_map(|measure| utility.best_of(measure));
        let rate =
            |BestRate { rate, id, value }| RateReport { learning_rate: rate.get(), id, value: Bounds(value) };
        Self::Bounded {
            best: utility.best().map(BestReport::from),
            all: utility.entries.iter().map(BoundReport::from).collect(),
            best_rate: utility.best_rate.map(rate),
            by_measure: best.map(BestReport::from).collect(),
        }
    }
}

impl From<dobrushin::utility::Best<'_>> for BestReport {
    fn from(best: dobrushin::utility::Best<'_>) -> Self {
        Self {
            measure: best.measure.name(),
            value: Bounds(best.value),
            id: best.id,
            assumptions: in_words(best.assumptions),
            measure_in_words: best.measure.words(),
            vacuous: best.is_vacuous(),
            without_data: Bounds(best.blind),
            is_of_any_point: best.is_of_any_point(),
        }
    }
}

impl From<&Entry> for BoundReport {
    fn from(entry: &Entry) -> Self {
        Self {
            id: entry.id,
            measure: entry.measure.name(),
            value: entry.outcome.as_ref().ok().copied().map(Bounds),
            not_applicable: entry.outcome.as_ref().err().map(ToString::to_string),
        }
    }
}
