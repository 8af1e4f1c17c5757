//! The number type: construction, conversion and comparison.

use std::cmp::Ordering;
use std::fmt;

use astro_float::{BigFloat, Radix, RoundingMode, Sign};

use crate::memo::with_consts;

/// The size of a word of the mantissa; precisions are multiples of it.
pub(crate) const WORD: usize = 64;

/// All roundings are to nearest.
pub(crate) const ROUNDING: RoundingMode = RoundingMode::ToEven;

/// A binary floating-point number that carries its precision.
///
/// The precision is a multiple of 64 bits. A sum, difference, product or quotient has the larger of
/// the two operands' precisions and is correctly rounded; small exact numbers can therefore be
/// given few bits without harm. The exponent range is that of an `i32`.
#[derive(Clone)]
pub struct Real {
    /// The number. Its mantissa may be shorter than `bits` where the number is exact.
    pub(crate) value: BigFloat,
    /// The precision to which results are rounded.
    bits: usize,
}

impl Real {
    /// Wraps a number, declaring the precision of whatever will be computed from it.
    pub(crate) fn new(value: BigFloat, bits: usize) -> Self {
        Self { value, bits }
    }

    /// `x` exactly, whatever `bits` is; `bits` is rounded up to a multiple of 64.
    pub fn from_f64(x: f64, bits: usize) -> Self {
        let bits = round_up(bits);
        if x.is_subnormal() {
            // The conversion underneath halves subnormal numbers; this one is exact.
            let shift = 64;
            let scaled = x * power_of_two(shift);
            return Self::new(BigFloat::from_f64(scaled, WORD), bits).scale(-i64::from(shift));
        }
        Self::new(BigFloat::from_f64(x, WORD), bits)
    }

    /// `n` exactly, whatever `bits` is; `bits` is rounded up to a multiple of 64.
    pub fn from_i64(n: i64, bits: usize) -> Self {
        Self::new(BigFloat::from_i64(n, WORD), round_up(bits))
    }

    /// The number nearest to a decimal string such as `"-1.25e-2184"`, or `None` when `decimal` is
    /// not a finite number.
    pub fn parse(decimal: &str, bits: usize) -> Option<Self> {
        let bits = round_up(bits);
        let value = with_consts(|consts| BigFloat::parse(decimal, Radix::Dec, bits, ROUNDING, consts));
        (!value.is_nan() && !value.is_inf()).then(|| Self::new(value, bits))
    }

    /// Zero.
    pub(crate) fn zero(bits: usize) -> Self {
        Self::from_i64(0, bits)
    }

    /// One.
    pub(crate) fn one(bits: usize) -> Self {
        Self::from_i64(1, bits)
    }

    /// The precision in bits.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The same number at another precision: exact when `bits` is not smaller, rounded otherwise.
    pub fn with_bits(&self, bits: usize) -> Self {
        self.clone().into_bits(bits)
    }

    /// Like [`Real::with_bits`], by value.
    pub(crate) fn into_bits(mut self, bits: usize) -> Self {
        let bits = round_up(bits);
        if bits < self.bits && self.value.precision().is_some_and(|held| held > bits) {
            // Shortening a mantissa allocates nothing, and rounding can fail only by overflow of the exponent, in which
            // case the number is not changed.
            let _ = self.value.set_precision(bits, ROUNDING);
        }
        self.bits = bits;
        self
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.value.is_zero()
    }

    /// Whether the number is less than zero.
    pub fn is_negative(&self) -> bool {
        self.value.is_negative() && !self.value.is_zero()
    }

    /// The integer `e` with `2^(e-1) <= |self| < 2^e`; far below every exponent for zero, and far
    /// above for infinities.
    pub fn exponent(&self) -> i64 {
        match self.value.exponent() {
            _ if self.is_zero() => 2 * i64::from(i32::MIN),
            Some(e) => i64::from(e),
            None => 2 * i64::from(i32::MAX),
        }
    }

    /// `self · 2^n`, zero or infinite where the exponent leaves its range.
    pub fn scale(mut self, n: i64) -> Self {
        if self.is_zero() || self.value.is_inf() || self.value.is_nan() {
            return self;
        }
        match i32::try_from(self.exponent() + n) {
            Ok(e) => self.value.set_exponent(e),
            Err(_) if n < 0 => self = Self::zero(self.bits),
            Err(_) => self.value = self.infinity().value,
        }
        self
    }

