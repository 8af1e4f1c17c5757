//! Where columns are read from.

use super::cells::Cells;
use super::csv_file::CsvInput;
use crate::problem::Problem;
use std::path::Path;

/// Columns of a file that are read batch by batch.
pub trait Columns: Send {
    /// The next batch, and how far reading has come; without rows at the end.
    fn next(&mut self) -> Result<(Cells, u64), Problem>;
    /// How far there is to go, and in what: bytes or rows. Nothing if it is not known.
    fn length(&self) -> Option<(u64, &'static str)>;
    /// What a place is called: a line or a row.
    fn place(&self) -> &'static str;
}

/// A file with columns.
pub struct Input<'a> {
    /// The file; "-" is standard input.
    pub path: &'a Path,
    /// Whether the first line of a CSV file is a row like any other.
    pub no_header: bool,
}

impl Input<'_> {
    /// Reads one column, by its name or its number, counted from 1.
    pub fn column(&self, wanted: &str) -> Result<Box<dyn Columns>, Problem> {
        if is_parquet(self.path) {
            return parquet_column(self.path, wanted);
        }
        Ok(Box::new(CsvInput::column(self.path, wanted, !self.no_header)?))
    }
}

/// Whether the name of the file says that it is Parquet; everything else is CSV.
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

#[cfg(feature = "parquet")]
fn parquet_column(path: &Path, wanted: &str) -> Result<Box<dyn Columns>, Problem> {
    Ok(Box::new(super::parquet_file::ParquetInput::column(path, wanted)?))
}

#[cfg(not(feature = "parquet"))]
fn parquet_column(path: &Path, _: &str) -> Result<Box<dyn Columns>, Problem> {
    Err(without_parquet(path))
}

/// This program was built without Parquet.
#[cfg(not(feature = "parquet"))]
pub fn without_parquet(path: &Path) -> Problem {
    Problem::new(format!("{} is a Parquet file, and this program was built without Parquet", path.display()))
        .help("give a CSV file, or build with: cargo install --path crates/dobrushin-cli --features parquet")
}

/// The place of the wanted column among all, by name, or by number counted from 1.
pub fn find(names: &[String], wanted: &str, path: &Path) -> Result<usize, Problem> {
    let named: Vec<usize> = (0..names.len()).filter(|&index| names[index] == wanted).collect();
    match (named[..].first(), named.len()) {
        (Some(&index), 1) => return Ok(index),
        (Some(_), count) => {
            let message = format!("--column {wanted}: {count} columns of {} have that name", shown(path));
            return Err(Problem::new(message).help("give the number of the column, counted from 1"));
        }
        _ => {}
    }
    let number = wanted.parse::<usize>().ok().filter(|number| (1..=names.len()).contains(number));
    number.map(|number| number - 1).ok_or_else(|| {
        let message = format!("--column {wanted}: there is no such column in {}", shown(path));
        let names = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        Problem::new(message).help(format!("one of {names}, or a number counted from 1"))
    })
}

/// A path for messages.
pub fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
