//! A profile known only at some ε.

use super::nodes::{refined, scales};
use super::{Direction, PrivacyProfile};
use crate::divergence::HockeyStickCurve;
use crate::numeric::root_of_decreasing;
use crate::{Delta, Enclosure, Epsilon, Gamma};

/// A point of a profile: an (ε, δ) guarantee in one direction.
///
/// ```
/// use dobrushin::profile::Knot;
/// use dobrushin::{Delta, Epsilon};
///
/// let knot = Knot::new(Epsilon::new(1.0)?, Delta::new(1e-5)?);
/// assert_eq!((knot.epsilon(), knot.delta()), (1.0, 1e-5));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    epsilon: f64,
    delta: f64,
}

impl Knot {
    /// E_{e^ε} ≤ δ.
    pub fn new(epsilon: Epsilon, delta: Delta) -> Self {
        Self { epsilon: epsilon.get(), delta: delta.get() }
    }

    /// E_{e^ε} ≤ the bound, or ≤ 1, for an ε ≥ 0.
    pub(super) fn bounded(epsilon: f64, bound: f64) -> Self {
        Self { epsilon, delta: bound.min(1.0) }
    }

    /// ε.
    pub fn epsilon(self) -> f64 {
        self.epsilon
    }

    /// δ.
    pub fn delta(self) -> f64 {
        self.delta
    }
}

/// The best profile that follows from guarantees at finitely many ε: the lower convex hull of
/// the points (e^ε, δ), linear in γ = e^ε between its knots.
///
/// # Guarantee
/// If E_{e^ε} ≤ δ at every given point of each direction, then E_γ of both directions is at most the profile for all γ
/// ≥ 1. Indeed h(γ) = ∫(dP − γdQ)₊ is convex and non-increasing in γ ≥ 0:
///
/// - between two points, h lies below the chord;
/// - beyond the last point it is at most the value there;
/// - below 1, h(1/γ) = 1 − (1 − E_γ(Q‖P))/γ, so a point of the other direction gives a point of h too, and so does h(0)
///   = 1. The lowest chord across γ = 1 bounds total variation, where both directions start.
///
/// Without points the profile is 1.
///
/// ```
/// use dobrushin::profile::{ApproximateProfile, Knot, PiecewiseProfile};
/// use dobrushin::{Delta, Epsilon, PrivacyProfile};
///
/// // A single guarantee, (1, 1e-5), says all that it says by itself.
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-5)?);
/// let known = PiecewiseProfile::symmetric(&[Knot::new(epsilon, delta)]);
/// let implied = ApproximateProfile::new(epsilon, delta);
/// for at in [0.0, 0.5, 1.0, 2.0] {
///     let at = Epsilon::new(at)?;
///     assert!((known.delta(at).upper() / implied.delta(at).upper() - 1.0).abs() < 1e-9);
/// }
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewiseProfile {
    forward: Vec<Knot>,
    /// `None` if it is the same as the forward direction.
    reverse: Option<Vec<Knot>>,
}

impl PiecewiseProfile {
    /// The profile of guarantees that hold in both directions.
    pub fn symmetric(points: &[Knot]) -> Self {
        let chain = hull(points.iter().copied());
        let start = total_variation(&chain, &chain);
        Self { forward: hull([start].into_iter().chain(chain)), reverse: None }
    }

    /// The profile of guarantees in the two directions.
    pub fn new(forward: &[Knot], reverse: &[Knot]) -> Self {
        let (forward, reverse) = (hull(forward.iter().copied()), hull(reverse.iter().copied()));
        let start = total_variation(&forward, &reverse);
        let chain = |points| hull([start].into_iter().chain(points));
        Self { forward: chain(forward), reverse: Some(chain(reverse)) }
    }

    /// The profile of two laws from their curves, in the two directions. It is exact up to rounding.
    pub fn from_curves(forward: &HockeyStickCurve, reverse: &HockeyStickCurve) -> Self {
        Self::new(&points_of(forward), &points_of(reverse))
    }

    /// A copy of a profile that is cheap to evaluate: it is at least the original, and at most 1 + tolerance times as
    /// large down to 1e-40, as far as a bisection of at most ten steps between δ that are a factor of ten apart
    /// achieves this.
    pub fn interpolating(profile: &dyn PrivacyProfile, tolerance: f64) -> Self {
        let points = |direction| {
            let at = |epsilon| profile.delta_of(direction, epsilon).upper();
            refined(&scales(profile, direction), tolerance, at)
        };
        if profile.is_symmetric() {
            return Self::symmetric(&points(Direction::Forward));
        }
        Self::new(&points(Direction::Forward), &points(Direction::Reverse))
    }

    /// The points where the profile bends, with ε increasing from 0; beyond the last the profile is constant.
    pub fn knots(&self, direction: Direction) -> &[Knot] {
        match (direction, &self.reverse) {
            (Direction::Reverse, Some(knots)) => knots,
            _ => &self.forward,
        }
    }
}

