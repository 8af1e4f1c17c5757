//! The logarithm of the gamma function, by Stirling's series after a shift of the argument.

use std::rc::Rc;

use crate::PRECISION;
use crate::constants::ln_sqrt_two_pi;
use crate::memo::Memo;
use crate::real::{Real, WORD};

thread_local! {
    static STIRLING: Memo<usize, Vec<Real>> = Memo::new();
}

/// `ln Γ(x)` for finite `x > 0`, with a small relative error also near its zeros 1 and 2.
///
/// # Panics
///
/// When `x` is not positive and finite.
pub fn ln_gamma(x: f64) -> Real {
    assert!(x > 0.0 && x.is_finite(), "ln_gamma needs a positive number");
    if x == 1.0 || x == 2.0 {
        return Real::zero(PRECISION);
    }
    // Next to a zero the value is of the order of 2^-53, and it is a difference of numbers below
    // 2^10.
    ln_gamma_at(&Real::from_f64(x, PRECISION + 2 * WORD)).into_bits(PRECISION)
}

/// `ln Γ(x)` for `x > 0`, right to nearly all the bits of `x` relative to the larger of one and
/// the value.
///
/// With `z = x + n` large enough, `Γ(x) = Γ(z)/(x(x+1)⋯(z-1))` and
/// `ln Γ(z) = (z - 1/2) ln z - z + ln √(2π) + Σ B_2k/(2k(2k-1) z^(2k-1))`.
pub(crate) fn ln_gamma_at(x: &Real) -> Real {
    let bits = x.bits();
    let least = least_argument(bits);
    let mut z = x.clone();
    let mut product = Real::one(bits);
    while z < least {
        product = product * &z;
        z = z + 1;
    }
    let inverse = Real::one(bits) / &z;
    let inverse_square = &inverse * &inverse;
    let series = stirling(bits)
        .iter()
        .rev()
        .fold(Real::zero(bits), |sum, coefficient| sum * &inverse_square + coefficient);
    let half = Real::one(WORD).scale(-1);
    let main = (&z - half) * z.ln() - z + ln_sqrt_two_pi(bits);
    main + series * inverse - product.ln()
}

/// The least argument at which Stirling's series is summed. The error there can be as small as
/// `e^(-2πz)`, far below `2^-bits`.
fn least_argument(bits: usize) -> Real {
    Real::from_i64(bits as i64 / 4, WORD)
}

/// The coefficients `B_2k/(2k(2k-1))` for `k >= 1`, as many as the precision needs.
fn stirling(bits: usize) -> Rc<Vec<Real>> {
    STIRLING.with(|memo| {
        memo.get(bits, || {
            let step = 2 * (bits as f64 / 4.0).log2() as i64;
            let coefficients = stirling_coefficients(bits / 4, bits);
            let needed = (0_i64..)
                .zip(&coefficients)
                .take_while(|(k, coefficient)| coefficient.exponent() - step * k > -(bits as i64))
                .count();
            coefficients[..needed].to_vec()
        })
    })
}

/// `B_2k/(2k(2k-1))` for `1 <= k <= count`.
///
/// `B_2k = (-1)^(k-1) 2k T_k/(4^k (4^k - 1))`, where `T_k = 1, 2, 16, 272, …` are the tangent
/// numbers. They are integers, computed exactly by additions and small multiplications, so that
/// the only rounding is in the final quotient.
fn stirling_coefficients(count: usize, bits: usize) -> Vec<Real> {
    // T_k < (2k)! <= (2 count)^(2 count), and 4^k is exact in any precision above 2k.
    let log2 = (2 * count + 2).ilog2() as usize + 1;
    let exact = 2 * count * log2 + WORD;
    let mut tangent = vec![Real::one(exact)];
    for k in 1..count {
        let next = &tangent[k - 1] * k as i64;
        tangent.push(next);
    }
    for k in 1..count {
        for j in k..count {
            let (low, high) = ((j - k) as i64, (j - k + 2) as i64);
            tangent[j] = &tangent[j - 1] * low + &tangent[j] * high;
        }
    }
    (1_i64..)
        .zip(tangent)
        .map(|(k, tangent)| {
            let four = Real::one(exact).scale(2 * k);
            let denominator = &four * (&four - 1) * (2 * k - 1);
            let size = (tangent / denominator).into_bits(bits);
            if k % 2 == 1 { size } else { -size }
        })
        .collect()
}
