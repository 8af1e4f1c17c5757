//! Many bits at once: 64 coins from a few words, and counters for the bits of many words.

use crate::local::Coin;
use crate::local::bits::RandomBits;

/// One coin for each bit of `mask`, independent of each other.
///
/// Bit i of the words that are drawn is compared, from the first word on, with the binary digits of the threshold:
/// the first that differs decides. 64 coins take about 7 words, and each is t/2⁶⁴ exactly.
#[inline]
pub(super) fn tosses(coin: Coin, mask: u64, bits: &mut impl RandomBits) -> u64 {
    let (mut heads, mut undecided, mut digits) = (0, mask, coin.threshold());
    while undecided != 0 && digits != 0 {
        let word = bits.bits();
        // All ones or all zeros.
        let digit = ((digits as i64) >> 63) as u64;
        heads |= undecided & !word & digit;
        undecided &= !(word ^ digit);
        digits <<= 1;
    }
    heads
}

/// The mask of the last word of so many bits.
pub(super) fn last_mask(count: u32) -> u64 {
    match count % 64 {
        0 => u64::MAX,
        rest => (1 << rest) - 1,
    }
}

/// Whether a report is so many bits, and no others are set.
pub(super) fn is_bits(report: &[u64], count: u32) -> bool {
    let fits = report.len() == count.div_ceil(64) as usize;
    fits && report.last().is_some_and(|last| last & !last_mask(count) == 0)
}

/// Adds, for each bit, how many reports of so many words have it set.
///
/// Counters are kept vertically, digit d of all 64 counters of a column in one word, and 16 words are added with 15
/// full adders (Harley and Seal).
pub(super) fn count_bits(reports: &[u64], words: usize, counters: &mut [u64]) {
    for block in reports.chunks(BLOCK * words) {
        for (column, lanes) in counters.chunks_mut(64).enumerate() {
            let mut digits = [0; DIGITS];
            for group in block.chunks(16 * words) {
                let sixteen = match group.len() == 16 * words {
                    true => std::array::from_fn(|i| group[i * words + column]),
                    false => std::array::from_fn(|i| group.get(i * words + column).copied().unwrap_or(0)),
                };
                add_sixteen(&mut digits, sixteen);
            }
            for (lane, counter) in lanes.iter_mut().enumerate() {
                let digit = |d: usize| (digits[d] >> lane & 1) << d;
                *counter += (0..DIGITS).map(digit).sum::<u64>();
            }
        }
    }
}

/// Reports that are added before the vertical counters are read.
const BLOCK: usize = 2048;
/// Digits of a vertical counter: 2048 < 2¹².
const DIGITS: usize = 12;

#[inline]
fn add_sixteen(digits: &mut [u64; DIGITS], sixteen: [u64; 16]) {
    let mut carries = sixteen;
    let mut count = 16;
    for digit in digits.iter_mut().take(4) {
        count /= 2;
        for i in 0..count {
            (*digit, carries[i]) = full_adder(*digit, carries[2 * i], carries[2 * i + 1]);
        }
    }
    let mut carry = carries[0];
    for digit in digits.iter_mut().skip(4) {
        (*digit, carry) = (*digit ^ carry, *digit & carry);
    }
}

/// The sum and the carry of three bits.
#[inline]
fn full_adder(a: u64, b: u64, c: u64) -> (u64, u64) {
    let either = a ^ b;
    (either ^ c, a & b | either & c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin_reference::Random;

    #[test]
    fn bits_are_counted_as_one_by_one() {
        let mut random = Random::new(3);
        for (categories, reports) in
            [(1, 1), (2, 15), (64, 16), (65, 17), (100, 5000), (128, 2048), (200, 4097)]
        {
            let words = usize::div_ceil(categories, 64);
            let data: Vec<u64> = (0..reports * words).map(|_| random.bits()).collect();
            let mut counters = vec![7; categories];
            count_bits(&data, words, &mut counters);
            for (category, &counter) in counters.iter().enumerate() {
                let set = |report: &[u64]| report[category / 64] >> (category % 64) & 1;
                assert_eq!(counter, 7 + data.chunks(words).map(set).sum::<u64>());
            }
        }
    }

    #[test]
    fn every_lane_is_the_coin_of_its_own_bits() {
        struct Recorded(Random, Vec<u64>);
        impl RandomBits for Recorded {
            fn bits(&mut self) -> u64 {
                let word = self.0.bits();
                self.1.push(word);
                word
            }
        }
        let thresholds = [0, 1, 1 << 63, u64::MAX, 0x4000_0000_0000_0001, 0x1234_5678_9abc_def0];
        for (seed, &threshold) in (0..).zip(thresholds.iter().cycle().take(300)) {
            let mut source = Recorded(Random::new(seed), Vec::new());
            let mask = u64::MAX >> (seed % 5);
            let heads = tosses(Coin::from_threshold(threshold), mask, &mut source);
            for lane in 0..64 {
                // The words that were not drawn may be anything: try both ends.
                let number = |rest: bool| {
                    let digit = |i: usize| source.1.get(i).map_or(rest, |word| word >> lane & 1 == 1);
                    (0..64).fold(0u64, |number, i| number << 1 | u64::from(digit(i)))
                };
                for rest in [false, true] {
                    let expected = number(rest) < threshold && mask >> lane & 1 == 1;
                    assert_eq!(heads >> lane & 1 == 1, expected, "{threshold:x}, lane {lane}");
                }
            }
        }
    }
}
