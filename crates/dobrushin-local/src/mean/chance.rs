//! Events whose probabilities are realised exactly.
//!
//! Canonne, Kamath, Steinke 2020, Algorithm 1, on integers.

use dobrushin::numeric::bits::RandomBits;

/// True with probability numerator/denominator, exactly, for a numerator up to the denominator and a denominator below
/// 2¹²⁷.
///
/// A uniform number is compared with the quotient digit by digit; two digits suffice on average.
pub(super) fn chance(numerator: u128, denominator: u128, bits: &mut dyn RandomBits) -> bool {
    debug_assert!(numerator <= denominator && 0 < denominator && denominator < 1 << 127);
    if numerator == 0 || numerator == denominator {
        return numerator > 0;
    }
    let mut rest = numerator;
    loop {
        let mut word = bits.bits();
        for _ in 0..u64::BITS {
            rest <<= 1;
            let digit = rest >= denominator;
            if digit {
                rest -= denominator;
            }
            let random = word & 1 == 1;
            if random != digit {
                return digit;
            }
            word >>= 1;
        }
    }
}

/// True with probability e^(−numerator/denominator), exactly, for a denominator below 2¹⁰⁰.
pub(super) fn exponential_chance(numerator: u128, denominator: u128, bits: &mut dyn RandomBits) -> bool {
    let mut whole = numerator / denominator;
    while whole > 0 {
        if !below_one(1, 1, bits) {
            return false;
        }
        whole -= 1;
    }
    below_one(numerator % denominator, denominator, bits)
}

/// The number of consecutive occurrences of an event of probability 1/e, exactly.
pub(super) fn run_of_exponential_chances(bits: &mut dyn RandomBits) -> u64 {
    let mut run = 0;
    while below_one(1, 1, bits) {
        run += 1;
    }
    run
}

/// e^(−x) for x ≤ 1: of events with probabilities x, x/2, x/3, … the first that fails is the k-th with probability
/// x^(k−1)/(k−1)! − x^k/k!, and the sum of these over odd k is Σ(−x)^j/j!.
fn below_one(numerator: u128, denominator: u128, bits: &mut dyn RandomBits) -> bool {
    let mut k = 1;
    while chance(numerator, denominator * k, bits) {
        k += 1;
    }
    k % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words in a given order, followed by ones, which are counted.
    struct Given {
        words: Vec<u64>,
        used: usize,
    }

    impl RandomBits for Given {
        fn bits(&mut self) -> u64 {
            self.used += 1;
            self.words.get(self.used - 1).copied().unwrap_or(u64::MAX)
        }
    }

    fn given(words: &[u64]) -> Given {
        Given { words: words.to_vec(), used: 0 }
    }

    #[test]
    fn of_all_words_a_share_of_exactly_the_quotient_is_true() {
        // The first 12 digits decide, unless they agree with those of the quotient.
        for (numerator, denominator) in
            [(0, 1), (1, 1), (1, 2), (1, 3), (2, 7), (999, 1000), (1, 4096), (5, 4097)]
        {
            let scale = 1u128 << 90;
            for factor in [1, scale] {
                let (numerator, denominator) = (numerator * factor, denominator * factor);
                let count = (0..4096)
                    .filter(|&word| chance(numerator, denominator, &mut given(&[word | (!0 << 12)])))
                    .count();
                let exact = 4096.0 * (numerator as f64 / denominator as f64);
                assert!(exact.floor() <= count as f64 && count as f64 <= exact.ceil(), "{count} {exact}");
            }
        }
    }

    #[test]
    fn a_quotient_with_endless_digits_asks_for_more_words() {
        // 1/3 = 0.010101…: a word with the same digits, the first in the lowest place, decides nothing.
        let same = 0xaaaa_aaaa_aaaa_aaaa;
        for (word, answer) in [(0, true), (1, false), (3, false)] {
            let mut bits = given(&[same, same, word]);
            assert_eq!(chance(1, 3, &mut bits), answer);
            assert_eq!(bits.used, 3);
        }
    }

    #[test]
    fn an_exponential_chance_counts_successes_of_x_over_k() {
        // e^0 is certain.
        assert!(exponential_chance(0, 1, &mut given(&[])));
        // x = 1: 1/1 is certain; 1/2 fails for a word that starts with 1: k = 2 is even.
        assert!(!exponential_chance(1, 1, &mut given(&[u64::MAX])));
        // 1/2 succeeds, 1/3 fails: k = 3 is odd; the remaining exponent is 0.
        assert!(exponential_chance(1, 1, &mut given(&[0, u64::MAX])));
        // 3/2: the whole part fails at once.
        assert!(!exponential_chance(3, 2, &mut given(&[u64::MAX, 0, u64::MAX])));
    }
}
