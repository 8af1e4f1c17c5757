//! Columns of Parquet files.
//!
//! Only the wanted columns are read, page by page; of the file, only its footer is held in memory.

use super::cells::Cells;
use super::input::{Columns, find, find_all};
use crate::problem::Problem;
use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Some columns of a Parquet file.
pub struct ParquetInput {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    columns: Vec<usize>,
    /// The columns of the row group that is being read.
    open: Vec<ColumnReader>,
    next_group: usize,
    rows_read: u64,
    /// How many bytes each row will become.
    becoming: usize,
}

impl ParquetInput {
    /// Some columns, by their names or their numbers.
    pub fn some_columns(path: &Path, wanted: &[String]) -> Result<Self, Problem> {
        let mut input = Self::open(path)?;
        let names = input.names();
        input.columns = wanted.iter().map(|wanted| find(&names, wanted, path)).collect::<Result<_, _>>()?;
        input.check_types("--column")?;
        Ok(input)
    }

    /// Several columns, by their names.
    pub fn columns(path: &Path, wanted: &[&str]) -> Result<Self, Problem> {
        let mut input = Self::open(path)?;
        input.columns = find_all(&input.names(), wanted, path)?;
        input.check_types("column")?;
        Ok(input)
    }

    /// Reads all columns, which have these names.
    pub fn all_columns(&mut self) -> Result<Vec<String>, Problem> {
        let names = self.names();
        self.columns = (0..names.len()).collect();
        self.check_types("column")?;
        Ok(names)
    }

    /// A text in the metadata of the file.
    pub fn metadata(&self, key: &str) -> Option<String> {
        let entries = self.reader.metadata().file_metadata().key_value_metadata()?;
        entries.iter().find(|entry| entry.key == key)?.value.clone()
    }

    /// Opens a file without reading any column yet.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let message = || format!("cannot read {}", path.display());
        let file = File::open(path).map_err(|error| Problem::new(message()).because(error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| {
            Problem::new(message()).because(error).help("its name says that it is Parquet: is it complete?")
        })?;
        let (columns, open) = (Vec::new(), Vec::new());
        Ok(Self { path: path.to_owned(), reader, columns, open, next_group: 0, rows_read: 0, becoming: 0 })
    }

    /// The names of all columns.
    pub fn names(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.path().string()).collect()
    }

    /// Requires a cell to be a text, a number or a truth value; messages call the column by this name.
    fn check_types(&self, called: &str) -> Result<(), Problem> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        for &column in &self.columns {
            let column = schema.column(column);
            let kind = (column.physical_type(), column.converted_type());
            let known = !matches!(kind.0, Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY) && plain(kind.1);
            if !known || column.max_rep_level() > 0 {
                let name = column.path().string();
                let message = format!("{called} {name} of {} is a column of {kind:?}", self.path.display());
                return Err(Problem::new(message).help(
                    "texts, whole and floating-point numbers, true and false are accepted, one to a row",
                ));
            }
        }
        Ok(())
    }

    /// Opens the next row group; returns false if there is none.
    fn next_group(&mut self) -> Result<bool, ParquetError> {
        if self.next_group >= self.reader.num_row_groups() {
            return Ok(false);
        }
        let group = self.reader.get_row_group(self.next_group)?;
        self.open =
            self.columns.iter().map(|&column| group.get_column_reader(column)).collect::<Result<_, _>>()?;
        self.next_group += 1;
        Ok(true)
    }

    fn read(&mut self) -> Result<Cells, ParquetError> {
        let mut cells = Cells::new(self.columns.len());
        let most = Cells::most_rows(self.columns.len(), self.becoming);
        while cells.is_empty() {
            let unsigned = self.unsigned();
            let mut columns = Vec::with_capacity(self.columns.len());
            for (reader, unsigned) in self.open.iter_mut().zip(unsigned) {
                columns.push(Column::read(reader, most, unsigned)?);
            }
            let rows = columns.iter().map(Column::rows).min().unwrap_or(0);
            if columns.iter().any(|column| column.rows() != rows) {
                return Err(ParquetError::General("columns of different lengths".to_owned()));
            }
            if rows == 0 && !self.next_group()? {
                break;
            }
            for row in 0..rows {
                self.rows_read += 1;
                columns.iter_mut().for_each(|column| column.push(row, &mut cells));
                cells.end_row(self.rows_read);
            }
        }
        Ok(cells)
    }

    /// Whether each column holds unsigned numbers.
    fn unsigned(&self) -> Vec<bool> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let unsigned = |kind| matches!(kind, ConvertedType::UINT_32 | ConvertedType::UINT_64);
        self.columns.iter().map(|&column| unsigned(schema.column(column).converted_type())).collect()
    }
}

