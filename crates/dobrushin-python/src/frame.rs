//! Columns in memory, as the cells of a table: what a CSV file of the same values would hold.
//!
//! A table in memory goes the way of a file: each row is written out as cells, and the same code makes records of them.
//! Nothing that a cell holds can raise an exception. A value that is not a number counts as its text, and a missing value
//! as an empty cell.

use crate::errors::invalid;
use dobrushin_cli::{Cells, Columns, Problem, Rows, Source, columns};
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
            Self::Memory(frame, _) => {
                frame.refuse_other_than(wanted.len())?;
                Ok(Box::new(Selected::new(frame, (0..wanted.len()).collect(), schema, &wanted)))
            }
        }
    }

    /// Rows whose columns have names: if they are in memory, `names` are those of all their columns.
    pub fn named<'a>(&'a self, schema: &'a Schema, names: Vec<String>) -> Named<'a> {
        Named { given: self, schema, names }
    }
}

/// Rows whose columns have names.
pub struct Named<'a> {
    given: &'a Given,
    schema: &'a Schema,
    names: Vec<String>,
}

impl Rows for Named<'_> {
    fn path(&self) -> &Path {
        self.given.path()
    }

    fn columns(&self, wanted: &[&str]) -> Result<Box<dyn Columns>, Problem> {
        let frame = match self.given {
            Given::File(path) => return columns(Source::of(path), wanted),
            Given::Memory(frame, _) => frame,
        };
        frame.refuse_other_than(self.names.len())?;
        let place = |name: &&str| {
            let found = self.names.iter().position(|known| known == name);
            found.ok_or_else(|| {
                let message = format!("there is no column {name:?} in {}", self.path().display());
                Problem::new(message).help("give a table that has it")
            })
        };
        let places = wanted.iter().map(place).collect::<Result<Vec<usize>, Problem>>()?;
        Ok(Box::new(Selected::new(frame, places, self.schema, wanted)))
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

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn refuse_other_than(&self, wanted: usize) -> Result<(), Problem> {
        match self.columns.len() {
            found if found == wanted => Ok(()),
            found => Err(Problem::new(format!("there are {found} columns, but {wanted} are wanted"))),
        }
    }
}

/// A value as a column of this name would hold it.
pub fn cell_of(given: &Bound<'_, PyAny>, name: &str, schema: &Schema) -> String {
    let column = Column::Cells(vec![Cell::of(given)]);
    let mut cells = Cells::new(1);
    column.write(0, wants_number(schema, name), &mut cells);
    cells.end_row(1);
    let cell = cells.get(0).and_then(|(_, mut row)| row.next().map(<[u8]>::to_vec));
    String::from_utf8_lossy(&cell.unwrap_or_default()).into_owned()
}

/// Whether the schema declares numbers for a column.
fn wants_number(schema: &Schema, name: &str) -> bool {
    let declared = schema.declaration();
    let feature = schema.feature_columns().iter().position(|known| *known == name);
    let label = || schema.label_columns().iter().position(|known| *known == name);
    match feature {
        Some(place) => matches!(declared.features[place].kind, FeatureKind::Number { .. }),
        None => label().is_some_and(|place| !matches!(declared.labels[place].kind, LabelKind::Category(_))),
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

/// Reads some columns of a frame from its first row to its last.
struct Selected {
    columns: Arc<Vec<Column>>,
    /// For each column that is read, its place, and whether the schema wants numbers.
    selected: Vec<(usize, bool)>,
    rows: usize,
    next: usize,
    becoming: usize,
}

impl Selected {
    fn new(frame: &Frame, places: Vec<usize>, schema: &Schema, names: &[&str]) -> Self {
        let numbers = names.iter().map(|name| wants_number(schema, name));
        Self {
            columns: frame.columns.clone(),
            selected: places.into_iter().zip(numbers).collect(),
            rows: frame.rows,
            next: 0,
            becoming: 0,
        }
    }
}

impl Columns for Selected {
    fn becoming(&mut self, bytes: usize) {
        self.becoming = bytes;
    }

    fn next(&mut self) -> Result<(Cells, u64), Problem> {
        let mut cells = Cells::new(self.selected.len());
        while self.next < self.rows && !cells.is_full(self.becoming) {
            for &(place, wants_number) in &self.selected {
                self.columns[place].write(self.next, wants_number, &mut cells);
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
