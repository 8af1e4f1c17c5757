//! A batch of rows.

/// Rows of a batch.
pub const ROWS: usize = 1 << 16;

/// The cells of some columns, row after row, as text.
#[derive(Default)]
pub struct Cells {
    /// How many cells a row has.
    columns: usize,
    text: Vec<u8>,
    /// Where each cell ends in the text.
    ends: Vec<usize>,
    /// Where each row stands in its file, counted from 1.
    places: Vec<u64>,
    /// Rows without the cells that are wanted.
    pub bad: Vec<BadRow>,
}

/// A row that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct BadRow {
    /// Its line in a CSV file, its row in a Parquet file, counted from 1.
    pub place: u64,
    /// What is wrong, and what is accepted.
    pub what: String,
}

impl Cells {
    /// No rows yet, of so many cells each.
    pub fn new(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no row, good or bad.
    pub fn is_empty(&self) -> bool {
        self.rows() + self.bad.len() == 0
    }

    /// Whether the batch has as many rows as it should.
    pub fn is_full(&self) -> bool {
        self.rows() + self.bad.len() >= ROWS
    }

    /// Adds a cell to the row that [`Cells::end_row`] will end.
    pub fn push(&mut self, cell: &[u8]) {
        self.text.extend_from_slice(cell);
        self.ends.push(self.text.len());
    }

    /// As [`Cells::push`], with what is displayed.
    #[cfg(feature = "parquet")]
    pub fn push_displayed(&mut self, cell: impl std::fmt::Display) {
        use std::io::Write;
        // Writing to memory cannot fail.
        let _ = write!(self.text, "{cell}");
        self.ends.push(self.text.len());
    }

    /// The row is complete.
    pub fn end_row(&mut self, place: u64) {
        self.places.push(place);
    }

    /// Instead of a row, one that cannot be used.
    pub fn refuse(&mut self, place: u64, what: String) {
        self.bad.push(BadRow { place, what });
    }

    /// Each row: its place, and its cells without the white space around them.
    pub fn iter(&self) -> impl Iterator<Item = (u64, impl Iterator<Item = &[u8]>)> {
        self.places.iter().enumerate().map(|(row, &place)| {
            let cells = row * self.columns..(row + 1) * self.columns;
            (place, cells.map(|cell| self.cell(cell)))
        })
    }

    fn cell(&self, index: usize) -> &[u8] {
        let begin = if index == 0 { 0 } else { self.ends[index - 1] };
        self.text[begin..self.ends[index]].trim_ascii()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_cells_and_places() {
        let mut cells = Cells::new(2);
        for (place, row) in [(2, [&b"a"[..], b" b "]), (4, [b"", b"d"])] {
            row.into_iter().for_each(|cell| cells.push(cell));
            cells.end_row(place);
        }
        let rows: Vec<(u64, Vec<&[u8]>)> = cells.iter().map(|(place, row)| (place, row.collect())).collect();
        assert_eq!(rows, [(2, vec![&b"a"[..], b"b"]), (4, vec![b"", b"d"])]);
    }
}
