//! `dobrushin ledger`: what each person has spent over all releases, and what is left.

mod arguments;
mod picture;
mod reserve;

pub use arguments::{ChargeArgs, LedgerArgs, LedgerCommand, ReserveArgs};

use crate::cli::CsvArgs;
use crate::file;
use crate::ledger::{
    budgets_report, changed_report, checked_report, new_terms, open, person_report, roll, whole_report,
};
use crate::output::Report;
use crate::problem::Problem;
use crate::watch::Watch;
use arguments::{AbortArgs, BudgetArgs, CheckArgs, CommitArgs, InitArgs, NoteArgs, ShowArgs};
use dobrushin::{Delta, Epsilon};
use dobrushin_document::ask::worth_meeting;
use dobrushin_document::json;
use dobrushin_document::plain_text::csv_cell;
use dobrushin_document::text::{Style, ledger as text};
use dobrushin_ledger::{Budget, Choice, Ledger, LedgerError, Place, Release};

/// Does what the subcommand says.
pub fn run(arguments: &LedgerArgs, guard: &crate::guard::Guard, style: Style) -> Result<Report, Problem> {
    match &arguments.command {
        LedgerCommand::Init(arguments) => init(arguments),
        LedgerCommand::Budget(arguments) => budget(arguments),
        LedgerCommand::Reserve(arguments) => reserve::run(arguments, guard, style),
        LedgerCommand::Commit(arguments) => commit(arguments),
        LedgerCommand::Abort(arguments) => abort(arguments),
        LedgerCommand::Note(arguments) => note(arguments),
        LedgerCommand::Show(arguments) => show(arguments, style),
        LedgerCommand::Check(arguments) => check(arguments, style),
    }
}

/// What people may spend.
fn budget_of(epsilon: Epsilon, delta: Delta, planned: bool) -> Result<Budget, Problem> {
    let choice = if planned { Choice::Planned } else { Choice::Adaptive };
    Ok(Budget::new(epsilon, worth_meeting(delta)?, choice))
}

fn init(arguments: &InitArgs) -> Result<Report, Problem> {
    let budget = budget_of(arguments.epsilon, arguments.delta, arguments.planned)?;
    let place = &arguments.place.ledger;
    let terms = Ledger::create(place, new_terms(arguments.neighbours, budget, arguments.people)?)?.terms()?;
    let report = budgets_report(place, &terms, budget, None, true)?;
    Ok(Report::new(text::budgets(&report), json::of(&report)))
}

fn budget(arguments: &BudgetArgs) -> Result<Report, Problem> {
    let budget = budget_of(arguments.epsilon, arguments.delta, arguments.planned)?;
    let place = &arguments.place.ledger;
    let mut ledger = open(place)?;
    let people = match arguments.people.as_deref().zip(arguments.person.as_deref()) {
        None => {
            ledger.set_budget(budget)?;
            None
        }
        Some((people, person)) => {
            let mut roll = roll(&mut ledger, &arguments.cells.source(people), person)?;
            Some(ledger.set_budget_of(&mut roll, budget)?)
        }
    };
    let report = budgets_report(place, &ledger.terms()?, budget, people, false)?;
    Ok(Report::new(text::budgets(&report), json::of(&report)))
}

fn commit(arguments: &CommitArgs) -> Result<Report, Problem> {
    let release = open(&arguments.place.ledger)?.commit(arguments.release, arguments.note.clone())?;
    Ok(changed(&arguments.place.ledger, &release))
}

fn abort(arguments: &AbortArgs) -> Result<Report, Problem> {
    let release = open(&arguments.place.ledger)?.abort(arguments.release, arguments.note.clone())?;
    Ok(changed(&arguments.place.ledger, &release))
}

fn note(arguments: &NoteArgs) -> Result<Report, Problem> {
    let release = open(&arguments.place.ledger)?.note(arguments.release, arguments.note.clone())?;
    Ok(changed(&arguments.place.ledger, &release))
}

fn changed(place: &Place, release: &Release) -> Report {
    let report = changed_report(place, release);
    Report::new(text::changed(&report), json::of(&report))
}

fn show(arguments: &ShowArgs, style: Style) -> Result<Report, Problem> {
    let place = &arguments.place.ledger;
    let mut ledger = open(place)?;
    if let Some(name) = &arguments.person {
        let report = person_report(place, &ledger.person(name)?);
        return Ok(Report::new(text::person(&report, style), json::of(&report)));
    }
    let _watch = Watch::new(!style.quiet, 0, "reading");
    write_people(&mut ledger, &arguments.csv)?;
    let report = whole_report(place, &mut ledger)?;
    if let Some(path) = &arguments.plot {
        picture::draw(&report).write(path)?;
    }
    Ok(Report::new(text::ledger(&report), json::of(&report)))
}

/// Writes a line for each person. There may be more of them than memory holds.
fn write_people(ledger: &mut Ledger, csv: &CsvArgs) -> Result<(), Problem> {
    let Some(path) = &csv.csv else { return Ok(()) };
    let mut failed = None;
    let written = file::replace_by(path, |file| {
        writeln!(file, "person,share_spent,epsilon_upper,budget_epsilon,budget_delta")?;
        let told = ledger.people(&mut |person| {
            let name = csv_cell(person.name);
            let (share, epsilon, budget) = (person.share, person.epsilon, person.budget);
            let line = writeln!(file, "{name},{share},{epsilon},{},{}", budget.epsilon, budget.delta);
            line.map_err(|error| LedgerError::Store {
                what: "the table cannot be written".to_owned(),
                cause: Some(Box::new(error)),
                help: "make room on the disk",
            })
        });
        told.map_err(|error| {
            let message = error.to_string();
            failed = Some(error);
            std::io::Error::other(message)
        })
    });
    match (failed, written) {
        (Some(error), _) => Err(error.into()),
        (None, written) => written.map_err(|error| Problem::cannot_write(path, error)),
    }
}

fn check(arguments: &CheckArgs, style: Style) -> Result<Report, Problem> {
    let place = &arguments.place.ledger;
    let _watch = Watch::new(!style.quiet, 0, "adding up");
    let report = checked_report(place, open(place)?.check()?);
    let answer_is_no = !report.faults.is_empty();
    Ok(Report { answer_is_no, ..Report::new(text::checked(&report), json::of(&report)) })
}
