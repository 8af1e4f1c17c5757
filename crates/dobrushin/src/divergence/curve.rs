//! The whole curve γ ↦ E_γ of finite laws, exactly piecewise linear.

use crate::numeric::elementary::powi;
use crate::numeric::rounding::{div_down, div_up, mul_down, mul_up, two_product, two_sum};
use crate::numeric::{UNIT_ROUNDOFF, partition_point};
use crate::{Delta, Enclosure, Gamma};

/// A set of outcomes A, as the point (Q(A), P(A)).
///
/// ```
/// use dobrushin::divergence::{DiscretePair, FiniteLaw};
///
/// // The sets that attain the curve somewhere: nothing, the first outcome, and everything.
/// let (p, q) = (FiniteLaw::new("P", vec![0.75, 0.25])?, FiniteLaw::new("Q", vec![0.25, 0.75])?);
/// let curve = DiscretePair::new(p, q)?.curve();
/// assert!(curve.vertices().iter().any(|vertex| (vertex.p, vertex.q) == (0.75, 0.25)));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// Q(A).
    pub q: f64,
    /// P(A).
    pub p: f64,
    /// The indices (from 0) of the two laws P and Q, where the curve is a maximum over many pairs.
    pub pair: (usize, usize),
}

/// γ ↦ max over a finite family of pairs of E_γ(P‖Q).
///
/// E_γ(P‖Q) = max_A [P(A) − γQ(A)], and only the sets A = {dP/dQ > c} matter; so
/// the curve is the upper envelope of the lines with intercept P(A) and slope
/// −Q(A), that is, the upper convex hull of the points (Q(A), P(A)). It is convex,
/// decreasing and piecewise linear, and [`HockeyStickCurve::knots`] are exactly
/// where it bends. Evaluation is a binary search.
///
/// ```
/// use dobrushin::divergence::{DiscretePair, FiniteLaw};
/// use dobrushin::{Delta, Gamma};
///
/// let (p, q) = (FiniteLaw::new("P", vec![0.75, 0.25])?, FiniteLaw::new("Q", vec![0.25, 0.75])?);
/// let curve = DiscretePair::new(p, q)?.curve();
/// // A line, 3/4 − γ/4, that ends at γ = 3.
/// assert!(curve.at(Gamma::new(2.0)?).contains(0.25));
/// assert!((curve.epsilon_at(Delta::new(0.0)?).upper() - 3_f64.ln()).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HockeyStickCurve {
    /// Strictly increasing in q and in p, slopes strictly decreasing; the
    /// slopes are the knots.
    vertices: Vec<Vertex>,
    /// A bound on the relative error of each coordinate.
    relative_error: f64,
}

impl HockeyStickCurve {
    /// The curve of the given points, in increasing order, whose coordinates are sums of at most `terms` probabilities,
    /// each within `relative_error`, added in order of decreasing ratio p/q.
    ///
    /// Each addition adds a unit of roundoff. Sorting by a rounded ratio can misplace only outcomes whose ratio equals
    /// the given γ up to that rounding and the error of two probabilities, and their effect is at most as large.
    pub(crate) fn from_points(points: &[Vertex], terms: usize, relative_error: f64) -> Self {
        let relative_error = (terms as f64 + 8.0) * UNIT_ROUNDOFF + 3.0 * relative_error;
        Self { vertices: merged_hull(points, &[]), relative_error }
    }

    /// The γ at which the curve bends, in decreasing order; beyond the first it
    /// is constant.
    pub fn knots(&self) -> impl Iterator<Item = f64> {
        self.vertices.windows(2).map(|w| slope(w[0], w[1]))
    }

