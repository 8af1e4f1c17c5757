//! The composition of mechanisms: how private are all outputs together?

use super::distribution::LossDistribution;
use super::plan::{GaussianBetween, Law, Plan, Target};
use super::{DominatingPair, GaussianLoss, LossLaw};
use crate::numeric::elementary::powi;
use crate::numeric::{Boundary, theta};
use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon, NonNegative, Positive};

/// A mechanism, given by its dominating pair, and the number of times it is used.
///
/// ```
/// use dobrushin::loss::{Composition, DominatingPair, GaussianLoss, Part};
/// use dobrushin::{Delta, NonNegative, Positive, PrivacyProfile, numeric::theta};
/// use std::sync::Arc;
///
/// // A hundred Gaussians at distance 0.1 are one at distance 1.
/// let pair = DominatingPair::symmetric(Arc::new(GaussianLoss::new(Positive::new(0.1)?)));
/// let composed = Composition::new(vec![Part { pair, count: 100 }]).epsilon(Delta::new(1e-5)?);
/// let known = theta::smallest_epsilon(NonNegative::new(1.0)?, Delta::new(1e-5)?);
/// assert!((composed.upper() / known.upper() - 1.0).abs() < 1e-9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
pub struct Part {
    /// The pair that dominates one use.
    pub pair: DominatingPair,
    /// The number of uses.
    pub count: u64,
}

/// The profile of several mechanisms used on the same data, with all outputs released.
///
/// # Guarantee
/// If each pair dominates its mechanism for every input and every earlier output, the upper
/// ends bound the composition, adaptive or not: E_γ of a product of dominating pairs
/// dominates (Zhu, Dong, Wang 2022, Theorem 10). The lower ends are below E_γ of the product
/// pair. They differ by about `tolerance`, relatively in ε.
///
/// ```
/// use dobrushin::loss::{Composition, DominatingPair, FiniteLoss, Part};
/// use dobrushin::{Delta, Epsilon, PrivacyProfile};
/// use std::sync::Arc;
///
/// // Ten answers by randomised response with ε = 0.1 are 1-private, and a small δ buys a smaller ε.
/// let response = FiniteLoss::randomised_response(Epsilon::new(0.1)?);
/// let pair = DominatingPair::symmetric(Arc::new(response));
/// let ten = Composition::new(vec![Part { pair, count: 10 }]);
/// assert!((ten.epsilon(Delta::new(0.0)?).upper() - 1.0).abs() < 1e-3);
/// assert!(ten.epsilon(Delta::new(1e-3)?).upper() < 0.9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
pub struct Composition {
    parts: Vec<Part>,
    tolerance: f64,
}

/// Relative, in ε.
const DEFAULT_TOLERANCE: f64 = 1e-4;

/// Larger ε are not considered.
const LAST: f64 = 1e12;

/// The tolerance of a first, rough computation.
const ROUGHLY: f64 = 0.03;

/// The number of times a grid that turned out too coarse is refined.
const ATTEMPTS: usize = 4;

impl Composition {
    /// All the parts, in any order. An empty composition has the profile 0.
    pub fn new(parts: Vec<Part>) -> Self {
        Self {
            parts: parts.into_iter().filter(|part| part.count > 0).collect(),
            tolerance: DEFAULT_TOLERANCE,
        }
    }

    /// Sets the relative width of enclosures of ε to about `relative`, from 1e-8 to 0.1.
    pub fn with_tolerance(self, relative: f64) -> Self {
        Self { tolerance: relative.clamp(1e-8, 0.1), ..self }
    }

    /// The law of the loss in one direction, computed for a given δ.
    pub fn distribution(&self, direction: Direction, delta: Delta) -> LossDistribution {
        let laws = self.laws(direction);
        if laws.is_empty() {
            return LossDistribution::nothing();
        }
        Plan::new(&laws, Target::Delta(delta.get())).distribution(&laws, self.tolerance)
    }

