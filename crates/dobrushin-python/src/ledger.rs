//! What people have spent over all releases. A ledger is opened for each question, so that processes and threads share it as
//! they share a file.

use crate::errors::{Raised, invalid};
use crate::people::{Names, name_of};
use crate::questions::asked;
use crate::run_file::RunFile;
use crate::work::{still_wanted, work};
use dobrushin::Delta;
use dobrushin_cli::ledger::{
    Exhausted, Released, Reserving, budgets_report, changed_report, checked_report, new_terms, open,
    person_report, whole_report,
};
use dobrushin_cli::{Opened, Problem};
use dobrushin_document::ask::{Asked, neighbours_of};
use dobrushin_document::json;
use dobrushin_document::text::{Style, ledger as text};
use dobrushin_ledger::{Budget, Choice, Ledger, Place};
use numpy::PyArray1;
use pyo3::prelude::*;

type Answer = (String, String);

/// The file, or the database, that a text names.
pub fn place_of(text: &str) -> Place {
    match text.parse() {
        Ok(place) => place,
        Err(never) => match never {},
    }
}

fn budget(
    py: Python<'_>,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    planned: bool,
) -> PyResult<Budget> {
    let missing = |name: &str| invalid(py, &format!("{name} is missing"), "epsilon=2.0, delta=1e-6");
    let Asked { epsilon, delta } = asked(Some(epsilon), Some(delta))?;
    let epsilon = epsilon.ok_or_else(|| missing("epsilon"))?;
    let delta = delta.ok_or_else(|| missing("delta"))?;
    let choice = if planned { Choice::Planned } else { Choice::Adaptive };
    Ok(Budget::new(epsilon, delta, choice))
}

/// What to do about people whose budgets would be exceeded.
pub fn exhausted(leave_out: bool) -> Exhausted {
    if leave_out { Exhausted::LeaveOut } else { Exhausted::Refuse }
}

/// Makes a ledger.
#[pyfunction]
#[pyo3(signature = (place, *, epsilon, delta, neighbours, planned, people))]
pub fn ledger_init(
    py: Python<'_>,
    place: &str,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    neighbours: &str,
    planned: bool,
    people: u64,
) -> PyResult<Answer> {
    let (place, budget) = (place_of(place), budget(py, epsilon, delta, planned)?);
    let neighbours = neighbours_of(neighbours).map_err(|error| error.within("neighbours")).raised(py)?;
    work(py, move |_| {
        let terms = Ledger::create(&place, new_terms(neighbours, budget, people)?)?.terms()?;
        let report = budgets_report(&place, &terms, budget, None, true)?;
        Ok::<_, Problem>(said(&json::of(&report), text::budgets(&report)))
    })
}

/// What a ledger is about.
#[pyfunction]
pub fn ledger_terms(py: Python<'_>, place: &str) -> PyResult<Answer> {
    let place = place_of(place);
    work(py, move |_| {
        let terms = open(&place)?.terms()?;
        let report = budgets_report(&place, &terms, terms.budget, None, false)?;
        Ok::<_, Problem>(said(&json::of(&report), text::budgets(&report)))
    })
}

/// Changes a budget: that of these people, or of everybody who has none of their own.
#[pyfunction]
#[pyo3(signature = (place, *, epsilon, delta, planned, people=None))]
pub fn ledger_budget(
    py: Python<'_>,
    place: &str,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    planned: bool,
    people: Option<&Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    let (place, budget) = (place_of(place), budget(py, epsilon, delta, planned)?);
    let people = people.map(|given| Names::of(given, "people")).transpose()?;
    work(py, move |_| {
        let mut ledger = open(&place)?;
        let count = match people {
            None => ledger.set_budget(budget).map(|()| None)?,
            Some(names) => {
                let mut roll = names.roll(&mut ledger)?;
                Some(ledger.set_budget_of(&mut roll, budget)?)
            }
        };
        let report = budgets_report(&place, &ledger.terms()?, budget, count, false)?;
        Ok::<_, Problem>(said(&json::of(&report), text::budgets(&report)))
    })
}

/// The report, who is left out, and for each record whether it is charged.
type Kept<'py> = (String, String, Vec<String>, Bound<'py, PyArray1<bool>>);

