//! Rows of a file as records.

use crate::input::shown;
use crate::problem::Problem;
use crate::table_file::{BadRows, Cells, Pass};
use dobrushin_train::schema::Encoder;
use std::path::Path;

/// A pass over a file of records.
pub fn pass(path: &Path, skip_bad: bool, show_progress: bool) -> Pass<'_> {
    let help = "correct it; train makes such rows empty records, which keep their place and change nothing: private rows in any \
                case, public ones with --skip-bad";
    Pass { path, skip_bad, help, show_progress }
}

/// Appends the features and targets of a row, and counts its values outside the bounds. If cells are missing or wrong,
/// it returns `None` and appends nothing: then the row is one of the bad ones.
pub fn encode(
    encoder: &Encoder,
    cells: &Cells,
    row: usize,
    features: &mut Vec<f32>,
    targets: &mut Vec<f32>,
    bad: &mut BadRows,
) -> Option<u64> {
    let (place, cells) = cells.get(row)?;
    let encoded = encoder.encode(cells, true, features, targets);
    encoded.map(|clipped| clipped.values).inspect_err(|problem| bad.add(place, problem)).ok()
}

/// Refuses a file without records; call it only where their number is not a secret.
pub fn refuse_none(path: &Path, count: u64) -> Result<(), Problem> {
    if count > 0 {
        return Ok(());
    }
    let message = format!("{} has a header, but no records", shown(path));
    Err(Problem::new(message).help("a row for each record below the header"))
}

/// Refuses more records than can be numbered.
pub fn check_count(path: &Path, count: u64) -> Result<(), Problem> {
    if count > u64::from(u32::MAX) {
        let message = format!("{} has {count} records, but at most {} are accepted", shown(path), u32::MAX);
        return Err(Problem::new(message).help("train on a part of them"));
    }
    Ok(())
}
