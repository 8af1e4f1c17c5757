//! Files of reports, written and read.

use super::description::{Description, FIRST_LINE};
#[cfg(feature = "parquet")]
use super::parquet_reports::{self, ParquetOutput};
use crate::file::Draft;
use crate::input::shown;
use crate::problem::Problem;
use crate::table_file::{BadRows, Cells, Columns, CsvInput, is_parquet};
use dobrushin_document::local::{Batch, Mechanism, NUMBER, number, refusal, whole};
use std::fmt::{self, Display};
use std::io::Write;
use std::path::Path;

/// The reports of some rows: a batch for each question, all of the same rows.
pub struct Rows {
    /// The reports on each question.
    pub batches: Vec<Batch>,
    /// For each row, the only question that is answered, if not all are.
    pub answered: Option<Vec<usize>>,
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
    /// Brings rows into this form. Many cores do this before [`Writer::write`], which one core does.
    pub fn encode(self, rows: Rows) -> Encoded {
        match self {
            Self::Text => Encoded::Text(lines(&rows)),
            #[cfg(feature = "parquet")]
            Self::Columns => {
                Encoded::Columns(rows.batches.into_iter().next().unwrap_or(Batch::Numbers(Vec::new())))
            }
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
    pub fn new(path: &Path, description: &Description, mechanisms: &[Mechanism]) -> Result<Self, Problem> {
        let (line, columns) = (description.line(mechanisms), report_columns(mechanisms));
        if is_parquet(path) {
            #[cfg(feature = "parquet")]
            return match mechanisms {
                [mechanism] => Ok(Self::Parquet(Box::new(ParquetOutput::new(path, line, mechanism)?))),
                _ => Err(Problem::new(format!(
                    "{}: reports on several questions are written as CSV",
                    shown(path)
                ))
                .help("give a name that does not end in .parquet")),
            };
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

/// The names of the columns of the reports on all questions: with the number of the question, if there are several.
fn report_columns(mechanisms: &[Mechanism]) -> Vec<String> {
    match mechanisms {
        [mechanism] => mechanism.report_columns(),
        _ => {
            let numbered = |(number, mechanism): (usize, &Mechanism)| {
                let names = mechanism.report_columns().into_iter();
                names.map(move |name| format!("question_{}_{name}", number + 1)).collect::<Vec<_>>()
            };
            mechanisms.iter().enumerate().flat_map(numbered).collect()
        }
    }
}

/// A file of reports that is being read.
pub struct Reports {
    /// What the file says about itself.
    pub description: Description,
    /// The mechanisms that made it, one for each question.
    pub mechanisms: Vec<Mechanism>,
    /// The reports, as text.
    pub columns: Box<dyn Columns>,
}

impl Reports {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let (line, names, columns) = raw(path)?;
        let (description, mechanisms) = Description::read(&line, &shown(path))?;
        if names != report_columns(&mechanisms) {
            let message = format!("the columns of {} are not those of its mechanism", shown(path));
            let help = "give the file as privatize wrote it, with the header line below the first line";
            return Err(Problem::new(message).help(help));
        }
        Ok(Self { description, mechanisms, columns })
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

/// The reports of a batch on each question, and the rows that are not reports. If only one question is answered, the
/// cells of all others are empty.
pub fn parse(cells: &Cells, mechanisms: &[Mechanism], one_is_answered: bool) -> (Vec<Batch>, BadRows) {
    let mut bad = BadRows::default();
    let names: Vec<Vec<String>> = mechanisms.iter().map(Mechanism::report_columns).collect();
    let mut batches: Vec<Batch> = mechanisms.iter().map(Batch::empty).collect();
    let mut row: Vec<&[u8]> = Vec::new();
    for (place, found) in cells.iter() {
        row.clear();
        row.extend(found);
        let lengths: Vec<usize> = batches.iter().map(Batch::len).collect();
        let mut rest = &row[..];
        let mut answered = 0;
        let mut wrong = None;
        for ((batch, mechanism), names) in batches.iter_mut().zip(mechanisms).zip(&names) {
            let (report, others) = rest.split_at(names.len().min(rest.len()));
            rest = others;
            if one_is_answered && report.iter().all(|cell| cell.is_empty()) {
                continue;
            }
            answered += 1;
            if let Err(what) = read(batch, report, mechanism, names) {
                wrong = Some(what);
                break;
            }
        }
        if one_is_answered && wrong.is_none() && answered != 1 {
            wrong = Some(format!("it answers {answered} questions, but everybody answers one"));
        }
        if let Some(what) = wrong {
            batches.iter_mut().zip(lengths).for_each(|(batch, length)| batch.truncate(length));
            bad.add(place, what);
        }
    }
    (batches, bad)
}

/// Adds a report; if the cells are not one, it says why, and may leave a part of it.
fn read(batch: &mut Batch, report: &[&[u8]], mechanism: &Mechanism, names: &[String]) -> Result<(), String> {
    match (batch, mechanism) {
        (Batch::Numbers(numbers), Mechanism::Mean(mechanism)) => {
            let cell = report.first().copied().unwrap_or_default();
            match number(cell) {
                Some(report) if mechanism.is_report(report) => numbers.push(report),
                Some(_) => return Err(no_report(mechanism.id()).to_string()),
                None => return Err(refusal(&names[0], cell, || NUMBER.to_owned()).to_string()),
            }
        }
        (Batch::Words(words, _), mechanism) => {
            let start = words.len();
            for (cell, name) in report.iter().zip(names) {
                let word = whole(cell).ok_or_else(|| refusal(name, cell, || WORD.to_owned()).to_string())?;
                words.push(word);
            }
            let made = &words[start..];
            let (is_report, id) = match mechanism {
                Mechanism::Frequency(oracle, _) => (oracle.is_report(made), oracle.id()),
                Mechanism::Vector(mechanism) => {
                    (made.first_chunk().is_some_and(|&report| mechanism.is_report(report)), mechanism.id())
                }
                Mechanism::Mean(mechanism) => (false, mechanism.id()),
            };
            if !is_report {
                return Err(no_report(id).to_string());
            }
        }
        // Batches are made for their mechanisms.
        (Batch::Numbers(_), _) => return Err(NUMBER.to_owned()),
    }
    Ok(())
}

/// What a word of a report is.
const WORD: &str = "a whole number from 0 to 2^64 − 1";

fn no_report(mechanism: &str) -> impl Display {
    fmt::from_fn(move |f| write!(f, "it is not a report that {mechanism} can make: the file is damaged"))
}

/// Lines of a CSV file with the reports on all questions side by side.
fn lines(rows: &Rows) -> Vec<u8> {
    if let ([batch], None) = (&rows.batches[..], &rows.answered) {
        return text(batch);
    }
    let texts: Vec<Vec<u8>> = rows.batches.iter().map(text).collect();
    let mut columns: Vec<_> = texts.iter().map(|text| text.split_inclusive(|&byte| byte == b'\n')).collect();
    let count = rows.batches.first().map_or(0, Batch::reports);
    let mut all = Vec::with_capacity(texts.iter().map(Vec::len).sum());
    for row in 0..count {
        for (question, (reports, batch)) in columns.iter_mut().zip(&rows.batches).enumerate() {
            let report = reports.next().unwrap_or_default();
            let report = report.strip_suffix(b"\n").unwrap_or(report);
            all.extend((question > 0).then_some(b','));
            match rows.answered.as_ref().is_none_or(|answered| answered.get(row) == Some(&question)) {
                true => all.extend_from_slice(report),
                false => all.extend(std::iter::repeat_n(b',', batch.width() - 1)),
            }
        }
        all.push(b'\n');
    }
    all
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
