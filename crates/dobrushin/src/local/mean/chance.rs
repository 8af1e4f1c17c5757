//! Events whose probabilities are realised exactly.
//!
//! Canonne, Kamath, Steinke 2020, Algorithm 1, on integers.

use crate::local::bits::RandomBits;

/// True with probability numerator/denominator, exactly, for a numerator up to the denominator and a denominator below
/// 2¹²⁷.
///
/// Digit by digit a uniform number is compared with the quotient; two digits suffice on average.
pub(super) fn chance(numerator: u128, denominator: u128, bits: &mut dyn RandomBits) -> bool {
    debug_assert!(numerator <= denominator && 0 < denominator && denominator < 1 << 127);
    if numerator == denominator {
        return true;
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

/// How often in a row an event of probability 1/e happens, exactly.
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