    /// The laws of one direction; all Gaussian ones are merged into one with μ = √Σr².
    fn laws(&self, direction: Direction) -> Vec<(Law<'_>, u64)> {
        let mut square = Enclosure::ZERO;
        let mut laws = Vec::new();
        for part in &self.parts {
            let law = part.pair.law(direction);
            match law.gaussian_ratio() {
                Some(r) => square = square + Enclosure::from(r).square() * Enclosure::from(part.count),
                None => laws.push((Law::Given(law), part.count)),
            }
        }
        if square.upper() > 0.0 {
            // No ratio is lost because its square overflows or underflows: from 1e154 on, nothing is hidden in any
            // case.
            let ends = [square.sqrt().lower(), square.sqrt().upper()];
            let ends = ends.map(|end| Positive::new(end.clamp(f64::MIN_POSITIVE, f64::MAX)));
            if let [Ok(below), Ok(above)] = ends.map(|end| end.map(GaussianLoss::new)) {
                laws.push((Law::Gaussian(GaussianBetween(below, above)), 1));
            }
        }
        laws
    }

    /// μ if every part is Gaussian.
    fn gaussian(&self, direction: Direction) -> Option<Enclosure> {
        let squares = self.parts.iter().map(|part| {
            let r = part.pair.law(direction).gaussian_ratio()?;
            Some(Enclosure::from(r).square() * Enclosure::from(part.count))
        });
        Some(squares.sum::<Option<Enclosure>>()?.sqrt())
    }

    /// ε(δ) of one direction, with this many attempts to meet the tolerance.
    fn enclosed_epsilon(&self, direction: Direction, delta: Delta, attempts: usize) -> Enclosure {
        if self.parts.is_empty() || delta.get() >= 1.0 {
            return Enclosure::ZERO;
        }
        if let Some(mu) = self.gaussian(direction) {
            return gaussian_epsilon(mu, delta);
        }
        let largest = self.largest_loss(direction);
        if delta.get() == 0.0 {
            return largest;
        }
        let laws = self.laws(direction);
        let plan = Plan::new(&laws, Target::Delta(delta.get()));
        let mut best = Enclosure::between(0.0, largest.upper());
        let mut tolerance = self.tolerance;
        for _ in 0..attempts {
            let epsilon = plan.distribution(&laws, tolerance).epsilon(delta);
            let before = best.width();
            best = best.intersect(epsilon).unwrap_or_else(|| best.hull(epsilon));
            let wanted = self.tolerance * plan.scale(best.upper());
            // If a finer grid gains little, the limits of rounding are reached.
            if best.width() <= wanted || best.lower() == f64::INFINITY || best.width() > 0.7 * before {
                break;
            }
            tolerance = (tolerance * 0.6 * (wanted / best.width()).clamp(0.01, 1.0)).max(1e-9);
        }
        best
    }

    /// δ(ε) where no tilt suits ε, far out in a heavy tail: each of many laws, computed for δ from 0.1 down, bounds δ
    /// everywhere.
    fn delta_by_many(&self, laws: &[(Law, u64)], epsilon: Epsilon, known: Enclosure) -> Enclosure {
        let made = (0..20).map(|i| {
            let plan = Plan::new(laws, Target::Delta(0.1 * powi(10f64, -3 * i)));
            plan.distribution(laws, ROUGHLY.max(self.tolerance)).delta(epsilon)
        });
        made.fold(known, |best, delta| best.intersect(delta).unwrap_or_else(|| best.hull(delta)))
    }

    /// How often a grid that turned out too coarse is refined: never, if a law itself is known between two others only, which
    /// no grid brings closer together.
    fn attempts(&self) -> usize {
        let between = |part: &Part| part.pair.law(Direction::Forward).beneath().is_some();
        if self.parts.iter().any(between) { 1 } else { ATTEMPTS }
    }

    /// The sum of the largest losses, if they are bounded: ε at δ = 0.
    fn largest_loss(&self, direction: Direction) -> Enclosure {
        let largest = self
            .parts
            .iter()
            .map(|part| largest_loss(part.pair.law(direction)) * Enclosure::from(part.count));
        largest.sum()
    }
}

