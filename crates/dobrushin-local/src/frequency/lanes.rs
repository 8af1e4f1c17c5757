//! Many bits at once: masks, and counters for the bits of many words.

/// The mask of the last word of this many bits.
pub(super) fn last_mask(count: u32) -> u64 {
    match count % 64 {
        0 => u64::MAX,
        rest => (1 << rest) - 1,
    }
}

/// Whether a report has this many bits, with no others set.
pub(super) fn is_bits(report: &[u64], count: u32) -> bool {
    let fits = report.len() == count.div_ceil(64) as usize;
    fits && report.last().is_some_and(|last| last & !last_mask(count) == 0)
}

/// Adds, for each bit, the number of reports of this many words in which it is set.
///
/// Counters are stored vertically, with digit d of all 64 counters of a column in one word, and 16 words are added with
/// 15 full adders (Harley and Seal).
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

/// The number of reports that are added before the vertical counters are read.
const BLOCK: usize = 2048;
/// The number of digits of a vertical counter: 2048 < 2¹².
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
    use dobrushin::numeric::Random;

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
}
