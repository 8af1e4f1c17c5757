//! Random bits for rows that may be read more than once.
//!
//! A program that runs on many machines reads a row again whenever a machine fails. If it then drew again, somebody who
//! sees both reports would know more than one report tells. So the bits of a row are a function of a secret and of the
//! row's name: whoever reads the row again, on any machine and in any order, gets the same bits.

use dobrushin::numeric::bits::RandomBits;
use pulp::{Arch, Simd, WithSimd};
use rand::rngs::ChaCha20Rng;
use rand::{Rng, SeedableRng};
use std::fmt::{self, Debug, Formatter};

/// A secret of 256 bits, from which the random bits of every row are derived.
///
/// # Guarantee
/// ChaCha20's block function, with the secret as its key and the row's name in place of counter and nonce, gives 512 bits
/// for each name. The first half of them keys a ChaCha20 generator, whose bits follow those of the second half. So if the
/// secret is uniform and unknown, and ChaCha20 is a pseudorandom function, then nobody who can compute can tell the bits
/// of all names from independent uniform bits; and the bits of one name are the same whenever they are asked for.
///
/// ```
/// use dobrushin::numeric::bits::RandomBits;
/// use dobrushin_train::RowSecret;
///
/// // In any order, and with any other rows, a name has the bits that it has.
/// let bits = |names: &[u128]| {
///     let mut first = Vec::new();
///     RowSecret::new([7; 32]).each(names, |_, bits| first.push(bits.bits()));
///     first
/// };
/// let (one, two) = (bits(&[1, 2, 3]), bits(&[3, 1]));
/// assert_eq!((one[0], one[2]), (two[1], two[0]));
/// assert_ne!(one[0], one[1]);
/// ```
#[derive(Clone)]
pub struct RowSecret {
    key: [u32; 8],
}

/// Nobody sees a secret by accident.
impl Debug for RowSecret {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("RowSecret")
    }
}

impl RowSecret {
    /// The secret with these bytes, which must be uniform and known to nobody.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self { key: std::array::from_fn(|k| word(&bytes, k)) }
    }

    /// Calls `draw` with the place of each name and its bits, in the order of the names.
    pub fn each(&self, names: &[u128], mut draw: impl FnMut(usize, &mut RowBits)) {
        let arch = Arch::new();
        for (chunk, names) in names.chunks(LANES).enumerate() {
            let name = |lane: usize| names.get(lane).copied().unwrap_or_default();
            let blocks = arch.dispatch(Blocks { key: self.key, names: std::array::from_fn(name) });
            for lane in 0..names.len() {
                let pair = |k: usize| [blocks[k][lane], blocks[k + 1][lane]].map(u64::from);
                let words = std::array::from_fn(|k| pair(8 + 2 * k)).map(|[low, high]| high << 32 | low);
                let seed = std::array::from_fn(|k| blocks[k][lane]);
                draw(chunk * LANES + lane, &mut RowBits { words, used: 0, seed, rest: None });
            }
        }
    }
}

/// The random bits of one row.
pub struct RowBits {
    words: [u64; 4],
    used: usize,
    seed: [u32; 8],
    /// What follows those words, once somebody needs more.
    rest: Option<Box<ChaCha20Rng>>,
}

impl RandomBits for RowBits {
    #[inline]
    fn bits(&mut self) -> u64 {
        match self.words.get(self.used) {
            Some(&word) => {
                self.used += 1;
                word
            }
            None => self.more(),
        }
    }
}

impl RowBits {
    #[inline(never)]
    fn more(&mut self) -> u64 {
        let seed = self.seed;
        let made = || {
            let mut bytes = [0; 32];
            bytes.as_chunks_mut().0.iter_mut().zip(seed).for_each(|(four, word)| *four = word.to_le_bytes());
            Box::new(ChaCha20Rng::from_seed(bytes))
        };
        self.rest.get_or_insert_with(made).next_u64()
    }
}

fn word(bytes: &[u8; 32], k: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * k + byte]))
}

/// This many blocks are computed at once.
const LANES: usize = 8;

/// One word of every block.
type Lanes = [u32; LANES];

