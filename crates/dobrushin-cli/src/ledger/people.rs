//! The people of a table: a name in each row.

use crate::input::{is_standard, shown};
use crate::problem::Problem;
use crate::table_file::{Columns, Rows};
use dobrushin_ledger::{Ledger, Roll};

/// Reads whose each row is. A row of which this cannot be told is refused: nobody could be charged for it.
pub fn roll(ledger: &mut Ledger, rows: &dyn Rows, column: &str) -> Result<Roll, Problem> {
    let path = rows.path();
    if is_standard(path) {
        return Err(Problem::new(
            "the records come from standard input, but they are read twice: once for the people in them",
        )
        .help("give a file"));
    }
    let mut roll = Roll::new(&ledger.terms()?);
    let mut columns: Box<dyn Columns> = rows.columns(&[column])?;
    let place_word = columns.place();
    loop {
        let (cells, _) = columns.next()?;
        if cells.is_empty() {
            return Ok(roll);
        }
        for row in 0..cells.len() {
            let name = cells.get(row).and_then(|(place, mut row)| Some((place, row.next()?)));
            let Some((place, name)) = name else {
                let (bad, what) = cells.bad.first.as_ref().map_or((0, ""), |bad| (bad.place, &*bad.what));
                return Err(Problem::new(format!(
                    "{place_word} {bad} of {}: {what}, so nobody can be charged for the row",
                    shown(path)
                ))
                .help("correct the row, or leave it out"));
            };
            roll.add(name).map_err(|error| {
                Problem::from(error).within(&format!("{place_word} {place} of {}", shown(path)))
            })?;
        }
    }
}
