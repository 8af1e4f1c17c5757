//! θ_ε(r) = E_{e^ε}(N(r, 1)‖N(0, 1)): the cost in δ of a distance of r noise standard deviations, at every ε.
//!
//! With a = ε/r − r/2 and b = a + r,
//!
//! ```text
//! θ_ε(r)     = Q(a) − e^ε Q(b)  = φ(a)·[R(a) − R(b)]
//! 1 − θ_ε(r) = Φ(a) + e^ε Q(b)  = φ(a)·[R(−a) + R(b)]
//! ∂θ/∂r = φ(a) > 0,   ∂θ/∂ε = −e^ε Q(b) = −φ(a)·R(b) < 0
//! ```
//!
//! since e^ε φ(b) = φ(a); R is the Mills ratio.
//!
//! # Accuracy
//! For every ε ≥ 0 and r ≥ 0 the result encloses the true value. For (ε, r) in [0, 700] × [1e-8, 60] the tests compare
//! 100,000 random and adversarial points and the golden values with arbitrary precision, and assert that the relative
//! width is below 3e-14 for ln θ, even where θ itself underflows or is within 1e-190 of 1; below 4e-13 for θ down to
//! 1e-306; below 3e-14 for 1 − θ; below 6e-15 for the derivatives down to 1e-276; below 1e-12 for the inverses, except
//! that an ε below r/100 is known to within 1e-12·r.
//!
//! # Implementation
//! The first form cancels when a and b are close: at ε = 3e-16, r = 1e-16 it is negative even with an accurate Q, and
//! with Q = 1 − Φ it is 0 from 1e-17 on, as at ε = 5, r = 1/2, where θ = 4.4e-24. The bracket of the second is computed
//! without cancellation (see the source of `numeric/mills.rs`), and a, whose rounding error e^(−a²/2) would magnify
//! a-fold, is stored in two parts. For a < −1, where θ > 0.68, the complement is the sum in the third form.

use super::enclosure::SMALLEST;
use super::mills::{Approximate, LEAST, MILLS_ERROR, mills, mills_drop};
use super::normal::{
    self, INVERSE_SQRT_2PI, NEAR_UNDERFLOW, half_square, half_square_parts, ln_sqrt_2pi, ln_weighted, weight,
};
use super::roots::{newton_hint, root_of_decreasing};
use super::rounding::{two_product, two_sum};
use super::{Enclosure, UNIT_ROUNDOFF};
use crate::{Delta, Epsilon, NonNegative, Positive};

/// θ_ε(r).
///
/// ```
/// use dobrushin::{Epsilon, NonNegative, numeric::theta::theta};
/// let delta = theta(Epsilon::new(7.0)?, NonNegative::new(0.9)?);
/// assert!(delta.lower() > 1.1e-14 && delta.upper() < 1.3e-14);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn theta(epsilon: Epsilon, r: NonNegative) -> Enclosure {
    match Position::of(epsilon, r) {
        Position::Certain(theta) => theta,
        Position::At(point) => point.theta(),
    }
}

/// ln θ_ε(r), even where θ underflows.
///
/// ```
/// use dobrushin::{Epsilon, NonNegative, numeric::theta};
///
/// // θ_100(1) underflows; its logarithm is below −a²/2 with a = 100 − 1/2.
/// let (epsilon, r) = (Epsilon::new(100.0)?, NonNegative::new(1.0)?);
/// assert!(theta::theta(epsilon, r).upper() < 1e-300);
/// assert!(theta::ln_theta(epsilon, r).upper() < -99.5_f64.powi(2) / 2.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn ln_theta(epsilon: Epsilon, r: NonNegative) -> Enclosure {
    match Position::of(epsilon, r) {
        Position::Certain(theta) => theta.ln(),
        Position::At(point) => point.ln_theta(),
    }
}

