//! Reserving a release that another program makes.

use super::{Charged, Exhausted, Released, affordable, place_costs, shown};
use crate::problem::Problem;
use dobrushin::{Delta, Progress};
use dobrushin_document::json::Number;
use dobrushin_document::report::ReservedReport;
use dobrushin_ledger::{Ledger, Place, Roll};

/// A release, before it is reserved.
pub struct Reserving<'a> {
    /// The ledger.
    pub place: &'a Place,
    /// What will be released.
    pub released: Released,
    /// What it is, in a few words; if nothing is given, the run says it.
    pub what: Option<String>,
    /// What to do about people whose budgets would be exceeded.
    pub exhausted: Exhausted,
    /// Whether to say only what it costs, and whether it fits.
    pub dry_run: bool,
}

impl Reserving<'_> {
    /// Reserves the release for the people on the roll. `tell` is given the names of those who are left out, in order,
    /// before this is final: if it fails, nothing is reserved.
    ///
    /// # Errors
    /// [`Problem`] if somebody's budget would be exceeded, or something is wrong; then nothing is reserved.
    pub fn reserve(
        self,
        mut ledger: Ledger,
        mut roll: Roll,
        progress: &Progress,
        tell: &mut dyn FnMut(&[&str]) -> Result<(), Problem>,
    ) -> Result<ReservedReport, Problem> {
        let Self { place, released, what, exhausted, dry_run } = self;
        if roll.records() == 0 {
            return Err(Problem::new("there are no people, so nobody can be charged")
                .help("give a row for each record of the release, with whose it is"));
        }
        let terms = ledger.terms()?;
        let mut spend = |records| released.spend(records, &terms, what.clone(), progress);
        let (charged, found) = match dry_run {
            true => (None, affordable(&mut ledger, &mut roll, exhausted, &mut spend)?),
            false => {
                let (charged, found) = Charged::reserve(place, ledger, &mut roll, exhausted, &mut spend)?;
                (Some(charged), found)
            }
        };
        let mut left_out: Vec<&str> = roll.left_out().collect();
        left_out.sort_unstable();
        let left_out_count = left_out.len() as u64;
        if let Err(problem) = tell(&left_out) {
            return Charged::settle(charged, Err(problem));
        }
        let reserved = charged.as_ref().map(Charged::reserved);
        charged.into_iter().for_each(Charged::stays_reserved);
        let delta = Delta::new(terms.budget.delta)?;
        Ok(ReservedReport {
            schema: 1,
            ledger: shown(place),
            release: reserved.map(|reserved| reserved.id),
            what: found.what.clone(),
            people: reserved.map_or_else(|| roll.people(), |reserved| Ok(reserved.people))?,
            records: roll.records(),
            left_out: left_out_count,
            left_out_file: None,
            delta: Number(delta.get()),
            costs: place_costs(&found, delta),
        })
    }
}