    /// The hull: the sets of outcomes that attain the curve somewhere.
    pub fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// The largest E_γ(P‖Q) of the family, for any γ > 0.
    pub fn at(&self, gamma: Gamma) -> Enclosure {
        // If each p and q is off by a factor within 1 ± e, the curve lies between
        // (1 − e)·E(γ(1 + e)/(1 − e)) and (1 + e)·E(γ(1 − e)/(1 + e)).
        let (less, more) = (1.0 - self.relative_error, 1.0 + self.relative_error);
        let high = mul_up(gamma.value().upper(), div_up(more, less));
        let low = mul_down(gamma.value().lower(), div_down(less, more));
        let lower = mul_down(less, self.value_at(high).lower());
        let upper = mul_up(more, self.value_at(low).upper());
        let raw = Enclosure::between(lower.min(upper), upper.min(1.0));
        if gamma.is_below_one() {
            return (raw - (Enclosure::ONE - gamma.value())).positive_part();
        }
        raw
    }

    /// The smallest ε ≥ 0 with E_{e^ε} ≤ δ: e^ε = max_A (P(A) − δ)/Q(A).
    pub fn epsilon_at(&self, delta: Delta) -> Enclosure {
        let error = Enclosure::between(1.0 - self.relative_error, 1.0 + self.relative_error);
        let gamma = self.vertices.iter().fold(Enclosure::ONE, |most, v| {
            let above = Enclosure::from(v.p) * error - Enclosure::from(delta);
            if above.upper() <= 0.0 || v.p == 0.0 {
                return most;
            }
            let ratio = if v.q == 0.0 {
                // An outcome that only P can produce.
                if above.lower() > 0.0 {
                    Enclosure::INFINITE
                } else {
                    Enclosure::ONE.hull(Enclosure::INFINITE)
                }
            } else {
                above / (Enclosure::from(v.q) * error)
            };
            most.max(ratio)
        });
        gamma.ln()
    }

    /// The largest p − γq on the hull as stored, with only the rounding of p − γq.
    fn value_at(&self, gamma: f64) -> Enclosure {
        // A computed slope is off by at most 3 units, so the largest value is at one of these vertices; usually there
        // is only one.
        let first = self.index_at(gamma * (1.0 + 8.0 * UNIT_ROUNDOFF));
        let last = self.index_at(gamma * (1.0 - 8.0 * UNIT_ROUNDOFF));
        let values = self.vertices[first.min(last)..=last].iter().map(|v| {
            if v.q == 0.0 {
                return Enclosure::from(v.p);
            }
            Enclosure::from(v.p) - Enclosure::from(gamma) * Enclosure::from(v.q)
        });
        values.fold(Enclosure::ZERO, Enclosure::max)
    }

    /// The vertex with the largest p − γq, by computed slopes.
    fn index_at(&self, gamma: f64) -> usize {
        partition_point(0..self.vertices.len() - 1, |index| {
            slope(self.vertices[index], self.vertices[index + 1]) > gamma
        })
    }
}

/// The slope of the edge from `a` to `b`: the likelihood ratio at which the curve
/// changes from one to the other.
fn slope(a: Vertex, b: Vertex) -> f64 {
    (b.p - a.p) / (b.q - a.q)
}

/// The points (Q(A), P(A)) of the sets A of outcomes with the largest ratios p/q,
/// from one outcome to all with p > 0, in increasing order; and the same with P
/// and Q exchanged.
pub(crate) fn level_sets(p: &[f64], q: &[f64], pair: (usize, usize)) -> [Vec<Vertex>; 2] {
    let possible = p.iter().zip(q).filter(|(p, q)| **p > 0.0 || **q > 0.0);
    let mut order: Vec<(f64, f64, f64)> = possible.map(|(&p, &q)| (p / q, p, q)).collect();
    // Among ratios that overflow, those with q = 0 come first; among those that underflow, those with p = 0 come last.
    order.sort_unstable_by(|a, b| {
        let tie = if a.0 == 0.0 { b.1.total_cmp(&a.1) } else { a.2.total_cmp(&b.2) };
        b.0.total_cmp(&a.0).then(tie)
    });
    let forward = order.iter().map(|&(_, p, q)| (p, q));
    let backward = order.iter().rev().map(|&(_, p, q)| (q, p));
    [partial_sums(forward, pair), partial_sums(backward, (pair.1, pair.0))]
}

