//! Reading matrices of numbers, such as probabilities and scores, from CSV.

use crate::input;
use crate::problem::Problem;
use crate::table_file::{CsvRows, Row};
use std::path::Path;

/// The numbers of a CSV file, row by row. Blank lines and lines that start with "#" are skipped, and so is a first line
/// in which no cell is a number.
pub fn read(path: &Path) -> Result<Vec<Vec<f64>>, Problem> {
    let bytes = input::bytes(path)?;
    parse(&bytes).map_err(|problem| problem.help(format!("in {}: {HELP}", input::shown(path))))
}

const HELP: &str = "numbers separated by commas, the same count on every line, after an optional header line";

/// The numbers of a CSV file in memory.
pub fn parse(bytes: &[u8]) -> Result<Vec<Vec<f64>>, Problem> {
    // Spreadsheets start UTF-8 files with a byte-order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // A comment may hold quotes. It becomes a blank line, so the lines after it keep their numbers.
    let is_no_remark = |line: &&[u8]| !line.starts_with(b"#");
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let bytes =
        lines.map(|line| Some(line).filter(is_no_remark).unwrap_or(b"\n")).collect::<Vec<_>>().concat();
    let mut reader = CsvRows::new(&bytes[..]);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut header_seen = false;
    loop {
        let line = reader.line() + 1;
        let row = reader.next_row().map_err(|error| Problem::new("the CSV cannot be read").because(error))?;
        let Some(row) = row else {
            break;
        };
        let row = row.map_err(|torn| Problem::new(format!("line {line}: {torn}")))?;
        if row.is_blank() {
            continue;
        }
        let cells = cells_of(&row, line)?;
        if rows.is_empty() && !header_seen && cells.iter().all(|cell| cell.parse::<f64>().is_err()) {
            header_seen = true;
            continue;
        }
        let row = numbers_of(&cells, line)?;
        if let Some(first) = rows.first().filter(|first| first.len() != row.len()) {
            let (found, expected) = (row.len(), first.len());
            return Err(Problem::new(format!(
                "line {line} has {found} cells, but the lines before have {expected}"
            )));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(Problem::new("there are no numbers: the file is empty or has only a header line"));
    }
    Ok(rows)
}

fn cells_of<'a>(row: &Row<'a>, line: u64) -> Result<Vec<&'a str>, Problem> {
    let cell = |(column, bytes)| {
        let place = format!("line {line}, column {}", column + 1);
        std::str::from_utf8(bytes)
            .map(str::trim)
            .map_err(|error| Problem::new(format!("{place} is not UTF-8 text")).because(error))
    };
    row.iter().enumerate().map(cell).collect()
}

fn numbers_of(cells: &[&str], line: u64) -> Result<Vec<f64>, Problem> {
    let number = |(column, cell): (usize, &&str)| {
        let place = format!("line {line}, column {}", column + 1);
        cell.parse::<f64>().map_err(|_| {
            let what =
                if cell.is_empty() { "is empty".to_owned() } else { format!("is {cell:?}, not a number") };
            Problem::new(format!("{place} {what}"))
        })
    };
    cells.iter().enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8]) -> Result<Vec<Vec<f64>>, String> {
        parse(text).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn a_header_comments_blank_lines_and_a_byte_order_mark_are_passed_over() {
        let expected = Ok(vec![vec![0.75, 0.25], vec![0.25, 0.75]]);
        assert_eq!(rows(b"0.75,0.25\n0.25,0.75\n"), expected);
        assert_eq!(rows(b"\xef\xbb\xbfyes, no\n# a \"remark,\"\n\n 0.75 , 0.25\r\n0.25,0.75"), expected);
    }

    #[test]
    fn a_typo_in_the_first_line_is_no_header() {
        let message = rows(b"0.75,0.2S\n0.25,0.75\n").unwrap_err();
        assert!(message.contains("line 1, column 2 is \\\"0.2S\\\", not a number"), "{message}");
    }

    #[test]
    fn two_header_lines_are_an_error() {
        assert!(rows(b"a,b\nc,d\n0.5,0.5\n").unwrap_err().contains("line 2, column 1"));
    }

    #[test]
    fn ragged_empty_and_foreign_files_name_the_place() {
        assert!(rows(b"0.5,0.5\n1\n").unwrap_err().contains("line 2 has 1 cells"));
        assert!(rows(b"0.5,\n").unwrap_err().contains("line 1, column 2 is empty"));
        assert!(
            rows(b"0.5,0.5\n0.5,\"0.5\n0.5,0.5\n")
                .unwrap_err()
                .contains("line 2: cell 2 begins with a quote")
        );
        assert!(rows(b"0.5,\xff\n").unwrap_err().contains("line 1, column 2 is not UTF-8"));
        for empty in [&b""[..], b"\n\n", b"a,b\n", b"# only a remark\n"] {
            assert!(rows(empty).unwrap_err().contains("there are no numbers"));
        }
    }
}
