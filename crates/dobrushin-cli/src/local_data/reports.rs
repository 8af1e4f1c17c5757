//! Files of reports, written and read.

use super::answers::{NUMBER, number, refusal, whole};
use super::description::{Description, FIRST_LINE};
use super::mechanism::Mechanism;
#[cfg(feature = "parquet")]
use super::parquet_reports::{self, ParquetOutput};
use crate::file::Draft;
use crate::problem::Problem;
use crate::table_file::{BadRows, Cells, Columns, CsvInput, is_parquet, shown};
use std::fmt::{self, Display};
use std::io::Write;
use std::path::Path;

/// The reports of one batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Batch {
    /// This many words for each report.
    Words(Vec<u64>, usize),
    /// One number for each report.
    Numbers(Vec<f64>),
}

/// A file of reports that is being written; nothing is left of it unless it is finished.
pub enum Writer {
    /// A CSV file, or standard output.
    Csv(Box<Draft>),
    /// A Parquet file.
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetOutput>),
}

/// The form in which a file takes batches.
#[derive(Clone, Copy)]
pub enum Form {
    /// Lines of a CSV file.
    Text,
    /// Words and numbers, unchanged.
    #[cfg(feature = "parquet")]
    Columns,
}

impl Form {
    /// Brings a batch into this form. Many cores do this before [`Writer::write`], which one core does.
    pub fn encode(self, batch: Batch) -> Encoded {
        match self {
            Self::Text => Encoded::Text(text(&batch)),
            #[cfg(feature = "parquet")]
            Self::Columns => Encoded::Columns(batch),
        }
    }
}

/// A batch in the form in which its file takes it.
pub enum Encoded {
    /// Lines of a CSV file.
    Text(Vec<u8>),
    /// The batch, unchanged.
    #[cfg(feature = "parquet")]
    Columns(Batch),
}

impl Writer {
    /// Starts a file that says what its reports are.
    pub fn new(path: &Path, description: &Description, mechanism: &Mechanism) -> Result<Self, Problem> {
        let (line, columns) = (description.line(mechanism), mechanism.report_columns());
        if is_parquet(path) {
            #[cfg(feature = "parquet")]
            return Ok(Self::Parquet(Box::new(ParquetOutput::new(path, line, mechanism)?)));
            #[cfg(not(feature = "parquet"))]
            return Err(crate::table_file::without_parquet(path));
        }
        let cannot_write = |error| Problem::cannot_write(path, error);
        let mut draft = Draft::new(path).map_err(cannot_write)?;
        let header = format!("{FIRST_LINE}{line}\n{}\n", columns.join(","));
        draft.write_all(header.as_bytes()).map_err(cannot_write)?;
        Ok(Self::Csv(Box::new(draft)))
    }

    /// The form in which the file takes batches.
    pub fn form(&self) -> Form {
        match self {
            Self::Csv(_) => Form::Text,
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => Form::Columns,
        }
    }

    /// Appends a batch.
    pub fn write(&mut self, path: &Path, batch: Encoded) -> Result<(), Problem> {
        match (self, batch) {
            (Self::Csv(draft), Encoded::Text(text)) => {
                draft.write_all(&text).map_err(|error| Problem::cannot_write(path, error))
            }
            #[cfg(feature = "parquet")]
            (Self::Parquet(output), Encoded::Columns(batch)) => output.write(&batch),
            #[cfg(feature = "parquet")]
            _ => Ok(()),
        }
    }

    /// Completes the file.
    pub fn finish(self, path: &Path) -> Result<(), Problem> {
        match self {
            Self::Csv(draft) => draft.finish().map_err(|error| Problem::cannot_write(path, error)),
            #[cfg(feature = "parquet")]
            Self::Parquet(output) => output.finish(),
        }
    }
}

/// A file of reports that is being read.
pub struct Reports {
    /// What the file says about itself.
    pub description: Description,
    /// The mechanism that made it.
    pub mechanism: Mechanism,
    /// The reports, as text.
    pub columns: Box<dyn Columns>,
}

impl Reports {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let (line, names, columns) = raw(path)?;
        let (description, mechanism) = Description::read(&line, &shown(path))?;
        let expected = mechanism.report_columns();
        if names != expected {
            let message = format!("the columns of {} are not those of its mechanism", shown(path));
            let help = "give the file as privatize wrote it, with the header line below the first line";
            return Err(Problem::new(message).help(help));
        }
        Ok(Self { description, mechanism, columns })
    }
}

