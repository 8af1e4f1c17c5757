//! How private a local mechanism is, at every ε.

use super::LocalPrivacy;
use dobrushin::kernel::{ContractionCurve, FiniteKernel, Kernel};
use dobrushin::loss::{Composition, DominatingPair, FiniteLoss, Part};
use dobrushin::numeric::rounding::{div_down, div_up, mul_down, mul_up};
use dobrushin::profile::{Direction, PrivacyProfile, smallest_epsilon};
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use std::sync::Arc;

/// δ(ε) = η_{e^ε} of a local mechanism: the largest E_{e^ε} between its reports on any two inputs.
///
/// # Guarantee
/// The mechanism *as realised*, with rounded probabilities, is (ε, δ)-locally private with the upper ends; where the
/// profile is exact, it is not private with less than the lower ends.
///
/// ```
/// use dobrushin::kernel::FiniteKernel;
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::LocalProfile;
///
/// // Randomised response that tells the truth 3 times in 4 is ln 3-private, and has δ(0) = 1/2.
/// let channel = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
/// let profile = LocalProfile::of_channel(&channel);
/// assert!((profile.epsilon(Delta::new(0.0)?).upper() - 3_f64.ln()).abs() < 1e-12);
/// assert!((profile.delta(Epsilon::new(0.0)?).upper() - 0.5).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
pub struct LocalProfile {
    profile: Arc<dyn PrivacyProfile>,
    /// The ε between which δ is linear in e^ε, and after which it is constant; `None` if no such ε are known.
    bends: Option<Vec<f64>>,
    /// Whether the same two inputs are known to have this E_γ, in both directions, at every ε.
    of_two_inputs: bool,
}

impl LocalProfile {
    /// A known profile; the larger of its two directions counts.
    pub fn new(profile: Arc<dyn PrivacyProfile>) -> Self {
        Self { profile, bends: None, of_two_inputs: false }
    }

    /// The exact profile of two inputs that are the worst at every ε, in both directions.
    pub(super) fn of_two_inputs(profile: Arc<dyn PrivacyProfile>) -> Self {
        Self { profile, bends: None, of_two_inputs: true }
    }

    /// The exact profile of a channel.
    pub fn of_channel(channel: &FiniteKernel) -> Self {
        Self::of_rounded_channel(channel, 0.0)
    }

    /// The profile of a channel whose entries are within a small relative error of the given ones.
    pub(super) fn of_rounded_channel(channel: &FiniteKernel, relative_error: f64) -> Self {
        let curve = channel.curve();
        let bends = curve.bends().map(|(gamma, _)| gamma.ln()).collect();
        let profile = Arc::new(ChannelProfile { curve, relative_error });
        Self { profile, bends: Some(bends), of_two_inputs: false }
    }

    /// δ(ε) = (a − e^ε·b)₊ for any two inputs, from a − b ≥ 0 and b ≥ 0, and a promise that is known to hold.
    pub(super) fn hinge(excess: Enclosure, less: Enclosure, promise: LocalPrivacy) -> Self {
        let hinge = Hinge { excess, less, promise };
        let end = hinge.largest_epsilon().upper();
        let bends = Some(vec![promise.epsilon.get(), end]);
        Self { profile: Arc::new(hinge), bends, of_two_inputs: true }
    }

    /// δ(ε).
    pub fn delta(&self, epsilon: Epsilon) -> Enclosure {
        self.profile.delta(epsilon)
    }

    /// The smallest ε ≥ 0 with δ(ε) ≤ δ; ∞ if there is none.
    pub fn epsilon(&self, delta: Delta) -> Enclosure {
        self.profile.epsilon(delta)
    }

    /// The ε where δ is known to bend.
    pub(super) fn bends(&self) -> &[f64] {
        self.bends.as_deref().unwrap_or_default()
    }

    /// Whether two inputs are known to be the worst at every ε, and to have exactly this profile.
    pub(super) fn is_of_two_inputs(&self) -> bool {
        self.of_two_inputs
    }

    /// A pair of laws whose E_γ is this profile where it is linear in e^ε, and is otherwise just above it.
    pub fn pair(&self) -> DominatingPair {
        let law = match &self.bends {
            Some(bends) => FiniteLoss::dominating_with_knots(self, bends),
            None => FiniteLoss::dominating(self),
        };
        DominatingPair::symmetric(Arc::new(law))
    }

