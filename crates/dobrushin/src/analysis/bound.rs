//! The quantities that theorems bound.

use crate::loss::{Composition, DominatingPair, Exchanged, FiniteLoss, Part};
use crate::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
use crate::numeric::rounding::{add_down, add_up};
use crate::numeric::{ln_sum, theta};
use crate::profile::{
    ComposedCurve, ConcentratedCurve, Direction, GaussianProfile, PrivacyProfile, RenyiCurve, RenyiProfile,
};
use crate::{Delta, Enclosure, Epsilon, NotApplicable, Positive};
use std::sync::Arc;

/// The quantity that a theorem bounds: μ of Gaussian privacy, E_γ, or Rényi divergences.
///
/// ```
/// use dobrushin::analysis::Bound;
/// use dobrushin::profile::GaussianProfile;
/// use dobrushin::{Epsilon, NonNegative, PrivacyProfile};
///
/// let gaussian = GaussianProfile::new(NonNegative::new(1.0)?);
/// let epsilon = Epsilon::new(1.0)?;
/// assert_eq!(Bound::Gaussian(gaussian).into_profile().delta(epsilon), gaussian.delta(epsilon));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
pub enum Bound {
    /// μ-GDP.
    Gaussian(GaussianProfile),
    /// E_γ for every γ ≥ 1.
    Profile(Arc<dyn PrivacyProfile>),
    /// D_α for every order.
    Renyi(Arc<dyn RenyiCurve>),
}

impl Bound {
    /// A bound ln δ(ε), the same in both directions.
    pub(super) fn by_log_delta(log_delta: impl Fn(Epsilon) -> Enclosure + Send + Sync + 'static) -> Self {
        Self::Profile(Arc::new(LogDelta(log_delta)))
    }

    /// A hidden random choice among μ-GDP mechanisms, by weight and μ.
    pub(super) fn gaussians(members: Vec<(Enclosure, Enclosure)>) -> Self {
        if let [(weight, mu)] = members[..]
            && weight == Enclosure::ONE
        {
            return Self::Gaussian(GaussianProfile::enclosed(mu));
        }
        Self::by_log_delta(move |epsilon| {
            let term = |&(weight, mu): &(Enclosure, Enclosure)| {
                weight.ln() + theta::ln_theta_range(epsilon.into(), mu)
            };
            ln_sum(&members.iter().map(term).collect::<Vec<_>>())
        })
    }

    /// The bound on several independent runs on the same people, one after another, followed by a release that is
    /// μ-Gaussian private given their results.
    ///
    /// # Errors
    /// [`NotApplicable`] if μ is too large for any privacy.
    pub(crate) fn composed(self, times: u64, mu: Enclosure, tolerance: f64) -> Result<Self, NotApplicable> {
        if times == 1 && mu == Enclosure::ZERO {
            return Ok(self);
        }
        Self::together(vec![(self, times), (Self::Gaussian(GaussianProfile::enclosed(mu)), 1)], tolerance)
    }

    /// The bound on several releases about the same people, each with the number of times it happens.
    ///
    /// # Guarantee
    /// If each bound holds for its release on any two neighbours, whatever the earlier releases were, this one holds
    /// for all of them together: a profile is that of a pair which dominates the release, and pairs that dominate
    /// compose, adaptively or not (Zhu, Dong, Wang 2022, Theorem 10); so do μ² of Gaussian privacy (Dong, Roth, Su
    /// 2022) and Rényi divergences (Mironov 2017).
    ///
    /// # Errors
    /// [`NotApplicable`] if a μ is too large for any privacy.
    pub(crate) fn together(parts: Vec<(Self, u64)>, tolerance: f64) -> Result<Self, NotApplicable> {
        let squares = parts.iter().map(|(bound, count)| match bound {
            Self::Gaussian(profile) => Some(profile.mu().square() * Enclosure::from(*count)),
            Self::Profile(_) | Self::Renyi(_) => None,
        });
        if let Some(squares) = squares.collect::<Option<Vec<Enclosure>>>() {
            let square = squares.into_iter().reduce(|sum, square| sum + square);
            let mu = square.unwrap_or(Enclosure::ZERO).sqrt();
            return Ok(Self::Gaussian(GaussianProfile::enclosed(mu)));
        }
        let curves =
            parts.iter().try_fold(ComposedCurve::default(), |composed, (bound, count)| match bound {
                Self::Gaussian(profile) => {
                    Some(composed.then(*count, ConcentratedCurve::gaussian(profile.mu())))
                }
                Self::Renyi(curve) => Some(composed.then(*count, Arc::clone(curve))),
                Self::Profile(_) => None,
            });
        if let Some(composed) = curves {
            return Ok(Self::Renyi(Arc::new(composed)));
        }
        let mut losses = Vec::with_capacity(parts.len());
        for (bound, count) in parts {
            losses.extend(bound.dominating_pair()?.map(|pair| Part { pair, count }));
        }
        Ok(Self::Profile(Arc::new(Composition::new(losses).with_tolerance(tolerance))))
    }

