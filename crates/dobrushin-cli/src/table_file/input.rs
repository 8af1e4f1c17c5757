//! Where columns are read from.

use super::cells::Cells;
use super::csv_file::CsvInput;
use super::delimiter::Delimiter;
#[cfg(feature = "parquet")]
use super::parquet_file::ParquetInput;
use crate::input::shown;
use crate::problem::Problem;
use std::collections::HashMap;
use std::path::Path;

/// Columns of a file that are read batch by batch.
pub trait Columns: Send {
    /// Makes batches small enough that what their rows become, this many bytes each, is small too.
    fn becoming(&mut self, bytes: usize);
    /// The next batch, and how far reading has come; at the end, the batch has no rows.
    fn next(&mut self) -> Result<(Cells, u64), Problem>;
    /// How far there is to go, in bytes or rows. `None` if it is not known.
    fn length(&self) -> Option<u64>;
    /// What a place is called: a line or a row.
    fn place(&self) -> &'static str;
}

/// A file of rows; "-" is standard input.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// What stands between the cells, if it is CSV.
    pub delimiter: Delimiter,
}

impl<'a> Source<'a> {
    /// A file whose cells are separated by commas.
    pub fn of(path: &'a Path) -> Self {
        Self { path, delimiter: Delimiter::default() }
    }
}

/// Rows of which columns are read by their names: those of a file, or those of a table in memory.
pub trait Rows {
    /// What messages call them.
    fn path(&self) -> &Path;
    /// Some columns, in the order of the names.
    fn columns(&self, wanted: &[&str]) -> Result<Box<dyn Columns>, Problem>;
}

impl Rows for Source<'_> {
    fn path(&self) -> &Path {
        self.path
    }

    fn columns(&self, wanted: &[&str]) -> Result<Box<dyn Columns>, Problem> {
        columns(*self, wanted)
    }
}

impl Rows for Input<'_> {
    fn path(&self) -> &Path {
        self.source.path
    }

    /// By their names or their numbers.
    fn columns(&self, wanted: &[&str]) -> Result<Box<dyn Columns>, Problem> {
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        Self::columns(self, &wanted)
    }
}

/// A file with columns.
pub struct Input<'a> {
    /// The file.
    pub source: Source<'a>,
    /// Whether the first line of a CSV file is a row like any other.
    pub no_header: bool,
}

impl Input<'_> {
    /// Reads some columns, by their names or their numbers, counted from 1. A row may have more cells, or fewer, as long
    /// as it has these.
    pub fn columns(&self, wanted: &[String]) -> Result<Box<dyn Columns>, Problem> {
        let path = self.source.path;
        if is_parquet(path) {
            #[cfg(feature = "parquet")]
            return Ok(Box::new(ParquetInput::some_columns(path, wanted)?));
            #[cfg(not(feature = "parquet"))]
            return Err(without_parquet(path));
        }
        Ok(Box::new(CsvInput::some_columns(self.source, wanted, !self.no_header)?))
    }
}

/// Reads several columns by their names, in the order of the names. Every row must be as long as the header.
pub fn columns(source: Source, wanted: &[&str]) -> Result<Box<dyn Columns>, Problem> {
    if is_parquet(source.path) {
        #[cfg(feature = "parquet")]
        return Ok(Box::new(ParquetInput::columns(source.path, wanted)?));
        #[cfg(not(feature = "parquet"))]
        return Err(without_parquet(source.path));
    }
    Ok(Box::new(CsvInput::columns(source, wanted)?))
}

/// The names of all columns, among which these must be; it does not look at any row.
pub fn names(source: Source, wanted: &[&str]) -> Result<Vec<String>, Problem> {
    if is_parquet(source.path) {
        #[cfg(feature = "parquet")]
        {
            let names = ParquetInput::open(source.path)?.names();
            find_all(&names, wanted, source.path)?;
            return Ok(names);
        }
        #[cfg(not(feature = "parquet"))]
        return Err(without_parquet(source.path));
    }
    CsvInput::header(source, wanted)
}

/// Whether the name of the file says that it is Parquet; everything else is CSV.
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Says that this program was built without Parquet.
#[cfg(not(feature = "parquet"))]
pub fn without_parquet(path: &Path) -> Problem {
    Problem::new(format!("{} is a Parquet file, and this program was built without Parquet", path.display()))
        .help("give a CSV file, or build with: cargo install --path crates/dobrushin-cli --features parquet")
}

/// The place of the wanted column among all, by name, or by number counted from 1.
///
/// No message says what the others are called: in a file without a header line they would be somebody's answers.
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
        Problem::new(message).help(format!(
            "give a name as the file has it, or a number from 1 to {}; --no-header if the first line is a row",
            names.len()
        ))
    })
}

/// The places of the wanted columns among all, by their names.
///
/// No message says what the others are called: in a file without a header line they would be somebody's record.
pub fn find_all(names: &[String], wanted: &[&str], path: &Path) -> Result<Vec<usize>, Problem> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        places.entry(name).or_default().push(place);
    }
    let place = |name: &&str| match places.get(name).map(Vec::as_slice) {
        Some([place]) => Ok(*place),
        Some(several) => {
            let numbers: Vec<String> = several.iter().map(|place| (place + 1).to_string()).collect();
            let message = format!("columns {} of {} have the same name", numbers.join(" and "), shown(path));
            Err(Problem::new(message).help("give every column a name of its own"))
        }
        None => {
            let same = |other: &&String| other.eq_ignore_ascii_case(name);
            let help = match names.iter().find(same) {
                Some(other) => format!("it is called {other:?} there"),
                None => "the first line of a CSV file must name all columns, including this one".to_owned(),
            };
            Err(Problem::new(format!("there is no column {name:?} in {}", shown(path))).help(help))
        }
    };
    wanted.iter().map(place).collect()
}
