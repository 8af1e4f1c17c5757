//! The convex functions f of f-divergences D_f(P‖Q) = ∫ f(dP/dQ) dQ.

use crate::{Enclosure, Error, Positive};

/// A convex f on (0, ∞) with f(1) = 0.
///
/// Nothing else is required of f: the integral representation (CED eq. 17) is integrated by parts twice, so f″ never
/// appears.
pub trait Generator {
    /// f(t) for 0 < t < ∞.
    fn value(&self, t: Enclosure) -> Enclosure;
    /// f′(1), or any slope of a supporting line at 1.
    fn derivative_at_one(&self) -> Enclosure;
    /// lim f(t) as t → 0.
    fn at_zero(&self) -> Enclosure;
    /// lim f(t)/t as t → ∞.
    fn slope_at_infinity(&self) -> Enclosure;
    /// A bound on f(t) − f′(1)(t − 1) for t ≥ 1.
    fn growth(&self) -> Growth;
    /// The same for f̃(t) = t·f(1/t), the generator of D_f(Q‖P).
    fn conjugate_growth(&self) -> Growth;
}

/// `coefficient·t^power` for all t ≥ 1, `power ≥ 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The factor in front.
    pub coefficient: f64,
    /// The power of t.
    pub power: f64,
}

/// f̃(t) = t·f(1/t), for which D_f̃(Q‖P) = D_f(P‖Q).
#[derive(Clone, Copy, Debug)]
pub struct Conjugate<'a, F: ?Sized>(pub &'a F);

impl<F: Generator + ?Sized> Generator for Conjugate<'_, F> {
    fn value(&self, t: Enclosure) -> Enclosure {
        t * self.0.value(Enclosure::ONE / t)
    }
    fn derivative_at_one(&self) -> Enclosure {
        -self.0.derivative_at_one()
    }
    fn at_zero(&self) -> Enclosure {
        self.0.slope_at_infinity()
    }
    fn slope_at_infinity(&self) -> Enclosure {
        self.0.at_zero()
    }
    fn growth(&self) -> Growth {
        self.0.conjugate_growth()
    }
    fn conjugate_growth(&self) -> Growth {
        self.0.growth()
    }
}

/// f(t) = t·ln t.
#[derive(Clone, Copy, Debug, Default)]
pub struct KullbackLeibler;

impl Generator for KullbackLeibler {
    fn value(&self, t: Enclosure) -> Enclosure {
        t * t.ln()
    }
    fn derivative_at_one(&self) -> Enclosure {
        Enclosure::ONE
    }
    fn at_zero(&self) -> Enclosure {
        Enclosure::ZERO
    }
    fn slope_at_infinity(&self) -> Enclosure {
        Enclosure::INFINITE
    }
    fn growth(&self) -> Growth {
        // t ln t − (t − 1) ≤ (t − 1)².
        Growth { coefficient: 1.0, power: 2.0 }
    }
    fn conjugate_growth(&self) -> Growth {
        // −ln t + (t − 1) ≤ t.
        Growth { coefficient: 1.0, power: 1.0 }
    }
}

/// f(t) = (t − 1)².
#[derive(Clone, Copy, Debug, Default)]
pub struct ChiSquared;

impl Generator for ChiSquared {
    fn value(&self, t: Enclosure) -> Enclosure {
        (t - Enclosure::ONE).square()
    }
    fn derivative_at_one(&self) -> Enclosure {
        Enclosure::ZERO
    }
    fn at_zero(&self) -> Enclosure {
        Enclosure::ONE
    }
    fn slope_at_infinity(&self) -> Enclosure {
        Enclosure::INFINITE
    }
    fn growth(&self) -> Growth {
        Growth { coefficient: 1.0, power: 2.0 }
    }
    fn conjugate_growth(&self) -> Growth {
        // (t − 1)²/t ≤ t.
        Growth { coefficient: 1.0, power: 1.0 }
    }
}

