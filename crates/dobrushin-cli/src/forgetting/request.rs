//! Which rows are to be deleted, and the table of all others in their places.

use crate::input::shown;
use crate::problem::Problem;
use crate::table_file::{BadRows, Cells, Pass, Rows};
use crate::train_data::{Mark, load_marked, pad};
use dobrushin_document::state::{Matched, Print, State, Wanted, matched};
use dobrushin_train::Table;
use dobrushin_train::schema::Schema;
use std::collections::HashSet;

/// Which rows of the data somebody asks to delete.
pub enum Which<'a> {
    /// Rows that look like these; with a group, rows of the data that have the same values in its column.
    Like(&'a dyn Rows),
    /// Rows that have any of these values in these columns.
    Where(&'a [(String, String)]),
    /// Rows by their numbers in the data, counted from 0, in any order, each once.
    Rows {
        /// The numbers.
        numbers: &'a [u64],
        /// How many rows the data have, if whoever gives the numbers said so.
        of: Option<u64>,
    },
}

/// What is asked to be deleted.
pub struct Request<'a> {
    /// The rows.
    pub which: Which<'a>,
    /// All rows with the same value in this column are deleted with them.
    pub group: Option<&'a str>,
}

/// What was found of a request.
pub struct Found {
    /// The rows that are deleted now, counted from 0.
    pub deleted: Vec<u32>,
    /// All records in their places; deleted ones are empty.
    pub table: Table,
}

impl Request<'_> {
    /// Reads the data and the rows to delete, and finds both in the state. `records` is the number of places, which the
    /// run may have filled up with empty records.
    pub fn find(
        &self,
        data: &dyn Rows,
        state: &State,
        schema: &Schema,
        records: u64,
        show_progress: bool,
    ) -> Result<Found, Problem> {
        let load = |rows, more: &[&str]| load_marked(rows, schema, &state.key, more, show_progress);
        let conditions: &[(String, String)] = if let Which::Where(given) = self.which { given } else { &[] };
        let more: Vec<&str> =
            conditions.iter().map(|(column, _)| column.as_str()).chain(self.group).collect();
        let (loaded, marks) = load(data, &more)?;
        let prints: Vec<Print> = marks.iter().map(|mark| mark.print).collect();
        let found = match (&self.which, self.group) {
            (Which::Like(rows), None) => {
                let (_, rows) = load(*rows, &[])?;
                let rows: Vec<(u64, Print)> = (1..).zip(rows.iter().map(|mark| mark.print)).collect();
                matched(state, &prints, &Wanted::Like(&rows))?
            }
            (which, group) => {
                let mut chosen: Vec<usize> = match which {
                    Which::Rows { numbers, of } => numbered(numbers, *of, marks.len() as u64)?,
                    _ => (0..marks.len()).filter(|&row| fits(&marks[row], conditions)).collect(),
                };
                if let Some(group) = group {
                    let values: HashSet<Vec<u8>> = match which {
                        Which::Like(rows) => column(*rows, group, show_progress)?,
                        _ => chosen.iter().filter_map(|&row| marks[row].cells.last().cloned()).collect(),
                    };
                    if let Which::Like(rows) = which {
                        refuse_missing(&values, &marks, *rows)?;
                    }
                    chosen = (0..marks.len())
                        .filter(|&row| marks[row].cells.last().is_some_and(|value| values.contains(value)))
                        .collect();
                }
                matched(state, &prints, &Wanted::Rows(&chosen))?
            }
        };
        Ok(Found { table: placed(&loaded.table, &found, records), deleted: found.deleted })
    }
}

/// The numbers of rows, which must be among the rows of the data.
fn numbered(numbers: &[u64], of: Option<u64>, rows: u64) -> Result<Vec<usize>, Problem> {
    if let Some(of) = of.filter(|&of| of != rows) {
        return Err(Problem::new(format!("--remove is a mask of {of} rows, but the data have {rows}"))
            .help("a mask has a value for each row of the data that are given now"));
    }
    let mut seen = HashSet::new();
    for &number in numbers {
        if number >= rows {
            return Err(Problem::new(format!(
                "--remove has the row {number}, but the data have {rows} rows, counted from 0"
            ))
            .help("the numbers are those of rows of the data that are given now"));
        }
        if !seen.insert(number) {
            return Err(
                Problem::new(format!("--remove has the row {number} twice")).help("give each row once")
            );
        }
    }
    Ok(numbers.iter().map(|&number| number as usize).collect())
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

/// Whether a row has the value of any of the conditions.
fn fits(mark: &Mark, conditions: &[(String, String)]) -> bool {
    conditions.iter().zip(&mark.cells).any(|((_, value), cell)| cell == value.as_bytes())
}

/// All values of a column.
fn column(rows: &dyn Rows, name: &str, show_progress: bool) -> Result<HashSet<Vec<u8>>, Problem> {
    let help = "give a value in each row";
    let pass = Pass { path: rows.path(), skip_bad: false, help, show_progress };
    let work = |_: u64, cells: &Cells| {
        let values: Vec<Vec<u8>> = cells.iter().flat_map(|(_, row)| row.map(<[u8]>::to_vec)).collect();
        (values, BadRows::default())
    };
    let mut found = HashSet::new();
    pass.run(rows.columns(&[name])?, work, |values| {
        found.extend(values);
        Ok(())
    })?;
    Ok(found)
}

/// Refuses a value of the group that no row of the data has: it may have been misspelt.
fn refuse_missing(values: &HashSet<Vec<u8>>, marks: &[Mark], rows: &dyn Rows) -> Result<(), Problem> {
    let known: HashSet<&Vec<u8>> = marks.iter().filter_map(|mark| mark.cells.last()).collect();
    match values.iter().filter(|value| !known.contains(value)).count() {
        0 => Ok(()),
        missing => Err(Problem::new(format!(
            "{missing} values of the group in {} are in no row of the data",
            shown(rows.path())
        ))
        .help("with --group, the data must still have the rows that are deleted; write the values as there")),
    }
}
