//! Random bits, and probabilities that are realised exactly.
//!
//! This module has no randomness of its own: every draw takes its bits from a source that the caller provides. A draw
//! is as private as the source is unpredictable, so a source for real data is a cryptographic generator seeded by the
//! operating system. Nothing here takes constant time: the duration of a draw may depend on its result.

use crate::Enclosure;
use std::cmp::Ordering;

/// A source of independent uniform bits.
///
/// ```
/// use dobrushin::numeric::bits::{Coin, RandomBits};
///
/// /// Not random at all: for tests only.
/// struct Counter(u64);
///
/// impl RandomBits for Counter {
///     fn bits(&mut self) -> u64 {
///         self.0 += 1 << 62;
///         self.0
///     }
/// }
///
/// // Words at a quarter, a half and three quarters of the range: only the first is below a half.
/// let (mut bits, coin) = (Counter(0), Coin::at_most(0.5));
/// assert_eq!((0..3).filter(|_| coin.toss(&mut bits)).count(), 1);
/// ```
pub trait RandomBits {
    /// 64 uniform bits.
    fn bits(&mut self) -> u64;

    /// Fills all the given words.
    fn fill(&mut self, words: &mut [u64]) {
        for word in words {
            *word = self.bits();
        }
    }
}

impl<Source: RandomBits + ?Sized> RandomBits for &mut Source {
    fn bits(&mut self) -> u64 {
        (**self).bits()
    }

    fn fill(&mut self, words: &mut [u64]) {
        (**self).fill(words);
    }
}

/// A coin that shows heads with probability exactly t/2⁶⁴, for a whole number t below 2⁶⁴.
///
/// ```
/// use dobrushin::numeric::bits::Coin;
/// let coin = Coin::at_most(0.75);
/// assert_eq!(coin.threshold(), 3 << 62);
/// assert_eq!(coin.probability().upper(), 0.75);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coin {
    threshold: u64,
}

impl Coin {
    /// Heads with probability `threshold`/2⁶⁴.
    pub const fn from_threshold(threshold: u64) -> Self {
        Self { threshold }
    }

    /// The largest such probability at most the given one, and less than 2⁻⁶⁴ below it; 1 − 2⁻⁶⁴ for 1 and above, and 0
    /// for anything not above 0.
    pub fn at_most(probability: f64) -> Self {
        // Scaling is exact, and the conversion truncates and saturates.
        Self::from_threshold((probability * TWO_TO_64) as u64)
    }

    /// The smallest such probability at least the given one, and less than 2⁻⁶⁴ above it; 1 − 2⁻⁶⁴ if there is none.
    pub fn at_least(probability: f64) -> Self {
        Self::from_threshold((probability * TWO_TO_64).ceil() as u64)
    }

    /// t.
    pub const fn threshold(self) -> u64 {
        self.threshold
    }

    /// t/2⁶⁴: one number if t has at most 53 digits, otherwise the two around it.
    pub fn probability(self) -> Enclosure {
        share(self.threshold)
    }

    /// 1 − t/2⁶⁴, accurate even where it is small.
    pub fn complement(self) -> Enclosure {
        match self.threshold {
            0 => Enclosure::ONE,
            threshold => share(threshold.wrapping_neg()),
        }
    }

    /// Heads or tails.
    #[inline]
    pub fn toss(self, bits: &mut (impl RandomBits + ?Sized)) -> bool {
        bits.bits() < self.threshold
    }

    /// One toss for each bit of `mask`, independent of each other: the bits that show heads.
    ///
    /// Bit i of the drawn words is compared, starting with the first word, with the binary digits of the threshold: the
    /// first difference decides. 64 tosses take about 7 words, and each has probability exactly t/2⁶⁴.
    #[inline]
    pub fn toss_many(self, mask: u64, bits: &mut (impl RandomBits + ?Sized)) -> u64 {
        let (mut heads, mut undecided, mut digits) = (0, mask, self.threshold);
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
}

/// A number below `count`, all equally likely: the high half of bits·count, redrawn where it would favour some numbers
/// (Lemire 2019). 0 if the count is 0 or 1.
///
/// ```
/// use dobrushin::numeric::bits::{RandomBits, below};
///
/// struct Same(u64);
///
/// impl RandomBits for Same {
///     fn bits(&mut self) -> u64 {
///         self.0
///     }
/// }
///
/// // A quarter of all words is a quarter of all numbers.
/// assert_eq!(below(64, &mut Same(1 << 62)), 16);
/// assert_eq!(below(1, &mut Same(1 << 62)), 0);
/// ```
#[inline]
pub fn below(count: u64, bits: &mut (impl RandomBits + ?Sized)) -> u64 {
    if count <= 1 {
        return 0;
    }
    loop {
        let product = u128::from(bits.bits()) * u128::from(count);
        let (high, low) = ((product >> 64) as u64, product as u64);
        // Each value has ⌊2⁶⁴/count⌋ words whose low half is at least 2⁶⁴ mod count.
        if low >= count || low >= count.wrapping_neg() % count {
            return high;
        }
    }
}

/// A source that requests many words at once from another one.
///
/// Unused words are discarded.
///
/// ```
/// use dobrushin::numeric::bits::{Buffered, RandomBits};
///
/// struct Counter(u64);
///
/// impl RandomBits for Counter {
///     fn bits(&mut self) -> u64 {
///         self.0 += 1;
///         self.0
///     }
/// }
///
/// // The words come in their order, and many are asked for at once.
/// let mut source = Counter(0);
/// let mut buffered = Buffered::new(&mut source);
/// assert_eq!((buffered.bits(), buffered.bits()), (1, 2));
/// assert!(source.0 > 2);
/// ```
pub struct Buffered<'a> {
    source: &'a mut dyn RandomBits,
    words: [u64; BUFFER],
    used: usize,
}

