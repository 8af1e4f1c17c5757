//! Columns of CSV and Parquet files.
//!
//! Everything streams: a file is read in [`Cells`], batches of some 65 536 rows, which are worked on by all cores and
//! finished in their order, so that memory does not grow with the file.

mod cells;
mod csv_file;
mod input;
#[cfg(feature = "parquet")]
mod parquet_file;
mod pipeline;

pub use cells::{BadRow, Cells};
pub use csv_file::CsvInput;
#[cfg(not(feature = "parquet"))]
pub use input::without_parquet;
pub use input::{Columns, Input, columns, find_all, is_parquet, names, shown};
#[cfg(feature = "parquet")]
pub use parquet_file::ParquetInput;
pub use pipeline::{Pass, Read, read_ahead};
