//! Where the protection of records that are used in turn, in equal steps, is monotone in their place.

use crate::run::{Order, Release, Training};

/// The places of records, split into ranges on which protection is monotone.
pub(super) fn monotone_ranges(training: &Training) -> Vec<(u64, u64)> {
    let (pass, places) = (training.batches_in_a_pass(), all_places(training));
    // If the steps end within a pass, earlier batches are used once more than later ones. An incomplete last batch is a
    // range of its own.
    let mut cuts = vec![pass - 1, pass, places];
    for steps in training.possible_steps().unwrap_or_else(|| vec![u64::MAX]) {
        cuts.push(if training.order == Order::Once { steps.min(pass) } else { steps % pass });
        if training.release == Release::RandomSkip {
            cuts.push((steps / 2).min(pass));
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    let mut from = 1;
    let mut ranges = Vec::new();
    for to in cuts {
        if to >= from {
            ranges.push((from, to));
            from = to + 1;
        }
    }
    ranges
}

/// The number of places. Records that fill no batch, where they are left out, get a place of their own after all
/// batches.
pub(super) fn all_places(training: &Training) -> u64 {
    training.place_of(training.records).max(training.batches_in_a_pass())
}

/// The last record of each range.
pub(super) fn last_records(training: &Training) -> impl Iterator<Item = u64> {
    let ranges = monotone_ranges(training).into_iter();
    ranges.map(|(_, to)| (training.first_record_of(to + 1) - 1).min(training.records))
}
