//! Hidden participation if both neighbours use a record: one step after another, back from the last.
//!
//! Let e(λ) bound sup_f [P(f) − λ·Q(f)] over the tests f of the last iterate, given an iterate that both share, for the
//! steps from some time on: α(u) = min_λ (e(λ) + λ·u) bounds the power of a test of size u. One step earlier, with
//! probability q the update with the record is made, which differs between the neighbours. Its worth is μ′ between
//! the neighbours, and μ″ between an update with the record and one without it. If f has the size u₀ after the update
//! without the record and u₁ after that of Q's record, it has a power of at most α(w) after that of P's, with
//! w ≤ Φ(Φ⁻¹(u₁) + μ′) and w ≤ Φ(Φ⁻¹(u₀) + μ″). So, for all λ₁ ≤ λ, λ₂ and ρ in [0, 1],
//!
//! ```text
//! (1−q)·α(u₀) + q·α(w) − λ·((1−q)·u₀ + q·u₁)
//!   ≤ (1−q)·e(λ₁) + q·e(λ₂) + q·λ₂·w − (1−q)·(λ−λ₁)·u₀ − λ·q·u₁
//!   ≤ (1−q)·e(λ₁) + q·e(λ₂) + q·λ₂·[ρ·E_κ′(μ′) + (1−ρ)·E_κ″(μ″)],
//!       κ′ = λ/(λ₂ρ),   κ″ = (1−q)(λ−λ₁)/(qλ₂(1−ρ)),
//! ```
//!
//! where E_κ(μ) = sup_u [Φ(Φ⁻¹(u) + μ) − κ·u] is E_κ of two unit normal laws μ apart. This is the next e(λ). Every
//! choice of the numbers gives a bound, and good ones are known: they are where all suprema are attained at the same
//! point. Since neighbours can be exchanged, e(1/λ) = 1 − 1/λ + e(λ)/λ, and λ ≥ 1 suffices.

use super::past::Worth;
use crate::numeric::rounding::{add_down, add_up, div_down, div_up, mul_down};
use crate::numeric::{UNIT_ROUNDOFF, elementary, normal, theta};
use crate::profile::{Direction, Knot, PiecewiseProfile, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon, NonNegative};
use std::sync::OnceLock;

/// A bound e(λ).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    lambda: f64,
    bound: f64,
}

/// The bound e(λ) at some λ, with chords between them.
#[derive(Clone, Debug, PartialEq)]
struct Bounds {
    /// λ from below 1 upwards; e falls and is convex.
    nodes: Vec<Node>,
}

/// Neighbouring nodes have bounds that differ by at most about this factor, …
const NODES_PER_UNIT: f64 = 8.0;
/// … down to one of these bounds. Most questions need only a part of the nodes, which do not depend on deeper ones.
const DEPTHS: [f64; 3] = [1e-9, 1e-14, 1e-20];
/// A profile answers for δ that exceed its last bound by this factor; otherwise a deeper one is asked.
const ROOM: f64 = 100.0;
/// Iterates that are worth this much apart are not hidden.
const FAR: f64 = 30.0;
/// After this many steps, nodes are placed anew.
const PERIOD: usize = 32;
/// The most nodes.
const MOST_NODES: usize = 3000;

/// The profile of the steps, starting with the last, from iterates that are worth this much apart.
pub(super) struct Exchanged {
    steps: Vec<Worth>,
    before: f64,
    profiles: [OnceLock<PiecewiseProfile>; DEPTHS.len()],
}

impl Exchanged {
    pub fn new(steps: Vec<Worth>, before: f64) -> Self {
        Self { steps, before, profiles: Default::default() }
    }

    /// The first profile that is good down to a δ that depends on it, or the deepest.
    fn good_for(&self, delta: impl Fn(&PiecewiseProfile) -> f64) -> &PiecewiseProfile {
        let mut at = 0;
        loop {
            let found = self.profiles[at].get_or_init(|| profile(&self.steps, self.before, DEPTHS[at]));
            let last = found.knots(Direction::Forward).last().map_or(0.0, |knot| knot.delta());
            if at + 1 == DEPTHS.len() || delta(found) > ROOM * last {
                return found;
            }
            at += 1;
        }
    }
}

