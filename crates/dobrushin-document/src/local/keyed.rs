//! Reports on rows that may be read more than once: each is a function of a secret, of the row's key and of its answer.
//!
//! # Guarantee
//! Let the secret be uniform and unknown, and no two rows have the same key. Then no feasible computation tells the reports
//! on all rows from independent draws of the mechanism ([`RowSecret`]), and whoever reads a row again gets the report that
//! it has. So all reports that any number of attempts release about a row, whatever failed in between, are one
//! draw of the mechanism, and keep its promise once.
//!
//! The answer is part of what the bits are derived from. If a key returns with another answer, because the table was
//! changed in between, its report is an independent draw: with the same bits, two reports on numbers would tell the
//! difference of the numbers exactly. Still, two reports are two draws, and if they differ, then so do the answers.
//!
//! A key that is text and an answer are named by the first 128 bits of their SHA-256, so that two rows share their bits
//! only if somebody finds a collision. A number and an answer are named by themselves.

use super::Batch;
use super::reports::{on_category, on_number, on_vector};
use dobrushin_local::frequency::FrequencyOracle;
use dobrushin_local::mean::{MeanMechanism, VectorMechanism};
use dobrushin_train::{RowBits, RowSecret};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::Range;

/// What identifies rows: whole numbers, or texts.
#[derive(Clone, Copy)]
pub enum Keys<'a> {
    /// A number for each row.
    Numbers(&'a [i64]),
    /// The text of row k is between the ends k and k + 1.
    Texts(&'a [i64], &'a [u8]),
}

impl<'a> Keys<'a> {
    /// The number of rows.
    pub fn rows(self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(ends, _) => ends.len().saturating_sub(1),
        }
    }

    /// The key of a row, for people; empty if there is no such row.
    pub fn show(self, row: usize) -> Cow<'a, str> {
        match self {
            Self::Numbers(numbers) => {
                numbers.get(row).map_or(Cow::Borrowed(""), |key| Cow::Owned(key.to_string()))
            }
            Self::Texts(..) => String::from_utf8_lossy(self.text(row)),
        }
    }

    /// The keys of some of the rows.
    pub fn part(self, rows: Range<usize>) -> Self {
        match self {
            Self::Numbers(numbers) => Self::Numbers(&numbers[rows]),
            Self::Texts(ends, bytes) => Self::Texts(&ends[rows.start..=rows.end], bytes),
        }
    }

    fn text(self, row: usize) -> &'a [u8] {
        match self {
            Self::Texts(ends, bytes) => {
                let ends =
                    ends.get(row..).and_then(<[i64]>::first_chunk).map(|ends| ends.map(|end| end as usize));
                ends.and_then(|[start, end]| bytes.get(start..end)).unwrap_or_default()
            }
            Self::Numbers(_) => &[],
        }
    }

    /// The name of a row with an answer.
    fn name(self, row: usize, answer: u64) -> u128 {
        match self {
            Self::Numbers(numbers) => u128::from(answer) << 64 | u128::from(numbers[row] as u64),
            Self::Texts(..) => {
                let digest =
                    Sha256::new().chain_update(self.text(row)).chain_update(answer.to_le_bytes()).finalize();
                digest.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
            }
        }
    }
}

/// Reports on categories, counted from 0; `None` is an answer that cannot be used.
pub fn on_keyed_categories(
    oracle: &dyn FrequencyOracle,
    secret: &RowSecret,
    keys: Keys<'_>,
    answers: &[Option<u32>],
) -> Batch {
    let words = oracle.report_words();
    let mut reports = vec![0; words * answers.len()];
    draw(
        secret,
        keys,
        answers,
        |category| u64::from(*category),
        |row, bits| {
            on_category(oracle, answers[row], bits, &mut reports[words * row..words * (row + 1)]);
        },
    );
    Batch::Words(reports, words)
}

/// Reports on numbers between the bounds; `None` is an answer that cannot be used.
pub fn on_keyed_numbers(
    mechanism: &dyn MeanMechanism,
    secret: &RowSecret,
    keys: Keys<'_>,
    answers: &[Option<f64>],
) -> Batch {
    let mut reports = Vec::with_capacity(answers.len());
    // 0 and −0 are one answer.
    draw(
        secret,
        keys,
        answers,
        |number| (number + 0.0).to_bits(),
        |row, bits| {
            reports.push(on_number(mechanism, answers[row], bits));
        },
    );
    Batch::Numbers(reports)
}

