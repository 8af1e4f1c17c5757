//! Columns in memory, as the cells of a table: what a CSV file of the same values would hold.
//!
//! A table in memory goes the way of a file: each row is written out as cells, and the same code makes records of them.
//! Nothing that a cell holds can raise an exception. A value that is not a number counts as its text, and a missing value
//! as an empty cell.

use crate::errors::invalid;
use dobrushin_cli::{Cells, Columns, Problem, Source, columns};
use dobrushin_train::schema::{FeatureKind, LabelKind, Schema};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where records come from.
pub enum Given {
    /// A file.
    File(PathBuf),
    /// Columns in memory, in the order in which the schema wants them, and what messages call them.
    Memory(Frame, &'static str),
}

impl Given {
    /// The path of a file, or a list of columns, which messages call by this name.
    pub fn of(given: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Self> {
        if given.cast::<PyString>().is_ok() {
            return Ok(Self::File(given.extract()?));
        }
        Ok(Self::Memory(Frame::of(given)?, name))
    }

    /// What messages call it.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Memory(_, name) => Path::new(name),
        }
    }

    /// The columns of the features and, for training, of the labels.
    pub fn columns(&self, schema: &Schema, with_labels: bool) -> Result<Box<dyn Columns>, Problem> {
        let wanted = if with_labels { schema.columns_wanted() } else { schema.feature_columns() };
        match self {
            Self::File(path) => columns(Source::of(path), &wanted),
            Self::Memory(frame, _) if frame.columns.len() != wanted.len() => Err(Problem::new(format!(
                "there are {} columns, but the schema wants {}",
                frame.columns.len(),
                wanted.len()
            ))),
            Self::Memory(frame, _) => Ok(Box::new(Rows::new(frame, schema))),
        }
    }
}

/// Columns of the same length.
pub struct Frame {
    columns: Arc<Vec<Column>>,
    rows: usize,
}

enum Column {
    Numbers(Vec<f64>),
    Whole(Vec<i64>),
    Cells(Vec<Cell>),
}

enum Cell {
    Text(String),
    Flag(bool),
}

impl Frame {
    /// Arrays of 64-bit numbers, and lists of anything.
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let columns = given.try_iter()?.map(|column| Column::of(&column?)).collect::<PyResult<Vec<_>>>()?;
        let rows = columns.first().map_or(0, Column::len);
        if columns.iter().any(|column| column.len() != rows) {
            return Err(invalid(
                given.py(),
                "the columns have different lengths",
                "give each of them a cell for each record",
            ));
        }
        Ok(Self { columns: Arc::new(columns), rows })
    }
}

impl Column {
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(numbers) = given.extract::<PyReadonlyArray1<'_, f64>>() {
            return Ok(Self::Numbers(numbers.as_array().to_vec()));
        }
        if let Ok(whole) = given.extract::<PyReadonlyArray1<'_, i64>>() {
            return Ok(Self::Whole(whole.as_array().to_vec()));
        }
        Ok(Self::Cells(given.try_iter()?.map(|cell| Ok(Cell::of(&cell?))).collect::<PyResult<Vec<_>>>()?))
    }

    fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Whole(whole) => whole.len(),
            Self::Cells(cells) => cells.len(),
        }
    }

    /// Writes a cell as a CSV file would have it. A flag is a number where numbers are wanted.
    fn write(&self, row: usize, wants_number: bool, cells: &mut Cells) {
        match self {
            Self::Numbers(numbers) if numbers[row].is_nan() => cells.push(b""),
            Self::Numbers(numbers) => cells.push_displayed(numbers[row]),
            Self::Whole(whole) => cells.push_displayed(whole[row]),
            Self::Cells(given) => match &given[row] {
                Cell::Text(text) => cells.push(text.as_bytes()),
                Cell::Flag(flag) if wants_number => cells.push_displayed(u8::from(*flag)),
                Cell::Flag(flag) => cells.push_displayed(flag),
            },
        }
    }
}

impl Cell {
    fn of(given: &Bound<'_, PyAny>) -> Self {
        if let Ok(text) = given.cast::<PyString>() {
            return Self::Text(text.to_string_lossy().into_owned());
        }
        if let Ok(number) = given.cast::<PyFloat>() {
            let number = number.value();
            return Self::Text(if number.is_nan() { String::new() } else { number.to_string() });
        }
        if given.is_none() {
            return Self::Text(String::new());
        }
        if given.cast::<PyBool>().is_ok() || is_flag_of_numpy(given) {
            return Self::Flag(given.is_truthy().unwrap_or(false));
        }
        // What cannot be shown is no cell that a schema accepts.
        let shown = given.str().map_or("\u{fffd}".to_owned(), |text| text.to_string_lossy().into_owned());
        // So pandas shows what is missing.
        Self::Text(if ["<NA>", "NaT"].contains(&shown.as_str()) { String::new() } else { shown })
    }
}

fn is_flag_of_numpy(given: &Bound<'_, PyAny>) -> bool {
    given.get_type().fully_qualified_name().is_ok_and(|name| name == "numpy.bool" || name == "numpy.bool_")
}

/// Reads a frame from its first row to its last.
struct Rows {
    columns: Arc<Vec<Column>>,
    /// For each column, whether the schema wants numbers.
    numbers: Vec<bool>,
    rows: usize,
    next: usize,
    becoming: usize,
}

impl Rows {
    fn new(frame: &Frame, schema: &Schema) -> Self {
        let declared = schema.declaration();
        let features =
            declared.features.iter().map(|column| matches!(column.kind, FeatureKind::Number { .. }));
        let labels = declared.labels.iter().map(|column| !matches!(column.kind, LabelKind::Category(_)));
        Self {
            columns: frame.columns.clone(),
            numbers: features.chain(labels).collect(),
            rows: frame.rows,
            next: 0,
            becoming: 0,
        }
    }
}

impl Columns for Rows {
    fn becoming(&mut self, bytes: usize) {
        self.becoming = bytes;
    }

    fn next(&mut self) -> Result<(Cells, u64), Problem> {
        let mut cells = Cells::new(self.columns.len());
        while self.next < self.rows && !cells.is_full(self.becoming) {
            for (column, &wants_number) in self.columns.iter().zip(&self.numbers) {
                column.write(self.next, wants_number, &mut cells);
            }
            self.next += 1;
            cells.end_row(self.next as u64);
        }
        Ok((cells, self.next as u64))
    }

    fn length(&self) -> Option<u64> {
        Some(self.rows as u64)
    }

    fn place(&self) -> &'static str {
        "row"
    }
}
