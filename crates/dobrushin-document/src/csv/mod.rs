//! Reports as tables for other programs: CSV as RFC 4180 has it.
//!
//! Every number has the shortest digits that are read back as the same number; an infinite one is `inf`. What does not
//! apply is empty. No text is a formula to a spreadsheet: see [`csv_cell`].

mod kernel;
mod local;
mod run;

pub use kernel::{joint, kernel};
pub use local::{bounds, estimates, local_profile, plans, problem};
pub use run::{account, calibration, curve, renyi_curve, write_records};

use crate::json::{Bounds, Number};
use crate::plain_text::csv_cell;
use dobrushin::numeric::decimal;
use std::io::{self, Write};

/// A header and rows of the same length.
///
/// ```
/// use dobrushin_document::csv::Table;
///
/// let mut table = Table::new(["name", "epsilon_upper"]);
/// table.push(vec!["=1+1".into(), 0.1.into()]);
/// assert_eq!(table.text(), "name,epsilon_upper\n'=1+1,0.1\n");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// What stands at one place of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A word, a name or a sentence.
    Text(String),
    /// A number with all its digits.
    Number(f64),
    /// A count.
    Count(u64),
}

impl Table {
    /// A table without rows.
    pub fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.header.len(), "{:?}", self.header);
        self.rows.push(row);
    }

    /// The whole file.
    pub fn text(&self) -> String {
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = self.write(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Writes the whole file, a line for each row.
    pub fn write(&self, mut file: impl Write) -> io::Result<()> {
        let header: Vec<String> = self.header.iter().map(|name| csv_cell(name)).collect();
        writeln!(file, "{}", header.join(","))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::text).collect();
            writeln!(file, "{}", cells.join(","))?;
        }
        Ok(())
    }
}

impl Cell {
    /// The two ends of a bound, or two empty cells.
    pub fn ends(bounds: Option<Bounds>) -> [Self; 2] {
        bounds.map_or([Self::Empty, Self::Empty], |Bounds(value)| {
            [Self::Number(value.lower()), Self::Number(value.upper())]
        })
    }

    /// The cell as it is written.
    pub fn text(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => csv_cell(text),
            Self::Number(number) => decimal::plain(*number),
            Self::Count(count) => count.to_string(),
        }
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Number> for Cell {
    fn from(Number(number): Number) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Empty, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::Enclosure;

    #[test]
    fn every_number_is_read_back_as_it_was() {
        for number in [0.0, 0.1, 1.0 / 3.0, 5e-324, f64::MAX, 1e-5, 123_456_789.123, -2.5, f64::INFINITY] {
            let text = Cell::from(number).text();
            assert_eq!(text.parse::<f64>().ok(), Some(number), "{text}");
            assert!(text.len() < 30, "{text}");
        }
    }

    #[test]
    fn names_of_columns_and_cells_hold_anything() {
        let mut table = Table::new(["a,b", "=c"]);
        table.push(vec!["x\"y\nz".into(), Cell::Empty]);
        let [lower, upper] = Cell::ends(Enclosure::new(1.0, 2.0).map(Bounds));
        table.push(vec![lower, upper]);
        assert_eq!(table.text(), "\"a,b\",'=c\n\"x\"\"y\nz\",\n1,2\n");
    }
}
