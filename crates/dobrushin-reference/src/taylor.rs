//! Taylor coefficients of the Mills ratio.
//!
//! `c_k = |R^(k)(x)|/k! = ∫₀^∞ t^k/k! exp(-xt - t²/2) dt` satisfies, by parts,
//!
//! `(k+1) c_{k+1} + x c_k - c_{k-1} = 0` for `k >= 0`, with `c_{-1} = 1`.
//!
//! For `x > 0` the coefficients are the minimal solution: the other one alternates in sign and
//! outgrows it at every step by a factor `e^(2s)`, with `s = arsinh(x/(2√(k+1)))`. Running forwards
//! from `c_0 = R(x)` loses these factors; running backwards from zeros gains them. For `x <= 0` all
//! terms of the forward recurrence are positive and nothing is lost.

use crate::constants::pi;
use crate::real::{Real, WORD, round_up};

/// The precision of what [`mills_taylor`] returns.
const TAYLOR_BITS: usize = 192;

/// The Taylor coefficients `c_k = |R^(k)(center)|/k!` of the Mills ratio for `k < terms`, so that
/// `R(center + h) = Σ c_k (-h)^k`.
///
/// The forward recurrence is repeated with more and more bits until all coefficients are positive
/// and raising the precision no longer changes them.
pub fn mills_taylor(center: f64, terms: usize) -> Vec<Real> {
    let mut bits = TAYLOR_BITS + WORD;
    loop {
        let low = forward(center, terms, bits);
        let high = forward(center, terms, bits + 128);
        let settled = low.iter().zip(&high).all(|(low, high)| {
            let change = (low - high).exponent();
            !low.is_zero() && !low.is_negative() && change < high.exponent() - TAYLOR_BITS as i64
        });
        if settled {
            return high.into_iter().map(|coefficient| coefficient.into_bits(TAYLOR_BITS)).collect();
        }
        bits *= 2;
    }
}

/// The logarithm of the factor by which the alternating solution gains on the coefficients between
/// `k` and `k + 1`, at `x > 0`.
fn separation(x: f64, k: usize) -> f64 {
    2.0 * (x / (2.0 * ((k + 1) as f64).sqrt())).asinh()
}

/// The coefficients by the forward recurrence, to nearly `bits` bits.
pub(crate) fn forward(x: f64, terms: usize, bits: usize) -> Vec<Real> {
    // R(x) is the difference of two numbers of size e^(x²/2), if x is positive.
    let lost = if x > 0.0 {
        let recurrence: f64 = (0..terms).map(|k| separation(x, k)).sum();
        x * x / 2.0 + 2.0 * (1.0 + x).ln() + recurrence
    } else {
        0.0
    };
    let lost = (lost * std::f64::consts::LOG2_E) as usize;
    let work = round_up(bits + lost + WORD);
    let mut coefficients = Vec::with_capacity(terms);
    let x = Real::from_f64(x, work);
    let mut before = Real::one(work);
    let mut current = mills_by_series(&x);
    for k in 0..terms {
        let next = (before - &x * &current) / (k as i64 + 1);
        coefficients.push(current.with_bits(bits));
        before = current;
        current = next;
    }
    coefficients
}

/// `R(x) = √(π/2) e^(x²/2) - Σ x^(2k+1)/(2k+1)!!`.
fn mills_by_series(x: &Real) -> Real {
    let bits = x.bits();
    let square = x * x;
    let mut term = x.clone();
    let mut sum = x.clone();
    for k in 1_i64.. {
        term = term * &square / (2 * k + 1);
        if term.is_zero() || term.exponent() < sum.exponent() - bits as i64 {
            break;
        }
        sum = sum + &term;
    }
    pi(bits).scale(-1).sqrt() * square.scale(-1).exp() - sum
}

/// The coefficients at `x > 0` by the backward recurrence, to nearly `bits` bits.
pub(crate) fn backward(x: f64, terms: usize, bits: usize) -> Vec<Real> {
    let work = bits + WORD;
    let enough = work as f64 * std::f64::consts::LN_2;
    let mut start = terms;
    let mut gained = 0.0;
    while gained < enough {
        gained += separation(x, start);
        start += 1;
    }
    let x = Real::from_f64(x, WORD);
    let mut after = Real::zero(work);
    let mut current = Real::one(work);
    let mut reversed = Vec::with_capacity(terms);
    for k in (0..=start).rev() {
        let before = after * (k as i64 + 1) + &x * &current;
        if k < terms {
            reversed.push(current.clone());
        }
        after = current;
        current = before;
    }
    // The recurrence now holds c_{-1}, which should be one.
    reversed.into_iter().rev().map(|coefficient| (coefficient / &current).into_bits(bits)).collect()
}

#[cfg(test)]
mod tests {
    use super::{backward, forward};

    #[test]
    fn the_two_recurrences_agree() {
        for x in [0.5, 4.0, 10.0, 26.0] {
            let (up, down) = (forward(x, 48, 192), backward(x, 48, 192));
            for (up, down) in up.iter().zip(&down) {
                assert!((up - down).exponent() <= down.exponent() - 189, "{x}");
            }
        }
    }
}
