//! Columns of CSV files.

use super::cells::Cells;
use super::csv_rows::{CsvRows, Torn};
use super::input::{Columns, Source, find, find_all};
use super::opened::{OpenedText, open};
use crate::input::shown;
use crate::problem::Problem;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Some columns of a CSV file, or of standard input.
pub struct CsvInput {
    path: PathBuf,
    rows: CsvRows<BufReader<Box<dyn Read + Send>>>,
    /// The columns that are read.
    columns: Vec<usize>,
    /// How many cells each row must have; `None` if it only has to have the columns.
    width: Option<usize>,
    /// How many bytes each row will become.
    becoming: usize,
    /// The length of the file.
    bytes: Option<u64>,
    /// How much of it has been read.
    read: Arc<AtomicU64>,
}

impl CsvInput {
    /// Some columns, by their names or their numbers; only by their numbers if there is no header.
    pub fn some_columns(source: Source, wanted: &[String], has_header: bool) -> Result<Self, Problem> {
        let mut input = Self::open(source, has_header)?;
        input.columns = match has_header {
            true => {
                let names = input.names()?;
                let found = wanted.iter().map(|wanted| find(&names, wanted, source.path));
                let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
                found
                    .collect::<Result<_, _>>()
                    .map_err(|problem| input.explained(problem, source, &wanted))?
            }
            // The first row is like all others: it does not decide how they are read.
            false => wanted.iter().map(|wanted| numbered(wanted)).collect::<Result<_, _>>()?,
        };
        Ok(input)
    }

    /// Several columns, by their names.
    pub fn columns(source: Source, wanted: &[&str]) -> Result<Self, Problem> {
        let mut input = Self::open(source, true)?;
        let names = input.names()?;
        let found = find_all(&names, wanted, source.path);
        input.columns = found.map_err(|problem| input.explained(problem, source, wanted))?;
        input.width = Some(names.len());
        Ok(input)
    }

    /// The names of all columns, among which these are.
    pub fn header(source: Source, wanted: &[&str]) -> Result<Vec<String>, Problem> {
        let mut input = Self::open(source, true)?;
        let names = input.names()?;
        let found = find_all(&names, wanted, source.path);
        found.map_err(|problem| input.explained(problem, source, wanted))?;
        Ok(names)
    }

    /// A file that has a line before its header, and that line.
    pub fn after_first_line(path: &Path) -> Result<(Vec<u8>, Self), Problem> {
        let mut input = Self::open(Source::of(path), true)?;
        let line = input.rows.next_raw_line().map_err(|error| cannot_read(path).because(error))?;
        let line = line.map(<[u8]>::to_vec).map_err(|torn| torn_line(path, 1, torn))?;
        Ok((line, input))
    }

    /// Reads all columns, which have these names.
    pub fn all_columns(&mut self) -> Result<Vec<String>, Problem> {
        let names = self.names()?;
        self.columns = (0..names.len()).collect();
        self.width = Some(names.len());
        Ok(names)
    }

    fn open(source: Source, has_header: bool) -> Result<Self, Problem> {
        let OpenedText { text, bytes, read } = open(source.path, has_header)?;
        let rows = CsvRows::separated_by(source.delimiter.0, text);
        let path = source.path.to_owned();
        Ok(Self { path, rows, columns: Vec::new(), width: None, becoming: 0, bytes, read })
    }

    /// Why columns are not found: their names may be separated by another character. Only that character is told.
    fn explained(&self, problem: Problem, source: Source, wanted: &[&str]) -> Problem {
        let other = source.delimiter.others().find(|delimiter| {
            let mut header = CsvRows::separated_by(delimiter.0, self.rows.last_line());
            let Ok(Some(Ok(row))) = header.next_row() else {
                return false;
            };
            row.len() > 1 && row.iter().any(|name| wanted.iter().any(|w| name.trim_ascii() == w.as_bytes()))
        });
        match other {
            None => problem,
            Some(other) => Problem::new(format!(
                "the columns of {} are separated by {}, not by {}",
                shown(source.path),
                other.name(),
                source.delimiter.name()
            ))
            .help(format!("--delimiter {}", other.flag())),
        }
    }

    /// The names of all columns, from the next line.
    fn names(&mut self) -> Result<Vec<String>, Problem> {
        let line = self.rows.line() + 1;
        let row = self.rows.next_row().map_err(|error| cannot_read(&self.path).because(error))?;
        let row = row.ok_or_else(|| {
            Problem::new(format!("{} has no rows", shown(&self.path)))
                .help("a CSV file with a header line, and a row for each person")
        })?;
        let row = row.map_err(|torn| torn_line(&self.path, line, torn))?;
        Ok(row.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned()).collect())
    }

    /// Adds the next line to the cells, as a row or as one that cannot be used; returns false at the end of the file.
    fn read_row(&mut self, cells: &mut Cells) -> io::Result<bool> {
        let place = self.rows.line() + 1;
        let row = match self.rows.next_row()? {
            None => return Ok(false),
            Some(Ok(row)) => row,
            Some(Err(torn)) => {
                cells.refuse(place, torn);
                return Ok(true);
            }
        };
        let found = row.len();
        match (self.width.filter(|width| *width != found), self.columns.iter().find(|&&c| c >= found)) {
            (Some(_), _) | (_, Some(_)) if row.is_blank() => {
                cells.refuse(place, "the line is blank; every line is a row of its own");
            }
            (Some(width), _) => {
                cells.refuse(place, format_args!("it has {found} cells, but the header has {width}"));
            }
            (_, Some(column)) => {
                let column = column + 1;
                cells.refuse(place, format_args!("it has {found} cells, but the column is number {column}"));
            }
            (None, None) => {
                self.columns.iter().filter_map(|&column| row.get(column)).for_each(|cell| cells.push(cell));
                cells.end_row(place);
            }
        }
        Ok(true)
    }
}

impl Columns for CsvInput {
    fn becoming(&mut self, bytes: usize) {
        self.becoming = bytes;
    }

    fn next(&mut self) -> Result<(Cells, u64), Problem> {
        let mut cells = Cells::new(self.columns.len());
        while !cells.is_full(self.becoming) {
            let more = self.read_row(&mut cells);
            let more = more.map_err(|error| cannot_read(&self.path).because(error))?;
            // A line that is too long may be endless, so it is reported before the rest of it arrives.
            if !more || self.rows.is_in_long_line() {
                break;
            }
        }
        Ok((cells, self.read.load(Ordering::Relaxed)))
    }

    fn length(&self) -> Option<u64> {
        self.bytes
    }

    fn place(&self) -> &'static str {
        "line"
    }
}

/// The place of a column that is given by its number.
fn numbered(wanted: &str) -> Result<usize, Problem> {
    let number = wanted.parse::<usize>().ok().filter(|number| *number > 0);
    number.map(|number| number - 1).ok_or_else(|| {
        Problem::new(format!("--column {wanted}: with --no-header columns have no names"))
            .help("give the number of the column, counted from 1")
    })
}

fn cannot_read(path: &Path) -> Problem {
    Problem::new(format!("cannot read {}", shown(path)))
}

fn torn_line(path: &Path, line: u64, torn: Torn) -> Problem {
    Problem::new(format!("line {line} of {}: {torn}", shown(path))).help("correct the line")
}