/// 1 − θ_ε(r), with relative accuracy where θ is close to 1.
///
/// ```
/// use dobrushin::{Epsilon, NonNegative, numeric::{normal, theta}};
///
/// // At ε = 0 it is 2·Q(r/2), which stays positive where 1 − θ would be rounded to 0.
/// let rest = theta::one_minus_theta(Epsilon::new(0.0)?, NonNegative::new(20.0)?);
/// assert!((rest.upper() / (2.0 * normal::tail(10.0).upper()) - 1.0).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn one_minus_theta(epsilon: Epsilon, r: NonNegative) -> Enclosure {
    match Position::of(epsilon, r) {
        Position::Certain(theta) => Enclosure::ONE - theta,
        Position::At(point) if point.a < LEAST => point.complement(),
        Position::At(point) => Enclosure::ONE - point.theta(),
    }
}

/// ∂θ/∂r = φ(ε/r − r/2).
///
/// ```
/// use dobrushin::{Epsilon, NonNegative, numeric::theta};
///
/// // φ(0) = 1/√(2π) where ε = r²/2.
/// let slope = theta::derivative_in_r(Epsilon::new(0.5)?, NonNegative::new(1.0)?);
/// assert!((slope.upper() - 1.0 / std::f64::consts::TAU.sqrt()).abs() < 1e-15);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn derivative_in_r(epsilon: Epsilon, r: NonNegative) -> Enclosure {
    match Position::of(epsilon, r) {
        // As r → 0 the density tends to φ(0) for ε = 0 and to 0 otherwise.
        Position::Certain(_) if r.get() == 0.0 && epsilon.get() == 0.0 => {
            Enclosure::around(INVERSE_SQRT_2PI, UNIT_ROUNDOFF)
        }
        Position::Certain(_) if r.get() == 0.0 => Enclosure::ZERO,
        Position::Certain(_) => density_roughly(epsilon, r),
        Position::At(point) => point.density(),
    }
}

/// ∂θ/∂ε = −e^ε Q(ε/r + r/2).
///
/// ```
/// use dobrushin::{Epsilon, NonNegative, numeric::{normal, theta}};
///
/// // −Q(r/2) at ε = 0.
/// let slope = theta::derivative_in_epsilon(Epsilon::new(0.0)?, NonNegative::new(1.0)?);
/// assert!((slope.upper() + normal::tail(0.5).upper()).abs() < 1e-14);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn derivative_in_epsilon(epsilon: Epsilon, r: NonNegative) -> Enclosure {
    match Position::of(epsilon, r) {
        // θ_ε(0) = 0 for every ε.
        Position::Certain(_) if r.get() == 0.0 => Enclosure::ZERO,
        // 0 < R(b) < 1/b with b ≥ r/2, and b > 1 as r or ε/r is huge.
        Position::Certain(_) => {
            -(density_roughly(epsilon, r) * Enclosure::UNIT.min(Enclosure::from(2.0) / r.into()))
        }
        // b is off by one unit; mills allows for half of it.
        Position::At(point) => {
            let ratio = Enclosure::around(mills(point.b()), MILLS_ERROR + 2.0 * UNIT_ROUNDOFF);
            -(point.density() * ratio)
        }
    }
}

/// θ over a range of ε and r, by monotonicity.
///
/// ```
/// use dobrushin::{Enclosure, Epsilon, NonNegative, numeric::theta};
///
/// // The most private corner and the least private one.
/// let range = theta::theta_range(Enclosure::between(1.0, 2.0), Enclosure::between(0.5, 1.0));
/// let at = |epsilon, r| Ok::<_, dobrushin::Error>(theta::theta(Epsilon::new(epsilon)?, NonNegative::new(r)?));
/// assert_eq!((range.lower(), range.upper()), (at(2.0, 0.5)?.lower(), at(1.0, 1.0)?.upper()));
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn theta_range(epsilon: Enclosure, r: Enclosure) -> Enclosure {
    over_range(theta, epsilon, r)
}

