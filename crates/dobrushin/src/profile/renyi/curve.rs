//! Rényi curves: α ↦ (α−1)·D_α of two laws, in both directions, and how they compose.
//!
//! K(α) = (α−1)·D_α(P‖Q) = ln E_P[e^((α−1)L)] with L = ln(dP/dQ) is the logarithm of a moment
//! generating function, so it is convex in α; and under composition (also adaptive) of
//! mechanisms whose curves are at most K₁, K₂, …, the curve is at most K₁ + K₂ + ….

use crate::divergence::Pair;
use crate::profile::Direction;
use crate::{Enclosure, NonNegative, RenyiOrder};
use std::sync::Arc;

/// α ↦ (α−1)·D_α of the outputs on two neighbours, in both directions.
///
/// ```
/// use dobrushin::profile::{ConcentratedCurve, Direction, RenyiCurve};
/// use dobrushin::NonNegative;
///
/// // (α − 1)·D_α = (α − 1)·αρ.
/// let curve = ConcentratedCurve::new(NonNegative::new(0.5)?);
/// assert!(curve.log_moment(Direction::Forward, 3.0).contains(3.0));
/// assert!(curve.is_symmetric());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub trait RenyiCurve: Send + Sync {
    /// (α−1)·D_α, for 1 < α < ∞; for any other order the result carries no information.
    fn log_moment(&self, direction: Direction, order: f64) -> Enclosure;

    /// An approximation without a guarantee, for the search for a good order.
    fn log_moment_roughly(&self, direction: Direction, order: f64) -> f64 {
        self.log_moment(direction, order).upper()
    }

    /// D_∞, the largest privacy loss; ∞ if it is not bounded.
    fn largest_loss(&self, _direction: Direction) -> Enclosure {
        Enclosure::INFINITE
    }

    /// Whether both directions have the same curve.
    fn is_symmetric(&self) -> bool;

    /// Whether D_α forward is known to be at least D_α reverse at every order.
    fn forward_is_larger(&self) -> bool {
        self.is_symmetric()
    }
}

impl<Curve: RenyiCurve + ?Sized> RenyiCurve for Arc<Curve> {
    fn log_moment(&self, direction: Direction, order: f64) -> Enclosure {
        self.as_ref().log_moment(direction, order)
    }
    fn log_moment_roughly(&self, direction: Direction, order: f64) -> f64 {
        self.as_ref().log_moment_roughly(direction, order)
    }
    fn largest_loss(&self, direction: Direction) -> Enclosure {
        self.as_ref().largest_loss(direction)
    }
    fn is_symmetric(&self) -> bool {
        self.as_ref().is_symmetric()
    }
    fn forward_is_larger(&self) -> bool {
        self.as_ref().forward_is_larger()
    }
}

/// D_α ≤ ρα at every order, in both directions.
///
/// ```
/// use dobrushin::profile::{ConcentratedCurve, Direction, RenyiCurve};
/// use dobrushin::{Enclosure, NonNegative};
///
/// // Two Gaussians a standard deviation apart are ½-concentrated, and no bound on their losses is known.
/// let gaussian = ConcentratedCurve::gaussian(Enclosure::ONE);
/// assert_eq!(gaussian, ConcentratedCurve::new(NonNegative::new(0.5)?));
/// assert_eq!(gaussian.largest_loss(Direction::Forward), Enclosure::INFINITE);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConcentratedCurve {
    rho: Enclosure,
}

impl ConcentratedCurve {
    /// ρ-zero-concentrated differential privacy.
    pub fn new(rho: NonNegative) -> Self {
        Self { rho: rho.into() }
    }

    /// Two Gaussian laws r noise standard deviations apart: ρ = r²/2, with equality.
    pub fn gaussian(ratio: Enclosure) -> Self {
        Self { rho: ratio.square() / Enclosure::from(2.0) }
    }
}

impl RenyiCurve for ConcentratedCurve {
    fn log_moment(&self, _direction: Direction, order: f64) -> Enclosure {
        if !(order > 1.0 && order < f64::INFINITY) {
            return Enclosure::ENTIRE;
        }
        let alpha = Enclosure::from(order);
        self.rho * alpha * (alpha - Enclosure::ONE)
    }

