//! Rows as bytes: a checksum over their content and their place, and small numbers in few bytes.

use crate::LedgerError;
use crate::store::Table;
use dobrushin::profile::{RUNNING_COST_BYTES, RunningCost};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// The bytes of a checksum.
const CHECKSUM: usize = 16;

/// A row as it is stored: a row that is damaged, or lies in the place of another, does not have its checksum.
pub fn sealed(table: Table, key: (i64, i64), content: &[u8]) -> Vec<u8> {
    let mut row = checksum(table, key, content).to_vec();
    row.extend_from_slice(content);
    row
}

/// The content of a stored row.
pub fn opened(table: Table, key: (i64, i64), row: &[u8]) -> Result<&[u8], LedgerError> {
    match row.split_at_checked(CHECKSUM) {
        Some((sum, content)) if sum == checksum(table, key, content) => Ok(content),
        _ => Err(damaged(table, key)),
    }
}

/// What to say about a row that cannot be what was written.
pub fn damaged(table: Table, (a, b): (i64, i64)) -> LedgerError {
    LedgerError::Damaged(format!("row {a}, {b} of the table {} is not what was written", table.name()))
}

fn checksum(table: Table, (a, b): (i64, i64), content: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = Sha256::new();
    sum.update(table.name());
    sum.update(a.to_le_bytes());
    sum.update(b.to_le_bytes());
    sum.update(content);
    let sum: [u8; 32] = sum.finalize().into();
    std::array::from_fn(|place| sum[place])
}

/// A row of words and numbers.
pub fn json(row: &impl Serialize) -> Vec<u8> {
    // Rows are structs of numbers and texts, which always have a JSON.
    serde_json::to_vec(row).unwrap_or_default()
}

/// Reads what [`json`] wrote.
pub fn of_json<T: DeserializeOwned>(table: Table, key: (i64, i64), content: &[u8]) -> Result<T, LedgerError> {
    serde_json::from_slice(content).map_err(|_| damaged(table, key))
}

/// Appends numbers of seven bits to a byte, the lowest first.
pub fn put_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Reads a row from its start; every read is `None` beyond its end.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.bytes(1)? else { return None };
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number that fits into 32 bits.
    pub fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    pub fn float(&mut self) -> Option<f64> {
        Some(f64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    pub fn cost(&mut self) -> Option<RunningCost> {
        Some(RunningCost::from_bytes(self.bytes(RUNNING_COST_BYTES)?.try_into().ok()?))
    }

    /// Whether all of it was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_known_in_its_own_place_only_and_any_bit_matters() {
        let row = sealed(Table::Bucket, (0, 3), b"content");
        assert_eq!(opened(Table::Bucket, (0, 3), &row).expect("whole"), b"content");
        assert!(opened(Table::Bucket, (0, 4), &row).is_err() && opened(Table::Entry, (0, 3), &row).is_err());
        for bit in 0..row.len() * 8 {
            let mut other = row.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(opened(Table::Bucket, (0, 3), &other).is_err(), "{bit}");
        }
        assert!(opened(Table::Bucket, (0, 3), &row[..10]).is_err());
    }

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, 1 << 35, u64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&number| put_number(&mut bytes, number));
        let mut reader = Reader(&bytes);
        numbers.iter().for_each(|&number| assert_eq!(reader.number(), Some(number)));
        assert!(reader.is_empty() && reader.number().is_none());
    }
}