/// ln θ over a range of ε and r, by monotonicity.
///
/// ```
/// use dobrushin::{Enclosure, numeric::theta};
///
/// // It contains the logarithm for every ε and r of the range.
/// let (epsilon, r) = (Enclosure::between(1.0, 2.0), Enclosure::between(0.5, 1.0));
/// let (range, inside) = (theta::ln_theta_range(epsilon, r), theta::ln_theta_range(1.5.into(), 0.75.into()));
/// assert!(range.lower() <= inside.lower() && inside.upper() <= range.upper());
/// ```
pub fn ln_theta_range(epsilon: Enclosure, r: Enclosure) -> Enclosure {
    over_range(ln_theta, epsilon, r)
}

/// The smallest ε ≥ 0 with θ_ε(r) ≤ δ. At the upper end, θ was checked to be at most δ.
///
/// ```
/// use dobrushin::{Delta, Epsilon, NonNegative, numeric::theta};
/// let (r, delta) = (NonNegative::new(1.0)?, Delta::new(1e-5)?);
/// let epsilon = theta::smallest_epsilon(r, delta);
/// assert!(theta::theta(Epsilon::new(epsilon.upper())?, r).upper() <= 1e-5);
/// assert!((epsilon.upper() - 4.3772).abs() < 1e-4);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn smallest_epsilon(r: NonNegative, delta: Delta) -> Enclosure {
    let at = |epsilon: f64| theta_range(Enclosure::from(epsilon), r.into());
    if at(0.0).upper() <= delta.get() {
        return Enclosure::ZERO;
    }
    if delta.get() == 0.0 || r.get() == f64::INFINITY {
        return Enclosure::INFINITE;
    }
    // θ_ε(r) ≤ Q(ε/r − r/2) ≤ e^(−(ε/r − r/2)²/2).
    let ln_delta = libm::log(delta.get());
    let mut end = r.get() * (r.get() / 2.0 + (-2.0 * ln_delta).sqrt()) + f64::MIN_POSITIVE;
    while at(end).upper() > delta.get() {
        end *= 2.0;
    }
    let step = |epsilon: f64| match Position::of_f64(epsilon, r.get()) {
        Position::At(p) => (p.ln_theta().midpoint() - ln_delta) / (p.log_slope_in_r() * mills(p.b())),
        Position::Certain(_) => f64::NAN,
    };
    let hint = newton_hint((0.0, end), end * 0.9, step);
    root_of_decreasing((0.0, end), hint, delta.get(), at)
}

/// The largest r with θ_ε(r) ≤ δ. At the lower end, θ was checked to be at most δ.
///
/// ```
/// use dobrushin::{Delta, Epsilon, NonNegative, numeric::theta};
///
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-5)?);
/// let r = theta::largest_r(epsilon, delta);
/// assert!(theta::theta(epsilon, NonNegative::new(r.lower())?).upper() <= 1e-5);
/// assert!(theta::theta(epsilon, NonNegative::new(1.001 * r.upper())?).lower() > 1e-5);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn largest_r(epsilon: Epsilon, delta: Delta) -> Enclosure {
    let at = |r: f64| theta_range(epsilon.into(), Enclosure::from(r));
    if delta.get() == 1.0 || epsilon.get() == f64::INFINITY {
        return Enclosure::INFINITE;
    }
    if delta.get() == 0.0 {
        return Enclosure::ZERO;
    }
    let mut end = 1.0;
    while at(end).lower() <= delta.get() && end < f64::INFINITY {
        end *= 2.0;
    }
    let ln_delta = libm::log(delta.get());
    // (ln θ)′ = φ(a)/θ; in ln r Newton's steps are safe from both sides.
    let step = |r: f64| match Position::of_f64(epsilon.get(), r) {
        Position::At(p) => {
            let change = (ln_delta - p.ln_theta().midpoint()) / (p.log_slope_in_r() * r);
            r * libm::expm1(change.clamp(-1.0, 1.0))
        }
        Position::Certain(_) => f64::NAN,
    };
    let guess =
        epsilon.get() / ((-2.0 * ln_delta).sqrt() + (2.0 * epsilon.get()).sqrt()).max(1.0) + delta.get();
    let hint = newton_hint((f64::MIN_POSITIVE, end), guess, step);
    root_of_decreasing((0.0, end), hint, -delta.get(), |r| -at(r))
}

