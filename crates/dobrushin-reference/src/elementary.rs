//! The exponential and the logarithm.
//!
//! Both are built here rather than taken from the arithmetic underneath, because tables of
//! constants make them several times faster at a few hundred bits.

use crate::constants::{ln_2, pi};
use crate::memo::Memo;
use crate::memo::with_consts;
use crate::real::{ROUNDING, Real, WORD};

/// `exp` is tabulated at the multiples of `2^-GRID`.
const GRID: i64 = 8;

/// Where `|t|` is below `2^-TINY`, `ln(1+t)` is summed as a series in `t`.
const TINY: i64 = 20;

/// `exp` of anything larger than this in absolute value is out of the exponent range.
const EXTREME: f64 = 1.5e9;

thread_local! {
    static INVERSE_FACTORIALS: Memo<usize, Vec<Real>> = Memo::new();
    static EXPONENTIALS: Memo<(usize, i64), Real> = Memo::new();
}

impl Real {
    /// `e^self`.
    ///
    /// With `n` the integer nearest to `self/ln 2` and `j` the one nearest to what then remains on
    /// the grid, `e^self = 2^n · e^(j/256) · e^z` with `|z| <= 1/512`, the last factor by its Taylor
    /// polynomial.
    pub fn exp(&self) -> Real {
        let bits = self.bits();
        let size = self.to_f64();
        if size < -EXTREME {
            return Real::zero(bits);
        }
        if size > EXTREME {
            return Real::from_f64(f64::INFINITY, bits);
        }
        // |n| < 2^32, so n·ln 2 is known to within 2^-(bits + 31).
        let work = bits + WORD;
        let n = (size / std::f64::consts::LN_2).round() as i64;
        let y = self - ln_2(work) * n;
        let j = (y.to_f64() * (1 << GRID) as f64).round() as i64;
        let z = y - Real::from_i64(j, WORD).scale(-GRID);
        let node = EXPONENTIALS.with(|memo| memo.get((work, j), || exp_node(j, work)));
        let product = &*node * (exp_m1_quotient(&z) * &z + 1);
        product.scale(n).into_bits(bits)
    }

    /// `e^self - 1`, without cancellation.
    pub fn exp_m1(&self) -> Real {
        let bits = self.bits();
        let work = bits + WORD;
        let x = self.with_bits(work);
        let value = if x.exponent() <= -GRID { exp_m1_quotient(&x) * x } else { x.exp() - 1 };
        value.into_bits(bits)
    }

    /// The natural logarithm; minus infinity at zero, NaN below.
    ///
    /// `self = 2^n m` with `m` within a factor `√2` of one, and `ln self = n ln 2 + ln m`. There
    /// is no cancellation: the second summand is at most half of the first unless `n = 0`.
    pub fn ln(&self) -> Real {
        let bits = self.bits();
        if self.is_zero() {
            return Real::from_f64(f64::NEG_INFINITY, bits);
        }
        if !self.value.is_positive() || self.value.is_inf() {
            // It is NaN for a negative argument, and infinite at infinity.
            return Real::new(with_consts(|consts| self.value.ln(bits, ROUNDING, consts)), bits);
        }
        let mut n = self.exponent();
        let mut m = self.clone().scale(-n);
        if m.to_f64() < std::f64::consts::FRAC_1_SQRT_2 {
            n -= 1;
            m = m.scale(1);
        }
        if n == 0 {
            // The difference is exact.
            return ln_near_one(&(self - 1));
        }
        let work = bits + WORD;
        (ln_2(work) * n + ln_reduced(&m.into_bits(work))).into_bits(bits)
    }

    /// `ln(1 + self)`, without cancellation.
    pub fn ln_1p(&self) -> Real {
        let size = self.to_f64();
        if -0.3 < size && size < 0.4 {
            return ln_near_one(self);
        }
        // The sum is exact where it is small, and otherwise safe to round.
        let bits = self.bits();
        (self.with_bits(bits + WORD) + 1).ln().into_bits(bits)
    }
}

impl Real {
    /// `(cos 2πt, sin 2πt)` for `t = k/2^octaves`.
    pub fn turn(k: u64, octaves: u32, bits: usize) -> (Real, Real) {
        let angle = pi(bits) * 2 * Real::from_i64(k as i64, bits).scale(-i64::from(octaves));
        with_consts(|consts| {
            let cosine = angle.value.cos(bits, ROUNDING, consts);
            let sine = angle.value.sin(bits, ROUNDING, consts);
            (Real::new(cosine, bits), Real::new(sine, bits))
        })
    }
}

/// `e^(j/256)`.
fn exp_node(j: i64, bits: usize) -> Real {
    let x = Real::from_i64(j, bits).scale(-GRID);
    Real::new(with_consts(|consts| x.value.exp(bits, ROUNDING, consts)), bits)
}

/// `(e^z - 1)/z = Σ z^k/(k+1)!` for `|z| < 2^-8`.
fn exp_m1_quotient(z: &Real) -> Real {
    let bits = z.bits();
    let coefficients = INVERSE_FACTORIALS.with(|memo| memo.get(bits, || inverse_factorials(bits)));
    coefficients.iter().rev().fold(Real::zero(bits), |sum, coefficient| sum * z + coefficient)
}

/// `1/1!, 1/2!, …` up to the last that matters when the `k`-th is multiplied by `2^-8k`.
fn inverse_factorials(bits: usize) -> Vec<Real> {
    let mut coefficients = vec![Real::one(bits)];
    let mut last = Real::one(bits);
    for k in 1_i64.. {
        last = last / (k + 1);
        if last.exponent() - GRID * k < -(bits as i64) {
            break;
        }
        coefficients.push(last.clone());
    }
    coefficients
}

/// `ln(1+t)` for `t` in about `(-0.3, 0.42)`.
fn ln_near_one(t: &Real) -> Real {
    let bits = t.bits();
    let work = bits + WORD;
    let value = if t.exponent() <= -TINY {
        ln_1p_series(&t.with_bits(work))
    } else {
        // The logarithm is above 2^-22, and ln_reduced is right to an absolute 2^-work.
        ln_reduced(&(t.with_bits(work) + 1))
    };
    value.into_bits(bits)
}

/// `ln x` for `x` within a factor 1.5 of one: `ln x = y + ln(x e^-y)` with `y` the `f64` logarithm,
/// which leaves `x e^-y` within about `2^-52` of one.
fn ln_reduced(x: &Real) -> Real {
    let y = Real::from_f64(x.to_f64().ln(), x.bits());
    let rest = x * (-&y).exp() - 1;
    y + ln_1p_series(&rest)
}

/// `ln(1+t) = 2 artanh s = 2 Σ s^(2k+1)/(2k+1)` with `s = t/(2+t)`, for small `t`.
fn ln_1p_series(t: &Real) -> Real {
    if t.is_zero() {
        return t.clone();
    }
    let s = t / &(t + 2);
    let square = &s * &s;
    let mut power = s.clone();
    let mut sum = s;
    let end = sum.exponent() - t.bits() as i64;
    for k in 1_i64.. {
        power = power * &square;
        if power.exponent() < end {
            break;
        }
        sum = sum + &power / (2 * k + 1);
    }
    sum.scale(1)
}
