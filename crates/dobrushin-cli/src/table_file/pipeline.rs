//! Batches that are read ahead, worked on by all cores, and finished in their order.

use super::cells::{BadRow, BadRows, Cells};
use super::input::Columns;
use crate::input::shown;
use crate::problem::Problem;
use crate::watch::Watch;
use rayon::prelude::*;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

/// How to go through a file.
pub struct Pass<'a> {
    /// The file, for messages.
    pub path: &'a Path,
    /// Whether bad rows are counted instead of stopping.
    pub skip_bad: bool,
    /// What the user can do about bad rows.
    pub help: &'a str,
    /// Whether a terminal shows the progress.
    pub show_progress: bool,
}

/// A batch, and how far reading has come.
pub type Read = Result<(Cells, u64), Problem>;

impl Pass<'_> {
    /// Hands what `work` makes of each batch and its number to `done`, in the order of the file. It returns the number
    /// of rows that were skipped.
    pub fn run<T: Send>(
        &self,
        columns: Box<dyn Columns>,
        work: impl Fn(u64, &Cells) -> (T, BadRows) + Sync,
        mut done: impl FnMut(T) -> Result<(), Problem>,
    ) -> Result<u64, Problem> {
        let (watch, place) =
            (Watch::new(self.show_progress, columns.length().unwrap_or(0), "file"), columns.place());
        let together = rayon::current_num_threads();
        let batches = read_ahead(columns, together);
        let (mut number, mut skipped, mut more, mut read_before) = (0, 0, true, 0);
        while more {
            let read = some(&batches, together)?;
            more = read.iter().all(|(cells, _)| !cells.is_empty());
            let position = read.last().map_or(0, |(_, position)| *position);
            let numbered: Vec<(u64, Cells)> =
                (number..).zip(read.into_iter().map(|(cells, _)| cells)).collect();
            number += numbered.len() as u64;
            let worked: Vec<(T, BadRows)> =
                numbered.par_iter().map(|(number, cells)| work(*number, cells)).collect();
            for ((_, cells), (result, bad)) in numbered.iter().zip(worked) {
                let first = cells.bad.first.iter().chain(&bad.first).min_by_key(|row| row.place);
                if let Some(row) = first.filter(|_| !self.skip_bad) {
                    return Err(self.problem(place, row));
                }
                skipped += cells.bad.count + bad.count;
                done(result)?;
            }
            watch.progress().advance(position.saturating_sub(read_before));
            read_before = position;
        }
        Ok(skipped)
    }

    fn problem(&self, place: &str, row: &BadRow) -> Problem {
        Problem::new(format!("{place} {} of {}: {}", row.place, shown(self.path), row.what)).help(self.help)
    }
}

/// Reads in a thread of its own, and stops when nobody listens any more. The last batch has no rows.
pub fn read_ahead(mut columns: Box<dyn Columns>, batches: usize) -> Receiver<Read> {
    let (sender, receiver) = sync_channel(batches);
    std::thread::spawn(move || {
        loop {
            let read = columns.next();
            let last = read.as_ref().map_or(true, |(cells, _)| cells.is_empty());
            if sender.send(read).is_err() || last {
                return;
            }
        }
    });
    receiver
}

/// At least one batch, and up to `most` of them if they have already been read; the one without rows is the last.
fn some(batches: &Receiver<Read>, most: usize) -> Result<Vec<(Cells, u64)>, Problem> {
    let mut read = vec![batches.recv().map_err(|_| Problem::new("reading stopped before the end"))??];
    while read.len() < most && read.iter().all(|(cells, _)| !cells.is_empty()) {
        match batches.try_recv() {
            Ok(next) => read.push(next?),
            Err(_) => break,
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This many batches of one row, then `last`.
    struct Rows {
        left: u64,
        last: fn() -> Read,
    }

    impl Columns for Rows {
        fn becoming(&mut self, _: usize) {}

        fn next(&mut self) -> Read {
            if self.left == 0 {
                return (self.last)();
            }
            self.left -= 1;
            let mut cells = Cells::new(1);
            cells.push(b"x");
            cells.end_row(100 - self.left);
            Ok((cells, 0))
        }

        fn length(&self) -> Option<u64> {
            None
        }

        fn place(&self) -> &'static str {
            "line"
        }
    }

    fn end() -> Read {
        Ok((Cells::new(1), 0))
    }

    fn pass(skip_bad: bool) -> Pass<'static> {
        Pass { path: Path::new("data.csv"), skip_bad, help: "correct it", show_progress: false }
    }

    /// The place of the row; every seventh row is bad.
    fn every_seventh(_: u64, cells: &Cells) -> (u64, BadRows) {
        let (place, mut bad) = (cells.iter().map(|(place, _)| place).sum(), BadRows::default());
        if place > 0 && place % 7 == 0 {
            bad.add(place, "seventh");
        }
        (place, bad)
    }

    #[test]
    fn results_come_in_the_order_of_the_file() {
        let mut seen = Vec::new();
        let work = |number: u64, cells: &Cells| ((number, cells.rows()), BadRows::default());
        let rows = Box::new(Rows { left: 50, last: end });
        let skipped = pass(false).run(rows, work, |result| {
            seen.push(result);
            Ok(())
        });
        assert_eq!(skipped.expect("no row is bad"), 0);
        let expected: Vec<(u64, usize)> = (0..50).map(|number| (number, 1)).chain([(50, 0)]).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_first_bad_row_stops_it_or_is_counted() {
        let mut last = 0;
        let rows = || Box::new(Rows { left: 50, last: end });
        let stopped = pass(false).run(rows(), every_seventh, |place| {
            last = place;
            Ok(())
        });
        assert!(format!("{stopped:?}").contains("line 56 of data.csv: seventh"), "{stopped:?}");
        assert_eq!(last, 55);
        let skipped = pass(true).run(rows(), every_seventh, |_| Ok(()));
        assert_eq!(skipped.expect("bad rows are skipped"), 7);
    }

    #[test]
    fn a_failure_of_reading_is_never_taken_for_the_end() {
        for last in [|| Err(Problem::new("the disk is gone")), || panic!("a reader that fails")] {
            let result = pass(true).run(Box::new(Rows { left: 3, last }), every_seventh, |_| Ok(()));
            assert!(result.is_err());
        }
    }
}