/// The description, the names of the columns, and all of them.
pub type Raw = (String, Vec<String>, Box<dyn Columns>);

fn raw(path: &Path) -> Result<Raw, Problem> {
    if is_parquet(path) {
        #[cfg(feature = "parquet")]
        return parquet_reports::reports(path);
        #[cfg(not(feature = "parquet"))]
        return Err(crate::table_file::without_parquet(path));
    }
    let (line, mut columns) = CsvInput::after_first_line(path)?;
    let line = String::from_utf8_lossy(&line);
    let description = line.strip_prefix(FIRST_LINE).ok_or_else(|| undescribed(path))?;
    let names = columns.all_columns()?;
    Ok((description.trim().to_owned(), names, Box::new(columns)))
}

/// Refuses a file that does not say what made it.
pub fn undescribed(path: &Path) -> Problem {
    Problem::new(format!("{} does not say which mechanism made its reports", shown(path))).help(format!(
        "dobrushin local privatize says so in the first line (# {} …) or in the metadata of Parquet: keep it when \
         you copy reports",
        FIRST_LINE.trim_start_matches("# ").trim()
    ))
}

/// The reports of a batch, and the rows that are not reports.
pub fn parse(cells: &Cells, mechanism: &Mechanism) -> (Batch, BadRows) {
    let mut bad = BadRows::default();
    let names = mechanism.report_columns();
    let batch = match mechanism {
        Mechanism::Frequency(oracle, _) => {
            let width = oracle.report_words();
            let mut words = Vec::with_capacity(cells.rows() * width);
            for (place, row) in cells.iter() {
                let start = words.len();
                let wrong = row.zip(&names).find(|(cell, _)| match whole(cell) {
                    Some(word) => {
                        words.push(word);
                        false
                    }
                    None => true,
                });
                match wrong {
                    Some((cell, name)) => bad.add(place, refusal(name, cell, || WORD.to_owned())),
                    None if oracle.is_report(&words[start..]) => continue,
                    None => bad.add(place, no_report(oracle.id())),
                }
                words.truncate(start);
            }
            Batch::Words(words, width)
        }
        Mechanism::Mean(mechanism) => {
            let mut numbers = Vec::with_capacity(cells.rows());
            for (place, mut row) in cells.iter() {
                let cell = row.next().unwrap_or_default();
                match number(cell) {
                    Some(report) if mechanism.is_report(report) => numbers.push(report),
                    Some(_) => bad.add(place, no_report(mechanism.id())),
                    None => bad.add(place, refusal(&names[0], cell, || NUMBER.to_owned())),
                }
            }
            Batch::Numbers(numbers)
        }
    };
    (batch, bad)
}

/// What a word of a report is.
const WORD: &str = "a whole number from 0 to 2^64 − 1";

fn no_report(mechanism: &str) -> impl Display {
    fmt::from_fn(move |f| write!(f, "it is not a report that {mechanism} can make: the file is damaged"))
}

/// Lines of a CSV file.
fn text(batch: &Batch) -> Vec<u8> {
    let mut text = Vec::new();
    match batch {
        Batch::Words(words, width) => {
            text.reserve(words.len() * 4);
            for (index, &word) in words.iter().enumerate() {
                push_whole(&mut text, word);
                text.push(if (index + 1) % width == 0 { b'\n' } else { b',' });
            }
        }
        Batch::Numbers(numbers) => {
            for number in numbers {
                // Writing to memory cannot fail. These are the shortest digits that are read back as the same number.
                let _ = writeln!(text, "{number}");
            }
        }
    }
    text
}

/// The digits of a number.
fn push_whole(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_written_so_that_they_are_read_back() {
        let words = [0, 7, 10, 99, 100, 12345, u64::MAX, 1 << 63];
        let written = text(&Batch::Words(words.to_vec(), 2));
        assert_eq!(written, b"0,7\n10,99\n100,12345\n18446744073709551615,9223372036854775808\n");
        let numbers = [0.1, -0.0, 1e-300, 1.0 / 3.0, -123456.789];
        let written = text(&Batch::Numbers(numbers.to_vec()));
        let lines = String::from_utf8(written).expect("digits are UTF-8");
        let again: Vec<f64> = lines.lines().map(|line| number(line.as_bytes()).expect("a number")).collect();
        assert_eq!(again.iter().map(|n| n.to_bits()).collect::<Vec<_>>(), numbers.map(f64::to_bits));
    }
}
