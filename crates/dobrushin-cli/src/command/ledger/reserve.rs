//! `dobrushin ledger reserve`: a release that is made by another program.

use super::ReserveArgs;
use crate::guard::Guard;
use crate::ledger::{Charged, Exhausted, affordable, open, place_costs, roll, shown};
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::{Opened, bytes_of};
use crate::watch::Watch;
use crate::{file, input};
use dobrushin::profile::ApproximateProfile;
use dobrushin::{Delta, Progress};
use dobrushin_document::certificate::{self, Verdict};
use dobrushin_document::json::Number;
use dobrushin_document::report::ReservedReport;
use dobrushin_document::text::{Style, ledger as text};
use dobrushin_document::{SelfContained, json};
use dobrushin_ledger::{Spend, Terms};
use serde_json::json;

pub fn run(arguments: &ReserveArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    let place = &arguments.place.ledger;
    let mut ledger = open(place)?;
    let terms = ledger.terms()?;
    let source = arguments.cells.source(&arguments.people);
    let mut roll = roll(&mut ledger, &source, &arguments.person)?;
    if roll.records() == 0 {
        return Err(Problem::new(format!("{} has no rows", input::shown(&arguments.people)))
            .help("a row for each record of the release"));
    }
    let release = Described::read(arguments, guard)?;
    let watch = Watch::new(!style.quiet, 0, "analyses");
    let progress = watch.progress().clone();
    let what = arguments.what.clone();
    let mut spend = |records| release.spend(records, &terms, what.clone(), &progress);
    let exhausted = if arguments.leave_out.is_some() { Exhausted::LeaveOut } else { Exhausted::Refuse };
    let (reserved, found) = match arguments.dry_run {
        true => (None, affordable(&mut ledger, &mut roll, exhausted, &mut spend)?),
        false => {
            let (charged, found) = Charged::reserve(place, ledger, &mut roll, exhausted, &mut spend)?;
            (Some(charged.reserved()), found)
        }
    };
    drop(watch);
    let left_out = match &arguments.leave_out {
        Some(path) => {
            let mut names: Vec<&str> = roll.left_out().collect();
            names.sort_unstable();
            let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
            file::replace(path, lines.as_bytes()).map_err(|error| Problem::cannot_write(path, error))?;
            names.len() as u64
        }
        None => 0,
    };
    let delta = Delta::new(terms.budget.delta)?;
    let people = match reserved {
        Some(reserved) => reserved.people,
        None => roll.people()?,
    };
    let report = ReservedReport {
        schema: 1,
        ledger: shown(place),
        release: reserved.map(|reserved| reserved.id),
        what: found.what.clone(),
        people,
        records: roll.records(),
        left_out,
        left_out_file: arguments.leave_out.as_ref().map(|path| path.display().to_string()),
        delta: Number(delta.get()),
        costs: place_costs(&found, delta),
    };
    Ok(Report::new(text::reserved(&report, style), json::of(&report)))
}

/// What will be released.
enum Described {
    Run(Box<SelfContained>),
    /// What another program promises.
    Promise(ApproximateProfile, String),
}

impl Described {
    fn read(arguments: &ReserveArgs, guard: &Guard) -> Result<Self, Problem> {
        if let Some(path) = &arguments.run {
            let opened = Opened::new(Some(path), &arguments.changes.set, guard)?;
            return Ok(Self::Run(Box::new(opened.self_contained()?)));
        }
        if !arguments.changes.set.is_empty() {
            return Err(Problem::new("--set changes a run file, but there is no --run")
                .help("leave it out, or give the run file"));
        }
        if let Some(path) = &arguments.certificate {
            let name = input::shown(path);
            let given = certificate::read(&bytes_of(path, certificate::WRITERS)?, &name)?;
            let checked = certificate::check(&given)?;
            if checked.verdict() == Verdict::DoesNotHold {
                return Err(Problem::answer_is_no(format!(
                    "{name} is not counted, because it does not hold"
                ))
                .help("dobrushin certificate verify lists every difference"));
            }
            return Ok(Self::Run(Box::new(checked.claim.run().clone())));
        }
        let epsilon =
            arguments.epsilon.ok_or_else(|| Problem::new("--epsilon is missing").help("--epsilon 0.5"))?;
        let delta = arguments.delta.map_or(Delta::new(0.0), Ok)?;
        let words = format!("a release that promises (ε, δ) = ({}, {})", epsilon.get(), delta.get());
        Ok(Self::Promise(ApproximateProfile::new(epsilon, delta), words))
    }

    /// What it costs with this many records.
    fn spend(
        &self,
        records: u64,
        terms: &Terms,
        what: Option<String>,
        progress: &Progress,
    ) -> Result<Spend, Problem> {
        match self {
            Self::Promise(profile, words) => {
                let what = what.unwrap_or_else(|| words.clone());
                Ok(Spend::of_profile(profile, "as promised", what, json!({ "promise": words })))
            }
            Self::Run(run) => crate::ledger::spend_of(run, records, terms, what, progress),
        }
    }
}
