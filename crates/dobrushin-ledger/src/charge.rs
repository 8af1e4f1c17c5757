//! Charging people for a release, a bucket at a time.

use crate::bucket::{Bucket, Member};
use crate::budget::Limit;
use crate::classes::Classes;
use crate::entry::Part;
use crate::roll::Group;
use crate::store::Rows;
use crate::stored::{Costs, Part64, bucket, histories, limit_of, limits};
use crate::{Choice, LedgerError, Spend, Terms};
use dobrushin::account::composed_cost;
use std::collections::HashMap;

/// Charging people for a release.
pub struct Charge<'a> {
    pub classes: Classes<'a>,
    limits: Vec<Limit>,
    costs: Costs,
    /// Whether a history fits with a class of this release, where only the exact composition can tell; by the number of
    /// the budget.
    exact: HashMap<(u32, Vec<Part64>, u32), bool>,
}

impl<'a> Charge<'a> {
    pub fn new(rows: &mut dyn Rows, terms: &Terms, spend: &'a Spend) -> Result<Self, LedgerError> {
        let limits = limits(rows, terms)?;
        Ok(Self { classes: Classes::new(spend), limits, costs: Costs::default(), exact: HashMap::new() })
    }

    /// Charges some people of a bucket: the bucket afterwards, who takes part, and how many are new. `refuse` is told who
    /// would spend too much.
    pub fn bucket(
        &mut self,
        rows: &mut dyn Rows,
        number: u32,
        group: Group,
        refuse: &mut dyn FnMut(&Member, &[u64]),
    ) -> Result<(Bucket, Vec<Part>, u64), LedgerError> {
        let mut bucket = bucket(rows, number)?;
        let (mut parts, mut failed, mut history) = (Vec::with_capacity(group.len()), None, None);
        let names = group.iter().map(|(name, places)| (&**name, &places[..]));
        let new = bucket.visit(names, |member, places| {
            let mut charge = || {
                let class = self.classes.of(places)?;
                let cost = member.cost.and(self.classes.made[class as usize].cost);
                let limit = *limit_of(&self.limits, member)?;
                let fits = limit.fits(&cost)
                    || (limit.budget.choice == Choice::Planned && {
                        if history.is_none() {
                            history = Some(histories(rows, number)?);
                        }
                        let before = history.as_ref().and_then(|history| history.get(&member.serial));
                        self.fits_exactly(
                            rows,
                            &limit,
                            member.budget,
                            before.cloned().unwrap_or_default(),
                            class,
                        )?
                    });
                if !fits {
                    refuse(member, places);
                }
                member.cost = cost;
                parts.push((member.serial, class));
                Ok(())
            };
            if failed.is_none() {
                failed = charge().err();
            }
        });
        match failed {
            Some(error) => Err(error),
            None => Ok((bucket, parts, new)),
        }
    }

    /// Whether a history and a class of this release are together within the budget, by the exact composition.
    fn fits_exactly(
        &mut self,
        rows: &mut dyn Rows,
        limit: &Limit,
        budget: u32,
        history: Vec<Part64>,
        class: u32,
    ) -> Result<bool, LedgerError> {
        let key = (budget, history, class);
        if let Some(&known) = self.exact.get(&key) {
            return Ok(known);
        }
        for &(release, class) in &key.1 {
            self.costs.class(rows, release, class)?;
        }
        let earlier =
            key.1.iter().filter_map(|part| self.costs.known.get(part)).map(|class| (&class.profile, 1));
        let all = earlier.chain([(&self.classes.made[class as usize].profile, 1)]);
        let epsilon = composed_cost(all)
            .map(|profile| Ok::<_, LedgerError>(profile.epsilon(limit.budget.delta()?).upper()));
        let fits = epsilon.is_ok_and(|epsilon| epsilon.is_ok_and(|epsilon| epsilon <= limit.budget.epsilon));
        self.exact.insert(key, fits);
        Ok(fits)
    }
}
