//! What rows say: releases, buckets, budgets, costs, and who was in what.

use crate::bucket::{Bucket, Member};
use crate::budget::Limit;
use crate::codec::damaged;
use crate::entry;
use crate::store::{Rows, TERMS, Table};
use crate::{Choice, LedgerError, Release, Status, Terms};
use dobrushin::account::composed_cost;
use dobrushin::profile::RunningCost;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(crate) fn release(rows: &mut dyn Rows, id: u64) -> Result<Release, LedgerError> {
    let terms: Terms = rows.json(Table::Meta, TERMS)?;
    if id == 0 || id > terms.releases {
        return Err(LedgerError::NoSuchRelease(id));
    }
    rows.json(Table::Release, (0, id as i64))
}

pub(crate) fn in_status(
    rows: &mut dyn Rows,
    id: u64,
    accepted: &[Status],
    wanted: &'static str,
) -> Result<Release, LedgerError> {
    let release = release(rows, id)?;
    match accepted.contains(&release.status) {
        true => Ok(release),
        false => Err(LedgerError::NotReserved { id, status: release.status.word(), wanted }),
    }
}

pub(crate) fn bucket(rows: &mut dyn Rows, number: u32) -> Result<Bucket, LedgerError> {
    let key = (0, i64::from(number));
    Bucket::decode(&rows.content(Table::Bucket, key)?).ok_or_else(|| damaged(Table::Bucket, key))
}

pub(crate) fn put_bucket(rows: &mut dyn Rows, number: u32, bucket: &mut Bucket) -> Result<(), LedgerError> {
    rows.put_content(Table::Bucket, (0, i64::from(number)), &bucket.encode())
}

/// The limit of each budget.
pub(crate) fn limits(rows: &mut dyn Rows, terms: &Terms) -> Result<Vec<Limit>, LedgerError> {
    let mut limits = vec![Limit::of(terms.budget)?];
    for number in 1..=terms.budgets {
        limits.push(Limit::of(rows.json(Table::Budget, (0, i64::from(number)))?)?);
    }
    Ok(limits)
}

/// The limit of a member.
pub(crate) fn limit_of<'a>(limits: &'a [Limit], member: &Member) -> Result<&'a Limit, LedgerError> {
    let missing = || LedgerError::Damaged(format!("budget {} is missing", member.budget));
    limits.get(member.budget as usize).ok_or_else(missing)
}

/// The costs of classes, read once.
#[derive(Default)]
pub(crate) struct Costs {
    pub known: HashMap<(u64, u32), crate::classes::Class>,
}

impl Costs {
    pub fn class(
        &mut self,
        rows: &mut dyn Rows,
        release: u64,
        class: u32,
    ) -> Result<&crate::classes::Class, LedgerError> {
        Ok(match self.known.entry((release, class)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(crate::classes::Class::read(rows, release, class)?),
        })
    }

    pub fn of(&mut self, rows: &mut dyn Rows, release: u64, class: u32) -> Result<RunningCost, LedgerError> {
        Ok(self.class(rows, release, class)?.cost)
    }
}

/// What everybody in a bucket was in: releases with their classes, by the numbers of people.
pub(crate) fn histories(rows: &mut dyn Rows, number: u32) -> Result<HashMap<u32, Vec<Part64>>, LedgerError> {
    let mut found: HashMap<u32, Vec<Part64>> = HashMap::new();
    rows.each(Table::Entry, i64::from(number), &mut |release, content| {
        let parts =
            entry::decode(content).ok_or_else(|| damaged(Table::Entry, (i64::from(number), release)))?;
        for (serial, class) in parts {
            found.entry(serial).or_default().push((release as u64, class));
        }
        Ok(())
    })?;
    Ok(found)
}

/// A release, and the class of somebody in it.
pub(crate) type Part64 = (u64, u32);

/// What everybody in a bucket has spent, added up again.
pub(crate) fn sums(
    rows: &mut dyn Rows,
    number: u32,
    costs: &mut Costs,
) -> Result<HashMap<u32, RunningCost>, LedgerError> {
    let mut sums = HashMap::new();
    for (serial, history) in histories(rows, number)? {
        let mut sum = RunningCost::default();
        for (release, class) in history {
            sum = sum.and(costs.of(rows, release, class)?);
        }
        sums.insert(serial, sum);
    }
    Ok(sums)
}

/// The share of their budget that somebody has spent. A planned budget holds more than the allowance, up to what the exact
/// composition of their history says, which is asked for only if the allowance is exceeded.
pub(crate) fn share_of(
    rows: &mut dyn Rows,
    limit: &Limit,
    cost: &RunningCost,
    history: impl FnOnce(&mut dyn Rows) -> Result<Vec<Part64>, LedgerError>,
    costs: &mut Costs,
) -> Result<f64, LedgerError> {
    let share = limit.allowance.share(cost);
    if share <= 1.0 || limit.budget.choice == Choice::Adaptive {
        return Ok(share);
    }
    let mut profiles = Vec::new();
    for (release, class) in history(rows)? {
        profiles.push(costs.class(rows, release, class)?.profile.clone());
    }
    let Ok(composed) = composed_cost(profiles.iter().map(|profile| (profile, 1))) else { return Ok(share) };
    let exact = composed.epsilon(limit.budget.delta()?).upper() / limit.budget.epsilon;
    Ok(if exact <= 1.0 { exact } else { share })
}
