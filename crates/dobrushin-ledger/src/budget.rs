//! What people may spend.

use crate::LedgerError;
use dobrushin::profile::{Allowance, RunningCost};
use dobrushin::{Delta, Epsilon};
use serde::{Deserialize, Serialize};

/// How releases are chosen, which decides how their costs add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// Each may be chosen after earlier ones were seen. [`Allowance`] says what may follow.
    #[default]
    Adaptive,
    /// Which releases there are, their settings and who is in them, was decided before the first of them was seen. Then
    /// the exact composition of their profiles counts, which is tighter.
    Planned,
}

/// What a person may spend: all releases together are to be (ε, δ)-private for them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// How releases are chosen.
    #[serde(default)]
    pub choice: Choice,
}

impl Budget {
    /// A budget.
    pub fn new(epsilon: Epsilon, delta: Delta, choice: Choice) -> Self {
        Self { epsilon: epsilon.get(), delta: delta.get(), choice }
    }

    /// What fits whatever the choice is.
    pub(crate) fn allowance(&self) -> Result<Allowance, LedgerError> {
        if self.epsilon == f64::INFINITY {
            return Err(LedgerError::invalid(
                "the ε of a budget is ∞, which limits nothing",
                "give a finite ε",
            ));
        }
        let stored = |_| LedgerError::Damaged(format!("a budget is ({}, {})", self.epsilon, self.delta));
        Ok(Allowance::new(Epsilon::new(self.epsilon).map_err(stored)?, self.delta()?))
    }

    /// Whether it says that releases are planned, which an earlier budget did not.
    pub(crate) fn is_planned_after(&self, earlier: &Self) -> bool {
        self.choice == Choice::Planned && earlier.choice != Choice::Planned
    }

    pub(crate) fn delta(&self) -> Result<Delta, LedgerError> {
        Delta::new(self.delta)
            .map_err(|_| LedgerError::Damaged(format!("the δ of a budget is {}", self.delta)))
    }
}

/// A budget with its limits.
#[derive(Clone, Copy)]
pub struct Limit {
    pub budget: Budget,
    pub allowance: Allowance,
}

impl Limit {
    pub fn of(budget: Budget) -> Result<Self, LedgerError> {
        Ok(Self { allowance: budget.allowance()?, budget })
    }

    /// Whether it fits however releases are chosen.
    pub fn fits(&self, cost: &RunningCost) -> bool {
        self.allowance.fits(cost)
    }
}
