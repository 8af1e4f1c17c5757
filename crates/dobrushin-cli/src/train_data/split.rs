//! Records that are kept out of training for a test.

use dobrushin::Probability;
use dobrushin::numeric::bits::below;
use dobrushin_train::{Bits, Table};

/// The records for training and those for a test, round(share·n) of all n; both keep their order.
///
/// All choices of this many records are equally likely, whatever the records hold: each record in turn is taken with
/// probability (number still to be taken)/(number left).
pub fn split(table: &Table, share: Probability, bits: &mut Bits) -> (Table, Table) {
    let empty = || Table::new(*table.bounds(), table.tasks());
    let (mut training, mut test) = (empty(), empty());
    let count = table.len() as u64;
    let mut wanted = (share.get() * count as f64).round() as u64;
    for record in 0..table.len() {
        let taken = below(count - record as u64, bits) < wanted;
        wanted -= u64::from(taken);
        let to = if taken { &mut test } else { &mut training };
        let targets: Vec<f32> = (0..table.tasks()).map(|task| table.target(record, task)).collect();
        // A record within the bounds is not changed, and an empty record is empty again.
        to.push(table.features(record), &targets);
    }
    (training, test)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::Positive;
    use dobrushin_train::{Bounds, Generators, Seed, Target};

    /// Records numbered from 0, every fifth of them empty.
    fn table(count: usize) -> Table {
        let norm = Positive::new(1.0).expect("above 0");
        let bounds = Bounds { dimension: 2, norm, target: Target::Range { lower: 0.0, upper: 1e6 } };
        let mut table = Table::new(bounds, 1);
        for record in 0..count {
            match record % 5 {
                4 => table.push_empty(),
                _ => _ = table.push(&[record as f32, 1.0], &[record as f32]),
            }
        }
        table
    }

    fn bits(stream: u64) -> Bits {
        Generators::new(Seed::Known(5)).expect("a known seed").stream(stream)
    }

    fn rows(table: &Table) -> Vec<(Vec<u32>, u32)> {
        let row = |record| table.features(record).iter().map(|x| x.to_bits()).collect();
        (0..table.len()).map(|record| (row(record), table.target(record, 0).to_bits())).collect()
    }

    #[test]
    fn every_record_is_in_one_part_unchanged_and_in_order() {
        for (count, share, expected) in
            [(10, 0.2, 2), (11, 0.25, 3), (100, 0.333, 33), (1, 0.3, 0), (7, 1.0, 7), (7, 0.0, 0)]
        {
            let table = table(count);
            let share = Probability::new(share).expect("a share");
            let (training, test) = split(&table, share, &mut bits(0));
            assert_eq!((training.len(), test.len()), (count - expected, expected));
            let (mut left, mut right) =
                (rows(&training).into_iter().peekable(), rows(&test).into_iter().peekable());
            for row in rows(&table) {
                let next = if left.peek() == Some(&row) { left.next() } else { right.next() };
                assert_eq!(next, Some(row));
            }
        }
    }

    #[test]
    fn all_choices_are_equally_likely() {
        // There are 10 choices of 2 from 5, in 20 000 splits. χ² with 9 degrees of freedom exceeds 33.7 once in 10 000
        // times.
        let table = table(5);
        let share = Probability::new(0.4).expect("a share");
        let mut counts = std::collections::HashMap::new();
        for stream in 0..20_000 {
            *counts.entry(rows(&split(&table, share, &mut bits(stream)).1)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 10);
        let surplus: f64 = counts.values().map(|&count| (f64::from(count) - 2000.0).powi(2) / 2000.0).sum();
        assert!(surplus < 33.7, "{surplus}");
    }
}
