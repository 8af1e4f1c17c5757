//! The levels at which a profile is asked for.

use crate::json::Number;
use dobrushin::numeric::decimal as number;
use dobrushin::{Epsilon, Error, Gamma, Positive};
use serde::Serialize;

/// A level, as it was given: ε, or γ = e^ε.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Level {
    /// γ = e^ε.
    #[serde(skip)]
    pub gamma: Gamma,
    epsilon: Number,
    #[serde(rename = "gamma", skip_serializing_if = "Option::is_none")]
    given_as_gamma: Option<f64>,
}

impl Level {
    /// The level that was given as ε.
    pub fn at_epsilon(epsilon: Epsilon) -> Result<Self, Error> {
        Gamma::from_epsilon(epsilon.get()).map(|gamma| Self::new(gamma, None))
    }

    /// The level that was given as γ.
    pub fn at_gamma(gamma: Positive) -> Result<Self, Error> {
        Gamma::new(gamma.get()).map(|level| Self::new(level, Some(gamma.get())))
    }

    fn new(gamma: Gamma, given_as_gamma: Option<f64>) -> Self {
        Self { gamma, epsilon: Number(gamma.epsilon().midpoint()), given_as_gamma }
    }

    /// ε, or the logarithm of the γ that was given.
    pub fn name(&self) -> String {
        match self.given_as_gamma {
            Some(gamma) => format!("ln {}", number::plain(gamma)),
            None => number::plain(self.epsilon()),
        }
    }

    /// γ, if that was given.
    pub fn given_as_gamma(&self) -> Option<f64> {
        self.given_as_gamma
    }

    /// ε, rounded if γ was given.
    pub fn epsilon(&self) -> f64 {
        self.epsilon.0
    }
}