/// f(t) = (√t − 1)², whose divergence is ∫(√dP − √dQ)².
#[derive(Clone, Copy, Debug, Default)]
pub struct Hellinger;

impl Generator for Hellinger {
    fn value(&self, t: Enclosure) -> Enclosure {
        (t.sqrt() - Enclosure::ONE).square()
    }
    fn derivative_at_one(&self) -> Enclosure {
        Enclosure::ZERO
    }
    fn at_zero(&self) -> Enclosure {
        Enclosure::ONE
    }
    fn slope_at_infinity(&self) -> Enclosure {
        Enclosure::ONE
    }
    fn growth(&self) -> Growth {
        Growth { coefficient: 1.0, power: 1.0 }
    }
    fn conjugate_growth(&self) -> Growth {
        Growth { coefficient: 1.0, power: 1.0 }
    }
}

/// f(t) = ½[t·ln t − (t + 1)·ln((t + 1)/2)], at most ln 2.
#[derive(Clone, Copy, Debug, Default)]
pub struct JensenShannon;

impl Generator for JensenShannon {
    fn value(&self, t: Enclosure) -> Enclosure {
        let two = Enclosure::from(2.0);
        let up = t + Enclosure::ONE;
        (t * t.ln() - up * (up / two).ln()) / two
    }
    fn derivative_at_one(&self) -> Enclosure {
        Enclosure::ZERO
    }
    fn at_zero(&self) -> Enclosure {
        Enclosure::from(2.0).ln() / Enclosure::from(2.0)
    }
    fn slope_at_infinity(&self) -> Enclosure {
        self.at_zero()
    }
    fn growth(&self) -> Growth {
        Growth { coefficient: 1.0, power: 1.0 }
    }
    fn conjugate_growth(&self) -> Growth {
        Growth { coefficient: 1.0, power: 1.0 }
    }
}

/// f(t) = (t^α − 1)/(α(α − 1)) for α > 0, α ≠ 1: the α-divergence, a function
/// of the Rényi divergence of order α.
#[derive(Clone, Copy, Debug)]
pub struct Alpha(Positive);

impl Alpha {
    /// # Errors
    /// [`Error::OutOfRange`] unless `α > 0`, finite and not 1.
    pub fn new(alpha: f64) -> Result<Self, Error> {
        if alpha == 1.0 {
            let accepted = "different from 1 (that is Kullback–Leibler)";
            return Err(Error::OutOfRange { name: "alpha", value: alpha, accepted });
        }
        Ok(Self(Positive::named("alpha", alpha)?))
    }
}

impl Generator for Alpha {
    fn value(&self, t: Enclosure) -> Enclosure {
        let alpha = Enclosure::from(self.0);
        (alpha * t.ln()).exp_m1() / (alpha * (alpha - Enclosure::ONE))
    }
    fn derivative_at_one(&self) -> Enclosure {
        Enclosure::ONE / (Enclosure::from(self.0) - Enclosure::ONE)
    }
    fn at_zero(&self) -> Enclosure {
        let alpha = Enclosure::from(self.0);
        -Enclosure::ONE / (alpha * (alpha - Enclosure::ONE))
    }
    fn slope_at_infinity(&self) -> Enclosure {
        if self.0.get() > 1.0 { Enclosure::INFINITE } else { Enclosure::ZERO }
    }
    fn growth(&self) -> Growth {
        // f(t) − f′(1)(t − 1) = ∫₁^t (t − s)s^(α−2) ds ≤ t²·t^max(α−2, 0).
        Growth { coefficient: 1.0, power: self.0.get().max(2.0) }
    }
    fn conjugate_growth(&self) -> Growth {
        // f̃ is the generator of order 1 − α: ∫₁^t (t − s)s^(−α−1) ds ≤ t².
        Growth { coefficient: 1.0, power: 2.0 }
    }
}