impl PrivacyProfile for Exchanged {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        let delta = |profile: &PiecewiseProfile| profile.delta_of(direction, epsilon);
        delta(self.good_for(|profile| delta(profile).upper()))
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        self.good_for(|_| delta.get()).epsilon_of(direction, delta)
    }
}

fn profile(steps: &[Worth], before: f64, least: f64) -> PiecewiseProfile {
    let mut bounds: Option<Bounds> = None;
    for (index, step) in steps.iter().enumerate().filter(|(_, step)| step.rate > 0.0 && step.apart > 0.0) {
        bounds = Some(match bounds {
            None => Bounds::first(step, least),
            Some(bounds) => {
                let next = bounds.before(step);
                if index % PERIOD == PERIOD - 1 { next.placed_anew(least) } else { next }
            }
        });
    }
    let bounds = match bounds {
        // Starting this far apart is all that happens: a step in which the record certainly takes part.
        None if before > 0.0 && before < FAR => {
            Bounds::first(&Worth { rate: 1.0, apart: before, missing: before, members: 1 }, least)
        }
        None if before == 0.0 => Bounds { nodes: vec![Node { lambda: 1.0, bound: 0.0 }] },
        None => Bounds { nodes: Vec::new() },
        Some(bounds) if before > 0.0 => bounds.starting_apart(before),
        Some(bounds) => bounds,
    };
    let knots = bounds.nodes.iter().filter(|node| node.lambda >= 1.0).filter_map(|node| {
        let epsilon = Epsilon::new(Enclosure::from(node.lambda).ln().upper().max(0.0)).ok()?;
        Some(Knot::new(epsilon, Delta::new(node.bound.clamp(0.0, 1.0)).ok()?))
    });
    PiecewiseProfile::symmetric(&knots.collect::<Vec<_>>())
}

/// E_κ of two unit normal laws at this distance, sup_u [Φ(Φ⁻¹(u) + μ) − κ·u], for κ ≥ 0: an upper bound up to four
/// roundings. It decreases with κ, and E_κ = 1 − κ + κ·E_{1/κ}.
fn height(kappa: f64, distance: f64) -> f64 {
    if kappa.is_nan() {
        return 1.0;
    }
    let ln = elementary::ln(kappa);
    let theta = |level: f64| match (Epsilon::new(level.next_down().max(0.0)), NonNegative::new(distance)) {
        (Ok(level), Ok(distance)) => theta::theta(level, distance).upper(),
        _ => 1.0,
    };
    if kappa < 1.0 { (1.0 - kappa) + kappa * theta(-ln) } else { theta(ln) }
}

/// The bound of the formula above, rounded up.
///
/// All terms are positive, and each is off by at most a dozen units of itself; κ is lowered by more than it is off, as
/// the differences in it are between numbers that are known exactly. No bound needs to exceed 1.
fn one_step(step: &Worth, lambda: f64, [first, second]: [Node; 2], ratio: f64) -> f64 {
    const BELOW: f64 = 1.0 - 16.0 * UNIT_ROUNDOFF;
    const ABOVE: f64 = 1.0 + 32.0 * UNIT_ROUNDOFF;
    let (q, rest) = (step.rate, 1.0 - step.rate);
    // Where nothing is missing, rounding must not say that something is.
    let rho = if ratio > 1.0 - 1e-13 { 1.0 } else { ratio.max(0.0) };
    let other = 1.0 - rho;
    let apart =
        if rho > 0.0 { rho * height(lambda / (second.lambda * rho) * BELOW, step.apart) } else { 0.0 };
    let missing = if other > 0.0 {
        let kappa = rest * (lambda - first.lambda).max(0.0) / (q * second.lambda * other);
        other * height(kappa * BELOW, step.missing)
    } else {
        0.0
    };
    let known = rest * first.bound + q * second.bound;
    ((known + q * second.lambda * (apart + missing)) * ABOVE + UNDERFLOW).min(1.0)
}

