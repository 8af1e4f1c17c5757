//! Columns of CSV files.

use super::cells::Cells;
use super::input::{Columns, find, find_all, shown};
use crate::problem::Problem;
use csv::{ByteRecord, ReaderBuilder};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Some columns of a CSV file, or of standard input.
pub struct CsvInput {
    path: PathBuf,
    reader: csv::Reader<Box<dyn Read + Send>>,
    /// The columns that are read.
    columns: Vec<usize>,
    /// How many cells each row must have; nothing if it is enough that it has the columns.
    width: Option<usize>,
    /// Lines before those that the reader sees.
    lines_before: u64,
    /// The length of the file.
    bytes: Option<u64>,
    record: ByteRecord,
}

/// Bytes that are read at once.
const BUFFER: usize = 1 << 18;

impl CsvInput {
    /// One column, by its name or its number.
    pub fn column(path: &Path, wanted: &str, has_header: bool) -> Result<Self, Problem> {
        let (source, bytes) = open(path)?;
        let mut input = Self::new(path, source, bytes, has_header);
        let names = input.names(has_header)?;
        input.columns = vec![find(&names, wanted, path)?];
        Ok(input)
    }

    /// Several columns, by their names.
    pub fn columns(path: &Path, wanted: &[&str]) -> Result<Self, Problem> {
        let (source, bytes) = open(path)?;
        let mut input = Self::new(path, source, bytes, true);
        let names = input.names(true)?;
        input.columns = find_all(&names, wanted, path)?;
        input.width = Some(names.len());
        Ok(input)
    }

    /// The names of all columns.
    pub fn header(path: &Path) -> Result<Vec<String>, Problem> {
        let (source, bytes) = open(path)?;
        Self::new(path, source, bytes, true).names(true)
    }

    /// A file that has a line before its header, and that line.
    pub fn after_first_line(path: &Path) -> Result<(Vec<u8>, Self), Problem> {
        let (source, bytes) = open(path)?;
        let mut source = BufReader::with_capacity(BUFFER, source);
        let mut line = Vec::new();
        source.read_until(b'\n', &mut line).map_err(|error| cannot_read(path).because(error))?;
        let mut input = Self::new(path, Box::new(source), bytes, true);
        input.lines_before = 1;
        Ok((line, input))
    }

    /// Reads all columns, which have these names.
    pub fn all_columns(&mut self) -> Result<Vec<String>, Problem> {
        let names = self.names(true)?;
        self.columns = (0..names.len()).collect();
        Ok(names)
    }

    fn new(path: &Path, source: Box<dyn Read + Send>, bytes: Option<u64>, has_header: bool) -> Self {
        let reader = ReaderBuilder::new()
            .has_headers(has_header)
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(source);
        let record = ByteRecord::new();
        let columns = Vec::new();
        Self { path: path.to_owned(), reader, columns, width: None, lines_before: 0, bytes, record }
    }

    /// The names of all columns: those of the header, or numbers.
    fn names(&mut self, has_header: bool) -> Result<Vec<String>, Problem> {
        let first = self.reader.byte_headers().map_err(|error| cannot_read(&self.path).because(error))?;
        if first.is_empty() {
            let message = format!("{} has no rows", shown(&self.path));
            return Err(
                Problem::new(message).help("a CSV file with a header line, and a row for each person")
            );
        }
        let name = |(index, bytes): (usize, &[u8])| match has_header {
            true => String::from_utf8_lossy(bytes.trim_ascii()).into_owned(),
            false => (index + 1).to_string(),
        };
        Ok(first.iter().enumerate().map(name).collect())
    }
}

impl Columns for CsvInput {
    fn next(&mut self) -> Result<(Cells, u64), Problem> {
        let mut cells = Cells::new(self.columns.len());
        while !cells.is_full() {
            let read = self.reader.read_byte_record(&mut self.record);
            if !read.map_err(|error| cannot_read(&self.path).because(error))? {
                break;
            }
            let place = self.record.position().map_or(0, csv::Position::line) + self.lines_before;
            let found = self.record.len();
            if let Some(width) = self.width.filter(|width| *width != found) {
                cells.refuse(place, format!("it has {found} cells, but the header has {width}"));
                continue;
            }
            let missing = self.columns.iter().find(|&&column| column >= found);
            if let Some(column) = missing {
                let column = column + 1;
                cells.refuse(place, format!("it has {found} cells, but the column is number {column}"));
                continue;
            }
            for cell in self.columns.iter().filter_map(|&column| self.record.get(column)) {
                cells.push(cell);
            }
            cells.end_row(place);
        }
        Ok((cells, self.reader.position().byte()))
    }

    fn length(&self) -> Option<(u64, &'static str)> {
        self.bytes.map(|bytes| (bytes, "bytes"))
    }

    fn place(&self) -> &'static str {
        "line"
    }
}

/// The file, and its length where it has one.
fn open(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>), Problem> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path).map_err(|error| cannot_read(path).because(error))?;
    let regular = file.metadata().ok().filter(std::fs::Metadata::is_file);
    Ok((Box::new(file), regular.map(|metadata| metadata.len())))
}

fn cannot_read(path: &Path) -> Problem {
    Problem::new(format!("cannot read {}", shown(path)))
}
