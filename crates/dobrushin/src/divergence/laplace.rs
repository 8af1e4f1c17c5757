//! Two Laplace laws of the same scale, on the line.

use super::Pair;
use crate::{Delta, Enclosure, Error, Gamma, NonNegative, Positive, RenyiOrder};

/// Laplace laws with centres m₁, m₂ and scale v; only t = |m₁ − m₂|/v matters.
///
/// ```
/// use dobrushin::divergence::{LaplacePair, Pair};
/// use dobrushin::Gamma;
/// // Pure ε-DP: nothing is left at ε = distance/scale.
/// let pair = LaplacePair::new(1.0, 2.0)?;
/// assert_eq!(pair.hockey_stick(Gamma::from_epsilon(0.5)?).upper(), 0.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplacePair {
    ratio: Enclosure,
}

impl LaplacePair {
    /// Centres `distance` apart, the given `scale`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless `distance ≥ 0` and `0 < scale < ∞`.
    pub fn new(distance: f64, scale: f64) -> Result<Self, Error> {
        let distance = Enclosure::from(NonNegative::new(distance)?);
        Ok(Self { ratio: distance / Enclosure::from(Positive::named("scale", scale)?) })
    }

    /// t = |m₁ − m₂|/v.
    pub fn ratio(self) -> Enclosure {
        self.ratio
    }
}

impl Pair for LaplacePair {
    /// [1 − e^((ε − t)/2)]₊ for ε ≥ 0; e^ε times the same at −ε for ε < 0.
    fn hockey_stick(&self, gamma: Gamma) -> Enclosure {
        let missing = (gamma.epsilon().abs() - self.ratio) / Enclosure::from(2.0);
        let at = (-missing.exp_m1()).positive_part();
        if gamma.is_below_one() { (gamma.value() * at).min(Enclosure::ONE) } else { at }
    }

    /// The pair is symmetric.
    fn hockey_stick_reversed(&self, gamma: Gamma) -> Enclosure {
        self.hockey_stick(gamma)
    }

    /// t + 2·ln(1 − δ), or 0.
    fn smallest_epsilon(&self, delta: Delta) -> Enclosure {
        if delta.get() == 1.0 {
            return Enclosure::ZERO;
        }
        let gained = Enclosure::from(2.0) * (-Enclosure::from(delta)).ln_1p();
        (self.ratio + gained).positive_part()
    }

    /// With u = (α − ½)t,
    ///
    /// ```text
    /// (α−1)·D_α = ln[ α e^((α−1)t) + (α−1) e^(−αt) ] − ln(2α−1) = −t/2 + ln[ cosh u + (t/2)·sinh(u)/u ]
    /// ```
    ///
    /// where the second form has no pole at α = ½ and no cancellation for large t. For small t or α near 1, where the
    /// logarithms vanish, the first is used as ln(1 + [α·ρ((α−1)t) + (α−1)·ρ(−αt)]/(2α−1)) with ρ(x) = e^x − 1 − x, and
    /// at α = ½ itself D = 2ρ(ln(1 + t/2)).
    fn renyi(&self, order: RenyiOrder) -> Enclosure {
        let alpha = Enclosure::from(order);
        let t = self.ratio;
        if order.get() == 1.0 {
            return self.kl();
        }
        if order.get() == f64::INFINITY || t == Enclosure::ZERO || t.lower() == f64::INFINITY {
            return t;
        }
        let half = Enclosure::from(0.5);
        let residual = |x: Enclosure| x.map_monotone(exponential_residual);
        if order.get() == 0.5 {
            // t − 2·ln(1 + t/2).
            return Enclosure::from(2.0) * residual((t * half).ln_1p());
        }
        let below = alpha - Enclosure::ONE;
        // e^(−|u|)·cosh u and e^(−|u|)·sinh(u)/u, both bounded.
        let u = ((alpha - half) * t).abs();
        let decay = (Enclosure::from(-2.0) * u).exp_m1();
        let cosh = (Enclosure::from(2.0) + decay) * half;
        let sinhc = if u.lower() > 0.0 {
            (-decay) * half / u
        } else {
            // (1 − e^(−2u))/(2u) is between 1 − u and 1.
            (Enclosure::ONE - u).positive_part().hull(Enclosure::ONE)
        };
        let ln_affinity = u - t * half + (cosh + t * half * sinhc).ln();
        let mut divergence = ln_affinity / below;
        if u.lower() > 0.0 && (below * t).upper() < 600.0 {
            let excess = alpha * residual(below * t) + below * residual(-(alpha * t));
            let small = (excess / (alpha + below)).ln_1p() / below;
            divergence = divergence.intersect(small).unwrap_or(divergence);
        }
        divergence.positive_part().min(t)
    }

    /// t − 1 + e^(−t).
    fn kl(&self) -> Enclosure {
        self.ratio.map_monotone(|t| exponential_residual(-t))
    }

    /// (2e^t + e^(−2t))/3 − 1 = (e^t − 1)²(2e^t + 1)/(3e^(2t)).
    fn chi_squared(&self) -> Enclosure {
        self.ratio.map_monotone(|t| {
            if t == f64::INFINITY {
                return Enclosure::INFINITE;
            }
            let t = Enclosure::from(t);
            // (e^t − 1)² e^(−t) = ((e^(t/2) − e^(−t/2)))², times (2 + e^(−t))/3.
            let (up, decay) = (t.exp_m1(), (-t).exp());
            up * (-(-t).exp_m1()) * (Enclosure::from(2.0) + decay) / Enclosure::from(3.0)
        })
    }

    /// 2 − 2e^(−t/2)(1 + t/2) = 2e^(−u)(e^u − 1 − u) with u = t/2.
    fn hellinger_squared(&self) -> Enclosure {
        self.ratio.map_monotone(|t| {
            let two = Enclosure::from(2.0);
            if t >= 1400.0 {
                // 2e^(−700)·701 is far below a unit of 2.
                return Enclosure::between(2.0_f64.next_down(), 2.0);
            }
            let u = Enclosure::from(t) / two;
            two * (-u).exp() * u.map_monotone(exponential_residual)
        })
    }

    /// The likelihood ratio is at most e^t.
    fn last_epsilon(&self) -> Option<f64> {
        Some(self.ratio.upper())
    }

    fn tail_moment(&self, epsilon: f64, _power: f64) -> f64 {
        if epsilon >= self.ratio.upper() { 0.0 } else { f64::INFINITY }
    }
}

/// e^x − 1 − x ≥ 0, with relative accuracy near 0.
fn exponential_residual(x: f64) -> Enclosure {
    let value = Enclosure::from(x);
    if x.abs() > 0.5 {
        return value.exp_m1() - value;
    }
    // x²/2 + x³/6 + …; after the term of order n the rest is at most twice the
    // next in size, as |x| ≤ 1/2.
    let mut term = value.square() / Enclosure::from(2.0);
    let mut terms = vec![term];
    for n in 3..20 {
        term = term * value / Enclosure::from(f64::from(n));
        terms.push(term);
    }
    let rest = Enclosure::between(-term.abs().upper(), term.abs().upper());
    (terms.into_iter().sum::<Enclosure>() + rest).positive_part()
}