/// The smallest noise standard deviation σ with which a query of the given sensitivity is (ε, δ)-DP: sensitivity/σ is
/// at most [`largest_r`]. The upper end is guaranteed to be private.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Positive, numeric::theta};
///
/// // Twice the sensitivity needs twice the noise.
/// let noise = |sensitivity| -> Result<f64, dobrushin::Error> {
///     Ok(theta::smallest_noise(Positive::new(sensitivity)?, Epsilon::new(1.0)?, Delta::new(1e-5)?).upper())
/// };
/// assert!((noise(2.0)? / noise(1.0)? - 2.0).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn smallest_noise(sensitivity: Positive, epsilon: Epsilon, delta: Delta) -> Enclosure {
    let r = largest_r(epsilon, delta);
    if r == Enclosure::ZERO {
        return Enclosure::INFINITE;
    }
    Enclosure::from(sensitivity) / r
}

/// Beyond this a²/2, φ(a)·R(a) < 2e^(−a²/2) is below the smallest number.
const CERTAIN_UNDERFLOW: f64 = 750.0;

/// Beyond this r, a = ε/r − r/2 may cancel more than two parts can hold.
const VAST: f64 = 1e12;

/// Below this r, the remainder of ε/r may not be a normal number.
const TINY: f64 = 1e-150;

/// The factor for such numbers; a power of two.
const ENLARGEMENT: f64 = (1u128 << 127) as f64 * (1u128 << 127) as f64 * (1u128 << 127) as f64;

/// θ = Q(a) − φ(a)·R(b) with R(b) < 1/b and b ≥ r/2: Q(a) to within 1/r.
fn theta_of_vast_r(epsilon: f64, r: f64) -> Enclosure {
    let r = Enclosure::from(r);
    let a = Enclosure::from(epsilon) / r - r / Enclosure::from(2.0);
    let tail = a.map_monotone(normal::tail);
    (tail - Enclosure::UNIT / r).positive_part().min(Enclosure::ONE)
}

/// φ(ε/r − r/2) for every positive r, without regard to accuracy.
fn density_roughly(epsilon: Epsilon, r: NonNegative) -> Enclosure {
    let r = Enclosure::from(r);
    let a = Enclosure::from(epsilon) / r - r / Enclosure::from(2.0);
    (-ln_sqrt_2pi() - a.square() / Enclosure::from(2.0)).exp()
}

/// A function that decreases in ε and increases in r, over ranges of both.
fn over_range(f: impl Fn(Epsilon, NonNegative) -> Enclosure, epsilon: Enclosure, r: Enclosure) -> Enclosure {
    let at = |epsilon: f64, r: f64| match (Epsilon::new(epsilon), NonNegative::new(r)) {
        (Ok(epsilon), Ok(r)) => f(epsilon, r),
        _ => Enclosure::ENTIRE,
    };
    at(epsilon.upper().max(0.0), r.lower().max(0.0)).hull(at(epsilon.lower().max(0.0), r.upper().max(0.0)))
}

/// The position of (ε, r): at a limit, where θ needs no formula, or in the interior.
enum Position {
    Certain(Enclosure),
    At(Point),
}

/// ε ≥ 0 and 0 < r ≤ 1e12, and ε/r − r/2 as `a + a_low`, |a_low| at most half a
/// unit of `a`.
struct Point {
    r: f64,
    a: f64,
    a_low: f64,
}

impl Position {
    fn of(epsilon: Epsilon, r: NonNegative) -> Self {
        Self::of_f64(epsilon.get(), r.get())
    }