    /// The total privacy loss of a person who answers several questions, each this many times.
    ///
    /// # Guarantee
    /// The upper ends hold even if answers, and the choice of the next question, depend on earlier answers. They are
    /// the exact profile, up to the tolerance of the [`Composition`], if one pair of inputs is the worst for every
    /// question at every ε, as it is for frequencies.
    ///
    /// ```
    /// use dobrushin_local::frequency::{FrequencyOracle, Response};
    /// use dobrushin_local::LocalProfile;
    /// use dobrushin::profile::PrivacyProfile;
    /// use dobrushin::{Delta, Epsilon};
    /// let question = Response::new(10, Epsilon::new(0.5)?, Delta::new(0.0)?)?.privacy();
    /// let survey = LocalProfile::compose(&[(question, 20)]);
    /// // Much less than 20 · 0.5.
    /// assert!(survey.epsilon(Delta::new(1e-6)?).upper() < 7.0);
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn compose(questions: &[(Self, u64)]) -> Composition {
        let parts = questions.iter().map(|(question, count)| Part { pair: question.pair(), count: *count });
        Composition::new(parts.collect())
    }
}

impl PrivacyProfile for LocalProfile {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        self.delta(epsilon)
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn epsilon_of(&self, _: Direction, delta: Delta) -> Enclosure {
        self.epsilon(delta)
    }
}

/// (a − e^ε·b)₊ = (a − b − (e^ε − 1)·b)₊.
struct Hinge {
    excess: Enclosure,
    less: Enclosure,
    promise: LocalPrivacy,
}

impl Hinge {
    /// ln(a/b).
    fn largest_epsilon(&self) -> Enclosure {
        self.unpromised_epsilon(Enclosure::ZERO)
    }

    /// ln((a − δ)/b).
    fn unpromised_epsilon(&self, delta: Enclosure) -> Enclosure {
        let above = self.excess - delta;
        if above.upper() <= 0.0 {
            return Enclosure::ZERO;
        }
        if self.less == Enclosure::ZERO {
            return if above.lower() > 0.0 { Enclosure::INFINITE } else { Enclosure::ENTIRE.positive_part() };
        }
        (above / self.less).ln_1p().positive_part()
    }
}

impl PrivacyProfile for Hinge {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        let cost = Enclosure::from(epsilon).exp_m1();
        let cost = if self.less == Enclosure::ZERO { self.less } else { cost * self.less };
        let delta = (self.excess - cost).positive_part();
        let kept = epsilon >= self.promise.epsilon;
        if kept { delta.min(Enclosure::from(self.promise.delta)) } else { delta }
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn epsilon_of(&self, _: Direction, delta: Delta) -> Enclosure {
        let epsilon = self.unpromised_epsilon(delta.into());
        let kept = delta >= self.promise.delta;
        if kept { epsilon.min(Enclosure::from(self.promise.epsilon)) } else { epsilon }
    }
}

/// η_γ of a channel whose entries are within a relative error of the stored ones.
struct ChannelProfile {
    curve: ContractionCurve,
    relative_error: f64,
}

impl PrivacyProfile for ChannelProfile {
    /// If each entry is off by a factor within 1 ± e, η is between (1 − e)·η at γ(1 + e)/(1 − e) and (1 + e)·η at γ(1 −
    /// e)/(1 + e).
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        let Ok(gamma) = Gamma::from_epsilon(epsilon.get().min(f64::MAX)) else { return Enclosure::UNIT };
        if self.relative_error == 0.0 {
            return self.curve.contraction(gamma);
        }
        let (less, more) = (1.0 - self.relative_error, 1.0 + self.relative_error);
        let at =
            |gamma: f64| Gamma::new(gamma.clamp(1.0, f64::MAX)).map(|gamma| self.curve.contraction(gamma));
        let upper = at(mul_down(gamma.value().lower(), div_down(less, more)));
        let lower = at(mul_up(gamma.value().upper(), div_up(more, less)));
        let upper = upper.map_or(1.0, |eta| mul_up(eta.upper(), more).min(1.0));
        let lower = lower.map_or(0.0, |eta| mul_down(eta.lower(), less));
        Enclosure::between(lower.min(upper), upper)
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        if self.relative_error == 0.0 {
            return self.curve.epsilon_at(delta);
        }
        smallest_epsilon(delta, |epsilon| self.delta_of(direction, epsilon))
    }
}