    /// Whether it composes without adding up losses, which takes long.
    pub(crate) fn composes_quickly(&self) -> bool {
        !matches!(self, Self::Profile(_))
    }

    /// A pair of laws that dominates the release; `None` if nothing is released.
    fn dominating_pair(self) -> Result<Option<DominatingPair>, NotApplicable> {
        if let Self::Gaussian(profile) = self {
            if profile.mu() == Enclosure::ZERO {
                return Ok(None);
            }
            // The noise relative to how far adding or removing one record moves the sum.
            let noise_multiplier = Positive::new((Enclosure::ONE / profile.mu()).lower())?;
            let gaussian = Mechanism::Gaussian { noise_multiplier };
            return Ok(Some(dominating_pair(&gaussian, Sampling::Every, Neighbours::AddOrRemoveOne)?));
        }
        let profile = self.into_profile();
        let law = Arc::new(FiniteLoss::dominating(profile.as_ref()));
        Ok(Some(if profile.is_symmetric() {
            DominatingPair::symmetric(law)
        } else {
            DominatingPair::new(Arc::clone(&law) as _, Arc::new(Exchanged(law)))
        }))
    }

    /// The bound on Rényi divergences, if it is one: αμ²/2 for μ-GDP, since two laws that are μ-GDP are a function of two
    /// unit Gaussians at distance μ.
    ///
    /// ```
    /// use dobrushin::analysis::Bound;
    /// use dobrushin::profile::{Direction, GaussianProfile, RenyiCurve};
    /// use dobrushin::NonNegative;
    ///
    /// let curve = Bound::Gaussian(GaussianProfile::new(NonNegative::new(1.0)?)).renyi().ok_or("it has one")?;
    /// assert!(curve.log_moment(Direction::Forward, 2.0).contains(1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn renyi(&self) -> Option<Arc<dyn RenyiCurve>> {
        match self {
            Self::Gaussian(profile) => Some(Arc::new(ConcentratedCurve::gaussian(profile.mu()))),
            Self::Profile(_) => None,
            Self::Renyi(curve) => Some(Arc::clone(curve)),
        }
    }

    /// The bound if it holds except with this probability, the same for both neighbours: by joint convexity, E_γ is
    /// at most that much more.
    pub(crate) fn except(self, probability: Enclosure) -> Self {
        match probability.upper() {
            0.0 => self,
            _ => Self::Profile(Arc::new(Except { probability, otherwise: self.into_profile() })),
        }
    }

    /// The profile.
    pub fn into_profile(self) -> Arc<dyn PrivacyProfile> {
        match self {
            Self::Gaussian(profile) => Arc::new(profile),
            Self::Profile(profile) => profile,
            Self::Renyi(curve) => Arc::new(RenyiProfile::new(curve)),
        }
    }
}

/// A profile that does not hold with some probability.
struct Except {
    probability: Enclosure,
    otherwise: Arc<dyn PrivacyProfile>,
}

impl PrivacyProfile for Except {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        (self.probability + self.otherwise.delta_of(direction, epsilon)).min(Enclosure::ONE)
    }

    fn is_symmetric(&self) -> bool {
        self.otherwise.is_symmetric()
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let (most, least) = (self.probability.lower(), self.probability.upper());
        match (Delta::new(add_up(delta.get(), -most)), Delta::new(add_down(delta.get(), -least))) {
            (Ok(more), Ok(less)) => {
                let [least, most] = [more, less].map(|delta| self.otherwise.epsilon_of(direction, delta));
                least.hull(most)
            }
            _ => Enclosure::INFINITE,
        }
    }
}

/// A profile given by ln δ(ε), the same in both directions.
struct LogDelta<F>(F);

impl<F: Fn(Epsilon) -> Enclosure + Send + Sync> PrivacyProfile for LogDelta<F> {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.log_delta_of(direction, epsilon).exp().min(Enclosure::ONE)
    }

    fn log_delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        self.0(epsilon).min(Enclosure::ZERO)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