fn partial_sums(masses: impl Iterator<Item = (f64, f64)>, pair: (usize, usize)) -> Vec<Vertex> {
    let (mut p_sum, mut q_sum) = (0.0, 0.0);
    let possible = masses.take_while(|(p, _)| *p > 0.0);
    let vertex = possible.map(|(p, q)| {
        p_sum += p;
        q_sum += q;
        Vertex { q: q_sum, p: p_sum, pair }
    });
    vertex.collect()
}

/// The upper-left convex hull of two lists of points with coordinates in [0, 1], each in increasing order of both, from
/// (0, 0) or the highest point above it to the highest point. Slopes are compared to 2⁻¹⁰⁰ relative, so that no point
/// is lost to rounding or underflow, however many and however small the probabilities are. Of equal points, the one
/// from the first list is kept.
pub(crate) fn merged_hull(first: &[Vertex], second: &[Vertex]) -> Vec<Vertex> {
    let pair = first.first().or(second.first()).map_or((0, 0), |v| v.pair);
    let mut hull = vec![Vertex { q: 0.0, p: 0.0, pair }];
    let (mut first, mut second) = (first.iter().peekable(), second.iter().peekable());
    loop {
        let from_first = match (first.peek(), second.peek()) {
            (Some(a), Some(b)) => a.q <= b.q,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return hull,
        };
        if let Some(&point) = if from_first { first.next() } else { second.next() } {
            extend(&mut hull, point);
        }
    }
}

/// Adds a point that is not to the left of the last.
fn extend(hull: &mut Vec<Vertex>, point: Vertex) {
    while let Some(&last) = hull.last() {
        if last.p >= point.p {
            return;
        }
        let keep = match hull[..] {
            _ if last.q == point.q => false,
            [.., before, last] => is_above_chord(before, last, point),
            _ => true,
        };
        if keep {
            break;
        }
        hull.pop();
    }
    hull.push(point);
}

/// Whether `b` lies above the line from `a` to `c`, each with larger coordinates
/// than the one before: slope(a, b) > slope(b, c).
fn is_above_chord(a: Vertex, b: Vertex, c: Vertex) -> bool {
    let left = (b.p - a.p) * (c.q - b.q);
    let right = (c.p - b.p) * (b.q - a.q);
    // Each product is off by 3 units, unless it is far below the other.
    if left.max(right) > 1e-290 && (left - right).abs() > 8.0 * UNIT_ROUNDOFF * (left + right) {
        return left > right;
    }
    let left = WideProduct::new((b.p, a.p), (c.q, b.q));
    let right = WideProduct::new((c.p, b.p), (b.q, a.q));
    left.is_above(&right)
}

/// `(high + low)·2^(−STEP·steps)` with 2^(−2·STEP) ≤ high ≤ 1: the product of two
/// positive differences of probabilities to about 2⁻¹⁰⁴ relative, also where it is
/// far below the smallest `f64`; exact if both differences are `f64`s.
struct WideProduct {
    high: f64,
    low: f64,
    steps: i32,
}

impl WideProduct {
    const STEP: i32 = 300;

    /// (x − x′)·(y − y′).
    fn new((x, less_x): (f64, f64), (y, less_y): (f64, f64)) -> Self {
        let mut steps = 0;
        let mut difference = |a: f64, b: f64| {
            let (mut high, mut low) = two_sum(a, -b);
            while high < powi(2f64, -Self::STEP) {
                high *= powi(2f64, Self::STEP);
                low *= powi(2f64, Self::STEP);
                steps += 1;
            }
            (high, low)
        };
        let ((x, x_low), (y, y_low)) = (difference(x, less_x), difference(y, less_y));
        let (high, error) = two_product(x, y);
        Self { high, low: error + (x * y_low + x_low * y), steps }
    }

    fn is_above(&self, other: &Self) -> bool {
        let steps = self.steps - other.steps;
        if steps.abs() > 2 {
            return steps < 0;
        }
        let scale = powi(2f64, Self::STEP * steps);
        (self.high - other.high * scale) + (self.low - other.low * scale) > 0.0
    }
}
