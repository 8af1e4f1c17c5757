//! `dobrushin ledger reserve`: a release that is made by another program.

use super::ReserveArgs;
use crate::guard::Guard;
use crate::ledger::{Exhausted, Released, Reserving, open, roll};
use crate::output::Report;
use crate::problem::Problem;
use crate::run_file::{Opened, bytes_of};
use crate::watch::Watch;
use crate::{file, input};
use dobrushin::Delta;
use dobrushin_document::plain_text::csv_cell;
use dobrushin_document::report::ReservedReport;
use dobrushin_document::text::{Style, ledger as text};
use dobrushin_document::{certificate, json};

pub fn run(arguments: &ReserveArgs, guard: &Guard, style: Style) -> Result<Report, Problem> {
    let place = &arguments.place.ledger;
    let mut ledger = open(place)?;
    let roll = roll(&mut ledger, &arguments.cells.source(&arguments.people), &arguments.person)?;
    let reserving = Reserving {
        place,
        released: released(arguments, guard)?,
        what: arguments.what.clone(),
        exhausted: if arguments.leave_out.is_some() { Exhausted::LeaveOut } else { Exhausted::Refuse },
        dry_run: arguments.dry_run,
    };
    let watch = Watch::new(!style.quiet, 0, "analyses");
    let report = reserving.reserve(ledger, roll, watch.progress(), &mut |left_out| {
        let Some(path) = &arguments.leave_out else { return Ok(()) };
        let names = std::iter::once("person".to_owned()).chain(left_out.iter().map(|name| csv_cell(name)));
        let lines: String = names.map(|name| name + "\n").collect();
        file::replace(path, lines.as_bytes()).map_err(|error| Problem::cannot_write(path, error))
    })?;
    drop(watch);
    let left_out_file = arguments.leave_out.as_ref().map(|path| path.display().to_string());
    let report = ReservedReport { left_out_file, ..report };
    Ok(Report::new(text::reserved(&report, style), json::of(&report)))
}

/// What the flags say will be released.
fn released(arguments: &ReserveArgs, guard: &Guard) -> Result<Released, Problem> {
    if let Some(path) = &arguments.run {
        let opened = Opened::new(Some(path), &arguments.changes.set, guard)?;
        return Ok(Released::of_run(opened.self_contained()?));
    }
    if !arguments.changes.set.is_empty() {
        return Err(Problem::new("--set changes a run file, but there is no --run")
            .help("leave it out, or give the run file"));
    }
    if let Some(path) = &arguments.certificate {
        return Released::of_certificate(&bytes_of(path, certificate::WRITERS)?, &input::shown(path));
    }
    let epsilon =
        arguments.epsilon.ok_or_else(|| Problem::new("--epsilon is missing").help("--epsilon 0.5"))?;
    Ok(Released::of_promise(epsilon, arguments.delta.map_or(Delta::new(0.0), Ok)?))
}
