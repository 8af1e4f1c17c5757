//! The regularised incomplete beta function.
//!
//! With `y = 1 - x`,
//!
//! `I_x(a,b) = x^a y^b/(a B(a,b)) · Σ_n x^n (a+b)(a+b+1)⋯(a+b+n-1)/((a+1)⋯(a+n))`
//!
//! has only positive terms, but needs many of them when `x` is close to one. Then the same series gives `I_y(b,a) = 1 -
//! I_x(a,b)` quickly, but the cancellation costs extra bits. The series with fewer terms is used, to within a factor of
//! two.

use crate::PRECISION;
use crate::gamma::ln_gamma_at;
use crate::real::{Real, WORD, round_up};

/// The precision without cancellation. The logarithm of the factor before the sum consists of numbers below about
/// `2^25`.
const WORK: usize = PRECISION + WORD;

/// A cancellation gets at most this many bits.
const MOST_EXTRA: i64 = 1 << 14;

/// Terms smaller than the largest by this many bits, and the terms after them, do not matter.
const NEGLIGIBLE: usize = PRECISION + 16;

/// This many terms are counted before the other series is tried.
const FIRST_LIMIT: usize = 256;

/// The regularised incomplete beta function `I_x(a, b)`.
///
/// # Panics
///
/// When `a` or `b` is not positive and finite, or `x` is not in `[0, 1]`.
pub fn regularised_beta(a: f64, b: f64, x: f64) -> Real {
    check(a, b, x);
    if x == 0.0 || x == 1.0 {
        return Real::from_f64(x, PRECISION);
    }
    value(&Arguments::new(a, b, x))
}

/// The complement `1 - I_x(a, b) = I_{1-x}(b, a)`.
///
/// # Panics
///
/// When `a` or `b` is not positive and finite, or `x` is not in `[0, 1]`.
pub fn regularised_beta_complement(a: f64, b: f64, x: f64) -> Real {
    check(a, b, x);
    if x == 0.0 || x == 1.0 {
        return Real::from_f64(1.0 - x, PRECISION);
    }
    value(&Arguments::new(a, b, x).mirrored())
}

fn check(a: f64, b: f64, x: f64) {
    assert!(a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite(), "a and b must be positive");
    assert!((0.0..=1.0).contains(&x), "x must be in [0, 1]");
}

/// `a`, `b` and the pair `x`, `1 - x`, one of which is an `f64`.
struct Arguments {
    a: f64,
    b: f64,
    exact: f64,
    /// Whether `1 - x` is the exact one.
    is_mirrored: bool,
}

impl Arguments {
    fn new(a: f64, b: f64, x: f64) -> Self {
        Self { a, b, exact: x, is_mirrored: false }
    }

    /// The arguments that give the complement.
    fn mirrored(&self) -> Self {
        Self { a: self.b, b: self.a, exact: self.exact, is_mirrored: !self.is_mirrored }
    }

    /// `x`, to a small relative error.
    fn x(&self, bits: usize) -> Real {
        if self.is_mirrored {
            Real::one(bits) - Real::from_f64(self.exact, WORD)
        } else {
            Real::from_f64(self.exact, bits)
        }
    }

    /// `ln x`, to a small relative error.
    fn ln_x(&self, bits: usize) -> Real {
        let exact = Real::from_f64(self.exact, bits);
        if self.is_mirrored { (-exact).ln_1p() } else { exact.ln() }
    }

    /// `x^a (1-x)^b/(a B(a,b))`.
    fn factor(&self, bits: usize) -> Real {
        let a = Real::from_f64(self.a, bits);
        let b = Real::from_f64(self.b, bits);
        let powers = &a * self.ln_x(bits) + &b * self.mirrored().ln_x(bits);
        let gammas = ln_gamma_at(&(&a + &b)) - ln_gamma_at(&a) - ln_gamma_at(&b);
        (powers + gammas).exp() / a
    }

    /// The number of terms of the series that matter if those below `2^-bits` do not, or `None` if it is more than
    /// `limit`.
    fn count_terms(&self, bits: usize, limit: usize) -> Option<usize> {
        let x = self.x(WORD).to_f64();
        let one_minus_x = self.mirrored().x(WORD).to_f64();
        let mut log2 = 0.0_f64;
        let mut largest = 0.0_f64;
        (0..=limit).find(|&n| {
            let place = n as f64;
            let growth = (self.a + self.b + place) / (self.a + 1.0 + place);
            let ratio = growth * x;
            // The ratios tend monotonically to x, so the rest is at most a geometric series.
            let gap = if growth > 1.0 { 1.0 - ratio } else { one_minus_x };
            let is_end = gap > 0.0 && log2 - gap.log2() < largest - bits as f64;
            log2 += ratio.log2();
            largest = largest.max(log2);
            is_end
        })
    }

    /// `I_x(a,b)` by `count` terms of the series, summed from the last as a fraction `N/D`:
    /// `1 + p/q · N/D = (qD + pN)/(qD)` with `p = (a+b+n)x`, `q = a+1+n`.
    fn series(&self, count: usize, factor: &Real) -> Real {
        let bits = factor.bits();
        let x = self.x(bits);
        let a = Real::from_f64(self.a, bits);
        let both = &a + Real::from_f64(self.b, WORD);
        let mut numerator = Real::one(bits);
        let mut denominator = Real::one(bits);
        for n in (0..count as i64).rev() {
            denominator = denominator * (&a + (n + 1));
            numerator = &denominator + (&both + n) * &x * numerator;
        }
        factor * numerator / denominator
    }
}

/// `I_x(a,b)` by the cheaper series.
fn value(arguments: &Arguments) -> Real {
    let mirrored = arguments.mirrored();
    let factor = arguments.factor(WORK);
    // To the right of the mean the value is not small, unless b is. To the left it is at least
    // the first term of its series.
    let mean = arguments.a / (arguments.a + arguments.b);
    let mut extra = if arguments.x(WORD).to_f64() > mean {
        WORD as i64
    } else {
        (4 - factor.exponent()).max(WORD as i64)
    };
    let mut limit = FIRST_LIMIT;
    loop {
        if let Some(count) = arguments.count_terms(NEGLIGIBLE, limit) {
            return arguments.series(count, &factor).into_bits(PRECISION);
        }
        if extra <= MOST_EXTRA
            && let Some(count) = mirrored.count_terms(NEGLIGIBLE + extra as usize, limit)
        {
            let bits = round_up(WORK + extra as usize);
            let value = Real::one(WORD) - mirrored.series(count, &mirrored.factor(bits));
            if value.exponent() > -extra {
                return value.into_bits(PRECISION);
            }
            // There were fewer bits than the cancellation took.
            extra *= 2;
        } else {
            limit *= 2;
        }
    }
}
