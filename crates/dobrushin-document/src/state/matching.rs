//! Which rows of the training data a request deletes, and where the others are now.
//!
//! The training data were rows in an order; places in that order matter. What is given now are the same rows, with those
//! that were deleted before or without them, and with those that are deleted now or without them.

use super::{Print, State};
use crate::error::DocumentError;
use std::collections::HashMap;

/// Which rows a request deletes.
pub enum Wanted<'a> {
    /// Rows of the data that are given now, counted from 0.
    Rows(&'a [usize]),
    /// Rows that look like these, with their number in their file, counted from 1. Rows that are alike are deleted from the first on.
    Like(&'a [(u64, Print)]),
}

/// Where the rows are.
#[derive(Debug, PartialEq)]
pub struct Matched {
    /// For each row of the training data that remains, its place in the data that are given now.
    pub remaining: Vec<Option<usize>>,
    /// The rows of the training data that the request deletes, counted from 0.
    pub deleted: Vec<u32>,
}

/// Finds the rows of the request, and all others, in the hashes of the data that are given now.
///
/// # Guarantee
/// Every row that remains is, cell for cell, the row of its place in the training data. Nothing is guessed: data that are
/// not the rows of the state in their order are refused.
///
/// # Errors
/// [`DocumentError`] with the row that does not fit.
pub fn matched(state: &State, data: &[Print], wanted: &Wanted<'_>) -> Result<Matched, DocumentError> {
    let alive: Vec<usize> = (0..state.rows.len()).filter(|&row| state.rows[row].is_some()).collect();
    let deleted = match wanted {
        Wanted::Rows(rows) => {
            let places = aligned(state, &alive, data, None)?;
            let mut at: Vec<Option<usize>> = vec![None; data.len()];
            places.iter().for_each(|&(slot, row)| at[row] = Some(slot));
            let mut deleted: Vec<usize> = rows.iter().filter_map(|&row| at.get(row).copied().flatten()).collect();
            deleted.sort_unstable();
            deleted.dedup();
            if deleted.is_empty() && !rows.is_empty() {
                return Err(DocumentError::new("all rows of the request were already deleted")
                    .help("nothing is left to do: the model has already forgotten them"));
            }
            deleted
        }
        Wanted::Like(rows) => {
            let found = look_up(state, &alive, rows)?;
            match alive.len().checked_sub(rows.len()) {
                // They are already gone from the data, whose rows tell which of several that are alike are meant.
                Some(left) if data.len() == left && !rows.is_empty() => gone(state, &alive, data)?,
                _ => found,
            }
        }
    };
    if deleted.is_empty() {
        return Err(DocumentError::new("the request names no row")
            .help("--remove rows.csv with at least one row, or --remove-where \"COLUMN=VALUE\" with a value that occurs"));
    }
    let places = aligned(state, &alive, data, Some(&deleted))?;
    let mut remaining = vec![None; state.rows.len()];
    for (slot, row) in places {
        if deleted.binary_search(&slot).is_err() {
            remaining[slot] = Some(row);
        }
    }
    Ok(Matched { remaining, deleted: deleted.into_iter().map(|slot| slot as u32).collect() })
}

/// The row of the data at which each remaining row of the training data is. Without `deleted`, the data must also hold the
/// rows that are deleted now.
fn aligned(
    state: &State,
    alive: &[usize],
    data: &[Print],
    deleted: Option<&[usize]>,
) -> Result<Vec<(usize, usize)>, DocumentError> {
    let all = state.rows.len();
    let left: Vec<usize> = match deleted {
        Some(deleted) => alive.iter().copied().filter(|slot| deleted.binary_search(slot).is_err()).collect(),
        None => alive.to_vec(),
    };
    let places: Vec<(usize, usize)> = if data.len() == all {
        (0..all).map(|row| (row, row)).collect()
    } else if data.len() == alive.len() {
        alive.iter().copied().zip(0..).collect()
    } else if data.len() == left.len() {
        left.iter().copied().zip(0..).collect()
    } else {
        return Err(other_number(all, alive.len(), data.len(), deleted.map(<[usize]>::len)));
    };
    for &(slot, row) in &places {
        if state.rows[slot].is_some_and(|print| print != data[row]) {
            return Err(DocumentError::new(format!(
                "row {} of the data is not the row that was trained on in its place",
                row + 1
            ))
            .help("give the data of training: the same rows in the same order, with or without those that were deleted"));
        }
    }
    Ok(places.into_iter().filter(|&(slot, _)| state.rows[slot].is_some()).collect())
}

/// The first rows that look like the wanted ones, in order.
fn look_up(state: &State, alive: &[usize], rows: &[(u64, Print)]) -> Result<Vec<usize>, DocumentError> {
    let mut places: HashMap<Print, Vec<usize>> = HashMap::new();
    for &slot in alive.iter().rev() {
        places.entry(state.rows[slot].unwrap_or_default()).or_default().push(slot);
    }
    let mut found = Vec::new();
    for (number, print) in rows {
        let slot = match places.get_mut(print) {
            None => {
                let message = format!("row {number} of the rows to remove is no row of the training data");
                let message = match state.requests.is_empty() {
                    true => message,
                    false => format!("{message}, or was already deleted"),
                };
                return Err(DocumentError::new(message).help(
                    "write each cell as in the training data; only the columns of the schema are compared",
                ));
            }
            Some(slots) => slots.pop(),
        };
        found.push(slot.ok_or_else(|| {
            DocumentError::new(format!(
                "row {number} of the rows to remove is given more often than the training data have that row"
            ))
            .help("give each row once for each time that it occurs")
        })?);
    }
    found.sort_unstable();
    Ok(found)
}

/// The rows of the training data that the data, which are the others in their order, do not have. Which of several that
/// are alike are missing makes no difference to what remains, so the last of them are.
fn gone(state: &State, alive: &[usize], data: &[Print]) -> Result<Vec<usize>, DocumentError> {
    let mut next = 0;
    let mut gone = Vec::new();
    for &slot in alive {
        if data.get(next).copied() == state.rows[slot] {
            next += 1;
        } else {
            gone.push(slot);
        }
    }
    if next == data.len() {
        return Ok(gone);
    }
    Err(DocumentError::new(format!("row {} of the data is not a row that was trained on, in its order", next + 1))
        .help("give the data of training: the same rows in the same order, with or without those that were deleted"))
}

fn other_number(all: usize, alive: usize, found: usize, deleted: Option<usize>) -> DocumentError {
    let mut accepted = vec![all];
    accepted.extend((alive < all).then_some(alive));
    accepted.extend(deleted.map(|deleted| alive - deleted));
    let accepted: Vec<String> = accepted.iter().map(ToString::to_string).collect();
    let with = if deleted.is_some() { "with or without" } else { "with" };
    DocumentError::new(format!("the data have {found} rows, but they must have {}", accepted.join(" or "))).help(format!(
        "give the data of training: the same rows in the same order, {with} those to be deleted, and with or without all \
         that were deleted before"
    ))
}
