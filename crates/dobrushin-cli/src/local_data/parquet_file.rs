//! Columns of Parquet files.
//!
//! Only the wanted columns are read, page by page; nothing of the file but its footer is held in memory.

use super::cells::Cells;
use super::description::METADATA_KEY;
use super::input::{Columns, find};
use super::mechanism::Mechanism;
use super::reports::{Batch, Raw, undescribed};
use crate::file::Draft;
use crate::problem::Problem;
use parquet::basic::{Compression, ConvertedType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Some columns of a Parquet file.
pub struct ParquetInput {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    columns: Vec<usize>,
    /// Those of the row group that is being read.
    open: Vec<ColumnReader>,
    next_group: usize,
    rows_read: u64,
}

impl ParquetInput {
    /// One column, by its name or its number.
    pub fn column(path: &Path, wanted: &str) -> Result<Self, Problem> {
        let mut input = Self::open(path)?;
        input.columns = vec![find(&input.names(), wanted, path)?];
        input.check_types()?;
        Ok(input)
    }

    fn open(path: &Path) -> Result<Self, Problem> {
        let message = || format!("cannot read {}", path.display());
        let file = File::open(path).map_err(|error| Problem::new(message()).because(error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| {
            Problem::new(message()).because(error).help("its name says that it is Parquet: is it complete?")
        })?;
        let (columns, open) = (Vec::new(), Vec::new());
        Ok(Self { path: path.to_owned(), reader, columns, open, next_group: 0, rows_read: 0 })
    }

    fn names(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.path().string()).collect()
    }

    /// A cell must be a text, a number or a truth value.
    fn check_types(&self) -> Result<(), Problem> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        for &column in &self.columns {
            let column = schema.column(column);
            let kind = (column.physical_type(), column.converted_type());
            let known = !matches!(kind.0, Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY) && plain(kind.1);
            if !known || column.max_rep_level() > 0 {
                let name = column.path().string();
                let message = format!("--column {name} of {} is a column of {kind:?}", self.path.display());
                return Err(Problem::new(message).help(
                    "texts, whole and floating-point numbers, true and false are accepted, one to a row",
                ));
            }
        }
        Ok(())
    }

    /// Opens the next row group; false if there is none.
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
        while cells.is_empty() {
            let unsigned = self.unsigned();
            let mut columns = Vec::with_capacity(self.columns.len());
            for (reader, unsigned) in self.open.iter_mut().zip(unsigned) {
                columns.push(Column::read(reader, unsigned)?);
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
                if columns.iter().any(|column| column.is_missing(row)) {
                    cells.refuse(self.rows_read, "the cell is empty".to_owned());
                    columns.iter_mut().for_each(|column| column.skip(row));
                    continue;
                }
                columns.iter_mut().for_each(|column| column.push(&mut cells));
                cells.end_row(self.rows_read);
            }
        }
        Ok(cells)
    }

    /// Whether each column is of numbers without a sign.
    fn unsigned(&self) -> Vec<bool> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let unsigned = |kind| matches!(kind, ConvertedType::UINT_32 | ConvertedType::UINT_64);
        self.columns.iter().map(|&column| unsigned(schema.column(column).converted_type())).collect()
    }
}

impl Columns for ParquetInput {
    fn next(&mut self) -> Result<(Cells, u64), Problem> {
        let cells = self
            .read()
            .map_err(|error| Problem::new(format!("cannot read {}", self.path.display())).because(error))?;
        Ok((cells, self.rows_read))
    }

    fn length(&self) -> Option<(u64, &'static str)> {
        let rows = self.reader.metadata().file_metadata().num_rows();
        u64::try_from(rows).ok().map(|rows| (rows, "rows"))
    }

    fn place(&self) -> &'static str {
        "row"
    }
}

/// The description of a file of reports, the names of its columns, and all of them.
pub fn reports(path: &Path) -> Result<Raw, Problem> {
    let mut input = ParquetInput::open(path)?;
    let metadata = input.reader.metadata().file_metadata().key_value_metadata();
    let entry = metadata.and_then(|entries| entries.iter().find(|entry| entry.key == METADATA_KEY));
    let line = entry.and_then(|entry| entry.value.clone()).ok_or_else(|| undescribed(path))?;
    let names = input.names();
    input.columns = (0..names.len()).collect();
    input.check_types()?;
    Ok((line, names, Box::new(input)))
}

/// Values of one column.
struct Column {
    values: Values,
    /// For each row, whether it has a value; nothing if all have.
    present: Option<Vec<bool>>,
    used: usize,
}

enum Values {
    Truth(Vec<bool>),
    Whole(Vec<i128>),
    Number(Vec<f64>),
    Text(Vec<ByteArray>),
}

/// Rows that are read at once.
const ROWS: usize = super::cells::ROWS;

