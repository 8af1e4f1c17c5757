//! From a privacy profile to a pair of finite laws that dominates it.

use super::FiniteLoss;
use crate::loss::{Masses, Split};
use crate::numeric::elementary::powi;
use crate::numeric::{Boundary, boundary};
use crate::profile::{Direction, PrivacyProfile};
use crate::{Enclosure, Epsilon};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The allowed height of the lines between nodes above the profile, relative to δ^0.9: 1e-6 for a δ near 1 and 1e-5 for
/// one near 1e-10.
const TOLERANCE: f64 = 1e-6;
const DELTA_POWER: f64 = 0.9;
/// Below this δ, the height no longer matters.
const LEAST_DELTA: f64 = 1e-40;
/// Beyond the ε at which δ is within this of its limit, δ counts as an infinite loss.
const LEFT_OVER: f64 = 1e-45;
/// Losses beyond two to this power are not distinguished either.
const LARGEST_EXPONENT: i32 = 16;
/// The most nodes of one direction.
const MOST_NODES: usize = 10_000;

/// A bound δ on E_{e^ε}, given by exactly these two numbers.
#[derive(Clone, Copy)]
struct Node {
    epsilon: f64,
    delta: f64,
}

impl FiniteLoss {
    /// A pair that dominates everything the profile bounds, and is as tight as a convex profile
    /// up to 1e-6·δ^0.9 where δ ≥ 1e-40, unless that takes more than 20,000 atoms.
    ///
    /// # Guarantee
    /// For every mechanism whose E_γ on neighbours the profile bounds in both directions, and
    /// every γ > 0, E_γ of the pair is at least that of the mechanism.
    ///
    /// The largest ∫(dP − γdQ)₊ over neighbours, H(γ), is convex and non-increasing on γ > 0 as a supremum of such
    /// functions. The nodes are numbers known to be at least H at some γ, so the lines between them are above H, and so
    /// is the constant beyond the last. The *bound* need not be convex: any nodes may be left out, and those that are
    /// not certain to keep the lines convex are. The lines p − γq of a convex function that starts at H(0) = 1 with
    /// slope −1 or above are P(L > ln γ) and Q(L > ln γ) of one pair of laws; the remaining constant is the mass under
    /// P at L = ∞.
    pub fn dominating(profile: &dyn PrivacyProfile) -> Self {
        Self::dominating_at(profile, |direction| adaptive(profile, direction))
    }

    /// [`FiniteLoss::dominating`] with nodes at the given ε, and 0, in both directions.
    pub fn dominating_with_knots(profile: &dyn PrivacyProfile, knots: &[f64]) -> Self {
        Self::dominating_at(profile, |direction| {
            let mut knots: Vec<f64> = knots.iter().copied().filter(|&e| e > 0.0 && e.is_finite()).collect();
            knots.push(0.0);
            knots.sort_by(f64::total_cmp);
            knots.dedup();
            knots.iter().map(|&epsilon| Node { epsilon, delta: bound(profile, direction, epsilon) }).collect()
        })
    }

    fn dominating_at(profile: &dyn PrivacyProfile, nodes: impl Fn(Direction) -> Vec<Node>) -> Self {
        let forward = nodes(Direction::Forward);
        let reverse = if profile.is_symmetric() { forward.clone() } else { nodes(Direction::Reverse) };
        // Total variation is the same in both directions.
        let variation = match (forward.first(), reverse.first()) {
            (Some(a), Some(b)) => a.delta.min(b.delta),
            _ => 1.0,
        };
        join(convex(forward, variation), convex(reverse, variation))
    }
}

fn bound(profile: &dyn PrivacyProfile, direction: Direction, epsilon: f64) -> f64 {
    let delta = Epsilon::new(epsilon).map_or(1.0, |e| profile.delta_of(direction, e).upper());
    if delta.is_nan() { 1.0 } else { delta.clamp(0.0, 1.0) }
}

/// Two nodes, the node to insert between them, and the gain from it.
struct Interval {
    ends: [Node; 2],
    middle: Node,
    excess: f64,
}

