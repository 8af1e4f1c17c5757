//! Columns of people's answers, and the files of their private reports.

mod answers;
mod description;
mod mechanism;
#[cfg(feature = "parquet")]
mod parquet_reports;
mod reports;
mod survey;

pub use answers::{Categories, NUMBER, number, refusal};
pub use description::{Question, asked_word};
pub use mechanism::{Answers, Id, Mechanism, Specification};
pub use reports::{Batch, Reports, Rows, Writer, parse};
pub use survey::Asking;