/// The blocks of ChaCha20 with one key: the high half of a name is the counter, and the low half the nonce.
struct Blocks {
    key: [u32; 8],
    names: [u128; LANES],
}

impl WithSimd for Blocks {
    type Output = [Lanes; 16];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [Lanes; 16] {
        const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
        let part = |shift: u32| self.names.map(|name| (name >> shift) as u32);
        let [a, b, c, d] = CONSTANTS.map(|word| [word; LANES]);
        let [e, f, g, h, i, j, k, l] = self.key.map(|word| [word; LANES]);
        let start = [a, b, c, d, e, f, g, h, i, j, k, l, part(64), part(96), part(0), part(32)];
        let mut state = start;
        for _ in 0..10 {
            quarter::<0, 4, 8, 12>(&mut state);
            quarter::<1, 5, 9, 13>(&mut state);
            quarter::<2, 6, 10, 14>(&mut state);
            quarter::<3, 7, 11, 15>(&mut state);
            quarter::<0, 5, 10, 15>(&mut state);
            quarter::<1, 6, 11, 12>(&mut state);
            quarter::<2, 7, 8, 13>(&mut state);
            quarter::<3, 4, 9, 14>(&mut state);
        }
        for (sum, start) in state.iter_mut().zip(&start) {
            *sum = add(*sum, *start);
        }
        state
    }
}

#[inline(always)]
fn quarter<const A: usize, const B: usize, const C: usize, const D: usize>(state: &mut [Lanes; 16]) {
    let [mut a, mut b, mut c, mut d] = [state[A], state[B], state[C], state[D]];
    a = add(a, b);
    d = turned::<16>(d, a);
    c = add(c, d);
    b = turned::<12>(b, c);
    a = add(a, b);
    d = turned::<8>(d, a);
    c = add(c, d);
    b = turned::<7>(b, c);
    [state[A], state[B], state[C], state[D]] = [a, b, c, d];
}

#[inline(always)]
fn add(mut one: Lanes, other: Lanes) -> Lanes {
    for lane in 0..LANES {
        one[lane] = one[lane].wrapping_add(other[lane]);
    }
    one
}

#[inline(always)]
fn turned<const BITS: u32>(mut one: Lanes, other: Lanes) -> Lanes {
    for lane in 0..LANES {
        one[lane] = (one[lane] ^ other[lane]).rotate_left(BITS);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This many words of each name.
    fn words(secret: [u8; 32], names: &[u128], count: usize) -> Vec<Vec<u64>> {
        let mut all = Vec::new();
        RowSecret::new(secret).each(names, |place, bits| {
            assert_eq!(place, all.len());
            all.push((0..count).map(|_| bits.bits()).collect());
        });
        all
    }

    #[test]
    fn the_bits_of_a_name_are_a_block_of_chacha20_and_then_the_generator_that_it_keys() {
        let secret = std::array::from_fn(|k| 3 * k as u8);
        let names: Vec<u128> = [0, 1, u128::MAX, 1 << 64, (7 << 64) | 9]
            .into_iter()
            .chain((0..30).map(|k| k << 100 | k))
            .collect();
        for (name, found) in names.iter().zip(words(secret, &names, 50)) {
            let mut block = ChaCha20Rng::from_seed(secret);
            block.set_stream(*name as u64);
            block.set_word_pos((name >> 64) << 4);
            let mut seed = [0; 32];
            block.fill_bytes(&mut seed);
            let mut after = ChaCha20Rng::from_seed(seed);
            let expected = (0..50).map(|k| if k < 4 { block.next_u64() } else { after.next_u64() });
            assert!(found.into_iter().eq(expected), "{name:x}");
        }
    }

    #[test]
    fn no_two_names_and_no_two_secrets_share_a_word() {
        let names: Vec<u128> = (0..200).chain((1..200).map(|k| k << 64)).collect();
        let mut all: Vec<u64> =
            [[1; 32], [2; 32]].iter().flat_map(|key| words(*key, &names, 8)).flatten().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        assert_eq!(format!("{:?}", RowSecret::new([77; 32])), "RowSecret");
    }
}
