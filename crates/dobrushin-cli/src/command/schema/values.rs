//! What public values look like.

use crate::problem::Problem;
use crate::table_file::{BadRows, Cells, Pass, Source, columns};
use dobrushin_document::schema::MISSING;
use std::collections::HashSet;

/// A column has at most this many categories.
pub const MOST_CATEGORIES: usize = 100;

/// The values of one column.
pub struct Values {
    /// Its name.
    pub column: String,
    /// Whether some cells are missing.
    pub missing: bool,
    /// The smallest and the largest number, if all cells are numbers.
    pub range: Option<(f64, f64)>,
    /// The distinct cells, up to one more than the most categories.
    pub different: HashSet<String>,
}

impl Values {
    fn new(column: &str) -> Self {
        let range = Some((f64::INFINITY, f64::NEG_INFINITY));
        Self { column: column.to_owned(), missing: false, range, different: HashSet::new() }
    }

    fn add(&mut self, cell: &str) {
        if MISSING.contains(&cell) {
            self.missing = true;
            return;
        }
        let number = cell.parse::<f64>().ok().filter(|number| number.is_finite());
        self.widen(number.map(|number| (number, number)));
        if self.different.len() <= MOST_CATEGORIES && !self.different.contains(cell) {
            self.different.insert(cell.to_owned());
        }
    }

    fn widen(&mut self, by: Option<(f64, f64)>) {
        let both = self.range.zip(by);
        self.range = both.map(|(range, by)| (range.0.min(by.0), range.1.max(by.1)));
    }

    fn merge(&mut self, other: Self) {
        self.missing |= other.missing;
        self.widen(other.range);
        let room = (MOST_CATEGORIES + 1).saturating_sub(self.different.len());
        let new: Vec<String> =
            other.different.into_iter().filter(|cell| !self.different.contains(cell)).take(room).collect();
        self.different.extend(new);
    }
}

/// Reads all values of a file.
pub fn read(source: Source, names: &[&str], show_progress: bool) -> Result<Vec<Values>, Problem> {
    let none = || names.iter().map(|name| Values::new(name)).collect::<Vec<_>>();
    let work = |_: u64, cells: &Cells| {
        let (mut values, mut bad) = (none(), BadRows::default());
        for (place, row) in cells.iter() {
            for (column, cell) in values.iter_mut().zip(row) {
                match std::str::from_utf8(cell) {
                    Ok(cell) => column.add(cell),
                    Err(_) => {
                        bad.add(
                            place,
                            format_args!("column {:?}: the cell is not UTF-8 text", column.column),
                        );
                    }
                }
            }
        }
        (values, bad)
    };
    let help = "correct it, or save the file as UTF-8";
    let mut all = none();
    let pass = Pass { path: source.path, skip_bad: false, help, show_progress };
    pass.run(columns(source, names)?, work, |batch| {
        all.iter_mut().zip(batch).for_each(|(column, more)| column.merge(more));
        Ok(())
    })?;
    Ok(all)
}