    /// The infinity of the same sign and precision.
    fn infinity(&self) -> Self {
        let end = if self.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY };
        Self::from_f64(end, self.bits)
    }

    /// The integer nearest to `|self| · 2^fraction`, as words from the lowest to the highest; `None`
    /// if it does not fit into `N` words.
    pub fn to_fixed<const N: usize>(&self, fraction: i64) -> Option<[u64; N]> {
        let mut words = [0; N];
        if self.is_zero() {
            return Some(words);
        }
        let (mantissa, _, _, e, _) = self.value.as_raw_parts()?;
        // The bit of weight 2^-fraction is that many places above the lowest of the mantissa.
        let lowest = (WORD * mantissa.len()) as i64 - i64::from(e) - fraction;
        let bit = |place: i64| {
            let word = usize::try_from(place).ok().and_then(|place| mantissa.get(place / WORD));
            word.is_some_and(|word| word >> place.rem_euclid(WORD as i64) & 1 == 1)
        };
        if i64::from(e) + fraction > (WORD * N) as i64 {
            return None;
        }
        for place in 0..WORD * N {
            words[place / WORD] |= u64::from(bit(lowest + place as i64)) << (place % WORD);
        }
        let mut carry = bit(lowest - 1);
        for word in &mut words {
            (*word, carry) = word.overflowing_add(carry.into());
        }
        (!carry).then_some(words)
    }

    /// The nearest `f64`, ties to even, with gradual underflow.
    pub fn to_f64(&self) -> f64 {
        let Some((words, _, sign, e, _)) = self.value.as_raw_parts() else {
            return match (self.value.is_inf_pos(), self.value.is_inf_neg()) {
                (true, _) => f64::INFINITY,
                (_, true) => f64::NEG_INFINITY,
                _ => f64::NAN,
            };
        };
        let magnitude = match words.split_last() {
            Some((&top, rest)) => nearest_f64(top, rest.iter().any(|&word| word != 0), e),
            None => 0.0,
        };
        if sign == Sign::Neg { -magnitude } else { magnitude }
    }
}

/// The multiple of the word size to which a precision is rounded up.
pub(crate) fn round_up(bits: usize) -> usize {
    bits.div_ceil(WORD).max(1) * WORD
}

/// The `f64` nearest to `(top + rest) · 2^(e - 64)`, where `0 <= rest < 1`, and `sticky` says
/// whether `rest` is positive. The leading bit of `top` is set unless the number is zero or tinier
/// than every `f64`.
fn nearest_f64(top: u64, sticky: bool, e: i32) -> f64 {
    if top == 0 || e < -1074 {
        return 0.0;
    }
    if e > 1024 {
        return f64::INFINITY;
    }
    // A number below 2^-1021 is a multiple of 2^-1074 and has fewer than 53 bits; it has none at all in [2^-1075,
    // 2^-1074).
    let kept = (e + 1074).min(53) as u32;
    let (head, tail) = if kept == 0 { (0, top) } else { (top >> (64 - kept), top << kept) };
    let half = 1 << 63;
    let up = tail > half || (tail == half && (sticky || head % 2 == 1));
    let head = (head + u64::from(up)) as f64;
    head * power_of_two(e - kept as i32)
}

/// `2^n` for `-1074 <= n <= 1023`.
fn power_of_two(n: i32) -> f64 {
    if n >= -1022 { f64::from_bits(((n + 1023) as u64) << 52) } else { f64::from_bits(1 << (n + 1074)) }
}

/// Whether `lower <= value <= upper`, decided exactly. The ends may be infinite.
pub fn is_inside(lower: f64, upper: f64, value: &Real) -> bool {
    Real::from_f64(lower, WORD) <= *value && *value <= Real::from_f64(upper, WORD)
}

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.is_zero() && other.is_zero() {
            return Some(Ordering::Equal);
        }
        self.value.cmp(&other.value).map(|sign| sign.cmp(&0))
    }
}

impl fmt::Display for Real {
    /// All the decimal digits that the precision warrants, in scientific notation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits =
            with_consts(|consts| self.value.format(Radix::Dec, ROUNDING, consts)).map_err(|_| fmt::Error)?;
        f.write_str(&digits)
    }
}

impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
