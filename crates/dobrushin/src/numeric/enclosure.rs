//! An interval that is certain to contain a number.

use super::UNIT_ROUNDOFF;
use super::elementary;
use super::rounding::{add_down, add_up, div_down, div_up, mul_down, mul_up, sqrt_down, sqrt_up};
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The true value lies in `[lower, upper]`, where ±∞ are values too (a
/// divergence can be infinite).
///
/// # Guarantee
/// For every operation `f` here and every choice of values inside the operands at which `f` is defined, the result
/// contains `f` of those values. Arithmetic rounds outward by at most one unit in the last place per operation, and not
/// at all where the result is exact; `exp`, `ln`, `exp_m1` and `ln_1p` rest on the correctly rounded functions of
/// [`elementary`] and add one unit on each side. A result that is undefined for *every* choice (the logarithm of a
/// negative number), or for some choice in a way that leaves no bound (∞ − ∞, 0·∞), is [`Enclosure::ENTIRE`], which
/// claims nothing and is therefore true.
///
/// ```
/// use dobrushin::Enclosure;
///
/// let third = Enclosure::from(1.0) / Enclosure::from(3.0);
/// assert!(third.lower() < third.upper());
/// assert_eq!(Enclosure::from(1.0) + Enclosure::from(1.0), Enclosure::from(2.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    lower: f64,
    upper: f64,
}

/// The smallest positive `f64`.
pub(super) const SMALLEST: f64 = f64::from_bits(1);

/// If a value is at least this large, no product before it was below the normal numbers, unless the later factors were
/// above 2⁵³.
pub(super) const LEAST_WITHOUT_UNDERFLOW: f64 = f64::MIN_POSITIVE * (1u64 << 53) as f64;

impl Enclosure {
    /// The number 0.
    pub const ZERO: Self = Self { lower: 0.0, upper: 0.0 };
    /// The number 1.
    pub const ONE: Self = Self { lower: 1.0, upper: 1.0 };
    /// Every probability.
    pub const UNIT: Self = Self { lower: 0.0, upper: 1.0 };
    /// No information.
    pub const ENTIRE: Self = Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
    /// The value +∞.
    pub const INFINITE: Self = Self { lower: f64::INFINITY, upper: f64::INFINITY };

    /// The values from `lower` to `upper`; `None` if an end is NaN or the ends are in the wrong order.
    pub fn new(lower: f64, upper: f64) -> Option<Self> {
        (lower <= upper).then_some(Self { lower, upper })
    }

    /// [`Enclosure::new`] for ends that are in order by construction; if they are not, or if one is NaN, nothing is
    /// claimed.
    ///
    /// # Panics
    /// In debug builds, if the ends are not in order.
    pub fn between(lower: f64, upper: f64) -> Self {
        debug_assert!(lower <= upper, "{lower} > {upper}");
        Self::new(lower, upper).unwrap_or(Self::ENTIRE)
    }

    /// The number ≥ 0 that `value` approximates with the given small error, relative to either of them, where an
    /// overflow or up to four roundings below the normal numbers may have caused a larger error.
    ///
    /// # Panics
    /// In debug builds, if the error is 1e-6 or more.
    #[inline]
    pub fn around(value: f64, relative_error: f64) -> Self {
        debug_assert!(relative_error < 1e-6);
        if value > LEAST_WITHOUT_UNDERFLOW && value < f64::MAX / 4.0 {
            // e/(1 − e) ≤ e + 2e², and two units more: one for the rounding of each
            // end, and one for those of the margin.
            let relative_margin = relative_error + 2.0 * relative_error * relative_error;
            let margin = value * (relative_margin + 2.0 * UNIT_ROUNDOFF);
            return Self { lower: value - margin, upper: value + margin };
        }
        Self::around_extreme(value, relative_error)
    }

    #[cold]
    fn around_extreme(value: f64, relative_error: f64) -> Self {
        let lost = if value < LEAST_WITHOUT_UNDERFLOW { 4.0 * SMALLEST } else { 0.0 };
        let lower = mul_down(value.min(f64::MAX), add_down(1.0, -relative_error));
        Self::between(
            add_down(lower, -lost).max(0.0),
            add_up(mul_up(value, add_up(1.0, relative_error)), lost),
        )
    }

    /// The largest number certainly not above the true value.
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// The smallest number certainly not below the true value.
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// `upper − lower`, rounded up; 0 for an infinite value.
    pub fn width(self) -> f64 {
        if self.lower == self.upper { 0.0 } else { add_up(self.upper, -self.lower) }
    }

