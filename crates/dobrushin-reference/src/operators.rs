//! Arithmetic operators on numbers, references and small integers.

use std::ops::{Add, Div, Mul, Neg, Sub};

use astro_float::BigFloat;

use crate::real::{ROUNDING, Real, WORD};

/// Implements one operator for every mixture of values and references, and for integers on the
/// right.
macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl $trait<&Real> for &Real {
            type Output = Real;
            fn $method(self, other: &Real) -> Real {
                let bits = self.bits().max(other.bits());
                Real::new(self.value.$method(&other.value, bits, ROUNDING), bits)
            }
        }
        impl $trait<Real> for &Real {
            type Output = Real;
            fn $method(self, other: Real) -> Real {
                self.$method(&other)
            }
        }
        impl $trait<&Real> for Real {
            type Output = Real;
            fn $method(self, other: &Real) -> Real {
                (&self).$method(other)
            }
        }
        impl $trait<Real> for Real {
            type Output = Real;
            fn $method(self, other: Real) -> Real {
                (&self).$method(&other)
            }
        }
        impl $trait<i64> for &Real {
            type Output = Real;
            fn $method(self, other: i64) -> Real {
                let other = BigFloat::from_i64(other, WORD);
                Real::new(self.value.$method(&other, self.bits(), ROUNDING), self.bits())
            }
        }
        impl $trait<i64> for Real {
            type Output = Real;
            fn $method(self, other: i64) -> Real {
                (&self).$method(other)
            }
        }
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl Neg for &Real {
    type Output = Real;
    fn neg(self) -> Real {
        -self.clone()
    }
}

impl Neg for Real {
    type Output = Real;
    fn neg(mut self) -> Real {
        self.value.inv_sign();
        self
    }
}

impl Real {
    /// The absolute value.
    pub fn abs(&self) -> Real {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// The square root, correctly rounded; NaN for a negative argument.
    pub fn sqrt(&self) -> Real {
        Real::new(self.value.sqrt(self.bits(), ROUNDING), self.bits())
    }

    /// The `n`-th power.
    pub fn powi(&self, n: i32) -> Real {
        let bits = self.bits() + WORD;
        let power = self.value.powi(n.unsigned_abs() as usize, bits, ROUNDING);
        let power = Real::new(power, bits);
        let power = if n < 0 { Real::one(bits) / power } else { power };
        power.into_bits(self.bits())
    }
}