/// Reserves a release. Of `run`, `certificate` (what messages call it, and its bytes) and `epsilon`, one is given.
#[pyfunction]
#[pyo3(signature = (place, people, *, run=None, certificate=None, epsilon=None, delta=None, what=None, leave_out=false, dry_run=false))]
#[allow(clippy::too_many_arguments)]
pub fn ledger_reserve<'py>(
    py: Python<'py>,
    place: &str,
    people: &Bound<'_, PyAny>,
    run: Option<&RunFile>,
    certificate: Option<(String, Vec<u8>)>,
    epsilon: Option<&Bound<'_, PyAny>>,
    delta: Option<&Bound<'_, PyAny>>,
    what: Option<String>,
    leave_out: bool,
    dry_run: bool,
) -> PyResult<Kept<'py>> {
    let (place, names, asked) = (place_of(place), Names::of(people, "people")?, asked(epsilon, delta)?);
    let run = run.map(|run| run.opened.clone());
    let (data, words, left_out, kept) = work(py, move |progress| {
        let mut ledger = open(&place)?;
        let roll = names.roll(&mut ledger)?;
        let released = released(run, certificate, asked)?;
        let mut left_out = Vec::new();
        let report = Reserving { place: &place, released, what, exhausted: exhausted(leave_out), dry_run }
            .reserve(ledger, roll, progress, &mut |names| {
                // Whoever pressed Ctrl-C learns of no reservation, so there is none.
                still_wanted(progress)?;
                left_out = names.iter().map(|&name| name.to_owned()).collect();
                Ok(())
            })?;
        let (data, words) = said(&json::of(&report), text::reserved(&report, Style::default()));
        let kept = names.without(&left_out);
        Ok::<_, Problem>((data, words, left_out, kept))
    })?;
    Ok((data, words, left_out, PyArray1::from_vec(py, kept)))
}

fn released(
    run: Option<Opened>,
    certificate: Option<(String, Vec<u8>)>,
    asked: Asked,
) -> Result<Released, Problem> {
    match (run, certificate, asked) {
        (Some(run), None, Asked { epsilon: None, delta: None }) => {
            Ok(Released::of_run(run.self_contained()?))
        }
        (None, Some((name, certificate)), Asked { epsilon: None, delta: None }) => {
            Released::of_certificate(&certificate, &name)
        }
        (None, None, Asked { epsilon: Some(epsilon), delta }) => {
            Ok(Released::of_promise(epsilon, delta.map_or(Delta::new(0.0), Ok)?))
        }
        _ => Err(Problem::new("it is not clear what will be released")
            .help("give a run, a certificate, or epsilon=0.5, delta=1e-8 for what another program promises")),
    }
}

/// Commits or aborts what was reserved, or adds a note.
#[pyfunction]
#[pyo3(signature = (place, release, change, note=None))]
pub fn ledger_change(
    py: Python<'_>,
    place: &str,
    release: u64,
    change: &str,
    note: Option<String>,
) -> PyResult<Answer> {
    let (place, change) = (place_of(place), change.to_owned());
    work(py, move |_| {
        let mut ledger = open(&place)?;
        let changed = match (change.as_str(), note) {
            ("commit", note) => ledger.commit(release, note)?,
            ("abort", note) => ledger.abort(release, note)?,
            (_, note) => ledger.note(release, note.unwrap_or_default())?,
        };
        let report = changed_report(&place, &changed);
        Ok::<_, Problem>(said(&json::of(&report), text::changed(&report)))
    })
}

/// What people have spent.
#[pyfunction]
pub fn ledger_show(py: Python<'_>, place: &str) -> PyResult<Answer> {
    let place = place_of(place);
    work(py, move |_| {
        let report = whole_report(&place, &mut open(&place)?)?;
        Ok::<_, Problem>(said(&json::of(&report), text::ledger(&report)))
    })
}

/// What a person has spent.
#[pyfunction]
pub fn ledger_person(py: Python<'_>, place: &str, name: &Bound<'_, PyAny>) -> PyResult<Answer> {
    let (place, name) = (place_of(place), name_of(name, "name")?);
    work(py, move |_| {
        let report = person_report(&place, &open(&place)?.person(&name)?);
        Ok::<_, Problem>(said(&json::of(&report), text::person(&report, Style::default())))
    })
}

/// Names, shares of budgets that are spent, upper bounds on ε, and the ε and δ of budgets.
type People<'py> = (Vec<String>, [Bound<'py, PyArray1<f64>>; 4]);

/// Everybody in a ledger.
#[pyfunction]
pub fn ledger_people<'py>(py: Python<'py>, place: &str) -> PyResult<People<'py>> {
    let place = place_of(place);
    let (names, columns) = work(py, move |_| {
        let (mut names, mut columns) = (Vec::new(), [const { Vec::new() }; 4]);
        open(&place)?.people(&mut |person| {
            names.push(person.name.to_owned());
            let numbers = [person.share, person.epsilon, person.budget.epsilon, person.budget.delta];
            columns.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
            Ok(())
        })?;
        Ok::<_, Problem>((names, columns))
    })?;
    Ok((names, columns.map(|column| PyArray1::from_vec(py, column))))
}

/// Adds up again what everybody has spent.
#[pyfunction]
pub fn ledger_check(py: Python<'_>, place: &str) -> PyResult<Answer> {
    let place = place_of(place);
    work(py, move |_| {
        let report = checked_report(&place, open(&place)?.check()?);
        Ok::<_, Problem>(said(&json::of(&report), text::checked(&report)))
    })
}

fn said(data: &serde_json::Value, words: dobrushin_document::text::Text) -> Answer {
    (data.to_string(), words.render(Style::default()))
}