    /// The width over the smaller magnitude in the interval: 0 if exact, ∞ if the interval contains 0.
    pub fn relative_width(self) -> f64 {
        let smallest = if self.lower > 0.0 { self.lower } else { (-self.upper).max(0.0) };
        if self.width() == 0.0 { 0.0 } else { self.width() / smallest }
    }

    /// A number inside, near the middle.
    pub fn midpoint(self) -> f64 {
        if self.lower == self.upper {
            self.lower
        } else {
            self.lower.max(f64::MIN).midpoint(self.upper.min(f64::MAX))
        }
    }

    /// Whether `value` lies inside.
    pub fn contains(self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// The intersection; `None` if it is empty, which cannot happen for two enclosures of one number.
    pub fn intersect(self, other: Self) -> Option<Self> {
        Self::new(self.lower.max(other.lower), self.upper.min(other.upper))
    }

    /// The smallest enclosure of both.
    pub fn hull(self, other: Self) -> Self {
        Self { lower: self.lower.min(other.lower), upper: self.upper.max(other.upper) }
    }

    /// The smaller of two numbers.
    pub fn min(self, other: Self) -> Self {
        Self { lower: self.lower.min(other.lower), upper: self.upper.min(other.upper) }
    }

    /// The larger of two numbers.
    pub fn max(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }

    /// `max(self, 0)`.
    pub fn positive_part(self) -> Self {
        self.max(Self::ZERO)
    }

    /// The magnitude.
    pub fn abs(self) -> Self {
        self.max(-self).positive_part()
    }

    /// A monotone function of the value, in either direction, given its
    /// enclosure at points.
    pub fn map_monotone(self, f: impl Fn(f64) -> Self) -> Self {
        if self.lower == self.upper {
            return f(self.lower);
        }
        f(self.lower).hull(f(self.upper))
    }

    /// e^x.
    pub fn exp(self) -> Self {
        self.map_monotone(|x| match x {
            0.0 => Self::ONE,
            f64::NEG_INFINITY => Self::ZERO,
            f64::INFINITY => Self::INFINITE,
            _ => {
                let e = elementary::exp(x);
                Self::between(e.next_down().max(0.0), e.next_up())
            }
        })
    }

    /// e^x − 1, with relative accuracy near 0.
    pub fn exp_m1(self) -> Self {
        self.map_monotone(|x| match x {
            0.0 => Self::ZERO,
            f64::NEG_INFINITY => -Self::ONE,
            f64::INFINITY => Self::INFINITE,
            _ => {
                let e = elementary::exp_m1(x);
                Self::between(e.next_down().max(-1.0), e.next_up())
            }
        })
    }

    /// The natural logarithm, of the part of the interval in `[0, ∞]`.
    pub fn ln(self) -> Self {
        self.on_domain(0.0, |x| match x {
            1.0 => Self::ZERO,
            0.0 => -Self::INFINITE,
            f64::INFINITY => Self::INFINITE,
            _ => {
                let l = elementary::ln(x);
                Self::between(l.next_down(), l.next_up())
            }
        })
    }

    /// ln(1 + x), of the part of the interval in `[−1, ∞]`, with relative
    /// accuracy near 0.
    pub fn ln_1p(self) -> Self {
        self.on_domain(-1.0, |x| match x {
            0.0 => Self::ZERO,
            -1.0 => -Self::INFINITE,
            f64::INFINITY => Self::INFINITE,
            _ => {
                let l = elementary::ln_1p(x);
                Self::between(l.next_down(), l.next_up())
            }
        })
    }

    /// √x, of the part of the interval in `[0, ∞]`.
    pub fn sqrt(self) -> Self {
        self.on_domain(0.0, |x| Self::between(sqrt_down(x), sqrt_up(x)))
    }

    /// x² (not the product of two different numbers from the interval).
    pub fn square(self) -> Self {
        self.powi(2)
    }

    /// x^n; x⁰ = 1 even at 0 and ∞.
    pub fn powi(self, n: i64) -> Self {
        if n < 0 {
            return Self::ONE / self.unsigned_power(n.unsigned_abs());
        }
        self.unsigned_power(n.unsigned_abs())
    }

    /// x^y for `x ≥ 0`, as e^(y ln x); 0⁰ = 1 if the exponent is exactly 0.
    pub fn powf(self, exponent: Self) -> Self {
        if exponent == Self::ZERO || self == Self::ONE {
            return Self::ONE;
        }
        (exponent * self.ln()).exp()
    }

    fn unsigned_power(self, n: u64) -> Self {
        if n == 0 {
            return Self::ONE;
        }
        let magnitude = |x: f64| Self { lower: power(x, n, mul_down), upper: power(x, n, mul_up) };
        if n.is_multiple_of(2) {
            self.abs().map_monotone(magnitude)
        } else {
            self.map_monotone(|x| if x < 0.0 { -magnitude(-x) } else { magnitude(x) })
        }
    }

    /// An increasing function whose domain starts at `start`, on the part of
    /// the interval inside it.
    fn on_domain(self, start: f64, f: impl Fn(f64) -> Self) -> Self {
        if self.upper < start {
            return Self::ENTIRE;
        }
        Self { lower: self.lower.max(start), upper: self.upper }.map_monotone(f)
    }
}

/// `x^n` for `x ≥ 0`, `n ≥ 1` by repeated squaring with one directed product.
fn power(x: f64, n: u64, product: fn(f64, f64) -> f64) -> f64 {
    let (mut square, mut result, mut n) = (x, None, n);
    loop {
        if n % 2 == 1 {
            result = Some(result.map_or(square, |r| product(r, square)));
        }
        n /= 2;
        match result {
            Some(result) if n == 0 => return result,
            _ => square = product(square, square),
        }
    }
}

impl From<f64> for Enclosure {
    /// Exactly `value`; for NaN, [`Enclosure::ENTIRE`].
    fn from(value: f64) -> Self {
        Self::new(value, value).unwrap_or(Self::ENTIRE)
    }
}

impl From<u64> for Enclosure {
    /// A count, which may have more digits than an `f64`.
    fn from(count: u64) -> Self {
        let rounded = count as f64;
        if count <= 1 << 53 { rounded.into() } else { Self::between(rounded.next_down(), rounded.next_up()) }
    }
}

impl fmt::Display for Enclosure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:e}, {:e}]", self.lower, self.upper)
    }
}

