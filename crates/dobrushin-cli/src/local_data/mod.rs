//! Columns of people's answers, and the files of their private reports.
//!
//! Everything streams: a file is read in [`Cells`], batches of some 65 536 rows, which are worked on by all cores and
//! written in their order, so that memory does not grow with the file.

mod answers;
mod cells;
mod csv_file;
mod description;
mod input;
mod mechanism;
#[cfg(feature = "parquet")]
mod parquet_file;
mod pipeline;
mod reports;

pub use answers::{Categories, number};
pub use cells::{BadRow, Cells};
pub use description::{Description, NOT_PRIVATE};
pub use input::Input;
pub use mechanism::{Answers, Id, Mechanism, Specification};
pub use pipeline::Pass;
pub use reports::{Batch, Reports, Writer, parse};
