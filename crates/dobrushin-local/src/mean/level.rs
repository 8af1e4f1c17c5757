//! From a given ε to an integer threshold that guarantees it.

use dobrushin::numeric::bits::Coin;
use dobrushin::{Enclosure, Epsilon, Error};

/// The range of ε to which a mechanism can be calibrated.
pub(super) fn check(epsilon: Epsilon) -> Result<Enclosure, Error> {
    if !(1e-6..=1e3).contains(&epsilon.get()) {
        let accepted = "between 1e-6 and 1000 to calibrate a mechanism for a mean";
        return Err(Error::OutOfRange { name: "epsilon", value: epsilon.get(), accepted });
    }
    Ok(epsilon.into())
}

/// A coin with nearly the largest probability p, below 1, for which p ≤ e^ε·(1 − p)·r is checked for a ratio r > 0: p =
/// e^ε·r/(1 + e^ε·r) ≥ 1/2, less a few 2⁻⁵³ of 1 − p or 2⁻⁶⁴. (For smaller p it is a few 2⁻⁵³ less.)
///
/// An outcome of probability p under one law, and (1 − p)·r under another, then has no loss above ε.
pub(super) fn likeliest_coin(epsilon: Enclosure, ratio: Enclosure) -> Coin {
    let (gamma, odds) = (epsilon.exp(), epsilon.exp() * ratio);
    let holds = |coin: Coin| coin.probability().upper() <= (gamma * (coin.complement() * ratio)).lower();
    // 1 − p = 1/(1 + odds); its upper end gives a p that is slightly too small.
    let rest = (Enclosure::ONE / (Enclosure::ONE + odds)).upper() * TWO_TO_THE_64;
    let mut rest = (rest.ceil() as u64).max(1);
    let mut step = 1;
    // p = 0 always satisfies it.
    while !holds(Coin::from_threshold(rest.wrapping_neg())) {
        rest = rest.saturating_add(step);
        step *= 2;
    }
    Coin::from_threshold(rest.wrapping_neg())
}

const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coin_is_private_and_a_little_more_is_not() {
        for epsilon in [1e-6, 1e-3, 0.5, 1.0, 7.0, 20.0, 44.0, 1000.0] {
            for ratio in [1.0, 0.7, 3.0 / 1024.0, 2f64.powi(-30)] {
                let level = Enclosure::from(epsilon);
                let coin = likeliest_coin(level, Enclosure::from(ratio));
                let loss =
                    |coin: Coin| (coin.probability() / (coin.complement() * Enclosure::from(ratio))).ln();
                // This is checked on another scale, with its own rounding.
                assert!(loss(coin).lower() <= epsilon, "{epsilon} {ratio} {}", loss(coin));
                let rest = coin.threshold().wrapping_neg();
                let less = (rest >> 46).max(2);
                if coin.probability().lower() > 0.4 && less < rest {
                    let more = Coin::from_threshold(coin.threshold() + less);
                    assert!(loss(more).upper() > epsilon, "{epsilon} {ratio}");
                }
            }
        }
    }

    #[test]
    fn levels_out_of_range_are_refused() {
        for epsilon in [0.0, 1e-7, 1001.0, f64::INFINITY] {
            assert!(check(Epsilon::new(epsilon).unwrap()).unwrap_err().to_string().contains("epsilon is"));
        }
    }
}
