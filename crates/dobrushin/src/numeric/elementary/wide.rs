//! Fixed-point numbers of N words, for the few arguments at which 128 bits are too few.

use super::parts;
use std::ops::{Add, Mul, Neg, Shl, Shr, Sub};

/// The places before the binary point, and the sign.
const BEFORE: u32 = 12;

/// A number in [−2¹¹, 2¹¹), in two's complement, words from the lowest to the highest.
///
/// A unit is the last place, 2^(12 − 64N). Sums are exact, products and right shifts err by less than a unit, and all
/// are modulo 2¹².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wide<const N: usize>(pub [u64; N]);

impl<const N: usize> Wide<N> {
    pub const ZERO: Self = Self([0; N]);
    pub const ONE: Self = {
        let mut one = [0; N];
        one[N - 1] = 1 << (64 - BEFORE);
        Self(one)
    };
    /// 1/n, rounded down.
    pub const INVERSES: [Self; 17] = {
        let mut inverses = [Self::ONE; 17];
        let mut n = 2;
        while n < inverses.len() {
            inverses[n] = Self::ONE.divided_by(n as u64);
            n += 1;
        }
        inverses
    };

    /// The places after the binary point.
    pub const FRACTION: u32 = 64 * N as u32 - BEFORE;

    /// This many units.
    pub fn units(count: u64) -> Self {
        let mut units = Self::ZERO;
        units.0[0] = count;
        units
    }

    /// ±m·2^(e − 52), for m < 2⁵³ and e < 11, truncated below a unit.
    pub fn from_parts((negative, m, e): (bool, u64, i64)) -> Self {
        let shift = i64::from(Self::FRACTION) - 52 + e;
        let size = match u32::try_from(shift) {
            Ok(left) => Self::units(m) << left,
            Err(_) => Self::units(m) >> shift.unsigned_abs().min(63) as u32,
        };
        if negative { -size } else { size }
    }

    /// The fraction 0.w₁w₂…, given its words from the lowest to the highest, at least N of them, truncated.
    pub fn from_fraction(words: &[u64]) -> Self {
        let mut fraction = Self::ZERO;
        fraction.0.copy_from_slice(&words[words.len() - N..]);
        let mut shifted = fraction >> BEFORE;
        // The shift treated the leading bit as a sign.
        shifted.0[N - 1] &= u64::MAX >> BEFORE;
        shifted
    }

    /// Whether the number is below 0.
    pub fn is_negative(self) -> bool {
        self.0[N - 1] >> 63 == 1
    }

    /// The magnitude.
    pub fn abs(self) -> Self {
        if self.is_negative() { -self } else { self }
    }

    /// The product with an integer.
    pub fn times(self, factor: i64) -> Self {
        let mut carry = 0;
        let product = Self(self.0.map(|word| {
            let low;
            (low, carry) = word.carrying_mul(factor.unsigned_abs(), carry);
            low
        }));
        if factor < 0 { -product } else { product }
    }

    /// The quotient by a small number, for numbers ≥ 0, rounded down.
    pub const fn divided_by(self, divisor: u64) -> Self {
        let mut quotient = [0; N];
        let (mut i, mut rest) = (N, 0);
        while i > 0 {
            i -= 1;
            let dividend = (rest as u128) << 64 | self.0[i] as u128;
            quotient[i] = (dividend / divisor as u128) as u64;
            rest = (dividend % divisor as u128) as u64;
        }
        Self(quotient)
    }

    /// A positive number as value·2^octave, with a value in [1, 2).
    pub fn normalised(self) -> (Self, i64) {
        let octave = self.leading().1;
        let distance = octave.unsigned_abs() as u32;
        (if octave < 0 { self << distance } else { self >> distance }, octave)
    }

    /// 1/value for a value in [1, 2), within 4 units: by Newton's steps y ← y + y(1 − value·y), each of which doubles
    /// the number of digits, starting with the 50 of an `f64`.
    pub fn reciprocal(self) -> Self {
        let leading = (self.leading().0 >> 63) as f64 / (1u64 << 63) as f64;
        let guess = Self::from(1.0 / leading);
        (0..N.ilog2() + 1).fold(guess, |y, _| y + y * (Self::ONE - self * y))
    }

    /// The leading 127 bits of a positive number as an integer in [2¹²⁶, 2¹²⁷), odd if there are others below them, and
    /// the exponent of the first.
    pub fn leading(self) -> (u128, i64) {
        let position = self.0.iter().rposition(|&word| word != 0).unwrap_or(0);
        let zeros = 64 * (N - 1 - position) as u32 + self.0[position].leading_zeros();
        let shifted = (self << zeros).0;
        let significand = u128::from(shifted[N - 1]) << 64 | u128::from(shifted[N - 2]);
        let others = significand & 1 == 1 || shifted[..N - 2].iter().any(|&word| word != 0);
        (significand >> 1 | u128::from(others), i64::from(BEFORE) - 1 - i64::from(zeros))
    }
}

impl<const N: usize> From<f64> for Wide<N> {
    /// x, |x| < 2¹¹, truncated below a unit.
    fn from(x: f64) -> Self {
        Self::from_parts(parts(x))
    }
}

impl<const N: usize> Add for Wide<N> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let mut sum = Self::ZERO;
        let mut carry = false;
        for i in 0..N {
            (sum.0[i], carry) = self.0[i].carrying_add(other.0[i], carry);
        }
        sum
    }
}

impl<const N: usize> Neg for Wide<N> {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.map(|word| !word)) + Self::units(1)
    }
}

impl<const N: usize> Sub for Wide<N> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<const N: usize> Shl<u32> for Wide<N> {
    type Output = Self;
    fn shl(self, places: u32) -> Self {
        let (words, bits) = ((places / 64) as usize, places % 64);
        let word = |i: usize| if i >= words { self.0[i - words] } else { 0 };
        Self(std::array::from_fn(|i| {
            let below = if i > 0 && bits > 0 { word(i - 1) >> (64 - bits) } else { 0 };
            word(i) << bits | below
        }))
    }
}

impl<const N: usize> Shr<u32> for Wide<N> {
    type Output = Self;
    /// Rounded down.
    fn shr(self, places: u32) -> Self {
        let (words, bits) = ((places / 64) as usize, places % 64);
        let sign = if self.is_negative() { u64::MAX } else { 0 };
        let word = |i: usize| self.0.get(i + words).copied().unwrap_or(sign);
        Self(std::array::from_fn(|i| {
            let above = if bits > 0 { word(i + 1) << (64 - bits) } else { 0 };
            word(i) >> bits | above
        }))
    }
}

impl<const N: usize> Mul for Wide<N> {
    type Output = Self;
    /// Rounded towards 0.
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.abs().0, other.abs().0);
        // The lower and the upper half of the product.
        let (mut low, mut high) = ([0; N], [0; N]);
        for i in 0..N {
            let mut carry = 0;
            for j in 0..N {
                let place = if i + j < N { &mut low[i + j] } else { &mut high[i + j - N] };
                (*place, carry) = a[i].carrying_mul_add(b[j], *place, carry);
            }
            high[i] = carry;
        }
        let mut product = Self(high) << BEFORE;
        product.0[0] |= low[N - 1] >> (64 - BEFORE);
        if self.is_negative() == other.is_negative() { product } else { -product }
    }
}
