//! A file of records in memory.

use super::rows::{check_count, encode, pass};
use crate::problem::Problem;
use crate::table_file::{BadRows, Cells, Columns, Rows, Source, columns};
use dobrushin_document::state::{Print, RowKey};
use dobrushin_train::Table;
use dobrushin_train::schema::{Encoder, Schema};
use std::path::Path;

/// Records, and what was done to them. The counts depend on the records, so they are as private as the records.
pub struct Loaded {
    /// The records, in the order of the file.
    pub table: Table,
    /// Values that were outside their bounds, and moved to them.
    pub clipped: u64,
    /// Records that were longer than the norm, and scaled down to it.
    pub scaled: u64,
    /// Rows that could not be used and became empty records.
    pub skipped: u64,
}

/// Reads all records of a file.
pub fn load(source: Source, schema: &Schema, skip_bad: bool, show_progress: bool) -> Result<Loaded, Problem> {
    load_columns(source.path, columns(source, &schema.columns_wanted())?, schema, skip_bad, show_progress)
}

/// Reads all records of columns that are in the order of [`Schema::columns_wanted`]. Messages call them by the path.
pub fn load_columns(
    path: &Path,
    columns: Box<dyn Columns>,
    schema: &Schema,
    skip_bad: bool,
    show_progress: bool,
) -> Result<Loaded, Problem> {
    Ok(load_and_watch(path, columns, schema, skip_bad, show_progress, &|_, _| ())?.0)
}

/// Reads all private records of some rows, and marks each row: its hash under the key, and its cells in more columns. A
/// row whose line cannot be read has no cells.
pub fn load_marked<'a>(
    rows: &dyn Rows,
    schema: &'a Schema,
    key: &RowKey,
    more: &[&'a str],
    show_progress: bool,
) -> Result<(Loaded, Vec<Mark>), Problem> {
    let mut wanted = schema.columns_wanted();
    let own = wanted.len();
    // A column of the schema may be asked for again.
    let place = |name: &&'a str| {
        wanted.iter().position(|known| known == name).unwrap_or_else(|| {
            wanted.push(name);
            wanted.len() - 1
        })
    };
    let places: Vec<usize> = more.iter().map(place).collect();
    let mark = |cells: &Cells, row: usize| {
        let row = || cells.get(row).map(|(_, cells)| cells);
        let cells: Vec<&[u8]> = row().into_iter().flatten().collect();
        let more = places.iter().map(|&place| cells.get(place).map_or(Vec::new(), |cell| cell.to_vec()));
        Mark { print: key.print(row().map(|cells| cells.take(own))), cells: more.collect() }
    };
    load_and_watch(rows.path(), rows.columns(&wanted)?, schema, true, show_progress, &mark)
}

/// What tells a row from others.
pub struct Mark {
    /// The hash of its cells in the columns of the schema.
    pub print: Print,
    /// Its cells in more columns.
    pub cells: Vec<Vec<u8>>,
}

/// Reads all records, and what `watch` makes of each row.
fn load_and_watch<T: Send>(
    path: &Path,
    mut columns: Box<dyn Columns>,
    schema: &Schema,
    skip_bad: bool,
    show_progress: bool,
    watch: &(dyn Fn(&Cells, usize) -> T + Sync),
) -> Result<(Loaded, Vec<T>), Problem> {
    columns.becoming((schema.bounds().dimension + schema.tasks()) * size_of::<f32>());
    let encoder = Encoder::new(schema);
    let table = Table::new(schema.bounds(), schema.tasks());
    let mut loaded = Loaded { table, clipped: 0, scaled: 0, skipped: 0 };
    let mut watched = Vec::new();
    let work = |_: u64, cells: &Cells| {
        let (encoded, bad) = Encoded::read(cells, &encoder);
        let seen: Vec<T> = (0..cells.len()).map(|row| watch(cells, row)).collect();
        ((encoded, seen), bad)
    };
    loaded.skipped = pass(path, skip_bad, show_progress).run(columns, work, |(encoded, seen)| {
        loaded.append(&encoded);
        watched.extend(seen);
        Ok(())
    })?;
    check_count(path, loaded.table.len() as u64)?;
    Ok((loaded, watched))
}

/// Adds empty records at the end, up to this many records in all.
pub fn pad(table: &mut Table, count: u64) {
    while (table.len() as u64) < count {
        table.push_empty();
    }
}

impl Loaded {
    fn append(&mut self, encoded: &Encoded) {
        let (dimension, tasks) = (self.table.bounds().dimension, self.table.tasks());
        let mut records = encoded.features.chunks_exact(dimension).zip(encoded.targets.chunks_exact(tasks));
        for &usable in &encoded.usable {
            let record = if usable { records.next() } else { None };
            match record {
                Some((features, targets)) => {
                    self.scaled += u64::from(self.table.push(features, targets).scaled);
                }
                None => self.table.push_empty(),
            }
        }
        self.clipped += encoded.clipped;
    }
}

/// The records of a batch.
#[derive(Default)]
struct Encoded {
    features: Vec<f32>,
    targets: Vec<f32>,
    /// For each row, whether it is a record with features and targets.
    usable: Vec<bool>,
    clipped: u64,
}

impl Encoded {
    fn read(cells: &Cells, encoder: &Encoder) -> (Self, BadRows) {
        let mut encoded = Self::default();
        let mut bad = BadRows::default();
        for row in 0..cells.len() {
            let (features, targets) = (&mut encoded.features, &mut encoded.targets);
            let clipped = encode(encoder, cells, row, features, targets, &mut bad);
            encoded.usable.push(clipped.is_some());
            encoded.clipped += clipped.unwrap_or(0);
        }
        (encoded, bad)
    }
}
