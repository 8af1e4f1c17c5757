//! Releases that are charged to the people in them, for every command that makes one.

mod charging;
mod people;
mod released;
mod remaining;
mod reserving;
mod shown;

pub use charging::{Charge, Charging};
pub use people::roll;
pub use released::Released;
pub use remaining::Remaining;
pub use reserving::Reserving;
pub use shown::{budgets_report, changed_report, checked_report, person_report, shown, whole_report};

use crate::day;
use crate::file::{self, Before};
use crate::problem::Problem;
use crate::state_file::fresh_bytes;
use crate::stderr::say;
use dobrushin::{Delta, Neighbours, Progress, Run};
use dobrushin_document::report::ChargedReport;
use dobrushin_document::{NEIGHBOURS, SelfContained, trained};
use dobrushin_ledger::{
    Budget, Ledger, LedgerError, OverBudget, Place, Reserved, Roll, Spend, Status, Terms,
};
use shown::place_costs;

/// A release that is reserved in a ledger, until it is known whether it was made.
///
/// The spend counts from the moment at which it is reserved. It is committed after the files have their names, and aborted if
/// this program knows that nothing was released: it fails, or is interrupted, before any file got its name. If neither happens,
/// because the program was killed, it stays reserved, which counts as spent.
pub struct Charged {
    ledger: Ledger,
    reserved: Reserved,
    left_out: u64,
    place: Place,
    before: Before,
}

/// What to do about people whose budgets would be exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// Refuse the release.
    Refuse,
    /// Make it without them.
    LeaveOut,
}

/// The terms of a new ledger that is made for about this many people.
///
/// # Errors
/// [`Problem`] if there is no randomness to hash names with.
pub fn new_terms(neighbours: Neighbours, budget: Budget, people: u64) -> Result<Terms, Problem> {
    Ok(Terms::new(neighbours, budget, people, fresh_bytes()?))
}

/// Opens a ledger.
///
/// # Errors
/// [`Problem`] if there is none, or it cannot be read.
pub fn open(place: &Place) -> Result<Ledger, Problem> {
    Ok(Ledger::open(place)?)
}

/// Finds out what a release costs, and who can afford it. `spend` says what a release with this many records is; those who
/// are left out leave the roll.
pub fn affordable(
    ledger: &mut Ledger,
    roll: &mut Roll,
    exhausted: Exhausted,
    spend: &mut dyn FnMut(u64) -> Result<Spend, Problem>,
) -> Result<Spend, Problem> {
    loop {
        let found = spend(roll.records())?;
        let mut over = Vec::new();
        let mut count = 0;
        ledger.over_budget(&found, roll, &mut |name, places| {
            count += 1;
            if exhausted == Exhausted::LeaveOut || over.len() < OverBudget::LISTED {
                over.push((name.into(), places.to_vec()));
            }
        })?;
        if over.is_empty() {
            return Ok(found);
        }
        if exhausted == Exhausted::Refuse {
            let name = |(name, _): &(Box<[u8]>, _)| String::from_utf8_lossy(name).into_owned();
            let over = OverBudget { count, first: over.iter().map(name).collect() };
            return Err(LedgerError::OverBudget(over).into());
        }
        roll.leave_out(over);
        if roll.records() == 0 {
            let mut all: Vec<&str> = roll.left_out().collect();
            all.sort_unstable();
            let count = all.len() as u64;
            let first = all.into_iter().take(OverBudget::LISTED).map(str::to_owned).collect();
            return Err(Problem::answer_is_no("everybody's budget would be exceeded, so nobody is left")
                .over_budget(OverBudget { count, first })
                .help("more noise, or fewer steps"));
        }
    }
}