impl Column {
    fn read(reader: &mut ColumnReader, unsigned: bool) -> Result<Self, ParquetError> {
        let signed32 = |value: i32| if unsigned { i128::from(value as u32) } else { i128::from(value) };
        let signed64 = |value: i64| if unsigned { i128::from(value as u64) } else { i128::from(value) };
        let (values, present) = match reader {
            ColumnReader::BoolColumnReader(reader) => records(reader, Values::Truth)?,
            ColumnReader::Int32ColumnReader(reader) => {
                records(reader, |values| Values::Whole(values.into_iter().map(signed32).collect()))?
            }
            ColumnReader::Int64ColumnReader(reader) => {
                records(reader, |values| Values::Whole(values.into_iter().map(signed64).collect()))?
            }
            ColumnReader::FloatColumnReader(reader) => {
                records(reader, |values| Values::Number(values.into_iter().map(f64::from).collect()))?
            }
            ColumnReader::DoubleColumnReader(reader) => records(reader, Values::Number)?,
            ColumnReader::ByteArrayColumnReader(reader) => records(reader, Values::Text)?,
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

    /// Passes over the value of a row, if it has one.
    fn skip(&mut self, row: usize) {
        self.used += usize::from(!self.is_missing(row));
    }

    /// The next value as a cell.
    fn push(&mut self, cells: &mut Cells) {
        match &self.values {
            Values::Truth(values) => cells.push_displayed(values[self.used]),
            Values::Whole(values) => cells.push_displayed(values[self.used]),
            Values::Number(values) => cells.push_displayed(values[self.used]),
            Values::Text(values) => cells.push(values[self.used].data()),
        }
        self.used += 1;
    }
}

/// The next values, and which rows have one.
fn records<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    values: impl FnOnce(Vec<T::T>) -> Values,
) -> Result<(Values, Option<Vec<bool>>), ParquetError> {
    let (mut read, mut levels) = (Vec::new(), Vec::new());
    let (rows, _, _) = reader.read_records(ROWS, Some(&mut levels), None, &mut read)?;
    // A column that always has a value has no levels.
    let most = levels.iter().copied().max();
    let present = (levels.len() == rows && read.len() < rows)
        .then(|| levels.iter().map(|&level| Some(level) == most && !read.is_empty()).collect());
    Ok((values(read), present))
}

/// A Parquet file of reports that is being written.
pub struct ParquetOutput {
    path: PathBuf,
    writer: SerializedFileWriter<Draft>,
    columns: usize,
    /// What will be the next row group, row after row.
    words: Vec<u64>,
    numbers: Vec<f64>,
}

/// Words of a row group, about.
const GROUP: usize = 1 << 20;

impl ParquetOutput {
    /// A file with its description in its metadata.
    pub fn new(path: &Path, description: String, mechanism: &Mechanism) -> Result<Self, Problem> {
        let kind = match mechanism {
            Mechanism::Frequency(..) => ("INT64", " (UINT_64)"),
            Mechanism::Mean(_) => ("DOUBLE", ""),
        };
        let names = mechanism.report_columns();
        let fields: String =
            names.iter().map(|name| format!("REQUIRED {} {name}{}; ", kind.0, kind.1)).collect();
        let metadata = KeyValue::new(METADATA_KEY.to_owned(), description);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![metadata]))
            .build();
        let create = || {
            let schema = parse_message_type(&format!("message reports {{ {fields}}}"))?;
            SerializedFileWriter::new(Draft::new(path)?, Arc::new(schema), Arc::new(properties))
        };
        let writer = create().map_err(|error| cannot_write(path, error))?;
        let (words, numbers) = (Vec::new(), Vec::new());
        Ok(Self { path: path.to_owned(), writer, columns: names.len(), words, numbers })
    }

    /// Appends a batch.
    pub fn write(&mut self, batch: &Batch) -> Result<(), Problem> {
        match batch {
            Batch::Words(words, _) => self.words.extend_from_slice(words),
            Batch::Numbers(numbers) => self.numbers.extend_from_slice(numbers),
        }
        if self.words.len() + self.numbers.len() >= GROUP {
            self.write_group().map_err(|error| cannot_write(&self.path, error))?;
        }
        Ok(())
    }

    /// The file is complete.
    pub fn finish(mut self) -> Result<(), Problem> {
        if self.words.len() + self.numbers.len() > 0 {
            self.write_group().map_err(|error| cannot_write(&self.path, error))?;
        }
        // This writes the footer too.
        let draft = self.writer.into_inner().map_err(|error| cannot_write(&self.path, error))?;
        draft.finish().map_err(|error| cannot_write(&self.path, error.into()))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        let mut index = 0;
        while let Some(mut column) = group.next_column()? {
            if self.numbers.is_empty() {
                // The annotation of the column says that these are numbers without a sign.
                let words: Vec<i64> =
                    self.words.iter().skip(index).step_by(self.columns).map(|&word| word as i64).collect();
                column.typed::<Int64Type>().write_batch(&words, None, None)?;
            } else {
                column.typed::<DoubleType>().write_batch(&self.numbers, None, None)?;
            }
            column.close()?;
            index += 1;
        }
        group.close()?;
        self.words.clear();
        self.numbers.clear();
        Ok(())
    }
}

/// Whether values of this kind are what they seem: no dates, no decimals.
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

fn cannot_write(path: &Path, error: ParquetError) -> Problem {
    Problem::new(format!("cannot write {}", path.display())).because(error)
}
