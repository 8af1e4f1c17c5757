//! Columns of people's answers, and the files of their private reports.

mod answers;
mod description;
mod mechanism;
#[cfg(feature = "parquet")]
mod parquet_reports;
mod reports;

pub use answers::{Categories, number};
pub use description::{Description, NOT_PRIVATE};
pub use mechanism::{Answers, Id, Mechanism, Specification};
pub use reports::{Batch, Reports, Writer, parse};

/// What to do about bad rows.
pub const BAD_ROWS: &str = "correct it; or --skip-bad passes over such rows and says how many there were";