impl Interval {
    fn new(ends: [Node; 2], delta: impl Fn(f64) -> f64) -> Self {
        let [a, b] = ends;
        let epsilon = a.epsilon.midpoint(b.epsilon);
        let middle = Node { epsilon, delta: delta(epsilon) };
        // The position of the middle on the line between the ends: γ − γ_a over γ_b − γ_a.
        let share = libm::exp(epsilon - b.epsilon) * libm::expm1(a.epsilon - epsilon)
            / libm::expm1(a.epsilon - b.epsilon);
        let line = a.delta + (b.delta - a.delta) * share;
        let narrow = b.epsilon - a.epsilon <= 1e-10 * b.epsilon;
        let excess = (line - middle.delta) / libm::pow(middle.delta.max(LEAST_DELTA), DELTA_POWER);
        Self { ends, middle, excess: if narrow { 0.0 } else { excess } }
    }
}

impl PartialEq for Interval {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Interval {}
impl PartialOrd for Interval {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Interval {
    fn cmp(&self, other: &Self) -> Ordering {
        self.excess.total_cmp(&other.excess)
    }
}

/// Nodes from ε = 0 to where the profile is nearly constant; each is inserted where the lines are farthest from the
/// profile.
fn adaptive(profile: &dyn PrivacyProfile, direction: Direction) -> Vec<Node> {
    let delta = |epsilon: f64| bound(profile, direction, epsilon);
    let node = |epsilon: f64| Node { epsilon, delta: delta(epsilon) };
    let end = last_epsilon(&delta);
    let mut nodes = vec![node(0.0)];
    if end == 0.0 {
        return nodes;
    }
    nodes.push(node(end));
    let mut intervals = BinaryHeap::from([Interval::new([nodes[0], nodes[1]], delta)]);
    while nodes.len() < MOST_NODES {
        let Some(Interval { ends: [a, b], middle, excess }) = intervals.pop() else { break };
        if excess < TOLERANCE {
            break;
        }
        nodes.push(middle);
        intervals.push(Interval::new([a, middle], delta));
        intervals.push(Interval::new([middle, b], delta));
    }
    nodes.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
    nodes
}

/// The smallest ε, up to the largest of interest, at which δ is close to its limit. A bound may be useless where e^ε
/// overflows, hence the least of many.
fn last_epsilon(delta: &impl Fn(f64) -> f64) -> f64 {
    let probes = || (-30..=LARGEST_EXPONENT).map(|k| powi(2f64, k));
    let limit = probes().map(delta).fold(delta(0.0), f64::min);
    let reached = |epsilon: f64| delta(epsilon) <= limit * (1.0 + 1e-9) + LEFT_OVER;
    let mut fails = 0.0;
    if reached(fails) {
        return fails;
    }
    for holds in probes() {
        if reached(holds) {
            return boundary(Boundary { holds, fails }, fails.midpoint(holds), reached).holds;
        }
        fails = holds;
    }
    fails
}

/// The largest non-increasing function of nodes that starts at or below `first`, without the nodes that are not certain
/// to be on its lower convex hull in γ.
fn convex(nodes: Vec<Node>, first: f64) -> Vec<Node> {
    let mut hull: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut least = first;
    for node in nodes {
        least = least.min(node.delta);
        let node = Node { delta: least, ..node };
        while let [.., a, b] = hull[..] {
            // The slope before b at γ_b, and the one after it.
            let before =
                drop_per_gamma(a, b) * (Enclosure::from(b.epsilon) - Enclosure::from(a.epsilon)).exp();
            if before.lower() >= drop_per_gamma(b, node).upper() {
                break;
            }
            hull.pop();
        }
        hull.push(node);
    }
    hull
}

/// γ_a·(δ_a − δ_b)/(γ_b − γ_a): minus the slope of the line, times γ_a.
fn drop_per_gamma(a: Node, b: Node) -> Enclosure {
    let gap = (Enclosure::from(b.epsilon) - Enclosure::from(a.epsilon)).exp_m1();
    (Enclosure::from(a.delta) - Enclosure::from(b.delta)).positive_part() / gap
}

/// P(L > ℓ) and Q(L > ℓ) between the nodes a and b.
fn above(a: Node, b: Node) -> Masses {
    let drop = drop_per_gamma(a, b);
    let p = (Enclosure::from(a.delta) + drop).min(Enclosure::ONE);
    Masses { p, q: (drop * (-Enclosure::from(a.epsilon)).exp()).min(Enclosure::ONE) }
}

/// The pair whose E_γ for γ ≥ 1 are the lines between the first nodes, and with P and Q exchanged those between the
/// second; both are convex and start at the same node ε = 0, which is kept if the whole is convex.
fn join(mut forward: Vec<Node>, mut reverse: Vec<Node>) -> FiniteLoss {
    let slope = |nodes: &[Node]| match nodes {
        [a, b, ..] => above(*a, *b).q,
        _ => Enclosure::ZERO,
    };
    let variation = forward.first().map_or(1.0, |node| node.delta);
    // The mass at L = 0.
    let centre = Enclosure::ONE - Enclosure::from(variation) - slope(&forward) - slope(&reverse);
    let mut middle = None;
    if centre.lower() < 0.0 {
        // Leaves out the node at 0, and further nodes as long as the line between the first two remaining ones is not
        // certain to be convex with the others.
        if forward.len() > 1 && reverse.len() > 1 {
            forward.remove(0);
            reverse.remove(0);
        }
        loop {
            let (Some(&a), Some(&b)) = (forward.first(), reverse.first()) else { return told() };
            if a.epsilon == 0.0 {
                return told();
            }
            let (above, below) = (across(a, b), across(b, a));
            if above.lower() < slope(&forward).upper() {
                forward.remove(0);
            } else if below.lower() < slope(&reverse).upper() {
                reverse.remove(0);
            } else {
                let below = Masses { p: below, q: Enclosure::ONE - above };
                middle = Some(Split { below, above: below.complement() });
                break;
            }
        }
    }
    collect(&forward, &reverse, middle)
}

/// Q(L > ℓ) for ℓ between −ε_b and ε_a, if no loss lies there: the slope of the line through
/// a, at ε_a, and b, at −ε_b in the other direction,
///
/// ```text
/// e^(−ε_a)·[(1 − δ_a) − e^(−ε_b)·(1 − δ_b)]/(1 − e^(−ε_a−ε_b)).
/// ```
fn across(a: Node, b: Node) -> Enclosure {
    let rest = |node: Node| Enclosure::ONE - Enclosure::from(node.delta);
    let decay = |node: Node| (-Enclosure::from(node.epsilon)).exp();
    let both = -(-(Enclosure::from(a.epsilon) + Enclosure::from(b.epsilon))).exp_m1();
    decay(a) * (rest(a) - decay(b) * rest(b)) / both
}

/// Two laws that share no outcome, which dominate everything.
fn told() -> FiniteLoss {
    let above = Masses { p: Enclosure::ONE, q: Enclosure::ZERO };
    FiniteLoss::from_gaps(Vec::new(), vec![Split { below: above.complement(), above }], None)
}

/// Losses at the nodes of both directions, with the splits between them; `middle` is the split between the two
/// directions if they do not share the node 0.
fn collect(forward: &[Node], reverse: &[Node], middle: Option<Split>) -> FiniteLoss {
    let side = |nodes: &[Node]| {
        let mut splits: Vec<Split> = Vec::with_capacity(nodes.len() + 1);
        let between = nodes.windows(2).map(|ends| above(ends[0], ends[1]));
        let last = nodes.last().map_or(1.0, |node| node.delta);
        let beyond = Masses { p: Enclosure::from(last), q: Enclosure::ZERO };
        splits.extend(between.chain([beyond]).map(|above| Split { below: above.complement(), above }));
        splits
    };
    let shared = usize::from(middle.is_none());
    let mut losses: Vec<Enclosure> =
        reverse[shared..].iter().rev().map(|n| Enclosure::from(-n.epsilon)).collect();
    losses.extend(forward.iter().map(|n| Enclosure::from(n.epsilon)));
    let mut gaps: Vec<Split> = side(reverse).into_iter().rev().map(Split::exchanged).collect();
    gaps.extend(middle);
    gaps.extend(side(forward));
    FiniteLoss::from_gaps(losses, gaps, None)
}
