//! CSV files, one row for each line.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use std::fmt;
use std::io::{self, BufRead};

/// The lines of a CSV file, each of which is a row.
///
/// A line is what stands before a line feed, or after the last one if that is not empty; one carriage return at its end
/// is not part of it. Its cells are those of RFC 4180, except that no cell spans lines. A blank line is a row with one
/// empty cell.
///
/// RFC 4180 lets a quoted cell span lines. Then a quote in one person's row would swallow the rows of the people after
/// it; and where blank lines are skipped, a row that became blank would vanish. The number of rows, which a certificate
/// takes to be public, would depend on what a row holds.
///
/// # Guarantee
/// Replace any line, except its line feed, by any bytes without a line feed (at least one, if it is a last line without
/// a line feed). Then there are as many rows as before, and all others are read as before. Every line is parsed from
/// the same state.
pub struct CsvRows<R> {
    source: R,
    parser: Reader,
    /// The line, ended by one line feed.
    line: Vec<u8>,
    /// The cells of the line, one after another, without quotes; the buffer is longer than they are.
    text: Vec<u8>,
    /// Where each cell ends in the text; the buffer has more entries than there are cells.
    ends: Vec<usize>,
    lines_read: u64,
    /// Whether the last line was not read to its end.
    in_long_line: bool,
}

/// The longest row, in bytes. No row needs more memory, and an endless line does not fill it.
pub const LONGEST_LINE: usize = 1 << 22;
/// The longest line that is not a row, such as one that lists millions of categories.
const LONGEST_REMARK: usize = 1 << 28;

/// The cells of a line.
pub struct Row<'a> {
    text: &'a [u8],
    ends: &'a [usize],
}

/// Why a line has no cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torn {
    /// A cell, counted from 1, begins with a quote that nothing on its line closes.
    OpenQuote(usize),
    /// The line is longer than this many bytes.
    TooLong(usize),
}

impl fmt::Display for Torn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenQuote(cell) => write!(
                f,
                "cell {cell} begins with a quote that is not closed on its line; every line is a row of its own, so that a \
                 cell must not hold a line break, and a quote within quotes is written twice"
            ),
            Self::TooLong(longest) => {
                write!(f, "it is longer than {longest} bytes; every line is a row of its own")
            }
        }
    }
}

impl<R: BufRead> CsvRows<R> {
    /// The rows of the rest of a source, whose cells are separated by commas.
    pub fn new(source: R) -> Self {
        Self::separated_by(b',', source)
    }

    /// Like [`CsvRows::new`], with another character between cells.
    pub fn separated_by(delimiter: u8, source: R) -> Self {
        Self {
            source,
            // The lines are found here, not by the parser.
            parser: ReaderBuilder::new().delimiter(delimiter).terminator(Terminator::Any(b'\n')).build(),
            line: Vec::new(),
            text: Vec::new(),
            ends: Vec::new(),
            lines_read: 0,
            in_long_line: false,
        }
    }

    /// The next row; `None` at the end of the file.
    pub fn next_row(&mut self) -> io::Result<Option<Result<Row<'_>, Torn>>> {
        let Some(line) = self.next_line(LONGEST_LINE)? else {
            return Ok(None);
        };
        Ok(Some(line.and_then(|()| self.split())))
    }

    /// Reads the next line unchanged, of at most this many bytes; `None` at the end of the file.
    fn next_line(&mut self, longest: usize) -> io::Result<Option<Result<(), Torn>>> {
        if std::mem::take(&mut self.in_long_line) {
            self.source.skip_until(b'\n')?;
        }
        self.line.clear();
        let most = longest as u64 + 1;
        let read = io::Read::take(&mut self.source, most).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        self.lines_read += 1;
        if self.line.pop_if(|byte| *byte == b'\n').is_none() && self.line.len() > longest {
            self.in_long_line = true;
            return Ok(Some(Err(Torn::TooLong(longest))));
        }
        self.line.pop_if(|byte| *byte == b'\r');
        Ok(Some(Ok(())))
    }

    /// The cells of the line.
    fn split(&mut self) -> Result<Row<'_>, Torn> {
        if self.line.is_empty() {
            // The parser would skip it.
            return Ok(Row { text: &[], ends: &[0] });
        }
        self.line.push(b'\n');
        self.text.resize(self.text.len().max(self.line.len()), 0);
        self.parser.reset();
        let (mut read, mut written, mut cells) = (0, 0, 0);
        loop {
            if cells == self.ends.len() {
                self.ends.resize(2 * cells + 16, 0);
            }
            let input = &self.line[read..];
            let (result, bytes, more_text, more_cells) =
                self.parser.read_record(input, &mut self.text[written..], &mut self.ends[cells..]);
            read += bytes;
            written += more_text;
            cells += more_cells;
            match result {
                ReadRecordResult::Record => {
                    return Ok(Row { text: &self.text[..written], ends: &self.ends[..cells] });
                }
                ReadRecordResult::OutputEndsFull => {}
                // The line feed that ends every line is within quotes. The text has room for the whole line.
                ReadRecordResult::InputEmpty | ReadRecordResult::OutputFull | ReadRecordResult::End => {
                    return Err(Torn::OpenQuote(cells + 1));
                }
            }
        }
    }

    /// The bytes of the next line, which is not split into cells; `None` at the end of the file.
    pub fn next_raw_line(&mut self) -> io::Result<Result<&[u8], Torn>> {
        let line = self.next_line(LONGEST_REMARK)?;
        Ok(line.unwrap_or(Ok(())).map(|()| &self.line[..]))
    }

    /// The bytes of the last line.
    pub fn last_line(&self) -> &[u8] {
        self.line.strip_suffix(b"\n").unwrap_or(&self.line)
    }

    /// The number of the last line, counted from 1.
    pub fn line(&self) -> u64 {
        self.lines_read
    }

    /// Whether the last line was too long, and the rest of it is still to be read.
    pub fn is_in_long_line(&self) -> bool {
        self.in_long_line
    }
}

impl<'a> Row<'a> {
    /// The number of cells, at least one.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the line is blank, or has only an empty cell in quotes.
    pub fn is_blank(&self) -> bool {
        self.ends == [0]
    }

    /// A cell, counted from 0.
    pub fn get(&self, cell: usize) -> Option<&'a [u8]> {
        let begin = if cell == 0 { 0 } else { *self.ends.get(cell - 1)? };
        self.text.get(begin..*self.ends.get(cell)?)
    }

    /// All cells.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).filter_map(|cell| self.get(cell))
    }
}
