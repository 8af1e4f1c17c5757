//! From a wanted ε to an integer threshold that has it.

use crate::local::bits::Coin;
use crate::{Enclosure, Epsilon, Error};

/// What ε a mechanism can be calibrated to.
pub(super) fn check(epsilon: Epsilon) -> Result<Enclosure, Error> {
    if !(1e-6..=1e3).contains(&epsilon.get()) {
        let accepted = "between 1e-6 and 1000 to calibrate a mechanism for a mean";
        return Err(Error::OutOfRange { name: "epsilon", value: epsilon.get(), accepted });
    }
    Ok(epsilon.into())
}

/// A coin with nearly the largest probability p, below 1, for which p ≤ e^ε·(1 − p)·r is seen to hold for a ratio
/// r > 0: p = e^ε·r/(1 + e^ε·r), less a few 2⁻⁵³ of p or of 1 − p.
///
/// An outcome of probability p under one law, and (1 − p)·r under another, then has no loss above ε.
pub(super) fn likeliest_coin(epsilon: Enclosure, ratio: Enclosure) -> Coin {
    let (gamma, odds) = (epsilon.exp(), epsilon.exp() * ratio);
    let holds = |coin: Coin| coin.probability().upper() <= (gamma * (coin.complement() * ratio)).lower();
    // 1 − p = 1/(1 + odds), of which the upper end is a p that is too small.
    let rest = (Enclosure::ONE / (Enclosure::ONE + odds)).upper() * TWO_TO_THE_64;
    let mut rest = (rest.ceil() as u64).max(1);
    let mut step = 1;
    // p = 0 holds.
    while !holds(Coin::from_threshold(rest.wrapping_neg())) {
        rest = rest.saturating_add(step);
        step *= 2;
    }
    Coin::from_threshold(rest.wrapping_neg())
}

const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;
