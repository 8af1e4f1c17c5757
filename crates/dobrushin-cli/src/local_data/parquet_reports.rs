//! Parquet files of reports.

use super::description::METADATA_KEY;
use super::reports::{Raw, undescribed};
use crate::file::Draft;
use crate::problem::Problem;
use crate::table_file::ParquetInput;
use dobrushin_document::local::{Batch, Mechanism};
use parquet::basic::Compression;
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The description of a file of reports, the names of its columns, and all of them.
pub fn reports(path: &Path) -> Result<Raw, Problem> {
    let mut input = ParquetInput::open(path)?;
    let line = input.metadata(METADATA_KEY).ok_or_else(|| undescribed(path))?;
    let names = input.all_columns()?;
    Ok((line, names, Box::new(input)))
}

/// A Parquet file of reports that is being written.
pub struct ParquetOutput {
    path: PathBuf,
    writer: SerializedFileWriter<Draft>,
    columns: usize,
    /// The rows of the next row group so far.
    words: Vec<u64>,
    numbers: Vec<f64>,
}

/// A row group has about this many words.
const GROUP: usize = 1 << 20;

impl ParquetOutput {
    /// A file with its description in its metadata.
    pub fn new(path: &Path, description: String, mechanism: &Mechanism) -> Result<Self, Problem> {
        let kind = match mechanism {
            Mechanism::Frequency(..) | Mechanism::Vector(_) => ("INT64", " (UINT_64)"),
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
        let writer = create().map_err(|error| Problem::cannot_write(path, error))?;
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
            self.write_group().map_err(|error| Problem::cannot_write(&self.path, error))?;
        }
        Ok(())
    }

    /// Completes the file.
    pub fn finish(mut self) -> Result<(), Problem> {
        if self.words.len() + self.numbers.len() > 0 {
            self.write_group().map_err(|error| Problem::cannot_write(&self.path, error))?;
        }
        // This writes the footer too.
        let draft = self.writer.into_inner().map_err(|error| Problem::cannot_write(&self.path, error))?;
        draft.finish().map_err(|error| Problem::cannot_write(&self.path, error))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        let mut index = 0;
        while let Some(mut column) = group.next_column()? {
            if self.numbers.is_empty() {
                // The annotation of the column says that these numbers are unsigned.
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
