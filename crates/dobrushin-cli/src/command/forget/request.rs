//! Which rows are to be deleted, and the table of all others in their places.

use super::arguments::ForgetArgs;
use crate::input::shown;
use crate::problem::Problem;
use crate::table_file::{BadRows, Cells, Pass, Source, columns};
use crate::train_data::{Mark, load_marked, pad};
use dobrushin_document::state::{Matched, Print, State, Wanted, matched};
use dobrushin_train::Table;
use dobrushin_train::schema::Schema;
use std::collections::HashSet;
use std::path::Path;

/// The rows that are deleted now, counted from 0, and all records in their places; deleted ones are empty.
pub struct Request {
    pub deleted: Vec<u32>,
    pub table: Table,
}

impl Request {
    /// Reads the data and the rows to delete, and finds both in the state. `records` is the number of places, which the
    /// run may have filled up with empty records.
    pub fn read(
        arguments: &ForgetArgs,
        state: &State,
        schema: &Schema,
        records: u64,
        show_progress: bool,
    ) -> Result<Self, Problem> {
        let conditions = conditions(&arguments.remove_where)?;
        let group = arguments.group.as_deref();
        let more: Vec<&str> = conditions.iter().map(|(column, _)| *column).chain(group).collect();
        let source = arguments.cells.source(&arguments.data);
        let (loaded, marks) = load_marked(source, schema, &state.key, &more, show_progress)?;
        let prints: Vec<Print> = marks.iter().map(|mark| mark.print).collect();
        let found = match (&arguments.remove, group) {
            (Some(path), None) => {
                let (_, rows) =
                    load_marked(arguments.cells.source(path), schema, &state.key, &[], show_progress)?;
                let rows: Vec<(u64, Print)> = (1..).zip(rows.iter().map(|mark| mark.print)).collect();
                matched(state, &prints, &Wanted::Like(&rows))?
            }
            (remove, group) => {
                let mut chosen: Vec<usize> =
                    (0..marks.len()).filter(|&row| fits(&marks[row], &conditions)).collect();
                if group.is_some() {
                    let values: HashSet<Vec<u8>> = match remove {
                        Some(path) => {
                            column(arguments.cells.source(path), more[conditions.len()], show_progress)?
                        }
                        None => chosen.iter().filter_map(|&row| marks[row].cells.last().cloned()).collect(),
                    };
                    refuse_missing(&values, &marks, remove.as_deref())?;
                    chosen = (0..marks.len())
                        .filter(|&row| marks[row].cells.last().is_some_and(|value| values.contains(value)))
                        .collect();
                }
                matched(state, &prints, &Wanted::Rows(&chosen))?
            }
        };
        Ok(Self { table: placed(&loaded.table, &found, records), deleted: found.deleted })
    }
}

/// The records in the places that they had in training; all others are empty.
fn placed(data: &Table, found: &Matched, records: u64) -> Table {
    let mut table = Table::new(*data.bounds(), data.tasks());
    for row in &found.remaining {
        match row {
            Some(row) => {
                let targets: Vec<f32> = (0..data.tasks()).map(|task| data.target(*row, task)).collect();
                // A record within the bounds is not changed, and an empty record is empty again.
                table.push(data.features(*row), &targets);
            }
            None => table.push_empty(),
        }
    }
    pad(&mut table, records);
    table
}

/// The column and the value of each `COLUMN=VALUE`.
fn conditions(words: &[String]) -> Result<Vec<(&str, &str)>, Problem> {
    words
        .iter()
        .map(|word| match word.split_once('=') {
            Some((column, value)) if !column.trim().is_empty() => Ok((column.trim(), value.trim())),
            _ => Err(Problem::new(format!("--remove-where {word:?} does not name a column and a value"))
                .help(
                    "--remove-where \"customer=4711\"; the value is compared as it is written in the file",
                )),
        })
        .collect()
}

/// Whether a row has the value of any of the conditions.
fn fits(mark: &Mark, conditions: &[(&str, &str)]) -> bool {
    conditions.iter().zip(&mark.cells).any(|((_, value), cell)| cell == value.as_bytes())
}

/// All values of a column.
fn column(source: Source, name: &str, show_progress: bool) -> Result<HashSet<Vec<u8>>, Problem> {
    let help = "give a value in each row";
    let pass = Pass { path: source.path, skip_bad: false, help, show_progress };
    let work = |_: u64, cells: &Cells| {
        let values: Vec<Vec<u8>> = cells.iter().flat_map(|(_, row)| row.map(<[u8]>::to_vec)).collect();
        (values, BadRows::default())
    };
    let mut found = HashSet::new();
    pass.run(columns(source, &[name])?, work, |values| {
        found.extend(values);
        Ok(())
    })?;
    Ok(found)
}

/// Refuses a value of the group that no row of the data has: it may have been misspelt.
fn refuse_missing(values: &HashSet<Vec<u8>>, marks: &[Mark], remove: Option<&Path>) -> Result<(), Problem> {
    let Some(path) = remove else {
        return Ok(());
    };
    let known: HashSet<&Vec<u8>> = marks.iter().filter_map(|mark| mark.cells.last()).collect();
    match values.iter().filter(|value| !known.contains(value)).count() {
        0 => Ok(()),
        missing => Err(Problem::new(format!(
            "{missing} values of the group in {} are in no row of the data",
            shown(path)
        ))
        .help("with --group, the data must still have the rows that are deleted; write the values as there")),
    }
}
