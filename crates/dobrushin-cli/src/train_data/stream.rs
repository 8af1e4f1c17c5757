//! A file of records that is read while they are needed.

use super::rows::{check_count, encode, pass};
use crate::input::shown;
use crate::problem::Problem;
use crate::table_file::{BadRows, Cells, Delimiter, Read, Source, columns, read_ahead};
use dobrushin_train::schema::{Encoder, Schema};
use dobrushin_train::{Bounds, Records, Table};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::SystemTime;

/// The records of a file from the first to the last, and then from the first again. Only those of one step, and what is
/// read ahead, are in memory.
///
/// After the last row come as many empty records as were asked for. The file must not change from the first look at it
/// to the last.
pub struct Streamed {
    path: PathBuf,
    delimiter: Delimiter,
    wanted: Vec<String>,
    encoder: Encoder,
    skip_bad: bool,
    stamp: Stamp,
    found: Found,
    /// The rows, and the empty records after them.
    count: u64,
    /// The next record.
    position: u64,
    /// The pass that is being read; `None` before the first row.
    reading: Option<Reading>,
    step: Table,
    features: Vec<f32>,
    targets: Vec<f32>,
}

/// What the first pass found. Everything but the number of rows depends on the records, so it is as private as they
/// are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The number of rows.
    pub rows: u64,
    /// Values outside their bounds, which are moved to them.
    pub clipped: u64,
    /// Records longer than the norm, which are scaled down to it.
    pub scaled: u64,
    /// Rows that cannot be used and become empty records.
    pub skipped: u64,
}

impl Streamed {
    /// Reads the file once: it counts all rows, and stops at bad ones, before any of them is used.
    pub fn open(
        source: Source,
        schema: &Schema,
        skip_bad: bool,
        show_progress: bool,
    ) -> Result<Self, Problem> {
        let path = source.path;
        let stamp = Stamp::of(path)?;
        let encoder = Encoder::new(schema);
        let bounds = schema.bounds();
        let work = |_: u64, cells: &Cells| survey(cells, &encoder, Table::new(bounds, schema.tasks()));
        let mut found = Found::default();
        let columns = columns(source, &schema.columns_wanted())?;
        found.skipped = pass(path, skip_bad, show_progress).run(columns, work, |batch| {
            found.rows += batch.rows;
            found.clipped += batch.clipped;
            found.scaled += batch.scaled;
            Ok(())
        })?;
        check_count(path, found.rows)?;
        let streamed = Self {
            path: path.to_owned(),
            delimiter: source.delimiter,
            wanted: schema.columns_wanted().into_iter().map(str::to_owned).collect(),
            encoder,
            skip_bad,
            stamp,
            found,
            count: found.rows,
            position: 0,
            reading: None,
            step: Table::new(bounds, schema.tasks()),
            features: Vec::new(),
            targets: Vec::new(),
        };
        streamed.check_unchanged()?;
        Ok(streamed)
    }

    /// What the first pass found.
    pub fn found(&self) -> Found {
        self.found
    }

    /// Adds empty records at the end, up to this many records in all.
    pub fn pad_to(&mut self, count: u64) {
        self.count = self.count.max(count);
    }

    /// Starts again from the first record.
    fn restart(&mut self) {
        self.position = 0;
        self.reading = None;
    }

    /// Adds the next record to those of the step.
    fn read_record(&mut self) -> Result<(), Problem> {
        if self.position < self.found.rows {
            self.read_row()?;
        } else {
            self.step.push_empty();
        }
        self.position += 1;
        if self.position == self.count {
            self.restart();
        }
        Ok(())
    }

    fn read_row(&mut self) -> Result<(), Problem> {
        let reading = match self.reading.take() {
            Some(reading) => self.reading.insert(reading),
            None => {
                let source = Source { path: &self.path, delimiter: self.delimiter };
                self.reading.insert(Reading::begin(source, &self.wanted)?)
            }
        };
        let Some(row) = reading.next_row()? else {
            return Err(self.changed());
        };
        self.features.clear();
        self.targets.clear();
        let (features, targets) = (&mut self.features, &mut self.targets);
        match encode(&self.encoder, &reading.cells, row, features, targets, &mut BadRows::default()) {
            Some(_) => _ = self.step.push(&self.features, &self.targets),
            None if self.skip_bad => self.step.push_empty(),
            // The first pass found no bad row.
            None => return Err(self.changed()),
        }
        let is_last = self.position + 1 == self.found.rows;
        if is_last && reading.next_row()?.is_some() {
            return Err(self.changed());
        }
        Ok(())
    }

