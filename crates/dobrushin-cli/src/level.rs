//! The levels at which a profile is asked for.

use crate::cli::LevelArgs;
use crate::output::object;
use crate::problem::Problem;
use dobrushin::Gamma;
use dobrushin::numeric::decimal as number;
use dobrushin_document::json::number as json_number;
use serde_json::{Map, Value, json};

/// A level, as it was given.
pub struct Level {
    /// γ = e^ε.
    pub gamma: Gamma,
    given_as_gamma: Option<f64>,
}

impl Level {
    /// The levels of `--epsilon`, then those of `--gamma`.
    pub fn all(at: &LevelArgs) -> Result<Vec<Self>, Problem> {
        let by_epsilon = at
            .epsilon
            .iter()
            .map(|e| Ok(Self { gamma: Gamma::from_epsilon(e.get())?, given_as_gamma: None }));
        let by_gamma =
            at.gamma.iter().map(|g| Ok(Self { gamma: Gamma::new(g.get())?, given_as_gamma: Some(g.get()) }));
        let levels: Result<_, dobrushin::Error> = by_epsilon.chain(by_gamma).collect();
        Ok(levels?)
    }

    /// ε, or the logarithm of the γ that was given.
    pub fn name(&self) -> String {
        match self.given_as_gamma {
            Some(gamma) => format!("ln {}", number::plain(gamma)),
            None => number::plain(self.epsilon()),
        }
    }

    /// ε, rounded if γ was given.
    pub fn epsilon(&self) -> f64 {
        self.gamma.epsilon().midpoint()
    }

    /// The fields that tell which level it is.
    pub fn json(&self) -> Map<String, Value> {
        let mut fields = object([("epsilon", json_number(self.epsilon()))]);
        if let Some(gamma) = self.given_as_gamma {
            fields.insert("gamma".to_owned(), json!(gamma));
        }
        fields
    }
}
