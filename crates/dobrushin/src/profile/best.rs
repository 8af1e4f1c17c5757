//! The best of several analyses of one mechanism.

use super::nodes::scales;
use super::piecewise::{Knot, PiecewiseProfile};
use super::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon, Error};
use std::sync::Arc;

/// The pointwise minimum of several bounds on one mechanism's profile, and of the chords
/// between them.
///
/// # Guarantee
/// If every member bounds the mechanism's profile, so does this one: the minimum trivially, and the chords because the
/// profile is convex in γ (see [`PiecewiseProfile`]). Two bounds that cross have a common tangent below both. The
/// tangents are searched for at a few hundred ε; missing one costs tightness and convexity, but not the guarantee.
///
/// ```
/// use dobrushin::profile::{ApproximateProfile, BestProfile, GaussianProfile};
/// use dobrushin::{Delta, Epsilon, NonNegative, PrivacyProfile};
/// use std::sync::Arc;
///
/// // Known to be 1-GDP and (2, 0)-private: each is the better bound at some ε.
/// let gaussian = GaussianProfile::new(NonNegative::new(1.0)?);
/// let pure = ApproximateProfile::new(Epsilon::new(2.0)?, Delta::new(0.0)?);
/// let best = BestProfile::new(vec![Arc::new(gaussian), Arc::new(pure)])?;
/// assert_eq!((best.best_at(Epsilon::new(0.5)?), best.best_at(Epsilon::new(2.0)?)), (0, 1));
/// // Together they say more than either where their common tangent is below both.
/// let epsilon = Epsilon::new(1.9)?;
/// assert!(best.delta(epsilon).upper() < gaussian.delta(epsilon).min(pure.delta(epsilon)).lower());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub struct BestProfile {
    members: Vec<Arc<dyn PrivacyProfile>>,
    /// The hull of the minimum at nodes near the common tangents.
    hull: PiecewiseProfile,
}

/// The number of times the nodes next to a common tangent are moved halfway towards it. The error of its height is the
/// square of the distance, or the distance itself where a member bends.
const ROUNDS: usize = 40;
/// Values with a smaller relative difference count as equal. Analyses that prove the same, such as several of one step,
/// differ by roundings. If each of these made another member the best, there would be common tangents everywhere, and the
/// search for them would not end.
const ROUNDING: f64 = 1e-9;

impl BestProfile {
    /// The best of the members, all of which bound the same profile.
    ///
    /// # Errors
    /// [`Error::Empty`] if there are none.
    pub fn new(members: Vec<Arc<dyn PrivacyProfile>>) -> Result<Self, Error> {
        if members.is_empty() {
            return Err(Error::Empty { what: "the list of profiles".to_owned(), missing: "profile" });
        }
        let hull = tangents(&members);
        Ok(Self { members, hull })
    }

    /// The members.
    pub fn members(&self) -> &[Arc<dyn PrivacyProfile>] {
        &self.members
    }

    /// The member (counted from 0, the first of equals) with the smallest δ(ε).
    pub fn best_at(&self, epsilon: Epsilon) -> usize {
        least(&self.members, 0.0, |member| member.delta(epsilon)).1
    }

    /// The smallest value of the members and the hull.
    fn smallest(&self, of: impl Fn(&dyn PrivacyProfile) -> Enclosure) -> Enclosure {
        self.members.iter().fold(of(&self.hull), |least, member| least.min(of(member.as_ref())))
    }
}

impl PrivacyProfile for BestProfile {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.smallest(|profile| profile.delta_of(direction, epsilon))
    }

    fn log_delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.smallest(|profile| profile.log_delta_of(direction, epsilon))
    }

    fn is_symmetric(&self) -> bool {
        self.hull.is_symmetric()
    }

    /// The smallest ε of any: each is non-increasing.
    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        self.smallest(|profile| profile.epsilon_of(direction, delta))
    }
}

