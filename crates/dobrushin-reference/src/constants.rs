//! Mathematical constants at any precision.

use crate::memo::{Memo, with_consts};
use crate::real::{ROUNDING, Real, round_up};

thread_local! {
    static NORMAL: Memo<usize, Normal> = Memo::new();
}

/// `ln 2`.
pub(crate) fn ln_2(bits: usize) -> Real {
    Real::new(with_consts(|consts| consts.ln_2(bits, ROUNDING)), bits)
}

impl Real {
    /// `π`.
    pub fn pi(bits: usize) -> Real {
        pi(round_up(bits))
    }
}

/// `π`.
pub(crate) fn pi(bits: usize) -> Real {
    Real::new(with_consts(|consts| consts.pi(bits, ROUNDING)), bits)
}

/// The constants of the normal density at one precision.
struct Normal {
    /// `√(2π)`.
    sqrt_two_pi: Real,
    /// `ln √(2π)`.
    ln_sqrt_two_pi: Real,
    /// `√2`.
    sqrt_two: Real,
}

impl Normal {
    fn new(bits: usize) -> Self {
        let two_pi = pi(bits) * 2;
        Self {
            sqrt_two_pi: two_pi.sqrt(),
            ln_sqrt_two_pi: two_pi.ln().scale(-1),
            sqrt_two: Real::from_i64(2, bits).sqrt(),
        }
    }
}

/// `√(2π)`.
pub(crate) fn sqrt_two_pi(bits: usize) -> Real {
    NORMAL.with(|memo| memo.get(bits, || Normal::new(bits)).sqrt_two_pi.clone())
}

/// `ln √(2π)`.
pub(crate) fn ln_sqrt_two_pi(bits: usize) -> Real {
    NORMAL.with(|memo| memo.get(bits, || Normal::new(bits)).ln_sqrt_two_pi.clone())
}

/// `√2`.
pub(crate) fn sqrt_two(bits: usize) -> Real {
    NORMAL.with(|memo| memo.get(bits, || Normal::new(bits)).sqrt_two.clone())
}
