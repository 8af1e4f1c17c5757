//! Privacy losses: the law of L = ln(dP/dQ), and its behaviour under composition.
//!
//! Up to post-processing, two laws P, Q are determined by the law of their privacy loss L. Under composition losses
//! add, so composition is convolution; and E_{e^ε}(P‖Q) = E_P[(1 − e^(ε−L))₊].

mod compose;
mod convolve;
mod distribution;
mod gather;
mod grid;
mod law;
mod plan;
mod sketch;
#[cfg(test)]
mod tests;
mod window;

pub use compose::{Composition, Part};
pub use distribution::LossDistribution;
pub use law::*;

use crate::Enclosure;
use crate::profile::Direction;
use std::sync::Arc;

/// The probabilities of an event under P and under Q.
///
/// ```
/// use dobrushin::loss::{FiniteLoss, LossLaw, Masses};
/// use dobrushin::{Enclosure, Epsilon};
///
/// // The truth of randomised response, told with probability 3/4 under P, and 1/4 under Q.
/// let law = FiniteLoss::randomised_response(Epsilon::new(3_f64.ln())?);
/// let Masses { p, q } = law.split(Enclosure::ZERO).above;
/// assert!((p.upper() - 0.75).abs() < 1e-12 && (q.upper() - 0.25).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Masses {
    /// Its probability under P.
    pub p: Enclosure,
    /// Its probability under Q.
    pub q: Enclosure,
}

/// The two sides of a threshold on the loss.
///
/// ```
/// use dobrushin::loss::{GaussianLoss, LossLaw, Split};
/// use dobrushin::{Enclosure, Positive};
///
/// let Split { below, above } = GaussianLoss::new(Positive::new(1.0)?).split(Enclosure::from(0.3));
/// // Every outcome is on one of the two sides.
/// assert!((below.p + above.p).contains(1.0) && (below.q + above.q).contains(1.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The masses of {L ≤ ℓ}.
    pub below: Masses,
    /// The masses of {L > ℓ}, including outcomes that only P can produce (L = ∞).
    pub above: Masses,
}

/// The law of the privacy loss L = ln(dP/dQ) of two laws.
///
/// Both sides of a split are required because each is relatively accurate only where it is small: implementations must
/// not compute one as 1 minus the other where that cancels.
///
/// ```
/// use dobrushin::loss::{GaussianLoss, LossLaw};
/// use dobrushin::numeric::theta::theta;
/// use dobrushin::{Enclosure, Epsilon, NonNegative, Positive};
///
/// // E_γ = P(L > ln γ) − γ·Q(L > ln γ), here at γ = e for two Gaussians a standard deviation apart.
/// let above = GaussianLoss::new(Positive::new(1.0)?).split(Enclosure::ONE).above;
/// let stick = above.p - Enclosure::ONE.exp() * above.q;
/// let known = theta(Epsilon::new(1.0)?, NonNegative::new(1.0)?);
/// assert!(stick.intersect(known).is_some());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub trait LossLaw: Send + Sync {
    /// The masses on the two sides of a finite threshold ℓ of either sign; each enclosure holds for every ℓ in the
    /// enclosure. A loss exactly at ℓ may be counted on either side, in P and Q alike.
    fn split(&self, loss: Enclosure) -> Split;

    /// P(L > ℓ) − Q(L > ℓ), more accurately than from the split, if the loss is tiny and the law has a way to compute
    /// it.
    fn advantage(&self, loss: Enclosure) -> Enclosure {
        let Split { below, above } = self.split(loss);
        let (over, under) = (above.p - above.q, below.q - below.p);
        over.intersect(under).unwrap_or(over)
    }

    /// If the law has atoms: a spacing such that every atom (at a finite loss) is a multiple
    /// of it, up to rounding. Bounds are then tighter, never different in kind.
    fn lattice(&self) -> Option<f64> {
        None
    }

    /// r, if the two laws are equivalent to N(r, 1) and N(0, 1): a composition is then one such pair with the root of
    /// the sum of the squares.
    fn gaussian_ratio(&self) -> Option<f64> {
        None
    }

    /// If this law is that of a pair that dominates the one in question and is not known to equal it: the law of a pair
    /// that the one in question dominates. Lower ends are computed from it.
    fn beneath(&self) -> Option<Arc<dyn LossLaw>> {
        None
    }
}