    fn largest_loss(&self, _direction: Direction) -> Enclosure {
        if self.rho == Enclosure::ZERO { Enclosure::ZERO } else { Enclosure::INFINITE }
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// The curve of a pair of laws.
///
/// ```
/// use dobrushin::divergence::{LaplacePair, Pair};
/// use dobrushin::profile::{Direction, PairCurve, RenyiCurve};
/// use dobrushin::RenyiOrder;
///
/// // At order 2 the curve is the divergence itself.
/// let pair = LaplacePair::new(1.0, 2.0)?;
/// let curve = PairCurve::symmetric(pair);
/// let divergence = pair.renyi(RenyiOrder::new(2.0)?);
/// assert!((curve.log_moment(Direction::Forward, 2.0) / divergence).contains(1.0));
/// assert!(curve.largest_loss(Direction::Forward).contains(0.5));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PairCurve<P> {
    forward: P,
    reverse: Option<P>,
}

impl<P: Pair> PairCurve<P> {
    /// A pair for which D_α(P‖Q) = D_α(Q‖P), such as two Laplace laws.
    pub fn symmetric(pair: P) -> Self {
        Self { forward: pair, reverse: None }
    }

    /// P against Q, and Q against P.
    pub fn new(forward: P, reverse: P) -> Self {
        Self { forward, reverse: Some(reverse) }
    }

    fn pair(&self, direction: Direction) -> &P {
        match (direction, &self.reverse) {
            (Direction::Reverse, Some(pair)) => pair,
            _ => &self.forward,
        }
    }
}

impl<P: Pair + Send + Sync> RenyiCurve for PairCurve<P> {
    fn log_moment(&self, direction: Direction, order: f64) -> Enclosure {
        match RenyiOrder::new(order) {
            Ok(alpha) if order > 1.0 && order < f64::INFINITY => {
                (Enclosure::from(alpha) - Enclosure::ONE) * self.pair(direction).renyi(alpha)
            }
            _ => Enclosure::ENTIRE,
        }
    }

    fn largest_loss(&self, direction: Direction) -> Enclosure {
        RenyiOrder::new(f64::INFINITY).map_or(Enclosure::INFINITE, |order| self.pair(direction).renyi(order))
    }

    fn is_symmetric(&self) -> bool {
        self.reverse.is_none()
    }
}

/// Mechanisms used one after another: the sum of their curves.
///
/// ```
/// use dobrushin::profile::{ComposedCurve, Direction, RenyiCurve, SubsampledGaussian};
/// use dobrushin::{Positive, Probability};
/// let step = SubsampledGaussian::new(Probability::new(0.01)?, Positive::new(1.0)?)?;
/// let run = ComposedCurve::repeated(1000, step);
/// let ratio = run.log_moment(Direction::Forward, 8.0) / step.log_moment(Direction::Forward, 8.0);
/// assert!(ratio.contains(1000.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct ComposedCurve {
    parts: Vec<(u64, Arc<dyn RenyiCurve>)>,
}

impl ComposedCurve {
    /// `count` mechanisms with one curve.
    pub fn repeated(count: u64, curve: impl RenyiCurve + 'static) -> Self {
        Self::default().then(count, curve)
    }

    /// `count` further mechanisms with one curve.
    #[must_use]
    pub fn then(mut self, count: u64, curve: impl RenyiCurve + 'static) -> Self {
        if count > 0 {
            self.parts.push((count, Arc::new(curve)));
        }
        self
    }

    fn sum(&self, value: impl Fn(&dyn RenyiCurve) -> Enclosure) -> Enclosure {
        self.parts.iter().map(|(count, curve)| Enclosure::from(*count) * value(curve.as_ref())).sum()
    }
}

impl RenyiCurve for ComposedCurve {
    fn log_moment(&self, direction: Direction, order: f64) -> Enclosure {
        if !(order > 1.0 && order < f64::INFINITY) {
            return Enclosure::ENTIRE;
        }
        self.sum(|curve| curve.log_moment(direction, order))
    }

    fn log_moment_roughly(&self, direction: Direction, order: f64) -> f64 {
        let part = |(count, curve): &(u64, Arc<dyn RenyiCurve>)| {
            *count as f64 * curve.log_moment_roughly(direction, order)
        };
        self.parts.iter().map(part).sum()
    }

    fn largest_loss(&self, direction: Direction) -> Enclosure {
        self.sum(|curve| curve.largest_loss(direction))
    }

    fn is_symmetric(&self) -> bool {
        self.parts.iter().all(|(_, curve)| curve.is_symmetric())
    }

    fn forward_is_larger(&self) -> bool {
        self.parts.iter().all(|(_, curve)| curve.forward_is_larger())
    }
}