impl PrivacyProfile for Composition {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        if self.parts.is_empty() {
            return Enclosure::ZERO;
        }
        if let Some(mu) = self.gaussian(direction) {
            return theta::theta_range(epsilon.into(), mu);
        }
        if epsilon.get() >= self.largest_loss(direction).upper() {
            return Enclosure::ZERO;
        }
        // Beyond every grid, δ is at most its value at the end of the grid.
        if epsilon.get() > LAST {
            let end = Epsilon::new(LAST).map_or(Enclosure::UNIT, |end| self.delta_of(direction, end));
            return Enclosure::ZERO.hull(end);
        }
        let laws = self.laws(direction);
        let plan = Plan::new(&laws, Target::Epsilon(epsilon.get()));
        let mut best = Enclosure::UNIT;
        let mut width = f64::INFINITY;
        let mut tolerance = self.tolerance;
        for _ in 0..self.attempts() {
            let delta = plan.distribution(&laws, tolerance).delta(epsilon);
            best = best.intersect(delta).unwrap_or_else(|| best.hull(delta));
            // The error of ε.
            let before = width;
            width = libm::log(best.upper() / best.lower()) / plan.steepness();
            let wanted = self.tolerance * plan.scale(epsilon.get());
            let relative = 1.0 - best.lower() / best.upper();
            if width <= wanted
                || relative <= self.tolerance
                || best.lower() > 0.99
                || best.upper() < 1e-290
                || width > 0.7 * before
            {
                break;
            }
            tolerance = (tolerance * 0.6 * (wanted / width).clamp(0.01, 1.0)).max(1e-9);
        }
        if best.lower() == 0.0 && best.upper() > 1e-250 {
            self.delta_by_many(&laws, epsilon, best)
        } else {
            best
        }
    }

    fn epsilon(&self, delta: Delta) -> Enclosure {
        if self.is_symmetric() {
            return self.epsilon_of(Direction::Forward, delta);
        }
        // The direction with the record first is usually larger by far; then a rough computation shows this for the
        // other.
        let rough = self.clone().with_tolerance(ROUGHLY.max(self.tolerance));
        let (forward, reverse) = rayon::join(
            || self.epsilon_of(Direction::Forward, delta),
            || rough.enclosed_epsilon(Direction::Reverse, delta, 1),
        );
        if reverse.upper() <= forward.lower() {
            return forward;
        }
        forward.max(self.epsilon_of(Direction::Reverse, delta))
    }

    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        match self.gaussian(direction) {
            Some(mu) if !self.parts.is_empty() => theta::ln_theta_range(epsilon.into(), mu),
            _ => self.delta_of(direction, epsilon).ln(),
        }
    }

    fn is_symmetric(&self) -> bool {
        self.parts.iter().all(|part| part.pair.is_symmetric())
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        self.enclosed_epsilon(direction, delta, self.attempts())
    }
}

/// ε of a Gaussian pair known by an enclosure of μ.
fn gaussian_epsilon(mu: Enclosure, delta: Delta) -> Enclosure {
    let at =
        |mu: f64| NonNegative::new(mu).map_or(Enclosure::INFINITE, |mu| theta::smallest_epsilon(mu, delta));
    at(mu.lower().max(0.0)).hull(at(mu.upper()))
}

/// The largest finite loss, if nothing lies beyond it and nothing at ∞.
fn largest_loss(law: &dyn LossLaw) -> Enclosure {
    let none_above = |loss: f64| law.split(loss.into()).above.p.upper() <= 0.0;
    let mut end = 1e-12;
    while !none_above(end) {
        end *= 2.0;
        if end > 1e12 {
            return Enclosure::between(0.0, f64::INFINITY);
        }
    }
    let found = Boundary { holds: end, fails: 0.0 }.halved_to(1e-14, none_above);
    let seen = |loss: f64| law.split(loss.into()).above.p.lower() > 0.0;
    Enclosure::between(if seen(found.fails) { found.fails } else { 0.0 }, found.holds)
}
