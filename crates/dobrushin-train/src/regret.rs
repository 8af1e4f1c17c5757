//! Regret: what online learning lost against the best fixed parameters, on records that are not secret.

use crate::descent::{Gradients, Released};
use crate::evaluate::judged;
use crate::gradient::Sum;
use crate::{Generators, Plan, Table, TrainError};
use dobrushin::run::Algorithm;

/// Σ ℓ_t(w_t) compared with the smallest Σ ℓ_t(w) that was found.
///
/// ```
/// use dobrushin_train::Regret;
///
/// let regret = Regret { rounds: 100, loss: 70.0, best: 60.0 };
/// assert_eq!(regret.total(), 10.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// The number of records that arrived.
    pub rounds: u64,
    /// The sum of their losses, each at the parameters of its time.
    pub loss: f64,
    /// The sum of their losses at the best fixed parameters that projected gradient descent without noise found.
    pub best: f64,
}

impl Regret {
    /// The difference. It is at most the true regret, since the best parameters may be better than those found.
    pub fn total(&self) -> f64 {
        self.loss - self.best
    }
}

/// The number of steps of the search for the best fixed parameters.
const SEARCH: u32 = 500;

impl Plan {
    /// Like [`Plan::train`], with the first task's regret, for online learning on public records.
    ///
    /// The regret is not private, and the guarantee of the plan does not cover it.
    ///
    /// # Errors
    /// [`TrainError`]; `Ok` without a regret if the plan is not online learning.
    pub fn train_on_public_records(
        &self,
        records: &mut Table,
        public: Option<&Table>,
        generators: &Generators,
        progress: &mut (dyn FnMut() + Send),
    ) -> Result<(Released, Option<Regret>), TrainError> {
        let mut regret = Regret { rounds: 0, loss: 0.0, best: 0.0 };
        let mut watch = |iterate: &[f64], table: &Table, places: &[u32]| {
            for &place in places {
                if let Some(judged) = judged(&self.model, iterate, table, place as usize, 0) {
                    regret.rounds += 1;
                    regret.loss += judged.loss;
                }
            }
        };
        let gradients = &mut Gradients::Own(&mut watch);
        let (released, _) = self.train_by(records, public, generators, progress, gradients, None)?;
        if self.training().algorithm != Algorithm::Online {
            return Ok((released, None));
        }
        regret.best = self.least_loss(records);
        Ok((released, Some(regret)))
    }

    /// The smallest sum of losses that projected gradient descent finds from the origin; its step is halved whenever it
    /// does not help.
    fn least_loss(&self, table: &Table) -> f64 {
        let all: Vec<u32> = (0..table.len() as u32).collect();
        let total = |parameters: &[f64]| -> f64 {
            all.iter()
                .filter_map(|&record| judged(&self.model, parameters, table, record as usize, 0))
                .map(|judged| judged.loss)
                .sum()
        };
        let mut sum = Sum::new(&self.model);
        let mut best = vec![0.0; self.model.parameters()];
        self.project(&mut best);
        let mut least = total(&best);
        let mut pace = 1.0 / table.len().max(1) as f64;
        for _ in 0..SEARCH {
            let gradient = sum.of(&self.model, &best, table, 0, &all, None);
            let mut next: Vec<f64> = best.iter().zip(gradient).map(|(w, &g)| w - pace * g).collect();
            self.project(&mut next);
            let loss = total(&next);
            if loss < least {
                (best, least, pace) = (next, loss, pace * 1.5);
            } else {
                pace /= 2.0;
            }
        }
        least
    }
}
