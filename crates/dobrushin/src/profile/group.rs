//! The privacy of groups of records.
//!
//! If k records are changed one after another, consecutive laws of P = P₀, P₁, …, P_k = Q belong to neighbours, and
//! with h_i(γ) = ∫(dP_{i−1} − γdP_i)₊ the triangle inequality of the hockey stick,
//!
//! ```text
//! h_{P₀P_k}(γ₁⋯γ_k) ≤ h₁(γ₁) + γ₁h₂(γ₂) + γ₁γ₂h₃(γ₃) + …   for all γ_i > 0,
//! ```
//!
//! bounds the profile of the group by that of a record, for any way to split γ, including factors below 1, where h(γ) =
//! 1 − γ(1 − E_{1/γ}) is known from the other direction.
//!
//! # Implementation
//! The best split for a given slope −x of the group's profile is found stage by stage from the last: each stage takes
//! the γ with the least h(γ) + γx and passes this minimum on as the next x. So the best split is the k-fold composition
//! of g(x) = min_γ h(γ) + γx, which is 1 − f(x) of the trade-off function f: the group privacy of Dong, Roth and Su
//! (2022, Theorem 2.14). The search is done in floating point, because every split is a bound; only the sum is rounded
//! outwards.

use super::piecewise::{Knot, PiecewiseProfile};
use super::{Direction, PrivacyProfile};
use crate::numeric::rounding::{add_up, mul_up};
use crate::{Delta, Enclosure, Epsilon};
use std::num::NonZeroU32;

/// The consequences of a profile for one record for groups of k, whose records are all changed in the same direction.
///
/// # Guarantee
/// If the given profile bounds E_γ of neighbours in each direction, this one bounds E_γ of all data sets that a path of
/// k neighbours joins, each step of which is in the given direction. Up to interpolation, nothing better follows from
/// the profile alone: for μ-GDP it is the profile of kμ-GDP, for pure ε-DP it ends at kε. Values below 1e-300 of the
/// profile for one record are replaced by 1e-300.
///
/// The cost of construction is proportional to k; the cost of evaluation does not depend on k.
///
/// ```
/// use dobrushin::profile::{ApproximateProfile, GroupProfile};
/// use dobrushin::{Delta, Epsilon, PrivacyProfile};
///
/// // Pure ε-privacy for one record is 3ε-privacy for three.
/// let one = ApproximateProfile::new(Epsilon::new(0.5)?, Delta::new(0.0)?);
/// let three = GroupProfile::new(&one, 3.try_into()?);
/// assert!(three.delta(Epsilon::new(1.51)?).upper() < 1e-12);
/// assert!(three.delta(Epsilon::new(1.4)?).lower() > 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GroupProfile {
    bound: PiecewiseProfile,
}

/// The interpolation tolerance for the profile of one record.
const RECORD_TOLERANCE: f64 = 1e-4;

/// The interpolation tolerance for the profile of the group, and the one where δ is very small.
const GROUP_TOLERANCE: f64 = 1e-3;
const DEEP_TOLERANCE: f64 = 0.1;
const DEEP: f64 = 1e-40;

/// The number of times an edge of the group's profile is divided.
const DIVISIONS: u32 = 40;

impl GroupProfile {
    /// The profile of groups of this many records.
    pub fn new(profile: &dyn PrivacyProfile, records: NonZeroU32) -> Self {
        let single = PiecewiseProfile::interpolating(profile, RECORD_TOLERANCE);
        let points = |direction| {
            let stage = Stage::new(&single, direction);
            group(&std::iter::repeat_n(&stage, records.get() as usize))
        };
        let bound = if single.is_symmetric() {
            PiecewiseProfile::symmetric(&points(Direction::Forward))
        } else {
            PiecewiseProfile::new(&points(Direction::Forward), &points(Direction::Reverse))
        };
        Self { bound }
    }

    /// The profile of a replaced record, from the profile of a record that is present (P, the forward direction first) or
    /// absent: it is removed, and another is added.
    ///
    /// ```
    /// use dobrushin::profile::{GaussianProfile, GroupProfile};
    /// use dobrushin::{Epsilon, NonNegative, PrivacyProfile};
    ///
    /// // A distance of 1 there and another of 1 back are 2 at most.
    /// let one = GaussianProfile::new(NonNegative::new(1.0)?);
    /// let two = GaussianProfile::new(NonNegative::new(2.0)?).delta(Epsilon::new(3.0)?);
    /// let replaced = GroupProfile::of_a_replacement(&one).delta(Epsilon::new(3.0)?);
    /// assert!(replaced.upper() >= two.lower() && replaced.upper() < 1.01 * two.upper());
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn of_a_replacement(profile: &dyn PrivacyProfile) -> Self {
        let single = PiecewiseProfile::interpolating(profile, RECORD_TOLERANCE);
        let [removed, added] = Direction::BOTH.map(|direction| Stage::new(&single, direction));
        Self { bound: PiecewiseProfile::symmetric(&group(&[&added, &removed].into_iter())) }
    }
}

