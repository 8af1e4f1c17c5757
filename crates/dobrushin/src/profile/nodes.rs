//! Where to sample a profile that can only be evaluated.

use super::piecewise::{Knot, chord};
use super::{Direction, PrivacyProfile};
use crate::numeric::elementary::powi;
use crate::{Delta, Epsilon};

/// 0, and the ε at which δ has fallen by factors of ten, and further down of 10¹⁰, from its value at 0 towards its
/// value at ∞; the last one is where that value is reached, if it is. The nodes are only guaranteed to be finite and
/// increasing.
pub(super) fn scales(profile: &dyn PrivacyProfile, direction: Direction) -> Vec<f64> {
    let at = |epsilon: f64| Epsilon::new(epsilon).map_or(1.0, |e| profile.delta_of(direction, e).upper());
    let (top, floor) = (at(0.0), at(f64::MAX));
    let fine = (1..20).map(|decades| powi(10f64, -decades));
    let coarse = (2..=30).map(|tens| powi(10f64, -10 * tens));
    let shares =
        [0.99, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2].into_iter().chain(fine).chain(coarse).chain([0.0]);
    let levels = shares.map(|share| floor + (top - floor) * share).filter_map(|level| Delta::new(level).ok());
    let mut nodes = vec![0.0];
    for level in levels {
        let epsilon = profile.epsilon_of(direction, level).upper();
        if epsilon < f64::INFINITY && nodes.last().is_some_and(|last| epsilon > *last) {
            nodes.push(epsilon);
        }
    }
    nodes
}

/// Below this share of the first value, the tolerance is a hundred times larger.
const DEEP: f64 = 1e-40;

/// Points of a profile at the given ε and between them, by halving until the chord is within the tolerance of the
/// profile, at most [`HALVINGS`] times.
pub(super) fn refined(nodes: &[f64], tolerance: f64, profile: impl Fn(Epsilon) -> f64) -> Vec<Knot> {
    let at = |epsilon: f64| Knot::bounded(epsilon, Epsilon::new(epsilon).map_or(1.0, &profile));
    let mut points: Vec<Knot> = nodes.iter().map(|&epsilon| at(epsilon)).collect();
    let first = points.first().map_or(1.0, |knot| knot.delta());
    let mut open: Vec<(Knot, Knot, u32)> = points.windows(2).map(|w| (w[0], w[1], HALVINGS)).collect();
    while let Some((a, b, left)) = open.pop() {
        let middle = at(a.epsilon().midpoint(b.epsilon()));
        if !(a.epsilon() < middle.epsilon() && middle.epsilon() < b.epsilon()) {
            continue;
        }
        points.push(middle);
        let tolerance = if middle.delta() < DEEP * first { 100.0 * tolerance } else { tolerance };
        if left > 1 && chord(a, b, middle.epsilon()).upper() > middle.delta() * (1.0 + tolerance) {
            open.extend([(a, middle, left - 1), (middle, b, left - 1)]);
        }
    }
    points
}

/// The number of times the distance of two nodes is halved.
const HALVINGS: u32 = 10;