/// Reports on vectors in the ball; `None` is an answer that cannot be used.
pub fn on_keyed_vectors(
    mechanism: &dyn VectorMechanism,
    secret: &RowSecret,
    keys: Keys<'_>,
    answers: &[Option<Vec<f64>>],
) -> Batch {
    let mut reports = Vec::with_capacity(2 * answers.len());
    let number = |vector: &Vec<f64>| {
        let mut hash = Sha256::new();
        vector.iter().for_each(|number| hash.update((number + 0.0).to_le_bytes()));
        hash.finalize().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    draw(secret, keys, answers, number, |row, bits| {
        reports.extend(on_vector(mechanism, answers[row].as_deref(), bits));
    });
    Batch::Words(reports, 2)
}

/// Stands for all answers that cannot be used. It is no category, and the bits of no finite number.
const UNUSABLE: u64 = u64::MAX;

fn draw<T>(
    secret: &RowSecret,
    keys: Keys<'_>,
    answers: &[Option<T>],
    number: impl Fn(&T) -> u64,
    draw: impl FnMut(usize, &mut RowBits<'_>),
) {
    let number = |answer: &Option<T>| answer.as_ref().map_or(UNUSABLE, &number);
    let names: Vec<u128> =
        answers.iter().enumerate().map(|(row, answer)| keys.name(row, number(answer))).collect();
    secret.each(&names, draw);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::{Delta, Epsilon};
    use dobrushin_local::frequency::Response;
    use dobrushin_train::{Generators, Seed};
    use std::collections::HashSet;

    #[test]
    fn rows_with_another_key_or_another_answer_have_other_names() {
        let mut names = HashSet::new();
        let numbers = [i64::MIN, -1, 0, 1, i64::MAX];
        // The texts are "", "a", "ab", "b" and 16 bytes, which end in what could be an answer.
        let (bytes, ends) = (b"aabbtextwith\x01\0\0\0\0\0\0\0", [0, 0, 1, 3, 4, 20]);
        for answer in [0, 1, 1 << 32, 2.5f64.to_bits(), UNUSABLE] {
            for row in 0..5 {
                assert!(names.insert(Keys::Numbers(&numbers).name(row, answer)));
                assert!(names.insert(Keys::Texts(&ends, bytes).name(row, answer)));
            }
        }
    }

    #[test]
    fn a_part_of_the_keys_is_those_keys() {
        let (numbers, bytes, ends) = ([5, 6, 7], "äbc".as_bytes(), [0, 2, 3, 4]);
        for keys in [Keys::Numbers(&numbers), Keys::Texts(&ends, bytes)] {
            let part = keys.part(1..3);
            assert_eq!((keys.rows(), part.rows()), (3, 2));
            assert_eq!([part.show(0), part.show(1)], [keys.show(1), keys.show(2)]);
            assert_eq!(part.name(0, 9), keys.name(1, 9));
            assert_eq!(part.show(2), "");
        }
        assert_eq!(Keys::Texts(&ends, bytes).show(0), "ä");
    }

    #[test]
    fn keyed_reports_on_all_answers_have_the_law_of_the_mechanism() {
        let oracle =
            Response::new(4, Epsilon::new(1.0).expect("ε"), Delta::new(0.0).expect("δ")).expect("k-rr");
        let channel = oracle.channel().expect("it is small");
        let (rows, mut random) = (40_000, Generators::new(Seed::Known(1)).expect("a seed").stream(0));
        let mut key = [0; 32];
        key.fill_with(|| dobrushin::numeric::bits::RandomBits::bits(&mut random) as u8);
        let keys: Vec<i64> = (0..rows as i64).collect();
        for answer in 0..4 {
            let answers = vec![Some(answer); rows];
            let batch = on_keyed_categories(&oracle, &RowSecret::new(key), Keys::Numbers(&keys), &answers);
            let Batch::Words(words, 1) = batch else { panic!("a word each") };
            let law = channel.row_enclosures(answer as usize).map(|p| p.midpoint());
            for (report, p) in (0..).zip(law) {
                let count = words.iter().filter(|&&word| word == report).count() as f64;
                let (mean, deviation) = (rows as f64 * p, (rows as f64 * p * (1.0 - p)).sqrt());
                assert!(
                    (count - mean).abs() < 6.0 * deviation,
                    "{answer} {report}: {count} instead of {mean}"
                );
            }
        }
    }
}