impl PrivacyProfile for GroupProfile {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.bound.delta_of(direction, epsilon)
    }

    fn is_symmetric(&self) -> bool {
        self.bound.is_symmetric()
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        self.bound.epsilon_of(direction, delta)
    }
}

/// A bound h(e^t) ≤ height, for any t ∈ [−∞, ∞).
#[derive(Clone, Copy)]
struct Point {
    t: f64,
    height: f64,
    /// 1 − height, approximately, without cancellation for t < 0.
    depth: f64,
}

/// h(0) = 1.
const ORIGIN: Point = Point { t: f64::NEG_INFINITY, height: 1.0, depth: 0.0 };

/// What is known about h between two neighbours.
struct Stage {
    /// A decreasing convex chain, with increasing t, starting at the origin.
    points: Vec<Point>,
    /// An upper bound on e^(t/2) for each, which overflows later than e^t.
    roots: Vec<f64>,
    /// The approximate ln x at which the best point changes from each to the next.
    ln_changes: Vec<f64>,
}

impl Stage {
    fn new(profile: &PiecewiseProfile, direction: Direction) -> Self {
        // The knot at ε = 0 belongs to both directions.
        let reflected = profile.knots(direction.reversed()).iter().skip(1).rev().map(|knot| {
            let share =
                (-Enclosure::from(knot.epsilon())).exp() * (Enclosure::ONE - Enclosure::from(knot.delta()));
            Point { t: -knot.epsilon(), height: (Enclosure::ONE - share).upper(), depth: share.midpoint() }
        });
        let direct = profile.knots(direction).iter().map(|knot| Point {
            t: knot.epsilon(),
            height: knot.delta(),
            depth: 1.0 - knot.delta(),
        });
        let mut points = vec![ORIGIN];
        for point in reflected.chain(direct) {
            // Rounding may hide the descent where the height is almost 1.
            if points.last().is_some_and(|&last| drop_between(last, point) > 0.0) {
                points.push(point);
            }
        }
        let ln_changes = points.windows(2).map(|w| ln_slope(w[0], w[1])).collect();
        let root = |point: &Point| (Enclosure::from(point.t) / Enclosure::from(2.0)).exp().upper();
        let roots = points.iter().map(root).collect();
        Self { points, roots, ln_changes }
    }
}

/// Points of the profile of a path of neighbours, one stage for each step of it, the last one first, at ε ≥ 0: the ends of the chain, then
/// further points wherever an edge can be undercut by more than a little.
fn group<'a>(stages: &(impl Iterator<Item = &'a Stage> + Clone)) -> Vec<Knot> {
    let last = compose(f64::NEG_INFINITY, stages);
    let mut found = vec![last];
    let mut edges = vec![(ORIGIN, last, DIVISIONS)];
    while let Some((a, b, left)) = edges.pop() {
        if !(b.t > 0.0 && a.t < b.t && a.height > b.height) {
            continue;
        }
        let middle = compose(ln_slope(a, b), stages);
        if !(a.t < middle.t && middle.t < b.t) {
            continue;
        }
        found.push(middle);
        let weight = libm::expm1(middle.t - b.t) / libm::expm1(a.t - b.t);
        let chord = b.height + weight * (a.height - b.height);
        let tolerance = if middle.height < DEEP { DEEP_TOLERANCE } else { GROUP_TOLERANCE };
        if left > 1 && chord > middle.height * (1.0 + tolerance) {
            edges.extend([(a, middle, left - 1), (middle, b, left - 1)]);
        }
    }
    found.iter().filter(|p| p.t >= 0.0).map(|p| Knot::bounded(p.t, p.height)).collect()
}

/// The point of the path's profile where its slope is about −x: at t, rounded up, h is at most the height, rounded up.
fn compose<'a>(ln_x: f64, stages: &(impl Iterator<Item = &'a Stage> + Clone)) -> Point {
    let (mut ln_x, mut t, mut height) = (ln_x, 0.0, 0.0);
    for stage in stages.clone() {
        let index = stage.ln_changes.partition_point(|change| *change > ln_x);
        let (point, root) = (stage.points[index], stage.roots[index]);
        height = add_up(point.height, mul_up(mul_up(height, root), root));
        t = add_up(t, point.t);
        ln_x = libm::log(point.height + libm::exp(point.t + ln_x));
    }
    Point { t, height, depth: 1.0 - height }
}

/// ln of minus the slope in e^t of the line between two points, approximately.
fn ln_slope(a: Point, b: Point) -> f64 {
    libm::log(drop_between(a, b)) - b.t - libm::log(-libm::expm1(a.t - b.t))
}

/// How much the height falls from one point to the next, without cancellation.
fn drop_between(a: Point, b: Point) -> f64 {
    if b.t <= 0.0 { b.depth - a.depth } else { a.height - b.height }
}
