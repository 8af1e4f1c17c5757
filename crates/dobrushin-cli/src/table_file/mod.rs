//! Columns of CSV and Parquet files.
//!
//! Everything streams: a file is read in [`Cells`], batches of about a megabyte. All cores work on them, and they are
//! finished in their order, so memory does not grow with the file. No row affects how others are read, or how many
//! there are: see [`CsvRows`]. A Parquet file has rows by construction.

mod cells;
mod csv_file;
mod csv_rows;
mod delimiter;
mod input;
#[cfg(test)]
mod one_line;
mod opened;
#[cfg(feature = "parquet")]
mod parquet_file;
mod pipeline;

pub use cells::{BadRow, BadRows, Cells};
pub use csv_file::CsvInput;
pub use csv_rows::{CsvRows, Row};
pub use delimiter::Delimiter;
#[cfg(not(feature = "parquet"))]
pub use input::without_parquet;
pub use input::{Columns, Input, Rows, Source, columns, find_all, is_parquet, names};
#[cfg(test)]
pub use one_line::other_lines;
#[cfg(feature = "parquet")]
pub use parquet_file::ParquetInput;
pub use pipeline::{Pass, Read, read_ahead};