impl Neg for Enclosure {
    type Output = Self;
    fn neg(self) -> Self {
        Self { lower: -self.upper, upper: -self.lower }
    }
}

impl Add for Enclosure {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let opposite = |a: f64, b: f64| a == f64::INFINITY && b == f64::NEG_INFINITY;
        if opposite(self.upper, other.lower) || opposite(other.upper, self.lower) {
            return Self::ENTIRE;
        }
        Self { lower: add_down(self.lower, other.lower), upper: add_up(self.upper, other.upper) }
    }
}

impl Sub for Enclosure {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Enclosure {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let unbounded = |x: Self| x.lower.is_infinite() || x.upper.is_infinite();
        if self.contains(0.0) && unbounded(other) || other.contains(0.0) && unbounded(self) {
            return Self::ENTIRE;
        }
        if self.lower >= 0.0 && other.lower >= 0.0 {
            return Self { lower: mul_down(self.lower, other.lower), upper: mul_up(self.upper, other.upper) };
        }
        let ends = [
            (self.lower, other.lower),
            (self.lower, other.upper),
            (self.upper, other.lower),
            (self.upper, other.upper),
        ];
        extremes(ends, mul_down, mul_up)
    }
}

impl Div for Enclosure {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let unbounded = |x: Self| x.lower.is_infinite() || x.upper.is_infinite();
        if other.upper < 0.0 {
            return -self / -other;
        }
        if other.lower < 0.0 || other.upper == 0.0 || unbounded(self) && unbounded(other) {
            return Self::ENTIRE;
        }
        if other.lower == 0.0 {
            // Divisors in (0, upper]: the quotient may be arbitrarily large.
            return if self.lower > 0.0 {
                Self { lower: div_down(self.lower, other.upper), upper: f64::INFINITY }
            } else if self.upper < 0.0 {
                Self { lower: f64::NEG_INFINITY, upper: div_up(self.upper, other.upper) }
            } else {
                Self::ENTIRE
            };
        }
        let ends = [
            (self.lower, other.lower),
            (self.lower, other.upper),
            (self.upper, other.lower),
            (self.upper, other.upper),
        ];
        extremes(ends, div_down, div_up)
    }
}

/// The range of a function that is monotone in each argument, from its
/// directed values at the corners.
fn extremes(corners: [(f64, f64); 4], down: fn(f64, f64) -> f64, up: fn(f64, f64) -> f64) -> Enclosure {
    let fold = |start: f64, op: fn(f64, f64) -> f64, pick: fn(f64, f64) -> f64| {
        corners.iter().fold(start, |best, &(a, b)| pick(best, op(a, b)))
    };
    Enclosure::between(fold(f64::INFINITY, down, f64::min), fold(f64::NEG_INFINITY, up, f64::max))
}
