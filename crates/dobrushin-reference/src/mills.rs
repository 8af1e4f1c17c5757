//! The Mills ratio `R(x) = Q(x)/φ(x) = ∫₀^∞ exp(-xt - t²/2) dt`.
//!
//! Far out it is the asymptotic series; elsewhere the Taylor series at the nearest multiple of
//! `1/8`, whose coefficients are computed once per thread and precision.

use std::rc::Rc;

use crate::constants::sqrt_two_pi;
use crate::memo::Memo;
use crate::real::{Real, WORD};
use crate::taylor::{backward, forward};

/// Nodes per unit length.
const NODES_PER_UNIT: f64 = 8.0;

/// The distance from a node is at most `2^-REACH`.
const REACH: i64 = 4;

/// From this node on, the coefficients come from the backward recurrence, which gets slow near zero; before it, they
/// come from the forward one, which loses more bits the farther it is from zero.
const BACKWARD_FROM: f64 = 4.0;

thread_local! {
    static NODES: Memo<(usize, i64), Vec<Real>> = Memo::new();
}

/// The Mills ratio `R(x) = Q(x)/φ(x)` of the standard normal law, for any real `x`.
///
/// On the negative side `R(-x) = 1/φ(x) - R(x)`.
pub fn mills(x: &Real) -> Real {
    let bits = x.bits();
    let value = if x.is_negative() {
        let work = bits + WORD + square_bits(x);
        let x = x.with_bits(work);
        let inverse_density = (&x * &x).scale(-1).exp() * sqrt_two_pi(work);
        inverse_density - mills_right(&-x)
    } else {
        mills_right(&x.with_bits(bits + WORD))
    };
    value.into_bits(bits)
}

/// The number of bits by which `x²` is larger than one, rounded up to whole words: its exponential loses these bits.
pub(crate) fn square_bits(x: &Real) -> usize {
    // The cap is where the exponential is out of range anyway.
    (2 * x.exponent().clamp(0, 64) as usize).next_multiple_of(WORD)
}

/// The Mills ratio for `x >= 0`, to all but a few of the bits of `x`.
pub(crate) fn mills_right(x: &Real) -> Real {
    let size = x.to_f64();
    // The smallest term of the asymptotic series, e^(-x²/2), is then below 2^(-2.5 bits), and a
    // quarter as many terms as bits are enough.
    if size * size > 3.5 * x.bits() as f64 { asymptotic(x) } else { taylor(x, size) }
}

/// `R(x) = (1/x) Σ (-1)^k (2k-1)!!/x^(2k)`, up to the last term that matters.
fn asymptotic(x: &Real) -> Real {
    let bits = x.bits();
    let size = x.to_f64();
    let square = size * size;
    let mut terms = 0_i64;
    let mut log2_term = 0.0;
    while log2_term > -(bits as f64) {
        terms += 1;
        log2_term += ((2 * terms - 1) as f64 / square).log2();
    }
    let one = Real::one(bits);
    let inverse = &one / x;
    let inverse_square = &inverse * &inverse;
    let mut sum = one.clone();
    for k in (1..=terms).rev() {
        sum = &one - &inverse_square * (2 * k - 1) * sum;
    }
    inverse * sum
}

/// `R(c + h) = Σ c_k (-h)^k` at the nearest node `c`.
fn taylor(x: &Real, size: f64) -> Real {
    let index = (size * NODES_PER_UNIT).round();
    let back = Real::from_f64(index / NODES_PER_UNIT, WORD) - x;
    let coefficients = node(index, x.bits());
    coefficients.iter().rev().fold(Real::zero(x.bits()), |sum, coefficient| sum * &back + coefficient)
}

/// The Taylor coefficients at the node `index/8` that matter within reach of it.
fn node(index: f64, bits: usize) -> Rc<Vec<Real>> {
    NODES.with(|memo| {
        memo.get((bits, index as i64), || {
            let centre = index / NODES_PER_UNIT;
            let terms = bits / REACH as usize + 2;
            let mut coefficients = if centre < BACKWARD_FROM {
                forward(centre, terms, bits)
            } else {
                backward(centre, terms, bits)
            };
            let end = coefficients[0].exponent() - bits as i64 - REACH;
            let needed = (0_i64..)
                .zip(&coefficients)
                .take_while(|(k, coefficient)| coefficient.exponent() - REACH * k > end)
                .count();
            coefficients.truncate(needed);
            coefficients
        })
    })
}
