//! Divergences in which P and Q may be exchanged.

use super::{Generator, Growth};
use crate::Enclosure;

/// Total variation: f(t) = |t − 1|/2.
///
/// ```
/// use dobrushin::divergence::{GaussianPair, Pair, TotalVariation, f_divergence};
///
/// let pair = GaussianPair::new(1.0, 1.0)?;
/// let by_integral = f_divergence(&pair, &TotalVariation);
/// assert!(by_integral.intersect(pair.total_variation()).is_some() && by_integral.relative_width() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TotalVariation;

impl Generator for TotalVariation {
    fn value(&self, t: Enclosure) -> Enclosure {
        (t - Enclosure::ONE).abs() * Enclosure::from(0.5)
    }
    fn derivative_at_one(&self) -> Enclosure {
        Enclosure::ZERO
    }
    fn at_zero(&self) -> Enclosure {
        Enclosure::from(0.5)
    }
    fn slope_at_infinity(&self) -> Enclosure {
        Enclosure::from(0.5)
    }
    fn growth(&self) -> Growth {
        Growth { coefficient: 0.5, power: 1.0 }
    }
    fn conjugate_growth(&self) -> Growth {
        self.growth()
    }
}

/// The Le Cam (or triangular) divergence ½∫(dP − dQ)²/(dP + dQ), between 0 and 1: f(t) = (t − 1)²/(2(t + 1)).
///
/// It is the χ² distance of P and Q from their mean, so it is also how much χ² contracts between two equally likely
/// inputs whose outputs have the laws P and Q.
///
/// ```
/// use dobrushin::divergence::{DiscretePair, FiniteLaw, LeCam};
///
/// let (p, q) = (FiniteLaw::new("P", vec![0.75, 0.25])?, FiniteLaw::new("Q", vec![0.25, 0.75])?);
/// assert!((DiscretePair::new(p, q)?.f_divergence(&LeCam).upper() - 0.25).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LeCam;

impl Generator for LeCam {
    fn value(&self, t: Enclosure) -> Enclosure {
        (t - Enclosure::ONE).square() / (Enclosure::from(2.0) * (t + Enclosure::ONE))
    }
    fn derivative_at_one(&self) -> Enclosure {
        Enclosure::ZERO
    }
    fn at_zero(&self) -> Enclosure {
        Enclosure::from(0.5)
    }
    fn slope_at_infinity(&self) -> Enclosure {
        Enclosure::from(0.5)
    }
    fn growth(&self) -> Growth {
        // (t − 1)²/(t + 1) ≤ t.
        Growth { coefficient: 0.5, power: 1.0 }
    }
    fn conjugate_growth(&self) -> Growth {
        self.growth()
    }
}

/// The Jeffreys divergence KL(P‖Q) + KL(Q‖P): f(t) = (t − 1)·ln t.
///
/// ```
/// use dobrushin::divergence::{GaussianPair, Jeffreys, f_divergence};
///
/// // KL of two Gaussians at distance r is r²/2 either way.
/// let divergence = f_divergence(&GaussianPair::new(1.0, 1.0)?, &Jeffreys);
/// assert!(divergence.contains(1.0) && divergence.relative_width() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Jeffreys;

impl Generator for Jeffreys {
    fn value(&self, t: Enclosure) -> Enclosure {
        (t - Enclosure::ONE) * t.ln()
    }
    fn derivative_at_one(&self) -> Enclosure {
        Enclosure::ZERO
    }
    fn at_zero(&self) -> Enclosure {
        Enclosure::INFINITE
    }
    fn slope_at_infinity(&self) -> Enclosure {
        Enclosure::INFINITE
    }
    fn growth(&self) -> Growth {
        // ln t ≤ t − 1.
        Growth { coefficient: 1.0, power: 2.0 }
    }
    fn conjugate_growth(&self) -> Growth {
        self.growth()
    }
}