/// Two laws P, Q that dominate a mechanism on neighbours: E_γ of its outputs is at most E_γ(P‖Q) for every γ > 0.
/// Domination carries over to composition.
///
/// ```
/// use dobrushin::loss::{DominatingPair, Exchanged, GaussianLoss, PoissonLoss};
/// use dobrushin::{Positive, Probability};
/// use std::sync::Arc;
///
/// let sampled = || PoissonLoss::new(GaussianLoss::new(Positive::new(1.0)?), Probability::new(0.1)?);
/// let pair = DominatingPair::new(Arc::new(sampled()?), Arc::new(Exchanged(sampled()?)));
/// assert!(!pair.is_symmetric());
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
pub struct DominatingPair {
    forward: Arc<dyn LossLaw>,
    reverse: Option<Arc<dyn LossLaw>>,
}

impl DominatingPair {
    /// A pair whose loss has the same law in both directions: −L under Q has the law of L under P.
    pub fn symmetric(law: Arc<dyn LossLaw>) -> Self {
        Self { forward: law, reverse: None }
    }

    /// ln(dP/dQ) under P and Q, and ln(dQ/dP) with the roles of P and Q exchanged.
    pub fn new(forward: Arc<dyn LossLaw>, reverse: Arc<dyn LossLaw>) -> Self {
        Self { forward, reverse: Some(reverse) }
    }

    /// Whether both directions have the same law.
    pub fn is_symmetric(&self) -> bool {
        self.reverse.is_none()
    }

    /// The law of the loss with the first law in front.
    pub fn forward(&self) -> Arc<dyn LossLaw> {
        Arc::clone(&self.forward)
    }

    /// The law of the loss in one direction.
    pub fn law(&self, direction: Direction) -> &dyn LossLaw {
        match (direction, &self.reverse) {
            (Direction::Reverse, Some(law)) => law.as_ref(),
            _ => self.forward.as_ref(),
        }
    }
}

/// The loss with the roles of P and Q exchanged: −L, with the masses of P and Q exchanged.
///
/// ```
/// use dobrushin::loss::{Exchanged, GaussianLoss, LossLaw, PoissonLoss};
/// use dobrushin::{Enclosure, Positive, Probability};
///
/// // Drawn with probability 1/2, a record may double the likelihood of nothing that it is missing from.
/// let law = PoissonLoss::new(GaussianLoss::new(Positive::new(1.0)?), Probability::new(0.5)?)?;
/// let beyond = Enclosure::from(1.01) * Enclosure::from(2.0).ln();
/// assert!(law.split(beyond).above.p.lower() > 0.0);
/// assert_eq!(Exchanged(law).split(beyond).above.p.upper(), 0.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
pub struct Exchanged<Law>(pub Law);

impl<Law: LossLaw> LossLaw for Exchanged<Law> {
    fn split(&self, loss: Enclosure) -> Split {
        let exchange = |masses: Masses| Masses { p: masses.q, q: masses.p };
        let Split { below, above } = self.0.split(-loss);
        Split { below: exchange(above), above: exchange(below) }
    }

    fn advantage(&self, loss: Enclosure) -> Enclosure {
        // Q(−L > ℓ) − P(−L > ℓ) = P(L > −ℓ) − Q(L > −ℓ), except for an atom at −ℓ.
        self.0.advantage(-loss)
    }

    fn lattice(&self) -> Option<f64> {
        self.0.lattice()
    }

    fn beneath(&self) -> Option<Arc<dyn LossLaw>> {
        self.0.beneath().map(|law| Arc::new(Exchanged(law)) as Arc<dyn LossLaw>)
    }

    /// N(0, 1) against N(r, 1) is equivalent to N(r, 1) against N(0, 1).
    fn gaussian_ratio(&self) -> Option<f64> {
        self.0.gaussian_ratio()
    }
}