/// The number of words that are requested at once.
const BUFFER: usize = 512;

const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// words/2⁶⁴.
fn share(words: u64) -> Enclosure {
    let rounded = words as f64;
    let (lower, upper) = match (rounded as u128).cmp(&u128::from(words)) {
        Ordering::Less => (rounded, rounded.next_up()),
        Ordering::Equal => (rounded, rounded),
        Ordering::Greater => (rounded.next_down(), rounded),
    };
    Enclosure::between(lower / TWO_TO_64, upper / TWO_TO_64)
}

impl<'a> Buffered<'a> {
    /// Nothing is requested before the first word is used.
    pub fn new(source: &'a mut dyn RandomBits) -> Self {
        Self { source, words: [0; BUFFER], used: BUFFER }
    }

    #[cold]
    fn refill(&mut self) {
        self.source.fill(&mut self.words);
        self.used = 0;
    }
}

impl RandomBits for Buffered<'_> {
    #[inline]
    fn bits(&mut self) -> u64 {
        if self.used >= BUFFER {
            self.refill();
        }
        let word = self.words[self.used];
        self.used += 1;
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    /// Words in a given order.
    struct Given<'a>(std::slice::Iter<'a, u64>);

    impl RandomBits for Given<'_> {
        fn bits(&mut self) -> u64 {
            self.0.next().copied().unwrap_or(0)
        }
    }

    #[test]
    fn a_coin_shows_heads_for_exactly_its_threshold_of_words() {
        for threshold in [0, 1, 2, 1 << 63, u64::MAX] {
            let coin = Coin::from_threshold(threshold);
            let toss = |word: u64| coin.toss(&mut Given([word].iter()));
            assert!(threshold == 0 || toss(threshold - 1) && toss(0));
            assert!(!toss(threshold) && !toss(u64::MAX));
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
            let heads = Coin::from_threshold(threshold).toss_many(mask, &mut source);
            for lane in 0..64 {
                // The words that were not drawn may be anything; the test tries both extremes.
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

    #[test]
    fn a_probability_is_rounded_to_the_side_that_is_asked_for() {
        for probability in [0.1, 1.0 / 3.0, 0.5, 1e-18, 1e-30, 2f64.powi(-64), 1.0 - f64::EPSILON] {
            let (below, above) = (Coin::at_most(probability), Coin::at_least(probability));
            assert!(below.probability().lower() <= probability, "{probability:e}");
            assert!(above.probability().upper() >= probability, "{probability:e}");
            assert!(above.threshold() - below.threshold() <= 1);
        }
        assert_eq!(Coin::at_most(1.0).threshold(), u64::MAX);
        assert_eq!(Coin::at_most(-1.0).threshold(), 0);
        assert_eq!(Coin::at_least(1e-300).threshold(), 1);
        assert_eq!(Coin::from_threshold(u64::MAX).complement().upper(), 2f64.powi(-64));
        assert_eq!(Coin::from_threshold(0).complement(), Enclosure::ONE);
    }

    #[test]
    fn a_number_below_a_count_uses_equally_many_words_for_each_value() {
        // With words whose top bits take only four values, the bottom decides about rejection: the first word of each
        // value is rejected if and only if 2⁶⁴ mod count says so.
        for count in [2, 3, 5, 6, 7, 100, (1 << 63) + 1, u64::MAX] {
            let surplus = count.wrapping_neg() % count;
            for value in [0, 1, count / 2, count - 1] {
                // The smallest word whose product has this high half.
                let first = ((u128::from(value) << 64).div_ceil(u128::from(count))) as u64;
                let low = (u128::from(first) * u128::from(count)) as u64;
                let drawn = below(count, &mut Given([first, u64::MAX].iter()));
                assert_eq!(drawn == value, low >= surplus || value == count - 1, "{value} of {count}");
            }
        }
    }

    #[test]
    fn a_buffered_source_gives_the_words_of_its_source_in_order() {
        let words: Vec<u64> = (0..2000).collect();
        let mut given = Given(words.iter());
        let mut buffered = Buffered::new(&mut given);
        assert!((0..1500).all(|word| buffered.bits() == word));
    }
}