impl PrivacyProfile for PiecewiseProfile {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        value_at(self.knots(direction), epsilon.get())
    }

    fn is_symmetric(&self) -> bool {
        self.reverse.is_none()
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        let (knots, delta) = (self.knots(direction), delta.get());
        match knots.split_at(knots.partition_point(|knot| knot.delta > delta)) {
            ([], _) => Enclosure::ZERO,
            (_, []) => Enclosure::INFINITE,
            ([.., before], [after, ..]) => {
                let share = (delta - after.delta) / (before.delta - after.delta);
                let hint = after.epsilon + libm::log1p(share * libm::expm1(before.epsilon - after.epsilon));
                root_of_decreasing((before.epsilon, after.epsilon), hint, delta, |e| value_at(knots, e))
            }
        }
    }
}

fn value_at(knots: &[Knot], epsilon: f64) -> Enclosure {
    match knots.split_at(knots.partition_point(|knot| knot.epsilon <= epsilon)) {
        ([.., before], [after, ..]) if before.epsilon < epsilon => chord(*before, *after, epsilon),
        ([.., before], _) => before.delta.into(),
        ([], _) => Enclosure::ONE,
    }
}

/// The value at ε of the line in γ through two knots on either side: δ_b + w·(δ_a − δ_b) with
/// w = (e^b − e^ε)/(e^b − e^a), which does not overflow when divided by e^b.
pub(super) fn chord(a: Knot, b: Knot, epsilon: f64) -> Enclosure {
    let (start, end) = (Enclosure::from(a.epsilon), Enclosure::from(b.epsilon));
    let weight = (Enclosure::from(epsilon) - end).exp_m1() / (start - end).exp_m1();
    let weight = weight.positive_part().min(Enclosure::ONE);
    let (from, to) = (Enclosure::from(a.delta), Enclosure::from(b.delta));
    to + weight * (from - to)
}

/// The lower convex hull in γ of points, as far as it decreases. A point at ε = ∞ implies nothing about any other ε and
/// is left out. A point is dropped only if the chord over it is certainly not above it.
fn hull(points: impl IntoIterator<Item = Knot>) -> Vec<Knot> {
    let mut points: Vec<Knot> = points.into_iter().filter(|p| p.epsilon < f64::INFINITY).collect();
    points.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon).then(a.delta.total_cmp(&b.delta)));
    let mut hull: Vec<Knot> = Vec::new();
    for point in points {
        if hull.last().is_some_and(|last| last.delta <= point.delta) {
            continue;
        }
        while let [.., before, last] = hull[..]
            && chord(before, point, last.epsilon).upper() <= last.delta
        {
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// h(0) = 1, seen from the other side, and the height of h at ∞, which implies nothing.
const NOTHING: Knot = Knot { epsilon: f64::INFINITY, delta: 1.0 };

/// A bound on E_1 of both directions: the lowest chord across γ = 1 from a point of one direction to one of the other.
/// Every chord is a bound, so the search need not be exact: it moves from a point to its best partner until nothing
/// improves, which for two convex chains gives the optimum.
fn total_variation(forward: &[Knot], reverse: &[Knot]) -> Knot {
    let best_partner = |from: Knot, chain: &[Knot]| {
        let start = (across(from, NOTHING), NOTHING);
        chain.iter().map(|&to| (across(from, to), to)).fold(start, |a, b| if b.0 < a.0 { b } else { a })
    };
    let (mut bound, mut point) = best_partner(NOTHING, forward);
    loop {
        let (there, partner) = best_partner(point, reverse);
        let (back, next) = best_partner(partner, forward);
        if there.min(back) >= bound {
            return Knot::bounded(0.0, bound);
        }
        (bound, point) = (there.min(back), next);
    }
}

/// The height at γ = 1 of the chord between (γ_a, δ_a) and (1/γ_b, 1 − (1 − δ_b)/γ_b), rounded
/// up:
///
/// ```text
/// [(γ_a − 1)(γ_b − 1 + δ_b) + (γ_b − 1)δ_a]/(γ_aγ_b − 1),
/// ```
///
/// with numerator and denominator divided by γ_aγ_b.
fn across(a: Knot, b: Knot) -> f64 {
    if a.epsilon == 0.0 || b.epsilon == 0.0 {
        let at_one = |knot: Knot| if knot.epsilon == 0.0 { knot.delta } else { 1.0 };
        return at_one(a).min(at_one(b));
    }
    let terms = |knot: Knot| {
        let minus = -Enclosure::from(knot.epsilon);
        (-minus.exp_m1(), minus.exp() * Enclosure::from(knot.delta))
    };
    let ((rest_a, share_a), (rest_b, share_b)) = (terms(a), terms(b));
    let sum = -(Enclosure::from(a.epsilon) + Enclosure::from(b.epsilon));
    ((rest_a * (rest_b + share_b) + rest_b * share_a) / -sum.exp_m1()).upper()
}

/// The γ where the curve bends beyond γ = 1, where it starts, and where it becomes constant.
fn points_of(curve: &HockeyStickCurve) -> Vec<Knot> {
    let bends = curve.knots().map(libm::log).filter(|epsilon| *epsilon > 0.0).chain([0.0]);
    let at = |epsilon: f64| {
        Gamma::from_epsilon(epsilon).map(|gamma| Knot::bounded(epsilon, curve.at(gamma).upper()))
    };
    let mut points: Vec<Knot> = bends.filter_map(|epsilon| at(epsilon).ok()).collect();
    let last = curve.vertices().first().map_or(0.0, |only_p| only_p.p);
    if let Ok(delta) = Delta::new(last) {
        points.push(Knot::bounded(curve.epsilon_at(delta).upper(), last));
    }
    points
}
