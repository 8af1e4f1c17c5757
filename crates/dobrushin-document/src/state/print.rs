//! Rows by their hashes.

use sha2::{Digest, Sha256};

/// The keyed hash of a row: it tells rows apart, and nothing about them to whoever does not have the key.
pub type Print = [u8; 16];

/// A random key for the hashes of rows.
#[derive(Clone)]
pub struct RowKey([u8; 32]);

impl RowKey {
    /// The key of these bytes, which must be random.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The hash of a row by its cells; `None` is a row that has no cells, because its line cannot be read. Two rows have
    /// the same hash if and only if their cells are the same, except with a probability of about 2⁻¹²⁸ for two rows.
    ///
    /// It is SHA-256 of the key and each cell with its length, cut to half: the key has a fixed length, and from half a
    /// hash nobody computes that of a longer row.
    pub fn print<'a>(&self, row: Option<impl Iterator<Item = &'a [u8]>>) -> Print {
        let mut hash = Sha256::new();
        hash.update(self.0);
        match row {
            None => hash.update([0]),
            Some(cells) => {
                hash.update([1]);
                for cell in cells {
                    hash.update((cell.len() as u64).to_be_bytes());
                    hash.update(cell);
                }
            }
        }
        let whole: [u8; 32] = hash.finalize().into();
        std::array::from_fn(|i| whole[i])
    }
}

/// Bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that [`hex`] wrote.
pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}