/// More than what underflows in a bound.
const UNDERFLOW: f64 = 1e-300;

impl Bounds {
    /// The bounds of the last step: α is the identity before it.
    fn first(step: &Worth, least: f64) -> Self {
        let same = Node { lambda: 1.0, bound: 0.0 };
        let q = step.rate;
        let at = |g: f64| {
            // g = Φ⁻¹(w): the likelihood ratios of the three laws there.
            let [a1, a2] = likelihoods(step, g);
            let lambda = (q + (1.0 - q) * a2) / ((1.0 - q) * a2 + q * a1);
            let lambda = lambda.max(1.0);
            Node { lambda, bound: one_step(step, lambda, [same, same], lambda * a1) }
        };
        let mut nodes = vec![Node { lambda: 1.0, bound: one_step(step, 1.0, [same, same], 1.0) }];
        // From the middle outwards, until the bound is negligible.
        let mut g = 0.5 * step.apart;
        while let Some(last) = nodes.last()
            && last.bound > least
            && nodes.len() < MOST_NODES
        {
            let node = at(g);
            if node.lambda > last.lambda {
                nodes.push(node);
            }
            g -= 0.6 / (NODES_PER_UNIT * (1.0 + g.abs()));
        }
        Self { nodes }.mirrored()
    }

    /// The bounds with one more step before the others.
    fn before(&self, step: &Worth) -> Self {
        let q = step.rate;
        let slopes = self.slopes();
        let mut nodes = Vec::with_capacity(self.nodes.len() + 1);
        let (mut near, mut line) = (-8.0, self.nodes.len());
        for (index, &first) in self.nodes.iter().enumerate().rev() {
            // The sizes at which this node is the line that α follows.
            near = normal::quantile_near(0.5 * (slopes[index] + slopes[index + 1]), near);
            let g = near + step.missing;
            // The node whose line is α at this size; sizes grow from one node to the next.
            let size = cdf(g);
            while line > 0 && slopes[line] < size {
                line -= 1;
            }
            let second = self.nodes[line.min(self.nodes.len() - 1)];
            let [a1, a2] = likelihoods(step, g);
            let lambda = (q * second.lambda + (1.0 - q) * first.lambda * a2) / ((1.0 - q) * a2 + q * a1);
            let lambda = lambda.max(first.lambda);
            if lambda < 1.0 {
                break;
            }
            if lambda.is_finite() {
                let ratio = lambda * a1 / second.lambda;
                nodes.push(Node { lambda, bound: one_step(step, lambda, [first, second], ratio) });
            }
        }
        Self { nodes }.tidied().mirrored()
    }

    /// The bounds from iterates that are worth this much apart: a test of size u has at most the power
    /// α(Φ(Φ⁻¹(u) + m)), so e(λ) ≤ e(λ₂) + λ₂·E_{λ/λ₂}(m).
    fn starting_apart(&self, distance: f64) -> Self {
        let slopes = self.slopes();
        let (mut nodes, mut g) = (Vec::new(), -8.0);
        for (index, &second) in self.nodes.iter().enumerate().rev() {
            g = normal::quantile_near(0.5 * (slopes[index] + slopes[index + 1]), g);
            let lambda = second.lambda * elementary::exp(distance * (0.5 * distance - g));
            if lambda.is_finite() && lambda >= 1.0 && second.lambda > 0.0 {
                // Both neighbours' updates are the same: one step with ρ = 1 in which the record always takes part.
                let step = Worth { rate: 1.0, apart: distance, missing: distance, members: 1 };
                nodes.push(Node { lambda, bound: one_step(&step, lambda, [second, second], 1.0) });
            }
        }
        Self { nodes }.tidied().mirrored()
    }

