//! Columns of people's answers, and the files of their private reports.

mod answers;
mod description;
mod mechanism;
#[cfg(feature = "parquet")]
mod parquet_reports;
mod reports;

pub use answers::{Categories, NUMBER, number, refusal};
pub use description::Description;
pub use mechanism::{Answers, Id, Mechanism, Specification};
pub use reports::{Batch, Reports, Writer, parse};
