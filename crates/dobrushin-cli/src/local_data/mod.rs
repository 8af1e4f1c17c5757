//! Columns of people's answers, and the files of their private reports.

mod description;
#[cfg(feature = "parquet")]
mod parquet_reports;
mod reports;
mod survey;

pub use description::{Question, asked_word};
pub use reports::{Reports, Rows, Writer, parse};
pub use survey::Asking;