/// The smallest upper end, and the first member that has it up to a relative rounding.
fn least(
    members: &[Arc<dyn PrivacyProfile>],
    rounding: f64,
    of: impl Fn(&dyn PrivacyProfile) -> Enclosure,
) -> (f64, usize) {
    let values: Vec<f64> = members.iter().map(|member| of(member.as_ref()).upper()).collect();
    let least = values.iter().fold(f64::INFINITY, |least, &value| least.min(value));
    let first = values.iter().position(|&value| value <= least * (1.0 + rounding));
    (least, first.unwrap_or(0))
}

/// The minimum at one ε: its value and its member, forward and reverse.
struct Node {
    epsilon: f64,
    least: [(f64, usize); 2],
}

/// The hull of the minimum of the members, from nodes that move closer and closer to where an edge of the hull touches
/// two different members.
fn tangents(members: &[Arc<dyn PrivacyProfile>]) -> PiecewiseProfile {
    let symmetric = members.iter().all(|member| member.is_symmetric());
    let directions = if symmetric { &Direction::BOTH[..1] } else { &Direction::BOTH[..] };
    let node = |epsilon: f64| {
        let value = |direction| match Epsilon::new(epsilon) {
            Ok(at) => least(members, ROUNDING, |member| member.delta_of(direction, at)),
            Err(_) => (1.0, 0),
        };
        let forward = value(Direction::Forward);
        Node { epsilon, least: [forward, if symmetric { forward } else { value(Direction::Reverse) }] }
    };
    let mut start: Vec<f64> = Vec::new();
    for (member, &direction) in members.iter().flat_map(|m| directions.iter().map(move |d| (m, d))) {
        start.extend(scales(member.as_ref(), direction));
    }
    start.sort_by(f64::total_cmp);
    start.dedup();
    for _ in 0..2 {
        let between: Vec<f64> = start.windows(2).map(|w| w[0].midpoint(w[1])).collect();
        start.extend(between);
        start.sort_by(f64::total_cmp);
        start.dedup();
    }
    let mut nodes: Vec<Node> = start.into_iter().map(node).collect();
    let hull_of = |nodes: &[Node]| {
        let points = |side: usize| -> Vec<Knot> {
            nodes.iter().map(|node| Knot::bounded(node.epsilon, node.least[side].0)).collect()
        };
        if symmetric {
            PiecewiseProfile::symmetric(&points(0))
        } else {
            PiecewiseProfile::new(&points(0), &points(1))
        }
    };
    let mut hull = hull_of(&nodes);
    for _ in 0..ROUNDS {
        let closer: Vec<f64> = directions
            .iter()
            .enumerate()
            .flat_map(|(side, &direction)| touching(&nodes, side, hull.knots(direction)))
            .flat_map(|index| midpoints_beside(&nodes, index))
            .collect();
        if closer.is_empty() {
            break;
        }
        nodes.extend(closer.into_iter().map(node));
        nodes.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
        nodes.dedup_by(|a, b| a.epsilon == b.epsilon);
        hull = hull_of(&nodes);
    }
    hull
}

/// The nodes at the ends of the edges that touch two members, or one and, across γ = 1, the
/// other direction.
fn touching(nodes: &[Node], side: usize, knots: &[Knot]) -> Vec<usize> {
    let index_of = |knot: Knot| nodes.partition_point(|node| node.epsilon < knot.epsilon());
    let mut found = Vec::new();
    for edge in knots.windows(2) {
        let ends = [index_of(edge[0]), index_of(edge[1])];
        let [a, b] = ends.map(|index| nodes.get(index).map(|node| node.least[side]));
        let joins = a.zip(b).is_some_and(|(a, b)| a.1 != b.1 || a.0 > edge[0].delta());
        if joins {
            found.extend(ends);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Nodes halfway to the neighbours of a node.
fn midpoints_beside(nodes: &[Node], index: usize) -> Vec<f64> {
    let pairs = [index.checked_sub(1).map(|before| (before, index)), Some((index, index + 1))];
    let ends =
        pairs.into_iter().flatten().filter_map(|(a, b)| Some((nodes.get(a)?.epsilon, nodes.get(b)?.epsilon)));
    ends.map(|(a, b)| a.midpoint(b)).collect()
}
