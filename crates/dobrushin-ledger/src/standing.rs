//! What a person has spent, and what is left.

use crate::store::{TERMS, Table};
use crate::stored::{Costs, bucket, histories, limit_of, limits, share_of};
use crate::{Budget, Ledger, LedgerError, Release, Terms};
use dobrushin::NonNegative;
use dobrushin::account::composed_cost;
use dobrushin::numeric::theta;
use dobrushin::profile::PrivacyProfile;

/// What somebody has spent of their budget.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Spent {
    /// The share of the budget, up to 1; above 1 if the budget was lowered since.
    pub share: f64,
    /// ε of a single Gaussian release, at the δ of the budget, that would still fit, however releases are chosen.
    pub left: f64,
}

/// What a person has spent, and on what.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Standing {
    /// How they are named.
    pub name: String,
    /// What they may spend.
    pub budget: Budget,
    /// Whether this budget is their own, and not everybody's.
    pub own_budget: bool,
    /// What they have spent.
    pub spent: Spent,
    /// ε of all their releases at the δ of the budget, by the exact composition of their profiles: what counts if the
    /// releases were fixed before the first of them was seen. ∞ if it is not known.
    pub planned_epsilon: f64,
    /// The releases they are in, each with its ε for them at the δ of the budget.
    pub releases: Vec<(Release, f64)>,
}

impl Ledger {
    /// What a person has spent, and on what.
    ///
    /// # Errors
    /// [`LedgerError::NoSuchPerson`], and others if something is wrong.
    pub fn person(&mut self, name: &str) -> Result<Standing, LedgerError> {
        let name = name.trim_ascii();
        self.read(|rows| {
            let terms: Terms = rows.json(Table::Meta, TERMS)?;
            let number = terms.bucket(name.as_bytes());
            let bucket = bucket(rows, number)?;
            let member =
                bucket.find(name.as_bytes()).ok_or_else(|| LedgerError::NoSuchPerson(name.to_owned()))?;
            let limits = limits(rows, &terms)?;
            let limit = limit_of(&limits, member)?;
            let (budget, delta) = (limit.budget, limit.budget.delta()?);
            let history = histories(rows, number)?.remove(&member.serial).unwrap_or_default();
            let mut costs = Costs::default();
            let (mut releases, mut profiles) = (Vec::new(), Vec::new());
            for &(release, class) in &history {
                let profile = costs.class(rows, release, class)?.profile.clone();
                releases
                    .push((rows.json(Table::Release, (0, release as i64))?, profile.epsilon(delta).upper()));
                profiles.push(profile);
            }
            let composed = composed_cost(profiles.iter().map(|profile| (profile, 1)));
            let planned_epsilon = match profiles.is_empty() {
                true => 0.0,
                false => composed.map_or(f64::INFINITY, |profile| profile.epsilon(delta).upper()),
            };
            let left = NonNegative::new(limit.allowance.gaussian_left(&member.cost))
                .map_or(0.0, |mu| theta::smallest_epsilon(mu, delta).lower());
            let again = history.clone();
            let share = share_of(rows, limit, &member.cost, |_| Ok(again), &mut costs)?;
            let spent = Spent { share, left };
            let own_budget = member.budget > 0;
            Ok(Standing { name: name.to_owned(), budget, own_budget, spent, planned_epsilon, releases })
        })
    }
}