impl Columns for ParquetInput {
    fn becoming(&mut self, bytes: usize) {
        self.becoming = bytes;
    }

    fn next(&mut self) -> Result<(Cells, u64), Problem> {
        let cells = self
            .read()
            .map_err(|error| Problem::new(format!("cannot read {}", self.path.display())).because(error))?;
        Ok((cells, self.rows_read))
    }

    fn length(&self) -> Option<u64> {
        u64::try_from(self.reader.metadata().file_metadata().num_rows()).ok()
    }

    fn place(&self) -> &'static str {
        "row"
    }
}

/// Values of one column.
struct Column {
    values: Values,
    /// For each row, whether it has a value; `None` if all have one.
    present: Option<Vec<bool>>,
    used: usize,
}

enum Values {
    Truth(Vec<bool>),
    Whole(Vec<i128>),
    Number(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Column {
    fn read(reader: &mut ColumnReader, most: usize, unsigned: bool) -> Result<Self, ParquetError> {
        let signed32 = |value: i32| if unsigned { i128::from(value as u32) } else { i128::from(value) };
        let signed64 = |value: i64| if unsigned { i128::from(value as u64) } else { i128::from(value) };
        let (values, present) = match reader {
            ColumnReader::BoolColumnReader(reader) => records(reader, most, Values::Truth)?,
            ColumnReader::Int32ColumnReader(reader) => {
                records(reader, most, |values| Values::Whole(values.into_iter().map(signed32).collect()))?
            }
            ColumnReader::Int64ColumnReader(reader) => {
                records(reader, most, |values| Values::Whole(values.into_iter().map(signed64).collect()))?
            }
            ColumnReader::FloatColumnReader(reader) => {
                records(reader, most, |values| Values::Number(values.into_iter().map(f64::from).collect()))?
            }
            ColumnReader::DoubleColumnReader(reader) => records(reader, most, Values::Number)?,
            ColumnReader::ByteArrayColumnReader(reader) => records(reader, most, Values::Text)?,
            _ => return Err(ParquetError::NYI("a column of this type".to_owned())),
        };
        Ok(Self { values, present, used: 0 })
    }

    fn rows(&self) -> usize {
        let values = match &self.values {
            Values::Truth(values) => values.len(),
            Values::Whole(values) => values.len(),
            Values::Number(values) => values.len(),
            Values::Text(values) => values.len(),
        };
        self.present.as_ref().map_or(values, Vec::len)
    }

    fn is_missing(&self, row: usize) -> bool {
        self.present.as_ref().is_some_and(|present| !present[row])
    }

    /// The value of the next row as a cell, which is empty if it has none.
    fn push(&mut self, row: usize, cells: &mut Cells) {
        if self.is_missing(row) {
            return cells.push(b"");
        }
        match &self.values {
            Values::Truth(values) => cells.push_displayed(values[self.used]),
            Values::Whole(values) => cells.push_displayed(values[self.used]),
            Values::Number(values) => cells.push_displayed(values[self.used]),
            Values::Text(values) => cells.push(values[self.used].data()),
        }
        self.used += 1;
    }
}

/// The next values, of at most this many rows, and which rows have one.
fn records<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    most: usize,
    values: impl FnOnce(Vec<T::T>) -> Values,
) -> Result<(Values, Option<Vec<bool>>), ParquetError> {
    let (mut read, mut levels) = (Vec::new(), Vec::new());
    let (rows, _, _) = reader.read_records(most, Some(&mut levels), None, &mut read)?;
    // A column that always has a value has no levels.
    let highest = levels.iter().copied().max();
    let present = (levels.len() == rows && read.len() < rows)
        .then(|| levels.iter().map(|&level| Some(level) == highest && !read.is_empty()).collect());
    Ok((values(read), present))
}

/// Whether values of this kind are what they seem, and not dates or decimals.
fn plain(kind: ConvertedType) -> bool {
    use ConvertedType as Kind;
    matches!(
        kind,
        Kind::NONE
            | Kind::UTF8
            | Kind::ENUM
            | Kind::INT_8
            | Kind::INT_16
            | Kind::INT_32
            | Kind::INT_64
            | Kind::UINT_8
            | Kind::UINT_16
            | Kind::UINT_32
            | Kind::UINT_64
    )
}
