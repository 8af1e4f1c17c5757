//! Random bits for rows that may be read more than once.
//!
//! A program that runs on many machines reads a row again whenever a machine fails. If it then drew again, somebody who
//! sees both reports would know more than one report tells. So the bits of a row are a function of a secret and of the
//! row's name: whoever reads the row again, on any machine and in any order, gets the same bits.

use dobrushin::numeric::bits::RandomBits;
use pulp::{Arch, Simd, WithSimd};
use std::fmt::{self, Debug, Formatter};

/// A secret of 256 bits, from which the random bits of every row are derived.
///
/// # Guarantee
/// ChaCha20's block function, with the secret as its key and the row's name in place of counter and nonce, gives 512 bits
/// for each name. The first half of them keys a ChaCha20 generator, whose bits follow those of the second half. So if the
/// secret is uniform and unknown, and ChaCha20 is a pseudorandom function, then no feasible computation tells the bits of all
/// names from independent uniform bits; and the bits of one name are the same whenever they are asked for.
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
    pub fn each(&self, names: &[u128], mut draw: impl FnMut(usize, &mut RowBits<'_>)) {
        let arch = Arch::new();
        let mut more = Vec::new();
        for (chunk, names) in names.chunks(LANES).enumerate() {
            let name = |lane: usize| names.get(lane).copied().unwrap_or_default();
            let first = arch.dispatch(Blocks {
                key: self.key.map(|word| [word; LANES]),
                names: std::array::from_fn(name),
            });
            more.clear();
            for lane in 0..names.len() {
                draw(
                    chunk * LANES + lane,
                    &mut RowBits { arch, first: &first, more: &mut more, lane, used: 0 },
                );
            }
        }
    }
}

/// The random bits of one row.
pub struct RowBits<'a> {
    arch: Arch,
    /// The blocks of this row and of its neighbours.
    first: &'a [Lanes; 16],
    /// The blocks of the generators that those key, as far as somebody needed them.
    more: &'a mut Vec<[Lanes; 16]>,
    lane: usize,
    /// How many words of 64 bits were used.
    used: usize,
}

impl RandomBits for RowBits<'_> {
    #[inline]
    fn bits(&mut self) -> u64 {
        let used = self.used;
        self.used += 1;
        if used < 4 { self.word(self.first, 4 + used) } else { self.later(used - 4) }
    }
}

impl RowBits<'_> {
    /// A word of this row's block.
    #[inline]
    fn word(&self, block: &[Lanes; 16], place: usize) -> u64 {
        let [low, high] = [block[2 * place], block[2 * place + 1]].map(|lanes| u64::from(lanes[self.lane]));
        high << 32 | low
    }

    /// A word of the generator that the row's block keys. What one row needs, its neighbours are likely to need.
    #[inline(never)]
    fn later(&mut self, word: usize) -> u64 {
        let (block, place) = (word / 8, word % 8);
        while self.more.len() <= block {
            let key = std::array::from_fn(|k| self.first[k]);
            let counter = (self.more.len() as u128) << 64;
            self.more.push(self.arch.dispatch(Blocks { key, names: [counter; LANES] }));
        }
        self.word(&self.more[block], place)
    }
}

fn word(bytes: &[u8; 32], k: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * k + byte]))
}

/// This many blocks are computed at once.
const LANES: usize = 8;

/// One word of every block.
type Lanes = [u32; LANES];

/// Blocks of ChaCha20, each with its key. The high half of a name is the counter, and the low half the nonce.
struct Blocks {
    key: [Lanes; 8],
    names: [u128; LANES],
}

impl WithSimd for Blocks {
    type Output = [Lanes; 16];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [Lanes; 16] {
        let part = |shift: u32| self.names.map(|name| (name >> shift) as u32);
        let [a, b, c, d] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574].map(|word| [word; LANES]);
        let [e, f, g, h, i, j, k, l] = self.key;
        let start = [a, b, c, d, e, f, g, h, i, j, k, l, part(64), part(96), part(0), part(32)];
        let mut state = start;
        for _ in 0..10 {
            double_round(&mut state);
        }
        for (sum, start) in state.iter_mut().zip(&start) {
            sum.iter_mut().zip(start).for_each(|(sum, start)| *sum = sum.wrapping_add(*start));
        }
        state
    }
}

/// Lane by lane, which the compiler turns into vectors of all lanes.
#[inline(always)]
fn double_round(state: &mut [Lanes; 16]) {
    for lane in 0..LANES {
        let mut words: [u32; 16] = std::array::from_fn(|k| state[k][lane]);
        quarter::<0, 4, 8, 12>(&mut words);
        quarter::<1, 5, 9, 13>(&mut words);
        quarter::<2, 6, 10, 14>(&mut words);
        quarter::<3, 7, 11, 15>(&mut words);
        quarter::<0, 5, 10, 15>(&mut words);
        quarter::<1, 6, 11, 12>(&mut words);
        quarter::<2, 7, 8, 13>(&mut words);
        quarter::<3, 4, 9, 14>(&mut words);
        state.iter_mut().zip(words).for_each(|(lanes, word)| lanes[lane] = word);
    }
}

#[inline(always)]
fn quarter<const A: usize, const B: usize, const C: usize, const D: usize>(words: &mut [u32; 16]) {
    let [mut a, mut b, mut c, mut d] = [words[A], words[B], words[C], words[D]];
    a = a.wrapping_add(b);
    d = (d ^ a).rotate_left(16);
    c = c.wrapping_add(d);
    b = (b ^ c).rotate_left(12);
    a = a.wrapping_add(b);
    d = (d ^ a).rotate_left(8);
    c = c.wrapping_add(d);
    b = (b ^ c).rotate_left(7);
    [words[A], words[B], words[C], words[D]] = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::ChaCha20Rng;
    use rand::{Rng, SeedableRng};

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