    /// −e′ between neighbouring nodes, before the first and after the last: the sizes between which a node is the line
    /// that α follows.
    fn slopes(&self) -> Vec<f64> {
        let inner = self.nodes.windows(2).map(|pair| {
            ((pair[0].bound - pair[1].bound) / (pair[1].lambda - pair[0].lambda)).clamp(0.0, 1.0)
        });
        [1.0].into_iter().chain(inner).chain([0.0]).collect()
    }

    /// The nodes in order, of which none is above a later one or the chord of two others.
    fn tidied(mut self) -> Self {
        self.nodes.sort_by(|a, b| a.lambda.total_cmp(&b.lambda).then(a.bound.total_cmp(&b.bound)));
        let mut kept: Vec<Node> = Vec::with_capacity(self.nodes.len());
        for node in self.nodes {
            if kept.last().is_some_and(|last| last.bound <= node.bound || last.lambda >= node.lambda) {
                continue;
            }
            while let [.., a, b] = kept[..]
                && chord(a, node, b.lambda) <= b.bound
            {
                kept.pop();
            }
            kept.push(node);
        }
        Self { nodes: kept }
    }

    /// The nodes with their mirror images below 1, from e(1/λ) = 1 − 1/λ + e(λ)/λ, and the value at 1 from them.
    fn mirrored(self) -> Self {
        let above: Vec<Node> = self.nodes.into_iter().filter(|node| node.lambda >= 1.0).collect();
        let image = |node: &Node| {
            // e falls, so what bounds it at 1/λ bounds it at the rounded 1/λ.
            let kept = mul_down(div_down(1.0, node.lambda), add_down(1.0, -node.bound));
            Node { lambda: div_up(1.0, node.lambda), bound: add_up(1.0, -kept) }
        };
        let below: Vec<Node> = above.iter().rev().filter(|node| node.lambda > 1.0).map(image).collect();
        Self { nodes: below.into_iter().chain(above).collect() }.tidied()
    }

    /// The same bounds at other λ, so dense that the chords are close to them.
    fn placed_anew(&self, least: f64) -> Self {
        let above: Vec<Node> = self.nodes.iter().copied().filter(|node| node.lambda >= 1.0).collect();
        let mut nodes = Vec::with_capacity(above.len());
        let mut kept: Option<Node> = None;
        for (index, &node) in above.iter().enumerate() {
            let next = above.get(index + 1);
            let fall =
                |from: Node, to: &Node| elementary::ln((from.bound / to.bound).max(1.0)) * NODES_PER_UNIT;
            // A node between two that are close to each other is left out.
            if let (Some(last), Some(next)) = (kept, next)
                && fall(last, next) < 0.8
            {
                continue;
            }
            if let Some(last) = kept
                && node.bound > least
            {
                let pieces = fall(last, &node).ceil().clamp(1.0, 4.0);
                for piece in 1..pieces as u32 {
                    let lambda = last.lambda + (node.lambda - last.lambda) * f64::from(piece) / pieces;
                    nodes.push(Node { lambda, bound: chord(last, node, lambda) });
                }
            }
            nodes.push(node);
            kept = Some(node);
            if node.bound < least || nodes.len() >= MOST_NODES {
                break;
            }
        }
        Self { nodes }.mirrored()
    }
}

/// The chord of two nodes at a λ between them, rounded up: a sum of positive terms, each off by a few units of itself.
fn chord(a: Node, b: Node, lambda: f64) -> f64 {
    let (before, after) = (lambda - a.lambda, b.lambda - lambda);
    let sum = (after * a.bound + before * b.bound) / (b.lambda - a.lambda);
    sum * (1.0 + 16.0 * UNIT_ROUNDOFF) + UNDERFLOW
}

/// The densities of the laws μ′ and μ″ below, relative to that at g.
fn likelihoods(step: &Worth, g: f64) -> [f64; 2] {
    [step.apart, step.missing].map(|mu| elementary::exp(mu * (g - 0.5 * mu)))
}

fn cdf(g: f64) -> f64 {
    normal::cdf(g).midpoint()
}
