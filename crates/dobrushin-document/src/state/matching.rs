//! Which rows of the training data a request deletes, and where the others are now.
//!
//! The training data were rows in an order; places in that order matter. What is given now are the same rows in the same
//! order. Rows that were deleted before may be there or not, and so may rows that are deleted now, if the request shows them.

use super::{Print, State};
use crate::error::DocumentError;
use std::collections::HashMap;

/// Which rows a request deletes.
pub enum Wanted<'a> {
    /// Rows of the data that are given now, counted from 0.
    Rows(&'a [usize]),
    /// Rows that look like these, with their number in their file, counted from 1. Rows that are alike are deleted from the
    /// first on, or as they are missing in the data.
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
/// Every row that remains is, cell for cell, the row of its place in the training data, and the deleted rows are exactly
/// those of the request. Data that are not the rows of the state in their order are refused.
///
/// # Errors
/// [`DocumentError`] with the row that does not fit.
pub fn matched(state: &State, data: &[Print], wanted: &Wanted<'_>) -> Result<Matched, DocumentError> {
    let (places, deleted) = match wanted {
        Wanted::Rows(rows) => {
            let places = aligned(state, data, &|_| false)?;
            let mut at: Vec<Option<usize>> = vec![None; data.len()];
            (0..places.len()).for_each(|slot| {
                if let Some(row) = places[slot] {
                    at[row] = Some(slot);
                }
            });
            let is_alive = |slot: &usize| state.rows[*slot].is_some();
            let mut deleted: Vec<usize> =
                rows.iter().filter_map(|&row| at.get(row).copied().flatten()).filter(is_alive).collect();
            deleted.sort_unstable();
            deleted.dedup();
            if deleted.is_empty() && !rows.is_empty() {
                return Err(DocumentError::new("all rows of the request were already deleted")
                    .help("nothing is left to do: the model has already forgotten them"));
            }
            (places, deleted)
        }
        Wanted::Like(rows) => {
            let first = look_up(state, rows)?;
            match aligned(state, data, &|_| false) {
                Ok(places) => (places, first),
                // Some of them are already gone from the data.
                Err(complete) => gone(state, data, rows).ok_or(complete)?,
            }
        }
    };
    if deleted.is_empty() {
        return Err(DocumentError::new("the request names no row")
            .help("--remove rows.csv with at least one row, or --remove-where \"COLUMN=VALUE\" with a value that occurs"));
    }
    let mut remaining = places;
    for (slot, place) in remaining.iter_mut().enumerate() {
        if state.rows[slot].is_none() || deleted.binary_search(&slot).is_ok() {
            *place = None;
        }
    }
    if remaining.iter().all(Option::is_none) {
        return Err(DocumentError::new(
            "the request deletes all rows that remain, so that nothing is left to train on",
        )
        .help("delete the model, the state and the data instead"));
    }
    Ok(Matched { remaining, deleted: deleted.into_iter().map(|slot| slot as u32).collect() })
}

/// The first rows that look like the wanted ones, in order.
fn look_up(state: &State, rows: &[(u64, Print)]) -> Result<Vec<usize>, DocumentError> {
    let mut places: HashMap<Print, Vec<usize>> = HashMap::new();
    for (slot, print) in state.rows.iter().enumerate().rev() {
        if let Some(print) = print {
            places.entry(*print).or_default().push(slot);
        }
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

/// Where the rows are, and which of them are missing, if those that are missing are exactly the wanted ones.
fn gone(state: &State, data: &[Print], rows: &[(u64, Print)]) -> Option<(Vec<Option<usize>>, Vec<usize>)> {
    let mut wanted: Vec<Print> = rows.iter().map(|(_, print)| *print).collect();
    wanted.sort_unstable();
    let places = aligned(state, data, &|print| wanted.binary_search(print).is_ok()).ok()?;
    let is_gone = |slot: &usize| state.rows[*slot].is_some() && places[*slot].is_none();
    let gone: Vec<usize> = (0..places.len()).filter(is_gone).collect();
    let mut missing: Vec<Print> = gone.iter().filter_map(|&slot| state.rows[slot]).collect();
    missing.sort_unstable();
    (missing == wanted).then_some((places, gone))
}

/// For each row of the training data, its place in the data, which have the same rows in the same order; rows that were
/// deleted before, and those that `may_be_missing`, may be left out.
///
/// All ways to read the data as these rows are followed at once. They are few: a hash decides, wherever a row was not
/// deleted.
fn aligned(
    state: &State,
    data: &[Print],
    may_be_missing: &dyn Fn(&Print) -> bool,
) -> Result<Vec<Option<usize>>, DocumentError> {
    let slots = &state.rows;
    let optional: Vec<bool> = slots.iter().map(|slot| slot.as_ref().is_none_or(may_be_missing)).collect();
    // For each row of the data, the slots that it can be, each with the way that leads there: its index in the row before.
    let mut ways: Vec<Vec<(usize, usize)>> = Vec::with_capacity(data.len());
    for (row, print) in data.iter().enumerate() {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let before: Vec<usize> = match ways.last() {
            None => vec![0],
            Some(last) => last.iter().map(|(slot, _)| slot + 1).collect(),
        };
        for (index, first) in before.into_iter().enumerate() {
            for slot in first..slots.len() {
                if slots[slot].is_none_or(|known| known == *print)
                    && found.iter().all(|(known, _)| *known != slot)
                {
                    found.push((slot, index));
                }
                if !optional[slot] {
                    break;
                }
            }
        }
        if found.is_empty() {
            return Err(refuse(format!(
                "row {} of the data is not the row that was trained on in its place",
                row + 1
            )));
        }
        ways.push(found);
    }
    let ends = |(slot, _): &&(usize, usize)| optional[slot + 1..].iter().all(|optional| *optional);
    let Some(&(mut slot, mut index)) = ways.last().and_then(|last| last.iter().find(ends)) else {
        return Err(refuse(format!(
            "the data have {} rows, but {} were trained on, and rows are missing that were not deleted",
            data.len(),
            slots.len()
        )));
    };
    let mut places = vec![None; slots.len()];
    for row in (0..data.len()).rev() {
        places[slot] = Some(row);
        if let Some(&(previous, way)) = row.checked_sub(1).and_then(|row| ways[row].get(index)) {
            (slot, index) = (previous, way);
        }
    }
    Ok(places)
}

fn refuse(message: String) -> DocumentError {
    DocumentError::new(message).help(
        "give the data of training: the same rows in the same order, with or without those that were deleted; only rows that \
         --remove shows may be missing before the request",
    )
}