impl Charged {
    /// Reserves a release, which is not made yet.
    pub fn reserve(
        place: &Place,
        mut ledger: Ledger,
        roll: &mut Roll,
        exhausted: Exhausted,
        spend: &mut dyn FnMut(u64) -> Result<Spend, Problem>,
    ) -> Result<(Self, Spend), Problem> {
        let made = Some(day::today());
        loop {
            let found = affordable(&mut ledger, roll, exhausted, spend)?;
            match ledger.reserve(&found, roll, made.clone()) {
                Ok(reserved) => {
                    let left_out = roll.left_out().count() as u64;
                    let (id, place) = (reserved.id, place.clone());
                    let before = file::do_when_interrupted({
                        let place = place.clone();
                        move |is_nothing| interrupted(&place, id, is_nothing)
                    });
                    return Ok((Self { ledger, reserved, left_out, place, before }, found));
                }
                // Somebody else was faster.
                Err(LedgerError::OverBudget(_)) if exhausted == Exhausted::LeaveOut => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What was reserved.
    pub fn reserved(&self) -> Reserved {
        self.reserved
    }

    /// As reports show it.
    pub fn report(&self) -> ChargedReport {
        let Reserved { id, people, .. } = self.reserved;
        ChargedReport { ledger: shown(&self.place), release: id, people, left_out: self.left_out }
    }

    /// The release will be made by another program, so it stays reserved.
    pub fn stays_reserved(self) {
        file::nothing_more_to_do();
    }

    /// The release is about to leave this program, and can no longer be aborted by somebody else.
    ///
    /// # Errors
    /// [`Problem`] if somebody has aborted it, or the ledger fails. Then nothing may be released.
    pub fn leaves(&mut self) -> Result<(), Problem> {
        let id = self.reserved.id;
        self.ledger.leaves(id).map(drop).map_err(|error| {
            Problem::from(error)
                .help(format!("nothing was released, because release {id} must be reserved until it is"))
        })
    }

    /// The release was made.
    fn commit(mut self) -> Result<(), Problem> {
        let id = self.reserved.id;
        let committed = self.ledger.commit(id, None).map(drop).map_err(|error| {
            Problem::from(error).help(format!(
                "the release was made and counts as reserved: dobrushin ledger commit {} {id}",
                shown(&self.place)
            ))
        });
        file::nothing_more_to_do();
        committed
    }

    /// It failed. Nobody pays if nothing was released.
    fn abort(mut self) {
        file::nothing_more_to_do();
        let (id, ledger) = (self.reserved.id, shown(&self.place));
        let warning = match file::nothing_is_finished_since(self.before) {
            false => Some(format!("release {id} stays reserved in {ledger}, because a file was written")),
            true => {
                unreleased(&mut self.ledger, id, FAILED).err().map(|error| not_aborted(&ledger, id, error))
            }
        };
        if let Some(warning) = warning {
            say(&format!("warning: {warning}\n"));
        }
    }

    /// Ends what was reserved: a result is passed on after a commit, and an error after an abort, if nothing was released.
    pub fn settle<T>(charged: Option<Self>, outcome: Result<T, Problem>) -> Result<T, Problem> {
        match (charged, outcome) {
            (None, outcome) => outcome,
            (Some(charged), Ok(made)) => charged.commit().map(|()| made),
            (Some(charged), Err(problem)) => {
                charged.abort();
                Err(problem)
            }
        }
    }
}

const FAILED: &str = "it failed before anything was released";
const INTERRUPTED: &str = "it was interrupted before anything was released";

/// Ends what was reserved when the program is interrupted, and says how.
fn interrupted(place: &Place, id: u64, nothing_was_released: bool) -> String {
    let ledger = shown(place);
    if !nothing_was_released {
        return format!(
            "release {id} counts: dobrushin ledger show {ledger} says whether it is committed yet"
        );
    }
    match Ledger::open(place).and_then(|mut ledger| unreleased(&mut ledger, id, INTERRUPTED)) {
        Ok(_) => format!("release {id} was aborted in {ledger}: nobody pays for it"),
        Err(error) => not_aborted(&ledger, id, error),
    }
}

/// Aborts what has not left this program.
fn unreleased(ledger: &mut Ledger, id: u64, why: &str) -> Result<(), LedgerError> {
    // Somebody else may have aborted it first.
    if ledger.release(id)?.status == Status::Aborted {
        return Ok(());
    }
    ledger.stays(id)?;
    ledger.abort(id, Some(why.to_owned())).map(drop)
}

fn not_aborted(ledger: &str, id: u64, error: LedgerError) -> String {
    format!(
        "release {id} stays reserved in {ledger} ({error}); nothing was released, so you may abort it: dobrushin ledger abort \
         {ledger} {id} --nothing-was-released"
    )
}

/// The word for neighbours in run files.
pub fn neighbours_word(terms: &Terms) -> Result<&'static str, Problem> {
    let neighbours = terms.neighbours()?;
    let word = NEIGHBOURS.iter().find(|(_, relation)| *relation == neighbours).map(|(word, _)| *word);
    word.ok_or_else(|| Problem::new(format!("the ledger is for {neighbours} neighbours, which have no name")))
}

/// Refuses reports of single answers where being among the people is what is to stay hidden.
pub fn refuse_secret_numbers(terms: &Terms) -> Result<(), Problem> {
    match terms.neighbours()? {
        Neighbours::ReplaceOne => Ok(()),
        other => Err(Problem::new(format!(
            "the ledger counts for {other} neighbours, but reports of single answers show who answered"
        ))
        .help("local privacy hides what somebody answered: use a ledger for replace-one neighbours")),
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        let help = error.help().map(str::to_owned);
        let message = error.to_string();
        let problem = if error.is_answer() { Self::answer_is_no(message) } else { Self::new(message) };
        let problem = match std::error::Error::source(&error) {
            Some(cause) => problem.because(Said(cause.to_string())),
            None => problem,
        };
        let problem = match error {
            LedgerError::OverBudget(people) => problem.over_budget(people),
            _ => problem,
        };
        match help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }
}

/// What a database says.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Said(String);

/// What a run costs with this many records, which must be the number that it declares, unless that is a secret.
pub fn spend_of(
    run: &SelfContained,
    records: u64,
    terms: &Terms,
    what: Option<String>,
    progress: &Progress,
) -> Result<Spend, Problem> {
    let declared = run.records()?;
    let run = match (declared, trained::count_is_secret(run)?) {
        (Some(bound), true) if records > bound => {
            return Err(Problem::new(format!("run.records is {bound}, but there are {records} records"))
                .help("run.records must be a bound on their number"));
        }
        (Some(_), true) => run.clone(),
        (Some(declared), false) if declared == records => run.clone(),
        (Some(declared), false) => {
            return Err(Problem::new(format!("run.records is {declared}, but there are {records} records"))
                .help("leave run.records out, or set it to the number of rows that remain"));
        }
        // Whoever is in a list of mechanisms is in all of them.
        (None, _) if run.run().is_ok_and(|run| run.as_training().is_none() && run.as_tasks().is_none()) => {
            run.clone()
        }
        (None, _) => run.clone().with_records(records)?,
    };
    let core = run.run()?;
    let delta = Delta::new(terms.budget.delta)?;
    let what = what.unwrap_or_else(|| words_of(&core));
    Ok(Spend::of_run(&core, terms.neighbours()?, delta, what, run.json(), progress)?)
}

/// A run in a few words.
fn words_of(run: &Run) -> String {
    let Some(training) = run.as_training() else { return "a run".to_owned() };
    let steps = training.steps().map_or("any number of steps".to_owned(), |steps| format!("{steps} steps"));
    format!("{} records, {steps}", training.records)
}