    fn check_unchanged(&self) -> Result<(), Problem> {
        if Stamp::of(&self.path)? == self.stamp { Ok(()) } else { Err(self.changed()) }
    }

    fn changed(&self) -> Problem {
        Problem::new(format!("{} was changed while it was read", shown(&self.path)))
            .help("start again, and do not change it until training ends")
    }
}

impl Records for Streamed {
    fn bounds(&self) -> &Bounds {
        self.step.bounds()
    }

    fn tasks(&self) -> usize {
        self.step.tasks()
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn any_order(&self) -> bool {
        false
    }

    fn bring<'a>(&'a mut self, wanted: &'a [u32]) -> Result<(&'a Table, Cow<'a, [u32]>), String> {
        self.step.clear();
        if wanted.first() == Some(&0) {
            self.restart();
        }
        for &record in wanted {
            if u64::from(record) != self.position {
                return Err(format!(
                    "record {record} is wanted, but records are read in their order and {} is next",
                    self.position
                ));
            }
            self.read_record().map_err(|problem| problem.to_string())?;
        }
        // The rows must have come from the file that was looked at first.
        self.check_unchanged().map_err(|problem| problem.to_string())?;
        Ok((&self.step, Cow::Owned((0..wanted.len() as u32).collect())))
    }
}

/// A pass over the file.
struct Reading {
    batches: Receiver<Read>,
    cells: Cells,
    /// The row of the cells that is next.
    next: usize,
    ended: bool,
}

impl Reading {
    fn begin(source: Source, wanted: &[String]) -> Result<Self, Problem> {
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        // One batch is read while another is used.
        let batches = read_ahead(columns(source, &wanted)?, 0);
        Ok(Self { batches, cells: Cells::default(), next: 0, ended: false })
    }

    /// Which row of the cells is next; `None` at the end of the file.
    fn next_row(&mut self) -> Result<Option<usize>, Problem> {
        if self.next == self.cells.len() && !self.ended {
            // Only one batch should be in memory while the next is awaited.
            self.cells = Cells::default();
            let read = self.batches.recv().map_err(|_| Problem::new("reading stopped before the end"))?;
            (self.cells, self.next) = (read?.0, 0);
            self.ended = self.cells.is_empty();
        }
        if self.ended {
            return Ok(None);
        }
        self.next += 1;
        Ok(Some(self.next - 1))
    }
}

/// What tells whether a file is still the same.
#[derive(Clone, Copy, PartialEq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(path: &Path) -> Result<Self, Problem> {
        let cannot = || Problem::new(format!("cannot read {}", shown(path)));
        let help = "records are streamed from a CSV or Parquet file on a disk, which can be read again";
        if path == Path::new("-") {
            return Err(cannot().help(help));
        }
        let metadata = std::fs::metadata(path).map_err(|error| cannot().because(error))?;
        if !metadata.is_file() {
            return Err(cannot().help(help));
        }
        Ok(Self { length: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// What can be said about a batch, one record of which is in memory.
fn survey(cells: &Cells, encoder: &Encoder, mut record: Table) -> (Found, BadRows) {
    let mut found = Found { rows: cells.len() as u64, ..Found::default() };
    let (mut bad, mut features, mut targets) = (BadRows::default(), Vec::new(), Vec::new());
    for row in 0..cells.len() {
        features.clear();
        targets.clear();
        if let Some(clipped) = encode(encoder, cells, row, &mut features, &mut targets, &mut bad) {
            record.clear();
            found.clipped += clipped;
            found.scaled += u64::from(record.push(&features, &targets).scaled);
        }
    }
    (found, bad)
}
