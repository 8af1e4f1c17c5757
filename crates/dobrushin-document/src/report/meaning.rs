//! What a guarantee means for one person.

use crate::json::{Bounds, Number};
use dobrushin::Neighbours;
use dobrushin::account::Meaning;
use serde::{Deserialize, Serialize};

/// What an attacker can learn about one person at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeaningReport {
    /// What the attacker wants to know.
    pub question: Asked,
    /// How certain an attacker can become who found both answers equally likely.
    pub posterior_from_half: Bounds,
    /// The probability with which the certainty may be larger.
    pub delta: Number,
    /// The largest true-positive rates.
    pub tpr_at_fpr: Vec<RateReport>,
    /// The largest difference of true- and false-positive rates.
    pub advantage: Bounds,
    /// At most one more in this many people is recognised than by guessing; `None` if that is not even one in two.
    pub one_more_in: Option<u64>,
}

/// The largest true-positive rate at a false-positive rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateReport {
    /// The false-positive rate.
    pub fpr: f64,
    /// The true-positive rate.
    pub tpr: Bounds,
}

/// What an attacker wants to know about one person, according to the neighbour relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// Whether the person's record was used (add-or-remove-one).
    TookPart,
    /// Which of two values the person's record has (replace-one).
    WhichValue,
    /// Whether the person's record was used, or an empty one in its place (zero-out).
    WasUsed,
    /// Whether deleted records were ever used.
    WereEverUsed,
    /// Which of two neighbouring data sets was used, whatever neighbours are.
    WhichData,
}

impl From<Option<Neighbours>> for Asked {
    fn from(neighbours: Option<Neighbours>) -> Self {
        match neighbours {
            Some(Neighbours::AddOrRemoveOne) => Self::TookPart,
            Some(Neighbours::ReplaceOne) => Self::WhichValue,
            Some(Neighbours::ZeroOut) => Self::WasUsed,
            None => Self::WhichData,
        }
    }
}

impl From<Meaning> for MeaningReport {
    fn from(meaning: Meaning) -> Self {
        let rates = meaning.true_positive_rates.iter();
        Self {
            question: match meaning.deleted {
                0 => meaning.neighbours.into(),
                _ => Asked::WereEverUsed,
            },
            posterior_from_half: Bounds(meaning.posterior_from_half),
            delta: Number(meaning.delta),
            tpr_at_fpr: rates.map(|(fpr, tpr)| RateReport { fpr: fpr.get(), tpr: Bounds(*tpr) }).collect(),
            advantage: Bounds(meaning.advantage),
            one_more_in: meaning.one_more_in(),
        }
    }
}
