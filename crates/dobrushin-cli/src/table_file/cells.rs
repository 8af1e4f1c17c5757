//! A batch of rows.

use std::fmt::Display;

/// A batch takes about this many bytes of memory. The pipeline holds a fixed number of batches, however long their rows
/// are.
const BYTES: usize = 1 << 20;
/// The number of cells in a batch whose length is not known before it is read.
#[cfg(feature = "parquet")]
const CELLS: usize = 1 << 16;

/// The cells of some columns, row after row, as text.
#[derive(Default)]
pub struct Cells {
    /// The number of cells in a row.
    columns: usize,
    text: Vec<u8>,
    /// Where each cell ends in the text.
    ends: Vec<usize>,
    /// The place of each row in its file, counted from 1.
    places: Vec<u64>,
    /// Whether each row has the cells that are wanted.
    usable: Vec<bool>,
    /// The rows that do not have them.
    pub bad: BadRows,
}

/// A row that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct BadRow {
    /// Its line in a CSV file, or its row in a Parquet file, counted from 1.
    pub place: u64,
    /// What is wrong, and what is accepted.
    pub what: String,
}

/// Rows that cannot be used: their number, and the first. Nothing else is kept, because every row may be bad, each with
/// a long explanation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BadRows {
    /// Their number.
    pub count: u64,
    /// The one that comes first in its file.
    pub first: Option<BadRow>,
}

impl BadRows {
    /// Adds a row after all others: what is wrong, and what is accepted.
    pub fn add(&mut self, place: u64, what: impl Display) {
        self.count += 1;
        self.first.get_or_insert_with(|| BadRow { place, what: what.to_string() });
    }
}

impl Cells {
    /// No rows yet, with this many cells each.
    pub fn new(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    /// The number of rows that are read at once if each has this many cells and becomes this many bytes.
    #[cfg(feature = "parquet")]
    pub fn most_rows(columns: usize, becoming: usize) -> usize {
        (CELLS / columns.max(1)).min(BYTES / becoming.max(1)).max(1)
    }

    /// The number of rows that can be used.
    pub fn rows(&self) -> usize {
        self.len() - self.bad.count as usize
    }

    /// The number of rows, good or bad.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no row, good or bad.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether the batch takes up as much memory as it should, if each row becomes this many bytes.
    pub fn is_full(&self, becoming: usize) -> bool {
        let numbers = self.ends.len() + self.places.len();
        self.text.len() + numbers * size_of::<u64>() + self.len().saturating_mul(1 + becoming) >= BYTES
    }

    /// Adds a cell to the row that [`Cells::end_row`] will end.
    pub fn push(&mut self, cell: &[u8]) {
        self.text.extend_from_slice(cell);
        self.ends.push(self.text.len());
    }

    /// Like [`Cells::push`], with a value that is displayed.
    pub fn push_displayed(&mut self, cell: impl std::fmt::Display) {
        use std::io::Write;
        // Writing to memory cannot fail.
        let _ = write!(self.text, "{cell}");
        self.ends.push(self.text.len());
    }

    /// Completes the row.
    pub fn end_row(&mut self, place: u64) {
        self.places.push(place);
        self.usable.push(true);
    }

    /// Adds a row that cannot be used.
    pub fn refuse(&mut self, place: u64, what: impl Display) {
        self.ends.resize(self.ends.len() + self.columns, self.text.len());
        self.places.push(place);
        self.usable.push(false);
        self.bad.add(place, what);
    }

    /// Each row that can be used: its place, and its cells without the white space around them.
    pub fn iter(&self) -> impl Iterator<Item = (u64, impl Iterator<Item = &[u8]>)> {
        (0..self.len()).filter_map(|row| self.get(row))
    }

    /// A row, counted from 0 including bad ones; `None` if it cannot be used.
    pub fn get(&self, row: usize) -> Option<(u64, impl Iterator<Item = &[u8]>)> {
        let cells = row * self.columns..(row + 1) * self.columns;
        self.usable[row].then(|| (self.places[row], cells.map(|cell| self.cell(cell))))
    }

    /// The rows of which this does not say that they are left out, by their number from 0 upwards.
    pub fn without(self, is_left_out: impl Fn(usize) -> bool) -> Self {
        let mut kept = Self { bad: self.bad.clone(), ..Self::new(self.columns) };
        for row in (0..self.len()).filter(|row| !is_left_out(*row)) {
            let first = row * self.columns;
            for index in first..first + self.columns {
                let begin = if index == 0 { 0 } else { self.ends[index - 1] };
                kept.push(&self.text[begin..self.ends[index]]);
            }
            kept.places.push(self.places[row]);
            kept.usable.push(self.usable[row]);
        }
        kept.bad.count = kept.usable.iter().filter(|usable| !**usable).count() as u64;
        kept
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
            cells.refuse(place + 1, "torn");
        }
        let rows: Vec<(u64, Vec<&[u8]>)> = cells.iter().map(|(place, row)| (place, row.collect())).collect();
        assert_eq!(rows, [(2, vec![&b"a"[..], b"b"]), (4, vec![b"", b"d"])]);
        let usable: Vec<bool> = (0..cells.len()).map(|row| cells.get(row).is_some()).collect();
        assert_eq!(cells.bad.first, Some(BadRow { place: 3, what: "torn".to_owned() }));
        assert_eq!((usable, cells.rows(), cells.bad.count), (vec![true, false, true, false], 2, 2));
    }
}