    fn of_f64(epsilon: f64, r: f64) -> Self {
        if r == 0.0 {
            return Self::Certain(Enclosure::ZERO);
        }
        if r == f64::INFINITY {
            // The limit depends on how ε and r tend to ∞ together.
            let unknown = epsilon == f64::INFINITY;
            return Self::Certain(if unknown { Enclosure::UNIT } else { Enclosure::ONE });
        }
        if epsilon == f64::INFINITY {
            return Self::Certain(Enclosure::ZERO);
        }
        let quotient = epsilon / r;
        if quotient > 1e200 && r <= VAST {
            // θ ≤ Q(1e199), whose logarithm overflows.
            return Self::Certain(Enclosure::between(0.0, SMALLEST));
        }
        if r > VAST {
            return Self::Certain(theta_of_vast_r(epsilon, r));
        }
        // ε/r in two parts, then minus r/2. The remainder is exact, because a tiny r is first enlarged, and ε with it
        // (which cannot overflow: ε/r did not). Only when ε/r itself is below 1e-60 can it underflow. The lost part is
        // below 4·2⁻¹⁰⁶·(ε/r + r/2): below 2⁻¹⁰⁰|a|, or, if ε/r and r/2 cancel or are below 1e-60, below 1e-18.
        let scale = if r < TINY { ENLARGEMENT } else { 1.0 };
        let (product, error) = two_product(quotient, r * scale);
        let remainder = ((epsilon * scale - product) - error) * (1.0 / (r * scale));
        let (a, error) = two_sum(quotient, -r / 2.0);
        let (a, a_low) = two_sum(a, error + remainder);
        Self::At(Point { r, a, a_low })
    }
}

impl Point {
    fn b(&self) -> f64 {
        self.a + self.r
    }

    /// ∂ ln θ/∂r = φ(a)/θ = 1/(R(a) − R(b)), approximately, for hints.
    fn log_slope_in_r(&self) -> f64 {
        if self.a < LEAST {
            self.density().midpoint() / self.theta().midpoint()
        } else {
            1.0 / mills_drop(self.a, self.r).value
        }
    }

    fn theta(&self) -> Enclosure {
        if self.a < LEAST {
            return Enclosure::ONE - self.complement();
        }
        let (half, low) = half_square_parts(self.a, self.a_low);
        if half <= NEAR_UNDERFLOW {
            let Approximate { value, relative_error } = mills_drop(self.a, self.r);
            return self.weighted(value, relative_error, half, low);
        }
        if half > CERTAIN_UNDERFLOW {
            return Enclosure::between(0.0, SMALLEST);
        }
        self.ln_theta().exp()
    }

    fn ln_theta(&self) -> Enclosure {
        if self.a < LEAST {
            return (-self.complement()).ln_1p();
        }
        let Approximate { value, relative_error } = mills_drop(self.a, self.r);
        ln_weighted(value, relative_error, self.a, self.a_low)
    }

    /// 1 − θ = φ(a)·[R(−a) + R(b)], for a < −1.
    fn complement(&self) -> Enclosure {
        let (half, low) = half_square_parts(self.a, self.a_low);
        let value = mills(-self.a) + mills(self.b());
        if half <= NEAR_UNDERFLOW {
            return self.weighted(value, MILLS_ERROR + 4.0 * UNIT_ROUNDOFF, half, low);
        }
        let bracket = Enclosure::around(value, MILLS_ERROR + 4.0 * UNIT_ROUNDOFF);
        (bracket.ln() - ln_sqrt_2pi() - half_square(self.a, self.a_low)).exp()
    }

    /// φ(a).
    fn density(&self) -> Enclosure {
        let (half, low) = half_square_parts(self.a, self.a_low);
        if half <= NEAR_UNDERFLOW {
            return self.weighted(1.0, 0.0, half, low);
        }
        (-ln_sqrt_2pi() - half_square(self.a, self.a_low)).exp()
    }

    /// φ(a)·value, with a²/2 = half + low.
    fn weighted(&self, value: f64, relative_error: f64, half: f64, low: f64) -> Enclosure {
        // Three units for the weight, one each for the constant, the two products and the lost part of a, which |a| ≤
        // 37 multiplies.
        let weighted = INVERSE_SQRT_2PI * value * weight(half, low);
        Enclosure::around(weighted, relative_error + 8.0 * UNIT_ROUNDOFF)
    }
}
