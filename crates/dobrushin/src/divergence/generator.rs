//! The convex functions f of f-divergences D_f(P‖Q) = ∫ f(dP/dQ) dQ.

use crate::{Enclosure, Error, Positive};

/// A convex f on (0, ∞) with f(1) = 0.
///
/// Nothing else is required of f: the integral representation (CED eq. 17) is integrated by parts twice, so f″ never
/// appears.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::divergence::{DiscretePair, FiniteLaw, Generator, Growth, Pair};
///
/// /// f(t) = |t − 1|/2, whose divergence is total variation.
/// struct Half;
///
/// impl Generator for Half {
///     fn value(&self, t: Enclosure) -> Enclosure {
///         (t - Enclosure::ONE).abs() * Enclosure::from(0.5)
///     }
///     fn derivative_at_one(&self) -> Enclosure {
///         Enclosure::ZERO
///     }
///     fn at_zero(&self) -> Enclosure {
///         Enclosure::from(0.5)
///     }
///     fn slope_at_infinity(&self) -> Enclosure {
///         Enclosure::from(0.5)
///     }
///     fn growth(&self) -> Growth {
///         Growth { coefficient: 0.5, power: 1.0 }
///     }
///     fn conjugate_growth(&self) -> Growth {
///         self.growth()
///     }
/// }
///
/// let (p, q) = (FiniteLaw::new("P", vec![0.75, 0.25])?, FiniteLaw::new("Q", vec![0.25, 0.75])?);
/// let pair = DiscretePair::new(p, q)?;
/// assert!(pair.f_divergence(&Half).intersect(pair.total_variation()).is_some());
/// # Ok::<(), dobrushin::Error>(())
/// ```
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
///
/// ```
/// use dobrushin::divergence::{ChiSquared, Generator, Growth};
///
/// // (t − 1)² is at most t² from t = 1 on.
/// let Growth { coefficient, power } = ChiSquared.growth();
/// assert!([1.0, 10.0, 1e6].iter().all(|t: &f64| (t - 1.0).powi(2) <= coefficient * t.powf(power)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The factor in front.
    pub coefficient: f64,
    /// The power of t.
    pub power: f64,
}

/// f̃(t) = t·f(1/t), for which D_f̃(Q‖P) = D_f(P‖Q).
///
/// ```
/// use dobrushin::divergence::{Conjugate, DiscretePair, FiniteLaw, KullbackLeibler};
///
/// // KL(P‖Q) by the generator of KL(Q‖P).
/// let (p, q) = (FiniteLaw::new("P", vec![0.7, 0.3])?, FiniteLaw::new("Q", vec![0.2, 0.8])?);
/// let pair = DiscretePair::new(p, q)?;
/// let there = pair.f_divergence(&KullbackLeibler);
/// let back = pair.reversed().f_divergence(&Conjugate(&KullbackLeibler));
/// assert!(there.intersect(back).is_some());
/// # Ok::<(), dobrushin::Error>(())
/// ```
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

/// Kullback–Leibler divergence: f(t) = t·ln t.
///
/// ```
/// use dobrushin::divergence::{GaussianPair, KullbackLeibler, f_divergence};
///
/// // KL of two Gaussians at distance r is r²/2.
/// let divergence = f_divergence(&GaussianPair::new(1.0, 1.0)?, &KullbackLeibler);
/// assert!(divergence.contains(0.5) && divergence.relative_width() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
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

/// The χ² divergence: f(t) = (t − 1)².
///
/// ```
/// use dobrushin::divergence::{ChiSquared, GaussianPair, f_divergence};
///
/// // χ² of two Gaussians at distance r is e^(r²) − 1.
/// let divergence = f_divergence(&GaussianPair::new(1.0, 1.0)?, &ChiSquared);
/// assert!((divergence.upper() - 1_f64.exp_m1()).abs() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
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

/// The squared Hellinger distance: f(t) = (√t − 1)², whose divergence is ∫(√dP − √dQ)².
///
/// ```
/// use dobrushin::divergence::{GaussianPair, Hellinger, f_divergence};
///
/// // Of two Gaussians at distance r it is 2 − 2e^(−r²/8).
/// let divergence = f_divergence(&GaussianPair::new(1.0, 1.0)?, &Hellinger);
/// assert!((divergence.upper() + 2.0 * (-0.125_f64).exp_m1()).abs() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
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

/// The Jensen–Shannon divergence: f(t) = ½[t·ln t − (t + 1)·ln((t + 1)/2)], at most ln 2.
///
/// ```
/// use dobrushin::divergence::{DiscretePair, FiniteLaw, JensenShannon};
///
/// // Laws that share no outcome are ln 2 apart.
/// let (p, q) = (FiniteLaw::new("P", vec![1.0, 0.0])?, FiniteLaw::new("Q", vec![0.0, 1.0])?);
/// let divergence = DiscretePair::new(p, q)?.f_divergence(&JensenShannon);
/// assert!((divergence.upper() - 2_f64.ln()).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
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

/// The α-divergence: f(t) = (t^α − 1)/(α(α − 1)) for α > 0, α ≠ 1, a function
/// of the Rényi divergence of order α.
///
/// ```
/// use dobrushin::divergence::{Alpha, ChiSquared, GaussianPair, f_divergence};
///
/// // At α = 2 it is half of χ².
/// let pair = GaussianPair::new(1.0, 1.0)?;
/// let ratio = f_divergence(&pair, &Alpha::new(2.0)?) / f_divergence(&pair, &ChiSquared);
/// assert!(ratio.contains(0.5));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
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

    /// α.
    pub fn order(self) -> f64 {
        self.0.get()
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
